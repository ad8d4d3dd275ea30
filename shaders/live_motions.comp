/* Skin matrices of live agents as a palette of dual quaternions has them, an invocation a joint. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#include "pelt/buffers.glsl"
#include "pelt/crowd_layout.h"
#include "pelt/group.glsl"
#include "pelt/polar.glsl"

layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer out_texels
{
    vec4 at[];
};

layout(push_constant) uniform constants_block { pelt_motion_constants constants; };

vec3 column(pelt_matrix m, int i)
{
    return vec3(m.rows[0][i], m.rows[1][i], m.rows[2][i]);
}

/* Where a rotation takes an axis. */
vec3 turn_axis(vec4 q, int i)
{
    vec3 axis = vec3(0.0);
    axis[i] = 1.0;
    return axis + 2.0 * cross(q.xyz, cross(q.xyz, axis) + q.w * axis);
}

void main()
{
    uint joint = pelt_group_index() * PELT_GROUP_SIZE + gl_LocalInvocationIndex;
    if (joint >= constants.count) {
        return;
    }
    pelt_rows rows = pelt_rows(constants.matrices);
    uint first = 3u * joint;
    pelt_matrix m =
        pelt_matrix(vec4[3](rows.at[first], rows.at[first + 1u], rows.at[first + 2u]));
    vec4 q = pelt_rotation(m);
    vec3 t = column(m, 3);
    out_texels texels = out_texels(constants.motions);
    uint at = constants.texels * joint;
    texels.at[at] = q;
    texels.at[at + 1u] = 0.5 * vec4(q.w * t + cross(t, q.xyz), -dot(t, q.xyz));
    if (constants.texels == 3u) {
        /* The diagonal of the stretch, which is the rotation's transpose times the matrix. */
        texels.at[at + 2u] = vec4(dot(turn_axis(q, 0), column(m, 0)),
                                  dot(turn_axis(q, 1), column(m, 1)),
                                  dot(turn_axis(q, 2), column(m, 2)), 0.0);
    }
}
