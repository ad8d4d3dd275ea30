/* What the crowd bench draws with: images, sets, pipelines. */
#include "bench/crowd_internal.h"

#include <string.h>

static const uint32_t palette_vert[] =
#include "crowd_draw.vert.inc"
    ;
static const uint32_t skinned_vert[] =
#include "crowd_skinned.vert.inc"
    ;
static const uint32_t draw_frag[] =
#include "crowd_draw.frag.inc"
    ;

#define COLOR_FORMAT VK_FORMAT_R8G8B8A8_UNORM
#define DEPTH_FORMAT VK_FORMAT_D32_SFLOAT

/* Push constants of either vertex shader. */
typedef struct draw_constants {
    float view[16];
    VkDeviceAddress mesh; /* or vertices */
    union {
        VkDeviceAddress instances;
        uint32_t vertex_count;
    };
} draw_constants;

static const pelt_entry_point entry_points[] = {
    { "vkCreateImage", offsetof(pelt_bench_crowd_functions, create_image) },
    { "vkDestroyImage", offsetof(pelt_bench_crowd_functions, destroy_image) },
    { "vkGetImageMemoryRequirements",
      offsetof(pelt_bench_crowd_functions, get_image_memory_requirements) },
    { "vkAllocateMemory", offsetof(pelt_bench_crowd_functions, allocate_memory) },
    { "vkFreeMemory", offsetof(pelt_bench_crowd_functions, free_memory) },
    { "vkBindImageMemory", offsetof(pelt_bench_crowd_functions, bind_image_memory) },
    { "vkCreateImageView", offsetof(pelt_bench_crowd_functions, create_image_view) },
    { "vkDestroyImageView", offsetof(pelt_bench_crowd_functions, destroy_image_view) },
    { "vkCreateDescriptorSetLayout",
      offsetof(pelt_bench_crowd_functions, create_descriptor_set_layout) },
    { "vkDestroyDescriptorSetLayout",
      offsetof(pelt_bench_crowd_functions, destroy_descriptor_set_layout) },
    { "vkCreateDescriptorPool", offsetof(pelt_bench_crowd_functions, create_descriptor_pool) },
    { "vkDestroyDescriptorPool", offsetof(pelt_bench_crowd_functions, destroy_descriptor_pool) },
    { "vkAllocateDescriptorSets", offsetof(pelt_bench_crowd_functions, allocate_descriptor_sets) },
    { "vkUpdateDescriptorSets", offsetof(pelt_bench_crowd_functions, update_descriptor_sets) },
    { "vkCreateGraphicsPipelines",
      offsetof(pelt_bench_crowd_functions, create_graphics_pipelines) },
    { "vkCmdBeginRendering", offsetof(pelt_bench_crowd_functions, cmd_begin_rendering) },
    { "vkCmdEndRendering", offsetof(pelt_bench_crowd_functions, cmd_end_rendering) },
    { "vkCmdSetCullMode", offsetof(pelt_bench_crowd_functions, cmd_set_cull_mode) },
    { "vkCmdBindDescriptorSets", offsetof(pelt_bench_crowd_functions, cmd_bind_descriptor_sets) },
    { "vkCmdBindIndexBuffer", offsetof(pelt_bench_crowd_functions, cmd_bind_index_buffer) },
    { "vkCmdDrawIndexed", offsetof(pelt_bench_crowd_functions, cmd_draw_indexed) },
    { "vkCmdDrawIndexedIndirect", offsetof(pelt_bench_crowd_functions, cmd_draw_indexed_indirect) },
    { "vkCmdCopyBufferToImage", offsetof(pelt_bench_crowd_functions, cmd_copy_buffer_to_image) },
    { "vkCmdCopyImageToBuffer", offsetof(pelt_bench_crowd_functions, cmd_copy_image_to_buffer) },
};
enum { ENTRY_COUNT = sizeof(entry_points) / sizeof(entry_points[0]) };
_Static_assert(sizeof(pelt_bench_crowd_functions) == ENTRY_COUNT * sizeof(PFN_vkVoidFunction),
               "every function has its row");

static pelt_result load_functions(pelt_bench_crowd_data *data)
{
    const pelt_headless *device = data->bench->device;
    if (!device->dynamic_rendering || !(device->queue_flags & VK_QUEUE_GRAPHICS_BIT)) {
        return pelt_fail(data->bench->host, PELT_ERROR_DEVICE, NULL, NULL,
                         "%s lacks dynamicRendering or graphics, which the crowd is drawn with",
                         device->properties.deviceName);
    }
    return pelt_load_entry_points(data->bench->host, device->get_device_proc_addr,
                                  device->vulkan.device, entry_points, ENTRY_COUNT, &data->vk);
}

static VkResult allocate(const pelt_bench_crowd_data *data, pelt_bench_image *image)
{
    const pelt_headless *device = data->bench->device;
    VkMemoryRequirements needs;
    data->vk.get_image_memory_requirements(device->vulkan.device, image->image, &needs);
    uint32_t type = 0;
    for (uint32_t i = device->memory.memoryTypeCount; i-- > 0;) {
        bool local = (device->memory.memoryTypes[i].propertyFlags &
                      VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
        type = (needs.memoryTypeBits >> i & 1) != 0 && local ? i : type;
    }
    const VkMemoryAllocateInfo info = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                        .allocationSize = needs.size,
                                        .memoryTypeIndex = type };
    VkResult status = data->vk.allocate_memory(device->vulkan.device, &info, NULL, &image->memory);
    return status == VK_SUCCESS
               ? data->vk.bind_image_memory(device->vulkan.device, image->image, image->memory, 0)
               : status;
}

/* layers: 0 for a plain image. */
static pelt_result create_image(const pelt_bench_crowd_data *data, VkFormat format,
                                VkImageUsageFlags usage, uint32_t width, uint32_t height,
                                uint32_t layers, pelt_bench_image *out)
{
    VkDevice device = data->bench->device->vulkan.device;
    const VkImageAspectFlags aspect =
        format == DEPTH_FORMAT ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
    const VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = format,
        .extent = { width, height, 1 },
        .mipLevels = 1,
        .arrayLayers = layers ? layers : 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = usage,
    };
    VkResult status = data->vk.create_image(device, &info, NULL, &out->image);
    if (status == VK_SUCCESS) {
        status = allocate(data, out);
    }
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = out->image,
        .viewType = layers ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D,
        .format = format,
        .subresourceRange = { aspect, 0, 1, 0, info.arrayLayers },
    };
    if (status == VK_SUCCESS) {
        status = data->vk.create_image_view(device, &view, NULL, &out->view);
    }
    return pelt_bench_check_status(data->bench, status, "an image");
}

static void destroy_image(const pelt_bench_crowd_data *data, const pelt_bench_image *image)
{
    VkDevice device = data->bench->device->vulkan.device;
    data->vk.destroy_image_view(device, image->view, NULL);
    data->vk.destroy_image(device, image->image, NULL);
    data->vk.free_memory(device, image->memory, NULL);
}

/* Waits for everything: nothing that is measured has it inside. */
static void change_layout(const pelt_bench_crowd_data *data, VkCommandBuffer commands,
                          VkImage image, VkImageAspectFlags aspect, VkImageLayout from,
                          VkImageLayout to)
{
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = { aspect, 0, 1, 0, VK_REMAINING_ARRAY_LAYERS },
    };
    data->bench->vk.cmd_pipeline_barrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1,
                                         &barrier);
}

static pelt_result upload_palette(pelt_bench_crowd_data *data, int form)
{
    const pelt_bake *bake = data->bakes[form];
    const VkPhysicalDeviceLimits *limits = &data->bench->device->properties.limits;
    pelt_palette_plan plan;
    pelt_buffer staging = { 0 };
    VkCommandBuffer commands;
    pelt_result result =
        pelt_palette_plan_make(data->bench->host, bake, 0, limits->maxImageDimension2D,
                               limits->maxImageArrayLayers, &plan);
    if (result == PELT_OK) {
        result = create_image(data, plan.format,
                              VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                              plan.width, plan.height, plan.layer_count, &data->palettes[form]);
    }
    if (result == PELT_OK) {
        result =
            pelt_buffer_create(data->bench->device, bake->size, 0, PELT_MEMORY_UPLOAD, &staging);
    }
    if (result == PELT_OK) {
        memcpy(staging.mapped, bake->texels, bake->size);
        result = pelt_commands_begin(data->bench->device, &commands);
    }
    if (result == PELT_OK) {
        VkImage image = data->palettes[form].image;
        const VkBufferImageCopy region = pelt_palette_copy(bake, 0);
        change_layout(data, commands, image, VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_LAYOUT_UNDEFINED,
                      VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
        data->vk.cmd_copy_buffer_to_image(commands, staging.buffer, image,
                                          VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
        change_layout(data, commands, image, VK_IMAGE_ASPECT_COLOR_BIT,
                      VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                      VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
        result = pelt_commands_submit(data->bench->device, commands);
    }
    pelt_buffer_destroy(data->bench->device, &staging);
    return result;
}

static pelt_result create_palettes(pelt_bench_crowd_data *data)
{
    pelt_result result = PELT_OK;
    for (int f = PELT_BENCH_CROWD_LERP; result == PELT_OK && f <= PELT_BENCH_CROWD_BLEND; f++) {
        result = upload_palette(data, f);
    }
    return result;
}

static pelt_result create_sets(pelt_bench_crowd_data *data)
{
    VkDevice device = data->bench->device->vulkan.device;
    const VkDescriptorSetLayoutBinding binding = { 0, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1,
                                                   VK_SHADER_STAGE_VERTEX_BIT, NULL };
    const VkDescriptorSetLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding,
    };
    const VkDescriptorPoolSize size = { VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
                                        PELT_BENCH_CROWD_FORM_COUNT };
    const VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = PELT_BENCH_CROWD_FORM_COUNT,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    VkResult status =
        data->vk.create_descriptor_set_layout(device, &layout, NULL, &data->set_layout);
    if (status == VK_SUCCESS) {
        status = data->vk.create_descriptor_pool(device, &pool, NULL, &data->pool);
    }
    for (int f = PELT_BENCH_CROWD_NEAREST; status == VK_SUCCESS && f < PELT_BENCH_CROWD_FORM_COUNT;
         f++) {
        const VkDescriptorSetAllocateInfo set = {
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
            .descriptorPool = data->pool,
            .descriptorSetCount = 1,
            .pSetLayouts = &data->set_layout,
        };
        status = data->vk.allocate_descriptor_sets(device, &set, &data->sets[f]);
        const VkDescriptorImageInfo image = {
            .imageView = data->palettes[pelt_bench_crowd_palette(f)].view,
            .imageLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
        };
        const VkWriteDescriptorSet write = {
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = data->sets[f],
            .descriptorCount = 1,
            .descriptorType = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
            .pImageInfo = &image,
        };
        if (status == VK_SUCCESS) {
            data->vk.update_descriptor_sets(device, 1, &write, 0, NULL);
        }
    }
    return pelt_bench_check_status(data->bench, status, "descriptor sets");
}

static pelt_result create_layout(pelt_bench_crowd_data *data)
{
    const VkPushConstantRange range = { VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof(draw_constants) };
    const VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &data->set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    return pelt_bench_check_status(
        data->bench,
        data->bench->vk.create_pipeline_layout(data->bench->device->vulkan.device, &info, NULL,
                                               &data->layout),
        "vkCreatePipelineLayout");
}

static pelt_result create_pipeline(pelt_bench_crowd_data *data, int form,
                                   const VkPipelineShaderStageCreateInfo *stages)
{
    const VkFormat format = COLOR_FORMAT;
    const VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &format,
        .depthAttachmentFormat = DEPTH_FORMAT,
    };
    const VkPipelineVertexInputStateCreateInfo no_input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
    };
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
    };
    const VkViewport viewport = { 0, 0, (float)data->settings->width, (float)data->settings->height,
                                  0, 1 };
    const VkRect2D scissor = { { 0, 0 }, { data->settings->width, data->settings->height } };
    const VkPipelineViewportStateCreateInfo viewports = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &viewport,
        .scissorCount = 1,
        .pScissors = &scissor,
    };
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .lineWidth = 1,
    };
    const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
    };
    const VkPipelineDepthStencilStateCreateInfo depth = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = VK_TRUE,
        .depthWriteEnable = VK_TRUE,
        .depthCompareOp = VK_COMPARE_OP_LESS,
    };
    const VkPipelineColorBlendAttachmentState opaque = { .colorWriteMask = 15 };
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &opaque,
    };
    const VkDynamicState cull_mode = VK_DYNAMIC_STATE_CULL_MODE;
    const VkPipelineDynamicStateCreateInfo dynamic = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 1,
        .pDynamicStates = &cull_mode,
    };
    const VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = &rendering,
        .stageCount = 2,
        .pStages = stages,
        .pVertexInputState = &no_input,
        .pInputAssemblyState = &assembly,
        .pViewportState = &viewports,
        .pRasterizationState = &raster,
        .pMultisampleState = &samples,
        .pDepthStencilState = &depth,
        .pColorBlendState = &blend,
        .pDynamicState = &dynamic,
        .layout = data->layout,
    };
    return pelt_bench_check_status(
        data->bench,
        data->vk.create_graphics_pipelines(data->bench->device->vulkan.device, VK_NULL_HANDLE, 1,
                                           &info, NULL, &data->pipelines[form]),
        "vkCreateGraphicsPipelines");
}

static pelt_result create_form(pelt_bench_crowd_data *data, int form)
{
    VkDevice device = data->bench->device->vulkan.device;
    const pelt_bake *bake = data->bakes[pelt_bench_crowd_palette(form)]; /* NULL: of none */
    bool dual = form == PELT_BENCH_CROWD_DUAL;
    const uint32_t constants[5] = {
        bake ? bake->layout : 0,
        form == PELT_BENCH_CROWD_NEAREST         ? PELT_BAKE_NEAREST
        : form == PELT_BENCH_CROWD_BLEND || dual ? PELT_BAKE_BLEND
                                                 : PELT_BAKE_LERP,
        bake ? bake->texels_per_joint : 0,
        bake && bake->joints_per_layer < bake->joint_count ? bake->joints_per_layer : 0,
        dual ? PELT_BAKE_DUAL : PELT_BAKE_LINEAR,
    };
    const VkSpecializationMapEntry entries[5] = {
        { 0, 0, 4 }, { 1, 4, 4 }, { 2, 8, 4 }, { 3, 12, 4 }, { 4, 16, 4 }
    };
    const VkSpecializationInfo specialisation = { 5, entries, sizeof(constants), constants };
    const VkShaderModuleCreateInfo vertex = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = bake ? sizeof(palette_vert) : sizeof(skinned_vert),
        .pCode = bake ? palette_vert : skinned_vert,
    };
    const VkShaderModuleCreateInfo fragment = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = sizeof(draw_frag),
        .pCode = draw_frag,
    };
    VkPipelineShaderStageCreateInfo stages[] = {
        { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
          .stage = VK_SHADER_STAGE_VERTEX_BIT,
          .pName = "main",
          .pSpecializationInfo = bake ? &specialisation : NULL },
        { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
          .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
          .pName = "main" },
    };
    VkResult status =
        data->bench->vk.create_shader_module(device, &vertex, NULL, &stages[0].module);
    if (status != VK_SUCCESS) {
        return pelt_bench_check_status(data->bench, status, "vkCreateShaderModule");
    }
    status = data->bench->vk.create_shader_module(device, &fragment, NULL, &stages[1].module);
    pelt_result result = pelt_bench_check_status(data->bench, status, "vkCreateShaderModule");
    if (result == PELT_OK) {
        result = create_pipeline(data, form, stages);
        data->bench->vk.destroy_shader_module(device, stages[1].module, NULL);
    }
    data->bench->vk.destroy_shader_module(device, stages[0].module, NULL);
    return result;
}

static pelt_result create_attachments(pelt_bench_crowd_data *data)
{
    uint32_t width = data->settings->width, height = data->settings->height;
    pelt_result result = create_image(
        data, COLOR_FORMAT, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
        width, height, 0, &data->color);
    if (result == PELT_OK) {
        result = create_image(data, DEPTH_FORMAT, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT,
                              width, height, 0, &data->depth);
    }
    if (result == PELT_OK) {
        result = pelt_buffer_create(data->bench->device, (VkDeviceSize)4 * width * height, 0,
                                    PELT_MEMORY_READBACK, &data->pixels);
    }
    VkCommandBuffer commands;
    if (result == PELT_OK) {
        result = pelt_commands_begin(data->bench->device, &commands);
    }
    if (result == PELT_OK) {
        change_layout(data, commands, data->color.image, VK_IMAGE_ASPECT_COLOR_BIT,
                      VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
        change_layout(data, commands, data->depth.image, VK_IMAGE_ASPECT_DEPTH_BIT,
                      VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
        result = pelt_commands_submit(data->bench->device, commands);
    }
    return result;
}

pelt_result pelt_bench_crowd_draw_create(pelt_bench_crowd_data *data)
{
    pelt_result result = load_functions(data);
    static pelt_result (*const steps[])(pelt_bench_crowd_data *) = { create_palettes, create_sets,
                                                                     create_layout,
                                                                     create_attachments };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && result == PELT_OK; i++) {
        result = steps[i](data);
    }
    for (int f = PELT_BENCH_CROWD_DRAW; result == PELT_OK && f < PELT_BENCH_CROWD_FORM_COUNT; f++) {
        result = create_form(data, f);
    }
    return result;
}

void pelt_bench_crowd_draw_destroy(pelt_bench_crowd_data *data)
{
    VkDevice device = data->bench->device->vulkan.device;
    if (!data->vk.cmd_copy_image_to_buffer) {
        return; /* the last that is loaded: without it there is nothing */
    }
    for (int f = 0; f < PELT_BENCH_CROWD_FORM_COUNT; f++) {
        data->bench->vk.destroy_pipeline(device, data->pipelines[f], NULL);
        destroy_image(data, &data->palettes[f]);
    }
    data->bench->vk.destroy_pipeline_layout(device, data->layout, NULL);
    data->vk.destroy_descriptor_pool(device, data->pool, NULL);
    data->vk.destroy_descriptor_set_layout(device, data->set_layout, NULL);
    destroy_image(data, &data->color);
    destroy_image(data, &data->depth);
    pelt_buffer_destroy(data->bench->device, &data->pixels);
}

static void draw_part(const pelt_bench_crowd_data *data, pelt_bench_crowd_form form, uint32_t p,
                      VkCommandBuffer commands)
{
    const pelt_bench_crowd_part *part = &data->parts[p];
    draw_constants constants = { 0 };
    memcpy(constants.view, data->view, sizeof(constants.view));
    if (form == PELT_BENCH_CROWD_SKINNED) {
        constants.mesh = data->animated.address + part->first_vertex * sizeof(pelt_packed_vertex);
        constants.vertex_count = part->packed->vertex_count;
    } else {
        constants.mesh = data->part_meshes.address + (VkDeviceSize)p * PELT_CROWD_MESH_SIZE;
        constants.instances = data->instances.address;
    }
    data->bench->vk.cmd_push_constants(commands, data->layout, VK_SHADER_STAGE_VERTEX_BIT, 0,
                                       sizeof(constants), &constants);
    data->vk.cmd_bind_index_buffer(commands, part->indices.buffer, 0, VK_INDEX_TYPE_UINT32);
    if (form == PELT_BENCH_CROWD_SKINNED) {
        data->vk.cmd_draw_indexed(commands, part->index_count, data->settings->instances, 0, 0, 0);
    } else {
        const uint32_t size = sizeof(VkDrawIndexedIndirectCommand);
        data->vk.cmd_draw_indexed_indirect(commands, data->draws.buffer, (VkDeviceSize)p * size, 1,
                                           size);
    }
}

void pelt_bench_crowd_draw(const pelt_bench_crowd_data *data, pelt_bench_crowd_form form,
                           bool pixels, VkCommandBuffer commands)
{
    const VkRenderingAttachmentInfo color = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = data->color.view,
        .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
    };
    const VkRenderingAttachmentInfo depth = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = data->depth.view,
        .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .clearValue = { .depthStencil = { 1, 0 } },
    };
    const VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = { { 0, 0 }, { data->settings->width, data->settings->height } },
        .layerCount = 1,
        .colorAttachmentCount = 1,
        .pColorAttachments = &color,
        .pDepthAttachment = &depth,
    };
    data->vk.cmd_begin_rendering(commands, &info);
    data->bench->vk.cmd_bind_pipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS,
                                      data->pipelines[form]);
    data->vk.cmd_set_cull_mode(commands, pixels ? VK_CULL_MODE_NONE : VK_CULL_MODE_FRONT_AND_BACK);
    if (form != PELT_BENCH_CROWD_SKINNED) {
        data->vk.cmd_bind_descriptor_sets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, data->layout,
                                          0, 1, &data->sets[form], 0, NULL);
    }
    for (uint32_t p = 0; p < data->part_count; p++) {
        draw_part(data, form, p, commands);
    }
    data->vk.cmd_end_rendering(commands);
}

pelt_result pelt_bench_crowd_picture(const pelt_bench_crowd_data *data, pelt_bench_crowd_form form,
                                     uint8_t *rgba)
{
    uint32_t width = data->settings->width, height = data->settings->height;
    VkCommandBuffer commands;
    const VkBufferImageCopy region = {
        .imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 },
        .imageExtent = { width, height, 1 },
    };
    pelt_result result = pelt_commands_begin(data->bench->device, &commands);
    if (result != PELT_OK) {
        return result;
    }
    pelt_bench_crowd_draw(data, form, true, commands);
    pelt_bench_full_barrier(data->bench, commands);
    data->vk.cmd_copy_image_to_buffer(commands, data->color.image, VK_IMAGE_LAYOUT_GENERAL,
                                      data->pixels.buffer, 1, &region);
    result = pelt_commands_submit(data->bench->device, commands);
    if (result == PELT_OK) {
        memcpy(rgba, data->pixels.mapped, (size_t)4 * width * height);
    }
    return result;
}
