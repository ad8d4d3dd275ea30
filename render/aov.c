/* Exact numbers of what pixels show: by raster here, by rays in rays.c. */
#include "render/rays.h"

#include <string.h>

static const uint32_t aov_vert[] =
#include "aov.vert.inc"
    ;
static const uint32_t aov_frag[] =
#include "aov.frag.inc"
    ;

/* Sixteen bytes a pixel each: the quarters of a pelt_aov_pixel. */
enum { TARGET_COUNT = 4, TARGET_BYTES = 16 };

_Static_assert(sizeof(pelt_aov_pixel) == TARGET_COUNT * TARGET_BYTES, "a quarter a target");

static const VkFormat formats[TARGET_COUNT] = {
    VK_FORMAT_R32G32B32A32_SFLOAT,
    VK_FORMAT_R32G32B32A32_SFLOAT,
    VK_FORMAT_R32G32B32A32_SFLOAT,
    VK_FORMAT_R32G32B32A32_UINT,
};

/* draw_block of aov_raster.glsl. */
typedef struct pelt_aov_constants {
    VkDeviceAddress vertices, previous;
    VkDeviceAddress texcoords; /* 0 without PELT_HAS_TEXCOORDS */
    VkDeviceAddress colors;    /* 0 without PELT_HAS_COLORS */
    float base_color[4];
    uint32_t flags;
    float alpha_cutoff;
    uint32_t alpha_mode, instance, part;
} pelt_aov_constants;

_Static_assert(offsetof(pelt_aov_constants, base_color) == 32, "std430 aligns a vec4 to 16");

typedef struct drawing {
    pelt_render_picture picture; /* for its frame */
    pelt_renderer *renderer;
    pelt_render_image targets[TARGET_COUNT], depth;
    pelt_buffer pixels; /* of each target, one behind the other */
    VkPipelineLayout layout;
    VkPipeline pipeline;
} drawing;

/* Fragment shaders are told their triangle where there are geometry shaders. */
static pelt_result check_device(const pelt_renderer *renderer)
{
    const pelt_headless *device = renderer->device;
    PFN_vkGetPhysicalDeviceFeatures get =
        (PFN_vkGetPhysicalDeviceFeatures)device->vulkan.get_instance_proc_addr(
            device->vulkan.instance, "vkGetPhysicalDeviceFeatures");
    VkPhysicalDeviceFeatures features = { 0 };
    if (get) {
        get(device->vulkan.physical_device, &features); /* pelt_vulkan_open enables what there is */
    }
    return features.geometryShader
               ? PELT_OK
               : pelt_fail(renderer->host, PELT_ERROR_DEVICE, NULL, NULL,
                           "%s lacks geometryShader, without which no pixel knows its triangle",
                           device->properties.deviceName);
}

static pelt_result create_images(drawing *self)
{
    pelt_renderer *renderer = self->renderer;
    pelt_render_image_info info = {
        .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
        .aspect = VK_IMAGE_ASPECT_COLOR_BIT,
        .width = renderer->width,
        .height = renderer->height,
        .levels = 1,
        .layers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
    };
    pelt_result result = PELT_OK;
    for (int i = 0; result == PELT_OK && i < TARGET_COUNT; i++) {
        info.format = formats[i];
        result = pelt_render_image_create(renderer, &info, &self->targets[i]);
    }
    if (result == PELT_OK) {
        info.format = PELT_DEPTH_FORMAT;
        info.usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
        info.aspect = VK_IMAGE_ASPECT_DEPTH_BIT;
        result = pelt_render_image_create(renderer, &info, &self->depth);
    }
    return result == PELT_OK ? pelt_buffer_create(renderer->device,
                                                  (VkDeviceSize)sizeof(pelt_aov_pixel) *
                                                      renderer->width * renderer->height,
                                                  0, PELT_MEMORY_READBACK, &self->pixels)
                             : result;
}

static pelt_result create_layout(drawing *self)
{
    pelt_renderer *renderer = self->renderer;
    const VkDescriptorSetLayout sets[] = { renderer->frame_layout, renderer->material_layout };
    const VkPushConstantRange range = { VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT,
                                        0, sizeof(pelt_aov_constants) };
    const VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 2,
        .pSetLayouts = sets,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    VkResult status = renderer->vk.create_pipeline_layout(renderer->device->vulkan.device, &info,
                                                          NULL, &self->layout);
    if (status != VK_SUCCESS) {
        self->layout = VK_NULL_HANDLE;
        return pelt_vulkan_fail(renderer->host, status, "vkCreatePipelineLayout");
    }
    return PELT_OK;
}

static pelt_result create_from(drawing *self, const VkPipelineShaderStageCreateInfo *stages)
{
    const VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = TARGET_COUNT,
        .pColorAttachmentFormats = formats,
        .depthAttachmentFormat = PELT_DEPTH_FORMAT,
    };
    const VkPipelineVertexInputStateCreateInfo vertex_input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
    };
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
    };
    const VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .scissorCount = 1,
    };
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .lineWidth = 1.0f,
    };
    const VkPipelineMultisampleStateCreateInfo multisample = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
    };
    const VkPipelineDepthStencilStateCreateInfo depth = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = VK_TRUE,
        .depthWriteEnable = VK_TRUE,
        .depthCompareOp = VK_COMPARE_OP_GREATER,
    };
    VkPipelineColorBlendAttachmentState attachments[TARGET_COUNT];
    for (int i = 0; i < TARGET_COUNT; i++) {
        attachments[i] = (VkPipelineColorBlendAttachmentState){
            .colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
                              VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT
        };
    }
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = TARGET_COUNT,
        .pAttachments = attachments,
    };
    const VkDynamicState states[] = { VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR };
    const VkPipelineDynamicStateCreateInfo dynamic = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 2,
        .pDynamicStates = states,
    };
    const VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = &rendering,
        .stageCount = 2,
        .pStages = stages,
        .pVertexInputState = &vertex_input,
        .pInputAssemblyState = &assembly,
        .pViewportState = &viewport,
        .pRasterizationState = &raster,
        .pMultisampleState = &multisample,
        .pDepthStencilState = &depth,
        .pColorBlendState = &blend,
        .pDynamicState = &dynamic,
        .layout = self->layout,
    };
    pelt_renderer *renderer = self->renderer;
    VkResult status = renderer->vk.create_graphics_pipelines(
        renderer->device->vulkan.device, VK_NULL_HANDLE, 1, &info, NULL, &self->pipeline);
    if (status != VK_SUCCESS) {
        self->pipeline = VK_NULL_HANDLE;
        return pelt_vulkan_fail(renderer->host, status, "vkCreateGraphicsPipelines");
    }
    return PELT_OK;
}

static pelt_result create_pipeline(drawing *self)
{
    pelt_renderer *renderer = self->renderer;
    VkPipelineShaderStageCreateInfo stages[2] = {
        { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
          .stage = VK_SHADER_STAGE_VERTEX_BIT,
          .pName = "main" },
        { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
          .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
          .pName = "main" },
    };
    pelt_result result = create_layout(self);
    if (result == PELT_OK) {
        result = pelt_render_module_create(renderer, aov_vert, sizeof(aov_vert), &stages[0].module);
    }
    if (result == PELT_OK) {
        result = pelt_render_module_create(renderer, aov_frag, sizeof(aov_frag), &stages[1].module);
    }
    if (result == PELT_OK) {
        result = create_from(self, stages);
    }
    renderer->vk.destroy_shader_module(renderer->device->vulkan.device, stages[0].module, NULL);
    renderer->vk.destroy_shader_module(renderer->device->vulkan.device, stages[1].module, NULL);
    return result;
}

static void record_draw(const drawing *self, const pelt_render_draw *draw)
{
    const pelt_renderer *renderer = self->renderer;
    VkCommandBuffer commands = self->picture.commands;
    const pelt_render_mesh *mesh = &renderer->meshes[draw->mesh];
    const pelt_render_material *material = &renderer->materials[draw->material];
    pelt_aov_constants constants = {
        .vertices = draw->vertices,
        .previous = draw->previous ? draw->previous : draw->vertices,
        .texcoords = mesh->texcoords,
        .colors = mesh->colors,
        .flags = mesh->flags,
        .alpha_cutoff = material->alpha_cutoff,
        .alpha_mode = material->alpha_mode,
        .instance = draw->instance,
        .part = draw->part,
    };
    memcpy(constants.base_color, material->base_color, sizeof(constants.base_color));
    renderer->vk.cmd_push_constants(commands, self->layout,
                                    VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                                    sizeof(constants), &constants);
    renderer->vk.cmd_bind_descriptor_sets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, self->layout,
                                          1, 1, &material->set, 0, NULL);
    renderer->vk.cmd_bind_index_buffer(commands, mesh->buffer.buffer, 0, VK_INDEX_TYPE_UINT32);
    renderer->vk.cmd_draw_indexed(commands, mesh->index_count, 1, 0, 0, 0);
}

static void transition_all(const drawing *self, const pelt_render_transition *transition)
{
    for (int i = 0; i < TARGET_COUNT; i++) {
        pelt_render_transition_image(self->renderer, self->picture.commands, self->targets[i].image,
                                     transition);
    }
}

static void begin(const drawing *self)
{
    const pelt_renderer *renderer = self->renderer;
    VkCommandBuffer commands = self->picture.commands;
    const VkPipelineStageFlags2 depth_stages =
        VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT;
    transition_all(self, &(pelt_render_transition){
                             .to_stage = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
                             .to_access = VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
                             .from = VK_IMAGE_LAYOUT_UNDEFINED,
                             .to = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                             .aspect = VK_IMAGE_ASPECT_COLOR_BIT,
                         });
    pelt_render_transition_image(renderer, commands, self->depth.image,
                                 &(pelt_render_transition){
                                     .to_stage = depth_stages,
                                     .to_access = VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                                                  VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT,
                                     .from = VK_IMAGE_LAYOUT_UNDEFINED,
                                     .to = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
                                     .aspect = VK_IMAGE_ASPECT_DEPTH_BIT,
                                 });
    VkRenderingAttachmentInfo colors[TARGET_COUNT];
    for (int i = 0; i < TARGET_COUNT; i++) {
        colors[i] = (VkRenderingAttachmentInfo){
            .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
            .imageView = self->targets[i].view,
            .imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
            .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
            .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        };
    }
    const VkRenderingAttachmentInfo depth = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = self->depth.view,
        .imageLayout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
    };
    const VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = { { 0, 0 }, { renderer->width, renderer->height } },
        .layerCount = 1,
        .colorAttachmentCount = TARGET_COUNT,
        .pColorAttachments = colors,
        .pDepthAttachment = &depth,
    };
    const VkViewport viewport = { 0.0f, 0.0f, (float)renderer->width, (float)renderer->height,
                                  0.0f, 1.0f };
    renderer->vk.cmd_begin_rendering(commands, &info);
    renderer->vk.cmd_set_viewport(commands, 0, 1, &viewport);
    renderer->vk.cmd_set_scissor(commands, 0, 1, &info.renderArea);
    renderer->vk.cmd_bind_pipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, self->pipeline);
    renderer->vk.cmd_bind_descriptor_sets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, self->layout,
                                          0, 1, &renderer->frame_set, 0, NULL);
}

static void record_readback(const drawing *self)
{
    const pelt_renderer *renderer = self->renderer;
    transition_all(self, &(pelt_render_transition){
                             .from_stage = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
                             .from_access = VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
                             .to_stage = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
                             .to_access = VK_ACCESS_2_TRANSFER_READ_BIT,
                             .from = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                             .to = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                             .aspect = VK_IMAGE_ASPECT_COLOR_BIT,
                         });
    for (uint32_t i = 0; i < TARGET_COUNT; i++) {
        const VkBufferImageCopy copy = {
            .bufferOffset = (VkDeviceSize)i * TARGET_BYTES * renderer->width * renderer->height,
            .imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 },
            .imageExtent = { renderer->width, renderer->height, 1 },
        };
        renderer->vk.cmd_copy_image_to_buffer(self->picture.commands, self->targets[i].image,
                                              VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                              self->pixels.buffer, 1, &copy);
    }
    const VkMemoryBarrier2 to_host = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
        .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT,
        .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT,
    };
    const VkDependencyInfo dependency = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .memoryBarrierCount = 1,
        .pMemoryBarriers = &to_host,
    };
    renderer->vk.cmd_pipeline_barrier2(self->picture.commands, &dependency);
}

static void record(const drawing *self)
{
    const pelt_render_scene *scene = self->picture.scene;
    begin(self);
    for (uint32_t i = 0; i < scene->draw_count; i++) {
        if (pelt_is_surface(self->renderer, &scene->draws[i])) {
            record_draw(self, &scene->draws[i]);
        }
    }
    self->renderer->vk.cmd_end_rendering(self->picture.commands);
    record_readback(self);
}

static pelt_result draw(drawing *self)
{
    pelt_result result = check_device(self->renderer);
    if (result == PELT_OK) {
        result = pelt_render_prepare(&self->picture);
    }
    if (result == PELT_OK) {
        result = pelt_render_check_surfaces(self->renderer, self->picture.scene);
    }
    if (result == PELT_OK) {
        result = create_images(self);
    }
    if (result == PELT_OK) {
        result = create_pipeline(self);
    }
    if (result == PELT_OK) {
        result = pelt_commands_begin(self->renderer->device, &self->picture.commands);
    }
    if (result == PELT_OK) {
        record(self);
        result = pelt_commands_submit(self->renderer->device, self->picture.commands);
    }
    return result;
}

/* Brings the quarters of each pixel together. */
static void collect(const drawing *self, pelt_aov_pixel *pixels)
{
    size_t count = (size_t)self->renderer->width * self->renderer->height;
    const char *from = self->pixels.mapped;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < TARGET_COUNT; k++) {
            memcpy((char *)&pixels[i] + k * TARGET_BYTES, from + (k * count + i) * TARGET_BYTES,
                   TARGET_BYTES);
        }
    }
}

static void fill_report(const drawing *self, pelt_render_report *report)
{
    *report = (pelt_render_report){ 0 };
    for (uint32_t i = 0; i < self->picture.scene->draw_count; i++) {
        const pelt_render_draw *drawn = &self->picture.scene->draws[i];
        if (pelt_is_surface(self->renderer, drawn)) {
            report->triangle_count += self->renderer->meshes[drawn->mesh].index_count / 3;
            report->draw_count++;
        }
    }
}

static pelt_result rasterise(pelt_renderer *renderer, const pelt_render_scene *scene,
                             pelt_aov_pixel *pixels, pelt_render_report *report)
{
    drawing *self = pelt_allocate(renderer->host, 1, sizeof(*self));
    if (!self) {
        return pelt_fail(renderer->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a picture");
    }
    self->renderer = self->picture.renderer = renderer;
    self->picture.scene = scene;
    pelt_result result = draw(self);
    if (result == PELT_OK) {
        collect(self, pixels);
        if (report) {
            fill_report(self, report);
        }
    }
    VkDevice device = renderer->device->vulkan.device;
    renderer->vk.destroy_pipeline(device, self->pipeline, NULL);
    renderer->vk.destroy_pipeline_layout(device, self->layout, NULL);
    pelt_buffer_destroy(renderer->device, &self->pixels);
    pelt_render_image_destroy(renderer, &self->depth);
    for (int i = 0; i < TARGET_COUNT; i++) {
        pelt_render_image_destroy(renderer, &self->targets[i]);
    }
    pelt_render_release_picture(&self->picture);
    pelt_release(renderer->host, self);
    return result;
}

pelt_result pelt_renderer_aov(pelt_renderer *renderer, const pelt_render_scene *scene, bool rays,
                              pelt_aov_pixel *pixels, pelt_render_report *report)
{
    return rays ? pelt_render_rays(renderer, scene, PELT_RAY_AOV, &(pelt_trace_info){ 0 }, pixels,
                                   report)
                : rasterise(renderer, scene, pixels, report);
}
