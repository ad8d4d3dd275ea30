// How much of the sun and of the sky is seen from a point, by shadow maps.
#include "sunlight.glsl"

layout(set = 0, binding = 1) uniform sampler2DShadow sun_map;
layout(set = 0, binding = 2) uniform sampler2D sun_depths;
layout(set = 0, binding = 3) uniform sampler2DArrayShadow sky_maps;

// The most shadow map samples: for blockers of the sun, to filter its shadow, for all of the sky.
const ivec3 ALL_TAPS = ivec3(16, 32, 64);

const float SKY_REACH = 6.0; // the scene, of radius 1, hides no sky from what is farther away

float pixel_noise()
{
    return gradient_noise(gl_FragCoord.xy);
}

// Points spread evenly over the unit disc: Vogel's spiral, each the golden angle after the one
// before. Start with direction = pixel_turn() and turn it by GOLDEN from point to point.
const mat2 GOLDEN = mat2(-0.73736888, 0.67549029, -0.67549029, -0.73736888);

vec2 pixel_turn()
{
    float angle = pixel_noise() * 2.0 * PI;
    return vec2(cos(angle), sin(angle));
}

vec2 disc_point(int i, int n, vec2 direction)
{
    return sqrt((float(i) + 0.5) / float(n)) * direction;
}

// How much of the sun's disc is seen: percentage-closer soft shadows (Fernando 2005), every tap
// compared against the plane through the point rather than against its depth alone.
float sun_visibility(vec3 position, vec3 geometric, ivec3 taps)
{
    mat4 light = frame.lights[PELT_VIEW_SUN];
    vec3 p = (light * vec4(position + geometric * frame.sun_map.w * 1.5, 1.0)).xyz;
    vec2 per_unit = 1.0 / frame.sun_map.xy;
    float reach = frame.to_sun.w * max(p.z, 0.0) * frame.sun_map.z;
    vec2 search = max(reach, 2.0 * frame.sun_map.w) * per_unit;
    if (any(lessThan(p.xy, -search)) || any(greaterThan(p.xy, 1.0 + search))) {
        return 1.0;
    }

    // Depth along the receiver's plane for a step in u and in v.
    vec3 u_axis = vec3(light[0][0], light[1][0], light[2][0]);
    vec3 v_axis = vec3(light[0][1], light[1][1], light[2][1]);
    vec3 z_axis = vec3(light[0][2], light[1][2], light[2][2]);
    vec3 sizes = frame.sun_map.xyz * frame.sun_map.xyz;
    float facing = min(dot(geometric, z_axis) * sizes.z, -0.12 * frame.sun_map.z);
    vec2 slope = -vec2(dot(geometric, u_axis) * sizes.x, dot(geometric, v_axis) * sizes.y) / facing;

    vec2 turn = pixel_turn();
    float blockers = 0.0, depth_sum = 0.0;
    for (int i = 0; i < taps.x; i++, turn = GOLDEN * turn) {
        vec2 offset = disc_point(i, taps.x, turn) * search;
        float depth = textureLod(sun_depths, p.xy + offset, 0.0).r;
        float plane = p.z + dot(slope, offset);
        if (depth < min(plane, 1.0)) {
            blockers += 1.0;
            depth_sum += plane - depth;
        }
    }
    if (blockers == 0.0) {
        return 1.0;
    }
    float penumbra = frame.to_sun.w * depth_sum / blockers * frame.sun_map.z;
    vec2 radius = max(penumbra, 1.3 * frame.sun_map.w) * per_unit;
    float lit = 0.0;
    for (int i = 0; i < taps.y; i++, turn = GOLDEN * turn) {
        vec2 offset = disc_point(i, taps.y, turn) * radius;
        float plane = min(p.z + dot(slope, offset), 1.0);
        lit += textureLod(sun_map, vec3(p.xy + offset, plane), 0.0);
    }
    return lit / float(taps.y);
}

// Light from the sky's directions, each behind its own shadow map. Few directions are blurred more.
sky_light sky_at(vec3 position, vec3 normal, vec3 geometric, ivec3 all_taps)
{
    int count = int(frame.sky_map.x);
    int taps = clamp(all_taps.z / max(count, 1), 1, 8);
    bool near = dot(position, position) < SKY_REACH * SKY_REACH;
    // Few samples must not wander far: they would be noise.
    float radius = frame.sky_map.z * (taps * count >= 24 ? frame.sky_map.w : 0.75);
    vec2 turn = pixel_turn();
    vec3 p = position + geometric * (1.5 * frame.sky_map.y);
    // x: horizon's colour, y: zenith's; whole: were nothing in the way
    vec2 seen = vec2(0.0), whole = vec2(0.0);
    for (int k = 0; k < count; k++) {
        vec3 direction = frame.sky[k].xyz;
        float cosine = dot(normal, direction);
        if (cosine > 0.0) {
            vec3 q = (frame.lights[PELT_VIEW_SKY + k] * vec4(p, 1.0)).xyz;
            // As in sun_visibility, depth along the receiver's plane, here from its normal in the
            // map's space. Rows of the matrix are axes over the sizes of the map.
            mat3 to_map = mat3(frame.lights[PELT_VIEW_SKY + k]);
            vec3 squares = to_map[0] * to_map[0] + to_map[1] * to_map[1] + to_map[2] * to_map[2];
            vec3 plane = to_map * geometric / squares;
            vec2 slope = -plane.xy / min(plane.z, -0.12 * inversesqrt(squares.z));
            float visible = near ? 0.0 : float(taps);
            for (int i = 0; near && i < taps; i++, turn = GOLDEN * turn) {
                vec2 offset = disc_point(i, taps, turn) * radius;
                float depth = min(q.z + dot(slope, offset), 1.0);
                visible += texture(sky_maps, vec4(q.xy + offset, float(k), depth));
            }
            float blend = sqrt(direction.y);
            vec2 part = cosine * vec2(1.0 - blend, blend);
            whole += part;
            seen += part * visible / float(taps);
        }
    }
    sky_light light;
    // 2 pi of solid angle in count parts, over pi
    light.irradiance = (HORIZON * seen.x + ZENITH * seen.y) * (2.0 / float(max(count, 1)));
    light.openness = (seen.x + seen.y) / max(whole.x + whole.y, 1e-4);
    return light;
}

vec3 shade(vec3 position, vec3 normal, vec3 geometric, vec3 albedo, float roughness, ivec3 taps)
{
    float sun = sun_cosine(normal, geometric);
    if (sun > 0.0) {
        sun *= sun_visibility(position, geometric, taps);
    }
    sky_light sky = sky_at(position, normal, geometric, taps);
    return reflected(position, normal, albedo, roughness, sun, sky);
}

vec3 tone_map(vec3 color)
{
    return tone_map(color, pixel_noise());
}
