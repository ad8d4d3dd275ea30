/* The steps of pelt_clusters_create: triangles, levels of them, each cut into clusters. */
#ifndef PELT_SRC_CLUSTER_H
#define PELT_SRC_CLUSTER_H

#include "base/base.h"

#include <pelt/cluster.h>

/* Triangles of packed vertices: three corners each, all different. */
typedef struct triangle_list {
    uint32_t count;
    uint32_t *corners;
} triangle_list;

/* A level of detail, and how far level 0 is from it at most: in the given poses (without any: in
 * the bind pose), and in the bind pose alone. */
typedef struct cluster_level {
    triangle_list triangles;
    bool tangled; /* pelt_is_tangled */
    float error, bind_error;
} cluster_level;

/* Whether these are such that only the plainest algorithms come to an end. */
pelt_result pelt_is_tangled(const pelt_host *host, const pelt_packed_mesh *mesh,
                            const triangle_list *triangles, bool *tangled);

/* Adds coarser levels to the first, which has its triangles, up to info->lod_count; none if it
 * is tangled. All of them are the caller's to release, also after a failure. */
pelt_result pelt_levels_make(const pelt_host *host, const pelt_clusters_info *info,
                             cluster_level levels[PELT_LOD_MAX], uint32_t *count);

/* Makes of vertices that differ in their directions alone, if at all, one. */
pelt_result pelt_weld(const pelt_host *host, const pelt_clusters_info *info,
                      triangle_list *triangles);

/* Cuts levels into clusters, one after the other. */
typedef struct cluster_cutter cluster_cutter;
pelt_result pelt_cutter_create(const pelt_host *host, const pelt_clusters_info *info,
                               pelt_clusters *out, cluster_cutter **cutter);
void pelt_cutter_destroy(cluster_cutter *cutter);

/* Appends the next level and its clusters to those being made. */
pelt_result pelt_cutter_add_level(cluster_cutter *cutter, const cluster_level *level);

#endif
