/* Two steps. A point is shared out among chains (arm, tail, torso ...) by how near their blobs are,
 * and only blobs that meet there count: across a small distance in general, so that a hand never
 * pulls at a hip, across a larger one around the places where a limb leaves the body, so that
 * shoulders and thighs bend softly. Along a chain it is shared out among joints by planes through
 * the joints that halve the angle between the bones, each with a soft edge. */
#include "sample/weights.h"

#include "base/base.h"

typedef enum chain_id {
    CHAIN_TORSO,
    CHAIN_NECK,
    CHAIN_HEAD,
    CHAIN_TAIL,
    CHAIN_EAR,
    CHAIN_ARM = CHAIN_EAR + 2,
    CHAIN_THUMB = CHAIN_ARM + 2,
    CHAIN_LEG = CHAIN_THUMB + 2,
    CHAIN_COUNT = CHAIN_LEG + 2
} chain_id;

enum { CHAIN_PARTS_MAX = 5, CHAIN_POINTS_MAX = 12, CONTRIBUTIONS_MAX = 4 * CHAIN_COUNT };

typedef struct chain_plan {
    chain_id chain;
    fox_part base; /* its last joint has what lies before the chain's first */
    int part_count;
    fox_part parts[CHAIN_PARTS_MAX];
} chain_plan;

static const chain_plan chain_plans[] = {
    { CHAIN_TORSO, PART_HIPS, 1, { PART_SPINE } },
    { CHAIN_NECK, PART_SPINE, 2, { PART_NECK, PART_HEAD } },
    { CHAIN_HEAD, PART_HEAD, 0, { PART_HEAD } },
    { CHAIN_TAIL, PART_HIPS, 1, { PART_TAIL } },
    { CHAIN_EAR, PART_HEAD, 1, { PART_EAR } },
    { CHAIN_ARM,
      PART_SPINE,
      5,
      { PART_SHOULDER, PART_UPPER_ARM, PART_LOWER_ARM, PART_HAND, PART_FINGERS } },
    { CHAIN_THUMB, PART_HAND, 1, { PART_THUMB } },
    { CHAIN_LEG, PART_HIPS, 4, { PART_UPPER_LEG, PART_LOWER_LEG, PART_FOOT, PART_TOE } },
};

/* A place where a limb leaves the body, and the two chains that share the skin around it. */
typedef struct junction {
    fox_part part;
    chain_id limb, trunk;
    double radius;
} junction;

static const junction junctions[] = {
    { PART_NECK, CHAIN_NECK, CHAIN_TORSO, .12 },     { PART_HEAD, CHAIN_NECK, CHAIN_HEAD, .12 },
    { PART_TAIL, CHAIN_TAIL, CHAIN_TORSO, .12 },     { PART_EAR, CHAIN_EAR, CHAIN_HEAD, .11 },
    { PART_UPPER_ARM, CHAIN_ARM, CHAIN_TORSO, .15 }, { PART_THUMB, CHAIN_THUMB, CHAIN_ARM, .05 },
    { PART_UPPER_LEG, CHAIN_LEG, CHAIN_TORSO, .16 },
};
#define NEAR_REACH     .03
#define JUNCTION_REACH .085

typedef struct chain_joint {
    uint32_t joint;
    vec3 head;
    vec3 normal;     /* of the plane, along the chain */
    double softness; /* half the width of the edge */
    double along;    /* of the head, on the path */
} chain_joint;

typedef struct rig_chain {
    uint32_t base;
    int point_count;
    vec3 points[CHAIN_POINTS_MAX];
    double along[CHAIN_POINTS_MAX]; /* length of the path up to each point */
    uint32_t joint_count;
    chain_joint *joints;
} rig_chain;

struct fox_rigging {
    const pelt_host *host;
    rig_chain chains[CHAIN_COUNT];
    uint32_t joint_count;
};

static int blob_chain(int blob)
{
    switch (blob) {
    case BLOB_NECK:
        return CHAIN_NECK;
    case BLOB_SKULL:
    case BLOB_MUZZLE:
    case BLOB_NOSE:
    case BLOB_TUFT:
    case BLOB_CHEEK:
    case BLOB_CHEEK + 1:
        return CHAIN_HEAD;
    case BLOB_TAIL:
        return CHAIN_TAIL;
    default:
        break;
    }
    int side = (blob - BLOB_CHEEK) % 2;
    return blob < BLOB_CHEEK   ? CHAIN_TORSO
           : blob < BLOB_ARM   ? CHAIN_EAR + side
           : blob < BLOB_THUMB ? CHAIN_ARM + side
           : blob < BLOB_LEG   ? CHAIN_THUMB + side
                               : CHAIN_LEG + side;
}

static void add_path(rig_chain *chain, fox_part part, int side)
{
    part_path path = pelt_sample_part_path(part, side);
    for (int i = chain->point_count ? 1 : 0; i < path.count; ++i) {
        int n = chain->point_count++;
        chain->points[n] = path.points[i];
        chain->along[n] =
            n ? chain->along[n - 1] + v3_distance(path.points[i], chain->points[n - 1]) : 0.0;
    }
}

static void add_joints(rig_chain *chain, const fox_skeleton *skeleton, fox_part part, int side,
                       double start, double end)
{
    for (uint32_t i = 0; i < skeleton->counts[part]; ++i) {
        uint32_t id = skeleton->first[part][side] + i;
        const fox_joint *joint = &skeleton->joints[id];
        vec3 direction = v3_unit(v3_sub(joint->tail, joint->head), v3(0, 1, 0));
        vec3 before = direction;
        if (chain->joint_count > 0) {
            uint32_t last = chain->joints[chain->joint_count - 1].joint;
            before = v3_sub(skeleton->joints[last].tail, skeleton->joints[last].head);
            before = v3_unit(before, direction);
        }
        chain->joints[chain->joint_count++] =
            (chain_joint){ .joint = id,
                           .head = joint->head,
                           .normal = v3_unit(v3_add(before, direction), direction),
                           .softness = pelt_sample_part_softness(part),
                           .along = start + (end - start) * i / skeleton->counts[part] };
    }
}

/* Edges of neighbouring planes may touch but not overlap, so that a chain gives a point at most two
 * joints. */
static void limit_softness(rig_chain *chain)
{
    double end = chain->point_count ? chain->along[chain->point_count - 1] : 0.0;
    for (uint32_t i = 0; i < chain->joint_count; ++i) {
        chain_joint *joint = &chain->joints[i];
        double gap = (i + 1 < chain->joint_count ? joint[1].along : end) - joint->along;
        if (i > 0 && joint->along - joint[-1].along < gap) {
            gap = joint->along - joint[-1].along;
        }
        joint->softness = joint->softness < gap / 2.0 ? joint->softness : gap / 2.0;
    }
}

static bool make_chain(fox_rigging *rigging, const fox_skeleton *skeleton, const chain_plan *plan,
                       int side)
{
    rig_chain *chain = &rigging->chains[(int)plan->chain + side];
    chain->base = pelt_sample_last_joint(skeleton, plan->base, side);
    uint32_t count = 0;
    for (int i = 0; i < plan->part_count; ++i) {
        count += skeleton->counts[plan->parts[i]];
    }
    chain->joints = pelt_allocate(rigging->host, count, sizeof(*chain->joints));
    if (!chain->joints) {
        return false;
    }
    for (int i = 0; i < plan->part_count; ++i) {
        double start = chain->point_count ? chain->along[chain->point_count - 1] : 0.0;
        add_path(chain, plan->parts[i], side);
        add_joints(chain, skeleton, plan->parts[i], side, start,
                   chain->along[chain->point_count - 1]);
    }
    limit_softness(chain);
    return true;
}

pelt_result pelt_sample_rigging_create(const pelt_host *host, const fox_skeleton *skeleton,
                                       fox_rigging **out)
{
    *out = NULL;
    fox_rigging *made = pelt_allocate(host, 1, sizeof(*made));
    bool ok = made != NULL;
    if (made) {
        made->host = host;
        made->joint_count = skeleton->joint_count;
    }
    for (size_t i = 0; ok && i < sizeof(chain_plans) / sizeof(*chain_plans); ++i) {
        const chain_plan *plan = &chain_plans[i];
        ok = make_chain(made, skeleton, plan, 0) &&
             (plan->chain < CHAIN_EAR || make_chain(made, skeleton, plan, 1));
    }
    if (!ok) {
        pelt_sample_rigging_destroy(made);
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for the rig");
    }
    *out = made;
    return PELT_OK;
}

void pelt_sample_rigging_destroy(fox_rigging *rigging)
{
    if (!rigging) {
        return;
    }
    for (int i = 0; i < CHAIN_COUNT; ++i) {
        pelt_release(rigging->host, rigging->chains[i].joints);
    }
    pelt_release(rigging->host, rigging);
}

/* How far along the path the nearest point of it is. */
static double along_path(const rig_chain *chain, vec3 point)
{
    double best = 1e9, along = 0.0;
    for (int i = 0; i + 1 < chain->point_count; ++i) {
        vec3 axis = v3_sub(chain->points[i + 1], chain->points[i]);
        double length = chain->along[i + 1] - chain->along[i];
        double t = clamp01(v3_dot(v3_sub(point, chain->points[i]), axis) / (length * length));
        double distance = v3_distance(point, v3_along(chain->points[i], axis, t));
        if (distance < best) {
            best = distance;
            along = chain->along[i] + t * length;
        }
    }
    return along;
}

typedef struct contributions {
    int count;
    uint32_t joints[CONTRIBUTIONS_MAX];
    double weights[CONTRIBUTIONS_MAX];
} contributions;

static void contribute(contributions *c, uint32_t joint, double weight)
{
    if (weight <= 0.0) {
        return;
    }
    int i = 0;
    while (i < c->count && c->joints[i] != joint) {
        ++i;
    }
    if (i == c->count) {
        c->joints[c->count] = joint;
        c->weights[c->count++] = 0.0;
    }
    c->weights[i] += weight;
}

/* Only the planes around the nearest joint are asked; others are too far away to matter, or
 * belong to a distant part of a chain that bends back. */
static void share_along(const rig_chain *chain, vec3 point, double weight, contributions *out)
{
    double along = along_path(chain, point);
    uint32_t low = 0, high = chain->joint_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (chain->joints[middle].along <= along) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    uint32_t first = low > 2 ? low - 2 : 0;
    uint32_t end = low + 1 < chain->joint_count ? low + 1 : chain->joint_count;
    uint32_t before = first ? chain->joints[first - 1].joint : chain->base;
    double left = weight;
    for (uint32_t i = first; i < end; ++i) {
        const chain_joint *joint = &chain->joints[i];
        double height = v3_dot(v3_sub(point, joint->head), joint->normal);
        double beyond = weight * smooth_step(-joint->softness, joint->softness, height);
        beyond = beyond < left ? beyond : left;
        contribute(out, before, left - beyond);
        left = beyond;
        before = joint->joint;
    }
    contribute(out, before, left);
}

/* How far beyond the nearest blob each chain's count. */
static void chain_reaches(vec3 point, double reaches[CHAIN_COUNT])
{
    for (int i = 0; i < CHAIN_COUNT; ++i) {
        reaches[i] = NEAR_REACH;
    }
    for (size_t i = 0; i < sizeof(junctions) / sizeof(*junctions); ++i) {
        const junction *j = &junctions[i];
        for (int side = 0; side < (pelt_sample_part_paired(j->part) ? 2 : 1); ++side) {
            vec3 center = pelt_sample_part_path(j->part, side).points[0];
            double near = smooth_step(j->radius, 0.5 * j->radius, v3_distance(point, center));
            double reach = NEAR_REACH + (JUNCTION_REACH - NEAR_REACH) * near;
            const int chains[2] = { (int)j->limb + side,
                                    (int)j->trunk + (j->trunk < CHAIN_EAR ? 0 : side) };
            for (int k = 0; k < 2; ++k) {
                reaches[chains[k]] = reach > reaches[chains[k]] ? reach : reaches[chains[k]];
            }
        }
    }
}

/* The four largest, less what the fifth has, so that none appears or vanishes with a jump. */
static fox_influences four_largest(contributions *c)
{
    double total = 0.0;
    for (int i = 0; i < c->count; ++i) {
        total += c->weights[i];
    }
    for (int i = 0; i < c->count && i <= INFLUENCES; ++i) {
        int largest = i;
        for (int k = i + 1; k < c->count; ++k) {
            largest = c->weights[k] > c->weights[largest] ? k : largest;
        }
        double weight = c->weights[largest];
        uint32_t joint = c->joints[largest];
        c->weights[largest] = c->weights[i];
        c->joints[largest] = c->joints[i];
        c->weights[i] = weight;
        c->joints[i] = joint;
    }
    double floor = 0.005 * total;
    if (c->count > INFLUENCES && c->weights[INFLUENCES] > floor) {
        floor = c->weights[INFLUENCES];
    }
    fox_influences out = { { 0 }, { 0 } };
    double kept[INFLUENCES], sum = 0.0;
    for (int i = 0; i < INFLUENCES; ++i) {
        kept[i] = i < c->count && c->weights[i] > floor ? c->weights[i] - floor : 0.0;
        sum += kept[i];
    }
    if (!(sum > 0.0)) {
        return pelt_sample_rigid(c->joints[0]);
    }
    for (int i = 0; i < INFLUENCES && kept[i] > 0.0; ++i) {
        out.joints[i] = (uint16_t)c->joints[i];
        out.weights[i] = (float)(kept[i] / sum);
    }
    return out;
}

fox_influences pelt_sample_rigid(uint32_t joint)
{
    return (fox_influences){ { (uint16_t)joint, 0, 0, 0 }, { 1.0f, 0, 0, 0 } };
}

fox_influences pelt_sample_weights(const fox_rigging *rigging, const fox_shape *shape, vec3 point)
{
    blob_distances blobs;
    pelt_sample_shape_blobs(shape, point, &blobs);
    double least = blobs.distances[0];
    for (int i = 1; i < blobs.count; ++i) {
        least = blobs.distances[i] < least ? blobs.distances[i] : least;
    }
    double reaches[CHAIN_COUNT];
    chain_reaches(point, reaches);
    double shares[CHAIN_COUNT] = { 0 };
    for (int i = 0; i < blobs.count; ++i) {
        int chain = blob_chain(blobs.blobs[i]);
        double share = clamp01(1.0 - (blobs.distances[i] - least) / reaches[chain]);
        shares[chain] = share * share > shares[chain] ? share * share : shares[chain];
    }
    contributions all = { .count = 0 };
    for (int i = 0; i < CHAIN_COUNT; ++i) {
        if (shares[i] > 0.0) {
            share_along(&rigging->chains[i], point, shares[i], &all);
        }
    }
    return four_largest(&all);
}
