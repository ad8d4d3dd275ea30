/* A skin pass as its own files see it. */
#ifndef PELT_SRC_VULKAN_SKIN_PASS_H
#define PELT_SRC_VULKAN_SKIN_PASS_H

#include "vulkan/functions.h"

/* Permutations of the skin shader: the most sets that any mesh of the scene has (one, two, any),
 * times two for 16-bit joints in any of them, times two for small groups. */
enum { PELT_PERMUTATION_COUNT = 12 };

static inline uint32_t pelt_permutation(uint32_t most_sets, bool any_joints_16, bool small_groups)
{
    uint32_t sets = most_sets <= 2 ? most_sets - 1 : 2;
    return 4 * sets + 2 * any_joints_16 + small_groups;
}

struct pelt_skin_pass {
    const pelt_host *host;
    pelt_vulkan vulkan;
    pelt_device_functions functions;
    uint32_t chunk_vertices;
    uint32_t group_size;
    VkPipelineLayout layout;
    VkPipeline skin[PELT_PERMUTATION_COUNT];
    VkPipeline reduce_bounds;
    VkPipeline joint_boxes;
};

/* Binds, pushes constants (size bytes) and dispatches count workgroups, in two dimensions where
 * they are more than one holds. */
void pelt_dispatch(const pelt_skin_pass *pass, VkCommandBuffer commands, VkPipeline pipeline,
                   const void *constants, uint32_t size, uint32_t count);

#endif
