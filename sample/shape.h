/* The body as an implicit surface: round cones, blended.
 *
 * Consecutive cones form a blob (a limb, the skull, a scarf). Blobs with the signed distances d_g
 * blend into the field F with the sum over g of max(0, 1 - (d_g - F) / k_g)^3 = 1: symmetric,
 * twice differentiable in the d_g, F <= min d_g, |F(p) - F(q)| <= |p - q|, and a blob farther than
 * F + k_g has no effect whatever, so leaving it out is exact.
 */
#ifndef PELT_SAMPLE_SHAPE_H
#define PELT_SAMPLE_SHAPE_H

#include "sample/vector.h"

#include <pelt/base.h>

enum {
    BLOB_TORSO,
    BLOB_BELLY,
    BLOB_CHEST,
    BLOB_NECK,
    BLOB_SKULL,
    BLOB_MUZZLE,
    BLOB_NOSE,
    BLOB_TUFT,
    BLOB_SCARF,
    BLOB_SCARF_END,
    BLOB_TAIL,
    BLOB_CHEEK, /* paired from here on: left, right */
    BLOB_EAR = BLOB_CHEEK + 2,
    BLOB_ARM = BLOB_EAR + 2,
    BLOB_THUMB = BLOB_ARM + 2,
    BLOB_LEG = BLOB_THUMB + 2,
    BLOB_FOOT = BLOB_LEG + 2,
    BLOB_TOES = BLOB_FOOT + 2,
    BLOB_COUNT = BLOB_TOES + 6
};

typedef struct fox_shape fox_shape;

/* Distances of the blobs around a point. */
typedef struct blob_distances {
    int count;
    int blobs[BLOB_COUNT];
    double distances[BLOB_COUNT];
    double shares[BLOB_COUNT]; /* of the blend; their sum is 1 */
} blob_distances;

/* vertices: about how many will be asked about, which decides what is worth preparing. */
pelt_result pelt_sample_shape_create(const pelt_host *host, uint32_t vertices, fox_shape **out);
void pelt_sample_shape_destroy(fox_shape *shape);

/* Around the whole body, with room to spare. */
vec3 pelt_sample_shape_min(const fox_shape *shape);
vec3 pelt_sample_shape_max(const fox_shape *shape);

double pelt_sample_shape_distance(const fox_shape *shape, vec3 point);
double pelt_sample_shape_gradient(const fox_shape *shape, vec3 point, vec3 *gradient);

/* Every blob whose distance is at most SHAPE_REACH above the least. */
#define SHAPE_REACH 0.12
void pelt_sample_shape_blobs(const fox_shape *shape, vec3 point, blob_distances *out);

/* Distance from the hollow that makes the ear on the point's side a cup; about 0 on its inside. */
double pelt_sample_shape_cup(const fox_shape *shape, vec3 point);

/* The nearest point of the surface, by Newton steps, each at most reach long. */
vec3 pelt_sample_shape_project(const fox_shape *shape, vec3 point, int steps, double reach);

#endif
