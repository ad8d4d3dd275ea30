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
    { "vkCreateDescriptorSetLayout",
      offsetof(pelt_bench_crowd_functions, create_descriptor_set_layout) },
    { "vkDestroyDescriptorSetLayout",
      offsetof(pelt_bench_crowd_functions, destroy_descriptor_set_layout) },
    { "vkCreateDescriptorPool", offsetof(pelt_bench_crowd_functions, create_descriptor_pool) },
    { "vkDestroyDescriptorPool", offsetof(pelt_bench_crowd_functions, destroy_descriptor_pool) },
    { "vkAllocateDescriptorSets", offsetof(pelt_bench_crowd_functions, allocate_descriptor_sets) },
    { "vkUpdateDescriptorSets", offsetof(pelt_bench_crowd_functions, update_descriptor_sets) },
    { "vkCmdBindDescriptorSets", offsetof(pelt_bench_crowd_functions, cmd_bind_descriptor_sets) },
    { "vkCmdBindIndexBuffer", offsetof(pelt_bench_crowd_functions, cmd_bind_index_buffer) },
    { "vkCmdDrawIndexed", offsetof(pelt_bench_crowd_functions, cmd_draw_indexed) },
    { "vkCmdDrawIndexedIndirect", offsetof(pelt_bench_crowd_functions, cmd_draw_indexed_indirect) },
    { "vkCmdCopyBufferToImage", offsetof(pelt_bench_crowd_functions, cmd_copy_buffer_to_image) },
};
enum { ENTRY_COUNT = sizeof(entry_points) / sizeof(entry_points[0]) };
_Static_assert(sizeof(pelt_bench_crowd_functions) == ENTRY_COUNT * sizeof(PFN_vkVoidFunction),
               "every function has its row");

static pelt_result load_functions(pelt_bench_crowd_data *data)
{
    const pelt_headless *device = data->bench->device;
    if (!pelt_bench_can_draw(device)) {
        return pelt_fail(data->bench->host, PELT_ERROR_DEVICE, NULL, NULL,
                         "%s lacks dynamicRendering or graphics, which the crowd is drawn with",
                         device->properties.deviceName);
    }
    return pelt_load_entry_points(data->bench->host, device->get_device_proc_addr,
                                  device->vulkan.device, entry_points, ENTRY_COUNT, &data->vk);
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
        result = pelt_bench_image_create(
            &data->target, plan.format,
            VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT, plan.width, plan.height,
            plan.layer_count, &data->palettes[form]);
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
        pelt_bench_image_change(&data->target, commands, image, VK_IMAGE_LAYOUT_UNDEFINED,
                                VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
        data->vk.cmd_copy_buffer_to_image(commands, staging.buffer, image,
                                          VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
        pelt_bench_image_change(&data->target, commands, image,
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
        result = pelt_bench_target_pipeline(&data->target, data->layout, stages, 2,
                                            &data->pipelines[form]);
        data->bench->vk.destroy_shader_module(device, stages[1].module, NULL);
    }
    data->bench->vk.destroy_shader_module(device, stages[0].module, NULL);
    return result;
}

static pelt_result create_target(pelt_bench_crowd_data *data)
{
    return pelt_bench_target_create(data->bench, data->settings->width, data->settings->height,
                                    &data->target);
}

pelt_result pelt_bench_crowd_draw_create(pelt_bench_crowd_data *data)
{
    pelt_result result = load_functions(data);
    static pelt_result (*const steps[])(pelt_bench_crowd_data *) = { create_target, create_palettes,
                                                                     create_sets, create_layout };
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
    if (!data->target.bench) {
        return; /* the first that is made: without it there is nothing */
    }
    for (int f = 0; f < PELT_BENCH_CROWD_FORM_COUNT; f++) {
        data->bench->vk.destroy_pipeline(device, data->pipelines[f], NULL);
        if (data->palettes[f].image) {
            pelt_bench_image_destroy(&data->target, &data->palettes[f]);
        }
    }
    data->bench->vk.destroy_pipeline_layout(device, data->layout, NULL);
    data->vk.destroy_descriptor_pool(device, data->pool, NULL);
    data->vk.destroy_descriptor_set_layout(device, data->set_layout, NULL);
    pelt_bench_target_destroy(&data->target);
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
    pelt_bench_target_begin(&data->target, pixels, commands);
    data->bench->vk.cmd_bind_pipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS,
                                      data->pipelines[form]);
    if (form != PELT_BENCH_CROWD_SKINNED) {
        data->vk.cmd_bind_descriptor_sets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, data->layout,
                                          0, 1, &data->sets[form], 0, NULL);
    }
    for (uint32_t p = 0; p < data->part_count; p++) {
        draw_part(data, form, p, commands);
    }
    pelt_bench_target_end(&data->target, commands);
}

pelt_result pelt_bench_crowd_picture(const pelt_bench_crowd_data *data, pelt_bench_crowd_form form,
                                     uint8_t *rgba)
{
    VkCommandBuffer commands;
    pelt_result result = pelt_commands_begin(data->bench->device, &commands);
    if (result == PELT_OK) {
        pelt_bench_crowd_draw(data, form, true, commands);
        pelt_bench_target_fetch(&data->target, commands);
        result = pelt_commands_submit(data->bench->device, commands);
    }
    if (result == PELT_OK) {
        memcpy(rgba, data->target.pixels.mapped,
               (size_t)4 * data->target.width * data->target.height);
    }
    return result;
}
