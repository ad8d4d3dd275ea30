/* Which permutation, and chunks how long. The bounds between shapes come from measurements that
 * docs/performance.md lists; on either side of one both are close. */
#include "vulkan/skin_plan.h"

#include "pelt/layout.h"

bool pelt_is_interleaved(const pelt_gpu_instance *instance)
{
    return instance->normals == instance->positions + 12 && instance->position_stride == 16 &&
           instance->normal_stride == 16 && instance->positions % 16 == 0;
}

bool pelt_has_tangents(const pelt_gpu_mesh *mesh, const pelt_gpu_instance *instance)
{
    return mesh->tangents && instance->tangents_out;
}

/* What there is of the scene. 64 bits hold 2^32 instances of 2^28 vertices. */
typedef struct census {
    uint64_t instances, vertices;
    uint32_t most_sets;
    uint32_t most_joints; /* UINT32_MAX: not known of all */
    bool any_joints_16, any_dual;
    uint64_t interleaved, with_tangents, with_tight_tangents; /* instances */
} census;

static void count_instance(const pelt_gpu_mesh *mesh, const pelt_gpu_instance *instance,
                           census *sum)
{
    uint32_t joints = mesh->joint_count > 0 ? mesh->joint_count : UINT32_MAX;
    sum->instances++;
    sum->vertices += mesh->vertex_count;
    sum->most_sets = mesh->set_count > sum->most_sets ? mesh->set_count : sum->most_sets;
    sum->most_joints = joints > sum->most_joints ? joints : sum->most_joints;
    sum->any_joints_16 |= mesh->joint_bytes == 2;
    sum->any_dual |= instance->dual_quaternions;
    sum->interleaved += pelt_is_interleaved(instance);
    sum->with_tangents += pelt_has_tangents(mesh, instance);
    sum->with_tight_tangents += pelt_has_tangents(mesh, instance) && instance->tangent_stride == 4;
}

static uint64_t mean_vertices(const census *sum)
{
    return sum->instances > 0 ? sum->vertices / sum->instances : 0;
}

/* Where a wide group makes few turns, and the last one half empty, narrow groups win although each
 * reads the palette for itself; processors never have it otherwise. docs/performance.md has the
 * measurements. */
static skin_shape choose_shape(const pelt_skin_pass *pass, const census *sum)
{
    enum { MOST_OF_TEAMS = 48, MOST_OF_TEAMS_ON_PROCESSORS = 128, FEW_TURNS = 4 };
    uint64_t mean = mean_vertices(sum);
    if (pass->is_processor) {
        return mean <= MOST_OF_TEAMS_ON_PROCESSORS ? SHAPE_TEAMS : SHAPE_NARROW;
    }
    return mean <= MOST_OF_TEAMS                  ? SHAPE_TEAMS
           : mean <= FEW_TURNS * pass->group_size ? SHAPE_NARROW
                                                  : SHAPE_WIDE;
}

/* Each invocation of a team has four vertices or a few more. */
static uint32_t choose_team_bits(const census *sum)
{
    uint32_t bits = 0;
    while (bits < LARGEST_TEAM_BITS && UINT64_C(8) << bits <= mean_vertices(sum)) {
        bits++;
    }
    return bits;
}

static uint32_t choose_vertex(const census *sum)
{
    if (sum->interleaved < sum->instances) {
        return PELT_VERTEX_ANY;
    }
    return sum->with_tangents == 0                     ? PELT_VERTEX_PLAIN
           : sum->with_tight_tangents < sum->instances ? PELT_VERTEX_ANY
                                                       : PELT_VERTEX_TANGENTS;
}

/* Copying a palette must pay: its matrices must be read a few times. */
static bool may_share(const skin_permutation *permutation, const census *sum,
                      uint32_t chunk_vertices)
{
    enum { VERTICES_A_JOINT = 8 };
    uint64_t mean = mean_vertices(sum);
    uint64_t vertices = mean < chunk_vertices ? mean : chunk_vertices;
    return permutation->shared_joints == 0 || (sum->most_joints <= permutation->shared_joints &&
                                               vertices >= VERTICES_A_JOINT * sum->most_joints);
}

static uint32_t choose_permutation(const pelt_skin_pass *pass, const census *sum, skin_shape shape,
                                   uint32_t chunk_vertices)
{
    uint32_t vertex = choose_vertex(sum);
    bool any_influences = sum->most_sets > 1 || sum->any_joints_16;
    bool dual = sum->any_dual && !pass->no_dual_quaternions; /* or all that ask are skipped */
    uint32_t i = 0;
    for (; i < SKIN_PERMUTATION_COUNT - 1; i++) {
        const skin_permutation *permutation = &pelt_skin_permutations[i];
        if (pelt_skin_pass_has(pass, i) && permutation->shape == shape &&
            permutation->dual == dual && (permutation->any_influences || !any_influences) &&
            (permutation->vertex == vertex || permutation->vertex == PELT_VERTEX_ANY) &&
            may_share(permutation, sum, chunk_vertices)) {
            break;
        }
    }
    return i;
}

/* Long chunks read a palette and reduce a box for many vertices, but there must be enough of them
 * to keep all of the device busy until the end. */
static uint32_t choose_chunk(const pelt_skin_pass *pass, const census *sum, skin_shape shape)
{
    enum {
        WANTED_BY_GPU = 2048,
        WANTED_BY_PROCESSOR = 64,
        LONGEST = 2048,
        LONGEST_OF_NARROW = 1024
    };
    if (pass->chunk_vertices > 0) {
        return pass->chunk_vertices;
    }
    uint32_t least = shape == SHAPE_WIDE ? 2 * pass->group_size : 64;
    uint32_t most = shape == SHAPE_WIDE ? LONGEST : LONGEST_OF_NARROW;
    uint64_t wanted = pass->is_processor ? WANTED_BY_PROCESSOR : WANTED_BY_GPU;
    uint32_t chunk_vertices = least;
    while (chunk_vertices < most && chunk_vertices * wanted < sum->vertices) {
        chunk_vertices *= 2;
    }
    return chunk_vertices;
}

static census take_census(const pelt_skin_tables_info *info)
{
    census sum = { .most_sets = 1 };
    for (uint32_t i = 0; i < info->instance_count; i++) {
        const pelt_gpu_instance *instance = &info->instances[i];
        if (instance->mesh < info->mesh_count) {
            count_instance(&info->meshes[instance->mesh], instance, &sum);
        }
    }
    return sum;
}

skin_plan pelt_plan_skinning(const pelt_skin_pass *pass, const pelt_skin_tables_info *info)
{
    census sum = take_census(info);
    skin_shape shape = choose_shape(pass, &sum);
    uint32_t chunk_vertices = choose_chunk(pass, &sum, shape);
    return (skin_plan){
        .permutation = choose_permutation(pass, &sum, shape, chunk_vertices),
        .chunk_vertices = chunk_vertices,
        .team_bits = shape == SHAPE_TEAMS ? choose_team_bits(&sum) : 0,
    };
}
