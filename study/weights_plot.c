/* Two panels with a row for each layout: the distribution of errors over random vertices, and what
 * the errors move on characters. */
#include "study/weights.h"

#include "plot/page.h"

#include <math.h>
#include <stdlib.h>

enum {
    ROW_COUNT = PELT_WEIGHT_LAYOUT_COUNT,
    ROW = 38,
    TOP = 104,
    BOTTOM = TOP + ROW_COUNT * ROW,
    ERRORS_LEFT = 204, /* the left panel */
    ERRORS_WIDTH = 360,
    MOVES_LEFT = 610, /* the right one */
    MOVES_WIDTH = 320,
    PAGE_WIDTH = 1010,
    PAGE_HEIGHT = BOTTOM + 84
};

/* Of the layouts, in their order. */
static const char *const colours[ROW_COUNT] = { "#0b7a4b", "#5fb08d", "#c9820a", "#d9a74e",
                                                "#b5433c", "#c66f69", "#d39a95", "#5d62b3",
                                                "#8185c6", "#a6a9d8" };

static double error_x(double octaves)
{
    double all = (double)PELT_WEIGHT_BINS / PELT_WEIGHT_BINS_AN_OCTAVE;
    return ERRORS_LEFT + ERRORS_WIDTH * (octaves - PELT_WEIGHT_FIRST_OCTAVE) / all;
}

static void put_names(pelt_page *page)
{
    for (int i = 0; i < ROW_COUNT; i++) {
        double y = TOP + ROW * (i + 1) - 9;
        char text[32];
        pelt_page_text(page, 24, y, "start", i == 0 ? "font-weight=\"600\"" : "",
                       pelt_weight_layouts[i].name);
        (void)snprintf(text, sizeof(text), "%u bytes", pelt_weight_layouts[i].bytes);
        pelt_page_text(page, ERRORS_LEFT - 14, y, "end", PAGE_TICK, text);
        pelt_page_line(page, 24, TOP + ROW * (i + 1), MOVES_LEFT + MOVES_WIDTH + 60,
                       TOP + ROW * (i + 1), "stroke=\"" PAGE_RULE "\"");
    }
}

/* -- errors -------------------------------------------------------------------------------- */

static void put_error_axis(pelt_page *page)
{
    for (int octave = PELT_WEIGHT_FIRST_OCTAVE; octave <= 4; octave += 2) {
        char text[16];
        double x = error_x(octave);
        (void)snprintf(text, sizeof(text), octave < 0 ? "1/%d" : "%d",
                       1 << (octave < 0 ? -octave : octave));
        pelt_page_line(page, x, TOP, x, BOTTOM, "stroke=\"" PAGE_RULE "\"");
        pelt_page_text(page, x, BOTTOM + 18, "middle", PAGE_TICK, text);
    }
    pelt_page_text(page, ERRORS_LEFT, TOP - 12, "start", "font-weight=\"600\"",
                   "Largest error of a vertex\xe2\x80\x99s weights");
    pelt_page_text(page, ERRORS_LEFT + ERRORS_WIDTH / 2.0, BOTTOM + 40, "middle", PAGE_NOTE,
                   "in 1/4096 of the whole; number: the worst");
}

static double fullest_bin(const pelt_weight_errors *errors)
{
    double fullest = 1.0;
    for (int b = 0; b < PELT_WEIGHT_BINS; b++) {
        fullest = fmax(fullest, (double)errors->bins[b]);
    }
    return fullest;
}

/* Each as high as its row. */
static void put_distribution(pelt_page *page, const pelt_weight_errors *errors, int row)
{
    double base = TOP + ROW * (row + 1);
    double step = 1.0 / PELT_WEIGHT_BINS_AN_OCTAVE, fullest = fullest_bin(errors);
    pelt_page_put(page, "<path fill=\"%s\" fill-opacity=\"0.75\" d=\"M%.1f %.1f", colours[row],
                  (double)ERRORS_LEFT, base);
    for (int b = 0; b < PELT_WEIGHT_BINS; b++) {
        double height = (ROW - 8) * (double)errors->bins[b] / fullest;
        pelt_page_put(page, "V%.1fH%.1f", base - height,
                      error_x(PELT_WEIGHT_FIRST_OCTAVE + step * (b + 1)));
    }
    pelt_page_put(page, "V%.1fZ\"/>\n", base);
    if (errors->worst > 0.0) {
        char text[32];
        double worst = errors->worst * 4096.0;
        double octaves = fmax(log2(worst), PELT_WEIGHT_FIRST_OCTAVE);
        (void)snprintf(text, sizeof(text), worst < 10.0 ? "%.2g" : "%.0f", worst);
        pelt_page_line(page, error_x(octaves), base - 16, error_x(octaves), base,
                       "stroke=\"" PAGE_INK "\" stroke-width=\"1.5\"");
        pelt_page_text(page, error_x(octaves) + 5, base - 8, "start", "font-size=\"11\"", text);
    }
    if (errors->exact > 0) {
        char text[48];
        (void)snprintf(text, sizeof(text), "%.0f %% exact",
                       100.0 * (double)errors->exact / (double)errors->vertices);
        pelt_page_text(page, ERRORS_LEFT + 5, base - 8, "start", PAGE_TICK, text);
    }
}

/* -- displacements ------------------------------------------------------------------------- */

/* Decades of what there is to see. */
typedef struct decades {
    int first, last;
} decades;

static double move_x(const decades *axis, double part)
{
    double decade = fmax(log10(fmax(part, 1e-30)), axis->first);
    return MOVES_LEFT + MOVES_WIDTH * (decade - axis->first) / (axis->last - axis->first);
}

static double part_of_size(const pelt_weight_study *study, double move)
{
    return study->size > 0.0 ? move / study->size : 0.0;
}

static double mean_move(const pelt_weight_study *study, int layout)
{
    return study->moved > 0 ? study->layouts[layout].move_total / (double)study->moved : 0.0;
}

static decades find_decades(const pelt_weight_study *characters, uint32_t count)
{
    enum { NEAREST = -8 }; /* less is nothing to see */
    double least = 1e-6, most = 1e-5;
    for (uint32_t c = 0; c < count; c++) {
        for (int i = 0; i < ROW_COUNT; i++) {
            double mean = part_of_size(&characters[c], mean_move(&characters[c], i));
            double worst = part_of_size(&characters[c], characters[c].layouts[i].move_worst);
            least = mean > 0.0 ? fmin(least, mean) : least;
            most = fmax(most, worst);
        }
    }
    return (decades){ (int)fmax(floor(log10(least)), NEAREST), (int)ceil(log10(most)) };
}

/* 10 to the power, in superscript digits. */
static void format_decade(int decade, char *out, size_t size)
{
    static const char *const digits[] = { "\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",
                                          "\xc2\xb3",     "\xe2\x81\xb4", "\xe2\x81\xb5",
                                          "\xe2\x81\xb6", "\xe2\x81\xb7", "\xe2\x81\xb8",
                                          "\xe2\x81\xb9" };
    int power = abs(decade);
    (void)snprintf(out, size, "10%s%s%s", decade < 0 ? "\xe2\x81\xbb" : "",
                   power >= 10 ? digits[power / 10 % 10] : "", digits[power % 10]);
}

static void put_move_axis(pelt_page *page, const decades *axis, uint32_t count)
{
    char text[64];
    for (int decade = axis->first; decade <= axis->last; decade++) {
        double x = move_x(axis, pow(10.0, decade));
        format_decade(decade, text, sizeof(text));
        pelt_page_line(page, x, TOP, x, BOTTOM, "stroke=\"" PAGE_RULE "\"");
        pelt_page_text(page, x, BOTTOM + 18, "middle", PAGE_TICK, text);
    }
    (void)snprintf(text, sizeof(text), "How far vertices of %u character%s move", count,
                   count == 1 ? "" : "s");
    pelt_page_text(page, MOVES_LEFT, TOP - 12, "start", "font-weight=\"600\"", text);
    pelt_page_text(page, MOVES_LEFT + MOVES_WIDTH / 2.0, BOTTOM + 40, "middle", PAGE_NOTE,
                   "part of the character\xe2\x80\x99s size, in all poses of its clips");
    double x = MOVES_LEFT + MOVES_WIDTH / 2.0 - 76, y = BOTTOM + 60;
    pelt_page_put(page,
                  "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"" PAGE_QUIET "\"/>\n"
                  "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"#ffffff\" stroke=\"" PAGE_QUIET
                  "\" stroke-width=\"1.2\"/>\n",
                  x, y - 4, x + 82, y - 4);
    pelt_page_text(page, x + 9, y, "start", PAGE_NOTE, "the worst");
    pelt_page_text(page, x + 91, y, "start", PAGE_NOTE, "on average");
}

static void put_moves(pelt_page *page, const pelt_weight_study *characters, uint32_t count,
                      const decades *axis, int row)
{
    double y = TOP + ROW * (row + 0.5), most = 0.0;
    for (uint32_t c = 0; c < count; c++) {
        double mean = part_of_size(&characters[c], mean_move(&characters[c], row));
        if (mean > 0.0 && log10(mean) >= axis->first) {
            pelt_page_put(page,
                          "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"none\" stroke=\"%s\" "
                          "stroke-width=\"1.2\" stroke-opacity=\"0.7\"/>\n",
                          move_x(axis, mean), y + 8, colours[row]);
        }
    }
    for (uint32_t c = 0; c < count; c++) {
        double worst = part_of_size(&characters[c], characters[c].layouts[row].move_worst);
        most = fmax(most, worst);
        if (worst > 0.0 && log10(worst) >= axis->first) {
            pelt_page_put(page,
                          "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\" "
                          "fill-opacity=\"0.6\"/>\n",
                          move_x(axis, worst), y - 7, colours[row]);
        }
    }
    char text[32];
    (void)snprintf(text, sizeof(text), most < 9.95e-6 ? "%.1f" : "%.0f", most * 1e6);
    pelt_page_text(page, MOVES_LEFT + MOVES_WIDTH + 60, y + 4, "end", "font-size=\"11\"", text);
}

pelt_result pelt_weight_study_plot(const pelt_host *host, const char *path,
                                   const pelt_weight_study *random,
                                   const pelt_weight_study *characters, uint32_t count)
{
    pelt_page page;
    pelt_result result = pelt_page_open(
        &page, host, path, PAGE_WIDTH, PAGE_HEIGHT, "What rounding does to four weights",
        "random vertices with 1 to 4 influences; characters as their files are");
    if (result != PELT_OK) {
        return result;
    }
    decades axis = find_decades(characters, count);
    put_error_axis(&page);
    put_move_axis(&page, &axis, count);
    put_names(&page);
    for (int i = 0; i < ROW_COUNT; i++) {
        put_distribution(&page, &random->layouts[i].errors, i);
        put_moves(&page, characters, count, &axis, i);
    }
    pelt_page_text(&page, MOVES_LEFT + MOVES_WIDTH + 60, TOP - 12, "end", PAGE_TICK,
                   "worst, 10\xe2\x81\xbb\xe2\x81\xb6");
    return pelt_page_close(&page);
}
