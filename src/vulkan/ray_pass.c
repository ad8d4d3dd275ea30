/* The device's side of ray tracing: what it can do, how much structures take, and barriers. */
#include "vulkan/ray_pass.h"

enum { STRUCTURE_ALIGNMENT = 256 /* of offsets in buffers, says Vulkan */ };

static const char pass_name[] = "the ray pass";

/* Extensions that a physical device does not have leave their features at false. */
static pelt_result examine(pelt_ray_pass *pass, const pelt_instance_functions *vk,
                           const char *device_name)
{
    VkPhysicalDeviceAccelerationStructureFeaturesKHR features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_FEATURES_KHR,
    };
    VkPhysicalDeviceFeatures2 feature_chain = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .pNext = &features,
    };
    vk->get_physical_device_features2(pass->compute.vulkan.physical_device, &feature_chain);
    if (!features.accelerationStructure) {
        return pelt_fail(pass->compute.host, PELT_ERROR_DEVICE, NULL, NULL,
                         "%s lacks VK_KHR_acceleration_structure or its feature "
                         "accelerationStructure",
                         device_name);
    }
    VkPhysicalDeviceAccelerationStructurePropertiesKHR properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_PROPERTIES_KHR,
    };
    VkPhysicalDeviceProperties2 property_chain = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &properties,
    };
    vk->get_physical_device_properties2(pass->compute.vulkan.physical_device, &property_chain);
    pass->limits = (pelt_ray_limits){
        .scratch_alignment = properties.minAccelerationStructureScratchOffsetAlignment,
        .geometry_count = properties.maxGeometryCount,
        .primitive_count = properties.maxPrimitiveCount,
        .instance_count = properties.maxInstanceCount,
    };
    return PELT_OK;
}

static pelt_result open_pass(pelt_ray_pass *pass, const pelt_host *host, const pelt_vulkan *vulkan)
{
    pelt_instance_functions instance;
    VkPhysicalDeviceProperties properties;
    pelt_result result =
        pelt_compute_open(host, vulkan, pass_name, &pass->compute, &instance, &properties);
    if (result == PELT_OK) {
        result = examine(pass, &instance, properties.deviceName);
    }
    return result == PELT_OK ? pelt_load_ray_functions(host, instance.get_device_proc_addr,
                                                       vulkan->device, &pass->functions)
                             : result;
}

pelt_result pelt_ray_pass_create(const pelt_host *host, const pelt_vulkan *vulkan,
                                 pelt_ray_pass **out)
{
    *out = NULL;
    pelt_result result = pelt_compute_check(host, vulkan, pass_name);
    if (result != PELT_OK) {
        return result;
    }
    pelt_ray_pass *pass = pelt_allocate(host, 1, sizeof(*pass));
    if (!pass) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %s", pass_name);
    }
    result = open_pass(pass, host, vulkan);
    if (result != PELT_OK) {
        pelt_release(host, pass);
        return result;
    }
    *out = pass;
    return PELT_OK;
}

void pelt_ray_pass_destroy(pelt_ray_pass *pass)
{
    if (pass) {
        pelt_release(pass->compute.host, pass);
    }
}

const pelt_ray_limits *pelt_ray_pass_limits(const pelt_ray_pass *pass)
{
    return &pass->limits;
}

/* -- sizes --------------------------------------------------------------------------------- */

static pelt_ray_sizes ask_sizes(const pelt_ray_pass *pass,
                                const VkAccelerationStructureBuildGeometryInfoKHR *info,
                                const uint32_t *counts)
{
    VkAccelerationStructureBuildSizesInfoKHR sizes = {
        .sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_SIZES_INFO_KHR,
    };
    pass->functions.get_acceleration_structure_build_sizes(
        pass->compute.vulkan.device, VK_ACCELERATION_STRUCTURE_BUILD_TYPE_DEVICE_KHR, info, counts,
        &sizes);
    bool updates = (info->flags & VK_BUILD_ACCELERATION_STRUCTURE_ALLOW_UPDATE_BIT_KHR) != 0;
    return (pelt_ray_sizes){
        .structure = sizes.accelerationStructureSize,
        .build_scratch = sizes.buildScratchSize,
        .update_scratch = updates ? sizes.updateScratchSize : 0,
    };
}

/* Adds up what the structure is of. */
static pelt_result check_geometries(const pelt_ray_pass *pass, const pelt_ray_geometry *geometries,
                                    uint32_t geometry_count, pelt_ray_sizes *sums)
{
    const pelt_host *host = pass->compute.host;
    if (geometry_count == 0 || !geometries) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL, "a structure without geometries");
    }
    for (uint32_t i = 0; i < geometry_count; i++) {
        pelt_result result = pelt_ray_check_geometry(host, NULL, i, &geometries[i]);
        if (result != PELT_OK) {
            return result;
        }
        sums->vertex_count += geometries[i].vertex_count;
        sums->triangle_count += geometries[i].triangle_count;
    }
    sums->geometry_count = geometry_count;
    if (geometry_count > pass->limits.geometry_count ||
        sums->triangle_count > pass->limits.primitive_count) {
        return pelt_fail(host, PELT_ERROR_RANGE, NULL, NULL,
                         "a structure of %u geometries and %llu triangles: the device takes %llu "
                         "and %llu",
                         geometry_count, (unsigned long long)sums->triangle_count,
                         (unsigned long long)pass->limits.geometry_count,
                         (unsigned long long)pass->limits.primitive_count);
    }
    return PELT_OK;
}

pelt_result pelt_ray_measure(const pelt_ray_pass *pass, const pelt_ray_geometry *geometries,
                             uint32_t geometry_count, pelt_ray_use use, pelt_ray_sizes *out)
{
    const pelt_host *host = pass->compute.host;
    pelt_ray_sizes sums = { .use = use };
    *out = (pelt_ray_sizes){ 0 };
    pelt_result result = check_geometries(pass, geometries, geometry_count, &sums);
    if (result != PELT_OK) {
        return result;
    }
    VkAccelerationStructureGeometryKHR *described =
        pelt_allocate(host, geometry_count, sizeof(*described));
    uint32_t *counts = pelt_allocate(host, geometry_count, sizeof(*counts));
    if (!described || !counts) {
        result = pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %u geometries",
                           geometry_count);
        goto done;
    }
    for (uint32_t i = 0; i < geometry_count; i++) {
        VkAccelerationStructureBuildRangeInfoKHR range;
        pelt_ray_geometry_describe(&geometries[i], &described[i], &range);
        counts[i] = geometries[i].triangle_count;
    }
    VkAccelerationStructureBuildGeometryInfoKHR info;
    pelt_ray_build_describe(described, geometry_count, use, &info);
    *out = ask_sizes(pass, &info, counts);
    out->vertex_count = sums.vertex_count;
    out->triangle_count = sums.triangle_count;
    out->geometry_count = geometry_count;
    out->use = use;
done:
    pelt_release(host, described);
    pelt_release(host, counts);
    return result;
}

/* -- structures ---------------------------------------------------------------------------- */

pelt_result pelt_ray_structure_create(const pelt_ray_pass *pass,
                                      VkAccelerationStructureTypeKHR type, VkBuffer buffer,
                                      VkDeviceSize offset, VkDeviceSize size,
                                      pelt_ray_structure *out)
{
    *out = (pelt_ray_structure){ 0 };
    if (!buffer || offset % STRUCTURE_ALIGNMENT != 0 || size == 0) {
        return pelt_fail(
            pass->compute.host, PELT_ERROR_ARGUMENT, NULL, NULL,
            "a structure needs a buffer, an offset that is a multiple of %d, and bytes",
            STRUCTURE_ALIGNMENT);
    }
    const VkAccelerationStructureCreateInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_CREATE_INFO_KHR,
        .buffer = buffer,
        .offset = offset,
        .size = size,
        .type = type,
    };
    const pelt_vulkan *vulkan = &pass->compute.vulkan;
    VkResult status = pass->functions.create_acceleration_structure(
        vulkan->device, &info, vulkan->allocator, &out->handle);
    if (status != VK_SUCCESS) {
        out->handle = VK_NULL_HANDLE;
        return pelt_vulkan_fail(pass->compute.host, status, "vkCreateAccelerationStructureKHR");
    }
    const VkAccelerationStructureDeviceAddressInfoKHR address = {
        .sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_DEVICE_ADDRESS_INFO_KHR,
        .accelerationStructure = out->handle,
    };
    out->address =
        pass->functions.get_acceleration_structure_device_address(vulkan->device, &address);
    out->size = size;
    return PELT_OK;
}

void pelt_ray_structure_destroy(const pelt_ray_pass *pass, pelt_ray_structure *structure)
{
    if (!pass || !structure) {
        return;
    }
    const pelt_vulkan *vulkan = &pass->compute.vulkan;
    pass->functions.destroy_acceleration_structure(vulkan->device, structure->handle,
                                                   vulkan->allocator);
    *structure = (pelt_ray_structure){ 0 };
}

/* -- top level ----------------------------------------------------------------------------- */

static void describe_tlas(VkDeviceAddress instances, VkAccelerationStructureGeometryKHR *geometry,
                          VkAccelerationStructureBuildGeometryInfoKHR *info)
{
    *geometry = (VkAccelerationStructureGeometryKHR){
        .sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR,
        .geometryType = VK_GEOMETRY_TYPE_INSTANCES_KHR,
        .geometry.instances = {
            .sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_INSTANCES_DATA_KHR,
            .data.deviceAddress = instances,
        },
    };
    *info = (VkAccelerationStructureBuildGeometryInfoKHR){
        .sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_GEOMETRY_INFO_KHR,
        .type = VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR,
        .flags = VK_BUILD_ACCELERATION_STRUCTURE_PREFER_FAST_TRACE_BIT_KHR,
        .mode = VK_BUILD_ACCELERATION_STRUCTURE_MODE_BUILD_KHR,
        .geometryCount = 1,
        .pGeometries = geometry,
    };
}

pelt_result pelt_ray_tlas_measure(const pelt_ray_pass *pass, uint32_t instance_count,
                                  pelt_ray_sizes *out)
{
    *out = (pelt_ray_sizes){ 0 };
    if (instance_count > pass->limits.instance_count) {
        return pelt_fail(pass->compute.host, PELT_ERROR_RANGE, NULL, NULL,
                         "a top level of %u instances: the device takes %llu", instance_count,
                         (unsigned long long)pass->limits.instance_count);
    }
    VkAccelerationStructureGeometryKHR geometry;
    VkAccelerationStructureBuildGeometryInfoKHR info;
    describe_tlas(0, &geometry, &info);
    *out = ask_sizes(pass, &info, &instance_count);
    out->geometry_count = 1;
    return PELT_OK;
}

void pelt_cmd_ray_tlas(const pelt_ray_pass *pass, VkCommandBuffer commands,
                       const pelt_ray_structure *structure, VkDeviceAddress instances,
                       uint32_t count, VkDeviceAddress scratch)
{
    VkAccelerationStructureGeometryKHR geometry;
    VkAccelerationStructureBuildGeometryInfoKHR info;
    describe_tlas(instances, &geometry, &info);
    info.dstAccelerationStructure = structure->handle;
    info.scratchData.deviceAddress = pelt_align(scratch, pass->limits.scratch_alignment);
    const VkAccelerationStructureBuildRangeInfoKHR range = { .primitiveCount = count };
    const VkAccelerationStructureBuildRangeInfoKHR *ranges = &range;
    pass->functions.cmd_build_acceleration_structures(commands, 1, &info, &ranges);
}

/* -- barriers ------------------------------------------------------------------------------ */

void pelt_cmd_ray_barrier(const pelt_ray_pass *pass, VkCommandBuffer commands, pelt_ray_point point,
                          VkPipelineStageFlags stages)
{
    const VkPipelineStageFlags build = VK_PIPELINE_STAGE_ACCELERATION_STRUCTURE_BUILD_BIT_KHR;
    const VkPipelineStageFlags write =
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkAccessFlags structures = VK_ACCESS_ACCELERATION_STRUCTURE_READ_BIT_KHR |
                                     VK_ACCESS_ACCELERATION_STRUCTURE_WRITE_BIT_KHR;
    VkPipelineStageFlags from = build, to = build;
    VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_ACCELERATION_STRUCTURE_WRITE_BIT_KHR,
        .dstAccessMask = structures,
    };
    switch (point) {
    case PELT_RAY_AFTER_TRACE:
        from = build | stages;
        to = build | write;
        break;
    case PELT_RAY_AFTER_SKIN:
        from = write;
        to = build | stages;
        barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
        barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT;
        break;
    case PELT_RAY_AFTER_BUILD:
        barrier.srcAccessMask = structures;
        break;
    case PELT_RAY_BEFORE_TRACE:
        to = stages;
        barrier.dstAccessMask = VK_ACCESS_ACCELERATION_STRUCTURE_READ_BIT_KHR;
        break;
    }
    pass->compute.functions.cmd_pipeline_barrier(commands, from, to, 0, 1, &barrier, 0, NULL, 0,
                                                 NULL);
}
