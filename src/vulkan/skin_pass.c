/* The pipelines of the skin pass, and recording it. */
#include "vulkan/skin_pass.h"

#include "pelt/layout.h"

static const uint32_t skin_code[] =
#include "skin.comp.inc"
    ;
static const uint32_t skin_subgroup_code[] =
#include "skin_subgroup.comp.inc"
    ;
static const uint32_t reduce_bounds_code[] =
#include "reduce_bounds.comp.inc"
    ;
static const uint32_t reduce_bounds_subgroup_code[] =
#include "reduce_bounds_subgroup.comp.inc"
    ;
static const uint32_t joint_boxes_code[] =
#include "joint_boxes.comp.inc"
    ;

enum {
    LARGEST_CHUNK = 65536,
    CHUNK_UNIT = 64,
    GROUPS_A_DIMENSION = 65535 /* what every device has */
};

/* Shared palettes are as large as leaves room for as many groups as registers do, 48 KiB for eight
 * wide or 32 narrow ones: compilers, too, give more registers where shared memory is the limit. */
const skin_permutation pelt_skin_permutations[SKIN_PERMUTATION_COUNT] = {
    { PELT_VERTEX_TANGENTS, false, SHAPE_WIDE, 112, false },
    { PELT_VERTEX_TANGENTS, false, SHAPE_WIDE, 0, false },
    { PELT_VERTEX_TANGENTS, false, SHAPE_NARROW, 24, false },
    { PELT_VERTEX_TANGENTS, false, SHAPE_NARROW, 0, false },
    { PELT_VERTEX_PLAIN, false, SHAPE_WIDE, 112, false },
    { PELT_VERTEX_PLAIN, false, SHAPE_WIDE, 0, false },
    { PELT_VERTEX_PLAIN, false, SHAPE_NARROW, 24, false },
    { PELT_VERTEX_PLAIN, false, SHAPE_NARROW, 0, false },
    { PELT_VERTEX_ANY, false, SHAPE_WIDE, 112, false },
    { PELT_VERTEX_ANY, false, SHAPE_WIDE, 0, false },
    { PELT_VERTEX_ANY, false, SHAPE_NARROW, 24, false },
    { PELT_VERTEX_ANY, false, SHAPE_NARROW, 0, false },
    { PELT_VERTEX_ANY, true, SHAPE_WIDE, 0, false },
    { PELT_VERTEX_ANY, true, SHAPE_NARROW, 0, false },
    { PELT_VERTEX_ANY, false, SHAPE_TEAMS, 0, false },
    { PELT_VERTEX_ANY, true, SHAPE_TEAMS, 0, false },
    { PELT_VERTEX_TANGENTS, false, SHAPE_WIDE, 0, true },
    { PELT_VERTEX_PLAIN, false, SHAPE_WIDE, 0, true },
    { PELT_VERTEX_ANY, true, SHAPE_WIDE, 0, true },
    { PELT_VERTEX_ANY, true, SHAPE_NARROW, 0, true },
    { PELT_VERTEX_ANY, true, SHAPE_TEAMS, 0, true },
};

/* Specialisation constants, by constant_id. */
typedef struct specialisation {
    uint32_t group_size;
    uint32_t vertex;
    VkBool32 any_influences;
    uint32_t shared_joints;
    VkBool32 teams;
    VkBool32 read_ahead;
    VkBool32 any_dual;
} specialisation;

static const VkSpecializationMapEntry constant_entries[] = {
    { 0, offsetof(specialisation, group_size), sizeof(uint32_t) },
    { 1, offsetof(specialisation, group_size), sizeof(uint32_t) },
    { 2, offsetof(specialisation, vertex), sizeof(uint32_t) },
    { 3, offsetof(specialisation, any_influences), sizeof(VkBool32) },
    { 4, offsetof(specialisation, shared_joints), sizeof(uint32_t) },
    { 5, offsetof(specialisation, teams), sizeof(VkBool32) },
    { 6, offsetof(specialisation, read_ahead), sizeof(VkBool32) },
    { 7, offsetof(specialisation, any_dual), sizeof(VkBool32) },
};

static pelt_result check_info(const pelt_host *host, const pelt_skin_pass_info *info)
{
    const pelt_vulkan *vulkan = info->vulkan;
    if (!vulkan || !vulkan->instance || !vulkan->physical_device || !vulkan->device ||
        !vulkan->get_instance_proc_addr) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "the skin pass needs an instance, a physical device, a device and "
                         "vkGetInstanceProcAddr");
    }
    if (info->chunk_vertices % CHUNK_UNIT != 0 || info->chunk_vertices > LARGEST_CHUNK) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "chunk_vertices is %u: not a multiple of %d up to %d",
                         info->chunk_vertices, CHUNK_UNIT, LARGEST_CHUNK);
    }
    return PELT_OK;
}

/* What the device must have; whether it has subgroup arithmetic in compute shaders, and how large
 * workgroups shall be. */
static pelt_result examine(pelt_skin_pass *pass, const pelt_instance_functions *vk,
                           bool *subgroup_arithmetic)
{
    VkPhysicalDeviceProperties basic;
    vk->get_physical_device_properties(pass->vulkan.physical_device, &basic);
    if (basic.apiVersion < VK_API_VERSION_1_2) {
        return pelt_fail(pass->host, PELT_ERROR_DEVICE, NULL, NULL,
                         "%s has Vulkan %u.%u, the skin pass needs 1.2", basic.deviceName,
                         VK_API_VERSION_MAJOR(basic.apiVersion),
                         VK_API_VERSION_MINOR(basic.apiVersion));
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
                         "%s lacks the feature bufferDeviceAddress", basic.deviceName);
    }
    VkPhysicalDeviceSubgroupProperties subgroup = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &subgroup,
    };
    vk->get_physical_device_properties2(pass->vulkan.physical_device, &properties);
    *subgroup_arithmetic = (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
                           (subgroup.supportedOperations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT) != 0;

    /* Vulkan guarantees 128 invocations. Devices with narrow subgroups (software) gain nothing from
     * them and waste less on the ends of meshes with 64. */
    pass->is_processor = basic.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    const VkPhysicalDeviceLimits *limits = &basic.limits;
    pass->group_size = subgroup.subgroupSize >= 32 ? PELT_GROUP_MAX : PELT_GROUP_MAX / 2;
    if (limits->maxComputeWorkGroupInvocations < pass->group_size ||
        limits->maxComputeWorkGroupSize[0] < pass->group_size ||
        limits->maxComputeWorkGroupCount[0] < GROUPS_A_DIMENSION ||
        limits->maxComputeWorkGroupCount[1] < GROUPS_A_DIMENSION) {
        return pelt_fail(pass->host, PELT_ERROR_DEVICE, NULL, NULL,
                         "%s has less than Vulkan's limits for compute workgroups: %u invocations, "
                         "%u x %u groups",
                         basic.deviceName, limits->maxComputeWorkGroupInvocations,
                         limits->maxComputeWorkGroupCount[0], limits->maxComputeWorkGroupCount[1]);
    }
    return PELT_OK;
}

static pelt_result create_layout(pelt_skin_pass *pass)
{
    const VkPushConstantRange range = {
        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        .size = sizeof(struct pelt_skin_constants), /* the largest of the three */
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

/* count pipelines of one module, one for each of the constants. */
static pelt_result create_pipelines(pelt_skin_pass *pass, VkPipelineCache cache,
                                    const uint32_t *code, size_t size, const specialisation *values,
                                    uint32_t count, VkPipeline *out)
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
    VkSpecializationInfo specialisations[SKIN_PERMUTATION_COUNT];
    VkComputePipelineCreateInfo infos[SKIN_PERMUTATION_COUNT];
    for (uint32_t i = 0; i < count; i++) {
        specialisations[i] = (VkSpecializationInfo){
            .mapEntryCount = sizeof(constant_entries) / sizeof(constant_entries[0]),
            .pMapEntries = constant_entries,
            .dataSize = sizeof(values[i]),
            .pData = &values[i],
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
    /* Those that fail are VK_NULL_HANDLE in out. */
    status = vk->create_compute_pipelines(pass->vulkan.device, cache, count, infos,
                                          pass->vulkan.allocator, out);
    vk->destroy_shader_module(pass->vulkan.device, module, pass->vulkan.allocator);
    return status == VK_SUCCESS ? PELT_OK
                                : pelt_vulkan_fail(pass->host, status, "vkCreateComputePipelines");
}

static pelt_result create_all_pipelines(pelt_skin_pass *pass, VkPipelineCache cache,
                                        bool subgroup_arithmetic)
{
    specialisation permutations[SKIN_PERMUTATION_COUNT];
    for (uint32_t i = 0; i < SKIN_PERMUTATION_COUNT; i++) {
        const skin_permutation *permutation = &pelt_skin_permutations[i];
        permutations[i] = (specialisation){
            .group_size = permutation->shape == SHAPE_WIDE ? pass->group_size : NARROW_GROUP,
            .vertex = permutation->vertex,
            .any_influences = permutation->any_influences,
            .shared_joints = permutation->shared_joints,
            .teams = permutation->shape == SHAPE_TEAMS,
            .read_ahead = !pass->is_processor,
            .any_dual = permutation->dual,
        };
    }
    pelt_result result =
        create_pipelines(pass, cache, subgroup_arithmetic ? skin_subgroup_code : skin_code,
                         subgroup_arithmetic ? sizeof(skin_subgroup_code) : sizeof(skin_code),
                         permutations, SKIN_PERMUTATION_COUNT, pass->skin);
    if (result == PELT_OK) {
        result = create_pipelines(
            pass, cache, subgroup_arithmetic ? reduce_bounds_subgroup_code : reduce_bounds_code,
            subgroup_arithmetic ? sizeof(reduce_bounds_subgroup_code) : sizeof(reduce_bounds_code),
            permutations, 1, &pass->reduce_bounds);
    }
    if (result == PELT_OK) {
        result = create_pipelines(pass, cache, joint_boxes_code, sizeof(joint_boxes_code),
                                  permutations, 1, &pass->joint_boxes);
    }
    return result;
}

pelt_result pelt_skin_pass_create(const pelt_host *host, const pelt_skin_pass_info *info,
                                  pelt_skin_pass **out)
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
    pelt_skin_pass *pass = pelt_allocate(host, 1, sizeof(*pass));
    if (!pass) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for the skin pass");
    }
    pass->host = host;
    pass->vulkan = *info->vulkan;
    pass->chunk_vertices = info->chunk_vertices;
    result = pelt_load_device_functions(host, instance.get_device_proc_addr, pass->vulkan.device,
                                        &pass->functions);
    if (result != PELT_OK) {
        pelt_release(host, pass);
        return result;
    }
    bool subgroup_arithmetic = false;
    result = examine(pass, &instance, &subgroup_arithmetic);
    if (result != PELT_OK) {
        goto fail;
    }
    result = create_layout(pass);
    if (result != PELT_OK) {
        goto fail;
    }
    result = create_all_pipelines(pass, info->cache,
                                  subgroup_arithmetic && !info->no_subgroup_arithmetic);
    if (result != PELT_OK) {
        goto fail;
    }
    *out = pass;
    return PELT_OK;
fail:
    pelt_skin_pass_destroy(pass);
    return result;
}

void pelt_skin_pass_destroy(pelt_skin_pass *pass)
{
    if (!pass) {
        return;
    }
    const pelt_device_functions *vk = &pass->functions;
    const VkAllocationCallbacks *allocator = pass->vulkan.allocator;
    for (uint32_t i = 0; i < SKIN_PERMUTATION_COUNT; i++) {
        vk->destroy_pipeline(pass->vulkan.device, pass->skin[i], allocator);
    }
    vk->destroy_pipeline(pass->vulkan.device, pass->reduce_bounds, allocator);
    vk->destroy_pipeline(pass->vulkan.device, pass->joint_boxes, allocator);
    vk->destroy_pipeline_layout(pass->vulkan.device, pass->layout, allocator);
    pelt_release(pass->host, pass);
}

void pelt_dispatch(const pelt_skin_pass *pass, VkCommandBuffer commands, VkPipeline pipeline,
                   const void *constants, uint32_t size, uint32_t count)
{
    const pelt_device_functions *vk = &pass->functions;
    vk->cmd_bind_pipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vk->cmd_push_constants(commands, pass->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, size, constants);
    /* As square as need be: fewer than `rows` groups are too many. */
    uint32_t rows = count / GROUPS_A_DIMENSION + (count % GROUPS_A_DIMENSION != 0);
    uint32_t columns = count / rows + (count % rows != 0);
    vk->cmd_dispatch(commands, columns, rows, 1);
}

void pelt_cmd_skin(const pelt_skin_pass *pass, VkCommandBuffer commands,
                   const pelt_skin_tables *tables, VkDeviceAddress table, VkDeviceAddress scratch)
{
    if (tables->chunk_count == 0) {
        return;
    }
    const struct pelt_skin_constants skin = {
        .chunks = table,
        .scratch = scratch,
        .count = tables->chunk_count,
        .team_bits = tables->team_bits,
    };
    uint32_t groups = tables->chunk_count;
    if (pelt_skin_permutations[tables->permutation].shape == SHAPE_TEAMS) {
        uint32_t teams = NARROW_GROUP >> tables->team_bits;
        groups = groups / teams + (groups % teams != 0);
    }
    pelt_dispatch(pass, commands, pass->skin[tables->permutation], &skin, sizeof(skin), groups);
    if (tables->reduce_count == 0) {
        return;
    }
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_READ_BIT,
    };
    pass->functions.cmd_pipeline_barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0,
                                         NULL, 0, NULL);
    const struct pelt_reduce_constants reduce = {
        .reductions = table + tables->reduction_offset,
        .scratch = scratch,
        .count = tables->reduce_count,
    };
    pelt_dispatch(pass, commands, pass->reduce_bounds, &reduce, sizeof(reduce), reduce.count);
}
