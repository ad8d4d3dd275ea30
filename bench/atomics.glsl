/* The form of 2023: meshes laid end to end, an invocation a vertex, float4 weights, uint4 joints,
 * two 4x4 matrices a joint, and a box grown by atomics on floats whose order is that of unsigned
 * integers. With BENCH_WAVE the wave reduces first; with BENCH_SCALAR it also takes its mesh as one
 * where it does not straddle meshes. */
#include "common.glsl"

layout(constant_id = 0) const bool BOX = true;

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer bench_matrices {
    mat4 at[];
};
layout(buffer_reference, std430, buffer_reference_align = 4) buffer bench_box_words {
    uint at[];
};
layout(push_constant) uniform constants_block { bench_atomics_constants constants; };

uint flip(float value)
{
    uint bits = floatBitsToUint(value);
    return bits ^ (uint(int(bits) >> 31) | 0x80000000u);
}

void grow(uint mesh, vec3 low, vec3 high)
{
    bench_box_words words = bench_box_words(constants.boxes);
    for (uint i = 0u; i < 3u; i++) {
        atomicMin(words.at[6u * mesh + i], flip(low[i]));
        atomicMax(words.at[6u * mesh + 3u + i], flip(high[i]));
    }
}

/* Skins a vertex of a mesh and returns its position. */
vec3 skin(uint mesh_index, uint vertex)
{
    bench_mesh mesh = bench_meshes(constants.meshes).at[mesh_index];
    uint source = mesh.first_vertex + vertex;
    uint target = mesh.first_output + vertex;
    vec4 weights = pelt_rows(constants.weights).at[source];
    uvec4 joints = pelt_quads(constants.joints).at[source] + mesh.first_matrix;
    bench_matrices matrices = bench_matrices(constants.matrices);
    bench_matrices normal_matrices = bench_matrices(constants.normal_matrices);
    mat4 matrix = weights.x * matrices.at[joints.x] + weights.y * matrices.at[joints.y] +
                  weights.z * matrices.at[joints.z] + weights.w * matrices.at[joints.w];
    mat4 normal_matrix =
        weights.x * normal_matrices.at[joints.x] + weights.y * normal_matrices.at[joints.y] +
        weights.z * normal_matrices.at[joints.z] + weights.w * normal_matrices.at[joints.w];

    vec4 moved = matrix * vec4(bench_load_position(constants.positions, source), 1.0);
    vec3 position = moved.xyz / moved.w;
    uint normal_word = pelt_words(constants.normals).at[source];
    uint tangent_word = pelt_words(constants.tangents).at[source];
    vec3 normal = normalize(mat3(normal_matrix) * bench_decode_direction(normal_word));
    vec3 tangent = normalize(mat3(normal_matrix) * bench_decode_direction(tangent_word));
    bench_store_position(constants.out_positions, target, position);
    pelt_out_words(constants.out_normals).at[target] =
        bench_encode_direction(normal) | (normal_word & 0xc0000000u);
    pelt_out_words(constants.out_tangents).at[target] =
        bench_encode_direction(tangent) | (tangent_word & 0xc0000000u);
    return position;
}

void main()
{
    uint item = bench_thread_index();
    if (item >= constants.vertex_count) {
        return;
    }
    pelt_words prefix = pelt_words(constants.prefix);
#ifdef BENCH_SCALAR
    uint first =
        bench_find_mesh(constants.prefix, constants.mesh_count, subgroupBroadcastFirst(item));
    if (subgroupAll(item < prefix.at[first + 1u])) {
        vec3 position = skin(first, item - prefix.at[first]);
        if (BOX) {
            vec3 low = subgroupMin(position);
            vec3 high = subgroupMax(position);
            if (subgroupElect()) {
                grow(first, low, high);
            }
        }
        return;
    }
#endif
    uint mesh = bench_find_mesh(constants.prefix, constants.mesh_count, item);
    vec3 position = skin(mesh, item - prefix.at[mesh]);
    if (!BOX) {
        return;
    }
#ifdef BENCH_WAVE
    if (subgroupAllEqual(mesh)) {
        vec3 low = subgroupMin(position);
        vec3 high = subgroupMax(position);
        if (subgroupElect()) {
            grow(mesh, low, high);
        }
        return;
    }
#endif
    grow(mesh, position, position);
}
