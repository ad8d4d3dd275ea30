/* Conservative boxes from joints, one workgroup an instance: the union of the joints' bind-pose
 * boxes, each moved by its matrix and widened by what rounding can amount to, as
 * src/skin/joint_boxes.c derives it; here the arithmetic of the box itself is in the widening too.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#include "pelt/buffers.glsl"
#include "pelt/group.glsl"
#include "pelt/layout.h"
#include "pelt/order.glsl"
#include "pelt/reduce.glsl"

layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer pelt_records {
    pelt_joint_box_record at[];
};
layout(push_constant) uniform constants_block { pelt_joint_box_constants constants; };

/* The interval that one row of a joint's matrix maps the box [low, high] to. */
vec2 move(vec4 row, vec3 low, vec3 high, float relative, float absolute)
{
    vec3 a = row.xyz * low;
    vec3 b = row.xyz * high;
    vec3 least = min(a, b);
    vec3 most = max(a, b);
    vec3 far = max(abs(low), abs(high));
    vec3 terms = abs(row.xyz) * far;
    float magnitude = terms.x + terms.y + terms.z + abs(row.w);
    float widening = relative * magnitude + absolute * (far.x + far.y + far.z + 1.0);
    return vec2(least.x + least.y + least.z + row.w - widening,
                most.x + most.y + most.z + row.w + widening);
}

void main()
{
    uint index = pelt_group_index();
    if (index >= constants.count) {
        return;
    }
    pelt_joint_box_record record = pelt_records(constants.records).at[index];
    pelt_rows matrices = pelt_rows(record.matrices);
    pelt_ordered_box box = pelt_empty_box();
    for (uint joint = gl_LocalInvocationIndex; joint < record.joint_count;
         joint += PELT_GROUP_SIZE) {
        pelt_ordered_box bind = pelt_load_box(record.bind, joint);
        if (bind.low.x > bind.high.x) {
            continue; /* the joint moves no vertex */
        }
        vec3 low = intBitsToFloat(pelt_order(bind.low));
        vec3 high = intBitsToFloat(pelt_order(bind.high));
        vec2 moved[3];
        for (uint i = 0u; i < 3u; i++) {
            moved[i] =
                move(matrices.at[3u * joint + i], low, high, record.relative, record.absolute);
        }
        ivec3 least = floatBitsToInt(vec3(moved[0].x, moved[1].x, moved[2].x));
        ivec3 most = floatBitsToInt(vec3(moved[0].y, moved[1].y, moved[2].y));
        box = pelt_union(box, pelt_ordered_box(pelt_order(least), pelt_order(most)));
    }
    box = pelt_reduce(box);
    if (gl_LocalInvocationIndex == 0u) {
        pelt_store_box(record.box, 0u, box);
    }
}
