// Nothing was hit.
#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_GOOGLE_include_directive : require
#include "rays.glsl"

layout(location = 0) rayPayloadInEXT ray_payload hit;

void main()
{
    hit.t = -1.0;
}
