#include "cli/json.h"

#include <math.h>
#include <stdlib.h>

static void indent(const pelt_json *json)
{
    fputc('\n', json->stream);
    for (int i = 0; i <= json->depth; i++) {
        fputs("  ", json->stream);
    }
}

/* Length of the UTF-8 sequence at text, 0 if there is no valid one (RFC 3629). */
static size_t utf8_length(const unsigned char *text)
{
    if (text[0] < 0x80) {
        return 1;
    }
    size_t length = text[0] >= 0xc2 && text[0] < 0xe0   ? 2
                    : text[0] >= 0xe0 && text[0] < 0xf0 ? 3
                    : text[0] >= 0xf0 && text[0] < 0xf5 ? 4
                                                        : 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool surrogate = text[0] == 0xed && text[1] >= 0xa0;
    bool beyond = text[0] == 0xf4 && text[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

static void write_string(FILE *stream, const char *string)
{
    fputc('"', stream);
    for (const unsigned char *c = (const unsigned char *)string; *c;) {
        size_t length = utf8_length(c);
        if (length == 0) {
            fputs("\xef\xbf\xbd", stream); /* U+FFFD */
            c++;
        } else if (*c == '"' || *c == '\\') {
            fprintf(stream, "\\%c", *c++);
        } else if (*c < 0x20 || *c == 0x7f) {
            fprintf(stream, "\\u%04x", *c++);
        } else {
            fwrite(c, 1, length, stream);
            c += length;
        }
    }
    fputc('"', stream);
}

/* What comes before any member: a comma, a line or a space, the key. */
static void begin_member(pelt_json *json, const char *key)
{
    if (json->filled[json->depth]) {
        fputs(json->inline_at[json->depth] ? ", " : ",", json->stream);
    }
    json->filled[json->depth] = true;
    if (!json->inline_at[json->depth]) {
        indent(json);
    }
    if (key) {
        write_string(json->stream, key);
        fputs(": ", json->stream);
    }
}

static void open_level(pelt_json *json, const char *key, char bracket, bool line)
{
    begin_member(json, key);
    fputc(bracket, json->stream);
    bool within_line = json->inline_at[json->depth];
    json->depth++;
    json->inline_at[json->depth] = line || within_line;
    json->filled[json->depth] = false;
    json->brackets[json->depth] = bracket == '{' ? '}' : ']';
}

void pelt_json_begin(pelt_json *json, FILE *stream)
{
    *json = (pelt_json){ .stream = stream };
    json->brackets[0] = '}';
    fputc('{', stream);
}

void pelt_json_end(pelt_json *json)
{
    fputs("\n}\n", json->stream);
}

void pelt_json_object(pelt_json *json, const char *key)
{
    open_level(json, key, '{', false);
}

void pelt_json_object_line(pelt_json *json, const char *key)
{
    open_level(json, key, '{', true);
}

void pelt_json_list(pelt_json *json, const char *key)
{
    open_level(json, key, '[', false);
}

void pelt_json_close(pelt_json *json)
{
    char bracket = json->brackets[json->depth];
    bool line = json->inline_at[json->depth] || !json->filled[json->depth];
    json->depth--;
    if (!line) {
        indent(json);
    }
    fputc(bracket, json->stream);
}

void pelt_json_text(pelt_json *json, const char *key, const char *text)
{
    begin_member(json, key);
    if (text) {
        write_string(json->stream, text);
    } else {
        fputs("null", json->stream);
    }
}

void pelt_json_bool(pelt_json *json, const char *key, bool value)
{
    begin_member(json, key);
    fputs(value ? "true" : "false", json->stream);
}

void pelt_json_integer(pelt_json *json, const char *key, int64_t value)
{
    begin_member(json, key);
    fprintf(json->stream, "%lld", (long long)value);
}

static void write_number(FILE *stream, double value)
{
    if (!isfinite(value)) {
        fputs("null", stream);
        return;
    }
    char digits[40];
    for (int precision = 1; precision <= 17; precision++) {
        (void)snprintf(digits, sizeof(digits), "%.*g", precision, value);
        if (strtod(digits, NULL) == value) {
            break;
        }
    }
    fputs(digits, stream);
}

void pelt_json_number(pelt_json *json, const char *key, double value)
{
    begin_member(json, key);
    write_number(json->stream, value);
}

void pelt_json_rounded(pelt_json *json, const char *key, double value, int digits)
{
    begin_member(json, key);
    if (isfinite(value)) {
        fprintf(json->stream, "%.*g", digits, value);
    } else {
        fputs("null", json->stream);
    }
}

void pelt_json_floats(pelt_json *json, const char *key, const float *values, uint32_t count)
{
    begin_member(json, key);
    fputc('[', json->stream);
    for (uint32_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", json->stream);
        write_number(json->stream, values[i]);
    }
    fputc(']', json->stream);
}

void pelt_json_boxes(pelt_json *json, const char *key, const pelt_box *boxes, uint32_t count)
{
    pelt_json_list(json, key);
    for (uint32_t i = 0; i < count; i++) {
        pelt_json_object_line(json, NULL);
        pelt_json_floats(json, "min", boxes[i].min, 3);
        pelt_json_floats(json, "max", boxes[i].max, 3);
        pelt_json_close(json);
    }
    pelt_json_close(json);
}
