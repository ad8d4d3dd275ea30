/* The bytes behind a URI: base64 within it, or a file in the glTF's folder or below. */
#include "reader.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void explain(char *problem, const char *format, ...) PELT_PRINTF(2, 3);

static void explain(char *problem, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(problem, PELT_GLTF_PROBLEM_SIZE, format, arguments);
    va_end(arguments);
}

static int base64_value(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The next byte of a URI, percent escapes undone; 0 for an invalid one, which also is what %00
 * gives: nothing here may hold it. */
static char next_byte(const char **uri)
{
    char byte = *(*uri)++;
    if (byte != '%') {
        return byte;
    }
    int high = hex_value((*uri)[0]), low = high >= 0 ? hex_value((*uri)[1]) : -1;
    if (low < 0) {
        return 0;
    }
    *uri += 2;
    return (char)(high << 4 | low);
}

/* Strict, as RFC 4648 has it: whole groups of four, padding at the end only. */
static pelt_result decode_base64(pelt_gltf_reader *reader, const char *text, uint8_t **bytes,
                                 size_t *size, char *problem)
{
    uint8_t *out = pelt_reallocate(reader->host, NULL, strlen(text) / 4 * 3 + 3);
    if (!out) {
        explain(problem, "no memory for %zu characters of base64 data", strlen(text));
        return PELT_ERROR_MEMORY;
    }
    uint32_t group = 0;
    size_t count = 0, padding = 0, written = 0;
    for (; *text; count++) {
        char c = next_byte(&text);
        int value = c == '=' ? 0 : padding ? -1 : base64_value(c);
        padding += c == '=';
        if (value < 0 || padding > 2) {
            explain(problem, "character %zu of the base64 data is not one of base64", count);
            goto fail;
        }
        group = group << 6 | (uint32_t)value;
        if (count % 4 == 3) {
            out[written++] = (uint8_t)(group >> 16);
            out[written++] = (uint8_t)(group >> 8);
            out[written++] = (uint8_t)group;
            group = 0;
        }
    }
    if (count % 4 != 0) {
        explain(problem, "the base64 data has %zu characters, not a multiple of 4", count);
        goto fail;
    }
    *bytes = out;
    *size = written - padding;
    return PELT_OK;
fail:
    pelt_release(reader->host, out);
    return PELT_ERROR_FILE;
}

/* Both the scheme and the marker are the same in any case of letters. */
static bool is_data(const char *uri)
{
    return strncasecmp(uri, "data:", 5) == 0;
}

static pelt_result fetch_data(pelt_gltf_reader *reader, const char *uri, uint8_t **bytes,
                              size_t *size, char *problem)
{
    static const char marker[] = ";base64";
    const char *comma = strchr(uri, ',');
    size_t marker_size = sizeof(marker) - 1;
    if (!comma || (size_t)(comma - uri) < 5 + marker_size ||
        strncasecmp(comma - marker_size, marker, marker_size) != 0) {
        explain(problem, "the data URI is not a base64 one");
        return PELT_ERROR_FILE;
    }
    return decode_base64(reader, comma + 1, bytes, size, problem);
}

/* A scheme is a letter, then letters, digits, '+', '-' or '.', then a colon. */
static bool has_scheme(const char *uri)
{
    size_t i = 0;
    while (
        (uri[i] >= 'a' && uri[i] <= 'z') || (uri[i] >= 'A' && uri[i] <= 'Z') ||
        (i > 0 && ((uri[i] >= '0' && uri[i] <= '9') || strchr("+-.", uri[i]) != NULL) && uri[i])) {
        i++;
    }
    return i > 0 && uri[i] == ':';
}

/* Percent-decodes a relative path; false with a problem if it could leave the folder. */
static bool decode_path(const char *uri, char *path, size_t capacity, char *problem)
{
    size_t length = 0;
    while (*uri) {
        char byte = next_byte(&uri);
        if (!byte) {
            explain(problem, "the URI has an invalid percent escape");
            return false;
        }
        if (length + 1 >= capacity) {
            explain(problem, "the URI is too long");
            return false;
        }
        path[length++] = byte;
    }
    path[length] = 0;
    if (length == 0) {
        explain(problem, "the URI is empty");
        return false;
    }
    if (path[0] == '/' || path[0] == '\\') {
        explain(problem,
                "the path %.100s is absolute; only files in the folder of the glTF are read", path);
        return false;
    }
    for (const char *part = path; part;) {
        const char *end = part + strcspn(part, "/\\");
        if (end - part == 2 && part[0] == '.' && part[1] == '.') {
            explain(problem,
                    "the path %.100s leads upwards; only files in the folder of the glTF are read",
                    path);
            return false;
        }
        part = *end ? end + 1 : NULL;
    }
    return true;
}

static pelt_result fetch_file(pelt_gltf_reader *reader, const char *uri, uint8_t **bytes,
                              size_t *size, char *problem)
{
    if (has_scheme(uri)) {
        explain(problem, "the URI %.100s has a scheme; only data: and files in the folder are read",
                uri);
        return PELT_ERROR_FILE;
    }
    char relative[PATH_MAX], joined[2 * PATH_MAX], folder[PATH_MAX], path[PATH_MAX];
    if (!decode_path(uri, relative, sizeof(relative), problem)) {
        return PELT_ERROR_FILE;
    }
    if (!reader->folder) {
        explain(problem, "%.100s is a file of its own, and there is no folder to look in",
                relative);
        return PELT_ERROR_IO;
    }
    int length = snprintf(joined, sizeof(joined), "%s/%s", reader->folder, relative);
    if (length < 0 || (size_t)length >= sizeof(joined) || !realpath(reader->folder, folder) ||
        !realpath(joined, path)) {
        explain(problem, "cannot open %.100s: %s", relative, strerror(errno));
        return PELT_ERROR_IO;
    }
    /* Links are followed only within the folder. */
    size_t folder_length = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
    if (strncmp(path, folder, folder_length) != 0 || path[folder_length] != '/') {
        explain(problem, "%.100s is a link that leaves the folder of the glTF", relative);
        return PELT_ERROR_FILE;
    }
    pelt_host quiet = { 0 }; /* the problem is told by who asked */
    if (reader->host) {
        quiet = *reader->host;
        quiet.message = NULL;
    }
    pelt_result result = pelt_file_read(&quiet, path, bytes, size);
    if (result != PELT_OK) {
        explain(problem, "cannot read %.100s", relative);
        return result;
    }
    reader->input_size += *size;
    return PELT_OK;
}

pelt_result pelt_gltf_fetch(pelt_gltf_reader *reader, const char *uri, uint8_t **bytes,
                            size_t *size, char problem[PELT_GLTF_PROBLEM_SIZE])
{
    *bytes = NULL;
    *size = 0;
    return is_data(uri) ? fetch_data(reader, uri, bytes, size, problem)
                        : fetch_file(reader, uri, bytes, size, problem);
}
