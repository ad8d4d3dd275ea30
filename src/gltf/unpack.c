/* The elements of accessors, converted to the numbers they stand for. */
#include "reader.h"

#include <math.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "glTF is little-endian, and so must be the machine that reads it here"
#endif

/* Where elements go: the type of the numbers, and how many of them an element is apart. */
typedef enum { FLOATS, U16S, U32S } target_type;

typedef struct target {
    target_type type;
    void *numbers;
    size_t stride;
} target;

static uint32_t load_unsigned(const uint8_t *bytes, pelt_gltf_format format)
{
    uint16_t u16;
    uint32_t u32;
    switch (pelt_gltf_component_size(format)) {
    case 1:
        return bytes[0];
    case 2:
        memcpy(&u16, bytes, sizeof(u16));
        return u16;
    default:
        memcpy(&u32, bytes, sizeof(u32));
        return u32;
    }
}

static float load_float(const uint8_t *bytes, pelt_gltf_format format)
{
    int16_t i16;
    float number;
    switch (format) {
    case PELT_GLTF_FLOAT:
        memcpy(&number, bytes, sizeof(number));
        return number;
    case PELT_GLTF_I8:
        return (float)(int8_t)bytes[0];
    case PELT_GLTF_I8_NORM:
        return fmaxf((float)(int8_t)bytes[0] / 127.0f, -1.0f);
    case PELT_GLTF_U8_NORM:
        return (float)bytes[0] / 255.0f;
    case PELT_GLTF_I16:
        memcpy(&i16, bytes, sizeof(i16));
        return (float)i16;
    case PELT_GLTF_I16_NORM:
        memcpy(&i16, bytes, sizeof(i16));
        return fmaxf((float)i16 / 32767.0f, -1.0f);
    case PELT_GLTF_U16_NORM:
        return (float)load_unsigned(bytes, format) / 65535.0f;
    default:
        return (float)load_unsigned(bytes, format);
    }
}

/* Components of the element types read here lie close together: no matrices of small integers. */
static void convert(const uint8_t *bytes, size_t stride, size_t count, uint32_t width,
                    pelt_gltf_format format, target to, size_t first)
{
    size_t component = pelt_gltf_component_size(format);
    for (size_t i = 0; i < count; i++, bytes += stride) {
        size_t row = (first + i) * to.stride;
        for (uint32_t k = 0; k < width; k++) {
            const uint8_t *from = bytes + k * component;
            switch (to.type) {
            case FLOATS:
                ((float *)to.numbers)[row + k] = load_float(from, format);
                break;
            case U16S:
                ((uint16_t *)to.numbers)[row + k] = (uint16_t)load_unsigned(from, format);
                break;
            case U32S:
                ((uint32_t *)to.numbers)[row + k] = load_unsigned(from, format);
                break;
            }
        }
    }
}

static bool unpack_sparse(pelt_gltf_reader *reader, uint32_t index, target to)
{
    const pelt_gltf_accessor *accessor = &reader->accessors[index];
    const uint8_t *indices = pelt_gltf_view_bytes(reader, accessor->sparse_index_view);
    const uint8_t *values = pelt_gltf_view_bytes(reader, accessor->sparse_value_view);
    if (!indices || !values) {
        return false;
    }
    indices += accessor->sparse_index_offset;
    values += accessor->sparse_value_offset;
    size_t index_size = pelt_gltf_component_size(accessor->sparse_format);
    size_t size = accessor->width * pelt_gltf_component_size(accessor->format);
    int64_t previous = -1;
    for (uint32_t i = 0; i < accessor->sparse_count; i++) {
        uint32_t element = load_unsigned(indices + i * index_size, accessor->sparse_format);
        if (element >= accessor->count || element <= previous) {
            return pelt_gltf_fail(
                reader, PELT_ERROR_FILE, pelt_gltf_at("/accessors/%u/sparse/indices", index),
                element >= accessor->count ? "index %u is %u, but the accessor has %u elements"
                                           : "index %u is %u, not more than the one before it",
                i, element, accessor->count);
        }
        previous = element;
        convert(values + i * size, size, 1, accessor->width, accessor->format, to, element);
    }
    return true;
}

static bool unpack(pelt_gltf_reader *reader, uint32_t index, target to)
{
    const pelt_gltf_accessor *accessor = &reader->accessors[index];
    if (accessor->view >= 0) {
        const uint8_t *bytes = pelt_gltf_view_bytes(reader, (uint32_t)accessor->view);
        if (!bytes) {
            return false;
        }
        size_t size = accessor->width * pelt_gltf_component_size(accessor->format);
        convert(bytes + accessor->offset, pelt_gltf_stride(reader, accessor, size), accessor->count,
                accessor->width, accessor->format, to, 0);
    }
    return accessor->sparse_count == 0 || unpack_sparse(reader, index, to);
}

bool pelt_gltf_unpack_floats(pelt_gltf_reader *reader, uint32_t accessor, float *out, size_t stride)
{
    return unpack(reader, accessor, (target){ FLOATS, out, stride });
}

bool pelt_gltf_unpack_u16(pelt_gltf_reader *reader, uint32_t accessor, uint16_t *out, size_t stride)
{
    return unpack(reader, accessor, (target){ U16S, out, stride });
}

bool pelt_gltf_unpack_u32(pelt_gltf_reader *reader, uint32_t accessor, uint32_t *out)
{
    return unpack(reader, accessor, (target){ U32S, out, 1 });
}

bool pelt_gltf_check_floats(pelt_gltf_reader *reader, pelt_gltf_place at, uint32_t index,
                            const float *values, size_t stride)
{
    const pelt_gltf_accessor *accessor = &reader->accessors[index];
    if (accessor->format != PELT_GLTF_FLOAT) {
        return true;
    }
    for (size_t i = 0; i < accessor->count; i++, values += stride) {
        uint32_t k = 0;
        while (k < accessor->width && fabsf(values[k]) <= (float)PELT_MAGNITUDE_MAX) {
            k++;
        }
        if (k < accessor->width) {
            bool finite = isfinite(values[k]);
            return pelt_gltf_fail(reader, finite ? PELT_ERROR_RANGE : PELT_ERROR_FILE,
                                  pelt_gltf_at("/accessors/%u", index),
                                  "component %u of element %zu is %g, %s (used by %s)", k, i,
                                  (double)values[k], finite ? "beyond 1e18" : "not a finite number",
                                  at.text);
        }
    }
    return true;
}

float *pelt_gltf_read_floats(pelt_gltf_reader *reader, pelt_gltf_place at, uint32_t index)
{
    const pelt_gltf_accessor *accessor = &reader->accessors[index];
    float *values = pelt_gltf_keep(reader, at, accessor->count, accessor->width * sizeof(float));
    return values && pelt_gltf_unpack_floats(reader, index, values, accessor->width) &&
                   pelt_gltf_check_floats(reader, at, index, values, accessor->width)
               ? values
               : NULL;
}
