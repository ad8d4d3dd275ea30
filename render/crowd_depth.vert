// The depth of a crowd's instance as a light sees it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "crowd.glsl"

layout(location = 0) out vec2 out_texcoord;
layout(location = 1) out float out_alpha;

void main()
{
    uint index = uint(gl_VertexIndex);
    pelt_crowd_instance instance = crowd_instance();
    vec3 position =
        unit_position(pelt_crowd_position(palette_kind(), crowd_mesh(), instance, index));
    vec3 light = (frame.lights[draw.view] * vec4(position, 1.0)).xyz;
    gl_Position = vec4(light.xy * 2.0 - 1.0, light.z, 1.0);
    gl_PointSize = 1.0;
    out_texcoord = vec2(0.0);
    out_alpha = draw.base_color.a * pelt_tint(instance).a;
    if ((draw.flags & PELT_HAS_TEXCOORDS) != 0u) {
        out_texcoord = draw.texcoords.at[index];
    }
    if ((draw.flags & PELT_HAS_COLORS) != 0u) {
        out_alpha *= draw.colors.at[index].a;
    }
}
