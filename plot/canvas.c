#include "plot/canvas.h"

#include "plot/font.h"

#include <math.h>

enum { UNITS = 14 }; /* of the font, in its size */

static const double tracking = 0.4; /* units between glyphs; bold strokes need half of it more */

static double advance_of(const pelt_glyph *glyph, bool bold)
{
    return glyph->advance + (bold ? 1.5 : 1.0) * tracking;
}

pelt_result pelt_canvas_create(const pelt_host *host, uint32_t width, uint32_t height,
                               uint32_t colour, pelt_canvas *out)
{
    *out = (pelt_canvas){ .host = host, .width = width, .height = height };
    out->pixels = width <= INT16_MAX && height <= INT16_MAX
                      ? pelt_allocate(host, (size_t)width * height, 4)
                      : NULL;
    if (!out->pixels) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL,
                         "no memory for a picture of %u x %u pixels", width, height);
    }
    pelt_canvas_fill(out, 0, 0, (int)width, (int)height, colour);
    return PELT_OK;
}

void pelt_canvas_destroy(pelt_canvas *canvas)
{
    pelt_release(canvas->host, canvas->pixels);
    canvas->pixels = NULL;
}

/* coverage: 0 to 1 */
static void blend(uint8_t *pixel, uint32_t colour, double coverage)
{
    for (int i = 0; i < 3; i++) {
        double to = colour >> (16 - 8 * i) & 255;
        pixel[i] = (uint8_t)lrint(pixel[i] + coverage * (to - pixel[i]));
    }
    pixel[3] = 255;
}

void pelt_canvas_fill(pelt_canvas *canvas, int x, int y, int width, int height, uint32_t colour)
{
    int right = x + width < (int)canvas->width ? x + width : (int)canvas->width;
    int bottom = y + height < (int)canvas->height ? y + height : (int)canvas->height;
    for (int row = y > 0 ? y : 0; row < bottom; row++) {
        for (int column = x > 0 ? x : 0; column < right; column++) {
            blend(canvas->pixels + 4 * ((size_t)row * canvas->width + (size_t)column), colour, 1.0);
        }
    }
}

/* -- text ---------------------------------------------------------------------------------- */

/* The next character of UTF-8, 0 at the end; what is none is U+FFFD. */
static uint32_t next_code(const char **text)
{
    const uint8_t *at = (const uint8_t *)*text;
    int more = at[0] < 0x80 ? 0 : at[0] < 0xe0 ? 1 : at[0] < 0xf0 ? 2 : 3;
    uint32_t code = more == 0 ? at[0] : at[0] & (0x3fu >> more);
    if (at[0] == 0) {
        return 0;
    }
    for (int i = 1; i <= more; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            *text += i;
            return 0xfffd;
        }
        code = code << 6 | (at[i] & 0x3fu);
    }
    *text += 1 + more;
    return code;
}

double pelt_text_width(const pelt_text_style *style, const char *text)
{
    double units = 0.0;
    for (uint32_t code; (code = next_code(&text)) != 0;) {
        units += advance_of(pelt_font_glyph(code), style->bold);
    }
    return units * style->size / UNITS;
}

static double distance_to(const pelt_segment *line, double x, double y)
{
    double dx = (double)line->x1 - (double)line->x0, dy = (double)line->y1 - (double)line->y0;
    double px = x - (double)line->x0, py = y - (double)line->y0;
    double squared = dx * dx + dy * dy;
    double t = squared > 0.0 ? fmin(fmax((px * dx + py * dy) / squared, 0.0), 1.0) : 0.0;
    return hypot(px - t * dx, py - t * dy);
}

/* Round strokes: a pixel is covered by how far inside it is, within one pixel of the edge. */
static void draw_glyph(pelt_canvas *canvas, double x, double y, double scale, double half_width,
                       uint32_t colour, const pelt_glyph *glyph)
{
    pelt_segment lines[PELT_FONT_SEGMENTS_MAX];
    uint32_t count = pelt_font_outline(glyph, lines, PELT_FONT_SEGMENTS_MAX);
    int left = (int)floor(x - 2.0 * scale), right = (int)ceil(x + (glyph->advance + 2.0) * scale);
    int top = (int)floor(y - 13.0 * scale), bottom = (int)ceil(y + 5.0 * scale);
    right = right < (int)canvas->width ? right : (int)canvas->width;
    bottom = bottom < (int)canvas->height ? bottom : (int)canvas->height;
    for (int row = top > 0 ? top : 0; row < bottom; row++) {
        for (int column = left > 0 ? left : 0; column < right; column++) {
            double least = INFINITY;
            for (uint32_t i = 0; i < count; i++) {
                least = fmin(least, distance_to(&lines[i], (column + 0.5 - x) / scale,
                                                (y - row - 0.5) / scale));
            }
            double coverage = fmin(0.5 + (half_width - least) * scale, 1.0);
            if (coverage > 0.0) {
                blend(canvas->pixels + 4 * ((size_t)row * canvas->width + (size_t)column), colour,
                      coverage);
            }
        }
    }
}

void pelt_canvas_text(pelt_canvas *canvas, double x, double y, const pelt_text_style *style,
                      const char *text)
{
    double scale = style->size / UNITS;
    x -= style->anchor == PELT_ANCHOR_START ? 0.0
         : style->anchor == PELT_ANCHOR_END ? pelt_text_width(style, text)
                                            : 0.5 * pelt_text_width(style, text);
    for (uint32_t code; (code = next_code(&text)) != 0;) {
        const pelt_glyph *glyph = pelt_font_glyph(code);
        draw_glyph(canvas, x, y, scale, style->bold ? 0.75 : 0.53, style->colour, glyph);
        x += advance_of(glyph, style->bold) * scale;
    }
}
