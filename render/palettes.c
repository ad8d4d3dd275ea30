/* Palette textures: a bake's texels, and rows of agents that are posed live. */
#include "render/internal.h"

static pelt_result create_set(pelt_renderer *renderer, pelt_render_palette *palette)
{
    const pelt_render_functions *vk = &renderer->vk;
    VkDevice device = renderer->device->vulkan.device;
    const VkDescriptorPoolSize size = { VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1 };
    const VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    VkResult status = vk->create_descriptor_pool(device, &pool, NULL, &palette->pool);
    if (status != VK_SUCCESS) {
        palette->pool = VK_NULL_HANDLE;
        return pelt_vulkan_fail(renderer->host, status, "vkCreateDescriptorPool");
    }
    const VkDescriptorSetAllocateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = palette->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &renderer->palette_layout,
    };
    status = vk->allocate_descriptor_sets(device, &set, &palette->set);
    if (status != VK_SUCCESS) {
        return pelt_vulkan_fail(renderer->host, status, "vkAllocateDescriptorSets");
    }
    const VkDescriptorImageInfo image = {
        .imageView = palette->image.view,
        .imageLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
    };
    const VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = palette->set,
        .descriptorCount = 1,
        .descriptorType = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
        .pImageInfo = &image,
    };
    vk->update_descriptor_sets(device, 1, &write, 0, NULL);
    return PELT_OK;
}

/* Records copies into the image; from: VK_IMAGE_LAYOUT_UNDEFINED for a new one. */
static void record_copies(const pelt_renderer *renderer, VkCommandBuffer commands, VkImage image,
                          VkImageLayout from, VkBuffer buffer, const VkBufferImageCopy *regions,
                          uint32_t region_count)
{
    const pelt_render_transition to_written = {
        .from_stage = VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT,
        .to_stage = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
        .to_access = VK_ACCESS_2_TRANSFER_WRITE_BIT,
        .from = from,
        .to = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
        .aspect = VK_IMAGE_ASPECT_COLOR_BIT,
    };
    const pelt_render_transition to_read = {
        .from_stage = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
        .from_access = VK_ACCESS_2_TRANSFER_WRITE_BIT,
        .to_stage = VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT,
        .to_access = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT,
        .from = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
        .to = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
        .aspect = VK_IMAGE_ASPECT_COLOR_BIT,
    };
    pelt_render_transition_image(renderer, commands, image, &to_written);
    renderer->vk.cmd_copy_buffer_to_image(
        commands, buffer, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, region_count, regions);
    pelt_render_transition_image(renderer, commands, image, &to_read);
}

static pelt_result upload_texels(pelt_renderer *renderer, const pelt_bake *bake, VkImage image)
{
    pelt_buffer staging;
    VkCommandBuffer commands;
    const VkBufferImageCopy region = pelt_palette_copy(bake, 0);
    pelt_result result =
        pelt_buffer_create(renderer->device, bake->size, 0, PELT_MEMORY_UPLOAD, &staging);
    if (result == PELT_OK) {
        result = pelt_buffer_upload(renderer->device, &staging, 0, bake->texels, bake->size);
    }
    if (result == PELT_OK) {
        result = pelt_commands_begin(renderer->device, &commands);
    }
    if (result == PELT_OK) {
        record_copies(renderer, commands, image, VK_IMAGE_LAYOUT_UNDEFINED, staging.buffer, &region,
                      1);
        result = pelt_commands_submit(renderer->device, commands);
    }
    pelt_buffer_destroy(renderer->device, &staging);
    return result;
}

static pelt_result create_image(pelt_renderer *renderer, const pelt_bake *bake,
                                pelt_render_palette *palette)
{
    const pelt_palette_plan *plan = &palette->plan;
    const pelt_render_image_info info = {
        .format = plan->format,
        .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
        .aspect = VK_IMAGE_ASPECT_COLOR_BIT,
        .width = plan->width,
        .height = plan->height,
        .levels = 1,
        .layers = plan->layer_count,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .array = true,
    };
    pelt_result result = pelt_render_image_create(renderer, &info, &palette->image);
    return result == PELT_OK ? upload_texels(renderer, bake, palette->image.image) : result;
}

static pelt_result upload_data(pelt_renderer *renderer, const pelt_bake *bake,
                               pelt_render_palette *palette)
{
    size_t size = pelt_crowd_data_size(bake);
    void *bytes = pelt_allocate(renderer->host, size, 1);
    if (!bytes) {
        return pelt_fail(renderer->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for clips");
    }
    pelt_crowd_data_write(bake, bytes);
    pelt_result result =
        pelt_buffer_create(renderer->device, size, 0, PELT_MEMORY_DEVICE, &palette->data);
    if (result == PELT_OK) {
        result = pelt_buffer_upload(renderer->device, &palette->data, 0, bytes, size);
    }
    pelt_release(renderer->host, bytes);
    return result;
}

static pelt_result create_pass(pelt_renderer *renderer)
{
    const pelt_crowd_pass_info info = { .vulkan = &renderer->device->vulkan };
    return renderer->crowd_pass
               ? PELT_OK
               : pelt_crowd_pass_create(renderer->host, &info, &renderer->crowd_pass);
}

pelt_result pelt_renderer_add_palette(pelt_renderer *renderer, const pelt_bake *bake,
                                      uint32_t live_count, uint32_t *out, pelt_palette_plan *plan)
{
    const VkPhysicalDeviceLimits *limits = &renderer->device->properties.limits;
    pelt_render_palette *palettes =
        pelt_render_grow(renderer->host, renderer->palettes, renderer->palette_count,
                         &renderer->palette_capacity, sizeof(*palettes));
    if (!palettes) {
        return pelt_fail(renderer->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a palette");
    }
    renderer->palettes = palettes;
    pelt_render_palette *palette = &palettes[renderer->palette_count];
    *palette = (pelt_render_palette){
        .constants = { .layout_kind = bake->layout,
                       .texels_per_joint = bake->texels_per_joint,
                       .joints_per_layer = bake->joints_per_layer < bake->joint_count
                                               ? bake->joints_per_layer
                                               : 0 },
    };
    pelt_result result =
        pelt_palette_plan_make(renderer->host, bake, live_count, limits->maxImageDimension2D,
                               limits->maxImageArrayLayers, &palette->plan);
    if (result == PELT_OK) {
        result = create_pass(renderer);
    }
    if (result == PELT_OK) {
        result = create_image(renderer, bake, palette);
    }
    if (result == PELT_OK) {
        result = upload_data(renderer, bake, palette);
    }
    if (result == PELT_OK) {
        result = create_set(renderer, palette);
    }
    if (result != PELT_OK) {
        pelt_render_palette_destroy(renderer, palette);
        return result;
    }
    if (plan) {
        *plan = palette->plan;
    }
    *out = renderer->palette_count++;
    return PELT_OK;
}

pelt_result pelt_renderer_copy_live(pelt_renderer *renderer, uint32_t palette, VkBuffer buffer,
                                    const VkBufferImageCopy *regions, uint32_t region_count)
{
    VkCommandBuffer commands;
    if (palette >= renderer->palette_count) {
        return pelt_fail(renderer->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "palette %u was not added", palette);
    }
    pelt_result result = pelt_commands_begin(renderer->device, &commands);
    if (result == PELT_OK) {
        record_copies(renderer, commands, renderer->palettes[palette].image.image,
                      VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, buffer, regions, region_count);
        result = pelt_commands_submit(renderer->device, commands);
    }
    return result;
}

void pelt_render_palette_destroy(pelt_renderer *renderer, pelt_render_palette *palette)
{
    renderer->vk.destroy_descriptor_pool(renderer->device->vulkan.device, palette->pool, NULL);
    pelt_buffer_destroy(renderer->device, &palette->data);
    pelt_render_image_destroy(renderer, &palette->image);
    *palette = (pelt_render_palette){ 0 };
}
