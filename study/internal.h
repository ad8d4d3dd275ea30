/* What the studies share. */
#ifndef PELT_STUDY_INTERNAL_H
#define PELT_STUDY_INTERNAL_H

#include "base/base.h"

#include <math.h>

/* Vectors of three doubles. */

static inline double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cross3(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* To unit length; false, unchanged, if it vanishes. */
static inline bool normalize3(double v[3])
{
    double length = sqrt(dot3(v, v));
    if (!(length > 1e-150)) { /* whose square is not denormal */
        return false;
    }
    for (int i = 0; i < 3; i++) {
        v[i] /= length;
    }
    return true;
}

/* The angle between two vectors in radians, exact where it is small, too. */
static inline double angle3(const double a[3], const double b[3])
{
    double across[3];
    cross3(a, b, across);
    return atan2(sqrt(dot3(across, across)), dot3(a, b));
}

#endif
