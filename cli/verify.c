/* pelt verify: every skinning path of this machine against the double-precision reference. */
#include "cli/verify.h"

#include "cli/verify_pose.h"

#include <math.h>

static pelt_result open_paths(pelt_report *report, pelt_verification *v)
{
    int device = v->options->device;
    /* Boxes from joints are of linear blending. */
    pelt_backend_info info = { .character = v->character,
                               .joint_boxes = v->character->method == PELT_METHOD_LBS };
    pelt_result result = PELT_OK;
    if (device == PELT_DEVICE_AUTO || device == PELT_DEVICE_CPU) {
        result = pelt_backend_cpu(&report->host, &info, &v->paths[v->path_count]);
        v->path_count += result == PELT_OK;
    }
    if (result == PELT_OK && (device == PELT_DEVICE_AUTO || device == PELT_DEVICE_GPU)) {
        bool optional = device == PELT_DEVICE_AUTO && !pelt_device_is_named();
        report->mute_no_device = optional;
        result = pelt_backend_vulkan(&report->host, &info, &v->paths[v->path_count]);
        report->mute_no_device = false;
        v->gpu = v->paths[v->path_count];
        v->path_count += result == PELT_OK;
        if (optional && result == PELT_ERROR_DEVICE) {
            (void)snprintf(v->no_gpu, sizeof(v->no_gpu), "%s", report->no_device);
            result = PELT_OK;
        }
    }
    return result;
}

/* As many members at a time as take a moderate amount of memory. */
static uint32_t choose_batch(const pelt_verification *v)
{
    const size_t budget = (size_t)512 << 20;
    uint32_t count = v->crowd->count;
    if (v->options->batch) {
        return v->options->batch < count ? v->options->batch : count;
    }
    size_t fits = budget / (pelt_batch_member_bytes(v->character) + 1);
    return fits < 1 ? 1 : fits < count ? (uint32_t)fits : count;
}

/* The diagonal of the character's box. */
static pelt_result measure_size(const pelt_verification *v, double *out)
{
    pelt_box box;
    pelt_result result = pelt_character_box(v->character, &v->play, &box);
    if (result != PELT_OK) {
        return result;
    }
    double square = 0.0;
    for (int c = 0; c < 3; c++) {
        double extent = (double)box.max[c] - (double)box.min[c];
        square += extent > 0.0 ? extent * extent : 0.0;
    }
    *out = sqrt(square);
    return PELT_OK;
}

static pelt_result compare_batch(pelt_verification *v, pelt_comparison *comparison,
                                 const pelt_batch *batch)
{
    pelt_result result = PELT_OK;
    for (uint32_t p = 0; result == PELT_OK && p < v->path_count; p++) {
        result = v->paths[p]->skin(v->paths[p], batch);
    }
    uint32_t parts = v->character->model->part_count;
    for (uint32_t i = 0; i < batch->count; i++) {
        for (uint32_t part = 0; result == PELT_OK && part < parts; part++) {
            result = pelt_comparison_begin(comparison, batch, i, part, &v->packing);
            for (uint32_t p = 0; result == PELT_OK && p < v->path_count; p++) {
                pelt_animated animated;
                result = v->paths[p]->fetch(v->paths[p], i, part, &animated);
                if (result == PELT_OK) {
                    pelt_comparison_add(comparison, &animated,
                                        v->character->method == PELT_METHOD_LBS, &v->results[p]);
                }
            }
        }
    }
    for (uint32_t p = 0; p < v->path_count; p++) {
        const pelt_backend *path = v->paths[p];
        v->results[p].seconds += path->skin_time;
        v->results[p].groups =
            path->groups > v->results[p].groups ? path->groups : v->results[p].groups;
    }
    return result;
}

static pelt_result compare_all(pelt_report *report, pelt_verification *v)
{
    pelt_comparison *comparison = NULL;
    pelt_pose_verifier *pose = NULL;
    pelt_batch *batch = NULL;
    double size = 0.0;
    v->batch_size = choose_batch(v);
    for (uint32_t part = 0; part < v->character->model->part_count; part++) {
        uint32_t mesh = v->character->part_meshes[part];
        pelt_packing_add_report(&v->packing, v->character->meshes[mesh], part);
    }
    pelt_result result = pelt_comparison_create(v->character, &comparison);
    if (result == PELT_OK) {
        result = pelt_batch_create(v->character, v->batch_size, true, &batch);
    }
    if (result == PELT_OK) {
        result = measure_size(v, &size);
    }
    if (result == PELT_OK) {
        result = pelt_pose_verifier_create(v->gpu, v->character, v->batch_size, size, &pose);
    }
    for (uint32_t first = 0; result == PELT_OK && first < v->crowd->count; first += v->batch_size) {
        uint32_t left = v->crowd->count - first;
        pelt_report_progress(report, "verifying %u of %u", first, v->crowd->count);
        result =
            pelt_batch_pose(batch, v->crowd, first, left < v->batch_size ? left : v->batch_size);
        if (result == PELT_OK) {
            result = compare_batch(v, comparison, batch);
        }
        if (result == PELT_OK) {
            result = pelt_pose_verifier_add(pose, v->crowd, batch, &v->pose);
        }
        if (left <= v->batch_size) {
            break;
        }
    }
    pelt_report_progress(report, NULL);
    if (result == PELT_OK) {
        pelt_warn_of_stretch(batch->host, batch->character->model, batch->stretches, &v->play);
    }
    pelt_pose_verifier_destroy(pose);
    pelt_batch_destroy(batch);
    pelt_comparison_destroy(comparison);
    return result;
}

/* One error line for a bound that does not hold: where, by how much. */
static void report_broken(pelt_report *report, const pelt_verification *v, const char *path,
                          const char *what, const pelt_worst *worst, bool is_angle)
{
    if (worst->of_bound <= 1.0) {
        return;
    }
    const pelt_part *part = &v->character->model->parts[worst->part];
    double scale = is_angle ? pelt_degrees(1.0) : 1.0;
    (void)pelt_fail(&report->host, PELT_ERROR_FILE, v->options->open.file, NULL,
                    "%s: instance %u, node %u, /meshes/%u/primitives/%u, vertex %u: %s off by "
                    "%.4g%s, allowed %.4g",
                    path, worst->member, part->node, part->mesh, part->primitive, worst->vertex,
                    what, worst->of_bound * worst->allowed * scale, is_angle ? " degrees" : "",
                    worst->allowed * scale);
}

/* Likewise for the matrices that the pose pass wrote. */
static void report_pose(pelt_report *report, const pelt_verification *v)
{
    const pelt_worst *worst = &v->pose;
    if (worst->of_bound <= 1.0) {
        return;
    }
    const pelt_part *part = &v->character->model->parts[worst->part];
    (void)pelt_fail(&report->host, PELT_ERROR_FILE, v->options->open.file, NULL,
                    "pose: instance %u, node %u: the matrix of joint %u off by %.4g, allowed %.4g",
                    worst->member, part->node, worst->vertex, worst->of_bound * worst->allowed,
                    worst->allowed);
}

/* Likewise for what a mesh's packing promises. unit: what the error is divided by. */
static void report_packing(pelt_report *report, const pelt_verification *v, const char *what,
                           const pelt_worst *worst, double unit, const char *unit_name)
{
    if (worst->of_bound <= 1.0) {
        return;
    }
    const pelt_part *part = &v->character->model->parts[worst->part];
    char pointer[64];
    (void)snprintf(pointer, sizeof(pointer), "/meshes/%u/primitives/%u", part->mesh,
                   part->primitive);
    (void)pelt_fail(&report->host, PELT_ERROR_FILE, v->options->open.file, pointer,
                    "packing: %s off by %.4g%s, allowed %.4g", what,
                    worst->of_bound * worst->allowed / unit, unit_name, worst->allowed / unit);
}

static void report_count(pelt_report *report, const pelt_verification *v, const char *path,
                         uint64_t wrong, const char *what)
{
    if (wrong) {
        pelt_report_error(report, v->options->open.file, "%s: %llu %s", path,
                          (unsigned long long)wrong, what);
    }
}

static void judge(pelt_report *report, pelt_verification *v)
{
    v->holds = pelt_packing_holds(&v->packing) && v->pose.of_bound <= 1.0;
    report_pose(report, v);
    report_broken(report, v, "packing", "position", &v->packing.position, false);
    report_packing(report, v, "weights", &v->packing.weights, 1.0 / 4096.0, " / 4096");
    report_packing(report, v, "directions", &v->packing.directions, 1.0 / pelt_degrees(1.0),
                   " degrees");
    for (uint32_t p = 0; p < v->path_count; p++) {
        const pelt_path_result *result = &v->results[p];
        const char *path = v->paths[p]->path;
        v->holds = v->holds && pelt_path_result_holds(result);
        report_broken(report, v, path, "position", &result->position, false);
        report_broken(report, v, path, "normal", &result->normal, true);
        report_broken(report, v, path, "tangent", &result->tangent, true);
        report_count(report, v, path, result->not_finite, "positions are not finite");
        report_count(report, v, path, result->handedness_wrong, "tangents have the wrong w");
        report_count(report, v, path, result->boxes - result->boxes_equal,
                     "boxes are not the min and max of the positions");
        report_count(report, v, path, result->joint_boxes - result->joint_boxes_hold,
                     "joint boxes do not hold the exact box");
    }
}

static pelt_result prepare(pelt_report *report, pelt_verification *v)
{
    const pelt_verify_options *options = v->options;
    pelt_result result =
        pelt_character_open(&report->host, &options->open, &v->play, &v->character);
    report->memory_hint = "--batch or --count";
    if (result == PELT_OK) {
        result = pelt_character_add_joint_boxes(v->character);
    }
    if (result == PELT_OK) {
        result = pelt_crowd_create(v->character, &v->play, options->count, &v->crowd);
    }
    return result;
}

static int verify(pelt_report *report, const pelt_verify_options *options)
{
    pelt_verification v = { .options = options };
    pelt_result result = prepare(report, &v);
    if (result == PELT_OK) {
        result = open_paths(report, &v);
    }
    if (result == PELT_OK) {
        result = compare_all(report, &v);
    }
    int code;
    if (result == PELT_OK) {
        judge(report, &v);
        if (options->json) {
            pelt_verify_print_json(report, &v);
        } else {
            pelt_verify_print_text(report, &v);
        }
        code = v.holds ? PELT_EXIT_OK : PELT_EXIT_BAD_INPUT;
    } else {
        code = pelt_report_exit(report, result);
    }
    for (uint32_t p = 0; p < v.path_count; p++) {
        pelt_backend_destroy(v.paths[p]);
    }
    pelt_crowd_destroy(v.crowd);
    pelt_character_destroy(v.character);
    return code;
}

static int run(pelt_report *report, int argc, char **argv)
{
    pelt_verify_options options = { .open = { .first_clip = true }, .count = 8 };
    const pelt_option table[] = {
        pelt_option_clip(&options.open.clip,
                         "a clip, by name or number\n(default: the first, if there is one)"),
        pelt_option_static(&options.open.fixed_pose),
        pelt_option_time(&options.open, "when the first instance is (default: 0)"),
        pelt_option_count(&options.count, "instances (default: 8)"),
        pelt_option_method(&options.open.method),
        { .name = "batch",
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help =
              "instances skinned at once, on the GPU in one dispatch\n(default: as fit 512 MiB)",
          .target = &options.batch,
          .minimum = 1,
          .maximum = 1000000 },
        pelt_option_device(&options.device, "auto (every path there is), gpu, cpu, or\n"
                                            "reference (what packing costs alone)"),
        pelt_option_json(&options.json, "print the figures as JSON"),
        { 0 },
    };
    pelt_parsed parsed =
        pelt_options_parse(report, &pelt_command_verify, table, argc, argv, &options.open.file);
    if (parsed != PELT_PARSED_RUN) {
        return parsed == PELT_PARSED_HELP ? PELT_EXIT_OK : PELT_EXIT_USAGE;
    }
    if (!pelt_open_info_check(report, &options.open)) {
        return PELT_EXIT_USAGE;
    }
    report->json = options.json;
    return verify(report, &options);
}

const pelt_command pelt_command_verify = {
    .name = "verify",
    .operand = "FILE",
    .summary = "Hold every skinning path of this machine against the reference",
    .details =
        "\n"
        "Skins instances at staggered times and places on the CPU and, if there is one, the GPU.\n"
        "For each: the worst position, normal and tangent error against the double-precision\n"
        "reference, exact boxes compared bit for bit with the positions written, and that the\n"
        "boxes from joints hold them, which they do under linear blending only. The GPU's poses\n"
        "are held against the CPU's, too. Exit code 1 if anything exceeds its bound.\n"
        "\n"
        "Of several instances each has a time and a heading of its own, and the clip repeats;\n"
        "a single one stands where the file puts it, and the clip's ends hold.\n",
    .example = "pelt verify fox.glb --count 8",
    .run = run,
};
