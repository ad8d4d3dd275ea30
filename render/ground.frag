#version 460
#include "scene.glsl"
#include "light.glsl"

layout(location = 0) in vec3 in_position;

layout(location = 0) out vec4 out_color;

void main()
{
    vec3 up = vec3(0.0, 1.0, 0.0);
    vec3 color = shade(in_position, up, up, GROUND_ALBEDO, 0.7, ALL_TAPS);
    out_color = vec4(tone_map(hazed(color, in_position)), 1.0);
}
