/* What a camera sees of a limb: for each sample of a tile the triangle and where in it. */
#ifndef PELT_STUDY_SQUASH_VIEW_H
#define PELT_STUDY_SQUASH_VIEW_H

#include "study/squash.h"

typedef struct squash_sample {
    uint32_t vertices[3]; /* of the triangle; all the same: nothing is seen */
    float shares[3];      /* of each in the sample */
    bool back;            /* seen from its back: its vertices turn clockwise */
} squash_sample;

typedef struct squash_view {
    const pelt_host *host;
    uint32_t width, height;
    squash_sample *samples;
    double axes[3][3]; /* right, up, towards the camera */
} squash_view;

/* The whole limb from the front and a little from above. scale: samples a unit; 0: as large as
 * fits. Of the limb only the shape is looked at. */
pelt_result squash_view_create(const pelt_squash_limb *limb, uint32_t width, uint32_t height,
                               double scale, squash_view *out);
void squash_view_destroy(squash_view *view);

static inline bool squash_sample_empty(const squash_sample *sample)
{
    return sample->vertices[0] == sample->vertices[1];
}

#endif
