/* SPDX-License-Identifier: MIT */
/* Crowds that are drawn from a palette texture: what the library and the crowd pass write and the
 * shaders read, for both languages. Structures lie in memory as std430 has them. */
#ifndef PELT_CROWD_LAYOUT_H
#define PELT_CROWD_LAYOUT_H

#include "pose_layout.h"

#ifdef __STDC_VERSION__
#define PELT_WORLD float world[12]
#else
#define PELT_WORLD vec4 world[3]
#endif

/* How a palette texture holds a joint (pelt_bake_layout), what is done between two rows
 * (pelt_bake_interpolation), and how vertices are skinned (pelt_bake_skinning). */
#define PELT_PALETTE_MATRIX_3X4      0
#define PELT_PALETTE_MATRIX_4X4      1
#define PELT_PALETTE_DUAL_QUATERNION 2
#define PELT_PALETTE_NEAREST         0
#define PELT_PALETTE_LERP            1
#define PELT_PALETTE_BLEND           2
#define PELT_PALETTE_LINEAR          0
#define PELT_PALETTE_DUAL            1

/* Flags of a member. */
#define PELT_MEMBER_HIDDEN 1
#define PELT_MEMBER_LIVE   2 /* place and box are given, no clip is played */
#define PELT_MEMBER_BOXED  4 /* live, and it has a box: without, it is never culled */

/* Members a workgroup looks at, and the words that say which of them are visible. */
#define PELT_CROWD_LANES 128
#define PELT_CROWD_WORDS 4

/* Where a clip's frames are. Ranges and boxes count from the beginning of theirs. */
struct pelt_crowd_clip {
    float duration;
    float rate_high; /* frames a second: the sum of both */
    float rate_low;
    float blend_margin; /* by which a blend may leave the boxes */
    PELT_UINT first_range;
    PELT_UINT range_count;
    PELT_UINT first_box;
    float dual_margin; /* and skinning by dual quaternions */
};

struct pelt_crowd_range {
    float start_high; /* seconds: the sum of both */
    float start_low;
    float last_interval; /* in frames: the others are 1 */
    PELT_UINT layer;
    PELT_UINT first_row;
    PELT_UINT row_count;
    PELT_UINT first_frame; /* of the clip's */
    PELT_UINT padding;
};

/* The beginning of a crowd's data; what follows is counted in bytes from here. */
struct pelt_crowd_header {
    PELT_UINT ranges;
    PELT_UINT boxes; /* six floats each: min, max */
    PELT_UINT clips;
    PELT_UINT padding;
};

/* What a member does until it is written anew. */
struct pelt_crowd_state {
    PELT_WORLD;
    PELT_POSE_PLAY play;
    PELT_ADDRESS box; /* of a live one: six floats */
    PELT_UINT flags;
    PELT_UINT place; /* of a live one */
    PELT_UINT tint;
    PELT_UINT padding[3];
};

/* A member as the vertex shader reads it. */
struct pelt_crowd_instance {
    PELT_WORLD;
    PELT_UINT place;  /* row, and from bit 16 the layer */
    float fraction;   /* of the way to the next row; 0: that is not read */
    PELT_UINT tint;   /* 8 bits each, red lowest */
    PELT_UINT member; /* which one it is */
};

/* What all instances of a mesh share. */
struct pelt_crowd_mesh {
    PELT_ADDRESS vertices;
    PELT_ADDRESS tangents; /* 0: none */
    PELT_ADDRESS weights;
    PELT_ADDRESS joints;
    PELT_UINT vertex_count;
    PELT_UINT set_count;
    PELT_UINT joints_16;   /* two words of joints a set instead of one */
    PELT_UINT first_joint; /* of its palette, in a row */
};

/* Push constants of both dispatches. Columns of the view: world to clip space. */
struct pelt_crowd_constants {
    float view[16];
    PELT_ADDRESS data;
    PELT_ADDRESS members;
    PELT_ADDRESS visible; /* scratch: PELT_CROWD_WORDS a workgroup */
    PELT_ADDRESS instances;
    PELT_ADDRESS draws;
    PELT_UINT now_low; /* 2^-32 s */
    PELT_UINT now_high;
    PELT_UINT count;
    PELT_UINT flags; /* PELT_CROWD_..., and the rest below */
};

#define PELT_CROWD_CULL         1 /* against the view */
#define PELT_CROWD_NEAREST      2
#define PELT_CROWD_BLENDS       4
#define PELT_CROWD_DUAL         8
#define PELT_CROWD_STRIDE_SHIFT 4 /* words from draw to draw */
#define PELT_CROWD_STRIDE_MAX   63
#define PELT_CROWD_DRAWS_SHIFT  10 /* how many draws */
#define PELT_CROWD_DRAWS_MAX    4194303

/* Push constants that make motions of live agents' matrices. */
struct pelt_motion_constants {
    PELT_ADDRESS matrices;
    PELT_ADDRESS motions;
    PELT_UINT count;
    PELT_UINT texels; /* of each motion: 2, or with scale 3 */
};

#ifdef __STDC_VERSION__
static_assert(sizeof(struct pelt_motion_constants) == 24, "as in std430");
static_assert(sizeof(struct pelt_crowd_clip) == 32, "as in std430");
static_assert(sizeof(struct pelt_crowd_range) == 32, "as in std430");
static_assert(sizeof(struct pelt_crowd_state) == 112, "as in std430");
static_assert(offsetof(struct pelt_crowd_state, box) == 80, "as in std430");
static_assert(sizeof(struct pelt_crowd_instance) == 64, "as in std430");
static_assert(sizeof(struct pelt_crowd_mesh) == 48, "as in std430");
static_assert(sizeof(struct pelt_crowd_constants) == 120, "as in std430");
#endif

#endif
