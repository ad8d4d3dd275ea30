/* Rigid motions as dual quaternions, and what of a matrix is not rigid apart from it. Kavan et al.,
 * Geometric Skinning with Approximate Dual Quaternion Blending, 2008. */
#ifndef PELT_SRC_ANIM_DUAL_QUATERNION_H
#define PELT_SRC_ANIM_DUAL_QUATERNION_H

#include <stdint.h>

/* Moves x to q x q* + 2 (q_w d_v - d_w q_v + q_v x d_v): q = real, d = dual, v their vector parts.
 * dual = (translation, 0) real / 2. x y z w. */
typedef struct pelt_dual_quaternion {
    double real[4];
    double dual[4];
} pelt_dual_quaternion;

/* M = T R S: first a symmetric stretch, then a rigid motion. */
typedef struct pelt_factors {
    pelt_dual_quaternion motion; /* unit */
    double stretch[6];           /* xx yy zz xy xz yz */
    int rank;                    /* of the 3x3; below 2 it does not say which rotation it is */
} pelt_factors;

/* The polar decomposition: of all rotations R is nearest to the 3x3. A mirrored matrix has the
 * rotation of -M and a negative stretch; so mirrored joints are rigid motions of mirrored ones.
 * Directions shorter than a millionth of the longest are no part of the rank. */
void pelt_matrix_factor(const double matrix[12], pelt_factors *out);

void pelt_dual_quaternion_make(const double rotation[4], const double translation[3],
                               pelt_dual_quaternion *out);

/* T R, of a motion whose real part has any length but 0; 0 gives the identity. */
void pelt_dual_quaternion_matrix(const pelt_dual_quaternion *motion, double out[12]);

/* T R S. */
void pelt_factors_matrix(const pelt_dual_quaternion *motion, const double stretch[6],
                         double out[12]);

/* The same motion, with its real part on the side of another. */
void pelt_dual_quaternion_align(pelt_dual_quaternion *motion, const double real[4]);

/* (1 - u) a + u b, b aligned with a, divided by the length of the real part. */
void pelt_dual_quaternion_blend(const pelt_dual_quaternion *a, const pelt_dual_quaternion *b,
                                double u, pelt_dual_quaternion *out);

#endif
