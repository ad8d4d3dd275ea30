// A crowd's instance, skinned from the palette's rows that it is between.
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

layout(constant_id = 0) const uint JOINTS_PER_LAYER = 0;

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer color_stream
{
    vec4 at[];
};

layout(push_constant) uniform draw_block {
    mat4 view;
    vec4 base_color;
    uvec2 mesh, instances, colors; // no colors: 0
} draw;

layout(location = 0) out vec3 out_normal;
layout(location = 1) out vec3 out_color;

void main()
{
    uint vertex = uint(gl_VertexIndex);
    pelt_palette_texture texture_kind = pelt_palette_texture(
        PELT_PALETTE_MATRIX_3X4, PELT_PALETTE_LERP, 3u, JOINTS_PER_LAYER, PELT_PALETTE_LINEAR);
    pelt_crowd_instance instance = pelt_load_instance(draw.instances, uint(gl_InstanceIndex));
    pelt_skinned_vertex v =
        pelt_crowd_vertex(texture_kind, pelt_load_mesh(draw.mesh), instance, vertex);
    out_normal = v.normal;
    out_color = draw.base_color.rgb * pelt_tint(instance).rgb;
    if (draw.colors != uvec2(0u)) {
        out_color *= color_stream(draw.colors).at[vertex].rgb;
    }
    gl_Position = draw.view * vec4(v.position, 1.0);
}
