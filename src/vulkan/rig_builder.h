/* A rig while it is made. */
#ifndef PELT_SRC_VULKAN_RIG_BUILDER_H
#define PELT_SRC_VULKAN_RIG_BUILDER_H

#include "base/base.h"

#include <pelt/pose_pass.h>

/* One row of a rig's data. */
typedef union pelt_rig_row {
    uint32_t words[4];
    float floats[4];
} pelt_rig_row;

typedef struct pelt_rig_builder {
    const pelt_host *host;
    const pelt_model *model;
    uint32_t node_count;
    uint32_t *nodes;        /* of the model, in the rig's order */
    const uint32_t *places; /* the other way round */
    uint32_t rests;         /* row of the static translations, then rotations, then scales */

    pelt_rig_row *rows;
    size_t row_count, row_room;
} pelt_rig_builder;

/* Zeroed rows behind the others; pointers into builder->rows change. */
pelt_result pelt_rig_add_rows(pelt_rig_builder *builder, size_t count, uint32_t *first);

/* The clips' keys and tracks; *first is the row of the first clip. Behind them comes one of static
 * values. */
pelt_result pelt_rig_add_clips(pelt_rig_builder *builder, uint32_t *first);

#endif
