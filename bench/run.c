/* One scene: made, checked, warmed up, measured. */
#include "bench/internal.h"

#include <math.h>
#include <string.h>

enum { ROUNDS_DEFAULT = 9, REPEATS_MAX = 4096, SHAPE_SAMPLES = 3, PASSES_MIN = 2 };

typedef struct scene_run {
    const pelt_bench *bench;
    const pelt_bench_settings *settings;
    pelt_bench_data data;
    pelt_bench_result *out;
    double warm_up, sample;
    uint32_t rounds;
    uint32_t repeats[PELT_BENCH_VARIANT_COUNT];
    double times[PELT_BENCH_VARIANT_COUNT][PELT_BENCH_ROUNDS_MAX];
} scene_run;

static void say(const scene_run *run, const char *format, uint32_t number, uint32_t of)
{
    char text[64];
    if (run->settings->progress) {
        (void)snprintf(text, sizeof(text), format, number, of);
        run->settings->progress(run->settings->user, run->out->scene.name, text);
    }
}

/* As many instances as suit the device. */
static void fit_scene(const pelt_bench *bench, const pelt_bench_settings *settings,
                      uint32_t unit_vertices, pelt_bench_result *out)
{
    pelt_bench_scene *scene = &out->scene;
    if (scene->instances == 0) {
        uint32_t instances = PELT_BENCH_TOTAL / unit_vertices;
        scene->instances = instances > 0 ? instances : 1;
    }
    double total = (double)scene->instances * unit_vertices;
    double scale = settings->scale;
    if (!(scale > 0.0)) {
        scale = bench->device->is_software ? fmax(1.0, total / PELT_BENCH_SOFTWARE_TOTAL) : 1.0;
    }
    out->scale = scale;
    pelt_bench_scale(scene, scale);
}

static pelt_result make_what_normals_need(scene_run *run)
{
    pelt_result result = PELT_OK;
    for (uint32_t v = 0; result == PELT_OK && v < PELT_BENCH_VARIANT_COUNT; v++) {
        pelt_bench_row *row = &run->out->rows[v];
        if (!row->measured || !pelt_bench_variants[v].info.of_normals) {
            continue;
        }
        result = pelt_bench_normals_create(&run->data); /* does nothing the second time */
        if (pelt_bench_variants[v].family == BENCH_FAMILY_JOINT_COFACTORS &&
            !run->data.cofactors_fit) {
            row->measured = false;
            row->reason = "half floats do not hold the cofactors of some joint";
        }
    }
    return result;
}

static pelt_result check_all(scene_run *run)
{
    pelt_bench_check *check;
    pelt_result result = pelt_bench_check_create(&run->data, &check);
    if (result != PELT_OK) {
        return result;
    }
    run->out->vertices_checked = pelt_bench_check_vertices(check);
    /* pelt is checked even if it is not measured: the others are compared with it. */
    for (uint32_t v = 0; result == PELT_OK && v < PELT_BENCH_VARIANT_COUNT; v++) {
        pelt_bench_row *row = &run->out->rows[v];
        if (row->measured || v == BENCH_VARIANT_PELT) {
            say(run, "checking %u of %u", v + 1, PELT_BENCH_VARIANT_COUNT);
            result = pelt_bench_check_variant(check, v, run->out->scene.name, row);
        }
    }
    pelt_bench_check_destroy(check);
    return result;
}

/* All variants in turn until the device has worked long enough; finds out how often to repeat. */
static pelt_result warm_up(scene_run *run)
{
    pelt_result result = PELT_OK;
    double first = 0.0, spent = 0.0;
    for (uint32_t pass = 0; spent < run->warm_up || pass < PASSES_MIN; pass++) {
        bool any = false;
        for (uint32_t v = 0; v < PELT_BENCH_VARIANT_COUNT; v++) {
            double seconds;
            if (!run->out->rows[v].measured) {
                continue;
            }
            say(run, "warming up", 0, 0);
            result = pelt_bench_sample(&run->data, v, run->repeats[v], &seconds);
            if (result != PELT_OK) {
                return result;
            }
            first = first > 0.0 ? first : seconds;
            spent += seconds * run->repeats[v];
            double repeats = seconds > 0.0 ? run->sample / seconds : REPEATS_MAX;
            run->repeats[v] = repeats < 1.0           ? 1
                              : repeats > REPEATS_MAX ? REPEATS_MAX
                                                      : (uint32_t)repeats;
            any = true;
        }
        if (!any) {
            break;
        }
    }
    run->out->warm_up = spent;
    run->out->first_over_settled = first; /* divided by the median in the end */
    return result;
}

/* The stream is the floor: it takes the shape that is fastest here. */
static pelt_result choose_shape(scene_run *run)
{
    pelt_bench_data *data = &run->data;
    uint32_t best = 0;
    double least = INFINITY;
    pelt_result result = PELT_OK;
    for (uint32_t s = 0; s < data->shape_count && run->out->rows[BENCH_VARIANT_STREAM].measured;
         s++) {
        double times[SHAPE_SAMPLES];
        data->shape = s;
        for (uint32_t i = 0; result == PELT_OK && i < SHAPE_SAMPLES; i++) {
            result = pelt_bench_sample(data, BENCH_VARIANT_STREAM,
                                       run->repeats[BENCH_VARIANT_STREAM], &times[i]);
        }
        if (result != PELT_OK) {
            return result;
        }
        double median = pelt_bench_statistics(times, SHAPE_SAMPLES).median;
        if (median < least) {
            least = median;
            best = s;
        }
    }
    data->shape = best;
    run->out->stream_lanes = 1u << data->shapes[best].lane_bits;
    run->out->stream_vertices = data->shapes[best].vertices;
    return result;
}

/* Every round measures all, alternating between forth and back. */
static pelt_result measure_rounds(scene_run *run)
{
    for (uint32_t round = 0; round < run->rounds; round++) {
        say(run, "measuring %u of %u", round + 1, run->rounds);
        for (uint32_t i = 0; i < PELT_BENCH_VARIANT_COUNT; i++) {
            uint32_t v = round % 2 == 0 ? i : PELT_BENCH_VARIANT_COUNT - 1 - i;
            if (run->out->rows[v].measured) {
                pelt_result result =
                    pelt_bench_sample(&run->data, v, run->repeats[v], &run->times[v][round]);
                if (result != PELT_OK) {
                    return result;
                }
            }
        }
    }
    return PELT_OK;
}

/* How the clocks moved: of the first variant measured, which is also the first that warmed up. */
static void note_clocks(scene_run *run, uint32_t variant)
{
    const double *times = run->times[variant];
    uint32_t third = run->rounds / 3 > 0 ? run->rounds / 3 : 1;
    double early = 0.0, late = 0.0;
    for (uint32_t i = 0; i < third; i++) {
        early += times[i];
        late += times[run->rounds - 1 - i];
    }
    run->out->drift = early > 0.0 ? late / early - 1.0 : 0.0;
}

static void summarise(scene_run *run)
{
    bool noted = false;
    for (uint32_t v = 0; v < PELT_BENCH_VARIANT_COUNT; v++) {
        pelt_bench_row *row = &run->out->rows[v];
        if (!row->measured) {
            continue;
        }
        if (!noted) {
            note_clocks(run, v);
        }
        row->times = pelt_bench_statistics(run->times[v], run->rounds);
        row->repeats = run->repeats[v];
        row->bytes = pelt_bench_bytes(&run->data, v);
        if (!noted && row->times.median > 0.0) {
            run->out->first_over_settled /= row->times.median;
            noted = true;
        }
    }
}

static void choose_variants(scene_run *run)
{
    for (uint32_t v = 0; v < PELT_BENCH_VARIANT_COUNT; v++) {
        pelt_bench_row *row = &run->out->rows[v];
        run->repeats[v] = 1;
        row->measured = !run->settings->skip[v];
        if (row->measured && pelt_bench_variants[v].needs_subgroups && !run->bench->subgroups) {
            row->measured = false;
            row->reason = "the device has no subgroup arithmetic, votes and ballots in compute";
        }
    }
}

static pelt_result run_scene(scene_run *run)
{
    pelt_bench_scene *scene = &run->out->scene;
    pelt_bench_unit *unit;
    uint32_t unit_vertices = pelt_bench_unit_vertices(scene);
    say(run, "making it", 0, 0);
    if (unit_vertices > 0) {
        fit_scene(run->bench, run->settings, unit_vertices, run->out);
    }
    pelt_result result = pelt_bench_unit_create(run->bench->host, scene, &unit);
    if (result != PELT_OK) {
        return result;
    }
    if (unit_vertices == 0) {
        fit_scene(run->bench, run->settings, unit->vertex_count, run->out);
    }
    result = pelt_bench_data_create(run->bench, unit, scene->instances, scene->shared, &run->data);
    if (result == PELT_OK) {
        run->out->meshes = run->data.mesh_count;
        run->out->vertices = run->data.vertex_count;
        run->out->source_vertices = (uint64_t)run->data.source_instances * unit->vertex_count;
        run->out->matrices = run->data.matrix_count;
        choose_variants(run);
        pelt_result (*const steps[])(scene_run *) = { make_what_normals_need, check_all, warm_up,
                                                      choose_shape, measure_rounds };
        for (size_t i = 0; result == PELT_OK && i < sizeof(steps) / sizeof(steps[0]); i++) {
            result = steps[i](run);
        }
        if (result == PELT_OK) {
            summarise(run);
        }
        pelt_bench_data_destroy(&run->data);
    }
    pelt_bench_unit_destroy(unit);
    return result;
}

pelt_result pelt_bench_run(pelt_bench *bench, const pelt_bench_scene *scene,
                           const pelt_bench_settings *settings, pelt_bench_result *out)
{
    *out = (pelt_bench_result){ .scene = *scene };
    scene_run *state = pelt_allocate(bench->host, 1, sizeof(*state));
    if (!state) {
        return pelt_fail(bench->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a scene");
    }
    state->bench = bench;
    state->settings = settings;
    state->out = out;
    state->warm_up = settings->warm_up > 0.0 ? settings->warm_up : 0.3;
    state->sample = settings->sample > 0.0 ? settings->sample : 0.01;
    state->rounds = settings->rounds > 0 ? settings->rounds : ROUNDS_DEFAULT;
    state->rounds = state->rounds < PELT_BENCH_ROUNDS_MAX ? state->rounds : PELT_BENCH_ROUNDS_MAX;
    pelt_result result = run_scene(state);
    pelt_release(bench->host, state);
    return result;
}
