/* Keyframes at a time: glTF 2.0, appendix C. */
#include "anim/anim.h"

#include <math.h>

const double pelt_quaternion_identity[4] = { 0, 0, 0, 1 };

void pelt_quaternion_normalize(double quaternion[4], const double fallback[4])
{
    double square = 0;
    for (int i = 0; i < 4; i++) {
        square += quaternion[i] * quaternion[i];
    }
    bool usable = square > 0 && isfinite(square);
    double length = sqrt(square);
    for (int i = 0; i < 4; i++) {
        quaternion[i] = usable ? quaternion[i] / length : fallback[i];
    }
}

double pelt_clip_time(const pelt_clip *clip, double time, bool loop)
{
    if (!loop) {
        return time;
    }
    if (!(clip->duration > 0)) {
        return 0;
    }
    double wrapped = fmod(time, clip->duration);
    if (wrapped < 0) {
        wrapped += clip->duration;
    }
    /* A hair below 0 plus the duration rounds to the duration. */
    return wrapped < clip->duration ? wrapped : 0;
}

/* The last key not after time, which is not before the first. */
static uint32_t find_key(const pelt_sampler *sampler, double time)
{
    uint32_t low = 0, high = sampler->key_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if ((double)sampler->times[middle] <= time) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* A key's value; a CUBICSPLINE key is its in-tangent, value and out-tangent. */
static const float *key_value(const pelt_sampler *sampler, uint32_t key)
{
    size_t width = sampler->width;
    return sampler->interpolation == PELT_CUBICSPLINE
               ? sampler->values + (3 * (size_t)key + 1) * width
               : sampler->values + key * width;
}

static void copy_key(const pelt_sampler *sampler, uint32_t key, double *out)
{
    const float *value = key_value(sampler, key);
    for (uint32_t i = 0; i < sampler->width; i++) {
        out[i] = (double)value[i];
    }
}

static void lerp(const pelt_sampler *sampler, uint32_t key, double u, double *out)
{
    const float *a = key_value(sampler, key), *b = key_value(sampler, key + 1);
    for (uint32_t i = 0; i < sampler->width; i++) {
        out[i] = (double)a[i] + ((double)b[i] - (double)a[i]) * u;
    }
}

/* Along the shorter arc. The angle comes from the lengths of a - b and a + b, which keeps every
 * digit where acos of a dot product near 1 loses half of them; after the sign flip it is at most
 * a right angle, so its sine vanishes only where lerp is exact to double precision. */
static void slerp(const float *key_a, const float *key_b, double u, double out[4])
{
    double a[4], b[4], dot = 0;
    for (int i = 0; i < 4; i++) {
        a[i] = (double)key_a[i];
        b[i] = (double)key_b[i];
        dot += a[i] * b[i];
    }
    double difference = 0, sum = 0;
    for (int i = 0; i < 4; i++) {
        b[i] = dot < 0 ? -b[i] : b[i];
        difference += (a[i] - b[i]) * (a[i] - b[i]);
        sum += (a[i] + b[i]) * (a[i] + b[i]);
    }
    double angle = 2 * atan2(sqrt(difference), sqrt(sum));
    bool straight = angle < 1e-7;
    double from = straight ? 1 - u : sin((1 - u) * angle) / sin(angle);
    double to = straight ? u : sin(u * angle) / sin(angle);
    for (int i = 0; i < 4; i++) {
        out[i] = from * a[i] + to * b[i];
    }
}

/* Hermite; the stored tangents are per second, so they count times the segment's length. */
static void spline(const pelt_sampler *sampler, uint32_t key, double length, double u, double *out)
{
    size_t width = sampler->width;
    const float *value = key_value(sampler, key), *out_tangent = value + width;
    const float *next_value = key_value(sampler, key + 1), *in_tangent = next_value - width;
    double u2 = u * u, u3 = u2 * u;
    for (uint32_t i = 0; i < sampler->width; i++) {
        out[i] = (2 * u3 - 3 * u2 + 1) * (double)value[i] +
                 length * (u3 - 2 * u2 + u) * (double)out_tangent[i] +
                 (3 * u2 - 2 * u3) * (double)next_value[i] +
                 length * (u3 - u2) * (double)in_tangent[i];
    }
}

void pelt_sampler_evaluate(const pelt_sampler *sampler, double time, bool rotation, double *out)
{
    uint32_t last = sampler->key_count - 1;
    uint32_t key = time < (double)sampler->times[0] ? 0 : find_key(sampler, time);
    double start = (double)sampler->times[key];
    if (key == last || time <= start || sampler->interpolation == PELT_STEP) {
        copy_key(sampler, key, out);
    } else {
        double length = (double)sampler->times[key + 1] - start;
        double u = (time - start) / length;
        if (sampler->interpolation == PELT_CUBICSPLINE) {
            spline(sampler, key, length, u, out);
        } else if (rotation) {
            slerp(key_value(sampler, key), key_value(sampler, key + 1), u, out);
        } else {
            lerp(sampler, key, u, out);
        }
    }
    if (rotation) {
        double nearest[4];
        copy_key(sampler, key, nearest);
        pelt_quaternion_normalize(nearest, pelt_quaternion_identity);
        pelt_quaternion_normalize(out, nearest);
    }
}
