// What has moved in a pixel, by rays or by raster.

vec2 pixel_of(vec3 scene_position, out bool in_front)
{
    vec4 clip = frame.camera * vec4(unit_position(scene_position), 1.0);
    in_front = clip.w > 1e-6;
    return (clip.xy / max(clip.w, 1e-6) * 0.5 + 0.5) * frame.viewport.xy;
}

// From the frame before to this one. What was behind the camera has moved by nothing.
vec2 pixel_motion(vec3 position, vec3 motion)
{
    bool is, was;
    vec2 now = pixel_of(position, is);
    vec2 then = pixel_of(position - motion, was);
    return is && was && motion != vec3(0.0) ? now - then : vec2(0.0);
}
