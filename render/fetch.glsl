// What every shader reads: the frame, and streams of vertices.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_GOOGLE_include_directive : require

#include "frame.h"

layout(set = 0, binding = 0, std140) uniform frame_block
{
    pelt_frame frame;
};

struct animated_vertex {
    vec3 position;
    uint normal;
};

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer animated_vertices
{
    animated_vertex at[];
};

layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer texcoord_stream
{
    vec2 at[];
};

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer color_stream
{
    vec4 at[];
};

vec3 unit_position(vec3 scene_position)
{
    return (scene_position - frame.origin.xyz) * frame.origin.w;
}

// pelt/pack.h: A2B10G10R10, component = (code - 512) / 511
vec3 decode_direction(uint code)
{
    uvec3 codes = uvec3(code, code >> 10, code >> 20) & 1023u;
    return (vec3(codes) - 512.0) / 511.0;
}
