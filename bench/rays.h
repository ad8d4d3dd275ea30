/* pelt bench rays: acceleration structures over skinned vertices, refitted or built, and what rays
 * through them cost. */
#ifndef PELT_BENCH_RAYS_H
#define PELT_BENCH_RAYS_H

#include "bench/bench.h"

/* A crowd of the built-in character. */
typedef struct pelt_bench_rays_scene {
    const char *name;
    uint32_t instances;
    uint32_t vertices; /* of one, about */
    uint32_t group;    /* instances in a structure */
} pelt_bench_rays_scene;

typedef struct pelt_bench_rays_settings {
    uint32_t width, height; /* of the picture: a ray a pixel */
    uint32_t refits;        /* frames between a build and the rays that are measured then */
    uint32_t rounds;
    double warm_up; /* seconds of each; 0: 0.3 */
    double sample;  /* seconds of each; 0: 0.02 */
    void (*progress)(void *user, const char *scene, const char *what);
    void *user;
} pelt_bench_rays_settings;

/* Structures for either use. */
enum { PELT_BENCH_RAYS_USES = 2 };

typedef struct pelt_bench_rays_use {
    pelt_bench_times build, refit; /* of all structures, in one call */
    pelt_bench_times serial;       /* refits through the scratch memory of one, with barriers */
    pelt_bench_times worn, fresh;  /* rays after all refits; after building in the same pose */
    uint64_t structure_bytes;      /* of all */
    uint64_t build_scratch, refit_scratch;
    uint32_t build_batches; /* of BENCH_RAYS_SCRATCH at most */
    double differs;         /* part of the pixels that hit something else worn than fresh */
    double hits;            /* part of the rays that hit */
    bool checked;           /* few of them differ, and some hit */
} pelt_bench_rays_use;

/* Where two triangles meet either may be hit. */
#define PELT_BENCH_RAYS_DIFFERS 0.002

typedef struct pelt_bench_rays_result {
    pelt_bench_rays_scene scene;
    uint32_t structures;
    uint32_t vertices, triangles; /* of an instance */
    pelt_bench_times skin, tlas;
    pelt_bench_rays_use uses[PELT_BENCH_RAYS_USES]; /* PELT_RAY_ANIMATED, PELT_RAY_REFITTED */
} pelt_bench_rays_result;

/* Skins, builds, refits, traces, checks and measures. Wrong hits are an error message, checked =
 * false, and PELT_OK. Errors: those of the passes and of buffers; PELT_ERROR_DEVICE without
 * acceleration structures or ray-tracing pipelines. */
pelt_result pelt_bench_rays_run(pelt_bench *bench, const pelt_bench_rays_scene *scene,
                                const pelt_bench_rays_settings *settings,
                                pelt_bench_rays_result *out);

#endif
