#include "vulkan/compute.h"

enum { GROUPS_A_DIMENSION = 65535 /* what every device has */ };

pelt_result pelt_compute_check(const pelt_host *host, const pelt_vulkan *vulkan, const char *name)
{
    if (!vulkan || !vulkan->instance || !vulkan->physical_device || !vulkan->device ||
        !vulkan->get_instance_proc_addr) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "%s needs an instance, a physical device, a device and "
                         "vkGetInstanceProcAddr",
                         name);
    }
    return PELT_OK;
}

pelt_result pelt_compute_open(const pelt_host *host, const pelt_vulkan *vulkan, const char *name,
                              pelt_compute *self, pelt_instance_functions *instance,
                              VkPhysicalDeviceProperties *properties)
{
    self->host = host;
    self->vulkan = *vulkan;
    pelt_result result = pelt_load_instance_functions(host, vulkan->get_instance_proc_addr,
                                                      vulkan->instance, instance);
    if (result == PELT_OK) {
        result = pelt_load_device_functions(host, instance->get_device_proc_addr, vulkan->device,
                                            &self->functions);
    }
    if (result != PELT_OK) {
        return result;
    }
    instance->get_physical_device_properties(vulkan->physical_device, properties);
    if (properties->apiVersion < VK_API_VERSION_1_2) {
        return pelt_fail(host, PELT_ERROR_DEVICE, NULL, NULL, "%s has Vulkan %u.%u, %s needs 1.2",
                         properties->deviceName, VK_API_VERSION_MAJOR(properties->apiVersion),
                         VK_API_VERSION_MINOR(properties->apiVersion), name);
    }
    VkPhysicalDeviceVulkan12Features features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
    };
    VkPhysicalDeviceFeatures2 chain = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .pNext = &features,
    };
    instance->get_physical_device_features2(vulkan->physical_device, &chain);
    if (!features.bufferDeviceAddress) {
        return pelt_fail(host, PELT_ERROR_DEVICE, NULL, NULL,
                         "%s lacks the feature bufferDeviceAddress", properties->deviceName);
    }
    return PELT_OK;
}

bool pelt_compute_has_groups(const VkPhysicalDeviceLimits *limits, uint32_t invocations)
{
    return limits->maxComputeWorkGroupInvocations >= invocations &&
           limits->maxComputeWorkGroupSize[0] >= invocations &&
           limits->maxComputeWorkGroupCount[0] >= GROUPS_A_DIMENSION &&
           limits->maxComputeWorkGroupCount[1] >= GROUPS_A_DIMENSION;
}

pelt_result pelt_compute_create_layout(pelt_compute *self, uint32_t constants_size)
{
    const VkPushConstantRange range = {
        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        .size = constants_size,
    };
    const VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    VkResult status = self->functions.create_pipeline_layout(self->vulkan.device, &info,
                                                             self->vulkan.allocator, &self->layout);
    if (status != VK_SUCCESS) {
        self->layout = VK_NULL_HANDLE;
        return pelt_vulkan_fail(self->host, status, "vkCreatePipelineLayout");
    }
    return PELT_OK;
}

pelt_result pelt_compute_create_pipelines(const pelt_compute *self, VkPipelineCache cache,
                                          const pelt_compute_shader *shader, const void *values,
                                          size_t value_size, uint32_t count, VkPipeline *out)
{
    const pelt_device_functions *vk = &self->functions;
    const VkShaderModuleCreateInfo module_info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = shader->code_size,
        .pCode = shader->code,
    };
    VkShaderModule module;
    VkResult status = vk->create_shader_module(self->vulkan.device, &module_info,
                                               self->vulkan.allocator, &module);
    if (status != VK_SUCCESS) {
        return pelt_vulkan_fail(self->host, status, "vkCreateShaderModule");
    }
    VkSpecializationInfo specialisations[PELT_COMPUTE_PIPELINES_MAX];
    VkComputePipelineCreateInfo infos[PELT_COMPUTE_PIPELINES_MAX];
    for (uint32_t i = 0; i < count; i++) {
        specialisations[i] = (VkSpecializationInfo){
            .mapEntryCount = shader->entry_count,
            .pMapEntries = shader->entries,
            .dataSize = value_size,
            .pData = (const char *)values + i * value_size,
        };
        infos[i] = (VkComputePipelineCreateInfo){
            .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
            .stage = {
                .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = module,
                .pName = "main",
                .pSpecializationInfo = &specialisations[i],
            },
            .layout = self->layout,
        };
    }
    status = vk->create_compute_pipelines(self->vulkan.device, cache, count, infos,
                                          self->vulkan.allocator, out);
    vk->destroy_shader_module(self->vulkan.device, module, self->vulkan.allocator);
    return status == VK_SUCCESS ? PELT_OK
                                : pelt_vulkan_fail(self->host, status, "vkCreateComputePipelines");
}

void pelt_compute_destroy(const pelt_compute *self, const VkPipeline *pipelines, uint32_t count)
{
    const pelt_device_functions *vk = &self->functions;
    if (!vk->destroy_pipeline || !vk->destroy_pipeline_layout) {
        return; /* nor created anything */
    }
    for (uint32_t i = 0; i < count; i++) {
        vk->destroy_pipeline(self->vulkan.device, pipelines[i], self->vulkan.allocator);
    }
    vk->destroy_pipeline_layout(self->vulkan.device, self->layout, self->vulkan.allocator);
}

void pelt_compute_push(const pelt_compute *self, VkCommandBuffer commands, const void *constants,
                       uint32_t size)
{
    self->functions.cmd_push_constants(commands, self->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, size,
                                       constants);
}

void pelt_compute_dispatch(const pelt_compute *self, VkCommandBuffer commands, VkPipeline pipeline,
                           uint32_t count)
{
    self->functions.cmd_bind_pipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    /* As square as need be: fewer than `rows` groups are too many. */
    uint32_t rows = count / GROUPS_A_DIMENSION + (count % GROUPS_A_DIMENSION != 0);
    uint32_t columns = count / rows + (count % rows != 0);
    self->functions.cmd_dispatch(commands, columns, rows, 1);
}

void pelt_compute_barrier(const pelt_compute *self, VkCommandBuffer commands)
{
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_READ_BIT,
    };
    self->functions.cmd_pipeline_barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0,
                                         NULL, 0, NULL);
}
