/* The pipelines of the skin pass, and recording it. */
#include "vulkan/skin_pass.h"

#include "pelt/layout.h"

static const uint32_t skin_code[] =
#include "skin.comp.inc"
    ;
static const uint32_t skin_subgroup_code[] =
#include "skin_subgroup.comp.inc"
    ;
static const uint32_t skin_dual_code[] =
#include "skin_dual.comp.inc"
    ;
static const uint32_t skin_dual_subgroup_code[] =
#include "skin_dual_subgroup.comp.inc"
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

typedef struct shader_code {
    const uint32_t *words;
    size_t size;
} shader_code;

/* The modules of a pass. Drivers go through all of one for each of its pipelines, so what few of
 * them need has a module of its own. */
typedef struct skin_modules {
    shader_code linear, dual, reduce_bounds;
} skin_modules;

static const skin_modules plain_modules = {
    .linear = { skin_code, sizeof(skin_code) },
    .dual = { skin_dual_code, sizeof(skin_dual_code) },
    .reduce_bounds = { reduce_bounds_code, sizeof(reduce_bounds_code) },
};
static const skin_modules subgroup_modules = {
    .linear = { skin_subgroup_code, sizeof(skin_subgroup_code) },
    .dual = { skin_dual_subgroup_code, sizeof(skin_dual_subgroup_code) },
    .reduce_bounds = { reduce_bounds_subgroup_code, sizeof(reduce_bounds_subgroup_code) },
};
static const shader_code joint_boxes_module = { joint_boxes_code, sizeof(joint_boxes_code) };

enum { LARGEST_CHUNK = 65536, CHUNK_UNIT = 64 };

static const char pass_name[] = "the skin pass";

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
} specialisation;

static const VkSpecializationMapEntry constant_entries[] = {
    { 0, offsetof(specialisation, group_size), sizeof(uint32_t) },
    { 1, offsetof(specialisation, group_size), sizeof(uint32_t) },
    { 2, offsetof(specialisation, vertex), sizeof(uint32_t) },
    { 3, offsetof(specialisation, any_influences), sizeof(VkBool32) },
    { 4, offsetof(specialisation, shared_joints), sizeof(uint32_t) },
    { 5, offsetof(specialisation, teams), sizeof(VkBool32) },
    { 6, offsetof(specialisation, read_ahead), sizeof(VkBool32) },
};

/* Processors have no use for wide groups and copies of palettes; and where vertices need not be
 * interleaved, or teams skin them, code for any influences costs them nothing
 * (docs/performance.md).
 */
static bool suits_processors(const skin_permutation *permutation)
{
    return permutation->shape != SHAPE_WIDE && permutation->shared_joints == 0 &&
           (permutation->vertex != PELT_VERTEX_ANY || permutation->any_influences);
}

bool pelt_skin_pass_has(const pelt_skin_pass *pass, uint32_t permutation)
{
    const skin_permutation *asked = &pelt_skin_permutations[permutation];
    return !(pass->no_dual_quaternions && asked->dual) &&
           (!pass->is_processor || suits_processors(asked));
}

static pelt_result check_info(const pelt_host *host, const pelt_skin_pass_info *info)
{
    pelt_result result = pelt_compute_check(host, info->vulkan, pass_name);
    if (result != PELT_OK) {
        return result;
    }
    if (info->chunk_vertices % CHUNK_UNIT != 0 || info->chunk_vertices > LARGEST_CHUNK) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "chunk_vertices is %u: not a multiple of %d up to %d",
                         info->chunk_vertices, CHUNK_UNIT, LARGEST_CHUNK);
    }
    return PELT_OK;
}

/* Whether the device has subgroup arithmetic in compute shaders, and how large workgroups shall be.
 */
static pelt_result examine(pelt_skin_pass *pass, const pelt_instance_functions *vk,
                           const VkPhysicalDeviceProperties *basic, bool *subgroup_arithmetic)
{
    VkPhysicalDeviceSubgroupProperties subgroup = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &subgroup,
    };
    vk->get_physical_device_properties2(pass->compute.vulkan.physical_device, &properties);
    *subgroup_arithmetic = (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
                           (subgroup.supportedOperations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT) != 0;

    /* Vulkan guarantees 128 invocations. Devices with narrow subgroups (software) gain nothing from
     * them and waste less on the ends of meshes with 64. */
    pass->is_processor = basic->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    const VkPhysicalDeviceLimits *limits = &basic->limits;
    pass->group_size = subgroup.subgroupSize >= 32 ? PELT_GROUP_MAX : PELT_GROUP_MAX / 2;
    if (!pelt_compute_has_groups(limits, pass->group_size)) {
        return pelt_fail(pass->compute.host, PELT_ERROR_DEVICE, NULL, NULL,
                         "%s has less than Vulkan's limits for compute workgroups: %u invocations, "
                         "%u x %u groups",
                         basic->deviceName, limits->maxComputeWorkGroupInvocations,
                         limits->maxComputeWorkGroupCount[0], limits->maxComputeWorkGroupCount[1]);
    }
    return PELT_OK;
}

static specialisation specialise(const pelt_skin_pass *pass, const skin_permutation *permutation)
{
    return (specialisation){
        .group_size = permutation->shape == SHAPE_WIDE ? pass->group_size : NARROW_GROUP,
        .vertex = permutation->vertex,
        .any_influences = permutation->any_influences,
        .shared_joints = permutation->shared_joints,
        .teams = permutation->shape == SHAPE_TEAMS,
        .read_ahead = !pass->is_processor,
    };
}

static pelt_result create_pipelines(pelt_skin_pass *pass, VkPipelineCache cache, shader_code code,
                                    const specialisation *values, uint32_t count, VkPipeline *out)
{
    const pelt_compute_shader shader = {
        .code = code.words,
        .code_size = code.size,
        .entries = constant_entries,
        .entry_count = sizeof(constant_entries) / sizeof(constant_entries[0]),
    };
    return pelt_compute_create_pipelines(&pass->compute, cache, &shader, values, sizeof(*values),
                                         count, out);
}

/* Those that the pass has, of linear blending alone or of dual quaternions, too. */
static pelt_result create_permutations(pelt_skin_pass *pass, VkPipelineCache cache,
                                       shader_code code, bool dual)
{
    specialisation values[SKIN_PERMUTATION_COUNT];
    VkPipeline created[SKIN_PERMUTATION_COUNT] = { VK_NULL_HANDLE };
    uint32_t places[SKIN_PERMUTATION_COUNT], count = 0;
    for (uint32_t i = 0; i < SKIN_PERMUTATION_COUNT; i++) {
        if (pelt_skin_permutations[i].dual == dual && pelt_skin_pass_has(pass, i)) {
            values[count] = specialise(pass, &pelt_skin_permutations[i]);
            places[count++] = i;
        }
    }
    if (count == 0) {
        return PELT_OK;
    }
    pelt_result result = create_pipelines(pass, cache, code, values, count, created);
    for (uint32_t i = 0; i < count; i++) {
        pass->pipelines[places[i]] = created[i];
    }
    return result;
}

static pelt_result create_all_pipelines(pelt_skin_pass *pass, VkPipelineCache cache,
                                        const skin_modules *modules)
{
    const specialisation wide = { .group_size = pass->group_size };
    pelt_result result = create_permutations(pass, cache, modules->linear, false);
    if (result == PELT_OK) {
        result = create_permutations(pass, cache, modules->dual, true);
    }
    if (result == PELT_OK) {
        result = create_pipelines(pass, cache, modules->reduce_bounds, &wide, 1,
                                  &pass->pipelines[SKIN_REDUCE_BOUNDS]);
    }
    if (result == PELT_OK) {
        result = create_pipelines(pass, cache, joint_boxes_module, &wide, 1,
                                  &pass->pipelines[SKIN_JOINT_BOXES]);
    }
    return result;
}

static pelt_result create(pelt_skin_pass *pass, const pelt_host *host,
                          const pelt_skin_pass_info *info)
{
    pelt_instance_functions instance;
    VkPhysicalDeviceProperties properties;
    bool subgroup_arithmetic = false;
    pass->chunk_vertices = info->chunk_vertices;
    pass->no_dual_quaternions = info->no_dual_quaternions;
    pelt_result result =
        pelt_compute_open(host, info->vulkan, pass_name, &pass->compute, &instance, &properties);
    if (result == PELT_OK) {
        result = examine(pass, &instance, &properties, &subgroup_arithmetic);
    }
    if (result == PELT_OK) {
        /* The largest of the three. */
        result = pelt_compute_create_layout(&pass->compute, sizeof(struct pelt_skin_constants));
    }
    if (result == PELT_OK) {
        bool use_arithmetic = subgroup_arithmetic && !info->no_subgroup_arithmetic;
        result = create_all_pipelines(pass, info->cache,
                                      use_arithmetic ? &subgroup_modules : &plain_modules);
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
    pelt_skin_pass *pass = pelt_allocate(host, 1, sizeof(*pass));
    if (!pass) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %s", pass_name);
    }
    result = create(pass, host, info);
    if (result != PELT_OK) {
        pelt_skin_pass_destroy(pass);
        return result;
    }
    *out = pass;
    return PELT_OK;
}

void pelt_skin_pass_destroy(pelt_skin_pass *pass)
{
    if (!pass) {
        return;
    }
    pelt_compute_destroy(&pass->compute, pass->pipelines, SKIN_PIPELINE_COUNT);
    pelt_release(pass->compute.host, pass);
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
    const pelt_compute *compute = &pass->compute;
    pelt_compute_push(compute, commands, &skin, sizeof(skin));
    pelt_compute_dispatch(compute, commands, pass->pipelines[tables->permutation], groups);
    if (tables->reduce_count == 0) {
        return;
    }
    pelt_compute_barrier(compute, commands);
    const struct pelt_reduce_constants reduce = {
        .reductions = table + tables->reduction_offset,
        .scratch = scratch,
        .count = tables->reduce_count,
    };
    pelt_compute_push(compute, commands, &reduce, sizeof(reduce));
    pelt_compute_dispatch(compute, commands, pass->pipelines[SKIN_REDUCE_BOUNDS], reduce.count);
}
