/* pelt bench rays: acceleration structures over skinned vertices: refits, builds and rays. */
#include "cli/bench.h"

#include "cli/backend_vulkan.h"
#include "cli/options.h"
#include "sample/sample.h"

#ifdef PELT_HAVE_VULKAN
#include "bench/rays.h"
#endif

typedef struct rays_options {
    const char *output;
    uint32_t instances, vertices, small, small_vertices, group, refits, rounds, size[2];
    bool json;
} rays_options;

#ifdef PELT_HAVE_VULKAN

enum { SCENES = 3 };

typedef struct rays_report {
    const rays_options *options;
    char device[PELT_BENCH_DEVICE_SIZE];
    uint32_t rounds, refits, size[2];
    uint32_t count; /* of results */
    pelt_bench_rays_result results[SCENES];
} rays_report;

static const char *const use_names[PELT_BENCH_RAYS_USES] = { "fast trace", "fast build" };

static uint32_t given(uint32_t option, bool software, uint32_t usual, uint32_t on_software)
{
    return option ? option : software ? on_software : usual;
}

/* What was not asked for suits the device. */
static void choose(const rays_options *options, bool software, rays_report *found,
                   pelt_bench_rays_scene scenes[SCENES])
{
    uint32_t small = given(options->small, software, 10000, 32);
    uint32_t small_vertices = given(options->small_vertices, software, 300, 300);
    scenes[0] = (pelt_bench_rays_scene){ "characters", given(options->instances, software, 1000, 4),
                                         given(options->vertices, software, 20000, 2000), 1 };
    scenes[1] = (pelt_bench_rays_scene){ "small", small, small_vertices, 1 };
    scenes[2] = (pelt_bench_rays_scene){ "small, in groups", small, small_vertices,
                                         given(options->group, software, 16, 8) };
    found->size[0] = given(options->size[0], software, 1920, 320);
    found->size[1] = given(options->size[1], software, 1080, 180);
    found->refits = options->refits;
    found->rounds = options->rounds;
}

static void print_times(const char *name, const pelt_bench_times *times)
{
    printf("  %-28s%12.1f %+6.1f %+6.1f %%\n", name, times->median * 1e6,
           100.0 * (times->least / times->median - 1.0),
           100.0 * (times->most / times->median - 1.0));
}

static void print_use(const pelt_bench_rays_use *use, const char *name, uint32_t refits)
{
    char structures[32], scratch[32], refit_scratch[32], row[64];
    (void)snprintf(row, sizeof(row), "build, %s", name);
    print_times(row, &use->build);
    (void)snprintf(row, sizeof(row), "refit, %s", name);
    print_times(row, &use->refit);
    (void)snprintf(row, sizeof(row), "refit, one by one");
    print_times(row, &use->serial);
    (void)snprintf(row, sizeof(row), "trace after %u refit%s", refits, pelt_plural(refits));
    print_times(row, &use->worn);
    print_times("trace after a build", &use->fresh);
    printf("  %s of structures; scratch memory for all at once: %s to build (%u call%s), %s to "
           "refit;\n  %.1f %% of the rays hit, %.3f %% something else after refits: %s\n",
           pelt_format_bytes(use->structure_bytes, structures),
           pelt_format_bytes(use->build_scratch, scratch), use->build_batches,
           pelt_plural(use->build_batches), pelt_format_bytes(use->refit_scratch, refit_scratch),
           100 * use->hits, 100 * use->differs, use->checked ? "checked" : "NO");
}

static void print_scene(const pelt_report *report, const rays_report *found,
                        const pelt_bench_rays_result *result)
{
    const char *bold = pelt_report_style(report, PELT_BOLD);
    const char *plain = pelt_report_style(report, PELT_PLAIN);
    char instances[32], vertices[32], triangles[32], structures[32];
    printf("\n%s%s%s: %s instance%s of %s vertices and %s triangles, %s structure%s\n\n", bold,
           result->scene.name, plain, pelt_format_count(result->scene.instances, instances),
           pelt_plural(result->scene.instances), pelt_format_count(result->vertices, vertices),
           pelt_format_count(result->triangles, triangles),
           pelt_format_count(result->structures, structures), pelt_plural(result->structures));
    printf("  %s%-28s%12s %15s%s\n", bold, "", "us", "least   most", plain);
    print_times("skin", &result->skin);
    print_times("top level", &result->tlas);
    for (uint32_t i = 0; i < PELT_BENCH_RAYS_USES; i++) {
        print_use(&result->uses[i], use_names[i], found->refits);
    }
}

static void print_text(const pelt_report *report, const void *user)
{
    const rays_report *found = user;
    pelt_print_safe(stdout, found->device);
    printf("\n%u x %u rays\n", found->size[0], found->size[1]);
    for (uint32_t i = 0; i < found->count; i++) {
        print_scene(report, found, &found->results[i]);
    }
    printf("\nOne call builds or refits all structures of a scene; one by one: with the scratch "
           "memory\nof one, and barriers.\n");
}

static void write_use(pelt_json *json, const pelt_bench_rays_use *use, const char *name)
{
    pelt_json_object(json, NULL);
    pelt_json_text(json, "prefers", name);
    pelt_bench_write_times(json, "build", &use->build);
    pelt_bench_write_times(json, "refit", &use->refit);
    pelt_bench_write_times(json, "refitOneByOne", &use->serial);
    pelt_bench_write_times(json, "traceAfterRefits", &use->worn);
    pelt_bench_write_times(json, "traceAfterBuild", &use->fresh);
    pelt_json_integer(json, "structureBytes", (int64_t)use->structure_bytes);
    pelt_json_integer(json, "buildScratch", (int64_t)use->build_scratch);
    pelt_json_integer(json, "refitScratch", (int64_t)use->refit_scratch);
    pelt_json_integer(json, "buildCalls", use->build_batches);
    pelt_json_rounded(json, "hits", use->hits, 4);
    pelt_json_rounded(json, "differs", use->differs, 4);
    pelt_json_bool(json, "checked", use->checked);
    pelt_json_close(json);
}

static void write_json(const pelt_report *report, const void *user, FILE *stream)
{
    const rays_report *found = user;
    pelt_json json;
    pelt_json_begin(&json, stream);
    pelt_json_text(&json, "pelt", pelt_version());
    pelt_json_text(&json, "device", found->device);
    pelt_json_integer(&json, "width", found->size[0]);
    pelt_json_integer(&json, "height", found->size[1]);
    pelt_json_integer(&json, "refits", found->refits);
    pelt_json_integer(&json, "rounds", found->rounds);
    pelt_json_list(&json, "scenes");
    for (uint32_t i = 0; i < found->count; i++) {
        const pelt_bench_rays_result *result = &found->results[i];
        pelt_json_object(&json, NULL);
        pelt_json_text(&json, "name", result->scene.name);
        pelt_json_integer(&json, "instances", result->scene.instances);
        pelt_json_integer(&json, "structures", result->structures);
        pelt_json_integer(&json, "vertices", result->vertices);
        pelt_json_integer(&json, "triangles", result->triangles);
        pelt_bench_write_times(&json, "skin", &result->skin);
        pelt_bench_write_times(&json, "topLevel", &result->tlas);
        pelt_json_list(&json, "uses");
        for (uint32_t u = 0; u < PELT_BENCH_RAYS_USES; u++) {
            write_use(&json, &result->uses[u], use_names[u]);
        }
        pelt_json_close(&json);
        pelt_json_close(&json);
    }
    pelt_json_close(&json);
    pelt_report_warnings(report, &json);
    pelt_json_end(&json);
}

static pelt_result measure(pelt_report *report, pelt_headless *device, pelt_bench *bench,
                           void *user)
{
    rays_report *found = user;
    pelt_bench_rays_scene scenes[SCENES];
    choose(found->options, device->is_software, found, scenes);
    const pelt_bench_rays_settings settings = {
        .width = found->size[0],
        .height = found->size[1],
        .refits = found->refits,
        .rounds = found->rounds,
        .warm_up = device->is_software ? 0.01 : 0, /* has no clocks to raise */
        .progress = pelt_bench_on_progress,
        .user = report,
    };
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < SCENES; i++) {
        result = pelt_bench_rays_run(bench, &scenes[i], &settings, &found->results[i]);
        found->count += result == PELT_OK;
    }
    return result;
}

static bool all_checked(const void *user)
{
    const rays_report *found = user;
    bool all = true;
    for (uint32_t i = 0; i < found->count; i++) {
        for (uint32_t u = 0; u < PELT_BENCH_RAYS_USES; u++) {
            all = all && found->results[i].uses[u].checked;
        }
    }
    return all;
}

static pelt_result bench_rays(pelt_report *report, const rays_options *options)
{
    rays_report found = { .options = options };
    const pelt_bench_job job = { .output = options->output,
                                 .json = options->json,
                                 .user = &found,
                                 .device = found.device,
                                 .measure = measure,
                                 .write_json = write_json,
                                 .print_text = print_text,
                                 .all_checked = all_checked };
    return pelt_bench_run_job(report, &job);
}

#else

static pelt_result bench_rays(pelt_report *report, const rays_options *options)
{
    (void)options;
    return pelt_bench_without_vulkan(report, NULL);
}

#endif

static int run(pelt_report *report, int argc, char **argv)
{
    rays_options options = { .refits = 50, .rounds = 9 };
    const char *operand;
    const pelt_option table[] = {
        { .name = "instances",
          .letter = 'n',
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "characters (default: 1000; on software 4)",
          .target = &options.instances,
          .minimum = 1,
          .maximum = 100000 },
        { .name = "vertices",
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "of each (default: 20000; on software 2000)",
          .target = &options.vertices,
          .minimum = PELT_SAMPLE_VERTICES_MIN,
          .maximum = PELT_SAMPLE_VERTICES_MAX },
        { .name = "small",
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "small characters (default: 10,000; on software 32)",
          .target = &options.small,
          .minimum = 1,
          .maximum = 1000000 },
        { .name = "small-vertices",
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "of each (default: 300)",
          .target = &options.small_vertices,
          .minimum = PELT_SAMPLE_VERTICES_MIN,
          .maximum = PELT_SAMPLE_VERTICES_MAX },
        { .name = "group",
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "small characters that share a structure, against one\neach (default: 16; on "
                  "software 8)",
          .target = &options.group,
          .minimum = 1,
          .maximum = 100000 },
        { .name = "refits",
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "frames between a build and the rays that are measured\n(default: 50)",
          .target = &options.refits,
          .minimum = 1,
          .maximum = 10000 },
        { .name = "size",
          .letter = 's',
          .kind = PELT_OPTION_SIZE,
          .value = "WxH",
          .help = "rays (default: 1920x1080; on software 320x180)",
          .target = options.size,
          .minimum = 16,
          .maximum = 4096 },
        pelt_option_rounds(&options.rounds, "how often everything is measured (default: 9)"),
        pelt_option_results(&options.output),
        pelt_option_json(&options.json, "print JSON instead of a table"),
        { 0 },
    };
    pelt_parsed parsed =
        pelt_options_parse(report, &pelt_command_bench_rays, table, argc, argv, &operand);
    if (parsed != PELT_PARSED_RUN) {
        return parsed == PELT_PARSED_HELP ? PELT_EXIT_OK : PELT_EXIT_USAGE;
    }
    report->json = options.json;
    report->memory_hint = "--instances";
    return pelt_report_exit(report, bench_rays(report, &options));
}

const pelt_command pelt_command_bench_rays = {
    .name = "bench rays",
    .operand = NULL,
    .summary = "Measure acceleration structures over skinned vertices, and rays through them",
    .details =
        "\n"
        "A crowd of the built-in character walks, each at another time. All of it is skinned;\n"
        "every structure is built, or refitted, in one call, and one by one; the top level is\n"
        "built; then rays are traced after as many refits as --refits says, and after building\n"
        "in the same pose. So is a crowd of small ones, with a structure each and in groups. Both\n"
        "pictures of a pose are compared; exit code 1 if they differ by more than edges do.\n",
    .example = "pelt bench rays --instances 100 -o rays.json",
    .run = run,
};
