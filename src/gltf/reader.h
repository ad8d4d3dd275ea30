/* What the steps of the glTF reader share. Every step returns false after it has reported what is
 * wrong; reader->result then says which kind of error it was. Each step checks whatever it takes
 * from the file before the next one relies on it.
 */
#ifndef PELT_SRC_GLTF_READER_H
#define PELT_SRC_GLTF_READER_H

#include "base/base.h"

#include <jansson.h>
#include <pelt/model.h>

/* A JSON pointer, for messages. */
typedef struct pelt_gltf_place {
    char text[128];
} pelt_gltf_place;

typedef struct pelt_gltf_buffer {
    const uint8_t *bytes; /* NULL: a placeholder without data */
    size_t size;
    uint8_t *owned; /* bytes, if they go with the reader */
} pelt_gltf_buffer;

typedef struct pelt_gltf_view {
    uint32_t buffer;
    size_t offset, size;
    size_t stride;              /* 0: elements lie close together */
    const json_t *compression;  /* the meshopt extension's object, or NULL */
    const char *extension_name; /* which of its two names */
    uint8_t *decoded;           /* after the first use of a compressed view */
} pelt_gltf_view;

/* glTF's component types, as bits: what an accessor may be is a set of them. */
typedef enum pelt_gltf_format {
    PELT_GLTF_I8 = 1 << 0,
    PELT_GLTF_U8 = 1 << 1,
    PELT_GLTF_I16 = 1 << 2,
    PELT_GLTF_U16 = 1 << 3,
    PELT_GLTF_U32 = 1 << 4,
    PELT_GLTF_FLOAT = 1 << 5,
    PELT_GLTF_I8_NORM = 1 << 6, /* and the next three: normalized */
    PELT_GLTF_U8_NORM = 1 << 7,
    PELT_GLTF_I16_NORM = 1 << 8,
    PELT_GLTF_U16_NORM = 1 << 9
} pelt_gltf_format;

typedef struct pelt_gltf_accessor {
    uint32_t count;
    uint32_t width; /* numbers an element */
    bool is_matrix;
    pelt_gltf_format format;
    int32_t view; /* -1: zeros */
    size_t offset;
    uint32_t sparse_count;
    pelt_gltf_format sparse_format; /* of the indices */
    uint32_t sparse_index_view, sparse_value_view;
    size_t sparse_index_offset, sparse_value_offset;
    bool warned; /* about its layout, once */
} pelt_gltf_accessor;

/* How the base-colour texture is laid on; what a primitive needs of its material. */
typedef struct pelt_gltf_texture_use {
    uint32_t set;  /* TEXCOORD_n */
    bool required; /* a texture names the set */
    bool transformed;
    double offset[2], rotation, scale[2];
} pelt_gltf_texture_use;

/* A skin's inverse bind matrices that cannot be used: an error only if a vertex needs one. */
typedef struct pelt_gltf_bad_matrices {
    uint32_t accessor;
    uint8_t *problems; /* one a joint, 0: none; NULL: no bad matrix at all */
} pelt_gltf_bad_matrices;

typedef struct pelt_gltf_reader {
    const pelt_host *host;
    const char *name;   /* of the file, for messages */
    const char *folder; /* where external files lie, or NULL */
    pelt_result result;
    pelt_model *model;
    pelt_arena *scratch; /* goes with the reader */

    json_t *root;
    const uint8_t *bin; /* the GLB's binary chunk, or NULL */
    size_t bin_size;

    size_t input_size;     /* bytes of the file and of those it names */
    size_t allocated_size; /* bytes made of them */
    bool quantization;     /* KHR_mesh_quantization is declared */

    uint32_t buffer_count, view_count, accessor_count;
    pelt_gltf_buffer *buffers;
    pelt_gltf_view *views;
    pelt_gltf_accessor *accessors;

    pelt_gltf_texture_use *texture_uses;  /* one a material */
    pelt_gltf_bad_matrices *bad_matrices; /* one a skin */
    uint32_t *mesh_joint_limits; /* a mesh's: joints of the smallest skin it is used with, or 0 */
    uint32_t *mesh_limit_skins;  /* which skin that is */
} pelt_gltf_reader;

/* place.c: places and messages */
pelt_gltf_place pelt_gltf_at(const char *format, ...) PELT_PRINTF(1, 2);
pelt_gltf_place pelt_gltf_in(pelt_gltf_place object, const char *member);
pelt_gltf_place pelt_gltf_item(pelt_gltf_place array, size_t index);
/* Both set the result and return false, so that callers write: return pelt_gltf_fail(...). */
bool pelt_gltf_fail(pelt_gltf_reader *reader, pelt_result result, pelt_gltf_place at,
                    const char *format, ...) PELT_PRINTF(4, 5);
bool pelt_gltf_fail_memory(pelt_gltf_reader *reader, pelt_gltf_place at);
void pelt_gltf_warn(pelt_gltf_reader *reader, pelt_gltf_place at, const char *format, ...)
    PELT_PRINTF(3, 4);

/* place.c: zeroed memory of the model, or of the reader; NULL after an error that names the place.
 * Together they stay within a multiple of the input's size, whatever counts a file claims. */
void *pelt_gltf_keep(pelt_gltf_reader *reader, pelt_gltf_place at, size_t count, size_t size);
void *pelt_gltf_borrow(pelt_gltf_reader *reader, pelt_gltf_place at, size_t count, size_t size);
bool pelt_gltf_check_budget(pelt_gltf_reader *reader, pelt_gltf_place at, size_t count,
                            size_t size);

/* json.c: members of an object, type-checked. An absent member leaves *out as it is. */
bool pelt_gltf_get_size(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                        const char *key, size_t *out);
/* An index below count; what: the things counted, for the message. */
bool pelt_gltf_get_index(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                         const char *key, uint32_t count, const char *what, int32_t *out);
bool pelt_gltf_to_index(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *value,
                        uint32_t count, const char *what, int32_t *out);
bool pelt_gltf_get_number(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                          const char *key, double *out);
bool pelt_gltf_to_number(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *value,
                         double *out);
/* Exactly count numbers. */
bool pelt_gltf_get_numbers(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                           const char *key, size_t count, double *out);
bool pelt_gltf_get_bool(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                        const char *key, bool *out);
bool pelt_gltf_get_string(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                          const char *key, const char **out);
/* A name, copied into the model. */
bool pelt_gltf_get_name(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                        const char *key, char **out);
bool pelt_gltf_get_object(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                          const char *key, json_t **out);
/* count: its length, 0 if absent. An empty array, which glTF forbids, is worth a warning. */
bool pelt_gltf_get_array(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                         const char *key, json_t **out, uint32_t *count);
bool pelt_gltf_is_object(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *value);
/* Fails if the member is absent. */
bool pelt_gltf_require(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                       const char *key);
/* The length of one of the root's arrays. */
uint32_t pelt_gltf_count(const pelt_gltf_reader *reader, const char *key);
/* object.extensions.NAME, or NULL. */
json_t *pelt_gltf_extension(const json_t *object, const char *name);

/* container.c: splits a GLB, or takes the text as it is, and parses the JSON. */
bool pelt_gltf_parse(pelt_gltf_reader *reader, const uint8_t *bytes, size_t size);

/* uri.c: the bytes a data URI holds or a relative one names; *bytes is the host's memory. On
 * failure problem says in words what is wrong: images can do without, buffers cannot. */
enum { PELT_GLTF_PROBLEM_SIZE = 256 };
pelt_result pelt_gltf_fetch(pelt_gltf_reader *reader, const char *uri, uint8_t **bytes,
                            size_t *size, char problem[PELT_GLTF_PROBLEM_SIZE]);

/* asset.c: version and required extensions */
bool pelt_gltf_read_asset(pelt_gltf_reader *reader);

/* buffer.c */
bool pelt_gltf_read_buffers(pelt_gltf_reader *reader);
bool pelt_gltf_read_views(pelt_gltf_reader *reader);
/* The view's bytes, decompressed where needed. Lives as long as the reader. */
const uint8_t *pelt_gltf_view_bytes(pelt_gltf_reader *reader, uint32_t index);

/* meshopt.c: checks and decodes the compressed form of a view. */
bool pelt_gltf_check_compression(pelt_gltf_reader *reader, uint32_t view);
bool pelt_gltf_decode_view(pelt_gltf_reader *reader, uint32_t view);

/* meshopt_attributes.c: bitstream version 1 of attributes, count elements of stride bytes, and
 * the colour filter. False: the stream is invalid. */
bool pelt_gltf_decode_attributes(uint8_t *out, size_t count, size_t stride, const uint8_t *bytes,
                                 size_t size);
void pelt_gltf_filter_colors(uint8_t *elements, size_t count, size_t stride);

/* accessor.c */
bool pelt_gltf_read_accessors(pelt_gltf_reader *reader);
/* Fails unless the accessor has that width and one of the formats. at: who uses it. */
bool pelt_gltf_expect(pelt_gltf_reader *reader, pelt_gltf_place at, uint32_t accessor,
                      uint32_t width, unsigned formats);
/* For accessors that are no vertex attribute: their views should have no stride. */
void pelt_gltf_warn_strided(pelt_gltf_reader *reader, pelt_gltf_place at, uint32_t index);
size_t pelt_gltf_component_size(pelt_gltf_format format);
/* From one element to the next; size: of an element. */
size_t pelt_gltf_stride(const pelt_gltf_reader *reader, const pelt_gltf_accessor *accessor,
                        size_t size);

/* unpack.c */
/* Converts the elements: row i goes to out + i x stride numbers. Integers become what they mean:
 * c / 255 if normalized, else c. Not checked: see pelt_gltf_check_floats. */
bool pelt_gltf_unpack_floats(pelt_gltf_reader *reader, uint32_t accessor, float *out,
                             size_t stride);
bool pelt_gltf_unpack_u16(pelt_gltf_reader *reader, uint32_t accessor, uint16_t *out,
                          size_t stride);
bool pelt_gltf_unpack_u32(pelt_gltf_reader *reader, uint32_t accessor, uint32_t *out);
/* Fails for a number that is not finite or beyond PELT_MAGNITUDE_MAX; values as unpacked. */
bool pelt_gltf_check_floats(pelt_gltf_reader *reader, pelt_gltf_place at, uint32_t accessor,
                            const float *values, size_t stride);
/* Into memory of the model, checked; NULL after an error. */
float *pelt_gltf_read_floats(pelt_gltf_reader *reader, pelt_gltf_place at, uint32_t index);

/* One step each, in this order. */
bool pelt_gltf_read_nodes(pelt_gltf_reader *reader);     /* read_node.c */
bool pelt_gltf_read_tree(pelt_gltf_reader *reader);      /* read_tree.c */
bool pelt_gltf_read_skins(pelt_gltf_reader *reader);     /* read_skin.c */
bool pelt_gltf_read_materials(pelt_gltf_reader *reader); /* read_material.c */
bool pelt_gltf_read_meshes(pelt_gltf_reader *reader);    /* read_mesh.c */
bool pelt_gltf_check_nodes(pelt_gltf_reader *reader);    /* read_node.c */
bool pelt_gltf_read_clips(pelt_gltf_reader *reader);     /* read_clip.c */

/* read_inverse_bind.c: first while the skins are read, then once the meshes are. */
bool pelt_gltf_read_inverse_bind(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                                 uint32_t skin);
bool pelt_gltf_check_inverse_bind(pelt_gltf_reader *reader);

/* The parts of a primitive beside its indices. */
bool pelt_gltf_read_attributes(pelt_gltf_reader *reader, pelt_gltf_place at,
                               const json_t *attributes, pelt_primitive *primitive);
bool pelt_gltf_read_influences(pelt_gltf_reader *reader, pelt_gltf_place at,
                               const json_t *attributes, uint32_t mesh, pelt_primitive *primitive);
bool pelt_gltf_read_targets(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *targets,
                            pelt_primitive *primitive);
/* The accessor that attributes names as name, or -1; checks its format and that it has count
 * elements (0: any number but none). */
bool pelt_gltf_get_attribute(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *attributes,
                             const char *name, uint32_t width, unsigned formats, uint32_t count,
                             int32_t *out);

#endif
