/* SPDX-License-Identifier: MIT */
/* pelt/pose.h: from clips and time to skin matrices and morph weights.
 *
 * Everything here is computed in double precision; matrices are rounded to float once, at the end,
 * so the CPU and GPU skinning paths start from the best float matrices there are, and the
 * double-precision reference shares the same pose.
 */
#ifndef PELT_POSE_H
#define PELT_POSE_H

#include <pelt/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One clip at one time. Times outside the keys clamp per channel, as glTF says; with loop, time
 * first wraps into [0, duration) (a clip of duration 0 stays at 0). */
typedef struct pelt_play {
    int32_t clip;  /* -1: the nodes' static values */
    double time;   /* seconds, finite */
    double weight; /* >= 0; blended by weight / sum of weights */
    bool loop;
} pelt_play;

/* Local transform of a node. A node with a matrix that no clip touches keeps its matrix; one that a
 * clip moves, which glTF forbids, gets the clip's values and identity for what the clip lacks. */
typedef struct pelt_local {
    bool has_matrix;
    double matrix[12];
    double translation[3];
    double rotation[4];
    double scale[3];
} pelt_local;

typedef struct pelt_pose {
    const pelt_model *model;
    pelt_local *locals;    /* model->node_count; may be changed between sample and update */
    double *globals;       /* 12 a node: scene space */
    double *morph_weights; /* model->morph_offsets[node_count]; a node's start at its offset */
    const pelt_host *host;
    void *scratch;
} pelt_pose;

/* A pose at the model's static values, updated; model and host must outlive it.
 * Errors: PELT_ERROR_MEMORY; PELT_ERROR_ARGUMENT for a model that is not finished; PELT_ERROR_RANGE
 * as pelt_pose_sample and pelt_pose_update. */
PELT_API pelt_result pelt_pose_create(const pelt_host *host, const pelt_model *model,
                                      pelt_pose **out);
PELT_API void pelt_pose_destroy(pelt_pose *pose);

/* Samples and blends into locals and morph_weights. Translation, scale and morph weights blend
 * linearly; rotations by normalised sum with signs made consistent with the first play (exactly
 * slerp's result at the ends). One play needs no weight (0 counts as 1). Plays that leave a value
 * unanimated contribute its static value. Errors: PELT_ERROR_ARGUMENT for a clip that there is not,
 * a time or weight that is not finite, a negative weight, several plays without any;
 * PELT_ERROR_RANGE for a morph weight beyond PELT_MAGNITUDE_MAX. */
PELT_API pelt_result pelt_pose_sample(pelt_pose *pose, const pelt_play *plays, uint32_t count);

/* locals -> globals: the product over all ancestors, shear included. Errors: PELT_ERROR_RANGE if
 * a matrix element is not finite or beyond PELT_MAGNITUDE_MAX (message names the node). */
PELT_API pelt_result pelt_pose_update(pelt_pose *pose);

/* What a node's transform shall be instead of what the clips say. */
typedef enum pelt_override_kind {
    PELT_OVERRIDE_LOCAL_REPLACE,  /* local = matrix */
    PELT_OVERRIDE_LOCAL_MULTIPLY, /* local = local x matrix: turns about the node's own axes */
    PELT_OVERRIDE_GLOBAL_REPLACE, /* global = matrix, whatever the parent's is */
    PELT_OVERRIDE_GLOBAL_MULTIPLY /* global = matrix x global: moves it in scene space */
} pelt_override_kind;

typedef struct pelt_pose_override {
    uint32_t node; /* of the model */
    pelt_override_kind kind;
    double matrix[12]; /* global ones: in scene space, before the world transform */
} pelt_pose_override;

/* pelt_pose_update with overrides, at most one a node, in any order: for inverse kinematics,
 * looking at things, ragdolls. Nodes below an overridden one follow it. Errors: PELT_ERROR_ARGUMENT
 * (two for a node, a node that there is not, a number not finite or beyond PELT_MAGNITUDE_MAX),
 * PELT_ERROR_MEMORY, PELT_ERROR_RANGE as above. */
PELT_API pelt_result pelt_pose_update_overridden(pelt_pose *pose,
                                                 const pelt_pose_override *overrides,
                                                 uint32_t count);

/* pelt_pose_sample and pelt_pose_update, as most callers want it. */
PELT_API pelt_result pelt_pose_evaluate(pelt_pose *pose, const pelt_play *plays, uint32_t count);

/* The skin matrices of all palettes, model->matrix_count x 12: world x global(joint) x inverse
 * bind, for a rigid palette world x global(node). world: 12 doubles, NULL = identity.
 * Errors: PELT_ERROR_RANGE as above. */
PELT_API pelt_result pelt_pose_skin_matrices(const pelt_pose *pose, const double *world,
                                             float *matrices);
PELT_API pelt_result pelt_pose_skin_matrices_double(const pelt_pose *pose, const double *world,
                                                    double *matrices);

/* The part's morph weights (its primitive's target_count of them), or NULL if it has no targets. */
PELT_API const double *pelt_pose_part_morph_weights(const pelt_pose *pose, const pelt_part *part);

#ifdef __cplusplus
}
#endif
#endif
