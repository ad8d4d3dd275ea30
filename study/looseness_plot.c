/* A row for each character: edges to the left, volumes to the right. */
#include "study/crossover_page.h"

#include <math.h>
#include <string.h>

enum {
    ROW = 24,
    HEAD = 34, /* above the rows */
    FOOT = 62, /* below them */
    NAME_WIDTH = 214,
    EDGES_LEFT = CROSSOVER_PAGE_LEFT + NAME_WIDTH,
    EDGES_WIDTH = 290,
    VOLUMES_LEFT = EDGES_LEFT + EDGES_WIDTH + 100,
    VOLUMES_WIDTH = 290
};

double pelt_looseness_plot_height(uint32_t count)
{
    return count > 0 ? HEAD + (double)ROW * count + FOOT : 0.0;
}

/* An axis of ratios from 1 on, logarithmic. */
typedef struct ratio_axis {
    double left, width, octaves;
} ratio_axis;

static double ratio_x(const ratio_axis *axis, double ratio)
{
    return axis->left + axis->width * fmin(fmax(log2(ratio) / axis->octaves, 0.0), 1.0);
}

static ratio_axis make_axis(double left, double width, double most)
{
    return (ratio_axis){ left, width, fmax(1.0, ceil(log2(most) * 4.0) / 4.0) };
}

static void put_axis(pelt_page *page, const ratio_axis *axis, double top, double bottom)
{
    static const double few[] = { 1, 1.25, 1.5, 2, 2.5, 3, 4, 5 };
    static const double many[] = { 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000, 1e5, 1e6 };
    bool narrow = axis->octaves <= 2.5;
    size_t count = narrow ? sizeof(few) / sizeof(few[0]) : sizeof(many) / sizeof(many[0]);
    for (size_t i = 0; i < count; i++) {
        double ratio = narrow ? few[i] : many[i];
        char text[24];
        if (log2(ratio) > axis->octaves) {
            break;
        }
        double x = ratio_x(axis, ratio);
        (void)snprintf(text, sizeof(text), "%g\xc3\x97", ratio);
        pelt_page_line(page, x, top, x, bottom, "stroke=\"" PAGE_RULE "\"");
        pelt_page_text(page, x, bottom + 16, "middle", PAGE_TICK, text);
    }
}

static void put_dot(pelt_page *page, double x, double y)
{
    pelt_page_put(
        page, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.2\" fill=\"" CROSSOVER_JOINT "\"/>\n", x, y);
}

/* Large enough to be seen around a dot. */
static void put_diamond(pelt_page *page, double x, double y)
{
    pelt_page_put(
        page, "<path d=\"M%.1f %.1fl6 6l-6 6l-6 -6Z\" fill=\"#ffffff\" stroke=\"" PAGE_INK "\"/>\n",
        x, y - 6);
}

/* A line from the median to the most, a tick where nineteen of twenty are below. */
static void put_spread(pelt_page *page, const ratio_axis *axis, double y, const pelt_spread *parts,
                       const pelt_spread *whole)
{
    if (parts->count == 0) {
        return;
    }
    pelt_page_line(page, ratio_x(axis, parts->median), y, ratio_x(axis, parts->most), y,
                   "stroke=\"" CROSSOVER_JOINT "\" stroke-opacity=\"0.55\" stroke-width=\"1.5\"");
    double x = ratio_x(axis, parts->nineteen);
    pelt_page_line(page, x, y - 4, x, y + 4, "stroke=\"" CROSSOVER_JOINT "\" stroke-width=\"1.5\"");
    if (whole->count > 0) {
        put_diamond(page, ratio_x(axis, whole->median), y);
    }
    put_dot(page, ratio_x(axis, parts->median), y);
    char text[48];
    (void)snprintf(text, sizeof(text), parts->median < 9.95 ? "%.2f" : "%.0f", parts->median);
    size_t used = strlen(text);
    (void)snprintf(text + used, sizeof(text) - used, parts->most < 9.95 ? " / %.2f" : " / %.0f",
                   parts->most);
    pelt_page_text(page, axis->left + axis->width + 74, y + 4, "end", "font-size=\"11\"", text);
}

/* The file's name without folders and ending; where it is longer than there is room, its beginning
 * up to the end of a character. */
static void shorten(const char *path, char *out, size_t size)
{
    static const char dots[] = "\xe2\x80\xa6";
    const char *slash = strrchr(path, '/');
    const char *name = slash && slash[1] ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    size_t length = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    bool cut = length >= size;
    length = cut ? size - sizeof(dots) : length;
    while (cut && length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80) {
        length--;
    }
    (void)snprintf(out, size, "%.*s%s", (int)length, name, cut ? dots : "");
}

static void put_legend(pelt_page *page, double y)
{
    double x = EDGES_LEFT;
    put_dot(page, x + 4, y - 4);
    pelt_page_text(page, x + 14, y, "start", PAGE_NOTE, "median of a mesh\xe2\x80\x99s boxes");
    x += 190;
    pelt_page_line(page, x, y - 8, x, y, "stroke=\"" CROSSOVER_JOINT "\" stroke-width=\"1.5\"");
    pelt_page_text(page, x + 8, y, "start", PAGE_NOTE, "95 % are below");
    x += 118;
    pelt_page_line(page, x, y - 4, x + 20, y - 4,
                   "stroke=\"" CROSSOVER_JOINT "\" stroke-opacity=\"0.55\" stroke-width=\"1.5\"");
    pelt_page_text(page, x + 27, y, "start", PAGE_NOTE, "to the worst");
    x += 126;
    put_diamond(page, x, y - 4);
    pelt_page_text(page, x + 12, y, "start", PAGE_NOTE, "median around all meshes");
}

void pelt_looseness_put(pelt_page *page, double top, const pelt_looseness *looseness,
                        uint32_t count)
{
    if (count == 0) {
        return;
    }
    double edges = 1.0, volumes = 1.0, first = top + HEAD, bottom = first + (double)ROW * count;
    for (uint32_t i = 0; i < count; i++) {
        edges = fmax(edges, looseness[i].edges.most);
        volumes = fmax(volumes, looseness[i].volumes.most);
    }
    ratio_axis edge_axis = make_axis(EDGES_LEFT, EDGES_WIDTH, edges);
    ratio_axis volume_axis = make_axis(VOLUMES_LEFT, VOLUMES_WIDTH, volumes);
    pelt_page_text(page, EDGES_LEFT, first - 10, "start", PAGE_NOTE,
                   "sum of the box\xe2\x80\x99s edges");
    pelt_page_text(page, VOLUMES_LEFT, first - 10, "start", PAGE_NOTE, "volume");
    put_axis(page, &edge_axis, first, bottom);
    put_axis(page, &volume_axis, first, bottom);
    pelt_page_text(page, EDGES_LEFT + EDGES_WIDTH + 74, first - 10, "end", PAGE_TICK,
                   "median / worst");
    pelt_page_text(page, VOLUMES_LEFT + VOLUMES_WIDTH + 74, first - 10, "end", PAGE_TICK,
                   "median / worst");
    for (uint32_t i = 0; i < count; i++) {
        char name[32];
        double y = first + ROW * (i + 0.5);
        shorten(looseness[i].name, name, sizeof(name));
        pelt_page_text(page, CROSSOVER_PAGE_LEFT, y + 4, "start", "font-size=\"12\"", name);
        put_spread(page, &edge_axis, y, &looseness[i].edges, &looseness[i].whole_edges);
        put_spread(page, &volume_axis, y, &looseness[i].volumes, &looseness[i].whole_volumes);
    }
    put_legend(page, bottom + 42);
}
