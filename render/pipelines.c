/* Descriptor layouts, and a pipeline for each pass and class of topology. */
#include "render/internal.h"

static const uint32_t depth_vert[] =
#include "depth.vert.inc"
    ;
static const uint32_t depth_mask_frag[] =
#include "depth_mask.frag.inc"
    ;
static const uint32_t mesh_vert[] =
#include "mesh.vert.inc"
    ;
static const uint32_t mesh_frag[] =
#include "mesh.frag.inc"
    ;
static const uint32_t crowd_depth_vert[] =
#include "crowd_depth.vert.inc"
    ;
static const uint32_t crowd_mesh_vert[] =
#include "crowd_mesh.vert.inc"
    ;
static const uint32_t cluster_task[] =
#include "cluster.task.inc"
    ;
static const uint32_t cluster_depth_mesh[] =
#include "cluster_depth.mesh.inc"
    ;
static const uint32_t cluster_mesh_mesh[] =
#include "cluster_mesh.mesh.inc"
    ;
static const uint32_t ground_vert[] =
#include "ground.vert.inc"
    ;
static const uint32_t ground_frag[] =
#include "ground.frag.inc"
    ;
static const uint32_t sky_vert[] =
#include "sky.vert.inc"
    ;
static const uint32_t sky_frag[] =
#include "sky.frag.inc"
    ;
static const uint32_t box_vert[] =
#include "box.vert.inc"
    ;
static const uint32_t box_frag[] =
#include "box.frag.inc"
    ;

/* What tells one pass from another. */
typedef struct pass_state {
    const uint32_t *vertex;
    size_t vertex_size;
    const uint32_t *fragment; /* NULL: depth alone */
    size_t fragment_size;
    int32_t alpha_mode;
    bool shadow; /* into a shadow map; else into the picture */
    bool blend;
    bool coverage; /* alpha becomes the samples covered */
    bool write_depth;
    VkCompareOp compare;
} pass_state;

static const pass_state passes[PELT_PIPELINE_COUNT] = {
    [PELT_PIPELINE_DEPTH] = { .vertex = depth_vert,
                              .vertex_size = sizeof(depth_vert),
                              .shadow = true,
                              .write_depth = true,
                              .compare = VK_COMPARE_OP_LESS },
    [PELT_PIPELINE_DEPTH_MASK] = { .vertex = depth_vert,
                                   .vertex_size = sizeof(depth_vert),
                                   .fragment = depth_mask_frag,
                                   .fragment_size = sizeof(depth_mask_frag),
                                   .shadow = true,
                                   .write_depth = true,
                                   .compare = VK_COMPARE_OP_LESS },
    [PELT_PIPELINE_MESH] = { .vertex = mesh_vert,
                             .vertex_size = sizeof(mesh_vert),
                             .fragment = mesh_frag,
                             .fragment_size = sizeof(mesh_frag),
                             .alpha_mode = PELT_MODE_OPAQUE,
                             .write_depth = true,
                             .compare = VK_COMPARE_OP_GREATER },
    [PELT_PIPELINE_MESH_MASK] = { .vertex = mesh_vert,
                                  .vertex_size = sizeof(mesh_vert),
                                  .fragment = mesh_frag,
                                  .fragment_size = sizeof(mesh_frag),
                                  .alpha_mode = PELT_MODE_MASK,
                                  .coverage = true,
                                  .write_depth = true,
                                  .compare = VK_COMPARE_OP_GREATER },
    [PELT_PIPELINE_MESH_BLEND] = { .vertex = mesh_vert,
                                   .vertex_size = sizeof(mesh_vert),
                                   .fragment = mesh_frag,
                                   .fragment_size = sizeof(mesh_frag),
                                   .alpha_mode = PELT_MODE_BLEND,
                                   .blend = true,
                                   .compare = VK_COMPARE_OP_GREATER_OR_EQUAL },
    [PELT_PIPELINE_GROUND] = { .vertex = ground_vert,
                               .vertex_size = sizeof(ground_vert),
                               .fragment = ground_frag,
                               .fragment_size = sizeof(ground_frag),
                               .write_depth = true,
                               .compare = VK_COMPARE_OP_GREATER },
    [PELT_PIPELINE_SKY] = { .vertex = sky_vert,
                            .vertex_size = sizeof(sky_vert),
                            .fragment = sky_frag,
                            .fragment_size = sizeof(sky_frag),
                            .compare = VK_COMPARE_OP_GREATER_OR_EQUAL },
    [PELT_PIPELINE_BOX] = { .vertex = box_vert,
                            .vertex_size = sizeof(box_vert),
                            .fragment = box_frag,
                            .fragment_size = sizeof(box_frag),
                            .blend = true,
                            .compare = VK_COMPARE_OP_GREATER_OR_EQUAL },
};

static pelt_result create_set_layouts(pelt_renderer *renderer)
{
    const pelt_render_functions *vk = &renderer->vk;
    VkDevice device = renderer->device->vulkan.device;
    const VkShaderStageFlags both = renderer->vertex_stages | VK_SHADER_STAGE_FRAGMENT_BIT;
    const VkShaderStageFlags fragment = VK_SHADER_STAGE_FRAGMENT_BIT;
    const VkDescriptorType sampled = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    const VkDescriptorSetLayoutBinding bindings[] = {
        { 0, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1, both, NULL },
        { 1, sampled, 1, fragment, NULL },
        { 2, sampled, 1, fragment, NULL },
        { 3, sampled, 1, fragment, NULL },
    };
    const VkDescriptorSetLayoutBinding texture = { 0, sampled, 1, fragment, NULL };
    const VkDescriptorSetLayoutBinding palette = { 0, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1,
                                                   VK_SHADER_STAGE_VERTEX_BIT, NULL };
    VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = sizeof(bindings) / sizeof(bindings[0]),
        .pBindings = bindings,
    };
    VkResult status =
        vk->create_descriptor_set_layout(device, &info, NULL, &renderer->frame_layout);
    if (status == VK_SUCCESS) {
        info.bindingCount = 1;
        info.pBindings = &texture;
        status = vk->create_descriptor_set_layout(device, &info, NULL, &renderer->material_layout);
    }
    if (status == VK_SUCCESS) {
        info.pBindings = &palette;
        status = vk->create_descriptor_set_layout(device, &info, NULL, &renderer->palette_layout);
    }
    return status == VK_SUCCESS
               ? PELT_OK
               : pelt_vulkan_fail(renderer->host, status, "vkCreateDescriptorSetLayout");
}

/* The one set that every pass reads: frame, shadow maps. */
static pelt_result create_frame_set(pelt_renderer *renderer)
{
    const pelt_render_functions *vk = &renderer->vk;
    VkDevice device = renderer->device->vulkan.device;
    const VkDescriptorPoolSize sizes[] = {
        { VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1 },
        { VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 3 },
    };
    const VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 2,
        .pPoolSizes = sizes,
    };
    VkResult status = vk->create_descriptor_pool(device, &pool, NULL, &renderer->frame_pool);
    if (status != VK_SUCCESS) {
        return pelt_vulkan_fail(renderer->host, status, "vkCreateDescriptorPool");
    }
    const VkDescriptorSetAllocateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = renderer->frame_pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &renderer->frame_layout,
    };
    status = vk->allocate_descriptor_sets(device, &set, &renderer->frame_set);
    if (status != VK_SUCCESS) {
        return pelt_vulkan_fail(renderer->host, status, "vkAllocateDescriptorSets");
    }
    const VkDescriptorBufferInfo buffer = { renderer->frame.buffer, 0, VK_WHOLE_SIZE };
    const VkImageLayout layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    const VkDescriptorImageInfo images[] = {
        { renderer->compare_sampler, renderer->sun.view, layout },
        { renderer->depth_sampler, renderer->sun.view, layout },
        { renderer->compare_sampler, renderer->sky.view, layout },
    };
    VkWriteDescriptorSet writes[4];
    for (uint32_t i = 0; i < 4; i++) {
        writes[i] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = renderer->frame_set,
            .dstBinding = i,
            .descriptorCount = 1,
            .descriptorType = i == 0 ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
                                     : VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
            .pBufferInfo = i == 0 ? &buffer : NULL,
            .pImageInfo = i == 0 ? NULL : &images[i - 1],
        };
    }
    vk->update_descriptor_sets(device, 4, writes, 0, NULL);
    return PELT_OK;
}

pelt_result pelt_render_layouts_create(pelt_renderer *renderer)
{
    pelt_result result = create_set_layouts(renderer);
    if (result == PELT_OK) {
        result = create_frame_set(renderer);
    }
    if (result != PELT_OK) {
        return result;
    }
    const VkDescriptorSetLayout layouts[] = { renderer->frame_layout, renderer->material_layout,
                                              renderer->palette_layout };
    const VkPushConstantRange constants = { renderer->vertex_stages | VK_SHADER_STAGE_FRAGMENT_BIT,
                                            0, sizeof(pelt_draw_constants) };
    const VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 3,
        .pSetLayouts = layouts,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &constants,
    };
    VkResult status = renderer->vk.create_pipeline_layout(renderer->device->vulkan.device, &info,
                                                          NULL, &renderer->pipeline_layout);
    return status == VK_SUCCESS
               ? PELT_OK
               : pelt_vulkan_fail(renderer->host, status, "vkCreatePipelineLayout");
}

void pelt_render_layouts_destroy(pelt_renderer *renderer)
{
    const pelt_render_functions *vk = &renderer->vk;
    VkDevice device = renderer->device->vulkan.device;
    const VkPipeline *pipelines = &renderer->pipelines[0][0][0];
    for (size_t i = 0; i < sizeof(renderer->pipelines) / sizeof(*pipelines); i++) {
        vk->destroy_pipeline(device, pipelines[i], NULL);
    }
    vk->destroy_pipeline_layout(device, renderer->pipeline_layout, NULL);
    vk->destroy_descriptor_pool(device, renderer->frame_pool, NULL);
    vk->destroy_descriptor_set_layout(device, renderer->palette_layout, NULL);
    vk->destroy_descriptor_set_layout(device, renderer->material_layout, NULL);
    vk->destroy_descriptor_set_layout(device, renderer->frame_layout, NULL);
}

static VkPrimitiveTopology list_topology(pelt_render_pipeline kind, pelt_render_class topology)
{
    if (kind == PELT_PIPELINE_GROUND) {
        return VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
    }
    switch (topology) {
    case PELT_CLASS_POINTS:
        return VK_PRIMITIVE_TOPOLOGY_POINT_LIST;
    case PELT_CLASS_LINES:
        return VK_PRIMITIVE_TOPOLOGY_LINE_LIST;
    default:
        return VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    }
}

static pelt_result create_pipeline(pelt_renderer *renderer, pelt_render_pipeline kind,
                                   pelt_render_class topology,
                                   const VkPipelineShaderStageCreateInfo *stages,
                                   uint32_t stage_count, VkPipeline *out)
{
    const pass_state *pass = &passes[kind];
    const VkFormat color_format = PELT_COLOR_FORMAT;
    const VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = pass->shadow ? 0 : 1,
        .pColorAttachmentFormats = &color_format,
        .depthAttachmentFormat = pass->shadow ? PELT_SHADOW_FORMAT : PELT_DEPTH_FORMAT,
    };
    const VkPipelineVertexInputStateCreateInfo vertex_input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
    };
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = list_topology(kind, topology),
    };
    const VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .scissorCount = 1,
    };
    /* No culling: both sides are drawn. glTF's front is counter-clockwise, which is 0. */
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .polygonMode = VK_POLYGON_MODE_FILL,
        .cullMode = VK_CULL_MODE_NONE,
        .depthBiasEnable = pass->shadow && topology == PELT_CLASS_TRIANGLES,
        .depthBiasConstantFactor = 1.0f,
        .depthBiasSlopeFactor = 1.5f,
        .lineWidth = 1.0f,
    };
    const VkPipelineMultisampleStateCreateInfo multisample = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = pass->shadow ? VK_SAMPLE_COUNT_1_BIT : renderer->samples,
        .alphaToCoverageEnable = pass->coverage,
    };
    const VkPipelineDepthStencilStateCreateInfo depth = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = VK_TRUE,
        .depthWriteEnable = pass->write_depth,
        .depthCompareOp = pass->compare,
    };
    const VkPipelineColorBlendAttachmentState attachment = {
        .blendEnable = pass->blend,
        .srcColorBlendFactor = VK_BLEND_FACTOR_ONE, /* colours come multiplied by alpha */
        .dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        /* The picture stays opaque. */
        .colorWriteMask =
            VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT | VK_COLOR_COMPONENT_B_BIT,
    };
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = pass->shadow ? 0 : 1,
        .pAttachments = &attachment,
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
        .stageCount = stage_count,
        .pStages = stages,
        .pVertexInputState = &vertex_input,
        .pInputAssemblyState = &assembly,
        .pViewportState = &viewport,
        .pRasterizationState = &raster,
        .pMultisampleState = &multisample,
        .pDepthStencilState = &depth,
        .pColorBlendState = &blend,
        .pDynamicState = &dynamic,
        .layout = renderer->pipeline_layout,
    };
    VkResult status = renderer->vk.create_graphics_pipelines(renderer->device->vulkan.device,
                                                             VK_NULL_HANDLE, 1, &info, NULL, out);
    if (status != VK_SUCCESS) {
        *out = VK_NULL_HANDLE;
        return pelt_vulkan_fail(renderer->host, status, "vkCreateGraphicsPipelines");
    }
    return PELT_OK;
}

pelt_result pelt_render_module_create(pelt_renderer *renderer, const uint32_t *words, size_t size,
                                      VkShaderModule *out)
{
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = size,
        .pCode = words,
    };
    VkResult status =
        renderer->vk.create_shader_module(renderer->device->vulkan.device, &info, NULL, out);
    if (status != VK_SUCCESS) {
        *out = VK_NULL_HANDLE;
        return pelt_vulkan_fail(renderer->host, status, "vkCreateShaderModule");
    }
    return PELT_OK;
}

/* Constants of group.glsl and cluster.glsl. */
typedef struct cluster_constants {
    uint32_t lanes, size; /* the same */
    uint32_t shared_joints;
} cluster_constants;

static const VkSpecializationMapEntry cluster_entries[] = {
    { 0, offsetof(cluster_constants, lanes), sizeof(uint32_t) },
    { 1, offsetof(cluster_constants, size), sizeof(uint32_t) },
    { 4, offsetof(cluster_constants, shared_joints), sizeof(uint32_t) },
};

/* The stages of a pipeline, with modules and constants of their own. */
enum { STAGE_MAX = 3 };
typedef struct stage_list {
    VkPipelineShaderStageCreateInfo stages[STAGE_MAX];
    uint32_t count;
    cluster_constants task, mesh;
    VkSpecializationInfo task_info, mesh_info;
} stage_list;

static pelt_result add_stage(pelt_renderer *renderer, stage_list *list, VkShaderStageFlagBits stage,
                             const uint32_t *words, size_t size,
                             const VkSpecializationInfo *constants)
{
    VkPipelineShaderStageCreateInfo *added = &list->stages[list->count];
    *added = (VkPipelineShaderStageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = stage,
        .pName = "main",
        .pSpecializationInfo = constants,
    };
    pelt_result result = pelt_render_module_create(renderer, words, size, &added->module);
    list->count += result == PELT_OK;
    return result;
}

static pelt_result add_cluster_stages(pelt_renderer *renderer, const pass_state *pass,
                                      stage_list *list)
{
    list->task = (cluster_constants){ PELT_TASK_CLUSTERS, PELT_TASK_CLUSTERS, 0 };
    list->mesh = (cluster_constants){ renderer->cluster_lanes, renderer->cluster_lanes,
                                      renderer->shared_joints };
    list->task_info = (VkSpecializationInfo){ 3, cluster_entries, sizeof(list->task), &list->task };
    list->mesh_info = (VkSpecializationInfo){ 3, cluster_entries, sizeof(list->mesh), &list->mesh };
    pelt_result result = add_stage(renderer, list, VK_SHADER_STAGE_TASK_BIT_EXT, cluster_task,
                                   sizeof(cluster_task), &list->task_info);
    if (result != PELT_OK) {
        return result;
    }
    return pass->shadow
               ? add_stage(renderer, list, VK_SHADER_STAGE_MESH_BIT_EXT, cluster_depth_mesh,
                           sizeof(cluster_depth_mesh), &list->mesh_info)
               : add_stage(renderer, list, VK_SHADER_STAGE_MESH_BIT_EXT, cluster_mesh_mesh,
                           sizeof(cluster_mesh_mesh), &list->mesh_info);
}

static pelt_result add_vertex_stages(pelt_renderer *renderer, pelt_render_source source,
                                     const pass_state *pass, stage_list *list)
{
    const VkShaderStageFlagBits stage = VK_SHADER_STAGE_VERTEX_BIT;
    switch (source) {
    case PELT_SOURCE_CLUSTERS:
        return add_cluster_stages(renderer, pass, list);
    case PELT_SOURCE_PALETTE:
        return pass->shadow ? add_stage(renderer, list, stage, crowd_depth_vert,
                                        sizeof(crowd_depth_vert), NULL)
                            : add_stage(renderer, list, stage, crowd_mesh_vert,
                                        sizeof(crowd_mesh_vert), NULL);
    default:
        return add_stage(renderer, list, stage, pass->vertex, pass->vertex_size, NULL);
    }
}

pelt_result pelt_render_pipeline_get(pelt_renderer *renderer, pelt_render_source source,
                                     pelt_render_pipeline kind, pelt_render_class topology,
                                     VkPipeline *out)
{
    VkPipeline *pipeline = &renderer->pipelines[source][kind][topology];
    *out = *pipeline;
    if (*pipeline) {
        return PELT_OK;
    }
    const pass_state *pass = &passes[kind];
    const VkSpecializationMapEntry entry = { 0, 0, sizeof(pass->alpha_mode) };
    const VkSpecializationInfo constants = { 1, &entry, sizeof(pass->alpha_mode),
                                             &pass->alpha_mode };
    stage_list list = { 0 };
    pelt_result result = add_vertex_stages(renderer, source, pass, &list);
    if (result == PELT_OK && pass->fragment) {
        result = add_stage(renderer, &list, VK_SHADER_STAGE_FRAGMENT_BIT, pass->fragment,
                           pass->fragment_size, &constants);
    }
    if (result == PELT_OK) {
        result = create_pipeline(renderer, kind, topology, list.stages, list.count, pipeline);
        *out = *pipeline;
    }
    for (uint32_t i = 0; i < list.count; i++) {
        renderer->vk.destroy_shader_module(renderer->device->vulkan.device, list.stages[i].module,
                                           NULL);
    }
    return result;
}
