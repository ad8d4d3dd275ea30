/* How far apart the float paths of linear blend skinning and exact arithmetic can be, given the
 * same float matrices, decoded weights and positions. Component i of a skinned vertex is the sum
 * over its n influences k of
 *
 *     w_k (m_i0 x + m_i1 y + m_i2 z + t_i)      of matrix k,
 *
 * whichever way it is bracketed: matrices blended first (each element: one product, n - 1 sums;
 * then one product, 3 sums) or vertices first (one product, 3 sums; one product, n - 1 sums). Each
 * term thus passes at most n + 4 roundings, fused multiply-adds only save some, and by the usual
 * bound (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1) the sum is off by at
 * most
 *
 *     g sum of w_k (|m_i0| |x| + |m_i1| |y| + |m_i2| |z| + |t_i|),   g = N u / (1 - N u),
 *     N = n + 4, u = 2^-24.
 *
 * Gradual underflow or flushing to zero adds less than 2^-126 for each operation, those of a
 * blended element multiplied by its coordinate: (n + 4) 2^-126 (|x| + |y| + |z| + 1) covers all.
 *
 * The weights are >= 0 and sum to 1 exactly, so exact position and bound are both convex
 * combinations of what the single joints give: what holds a joint's vertices where that joint moves
 * them, widened by the joint's own share of the error, holds every vertex in the hull over the
 * joints. */
#ifndef PELT_SRC_SKIN_ROUNDING_H
#define PELT_SRC_SKIN_ROUNDING_H

#include <math.h>
#include <stdint.h>

typedef struct skin_rounding {
    double relative, absolute;
} skin_rounding;

/* For vertices of up to so many influences, and bounds computed in double precision, which is
 * itself off by a few 2^-53 of the same magnitudes. */
static inline skin_rounding skin_rounding_of(uint32_t influence_count)
{
    double roundings = (double)influence_count + 4.0;
    return (skin_rounding){
        .relative = roundings * 0x1p-24 / (1.0 - roundings * 0x1p-24) + 0x1p-48,
        .absolute = roundings * 0x1p-126,
    };
}

/* One joint's share of it for a row of its matrix: far are the largest magnitudes of coordinates
 * among the vertices it moves. */
static inline double skin_rounding_of_row(skin_rounding rounding, const float row[4],
                                          const double far[3])
{
    double magnitude = fabs((double)row[3]), sum = 1.0;
    for (int c = 0; c < 3; c++) {
        magnitude += fabs((double)row[c]) * far[c];
        sum += far[c];
    }
    return rounding.relative * magnitude + rounding.absolute * sum;
}

static inline float round_down(double value)
{
    float nearest = (float)value;
    return nearest > value ? nextafterf(nearest, -INFINITY) : nearest;
}

static inline float round_up(double value)
{
    float nearest = (float)value;
    return nearest < value ? nextafterf(nearest, INFINITY) : nearest;
}

#endif
