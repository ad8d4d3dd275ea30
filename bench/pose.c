/* The pose bench: checked, warmed up, measured. */
#include "bench/pose_internal.h"

#include <math.h>

enum { REPEATS_MAX = 4096, PASSES_MIN = 2, SHAPE_SAMPLES = 3 };

const pelt_bench_pose_form_info pelt_bench_pose_forms[PELT_BENCH_POSE_FORM_COUNT] = {
    { "floor", "writes as many bytes, and computes nothing" },
    { "pose", "one clip each" },
    { "pose-two", "two clips each, blended" },
    { "pose-overrides", "one clip, and four overridden nodes, one of each kind" },
    { "pose-fourth", "one clip, each instance every fourth frame" },
};

typedef struct pose_run {
    pelt_bench_pose_data data;
    pelt_bench_pose_result *out;
    uint32_t frame; /* that was recorded last */
    double sample;
} pose_run;

static void say(const pose_run *run, const char *format, uint32_t number, uint32_t of)
{
    const pelt_bench_pose_settings *settings = run->data.settings;
    char text[64];
    if (settings->progress) {
        (void)snprintf(text, sizeof(text), format, number, of);
        settings->progress(settings->user, "pose", text);
    }
}

typedef struct pose_job {
    pose_run *run;
    pelt_bench_pose_form form;
} pose_job;

/* A sixtieth of a second after the one before it. */
static void record_frame(const void *user, VkCommandBuffer commands)
{
    const pose_job *job = user;
    uint32_t number = job->run->frame++;
    const pelt_pose_frame frame = { .now = number / 60.0, .number = number };
    pelt_bench_pose_record(&job->run->data, job->form, &frame, commands);
    pelt_bench_barrier(job->run->data.bench, commands);
}

static pelt_result sample(pose_run *run, uint32_t form, double *seconds)
{
    const pose_job job = { run, (pelt_bench_pose_form)form };
    return pelt_bench_measure(run->data.bench, run->out->rows[form].repeats, record_frame, &job,
                              seconds);
}

static pelt_result warm_up(pose_run *run)
{
    const pelt_bench_pose_settings *settings = run->data.settings;
    double enough = settings->warm_up > 0 ? settings->warm_up : 0.3;
    pelt_result result = PELT_OK;
    say(run, "warming up", 0, 0);
    for (uint32_t pass = 0; run->out->warm_up < enough || pass < PASSES_MIN; pass++) {
        for (uint32_t f = 0; f < PELT_BENCH_POSE_FORM_COUNT; f++) {
            pelt_bench_pose_row *row = &run->out->rows[f];
            double seconds;
            result = sample(run, f, &seconds);
            if (result != PELT_OK) {
                return result;
            }
            run->out->warm_up += seconds * row->repeats;
            double repeats = seconds > 0 ? fmin(run->sample / seconds, REPEATS_MAX) : REPEATS_MAX;
            /* Whole turns, so that each sample has the same instances due. */
            row->repeats = (uint32_t)repeats / 4 * 4;
            row->repeats = row->repeats > 4 ? row->repeats : 4;
        }
    }
    return result;
}

/* The floor takes the shape that is fastest here. */
static pelt_result choose_floor(pose_run *run)
{
    const uint32_t shapes[] = { 1, 2, 4, 8, 16 };
    double least = INFINITY;
    uint32_t best = 1;
    pelt_result result = PELT_OK;
    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
        double times[SHAPE_SAMPLES];
        run->data.floor_rows = shapes[s];
        for (uint32_t i = 0; result == PELT_OK && i < SHAPE_SAMPLES; i++) {
            result = sample(run, PELT_BENCH_POSE_FLOOR, &times[i]);
        }
        if (result != PELT_OK) {
            return result;
        }
        double median = pelt_bench_statistics(times, SHAPE_SAMPLES).median;
        if (median < least) {
            least = median;
            best = shapes[s];
        }
    }
    run->data.floor_rows = run->out->floor_rows = best;
    return result;
}

static pelt_result measure_rounds(pose_run *run)
{
    double times[PELT_BENCH_POSE_FORM_COUNT][PELT_BENCH_ROUNDS_MAX];
    uint32_t rounds = run->data.settings->rounds;
    for (uint32_t round = 0; round < rounds; round++) {
        say(run, "measuring %u of %u", round + 1, rounds);
        for (uint32_t i = 0; i < PELT_BENCH_POSE_FORM_COUNT; i++) {
            uint32_t form = round % 2 == 0 ? i : PELT_BENCH_POSE_FORM_COUNT - 1 - i;
            pelt_result result = sample(run, form, &times[form][round]);
            if (result != PELT_OK) {
                return result;
            }
        }
    }
    for (uint32_t f = 0; f < PELT_BENCH_POSE_FORM_COUNT; f++) {
        run->out->rows[f].times = pelt_bench_statistics(times[f], rounds);
    }
    return PELT_OK;
}

static pelt_result check_all(pose_run *run)
{
    pelt_result result = PELT_OK;
    run->out->rows[PELT_BENCH_POSE_FLOOR].checked = true; /* nothing to be wrong */
    for (uint32_t f = PELT_BENCH_POSE_ONE; result == PELT_OK && f < PELT_BENCH_POSE_FORM_COUNT;
         f++) {
        say(run, "checking %u of %u", f, PELT_BENCH_POSE_FORM_COUNT - 1);
        result = pelt_bench_pose_check(&run->data, (pelt_bench_pose_form)f, &run->out->rows[f],
                                       f == PELT_BENCH_POSE_ONE ? &run->out->cpu_seconds : NULL);
    }
    return result;
}

pelt_result pelt_bench_pose_run(pelt_bench *bench, const pelt_bench_pose_settings *settings,
                                pelt_bench_pose_result *out)
{
    *out = (pelt_bench_pose_result){ .instances = settings->instances };
    pose_run run = { .out = out, .sample = settings->sample > 0 ? settings->sample : 0.01 };
    pelt_result result = pelt_bench_pose_data_create(bench, settings, &run.data);
    if (result != PELT_OK) {
        return result;
    }
    const pelt_rig *rig = run.data.rig;
    out->allowed = pelt_bench_pose_allowed(settings->model);
    out->nodes = rig->node_count;
    out->matrices = rig->matrix_count;
    out->clips = rig->clip_count;
    out->rig_bytes = rig->size;
    out->instance_bytes = (uint64_t)settings->instances * PELT_POSE_INSTANCE_SIZE;
    out->matrix_bytes = run.data.matrices.size;
    for (uint32_t f = 0; f < PELT_BENCH_POSE_FORM_COUNT; f++) {
        out->rows[f].repeats = 4;
    }
    result = check_all(&run);
    if (result == PELT_OK) {
        result = warm_up(&run);
    }
    if (result == PELT_OK) {
        result = choose_floor(&run);
    }
    if (result == PELT_OK) {
        result = measure_rounds(&run);
    }
    pelt_bench_pose_data_destroy(&run.data);
    return result;
}
