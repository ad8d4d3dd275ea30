/* pelt bench: scenes, the forms of the skin pass that are compared on them, and what they took. */
#ifndef PELT_BENCH_H
#define PELT_BENCH_H

#include <pelt/vulkan_open.h>
#include <stdio.h>

/* -- scenes -------------------------------------------------------------------------------- */

/* Instances of a unit: one made mesh, a mixture of made ones, or the parts of files. */
typedef struct pelt_bench_scene {
    char name[24];
    const char *summary;
    uint32_t instances;  /* 0: as many as come to PELT_BENCH_TOTAL vertices */
    uint32_t vertices;   /* of the made mesh */
    uint32_t joints;     /* likewise */
    uint32_t influences; /* exactly so many a vertex; 0: 1 to 4, 2.4 on average */
    uint32_t joint_bits; /* 8 or 16; 0: as few as the joints need */
    bool shared;         /* one source for all instances, instead of one each */
    bool mixture;        /* several made meshes of different sizes */
    bool sweep;          /* a point of the sweep */
    const char *const *files;
    uint32_t file_count;
} pelt_bench_scene;

#define PELT_BENCH_TOTAL           10000000u
#define PELT_BENCH_SOFTWARE_TOTAL  40000u /* vertices that take a software driver a few ms */
#define PELT_BENCH_INSTANCES_MAX   20000000u
#define PELT_BENCH_VERTICES_MAX    100000000u
#define PELT_BENCH_JOINTS_MAX      65535u
#define PELT_BENCH_INFLUENCES_MAX  4u
#define PELT_BENCH_SWEEP_POINT_MAX 13u

/* The presets without the sweep, in order. */
extern const pelt_bench_scene pelt_bench_presets[];
extern const uint32_t pelt_bench_preset_count;

/* The points of the sweep for so many vertices in total; returns how many. */
uint32_t pelt_bench_sweep(uint64_t total, pelt_bench_scene out[PELT_BENCH_SWEEP_POINT_MAX]);

/* Of one instance's unit; 0 where files say it. */
uint32_t pelt_bench_unit_vertices(const pelt_bench_scene *scene);

/* Divides the number of instances and, once only one is left, the vertices of a made mesh. */
void pelt_bench_scale(pelt_bench_scene *scene, double divisor);

/* "1,000 x 20,000 vertices, own sources, 64 joints" */
void pelt_bench_describe(const pelt_bench_scene *scene, char *out, size_t size);

/* -- variants ------------------------------------------------------------------------------ */

typedef enum pelt_bench_bounds {
    PELT_BENCH_NO_BOX,
    PELT_BENCH_EXACT_BOX,
    PELT_BENCH_JOINT_BOX
} pelt_bench_bounds;

/* What every form is compared with. */
typedef struct pelt_bench_variant_info {
    const char *name;
    const char *summary;
    pelt_bench_bounds bounds;
    bool of_normals; /* one of the ways of turning normals: only for who asks for them */
} pelt_bench_variant_info;

enum { PELT_BENCH_VARIANT_COUNT = 16, PELT_BENCH_ROUNDS_MAX = 101 };
const pelt_bench_variant_info *pelt_bench_variant(uint32_t index);
int pelt_bench_find_variant(const char *name); /* -1: none */

/* -- results ------------------------------------------------------------------------------- */

/* Seconds a frame takes, over rounds. */
typedef struct pelt_bench_times {
    double least, quarter, median, three_quarters, most;
} pelt_bench_times;

typedef struct pelt_bench_row {
    bool measured; /* false: not asked for, or the device cannot (reason) */
    bool checked;  /* results were right */
    const char *reason;
    pelt_bench_times times;
    uint32_t repeats; /* frames a sample */
    uint64_t bytes;   /* that must move: distinct ones of sources, matrices, outputs and boxes */
    double position_error; /* largest, against pelt's */
} pelt_bench_row;

typedef struct pelt_bench_result {
    pelt_bench_scene scene; /* as run */
    double scale;           /* what it was divided by */
    uint32_t meshes;        /* of all instances */
    uint64_t vertices;      /* likewise */
    uint64_t source_vertices;
    uint64_t matrices;
    uint32_t vertices_checked; /* of each variant */
    uint32_t stream_lanes,
        stream_vertices;       /* the fastest shape of the stream's chunks, if it was measured */
    double warm_up;            /* seconds */
    double first_over_settled; /* the first sample of the warm-up over the median: clocks rising */
    double drift;              /* the last rounds over the first ones, minus 1 */
    pelt_bench_row rows[PELT_BENCH_VARIANT_COUNT];
} pelt_bench_result;

/* -- running ------------------------------------------------------------------------------- */

typedef struct pelt_bench pelt_bench;

typedef struct pelt_bench_settings {
    double scale;    /* 0: 1, or what suits a software device */
    uint32_t rounds; /* 0: 9 */
    bool skip[PELT_BENCH_VARIANT_COUNT];
    double warm_up; /* seconds; 0: 0.3 */
    double sample;  /* seconds of each; 0: 0.01 */
    void (*progress)(void *user, const char *scene, const char *what);
    void *user;
} pelt_bench_settings;

/* The pipelines of all forms on a device, which must outlive them. */
pelt_result pelt_bench_create(const pelt_host *host, pelt_headless *device, pelt_bench **out);
void pelt_bench_destroy(pelt_bench *bench);

/* Makes a scene, checks every form's results on it and measures them. A wrong result is an error
 * message, checked = false, and PELT_OK. Errors: PELT_ERROR_MEMORY, PELT_ERROR_VULKAN (the device's
 * memory too), PELT_ERROR_RANGE (a buffer of 4 GiB), those of reading files. */
pelt_result pelt_bench_run(pelt_bench *bench, const pelt_bench_scene *scene,
                           const pelt_bench_settings *settings, pelt_bench_result *out);

/* The device's copy of size bytes, by a shader or by vkCmdCopyBuffer, whichever is faster. */
typedef struct pelt_bench_copy {
    uint64_t size;
    pelt_bench_times times;
    bool by_command;
} pelt_bench_copy;

pelt_result pelt_bench_measure_copy(pelt_bench *bench, const pelt_bench_settings *settings,
                                    pelt_bench_copy *out);

/* -- output -------------------------------------------------------------------------------- */

/* Ratios to the rows named stream, seed and global-atomics; 0 where one was not measured. */
typedef struct pelt_bench_ratios {
    double of_stream;    /* time / stream's */
    double than_seed;    /* seed's time / time */
    double than_atomics; /* global-atomics' time / time */
} pelt_bench_ratios;
pelt_bench_ratios pelt_bench_compare(const pelt_bench_result *result, uint32_t variant);

void pelt_bench_print(FILE *stream, const pelt_bench_result *result);
void pelt_bench_print_legend(FILE *stream);
void pelt_bench_print_bytes(FILE *stream);

/* What one row of the table of bytes is computed from. */
typedef struct pelt_bench_stream_bytes {
    const char *name;
    uint32_t atomics, seed, pelt; /* 0: the form has no such stream */
} pelt_bench_stream_bytes;
enum { PELT_BENCH_STREAM_COUNT = 7 };
extern const pelt_bench_stream_bytes pelt_bench_streams[PELT_BENCH_STREAM_COUNT];

/* Writes DIR/NAME.svg, a bar chart of one scene, or DIR/sweep.svg, lines over vertices a mesh.
 * subtitle: the device. */
pelt_result pelt_bench_plot_scene(const pelt_host *host, const char *folder, const char *subtitle,
                                  const pelt_bench_result *result);
pelt_result pelt_bench_plot_sweep(const pelt_host *host, const char *folder, const char *subtitle,
                                  const pelt_bench_result *results, uint32_t count);

#endif
