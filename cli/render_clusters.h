/* pelt render --path mesh: the clusters of a batch in GPU memory, as mesh shaders draw them. */
#ifndef PELT_CLI_RENDER_CLUSTERS_H
#define PELT_CLI_RENDER_CLUSTERS_H

#ifdef PELT_HAVE_VULKAN

#include "cli/picture.h"

/* Beyond one pixel's error a level of detail would show. */
#define PELT_LODS_BUILT 5

typedef struct pelt_cluster_scene pelt_cluster_scene;

typedef struct pelt_cluster_scene_info {
    const pelt_character *character;
    const pelt_batch *batch;
    pelt_backend *backend; /* the GPU's, which has skinned the batch */
    pelt_play play;        /* levels are judged in poses of its clip ... */
    bool all_clips;        /* ... or of all */
    uint32_t lod_count;
} pelt_cluster_scene_info;

pelt_result pelt_cluster_scene_create(const pelt_host *host, const pelt_cluster_scene_info *info,
                                      pelt_cluster_scene **out);
void pelt_cluster_scene_destroy(pelt_cluster_scene *scene);

/* Of each part of the character; NULL without a scene. */
const pelt_picture_part_clusters *pelt_cluster_scene_parts(const pelt_cluster_scene *scene);

#endif
#endif
