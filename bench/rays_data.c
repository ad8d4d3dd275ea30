/* The crowd of the ray bench, ready to be posed and skinned. */
#include "bench/rays_internal.h"

#include "sample/sample.h"

#include <math.h>
#include <string.h>

enum { MATRIX_FLOATS = 12, VERTEX_SIZE = sizeof(pelt_packed_vertex) };

static const VkBufferUsageFlags build_input =
    VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR;

static pelt_result create(const pelt_bench_rays_data *data, size_t size, VkBufferUsageFlags usage,
                          pelt_buffer *out)
{
    return pelt_buffer_create(data->bench->device, size, usage, PELT_MEMORY_DEVICE, out);
}

static pelt_result fail_memory(const pelt_bench_rays_data *data)
{
    return pelt_fail(data->bench->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a crowd");
}

static pelt_result upload_streams(pelt_bench_rays_data *data)
{
    const pelt_host *host = data->bench->host;
    size_t size = pelt_gpu_mesh_size(data->packed);
    void *bytes = pelt_allocate(host, size, 1);
    pelt_result result = bytes ? create(data, size, 0, &data->streams) : fail_memory(data);
    if (result == PELT_OK) {
        pelt_gpu_mesh_write(data->packed, bytes, data->streams.address, &data->mesh);
        result = pelt_buffer_upload(data->bench->device, &data->streams, 0, bytes, size);
    }
    pelt_release(host, bytes);
    return result;
}

static pelt_result upload_indices(pelt_bench_rays_data *data, const pelt_primitive *primitive)
{
    const pelt_host *host = data->bench->host;
    uint32_t triangles = pelt_primitive_triangle_count(primitive);
    uint32_t *indices = pelt_allocate(host, (size_t)3 * triangles, sizeof(*indices));
    if (!indices) {
        return fail_memory(data);
    }
    pelt_primitive_triangles(primitive, indices);
    for (uint32_t i = 0; i < 3 * triangles; i++) {
        indices[i] = data->packed->packed_vertices[indices[i]];
    }
    size_t size = (size_t)12 * triangles;
    pelt_result result = create(data, size, build_input, &data->index_data);
    if (result == PELT_OK) {
        result = pelt_buffer_upload(data->bench->device, &data->index_data, 0, indices, size);
    }
    data->indices =
        (pelt_ray_indices){ .address = data->index_data.address, .triangle_count = triangles };
    pelt_release(host, indices);
    return result;
}

static pelt_result make_character(pelt_bench_rays_data *data)
{
    const pelt_host *host = data->bench->host;
    const pelt_sample_info info = { .vertices = data->scene->vertices };
    pelt_result result = pelt_sample_create(host, &info, &data->model);
    if (result != PELT_OK) {
        return result;
    }
    const pelt_part *part = &data->model->parts[0];
    const pelt_primitive *primitive = &data->model->meshes[part->mesh].primitives[part->primitive];
    data->matrix_count = data->model->matrix_count;
    result = pelt_pack(host, &(pelt_pack_info){ .primitive = primitive }, &data->packed);
    if (result == PELT_OK) {
        result = upload_streams(data);
    }
    return result == PELT_OK ? upload_indices(data, primitive) : result;
}

static pelt_result make_palettes(pelt_bench_rays_data *data)
{
    const pelt_host *host = data->bench->host;
    const size_t each = (size_t)MATRIX_FLOATS * data->matrix_count;
    pelt_pose *pose = NULL;
    data->palettes = pelt_allocate(host, BENCH_RAYS_POSES * each, sizeof(*data->palettes));
    pelt_result result =
        data->palettes ? pelt_pose_create(host, data->model, &pose) : fail_memory(data);
    for (uint32_t i = 0; result == PELT_OK && i < BENCH_RAYS_POSES; i++) {
        const pelt_play play = { .time = i / 60.0, .loop = true };
        result = pelt_pose_evaluate(pose, &play, 1);
        if (result == PELT_OK) {
            result = pelt_pose_skin_matrices(pose, NULL, data->palettes + i * each);
        }
    }
    pelt_pose_destroy(pose);
    return result;
}

/* -- places -------------------------------------------------------------------------------- */

/* Every second bit. */
static uint32_t even_bits(uint32_t value)
{
    uint32_t out = 0;
    for (uint32_t bit = 0; bit < 16; bit++) {
        out |= (value >> 2 * bit & 1) << bit;
    }
    return out;
}

static double spacing_of(const pelt_bench_rays_data *data, double *height)
{
    float low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (uint32_t v = 0; v < data->packed->vertex_count; v++) {
        for (int c = 0; c < 3; c++) {
            low[c] = fminf(low[c], data->packed->vertices[v].position[c]);
            high[c] = fmaxf(high[c], data->packed->vertices[v].position[c]);
        }
    }
    *height = (double)high[1];
    return fmax((double)(high[0] - low[0]), (double)(high[2] - low[2]));
}

/* Along a Morton curve, so that those of a group stand together; seen from above, at 45 degrees, by
 * rays that fill the picture. */
static pelt_result make_places(pelt_bench_rays_data *data)
{
    uint32_t count = data->scene->instances;
    data->places = pelt_allocate(data->bench->host, count, sizeof(*data->places));
    if (!data->places) {
        return fail_memory(data);
    }
    double height, spacing = spacing_of(data, &height), far_x = 0, far_z = 0;
    for (uint32_t i = 0; i < count; i++) {
        double x = spacing * even_bits(i), z = spacing * even_bits(i >> 1);
        data->places[i][0] = (float)x;
        data->places[i][1] = (float)z;
        far_x = fmax(far_x, x);
        far_z = fmax(far_z, z);
    }
    /* Down the picture is along (0, -1, 1), the rays along (0, -1, -1), both over the root of 2. */
    const double half = sqrt(0.5), deep = far_z + spacing;
    const double tall = half * (deep + height), away = deep + height;
    data->view = (pelt_bench_rays_view){
        .right = { (float)(far_x + spacing), 0, 0, 0 },
        .down = { 0, (float)(-half * tall), (float)(half * tall), 0 },
        .direction = { 0, (float)-half, (float)-half, 0 },
        .corner = { (float)(-spacing / 2), (float)(height + half * away),
                    (float)(-spacing / 2 + half * away), 0 },
    };
    return PELT_OK;
}

/* -- skinning ------------------------------------------------------------------------------ */

pelt_result pelt_bench_rays_pose(const pelt_bench_rays_data *data, uint32_t frame)
{
    const pelt_host *host = data->bench->host;
    const size_t each = (size_t)MATRIX_FLOATS * data->matrix_count;
    float *all = pelt_allocate(host, data->scene->instances * each, sizeof(*all));
    if (!all) {
        return fail_memory(data);
    }
    for (uint32_t i = 0; i < data->scene->instances; i++) {
        float *out = all + i * each;
        uint32_t pose = (13 * i + frame) % BENCH_RAYS_POSES;
        memcpy(out, data->palettes + pose * each, each * sizeof(*out));
        for (uint32_t m = 0; m < data->matrix_count; m++) {
            out[MATRIX_FLOATS * m + 3] += data->places[i][0];
            out[MATRIX_FLOATS * m + 11] += data->places[i][1];
        }
    }
    pelt_result result = pelt_buffer_upload(data->bench->device, &data->matrices, 0, all,
                                            data->scene->instances * each * sizeof(*all));
    pelt_release(host, all);
    return result;
}

static pelt_result make_tables(pelt_bench_rays_data *data)
{
    const pelt_host *host = data->bench->host;
    const pelt_skin_tables_info info = { .meshes = &data->mesh,
                                         .mesh_count = 1,
                                         .instances = data->instances,
                                         .instance_count = data->scene->instances };
    pelt_result result = pelt_skin_tables_measure(data->bench->pass, &info, &data->tables);
    void *bytes = result == PELT_OK ? pelt_allocate(host, data->tables.table_size, 1) : NULL;
    if (result == PELT_OK) {
        result = bytes ? create(data, data->tables.table_size, 0, &data->table) : fail_memory(data);
    }
    if (result == PELT_OK) {
        pelt_skin_tables_write(data->bench->pass, &info, &data->tables, bytes);
        result = pelt_buffer_upload(data->bench->device, &data->table, 0, bytes,
                                    data->tables.table_size);
    }
    pelt_release(host, bytes);
    return result == PELT_OK ? create(data, data->tables.scratch_size, 0, &data->skin_scratch)
                             : result;
}

static pelt_result make_instances(pelt_bench_rays_data *data)
{
    uint32_t count = data->scene->instances;
    const size_t palette = sizeof(float) * MATRIX_FLOATS * data->matrix_count;
    const size_t vertices = (size_t)VERTEX_SIZE * data->packed->vertex_count;
    data->instances = pelt_allocate(data->bench->host, count, sizeof(*data->instances));
    pelt_result result =
        data->instances ? create(data, count * palette, 0, &data->matrices) : fail_memory(data);
    if (result == PELT_OK) {
        result = create(data, count * vertices, build_input, &data->outputs);
    }
    for (uint32_t i = 0; result == PELT_OK && i < count; i++) {
        VkDeviceAddress positions = data->outputs.address + i * vertices;
        data->instances[i] = (pelt_gpu_instance){
            .matrices = data->matrices.address + i * palette,
            .positions = positions,
            .position_stride = VERTEX_SIZE,
            .normals = positions + 12,
            .normal_stride = VERTEX_SIZE,
        };
    }
    return result == PELT_OK ? make_tables(data) : result;
}

pelt_result pelt_bench_rays_data_create(pelt_bench *bench, const pelt_bench_rays_scene *scene,
                                        pelt_bench_rays_data *out)
{
    *out = (pelt_bench_rays_data){ .bench = bench, .scene = scene };
    pelt_result result = pelt_ray_pass_create(bench->host, &bench->device->vulkan, &out->pass);
    if (result == PELT_OK) {
        result = make_character(out);
    }
    if (result == PELT_OK) {
        result = make_palettes(out);
    }
    if (result == PELT_OK) {
        result = make_places(out);
    }
    return result == PELT_OK ? make_instances(out) : result;
}

void pelt_bench_rays_data_destroy(pelt_bench_rays_data *data)
{
    const pelt_host *host = data->bench->host;
    pelt_buffer *buffers[] = { &data->streams, &data->index_data, &data->matrices,
                               &data->outputs, &data->table,      &data->skin_scratch };
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        pelt_buffer_destroy(data->bench->device, buffers[i]);
    }
    pelt_release(host, data->instances);
    pelt_release(host, data->places);
    pelt_release(host, data->palettes);
    pelt_packed_mesh_destroy(data->packed);
    pelt_model_destroy(data->model);
    pelt_ray_pass_destroy(data->pass);
}
