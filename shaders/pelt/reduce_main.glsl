/* SPDX-License-Identifier: MIT */
/* The boxes of instances of several chunks: one workgroup unites the partial boxes of one. */
#include "buffers.glsl"
#include "group.glsl"
#include "layout.h"
#include "order.glsl"
#include "reduce.glsl"

layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer pelt_reductions {
    pelt_reduction at[];
};
layout(push_constant) uniform constants_block { pelt_reduce_constants constants; };

void main()
{
    uint index = pelt_group_index();
    if (index >= constants.count) {
        return;
    }
    pelt_reduction reduction = pelt_reductions(constants.reductions).at[index];
    pelt_ordered_box box = pelt_empty_box();
    for (uint i = gl_LocalInvocationIndex; i < reduction.count; i += PELT_GROUP_SIZE) {
        box = pelt_union(box, pelt_load_partial(constants.scratch, reduction.first_partial + i));
    }
    box = pelt_reduce(box);
    if (gl_LocalInvocationIndex == 0u) {
        pelt_store_box(reduction.box, 0u, box);
    }
}
