/* Before the atomics: empty boxes. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#include "common.glsl"

layout(push_constant) uniform constants_block { bench_box_constants constants; };

void main()
{
    uint mesh = bench_thread_index();
    if (mesh < constants.mesh_count) {
        pelt_out_words words = pelt_out_words(constants.to);
        for (uint i = 0u; i < 3u; i++) {
            words.at[6u * mesh + i] = 0xffffffffu;
            words.at[6u * mesh + 3u + i] = 0u;
        }
    }
}
