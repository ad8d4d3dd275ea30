#include "pack/codec.h"

#include <math.h>

uint32_t pelt_encode_direction_double(const double direction[3], double w)
{
    /* Squares of floats neither overflow nor vanish in double precision; what comes from sums with
     * wild morph weights may, and has no direction then. */
    double length = sqrt(direction[0] * direction[0] + direction[1] * direction[1] +
                         direction[2] * direction[2]);
    float unit[3] = { 0.0f, 0.0f, 1.0f };
    if (length > 0.0 && isfinite(length)) {
        for (int i = 0; i < 3; i++) {
            unit[i] = (float)(direction[i] / length);
        }
    }
    return encode_unit_direction(unit) | (w >= 0.0 ? HANDEDNESS_MASK : 0);
}

uint32_t pelt_encode_direction(const float direction[3], float w)
{
    return pelt_encode_direction_double((double[3]){ direction[0], direction[1], direction[2] }, w);
}

void pelt_decode_direction(uint32_t code, float direction[3], float *w)
{
    decode_scaled_direction(code, direction);
    for (int i = 0; i < 3; i++) {
        direction[i] *= 1024.0f / 511.0f;
    }
    if (w) {
        *w = (code & HANDEDNESS_MASK) ? 1.0f : -1.0f;
    }
}
