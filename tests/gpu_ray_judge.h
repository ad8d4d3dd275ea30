/* Rays straight down on a grid, against all triangles of the double reference.
 *
 * Which side of an edge a ray passes, and whether it misses, is rounding where it passes the edge
 * closer than EDGE_MARGIN; and a triangle seen from its side, less than asin(STEEP_MARGIN) off its
 * plane, turns sideways rounding into distance. Such rays are not judged; they are few, and
 * counted.
 */
#ifndef PELT_TESTS_GPU_RAY_JUDGE_H
#define PELT_TESTS_GPU_RAY_JUDGE_H

#include "tests/gpu_ray_stage.h"

#include <math.h>

#define EDGE_MARGIN     1e-5 /* of the size */
#define STEEP_MARGIN    0.05
#define DISTANCE_MARGIN 1e-5 /* of the size: what a distance may be off */

enum { GRID = 64, GRID_RAYS = GRID * GRID };

typedef struct ray_triangle {
    double corners[3][3];
    uint32_t instance, geometry, triangle;
} ray_triangle;

typedef struct ray_truth {
    ray_triangle *triangles;
    uint32_t count;
    double box[6];
    double size; /* the diagonal */
} ray_truth;

/* Skins all that is drawn by the reference, where its group's transform puts it. */
static inline void ray_truth_make(const ray_stage *stage, ray_truth *out)
{
    size_t count = 0, vertices = 1;
    for (uint32_t i = 0; i < stage->item_count; i++) {
        const ray_mesh *mesh = &stage->meshes[stage->items[i].mesh];
        count += mesh->triangle_count;
        vertices =
            mesh->primitive->vertex_count > vertices ? mesh->primitive->vertex_count : vertices;
    }
    *out = (ray_truth){ .triangles = malloc((count + 1) * sizeof(*out->triangles)),
                        .box = { INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY } };
    double *positions = malloc(vertices * 3 * sizeof(*positions));
    assert_true(out->triangles && positions);
    for (uint32_t g = 0; g < stage->group_count; g++) {
        const ray_group *group = &stage->groups[g];
        for (uint32_t i = group->first_item; i < group->first_item + group->item_count; i++) {
            const ray_item *item = &stage->items[i];
            const ray_mesh *mesh = &stage->meshes[item->mesh];
            if (!item->drawn) {
                continue;
            }
            pelt_skin_reference(&(pelt_reference_job){ .primitive = mesh->primitive,
                                                       .matrices = item->matrices,
                                                       .rigid = mesh->rigid,
                                                       .influences_of = mesh->packed,
                                                       .positions = positions },
                                0, mesh->primitive->vertex_count, NULL);
            for (uint32_t t = 0; t < mesh->triangle_count; t++) {
                ray_triangle *triangle = &out->triangles[out->count++];
                *triangle = (ray_triangle){ .instance = g,
                                            .geometry = i - group->first_item,
                                            .triangle = t };
                for (int k = 0; k < 3; k++) {
                    const double *from = positions + 3 * (size_t)mesh->triangles[3 * t + k];
                    for (int c = 0; c < 3; c++) {
                        double value = from[c];
                        if (group->transform) {
                            const float *row = group->transform + 4 * c;
                            value = (double)row[0] * from[0] + (double)row[1] * from[1] +
                                    (double)row[2] * from[2] + (double)row[3];
                        }
                        triangle->corners[k][c] = value;
                        out->box[c] = fmin(out->box[c], value);
                        out->box[3 + c] = fmax(out->box[3 + c], value);
                    }
                }
            }
        }
    }
    free(positions);
    for (int c = 0; out->count > 0 && c < 3; c++) {
        out->size = hypot(out->size, out->box[3 + c] - out->box[c]);
    }
}

static inline void ray_truth_free(ray_truth *self)
{
    free(self->triangles);
}

/* Rays down onto a box, evenly, its border included: column x + GRID * row z. */
static inline void ray_grid(const double box[6], double size, ray_record rays[GRID_RAYS])
{
    for (uint32_t i = 0; i < GRID_RAYS; i++) {
        const uint32_t column = i % GRID, row = i / GRID;
        double x = (column + 0.5) / GRID * 1.02 - 0.01, z = (row + 0.5) / GRID * 1.02 - 0.01;
        rays[i] = (ray_record){
            .origin = { (float)(box[0] + x * (box[3] - box[0])), (float)(box[4] + 0.1 * size),
                        (float)(box[2] + z * (box[5] - box[2])) },
            .direction = { 0, -1, 0 },
            .most = (float)(10 * size),
        };
    }
}

/* What is known of one ray. */
typedef struct ray_expected {
    double distance; /* INFINITY: it misses */
    bool vague;
} ray_expected;

/* Twice the signed area of a b p in the plane of x and z. */
static inline double ray_side(const double *a, const double *b, double x, double z)
{
    return (b[0] - a[0]) * (z - a[2]) - (b[2] - a[2]) * (x - a[0]);
}

/* How far the point is from the edge, in that plane. */
static inline double ray_edge_distance(const double *a, const double *b, double x, double z)
{
    double dx = b[0] - a[0], dz = b[2] - a[2], square = dx * dx + dz * dz;
    double along = square > 0 ? ((x - a[0]) * dx + (z - a[2]) * dz) / square : 0;
    along = fmin(fmax(along, 0), 1);
    return hypot(a[0] + along * dx - x, a[2] + along * dz - z);
}

/* Where the ray meets the triangle: INFINITY if it does not, or only along it. steepness: |y| of
 * the unit normal. */
static inline double ray_meet(const ray_triangle *triangle, const ray_record *ray,
                              double *steepness)
{
    const double(*p)[3] = triangle->corners;
    const double x = (double)ray->origin[0], z = (double)ray->origin[2];
    double s[3];
    for (int k = 0; k < 3; k++) {
        s[k] = ray_side(p[(k + 1) % 3], p[(k + 2) % 3], x, z);
    }
    double area = s[0] + s[1] + s[2];
    bool inside = (s[0] >= 0 && s[1] >= 0 && s[2] >= 0) || (s[0] <= 0 && s[1] <= 0 && s[2] <= 0);
    if (area == 0 || !inside) {
        return INFINITY;
    }
    double u[3], v[3];
    for (int c = 0; c < 3; c++) {
        u[c] = p[1][c] - p[0][c];
        v[c] = p[2][c] - p[0][c];
    }
    double normal[3] = { u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                         u[0] * v[1] - u[1] * v[0] };
    *steepness = fabs(normal[1]) / hypot(hypot(normal[0], normal[1]), normal[2]);
    double height = (s[0] * p[0][1] + s[1] * p[1][1] + s[2] * p[2][1]) / area;
    return (double)ray->origin[1] - height;
}

/* The columns, or rows, of the grid from low to high, and one on each side. */
static inline void ray_grid_range(double low, double high, double first, double step, int out[2])
{
    double from = floor((low - first) / step) - 1, to = ceil((high - first) / step) + 1;
    out[0] = (int)fmax(0, fmin(from, GRID));
    out[1] = (int)fmax(-1, fmin(to, GRID - 1));
}

/* Calls for each ray that can come near the triangle: finds the nearest hits (vague false), then
 * whether it passes an edge that counts (true). */
static inline void ray_expect_triangle(const ray_truth *truth, const ray_triangle *triangle,
                                       const ray_record *rays, bool edges, ray_expected *expected)
{
    const double(*p)[3] = triangle->corners;
    const double margin = EDGE_MARGIN * truth->size;
    int columns[2], rows[2];
    double step_x = (double)(rays[1].origin[0] - rays[0].origin[0]);
    double step_z = (double)(rays[GRID].origin[2] - rays[0].origin[2]);
    if (step_x <= 0 || step_z <= 0) {
        columns[0] = rows[0] = 0; /* the box is flat: all of them */
        columns[1] = rows[1] = GRID - 1;
    } else {
        ray_grid_range(fmin(fmin(p[0][0], p[1][0]), p[2][0]), fmax(fmax(p[0][0], p[1][0]), p[2][0]),
                       (double)rays[0].origin[0], step_x, columns);
        ray_grid_range(fmin(fmin(p[0][2], p[1][2]), p[2][2]), fmax(fmax(p[0][2], p[1][2]), p[2][2]),
                       (double)rays[0].origin[2], step_z, rows);
    }
    double top = fmax(fmax(p[0][1], p[1][1]), p[2][1]);
    for (int row = rows[0]; row <= rows[1]; row++) {
        for (int column = columns[0]; column <= columns[1]; column++) {
            const ray_record *ray = &rays[row * GRID + column];
            ray_expected *out = &expected[row * GRID + column];
            double steepness = 1;
            if (!edges) {
                double distance = ray_meet(triangle, ray, &steepness);
                if (distance < out->distance) {
                    *out = (ray_expected){ distance, steepness < STEEP_MARGIN };
                }
                continue;
            }
            /* Below what is hit anyway, edges do not matter. */
            bool hidden =
                (double)ray->origin[1] - top > out->distance + DISTANCE_MARGIN * truth->size;
            for (int k = 0; k < 3 && !hidden && !out->vague; k++) {
                out->vague = ray_edge_distance(p[k], p[(k + 1) % 3], (double)ray->origin[0],
                                               (double)ray->origin[2]) < margin;
            }
        }
    }
}

/* How a grid of hits came out. */
typedef struct ray_verdict {
    uint32_t hits, misses, vague;
    double worst; /* distance error, parts of the size */
} ray_verdict;

static inline const ray_triangle *ray_find(const ray_truth *truth, const ray_hit *hit)
{
    /* Triangles are in the order of instances and geometries. */
    for (uint32_t i = 0; i < truth->count; i++) {
        const ray_triangle *at = &truth->triangles[i];
        if (at->instance == hit->instance && at->geometry == hit->geometry) {
            at += hit->triangle;
            bool there = i + hit->triangle < truth->count && at->instance == hit->instance &&
                         at->geometry == hit->geometry && at->triangle == hit->triangle;
            return there ? at : NULL;
        }
    }
    return NULL;
}

/* Every ray that can be judged hits where it should, and the triangle that it names is there. */
static inline ray_verdict ray_judge(const ray_truth *truth, const ray_record *rays,
                                    const ray_hit *hits)
{
    ray_verdict verdict = { 0 };
    ray_expected *expected = malloc(GRID_RAYS * sizeof(*expected));
    assert_non_null(expected);
    for (uint32_t i = 0; i < GRID_RAYS; i++) {
        expected[i] = (ray_expected){ INFINITY, false };
    }
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t t = 0; t < truth->count; t++) {
            ray_expect_triangle(truth, &truth->triangles[t], rays, pass == 1, expected);
        }
    }
    for (uint32_t i = 0; i < GRID_RAYS; i++) {
        assert_true(isfinite(hits[i].distance));
        if (expected[i].vague) {
            verdict.vague++;
            continue;
        }
        if (expected[i].distance == INFINITY) {
            if (hits[i].distance != -1) {
                fail_msg("ray %u hits at %g, but misses", i, (double)hits[i].distance);
            }
            verdict.misses++;
            continue;
        }
        double error = fabs((double)hits[i].distance - expected[i].distance) / truth->size;
        if (!(error <= DISTANCE_MARGIN)) {
            fail_msg("ray %u hits at %.9g, not %.9g", i, (double)hits[i].distance,
                     expected[i].distance);
        }
        verdict.worst = fmax(verdict.worst, error);
        const ray_triangle *triangle = ray_find(truth, &hits[i]);
        double steepness = 1;
        if (!triangle || !(fabs(ray_meet(triangle, &rays[i], &steepness) - expected[i].distance) <=
                           DISTANCE_MARGIN * truth->size)) {
            fail_msg("ray %u: triangle %u of geometry %u of instance %u is not there", i,
                     hits[i].triangle, hits[i].geometry, hits[i].instance);
        }
        verdict.hits++;
    }
    free(expected);
    return verdict;
}

/* The grid over what is drawn now is set as the stage's rays; the frame is run by each means that
 * the device has, and judged. */
static inline ray_verdict ray_stage_judge(ray_stage *stage, const double *box)
{
    ray_truth truth;
    ray_record *rays = malloc(GRID_RAYS * sizeof(*rays));
    assert_non_null(rays);
    ray_truth_make(stage, &truth);
    ray_grid(box ? box : truth.box, truth.size, rays);
    ray_stage_set_rays(stage, rays, GRID_RAYS);
    ray_verdict verdict = ray_judge(&truth, rays, ray_stage_run(stage, RAY_PIPELINE));
    if (stage->tracer->query) {
        ray_verdict other = ray_judge(&truth, rays, ray_stage_trace(stage, RAY_QUERY));
        assert_int_equal(other.hits, verdict.hits);
    }
    ray_truth_free(&truth);
    free(rays);
    return verdict;
}

#endif
