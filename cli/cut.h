/* The clusters of a character's meshes, their levels of detail judged in poses of its clips. */
#ifndef PELT_CLI_CUT_H
#define PELT_CLI_CUT_H

#include "cli/scene.h"

#include <pelt/cluster.h>

typedef struct pelt_character_clusters {
    const pelt_host *host;
    uint32_t mesh_count;
    pelt_clusters **clusters; /* of each of the character's meshes; NULL: points or lines */
    uint32_t moment_count;    /* at which all parts were posed */
} pelt_character_clusters;

/* clip: -1: poses of all clips, of the static pose where there are none. */
pelt_result pelt_character_cut(const pelt_character *character, int32_t clip, uint32_t lod_count,
                               pelt_character_clusters **out);
void pelt_character_clusters_destroy(pelt_character_clusters *clusters);

#endif
