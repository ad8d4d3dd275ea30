/* Images on the device: memory, views, layout changes. */
#include "render/internal.h"

static pelt_result allocate(pelt_renderer *renderer, pelt_render_image *image)
{
    const pelt_render_functions *vk = &renderer->vk;
    VkDevice device = renderer->device->vulkan.device;
    VkMemoryRequirements needs;
    vk->get_image_memory_requirements(device, image->image, &needs);
    const VkPhysicalDeviceMemoryProperties *memory = &renderer->device->memory;
    uint32_t type = UINT32_MAX;
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++) {
        bool local =
            (memory->memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
        if ((needs.memoryTypeBits >> i & 1) != 0 && (type == UINT32_MAX || local)) {
            type = i;
            if (local) {
                break;
            }
        }
    }
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = type,
    };
    VkResult status = vk->allocate_memory(device, &info, NULL, &image->memory);
    if (status == VK_ERROR_OUT_OF_DEVICE_MEMORY || status == VK_ERROR_OUT_OF_HOST_MEMORY) {
        image->memory = VK_NULL_HANDLE;
        return pelt_fail(renderer->host, PELT_ERROR_MEMORY, NULL, NULL,
                         "no device memory for an image of %llu bytes",
                         (unsigned long long)needs.size);
    }
    if (status != VK_SUCCESS) {
        image->memory = VK_NULL_HANDLE;
        return pelt_vulkan_fail(renderer->host, status, "vkAllocateMemory");
    }
    status = vk->bind_image_memory(device, image->image, image->memory, 0);
    return status == VK_SUCCESS ? PELT_OK
                                : pelt_vulkan_fail(renderer->host, status, "vkBindImageMemory");
}

pelt_result pelt_render_view_create(pelt_renderer *renderer, VkImage image,
                                    const pelt_render_image_info *info, uint32_t layer,
                                    VkImageView *out)
{
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image,
        .viewType = info->array ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D,
        .format = info->format,
        .subresourceRange = { info->aspect, 0, info->levels, layer,
                              info->array ? info->layers : 1 },
    };
    VkResult status =
        renderer->vk.create_image_view(renderer->device->vulkan.device, &view, NULL, out);
    if (status != VK_SUCCESS) {
        *out = VK_NULL_HANDLE;
        return pelt_vulkan_fail(renderer->host, status, "vkCreateImageView");
    }
    return PELT_OK;
}

pelt_result pelt_render_image_create(pelt_renderer *renderer, const pelt_render_image_info *info,
                                     pelt_render_image *out)
{
    *out = (pelt_render_image){ 0 };
    const VkImageCreateInfo image = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = info->format,
        .extent = { info->width, info->height, 1 },
        .mipLevels = info->levels,
        .arrayLayers = info->layers,
        .samples = info->samples,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = info->usage,
    };
    VkResult status =
        renderer->vk.create_image(renderer->device->vulkan.device, &image, NULL, &out->image);
    if (status != VK_SUCCESS) {
        out->image = VK_NULL_HANDLE;
        return pelt_vulkan_fail(renderer->host, status, "vkCreateImage");
    }
    pelt_result result = allocate(renderer, out);
    if (result == PELT_OK) {
        result = pelt_render_view_create(renderer, out->image, info, 0, &out->view);
    }
    if (result != PELT_OK) {
        pelt_render_image_destroy(renderer, out);
    }
    return result;
}

void pelt_render_image_destroy(pelt_renderer *renderer, pelt_render_image *image)
{
    VkDevice device = renderer->device->vulkan.device;
    renderer->vk.destroy_image_view(device, image->view, NULL);
    renderer->vk.destroy_image(device, image->image, NULL);
    renderer->vk.free_memory(device, image->memory, NULL);
    *image = (pelt_render_image){ 0 };
}

void pelt_render_transition_image(const pelt_renderer *renderer, VkCommandBuffer commands,
                                  VkImage image, const pelt_render_transition *transition)
{
    const VkImageMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = transition->from_stage,
        .srcAccessMask = transition->from_access,
        .dstStageMask = transition->to_stage,
        .dstAccessMask = transition->to_access,
        .oldLayout = transition->from,
        .newLayout = transition->to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = { transition->aspect, transition->first_level,
                              transition->level_count ? transition->level_count
                                                      : VK_REMAINING_MIP_LEVELS,
                              0, VK_REMAINING_ARRAY_LAYERS },
    };
    const VkDependencyInfo dependency = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .imageMemoryBarrierCount = 1,
        .pImageMemoryBarriers = &barrier,
    };
    renderer->vk.cmd_pipeline_barrier2(commands, &dependency);
}

void *pelt_render_grow(const pelt_host *host, void *array, uint32_t count, uint32_t *capacity,
                       size_t size)
{
    if (count < *capacity) {
        return array;
    }
    size_t more = *capacity ? (size_t)*capacity * 2 : 8;
    size_t bytes;
    if (more > UINT32_MAX || !pelt_multiply(more, size, &bytes)) {
        return NULL;
    }
    void *grown = pelt_reallocate(host, array, bytes);
    if (grown) {
        *capacity = (uint32_t)more;
    }
    return grown;
}
