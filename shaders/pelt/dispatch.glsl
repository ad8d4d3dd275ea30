/* Workgroups beyond what one dimension of a dispatch guarantees are laid out in two. The last row
 * may have some too many: compare with the count. */
#ifndef PELT_DISPATCH_GLSL
#define PELT_DISPATCH_GLSL

uint pelt_group_index()
{
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

#endif
