/* What of the joints' matrices dual quaternions hold. */
#include "bake/bake.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Below this a scale is the rounding of the file's numbers. */
#define SCALE_NOISE 1e-5
/* A stretch along none of the model's axes, as a part of the whole, that is worth a warning. */
#define SHEAR_NOISE 1e-3

enum { NAMED = 8 };

/* What is found: any joint scaled, and of each joint the largest part of its stretch that is not
 * along the axes. */
typedef struct findings {
    bool scaled;
    double *shear;
} findings;

static pelt_result look(pelt_baker *baker, int32_t clip, double time, findings *found)
{
    pelt_result result = pelt_baker_sample(baker, clip, time);
    for (size_t j = 0; result == PELT_OK && j < baker->bake->joint_count; j++) {
        pelt_factors factors;
        pelt_matrix_factor(baker->matrices + 12 * j, &factors);
        double along = 0, across = 0;
        for (int i = 0; i < 3; i++) {
            found->scaled = found->scaled || fabs(factors.stretch[i] - 1) > SCALE_NOISE;
            along = fmax(along, fabs(factors.stretch[i]));
            across = fmax(across, fabs(factors.stretch[3 + i]));
        }
        found->shear[j] = fmax(found->shear[j], along > 0 ? across / along : 0);
    }
    return result;
}

/* More rows than any texture has: the clip will be refused, or gets a lower rate. */
static bool is_too_long(const pelt_bake_stretch *stretch, double rate)
{
    return pelt_bake_stretch_rows(stretch, rate) > (double)PELT_BAKE_SIZE * PELT_BAKE_LAYERS;
}

/* At every row, at whatever rate that is known, and at every key. */
static pelt_result look_at_clip(pelt_baker *baker, uint32_t index, findings *found)
{
    const pelt_bake_clip *clip = &baker->bake->clips[index];
    const pelt_bake_timeline *timeline = &baker->timelines[index];
    pelt_result result = PELT_OK;
    for (size_t i = 0; result == PELT_OK && i <= timeline->jumps.count; i++) {
        pelt_bake_stretch stretch = pelt_bake_timeline_stretch(timeline, i);
        if (is_too_long(&stretch, clip->rate)) {
            continue;
        }
        pelt_bake_range range = pelt_bake_stretch_range(&stretch, clip->rate);
        for (uint32_t row = 0; result == PELT_OK && row < range.row_count; row++) {
            result = look(baker, clip->clip, pelt_bake_row_time(&range, clip->rate, row), found);
        }
    }
    for (size_t i = 0; result == PELT_OK && i < timeline->keys.count; i++) {
        result = look(baker, clip->clip, timeline->keys.values[i], found);
    }
    return result;
}

/* "'hip'", or "node 12"; the node comes back. */
static uint32_t name_joint(const pelt_bake *bake, uint32_t joint, char *out, size_t size)
{
    uint32_t i = 0;
    while (joint - bake->palettes[i].first_joint >= bake->palettes[i].joint_count) {
        i++;
    }
    const pelt_bake_palette *palette = &bake->palettes[i];
    const char *name = palette->names[joint - palette->first_joint];
    uint32_t node = palette->nodes[joint - palette->first_joint];
    if (name) {
        (void)snprintf(out, size, "'%.48s'", name);
    } else {
        (void)snprintf(out, size, "node %u", node);
    }
    return node;
}

static void warn_of_shear(const pelt_baker *baker, const double *shear)
{
    char list[NAMED * 64] = "", name[56], pointer[24] = ""; /* of the first */
    uint32_t count = 0;
    double worst = 0;
    for (uint32_t j = 0; j < baker->bake->joint_count; j++) {
        if (shear[j] > SHEAR_NOISE) {
            size_t used = strlen(list);
            if (count < NAMED) {
                uint32_t node = name_joint(baker->bake, j, name, sizeof(name));
                if (count == 0) {
                    (void)snprintf(pointer, sizeof(pointer), "/nodes/%u", node);
                }
                (void)snprintf(list + used, sizeof(list) - used, "%s%s", count ? ", " : "", name);
            }
            count++;
            worst = fmax(worst, shear[j]);
        }
    }
    if (count) {
        pelt_warn(baker->host, NULL, pointer,
                  "%u joint%s sheared, or scaled unevenly along other directions than the "
                  "model's axes (by up to %.2g of the scale), which dual quaternions do not hold: "
                  "%s%s",
                  count, count == 1 ? " is" : "s are", worst, list, count > NAMED ? ", ..." : "");
    }
}

pelt_result pelt_bake_scan(pelt_baker *baker, bool *scaled)
{
    findings found = { .shear =
                           pelt_allocate(baker->host, baker->bake->joint_count, sizeof(double)) };
    if (!found.shear) {
        return pelt_fail(baker->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %u joints",
                         baker->bake->joint_count);
    }
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < baker->bake->clip_count; i++) {
        result = look_at_clip(baker, i, &found);
    }
    if (result == PELT_OK) {
        warn_of_shear(baker, found.shear);
        *scaled = found.scaled;
    }
    pelt_release(baker->host, found.shear);
    return result;
}
