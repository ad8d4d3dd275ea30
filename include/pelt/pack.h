/* SPDX-License-Identifier: MIT */
/* pelt/pack.h: primitives as the packed streams that the skinning passes read.
 *
 *   stream    bytes   layout (little-endian 32-bit words)
 *   vertices  16      position x y z (float), normal (direction)
 *   tangents  4       direction, handedness in the top two bits; absent where there are none
 *   weights   4       influences sorted by falling weight, the largest implied:
 *                     w1 (11 bits, lowest), w2 (11 bits), w3 (10 bits), all over 4096; the
 *                     top codes of w1 and w3, 2047 and 1023, stand for 1/2 and 1/4
 *   joints    4 or 8  four 8-bit, or four 16-bit joint indices, lowest first: joint of the implied
 *                     weight, of w1, w2, w3; 8-bit when every index with a weight is < 256
 *
 * More than four influences: further sets of four, each vertex_count entries behind the set
 * before (set-major): weights 8 bytes (four 16-bit over 65536), joints as above. Every weight is a
 * multiple of 2^-16, so the sum of all is exactly 1 in float arithmetic; an unused influence
 * is exactly 0 and repeats the joint of the implied one. No weight is negative, a single influence
 * is exact, 1/2 : 1/2 and four times 1/4 are, and none is off by more than 3/4 of 1/4096 (by 1
 * where w1 or w3 lies right below the value of its top code; in meshes of several sets by 1/32
 * more); those of further sets by less than 1/65536.
 *
 * A direction is A2B10G10R10: component = (code - 512) / 511, code = round(511 c) + 512, so 0 and
 * +-1 are exact. As a vertex attribute read it as VK_FORMAT_A2B10G10R10_UNORM_PACK32 (which
 * Vulkan guarantees; the SNORM twin it does not) and rescale: c = raw * (1023/511) - 512/511.
 * The top two bits are 3 for w = +1, 0 for w = -1, and 3 for normals.
 */
#ifndef PELT_PACK_H
#define PELT_PACK_H

#include <pelt/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pelt_packed_vertex {
    float position[3];
    uint32_t normal;
} pelt_packed_vertex;

/* What packing cost, against the primitive it came from. */
typedef struct pelt_pack_report {
    float weight_error;          /* the largest |decoded - given| of any influence */
    float position_error;        /* the farthest that can move a vertex, model units, in poses where
                                  * its joints carry it to places no farther apart than the
                                  * primitive's box is large: (sum of |error|) / 2 x its diagonal */
    float normal_error;          /* largest angle, radians */
    float tangent_error;         /* largest angle, radians */
    uint32_t influence_max;      /* most non-zero influences of any vertex, as packed */
    uint32_t influences_merged;  /* duplicate joints of one vertex, added up */
    uint32_t influences_rounded; /* given > 0, decoded 0 */
} pelt_pack_report;

typedef struct pelt_packed_mesh {
    uint32_t vertex_count;
    uint32_t set_count;   /* sets of four influences, >= 1 */
    uint32_t joint_bytes; /* 1 or 2 */
    uint32_t joint_count; /* largest joint index with a weight + 1 */

    pelt_packed_vertex *vertices;
    uint32_t *tangents; /* or NULL */
    uint32_t *weights;  /* vertex_count words, then 2 x vertex_count words for each further set */
    uint32_t *joints;   /* (joint_bytes) x vertex_count words a set */

    bool rigid;                /* one influence of joint 0 each, the primitive's own ignored */
    bool has_normals;          /* false: normal words are (0 0 1) */
    uint32_t *source_vertices; /* packed vertex -> the primitive's vertex; a permutation */
    uint32_t *packed_vertices; /* the inverse */

    pelt_pack_report report;
    const pelt_host *host;
} pelt_packed_mesh;

typedef struct pelt_pack_info {
    const pelt_primitive *primitive;

    /* Ignore influences: every vertex follows matrix 0 entirely. So it is too where the primitive
     * has none. */
    bool rigid;

    /* Packed vertex -> the primitive's vertex, a permutation. NULL: the primitive's order, but in
     * each run of 1024 vertices those of one influence first, then those of two, and so on:
     * neighbours then leave off at the same influence, which is what GPUs skip fastest, and
     * stay close to where they were. */
    const uint32_t *order;
} pelt_pack_info;

/* Packs a primitive without morphs. The same input always gives the same streams. Takes time
 * linear in the primitive's size. Errors: PELT_ERROR_MEMORY, PELT_ERROR_RANGE (a stream of 4 GiB
 * or more), PELT_ERROR_ARGUMENT (message says why: NaN, a vertex whose weights are negative or
 * all 0, an order that is no permutation, ...). host must outlive the mesh. */
PELT_API pelt_result pelt_pack(const pelt_host *host, const pelt_pack_info *info,
                               pelt_packed_mesh **out);
PELT_API void pelt_packed_mesh_destroy(pelt_packed_mesh *mesh);

/* The vertices and tangents streams of the same primitive with morph targets applied (positions,
 * normals and tangents, then re-normalised), in packed order. weights: target_count of them, NULL:
 * all 0. tangents may be NULL, and is not written if the mesh has none. Positions are clamped to
 * PELT_MAGNITUDE_MAX; returns how many vertices had to be. */
PELT_API uint32_t pelt_pack_morphed(const pelt_packed_mesh *mesh, const pelt_primitive *primitive,
                                    const double *weights, pelt_packed_vertex *vertices,
                                    uint32_t *tangents);

/* Bytes of each stream, to allocate and upload. */
typedef struct pelt_packed_sizes {
    size_t vertices, tangents, weights, joints;
} pelt_packed_sizes;
PELT_API pelt_packed_sizes pelt_packed_mesh_sizes(const pelt_packed_mesh *mesh);

/* Influences of one packed vertex as the shader decodes them: 4 x set_count of each. */
PELT_API void pelt_unpack_influences(const pelt_packed_mesh *mesh, uint32_t vertex,
                                     uint32_t *joints, float *weights);

/* How far rounding the weights moves vertices in one pose. Decoded and given weights both sum to 1,
 * so a vertex moves by the sum over its joints j of (decoded_j - given_j) x (M_j p - M_0 p), M_0
 * the matrix of the implied weight's joint; the bound is the same sum of magnitudes, and 0 for
 * rigid vertices. With rotations (4 each, pelt_skin_rotations_double) it is that of dual quaternion
 * skinning, up to about three times as large. primitive: the one that mesh was packed from.
 * vertices: NULL for the mesh's own, else a morphed stream. matrices: 12 each, every joint the
 * primitive gives a weight. bounds: one each vertex in packed order, or NULL. largest: of all
 * vertices, or NULL. Linear time. Errors: PELT_ERROR_MEMORY. */
PELT_API pelt_result pelt_pack_displacement(const pelt_packed_mesh *mesh,
                                            const pelt_primitive *primitive,
                                            const pelt_packed_vertex *vertices,
                                            const double *matrices, const double *rotations,
                                            double *bounds, double *largest);

/* Directions. direction need not be unit; zero and what is not finite encode as (0 0 1). w >= 0 is
 * +1. The angle to the decoded one is at most asin(sqrt(3) / 1022), 0.0971 degrees. */
PELT_API uint32_t pelt_encode_direction(const float direction[3], float w);
PELT_API void pelt_decode_direction(uint32_t code, float direction[3], float *w);

#ifdef __cplusplus
}
#endif
#endif
