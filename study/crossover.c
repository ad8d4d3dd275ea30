/* The cells of the map, each a scene of the bench. */
#include "study/crossover.h"

#include "base/base.h"

#include <string.h>

const char *const pelt_crossover_form_names[CROSSOVER_FORM_COUNT] = {
    "pelt's exact boxes", "boxes from joints", "the seed's exact boxes", "global atomics"
};

void pelt_crossover_axes(uint64_t total, pelt_crossover_map *map)
{
    *map = (pelt_crossover_map){ .total = total };
    for (uint32_t vertices = 16; vertices <= 262144 && vertices <= total; vertices *= 4) {
        map->vertices[map->vertex_count++] = vertices;
    }
    for (uint32_t joints = 1; joints <= 256; joints *= 4) {
        map->joints[map->joint_count++] = joints;
    }
}

pelt_result pelt_crossover_check(const pelt_host *host, const pelt_crossover_map *map)
{
    if (map->vertex_count == 0 || map->joint_count == 0) {
        return pelt_fail(
            host, PELT_ERROR_ARGUMENT, NULL, NULL,
            "no shape to measure: the smallest mesh has more than %llu vertices in all",
            (unsigned long long)map->total);
    }
    uint32_t most = map->vertices[map->vertex_count - 1];
    if (most > map->total) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "a mesh of %u vertices is larger than all meshes together, %llu", most,
                         (unsigned long long)map->total);
    }
    if (map->joints[0] > most) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "no shape to measure: every mesh has fewer vertices, %u at most, than "
                         "joints, %u at least",
                         most, map->joints[0]);
    }
    return PELT_OK;
}

#ifdef PELT_HAVE_VULKAN

/* Seconds: half of the bench's, for there are many cells. */
#define SAMPLE 0.005

/* What the bench calls the forms. */
static const struct {
    const char *with, *without;
} variants[CROSSOVER_FORM_COUNT] = {
    [CROSSOVER_PELT] = { "pelt", "pelt-no-box" },
    [CROSSOVER_JOINTS] = { "per-joint", "pelt-no-box" },
    [CROSSOVER_SEED] = { "seed", "seed-no-box" },
    [CROSSOVER_ATOMICS] = { "global-atomics", "atomics-no-box" },
};

typedef struct progress_of_cell {
    const pelt_crossover_settings *settings;
    uint32_t cell, of;
} progress_of_cell;

static void on_progress(void *user, const char *scene, const char *what)
{
    const progress_of_cell *progress = user;
    (void)scene;
    progress->settings->progress(progress->settings->user, progress->cell, progress->of, what);
}

/* What was measured of a variant, and whether it was right. */
static double take(const pelt_bench_result *result, const char *variant, double *spread,
                   bool *checked)
{
    int index = pelt_bench_find_variant(variant);
    const pelt_bench_row *row = index >= 0 ? &result->rows[index] : NULL;
    if (!row || !row->measured) {
        return 0.0;
    }
    *checked = *checked && row->checked;
    *spread = row->times.three_quarters - row->times.quarter;
    return row->times.median;
}

static pelt_result measure_cell(pelt_bench *bench, const pelt_crossover_settings *settings,
                                const progress_of_cell *progress, pelt_crossover_cell *cell)
{
    pelt_bench_scene scene = { .instances = cell->instances,
                               .vertices = cell->vertices,
                               .joints = cell->joints };
    (void)snprintf(scene.name, sizeof(scene.name), "%u x %u", cell->vertices, cell->joints);
    pelt_bench_settings of_scene = { .scale = 1.0,
                                     .rounds = settings->rounds,
                                     .warm_up = settings->warm_up,
                                     .sample = settings->sample > 0.0 ? settings->sample : SAMPLE,
                                     .progress = settings->progress ? on_progress : NULL,
                                     .user = (void *)progress };
    for (uint32_t v = 0; v < PELT_BENCH_VARIANT_COUNT; v++) {
        of_scene.skip[v] = true;
    }
    for (int f = 0; f < CROSSOVER_FORM_COUNT; f++) {
        const char *const names[] = { variants[f].with, variants[f].without };
        for (int i = 0; i < 2; i++) {
            int index = pelt_bench_find_variant(names[i]);
            if (index >= 0) {
                of_scene.skip[index] = false;
            }
        }
    }
    pelt_bench_result measured;
    pelt_result result = pelt_bench_run(bench, &scene, &of_scene, &measured);
    if (result != PELT_OK) {
        return result;
    }
    cell->measured = cell->checked = true;
    for (int f = 0; f < CROSSOVER_FORM_COUNT; f++) {
        pelt_crossover_times *times = &cell->forms[f];
        times->with = take(&measured, variants[f].with, &times->with_spread, &cell->checked);
        times->without =
            take(&measured, variants[f].without, &times->without_spread, &cell->checked);
    }
    return PELT_OK;
}

/* Whether a cell can be: every joint moves some vertex. */
static bool is_possible(const pelt_crossover_map *map, uint32_t j, uint32_t v)
{
    return map->joints[j] <= map->vertices[v];
}

pelt_result pelt_crossover_measure(pelt_bench *bench, const pelt_crossover_settings *settings,
                                   pelt_crossover_map *map)
{
    progress_of_cell progress = { .settings = settings };
    for (uint32_t j = 0; j < map->joint_count; j++) {
        for (uint32_t v = 0; v < map->vertex_count; v++) {
            progress.of += is_possible(map, j, v);
        }
    }
    for (uint32_t j = 0; j < map->joint_count; j++) {
        for (uint32_t v = 0; v < map->vertex_count; v++) {
            uint64_t instances = map->total / map->vertices[v];
            pelt_crossover_cell *cell = &map->cells[j][v];
            *cell = (pelt_crossover_cell){ .vertices = map->vertices[v],
                                           .joints = map->joints[j],
                                           .instances = instances > 0 ? (uint32_t)instances : 1 };
            if (!is_possible(map, j, v)) {
                continue;
            }
            progress.cell++;
            pelt_result result = measure_cell(bench, settings, &progress, cell);
            if (result != PELT_OK) {
                return result;
            }
        }
    }
    return PELT_OK;
}

#endif
