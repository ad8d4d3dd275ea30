// The ground, far beyond where haze hides it.
#version 460
#include "scene.glsl"

layout(location = 0) out vec3 out_position;

void main()
{
    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0 - 1.0;
    out_position = vec3(corner.x * 400.0, frame.ground.x, corner.y * 400.0);
    gl_Position = frame.camera * vec4(out_position, 1.0);
}
