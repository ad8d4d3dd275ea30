#version 460
#extension GL_EXT_ray_tracing : require

layout(location = 0) rayPayloadInEXT uvec4 hit;

void main()
{
    hit = uvec4(floatBitsToUint(gl_HitTEXT), uint(gl_InstanceCustomIndexEXT),
                uint(gl_GeometryIndexEXT), uint(gl_PrimitiveID));
}
