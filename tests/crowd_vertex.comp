// What pelt/crowd.glsl makes of the vertices of a crowd's instances.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_samplerless_texture_functions : require

layout(local_size_x = 64) in;

layout(set = 0, binding = 0) uniform texture2DArray palette;

vec4 pelt_palette_texel(ivec3 place)
{
    return texelFetch(palette, place, 0);
}

#include "pelt/crowd.glsl"

layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer out_vertices
{
    vec4 at[]; // position, normal, tangent, position once more
};

layout(push_constant) uniform block {
    uvec2 mesh, instances, result;
    uint count; // of all instances' vertices
    uint layout_kind, interpolation, texels_per_joint, joints_per_layer, skinning;
} push;

void main()
{
    uint index = gl_GlobalInvocationID.x;
    if (index >= push.count) {
        return;
    }
    pelt_palette_texture texture_kind = pelt_palette_texture(
        push.layout_kind, push.interpolation, push.texels_per_joint, push.joints_per_layer,
        push.skinning);
    pelt_crowd_mesh mesh = pelt_load_mesh(push.mesh);
    pelt_crowd_instance instance = pelt_load_instance(push.instances, index / mesh.vertex_count);
    uint vertex = index % mesh.vertex_count;
    pelt_skinned_vertex v = pelt_crowd_vertex(texture_kind, mesh, instance, vertex);
    vec3 again = pelt_crowd_position(texture_kind, mesh, instance, vertex);
    out_vertices result = out_vertices(push.result);
    result.at[4u * index] = vec4(v.position, 1.0);
    result.at[4u * index + 1u] = vec4(v.normal, 0.0);
    result.at[4u * index + 2u] = v.tangent;
    result.at[4u * index + 3u] = vec4(again, 1.0);
}
