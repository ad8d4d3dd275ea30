#include "cli/options.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { HELP_COLUMN = 24, NAMES_MAX = 32, WORD_MAX = 40 };

static int lower(char c)
{
    return tolower((unsigned char)c);
}

/* Upper and lower case are alike. Edits (insert, delete, replace, swap neighbours) between two
 * short words. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1];
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length > WORD_MAX || b_length > WORD_MAX) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= b_length; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *twice_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t best = above[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
            best = above[j] + 1 < best ? above[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]) && twice_above[j - 2] + 1 < best) {
                best = twice_above[j - 2] + 1;
            }
            row[j] = best;
        }
    }
    return rows[a_length % 3][b_length];
}

const char *pelt_nearest(const char *word, const char *const *candidates)
{
    const char *nearest = NULL;
    size_t fewest = SIZE_MAX;
    for (; *candidates; candidates++) {
        size_t edits = distance(word, *candidates);
        size_t shared = strlen(word) >= 3 ? strlen(word) : SIZE_MAX;
        if (shared != SIZE_MAX && strncasecmp(word, *candidates, shared) == 0) {
            edits = 1; /* a beginning is as near as a slip of the finger */
        }
        size_t length = strlen(*candidates);
        if (edits < fewest && edits <= (length <= 4 ? 1 : length / 3 + 1)) {
            nearest = *candidates;
            fewest = edits;
        }
    }
    return nearest;
}

static void print_wrapped(const char *text, int column)
{
    for (const char *c = text; *c; c++) {
        putchar(*c);
        if (*c == '\n') {
            printf("%*s", column, "");
        }
    }
    putchar('\n');
}

static void print_option(char letter, const char *name, const char *value, const char *help)
{
    char left[64];
    (void)snprintf(left, sizeof(left), letter ? "  -%c, --%s%s%s" : "  %c   --%s%s%s",
                   letter ? letter : ' ', name, value ? " " : "", value ? value : "");
    printf("%-*s", HELP_COLUMN, left);
    if (strlen(left) >= HELP_COLUMN) {
        printf("\n%*s", HELP_COLUMN, "");
    }
    print_wrapped(help, HELP_COLUMN);
}

/* Help, and behind it the numbers that are allowed. */
static void print_described_option(const pelt_option *option)
{
    char help[512], minimum[32], maximum[32];
    bool ranged = option->kind == PELT_OPTION_COUNT || option->kind == PELT_OPTION_SIZE;
    (void)snprintf(help, sizeof(help), ranged ? "%s\n%s%s to %s" : "%s", option->help,
                   option->kind == PELT_OPTION_SIZE ? "each from " : "from ",
                   pelt_format_count(option->minimum, minimum),
                   pelt_format_count(option->maximum, maximum));
    print_option(option->letter, option->name, option->value, help);
}

static void print_help(const pelt_report *report, const pelt_command *command,
                       const pelt_option *options)
{
    const char *bold = pelt_report_style(report, PELT_BOLD);
    const char *plain = pelt_report_style(report, PELT_PLAIN);
    printf("%sUsage:%s pelt %s", bold, plain, command->name);
    if (command->operand) {
        printf(" %s", command->operand);
    }
    for (const pelt_option *option = options; option->name; option++) {
        if (option->required) {
            printf(" -%c %s", option->letter, option->value);
        }
    }
    printf(" [options]\n\n%s.\n%s\n%sOptions:%s\n", command->summary, command->details, bold,
           plain);
    for (const pelt_option *option = options; option->name; option++) {
        print_described_option(option);
    }
    print_option('h', "help", NULL, "print this");
    printf("\n%sExample:%s\n  %s\n", bold, plain, command->example);
}

pelt_option pelt_option_output(const char **target, const char *value, const char *help)
{
    return (pelt_option){ .name = "output",
                          .letter = 'o',
                          .kind = PELT_OPTION_OUTPUT,
                          .value = value,
                          .help = help,
                          .target = target,
                          .required = true };
}

pelt_option pelt_option_results(const char **target)
{
    pelt_option option = pelt_option_output(target, "OUT.json", "write the results as JSON, too");
    option.required = false;
    return option;
}

pelt_option pelt_option_rounds(uint32_t *target, const char *help)
{
    return (pelt_option){ .name = "rounds",
                          .kind = PELT_OPTION_COUNT,
                          .value = "N",
                          .help = help,
                          .target = target,
                          .minimum = 1,
                          .maximum = 101 };
}

pelt_option pelt_option_json(bool *target, const char *help)
{
    return (
        pelt_option){ .name = "json", .kind = PELT_OPTION_FLAG, .help = help, .target = target };
}

static bool parse_count(const char *text, uint32_t minimum, uint32_t maximum, uint32_t *out)
{
    uint64_t value = 0;
    if (!*text) {
        return false;
    }
    for (; *text; text++) {
        if (*text < '0' || *text > '9') {
            return false;
        }
        value = value * 10 + (uint64_t)(*text - '0');
        if (value > UINT32_MAX) {
            return false;
        }
    }
    *out = (uint32_t)value;
    return value >= minimum && value <= maximum;
}

/* What is wrong with a number, or NULL. Decimal only: strtod alone would take "nan", "0x10" and
 * leading blanks too. */
static const char *parse_number(const char *text, double *out)
{
    static const char must[] = "must be a decimal number";
    if (!*text || text[strspn(text, "0123456789+-.eE")]) {
        return must;
    }
    char *end;
    *out = strtod(text, &end);
    if (*end != 0 || end == text) {
        return must;
    }
    return isfinite(*out) ? NULL : "is out of range";
}

static bool parse_size(const char *text, uint32_t minimum, uint32_t maximum, uint32_t out[2])
{
    char first[16];
    const char *cross = strchr(text, 'x');
    if (!cross || (size_t)(cross - text) >= sizeof(first)) {
        return false;
    }
    memcpy(first, text, (size_t)(cross - text));
    first[cross - text] = 0;
    return parse_count(first, minimum, maximum, &out[0]) &&
           parse_count(cross + 1, minimum, maximum, &out[1]);
}

static bool set_choice(pelt_report *report, const pelt_option *option, const char *text)
{
    char list[128] = "";
    for (int i = 0; option->choices[i]; i++) {
        if (strcmp(option->choices[i], text) == 0) {
            *(int *)option->target = i;
            return true;
        }
        size_t used = strlen(list);
        (void)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", option->choices[i]);
    }
    const char *nearest = pelt_nearest(text, option->choices);
    pelt_report_error(report, NULL, "--%s '%s': must be one of %s%s%s%s", option->name, text, list,
                      nearest ? "; did you mean '" : "", nearest ? nearest : "",
                      nearest ? "'?" : "");
    return false;
}

static bool add_to_list(pelt_report *report, const pelt_option *option, const char *text)
{
    pelt_option_list *list = option->target;
    if (!*text) {
        pelt_report_error(report, NULL, "--%s: must not be empty", option->name);
        return false;
    }
    if (list->count == PELT_OPTION_LIST_MAX) {
        pelt_report_error(report, NULL, "--%s: given more than %d times", option->name,
                          PELT_OPTION_LIST_MAX);
        return false;
    }
    list->items[list->count++] = text;
    return true;
}

static bool set_number(pelt_report *report, const pelt_option *option, const char *text)
{
    const char *wrong = parse_number(text, option->target);
    if (wrong) {
        pelt_report_error(report, NULL, "--%s '%s': %s", option->name, text, wrong);
    }
    return !wrong;
}

static bool set_value(pelt_report *report, const pelt_option *option, const char *text)
{
    switch (option->kind) {
    case PELT_OPTION_FLAG:
        break;
    case PELT_OPTION_TEXT:
    case PELT_OPTION_OUTPUT:
        if (!*text) {
            pelt_report_error(report, NULL, "--%s: must not be empty", option->name);
            return false;
        }
        *(const char **)option->target = text;
        break;
    case PELT_OPTION_COUNT:
        if (!parse_count(text, option->minimum, option->maximum, option->target)) {
            pelt_report_error(report, NULL, "--%s '%s': must be a whole number from %u to %u",
                              option->name, text, option->minimum, option->maximum);
            return false;
        }
        break;
    case PELT_OPTION_NUMBER:
        return set_number(report, option, text);
    case PELT_OPTION_SIZE:
        if (!parse_size(text, option->minimum, option->maximum, option->target)) {
            pelt_report_error(report, NULL,
                              "--%s '%s': must be WIDTHxHEIGHT, each from %u to %u pixels",
                              option->name, text, option->minimum, option->maximum);
            return false;
        }
        break;
    case PELT_OPTION_CHOICE:
        return set_choice(report, option, text);
    case PELT_OPTION_LIST:
        return add_to_list(report, option, text);
    }
    return true;
}

static void report_unknown(pelt_report *report, const pelt_command *command,
                           const pelt_option *options, const char *word, size_t length)
{
    const char *names[NAMES_MAX] = { "help" };
    for (size_t i = 0; options[i].name && i + 2 < NAMES_MAX; i++) {
        names[i + 1] = options[i].name;
    }
    char name[WORD_MAX + 1];
    (void)snprintf(name, sizeof(name), "%.*s", (int)length, word);
    const char *nearest = pelt_nearest(name, names);
    if (nearest) {
        pelt_report_error(report, NULL, "unknown option '--%s'; did you mean '--%s'?", name,
                          nearest);
    } else {
        pelt_report_error(report, NULL, "unknown option '--%s'; see 'pelt %s --help'", name,
                          command->name);
    }
}

/* The option that argument names, or NULL having said so. *value: what follows '=' or the letter.
 */
static const pelt_option *find_option(pelt_report *report, const pelt_command *command,
                                      const pelt_option *options, const char *argument,
                                      const char **value)
{
    *value = NULL;
    if (argument[1] != '-') {
        for (const pelt_option *option = options; option->name; option++) {
            if (option->letter && option->letter == argument[1]) {
                *value = argument[2] ? argument + 2 : NULL;
                return option;
            }
        }
        pelt_report_error(report, NULL, "unknown option '%s'; see 'pelt %s --help'", argument,
                          command->name);
        return NULL;
    }
    const char *word = argument + 2;
    size_t length = strcspn(word, "=");
    for (const pelt_option *option = options; option->name; option++) {
        if (strlen(option->name) == length && strncmp(option->name, word, length) == 0) {
            *value = word[length] ? word + length + 1 : NULL;
            return option;
        }
    }
    report_unknown(report, command, options, word, length);
    return NULL;
}

static bool is_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

/* One option at argv[*i], with its value. */
static bool parse_option(pelt_report *report, const pelt_command *command,
                         const pelt_option *options, int argc, char **argv, int *i,
                         const pelt_option **found)
{
    const char *value;
    const pelt_option *option = find_option(report, command, options, argv[*i], &value);
    *found = option;
    if (!option) {
        return false;
    }
    if (option->kind == PELT_OPTION_FLAG) {
        if (value) {
            pelt_report_error(report, NULL, "--%s takes no value", option->name);
            return false;
        }
        *(bool *)option->target = true;
        return true;
    }
    if (!value) {
        if (*i + 1 >= argc) {
            pelt_report_error(report, NULL, "--%s needs a value: %s", option->name, option->value);
            return false;
        }
        value = argv[++*i];
    }
    return set_value(report, option, value);
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* Whether the file to write is another one than the operand, and named as what it becomes: like
 * option->value, which is "OUT.glb" or the like, or without an extension. */
static bool check_output(pelt_report *report, const pelt_option *option,
                         const pelt_option_list *operands)
{
    const char *path = *(const char **)option->target;
    if (!path) {
        return true;
    }
    if (strcmp(path, "-") == 0) {
        pelt_report_error(report, NULL, "--%s '-': must be a file, not the standard output",
                          option->name);
        return false;
    }
    for (uint32_t i = 0; i < operands->count; i++) {
        if (is_same_file(operands->items[i], path)) {
            pelt_report_error(report, NULL, "--%s '%s': is the input itself", option->name, path);
            return false;
        }
    }
    const char *slash = strrchr(path, '/');
    const char *extension = strrchr(slash ? slash + 1 : path, '.');
    const char *wanted = strrchr(option->value, '.');
    bool other = extension && option->extension && strcasecmp(extension, option->extension) == 0;
    if (extension && wanted && !other && strcasecmp(extension, wanted) != 0) {
        pelt_report_error(report, NULL, "--%s '%s': must end in %s, which is what is written",
                          option->name, path, wanted);
        return false;
    }
    return true;
}

static bool add_operand(pelt_report *report, const pelt_command *command, const char *word,
                        uint32_t most, pelt_option_list *operands)
{
    if (!command->operand) {
        pelt_report_error(report, NULL, "pelt %s takes no file: '%s'", command->name, word);
        return false;
    }
    if (operands->count == most && most == 1) {
        pelt_report_error(report, NULL, "pelt %s takes one %s; '%s' is too many", command->name,
                          command->operand, word);
        return false;
    }
    if (operands->count == most) {
        pelt_report_error(report, NULL, "pelt %s takes %u files; '%s' is too many", command->name,
                          most, word);
        return false;
    }
    operands->items[operands->count++] = word;
    return true;
}

/* Whether all that is required was given, and outputs can be what they are to be. given: a bit for
 * each option. */
static bool check_given(pelt_report *report, const pelt_command *command,
                        const pelt_option *options, uint32_t given,
                        const pelt_option_list *operands)
{
    for (const pelt_option *option = options; option->name; option++) {
        if (option->required && !(given >> (option - options) & 1)) {
            pelt_report_error(report, NULL, "pelt %s needs -%c %s", command->name, option->letter,
                              option->value);
            return false;
        }
        if (option->kind == PELT_OPTION_OUTPUT && !check_output(report, option, operands)) {
            return false;
        }
    }
    return true;
}

static pelt_parsed parse(pelt_report *report, const pelt_command *command,
                         const pelt_option *options, int argc, char **argv, uint32_t least,
                         uint32_t most, pelt_option_list *operands)
{
    uint32_t given = 0;
    bool only_operands = false;
    operands->count = 0;
    for (int i = 0; i < argc; i++) {
        if (!only_operands && is_help(argv[i])) {
            print_help(report, command, options);
            return PELT_PARSED_HELP;
        }
        if (!only_operands && strcmp(argv[i], "--") == 0) {
            only_operands = true;
        } else if (!only_operands && argv[i][0] == '-' && argv[i][1]) {
            const pelt_option *option;
            if (!parse_option(report, command, options, argc, argv, &i, &option)) {
                return PELT_PARSED_ERROR;
            }
            given |= 1u << (option - options);
            if (option->given) {
                *option->given = true;
            }
        } else if (!add_operand(report, command, argv[i], most, operands)) {
            return PELT_PARSED_ERROR;
        }
    }
    for (uint32_t i = 0; i < operands->count || i < least; i++) {
        if (i >= operands->count || !*operands->items[i]) {
            pelt_report_error(report, NULL, "pelt %s needs a %s; see 'pelt %s --help'",
                              command->name, least ? command->operand : "file's name",
                              command->name);
            return PELT_PARSED_ERROR;
        }
    }
    return check_given(report, command, options, given, operands) ? PELT_PARSED_RUN
                                                                  : PELT_PARSED_ERROR;
}

pelt_parsed pelt_options_parse(pelt_report *report, const pelt_command *command,
                               const pelt_option *options, int argc, char **argv,
                               const char **operand)
{
    pelt_option_list operands;
    pelt_parsed parsed =
        parse(report, command, options, argc, argv, command->operand ? 1 : 0, 1, &operands);
    *operand = operands.count > 0 ? operands.items[0] : NULL;
    if (parsed == PELT_PARSED_RUN) {
        report->input = *operand;
    }
    return parsed;
}

pelt_parsed pelt_options_parse_files(pelt_report *report, const pelt_command *command,
                                     const pelt_option *options, int argc, char **argv,
                                     pelt_option_list *operands)
{
    return parse(report, command, options, argc, argv, 0, PELT_OPTION_LIST_MAX, operands);
}
