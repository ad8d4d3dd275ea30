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

/* Squared lengths from 2^-60 to 2^60 are far from overflow and underflow: they give a measure up to
 * this one. What is NaN or infinite gives a larger one. */
const uint PELT_COMFORTABLE = 0x5d800000u - 0x21800000u;

uint pelt_strain(float squared)
{
    return floatBitsToUint(squared) - 0x21800000u;
}

/* To unit length, if the squared length is comfortable. */
bool pelt_normalize_comfortable(inout vec3 v)
{
    float squared = pelt_dot(v, v);
    if (pelt_strain(squared) > PELT_COMFORTABLE) {
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

/* M (p 1), by rows as a row is read: three multiplications with additions. */
vec3 pelt_transform_point(pelt_matrix m, vec3 p)
{
    vec3 moved;
    for (int i = 0; i < 3; i++) {
        vec4 row = m.rows[i];
        moved[i] = row.x * p.x + (row.y * p.y + (row.z * p.z + row.w));
    }
    return moved;
}

/* The components of a position as they are written: below the least normal float in magnitude, and
 * -0, are +0, and so is NaN. Minima and maxima of such floats are exact on every device, whatever
 * it makes of denormals and the sign of zero. */
vec3 pelt_settle(vec3 position)
{
    vec3 least_normal = vec3(uintBitsToFloat(0x00800000u));
    return mix(vec3(0.0), position, greaterThanEqual(abs(position), least_normal));
}

/* A v */
vec3 pelt_turn(pelt_matrix m, vec3 v)
{
    return vec3(pelt_dot(m.rows[0].xyz, v), pelt_dot(m.rows[1].xyz, v),
                pelt_dot(m.rows[2].xyz, v));
}

/* cof(A) n: the rows of cof(A) are r1 x r2, r2 x r0, r0 x r1, and (a x b) n = a (b x n), so that
 * two cross products serve. */
vec3 pelt_cofactor_times(pelt_matrix m, vec3 n)
{
    vec3 r0 = m.rows[0].xyz;
    vec3 r1 = m.rows[1].xyz;
    vec3 r2n = cross(m.rows[2].xyz, n);
    return vec3(pelt_dot(r1, r2n), -pelt_dot(r0, r2n), pelt_dot(r0, cross(r1, n)));
}

/* A with its largest element brought into [1, 2) by a power of two, which changes no direction. */
pelt_matrix pelt_matrix_to_one(pelt_matrix m)
{
    float scale = pelt_power_to_one(
        pelt_largest(vec3(pelt_largest(m.rows[0].xyz), pelt_largest(m.rows[1].xyz),
                          pelt_largest(m.rows[2].xyz))));
    for (int i = 0; i < 3; i++) {
        m.rows[i].xyz *= scale;
    }
    return m;
}

/* Whether a vector's size is between 2^-100 and 2^100: if it is a sum of products, one that has
 * underflowed would not have mattered, and none has overflowed. By bits, for NaN is not. */
bool pelt_is_moderate(vec3 v)
{
    uint size = floatBitsToUint(abs(v.x) + abs(v.y) + abs(v.z));
    return size - 0x0d800000u <= 0x71800000u - 0x0d800000u;
}

/* normalize(cof(A) n) whatever A; (0 0 1) if that vanishes. n need not be unit. A as it is comes
 * first: if its elements differ much, scaling the largest to 1 leaves little of the others. */
vec3 pelt_skin_extreme_normal(pelt_matrix m, vec3 n)
{
    vec3 v = pelt_cofactor_times(m, n);
    if (!pelt_is_moderate(v)) {
        v = pelt_cofactor_times(pelt_matrix_to_one(m), n);
    }
    return pelt_normalize_any(v) ? v : vec3(0.0, 0.0, 1.0);
}

/* normalize(A t) whatever A; (1 0 0) if that vanishes. t need not be unit. */
vec3 pelt_skin_extreme_tangent(pelt_matrix m, vec3 t)
{
    vec3 v = pelt_turn(m, t);
    if (!pelt_is_moderate(v)) {
        v = pelt_turn(pelt_matrix_to_one(m), t);
    }
    return pelt_normalize_any(v) ? v : vec3(1.0, 0.0, 0.0);
}

/* The same, sooner where nothing comes near overflow or underflow. */
vec3 pelt_skin_normal(pelt_matrix m, vec3 n)
{
    vec3 v = pelt_cofactor_times(m, n);
    return pelt_normalize_comfortable(v) ? v : pelt_skin_extreme_normal(m, n);
}

vec3 pelt_skin_tangent(pelt_matrix m, vec3 t)
{
    vec3 v = pelt_turn(m, t);
    return pelt_normalize_comfortable(v) ? v : pelt_skin_extreme_tangent(m, t);
}

#endif
