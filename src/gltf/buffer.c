/* Buffers and the views into them. */
#include "reader.h"

/* A buffer that is only there for readers that lack the meshopt extension. */
static bool is_fallback(const json_t *buffer)
{
    static const char *const names[] = { "EXT_meshopt_compression", "KHR_meshopt_compression" };
    for (unsigned i = 0; i < 2; i++) {
        if (json_is_true(json_object_get(pelt_gltf_extension(buffer, names[i]), "fallback"))) {
            return true;
        }
    }
    return false;
}

static bool read_uri(pelt_gltf_reader *reader, pelt_gltf_place at, const char *uri,
                     pelt_gltf_buffer *buffer)
{
    char problem[PELT_GLTF_PROBLEM_SIZE];
    size_t size = 0;
    pelt_result result = pelt_gltf_fetch(reader, uri, &buffer->owned, &size, problem);
    if (result != PELT_OK) {
        return pelt_gltf_fail(reader, result, pelt_gltf_in(at, "uri"), "%s", problem);
    }
    buffer->bytes = buffer->owned;
    if (size < buffer->size) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, "byteLength"),
                              "is %zu, but the data has %zu bytes", buffer->size, size);
    }
    return true;
}

static bool read_buffer(pelt_gltf_reader *reader, pelt_gltf_place at, json_t *object,
                        pelt_gltf_buffer *buffer)
{
    const char *uri = NULL;
    if (!pelt_gltf_is_object(reader, at, object) ||
        !pelt_gltf_require(reader, at, object, "byteLength") ||
        !pelt_gltf_get_size(reader, at, object, "byteLength", &buffer->size) ||
        !pelt_gltf_get_string(reader, at, object, "uri", &uri)) {
        return false;
    }
    if (buffer->size == 0) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, "byteLength"), "is 0");
    }
    if (is_fallback(object)) {
        return true;
    }
    if (uri) {
        bool ok = read_uri(reader, at, uri, buffer);
        (void)json_object_del(object, "uri"); /* base64 is large, and not needed any more */
        return ok;
    }
    if (buffer != reader->buffers || !reader->bin) {
        return true; /* a placeholder: an error only where its data is needed */
    }
    if (buffer->size > reader->bin_size) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, "byteLength"),
                              "is %zu, but the GLB's binary chunk has %zu bytes", buffer->size,
                              reader->bin_size);
    }
    if (reader->bin_size - buffer->size > 3) {
        pelt_gltf_warn(reader, at, "the GLB's binary chunk has %zu bytes more than the buffer",
                       reader->bin_size - buffer->size);
    }
    buffer->bytes = reader->bin;
    return true;
}

bool pelt_gltf_read_buffers(pelt_gltf_reader *reader)
{
    pelt_gltf_place root = pelt_gltf_at("%s", ""), at = pelt_gltf_in(root, "buffers");
    json_t *array;
    uint32_t count;
    if (!pelt_gltf_get_array(reader, root, reader->root, "buffers", &array, &count)) {
        return false;
    }
    reader->buffers = pelt_gltf_borrow(reader, at, count, sizeof(*reader->buffers));
    if (!reader->buffers) {
        return false;
    }
    reader->buffer_count = count;
    for (uint32_t i = 0; i < count; i++) {
        if (!read_buffer(reader, pelt_gltf_item(at, i), json_array_get(array, i),
                         &reader->buffers[i])) {
            return false;
        }
    }
    return true;
}

static bool read_view(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                      uint32_t index)
{
    pelt_gltf_view *view = &reader->views[index];
    int32_t buffer = -1;
    if (!pelt_gltf_is_object(reader, at, object) ||
        !pelt_gltf_require(reader, at, object, "buffer") ||
        !pelt_gltf_require(reader, at, object, "byteLength") ||
        !pelt_gltf_get_index(reader, at, object, "buffer", reader->buffer_count, "buffers",
                             &buffer) ||
        !pelt_gltf_get_size(reader, at, object, "byteOffset", &view->offset) ||
        !pelt_gltf_get_size(reader, at, object, "byteLength", &view->size) ||
        !pelt_gltf_get_size(reader, at, object, "byteStride", &view->stride)) {
        return false;
    }
    view->buffer = (uint32_t)buffer;
    size_t end, available = reader->buffers[buffer].size;
    if (view->size == 0) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, "byteLength"), "is 0");
    }
    if (!pelt_add(view->offset, view->size, &end) || end > available) {
        return pelt_gltf_fail(
            reader, PELT_ERROR_FILE,
            pelt_gltf_in(at, view->offset < available ? "byteLength" : "byteOffset"),
            "byteOffset %zu and byteLength %zu reach past the end of "
            "/buffers/%d, which has %zu bytes",
            view->offset, view->size, buffer, available);
    }
    if (json_object_get(object, "byteStride") && (view->stride < 4 || view->stride > 252)) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, "byteStride"),
                              "is %zu, not 4 to 252", view->stride);
    }
    if (view->stride % 4 != 0) {
        pelt_gltf_warn(reader, pelt_gltf_in(at, "byteStride"), "is %zu, not a multiple of 4",
                       view->stride);
    }
    static const char *const names[] = { "EXT_meshopt_compression", "KHR_meshopt_compression" };
    for (unsigned i = 0; i < 2; i++) {
        const json_t *compression = pelt_gltf_extension(object, names[i]);
        if (compression) {
            view->compression = compression;
            view->extension_name = names[i];
        }
    }
    return !view->compression || pelt_gltf_check_compression(reader, index);
}

bool pelt_gltf_read_views(pelt_gltf_reader *reader)
{
    pelt_gltf_place root = pelt_gltf_at("%s", ""), at = pelt_gltf_in(root, "bufferViews");
    json_t *array;
    uint32_t count;
    if (!pelt_gltf_get_array(reader, root, reader->root, "bufferViews", &array, &count)) {
        return false;
    }
    reader->views = pelt_gltf_borrow(reader, at, count, sizeof(*reader->views));
    if (!reader->views) {
        return false;
    }
    reader->view_count = count;
    for (uint32_t i = 0; i < count; i++) {
        if (!read_view(reader, pelt_gltf_item(at, i), json_array_get(array, i), i)) {
            return false;
        }
    }
    return true;
}

const uint8_t *pelt_gltf_view_bytes(pelt_gltf_reader *reader, uint32_t index)
{
    pelt_gltf_view *view = &reader->views[index];
    if (view->compression) {
        return view->decoded || pelt_gltf_decode_view(reader, index) ? view->decoded : NULL;
    }
    const pelt_gltf_buffer *buffer = &reader->buffers[view->buffer];
    if (!buffer->bytes) {
        (void)pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_at("/buffers/%u", view->buffer),
                             "has no data, but /bufferViews/%u is read from it", index);
        return NULL;
    }
    return buffer->bytes + view->offset;
}
