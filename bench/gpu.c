/* Entry points and pipelines. */
#include "bench/internal.h"

static const uint32_t global_atomics_code[] =
#include "global_atomics.comp.inc"
    ;
static const uint32_t wave_atomics_code[] =
#include "wave_atomics.comp.inc"
    ;
static const uint32_t scalar_path_code[] =
#include "scalar_path.comp.inc"
    ;
static const uint32_t reset_boxes_code[] =
#include "reset_boxes.comp.inc"
    ;
static const uint32_t resolve_boxes_code[] =
#include "resolve_boxes.comp.inc"
    ;
static const uint32_t seed_code[] =
#include "seed.comp.inc"
    ;
static const uint32_t seed_reduce_code[] =
#include "seed_reduce.comp.inc"
    ;
static const uint32_t stream_code[] =
#include "stream.comp.inc"
    ;
static const uint32_t copy_code[] =
#include "copy.comp.inc"
    ;
static const uint32_t normals_code[] =
#include "normals.comp.inc"
    ;
static const uint32_t pose_floor_code[] =
#include "pose_floor.comp.inc"
    ;
static const uint32_t widen_code[] =
#include "widen.comp.inc"
    ;

enum { GROUPS_A_DIMENSION = 65535, PUSH_CONSTANTS_MAX = 128 };

typedef struct shader_code {
    const uint32_t *code;
    size_t size;
    uint32_t constant; /* 0, where the shader has it: whether there are boxes, or the method */
} shader_code;

static const shader_code shaders[BENCH_PIPELINE_COUNT] = {
    [BENCH_GLOBAL_ATOMICS] = { global_atomics_code, sizeof(global_atomics_code), VK_TRUE },
    [BENCH_GLOBAL_NO_BOX] = { global_atomics_code, sizeof(global_atomics_code), VK_FALSE },
    [BENCH_RESET_BOXES] = { reset_boxes_code, sizeof(reset_boxes_code), VK_TRUE },
    [BENCH_RESOLVE_BOXES] = { resolve_boxes_code, sizeof(resolve_boxes_code), VK_TRUE },
    [BENCH_STREAM] = { stream_code, sizeof(stream_code), VK_TRUE },
    [BENCH_COPY] = { copy_code, sizeof(copy_code), VK_TRUE },
    [BENCH_COFACTOR] = { normals_code, sizeof(normals_code), BENCH_NORMALS_COFACTOR },
    [BENCH_INVERSE] = { normals_code, sizeof(normals_code), BENCH_NORMALS_INVERSE },
    [BENCH_JOINT_INVERSES] = { normals_code, sizeof(normals_code), BENCH_NORMALS_JOINT_INVERSES },
    [BENCH_JOINT_COFACTORS] = { normals_code, sizeof(normals_code), BENCH_NORMALS_JOINT_COFACTORS },
    [BENCH_PLAIN] = { normals_code, sizeof(normals_code), BENCH_NORMALS_PLAIN },
    [BENCH_POSE_FLOOR_WRITES] = { pose_floor_code, sizeof(pose_floor_code), VK_TRUE },
    [BENCH_WIDEN] = { widen_code, sizeof(widen_code), VK_TRUE },
    [BENCH_WAVE_ATOMICS] = { wave_atomics_code, sizeof(wave_atomics_code), VK_TRUE },
    [BENCH_SCALAR_PATH] = { scalar_path_code, sizeof(scalar_path_code), VK_TRUE },
    [BENCH_SCALAR_NO_BOX] = { scalar_path_code, sizeof(scalar_path_code), VK_FALSE },
    [BENCH_SEED] = { seed_code, sizeof(seed_code), VK_TRUE },
    [BENCH_SEED_NO_BOX] = { seed_code, sizeof(seed_code), VK_FALSE },
    [BENCH_SEED_REDUCE] = { seed_reduce_code, sizeof(seed_reduce_code), VK_TRUE },
};

static const pelt_entry_point entry_points[] = {
    { "vkCreateShaderModule", offsetof(pelt_bench_functions, create_shader_module) },
    { "vkDestroyShaderModule", offsetof(pelt_bench_functions, destroy_shader_module) },
    { "vkCreatePipelineLayout", offsetof(pelt_bench_functions, create_pipeline_layout) },
    { "vkDestroyPipelineLayout", offsetof(pelt_bench_functions, destroy_pipeline_layout) },
    { "vkCreateComputePipelines", offsetof(pelt_bench_functions, create_compute_pipelines) },
    { "vkDestroyPipeline", offsetof(pelt_bench_functions, destroy_pipeline) },
    { "vkCreateQueryPool", offsetof(pelt_bench_functions, create_query_pool) },
    { "vkDestroyQueryPool", offsetof(pelt_bench_functions, destroy_query_pool) },
    { "vkGetQueryPoolResults", offsetof(pelt_bench_functions, get_query_pool_results) },
    { "vkCmdResetQueryPool", offsetof(pelt_bench_functions, cmd_reset_query_pool) },
    { "vkCmdWriteTimestamp", offsetof(pelt_bench_functions, cmd_write_timestamp) },
    { "vkCmdBindPipeline", offsetof(pelt_bench_functions, cmd_bind_pipeline) },
    { "vkCmdPushConstants", offsetof(pelt_bench_functions, cmd_push_constants) },
    { "vkCmdDispatch", offsetof(pelt_bench_functions, cmd_dispatch) },
    { "vkCmdPipelineBarrier", offsetof(pelt_bench_functions, cmd_pipeline_barrier) },
    { "vkCmdCopyBuffer", offsetof(pelt_bench_functions, cmd_copy_buffer) },
    { "vkCmdFillBuffer", offsetof(pelt_bench_functions, cmd_fill_buffer) },
};
enum { ENTRY_COUNT = sizeof(entry_points) / sizeof(entry_points[0]) };
_Static_assert(sizeof(pelt_bench_functions) == ENTRY_COUNT * sizeof(PFN_vkVoidFunction),
               "every function has its row");

pelt_result pelt_bench_check_status(const pelt_bench *bench, VkResult status, const char *call)
{
    return status == VK_SUCCESS ? PELT_OK : pelt_vulkan_fail(bench->host, status, call);
}

/* Whether waves can reduce, vote and broadcast in compute shaders. */
static bool has_subgroups(const pelt_headless *device)
{
    const VkSubgroupFeatureFlags wanted =
        VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT |
        VK_SUBGROUP_FEATURE_ARITHMETIC_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT;
    PFN_vkGetPhysicalDeviceProperties2 get =
        (PFN_vkGetPhysicalDeviceProperties2)device->vulkan.get_instance_proc_addr(
            device->vulkan.instance, "vkGetPhysicalDeviceProperties2");
    VkPhysicalDeviceSubgroupProperties subgroup = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &subgroup,
    };
    if (!get) {
        return false;
    }
    get(device->vulkan.physical_device, &properties);
    return (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
           (subgroup.supportedOperations & wanted) == wanted;
}

static pelt_result create_pipeline(pelt_bench *bench, const shader_code *shader, VkPipeline *out)
{
    VkDevice device = bench->device->vulkan.device;
    const VkShaderModuleCreateInfo module_info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = shader->size,
        .pCode = shader->code,
    };
    VkShaderModule module;
    VkResult status = bench->vk.create_shader_module(device, &module_info, NULL, &module);
    if (status != VK_SUCCESS) {
        return pelt_bench_check_status(bench, status, "vkCreateShaderModule");
    }
    const VkSpecializationMapEntry entry = { .constantID = 0, .size = sizeof(shader->constant) };
    const VkSpecializationInfo constants = {
        .mapEntryCount = 1,
        .pMapEntries = &entry,
        .dataSize = sizeof(shader->constant),
        .pData = &shader->constant,
    };
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = VK_SHADER_STAGE_COMPUTE_BIT,
            .module = module,
            .pName = "main",
            .pSpecializationInfo = &constants,
        },
        .layout = bench->layout,
    };
    status = bench->vk.create_compute_pipelines(device, VK_NULL_HANDLE, 1, &info, NULL, out);
    bench->vk.destroy_shader_module(device, module, NULL);
    return pelt_bench_check_status(bench, status, "vkCreateComputePipelines");
}

static pelt_result create_objects(pelt_bench *bench)
{
    VkDevice device = bench->device->vulkan.device;
    const VkPushConstantRange range = { .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                        .size = PUSH_CONSTANTS_MAX };
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    VkResult status = bench->vk.create_pipeline_layout(device, &layout, NULL, &bench->layout);
    if (status != VK_SUCCESS) {
        return pelt_bench_check_status(bench, status, "vkCreatePipelineLayout");
    }
    const VkQueryPoolCreateInfo queries = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = 2,
    };
    status = bench->vk.create_query_pool(device, &queries, NULL, &bench->queries);
    if (status != VK_SUCCESS) {
        return pelt_bench_check_status(bench, status, "vkCreateQueryPool");
    }
    pelt_result result = PELT_OK;
    uint32_t count = bench->subgroups ? BENCH_PIPELINE_COUNT : BENCH_WAVE_ATOMICS;
    for (uint32_t i = 0; result == PELT_OK && i < count; i++) {
        result = create_pipeline(bench, &shaders[i], &bench->pipelines[i]);
    }
    if (result == PELT_OK) {
        result = pelt_skin_pass_create(
            bench->host, &(pelt_skin_pass_info){ .vulkan = &bench->device->vulkan }, &bench->pass);
    }
    return result;
}

pelt_result pelt_bench_create(const pelt_host *host, pelt_headless *device, pelt_bench **out)
{
    *out = NULL;
    if (!(device->timestamp_period > 0.0f)) {
        return pelt_fail(host, PELT_ERROR_DEVICE, NULL, NULL, "%s has no timestamps",
                         device->properties.deviceName);
    }
    pelt_bench *bench = pelt_allocate(host, 1, sizeof(*bench));
    if (!bench) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for the bench");
    }
    bench->host = host;
    bench->device = device;
    bench->subgroups = has_subgroups(device);
    pelt_result result =
        pelt_load_entry_points(host, device->get_device_proc_addr, device->vulkan.device,
                               entry_points, ENTRY_COUNT, &bench->vk);
    if (result != PELT_OK) {
        pelt_release(host, bench);
        return result;
    }
    result = create_objects(bench);
    if (result != PELT_OK) {
        pelt_bench_destroy(bench);
        return result;
    }
    *out = bench;
    return PELT_OK;
}

void pelt_bench_destroy(pelt_bench *bench)
{
    if (!bench) {
        return;
    }
    VkDevice device = bench->device->vulkan.device;
    pelt_skin_pass_destroy(bench->pass);
    for (uint32_t i = 0; i < BENCH_PIPELINE_COUNT; i++) {
        bench->vk.destroy_pipeline(device, bench->pipelines[i], NULL);
    }
    bench->vk.destroy_query_pool(device, bench->queries, NULL);
    bench->vk.destroy_pipeline_layout(device, bench->layout, NULL);
    pelt_release(bench->host, bench);
}

void pelt_bench_dispatch(const pelt_bench *bench, VkCommandBuffer commands,
                         pelt_bench_pipeline pipeline, const void *constants, uint32_t size,
                         uint32_t groups)
{
    bench->vk.cmd_bind_pipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                bench->pipelines[pipeline]);
    bench->vk.cmd_push_constants(commands, bench->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, size,
                                 constants);
    uint32_t rows = groups / GROUPS_A_DIMENSION + (groups % GROUPS_A_DIMENSION != 0);
    uint32_t columns = groups / rows + (groups % rows != 0);
    bench->vk.cmd_dispatch(commands, columns, rows, 1);
}

static void barrier(const pelt_bench *bench, VkCommandBuffer commands, VkPipelineStageFlags stages,
                    VkAccessFlags from, VkAccessFlags to)
{
    const VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = from,
        .dstAccessMask = to,
    };
    bench->vk.cmd_pipeline_barrier(commands, stages, stages, 0, 1, &memory, 0, NULL, 0, NULL);
}

void pelt_bench_barrier(const pelt_bench *bench, VkCommandBuffer commands)
{
    barrier(bench, commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
            VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

void pelt_bench_full_barrier(const pelt_bench *bench, VkCommandBuffer commands)
{
    barrier(bench, commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
            VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
}
