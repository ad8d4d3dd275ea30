/* Six grids of vertices by joints: who wins, in pelt's pass and in the seed's, and what the boxes
 * of each form cost. */
#include "study/crossover_page.h"

#include <math.h>

enum {
    PANELS_TOP = 104,
    COLUMN = 500, /* from one panel to the next */
    LABELS = 46,  /* left of the cells */
    CELLS_WIDTH = 416,
    CELL_HEIGHT = 27,
    PANEL_HEAD = 24,
    PANEL_FOOT = 62
};

typedef struct colour {
    double channels[3];
} colour;

static const colour exact_wins = { { 11, 122, 75 } }, joints_win = { { 74, 80, 168 } },
                    costs = { { 201, 130, 10 } };

/* From almost white to the colour. */
static void put_cell(pelt_page *page, double x, double y, double width, const colour *of,
                     double strength, const char *text)
{
    double rgb[3], light = 0.0;
    strength = fmin(fmax(strength, 0.0), 1.0);
    for (int i = 0; i < 3; i++) {
        rgb[i] = of ? 255.0 + (of->channels[i] - 255.0) * (0.1 + 0.9 * strength) : 238.0;
        light += rgb[i] / 3.0;
    }
    char style[96];
    (void)snprintf(style, sizeof(style), "fill=\"#%02x%02x%02x\"", (unsigned)rgb[0],
                   (unsigned)rgb[1], (unsigned)rgb[2]);
    pelt_page_rect(page, x + 1, y + 1, width - 2, CELL_HEIGHT - 2, style);
    (void)snprintf(style, sizeof(style), "font-size=\"%d\" fill=\"%s\"", width < 36.0 ? 9 : 12,
                   light < 140.0 ? "#ffffff" : PAGE_INK);
    pelt_page_text(page, x + width / 2.0, y + CELL_HEIGHT / 2.0 + 4, "middle", style, text);
}

static void format_size(uint32_t value, char text[16])
{
    if (value >= 1024 && value % 1024 == 0) {
        (void)snprintf(text, 16, "%u k", value / 1024);
    } else {
        (void)snprintf(text, 16, "%u", value);
    }
}

/* Where a panel's cells are. */
typedef struct panel {
    const pelt_crossover_map *map;
    double left, top, cell_width, bottom;
} panel;

static panel begin_panel(pelt_page *page, const pelt_crossover_map *map, double left, double top,
                         const char *title)
{
    panel self = { .map = map,
                   .left = left + LABELS,
                   .top = top + PANEL_HEAD,
                   .cell_width = (double)CELLS_WIDTH / map->vertex_count };
    self.bottom = self.top + (double)CELL_HEIGHT * map->joint_count;
    pelt_page_text(page, left, top + 10, "start", "font-weight=\"600\"", title);
    char text[16];
    for (uint32_t v = 0; v < map->vertex_count; v++) {
        format_size(map->vertices[v], text);
        pelt_page_text(page, self.left + self.cell_width * (v + 0.5), self.bottom + 15, "middle",
                       PAGE_TICK, text);
    }
    for (uint32_t j = 0; j < map->joint_count; j++) {
        format_size(map->joints[j], text);
        pelt_page_text(page, self.left - 7, self.bottom - CELL_HEIGHT * (j + 0.5) + 4, "end",
                       PAGE_TICK, text);
    }
    pelt_page_text(page, self.left + CELLS_WIDTH / 2.0, self.bottom + 33, "middle", PAGE_NOTE,
                   "vertices a mesh");
    pelt_page_put(
        page,
        "<text transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"middle\" " PAGE_NOTE
        ">joints</text>\n",
        left + 8, (self.top + self.bottom) / 2.0);
    return self;
}

static void put_winners(pelt_page *page, const panel *self, pelt_crossover_form form)
{
    for (uint32_t j = 0; j < self->map->joint_count; j++) {
        for (uint32_t v = 0; v < self->map->vertex_count; v++) {
            const pelt_crossover_cell *cell = &self->map->cells[j][v];
            pelt_crossover_winner winner = pelt_crossover_find_winner(cell, form);
            if (winner == CROSSOVER_NO_WINNER) {
                continue;
            }
            double ratio = pelt_crossover_ratio(cell, form);
            double faster = fmax(ratio, 1.0 / ratio);
            const colour *of = winner == CROSSOVER_EXACT_WINS   ? &exact_wins
                               : winner == CROSSOVER_JOINTS_WIN ? &joints_win
                                                                : NULL;
            char text[16];
            (void)snprintf(text, sizeof(text), faster < 9.95 ? "%.2f" : "%.0f", faster);
            put_cell(page, self->left + self->cell_width * v,
                     self->bottom - CELL_HEIGHT * (j + 1.0), self->cell_width, of, log2(faster),
                     text);
        }
    }
}

static void put_costs(pelt_page *page, const panel *self, pelt_crossover_form form)
{
    for (uint32_t j = 0; j < self->map->joint_count; j++) {
        for (uint32_t v = 0; v < self->map->vertex_count; v++) {
            const pelt_crossover_cell *cell = &self->map->cells[j][v];
            double without = cell->forms[form].without;
            if (!cell->measured || !(without > 0.0)) {
                continue;
            }
            double part = fmax(pelt_crossover_cost(cell, form) / without, 0.0);
            char text[16];
            (void)snprintf(text, sizeof(text), part < 0.0995 ? "%.1f" : "%.0f", 100.0 * part);
            put_cell(page, self->left + self->cell_width * v,
                     self->bottom - CELL_HEIGHT * (j + 1.0), self->cell_width, &costs,
                     sqrt(part / 2.0), text);
        }
    }
}

static void put_legend(pelt_page *page)
{
    static const struct {
        const char *fill, *text;
        double x;
    } entries[] = {
        { CROSSOVER_EXACT, "exact boxes are faster, so many times as fast", 0 },
        { CROSSOVER_JOINT, "boxes from joints are faster", 316 },
        { "#e8e8e8", "equal within 2 % or the rounds\xe2\x80\x99 spread", 526 },
    };
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        char style[64];
        double x = CROSSOVER_PAGE_LEFT + entries[i].x;
        (void)snprintf(style, sizeof(style), "fill=\"%s\"", entries[i].fill);
        pelt_page_rect(page, x, PANELS_TOP - 33, 12, 12, style);
        pelt_page_text(page, x + 19, PANELS_TOP - 23, "start", PAGE_NOTE, entries[i].text);
    }
}

static double panel_height(const pelt_crossover_map *map)
{
    return PANEL_HEAD + (double)CELL_HEIGHT * map->joint_count + PANEL_FOOT;
}

static void put_map(pelt_page *page, const pelt_crossover_map *map)
{
    static const struct {
        pelt_crossover_form form;
        bool costs;
        const char *title;
    } panels[] = {
        { CROSSOVER_PELT, false, "In pelt\xe2\x80\x99s pass: exact boxes or boxes from joints?" },
        { CROSSOVER_SEED, false, "In the seed\xe2\x80\x99s pass" },
        { CROSSOVER_PELT, true,
          "pelt\xe2\x80\x99s exact boxes: what they add to skinning without, %" },
        { CROSSOVER_JOINTS, true, "Boxes from joints: what they add, %" },
        { CROSSOVER_SEED, true, "The seed\xe2\x80\x99s exact boxes: what they add, %" },
        { CROSSOVER_ATOMICS, true, "Global atomics: what they add, %" },
    };
    put_legend(page);
    for (int i = 0; i < 6; i++) {
        panel self = begin_panel(page, map, CROSSOVER_PAGE_LEFT + COLUMN * (double)(i % 2),
                                 PANELS_TOP + panel_height(map) * (int)(i / 2), panels[i].title);
        (panels[i].costs ? put_costs : put_winners)(page, &self, panels[i].form);
    }
}

pelt_result pelt_crossover_plot(const pelt_host *host, const char *path, const char *subtitle,
                                const pelt_crossover_map *map, const pelt_looseness *looseness,
                                uint32_t count)
{
    static const char loose[] = "How much larger boxes from joints are than exact ones";
    double maps = map ? PANELS_TOP + 3 * panel_height(map) : 64.0;
    double heading = map && count > 0 ? 20.0 : 0.0;
    char title[128];
    (void)snprintf(title, sizeof(title), "%s", loose);
    if (map) {
        bool millions = map->total >= 1000000;
        (void)snprintf(
            title, sizeof(title), "What boxes cost: %.3g %s vertices in meshes of every shape",
            (double)map->total / (millions ? 1e6 : 1e3), millions ? "million" : "thousand");
    }
    pelt_page page;
    pelt_result result =
        pelt_page_open(&page, host, path, CROSSOVER_PAGE_WIDTH,
                       (int)(maps + heading + pelt_looseness_plot_height(count)), title, subtitle);
    if (result != PELT_OK) {
        return result;
    }
    if (map) {
        put_map(&page, map);
    }
    if (heading > 0.0) {
        pelt_page_text(&page, CROSSOVER_PAGE_LEFT, maps + 14, "start",
                       "font-size=\"15\" font-weight=\"600\"", loose);
    }
    pelt_looseness_put(&page, maps + heading, looseness, count);
    return pelt_page_close(&page);
}
