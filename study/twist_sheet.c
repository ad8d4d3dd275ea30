/* The picture of the limb: methods in rows, angles in columns. */
#include "study/squash_colours.h"
#include "study/twist.h"

#include <math.h>

enum {
    COLUMNS = 5,
    TILE_WIDTH = 300,
    TWIST_HEIGHT = 150,
    BEND_HEIGHT = 250,
    SAMPLES = 3, /* a pixel, along each side */
    GAP = 8,
    MARGIN = 32,
    LABEL_WIDTH = 176,
    HEAD_HEIGHT = 112,
    ANGLES_HEIGHT = 40, /* over a block */
    FIGURES_HEIGHT = 60,
    BLOCK_GAP = 26
};

static const uint32_t paper = 0xffffff, ground = 0xf3f4f7;

static const pelt_text_style title = { .size = 34, .bold = true, .colour = 0x1f2430 };
static const pelt_text_style subtitle = { .size = 20, .colour = 0x667085 };
static const pelt_text_style head = { .size = 23, .bold = true, .colour = 0x1f2430 };
static const pelt_text_style small = { .size = 17, .colour = 0x667085 };
static const pelt_text_style figure = { .size = 17, .bold = true, .colour = 0x1f2430 };

/* A half of the picture: one motion. */
typedef struct block {
    pelt_twist_motion motion;
    const char *name;
    int angles[COLUMNS];
    int height;   /* of a tile */
    double scale; /* pixels a unit */
} block;

static const block blocks[] = {
    { PELT_TWIST_ABOUT, "twisted by", { 60, 120, 160, 180, 240 }, TWIST_HEIGHT, 66.0 },
    { PELT_TWIST_BEND, "bent by", { 30, 60, 90, 120, 150 }, BEND_HEIGHT, 74.0 },
};
enum { BLOCKS = sizeof(blocks) / sizeof(blocks[0]) };

static int column_left(int column)
{
    return MARGIN + LABEL_WIDTH + column * (TILE_WIDTH + GAP);
}

static int block_height(const block *self)
{
    return ANGLES_HEIGHT + PELT_TWIST_METHOD_COUNT * (self->height + FIGURES_HEIGHT) + BLOCK_GAP;
}

/* Clay, with stripes of another along the limb, so that its twist is seen. */
static void sample_colour(const pelt_twist_limb *limb, const squash_view *view, uint32_t x,
                          uint32_t y, double out[3])
{
    enum { STRIPES = 12 };
    static const double tint[3] = { 0.32, 0.92, 1.7 };
    const squash_sample *sample = &view->samples[(size_t)y * view->width + x];
    if (squash_sample_empty(sample)) {
        squash_linear(ground, out);
        return;
    }
    squash_shade(view, sample, limb->normals, false, out);
    uint32_t place = sample->vertices[0] % limb->around;
    if (place * STRIPES / limb->around % 2 == 1) {
        for (int i = 0; i < 3; i++) {
            out[i] *= tint[i];
        }
    }
}

static pelt_result draw_tile(pelt_canvas *canvas, const pelt_twist_limb *limb, const block *self,
                             int left, int top)
{
    const pelt_squash_limb shape = { .host = limb->host,
                                     .rings = limb->rings,
                                     .around = limb->around,
                                     .vertex_count = limb->vertex_count,
                                     .positions = limb->positions };
    squash_view view;
    pelt_result result =
        squash_view_create(&shape, SAMPLES * TILE_WIDTH, SAMPLES * (uint32_t)self->height,
                           SAMPLES * self->scale, &view);
    for (int y = 0; result == PELT_OK && y < self->height; y++) {
        for (int x = 0; x < TILE_WIDTH; x++) {
            double mean[3] = { 0.0 };
            for (int s = 0; s < SAMPLES * SAMPLES; s++) {
                double colour[3];
                sample_colour(limb, &view, (uint32_t)(SAMPLES * x + s % SAMPLES),
                              (uint32_t)(SAMPLES * y + s / SAMPLES), colour);
                for (int i = 0; i < 3; i++) {
                    mean[i] += fmin(colour[i], 1.0) / (SAMPLES * SAMPLES);
                }
            }
            pelt_canvas_fill(canvas, left + x, top + y, 1, 1, squash_srgb(mean));
        }
    }
    if (result == PELT_OK) {
        squash_view_destroy(&view);
    }
    return result;
}

static void put_figures(pelt_canvas *canvas, const block *self, const pelt_twist_point *point,
                        uint32_t method, int left, int y)
{
    char text[64];
    (void)snprintf(text, sizeof(text), "volume %.1f %%", 100.0 * point->volume[method]);
    pelt_canvas_text(canvas, left, y, &figure, text);
    if (self->motion == PELT_TWIST_ABOUT) {
        (void)snprintf(text, sizeof(text), "area in the middle %.0f %%",
                       100.0 * point->middle[method]);
    } else {
        (void)snprintf(text, sizeof(text), "outside %.0f %%, swollen to %.0f %%",
                       100.0 * point->outside[method], 100.0 * point->swelling[method]);
    }
    pelt_canvas_text(canvas, left, y + 21, &small, text);
}

static pelt_result draw_block(pelt_canvas *canvas, pelt_twist_limb *limb, const block *self,
                              const pelt_twist_curves *curves, int top)
{
    const pelt_twist_point *points =
        self->motion == PELT_TWIST_ABOUT ? curves->twist : curves->bend;
    pelt_result result = PELT_OK;
    for (int column = 0; column < COLUMNS; column++) {
        char text[32];
        (void)snprintf(text, sizeof(text), "%s %d\xc2\xb0", self->name, self->angles[column]);
        pelt_canvas_text(canvas, column_left(column), top + 24, &head, text);
    }
    for (uint32_t m = 0; m < PELT_TWIST_METHOD_COUNT; m++) {
        int y = top + ANGLES_HEIGHT + (int)m * (self->height + FIGURES_HEIGHT);
        pelt_canvas_text(canvas, MARGIN, y + 28, &head, pelt_twist_methods[m].name);
        pelt_canvas_text(canvas, MARGIN, y + 52, &small, pelt_twist_methods[m].words);
        for (int column = 0; result == PELT_OK && column < COLUMNS; column++) {
            int angle = self->angles[column];
            pelt_twist_pose(limb, m, self->motion, angle);
            result = draw_tile(canvas, limb, self, column_left(column), y);
            put_figures(canvas, self, &points[angle / PELT_TWIST_STEP], m, column_left(column),
                        y + self->height + 22);
        }
    }
    return result;
}

pelt_result pelt_twist_draw(pelt_twist_limb *limb, const pelt_twist_curves *curves,
                            pelt_canvas *out)
{
    int height = HEAD_HEIGHT + MARGIN - BLOCK_GAP;
    for (int i = 0; i < BLOCKS; i++) {
        height += block_height(&blocks[i]);
    }
    pelt_result result = pelt_canvas_create(
        limb->host, (uint32_t)(column_left(COLUMNS) - GAP + MARGIN), (uint32_t)height, paper, out);
    if (result != PELT_OK) {
        return result;
    }
    pelt_canvas_text(out, MARGIN, 52, &title, "A limb that twists and bends, blended two ways");
    pelt_canvas_text(out, MARGIN, 84, &subtitle,
                     "Two joints; weights change smoothly over the middle 45 % of it. Volume and "
                     "area in the middle as parts of those at rest, distances of the radius.");
    int top = HEAD_HEIGHT;
    for (int i = 0; result == PELT_OK && i < BLOCKS; i++) {
        result = draw_block(out, limb, &blocks[i], curves, top);
        top += block_height(&blocks[i]);
    }
    if (result != PELT_OK) {
        pelt_canvas_destroy(out);
    }
    return result;
}
