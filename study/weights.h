/* pelt study weights: what rounding does to influences in the ways that there are to store four of
 * them, and how far that moves vertices. */
#ifndef PELT_STUDY_WEIGHTS_H
#define PELT_STUDY_WEIGHTS_H

#include <pelt/base.h>

/* -- layouts ------------------------------------------------------------------------------- */

typedef struct pelt_weight_layout {
    const char *name;
    const char *summary;
    uint32_t bytes; /* a vertex */
    bool sorted;    /* takes influences by falling weight, else in the file's order */

    /* What a shader makes of four weights, which are >= 0 and sum to 1, after they were packed. */
    void (*round)(const double given[4], double decoded[4]);
} pelt_weight_layout;

enum { PELT_WEIGHT_LAYOUT_COUNT = 10 };
extern const pelt_weight_layout pelt_weight_layouts[PELT_WEIGHT_LAYOUT_COUNT];

/* The same for weights in any order: decoded[i] belongs to given[i]. */
void pelt_weight_layout_apply(const pelt_weight_layout *layout, const double given[4],
                              double decoded[4]);

/* -- errors -------------------------------------------------------------------------------- */

/* The histogram counts vertices by their largest error, in quarters of an octave of 1/4096; errors
 * below all bins are in the first, errors above them in the last. */
enum { PELT_WEIGHT_BINS = 60, PELT_WEIGHT_BINS_AN_OCTAVE = 4, PELT_WEIGHT_FIRST_OCTAVE = -10 };

/* What one layout did to a number of vertices. */
typedef struct pelt_weight_errors {
    uint64_t vertices;
    uint64_t counts[4]; /* of which with 1 to 4 influences */
    uint64_t leaks[4];  /* of which some slot of weight 0 got another */
    uint64_t negative;  /* vertices with a negative weight */
    uint64_t exact;     /* vertices without any error; in no bin */
    double worst;       /* the largest |decoded - given| of any slot */
    double total;       /* the sum of each vertex's largest */
    double least;       /* the most negative weight */
    double sum_error;   /* the largest |sum - 1| */
    uint64_t bins[PELT_WEIGHT_BINS];
} pelt_weight_errors;

void pelt_weight_errors_add(pelt_weight_errors *errors, const double given[4],
                            const double decoded[4]);

/* -- studies ------------------------------------------------------------------------------- */

typedef struct pelt_weight_result {
    pelt_weight_errors errors;
    double move_worst, move_total; /* displacements, in model units; total: over all poses */
} pelt_weight_result;

/* Of one set of vertices: random ones, or a character's. */
typedef struct pelt_weight_study {
    const char *name; /* as the caller gave it, or static */
    uint64_t vertices;
    uint64_t reduced; /* vertices that had more than four influences, of which the largest stay */

    /* Of a character; no poses: random. */
    uint32_t joints, clips, poses;
    uint64_t moved; /* displacements measured: skinned vertices x poses */
    double size;    /* diagonal of the largest of the poses' boxes */

    pelt_weight_result layouts[PELT_WEIGHT_LAYOUT_COUNT];
} pelt_weight_study;

/* Random vertices, the same for the same seed. influences: 1 to 4, uniform on the simplex; 0: as
 * many as on characters, 25, 30, 25 and 20 % with 1 to 4. */
void pelt_weight_study_random(uint64_t vertices, uint32_t influences, uint64_t seed,
                              pelt_weight_study *out);

/* A file's skinned vertices in so many poses of each clip, at even times from its beginning; NULL:
 * the built-in character. Errors: those of pelt_gltf_read; PELT_ERROR_FILE for one without skinned
 * vertices. */
pelt_result pelt_weight_study_character(const pelt_host *host, const char *path,
                                        uint32_t poses_a_clip, pelt_weight_study *out);

/* -- output -------------------------------------------------------------------------------- */

/* The distribution of errors over the random vertices, beside what they move on each character. */
pelt_result pelt_weight_study_plot(const pelt_host *host, const char *path,
                                   const pelt_weight_study *random,
                                   const pelt_weight_study *characters, uint32_t count);

#endif
