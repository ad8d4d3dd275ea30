#version 460

layout(location = 0) in vec2 in_across; // pixels from the middle, pixels of the solid half

layout(location = 0) out vec4 out_color;

void main()
{
    const vec3 color = vec3(1.0, 0.21, 0.03);
    float alpha = clamp(in_across.y + 0.5 - abs(in_across.x), 0.0, 1.0) * 0.92;
    out_color = vec4(color * alpha, alpha);
}
