/* A typeface of strokes. Units: 14 are the font's size, capitals 10 high, small letters 7. */
#ifndef PELT_PLOT_FONT_H
#define PELT_PLOT_FONT_H

#include <stdint.h>

/* Strokes are written as paths: "Mx y" begins one, "Lx y" continues it by a line, "Ax y rx ry a b"
 * by an arc about x y from angle a to b in degrees; "ax y rx ry a b" begins one with an arc. */
typedef struct pelt_glyph {
    uint32_t code;
    double advance;
    const char *path;
} pelt_glyph;

/* A box where there is none. */
const pelt_glyph *pelt_font_glyph(uint32_t code);

typedef struct pelt_segment {
    float x0, y0, x1, y1;
} pelt_segment;

/* A glyph's strokes as lines; returns how many, at most max. */
uint32_t pelt_font_outline(const pelt_glyph *glyph, pelt_segment *out, uint32_t max);
enum { PELT_FONT_SEGMENTS_MAX = 128 };

#endif
