/* pelt render --path mesh: the clusters of a batch in GPU memory, as mesh shaders draw them. */
#ifndef PELT_CLI_RENDER_CLUSTERS_H
#define PELT_CLI_RENDER_CLUSTERS_H

#ifdef PELT_HAVE_VULKAN

#include "cli/picture.h"

/* With --lod: as many levels of detail at most. */
#define PELT_LODS_BUILT 5

typedef struct pelt_clustered pelt_clustered;

typedef struct pelt_clustered_info {
    const pelt_character *character;
    const pelt_batch *batch;
    pelt_backend *backend; /* the GPU's, which has skinned the batch */
    pelt_play play;        /* levels are judged in poses of its clip ... */
    bool all_clips;        /* ... or of all */
    uint32_t lod_count;
} pelt_clustered_info;

pelt_result pelt_clustered_create(const pelt_host *host, const pelt_clustered_info *info,
                                  pelt_clustered **out);
void pelt_clustered_destroy(pelt_clustered *self);

/* Of each part of the character; NULL of NULL. */
const pelt_picture_part_clusters *pelt_clustered_parts(const pelt_clustered *self);

#endif
#endif
