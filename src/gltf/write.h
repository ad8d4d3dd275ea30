/* What the files that make the JSON of a .glb share. */
#ifndef PELT_SRC_GLTF_WRITE_H
#define PELT_SRC_GLTF_WRITE_H

#include "gltf/binary.h"

#include <jansson.h>

/* glTF's enumerants are OpenGL's. */
enum {
    GL_UNSIGNED_BYTE = 5121,
    GL_UNSIGNED_SHORT = 5123,
    GL_UNSIGNED_INT = 5125,
    GL_FLOAT = 5126,
    GL_ARRAY_BUFFER = 34962,
    GL_ELEMENT_ARRAY_BUFFER = 34963
};

/* Errors are kept, the first one reported; what is written after one does not matter. */
typedef struct pelt_writer {
    const pelt_host *host;
    const pelt_model *model;
    const char *path;
    pelt_binary binary;
    json_t *accessors;
    pelt_result result;
} pelt_writer;

void pelt_writer_fail(pelt_writer *writer, pelt_result result, const char *pointer,
                      const char *text);

/* Take value over; NULL, which jansson gives without memory, is an error of the writer's. */
void pelt_writer_set(pelt_writer *writer, json_t *object, const char *key, json_t *value);
uint32_t pelt_writer_append(pelt_writer *writer, json_t *array, json_t *value); /* its index */

void pelt_writer_set_name(pelt_writer *writer, json_t *object, const char *name);
json_t *pelt_writer_numbers(pelt_writer *writer, const double *values, uint32_t count);

/* An accessor with a view of its own, or with none (all zeros). Returns its index. */
uint32_t pelt_writer_accessor(pelt_writer *writer, const pelt_view *view, uint32_t component,
                              const char *type, size_t count);
void pelt_writer_bounds(pelt_writer *writer, uint32_t accessor, const double *min,
                        const double *max, uint32_t width);

/* meshes, materials, textures and samplers. */
void pelt_writer_set_meshes(pelt_writer *writer, json_t *root);

#endif
