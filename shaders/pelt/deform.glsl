/* SPDX-License-Identifier: MIT */
/* Linear blend skinning of one vertex, from a blended matrix; the twin of src/skin/deform.h, the
 * same operations in the same order. */
#ifndef PELT_DEFORM_GLSL
#define PELT_DEFORM_GLSL

/* Three rows of four. */
struct pelt_matrix {
    vec4 rows[3];
};

pelt_matrix pelt_zero_matrix()
{
    return pelt_matrix(vec4[3](vec4(0.0), vec4(0.0), vec4(0.0)));
}

/* The largest magnitude. */
float pelt_largest(vec3 v)
{
    vec3 a = abs(v);
    return max(a.x, max(a.y, a.z));
}

/* The power of two that brings a finite value into [1, 2), or a denormal one up to below 1. */
float pelt_power_to_one(float value)
{
    uint exponent = floatBitsToUint(value) & 0x7f800000u;
    return uintBitsToFloat(exponent == 0u ? 0x7e800000u : 0x7f000000u - exponent);
}

/* GLSL's dot may sum in any order. */
float pelt_dot(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* To unit length, if the squared length is far from overflow and underflow: 2^-60 to 2^60. */
bool pelt_normalize_comfortable(inout vec3 v)
{
    float squared = pelt_dot(v, v);
    if (!(squared >= uintBitsToFloat(0x21800000u) && squared <= uintBitsToFloat(0x5d800000u))) {
        return false;
    }
    v *= inversesqrt(squared);
    return true;
}

/* To unit length whatever its length; false if there is none. */
bool pelt_normalize_any(inout vec3 v)
{
    v *= pelt_power_to_one(pelt_largest(v));
    return pelt_normalize_comfortable(v);
}

/* M (p 1) */
vec3 pelt_transform_point(pelt_matrix m, vec3 p)
{
    return vec3(pelt_dot(m.rows[0].xyz, p) + m.rows[0].w, pelt_dot(m.rows[1].xyz, p) + m.rows[1].w,
                pelt_dot(m.rows[2].xyz, p) + m.rows[2].w);
}

/* The bits of a position, -0 as +0. By integers, for a device may ignore the sign of zero. */
uvec3 pelt_position_bits(vec3 position)
{
    uvec3 bits = floatBitsToUint(position);
    return mix(bits, uvec3(0u), equal(bits, uvec3(0x80000000u)));
}

/* cof(A) n: the rows of cof(A) are r1 x r2, r2 x r0, r0 x r1. */
vec3 pelt_cofactor_times(pelt_matrix m, vec3 n)
{
    vec3 r0 = m.rows[0].xyz;
    vec3 r1 = m.rows[1].xyz;
    vec3 r2 = m.rows[2].xyz;
    return vec3(pelt_dot(cross(r1, r2), n), pelt_dot(cross(r2, r0), n),
                pelt_dot(cross(r0, r1), n));
}

/* normalize(cof(A) n); (0 0 1) if that vanishes. n need not be unit. Where the products of two
 * elements come near overflow or underflow they are formed again from A scaled by a power of two,
 * which changes no direction. */
vec3 pelt_skin_normal(pelt_matrix m, vec3 n)
{
    vec3 v = pelt_cofactor_times(m, n);
    if (pelt_normalize_comfortable(v)) {
        return v;
    }
    float scale = pelt_power_to_one(
        pelt_largest(vec3(pelt_largest(m.rows[0].xyz), pelt_largest(m.rows[1].xyz),
                          pelt_largest(m.rows[2].xyz))));
    for (int row = 0; row < 3; row++) {
        m.rows[row].xyz *= scale;
    }
    v = pelt_cofactor_times(m, n);
    return pelt_normalize_any(v) ? v : vec3(0.0, 0.0, 1.0);
}

/* normalize(A t); (1 0 0) if that vanishes. t need not be unit. */
vec3 pelt_skin_tangent(pelt_matrix m, vec3 t)
{
    vec3 v = vec3(pelt_dot(m.rows[0].xyz, t), pelt_dot(m.rows[1].xyz, t),
                  pelt_dot(m.rows[2].xyz, t));
    return pelt_normalize_comfortable(v) || pelt_normalize_any(v) ? v : vec3(1.0, 0.0, 0.0);
}

#endif
