/* A renderer's life: checks, attachments, shadow maps, samplers. */
#include "render/internal.h"

static pelt_result check_device(const pelt_host *host, pelt_headless *device)
{
    if (!device->dynamic_rendering) {
        return pelt_fail(host, PELT_ERROR_DEVICE, NULL, NULL,
                         "%s lacks dynamicRendering and synchronization2 (Vulkan 1.3), which "
                         "pictures need",
                         device->properties.deviceName);
    }
    const VkPhysicalDeviceLimits *limits = &device->properties.limits;
    if (limits->maxPushConstantsSize < sizeof(pelt_draw_constants) ||
        limits->maxUniformBufferRange < sizeof(struct pelt_frame)) {
        return pelt_fail(host, PELT_ERROR_DEVICE, NULL, NULL,
                         "%s takes too few push constants or uniforms for pictures",
                         device->properties.deviceName);
    }
    if (!(device->queue_flags & VK_QUEUE_GRAPHICS_BIT)) {
        return pelt_fail(host, PELT_ERROR_DEVICE, NULL, NULL,
                         "the queue of %s does no graphics, which pictures need",
                         device->properties.deviceName);
    }
    return PELT_OK;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static pelt_result choose_size(pelt_renderer *renderer, const pelt_renderer_info *info)
{
    const VkPhysicalDeviceLimits *limits = &renderer->device->properties.limits;
    renderer->width = info->width ? info->width : 1600;
    renderer->height = info->height ? info->height : 900;
    uint32_t widest =
        smaller(limits->maxImageDimension2D,
                smaller(limits->maxFramebufferWidth, limits->maxViewportDimensions[0]));
    uint32_t highest =
        smaller(limits->maxImageDimension2D,
                smaller(limits->maxFramebufferHeight, limits->maxViewportDimensions[1]));
    if (renderer->width > widest || renderer->height > highest) {
        return pelt_fail(renderer->host, PELT_ERROR_RANGE, NULL, NULL,
                         "a picture of %u x %u; %s draws at most %u x %u", renderer->width,
                         renderer->height, renderer->device->properties.deviceName, widest,
                         highest);
    }
    uint32_t wanted = info->samples ? info->samples : 4;
    if (wanted != 1 && wanted != 2 && wanted != 4 && wanted != 8) {
        return pelt_fail(renderer->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "%u samples; 1, 2, 4 or 8 can be had", wanted);
    }
    VkSampleCountFlags has =
        limits->framebufferColorSampleCounts & limits->framebufferDepthSampleCounts;
    while (wanted > 1 && !(has & wanted)) {
        wanted /= 2;
    }
    renderer->samples = (VkSampleCountFlagBits)wanted;
    return PELT_OK;
}

/* Shadow maps as fine as the picture deserves. Software drivers take fewer of the sky's. */
static void choose_maps(pelt_renderer *renderer)
{
    const VkPhysicalDeviceLimits *limits = &renderer->device->properties.limits;
    uint32_t longer = renderer->width > renderer->height ? renderer->width : renderer->height;
    uint32_t size = 256;
    while (size < 1024 && size < longer) {
        size *= 2;
    }
    renderer->sun_size = smaller(4 * size, limits->maxImageDimension2D);
    renderer->sky_size = smaller(size, limits->maxImageDimension2D);
    renderer->sky_layers =
        smaller(renderer->device->is_software ? 40 : PELT_SKY_MAX, limits->maxImageArrayLayers);
}

static pelt_result create_attachments(pelt_renderer *renderer)
{
    pelt_render_image_info info = {
        .format = PELT_COLOR_FORMAT,
        .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
        .aspect = VK_IMAGE_ASPECT_COLOR_BIT,
        .width = renderer->width,
        .height = renderer->height,
        .levels = 1,
        .layers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
    };
    pelt_result result = pelt_render_image_create(renderer, &info, &renderer->resolved);
    if (result == PELT_OK && renderer->samples != VK_SAMPLE_COUNT_1_BIT) {
        info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
        info.samples = renderer->samples;
        result = pelt_render_image_create(renderer, &info, &renderer->color);
    }
    if (result == PELT_OK) {
        info.format = PELT_DEPTH_FORMAT;
        info.usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
        info.aspect = VK_IMAGE_ASPECT_DEPTH_BIT;
        info.samples = renderer->samples;
        result = pelt_render_image_create(renderer, &info, &renderer->depth);
    }
    if (result == PELT_OK) {
        VkDeviceSize size = (VkDeviceSize)4 * renderer->width * renderer->height;
        result = pelt_buffer_create(renderer->device, size, 0, PELT_MEMORY_READBACK,
                                    &renderer->readback);
    }
    return result;
}

static pelt_result create_maps(pelt_renderer *renderer)
{
    pelt_render_image_info info = {
        .format = PELT_SHADOW_FORMAT,
        .usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT,
        .aspect = VK_IMAGE_ASPECT_DEPTH_BIT,
        .width = renderer->sun_size,
        .height = renderer->sun_size,
        .levels = 1,
        .layers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
    };
    pelt_result result = pelt_render_image_create(renderer, &info, &renderer->sun);
    if (result == PELT_OK) {
        info.width = info.height = renderer->sky_size;
        info.layers = renderer->sky_layers;
        info.array = true;
        result = pelt_render_image_create(renderer, &info, &renderer->sky);
    }
    info.array = false;
    for (uint32_t i = 0; i < renderer->sky_layers && result == PELT_OK; i++) {
        result = pelt_render_view_create(renderer, renderer->sky.image, &info, i,
                                         &renderer->sky_views[i]);
    }
    return result;
}

static pelt_result create_samplers(pelt_renderer *renderer)
{
    pelt_headless *device = renderer->device;
    PFN_vkGetPhysicalDeviceFormatProperties get_format =
        (PFN_vkGetPhysicalDeviceFormatProperties)device->vulkan.get_instance_proc_addr(
            device->vulkan.instance, "vkGetPhysicalDeviceFormatProperties");
    PFN_vkGetPhysicalDeviceFeatures get_features =
        (PFN_vkGetPhysicalDeviceFeatures)device->vulkan.get_instance_proc_addr(
            device->vulkan.instance, "vkGetPhysicalDeviceFeatures");
    VkFormatProperties format = { 0 };
    VkPhysicalDeviceFeatures features = { 0 };
    if (get_format) {
        get_format(device->vulkan.physical_device, PELT_SHADOW_FORMAT, &format);
    }
    if (get_features) {
        get_features(device->vulkan.physical_device, &features);
    }
    /* pelt_vulkan_open enables what there is. Mesa's software driver makes NaN of a texcoord that
     * is the same all over a triangle (Mesa 25.0), as those of palette textures are. */
    float most = device->properties.limits.maxSamplerAnisotropy;
    bool usable = features.samplerAnisotropy && !device->is_software;
    renderer->anisotropy = usable ? (most < 8.0f ? most : 8.0f) : 0.0f;
    bool linear =
        (format.optimalTilingFeatures & VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT) != 0;
    /* Outside the maps everything is lit. */
    VkSamplerCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
        .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER,
        .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER,
        .addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER,
        .borderColor = VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE,
    };
    VkResult status =
        renderer->vk.create_sampler(device->vulkan.device, &info, NULL, &renderer->depth_sampler);
    if (status == VK_SUCCESS) {
        info.compareEnable = VK_TRUE;
        info.compareOp = VK_COMPARE_OP_LESS_OR_EQUAL;
        info.magFilter = info.minFilter = linear ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
        status = renderer->vk.create_sampler(device->vulkan.device, &info, NULL,
                                             &renderer->compare_sampler);
    }
    return status == VK_SUCCESS ? PELT_OK
                                : pelt_vulkan_fail(renderer->host, status, "vkCreateSampler");
}

static pelt_result create_queries(pelt_renderer *renderer)
{
    if (renderer->device->timestamp_period <= 0.0f) {
        return PELT_OK;
    }
    const VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = 3,
    };
    VkResult status = renderer->vk.create_query_pool(renderer->device->vulkan.device, &info, NULL,
                                                     &renderer->queries);
    return status == VK_SUCCESS ? PELT_OK
                                : pelt_vulkan_fail(renderer->host, status, "vkCreateQueryPool");
}

pelt_result pelt_renderer_create(const pelt_host *host, pelt_headless *device,
                                 const pelt_renderer_info *info, pelt_renderer **out)
{
    *out = NULL;
    pelt_result result = check_device(host, device);
    if (result != PELT_OK) {
        return result;
    }
    pelt_renderer *renderer = pelt_allocate(host, 1, sizeof(*renderer));
    if (!renderer) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a renderer");
    }
    renderer->host = host;
    renderer->device = device;
    result = pelt_render_load_functions(host, device, &renderer->vk);
    if (result != PELT_OK) {
        pelt_release(host, renderer); /* nothing else exists, nor could be destroyed */
        return result;
    }
    static pelt_result (*const steps[])(pelt_renderer *) = {
        create_attachments,
        create_maps,
        create_samplers,
        create_queries,
    };
    result = choose_size(renderer, info);
    choose_maps(renderer);
    if (result == PELT_OK) {
        result = pelt_render_choose_clusters(renderer, info);
    }
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && result == PELT_OK; i++) {
        result = steps[i](renderer);
    }
    if (result == PELT_OK) {
        result = pelt_buffer_create(device, sizeof(struct pelt_frame),
                                    VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, PELT_MEMORY_UPLOAD,
                                    &renderer->frame);
    }
    if (result == PELT_OK) {
        result = pelt_render_layouts_create(renderer);
    }
    if (result == PELT_OK) {
        result = pelt_render_white_image(renderer);
    }
    if (result != PELT_OK) {
        pelt_renderer_destroy(renderer);
        return result;
    }
    *out = renderer;
    return PELT_OK;
}

void pelt_renderer_destroy(pelt_renderer *renderer)
{
    if (!renderer) {
        return;
    }
    const pelt_render_functions *vk = &renderer->vk;
    VkDevice device = renderer->device->vulkan.device;
    for (uint32_t i = 0; i < renderer->mesh_count; i++) {
        pelt_buffer_destroy(renderer->device, &renderer->meshes[i].buffer);
    }
    for (uint32_t i = 0; i < renderer->material_count; i++) {
        pelt_render_material_destroy(renderer, &renderer->materials[i]);
    }
    for (uint32_t i = 0; i < renderer->image_count; i++) {
        pelt_render_image_destroy(renderer, &renderer->images[i]);
    }
    for (uint32_t i = 0; i < renderer->palette_count; i++) {
        pelt_render_palette_destroy(renderer, &renderer->palettes[i]);
    }
    pelt_crowd_pass_destroy(renderer->crowd_pass);
    pelt_release(renderer->host, renderer->palettes);
    pelt_release(renderer->host, renderer->meshes);
    pelt_release(renderer->host, renderer->materials);
    pelt_release(renderer->host, renderer->images);

    pelt_render_layouts_destroy(renderer);
    vk->destroy_query_pool(device, renderer->queries, NULL);
    vk->destroy_sampler(device, renderer->depth_sampler, NULL);
    vk->destroy_sampler(device, renderer->compare_sampler, NULL);
    for (uint32_t i = 0; i < PELT_SKY_MAX; i++) {
        vk->destroy_image_view(device, renderer->sky_views[i], NULL);
    }
    pelt_render_image_destroy(renderer, &renderer->sky);
    pelt_render_image_destroy(renderer, &renderer->sun);
    pelt_render_image_destroy(renderer, &renderer->depth);
    pelt_render_image_destroy(renderer, &renderer->color);
    pelt_render_image_destroy(renderer, &renderer->resolved);
    pelt_buffer_destroy(renderer->device, &renderer->frame);
    pelt_buffer_destroy(renderer->device, &renderer->readback);
    pelt_release(renderer->host, renderer);
}

void pelt_renderer_size(const pelt_renderer *renderer, uint32_t *width, uint32_t *height)
{
    *width = renderer->width;
    *height = renderer->height;
}
