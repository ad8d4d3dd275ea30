/* pelt bench clusters: skinning a crowd as a whole, and only what a camera sees of it. */
#include "cli/bench.h"

#include "cli/backend_vulkan.h"
#include "cli/options.h"
#include "sample/sample.h"

#ifdef PELT_HAVE_VULKAN
#include "bench/clusters.h"
#endif
#include <pelt/cluster.h>

typedef struct clusters_options {
    const char *file, *output;
    uint32_t instances, vertices, lods, rounds, size[2];
    double error;
    bool json;
} clusters_options;

#ifdef PELT_HAVE_VULKAN

enum { INSTANCES_DEFAULT = 2000, INSTANCES_SOFTWARE = 50, VERTICES_DEFAULT = 8000 };

typedef struct clusters_report {
    char device[PELT_BENCH_DEVICE_SIZE];
    const clusters_options *options;
    pelt_model *model;
    pelt_bench_clusters_result result;
} clusters_report;

static const char *const stage_names[PELT_BENCH_STAGE_COUNT] = {
    "skin", "boxes", "cull", "parts", "draw", "listed", "all", "mesh", "shared", "bare",
};

static void print_row(const pelt_bench_clusters_result *result, int camera, int levels)
{
    const pelt_bench_clusters_row *row = &result->rows[camera][levels];
    double vertices = (double)result->vertices * result->instances;
    double triangles = (double)result->triangles * result->instances;
    double parts = 0;
    printf("  %-7s%-7s%10llu%9.1f %%%9.1f %%", pelt_bench_cameras[camera].name,
           levels ? "yes" : "no", (unsigned long long)row->instances,
           100 * (double)row->vertices / vertices, 100 * (double)row->triangles / triangles);
    for (int stage = 0; stage < PELT_BENCH_STAGE_DRAW; stage++) {
        double median = row->times[stage].median;
        parts += stage == PELT_BENCH_STAGE_SKIN ? 0 : median;
        printf("%10.1f", median * 1e6);
    }
    printf("%9.2f  %s\n", row->times[PELT_BENCH_STAGE_SKIN].median / parts,
           row->checked ? "yes" : "NO");
}

static void print_draws(const pelt_bench_clusters_result *result, int camera, int levels)
{
    const pelt_bench_clusters_row *row = &result->rows[camera][levels];
    printf("  %-7s%-7s", pelt_bench_cameras[camera].name, levels ? "yes" : "no");
    for (int stage = PELT_BENCH_STAGE_DRAW; stage < PELT_BENCH_STAGE_COUNT; stage++) {
        if (row->measured[stage]) {
            printf("%11.1f", row->times[stage].median * 1e6);
        } else {
            printf("%11s", "-");
        }
    }
    if (row->measured[PELT_BENCH_STAGE_ALL] && !levels) {
        printf("%9.3f %%", 100 * row->differs);
    }
    printf("\n");
}

static void print_text(const pelt_report *report, const void *user)
{
    const clusters_report *found = user;
    const pelt_bench_clusters_result *result = &found->result;
    const clusters_options *options = found->options;
    char instances[32], vertices[32], triangles[32];
    pelt_print_safe(stdout, found->device);
    printf("\n%s instance%s of %s vertices, %s triangle%s and %llu cluster%s, %u joint%s\n\n",
           pelt_format_count(result->instances, instances), pelt_plural(result->instances),
           pelt_format_count(result->vertices, vertices),
           pelt_format_count(result->triangles, triangles), pelt_plural(result->triangles),
           (unsigned long long)result->clusters, pelt_plural(result->clusters), result->joints,
           pelt_plural(result->joints));
    printf("  %s%-7s%-7s%10s%11s%11s%10s%10s%10s%10s%9s  checked%s\n",
           pelt_report_style(report, PELT_BOLD), "camera", "levels", "instances", "vertices",
           "triangles", "skin us", "boxes", "cull", "parts", "ratio",
           pelt_report_style(report, PELT_PLAIN));
    for (int camera = 0; camera < PELT_BENCH_CAMERA_COUNT; camera++) {
        print_row(result, camera, 0);
        print_row(result, camera, 1);
    }
    printf("\n  %s%-7s%-7s%11s%11s%11s%11s%11s%11s%11s%s\n", pelt_report_style(report, PELT_BOLD),
           "camera", "levels", "draw us", "listed", "mesh all", "mesh", "shared", "bare", "differs",
           pelt_report_style(report, PELT_PLAIN));
    for (int camera = 0; camera < PELT_BENCH_CAMERA_COUNT; camera++) {
        print_draws(result, camera, 0);
        print_draws(result, camera, 1);
    }
    printf(
        "\nskin: everyone, by the skin pass. boxes: of instances, from joints. cull: lists "
        "clusters\n"
        "in view. parts: skins those, with boxes and spheres. ratio: skin / (boxes + cull +\n"
        "parts). vertices: skinned, those on borders of clusters once for each, as a part of\n"
        "everyone's. levels: at most %g pixel%s of error at %u x %u.\n"
        "draw: everyone's skinned vertices. listed: those that parts skinned, a draw each. mesh\n"
        "all: mesh shaders that skin everyone. mesh: only what task shaders let through.\n"
        "shared: the same with matrices in shared memory. bare: mesh without its triangles, so\n"
        "culling and skinning alone. differs: pixels, between draw and mesh all.\n",
        options->error, options->error == 1 ? "" : "s", options->size[0], options->size[1]);
    for (int camera = 0; camera < PELT_BENCH_CAMERA_COUNT; camera++) {
        printf("  %-7s%s\n", pelt_bench_cameras[camera].name, pelt_bench_cameras[camera].summary);
    }
}

static void write_row(pelt_json *json, const pelt_bench_clusters_row *row, int camera, int levels)
{
    pelt_json_object(json, NULL);
    pelt_json_text(json, "camera", pelt_bench_cameras[camera].name);
    pelt_json_bool(json, "levels", levels != 0);
    pelt_json_integer(json, "instances", (int64_t)row->instances);
    pelt_json_integer(json, "clusters", (int64_t)row->clusters);
    pelt_json_integer(json, "vertices", (int64_t)row->vertices);
    pelt_json_integer(json, "triangles", (int64_t)row->triangles);
    pelt_json_object(json, "times");
    for (int stage = 0; stage < PELT_BENCH_STAGE_COUNT; stage++) {
        if (row->measured[stage]) {
            pelt_bench_write_times(json, stage_names[stage], &row->times[stage]);
        }
    }
    pelt_json_close(json);
    pelt_json_bool(json, "checked", row->checked);
    pelt_json_close(json);
}

static void write_json(const pelt_report *report, const void *user, FILE *stream)
{
    const clusters_report *found = user;
    const pelt_bench_clusters_result *result = &found->result;
    const clusters_options *options = found->options;
    pelt_json json;
    pelt_json_begin(&json, stream);
    pelt_json_text(&json, "pelt", pelt_version());
    pelt_json_text(&json, "device", found->device);
    pelt_json_text(&json, "file", options->file);
    pelt_json_integer(&json, "width", options->size[0]);
    pelt_json_integer(&json, "height", options->size[1]);
    pelt_json_number(&json, "mostError", options->error);
    pelt_json_integer(&json, "instances", result->instances);
    pelt_json_integer(&json, "parts", result->parts);
    pelt_json_integer(&json, "joints", result->joints);
    pelt_json_integer(&json, "vertices", (int64_t)result->vertices);
    pelt_json_integer(&json, "triangles", (int64_t)result->triangles);
    pelt_json_integer(&json, "clusters", (int64_t)result->clusters);
    pelt_json_integer(&json, "rounds", options->rounds);
    pelt_json_list(&json, "rows");
    for (int camera = 0; camera < PELT_BENCH_CAMERA_COUNT; camera++) {
        write_row(&json, &result->rows[camera][0], camera, 0);
        write_row(&json, &result->rows[camera][1], camera, 1);
    }
    pelt_json_close(&json);
    pelt_report_warnings(report, &json);
    pelt_json_end(&json);
}

static pelt_result measure(pelt_report *report, pelt_headless *device, pelt_bench *bench,
                           void *user)
{
    clusters_report *found = user;
    const clusters_options *options = found->options;
    uint32_t usual = device->is_software ? INSTANCES_SOFTWARE : INSTANCES_DEFAULT;
    const pelt_bench_clusters_settings settings = {
        .model = found->model,
        .instances = options->instances ? options->instances : usual,
        .width = options->size[0],
        .height = options->size[1],
        .lods = options->lods,
        .most_error = options->error,
        .rounds = options->rounds,
        .progress = pelt_bench_on_progress,
        .user = report,
    };
    return pelt_bench_clusters_run(bench, &settings, &found->result);
}

static bool all_checked(const void *user)
{
    const clusters_report *found = user;
    const pelt_bench_clusters_result *result = &found->result;
    bool all = true;
    for (int camera = 0; camera < PELT_BENCH_CAMERA_COUNT; camera++) {
        all = all && result->rows[camera][0].checked && result->rows[camera][1].checked;
    }
    return all;
}

static pelt_result bench_clusters(pelt_report *report, const clusters_options *options)
{
    clusters_report found = { .options = options };
    const pelt_bench_job job = { .output = options->output,
                                 .json = options->json,
                                 .user = &found,
                                 .device = found.device,
                                 .measure = measure,
                                 .write_json = write_json,
                                 .print_text = print_text,
                                 .all_checked = all_checked };
    pelt_result result = pelt_bench_open_character(
        report, options->file, options->vertices ? options->vertices : VERTICES_DEFAULT,
        &found.model);
    if (result == PELT_OK) {
        result = pelt_bench_run_job(report, &job);
    }
    pelt_model_destroy(found.model);
    return result;
}

#else

static pelt_result bench_clusters(pelt_report *report, const clusters_options *options)
{
    return pelt_bench_without_vulkan(report, options->file);
}

#endif

static int run(pelt_report *report, int argc, char **argv)
{
    clusters_options options = {
        .rounds = 9, .size = { 1920, 1080 }, .lods = PELT_LOD_MAX, .error = 1
    };
    const char *operand;
    const pelt_option table[] = {
        { .name = "instances",
          .letter = 'n',
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "how many (default: 2000; on software 50)",
          .target = &options.instances,
          .minimum = 1,
          .maximum = 1000000 },
        { .name = "vertices",
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "of the built-in character (default: 8000)",
          .target = &options.vertices,
          .minimum = PELT_SAMPLE_VERTICES_MIN,
          .maximum = PELT_SAMPLE_VERTICES_MAX },
        { .name = "file",
          .letter = 'f',
          .kind = PELT_OPTION_TEXT,
          .value = "FILE",
          .help = "a glTF file's character with its clips instead",
          .target = &options.file },
        { .name = "lods",
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "levels of detail at most (default: 8)",
          .target = &options.lods,
          .minimum = 1,
          .maximum = PELT_LOD_MAX },
        { .name = "error",
          .kind = PELT_OPTION_NUMBER,
          .value = "PIXELS",
          .help = "of levels at most (default: 1)",
          .target = &options.error },
        { .name = "size",
          .letter = 's',
          .kind = PELT_OPTION_SIZE,
          .value = "WxH",
          .help = "of the picture that these are pixels of (default:\n1920x1080)",
          .target = options.size,
          .minimum = 16,
          .maximum = 4096 },
        pelt_option_rounds(&options.rounds, "how often everything is measured (default: 9)"),
        pelt_option_results(&options.output),
        pelt_option_json(&options.json, "print JSON instead of a table"),
        { 0 },
    };
    pelt_parsed parsed =
        pelt_options_parse(report, &pelt_command_bench_clusters, table, argc, argv, &operand);
    if (parsed != PELT_PARSED_RUN) {
        return parsed == PELT_PARSED_HELP ? PELT_EXIT_OK : PELT_EXIT_USAGE;
    }
    if (options.file && options.vertices) {
        pelt_report_error(report, NULL, "--file and --vertices exclude each other");
        return PELT_EXIT_USAGE;
    }
    if (options.error < 0 || options.error > 1e6) {
        pelt_report_error(report, NULL, "--error %g: must be at least 0 and at most 1e6",
                          options.error);
        return PELT_EXIT_USAGE;
    }
    report->json = options.json;
    report->memory_hint = "--instances";
    return pelt_report_exit(report, bench_clusters(report, &options));
}

const pelt_command pelt_command_bench_clusters = {
    .name = "bench clusters",
    .operand = NULL,
    .summary = "Measure skinning a crowd's visible clusters against skinning all of it",
    .details =
        "\n"
        "A crowd is seen from three places: all of it, a tenth of it, and all from far away; each\n"
        "with the finest level of detail alone and with as many as there are. What is listed is\n"
        "counted, and a sample of what is skinned compared with the skin pass's vertices, bit for\n"
        "bit, and pictures of the finest level with each other; exit code 1 if one differs. Drawn\n"
        "are its vertices, all of them and those of the list, and by mesh shaders where the\n"
        "device has them. Software drivers cannot time draws well.\n",
    .example = "pelt bench clusters --file fox.glb -o clusters.json",
    .run = run,
};
