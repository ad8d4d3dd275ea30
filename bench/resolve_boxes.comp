/* After the atomics: the flipped words as floats again. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#include "common.glsl"

layout(push_constant) uniform constants_block { bench_box_constants constants; };

uint unflip(uint word)
{
    return word ^ (((word >> 31) - 1u) | 0x80000000u);
}

void main()
{
    uint mesh = bench_thread_index();
    if (mesh < constants.mesh_count) {
        pelt_words from = pelt_words(constants.from);
        pelt_out_words to = pelt_out_words(constants.to);
        for (uint i = 6u * mesh; i < 6u * mesh + 6u; i++) {
            to.at[i] = unflip(from.at[i]);
        }
    }
}
