/* SPDX-License-Identifier: MIT */
/* What both dispatches of the crowd pass share. An invocation is a member. */
#ifndef PELT_CROWD_PASS_GLSL
#define PELT_CROWD_PASS_GLSL

#include "crowd_member.glsl"
#include "group.glsl"

layout(push_constant) uniform constants_block { pelt_crowd_constants constants; };

bool has(uint flag)
{
    return (constants.flags & flag) != 0u;
}

/* Where a member is now, and in which clip. */
pelt_crowd_place find_place(pelt_crowd_state state, pelt_crowd_header header,
                            out pelt_crowd_clip clip)
{
    clip = pelt_crowd_clips(constants.data).at[header.clips / 32u + state.play.clip];
    uvec2 now = uvec2(constants.now_low, constants.now_high);
    pelt_moment time = pelt_play_time(state.play, now, clip.duration);
    if (pelt_before(time, 0.0)) {
        time = pelt_moment(0.0, 0.0);
    } else if (!pelt_before(time, clip.duration)) {
        time = pelt_moment(clip.duration, 0.0);
    }
    pelt_crowd_place place = pelt_locate(constants.data, header.ranges, clip, time);
    if (has(PELT_CROWD_NEAREST)) {
        uint next = place.fraction < 0.5 ? 0u : 1u;
        place = pelt_crowd_place(place.place + next, 0.0, place.frame + next);
    }
    return place;
}

#endif
