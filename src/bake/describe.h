/* A bake's description as JSON, for KTX2 files and beside them. */
#ifndef PELT_SRC_BAKE_DESCRIBE_H
#define PELT_SRC_BAKE_DESCRIBE_H

#include "bake/bake.h"

#include <jansson.h>

enum { PELT_BAKE_VERSION = 1 }; /* of the description */

extern const char *const pelt_bake_layout_names[3];
extern const char *const pelt_bake_format_names[2];
extern const char *const pelt_bake_interpolation_names[PELT_BAKE_INTERPOLATIONS];

/* NULL: no memory, or a name that is not UTF-8. */
json_t *pelt_bake_describe(const pelt_bake *bake);

/* Everything but the texels, checked: whatever a shader or pelt_bake_decode reads is there. name:
 * of the file, for messages. */
pelt_result pelt_bake_parse(const char *name, const json_t *description, pelt_bake *bake);

/* Text of the JSON for readers: one line for whatever has no lists of lists. */
pelt_result pelt_bake_print(pelt_output *output, const json_t *description);

#endif
