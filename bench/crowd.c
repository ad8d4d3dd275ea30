/* The crowd bench: checked, warmed up, measured. */
#include "bench/crowd_internal.h"

#include <math.h>

enum {
    DRAWS = PELT_BENCH_CROWD_FORM_COUNT - PELT_BENCH_CROWD_DRAW,
    JOBS = PELT_BENCH_CROWD_FORM_COUNT + DRAWS, /* draws once more, without pixels */
    REPEATS_MAX = 4096,
    PASSES_MIN = 2
};

const pelt_bench_crowd_form_info pelt_bench_crowd_forms[PELT_BENCH_CROWD_FORM_COUNT] = {
    { "pose", "the pose pass: skin matrices of all instances" },
    { "skin", "the skin pass: their vertices" },
    { "find", "the crowd pass: rows of all instances, who is in view" },
    { "skinned", "draws the vertices that the skin pass wrote" },
    { "nearest", "draws from a palette: 3x4 matrices in rgba32f, one row" },
    { "lerp", "... two rows" },
    { "lerp-16", "... in rgba16f" },
    { "lerp-4x4", "... 4x4 matrices in rgba32f" },
    { "blend", "... dual quaternions in rgba32f" },
    { "dual", "... by which vertices are skinned, too" },
};

typedef struct crowd_run {
    pelt_bench_crowd_data data;
    pelt_bench_crowd_result *out;
    uint32_t job_count; /* JOBS, or without those that cannot be timed */
    uint32_t repeats[JOBS];
    double sample;
} crowd_run;

static void say(const crowd_run *run, const char *format, uint32_t number, uint32_t of)
{
    const pelt_bench_crowd_settings *settings = run->data.settings;
    char text[64];
    if (settings->progress) {
        (void)snprintf(text, sizeof(text), format, number, of);
        settings->progress(settings->user, "crowd", text);
    }
}

typedef struct crowd_job {
    const crowd_run *run;
    uint32_t number;
} crowd_job;

static void record(const void *user, VkCommandBuffer commands)
{
    const crowd_job *job = user;
    bool pixels = job->number < PELT_BENCH_CROWD_FORM_COUNT;
    uint32_t form = pixels ? job->number : job->number - DRAWS;
    pelt_bench_crowd_record(&job->run->data, (pelt_bench_crowd_form)form, pixels, commands);
}

static pelt_result sample(const crowd_run *run, uint32_t number, double *seconds)
{
    const crowd_job job = { run, number };
    return pelt_bench_measure(run->data.bench, run->repeats[number], record, &job, seconds);
}

static pelt_result warm_up(crowd_run *run)
{
    double enough = run->data.settings->warm_up > 0 ? run->data.settings->warm_up : 0.3;
    say(run, "warming up", 0, 0);
    for (uint32_t pass = 0; run->out->warm_up < enough || pass < PASSES_MIN; pass++) {
        for (uint32_t i = 0; i < run->job_count; i++) {
            double seconds;
            pelt_result result = sample(run, i, &seconds);
            if (result != PELT_OK) {
                return result;
            }
            run->out->warm_up += seconds * run->repeats[i];
            double repeats = seconds > 0 ? fmin(run->sample / seconds, REPEATS_MAX) : REPEATS_MAX;
            run->repeats[i] = repeats > 1 ? (uint32_t)repeats : 1;
        }
    }
    return PELT_OK;
}

static pelt_result measure_rounds(crowd_run *run)
{
    double times[JOBS][PELT_BENCH_ROUNDS_MAX];
    uint32_t rounds = run->data.settings->rounds;
    for (uint32_t round = 0; round < rounds; round++) {
        say(run, "measuring %u of %u", round + 1, rounds);
        for (uint32_t i = 0; i < run->job_count; i++) {
            uint32_t job = round % 2 == 0 ? i : run->job_count - 1 - i;
            pelt_result result = sample(run, job, &times[job][round]);
            if (result != PELT_OK) {
                return result;
            }
        }
    }
    for (uint32_t i = 0; i < run->job_count; i++) {
        pelt_bench_times statistics = pelt_bench_statistics(times[i], rounds);
        if (i < PELT_BENCH_CROWD_FORM_COUNT) {
            run->out->rows[i].times = statistics;
        } else {
            run->out->rows[i - DRAWS].vertices = statistics;
        }
    }
    return PELT_OK;
}

/* What an instance is made of, and what each form needs for it. */
static void describe(const crowd_run *run)
{
    const pelt_bench_crowd_data *data = &run->data;
    pelt_bench_crowd_result *out = run->out;
    const pelt_bake *bake = data->bakes[PELT_BENCH_CROWD_LERP];
    uint64_t count = data->settings->instances, joint_bytes = 4;
    out->joints = bake->joint_count;
    out->parts = data->part_count;
    out->clips = bake->clip_count;
    out->rate = bake->clips[0].rate;
    out->influences = data->influences;
    for (uint32_t c = 0; c < bake->clip_count; c++) {
        out->frames += bake->clips[c].frame_count;
    }
    for (uint32_t p = 0; p < data->part_count; p++) {
        out->vertices += data->parts[p].packed->vertex_count;
        out->triangles += data->parts[p].index_count / 3;
        joint_bytes = data->parts[p].packed->joint_bytes == 2 ? 8 : joint_bytes;
    }
    pelt_bench_crowd_row *rows = out->rows;
    rows[PELT_BENCH_CROWD_POSE].memory =
        data->rig->size + count * PELT_POSE_INSTANCE_SIZE + data->matrices.size;
    rows[PELT_BENCH_CROWD_SKIN].memory =
        data->animated.size + data->skin_table.size + data->skin_tables.scratch_size;
    rows[PELT_BENCH_CROWD_FIND].memory =
        data->crowd_data.size + count * (PELT_CROWD_MEMBER_SIZE + PELT_CROWD_INSTANCE_SIZE) +
        data->crowd_scratch.size;
    rows[PELT_BENCH_CROWD_SKINNED].vertex_bytes = sizeof(pelt_packed_vertex);
    for (uint32_t f = PELT_BENCH_CROWD_NEAREST; f < PELT_BENCH_CROWD_FORM_COUNT; f++) {
        const pelt_bake *own = data->bakes[pelt_bench_crowd_palette((int)f)];
        /* Nobody reads the last row of a 4x4 matrix. */
        uint32_t texels = own->texels_per_joint < 3 ? own->texels_per_joint : 3;
        double row = data->influences * texels * (own->format == PELT_BAKE_RGBA16F ? 8.0 : 16.0);
        rows[f].memory = own->size;
        rows[f].vertex_bytes = (double)(sizeof(pelt_packed_vertex) + 4 + joint_bytes) +
                               row * (f == PELT_BENCH_CROWD_NEAREST ? 1 : 2);
    }
}

pelt_result pelt_bench_crowd_run(pelt_bench *bench, const pelt_bench_crowd_settings *settings,
                                 pelt_bench_crowd_result *out)
{
    *out = (pelt_bench_crowd_result){ .instances = settings->instances };
    bool software = bench->device->is_software;
    crowd_run run = { .out = out, .sample = settings->sample > 0 ? settings->sample : 0.02 };
    pelt_result result = pelt_bench_crowd_data_create(bench, settings, &run.data);
    if (result == PELT_OK) {
        result = pelt_bench_crowd_draw_create(&run.data);
    }
    run.job_count = software ? PELT_BENCH_CROWD_FORM_COUNT : JOBS;
    for (uint32_t i = 0; i < JOBS; i++) {
        run.repeats[i] = 1;
    }
    if (result == PELT_OK) {
        say(&run, "checking", 0, 0);
        result = pelt_bench_crowd_check(&run.data, out->rows);
    }
    if (result == PELT_OK) {
        describe(&run);
        /* Between frames: two rows are read. */
        result = pelt_bench_crowd_advance(&run.data, 0.4 / out->rate);
    }
    if (result == PELT_OK) {
        result = warm_up(&run);
    }
    if (result == PELT_OK) {
        result = measure_rounds(&run);
    }
    pelt_bench_crowd_draw_destroy(&run.data);
    pelt_bench_crowd_data_destroy(&run.data);
    return result;
}
