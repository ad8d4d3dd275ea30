/* The squash study's limb at rest, its two joints' matrices, and the normals of what they make of
 * it. */
#ifndef PELT_STUDY_SQUASH_POSE_H
#define PELT_STUDY_SQUASH_POSE_H

#include "study/internal.h"
#include "study/squash.h"

/* Half the limb's length, its radius, and how far from the middle the weights change. */
#define LIMB_HALF   2.0
#define LIMB_RADIUS 0.55
#define LIMB_BLEND  0.9

/* A point of the limb's surface, by the part 0 to 1 of its length and of its girth. */
typedef struct squash_point {
    double position[3], normal[3];
    double area; /* in proportion */
} squash_point;
squash_point squash_point_at(double along, double around);

/* The skin matrices of both joints, three rows of four. */
typedef struct squash_pose {
    double joints[2][12];
} squash_pose;
squash_pose squash_pose_of(uint32_t which);

/* The weight of the second joint at a place; its derivative along x, the only one. */
double squash_weight(double x);
double squash_weight_slope(double x);

/* Where the pose moves a place. */
void squash_deform(const squash_pose *pose, const double p[3], double out[3]);

/* The normal there of the deformed surface: the cofactor matrix of the deformation's Jacobian, by
 * central differences, times the normal. false where the surface has none. */
bool squash_true_normal(const squash_pose *pose, const double p[3], const double n[3],
                        double out[3]);

/* The same Jacobian from the formula: the blended matrix and, where weights change, the term
 * sum M_i p (grad w_i)^T. Three rows of three. */
void squash_jacobian(const squash_pose *pose, const double p[3], double out[9]);
void squash_jacobian_by_differences(const squash_pose *pose, const double p[3], double out[9]);

/* The joints of a place: matrices of three rows of four, and weights. */
typedef struct squash_blend {
    uint32_t count;
    const double *const *matrices;
    const double *weights;
} squash_blend;

/* What a method makes of a normal; (0 0 1) where it gives none. */
void squash_turn(const squash_blend *blend, pelt_squash_method method, const double n[3],
                 double out[3]);

/* cof(J) n to unit length, J three rows of three; false where that vanishes. */
bool squash_cofactor_normal(const double jacobian[9], const double n[3], double out[3]);

/* The same at a place of the limb. */
void squash_method_normal(const squash_pose *pose, pelt_squash_method method, const double p[3],
                          const double n[3], double out[3]);

#endif
