/* The fox's body in numbers: the cones of its blobs. */
#ifndef PELT_SAMPLE_BODY_H
#define PELT_SAMPLE_BODY_H

#include "sample/shape.h"

enum { CONES_MAX = 400, HOLLOW_CONES_MAX = 32 };

/* The hull of two spheres. */
typedef struct round_cone {
    vec3 start, axis; /* axis is unit */
    double length, radius;
    double taper; /* radius lost a metre */
    double slope; /* tan of the half angle */
} round_cone;

typedef struct fox_body {
    int cone_count;
    round_cone cones[CONES_MAX];
    uint16_t cone_blobs[CONES_MAX]; /* cones of one blob lie behind each other */
    double blends[BLOB_COUNT];      /* k of each blob */
    int hollow_cones;
    round_cone hollows[2][HOLLOW_CONES_MAX]; /* taken out of the ears to make them cups */
} fox_body;

void pelt_sample_body_make(fox_body *out);

/* |p - c(t)| - r(t) at its least over the axis: t = u - v slope, where u and v are the point's
 * coordinates along and across the axis. center: c there, unless NULL. */
static inline double cone_distance(const round_cone *cone, vec3 point, vec3 *center)
{
    vec3 offset = v3_sub(point, cone->start);
    double u = v3_dot(offset, cone->axis);
    double v2 = v3_dot(offset, offset) - u * u;
    v2 = v2 > 0.0 ? v2 : 0.0;
    double t = u - sqrt(v2) * cone->slope;
    t = t < 0.0 ? 0.0 : t > cone->length ? cone->length : t;
    if (center) {
        *center = v3_along(cone->start, cone->axis, t);
    }
    return sqrt((u - t) * (u - t) + v2) - (cone->radius - cone->taper * t);
}

#endif
