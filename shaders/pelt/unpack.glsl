/* SPDX-License-Identifier: MIT */
/* The decoders of the packed streams (pelt/pack.h) and the encoder of directions; the twin of
 * src/pack/codec.h. A code goes into the mantissa of a float and what is too much is subtracted,
 * which is exact: no division, no conversion. */
#ifndef PELT_UNPACK_GLSL
#define PELT_UNPACK_GLSL

const uint PELT_HANDEDNESS = 0xc0000000u;

/* The exponent bits of 1.0. A shader may define this as a variable that it computes from something
 * unknown: compilers then keep it in a register, and masking and inserting a field is one
 * instruction, not two. */
#ifndef PELT_EXPONENT_OF_ONE
#define PELT_EXPONENT_OF_ONE 0x3f800000u
#endif

/* 1 + mantissa / 2^23 */
float pelt_one_and(uint mantissa)
{
    return uintBitsToFloat(mantissa | PELT_EXPONENT_OF_ONE);
}

/* codes / 2^16 */
vec4 pelt_fractions_16(uvec4 codes)
{
    return uintBitsToFloat(0x3f800000u | (codes << 7u)) - 1.0;
}

/* The value, over 4096, of a field whose top code stands for one more. The field is the end of the
 * mantissa. 3072 + c / 4096 (1 + raise / 2^23) is rounded to a multiple of 1/4096: that is c, but
 * for the top code, the only one for which c raise / 2^23 is at least 1/2. All constants are floats
 * and the rest is exact, also where a product is rounded before it is added to. */
float pelt_topped_weight(uint code, float raise)
{
    float factor = 2048.0 + raise / 4096.0;
    float offset = 1024.0 - raise / 4096.0;
    return (pelt_one_and(code) * factor + offset) - 3072.0;
}

/* The first set. Its first weight is implied and given as 0: it is 1 minus all others of all sets,
 * exactly, in any order. 2047 x 2050 and 1023 x 4101 are above 2^22; 2046 and 1022 times the same
 * are below. */
vec4 pelt_first_weights(uint word)
{
    return vec4(0.0, pelt_topped_weight(word & 0x7ffu, 2050.0),
                pelt_one_and(word & 0x3ff800u) - 1.0, pelt_topped_weight(word >> 22, 4101.0));
}

vec4 pelt_further_weights(uvec2 words)
{
    return pelt_fractions_16(
        uvec4(words.x & 0xffffu, words.x >> 16, words.y & 0xffffu, words.y >> 16));
}

uvec4 pelt_joints_8(uint word)
{
    return uvec4(word & 0xffu, (word >> 8) & 0xffu, (word >> 16) & 0xffu, word >> 24);
}

uvec4 pelt_joints_16(uvec2 words)
{
    return uvec4(words.x & 0xffffu, words.x >> 16, words.y & 0xffffu, words.y >> 16);
}

/* 511/1024 of a direction, exactly: for what is normalised afterwards. Fields are used where they
 * lie in the mantissa, scaled afterwards, instead of being shifted to its top first. */
vec3 pelt_scaled_direction(uint word)
{
    return vec3(pelt_one_and(word & 0x3ffu) * 8192.0 - 8192.5,
                pelt_one_and(word & 0xffc00u) * 8.0 - 8.5,
                pelt_one_and((word >> 10) & 0xffc00u) * 8.0 - 8.5);
}

/* round(511 c) + 512 of each component: the low ten bits of 2^23 + x are x, rounded. */
uint pelt_encode_direction(vec3 unit)
{
    uvec3 codes = floatBitsToUint(unit * 511.0 + 8389120.0) & 0x3ffu;
    return codes.x | (codes.y << 10) | (codes.z << 20);
}

/* The code of v / length(v), given 1 / length(v), in fewer instructions: the exponents of y and z
 * are shifted out, that of x is subtracted. Garbage where the length is not what it should be. */
uint pelt_encode_scaled(vec3 v, float inverse_length)
{
    uvec3 codes = floatBitsToUint(v * (inverse_length * 511.0) + 8389120.0);
    return codes.x + (codes.y << 10) + (codes.z << 20) - 0x4b000000u;
}

#endif
