#include "sample/paint.h"

vec3 pelt_sample_color(uint32_t srgb)
{
    double linear[3];
    for (int i = 0; i < 3; ++i) {
        double c = (srgb >> (16 - 8 * i) & 0xff) / 255.0;
        linear[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
    }
    return v3(linear[0], linear[1], linear[2]);
}

static double hash(int x, int y, int z)
{
    uint32_t h = (uint32_t)x * 0x8da6b343u ^ (uint32_t)y * 0xd8163841u ^ (uint32_t)z * 0xcb1ab31fu;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    return (h ^ h >> 15) / 4294967295.0;
}

/* Value noise, -1 to 1. */
static double noise(vec3 p)
{
    double f[3] = { floor(p.x), floor(p.y), floor(p.z) };
    double t[3] = { smooth_step(0, 1, p.x - f[0]), smooth_step(0, 1, p.y - f[1]),
                    smooth_step(0, 1, p.z - f[2]) };
    double sum = 0.0;
    for (int i = 0; i < 8; ++i) {
        double w =
            (i & 1 ? t[0] : 1 - t[0]) * (i & 2 ? t[1] : 1 - t[1]) * (i & 4 ? t[2] : 1 - t[2]);
        sum += w * hash((int)f[0] + (i & 1), (int)f[1] + (i >> 1 & 1), (int)f[2] + (i >> 2));
    }
    return 2.0 * sum - 1.0;
}

/* The blend's share of a blob, or of both sides' of a paired one. */
static double share(const blob_distances *blobs, int blob, bool paired)
{
    double sum = 0.0;
    for (int i = 0; i < blobs->count; ++i) {
        if (blobs->blobs[i] == blob || (paired && blobs->blobs[i] == blob + 1)) {
            sum += blobs->shares[i];
        }
    }
    return sum;
}

static double limb_share(const blob_distances *blobs, int first, int end)
{
    double sum = 0.0;
    for (int i = 0; i < blobs->count; ++i) {
        sum += blobs->blobs[i] >= first && blobs->blobs[i] < end ? blobs->shares[i] : 0.0;
    }
    return sum;
}

/* The mask from the snout to the cheeks: below a line that rises from the nose outwards. */
static double face_mask(vec3 p, double ragged)
{
    double u = fabs(p.x);
    double line = .915 + .045 * smooth_step(.03, .12, u) - .05 * smooth_step(.16, .25, u);
    line += .008 * smooth_step(.2, .1, p.z) * ragged;
    return smooth_step(line + .008, line - .008, p.y) * smooth_step(-.06, .0, p.z + .2 * u);
}

static double belly_mask(vec3 p, double ragged)
{
    double u = fabs(p.x) + .012 * ragged;
    double width = .05 + .04 * smooth_step(.76, .6, p.y) - .03 * smooth_step(.47, .40, p.y);
    return smooth_step(width + .012, width - .012, u) * smooth_step(.0, .05, p.z);
}

static vec3 scarf_color(vec3 p)
{
    vec3 color = pelt_sample_color(0x1d8a8a);
    double band = smooth_step(.612, .604, p.y) * smooth_step(.574, .582, p.y);
    return v3_mix(color, pelt_sample_color(0xf6e3b4), band);
}

/* How open the surface is: 1 on a plane or a bulge, less in folds, where the surface comes back
 * near a point lifted off it. */
static double openness(const fox_shape *shape, vec3 point, vec3 normal)
{
    double open = 1.0;
    for (int i = 0; i < 3; ++i) {
        double height = .02 * (1 << i);
        double room = pelt_sample_shape_distance(shape, v3_along(point, normal, height)) / height;
        open -= .22 * (1.0 - clamp01(room));
    }
    return open;
}

vec3 pelt_sample_paint(const fox_shape *shape, vec3 point, vec3 normal)
{
    blob_distances blobs;
    pelt_sample_shape_blobs(shape, point, &blobs);
    double coarse = noise(v3_scale(point, 38.0)), fine = noise(v3_scale(point, 110.0));
    double ragged = 0.6 * coarse + 0.4 * fine;

    const vec3 orange = pelt_sample_color(0xe8792b), rust = pelt_sample_color(0xc8571d);
    const vec3 cream = pelt_sample_color(0xfff0dc), brown = pelt_sample_color(0x3b2320);
    double trunk = share(&blobs, BLOB_TORSO, false) + share(&blobs, BLOB_BELLY, false) +
                   share(&blobs, BLOB_CHEST, false) + share(&blobs, BLOB_NECK, false);
    double head = share(&blobs, BLOB_SKULL, false) + share(&blobs, BLOB_MUZZLE, false) +
                  share(&blobs, BLOB_CHEEK, true);
    double ears = share(&blobs, BLOB_EAR, true);
    double arms = limb_share(&blobs, BLOB_ARM, BLOB_LEG);
    double legs = limb_share(&blobs, BLOB_LEG, BLOB_COUNT);
    double tail = share(&blobs, BLOB_TAIL, false);

    /* The back is darker than the front. */
    vec3 color = v3_mix(orange, rust, .75 * smooth_step(.3, -.9, normal.z - .4 * normal.y));
    color = v3_mix(color, rust, .6 * share(&blobs, BLOB_TUFT, false));
    color = v3_mix(color, cream, head * face_mask(point, ragged) * smooth_step(.81, .835, point.y));
    color = v3_mix(color, cream, trunk * belly_mask(point, ragged));
    double tip = v3_distance(point, v3(0, .985, -.345)) + .02 * ragged;
    color = v3_mix(color, cream, tail * smooth_step(.225, .185, tip));
    color = v3_mix(color, brown, arms * smooth_step(.515, .475, point.y + .02 * ragged));
    color = v3_mix(color, brown, legs * smooth_step(.205, .155, point.y + .02 * ragged));
    color = v3_mix(color, brown, ears * smooth_step(1.235, 1.285, point.y + .02 * ragged));
    double cup = pelt_sample_shape_cup(shape, point);
    color = v3_mix(color, pelt_sample_color(0xf2cdb2),
                   ears * smooth_step(.012, .002, cup) * smooth_step(1.33, 1.27, point.y));

    color = v3_scale(color, 1.0 + .07 * coarse + .05 * fine);
    color = v3_mix(color, pelt_sample_color(0x241617),
                   smooth_step(.25, .6, share(&blobs, BLOB_NOSE, false)));
    double scarf = share(&blobs, BLOB_SCARF, false) + share(&blobs, BLOB_SCARF_END, false);
    color = v3_mix(color, scarf_color(point), smooth_step(.3, .6, scarf));
    color = v3_scale(color, openness(shape, point, normal));
    return v3(clamp01(color.x), clamp01(color.y), clamp01(color.z));
}
