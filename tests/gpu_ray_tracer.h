/* Traces rays through a top level and gives back what they hit: by a ray-tracing pipeline, and
 * where the device has ray queries by these, too. */
#ifndef PELT_TESTS_GPU_RAY_TRACER_H
#define PELT_TESTS_GPU_RAY_TRACER_H

#include "tests/gpu.h"

#include <pelt/ray.h>

static const uint32_t ray_rgen[] =
#include "ray_test.rgen.inc"
    ;
static const uint32_t ray_rmiss[] =
#include "ray_test.rmiss.inc"
    ;
static const uint32_t ray_rchit[] =
#include "ray_test.rchit.inc"
    ;
static const uint32_t ray_comp[] =
#include "ray_query_test.comp.inc"
    ;

/* As in ray_test.glsl. */
typedef struct ray_record {
    float origin[3], least;
    float direction[3], most;
} ray_record;

typedef struct ray_hit {
    float distance; /* -1: none */
    uint32_t instance, geometry, triangle;
} ray_hit;

typedef struct ray_constants {
    VkDeviceAddress top_level, rays, hits;
    uint32_t count;
} ray_constants;

typedef struct ray_tracer {
    pelt_headless *device;
    PFN_vkCmdPushConstants push_constants;
    PFN_vkCmdBindPipeline bind_pipeline;
    PFN_vkCmdDispatch dispatch;
    PFN_vkCmdTraceRaysKHR trace_rays;
    PFN_vkDestroyPipeline destroy_pipeline;
    PFN_vkDestroyPipelineLayout destroy_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkPipeline query; /* VK_NULL_HANDLE: the device has no ray queries */
    pelt_buffer table;
    VkStridedDeviceAddressRegionKHR generation, miss, hit, callable;
} ray_tracer;

enum { RAY_TRACE_STAGES = VK_SHADER_STAGE_RAYGEN_BIT_KHR | VK_SHADER_STAGE_COMPUTE_BIT };

/* By which means rays are traced. */
typedef enum ray_means { RAY_PIPELINE, RAY_QUERY } ray_means;

/* A device that can trace rays, or the test is skipped. */
static inline pelt_headless *ray_device(void)
{
    pelt_headless *device = gpu_device();
    if (!device->ray_tracing_pipeline) {
        (void)printf("skipped: %s has no ray-tracing pipelines\n", device->properties.deviceName);
        skip();
    }
    return device;
}

static inline PFN_vkVoidFunction ray_function(const pelt_headless *device, const char *name)
{
    PFN_vkVoidFunction function = device->get_device_proc_addr(device->vulkan.device, name);
    assert_non_null(function);
    return function;
}

static inline VkPipelineShaderStageCreateInfo ray_stage_info(const pelt_headless *device,
                                                             VkShaderStageFlagBits stage,
                                                             const uint32_t *code, size_t size)
{
    PFN_vkCreateShaderModule create =
        (PFN_vkCreateShaderModule)ray_function(device, "vkCreateShaderModule");
    const VkShaderModuleCreateInfo info = { .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                            .codeSize = size,
                                            .pCode = code };
    VkShaderModule module;
    assert_int_equal(create(device->vulkan.device, &info, NULL, &module), VK_SUCCESS);
    return (VkPipelineShaderStageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = stage,
        .module = module,
        .pName = "main",
    };
}

static inline void ray_destroy_modules(const pelt_headless *device,
                                       const VkPipelineShaderStageCreateInfo *stages,
                                       uint32_t count)
{
    PFN_vkDestroyShaderModule destroy =
        (PFN_vkDestroyShaderModule)ray_function(device, "vkDestroyShaderModule");
    for (uint32_t i = 0; i < count; i++) {
        destroy(device->vulkan.device, stages[i].module, NULL);
    }
}

/* Handles of the three groups, each at the beginning of a region of its own. */
static inline void ray_make_table(ray_tracer *self)
{
    pelt_headless *device = self->device;
    VkPhysicalDeviceRayTracingPipelinePropertiesKHR limits = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_PROPERTIES_KHR
    };
    VkPhysicalDeviceProperties2 properties = { .sType =
                                                   VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                               .pNext = &limits };
    PFN_vkGetPhysicalDeviceProperties2 get_properties =
        (PFN_vkGetPhysicalDeviceProperties2)device->vulkan.get_instance_proc_addr(
            device->vulkan.instance, "vkGetPhysicalDeviceProperties2");
    get_properties(device->vulkan.physical_device, &properties);
    PFN_vkGetRayTracingShaderGroupHandlesKHR get_handles =
        (PFN_vkGetRayTracingShaderGroupHandlesKHR)ray_function(
            device, "vkGetRayTracingShaderGroupHandlesKHR");
    const size_t size = limits.shaderGroupHandleSize, base = limits.shaderGroupBaseAlignment;
    unsigned char handles[3 * 64];
    assert_true(size <= 64 && base % limits.shaderGroupHandleAlignment == 0 && base >= size);
    assert_int_equal(get_handles(device->vulkan.device, self->pipeline, 0, 3, 3 * size, handles),
                     VK_SUCCESS);
    assert_int_equal(pelt_buffer_create(device, 4 * base,
                                        VK_BUFFER_USAGE_SHADER_BINDING_TABLE_BIT_KHR,
                                        PELT_MEMORY_UPLOAD, &self->table),
                     PELT_OK);
    VkDeviceAddress first = (self->table.address + base - 1) / base * base;
    VkStridedDeviceAddressRegionKHR *regions[] = { &self->generation, &self->miss, &self->hit };
    for (size_t i = 0; i < 3; i++) {
        *regions[i] = (VkStridedDeviceAddressRegionKHR){ .deviceAddress = first + i * base,
                                                         .stride = base,
                                                         .size = base };
        memcpy((char *)self->table.mapped + (regions[i]->deviceAddress - self->table.address),
               handles + i * size, size);
    }
}

static inline void ray_make_pipeline(ray_tracer *self)
{
    pelt_headless *device = self->device;
    const VkPipelineShaderStageCreateInfo stages[] = {
        ray_stage_info(device, VK_SHADER_STAGE_RAYGEN_BIT_KHR, ray_rgen, sizeof(ray_rgen)),
        ray_stage_info(device, VK_SHADER_STAGE_MISS_BIT_KHR, ray_rmiss, sizeof(ray_rmiss)),
        ray_stage_info(device, VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR, ray_rchit, sizeof(ray_rchit)),
    };
    VkRayTracingShaderGroupCreateInfoKHR groups[3];
    for (uint32_t i = 0; i < 3; i++) {
        groups[i] = (VkRayTracingShaderGroupCreateInfoKHR){
            .sType = VK_STRUCTURE_TYPE_RAY_TRACING_SHADER_GROUP_CREATE_INFO_KHR,
            .type = i < 2 ? VK_RAY_TRACING_SHADER_GROUP_TYPE_GENERAL_KHR
                          : VK_RAY_TRACING_SHADER_GROUP_TYPE_TRIANGLES_HIT_GROUP_KHR,
            .generalShader = i < 2 ? i : VK_SHADER_UNUSED_KHR,
            .closestHitShader = i < 2 ? VK_SHADER_UNUSED_KHR : i,
            .anyHitShader = VK_SHADER_UNUSED_KHR,
            .intersectionShader = VK_SHADER_UNUSED_KHR,
        };
    }
    const VkRayTracingPipelineCreateInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_RAY_TRACING_PIPELINE_CREATE_INFO_KHR,
        .stageCount = 3,
        .pStages = stages,
        .groupCount = 3,
        .pGroups = groups,
        .maxPipelineRayRecursionDepth = 1,
        .layout = self->layout,
    };
    PFN_vkCreateRayTracingPipelinesKHR create =
        (PFN_vkCreateRayTracingPipelinesKHR)ray_function(device, "vkCreateRayTracingPipelinesKHR");
    assert_int_equal(create(device->vulkan.device, VK_NULL_HANDLE, VK_NULL_HANDLE, 1, &info, NULL,
                            &self->pipeline),
                     VK_SUCCESS);
    ray_destroy_modules(device, stages, 3);
    ray_make_table(self);
}

static inline void ray_make_query(ray_tracer *self)
{
    pelt_headless *device = self->device;
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = ray_stage_info(device, VK_SHADER_STAGE_COMPUTE_BIT, ray_comp, sizeof(ray_comp)),
        .layout = self->layout,
    };
    PFN_vkCreateComputePipelines create =
        (PFN_vkCreateComputePipelines)ray_function(device, "vkCreateComputePipelines");
    assert_int_equal(create(device->vulkan.device, VK_NULL_HANDLE, 1, &info, NULL, &self->query),
                     VK_SUCCESS);
    ray_destroy_modules(device, &info.stage, 1);
}

static inline void ray_tracer_open(ray_tracer *self, pelt_headless *device)
{
    *self = (ray_tracer){
        .device = device,
        .push_constants = (PFN_vkCmdPushConstants)ray_function(device, "vkCmdPushConstants"),
        .bind_pipeline = (PFN_vkCmdBindPipeline)ray_function(device, "vkCmdBindPipeline"),
        .dispatch = (PFN_vkCmdDispatch)ray_function(device, "vkCmdDispatch"),
        .trace_rays = (PFN_vkCmdTraceRaysKHR)ray_function(device, "vkCmdTraceRaysKHR"),
        .destroy_pipeline = (PFN_vkDestroyPipeline)ray_function(device, "vkDestroyPipeline"),
        .destroy_layout =
            (PFN_vkDestroyPipelineLayout)ray_function(device, "vkDestroyPipelineLayout"),
    };
    /* The miss shader names the constants, too. */
    const VkPushConstantRange range = { .stageFlags =
                                            RAY_TRACE_STAGES | VK_SHADER_STAGE_MISS_BIT_KHR,
                                        .size = sizeof(ray_constants) };
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    PFN_vkCreatePipelineLayout create =
        (PFN_vkCreatePipelineLayout)ray_function(device, "vkCreatePipelineLayout");
    assert_int_equal(create(device->vulkan.device, &layout, NULL, &self->layout), VK_SUCCESS);
    ray_make_pipeline(self);
    if (device->ray_query) {
        ray_make_query(self);
    }
}

static inline void ray_tracer_close(ray_tracer *self)
{
    if (!self->device) {
        return;
    }
    VkDevice device = self->device->vulkan.device;
    self->destroy_pipeline(device, self->pipeline, NULL);
    self->destroy_pipeline(device, self->query, NULL);
    self->destroy_layout(device, self->layout, NULL);
    pelt_buffer_destroy(self->device, &self->table);
    *self = (ray_tracer){ 0 };
}

/* The stage that traces, for barriers. */
static inline VkPipelineStageFlags ray_means_stage(ray_means means)
{
    return means == RAY_QUERY ? VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT
                              : VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR;
}

/* Records it: count rays at an address, and as many hits. */
static inline void ray_trace(const ray_tracer *self, VkCommandBuffer commands, ray_means means,
                             const ray_constants *constants)
{
    bool query = means == RAY_QUERY;
    self->bind_pipeline(
        commands, query ? VK_PIPELINE_BIND_POINT_COMPUTE : VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR,
        query ? self->query : self->pipeline);
    self->push_constants(commands, self->layout, RAY_TRACE_STAGES | VK_SHADER_STAGE_MISS_BIT_KHR, 0,
                         sizeof(*constants), constants);
    if (query) {
        self->dispatch(commands, (constants->count + 63) / 64, 1, 1);
    } else {
        self->trace_rays(commands, &self->generation, &self->miss, &self->hit, &self->callable,
                         constants->count, 1, 1);
    }
}

#endif
