/* How far points of one surface are from another, pose by pose. */
#ifndef PELT_SRC_CLUSTER_MEASURE_H
#define PELT_SRC_CLUSTER_MEASURE_H

#include "cluster/poses.h"

/* A point is the middle of three vertices, so that the triangles of a surface say where to look
 * from, as a vertex given three times does. */
typedef struct surface_distance {
    const pelt_host *host;
    const triangle_list *surface, *points;
    uint32_t *nearest; /* NEAREST_COUNT triangles of the surface for each point */
    double worst;      /* of the poses so far */
} surface_distance;

/* tree: of the surface, or NULL. surface and points must stay. Errors: PELT_ERROR_MEMORY. */
pelt_result pelt_distance_init(surface_distance *distance, const pose_set *poses,
                               const triangle_list *surface, const triangle_tree *tree,
                               const triangle_list *points);
void pelt_distance_finish(surface_distance *distance);

/* Takes a pose into account: worst is then no less than the distance of any of the points from the
 * surface, posed like this. */
void pelt_distance_grow(surface_distance *distance, const float *positions);

#endif
