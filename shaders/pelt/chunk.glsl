/* SPDX-License-Identifier: MIT */
/* What a chunk's vertices are read from and written to. */
#ifndef PELT_CHUNK_GLSL
#define PELT_CHUNK_GLSL

#include "buffers.glsl"
#include "layout.h"
#include "order.glsl"
#include "palette.glsl"
#include "unpack.glsl"
/* Which reads the palette. */
#include "blend.glsl"

layout(constant_id = 2) const uint VERTEX = PELT_VERTEX_ANY;
layout(constant_id = 3) const bool ANY_INFLUENCES = true; /* several sets, joints of 16 bits */

bool has(pelt_skin_chunk chunk, uint flag)
{
    return (chunk.flags & flag) != 0u;
}

bool is_interleaved(pelt_skin_chunk chunk)
{
    return VERTEX != PELT_VERTEX_ANY || has(chunk, PELT_CHUNK_INTERLEAVED);
}

bool has_normals(pelt_skin_chunk chunk)
{
    return VERTEX != PELT_VERTEX_ANY || has(chunk, PELT_CHUNK_NORMALS);
}

bool has_tangents(pelt_skin_chunk chunk)
{
    return VERTEX == PELT_VERTEX_ANY ? has(chunk, PELT_CHUNK_TANGENTS)
                                     : VERTEX == PELT_VERTEX_TANGENTS;
}

/* What is read of a vertex. */
struct vertex_source {
    uvec4 position_normal;
    uint tangent;
    uint weights;
    uvec2 joints;
};

bool has_joints_16(pelt_skin_chunk chunk)
{
    return ANY_INFLUENCES && has(chunk, PELT_CHUNK_JOINTS_16);
}

/* The first set. */
void load_influences(pelt_skin_chunk chunk, uint vertex, inout vertex_source source)
{
    source.weights = pelt_words(chunk.weights).at[vertex];
    source.joints = pelt_load_joints(chunk.joints, has_joints_16(chunk), vertex);
}

void load_attributes(pelt_skin_chunk chunk, uint vertex, inout vertex_source source)
{
    source.position_normal = pelt_quads(chunk.vertices).at[vertex];
    source.tangent = VERTEX == PELT_VERTEX_PLAIN ? 0u : pelt_words(chunk.tangents).at[vertex];
}

pelt_influences first_influences(pelt_skin_chunk chunk, vertex_source source)
{
    return pelt_influences(pelt_first_weights(source.weights),
                           pelt_unpack_joints(source.joints, has_joints_16(chunk)));
}

pelt_influence_sets influence_sets(pelt_skin_chunk chunk)
{
    return pelt_influence_sets(chunk.weights, chunk.joints, has_joints_16(chunk),
                               chunk.vertex_count, chunk.set_count, chunk.vertex_count, 0u);
}

vertex_source load_source(pelt_skin_chunk chunk, uint vertex)
{
    vertex_source source;
    load_attributes(chunk, vertex, source);
    load_influences(chunk, vertex, source);
    return source;
}

void store_normal(pelt_skin_chunk chunk, uint vertex, uint code)
{
    uint stride = VERTEX == PELT_VERTEX_ANY ? chunk.normal_stride : 4u;
    pelt_out_words(chunk.out_normals).at[vertex * stride] = code;
}

void store_position_normal(pelt_skin_chunk chunk, uint vertex, uvec3 position, uint code)
{
    if (is_interleaved(chunk)) {
        pelt_out_quads(chunk.out_positions).at[vertex] = uvec4(position, code);
        return;
    }
    pelt_out_words positions = pelt_out_words(chunk.out_positions);
    uint at = vertex * chunk.position_stride;
    positions.at[at] = position.x;
    positions.at[at + 1u] = position.y;
    positions.at[at + 2u] = position.z;
    if (has_normals(chunk)) {
        store_normal(chunk, vertex, code);
    }
}

void store_tangent(pelt_skin_chunk chunk, uint vertex, uint code)
{
    uint stride = VERTEX == PELT_VERTEX_ANY ? chunk.tangent_stride : 1u;
    pelt_out_words(chunk.out_tangents).at[vertex * stride] = code;
}

void store_box(pelt_skin_chunk chunk, uvec2 scratch, pelt_ordered_box box)
{
    if (has(chunk, PELT_CHUNK_PARTIAL)) {
        pelt_store_partial(scratch, chunk.partial, box);
    } else {
        pelt_store_box(chunk.box, 0u, box);
    }
}

#endif
