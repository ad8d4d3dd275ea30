/* The GPU's pass: every part of every member of a batch in one pelt_cmd_skin. */
#include "cli/backend_vulkan.h"

#include "cli/backend.h"

#ifndef PELT_HAVE_VULKAN

pelt_result pelt_backend_vulkan(const pelt_host *host, const pelt_backend_info *info,
                                pelt_backend **out)
{
    (void)info;
    *out = NULL;
    return pelt_fail(host, PELT_ERROR_DEVICE, NULL, NULL, "this pelt was built without Vulkan");
}

#else

#include <stdlib.h>
#include <string.h>

typedef struct device_functions {
    PFN_vkCmdPipelineBarrier cmd_pipeline_barrier;
    PFN_vkCmdCopyBuffer cmd_copy_buffer;
    PFN_vkCreateQueryPool create_query_pool;
    PFN_vkDestroyQueryPool destroy_query_pool;
    PFN_vkCmdResetQueryPool cmd_reset_query_pool;
    PFN_vkCmdWriteTimestamp cmd_write_timestamp;
    PFN_vkGetQueryPoolResults get_query_pool_results;
} device_functions;

typedef struct backend_vulkan {
    pelt_backend base;
    const pelt_host *host;
    const pelt_character *character;
    const pelt_batch *batch;
    bool keep_on_gpu, joint_boxes;

    pelt_headless *device;
    device_functions vk;
    pelt_skin_pass *pass;
    VkQueryPool queries; /* two timestamps, or VK_NULL_HANDLE */

    /* The source meshes, once. */
    pelt_buffer mesh_buffer, bind_buffer;
    pelt_gpu_mesh *meshes;
    size_t *bind_offsets; /* of each mesh's joint boxes, in boxes */

    /* A batch. Written by the host and copied: matrices, morphed streams, joint boxes of those. */
    pelt_buffer input_staging, input;
    pelt_buffer table, joint_table, scratch;
    pelt_buffer vertices, tangents, boxes, joint_boxes_out;
    pelt_buffer vertices_read, tangents_read, boxes_read, joint_boxes_read;
    pelt_gpu_instance *instances;
    pelt_gpu_joint_box_instance *joint_instances;
    size_t instance_room;
} backend_vulkan;

pelt_result pelt_open_device(const pelt_host *host, pelt_headless **out)
{
    const char *validation = getenv("PELT_VALIDATION");
    return pelt_vulkan_open(
        host, &(pelt_headless_info){ .validation = validation && strcmp(validation, "1") == 0 },
        out);
}

void pelt_describe_device(const pelt_headless *device, char *out, size_t size)
{
    /* Some drivers repeat their own name: llvmpipe's is "llvmpipe Mesa 25.0". */
    const char *name = device->properties.deviceName;
    size_t first = strcspn(name, " ");
    bool repeats = strncmp(name, device->driver, first) == 0 && device->driver[first] == ' ';
    int length = snprintf(out, size, "%s, %s", name, device->driver + (repeats ? first + 1 : 0));
    if (length < 0 || (size_t)length >= size) {
        (void)snprintf(out, size, "%.*s", (int)size - 1, name);
    }
}

static pelt_result load_functions(const pelt_host *host, const pelt_headless *device,
                                  device_functions *out)
{
    VkDevice handle = device->vulkan.device;
    PFN_vkGetDeviceProcAddr get = device->get_device_proc_addr;
    out->cmd_pipeline_barrier = (PFN_vkCmdPipelineBarrier)get(handle, "vkCmdPipelineBarrier");
    out->cmd_copy_buffer = (PFN_vkCmdCopyBuffer)get(handle, "vkCmdCopyBuffer");
    out->create_query_pool = (PFN_vkCreateQueryPool)get(handle, "vkCreateQueryPool");
    out->destroy_query_pool = (PFN_vkDestroyQueryPool)get(handle, "vkDestroyQueryPool");
    out->cmd_reset_query_pool = (PFN_vkCmdResetQueryPool)get(handle, "vkCmdResetQueryPool");
    out->cmd_write_timestamp = (PFN_vkCmdWriteTimestamp)get(handle, "vkCmdWriteTimestamp");
    out->get_query_pool_results = (PFN_vkGetQueryPoolResults)get(handle, "vkGetQueryPoolResults");
    bool all = out->cmd_pipeline_barrier && out->cmd_copy_buffer && out->create_query_pool &&
               out->destroy_query_pool && out->cmd_reset_query_pool && out->cmd_write_timestamp &&
               out->get_query_pool_results;
    return all ? PELT_OK
               : pelt_fail(host, PELT_ERROR_DEVICE, NULL, NULL,
                           "the driver lacks a function of Vulkan 1.0");
}

static pelt_result upload_meshes(backend_vulkan *backend)
{
    const pelt_character *character = backend->character;
    size_t total = 0, largest = 0;
    for (uint32_t i = 0; i < character->mesh_count; i++) {
        size_t size = pelt_gpu_mesh_size(character->meshes[i]);
        largest = size > largest ? size : largest;
        if (!pelt_add(total, size, &total)) {
            return PELT_ERROR_RANGE;
        }
    }
    pelt_result result =
        pelt_buffer_create(backend->device, total, 0, PELT_MEMORY_DEVICE, &backend->mesh_buffer);
    if (result != PELT_OK) {
        return result;
    }
    void *bytes = pelt_allocate(backend->host, largest, 1);
    if (!bytes) {
        return PELT_ERROR_MEMORY;
    }
    size_t offset = 0;
    for (uint32_t i = 0; result == PELT_OK && i < character->mesh_count; i++) {
        size_t size = pelt_gpu_mesh_size(character->meshes[i]);
        pelt_gpu_mesh_write(character->meshes[i], bytes, backend->mesh_buffer.address + offset,
                            &backend->meshes[i]);
        result = pelt_buffer_upload(backend->device, &backend->mesh_buffer, offset, bytes, size);
        offset += size;
    }
    pelt_release(backend->host, bytes);
    return result;
}

static pelt_result upload_bind_boxes(backend_vulkan *backend)
{
    const pelt_character *character = backend->character;
    size_t total = 0;
    for (uint32_t i = 0; i < character->mesh_count; i++) {
        backend->bind_offsets[i] = total;
        total += character->joint_boxes[i]->joint_count;
    }
    pelt_result result = pelt_buffer_create(backend->device, total * sizeof(pelt_box), 0,
                                            PELT_MEMORY_DEVICE, &backend->bind_buffer);
    for (uint32_t i = 0; result == PELT_OK && i < character->mesh_count; i++) {
        const pelt_joint_boxes *boxes = character->joint_boxes[i];
        if (boxes->joint_count) {
            result = pelt_buffer_upload(backend->device, &backend->bind_buffer,
                                        backend->bind_offsets[i] * sizeof(pelt_box), boxes->bind,
                                        boxes->joint_count * sizeof(pelt_box));
        }
    }
    return result;
}

/* Makes the buffer at least so large; what it held is lost. */
static pelt_result reserve(backend_vulkan *backend, pelt_buffer *buffer, size_t size,
                           pelt_memory_kind kind)
{
    if (buffer->buffer && buffer->size >= size) {
        return PELT_OK;
    }
    pelt_buffer_destroy(backend->device, buffer);
    return pelt_buffer_create(backend->device, size, 0, kind, buffer);
}

static size_t align16(size_t size)
{
    return (size + 15) & ~(size_t)15;
}

/* Bytes of what the host writes for this batch. */
static size_t input_size(const pelt_batch *batch)
{
    const pelt_model *model = batch->character->model;
    size_t size = (size_t)batch->count * model->matrix_count * 12 * sizeof(float);
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
static VkDeviceAddress append(backend_vulkan *backend, size_t *used, const void *bytes, size_t size)
{
    memcpy((char *)backend->input_staging.mapped + *used, bytes, size);
    VkDeviceAddress address = backend->input.address + *used;
    *used += align16(size);
    return address;
}

/* One part of one member: where its inputs are, where its outputs go. */
static void describe_part(backend_vulkan *backend, const pelt_batch *batch, uint32_t member,
                          uint32_t part, VkDeviceAddress matrices, size_t *used)
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
        .matrices = matrices + (VkDeviceAddress)palette->first_matrix * 48,
        .positions = backend->vertices.address + vertex * sizeof(pelt_packed_vertex),
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

static pelt_result reserve_instances(backend_vulkan *backend, size_t count)
{
    if (count <= backend->instance_room) {
        return PELT_OK;
    }
    pelt_release(backend->host, backend->joint_instances);
    pelt_release(backend->host, backend->instances);
    backend->instance_room = 0;
    backend->instances = pelt_allocate(backend->host, count, sizeof(*backend->instances));
    backend->joint_instances =
        pelt_allocate(backend->host, count, sizeof(*backend->joint_instances));
    if (!backend->instances || !backend->joint_instances) {
        return PELT_ERROR_MEMORY;
    }
    backend->instance_room = count;
    return PELT_OK;
}

/* Room for the batch's inputs and outputs. */
static pelt_result reserve_batch(backend_vulkan *backend, const pelt_batch *batch)
{
    const pelt_character *character = batch->character;
    uint32_t parts = character->model->part_count;
    size_t count = (size_t)batch->count * parts;
    size_t vertices = batch->count * character->vertex_offsets[parts] * sizeof(pelt_packed_vertex);
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

/* Fills the staging memory and the tables. */
static pelt_result describe_batch(backend_vulkan *backend, const pelt_batch *batch,
                                  pelt_skin_tables *tables)
{
    const pelt_model *model = batch->character->model;
    uint32_t count = batch->count * model->part_count;
    size_t palettes = (size_t)model->matrix_count * 12 * sizeof(float);
    size_t used = 0;
    VkDeviceAddress matrices = append(backend, &used, batch->matrices, batch->count * palettes);
    for (uint32_t i = 0; i < batch->count; i++) {
        for (uint32_t part = 0; part < model->part_count; part++) {
            describe_part(backend, batch, i, part, matrices + i * palettes, &used);
        }
    }
    pelt_skin_tables_info info = { .meshes = backend->meshes,
                                   .mesh_count = batch->character->mesh_count,
                                   .instances = backend->instances,
                                   .instance_count = count };
    pelt_result result = pelt_skin_tables_measure(backend->pass, &info, tables);
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

static void barrier(const backend_vulkan *backend, VkCommandBuffer commands,
                    VkPipelineStageFlags from, VkAccessFlags wrote, VkPipelineStageFlags to,
                    VkAccessFlags reads)
{
    VkMemoryBarrier memory = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = wrote,
                               .dstAccessMask = reads };
    backend->vk.cmd_pipeline_barrier(commands, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}

static void copy(const backend_vulkan *backend, VkCommandBuffer commands, const pelt_buffer *from,
                 const pelt_buffer *to, size_t size)
{
    if (size) {
        VkBufferCopy region = { .size = size };
        backend->vk.cmd_copy_buffer(commands, from->buffer, to->buffer, 1, &region);
    }
}

static void record(backend_vulkan *backend, const pelt_batch *batch, const pelt_skin_tables *tables,
                   VkCommandBuffer commands)
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

static double pass_seconds(const backend_vulkan *backend, double fallback)
{
    uint64_t ticks[2];
    if (!backend->queries ||
        backend->vk.get_query_pool_results(
            backend->device->vulkan.device, backend->queries, 0, 2, sizeof(ticks), ticks,
            sizeof(ticks[0]), VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT) != VK_SUCCESS) {
        return fallback;
    }
    return (double)(ticks[1] - ticks[0]) * backend->device->timestamp_period * 1e-9;
}

static pelt_result skin(pelt_backend *base, const pelt_batch *batch)
{
    backend_vulkan *backend = (backend_vulkan *)base;
    backend->batch = batch;
    base->skin_time = 0.0;
    base->groups = 0;
    if (batch->count == 0 || batch->character->model->part_count == 0) {
        return PELT_OK;
    }
    pelt_skin_tables tables;
    pelt_result result = reserve_batch(backend, batch);
    if (result == PELT_OK) {
        result = describe_batch(backend, batch, &tables);
    }
    VkCommandBuffer commands;
    if (result == PELT_OK) {
        result = pelt_commands_begin(backend->device, &commands);
    }
    if (result != PELT_OK) {
        return result;
    }
    record(backend, batch, &tables, commands);
    double start = pelt_seconds();
    result = pelt_commands_submit(backend->device, commands);
    if (result == PELT_OK) {
        base->skin_time = pass_seconds(backend, pelt_seconds() - start);
        base->groups = tables.chunk_count;
    }
    return result;
}

static pelt_result fetch(pelt_backend *base, uint32_t member, uint32_t part, pelt_animated *out)
{
    backend_vulkan *backend = (backend_vulkan *)base;
    const pelt_character *character = backend->character;
    uint32_t parts = character->model->part_count;
    size_t slot = (size_t)member * parts + part;
    const pelt_packed_mesh *mesh = character->meshes[character->part_meshes[part]];
    *out = (pelt_animated){ .vertex_count = mesh->vertex_count,
                            .box = ((const pelt_box *)backend->boxes_read.mapped)[slot] };
    if (backend->joint_boxes) {
        out->joint_box = ((const pelt_box *)backend->joint_boxes_read.mapped)[slot];
    }
    if (!backend->keep_on_gpu) {
        out->vertices = (const pelt_packed_vertex *)backend->vertices_read.mapped +
                        member * character->vertex_offsets[parts] + character->vertex_offsets[part];
        out->tangents = mesh->tangents ? (const uint32_t *)backend->tangents_read.mapped +
                                             member * character->tangent_offsets[parts] +
                                             character->tangent_offsets[part]
                                       : NULL;
    }
    return PELT_OK;
}

static void destroy(pelt_backend *base)
{
    backend_vulkan *backend = (backend_vulkan *)base;
    if (backend->device) {
        pelt_buffer *buffers[] = {
            &backend->mesh_buffer,   &backend->bind_buffer,     &backend->input_staging,
            &backend->input,         &backend->table,           &backend->joint_table,
            &backend->scratch,       &backend->vertices,        &backend->tangents,
            &backend->boxes,         &backend->joint_boxes_out, &backend->vertices_read,
            &backend->tangents_read, &backend->boxes_read,      &backend->joint_boxes_read
        };
        for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
            pelt_buffer_destroy(backend->device, buffers[i]);
        }
        if (backend->queries) {
            backend->vk.destroy_query_pool(backend->device->vulkan.device, backend->queries,
                                           backend->device->vulkan.allocator);
        }
        pelt_skin_pass_destroy(backend->pass);
    }
    pelt_vulkan_close(backend->device);
    pelt_release(backend->host, backend->joint_instances);
    pelt_release(backend->host, backend->instances);
    pelt_release(backend->host, backend->bind_offsets);
    pelt_release(backend->host, backend->meshes);
    pelt_release(backend->host, backend);
}

static pelt_result open_backend(backend_vulkan *backend)
{
    const pelt_host *host = backend->host;
    pelt_result result = pelt_open_device(host, &backend->device);
    if (result != PELT_OK) {
        return result;
    }
    pelt_describe_device(backend->device, backend->base.device, sizeof(backend->base.device));
    result = load_functions(host, backend->device, &backend->vk);
    if (result == PELT_OK) {
        result = pelt_skin_pass_create(
            host, &(pelt_skin_pass_info){ .vulkan = &backend->device->vulkan }, &backend->pass);
    }
    if (result == PELT_OK && backend->device->timestamp_period > 0.0f) {
        VkQueryPoolCreateInfo info = { .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                       .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                       .queryCount = 2 };
        if (backend->vk.create_query_pool(backend->device->vulkan.device, &info,
                                          backend->device->vulkan.allocator,
                                          &backend->queries) != VK_SUCCESS) {
            backend->queries = VK_NULL_HANDLE; /* times are then the host's */
        }
    }
    if (result == PELT_OK) {
        result = upload_meshes(backend);
    }
    if (result == PELT_OK && backend->joint_boxes) {
        result = upload_bind_boxes(backend);
    }
    return result;
}

pelt_result pelt_backend_vulkan(const pelt_host *host, const pelt_backend_info *info,
                                pelt_backend **out)
{
    *out = NULL;
    backend_vulkan *backend = pelt_allocate(host, 1, sizeof(*backend));
    if (!backend) {
        return PELT_ERROR_MEMORY;
    }
    *backend = (backend_vulkan){
        .base = { .path = "gpu", .skin = skin, .fetch = fetch, .destroy = destroy },
        .host = host,
        .character = info->character,
        .keep_on_gpu = info->keep_on_gpu,
        .joint_boxes = info->joint_boxes
    };
    size_t meshes = info->character->mesh_count;
    backend->meshes = pelt_allocate(host, meshes, sizeof(*backend->meshes));
    backend->bind_offsets = pelt_allocate(host, meshes, sizeof(*backend->bind_offsets));
    pelt_result result =
        backend->meshes && backend->bind_offsets ? open_backend(backend) : PELT_ERROR_MEMORY;
    if (result != PELT_OK) {
        destroy(&backend->base);
        return result;
    }
    *out = &backend->base;
    return PELT_OK;
}

pelt_headless *pelt_backend_vulkan_device(pelt_backend *base)
{
    return ((backend_vulkan *)base)->device;
}

VkDeviceAddress pelt_backend_vulkan_vertices(const pelt_backend *base, uint32_t member,
                                             uint32_t part)
{
    const backend_vulkan *backend = (const backend_vulkan *)base;
    size_t parts = backend->character->model->part_count;
    return backend->instances[member * parts + part].positions;
}

#endif
