/* The sheet: cases in rows, the truth and the methods in columns. */
#include "study/internal.h"
#include "study/squash_colours.h"

#include <string.h>

enum {
    TILE_WIDTH = 256,
    TILE_HEIGHT = 150,
    SAMPLES = 3, /* a pixel, along each side */
    GAP = 8,
    MARGIN = 32,
    LABEL_WIDTH = 214,
    COLUMNS = 1 + PELT_SQUASH_METHOD_COUNT,
    HEAD_HEIGHT = 178,
    ROW_HEIGHT = 2 * TILE_HEIGHT + 58, /* with figures below */
    FOOT_HEIGHT = 150,
    BAR_WIDTH = 520,
    WEIGHTS_WIDTH = 200,
    BAR_HEIGHT = 22
};

static const uint32_t paper = 0xffffff, ground = 0xf3f4f7, quiet = 0x667085;

static const pelt_text_style title = { .size = 34, .bold = true, .colour = 0x1f2430 };
static const pelt_text_style subtitle = { .size = 20, .colour = 0x667085 };
static const pelt_text_style head = { .size = 23, .bold = true, .colour = 0x1f2430 };
static const pelt_text_style small = { .size = 17, .colour = 0x667085 };
static const pelt_text_style figure = { .size = 18, .bold = true, .colour = 0x1f2430 };

static int column_left(int column)
{
    return MARGIN + LABEL_WIDTH + column * (TILE_WIDTH + GAP);
}

static int row_top(uint32_t row)
{
    return HEAD_HEIGHT + (int)row * ROW_HEIGHT;
}

/* Words in lines no wider than so much; returns the y behind them. */
static double put_words(pelt_canvas *canvas, double x, double y, double width, double step,
                        const pelt_text_style *style, const char *text)
{
    char line[96] = "";
    while (*text) {
        char longer[96];
        size_t length = strcspn(text, " ");
        (void)snprintf(longer, sizeof(longer), "%s%s%.*s", line, *line ? " " : "", (int)length,
                       text);
        if (*line && pelt_text_width(style, longer) > width) {
            pelt_canvas_text(canvas, x, y, style, line);
            y += step;
            (void)snprintf(line, sizeof(line), "%.*s", (int)length, text);
        } else {
            memcpy(line, longer, sizeof(line));
        }
        text += length + strspn(text + length, " ");
    }
    pelt_canvas_text(canvas, x, y, style, line);
    return y + step;
}

/* -- around the rows ----------------------------------------------------------------------- */

static void draw_head(pelt_canvas *canvas)
{
    static const char *const columns[COLUMNS] = {
        "of the deformed surface, weights' change included",
        "matrix of the blend (pelt)",
        "inverse transpose of the blend",
        "blend of inverse transposes",
        "blend of unit normals (Filament)",
        "the blended matrix itself",
    };
    pelt_canvas_text(canvas, MARGIN, 52, &title, "Normals of a skinned limb, five ways");
    pelt_canvas_text(canvas, MARGIN, 84, &subtitle,
                     "Two joints; weights change smoothly between them. Above: shaded with the "
                     "method's normals. Below: their angle to the true ones.");
    for (int c = 0; c < COLUMNS; c++) {
        pelt_canvas_text(canvas, column_left(c), 126, &head,
                         c == 0 ? "truth" : pelt_squash_methods[c - 1].name);
        (void)put_words(canvas, column_left(c), 149, TILE_WIDTH, 19, &small, columns[c]);
    }
}

static void draw_bar(pelt_canvas *canvas, int x, int y, int width, void (*ramp)(double, double[3]))
{
    for (int i = 0; i < width; i++) {
        double colour[3];
        ramp((i + 0.5) / width, colour);
        pelt_canvas_fill(canvas, x + i, y, 1, BAR_HEIGHT, squash_srgb(colour));
    }
}

static void draw_foot(pelt_canvas *canvas, int top)
{
    static const int ticks[] = { 0, 1, 5, 10, 20, 45, 90 };
    pelt_text_style tick = small;
    tick.anchor = PELT_ANCHOR_MIDDLE;
    int x = column_left(1), y = top + 38;
    pelt_canvas_text(canvas, x, y - 12, &small, "angle to the true normal, degrees");
    draw_bar(canvas, x, y, BAR_WIDTH, squash_heat_ramp);
    for (size_t i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++) {
        char text[16];
        double at = x + BAR_WIDTH * squash_heat_place(ticks[i]);
        (void)snprintf(text, sizeof(text), "%d", ticks[i]);
        pelt_canvas_fill(canvas, (int)at, y + BAR_HEIGHT, 1, 5, quiet);
        pelt_canvas_text(canvas, at, y + BAR_HEIGHT + 22, &tick, text);
    }
    x = column_left(3) + GAP;
    for (int row = 0; row < BAR_HEIGHT; row++) {
        for (int column = 0; column < 44; column++) {
            pelt_canvas_fill(canvas, x + column, y + row, 1, 1,
                             (column + row) % 12 < 4 ? 0x262626 : 0xf4a340);
        }
    }
    (void)put_words(canvas, x + 56, y + 7, column_left(4) + TILE_WIDTH - x - 56, 19, &small,
                    "the normal points against the triangle: lit from inside");
    x = column_left(0);
    pelt_canvas_text(canvas, x, y - 12, &small, "weight of the second joint");
    draw_bar(canvas, x, y, WEIGHTS_WIDTH, squash_weight_ramp);
    pelt_canvas_text(canvas, x, y + BAR_HEIGHT + 22, &small, "0");
    tick.anchor = PELT_ANCHOR_END;
    pelt_canvas_text(canvas, x + WEIGHTS_WIDTH, y + BAR_HEIGHT + 22, &tick, "1");
}

/* -- tiles --------------------------------------------------------------------------------- */

typedef enum tile_kind { TILE_SHADED, TILE_HEAT, TILE_WEIGHTS } tile_kind;

typedef struct tile {
    tile_kind kind;
    const pelt_squash_limb *limb;
    const squash_view *view;
    const double *normals;
    bool reversed;
} tile;

static void sample_colour(const tile *self, uint32_t x, uint32_t y, double out[3])
{
    const squash_sample *sample = &self->view->samples[(size_t)y * self->view->width + x];
    if (squash_sample_empty(sample)) {
        squash_linear(ground, out);
    } else if (self->kind == TILE_SHADED) {
        squash_shade(self->view, sample, self->normals, self->reversed, out);
    } else if (self->kind == TILE_HEAT) {
        squash_heat(self->limb, self->view, sample, self->normals, self->reversed,
                    (double)x / SAMPLES, (double)y / SAMPLES, out);
    } else {
        squash_weight_colour(self->limb, self->view, sample, out);
    }
}

static void draw_tile(pelt_canvas *canvas, int left, int top, const tile *self)
{
    for (uint32_t y = 0; y < TILE_HEIGHT; y++) {
        for (uint32_t x = 0; x < TILE_WIDTH; x++) {
            double mean[3] = { 0.0 };
            for (uint32_t s = 0; s < SAMPLES * SAMPLES; s++) {
                double colour[3];
                sample_colour(self, SAMPLES * x + s % SAMPLES, SAMPLES * y + s / SAMPLES, colour);
                for (int i = 0; i < 3; i++) {
                    mean[i] += fmin(colour[i], 1.0) / (SAMPLES * SAMPLES);
                }
            }
            pelt_canvas_fill(canvas, left + (int)x, top + (int)y, 1, 1, squash_srgb(mean));
        }
    }
}

static void put_figures(pelt_canvas *canvas, int left, int bottom, const pelt_squash_error *error)
{
    char text[64];
    (void)snprintf(text, sizeof(text), "mean %.1f\xc2\xb0, worst %.0f\xc2\xb0",
                   error->mean * 57.29577951308232, error->worst * 57.29577951308232);
    pelt_canvas_text(canvas, left, bottom + 22, &figure, text);
}

pelt_result pelt_squash_sheet_create(const pelt_host *host, uint32_t rows, pelt_squash_sheet *out)
{
    *out = (pelt_squash_sheet){ 0 };
    pelt_result result = pelt_canvas_create(host, (uint32_t)(column_left(COLUMNS) - GAP + MARGIN),
                                            (uint32_t)row_top(rows < 64 ? rows : 64) + FOOT_HEIGHT,
                                            paper, &out->canvas);
    if (result == PELT_OK) {
        draw_head(&out->canvas);
        draw_foot(&out->canvas, row_top(rows));
    }
    return result;
}

pelt_result pelt_squash_sheet_add(pelt_squash_sheet *sheet, const pelt_squash_limb *limb)
{
    squash_view view;
    pelt_result result =
        squash_view_create(limb, SAMPLES * TILE_WIDTH, SAMPLES * TILE_HEIGHT, 0.0, &view);
    if (result != PELT_OK) {
        return result;
    }
    pelt_canvas *canvas = &sheet->canvas;
    int top = row_top(sheet->row_count++), below = top + TILE_HEIGHT + GAP / 2;
    pelt_canvas_text(canvas, MARGIN, top + 28, &head, pelt_squash_cases[limb->which].name);
    (void)put_words(canvas, MARGIN, top + 54, LABEL_WIDTH - 24, 21, &small,
                    pelt_squash_cases[limb->which].summary);
    for (int c = 0; c < COLUMNS; c++) {
        int m = c - 1;
        tile next = { .kind = TILE_SHADED, .limb = limb, .view = &view, .normals = limb->truth };
        if (c > 0) {
            next.normals = limb->normals[m];
            next.reversed = limb->errors[m].flipped > 0.999;
        }
        draw_tile(canvas, column_left(c), top, &next);
        next.kind = c > 0 ? TILE_HEAT : TILE_WEIGHTS;
        draw_tile(canvas, column_left(c), below, &next);
        if (c > 0) {
            put_figures(canvas, column_left(c), below + TILE_HEIGHT, &limb->errors[m]);
        }
    }
    squash_view_destroy(&view);
    return PELT_OK;
}

void pelt_squash_sheet_destroy(pelt_squash_sheet *sheet)
{
    pelt_canvas_destroy(&sheet->canvas);
}
