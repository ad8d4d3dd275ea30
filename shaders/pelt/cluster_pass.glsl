/* SPDX-License-Identifier: MIT */
/* What the dispatches of the cull pass share. */
#ifndef PELT_CLUSTER_PASS_GLSL
#define PELT_CLUSTER_PASS_GLSL

#include "buffers.glsl"
#include "cluster_pass_layout.h"
#include "group.glsl"

layout(push_constant) uniform constants_block { pelt_cluster_cull_constants constants; };

layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer cluster_spans {
    pelt_cluster_span at[];
};
layout(buffer_reference, std430, buffer_reference_align = 4) buffer span_states {
    pelt_span_state at[];
};
layout(buffer_reference, std430, buffer_reference_align = 4) buffer block_counts {
    uint at[];
};

const uint SPAN_STATE_BYTES = 12u;

uvec2 blocks_address()
{
    uint carry;
    uint low = uaddCarry(constants.scratch.x, constants.span_count * SPAN_STATE_BYTES, carry);
    return uvec2(low, constants.scratch.y + carry);
}

#endif
