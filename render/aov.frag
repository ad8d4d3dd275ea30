// Exact numbers of the surface in the middle of a pixel.
#version 460
#include "aov_raster.glsl"
#include "aov.glsl"

layout(set = 1, binding = 0) uniform sampler2D base_color_texture;

layout(location = 0) in vec3 in_position;
layout(location = 1) in vec3 in_normal;
layout(location = 2) in vec3 in_motion;
layout(location = 3) in vec2 in_texcoord;
layout(location = 4) in vec4 in_color;

layout(location = 0) out vec4 out_position;
layout(location = 1) out vec4 out_normal;
layout(location = 2) out vec4 out_motion;
layout(location = 3) out uvec4 out_ids;

void main()
{
    vec3 unit = unit_position(in_position);
    vec3 to_eye = frame.eye.xyz - unit;
    vec3 face = cross(dFdx(unit), dFdy(unit));
    if (draw.alpha_mode != PELT_MODE_OPAQUE) {
        float alpha = in_color.a * textureLod(base_color_texture, in_texcoord, 0.0).a;
        if (alpha < draw.alpha_cutoff) {
            discard;
        }
    }
    vec3 normal = in_normal;
    if ((draw.flags & PELT_HAS_NORMALS) == 0u || dot(normal, normal) < 1e-8) {
        normal = dot(face, face) > 0.0 ? (dot(face, to_eye) < 0.0 ? -face : face) : to_eye;
    }
    vec2 moved = pixel_motion(in_position, in_motion);
    out_position = vec4(in_position, 1.0);
    out_normal = vec4(normalize(normal), moved.x);
    out_motion = vec4(in_motion, moved.y);
    out_ids = uvec4(draw.instance, draw.part, uint(gl_PrimitiveID), 1u);
}
