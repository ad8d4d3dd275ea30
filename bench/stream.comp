/* The floor: reads what pelt reads of a vertex, writes as much, and computes nothing. Chunks are
 * walked by 2^lane_bits invocations each, so that small meshes leave no lane idle. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#include "common.glsl"

layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer bench_chunks {
    bench_chunk at[];
};
layout(push_constant) uniform constants_block { bench_stream_constants constants; };

void main()
{
    uint thread = bench_thread_index();
    uint index = thread >> constants.lane_bits;
    if (index >= constants.chunk_count) {
        return;
    }
    uint lanes = 1u << constants.lane_bits;
    bench_chunk chunk = bench_chunks(constants.chunks).at[index];
    bench_mesh mesh = bench_meshes(constants.meshes).at[chunk.mesh];
    pelt_words joints = pelt_words(constants.joints);
    uint end = min(chunk.first_vertex + constants.chunk_vertices, mesh.vertex_count);
    for (uint vertex = chunk.first_vertex + (thread & (lanes - 1u)); vertex < end;
         vertex += lanes) {
        uint source = mesh.first_vertex + vertex;
        uint target = mesh.first_output + vertex;
        uvec4 quad = pelt_quads(constants.vertices).at[source];
        uint words = pelt_words(constants.tangents).at[source] ^
                     pelt_words(constants.weights).at[source];
        uint at = mesh.first_joint_word + mesh.joint_words * vertex;
        words ^= joints.at[at];
        if (mesh.joint_words == 2u) {
            words ^= joints.at[at + 1u];
        }
        pelt_out_quads(constants.out_vertices).at[target] = quad;
        pelt_out_words(constants.out_tangents).at[target] = words;
    }
}
