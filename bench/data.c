/* A scene in GPU memory. Streams are made once on the CPU and multiplied by copies on the GPU;
 * tables and palettes are written in pieces. Of everything there is as much as the older forms,
 * which index from the start of a buffer by 32 bits, can reach: below 4 GiB. */
#include "bench/internal.h"

#include <string.h>

enum { PIECE = 64 << 20 };

static const uint64_t range_limit = UINT64_C(1) << 32;

static pelt_result create_buffer(const pelt_bench *bench, uint64_t count, uint64_t item_size,
                                 pelt_buffer *out)
{
    if (count > range_limit / item_size) {
        return pelt_fail(bench->host, PELT_ERROR_RANGE, NULL, NULL,
                         "the scene is too large: %llu x %llu bytes exceed 4 GiB; try fewer "
                         "instances or --scale",
                         (unsigned long long)count, (unsigned long long)item_size);
    }
    return pelt_buffer_create(bench->device, count * item_size, 0, PELT_MEMORY_DEVICE, out);
}

pelt_result pelt_bench_upload(const pelt_bench *bench, uint32_t count, uint32_t item_size,
                              pelt_bench_writer write, const void *user, pelt_buffer *out)
{
    pelt_result result = create_buffer(bench, count, item_size, out);
    if (result != PELT_OK) {
        return result;
    }
    uint32_t piece = PIECE / item_size > 0 ? PIECE / item_size : 1;
    piece = piece < count ? piece : count;
    void *block = pelt_allocate(bench->host, piece, item_size);
    if (!block) {
        return pelt_fail(bench->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a table");
    }
    for (uint32_t first = 0; result == PELT_OK && first < count; first += piece) {
        uint32_t items = count - first < piece ? count - first : piece;
        write(user, first, items, block);
        result = pelt_buffer_upload(bench->device, out, (VkDeviceSize)first * item_size, block,
                                    (VkDeviceSize)items * item_size);
    }
    pelt_release(bench->host, block);
    return result;
}

/* -- streams ------------------------------------------------------------------------------- */

/* Repeats the first size bytes until there are count of them, doubling what there is. */
static pelt_result multiply(const pelt_bench *bench, const pelt_buffer *buffer, VkDeviceSize size,
                            uint32_t count)
{
    if (count < 2 || size == 0) {
        return PELT_OK;
    }
    VkCommandBuffer commands;
    pelt_result result = pelt_commands_begin(bench->device, &commands);
    if (result != PELT_OK) {
        return result;
    }
    for (uint32_t done = 1; done < count;) {
        uint32_t more = count - done < done ? count - done : done;
        const VkBufferCopy region = { .dstOffset = done * size, .size = more * size };
        bench->vk.cmd_copy_buffer(commands, buffer->buffer, buffer->buffer, 1, &region);
        pelt_bench_full_barrier(bench, commands);
        done += more;
    }
    return pelt_commands_submit(bench->device, commands);
}

/* One unit's stream: of each mesh, `items` items written by the callback, all behind each other. */
typedef struct unit_stream {
    pelt_buffer *buffer;
    uint32_t item_size;
    uint32_t items; /* a unit */
    uint32_t (*items_of)(const pelt_bench_mesh *mesh);
    void (*write)(const pelt_bench_mesh *mesh, void *out);
} unit_stream;

static pelt_result create_stream(pelt_bench_data *data, const unit_stream *stream)
{
    const pelt_bench *bench = data->bench;
    VkDeviceSize size = (VkDeviceSize)stream->items * stream->item_size;
    pelt_result result = create_buffer(bench, (uint64_t)stream->items * data->source_instances,
                                       stream->item_size, stream->buffer);
    if (result != PELT_OK) {
        return result;
    }
    char *unit = pelt_allocate(bench->host, stream->items, stream->item_size);
    if (!unit) {
        return pelt_fail(bench->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a stream");
    }
    char *at = unit;
    for (uint32_t i = 0; i < data->unit->mesh_count; i++) {
        const pelt_bench_mesh *mesh = &data->unit->meshes[i];
        stream->write(mesh, at);
        at += (size_t)stream->items_of(mesh) * stream->item_size;
    }
    result = pelt_buffer_upload(bench->device, stream->buffer, 0, unit, size);
    pelt_release(bench->host, unit);
    return result == PELT_OK ? multiply(bench, stream->buffer, size, data->source_instances)
                             : result;
}

static uint32_t vertices_of(const pelt_bench_mesh *mesh)
{
    return mesh->packed->vertex_count;
}

static uint32_t joint_words_of(const pelt_bench_mesh *mesh)
{
    return mesh->packed->joint_bytes * mesh->packed->vertex_count;
}

static uint32_t binds_of(const pelt_bench_mesh *mesh)
{
    return mesh->joint_boxes->joint_count;
}

static void write_vertices(const pelt_bench_mesh *mesh, void *out)
{
    memcpy(out, mesh->packed->vertices, pelt_packed_mesh_sizes(mesh->packed).vertices);
}

static void write_tangents(const pelt_bench_mesh *mesh, void *out)
{
    memcpy(out, mesh->packed->tangents, pelt_packed_mesh_sizes(mesh->packed).tangents);
}

static void write_weights(const pelt_bench_mesh *mesh, void *out)
{
    memcpy(out, mesh->packed->weights, pelt_packed_mesh_sizes(mesh->packed).weights);
}

static void write_joints(const pelt_bench_mesh *mesh, void *out)
{
    memcpy(out, mesh->packed->joints, pelt_packed_mesh_sizes(mesh->packed).joints);
}

static void write_positions(const pelt_bench_mesh *mesh, void *out)
{
    float *to = out;
    for (size_t v = 0; v < mesh->packed->vertex_count; v++) {
        memcpy(to + 3 * v, mesh->packed->vertices[v].position, 3 * sizeof(float));
    }
}

static void write_normals(const pelt_bench_mesh *mesh, void *out)
{
    uint32_t *to = out;
    for (size_t v = 0; v < mesh->packed->vertex_count; v++) {
        to[v] = mesh->packed->vertices[v].normal;
    }
}

static void write_float_weights(const pelt_bench_mesh *mesh, void *out)
{
    float *to = out;
    for (uint32_t v = 0; v < mesh->packed->vertex_count; v++) {
        uint32_t joints[4];
        pelt_unpack_influences(mesh->packed, v, joints, to + 4 * (size_t)v);
    }
}

static void write_wide_joints(const pelt_bench_mesh *mesh, void *out)
{
    uint32_t *to = out;
    for (uint32_t v = 0; v < mesh->packed->vertex_count; v++) {
        float weights[4];
        pelt_unpack_influences(mesh->packed, v, to + 4 * (size_t)v, weights);
    }
}

/* The seed's layout; a first weight of 1 is one step less, the step implied by the fourth, whose
 * joint is then the same. */
static void write_seed_weights(const pelt_bench_mesh *mesh, void *out)
{
    uint32_t *to = out;
    for (uint32_t v = 0; v < mesh->packed->vertex_count; v++) {
        uint32_t joints[4];
        float weights[4];
        pelt_unpack_influences(mesh->packed, v, joints, weights);
        uint32_t w0 = (uint32_t)(weights[0] * 2048.0f);
        to[v] = (w0 < 2048 ? w0 : 2047) | (uint32_t)(weights[1] * 2048.0f) << 11 |
                (uint32_t)(weights[2] * 1024.0f) << 22;
    }
}

static void write_seed_joints(const pelt_bench_mesh *mesh, void *out)
{
    uint32_t *to = out;
    for (uint32_t v = 0; v < mesh->packed->vertex_count; v++) {
        uint32_t joints[4];
        float weights[4];
        pelt_unpack_influences(mesh->packed, v, joints, weights);
        if (mesh->packed->joint_bytes == 1) {
            to[v] = joints[0] | joints[1] << 8 | joints[2] << 16 | joints[3] << 24;
        } else {
            to[2 * (size_t)v] = joints[0] | joints[1] << 16;
            to[2 * (size_t)v + 1] = joints[2] | joints[3] << 16;
        }
    }
}

static void write_binds(const pelt_bench_mesh *mesh, void *out)
{
    memcpy(out, mesh->joint_boxes->bind, binds_of(mesh) * sizeof(pelt_box));
}

static pelt_result create_streams(pelt_bench_data *data)
{
    uint32_t vertices = data->unit->vertex_count;
    uint32_t joint_words = data->unit->joint_word_count;
    const unit_stream streams[] = {
        { &data->vertices, sizeof(pelt_packed_vertex), vertices, vertices_of, write_vertices },
        { &data->tangents, sizeof(uint32_t), vertices, vertices_of, write_tangents },
        { &data->weights, sizeof(uint32_t), vertices, vertices_of, write_weights },
        { &data->joints, sizeof(uint32_t), joint_words, joint_words_of, write_joints },
        { &data->positions, 3 * sizeof(float), vertices, vertices_of, write_positions },
        { &data->normals, sizeof(uint32_t), vertices, vertices_of, write_normals },
        { &data->float_weights, 4 * sizeof(float), vertices, vertices_of, write_float_weights },
        { &data->wide_joints, 4 * sizeof(uint32_t), vertices, vertices_of, write_wide_joints },
        { &data->seed_weights, sizeof(uint32_t), vertices, vertices_of, write_seed_weights },
        { &data->seed_joints, sizeof(uint32_t), joint_words, joint_words_of, write_seed_joints },
        { &data->bind_boxes, sizeof(pelt_box), data->unit->bind_count, binds_of, write_binds },
    };
    pelt_result result = PELT_OK;
    for (size_t i = 0; result == PELT_OK && i < sizeof(streams) / sizeof(streams[0]); i++) {
        result = create_stream(data, &streams[i]);
    }
    return result;
}

/* -- palettes ------------------------------------------------------------------------------ */

static void write_palettes(const void *user, uint32_t first, uint32_t count, void *out)
{
    const pelt_bench_unit *unit = user;
    for (uint32_t i = 0; i < count; i++) {
        pelt_bench_unit_matrices(unit, first + i,
                                 (float *)out + 12 * (size_t)i * unit->matrix_count);
    }
}

static pelt_result widen_matrices(const pelt_bench_data *data)
{
    VkCommandBuffer commands;
    pelt_result result = pelt_commands_begin(data->bench->device, &commands);
    if (result != PELT_OK) {
        return result;
    }
    const struct bench_widen_constants constants = {
        .rows = data->rows.address,
        .matrices = data->matrices.address,
        .normal_matrices = data->normal_matrices.address,
        .count = data->matrix_count,
    };
    pelt_bench_dispatch(data->bench, commands, BENCH_WIDEN, &constants, sizeof(constants),
                        pelt_bench_groups(data->matrix_count));
    return pelt_commands_submit(data->bench->device, commands);
}

static pelt_result create_matrices(pelt_bench_data *data)
{
    const pelt_bench *bench = data->bench;
    pelt_result result =
        pelt_bench_upload(bench, data->instances, data->unit->matrix_count * 12 * sizeof(float),
                          write_palettes, data->unit, &data->rows);
    if (result == PELT_OK) {
        result = create_buffer(bench, data->matrix_count, 16 * sizeof(float), &data->matrices);
    }
    if (result == PELT_OK) {
        result =
            create_buffer(bench, data->matrix_count, 16 * sizeof(float), &data->normal_matrices);
    }
    return result == PELT_OK ? widen_matrices(data) : result;
}

/* -- tables of the older forms ------------------------------------------------------------- */

struct bench_mesh pelt_bench_mesh_record(const pelt_bench_data *data, uint32_t instance,
                                         uint32_t mesh)
{
    const pelt_bench_unit *unit = data->unit;
    const pelt_bench_mesh *from = &unit->meshes[mesh];
    uint32_t source = data->source_instances > 1 ? instance : 0;
    return (struct bench_mesh){
        .first_vertex = source * unit->vertex_count + from->first_vertex,
        .vertex_count = from->packed->vertex_count,
        .first_output = instance * unit->vertex_count + from->first_vertex,
        .first_matrix = instance * unit->matrix_count + from->first_matrix,
        .first_joint_word = source * unit->joint_word_count + from->first_joint_word,
        .joint_words = from->packed->joint_bytes,
    };
}

static void write_meshes(const void *user, uint32_t first, uint32_t count, void *out)
{
    const pelt_bench_data *data = user;
    struct bench_mesh *to = out;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = first + i;
        to[i] = pelt_bench_mesh_record(data, index / data->unit->mesh_count,
                                       index % data->unit->mesh_count);
    }
}

static void write_vertex_prefix(const void *user, uint32_t first, uint32_t count, void *out)
{
    const pelt_bench_data *data = user;
    const pelt_bench_unit *unit = data->unit;
    uint32_t *to = out;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = first + i;
        to[i] = index / unit->mesh_count * unit->vertex_count +
                unit->meshes[index % unit->mesh_count].first_vertex;
    }
}

static void write_group_prefix(const void *user, uint32_t first, uint32_t count, void *out)
{
    const pelt_bench_data *data = user;
    const pelt_bench_unit *unit = data->unit;
    uint32_t a_unit = data->group_count / data->instances;
    uint32_t *to = out;
    uint32_t within = 0; /* groups of the unit's meshes before this one */
    for (uint32_t m = 0; m < first % unit->mesh_count; m++) {
        within += pelt_bench_groups(unit->meshes[m].packed->vertex_count);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = first + i;
        uint32_t mesh = index % unit->mesh_count;
        within = mesh == 0 ? 0 : within;
        to[i] = index / unit->mesh_count * a_unit + within;
        within += pelt_bench_groups(unit->meshes[mesh].packed->vertex_count);
    }
}

static pelt_result create_tables(pelt_bench_data *data)
{
    const pelt_bench *bench = data->bench;
    for (uint32_t i = 0; i < data->unit->mesh_count; i++) {
        data->group_count +=
            data->instances * pelt_bench_groups(data->unit->meshes[i].packed->vertex_count);
    }
    pelt_result result = pelt_bench_upload(bench, data->mesh_count, sizeof(struct bench_mesh),
                                           write_meshes, data, &data->meshes);
    if (result == PELT_OK) {
        result = pelt_bench_upload(bench, data->mesh_count + 1, sizeof(uint32_t),
                                   write_vertex_prefix, data, &data->vertex_prefix);
    }
    if (result == PELT_OK) {
        result = pelt_bench_upload(bench, data->mesh_count + 1, sizeof(uint32_t),
                                   write_group_prefix, data, &data->group_prefix);
    }
    return result;
}

/* -- all ----------------------------------------------------------------------------------- */

static pelt_result create_outputs(pelt_bench_data *data)
{
    const pelt_bench *bench = data->bench;
    const struct {
        pelt_buffer *buffer;
        uint32_t count, size;
    } outputs[] = {
        { &data->out_vertices, data->vertex_count + 1, sizeof(pelt_packed_vertex) },
        { &data->out_tangents, data->vertex_count, sizeof(uint32_t) },
        { &data->boxes, data->mesh_count, sizeof(pelt_box) },
        { &data->box_words, data->mesh_count, sizeof(pelt_box) },
        { &data->partials, data->group_count, sizeof(pelt_box) },
    };
    pelt_result result = PELT_OK;
    for (size_t i = 0; result == PELT_OK && i < sizeof(outputs) / sizeof(outputs[0]); i++) {
        result = create_buffer(bench, outputs[i].count, outputs[i].size, outputs[i].buffer);
    }
    data->normals_at = (12 * (VkDeviceSize)data->vertex_count + 15) / 16 * 16;
    return result;
}

static pelt_result check_size(const pelt_bench_data *data)
{
    uint64_t instances = data->instances;
    const pelt_bench_unit *unit = data->unit;
    if (instances * unit->vertex_count > INT32_MAX || instances * unit->matrix_count > INT32_MAX ||
        instances * unit->mesh_count > INT32_MAX / BENCH_GROUP ||
        (uint64_t)unit->matrix_count * 12 * sizeof(float) > PIECE) {
        return pelt_fail(data->bench->host, PELT_ERROR_RANGE, NULL, NULL,
                         "the scene is too large: %u instances of %u vertices and %u matrices",
                         data->instances, unit->vertex_count, unit->matrix_count);
    }
    return PELT_OK;
}

pelt_result pelt_bench_data_create(const pelt_bench *bench, const pelt_bench_unit *unit,
                                   uint32_t instances, bool shared, pelt_bench_data *out)
{
    *out = (pelt_bench_data){ .bench = bench,
                              .unit = unit,
                              .instances = instances,
                              .source_instances = shared ? 1 : instances };
    pelt_result result = check_size(out);
    if (result != PELT_OK) {
        return result;
    }
    out->mesh_count = instances * unit->mesh_count;
    out->vertex_count = instances * unit->vertex_count;
    out->matrix_count = instances * unit->matrix_count;
    pelt_result (*const steps[])(pelt_bench_data *) = {
        create_streams,           create_matrices,        create_tables,
        create_outputs,           pelt_bench_pelt_tables, pelt_bench_joint_table,
        pelt_bench_stream_tables,
    };
    for (size_t i = 0; result == PELT_OK && i < sizeof(steps) / sizeof(steps[0]); i++) {
        result = steps[i](out);
    }
    if (result != PELT_OK) {
        pelt_bench_data_destroy(out);
    }
    return result;
}

void pelt_bench_data_destroy(pelt_bench_data *data)
{
    pelt_buffer *const buffers[] = {
        &data->vertices,
        &data->tangents,
        &data->weights,
        &data->joints,
        &data->positions,
        &data->normals,
        &data->float_weights,
        &data->wide_joints,
        &data->seed_weights,
        &data->seed_joints,
        &data->rows,
        &data->matrices,
        &data->normal_matrices,
        &data->bind_boxes,
        &data->out_vertices,
        &data->out_tangents,
        &data->boxes,
        &data->box_words,
        &data->partials,
        &data->meshes,
        &data->vertex_prefix,
        &data->group_prefix,
        &data->joint_table,
        &data->with_boxes.table,
        &data->with_boxes.scratch,
        &data->without_boxes.table,
        &data->without_boxes.scratch,
        &data->normal_chunks,
        &data->inverse_palettes,
        &data->cofactor_palettes,
    };
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        pelt_buffer_destroy(data->bench->device, buffers[i]);
    }
    for (uint32_t i = 0; i < BENCH_STREAM_SHAPES; i++) {
        pelt_buffer_destroy(data->bench->device, &data->shapes[i].chunks);
    }
}
