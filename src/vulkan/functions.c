#include "vulkan/functions.h"

#include <string.h>

static const pelt_entry_point instance_entry_points[] = {
    { "vkDestroyInstance", offsetof(pelt_instance_functions, destroy_instance) },
    { "vkEnumeratePhysicalDevices", offsetof(pelt_instance_functions, enumerate_physical_devices) },
    { "vkGetPhysicalDeviceProperties",
      offsetof(pelt_instance_functions, get_physical_device_properties) },
    { "vkGetPhysicalDeviceProperties2",
      offsetof(pelt_instance_functions, get_physical_device_properties2) },
    { "vkGetPhysicalDeviceFeatures2",
      offsetof(pelt_instance_functions, get_physical_device_features2) },
    { "vkGetPhysicalDeviceMemoryProperties",
      offsetof(pelt_instance_functions, get_physical_device_memory_properties) },
    { "vkGetPhysicalDeviceQueueFamilyProperties",
      offsetof(pelt_instance_functions, get_physical_device_queue_family_properties) },
    { "vkEnumerateDeviceExtensionProperties",
      offsetof(pelt_instance_functions, enumerate_device_extension_properties) },
    { "vkCreateDevice", offsetof(pelt_instance_functions, create_device) },
    { "vkGetDeviceProcAddr", offsetof(pelt_instance_functions, get_device_proc_addr) },
};

static const pelt_entry_point device_entry_points[] = {
    { "vkDestroyDevice", offsetof(pelt_device_functions, destroy_device) },
    { "vkGetDeviceQueue", offsetof(pelt_device_functions, get_device_queue) },
    { "vkDeviceWaitIdle", offsetof(pelt_device_functions, device_wait_idle) },
    { "vkCreateBuffer", offsetof(pelt_device_functions, create_buffer) },
    { "vkDestroyBuffer", offsetof(pelt_device_functions, destroy_buffer) },
    { "vkGetBufferMemoryRequirements",
      offsetof(pelt_device_functions, get_buffer_memory_requirements) },
    { "vkAllocateMemory", offsetof(pelt_device_functions, allocate_memory) },
    { "vkFreeMemory", offsetof(pelt_device_functions, free_memory) },
    { "vkBindBufferMemory", offsetof(pelt_device_functions, bind_buffer_memory) },
    { "vkMapMemory", offsetof(pelt_device_functions, map_memory) },
    { "vkGetBufferDeviceAddress", offsetof(pelt_device_functions, get_buffer_device_address) },
    { "vkCreateCommandPool", offsetof(pelt_device_functions, create_command_pool) },
    { "vkDestroyCommandPool", offsetof(pelt_device_functions, destroy_command_pool) },
    { "vkResetCommandPool", offsetof(pelt_device_functions, reset_command_pool) },
    { "vkAllocateCommandBuffers", offsetof(pelt_device_functions, allocate_command_buffers) },
    { "vkBeginCommandBuffer", offsetof(pelt_device_functions, begin_command_buffer) },
    { "vkEndCommandBuffer", offsetof(pelt_device_functions, end_command_buffer) },
    { "vkCreateFence", offsetof(pelt_device_functions, create_fence) },
    { "vkDestroyFence", offsetof(pelt_device_functions, destroy_fence) },
    { "vkResetFences", offsetof(pelt_device_functions, reset_fences) },
    { "vkWaitForFences", offsetof(pelt_device_functions, wait_for_fences) },
    { "vkQueueSubmit", offsetof(pelt_device_functions, queue_submit) },
    { "vkCreateShaderModule", offsetof(pelt_device_functions, create_shader_module) },
    { "vkDestroyShaderModule", offsetof(pelt_device_functions, destroy_shader_module) },
    { "vkCreatePipelineLayout", offsetof(pelt_device_functions, create_pipeline_layout) },
    { "vkDestroyPipelineLayout", offsetof(pelt_device_functions, destroy_pipeline_layout) },
    { "vkCreateComputePipelines", offsetof(pelt_device_functions, create_compute_pipelines) },
    { "vkDestroyPipeline", offsetof(pelt_device_functions, destroy_pipeline) },
    { "vkCmdBindPipeline", offsetof(pelt_device_functions, cmd_bind_pipeline) },
    { "vkCmdPushConstants", offsetof(pelt_device_functions, cmd_push_constants) },
    { "vkCmdDispatch", offsetof(pelt_device_functions, cmd_dispatch) },
    { "vkCmdDispatchIndirect", offsetof(pelt_device_functions, cmd_dispatch_indirect) },
    { "vkCmdPipelineBarrier", offsetof(pelt_device_functions, cmd_pipeline_barrier) },
    { "vkCmdCopyBuffer", offsetof(pelt_device_functions, cmd_copy_buffer) },
};

static const pelt_entry_point ray_entry_points[] = {
    { "vkCreateAccelerationStructureKHR",
      offsetof(pelt_ray_functions, create_acceleration_structure) },
    { "vkDestroyAccelerationStructureKHR",
      offsetof(pelt_ray_functions, destroy_acceleration_structure) },
    { "vkGetAccelerationStructureDeviceAddressKHR",
      offsetof(pelt_ray_functions, get_acceleration_structure_device_address) },
    { "vkGetAccelerationStructureBuildSizesKHR",
      offsetof(pelt_ray_functions, get_acceleration_structure_build_sizes) },
    { "vkCmdBuildAccelerationStructuresKHR",
      offsetof(pelt_ray_functions, cmd_build_acceleration_structures) },
};

enum {
    INSTANCE_COUNT = sizeof(instance_entry_points) / sizeof(instance_entry_points[0]),
    DEVICE_COUNT = sizeof(device_entry_points) / sizeof(device_entry_points[0]),
    RAY_COUNT = sizeof(ray_entry_points) / sizeof(ray_entry_points[0])
};

_Static_assert(sizeof(pelt_instance_functions) == INSTANCE_COUNT * sizeof(PFN_vkVoidFunction),
               "every instance function has its row");
_Static_assert(sizeof(pelt_device_functions) == DEVICE_COUNT * sizeof(PFN_vkVoidFunction),
               "every device function has its row");
_Static_assert(sizeof(pelt_ray_functions) == RAY_COUNT * sizeof(PFN_vkVoidFunction),
               "every ray function has its row");

static pelt_result store(const pelt_host *host, const pelt_entry_point *entry,
                         PFN_vkVoidFunction function, void *table)
{
    if (!function) {
        return pelt_fail(host, PELT_ERROR_DEVICE, NULL, NULL, "the Vulkan loader has no %s",
                         entry->name);
    }
    memcpy((char *)table + entry->offset, &function, sizeof(function));
    return PELT_OK;
}

pelt_result pelt_load_instance_functions(const pelt_host *host,
                                         PFN_vkGetInstanceProcAddr get_instance_proc_addr,
                                         VkInstance instance, pelt_instance_functions *out)
{
    pelt_result result = PELT_OK;
    for (size_t i = 0; i < INSTANCE_COUNT && result == PELT_OK; i++) {
        const pelt_entry_point *entry = &instance_entry_points[i];
        result = store(host, entry, get_instance_proc_addr(instance, entry->name), out);
    }
    return result;
}

pelt_result pelt_load_entry_points(const pelt_host *host,
                                   PFN_vkGetDeviceProcAddr get_device_proc_addr, VkDevice device,
                                   const pelt_entry_point *entries, size_t count, void *table)
{
    pelt_result result = PELT_OK;
    for (size_t i = 0; i < count && result == PELT_OK; i++) {
        result = store(host, &entries[i], get_device_proc_addr(device, entries[i].name), table);
    }
    return result;
}

pelt_result pelt_load_device_functions(const pelt_host *host,
                                       PFN_vkGetDeviceProcAddr get_device_proc_addr,
                                       VkDevice device, pelt_device_functions *out)
{
    return pelt_load_entry_points(host, get_device_proc_addr, device, device_entry_points,
                                  DEVICE_COUNT, out);
}

pelt_result pelt_load_ray_functions(const pelt_host *host,
                                    PFN_vkGetDeviceProcAddr get_device_proc_addr, VkDevice device,
                                    pelt_ray_functions *out)
{
    pelt_result result = PELT_OK;
    for (size_t i = 0; i < RAY_COUNT && result == PELT_OK; i++) {
        const pelt_entry_point *entry = &ray_entry_points[i];
        PFN_vkVoidFunction function = get_device_proc_addr(device, entry->name);
        if (!function) {
            return pelt_fail(host, PELT_ERROR_DEVICE, NULL, NULL,
                             "the device has no %s: it was created without "
                             "VK_KHR_acceleration_structure",
                             entry->name);
        }
        result = store(host, entry, function, out);
    }
    return result;
}

static const char *result_name(VkResult result)
{
    switch (result) {
    case VK_NOT_READY:
        return "VK_NOT_READY";
    case VK_TIMEOUT:
        return "VK_TIMEOUT";
    case VK_INCOMPLETE:
        return "VK_INCOMPLETE";
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return "VK_ERROR_OUT_OF_HOST_MEMORY";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
    case VK_ERROR_INITIALIZATION_FAILED:
        return "VK_ERROR_INITIALIZATION_FAILED";
    case VK_ERROR_DEVICE_LOST:
        return "VK_ERROR_DEVICE_LOST";
    case VK_ERROR_MEMORY_MAP_FAILED:
        return "VK_ERROR_MEMORY_MAP_FAILED";
    case VK_ERROR_LAYER_NOT_PRESENT:
        return "VK_ERROR_LAYER_NOT_PRESENT";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
        return "VK_ERROR_EXTENSION_NOT_PRESENT";
    case VK_ERROR_FEATURE_NOT_PRESENT:
        return "VK_ERROR_FEATURE_NOT_PRESENT";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
        return "VK_ERROR_INCOMPATIBLE_DRIVER";
    case VK_ERROR_TOO_MANY_OBJECTS:
        return "VK_ERROR_TOO_MANY_OBJECTS";
    default:
        return "an error";
    }
}

pelt_result pelt_vulkan_fail(const pelt_host *host, VkResult result, const char *call)
{
    bool memory = result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY;
    return pelt_fail(host, memory ? PELT_ERROR_MEMORY : PELT_ERROR_VULKAN, NULL, NULL,
                     "%s: %s (VkResult %d)", call, result_name(result), (int)result);
}
