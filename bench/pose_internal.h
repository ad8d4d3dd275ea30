/* What the files of the pose bench share. */
#ifndef PELT_BENCH_POSE_INTERNAL_H
#define PELT_BENCH_POSE_INTERNAL_H

#include "bench/internal.h"
#include "bench/pose.h"

#include <pelt/pose_pass.h>

enum { BENCH_POSE_OVERRIDES = 4 }; /* of each instance, in the form that has them */

typedef struct pelt_bench_pose_data {
    pelt_bench *bench;
    const pelt_bench_pose_settings *settings;
    pelt_pose_pass *pass;
    pelt_rig *rig;
    pelt_pose_tables tables;
    uint32_t floor_rows;                                /* an invocation's */
    pelt_pose_override overrides[BENCH_POSE_OVERRIDES]; /* the same for all */
    pelt_buffer rig_data, table, scratch, override_data, matrices;
    pelt_buffer states[PELT_BENCH_POSE_FORM_COUNT]; /* of instances; not of the floor */
} pelt_bench_pose_data;

pelt_result pelt_bench_pose_data_create(pelt_bench *bench, const pelt_bench_pose_settings *settings,
                                        pelt_bench_pose_data *out);
void pelt_bench_pose_data_destroy(pelt_bench_pose_data *data);

/* What an instance does in a form. world: 12. */
pelt_pose_instance pelt_bench_pose_instance(const pelt_bench_pose_data *data,
                                            pelt_bench_pose_form form, uint32_t index,
                                            double *world);

/* One frame. */
void pelt_bench_pose_record(const pelt_bench_pose_data *data, pelt_bench_pose_form form,
                            const pelt_pose_frame *frame, VkCommandBuffer commands);

/* How far a model's matrices may be off, as a part of its size. */
double pelt_bench_pose_allowed(const pelt_model *model);

/* Runs a form and compares every matrix with the CPU's. cpu_seconds: what these took, or NULL. */
pelt_result pelt_bench_pose_check(const pelt_bench_pose_data *data, pelt_bench_pose_form form,
                                  pelt_bench_pose_row *row, double *cpu_seconds);

#endif
