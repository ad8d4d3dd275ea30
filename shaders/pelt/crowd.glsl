/* SPDX-License-Identifier: MIT */
/* A vertex of an instance that a crowd's draw call draws: everything between gl_VertexIndex,
 * gl_InstanceIndex and gl_Position. Includes palette_texture.glsl, whose conditions hold; the
 * shader enables GL_EXT_buffer_reference and GL_EXT_buffer_reference_uvec2. */
#ifndef PELT_CROWD_GLSL
#define PELT_CROWD_GLSL

#include "buffers.glsl"
#include "palette_dual.glsl"
#include "palette_texture.glsl"
/* Of which it needs pelt_palette_row. */
#include "blend.glsl"

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer pelt_crowd_instances {
    pelt_crowd_instance at[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer pelt_crowd_meshes {
    pelt_crowd_mesh at[];
};

/* instances: what pelt_cmd_crowd wrote. */
pelt_crowd_instance pelt_load_instance(uvec2 instances, uint index)
{
    return pelt_crowd_instances(instances).at[index];
}

/* mesh: what pelt_crowd_mesh_write wrote. */
pelt_crowd_mesh pelt_load_mesh(uvec2 mesh)
{
    return pelt_crowd_meshes(mesh).at[0];
}

vec4 pelt_tint(pelt_crowd_instance instance)
{
    return unpackUnorm4x8(instance.tint);
}

/* By dual quaternions. The implied weight's joint is the dominant one; with all of the weight its
 * matrix stays as it is. */
pelt_matrix pelt_crowd_blend_dual(pelt_influence_sets sets, uint vertex,
                                  pelt_influences influences)
{
    pelt_motion dominant = pelt_palette_motion(influences.joints[0]);
    pelt_palette_blend sum = pelt_no_palette_motion();
    float implied = 1.0;
    for (uint set = 0u;;) {
        for (uint slot = 0u; slot < 4u; slot++) {
            float weight = influences.weights[slot];
            if (weight > 0.0) {
                pelt_add_palette_motion(sum, pelt_palette_motion(influences.joints[slot]), weight,
                                        dominant.real);
                implied -= weight;
            }
        }
        set++;
        if (set >= sets.set_count) {
            break;
        }
        influences = pelt_further_set(sets, set, vertex);
    }
    if (implied == 1.0) {
        return pelt_motion_matrix(dominant);
    }
    pelt_add_palette_motion(sum, dominant, implied, dominant.real);
    return pelt_palette_blended_matrix(sum);
}

/* The blended matrix of a vertex. */
pelt_matrix pelt_crowd_blend(pelt_crowd_mesh mesh, uint vertex)
{
    bool joints_16 = mesh.joints_16 != 0u;
    uint weights = pelt_words(mesh.weights).at[vertex];
    uvec4 joints =
        pelt_unpack_joints(pelt_load_joints(mesh.joints, joints_16, vertex), joints_16);
    pelt_influence_sets sets = pelt_influence_sets(mesh.weights, mesh.joints, joints_16,
                                                   mesh.vertex_count, mesh.set_count,
                                                   mesh.vertex_count, 0u);
    pelt_influences first = pelt_influences(pelt_first_weights(weights), joints);
    if (pelt_palette.kind.skinning == PELT_PALETTE_DUAL) {
        return pelt_crowd_blend_dual(sets, vertex, first);
    }
    if (mesh.set_count == 1u) {
        return pelt_blend(weights, joints);
    }
    return pelt_blend_sets(sets, vertex, first);
}

/* A vertex where its instance stands; directions are unit. */
struct pelt_skinned_vertex {
    vec3 position;
    vec3 normal;
    vec4 tangent; /* w: handedness; (1 0 0 1) where the mesh has none */
};

pelt_matrix pelt_instance_world(pelt_crowd_instance instance)
{
    return pelt_matrix(instance.world);
}

/* The vertex's matrix: world x blended. */
pelt_matrix pelt_crowd_matrix(pelt_palette_texture texture_kind, pelt_crowd_mesh mesh,
                              pelt_crowd_instance instance, uint vertex)
{
    pelt_use_palette(texture_kind, mesh.first_joint, instance.place, instance.fraction);
    return pelt_multiply(pelt_instance_world(instance), pelt_crowd_blend(mesh, vertex));
}

/* Its position alone, for depth and shadow passes. */
vec3 pelt_crowd_position(pelt_palette_texture texture_kind, pelt_crowd_mesh mesh,
                         pelt_crowd_instance instance, uint vertex)
{
    vec3 bound = uintBitsToFloat(pelt_quads(mesh.vertices).at[vertex].xyz);
    return pelt_transform_point(pelt_crowd_matrix(texture_kind, mesh, instance, vertex), bound);
}

pelt_skinned_vertex pelt_crowd_vertex(pelt_palette_texture texture_kind, pelt_crowd_mesh mesh,
                                      pelt_crowd_instance instance, uint vertex)
{
    pelt_matrix matrix = pelt_crowd_matrix(texture_kind, mesh, instance, vertex);
    uvec4 source = pelt_quads(mesh.vertices).at[vertex];
    vec4 tangent = vec4(1.0, 0.0, 0.0, 1.0);
    if (mesh.tangents != uvec2(0u)) {
        uint word = pelt_words(mesh.tangents).at[vertex];
        tangent = vec4(pelt_skin_tangent(matrix, pelt_scaled_direction(word)),
                       (word & PELT_HANDEDNESS) != 0u ? 1.0 : -1.0);
    }
    return pelt_skinned_vertex(pelt_transform_point(matrix, uintBitsToFloat(source.xyz)),
                               pelt_skin_normal(matrix, pelt_scaled_direction(source.w)), tangent);
}

#endif
