/* What is drawn into: a picture and its depth, and the functions of Vulkan that it takes. */
#ifndef PELT_BENCH_TARGET_H
#define PELT_BENCH_TARGET_H

#include "bench/internal.h"

typedef struct pelt_bench_target_functions {
    PFN_vkCreateImage create_image;
    PFN_vkDestroyImage destroy_image;
    PFN_vkGetImageMemoryRequirements get_image_memory_requirements;
    PFN_vkAllocateMemory allocate_memory;
    PFN_vkFreeMemory free_memory;
    PFN_vkBindImageMemory bind_image_memory;
    PFN_vkCreateImageView create_image_view;
    PFN_vkDestroyImageView destroy_image_view;
    PFN_vkCreateGraphicsPipelines create_graphics_pipelines;
    PFN_vkCmdBeginRendering cmd_begin_rendering;
    PFN_vkCmdEndRendering cmd_end_rendering;
    PFN_vkCmdSetCullMode cmd_set_cull_mode;
    PFN_vkCmdCopyImageToBuffer cmd_copy_image_to_buffer;
} pelt_bench_target_functions;

typedef struct pelt_bench_image {
    VkImage image;
    VkDeviceMemory memory;
    VkImageView view;
} pelt_bench_image;

typedef struct pelt_bench_target {
    pelt_bench *bench;
    pelt_bench_target_functions vk;
    uint32_t width, height;
    pelt_bench_image color, depth;
    pelt_buffer pixels; /* 4 x width x height bytes, of pelt_bench_target_fetch */
} pelt_bench_target;

/* Whether the device can draw at all. */
bool pelt_bench_can_draw(const pelt_headless *device);

pelt_result pelt_bench_target_create(pelt_bench *bench, uint32_t width, uint32_t height,
                                     pelt_bench_target *out);
void pelt_bench_target_destroy(pelt_bench_target *target);

/* An image of colours of the caller's; layers: 0 for one that is no array. */
pelt_result pelt_bench_image_create(const pelt_bench_target *target, VkFormat format,
                                    VkImageUsageFlags usage, uint32_t width, uint32_t height,
                                    uint32_t layers, pelt_bench_image *out);
void pelt_bench_image_destroy(const pelt_bench_target *target, const pelt_bench_image *image);

/* Waits for everything: nothing that is measured has it inside. */
void pelt_bench_image_change(const pelt_bench_target *target, VkCommandBuffer commands,
                             VkImage image, VkImageLayout from, VkImageLayout to);

/* A pipeline of triangles with depth test, of these stages. */
pelt_result pelt_bench_target_pipeline(const pelt_bench_target *target, VkPipelineLayout layout,
                                       const VkPipelineShaderStageCreateInfo *stages,
                                       uint32_t stage_count, VkPipeline *out);

/* Clears it; draws come between. Both sides of triangles are drawn, or none where pixels are not
 * wanted. */
void pelt_bench_target_begin(const pelt_bench_target *target, bool pixels,
                             VkCommandBuffer commands);
void pelt_bench_target_end(const pelt_bench_target *target, VkCommandBuffer commands);

/* Records the copy of the picture, behind a barrier. */
void pelt_bench_target_fetch(const pelt_bench_target *target, VkCommandBuffer commands);

#endif
