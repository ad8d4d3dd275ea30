/* How the character moves: a pose for every moment of a clip. */
#ifndef PELT_SAMPLE_MOTION_H
#define PELT_SAMPLE_MOTION_H

#include "sample/skeleton.h"

typedef enum fox_motion { MOTION_WALK, MOTION_WAVE, MOTION_COUNT } fox_motion;

/* Rotations are of a whole part against its parent, about the character's own axes (x left, y up,
 * z forward) as they stand in the bind pose. */
typedef struct stance {
    vec3 hips; /* shift of the hips */
    quat turn[PART_COUNT][2];
} stance;

const char *pelt_sample_motion_name(fox_motion motion);
double pelt_sample_motion_duration(fox_motion motion);

/* Any time; the motion repeats. */
stance pelt_sample_motion_at(fox_motion motion, double time);

/* How long the end of a flexible part lags behind its start, in seconds. */
double pelt_sample_motion_lag(fox_motion motion, fox_part part);

#endif
