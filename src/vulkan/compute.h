/* What all passes of compute shaders are made of: the device, a layout with push constants alone,
 * pipelines, and dispatches of any number of workgroups. */
#ifndef PELT_SRC_VULKAN_COMPUTE_H
#define PELT_SRC_VULKAN_COMPUTE_H

#include "vulkan/functions.h"

typedef struct pelt_compute {
    const pelt_host *host;
    pelt_vulkan vulkan;
    pelt_device_functions functions;
    VkPipelineLayout layout;
} pelt_compute;

/* A shader and where its specialisation constants lie in a value. */
typedef struct pelt_compute_shader {
    const uint32_t *code;
    size_t code_size;
    const VkSpecializationMapEntry *entries;
    uint32_t entry_count;
} pelt_compute_shader;

enum { PELT_COMPUTE_PIPELINES_MAX = 32 }; /* created at once */

/* Whether the caller has given all that a pass ("the skin pass") needs. Errors:
 * PELT_ERROR_ARGUMENT. */
pelt_result pelt_compute_check(const pelt_host *host, const pelt_vulkan *vulkan, const char *name);

/* Fills all but the layout. Vulkan 1.2 and bufferDeviceAddress must be there, or PELT_ERROR_DEVICE.
 * instance, properties: out. */
pelt_result pelt_compute_open(const pelt_host *host, const pelt_vulkan *vulkan, const char *name,
                              pelt_compute *self, pelt_instance_functions *instance,
                              VkPhysicalDeviceProperties *properties);

/* Whether the device has workgroups of so many invocations, and as many of them as Vulkan says. */
bool pelt_compute_has_groups(const VkPhysicalDeviceLimits *limits, uint32_t invocations);

pelt_result pelt_compute_create_layout(pelt_compute *self, uint32_t constants_size);

/* Creates count pipelines, one for each of values, value_size bytes each. Those that fail are
 * VK_NULL_HANDLE in out. */
pelt_result pelt_compute_create_pipelines(const pelt_compute *self, VkPipelineCache cache,
                                          const pelt_compute_shader *shader, const void *values,
                                          size_t value_size, uint32_t count, VkPipeline *out);

/* Destroys pipelines and the layout; nothing if it was never opened. */
void pelt_compute_destroy(const pelt_compute *self, const VkPipeline *pipelines, uint32_t count);

/* Constants stay as they are until they are pushed anew. */
void pelt_compute_push(const pelt_compute *self, VkCommandBuffer commands, const void *constants,
                       uint32_t size);

/* Binds and dispatches count workgroups, in two dimensions where they are more than one holds: some
 * may then be too many, see shaders/pelt/group.glsl. */
void pelt_compute_dispatch(const pelt_compute *self, VkCommandBuffer commands, VkPipeline pipeline,
                           uint32_t count);

/* What one dispatch wrote becomes visible to the next. */
void pelt_compute_barrier(const pelt_compute *self, VkCommandBuffer commands);

#endif
