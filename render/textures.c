/* Base-colour images with their mip maps, and the materials that sample them. */
#include "render/internal.h"

#include <stdio.h>
#include <string.h>

static uint32_t level_count(uint32_t width, uint32_t height)
{
    uint32_t levels = 1;
    for (uint32_t size = width > height ? width : height; size > 1; size /= 2) {
        levels++;
    }
    return levels;
}

/* Level 0 from the staging buffer, every other from the one above it. */
static void record_upload(const pelt_renderer *renderer, VkCommandBuffer commands,
                          const pelt_buffer *staging, VkImage image, uint32_t width,
                          uint32_t height)
{
    const pelt_render_functions *vk = &renderer->vk;
    uint32_t levels = level_count(width, height);
    pelt_render_transition to_written = {
        .to_stage = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
        .to_access = VK_ACCESS_2_TRANSFER_WRITE_BIT,
        .from = VK_IMAGE_LAYOUT_UNDEFINED,
        .to = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
        .aspect = VK_IMAGE_ASPECT_COLOR_BIT,
    };
    pelt_render_transition_image(renderer, commands, image, &to_written);
    const VkBufferImageCopy copy = {
        .imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 },
        .imageExtent = { width, height, 1 },
    };
    vk->cmd_copy_buffer_to_image(commands, staging->buffer, image,
                                 VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &copy);
    for (uint32_t level = 0; level < levels; level++) {
        const pelt_render_transition to_read = {
            .from_stage = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
            .from_access = VK_ACCESS_2_TRANSFER_WRITE_BIT,
            .to_stage = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
            .to_access = VK_ACCESS_2_TRANSFER_READ_BIT,
            .from = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
            .to = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
            .aspect = VK_IMAGE_ASPECT_COLOR_BIT,
            .first_level = level,
            .level_count = 1,
        };
        pelt_render_transition_image(renderer, commands, image, &to_read);
        if (level + 1 < levels) {
            int32_t w = (int32_t)(width >> level), h = (int32_t)(height >> level);
            w = w > 1 ? w : 1;
            h = h > 1 ? h : 1;
            const VkImageBlit blit = {
                .srcSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, level, 0, 1 },
                .srcOffsets = { { 0 }, { w, h, 1 } },
                .dstSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, level + 1, 0, 1 },
                .dstOffsets = { { 0 }, { w > 1 ? w / 2 : 1, h > 1 ? h / 2 : 1, 1 } },
            };
            vk->cmd_blit_image(commands, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, image,
                               VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &blit, VK_FILTER_LINEAR);
        }
    }
    const pelt_render_transition to_sampled = {
        .from_stage = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
        .to_stage = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
        .to_access = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT,
        .from = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
        .to = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
        .aspect = VK_IMAGE_ASPECT_COLOR_BIT,
    };
    pelt_render_transition_image(renderer, commands, image, &to_sampled);
}

static pelt_result upload(pelt_renderer *renderer, const pelt_pixels *pixels,
                          pelt_render_image *out)
{
    pelt_headless *device = renderer->device;
    const pelt_render_image_info info = {
        .format = PELT_COLOR_FORMAT,
        .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                 VK_IMAGE_USAGE_SAMPLED_BIT,
        .aspect = VK_IMAGE_ASPECT_COLOR_BIT,
        .width = pixels->width,
        .height = pixels->height,
        .levels = level_count(pixels->width, pixels->height),
        .layers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
    };
    size_t size = (size_t)4 * pixels->width * pixels->height;
    pelt_buffer staging = { 0 };
    VkCommandBuffer commands;
    pelt_result result = pelt_render_image_create(renderer, &info, out);
    if (result == PELT_OK) {
        result = pelt_buffer_create(device, size, 0, PELT_MEMORY_UPLOAD, &staging);
    }
    if (result == PELT_OK) {
        memcpy(staging.mapped, pixels->rgba, size);
        result = pelt_commands_begin(device, &commands);
    }
    if (result == PELT_OK) {
        record_upload(renderer, commands, &staging, out->image, pixels->width, pixels->height);
        result = pelt_commands_submit(device, commands);
    }
    pelt_buffer_destroy(device, &staging);
    if (result != PELT_OK) {
        pelt_render_image_destroy(renderer, out);
    }
    return result;
}

pelt_result pelt_renderer_add_pixels(pelt_renderer *renderer, const pelt_pixels *pixels,
                                     uint32_t *out)
{
    uint32_t limit = renderer->device->properties.limits.maxImageDimension2D;
    if (pixels->width == 0 || pixels->height == 0) {
        return pelt_fail(renderer->host, PELT_ERROR_ARGUMENT, NULL, NULL, "an image has no pixels");
    }
    if (pixels->width > limit || pixels->height > limit) {
        return pelt_fail(renderer->host, PELT_ERROR_RANGE, NULL, NULL,
                         "an image of %u x %u; this device takes at most %u x %u", pixels->width,
                         pixels->height, limit, limit);
    }
    pelt_render_image *images =
        pelt_render_grow(renderer->host, renderer->images, renderer->image_count,
                         &renderer->image_capacity, sizeof(*images));
    if (!images) {
        return pelt_fail(renderer->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for an image");
    }
    renderer->images = images;
    pelt_result result = upload(renderer, pixels, &images[renderer->image_count]);
    if (result == PELT_OK) {
        *out = renderer->image_count - 1; /* the white one does not count */
        renderer->image_count++;
    }
    return result;
}

pelt_result pelt_render_white_image(pelt_renderer *renderer)
{
    uint8_t white[4] = { 255, 255, 255, 255 };
    const pelt_pixels pixels = { .width = 1, .height = 1, .rgba = white };
    uint32_t ignored;
    return pelt_renderer_add_pixels(renderer, &pixels, &ignored);
}

/* A host to whom a bad image is no error: a picture can do without. */
typedef struct lenient_host {
    pelt_host host;
    const pelt_host *strict;
} lenient_host;

static void *allocate_strictly(void *user, void *block, size_t size)
{
    const pelt_host *strict = ((lenient_host *)user)->strict;
    return strict->allocate(strict->user, block, size);
}

static void warn_instead(void *user, const pelt_message *message)
{
    const pelt_host *strict = ((lenient_host *)user)->strict;
    if (message->result == PELT_OK || message->result == PELT_ERROR_MEMORY) {
        strict->message(strict->user, message);
    } else {
        pelt_warn(strict, message->file, message->pointer, "%s; the image is left out",
                  message->text);
    }
}

static lenient_host make_lenient(const pelt_host *strict)
{
    lenient_host lenient = { .strict = strict };
    if (strict && strict->allocate) {
        lenient.host.allocate = allocate_strictly;
    }
    if (strict && strict->message) {
        lenient.host.message = warn_instead;
    }
    return lenient;
}

pelt_result pelt_renderer_add_image(pelt_renderer *renderer, const char *file,
                                    const pelt_model *model, uint32_t index, int32_t *out)
{
    *out = -1;
    if (index >= model->image_count) {
        return pelt_fail(renderer->host, PELT_ERROR_ARGUMENT, file, NULL,
                         "image %u of a model that has %u", index, model->image_count);
    }
    char pointer[32];
    (void)snprintf(pointer, sizeof(pointer), "/images/%u", index);
    const pelt_image *image = &model->images[index];
    lenient_host lenient = make_lenient(renderer->host);
    lenient.host.user = &lenient;
    pelt_pixels pixels;
    pelt_result result =
        pelt_image_decode(&lenient.host, file, pointer, image->bytes, image->size,
                          renderer->device->properties.limits.maxImageDimension2D, &pixels);
    if (result != PELT_OK) {
        return result == PELT_ERROR_MEMORY ? result : PELT_OK;
    }
    uint32_t number = 0;
    result = pelt_renderer_add_pixels(renderer, &pixels, &number);
    *out = result == PELT_OK ? (int32_t)number : -1;
    pelt_pixels_release(&pixels);
    return result;
}

static VkSamplerAddressMode address_mode(uint32_t wrap)
{
    switch (wrap) {
    case 33071: /* CLAMP_TO_EDGE */
        return VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    case 33648: /* MIRRORED_REPEAT */
        return VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT;
    default:
        return VK_SAMPLER_ADDRESS_MODE_REPEAT;
    }
}

static pelt_result create_sampler(pelt_renderer *renderer, const pelt_texture_sampler *sampler,
                                  VkSampler *out)
{
    enum {
        NEAREST = 9728,
        LINEAR = 9729,
        NEAREST_MIPMAP_NEAREST = 9984,
        LINEAR_MIPMAP_NEAREST = 9985,
        NEAREST_MIPMAP_LINEAR = 9986
    };
    uint32_t min = sampler->min_filter;
    bool no_mips = min == NEAREST || min == LINEAR;
    bool nearest_level = min == NEAREST_MIPMAP_NEAREST || min == LINEAR_MIPMAP_NEAREST;
    bool nearest_min =
        min == NEAREST || min == NEAREST_MIPMAP_NEAREST || min == NEAREST_MIPMAP_LINEAR;
    bool nearest_mag = sampler->mag_filter == NEAREST;
    bool anisotropic =
        renderer->anisotropy > 1.0f && !no_mips && !nearest_level && !nearest_min && !nearest_mag;
    const VkSamplerCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
        .magFilter = nearest_mag ? VK_FILTER_NEAREST : VK_FILTER_LINEAR,
        .minFilter = nearest_min ? VK_FILTER_NEAREST : VK_FILTER_LINEAR,
        .mipmapMode =
            nearest_level ? VK_SAMPLER_MIPMAP_MODE_NEAREST : VK_SAMPLER_MIPMAP_MODE_LINEAR,
        .addressModeU = address_mode(sampler->wrap_s),
        .addressModeV = address_mode(sampler->wrap_t),
        .addressModeW = VK_SAMPLER_ADDRESS_MODE_REPEAT,
        .anisotropyEnable = anisotropic,
        .maxAnisotropy = anisotropic ? renderer->anisotropy : 1.0f,
        /* 0.25 keeps the choice between the two filters, as OpenGL's tables do. */
        .maxLod = no_mips ? 0.25f : VK_LOD_CLAMP_NONE,
    };
    VkResult status =
        renderer->vk.create_sampler(renderer->device->vulkan.device, &info, NULL, out);
    if (status != VK_SUCCESS) {
        *out = VK_NULL_HANDLE;
        return pelt_vulkan_fail(renderer->host, status, "vkCreateSampler");
    }
    return PELT_OK;
}

static pelt_result create_set(pelt_renderer *renderer, pelt_render_material *material)
{
    const pelt_render_functions *vk = &renderer->vk;
    VkDevice device = renderer->device->vulkan.device;
    const VkDescriptorPoolSize size = { VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1 };
    const VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    VkResult status = vk->create_descriptor_pool(device, &pool, NULL, &material->pool);
    if (status != VK_SUCCESS) {
        material->pool = VK_NULL_HANDLE;
        return pelt_vulkan_fail(renderer->host, status, "vkCreateDescriptorPool");
    }
    const VkDescriptorSetAllocateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = material->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &renderer->material_layout,
    };
    status = vk->allocate_descriptor_sets(device, &set, &material->set);
    if (status != VK_SUCCESS) {
        return pelt_vulkan_fail(renderer->host, status, "vkAllocateDescriptorSets");
    }
    const VkDescriptorImageInfo image = {
        .sampler = material->sampler,
        .imageView = material->view,
        .imageLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
    };
    const VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = material->set,
        .descriptorCount = 1,
        .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
        .pImageInfo = &image,
    };
    vk->update_descriptor_sets(device, 1, &write, 0, NULL);
    return PELT_OK;
}

pelt_result pelt_renderer_add_material(pelt_renderer *renderer, const pelt_material *material,
                                       int32_t image, uint32_t *out)
{
    static const pelt_material gltf_default = { .base_color = { 1.0f, 1.0f, 1.0f, 1.0f },
                                                .base_color_image = -1 };
    material = material ? material : &gltf_default;
    if (image < -1 || (image >= 0 && (uint32_t)image + 1 >= renderer->image_count)) {
        return pelt_fail(renderer->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "a material with image %d of %u", image, renderer->image_count - 1);
    }
    pelt_render_material *materials =
        pelt_render_grow(renderer->host, renderer->materials, renderer->material_count,
                         &renderer->material_capacity, sizeof(*materials));
    if (!materials) {
        return pelt_fail(renderer->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a material");
    }
    renderer->materials = materials;
    pelt_render_material *added = &materials[renderer->material_count];
    *added = (pelt_render_material){
        .alpha_mode = material->alpha_mode,
        .view = renderer->images[image + 1].view,
        /* Only the shadow of a BLEND material is cut: it has one where it is mostly there. */
        .alpha_cutoff = material->alpha_mode == PELT_ALPHA_MASK ? material->alpha_cutoff : 0.5f,
    };
    memcpy(added->base_color, material->base_color, sizeof(added->base_color));
    pelt_result result = create_sampler(renderer, &material->base_color_sampler, &added->sampler);
    if (result == PELT_OK) {
        result = create_set(renderer, added);
    }
    if (result != PELT_OK) {
        pelt_render_material_destroy(renderer, added);
        return result;
    }
    *out = renderer->material_count++;
    return PELT_OK;
}

void pelt_render_material_destroy(pelt_renderer *renderer, pelt_render_material *material)
{
    VkDevice device = renderer->device->vulkan.device;
    renderer->vk.destroy_descriptor_pool(device, material->pool, NULL);
    renderer->vk.destroy_sampler(device, material->sampler, NULL);
    *material = (pelt_render_material){ 0 };
}
