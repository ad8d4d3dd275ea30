/* SPDX-License-Identifier: MIT */
/* Clusters: what the library writes and the shaders read, for both languages. Structures lie in
 * memory as std430 has them. */
#ifndef PELT_CLUSTER_LAYOUT_H
#define PELT_CLUSTER_LAYOUT_H

#include "layout.h"

/* Most of a cluster. */
#define PELT_CLUSTER_VERTICES  64
#define PELT_CLUSTER_TRIANGLES 126
#define PELT_CLUSTER_JOINTS    256

/* Some triangles of a mesh, and the vertices they have. As uvec4s: two. */
struct pelt_gpu_cluster {
    PELT_UINT first_vertex; /* in the vertex table */
    PELT_UINT vertex_count;
    PELT_UINT first_triangle; /* a word each: three bytes, each a vertex of the cluster */
    PELT_UINT triangle_count;
    PELT_UINT first_joint; /* in the lists of joints and of spheres */
    PELT_UINT joint_count;
    PELT_UINT lod;
    PELT_UINT padding;
};

/* The clusters of one level of detail. */
struct pelt_gpu_lod {
    PELT_UINT first_cluster;
    PELT_UINT cluster_count;
    float error; /* how far its surface is from that of level 0, in poses without a world */
    PELT_UINT padding;
};

/* What all instances of a mesh share. */
struct pelt_gpu_cluster_mesh {
    PELT_ADDRESS vertices; /* the packed mesh's streams */
    PELT_ADDRESS tangents; /* 0: none */
    PELT_ADDRESS weights;
    PELT_ADDRESS joints;
    PELT_ADDRESS clusters;
    PELT_ADDRESS vertex_table; /* a word each: a vertex of the packed mesh */
    PELT_ADDRESS triangles;
    PELT_ADDRESS local_joints;   /* the cluster's influences: set_count x first_vertex + set x
                                  * vertex_count + vertex is a word of four bytes, places in its list
                                  * of joints */
    PELT_ADDRESS cluster_joints; /* lists: a word each, a joint of the mesh */
    PELT_ADDRESS spheres;        /* four floats beside each of these: of the cluster's vertices that
                                  * the joint moves, before they are skinned */
    PELT_ADDRESS lods;
    PELT_UINT vertex_count;
    PELT_UINT set_count;
    PELT_UINT joints_16; /* two words of joints a set instead of one */
    PELT_UINT lod_count;
    PELT_UINT first_index; /* of its triangles' corners, where an index buffer has them */
    PELT_UINT padding;
};

/* One mesh of one character. */
struct pelt_gpu_cluster_instance {
    PELT_ADDRESS mesh;
    PELT_ADDRESS matrices;
    PELT_ADDRESS box; /* six floats that hold the posed mesh, as the joint box pass writes them; 0:
                       * not known, and so neither culled as a whole nor ever of a coarser level */
    float scale;      /* the world's: errors of levels are multiplied by it */
    PELT_UINT user;   /* the caller's */
};

/* What is seen, and how fine. Columns of clip: from where matrices lead to Vulkan's clip space. */
struct pelt_gpu_cluster_view {
    float clip[16];
    float eye[3];
    float pixels;     /* that a unit across the view takes at a distance of one */
    float most_error; /* of a level of detail, in pixels */
    PELT_UINT lod;    /* that of all instances, or PELT_LOD_AUTO */
    PELT_UINT flags;
    PELT_UINT padding;
};

#define PELT_LOD_AUTO          0xffffffff
#define PELT_VIEW_CULL         1 /* clusters against the view */
#define PELT_VIEW_ORTHOGRAPHIC 2 /* distance does not matter */

#ifdef __STDC_VERSION__
static_assert(sizeof(struct pelt_gpu_cluster) == 32, "as in std430");
static_assert(sizeof(struct pelt_gpu_lod) == 16, "as in std430");
static_assert(sizeof(struct pelt_gpu_cluster_mesh) == 112, "as in std430");
static_assert(offsetof(struct pelt_gpu_cluster_mesh, vertex_count) == 88, "as in std430");
static_assert(sizeof(struct pelt_gpu_cluster_instance) == 32, "as in std430");
static_assert(sizeof(struct pelt_gpu_cluster_view) == 96, "as in std430");
#endif

#endif
