// Light of the sun, the sky and the ground, whatever finds out how much of it arrives; and the way
// from light to display.

const float PI = 3.14159265;

// Irradiance over pi, so that albedo times it is radiance.
const vec3 SUN = vec3(3.0, 2.72, 2.32);
const vec3 ZENITH = vec3(0.24, 0.42, 0.80);
const vec3 HORIZON = vec3(0.86, 0.95, 1.06);
const vec3 HAZE = HORIZON * 1.25; // what is seen of it, the sun in it
const vec3 GROUND_ALBEDO = vec3(0.405, 0.395, 0.38);

vec3 sky_radiance(vec3 direction)
{
    return mix(HORIZON, ZENITH, sqrt(max(direction.y, 0.0)));
}

// Interleaved gradient noise (Jimenez 2014): neighbouring pixels differ evenly, so that what is
// rotated by it looks smooth.
float gradient_noise(vec2 pixel)
{
    return fract(52.9829189 * fract(dot(pixel, vec2(0.06711056, 0.00583715))));
}

struct sky_light {
    vec3 irradiance; // over pi
    float openness;  // the part of it that arrives: 1 in the open
};

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

// The part of the sun's light that a surface takes up where all of it arrives. The facets turn away
// before the smooth normal does: fade out between, no jagged edge.
float sun_cosine(vec3 normal, vec3 geometric)
{
    vec3 to_sun = frame.to_sun.xyz;
    return max(dot(normal, to_sun), 0.0) * smoothstep(0.0, 0.12, dot(geometric, to_sun));
}

// What a dull dielectric of this albedo sends to the eye; sun: its cosine times what is seen of it.
vec3 reflected(vec3 position, vec3 normal, vec3 albedo, float roughness, float sun, sky_light sky)
{
    vec3 to_eye = normalize(frame.eye.xyz - position);
    vec3 color = albedo * (SUN * sun + sky.irradiance + bounce_at(normal, sky.openness));
    color += SUN * sun * sun_specular(normal, to_eye, frame.to_sun.xyz, roughness);
    float nv = max(dot(normal, to_eye), 0.0);
    float fresnel = 0.04 + (max(1.0 - roughness, 0.04) - 0.04) * pow(1.0 - nv, 5.0);
    color += sky_radiance(reflect(-to_eye, normal)) * fresnel * sky.openness * sky.openness;
    return color;
}

// What is seen where nothing is.
vec3 background(vec3 direction)
{
    float glow = pow(max(dot(direction, frame.to_sun.xyz), 0.0), 24.0);
    vec3 color = mix(HAZE, ZENITH * 1.25, pow(max(direction.y, 0.0), 0.7));
    return color + SUN * 0.2 * glow;
}

// The ground far away. Haze begins behind the scene, which has radius 1.
vec3 hazed(vec3 color, vec3 position)
{
    float behind = distance(frame.eye.xyz, position) - length(frame.eye.xyz) - 0.4;
    float haze = 1.0 - exp(-max(behind, 0.0) * 0.22);
    return mix(color, HAZE, haze);
}

// Exposure, then a shoulder that keeps hue until close to white; linear light for an sRGB target.
vec3 tone_map(vec3 color, float pixel_noise)
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
    float noise = fract(pixel_noise * 7.0 + 0.37) - 0.5;
    return max(color + noise * pow(max(color, vec3(1e-4)), vec3(0.58)) * (2.2 / 255.0), 0.0);
}
