/* JSON to a stream as it comes: no tree in memory, numbers in the fewest digits that read back
 * exactly. Call order makes the structure; a key is NULL inside a list. */
#ifndef PELT_CLI_JSON_H
#define PELT_CLI_JSON_H

#include <pelt/base.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { PELT_JSON_DEPTH = 8 }; /* deeper than any command nests */

typedef struct pelt_json {
    FILE *stream;
    int depth;
    bool inline_at[PELT_JSON_DEPTH]; /* this level stays on one line */
    bool filled[PELT_JSON_DEPTH];    /* this level has a member already */
    char brackets[PELT_JSON_DEPTH];  /* what closes this level */
} pelt_json;

void pelt_json_begin(pelt_json *json, FILE *stream); /* opens the outermost object */
void pelt_json_end(pelt_json *json);                 /* closes it, with a newline */

void pelt_json_object(pelt_json *json, const char *key);
void pelt_json_object_line(pelt_json *json, const char *key); /* the same, on one line */
void pelt_json_list(pelt_json *json, const char *key);
void pelt_json_close(pelt_json *json); /* the innermost object or list */

void pelt_json_text(pelt_json *json, const char *key, const char *text); /* NULL: null */
void pelt_json_bool(pelt_json *json, const char *key, bool value);
void pelt_json_integer(pelt_json *json, const char *key, int64_t value);
void pelt_json_number(pelt_json *json, const char *key, double value); /* not finite: null */
/* The same, rounded to significant digits: for times and measured errors. */
void pelt_json_rounded(pelt_json *json, const char *key, double value, int digits);
void pelt_json_floats(pelt_json *json, const char *key, const float *values, uint32_t count);
/* A list of objects, a line each. */
void pelt_json_boxes(pelt_json *json, const char *key, const pelt_box *boxes, uint32_t count);

#endif
