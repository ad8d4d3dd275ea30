/* pelt bench crowd: a crowd drawn from vertices that were skinned before, and from palettes of
 * several kinds. */
#ifndef PELT_BENCH_CROWD_H
#define PELT_BENCH_CROWD_H

#include "bench/bench.h"

typedef enum pelt_bench_crowd_form {
    PELT_BENCH_CROWD_POSE, /* before drawing */
    PELT_BENCH_CROWD_SKIN,
    PELT_BENCH_CROWD_FIND,
    PELT_BENCH_CROWD_SKINNED, /* draws */
    PELT_BENCH_CROWD_NEAREST,
    PELT_BENCH_CROWD_LERP,
    PELT_BENCH_CROWD_LERP_16,
    PELT_BENCH_CROWD_LERP_4X4,
    PELT_BENCH_CROWD_BLEND,
    PELT_BENCH_CROWD_DUAL,
    PELT_BENCH_CROWD_FORM_COUNT
} pelt_bench_crowd_form;

enum { PELT_BENCH_CROWD_DRAW = PELT_BENCH_CROWD_SKINNED };

typedef struct pelt_bench_crowd_form_info {
    const char *name;
    const char *summary;
} pelt_bench_crowd_form_info;
extern const pelt_bench_crowd_form_info pelt_bench_crowd_forms[PELT_BENCH_CROWD_FORM_COUNT];

typedef struct pelt_bench_crowd_settings {
    const pelt_model *model; /* with clips; play in turn */
    uint32_t instances;
    uint32_t width, height; /* of the picture */
    uint32_t rounds;
    double warm_up; /* seconds; 0: 0.3 */
    double sample;  /* seconds of each; 0: 0.02 */
    void (*progress)(void *user, const char *scene, const char *what);
    void *user;
} pelt_bench_crowd_settings;

typedef struct pelt_bench_crowd_row {
    pelt_bench_times times;
    pelt_bench_times vertices; /* of draws: with every triangle culled, so without pixels. Zeros
                                * from software drivers, whose timestamps see pixels alone */
    uint64_t memory;           /* bytes that it needs, beside the source meshes */
    double vertex_bytes;       /* of draws: requested for a vertex */
    double differs; /* of draws, at baked frames: part of the picture's numbers that are not those
                     * of vertices skinned the same way, by more than 1/16 of the range */
    bool checked;   /* that is below PELT_BENCH_CROWD_DIFFERS */
} pelt_bench_crowd_row;

/* rgba16f moves vertices by a thousandth of the character. */
#define PELT_BENCH_CROWD_DIFFERS 0.01

typedef struct pelt_bench_crowd_result {
    uint32_t instances, joints, parts, clips, frames;
    uint64_t vertices, triangles; /* of one instance */
    double influences;            /* of a vertex, on average */
    double rate;                  /* baked frames a second */
    double warm_up;
    pelt_bench_crowd_row rows[PELT_BENCH_CROWD_FORM_COUNT];
} pelt_bench_crowd_result;

/* Draws, checks and measures. A wrong picture is an error message, checked = false, and PELT_OK.
 * Errors: those of the passes, of bakes and of buffers; PELT_ERROR_ARGUMENT for a model without
 * clips or triangles; PELT_ERROR_DEVICE without dynamic rendering; PELT_ERROR_RANGE for vertices
 * past 4 GiB. */
pelt_result pelt_bench_crowd_run(pelt_bench *bench, const pelt_bench_crowd_settings *settings,
                                 pelt_bench_crowd_result *out);

#endif
