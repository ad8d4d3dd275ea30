/* How a scene is skinned best: decided from what its instances have in common and add up to. */
#ifndef PELT_SRC_VULKAN_SKIN_PLAN_H
#define PELT_SRC_VULKAN_SKIN_PLAN_H

#include "vulkan/skin_pass.h"

typedef struct skin_plan {
    uint32_t permutation;    /* index into pelt_skin_permutations */
    uint32_t chunk_vertices; /* most of a chunk */
    uint32_t team_bits;
} skin_plan;

/* Counts skipped instances, too, lest skipping change the sizes of tables; ignores instances of
 * meshes that do not exist. */
skin_plan pelt_plan_skinning(const pelt_skin_pass *pass, const pelt_skin_tables_info *info);

/* Position and normal in one 16-byte vertex. */
bool pelt_is_interleaved(const pelt_gpu_instance *instance);

/* There and wanted. */
bool pelt_has_tangents(const pelt_gpu_mesh *mesh, const pelt_gpu_instance *instance);

#endif
