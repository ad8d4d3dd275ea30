/* The bits of the packed streams (pelt/pack.h), read and written without a division or an
 * int-to-float conversion: a code is put into the mantissa of a float, and what is too much is
 * subtracted, which is exact. shaders/pelt/ has the same decoders for the GPU. */
#ifndef PELT_SRC_PACK_CODEC_H
#define PELT_SRC_PACK_CODEC_H

#include <pelt/pack.h>
#include <string.h>

static inline float float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline uint32_t float_to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

enum {
    FIRST_DIGITS = 12,   /* weights of the first set are multiples of 2^-12 ... */
    FURTHER_DIGITS = 16, /* ... those of further sets, and so the implied one, of 2^-16 */
    W1_TOP = 2048, /* 1/2 and 1/4, the ties that characters are full of, are one more than their
                    * fields hold: the top code stands for them, and 2047 and 1023 have none */
    W3_TOP = 1024
};

/* code / 2^digits for code < 2^digits: the code is the top of the mantissa of 1 + code / 2^digits.
 */
static inline float decode_fraction(uint32_t code, uint32_t digits)
{
    return float_from_bits(0x3f800000u | (code << (23 - digits))) - 1.0f;
}

/* Values over 4096: w1 <= 2048 and not 2047, w2 < 2048, w3 <= 1024 and not 1023. */
static inline uint32_t encode_first_weights(uint32_t w1, uint32_t w2, uint32_t w3)
{
    return (w1 - (w1 >> 11)) | (w2 << 11) | ((w3 - (w3 >> 10)) << 22);
}

/* The value of a field of so many bits whose top code stands for one more. */
static inline uint32_t topped(uint32_t code, uint32_t bits)
{
    return code + ((code + 1) >> bits);
}

/* Where a set's weights (set > 0) and joints of a vertex begin. */
static inline size_t further_weights_at(uint32_t vertex_count, uint32_t set, uint32_t vertex)
{
    return vertex_count + 2 * ((size_t)(set - 1) * vertex_count + vertex);
}

static inline size_t joints_at(uint32_t vertex_count, uint32_t joint_bytes, uint32_t set,
                               uint32_t vertex)
{
    return joint_bytes * ((size_t)set * vertex_count + vertex);
}

/* The explicit weights of one set of four. The implied weight, slot 0 of set 0, is given as 0: it
 * is 1 minus all explicit weights of all sets, in any order of subtraction, for every partial sum
 * is a multiple of 2^-16 not above 1 and thus a float. */
static inline void decode_weights(const pelt_packed_mesh *mesh, uint32_t set, uint32_t vertex,
                                  float weights[4])
{
    if (set == 0) {
        uint32_t word = mesh->weights[vertex];
        weights[0] = 0.0f;
        weights[1] = decode_fraction(topped(word & 0x7ff, 11), FIRST_DIGITS);
        weights[2] = decode_fraction((word >> 11) & 0x7ff, FIRST_DIGITS);
        weights[3] = decode_fraction(topped(word >> 22, 10), FIRST_DIGITS);
    } else {
        const uint32_t *words = mesh->weights + further_weights_at(mesh->vertex_count, set, vertex);
        weights[0] = decode_fraction(words[0] & 0xffff, FURTHER_DIGITS);
        weights[1] = decode_fraction(words[0] >> 16, FURTHER_DIGITS);
        weights[2] = decode_fraction(words[1] & 0xffff, FURTHER_DIGITS);
        weights[3] = decode_fraction(words[1] >> 16, FURTHER_DIGITS);
    }
}

static inline void decode_joints(const pelt_packed_mesh *mesh, uint32_t set, uint32_t vertex,
                                 uint32_t joints[4])
{
    const uint32_t *words =
        mesh->joints + joints_at(mesh->vertex_count, mesh->joint_bytes, set, vertex);
    if (mesh->joint_bytes == 1) {
        joints[0] = words[0] & 0xff;
        joints[1] = (words[0] >> 8) & 0xff;
        joints[2] = (words[0] >> 16) & 0xff;
        joints[3] = words[0] >> 24;
    } else {
        joints[0] = words[0] & 0xffff;
        joints[1] = words[0] >> 16;
        joints[2] = words[1] & 0xffff;
        joints[3] = words[1] >> 16;
    }
}

/* Directions. The low ten bits of 2^23 + x are the integer nearest to x; 511 c + 512 lies in
 * [1, 1023] for |c| <= 1, also when c is a rounding error above 1. */
static inline uint32_t encode_component(float c)
{
    return float_to_bits(c * 511.0f + 8389120.0f) & 0x3ff;
}

static inline uint32_t encode_unit_direction(const float unit[3])
{
    return encode_component(unit[0]) | (encode_component(unit[1]) << 10) |
           (encode_component(unit[2]) << 20);
}

#define HANDEDNESS_MASK 0xc0000000u

/* (code - 512) / 1024: exact, and 511/1024 of the component, which skinning need not undo because
 * it normalises afterwards. */
static inline float decode_scaled_component(uint32_t code)
{
    return float_from_bits(0x3f800000u | (code << 13)) - 1.5f;
}

static inline void decode_scaled_direction(uint32_t word, float direction[3])
{
    direction[0] = decode_scaled_component(word & 0x3ff);
    direction[1] = decode_scaled_component((word >> 10) & 0x3ff);
    direction[2] = decode_scaled_component((word >> 20) & 0x3ff);
}

/* pelt_encode_direction of what was computed in double precision. */
uint32_t pelt_encode_direction_double(const double direction[3], double w);

#endif
