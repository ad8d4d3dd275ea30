/* SPDX-License-Identifier: MIT */
/* The skin pass. A workgroup owns one chunk: it walks the chunk's vertices in strides of its own
 * size, each invocation keeps the box of its positions in registers, and one reduction at the end
 * gives the box of the chunk. That is the final box where the mesh has no other chunk, else it goes
 * to scratch for reduce_bounds.comp. Every box thus has one writer: no atomics, nothing to reset.
 * Where meshes are smaller than a subgroup, a team of a few invocations takes the group's part.
 *
 * What differs between chunks is uniform in a workgroup (not among teams); the constants remove
 * what no instance of the scene needs. docs/performance.md says what each turn of the code gave. */
#extension GL_EXT_control_flow_attributes : require

#include "layout.h"

layout(push_constant) uniform constants_block { pelt_skin_constants constants; };
uint exponent_of_one;
#define PELT_EXPONENT_OF_ONE exponent_of_one

#include "buffers.glsl"
#include "chunk.glsl"
#include "deform.glsl"
#include "dual.glsl"
#include "group.glsl"
#include "order.glsl"
#include "reduce.glsl"

layout(constant_id = 5) const bool TEAMS = false;
layout(constant_id = 6) const bool READ_AHEAD = true;

/* Whether chunks of dual quaternions may be among them. No constant of specialisation, for drivers
 * go through all of a module for each of its pipelines. */
#ifdef PELT_DUAL_QUATERNIONS
const bool ANY_DUAL = true;
#else
const bool ANY_DUAL = false;
#endif

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer pelt_chunks {
    pelt_skin_chunk at[];
};

/* -- one vertex ---------------------------------------------------------------------------- */

/* Dual quaternions, of any number of sets. The implied weight's joint is the dominant one; with all
 * of the weight its matrix stays as it is. */
pelt_matrix blend_dual(pelt_skin_chunk chunk, uint vertex, vertex_source source)
{
    pelt_influences influences = first_influences(chunk, source);
    uint implied_joint = influences.joints[0];
    vec4 side = pelt_palette_row(implied_joint, 3u);
    pelt_dual_blend sum = pelt_no_motion();
    float implied = 1.0;
    for (uint set = 0u;;) {
        for (uint slot = 0u; slot < 4u; slot++) {
            float weight = influences.weights[slot];
            if (weight > 0.0) {
                pelt_add_motion(sum, influences.joints[slot], weight, side);
                implied -= weight;
            }
        }
        set++;
        if (!ANY_INFLUENCES || set >= chunk.set_count) {
            break;
        }
        influences = pelt_further_set(influence_sets(chunk), set, vertex);
    }
    if (implied == 1.0) {
        pelt_matrix one = pelt_zero_matrix();
        pelt_add_joint(one, implied_joint, 1.0);
        return one;
    }
    pelt_add_motion(sum, implied_joint, implied, side);
    return pelt_blended_matrix(sum);
}

pelt_matrix blend(pelt_skin_chunk chunk, uint vertex, vertex_source source)
{
    if (ANY_DUAL && has(chunk, PELT_CHUNK_DUAL)) {
        return blend_dual(chunk, vertex, source);
    }
    if (ANY_INFLUENCES && chunk.set_count > 1u) {
        return pelt_blend_sets(influence_sets(chunk), vertex, first_influences(chunk, source));
    }
    return pelt_blend(source.weights, pelt_unpack_joints(source.joints, has_joints_16(chunk)));
}

/* What an invocation has seen of its vertices. The floats of positions are such that minima and
 * maxima of them are exact (pelt_settle). */
struct walk {
    vec3 low;
    vec3 high;
    uint strain; /* above PELT_COMFORTABLE: directions came near overflow or underflow */
};

/* Skins a vertex. To read ahead, another one is read in its place as soon as what was read is used
 * up: where they find these loads is where compilers leave them. */
void skin_vertex(pelt_skin_chunk chunk, uint vertex, uint next, inout vertex_source source,
                 inout walk seen)
{
    pelt_matrix blended = blend(chunk, vertex, source);
    if (READ_AHEAD) {
        load_influences(chunk, next, source);
    }
    vec3 point = uintBitsToFloat(source.position_normal.xyz);
    vec3 normal = pelt_scaled_direction(source.position_normal.w);
    vec3 tangent = pelt_scaled_direction(source.tangent);
    uint handedness = source.tangent & PELT_HANDEDNESS;
    if (READ_AHEAD) {
        load_attributes(chunk, next, source);
    }

    vec3 position = pelt_settle(pelt_transform_point(blended, point));
    seen.low = min(seen.low, position);
    seen.high = max(seen.high, position);
    uint code = 0u;
    if (has_normals(chunk)) {
        normal = pelt_cofactor_times(blended, normal);
        float squared = pelt_dot(normal, normal);
        seen.strain = max(seen.strain, pelt_strain(squared));
        code = pelt_encode_scaled(normal, inversesqrt(squared)) + PELT_HANDEDNESS;
    }
    store_position_normal(chunk, vertex, floatBitsToUint(position), code);
    if (has_tangents(chunk)) {
        tangent = pelt_turn(blended, tangent);
        float squared = pelt_dot(tangent, tangent);
        seen.strain = max(seen.strain, pelt_strain(squared));
        code = pelt_encode_scaled(tangent, inversesqrt(squared)) + handedness;
        store_tangent(chunk, vertex, code);
    }
}

/* The directions again, whatever the matrices. */
void skin_extreme_directions(pelt_skin_chunk chunk, uint vertex)
{
    vertex_source source = load_source(chunk, vertex);
    pelt_matrix blended = blend(chunk, vertex, source);
    if (has_normals(chunk)) {
        vec3 normal = pelt_scaled_direction(source.position_normal.w);
        normal = pelt_skin_extreme_normal(blended, normal);
        store_normal(chunk, vertex, pelt_encode_direction(normal) | PELT_HANDEDNESS);
    }
    if (has_tangents(chunk)) {
        vec3 tangent = pelt_scaled_direction(source.tangent);
        tangent = pelt_skin_extreme_tangent(blended, tangent);
        store_tangent(chunk, vertex,
                      pelt_encode_direction(tangent) | (source.tangent & PELT_HANDEDNESS));
    }
}

/* -- the vertices of one invocation -------------------------------------------------------- */

/* Every step-th vertex from `vertex` to `end`, which is behind it. Two are read ahead, in turns:
 * copies between them would cost as much as a tenth of the rest. */
walk walk_vertices(pelt_skin_chunk chunk, uint vertex, uint step, uint end)
{
    vec3 most = vec3(uintBitsToFloat(0x7f7fffffu));
    walk seen = walk(most, -most, 0u);
    uint last = end - 1u;
    vertex_source even = load_source(chunk, min(vertex, last));
    vertex_source odd = load_source(chunk, min(vertex + step, last));
    while (vertex < end) {
        if (!READ_AHEAD) {
            even = load_source(chunk, vertex);
        }
        skin_vertex(chunk, vertex, min(vertex + 2u * step, last), even, seen);
        vertex += step;
        if (READ_AHEAD) {
            if (vertex >= end) {
                break;
            }
            skin_vertex(chunk, vertex, min(vertex + 2u * step, last), odd, seen);
            vertex += step;
        }
    }
    return seen;
}

/* Rare, so it reads the chunk again instead of keeping it all the while: the compiler cannot know
 * that zero is 0. */
void redo_extreme_directions(uint index, uint lane, uint step)
{
    pelt_skin_chunk chunk = pelt_chunks(constants.chunks).at[index + constants.zero];
    [[dont_unroll]] for (uint vertex = chunk.first_vertex + lane; vertex < chunk.end_vertex;
                         vertex += step) {
        skin_extreme_directions(chunk, vertex);
    }
}

pelt_ordered_box box_of(walk seen)
{
    return pelt_ordered_box(pelt_order(floatBitsToInt(seen.low)),
                            pelt_order(floatBitsToInt(seen.high)));
}

/* -- groups and teams ---------------------------------------------------------------------- */

shared pelt_ordered_box team_boxes[TEAMS ? PELT_GROUP_SIZE : 1u];

/* Of a team; its first invocation gets the result. All invocations of the group must call it. */
pelt_ordered_box reduce_team(pelt_ordered_box box, uint lane, uint team)
{
    if (team > 1u) {
        team_boxes[gl_LocalInvocationIndex] = box;
        barrier();
    }
    if (lane == 0u) {
        for (uint i = 1u; i < team; i++) {
            box = pelt_union(box, team_boxes[gl_LocalInvocationIndex + i]);
        }
    }
    return box;
}

/* Those who share a chunk take every step-th vertex each, from their lane on. The teams of a group
 * share nothing but barriers, so those behind the last chunk are idle, not absent. */
void skin_chunk(uint index, uint lane, uint step)
{
    bool idle = TEAMS && index >= constants.count;
    pelt_skin_chunk chunk = pelt_chunks(constants.chunks).at[idle ? 0u : index];
    use_palette(chunk.matrices, chunk.joint_count);
    palette_rows = ANY_DUAL && has(chunk, PELT_CHUNK_DUAL) ? 4u : 3u;
    pelt_ordered_box box = pelt_empty_box();
    if (!idle) {
        walk seen = walk_vertices(chunk, chunk.first_vertex + lane, step, chunk.end_vertex);
        if (seen.strain > PELT_COMFORTABLE) {
            redo_extreme_directions(index, lane, step);
        }
        box = box_of(seen);
    }
    if (TEAMS) {
        box = reduce_team(box, lane, step);
    }
    if (!idle && has(chunk, PELT_CHUNK_BOX)) {
        if (!TEAMS) {
            box = pelt_reduce(box);
        }
        if (lane == 0u) {
            store_box(chunk, constants.scratch, box);
        }
    }
}

void main()
{
    exponent_of_one = 0x3f800000u + constants.zero;
    uint index = pelt_group_index();
    uint lane = gl_LocalInvocationIndex;
    uint step = PELT_GROUP_SIZE;
    if (TEAMS) {
        step = 1u << constants.team_bits;
        index = (index * PELT_GROUP_SIZE + lane) >> constants.team_bits;
        lane &= step - 1u;
    }
    if (TEAMS || index < constants.count) {
        skin_chunk(index, lane, step);
    }
}
