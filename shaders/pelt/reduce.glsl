/* SPDX-License-Identifier: MIT */
/* The union of the boxes of a workgroup's invocations; the first one gets the result. All must
 * call it. Assumes nothing of subgroups but that there are no more than invocations; where
 * PELT_SUBGROUP_ARITHMETIC is not defined, nothing at all. The group size is a power of two. */
#ifndef PELT_REDUCE_GLSL
#define PELT_REDUCE_GLSL

#include "group.glsl"
#include "order.glsl"

/* No larger than need be: shared memory is what limits how many small groups run at once, and
 * compilers spend registers accordingly. */
#ifdef PELT_SUBGROUP_ARITHMETIC
const uint PELT_SHARED_BOXES = PELT_GROUP_SIZE / 16u;
#else
const uint PELT_SHARED_BOXES = PELT_GROUP_SIZE;
#endif
shared pelt_ordered_box pelt_shared_boxes[PELT_SHARED_BOXES];

#ifdef PELT_SUBGROUP_ARITHMETIC
pelt_ordered_box pelt_reduce(pelt_ordered_box box)
{
    box = pelt_ordered_box(subgroupMin(box.low), subgroupMax(box.high));
    if (gl_NumSubgroups == 1u) {
        return box;
    }
    /* As many subgroups at a time as there is room for. */
    for (uint first = 0u; first < gl_NumSubgroups; first += PELT_SHARED_BOXES) {
        uint count = min(gl_NumSubgroups - first, PELT_SHARED_BOXES);
        uint place = gl_SubgroupID - first;
        if (place < count && subgroupElect()) {
            pelt_shared_boxes[place] = box;
        }
        barrier();
        if (gl_LocalInvocationIndex == 0u) {
            for (uint i = 0u; i < count; i++) {
                box = pelt_union(box, pelt_shared_boxes[i]);
            }
        }
        barrier();
    }
    return box;
}
#else
pelt_ordered_box pelt_reduce(pelt_ordered_box box)
{
    uint self = gl_LocalInvocationIndex;
    pelt_shared_boxes[self] = box;
    barrier();
    for (uint half_size = PELT_GROUP_SIZE / 2u; half_size > 0u; half_size /= 2u) {
        if (self < half_size) {
            box = pelt_union(box, pelt_shared_boxes[self + half_size]);
            pelt_shared_boxes[self] = box;
        }
        barrier();
    }
    return box;
}
#endif

#endif
