/* The seed's reduction: every wave reduces, one lane of each writes, and after the only barrier
 * lane zero folds what they wrote and stores the box. */
#include "common.glsl"

const float LARGEST = 3.402823466e+38;

shared vec3 wave_lows[BENCH_GROUP];
shared vec3 wave_highs[BENCH_GROUP];

void fold_and_store(vec3 low, vec3 high, uvec2 address, uint index)
{
    low = subgroupMin(low);
    high = subgroupMax(high);
    if (subgroupElect()) {
        wave_lows[gl_SubgroupID] = low;
        wave_highs[gl_SubgroupID] = high;
    }
    barrier();
    if (gl_LocalInvocationIndex == 0u) {
        for (uint i = 0u; i < gl_NumSubgroups; i++) {
            low = min(low, wave_lows[i]);
            high = max(high, wave_highs[i]);
        }
        bench_store_position(address, 2u * index, low);
        bench_store_position(address, 2u * index + 1u, high);
    }
}
