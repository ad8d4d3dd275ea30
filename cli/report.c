#include "cli/report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const styles[] = { "\033[0m", "\033[1m", "\033[31m", "\033[32m", "\033[33m" };

static bool wants_colour(int descriptor)
{
    const char *terminal = getenv("TERM");
    const char *no_colour = getenv("NO_COLOR");
    return isatty(descriptor) && !(no_colour && *no_colour) && terminal &&
           strcmp(terminal, "dumb") != 0;
}

const char *pelt_shorten(const char *text, size_t most, char *buffer)
{
    if (strlen(text) <= most) {
        return text;
    }
    while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80) {
        most--;
    }
    memcpy(buffer, text, most);
    memcpy(buffer + most, "...", 4);
    return buffer;
}

void pelt_print_safe(FILE *stream, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        /* U+0080 to U+009F, which terminals may obey as well, are 0xc2 and that byte in UTF-8. */
        bool upper = c[0] == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f;
        fputc(*c < 0x20 || *c == 0x7f || upper ? '?' : *c, stream);
        c += upper;
    }
}

static void print_message(pelt_report *report, const pelt_message *message)
{
    pelt_report_progress(report, NULL);
    bool error = message->severity == PELT_ERROR;
    fputs("pelt: ", stderr);
    if (report->colour_errors) {
        fputs(styles[PELT_BOLD], stderr);
        fputs(styles[error ? PELT_RED : PELT_YELLOW], stderr);
    }
    fputs(error ? "error:" : "warning:", stderr);
    fputs(report->colour_errors ? styles[PELT_PLAIN] : "", stderr);
    fputc(' ', stderr);
    if (message->file && *message->file) {
        pelt_print_safe(stderr, message->file);
        fputs(": ", stderr);
    }
    if (message->pointer && *message->pointer) {
        pelt_print_safe(stderr, message->pointer);
        fputs(": ", stderr);
    }
    pelt_print_safe(stderr, message->text);
    fputc('\n', stderr);
}

static void receive(void *user, const pelt_message *received)
{
    pelt_report *report = user;
    pelt_message named = *received;
    if (!named.file && named.pointer) {
        named.file = report->input; /* poses, for one, know their model but no file */
    }
    char hinted[1280];
    if (report->memory_hint && named.result == PELT_ERROR_MEMORY) {
        (void)snprintf(hinted, sizeof(hinted), "%s; try a smaller %s", named.text,
                       report->memory_hint);
        named.text = hinted;
    }
    const pelt_message *message = &named;
    if (report->mute_no_device && message->result == PELT_ERROR_DEVICE) {
        (void)snprintf(report->no_device, sizeof(report->no_device), "%s", message->text);
        return;
    }
    print_message(report, message);
    report->error_count += message->severity == PELT_ERROR;
    /* Kept for the JSON; a message that finds no memory was still printed. */
    if ((report->message_count & (report->message_count - 1)) == 0) {
        size_t room = report->message_count ? 2 * (size_t)report->message_count : 1;
        pelt_report_message *messages = realloc(report->messages, room * sizeof(*messages));
        if (!messages) {
            return;
        }
        report->messages = messages;
    }
    report->messages[report->message_count++] =
        (pelt_report_message){ .severity = message->severity,
                               .file = message->file ? strdup(message->file) : NULL,
                               .pointer = message->pointer ? strdup(message->pointer) : NULL,
                               .text = strdup(message->text) };
}

void pelt_report_begin(pelt_report *report)
{
    *report = (pelt_report){ .colour_output = wants_colour(STDOUT_FILENO),
                             .colour_errors = wants_colour(STDERR_FILENO),
                             .progress = isatty(STDERR_FILENO) };
    report->host = (pelt_host){ .user = report, .message = receive };
}

void pelt_report_end(pelt_report *report)
{
    pelt_report_progress(report, NULL);
    for (uint32_t i = 0; i < report->message_count; i++) {
        free(report->messages[i].file);
        free(report->messages[i].pointer);
        free(report->messages[i].text);
    }
    free(report->messages);
}

void pelt_report_error(pelt_report *report, const char *file, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    receive(report, &(pelt_message){ .severity = PELT_ERROR, .file = file, .text = text });
}

static void write_messages(const pelt_report *report, pelt_json *json, const char *key,
                           pelt_severity severity)
{
    pelt_json_list(json, key);
    for (uint32_t i = 0; i < report->message_count; i++) {
        const pelt_report_message *message = &report->messages[i];
        if (message->severity == severity) {
            pelt_json_object_line(json, NULL);
            pelt_json_text(json, "file", message->file);
            pelt_json_text(json, "pointer", message->pointer);
            pelt_json_text(json, "text", message->text);
            pelt_json_close(json);
        }
    }
    pelt_json_close(json);
}

void pelt_report_warnings(const pelt_report *report, pelt_json *json)
{
    write_messages(report, json, "warnings", PELT_WARNING);
}

int pelt_report_exit(pelt_report *report, pelt_result result)
{
    pelt_report_progress(report, NULL);
    if (result == PELT_OK) {
        return PELT_EXIT_OK;
    }
    if (report->error_count == 0) { /* never fail in silence */
        (void)pelt_fail(&report->host, result, report->input, NULL, "%s",
                        pelt_result_string(result));
    }
    if (report->json) {
        pelt_json json;
        pelt_json_begin(&json, stdout);
        write_messages(report, &json, "errors", PELT_ERROR);
        write_messages(report, &json, "warnings", PELT_WARNING);
        pelt_json_end(&json);
        (void)pelt_report_flush(report);
    }
    return result == PELT_ERROR_DEVICE || result == PELT_ERROR_VULKAN ? PELT_EXIT_NO_DEVICE
                                                                      : PELT_EXIT_BAD_INPUT;
}

void pelt_report_progress(pelt_report *report, const char *format, ...)
{
    if (!report->progress || (!format && !report->progress_shown)) {
        return;
    }
    fputs("\r\033[K", stderr);
    report->progress_shown = format != NULL;
    if (format) {
        va_list arguments;
        va_start(arguments, format);
        vfprintf(stderr, format, arguments);
        va_end(arguments);
    }
    fflush(stderr);
}

bool pelt_report_flush(pelt_report *report)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return true;
    }
    pelt_report_error(report, NULL, "cannot write to the standard output");
    return false;
}

const char *pelt_report_style(const pelt_report *report, pelt_style style)
{
    return report->colour_output ? styles[style] : "";
}

const char *pelt_format_count(uint64_t count, char buffer[32])
{
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
    char *out = buffer;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            *out++ = ',';
        }
        *out++ = digits[i];
    }
    *out = 0;
    return buffer;
}

const char *pelt_format_bytes(uint64_t bytes, char buffer[32])
{
    static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB" };
    double value = (double)bytes;
    int unit = 0;
    while (value >= 999.5 && unit < 4) {
        value /= 1000.0;
        unit++;
    }
    (void)snprintf(buffer, 32, unit == 0 || value >= 99.95 ? "%.0f %s" : "%.1f %s", value,
                   units[unit]);
    return buffer;
}
