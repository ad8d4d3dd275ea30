/* Loader, instance and validation of a headless device. */
#include "vulkan/headless.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const char validation_layer[] = "VK_LAYER_KHRONOS_validation";

static pelt_result open_loader(pelt_headless *device)
{
    struct pelt_headless_private *self = device->private_data;
    self->loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!self->loader) {
        return pelt_fail(device->host, PELT_ERROR_DEVICE, NULL, NULL,
                         "no Vulkan loader: %s (install libvulkan1 and a driver, e.g. "
                         "mesa-vulkan-drivers)",
                         dlerror());
    }
    void *symbol = dlsym(self->loader, "vkGetInstanceProcAddr");
    if (!symbol) {
        return pelt_fail(device->host, PELT_ERROR_DEVICE, NULL, NULL,
                         "libvulkan.so.1 has no vkGetInstanceProcAddr");
    }
    memcpy(&device->vulkan.get_instance_proc_addr, &symbol, sizeof(symbol));
    return PELT_OK;
}

static bool has_validation_layer(const pelt_headless *device)
{
    PFN_vkEnumerateInstanceLayerProperties enumerate =
        (PFN_vkEnumerateInstanceLayerProperties)device->vulkan.get_instance_proc_addr(
            NULL, "vkEnumerateInstanceLayerProperties");
    uint32_t count = 0;
    if (!enumerate || enumerate(&count, NULL) != VK_SUCCESS || count == 0) {
        return false;
    }
    VkLayerProperties *layers = pelt_allocate(device->host, count, sizeof(*layers));
    bool found = false;
    if (layers && enumerate(&count, layers) >= VK_SUCCESS) {
        for (uint32_t i = 0; i < count && !found; i++) {
            found = strcmp(layers[i].layerName, validation_layer) == 0;
        }
    }
    pelt_release(device->host, layers);
    return found;
}

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data,
                                                 void *user)
{
    (void)severity;
    (void)types;
    pelt_headless *device = user;
    device->validation_messages++;
    (void)pelt_fail(device->host, PELT_ERROR_VULKAN, NULL, NULL, "validation: %s",
                    data->pMessage ? data->pMessage : "(no text)");
    return VK_FALSE;
}

static VkDebugUtilsMessengerCreateInfoEXT messenger_info(pelt_headless *device)
{
    return (VkDebugUtilsMessengerCreateInfoEXT){
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = device,
    };
}

/* Vulkan 1.3 where the loader has it, at least 1.2. */
static pelt_result choose_version(pelt_headless *device)
{
    PFN_vkEnumerateInstanceVersion enumerate =
        (PFN_vkEnumerateInstanceVersion)device->vulkan.get_instance_proc_addr(
            NULL, "vkEnumerateInstanceVersion");
    uint32_t version = VK_API_VERSION_1_0;
    if (enumerate) {
        (void)enumerate(&version);
    }
    if (version < VK_API_VERSION_1_2) {
        return pelt_fail(device->host, PELT_ERROR_DEVICE, NULL, NULL,
                         "the Vulkan loader is version %u.%u, pelt needs 1.2",
                         VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
    }
    device->private_data->api_version =
        version < VK_API_VERSION_1_3 ? VK_API_VERSION_1_2 : VK_API_VERSION_1_3;
    return PELT_OK;
}

static pelt_result create_instance(pelt_headless *device)
{
    const pelt_host *host = device->host;
    struct pelt_headless_private *self = device->private_data;
    PFN_vkGetInstanceProcAddr get = device->vulkan.get_instance_proc_addr;
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
    if (!create) {
        return pelt_fail(host, PELT_ERROR_DEVICE, NULL, NULL,
                         "the Vulkan loader has no vkCreateInstance");
    }

    VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info(device);
    const VkValidationFeatureEnableEXT synchronisation =
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    const VkValidationFeaturesEXT validation = {
        .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
        .pNext = &messenger,
        .enabledValidationFeatureCount = 1,
        .pEnabledValidationFeatures = &synchronisation,
    };
    const char *const layers[] = { validation_layer };
    const char *const extensions[] = { VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
                                       VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME };
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "pelt",
        .pEngineName = "pelt",
        .apiVersion = self->api_version,
    };
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
    };
    if (device->validation) {
        info.pNext = &validation;
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = layers;
        info.enabledExtensionCount = 2;
        info.ppEnabledExtensionNames = extensions;
    }
    VkResult status = create(&info, NULL, &device->vulkan.instance);
    if (status == VK_ERROR_INCOMPATIBLE_DRIVER) {
        return pelt_fail(host, PELT_ERROR_DEVICE, NULL, NULL,
                         "no Vulkan driver is installed (mesa-vulkan-drivers has one that needs no "
                         "GPU)");
    }
    if (status != VK_SUCCESS) {
        device->vulkan.instance = NULL;
        return pelt_vulkan_fail(host, status, "vkCreateInstance");
    }
    pelt_result result =
        pelt_load_instance_functions(host, get, device->vulkan.instance, &self->instance);
    if (result != PELT_OK || !device->validation) {
        return result;
    }
    PFN_vkCreateDebugUtilsMessengerEXT create_messenger = (PFN_vkCreateDebugUtilsMessengerEXT)get(
        device->vulkan.instance, "vkCreateDebugUtilsMessengerEXT");
    self->destroy_messenger = (PFN_vkDestroyDebugUtilsMessengerEXT)get(
        device->vulkan.instance, "vkDestroyDebugUtilsMessengerEXT");
    status = create_messenger
                 ? create_messenger(device->vulkan.instance, &messenger, NULL, &self->messenger)
                 : VK_ERROR_EXTENSION_NOT_PRESENT;
    return status == VK_SUCCESS ? PELT_OK
                                : pelt_vulkan_fail(host, status, "vkCreateDebugUtilsMessengerEXT");
}

pelt_result pelt_vulkan_open(const pelt_host *host, const pelt_headless_info *info,
                             pelt_headless **out)
{
    *out = NULL;
    pelt_headless *device = pelt_allocate(host, 1, sizeof(*device));
    struct pelt_headless_private *self = pelt_allocate(host, 1, sizeof(*self));
    if (!device || !self) {
        pelt_release(host, device);
        pelt_release(host, self);
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a device");
    }
    device->host = host;
    device->private_data = self;

    pelt_result result = open_loader(device);
    if (result != PELT_OK) {
        goto fail;
    }
    result = choose_version(device);
    if (result != PELT_OK) {
        goto fail;
    }
    if (info->validation) {
        device->validation = has_validation_layer(device);
        if (!device->validation) {
            pelt_warn(host, NULL, NULL, "%s is not installed: running without validation",
                      validation_layer);
        }
    }
    result = create_instance(device);
    if (result != PELT_OK) {
        goto fail;
    }
    const char *name = info->device ? info->device : getenv("PELT_DEVICE");
    result = pelt_headless_open_device(device, name && name[0] != '\0' ? name : NULL);
    if (result != PELT_OK) {
        goto fail;
    }
    result = pelt_headless_create_commands(device);
    if (result != PELT_OK) {
        goto fail;
    }
    *out = device;
    return PELT_OK;
fail:
    pelt_vulkan_close(device);
    return result;
}

void pelt_vulkan_close(pelt_headless *device)
{
    if (!device) {
        return;
    }
    const pelt_host *host = device->host;
    struct pelt_headless_private *self = device->private_data;
    if (device->vulkan.device) {
        (void)self->functions.device_wait_idle(device->vulkan.device);
        pelt_headless_destroy_commands(device);
        self->functions.destroy_device(device->vulkan.device, NULL);
    }
    if (self->messenger) {
        self->destroy_messenger(device->vulkan.instance, self->messenger, NULL);
    }
    if (self->instance.destroy_instance) {
        self->instance.destroy_instance(device->vulkan.instance, NULL);
    }
    if (self->loader) {
        dlclose(self->loader);
    }
    pelt_release(host, self);
    pelt_release(host, device);
}
