// Light from above and from the sun.
#version 460

layout(location = 0) in vec3 in_normal;
layout(location = 1) in vec3 in_color;
layout(location = 0) out vec4 out_color;

void main()
{
    vec3 normal = normalize(gl_FrontFacing ? in_normal : -in_normal);
    float sun = max(dot(normal, normalize(vec3(0.5, 0.7, 0.5))), 0.0);
    out_color = vec4(in_color * (0.35 + 0.15 * normal.y + 0.7 * sun), 1.0);
}
