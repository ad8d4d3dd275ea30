/* The device's copy. Compute shaders copy faster than vkCmdCopyBuffer on devices whose transfers go
 * through an engine of their own. Each invocation has four quads in flight, as one does not keep
 * fast memory busy. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#include "common.glsl"

layout(push_constant) uniform constants_block { bench_copy_constants constants; };

void main()
{
    uint first = bench_group_index() * 4u * BENCH_GROUP + gl_LocalInvocationIndex;
    uvec4 quads[4];
    for (uint i = 0u; i < 4u; i++) {
        uint quad = min(first + i * BENCH_GROUP, constants.count - 1u);
        quads[i] = pelt_quads(constants.from).at[quad];
    }
    for (uint i = 0u; i < 4u; i++) {
        if (first + i * BENCH_GROUP < constants.count) {
            pelt_out_quads(constants.to).at[first + i * BENCH_GROUP] = quads[i];
        }
    }
}
