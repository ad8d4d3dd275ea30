/* pelt study crossover: which boxes are cheaper where, and how loose the conservative ones are. */
#include "cli/study_crossover.h"

#include "cli/backend_vulkan.h"
#include "cli/study.h"

#include <stdlib.h>

typedef struct crossover_options {
    pelt_option_list files, vertices, joints;
    uint32_t total, rounds, poses;
    int only; /* index into parts */
    const char *svg;
    bool json;
} crossover_options;

enum { ONLY_BOTH, ONLY_MAP, ONLY_LOOSENESS };
static const char *const parts[] = { "both", "map", "looseness", NULL };

/* -- the map ------------------------------------------------------------------------------- */

/* What the numbers given say about an axis; without any it stays as it is. Rising, each once. */
static void set_axis(const pelt_option_list *given, uint32_t *count, uint32_t *axis)
{
    if (given->count == 0) {
        return;
    }
    *count = 0;
    for (uint32_t i = 0; i < given->count; i++) {
        uint32_t value = (uint32_t)strtoul(given->items[i], NULL, 10);
        uint32_t to = 0;
        while (to < *count && axis[to] < value) {
            to++;
        }
        if (to < *count && axis[to] == value) {
            continue;
        }
        for (uint32_t k = (*count)++; k > to; k--) {
            axis[k] = axis[k - 1];
        }
        axis[to] = value;
    }
}

/* The shapes to measure, and whether that can be done. total: as given, or the default. */
static pelt_result plan(const pelt_report *report, const crossover_options *options, uint64_t total,
                        pelt_crossover_map *map)
{
    pelt_crossover_axes(total, map);
    set_axis(&options->vertices, &map->vertex_count, map->vertices);
    set_axis(&options->joints, &map->joint_count, map->joints);
    return pelt_crossover_check(&report->host, map);
}

#ifdef PELT_HAVE_VULKAN

static void on_progress(void *user, uint32_t cell, uint32_t of, const char *what)
{
    pelt_report_progress(user, "shape %u of %u: %s", cell, of, what);
}

static pelt_result measure_map(pelt_report *report, const crossover_options *options,
                               pelt_crossover_report *crossover)
{
    const pelt_host *host = &report->host;
    pelt_headless *device = NULL;
    pelt_bench *bench = NULL;
    pelt_result result = pelt_open_device(host, &device);
    if (result == PELT_OK) {
        result = pelt_bench_create(host, device, &bench);
    }
    if (result == PELT_OK) {
        const pelt_crossover_settings settings = { .rounds = options->rounds,
                                                   .progress = on_progress,
                                                   .user = report };
        pelt_crossover_map *map = &crossover->map;
        pelt_describe_device(device, crossover->device, sizeof(crossover->device));
        crossover->is_software = device->is_software;
        uint64_t usual = device->is_software ? PELT_BENCH_SOFTWARE_TOTAL : PELT_BENCH_TOTAL;
        result = plan(report, options, options->total ? options->total : usual, map);
        if (result == PELT_OK) {
            result = pelt_crossover_measure(bench, &settings, map);
        }
        crossover->measured = true;
    }
    pelt_report_progress(report, NULL);
    pelt_bench_destroy(bench);
    pelt_vulkan_close(device);
    return result;
}

#else

static pelt_result measure_map(pelt_report *report, const crossover_options *options,
                               pelt_crossover_report *crossover)
{
    (void)options;
    (void)crossover;
    return pelt_fail(&report->host, PELT_ERROR_DEVICE, NULL, NULL,
                     "this pelt was built without Vulkan; --only looseness needs none");
}

#endif

/* -- looseness ----------------------------------------------------------------------------- */

static pelt_result measure_looseness(pelt_report *report, const crossover_options *options,
                                     pelt_crossover_report *crossover)
{
    const pelt_host *host = &report->host;
    uint32_t characters = options->files.count > 0 ? options->files.count : 1;
    crossover->looseness = pelt_allocate(host, characters, sizeof(*crossover->looseness));
    if (!crossover->looseness) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for results");
    }
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < characters; i++) {
        const char *path = options->files.count > 0 ? options->files.items[i] : NULL;
        report->input = path;
        pelt_report_progress(report, "%u of %u: %s", i + 1, characters,
                             path ? path : "the built-in character");
        result = pelt_looseness_measure(host, path, options->poses, &crossover->looseness[i]);
        crossover->count += result == PELT_OK;
    }
    report->input = NULL;
    pelt_report_progress(report, NULL);
    return result;
}

/* -- the command --------------------------------------------------------------------------- */

static pelt_result study(pelt_report *report, const crossover_options *options)
{
    const pelt_host *host = &report->host;
    pelt_result result = PELT_OK;
    pelt_crossover_report *crossover = pelt_allocate(host, 1, sizeof(*crossover));
    if (!crossover) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for results");
    }
    crossover->rounds = options->rounds;
    crossover->poses_a_clip = options->poses;
    /* Files first: what is wrong with them shows before minutes of measuring. */
    if (options->only != ONLY_MAP) {
        result = measure_looseness(report, options, crossover);
    }
    if (result == PELT_OK && options->only != ONLY_LOOSENESS) {
        result = measure_map(report, options, crossover);
    }
    if (result == PELT_OK && options->svg) {
        result = pelt_crossover_plot(
            host, options->svg,
            crossover->measured ? crossover->device
                                : "in poses of the characters\xe2\x80\x99 clips",
            crossover->measured ? &crossover->map : NULL, crossover->looseness, crossover->count);
    }
    if (result == PELT_OK && options->json) {
        pelt_crossover_report_write(report, crossover);
    } else if (result == PELT_OK) {
        pelt_crossover_report_print(report, crossover);
    }
    pelt_release(host, crossover->looseness);
    pelt_release(host, crossover);
    return result;
}

static bool check_axis(pelt_report *report, const char *name, const pelt_option_list *given,
                       unsigned long most)
{
    if (given->count > PELT_CROSSOVER_AXIS_MAX) {
        pelt_report_error(report, NULL, "--%s: given more than %d times", name,
                          PELT_CROSSOVER_AXIS_MAX);
        return false;
    }
    for (uint32_t i = 0; i < given->count; i++) {
        const char *text = given->items[i];
        char *end;
        unsigned long value = strtoul(text, &end, 10);
        if (text[0] < '0' || text[0] > '9' || *end || value < 1 || value > most) {
            pelt_report_error(report, NULL, "--%s '%s': must be a whole number from 1 to %lu", name,
                              text, most);
            return false;
        }
    }
    return true;
}

static bool check_options(pelt_report *report, const crossover_options *options)
{
    if (options->only == ONLY_MAP && options->files.count > 0) {
        pelt_report_error(report, NULL, "--only map takes no file: '%s'", options->files.items[0]);
        return false;
    }
    if (!check_axis(report, "vertices", &options->vertices, 10000000) ||
        !check_axis(report, "joints", &options->joints, 65535)) {
        return false;
    }
    /* Without --total the device says how many: what is wrong with any total shows already here. */
    pelt_crossover_map map;
    return options->only == ONLY_LOOSENESS ||
           plan(report, options, options->total ? options->total : UINT64_MAX, &map) == PELT_OK;
}

static int run(pelt_report *report, int argc, char **argv)
{
    crossover_options options = { .rounds = 5, .poses = 16 };
    const pelt_option table[] = {
        { .name = "vertices",
          .kind = PELT_OPTION_LIST,
          .value = "N",
          .help = "of a mesh; may be given several times\n(default: powers of 4 from 16 to 262144)",
          .target = &options.vertices },
        { .name = "joints",
          .kind = PELT_OPTION_LIST,
          .value = "N",
          .help = "of a mesh; may be given several times\n(default: powers of 4 from 1 to 256)",
          .target = &options.joints },
        { .name = "total",
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "vertices of all meshes together\n(default: 10000000, on software 40000)",
          .target = &options.total,
          .minimum = 1,
          .maximum = 50000000 },
        pelt_option_rounds(&options.rounds, "how often everything is measured (default: 5)"),
        { .name = "poses",
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "of each clip, at even times (default: 16)",
          .target = &options.poses,
          .minimum = 1,
          .maximum = 10000 },
        { .name = "only",
          .kind = PELT_OPTION_CHOICE,
          .value = "WHAT",
          .help = "map, or looseness, which needs no device\n(default: both)",
          .target = &options.only,
          .choices = parts },
        { .name = "svg",
          .kind = PELT_OPTION_OUTPUT,
          .value = "OUT.svg",
          .help = "write a plot, too",
          .target = &options.svg },
        pelt_option_json(&options.json, "print JSON instead of tables"),
        { 0 },
    };
    pelt_parsed parsed =
        pelt_options_parse_files(report, &pelt_study_crossover, table, argc, argv, &options.files);
    if (parsed != PELT_PARSED_RUN) {
        return parsed == PELT_PARSED_HELP ? PELT_EXIT_OK : PELT_EXIT_USAGE;
    }
    if (!check_options(report, &options)) {
        return PELT_EXIT_USAGE;
    }
    report->json = options.json;
    report->memory_hint = "--total";
    return pelt_report_exit(report, study(report, &options));
}

const pelt_command pelt_study_crossover = {
    .name = "study crossover",
    .operand = "[FILE...]",
    .summary = "Map where exact boxes are cheaper and where boxes from joints are",
    .details =
        "\n"
        "The map measures the forms of pelt bench on as many vertices in meshes of every size and\n"
        "with any number of joints, each with boxes and without: what boxes cost is the\n"
        "difference. Beside it stands what boxes from joints cost those who use them: how much\n"
        "larger they are than exact ones on the files' characters in poses of all their clips\n"
        "(without a file: on the built-in character).\n",
    .example = "pelt study crossover fox.glb --svg crossover.svg",
    .run = run,
};
