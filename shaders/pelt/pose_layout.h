/* SPDX-License-Identifier: MIT */
/* What the pose pass reads, for both languages: rigs, the state of instances, tables.
 *
 * A rig is rows of 16 bytes from one address on; "row" is an index of such a row. It begins with
 * its header. Nodes are in depth-first order, cut into tiles of PELT_POSE_LANES: parents come
 * before children, and the nodes of a tile that have one ancestor have their parents in the tile,
 * or lie directly below what an earlier tile carries over.
 */
#ifndef PELT_POSE_LAYOUT_H
#define PELT_POSE_LAYOUT_H

#include "layout.h"

#ifdef __STDC_VERSION__
#define PELT_POSE_PLAY struct pelt_pose_play
#else
#define PELT_POSE_PLAY pelt_pose_play
#endif

/* Invocations of a workgroup, each of which owns a node. */
#define PELT_POSE_LANES 128

/* Instead of an index. */
#define PELT_POSE_NONE 0xffffffffu

/* Largest magnitude of a number that is written, as bits of a float: PELT_MAGNITUDE_MAX. */
#define PELT_POSE_LARGEST 0x5d5e0b6bu

struct pelt_rig_header {
    PELT_UINT node_count;
    PELT_UINT tile_count;
    PELT_UINT rounds;       /* that double paths until the longest within a tile is whole */
    PELT_UINT matrix_count; /* outputs with this destination and above are sockets */
    PELT_UINT nodes;        /* row of the first pelt_rig_node */
    PELT_UINT tiles;        /* row of tile_count + 1 words: the first output of each tile */
    PELT_UINT outputs;      /* row of the first pelt_rig_output */
    PELT_UINT inverse_bind; /* row of the first matrix, three rows an output */
    PELT_UINT clips;        /* row of the first pelt_rig_clip; behind the last: static values */
    PELT_UINT padding[3];
};

/* Instead of an index of what is carried over: the row of a constant matrix. */
#define PELT_NODE_FIXED 0x20000000u

struct pelt_rig_node {
    PELT_UINT up;       /* so many nodes before it is its parent; 0: not in the rig */
    PELT_UINT above;    /* parent of an earlier tile: where its transform is carried over; parent
                         * that nothing ever moves: PELT_NODE_FIXED | row of its transform; else
                         * PELT_POSE_NONE */
    PELT_UINT carry_to; /* where its own is carried over, or none */
    PELT_UINT matrix;   /* row of the matrix it has instead of TRS; 0: none */
};

/* One matrix to write. */
struct pelt_rig_output {
    PELT_UINT node; /* in its tile */
    PELT_UINT destination;
};

struct pelt_rig_clip {
    float duration;
    PELT_UINT tracks; /* row of the first pelt_rig_track: all translations, rotations, scales */
    PELT_UINT padding[2];
};

/* Modes of a track. */
#define PELT_TRACK_HOLD     0 /* one value: static, one key, or equal keys */
#define PELT_TRACK_STEP     1
#define PELT_TRACK_LINEAR   2 /* rotations: neighbours less than a half turn apart, and unit */
#define PELT_TRACK_SPLINE   3 /* a key is three rows: in-tangent, value, out-tangent */
#define PELT_TRACK_MODES    3
#define PELT_TRACK_ANIMATES 4 /* flag: the clip says so, not the node */

/* One value of one node in one clip. */
struct pelt_rig_track {
    PELT_UINT first;  /* row of the first key */
    PELT_UINT stride; /* rows from key to key; a third of it from part to part of a spline's key */
    PELT_UINT times;  /* row of a pelt_rig_times */
    PELT_UINT mode;
};

/* Key times that tracks share. Behind it: last_cell + 1 pairs of words, then the times. A cell is
 * 1/scale seconds around origin + cell/scale; its pair says among which keys the last one not after
 * a time of that cell is. */
struct pelt_rig_times {
    PELT_UINT last_key;
    PELT_UINT last_cell;
    float origin;
    float scale;
};

/* A clip that plays: at `since` on the caller's clock it was at `time`. */
struct pelt_pose_play {
    PELT_UINT since_low; /* 2^-32 s, two's complement */
    PELT_UINT since_high;
    float time_high; /* seconds: the sum of both */
    float time_low;
    float speed;
    PELT_UINT clip; /* the rig's number of clips: static values */
    PELT_UINT loop;
    PELT_UINT padding;
};

/* An instance. */
struct pelt_pose_state {
    float world[12];
    PELT_POSE_PLAY plays[2];
    PELT_ADDRESS matrices;
    PELT_ADDRESS sockets; /* or 0 */
    PELT_ADDRESS overrides;
    PELT_UINT override_count;
    PELT_UINT interval; /* frames between updates; 0: none at all */
    PELT_UINT phase;
    float weight; /* of the second play, when it began */
    float weight_rate;
    PELT_UINT padding;
};

/* Kinds of overrides. */
#define PELT_OVERRIDE_KIND_LOCAL_REPLACE   0
#define PELT_OVERRIDE_KIND_LOCAL_MULTIPLY  1
#define PELT_OVERRIDE_KIND_GLOBAL_REPLACE  2
#define PELT_OVERRIDE_KIND_GLOBAL_MULTIPLY 3

/* Of one node of one instance; an instance's are ordered by node. */
struct pelt_pose_override_record {
    PELT_UINT node; /* in the rig's order */
    PELT_UINT kind;
    PELT_UINT padding[2];
    float matrix[12];
};

/* The work of one workgroup. */
struct pelt_pose_group {
    PELT_ADDRESS rig;
    PELT_UINT first_instance;
    PELT_UINT instance_count;
    PELT_UINT scratch; /* row of what its tiles carry over */
    PELT_UINT padding;
};

/* Push constants. */
struct pelt_pose_constants {
    PELT_ADDRESS groups;
    PELT_ADDRESS instances;
    PELT_ADDRESS scratch;
    PELT_UINT now_low; /* as since */
    PELT_UINT now_high;
    PELT_UINT count;
    PELT_UINT frame;
    PELT_UINT all; /* whatever the intervals */
    PELT_UINT padding;
};

#ifdef __STDC_VERSION__
static_assert(sizeof(struct pelt_rig_header) == 48, "as in std430");
static_assert(sizeof(struct pelt_rig_node) == 16, "as in std430");
static_assert(sizeof(struct pelt_rig_output) == 8, "as in std430");
static_assert(sizeof(struct pelt_rig_clip) == 16, "as in std430");
static_assert(sizeof(struct pelt_rig_track) == 16, "as in std430");
static_assert(sizeof(struct pelt_rig_times) == 16, "as in std430");
static_assert(sizeof(struct pelt_pose_play) == 32, "as in std430");
static_assert(sizeof(struct pelt_pose_state) == 160, "as in std430");
static_assert(offsetof(struct pelt_pose_state, plays) == 48, "as in std430");
static_assert(offsetof(struct pelt_pose_state, matrices) == 112, "as in std430");
static_assert(offsetof(struct pelt_pose_state, weight) == 148, "as in std430");
static_assert(sizeof(struct pelt_pose_override_record) == 64, "as in std430");
static_assert(sizeof(struct pelt_pose_group) == 24, "as in std430");
static_assert(sizeof(struct pelt_pose_constants) == 48, "as in std430");
#endif

#endif
