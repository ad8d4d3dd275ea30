/* Tangents from normals and texcoords, as glTF asks for where a file has none (3.7.2.1).
 *
 * After Mikkelsen, "Simulation of Wrinkled Surfaces Revisited" (2008): each triangle's direction of
 * rising u, projected into the plane of the vertex normal, weighted by the corner's angle there.
 * Vertices are averaged as the index buffer shares them; a vertex shared by triangles whose
 * texture is mirrored and by others that are not is split in two.
 *
 * Handedness: cross(normal, tangent) * w points up in the image, against rising v, as glTF's normal
 * maps have it. So w is +1 where u and v turn the other way than the corners do.
 */
#include "base/base.h"
#include "model/split.h"

#include <math.h>
#include <pelt/model.h>
#include <string.h>

typedef enum texture_side { MIRRORED, STRAIGHT, NO_SIDE } texture_side;

/* Sums for one side of one vertex. */
typedef struct direction_sum {
    double direction[3];
    bool used;
} direction_sum;

typedef struct tangent_work {
    pelt_model *model;
    pelt_primitive *primitive;
    uint32_t triangle_count;
    uint32_t *corners;
    direction_sum *sums; /* two a vertex, by side */
    uint32_t *twins;     /* the vertex of a vertex's second side, 0: it has but one */
    uint32_t *from;      /* old vertex of each new one */
    uint32_t vertex_count;
} tangent_work;

static double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross3(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static bool normalize3(double v[3])
{
    double length = sqrt(dot3(v, v));
    if (!(length > 0)) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        v[i] /= length;
    }
    return true;
}

static void load3(const float *in, double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = (double)in[i];
    }
}

/* Unit; where the file gives none, the fallback of skinning. */
static void load_normal(const tangent_work *work, uint32_t vertex, double out[3])
{
    load3(work->primitive->normals + 3 * (size_t)vertex, out);
    if (!normalize3(out)) {
        out[0] = out[1] = 0;
        out[2] = 1;
    }
}

/* Into the plane of a unit normal, unit. false: nothing is left. */
static bool project(double v[3], const double normal[3])
{
    if (!normalize3(v)) {
        return false;
    }
    double along = dot3(v, normal);
    for (int i = 0; i < 3; i++) {
        v[i] -= along * normal[i];
    }
    return dot3(v, v) > 1e-24 && normalize3(v);
}

/* The triangle's direction of rising u, not unit, and which way its texture turns. */
static texture_side triangle_direction(const tangent_work *work, const uint32_t *corners,
                                       double out[3])
{
    double p[3][3], uv[3][2];
    for (int i = 0; i < 3; i++) {
        load3(work->primitive->positions + 3 * (size_t)corners[i], p[i]);
        uv[i][0] = (double)work->primitive->texcoords[2 * (size_t)corners[i]];
        uv[i][1] = (double)work->primitive->texcoords[2 * (size_t)corners[i] + 1];
    }
    double u1 = uv[1][0] - uv[0][0], v1 = uv[1][1] - uv[0][1];
    double u2 = uv[2][0] - uv[0][0], v2 = uv[2][1] - uv[0][1];
    double area = u1 * v2 - u2 * v1;
    if (area == 0 || !isfinite(area)) {
        return NO_SIDE;
    }
    /* Of the division by area only the sign matters. */
    double sign = area < 0 ? -1 : 1;
    for (int i = 0; i < 3; i++) {
        out[i] = sign * ((p[1][i] - p[0][i]) * v2 - (p[2][i] - p[0][i]) * v1);
    }
    return area < 0 ? STRAIGHT : MIRRORED;
}

/* The angle of a corner, seen along the vertex normal. */
static double corner_angle(const tangent_work *work, const uint32_t *corners, int corner,
                           const double normal[3])
{
    double p[3], a[3], b[3], across[3];
    load3(work->primitive->positions + 3 * (size_t)corners[corner], p);
    load3(work->primitive->positions + 3 * (size_t)corners[(corner + 1) % 3], a);
    load3(work->primitive->positions + 3 * (size_t)corners[(corner + 2) % 3], b);
    for (int i = 0; i < 3; i++) {
        a[i] -= p[i];
        b[i] -= p[i];
    }
    if (!project(a, normal) || !project(b, normal)) {
        return 0;
    }
    cross3(a, b, across);
    return atan2(sqrt(dot3(across, across)), dot3(a, b));
}

static void add_triangles(tangent_work *work)
{
    for (uint32_t t = 0; t < work->triangle_count; t++) {
        const uint32_t *corners = work->corners + 3 * (size_t)t;
        double direction[3];
        texture_side side = triangle_direction(work, corners, direction);
        for (int c = 0; side != NO_SIDE && c < 3; c++) {
            double normal[3], projected[3];
            load_normal(work, corners[c], normal);
            memcpy(projected, direction, sizeof(projected));
            direction_sum *sum = &work->sums[2 * (size_t)corners[c] + side];
            sum->used = true;
            if (project(projected, normal)) {
                double angle = corner_angle(work, corners, c, normal);
                for (int i = 0; i < 3; i++) {
                    sum->direction[i] += angle * projected[i];
                }
            }
        }
    }
}

/* Vertices used from both sides keep STRAIGHT and get a twin for MIRRORED at the end. */
static bool number_vertices(tangent_work *work)
{
    uint32_t old_count = work->primitive->vertex_count;
    work->vertex_count = old_count;
    for (uint32_t v = 0; v < old_count; v++) {
        const direction_sum *sums = work->sums + 2 * (size_t)v;
        if (sums[STRAIGHT].used && sums[MIRRORED].used) {
            if (work->vertex_count == UINT32_MAX) {
                return false;
            }
            work->twins[v] = work->vertex_count++;
        }
    }
    return true;
}

/* The axis least along the normal, in its plane: as good as any direction. */
static void any_tangent(const double normal[3], double out[3])
{
    int axis = 0;
    for (int i = 1; i < 3; i++) {
        axis = fabs(normal[i]) < fabs(normal[axis]) ? i : axis;
    }
    out[0] = out[1] = out[2] = 0;
    out[axis] = 1;
    (void)project(out, normal);
}

static void write_tangents(const tangent_work *work, float *tangents)
{
    for (uint32_t v = 0; v < work->vertex_count; v++) {
        uint32_t old = work->from[v];
        const direction_sum *sums = work->sums + 2 * (size_t)old;
        bool mirrored = v != old || !sums[STRAIGHT].used;
        double normal[3], tangent[3];
        load_normal(work, old, normal);
        memcpy(tangent, sums[mirrored ? MIRRORED : STRAIGHT].direction, sizeof(tangent));
        if (!project(tangent, normal)) {
            any_tangent(normal, tangent);
        }
        for (int i = 0; i < 3; i++) {
            tangents[4 * (size_t)v + (size_t)i] = (float)tangent[i] + 0.0f;
        }
        tangents[4 * (size_t)v + 3] = mirrored && sums[MIRRORED].used ? -1 : 1;
    }
}

/* Points the corners of mirrored triangles at the twins; indices of a list are then the corners. */
static void use_twins(const tangent_work *work)
{
    for (uint32_t t = 0; t < work->triangle_count; t++) {
        uint32_t *corners = work->corners + 3 * (size_t)t;
        double direction[3];
        if (triangle_direction(work, corners, direction) != MIRRORED) {
            continue;
        }
        for (int c = 0; c < 3; c++) {
            if (work->twins[corners[c]]) {
                corners[c] = work->twins[corners[c]];
            }
        }
    }
}

static bool begin_work(tangent_work *work)
{
    const pelt_host *host = work->model->host;
    uint32_t count = work->primitive->vertex_count;
    work->sums = pelt_allocate(host, count, 2 * sizeof(*work->sums));
    work->twins = pelt_allocate(host, count, sizeof(*work->twins));
    work->corners = pelt_model_allocate(work->model, work->triangle_count, 3 * sizeof(uint32_t));
    if (!work->sums || !work->twins || !work->corners) {
        return false;
    }
    pelt_primitive_triangles(work->primitive, work->corners);
    return true;
}

static bool list_sources(tangent_work *work)
{
    uint32_t old_count = work->primitive->vertex_count;
    work->from = pelt_allocate(work->model->host, work->vertex_count, sizeof(*work->from));
    if (!work->from) {
        return false;
    }
    for (uint32_t v = 0; v < old_count; v++) {
        work->from[v] = v;
        if (work->twins[v]) {
            work->from[work->twins[v]] = v;
        }
    }
    return true;
}

/* Splits the vertices that have twins; the primitive becomes an indexed list. */
static bool split_twins(tangent_work *work)
{
    pelt_primitive *primitive = work->primitive;
    if (work->vertex_count == primitive->vertex_count) {
        return true;
    }
    use_twins(work);
    if (!pelt_split_vertices(work->model, primitive, work->vertex_count, work->from)) {
        return false;
    }
    pelt_model_release(work->model, primitive->indices);
    primitive->indices = work->corners;
    primitive->index_count = 3 * work->triangle_count;
    primitive->topology = PELT_TRIANGLES;
    work->corners = NULL;
    return true;
}

static pelt_result add_primitive_tangents(pelt_model *model, pelt_primitive *primitive)
{
    tangent_work work = { .model = model, .primitive = primitive };
    work.triangle_count = pelt_primitive_triangle_count(primitive);
    if (work.triangle_count > UINT32_MAX / 3) {
        return pelt_fail(model->host, PELT_ERROR_RANGE, NULL, NULL,
                         "%u triangles are too many to index", work.triangle_count);
    }
    pelt_result result = PELT_ERROR_MEMORY;
    float *tangents = NULL;
    if (!begin_work(&work)) {
        goto done;
    }
    add_triangles(&work);
    if (!number_vertices(&work)) {
        result = PELT_ERROR_RANGE;
        goto done;
    }
    tangents = pelt_model_allocate(model, work.vertex_count, 4 * sizeof(*tangents));
    if (!tangents || !list_sources(&work)) {
        goto done;
    }
    write_tangents(&work, tangents);
    if (!split_twins(&work)) {
        goto done;
    }
    primitive->tangents = tangents;
    tangents = NULL;
    /* Displacements of tangents that the file did not give mean nothing. */
    for (uint32_t t = 0; t < primitive->target_count; t++) {
        pelt_model_release(model, primitive->targets[t].tangents);
        primitive->targets[t].tangents = NULL;
    }
    result = PELT_OK;
done:
    pelt_release(model->host, work.sums);
    pelt_release(model->host, work.twins);
    pelt_release(model->host, work.from);
    pelt_model_release(model, work.corners);
    pelt_model_release(model, tangents);
    if (result != PELT_OK) {
        return pelt_fail(model->host, result, NULL, NULL, "cannot split %u vertices for tangents",
                         primitive->vertex_count);
    }
    return result;
}

static bool wants_tangents(const pelt_model *model, const pelt_primitive *primitive, bool all)
{
    bool can = primitive->normals && primitive->texcoords && !primitive->tangents &&
               pelt_primitive_triangle_count(primitive) > 0;
    return can && (all || (primitive->material >= 0 &&
                           model->materials[primitive->material].has_normal_map));
}

pelt_result pelt_model_add_tangents(pelt_model *model, bool all)
{
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        for (uint32_t p = 0; p < model->meshes[m].primitive_count; p++) {
            pelt_primitive *primitive = &model->meshes[m].primitives[p];
            if (wants_tangents(model, primitive, all)) {
                pelt_result result = add_primitive_tangents(model, primitive);
                if (result != PELT_OK) {
                    return result;
                }
            }
        }
    }
    return PELT_OK;
}
