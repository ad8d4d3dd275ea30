/* pelt bench pose: the pose pass against the CPU's poses and against writing the matrices alone. */
#ifndef PELT_BENCH_POSE_H
#define PELT_BENCH_POSE_H

#include "bench/bench.h"

typedef enum pelt_bench_pose_form {
    PELT_BENCH_POSE_FLOOR,
    PELT_BENCH_POSE_ONE,
    PELT_BENCH_POSE_TWO,
    PELT_BENCH_POSE_OVERRIDES,
    PELT_BENCH_POSE_FOURTH,
    PELT_BENCH_POSE_FORM_COUNT
} pelt_bench_pose_form;

typedef struct pelt_bench_pose_form_info {
    const char *name;
    const char *summary;
} pelt_bench_pose_form_info;
extern const pelt_bench_pose_form_info pelt_bench_pose_forms[PELT_BENCH_POSE_FORM_COUNT];

typedef struct pelt_bench_pose_settings {
    const pelt_model *model; /* with clips */
    uint32_t instances;
    uint32_t rounds;
    double warm_up; /* seconds; 0: 0.3 */
    double sample;  /* seconds of each; 0: 0.01 */
    void (*progress)(void *user, const char *scene, const char *what);
    void *user;
} pelt_bench_pose_settings;

typedef struct pelt_bench_pose_row {
    pelt_bench_times times;
    uint32_t repeats; /* frames a sample */
    bool checked;     /* every matrix as near to the CPU's as is allowed */
    double error;     /* the largest, as a part of the character's size */
} pelt_bench_pose_row;

/* As a part of the character's size; more, by a rounding of each of the three rows' terms a level,
 * where so many nodes hang from each other that these add up to more. */
#define PELT_BENCH_POSE_ERROR       1e-5
#define PELT_BENCH_POSE_LEVEL_ERROR (4 * 0x1p-24)

typedef struct pelt_bench_pose_result {
    uint32_t instances, nodes, matrices, clips;       /* nodes, matrices: of one instance */
    uint64_t rig_bytes, instance_bytes, matrix_bytes; /* of all */
    uint32_t floor_rows; /* that an invocation of the floor writes, the fastest number */
    double allowed;      /* of a row's error */
    double cpu_seconds;  /* to pose all instances once, on one core, one clip each */
    double warm_up;
    pelt_bench_pose_row rows[PELT_BENCH_POSE_FORM_COUNT];
} pelt_bench_pose_result;

/* Poses, checks and measures. A wrong result is an error message, checked = false, and PELT_OK.
 * Errors: those of the pose pass and of buffers; PELT_ERROR_ARGUMENT for a model without clips or
 * skin matrices. */
pelt_result pelt_bench_pose_run(pelt_bench *bench, const pelt_bench_pose_settings *settings,
                                pelt_bench_pose_result *out);

/* Replaces a model's clips: eight, in which every joint has a translation, a rotation and a scale
 * at each of 31 keys. Errors: PELT_ERROR_MEMORY. */
pelt_result pelt_bench_pose_animate(pelt_model *model);

#endif
