#include "pack/codec.h"

#include <math.h>

/* displacement may be NULL: the target leaves this attribute alone. */
static void displace(double value[3], double weight, const float *displacements, uint32_t vertex)
{
    for (size_t i = 0; displacements && i < 3; i++) {
        value[i] += weight * displacements[3 * (size_t)vertex + i];
    }
}

static void load(double value[3], const float *values, size_t width, uint32_t vertex)
{
    for (size_t i = 0; i < 3; i++) {
        value[i] = values[width * vertex + i];
    }
}

/* True if a coordinate had to be clamped. */
static bool store_clamped(const double position[3], float out[3])
{
    bool any = false;
    for (int i = 0; i < 3; i++) {
        bool inside = fabs(position[i]) <= PELT_MAGNITUDE_MAX;
        out[i] = (float)(inside ? position[i] : copysign(PELT_MAGNITUDE_MAX, position[i]));
        any = any || !inside;
    }
    return any;
}

uint32_t pelt_pack_morphed(const pelt_packed_mesh *mesh, const pelt_primitive *primitive,
                           const double *weights, pelt_packed_vertex *vertices, uint32_t *tangents)
{
    bool has_tangents = tangents && mesh->tangents;
    uint32_t target_count = weights ? primitive->target_count : 0, clamped = 0;
    for (uint32_t to = 0; to < mesh->vertex_count; to++) {
        uint32_t from = mesh->source_vertices[to];
        double position[3], normal[3] = { 0.0, 0.0, 1.0 }, tangent[3];
        load(position, primitive->positions, 3, from);
        if (mesh->has_normals) {
            load(normal, primitive->normals, 3, from);
        }
        if (has_tangents) {
            load(tangent, primitive->tangents, 4, from);
        }
        for (uint32_t t = 0; t < target_count; t++) {
            if (weights[t] == 0.0) {
                continue;
            }
            const pelt_morph_target *target = &primitive->targets[t];
            displace(position, weights[t], target->positions, from);
            if (mesh->has_normals) {
                displace(normal, weights[t], target->normals, from);
            }
            if (has_tangents) {
                displace(tangent, weights[t], target->tangents, from);
            }
        }
        clamped += store_clamped(position, vertices[to].position);
        vertices[to].normal = pelt_encode_direction_double(normal, 1.0);
        if (has_tangents) {
            double w = primitive->tangents[4 * (size_t)from + 3];
            tangents[to] = pelt_encode_direction_double(tangent, w);
        }
    }
    return clamped;
}
