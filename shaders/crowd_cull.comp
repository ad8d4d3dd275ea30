/* The first dispatch of the crowd pass: which members can be seen, a bit each. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#include "pelt/crowd_pass.glsl"

shared uint shared_visible[PELT_CROWD_WORDS];

mat4 the_view()
{
    float v[16] = constants.view;
    return mat4(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11], v[12],
                v[13], v[14], v[15]);
}

bool is_visible(uint member)
{
    pelt_crowd_state state = pelt_crowd_states(constants.members).at[member];
    if ((state.flags & PELT_MEMBER_HIDDEN) != 0u) {
        return false;
    }
    bool live = (state.flags & PELT_MEMBER_LIVE) != 0u;
    if (!has(PELT_CROWD_CULL) || (live && (state.flags & PELT_MEMBER_BOXED) == 0u)) {
        return true;
    }
    pelt_middle_box box;
    if (live) {
        pelt_ordered_box given = pelt_load_box(state.box, 0u);
        box = pelt_widen(intBitsToFloat(pelt_order(given.low)),
                         intBitsToFloat(pelt_order(given.high)), 0.0);
    } else {
        pelt_crowd_header header = pelt_crowd_headers(constants.data).header;
        pelt_crowd_clip clip;
        pelt_crowd_place place = find_place(state, header, clip);
        float margin = (has(PELT_CROWD_BLENDS) ? clip.blend_margin : 0.0) +
                       (has(PELT_CROWD_DUAL) ? clip.dual_margin : 0.0);
        box = pelt_place_box(constants.data, header, clip, place, margin);
    }
    return pelt_may_be_seen(the_view(), pelt_matrix(state.world), box);
}

void main()
{
    uint group = pelt_group_index();
    uint lane = gl_LocalInvocationIndex;
    uint member = group * PELT_CROWD_LANES + lane;
    if (lane < PELT_CROWD_WORDS) {
        shared_visible[lane] = 0u;
    }
    barrier();
    if (member < constants.count && is_visible(member)) {
        atomicOr(shared_visible[lane / 32u], 1u << (lane % 32u));
    }
    barrier();
    bool counts = group == 0u || group * PELT_CROWD_LANES < constants.count;
    if (counts && lane < PELT_CROWD_WORDS) {
        pelt_out_words(constants.visible).at[PELT_CROWD_WORDS * group + lane] =
            shared_visible[lane];
    }
}
