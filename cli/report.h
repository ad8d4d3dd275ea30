/* What the tool says: errors and warnings on stderr, progress on a terminal only, and the exit
 * codes. One line a message: "pelt: error: FILE: /pointer: text". */
#ifndef PELT_CLI_REPORT_H
#define PELT_CLI_REPORT_H

#include "base/base.h"
#include "cli/json.h"

enum {
    PELT_EXIT_OK = 0,
    PELT_EXIT_BAD_INPUT = 1, /* or output that cannot be written, or a broken bound */
    PELT_EXIT_USAGE = 2,
    PELT_EXIT_NO_DEVICE = 3
};

typedef struct pelt_report_message {
    pelt_severity severity;
    char *file, *pointer, *text; /* file and pointer may be NULL */
} pelt_report_message;

typedef struct pelt_report {
    pelt_host host;    /* what the library is given: messages arrive here */
    const char *input; /* what messages about an object of some file are about, or NULL */
    bool json;         /* stdout is JSON and nothing else */

    const char *memory_hint; /* options that take less memory where they are less, or NULL */

    /* That there is no device is kept in no_device instead of printed; all else still is. */
    bool mute_no_device;
    char no_device[1024];

    uint32_t error_count;
    uint32_t message_count;
    pelt_report_message *messages; /* as printed */
    bool colour_output, colour_errors, progress;
    bool progress_shown;
} pelt_report;

void pelt_report_begin(pelt_report *report);
void pelt_report_end(pelt_report *report);

/* An error of the tool itself: NULL file for none. Prints like the library's. */
void pelt_report_error(pelt_report *report, const char *file, const char *format, ...)
    PELT_PRINTF(3, 4);

/* The exit code that goes with a result. In JSON mode, what failed is also written to stdout. */
int pelt_report_exit(pelt_report *report, pelt_result result);

/* A line that is overwritten by the next one, on a terminal only; NULL clears it. */
void pelt_report_progress(pelt_report *report, const char *format, ...) PELT_PRINTF(2, 3);

/* The warnings so far, as a member "warnings" of the object being written. */
void pelt_report_warnings(const pelt_report *report, pelt_json *json);

/* Flushes stdout; false, with an error, if it could not be written (a full disk, a closed pipe). */
bool pelt_report_flush(pelt_report *report);

/* Escape sequences for stdout, "" where it is not a terminal. */
typedef enum pelt_style { PELT_PLAIN, PELT_BOLD, PELT_RED, PELT_GREEN, PELT_YELLOW } pelt_style;
const char *pelt_report_style(const pelt_report *report, pelt_style style);

/* The text, or where it is longer than so many bytes its beginning up to the end of a character in
 * UTF-8, and "...". buffer: most + 4. */
const char *pelt_shorten(const char *text, size_t most, char *buffer);

/* Prints text that came from a file: control characters become '?'. */
void pelt_print_safe(FILE *stream, const char *text);

static inline double pelt_degrees(double radians)
{
    return radians * 57.29577951308232;
}

/* What makes a word one of so many: "1 joint", "2 joints". */
static inline const char *pelt_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* 1234567 as "1,234,567"; buffer of 32. */
const char *pelt_format_count(uint64_t count, char buffer[32]);

/* Bytes as "12.3 MB"; buffer of 32. */
const char *pelt_format_bytes(uint64_t bytes, char buffer[32]);

#endif
