/* Skin matrices <-> texels, and what is between two rows. */
#include "bake/bake.h"
#include "bake/half.h"

#include <math.h>
#include <string.h>

enum { NUMBERS_MAX = 16 };

const uint32_t pelt_bake_layout_texels[3] = { 3, 4, 2 };

size_t pelt_bake_texel_size(pelt_bake_format format)
{
    return format == PELT_BAKE_RGBA16F ? 8 : 16;
}

void *pelt_bake_texels(const pelt_bake *bake, uint32_t layer, uint32_t row, uint32_t joint)
{
    size_t x = (size_t)bake->texels_per_joint * (joint % bake->joints_per_layer);
    size_t z = layer + joint / bake->joints_per_layer;
    size_t texel = (z * bake->height + row) * bake->width + x;
    return (char *)bake->texels + texel * pelt_bake_texel_size(bake->format);
}

/* False if one does not fit. */
static bool store(const pelt_bake *bake, const double *numbers, void *texels)
{
    bool fits = true;
    for (uint32_t i = 0; i < 4 * bake->texels_per_joint; i++) {
        if (bake->format == PELT_BAKE_RGBA16F) {
            uint16_t half = half_from_double(numbers[i]);
            fits = fits && (half & 0x7c00) != 0x7c00;
            memcpy((char *)texels + 2 * (size_t)i, &half, sizeof(half));
        } else {
            float number = (float)numbers[i];
            memcpy((char *)texels + 4 * (size_t)i, &number, sizeof(number));
        }
    }
    return fits;
}

static void load(const pelt_bake *bake, const void *texels, double *numbers)
{
    for (uint32_t i = 0; i < 4 * bake->texels_per_joint; i++) {
        if (bake->format == PELT_BAKE_RGBA16F) {
            uint16_t half;
            memcpy(&half, (const char *)texels + 2 * (size_t)i, sizeof(half));
            numbers[i] = half_to_double(half);
        } else {
            float number;
            memcpy(&number, (const char *)texels + 4 * (size_t)i, sizeof(number));
            numbers[i] = (double)number;
        }
    }
}

/* The motion's translation with another rotation. */
static void turn_as(const double real[4], pelt_dual_quaternion *motion)
{
    double matrix[12];
    pelt_dual_quaternion_matrix(motion, matrix);
    pelt_dual_quaternion_make(real, (const double[3]){ matrix[3], matrix[7], matrix[11] }, motion);
}

/* Where the matrix does not say which way it is turned, the row before does. */
static void motion_of(const double matrix[12], const double previous[4], pelt_factors *out)
{
    static const double up[4] = { 0, 0, 0, 1 };
    double square = 0;
    for (int i = 0; i < 4; i++) {
        square += previous[i] * previous[i];
    }
    pelt_matrix_factor(matrix, out);
    if (out->rank < 2 && square > 0) {
        turn_as(previous, &out->motion);
    }
    pelt_dual_quaternion_align(&out->motion, square > 0 ? previous : up);
}

bool pelt_bake_encode(const pelt_bake *bake, const double matrix[12], double previous[4],
                      void *texels)
{
    double numbers[NUMBERS_MAX] = { 0 };
    if (bake->layout == PELT_BAKE_DUAL_QUATERNION) {
        pelt_factors factors;
        motion_of(matrix, previous, &factors);
        memcpy(previous, factors.motion.real, sizeof(factors.motion.real));
        memcpy(numbers, factors.motion.real, sizeof(factors.motion.real));
        memcpy(numbers + 4, factors.motion.dual, sizeof(factors.motion.dual));
        memcpy(numbers + 8, factors.stretch, 3 * sizeof(*factors.stretch));
    } else {
        memcpy(numbers, matrix, 12 * sizeof(*matrix));
        numbers[15] = 1;
    }
    return store(bake, numbers, texels);
}

void pelt_bake_decode_joint(const pelt_bake *bake, const void *texels, bool factors,
                            pelt_bake_joint *out)
{
    double numbers[NUMBERS_MAX] = { 0 };
    load(bake, texels, numbers);
    if (bake->layout != PELT_BAKE_DUAL_QUATERNION) {
        memcpy(out->matrix, numbers, sizeof(out->matrix));
        if (factors) {
            pelt_matrix_factor(out->matrix, &out->factors);
        }
        return;
    }
    pelt_dual_quaternion *motion = &out->factors.motion;
    bool scaled = bake->texels_per_joint == 3;
    memcpy(motion->real, numbers, sizeof(motion->real));
    memcpy(motion->dual, numbers + 4, sizeof(motion->dual));
    for (int i = 0; i < 6; i++) {
        out->factors.stretch[i] = i >= 3 ? 0 : scaled ? numbers[8 + i] : 1;
    }
    out->factors.rank = 3;
    pelt_factors_matrix(motion, out->factors.stretch, out->matrix);
}

static void blend(const pelt_factors *a, const pelt_factors *b, double u, double out[12])
{
    pelt_dual_quaternion from = a->motion, to = b->motion, motion;
    double stretch[6];
    /* A joint that is scaled to nothing turns as it does at the other end. */
    if (a->rank < 2) {
        turn_as(to.real, &from);
    } else if (b->rank < 2) {
        turn_as(from.real, &to);
    }
    pelt_dual_quaternion_blend(&from, &to, u, &motion);
    for (int i = 0; i < 6; i++) {
        stretch[i] = (1 - u) * a->stretch[i] + u * b->stretch[i];
    }
    pelt_factors_matrix(&motion, stretch, out);
}

void pelt_bake_interpolate(const pelt_bake_joint *a, const pelt_bake_joint *b, double fraction,
                           pelt_bake_interpolation interpolation, double out[12])
{
    if (interpolation == PELT_BAKE_NEAREST || fraction <= 0 || fraction >= 1) {
        memcpy(out, fraction < 0.5 ? a->matrix : b->matrix, 12 * sizeof(*out));
    } else if (interpolation == PELT_BAKE_LERP) {
        for (int i = 0; i < 12; i++) {
            out[i] = (1 - fraction) * a->matrix[i] + fraction * b->matrix[i];
        }
    } else {
        blend(&a->factors, &b->factors, fraction, out);
    }
}
