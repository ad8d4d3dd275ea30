/* Pixels and the typeface on them. */
#include "plot/canvas.h"
#include "plot/font.h"
#include "study/squash.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static pelt_canvas make(uint32_t width, uint32_t height)
{
    pelt_canvas canvas;
    assert_int_equal(pelt_canvas_create(NULL, width, height, 0x102030, &canvas), PELT_OK);
    return canvas;
}

static uint32_t colour_at(const pelt_canvas *canvas, uint32_t x, uint32_t y)
{
    const uint8_t *pixel = canvas->pixels + 4 * (y * canvas->width + x);
    assert_int_equal(pixel[3], 255);
    return (uint32_t)pixel[0] << 16 | (uint32_t)pixel[1] << 8 | pixel[2];
}

static void fills_what_lies_inside(void **state)
{
    (void)state;
    pelt_canvas canvas = make(4, 3);
    pelt_canvas_fill(&canvas, -2, 1, 4, 9, 0xffeedd);
    pelt_canvas_fill(&canvas, 3, -5, 9, 6, 0x000001);
    pelt_canvas_fill(&canvas, 9, 9, 2, 2, 0);
    for (uint32_t y = 0; y < 3; y++) {
        for (uint32_t x = 0; x < 4; x++) {
            uint32_t expected = y >= 1 && x < 2 ? 0xffeedd : y == 0 && x == 3 ? 1 : 0x102030;
            assert_int_equal(colour_at(&canvas, x, y), expected);
        }
    }
    pelt_canvas_destroy(&canvas);
    assert_int_equal(pelt_canvas_create(NULL, 40000, 4, 0, &canvas), PELT_ERROR_MEMORY);
}

static void glyphs_stay_in_their_places(void **state)
{
    (void)state;
    for (uint32_t code = 32; code < 0x100; code++) {
        const pelt_glyph *glyph = pelt_font_glyph(code);
        pelt_segment lines[PELT_FONT_SEGMENTS_MAX];
        uint32_t count = pelt_font_outline(glyph, lines, PELT_FONT_SEGMENTS_MAX);
        assert_true(count < PELT_FONT_SEGMENTS_MAX);
        assert_int_equal(count == 0, code == ' ');
        for (uint32_t i = 0; i < count; i++) {
            const float x[2] = { lines[i].x0, lines[i].x1 }, y[2] = { lines[i].y0, lines[i].y1 };
            for (int k = 0; k < 2; k++) {
                assert_true(x[k] >= -0.5f && x[k] <= (float)glyph->advance + 0.3f);
                assert_true(y[k] >= -3.1f && y[k] <= 11.1f);
            }
        }
    }
}

static void check_words(const char *text)
{
    for (; *text; text++) {
        assert_int_equal(pelt_font_glyph((uint8_t)*text)->code, (uint8_t)*text);
    }
}

static void has_what_is_written(void **state)
{
    (void)state;
    check_words("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 "
                ".,:;()+-/%'\"!?=<>\xb0\xd7");
    for (int c = 0; c < PELT_SQUASH_CASE_COUNT; c++) {
        check_words(pelt_squash_cases[c].name);
        check_words(pelt_squash_cases[c].summary);
    }
    assert_int_equal(pelt_font_glyph(0x3b1)->code, 0); /* a box */
}

/* At size 14 a unit is a pixel: l is a stroke from 0 to 10 at x = 1.4, 1.06 wide, and every advance
 * is 0.4 more than the glyph's. */
static void strokes_lie_where_they_should(void **state)
{
    (void)state;
    pelt_canvas canvas = make(12, 20);
    const pelt_text_style style = { .size = 14, .colour = 0xffffff };
    pelt_canvas_text(&canvas, 2.1, 15, &style, "l"); /* the stroke: x = 3.5, y = 5 to 15 */
    for (uint32_t y = 6; y < 14; y++) {
        assert_int_equal(colour_at(&canvas, 3, y), 0xffffff);
        /* Half a pixel and .03 away from the edge: coverage 0.03. */
        assert_true((colour_at(&canvas, 2, y) & 255) < 0x30 + 12);
        assert_int_equal(colour_at(&canvas, 5, y), 0x102030);
    }
    assert_int_equal(colour_at(&canvas, 3, 3), 0x102030);
    assert_int_equal(colour_at(&canvas, 3, 17), 0x102030);
    assert_true(fabs(pelt_text_width(&style, "l1\xc2\xb0") - (2.8 + 7 + 4.4 + 3 * 0.4)) < 1e-12);
    pelt_canvas_destroy(&canvas);
}

static void anchors_move_text(void **state)
{
    (void)state;
    pelt_text_style style = { .size = 28, .colour = 0xffffff };
    double width = pelt_text_width(&style, "abc");
    pelt_canvas start = make(200, 40);
    pelt_canvas_text(&start, 50, 30, &style, "abc");
    for (int i = 0; i < 2; i++) {
        style.anchor = i == 0 ? PELT_ANCHOR_MIDDLE : PELT_ANCHOR_END;
        pelt_canvas other = make(200, 40);
        pelt_canvas_text(&other, 50 + width * (i == 0 ? 0.5 : 1.0), 30, &style, "abc");
        for (uint32_t k = 0; k < 200 * 40 * 4; k++) { /* but for the rounding of the place */
            assert_true(abs(start.pixels[k] - other.pixels[k]) <= 1);
        }
        pelt_canvas_destroy(&other);
    }
    pelt_canvas_destroy(&start);
}

/* Sequences that are cut short or no UTF-8 become boxes and end; nothing is written outside. */
static void survives_any_text(void **state)
{
    (void)state;
    static const char *const texts[] = { "\xff", "\xc2", "\xe2\x80", "a\xc2z", "\xf0\x9f\x98\x80",
                                         "\x80" };
    pelt_canvas canvas = make(16, 16);
    const pelt_text_style style = { .size = 40, .bold = true, .colour = 1 };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_true(pelt_text_width(&style, texts[i]) > 0.0);
        pelt_canvas_text(&canvas, -30.0 + 10.0 * (double)i, 5.0 * (double)i, &style, texts[i]);
    }
    pelt_canvas_destroy(&canvas);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_what_lies_inside), cmocka_unit_test(glyphs_stay_in_their_places),
        cmocka_unit_test(has_what_is_written),    cmocka_unit_test(strokes_lie_where_they_should),
        cmocka_unit_test(anchors_move_text),      cmocka_unit_test(survives_any_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
