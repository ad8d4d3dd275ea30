/* Accessors: their layout, checked against their views. */
#include "reader.h"

#include <string.h>

size_t pelt_gltf_component_size(pelt_gltf_format format)
{
    switch (format) {
    case PELT_GLTF_I8:
    case PELT_GLTF_U8:
    case PELT_GLTF_I8_NORM:
    case PELT_GLTF_U8_NORM:
        return 1;
    case PELT_GLTF_I16:
    case PELT_GLTF_U16:
    case PELT_GLTF_I16_NORM:
    case PELT_GLTF_U16_NORM:
        return 2;
    default:
        return 4;
    }
}

static const char *format_name(pelt_gltf_format format)
{
    static const char *const names[] = {
        "bytes",
        "unsigned bytes",
        "shorts",
        "unsigned shorts",
        "unsigned ints",
        "floats",
        "normalized bytes",
        "normalized unsigned bytes",
        "normalized shorts",
        "normalized unsigned shorts",
    };
    unsigned bit = 0;
    while ((unsigned)format >> bit > 1) {
        bit++;
    }
    return names[bit];
}

/* Columns of matrices of small components begin at multiples of four bytes. */
static size_t element_size(const pelt_gltf_accessor *accessor, unsigned rows)
{
    size_t column = rows * pelt_gltf_component_size(accessor->format);
    unsigned columns = accessor->width / rows;
    return columns > 1 ? columns * ((column + 3) / 4 * 4) : column;
}

static bool read_format(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                        pelt_gltf_format *out)
{
    size_t code = 0;
    bool normalized = false;
    if (!pelt_gltf_require(reader, at, object, "componentType") ||
        !pelt_gltf_get_size(reader, at, object, "componentType", &code) ||
        !pelt_gltf_get_bool(reader, at, object, "normalized", &normalized)) {
        return false;
    }
    switch (code) {
    case 5120:
        *out = normalized ? PELT_GLTF_I8_NORM : PELT_GLTF_I8;
        return true;
    case 5121:
        *out = normalized ? PELT_GLTF_U8_NORM : PELT_GLTF_U8;
        return true;
    case 5122:
        *out = normalized ? PELT_GLTF_I16_NORM : PELT_GLTF_I16;
        return true;
    case 5123:
        *out = normalized ? PELT_GLTF_U16_NORM : PELT_GLTF_U16;
        return true;
    case 5125:
        *out = PELT_GLTF_U32;
        break;
    case 5126:
        *out = PELT_GLTF_FLOAT;
        break;
    default:
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, "componentType"),
                              "is %zu, which is none of glTF's", code);
    }
    return !normalized || pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, "normalized"),
                                         "%s cannot be normalized", format_name(*out));
}

static bool read_type(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                      uint32_t *width, unsigned *rows)
{
    static const struct {
        const char *name;
        uint32_t width;
        unsigned rows;
    } types[] = { { "SCALAR", 1, 1 }, { "VEC2", 2, 2 }, { "VEC3", 3, 3 }, { "VEC4", 4, 4 },
                  { "MAT2", 4, 2 },   { "MAT3", 9, 3 }, { "MAT4", 16, 4 } };
    const char *type = NULL;
    if (!pelt_gltf_require(reader, at, object, "type") ||
        !pelt_gltf_get_string(reader, at, object, "type", &type)) {
        return false;
    }
    for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(type, types[i].name) == 0) {
            *width = types[i].width;
            *rows = types[i].rows;
            return true;
        }
    }
    return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, "type"),
                          "is \"%.40s\", which is none of glTF's", type);
}

/* count elements of size bytes, stride apart, must lie within the view. */
static bool check_extent(pelt_gltf_reader *reader, pelt_gltf_place at, uint32_t view, size_t offset,
                         size_t count, size_t size, size_t stride)
{
    size_t end = 0;
    if (count > 0 && (!pelt_multiply(count - 1, stride, &end) || !pelt_add(end, size, &end) ||
                      !pelt_add(end, offset, &end) || end > reader->views[view].size)) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE,
                              offset < reader->views[view].size ? at
                                                                : pelt_gltf_in(at, "byteOffset"),
                              "%zu elements of %zu bytes, %zu apart from byteOffset %zu on, reach "
                              "past the end of /bufferViews/%u, which has %zu bytes",
                              count, size, stride, offset, view, reader->views[view].size);
    }
    return true;
}

/* sparse.indices or sparse.values: their view has no stride. */
static bool read_sparse_part(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                             const pelt_gltf_accessor *accessor, size_t size, uint32_t *view,
                             size_t *offset)
{
    int32_t index = -1;
    if (!pelt_gltf_require(reader, at, object, "bufferView") ||
        !pelt_gltf_get_index(reader, at, object, "bufferView", reader->view_count, "buffer views",
                             &index) ||
        !pelt_gltf_get_size(reader, at, object, "byteOffset", offset)) {
        return false;
    }
    if (reader->views[index].stride != 0) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, "bufferView"),
                              "/bufferViews/%d has a byteStride, which sparse data may not have",
                              index);
    }
    *view = (uint32_t)index;
    return check_extent(reader, at, *view, *offset, accessor->sparse_count, size, size);
}

static bool read_sparse(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *sparse,
                        size_t size, pelt_gltf_accessor *accessor)
{
    json_t *indices, *values;
    size_t count = 0;
    if (!pelt_gltf_require(reader, at, sparse, "count") ||
        !pelt_gltf_require(reader, at, sparse, "indices") ||
        !pelt_gltf_require(reader, at, sparse, "values") ||
        !pelt_gltf_get_size(reader, at, sparse, "count", &count) ||
        !pelt_gltf_get_object(reader, at, sparse, "indices", &indices) ||
        !pelt_gltf_get_object(reader, at, sparse, "values", &values) ||
        !read_format(reader, pelt_gltf_in(at, "indices"), indices, &accessor->sparse_format)) {
        return false;
    }
    if (count < 1 || count > accessor->count) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, "count"),
                              "is %zu, not 1 to the accessor's count %u", count, accessor->count);
    }
    if (!(accessor->sparse_format & (PELT_GLTF_U8 | PELT_GLTF_U16 | PELT_GLTF_U32))) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE,
                              pelt_gltf_in(pelt_gltf_in(at, "indices"), "componentType"),
                              "indices cannot be %s", format_name(accessor->sparse_format));
    }
    accessor->sparse_count = (uint32_t)count;
    return read_sparse_part(reader, pelt_gltf_in(at, "indices"), indices, accessor,
                            pelt_gltf_component_size(accessor->sparse_format),
                            &accessor->sparse_index_view, &accessor->sparse_index_offset) &&
           read_sparse_part(reader, pelt_gltf_in(at, "values"), values, accessor, size,
                            &accessor->sparse_value_view, &accessor->sparse_value_offset);
}

size_t pelt_gltf_stride(const pelt_gltf_reader *reader, const pelt_gltf_accessor *accessor,
                        size_t size)
{
    size_t stride = accessor->view >= 0 ? reader->views[accessor->view].stride : 0;
    return stride ? stride : size;
}

static bool read_accessor(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                          pelt_gltf_accessor *accessor)
{
    unsigned rows = 1;
    size_t count = 0;
    json_t *sparse;
    accessor->view = -1;
    if (!pelt_gltf_is_object(reader, at, object) ||
        !read_format(reader, at, object, &accessor->format) ||
        !read_type(reader, at, object, &accessor->width, &rows) ||
        !pelt_gltf_require(reader, at, object, "count") ||
        !pelt_gltf_get_size(reader, at, object, "count", &count) ||
        !pelt_gltf_get_index(reader, at, object, "bufferView", reader->view_count, "buffer views",
                             &accessor->view) ||
        !pelt_gltf_get_size(reader, at, object, "byteOffset", &accessor->offset) ||
        !pelt_gltf_get_object(reader, at, object, "sparse", &sparse)) {
        return false;
    }
    accessor->is_matrix = accessor->width > rows && rows > 1;
    size_t size = element_size(accessor, rows), stride = pelt_gltf_stride(reader, accessor, size);
    if (accessor->view >= 0) {
        const pelt_gltf_view *view = &reader->views[accessor->view];
        if (view->stride != 0 && view->stride < size) {
            return pelt_gltf_fail(reader, PELT_ERROR_FILE, at,
                                  "an element has %zu bytes, but /bufferViews/%d has a byteStride "
                                  "of %zu",
                                  size, accessor->view, view->stride);
        }
        if (!check_extent(reader, at, (uint32_t)accessor->view, accessor->offset, count, size,
                          stride)) {
            return false;
        }
        size_t alignment = pelt_gltf_component_size(accessor->format);
        if (accessor->offset % alignment != 0 || (view->offset + accessor->offset) % alignment ||
            stride % alignment != 0) {
            pelt_gltf_warn(reader,
                           accessor->offset % alignment ? pelt_gltf_in(at, "byteOffset") : at,
                           "elements are not aligned to their %zu-byte components", alignment);
        }
    } else if (!pelt_gltf_check_budget(reader, at, count, size)) {
        return false; /* nothing in the file stands behind the count */
    }
    if (count > UINT32_MAX) {
        return pelt_gltf_fail(reader, PELT_ERROR_RANGE, pelt_gltf_in(at, "count"), "is %zu", count);
    }
    accessor->count = (uint32_t)count;
    return !sparse || read_sparse(reader, pelt_gltf_in(at, "sparse"), sparse, size, accessor);
}

bool pelt_gltf_read_accessors(pelt_gltf_reader *reader)
{
    pelt_gltf_place root = pelt_gltf_at("%s", ""), at = pelt_gltf_in(root, "accessors");
    json_t *array;
    uint32_t count;
    if (!pelt_gltf_get_array(reader, root, reader->root, "accessors", &array, &count)) {
        return false;
    }
    reader->accessors = pelt_gltf_borrow(reader, at, count, sizeof(*reader->accessors));
    if (!reader->accessors) {
        return false;
    }
    reader->accessor_count = count;
    for (uint32_t i = 0; i < count; i++) {
        if (!read_accessor(reader, pelt_gltf_item(at, i), json_array_get(array, i),
                           &reader->accessors[i])) {
            return false;
        }
    }
    return true;
}

bool pelt_gltf_expect(pelt_gltf_reader *reader, pelt_gltf_place at, uint32_t index, uint32_t width,
                      unsigned formats)
{
    const pelt_gltf_accessor *accessor = &reader->accessors[index];
    if (accessor->width != width || !(accessor->format & formats) ||
        accessor->is_matrix != (width == 16)) {
        char allowed[256] = "";
        for (unsigned bit = 0; bit < 10; bit++) {
            if (formats >> bit & 1) {
                size_t length = strlen(allowed);
                (void)snprintf(allowed + length, sizeof(allowed) - length, "%s%s",
                               length ? ", " : "", format_name((pelt_gltf_format)(1 << bit)));
            }
        }
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, at,
                              "/accessors/%u has %s of %u %s; allowed here are %u of: %s", index,
                              accessor->is_matrix ? "matrices" : "elements", accessor->width,
                              format_name(accessor->format), width, allowed);
    }
    return true;
}

void pelt_gltf_warn_strided(pelt_gltf_reader *reader, pelt_gltf_place at, uint32_t index)
{
    pelt_gltf_accessor *accessor = &reader->accessors[index];
    if (accessor->view >= 0 && reader->views[accessor->view].stride != 0 && !accessor->warned) {
        accessor->warned = true;
        pelt_gltf_warn(reader, at,
                       "/bufferViews/%d of /accessors/%u has a byteStride, which only vertex "
                       "attributes may have; it is followed",
                       accessor->view, index);
    }
}
