/* What the tests' ray shaders share: rays and hits in buffers, all by address. */
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

struct ray_record {
    vec4 origin;    /* and the least distance */
    vec4 direction; /* and the largest */
};

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer ray_records
{
    ray_record at[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer ray_hits
{
    uvec4 at[]; /* bits of the distance, instance, geometry, triangle */
};

layout(push_constant) uniform constants_block
{
    uvec2 top_level;
    uvec2 rays;
    uvec2 hits;
    uint count;
};

const uvec4 RAY_MISS = uvec4(0xbf800000u, ~0u, ~0u, ~0u); /* distance -1 */
