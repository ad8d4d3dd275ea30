/* Images to draw into, and pipelines that do. */
#include "bench/target.h"

#define COLOR_FORMAT VK_FORMAT_R8G8B8A8_UNORM
#define DEPTH_FORMAT VK_FORMAT_D32_SFLOAT

static const pelt_entry_point entry_points[] = {
    { "vkCreateImage", offsetof(pelt_bench_target_functions, create_image) },
    { "vkDestroyImage", offsetof(pelt_bench_target_functions, destroy_image) },
    { "vkGetImageMemoryRequirements",
      offsetof(pelt_bench_target_functions, get_image_memory_requirements) },
    { "vkAllocateMemory", offsetof(pelt_bench_target_functions, allocate_memory) },
    { "vkFreeMemory", offsetof(pelt_bench_target_functions, free_memory) },
    { "vkBindImageMemory", offsetof(pelt_bench_target_functions, bind_image_memory) },
    { "vkCreateImageView", offsetof(pelt_bench_target_functions, create_image_view) },
    { "vkDestroyImageView", offsetof(pelt_bench_target_functions, destroy_image_view) },
    { "vkCreateGraphicsPipelines",
      offsetof(pelt_bench_target_functions, create_graphics_pipelines) },
    { "vkCmdBeginRendering", offsetof(pelt_bench_target_functions, cmd_begin_rendering) },
    { "vkCmdEndRendering", offsetof(pelt_bench_target_functions, cmd_end_rendering) },
    { "vkCmdSetCullMode", offsetof(pelt_bench_target_functions, cmd_set_cull_mode) },
    { "vkCmdCopyImageToBuffer", offsetof(pelt_bench_target_functions, cmd_copy_image_to_buffer) },
};
enum { ENTRY_COUNT = sizeof(entry_points) / sizeof(entry_points[0]) };
_Static_assert(sizeof(pelt_bench_target_functions) == ENTRY_COUNT * sizeof(PFN_vkVoidFunction),
               "every function has its row");

bool pelt_bench_can_draw(const pelt_headless *device)
{
    return device->dynamic_rendering && (device->queue_flags & VK_QUEUE_GRAPHICS_BIT) != 0;
}

static VkResult allocate(const pelt_bench_target *target, pelt_bench_image *image)
{
    const pelt_headless *device = target->bench->device;
    VkMemoryRequirements needs;
    target->vk.get_image_memory_requirements(device->vulkan.device, image->image, &needs);
    uint32_t type = 0;
    for (uint32_t i = device->memory.memoryTypeCount; i-- > 0;) {
        bool local = (device->memory.memoryTypes[i].propertyFlags &
                      VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
        type = (needs.memoryTypeBits >> i & 1) != 0 && local ? i : type;
    }
    const VkMemoryAllocateInfo info = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                        .allocationSize = needs.size,
                                        .memoryTypeIndex = type };
    VkResult status =
        target->vk.allocate_memory(device->vulkan.device, &info, NULL, &image->memory);
    return status == VK_SUCCESS
               ? target->vk.bind_image_memory(device->vulkan.device, image->image, image->memory, 0)
               : status;
}

static VkImageAspectFlags aspect_of(VkFormat format)
{
    return format == DEPTH_FORMAT ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
}

pelt_result pelt_bench_image_create(const pelt_bench_target *target, VkFormat format,
                                    VkImageUsageFlags usage, uint32_t width, uint32_t height,
                                    uint32_t layers, pelt_bench_image *out)
{
    VkDevice device = target->bench->device->vulkan.device;
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
    VkResult status = target->vk.create_image(device, &info, NULL, &out->image);
    if (status == VK_SUCCESS) {
        status = allocate(target, out);
    }
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = out->image,
        .viewType = layers ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D,
        .format = format,
        .subresourceRange = { aspect_of(format), 0, 1, 0, info.arrayLayers },
    };
    if (status == VK_SUCCESS) {
        status = target->vk.create_image_view(device, &view, NULL, &out->view);
    }
    return pelt_bench_check_status(target->bench, status, "an image");
}

void pelt_bench_image_destroy(const pelt_bench_target *target, const pelt_bench_image *image)
{
    VkDevice device = target->bench->device->vulkan.device;
    target->vk.destroy_image_view(device, image->view, NULL);
    target->vk.destroy_image(device, image->image, NULL);
    target->vk.free_memory(device, image->memory, NULL);
}

static void change(const pelt_bench_target *target, VkCommandBuffer commands, VkImage image,
                   VkImageAspectFlags aspect, VkImageLayout from, VkImageLayout to)
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
    target->bench->vk.cmd_pipeline_barrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                           VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL,
                                           1, &barrier);
}

void pelt_bench_image_change(const pelt_bench_target *target, VkCommandBuffer commands,
                             VkImage image, VkImageLayout from, VkImageLayout to)
{
    change(target, commands, image, VK_IMAGE_ASPECT_COLOR_BIT, from, to);
}

pelt_result pelt_bench_target_create(pelt_bench *bench, uint32_t width, uint32_t height,
                                     pelt_bench_target *out)
{
    *out = (pelt_bench_target){ .bench = bench, .width = width, .height = height };
    pelt_headless *device = bench->device;
    VkCommandBuffer commands;
    pelt_result result =
        pelt_load_entry_points(bench->host, device->get_device_proc_addr, device->vulkan.device,
                               entry_points, ENTRY_COUNT, &out->vk);
    if (result == PELT_OK) {
        result = pelt_bench_image_create(out, COLOR_FORMAT,
                                         VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                             VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                                         width, height, 0, &out->color);
    }
    if (result == PELT_OK) {
        result =
            pelt_bench_image_create(out, DEPTH_FORMAT, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT,
                                    width, height, 0, &out->depth);
    }
    if (result == PELT_OK) {
        result = pelt_buffer_create(device, (VkDeviceSize)4 * width * height, 0,
                                    PELT_MEMORY_READBACK, &out->pixels);
    }
    if (result == PELT_OK) {
        result = pelt_commands_begin(device, &commands);
    }
    if (result == PELT_OK) {
        change(out, commands, out->color.image, VK_IMAGE_ASPECT_COLOR_BIT,
               VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
        change(out, commands, out->depth.image, VK_IMAGE_ASPECT_DEPTH_BIT,
               VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
        result = pelt_commands_submit(device, commands);
    }
    return result;
}

void pelt_bench_target_destroy(pelt_bench_target *target)
{
    if (!target->vk.cmd_copy_image_to_buffer) {
        return; /* the last that is loaded: without it there is nothing */
    }
    pelt_bench_image_destroy(target, &target->color);
    pelt_bench_image_destroy(target, &target->depth);
    pelt_buffer_destroy(target->bench->device, &target->pixels);
}

pelt_result pelt_bench_target_pipeline(const pelt_bench_target *target, VkPipelineLayout layout,
                                       const VkPipelineShaderStageCreateInfo *stages,
                                       uint32_t stage_count, VkPipeline *out)
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
    const VkViewport viewport = { 0, 0, (float)target->width, (float)target->height, 0, 1 };
    const VkRect2D scissor = { { 0, 0 }, { target->width, target->height } };
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
        .stageCount = stage_count,
        .pStages = stages,
        .pVertexInputState = &no_input,
        .pInputAssemblyState = &assembly,
        .pViewportState = &viewports,
        .pRasterizationState = &raster,
        .pMultisampleState = &samples,
        .pDepthStencilState = &depth,
        .pColorBlendState = &blend,
        .pDynamicState = &dynamic,
        .layout = layout,
    };
    return pelt_bench_check_status(
        target->bench,
        target->vk.create_graphics_pipelines(target->bench->device->vulkan.device, VK_NULL_HANDLE,
                                             1, &info, NULL, out),
        "vkCreateGraphicsPipelines");
}

void pelt_bench_target_begin(const pelt_bench_target *target, bool pixels, VkCommandBuffer commands)
{
    const VkRenderingAttachmentInfo color = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = target->color.view,
        .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
    };
    const VkRenderingAttachmentInfo depth = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = target->depth.view,
        .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .clearValue = { .depthStencil = { 1, 0 } },
    };
    const VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = { { 0, 0 }, { target->width, target->height } },
        .layerCount = 1,
        .colorAttachmentCount = 1,
        .pColorAttachments = &color,
        .pDepthAttachment = &depth,
    };
    target->vk.cmd_begin_rendering(commands, &info);
    target->vk.cmd_set_cull_mode(commands,
                                 pixels ? VK_CULL_MODE_NONE : VK_CULL_MODE_FRONT_AND_BACK);
}

void pelt_bench_target_end(const pelt_bench_target *target, VkCommandBuffer commands)
{
    target->vk.cmd_end_rendering(commands);
}

void pelt_bench_target_fetch(const pelt_bench_target *target, VkCommandBuffer commands)
{
    const VkBufferImageCopy region = {
        .imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 },
        .imageExtent = { target->width, target->height, 1 },
    };
    pelt_bench_full_barrier(target->bench, commands);
    target->vk.cmd_copy_image_to_buffer(commands, target->color.image, VK_IMAGE_LAYOUT_GENERAL,
                                        target->pixels.buffer, 1, &region);
}
