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
