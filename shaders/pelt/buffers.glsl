/* SPDX-License-Identifier: MIT */
/* Memory by address. An index times the element's size must stay below 4 GiB, where some devices
 * wrap; the library sees to it. */
#ifndef PELT_BUFFERS_GLSL
#define PELT_BUFFERS_GLSL

#include "order.glsl"

layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer pelt_words {
    uint at[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer pelt_quads {
    uvec4 at[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer pelt_rows {
    vec4 at[];
};
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer pelt_out_words {
    uint at[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer pelt_out_quads {
    uvec4 at[];
};

/* The index-th of the boxes (pelt_box: six floats) at an address. */
pelt_ordered_box pelt_load_box(uvec2 address, uint index)
{
    pelt_words from = pelt_words(address);
    uint i = 6u * index;
    return pelt_ordered_box(pelt_order(ivec3(from.at[i], from.at[i + 1u], from.at[i + 2u])),
                            pelt_order(ivec3(from.at[i + 3u], from.at[i + 4u], from.at[i + 5u])));
}

/* Boxes that only shaders read again: two quads each, in order as they are. */
pelt_ordered_box pelt_load_partial(uvec2 scratch, uint index)
{
    ivec4 low = ivec4(pelt_quads(scratch).at[2u * index]);
    ivec4 high = ivec4(pelt_quads(scratch).at[2u * index + 1u]);
    return pelt_ordered_box(low.xyz, high.xyz);
}

void pelt_store_partial(uvec2 scratch, uint index, pelt_ordered_box box)
{
    pelt_out_quads to = pelt_out_quads(scratch);
    to.at[2u * index] = uvec4(ivec4(box.low, 0));
    to.at[2u * index + 1u] = uvec4(ivec4(box.high, 0));
}

void pelt_store_box(uvec2 address, uint index, pelt_ordered_box box)
{
    pelt_out_words to = pelt_out_words(address);
    uvec3 low = uvec3(pelt_order(box.low));
    uvec3 high = uvec3(pelt_order(box.high));
    uint i = 6u * index;
    to.at[i] = low.x;
    to.at[i + 1u] = low.y;
    to.at[i + 2u] = low.z;
    to.at[i + 3u] = high.x;
    to.at[i + 4u] = high.y;
    to.at[i + 5u] = high.z;
}

#endif
