/* Vulkan entry points, looked up through the caller's loader: pelt links to none. */
#ifndef PELT_SRC_VULKAN_FUNCTIONS_H
#define PELT_SRC_VULKAN_FUNCTIONS_H

#include "base/base.h"

#include <pelt/vulkan.h>

/* One row an entry point: its name and where its pointer goes in a table of them. */
typedef struct pelt_entry_point {
    const char *name;
    size_t offset;
} pelt_entry_point;

typedef struct pelt_instance_functions {
    PFN_vkDestroyInstance destroy_instance;
    PFN_vkEnumeratePhysicalDevices enumerate_physical_devices;
    PFN_vkGetPhysicalDeviceProperties get_physical_device_properties;
    PFN_vkGetPhysicalDeviceProperties2 get_physical_device_properties2;
    PFN_vkGetPhysicalDeviceFeatures2 get_physical_device_features2;
    PFN_vkGetPhysicalDeviceMemoryProperties get_physical_device_memory_properties;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties get_physical_device_queue_family_properties;
    PFN_vkEnumerateDeviceExtensionProperties enumerate_device_extension_properties;
    PFN_vkCreateDevice create_device;
    PFN_vkGetDeviceProcAddr get_device_proc_addr;
} pelt_instance_functions;

typedef struct pelt_device_functions {
    PFN_vkDestroyDevice destroy_device;
    PFN_vkGetDeviceQueue get_device_queue;
    PFN_vkDeviceWaitIdle device_wait_idle;

    PFN_vkCreateBuffer create_buffer;
    PFN_vkDestroyBuffer destroy_buffer;
    PFN_vkGetBufferMemoryRequirements get_buffer_memory_requirements;
    PFN_vkAllocateMemory allocate_memory;
    PFN_vkFreeMemory free_memory;
    PFN_vkBindBufferMemory bind_buffer_memory;
    PFN_vkMapMemory map_memory;
    PFN_vkGetBufferDeviceAddress get_buffer_device_address;

    PFN_vkCreateCommandPool create_command_pool;
    PFN_vkDestroyCommandPool destroy_command_pool;
    PFN_vkResetCommandPool reset_command_pool;
    PFN_vkAllocateCommandBuffers allocate_command_buffers;
    PFN_vkBeginCommandBuffer begin_command_buffer;
    PFN_vkEndCommandBuffer end_command_buffer;
    PFN_vkCreateFence create_fence;
    PFN_vkDestroyFence destroy_fence;
    PFN_vkResetFences reset_fences;
    PFN_vkWaitForFences wait_for_fences;
    PFN_vkQueueSubmit queue_submit;

    PFN_vkCreateShaderModule create_shader_module;
    PFN_vkDestroyShaderModule destroy_shader_module;
    PFN_vkCreatePipelineLayout create_pipeline_layout;
    PFN_vkDestroyPipelineLayout destroy_pipeline_layout;
    PFN_vkCreateComputePipelines create_compute_pipelines;
    PFN_vkDestroyPipeline destroy_pipeline;

    PFN_vkCmdBindPipeline cmd_bind_pipeline;
    PFN_vkCmdPushConstants cmd_push_constants;
    PFN_vkCmdDispatch cmd_dispatch;
    PFN_vkCmdDispatchIndirect cmd_dispatch_indirect;
    PFN_vkCmdPipelineBarrier cmd_pipeline_barrier;
    PFN_vkCmdCopyBuffer cmd_copy_buffer;
} pelt_device_functions;

/* Of VK_KHR_acceleration_structure. */
typedef struct pelt_ray_functions {
    PFN_vkCreateAccelerationStructureKHR create_acceleration_structure;
    PFN_vkDestroyAccelerationStructureKHR destroy_acceleration_structure;
    PFN_vkGetAccelerationStructureDeviceAddressKHR get_acceleration_structure_device_address;
    PFN_vkGetAccelerationStructureBuildSizesKHR get_acceleration_structure_build_sizes;
    PFN_vkCmdBuildAccelerationStructuresKHR cmd_build_acceleration_structures;
} pelt_ray_functions;

/* Errors: PELT_ERROR_DEVICE naming an entry point that the loader does not have. */
pelt_result pelt_load_instance_functions(const pelt_host *host,
                                         PFN_vkGetInstanceProcAddr get_instance_proc_addr,
                                         VkInstance instance, pelt_instance_functions *out);
pelt_result pelt_load_device_functions(const pelt_host *host,
                                       PFN_vkGetDeviceProcAddr get_device_proc_addr,
                                       VkDevice device, pelt_device_functions *out);
pelt_result pelt_load_ray_functions(const pelt_host *host,
                                    PFN_vkGetDeviceProcAddr get_device_proc_addr, VkDevice device,
                                    pelt_ray_functions *out);

/* The device's into a table of the caller's. */
pelt_result pelt_load_entry_points(const pelt_host *host,
                                   PFN_vkGetDeviceProcAddr get_device_proc_addr, VkDevice device,
                                   const pelt_entry_point *entries, size_t count, void *table);

/* Reports that call gave result; PELT_ERROR_MEMORY where memory of the host or the device
 * does not suffice, else PELT_ERROR_VULKAN. */
pelt_result pelt_vulkan_fail(const pelt_host *host, VkResult result, const char *call);

#endif
