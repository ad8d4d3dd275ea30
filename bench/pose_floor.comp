/* What posing cannot be faster than: the same bytes written, and nothing computed. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#include "common.glsl"

layout(push_constant) uniform constants_block { bench_pose_floor_constants constants; };

void main()
{
    uint first = bench_group_index() * constants.rows_a_lane * BENCH_GROUP;
    for (uint i = 0u; i < constants.rows_a_lane; i++) {
        uint row = first + i * BENCH_GROUP + gl_LocalInvocationIndex;
        if (row < constants.row_count) {
            pelt_out_quads(constants.matrices).at[row] = uvec4(row);
        }
    }
}
