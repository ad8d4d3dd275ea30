/* SPDX-License-Identifier: MIT */
/* pelt/gltf.h: reading and writing glTF 2.0 (.gltf and .glb). */
#ifndef PELT_GLTF_H
#define PELT_GLTF_H

#include <pelt/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads and validates a whole file; the model is finished (pelt_model_finish).
 *
 * Strict: anything the result depends on is checked before use, and the error (host->message) names
 * file and JSON pointer. Repairs are warnings, one a kind and object, with a count. External
 * buffers and images must lie in the file's folder or below. What a character does not need
 * (cameras, lights, other textures) is not looked at.
 *
 * Errors: PELT_ERROR_IO, PELT_ERROR_FILE, PELT_ERROR_UNSUPPORTED (a required extension, named),
 * PELT_ERROR_RANGE, PELT_ERROR_MEMORY, PELT_ERROR_ARGUMENT (NULL). *out is NULL then. */
PELT_API pelt_result pelt_gltf_read(const pelt_host *host, const char *path, pelt_model **out);

/* The same from memory. name: what messages call the file. folder: where external files are
 * looked for, NULL: none are allowed. bytes may go after the call. */
PELT_API pelt_result pelt_gltf_read_memory(const pelt_host *host, const char *name,
                                           const char *folder, const void *bytes, size_t size,
                                           pelt_model **out);

/* Writes a model as a valid .glb: nodes with their transforms and extras, meshes with every
 * attribute, influences and morph targets, skins, clips, base-colour materials (metallic 0) and
 * images. POSITION accessors carry the exact min and max. The file appears whole or not at all
 * (written beside path, then renamed). Errors: PELT_ERROR_IO, PELT_ERROR_MEMORY, PELT_ERROR_RANGE
 * (past 4 GiB), PELT_ERROR_ARGUMENT (a name that is not UTF-8, extras that are not JSON, a number
 * that is not finite, a mesh without primitives). */
PELT_API pelt_result pelt_gltf_write(const pelt_host *host, const pelt_model *model,
                                     const char *path);

#ifdef __cplusplus
}
#endif
#endif
