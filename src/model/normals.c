/* Flat normals for primitives that have none: glTF 2.0, 3.7.2.1. */
#include "base/base.h"
#include "model/split.h"

#include <math.h>
#include <pelt/model.h>

/* What a triangle without an area gets: the same that a normal which vanishes in skinning does. */
static const float DEGENERATE_NORMAL[3] = { 0, 0, 1 };

static void flat_normal(const float *corners, float out[3])
{
    double u[3], v[3], size = 0;
    for (int i = 0; i < 3; i++) {
        u[i] = (double)corners[3 + i] - (double)corners[i];
        v[i] = (double)corners[6 + i] - (double)corners[i];
        size = fmax(size, fmax(fabs(u[i]), fabs(v[i])));
    }
    double n[3] = { u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                    u[0] * v[1] - u[1] * v[0] };
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    /* Products of doubles are exact to 2^-53 of themselves; a shorter n is nothing but that. */
    bool degenerate = !(length > 1e-15 * size * size);
    for (int i = 0; i < 3; i++) {
        out[i] = degenerate ? DEGENERATE_NORMAL[i] : (float)(n[i] / length) + 0.0f;
    }
}

static void drop_directions(pelt_model *model, pelt_primitive *primitive)
{
    pelt_model_release(model, primitive->tangents);
    primitive->tangents = NULL;
    for (uint32_t t = 0; t < primitive->target_count; t++) {
        pelt_model_release(model, primitive->targets[t].normals);
        pelt_model_release(model, primitive->targets[t].tangents);
        primitive->targets[t].normals = NULL;
        primitive->targets[t].tangents = NULL;
    }
}

static pelt_result add_flat_normals(pelt_model *model, pelt_primitive *primitive)
{
    uint32_t triangle_count = pelt_primitive_triangle_count(primitive);
    if (triangle_count > UINT32_MAX / 3) {
        return pelt_fail(model->host, PELT_ERROR_RANGE, NULL, NULL,
                         "%u triangles are too many for vertices of their own", triangle_count);
    }
    uint32_t count = 3 * triangle_count;
    uint32_t *corners = pelt_allocate(model->host, count, sizeof(*corners));
    float *normals = pelt_model_allocate(model, count, 3 * sizeof(*normals));
    if (corners && normals) {
        pelt_primitive_triangles(primitive, corners);
    }
    if (!corners || !normals || !pelt_split_vertices(model, primitive, count, corners)) {
        pelt_release(model->host, corners);
        pelt_model_release(model, normals);
        return pelt_fail(model->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %u normals",
                         count);
    }
    pelt_release(model->host, corners);
    drop_directions(model, primitive);
    pelt_model_release(model, primitive->indices);
    primitive->indices = NULL;
    primitive->index_count = 0;
    primitive->topology = PELT_TRIANGLES;
    primitive->normals = normals;
    for (uint32_t i = 0; i < triangle_count; i++) {
        float *out = normals + 9 * (size_t)i;
        flat_normal(primitive->positions + 9 * (size_t)i, out);
        for (int k = 0; k < 3; k++) {
            out[3 + k] = out[6 + k] = out[k];
        }
    }
    return PELT_OK;
}

pelt_result pelt_model_add_normals(pelt_model *model)
{
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        for (uint32_t p = 0; p < model->meshes[m].primitive_count; p++) {
            pelt_primitive *primitive = &model->meshes[m].primitives[p];
            if (primitive->normals || pelt_primitive_triangle_count(primitive) == 0) {
                continue;
            }
            pelt_result result = add_flat_normals(model, primitive);
            if (result != PELT_OK) {
                return result;
            }
        }
    }
    return PELT_OK;
}
