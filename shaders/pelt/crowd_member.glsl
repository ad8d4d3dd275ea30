/* SPDX-License-Identifier: MIT */
/* Where a member of a crowd is in its clip, the twin of pelt_bake_locate, and whether it can be
 * seen. */
#ifndef PELT_CROWD_MEMBER_GLSL
#define PELT_CROWD_MEMBER_GLSL

#include "affine.glsl"
#include "buffers.glsl"
#include "crowd_layout.h"
#include "moment.glsl"
#include "order.glsl"

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer pelt_crowd_states {
    pelt_crowd_state at[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer pelt_crowd_headers {
    pelt_crowd_header header;
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer pelt_crowd_clips {
    pelt_crowd_clip at[];
};

/* A clip's data counts from the beginning of all of it, in bytes. */
pelt_crowd_range pelt_load_range(uvec2 data, uint ranges, uint index)
{
    pelt_rows rows = pelt_rows(data);
    vec4 a = rows.at[ranges / 16u + 2u * index];
    uvec4 b = floatBitsToUint(rows.at[ranges / 16u + 2u * index + 1u]);
    return pelt_crowd_range(a.x, a.y, a.z, floatBitsToUint(a.w), b.x, b.y, b.z, b.w);
}

/* Two frames of a clip, and how far it is from one to the other. */
struct pelt_crowd_place {
    uint place; /* row | layer << 16 */
    float fraction;
    uint frame; /* of the clip's; the next one is that after it, if the fraction is above 0 */
};

/* The last range that has begun. Where one ends and another begins, that is the later. */
uint pelt_find_range(uvec2 data, uint ranges, pelt_crowd_clip clip, pelt_moment time)
{
    uint first = clip.first_range;
    uint end = first + clip.range_count;
    while (end - first > 1u) {
        uint middle = (first + end) / 2u;
        pelt_crowd_range range = pelt_load_range(data, ranges, middle);
        if (pelt_before(pelt_add(time, pelt_moment(-range.start_high, -range.start_low)), 0.0)) {
            end = middle;
        } else {
            first = middle;
        }
    }
    return first;
}

/* time: within the clip. */
pelt_crowd_place pelt_locate(uvec2 data, uint ranges, pelt_crowd_clip clip, pelt_moment time)
{
    pelt_crowd_range range =
        pelt_load_range(data, ranges, pelt_find_range(data, ranges, clip, time));
    pelt_moment since = pelt_add(time, pelt_moment(-range.start_high, -range.start_low));
    pelt_moment f = pelt_exact_product(since.high, clip.rate_high);
    f.low += since.low * clip.rate_high + since.high * clip.rate_low;
    f = pelt_exact_sum(f.high, f.low);
    uint last = max(range.row_count, 2u) - 2u; /* the last interval */
    float whole = clamp(floor(f.high), 0.0, float(last));
    if (whole > 0.0 && pelt_before(f, whole)) {
        whole -= 1.0;
    }
    uint frame = uint(whole);
    float u = ((f.high - whole) + f.low) / (frame == last ? range.last_interval : 1.0);
    u = range.row_count > 1u ? clamp(u, 0.0, 1.0) : 0.0;
    return pelt_crowd_place((range.first_row + frame) | range.layer << 16, u,
                            range.first_frame + frame);
}

/* A box as its middle and half its size. */
struct pelt_middle_box {
    vec3 middle;
    vec3 half_size;
};

/* Middle and half each lose a rounding, and so does what is taken off and added again. */
pelt_middle_box pelt_widen(vec3 low, vec3 high, float margin)
{
    const float ROUNDINGS = 1.0 / 2097152.0; /* 2^-21 */
    vec3 middle = low * 0.5 + high * 0.5;
    vec3 half_size = high * 0.5 - low * 0.5 + margin;
    return pelt_middle_box(middle, half_size + ROUNDINGS * (abs(middle) + half_size));
}

/* Of what the boxes of both frames hold together. */
pelt_middle_box pelt_place_box(uvec2 data, pelt_crowd_header header, pelt_crowd_clip clip,
                               pelt_crowd_place place, float margin)
{
    uint frame = header.boxes / 24u + clip.first_box + place.frame;
    pelt_ordered_box box = pelt_load_box(data, frame);
    if (place.fraction > 0.0) {
        box = pelt_union(box, pelt_load_box(data, frame + 1u));
    }
    return pelt_widen(intBitsToFloat(pelt_order(box.low)), intBitsToFloat(pelt_order(box.high)),
                      margin);
}

/* Whether a box that is moved by world can be on the inner side of a plane of the view. Rounding
 * decides for it: 2^-19 of all that is added up is more than the dozen operations here, and as many
 * of the vertex shader, can be off. NaN is inside. */
bool pelt_may_be_inside(vec4 plane, pelt_matrix world, pelt_middle_box box)
{
    const float ROUNDINGS = 1.0 / 524288.0;
    vec3 middle = pelt_transform_point(world, box.middle);
    vec3 along = world.rows[0].xyz * plane.x + world.rows[1].xyz * plane.y +
                 world.rows[2].xyz * plane.z;
    vec3 far = abs(box.middle) + box.half_size;
    vec3 terms = vec3(dot(abs(world.rows[0].xyz), far) + abs(world.rows[0].w),
                      dot(abs(world.rows[1].xyz), far) + abs(world.rows[1].w),
                      dot(abs(world.rows[2].xyz), far) + abs(world.rows[2].w));
    float magnitude = dot(abs(plane.xyz), terms) + abs(plane.w);
    float most = dot(plane.xyz, middle) + plane.w + dot(abs(along), box.half_size);
    return !(most < -ROUNDINGS * magnitude);
}

/* view: world space to clip space, by columns. What is outside one of Vulkan's six planes as a
 * whole cannot be seen. */
bool pelt_may_be_seen(mat4 view, pelt_matrix world, pelt_middle_box box)
{
    mat4 rows = transpose(view);
    return pelt_may_be_inside(rows[3] + rows[0], world, box) &&
           pelt_may_be_inside(rows[3] - rows[0], world, box) &&
           pelt_may_be_inside(rows[3] + rows[1], world, box) &&
           pelt_may_be_inside(rows[3] - rows[1], world, box) &&
           pelt_may_be_inside(rows[2], world, box) &&
           pelt_may_be_inside(rows[3] - rows[2], world, box);
}

#endif
