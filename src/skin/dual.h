/* The blend of dual quaternions for one vertex, in float; the rest is as in deform.h. */
#ifndef PELT_SRC_SKIN_DUAL_H
#define PELT_SRC_SKIN_DUAL_H

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

#endif
