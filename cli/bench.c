/* pelt bench: measures the skin pass against its older forms and the memory's floor. */
#include "cli/bench.h"

#include "cli/backend_vulkan.h"
#include "cli/folder.h"
#include "cli/options.h"

#include <math.h>
#include <pelt/gltf.h>
#include <string.h>

typedef struct bench_options {
    pelt_option_list scenes, variants, files;
    uint32_t instances, vertices, joints, influences, rounds;
    int joint_width; /* index into joint_widths */
    bool own, shared, list, bytes, json;
    double scale;
    const char *output, *svg;
} bench_options;

static const char *const joint_widths[] = { "auto", "8", "16", NULL };

#ifdef PELT_HAVE_VULKAN

static bool has_parameters(const bench_options *options)
{
    return options->instances || options->vertices || options->joints || options->influences ||
           options->joint_width || options->own || options->shared || options->files.count;
}

/* What the parameters say about a scene, preset or not, that has a use for them all. */
static void apply_parameters(const bench_options *options, pelt_bench_scene *scene)
{
    if (options->files.count) {
        scene->files = options->files.items;
        scene->file_count = options->files.count;
        scene->mixture = false;
    }
    scene->instances = options->instances ? options->instances : scene->instances;
    scene->vertices = options->vertices ? options->vertices : scene->vertices;
    scene->joints = options->joints ? options->joints : scene->joints;
    scene->influences = options->influences;
    scene->joint_bits = (uint32_t)options->joint_width * 8;
    scene->shared = options->shared || (scene->shared && !options->own);
}

typedef struct scene_list {
    uint32_t count;
    pelt_bench_scene *scenes; /* room for all that there are: none is named twice */
} scene_list;

static void add_scene(const bench_options *options, const pelt_bench_scene *scene, scene_list *list)
{
    list->scenes[list->count] = *scene;
    apply_parameters(options, &list->scenes[list->count++]);
}

/* The sweep's total is scaled as a whole: its points keep their vertices a mesh. */
static void add_sweep(const bench_options *options, bool software, scene_list *list)
{
    double scale = options->scale > 0.0 ? options->scale
                   : software           ? (double)PELT_BENCH_TOTAL / PELT_BENCH_SOFTWARE_TOTAL
                                        : 1.0;
    double total = PELT_BENCH_TOTAL / scale;
    pelt_bench_scene points[PELT_BENCH_SWEEP_POINT_MAX];
    uint32_t count = pelt_bench_sweep(total < 1.0 ? 1 : (uint64_t)total, points);
    for (uint32_t i = 0; i < count; i++) {
        add_scene(options, &points[i], list);
    }
}

static void add_named(const bench_options *options, const char *name, bool software,
                      scene_list *list)
{
    bool all = strcmp(name, "all") == 0;
    for (uint32_t i = 0; i < pelt_bench_preset_count; i++) {
        if (all || strcmp(pelt_bench_presets[i].name, name) == 0) {
            add_scene(options, &pelt_bench_presets[i], list);
        }
    }
    if (all || strcmp(name, "sweep") == 0) {
        add_sweep(options, software, list);
    }
}

static void choose_scenes(const bench_options *options, bool software, scene_list *list)
{
    for (uint32_t i = 0; i < options->scenes.count; i++) {
        add_named(options, options->scenes.items[i], software, list);
    }
    if (list->count > 0) {
        return;
    }
    if (!has_parameters(options)) {
        add_named(options, "crowd-own", software, list);
        return;
    }
    const pelt_bench_scene custom = { .name = "custom",
                                      .instances = options->files.count ? 0 : 1000,
                                      .vertices = 20000,
                                      .joints = 64 };
    add_scene(options, &custom, list);
}

static bool check_names(pelt_report *report, const bench_options *options)
{
    const char *scenes[32] = { "all", "sweep" };
    for (uint32_t i = 0; i < pelt_bench_preset_count; i++) {
        scenes[i + 2] = pelt_bench_presets[i].name;
    }
    const char *variants[PELT_BENCH_VARIANT_COUNT + 2] = { "normals" };
    for (uint32_t i = 0; i < PELT_BENCH_VARIANT_COUNT; i++) {
        variants[i + 1] = pelt_bench_variant(i)->name;
    }
    const struct {
        const char *option;
        const pelt_option_list *given;
        const char *const *known;
    } lists[] = { { "scene", &options->scenes, scenes },
                  { "variant", &options->variants, variants } };
    for (size_t l = 0; l < 2; l++) {
        for (uint32_t i = 0; i < lists[l].given->count; i++) {
            const char *name = lists[l].given->items[i];
            bool known = false;
            for (uint32_t k = 0; lists[l].known[k]; k++) {
                known = known || strcmp(lists[l].known[k], name) == 0;
            }
            if (!known) {
                const char *nearest = pelt_nearest(name, lists[l].known);
                pelt_report_error(report, NULL, "unknown --%s '%s'%s%s%s", lists[l].option, name,
                                  nearest ? "; did you mean '" : "; see 'pelt bench --list'",
                                  nearest ? nearest : "", nearest ? "'?" : "");
                return false;
            }
        }
    }
    return true;
}

/* Whether no scene is measured twice, as --scene all with any other would. */
static bool check_twice(pelt_report *report, const bench_options *options)
{
    const pelt_option_list *scenes = &options->scenes;
    for (uint32_t i = 0; i < scenes->count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            const char *name = scenes->items[k], *other = scenes->items[i];
            if (strcmp(name, other) == 0) {
                pelt_report_error(report, NULL, "--scene %s: given twice", name);
                return false;
            }
            if (strcmp(name, "all") == 0 || strcmp(other, "all") == 0) {
                pelt_report_error(report, NULL, "--scene %s and --scene %s exclude each other",
                                  name, other);
                return false;
            }
        }
    }
    return true;
}

static bool is_mixture(const char *name)
{
    for (uint32_t i = 0; i < pelt_bench_preset_count; i++) {
        if (strcmp(pelt_bench_presets[i].name, name) == 0) {
            return pelt_bench_presets[i].mixture;
        }
    }
    return false;
}

/* Whether every scene has a use for every parameter. */
static bool check_uses(pelt_report *report, const bench_options *options)
{
    bool files = options->files.count > 0;
    for (uint32_t i = 0; i < options->scenes.count; i++) {
        const char *name = options->scenes.items[i];
        bool all = strcmp(name, "all") == 0, sweep = strcmp(name, "sweep") == 0;
        bool mixture = is_mixture(name);
        const char *wrong = files && !mixture                                ? "file"
                            : options->instances && (all || sweep)           ? "instances"
                            : options->vertices && (all || sweep || mixture) ? "vertices"
                                                                             : NULL;
        if (wrong) {
            pelt_report_error(report, NULL, "--%s and --scene %s exclude each other", wrong, name);
            return false;
        }
    }
    const char *wrong = !files                ? NULL
                        : options->vertices   ? "vertices"
                        : options->joints     ? "joints"
                        : options->influences ? "influences"
                                              : NULL;
    if (wrong) {
        pelt_report_error(report, NULL, "--file and --%s exclude each other", wrong);
    }
    return !wrong;
}

static bool check_scenes(pelt_report *report, const bench_options *options)
{
    return check_names(report, options) && check_twice(report, options) &&
           check_uses(report, options);
}

static void on_progress(void *user, const char *scene, const char *what)
{
    pelt_report_progress(user, "%s: %s", scene, what);
}

static pelt_bench_settings make_settings(pelt_report *report, const bench_options *options)
{
    pelt_bench_settings settings = {
        .scale = options->scale, .rounds = options->rounds, .progress = on_progress, .user = report
    };
    for (uint32_t v = 0; v < PELT_BENCH_VARIANT_COUNT; v++) {
        const pelt_bench_variant_info *info = pelt_bench_variant(v);
        settings.skip[v] = options->variants.count > 0 || info->of_normals;
        for (uint32_t i = 0; i < options->variants.count; i++) {
            const char *asked = options->variants.items[i];
            if (strcmp(asked, info->name) == 0 ||
                (info->of_normals && strcmp(asked, "normals") == 0)) {
                settings.skip[v] = false;
            }
        }
    }
    return settings;
}

static void print_header(const pelt_bench_report *bench)
{
    pelt_print_safe(stdout, bench->device);
    const pelt_bench_copy *copy = &bench->copy;
    printf("; subgroups of %u%s\ncopy of %.0f MiB by %s: %.1f GB/s, read and written\n\n",
           bench->subgroup_size, bench->is_software ? "; a software device" : "",
           (double)copy->size / 0x1p20, copy->by_command ? "vkCmdCopyBuffer" : "a shader",
           2e-9 * (double)copy->size / copy->times.median);
}

static pelt_result run_scenes(pelt_report *report, const bench_options *options,
                              const scene_list *list, pelt_bench *bench,
                              pelt_bench_report *measured)
{
    const pelt_bench_settings settings = make_settings(report, options);
    pelt_result result = pelt_bench_measure_copy(bench, &settings, &measured->copy);
    pelt_report_progress(report, NULL);
    for (uint32_t i = 0; result == PELT_OK && i < list->count; i++) {
        pelt_bench_settings of_scene = settings;
        if (list->scenes[i].sweep) {
            of_scene.scale = 1.0; /* scaled already */
        }
        pelt_bench_result *next = &measured->results[measured->result_count];
        result = pelt_bench_run(bench, &list->scenes[i], &of_scene, next);
        pelt_report_progress(report, NULL);
        if (result != PELT_OK) {
            break;
        }
        if (!options->json) {
            if (measured->result_count == 0) {
                print_header(measured);
            }
            pelt_bench_print(stdout, next);
            (void)fflush(stdout);
        }
        measured->result_count++;
    }
    return result;
}

/* Also what was measured before something failed. */
static pelt_result write_results(pelt_report *report, const bench_options *options,
                                 const pelt_bench_report *measured, pelt_output *output)
{
    pelt_result result = PELT_OK;
    if (options->output) {
        pelt_bench_write_json(report, measured, output->stream);
        result = pelt_output_commit(output);
    }
    if (result == PELT_OK && options->svg) {
        result = pelt_bench_write_plots(report, measured, options->svg);
    }
    return result;
}

static pelt_result measure(pelt_report *report, const bench_options *options)
{
    const pelt_host *host = &report->host;
    pelt_headless *device = NULL;
    pelt_bench *bench = NULL;
    pelt_output output = { 0 };
    pelt_bench_report measured = { .rounds = options->rounds };
    uint32_t most = pelt_bench_preset_count + PELT_BENCH_SWEEP_POINT_MAX;
    scene_list list = { .scenes = pelt_allocate(host, most, sizeof(*list.scenes)) };
    pelt_result result = list.scenes ? PELT_OK : PELT_ERROR_MEMORY;
    if (result == PELT_OK && options->svg) {
        result = pelt_make_folder(report, options->svg);
    }
    if (result == PELT_OK && options->output) {
        result = pelt_output_open(host, options->output, &output);
    }
    if (result == PELT_OK) {
        result = pelt_open_device(host, &device);
    }
    if (result == PELT_OK) {
        result = pelt_bench_create(host, device, &bench);
    }
    if (result == PELT_OK) {
        pelt_describe_device(device, measured.device, sizeof(measured.device));
        measured.subgroup_size = device->subgroup_size;
        measured.is_software = device->is_software;
        choose_scenes(options, device->is_software, &list);
        measured.results = pelt_allocate(host, list.count, sizeof(*measured.results));
        result = measured.results ? run_scenes(report, options, &list, bench, &measured)
                                  : PELT_ERROR_MEMORY;
    }
    if (measured.result_count > 0) {
        pelt_result written = write_results(report, options, &measured, &output);
        result = result == PELT_OK ? written : result;
    } else {
        pelt_output_discard(&output);
    }
    if (result == PELT_OK && options->json) {
        pelt_bench_write_json(report, &measured, stdout);
    } else if (result == PELT_OK) {
        pelt_bench_print_legend(stdout);
    }
    pelt_release(host, measured.results);
    pelt_bench_destroy(bench);
    pelt_vulkan_close(device);
    pelt_release(host, list.scenes);
    return result;
}

static pelt_result bench(pelt_report *report, const bench_options *options)
{
    if (options->list) {
        pelt_bench_print_list(report, options->json);
        return PELT_OK;
    }
    if (options->bytes) {
        pelt_bench_print_byte_table(options->json);
        return PELT_OK;
    }
    return measure(report, options);
}

#else

static bool check_scenes(pelt_report *report, const bench_options *options)
{
    (void)report;
    (void)options;
    return true;
}

pelt_result pelt_bench_without_vulkan(pelt_report *report, const char *file)
{
    pelt_model *model = NULL;
    pelt_result result = file ? pelt_gltf_read(&report->host, file, &model) : PELT_OK;
    pelt_model_destroy(model);
    return result != PELT_OK
               ? result
               : pelt_fail(&report->host, PELT_ERROR_DEVICE, NULL, NULL,
                           "this pelt was built without Vulkan, whose passes it measures");
}

static pelt_result bench(pelt_report *report, const bench_options *options)
{
    return pelt_bench_without_vulkan(report,
                                     options->files.count > 0 ? options->files.items[0] : NULL);
}

#endif

/* scale is infinite, which cannot be given, until here, and 0 from here on, if it is not given. */
static bool check_options(pelt_report *report, bench_options *options)
{
    if (options->own && options->shared) {
        pelt_report_error(report, NULL, "--own and --shared exclude each other");
        return false;
    }
    if (options->scale < 1.0) {
        pelt_report_error(report, NULL, "--scale %g: must be at least 1", options->scale);
        return false;
    }
    options->scale = isfinite(options->scale) ? options->scale : 0.0;
    return check_scenes(report, options);
}

static int run(pelt_report *report, int argc, char **argv)
{
    if (argc > 0 && strcmp(argv[0], "pose") == 0) {
        return pelt_command_bench_pose.run(report, argc - 1, argv + 1);
    }
    if (argc > 0 && strcmp(argv[0], "crowd") == 0) {
        return pelt_command_bench_crowd.run(report, argc - 1, argv + 1);
    }
    if (argc > 0 && strcmp(argv[0], "rays") == 0) {
        return pelt_command_bench_rays.run(report, argc - 1, argv + 1);
    }
    if (argc > 0 && strcmp(argv[0], "clusters") == 0) {
        return pelt_command_bench_clusters.run(report, argc - 1, argv + 1);
    }
    bench_options options = { .rounds = 9, .scale = INFINITY };
    const char *operand;
    const pelt_option table[] = {
        { .name = "scene",
          .letter = 's',
          .kind = PELT_OPTION_LIST,
          .value = "NAME",
          .help = "a named scene, sweep, or all; several may be given\n(default: crowd-own)",
          .target = &options.scenes },
        { .name = "variant",
          .letter = 'v',
          .kind = PELT_OPTION_LIST,
          .value = "NAME",
          .help = "measure only this form of the pass, or normals: the\nways of turning them; may "
                  "be given several times",
          .target = &options.variants },
        { .name = "list",
          .letter = 'l',
          .kind = PELT_OPTION_FLAG,
          .help = "name the scenes and the variants",
          .target = &options.list },
        { .name = "bytes",
          .kind = PELT_OPTION_FLAG,
          .help = "print the bytes read for each vertex, by stream",
          .target = &options.bytes },
        { .name = "instances",
          .letter = 'n',
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "a scene of so many instances (default: 1000)",
          .target = &options.instances,
          .minimum = 1,
          .maximum = 20000000 },
        { .name = "vertices",
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "vertices of each mesh (default: 20000)",
          .target = &options.vertices,
          .minimum = 1,
          .maximum = 100000000 },
        { .name = "joints",
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "joints of each instance (default: 64)",
          .target = &options.joints,
          .minimum = 1,
          .maximum = 65535 },
        { .name = "influences",
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "of each vertex (default: 1 to 4, on average 2.4)",
          .target = &options.influences,
          .minimum = 1,
          .maximum = 4 },
        { .name = "joint-width",
          .kind = PELT_OPTION_CHOICE,
          .value = "BITS",
          .help = "8, 16 or auto, what the joints need",
          .target = &options.joint_width,
          .choices = joint_widths },
        { .name = "own",
          .kind = PELT_OPTION_FLAG,
          .help = "each instance has a source mesh of its own (default)",
          .target = &options.own },
        { .name = "shared",
          .kind = PELT_OPTION_FLAG,
          .help = "all instances share one",
          .target = &options.shared },
        { .name = "file",
          .letter = 'f',
          .kind = PELT_OPTION_LIST,
          .value = "FILE",
          .help = "the parts of a glTF file instead of made meshes;\nmay be given several times",
          .target = &options.files },
        { .name = "scale",
          .kind = PELT_OPTION_NUMBER,
          .value = "F",
          .help = "divide the number of instances (default: 1; on\nsoftware what takes seconds)",
          .target = &options.scale },
        pelt_option_rounds(&options.rounds, "how often everything is measured (default: 9)"),
        pelt_option_results(&options.output),
        { .name = "svg",
          .kind = PELT_OPTION_TEXT,
          .value = "DIR",
          .help = "write plots into a folder",
          .target = &options.svg },
        pelt_option_json(&options.json, "print JSON instead of tables"),
        { 0 },
    };
    pelt_parsed parsed =
        pelt_options_parse(report, &pelt_command_bench, table, argc, argv, &operand);
    if (parsed != PELT_PARSED_RUN) {
        return parsed == PELT_PARSED_HELP ? PELT_EXIT_OK : PELT_EXIT_USAGE;
    }
    if (!check_options(report, &options)) {
        return PELT_EXIT_USAGE;
    }
    report->json = options.json;
    report->memory_hint = "--instances or --vertices, or a larger --scale";
    return pelt_report_exit(report, bench(report, &options));
}

const pelt_command pelt_command_bench = {
    .name = "bench",
    .operand = NULL,
    .summary = "Measure the GPU's skin pass against older forms and against memory",
    .details =
        "\n"
        "All forms run on the same input in one process, in alternating order, after a warm-up of\n"
        "0.3 seconds; the results of each are checked. Scenes come by name, or from --instances,\n"
        "--vertices and so on, which also change named ones. On a software device scenes are made\n"
        "smaller unless --scale says how much.\n"
        "\n"
        "'pelt bench pose' measures the pose pass, 'pelt bench crowd' draws crowds, 'pelt bench\n"
        "rays' builds and traces, 'pelt bench clusters' skins what can be seen; see\n"
        "'pelt bench pose --help', 'pelt bench crowd --help', 'pelt bench rays --help',\n"
        "'pelt bench clusters --help'.\n",
    .example = "pelt bench --scene all -o results.json --svg plots",
    .run = run,
};
