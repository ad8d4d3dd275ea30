#include "study/squash.h"

#include "study/squash_pose.h"

#define HALF_PI 1.57079632679489661923

static bool allocate(pelt_squash_limb *limb)
{
    size_t size = 3 * sizeof(double);
    limb->positions = pelt_allocate(limb->host, limb->vertex_count, size);
    limb->truth = pelt_allocate(limb->host, limb->vertex_count, size);
    limb->weights = pelt_allocate(limb->host, limb->vertex_count, sizeof(double));
    bool done = limb->positions && limb->truth && limb->weights;
    for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
        limb->normals[m] = pelt_allocate(limb->host, limb->vertex_count, size);
        done = done && limb->normals[m];
    }
    return done;
}

/* Of one vertex, by its share of the surface. */
static void add_error(pelt_squash_error *error, const double normal[3], const double truth[3],
                      double area)
{
    double angle = angle3(normal, truth);
    bool flipped = angle > HALF_PI;
    double between = flipped ? 2.0 * HALF_PI - angle : angle;
    error->mean += area * between;
    error->worst = fmax(error->worst, between);
    error->flipped += flipped ? area : 0.0;
}

static void pose_limb(pelt_squash_limb *limb)
{
    const squash_pose pose = squash_pose_of(limb->which);
    double total = 0.0;
    for (uint32_t v = 0; v < limb->vertex_count; v++) {
        /* Rings lie around the middle of equal parts of the profile: none is a tip. */
        uint32_t ring = v / limb->around;
        squash_point at =
            squash_point_at((ring + 0.5) / limb->rings, (double)(v % limb->around) / limb->around);
        double *truth = limb->truth + 3 * (size_t)v;
        limb->weights[v] = squash_weight(at.position[0]);
        squash_deform(&pose, at.position, limb->positions + 3 * (size_t)v);
        bool smooth = squash_true_normal(&pose, at.position, at.normal, truth);
        total += smooth ? at.area : 0.0;
        for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
            double *normal = limb->normals[m] + 3 * (size_t)v;
            squash_method_normal(&pose, m, at.position, at.normal, normal);
            if (smooth) {
                add_error(&limb->errors[m], normal, truth, at.area);
            }
        }
    }
    for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
        limb->errors[m].mean /= total;
        limb->errors[m].flipped /= total;
    }
}

pelt_result pelt_squash_create(const pelt_host *host, uint32_t which, uint32_t rings,
                               uint32_t around, pelt_squash_limb **out)
{
    *out = NULL;
    if (which >= PELT_SQUASH_CASE_COUNT || rings < 3 || around < 3 || rings > UINT16_MAX ||
        around > UINT16_MAX) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL, "no limb %u of %u x %u vertices",
                         which, rings, around);
    }
    pelt_squash_limb *limb = pelt_allocate(host, 1, sizeof(*limb));
    if (limb) {
        *limb = (pelt_squash_limb){ .host = host,
                                    .which = which,
                                    .rings = rings,
                                    .around = around,
                                    .vertex_count = rings * around };
    }
    if (!limb || !allocate(limb)) {
        pelt_squash_destroy(limb);
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a limb of %u vertices",
                         rings * around);
    }
    pose_limb(limb);
    *out = limb;
    return PELT_OK;
}

void pelt_squash_destroy(pelt_squash_limb *limb)
{
    if (!limb) {
        return;
    }
    const pelt_host *host = limb->host;
    for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
        pelt_release(host, limb->normals[m]);
    }
    pelt_release(host, limb->weights);
    pelt_release(host, limb->truth);
    pelt_release(host, limb->positions);
    pelt_release(host, limb);
}
