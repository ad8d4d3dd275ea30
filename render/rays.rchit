// Which triangle was hit, and where.
#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_GOOGLE_include_directive : require
#include "rays.glsl"

layout(location = 0) rayPayloadInEXT ray_payload hit;

hitAttributeEXT vec2 at;

void main()
{
    hit.t = gl_HitTEXT;
    hit.draw = gl_InstanceCustomIndexEXT + gl_GeometryIndexEXT;
    hit.triangle = gl_PrimitiveID;
    hit.at = at;
}
