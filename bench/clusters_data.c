/* The crowd of the cluster bench, posed, and the tables of all passes. */
#include "bench/clusters_internal.h"

#include <math.h>
#include <pelt/pose.h>
#include <string.h>

enum { MATRIX_SIZE = 48, POSES = 16 /* that levels are judged in */ };

static pelt_result create(const pelt_bench_clusters_data *data, size_t size,
                          VkBufferUsageFlags usage, pelt_buffer *out)
{
    return pelt_buffer_create(data->bench->device, size, usage, PELT_MEMORY_DEVICE, out);
}

pelt_result pelt_bench_clusters_upload(const pelt_bench_clusters_data *data, const void *bytes,
                                       size_t size, VkBufferUsageFlags usage, pelt_buffer *out)
{
    pelt_result result = create(data, size, usage, out);
    return result == PELT_OK && size > 0
               ? pelt_buffer_upload(data->bench->device, out, 0, bytes, size)
               : result;
}

static pelt_result upload(const pelt_bench_clusters_data *data, const void *bytes, size_t size,
                          pelt_buffer *out)
{
    return pelt_bench_clusters_upload(data, bytes, size, 0, out);
}

/* A moment of the clip that an instance plays; the static pose where there is none. */
static pelt_play play_of(const pelt_model *model, uint32_t i)
{
    if (model->clip_count == 0) {
        return (pelt_play){ .clip = -1 };
    }
    uint32_t clip = i % model->clip_count;
    double part = fmod(0.618033988749895 * i, 1.0);
    return (pelt_play){ .clip = (int32_t)clip, .time = part * model->clips[clip].duration };
}

static uint32_t matrix_count(const pelt_bench_clusters_data *data)
{
    return data->settings->model->matrix_count;
}

/* -- meshes -------------------------------------------------------------------------------- */

/* A part's matrices of some poses, for its levels. The caller's to release. */
static float *make_poses(const pelt_bench_clusters_data *data, pelt_pose *pose,
                         const pelt_palette *palette)
{
    const pelt_host *host = data->bench->host;
    size_t size = (size_t)palette->matrix_count * 12;
    float *poses = pelt_allocate(host, POSES * size, sizeof(*poses));
    float *all = pelt_allocate(host, matrix_count(data), MATRIX_SIZE);
    pelt_result result = poses && all ? PELT_OK : PELT_ERROR_MEMORY;
    for (uint32_t i = 0; i < POSES && result == PELT_OK; i++) {
        const pelt_play play = play_of(data->settings->model, i);
        result = pelt_pose_evaluate(pose, &play, 1);
        if (result == PELT_OK) {
            result = pelt_pose_skin_matrices(pose, NULL, all);
        }
        memcpy(poses + i * size, all + 12 * (size_t)palette->first_matrix, size * sizeof(*poses));
    }
    pelt_release(host, all);
    if (result != PELT_OK) {
        pelt_release(host, poses);
        return NULL;
    }
    return poses;
}

static pelt_result cut(const pelt_bench_clusters_data *data, pelt_pose *pose,
                       pelt_bench_clusters_part *part)
{
    const pelt_host *host = data->bench->host;
    const pelt_palette *palette = &data->settings->model->palettes[part->from->palette];
    const pelt_pack_info pack = { .primitive = part->primitive, .rigid = !part->from->skinned };
    pelt_result result = pelt_pack(host, &pack, &part->packed);
    if (result == PELT_OK) {
        result = pelt_joint_boxes_create(host, part->packed, NULL, &part->boxes);
    }
    if (result != PELT_OK) {
        return result;
    }
    float *poses = make_poses(data, pose, palette);
    if (!poses) {
        return PELT_ERROR_MEMORY;
    }
    const pelt_clusters_info info = { .mesh = part->packed,
                                      .primitive = part->primitive,
                                      .lod_count = data->settings->lods,
                                      .poses = poses,
                                      .pose_count = POSES,
                                      .joint_count = palette->matrix_count };
    result = pelt_clusters_create(host, &info, &part->clusters);
    pelt_release(host, poses);
    return result;
}

static pelt_result upload_part(const pelt_bench_clusters_data *data, pelt_bench_clusters_part *part)
{
    const pelt_host *host = data->bench->host;
    size_t size = pelt_gpu_clusters_size(part->clusters, part->packed);
    void *bytes = pelt_allocate(host, size, 1);
    pelt_result result = bytes ? create(data, size, 0, &part->memory) : PELT_ERROR_MEMORY;
    if (result == PELT_OK) {
        pelt_gpu_clusters_write(part->clusters, part->packed, bytes, part->memory.address,
                                &part->gpu);
        result = pelt_buffer_upload(data->bench->device, &part->memory, 0, bytes, size);
    }
    pelt_release(host, bytes);
    return result == PELT_OK ? upload(data, part->boxes->bind,
                                      part->boxes->joint_count * sizeof(pelt_box), &part->bind)
                             : result;
}

static pelt_result create_parts(pelt_bench_clusters_data *data, pelt_pose *pose)
{
    const pelt_model *model = data->settings->model;
    uint64_t vertices = 0, count = data->settings->instances;
    data->parts = pelt_allocate(data->bench->host, model->part_count, sizeof(*data->parts));
    pelt_result result = data->parts ? PELT_OK : PELT_ERROR_MEMORY;
    for (uint32_t p = 0; result == PELT_OK && p < model->part_count; p++) {
        const pelt_part *from = &model->parts[p];
        const pelt_primitive *primitive = &model->meshes[from->mesh].primitives[from->primitive];
        if (pelt_primitive_triangle_count(primitive) == 0) {
            continue;
        }
        pelt_bench_clusters_part *part = &data->parts[data->part_count++];
        *part = (pelt_bench_clusters_part){ .from = from, .primitive = primitive };
        result = cut(data, pose, part);
        if (result == PELT_OK) {
            result = upload_part(data, part);
            part->first_vertex = (size_t)(vertices * count);
            vertices += part->packed->vertex_count;
        }
    }
    if (result == PELT_OK && data->part_count == 0) {
        return pelt_fail(data->bench->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "the model has no triangle");
    }
    if (result == PELT_OK && vertices * count * sizeof(pelt_packed_vertex) >= UINT64_C(1) << 32) {
        return pelt_fail(data->bench->host, PELT_ERROR_RANGE, NULL, NULL,
                         "%u instances of %llu vertices need more than 4 GiB",
                         data->settings->instances, (unsigned long long)vertices);
    }
    return result == PELT_OK ? create(data, (size_t)(vertices * count) * sizeof(pelt_packed_vertex),
                                      0, &data->animated)
                             : result;
}

/* -- who stands where ---------------------------------------------------------------------- */

/* A character's box, in its first pose. */
static void measure(pelt_bench_clusters_data *data, const float *matrices)
{
    data->bind = (pelt_box)PELT_BOX_EMPTY;
    for (uint32_t p = 0; p < data->part_count; p++) {
        const pelt_bench_clusters_part *part = &data->parts[p];
        uint32_t first = data->settings->model->palettes[part->from->palette].first_matrix;
        pelt_box box = pelt_joint_boxes_bound(part->boxes, matrices + 12 * (size_t)first);
        for (int c = 0; c < 3; c++) {
            data->bind.min[c] = fminf(data->bind.min[c], box.min[c]);
            data->bind.max[c] = fmaxf(data->bind.max[c], box.max[c]);
        }
    }
}

double pelt_bench_clusters_spacing(const pelt_bench_clusters_data *data)
{
    return 1.1 * fmax((double)data->bind.max[0] - data->bind.min[0],
                      (double)data->bind.max[2] - data->bind.min[2]);
}

uint32_t pelt_bench_clusters_columns(const pelt_bench_clusters_data *data)
{
    return (uint32_t)ceil(sqrt(data->settings->instances));
}

static pelt_result upload_matrices(pelt_bench_clusters_data *data, pelt_pose *pose)
{
    const pelt_model *model = data->settings->model;
    uint32_t count = data->settings->instances, side = pelt_bench_clusters_columns(data);
    float *all = pelt_allocate(data->bench->host, (size_t)count * matrix_count(data), MATRIX_SIZE);
    pelt_result result = all ? PELT_OK : PELT_ERROR_MEMORY;
    for (uint32_t i = 0; result == PELT_OK && i < count; i++) {
        const pelt_play play = play_of(model, i);
        float *own = all + 12 * (size_t)i * matrix_count(data);
        result = pelt_pose_evaluate(pose, &play, 1);
        if (result == PELT_OK && i == 0) {
            result = pelt_pose_skin_matrices(pose, NULL, own);
            measure(data, own);
        }
        double c = cos(2.4 * i), s = sin(2.4 * i), step = pelt_bench_clusters_spacing(data);
        uint32_t column = i % side, row = i / side;
        const double world[12] = { c,  0, s, step * (column - (side - 1) / 2.0), 0, 1, 0, 0,
                                   -s, 0, c, step * (row - (side - 1) / 2.0) };
        if (result == PELT_OK) {
            result = pelt_pose_skin_matrices(pose, world, own);
        }
    }
    if (result == PELT_OK) {
        result =
            upload(data, all, (size_t)count * matrix_count(data) * MATRIX_SIZE, &data->matrices);
    }
    pelt_release(data->bench->host, all);
    return result;
}

/* -- tables -------------------------------------------------------------------------------- */

static size_t item_count(const pelt_bench_clusters_data *data)
{
    return (size_t)data->settings->instances * data->part_count;
}

static VkDeviceAddress matrices_of(const pelt_bench_clusters_data *data, size_t item)
{
    const pelt_bench_clusters_part *part = &data->parts[item % data->part_count];
    size_t matrix = item / data->part_count * matrix_count(data) +
                    data->settings->model->palettes[part->from->palette].first_matrix;
    return data->matrices.address + matrix * MATRIX_SIZE;
}

static pelt_result create_box_table(pelt_bench_clusters_data *data)
{
    size_t count = item_count(data);
    pelt_gpu_joint_box_instance *items = pelt_allocate(data->bench->host, count, sizeof(*items));
    void *table = pelt_allocate(data->bench->host, pelt_joint_box_table_size((uint32_t)count), 1);
    pelt_result result = items && table ? create(data, count * sizeof(pelt_box), 0, &data->boxes)
                                        : PELT_ERROR_MEMORY;
    for (size_t i = 0; result == PELT_OK && i < count; i++) {
        const pelt_bench_clusters_part *part = &data->parts[i % data->part_count];
        items[i] = (pelt_gpu_joint_box_instance){
            .bind = part->bind.address,
            .matrices = matrices_of(data, i),
            .joint_count = part->boxes->joint_count,
            .influence_count = part->boxes->influence_count,
            .box = data->boxes.address + i * sizeof(pelt_box),
        };
    }
    if (result == PELT_OK) {
        pelt_joint_box_table_write(items, (uint32_t)count, table);
        result = upload(data, table, pelt_joint_box_table_size((uint32_t)count), &data->box_table);
    }
    pelt_release(data->bench->host, table);
    pelt_release(data->bench->host, items);
    return result;
}

static pelt_result create_skin_table(pelt_bench_clusters_data *data)
{
    const pelt_host *host = data->bench->host;
    size_t count = item_count(data);
    pelt_gpu_instance *items = pelt_allocate(host, count, sizeof(*items));
    pelt_gpu_mesh *meshes = pelt_allocate(host, data->part_count, sizeof(*meshes));
    pelt_result result = items && meshes ? PELT_OK : PELT_ERROR_MEMORY;
    for (size_t i = 0; result == PELT_OK && i < count; i++) {
        uint32_t p = (uint32_t)(i % data->part_count);
        const pelt_bench_clusters_part *part = &data->parts[p];
        size_t vertex = part->first_vertex + i / data->part_count * part->packed->vertex_count;
        VkDeviceAddress at = data->animated.address + vertex * sizeof(pelt_packed_vertex);
        meshes[p] = part->gpu.mesh;
        items[i] = (pelt_gpu_instance){ .mesh = p,
                                        .matrices = matrices_of(data, i),
                                        .positions = at,
                                        .position_stride = 16,
                                        .normals = at + 12,
                                        .normal_stride = 16 };
    }
    const pelt_skin_tables_info info = { meshes, data->part_count, items, (uint32_t)count };
    void *table = NULL;
    if (result == PELT_OK) {
        result = pelt_skin_tables_measure(data->bench->pass, &info, &data->skin_tables);
    }
    if (result == PELT_OK) {
        table = pelt_allocate(host, data->skin_tables.table_size, 1);
        result = table ? create(data, data->skin_tables.scratch_size, 0, &data->skin_scratch)
                       : PELT_ERROR_MEMORY;
    }
    if (result == PELT_OK) {
        pelt_skin_tables_write(data->bench->pass, &info, &data->skin_tables, table);
        result = upload(data, table, data->skin_tables.table_size, &data->skin_table);
    }
    pelt_release(host, table);
    pelt_release(host, meshes);
    pelt_release(host, items);
    return result;
}

static pelt_result upload_records(pelt_bench_clusters_data *data)
{
    size_t size = (size_t)data->part_count * PELT_GPU_CLUSTER_MESH_SIZE;
    char *records = pelt_allocate(data->bench->host, size, 1);
    if (!records) {
        return PELT_ERROR_MEMORY;
    }
    uint32_t first_index = 0;
    for (uint32_t p = 0; p < data->part_count; p++) {
        data->parts[p].gpu.first_index = first_index;
        first_index += 3 * data->parts[p].clusters->triangle_count;
        pelt_gpu_cluster_mesh_write(&data->parts[p].gpu,
                                    records + (size_t)p * PELT_GPU_CLUSTER_MESH_SIZE);
    }
    pelt_result result = upload(data, records, size, &data->records);
    pelt_release(data->bench->host, records);
    return result;
}

static pelt_result upload_instances(pelt_bench_clusters_data *data)
{
    size_t count = item_count(data);
    char *list = pelt_allocate(data->bench->host, count, PELT_CLUSTER_INSTANCE_SIZE);
    pelt_result result = list ? PELT_OK : PELT_ERROR_MEMORY;
    for (size_t i = 0; result == PELT_OK && i < count; i++) {
        const pelt_cluster_instance instance = {
            .mesh = data->records.address + i % data->part_count * PELT_GPU_CLUSTER_MESH_SIZE,
            .matrices = matrices_of(data, i),
            .box = data->boxes.address + i * sizeof(pelt_box),
        };
        result = pelt_cluster_instance_write(data->bench->host, &instance,
                                             list + i * PELT_CLUSTER_INSTANCE_SIZE);
    }
    if (result == PELT_OK) {
        result = upload(data, list, count * PELT_CLUSTER_INSTANCE_SIZE, &data->instances);
    }
    pelt_release(data->bench->host, list);
    return result;
}

static pelt_result create_cluster_table(pelt_bench_clusters_data *data)
{
    const pelt_host *host = data->bench->host;
    size_t count = item_count(data);
    uint32_t *items = pelt_allocate(host, count, sizeof(*items));
    pelt_gpu_clusters *meshes = pelt_allocate(host, data->part_count, sizeof(*meshes));
    void *table = NULL;
    pelt_result result = items && meshes ? PELT_OK : PELT_ERROR_MEMORY;
    for (size_t i = 0; result == PELT_OK && i < count; i++) {
        items[i] = (uint32_t)(i % data->part_count);
        meshes[items[i]] = data->parts[items[i]].gpu;
    }
    const pelt_cluster_scene scene = { meshes, data->part_count, items, (uint32_t)count };
    if (result == PELT_OK) {
        result = pelt_cluster_tables_measure(host, &scene, &data->tables);
    }
    if (result == PELT_OK) {
        table = pelt_allocate(host, data->tables.table_size, 1);
        result = table ? PELT_OK : PELT_ERROR_MEMORY;
    }
    if (result == PELT_OK) {
        pelt_cluster_tables_write(&scene, table);
        result = upload(data, table, data->tables.table_size, &data->table);
    }
    pelt_release(host, table);
    pelt_release(host, meshes);
    pelt_release(host, items);
    return result;
}

static pelt_result create_outputs(pelt_bench_clusters_data *data)
{
    if (data->tables.cluster_count > PELT_CLUSTER_CAPACITY_MAX) {
        return pelt_fail(data->bench->host, PELT_ERROR_RANGE, NULL, NULL,
                         "%llu clusters need more than 4 GiB",
                         (unsigned long long)data->tables.cluster_count);
    }
    data->capacity = (uint32_t)data->tables.cluster_count;
    size_t count = data->capacity;
    const struct {
        size_t size;
        VkBufferUsageFlags usage;
        pelt_buffer *buffer;
    } outputs[] = {
        { data->tables.scratch_size, 0, &data->scratch },
        { count * sizeof(pelt_visible_cluster), 0, &data->visible },
        { sizeof(pelt_cluster_counts), VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT, &data->counts },
        { count * sizeof(VkDrawIndexedIndirectCommand), VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT,
          &data->draws },
        { count * PELT_CLUSTER_SLOT * sizeof(pelt_packed_vertex), 0, &data->vertices },
        { PELT_CLUSTER_VIEW_SIZE, 0, &data->view },
        { PELT_CLUSTER_VIEW_SIZE, 0, &data->view_of_all },
    };
    pelt_result result = PELT_OK;
    for (size_t i = 0; result == PELT_OK && i < sizeof(outputs) / sizeof(outputs[0]); i++) {
        result = create(data, outputs[i].size, outputs[i].usage, outputs[i].buffer);
    }
    return result;
}

pelt_result pelt_bench_clusters_data_create(pelt_bench *bench,
                                            const pelt_bench_clusters_settings *settings,
                                            pelt_bench_clusters_data *out)
{
    *out = (pelt_bench_clusters_data){ .bench = bench, .settings = settings };
    const pelt_cluster_pass_info info = { .vulkan = &bench->device->vulkan };
    pelt_pose *pose = NULL;
    pelt_result result = pelt_pose_create(bench->host, settings->model, &pose);
    if (result == PELT_OK) {
        result = create_parts(out, pose);
    }
    if (result == PELT_OK && item_count(out) > UINT32_MAX) {
        result = PELT_ERROR_MEMORY;
    }
    if (result == PELT_OK) {
        result = upload_matrices(out, pose);
    }
    pelt_pose_destroy(pose);
    if (result == PELT_OK) {
        result = pelt_cluster_pass_create(bench->host, &info, &out->pass);
    }
    static pelt_result (*const steps[])(pelt_bench_clusters_data *) = {
        create_box_table,
        create_skin_table,
        upload_records,
        upload_instances,
        create_cluster_table,
        create_outputs,
        pelt_bench_clusters_draw_create,
    };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && result == PELT_OK; i++) {
        result = steps[i](out);
    }
    return result;
}

void pelt_bench_clusters_data_destroy(pelt_bench_clusters_data *data)
{
    pelt_headless *device = data->bench->device;
    pelt_bench_clusters_draw_destroy(data);
    pelt_buffer *buffers[] = {
        &data->matrices, &data->boxes,    &data->box_table,   &data->instances,
        &data->records,  &data->view,     &data->view_of_all, &data->counts,
        &data->draws,    &data->vertices, &data->skin_table,  &data->skin_scratch,
        &data->animated, &data->table,    &data->scratch,     &data->visible,
    };
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        pelt_buffer_destroy(device, buffers[i]);
    }
    for (uint32_t p = 0; p < data->part_count; p++) {
        pelt_bench_clusters_part *part = &data->parts[p];
        pelt_buffer_destroy(device, &part->memory);
        pelt_buffer_destroy(device, &part->bind);
        pelt_joint_boxes_destroy(part->boxes);
        pelt_clusters_destroy(part->clusters);
        pelt_packed_mesh_destroy(part->packed);
    }
    pelt_release(data->bench->host, data->parts);
    pelt_cluster_pass_destroy(data->pass);
}

void pelt_bench_clusters_record(const pelt_bench_clusters_data *data,
                                pelt_bench_cluster_stage stage, VkCommandBuffer commands)
{
    const pelt_cluster_cull cull = { .tables = &data->tables,
                                     .table = data->table.address,
                                     .instances = data->instances.address,
                                     .view = data->view.address,
                                     .scratch = data->scratch.address,
                                     .capacity = data->capacity,
                                     .visible = data->visible.address,
                                     .counts = data->counts.address,
                                     .draws = data->draws.address };
    const pelt_cluster_skin skin = { .instances = data->instances.address,
                                     .visible = data->visible.address,
                                     .counts = data->counts.address,
                                     .counts_buffer = data->counts.buffer,
                                     .vertices = data->vertices.address,
                                     .bounds = true };
    switch (stage) {
    case PELT_BENCH_STAGE_SKIN:
        pelt_cmd_skin(data->bench->pass, commands, &data->skin_tables, data->skin_table.address,
                      data->skin_scratch.address);
        break;
    case PELT_BENCH_STAGE_BOXES:
        pelt_cmd_joint_boxes(data->bench->pass, commands, (uint32_t)item_count(data),
                             data->box_table.address);
        break;
    case PELT_BENCH_STAGE_CULL:
        pelt_cmd_cluster_cull(data->pass, commands, &cull);
        break;
    case PELT_BENCH_STAGE_PARTS:
        pelt_cmd_cluster_skin(data->pass, commands, &skin);
        break;
    default:
        pelt_bench_clusters_draw_record(data, stage, commands);
        break;
    }
    pelt_bench_full_barrier(data->bench, commands);
}
