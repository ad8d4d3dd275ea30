/* pelt bench clusters: skinning a crowd as a whole, and only those of its clusters that a camera
 * sees. */
#ifndef PELT_BENCH_CLUSTERS_H
#define PELT_BENCH_CLUSTERS_H

#include "bench/bench.h"

#include <pelt/model.h>

/* Where the crowd is seen from. */
typedef enum pelt_bench_cluster_camera {
    PELT_BENCH_CAMERA_ALL,   /* everyone fills the picture */
    PELT_BENCH_CAMERA_TENTH, /* from among them, a tenth of all directions */
    PELT_BENCH_CAMERA_FAR,   /* from four times as far away as all */
    PELT_BENCH_CAMERA_COUNT
} pelt_bench_cluster_camera;

typedef struct pelt_bench_camera_info {
    const char *name;
    const char *summary;
} pelt_bench_camera_info;
extern const pelt_bench_camera_info pelt_bench_cameras[PELT_BENCH_CAMERA_COUNT];

/* What is measured of each. */
typedef enum pelt_bench_cluster_stage {
    PELT_BENCH_STAGE_SKIN,  /* pelt_cmd_skin of everyone */
    PELT_BENCH_STAGE_BOXES, /* the instances' boxes from joints */
    PELT_BENCH_STAGE_CULL,  /* the cull pass */
    PELT_BENCH_STAGE_PARTS, /* the cluster skin pass, with spheres and boxes */

    /* Draws, where the device can. */
    PELT_BENCH_STAGE_DRAW,   /* everyone's skinned vertices */
    PELT_BENCH_STAGE_LISTED, /* the clusters of the list, skinned */

    /* By task and mesh shaders, where the device has them. */
    PELT_BENCH_STAGE_ALL,    /* everyone, nothing culled, at the finest level */
    PELT_BENCH_STAGE_MESH,   /* what is seen, at the row's levels */
    PELT_BENCH_STAGE_SHARED, /* the same, with matrices in shared memory */
    PELT_BENCH_STAGE_BARE,   /* MESH without triangles: culled and skinned, but not rasterised */
    PELT_BENCH_STAGE_COUNT
} pelt_bench_cluster_stage;

typedef struct pelt_bench_clusters_settings {
    const pelt_model *model; /* with triangles; instances play its clips in turn, if any */
    uint32_t instances;
    uint32_t width, height; /* pixels that levels are chosen for */
    uint32_t lods;          /* levels wanted */
    double most_error;      /* of them, in pixels */
    uint32_t rounds;
    double warm_up; /* seconds; 0: 0.3 */
    double sample;  /* seconds of each; 0: 0.02 */
    void (*progress)(void *user, const char *scene, const char *what);
    void *user;
} pelt_bench_clusters_settings;

/* Rasterisers need not round the two pipelines' positions the same way. */
#define PELT_BENCH_CLUSTERS_DIFFERS 0.001

/* A camera, with levels or without. */
typedef struct pelt_bench_clusters_row {
    pelt_bench_times times[PELT_BENCH_STAGE_COUNT];
    uint64_t clusters, vertices, triangles; /* listed and so skinned */
    uint64_t instances;                     /* of which a cluster is listed */
    bool measured[PELT_BENCH_STAGE_COUNT];  /* that the device can */
    double differs; /* part of the pixels, between everyone drawn from vertices and by meshes */
    bool checked;   /* all visible ones are listed, a sample is what the skin pass writes; the
                     * finest level looks the same culled or not, and drawn from vertices but for
                     * PELT_BENCH_CLUSTERS_DIFFERS */
} pelt_bench_clusters_row;

typedef struct pelt_bench_clusters_result {
    uint32_t instances, parts, joints;
    uint64_t vertices, triangles, clusters;                   /* of one instance, at its finest */
    pelt_bench_clusters_row rows[PELT_BENCH_CAMERA_COUNT][2]; /* the second: with levels */
} pelt_bench_clusters_result;

/* Checks and measures. What is wrong is an error message, checked = false, and PELT_OK. Errors:
 * those of the passes and of buffers; PELT_ERROR_ARGUMENT for a model without triangles;
 * PELT_ERROR_RANGE for vertices past 4 GiB. */
pelt_result pelt_bench_clusters_run(pelt_bench *bench, const pelt_bench_clusters_settings *settings,
                                    pelt_bench_clusters_result *out);

#endif
