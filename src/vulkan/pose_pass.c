/* The pipelines of the pose pass, and recording it. */
#include "vulkan/pose_pass.h"

#include "pelt/pose_layout.h"

static const uint32_t pose_code[] =
#include "pose.comp.inc"
    ;

enum { SHARED_BYTES = PELT_POSE_LANES * (2 * 48 + 4) };
static const char pass_name[] = "the pose pass";

_Static_assert(SHARED_BYTES <= 16384, "what every device has");

static pelt_result create_pipelines(pelt_pose_pass *pass, VkPipelineCache cache)
{
    /* The group's size, by both constants of pelt/group.glsl. */
    static const uint32_t values[2][2] = { { PELT_POSE_LANES, VK_FALSE },
                                           { PELT_POSE_LANES, VK_TRUE } };
    static const VkSpecializationMapEntry entries[] = { { 0, 0, sizeof(uint32_t) },
                                                        { 1, 0, sizeof(uint32_t) },
                                                        { 2, sizeof(uint32_t), sizeof(VkBool32) } };
    const pelt_compute_shader shader = { pose_code, sizeof(pose_code), entries, 3 };
    return pelt_compute_create_pipelines(&pass->compute, cache, &shader, values, sizeof(values[0]),
                                         2, pass->pipelines);
}

static pelt_result create(pelt_pose_pass *pass, const pelt_host *host,
                          const pelt_pose_pass_info *info)
{
    pelt_instance_functions instance;
    VkPhysicalDeviceProperties properties;
    pelt_result result =
        pelt_compute_open(host, info->vulkan, pass_name, &pass->compute, &instance, &properties);
    if (result != PELT_OK) {
        return result;
    }
    if (!pelt_compute_has_groups(&properties.limits, PELT_POSE_LANES) ||
        properties.limits.maxComputeSharedMemorySize < SHARED_BYTES) {
        return pelt_fail(host, PELT_ERROR_DEVICE, NULL, NULL,
                         "%s has less than Vulkan's limits for compute workgroups",
                         properties.deviceName);
    }
    result = pelt_compute_create_layout(&pass->compute, sizeof(struct pelt_pose_constants));
    return result == PELT_OK ? create_pipelines(pass, info->cache) : result;
}

pelt_result pelt_pose_pass_create(const pelt_host *host, const pelt_pose_pass_info *info,
                                  pelt_pose_pass **out)
{
    *out = NULL;
    pelt_result result = pelt_compute_check(host, info->vulkan, pass_name);
    if (result != PELT_OK) {
        return result;
    }
    pelt_pose_pass *pass = pelt_allocate(host, 1, sizeof(*pass));
    if (!pass) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %s", pass_name);
    }
    result = create(pass, host, info);
    if (result != PELT_OK) {
        pelt_pose_pass_destroy(pass);
        return result;
    }
    *out = pass;
    return PELT_OK;
}

void pelt_pose_pass_destroy(pelt_pose_pass *pass)
{
    if (!pass) {
        return;
    }
    pelt_compute_destroy(&pass->compute, pass->pipelines, 2);
    pelt_release(pass->compute.host, pass);
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
    pelt_compute_push(&pass->compute, commands, &constants, sizeof(constants));
    pelt_compute_dispatch(&pass->compute, commands, pass->pipelines[!frame->no_global_multiplies],
                          constants.count);
}
