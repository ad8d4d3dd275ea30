// A vertex that a skin pass has written.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#include "pelt/cluster_bounds.glsl"
#include "pelt/unpack.glsl"

layout(push_constant) uniform draw_block {
    uvec2 vertices;
    uvec2 view;
    uint vertex_count; // of an instance
} draw;

layout(location = 0) out vec3 out_normal;

void main()
{
    // Clusters of a list have their places in the index of the vertex itself.
    uint instance = draw.vertex_count > 0u ? uint(gl_InstanceIndex) : 0u;
    uint index = instance * draw.vertex_count + uint(gl_VertexIndex);
    uvec4 source = pelt_quads(draw.vertices).at[index];
    pelt_gpu_cluster_view view = pelt_load_cluster_view(draw.view);
    vec3 p = uintBitsToFloat(source.xyz);
    out_normal = pelt_scaled_direction(source.w) * (1024.0 / 511.0);
    vec4 clip = vec4(0.0);
    for (uint k = 0u; k < 4u; k++) {
        clip[k] = view.clip[k] * p.x + view.clip[4u + k] * p.y + view.clip[8u + k] * p.z +
                  view.clip[12u + k];
    }
    gl_Position = clip;
}
