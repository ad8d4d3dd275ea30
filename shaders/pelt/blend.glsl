/* SPDX-License-Identifier: MIT */
/* The blended matrix of a vertex of one set of influences. Whoever includes this has defined
 *
 *     vec4 pelt_palette_row(uint joint, uint row)
 *
 * which reads the skin matrices from where they lie. Weights are sorted, the largest first, so what
 * weighs 0 is at the end and is not read; vertices that pelt_pack has put next to each other leave
 * off at the same place, and a subgroup branches as one. */
#ifndef PELT_BLEND_GLSL
#define PELT_BLEND_GLSL

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

#endif
