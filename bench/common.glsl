/* What the bench's shaders share. The codecs of the older forms convert between integers and
 * floats, as those did; the codes are pelt's, so that results can be compared. */
#include "layout.h"
#include "pelt/buffers.glsl"

layout(local_size_x = BENCH_GROUP) in;

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer bench_meshes {
    bench_mesh at[];
};

/* Workgroups beyond what one dimension of a dispatch guarantees are laid out in two. */
uint bench_group_index()
{
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

uint bench_thread_index()
{
    return bench_group_index() * BENCH_GROUP + gl_LocalInvocationIndex;
}

/* The mesh that an item belongs to: the last whose prefix is not above it. */
uint bench_find_mesh(uvec2 prefix, uint mesh_count, uint item)
{
    pelt_words sums = pelt_words(prefix);
    uint low = 0u;
    uint high = mesh_count;
    while (high - low > 1u) {
        uint middle = (low + high) / 2u;
        if (sums.at[middle] <= item) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

vec3 bench_load_position(uvec2 address, uint index)
{
    pelt_words words = pelt_words(address);
    return uintBitsToFloat(
        uvec3(words.at[3u * index], words.at[3u * index + 1u], words.at[3u * index + 2u]));
}

void bench_store_position(uvec2 address, uint index, vec3 position)
{
    pelt_out_words words = pelt_out_words(address);
    uvec3 bits = floatBitsToUint(position);
    words.at[3u * index] = bits.x;
    words.at[3u * index + 1u] = bits.y;
    words.at[3u * index + 2u] = bits.z;
}

vec3 bench_decode_direction(uint word)
{
    return (vec3(word & 1023u, (word >> 10) & 1023u, (word >> 20) & 1023u) - 512.0) * (1.0 / 511.0);
}

uint bench_encode_direction(vec3 unit)
{
    uvec3 codes = uvec3(round(unit * 511.0) + 512.0);
    return codes.x | (codes.y << 10) | (codes.z << 20);
}
