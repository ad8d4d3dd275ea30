/* Which joints move a point of the surface. */
#ifndef PELT_SAMPLE_WEIGHTS_H
#define PELT_SAMPLE_WEIGHTS_H

#include "sample/shape.h"
#include "sample/skeleton.h"

enum { INFLUENCES = 4 };

/* Largest first; unused slots are joint 0 with weight 0; the weights sum to 1. */
typedef struct fox_influences {
    uint16_t joints[INFLUENCES];
    float weights[INFLUENCES];
} fox_influences;

typedef struct fox_rigging fox_rigging;

pelt_result pelt_sample_rigging_create(const pelt_host *host, const fox_skeleton *skeleton,
                                       fox_rigging **out);
void pelt_sample_rigging_destroy(fox_rigging *rigging);

fox_influences pelt_sample_weights(const fox_rigging *rigging, const fox_shape *shape, vec3 point);

/* All of one joint. */
fox_influences pelt_sample_rigid(uint32_t joint);

#endif
