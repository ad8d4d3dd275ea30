/* Which physical device a headless device opens, and what is enabled on it. */
#include "vulkan/headless.h"

#include <string.h>
#include <strings.h>

/* Everything asked of one physical device, linked for vkGetPhysicalDeviceFeatures2. */
typedef struct feature_chain {
    VkPhysicalDeviceFeatures2 core;
    VkPhysicalDeviceVulkan11Features vulkan11;
    VkPhysicalDeviceVulkan12Features vulkan12;
    VkPhysicalDeviceVulkan13Features vulkan13;
    VkPhysicalDeviceMeshShaderFeaturesEXT mesh_shader;
    VkPhysicalDeviceAccelerationStructureFeaturesKHR acceleration_structure;
    VkPhysicalDeviceRayTracingPipelineFeaturesKHR ray_tracing_pipeline;
    VkPhysicalDeviceRayQueryFeaturesKHR ray_query;
} feature_chain;

typedef struct candidate {
    VkPhysicalDevice physical_device;
    VkPhysicalDeviceProperties properties;
    uint32_t version; /* usable: the lower of the device's and the instance's */
    uint32_t queue_family;
    VkQueueFamilyProperties queue;
    bool mesh_shader, acceleration_structure, ray_tracing_pipeline, ray_query; /* extensions */
} candidate;

/* Structures of extensions that a device does not have must not be in the chain. */
static void link_chain(const candidate *from, feature_chain *chain)
{
    chain->core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    chain->core.pNext = &chain->vulkan11;
    chain->vulkan11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    chain->vulkan11.pNext = &chain->vulkan12;
    chain->vulkan12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    chain->vulkan12.pNext = NULL;
    void **next = &chain->vulkan12.pNext;
    if (from->version >= VK_API_VERSION_1_3) {
        chain->vulkan13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
        *next = &chain->vulkan13;
        next = &chain->vulkan13.pNext;
    }
    if (from->mesh_shader) {
        chain->mesh_shader.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT;
        *next = &chain->mesh_shader;
        next = &chain->mesh_shader.pNext;
    }
    if (from->acceleration_structure) {
        chain->acceleration_structure.sType =
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_FEATURES_KHR;
        *next = &chain->acceleration_structure;
        next = &chain->acceleration_structure.pNext;
    }
    if (from->ray_tracing_pipeline) {
        chain->ray_tracing_pipeline.sType =
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_FEATURES_KHR;
        *next = &chain->ray_tracing_pipeline;
        next = &chain->ray_tracing_pipeline.pNext;
    }
    if (from->ray_query) {
        chain->ray_query.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_QUERY_FEATURES_KHR;
        *next = &chain->ray_query;
        next = &chain->ray_query.pNext;
    }
    *next = NULL;
}

static bool has_extension(const VkExtensionProperties *extensions, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(extensions[i].extensionName, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Optional extensions, each only where those that it stands on are there too. */
static pelt_result find_extensions(const pelt_headless *device, candidate *self)
{
    const pelt_instance_functions *vk = &device->private_data->instance;
    uint32_t count = 0;
    VkResult status =
        vk->enumerate_device_extension_properties(self->physical_device, NULL, &count, NULL);
    VkExtensionProperties *extensions = NULL;
    if (status == VK_SUCCESS) {
        extensions = pelt_allocate(device->host, count, sizeof(*extensions));
        status = extensions ? vk->enumerate_device_extension_properties(self->physical_device, NULL,
                                                                        &count, extensions)
                            : VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (status < VK_SUCCESS) {
        pelt_release(device->host, extensions);
        return pelt_vulkan_fail(device->host, status, "vkEnumerateDeviceExtensionProperties");
    }
    self->mesh_shader = has_extension(extensions, count, VK_EXT_MESH_SHADER_EXTENSION_NAME);
    self->acceleration_structure =
        has_extension(extensions, count, VK_KHR_ACCELERATION_STRUCTURE_EXTENSION_NAME) &&
        has_extension(extensions, count, VK_KHR_DEFERRED_HOST_OPERATIONS_EXTENSION_NAME);
    self->ray_tracing_pipeline =
        self->acceleration_structure &&
        has_extension(extensions, count, VK_KHR_RAY_TRACING_PIPELINE_EXTENSION_NAME);
    self->ray_query = self->acceleration_structure &&
                      has_extension(extensions, count, VK_KHR_RAY_QUERY_EXTENSION_NAME);
    pelt_release(device->host, extensions);
    return PELT_OK;
}

/* A family for graphics and compute, else one for compute alone; UINT32_MAX: none. */
static pelt_result find_queue_family(const pelt_headless *device, candidate *self)
{
    const pelt_instance_functions *vk = &device->private_data->instance;
    uint32_t count = 0;
    vk->get_physical_device_queue_family_properties(self->physical_device, &count, NULL);
    VkQueueFamilyProperties *families = pelt_allocate(device->host, count, sizeof(*families));
    if (!families) {
        return pelt_fail(device->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory");
    }
    vk->get_physical_device_queue_family_properties(self->physical_device, &count, families);
    self->queue_family = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        VkQueueFlags flags = families[i].queueFlags;
        bool better = self->queue_family == UINT32_MAX ||
                      ((flags & VK_QUEUE_GRAPHICS_BIT) != 0 &&
                       !(families[self->queue_family].queueFlags & VK_QUEUE_GRAPHICS_BIT));
        if ((flags & VK_QUEUE_COMPUTE_BIT) != 0 && better) {
            self->queue_family = i;
            self->queue = families[i];
        }
    }
    pelt_release(device->host, families);
    return PELT_OK;
}

/* What keeps pelt from running on the device, or NULL. */
static const char *missing(const pelt_headless *device, const candidate *self)
{
    if (self->version < VK_API_VERSION_1_2) {
        return "Vulkan 1.2";
    }
    if (self->queue_family == UINT32_MAX) {
        return "a compute queue";
    }
    feature_chain chain = { 0 };
    link_chain(self, &chain);
    device->private_data->instance.get_physical_device_features2(self->physical_device,
                                                                 &chain.core);
    if (!chain.vulkan12.bufferDeviceAddress) {
        return "bufferDeviceAddress";
    }
    return NULL;
}

static int rank(VkPhysicalDeviceType type)
{
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return 4;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return 3;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return 0;
    default:
        return 1;
    }
}

/* Whether part is in whole, upper and lower case alike. */
static bool contains(const char *whole, const char *part)
{
    size_t length = strlen(part);
    for (; *whole; whole++) {
        if (strncasecmp(whole, part, length) == 0) {
            return true;
        }
    }
    return length == 0;
}

static pelt_result describe(const pelt_headless *device, VkPhysicalDevice physical_device,
                            candidate *out)
{
    *out = (candidate){ .physical_device = physical_device };
    device->private_data->instance.get_physical_device_properties(physical_device,
                                                                  &out->properties);
    uint32_t version = out->properties.apiVersion;
    uint32_t limit = device->private_data->api_version;
    out->version = version < limit ? version : limit;
    pelt_result result = find_queue_family(device, out);
    return result == PELT_OK ? find_extensions(device, out) : result;
}

static pelt_result choose_among(const pelt_headless *device, const VkPhysicalDevice *all,
                                uint32_t count, const char *name, candidate *out)
{
    bool found = false;
    char others[512] = ""; /* why or by which name the devices that were not taken are known */
    for (uint32_t i = 0; i < count; i++) {
        candidate current;
        pelt_result result = describe(device, all[i], &current);
        if (result != PELT_OK) {
            return result;
        }
        bool named = !name || contains(current.properties.deviceName, name);
        const char *lack = named ? missing(device, &current) : NULL;
        if (named && !lack) {
            if (!found || rank(current.properties.deviceType) > rank(out->properties.deviceType)) {
                *out = current;
            }
            found = true;
            continue;
        }
        size_t used = strlen(others);
        (void)snprintf(others + used, sizeof(others) - used, "%s%s%s%s", used > 0 ? "; " : "",
                       current.properties.deviceName, lack ? " lacks " : "", lack ? lack : "");
    }
    if (found) {
        return PELT_OK;
    }
    if (name) {
        return pelt_fail(device->host, PELT_ERROR_DEVICE, NULL, NULL,
                         "no usable Vulkan device is named like '%s' (there are: %s)", name,
                         others);
    }
    return pelt_fail(device->host, PELT_ERROR_DEVICE, NULL, NULL, "no usable Vulkan device: %s",
                     others);
}

static pelt_result choose(const pelt_headless *device, const char *name, candidate *out)
{
    const pelt_host *host = device->host;
    const pelt_instance_functions *vk = &device->private_data->instance;
    uint32_t count = 0;
    VkResult status = vk->enumerate_physical_devices(device->vulkan.instance, &count, NULL);
    if (status != VK_SUCCESS && status != VK_ERROR_INITIALIZATION_FAILED) {
        return pelt_vulkan_fail(host, status, "vkEnumeratePhysicalDevices");
    }
    if (status != VK_SUCCESS || count == 0) {
        return pelt_fail(host, PELT_ERROR_DEVICE, NULL, NULL,
                         "the Vulkan loader finds no device (mesa-vulkan-drivers has one that "
                         "needs no GPU)");
    }
    VkPhysicalDevice *all = pelt_allocate(host, count, sizeof(VkPhysicalDevice));
    if (!all) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %u devices", count);
    }
    status = vk->enumerate_physical_devices(device->vulkan.instance, &count, all);
    pelt_result result = status >= VK_SUCCESS
                             ? choose_among(device, all, count, name, out)
                             : pelt_vulkan_fail(host, status, "vkEnumeratePhysicalDevices");
    pelt_release(host, all);
    return result;
}

/* Of what the device has, what pelt uses. */
static void select_features(const feature_chain *has, feature_chain *use)
{
    const VkPhysicalDeviceFeatures *core = &has->core.features;
    use->core.features = (VkPhysicalDeviceFeatures){
        .geometryShader = core->geometryShader, /* for gl_PrimitiveID in fragments */
        .samplerAnisotropy = core->samplerAnisotropy,
        .multiDrawIndirect = core->multiDrawIndirect,
        .drawIndirectFirstInstance = core->drawIndirectFirstInstance,
        .fillModeNonSolid = core->fillModeNonSolid,
        .wideLines = core->wideLines,
        .shaderInt16 = core->shaderInt16,
        .shaderInt64 = core->shaderInt64,
    };
    use->vulkan11.storageBuffer16BitAccess = has->vulkan11.storageBuffer16BitAccess;
    use->vulkan11.shaderDrawParameters = has->vulkan11.shaderDrawParameters;

    const VkPhysicalDeviceVulkan12Features *v12 = &has->vulkan12;
    use->vulkan12.bufferDeviceAddress = v12->bufferDeviceAddress;
    use->vulkan12.scalarBlockLayout = v12->scalarBlockLayout;
    use->vulkan12.storageBuffer8BitAccess = v12->storageBuffer8BitAccess;
    use->vulkan12.shaderInt8 = v12->shaderInt8;
    use->vulkan12.shaderFloat16 = v12->shaderFloat16;
    use->vulkan12.timelineSemaphore = v12->timelineSemaphore;
    use->vulkan12.hostQueryReset = v12->hostQueryReset;
    use->vulkan12.drawIndirectCount = v12->drawIndirectCount;
    use->vulkan12.descriptorIndexing = v12->descriptorIndexing;
    use->vulkan12.runtimeDescriptorArray = v12->runtimeDescriptorArray;
    use->vulkan12.descriptorBindingPartiallyBound = v12->descriptorBindingPartiallyBound;
    use->vulkan12.shaderSampledImageArrayNonUniformIndexing =
        v12->shaderSampledImageArrayNonUniformIndexing;

    use->vulkan13.dynamicRendering = has->vulkan13.dynamicRendering;
    use->vulkan13.synchronization2 = has->vulkan13.synchronization2;
    use->vulkan13.maintenance4 = has->vulkan13.maintenance4;
    use->vulkan13.subgroupSizeControl = has->vulkan13.subgroupSizeControl;
    use->vulkan13.computeFullSubgroups = has->vulkan13.computeFullSubgroups;

    use->mesh_shader.meshShader = has->mesh_shader.meshShader;
    use->mesh_shader.taskShader = has->mesh_shader.taskShader;
    use->acceleration_structure.accelerationStructure =
        has->acceleration_structure.accelerationStructure;
    use->ray_tracing_pipeline.rayTracingPipeline = has->ray_tracing_pipeline.rayTracingPipeline;
    use->ray_query.rayQuery = has->ray_query.rayQuery;
}

static pelt_result create_device(pelt_headless *device, const candidate *from)
{
    struct pelt_headless_private *self = device->private_data;
    feature_chain has = { 0 };
    feature_chain use = { 0 };
    link_chain(from, &has);
    link_chain(from, &use);
    self->instance.get_physical_device_features2(from->physical_device, &has.core);
    select_features(&has, &use);

    const char *extensions[5];
    uint32_t extension_count = 0;
    if (from->mesh_shader) {
        extensions[extension_count++] = VK_EXT_MESH_SHADER_EXTENSION_NAME;
    }
    if (from->acceleration_structure) {
        extensions[extension_count++] = VK_KHR_ACCELERATION_STRUCTURE_EXTENSION_NAME;
        extensions[extension_count++] = VK_KHR_DEFERRED_HOST_OPERATIONS_EXTENSION_NAME;
    }
    if (from->ray_tracing_pipeline) {
        extensions[extension_count++] = VK_KHR_RAY_TRACING_PIPELINE_EXTENSION_NAME;
    }
    if (from->ray_query) {
        extensions[extension_count++] = VK_KHR_RAY_QUERY_EXTENSION_NAME;
    }
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = from->queue_family,
        .queueCount = 1,
        .pQueuePriorities = (const float[]){ 1.0f },
    };
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &use.core,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = extension_count,
        .ppEnabledExtensionNames = extensions,
    };
    VkDevice created = NULL;
    VkResult status = self->instance.create_device(from->physical_device, &info, NULL, &created);
    if (status != VK_SUCCESS) {
        return pelt_vulkan_fail(device->host, status, "vkCreateDevice");
    }
    pelt_result result = pelt_load_device_functions(
        device->host, self->instance.get_device_proc_addr, created, &self->functions);
    if (result != PELT_OK) {
        if (self->functions.destroy_device) {
            self->functions.destroy_device(created, NULL);
        }
        return result;
    }
    device->vulkan.device = created;
    device->dynamic_rendering = use.vulkan13.dynamicRendering && use.vulkan13.synchronization2;
    device->mesh_shader = use.mesh_shader.meshShader;
    device->task_shader = use.mesh_shader.taskShader;
    device->acceleration_structure = use.acceleration_structure.accelerationStructure;
    device->ray_tracing_pipeline = use.ray_tracing_pipeline.rayTracingPipeline;
    device->ray_query = use.ray_query.rayQuery;
    return PELT_OK;
}

pelt_result pelt_headless_open_device(pelt_headless *device, const char *name)
{
    struct pelt_headless_private *self = device->private_data;
    candidate chosen = { 0 };
    pelt_result result = choose(device, name, &chosen);
    if (result != PELT_OK) {
        return result;
    }
    device->vulkan.physical_device = chosen.physical_device;
    device->get_device_proc_addr = self->instance.get_device_proc_addr;
    device->queue_family = chosen.queue_family;
    device->queue_flags = chosen.queue.queueFlags;
    device->is_software = chosen.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    device->timestamp_period =
        chosen.queue.timestampValidBits > 0 ? chosen.properties.limits.timestampPeriod : 0.0f;

    VkPhysicalDeviceSubgroupProperties subgroup = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES,
    };
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
        .pNext = &subgroup,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &driver,
    };
    self->instance.get_physical_device_properties2(chosen.physical_device, &properties);
    self->instance.get_physical_device_memory_properties(chosen.physical_device, &device->memory);
    device->properties = properties.properties;
    device->subgroup_size = subgroup.subgroupSize;
    (void)snprintf(device->driver, sizeof(device->driver), "%.60s %.60s", driver.driverName,
                   driver.driverInfo);

    result = create_device(device, &chosen);
    if (result == PELT_OK) {
        self->functions.get_device_queue(device->vulkan.device, chosen.queue_family, 0,
                                         &device->queue);
    }
    return result;
}
