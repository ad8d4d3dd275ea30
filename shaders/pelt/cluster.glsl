/* SPDX-License-Identifier: MIT */
/* The vertices and triangles of a cluster, skinned as the skin pass does: for mesh shaders, one
 * workgroup a cluster, and for compute shaders. The shader enables GL_EXT_buffer_reference and
 * GL_EXT_buffer_reference_uvec2. Its workgroup calls pelt_use_cluster first.
 *
 * Matrices are read by address, or by those that the cluster needs from shared memory, where they
 * lie by its own list of joints. Either way it is the same arithmetic. */
#ifndef PELT_CLUSTER_GLSL
#define PELT_CLUSTER_GLSL

#include "buffers.glsl"
#include "cluster_bounds.glsl"
#include "group.glsl"

/* Room for the matrices of so many joints; 0, and clusters of more: by address. */
layout(constant_id = 4) const uint PELT_SHARED_JOINTS = 0;

/* An array for each row, as in palette.glsl. */
shared vec4 pelt_shared_rows[3u * PELT_SHARED_JOINTS + 1u];
uvec2 pelt_matrices;
bool pelt_joints_are_local;

vec4 pelt_palette_row(uint joint, uint row)
{
    return pelt_joints_are_local ? pelt_shared_rows[row * PELT_SHARED_JOINTS + joint]
                                 : pelt_rows(pelt_matrices).at[3u * joint + row];
}

/* Which reads the palette. */
#include "blend.glsl"

/* Which cluster's influences are read, and blended, from here on. */
void pelt_use_joints_of(pelt_gpu_cluster cluster)
{
    pelt_joints_are_local = PELT_SHARED_JOINTS > 0u && cluster.joint_count <= PELT_SHARED_JOINTS;
}

/* Whose matrices the vertices follow. All invocations call it, for the same cluster. */
void pelt_use_cluster(pelt_gpu_cluster_mesh mesh, pelt_gpu_cluster cluster, uvec2 matrices)
{
    pelt_matrices = matrices;
    pelt_use_joints_of(cluster);
    if (PELT_SHARED_JOINTS == 0u) {
        return;
    }
    if (pelt_joints_are_local) {
        for (uint i = gl_LocalInvocationIndex; i < cluster.joint_count; i += PELT_GROUP_SIZE) {
            uint joint = pelt_words(mesh.cluster_joints).at[cluster.first_joint + i];
            for (uint row = 0u; row < 3u; row++) {
                pelt_shared_rows[row * PELT_SHARED_JOINTS + i] =
                    pelt_rows(matrices).at[3u * joint + row];
            }
        }
    }
    barrier();
}

/* The vertex of the packed mesh that is the cluster's i-th. */
uint pelt_cluster_vertex(pelt_gpu_cluster_mesh mesh, pelt_gpu_cluster cluster, uint i)
{
    return pelt_words(mesh.vertex_table).at[cluster.first_vertex + i];
}

/* Three of the cluster's vertices. */
uvec3 pelt_cluster_triangle(pelt_gpu_cluster_mesh mesh, pelt_gpu_cluster cluster, uint i)
{
    uint word = pelt_words(mesh.triangles).at[cluster.first_triangle + i];
    return uvec3(word, word >> 8, word >> 16) & 0xffu;
}

/* Where the influences of the cluster's i-th vertex are. */
pelt_influence_sets pelt_cluster_influences(pelt_gpu_cluster_mesh mesh, pelt_gpu_cluster cluster,
                                            uint i, uint vertex)
{
    if (pelt_joints_are_local) {
        return pelt_influence_sets(mesh.weights, mesh.local_joints, false, mesh.vertex_count,
                                   mesh.set_count, cluster.vertex_count,
                                   mesh.set_count * cluster.first_vertex + i - vertex);
    }
    return pelt_influence_sets(mesh.weights, mesh.joints, mesh.joints_16 != 0u, mesh.vertex_count,
                               mesh.set_count, mesh.vertex_count, 0u);
}

/* The blended matrix of the cluster's i-th vertex, which is that vertex of the packed mesh. */
pelt_matrix pelt_cluster_matrix(pelt_gpu_cluster_mesh mesh, pelt_gpu_cluster cluster, uint i,
                                uint vertex)
{
    pelt_influence_sets sets = pelt_cluster_influences(mesh, cluster, i, vertex);
    uint weights = pelt_words(sets.weights).at[vertex];
    uvec2 words = pelt_load_joints(sets.joints, sets.joints_16, vertex + sets.joint_shift);
    uvec4 joints = pelt_unpack_joints(words, sets.joints_16);
    if (mesh.set_count == 1u) {
        return pelt_blend(weights, joints);
    }
    return pelt_blend_sets(sets, vertex, pelt_influences(pelt_first_weights(weights), joints));
}

/* Position and code of the normal, before they are skinned. */
uvec4 pelt_cluster_source(pelt_gpu_cluster_mesh mesh, uint vertex)
{
    return pelt_quads(mesh.vertices).at[vertex];
}

/* The position that the skin pass writes. */
vec3 pelt_cluster_position(pelt_matrix blended, uvec4 source)
{
    return pelt_settle(pelt_transform_point(blended, uintBitsToFloat(source.xyz)));
}

/* Unit, by the cofactors, not rounded to ten bits as the skin pass must. */
vec3 pelt_cluster_normal(pelt_matrix blended, uvec4 source)
{
    return pelt_skin_normal(blended, pelt_scaled_direction(source.w));
}

/* Unit, and the handedness; (1 0 0 1) where the mesh has none. */
vec4 pelt_cluster_tangent(pelt_gpu_cluster_mesh mesh, pelt_matrix blended, uint vertex)
{
    if (mesh.tangents == uvec2(0u)) {
        return vec4(1.0, 0.0, 0.0, 1.0);
    }
    uint word = pelt_words(mesh.tangents).at[vertex];
    return vec4(pelt_skin_tangent(blended, pelt_scaled_direction(word)),
                (word & PELT_HANDEDNESS) != 0u ? 1.0 : -1.0);
}

#endif
