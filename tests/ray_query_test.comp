#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_ray_query : require
#include "ray_test.glsl"

layout(local_size_x = 64) in;

void main()
{
    uint index = gl_GlobalInvocationID.x;
    if (index >= count) {
        return;
    }
    ray_record ray = ray_records(rays).at[index];
    rayQueryEXT query;
    rayQueryInitializeEXT(query, accelerationStructureEXT(top_level), gl_RayFlagsNoneEXT, 0xff,
                          ray.origin.xyz, ray.origin.w, ray.direction.xyz, ray.direction.w);
    while (rayQueryProceedEXT(query)) {
        if (rayQueryGetIntersectionTypeEXT(query, false) ==
            gl_RayQueryCandidateIntersectionTriangleEXT) {
            rayQueryConfirmIntersectionEXT(query);
        }
    }
    uvec4 hit = RAY_MISS;
    if (rayQueryGetIntersectionTypeEXT(query, true) ==
        gl_RayQueryCommittedIntersectionTriangleEXT) {
        hit = uvec4(floatBitsToUint(rayQueryGetIntersectionTEXT(query, true)),
                    uint(rayQueryGetIntersectionInstanceCustomIndexEXT(query, true)),
                    uint(rayQueryGetIntersectionGeometryIndexEXT(query, true)),
                    uint(rayQueryGetIntersectionPrimitiveIndexEXT(query, true)));
    }
    ray_hits(hits).at[index] = hit;
}
