/* What the GPU backend uploads and records for one batch. */
#ifdef PELT_HAVE_VULKAN

#include "cli/backend_vulkan_state.h"
#include "render/render.h"

#include <string.h>

/* Makes the buffer at least so large; what it held is lost. What is skinned may be traced. */
static pelt_result reserve(pelt_backend_vulkan_state *backend, pelt_buffer *buffer, size_t size,
                           pelt_memory_kind kind)
{
    VkBufferUsageFlags usage =
        buffer == &backend->vertices ? pelt_render_vertex_usage(backend->device) : 0;
    if (buffer->buffer && buffer->size >= size) {
        return PELT_OK;
    }
    pelt_buffer_destroy(backend->device, buffer);
    return pelt_buffer_create(backend->device, size, usage, kind, buffer);
}

static size_t align16(size_t size)
{
    return (size + 15) & ~(size_t)15;
}

/* A matrix, with its rotation for dual quaternions. */
static size_t matrix_size(const pelt_batch *batch)
{
    return (batch->rotations ? 16 : 12) * sizeof(float);
}

/* Bytes of what the host writes for this batch. */
static size_t input_size(const pelt_batch *batch)
{
    const pelt_model *model = batch->character->model;
    size_t size = (size_t)batch->count * model->matrix_count * matrix_size(batch);
    for (size_t i = 0; i < (size_t)batch->count * model->part_count; i++) {
        const pelt_morphed *morphed = &batch->morphed[i];
        uint32_t mesh = batch->character->part_meshes[i % model->part_count];
        size_t vertices = batch->character->meshes[mesh]->vertex_count;
        if (morphed->vertices) {
            size += vertices * sizeof(pelt_packed_vertex);
            size += morphed->tangents ? align16(vertices * sizeof(uint32_t)) : 0;
        }
        if (morphed->joint_boxes) {
            size += align16(morphed->joint_boxes->joint_count * sizeof(pelt_box));
        }
    }
    return size;
}

/* Writes bytes behind what is there and tells where the GPU will find them. */
static VkDeviceAddress append(pelt_backend_vulkan_state *backend, size_t *used, const void *bytes,
                              size_t size)
{
    memcpy((char *)backend->input_staging.mapped + *used, bytes, size);
    VkDeviceAddress address = backend->input.address + *used;
    *used += align16(size);
    return address;
}

/* All members' palettes. */
static VkDeviceAddress append_matrices(pelt_backend_vulkan_state *backend, const pelt_batch *batch,
                                       size_t *used)
{
    size_t count = (size_t)batch->count * batch->character->model->matrix_count;
    if (!batch->rotations) {
        return append(backend, used, batch->matrices, count * matrix_size(batch));
    }
    float *out = (float *)((char *)backend->input_staging.mapped + *used);
    VkDeviceAddress address = backend->input.address + *used;
    for (size_t j = 0; j < count; j++) {
        memcpy(out + 16 * j, batch->matrices + 12 * j, 12 * sizeof(float));
        memcpy(out + 16 * j + 12, batch->rotations + 4 * j, 4 * sizeof(float));
    }
    *used += count * matrix_size(batch);
    return address;
}

/* Bytes of all vertices of a batch, once. */
static size_t slot_size(const pelt_batch *batch)
{
    const pelt_character *character = batch->character;
    return batch->count * character->vertex_offsets[character->model->part_count] *
           sizeof(pelt_packed_vertex);
}

/* Where an instance's vertices go, which of two slots its history says; offset: in a slot. */
static VkDeviceAddress place_vertices(pelt_backend_vulkan_state *backend, const pelt_batch *batch,
                                      uint32_t instance, size_t offset)
{
    VkDeviceAddress first = backend->vertices.address + offset;
    if (!backend->history) {
        return first;
    }
    const pelt_history_event moves = { 0 };
    pelt_history_slots slots = pelt_history_advance(backend->history, instance, &moves);
    backend->previous[instance] = first + slots.previous * slot_size(batch);
    return first + slots.current * slot_size(batch);
}

/* One part of one member: where its inputs are, where its outputs go. */
static void describe_part(pelt_backend_vulkan_state *backend, const pelt_batch *batch,
                          uint32_t member, uint32_t part, VkDeviceAddress matrices, size_t *used)
{
    const pelt_character *character = batch->character;
    const pelt_model *model = character->model;
    size_t slot = (size_t)member * model->part_count + part;
    uint32_t index = character->part_meshes[part];
    const pelt_packed_mesh *mesh = character->meshes[index];
    const pelt_morphed *morphed = &batch->morphed[slot];
    const pelt_palette *palette = &model->palettes[model->parts[part].palette];
    size_t vertex =
        member * character->vertex_offsets[model->part_count] + character->vertex_offsets[part];
    size_t tangent =
        member * character->tangent_offsets[model->part_count] + character->tangent_offsets[part];
    pelt_gpu_instance *instance = &backend->instances[slot];
    *instance = (pelt_gpu_instance){
        .mesh = index,
        .matrices = matrices + (VkDeviceAddress)palette->first_matrix * matrix_size(batch),
        .dual_quaternions = batch->rotations != NULL,
        .positions =
            place_vertices(backend, batch, (uint32_t)slot, vertex * sizeof(pelt_packed_vertex)),
        .position_stride = sizeof(pelt_packed_vertex),
        .normal_stride = sizeof(pelt_packed_vertex),
        .tangents_out = mesh->tangents ? backend->tangents.address + tangent * sizeof(uint32_t) : 0,
        .tangent_stride = sizeof(uint32_t),
        .box = backend->boxes.address + slot * sizeof(pelt_box)
    };
    instance->normals = instance->positions + 3 * sizeof(float);
    if (morphed->vertices) {
        instance->vertices = append(backend, used, morphed->vertices,
                                    mesh->vertex_count * sizeof(pelt_packed_vertex));
    }
    if (morphed->tangents) {
        instance->tangents =
            append(backend, used, morphed->tangents, mesh->vertex_count * sizeof(uint32_t));
    }
    if (!backend->joint_boxes) {
        return;
    }
    const pelt_joint_boxes *boxes = character->joint_boxes[index];
    VkDeviceAddress bind =
        backend->bind_buffer.address + backend->bind_offsets[index] * sizeof(pelt_box);
    if (morphed->joint_boxes) {
        boxes = morphed->joint_boxes;
        bind = append(backend, used, boxes->bind, boxes->joint_count * sizeof(pelt_box));
    }
    backend->joint_instances[slot] =
        (pelt_gpu_joint_box_instance){ .bind = bind,
                                       .matrices = instance->matrices,
                                       .joint_count = boxes->joint_count,
                                       .influence_count = boxes->influence_count,
                                       .box = backend->joint_boxes_out.address +
                                              slot * sizeof(pelt_box) };
}

static pelt_result reserve_instances(pelt_backend_vulkan_state *backend, size_t count)
{
    if (count <= backend->instance_room) {
        return PELT_OK;
    }
    pelt_release(backend->host, backend->joint_instances);
    pelt_release(backend->host, backend->instances);
    backend->instance_room = 0;
    pelt_release(backend->host, backend->previous);
    backend->instances = pelt_allocate(backend->host, count, sizeof(*backend->instances));
    backend->previous = pelt_allocate(backend->host, count, sizeof(*backend->previous));
    backend->joint_instances =
        pelt_allocate(backend->host, count, sizeof(*backend->joint_instances));
    if (!backend->instances || !backend->previous || !backend->joint_instances) {
        return PELT_ERROR_MEMORY;
    }
    backend->instance_room = count;
    return PELT_OK;
}

/* Room for the batch's inputs and outputs. */
static pelt_result reserve_batch(pelt_backend_vulkan_state *backend, const pelt_batch *batch)
{
    const pelt_character *character = batch->character;
    uint32_t parts = character->model->part_count;
    size_t count = (size_t)batch->count * parts;
    size_t vertices = slot_size(batch) * (backend->history ? 2 : 1);
    size_t tangents = batch->count * character->tangent_offsets[parts] * sizeof(uint32_t);
    size_t boxes = count * sizeof(pelt_box);
    size_t input = input_size(batch);
    const struct {
        pelt_buffer *buffer;
        size_t size;
        pelt_memory_kind kind;
        bool wanted;
    } wanted[] = {
        { &backend->input_staging, input, PELT_MEMORY_UPLOAD, true },
        { &backend->input, input, PELT_MEMORY_DEVICE, true },
        { &backend->vertices, vertices, PELT_MEMORY_DEVICE, true },
        { &backend->tangents, tangents, PELT_MEMORY_DEVICE, true },
        { &backend->boxes, boxes, PELT_MEMORY_DEVICE, true },
        { &backend->boxes_read, boxes, PELT_MEMORY_READBACK, true },
        { &backend->vertices_read, vertices, PELT_MEMORY_READBACK, !backend->keep_on_gpu },
        { &backend->tangents_read, tangents, PELT_MEMORY_READBACK, !backend->keep_on_gpu },
        { &backend->joint_boxes_out, boxes, PELT_MEMORY_DEVICE, backend->joint_boxes },
        { &backend->joint_boxes_read, boxes, PELT_MEMORY_READBACK, backend->joint_boxes },
    };
    pelt_result result = reserve_instances(backend, count);
    for (size_t i = 0; result == PELT_OK && i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        if (wanted[i].wanted) {
            result = reserve(backend, wanted[i].buffer, wanted[i].size, wanted[i].kind);
        }
    }
    return result;
}

pelt_result pelt_batch_vulkan_describe(pelt_backend_vulkan_state *backend, const pelt_batch *batch,
                                       pelt_skin_tables *tables)
{
    const pelt_model *model = batch->character->model;
    uint32_t count = batch->count * model->part_count;
    pelt_result result = reserve_batch(backend, batch);
    if (result == PELT_OK && backend->history) {
        result = pelt_history_begin(backend->history, count);
    }
    if (result != PELT_OK) {
        return result;
    }
    size_t palettes = model->matrix_count * matrix_size(batch);
    size_t used = 0;
    VkDeviceAddress matrices = append_matrices(backend, batch, &used);
    for (uint32_t i = 0; i < batch->count; i++) {
        for (uint32_t part = 0; part < model->part_count; part++) {
            describe_part(backend, batch, i, part, matrices + i * palettes, &used);
        }
    }
    pelt_skin_tables_info info = { .meshes = backend->meshes,
                                   .mesh_count = batch->character->mesh_count,
                                   .instances = backend->instances,
                                   .instance_count = count };
    result = pelt_skin_tables_measure(backend->pass, &info, tables);
    if (result == PELT_OK) {
        result = reserve(backend, &backend->table, tables->table_size, PELT_MEMORY_UPLOAD);
    }
    if (result == PELT_OK) {
        result = reserve(backend, &backend->scratch, tables->scratch_size, PELT_MEMORY_DEVICE);
    }
    if (result != PELT_OK) {
        return result;
    }
    pelt_skin_tables_write(backend->pass, &info, tables, backend->table.mapped);
    if (backend->joint_boxes) {
        result = reserve(backend, &backend->joint_table, pelt_joint_box_table_size(count),
                         PELT_MEMORY_UPLOAD);
        if (result == PELT_OK) {
            pelt_joint_box_table_write(backend->joint_instances, count,
                                       backend->joint_table.mapped);
        }
    }
    return result;
}

static void barrier(const pelt_backend_vulkan_state *backend, VkCommandBuffer commands,
                    VkPipelineStageFlags from, VkAccessFlags wrote, VkPipelineStageFlags to,
                    VkAccessFlags reads)
{
    VkMemoryBarrier memory = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = wrote,
                               .dstAccessMask = reads };
    backend->vk.cmd_pipeline_barrier(commands, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}

static void copy(const pelt_backend_vulkan_state *backend, VkCommandBuffer commands,
                 const pelt_buffer *from, const pelt_buffer *to, size_t size)
{
    if (size) {
        VkBufferCopy region = { .size = size };
        backend->vk.cmd_copy_buffer(commands, from->buffer, to->buffer, 1, &region);
    }
}

void pelt_batch_vulkan_record(pelt_backend_vulkan_state *backend, const pelt_batch *batch,
                              const pelt_skin_tables *tables, VkCommandBuffer commands)
{
    const pelt_character *character = batch->character;
    uint32_t parts = character->model->part_count;
    copy(backend, commands, &backend->input_staging, &backend->input, input_size(batch));
    barrier(backend, commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT);
    if (backend->queries) {
        backend->vk.cmd_reset_query_pool(commands, backend->queries, 0, 2);
        backend->vk.cmd_write_timestamp(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                        backend->queries, 0);
    }
    pelt_cmd_skin(backend->pass, commands, tables, backend->table.address,
                  backend->scratch.address);
    if (backend->queries) {
        backend->vk.cmd_write_timestamp(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                        backend->queries, 1);
    }
    if (backend->joint_boxes) {
        pelt_cmd_joint_boxes(backend->pass, commands, batch->count * parts,
                             backend->joint_table.address);
    }
    barrier(backend, commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
            VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
    size_t boxes = (size_t)batch->count * parts * sizeof(pelt_box);
    copy(backend, commands, &backend->boxes, &backend->boxes_read, boxes);
    if (backend->joint_boxes) {
        copy(backend, commands, &backend->joint_boxes_out, &backend->joint_boxes_read, boxes);
    }
    if (!backend->keep_on_gpu) {
        copy(backend, commands, &backend->vertices, &backend->vertices_read,
             batch->count * character->vertex_offsets[parts] * sizeof(pelt_packed_vertex));
        copy(backend, commands, &backend->tangents, &backend->tangents_read,
             batch->count * character->tangent_offsets[parts] * sizeof(uint32_t));
    }
    barrier(backend, commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

#endif
