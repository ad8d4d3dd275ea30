// What an instance of a crowd has at a vertex.
#extension GL_EXT_samplerless_texture_functions : require

#include "scene.glsl"

layout(set = 2, binding = 0) uniform texture2DArray palette;

vec4 pelt_palette_texel(ivec3 place)
{
    return texelFetch(palette, place, 0);
}

#include "pelt/crowd.glsl"

pelt_palette_texture palette_kind()
{
    return pelt_palette_texture(draw.layout_kind, draw.interpolation, draw.texels_per_joint,
                                draw.joints_per_layer, draw.skinning);
}

pelt_crowd_mesh crowd_mesh()
{
    return pelt_load_mesh(uvec2(draw.vertices));
}

pelt_crowd_instance crowd_instance()
{
    return pelt_load_instance(draw.instances, uint(gl_InstanceIndex));
}
