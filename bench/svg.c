/* Plots, written by hand. */
#include "bench/internal.h"
#include "plot/page.h"

#include <math.h>
#include <string.h>

/* Colours by family, muted for what is without boxes. */
static const char *colour_of(uint32_t variant)
{
    if (variant == BENCH_VARIANT_PELT) {
        return "#0b7a4b";
    }
    if (pelt_bench_variants[variant].info.of_normals) {
        return "#7a8fd0";
    }
    bool box = pelt_bench_variants[variant].info.bounds != PELT_BENCH_NO_BOX;
    switch (pelt_bench_variants[variant].family) {
    case BENCH_FAMILY_PELT:
        return box ? "#5fb08d" : "#a9d6c2";
    case BENCH_FAMILY_SEED:
        return box ? "#c9820a" : "#efcf96";
    case BENCH_FAMILY_ATOMICS:
        if (variant == BENCH_VARIANT_ATOMICS) {
            return "#b5433c";
        }
        return box ? pelt_bench_variants[variant].record == pelt_bench_record_wave_atomics
                         ? "#8c4a86"
                         : "#5d62b3"
                   : "#e5b3af";
    default:
        return "#8a94a6";
    }
}

/* The path of a plot of that name: DIR/NAME.svg. */
static pelt_result make_path(const pelt_host *host, const char *folder, const char *name,
                             char *path, size_t size)
{
    int length = snprintf(path, size, "%s/%s.svg", folder, name);
    return length < 0 || (size_t)length >= size
               ? pelt_fail(host, PELT_ERROR_IO, folder, NULL, "the path is too long")
               : PELT_OK;
}

/* 1, 2 or 5 times a power of ten, at least value / steps. */
static double tick_step(double value, int steps)
{
    double least = value / steps;
    double power = pow(10.0, floor(log10(least)));
    double mantissa = least / power;
    return power * (mantissa <= 1.0 ? 1.0 : mantissa <= 2.0 ? 2.0 : mantissa <= 5.0 ? 5.0 : 10.0);
}

/* Seconds as "266 µs". */
static const char *format_time(double seconds, char buffer[32])
{
    double value = seconds * 1e6;
    const char *unit = "\xc2\xb5s";
    if (value >= 10000.0) {
        value /= 1000.0;
        unit = "ms";
    }
    (void)snprintf(buffer, 32, value < 100.0 ? "%.3g %s" : "%.0f %s", value, unit);
    return buffer;
}

/* -- bars ---------------------------------------------------------------------------------- */

enum { BAR_LEFT = 150, BAR_WIDTH = 560, BAR_RIGHT = 200, BAR_TOP = 92, BAR_STEP = 30, BAR = 19 };

static void put_bar_axis(pelt_page *page, double longest, double bottom)
{
    double step = tick_step(longest, 5);
    for (int i = 0; i * step <= longest * 1.0001; i++) {
        double x = BAR_LEFT + BAR_WIDTH * (i * step / longest);
        char text[32];
        pelt_page_line(page, x, BAR_TOP - 6, x, bottom, "stroke=\"" PAGE_RULE "\"");
        pelt_page_text(page, x, BAR_TOP - 12, "middle", PAGE_TICK,
                       i == 0 ? "0" : format_time(i * step, text));
    }
}

static void put_bar(pelt_page *page, const pelt_bench_result *result, uint32_t variant,
                    double longest, double y)
{
    const pelt_bench_row *row = &result->rows[variant];
    double scale = BAR_WIDTH / longest;
    double width = scale * row->times.median;
    double middle = y + BAR / 2.0;
    pelt_page_text(page, BAR_LEFT - 10, y + 14, "end",
                   variant == BENCH_VARIANT_PELT ? "font-weight=\"600\"" : "",
                   pelt_bench_variant(variant)->name);
    pelt_page_put(page,
                  "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"2\" fill=\"%s\"/>\n",
                  BAR_LEFT, y, width, BAR, colour_of(variant));
    /* From the fastest round to the slowest. */
    pelt_page_line(page, BAR_LEFT + scale * row->times.least, middle,
                   BAR_LEFT + scale * fmin(row->times.most, longest), middle,
                   "stroke=\"" PAGE_INK "\" stroke-opacity=\"0.55\" stroke-width=\"1.5\"");
    char time[32], text[96];
    double of_stream = pelt_bench_compare(result, variant).of_stream;
    (void)format_time(row->times.median, time);
    if (of_stream > 0.0 && variant != BENCH_VARIANT_STREAM) {
        (void)snprintf(text, sizeof(text), "%s, %.2f \xc3\x97 stream", time, of_stream);
    } else {
        (void)snprintf(text, sizeof(text), "%s", time);
    }
    double end = fmax(width, scale * fmin(row->times.most, longest));
    pelt_page_text(page, BAR_LEFT + end + 8, y + 14, "start", "font-size=\"12\"", text);
}

pelt_result pelt_bench_plot_scene(const pelt_host *host, const char *folder, const char *subtitle,
                                  const pelt_bench_result *result)
{
    double longest = 0.0;
    int bars = 0;
    for (uint32_t v = 0; v < PELT_BENCH_VARIANT_COUNT; v++) {
        if (result->rows[v].measured) {
            longest = fmax(longest, result->rows[v].times.median);
            bars++;
        }
    }
    if (!(longest > 0.0)) {
        return PELT_OK;
    }
    char path[4096], what[160], title[200];
    pelt_bench_describe(&result->scene, what, sizeof(what));
    (void)snprintf(title, sizeof(title), "%s: %s", result->scene.name, what);
    int bottom = BAR_TOP + bars * BAR_STEP;
    pelt_page page;
    pelt_result opened = make_path(host, folder, result->scene.name, path, sizeof(path));
    if (opened == PELT_OK) {
        opened = pelt_page_open(&page, host, path, BAR_LEFT + BAR_WIDTH + BAR_RIGHT, bottom + 24,
                                title, subtitle);
    }
    if (opened != PELT_OK) {
        return opened;
    }
    put_bar_axis(&page, longest, bottom);
    double y = BAR_TOP + (BAR_STEP - BAR) / 2.0;
    for (uint32_t v = 0; v < PELT_BENCH_VARIANT_COUNT; v++) {
        if (result->rows[v].measured) {
            put_bar(&page, result, v, longest, y);
            y += BAR_STEP;
        }
    }
    const pelt_bench_row *floor_row = &result->rows[BENCH_VARIANT_STREAM];
    if (floor_row->measured) {
        double x = BAR_LEFT + BAR_WIDTH * floor_row->times.median / longest;
        pelt_page_line(&page, x, BAR_TOP - 2, x, bottom,
                       "stroke=\"" PAGE_INK "\" stroke-dasharray=\"3 3\" stroke-opacity=\"0.6\"");
    }
    return pelt_page_close(&page);
}

/* -- lines --------------------------------------------------------------------------------- */

enum {
    PLOT_LEFT = 82,
    PLOT_TOP = 84,
    PLOT_WIDTH = 640,
    PLOT_HEIGHT = 400,
    PLOT_RIGHT = 160,
    PLOT_BOTTOM = 56,
    LABEL_STEP = 16
};

/* Logarithms of what the axes span. */
typedef struct plot_axes {
    double x0, x1, y0, y1;
} plot_axes;

static double plot_x(const plot_axes *axes, double value)
{
    return PLOT_LEFT + PLOT_WIDTH * (log10(value) - axes->x0) / (axes->x1 - axes->x0);
}

static double plot_y(const plot_axes *axes, double value)
{
    return PLOT_TOP + PLOT_HEIGHT * (axes->y1 - log10(value)) / (axes->y1 - axes->y0);
}

/* Vertices a second: what is comparable where the totals differ a little. */
static double rate_of(const pelt_bench_result *result, uint32_t variant)
{
    const pelt_bench_row *row = &result->rows[variant];
    return row->measured && row->times.median > 0.0 ? (double)result->vertices / row->times.median
                                                    : 0.0;
}

static plot_axes find_axes(const pelt_bench_result *results, uint32_t count)
{
    plot_axes axes = { INFINITY, -INFINITY, INFINITY, -INFINITY };
    for (uint32_t i = 0; i < count; i++) {
        double x = log10(results[i].scene.vertices);
        axes.x0 = fmin(axes.x0, x);
        axes.x1 = fmax(axes.x1, x);
        for (uint32_t v = 0; v < PELT_BENCH_VARIANT_COUNT; v++) {
            double rate = rate_of(&results[i], v);
            if (rate > 0.0) {
                axes.y0 = fmin(axes.y0, log10(rate));
                axes.y1 = fmax(axes.y1, log10(rate));
            }
        }
    }
    axes.x1 = fmax(axes.x1, axes.x0 + 1.0);
    axes.y0 -= 0.1;
    axes.y1 = fmax(axes.y1 + 0.1, axes.y0 + 0.5);
    return axes;
}

static void format_power(double value, char buffer[32])
{
    static const char *const units[] = { "", " k", " M", " G", " T" };
    int unit = 0;
    while (value >= 999.5 && unit < 4) {
        value /= 1000.0;
        unit++;
    }
    (void)snprintf(buffer, 32, "%.3g%s", value, units[unit]);
}

/* Lines at 1, 2 and 5 (y) or 1 and 3 (x) of each decade; labels too where there are few decades. */
static void put_grid(pelt_page *page, const plot_axes *axes)
{
    static const double y_steps[] = { 1.0, 2.0, 5.0 }, x_steps[] = { 1.0, 3.0 };
    char text[32];
    for (int decade = (int)floor(axes->y0); decade <= (int)floor(axes->y1); decade++) {
        for (int s = 0; s < 3; s++) {
            double value = y_steps[s] * pow(10.0, decade);
            if (log10(value) < axes->y0 || log10(value) > axes->y1) {
                continue;
            }
            double y = plot_y(axes, value);
            pelt_page_line(page, PLOT_LEFT, y, PLOT_LEFT + PLOT_WIDTH, y,
                           "stroke=\"" PAGE_RULE "\"");
            format_power(value, text);
            pelt_page_text(page, PLOT_LEFT - 8, y + 4, "end", PAGE_TICK, text);
        }
    }
    for (int decade = (int)floor(axes->x0); decade <= (int)floor(axes->x1); decade++) {
        for (int s = 0; s < 2; s++) {
            double value = x_steps[s] * pow(10.0, decade);
            if (log10(value) < axes->x0 - 1e-9 || log10(value) > axes->x1 + 1e-9) {
                continue;
            }
            double x = plot_x(axes, value);
            pelt_page_line(page, x, PLOT_TOP, x, PLOT_TOP + PLOT_HEIGHT,
                           "stroke=\"" PAGE_RULE "\"");
            format_power(value, text);
            pelt_page_text(page, x, PLOT_TOP + PLOT_HEIGHT + 18, "middle", PAGE_TICK, text);
        }
    }
    pelt_page_text(page, PLOT_LEFT + PLOT_WIDTH / 2.0, PLOT_TOP + PLOT_HEIGHT + 42, "middle", "",
                   "vertices a mesh");
    pelt_page_put(
        page,
        "<text transform=\"translate(24 %.1f) rotate(-90)\" text-anchor=\"middle\">vertices a "
        "second</text>\n",
        PLOT_TOP + PLOT_HEIGHT / 2.0);
}

static void put_curve(pelt_page *page, const plot_axes *axes, const pelt_bench_result *results,
                      uint32_t count, uint32_t variant)
{
    bool box = pelt_bench_variants[variant].info.bounds != PELT_BENCH_NO_BOX;
    pelt_page_put(page, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"%s points=\"",
                  colour_of(variant), variant == BENCH_VARIANT_PELT ? "3" : "1.8",
                  box ? "" : " stroke-dasharray=\"5 4\"");
    for (uint32_t i = 0; i < count; i++) {
        double rate = rate_of(&results[i], variant);
        if (rate > 0.0) {
            pelt_page_put(page, "%.1f,%.1f ", plot_x(axes, results[i].scene.vertices),
                          plot_y(axes, rate));
        }
    }
    pelt_page_put(page, "\"/>\n");
    for (uint32_t i = 0; i < count; i++) {
        double rate = rate_of(&results[i], variant);
        if (rate > 0.0 && box) {
            pelt_page_put(page, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\" fill=\"%s\"/>\n",
                          plot_x(axes, results[i].scene.vertices), plot_y(axes, rate),
                          colour_of(variant));
        }
    }
}

/* Names beside the curves' ends, pushed apart where they would overlap. */
static void put_labels(pelt_page *page, const plot_axes *axes, const pelt_bench_result *last)
{
    uint32_t order[PELT_BENCH_VARIANT_COUNT];
    uint32_t count = 0;
    for (uint32_t v = 0; v < PELT_BENCH_VARIANT_COUNT; v++) {
        if (!(rate_of(last, v) > 0.0)) {
            continue;
        }
        uint32_t at = count++;
        for (; at > 0 && rate_of(last, order[at - 1]) < rate_of(last, v); at--) {
            order[at] = order[at - 1];
        }
        order[at] = v;
    }
    double ends[PELT_BENCH_VARIANT_COUNT], y = PLOT_TOP - LABEL_STEP;
    for (uint32_t i = 0; i < count; i++) {
        y = fmax(plot_y(axes, rate_of(last, order[i])), y + LABEL_STEP);
        ends[i] = y;
    }
    double limit = PLOT_TOP + PLOT_HEIGHT;
    for (uint32_t i = count; i-- > 0;) {
        ends[i] = fmin(ends[i], limit);
        limit = ends[i] - LABEL_STEP;
    }
    for (uint32_t i = 0; i < count; i++) {
        double from = plot_y(axes, rate_of(last, order[i]));
        double x = plot_x(axes, last->scene.vertices);
        char style[96];
        (void)snprintf(style, sizeof(style), "stroke=\"%s\" stroke-opacity=\"0.6\"",
                       colour_of(order[i]));
        pelt_page_line(page, x + 4, from, x + 22, ends[i], style);
        (void)snprintf(style, sizeof(style), "fill=\"%s\" font-size=\"12\"%s", colour_of(order[i]),
                       order[i] == BENCH_VARIANT_PELT ? " font-weight=\"600\"" : "");
        pelt_page_text(page, x + 26, ends[i] + 4, "start", style,
                       pelt_bench_variant(order[i])->name);
    }
}

pelt_result pelt_bench_plot_sweep(const pelt_host *host, const char *folder, const char *subtitle,
                                  const pelt_bench_result *results, uint32_t count)
{
    if (count == 0) {
        return PELT_OK;
    }
    plot_axes axes = find_axes(results, count);
    char path[4096], total[32], title[160];
    format_power((double)results[0].vertices, total);
    (void)snprintf(title, sizeof(title), "%s vertices in meshes of every size, %s", total,
                   results[0].scene.shared ? "one shared source" : "own sources");
    pelt_page page;
    pelt_result opened = make_path(host, folder, results[0].scene.name, path, sizeof(path));
    if (opened == PELT_OK) {
        opened = pelt_page_open(&page, host, path, PLOT_LEFT + PLOT_WIDTH + PLOT_RIGHT,
                                PLOT_TOP + PLOT_HEIGHT + PLOT_BOTTOM, title, subtitle);
    }
    if (opened != PELT_OK) {
        return opened;
    }
    put_grid(&page, &axes);
    for (uint32_t v = PELT_BENCH_VARIANT_COUNT; v-- > 0;) {
        if (rate_of(&results[0], v) > 0.0) {
            put_curve(&page, &axes, results, count, v);
        }
    }
    put_labels(&page, &axes, &results[count - 1]);
    return pelt_page_close(&page);
}
