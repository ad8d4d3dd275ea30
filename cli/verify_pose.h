/* pelt verify's look at the pose pass: the GPU's skin matrices against the CPU's. */
#ifndef PELT_CLI_VERIFY_POSE_H
#define PELT_CLI_VERIFY_POSE_H

#include "cli/compare.h"

typedef struct pelt_pose_verifier pelt_pose_verifier;

/* gpu: the backend whose device it uses; outlives it. NULL, and in a build without Vulkan: *out is
 * NULL, which poses nothing. capacity: instances of a batch. size: of the character. */
pelt_result pelt_pose_verifier_create(pelt_backend *gpu, const pelt_character *character,
                                      uint32_t capacity, double size, pelt_pose_verifier **out);
void pelt_pose_verifier_destroy(pelt_pose_verifier *verifier);

/* Poses a batch, which has doubles, and notes how far the matrices move any vertex from where the
 * CPU's do. Allowed: 1e-5 of the character's size, and the rounding of what is written.
 * worst->vertex is a joint. */
pelt_result pelt_pose_verifier_add(pelt_pose_verifier *verifier, const pelt_crowd *crowd,
                                   const pelt_batch *batch, pelt_worst *worst);

#endif
