/* pelt bake: clips as a palette texture. */
#include "cli/bake.h"
#include "cli/open.h"

#include <pelt/gltf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const formats[] = { "rgba32f", "rgba16f", "dualquat", NULL };
static const char *const matrices[] = { "3x4", "4x4", NULL };
static const char *const interpolations[] = { "nearest", "lerp", "blend", NULL };

enum { FORMAT_DUALQUAT = 2 };

typedef struct bake_options {
    const char *file, *output;
    pelt_option_list clips, skins;
    double fps, error;
    bool fps_given, error_given, matrix_given, interpolation_given;
    int format, matrix, interpolation;
    uint32_t max_size;
    bool json;
} bake_options;

static bool is_device(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/* OUT.json for OUT.ktx2, and for OUT. */
static char *sidecar_path(const pelt_host *host, const char *output)
{
    const char *slash = strrchr(output, '/');
    const char *dot = strrchr(slash ? slash : output, '.');
    size_t length = dot ? (size_t)(dot - output) : strlen(output);
    char *path = pelt_allocate(host, length + sizeof(".json"), 1);
    if (path) {
        memcpy(path, output, length);
        memcpy(path + length, ".json", sizeof(".json"));
    }
    return path;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

static pelt_result find_clips(const pelt_host *host, const bake_options *options,
                              const pelt_model *model, int32_t *clips, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < options->clips.count; i++) {
        int32_t clip;
        pelt_result result =
            pelt_find_clip(host, options->file, model, options->clips.items[i], &clip);
        if (result != PELT_OK) {
            return result;
        }
        uint32_t k = 0;
        while (k < *count && clips[k] != clip) {
            k++;
        }
        clips[k] = clip;
        *count = k < *count ? *count : k + 1;
    }
    return PELT_OK;
}

/* By name, or else by number; -1: neither. */
static int32_t find_skin(const pelt_model *model, const char *name)
{
    for (uint32_t i = 0; i < model->skin_count; i++) {
        if (model->skins[i].name && strcmp(model->skins[i].name, name) == 0) {
            return (int32_t)i;
        }
    }
    char *end;
    unsigned long number = strtoul(name, &end, 10);
    bool whole = name[0] >= '0' && name[0] <= '9' && *end == 0;
    return whole && number < model->skin_count ? (int32_t)number : -1;
}

static pelt_result find_palettes(const pelt_host *host, const bake_options *options,
                                 const pelt_model *model, uint32_t *palettes, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < options->skins.count; i++) {
        const char *name = options->skins.items[i];
        int32_t skin = find_skin(model, name);
        uint32_t palette = 0, k = 0;
        if (skin < 0) {
            return pelt_fail(host, PELT_ERROR_FILE, options->file, "/skins",
                             "no skin '%.60s'; there %s %u", name,
                             model->skin_count == 1 ? "is" : "are", model->skin_count);
        }
        while (palette < model->palette_count && model->palettes[palette].skin != skin) {
            palette++;
        }
        if (palette == model->palette_count) {
            return pelt_fail(host, PELT_ERROR_FILE, options->file, "/skins",
                             "skin '%.60s' is used by no mesh of the scene", name);
        }
        while (k < *count && palettes[k] != palette) {
            k++;
        }
        palettes[k] = palette;
        *count = k < *count ? *count : k + 1;
    }
    return PELT_OK;
}

typedef struct bake_progress {
    pelt_report *report;
    uint32_t clip, clip_count;
    int percent; /* as shown */
} bake_progress;

static void show_progress(void *user, uint32_t clip, double done)
{
    bake_progress *progress = user;
    int percent = (int)(100 * done);
    if (clip != progress->clip || percent != progress->percent) {
        progress->clip = clip;
        progress->percent = percent;
        pelt_report_progress(progress->report, "baking clip %u of %u: %d %%", clip + 1,
                             progress->clip_count, percent);
    }
}

static pelt_result make(pelt_report *report, const bake_options *options, const pelt_model *model,
                        pelt_bake **out)
{
    const pelt_host *host = &report->host;
    int32_t clips[PELT_OPTION_LIST_MAX];
    uint32_t palettes[PELT_OPTION_LIST_MAX];
    bool dual = options->format == FORMAT_DUALQUAT;
    pelt_bake_interpolation natural = dual ? PELT_BAKE_BLEND : PELT_BAKE_LERP;
    pelt_bake_info info = { .model = model,
                            .clips = clips,
                            .palettes = palettes,
                            .layout = dual              ? PELT_BAKE_DUAL_QUATERNION
                                      : options->matrix ? PELT_BAKE_MATRIX_4X4
                                                        : PELT_BAKE_MATRIX_3X4,
                            .format = dual ? PELT_BAKE_RGBA32F : (pelt_bake_format)options->format,
                            .rate = options->fps,
                            .error = options->error,
                            .interpolation = options->interpolation_given
                                                 ? (pelt_bake_interpolation)options->interpolation
                                                 : natural,
                            .max_size = options->max_size };
    pelt_result result = find_clips(host, options, model, clips, &info.clip_count);
    if (result == PELT_OK) {
        result = find_palettes(host, options, model, palettes, &info.palette_count);
    }
    if (result != PELT_OK) {
        return result;
    }
    uint32_t all = model->clip_count ? model->clip_count : 1;
    bake_progress progress = { .report = report,
                               .clip_count = info.clip_count ? info.clip_count : all,
                               .percent = -1 };
    info.progress = report->progress ? show_progress : NULL;
    info.user = &progress;
    result = pelt_bake_create(host, &info, out);
    pelt_report_progress(report, NULL);
    return result;
}

static pelt_result bake(pelt_report *report, const bake_options *options)
{
    const pelt_host *host = &report->host;
    pelt_model *model = NULL;
    pelt_bake *made = NULL;
    char *sidecar = sidecar_path(host, options->output);
    pelt_result result = PELT_ERROR_MEMORY;
    if (!sidecar) {
        goto done;
    }
    if (is_same_file(sidecar, options->file)) {
        result = pelt_fail(host, PELT_ERROR_ARGUMENT, options->file, NULL,
                           "would be overwritten by %s, which goes with --output", sidecar);
        goto done;
    }
    result = pelt_gltf_read(host, options->file, &model);
    if (result == PELT_OK && model->part_count == 0) {
        result = pelt_fail(host, PELT_ERROR_FILE, options->file, NULL,
                           "nothing to bake: its scene has no mesh");
    }
    result = result == PELT_OK ? make(report, options, model, &made) : result;
    if (result == PELT_OK) {
        pelt_report_progress(report, "writing");
        /* Beside a device or a pipe there is no file. */
        result = pelt_bake_write(host, made, options->output,
                                 is_device(options->output) ? NULL : sidecar);
        pelt_report_progress(report, NULL);
    }
    if (result == PELT_OK && options->json) {
        pelt_bake_print_json(report, made, options->file, options->output, sidecar);
    } else if (result == PELT_OK) {
        pelt_bake_print_text(made, options->output, sidecar);
    }
done:
    pelt_bake_destroy(made);
    pelt_model_destroy(model);
    pelt_release(host, sidecar);
    return result;
}

static bool check(pelt_report *report, const bake_options *options)
{
    const char *wrong = NULL;
    if (options->fps_given && options->error_given) {
        wrong = "--fps and --error exclude each other";
    } else if (options->fps_given && !(options->fps >= 0.001 && options->fps <= 1000)) {
        wrong = "--fps: must be from 0.001 to 1,000";
    } else if (options->error_given && !(options->error > 0 && options->error <= 1e18)) {
        wrong = "--error: must be more than 0, and up to 1e18";
    } else if (options->matrix_given && options->format == FORMAT_DUALQUAT) {
        wrong = "--matrix and --format dualquat exclude each other";
    } else if (options->interpolation_given && !options->error_given) {
        wrong = "--interpolation needs --error: it says what the error is to hold for";
    }
    if (wrong) {
        pelt_report_error(report, NULL, "%s", wrong);
    }
    return !wrong;
}

static int run(pelt_report *report, int argc, char **argv)
{
    bake_options options = { .max_size = 4096 };
    const pelt_option table[] = {
        pelt_option_output(&options.output, "OUT.ktx2",
                           "the texture to write; its description goes into\nOUT.json"),
        { .name = "clip",
          .letter = 'c',
          .kind = PELT_OPTION_LIST,
          .value = "CLIP",
          .help = "a clip, by name or number; may be given several times\n"
                  "(default: all; of a file without clips, the static pose)",
          .target = &options.clips },
        { .name = "skin",
          .kind = PELT_OPTION_LIST,
          .value = "SKIN",
          .help = "only the joints of this skin, by name or number; may be\n"
                  "given several times (default: those of all skins, and one\n"
                  "for each node with a rigid mesh)",
          .target = &options.skins },
        { .name = "fps",
          .kind = PELT_OPTION_NUMBER,
          .value = "F",
          .help = "frames a second (default: 30)",
          .target = &options.fps,
          .given = &options.fps_given },
        { .name = "error",
          .kind = PELT_OPTION_NUMBER,
          .value = "E",
          .help = "instead of --fps: for each clip the lowest rate that keeps\n"
                  "every vertex within E, in the file's units, of where the\n"
                  "clip has it; 1/8, 1/4, 1/2 and 1 to 240 are tried in turn",
          .target = &options.error,
          .given = &options.error_given },
        { .name = "interpolation",
          .kind = PELT_OPTION_CHOICE,
          .value = "HOW",
          .help = "what --error is to hold for between frames: nearest, lerp\n"
                  "(of matrices) or blend (of dual quaternions)\n"
                  "(default: lerp; with dualquat, blend)",
          .target = &options.interpolation,
          .choices = interpolations,
          .given = &options.interpolation_given },
        { .name = "format",
          .kind = PELT_OPTION_CHOICE,
          .value = "FORMAT",
          .help = "rgba32f, rgba16f, or dualquat: dual quaternions in rgba32f,\n"
                  "and the scale if there is any (default: rgba32f)",
          .target = &options.format,
          .choices = formats },
        { .name = "matrix",
          .kind = PELT_OPTION_CHOICE,
          .value = "ROWSxCOLUMNS",
          .help = "3x4 or 4x4: three or four texels a joint (default: 3x4)",
          .target = &options.matrix,
          .choices = matrices,
          .given = &options.matrix_given },
        { .name = "max-size",
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "texels that the texture may be wide and high; what does not\n"
                  "fit goes to further layers (default: 4096, which every\n"
                  "device has)",
          .target = &options.max_size,
          .minimum = 4,
          .maximum = 65536 },
        pelt_option_json(&options.json, "print the result as JSON"),
        { 0 },
    };
    pelt_parsed parsed =
        pelt_options_parse(report, &pelt_command_bake, table, argc, argv, &options.file);
    if (parsed != PELT_PARSED_RUN) {
        return parsed == PELT_PARSED_HELP ? PELT_EXIT_OK : PELT_EXIT_USAGE;
    }
    if (!check(report, &options)) {
        return PELT_EXIT_USAGE;
    }
    report->json = options.json;
    return pelt_report_exit(report, bake(report, &options));
}

const pelt_command pelt_command_bake = {
    .name = "bake",
    .operand = "FILE",
    .summary = "Sample clips into a palette texture, .ktx2, for crowds of one draw call",
    .details =
        "\n"
        "A row of the texture is a frame: the joints of all skins side by side, three texels "
        "each.\n"
        "OUT.json says where each clip's rows are, with the exact box of every frame and how far\n"
        "any vertex is from where the clip has it, at frames and between them, for each way to\n"
        "interpolate. The texture's key 'pelt' has the same. docs/formats.md describes it.\n",
    .example = "pelt bake fox.glb -o fox.ktx2 --error 0.5",
    .run = run,
};
