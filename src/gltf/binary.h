/* The binary chunk of a .glb that is being written: a list of views first, so that the JSON in
 * front can name their places, then their bytes, a few kilobytes at a time. */
#ifndef PELT_SRC_GLTF_BINARY_H
#define PELT_SRC_GLTF_BINARY_H

#include "base/base.h"

#include <pelt/model.h>

typedef enum pelt_view_kind {
    PELT_VIEW_RAW,      /* source as it is */
    PELT_VIEW_NORMALS,  /* 3 floats, made unit: glTF allows no other */
    PELT_VIEW_TANGENTS, /* 4 floats, the same, w +1 or -1 */
    PELT_VIEW_COLORS,   /* 4 floats, clamped to [0, 1] */
    PELT_VIEW_INDICES_16,
    PELT_VIEW_JOINTS_8, /* one set of four of the primitive's */
    PELT_VIEW_JOINTS_16,
    PELT_VIEW_WEIGHTS,
    PELT_VIEW_MATRICES /* rows of 3x4 to columns of 4x4 */
} pelt_view_kind;

typedef struct pelt_view {
    pelt_view_kind kind;
    const void *source;
    const pelt_primitive *primitive; /* instead of source, for joints and weights */
    uint32_t set;
    size_t count;        /* elements */
    size_t element_size; /* bytes, as written */
    uint32_t target;     /* bufferView.target, 0: none */
    uint64_t offset;     /* set by pelt_binary_add */
} pelt_view;

typedef struct pelt_binary {
    const pelt_host *host;
    pelt_view *views;
    uint32_t count, capacity;
    uint64_t size; /* bytes, a multiple of 4 */
} pelt_binary;

/* false: no memory. */
bool pelt_binary_add(pelt_binary *binary, const pelt_view *view);
pelt_result pelt_binary_write(const pelt_binary *binary, pelt_output *output);
void pelt_binary_release(pelt_binary *binary);

/* The joint and weight of one slot of a vertex as a valid file has them: a joint counts once, slots
 * without weight name joint 0, the sum is 1 within glTF's threshold. */
void pelt_written_influence(const pelt_primitive *primitive, uint32_t vertex, uint32_t slot,
                            uint16_t *joint, float *weight);

#endif
