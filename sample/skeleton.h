/* The rig: which joints there are, where, under whom. */
#ifndef PELT_SAMPLE_SKELETON_H
#define PELT_SAMPLE_SKELETON_H

#include "sample/vector.h"

#include <pelt/base.h>

/* Parts of the body that are chains of joints of their own. Paired ones exist on both sides: side
 * 0 is the character's left (+x), side 1 its right. */
typedef enum fox_part {
    PART_HIPS,
    PART_SPINE,
    PART_NECK,
    PART_HEAD,
    PART_TAIL,
    PART_EAR, /* paired from here on */
    PART_SHOULDER,
    PART_UPPER_ARM,
    PART_LOWER_ARM,
    PART_HAND,
    PART_FINGERS,
    PART_THUMB,
    PART_UPPER_LEG,
    PART_LOWER_LEG,
    PART_FOOT,
    PART_TOE,
    PART_COUNT
} fox_part;

enum { PATH_POINTS_MAX = 6 };

/* The centre line of a part, on the left side. */
typedef struct part_path {
    int count;
    vec3 points[PATH_POINTS_MAX];
} part_path;

typedef struct fox_joint {
    char name[32];
    fox_part part;
    int side;
    uint32_t index; /* within the part */
    int32_t parent; /* joint, -1: the root */
    vec3 head;      /* where the joint is in the bind pose */
    vec3 tail;      /* where its bone ends */
    quat bind;      /* its global orientation: y along the bone */
} fox_joint;

typedef struct fox_skeleton {
    const pelt_host *host;
    uint32_t joint_count;
    fox_joint *joints;           /* parents before children */
    uint32_t counts[PART_COUNT]; /* joints a part has on each of its sides; 0: merged */
    uint32_t first[PART_COUNT][2];
} fox_skeleton;

bool pelt_sample_part_paired(fox_part part);
bool pelt_sample_part_flexible(fox_part part);   /* bends along its length, as the tail does */
fox_part pelt_sample_part_parent(fox_part part); /* of the hips: the hips */
part_path pelt_sample_part_path(fox_part part, int side);

/* How far around the part's first joint its skin is shared with the parent, in metres. */
double pelt_sample_part_softness(fox_part part);

pelt_result pelt_sample_skeleton_create(const pelt_host *host, uint32_t joint_count,
                                        fox_skeleton *out);
void pelt_sample_skeleton_destroy(fox_skeleton *skeleton);

/* The joint that moves the end of a part: its last, or an ancestor's where it was merged away. */
uint32_t pelt_sample_last_joint(const fox_skeleton *skeleton, fox_part part, int side);

#endif
