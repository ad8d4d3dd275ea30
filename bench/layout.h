/* What the bench writes and its shaders read, for both languages: C17 and GLSL. */
#ifndef PELT_BENCH_LAYOUT_H
#define PELT_BENCH_LAYOUT_H

#include "pelt/layout.h"

/* Invocations of every workgroup of the bench's own shaders, as in the older forms. */
#define BENCH_GROUP 64

/* One mesh of one instance, as the older forms and the stream know it; indices into buffers in
 * which all meshes lie end to end. */
struct bench_mesh {
    PELT_UINT first_vertex; /* in the sources */
    PELT_UINT vertex_count;
    PELT_UINT first_output;
    PELT_UINT first_matrix;
    PELT_UINT first_joint_word; /* of its packed joints ... */
    PELT_UINT joint_words;      /* ... one or two words a vertex */
    PELT_UINT padding[2];
};

/* Some vertices of a mesh, as those forms that walk chunks know them. */
struct bench_chunk {
    PELT_UINT mesh;
    PELT_UINT first_vertex;
};

/* The form of 2023 and its successors. */
struct bench_atomics_constants {
    PELT_ADDRESS meshes;
    PELT_ADDRESS prefix; /* of vertices, exclusive, mesh_count + 1 */
    PELT_ADDRESS positions;
    PELT_ADDRESS normals;
    PELT_ADDRESS tangents;
    PELT_ADDRESS weights;
    PELT_ADDRESS joints;
    PELT_ADDRESS matrices;
    PELT_ADDRESS normal_matrices;
    PELT_ADDRESS out_positions;
    PELT_ADDRESS out_normals;
    PELT_ADDRESS out_tangents;
    PELT_ADDRESS boxes; /* flipped floats */
    PELT_UINT mesh_count;
    PELT_UINT vertex_count;
};

/* The seed's form. */
struct bench_seed_constants {
    PELT_ADDRESS meshes;
    PELT_ADDRESS prefix; /* of groups, exclusive, mesh_count + 1 */
    PELT_ADDRESS positions;
    PELT_ADDRESS normals;
    PELT_ADDRESS tangents;
    PELT_ADDRESS weights;
    PELT_ADDRESS joints;
    PELT_ADDRESS rows;
    PELT_ADDRESS out_positions;
    PELT_ADDRESS out_normals;
    PELT_ADDRESS out_tangents;
    PELT_ADDRESS partials;
    PELT_UINT mesh_count;
    PELT_UINT group_count;
};

/* What writes as many rows as posing does. */
struct bench_pose_floor_constants {
    PELT_ADDRESS matrices;
    PELT_UINT row_count;
    PELT_UINT rows_a_lane;
};

/* Passes over boxes: reset, resolve, the seed's reduction. */
struct bench_box_constants {
    PELT_ADDRESS prefix;
    PELT_ADDRESS from;
    PELT_ADDRESS to;
    PELT_UINT mesh_count;
    PELT_UINT padding;
};

struct bench_stream_constants {
    PELT_ADDRESS meshes;
    PELT_ADDRESS chunks; /* bench_chunk */
    PELT_ADDRESS vertices;
    PELT_ADDRESS tangents;
    PELT_ADDRESS weights;
    PELT_ADDRESS joints;
    PELT_ADDRESS out_vertices;
    PELT_ADDRESS out_tangents;
    PELT_UINT chunk_count;
    PELT_UINT chunk_vertices;
    PELT_UINT lane_bits; /* 2^lane_bits invocations walk a chunk */
    PELT_UINT padding;
};

/* The frame of the ways of turning normals: as many invocations as pelt's pass has for meshes that
 * are not short. */
#define BENCH_NORMALS_GROUP 128

#define BENCH_NORMALS_COFACTOR        0
#define BENCH_NORMALS_INVERSE         1
#define BENCH_NORMALS_JOINT_INVERSES  2
#define BENCH_NORMALS_JOINT_COFACTORS 3
#define BENCH_NORMALS_PLAIN           4

struct bench_normals_constants {
    PELT_ADDRESS meshes;
    PELT_ADDRESS chunks; /* bench_chunk */
    PELT_ADDRESS vertices;
    PELT_ADDRESS tangents;
    PELT_ADDRESS weights;
    PELT_ADDRESS joints;
    PELT_ADDRESS palettes; /* rows of four floats, as many a joint as the method needs */
    PELT_ADDRESS out_vertices;
    PELT_ADDRESS out_tangents;
    PELT_UINT chunk_count;
    PELT_UINT chunk_vertices;
};

struct bench_widen_constants {
    PELT_ADDRESS rows;
    PELT_ADDRESS matrices;
    PELT_ADDRESS normal_matrices;
    PELT_UINT count;
    PELT_UINT padding;
};

struct bench_copy_constants {
    PELT_ADDRESS from;
    PELT_ADDRESS to;
    PELT_UINT count; /* of 16 bytes */
    PELT_UINT padding;
};

#ifdef __STDC_VERSION__
static_assert(sizeof(struct bench_mesh) == 32, "as in std430");
static_assert(sizeof(struct bench_chunk) == 8, "as in std430");
static_assert(sizeof(struct bench_copy_constants) == 24, "as in std430");
static_assert(sizeof(struct bench_atomics_constants) == 112, "at most 128, as std430 has it");
static_assert(sizeof(struct bench_seed_constants) == 104, "as in std430");
static_assert(sizeof(struct bench_box_constants) == 32, "as in std430");
static_assert(sizeof(struct bench_stream_constants) == 80, "as in std430");
static_assert(sizeof(struct bench_normals_constants) == 80, "as in std430");
static_assert(sizeof(struct bench_widen_constants) == 32, "as in std430");
#endif

#endif
