/* Keys from the motions. */
#ifndef PELT_SAMPLE_CLIPS_H
#define PELT_SAMPLE_CLIPS_H

#include "sample/skeleton.h"

#include <pelt/model.h>

/* The joint's orientation against its parent's in the bind pose, as its node has it. */
quat pelt_sample_bind_rotation(const fox_skeleton *skeleton, uint32_t joint);
vec3 pelt_sample_bind_translation(const fox_skeleton *skeleton, uint32_t joint);

/* Adds the model's clips. Joint j is node first_node + j. */
pelt_result pelt_sample_clips_add(const pelt_host *host, pelt_model *model,
                                  const fox_skeleton *skeleton, uint32_t first_node);

#endif
