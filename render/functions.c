/* The table of entry points, through the device's own loader. */
#include "render/internal.h"

static const pelt_entry_point entry_points[] = {
    { "vkCreateImage", offsetof(pelt_render_functions, create_image) },
    { "vkDestroyImage", offsetof(pelt_render_functions, destroy_image) },
    { "vkGetImageMemoryRequirements",
      offsetof(pelt_render_functions, get_image_memory_requirements) },
    { "vkAllocateMemory", offsetof(pelt_render_functions, allocate_memory) },
    { "vkFreeMemory", offsetof(pelt_render_functions, free_memory) },
    { "vkBindImageMemory", offsetof(pelt_render_functions, bind_image_memory) },
    { "vkCreateImageView", offsetof(pelt_render_functions, create_image_view) },
    { "vkDestroyImageView", offsetof(pelt_render_functions, destroy_image_view) },
    { "vkCreateSampler", offsetof(pelt_render_functions, create_sampler) },
    { "vkDestroySampler", offsetof(pelt_render_functions, destroy_sampler) },
    { "vkCreateDescriptorSetLayout",
      offsetof(pelt_render_functions, create_descriptor_set_layout) },
    { "vkDestroyDescriptorSetLayout",
      offsetof(pelt_render_functions, destroy_descriptor_set_layout) },
    { "vkCreateDescriptorPool", offsetof(pelt_render_functions, create_descriptor_pool) },
    { "vkDestroyDescriptorPool", offsetof(pelt_render_functions, destroy_descriptor_pool) },
    { "vkAllocateDescriptorSets", offsetof(pelt_render_functions, allocate_descriptor_sets) },
    { "vkUpdateDescriptorSets", offsetof(pelt_render_functions, update_descriptor_sets) },
    { "vkCreatePipelineLayout", offsetof(pelt_render_functions, create_pipeline_layout) },
    { "vkDestroyPipelineLayout", offsetof(pelt_render_functions, destroy_pipeline_layout) },
    { "vkCreateShaderModule", offsetof(pelt_render_functions, create_shader_module) },
    { "vkDestroyShaderModule", offsetof(pelt_render_functions, destroy_shader_module) },
    { "vkCreateGraphicsPipelines", offsetof(pelt_render_functions, create_graphics_pipelines) },
    { "vkDestroyPipeline", offsetof(pelt_render_functions, destroy_pipeline) },
    { "vkCreateQueryPool", offsetof(pelt_render_functions, create_query_pool) },
    { "vkDestroyQueryPool", offsetof(pelt_render_functions, destroy_query_pool) },
    { "vkGetQueryPoolResults", offsetof(pelt_render_functions, get_query_pool_results) },
    { "vkCmdResetQueryPool", offsetof(pelt_render_functions, cmd_reset_query_pool) },
    { "vkCmdWriteTimestamp2", offsetof(pelt_render_functions, cmd_write_timestamp2) },
    { "vkCmdPipelineBarrier2", offsetof(pelt_render_functions, cmd_pipeline_barrier2) },
    { "vkCmdBeginRendering", offsetof(pelt_render_functions, cmd_begin_rendering) },
    { "vkCmdEndRendering", offsetof(pelt_render_functions, cmd_end_rendering) },
    { "vkCmdSetViewport", offsetof(pelt_render_functions, cmd_set_viewport) },
    { "vkCmdSetScissor", offsetof(pelt_render_functions, cmd_set_scissor) },
    { "vkCmdBindPipeline", offsetof(pelt_render_functions, cmd_bind_pipeline) },
    { "vkCmdBindDescriptorSets", offsetof(pelt_render_functions, cmd_bind_descriptor_sets) },
    { "vkCmdBindIndexBuffer", offsetof(pelt_render_functions, cmd_bind_index_buffer) },
    { "vkCmdPushConstants", offsetof(pelt_render_functions, cmd_push_constants) },
    { "vkCmdDraw", offsetof(pelt_render_functions, cmd_draw) },
    { "vkCmdDrawIndexed", offsetof(pelt_render_functions, cmd_draw_indexed) },
    { "vkCmdDrawIndexedIndirect", offsetof(pelt_render_functions, cmd_draw_indexed_indirect) },
    { "vkCmdCopyBufferToImage", offsetof(pelt_render_functions, cmd_copy_buffer_to_image) },
    { "vkCmdCopyImageToBuffer", offsetof(pelt_render_functions, cmd_copy_image_to_buffer) },
    { "vkCmdBlitImage", offsetof(pelt_render_functions, cmd_blit_image) },
};

enum { ENTRY_COUNT = sizeof(entry_points) / sizeof(entry_points[0]) };

_Static_assert(offsetof(pelt_render_functions, cmd_draw_mesh_tasks) ==
                   ENTRY_COUNT * sizeof(PFN_vkVoidFunction),
               "every function has its row");

pelt_result pelt_render_load_functions(const pelt_host *host, const pelt_headless *device,
                                       pelt_render_functions *out)
{
    VkDevice handle = device->vulkan.device;
    out->cmd_draw_mesh_tasks = NULL;
    if (device->mesh_shader && device->task_shader) {
        out->cmd_draw_mesh_tasks = (PFN_vkCmdDrawMeshTasksEXT)device->get_device_proc_addr(
            handle, "vkCmdDrawMeshTasksEXT");
    }
    return pelt_load_entry_points(host, device->get_device_proc_addr, handle, entry_points,
                                  ENTRY_COUNT, out);
}
