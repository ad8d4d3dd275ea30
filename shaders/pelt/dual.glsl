/* SPDX-License-Identifier: MIT */
/* The blended matrix of a vertex by dual quaternions (pelt/skin.h); the twin of src/skin/dual.h.
 * Whoever includes this has defined
 *
 *     vec4 pelt_palette_row(uint joint, uint row)
 *
 * which reads rows 0 to 2 of the skin matrices, and as row 3 their rotations. */
#ifndef PELT_DUAL_GLSL
#define PELT_DUAL_GLSL

#include "deform.glsl"

/* Motions seen from the vertex. The dual parts are linear in it: the rows x y z w of the matrix
 * that makes it of (p 1), without the factor 1/2. */
struct pelt_dual_blend {
    vec4 real;
    vec4 x;
    vec4 y;
    vec4 z;
    vec4 w;
};

pelt_dual_blend pelt_no_motion()
{
    return pelt_dual_blend(vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0));
}

/* A joint's three rows, and its rotation times its weight. */
void pelt_add_turned(inout pelt_dual_blend sum, vec4 row0, vec4 row1, vec4 row2, vec4 q)
{
    sum.real += q;
    sum.x += q.w * row0 + q.z * row1 - q.y * row2;
    sum.y += q.w * row1 + q.x * row2 - q.z * row0;
    sum.z += q.w * row2 + q.y * row0 - q.x * row1;
    sum.w -= q.x * row0 + q.y * row1 + q.z * row2;
}

/* side: the rotation of the dominant joint, on whose side this one's is counted. */
void pelt_add_motion(inout pelt_dual_blend sum, uint joint, float weight, vec4 side)
{
    vec4 row0 = pelt_palette_row(joint, 0u);
    vec4 row1 = pelt_palette_row(joint, 1u);
    vec4 row2 = pelt_palette_row(joint, 2u);
    vec4 q = pelt_palette_row(joint, 3u);
    q *= dot(q, side) < 0.0 ? -weight : weight;
    pelt_add_turned(sum, row0, row1, row2, q);
}

/* The translation: dual times the conjugate of real, by the square of real's length, which is at
 * least that of the largest weight. */
pelt_matrix pelt_blended_matrix(pelt_dual_blend sum)
{
    vec4 q = sum.real * (1.0 / dot(sum.real, sum.real));
    return pelt_matrix(vec4[3](q.w * sum.x - q.x * sum.w - (q.z * sum.y - q.y * sum.z),
                               q.w * sum.y - q.y * sum.w - (q.x * sum.z - q.z * sum.x),
                               q.w * sum.z - q.z * sum.w - (q.y * sum.x - q.x * sum.y)));
}

#endif
