/* Animated vertices as Vulkan's builds take them. */
#include "vulkan/ray_pass.h"

pelt_ray_geometry pelt_ray_geometry_of(const pelt_gpu_mesh *mesh, const pelt_gpu_instance *instance,
                                       const pelt_ray_indices *indices)
{
    return (pelt_ray_geometry){
        .positions = instance->positions,
        .position_stride = instance->position_stride,
        .vertex_count = mesh->vertex_count,
        .indices = indices->address,
        .index_bytes = indices->index_bytes,
        .triangle_count = indices->triangle_count,
        .content = indices->content,
    };
}

static uint32_t index_bytes(const pelt_ray_geometry *geometry)
{
    return geometry->index_bytes == 0 ? 4 : geometry->index_bytes;
}

static const char *wrong_with(const pelt_ray_geometry *geometry)
{
    uint32_t bytes = index_bytes(geometry);
    if (geometry->positions == 0 || geometry->positions % 4 != 0) {
        return "positions is 0 or not 4-byte aligned";
    }
    if (geometry->position_stride < 12 || geometry->position_stride % 4 != 0) {
        return "position_stride is below 12 or not a multiple of 4";
    }
    if (geometry->vertex_count == 0) {
        return "vertex_count is 0";
    }
    if (bytes != 2 && bytes != 4) {
        return "index_bytes is neither 2 nor 4";
    }
    if (geometry->indices % bytes != 0) {
        return "indices is not aligned to index_bytes";
    }
    if (geometry->indices == 0 && geometry->triangle_count > geometry->vertex_count / 3) {
        return "without indices, vertex_count is less than three a triangle";
    }
    return NULL;
}

pelt_result pelt_ray_check_geometry(const pelt_host *host, const uint32_t *structure,
                                    uint32_t index, const pelt_ray_geometry *geometry)
{
    const char *wrong = wrong_with(geometry);
    if (!wrong) {
        return PELT_OK;
    }
    if (structure) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL, "structure %u, geometry %u: %s",
                         *structure, index, wrong);
    }
    return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL, "geometry %u: %s", index, wrong);
}

VkBuildAccelerationStructureFlagsKHR pelt_ray_flags(pelt_ray_use use)
{
    switch (use) {
    case PELT_RAY_ANIMATED:
        return VK_BUILD_ACCELERATION_STRUCTURE_ALLOW_UPDATE_BIT_KHR |
               VK_BUILD_ACCELERATION_STRUCTURE_PREFER_FAST_TRACE_BIT_KHR;
    case PELT_RAY_REFITTED:
        return VK_BUILD_ACCELERATION_STRUCTURE_ALLOW_UPDATE_BIT_KHR |
               VK_BUILD_ACCELERATION_STRUCTURE_PREFER_FAST_BUILD_BIT_KHR;
    case PELT_RAY_REBUILT:
        return VK_BUILD_ACCELERATION_STRUCTURE_PREFER_FAST_BUILD_BIT_KHR;
    default:
        return VK_BUILD_ACCELERATION_STRUCTURE_PREFER_FAST_TRACE_BIT_KHR;
    }
}

static VkIndexType index_type(const pelt_ray_geometry *geometry)
{
    if (geometry->indices == 0) {
        return VK_INDEX_TYPE_NONE_KHR;
    }
    return index_bytes(geometry) == 2 ? VK_INDEX_TYPE_UINT16 : VK_INDEX_TYPE_UINT32;
}

void pelt_ray_geometry_describe(const pelt_ray_geometry *geometry,
                                VkAccelerationStructureGeometryKHR *out,
                                VkAccelerationStructureBuildRangeInfoKHR *range)
{
    *out = (VkAccelerationStructureGeometryKHR){
        .sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR,
        .geometryType = VK_GEOMETRY_TYPE_TRIANGLES_KHR,
        .geometry.triangles = {
            .sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_TRIANGLES_DATA_KHR,
            .vertexFormat = VK_FORMAT_R32G32B32_SFLOAT,
            .vertexData.deviceAddress = geometry->positions,
            .vertexStride = geometry->position_stride,
            .maxVertex = geometry->vertex_count - 1,
            .indexType = index_type(geometry),
            .indexData.deviceAddress = geometry->indices,
        },
        .flags = (geometry->any_hit ? 0 : (VkGeometryFlagsKHR)VK_GEOMETRY_OPAQUE_BIT_KHR) |
                 (geometry->any_hit_once
                      ? (VkGeometryFlagsKHR)VK_GEOMETRY_NO_DUPLICATE_ANY_HIT_INVOCATION_BIT_KHR
                      : 0),
    };
    *range = (VkAccelerationStructureBuildRangeInfoKHR){
        .primitiveCount = geometry->inactive ? 0 : geometry->triangle_count,
    };
}

void pelt_ray_build_describe(const VkAccelerationStructureGeometryKHR *geometries,
                             uint32_t geometry_count, pelt_ray_use use,
                             VkAccelerationStructureBuildGeometryInfoKHR *out)
{
    *out = (VkAccelerationStructureBuildGeometryInfoKHR){
        .sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_GEOMETRY_INFO_KHR,
        .type = VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR,
        .flags = pelt_ray_flags(use),
        .mode = VK_BUILD_ACCELERATION_STRUCTURE_MODE_BUILD_KHR,
        .geometryCount = geometry_count,
        .pGeometries = geometries,
    };
}
