#version 460
#include "scene.glsl"
#include "light.glsl"

layout(constant_id = 0) const int alpha_mode = PELT_MODE_OPAQUE;

layout(set = 1, binding = 0) uniform sampler2D base_color_texture;

layout(location = 0) in vec3 in_position;
layout(location = 1) in vec3 in_normal;
layout(location = 2) in vec2 in_texcoord;
layout(location = 3) in vec4 in_color;

layout(location = 0) out vec4 out_color;

const float LEAST_FACING = 0.05; // cosine between a normal and the way to the eye

void main()
{
    vec3 to_eye = normalize(frame.eye.xyz - in_position);
    vec3 geometric = cross(dFdx(in_position), dFdy(in_position));
    vec4 color = in_color * texture(base_color_texture, in_texcoord);
    if (alpha_mode == PELT_MODE_MASK) {
        // Coverage from alpha, sharpened to one pixel around the cutoff.
        color.a = (color.a - draw.alpha_cutoff) / max(fwidth(color.a), 1e-4) + 0.5;
        if (color.a <= 0.0) {
            discard;
        }
    }

    vec3 light;
    if ((draw.flags & PELT_IS_THIN) != 0u) {
        light = color.rgb * (SUN * 0.6 + ZENITH);
    } else {
        // Both sides are drawn, each as seen: the plane of the triangle is turned to the eye.
        geometric = dot(geometric, geometric) > 1e-30 ? normalize(geometric) : to_eye;
        if (dot(geometric, to_eye) < 0.0) {
            geometric = -geometric;
        }
        vec3 normal = geometric;
        if ((draw.flags & PELT_HAS_NORMALS) != 0u && dot(in_normal, in_normal) > 1e-8) {
            // Normals go with the winding, under mirrors too. A normal that merely leans away from
            // its triangle is not turned round: that would tear smooth surfaces along the edges of
            // triangles.
            normal = normalize(gl_FrontFacing ? in_normal : -in_normal);
            // Nor is it lit from behind: it leans back as far as the eye can see it.
            normal = normalize(normal + to_eye * max(LEAST_FACING - dot(normal, to_eye), 0.0));
        }
        ivec3 taps = ivec3(frame.taps.xyz);
        light = shade(in_position, normal, geometric, color.rgb, 0.55, taps);
    }

    vec3 lit = tone_map(light);
    float alpha = alpha_mode == PELT_MODE_OPAQUE ? 1.0 : clamp(color.a, 0.0, 1.0);
    out_color = vec4(alpha_mode == PELT_MODE_BLEND ? lit * alpha : lit, alpha);
}
