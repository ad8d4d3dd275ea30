// An instance of a crowd as the camera sees it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "crowd.glsl"

layout(location = 0) out vec3 out_position;
layout(location = 1) out vec3 out_normal;
layout(location = 2) out vec2 out_texcoord;
layout(location = 3) out vec4 out_color;

void main()
{
    uint index = uint(gl_VertexIndex);
    pelt_crowd_instance instance = crowd_instance();
    pelt_skinned_vertex v = pelt_crowd_vertex(palette_kind(), crowd_mesh(), instance, index);
    out_position = unit_position(v.position);
    out_normal = v.normal;
    out_texcoord = vec2(0.0);
    out_color = draw.base_color * pelt_tint(instance);
    if ((draw.flags & PELT_HAS_TEXCOORDS) != 0u) {
        out_texcoord = draw.texcoords.at[index];
    }
    if ((draw.flags & PELT_HAS_COLORS) != 0u) {
        out_color *= draw.colors.at[index];
    }
    gl_Position = frame.camera * vec4(out_position, 1.0);
    gl_PointSize = 1.0;
}
