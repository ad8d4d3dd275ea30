#version 460
#include "scene.glsl"
#include "light.glsl"

layout(location = 0) in vec2 in_clip;

layout(location = 0) out vec4 out_color;

void main()
{
    // Rows of the camera give clip x, y and w; infinitely far away only directions count.
    mat3 rows = transpose(mat3(frame.camera));
    mat3 clip = transpose(mat3(rows[0], rows[1], vec3(frame.camera[0][3], frame.camera[1][3],
                                                      frame.camera[2][3])));
    vec3 direction = normalize(inverse(clip) * vec3(in_clip, 1.0));
    out_color = vec4(tone_map(background(direction)), 1.0);
}
