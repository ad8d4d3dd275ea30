/* What the pose pass writes against pelt_pose in double precision. */
#include "bench/pose_internal.h"

#include <math.h>
#include <time.h>

enum { MATRIX_NUMBERS = 12 };

/* Some minutes after the instances began; four frames, so that all are due once. */
static const double check_time = 300.0;
enum { CHECK_FRAMES = 4 };

static double seconds_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static pelt_result run_form(const pelt_bench_pose_data *data, pelt_bench_pose_form form)
{
    pelt_bench *bench = data->bench;
    VkCommandBuffer commands;
    pelt_result result = pelt_commands_begin(bench->device, &commands);
    if (result != PELT_OK) {
        return result;
    }
    /* Everything is wrong before. */
    bench->vk.cmd_fill_buffer(commands, data->matrices.buffer, 0, VK_WHOLE_SIZE, 0x7fc00000u);
    pelt_bench_full_barrier(bench, commands);
    for (uint32_t i = 0; i < CHECK_FRAMES; i++) {
        const pelt_pose_frame frame = { .now = check_time, .number = i };
        pelt_bench_pose_record(data, form, &frame, commands);
        pelt_bench_full_barrier(bench, commands);
    }
    return pelt_commands_submit(bench->device, commands);
}

static pelt_play cpu_play(const pelt_gpu_play *play, double weight)
{
    return (pelt_play){ .clip = play->clip,
                        .time = play->time + (check_time - play->since) * (double)play->speed,
                        .loop = play->loop,
                        .weight = weight };
}

static pelt_result pose_cpu(const pelt_bench_pose_data *data, pelt_bench_pose_form form,
                            uint32_t index, pelt_pose *pose, float *matrices)
{
    double world[MATRIX_NUMBERS];
    const pelt_pose_instance instance = pelt_bench_pose_instance(data, form, index, world);
    const double weight = (double)instance.weight;
    const pelt_play plays[2] = { cpu_play(&instance.play, 1 - weight),
                                 cpu_play(&instance.second, weight) };
    uint32_t overrides = form == PELT_BENCH_POSE_OVERRIDES ? BENCH_POSE_OVERRIDES : 0;
    pelt_result result = pelt_pose_sample(pose, plays, form == PELT_BENCH_POSE_TWO ? 2 : 1);
    if (result == PELT_OK) {
        result = pelt_pose_update_overridden(pose, data->overrides, overrides);
    }
    return result == PELT_OK ? pelt_pose_skin_matrices(pose, world, matrices) : result;
}

/* The extent of the nodes in the pose at hand. */
static double measure_size(const pelt_pose *pose, const pelt_rig *rig)
{
    double low[3] = { INFINITY, INFINITY, INFINITY };
    double high[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (uint32_t i = 0; i < pose->model->node_count; i++) {
        const double *global = pose->globals + MATRIX_NUMBERS * (size_t)i;
        for (int c = 0; rig->places[i] != PELT_RIG_NO_NODE && c < 3; c++) {
            low[c] = fmin(low[c], global[4 * c + 3]);
            high[c] = fmax(high[c], global[4 * c + 3]);
        }
    }
    double square = 0;
    for (int c = 0; c < 3; c++) {
        square += (high[c] - low[c]) * (high[c] - low[c]);
    }
    return square > 0 ? sqrt(square) : 1;
}

/* How far apart two matrices move a point of the character, at most, as a part of its size. NaN if
 * anything is. */
static double compare(const float *a, const float *b, double size)
{
    double worst = 0;
    for (int row = 0; row < 3; row++) {
        double apart = fabs((double)a[4 * row + 3] - (double)b[4 * row + 3]) / size;
        for (int c = 0; c < 3; c++) {
            apart += fabs((double)a[4 * row + c] - (double)b[4 * row + c]);
        }
        worst = apart <= worst ? worst : apart;
    }
    return worst;
}

static pelt_result compare_all(const pelt_bench_pose_data *data, pelt_bench_pose_form form,
                               const float *written, pelt_bench_pose_row *row, double *cpu_seconds)
{
    const pelt_host *host = data->bench->host;
    uint32_t count = data->rig->matrix_count;
    pelt_pose *pose = NULL;
    float *matrices = pelt_allocate(host, count, MATRIX_NUMBERS * sizeof(*matrices));
    pelt_result result =
        matrices ? pelt_pose_create(host, data->settings->model, &pose) : PELT_ERROR_MEMORY;
    double size = result == PELT_OK ? measure_size(pose, data->rig) : 1;
    double spent = 0;
    row->error = 0;
    for (uint32_t i = 0; result == PELT_OK && i < data->settings->instances; i++) {
        double before = seconds_now();
        result = pose_cpu(data, form, i, pose, matrices);
        spent += seconds_now() - before;
        for (uint32_t m = 0; result == PELT_OK && m < count; m++) {
            size_t at = ((size_t)i * count + m) * MATRIX_NUMBERS;
            double error = compare(written + at, matrices + (size_t)m * MATRIX_NUMBERS, size);
            row->error = error <= row->error ? row->error : error;
        }
    }
    if (cpu_seconds) {
        *cpu_seconds = spent;
    }
    pelt_pose_destroy(pose);
    pelt_release(host, matrices);
    return result;
}

double pelt_bench_pose_allowed(const pelt_model *model)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < model->node_count; i++) {
        uint32_t levels = 0;
        for (int32_t node = (int32_t)i; node >= 0; node = model->nodes[node].parent) {
            levels++;
        }
        most = levels > most ? levels : most;
    }
    return fmax(PELT_BENCH_POSE_ERROR, most * PELT_BENCH_POSE_LEVEL_ERROR);
}

pelt_result pelt_bench_pose_check(const pelt_bench_pose_data *data, pelt_bench_pose_form form,
                                  pelt_bench_pose_row *row, double *cpu_seconds)
{
    const pelt_host *host = data->bench->host;
    size_t bytes = data->matrices.size;
    float *written = pelt_allocate(host, bytes, 1);
    pelt_result result = written ? run_form(data, form) : PELT_ERROR_MEMORY;
    if (result == PELT_OK) {
        result = pelt_buffer_download(data->bench->device, &data->matrices, 0, written, bytes);
    }
    if (result == PELT_OK) {
        result = compare_all(data, form, written, row, cpu_seconds);
    }
    if (result == PELT_OK) {
        double allowed = pelt_bench_pose_allowed(data->settings->model);
        row->checked = row->error <= allowed;
        if (!row->checked) {
            (void)pelt_fail(host, PELT_ERROR_FILE, NULL, NULL,
                            "%s: matrices off by %.3g of the character's size, allowed %.2g",
                            pelt_bench_pose_forms[form].name, row->error, allowed);
        }
    }
    pelt_release(host, written);
    return result;
}
