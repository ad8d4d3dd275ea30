#include "study/squash_view.h"

#include "study/internal.h"

#include <string.h>

/* Part of the tile that the limb may fill. */
static const double filled = 0.9;

/* A vertex on the tile: samples from its upper left, and nearness. */
typedef struct place {
    double x, y, depth;
} place;

static void look(squash_view *view)
{
    static const double towards[3] = { 0.35, 0.5, 0.85 }, up[3] = { 0.0, 1.0, 0.0 };
    memcpy(view->axes[2], towards, sizeof(towards));
    (void)normalize3(view->axes[2]);
    cross3(up, view->axes[2], view->axes[0]);
    (void)normalize3(view->axes[0]);
    cross3(view->axes[2], view->axes[0], view->axes[1]);
}

/* All vertices, parallel to the camera's direction. */
static void project(const pelt_squash_limb *limb, const squash_view *view, double scale, place *out)
{
    double low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY };
    for (uint32_t v = 0; v < limb->vertex_count; v++) {
        const double *p = limb->positions + 3 * (size_t)v;
        double at[2] = { dot3(p, view->axes[0]), dot3(p, view->axes[1]) };
        out[v] = (place){ at[0], at[1], dot3(p, view->axes[2]) };
        for (int i = 0; i < 2; i++) {
            low[i] = fmin(low[i], at[i]);
            high[i] = fmax(high[i], at[i]);
        }
    }
    double fitting =
        filled * fmin(view->width / (high[0] - low[0]), view->height / (high[1] - low[1]));
    scale = scale > 0.0 ? scale : fitting;
    for (uint32_t v = 0; v < limb->vertex_count; v++) {
        out[v].x = 0.5 * view->width + scale * (out[v].x - 0.5 * (low[0] + high[0]));
        out[v].y = 0.5 * view->height - scale * (out[v].y - 0.5 * (low[1] + high[1]));
    }
}

/* Twice the area, positive where a b c turn clockwise on the tile, whose y points down. */
static double area(const place *a, const place *b, double x, double y)
{
    return (b->x - a->x) * (y - a->y) - (b->y - a->y) * (x - a->x);
}

static void draw_triangle(squash_view *view, double *depths, const place *places,
                          const uint32_t vertices[3])
{
    const place *p[3] = { &places[vertices[0]], &places[vertices[1]], &places[vertices[2]] };
    double whole = area(p[0], p[1], p[2]->x, p[2]->y);
    if (whole == 0.0) {
        return;
    }
    double left = fmin(p[0]->x, fmin(p[1]->x, p[2]->x)),
           right = fmax(p[0]->x, fmax(p[1]->x, p[2]->x));
    double top = fmin(p[0]->y, fmin(p[1]->y, p[2]->y)),
           bottom = fmax(p[0]->y, fmax(p[1]->y, p[2]->y));
    for (uint32_t y = (uint32_t)fmax(top, 0.0); y < view->height && y + 0.5 <= bottom; y++) {
        for (uint32_t x = (uint32_t)fmax(left, 0.0); x < view->width && x + 0.5 <= right; x++) {
            double shares[3], depth = 0.0;
            for (int i = 0; i < 3; i++) {
                shares[i] = area(p[(i + 1) % 3], p[(i + 2) % 3], x + 0.5, y + 0.5) / whole;
                depth += shares[i] * p[i]->depth;
            }
            size_t at = (size_t)y * view->width + x;
            if (shares[0] < 0.0 || shares[1] < 0.0 || shares[2] < 0.0 || depth <= depths[at]) {
                continue;
            }
            depths[at] = depth;
            squash_sample *sample = &view->samples[at];
            sample->back = whole > 0.0;
            for (int i = 0; i < 3; i++) {
                sample->vertices[i] = vertices[i];
                sample->shares[i] = (float)shares[i];
            }
        }
    }
}

/* Quads between rings, fans over both ends; counter-clockwise from outside at rest. */
static void draw_limb(const pelt_squash_limb *limb, squash_view *view, double *depths,
                      const place *places)
{
    uint32_t around = limb->around, last = (limb->rings - 1) * around;
    for (uint32_t r = 0; r + 1 < limb->rings; r++) {
        for (uint32_t a = 0; a < around; a++) {
            uint32_t b = (a + 1) % around, near = r * around, far = near + around;
            const uint32_t first[3] = { near + a, near + b, far + a };
            const uint32_t second[3] = { far + b, far + a, near + b };
            draw_triangle(view, depths, places, first);
            draw_triangle(view, depths, places, second);
        }
    }
    for (uint32_t a = 1; a + 1 < around; a++) {
        const uint32_t first[3] = { 0, a + 1, a }, second[3] = { last, last + a, last + a + 1 };
        draw_triangle(view, depths, places, first);
        draw_triangle(view, depths, places, second);
    }
}

pelt_result squash_view_create(const pelt_squash_limb *limb, uint32_t width, uint32_t height,
                               double scale, squash_view *out)
{
    const pelt_host *host = limb->host;
    size_t count = (size_t)width * height;
    *out = (squash_view){ .host = host, .width = width, .height = height };
    out->samples = pelt_allocate(host, count, sizeof(*out->samples));
    double *depths = pelt_allocate(host, count, sizeof(*depths));
    place *places = pelt_allocate(host, limb->vertex_count, sizeof(*places));
    pelt_result result = PELT_OK;
    if (!out->samples || !depths || !places) {
        squash_view_destroy(out);
        result = pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory to draw a limb");
        goto done;
    }
    for (size_t i = 0; i < count; i++) {
        depths[i] = -INFINITY;
    }
    look(out);
    project(limb, out, scale, places);
    draw_limb(limb, out, depths, places);
done:
    pelt_release(host, places);
    pelt_release(host, depths);
    return result;
}

void squash_view_destroy(squash_view *view)
{
    pelt_release(view->host, view->samples);
    view->samples = NULL;
}
