// An instance whose vertices the skin pass has written.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#include "pelt/buffers.glsl"
#include "pelt/unpack.glsl"

layout(push_constant) uniform draw_block {
    mat4 view;
    uvec2 vertices;
    uint vertex_count;
} draw;

layout(location = 0) out vec3 out_normal;

void main()
{
    uint index = uint(gl_InstanceIndex) * draw.vertex_count + uint(gl_VertexIndex);
    uvec4 source = pelt_quads(draw.vertices).at[index];
    out_normal = pelt_scaled_direction(source.w) * (1024.0 / 511.0);
    gl_Position = draw.view * vec4(uintBitsToFloat(source.xyz), 1.0);
}
