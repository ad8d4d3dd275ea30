/* The deformation of one vertex, in float. Its twin for the GPU is in shaders/pelt/; there are no
 * others. */
#ifndef PELT_SRC_SKIN_DEFORM_H
#define PELT_SRC_SKIN_DEFORM_H

#include "pack/codec.h"

#include <math.h>

/* m += weight x matrix, three rows of four. */
static inline void blend_matrix(float m[12], float weight, const float *matrix)
{
    for (int i = 0; i < 12; i++) {
        m[i] += weight * matrix[i];
    }
}

/* Dual quaternions of motions seen from the vertex (pelt/skin.h). The dual parts are linear in the
 * vertex: the four rows x y z w of the matrix that makes it of (p 1), without the factor 1/2. */
typedef struct dual_blend {
    float real[4];
    float dual[16];
} dual_blend;

static inline float dot_quaternions(const float a[4], const float b[4])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/* The product of a pure quaternion, the moved vertex, and the rotation, column by column. */
static inline void blend_motion(dual_blend *sum, float weight, const float rotation[4],
                                const float *matrix)
{
    float x = weight * rotation[0], y = weight * rotation[1];
    float z = weight * rotation[2], w = weight * rotation[3];
    sum->real[0] += x;
    sum->real[1] += y;
    sum->real[2] += z;
    sum->real[3] += w;
    for (int i = 0; i < 4; i++) {
        float r0 = matrix[i], r1 = matrix[4 + i], r2 = matrix[8 + i];
        sum->dual[i] += w * r0 + z * r1 - y * r2;
        sum->dual[4 + i] += w * r1 + x * r2 - z * r0;
        sum->dual[8 + i] += w * r2 + y * r0 - x * r1;
        sum->dual[12 + i] -= x * r0 + y * r1 + z * r2;
    }
}

/* The translation: dual times the conjugate of real, by the square of real's length, which is at
 * least that of the largest weight. */
static inline void blended_matrix(const dual_blend *sum, float m[12])
{
    float inverse = 1.0f / dot_quaternions(sum->real, sum->real);
    float x = inverse * sum->real[0], y = inverse * sum->real[1];
    float z = inverse * sum->real[2], w = inverse * sum->real[3];
    for (int i = 0; i < 4; i++) {
        const float *d = sum->dual + i;
        m[i] = w * d[0] - x * d[12] - (z * d[4] - y * d[8]);
        m[4 + i] = w * d[4] - y * d[12] - (x * d[8] - z * d[0]);
        m[8 + i] = w * d[8] - z * d[12] - (y * d[0] - x * d[4]);
    }
}

/* The largest magnitude; NaN does not count. */
static inline float largest_of_three(const float v[3])
{
    float largest = 0.0f;
    for (int i = 0; i < 3; i++) {
        float magnitude = fabsf(v[i]);
        largest = magnitude > largest ? magnitude : largest;
    }
    return largest;
}

/* The power of two that brings a finite value into [1, 2), or a denormal one up to below 1. */
static inline float power_to_one(float value)
{
    uint32_t exponent = float_to_bits(value) & 0x7f800000u;
    return exponent == 0 ? 0x1p126f : float_from_bits(0x7f000000u - exponent);
}

/* To unit length, if the squared length is far from overflow and underflow. */
static inline bool normalize_comfortable(float v[3])
{
    float squared = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    if (!(squared >= 0x1p-60f && squared <= 0x1p60f)) {
        return false;
    }
    float inverse = 1.0f / sqrtf(squared);
    for (int i = 0; i < 3; i++) {
        v[i] *= inverse;
    }
    return true;
}

/* To unit length whatever its length; false if there is none. */
static inline bool normalize_any(float v[3])
{
    float scale = power_to_one(largest_of_three(v));
    for (int i = 0; i < 3; i++) {
        v[i] *= scale;
    }
    return normalize_comfortable(v);
}

/* p' = M (p 1). A component is never -0, so boxes need no rule for it; +0 is set through the bits
 * because x + 0 is something that an optimiser may drop. */
static inline void deform_position(const float m[12], const float p[3], float out[3])
{
    for (int i = 0; i < 3; i++) {
        const float *row = m + 4 * i;
        float sum = row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3];
        uint32_t bits = float_to_bits(sum);
        out[i] = float_from_bits(bits == 0x80000000u ? 0 : bits);
    }
}

/* cof(A) n: the rows of cof(A) are r1 x r2, r2 x r0, r0 x r1. */
static inline void cofactor_times(const float m[12], const float n[3], float out[3])
{
    for (int i = 0; i < 3; i++) {
        const float *a = m + 4 * ((i + 1) % 3), *b = m + 4 * ((i + 2) % 3);
        out[i] = (a[1] * b[2] - a[2] * b[1]) * n[0] + (a[2] * b[0] - a[0] * b[2]) * n[1] +
                 (a[0] * b[1] - a[1] * b[0]) * n[2];
    }
}

/* n' = normalize(cof(A) n); (0 0 1) if that vanishes. n need not be unit. Where the products of two
 * elements come near overflow or underflow they are formed again from A scaled by a power of two,
 * which changes no direction. */
static inline void deform_normal(const float m[12], const float n[3], float out[3])
{
    cofactor_times(m, n, out);
    if (normalize_comfortable(out)) {
        return;
    }
    float largest[3] = { largest_of_three(m), largest_of_three(m + 4), largest_of_three(m + 8) };
    float scale = power_to_one(largest_of_three(largest)), scaled[12];
    for (int i = 0; i < 12; i++) {
        scaled[i] = m[i] * scale;
    }
    cofactor_times(scaled, n, out);
    if (!normalize_any(out)) {
        out[0] = out[1] = 0.0f;
        out[2] = 1.0f;
    }
}

/* t' = normalize(A t); (1 0 0) if that vanishes. t need not be unit. */
static inline void deform_tangent(const float m[12], const float t[3], float out[3])
{
    for (int i = 0; i < 3; i++) {
        const float *row = m + 4 * i;
        out[i] = row[0] * t[0] + row[1] * t[1] + row[2] * t[2];
    }
    if (!normalize_comfortable(out) && !normalize_any(out)) {
        out[0] = 1.0f;
        out[1] = out[2] = 0.0f;
    }
}

#endif
