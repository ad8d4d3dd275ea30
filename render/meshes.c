/* What instances of one source mesh share: indices, texcoords and colours in packed order. */
#include "render/internal.h"

#include <string.h>

static pelt_render_class topology_class(pelt_topology topology)
{
    switch (topology) {
    case PELT_POINTS:
        return PELT_CLASS_POINTS;
    case PELT_LINES:
    case PELT_LINE_LOOP:
    case PELT_LINE_STRIP:
        return PELT_CLASS_LINES;
    default:
        return PELT_CLASS_TRIANGLES;
    }
}

/* Indices of the list that a primitive draws: points, lines or triangles. */
static size_t list_count(const pelt_primitive *primitive)
{
    size_t corners = primitive->index_count ? primitive->index_count : primitive->vertex_count;
    switch (primitive->topology) {
    case PELT_POINTS:
        return corners;
    case PELT_LINES:
        return corners / 2 * 2;
    case PELT_LINE_LOOP:
        return corners >= 2 ? corners * 2 : 0;
    case PELT_LINE_STRIP:
        return corners >= 2 ? (corners - 1) * 2 : 0;
    default:
        return (size_t)3 * pelt_primitive_triangle_count(primitive);
    }
}

static uint32_t corner(const pelt_primitive *primitive, size_t i)
{
    return primitive->index_count ? primitive->indices[i] : (uint32_t)i;
}

static void write_list(const pelt_primitive *primitive, const uint32_t *packed_vertices,
                       size_t count, uint32_t *indices)
{
    pelt_topology topology = primitive->topology;
    bool strip = topology == PELT_LINE_LOOP || topology == PELT_LINE_STRIP;
    if (topology_class(topology) == PELT_CLASS_TRIANGLES) {
        pelt_primitive_triangles(primitive, indices);
    } else if (strip) {
        for (size_t i = 0; i < count; i++) {
            indices[i] = corner(primitive, (i + 1) / 2);
        }
        if (topology == PELT_LINE_LOOP && count > 0) {
            indices[count - 1] = indices[0];
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            indices[i] = corner(primitive, i);
        }
    }
    for (size_t i = 0; packed_vertices && i < count; i++) {
        indices[i] = packed_vertices[indices[i]];
    }
}

/* A stream of width floats a vertex, moved to packed order. */
static void write_stream(const float *from, uint32_t width, uint32_t vertex_count,
                         const uint32_t *packed_vertices, float *to)
{
    for (uint32_t i = 0; i < vertex_count; i++) {
        size_t place = packed_vertices ? packed_vertices[i] : i;
        memcpy(&to[place * width], &from[(size_t)i * width], width * sizeof(float));
    }
}

static size_t align(size_t size)
{
    return (size + 15) & ~(size_t)15;
}

static pelt_result upload(pelt_renderer *renderer, const pelt_primitive *primitive,
                          const uint32_t *packed_vertices, pelt_render_mesh *mesh)
{
    size_t count = list_count(primitive);
    size_t vertices = primitive->vertex_count;
    if (count > UINT32_MAX) {
        return pelt_fail(renderer->host, PELT_ERROR_RANGE, NULL, NULL,
                         "a primitive of %zu indices; at most 2^32 - 1 can be drawn", count);
    }
    mesh->index_count = (uint32_t)count;
    size_t texcoords_at = align(count * sizeof(uint32_t));
    size_t colors_at =
        align(texcoords_at + (primitive->texcoords ? vertices * 2 * sizeof(float) : 0));
    size_t size = colors_at + (primitive->colors ? vertices * 4 * sizeof(float) : 0);
    char *bytes = pelt_allocate(renderer->host, size, 1);
    if (!bytes) {
        return pelt_fail(renderer->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a mesh");
    }
    write_list(primitive, packed_vertices, count, (uint32_t *)bytes);
    if (primitive->texcoords) {
        write_stream(primitive->texcoords, 2, primitive->vertex_count, packed_vertices,
                     (float *)(bytes + texcoords_at));
    }
    if (primitive->colors) {
        write_stream(primitive->colors, 4, primitive->vertex_count, packed_vertices,
                     (float *)(bytes + colors_at));
    }
    pelt_result result = pelt_buffer_create(renderer->device, size,
                                            VK_BUFFER_USAGE_INDEX_BUFFER_BIT |
                                                pelt_render_vertex_usage(renderer->device),
                                            PELT_MEMORY_DEVICE, &mesh->buffer);
    if (result == PELT_OK && size > 0) {
        result = pelt_buffer_upload(renderer->device, &mesh->buffer, 0, bytes, size);
    }
    pelt_release(renderer->host, bytes);
    if (result != PELT_OK) {
        pelt_buffer_destroy(renderer->device, &mesh->buffer);
        return result;
    }
    mesh->texcoords = primitive->texcoords ? mesh->buffer.address + texcoords_at : 0;
    mesh->colors = primitive->colors ? mesh->buffer.address + colors_at : 0;
    return PELT_OK;
}

pelt_result pelt_renderer_add_mesh(pelt_renderer *renderer, const pelt_primitive *primitive,
                                   const uint32_t *packed_vertices, uint32_t *out)
{
    pelt_render_mesh *meshes =
        pelt_render_grow(renderer->host, renderer->meshes, renderer->mesh_count,
                         &renderer->mesh_capacity, sizeof(*meshes));
    if (!meshes) {
        return pelt_fail(renderer->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a mesh");
    }
    renderer->meshes = meshes;
    pelt_render_mesh *mesh = &meshes[renderer->mesh_count];
    *mesh = (pelt_render_mesh){
        .vertex_count = primitive->vertex_count,
        .topology = topology_class(primitive->topology),
        .flags = (primitive->texcoords ? PELT_HAS_TEXCOORDS : 0u) |
                 (primitive->colors ? PELT_HAS_COLORS : 0u) |
                 (primitive->normals ? PELT_HAS_NORMALS : 0u),
    };
    mesh->flags |= mesh->topology == PELT_CLASS_TRIANGLES ? 0u : PELT_IS_THIN;
    pelt_result result = upload(renderer, primitive, packed_vertices, mesh);
    if (result == PELT_OK) {
        *out = renderer->mesh_count++;
    }
    return result;
}
