/* Two panels of curves over the angle: the limb twisted, and bent. */
#include "study/twist.h"

#include "plot/page.h"

#include <math.h>

enum {
    TOP = 104,
    HEIGHT = 300,
    BOTTOM = TOP + HEIGHT,
    WIDTH = 400,
    LEFT = 64,
    RIGHT = 570, /* the right panel */
    PAGE_WIDTH = 1130,
    PAGE_HEIGHT = BOTTOM + 44,
    PERCENT = 120 /* at the top */
};

static const char *const colours[PELT_TWIST_METHOD_COUNT] = { "#b5433c", "#0b7a4b" };

/* What a curve shows, doubles of each method at this place in the points, and what is written where
 * on it: at the part of the panel's width, so far below. */
typedef struct curve {
    size_t offset;
    const char *dashes;
    double at;
    const char *words[PELT_TWIST_METHOD_COUNT]; /* NULL: said with another curve */
    int below[PELT_TWIST_METHOD_COUNT];
} curve;

typedef struct panel {
    int left;
    const char *title;
    const pelt_twist_point *points;
    int count, tick; /* degrees between ticks */
} panel;

static double x_of(const panel *self, double degrees)
{
    return self->left + WIDTH * degrees / (PELT_TWIST_STEP * (self->count - 1));
}

static double y_of(double part)
{
    return BOTTOM - HEIGHT * 100.0 * part / PERCENT;
}

static void put_axes(pelt_page *page, const panel *self)
{
    char text[32];
    for (int percent = 0; percent <= PERCENT; percent += 20) {
        (void)snprintf(text, sizeof(text), "%d %%", percent);
        pelt_page_line(page, self->left, y_of(percent / 100.0), self->left + WIDTH,
                       y_of(percent / 100.0),
                       percent == 100 ? "stroke=\"" PAGE_QUIET "\"" : "stroke=\"" PAGE_RULE "\"");
        pelt_page_text(page, self->left - 8, y_of(percent / 100.0) + 4, "end", PAGE_TICK, text);
    }
    for (int degrees = 0; degrees <= PELT_TWIST_STEP * (self->count - 1); degrees += self->tick) {
        (void)snprintf(text, sizeof(text), "%d\xc2\xb0", degrees);
        pelt_page_line(page, x_of(self, degrees), TOP, x_of(self, degrees), BOTTOM,
                       "stroke=\"" PAGE_RULE "\"");
        pelt_page_text(page, x_of(self, degrees), BOTTOM + 18, "middle", PAGE_TICK, text);
    }
    pelt_page_text(page, self->left, TOP - 14, "start", "font-weight=\"600\"", self->title);
}

static double value_at(const panel *self, const curve *what, int i, int method)
{
    const char *point = (const char *)&self->points[i];
    return ((const double *)(const void *)(point + what->offset))[method];
}

static void put_curve(pelt_page *page, const panel *self, const curve *what, int method)
{
    char style[96];
    pelt_page_put(page, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2.2\" %s d=\"",
                  colours[method], what->dashes);
    for (int i = 0; i < self->count; i++) {
        pelt_page_put(page, "%s%.1f %.1f", i ? "L" : "M", x_of(self, self->points[i].degrees),
                      y_of(value_at(self, what, i, method)));
    }
    pelt_page_put(page, "\"/>\n");
    if (what->words[method]) {
        int at = (int)lrint(what->at * (self->count - 1));
        bool end = at == self->count - 1;
        (void)snprintf(style, sizeof(style), "fill=\"%s\" font-size=\"12\"", colours[method]);
        pelt_page_text(page, x_of(self, self->points[at].degrees) + (end ? 8 : 0),
                       y_of(value_at(self, what, at, method)) + what->below[method],
                       end ? "start" : "middle", style, what->words[method]);
    }
}

pelt_result pelt_twist_plot(const pelt_host *host, const char *path,
                            const pelt_twist_curves *curves)
{
    static const char dashed[] = "stroke-dasharray=\"6 4\"", dotted[] = "stroke-dasharray=\"2 4\"";
    static const curve twisted[] = {
        { offsetof(pelt_twist_point, volume),
          "",
          0.5,
          { "lbs: volume", "dqs: volume and area in the middle" },
          { -10, -10 } },
        { offsetof(pelt_twist_point, middle),
          dashed,
          0.5,
          { "lbs: area in the middle", NULL },
          { -80, 0 } },
    };
    static const curve bent[] = {
        { offsetof(pelt_twist_point, volume),
          "",
          1.0,
          { "lbs: volume", "dqs: volume, outside" },
          { 8, 2 } },
        { offsetof(pelt_twist_point, outside), dashed, 1.0, { "lbs: outside", NULL }, { 4, 0 } },
        { offsetof(pelt_twist_point, swelling),
          dotted,
          1.0,
          { "lbs: swelling", "dqs: swelling" },
          { 17, 4 } },
    };
    const panel left = { LEFT, "Twisted", curves->twist, PELT_TWIST_POINTS, 60 };
    const panel right = { RIGHT, "Bent", curves->bend, PELT_BEND_POINTS, 30 };
    pelt_page page;
    pelt_result result = pelt_page_open(
        &page, host, path, PAGE_WIDTH, PAGE_HEIGHT, "What a limb keeps when it twists and bends",
        "parts of what it has at rest; two joints, weights change smoothly between them");
    if (result != PELT_OK) {
        return result;
    }
    put_axes(&page, &left);
    put_axes(&page, &right);
    for (int m = 0; m < PELT_TWIST_METHOD_COUNT; m++) {
        for (size_t i = 0; i < sizeof(twisted) / sizeof(twisted[0]); i++) {
            put_curve(&page, &left, &twisted[i], m);
        }
        for (size_t i = 0; i < sizeof(bent) / sizeof(bent[0]); i++) {
            put_curve(&page, &right, &bent[i], m);
        }
    }
    return pelt_page_close(&page);
}
