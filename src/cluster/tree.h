/* The triangles of a surface nearest to a point, in a space of several poses at once: coordinates
 * of all of them side by side. A triangle is near there only if it is near in each pose, so lips
 * that touch in one of them are told apart by another. */
#ifndef PELT_SRC_CLUSTER_TREE_H
#define PELT_SRC_CLUSTER_TREE_H

#include "cluster/cluster.h"

enum {
    SPACE = 12,       /* coordinates of a point: four poses; those of fewer are filled up with 0 */
    NEAREST_COUNT = 4 /* triangles that a search finds */
};

typedef struct triangle_tree triangle_tree;

/* At least one triangle. space: SPACE coordinates for each vertex, in [0, 1]. Errors:
 * PELT_ERROR_MEMORY. */
pelt_result pelt_tree_create(const pelt_host *host, const triangle_list *triangles,
                             const float *space, triangle_tree **out);
void pelt_tree_destroy(triangle_tree *tree);

/* The nearest triangles, nearest first but for rounding; the last one repeated where there are
 * fewer. */
void pelt_tree_nearest(const triangle_tree *tree, const float point[SPACE],
                       uint32_t found[NEAREST_COUNT]);

/* The squared distance of a point from a triangle. It is that of some point of the triangle, so
 * never too small but for rounding. */
double pelt_triangle_distance(const double point[3], const float *const corners[3]);

#endif
