/* Command buffers of a headless device: record, submit, wait. */
#include "vulkan/headless.h"

static pelt_result create_recorder(pelt_headless *device, pelt_recorder *recorder)
{
    const pelt_device_functions *vk = &device->private_data->functions;
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
        .queueFamilyIndex = device->queue_family,
    };
    VkResult status = vk->create_command_pool(device->vulkan.device, &pool, NULL, &recorder->pool);
    if (status != VK_SUCCESS) {
        recorder->pool = VK_NULL_HANDLE;
        return pelt_vulkan_fail(device->host, status, "vkCreateCommandPool");
    }
    const VkCommandBufferAllocateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = recorder->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    status = vk->allocate_command_buffers(device->vulkan.device, &buffer, &recorder->commands);
    return status == VK_SUCCESS
               ? PELT_OK
               : pelt_vulkan_fail(device->host, status, "vkAllocateCommandBuffers");
}

pelt_result pelt_headless_create_commands(pelt_headless *device)
{
    struct pelt_headless_private *self = device->private_data;
    pelt_result result = create_recorder(device, &self->recorder);
    if (result == PELT_OK) {
        result = create_recorder(device, &self->transfers);
    }
    if (result != PELT_OK) {
        return result;
    }
    const VkFenceCreateInfo fence = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
    VkResult status =
        self->functions.create_fence(device->vulkan.device, &fence, NULL, &self->fence);
    if (status != VK_SUCCESS) {
        self->fence = VK_NULL_HANDLE;
        return pelt_vulkan_fail(device->host, status, "vkCreateFence");
    }
    return PELT_OK;
}

void pelt_headless_destroy_commands(pelt_headless *device)
{
    struct pelt_headless_private *self = device->private_data;
    const pelt_device_functions *vk = &self->functions;
    vk->destroy_fence(device->vulkan.device, self->fence, NULL);
    vk->destroy_command_pool(device->vulkan.device, self->transfers.pool, NULL);
    vk->destroy_command_pool(device->vulkan.device, self->recorder.pool, NULL);
}

pelt_result pelt_recorder_begin(pelt_headless *device, const pelt_recorder *recorder)
{
    const pelt_device_functions *vk = &device->private_data->functions;
    VkResult status = vk->reset_command_pool(device->vulkan.device, recorder->pool, 0);
    if (status != VK_SUCCESS) {
        return pelt_vulkan_fail(device->host, status, "vkResetCommandPool");
    }
    const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    status = vk->begin_command_buffer(recorder->commands, &info);
    if (status != VK_SUCCESS) {
        return pelt_vulkan_fail(device->host, status, "vkBeginCommandBuffer");
    }
    /* A waited-for fence orders submissions but makes nothing visible to the next one. */
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
    };
    vk->cmd_pipeline_barrier(recorder->commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                             VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
    return PELT_OK;
}

pelt_result pelt_recorder_submit(pelt_headless *device, VkCommandBuffer commands)
{
    struct pelt_headless_private *self = device->private_data;
    const pelt_device_functions *vk = &self->functions;
    const VkMemoryBarrier to_host = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    vk->cmd_pipeline_barrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                             VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, NULL, 0, NULL);
    VkResult status = vk->end_command_buffer(commands);
    if (status != VK_SUCCESS) {
        return pelt_vulkan_fail(device->host, status, "vkEndCommandBuffer");
    }
    status = vk->reset_fences(device->vulkan.device, 1, &self->fence);
    if (status != VK_SUCCESS) {
        return pelt_vulkan_fail(device->host, status, "vkResetFences");
    }
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
    };
    status = vk->queue_submit(device->queue, 1, &info, self->fence);
    if (status != VK_SUCCESS) {
        return pelt_vulkan_fail(device->host, status, "vkQueueSubmit");
    }
    status = vk->wait_for_fences(device->vulkan.device, 1, &self->fence, VK_TRUE, UINT64_MAX);
    return status == VK_SUCCESS ? PELT_OK
                                : pelt_vulkan_fail(device->host, status, "vkWaitForFences");
}

pelt_result pelt_commands_begin(pelt_headless *device, VkCommandBuffer *out)
{
    *out = device->private_data->recorder.commands;
    return pelt_recorder_begin(device, &device->private_data->recorder);
}

pelt_result pelt_commands_submit(pelt_headless *device, VkCommandBuffer commands)
{
    return pelt_recorder_submit(device, commands);
}
