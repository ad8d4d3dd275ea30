/* The attribute codec of KHR_meshopt_compression, bitstream version 1, and its colour filter.
 *
 * A stream is a header byte, blocks, and a tail: padding, the baseline element, one mode for each
 * four bytes of an element (a channel). A block has two control bits for every byte position,
 * then for each position the deltas of all its elements, in groups of 16.
 */
#include "reader.h"

#include <math.h>
#include <string.h>

enum { GROUP = 16, MAX_BLOCK = 256, MIN_TAIL = 24, VERSION_1 = 0xa1 };

typedef struct stream {
    const uint8_t *data, *end;
} stream;

static bool has(const stream *s, size_t size)
{
    return (size_t)(s->end - s->data) >= size;
}

/* 16 deltas of that many bits; all bits set means that a whole byte follows the group. */
static bool decode_group(stream *s, unsigned bits, uint8_t out[GROUP])
{
    if (bits == 0) {
        memset(out, 0, GROUP);
        return true;
    }
    if (!has(s, 2 * bits)) {
        return false;
    }
    if (bits == 8) {
        memcpy(out, s->data, GROUP);
        s->data += GROUP;
        return true;
    }
    const uint8_t *packed = s->data;
    s->data += 2 * bits;
    unsigned per_byte = 8 / bits, sentinel = (1u << bits) - 1;
    for (unsigned i = 0; i < GROUP; i++) {
        unsigned place = i % per_byte;
        /* Single bits begin at the low end of a byte, others at the high end. */
        unsigned shift = bits == 1 ? place : 8 - bits * (place + 1);
        unsigned value = packed[i / per_byte] >> shift & sentinel;
        if (value == sentinel) {
            if (!has(s, 1)) {
                return false;
            }
            value = *s->data++;
        }
        out[i] = (uint8_t)value;
    }
    return true;
}

/* The deltas of one byte position over a block. */
static bool decode_deltas(stream *s, unsigned control, size_t count, uint8_t out[MAX_BLOCK])
{
    static const unsigned widths[2][4] = { { 0, 1, 2, 4 }, { 1, 2, 4, 8 } };
    if (control == 2) {
        memset(out, 0, count);
        return true;
    }
    if (control == 3) {
        if (!has(s, count)) {
            return false;
        }
        memcpy(out, s->data, count);
        s->data += count;
        return true;
    }
    size_t groups = (count + GROUP - 1) / GROUP;
    if (!has(s, (groups + 3) / 4)) {
        return false;
    }
    const uint8_t *header = s->data;
    s->data += (groups + 3) / 4;
    for (size_t g = 0; g < groups; g++) {
        unsigned code = header[g / 4] >> (g % 4 * 2) & 3;
        if (!decode_group(s, widths[control][code], out + g * GROUP)) {
            return false;
        }
    }
    return true;
}

static uint32_t unzigzag(uint32_t value)
{
    return value >> 1 ^ (0u - (value & 1));
}

/* The next value of a channel: 4 bytes, as 4 bytes, 2 halves or one word. */
static uint32_t apply(unsigned mode, uint32_t previous, uint32_t delta)
{
    uint32_t value = 0;
    if ((mode & 15) == 2) {
        unsigned rotation = mode >> 4;
        return previous ^ (delta >> rotation | delta << ((32 - rotation) & 31));
    }
    unsigned bits = (mode & 15) == 0 ? 8 : 16;
    uint32_t mask = (1u << bits) - 1;
    for (unsigned shift = 0; shift < 32; shift += bits) {
        uint32_t sum = (previous >> shift) + unzigzag(delta >> shift & mask);
        value |= (sum & mask) << shift;
    }
    return value;
}

static uint32_t load(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static bool decode_block(stream *s, size_t stride, const uint8_t *modes, size_t count,
                         uint8_t *last, uint8_t *out)
{
    uint8_t deltas[4][MAX_BLOCK];
    const uint8_t *control = s->data;
    if (!has(s, stride / 4)) {
        return false;
    }
    s->data += stride / 4;
    for (size_t channel = 0; channel < stride / 4; channel++) {
        for (unsigned k = 0; k < 4; k++) {
            if (!decode_deltas(s, control[channel] >> (2 * k) & 3, count, deltas[k])) {
                return false;
            }
        }
        uint32_t value = load(last + 4 * channel);
        for (size_t i = 0; i < count; i++) {
            const uint8_t bytes[4] = { deltas[0][i], deltas[1][i], deltas[2][i], deltas[3][i] };
            value = apply(modes[channel], value, load(bytes));
            for (unsigned k = 0; k < 4; k++) {
                out[i * stride + 4 * channel + k] = (uint8_t)(value >> (8 * k));
            }
        }
    }
    memcpy(last, out + (count - 1) * stride, stride);
    return true;
}

bool pelt_gltf_decode_attributes(uint8_t *out, size_t count, size_t stride, const uint8_t *bytes,
                                 size_t size)
{
    size_t channels = stride / 4, tail = stride + channels;
    size_t padded = tail < MIN_TAIL ? MIN_TAIL : tail;
    if (size < 1 + padded || bytes[0] != VERSION_1) {
        return false;
    }
    const uint8_t *modes = bytes + size - channels;
    for (size_t i = 0; i < channels; i++) {
        if ((modes[i] & 15) > 2 || ((modes[i] & 15) < 2 && modes[i] >> 4 != 0)) {
            return false;
        }
    }
    uint8_t last[256];
    memcpy(last, bytes + size - tail, stride);
    stream s = { bytes + 1, bytes + size - padded };
    size_t block = (8192 / stride) & ~(size_t)(GROUP - 1);
    block = block < MAX_BLOCK ? block : MAX_BLOCK;
    for (size_t first = 0; first < count; first += block) {
        size_t here = count - first < block ? count - first : block;
        if (!decode_block(&s, stride, modes, here, last, out + first * stride)) {
            return false;
        }
    }
    return s.data == s.end;
}

/* One colour: luma, two signed chroma and alpha; alpha's highest bit tells how many bits they
 * have. */
static void filter_color(const int32_t in[4], int32_t full, int32_t out[4])
{
    int32_t scale = 1;
    while (scale < in[3]) {
        scale = scale << 1 | 1;
    }
    int32_t alpha = in[3] & scale >> 1;
    const int32_t values[4] = { in[0] + in[1] - in[2], in[0] + in[2], in[0] - in[1] - in[2],
                                alpha << 1 | (alpha & 1) };
    for (unsigned k = 0; k < 4; k++) {
        float value = roundf((float)values[k] * ((float)full / (float)scale));
        out[k] = value < 0 ? 0 : value > (float)full ? full : (int32_t)value;
    }
}

void pelt_gltf_filter_colors(uint8_t *elements, size_t count, size_t stride)
{
    for (uint8_t *e = elements; e < elements + count * stride; e += stride) {
        int32_t in[4], out[4];
        if (stride == 4) {
            const int32_t bytes[4] = { e[0], (int8_t)e[1], (int8_t)e[2], e[3] };
            memcpy(in, bytes, sizeof(in));
            filter_color(in, 255, out);
            for (unsigned k = 0; k < 4; k++) {
                e[k] = (uint8_t)out[k];
            }
            continue;
        }
        uint16_t words[4];
        memcpy(words, e, sizeof(words));
        const int32_t wide[4] = { words[0], (int16_t)words[1], (int16_t)words[2], words[3] };
        filter_color(wide, 65535, out);
        for (unsigned k = 0; k < 4; k++) {
            words[k] = (uint16_t)out[k];
        }
        memcpy(e, words, sizeof(words));
    }
}
