// Depth as a light sees it.
#version 460
#include "scene.glsl"

layout(location = 0) out vec2 out_texcoord;
layout(location = 1) out float out_alpha;

void main()
{
    uint index = uint(gl_VertexIndex);
    vec3 position = unit_position(draw.vertices.at[index].position);
    vec3 light = (frame.lights[draw.view] * vec4(position, 1.0)).xyz;
    gl_Position = vec4(light.xy * 2.0 - 1.0, light.z, 1.0);
    gl_PointSize = 1.0;
    out_texcoord = vec2(0.0);
    out_alpha = draw.base_color.a;
    if ((draw.flags & PELT_HAS_TEXCOORDS) != 0u) {
        out_texcoord = draw.texcoords.at[index];
    }
    if ((draw.flags & PELT_HAS_COLORS) != 0u) {
        out_alpha *= draw.colors.at[index].a;
    }
}
