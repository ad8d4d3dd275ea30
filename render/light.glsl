// Sun, sky and ground bounce at a point, and the way from light to display.

layout(set = 0, binding = 1) uniform sampler2DShadow sun_map;
layout(set = 0, binding = 2) uniform sampler2D sun_depths;
layout(set = 0, binding = 3) uniform sampler2DArrayShadow sky_maps;

const float PI = 3.14159265;

// Irradiance over pi, so that albedo times it is radiance.
const vec3 SUN = vec3(3.0, 2.72, 2.32);
const vec3 ZENITH = vec3(0.24, 0.42, 0.80);
const vec3 HORIZON = vec3(0.86, 0.95, 1.06);
const vec3 HAZE = HORIZON * 1.25; // what is seen of it, the sun in it
const vec3 GROUND_ALBEDO = vec3(0.405, 0.395, 0.38);

// The most shadow map samples: for blockers of the sun, to filter its shadow, for all of the sky.
const ivec3 ALL_TAPS = ivec3(16, 32, 64);

const float SKY_REACH = 6.0; // the scene, of radius 1, hides no sky from what is farther away

vec3 sky_radiance(vec3 direction)
{
    return mix(HORIZON, ZENITH, sqrt(max(direction.y, 0.0)));
}

// Interleaved gradient noise (Jimenez 2014): neighbouring pixels differ evenly, so that what is
// rotated by it looks smooth.
float pixel_noise()
{
    return fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
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

struct sky_light {
    vec3 irradiance; // over pi
    float openness;  // the part of it that arrives: 1 in the open
};

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

// Light that the ground sends back up; under things it lies in their shadow.
vec3 bounce_at(vec3 normal, float openness)
{
    vec3 ground = GROUND_ALBEDO * (SUN * frame.to_sun.y + 0.75 * (HORIZON + ZENITH) * 0.5);
    return ground * (0.5 - 0.5 * normal.y) * mix(0.15, 0.75, openness);
}

// Trowbridge-Reitz with Smith's visibility, over what diffuse light is over.
float sun_specular(vec3 normal, vec3 to_eye, vec3 to_sun, float roughness)
{
    vec3 h = normalize(to_eye + to_sun);
    float a2 = roughness * roughness * roughness * roughness;
    float nh = max(dot(normal, h), 0.0);
    float nv = max(dot(normal, to_eye), 1e-3);
    float nl = max(dot(normal, to_sun), 1e-3);
    float d = nh * nh * (a2 - 1.0) + 1.0;
    float fresnel = 0.04 + 0.96 * pow(1.0 - max(dot(h, to_eye), 0.0), 5.0);
    float smith = nl * sqrt(nv * nv * (1.0 - a2) + a2) + nv * sqrt(nl * nl * (1.0 - a2) + a2);
    return fresnel * a2 / (d * d) * 0.5 / smith;
}

// What a dull dielectric of this albedo sends to the eye.
vec3 shade(vec3 position, vec3 normal, vec3 geometric, vec3 albedo, float roughness, ivec3 taps)
{
    vec3 to_sun = frame.to_sun.xyz;
    vec3 to_eye = normalize(frame.eye.xyz - position);
    float sun_cosine = dot(normal, to_sun);
    // The facets turn away before the smooth normal does: fade out between, no jagged edge.
    float sun = max(sun_cosine, 0.0) * smoothstep(0.0, 0.12, dot(geometric, to_sun));
    if (sun > 0.0) {
        sun *= sun_visibility(position, geometric, taps);
    }
    sky_light sky = sky_at(position, normal, geometric, taps);

    vec3 color = albedo * (SUN * sun + sky.irradiance + bounce_at(normal, sky.openness));
    color += SUN * sun * sun_specular(normal, to_eye, to_sun, roughness);
    float nv = max(dot(normal, to_eye), 0.0);
    float fresnel = 0.04 + (max(1.0 - roughness, 0.04) - 0.04) * pow(1.0 - nv, 5.0);
    color += sky_radiance(reflect(-to_eye, normal)) * fresnel * sky.openness * sky.openness;
    return color;
}

// Exposure, then a shoulder that keeps hue until close to white; linear light for an sRGB target.
vec3 tone_map(vec3 color)
{
    const float exposure = 0.60, shoulder = 0.62, desaturation = 0.18;
    color *= exposure;
    float peak = max(color.r, max(color.g, color.b));
    if (peak > shoulder) {
        float room = 1.0 - shoulder;
        float mapped = 1.0 - room * room / (peak - shoulder + room);
        color *= mapped / peak;
        color = mix(vec3(mapped), color, 1.0 / (desaturation * (peak - mapped) + 1.0));
    }
    // Half a step of noise against bands in the sky; the step of sRGB codes grows like this.
    float noise = fract(pixel_noise() * 7.0 + 0.37) - 0.5;
    return max(color + noise * pow(max(color, vec3(1e-4)), vec3(0.58)) * (2.2 / 255.0), 0.0);
}
