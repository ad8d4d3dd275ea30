/* The GPU backend as its own files see it. */
#ifndef PELT_CLI_BACKEND_VULKAN_STATE_H
#define PELT_CLI_BACKEND_VULKAN_STATE_H

#include "cli/backend_vulkan.h"

#include <pelt/history.h>

typedef struct pelt_backend_functions {
    PFN_vkCmdPipelineBarrier cmd_pipeline_barrier;
    PFN_vkCmdCopyBuffer cmd_copy_buffer;
    PFN_vkCreateQueryPool create_query_pool;
    PFN_vkDestroyQueryPool destroy_query_pool;
    PFN_vkCmdResetQueryPool cmd_reset_query_pool;
    PFN_vkCmdWriteTimestamp cmd_write_timestamp;
    PFN_vkGetQueryPoolResults get_query_pool_results;
} pelt_backend_functions;

typedef struct pelt_backend_vulkan_state {
    pelt_backend base;
    const pelt_host *host;
    const pelt_character *character;
    const pelt_batch *batch;
    bool keep_on_gpu, joint_boxes;
    pelt_history *history; /* of keep_previous, else NULL: vertices then has two slots */

    pelt_headless *device;
    pelt_backend_functions vk;
    pelt_skin_pass *pass;
    VkQueryPool queries; /* two timestamps, or VK_NULL_HANDLE */

    /* The source meshes, once. */
    pelt_buffer mesh_buffer, bind_buffer;
    pelt_gpu_mesh *meshes;
    size_t *bind_offsets; /* of each mesh's joint boxes, in boxes */

    /* A batch. Written by the host and copied: matrices, morphed streams, joint boxes of those. */
    pelt_buffer input_staging, input;
    pelt_buffer table, joint_table, scratch;
    pelt_buffer vertices, tangents, boxes, joint_boxes_out;
    pelt_buffer vertices_read, tangents_read, boxes_read, joint_boxes_read;
    pelt_gpu_instance *instances;
    VkDeviceAddress *previous; /* of each instance's vertices, in the batch before */
    pelt_gpu_joint_box_instance *joint_instances;
    size_t instance_room;
} pelt_backend_vulkan_state;

/* batch_vulkan.c: makes room for a batch's inputs and outputs; writes the inputs to where the GPU
 * copies them from, and the tables. */
pelt_result pelt_batch_vulkan_describe(pelt_backend_vulkan_state *backend, const pelt_batch *batch,
                                       pelt_skin_tables *tables);

/* Records all that the GPU does for a batch that was described. */
void pelt_batch_vulkan_record(pelt_backend_vulkan_state *backend, const pelt_batch *batch,
                              const pelt_skin_tables *tables, VkCommandBuffer commands);

#endif
