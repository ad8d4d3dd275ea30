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

/* Flags of a chunk. */
#define PELT_CHUNK_JOINTS_16   1  /* two words of joints a set instead of one */
#define PELT_CHUNK_INTERLEAVED 2  /* position and normal are one 16-byte vertex */
#define PELT_CHUNK_NORMALS     4  /* wanted */
#define PELT_CHUNK_TANGENTS    8  /* there and wanted */
#define PELT_CHUNK_BOX         16 /* wanted */
#define PELT_CHUNK_PARTIAL     32 /* one of several: its box goes to scratch */
#define PELT_CHUNK_DUAL        64 /* dual quaternions: a fourth row of each matrix, its rotation */

/* What all instances of a scene have in common; says which permutation may skin it. */
#define PELT_VERTEX_ANY      0 /* nothing: flags decide */
#define PELT_VERTEX_PLAIN    1 /* position and normal interleaved, no tangents */
#define PELT_VERTEX_TANGENTS 2 /* the same, and tangents in a stream of their own */

/* Some vertices of one instance: the work of one workgroup, or of a team of its invocations. All of
 * it is here, so that nothing has to be looked up first: streams begin at the mesh's first vertex.
 * As uvec4s: seven. */
struct pelt_skin_chunk {
    PELT_ADDRESS vertices; /* 16 bytes a vertex */
    PELT_ADDRESS tangents; /* readable even if there are none: then any stream of words */
    PELT_ADDRESS weights;  /* further sets follow the first, set after set */
    PELT_ADDRESS joints;
    PELT_ADDRESS matrices; /* three rows of four floats each */
    PELT_ADDRESS out_positions;
    PELT_ADDRESS out_normals;
    PELT_ADDRESS out_tangents;
    PELT_ADDRESS box; /* six floats: min, max */
    PELT_UINT first_vertex;
    PELT_UINT end_vertex;
    PELT_UINT vertex_count; /* of the mesh */
    PELT_UINT set_count;
    PELT_UINT flags;
    PELT_UINT joint_count; /* matrices that may be read */
    PELT_UINT position_stride;
    PELT_UINT normal_stride;
    PELT_UINT tangent_stride;
    PELT_UINT partial; /* its box in scratch */
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

/* Push constants; count is that of items, one a workgroup or a team. */
struct pelt_skin_constants {
    PELT_ADDRESS chunks;
    PELT_ADDRESS scratch;
    PELT_UINT count;
    PELT_UINT team_bits; /* a team is 2^team_bits invocations */
    PELT_UINT zero;      /* 0, which compilers cannot know */
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
static_assert(sizeof(struct pelt_skin_chunk) == 112, "as in std430");
static_assert(offsetof(struct pelt_skin_chunk, box) == 64, "as in std430");
static_assert(offsetof(struct pelt_skin_chunk, partial) == 108, "as in std430");
static_assert(sizeof(struct pelt_reduction) == 16, "as in std430");
static_assert(sizeof(struct pelt_joint_box_record) == 40, "as in std430");
static_assert(offsetof(struct pelt_joint_box_record, joint_count) == 32, "as in std430");
static_assert(sizeof(struct pelt_skin_constants) == 32, "as in std430");
static_assert(sizeof(struct pelt_reduce_constants) == 24, "as in std430");
static_assert(sizeof(struct pelt_joint_box_constants) == 16, "as in std430");
#endif

#endif
