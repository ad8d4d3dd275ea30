#version 460
#include "scene.glsl"
#include "light.glsl"

layout(location = 0) in vec3 in_position;

layout(location = 0) out vec4 out_color;

void main()
{
    vec3 up = vec3(0.0, 1.0, 0.0);
    vec3 color = shade(in_position, up, up, GROUND_ALBEDO, 0.7);
    float far = length(in_position.xz);
    float haze = 1.0 - exp(-max(far - 1.2, 0.0) * 0.16);
    out_color = vec4(tone_map(mix(color, HORIZON, haze)), 1.0);
}
