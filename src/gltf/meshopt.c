/* EXT_meshopt_compression and KHR_meshopt_compression: a view's bytes, compressed. */
#include "reader.h"

#include <meshoptimizer.h>
#include <string.h>

typedef enum { ATTRIBUTES, TRIANGLES, INDICES } compression_mode;
typedef enum { NONE, OCTAHEDRAL, QUATERNION, EXPONENTIAL, COLOR } compression_filter;

typedef struct compressed {
    const uint8_t *bytes;
    size_t size, stride, count;
    compression_mode mode;
    compression_filter filter;
} compressed;

static pelt_gltf_place place_of(const pelt_gltf_reader *reader, uint32_t view)
{
    return pelt_gltf_at("/bufferViews/%u/extensions/%s", view, reader->views[view].extension_name);
}

/* The index of a string member among the names. */
static bool get_choice(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                       const char *key, const char *const *names, int count, int *out)
{
    const char *value = NULL;
    if (!pelt_gltf_get_string(reader, at, object, key, &value)) {
        return false;
    }
    for (int i = 0; value && i < count; i++) {
        if (strcmp(value, names[i]) == 0) {
            *out = i;
            return true;
        }
    }
    return !value || pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, key),
                                    "is \"%.40s\", which is none of the extension's", value);
}

static bool is_stride_allowed(const compressed *c)
{
    if (c->mode != ATTRIBUTES) {
        return (c->stride == 2 || c->stride == 4) && c->filter == NONE;
    }
    switch (c->filter) {
    case OCTAHEDRAL:
    case COLOR:
        return c->stride == 4 || c->stride == 8;
    case QUATERNION:
        return c->stride == 8;
    default:
        return c->stride >= 4 && c->stride <= 256 && c->stride % 4 == 0;
    }
}

static bool read_compressed(pelt_gltf_reader *reader, uint32_t index, compressed *c)
{
    static const char *const modes[] = { "ATTRIBUTES", "TRIANGLES", "INDICES" };
    static const char *const filters[] = { "NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL",
                                           "COLOR" };
    static const char *const required[] = { "buffer", "byteLength", "byteStride", "count", "mode" };
    const pelt_gltf_view *view = &reader->views[index];
    const json_t *object = view->compression;
    pelt_gltf_place at = place_of(reader, index);
    if (!pelt_gltf_is_object(reader, at, object)) {
        return false;
    }
    for (unsigned i = 0; i < sizeof(required) / sizeof(required[0]); i++) {
        if (!pelt_gltf_require(reader, at, object, required[i])) {
            return false;
        }
    }
    /* Only the KHR form knows colours. */
    int filter_count = view->extension_name[0] == 'K' ? 5 : 4;
    int32_t buffer_index = -1;
    size_t offset = 0, end, whole;
    int mode = ATTRIBUTES, filter = NONE;
    *c = (compressed){ 0 };
    if (!pelt_gltf_get_index(reader, at, object, "buffer", reader->buffer_count, "buffers",
                             &buffer_index) ||
        !pelt_gltf_get_size(reader, at, object, "byteOffset", &offset) ||
        !pelt_gltf_get_size(reader, at, object, "byteLength", &c->size) ||
        !pelt_gltf_get_size(reader, at, object, "byteStride", &c->stride) ||
        !pelt_gltf_get_size(reader, at, object, "count", &c->count) ||
        !get_choice(reader, at, object, "mode", modes, 3, &mode) ||
        !get_choice(reader, at, object, "filter", filters, filter_count, &filter)) {
        return false;
    }
    c->mode = (compression_mode)mode;
    c->filter = (compression_filter)filter;
    const pelt_gltf_buffer *buffer = &reader->buffers[buffer_index];
    if (!pelt_add(offset, c->size, &end) || end > buffer->size) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, at,
                              "byteOffset %zu and byteLength %zu reach past the end of "
                              "/buffers/%d, which has %zu bytes",
                              offset, c->size, buffer_index, buffer->size);
    }
    if (!is_stride_allowed(c)) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, "byteStride"),
                              "is %zu, which mode %s with filter %s cannot have", c->stride,
                              modes[mode], filters[filter]);
    }
    if (!pelt_multiply(c->count, c->stride, &whole) || whole != view->size) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, at,
                              "count %zu times byteStride %zu is not the view's byteLength %zu",
                              c->count, c->stride, view->size);
    }
    if (c->mode == TRIANGLES && c->count % 3 != 0) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, "count"),
                              "is %zu, not a multiple of 3", c->count);
    }
    if (!buffer->bytes) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, at, "/buffers/%d has no data", buffer_index);
    }
    c->bytes = buffer->bytes + offset;
    return true;
}

bool pelt_gltf_check_compression(pelt_gltf_reader *reader, uint32_t view)
{
    compressed c;
    return read_compressed(reader, view, &c);
}

static bool decode(const compressed *c, uint8_t *out)
{
    switch (c->mode) {
    case TRIANGLES:
        return meshopt_decodeIndexBuffer(out, c->count, c->stride, c->bytes, c->size) == 0;
    case INDICES:
        return meshopt_decodeIndexSequence(out, c->count, c->stride, c->bytes, c->size) == 0;
    default:
        /* The library of today's distributions knows version 0 alone. */
        return (c->size > 0 && c->bytes[0] == 0xa1)
                   ? pelt_gltf_decode_attributes(out, c->count, c->stride, c->bytes, c->size)
                   : meshopt_decodeVertexBuffer(out, c->count, c->stride, c->bytes, c->size) == 0;
    }
}

bool pelt_gltf_decode_view(pelt_gltf_reader *reader, uint32_t index)
{
    pelt_gltf_view *view = &reader->views[index];
    pelt_gltf_place at = place_of(reader, index);
    compressed c;
    if (!read_compressed(reader, index, &c)) {
        return false;
    }
    uint8_t *out = pelt_gltf_borrow(reader, at, c.count, c.stride);
    if (!out) {
        return false;
    }
    if (!decode(&c, out)) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, at, "the compressed data is invalid");
    }
    switch (c.filter) {
    case NONE:
        break;
    case OCTAHEDRAL:
        meshopt_decodeFilterOct(out, c.count, c.stride);
        break;
    case QUATERNION:
        meshopt_decodeFilterQuat(out, c.count, c.stride);
        break;
    case EXPONENTIAL:
        meshopt_decodeFilterExp(out, c.count, c.stride);
        break;
    case COLOR:
        pelt_gltf_filter_colors(out, c.count, c.stride);
        break;
    }
    view->decoded = out;
    return true;
}
