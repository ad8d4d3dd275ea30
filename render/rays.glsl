// What shaders that trace rays share: bindings, and the triangle that was hit.
#extension GL_EXT_ray_tracing : require
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_GOOGLE_include_directive : require

#include "fetch.glsl"

layout(set = 0, binding = 1) uniform accelerationStructureEXT top_level;
layout(set = 0, binding = 2) uniform sampler2D base_color_textures[]; // of each material

layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer index_stream
{
    uint at[];
};

// pelt_ray_draw of rays.h: a geometry of a structure.
struct ray_draw {
    animated_vertices vertices;
    animated_vertices previous; // of the frame before
    index_stream indices;
    texcoord_stream texcoords;
    color_stream colors;
    uint flags;
    float alpha_cutoff;
    vec4 base_color;
    uint material, alpha_mode, instance, part;
};

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer ray_draws
{
    ray_draw at[];
};

layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer picture_pixels
{
    uint at[];
};

layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer aov_pixels
{
    uvec4 at[];
};

// pelt_ray_constants of rays.h
layout(push_constant, std430) uniform trace_block
{
    ray_draws draws;
    uvec2 pixels;
    uint samples;     // rays from the eye, a pixel
    uint sky_samples; // rays to the sky, for each of them
    uint sun_samples; // likewise
} trace;

// What any-hit shaders let pass.
const uint KIND_SEEN = 0u;   // of BLEND materials what is not there at all
const uint KIND_SOLID = 1u;  // what is less there than the cutoff, as depth passes do

struct ray_payload {
    float t; // < 0: nothing was hit
    uint draw, triangle;
    vec2 at; // barycentric, of the second corner and of the third
    uint kind;
};

uvec3 triangle_corners(uint draw, uint triangle)
{
    index_stream indices = trace.draws.at[draw].indices;
    return uvec3(indices.at[3u * triangle], indices.at[3u * triangle + 1u],
                 indices.at[3u * triangle + 2u]);
}

vec3 corner_weights(vec2 at)
{
    return vec3(1.0 - at.x - at.y, at);
}

vec2 texcoord_at(uint draw, uvec3 c, vec3 weights)
{
    if ((trace.draws.at[draw].flags & PELT_HAS_TEXCOORDS) == 0u) {
        return vec2(0.0);
    }
    texcoord_stream texcoords = trace.draws.at[draw].texcoords;
    return texcoords.at[c.x] * weights.x + texcoords.at[c.y] * weights.y +
           texcoords.at[c.z] * weights.z;
}

vec4 color_at(uint draw, uvec3 c, vec3 weights)
{
    vec4 color = trace.draws.at[draw].base_color;
    if ((trace.draws.at[draw].flags & PELT_HAS_COLORS) != 0u) {
        color_stream colors = trace.draws.at[draw].colors;
        color *= colors.at[c.x] * weights.x + colors.at[c.y] * weights.y +
                 colors.at[c.z] * weights.z;
    }
    return color;
}
