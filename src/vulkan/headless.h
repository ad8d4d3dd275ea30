/* What a pelt_headless keeps to itself. */
#ifndef PELT_SRC_VULKAN_HEADLESS_H
#define PELT_SRC_VULKAN_HEADLESS_H

#include "vulkan/functions.h"

#include <pelt/vulkan_open.h>

/* A pool with its one command buffer. */
typedef struct pelt_recorder {
    VkCommandPool pool;
    VkCommandBuffer commands;
} pelt_recorder;

struct pelt_headless_private {
    void *loader;
    uint32_t api_version; /* of the instance */
    PFN_vkDestroyDebugUtilsMessengerEXT destroy_messenger;
    VkDebugUtilsMessengerEXT messenger;
    pelt_instance_functions instance;
    pelt_device_functions functions;
    pelt_recorder recorder;  /* of pelt_commands_begin */
    pelt_recorder transfers; /* of uploads and downloads, which may come while the other records */
    VkFence fence;
};

/* Chooses a physical device and creates the logical one; fills everything that describes it. */
pelt_result pelt_headless_open_device(pelt_headless *device, const char *name);

/* The recorders and the fence. Destroying works for a part of them too. */
pelt_result pelt_headless_create_commands(pelt_headless *device);
void pelt_headless_destroy_commands(pelt_headless *device);

pelt_result pelt_recorder_begin(pelt_headless *device, const pelt_recorder *recorder);
pelt_result pelt_recorder_submit(pelt_headless *device, VkCommandBuffer commands);

#endif
