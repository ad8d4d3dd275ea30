/* Time of a frame: many in one command buffer between two timestamps. */
#include "bench/internal.h"

#include <stdlib.h>

enum { ATTEMPTS = 3 };

/* The clock may wrap within a sample. */
static pelt_result read_timestamps(const pelt_bench *bench, double *seconds, bool *wrapped)
{
    uint64_t ticks[2] = { 0 };
    VkResult status = bench->vk.get_query_pool_results(
        bench->device->vulkan.device, bench->queries, 0, 2, sizeof(ticks), ticks, sizeof(ticks[0]),
        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    if (status != VK_SUCCESS) {
        return pelt_bench_check_status(bench, status, "vkGetQueryPoolResults");
    }
    *wrapped = ticks[1] < ticks[0];
    *seconds = (double)(ticks[1] - ticks[0]) * (double)bench->device->timestamp_period * 1e-9;
    return PELT_OK;
}

/* Some frames more before the first timestamp: the device has left its idle state by then. */
static void record_sample(const pelt_bench *bench, VkCommandBuffer commands, uint32_t repeats,
                          void (*record)(const void *user, VkCommandBuffer commands),
                          const void *user)
{
    uint32_t lead_in = repeats / 16 + 1;
    bench->vk.cmd_reset_query_pool(commands, bench->queries, 0, 2);
    for (uint32_t i = 0; i < lead_in + repeats; i++) {
        if (i == lead_in) {
            bench->vk.cmd_write_timestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                                          bench->queries, 0);
        }
        record(user, commands);
    }
    bench->vk.cmd_write_timestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, bench->queries,
                                  1);
}

pelt_result pelt_bench_measure(const pelt_bench *bench, uint32_t repeats,
                               void (*record)(const void *user, VkCommandBuffer commands),
                               const void *user, double *out)
{
    bool wrapped = true;
    for (int attempt = 0; wrapped && attempt < ATTEMPTS; attempt++) {
        VkCommandBuffer commands;
        pelt_result result = pelt_commands_begin(bench->device, &commands);
        if (result != PELT_OK) {
            return result;
        }
        record_sample(bench, commands, repeats, record, user);
        result = pelt_commands_submit(bench->device, commands);
        if (result == PELT_OK) {
            result = read_timestamps(bench, out, &wrapped);
        }
        if (result != PELT_OK) {
            return result;
        }
        *out /= repeats;
    }
    return wrapped ? pelt_fail(bench->host, PELT_ERROR_VULKAN, NULL, NULL,
                               "the device's timestamps run backwards")
                   : PELT_OK;
}

typedef struct frame_job {
    const pelt_bench_data *data;
    uint32_t variant;
} frame_job;

/* The barrier is what a frame's readers, and the next frame's writes, need. */
static void record_frame(const void *user, VkCommandBuffer commands)
{
    const frame_job *frame = user;
    pelt_bench_variants[frame->variant].record(frame->data, commands);
    pelt_bench_barrier(frame->data->bench, commands);
}

pelt_result pelt_bench_sample(const pelt_bench_data *data, uint32_t variant, uint32_t repeats,
                              double *out)
{
    return pelt_bench_measure(data->bench, repeats, record_frame, &(frame_job){ data, variant },
                              out);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, uint32_t count, double at)
{
    double place = at * (count - 1);
    uint32_t below = (uint32_t)place;
    uint32_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

pelt_bench_times pelt_bench_statistics(double *values, uint32_t count)
{
    qsort(values, count, sizeof(*values), compare_doubles);
    return (pelt_bench_times){ .least = values[0],
                               .quarter = quantile(values, count, 0.25),
                               .median = quantile(values, count, 0.5),
                               .three_quarters = quantile(values, count, 0.75),
                               .most = values[count - 1] };
}

/* -- the device's copy --------------------------------------------------------------------- */

typedef struct copy_job {
    const pelt_bench *bench;
    pelt_buffer from, to;
} copy_job;

static void record_command(const void *user, VkCommandBuffer commands)
{
    const copy_job *copy = user;
    const VkBufferCopy region = { .size = copy->from.size };
    copy->bench->vk.cmd_copy_buffer(commands, copy->from.buffer, copy->to.buffer, 1, &region);
    pelt_bench_full_barrier(copy->bench, commands);
}

static void record_shader(const void *user, VkCommandBuffer commands)
{
    const copy_job *copy = user;
    const struct bench_copy_constants constants = { .from = copy->from.address,
                                                    .to = copy->to.address,
                                                    .count = (uint32_t)(copy->from.size / 16) };
    pelt_bench_dispatch(copy->bench, commands, BENCH_COPY, &constants, sizeof(constants),
                        pelt_bench_groups((constants.count + 3) / 4));
    pelt_bench_full_barrier(copy->bench, commands);
}

static pelt_result measure_copy(const copy_job *copy, double warm_up,
                                void (*record)(const void *user, VkCommandBuffer commands),
                                pelt_bench_times *out)
{
    enum { REPEATS = 8, ROUNDS = 9 };
    double times[ROUNDS], spent = 0.0;
    pelt_result result = PELT_OK;
    while (result == PELT_OK && spent < warm_up) {
        result = pelt_bench_measure(copy->bench, REPEATS, record, copy, &times[0]);
        spent += REPEATS * times[0];
    }
    for (uint32_t i = 0; result == PELT_OK && i < ROUNDS; i++) {
        result = pelt_bench_measure(copy->bench, REPEATS, record, copy, &times[i]);
    }
    if (result == PELT_OK) {
        *out = pelt_bench_statistics(times, ROUNDS);
    }
    return result;
}

pelt_result pelt_bench_measure_copy(pelt_bench *bench, const pelt_bench_settings *settings,
                                    pelt_bench_copy *out)
{
    double warm_up = settings->warm_up > 0.0 ? settings->warm_up : 0.3;
    uint64_t size = bench->device->is_software ? UINT64_C(32) << 20 : UINT64_C(1) << 30;
    copy_job copy = { .bench = bench };
    pelt_bench_times by_command;
    pelt_result result = pelt_buffer_create(bench->device, size, 0, PELT_MEMORY_DEVICE, &copy.from);
    if (result == PELT_OK) {
        result = pelt_buffer_create(bench->device, size, 0, PELT_MEMORY_DEVICE, &copy.to);
    }
    if (settings->progress) {
        settings->progress(settings->user, "copy", "measuring");
    }
    *out = (pelt_bench_copy){ .size = size };
    if (result == PELT_OK) {
        result = measure_copy(&copy, warm_up, record_shader, &out->times);
    }
    if (result == PELT_OK) {
        result = measure_copy(&copy, warm_up, record_command, &by_command);
    }
    if (result == PELT_OK && by_command.median < out->times.median) {
        out->times = by_command;
        out->by_command = true;
    }
    pelt_buffer_destroy(bench->device, &copy.to);
    pelt_buffer_destroy(bench->device, &copy.from);
    return result;
}
