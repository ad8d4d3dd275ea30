/* What pelt render needs of the GPU backend beyond the common interface. */
#ifndef PELT_CLI_BACKEND_VULKAN_H
#define PELT_CLI_BACKEND_VULKAN_H

#ifdef PELT_HAVE_VULKAN

#include "cli/backend.h"

#include <pelt/vulkan_open.h>

/* Opens the device as every command does: PELT_DEVICE and PELT_VALIDATION are heeded. */
pelt_result pelt_open_device(const pelt_host *host, pelt_headless **out);

/* The device's name, with its driver. */
void pelt_describe_device(const pelt_headless *device, char *out, size_t size);

/* The backend's device; it closes it. */
pelt_headless *pelt_backend_vulkan_device(pelt_backend *base);

/* Where the last batch's vertices of a member's part lie: pelt_packed_vertex each. */
VkDeviceAddress pelt_backend_vulkan_vertices(const pelt_backend *base, uint32_t member,
                                             uint32_t part);

/* Where else of it is: matrices, morphed streams, box. */
const pelt_gpu_instance *pelt_backend_vulkan_instance(const pelt_backend *base, uint32_t member,
                                                      uint32_t part);

/* Where those of the batch before lie, which was as large; the same where there was none. Needs
 * keep_previous. */
VkDeviceAddress pelt_backend_vulkan_previous(const pelt_backend *base, uint32_t member,
                                             uint32_t part);

#endif
#endif
