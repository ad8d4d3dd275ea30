/* SPDX-License-Identifier: MIT */
/* pelt/skin.h: skinning without a GPU: the double-precision reference, and the float path on the
 * packed streams. Both take ranges, so the caller threads them.
 *
 * Linear blend skinning: M = sum of w_k M_k; position' = M (p 1); normal' = normalize(cof(A) n) and
 * tangent' = normalize(A t), A the 3x3 of M. cof(A) has the rows r1 x r2, r2 x r0, r0 x r1: it
 * agrees with the winding of the triangles in file order under mirrored joints too, so index order
 * and tangent w are kept. A direction that vanishes becomes (0 0 1) for normals, (1 0 0)
 * for tangents. Outputs are finite and no position component is ever -0.
 *
 * Dual quaternion skinning, where a job has rotations: Kavan, Collins, Zara, O'Sullivan, Geometric
 * Skinning with Approximate Dual Quaternion Blending, 2008. Joint k puts the vertex at M_k p and
 * turns it by q_k, the rotation nearest to the 3x3 of M_k; dual quaternions of these motions, seen
 * from the vertex, are blended:
 *
 *     b = sum of w_k s_k (q_k + e/2 (M_k p, 0) q_k),    p' = the translation of b
 *
 * s_k = 1 or -1, so that q_k is on the side of the dominant joint's, which has the largest weight;
 * then the real part of b is never shorter than that weight. For rigid joints this is Kavan's
 * blend. It differs where joints stretch: scale, shear and reflection stay in M_k, apart from the
 * rotation, and none of it is lost; a place that joints agree on stays where they put it; and
 * nothing depends on where the origin is. p' is linear in p: with q the real part of b,
 *
 *     p' = M (p 1),    M = sum of C_k M_k,    C_k y = c y + y x a,  (a, c) = w_k s_k q_k q^-1
 *
 * so normals and tangents follow from M as above. Joints 180 degrees apart have no nearer side:
 * there q_k keeps its sign, and the surface jumps when they turn further. */
#ifndef PELT_SKIN_H
#define PELT_SKIN_H

#include <pelt/pack.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a joint's matrix does besides turning and moving, next to the others of its palette: the
 * same stretch but for a scale; another one, or shear; a reflection, whose rotation is that of -M;
 * or everything ends on a line or in a point, and its rotation is any. */
typedef enum pelt_stretch {
    PELT_STRETCH_EVEN,
    PELT_STRETCH_UNEVEN,
    PELT_STRETCH_MIRRORED,
    PELT_STRETCH_COLLAPSED
} pelt_stretch;

/* The rotations nearest to a palette's matrices, 12 numbers each: the orthogonal factors of their
 * polar decompositions, as unit quaternions x y z w of either sign. stretches: one a matrix, or
 * NULL; differences of less than a thousandth are not counted, and even is what only scales, or
 * where no joint does, what the first one does. */
PELT_API void pelt_skin_rotations(const float *matrices, uint32_t count, float *rotations);
PELT_API void pelt_skin_rotations_double(const double *matrices, uint32_t count, double *rotations,
                                         pelt_stretch *stretches);

/* A palette as the GPU's pass takes it for dual quaternions: 16 floats a joint, its matrix and its
 * rotation. */
PELT_API void pelt_skin_dual_palette(const float *matrices, uint32_t count, float *palette);

/* The reference. Plain, double precision, from the primitive itself: morphs first (a morphed normal
 * or tangent is normalised before it is skinned), then skinning. A direction vanishes here where
 * no more is left of it than the rounding of the blend. */
typedef struct pelt_reference_job {
    const pelt_primitive *primitive;
    const double *matrices; /* 12 each; indexed by joint */
    const double
        *rotations; /* 4 each, of pelt_skin_rotations_double; NULL: linear blend skinning */
    const double *morph_weights; /* target_count, or NULL: none */
    bool rigid;                  /* matrices[0] moves everything */

    /* To judge arithmetic apart from packing: influences (and nothing else) as this mesh, packed
     * from the same primitive, decodes them. NULL: the primitive's own, weights divided by
     * their sum in double precision. */
    const pelt_packed_mesh *influences_of;

    /* Outputs, indexed by the primitive's vertex; any may be NULL. */
    double *positions; /* 3 */
    double *normals;   /* 3; zeros where the primitive has none */
    double *tangents;  /* 4; likewise */

    /* How far from vanishing each direction is: |cof(A) n| / m^2 and |A t| / m, n and t unit, m the
     * largest element of sum of w_k |M_k|, so that cancelling joints count too; 0 where it has
     * vanished. Directions below 1e-4 are not comparable between paths. */
    double *normal_confidence;  /* 1, or NULL */
    double *tangent_confidence; /* 1, or NULL */

    /* What the rounding of a path acts on: for coordinate i of a position the sum over a row of
     * magnitudes of M's elements times those of (p 1). An element's magnitude is the sum of
     * w_k |M_k|; of dual quaternion skinning that of w_k |column of M_k| / |q|^2. */
    double *position_scales; /* 3, or NULL */

    /* The least |q_k . q of the dominant joint|, 1 for linear blend skinning: vertices near 0 are
     * not comparable between paths. */
    double *alignments; /* 1, or NULL */
} pelt_reference_job;

/* Skins vertices first to first + count - 1; grows box (6 doubles: min, max) if not NULL: start it
 * at +infinity, -infinity. */
PELT_API void pelt_skin_reference(const pelt_reference_job *job, uint32_t first, uint32_t count,
                                  double *box);

/* The float path. Normal words of meshes without normals are skinned like any other. */
typedef struct pelt_skin_job {
    const pelt_packed_mesh *mesh;
    const float *matrices;  /* 12 each, of the part's palette; mesh->joint_count of them at least */
    const float *rotations; /* 4 each, of pelt_skin_rotations; NULL: linear blend skinning */

    /* Streams that replace the mesh's (morphed, pelt_pack_morphed), or NULL. */
    const pelt_packed_vertex *vertices;
    const uint32_t *tangents;

    /* Outputs in packed order; strides in bytes, multiples of 4, 0: tightly packed (12, 4, 4).
     * With normals = (uint32_t *)positions + 3 and both strides 16 this is the 16-byte vertex. */
    float *out_positions;
    size_t position_stride;
    uint32_t *out_normals; /* NULL: not wanted */
    size_t normal_stride;
    uint32_t *out_tangents; /* NULL: not wanted; ignored if the mesh has none */
    size_t tangent_stride;
} pelt_skin_job;

/* Skins packed vertices first to first + count - 1 and grows box (start it at PELT_BOX_EMPTY; NULL:
 * no box). The box is bit for bit the min and max of the positions written. */
PELT_API void pelt_skin_cpu(const pelt_skin_job *job, uint32_t first, uint32_t count,
                            pelt_box *box);

/* Conservative boxes from joints, for linear blend skinning alone: dual quaternions carry vertices
 * out of the convex hull of where the joints would put them. bind[j]: the box of the vertices that
 * joint j moves with a decoded weight > 0, PELT_BOX_EMPTY for joints without any. */
typedef struct pelt_joint_boxes {
    uint32_t joint_count;
    uint32_t influence_count; /* 4 x the mesh's set_count: what rounding can add up over */
    pelt_box *bind;
    const pelt_host *host;
} pelt_joint_boxes;

/* vertices: NULL for the mesh's own, else a morphed stream. Errors: PELT_ERROR_MEMORY. */
PELT_API pelt_result pelt_joint_boxes_create(const pelt_host *host, const pelt_packed_mesh *mesh,
                                             const pelt_packed_vertex *vertices,
                                             pelt_joint_boxes **out);
PELT_API void pelt_joint_boxes_destroy(pelt_joint_boxes *boxes);

/* The union of the joints' boxes moved by their matrices (12 floats each). Widened by the rounding
 * that the skinning paths can have, so that it holds their exact box always: row i of joint j by
 * (influence_count + 4) x 2^-24 x (|m_i0| X + |m_i1| Y + |m_i2| Z + |t_i|), X Y Z the largest
 * magnitudes in bind[j], and a little for numbers so small that a GPU flushes them to 0. */
PELT_API pelt_box pelt_joint_boxes_bound(const pelt_joint_boxes *boxes, const float *matrices);

#ifdef __cplusplus
}
#endif
#endif
