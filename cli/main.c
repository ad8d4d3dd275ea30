/* pelt: the command-line tool. */
#include "cli/options.h"

#include <string.h>

static const pelt_command *const commands[] = {
    &pelt_command_info,   &pelt_command_skin,   &pelt_command_render, &pelt_command_bake,
    &pelt_command_verify, &pelt_command_sample, &pelt_command_bench,  &pelt_command_study,
};
enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static const pelt_command *find_command(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i]->name, name) == 0) {
            return commands[i];
        }
    }
    return NULL;
}

static void print_usage(FILE *stream, const char *bold, const char *plain)
{
    fprintf(stream,
            "pelt %s: skins animated glTF characters on the GPU and the CPU.\n\n"
            "%sUsage:%s pelt COMMAND FILE [options]\n\n%sCommands:%s\n",
            pelt_version(), bold, plain, bold, plain);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        fprintf(stream, "  %-8s  %s\n", commands[i]->name, commands[i]->summary);
    }
    fprintf(stream,
            "\n'pelt COMMAND --help' tells more; 'pelt --version' prints the version.\n\n"
            "%sExit codes:%s\n"
            "  0  done\n"
            "  1  bad input, output that cannot be written, too little memory (of the GPU, too),\n"
            "     or a bound that does not hold\n"
            "  2  the command line is wrong\n"
            "  3  no Vulkan device, or it lacks a feature\n",
            bold, plain);
}

static int unknown_command(pelt_report *report, const char *word)
{
    const char *names[COMMAND_COUNT + 1];
    for (int i = 0; i < COMMAND_COUNT; i++) {
        names[i] = commands[i]->name;
    }
    names[COMMAND_COUNT] = NULL;
    const char *nearest = pelt_nearest(word, names);
    if (nearest) {
        pelt_report_error(report, NULL, "unknown command '%s'; did you mean '%s'?", word, nearest);
    } else {
        pelt_report_error(report, NULL, "unknown command '%s'; see 'pelt --help'", word);
    }
    return PELT_EXIT_USAGE;
}

static int run(pelt_report *report, int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr, "", "");
        return PELT_EXIT_USAGE;
    }
    const char *word = argv[1];
    bool help = strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
    if (help && argc == 2) {
        print_usage(stdout, pelt_report_style(report, PELT_BOLD),
                    pelt_report_style(report, PELT_PLAIN));
        return PELT_EXIT_OK;
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        printf("pelt %s\n", pelt_version());
        return PELT_EXIT_OK;
    }
    if (help) { /* pelt help COMMAND is pelt COMMAND --help */
        const pelt_command *command = find_command(argv[2]);
        static char option[] = "--help";
        return command ? command->run(report, 1, (char *[]){ option })
                       : unknown_command(report, argv[2]);
    }
    const pelt_command *command = find_command(word);
    return command ? command->run(report, argc - 2, argv + 2) : unknown_command(report, word);
}

int main(int argc, char **argv)
{
    pelt_report report;
    pelt_report_begin(&report);
    int code = run(&report, argc, argv);
    if (code == PELT_EXIT_OK && report.error_count) {
        code = PELT_EXIT_BAD_INPUT; /* the validation layers found something */
    }
    if (!pelt_report_flush(&report) && code == PELT_EXIT_OK) {
        code = PELT_EXIT_BAD_INPUT;
    }
    pelt_report_end(&report);
    return code;
}
