/* The methods on a character's own surface. */
#include "study/character.h"
#include "study/squash_pose.h"

#include <stdlib.h>
#include <string.h>

#define HALF_PI 1.57079632679489661923

enum { BINS = 900 }; /* of a tenth of a degree */

/* Of all parts and poses so far, by area. */
typedef struct tally {
    double area;
    double sums[PELT_SQUASH_METHOD_COUNT], flipped[PELT_SQUASH_METHOD_COUNT];
    double bins[PELT_SQUASH_METHOD_COUNT][BINS];
} tally;

/* A skinned part. Vertices in one place, which were split for other attributes, share the first of
 * them as their spot. */
typedef struct surface {
    const pelt_host *host;
    const pelt_primitive *primitive;
    uint32_t first_matrix;
    uint32_t triangle_count;
    uint32_t *corners;  /* 3 a triangle */
    double *gradients;  /* of each corner's barycentric coordinate x area: 9 a triangle */
    uint32_t *spots;    /* a vertex */
    double *spot_areas; /* of the triangles that meet in a spot */
    double *shares;     /* of a vertex: a third of its own triangles */
    double *normals;    /* 3 a spot, by area; for primitives that have none */
    double *blends;     /* 12 a vertex: its matrices blended */
    double *spreads;    /* 9 a spot: sum of (moved place) (gradient)^T over its triangles */
    const double **matrices;
    double *weights; /* scratch for one vertex */
} surface;

static void load3(const float *from, double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = (double)from[i];
    }
}

/* -- at rest ------------------------------------------------------------------------------- */

typedef struct placed_vertex {
    float position[3];
    uint32_t vertex;
} placed_vertex;

static int compare_places(const void *a, const void *b)
{
    const placed_vertex *x = a, *y = b;
    for (int i = 0; i < 3; i++) {
        if (x->position[i] != y->position[i]) {
            return x->position[i] < y->position[i] ? -1 : 1;
        }
    }
    return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

static bool find_spots(surface *self)
{
    uint32_t count = self->primitive->vertex_count;
    placed_vertex *sorted = pelt_allocate(self->host, count, sizeof(*sorted));
    if (!sorted) {
        return false;
    }
    for (uint32_t v = 0; v < count; v++) {
        memcpy(sorted[v].position, self->primitive->positions + 3 * (size_t)v,
               sizeof(sorted[v].position));
        sorted[v].vertex = v;
    }
    qsort(sorted, count, sizeof(*sorted), compare_places);
    for (uint32_t i = 0; i < count; i++) {
        bool same = i > 0;
        for (int k = 0; k < 3; k++) {
            same = same && sorted[i].position[k] == sorted[i - 1].position[k];
        }
        self->spots[sorted[i].vertex] = same ? self->spots[sorted[i - 1].vertex] : sorted[i].vertex;
    }
    pelt_release(self->host, sorted);
    return true;
}

/* grad of a corner's coordinate is (normal x opposite edge) / (2 area). */
static void measure_triangle(surface *self, uint32_t triangle)
{
    const uint32_t *corners = self->corners + 3 * (size_t)triangle;
    double p[3][3], edges[3][3], normal[3];
    for (int c = 0; c < 3; c++) {
        load3(self->primitive->positions + 3 * (size_t)corners[c], p[c]);
    }
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < 3; i++) {
            edges[c][i] = p[(c + 2) % 3][i] - p[(c + 1) % 3][i];
        }
    }
    cross3(edges[0], edges[1], normal);
    double doubled = sqrt(dot3(normal, normal)), area = 0.5 * doubled;
    if (!(area > 0.0)) {
        return; /* counts for nothing */
    }
    for (int i = 0; i < 3; i++) {
        normal[i] /= doubled;
    }
    for (int c = 0; c < 3; c++) {
        double *gradient = self->gradients + 9 * (size_t)triangle + 3 * c;
        cross3(normal, edges[c], gradient);
        for (int i = 0; i < 3; i++) {
            gradient[i] *= 0.5;
        }
        uint32_t spot = self->spots[corners[c]];
        for (int i = 0; i < 3; i++) {
            self->normals[3 * (size_t)spot + i] += area * normal[i];
        }
        self->spot_areas[spot] += area;
        self->shares[corners[c]] += area / 3.0;
    }
}

static void destroy_surface(surface *self)
{
    void *const blocks[] = { self->normals, self->corners, self->gradients,
                             self->spots,   self->shares,  self->spot_areas,
                             self->blends,  self->spreads, (void *)self->matrices,
                             self->weights };
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        pelt_release(self->host, blocks[i]);
    }
}

static bool create_surface(surface *self)
{
    const pelt_primitive *primitive = self->primitive;
    const pelt_host *host = self->host;
    uint32_t count = primitive->vertex_count;
    self->triangle_count = pelt_primitive_triangle_count(primitive);
    self->corners = pelt_allocate(host, self->triangle_count, 3 * sizeof(uint32_t));
    self->gradients = pelt_allocate(host, self->triangle_count, 9 * sizeof(double));
    self->spots = pelt_allocate(host, count, sizeof(uint32_t));
    self->spot_areas = pelt_allocate(host, count, sizeof(double));
    self->shares = pelt_allocate(host, count, sizeof(double));
    self->normals = pelt_allocate(host, count, 3 * sizeof(double));
    self->blends = pelt_allocate(host, count, 12 * sizeof(double));
    self->spreads = pelt_allocate(host, count, 9 * sizeof(double));
    self->matrices = pelt_allocate(host, primitive->influence_count, sizeof(double *));
    self->weights = pelt_allocate(host, primitive->influence_count, sizeof(double));
    if (!self->corners || !self->gradients || !self->spots || !self->spot_areas || !self->shares ||
        !self->normals || !self->blends || !self->spreads || !self->matrices || !self->weights ||
        !find_spots(self)) {
        return false;
    }
    pelt_primitive_triangles(primitive, self->corners);
    for (uint32_t t = 0; t < self->triangle_count; t++) {
        measure_triangle(self, t);
    }
    return true;
}

/* -- in a pose ----------------------------------------------------------------------------- */

static squash_blend blend_of(surface *self, const double *matrices, uint32_t vertex)
{
    const pelt_primitive *primitive = self->primitive;
    uint32_t count = 0;
    for (uint32_t i = 0; i < primitive->influence_count; i++) {
        size_t slot = (size_t)vertex * primitive->influence_count + i;
        if (primitive->weights[slot] > 0.0f) {
            size_t joint = (size_t)self->first_matrix + primitive->joints[slot];
            self->matrices[count] = matrices + 12 * joint;
            self->weights[count++] = (double)primitive->weights[slot];
        }
    }
    return (squash_blend){ count, self->matrices, self->weights };
}

static void transform(const double m[12], const double p[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = dot3(m + 4 * i, p) + m[4 * i + 3];
    }
}

static void blend_vertices(surface *self, const double *matrices)
{
    for (uint32_t v = 0; v < self->primitive->vertex_count; v++) {
        squash_blend blend = blend_of(self, matrices, v);
        double *out = self->blends + 12 * (size_t)v;
        memset(out, 0, 12 * sizeof(*out));
        for (uint32_t joint = 0; joint < blend.count; joint++) {
            for (int i = 0; i < 12; i++) {
                out[i] += blend.weights[joint] * blend.matrices[joint][i];
            }
        }
    }
}

/* How the place of each spot would move with the weights of its neighbours, against their
 * distance: sum M_i p (grad w_i)^T without a gradient for every joint. */
static void gather_spreads(surface *self)
{
    memset(self->spreads, 0, (size_t)self->primitive->vertex_count * 9 * sizeof(double));
    for (uint32_t t = 0; t < self->triangle_count; t++) {
        const uint32_t *corners = self->corners + 3 * (size_t)t;
        for (int at = 0; at < 3; at++) {
            double p[3], here[3], moved[3];
            double *spread = self->spreads + 9 * (size_t)self->spots[corners[at]];
            load3(self->primitive->positions + 3 * (size_t)corners[at], p);
            transform(self->blends + 12 * (size_t)corners[at], p, here);
            for (int c = 0; c < 3; c++) {
                const double *gradient = self->gradients + 9 * (size_t)t + 3 * c;
                transform(self->blends + 12 * (size_t)corners[c], p, moved);
                for (int i = 0; i < 9; i++) {
                    spread[i] += (moved[i / 3] - here[i / 3]) * gradient[i % 3];
                }
            }
        }
    }
}

static void add_angle(tally *to, int method, const double normal[3], const double truth[3],
                      double area)
{
    double angle = angle3(normal, truth);
    bool flipped = angle > HALF_PI;
    double between = flipped ? 2.0 * HALF_PI - angle : angle;
    int bin = (int)(between / HALF_PI * BINS);
    to->sums[method] += area * between;
    to->flipped[method] += flipped ? area : 0.0;
    to->bins[method][bin < BINS ? bin : BINS - 1] += area;
}

/* Of a vertex at rest; false if it has none. */
static bool load_normal(const surface *self, uint32_t vertex, double out[3])
{
    if (self->primitive->normals) {
        load3(self->primitive->normals + 3 * (size_t)vertex, out);
    } else {
        memcpy(out, self->normals + 3 * (size_t)self->spots[vertex], 3 * sizeof(*out));
        double largest = fmax(fabs(out[0]), fmax(fabs(out[1]), fabs(out[2])));
        for (int i = 0; i < 3 && largest > 0.0; i++) {
            out[i] /= largest; /* areas may be tiny */
        }
    }
    return normalize3(out);
}

static void measure_pose(surface *self, const double *matrices, tally *to)
{
    blend_vertices(self, matrices);
    gather_spreads(self);
    for (uint32_t v = 0; v < self->primitive->vertex_count; v++) {
        const double *blend = self->blends + 12 * (size_t)v;
        const double *spread = self->spreads + 9 * (size_t)self->spots[v];
        double jacobian[9], n[3], truth[3], area = self->spot_areas[self->spots[v]];
        if (!(self->shares[v] > 0.0) || !load_normal(self, v, n)) {
            continue;
        }
        for (int i = 0; i < 9; i++) {
            jacobian[i] = blend[4 * (i / 3) + i % 3] + spread[i] / area;
        }
        if (!squash_cofactor_normal(jacobian, n, truth)) {
            continue;
        }
        squash_blend joints = blend_of(self, matrices, v);
        to->area += self->shares[v];
        for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
            double normal[3];
            squash_turn(&joints, (pelt_squash_method)m, n, normal);
            add_angle(to, m, normal, truth, self->shares[v]);
        }
    }
}

/* -- all parts and poses ------------------------------------------------------------------- */

static pelt_result measure_part(pelt_study_character *character, const pelt_part *part,
                                double *matrices, tally *to)
{
    const pelt_model *model = character->model;
    surface self = { .host = character->host,
                     .primitive = study_primitive(model, part),
                     .first_matrix = model->palettes[part->palette].first_matrix };
    pelt_result result =
        create_surface(&self)
            ? PELT_OK
            : pelt_fail(character->host, PELT_ERROR_MEMORY, NULL, NULL,
                        "no memory for a surface of %u vertices", self.primitive->vertex_count);
    for (uint32_t i = 0; result == PELT_OK && i < character->pose_count; i++) {
        result = pelt_study_character_pose(character, i);
        if (result == PELT_OK) {
            result = pelt_pose_skin_matrices_double(character->pose, NULL, matrices);
        }
        if (result == PELT_OK) {
            measure_pose(&self, matrices, to);
        }
    }
    destroy_surface(&self);
    return result;
}

static void summarise(const tally *from, pelt_squash_character *out)
{
    for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
        double reached = 0.0;
        int bin = 0;
        for (; bin < BINS && reached < 0.99 * from->area; bin++) {
            reached += from->bins[m][bin];
        }
        out->errors[m].mean = from->sums[m] / from->area;
        out->errors[m].most = HALF_PI * bin / BINS;
        out->errors[m].flipped = from->flipped[m] / from->area;
    }
}

pelt_result pelt_squash_character_run(const pelt_host *host, const char *path,
                                      uint32_t poses_a_clip, pelt_squash_character *out)
{
    pelt_study_character character;
    pelt_result result = pelt_study_character_open(host, path, poses_a_clip, &character);
    if (result != PELT_OK) {
        return result;
    }
    const pelt_model *model = character.model;
    *out = (pelt_squash_character){ .name = character.name, .poses = character.pose_count };
    double *matrices = pelt_allocate(host, model->matrix_count, 12 * sizeof(*matrices));
    tally *all = pelt_allocate(host, 1, sizeof(*all));
    if (!matrices || !all) {
        result = pelt_fail(host, PELT_ERROR_MEMORY, path, NULL, "no memory for its poses");
        goto done;
    }
    for (uint32_t i = 0; result == PELT_OK && i < model->part_count; i++) {
        if (model->parts[i].skinned) {
            out->vertices += study_primitive(model, &model->parts[i])->vertex_count;
            result = measure_part(&character, &model->parts[i], matrices, all);
        }
    }
    if (result != PELT_OK) {
        goto done;
    }
    if (all->area > 0.0) {
        summarise(all, out);
    } else {
        result = pelt_fail(host, PELT_ERROR_FILE, path, NULL, "it has no skinned triangles");
    }
done:
    pelt_release(host, all);
    pelt_release(host, matrices);
    pelt_study_character_close(&character);
    return result;
}
