/* pelt sample: the built-in character as a file. */
#include "sample/sample.h"
#include "cli/options.h"

#include <pelt/gltf.h>

typedef struct sample_options {
    const char *output;
    uint32_t vertices, joints;
    bool json;
} sample_options;

static uint64_t vertex_total(const pelt_model *model)
{
    uint64_t total = 0;
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        for (uint32_t p = 0; p < model->meshes[m].primitive_count; p++) {
            total += model->meshes[m].primitives[p].vertex_count;
        }
    }
    return total;
}

static void print_result(const pelt_report *report, const sample_options *options,
                         const pelt_model *model)
{
    uint64_t vertices = vertex_total(model);
    uint32_t joints = model->skin_count ? model->skins[0].joint_count : 0;
    if (options->json) {
        pelt_json json;
        pelt_json_begin(&json, stdout);
        pelt_json_text(&json, "output", options->output);
        pelt_json_integer(&json, "vertices", (int64_t)vertices);
        pelt_json_integer(&json, "joints", joints);
        pelt_json_list(&json, "clips");
        for (uint32_t i = 0; i < model->clip_count; i++) {
            pelt_json_text(&json, NULL, model->clips[i].name);
        }
        pelt_json_close(&json);
        pelt_report_warnings(report, &json);
        pelt_json_end(&json);
        return;
    }
    char count[32], joint_count[32];
    pelt_print_safe(stdout, options->output);
    printf(": %s vertices, %s joint%s, clips", pelt_format_count(vertices, count),
           pelt_format_count(joints, joint_count), pelt_plural(joints));
    for (uint32_t i = 0; i < model->clip_count; i++) {
        printf("%s %s", i ? "," : "", model->clips[i].name);
    }
    printf("\n");
}

static pelt_result sample(pelt_report *report, const sample_options *options)
{
    pelt_model *model;
    pelt_result result = pelt_sample_create(
        &report->host,
        &(pelt_sample_info){ .vertices = options->vertices, .joints = options->joints }, &model);
    if (result != PELT_OK) {
        return result;
    }
    result = pelt_gltf_write(&report->host, model, options->output);
    if (result == PELT_OK) {
        print_result(report, options, model);
    }
    pelt_model_destroy(model);
    return result;
}

static int run(pelt_report *report, int argc, char **argv)
{
    sample_options options = { 0 };
    const char *operand;
    const pelt_option table[] = {
        pelt_option_output(&options.output, "OUT.glb", "the file to write"),
        { .name = "vertices",
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "how many vertices, within 3 % (default: 8000)",
          .target = &options.vertices,
          .minimum = PELT_SAMPLE_VERTICES_MIN,
          .maximum = PELT_SAMPLE_VERTICES_MAX },
        { .name = "joints",
          .kind = PELT_OPTION_COUNT,
          .value = "J",
          .help = "how many joints, exactly (default: 30)",
          .target = &options.joints,
          .minimum = 1,
          .maximum = PELT_SAMPLE_JOINTS_MAX },
        pelt_option_json(&options.json, "print what was made as JSON"),
        { 0 },
    };
    pelt_parsed parsed =
        pelt_options_parse(report, &pelt_command_sample, table, argc, argv, &operand);
    if (parsed != PELT_PARSED_RUN) {
        return parsed == PELT_PARSED_HELP ? PELT_EXIT_OK : PELT_EXIT_USAGE;
    }
    report->json = options.json;
    return pelt_report_exit(report, sample(report, &options));
}

const pelt_command pelt_command_sample = {
    .name = "sample",
    .operand = NULL,
    .summary = "Make the built-in character: a skinned, animated .glb to try things on",
    .details = "\nThe same options always make the same file.\n",
    .example = "pelt sample -o sample.glb --vertices 50000",
    .run = run,
};
