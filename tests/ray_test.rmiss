#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_ray_tracing : require
#include "ray_test.glsl"

layout(location = 0) rayPayloadInEXT uvec4 hit;

void main()
{
    hit = RAY_MISS;
}
