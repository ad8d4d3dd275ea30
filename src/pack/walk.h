/* A packed vertex's influences one by one, for all that is not in as much of a hurry as skinning.
 */
#ifndef PELT_SRC_PACK_WALK_H
#define PELT_SRC_PACK_WALK_H

#include "pack/codec.h"

typedef struct influence_walk {
    const pelt_packed_mesh *mesh;
    uint32_t vertex;
    uint32_t slot;          /* the next one; slot 0 comes last */
    uint32_t implied_joint; /* slot 0's */
    float rest;             /* its weight, once all others are off */
    uint32_t joints[4];
    float weights[4];
} influence_walk;

/* Decodes a set and takes its explicit weights, which stand for 0 in slot 0, off rest: exact. */
static inline void decode_set(const pelt_packed_mesh *mesh, uint32_t set, uint32_t vertex,
                              uint32_t joints[4], float weights[4], float *rest)
{
    decode_weights(mesh, set, vertex, weights);
    decode_joints(mesh, set, vertex, joints);
    for (int k = 0; k < 4; k++) {
        *rest -= weights[k];
    }
}

static inline influence_walk walk_influences(const pelt_packed_mesh *mesh, uint32_t vertex)
{
    influence_walk walk = { .mesh = mesh, .vertex = vertex, .slot = 1, .rest = 1.0f };
    decode_set(mesh, 0, vertex, walk.joints, walk.weights, &walk.rest);
    walk.implied_joint = walk.joints[0];
    return walk;
}

/* The next explicit weight above 0 with its joint, at last the implied one, whatever it is; false
 * behind it. */
static inline bool next_influence(influence_walk *walk, uint32_t *joint, float *weight)
{
    uint32_t slots = 4 * walk->mesh->set_count;
    while (walk->slot < slots) {
        uint32_t k = walk->slot % 4;
        if (k == 0) {
            decode_set(walk->mesh, walk->slot / 4, walk->vertex, walk->joints, walk->weights,
                       &walk->rest);
        }
        walk->slot++;
        if (walk->weights[k] > 0.0f) {
            *joint = walk->joints[k];
            *weight = walk->weights[k];
            return true;
        }
    }
    *joint = walk->implied_joint;
    *weight = walk->rest;
    return walk->slot++ == slots;
}

#endif
