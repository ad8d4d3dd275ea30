/* SPDX-License-Identifier: MIT */
/* pelt/vulkan_open.h: a headless Vulkan device with the few helpers that the tool, the tests and
 * the examples share. Engines have their own; nothing in pelt/vulkan.h needs this.
 */
#ifndef PELT_VULKAN_OPEN_H
#define PELT_VULKAN_OPEN_H

#include <pelt/vulkan.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pelt_headless_info {
    const char *device; /* part of a device's name, any case; NULL: PELT_DEVICE from the
                         * environment, else a discrete GPU before others, software last */
    bool validation; /* VK_LAYER_KHRONOS_validation with synchronisation validation, if installed;
                      * what it says goes to host->message as errors and is counted. Not
                      * installed: a warning, and pelt_headless.validation stays false */
} pelt_headless_info;

/* An open device: one queue for graphics, compute and transfer (compute alone where that is all a
 * device has). Enabled where the device has them: every feature of Vulkan 1.2 and 1.3 that pelt
 * uses, mesh shaders, acceleration structures, ray pipelines, ray queries. */
typedef struct pelt_headless {
    pelt_vulkan vulkan;
    PFN_vkGetDeviceProcAddr get_device_proc_addr;
    VkQueue queue;
    uint32_t queue_family;
    VkQueueFlags queue_flags; /* without GRAPHICS_BIT where the device can only compute */
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory;
    char driver[128]; /* driver name and version in words */
    uint32_t subgroup_size;
    bool is_software;       /* VK_PHYSICAL_DEVICE_TYPE_CPU */
    bool dynamic_rendering; /* Vulkan 1.3 dynamicRendering and synchronization2 */
    bool mesh_shader, task_shader;
    bool acceleration_structure, ray_tracing_pipeline, ray_query;
    bool validation;              /* the layer is on */
    float timestamp_period;       /* nanoseconds a tick; 0: no timestamps on this queue */
    uint32_t validation_messages; /* so far */
    const pelt_host *host;
    struct pelt_headless_private *private_data;
} pelt_headless;

/* Errors: PELT_ERROR_DEVICE (no loader, no device, or none that has what pelt needs: named),
 * PELT_ERROR_VULKAN, PELT_ERROR_MEMORY. The loader is opened at run time. */
PELT_API pelt_result pelt_vulkan_open(const pelt_host *host, const pelt_headless_info *info,
                                      pelt_headless **out);
PELT_API void pelt_vulkan_close(pelt_headless *device);

typedef enum pelt_memory_kind {
    PELT_MEMORY_DEVICE,  /* device-local; not mapped */
    PELT_MEMORY_UPLOAD,  /* host-visible and coherent, mapped */
    PELT_MEMORY_READBACK /* host-visible, coherent, cached where there is such memory; mapped */
} pelt_memory_kind;

typedef struct pelt_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize size;
    VkDeviceAddress address;
    void *mapped; /* NULL for PELT_MEMORY_DEVICE */
} pelt_buffer;

/* usage is joined with SHADER_DEVICE_ADDRESS, STORAGE_BUFFER, TRANSFER_SRC and TRANSFER_DST.
 * size 0 is taken as 16. Errors: PELT_ERROR_VULKAN, PELT_ERROR_MEMORY, PELT_ERROR_DEVICE (no such
 * memory); *out is zeroed then. */
PELT_API pelt_result pelt_buffer_create(pelt_headless *device, VkDeviceSize size,
                                        VkBufferUsageFlags usage, pelt_memory_kind kind,
                                        pelt_buffer *out);
PELT_API void pelt_buffer_destroy(pelt_headless *device, pelt_buffer *buffer); /* and zeroes it */

/* Copies bytes into a buffer, or out of one, and waits; mapped ones need no transfer. offset and
 * size: multiples of 4. A command buffer of pelt_commands_begin then sees what was uploaded; one of
 * your own first needs a barrier from TRANSFER / TRANSFER_WRITE to what reads it. Errors:
 * PELT_ERROR_ARGUMENT (not whole words within the buffer), and those of pelt_buffer_create and
 * pelt_commands_submit. */
PELT_API pelt_result pelt_buffer_upload(pelt_headless *device, const pelt_buffer *buffer,
                                        VkDeviceSize offset, const void *bytes, VkDeviceSize size);
PELT_API pelt_result pelt_buffer_download(pelt_headless *device, const pelt_buffer *buffer,
                                          VkDeviceSize offset, void *bytes, VkDeviceSize size);

/* One command buffer at a time: begin, record, submit and wait. All that was submitted before is
 * visible to it without a barrier, and all it wrote to the host after it; barriers between its own
 * commands are the caller's. Beginning again drops what was recorded and not submitted. Uploads and
 * downloads may come in between. Errors: PELT_ERROR_VULKAN, PELT_ERROR_MEMORY. */
PELT_API pelt_result pelt_commands_begin(pelt_headless *device, VkCommandBuffer *out);
PELT_API pelt_result pelt_commands_submit(pelt_headless *device, VkCommandBuffer commands);

#ifdef __cplusplus
}
#endif
#endif
