/* A ray pass as its own files see it. */
#ifndef PELT_SRC_VULKAN_RAY_PASS_H
#define PELT_SRC_VULKAN_RAY_PASS_H

#include "vulkan/compute.h"

#include <pelt/ray.h>

struct pelt_ray_pass {
    pelt_compute compute; /* without a layout */
    pelt_ray_functions functions;
    pelt_ray_limits limits;
};

/* address, or the next one that is a multiple of alignment, a power of two. */
static inline uint64_t pelt_align(uint64_t address, uint64_t alignment)
{
    return (address + alignment - 1) & ~(alignment - 1);
}

/* Whether Vulkan would take geometry index of a structure, which messages number if it has a
 * number. Errors: PELT_ERROR_ARGUMENT. */
pelt_result pelt_ray_check_geometry(const pelt_host *host, const uint32_t *structure,
                                    uint32_t index, const pelt_ray_geometry *geometry);

VkBuildAccelerationStructureFlagsKHR pelt_ray_flags(pelt_ray_use use);

#endif
