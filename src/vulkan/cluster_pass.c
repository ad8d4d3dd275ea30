/* The pipelines of the passes over clusters, and recording them. */
#include "base/base.h"

#include "pelt/cluster_pass_layout.h"

#include <pelt/cluster_pass.h>

#include "vulkan/compute.h"

static const uint32_t cull_code[] =
#include "cluster_cull.comp.inc"
    ;
static const uint32_t scan_code[] =
#include "cluster_scan.comp.inc"
    ;
static const uint32_t list_code[] =
#include "cluster_list.comp.inc"
    ;
static const uint32_t skin_code[] =
#include "cluster_skin.comp.inc"
    ;

static const char pass_name[] = "the cluster pass";

_Static_assert(PELT_BLOCK_SPANS % PELT_SPANS_A_GROUP == 0, "a workgroup's spans are of one block");
_Static_assert(PELT_SPANS_A_GROUP *PELT_SPAN_CLUSTERS <= PELT_BLOCK_LANES, "has_groups covers it");

_Static_assert(sizeof(pelt_visible_cluster) == sizeof(struct pelt_gpu_visible_cluster) &&
                   sizeof(pelt_cluster_counts) == sizeof(struct pelt_gpu_cluster_counts) &&
                   sizeof(VkDrawIndexedIndirectCommand) == sizeof(struct pelt_cluster_draw),
               "as shaders know them");
_Static_assert(offsetof(pelt_visible_cluster, cluster) ==
                   offsetof(struct pelt_gpu_visible_cluster, cluster),
               "as shaders know them");
_Static_assert(PELT_CLUSTER_SLOT == PELT_CLUSTER_VERTICES, "room for any");

enum { CULL, SCAN, LIST, SKIN, CLUSTER_STEPS };

/* Matrices in shared memory, 3 KiB: few clusters have more joints, and theirs are read by address.
 */
enum { SHARED_JOINTS = 64 };

struct pelt_cluster_pass {
    pelt_compute compute;
    VkPipeline pipelines[CLUSTER_STEPS];
};

/* Specialisation constants, by constant_id. */
typedef struct specialisation {
    uint32_t group_size;
    uint32_t shared_joints;
} specialisation;

static const VkSpecializationMapEntry constant_entries[] = {
    { 0, offsetof(specialisation, group_size), sizeof(uint32_t) },
    { 1, offsetof(specialisation, group_size), sizeof(uint32_t) },
    { 4, offsetof(specialisation, shared_joints), sizeof(uint32_t) },
};
enum { CONSTANT_COUNT = sizeof(constant_entries) / sizeof(constant_entries[0]) };

static pelt_result create_pipelines(pelt_cluster_pass *pass, const pelt_cluster_pass_info *info)
{
    const pelt_compute_shader shaders[CLUSTER_STEPS] = {
        [CULL] = { cull_code, sizeof(cull_code), constant_entries, CONSTANT_COUNT },
        [SCAN] = { scan_code, sizeof(scan_code), constant_entries, CONSTANT_COUNT },
        [LIST] = { list_code, sizeof(list_code), constant_entries, CONSTANT_COUNT },
        [SKIN] = { skin_code, sizeof(skin_code), constant_entries, CONSTANT_COUNT },
    };
    const uint32_t lanes[CLUSTER_STEPS] = {
        [CULL] = PELT_SPANS_A_GROUP * PELT_SPAN_CLUSTERS,
        [SCAN] = PELT_BLOCK_LANES,
        [LIST] = PELT_SPANS_A_GROUP * PELT_SPAN_CLUSTERS,
        [SKIN] = PELT_CLUSTER_VERTICES,
    };
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < CLUSTER_STEPS; i++) {
        const specialisation values = {
            .group_size = lanes[i],
            .shared_joints = info->shared_palettes ? SHARED_JOINTS : 0,
        };
        result = pelt_compute_create_pipelines(&pass->compute, info->cache, &shaders[i], &values,
                                               sizeof(values), 1, &pass->pipelines[i]);
    }
    return result;
}

static pelt_result create(pelt_cluster_pass *pass, const pelt_host *host,
                          const pelt_cluster_pass_info *info)
{
    pelt_instance_functions instance;
    VkPhysicalDeviceProperties properties;
    pelt_result result =
        pelt_compute_open(host, info->vulkan, pass_name, &pass->compute, &instance, &properties);
    if (result != PELT_OK) {
        return result;
    }
    if (!pelt_compute_has_groups(&properties.limits, PELT_BLOCK_LANES)) {
        return pelt_fail(host, PELT_ERROR_DEVICE, NULL, NULL,
                         "%s has less than Vulkan's limits for compute workgroups",
                         properties.deviceName);
    }
    result = pelt_compute_create_layout(&pass->compute, sizeof(struct pelt_cluster_cull_constants));
    return result == PELT_OK ? create_pipelines(pass, info) : result;
}

pelt_result pelt_cluster_pass_create(const pelt_host *host, const pelt_cluster_pass_info *info,
                                     pelt_cluster_pass **out)
{
    *out = NULL;
    pelt_result result = pelt_compute_check(host, info->vulkan, pass_name);
    if (result != PELT_OK) {
        return result;
    }
    pelt_cluster_pass *pass = pelt_allocate(host, 1, sizeof(*pass));
    if (!pass) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %s", pass_name);
    }
    result = create(pass, host, info);
    if (result != PELT_OK) {
        pelt_cluster_pass_destroy(pass);
        return result;
    }
    *out = pass;
    return PELT_OK;
}

void pelt_cluster_pass_destroy(pelt_cluster_pass *pass)
{
    if (!pass) {
        return;
    }
    pelt_compute_destroy(&pass->compute, pass->pipelines, CLUSTER_STEPS);
    pelt_release(pass->compute.host, pass);
}

void pelt_cmd_cluster_cull(const pelt_cluster_pass *pass, VkCommandBuffer commands,
                           const pelt_cluster_cull *cull)
{
    uint32_t capacity = cull->capacity;
    const struct pelt_cluster_cull_constants constants = {
        .spans = cull->table,
        .instances = cull->instances,
        .view = cull->view,
        .scratch = cull->scratch,
        .visible = cull->visible,
        .counts = cull->counts,
        .draws = cull->draws,
        .span_count = cull->tables->span_count,
        .capacity = capacity < PELT_CLUSTER_CAPACITY_MAX ? capacity : PELT_CLUSTER_CAPACITY_MAX,
    };
    /* One for no spans at all, too: somebody has to say so. */
    uint32_t spans = constants.span_count > 0 ? constants.span_count : 1;
    uint32_t groups = spans / PELT_SPANS_A_GROUP + (spans % PELT_SPANS_A_GROUP != 0);
    uint32_t blocks = spans / PELT_BLOCK_SPANS + (spans % PELT_BLOCK_SPANS != 0);
    const pelt_compute *compute = &pass->compute;
    pelt_compute_push(compute, commands, &constants, sizeof(constants));
    pelt_compute_dispatch(compute, commands, pass->pipelines[CULL], groups);
    pelt_compute_barrier(compute, commands);
    pelt_compute_dispatch(compute, commands, pass->pipelines[SCAN], blocks);
    pelt_compute_barrier(compute, commands);
    pelt_compute_dispatch(compute, commands, pass->pipelines[LIST], groups);
}

void pelt_cmd_cluster_skin(const pelt_cluster_pass *pass, VkCommandBuffer commands,
                           const pelt_cluster_skin *skin)
{
    const pelt_compute *compute = &pass->compute;
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                         VK_ACCESS_INDIRECT_COMMAND_READ_BIT,
    };
    compute->functions.cmd_pipeline_barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT |
                                                VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT,
                                            0, 1, &barrier, 0, NULL, 0, NULL);
    const struct pelt_cluster_skin_constants constants = {
        .instances = skin->instances,
        .visible = skin->visible,
        .counts = skin->counts,
        .vertices = skin->vertices,
        .tangents = skin->tangents,
        .bounds = skin->bounds,
    };
    pelt_compute_push(compute, commands, &constants, sizeof(constants));
    compute->functions.cmd_bind_pipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                         pass->pipelines[SKIN]);
    compute->functions.cmd_dispatch_indirect(commands, skin->counts_buffer, skin->counts_offset);
}
