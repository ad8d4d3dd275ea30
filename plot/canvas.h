/* A picture of pixels with rectangles and text on it: for what is not drawn in lines. */
#ifndef PELT_PLOT_CANVAS_H
#define PELT_PLOT_CANVAS_H

#include "base/base.h"

/* Colours are 0xRRGGBB, sRGB. */
typedef struct pelt_canvas {
    const pelt_host *host;
    uint32_t width, height;
    uint8_t *pixels; /* RGBA, opaque, rows from the top */
} pelt_canvas;

pelt_result pelt_canvas_create(const pelt_host *host, uint32_t width, uint32_t height,
                               uint32_t colour, pelt_canvas *out);
void pelt_canvas_destroy(pelt_canvas *canvas);

/* What lies outside is left out. */
void pelt_canvas_fill(pelt_canvas *canvas, int x, int y, int width, int height, uint32_t colour);

typedef enum pelt_anchor { PELT_ANCHOR_START, PELT_ANCHOR_MIDDLE, PELT_ANCHOR_END } pelt_anchor;

/* size: as that of any font, capitals are 0.71 of it; bold strokes are half as wide again. */
typedef struct pelt_text_style {
    double size;
    bool bold;
    uint32_t colour;
    pelt_anchor anchor;
} pelt_text_style;

/* A line of UTF-8, y its base. What the font lacks is a box. */
void pelt_canvas_text(pelt_canvas *canvas, double x, double y, const pelt_text_style *style,
                      const char *text);
double pelt_text_width(const pelt_text_style *style, const char *text);

#endif
