/* The double-precision reference, one part at a time, from the primitives themselves. */
#include "base/box.h"
#include "cli/backend.h"

typedef struct backend_reference {
    pelt_backend base;
    const pelt_host *host;
    const pelt_batch *batch;
    double *positions, *normals, *tangents; /* of the largest part */
} backend_reference;

static pelt_result skin(pelt_backend *base, const pelt_batch *batch)
{
    backend_reference *backend = (backend_reference *)base;
    backend->batch = batch;
    base->skin_time = 0.0;
    return PELT_OK;
}

static pelt_box box_of(const double *positions, uint32_t count)
{
    pelt_box box = PELT_BOX_EMPTY;
    for (uint32_t v = 0; v < count; v++) {
        float point[3];
        for (int i = 0; i < 3; i++) {
            point[i] = (float)positions[3 * (size_t)v + i] + 0.0f;
        }
        box_add(&box, point);
    }
    return box;
}

static pelt_result fetch(pelt_backend *base, uint32_t member, uint32_t part, pelt_animated *out)
{
    backend_reference *backend = (backend_reference *)base;
    const pelt_batch *batch = backend->batch;
    const pelt_model *model = batch->character->model;
    const pelt_primitive *primitive = pelt_part_primitive(model, part);
    double start = pelt_seconds();
    pelt_reference_job job = { .primitive = primitive,
                               .matrices = pelt_batch_palette_double(batch, member, part),
                               .rotations = pelt_batch_rotations_double(batch, member, part),
                               .morph_weights = pelt_batch_morph_weights(batch, member, part),
                               .rigid = !model->parts[part].skinned,
                               .positions = backend->positions,
                               .normals = primitive->normals ? backend->normals : NULL,
                               .tangents = primitive->tangents ? backend->tangents : NULL };
    pelt_skin_reference(&job, 0, primitive->vertex_count, NULL);
    *out = (pelt_animated){ .vertex_count = primitive->vertex_count,
                            .positions = job.positions,
                            .normals = job.normals,
                            .tangents_double = job.tangents,
                            .box = box_of(job.positions, primitive->vertex_count) };
    base->skin_time += pelt_seconds() - start;
    return PELT_OK;
}

static void destroy(pelt_backend *base)
{
    backend_reference *backend = (backend_reference *)base;
    pelt_release(backend->host, backend->tangents);
    pelt_release(backend->host, backend->normals);
    pelt_release(backend->host, backend->positions);
    pelt_release(backend->host, backend);
}

pelt_result pelt_backend_reference(const pelt_host *host, const pelt_backend_info *info,
                                   pelt_backend **out)
{
    *out = NULL;
    backend_reference *backend = pelt_allocate(host, 1, sizeof(*backend));
    if (!backend) {
        return PELT_ERROR_MEMORY;
    }
    *backend = (backend_reference){ .base = { .path = "reference",
                                              .device = "reference (CPU, double precision)",
                                              .skin = skin,
                                              .fetch = fetch,
                                              .destroy = destroy },
                                    .host = host };
    const pelt_model *model = info->character->model;
    size_t positions = 0, normals = 0, tangents = 0;
    for (uint32_t i = 0; i < model->part_count; i++) {
        const pelt_primitive *primitive = pelt_part_primitive(model, i);
        size_t count = primitive->vertex_count;
        positions = count > positions ? count : positions;
        normals = primitive->normals && count > normals ? count : normals;
        tangents = primitive->tangents && count > tangents ? count : tangents;
    }
    backend->positions = pelt_allocate(host, positions, 3 * sizeof(double));
    backend->normals = pelt_allocate(host, normals, 3 * sizeof(double));
    backend->tangents = pelt_allocate(host, tangents, 4 * sizeof(double));
    if (!backend->positions || !backend->normals || !backend->tangents) {
        destroy(&backend->base);
        return PELT_ERROR_MEMORY;
    }
    *out = &backend->base;
    return PELT_OK;
}
