/* pelt study weights: what the ways to store four influences do to them. */
#include "cli/study_weights.h"

#include "cli/study.h"

typedef struct weight_options {
    pelt_option_list files;
    uint32_t vertices, seed, poses;
    const char *svg;
    bool json;
} weight_options;

enum { RANDOM_SETS = 2 };

/* Of these the plot has the distribution: as on characters. */
enum { RANDOM_PLOTTED = 1 };

static pelt_result study_all(pelt_report *report, const weight_options *options,
                             pelt_weight_report *weights)
{
    pelt_report_progress(report, "random vertices");
    pelt_weight_study_random(options->vertices, 4, options->seed, &weights->studies[0]);
    pelt_weight_study_random(options->vertices, 0, options->seed,
                             &weights->studies[RANDOM_PLOTTED]);
    weights->count = RANDOM_SETS;
    uint32_t characters = options->files.count > 0 ? options->files.count : 1;
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < characters; i++) {
        const char *path = options->files.count > 0 ? options->files.items[i] : NULL;
        report->input = path;
        if (path) {
            pelt_report_progress(report, "%u of %u: %s", i + 1, characters, path);
        } else {
            pelt_report_progress(report, "the built-in character");
        }
        result = pelt_weight_study_character(&report->host, path, options->poses,
                                             &weights->studies[weights->count]);
        weights->count += result == PELT_OK;
    }
    report->input = NULL;
    pelt_report_progress(report, NULL);
    return result;
}

static pelt_result study(pelt_report *report, const weight_options *options)
{
    const pelt_host *host = &report->host;
    pelt_weight_report weights = { .seed = options->seed, .poses_a_clip = options->poses };
    weights.studies = pelt_allocate(host, (size_t)RANDOM_SETS + options->files.count + 1,
                                    sizeof(*weights.studies));
    pelt_result result =
        weights.studies ? study_all(report, options, &weights)
                        : pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for results");
    if (result == PELT_OK && options->svg) {
        result = pelt_weight_study_plot(host, options->svg, &weights.studies[RANDOM_PLOTTED],
                                        &weights.studies[RANDOM_SETS], weights.count - RANDOM_SETS);
    }
    if (result == PELT_OK && options->json) {
        pelt_weight_report_write(report, &weights);
    } else if (result == PELT_OK) {
        pelt_weight_report_print(report, &weights);
    }
    pelt_release(host, weights.studies);
    return result;
}

static int run(pelt_report *report, int argc, char **argv)
{
    weight_options options = { .vertices = 1000000, .seed = 1, .poses = 16 };
    const pelt_option table[] = {
        { .name = "vertices",
          .letter = 'n',
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "random vertices of each kind (default: 1000000)",
          .target = &options.vertices,
          .minimum = 1,
          .maximum = 100000000 },
        { .name = "seed",
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "of the random vertices (default: 1)",
          .target = &options.seed,
          .minimum = 0,
          .maximum = UINT32_MAX },
        { .name = "poses",
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "of each clip, at even times (default: 16)",
          .target = &options.poses,
          .minimum = 1,
          .maximum = 10000 },
        { .name = "svg",
          .kind = PELT_OPTION_OUTPUT,
          .value = "OUT.svg",
          .help = "write a plot, too",
          .target = &options.svg },
        pelt_option_json(&options.json, "print JSON instead of tables"),
        { 0 },
    };
    pelt_parsed parsed =
        pelt_options_parse_files(report, &pelt_study_weights, table, argc, argv, &options.files);
    if (parsed != PELT_PARSED_RUN) {
        return parsed == PELT_PARSED_HELP ? PELT_EXIT_OK : PELT_EXIT_USAGE;
    }
    report->json = options.json;
    return pelt_report_exit(report, study(report, &options));
}

const pelt_command pelt_study_weights = {
    .name = "study weights",
    .operand = "[FILE...]",
    .summary = "Compare layouts of four weights: errors, leaks, and what they move",
    .details =
        "\n"
        "Takes random vertices, and the skinned ones of each file in poses of all its clips\n"
        "(without a file: the built-in character's). Unused slots name joint 0, as glTF has it,\n"
        "so a weight that leaks onto one pulls the vertex there.\n",
    .example = "pelt study weights fox.glb --svg weights.svg",
    .run = run,
};
