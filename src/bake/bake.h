/* The steps of a bake: clips -> ranges -> rows on layers -> texels, and what they cost against the
 * sampled clips. */
#ifndef PELT_SRC_BAKE_H
#define PELT_SRC_BAKE_H

#include "anim/dual_quaternion.h"
#include "base/base.h"

#include <pelt/bake.h>
#include <pelt/skin.h>

enum { PELT_BAKE_SIZE = 4096, PELT_BAKE_LAYERS = 256, PELT_BAKE_RATE_MAX = 1000 };

/* A growing array of doubles. */
typedef struct pelt_bake_times {
    size_t count, room;
    double *values;
} pelt_bake_times;

/* In the order of pelt_bake_layout; of dual quaternions one more for scale. */
extern const uint32_t pelt_bake_layout_texels[3];

/* timeline.c. A clip in time, before rates and rows: where it jumps, and where its keys are. */
typedef struct pelt_bake_timeline {
    double duration;
    pelt_bake_times jumps; /* rising, > 0 */
    pelt_bake_times keys;  /* rising, of channels that move */
    bool *holds;           /* jumps.count + 1: nothing moves between this jump and the next */
} pelt_bake_timeline;

/* moved: which nodes matter. clip: NULL for the static pose. */
pelt_result pelt_bake_timeline_make(const pelt_host *host, const pelt_clip *clip, const bool *moved,
                                    pelt_bake_timeline *out);
void pelt_bake_timeline_free(const pelt_host *host, pelt_bake_timeline *timeline);

/* A stretch of time without a jump in it: the index-th of jumps.count + 1. */
typedef struct pelt_bake_stretch {
    double start, end;
    bool jump; /* at end */
    bool holds;
} pelt_bake_stretch;
pelt_bake_stretch pelt_bake_timeline_stretch(const pelt_bake_timeline *timeline, size_t index);

/* Rows that a stretch needs at a rate. As a double: it may be any number. */
double pelt_bake_stretch_rows(const pelt_bake_stretch *stretch, double rate);

/* All of it as one range, of fewer than 2^32 rows, without a place. */
pelt_bake_range pelt_bake_stretch_range(const pelt_bake_stretch *stretch, double rate);

/* The time at which row i of a range is sampled. That of the last one before a jump is just before.
 */
double pelt_bake_row_time(const pelt_bake_range *range, double rate, uint32_t i);

/* place.c. Cuts timelines (one for each clip, whose rates are set) into ranges of at most so many
 * rows and gives them layers and rows: the first free ones, clip by clip. Sets ranges, frame_count
 * and the bake's height and layer_count. */
pelt_result pelt_bake_place_rows(const pelt_host *host, const pelt_bake_timeline *timelines,
                                 uint32_t max_size, uint32_t max_layers, pelt_bake *bake);

/* texels.c. What a joint is in one row, as the texels say. */
typedef struct pelt_bake_joint {
    double matrix[12];
    pelt_factors factors; /* left alone unless asked for */
} pelt_bake_joint;

size_t pelt_bake_texel_size(pelt_bake_format format);

/* previous: the real parts of the row before, 4 a joint, which become those of this one; zeros:
 * none is before. Of dual quaternions alone. False if a number does not fit the format. */
bool pelt_bake_encode(const pelt_bake *bake, const double matrix[12], double previous[4],
                      void *texels);
void pelt_bake_decode_joint(const pelt_bake *bake, const void *texels, bool factors,
                            pelt_bake_joint *out);
void *pelt_bake_texels(const pelt_bake *bake, uint32_t layer, uint32_t row, uint32_t joint);

/* Between two rows of a joint; factors are needed for PELT_BAKE_BLEND only. */
void pelt_bake_interpolate(const pelt_bake_joint *a, const pelt_bake_joint *b, double fraction,
                           pelt_bake_interpolation interpolation, double out[12]);

/* body.c. The vertices that a bake moves. */
typedef struct pelt_bake_influence {
    uint32_t joint;
    float weight;
} pelt_bake_influence;

typedef struct pelt_bake_body {
    pelt_packed_mesh *mesh;
    pelt_packed_vertex *morphed; /* of the static morph weights, or NULL */
    pelt_joint_boxes *boxes;
    size_t *firsts; /* vertex_count + 1: each one's influences */
    pelt_bake_influence *influences;
} pelt_bake_body;

typedef struct pelt_bake_part {
    uint32_t body;
    uint32_t first_joint; /* of its palette */
} pelt_bake_part;

typedef struct pelt_bake_bodies {
    const pelt_host *host;
    uint32_t body_count, part_count;
    pelt_bake_body *bodies;
    pelt_bake_part *parts;
    float *positions; /* room for any body's vertices */
} pelt_bake_bodies;

/* first_joints: of each of the model's palettes, UINT32_MAX: not baked. pose: at the static values.
 */
pelt_result pelt_bake_bodies_make(const pelt_host *host, const pelt_pose *pose,
                                  const uint32_t *first_joints, pelt_bake_bodies *out);
void pelt_bake_bodies_free(pelt_bake_bodies *bodies);

/* The exact box under these matrices, 12 floats for each joint of the bake. */
pelt_box pelt_bake_bodies_box(const pelt_bake_bodies *bodies, const float *matrices);

/* differences: one palette minus another, 12 for each joint. Whether these put a vertex farther
 * apart than *worst; if so, the farthest is the new *worst. */
bool pelt_bake_bodies_farther(const pelt_bake_bodies *bodies, const double *differences,
                              double *worst);

/* How far apart at most, from the boxes of the joints' vertices alone. */
double pelt_bake_bodies_bound(const pelt_bake_bodies *bodies, const double *differences);

/* dual.c. How far a vertex is at most, in two rows and in a blend between them, from where linear
 * blending of the same joints has it, if it is skinned by dual quaternions; or least, if that is
 * more. Of each joint in both rows, matrix and factors. margin: how far the blend takes a joint's
 * vertices from the straight line. */
double pelt_bake_bodies_dual_bound(const pelt_bake_bodies *bodies, const pelt_bake_joint *row,
                                   const pelt_bake_joint *next_row, double margin, double least);

/* What the steps share while a bake is made. */
typedef struct pelt_baker {
    const pelt_host *host;
    const pelt_bake_info *info;
    pelt_pose *pose;
    uint32_t *first_joints; /* as above */
    bool *moved;            /* of each node: above a joint, or one */
    pelt_bake_timeline *timelines;
    pelt_bake_bodies bodies;
    pelt_bake *bake;
    double *model_matrices; /* of all of the model's palettes */
    double *matrices;       /* of the bake's joints at some time */
    double *differences;
    double *sides;                   /* 4 a joint: real parts of the row before */
    pelt_bake_joint *row, *next_row; /* of the bake's joints */
    float *float_matrices;
} pelt_baker;

/* choose.c. */
pelt_result pelt_bake_check(const pelt_host *host, const pelt_bake_info *info);

/* Palettes with their joints, what moves these, and clips with their timelines. */
pelt_result pelt_bake_choose(pelt_baker *baker);
void pelt_bake_warn_of_morphs(const pelt_baker *baker);

/* What of a row there is; scans the clips if scale matters. */
pelt_result pelt_bake_choose_layout(pelt_baker *baker);

/* Tells info->progress, of the row-th row of all. */
void pelt_baker_progress(const pelt_baker *baker, uint32_t clip, double row, double rows);

/* The skin matrices at a time of a clip into baker->matrices. */
pelt_result pelt_baker_sample(pelt_baker *baker, int32_t clip, double time);

/* measure.c. */

/* The index-th of the bake's clips, here and below; its rows are in the texture. Sets its error and
 * margins. */
pelt_result pelt_bake_measure(pelt_baker *baker, uint32_t index);

/* Whether a clip would keep info->error at a rate, at frames and under info->interpolation. *where:
 * a time at which to look first, < 0: none; if it does not, the time at which it does not. */
pelt_result pelt_bake_try_rate(pelt_baker *baker, uint32_t index, double rate, double *where,
                               bool *keeps);

/* search.c. The lowest rate of a clip that keeps info->error. */
pelt_result pelt_bake_search(pelt_baker *baker, uint32_t index, double *rate);

/* scan.c. Of dual quaternions: whether any joint is scaled, and a warning that names joints whose
 * stretch they cannot hold. */
pelt_result pelt_bake_scan(pelt_baker *baker, bool *scaled);

#endif
