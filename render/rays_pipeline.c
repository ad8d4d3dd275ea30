/* The pipelines that trace rays, their shader binding tables and descriptors. */
#include "render/rays.h"

#include <string.h>

static const uint32_t picture_rgen[] =
#include "rays_picture.rgen.inc"
    ;
static const uint32_t aov_rgen[] =
#include "rays_aov.rgen.inc"
    ;
static const uint32_t rays_rmiss[] =
#include "rays.rmiss.inc"
    ;
static const uint32_t rays_rchit[] =
#include "rays.rchit.inc"
    ;
static const uint32_t rays_rahit[] =
#include "rays.rahit.inc"
    ;

enum { GENERATION, MISS, CLOSEST_HIT, ANY_HIT, STAGE_COUNT };
enum { GROUP_COUNT = 3 }; /* of ray generation, of misses, of hits */

static const VkShaderStageFlags all_stages =
    VK_SHADER_STAGE_RAYGEN_BIT_KHR | VK_SHADER_STAGE_MISS_BIT_KHR |
    VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR | VK_SHADER_STAGE_ANY_HIT_BIT_KHR;

static pelt_result load(pelt_ray_pipeline *self)
{
    const pelt_headless *device = self->renderer->device;
    VkDevice handle = device->vulkan.device;
    PFN_vkGetDeviceProcAddr get = device->get_device_proc_addr;
    self->create_pipelines =
        (PFN_vkCreateRayTracingPipelinesKHR)get(handle, "vkCreateRayTracingPipelinesKHR");
    self->get_group_handles = (PFN_vkGetRayTracingShaderGroupHandlesKHR)get(
        handle, "vkGetRayTracingShaderGroupHandlesKHR");
    self->cmd_trace_rays = (PFN_vkCmdTraceRaysKHR)get(handle, "vkCmdTraceRaysKHR");
    return self->create_pipelines && self->get_group_handles && self->cmd_trace_rays
               ? PELT_OK
               : pelt_fail(self->renderer->host, PELT_ERROR_DEVICE, NULL, NULL,
                           "%s lacks a function of VK_KHR_ray_tracing_pipeline",
                           device->properties.deviceName);
}

static pelt_result create_layouts(pelt_ray_pipeline *self)
{
    pelt_renderer *renderer = self->renderer;
    const VkPhysicalDeviceLimits *limits = &renderer->device->properties.limits;
    uint32_t most =
        limits->maxPerStageDescriptorSamplers < limits->maxPerStageDescriptorSampledImages
            ? limits->maxPerStageDescriptorSamplers
            : limits->maxPerStageDescriptorSampledImages;
    if (renderer->material_count > most) {
        return pelt_fail(renderer->host, PELT_ERROR_RANGE, NULL, NULL,
                         "%u materials; rays on %s see at most %u", renderer->material_count,
                         renderer->device->properties.deviceName, most);
    }
    const VkDescriptorSetLayoutBinding bindings[] = {
        { 0, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1, all_stages, NULL },
        { 1, VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR, 1, all_stages, NULL },
        { 2, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, renderer->material_count, all_stages,
          NULL },
    };
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 3,
        .pBindings = bindings,
    };
    VkDevice device = renderer->device->vulkan.device;
    VkResult status =
        renderer->vk.create_descriptor_set_layout(device, &set, NULL, &self->set_layout);
    if (status != VK_SUCCESS) {
        self->set_layout = VK_NULL_HANDLE;
        return pelt_vulkan_fail(renderer->host, status, "vkCreateDescriptorSetLayout");
    }
    const VkPushConstantRange range = { all_stages, 0, sizeof(pelt_ray_constants) };
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &self->set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    status = renderer->vk.create_pipeline_layout(device, &layout, NULL, &self->layout);
    if (status != VK_SUCCESS) {
        self->layout = VK_NULL_HANDLE;
        return pelt_vulkan_fail(renderer->host, status, "vkCreatePipelineLayout");
    }
    return PELT_OK;
}

static pelt_result allocate_set(pelt_ray_pipeline *self)
{
    pelt_renderer *renderer = self->renderer;
    VkDevice device = renderer->device->vulkan.device;
    const VkDescriptorPoolSize sizes[] = {
        { VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1 },
        { VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR, 1 },
        { VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, renderer->material_count },
    };
    const VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = renderer->material_count > 0 ? 3 : 2,
        .pPoolSizes = sizes,
    };
    VkResult status = renderer->vk.create_descriptor_pool(device, &pool, NULL, &self->pool);
    if (status != VK_SUCCESS) {
        self->pool = VK_NULL_HANDLE;
        return pelt_vulkan_fail(renderer->host, status, "vkCreateDescriptorPool");
    }
    const VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = self->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &self->set_layout,
    };
    status = renderer->vk.allocate_descriptor_sets(device, &info, &self->set);
    return status == VK_SUCCESS
               ? PELT_OK
               : pelt_vulkan_fail(renderer->host, status, "vkAllocateDescriptorSets");
}

static pelt_result write_set(pelt_ray_pipeline *self, const pelt_ray_structure *top)
{
    pelt_renderer *renderer = self->renderer;
    VkDescriptorImageInfo *images =
        pelt_allocate(renderer->host, renderer->material_count, sizeof(*images));
    if (!images) {
        return pelt_fail(renderer->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for materials");
    }
    for (uint32_t i = 0; i < renderer->material_count; i++) {
        images[i] =
            (VkDescriptorImageInfo){ renderer->materials[i].sampler, renderer->materials[i].view,
                                     VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL };
    }
    const VkDescriptorBufferInfo frame = { renderer->frame.buffer, 0, VK_WHOLE_SIZE };
    const VkWriteDescriptorSetAccelerationStructureKHR structure = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET_ACCELERATION_STRUCTURE_KHR,
        .accelerationStructureCount = 1,
        .pAccelerationStructures = &top->handle,
    };
    const VkWriteDescriptorSet writes[] = {
        { .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
          .dstSet = self->set,
          .descriptorCount = 1,
          .descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
          .pBufferInfo = &frame },
        { .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
          .pNext = &structure,
          .dstSet = self->set,
          .dstBinding = 1,
          .descriptorCount = 1,
          .descriptorType = VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR },
        { .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
          .dstSet = self->set,
          .dstBinding = 2,
          .descriptorCount = renderer->material_count,
          .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
          .pImageInfo = images },
    };
    renderer->vk.update_descriptor_sets(renderer->device->vulkan.device,
                                        renderer->material_count > 0 ? 3 : 2, writes, 0, NULL);
    pelt_release(renderer->host, images);
    return PELT_OK;
}

static pelt_result create_from(pelt_ray_pipeline *self,
                               const VkPipelineShaderStageCreateInfo *stages)
{
    const VkRayTracingShaderGroupCreateInfoKHR unused = {
        .sType = VK_STRUCTURE_TYPE_RAY_TRACING_SHADER_GROUP_CREATE_INFO_KHR,
        .type = VK_RAY_TRACING_SHADER_GROUP_TYPE_GENERAL_KHR,
        .generalShader = VK_SHADER_UNUSED_KHR,
        .closestHitShader = VK_SHADER_UNUSED_KHR,
        .anyHitShader = VK_SHADER_UNUSED_KHR,
        .intersectionShader = VK_SHADER_UNUSED_KHR,
    };
    VkRayTracingShaderGroupCreateInfoKHR groups[GROUP_COUNT] = { unused, unused, unused };
    groups[0].generalShader = GENERATION;
    groups[1].generalShader = MISS;
    groups[2].type = VK_RAY_TRACING_SHADER_GROUP_TYPE_TRIANGLES_HIT_GROUP_KHR;
    groups[2].closestHitShader = CLOSEST_HIT;
    groups[2].anyHitShader = ANY_HIT;
    const VkRayTracingPipelineCreateInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_RAY_TRACING_PIPELINE_CREATE_INFO_KHR,
        .stageCount = STAGE_COUNT,
        .pStages = stages,
        .groupCount = GROUP_COUNT,
        .pGroups = groups,
        .maxPipelineRayRecursionDepth = 1,
        .layout = self->layout,
    };
    VkResult status = self->create_pipelines(self->renderer->device->vulkan.device, VK_NULL_HANDLE,
                                             VK_NULL_HANDLE, 1, &info, NULL, &self->pipeline);
    if (status != VK_SUCCESS) {
        self->pipeline = VK_NULL_HANDLE;
        return pelt_vulkan_fail(self->renderer->host, status, "vkCreateRayTracingPipelinesKHR");
    }
    return PELT_OK;
}

static pelt_result create_pipeline(pelt_ray_pipeline *self, pelt_ray_output output)
{
    pelt_renderer *renderer = self->renderer;
    bool picture = output == PELT_RAY_PICTURE;
    const struct {
        VkShaderStageFlagBits stage;
        const uint32_t *words;
        size_t size;
    } sources[STAGE_COUNT] = {
        [GENERATION] = { VK_SHADER_STAGE_RAYGEN_BIT_KHR, picture ? picture_rgen : aov_rgen,
                         picture ? sizeof(picture_rgen) : sizeof(aov_rgen) },
        [MISS] = { VK_SHADER_STAGE_MISS_BIT_KHR, rays_rmiss, sizeof(rays_rmiss) },
        [CLOSEST_HIT] = { VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR, rays_rchit, sizeof(rays_rchit) },
        [ANY_HIT] = { VK_SHADER_STAGE_ANY_HIT_BIT_KHR, rays_rahit, sizeof(rays_rahit) },
    };
    VkPipelineShaderStageCreateInfo stages[STAGE_COUNT] = { 0 };
    pelt_result result = PELT_OK;
    for (int i = 0; result == PELT_OK && i < STAGE_COUNT; i++) {
        stages[i] = (VkPipelineShaderStageCreateInfo){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = sources[i].stage,
            .pName = "main",
        };
        result = pelt_render_module_create(renderer, sources[i].words, sources[i].size,
                                           &stages[i].module);
    }
    if (result == PELT_OK) {
        result = create_from(self, stages);
    }
    for (int i = 0; i < STAGE_COUNT; i++) {
        renderer->vk.destroy_shader_module(renderer->device->vulkan.device, stages[i].module, NULL);
    }
    return result;
}

static pelt_result read_limits(const pelt_renderer *renderer,
                               VkPhysicalDeviceRayTracingPipelinePropertiesKHR *out)
{
    const pelt_vulkan *vulkan = &renderer->device->vulkan;
    PFN_vkGetPhysicalDeviceProperties2 get =
        (PFN_vkGetPhysicalDeviceProperties2)vulkan->get_instance_proc_addr(
            vulkan->instance, "vkGetPhysicalDeviceProperties2");
    if (!get) {
        return pelt_fail(renderer->host, PELT_ERROR_DEVICE, NULL, NULL,
                         "the loader has no vkGetPhysicalDeviceProperties2");
    }
    *out = (VkPhysicalDeviceRayTracingPipelinePropertiesKHR){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_PROPERTIES_KHR,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = out,
    };
    get(vulkan->physical_device, &properties);
    return PELT_OK;
}

/* A region for each group, each with one handle and aligned as the device wants it. */
static pelt_result create_table(pelt_ray_pipeline *self)
{
    pelt_renderer *renderer = self->renderer;
    VkPhysicalDeviceRayTracingPipelinePropertiesKHR limits;
    pelt_result result = read_limits(renderer, &limits);
    if (result != PELT_OK) {
        return result;
    }
    VkDeviceSize size = limits.shaderGroupHandleSize, base = limits.shaderGroupBaseAlignment;
    VkDeviceSize stride = pelt_align(size, limits.shaderGroupHandleAlignment);
    VkDeviceSize region = pelt_align(stride, base);
    char *handles = pelt_allocate(renderer->host, GROUP_COUNT, size);
    if (!handles) {
        return pelt_fail(renderer->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for handles");
    }
    VkResult status = self->get_group_handles(renderer->device->vulkan.device, self->pipeline, 0,
                                              GROUP_COUNT, GROUP_COUNT * size, handles);
    result = status == VK_SUCCESS
                 ? pelt_buffer_create(renderer->device, GROUP_COUNT * region + base - 1,
                                      VK_BUFFER_USAGE_SHADER_BINDING_TABLE_BIT_KHR,
                                      PELT_MEMORY_UPLOAD, &self->table)
                 : pelt_vulkan_fail(renderer->host, status, "vkGetRayTracingShaderGroupHandlesKHR");
    VkStridedDeviceAddressRegionKHR *regions[GROUP_COUNT] = { &self->generation, &self->miss,
                                                              &self->hit };
    VkDeviceAddress first = pelt_align(self->table.address, base);
    for (uint32_t i = 0; result == PELT_OK && i < GROUP_COUNT; i++) {
        *regions[i] = (VkStridedDeviceAddressRegionKHR){ first + i * region, stride, stride };
        memcpy((char *)self->table.mapped + (regions[i]->deviceAddress - self->table.address),
               handles + i * size, size);
    }
    pelt_release(renderer->host, handles);
    return result;
}

pelt_result pelt_ray_pipeline_create(pelt_renderer *renderer, pelt_ray_output output,
                                     const pelt_ray_structure *top, pelt_ray_pipeline *self)
{
    *self = (pelt_ray_pipeline){ .renderer = renderer };
    pelt_result result = load(self);
    if (result == PELT_OK) {
        result = create_layouts(self);
    }
    if (result == PELT_OK) {
        result = allocate_set(self);
    }
    if (result == PELT_OK) {
        result = write_set(self, top);
    }
    if (result == PELT_OK) {
        result = create_pipeline(self, output);
    }
    return result == PELT_OK ? create_table(self) : result;
}

void pelt_ray_pipeline_release(pelt_ray_pipeline *self)
{
    const pelt_render_functions *vk = &self->renderer->vk;
    VkDevice device = self->renderer->device->vulkan.device;
    pelt_buffer_destroy(self->renderer->device, &self->table);
    vk->destroy_pipeline(device, self->pipeline, NULL);
    vk->destroy_pipeline_layout(device, self->layout, NULL);
    vk->destroy_descriptor_pool(device, self->pool, NULL);
    vk->destroy_descriptor_set_layout(device, self->set_layout, NULL);
}

void pelt_ray_pipeline_record(const pelt_ray_pipeline *self, VkCommandBuffer commands,
                              const pelt_ray_constants *constants)
{
    const pelt_renderer *renderer = self->renderer;
    const VkPipelineBindPoint point = VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR;
    const VkStridedDeviceAddressRegionKHR none = { 0 };
    renderer->vk.cmd_bind_pipeline(commands, point, self->pipeline);
    renderer->vk.cmd_bind_descriptor_sets(commands, point, self->layout, 0, 1, &self->set, 0, NULL);
    renderer->vk.cmd_push_constants(commands, self->layout, all_stages, 0, sizeof(*constants),
                                    constants);
    self->cmd_trace_rays(commands, &self->generation, &self->miss, &self->hit, &none,
                         renderer->width, renderer->height, 1);
}
