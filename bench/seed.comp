/* The seed's form: meshes padded to whole groups, which find their mesh in a prefix sum; 3x4
 * matrices, packed weights and joints, cofactor for normal and tangent, a partial box a group. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_arithmetic : require

#include "fold.glsl"

layout(constant_id = 0) const bool BOX = true;

layout(push_constant) uniform constants_block { bench_seed_constants constants; };

/* Three stored weights of 11, 11 and 10 bits over 2048, 2048 and 1024; the fourth is implied. */
vec4 decode_weights(uint word)
{
    vec3 stored = uintBitsToFloat(0x3f800000u | uvec3((word & 2047u) << 12,
                                                      ((word >> 11) & 2047u) << 12,
                                                      (word >> 22) << 13)) -
                  1.0;
    return vec4(stored, 1.0 - stored.x - stored.y - stored.z);
}

uvec4 load_joints(bench_mesh mesh, uint vertex)
{
    pelt_words words = pelt_words(constants.joints);
    if (mesh.joint_words == 2u) {
        uint at = mesh.first_joint_word + 2u * vertex;
        uvec2 pair = uvec2(words.at[at], words.at[at + 1u]);
        return uvec4(pair.x & 0xffffu, pair.x >> 16, pair.y & 0xffffu, pair.y >> 16);
    }
    uint word = words.at[mesh.first_joint_word + vertex];
    return uvec4(word, word >> 8, word >> 16, word >> 24) & 255u;
}

vec4 blend_row(uvec4 at, vec4 weights)
{
    pelt_rows rows = pelt_rows(constants.rows);
    return weights.x * rows.at[at.x] + weights.y * rows.at[at.y] + weights.z * rows.at[at.z] +
           weights.w * rows.at[at.w];
}

/* Skins a vertex of a mesh and returns its position. */
vec3 skin(bench_mesh mesh, uint vertex)
{
    uint source = mesh.first_vertex + vertex;
    uint target = mesh.first_output + vertex;
    vec4 weights = decode_weights(pelt_words(constants.weights).at[source]);
    uvec4 at = 3u * (load_joints(mesh, vertex) + mesh.first_matrix);
    vec4 r0 = blend_row(at, weights);
    vec4 r1 = blend_row(at + 1u, weights);
    vec4 r2 = blend_row(at + 2u, weights);

    vec4 point = vec4(bench_load_position(constants.positions, source), 1.0);
    vec3 position = vec3(dot(r0, point), dot(r1, point), dot(r2, point));
    uint normal_word = pelt_words(constants.normals).at[source];
    uint tangent_word = pelt_words(constants.tangents).at[source];
    mat3 cofactor_rows = mat3(cross(r1.xyz, r2.xyz), cross(r2.xyz, r0.xyz), cross(r0.xyz, r1.xyz));
    vec3 normal = normalize(bench_decode_direction(normal_word) * cofactor_rows);
    vec3 tangent = normalize(bench_decode_direction(tangent_word) * cofactor_rows);
    bench_store_position(constants.out_positions, target, position);
    pelt_out_words(constants.out_normals).at[target] =
        bench_encode_direction(normal) | (normal_word & 0xc0000000u);
    pelt_out_words(constants.out_tangents).at[target] =
        bench_encode_direction(tangent) | (tangent_word & 0xc0000000u);
    return position;
}

void main()
{
    uint group = bench_group_index();
    if (group >= constants.group_count) {
        return;
    }
    uint mesh_index = bench_find_mesh(constants.prefix, constants.mesh_count, group);
    bench_mesh mesh = bench_meshes(constants.meshes).at[mesh_index];
    uint first = (group - pelt_words(constants.prefix).at[mesh_index]) * BENCH_GROUP;
    uint vertex = first + gl_LocalInvocationIndex;
    vec3 low = vec3(LARGEST);
    vec3 high = vec3(-LARGEST);
    if (vertex < mesh.vertex_count) {
        low = skin(mesh, vertex);
        high = low;
    }
    if (BOX) {
        fold_and_store(low, high, constants.partials, group);
    }
}
