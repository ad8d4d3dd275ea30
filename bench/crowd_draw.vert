// An instance skinned from a palette, of whatever kind.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_samplerless_texture_functions : require

layout(set = 0, binding = 0) uniform texture2DArray palette;

vec4 pelt_palette_texel(ivec3 place)
{
    return texelFetch(palette, place, 0);
}

#include "pelt/crowd.glsl"

layout(constant_id = 0) const uint LAYOUT = PELT_PALETTE_MATRIX_3X4;
layout(constant_id = 1) const uint INTERPOLATION = PELT_PALETTE_LERP;
layout(constant_id = 2) const uint TEXELS = 3;
layout(constant_id = 3) const uint JOINTS_PER_LAYER = 0;
layout(constant_id = 4) const uint SKINNING = PELT_PALETTE_LINEAR;

layout(push_constant) uniform draw_block {
    mat4 view;
    uvec2 mesh;
    uvec2 instances;
} draw;

layout(location = 0) out vec3 out_normal;

void main()
{
    pelt_palette_texture texture_kind =
        pelt_palette_texture(LAYOUT, INTERPOLATION, TEXELS, JOINTS_PER_LAYER, SKINNING);
    pelt_skinned_vertex v = pelt_crowd_vertex(
        texture_kind, pelt_load_mesh(draw.mesh),
        pelt_load_instance(draw.instances, uint(gl_InstanceIndex)), uint(gl_VertexIndex));
    out_normal = v.normal;
    gl_Position = draw.view * vec4(v.position, 1.0);
}
