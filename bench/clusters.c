/* The cluster bench: checked, warmed up, measured. */
#include "bench/clusters_internal.h"

#include <math.h>

enum { REPEATS_MAX = 4096, PASSES_MIN = 2 };

const pelt_bench_camera_info pelt_bench_cameras[PELT_BENCH_CAMERA_COUNT] = {
    { "all", "everyone is in view" },
    { "tenth", "from the middle of the crowd, 36 of 360 degrees" },
    { "far", "from four times as far away as all" },
};

typedef struct clusters_run {
    pelt_bench_clusters_data data;
    const pelt_bench_clusters_settings *settings;
    uint32_t repeats[PELT_BENCH_STAGE_COUNT];
    double warm_up, sample;
} clusters_run;

typedef struct clusters_job {
    const pelt_bench_clusters_data *data;
    pelt_bench_cluster_stage stage;
} clusters_job;

static void record(const void *user, VkCommandBuffer commands)
{
    const clusters_job *job = user;
    pelt_bench_clusters_record(job->data, job->stage, commands);
}

static pelt_result sample(const clusters_run *run, uint32_t stage, double *seconds)
{
    const clusters_job job = { &run->data, (pelt_bench_cluster_stage)stage };
    return pelt_bench_measure(run->data.bench, run->repeats[stage], record, &job, seconds);
}

static pelt_result warm_up(clusters_run *run)
{
    double spent = 0;
    for (uint32_t i = 0; i < PELT_BENCH_STAGE_COUNT; i++) {
        run->repeats[i] = 1;
    }
    for (uint32_t pass = 0; spent < run->warm_up || pass < PASSES_MIN; pass++) {
        for (uint32_t i = 0; i < PELT_BENCH_STAGE_COUNT; i++) {
            if (!pelt_bench_clusters_has(&run->data, (int)i)) {
                continue;
            }
            double seconds;
            pelt_result result = sample(run, i, &seconds);
            if (result != PELT_OK) {
                return result;
            }
            spent += seconds * run->repeats[i];
            double repeats = seconds > 0 ? fmin(run->sample / seconds, REPEATS_MAX) : REPEATS_MAX;
            run->repeats[i] = repeats > 1 ? (uint32_t)repeats : 1;
        }
    }
    return PELT_OK;
}

static pelt_result measure_row(clusters_run *run, pelt_bench_clusters_row *row)
{
    double times[PELT_BENCH_STAGE_COUNT][PELT_BENCH_ROUNDS_MAX];
    uint32_t rounds = run->settings->rounds;
    pelt_result result = warm_up(run);
    for (uint32_t round = 0; result == PELT_OK && round < rounds; round++) {
        for (uint32_t i = 0; i < PELT_BENCH_STAGE_COUNT && result == PELT_OK; i++) {
            uint32_t stage = round % 2 == 0 ? i : PELT_BENCH_STAGE_COUNT - 1 - i;
            if (pelt_bench_clusters_has(&run->data, (int)stage)) {
                result = sample(run, stage, &times[stage][round]);
            }
        }
    }
    for (uint32_t i = 0; result == PELT_OK && i < PELT_BENCH_STAGE_COUNT; i++) {
        row->measured[i] = pelt_bench_clusters_has(&run->data, (int)i);
        if (row->measured[i]) {
            row->times[i] = pelt_bench_statistics(times[i], rounds);
        }
    }
    return result;
}

/* The list that a stage reads is that of the stage before, of the same view. */
static pelt_result run_row(clusters_run *run, int camera, int levels, pelt_bench_clusters_row *row)
{
    const char *name = pelt_bench_cameras[camera].name;
    if (run->settings->progress) {
        run->settings->progress(run->settings->user, name, levels ? "with levels" : "finest level");
    }
    pelt_result result =
        pelt_bench_clusters_look(&run->data, (pelt_bench_cluster_camera)camera, levels);
    if (result == PELT_OK) {
        result = pelt_bench_clusters_check(&run->data, !levels, row);
    }
    if (result == PELT_OK && !row->checked) {
        (void)pelt_fail(run->data.bench->host, PELT_ERROR_FILE, NULL, NULL,
                        "%s%s: clusters are not skinned, or do not look, as the whole does", name,
                        levels ? ", with levels" : "");
    }
    return result == PELT_OK ? measure_row(run, row) : result;
}

static void describe(const pelt_bench_clusters_data *data, pelt_bench_clusters_result *out)
{
    out->parts = data->part_count;
    out->joints = data->settings->model->matrix_count;
    for (uint32_t p = 0; p < data->part_count; p++) {
        const pelt_clusters *clusters = data->parts[p].clusters;
        out->vertices += data->parts[p].packed->vertex_count;
        out->triangles += clusters->lods[0].triangle_count;
        out->clusters += clusters->lods[0].cluster_count;
    }
}

pelt_result pelt_bench_clusters_run(pelt_bench *bench, const pelt_bench_clusters_settings *settings,
                                    pelt_bench_clusters_result *out)
{
    *out = (pelt_bench_clusters_result){ .instances = settings->instances };
    clusters_run run = { .settings = settings,
                         .warm_up = settings->warm_up > 0 ? settings->warm_up : 0.3,
                         .sample = settings->sample > 0 ? settings->sample : 0.02 };
    pelt_result result = pelt_bench_clusters_data_create(bench, settings, &run.data);
    if (result == PELT_OK) {
        describe(&run.data, out);
    }
    for (int camera = 0; camera < PELT_BENCH_CAMERA_COUNT; camera++) {
        for (int levels = 0; levels < 2 && result == PELT_OK; levels++) {
            result = run_row(&run, camera, levels, &out->rows[camera][levels]);
        }
    }
    pelt_bench_clusters_data_destroy(&run.data);
    return result;
}
