/* The seed's second pass: one group a mesh walks the mesh's partial boxes. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_arithmetic : require

#include "fold.glsl"

layout(push_constant) uniform constants_block { bench_box_constants constants; };

void main()
{
    uint mesh = bench_group_index();
    if (mesh >= constants.mesh_count) {
        return;
    }
    pelt_words prefix = pelt_words(constants.prefix);
    uint end = prefix.at[mesh + 1u];
    vec3 low = vec3(LARGEST);
    vec3 high = vec3(-LARGEST);
    for (uint i = prefix.at[mesh] + gl_LocalInvocationIndex; i < end; i += BENCH_GROUP) {
        low = min(low, bench_load_position(constants.from, 2u * i));
        high = max(high, bench_load_position(constants.from, 2u * i + 1u));
    }
    fold_and_store(low, high, constants.to, mesh);
}
