// What the raster pass of exact numbers reads.
#extension GL_GOOGLE_include_directive : require

#include "fetch.glsl"

// pelt_aov_constants of aov.c
layout(push_constant, std430) uniform draw_block
{
    animated_vertices vertices;
    animated_vertices previous; // of the frame before
    texcoord_stream texcoords;
    color_stream colors;
    vec4 base_color;
    uint flags;
    float alpha_cutoff;
    uint alpha_mode;
    uint instance, part;
} draw;
