/* The crowd of the crowd bench, ready to be posed, skinned and found. */
#include "bench/crowd_internal.h"

#include <math.h>
#include <string.h>

enum { MATRIX_SIZE = 48 };

static pelt_result create(const pelt_bench_crowd_data *data, size_t size, VkBufferUsageFlags usage,
                          pelt_buffer *out)
{
    return pelt_buffer_create(data->bench->device, size, usage, PELT_MEMORY_DEVICE, out);
}

static pelt_result upload(const pelt_bench_crowd_data *data, const void *bytes, size_t size,
                          VkBufferUsageFlags usage, pelt_buffer *out)
{
    pelt_result result = create(data, size, usage, out);
    return result == PELT_OK && size > 0
               ? pelt_buffer_upload(data->bench->device, out, 0, bytes, size)
               : result;
}

static pelt_result upload_streams(const pelt_bench_crowd_data *data, pelt_bench_crowd_part *part)
{
    size_t size = pelt_gpu_mesh_size(part->packed);
    void *bytes = pelt_allocate(data->bench->host, size, 1);
    pelt_result result = bytes ? create(data, size, 0, &part->streams) : PELT_ERROR_MEMORY;
    if (result == PELT_OK) {
        pelt_gpu_mesh_write(part->packed, bytes, part->streams.address, &part->mesh);
        result = pelt_buffer_upload(data->bench->device, &part->streams, 0, bytes, size);
    }
    pelt_release(data->bench->host, bytes);
    return result;
}

static pelt_result upload_indices(const pelt_bench_crowd_data *data,
                                  const pelt_primitive *primitive, pelt_bench_crowd_part *part)
{
    part->index_count = 3 * pelt_primitive_triangle_count(primitive);
    uint32_t *indices = pelt_allocate(data->bench->host, part->index_count, sizeof(*indices));
    if (!indices) {
        return PELT_ERROR_MEMORY;
    }
    pelt_primitive_triangles(primitive, indices);
    for (uint32_t i = 0; i < part->index_count; i++) {
        indices[i] = part->packed->packed_vertices[indices[i]];
    }
    pelt_result result = upload(data, indices, part->index_count * sizeof(*indices),
                                VK_BUFFER_USAGE_INDEX_BUFFER_BIT, &part->indices);
    pelt_release(data->bench->host, indices);
    return result;
}

static uint64_t count_influences(const pelt_bench_crowd_data *data, const pelt_packed_mesh *mesh)
{
    uint64_t count = 0;
    size_t each = (size_t)4 * mesh->set_count;
    uint32_t *joints = pelt_allocate(data->bench->host, each, sizeof(*joints));
    float *weights = pelt_allocate(data->bench->host, each, sizeof(*weights));
    for (uint32_t v = 0; joints && weights && v < mesh->vertex_count; v++) {
        pelt_unpack_influences(mesh, v, joints, weights);
        for (size_t i = 0; i < each; i++) {
            count += weights[i] > 0;
        }
    }
    pelt_release(data->bench->host, joints);
    pelt_release(data->bench->host, weights);
    return count;
}

static pelt_result create_parts(pelt_bench_crowd_data *data)
{
    const pelt_model *model = data->settings->model;
    uint64_t vertices = 0, influences = 0;
    data->parts = pelt_allocate(data->bench->host, model->part_count, sizeof(*data->parts));
    if (!data->parts) {
        return PELT_ERROR_MEMORY;
    }
    for (uint32_t p = 0; p < model->part_count; p++) {
        const pelt_part *from = &model->parts[p];
        const pelt_primitive *primitive = &model->meshes[from->mesh].primitives[from->primitive];
        pelt_bench_crowd_part *part = &data->parts[data->part_count++];
        const pelt_pack_info info = { .primitive = primitive, .rigid = !from->skinned };
        pelt_result result = pelt_pack(data->bench->host, &info, &part->packed);
        if (result == PELT_OK) {
            result = upload_streams(data, part);
        }
        if (result == PELT_OK) {
            result = upload_indices(data, primitive, part);
        }
        if (result != PELT_OK) {
            return result;
        }
        part->first_vertex = (size_t)vertices * data->settings->instances;
        vertices += part->packed->vertex_count;
        influences += count_influences(data, part->packed);
    }
    data->influences = vertices ? (double)influences / (double)vertices : 0;
    if (vertices * data->settings->instances * sizeof(pelt_packed_vertex) >= UINT64_C(1) << 32) {
        return pelt_fail(data->bench->host, PELT_ERROR_RANGE, NULL, NULL,
                         "%u instances of %llu vertices need more than 4 GiB",
                         data->settings->instances, (unsigned long long)vertices);
    }
    return create(data, (size_t)vertices * data->settings->instances * sizeof(pelt_packed_vertex),
                  0, &data->animated);
}

/* -- who does what, where ------------------------------------------------------------------ */

static const pelt_bake *frames_of(const pelt_bench_crowd_data *data)
{
    return data->bakes[PELT_BENCH_CROWD_LERP];
}

/* All clips' frames. */
static pelt_box bounds(const pelt_bench_crowd_data *data)
{
    const pelt_bake *bake = frames_of(data);
    pelt_box box = bake->clips[0].box;
    for (uint32_t c = 1; c < bake->clip_count; c++) {
        for (int k = 0; k < 3; k++) {
            box.min[k] = fminf(box.min[k], bake->clips[c].box.min[k]);
            box.max[k] = fmaxf(box.max[k], bake->clips[c].box.max[k]);
        }
    }
    return box;
}

static double spacing(const pelt_box *box)
{
    return 1.1 * fmax((double)box->max[0] - box->min[0], (double)box->max[2] - box->min[2]);
}

static uint32_t columns(const pelt_bench_crowd_data *data)
{
    return (uint32_t)ceil(sqrt(data->settings->instances));
}

static void stand(const pelt_bench_crowd_data *data, const pelt_box *box, uint32_t i,
                  double world[12])
{
    uint32_t side = columns(data), row = i / side;
    double c = cos(2.4 * i), s = sin(2.4 * i), step = spacing(box);
    const double matrix[12] = { c,  0, s, step * (i % side - (side - 1) / 2.0), 0, 1, 0, 0,
                                -s, 0, c, step * (row - (side - 1) / 2.0) };
    memcpy(world, matrix, sizeof(matrix));
}

/* At the moment 0, at a frame of its clip. */
static pelt_gpu_play play_of(const pelt_bench_crowd_data *data, uint32_t i)
{
    const pelt_bake *bake = frames_of(data);
    uint32_t clip = i % bake->clip_count;
    const pelt_bake_range *range = &bake->clips[clip].ranges[0];
    uint32_t row = range->row_count > 1 ? 7 * i % (range->row_count - 1) : 0;
    return (pelt_gpu_play){ .clip = (int32_t)clip,
                            .loop = true,
                            .speed = 1,
                            .time = range->start + row / bake->clips[clip].rate };
}

/* From above, straight lines: the square fills the picture. By columns. */
static void choose_view(pelt_bench_crowd_data *data)
{
    const pelt_box box = bounds(data);
    double half = spacing(&box) * (columns(data) / 2.0 + 1), tall = (double)box.max[1] - box.min[1];
    double sine = 0.7, cosine = sqrt(1 - sine * sine), most = half + tall;
    double aspect = (double)data->settings->width / data->settings->height;
    double wide = fmax(most, most * (sine + cosine) * aspect / 1.5), high = wide / aspect;
    double deep = 2 * most;
    const double rows[4][4] = { { 1 / wide, 0, 0, 0 },
                                { 0, -cosine / high, sine / high, 0 },
                                { 0, -sine / (2 * deep), -cosine / (2 * deep), 0.5 },
                                { 0, 0, 0, 1 } };
    for (int i = 0; i < 16; i++) {
        data->view[i] = (float)rows[i % 4][i / 4];
    }
}

static pelt_result create_states(pelt_bench_crowd_data *data)
{
    uint32_t count = data->settings->instances;
    char *members = pelt_allocate(data->bench->host, count, PELT_CROWD_MEMBER_SIZE);
    char *states = pelt_allocate(data->bench->host, count, PELT_POSE_INSTANCE_SIZE);
    pelt_result result = members && states ? PELT_OK : PELT_ERROR_MEMORY;
    const pelt_palette_plan nobody_is_live = { 0 };
    const pelt_box box = bounds(data);
    for (uint32_t i = 0; result == PELT_OK && i < count; i++) {
        double world[12];
        stand(data, &box, i, world);
        const pelt_crowd_member member = { .play = play_of(data, i), .world = world };
        pelt_pose_instance instance = { .play = member.play, .world = world };
        /* The model's clip, not the bake's. */
        instance.play.clip = frames_of(data)->clips[member.play.clip].clip;
        instance.matrices =
            data->matrices.address + (VkDeviceAddress)i * data->rig->matrix_count * MATRIX_SIZE;
        result = pelt_crowd_member_write(data->bench->host, frames_of(data), &nobody_is_live,
                                         &member, members + (size_t)i * PELT_CROWD_MEMBER_SIZE);
        if (result == PELT_OK) {
            result = pelt_pose_instance_write(data->rig, &instance,
                                              states + (size_t)i * PELT_POSE_INSTANCE_SIZE);
        }
    }
    if (result == PELT_OK) {
        result = upload(data, members, (size_t)count * PELT_CROWD_MEMBER_SIZE, 0, &data->members);
    }
    if (result == PELT_OK) {
        result =
            upload(data, states, (size_t)count * PELT_POSE_INSTANCE_SIZE, 0, &data->pose_states);
    }
    pelt_release(data->bench->host, states);
    pelt_release(data->bench->host, members);
    return result;
}

/* -- the passes ---------------------------------------------------------------------------- */

int pelt_bench_crowd_palette(int form)
{
    return form == PELT_BENCH_CROWD_NEAREST ? PELT_BENCH_CROWD_LERP
           : form == PELT_BENCH_CROWD_DUAL  ? PELT_BENCH_CROWD_BLEND
                                            : form;
}

static pelt_result create_bakes(pelt_bench_crowd_data *data)
{
    static const struct {
        pelt_bake_layout layout;
        pelt_bake_format format;
    } kinds[PELT_BENCH_CROWD_FORM_COUNT] = {
        [PELT_BENCH_CROWD_LERP] = { PELT_BAKE_MATRIX_3X4, PELT_BAKE_RGBA32F },
        [PELT_BENCH_CROWD_LERP_16] = { PELT_BAKE_MATRIX_3X4, PELT_BAKE_RGBA16F },
        [PELT_BENCH_CROWD_LERP_4X4] = { PELT_BAKE_MATRIX_4X4, PELT_BAKE_RGBA32F },
        [PELT_BENCH_CROWD_BLEND] = { PELT_BAKE_DUAL_QUATERNION, PELT_BAKE_RGBA32F },
    };
    pelt_result result = PELT_OK;
    for (int f = PELT_BENCH_CROWD_LERP; result == PELT_OK && f <= PELT_BENCH_CROWD_BLEND; f++) {
        const pelt_bake_info info = { .model = data->settings->model,
                                      .layout = kinds[f].layout,
                                      .format = kinds[f].format };
        if (data->settings->progress) {
            data->settings->progress(data->settings->user, "crowd", pelt_bench_crowd_forms[f].name);
        }
        result = pelt_bake_create(data->bench->host, &info, &data->bakes[f]);
    }
    return result;
}

static pelt_result create_pose(pelt_bench_crowd_data *data)
{
    pelt_bench *bench = data->bench;
    const pelt_pose_pass_info pass = { .vulkan = &bench->device->vulkan };
    const pelt_rig_info rig = { .model = data->settings->model };
    pelt_result result = pelt_pose_pass_create(bench->host, &pass, &data->pose_pass);
    if (result == PELT_OK) {
        result = pelt_rig_create(bench->host, &rig, &data->rig);
    }
    if (result == PELT_OK) {
        result = upload(data, data->rig->data, data->rig->size, 0, &data->rig_data);
    }
    if (result == PELT_OK) {
        size_t size = (size_t)data->settings->instances * data->rig->matrix_count * MATRIX_SIZE;
        result = create(data, size, 0, &data->matrices);
    }
    const pelt_pose_batch batch = { .rig = data->rig,
                                    .rig_address = data->rig_data.address,
                                    .instance_count = data->settings->instances };
    if (result == PELT_OK) {
        result = pelt_pose_tables_measure(data->pose_pass, &batch, 1, &data->pose_tables);
    }
    if (result == PELT_OK) {
        result = create(data, data->pose_tables.scratch_size, 0, &data->pose_scratch);
    }
    if (result != PELT_OK) {
        return result;
    }
    void *table = pelt_allocate(bench->host, data->pose_tables.table_size, 1);
    if (!table) {
        return PELT_ERROR_MEMORY;
    }
    pelt_pose_tables_write(data->pose_pass, &batch, 1, table);
    result = upload(data, table, data->pose_tables.table_size, 0, &data->pose_table);
    pelt_release(bench->host, table);
    return result;
}

static void fill_skin_instances(const pelt_bench_crowd_data *data, VkDeviceAddress matrices,
                                bool dual, pelt_gpu_instance *instances)
{
    size_t size = dual ? 64 : MATRIX_SIZE;
    const pelt_model *model = data->settings->model;
    for (uint32_t i = 0; i < data->settings->instances; i++) {
        for (uint32_t p = 0; p < data->part_count; p++) {
            const pelt_bench_crowd_part *part = &data->parts[p];
            const pelt_palette *palette = &model->palettes[model->parts[p].palette];
            size_t vertex = part->first_vertex + (size_t)i * part->packed->vertex_count;
            VkDeviceAddress positions = data->animated.address + vertex * 16;
            VkDeviceAddress matrix =
                (VkDeviceAddress)i * data->rig->matrix_count + palette->first_matrix;
            instances[(size_t)i * data->part_count + p] =
                (pelt_gpu_instance){ .mesh = p,
                                     .matrices = matrices + matrix * size,
                                     .dual_quaternions = dual,
                                     .positions = positions,
                                     .position_stride = 16,
                                     .normals = positions + 12,
                                     .normal_stride = 16 };
        }
    }
}

pelt_result pelt_bench_crowd_tables(const pelt_bench_crowd_data *data, VkDeviceAddress matrices,
                                    bool dual, pelt_skin_tables *tables, pelt_buffer *buffer)
{
    const pelt_host *host = data->bench->host;
    size_t count = (size_t)data->settings->instances * data->part_count;
    pelt_gpu_instance *instances = pelt_allocate(host, count, sizeof(*instances));
    pelt_gpu_mesh *meshes = pelt_allocate(host, data->part_count, sizeof(*meshes));
    void *table = NULL;
    pelt_result result = instances && meshes && count <= UINT32_MAX ? PELT_OK : PELT_ERROR_MEMORY;
    const pelt_skin_tables_info info = { meshes, data->part_count, instances, (uint32_t)count };
    if (result == PELT_OK) {
        fill_skin_instances(data, matrices, dual, instances);
        for (uint32_t p = 0; p < data->part_count; p++) {
            meshes[p] = data->parts[p].mesh;
        }
        result = pelt_skin_tables_measure(data->bench->pass, &info, tables);
    }
    if (result == PELT_OK) {
        table = pelt_allocate(host, tables->table_size, 1);
        result = table ? PELT_OK : PELT_ERROR_MEMORY;
    }
    if (result == PELT_OK) {
        pelt_skin_tables_write(data->bench->pass, &info, tables, table);
        result = upload(data, table, tables->table_size, 0, buffer);
    }
    pelt_release(host, table);
    pelt_release(host, meshes);
    pelt_release(host, instances);
    return result;
}

static pelt_result create_skin(pelt_bench_crowd_data *data)
{
    pelt_result result = pelt_bench_crowd_tables(data, data->matrices.address, false,
                                                 &data->skin_tables, &data->skin_table);
    return result == PELT_OK ? create(data, data->skin_tables.scratch_size, 0, &data->skin_scratch)
                             : result;
}

static pelt_result upload_crowd_data(pelt_bench_crowd_data *data)
{
    size_t size = pelt_crowd_data_size(frames_of(data));
    void *bytes = pelt_allocate(data->bench->host, size, 1);
    if (!bytes) {
        return PELT_ERROR_MEMORY;
    }
    pelt_crowd_data_write(frames_of(data), bytes);
    pelt_result result = upload(data, bytes, size, 0, &data->crowd_data);
    pelt_release(data->bench->host, bytes);
    return result;
}

/* Records of the meshes, and the draws. */
static pelt_result upload_draws(pelt_bench_crowd_data *data)
{
    const pelt_model *model = data->settings->model;
    char *meshes = pelt_allocate(data->bench->host, data->part_count, PELT_CROWD_MESH_SIZE);
    VkDrawIndexedIndirectCommand *draws =
        pelt_allocate(data->bench->host, data->part_count, sizeof(*draws));
    pelt_result result = meshes && draws ? PELT_OK : PELT_ERROR_MEMORY;
    for (uint32_t p = 0; result == PELT_OK && p < data->part_count; p++) {
        const pelt_bake_palette *palette = pelt_bake_part_palette(frames_of(data), model, p);
        pelt_crowd_mesh_write(&data->parts[p].mesh, palette->first_joint,
                              meshes + (size_t)p * PELT_CROWD_MESH_SIZE);
        draws[p] = (VkDrawIndexedIndirectCommand){ .indexCount = data->parts[p].index_count };
    }
    if (result == PELT_OK) {
        result = upload(data, meshes, (size_t)data->part_count * PELT_CROWD_MESH_SIZE, 0,
                        &data->part_meshes);
    }
    if (result == PELT_OK) {
        result = upload(data, draws, data->part_count * sizeof(*draws),
                        VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT, &data->draws);
    }
    pelt_release(data->bench->host, draws);
    pelt_release(data->bench->host, meshes);
    return result;
}

static pelt_result create_crowd(pelt_bench_crowd_data *data)
{
    const pelt_crowd_pass_info info = { .vulkan = &data->bench->device->vulkan };
    uint32_t count = data->settings->instances;
    pelt_result result = pelt_crowd_pass_create(data->bench->host, &info, &data->crowd_pass);
    if (result == PELT_OK) {
        result = upload_crowd_data(data);
    }
    if (result == PELT_OK) {
        result = create(data, (size_t)count * PELT_CROWD_INSTANCE_SIZE, 0, &data->instances);
    }
    if (result == PELT_OK) {
        result = create(data, pelt_crowd_scratch_size(count), 0, &data->crowd_scratch);
    }
    return result == PELT_OK ? upload_draws(data) : result;
}

static pelt_result check_model(const pelt_bench_crowd_data *data)
{
    const pelt_model *model = data->settings->model;
    uint64_t triangles = 0;
    for (uint32_t p = 0; p < model->part_count; p++) {
        const pelt_part *part = &model->parts[p];
        triangles +=
            pelt_primitive_triangle_count(&model->meshes[part->mesh].primitives[part->primitive]);
    }
    const char *lacks = model->clip_count == 0 ? "clip" : triangles == 0 ? "triangle" : NULL;
    return lacks ? pelt_fail(data->bench->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                             "the model has no %s", lacks)
                 : PELT_OK;
}

pelt_result pelt_bench_crowd_data_create(pelt_bench *bench,
                                         const pelt_bench_crowd_settings *settings,
                                         pelt_bench_crowd_data *out)
{
    *out = (pelt_bench_crowd_data){ .bench = bench, .settings = settings };
    static pelt_result (*const steps[])(pelt_bench_crowd_data *) = {
        create_bakes, create_parts, create_pose, create_skin, create_crowd, create_states,
    };
    pelt_result result = check_model(out);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && result == PELT_OK; i++) {
        result = steps[i](out);
    }
    if (result == PELT_OK) {
        choose_view(out);
    }
    return result;
}

void pelt_bench_crowd_data_destroy(pelt_bench_crowd_data *data)
{
    pelt_headless *device = data->bench->device;
    pelt_buffer *buffers[] = {
        &data->rig_data,   &data->pose_states, &data->pose_table,   &data->pose_scratch,
        &data->matrices,   &data->skin_table,  &data->skin_scratch, &data->animated,
        &data->crowd_data, &data->members,     &data->instances,    &data->crowd_scratch,
        &data->draws,      &data->part_meshes,
    };
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        pelt_buffer_destroy(device, buffers[i]);
    }
    for (uint32_t p = 0; p < data->part_count; p++) {
        pelt_buffer_destroy(device, &data->parts[p].streams);
        pelt_buffer_destroy(device, &data->parts[p].indices);
        pelt_packed_mesh_destroy(data->parts[p].packed);
    }
    pelt_release(data->bench->host, data->parts);
    for (int f = 0; f < PELT_BENCH_CROWD_FORM_COUNT; f++) {
        pelt_bake_destroy(data->bakes[f]);
    }
    pelt_crowd_pass_destroy(data->crowd_pass);
    pelt_rig_destroy(data->rig);
    pelt_pose_pass_destroy(data->pose_pass);
}
