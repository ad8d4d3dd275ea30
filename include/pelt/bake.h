/* SPDX-License-Identifier: MIT */
/* pelt/bake.h: clips sampled into a palette texture, for crowds that are drawn without a pose pass.
 *
 * A row of the texture is a frame: one after the other the joints of all palettes, each of T texels
 * RGBA. Texel k of joint j in a row is
 *
 *     texelFetch(palette, ivec3(T * (j % joints_per_layer) + k, row, layer + j / joints_per_layer))
 *
 * where joint j of a palette is palette.first_joint + j, and layer and row come from the clip's
 * ranges. joints_per_layer is joint_count unless a row of all joints is wider than the texture may
 * be. What the T texels are:
 *
 *     3x4 matrix       3  the rows of the skin matrix, so that y_i = dot(texel i, (x, 1))
 *     4x4 matrix       4  and (0 0 0 1)
 *     dual quaternion  2  real and dual part, x y z w; real is unit but for rounding
 *                      3  where any joint is scaled: x y z of the scale, which comes first
 *
 * A dual quaternion (q, d) moves x to q x q* + 2 (q_w d_v - d_w q_v + cross(q_v, d_v)), v the
 * vector part. Rows that are next to each other in a range have their q on the same side.
 *
 * Time. A clip is a list of ranges, most often of one; the next one starts where one ends. A range
 * holds row_count rows at the times start + i / rate, the last one exactly at end, and lies whole
 * on one layer (of each joints_per_layer). Nothing is ever interpolated across ranges: where a clip
 * is cut because it has more frames than a texture may have rows, the row at the cut is in both;
 * where a STEP key makes it jump, the pose before the jump ends one range and the pose after it
 * starts the next. Of a clip that jumps, a range in which nothing moves has one row. The end of a
 * clip is a row of its own, so a loop never blends its end with its beginning. For time t in a
 * range of n > 1 rows
 *
 *     f = (t - start) * rate;  i = min(floor(f), n - 2)
 *     u = (f - i) / (i == n - 2 ? (end - start) * rate - (n - 2) : 1), at most 1
 *     rows first_row + i and first_row + i + 1, fraction u
 *
 * which is pelt_bake_locate. The last interval is shorter where the range is not a whole number of
 * frames, hence the division.
 *
 * Between two rows
 *
 *     nearest  the row at u < 1/2, else the other
 *     lerp     every number of the matrices linearly. A vertex then stays in the union of the boxes
 *              of both rows, but limbs shrink: to cos(a / 2) half way through a turn of angle a.
 *     blend    rotation and translation as one dual quaternion, (1 - u) (q, d) + u (q', d'),
 * divided by the length of its real part; scale linearly. Turns keep their radius and their centre.
 * Vertices leave the boxes by at most the clip's blend_margin. With matrices, M = T R S first: R
 * the rotation of the polar decomposition (Higham 1986; of a mirrored matrix -R, with -S), S
 * symmetric, with shear.
 *
 * Kavan et al., Geometric Skinning with Approximate Dual Quaternion Blending, 2008.
 */
#ifndef PELT_BAKE_H
#define PELT_BAKE_H

#include <pelt/pose.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pelt_bake_layout {
    PELT_BAKE_MATRIX_3X4,
    PELT_BAKE_MATRIX_4X4,
    PELT_BAKE_DUAL_QUATERNION
} pelt_bake_layout;

/* VK_FORMAT_R32G32B32A32_SFLOAT and VK_FORMAT_R16G16B16A16_SFLOAT. */
typedef enum pelt_bake_format { PELT_BAKE_RGBA32F, PELT_BAKE_RGBA16F } pelt_bake_format;

typedef enum pelt_bake_interpolation {
    PELT_BAKE_NEAREST,
    PELT_BAKE_LERP,
    PELT_BAKE_BLEND,
    PELT_BAKE_INTERPOLATIONS
} pelt_bake_interpolation;

typedef struct pelt_bake_info {
    const pelt_model *model; /* finished, with a part at least */

    /* Clips in the order wanted, each once, -1: the static pose. None: all, or the static pose of a
     * model without clips. */
    uint32_t clip_count;
    const int32_t *clips;

    /* The palettes wanted, of model->palettes, each once. None: all. */
    uint32_t palette_count;
    const uint32_t *palettes;

    pelt_bake_layout layout;
    pelt_bake_format format;
    double rate; /* frames a second, up to 1,000; 0: 30 */

    /* Instead of a rate: for each clip the lowest of 1/8, 1/4, 1/2 and 1, 2, 3, ... frames a second
     * that keeps the error, in model units, within this under that interpolation. Each rate is
     * tried, since a higher one may be worse: rates that meet the keys are better than those around
     * them. max_rate: 0: 240. */
    double error;
    pelt_bake_interpolation interpolation;
    double max_rate;

    uint32_t max_size;   /* of the texture, both ways; 0: 4,096, which Vulkan guarantees */
    uint32_t max_layers; /* 0: 256, likewise */

    /* Called now and then with what has been done, from 0 to 1 for each clip; or NULL. */
    void (*progress)(void *user, uint32_t clip, double done);
    void *user;
} pelt_bake_info;

/* Where one of the model's palettes is in a row. */
typedef struct pelt_bake_palette {
    int32_t skin;  /* -1: rigid, one matrix */
    uint32_t node; /* the rigid node; of a skin, its first user */
    uint32_t first_joint;
    uint32_t joint_count;
    uint32_t *nodes; /* of each joint */
    char **names;    /* of those, each may be NULL */
} pelt_bake_palette;

typedef struct pelt_bake_range {
    double start, end; /* seconds */
    uint32_t layer;
    uint32_t first_row;
    uint32_t row_count;   /* > 0; 1: the pose holds */
    uint32_t first_frame; /* of the clip's: rows of the ranges before */
    bool jump;            /* at end, to another pose with which the next range starts */
} pelt_bake_range;

/* Farthest distance, in model units, between vertices skinned from the palette and from the
 * sampled clip; linear blend skinning of the static morph. Between frames: looked for at seven
 * places between any two rows, at every key of the clip, and nearest just before it changes. */
typedef struct pelt_bake_error {
    double at_frames;
    double between[PELT_BAKE_INTERPOLATIONS];
} pelt_bake_error;

typedef struct pelt_bake_clip {
    char *name;   /* or NULL */
    int32_t clip; /* the model's; -1: the static pose */
    double duration;
    double rate;
    uint32_t range_count;
    pelt_bake_range *ranges;
    uint32_t frame_count; /* rows of all ranges */
    pelt_box *boxes;      /* frame_count, exact: of all parts, skinned from the baked row */
    pelt_box box;         /* their union */
    double seam;          /* farthest that a vertex is apart in the last row and the first */
    bool loop;            /* no farther than a thousandth of the box's diagonal */
    pelt_bake_error error;
    double blend_margin; /* farthest that blend takes a vertex from where lerp puts it, at most */
    double
        dual_margin; /* of dual quaternion palettes: farthest that skinning by them (pelt/skin.h),
                      * too, takes a vertex from where linear blending of its joints has it, at
                      * most. 0 of matrices, from which nothing is skinned so */
} pelt_bake_clip;

typedef struct pelt_bake {
    pelt_bake_layout layout;
    pelt_bake_format format;
    uint32_t texels_per_joint;
    uint32_t joint_count; /* of all palettes */
    uint32_t joints_per_layer;
    uint32_t width, height, layer_count;
    uint32_t palette_count;
    pelt_bake_palette *palettes;
    uint32_t clip_count;
    pelt_bake_clip *clips;
    size_t size; /* bytes of texels: layer after layer, row after row, no gaps */
    void *texels;

    const pelt_host *host;
    struct pelt_arena *arena;
} pelt_bake;

/* Bakes. Warns where a palette cannot hold what the clips do: animated morph weights; in dual
 * quaternions, shear, and scale along other directions than the model's axes (names the joints).
 * Errors: PELT_ERROR_MEMORY; PELT_ERROR_ARGUMENT; PELT_ERROR_RANGE for more layers than max_layers,
 * an error that no rate keeps, a number that 16 bits do not hold, and as pelt_pose_evaluate. */
PELT_API pelt_result pelt_bake_create(const pelt_host *host, const pelt_bake_info *info,
                                      pelt_bake **out);
PELT_API void pelt_bake_destroy(pelt_bake *bake);

/* Which of the bake's palettes a part of the model uses; first_joint is there. NULL: none. */
PELT_API const pelt_bake_palette *pelt_bake_part_palette(const pelt_bake *bake,
                                                         const pelt_model *model, uint32_t part);

/* Two rows of a layer and how far it is from one to the other, 0 to 1; and which of the clip's
 * frames they are: the union of boxes[frame] and boxes[next_frame] holds what is between. */
typedef struct pelt_bake_place {
    uint32_t layer;
    uint32_t row, next_row; /* equal in a range of one row */
    uint32_t frame, next_frame;
    double fraction;
} pelt_bake_place;

/* time clamps to [0, duration], with loop it wraps into [0, duration). It must be finite. */
PELT_API pelt_bake_place pelt_bake_locate(const pelt_bake_clip *clip, double time, bool loop);

/* How a crowd is skinned from a palette: by linear blending, or by dual quaternions, which needs a
 * palette of them; between rows these are blended unless the interpolation is the nearest row. */
typedef enum pelt_bake_skinning { PELT_BAKE_LINEAR, PELT_BAKE_DUAL } pelt_bake_skinning;

/* Holds all that can be drawn of the model at a place, moved by world (12 doubles, NULL: identity),
 * without a look at any vertex: the union of both frames' boxes, grown by the clip's blend_margin
 * where rows are blended and by its dual_margin under PELT_BAKE_DUAL, and a little for rounding. */
PELT_API pelt_box pelt_bake_bounds(const pelt_bake_clip *clip, const pelt_bake_place *place,
                                   pelt_bake_interpolation interpolation,
                                   pelt_bake_skinning skinning, const double *world);

/* The matrices at a place: 12 for each of joint_count joints. What a shader computes, in double
 * precision. */
PELT_API void pelt_bake_decode(const pelt_bake *bake, const pelt_bake_place *place,
                               pelt_bake_interpolation interpolation, double *matrices);

/* Writes a KTX2 file (2D, or 2D array of more than one layer; no supercompression) with all of the
 * description as JSON under the key "pelt", and the same JSON as a file of its own unless json_path
 * is NULL. Both appear or none does. Errors: PELT_ERROR_IO, PELT_ERROR_MEMORY. */
PELT_API pelt_result pelt_bake_write(const pelt_host *host, const pelt_bake *bake,
                                     const char *ktx2_path, const char *json_path);

/* Reads what pelt_bake_write wrote; the JSON file is not needed. Errors: PELT_ERROR_IO,
 * PELT_ERROR_MEMORY, PELT_ERROR_FILE, PELT_ERROR_UNSUPPORTED for a KTX2 file without the key. */
PELT_API pelt_result pelt_bake_read(const pelt_host *host, const char *path, pelt_bake **out);
PELT_API pelt_result pelt_bake_read_memory(const pelt_host *host, const char *name,
                                           const void *bytes, size_t size, pelt_bake **out);

#ifdef __cplusplus
}
#endif
#endif
