/* SPDX-License-Identifier: MIT */
/* pelt/cluster.h: a packed mesh cut into clusters (meshlets) of at most 64 vertices and 126
 * triangles, at several levels of detail, with what is needed to tell where a cluster can be in any
 * pose before one of its vertices is skinned.
 *
 * A bound that holds in every pose: under linear blend skinning a vertex lies in the convex hull of
 * where its joints would put it, so a cluster lies in the hull of its joints' spheres, each of
 * those vertices of the cluster that the joint moves, and moved by the joint's matrix, its radius
 * times the largest singular value. Spheres or normal cones of the bind pose alone say nothing once
 * the mesh deforms. Dual quaternions carry vertices out of that hull: none of this holds for them.
 */
#ifndef PELT_CLUSTER_H
#define PELT_CLUSTER_H

#include <pelt/pack.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PELT_CLUSTER_VERTEX_MAX   64
#define PELT_CLUSTER_TRIANGLE_MAX 126
#define PELT_CLUSTER_JOINT_MAX    256
#define PELT_LOD_MAX              8

typedef struct pelt_cluster {
    uint32_t first_vertex;   /* in vertex_table */
    uint32_t vertex_count;   /* 1 to 64 */
    uint32_t first_triangle; /* in triangles */
    uint32_t triangle_count; /* 1 to 126 */
    uint32_t first_joint;    /* in joints and spheres */
    uint32_t joint_count;    /* 1 to 256 */
    uint32_t lod;
} pelt_cluster;

/* A level of detail: a coarser surface over some of the same vertices. Seams, where vertices differ
 * that lie in one place, stay closed. Vertices that differ in normal and tangent alone become one
 * where the error would otherwise be more than twice as large, or there would be no such level. */
typedef struct pelt_lod {
    uint32_t first_cluster, cluster_count; /* clusters of a level follow each other */
    uint32_t triangle_count;
    uint32_t vertex_count; /* of the packed mesh that it uses */

    /* No less than the distance from this level's surface of any vertex of level 0, and the
     * distance from level 0 of the middle of any triangle of this level, in any of the poses that
     * were given, as pelt_skin_cpu skins them; in the unit of where their matrices lead. Morph
     * targets are left out of account. Without poses: bind_error. 0 for level 0. */
    float error;
    float bind_error; /* the same in the bind pose alone, mesh units */
} pelt_lod;

typedef struct pelt_clusters {
    uint32_t cluster_count; /* of all levels */
    uint32_t vertex_count;  /* entries of vertex_table: vertices count once for each cluster */
    uint32_t triangle_count;
    uint32_t joint_count; /* entries of joints and spheres */
    uint32_t set_count;   /* the mesh's */
    uint32_t lod_count;

    pelt_cluster *clusters;
    uint32_t *vertex_table; /* packed vertices */
    uint32_t *triangles;    /* a word each: three bytes, lowest first, each one of the cluster's
                             * vertices; the fourth is 0 */
    uint32_t *local_joints; /* of vertex v of a cluster in set s: word set_count x first_vertex +
                             * s x vertex_count + v: four bytes, places in the cluster's joints */
    uint32_t *joints;       /* joints that move a vertex of the cluster with a weight > 0 */
    float *spheres;         /* 4 beside each: centre and radius of the vertices it moves */
    pelt_lod lods[PELT_LOD_MAX];

    uint32_t most_joints; /* of a cluster */
    const pelt_host *host;
} pelt_clusters;

typedef struct pelt_clusters_info {
    const pelt_packed_mesh *mesh;
    const pelt_primitive *primitive; /* that mesh was packed from: its triangles */

    /* Levels wanted, up to PELT_LOD_MAX, each of about half as many triangles as the one before;
     * 0: 1. There are fewer where the next one would have more than three quarters of them; none
     * is made from one of less than 16, or where many thousands of triangles meet in a place. */
    uint32_t lod_count;

    /* Poses that levels are judged in: pose_count times joint_count matrices of 12 floats each,
     * finite, such as clips lead through. Time is proportional to them. NULL: the bind pose alone.
     */
    const float *poses;
    uint32_t pose_count;
    uint32_t joint_count; /* of each pose; mesh->joint_count at least */

    /* Smaller clusters; 0: 64 and 126. */
    uint32_t most_vertices;
    uint32_t most_triangles;
} pelt_clusters_info;

/* Every triangle of the primitive is in one cluster of level 0, but for those that two equal
 * corners make a line; strips and fans become triangles. Where no triangle is left there is a level
 * 0 without clusters. Same input, same clusters. mesh and primitive are not kept. Errors:
 * PELT_ERROR_ARGUMENT (points and lines, which have no clusters; counts out of range),
 * PELT_ERROR_RANGE (a triangle moved by more joints than a cluster can have; too many for 32 bits),
 * PELT_ERROR_MEMORY. Memory that meshoptimizer needs meanwhile is not asked of host. */
PELT_API pelt_result pelt_clusters_create(const pelt_host *host, const pelt_clusters_info *info,
                                          pelt_clusters **out);
PELT_API void pelt_clusters_destroy(pelt_clusters *clusters);

/* The spheres of other vertices: a morphed stream, as pelt_pack_morphed writes it. spheres: 4 x
 * clusters->joint_count floats. */
PELT_API void pelt_clusters_spheres(const pelt_clusters *clusters, const pelt_packed_mesh *mesh,
                                    const pelt_packed_vertex *vertices, float *spheres);

/* The sphere a joint's sphere becomes under a matrix (12 floats): at least as large as what it
 * holds, rounding included. sphere and out: 4 floats, may be the same. */
PELT_API void pelt_cluster_move_sphere(const float *matrix, const float *sphere,
                                       uint32_t influence_count, float *out);

/* A box that holds all vertices of a cluster, skinned by these matrices by any of pelt's paths.
 * spheres: of the clusters, or other ones. */
PELT_API pelt_box pelt_cluster_bound(const pelt_clusters *clusters, uint32_t cluster,
                                     const float *spheres, const float *matrices);

#ifdef __cplusplus
}
#endif
#endif
