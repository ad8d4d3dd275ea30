/* Five ways of turning normals in one frame: that of pelt's pass (shaders/pelt/skin_main.glsl) for
 * meshes of one set of influences, without boxes. Palettes hold what the method needs beside each
 * skin matrix. Tangents go by the blended matrix in all. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#include "layout.h"
#include "pelt/buffers.glsl"
#include "pelt/deform.glsl"
#include "pelt/unpack.glsl"

layout(local_size_x = BENCH_NORMALS_GROUP) in;
layout(constant_id = 0) const uint METHOD = BENCH_NORMALS_COFACTOR;

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer bench_meshes {
    bench_mesh at[];
};
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer bench_chunks {
    bench_chunk at[];
};
layout(push_constant) uniform constants_block { bench_normals_constants constants; };

/* What the influences add up to. */
struct blend_sum {
    pelt_matrix matrix;
    vec3 second[3]; /* rows of the blended inverse transposes */
    vec3 normal;    /* the blended unit normals */
};

uint rows_a_joint()
{
    return METHOD == BENCH_NORMALS_JOINT_INVERSES    ? 6u
           : METHOD == BENCH_NORMALS_JOINT_COFACTORS ? 4u
                                                     : 3u;
}

/* One joint's cofactor matrix times the normal, to unit length: eight elements in half floats
 * behind the matrix, the ninth from the matrix itself. */
vec3 turn_by_joint(vec3 r0, vec3 r1, uvec4 halves, vec3 normal)
{
    vec2 a = unpackHalf2x16(halves.x);
    vec2 b = unpackHalf2x16(halves.y);
    vec2 c = unpackHalf2x16(halves.z);
    vec2 d = unpackHalf2x16(halves.w);
    vec3 turned = vec3(pelt_dot(vec3(a, b.x), normal), pelt_dot(vec3(b.y, c), normal),
                       pelt_dot(vec3(d, r0.x * r1.y - r0.y * r1.x), normal));
    pelt_normalize_comfortable(turned);
    return turned;
}

void add_joint(inout blend_sum sum, uint joint, float weight, vec3 normal)
{
    pelt_rows palette = pelt_rows(constants.palettes);
    uint at = rows_a_joint() * joint;
    vec4 rows[3] = vec4[3](palette.at[at], palette.at[at + 1u], palette.at[at + 2u]);
    for (uint row = 0u; row < 3u; row++) {
        sum.matrix.rows[row] += weight * rows[row];
    }
    if (METHOD == BENCH_NORMALS_JOINT_INVERSES) {
        for (uint row = 0u; row < 3u; row++) {
            sum.second[row] += weight * palette.at[at + 3u + row].xyz;
        }
    } else if (METHOD == BENCH_NORMALS_JOINT_COFACTORS) {
        uvec4 halves = floatBitsToUint(palette.at[at + 3u]);
        sum.normal += weight * turn_by_joint(rows[0].xyz, rows[1].xyz, halves, normal);
    }
}

vec3 turn_normal(blend_sum sum, vec3 normal)
{
    vec3 r0 = sum.matrix.rows[0].xyz;
    vec3 r1 = sum.matrix.rows[1].xyz;
    vec3 r2 = sum.matrix.rows[2].xyz;
    vec3 v;
    if (METHOD == BENCH_NORMALS_COFACTOR) {
        return pelt_skin_normal(sum.matrix, normal);
    } else if (METHOD == BENCH_NORMALS_INVERSE) {
        v = inverse(mat3(r0, r1, r2)) * normal; /* its columns: this is the transpose */
    } else if (METHOD == BENCH_NORMALS_JOINT_INVERSES) {
        v = vec3(pelt_dot(sum.second[0], normal), pelt_dot(sum.second[1], normal),
                 pelt_dot(sum.second[2], normal));
    } else if (METHOD == BENCH_NORMALS_JOINT_COFACTORS) {
        v = sum.normal;
    } else {
        v = vec3(pelt_dot(r0, normal), pelt_dot(r1, normal), pelt_dot(r2, normal));
    }
    return pelt_normalize_comfortable(v) || pelt_normalize_any(v) ? v : vec3(0.0, 0.0, 1.0);
}

/* What is read of a vertex. */
struct vertex_source {
    uvec4 position_normal;
    uint tangent;
    uint weights;
    uvec4 joints;
};

vertex_source load_source(bench_mesh mesh, uint vertex)
{
    uint index = mesh.first_vertex + vertex;
    pelt_words joints = pelt_words(constants.joints);
    uint at = mesh.first_joint_word + mesh.joint_words * vertex;
    vertex_source source;
    source.position_normal = pelt_quads(constants.vertices).at[index];
    source.tangent = pelt_words(constants.tangents).at[index];
    source.weights = pelt_words(constants.weights).at[index];
    source.joints = pelt_joints_8(joints.at[at]);
    if (mesh.joint_words == 2u) {
        source.joints = pelt_joints_16(uvec2(joints.at[at], joints.at[at + 1u]));
    }
    return source;
}

void skin_vertex(bench_mesh mesh, uint vertex, vertex_source source)
{
    vec4 weights = pelt_first_weights(source.weights);
    uvec4 joints = source.joints + mesh.first_matrix;
    vec3 normal = pelt_scaled_direction(source.position_normal.w);
    blend_sum sum =
        blend_sum(pelt_zero_matrix(), vec3[3](vec3(0.0), vec3(0.0), vec3(0.0)), vec3(0.0));
    float left = 1.0;
    for (uint slot = 1u; slot < 4u; slot++) {
        add_joint(sum, joints[slot], weights[slot], normal);
        left -= weights[slot];
    }
    add_joint(sum, joints[0], left, normal);

    vec3 position = pelt_transform_point(sum.matrix, uintBitsToFloat(source.position_normal.xyz));
    uint turned = pelt_encode_direction(turn_normal(sum, normal)) | PELT_HANDEDNESS;
    vec3 tangent = pelt_skin_tangent(sum.matrix, pelt_scaled_direction(source.tangent));
    uint target = mesh.first_output + vertex;
    pelt_out_quads(constants.out_vertices).at[target] =
        uvec4(floatBitsToUint(pelt_settle(position)), turned);
    pelt_out_words(constants.out_tangents).at[target] =
        pelt_encode_direction(tangent) | (source.tangent & PELT_HANDEDNESS);
}

void main()
{
    uint index = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (index >= constants.chunk_count) {
        return;
    }
    bench_chunk chunk = bench_chunks(constants.chunks).at[index];
    bench_mesh mesh = bench_meshes(constants.meshes).at[chunk.mesh];
    uint end = min(chunk.first_vertex + constants.chunk_vertices, mesh.vertex_count);
    uint vertex = chunk.first_vertex + gl_LocalInvocationIndex;
    vertex_source next;
    if (vertex < end) {
        next = load_source(mesh, vertex);
    }
    for (; vertex < end; vertex += BENCH_NORMALS_GROUP) {
        vertex_source source = next;
        if (vertex + BENCH_NORMALS_GROUP < end) {
            next = load_source(mesh, vertex + BENCH_NORMALS_GROUP);
        }
        skin_vertex(mesh, vertex, source);
    }
}
