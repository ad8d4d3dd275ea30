/* The device's side of pelt/ray.h: what is missing is named, sizes are Vulkan's, mistakes are
 * refused. */
#include "tests/gpu.h"

#include <pelt/ray.h>

/* A device with acceleration structures, or the test is skipped. */
static pelt_headless *open_device(void)
{
    pelt_headless *device = gpu_device();
    if (!device->acceleration_structure) {
        (void)printf("skipped: %s has no acceleration structures\n", device->properties.deviceName);
        skip();
    }
    return device;
}

static pelt_ray_pass *open_pass(void)
{
    pelt_ray_pass *pass = NULL;
    assert_int_equal(pelt_ray_pass_create(&gpu_host, &open_device()->vulkan, &pass), PELT_OK);
    return pass;
}

/* -- a loader that lacks something ----------------------------------------------------------- */

static const char *hidden; /* a device function */
static PFN_vkGetDeviceProcAddr true_get_device;

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device(VkDevice device, const char *name)
{
    return hidden && strcmp(name, hidden) == 0 ? NULL : true_get_device(device, name);
}

static VKAPI_ATTR void VKAPI_CALL get_features(VkPhysicalDevice device,
                                               VkPhysicalDeviceFeatures2 *features)
{
    /* An older device's: it knows Vulkan 1.2 alone. */
    (void)device;
    VkBaseOutStructure *next = features->pNext;
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) {
        ((VkPhysicalDeviceVulkan12Features *)(void *)next)->bufferDeviceAddress = VK_TRUE;
    }
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance(VkInstance instance, const char *name)
{
    PFN_vkVoidFunction function = gpu_shared->vulkan.get_instance_proc_addr(instance, name);
    if (strcmp(name, "vkGetDeviceProcAddr") == 0) {
        true_get_device = (PFN_vkGetDeviceProcAddr)function;
        return (PFN_vkVoidFunction)get_device;
    }
    if (!hidden && strcmp(name, "vkGetPhysicalDeviceFeatures2") == 0) {
        return (PFN_vkVoidFunction)get_features;
    }
    return function;
}

static void names_what_is_missing(void **state)
{
    (void)state;
    pelt_vulkan vulkan = open_device()->vulkan;
    pelt_ray_pass *pass = NULL;
    const char *const functions[] = {
        "vkCmdBuildAccelerationStructuresKHR",        "vkGetAccelerationStructureBuildSizesKHR",
        "vkCreateAccelerationStructureKHR",           "vkDestroyAccelerationStructureKHR",
        "vkGetAccelerationStructureDeviceAddressKHR", "vkCmdPipelineBarrier"
    };
    vulkan.get_instance_proc_addr = get_instance;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        hidden = functions[i];
        assert_int_equal(pelt_ray_pass_create(&gpu_host, &vulkan, &pass), PELT_ERROR_DEVICE);
        assert_null(pass);
        assert_non_null(strstr(gpu_messages.last, functions[i]));
    }
    hidden = NULL;
    assert_int_equal(pelt_ray_pass_create(&gpu_host, &vulkan, &pass), PELT_ERROR_DEVICE);
    assert_null(pass);
    assert_non_null(strstr(gpu_messages.last, "VK_KHR_acceleration_structure"));

    vulkan.device = NULL;
    assert_int_equal(pelt_ray_pass_create(&gpu_host, &vulkan, &pass), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_ray_pass_create(&gpu_host, NULL, &pass), PELT_ERROR_ARGUMENT);
    pelt_ray_pass_destroy(NULL);
}

/* -- sizes ----------------------------------------------------------------------------------- */

static pelt_ray_geometry geometry_of(uint32_t triangles)
{
    return (pelt_ray_geometry){ .positions = 0x1000,
                                .position_stride = 16,
                                .vertex_count = triangles + 2,
                                .indices = 0x2000,
                                .triangle_count = triangles };
}

static void measures_what_vulkan_says(void **state)
{
    (void)state;
    pelt_ray_pass *pass = open_pass();
    const pelt_ray_limits *limits = pelt_ray_pass_limits(pass);
    assert_true(limits->scratch_alignment > 0);
    assert_true((limits->scratch_alignment & (limits->scratch_alignment - 1)) == 0);
    /* Vulkan asks for 2^29 - 1 primitives; the software driver has less. */
    const uint64_t least = (1u << 24) - 1;
    assert_true(limits->geometry_count >= least && limits->primitive_count >= least);
    assert_true(limits->instance_count >= least);
    const pelt_ray_geometry geometries[] = { geometry_of(100), geometry_of(5000) };
    pelt_ray_sizes one, both, hidden_one, still;
    assert_int_equal(pelt_ray_measure(pass, geometries, 1, PELT_RAY_ANIMATED, &one), PELT_OK);
    assert_int_equal(pelt_ray_measure(pass, geometries, 2, PELT_RAY_ANIMATED, &both), PELT_OK);
    assert_int_equal(one.triangle_count, 100);
    assert_int_equal(both.triangle_count, 5100);
    assert_int_equal(both.vertex_count, 5104);
    assert_int_equal(both.geometry_count, 2);
    assert_int_equal(both.use, PELT_RAY_ANIMATED);
    assert_true(one.structure > 0 && one.build_scratch > 0 && both.structure > one.structure);

    /* Inactive ones count as if they were not. */
    pelt_ray_geometry partly[2] = { geometries[0], geometries[1] };
    partly[1].inactive = true;
    assert_int_equal(pelt_ray_measure(pass, partly, 2, PELT_RAY_ANIMATED, &hidden_one), PELT_OK);
    assert_int_equal(hidden_one.structure, both.structure);
    assert_int_equal(hidden_one.build_scratch, both.build_scratch);
    assert_int_equal(hidden_one.update_scratch, both.update_scratch);

    assert_int_equal(pelt_ray_measure(pass, geometries, 2, PELT_RAY_STILL, &still), PELT_OK);
    assert_int_equal(still.update_scratch, 0);

    pelt_ray_sizes few, many;
    assert_int_equal(pelt_ray_tlas_measure(pass, 1, &few), PELT_OK);
    assert_int_equal(pelt_ray_tlas_measure(pass, 10000, &many), PELT_OK);
    assert_true(many.structure > few.structure && few.build_scratch > 0);
    pelt_ray_pass_destroy(pass);
}

static void refuses_what_does_not_fit(void **state)
{
    (void)state;
    pelt_ray_pass *pass = open_pass();
    pelt_ray_sizes sizes;
    pelt_ray_geometry geometries[2] = { geometry_of(10), geometry_of(10) };
    assert_int_equal(pelt_ray_measure(pass, geometries, 0, PELT_RAY_ANIMATED, &sizes),
                     PELT_ERROR_ARGUMENT);
    geometries[1].position_stride = 10;
    assert_int_equal(pelt_ray_measure(pass, geometries, 2, PELT_RAY_ANIMATED, &sizes),
                     PELT_ERROR_ARGUMENT);
    assert_non_null(strstr(gpu_messages.last, "geometry 1: position_stride"));
    assert_int_equal(sizes.structure, 0);
    const pelt_ray_limits *limits = pelt_ray_pass_limits(pass);
    if (limits->primitive_count < 2 * (uint64_t)UINT32_MAX) {
        geometries[1] = geometry_of(UINT32_MAX - 2);
        geometries[0] = geometries[1];
        assert_int_equal(pelt_ray_measure(pass, geometries, 2, PELT_RAY_ANIMATED, &sizes),
                         PELT_ERROR_RANGE);
    }
    if (limits->instance_count < UINT32_MAX) {
        assert_int_equal(pelt_ray_tlas_measure(pass, UINT32_MAX, &sizes), PELT_ERROR_RANGE);
        assert_int_equal(sizes.structure, 0);
    }
    pelt_ray_structure structure;
    pelt_buffer buffer;
    assert_int_equal(pelt_buffer_create(gpu_shared, 4096,
                                        VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_STORAGE_BIT_KHR,
                                        PELT_MEMORY_DEVICE, &buffer),
                     PELT_OK);
    const VkAccelerationStructureTypeKHR type = VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR;
    assert_int_equal(pelt_ray_structure_create(pass, type, VK_NULL_HANDLE, 0, 256, &structure),
                     PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_ray_structure_create(pass, type, buffer.buffer, 128, 256, &structure),
                     PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_ray_structure_create(pass, type, buffer.buffer, 0, 0, &structure),
                     PELT_ERROR_ARGUMENT);
    assert_true(structure.handle == VK_NULL_HANDLE);
    assert_int_equal(pelt_ray_structure_create(pass, type, buffer.buffer, 256, 1024, &structure),
                     PELT_OK);
    assert_true(structure.handle != VK_NULL_HANDLE && structure.address != 0);
    assert_int_equal(structure.size, 1024);
    pelt_ray_structure_destroy(pass, &structure);
    assert_true(structure.handle == VK_NULL_HANDLE && structure.address == 0);
    pelt_ray_structure_destroy(pass, NULL);
    pelt_buffer_destroy(gpu_shared, &buffer);
    pelt_ray_pass_destroy(pass);
}

/* -- memory ---------------------------------------------------------------------------------- */

static void *counted_memory(void *user, void *block, size_t size)
{
    int *left = user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return (*left)-- > 0 ? realloc(block, size) : NULL;
}

static void survives_a_lack_of_memory(void **state)
{
    (void)state;
    const pelt_headless *device = open_device();
    int left = 0;
    const pelt_host host = { .user = &left, .allocate = counted_memory };
    pelt_ray_pass *pass = NULL;
    assert_int_equal(pelt_ray_pass_create(&host, &device->vulkan, &pass), PELT_ERROR_MEMORY);
    assert_null(pass);
    left = 1;
    assert_int_equal(pelt_ray_pass_create(&host, &device->vulkan, &pass), PELT_OK);
    const pelt_ray_geometry geometry = geometry_of(10);
    pelt_ray_sizes sizes;
    for (left = 0; left < 2; left++) {
        int given = left;
        assert_int_equal(pelt_ray_measure(pass, &geometry, 1, PELT_RAY_ANIMATED, &sizes),
                         PELT_ERROR_MEMORY);
        left = given;
    }
    assert_int_equal(pelt_ray_measure(pass, &geometry, 1, PELT_RAY_ANIMATED, &sizes), PELT_OK);
    pelt_ray_pass_destroy(pass);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_what_is_missing),
        cmocka_unit_test(measures_what_vulkan_says),
        cmocka_unit_test(refuses_what_does_not_fit),
        cmocka_unit_test(survives_a_lack_of_memory),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, gpu_teardown));
}
