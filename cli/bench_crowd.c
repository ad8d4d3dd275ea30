/* pelt bench crowd: a crowd drawn from skinned vertices, and from palettes. */
#include "cli/bench.h"

#include "cli/backend_vulkan.h"
#include "cli/options.h"
#include "sample/sample.h"

#ifdef PELT_HAVE_VULKAN
#include "bench/crowd.h"
#endif

typedef struct crowd_options {
    const char *file, *output;
    uint32_t instances, vertices, rounds, size[2];
    bool json;
} crowd_options;

#ifdef PELT_HAVE_VULKAN

enum { INSTANCES_DEFAULT = 10000, INSTANCES_SOFTWARE = 100, VERTICES_DEFAULT = 2000 };

typedef struct crowd_report {
    const crowd_options *options;
    pelt_model *model;
    char device[PELT_BENCH_DEVICE_SIZE];
    pelt_bench_crowd_result result;
} crowd_report;

static double total(const pelt_bench_crowd_result *result, const int *forms)
{
    double sum = 0;
    for (; *forms >= 0; forms++) {
        sum += result->rows[*forms].times.median;
    }
    return sum;
}

static const int skinned_forms[] = { PELT_BENCH_CROWD_POSE, PELT_BENCH_CROWD_SKIN,
                                     PELT_BENCH_CROWD_SKINNED, -1 };
static const int palette_forms[] = { PELT_BENCH_CROWD_FIND, PELT_BENCH_CROWD_LERP, -1 };

static void print_row(const pelt_bench_crowd_result *result, int form)
{
    const pelt_bench_crowd_row *row = &result->rows[form];
    double median = row->times.median;
    char bytes[32];
    printf("  %-10s%11.1f %+6.1f %+6.1f %%", pelt_bench_crowd_forms[form].name, median * 1e6,
           100.0 * (row->times.least / median - 1.0), 100.0 * (row->times.most / median - 1.0));
    if (row->vertices.median > 0) {
        printf("%13.1f", row->vertices.median * 1e6);
    } else {
        printf("%13s", "-");
    }
    if (form >= PELT_BENCH_CROWD_DRAW) {
        printf("%8.0f", row->vertex_bytes);
    } else {
        printf("%8s", "-");
    }
    printf("%12s", row->memory ? pelt_format_bytes(row->memory, bytes) : "-");
    if (form > PELT_BENCH_CROWD_DRAW) {
        printf("%9.3f %%  %s", 100 * row->differs, row->checked ? "yes" : "NO");
    }
    printf("\n");
}

static void print_text(const pelt_report *report, const void *user)
{
    const crowd_report *found = user;
    const pelt_bench_crowd_result *result = &found->result;
    const char *bold = pelt_report_style(report, PELT_BOLD);
    const char *plain = pelt_report_style(report, PELT_PLAIN);
    char instances[32], vertices[32], triangles[32];
    pelt_print_safe(stdout, found->device);
    printf(
        "\n%s instance%s of %s vertices and %s triangle%s, %u joint%s, %.2f influences a vertex, ",
        pelt_format_count(result->instances, instances), pelt_plural(result->instances),
        pelt_format_count(result->vertices, vertices),
        pelt_format_count(result->triangles, triangles), pelt_plural(result->triangles),
        result->joints, pelt_plural(result->joints), result->influences);
    printf("%u draw call%s; %u clip%s, %u frame%s\n\n", result->parts, pelt_plural(result->parts),
           result->clips, pelt_plural(result->clips), result->frames, pelt_plural(result->frames));
    printf("  %s%-10s%11s %15s%13s%8s%12s%11s  checked%s\n", bold, "", "us", "least   most",
           "no pixels", "bytes", "memory", "differs", plain);
    for (int f = 0; f < PELT_BENCH_CROWD_FORM_COUNT; f++) {
        print_row(result, f);
    }
    printf("\npose + skin + skinned: %.1f us. find + lerp: %.1f us.\n",
           1e6 * total(result, skinned_forms), 1e6 * total(result, palette_forms));
    printf(
        "%u x %u pixels. no pixels: the same with every triangle culled (software drivers cannot\n"
        "time that). bytes: requested by the vertex shader for a vertex. differs: from the "
        "picture\n"
        "of vertices skinned the same way, at baked frames, by more than 1/16; allowed %g %%.\n",
        found->options->size[0], found->options->size[1], 100 * PELT_BENCH_CROWD_DIFFERS);
    for (int f = 0; f < PELT_BENCH_CROWD_FORM_COUNT; f++) {
        printf("  %-10s%s\n", pelt_bench_crowd_forms[f].name, pelt_bench_crowd_forms[f].summary);
    }
}

static void write_row(pelt_json *json, const pelt_bench_crowd_result *result, int form)
{
    const pelt_bench_crowd_row *row = &result->rows[form];
    pelt_json_object(json, NULL);
    pelt_json_text(json, "name", pelt_bench_crowd_forms[form].name);
    pelt_bench_write_times(json, "time", &row->times);
    pelt_json_integer(json, "memory", (int64_t)row->memory);
    if (form >= PELT_BENCH_CROWD_DRAW) {
        if (row->vertices.median > 0) {
            pelt_bench_write_times(json, "withoutPixels", &row->vertices);
        }
        pelt_json_rounded(json, "bytesAVertex", row->vertex_bytes, 5);
        pelt_json_rounded(json, "differs", row->differs, 4);
    }
    pelt_json_bool(json, "checked", row->checked);
    pelt_json_close(json);
}

static void write_json(const pelt_report *report, const void *user, FILE *stream)
{
    const crowd_report *found = user;
    const pelt_bench_crowd_result *result = &found->result;
    pelt_json json;
    pelt_json_begin(&json, stream);
    pelt_json_text(&json, "pelt", pelt_version());
    pelt_json_text(&json, "device", found->device);
    pelt_json_text(&json, "file", found->options->file);
    pelt_json_integer(&json, "width", found->options->size[0]);
    pelt_json_integer(&json, "height", found->options->size[1]);
    pelt_json_integer(&json, "instances", result->instances);
    pelt_json_integer(&json, "vertices", (int64_t)result->vertices);
    pelt_json_integer(&json, "triangles", (int64_t)result->triangles);
    pelt_json_integer(&json, "joints", result->joints);
    pelt_json_rounded(&json, "influences", result->influences, 4);
    pelt_json_integer(&json, "drawCalls", result->parts);
    pelt_json_integer(&json, "clips", result->clips);
    pelt_json_integer(&json, "frames", result->frames);
    pelt_json_number(&json, "rate", result->rate);
    pelt_json_integer(&json, "rounds", found->options->rounds);
    pelt_json_rounded(&json, "warmUpSeconds", result->warm_up, 3);
    pelt_json_list(&json, "forms");
    for (int f = 0; f < PELT_BENCH_CROWD_FORM_COUNT; f++) {
        write_row(&json, result, f);
    }
    pelt_json_close(&json);
    pelt_report_warnings(report, &json);
    pelt_json_end(&json);
}

static pelt_result measure(pelt_report *report, pelt_headless *device, pelt_bench *bench,
                           void *user)
{
    crowd_report *found = user;
    const crowd_options *options = found->options;
    uint32_t usual = device->is_software ? INSTANCES_SOFTWARE : INSTANCES_DEFAULT;
    const pelt_bench_crowd_settings settings = {
        .model = found->model,
        .instances = options->instances ? options->instances : usual,
        .width = options->size[0],
        .height = options->size[1],
        .rounds = options->rounds,
        .progress = pelt_bench_on_progress,
        .user = report,
    };
    return pelt_bench_crowd_run(bench, &settings, &found->result);
}

static bool all_checked(const void *user)
{
    const crowd_report *found = user;
    bool all = true;
    for (int f = 0; f < PELT_BENCH_CROWD_FORM_COUNT; f++) {
        all = all && found->result.rows[f].checked;
    }
    return all;
}

static pelt_result bench_crowd(pelt_report *report, const crowd_options *options)
{
    crowd_report found = { .options = options };
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

static pelt_result bench_crowd(pelt_report *report, const crowd_options *options)
{
    return pelt_bench_without_vulkan(report, options->file);
}

#endif

static int run(pelt_report *report, int argc, char **argv)
{
    crowd_options options = { .rounds = 9, .size = { 1920, 1080 } };
    const char *operand;
    const pelt_option table[] = {
        { .name = "instances",
          .letter = 'n',
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "how many (default: 10,000; on software 100)",
          .target = &options.instances,
          .minimum = 1,
          .maximum = 1000000 },
        { .name = "vertices",
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "of the built-in character (default: 2000)",
          .target = &options.vertices,
          .minimum = PELT_SAMPLE_VERTICES_MIN,
          .maximum = PELT_SAMPLE_VERTICES_MAX },
        { .name = "file",
          .letter = 'f',
          .kind = PELT_OPTION_TEXT,
          .value = "FILE",
          .help = "a glTF file's character with its clips instead",
          .target = &options.file },
        { .name = "size",
          .letter = 's',
          .kind = PELT_OPTION_SIZE,
          .value = "WxH",
          .help = "pixels (default: 1920x1080)",
          .target = options.size,
          .minimum = 16,
          .maximum = 4096 },
        pelt_option_rounds(&options.rounds, "how often everything is measured (default: 9)"),
        pelt_option_results(&options.output),
        pelt_option_json(&options.json, "print JSON instead of a table"),
        { 0 },
    };
    pelt_parsed parsed =
        pelt_options_parse(report, &pelt_command_bench_crowd, table, argc, argv, &operand);
    if (parsed != PELT_PARSED_RUN) {
        return parsed == PELT_PARSED_HELP ? PELT_EXIT_OK : PELT_EXIT_USAGE;
    }
    if (options.file && options.vertices) {
        pelt_report_error(report, NULL, "--file and --vertices exclude each other");
        return PELT_EXIT_USAGE;
    }
    report->json = options.json;
    report->memory_hint = "--instances";
    return pelt_report_exit(report, bench_crowd(report, &options));
}

const pelt_command pelt_command_bench_crowd = {
    .name = "bench crowd",
    .operand = NULL,
    .summary = "Measure a crowd drawn from skinned vertices against palette textures",
    .details =
        "\n"
        "Everyone plays one of the clips, at a time of its own, and is in view. Posing, skinning\n"
        "and drawing are measured apart, and so are finding rows in a palette and drawing from\n"
        "it: 3x4 and 4x4 matrices, 16-bit floats, dual quaternions. All pictures are compared at\n"
        "baked frames; exit code 1 if one differs from that of skinned vertices.\n",
    .example = "pelt bench crowd --file fox.glb -o crowd.json",
    .run = run,
};
