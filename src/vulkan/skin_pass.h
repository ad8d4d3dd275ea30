/* A skin pass as its own files see it. */
#ifndef PELT_SRC_VULKAN_SKIN_PASS_H
#define PELT_SRC_VULKAN_SKIN_PASS_H

#include "vulkan/compute.h"

/* How work is given to invocations. */
typedef enum skin_shape {
    SHAPE_WIDE,   /* large groups, a chunk each: long meshes share one palette and one reduction */
    SHAPE_NARROW, /* small groups, a chunk each: few invocations idle at the end of a mesh */
    SHAPE_TEAMS   /* a chunk for a few invocations of a small group: the smallest meshes */
} skin_shape;

/* One specialisation of the skin shader, and what it can skin. */
typedef struct skin_permutation {
    uint32_t vertex;     /* PELT_VERTEX_... */
    bool any_influences; /* several sets, joints of 16 bits */
    skin_shape shape;
    uint32_t shared_joints; /* most joints of a palette in shared memory; 0: read by address */
    bool dual;              /* dual quaternions, too */
} skin_permutation;

/* The best ones first. */
enum { SKIN_PERMUTATION_COUNT = 21 };
extern const skin_permutation pelt_skin_permutations[SKIN_PERMUTATION_COUNT];

enum { NARROW_GROUP = 32, LARGEST_TEAM_BITS = 3 };

/* Places in pipelines, behind the permutations. */
enum { SKIN_REDUCE_BOUNDS = SKIN_PERMUTATION_COUNT, SKIN_JOINT_BOXES, SKIN_PIPELINE_COUNT };

struct pelt_skin_pass {
    pelt_compute compute;
    bool no_dual_quaternions;
    uint32_t chunk_vertices; /* 0: what suits the scene */
    uint32_t group_size;     /* of wide shapes and of the other passes */
    bool is_processor;       /* the device is the host's own, as software drivers are */
    VkPipeline pipelines[SKIN_PIPELINE_COUNT]; /* permutations, if any, and the two others */
};

/* Whether the permutation is among those that suit the device and the caller's wishes. */
bool pelt_skin_pass_has(const pelt_skin_pass *pass, uint32_t permutation);

#endif
