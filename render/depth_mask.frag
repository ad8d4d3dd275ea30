// Shadows of materials with holes: MASK by its cutoff, BLEND where it is more there than not.
#version 460
#include "scene.glsl"

layout(set = 1, binding = 0) uniform sampler2D base_color_texture;

layout(location = 0) in vec2 in_texcoord;
layout(location = 1) in float in_alpha;

void main()
{
    if (texture(base_color_texture, in_texcoord).a * in_alpha < draw.alpha_cutoff) {
        discard;
    }
}
