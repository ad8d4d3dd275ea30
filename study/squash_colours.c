#include "study/squash_colours.h"

#include "study/internal.h"

void squash_linear(uint32_t colour, double out[3])
{
    for (int i = 0; i < 3; i++) {
        double c = (colour >> (16 - 8 * i) & 255) / 255.0;
        out[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
    }
}

uint32_t squash_srgb(const double linear[3])
{
    uint32_t colour = 0;
    for (int i = 0; i < 3; i++) {
        double c = fmin(fmax(linear[i], 0.0), 1.0);
        c = c <= 0.0031308 ? 12.92 * c : 1.055 * pow(c, 1.0 / 2.4) - 0.055;
        colour = colour << 8 | (uint32_t)lrint(255.0 * c);
    }
    return colour;
}

/* -- ramps --------------------------------------------------------------------------------- */

typedef struct ramp_stop {
    double place;
    uint32_t colour;
} ramp_stop;

/* The last stop is at 1. */
static void ramp_at(const ramp_stop *stops, double place, double out[3])
{
    place = fmin(fmax(place, 0.0), 1.0);
    while (stops[1].place < place) {
        stops++;
    }
    double low[3], high[3], t = (place - stops[0].place) / (stops[1].place - stops[0].place);
    squash_linear(stops[0].colour, low);
    squash_linear(stops[1].colour, high);
    for (int i = 0; i < 3; i++) {
        out[i] = low[i] + t * (high[i] - low[i]);
    }
}

/* Small angles take more of the scale than large ones. */
double squash_heat_place(double degrees)
{
    return sqrt(fmin(degrees, 90.0) / 90.0);
}

void squash_heat_ramp(double place, double out[3])
{
    static const ramp_stop stops[] = { { 0.0, 0xf3f5f4 }, { 0.1, 0xe6efd8 },  { 0.24, 0xf7e08a },
                                       { 0.4, 0xf4a340 }, { 0.56, 0xdf5531 }, { 0.74, 0xa31f4f },
                                       { 1.0, 0x2f0a4a } };
    ramp_at(stops, place, out);
}

void squash_weight_ramp(double weight, double out[3])
{
    static const ramp_stop stops[] = { { 0.0, 0x3f6fb5 }, { 0.5, 0xf0ede6 }, { 1.0, 0xd98032 } };
    ramp_at(stops, weight, out);
}

/* -- samples ------------------------------------------------------------------------------- */

/* A unit vector between those of the vertices, in the camera's axes. */
static void sample_vector(const squash_view *view, const squash_sample *sample,
                          const double *vectors, double out[3])
{
    double sum[3] = { 0.0 };
    for (int i = 0; i < 3; i++) {
        const double *at = vectors + 3 * (size_t)sample->vertices[i];
        for (int k = 0; k < 3; k++) {
            sum[k] += (double)sample->shares[i] * at[k];
        }
    }
    for (int i = 0; i < 3; i++) {
        out[i] = dot3(sum, view->axes[i]);
    }
    (void)normalize3(out);
}

static double smooth_step(double low, double high, double x)
{
    double t = fmin(fmax((x - low) / (high - low), 0.0), 1.0);
    return t * t * (3.0 - 2.0 * t);
}

/* Polished clay: a key light, a sky, a fill, and the reflections of two long lamps, whose edges
 * show every kink of the normals. As renderers do, normals of backs are turned round. */
void squash_shade(const squash_view *view, const squash_sample *sample, const double *normals,
                  bool reversed, double out[3])
{
    static const double clay[3] = { 0.62, 0.36, 0.24 };
    static const double key[3] = { -0.48, 0.66, 0.58 }, fill[3] = { 0.85, -0.1, 0.52 };
    double n[3];
    sample_vector(view, sample, normals, n);
    double sign = sample->back != reversed ? -1.0 : 1.0;
    for (int i = 0; i < 3; i++) {
        n[i] *= sign;
    }
    double light =
        0.95 * fmax(dot3(n, key), 0.0) + 0.16 * fmax(dot3(n, fill), 0.0) + 0.2 * (0.6 + 0.4 * n[1]);
    double mirrored[3] = { 2.0 * n[2] * n[0], 2.0 * n[2] * n[1], 2.0 * n[2] * n[2] - 1.0 };
    double lamp = smooth_step(0.06, 0.0, fabs(mirrored[1] - 0.72)) +
                  0.7 * smooth_step(0.05, 0.0, fabs(mirrored[1] + 0.35));
    double fresnel = 0.05 + 0.95 * pow(1.0 - fmax(n[2], 0.0), 5.0);
    for (int i = 0; i < 3; i++) {
        out[i] = clay[i] * light + (n[2] > 0.0 ? fmin(5.0 * fresnel, 0.8) * lamp : 0.0);
    }
}

/* How light a surface is that only hints at its shape. */
static double relief(const pelt_squash_limb *limb, const squash_view *view,
                     const squash_sample *sample)
{
    double n[3];
    sample_vector(view, sample, limb->truth, n);
    return 0.62 + 0.38 * fabs(n[2]);
}

void squash_heat(const pelt_squash_limb *limb, const squash_view *view, const squash_sample *sample,
                 const double *normals, bool reversed, double x, double y, double out[3])
{
    double normal[3], truth[3];
    sample_vector(view, sample, normals, normal);
    sample_vector(view, sample, limb->truth, truth);
    double degrees = angle3(normal, truth) * 57.29577951308232;
    bool against = degrees > 90.0;
    squash_heat_ramp(squash_heat_place(against ? 180.0 - degrees : degrees), out);
    double light = relief(limb, view, sample);
    bool stripe = against != reversed && fmod(x + y, 12.0) < 4.0;
    for (int i = 0; i < 3; i++) {
        out[i] = stripe ? 0.02 : out[i] * light;
    }
}

void squash_weight_colour(const pelt_squash_limb *limb, const squash_view *view,
                          const squash_sample *sample, double out[3])
{
    double weight = 0.0, light = relief(limb, view, sample);
    for (int i = 0; i < 3; i++) {
        weight += (double)sample->shares[i] * limb->weights[sample->vertices[i]];
    }
    squash_weight_ramp(weight, out);
    for (int i = 0; i < 3; i++) {
        out[i] *= light;
    }
}
