/* The cluster skin pass: a workgroup takes a cluster, or a few that follow each other one after the
 * other, an invocation a vertex. The vertices are those of mesh shaders (pelt/cluster.glsl), the
 * codes of their directions those of the skin pass. The i-th cluster of the list has the i-th 64
 * vertices of the output. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#include "pelt/cluster.glsl"
#include "pelt/cluster_pass_layout.h"
#include "pelt/order.glsl"

layout(push_constant) uniform constants_block { pelt_cluster_skin_constants constants; };

layout(buffer_reference, std430, buffer_reference_align = 16) buffer visible_clusters {
    pelt_gpu_visible_cluster at[];
};
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer cluster_counts {
    pelt_gpu_cluster_counts counts;
};

/* -- one vertex ---------------------------------------------------------------------------- */

uint normal_code(pelt_matrix blended, uint word)
{
    vec3 normal = pelt_scaled_direction(word);
    vec3 turned = pelt_cofactor_times(blended, normal);
    float squared = pelt_dot(turned, turned);
    if (pelt_strain(squared) > PELT_COMFORTABLE) {
        return pelt_encode_direction(pelt_skin_extreme_normal(blended, normal)) | PELT_HANDEDNESS;
    }
    return pelt_encode_scaled(turned, inversesqrt(squared)) + PELT_HANDEDNESS;
}

uint tangent_code(pelt_matrix blended, uint word)
{
    vec3 tangent = pelt_scaled_direction(word);
    vec3 turned = pelt_turn(blended, tangent);
    uint handedness = word & PELT_HANDEDNESS;
    float squared = pelt_dot(turned, turned);
    if (pelt_strain(squared) > PELT_COMFORTABLE) {
        return pelt_encode_direction(pelt_skin_extreme_tangent(blended, tangent)) | handedness;
    }
    return pelt_encode_scaled(turned, inversesqrt(squared)) + handedness;
}

/* What is read of a vertex before its matrices are. */
struct vertex_source {
    uvec4 position_normal;
    uint tangent;
    uint weights;
    uvec2 joints;
};

bool wants_tangents(pelt_gpu_cluster_mesh mesh)
{
    return constants.tangents != uvec2(0u) && mesh.tangents != uvec2(0u);
}

vertex_source load_source(pelt_gpu_cluster_mesh mesh, pelt_gpu_cluster cluster, uint i, uint vertex)
{
    pelt_influence_sets sets = pelt_cluster_influences(mesh, cluster, i, vertex);
    return vertex_source(
        pelt_cluster_source(mesh, vertex),
        wants_tangents(mesh) ? pelt_words(mesh.tangents).at[vertex] : 0u,
        pelt_words(sets.weights).at[vertex],
        pelt_load_joints(sets.joints, sets.joints_16, vertex + sets.joint_shift));
}

/* -- bounds -------------------------------------------------------------------------------- */

/* Of this cluster and the next, in turns, so that nobody waits for them to be emptied. */
shared int shared_low[2][3];
shared int shared_high[2][3];
shared uint shared_radius[2]; /* bits of floats that are not negative compare as these do */

void empty_bounds(uint turn)
{
    if (gl_LocalInvocationIndex == 0u) {
        pelt_ordered_box empty = pelt_empty_box();
        for (uint i = 0u; i < 3u; i++) {
            shared_low[turn][i] = empty.low[i];
            shared_high[turn][i] = empty.high[i];
        }
        shared_radius[turn] = 0u;
    }
}

/* Rounded up: differences, squares, their sum and a root are off by less than 8 x 2^-24 of it.
 * Scaled by a power of two, so that squares neither overflow nor underflow. */
float distance_at_most(vec3 a, vec3 b)
{
    vec3 difference = a - b;
    float scale = pelt_power_to_one(pelt_largest(difference));
    vec3 scaled = difference * scale;
    return sqrt(pelt_dot(scaled, scaled)) / scale * (1.0 + 1.0 / 1048576.0);
}

/* All invocations call it; those that have no vertex do not count. */
void write_bounds(uint place, uint turn, bool has_vertex, vec3 position)
{
    if (has_vertex) {
        ivec3 ordered = pelt_order(floatBitsToInt(position));
        for (uint i = 0u; i < 3u; i++) {
            atomicMin(shared_low[turn][i], ordered[i]);
            atomicMax(shared_high[turn][i], ordered[i]);
        }
    }
    barrier();
    vec3 low = intBitsToFloat(
        pelt_order(ivec3(shared_low[turn][0], shared_low[turn][1], shared_low[turn][2])));
    vec3 high = intBitsToFloat(
        pelt_order(ivec3(shared_high[turn][0], shared_high[turn][1], shared_high[turn][2])));
    vec3 centre = low * 0.5 + high * 0.5;
    empty_bounds(1u - turn);
    if (has_vertex) {
        atomicMax(shared_radius[turn], floatBitsToUint(distance_at_most(position, centre)));
    }
    barrier();
    if (gl_LocalInvocationIndex == 0u) {
        visible_clusters list = visible_clusters(constants.visible);
        list.at[place].sphere =
            float[4](centre.x, centre.y, centre.z, uintBitsToFloat(shared_radius[turn]));
        list.at[place].low = float[3](low.x, low.y, low.z);
        list.at[place].high = float[3](high.x, high.y, high.z);
    }
}

/* -- a cluster ----------------------------------------------------------------------------- */

/* A listed cluster, and the invocation's vertex of it; without one, the last one. */
struct work_item {
    pelt_gpu_visible_cluster listed;
    uint vertex_count;
    uint i;
    uint vertex;
};

work_item load_item(uint place)
{
    pelt_gpu_visible_cluster listed = visible_clusters(constants.visible).at[place];
    uint vertex_count = listed.counts & 0xffffu;
    uint i = min(gl_LocalInvocationIndex, vertex_count - 1u);
    return work_item(listed, vertex_count, i, pelt_words(listed.vertex_table).at[i]);
}

pelt_gpu_cluster cluster_of(work_item item)
{
    return pelt_gpu_cluster(item.listed.first_vertex, item.vertex_count, 0u, 0u, 0u,
                            item.listed.counts >> 16, 0u, 0u);
}

/* Gives its position. */
vec3 skin_vertex(work_item item, pelt_gpu_cluster_mesh mesh, vertex_source source, uint slot)
{
    pelt_matrix blended;
    if (mesh.set_count == 1u) {
        bool joints_16 = mesh.joints_16 != 0u && !pelt_joints_are_local;
        blended = pelt_blend(source.weights, pelt_unpack_joints(source.joints, joints_16));
    } else {
        blended = pelt_cluster_matrix(mesh, cluster_of(item), item.i, item.vertex);
    }
    vec3 position = pelt_cluster_position(blended, source.position_normal);
    pelt_out_quads(constants.vertices).at[slot] =
        uvec4(floatBitsToUint(position), normal_code(blended, source.position_normal.w));
    if (wants_tangents(mesh)) {
        pelt_out_words(constants.tangents).at[slot] = tangent_code(blended, source.tangent);
    }
    return position;
}

/* What is listed of the next cluster is read before this one is skinned. Reading its vertices, too,
 * has been tried: it takes more registers than it saves time. */
void main()
{
    uint listed = cluster_counts(constants.counts).counts.listed;
    uint groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    uint in_turn = (listed + groups - 1u) / groups;
    uint place = pelt_group_index() * in_turn;
    uint end = min(place + in_turn, listed);
    if (place >= end) {
        return;
    }
    uint turn = 0u;
    empty_bounds(turn);
    barrier();
    work_item next = load_item(place);
    uvec2 mesh_address = next.listed.mesh;
    pelt_gpu_cluster_mesh mesh = pelt_load_cluster_mesh(mesh_address);
    for (; place < end; place++) {
        work_item item = next;
        if (item.listed.mesh != mesh_address) {
            mesh_address = item.listed.mesh;
            mesh = pelt_load_cluster_mesh(mesh_address);
        }
        pelt_gpu_cluster cluster = cluster_of(item);
        mesh.cluster_joints = item.listed.cluster_joints;
        pelt_use_joints_of(cluster);
        vertex_source source = load_source(mesh, cluster, item.i, item.vertex);
        next = load_item(min(place + 1u, end - 1u));
        pelt_use_cluster(mesh, cluster, item.listed.matrices);

        bool has_vertex = gl_LocalInvocationIndex < item.vertex_count;
        vec3 position = vec3(0.0);
        if (has_vertex) {
            position = skin_vertex(item, mesh, source, PELT_CLUSTER_VERTICES * place + item.i);
        }
        if (constants.bounds != 0u) {
            write_bounds(place, turn, has_vertex, position);
        } else if (PELT_SHARED_JOINTS > 0u) {
            barrier(); /* before the matrices of the next replace these */
        }
        turn = 1u - turn;
    }
}
