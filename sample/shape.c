#include "sample/shape.h"

#include "base/base.h"

#include <float.h>

enum {
    KNOTS_MAX = 8,
    CONES_MAX = 400,
    SPAN_CONES = 4, /* between two knots */
    HOLLOW_KNOTS = 4,
    HOLLOW_CONES = (HOLLOW_KNOTS - 1) * SPAN_CONES
};

/* A sphere of a blob's centre line. */
typedef struct knot {
    double x, y, z, radius;
} knot;

typedef struct blob_plan {
    int blob;
    bool paired;
    double blend; /* k */
    int knot_count;
    knot knots[KNOTS_MAX];
} blob_plan;

static const blob_plan blob_plans[] = {
    { BLOB_TORSO,
      false,
      .06,
      5,
      { { 0, .435, -.005, .122 },
        { 0, .51, 0, .136 },
        { 0, .61, 0, .122 },
        { 0, .69, -.004, .095 },
        { 0, .745, -.005, .072 } } },
    { BLOB_BELLY, false, .06, 2, { { 0, .49, .032, .118 }, { 0, .59, .028, .102 } } },
    { BLOB_CHEST, false, .05, 2, { { 0, .705, .045, .062 }, { 0, .63, .085, .034 } } },
    { BLOB_NECK, false, .05, 2, { { 0, .72, -.005, .074 }, { 0, .84, 0, .078 } } },
    { BLOB_SKULL, false, .06, 2, { { -.055, .99, -.005, .172 }, { .055, .99, -.005, .172 } } },
    { BLOB_MUZZLE,
      false,
      .07,
      3,
      { { 0, .925, .09, .098 }, { 0, .915, .17, .068 }, { 0, .92, .245, .036 } } },
    { BLOB_NOSE, false, .012, 2, { { -.011, .938, .275, .021 }, { .011, .938, .275, .021 } } },
    { BLOB_TUFT,
      false,
      .04,
      3,
      { { 0, 1.13, .04, .05 }, { .008, 1.18, .065, .026 }, { .03, 1.215, .105, .006 } } },
    { BLOB_SCARF_END,
      false,
      .012,
      4,
      { { .055, .765, .1, .03 },
        { .066, .72, .128, .03 },
        { .075, .655, .138, .035 },
        { .082, .585, .134, .032 } } },
    { BLOB_TAIL,
      false,
      .06,
      7,
      { { 0, .445, -.07, .052 },
        { 0, .425, -.17, .056 },
        { 0, .445, -.30, .084 },
        { 0, .55, -.42, .118 },
        { 0, .70, -.462, .128 },
        { 0, .85, -.43, .094 },
        { 0, .985, -.345, .012 } } },
    { BLOB_CHEEK, true, .07, 2, { { .09, .93, .04, .1 }, { .235, .875, .005, .018 } } },
    { BLOB_EAR,
      true,
      .035,
      4,
      { { .11, 1.08, -.012, .086 },
        { .148, 1.18, -.016, .07 },
        { .18, 1.285, -.02, .042 },
        { .203, 1.375, -.024, .012 } } },
    { BLOB_ARM,
      true,
      .05,
      8,
      { { .095, .70, -.005, .06 },
        { .16, .657, -.01, .052 },
        { .225, .585, -.015, .045 },
        { .272, .527, -.003, .043 },
        { .305, .484, .008, .045 },
        { .33, .448, .02, .051 },
        { .354, .41, .031, .052 },
        { .37, .38, .038, .041 } } },
    { BLOB_THUMB, true, .03, 2, { { .325, .45, .03, .03 }, { .332, .417, .078, .021 } } },
    { BLOB_LEG,
      true,
      .06,
      5,
      { { .085, .43, 0, .098 },
        { .094, .34, .012, .083 },
        { .1, .245, .02, .058 },
        { .104, .16, -.002, .049 },
        { .106, .085, -.02, .05 } } },
    { BLOB_FOOT,
      true,
      .04,
      3,
      { { .106, .045, -.03, .054 }, { .11, .045, .04, .058 }, { .115, .04, .1, .054 } } },
    { BLOB_TOES, true, .018, 2, { { .082, .03, .11, .03 }, { .08, .028, .148, .026 } } },
    { BLOB_TOES + 2, true, .018, 2, { { .116, .03, .12, .03 }, { .117, .028, .166, .027 } } },
    { BLOB_TOES + 4, true, .018, 2, { { .15, .03, .105, .03 }, { .153, .028, .14, .026 } } },
};

/* Taken out of the ears to make them cups. */
static const knot ear_hollow[HOLLOW_KNOTS] = {
    { .118, 1.125, .062, .058 },
    { .148, 1.18, .052, .054 },
    { .176, 1.265, .034, .031 },
    { .196, 1.335, .016, .008 },
};
#define HOLLOW_BLEND .02
#define FLOOR_BLEND  .03

/* The scarf's ring around the neck, lower in front. */
enum { SCARF_KNOTS = 20 };
#define SCARF_Y      .778
#define SCARF_RADIUS .09
#define SCARF_TILT   .22
#define SCARF_THICK  .036

/* Distance to a cone: |p - c(t)| - r(t) at its least over the axis, t = u - v slope, where u and v
 * are the point's coordinates along and across the axis. */
typedef struct round_cone {
    vec3 start, axis; /* axis is unit */
    double length, radius;
    double taper; /* radius lost a metre */
    double slope; /* tan of the half angle */
} round_cone;

/* Cones of one blob lie behind each other. */
typedef struct cone_list {
    uint32_t first, count;
} cone_list;

struct fox_shape {
    const pelt_host *host;
    int cone_count;
    round_cone cones[CONES_MAX];
    uint16_t cone_blobs[CONES_MAX];
    double blends[BLOB_COUNT];
    round_cone hollows[2][HOLLOW_CONES]; /* of the ears */

    /* A grid of cells, each with the cones that can matter in it: for the field (near), and for
     * everything within SHAPE_REACH (wide). */
    vec3 min, max;
    double cell;
    int size[3];
    cone_list *near, *wide;
    uint32_t entry_count, entry_capacity;
    uint16_t *entries;
};

static round_cone make_cone(knot a, knot b)
{
    round_cone cone = { .start = v3(a.x, a.y, a.z), .radius = a.radius };
    vec3 axis = v3_sub(v3(b.x, b.y, b.z), cone.start);
    cone.length = v3_length(axis);
    cone.axis = v3_scale(axis, 1.0 / cone.length);
    cone.taper = (a.radius - b.radius) / cone.length;
    cone.slope = cone.taper / sqrt(1.0 - cone.taper * cone.taper);
    return cone;
}

static double cone_distance(const round_cone *cone, vec3 point, vec3 *center)
{
    vec3 offset = v3_sub(point, cone->start);
    double u = v3_dot(offset, cone->axis);
    double v2 = v3_dot(offset, offset) - u * u;
    v2 = v2 > 0.0 ? v2 : 0.0;
    double t = u - sqrt(v2) * cone->slope;
    t = t < 0.0 ? 0.0 : t > cone->length ? cone->length : t;
    if (center) {
        *center = v3_along(cone->start, cone->axis, t);
    }
    return sqrt((u - t) * (u - t) + v2) - (cone->radius - cone->taper * t);
}

/* Catmull-Rom between b and c. */
static double spline(double a, double b, double c, double d, double t)
{
    return b +
           0.5 * t * (c - a + t * (2.0 * a - 5.0 * b + 4.0 * c - d + t * (3.0 * (b - c) + d - a)));
}

static knot spline_knot(const knot *knots, int count, int span, double t)
{
    const knot *b = &knots[span], *c = &knots[span + 1];
    const knot *a = span > 0 ? b - 1 : b;
    const knot *d = span + 2 < count ? c + 1 : c;
    return (knot){ spline(a->x, b->x, c->x, d->x, t), spline(a->y, b->y, c->y, d->y, t),
                   spline(a->z, b->z, c->z, d->z, t),
                   spline(a->radius, b->radius, c->radius, d->radius, t) };
}

static knot mirror_knot(knot k, int side)
{
    return (knot){ side ? -k.x : k.x, k.y, k.z, k.radius };
}

/* Smooths the line through the knots, unless there are only two, and returns how many cones. */
static int make_cones(const knot *knots, int count, int side, round_cone *cones)
{
    int n = 0;
    int pieces = count == 2 ? 1 : SPAN_CONES;
    for (int span = 0; span + 1 < count; ++span) {
        for (int i = 0; i < pieces; ++i) {
            knot a = spline_knot(knots, count, span, (double)i / pieces);
            knot b = spline_knot(knots, count, span, (i + 1.0) / pieces);
            cones[n++] = make_cone(mirror_knot(a, side), mirror_knot(b, side));
        }
    }
    return n;
}

static void add_blob(fox_shape *shape, const blob_plan *plan, int side)
{
    int blob = plan->blob + side;
    int n = make_cones(plan->knots, plan->knot_count, side, shape->cones + shape->cone_count);
    shape->blends[blob] = plan->blend;
    for (int i = 0; i < n; ++i) {
        shape->cone_blobs[shape->cone_count++] = (uint16_t)blob;
    }
}

static knot scarf_knot(int i)
{
    double angle = 2.0 * PELT_SAMPLE_PI * i / SCARF_KNOTS;
    double z = SCARF_RADIUS * cos(angle);
    return (knot){ SCARF_RADIUS * sin(angle), SCARF_Y - SCARF_TILT * z, z + .005, SCARF_THICK };
}

static void add_scarf(fox_shape *shape)
{
    shape->blends[BLOB_SCARF] = .012;
    for (int i = 0; i < SCARF_KNOTS; ++i) {
        shape->cones[shape->cone_count] = make_cone(scarf_knot(i), scarf_knot(i + 1));
        shape->cone_blobs[shape->cone_count++] = BLOB_SCARF;
    }
}

static double smooth_max(double a, double b, double k, double *share_b)
{
    double h = 1.0 - fabs(a - b) / k;
    h = h > 0.0 ? h : 0.0;
    *share_b = a > b ? 0.5 * h : 1.0 - 0.5 * h;
    return (a > b ? a : b) + 0.25 * h * h * k;
}

static double hollow_distance(const round_cone *carve, vec3 point, vec3 *center)
{
    double least = DBL_MAX;
    for (int i = 0; i < HOLLOW_CONES; ++i) {
        vec3 c;
        double d = cone_distance(&carve[i], point, &c);
        if (d < least) {
            least = d;
            *center = c;
        }
    }
    return least;
}

double pelt_sample_shape_cup(const fox_shape *shape, vec3 point)
{
    vec3 center;
    return hollow_distance(shape->hollows[point.x < 0.0], point, &center);
}

/* Ears are hollow and soles flat: the blob's distance, changed by what is cut from it, with the
 * gradient if it is wanted. */
static double cut_blob(const fox_shape *shape, int blob, vec3 point, double distance,
                       vec3 *gradient)
{
    double share;
    if (blob == BLOB_EAR || blob == BLOB_EAR + 1) {
        vec3 center;
        double outside = hollow_distance(shape->hollows[blob - BLOB_EAR], point, &center);
        distance = smooth_max(distance, -outside, HOLLOW_BLEND, &share);
        if (gradient) {
            vec3 inward = v3_unit(v3_sub(center, point), v3(0, 0, -1));
            *gradient = v3_mix(*gradient, inward, share);
        }
    } else if (blob >= BLOB_FOOT) {
        distance = smooth_max(distance, -point.y, FLOOR_BLEND, &share);
        if (gradient) {
            *gradient = v3_mix(*gradient, v3(0, -1, 0), share);
        }
    }
    return distance;
}

/* Distances of the blobs of some cones (entries NULL: of all). nearest[i]: the i-th one's closest
 * cone. */
static void gather(const fox_shape *shape, const uint16_t *entries, uint32_t count, vec3 point,
                   blob_distances *out, int nearest[BLOB_COUNT])
{
    out->count = 0;
    for (uint32_t i = 0; i < count;) {
        int cone = entries ? entries[i] : (int)i;
        int blob = shape->cone_blobs[cone];
        double least = DBL_MAX;
        int closest = cone;
        do {
            double d = cone_distance(&shape->cones[cone], point, NULL);
            if (d < least) {
                least = d;
                closest = cone;
            }
            ++i;
            cone = i < count ? (entries ? entries[i] : (int)i) : cone;
        } while (i < count && shape->cone_blobs[cone] == blob);
        out->blobs[out->count] = blob;
        out->distances[out->count] = cut_blob(shape, blob, point, least, NULL);
        nearest[out->count++] = closest;
    }
}

/* Solves for F by Newton's method. Starting from the least distance, where the sum is >= 1, the
 * convex sum makes the steps fall towards the root from above and never past it. */
static double blend(const fox_shape *shape, blob_distances *out)
{
    double f = DBL_MAX;
    for (int i = 0; i < out->count; ++i) {
        f = out->distances[i] < f ? out->distances[i] : f;
    }
    for (int step = 0; step < 30; ++step) {
        double sum = -1.0, slope = 0.0;
        for (int i = 0; i < out->count; ++i) {
            double inverse = 1.0 / shape->blends[out->blobs[i]];
            double x = 1.0 - (out->distances[i] - f) * inverse;
            x = x > 0.0 ? x : 0.0;
            out->shares[i] = x * x * x;
            sum += out->shares[i];
            slope += 3.0 * x * x * inverse;
        }
        if (sum < 1e-9) {
            break;
        }
        f -= sum / slope;
    }
    return f;
}

static int grid_cell(const fox_shape *shape, vec3 point)
{
    double q[3] = { (point.x - shape->min.x) / shape->cell, (point.y - shape->min.y) / shape->cell,
                    (point.z - shape->min.z) / shape->cell };
    for (int i = 0; i < 3; ++i) {
        if (!(q[i] >= 0.0 && q[i] < shape->size[i])) {
            return -1;
        }
    }
    return ((int)q[2] * shape->size[1] + (int)q[1]) * shape->size[0] + (int)q[0];
}

static void gather_at(const fox_shape *shape, const cone_list *lists, vec3 point,
                      blob_distances *out, int nearest[BLOB_COUNT])
{
    int cell = grid_cell(shape, point);
    if (cell < 0) {
        gather(shape, NULL, (uint32_t)shape->cone_count, point, out, nearest);
    } else {
        gather(shape, shape->entries + lists[cell].first, lists[cell].count, point, out, nearest);
    }
}

double pelt_sample_shape_distance(const fox_shape *shape, vec3 point)
{
    blob_distances blobs;
    int nearest[BLOB_COUNT];
    gather_at(shape, shape->near, point, &blobs, nearest);
    return blend(shape, &blobs);
}

double pelt_sample_shape_gradient(const fox_shape *shape, vec3 point, vec3 *gradient)
{
    blob_distances blobs;
    int nearest[BLOB_COUNT];
    gather_at(shape, shape->near, point, &blobs, nearest);
    double f = blend(shape, &blobs);
    vec3 sum = v3(0, 0, 0);
    double total = 0.0;
    for (int i = 0; i < blobs.count; ++i) {
        double k = shape->blends[blobs.blobs[i]];
        double x = 1.0 - (blobs.distances[i] - f) / k;
        if (x <= 0.0) {
            continue;
        }
        vec3 center;
        double distance = cone_distance(&shape->cones[nearest[i]], point, &center);
        vec3 direction = v3_unit(v3_sub(point, center), v3(0, 1, 0));
        (void)cut_blob(shape, blobs.blobs[i], point, distance, &direction);
        double weight = x * x / k;
        sum = v3_along(sum, direction, weight);
        total += weight;
    }
    *gradient = v3_scale(sum, 1.0 / total);
    return f;
}

void pelt_sample_shape_blobs(const fox_shape *shape, vec3 point, blob_distances *out)
{
    int nearest[BLOB_COUNT];
    gather_at(shape, shape->wide, point, out, nearest);
    (void)blend(shape, out);
}

vec3 pelt_sample_shape_project(const fox_shape *shape, vec3 point, int steps, double reach)
{
    for (int i = 0; i < steps; ++i) {
        vec3 gradient;
        double f = pelt_sample_shape_gradient(shape, point, &gradient);
        double square = v3_dot(gradient, gradient);
        /* The gradient is short only on the medial axis, where it leads nowhere. */
        double step = -f / (square > 0.05 ? square : 0.05);
        double limit = reach / sqrt(square > 1e-12 ? square : 1e-12);
        step = step > limit ? limit : step < -limit ? -limit : step;
        point = v3_along(point, gradient, step);
    }
    return point;
}

static bool append(fox_shape *shape, int cone)
{
    if (shape->entry_count == shape->entry_capacity) {
        uint32_t capacity = shape->entry_capacity ? 2 * shape->entry_capacity : 1 << 16;
        uint16_t *entries =
            pelt_reallocate(shape->host, shape->entries, capacity * sizeof(*entries));
        if (!entries) {
            return false;
        }
        shape->entries = entries;
        shape->entry_capacity = capacity;
    }
    shape->entries[shape->entry_count++] = (uint16_t)cone;
    return true;
}

/* Lists the cones that can matter anywhere within radius of center. A distance changes by no more
 * than the way, so a blob matters if it can come within margin of the least upper bound, and a
 * cone of it if it can be the blob's closest. */
static bool list_cones(fox_shape *shape, vec3 center, double radius, double margin, cone_list *list)
{
    blob_distances all;
    int nearest[BLOB_COUNT];
    gather(shape, NULL, (uint32_t)shape->cone_count, center, &all, nearest);
    double least = DBL_MAX;
    for (int i = 0; i < all.count; ++i) {
        least = all.distances[i] < least ? all.distances[i] : least;
    }
    list->first = shape->entry_count;
    for (int i = 0, c = 0; i < all.count; ++i) {
        double own = shape->blends[all.blobs[i]];
        bool kept = all.distances[i] - radius <= least + radius + (margin > own ? margin : own);
        double closest = cone_distance(&shape->cones[nearest[i]], center, NULL);
        for (; c < shape->cone_count && shape->cone_blobs[c] == all.blobs[i]; ++c) {
            if (kept && cone_distance(&shape->cones[c], center, NULL) <= closest + 2.0 * radius &&
                !append(shape, c)) {
                return false;
            }
        }
    }
    list->count = shape->entry_count - list->first;
    return true;
}

static bool fill_grid(fox_shape *shape)
{
    shape->min = v3(-.48, -.06, -.68);
    shape->max = v3(.48, 1.46, .38);
    shape->cell = 0.04;
    vec3 extent = v3_sub(shape->max, shape->min);
    shape->size[0] = (int)ceil(extent.x / shape->cell);
    shape->size[1] = (int)ceil(extent.y / shape->cell);
    shape->size[2] = (int)ceil(extent.z / shape->cell);
    size_t count = (size_t)shape->size[0] * (size_t)shape->size[1] * (size_t)shape->size[2];
    shape->near = pelt_allocate(shape->host, count, sizeof(*shape->near));
    shape->wide = pelt_allocate(shape->host, count, sizeof(*shape->wide));
    if (!shape->near || !shape->wide) {
        return false;
    }
    /* Half a cell's diagonal, and a little more for the rounding of a point to its cell. */
    double radius = shape->cell * (sqrt(3.0) / 2.0 + 1e-6);
    size_t i = 0;
    for (int z = 0; z < shape->size[2]; ++z) {
        for (int y = 0; y < shape->size[1]; ++y) {
            for (int x = 0; x < shape->size[0]; ++x, ++i) {
                vec3 center = v3_along(shape->min, v3(x + .5, y + .5, z + .5), shape->cell);
                if (!list_cones(shape, center, radius, 0.0, &shape->near[i]) ||
                    !list_cones(shape, center, radius, SHAPE_REACH, &shape->wide[i])) {
                    return false;
                }
            }
        }
    }
    return true;
}

pelt_result pelt_sample_shape_create(const pelt_host *host, fox_shape **out)
{
    *out = NULL;
    fox_shape *made = pelt_allocate(host, 1, sizeof(*made));
    if (!made) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for the shape");
    }
    made->host = host;
    for (size_t i = 0; i < sizeof(blob_plans) / sizeof(*blob_plans); ++i) {
        add_blob(made, &blob_plans[i], 0);
        if (blob_plans[i].paired) {
            add_blob(made, &blob_plans[i], 1);
        }
    }
    add_scarf(made);
    for (int side = 0; side < 2; ++side) {
        (void)make_cones(ear_hollow, HOLLOW_KNOTS, side, made->hollows[side]);
    }
    if (!fill_grid(made)) {
        pelt_sample_shape_destroy(made);
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for the shape");
    }
    *out = made;
    return PELT_OK;
}

void pelt_sample_shape_destroy(fox_shape *shape)
{
    if (!shape) {
        return;
    }
    pelt_release(shape->host, shape->entries);
    pelt_release(shape->host, shape->near);
    pelt_release(shape->host, shape->wide);
    pelt_release(shape->host, shape);
}

vec3 pelt_sample_shape_min(const fox_shape *shape)
{
    return shape->min;
}

vec3 pelt_sample_shape_max(const fox_shape *shape)
{
    return shape->max;
}
