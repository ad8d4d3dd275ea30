/* The second dispatch of the cull pass: how many clusters are visible in the spans of a block
 * before each, and in the block. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#include "pelt/cluster_pass.glsl"

const uint SPANS_A_LANE = PELT_BLOCK_SPANS / PELT_BLOCK_LANES;

shared uint shared_sums[PELT_BLOCK_LANES];

uint count_visible(uint span)
{
    return uint(bitCount(span_states(constants.scratch).at[span].visible));
}

/* The sum of those of all lanes up to this one. */
uint scan(uint sum)
{
    uint lane = gl_LocalInvocationIndex;
    shared_sums[lane] = sum;
    barrier();
    for (uint distance = 1u; distance < PELT_BLOCK_LANES; distance *= 2u) {
        uint other = lane >= distance ? shared_sums[lane - distance] : 0u;
        barrier();
        sum += other;
        shared_sums[lane] = sum;
        barrier();
    }
    return sum;
}

void main()
{
    uint block = pelt_group_index();
    uint lane = gl_LocalInvocationIndex;
    if (block > 0u && block * PELT_BLOCK_SPANS >= constants.span_count) {
        return;
    }
    span_states states = span_states(constants.scratch);
    uint first = block * PELT_BLOCK_SPANS + lane * SPANS_A_LANE;
    uint end = min(first + SPANS_A_LANE, constants.span_count);
    uint own = 0u;
    for (uint i = first; i < end; i++) {
        own += count_visible(i);
    }
    uint sum = scan(own);
    uint before = sum - own;
    for (uint i = first; i < end; i++) {
        states.at[i].before = before;
        before += count_visible(i);
    }
    if (lane == PELT_BLOCK_LANES - 1u) {
        block_counts(blocks_address()).at[block] = sum;
    }
}
