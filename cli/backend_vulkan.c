/* The GPU's pass: every part of every member of a batch in one pelt_cmd_skin. */
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

#include "cli/backend_vulkan_state.h"

#include <stdlib.h>
#include <string.h>

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
                                  pelt_backend_functions *out)
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

static pelt_result upload_meshes(pelt_backend_vulkan_state *backend)
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

static pelt_result upload_bind_boxes(pelt_backend_vulkan_state *backend)
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

static double pass_seconds(const pelt_backend_vulkan_state *backend, double fallback)
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
    pelt_backend_vulkan_state *backend = (pelt_backend_vulkan_state *)base;
    backend->batch = batch;
    base->skin_time = 0.0;
    base->groups = 0;
    if (batch->count == 0 || batch->character->model->part_count == 0) {
        return PELT_OK;
    }
    pelt_skin_tables tables;
    pelt_result result = pelt_batch_vulkan_describe(backend, batch, &tables);
    VkCommandBuffer commands;
    if (result == PELT_OK) {
        result = pelt_commands_begin(backend->device, &commands);
    }
    if (result != PELT_OK) {
        return result;
    }
    pelt_batch_vulkan_record(backend, batch, &tables, commands);
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
    pelt_backend_vulkan_state *backend = (pelt_backend_vulkan_state *)base;
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
    pelt_backend_vulkan_state *backend = (pelt_backend_vulkan_state *)base;
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
    pelt_release(backend->host, backend->previous);
    pelt_release(backend->host, backend->instances);
    pelt_history_destroy(backend->history);
    pelt_release(backend->host, backend->bind_offsets);
    pelt_release(backend->host, backend->meshes);
    pelt_release(backend->host, backend);
}

static pelt_result open_backend(pelt_backend_vulkan_state *backend)
{
    const pelt_host *host = backend->host;
    pelt_result result = pelt_open_device(host, &backend->device);
    if (result != PELT_OK) {
        return result;
    }
    pelt_describe_device(backend->device, backend->base.device, sizeof(backend->base.device));
    result = load_functions(host, backend->device, &backend->vk);
    if (result == PELT_OK) {
        const pelt_skin_pass_info info = {
            .vulkan = &backend->device->vulkan,
            .no_dual_quaternions = backend->character->method != PELT_METHOD_DQS,
        };
        result = pelt_skin_pass_create(host, &info, &backend->pass);
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
    pelt_backend_vulkan_state *backend = pelt_allocate(host, 1, sizeof(*backend));
    if (!backend) {
        return PELT_ERROR_MEMORY;
    }
    *backend = (pelt_backend_vulkan_state){
        .base = { .path = "gpu", .skin = skin, .fetch = fetch, .destroy = destroy },
        .host = host,
        .character = info->character,
        .keep_on_gpu = info->keep_on_gpu,
        .joint_boxes = info->joint_boxes
    };
    size_t meshes = info->character->mesh_count;
    backend->meshes = pelt_allocate(host, meshes, sizeof(*backend->meshes));
    backend->bind_offsets = pelt_allocate(host, meshes, sizeof(*backend->bind_offsets));
    pelt_result result = backend->meshes && backend->bind_offsets ? PELT_OK : PELT_ERROR_MEMORY;
    if (result == PELT_OK && info->keep_previous) {
        result = pelt_history_create(host, &backend->history);
    }
    if (result == PELT_OK) {
        result = open_backend(backend);
    }
    if (result != PELT_OK) {
        destroy(&backend->base);
        return result;
    }
    *out = &backend->base;
    return PELT_OK;
}

pelt_headless *pelt_backend_vulkan_device(pelt_backend *base)
{
    return ((pelt_backend_vulkan_state *)base)->device;
}

const pelt_gpu_instance *pelt_backend_vulkan_instance(const pelt_backend *base, uint32_t member,
                                                      uint32_t part)
{
    const pelt_backend_vulkan_state *backend = (const pelt_backend_vulkan_state *)base;
    size_t parts = backend->character->model->part_count;
    return &backend->instances[member * parts + part];
}

VkDeviceAddress pelt_backend_vulkan_previous(const pelt_backend *base, uint32_t member,
                                             uint32_t part)
{
    const pelt_backend_vulkan_state *backend = (const pelt_backend_vulkan_state *)base;
    size_t parts = backend->character->model->part_count;
    return backend->previous[member * parts + part];
}

VkDeviceAddress pelt_backend_vulkan_vertices(const pelt_backend *base, uint32_t member,
                                             uint32_t part)
{
    return pelt_backend_vulkan_instance(base, member, part)->positions;
}

#endif
