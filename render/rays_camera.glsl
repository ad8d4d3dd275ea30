// Rays from the eye. Rows of the camera give clip x, y and w and stand at right angles, so each
// over its square gives the direction back from clip space.

vec3 ray_through(vec2 pixel)
{
    vec2 clip = pixel / frame.viewport.xy * 2.0 - 1.0;
    mat4 camera = frame.camera;
    vec3 x = vec3(camera[0][0], camera[1][0], camera[2][0]);
    vec3 y = vec3(camera[0][1], camera[1][1], camera[2][1]);
    vec3 w = vec3(camera[0][3], camera[1][3], camera[2][3]);
    return normalize(x * (clip.x / dot(x, x)) + y * (clip.y / dot(y, y)) + w);
}

const float FARTHEST = 1000.0; // the scene has radius 1
