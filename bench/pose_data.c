/* A crowd to pose, in GPU memory. */
#include "bench/pose_internal.h"

#include <math.h>
#include <string.h>

enum { MATRIX_SIZE = 48, MATRIX_ROWS = 3, INTERVAL = 4, GRID = 100 };

static pelt_result upload(const pelt_bench_pose_data *data, const void *bytes, size_t size,
                          pelt_buffer *out)
{
    pelt_headless *device = data->bench->device;
    pelt_result result = pelt_buffer_create(device, size, 0, PELT_MEMORY_DEVICE, out);
    return result == PELT_OK ? pelt_buffer_upload(device, out, 0, bytes, size) : result;
}

static double random_from(uint64_t *state, double low, double high)
{
    return low + (high - low) * (double)pelt_bench_random(state);
}

/* On a grid, turned about y. */
static void place(uint32_t index, double heading, double *world)
{
    double c = cos(heading), s = sin(heading);
    uint32_t column = index % GRID, row = index / GRID % GRID;
    const double matrix[12] = {
        c, 0, s, column - 0.5 * GRID, 0, 1, 0, 0, -s, 0, c, row - 0.5 * GRID
    };
    memcpy(world, matrix, sizeof(matrix));
}

static pelt_gpu_play random_play(const pelt_bench_pose_data *data, uint64_t *state)
{
    const pelt_model *model = data->settings->model;
    double clip = random_from(state, 0, model->clip_count);
    return (pelt_gpu_play){ .clip = (int32_t)clip,
                            .loop = true,
                            .speed = (float)random_from(state, 0.8, 1.25),
                            .since = random_from(state, -60, 0) };
}

pelt_pose_instance pelt_bench_pose_instance(const pelt_bench_pose_data *data,
                                            pelt_bench_pose_form form, uint32_t index,
                                            double *world)
{
    uint64_t state = pelt_bench_hash(index);
    pelt_pose_instance instance = { .play = random_play(data, &state),
                                    .second = random_play(data, &state),
                                    .world = world };
    place(index, random_from(&state, 0, 6.25), world);
    instance.weight = form == PELT_BENCH_POSE_TWO ? (float)random_from(&state, 0.1, 0.9) : 0;
    if (form == PELT_BENCH_POSE_OVERRIDES) {
        instance.overrides = data->override_data.address;
        instance.override_count = BENCH_POSE_OVERRIDES;
    }
    if (form == PELT_BENCH_POSE_FOURTH) {
        /* Neighbours share workgroups, so runs of them share a phase. */
        instance.interval = INTERVAL;
        instance.phase = index / 64;
    }
    instance.matrices =
        data->matrices.address + (VkDeviceAddress)index * data->rig->matrix_count * MATRIX_SIZE;
    return instance;
}

/* One of each kind, on nodes spread over the skin's joints. */
static pelt_result create_overrides(pelt_bench_pose_data *data)
{
    const pelt_model *model = data->settings->model;
    const double turned[12] = { 0.8, -0.6, 0, 0, 0.6, 0.8, 0, 0.01, 0, 0, 1, 0 };
    unsigned char bytes[BENCH_POSE_OVERRIDES * PELT_POSE_OVERRIDE_SIZE];
    uint32_t used = 0;
    for (uint32_t i = 0; i < model->node_count && used < BENCH_POSE_OVERRIDES; i++) {
        uint32_t node = model->node_count - 1 - i * 7 % model->node_count;
        bool taken = data->rig->places[node] == PELT_RIG_NO_NODE;
        for (uint32_t k = 0; k < used; k++) {
            taken = taken || data->overrides[k].node == node;
        }
        if (!taken) {
            data->overrides[used] =
                (pelt_pose_override){ .node = node, .kind = (pelt_override_kind)used };
            memcpy(data->overrides[used].matrix, turned, sizeof(turned));
            used++;
        }
    }
    if (used < BENCH_POSE_OVERRIDES) {
        return pelt_fail(data->bench->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "the model has fewer than %d nodes to override", BENCH_POSE_OVERRIDES);
    }
    pelt_result result = pelt_pose_overrides_write(data->rig, data->overrides, used, bytes);
    return result == PELT_OK ? upload(data, bytes, sizeof(bytes), &data->override_data) : result;
}

static pelt_result create_states(pelt_bench_pose_data *data, pelt_bench_pose_form form)
{
    uint32_t count = data->settings->instances;
    unsigned char *bytes = pelt_allocate(data->bench->host, count, PELT_POSE_INSTANCE_SIZE);
    pelt_result result = bytes ? PELT_OK : PELT_ERROR_MEMORY;
    for (uint32_t i = 0; result == PELT_OK && i < count; i++) {
        double world[12];
        const pelt_pose_instance instance = pelt_bench_pose_instance(data, form, i, world);
        result = pelt_pose_instance_write(data->rig, &instance,
                                          bytes + (size_t)i * PELT_POSE_INSTANCE_SIZE);
    }
    if (result == PELT_OK) {
        result = upload(data, bytes, (size_t)count * PELT_POSE_INSTANCE_SIZE, &data->states[form]);
    }
    pelt_release(data->bench->host, bytes);
    return result;
}

static pelt_result create_tables(pelt_bench_pose_data *data)
{
    pelt_headless *device = data->bench->device;
    const pelt_pose_batch batch = { .rig = data->rig,
                                    .rig_address = data->rig_data.address,
                                    .instance_count = data->settings->instances };
    pelt_result result = pelt_pose_tables_measure(data->pass, &batch, 1, &data->tables);
    void *bytes = NULL;
    if (result == PELT_OK) {
        bytes = pelt_allocate(data->bench->host, data->tables.table_size, 1);
        result = bytes ? PELT_OK : PELT_ERROR_MEMORY;
    }
    if (result == PELT_OK) {
        pelt_pose_tables_write(data->pass, &batch, 1, bytes);
        result = upload(data, bytes, data->tables.table_size, &data->table);
    }
    pelt_release(data->bench->host, bytes);
    return result == PELT_OK ? pelt_buffer_create(device, data->tables.scratch_size, 0,
                                                  PELT_MEMORY_DEVICE, &data->scratch)
                             : result;
}

static pelt_result check_model(const pelt_bench_pose_data *data)
{
    const pelt_model *model = data->settings->model;
    if (model->clip_count == 0 || model->matrix_count == 0) {
        return pelt_fail(data->bench->host, PELT_ERROR_ARGUMENT, NULL, NULL, "the model has no %s",
                         model->clip_count == 0 ? "clip" : "skin matrix");
    }
    uint64_t size = (uint64_t)data->settings->instances * model->matrix_count * MATRIX_SIZE;
    return size < UINT64_C(1) << 32 ? PELT_OK
                                    : pelt_fail(data->bench->host, PELT_ERROR_RANGE, NULL, NULL,
                                                "%u instances of %u matrices need more than 4 GiB",
                                                data->settings->instances, model->matrix_count);
}

static pelt_result create_parts(pelt_bench_pose_data *data)
{
    pelt_bench *bench = data->bench;
    const pelt_model *model = data->settings->model;
    pelt_result result = check_model(data);
    if (result == PELT_OK) {
        result = pelt_pose_pass_create(
            bench->host, &(pelt_pose_pass_info){ .vulkan = &bench->device->vulkan }, &data->pass);
    }
    if (result == PELT_OK) {
        result = pelt_rig_create(bench->host, &(pelt_rig_info){ .model = model }, &data->rig);
    }
    if (result == PELT_OK) {
        result = upload(data, data->rig->data, data->rig->size, &data->rig_data);
    }
    if (result == PELT_OK) {
        size_t size = (size_t)data->settings->instances * model->matrix_count * MATRIX_SIZE;
        result = pelt_buffer_create(bench->device, size, 0, PELT_MEMORY_DEVICE, &data->matrices);
    }
    if (result == PELT_OK) {
        result = create_tables(data);
    }
    if (result == PELT_OK) {
        result = create_overrides(data);
    }
    for (uint32_t f = PELT_BENCH_POSE_ONE; result == PELT_OK && f < PELT_BENCH_POSE_FORM_COUNT;
         f++) {
        result = create_states(data, (pelt_bench_pose_form)f);
    }
    return result;
}

pelt_result pelt_bench_pose_data_create(pelt_bench *bench, const pelt_bench_pose_settings *settings,
                                        pelt_bench_pose_data *out)
{
    *out = (pelt_bench_pose_data){ .bench = bench, .settings = settings, .floor_rows = 1 };
    pelt_result result = create_parts(out);
    if (result != PELT_OK) {
        pelt_bench_pose_data_destroy(out);
    }
    return result;
}

void pelt_bench_pose_data_destroy(pelt_bench_pose_data *data)
{
    pelt_headless *device = data->bench->device;
    pelt_buffer *buffers[] = { &data->rig_data, &data->table, &data->scratch, &data->override_data,
                               &data->matrices };
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        pelt_buffer_destroy(device, buffers[i]);
    }
    for (uint32_t f = 0; f < PELT_BENCH_POSE_FORM_COUNT; f++) {
        pelt_buffer_destroy(device, &data->states[f]);
    }
    pelt_rig_destroy(data->rig);
    pelt_pose_pass_destroy(data->pass);
    data->rig = NULL;
    data->pass = NULL;
}

static void record_floor(const pelt_bench_pose_data *data, VkCommandBuffer commands)
{
    uint32_t rows =
        MATRIX_ROWS * data->settings->instances * data->rig->matrix_count; /* below 2^28 */
    const struct bench_pose_floor_constants constants = { .matrices = data->matrices.address,
                                                          .row_count = rows,
                                                          .rows_a_lane = data->floor_rows };
    uint32_t lanes = rows / data->floor_rows + (rows % data->floor_rows != 0);
    pelt_bench_dispatch(data->bench, commands, BENCH_POSE_FLOOR_WRITES, &constants,
                        sizeof(constants), pelt_bench_groups(lanes));
}

void pelt_bench_pose_record(const pelt_bench_pose_data *data, pelt_bench_pose_form form,
                            const pelt_pose_frame *frame, VkCommandBuffer commands)
{
    if (form == PELT_BENCH_POSE_FLOOR) {
        record_floor(data, commands);
        return;
    }
    pelt_pose_frame known = *frame;
    known.no_global_multiplies = form != PELT_BENCH_POSE_OVERRIDES;
    pelt_cmd_pose(data->pass, commands, &data->tables, data->table.address,
                  data->states[form].address, data->scratch.address, &known);
}
