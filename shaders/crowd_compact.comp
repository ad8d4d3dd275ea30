/* The second dispatch of the crowd pass: the members that can be seen, in their order, one behind
 * the other, and how many they are into the draws. A workgroup counts the bits of all before it:
 * 4,096 members are 128 words. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#include "pelt/crowd_pass.glsl"

layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer instances_out {
    pelt_crowd_instance at[];
};

shared uint shared_before;

void write_instance(uint member, uint index)
{
    pelt_crowd_state state = pelt_crowd_states(constants.members).at[member];
    pelt_crowd_place place = pelt_crowd_place(state.place, 0.0, 0u);
    if ((state.flags & PELT_MEMBER_LIVE) == 0u) {
        pelt_crowd_clip clip;
        place = find_place(state, pelt_crowd_headers(constants.data).header, clip);
    }
    instances_out(constants.instances).at[index] =
        pelt_crowd_instance(state.world, place.place, place.fraction, state.tint, member);
}

void main()
{
    uint group = pelt_group_index();
    uint lane = gl_LocalInvocationIndex;
    if (group > 0u && group * PELT_CROWD_LANES >= constants.count) {
        return;
    }
    pelt_words visible = pelt_words(constants.visible);
    if (lane == 0u) {
        shared_before = 0u;
    }
    barrier();
    uint first_word = PELT_CROWD_WORDS * group;
    uint before = 0u;
    for (uint i = lane; i < first_word; i += PELT_CROWD_LANES) {
        before += uint(bitCount(visible.at[i]));
    }
    if (before > 0u) {
        atomicAdd(shared_before, before);
    }
    barrier();
    before = shared_before;
    uint own = 0u;
    uint mine = 0u;
    for (uint i = 0u; i < PELT_CROWD_WORDS; i++) {
        uint word = visible.at[first_word + i];
        if (i == lane / 32u) {
            own = before + uint(bitCount(word & ((1u << (lane % 32u)) - 1u)));
            mine = word >> (lane % 32u) & 1u;
        }
        before += uint(bitCount(word));
    }
    if (mine != 0u) {
        write_instance(group * PELT_CROWD_LANES + lane, own);
    }
    if ((group + 1u) * PELT_CROWD_LANES >= constants.count) {
        uint stride = constants.flags >> PELT_CROWD_STRIDE_SHIFT & PELT_CROWD_STRIDE_MAX;
        uint draws = constants.flags >> PELT_CROWD_DRAWS_SHIFT;
        for (uint i = lane; i < draws; i += PELT_CROWD_LANES) {
            pelt_out_words(constants.draws).at[i * stride + 1u] = before;
        }
    }
}
