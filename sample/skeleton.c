#include "sample/skeleton.h"

#include "base/base.h"

#include <stdio.h>

typedef struct plan {
    const char *name;
    fox_part parent;
    bool flexible;
    uint32_t count;  /* joints of the natural rig, each side */
    double richness; /* how readily the part takes further joints; 0: never */
    double softness;
    part_path path;
} plan;

static const plan plans[PART_COUNT] = {
    [PART_HIPS] = { "hips",
                    PART_HIPS,
                    false,
                    1,
                    0,
                    0.05,
                    { 2, { { 0, .44, -.005 }, { 0, .52, 0 } } } },
    [PART_SPINE] = { "spine",
                     PART_HIPS,
                     true,
                     2,
                     5,
                     0.06,
                     { 3, { { 0, .52, 0 }, { 0, .63, 0 }, { 0, .745, -.005 } } } },
    [PART_NECK] = { "neck",
                    PART_SPINE,
                    false,
                    1,
                    2,
                    0.04,
                    { 2, { { 0, .745, -.005 }, { 0, .82, .005 } } } },
    [PART_HEAD] = { "head",
                    PART_NECK,
                    false,
                    1,
                    0,
                    0.035,
                    { 2, { { 0, .82, .005 }, { 0, 1.16, 0 } } } },
    [PART_TAIL] = { "tail",
                    PART_HIPS,
                    true,
                    5,
                    12,
                    0.05,
                    { 6,
                      { { 0, .43, -.09 },
                        { 0, .42, -.21 },
                        { 0, .46, -.34 },
                        { 0, .59, -.44 },
                        { 0, .78, -.45 },
                        { 0, .95, -.37 } } } },
    [PART_EAR] = { "ear",
                   PART_HEAD,
                   true,
                   2,
                   3,
                   0.05,
                   { 3, { { .115, 1.10, -.01 }, { .165, 1.23, -.02 }, { .2, 1.36, -.03 } } } },
    [PART_SHOULDER] = { "shoulder",
                        PART_SPINE,
                        false,
                        1,
                        0,
                        0.05,
                        { 2, { { .03, .715, 0 }, { .115, .705, -.005 } } } },
    [PART_UPPER_ARM] = { "upper_arm",
                         PART_SHOULDER,
                         false,
                         1,
                         2,
                         0.06,
                         { 2, { { .115, .705, -.005 }, { .225, .585, -.015 } } } },
    [PART_LOWER_ARM] = { "lower_arm",
                         PART_UPPER_ARM,
                         false,
                         1,
                         2,
                         0.05,
                         { 2, { { .225, .585, -.015 }, { .312, .475, .01 } } } },
    [PART_HAND] = { "hand",
                    PART_LOWER_ARM,
                    false,
                    1,
                    0,
                    0.04,
                    { 2, { { .312, .475, .01 }, { .352, .415, .03 } } } },
    [PART_FINGERS] = { "fingers",
                       PART_HAND,
                       true,
                       0,
                       3,
                       0.025,
                       { 2, { { .352, .415, .03 }, { .378, .365, .042 } } } },
    [PART_THUMB] = { "thumb",
                     PART_HAND,
                     true,
                     0,
                     2.5,
                     0.02,
                     { 2, { { .322, .45, .035 }, { .333, .415, .085 } } } },
    [PART_UPPER_LEG] = { "upper_leg",
                         PART_HIPS,
                         false,
                         1,
                         2,
                         0.07,
                         { 2, { { .085, .42, 0 }, { .1, .245, .022 } } } },
    [PART_LOWER_LEG] = { "lower_leg",
                         PART_UPPER_LEG,
                         false,
                         1,
                         2,
                         0.055,
                         { 2, { { .1, .245, .022 }, { .105, .085, -.022 } } } },
    [PART_FOOT] = { "foot",
                    PART_LOWER_LEG,
                    false,
                    1,
                    0,
                    0.04,
                    { 2, { { .105, .085, -.022 }, { .11, .04, .065 } } } },
    [PART_TOE] = { "toe",
                   PART_FOOT,
                   false,
                   1,
                   1,
                   0.03,
                   { 2, { { .11, .04, .065 }, { .114, .04, .15 } } } },
};

/* Which joint goes next when there are fewer than the natural rig's. */
static const fox_part merge_order[] = {
    PART_TOE,       PART_TAIL,      PART_EAR,       PART_TAIL,      PART_SHOULDER,
    PART_TAIL,      PART_NECK,      PART_HAND,      PART_TAIL,      PART_FOOT,
    PART_SPINE,     PART_EAR,       PART_LOWER_ARM, PART_LOWER_LEG, PART_TAIL,
    PART_UPPER_ARM, PART_UPPER_LEG, PART_SPINE,     PART_HEAD,
};

bool pelt_sample_part_paired(fox_part part)
{
    return part >= PART_EAR;
}

bool pelt_sample_part_flexible(fox_part part)
{
    return plans[part].flexible;
}

fox_part pelt_sample_part_parent(fox_part part)
{
    return plans[part].parent;
}

double pelt_sample_part_softness(fox_part part)
{
    return plans[part].softness;
}

part_path pelt_sample_part_path(fox_part part, int side)
{
    part_path path = plans[part].path;
    for (int i = 0; i < path.count; ++i) {
        path.points[i] = v3_side(path.points[i], side);
    }
    return path;
}

static uint32_t sides(fox_part part)
{
    return pelt_sample_part_paired(part) ? 2 : 1;
}

/* Both sides keep the same number of joints, so a pair that does not fit is passed over for a
 * single joint; enough single ones come late in the order for every count to be met. */
static uint32_t merge(uint32_t counts[PART_COUNT], uint32_t total, uint32_t wanted)
{
    for (size_t i = 0; i < sizeof(merge_order) / sizeof(*merge_order) && total > wanted; ++i) {
        fox_part part = merge_order[i];
        if (counts[part] > 0 && total - wanted >= sides(part)) {
            --counts[part];
            total -= sides(part);
        }
    }
    return total;
}

/* Highest averages: the part whose joints would still be the longest gets the next one. */
static void refine(uint32_t counts[PART_COUNT], uint32_t total, uint32_t wanted)
{
    while (total < wanted) {
        fox_part best = PART_TAIL;
        double best_score = 0.0;
        for (fox_part p = 0; p < PART_COUNT; ++p) {
            double score = plans[p].richness / (counts[p] + 1.0);
            if (score > best_score && sides(p) <= wanted - total) {
                best_score = score;
                best = p;
            }
        }
        ++counts[best];
        total += sides(best);
    }
}

/* The point at a fraction of a path's length. */
static vec3 path_point(const part_path *path, double fraction)
{
    double length = 0.0;
    for (int i = 1; i < path->count; ++i) {
        length += v3_distance(path->points[i - 1], path->points[i]);
    }
    double left = fraction * length;
    for (int i = 1; i < path->count; ++i) {
        double step = v3_distance(path->points[i - 1], path->points[i]);
        if (left <= step) {
            return v3_mix(path->points[i - 1], path->points[i], left / step);
        }
        left -= step;
    }
    return path->points[path->count - 1];
}

/* y along the bone, z as far forward as it can be; upward for bones that point forward. */
static quat bone_frame(vec3 head, vec3 tail)
{
    vec3 y = v3_unit(v3_sub(tail, head), v3(0, 1, 0));
    vec3 z = v3_reject(fabs(y.z) < 0.8 ? v3(0, 0, 1) : v3(0, 1, 0), y);
    z = v3_unit(z, v3(0, 0, 1));
    return q_frame(v3_cross(y, z), y, z);
}

/* A part of one bone keeps its plain name; chains are numbered from 1. */
static void name_joint(fox_joint *joint, uint32_t count)
{
    const char *name = plans[joint->part].name;
    const char *suffix = !pelt_sample_part_paired(joint->part) ? "" : joint->side ? ".R" : ".L";
    if (joint->index == 0 && (count == 1 || !plans[joint->part].flexible) &&
        plans[joint->part].count <= 1) {
        (void)snprintf(joint->name, sizeof(joint->name), "%s%s", name, suffix);
    } else {
        (void)snprintf(joint->name, sizeof(joint->name), "%s_%u%s", name,
                       (unsigned)joint->index + 1, suffix);
    }
}

static void add_part(fox_skeleton *skeleton, fox_part part, int side)
{
    uint32_t count = skeleton->counts[part];
    part_path path = pelt_sample_part_path(part, side);
    int32_t parent = -1;
    if (part != PART_HIPS) {
        parent = (int32_t)pelt_sample_last_joint(skeleton, plans[part].parent, side);
    }
    skeleton->first[part][side] = skeleton->joint_count;
    for (uint32_t i = 0; i < count; ++i) {
        fox_joint *joint = &skeleton->joints[skeleton->joint_count];
        joint->part = part;
        joint->side = side;
        joint->index = i;
        joint->parent = parent;
        joint->head = path_point(&path, (double)i / count);
        joint->tail = path_point(&path, (i + 1.0) / count);
        joint->bind = bone_frame(joint->head, joint->tail);
        name_joint(joint, count);
        parent = (int32_t)skeleton->joint_count++;
    }
}

uint32_t pelt_sample_last_joint(const fox_skeleton *skeleton, fox_part part, int side)
{
    while (skeleton->counts[part] == 0) {
        part = plans[part].parent;
    }
    return skeleton->first[part][pelt_sample_part_paired(part) ? side : 0] +
           skeleton->counts[part] - 1;
}

pelt_result pelt_sample_skeleton_create(const pelt_host *host, uint32_t joint_count,
                                        fox_skeleton *out)
{
    *out = (fox_skeleton){ .host = host };
    out->joints = pelt_allocate(host, joint_count, sizeof(*out->joints));
    if (!out->joints) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for the skeleton");
    }
    uint32_t total = 0;
    for (fox_part p = 0; p < PART_COUNT; ++p) {
        out->counts[p] = plans[p].count;
        total += plans[p].count * sides(p);
    }
    total = merge(out->counts, total, joint_count);
    refine(out->counts, total, joint_count);
    for (fox_part p = 0; p < PART_COUNT; ++p) {
        add_part(out, p, 0);
        if (pelt_sample_part_paired(p)) {
            add_part(out, p, 1);
        }
    }
    return PELT_OK;
}

void pelt_sample_skeleton_destroy(fox_skeleton *skeleton)
{
    pelt_release(skeleton->host, skeleton->joints);
    skeleton->joints = NULL;
}
