/* The command line: each subcommand describes its options in a table; parsing and help read it. */
#ifndef PELT_CLI_OPTIONS_H
#define PELT_CLI_OPTIONS_H

#include "cli/report.h"

typedef enum pelt_option_kind {
    PELT_OPTION_FLAG,   /* bool */
    PELT_OPTION_TEXT,   /* const char * */
    PELT_OPTION_OUTPUT, /* const char *, a file with value's extension and not the operand itself */
    PELT_OPTION_COUNT,  /* uint32_t, from minimum to maximum */
    PELT_OPTION_NUMBER, /* double, finite */
    PELT_OPTION_SIZE,   /* uint32_t[2], as WxH, each from minimum to maximum */
    PELT_OPTION_CHOICE, /* int, an index into the choices */
    PELT_OPTION_LIST    /* pelt_option_list: may be given several times */
} pelt_option_kind;

enum { PELT_OPTION_LIST_MAX = 64 };

typedef struct pelt_option_list {
    uint32_t count;
    const char *items[PELT_OPTION_LIST_MAX];
} pelt_option_list;

typedef struct pelt_option {
    const char *name; /* without dashes */
    char letter;      /* or 0 */
    pelt_option_kind kind;
    const char *value; /* what help calls the value; NULL for flags */
    const char *help;  /* may have several lines */
    void *target;      /* holds the default before parsing */
    uint32_t minimum, maximum;
    const char *const *choices; /* ends with NULL */
    const char *extension;      /* of an output: another one than value's that may be; or NULL */
    bool required;
    bool *given; /* becomes true where the option is given; or NULL */
} pelt_option;

typedef struct pelt_command {
    const char *name;
    const char *operand; /* "FILE"; "[FILE...]": any number; or NULL: none */
    const char *summary; /* one line */
    const char *details; /* paragraphs for its own help */
    const char *example;
    int (*run)(pelt_report *report, int argc, char **argv);
} pelt_command;

extern const pelt_command pelt_command_info, pelt_command_skin, pelt_command_render,
    pelt_command_bake, pelt_command_verify, pelt_command_sample, pelt_command_bench,
    pelt_command_study;

typedef enum pelt_parsed {
    PELT_PARSED_RUN,
    PELT_PARSED_HELP, /* help was printed: exit with 0 */
    PELT_PARSED_ERROR /* said so: exit with PELT_EXIT_USAGE */
} pelt_parsed;

/* Options that several commands have. */
pelt_option pelt_option_output(const char **target, const char *value, const char *help);
pelt_option pelt_option_results(const char **target); /* --output, which may be left out */
pelt_option pelt_option_rounds(uint32_t *target, const char *help);
pelt_option pelt_option_json(bool *target, const char *help);

/* Parses what follows the subcommand's name. options ends with an option without a name; --help
 * is understood everywhere. *operand: what is not an option, required if the command has one; it
 * becomes report->input. */
pelt_parsed pelt_options_parse(pelt_report *report, const pelt_command *command,
                               const pelt_option *options, int argc, char **argv,
                               const char **operand);

/* The same for a command of any number of operands. report->input stays as it is. */
pelt_parsed pelt_options_parse_files(pelt_report *report, const pelt_command *command,
                                     const pelt_option *options, int argc, char **argv,
                                     pelt_option_list *operands);

/* Of the candidates, which end with NULL, the one nearest to a mistyped word; NULL if none is
 * near. */
const char *pelt_nearest(const char *word, const char *const *candidates);

#endif
