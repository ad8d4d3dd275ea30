#include "model/split.h"

#include <string.h>

/* Copies elements of size bytes; NULL stays NULL. *failed is set without memory. */
static void *gather(pelt_model *model, const void *from_values, size_t size, uint32_t count,
                    const uint32_t *from, bool *failed)
{
    if (!from_values) {
        return NULL;
    }
    unsigned char *out = pelt_model_allocate(model, count, size);
    if (!out) {
        *failed = true;
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        memcpy(out + (size_t)i * size, (const unsigned char *)from_values + (size_t)from[i] * size,
               size);
    }
    return out;
}

/* What belongs to vertices, and nothing else. */
static void release_vertices(pelt_model *model, pelt_primitive *primitive)
{
    pelt_model_release(model, primitive->positions);
    pelt_model_release(model, primitive->normals);
    pelt_model_release(model, primitive->tangents);
    pelt_model_release(model, primitive->texcoords);
    pelt_model_release(model, primitive->colors);
    pelt_model_release(model, primitive->joints);
    pelt_model_release(model, primitive->weights);
    pelt_model_release(model, primitive->source_vertices);
    for (uint32_t t = 0; primitive->targets && t < primitive->target_count; t++) {
        pelt_model_release(model, primitive->targets[t].positions);
        pelt_model_release(model, primitive->targets[t].normals);
        pelt_model_release(model, primitive->targets[t].tangents);
    }
    pelt_model_release(model, primitive->targets);
}

bool pelt_split_vertices(pelt_model *model, pelt_primitive *primitive, uint32_t count,
                         const uint32_t *from)
{
    bool failed = false;
    const pelt_primitive *old = primitive;
    pelt_primitive next = *old;
    size_t influences = old->influence_count;
    next.vertex_count = count;
    next.positions = gather(model, old->positions, 3 * sizeof(float), count, from, &failed);
    next.normals = gather(model, old->normals, 3 * sizeof(float), count, from, &failed);
    next.tangents = gather(model, old->tangents, 4 * sizeof(float), count, from, &failed);
    next.texcoords = gather(model, old->texcoords, 2 * sizeof(float), count, from, &failed);
    next.colors = gather(model, old->colors, 4 * sizeof(float), count, from, &failed);
    next.joints = gather(model, old->joints, influences * sizeof(uint16_t), count, from, &failed);
    next.weights = gather(model, old->weights, influences * sizeof(float), count, from, &failed);
    next.source_vertices =
        gather(model, old->source_vertices, sizeof(uint32_t), count, from, &failed);
    if (!old->source_vertices) {
        next.source_vertices = pelt_model_allocate(model, count, sizeof(uint32_t));
        failed = failed || !next.source_vertices;
        if (next.source_vertices) {
            memcpy(next.source_vertices, from, (size_t)count * sizeof(uint32_t));
        }
    }
    next.targets = NULL;
    if (old->target_count) {
        next.targets = pelt_model_allocate(model, old->target_count, sizeof(*next.targets));
        failed = failed || !next.targets;
    }
    for (uint32_t t = 0; next.targets && t < old->target_count; t++) {
        const pelt_morph_target *target = &old->targets[t];
        pelt_morph_target *out = &next.targets[t];
        size_t size = 3 * sizeof(float);
        out->positions = gather(model, target->positions, size, count, from, &failed);
        out->normals = gather(model, target->normals, size, count, from, &failed);
        out->tangents = gather(model, target->tangents, size, count, from, &failed);
    }
    if (failed) {
        release_vertices(model, &next);
        return false;
    }
    release_vertices(model, primitive);
    *primitive = next;
    return true;
}
