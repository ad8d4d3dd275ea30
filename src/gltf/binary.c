#include "gltf/binary.h"

#include <math.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "glTF buffers are little-endian");

bool pelt_binary_add(pelt_binary *binary, const pelt_view *view)
{
    if (binary->count == binary->capacity) {
        uint32_t capacity = binary->capacity ? 2 * binary->capacity : 64;
        size_t bytes;
        if (capacity <= binary->capacity ||
            !pelt_multiply(capacity, sizeof(*binary->views), &bytes)) {
            return false;
        }
        pelt_view *views = pelt_reallocate(binary->host, binary->views, bytes);
        if (!views) {
            return false;
        }
        binary->views = views;
        binary->capacity = capacity;
    }
    pelt_view *added = &binary->views[binary->count++];
    *added = *view;
    added->offset = binary->size;
    binary->size += (view->count * (uint64_t)view->element_size + 3) / 4 * 4;
    return true;
}

void pelt_binary_release(pelt_binary *binary)
{
    pelt_release(binary->host, binary->views);
    *binary = (pelt_binary){ 0 };
}

void pelt_written_influence(const pelt_primitive *primitive, uint32_t vertex, uint32_t slot,
                            uint16_t *joint, float *weight)
{
    uint32_t count = primitive->influence_count;
    const uint16_t *joints = primitive->joints + (size_t)vertex * count;
    const float *weights = primitive->weights + (size_t)vertex * count;
    double all = 0, mine = 0;
    bool first = true;
    for (uint32_t i = 0; i < count; i++) {
        all += (double)weights[i];
        if (weights[i] > 0 && joints[i] == joints[slot]) {
            mine += (double)weights[i];
            first = first && i >= slot;
        }
    }
    bool used = weights[slot] > 0 && first;
    bool sums_to_one = fabs(all - 1) <= 1e-7;
    *joint = used ? joints[slot] : 0;
    *weight = used ? (float)(sums_to_one ? mine : mine / all) : 0;
}

/* Unit; (0 0 1) or (1 0 0), as skinning has it, for a vector without length. */
static void write_unit(const float *in, int fallback_axis, float out[3])
{
    double x = (double)in[0], y = (double)in[1], z = (double)in[2];
    double length = sqrt(x * x + y * y + z * z);
    memcpy(out, in, 3 * sizeof(*out));
    if (!(length > 0)) {
        out[0] = out[1] = out[2] = 0;
        out[fallback_axis] = 1;
    } else if (fabs(length - 1) > 1e-4) {
        for (int i = 0; i < 3; i++) {
            out[i] = (float)((double)in[i] / length);
        }
    }
}

static void write_matrix(const float *rows, float out[16])
{
    for (int column = 0; column < 4; column++) {
        for (int row = 0; row < 3; row++) {
            out[4 * column + row] = rows[4 * row + column];
        }
        out[4 * column + 3] = column == 3 ? 1 : 0;
    }
}

static void write_set(const pelt_view *view, uint32_t vertex, unsigned char *out)
{
    for (uint32_t i = 0; i < 4; i++) {
        uint16_t joint;
        float weight;
        pelt_written_influence(view->primitive, vertex, 4 * view->set + i, &joint, &weight);
        if (view->kind == PELT_VIEW_JOINTS_8) {
            out[i] = (unsigned char)joint;
        } else if (view->kind == PELT_VIEW_JOINTS_16) {
            memcpy(out + 2 * i, &joint, sizeof(joint));
        } else {
            memcpy(out + 4 * i, &weight, sizeof(weight));
        }
    }
}

/* One element of a view that is not raw. */
static void write_element(const pelt_view *view, size_t index, unsigned char *out)
{
    const float *floats = view->source;
    float values[16];
    switch (view->kind) {
    case PELT_VIEW_NORMALS:
        write_unit(floats + 3 * index, 2, values);
        break;
    case PELT_VIEW_TANGENTS:
        write_unit(floats + 4 * index, 0, values);
        values[3] = floats[4 * index + 3] < 0 ? -1 : 1;
        break;
    case PELT_VIEW_COLORS:
        for (size_t i = 0; i < 4; i++) {
            values[i] = fminf(fmaxf(floats[4 * index + i], 0), 1);
        }
        break;
    case PELT_VIEW_MATRICES:
        write_matrix(floats + 12 * index, values);
        break;
    case PELT_VIEW_INDICES_16: {
        uint16_t value = (uint16_t)((const uint32_t *)view->source)[index];
        memcpy(out, &value, sizeof(value));
        return;
    }
    case PELT_VIEW_JOINTS_8:
    case PELT_VIEW_JOINTS_16:
    case PELT_VIEW_WEIGHTS:
        write_set(view, (uint32_t)index, out);
        return;
    case PELT_VIEW_RAW:
        return;
    }
    memcpy(out, values, view->element_size);
}

static pelt_result write_view(const pelt_view *view, pelt_output *output)
{
    if (view->kind == PELT_VIEW_RAW) {
        return pelt_output_write(output, view->source, view->count * view->element_size);
    }
    unsigned char block[4096];
    size_t used = 0;
    for (size_t i = 0; i < view->count; i++) {
        write_element(view, i, block + used);
        used += view->element_size;
        if (used + view->element_size > sizeof(block) || i + 1 == view->count) {
            pelt_result result = pelt_output_write(output, block, used);
            if (result != PELT_OK) {
                return result;
            }
            used = 0;
        }
    }
    return PELT_OK;
}

pelt_result pelt_binary_write(const pelt_binary *binary, pelt_output *output)
{
    static const unsigned char padding[3] = { 0 };
    for (uint32_t i = 0; i < binary->count; i++) {
        const pelt_view *view = &binary->views[i];
        size_t bytes = view->count * view->element_size;
        pelt_result result = write_view(view, output);
        if (result == PELT_OK) {
            result = pelt_output_write(output, padding, (4 - bytes % 4) % 4);
        }
        if (result != PELT_OK) {
            return result;
        }
    }
    return PELT_OK;
}
