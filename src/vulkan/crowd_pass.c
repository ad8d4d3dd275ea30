/* The pipelines of the crowd pass, and recording it. */
#include "base/base.h"

#include "pelt/crowd_layout.h"

#include <pelt/crowd.h>
#include <string.h>

#include "vulkan/compute.h"
#include "vulkan/pose_pass.h"

static const uint32_t cull_code[] =
#include "crowd_cull.comp.inc"
    ;
static const uint32_t compact_code[] =
#include "crowd_compact.comp.inc"
    ;

static const uint32_t motions_code[] =
#include "live_motions.comp.inc"
    ;

static const char pass_name[] = "the crowd pass";

_Static_assert(PELT_CROWD_WORDS * 32 == PELT_CROWD_LANES, "a bit for each");
_Static_assert((uint64_t)PELT_CROWD_MEMBERS_MAX *PELT_CROWD_MEMBER_SIZE < UINT64_C(1) << 32,
               "shaders index memory by 32 bits");
_Static_assert(sizeof(struct pelt_crowd_instance) == PELT_CROWD_INSTANCE_SIZE,
               "as the header says");

enum { CULL, COMPACT, MOTIONS, CROWD_STEPS };

struct pelt_crowd_pass {
    pelt_compute compute;
    VkPipeline pipelines[CROWD_STEPS];
};

static pelt_result create_pipelines(pelt_crowd_pass *pass, VkPipelineCache cache)
{
    /* The group's size, by both constants of pelt/group.glsl. */
    static const uint32_t lanes = PELT_CROWD_LANES;
    static const VkSpecializationMapEntry entries[] = { { 0, 0, sizeof(lanes) },
                                                        { 1, 0, sizeof(lanes) } };
    const pelt_compute_shader shaders[CROWD_STEPS] = {
        [CULL] = { cull_code, sizeof(cull_code), entries, 2 },
        [COMPACT] = { compact_code, sizeof(compact_code), entries, 2 },
        [MOTIONS] = { motions_code, sizeof(motions_code), entries, 2 },
    };
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < CROWD_STEPS; i++) {
        result = pelt_compute_create_pipelines(&pass->compute, cache, &shaders[i], &lanes,
                                               sizeof(lanes), 1, &pass->pipelines[i]);
    }
    return result;
}

static pelt_result create(pelt_crowd_pass *pass, const pelt_host *host,
                          const pelt_crowd_pass_info *info)
{
    pelt_instance_functions instance;
    VkPhysicalDeviceProperties properties;
    pelt_result result =
        pelt_compute_open(host, info->vulkan, pass_name, &pass->compute, &instance, &properties);
    if (result != PELT_OK) {
        return result;
    }
    if (!pelt_compute_has_groups(&properties.limits, PELT_CROWD_LANES) ||
        properties.limits.maxPushConstantsSize < sizeof(struct pelt_crowd_constants)) {
        return pelt_fail(host, PELT_ERROR_DEVICE, NULL, NULL,
                         "%s has less than Vulkan's limits for compute workgroups",
                         properties.deviceName);
    }
    result = pelt_compute_create_layout(&pass->compute, sizeof(struct pelt_crowd_constants));
    return result == PELT_OK ? create_pipelines(pass, info->cache) : result;
}

pelt_result pelt_crowd_pass_create(const pelt_host *host, const pelt_crowd_pass_info *info,
                                   pelt_crowd_pass **out)
{
    *out = NULL;
    pelt_result result = pelt_compute_check(host, info->vulkan, pass_name);
    if (result != PELT_OK) {
        return result;
    }
    pelt_crowd_pass *pass = pelt_allocate(host, 1, sizeof(*pass));
    if (!pass) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %s", pass_name);
    }
    result = create(pass, host, info);
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
    pelt_compute_destroy(&pass->compute, pass->pipelines, CROWD_STEPS);
    pelt_release(pass->compute.host, pass);
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

void pelt_cmd_crowd(const pelt_crowd_pass *pass, VkCommandBuffer commands,
                    const pelt_crowd_frame *frame)
{
    uint64_t now = (uint64_t)pelt_pose_clock(frame->now);
    uint32_t stride =
        frame->draw_stride ? frame->draw_stride : (uint32_t)sizeof(VkDrawIndexedIndirectCommand);
    bool dual = frame->skinning == PELT_BAKE_DUAL;
    bool nearest = frame->interpolation == PELT_BAKE_NEAREST;
    bool blends = frame->interpolation == PELT_BAKE_BLEND || (dual && !nearest);
    struct pelt_crowd_constants constants = {
        .data = frame->data,
        .members = frame->members,
        .visible = frame->scratch,
        .instances = frame->instances,
        .draws = frame->draws,
        .now_low = (uint32_t)now,
        .now_high = (uint32_t)(now >> 32),
        .count = frame->member_count,
        .flags = (frame->view ? PELT_CROWD_CULL : 0u) | (nearest ? PELT_CROWD_NEAREST : 0u) |
                 (blends ? PELT_CROWD_BLENDS : 0u) | (dual ? PELT_CROWD_DUAL : 0u) |
                 (stride / 4 << PELT_CROWD_STRIDE_SHIFT) |
                 (frame->draw_count << PELT_CROWD_DRAWS_SHIFT),
    };
    if (frame->view) {
        memcpy(constants.view, frame->view, sizeof(constants.view));
    }
    const pelt_compute *compute = &pass->compute;
    uint32_t groups = group_count(frame->member_count);
    pelt_compute_push(compute, commands, &constants, sizeof(constants));
    pelt_compute_dispatch(compute, commands, pass->pipelines[CULL], groups);
    pelt_compute_barrier(compute, commands);
    pelt_compute_dispatch(compute, commands, pass->pipelines[COMPACT], groups);
}

void pelt_cmd_live_motions(const pelt_crowd_pass *pass, VkCommandBuffer commands,
                           const pelt_bake *bake, VkDeviceAddress matrices, uint32_t count,
                           VkDeviceAddress motions)
{
    const struct pelt_motion_constants constants = {
        .matrices = matrices, .motions = motions, .count = count, .texels = bake->texels_per_joint
    };
    pelt_compute_push(&pass->compute, commands, &constants, sizeof(constants));
    pelt_compute_dispatch(&pass->compute, commands, pass->pipelines[MOTIONS], group_count(count));
}
