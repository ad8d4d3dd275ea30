#include "study/twist.h"

#include "study/squash_pose.h"

#include <pelt/skin.h>
#include <string.h>

#define RADIANS 0.017453292519943295

enum { JOINTS = 2, SLOTS = 4 };

const pelt_twist_name pelt_twist_methods[PELT_TWIST_METHOD_COUNT] = {
    { "lbs", "linear blend skinning" },
    { "dqs", "dual quaternions" },
};

static bool allocate(pelt_twist_limb *limb)
{
    const pelt_host *host = limb->host;
    size_t count = limb->vertex_count;
    limb->rest.positions = pelt_allocate(host, count, 3 * sizeof(float));
    limb->rest.normals = pelt_allocate(host, count, 3 * sizeof(float));
    limb->rest.joints = pelt_allocate(host, count, SLOTS * sizeof(uint16_t));
    limb->rest.weights = pelt_allocate(host, count, SLOTS * sizeof(float));
    limb->positions = pelt_allocate(host, count, 3 * sizeof(double));
    limb->normals = pelt_allocate(host, count, 3 * sizeof(double));
    return limb->rest.positions && limb->rest.normals && limb->rest.joints && limb->rest.weights &&
           limb->positions && limb->normals;
}

/* Rings around the middle of equal parts of the profile: none is a tip. */
static void fill(pelt_twist_limb *limb)
{
    pelt_primitive *rest = &limb->rest;
    rest->topology = PELT_TRIANGLES;
    rest->vertex_count = limb->vertex_count;
    rest->influence_count = SLOTS;
    rest->material = -1;
    for (size_t v = 0; v < limb->vertex_count; v++) {
        size_t ring = v / limb->around;
        double along = ((double)ring + 0.5) / limb->rings;
        double around = (double)(v % limb->around) / limb->around;
        squash_point at = squash_point_at(along, around);
        for (size_t i = 0; i < 3; i++) {
            rest->positions[3 * v + i] = (float)at.position[i];
            rest->normals[3 * v + i] = (float)at.normal[i];
        }
        float weight = (float)squash_weight(at.position[0]);
        rest->joints[SLOTS * v + 1] = 1;
        rest->weights[SLOTS * v] = 1.0f - weight;
        rest->weights[SLOTS * v + 1] = weight;
    }
}

pelt_result pelt_twist_create(const pelt_host *host, uint32_t rings, uint32_t around,
                              pelt_twist_limb **out)
{
    *out = NULL;
    if (rings < 3 || rings % 2 == 0 || around < 3 || rings > UINT16_MAX || around > UINT16_MAX) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL, "no limb of %u x %u vertices",
                         rings, around);
    }
    pelt_twist_limb *limb = pelt_allocate(host, 1, sizeof(*limb));
    if (limb) {
        *limb = (pelt_twist_limb){
            .host = host, .rings = rings, .around = around, .vertex_count = rings * around
        };
    }
    if (!limb || !allocate(limb)) {
        pelt_twist_destroy(limb);
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a limb of %u vertices",
                         rings * around);
    }
    fill(limb);
    pelt_twist_pose(limb, 0, PELT_TWIST_ABOUT, 0.0);
    *out = limb;
    return PELT_OK;
}

void pelt_twist_destroy(pelt_twist_limb *limb)
{
    if (!limb) {
        return;
    }
    const pelt_host *host = limb->host;
    pelt_release(host, limb->normals);
    pelt_release(host, limb->positions);
    pelt_release(host, limb->rest.weights);
    pelt_release(host, limb->rest.joints);
    pelt_release(host, limb->rest.normals);
    pelt_release(host, limb->rest.positions);
    pelt_release(host, limb);
}

void pelt_twist_pose(pelt_twist_limb *limb, uint32_t method, pelt_twist_motion motion,
                     double degrees)
{
    double c = cos(degrees * RADIANS), s = sin(degrees * RADIANS);
    const double matrices[PELT_TWIST_BEND + 1][12 * JOINTS] = {
        { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, c, -s, 0, 0, s, c, 0 },
        { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, 0 },
    };
    double rotations[4 * JOINTS];
    pelt_skin_rotations_double(matrices[motion], JOINTS, rotations, NULL);
    const pelt_reference_job job = { .primitive = &limb->rest,
                                     .matrices = matrices[motion],
                                     .rotations = method == 0 ? NULL : rotations,
                                     .positions = limb->positions,
                                     .normals = limb->normals };
    pelt_skin_reference(&job, 0, limb->vertex_count, NULL);
}

/* Six times that of the pyramid from the origin to a triangle. */
static double six_volumes(const pelt_twist_limb *limb, size_t a, size_t b, size_t c)
{
    double across[3];
    cross3(limb->positions + 3 * b, limb->positions + 3 * c, across);
    return dot3(limb->positions + 3 * a, across);
}

/* The divergence theorem: quads between rings, fans over both ends, counter-clockwise from outside.
 */
double pelt_twist_volume(const pelt_twist_limb *limb)
{
    size_t around = limb->around, last = (limb->rings - 1) * around;
    double sum = 0.0;
    for (size_t r = 0; r + 1 < limb->rings; r++) {
        for (size_t a = 0; a < around; a++) {
            size_t b = (a + 1) % around, near = r * around, far = near + around;
            sum += six_volumes(limb, near + a, near + b, far + a);
            sum += six_volumes(limb, far + b, far + a, near + b);
        }
    }
    for (size_t a = 1; a + 1 < around; a++) {
        sum += six_volumes(limb, 0, a + 1, a);
        sum += six_volumes(limb, last, last + a, last + a + 1);
    }
    return sum / 6.0;
}

double pelt_twist_middle(const pelt_twist_limb *limb)
{
    const double *ring = limb->positions + 3 * (size_t)(limb->rings / 2) * limb->around;
    double twice[3] = { 0.0 };
    for (size_t a = 0; a < limb->around; a++) {
        double across[3];
        cross3(ring + 3 * a, ring + 3 * ((a + 1) % limb->around), across);
        for (int i = 0; i < 3; i++) {
            twice[i] += across[i];
        }
    }
    return 0.5 * sqrt(dot3(twice, twice));
}

double pelt_twist_outside(const pelt_twist_limb *limb, double degrees)
{
    /* One half points to -x, the other, bent, to (cos sin): away from both. */
    const double away[3] = { sin(0.5 * degrees * RADIANS), -cos(0.5 * degrees * RADIANS), 0.0 };
    double farthest = 0.0;
    for (size_t v = 0; v < limb->vertex_count; v++) {
        farthest = fmax(farthest, dot3(limb->positions + 3 * v, away));
    }
    return farthest;
}

double pelt_twist_swelling(const pelt_twist_limb *limb)
{
    double lowest = 0.0;
    for (size_t v = 0; v < limb->vertex_count; v++) {
        lowest = fmin(lowest, limb->positions[3 * v + 1]);
    }
    return -lowest;
}

void pelt_twist_measure(pelt_twist_limb *limb, pelt_twist_motion motion, double degrees,
                        pelt_twist_point *out)
{
    pelt_twist_pose(limb, 0, motion, 0.0);
    double volume = pelt_twist_volume(limb), middle = pelt_twist_middle(limb);
    double outside = pelt_twist_outside(limb, 0.0), swelling = pelt_twist_swelling(limb);
    *out = (pelt_twist_point){ .degrees = degrees };
    for (uint32_t m = 0; m < PELT_TWIST_METHOD_COUNT; m++) {
        pelt_twist_pose(limb, m, motion, degrees);
        out->volume[m] = pelt_twist_volume(limb) / volume;
        if (motion == PELT_TWIST_ABOUT) {
            out->middle[m] = pelt_twist_middle(limb) / middle;
        } else {
            out->outside[m] = pelt_twist_outside(limb, degrees) / outside;
            out->swelling[m] = pelt_twist_swelling(limb) / swelling;
        }
    }
}

void pelt_twist_run(pelt_twist_limb *limb, pelt_twist_curves *out)
{
    for (int i = 0; i < PELT_TWIST_POINTS; i++) {
        pelt_twist_measure(limb, PELT_TWIST_ABOUT, i * PELT_TWIST_STEP, &out->twist[i]);
    }
    for (int i = 0; i < PELT_BEND_POINTS; i++) {
        pelt_twist_measure(limb, PELT_TWIST_BEND, i * PELT_TWIST_STEP, &out->bend[i]);
    }
}
