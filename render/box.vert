// Edges of boxes as quads of constant width in pixels. One instance a box, 12 edges of 6 vertices.
#version 460
#include "scene.glsl"

struct wire_box {
    vec4 low, high; // unit space
};

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer wire_boxes
{
    wire_box at[];
};

layout(location = 0) out vec2 out_across; // pixels from the middle, pixels of the solid half

void main()
{
    uint edge = uint(gl_VertexIndex) / 6u, corner = uint(gl_VertexIndex) % 6u;
    // Edges 0-3 run along x, 4-7 along y, 8-11 along z; two bits choose among the four.
    uint axis = edge / 4u;
    bvec2 side = bvec2((edge & 1u) != 0u, (edge & 2u) != 0u);
    wire_boxes boxes = wire_boxes(draw.vertices);
    vec3 low = boxes.at[gl_InstanceIndex].low.xyz, high = boxes.at[gl_InstanceIndex].high.xyz;
    vec3 start = low, end = high;
    uint b = (axis + 1u) % 3u, c = (axis + 2u) % 3u;
    start[b] = end[b] = side.x ? high[b] : low[b];
    start[c] = end[c] = side.y ? high[c] : low[c];

    vec4 from = frame.camera * vec4(start, 1.0), to = frame.camera * vec4(end, 1.0);
    vec2 from_pixel = from.xy / from.w * frame.viewport.xy * 0.5;
    vec2 to_pixel = to.xy / to.w * frame.viewport.xy * 0.5;
    vec2 along = to_pixel - from_pixel;
    along = dot(along, along) > 1e-12 ? normalize(along) : vec2(1.0, 0.0);

    bool at_end = corner == 1u || corner == 2u || corner == 4u;
    float across = (corner == 2u || corner == 4u || corner == 5u) ? 1.0 : -1.0;
    vec4 clip = at_end ? to : from;
    // Half a width further at both ends, so that edges meet in a full corner.
    vec2 offset = vec2(-along.y, along.x) * across + along * (at_end ? 0.5 : -0.5);
    // Thinner around what is small, so that a crowd is not hidden behind its boxes.
    vec4 middle = frame.camera * vec4((low + high) * 0.5, 1.0);
    float focal = length(vec3(frame.camera[0][1], frame.camera[1][1], frame.camera[2][1]));
    float pixels = distance(low, high) * focal / middle.w * frame.viewport.y * 0.5;
    float thickness = clamp(frame.viewport.y / 1150.0, 0.45, 1.5) * clamp(pixels / 250.0, 0.5, 1.0);
    float solid = max(thickness, 0.35), rim = solid + 0.5;
    clip.xy += offset * rim / (frame.viewport.xy * 0.5) * clip.w;
    clip.z *= 1.002; // a hair nearer than what the box touches
    gl_Position = clip;
    out_across = vec2(across * rim, solid);
}
