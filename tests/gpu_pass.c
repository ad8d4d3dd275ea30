/* Creating and destroying the skin pass: the caller's loader and allocators, and whatever fails. */
#include "tests/gpu_scene.h"

/* A loader around the real one: it lets so many calls that create something succeed, and checks
 * that each gets the caller's allocator. */
static struct {
    PFN_vkGetInstanceProcAddr get_instance;
    PFN_vkGetDeviceProcAddr get_device;
    const VkAllocationCallbacks *expected;
    int left;     /* creating calls that succeed */
    int live;     /* objects */
    int created;  /* objects, ever */
    int stranger; /* calls with another allocator */
} loader;

static PFN_vkVoidFunction real(VkDevice device, const char *name)
{
    return loader.get_device(device, name);
}

/* Whether a creating call may go on. */
static bool admit(const VkAllocationCallbacks *allocator)
{
    loader.stranger += allocator != loader.expected;
    return loader.left-- > 0;
}

static VkResult count(VkResult result, int objects)
{
    loader.live += result == VK_SUCCESS ? objects : 0;
    loader.created += result == VK_SUCCESS ? objects : 0;
    return result;
}

static void discount(const VkAllocationCallbacks *allocator, bool object)
{
    loader.stranger += allocator != loader.expected;
    loader.live -= object;
}

static VkResult VKAPI_PTR create_module(VkDevice device, const VkShaderModuleCreateInfo *info,
                                        const VkAllocationCallbacks *allocator, VkShaderModule *out)
{
    PFN_vkCreateShaderModule call = (PFN_vkCreateShaderModule)real(device, "vkCreateShaderModule");
    return admit(allocator) ? count(call(device, info, allocator, out), 1)
                            : VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static VkResult VKAPI_PTR create_layout(VkDevice device, const VkPipelineLayoutCreateInfo *info,
                                        const VkAllocationCallbacks *allocator,
                                        VkPipelineLayout *out)
{
    PFN_vkCreatePipelineLayout call =
        (PFN_vkCreatePipelineLayout)real(device, "vkCreatePipelineLayout");
    return admit(allocator) ? count(call(device, info, allocator, out), 1)
                            : VK_ERROR_OUT_OF_HOST_MEMORY;
}

/* Fails as a driver may: after the first pipeline. */
static VkResult VKAPI_PTR create_pipelines(VkDevice device, VkPipelineCache cache, uint32_t number,
                                           const VkComputePipelineCreateInfo *infos,
                                           const VkAllocationCallbacks *allocator, VkPipeline *out)
{
    PFN_vkCreateComputePipelines call =
        (PFN_vkCreateComputePipelines)real(device, "vkCreateComputePipelines");
    if (admit(allocator)) {
        return count(call(device, cache, number, infos, allocator, out), (int)number);
    }
    for (uint32_t i = 1; i < number; i++) {
        out[i] = VK_NULL_HANDLE;
    }
    (void)count(call(device, cache, 1, infos, allocator, out), 1);
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static void VKAPI_PTR destroy_module(VkDevice device, VkShaderModule object,
                                     const VkAllocationCallbacks *allocator)
{
    discount(allocator, object != VK_NULL_HANDLE);
    ((PFN_vkDestroyShaderModule)real(device, "vkDestroyShaderModule"))(device, object, allocator);
}

static void VKAPI_PTR destroy_layout(VkDevice device, VkPipelineLayout object,
                                     const VkAllocationCallbacks *allocator)
{
    discount(allocator, object != VK_NULL_HANDLE);
    ((PFN_vkDestroyPipelineLayout)real(device, "vkDestroyPipelineLayout"))(device, object,
                                                                           allocator);
}

static void VKAPI_PTR destroy_pipeline(VkDevice device, VkPipeline object,
                                       const VkAllocationCallbacks *allocator)
{
    discount(allocator, object != VK_NULL_HANDLE);
    ((PFN_vkDestroyPipeline)real(device, "vkDestroyPipeline"))(device, object, allocator);
}

static PFN_vkVoidFunction VKAPI_PTR get_device(VkDevice device, const char *name)
{
    const struct {
        const char *name;
        PFN_vkVoidFunction function;
    } own[] = {
        { "vkCreateShaderModule", (PFN_vkVoidFunction)create_module },
        { "vkCreatePipelineLayout", (PFN_vkVoidFunction)create_layout },
        { "vkCreateComputePipelines", (PFN_vkVoidFunction)create_pipelines },
        { "vkDestroyShaderModule", (PFN_vkVoidFunction)destroy_module },
        { "vkDestroyPipelineLayout", (PFN_vkVoidFunction)destroy_layout },
        { "vkDestroyPipeline", (PFN_vkVoidFunction)destroy_pipeline },
    };
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (strcmp(name, own[i].name) == 0) {
            return own[i].function;
        }
    }
    return real(device, name);
}

/* Asked for this one, the loader claims not to have it. */
static const char *absent;

static PFN_vkVoidFunction VKAPI_PTR get_instance(VkInstance instance, const char *name)
{
    if (absent && strcmp(name, absent) == 0) {
        return NULL;
    }
    return strcmp(name, "vkGetDeviceProcAddr") == 0 ? (PFN_vkVoidFunction)get_device
                                                    : loader.get_instance(instance, name);
}

static void *VKAPI_PTR allocate(void *user, size_t size, size_t alignment,
                                VkSystemAllocationScope scope)
{
    (void)user;
    (void)scope;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void *VKAPI_PTR reallocate(void *user, void *original, size_t size, size_t alignment,
                                  VkSystemAllocationScope scope)
{
    (void)user;
    (void)alignment;
    (void)scope;
    return realloc(original, size);
}

static void VKAPI_PTR release(void *user, void *memory)
{
    (void)user;
    free(memory);
}

static const VkAllocationCallbacks callbacks = { .pfnAllocation = allocate,
                                                 .pfnReallocation = reallocate,
                                                 .pfnFree = release };

/* The device through the loader above. */
static pelt_vulkan watch(const pelt_headless *device, int left)
{
    pelt_vulkan vulkan = device->vulkan;
    memset(&loader, 0, sizeof(loader));
    loader.get_instance = vulkan.get_instance_proc_addr;
    loader.get_device = device->get_device_proc_addr;
    loader.expected = &callbacks;
    loader.left = left;
    vulkan.get_instance_proc_addr = get_instance;
    vulkan.allocator = &callbacks;
    return vulkan;
}

/* Of the skin shader. */
static int permutations_of(const pelt_headless *device, bool no_dual_quaternions)
{
    bool is_processor = device->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    int dual = is_processor ? 2 : 5;
    return (is_processor ? 4 : 16) + (no_dual_quaternions ? 0 : dual);
}

/* What is not wished for is not created. */
static void uses_the_callers_loader_and_allocators(void **state)
{
    (void)state;
    for (int linear = 0; linear < 2; linear++) {
        pelt_vulkan vulkan = watch(gpu_device(), 100);
        pelt_skin_pass *pass = NULL;
        const pelt_skin_pass_info info = { .vulkan = &vulkan, .no_dual_quaternions = linear };
        int pipelines = permutations_of(gpu_shared, linear) + 1 + 1;
        int modules = linear ? 3 : 4;
        assert_int_equal(pelt_skin_pass_create(&gpu_host, &info, &pass), PELT_OK);
        assert_int_equal(loader.created, modules + 1 + pipelines); /* and a layout */
        assert_int_equal(loader.live, 1 + pipelines);
        pelt_skin_pass_destroy(pass);
        assert_int_equal(loader.live, 0);
        assert_int_equal(loader.stranger, 0);
    }
}

static void unwinds_every_failed_call(void **state)
{
    (void)state;
    for (int left = 0; left < 9; left++) { /* a layout, then four times a module and pipelines */
        pelt_vulkan vulkan = watch(gpu_device(), left);
        pelt_skin_pass *pass = NULL;
        const pelt_skin_pass_info info = { .vulkan = &vulkan };
        assert_int_equal(pelt_skin_pass_create(&gpu_host, &info, &pass), PELT_ERROR_MEMORY);
        assert_null(pass);
        const char *call = left == 0       ? "vkCreatePipelineLayout"
                           : left % 2 == 1 ? "vkCreateShaderModule"
                                           : "vkCreateComputePipelines";
        assert_non_null(strstr(gpu_messages.last, call));
        assert_int_equal(loader.live, 0);
        assert_int_equal(loader.stranger, 0);
    }
}

static void names_what_the_loader_lacks(void **state)
{
    (void)state;
    pelt_vulkan vulkan = watch(gpu_device(), 100);
    absent = "vkGetPhysicalDeviceFeatures2";
    pelt_skin_pass *pass = NULL;
    const pelt_skin_pass_info info = { .vulkan = &vulkan };
    assert_int_equal(pelt_skin_pass_create(&gpu_host, &info, &pass), PELT_ERROR_DEVICE);
    assert_non_null(strstr(gpu_messages.last, absent));
    absent = NULL;
}

static void *no_memory(void *user, void *block, size_t size)
{
    (void)user;
    (void)block;
    (void)size;
    return NULL;
}

static void reports_that_memory_is_out(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    const pelt_host host = { .allocate = no_memory };
    pelt_skin_pass *pass = NULL;
    const pelt_skin_pass_info info = { .vulkan = &device->vulkan };
    assert_int_equal(pelt_skin_pass_create(&host, &info, &pass), PELT_ERROR_MEMORY);
    assert_null(pass);
}

static void refuses_wrong_infos(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    pelt_skin_pass *pass = NULL;
    const uint32_t chunks[] = { 1, 63, 100, 65536 + 64 };
    for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
        const pelt_skin_pass_info info = { .vulkan = &device->vulkan, .chunk_vertices = chunks[i] };
        assert_int_equal(pelt_skin_pass_create(&gpu_host, &info, &pass), PELT_ERROR_ARGUMENT);
        assert_null(pass);
    }
    pelt_skin_pass_info info = { 0 };
    assert_int_equal(pelt_skin_pass_create(&gpu_host, &info, &pass), PELT_ERROR_ARGUMENT);
    pelt_vulkan vulkan = device->vulkan;
    vulkan.device = NULL;
    info.vulkan = &vulkan;
    assert_int_equal(pelt_skin_pass_create(&gpu_host, &info, &pass), PELT_ERROR_ARGUMENT);
    pelt_skin_pass_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uses_the_callers_loader_and_allocators),
        cmocka_unit_test(unwinds_every_failed_call),
        cmocka_unit_test(names_what_the_loader_lacks),
        cmocka_unit_test(reports_that_memory_is_out),
        cmocka_unit_test(refuses_wrong_infos),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, gpu_teardown));
}
