#include "sample/shape.h"

#include "sample/body.h"

#include "base/base.h"

#include <float.h>

#define HOLLOW_BLEND .02
#define FLOOR_BLEND  .03

/* The grid that says which cones can matter where: bricks, of which those near the surface are
 * cut into cells. */
#define BRICK_SIZE .08
enum { BRICK_CELLS = 4, BRICK_CELLS_FINE = 8, FINE_VERTICES = 200000 };

typedef struct cone_list {
    uint32_t first, count; /* in entries */
} cone_list;

typedef struct cone_lists {
    cone_list near; /* for the field */
    cone_list wide; /* for everything within SHAPE_REACH */
} cone_lists;

typedef struct grid_brick {
    cone_lists lists;
    int32_t cells; /* its first cell's place, -1: it is not cut */
} grid_brick;

struct fox_shape {
    const pelt_host *host;
    fox_body body;
    vec3 min, max;
    int size[3];     /* bricks */
    int brick_cells; /* along each axis of a brick */
    grid_brick *bricks;
    cone_lists *cells;
    uint32_t entry_count, entry_capacity;
    uint16_t *entries;
};

static double smooth_max(double a, double b, double k, double *share_b)
{
    double h = 1.0 - fabs(a - b) / k;
    h = h > 0.0 ? h : 0.0;
    *share_b = a > b ? 0.5 * h : 1.0 - 0.5 * h;
    return (a > b ? a : b) + 0.25 * h * h * k;
}

static double hollow_distance(const fox_body *body, int side, vec3 point, vec3 *center)
{
    double least = DBL_MAX;
    *center = point;
    for (int i = 0; i < body->hollow_cones; ++i) {
        vec3 c;
        double d = cone_distance(&body->hollows[side][i], point, &c);
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
    return hollow_distance(&shape->body, point.x < 0.0, point, &center);
}

/* Ears are hollow and soles flat: the blob's distance, changed by what is cut from it, with the
 * gradient if it is wanted. */
static double cut_blob(const fox_shape *shape, int blob, vec3 point, double distance,
                       vec3 *gradient)
{
    double share;
    if (blob == BLOB_EAR || blob == BLOB_EAR + 1) {
        vec3 center;
        double outside = hollow_distance(&shape->body, blob - BLOB_EAR, point, &center);
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
        int blob = shape->body.cone_blobs[cone];
        double least = DBL_MAX;
        int closest = cone;
        do {
            double d = cone_distance(&shape->body.cones[cone], point, NULL);
            if (d < least) {
                least = d;
                closest = cone;
            }
            ++i;
            cone = i < count ? (entries ? entries[i] : (int)i) : cone;
        } while (i < count && shape->body.cone_blobs[cone] == blob);
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
    out->shares[0] = 1.0;
    for (int step = 0; out->count > 1 && step < 30; ++step) {
        double sum = -1.0, slope = 0.0;
        for (int i = 0; i < out->count; ++i) {
            double inverse = 1.0 / shape->body.blends[out->blobs[i]];
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

static const cone_lists *lists_at(const fox_shape *shape, vec3 point)
{
    const double q[3] = { (point.x - shape->min.x) / BRICK_SIZE,
                          (point.y - shape->min.y) / BRICK_SIZE,
                          (point.z - shape->min.z) / BRICK_SIZE };
    const int n = shape->brick_cells;
    int brick_at[3], cell_at[3];
    for (int i = 0; i < 3; ++i) {
        if (!(q[i] >= 0.0 && q[i] < shape->size[i])) {
            return NULL;
        }
        brick_at[i] = (int)q[i];
        cell_at[i] = (int)((q[i] - brick_at[i]) * n);
    }
    const grid_brick *brick =
        &shape->bricks[(brick_at[2] * shape->size[1] + brick_at[1]) * shape->size[0] + brick_at[0]];
    if (brick->cells < 0) {
        return &brick->lists;
    }
    return &shape->cells[brick->cells + (cell_at[2] * n + cell_at[1]) * n + cell_at[0]];
}

static void gather_at(const fox_shape *shape, vec3 point, bool wide, blob_distances *out,
                      int nearest[BLOB_COUNT])
{
    const cone_lists *lists = lists_at(shape, point);
    if (lists) {
        cone_list list = wide ? lists->wide : lists->near;
        gather(shape, shape->entries + list.first, list.count, point, out, nearest);
    } else {
        gather(shape, NULL, (uint32_t)shape->body.cone_count, point, out, nearest);
    }
}

double pelt_sample_shape_distance(const fox_shape *shape, vec3 point)
{
    blob_distances blobs;
    int nearest[BLOB_COUNT];
    gather_at(shape, point, false, &blobs, nearest);
    return blend(shape, &blobs);
}

double pelt_sample_shape_gradient(const fox_shape *shape, vec3 point, vec3 *gradient)
{
    blob_distances blobs;
    int nearest[BLOB_COUNT];
    gather_at(shape, point, false, &blobs, nearest);
    double f = blend(shape, &blobs);
    vec3 sum = v3(0, 0, 0);
    double total = 0.0;
    for (int i = 0; i < blobs.count; ++i) {
        double k = shape->body.blends[blobs.blobs[i]];
        double x = 1.0 - (blobs.distances[i] - f) / k;
        if (x <= 0.0) {
            continue;
        }
        vec3 center;
        double distance = cone_distance(&shape->body.cones[nearest[i]], point, &center);
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
    gather_at(shape, point, true, out, nearest);
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

/* Lists those of some cones (source NULL: of all) that can matter anywhere within radius of center.
 * A distance changes by no more than the way, so a blob matters if it can come within margin of the
 * least upper bound, and a cone of it if it can be the blob's closest. */
static bool list_cones(fox_shape *shape, const cone_list *source, vec3 center, double radius,
                       double margin, cone_list *list)
{
    /* A copy, because entries move when they grow. */
    uint16_t cones[CONES_MAX];
    uint32_t count = source ? source->count : (uint32_t)shape->body.cone_count;
    for (uint32_t i = 0; i < count; ++i) {
        cones[i] = source ? shape->entries[source->first + i] : (uint16_t)i;
    }
    blob_distances all;
    int nearest[BLOB_COUNT];
    gather(shape, cones, count, center, &all, nearest);
    double least = DBL_MAX;
    for (int i = 0; i < all.count; ++i) {
        least = all.distances[i] < least ? all.distances[i] : least;
    }
    list->first = shape->entry_count;
    uint32_t c = 0;
    for (int i = 0; i < all.count; ++i) {
        double own = shape->body.blends[all.blobs[i]];
        bool kept = all.distances[i] - radius <= least + radius + (margin > own ? margin : own);
        double closest = cone_distance(&shape->body.cones[nearest[i]], center, NULL);
        for (; c < count && shape->body.cone_blobs[cones[c]] == all.blobs[i]; ++c) {
            double distance = cone_distance(&shape->body.cones[cones[c]], center, NULL);
            if (kept && distance <= closest + 2.0 * radius && !append(shape, cones[c])) {
                return false;
            }
        }
    }
    list->count = shape->entry_count - list->first;
    return true;
}

static bool fill_lists(fox_shape *shape, const cone_lists *source, vec3 corner, double size,
                       cone_lists *lists)
{
    /* Half a diagonal, and a little for the rounding of a point to its cell. */
    double radius = size * (sqrt(3.0) / 2.0 + 1e-6);
    vec3 center = v3_add(corner, v3(size / 2.0, size / 2.0, size / 2.0));
    return list_cones(shape, source ? &source->near : NULL, center, radius, 0.0, &lists->near) &&
           list_cones(shape, source ? &source->wide : NULL, center, radius, SHAPE_REACH,
                      &lists->wide);
}

static bool cut_brick(fox_shape *shape, const grid_brick *brick, vec3 corner)
{
    const uint32_t n = (uint32_t)shape->brick_cells;
    const double size = BRICK_SIZE / n;
    for (uint32_t i = 0; i < n * n * n; ++i) {
        uint32_t x = i % n, y = i / n % n, z = i / (n * n);
        if (!fill_lists(shape, &brick->lists, v3_along(corner, v3(x, y, z), size), size,
                        &shape->cells[(uint32_t)brick->cells + i])) {
            return false;
        }
    }
    return true;
}

static vec3 brick_corner(const fox_shape *shape, int i)
{
    int x = i % shape->size[0], y = i / shape->size[0] % shape->size[1];
    int z = i / (shape->size[0] * shape->size[1]);
    return v3_along(shape->min, v3(x, y, z), BRICK_SIZE);
}

static bool fill_grid(fox_shape *shape)
{
    shape->min = v3(-.48, -.06, -.68);
    shape->max = v3(.48, 1.46, .38);
    vec3 extent = v3_sub(shape->max, shape->min);
    shape->size[0] = (int)ceil(extent.x / BRICK_SIZE);
    shape->size[1] = (int)ceil(extent.y / BRICK_SIZE);
    shape->size[2] = (int)ceil(extent.z / BRICK_SIZE);
    int count = shape->size[0] * shape->size[1] * shape->size[2];
    shape->bricks = pelt_allocate(shape->host, (size_t)count, sizeof(*shape->bricks));
    if (!shape->bricks) {
        return false;
    }
    const int cells = shape->brick_cells * shape->brick_cells * shape->brick_cells;
    int32_t cell_count = 0;
    for (int i = 0; i < count; ++i) {
        grid_brick *brick = &shape->bricks[i];
        vec3 corner = brick_corner(shape, i);
        vec3 center = v3_along(corner, v3(.5, .5, .5), BRICK_SIZE);
        brick->cells = -1;
        if (!fill_lists(shape, NULL, corner, BRICK_SIZE, &brick->lists)) {
            return false;
        }
        /* Farther than half its diagonal, and the surface passes by. */
        if (fabs(pelt_sample_shape_distance(shape, center)) < BRICK_SIZE) {
            brick->cells = cell_count;
            cell_count += cells;
        }
    }
    shape->cells = pelt_allocate(shape->host, (size_t)cell_count, sizeof(*shape->cells));
    if (!shape->cells) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        if (shape->bricks[i].cells >= 0 &&
            !cut_brick(shape, &shape->bricks[i], brick_corner(shape, i))) {
            return false;
        }
    }
    return true;
}

pelt_result pelt_sample_shape_create(const pelt_host *host, uint32_t vertices, fox_shape **out)
{
    *out = NULL;
    fox_shape *made = pelt_allocate(host, 1, sizeof(*made));
    if (made) {
        made->host = host;
        made->brick_cells = vertices < FINE_VERTICES ? BRICK_CELLS : BRICK_CELLS_FINE;
        pelt_sample_body_make(&made->body);
    }
    if (!made || !fill_grid(made)) {
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
    pelt_release(shape->host, shape->bricks);
    pelt_release(shape->host, shape->cells);
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
