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

/* Cuts levels into clusters, one after the other. */
typedef struct cluster_cutter cluster_cutter;
pelt_result pelt_cutter_create(const pelt_host *host, const pelt_clusters_info *info,
                               pelt_clusters *out, cluster_cutter **cutter);
void pelt_cutter_destroy(cluster_cutter *cutter);

/* Appends the clusters of the next level to the cutter's clusters, and fills in the level but for
 * its errors. */
pelt_result pelt_cutter_add_level(cluster_cutter *cutter, const triangle_list *triangles);

#endif
