/* SPDX-License-Identifier: MIT */
/* The decoders of the packed streams (pelt/pack.h) and the encoder of directions; the twin of
 * src/pack/codec.h. A code goes into the mantissa of a float and what is too much is subtracted,
 * which is exact: no division, no conversion. */
#ifndef PELT_UNPACK_GLSL
#define PELT_UNPACK_GLSL

const uint PELT_HANDEDNESS = 0xc0000000u;

/* codes / 2^digits */
vec4 pelt_fractions(uvec4 codes, uint digits)
{
    return uintBitsToFloat(0x3f800000u | (codes << (23u - digits))) - 1.0;
}

/* The value of a field of so many bits whose top code stands for one more: 1/2 and 1/4 are that
 * much above what the fields of w1 and w3 hold. */
uint pelt_topped(uint code, int bits)
{
    return code + ((code + 1u) >> bits);
}

/* The first set. Its first weight is implied and given as 0: it is 1 minus all others of all sets,
 * exactly, in any order. */
vec4 pelt_first_weights(uint word)
{
    return pelt_fractions(uvec4(0u, pelt_topped(word & 0x7ffu, 11), (word >> 11) & 0x7ffu,
                                pelt_topped(word >> 22, 10)),
                          12u);
}

vec4 pelt_further_weights(uvec2 words)
{
    return pelt_fractions(uvec4(words.x & 0xffffu, words.x >> 16, words.y & 0xffffu, words.y >> 16),
                          16u);
}

uvec4 pelt_joints_8(uint word)
{
    return uvec4(word & 0xffu, (word >> 8) & 0xffu, (word >> 16) & 0xffu, word >> 24);
}

uvec4 pelt_joints_16(uvec2 words)
{
    return uvec4(words.x & 0xffffu, words.x >> 16, words.y & 0xffffu, words.y >> 16);
}

/* 511/1024 of a direction, exactly: for what is normalised afterwards. */
vec3 pelt_scaled_direction(uint word)
{
    uvec3 codes = uvec3(word, word >> 10, word >> 20) & 0x3ffu;
    return uintBitsToFloat(0x3f800000u | (codes << 13)) - 1.5;
}

/* round(511 c) + 512 of each component: the low ten bits of 2^23 + x are x, rounded. */
uint pelt_encode_direction(vec3 unit)
{
    uvec3 codes = floatBitsToUint(unit * 511.0 + 8389120.0) & 0x3ffu;
    return codes.x | (codes.y << 10) | (codes.z << 20);
}

#endif
