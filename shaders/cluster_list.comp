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

/* Visible clusters in blocks before that of the workgroup's spans. All invocations call it. */
uint count_before(uint block)
{
    if (gl_LocalInvocationIndex == 0u) {
        shared_before = 0u;
    }
    barrier();
    block_counts blocks = block_counts(blocks_address());
    uint sum = 0u;
    for (uint i = gl_LocalInvocationIndex; i < block; i += PELT_GROUP_SIZE) {
        sum += blocks.at[i];
    }
    if (sum > 0u) {
        atomicAdd(shared_before, sum);
    }
    barrier();
    return shared_before;
}

uvec2 offset(uvec2 address, uint bytes)
{
    uint carry;
    uint low = uaddCarry(address.x, bytes, carry);
    return uvec2(low, address.y + carry);
}

void write_cluster(uint instance_index, uint index, uint place)
{
    pelt_gpu_cluster_instance instance =
        pelt_load_cluster_instance(constants.instances, instance_index);
    pelt_gpu_cluster_mesh mesh = pelt_load_cluster_mesh(instance.mesh);
    pelt_gpu_cluster cluster = pelt_load_cluster(mesh, index);
    visible_clusters list = visible_clusters(constants.visible);
    list.at[place].instance = instance_index;
    list.at[place].cluster = index;
    list.at[place].mesh = instance.mesh;
    list.at[place].matrices = instance.matrices;
    list.at[place].vertex_table = offset(mesh.vertex_table, 4u * cluster.first_vertex);
    list.at[place].cluster_joints = offset(mesh.cluster_joints, 4u * cluster.first_joint);
    list.at[place].first_vertex = cluster.first_vertex;
    list.at[place].counts = cluster.vertex_count | cluster.joint_count << 16;
    if (constants.draws != uvec2(0u)) {
        cluster_draws(constants.draws).at[place] =
            pelt_cluster_draw(3u * cluster.triangle_count, 1u,
                              mesh.first_index + 3u * cluster.first_triangle,
                              PELT_CLUSTER_VERTICES * place, place);
    }
}

/* A workgroup takes up to PELT_CLUSTERS_IN_TURN clusters, so that the next one is read while one is
 * skinned, but there must be enough of them to keep all of a device busy. */
void write_counts(uint visible)
{
    uint listed = min(visible, constants.capacity);
    uint in_turn = clamp(listed / PELT_CLUSTER_GROUPS_WANTED, 1u, uint(PELT_CLUSTERS_IN_TURN));
    uint groups = (listed + in_turn - 1u) / in_turn;
    uint rows = max((groups + MOST_GROUPS - 1u) / MOST_GROUPS, 1u);
    cluster_counts(constants.counts).counts = pelt_gpu_cluster_counts(
        uint[3]((groups + rows - 1u) / rows, groups > 0u ? rows : 0u, 1u), listed, visible);
}

void main()
{
    uint lane = gl_LocalInvocationIndex % PELT_SPAN_CLUSTERS;
    uint first = pelt_group_index() * PELT_SPANS_A_GROUP;
    uint span = first + gl_LocalInvocationIndex / PELT_SPAN_CLUSTERS;
    if (constants.span_count == 0u && span == 0u && lane == 0u) {
        write_counts(0u);
    }
    if (first >= constants.span_count) {
        return;
    }
    uint before = count_before(first / PELT_BLOCK_SPANS);
    if (span >= constants.span_count) {
        return;
    }
    pelt_span_state state = span_states(constants.scratch).at[span];
    before += state.before;
    uint place = before + uint(bitCount(state.visible & ((1u << lane) - 1u)));
    bool visible = (state.visible >> lane & 1u) != 0u;
    if (visible && place < constants.capacity) {
        write_cluster(cluster_spans(constants.spans).at[span].instance, state.first + lane, place);
    }
    if (span == constants.span_count - 1u && lane == 0u) {
        write_counts(before + uint(bitCount(state.visible)));
    }
}
