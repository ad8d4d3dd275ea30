// Bindings and vertex fetch of every pass that rasterises.
#extension GL_GOOGLE_include_directive : require

#include "fetch.glsl"

// pelt_draw_constants of internal.h
layout(push_constant, std430) uniform draw_block
{
    animated_vertices vertices;
    texcoord_stream texcoords;
    color_stream colors;
    uvec2 instances;
    vec4 base_color;
    uint view;
    uint flags;
    float alpha_cutoff;
    uint layout_kind, interpolation, texels_per_joint, joints_per_layer, skinning;
    uvec2 cluster_view, cluster_counts;
    uint first_group, cluster_colors;
} draw;
