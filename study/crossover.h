/* pelt study crossover: where which boxes are cheaper, exact ones or those from joints, and how
 * much larger those from joints are. */
#ifndef PELT_STUDY_CROSSOVER_H
#define PELT_STUDY_CROSSOVER_H

#include <pelt/base.h>

#ifdef PELT_HAVE_VULKAN
#include "bench/bench.h"
#endif

/* -- the map ------------------------------------------------------------------------------- */

/* Forms of the skin pass, with boxes and without. */
typedef enum pelt_crossover_form {
    CROSSOVER_PELT,    /* exact boxes in pelt's pass */
    CROSSOVER_JOINTS,  /* pelt's pass without boxes, and boxes from joints beside it */
    CROSSOVER_SEED,    /* exact boxes as the seed makes them */
    CROSSOVER_ATOMICS, /* exact boxes by global atomics, in the form of 2023 */
    CROSSOVER_FORM_COUNT
} pelt_crossover_form;

extern const char *const pelt_crossover_form_names[CROSSOVER_FORM_COUNT];

enum { PELT_CROSSOVER_AXIS_MAX = 16 };

/* Seconds of a frame, medians of the rounds; 0 where there is none. spread: how far apart the
 * rounds' quartiles are. */
typedef struct pelt_crossover_times {
    double with, without;
    double with_spread, without_spread;
} pelt_crossover_times;

typedef struct pelt_crossover_cell {
    uint32_t vertices, joints, instances;
    bool measured; /* false: fewer vertices than joints */
    bool checked;  /* results were right */
    pelt_crossover_times forms[CROSSOVER_FORM_COUNT];
} pelt_crossover_cell;

/* Vertices a mesh, rising, by joints a mesh, rising: cells[joint][vertex]. */
typedef struct pelt_crossover_map {
    uint64_t total; /* vertices of all meshes together */
    uint32_t vertex_count, joint_count;
    uint32_t vertices[PELT_CROSSOVER_AXIS_MAX], joints[PELT_CROSSOVER_AXIS_MAX];
    pelt_crossover_cell cells[PELT_CROSSOVER_AXIS_MAX][PELT_CROSSOVER_AXIS_MAX];
} pelt_crossover_map;

/* 16 to 262,144 vertices, 1 to 256 joints; no meshes larger than the total. */
void pelt_crossover_axes(uint64_t total, pelt_crossover_map *map);

/* Whether a map's total and axes leave something to measure, and nothing that is larger than the
 * total. Errors: PELT_ERROR_ARGUMENT. */
pelt_result pelt_crossover_check(const pelt_host *host, const pelt_crossover_map *map);

#ifdef PELT_HAVE_VULKAN
typedef struct pelt_crossover_settings {
    uint32_t rounds;
    double warm_up, sample; /* seconds, as in pelt_bench_settings; 0: its default; 0.005 */
    void (*progress)(void *user, uint32_t cell, uint32_t of, const char *what);
    void *user;
} pelt_crossover_settings;

/* Measures every cell of a map whose total and axes are filled in and pass pelt_crossover_check.
 * Errors: those of pelt_bench_run. */
pelt_result pelt_crossover_measure(pelt_bench *bench, const pelt_crossover_settings *settings,
                                   pelt_crossover_map *map);
#endif

/* -- what it says -------------------------------------------------------------------------- */

/* Seconds that a form's boxes cost: with, minus without. */
double pelt_crossover_cost(const pelt_crossover_cell *cell, pelt_crossover_form form);

/* How many times as fast a form of exact boxes is as the same pass without them and with boxes from
 * joints beside it; 0 where it was not measured. */
double pelt_crossover_ratio(const pelt_crossover_cell *cell, pelt_crossover_form form);

/* Equal: within 2 %, or within the spread of the rounds where that is more. */
typedef enum pelt_crossover_winner {
    CROSSOVER_NO_WINNER, /* not measured */
    CROSSOVER_EQUAL,
    CROSSOVER_EXACT_WINS,
    CROSSOVER_JOINTS_WIN
} pelt_crossover_winner;
pelt_crossover_winner pelt_crossover_find_winner(const pelt_crossover_cell *cell,
                                                 pelt_crossover_form form);

/* Where for so many joints, an index, boxes from joints win: "never", "at all sizes", "from 4,096
 * vertices on", "up to 64 vertices", "at 64 to 256 vertices", or several of these; "" where nothing
 * was measured. */
void pelt_crossover_describe(const pelt_crossover_map *map, pelt_crossover_form form,
                             uint32_t joint, char *out, size_t size);

/* Two sentences. */
enum { PELT_CROSSOVER_WORDS = 1024 };
void pelt_crossover_say(const pelt_crossover_map *map, char out[PELT_CROSSOVER_WORDS]);

/* -- how loose boxes from joints are ------------------------------------------------------- */

typedef struct pelt_spread {
    uint64_t count;
    double median, nineteen, most; /* nineteen: of twenty, so many are not larger */
} pelt_spread;

/* Ratios of boxes from joints to the exact ones of the same mesh in the same pose. */
typedef struct pelt_looseness {
    const char *name; /* as the caller gave it, or static */
    uint32_t parts;   /* skinned ones */
    uint32_t joints, clips, poses;
    pelt_spread volumes, edges;             /* of each part; of edges, the sum of a box's three */
    pelt_spread whole_volumes, whole_edges; /* of the boxes around all parts */
    uint64_t flat; /* exact boxes without a volume, which volumes leaves out */
} pelt_looseness;

/* path and poses as pelt_weight_study_character has them; errors likewise. */
pelt_result pelt_looseness_measure(const pelt_host *host, const char *path, uint32_t poses_a_clip,
                                   pelt_looseness *out);

/* -- output -------------------------------------------------------------------------------- */

/* The maps, the costs of boxes and the looseness on one page. map: NULL, or count: 0: left out.
 * subtitle: the device. */
pelt_result pelt_crossover_plot(const pelt_host *host, const char *path, const char *subtitle,
                                const pelt_crossover_map *map, const pelt_looseness *looseness,
                                uint32_t count);

#endif
