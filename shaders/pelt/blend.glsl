/* SPDX-License-Identifier: MIT */
/* The blended matrix of a vertex. Whoever includes this has defined
 *
 *     vec4 pelt_palette_row(uint joint, uint row)
 *
 * which reads the skin matrices from where they lie. Weights are sorted, the largest first, so what
 * weighs 0 is at the end and is not read; vertices that pelt_pack has put next to each other leave
 * off at the same place, and a subgroup branches as one. */
#ifndef PELT_BLEND_GLSL
#define PELT_BLEND_GLSL

#include "buffers.glsl"
#include "deform.glsl"
#include "unpack.glsl"

/* Words of weights are below these where there are no more than one, two and three influences. */
const uint PELT_TWO_INFLUENCES = 1u;
const uint PELT_THREE_INFLUENCES = 0x800u;
const uint PELT_FOUR_INFLUENCES = 0x400000u;

void pelt_add_joint(inout pelt_matrix sum, uint joint, float weight)
{
    for (uint row = 0u; row < 3u; row++) {
        sum.rows[row] += weight * pelt_palette_row(joint, row);
    }
}

/* Of one set of influences. */
pelt_matrix pelt_blend(uint weights, uvec4 joints)
{
    vec4 w = pelt_first_weights(weights);
    float implied = ((1.0 - w[1]) - w[2]) - w[3];
    pelt_matrix sum;
    for (uint row = 0u; row < 3u; row++) {
        sum.rows[row] = implied * pelt_palette_row(joints[0], row);
    }
    if (weights >= PELT_TWO_INFLUENCES) {
        pelt_add_joint(sum, joints[1], w[1]);
        if (weights >= PELT_THREE_INFLUENCES) {
            pelt_add_joint(sum, joints[2], w[2]);
            if (weights >= PELT_FOUR_INFLUENCES) {
                pelt_add_joint(sum, joints[3], w[3]);
            }
        }
    }
    return sum;
}

/* The joints of a set, as they lie in memory. A mesh's entry is set x vertex_count + vertex. */
uvec2 pelt_load_joints(uvec2 address, bool joints_16, uint entry)
{
    pelt_words joints = pelt_words(address);
    if (joints_16) {
        return uvec2(joints.at[2u * entry], joints.at[2u * entry + 1u]);
    }
    return uvec2(joints.at[entry], 0u);
}

uvec4 pelt_unpack_joints(uvec2 words, bool joints_16)
{
    return joints_16 ? pelt_joints_16(words) : pelt_joints_8(words.x);
}

/* Where the influences of a mesh are. */
struct pelt_influence_sets {
    uvec2 weights;
    uvec2 joints;
    bool joints_16;
    uint vertex_count;
    uint set_count;
    uint joint_stride; /* entries of joints from one set to the next */
    uint joint_shift;  /* from where a vertex would be in its set to where it is */
};

/* One set of a vertex; the implied weight of the first is given as 0. */
struct pelt_influences {
    vec4 weights;
    uvec4 joints;
};

/* A set behind the first. */
pelt_influences pelt_further_set(pelt_influence_sets sets, uint set, uint vertex)
{
    pelt_words words = pelt_words(sets.weights);
    uint at = sets.vertex_count + 2u * ((set - 1u) * sets.vertex_count + vertex);
    uint entry = set * sets.joint_stride + vertex + sets.joint_shift;
    return pelt_influences(
        pelt_further_weights(uvec2(words.at[at], words.at[at + 1u])),
        pelt_unpack_joints(pelt_load_joints(sets.joints, sets.joints_16, entry), sets.joints_16));
}

/* Of several sets, of which the first has been read. The implied weight, the largest, is known and
 * added last. */
pelt_matrix pelt_blend_sets(pelt_influence_sets sets, uint vertex, pelt_influences influences)
{
    uint implied_joint = influences.joints[0];
    float implied = 1.0;
    pelt_matrix sum = pelt_zero_matrix();
    for (uint set = 0u;;) {
        for (uint slot = 0u; slot < 4u; slot++) {
            float weight = influences.weights[slot];
            if (weight > 0.0) {
                pelt_add_joint(sum, influences.joints[slot], weight);
                implied -= weight;
            }
        }
        set++;
        if (set >= sets.set_count) {
            break;
        }
        influences = pelt_further_set(sets, set, vertex);
    }
    pelt_add_joint(sum, implied_joint, implied);
    return sum;
}

#endif
