/* SPDX-License-Identifier: MIT */
/* The workgroup: its size and its place. */
#ifndef PELT_GROUP_GLSL
#define PELT_GROUP_GLSL

layout(local_size_x_id = 0) in;

/* The same number again. gl_WorkGroupSize would be it, but optimisers of SPIR-V have been seen to
 * fold expressions of it with its value before specialisation, 1. */
layout(constant_id = 1) const uint PELT_GROUP_SIZE = 64;

/* Workgroups beyond what one dimension of a dispatch guarantees are laid out in two. The last row
 * may have some too many: compare with the count. */
uint pelt_group_index()
{
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

#endif
