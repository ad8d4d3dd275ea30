/* Rays, one a pixel, by a ray-tracing pipeline. */
#include "bench/rays_internal.h"

#include <string.h>

static const uint32_t generation_code[] =
#include "rays.rgen.inc"
    ;
static const uint32_t miss_code[] =
#include "rays.rmiss.inc"
    ;
static const uint32_t hit_code[] =
#include "rays.rchit.inc"
    ;

enum { STAGES = 3, HANDLE_MAX = 64 };

/* What only tracing needs. */
typedef struct trace_functions {
    PFN_vkCreateRayTracingPipelinesKHR create_pipelines;
    PFN_vkGetRayTracingShaderGroupHandlesKHR get_handles;
    PFN_vkCmdTraceRaysKHR trace_rays;
    PFN_vkGetPhysicalDeviceProperties2 get_properties2;
} trace_functions;

static pelt_result load(const pelt_bench *bench, trace_functions *out)
{
    pelt_headless *device = bench->device;
    VkDevice handle = device->vulkan.device;
    out->create_pipelines = (PFN_vkCreateRayTracingPipelinesKHR)device->get_device_proc_addr(
        handle, "vkCreateRayTracingPipelinesKHR");
    out->get_handles = (PFN_vkGetRayTracingShaderGroupHandlesKHR)device->get_device_proc_addr(
        handle, "vkGetRayTracingShaderGroupHandlesKHR");
    out->trace_rays =
        (PFN_vkCmdTraceRaysKHR)device->get_device_proc_addr(handle, "vkCmdTraceRaysKHR");
    out->get_properties2 =
        (PFN_vkGetPhysicalDeviceProperties2)device->vulkan.get_instance_proc_addr(
            device->vulkan.instance, "vkGetPhysicalDeviceProperties2");
    if (!device->ray_tracing_pipeline || !out->create_pipelines || !out->get_handles ||
        !out->trace_rays || !out->get_properties2) {
        return pelt_fail(bench->host, PELT_ERROR_DEVICE, NULL, NULL,
                         "%s lacks VK_KHR_ray_tracing_pipeline", device->properties.deviceName);
    }
    return PELT_OK;
}

static pelt_result check_status(const pelt_bench *bench, VkResult status, const char *call)
{
    return status == VK_SUCCESS ? PELT_OK
                                : pelt_fail(bench->host, PELT_ERROR_VULKAN, NULL, NULL,
                                            "%s: VkResult %d", call, (int)status);
}

static pelt_result create_layout(pelt_bench_rays_tracer *self)
{
    const VkPushConstantRange range = { .stageFlags = VK_SHADER_STAGE_RAYGEN_BIT_KHR,
                                        .size = sizeof(pelt_bench_rays_view) };
    const VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    const pelt_bench *bench = self->bench;
    return check_status(
        bench,
        bench->vk.create_pipeline_layout(bench->device->vulkan.device, &info, NULL, &self->layout),
        "vkCreatePipelineLayout");
}

static pelt_result create_stages(const pelt_bench *bench, VkPipelineShaderStageCreateInfo *stages)
{
    const struct {
        VkShaderStageFlagBits stage;
        const uint32_t *code;
        size_t size;
    } sources[STAGES] = {
        { VK_SHADER_STAGE_RAYGEN_BIT_KHR, generation_code, sizeof(generation_code) },
        { VK_SHADER_STAGE_MISS_BIT_KHR, miss_code, sizeof(miss_code) },
        { VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR, hit_code, sizeof(hit_code) },
    };
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < STAGES; i++) {
        const VkShaderModuleCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
            .codeSize = sources[i].size,
            .pCode = sources[i].code,
        };
        stages[i] = (VkPipelineShaderStageCreateInfo){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = sources[i].stage,
            .pName = "main",
        };
        result = check_status(bench,
                              bench->vk.create_shader_module(bench->device->vulkan.device, &info,
                                                             NULL, &stages[i].module),
                              "vkCreateShaderModule");
    }
    return result;
}

static pelt_result create_pipeline(pelt_bench_rays_tracer *self, const trace_functions *vk)
{
    const pelt_bench *bench = self->bench;
    VkPipelineShaderStageCreateInfo stages[STAGES] = { 0 };
    pelt_result result = create_stages(bench, stages);
    VkRayTracingShaderGroupCreateInfoKHR groups[STAGES];
    for (uint32_t i = 0; i < STAGES; i++) {
        bool general = stages[i].stage != VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR;
        groups[i] = (VkRayTracingShaderGroupCreateInfoKHR){
            .sType = VK_STRUCTURE_TYPE_RAY_TRACING_SHADER_GROUP_CREATE_INFO_KHR,
            .type = general ? VK_RAY_TRACING_SHADER_GROUP_TYPE_GENERAL_KHR
                            : VK_RAY_TRACING_SHADER_GROUP_TYPE_TRIANGLES_HIT_GROUP_KHR,
            .generalShader = general ? i : VK_SHADER_UNUSED_KHR,
            .closestHitShader = general ? VK_SHADER_UNUSED_KHR : i,
            .anyHitShader = VK_SHADER_UNUSED_KHR,
            .intersectionShader = VK_SHADER_UNUSED_KHR,
        };
    }
    const VkRayTracingPipelineCreateInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_RAY_TRACING_PIPELINE_CREATE_INFO_KHR,
        .stageCount = STAGES,
        .pStages = stages,
        .groupCount = STAGES,
        .pGroups = groups,
        .maxPipelineRayRecursionDepth = 1,
        .layout = self->layout,
    };
    VkDevice device = bench->device->vulkan.device;
    if (result == PELT_OK) {
        result = check_status(bench,
                              vk->create_pipelines(device, VK_NULL_HANDLE, VK_NULL_HANDLE, 1, &info,
                                                   NULL, &self->pipeline),
                              "vkCreateRayTracingPipelinesKHR");
    }
    for (uint32_t i = 0; i < STAGES; i++) {
        bench->vk.destroy_shader_module(device, stages[i].module, NULL);
    }
    return result;
}

/* A region for each group. */
static pelt_result create_table(pelt_bench_rays_tracer *self, const trace_functions *vk)
{
    pelt_headless *device = self->bench->device;
    VkPhysicalDeviceRayTracingPipelinePropertiesKHR limits = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_PROPERTIES_KHR,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &limits,
    };
    vk->get_properties2(device->vulkan.physical_device, &properties);
    const size_t size = limits.shaderGroupHandleSize, base = limits.shaderGroupBaseAlignment;
    /* A region is as large as its base is aligned: enough for one handle, and a stride for one. */
    if (size > HANDLE_MAX || base < size) {
        return pelt_fail(self->bench->host, PELT_ERROR_DEVICE, NULL, NULL,
                         "shader group handles of %zu bytes", size);
    }
    unsigned char handles[STAGES * HANDLE_MAX];
    pelt_result result = check_status(
        self->bench,
        vk->get_handles(device->vulkan.device, self->pipeline, 0, STAGES, STAGES * size, handles),
        "vkGetRayTracingShaderGroupHandlesKHR");
    if (result == PELT_OK) {
        result = pelt_buffer_create(device, (STAGES + 1) * base,
                                    VK_BUFFER_USAGE_SHADER_BINDING_TABLE_BIT_KHR,
                                    PELT_MEMORY_UPLOAD, &self->table);
    }
    if (result != PELT_OK) {
        return result;
    }
    size_t first = (base - self->table.address % base) % base;
    for (size_t i = 0; i < STAGES; i++) {
        size_t at = first + i * base;
        memcpy((char *)self->table.mapped + at, handles + i * size, size);
        self->regions[i] = (VkStridedDeviceAddressRegionKHR){
            .deviceAddress = self->table.address + at,
            .stride = base,
            .size = base,
        };
    }
    return PELT_OK;
}

pelt_result pelt_bench_rays_tracer_create(const pelt_bench *bench, uint32_t width, uint32_t height,
                                          pelt_bench_rays_tracer *out)
{
    trace_functions vk;
    *out = (pelt_bench_rays_tracer){ .bench = bench, .width = width, .height = height };
    pelt_result result = load(bench, &vk);
    out->cmd_trace_rays = vk.trace_rays;
    if (result == PELT_OK) {
        result = create_layout(out);
    }
    if (result == PELT_OK) {
        result = create_pipeline(out, &vk);
    }
    if (result == PELT_OK) {
        result = create_table(out, &vk);
    }
    return result == PELT_OK
               ? pelt_buffer_create(bench->device,
                                    (size_t)width * height * sizeof(pelt_bench_rays_hit), 0,
                                    PELT_MEMORY_DEVICE, &out->hits)
               : result;
}

void pelt_bench_rays_tracer_destroy(pelt_bench_rays_tracer *tracer)
{
    const pelt_bench *bench = tracer->bench;
    VkDevice device = bench->device->vulkan.device;
    bench->vk.destroy_pipeline(device, tracer->pipeline, NULL);
    bench->vk.destroy_pipeline_layout(device, tracer->layout, NULL);
    pelt_buffer_destroy(bench->device, &tracer->table);
    pelt_buffer_destroy(bench->device, &tracer->hits);
}

void pelt_bench_rays_trace(const pelt_bench_rays_tracer *tracer, VkCommandBuffer commands,
                           const pelt_bench_rays_view *view)
{
    const pelt_bench *bench = tracer->bench;
    const VkStridedDeviceAddressRegionKHR none = { 0 };
    pelt_bench_rays_view constants = *view;
    constants.hits = tracer->hits.address;
    bench->vk.cmd_bind_pipeline(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, tracer->pipeline);
    bench->vk.cmd_push_constants(commands, tracer->layout, VK_SHADER_STAGE_RAYGEN_BIT_KHR, 0,
                                 sizeof(constants), &constants);
    tracer->cmd_trace_rays(commands, &tracer->regions[0], &tracer->regions[1], &tracer->regions[2],
                           &none, tracer->width, tracer->height, 1);
}
