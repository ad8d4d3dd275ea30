/* The third dispatch of the cull pass: the visible clusters in the order of instances and of their
 * clusters, a draw for each, and how many they are. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#include "pelt/cluster_bounds.glsl"
#include "pelt/cluster_pass.glsl"

/* Workgroups that every device has in one dimension. */
const uint MOST_GROUPS = 65535u;

layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer visible_clusters {
    pelt_gpu_visible_cluster at[];
};
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer cluster_draws {
    pelt_cluster_draw at[];
};
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer cluster_counts {
    pelt_gpu_cluster_counts counts;
};

shared uint shared_before;

/* Visible clusters in blocks before that of a span. */
uint count_before(uint span)
{
    if (gl_LocalInvocationIndex == 0u) {
        shared_before = 0u;
    }
    barrier();
    block_counts blocks = block_counts(blocks_address());
    uint sum = 0u;
    for (uint i = gl_LocalInvocationIndex; i < span / PELT_BLOCK_SPANS; i += PELT_SPAN_CLUSTERS) {
        sum += blocks.at[i];
    }
    if (sum > 0u) {
        atomicAdd(shared_before, sum);
    }
    barrier();
    return shared_before;
}

void write_cluster(uint instance, uint index, uint place)
{
    visible_clusters(constants.visible).at[place].instance = instance;
    visible_clusters(constants.visible).at[place].cluster = index;
    if (constants.draws == uvec2(0u)) {
        return;
    }
    pelt_gpu_cluster_mesh mesh = pelt_load_cluster_mesh(
        pelt_load_cluster_instance(constants.instances, instance).mesh);
    pelt_gpu_cluster cluster = pelt_load_cluster(mesh, index);
    cluster_draws(constants.draws).at[place] =
        pelt_cluster_draw(3u * cluster.triangle_count, 1u,
                          mesh.first_index + 3u * cluster.first_triangle,
                          PELT_CLUSTER_VERTICES * place, place);
}

void write_counts(uint visible)
{
    uint listed = min(visible, constants.capacity);
    uint rows = max((listed + MOST_GROUPS - 1u) / MOST_GROUPS, 1u);
    cluster_counts(constants.counts).counts = pelt_gpu_cluster_counts(
        uint[3]((listed + rows - 1u) / rows, listed > 0u ? rows : 0u, 1u), listed, visible);
}

void main()
{
    uint span = pelt_group_index();
    uint lane = gl_LocalInvocationIndex;
    if (constants.span_count == 0u) {
        if (span == 0u && lane == 0u) {
            write_counts(0u);
        }
        return;
    }
    if (span >= constants.span_count) {
        return;
    }
    uint before = count_before(span);
    pelt_span_state state = span_states(constants.scratch).at[span];
    before += state.before;
    uint place = 0u;
    bool visible = false;
    for (uint i = 0u; i < PELT_SPAN_WORDS; i++) {
        uint word = state.visible[i];
        if (i == lane / 32u) {
            place = before + uint(bitCount(word & ((1u << (lane % 32u)) - 1u)));
            visible = (word >> (lane % 32u) & 1u) != 0u;
        }
        before += uint(bitCount(word));
    }
    if (visible && place < constants.capacity) {
        write_cluster(cluster_spans(constants.spans).at[span].instance, state.first + lane, place);
    }
    if (span == constants.span_count - 1u && lane == 0u) {
        write_counts(before);
    }
}
