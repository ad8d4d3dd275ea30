/* The pipelines of the pose pass, and recording it. */
#include "vulkan/pose_pass.h"

#include "pelt/pose_layout.h"

static const uint32_t pose_code[] =
#include "pose.comp.inc"
    ;

enum {
    SHARED_BYTES = PELT_POSE_LANES * (2 * 48 + 4),
    GROUPS_A_DIMENSION = 65535 /* what every device has */
};
_Static_assert(SHARED_BYTES <= 16384, "what every device has");

static pelt_result check_info(const pelt_host *host, const pelt_pose_pass_info *info)
{
    const pelt_vulkan *vulkan = info->vulkan;
    if (!vulkan || !vulkan->instance || !vulkan->physical_device || !vulkan->device ||
        !vulkan->get_instance_proc_addr) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "the pose pass needs an instance, a physical device, a device and "
                         "vkGetInstanceProcAddr");
    }
    return PELT_OK;
}

/* What the device must have. */
static pelt_result examine(const pelt_pose_pass *pass, const pelt_instance_functions *vk)
{
    VkPhysicalDeviceProperties properties;
    vk->get_physical_device_properties(pass->vulkan.physical_device, &properties);
    if (properties.apiVersion < VK_API_VERSION_1_2) {
        return pelt_fail(pass->host, PELT_ERROR_DEVICE, NULL, NULL,
                         "%s has Vulkan %u.%u, the pose pass needs 1.2", properties.deviceName,
                         VK_API_VERSION_MAJOR(properties.apiVersion),
                         VK_API_VERSION_MINOR(properties.apiVersion));
    }
    VkPhysicalDeviceVulkan12Features features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
    };
    VkPhysicalDeviceFeatures2 chain = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .pNext = &features,
    };
    vk->get_physical_device_features2(pass->vulkan.physical_device, &chain);
    if (!features.bufferDeviceAddress) {
        return pelt_fail(pass->host, PELT_ERROR_DEVICE, NULL, NULL,
                         "%s lacks the feature bufferDeviceAddress", properties.deviceName);
    }
    const VkPhysicalDeviceLimits *limits = &properties.limits;
    if (limits->maxComputeWorkGroupInvocations < PELT_POSE_LANES ||
        limits->maxComputeWorkGroupSize[0] < PELT_POSE_LANES ||
        limits->maxComputeSharedMemorySize < SHARED_BYTES ||
        limits->maxComputeWorkGroupCount[0] < GROUPS_A_DIMENSION ||
        limits->maxComputeWorkGroupCount[1] < GROUPS_A_DIMENSION) {
        return pelt_fail(pass->host, PELT_ERROR_DEVICE, NULL, NULL,
                         "%s has less than Vulkan's limits for compute workgroups",
                         properties.deviceName);
    }
    return PELT_OK;
}

static pelt_result create_layout(pelt_pose_pass *pass)
{
    const VkPushConstantRange range = {
        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        .size = sizeof(struct pelt_pose_constants),
    };
    const VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    VkResult status = pass->functions.create_pipeline_layout(pass->vulkan.device, &info,
                                                             pass->vulkan.allocator, &pass->layout);
    if (status != VK_SUCCESS) {
        pass->layout = VK_NULL_HANDLE;
        return pelt_vulkan_fail(pass->host, status, "vkCreatePipelineLayout");
    }
    return PELT_OK;
}

static pelt_result create_pipelines(pelt_pose_pass *pass, VkPipelineCache cache)
{
    const pelt_device_functions *vk = &pass->functions;
    const VkShaderModuleCreateInfo module_info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = sizeof(pose_code),
        .pCode = pose_code,
    };
    VkShaderModule module;
    VkResult status = vk->create_shader_module(pass->vulkan.device, &module_info,
                                               pass->vulkan.allocator, &module);
    if (status != VK_SUCCESS) {
        return pelt_vulkan_fail(pass->host, status, "vkCreateShaderModule");
    }
    /* The group's size, by both constants of pelt/group.glsl. */
    static const uint32_t values[2][2] = { { PELT_POSE_LANES, VK_FALSE },
                                           { PELT_POSE_LANES, VK_TRUE } };
    const VkSpecializationMapEntry entries[] = { { 0, 0, sizeof(uint32_t) },
                                                 { 1, 0, sizeof(uint32_t) },
                                                 { 2, sizeof(uint32_t), sizeof(VkBool32) } };
    VkSpecializationInfo specialisations[2];
    VkComputePipelineCreateInfo infos[2];
    for (uint32_t i = 0; i < 2; i++) {
        specialisations[i] = (VkSpecializationInfo){
            .mapEntryCount = 3,
            .pMapEntries = entries,
            .dataSize = sizeof(values[i]),
            .pData = values[i],
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
            .layout = pass->layout,
        };
    }
    /* Those that fail are VK_NULL_HANDLE. */
    status = vk->create_compute_pipelines(pass->vulkan.device, cache, 2, infos,
                                          pass->vulkan.allocator, pass->pipelines);
    vk->destroy_shader_module(pass->vulkan.device, module, pass->vulkan.allocator);
    return status == VK_SUCCESS ? PELT_OK
                                : pelt_vulkan_fail(pass->host, status, "vkCreateComputePipelines");
}

pelt_result pelt_pose_pass_create(const pelt_host *host, const pelt_pose_pass_info *info,
                                  pelt_pose_pass **out)
{
    *out = NULL;
    pelt_result result = check_info(host, info);
    if (result != PELT_OK) {
        return result;
    }
    pelt_instance_functions instance;
    result = pelt_load_instance_functions(host, info->vulkan->get_instance_proc_addr,
                                          info->vulkan->instance, &instance);
    if (result != PELT_OK) {
        return result;
    }
    pelt_pose_pass *pass = pelt_allocate(host, 1, sizeof(*pass));
    if (!pass) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for the pose pass");
    }
    pass->host = host;
    pass->vulkan = *info->vulkan;
    result = pelt_load_device_functions(host, instance.get_device_proc_addr, pass->vulkan.device,
                                        &pass->functions);
    if (result != PELT_OK) {
        pelt_release(host, pass);
        return result;
    }
    result = examine(pass, &instance);
    if (result != PELT_OK) {
        goto fail;
    }
    result = create_layout(pass);
    if (result != PELT_OK) {
        goto fail;
    }
    result = create_pipelines(pass, info->cache);
    if (result != PELT_OK) {
        goto fail;
    }
    *out = pass;
    return PELT_OK;
fail:
    pelt_pose_pass_destroy(pass);
    return result;
}

void pelt_pose_pass_destroy(pelt_pose_pass *pass)
{
    if (!pass) {
        return;
    }
    const pelt_device_functions *vk = &pass->functions;
    for (uint32_t i = 0; i < 2; i++) {
        vk->destroy_pipeline(pass->vulkan.device, pass->pipelines[i], pass->vulkan.allocator);
    }
    vk->destroy_pipeline_layout(pass->vulkan.device, pass->layout, pass->vulkan.allocator);
    pelt_release(pass->host, pass);
}

void pelt_cmd_pose(const pelt_pose_pass *pass, VkCommandBuffer commands,
                   const pelt_pose_tables *tables, VkDeviceAddress table, VkDeviceAddress instances,
                   VkDeviceAddress scratch, const pelt_pose_frame *frame)
{
    if (tables->group_count == 0) {
        return;
    }
    uint64_t now = (uint64_t)pelt_pose_clock(frame->now);
    const struct pelt_pose_constants constants = {
        .groups = table,
        .instances = instances,
        .scratch = scratch,
        .now_low = (uint32_t)now,
        .now_high = (uint32_t)(now >> 32),
        .count = tables->group_count,
        .frame = frame->number,
        .all = frame->all,
    };
    const pelt_device_functions *vk = &pass->functions;
    vk->cmd_bind_pipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                          pass->pipelines[!frame->no_global_multiplies]);
    vk->cmd_push_constants(commands, pass->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           sizeof(constants), &constants);
    /* In two dimensions, as square as need be. */
    uint32_t rows =
        constants.count / GROUPS_A_DIMENSION + (constants.count % GROUPS_A_DIMENSION != 0);
    uint32_t columns = constants.count / rows + (constants.count % rows != 0);
    vk->cmd_dispatch(commands, columns, rows, 1);
}
