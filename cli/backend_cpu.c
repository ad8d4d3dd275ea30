/* The float path on the packed streams, one part at a time. */
#include "cli/backend.h"

typedef struct backend_cpu {
    pelt_backend base;
    const pelt_host *host;
    const pelt_batch *batch;
    bool joint_boxes;
    pelt_packed_vertex *vertices; /* of the largest part */
    uint32_t *tangents;
} backend_cpu;

static pelt_result skin(pelt_backend *base, const pelt_batch *batch)
{
    backend_cpu *backend = (backend_cpu *)base;
    backend->batch = batch;
    base->skin_time = 0.0;
    return PELT_OK;
}

static pelt_result fetch(pelt_backend *base, uint32_t member, uint32_t part, pelt_animated *out)
{
    backend_cpu *backend = (backend_cpu *)base;
    const pelt_batch *batch = backend->batch;
    const pelt_character *character = batch->character;
    uint32_t index = character->part_meshes[part];
    const pelt_packed_mesh *mesh = character->meshes[index];
    const pelt_morphed *morphed = pelt_batch_morphed(batch, member, part);
    const float *matrices = pelt_batch_palette(batch, member, part);
    *out = (pelt_animated){ .vertex_count = mesh->vertex_count,
                            .vertices = backend->vertices,
                            .tangents = mesh->tangents ? backend->tangents : NULL,
                            .box = PELT_BOX_EMPTY };
    double start = pelt_seconds();
    pelt_skin_cpu(&(pelt_skin_job){ .mesh = mesh,
                                    .matrices = matrices,
                                    .rotations = pelt_batch_rotations(batch, member, part),
                                    .vertices = morphed->vertices,
                                    .tangents = morphed->tangents,
                                    .out_positions = backend->vertices->position,
                                    .position_stride = sizeof(pelt_packed_vertex),
                                    .out_normals = &backend->vertices->normal,
                                    .normal_stride = sizeof(pelt_packed_vertex),
                                    .out_tangents = mesh->tangents ? backend->tangents : NULL },
                  0, mesh->vertex_count, &out->box);
    base->skin_time += pelt_seconds() - start;
    if (backend->joint_boxes) {
        out->joint_box = pelt_joint_boxes_bound(
            morphed->joint_boxes ? morphed->joint_boxes : character->joint_boxes[index], matrices);
    }
    return PELT_OK;
}

static void destroy(pelt_backend *base)
{
    backend_cpu *backend = (backend_cpu *)base;
    pelt_release(backend->host, backend->tangents);
    pelt_release(backend->host, backend->vertices);
    pelt_release(backend->host, backend);
}

pelt_result pelt_backend_cpu(const pelt_host *host, const pelt_backend_info *info,
                             pelt_backend **out)
{
    *out = NULL;
    backend_cpu *backend = pelt_allocate(host, 1, sizeof(*backend));
    if (!backend) {
        return PELT_ERROR_MEMORY;
    }
    *backend = (backend_cpu){ .base = { .path = "cpu",
                                        .device = "CPU",
                                        .skin = skin,
                                        .fetch = fetch,
                                        .destroy = destroy },
                              .host = host,
                              .joint_boxes = info->joint_boxes };
    size_t vertices = 1, tangents = 1;
    for (uint32_t i = 0; i < info->character->mesh_count; i++) {
        const pelt_packed_mesh *mesh = info->character->meshes[i];
        size_t count = mesh->vertex_count;
        vertices = count > vertices ? count : vertices;
        tangents = mesh->tangents && count > tangents ? count : tangents;
    }
    backend->vertices = pelt_allocate(host, vertices, sizeof(*backend->vertices));
    backend->tangents = pelt_allocate(host, tangents, sizeof(*backend->tangents));
    if (!backend->vertices || !backend->tangents) {
        destroy(&backend->base);
        return PELT_ERROR_MEMORY;
    }
    *out = &backend->base;
    return PELT_OK;
}
