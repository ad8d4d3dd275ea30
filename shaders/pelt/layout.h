/* SPDX-License-Identifier: MIT */
/* What the library writes and the shaders read, for both languages: C17 and GLSL.
 *
 * Addresses are 64 bits, in GLSL two words (the low one first), so no shader needs 64-bit integers.
 * Strides are in 32-bit words. Structures lie in memory as std430 has them.
 */
#ifndef PELT_LAYOUT_H
#define PELT_LAYOUT_H

#ifdef __STDC_VERSION__
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#define PELT_ADDRESS uint64_t
#define PELT_UINT    uint32_t
#else
#define PELT_ADDRESS uvec2
#define PELT_UINT    uint
#endif

/* Most invocations of a workgroup; a subgroup can be as small as one. */
#define PELT_GROUP_MAX 128

/* Flags of a skin record. */
#define PELT_RECORD_JOINTS_16   1  /* two words of joints a set instead of one */
#define PELT_RECORD_INTERLEAVED 2  /* position and normal are one 16-byte vertex */
#define PELT_RECORD_NORMALS     4  /* wanted */
#define PELT_RECORD_TANGENTS    8  /* there and wanted */
#define PELT_RECORD_BOX         16 /* wanted */
#define PELT_RECORD_PARTIAL     32 /* several chunks: their boxes go to scratch */

/* One instance of the skin pass. */
struct pelt_skin_record {
    PELT_ADDRESS vertices; /* 16 bytes a vertex */
    PELT_ADDRESS tangents;
    PELT_ADDRESS weights; /* further sets follow the first, set after set */
    PELT_ADDRESS joints;
    PELT_ADDRESS matrices; /* three rows of four floats each */
    PELT_ADDRESS out_positions;
    PELT_ADDRESS out_normals;
    PELT_ADDRESS out_tangents;
    PELT_ADDRESS box; /* six floats: min, max */
    PELT_UINT vertex_count;
    PELT_UINT set_count;
    PELT_UINT flags;
    PELT_UINT position_stride;
    PELT_UINT normal_stride;
    PELT_UINT tangent_stride;
    PELT_UINT first_partial; /* of its chunks, in scratch */
    PELT_UINT padding;
};

/* The work of one group: from first_vertex to the end of the chunk or the mesh. */
struct pelt_chunk {
    PELT_UINT record;
    PELT_UINT first_vertex;
};

/* The box of an instance of several chunks: the union of count partial ones. */
struct pelt_reduction {
    PELT_ADDRESS box;
    PELT_UINT first_partial;
    PELT_UINT count;
};

/* One instance of the joint box pass. */
struct pelt_joint_box_record {
    PELT_ADDRESS bind; /* six floats a joint: min, max */
    PELT_ADDRESS matrices;
    PELT_ADDRESS box;
    float relative; /* widening, of the magnitude of a row's terms ... */
    float absolute; /* ... and of the box's own */
    PELT_UINT joint_count;
    PELT_UINT padding;
};

/* Push constants; count is that of items, one a workgroup. */
struct pelt_skin_constants {
    PELT_ADDRESS chunks;
    PELT_ADDRESS records;
    PELT_ADDRESS scratch;
    PELT_UINT count;
    PELT_UINT padding;
};

struct pelt_reduce_constants {
    PELT_ADDRESS reductions;
    PELT_ADDRESS scratch;
    PELT_UINT count;
    PELT_UINT padding;
};

struct pelt_joint_box_constants {
    PELT_ADDRESS records;
    PELT_UINT count;
    PELT_UINT padding;
};

#ifdef __STDC_VERSION__
static_assert(sizeof(struct pelt_skin_record) == 104, "as in std430");
static_assert(offsetof(struct pelt_skin_record, box) == 64, "as in std430");
static_assert(offsetof(struct pelt_skin_record, first_partial) == 96, "as in std430");
static_assert(sizeof(struct pelt_chunk) == 8, "as in std430");
static_assert(sizeof(struct pelt_reduction) == 16, "as in std430");
static_assert(sizeof(struct pelt_joint_box_record) == 40, "as in std430");
static_assert(offsetof(struct pelt_joint_box_record, joint_count) == 32, "as in std430");
static_assert(sizeof(struct pelt_skin_constants) == 32, "as in std430");
static_assert(sizeof(struct pelt_reduce_constants) == 24, "as in std430");
static_assert(sizeof(struct pelt_joint_box_constants) == 16, "as in std430");
#endif

#endif
