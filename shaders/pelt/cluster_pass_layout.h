/* SPDX-License-Identifier: MIT */
/* The passes over clusters: what they read and write beside shaders/pelt/cluster_layout.h, for both
 * languages. Structures lie in memory as std430 has them. */
#ifndef PELT_CLUSTER_PASS_LAYOUT_H
#define PELT_CLUSTER_PASS_LAYOUT_H

#include "cluster_layout.h"

/* Clusters of a span, an invocation each: a word says which of them can be seen. Many meshes have
 * few, so that more would mostly be idle. A workgroup of the cull pass takes some spans. */
#define PELT_SPAN_CLUSTERS 32
#define PELT_SPANS_A_GROUP 4

/* Spans whose counts a workgroup adds up, and its invocations. */
#define PELT_BLOCK_SPANS 1024
#define PELT_BLOCK_LANES 128

/* Clusters that a workgroup of the skin pass takes one after the other at most, and workgroups
 * below which it takes fewer. */
#define PELT_CLUSTERS_IN_TURN      8
#define PELT_CLUSTER_GROUPS_WANTED 4096

/* Some clusters of one instance: those from first on of whichever level it will need. */
struct pelt_cluster_span {
    PELT_UINT instance;
    PELT_UINT first;
};

/* What is known of a span. Behind those of all spans: how many clusters each block of spans has. */
struct pelt_span_state {
    PELT_UINT visible; /* a bit a cluster */
    PELT_UINT first;   /* its first cluster, of the mesh's */
    PELT_UINT before;  /* visible ones in the block's spans before it */
};

/* A cluster that can be seen. As vec4s: six. */
struct pelt_gpu_visible_cluster {
    float sphere[4]; /* its skinned vertices': centre and radius ... */
    float low[3];    /* ... and their box */
    PELT_UINT instance;
    float high[3];
    PELT_UINT cluster;

    /* What the cluster skin pass would otherwise have to look up, one after the other. */
    PELT_ADDRESS mesh;
    PELT_ADDRESS matrices;
    PELT_ADDRESS vertex_table;   /* the cluster's own part of it */
    PELT_ADDRESS cluster_joints; /* likewise */
    PELT_UINT first_vertex;
    PELT_UINT counts; /* vertices, and from bit 16 joints */
    PELT_UINT padding[2];
};

/* How many they are. */
struct pelt_gpu_cluster_counts {
    PELT_UINT groups[3]; /* a VkDispatchIndirectCommand: one a cluster that is listed */
    PELT_UINT listed;
    PELT_UINT visible; /* with those that there was no room for */
};

/* A VkDrawIndexedIndirectCommand. */
struct pelt_cluster_draw {
    PELT_UINT index_count;
    PELT_UINT instance_count;
    PELT_UINT first_index;
    PELT_UINT vertex_offset;
    PELT_UINT first_instance;
};

/* Push constants of the cull pass's three dispatches. */
struct pelt_cluster_cull_constants {
    PELT_ADDRESS spans;
    PELT_ADDRESS instances;
    PELT_ADDRESS view;
    PELT_ADDRESS scratch; /* states of spans, then counts of blocks */
    PELT_ADDRESS visible;
    PELT_ADDRESS counts;
    PELT_ADDRESS draws; /* 0: none */
    PELT_UINT span_count;
    PELT_UINT capacity; /* of visible and draws */
};

struct pelt_cluster_skin_constants {
    PELT_ADDRESS instances;
    PELT_ADDRESS visible;
    PELT_ADDRESS counts;
    PELT_ADDRESS vertices;
    PELT_ADDRESS tangents; /* 0: not wanted */
    PELT_UINT bounds;      /* wanted */
    PELT_UINT padding;
};

#ifdef __STDC_VERSION__
static_assert(sizeof(struct pelt_cluster_span) == 8, "as in std430");
static_assert(sizeof(struct pelt_span_state) == 12, "as in std430");
static_assert(sizeof(struct pelt_gpu_visible_cluster) == 96, "as in std430");
static_assert(sizeof(struct pelt_gpu_cluster_counts) == 20, "as in std430");
static_assert(sizeof(struct pelt_cluster_cull_constants) == 64, "as in std430");
static_assert(sizeof(struct pelt_cluster_skin_constants) == 48, "as in std430");
#endif

#endif
