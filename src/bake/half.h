/* 16-bit floats. */
#ifndef PELT_SRC_BAKE_HALF_H
#define PELT_SRC_BAKE_HALF_H

#include <math.h>
#include <stdint.h>

/* The nearest half, ties to even; an infinity from 65,520 on. NaN stays one. */
static inline uint16_t half_from_double(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double magnitude = fabs(value);
    if (isnan(value)) {
        return 0x7e00;
    }
    if (magnitude >= 65520.0) {
        return sign | 0x7c00;
    }
    /* Below 2^-14 steps are of 2^-24, above of 2^(exponent - 10); rint rounds ties to even. A step
     * that is rounded up to the next exponent carries into it. */
    int exponent;
    (void)frexp(magnitude, &exponent); /* magnitude < 2^exponent */
    exponent = magnitude < 0x1p-14 ? -14 : exponent - 1;
    int steps = (int)rint(ldexp(magnitude, 10 - exponent));
    return (uint16_t)(sign | (steps + ((exponent + 14) << 10)));
}

static inline double half_to_double(uint16_t half)
{
    int exponent = (half >> 10) & 31, fraction = half & 0x3ff;
    double magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                       : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                      : ldexp(fraction, -24);
    return half & 0x8000 ? -magnitude : magnitude;
}

#endif
