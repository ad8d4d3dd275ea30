/* SPDX-License-Identifier: MIT */
/* Boxes as integers that compare as the floats do: minima and maxima are then exact, whatever the
 * device does with NaN, denormals or the sign of zero. */
#ifndef PELT_ORDER_GLSL
#define PELT_ORDER_GLSL

/* Its own inverse. */
ivec3 pelt_order(ivec3 bits)
{
    return bits ^ ((bits >> 31) & 0x7fffffff);
}

struct pelt_ordered_box {
    ivec3 low;
    ivec3 high;
};

/* FLT_MAX and -FLT_MAX: PELT_BOX_EMPTY. */
pelt_ordered_box pelt_empty_box()
{
    return pelt_ordered_box(pelt_order(ivec3(0x7f7fffff)), pelt_order(ivec3(0xff7fffff)));
}

pelt_ordered_box pelt_union(pelt_ordered_box a, pelt_ordered_box b)
{
    return pelt_ordered_box(min(a.low, b.low), max(a.high, b.high));
}

#endif
