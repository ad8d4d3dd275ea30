/* The poses that levels of detail are judged in, the bind pose first. */
#ifndef PELT_SRC_CLUSTER_POSES_H
#define PELT_SRC_CLUSTER_POSES_H

#include "cluster/tree.h"

enum { KEY_POSES = SPACE / 3 };

typedef struct pose_set {
    const pelt_host *host;
    const pelt_clusters_info *info;
    uint32_t count;   /* those given, and one */
    float *positions; /* of the pose asked for last; 3 a vertex */

    /* Poses that differ most from each other, the bind pose first, and their space: coordinates of
     * a vertex in all of them side by side, each pose scaled to a unit box. */
    uint32_t key_count;
    uint32_t keys[KEY_POSES];
    float *space;
} pose_set;

/* used: vertices that matter. Errors: PELT_ERROR_MEMORY. finish is fine after a failure. */
pelt_result pelt_poses_init(pose_set *poses, const pelt_host *host, const pelt_clusters_info *info,
                            const uint32_t *used, uint32_t used_count);
void pelt_poses_finish(pose_set *poses);

/* Where vertices are in a pose; valid until the next call. */
const float *pelt_poses_positions(pose_set *poses, uint32_t pose);

#endif
