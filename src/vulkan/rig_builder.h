/* A rig while it is made. */
#ifndef PELT_SRC_VULKAN_RIG_BUILDER_H
#define PELT_SRC_VULKAN_RIG_BUILDER_H

#include "base/base.h"

#include <pelt/pose_pass.h>

struct pelt_rig_header; /* pelt/pose_layout.h */

/* One row of a rig's data. */
typedef union pelt_rig_row {
    uint32_t words[4];
    float floats[4];
} pelt_rig_row;

/* A node of the model that has no place in the rig, for nothing ever moves it. */
typedef struct pelt_rig_fixed {
    bool is_fixed;
    uint32_t row; /* of its global transform, once there is one; 0: none */
    double global[12];
} pelt_rig_fixed;

typedef struct pelt_rig_builder {
    const pelt_host *host;
    const pelt_model *model;
    const pelt_rig_info *info;
    uint32_t node_count;
    uint32_t *nodes;        /* of the model, in the rig's order */
    const uint32_t *places; /* the other way round */
    pelt_rig_fixed *fixed;  /* of each of the model's nodes */
    uint32_t rests;         /* row of the static translations, then rotations, then scales */

    pelt_rig_row *rows;
    size_t row_count, row_room;
} pelt_rig_builder;

/* Zeroed rows behind the others; pointers into builder->rows change. */
pelt_result pelt_rig_add_rows(pelt_rig_builder *builder, size_t count, uint32_t *first);

/* Calls back for each matrix that is written, in the order of destinations. inverse_bind: NULL:
 * identity. */
typedef void (*pelt_rig_visitor)(void *user, uint32_t destination, uint32_t node,
                                 const float *inverse_bind);
void pelt_rig_visit_outputs(const pelt_rig_info *info, pelt_rig_visitor visit, void *user);

/* Finds the nodes that are needed and fills places, one for each of the model's nodes. */
pelt_result pelt_rig_order_nodes(pelt_rig_builder *builder, uint32_t *places);

/* Nodes with their static values, and their members of the header. */
pelt_result pelt_rig_add_nodes(pelt_rig_builder *builder, struct pelt_rig_header *header,
                               uint32_t *carry_count);

/* What is written, and its members of the header. */
pelt_result pelt_rig_add_outputs(pelt_rig_builder *builder, struct pelt_rig_header *header);

/* The clips' keys and tracks; *first is the row of the first clip. Behind them comes one of static
 * values. */
pelt_result pelt_rig_add_clips(pelt_rig_builder *builder, uint32_t *first);

#endif
