// An animated mesh and where it was, for exact numbers.
#version 460
#include "aov_raster.glsl"

layout(location = 0) out vec3 out_position;
layout(location = 1) out vec3 out_normal;
layout(location = 2) out vec3 out_motion;
layout(location = 3) out vec2 out_texcoord;
layout(location = 4) out vec4 out_color;

void main()
{
    uint index = uint(gl_VertexIndex);
    animated_vertex v = draw.vertices.at[index];
    out_position = v.position;
    out_normal = decode_direction(v.normal);
    out_motion = v.position - draw.previous.at[index].position;
    out_texcoord = vec2(0.0);
    out_color = draw.base_color;
    if ((draw.flags & PELT_HAS_TEXCOORDS) != 0u) {
        out_texcoord = draw.texcoords.at[index];
    }
    if ((draw.flags & PELT_HAS_COLORS) != 0u) {
        out_color *= draw.colors.at[index];
    }
    gl_Position = frame.camera * vec4(unit_position(v.position), 1.0);
}
