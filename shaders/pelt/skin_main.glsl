/* SPDX-License-Identifier: MIT */
/* The skin pass. A workgroup owns one chunk: it walks the chunk's vertices in strides of its own
 * size, each invocation keeps the box of its positions in registers, and one reduction at the end
 * gives the box of the chunk. That is the final box where the mesh has no other chunk, else it goes
 * to scratch for reduce_bounds.comp. Every box thus has one writer: no atomics, nothing to reset.
 *
 * What differs between instances (sets, joint width, strides, wanted outputs) is uniform in a
 * workgroup; the constants only remove what no instance of the scene needs. */
#include "buffers.glsl"
#include "deform.glsl"
#include "group.glsl"
#include "layout.h"
#include "order.glsl"
#include "reduce.glsl"
#include "unpack.glsl"

layout(constant_id = 2) const uint CHUNK_VERTICES = 1024;
layout(constant_id = 3) const uint MOST_SETS = 0; /* of any mesh; 0: any number */
layout(constant_id = 4) const bool ANY_JOINTS_16 = true;

layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer pelt_chunks {
    pelt_chunk at[];
};
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer pelt_records {
    pelt_skin_record at[];
};
layout(push_constant) uniform constants_block { pelt_skin_constants constants; };

uvec4 load_joints(pelt_skin_record record, uint index)
{
    pelt_words joints = pelt_words(record.joints);
    if (ANY_JOINTS_16 && (record.flags & PELT_RECORD_JOINTS_16) != 0u) {
        return pelt_joints_16(uvec2(joints.at[2u * index], joints.at[2u * index + 1u]));
    }
    return pelt_joints_8(joints.at[index]);
}

void add_weighted(inout pelt_matrix sum, pelt_rows matrices, uint joint, float weight)
{
    for (uint row = 0u; row < 3u; row++) {
        sum.rows[row] += weight * matrices.at[3u * joint + row];
    }
}

/* One further set of four; gives what is left of the implied weight. */
float add_set(inout pelt_matrix sum, pelt_skin_record record, uint set, uint vertex, float left)
{
    pelt_words words = pelt_words(record.weights);
    uint entry = (set - 1u) * record.vertex_count + vertex;
    uint at = record.vertex_count + 2u * entry;
    vec4 weights = pelt_further_weights(uvec2(words.at[at], words.at[at + 1u]));
    uvec4 joints = load_joints(record, set * record.vertex_count + vertex);
    pelt_rows matrices = pelt_rows(record.matrices);
    for (uint slot = 0u; slot < 4u; slot++) {
        add_weighted(sum, matrices, joints[slot], weights[slot]);
        left -= weights[slot];
    }
    return left;
}

/* What is read of a vertex. */
struct vertex_source {
    uvec4 position_normal;
    uint tangent;
    uint weights;
    uvec4 joints;
};

vertex_source load_source(pelt_skin_record record, uint vertex)
{
    vertex_source source;
    source.position_normal = pelt_quads(record.vertices).at[vertex];
    source.tangent = 0u;
    if ((record.flags & PELT_RECORD_TANGENTS) != 0u) {
        source.tangent = pelt_words(record.tangents).at[vertex];
    }
    source.weights = pelt_words(record.weights).at[vertex];
    source.joints = load_joints(record, vertex);
    return source;
}

/* The implied weight, the largest, is known and added last. */
pelt_matrix blend(pelt_skin_record record, uint vertex, vertex_source source)
{
    vec4 weights = pelt_first_weights(source.weights);
    pelt_rows matrices = pelt_rows(record.matrices);
    pelt_matrix sum = pelt_zero_matrix();
    float left = 1.0;
    for (uint slot = 1u; slot < 4u; slot++) {
        add_weighted(sum, matrices, source.joints[slot], weights[slot]);
        left -= weights[slot];
    }
    if (MOST_SETS == 0u) {
        for (uint set = 1u; set < record.set_count; set++) {
            left = add_set(sum, record, set, vertex, left);
        }
    } else if (MOST_SETS == 2u && record.set_count > 1u) {
        left = add_set(sum, record, 1u, vertex, left);
    }
    add_weighted(sum, matrices, source.joints[0], left);
    return sum;
}

void store_vertex(pelt_skin_record record, uint vertex, uvec3 position, uint normal)
{
    if ((record.flags & PELT_RECORD_INTERLEAVED) != 0u) {
        pelt_out_quads(record.out_positions).at[vertex] = uvec4(position, normal);
        return;
    }
    pelt_out_words positions = pelt_out_words(record.out_positions);
    uint at = vertex * record.position_stride;
    positions.at[at] = position.x;
    positions.at[at + 1u] = position.y;
    positions.at[at + 2u] = position.z;
    if ((record.flags & PELT_RECORD_NORMALS) != 0u) {
        pelt_out_words(record.out_normals).at[vertex * record.normal_stride] = normal;
    }
}

void store_tangent(pelt_skin_record record, uint vertex, pelt_matrix blended, uint word)
{
    vec3 tangent = pelt_skin_tangent(blended, pelt_scaled_direction(word));
    pelt_out_words(record.out_tangents).at[vertex * record.tangent_stride] =
        pelt_encode_direction(tangent) | (word & PELT_HANDEDNESS);
}

/* Skins a vertex and returns the bits of its position. */
uvec3 skin_vertex(pelt_skin_record record, uint vertex, vertex_source source)
{
    pelt_matrix blended = blend(record, vertex, source);
    vec3 point = uintBitsToFloat(source.position_normal.xyz);
    uvec3 position = pelt_position_bits(pelt_transform_point(blended, point));
    uint normal = 0u;
    if ((record.flags & PELT_RECORD_NORMALS) != 0u) {
        vec3 direction = pelt_scaled_direction(source.position_normal.w);
        normal = pelt_encode_direction(pelt_skin_normal(blended, direction)) | PELT_HANDEDNESS;
    }
    store_vertex(record, vertex, position, normal);
    if ((record.flags & PELT_RECORD_TANGENTS) != 0u) {
        store_tangent(record, vertex, blended, source.tangent);
    }
    return position;
}

void main()
{
    uint index = pelt_group_index();
    if (index >= constants.count) {
        return;
    }
    pelt_chunk chunk = pelt_chunks(constants.chunks).at[index];
    pelt_skin_record record = pelt_records(constants.records).at[chunk.record];
    uint end = chunk.first_vertex + min(CHUNK_VERTICES, record.vertex_count - chunk.first_vertex);

    /* A vertex is read while the one before it is skinned: compilers do not move loads before the
     * stores of an earlier turn themselves, for all they know these may touch the same memory. */
    uint vertex = chunk.first_vertex + gl_LocalInvocationIndex;
    vertex_source next;
    if (vertex < end) {
        next = load_source(record, vertex);
    }
    pelt_ordered_box box = pelt_empty_box();
    for (; vertex < end; vertex += PELT_GROUP_SIZE) {
        vertex_source source = next;
        if (vertex + PELT_GROUP_SIZE < end) {
            next = load_source(record, vertex + PELT_GROUP_SIZE);
        }
        ivec3 point = pelt_order(ivec3(skin_vertex(record, vertex, source)));
        box = pelt_union(box, pelt_ordered_box(point, point));
    }
    if ((record.flags & PELT_RECORD_BOX) == 0u) {
        return;
    }
    box = pelt_reduce(box);
    if (gl_LocalInvocationIndex == 0u) {
        if ((record.flags & PELT_RECORD_PARTIAL) != 0u) {
            uint partial = record.first_partial + chunk.first_vertex / CHUNK_VERTICES;
            pelt_store_box(constants.scratch, partial, box);
        } else {
            pelt_store_box(record.box, 0u, box);
        }
    }
}
