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

/* The moments of a clip that lasts d are start + d (i + offset) / moments, i from 0; a clip without
 * duration has one. */
typedef struct pelt_cut_info {
    int32_t clip;       /* -1: the static pose */
    bool all_clips;     /* instead, if there are any */
    uint32_t moments;   /* of each clip; 0: as many as suit the number of clips */
    double start;       /* seconds; past a clip's end it begins again */
    double offset;      /* of a step */
    uint32_t lod_count; /* 1: no poses are needed */
} pelt_cut_info;

pelt_result pelt_character_cut(const pelt_character *character, const pelt_cut_info *info,
                               pelt_character_clusters **out);
void pelt_character_clusters_destroy(pelt_character_clusters *clusters);

#endif
