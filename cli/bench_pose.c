/* pelt bench pose: measures the pose pass against the CPU's poses and against writing alone. */
#include "cli/bench.h"

#include "cli/backend_vulkan.h"
#include "cli/options.h"
#include "sample/sample.h"

#ifdef PELT_HAVE_VULKAN
#include "bench/pose.h"
#endif
#include <pelt/gltf.h>

typedef struct pose_options {
    const char *file, *output;
    uint32_t instances, joints, rounds;
    bool json;
} pose_options;

#ifdef PELT_HAVE_VULKAN

enum { INSTANCES_DEFAULT = 10000, INSTANCES_SOFTWARE = 200, JOINTS_DEFAULT = 64, DIGITS = 6 };

typedef struct pose_report {
    const pose_options *options;
    pelt_model *model;
    char device[PELT_BENCH_DEVICE_SIZE];
    pelt_bench_pose_result result;
} pose_report;

/* A file's model with its own clips, or a made one in which everything moves. */
static pelt_result make_model(pelt_report *report, const pose_options *options, pelt_model **out)
{
    const pelt_host *host = &report->host;
    if (options->file) {
        return pelt_gltf_read(host, options->file, out);
    }
    const pelt_sample_info info = { .vertices = PELT_SAMPLE_VERTICES_MIN,
                                    .joints = options->joints ? options->joints : JOINTS_DEFAULT };
    pelt_result result = pelt_sample_create(host, &info, out);
    if (result != PELT_OK) {
        return result;
    }
    result = pelt_bench_pose_animate(*out);
    if (result != PELT_OK) {
        pelt_model_destroy(*out);
        *out = NULL;
    }
    return result;
}

static void print_text(const pelt_report *report, const void *user)
{
    const pose_report *found = user;
    const pelt_bench_pose_result *result = &found->result;
    const pelt_bench_pose_row *floor = &result->rows[PELT_BENCH_POSE_FLOOR];
    const char *bold = pelt_report_style(report, PELT_BOLD);
    const char *plain = pelt_report_style(report, PELT_PLAIN);
    char instances[32], matrices[32];
    uint64_t all = (uint64_t)result->instances * result->matrices;
    pelt_print_safe(stdout, found->device);
    printf(
        "\n%s instance%s of %u node%s, %u skin %s, %u clip%s: %s %s, %.1f MB; the rig %.1f kB\n\n",
        pelt_format_count(result->instances, instances), pelt_plural(result->instances),
        result->nodes, pelt_plural(result->nodes), result->matrices,
        result->matrices == 1 ? "matrix" : "matrices", result->clips, pelt_plural(result->clips),
        pelt_format_count(all, matrices), all == 1 ? "matrix" : "matrices",
        (double)result->matrix_bytes / 1e6, (double)result->rig_bytes / 1e3);
    printf("  %s%-15s%11s %15s%9s%10s  checked%s\n", bold, "", "us", "least   most", "of floor",
           "error", plain);
    for (uint32_t f = 0; f < PELT_BENCH_POSE_FORM_COUNT; f++) {
        const pelt_bench_pose_row *row = &result->rows[f];
        double median = row->times.median;
        printf("  %-15s%11.1f %+6.1f %+6.1f %%%9.2f", pelt_bench_pose_forms[f].name, median * 1e6,
               100.0 * (row->times.least / median - 1.0), 100.0 * (row->times.most / median - 1.0),
               median / floor->times.median);
        if (f == PELT_BENCH_POSE_FLOOR) {
            printf("%10s  -\n", "-");
        } else {
            printf("%10.1e  %s\n", row->error, row->checked ? "yes" : "NO");
        }
    }
    double one = result->rows[PELT_BENCH_POSE_ONE].times.median;
    printf("  %-15s%11.1f %15s%9.0f\n", "cpu", result->cpu_seconds * 1e6, "",
           result->cpu_seconds / floor->times.median);
    printf("\nThe pose pass is %.3g times as fast as one core of the CPU in double precision.\n",
           result->cpu_seconds / one);
    printf("error: how far a matrix moves a point from where the CPU's does, as a part of the\n"
           "character's size; allowed %.2g. floor: %u rows an invocation.\n",
           result->allowed, result->floor_rows);
    for (uint32_t f = 0; f < PELT_BENCH_POSE_FORM_COUNT; f++) {
        printf("  %-15s%s\n", pelt_bench_pose_forms[f].name, pelt_bench_pose_forms[f].summary);
    }
    printf("  %-15s%s\n", "cpu",
           "as pose: pelt_pose_evaluate and pelt_pose_skin_matrices, one core");
}

static void write_row(pelt_json *json, const pelt_bench_pose_result *result, uint32_t form)
{
    const pelt_bench_pose_row *row = &result->rows[form];
    pelt_json_object_line(json, NULL);
    pelt_json_text(json, "name", pelt_bench_pose_forms[form].name);
    pelt_bench_write_statistics(json, &row->times);
    pelt_json_rounded(json, "ofFloor",
                      row->times.median / result->rows[PELT_BENCH_POSE_FLOOR].times.median, 4);
    pelt_json_integer(json, "repeats", row->repeats);
    if (form != PELT_BENCH_POSE_FLOOR) {
        pelt_json_bool(json, "checked", row->checked);
        pelt_json_rounded(json, "error", row->error, 3);
    }
    pelt_json_close(json);
}

static void write_json(const pelt_report *report, const void *user, FILE *stream)
{
    const pose_report *found = user;
    const pelt_bench_pose_result *result = &found->result;
    pelt_json json;
    pelt_json_begin(&json, stream);
    pelt_json_text(&json, "pelt", pelt_version());
    pelt_json_text(&json, "device", found->device);
    pelt_json_text(&json, "file", found->options->file);
    pelt_json_integer(&json, "instances", result->instances);
    pelt_json_integer(&json, "nodes", result->nodes);
    pelt_json_integer(&json, "matrices", result->matrices);
    pelt_json_integer(&json, "clips", result->clips);
    pelt_json_integer(&json, "rigBytes", (int64_t)result->rig_bytes);
    pelt_json_integer(&json, "instanceBytes", (int64_t)result->instance_bytes);
    pelt_json_integer(&json, "matrixBytes", (int64_t)result->matrix_bytes);
    pelt_json_integer(&json, "rounds", found->options->rounds);
    pelt_json_rounded(&json, "warmUpSeconds", result->warm_up, 3);
    pelt_json_integer(&json, "floorRows", result->floor_rows);
    pelt_json_rounded(&json, "cpuSeconds", result->cpu_seconds, DIGITS);
    pelt_json_list(&json, "forms");
    for (uint32_t f = 0; f < PELT_BENCH_POSE_FORM_COUNT; f++) {
        write_row(&json, result, f);
    }
    pelt_json_close(&json);
    pelt_report_warnings(report, &json);
    pelt_json_end(&json);
}

static pelt_result measure(pelt_report *report, pelt_headless *device, pelt_bench *bench,
                           void *user)
{
    pose_report *found = user;
    const pose_options *options = found->options;
    uint32_t usual = device->is_software ? INSTANCES_SOFTWARE : INSTANCES_DEFAULT;
    const pelt_bench_pose_settings settings = {
        .model = found->model,
        .instances = options->instances ? options->instances : usual,
        .rounds = options->rounds,
        .progress = pelt_bench_on_progress,
        .user = report,
    };
    return pelt_bench_pose_run(bench, &settings, &found->result);
}

static bool all_checked(const void *user)
{
    const pose_report *found = user;
    bool all = true;
    for (uint32_t f = 0; f < PELT_BENCH_POSE_FORM_COUNT; f++) {
        all = all && found->result.rows[f].checked;
    }
    return all;
}

static pelt_result bench_pose(pelt_report *report, const pose_options *options)
{
    pose_report found = { .options = options };
    const pelt_bench_job job = { .output = options->output,
                                 .json = options->json,
                                 .user = &found,
                                 .device = found.device,
                                 .measure = measure,
                                 .write_json = write_json,
                                 .print_text = print_text,
                                 .all_checked = all_checked };
    pelt_result result = make_model(report, options, &found.model);
    if (result == PELT_OK) {
        result = pelt_bench_run_job(report, &job);
    }
    pelt_model_destroy(found.model);
    return result;
}

#else

static pelt_result bench_pose(pelt_report *report, const pose_options *options)
{
    return pelt_bench_without_vulkan(report, options->file);
}

#endif

static int run(pelt_report *report, int argc, char **argv)
{
    pose_options options = { .rounds = 9 };
    const char *operand;
    const pelt_option table[] = {
        { .name = "instances",
          .letter = 'n',
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "how many (default: 10,000; on software 200)",
          .target = &options.instances,
          .minimum = 1,
          .maximum = 20000000 },
        { .name = "joints",
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "of the made character (default: 64)",
          .target = &options.joints,
          .minimum = 8,
          .maximum = PELT_SAMPLE_JOINTS_MAX },
        { .name = "file",
          .letter = 'f',
          .kind = PELT_OPTION_TEXT,
          .value = "FILE",
          .help = "a glTF file's character with its clips instead",
          .target = &options.file },
        pelt_option_rounds(&options.rounds, "how often everything is measured (default: 9)"),
        pelt_option_results(&options.output),
        pelt_option_json(&options.json, "print JSON instead of a table"),
        { 0 },
    };
    pelt_parsed parsed =
        pelt_options_parse(report, &pelt_command_bench_pose, table, argc, argv, &operand);
    if (parsed != PELT_PARSED_RUN) {
        return parsed == PELT_PARSED_HELP ? PELT_EXIT_OK : PELT_EXIT_USAGE;
    }
    if (options.file && options.joints) {
        pelt_report_error(report, NULL, "--file and --joints exclude each other");
        return PELT_EXIT_USAGE;
    }
    report->json = options.json;
    report->memory_hint = "--instances";
    return pelt_report_exit(report, bench_pose(report, &options));
}

const pelt_command pelt_command_bench_pose = {
    .name = "bench pose",
    .operand = NULL,
    .summary = "Measure the GPU's pose pass against the CPU and against writing matrices",
    .details =
        "\n"
        "The made character has eight clips in which every joint has a translation, a rotation\n"
        "and a scale at each of 31 keys. Every matrix of every instance is compared with the\n"
        "CPU's; exit code 1 if one is off by more than 1e-5 of the character's size, or, where\n"
        "more than 42 joints hang from each other, by more than 4 x 2^-24 a joint.\n",
    .example = "pelt bench pose --instances 10000 -o pose.json",
    .run = run,
};
