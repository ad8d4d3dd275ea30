/* SPDX-License-Identifier: MIT */
/* Keyframes at a time: glTF 2.0, appendix C; the twin of src/anim/sample.c in floats. Needs
 * GL_EXT_control_flow_attributes. */
#ifndef PELT_SAMPLE_GLSL
#define PELT_SAMPLE_GLSL

#include "buffers.glsl"
#include "deform.glsl"
#include "moment.glsl"
#include "pose_layout.h"

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer pelt_rig_tracks {
    pelt_rig_track at[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer pelt_rig_time_tables {
    pelt_rig_times at[];
};
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer pelt_pairs {
    uvec2 at[];
};

/* Where a time lies among keys. */
struct pelt_key {
    uint index;
    uint next; /* the last one is its own */
    float fraction;
    float duration; /* from key to next, seconds */
};

float pelt_key_time(uvec2 rig, uint first, uint key)
{
    return uintBitsToFloat(pelt_words(rig).at[first + key]);
}

pelt_key pelt_find_key(uvec2 rig, uint table, pelt_moment time)
{
    pelt_rig_times head = pelt_rig_time_tables(rig).at[table];
    float place = (time.high - head.origin) * head.scale + 0.5;
    uint cell = uint(clamp(place, 0.0, float(head.last_cell)));
    uvec2 among = pelt_pairs(rig).at[2u * (table + 1u) + min(cell, head.last_cell)];
    uint times = 4u * (table + 1u) + 2u * (head.last_cell + 1u);
    uint key = among.x;
    uint end = among.y + 1u;
    while (end - key > 1u) {
        uint middle = (key + end) / 2u;
        if (pelt_before(time, pelt_key_time(rig, times, middle))) {
            end = middle;
        } else {
            key = middle;
        }
    }
    uint next = min(key + 1u, head.last_key);
    float start = pelt_key_time(rig, times, key);
    float duration = pelt_key_time(rig, times, next) - start;
    float since = (time.high - start) + time.low;
    float fraction = duration > 0.0 && since > 0.0 ? min(since / duration, 1.0) : 0.0;
    return pelt_key(key, next, fraction, duration);
}

/* sin(x)/x of a square x^2 up to (pi/2)^2; off by 2e-8 at most. */
float pelt_sinc_of_square(float square)
{
    return 1.0 +
           square * (-0.166666567 +
                     square * (0.0083330255 + square * (-0.000198074136 + square * 2.60189086e-6)));
}

/* The square of the angle between unit vectors whose difference has this squared length, up to 2;
 * relatively off by 4e-7 at most, of which slerp sees a tenth. */
float pelt_angle_squared(float chord_squared)
{
    float c = chord_squared;
    return c *
           (1.00000024 +
            c * (0.0833200663 +
                 c * (0.0112114362 +
                      c * (0.00150581892 +
                           c * (0.000678675075 + c * (-0.000165646605 + c * 7.20215248e-5))))));
}

/* Between unit quaternions at most a right angle apart (in their own space). The sines' common
 * divisor does not matter, for the result is normalised; sines divided by their angles have no
 * special case where that vanishes, and need none of GLSL's functions, whose errors may be large.
 */
vec4 pelt_slerp(vec4 a, vec4 b, float u)
{
    vec4 chord = a - b;
    float square = pelt_angle_squared(dot(chord, chord));
    float v = 1.0 - u;
    vec4 mixed = v * pelt_sinc_of_square(v * v * square) * a +
                 u * pelt_sinc_of_square(u * u * square) * b;
    return mixed * inversesqrt(dot(mixed, mixed));
}

/* To unit length whatever its length; false for one without any, or that is not finite. */
bool pelt_normalize_quaternion(inout vec4 q)
{
    vec4 size = abs(q);
    q *= pelt_power_to_one(max(max(size.x, size.y), max(size.z, size.w)));
    float square = dot(q, q);
    q *= inversesqrt(square);
    return square > 0.5 && square < 32.0;
}

/* Hermite, between keys of three rows, part apart; at, next: their values. Tangents are per second.
 * In a loop that stays one, for four rows at a time are more registers than all else needs. */
vec4 pelt_spline(pelt_rows rows, uint at, uint next, uint part, pelt_key key)
{
    float u = key.fraction;
    float u2 = u * u;
    float u3 = u2 * u;
    float of_value = 2.0 * u3 - 3.0 * u2 + 1.0;
    float of_tangent = key.duration * (u3 - 2.0 * u2 + u);
    uint place = at;
    uint tangent = at + part;
    vec4 sum = vec4(0.0);
    [[dont_unroll]] for (uint i = 0u; i < 2u; i++) {
        sum += of_value * rows.at[place] + of_tangent * rows.at[tangent];
        of_value = 1.0 - of_value;
        of_tangent = key.duration * (u3 - u2);
        place = next;
        tangent = next - part;
    }
    return sum;
}

/* A track's value at a key found in its times. */
vec4 pelt_track_value(uvec2 rig, pelt_rig_track track, pelt_key key, bool rotation)
{
    pelt_rows rows = pelt_rows(rig);
    uint mode = track.mode & PELT_TRACK_MODES;
    uint part = mode == PELT_TRACK_SPLINE ? track.stride / 3u : 0u;
    uint at = track.first + key.index * track.stride + part;
    uint next = track.first + key.next * track.stride + part;
    if (mode == PELT_TRACK_STEP) {
        return rows.at[at];
    }
    if (mode == PELT_TRACK_LINEAR) {
        vec4 a = rows.at[at];
        vec4 b = rows.at[next];
        return rotation ? pelt_slerp(a, b, key.fraction) : a + (b - a) * key.fraction;
    }
    vec4 value = pelt_spline(rows, at, next, part, key);
    if (rotation && !pelt_normalize_quaternion(value)) {
        value = rows.at[at];
    }
    return value;
}

/* A node's transform relative to its parent. */
struct pelt_local {
    vec3 translation;
    vec4 rotation;
    vec3 scale;
    bool animated;
};

/* A key that was found, and in which times. */
struct pelt_search {
    uint times;
    pelt_key key;
};

/* Tracks of a node that share their times are searched once. */
vec4 pelt_sample_track(uvec2 rig, pelt_rig_track track, pelt_moment time, bool rotation,
                       inout pelt_search search)
{
    if ((track.mode & PELT_TRACK_MODES) == PELT_TRACK_HOLD) {
        return pelt_rows(rig).at[track.first];
    }
    if (track.times != search.times) {
        search = pelt_search(track.times, pelt_find_key(rig, track.times, time));
    }
    return pelt_track_value(rig, track, search.key, rotation);
}

pelt_local pelt_sample_node(uvec2 rig, uint first_track, uint node_count, uint node,
                            pelt_moment time)
{
    uint at = first_track + node;
    pelt_rig_track translation = pelt_rig_tracks(rig).at[at];
    pelt_rig_track rotation = pelt_rig_tracks(rig).at[at + node_count];
    pelt_rig_track scale = pelt_rig_tracks(rig).at[at + 2u * node_count];
    pelt_search search;
    search.times = PELT_POSE_NONE;
    pelt_local local;
    local.translation = pelt_sample_track(rig, translation, time, false, search).xyz;
    local.rotation = pelt_sample_track(rig, rotation, time, true, search);
    local.scale = pelt_sample_track(rig, scale, time, false, search).xyz;
    uint modes = translation.mode | rotation.mode | scale.mode;
    local.animated = (modes & PELT_TRACK_ANIMATES) != 0u;
    return local;
}

#endif
