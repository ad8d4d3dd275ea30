/* Buffers of a headless device, each with memory of its own. */
#include "vulkan/headless.h"

#include <string.h>

/* Bytes that uploads and downloads stage at a time. */
enum { STAGING_SIZE = 64 << 20 };

/* The first memory type of those allowed that has all flags; UINT32_MAX: none. */
static uint32_t find_memory_type(const pelt_headless *device, uint32_t allowed,
                                 VkMemoryPropertyFlags flags)
{
    for (uint32_t i = 0; i < device->memory.memoryTypeCount; i++) {
        bool has = (device->memory.memoryTypes[i].propertyFlags & flags) == flags;
        if ((allowed >> i & 1) != 0 && has) {
            return i;
        }
    }
    return UINT32_MAX;
}

static uint32_t choose_memory_type(const pelt_headless *device, uint32_t allowed,
                                   pelt_memory_kind kind)
{
    const VkMemoryPropertyFlags mapped =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkMemoryPropertyFlags wanted = mapped;
    VkMemoryPropertyFlags enough = mapped;
    if (kind == PELT_MEMORY_DEVICE) {
        wanted = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
        enough = 0;
    } else if (kind == PELT_MEMORY_READBACK) {
        wanted = mapped | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    }
    uint32_t type = find_memory_type(device, allowed, wanted);
    return type != UINT32_MAX ? type : find_memory_type(device, allowed, enough);
}

/* A buffer that could not be had: what there is too little of, and how much was asked for. */
static pelt_result fail(const pelt_headless *device, VkResult status, const char *call,
                        VkDeviceSize size)
{
    if (status == VK_ERROR_OUT_OF_DEVICE_MEMORY || status == VK_ERROR_OUT_OF_HOST_MEMORY) {
        return pelt_fail(device->host, PELT_ERROR_MEMORY, NULL, NULL,
                         "%s has no memory for a buffer of %llu bytes",
                         device->properties.deviceName, (unsigned long long)size);
    }
    return pelt_vulkan_fail(device->host, status, call);
}

static pelt_result allocate_memory(pelt_headless *device, pelt_memory_kind kind, pelt_buffer *out)
{
    const pelt_device_functions *vk = &device->private_data->functions;
    VkMemoryRequirements requirements;
    vk->get_buffer_memory_requirements(device->vulkan.device, out->buffer, &requirements);
    const VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &flags,
        .allocationSize = requirements.size,
        .memoryTypeIndex = choose_memory_type(device, requirements.memoryTypeBits, kind),
    };
    if (info.memoryTypeIndex == UINT32_MAX) {
        return pelt_fail(device->host, PELT_ERROR_DEVICE, NULL, NULL,
                         "%s has no host-visible, coherent memory for buffers",
                         device->properties.deviceName);
    }
    VkResult status = vk->allocate_memory(device->vulkan.device, &info, NULL, &out->memory);
    if (status != VK_SUCCESS) {
        out->memory = VK_NULL_HANDLE;
        return fail(device, status, "vkAllocateMemory", requirements.size);
    }
    status = vk->bind_buffer_memory(device->vulkan.device, out->buffer, out->memory, 0);
    if (status != VK_SUCCESS) {
        return pelt_vulkan_fail(device->host, status, "vkBindBufferMemory");
    }
    if (kind != PELT_MEMORY_DEVICE) {
        status =
            vk->map_memory(device->vulkan.device, out->memory, 0, VK_WHOLE_SIZE, 0, &out->mapped);
        if (status != VK_SUCCESS) {
            out->mapped = NULL;
            return pelt_vulkan_fail(device->host, status, "vkMapMemory");
        }
    }
    return PELT_OK;
}

pelt_result pelt_buffer_create(pelt_headless *device, VkDeviceSize size, VkBufferUsageFlags usage,
                               pelt_memory_kind kind, pelt_buffer *out)
{
    const pelt_device_functions *vk = &device->private_data->functions;
    *out = (pelt_buffer){ .size = size > 0 ? size : 16 };
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = out->size,
        .usage = usage | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                 VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    VkResult status = vk->create_buffer(device->vulkan.device, &info, NULL, &out->buffer);
    if (status != VK_SUCCESS) {
        *out = (pelt_buffer){ 0 };
        return fail(device, status, "vkCreateBuffer", info.size);
    }
    pelt_result result = allocate_memory(device, kind, out);
    if (result != PELT_OK) {
        pelt_buffer_destroy(device, out);
        return result;
    }
    const VkBufferDeviceAddressInfo address = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
        .buffer = out->buffer,
    };
    out->address = vk->get_buffer_device_address(device->vulkan.device, &address);
    return PELT_OK;
}

void pelt_buffer_destroy(pelt_headless *device, pelt_buffer *buffer)
{
    if (!device || !buffer) {
        return;
    }
    const pelt_device_functions *vk = &device->private_data->functions;
    vk->destroy_buffer(device->vulkan.device, buffer->buffer, NULL);
    vk->free_memory(device->vulkan.device, buffer->memory, NULL);
    *buffer = (pelt_buffer){ 0 };
}

static pelt_result check_range(const pelt_headless *device, const pelt_buffer *buffer,
                               VkDeviceSize offset, VkDeviceSize size)
{
    if (offset > buffer->size || size > buffer->size - offset || offset % 4 != 0 || size % 4 != 0) {
        return pelt_fail(device->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "bytes %llu + %llu are not a range of whole words of a buffer of %llu",
                         (unsigned long long)offset, (unsigned long long)size,
                         (unsigned long long)buffer->size);
    }
    return PELT_OK;
}

static pelt_result copy(pelt_headless *device, VkBuffer from, VkDeviceSize from_offset, VkBuffer to,
                        VkDeviceSize to_offset, VkDeviceSize size)
{
    const pelt_recorder *recorder = &device->private_data->transfers;
    pelt_result result = pelt_recorder_begin(device, recorder);
    if (result != PELT_OK) {
        return result;
    }
    const VkBufferCopy region = { .srcOffset = from_offset, .dstOffset = to_offset, .size = size };
    device->private_data->functions.cmd_copy_buffer(recorder->commands, from, to, 1, &region);
    return pelt_recorder_submit(device, recorder->commands);
}

pelt_result pelt_buffer_upload(pelt_headless *device, const pelt_buffer *buffer,
                               VkDeviceSize offset, const void *bytes, VkDeviceSize size)
{
    pelt_result result = check_range(device, buffer, offset, size);
    if (result != PELT_OK || size == 0) {
        return result;
    }
    if (buffer->mapped) {
        memcpy((char *)buffer->mapped + offset, bytes, size);
        return PELT_OK;
    }
    pelt_buffer staging;
    result = pelt_buffer_create(device, size < STAGING_SIZE ? size : STAGING_SIZE, 0,
                                PELT_MEMORY_UPLOAD, &staging);
    for (VkDeviceSize done = 0; staging.mapped && result == PELT_OK && done < size;
         done += staging.size) {
        VkDeviceSize piece = size - done < staging.size ? size - done : staging.size;
        memcpy(staging.mapped, (const char *)bytes + done, piece);
        result = copy(device, staging.buffer, 0, buffer->buffer, offset + done, piece);
    }
    pelt_buffer_destroy(device, &staging);
    return result;
}

pelt_result pelt_buffer_download(pelt_headless *device, const pelt_buffer *buffer,
                                 VkDeviceSize offset, void *bytes, VkDeviceSize size)
{
    pelt_result result = check_range(device, buffer, offset, size);
    if (result != PELT_OK || size == 0) {
        return result;
    }
    if (buffer->mapped) {
        memcpy(bytes, (const char *)buffer->mapped + offset, size);
        return PELT_OK;
    }
    pelt_buffer staging;
    result = pelt_buffer_create(device, size < STAGING_SIZE ? size : STAGING_SIZE, 0,
                                PELT_MEMORY_READBACK, &staging);
    for (VkDeviceSize done = 0; staging.mapped && result == PELT_OK && done < size;
         done += staging.size) {
        VkDeviceSize piece = size - done < staging.size ? size - done : staging.size;
        result = copy(device, buffer->buffer, offset + done, staging.buffer, 0, piece);
        if (result == PELT_OK) {
            memcpy((char *)bytes + done, staging.mapped, piece);
        }
    }
    pelt_buffer_destroy(device, &staging);
    return result;
}
