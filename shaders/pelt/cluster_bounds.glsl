/* SPDX-License-Identifier: MIT */
/* Which level of detail an instance of clusters needs, and which of its clusters can be seen,
 * before any of their vertices is skinned. For task, mesh and compute shaders alike.
 *
 *     pelt_gpu_cluster_view view = pelt_load_cluster_view(view_address);
 *     pelt_gpu_cluster_instance instance = pelt_load_cluster_instance(instances, index);
 *     pelt_gpu_cluster_mesh mesh = pelt_load_cluster_mesh(instance.mesh);
 *     pelt_gpu_lod lod = pelt_load_cluster_lod(mesh, pelt_choose_lod(mesh, instance, view));
 *     if (pelt_instance_may_be_seen(instance, view)) {
 *         for each cluster of lod.first_cluster, lod.cluster_count:
 *             if (pelt_cluster_may_be_seen(mesh, instance, pelt_load_cluster(mesh, cluster), view))
 *
 * Rounding decides for visibility, and so does NaN: all that is left out lies outside of one of
 * Vulkan's six planes as a whole, as a vertex shader finds out too that multiplies by view.clip.
 */
#ifndef PELT_CLUSTER_BOUNDS_GLSL
#define PELT_CLUSTER_BOUNDS_GLSL

#include "buffers.glsl"
#include "cluster_layout.h"
#include "deform.glsl"

/* -- records ------------------------------------------------------------------------------- */

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer pelt_cluster_list {
    pelt_gpu_cluster at[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer pelt_lod_list {
    pelt_gpu_lod at[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer pelt_cluster_meshes {
    pelt_gpu_cluster_mesh at[];
};
layout(buffer_reference, std430,
       buffer_reference_align = 16) readonly buffer pelt_cluster_instances {
    pelt_gpu_cluster_instance at[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer pelt_cluster_views {
    pelt_gpu_cluster_view at[];
};

pelt_gpu_cluster_view pelt_load_cluster_view(uvec2 address)
{
    return pelt_cluster_views(address).at[0];
}

pelt_gpu_cluster_instance pelt_load_cluster_instance(uvec2 instances, uint index)
{
    return pelt_cluster_instances(instances).at[index];
}

pelt_gpu_cluster_mesh pelt_load_cluster_mesh(uvec2 address)
{
    return pelt_cluster_meshes(address).at[0];
}

pelt_gpu_lod pelt_load_cluster_lod(pelt_gpu_cluster_mesh mesh, uint index)
{
    return pelt_lod_list(mesh.lods).at[index];
}

pelt_gpu_cluster pelt_load_cluster(pelt_gpu_cluster_mesh mesh, uint index)
{
    return pelt_cluster_list(mesh.clusters).at[index];
}

/* -- planes of a view ---------------------------------------------------------------------- */

/* What is inside has p.xyz x + p.w >= 0 for all six. */
struct pelt_frustum {
    vec4 planes[6];
    vec4 sizes[6]; /* of what each was added up from: the errors of the parts are as large as they
                    * are, however small the sum */
};

pelt_frustum pelt_make_frustum(pelt_gpu_cluster_view view)
{
    vec4 rows[4];
    for (int i = 0; i < 4; i++) {
        rows[i] = vec4(view.clip[i], view.clip[4 + i], view.clip[8 + i], view.clip[12 + i]);
    }
    pelt_frustum frustum;
    for (int i = 0; i < 2; i++) {
        frustum.planes[2 * i] = rows[3] + rows[i];
        frustum.planes[2 * i + 1] = rows[3] - rows[i];
        frustum.sizes[2 * i] = abs(rows[3]) + abs(rows[i]);
        frustum.sizes[2 * i + 1] = abs(rows[3]) + abs(rows[i]);
    }
    frustum.planes[4] = rows[2];
    frustum.planes[5] = rows[3] - rows[2];
    frustum.sizes[4] = abs(rows[2]);
    frustum.sizes[5] = abs(rows[3]) + abs(rows[2]);
    return frustum;
}

/* -- an instance --------------------------------------------------------------------------- */

bool pelt_has_box(pelt_gpu_cluster_instance instance)
{
    return (instance.box.x | instance.box.y) != 0u;
}

/* false: it holds nothing, or nobody knows what. */
bool pelt_load_instance_box(pelt_gpu_cluster_instance instance, out vec3 low, out vec3 high)
{
    if (!pelt_has_box(instance)) {
        return false;
    }
    pelt_ordered_box box = pelt_load_box(instance.box, 0u);
    low = intBitsToFloat(pelt_order(box.low));
    high = intBitsToFloat(pelt_order(box.high));
    return all(lessThanEqual(low, high));
}

/* Its box against the view. The margin: 2^-19 of all that is added up, for the ten operations here
 * and those of a vertex shader, each of which is off by 2^-24 of it at most; the box itself holds
 * what skinning rounds. */
bool pelt_instance_may_be_seen(pelt_gpu_cluster_instance instance, pelt_gpu_cluster_view view)
{
    const float ROUNDINGS = 1.0 / 524288.0;
    vec3 low;
    vec3 high;
    if ((view.flags & PELT_VIEW_CULL) == 0u || !pelt_load_instance_box(instance, low, high)) {
        return true;
    }
    pelt_frustum frustum = pelt_make_frustum(view);
    vec3 far = max(abs(low), abs(high));
    bool seen = true;
    for (int i = 0; i < 6; i++) {
        vec4 plane = frustum.planes[i];
        vec3 most = max(plane.xyz * low, plane.xyz * high);
        float magnitude = dot(frustum.sizes[i].xyz, far) + frustum.sizes[i].w;
        seen = seen && !(most.x + most.y + most.z + plane.w < -ROUNDINGS * magnitude);
    }
    return seen;
}

/* Of its mesh's levels the coarsest whose error, seen where its box is nearest to the eye, is small
 * enough; the finest where the eye is in the box or there is none. */
uint pelt_choose_lod(pelt_gpu_cluster_mesh mesh, pelt_gpu_cluster_instance instance,
                     pelt_gpu_cluster_view view)
{
    if (view.lod != PELT_LOD_AUTO) {
        return min(view.lod, mesh.lod_count - 1u);
    }
    vec3 low;
    vec3 high;
    if (!pelt_load_instance_box(instance, low, high)) {
        return 0u;
    }
    vec3 eye = vec3(view.eye[0], view.eye[1], view.eye[2]);
    float distance = length(max(max(low - eye, eye - high), vec3(0.0)));
    if ((view.flags & PELT_VIEW_ORTHOGRAPHIC) != 0u) {
        distance = 1.0;
    }
    uint lod = mesh.lod_count - 1u;
    for (; lod > 0u; lod--) {
        float error = pelt_load_cluster_lod(mesh, lod).error * instance.scale * view.pixels;
        if (error <= view.most_error * distance && distance > 0.0) {
            break;
        }
    }
    return lod;
}

/* -- a cluster ----------------------------------------------------------------------------- */

/* Not less than the length, rounding aside: squares may underflow. */
float pelt_reach(vec3 v)
{
    const float SMALL = 9.094947017729282e-13; /* 2^-40 */
    vec3 a = abs(v);
    float sum = a.x + a.y + a.z;
    return sum < SMALL ? sum : length(v);
}

/* Which planes, a bit each, a joint's sphere lies outside of where its matrix moves it. A ball of
 * radius r around c becomes an ellipsoid around A c + t; what of it is farthest along n is, from
 * its centre, max over |x| <= r of n (A x) = (A^T n) x: that is r |A^T n|, which is at most r times
 * the largest singular value where n is of unit length, and the same for rotations.
 *
 * A vertex lies in the hull of where its joints would put it, and what skinning rounds is a convex
 * combination too of what each joint's terms allow for (src/skin/rounding.h): where all joints'
 * spheres, each with its own margin, are outside, so is what is written. The margin is of all that
 * is added up: influences + 4 roundings of the skinning, 16 of the vertex shader's, and less than
 * 40 here; what underflow takes, 2^-126 an operation, is below that of 2^-118 of the factors. */
uint pelt_planes_outside(pelt_frustum frustum, vec4 sphere, pelt_matrix matrix, float roundings)
{
    const float UNDERFLOW = 3.009265538105056e-36; /* 2^-118 */
    vec3 far = abs(sphere.xyz) + sphere.w;
    vec3 terms;
    for (int i = 0; i < 3; i++) {
        terms[i] = dot(abs(matrix.rows[i].xyz), far) + abs(matrix.rows[i].w);
    }
    uint outside = 0u;
    for (int i = 0; i < 6; i++) {
        vec4 plane = frustum.planes[i];
        vec4 size = frustum.sizes[i];
        vec4 moved = plane.x * matrix.rows[0] + plane.y * matrix.rows[1] +
                     plane.z * matrix.rows[2];
        float most = dot(moved.xyz, sphere.xyz) + moved.w + plane.w +
                     pelt_reach(moved.xyz) * sphere.w;
        float margin = roundings * (dot(size.xyz, terms) + size.w) +
                       UNDERFLOW * (far.x + far.y + far.z + 1.0) *
                           (size.x + size.y + size.z + 1.0);
        outside |= most < -margin ? 1u << i : 0u;
    }
    return outside;
}

/* Whether a cluster can be in the view: not if one plane has all of its joints' spheres outside.
 * Of linear blend skinning alone: dual quaternions carry vertices out of the hull. */
bool pelt_cluster_may_be_seen(pelt_gpu_cluster_mesh mesh, pelt_gpu_cluster_instance instance,
                              pelt_gpu_cluster cluster, pelt_gpu_cluster_view view)
{
    if ((view.flags & PELT_VIEW_CULL) == 0u) {
        return true;
    }
    pelt_frustum frustum = pelt_make_frustum(view);
    float roundings = float(4u * mesh.set_count + 60u) / 16777216.0;
    pelt_rows matrices = pelt_rows(instance.matrices);
    uint outside = 0x3fu;
    for (uint i = 0u; i < cluster.joint_count && outside != 0u; i++) {
        uint place = cluster.first_joint + i;
        uint joint = 3u * pelt_words(mesh.cluster_joints).at[place];
        pelt_matrix matrix = pelt_matrix(
            vec4[3](matrices.at[joint], matrices.at[joint + 1u], matrices.at[joint + 2u]));
        outside &= pelt_planes_outside(frustum, pelt_rows(mesh.spheres).at[place], matrix,
                                       roundings);
    }
    return outside == 0u;
}

#endif
