/* The steps of a pose: keys -> values -> local transforms -> matrices. */
#ifndef PELT_SRC_ANIM_H
#define PELT_SRC_ANIM_H

#include <pelt/pose.h>

/* A sampler's value at a time: sampler->width numbers. As glTF 2.0, appendix C: clamped to the
 * first and last key; a time equal to a key gives that key. rotation: slerp and a unit result. */
void pelt_sampler_evaluate(const pelt_sampler *sampler, double time, bool rotation, double *out);

/* Time as a clip plays it: wrapped into [0, duration) if loop, else unchanged. */
double pelt_clip_time(const pelt_clip *clip, double time, bool loop);

/* Divides by the length; a quaternion without one, or that is not finite, becomes fallback. */
void pelt_quaternion_normalize(double quaternion[4], const double fallback[4]);

/* 3x4 matrices, rows of four. out is none of the arguments. */
void pelt_matrix_multiply(const double a[12], const double b[12], double out[12]);
void pelt_local_matrix(const pelt_local *local, double out[12]);

/* No element NaN, infinite or beyond PELT_MAGNITUDE_MAX. */
bool pelt_matrix_in_range(const double matrix[12]);

extern const double pelt_matrix_identity[12];
extern const double pelt_quaternion_identity[4];

#endif
