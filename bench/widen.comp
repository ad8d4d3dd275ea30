/* The matrices of 2023 from three rows: the skin matrix and its inverse transpose, 4x4 each. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#include "common.glsl"

layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer bench_out_matrices {
    mat4 at[];
};
layout(push_constant) uniform constants_block { bench_widen_constants constants; };

void main()
{
    uint index = bench_thread_index();
    if (index >= constants.count) {
        return;
    }
    pelt_rows rows = pelt_rows(constants.rows);
    vec4 r0 = rows.at[3u * index];
    vec4 r1 = rows.at[3u * index + 1u];
    vec4 r2 = rows.at[3u * index + 2u];
    vec3 c0 = cross(r1.xyz, r2.xyz);
    vec3 c1 = cross(r2.xyz, r0.xyz);
    vec3 c2 = cross(r0.xyz, r1.xyz);
    float scale = 1.0 / dot(r0.xyz, c0);
    const vec4 last = vec4(0.0, 0.0, 0.0, 1.0);
    bench_out_matrices(constants.matrices).at[index] = transpose(mat4(r0, r1, r2, last));
    bench_out_matrices(constants.normal_matrices).at[index] =
        transpose(mat4(vec4(scale * c0, 0.0), vec4(scale * c1, 0.0), vec4(scale * c2, 0.0), last));
}
