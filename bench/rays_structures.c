/* The structures of the ray bench: all of one use, in memory of pools. */
#include "bench/rays_internal.h"

enum { ALIGNMENT = 256 };

static const VkDeviceSize pool_size = UINT64_C(1) << 30;

static pelt_result create(const pelt_bench_rays_data *data, VkDeviceSize size,
                          VkBufferUsageFlags usage, pelt_buffer *out)
{
    return pelt_buffer_create(data->bench->device, size, usage, PELT_MEMORY_DEVICE, out);
}

static const pelt_ray_sizes *sizes_of(const pelt_bench_rays_data *data, uint32_t structure)
{
    return &data->sizes[structure + 1 == data->structure_count];
}

static VkDeviceSize aligned_size(const pelt_ray_sizes *sizes)
{
    return (sizes->structure + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static pelt_result describe(pelt_bench_rays_data *data, pelt_ray_use use)
{
    const pelt_host *host = data->bench->host;
    uint32_t count = data->scene->instances, group = data->scene->group;
    data->structure_count = count / group + (count % group != 0);
    data->geometries = pelt_allocate(host, count, sizeof(*data->geometries));
    data->blas = pelt_allocate(host, data->structure_count, sizeof(*data->blas));
    data->structures = pelt_allocate(host, data->structure_count, sizeof(*data->structures));
    if (!data->geometries || !data->blas || !data->structures) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %u structures",
                         data->structure_count);
    }
    for (uint32_t i = 0; i < count; i++) {
        data->geometries[i] =
            pelt_ray_geometry_of(&data->mesh, &data->instances[i], &data->indices);
    }
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; i < data->structure_count; i++) {
        uint32_t first = i * group, left = count - first;
        data->blas[i] = (pelt_ray_blas){ .geometries = &data->geometries[first],
                                         .geometry_count = left < group ? left : group,
                                         .use = use,
                                         .sizes = sizes_of(data, i),
                                         .structure = &data->structures[i] };
    }
    const uint32_t measured[BENCH_RAYS_SIZES] = { 0, data->structure_count - 1 };
    for (uint32_t i = 0; result == PELT_OK && i < BENCH_RAYS_SIZES; i++) {
        const pelt_ray_blas *blas = &data->blas[measured[i]];
        result = pelt_ray_measure(data->pass, blas->geometries, blas->geometry_count, use,
                                  &data->sizes[i]);
    }
    return result;
}

/* A pool holds as many as fit. */
static pelt_result create_structures(pelt_bench_rays_data *data)
{
    VkDeviceSize each = aligned_size(&data->sizes[0]);
    uint64_t in_pool = pool_size / each > 0 ? pool_size / each : 1;
    uint32_t pools = (uint32_t)((data->structure_count - 1) / in_pool + 1);
    data->pools = pelt_allocate(data->bench->host, pools, sizeof(*data->pools));
    pelt_result result = data->pools ? PELT_OK : PELT_ERROR_MEMORY;
    for (uint32_t i = 0; result == PELT_OK && i < data->structure_count; i++) {
        uint64_t place = i % in_pool, left = data->structure_count - i;
        if (place == 0) {
            result = create(data, each * (left < in_pool ? left : in_pool),
                            VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_STORAGE_BIT_KHR,
                            &data->pools[data->pool_count]);
            data->pool_count += result == PELT_OK;
        }
        if (result == PELT_OK) {
            result = pelt_ray_structure_create(
                data->pass, VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR,
                data->pools[data->pool_count - 1].buffer, place * each,
                sizes_of(data, i)->structure, &data->structures[i]);
            data->structure_bytes += aligned_size(sizes_of(data, i));
        }
    }
    return result;
}

static pelt_result create_top(pelt_bench_rays_data *data)
{
    const pelt_host *host = data->bench->host;
    uint32_t count = data->structure_count;
    pelt_ray_sizes sizes;
    pelt_ray_instance *instances = pelt_allocate(host, count, sizeof(*instances));
    void *records = pelt_allocate(host, count, PELT_RAY_INSTANCE_SIZE);
    pelt_result result =
        instances && records ? pelt_ray_tlas_measure(data->pass, count, &sizes) : PELT_ERROR_MEMORY;
    for (uint32_t i = 0; result == PELT_OK && i < count; i++) {
        instances[i] =
            (pelt_ray_instance){ .structure = data->structures[i].address, .custom_index = i };
    }
    if (result == PELT_OK) {
        result = pelt_ray_instances_write(host, instances, count, records);
    }
    if (result == PELT_OK) {
        result = create(data, (VkDeviceSize)count * PELT_RAY_INSTANCE_SIZE,
                        VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR,
                        &data->records);
    }
    if (result == PELT_OK) {
        result =
            pelt_buffer_upload(data->bench->device, &data->records, 0, records, data->records.size);
    }
    pelt_release(host, instances);
    pelt_release(host, records);
    if (result == PELT_OK) {
        result = create(data, sizes.structure,
                        VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_STORAGE_BIT_KHR, &data->top_memory);
    }
    if (result == PELT_OK) {
        result =
            create(data, sizes.build_scratch + pelt_ray_pass_limits(data->pass)->scratch_alignment,
                   0, &data->top_scratch);
    }
    return result == PELT_OK
               ? pelt_ray_structure_create(data->pass, VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR,
                                           data->top_memory.buffer, 0, sizes.structure, &data->top)
               : result;
}

pelt_result pelt_bench_rays_structures_create(pelt_bench_rays_data *data, pelt_ray_use use)
{
    pelt_result result = describe(data, use);
    if (result == PELT_OK) {
        result = create_structures(data);
    }
    if (result == PELT_OK) {
        result = create_top(data);
    }
    if (result == PELT_OK) {
        result = pelt_ray_scene_create(data->bench->host, pelt_ray_pass_limits(data->pass),
                                       &data->ray_scene);
    }
    if (result == PELT_OK) {
        result = pelt_bench_rays_plan(data, true, BENCH_RAYS_SCRATCH);
    }
    return result == PELT_OK ? create(data, data->plan.scratch_bound, 0, &data->scratch) : result;
}

void pelt_bench_rays_structures_destroy(pelt_bench_rays_data *data)
{
    const pelt_host *host = data->bench->host;
    for (uint32_t i = 0; data->structures && i < data->structure_count; i++) {
        pelt_ray_structure_destroy(data->pass, &data->structures[i]);
    }
    if (data->top.handle) {
        pelt_ray_structure_destroy(data->pass, &data->top);
    }
    for (uint32_t i = 0; i < data->pool_count; i++) {
        pelt_buffer_destroy(data->bench->device, &data->pools[i]);
    }
    pelt_buffer_destroy(data->bench->device, &data->scratch);
    pelt_buffer_destroy(data->bench->device, &data->records);
    pelt_buffer_destroy(data->bench->device, &data->top_memory);
    pelt_buffer_destroy(data->bench->device, &data->top_scratch);
    pelt_ray_scene_destroy(data->ray_scene);
    pelt_release(host, data->pools);
    pelt_release(host, data->geometries);
    pelt_release(host, data->blas);
    pelt_release(host, data->structures);
    data->pools = NULL;
    data->geometries = NULL;
    data->blas = NULL;
    data->structures = NULL;
    data->ray_scene = NULL;
    data->pool_count = 0;
    data->structure_bytes = 0;
}

pelt_result pelt_bench_rays_plan(pelt_bench_rays_data *data, bool build, VkDeviceSize scratch_limit)
{
    for (uint32_t i = 0; build && i < data->structure_count; i++) {
        pelt_ray_scene_forget(data->ray_scene, i);
    }
    const pelt_ray_frame frame = { .structures = data->blas,
                                   .structure_count = data->structure_count,
                                   .rebuild_interval = UINT32_MAX,
                                   .scratch_limit = scratch_limit };
    return pelt_ray_scene_plan(data->ray_scene, &frame, &data->plan);
}
