/* What a scene's structures were built of, and what is planned for them. */
#ifndef PELT_SRC_VULKAN_RAY_SCENE_H
#define PELT_SRC_VULKAN_RAY_SCENE_H

#include "vulkan/ray_pass.h"

/* All of a geometry that may not differ between a build and its refits. Positions may. */
typedef struct ray_key {
    VkDeviceAddress indices;
    uint64_t content;
    uint32_t vertex_count;
    uint32_t triangle_count; /* 0: inactive */
    VkIndexType index_type;
    VkGeometryFlagsKHR flags;
} ray_key;

/* One structure, from frame to frame. */
typedef struct ray_slot {
    bool present;           /* in the last plan */
    bool built;             /* the handle holds a structure of use and keys */
    bool outdated;          /* it was to be refitted, but that was not recorded */
    pelt_ray_action action; /* of the last plan */
    pelt_ray_use use;
    VkAccelerationStructureKHR handle;
    VkDeviceAddress address;
    uint32_t key_count;
    uint32_t key_capacity;
    ray_key *keys;

    /* Refits since the last build. Builds that the rules demand begin at phase instead of 0, so
     * that structures of the same age are not due at once. */
    uint32_t refits;
    uint32_t phase;
} ray_slot;

/* A structure that is due for a rebuild. */
typedef struct ray_due {
    uint32_t refits;
    uint32_t index;
} ray_due;

struct pelt_ray_scene {
    const pelt_host *host;
    pelt_ray_limits limits;
    ray_slot *slots;
    uint32_t slot_count; /* of the last plan */
    uint32_t slot_capacity;

    /* The last plan until it is recorded; then info_count is 0. Scratch addresses are offsets. */
    VkAccelerationStructureBuildGeometryInfoKHR *infos;
    const VkAccelerationStructureBuildRangeInfoKHR **info_ranges;
    uint32_t *batch_ends; /* infos up to the end of each batch */
    uint32_t info_count;
    uint32_t info_capacity;
    uint32_t batch_count;
    VkAccelerationStructureGeometryKHR *geometries;
    VkAccelerationStructureBuildRangeInfoKHR *ranges;
    uint32_t geometry_capacity;
    ray_due *due;
    uint32_t due_capacity;
};

/* How many refits a structure is ahead of others that are built at once: spread evenly from 0 to
 * interval, neighbours far apart. */
uint32_t pelt_ray_phase(uint32_t index, uint32_t interval);

#endif
