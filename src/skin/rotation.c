/* What dual quaternion skinning needs of a joint beyond its matrix: which rotation it is. */
#include <pelt/skin.h>

#include "anim/dual_quaternion.h"

#include <math.h>
#include <string.h>

/* Stretches that differ by less than this part of them differ by the rounding of files' numbers. */
#define STRETCH_NOISE 1e-3

static double mean_stretch(const pelt_factors *factors)
{
    return (factors->stretch[0] + factors->stretch[1] + factors->stretch[2]) / 3;
}

/* Whether one stretches as the other does, but for a scale. */
static bool stretch_alike(const pelt_factors *a, const pelt_factors *b)
{
    double scale = mean_stretch(a) / mean_stretch(b), off = 0;
    for (int i = 0; i < 6; i++) {
        off = fmax(off, fabs(a->stretch[i] - scale * b->stretch[i]));
    }
    return off <= STRETCH_NOISE * fabs(mean_stretch(a));
}

static pelt_stretch stretch_beside(const pelt_factors *factors, const pelt_factors *other)
{
    return factors->rank < 2                                 ? PELT_STRETCH_COLLAPSED
           : mean_stretch(factors) / mean_stretch(other) < 0 ? PELT_STRETCH_MIRRORED
           : stretch_alike(factors, other)                   ? PELT_STRETCH_EVEN
                                                             : PELT_STRETCH_UNEVEN;
}

void pelt_skin_rotations_double(const double *matrices, uint32_t count, double *rotations,
                                pelt_stretch *stretches)
{
    static const pelt_factors scale = { .stretch = { 1, 1, 1 }, .rank = 3 };
    pelt_factors factors, first = scale;
    bool none_even = true;
    for (size_t j = 0; j < count; j++) {
        pelt_matrix_factor(matrices + 12 * j, &factors);
        memcpy(rotations + 4 * j, factors.motion.real, 4 * sizeof(*rotations));
        if (stretches) {
            stretches[j] = stretch_beside(&factors, &scale);
            none_even = none_even && stretches[j] != PELT_STRETCH_EVEN;
        }
        first = j == 0 ? factors : first;
    }
    /* Positions quantised differently along each axis; a character that is mirrored as a whole. */
    for (size_t j = 0; stretches && none_even && first.rank > 1 && j < count; j++) {
        pelt_matrix_factor(matrices + 12 * j, &factors);
        stretches[j] = stretch_beside(&factors, &first);
    }
}

void pelt_skin_rotations(const float *matrices, uint32_t count, float *rotations)
{
    for (size_t j = 0; j < count; j++) {
        double matrix[12], rotation[4];
        for (size_t i = 0; i < 12; i++) {
            matrix[i] = (double)matrices[12 * j + i];
        }
        pelt_skin_rotations_double(matrix, 1, rotation, NULL);
        for (size_t i = 0; i < 4; i++) {
            rotations[4 * j + i] = (float)rotation[i];
        }
    }
}

void pelt_skin_dual_palette(const float *matrices, uint32_t count, float *palette)
{
    for (size_t j = 0; j < count; j++) {
        memcpy(palette + 16 * j, matrices + 12 * j, 12 * sizeof(*palette));
        pelt_skin_rotations(matrices + 12 * j, 1, palette + 16 * j + 12);
    }
}
