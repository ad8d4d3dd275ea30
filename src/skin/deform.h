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

static inline void cross(const float a[3], const float b[3], float out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline float dot(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
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
    float squared = dot(v, v);
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

/* p' = M (p 1). Components below the least normal float in magnitude, -0 and NaN are written as +0:
 * minima and maxima need no rules for them then, on no device. */
static inline void deform_position(const float m[12], const float p[3], float out[3])
{
    for (int i = 0; i < 3; i++) {
        const float *row = m + 4 * i;
        float sum = row[0] * p[0] + (row[1] * p[1] + (row[2] * p[2] + row[3]));
        out[i] = fabsf(sum) >= 0x1p-126f ? sum : 0.0f;
    }
}

/* cof(A) n: the rows of cof(A) are r1 x r2, r2 x r0, r0 x r1, and (a x b) n = a (b x n), so that
 * two cross products serve. */
static inline void cofactor_times(const float m[12], const float n[3], float out[3])
{
    float r1n[3], r2n[3];
    cross(m + 4, n, r1n);
    cross(m + 8, n, r2n);
    out[0] = dot(m + 4, r2n);
    out[1] = -dot(m, r2n);
    out[2] = dot(m, r1n);
}

/* Whether a vector's size is between 2^-100 and 2^100: if it is a sum of products, one that has
 * underflowed would not have mattered, and none has overflowed. */
static inline bool is_moderate(const float v[3])
{
    float size = fabsf(v[0]) + fabsf(v[1]) + fabsf(v[2]);
    return size >= 0x1p-100f && size <= 0x1p100f;
}

/* A with its largest element brought into [1, 2) by a power of two, which changes no direction. */
static inline void matrix_to_one(const float m[12], float out[12])
{
    float largest[3] = { largest_of_three(m), largest_of_three(m + 4), largest_of_three(m + 8) };
    float scale = power_to_one(largest_of_three(largest));
    for (int i = 0; i < 12; i++) {
        out[i] = m[i] * scale;
    }
}

/* n' = normalize(cof(A) n); (0 0 1) if that vanishes. n need not be unit. A as it is comes first:
 * if its elements differ much, scaling the largest to 1 leaves little of the others. */
static inline void deform_normal(const float m[12], const float n[3], float out[3])
{
    cofactor_times(m, n, out);
    if (normalize_comfortable(out)) {
        return;
    }
    if (!is_moderate(out)) {
        float scaled[12];
        matrix_to_one(m, scaled);
        cofactor_times(scaled, n, out);
    }
    if (!normalize_any(out)) {
        out[0] = out[1] = 0.0f;
        out[2] = 1.0f;
    }
}

static inline void turn_direction(const float m[12], const float v[3], float out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = dot(m + 4 * i, v);
    }
}

/* t' = normalize(A t); (1 0 0) if that vanishes. t need not be unit. */
static inline void deform_tangent(const float m[12], const float t[3], float out[3])
{
    turn_direction(m, t, out);
    if (normalize_comfortable(out)) {
        return;
    }
    if (!is_moderate(out)) {
        float scaled[12];
        matrix_to_one(m, scaled);
        turn_direction(scaled, t, out);
    }
    if (!normalize_any(out)) {
        out[0] = 1.0f;
        out[1] = out[2] = 0.0f;
    }
}

#endif
