/* SPDX-License-Identifier: MIT */
/* Where the skin matrices are read from: a copy in shared memory, if all palettes of the scene are
 * so small, or by address. In shared memory there is an array for each row, so that a row's place
 * is its joint times a power of two, and neighbouring joints lie in different banks. */
#ifndef PELT_PALETTE_GLSL
#define PELT_PALETTE_GLSL

#include "buffers.glsl"
#include "group.glsl"

layout(constant_id = 4) const uint SHARED_JOINTS = 0; /* room for so many; 0: by address */

shared vec4 shared_rows[3u * SHARED_JOINTS + 1u];
uvec2 palette_address;
uint palette_rows = 3u; /* of a joint, read by address: 4 with its rotation */

/* All invocations call it, and for the same palette if it is to be shared. */
void use_palette(uvec2 address, uint joint_count)
{
    palette_address = address;
    if (SHARED_JOINTS == 0u) {
        return;
    }
    for (uint joint = gl_LocalInvocationIndex; joint < joint_count; joint += PELT_GROUP_SIZE) {
        for (uint row = 0u; row < 3u; row++) {
            shared_rows[row * SHARED_JOINTS + joint] =
                pelt_rows(address).at[3u * joint + row];
        }
    }
    barrier();
}

vec4 pelt_palette_row(uint joint, uint row)
{
    return SHARED_JOINTS > 0u ? shared_rows[row * SHARED_JOINTS + joint]
                              : pelt_rows(palette_address).at[palette_rows * joint + row];
}

#endif
