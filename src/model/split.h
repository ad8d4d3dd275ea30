#ifndef PELT_SRC_MODEL_SPLIT_H
#define PELT_SRC_MODEL_SPLIT_H

#include <pelt/model.h>

/* Gives a primitive vertex_count vertices, new vertex i a copy of old vertex from[i] in everything
 * it has; source_vertices keeps leading to the file's. Indices are the caller's to change.
 * false: no memory, the primitive is as it was. */
bool pelt_split_vertices(pelt_model *model, pelt_primitive *primitive, uint32_t vertex_count,
                         const uint32_t *from);

#endif
