/* The ray bench: built, refitted, traced; checked and measured. */
#include "bench/rays_internal.h"

#include <math.h>

enum { REPEATS_MAX = 256, PASSES_MIN = 2 };

/* What is measured. */
typedef enum rays_step {
    STEP_SKIN,
    STEP_BUILD,
    STEP_REFIT,
    STEP_SERIAL,
    STEP_TLAS,
    STEP_TRACE
} rays_step;

static const char *const step_names[] = { "skin",      "build", "refit", "refit one by one",
                                          "top level", "trace" };

typedef struct rays_run {
    const pelt_bench_rays_settings *settings;
    pelt_bench_rays_data data;
    pelt_bench_rays_tracer tracer;
    pelt_bench_rays_result *out;
    pelt_result failed; /* while recording */
} rays_run;

typedef struct rays_job {
    rays_run *run;
    rays_step step;
} rays_job;

static void record_builds(rays_run *run, VkCommandBuffer commands, bool build,
                          VkDeviceSize scratch_limit)
{
    pelt_bench_rays_data *data = &run->data;
    pelt_result result = pelt_bench_rays_plan(data, build, scratch_limit);
    if (result == PELT_OK) {
        pelt_cmd_ray_build(data->pass, commands, data->ray_scene, data->scratch.address);
    } else {
        run->failed = result;
    }
}

/* The scratch memory of a single refit. */
static VkDeviceSize serial_scratch(const pelt_bench_rays_data *data)
{
    return data->sizes[0].update_scratch +
           2 * (VkDeviceSize)pelt_ray_pass_limits(data->pass)->scratch_alignment;
}

/* A step and all that must come between it and any other. */
static void record(const void *user, VkCommandBuffer commands)
{
    const rays_job *job = user;
    rays_run *run = job->run;
    pelt_bench_rays_data *data = &run->data;
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR;
    switch (job->step) {
    case STEP_SKIN:
        pelt_cmd_skin(data->bench->pass, commands, &data->tables, data->table.address,
                      data->tables.scratch_size ? data->skin_scratch.address : 0);
        pelt_bench_barrier(data->bench, commands);
        pelt_cmd_ray_barrier(data->pass, commands, PELT_RAY_AFTER_SKIN, stage);
        break;
    case STEP_BUILD:
    case STEP_REFIT:
        record_builds(run, commands, job->step == STEP_BUILD, BENCH_RAYS_SCRATCH);
        pelt_cmd_ray_barrier(data->pass, commands, PELT_RAY_AFTER_BUILD, stage);
        break;
    case STEP_SERIAL:
        record_builds(run, commands, false, serial_scratch(data));
        pelt_cmd_ray_barrier(data->pass, commands, PELT_RAY_AFTER_BUILD, stage);
        break;
    case STEP_TLAS:
        pelt_cmd_ray_tlas(data->pass, commands, &data->top, data->records.address,
                          data->structure_count, data->top_scratch.address);
        pelt_cmd_ray_barrier(data->pass, commands, PELT_RAY_AFTER_BUILD, stage);
        pelt_cmd_ray_barrier(data->pass, commands, PELT_RAY_BEFORE_TRACE, stage);
        break;
    case STEP_TRACE:
        data->view.top_level = data->top.address;
        pelt_bench_rays_trace(&run->tracer, commands, &data->view);
        pelt_bench_full_barrier(data->bench, commands);
        break;
    }
}

static pelt_result perform(rays_run *run, rays_step step)
{
    VkCommandBuffer commands;
    pelt_result result = pelt_commands_begin(run->data.bench->device, &commands);
    if (result == PELT_OK) {
        record(&(rays_job){ run, step }, commands);
        result = run->failed;
    }
    return result == PELT_OK ? pelt_commands_submit(run->data.bench->device, commands) : result;
}

static void say(const rays_run *run, const char *what)
{
    if (run->settings->progress) {
        run->settings->progress(run->settings->user, run->data.scene->name, what);
    }
}

/* Warms up with the step itself, then takes samples of it. */
static pelt_result measure(rays_run *run, rays_step step, pelt_bench_times *out)
{
    const rays_job job = { run, step };
    const double enough = run->settings->warm_up > 0 ? run->settings->warm_up : 0.3;
    const double sample = run->settings->sample > 0 ? run->settings->sample : 0.02;
    double times[PELT_BENCH_ROUNDS_MAX], spent = 0;
    uint32_t repeats = 1;
    say(run, step_names[step]);
    for (uint32_t pass = 0; spent < enough || pass < PASSES_MIN; pass++) {
        double seconds;
        pelt_result result = pelt_bench_measure(run->data.bench, repeats, record, &job, &seconds);
        if (result != PELT_OK || run->failed != PELT_OK) {
            return result != PELT_OK ? result : run->failed;
        }
        spent += seconds * repeats;
        double count = seconds > 0 ? fmin(sample / seconds, REPEATS_MAX) : REPEATS_MAX;
        repeats = count > 1 ? (uint32_t)count : 1;
    }
    for (uint32_t i = 0; i < run->settings->rounds; i++) {
        pelt_result result = pelt_bench_measure(run->data.bench, repeats, record, &job, &times[i]);
        if (result != PELT_OK || run->failed != PELT_OK) {
            return result != PELT_OK ? result : run->failed;
        }
    }
    *out = pelt_bench_statistics(times, run->settings->rounds);
    return PELT_OK;
}

/* -- rays ---------------------------------------------------------------------------------- */

static pelt_result fetch(const rays_run *run, pelt_bench_rays_hit *out)
{
    return pelt_buffer_download(run->data.bench->device, &run->tracer.hits, 0, out,
                                run->tracer.hits.size);
}

/* Another triangle, or another distance by more than a thousandth of the character. */
static bool is_other(const pelt_bench_rays_hit *a, const pelt_bench_rays_hit *b)
{
    return a->instance != b->instance || a->geometry != b->geometry || a->triangle != b->triangle ||
           fabsf(a->distance - b->distance) > 1e-3f;
}

void pelt_bench_rays_compare(const pelt_host *host, const char *scene,
                             const pelt_bench_rays_hit *worn, const pelt_bench_rays_hit *fresh,
                             size_t count, pelt_bench_rays_use *out)
{
    size_t others = 0, hits = 0;
    for (size_t i = 0; i < count; i++) {
        others += is_other(&worn[i], &fresh[i]);
        hits += fresh[i].distance >= 0;
    }
    out->differs = (double)others / (double)count;
    out->hits = (double)hits / (double)count;
    out->checked = out->differs <= PELT_BENCH_RAYS_DIFFERS && hits > 0;
    if (!out->checked) {
        (void)pelt_fail(host, PELT_ERROR_FILE, NULL, NULL,
                        "%s: %.3f %% of the rays hit, %.3f %% hit something else after refits",
                        scene, 100 * out->hits, 100 * out->differs);
    }
}

/* Refits through the frames, then rays; and once more after building in the last one's pose. */
static pelt_result measure_rays(rays_run *run, pelt_bench_rays_use *out)
{
    const pelt_host *host = run->data.bench->host;
    const size_t count = (size_t)run->tracer.width * run->tracer.height;
    pelt_bench_rays_hit *worn = pelt_allocate(host, count, sizeof(*worn));
    pelt_bench_rays_hit *fresh = pelt_allocate(host, count, sizeof(*fresh));
    pelt_result result = worn && fresh ? PELT_OK : PELT_ERROR_MEMORY;
    for (uint32_t frame = 0; result == PELT_OK && frame <= run->settings->refits; frame++) {
        const rays_step steps[] = { STEP_SKIN, frame == 0 ? STEP_BUILD : STEP_REFIT, STEP_TLAS };
        say(run, "frames");
        result = pelt_bench_rays_pose(&run->data, frame);
        for (uint32_t i = 0; result == PELT_OK && i < 3; i++) {
            result = perform(run, steps[i]);
        }
    }
    if (result == PELT_OK) {
        result = measure(run, STEP_TRACE, &out->worn);
    }
    if (result == PELT_OK) {
        result = fetch(run, worn);
    }
    if (result == PELT_OK) {
        result = perform(run, STEP_BUILD);
    }
    if (result == PELT_OK) {
        result = perform(run, STEP_TLAS);
    }
    if (result == PELT_OK) {
        result = measure(run, STEP_TRACE, &out->fresh);
    }
    if (result == PELT_OK) {
        result = fetch(run, fresh);
    }
    if (result == PELT_OK) {
        pelt_bench_rays_compare(host, run->data.scene->name, worn, fresh, count, out);
    }
    pelt_release(host, worn);
    pelt_release(host, fresh);
    return result;
}

static pelt_result run_use(rays_run *run, uint32_t use)
{
    const pelt_ray_use uses[PELT_BENCH_RAYS_USES] = { PELT_RAY_ANIMATED, PELT_RAY_REFITTED };
    pelt_bench_rays_data *data = &run->data;
    pelt_bench_rays_use *out = &run->out->uses[use];
    pelt_result result = pelt_bench_rays_structures_create(data, uses[use]);
    if (result == PELT_OK) {
        out->structure_bytes = data->structure_bytes;
        for (uint32_t i = 0; i < data->structure_count; i++) {
            out->build_scratch += data->blas[i].sizes->build_scratch;
            out->refit_scratch += data->blas[i].sizes->update_scratch;
        }
        run->out->structures = data->structure_count;
        out->build_batches = data->plan.batch_count;
        result = pelt_bench_rays_pose(data, 0);
    }
    if (result == PELT_OK) {
        result = use == 0 ? measure(run, STEP_SKIN, &run->out->skin) : perform(run, STEP_SKIN);
    }
    if (result == PELT_OK) {
        result = measure(run, STEP_BUILD, &out->build);
    }
    if (result == PELT_OK) {
        result = measure(run, STEP_REFIT, &out->refit);
    }
    if (result == PELT_OK) {
        result = measure(run, STEP_SERIAL, &out->serial);
    }
    if (result == PELT_OK && use == 0) {
        result = measure(run, STEP_TLAS, &run->out->tlas);
    }
    if (result == PELT_OK) {
        result = measure_rays(run, out);
    }
    pelt_bench_rays_structures_destroy(data);
    return result;
}

pelt_result pelt_bench_rays_run(pelt_bench *bench, const pelt_bench_rays_scene *scene,
                                const pelt_bench_rays_settings *settings,
                                pelt_bench_rays_result *out)
{
    *out = (pelt_bench_rays_result){ .scene = *scene };
    rays_run run = { .settings = settings, .out = out, .tracer.bench = bench };
    pelt_result result = pelt_bench_rays_data_create(bench, scene, &run.data);
    if (result == PELT_OK) {
        out->vertices = run.data.packed->vertex_count;
        out->triangles = run.data.indices.triangle_count;
        result =
            pelt_bench_rays_tracer_create(bench, settings->width, settings->height, &run.tracer);
    }
    for (uint32_t use = 0; result == PELT_OK && use < PELT_BENCH_RAYS_USES; use++) {
        result = run_use(&run, use);
    }
    pelt_bench_rays_tracer_destroy(&run.tracer);
    pelt_bench_rays_data_destroy(&run.data);
    return result;
}
