/* What pelt verify measures: one part of one member against the reference. */
#ifndef PELT_CLI_COMPARE_H
#define PELT_CLI_COMPARE_H

#include "cli/backend.h"

/* The worst of one kind of error. A bound holds while of_bound <= 1. */
typedef struct pelt_worst {
    double error;    /* model units, a part of a weight of 1, or radians */
    double of_box;   /* position: as a part of the part's box diagonal */
    double of_bound; /* as a part of what is allowed */
    double allowed;  /* where of_bound is largest */
    uint32_t member, part, vertex;
    uint64_t count; /* compared */
} pelt_worst;

/* One path against the reference that is fed with what packing left: its positions, directions and
 * influences, and the unrounded matrices. */
typedef struct pelt_path_result {
    pelt_worst position, normal, tangent;
    uint64_t boxes, boxes_equal; /* bit for bit the min and max of the path's positions */
    uint64_t joint_boxes, joint_boxes_hold; /* contain the exact box */
    uint64_t handedness_wrong, not_finite;
    double seconds;
    uint32_t groups; /* most in a dispatch */
} pelt_path_result;

/* What packing costs: that reference against the one of the file's full precision, and what the
 * pack reports say, which no pose changes. */
typedef struct pelt_packing_result {
    pelt_worst position;        /* bound: pelt_pack_displacement and rounding */
    pelt_worst normal, tangent; /* of a pose, which can enlarge them: no bound */
    pelt_worst weights;         /* bound: the documented one, 1/4096 or a little more */
    pelt_worst directions;      /* in the bind pose; bound: pelt_direction_bound() */
} pelt_packing_result;

typedef struct pelt_comparison pelt_comparison;

pelt_result pelt_comparison_create(const pelt_character *character, pelt_comparison **out);
void pelt_comparison_destroy(pelt_comparison *comparison);

/* Computes the references for one part of the batch's i-th member. The batch has doubles. */
pelt_result pelt_comparison_begin(pelt_comparison *comparison, const pelt_batch *batch, uint32_t i,
                                  uint32_t part, pelt_packing_result *packing);

/* Holds one path's result for that part against them. */
void pelt_comparison_add(const pelt_comparison *comparison, const pelt_animated *animated,
                         bool joint_boxes, pelt_path_result *path);

bool pelt_path_result_holds(const pelt_path_result *path);

/* The pack report of the mesh that part uses, against what docs/formats.md promises. */
void pelt_packing_add_report(pelt_packing_result *packing, const pelt_packed_mesh *mesh,
                             uint32_t part);
bool pelt_packing_holds(const pelt_packing_result *packing);

/* Radians between a unit direction and its ten bits a component, at most. */
double pelt_direction_bound(void);

#endif
