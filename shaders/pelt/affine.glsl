/* SPDX-License-Identifier: MIT */
/* 3x4 matrices of nodes; the twin of src/anim/matrices.c. */
#ifndef PELT_AFFINE_GLSL
#define PELT_AFFINE_GLSL

#include "deform.glsl"

/* One row of a times b, without the row's own translation. */
vec4 pelt_multiply_row(vec4 row, pelt_matrix b)
{
    return row.x * b.rows[0] + row.y * b.rows[1] + row.z * b.rows[2];
}

/* Spelt out: rows that a loop indexes may end up in memory. */
pelt_matrix pelt_multiply(pelt_matrix a, pelt_matrix b)
{
    vec4 x = pelt_multiply_row(a.rows[0], b);
    vec4 y = pelt_multiply_row(a.rows[1], b);
    vec4 z = pelt_multiply_row(a.rows[2], b);
    return pelt_matrix(vec4[3](vec4(x.xyz, x.w + a.rows[0].w), vec4(y.xyz, y.w + a.rows[1].w),
                               vec4(z.xyz, z.w + a.rows[2].w)));
}

/* Translation x rotation x scale, right for a quaternion of any length but 0. */
pelt_matrix pelt_compose(vec3 t, vec4 q, vec3 s)
{
    float square = dot(q, q);
    float k = square > 0.0 ? 2.0 / square : 0.0;
    vec3 x = k * q.x * q.xyz;
    vec2 y = k * q.y * q.yz;
    float zz = k * q.z * q.z;
    vec3 w = k * q.w * q.xyz;
    return pelt_matrix(vec4[3](
        vec4((1.0 - y.x - zz) * s.x, (x.y - w.z) * s.y, (x.z + w.y) * s.z, t.x),
        vec4((x.y + w.z) * s.x, (1.0 - x.x - zz) * s.y, (y.y - w.x) * s.z, t.y),
        vec4((x.z - w.y) * s.x, (y.y + w.x) * s.y, (1.0 - x.x - y.x) * s.z, t.z)));
}

#endif
