/* The pipelines of the crowd pass, and recording it. */
#include "base/base.h"

#include "pelt/crowd_layout.h"

#include <pelt/crowd.h>
#include <string.h>

#include "vulkan/functions.h"
#include "vulkan/pose_pass.h"

static const uint32_t cull_code[] =
#include "crowd_cull.comp.inc"
    ;
static const uint32_t compact_code[] =
#include "crowd_compact.comp.inc"
    ;

enum { GROUPS_A_DIMENSION = 65535 /* what every device has */ };
_Static_assert(PELT_CROWD_WORDS * 32 == PELT_CROWD_LANES, "a bit for each");
_Static_assert((uint64_t)PELT_CROWD_MEMBERS_MAX *PELT_CROWD_MEMBER_SIZE < UINT64_C(1) << 32,
               "shaders index memory by 32 bits");
_Static_assert(sizeof(struct pelt_crowd_instance) == PELT_CROWD_INSTANCE_SIZE,
               "as the header says");

struct pelt_crowd_pass {
    const pelt_host *host;
    pelt_vulkan vulkan;
    pelt_device_functions functions;
    VkPipelineLayout layout;
    VkPipeline cull, compact;
};

static pelt_result check_info(const pelt_host *host, const pelt_crowd_pass_info *info)
{
    const pelt_vulkan *vulkan = info->vulkan;
    if (!vulkan || !vulkan->instance || !vulkan->physical_device || !vulkan->device ||
        !vulkan->get_instance_proc_addr) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "the crowd pass needs an instance, a physical device, a device and "
                         "vkGetInstanceProcAddr");
    }
    return PELT_OK;
}

/* What the device must have. */
static pelt_result examine(const pelt_crowd_pass *pass, const pelt_instance_functions *vk)
{
    VkPhysicalDeviceProperties properties;
    vk->get_physical_device_properties(pass->vulkan.physical_device, &properties);
    if (properties.apiVersion < VK_API_VERSION_1_2) {
        return pelt_fail(pass->host, PELT_ERROR_DEVICE, NULL, NULL,
                         "%s has Vulkan %u.%u, the crowd pass needs 1.2", properties.deviceName,
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
    if (limits->maxComputeWorkGroupInvocations < PELT_CROWD_LANES ||
        limits->maxComputeWorkGroupSize[0] < PELT_CROWD_LANES ||
        limits->maxPushConstantsSize < sizeof(struct pelt_crowd_constants) ||
        limits->maxComputeWorkGroupCount[0] < GROUPS_A_DIMENSION ||
        limits->maxComputeWorkGroupCount[1] < GROUPS_A_DIMENSION) {
        return pelt_fail(pass->host, PELT_ERROR_DEVICE, NULL, NULL,
                         "%s has less than Vulkan's limits for compute workgroups",
                         properties.deviceName);
    }
    return PELT_OK;
}

static pelt_result create_layout(pelt_crowd_pass *pass)
{
    const VkPushConstantRange range = {
        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        .size = sizeof(struct pelt_crowd_constants),
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

static pelt_result create_pipeline(pelt_crowd_pass *pass, VkPipelineCache cache,
                                   const uint32_t *code, size_t size, VkPipeline *out)
{
    const pelt_device_functions *vk = &pass->functions;
    const VkShaderModuleCreateInfo module_info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = size,
        .pCode = code,
    };
    VkShaderModule module;
    VkResult status = vk->create_shader_module(pass->vulkan.device, &module_info,
                                               pass->vulkan.allocator, &module);
    if (status != VK_SUCCESS) {
        return pelt_vulkan_fail(pass->host, status, "vkCreateShaderModule");
    }
    /* The group's size, by both constants of pelt/group.glsl. */
    const uint32_t lanes = PELT_CROWD_LANES;
    const VkSpecializationMapEntry entries[] = { { 0, 0, sizeof(lanes) }, { 1, 0, sizeof(lanes) } };
    const VkSpecializationInfo specialisation = {
        .mapEntryCount = 2,
        .pMapEntries = entries,
        .dataSize = sizeof(lanes),
        .pData = &lanes,
    };
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = VK_SHADER_STAGE_COMPUTE_BIT,
            .module = module,
            .pName = "main",
            .pSpecializationInfo = &specialisation,
        },
        .layout = pass->layout,
    };
    status = vk->create_compute_pipelines(pass->vulkan.device, cache, 1, &info,
                                          pass->vulkan.allocator, out);
    vk->destroy_shader_module(pass->vulkan.device, module, pass->vulkan.allocator);
    return status == VK_SUCCESS ? PELT_OK
                                : pelt_vulkan_fail(pass->host, status, "vkCreateComputePipelines");
}

pelt_result pelt_crowd_pass_create(const pelt_host *host, const pelt_crowd_pass_info *info,
                                   pelt_crowd_pass **out)
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
    pelt_crowd_pass *pass = pelt_allocate(host, 1, sizeof(*pass));
    if (!pass) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for the crowd pass");
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
    if (result == PELT_OK) {
        result = create_layout(pass);
    }
    if (result == PELT_OK) {
        result = create_pipeline(pass, info->cache, cull_code, sizeof(cull_code), &pass->cull);
    }
    if (result == PELT_OK) {
        result =
            create_pipeline(pass, info->cache, compact_code, sizeof(compact_code), &pass->compact);
    }
    if (result != PELT_OK) {
        pelt_crowd_pass_destroy(pass);
        return result;
    }
    *out = pass;
    return PELT_OK;
}

void pelt_crowd_pass_destroy(pelt_crowd_pass *pass)
{
    if (!pass) {
        return;
    }
    const pelt_device_functions *vk = &pass->functions;
    const VkAllocationCallbacks *allocator = pass->vulkan.allocator;
    vk->destroy_pipeline(pass->vulkan.device, pass->cull, allocator);
    vk->destroy_pipeline(pass->vulkan.device, pass->compact, allocator);
    vk->destroy_pipeline_layout(pass->vulkan.device, pass->layout, allocator);
    pelt_release(pass->host, pass);
}

/* One for nobody at all, too: somebody has to say so to the draws. */
static uint32_t group_count(uint32_t members)
{
    uint32_t count = members / PELT_CROWD_LANES + (members % PELT_CROWD_LANES != 0);
    return count > 0 ? count : 1;
}

size_t pelt_crowd_scratch_size(uint32_t member_count)
{
    return (size_t)group_count(member_count) * PELT_CROWD_WORDS * sizeof(uint32_t);
}

static void dispatch(const pelt_crowd_pass *pass, VkCommandBuffer commands, VkPipeline pipeline,
                     uint32_t groups)
{
    const pelt_device_functions *vk = &pass->functions;
    vk->cmd_bind_pipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    /* In two dimensions, as square as need be. */
    uint32_t rows = groups / GROUPS_A_DIMENSION + (groups % GROUPS_A_DIMENSION != 0);
    uint32_t columns = groups / rows + (groups % rows != 0);
    vk->cmd_dispatch(commands, columns, rows, 1);
}

void pelt_cmd_crowd(const pelt_crowd_pass *pass, VkCommandBuffer commands,
                    const pelt_crowd_frame *frame)
{
    const pelt_device_functions *vk = &pass->functions;
    uint64_t now = (uint64_t)pelt_pose_clock(frame->now);
    uint32_t stride =
        frame->draw_stride ? frame->draw_stride : (uint32_t)sizeof(VkDrawIndexedIndirectCommand);
    struct pelt_crowd_constants constants = {
        .data = frame->data,
        .members = frame->members,
        .visible = frame->scratch,
        .instances = frame->instances,
        .draws = frame->draws,
        .now_low = (uint32_t)now,
        .now_high = (uint32_t)(now >> 32),
        .count = frame->member_count,
        .flags = (frame->view ? PELT_CROWD_CULL : 0u) |
                 (frame->interpolation == PELT_BAKE_NEAREST ? PELT_CROWD_NEAREST : 0u) |
                 (frame->interpolation == PELT_BAKE_BLEND ? PELT_CROWD_BLENDS : 0u) |
                 (stride / 4 << PELT_CROWD_STRIDE_SHIFT) |
                 (frame->draw_count << PELT_CROWD_DRAWS_SHIFT),
    };
    if (frame->view) {
        memcpy(constants.view, frame->view, sizeof(constants.view));
    }
    vk->cmd_push_constants(commands, pass->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           sizeof(constants), &constants);
    uint32_t groups = group_count(frame->member_count);
    dispatch(pass, commands, pass->cull, groups);
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_READ_BIT,
    };
    vk->cmd_pipeline_barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                             VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, NULL, 0,
                             NULL);
    dispatch(pass, commands, pass->compact, groups);
}
