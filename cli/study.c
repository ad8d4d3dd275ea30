/* pelt study NAME: finds the study and hands it the rest of the command line. */
#include "cli/study.h"

#include <string.h>

static const struct {
    const char *name;
    const pelt_command *command; /* its name is "study NAME" */
} studies[] = {
    { "squash", &pelt_study_squash },
    { "weights", &pelt_study_weights },
    { "crossover", &pelt_study_crossover },
    { "twist", &pelt_study_twist },
};
enum { STUDY_COUNT = sizeof(studies) / sizeof(studies[0]) };

static void print_studies(const pelt_report *report)
{
    const char *bold = pelt_report_style(report, PELT_BOLD);
    const char *plain = pelt_report_style(report, PELT_PLAIN);
    printf("%sUsage:%s pelt study NAME [options]\n\n%s.\n\n%sStudies:%s\n", bold, plain,
           pelt_command_study.summary, bold, plain);
    for (int i = 0; i < STUDY_COUNT; i++) {
        printf("  %-10s  %s\n", studies[i].name, studies[i].command->summary);
    }
    printf("\n'pelt study NAME --help' tells more.%s\n\n%sExample:%s\n  %s\n",
           pelt_command_study.details, bold, plain, pelt_command_study.example);
}

static int unknown_study(pelt_report *report, const char *word)
{
    const char *names[STUDY_COUNT + 1] = { 0 };
    for (int i = 0; i < STUDY_COUNT; i++) {
        names[i] = studies[i].name;
    }
    const char *nearest = pelt_nearest(word, names);
    if (nearest) {
        pelt_report_error(report, NULL, "unknown study '%s'; did you mean '%s'?", word, nearest);
    } else {
        pelt_report_error(report, NULL, "unknown study '%s'; see 'pelt study --help'", word);
    }
    return PELT_EXIT_USAGE;
}

static int run(pelt_report *report, int argc, char **argv)
{
    for (int i = 0; i < STUDY_COUNT && argc > 0; i++) {
        if (strcmp(studies[i].name, argv[0]) == 0) {
            return studies[i].command->run(report, argc - 1, argv + 1);
        }
    }
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_studies(report);
            return PELT_EXIT_OK;
        }
    }
    if (argc == 0) {
        pelt_report_error(report, NULL, "pelt study needs a NAME; see 'pelt study --help'");
        return PELT_EXIT_USAGE;
    }
    return unknown_study(report, argv[0]);
}

const pelt_command pelt_command_study = {
    .name = "study",
    .operand = "NAME",
    .summary = "Work out what a choice costs: errors and times, with pictures of them",
    .details = "",
    .example = "pelt study squash",
    .run = run,
};
