/* The cluster skin pass: one workgroup a visible cluster, an invocation a vertex. The vertices are
 * those of mesh shaders (pelt/cluster.glsl), the codes of their directions those of the skin pass.
 * The i-th cluster of the list has the i-th 64 vertices of the output. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#include "pelt/cluster.glsl"
#include "pelt/cluster_pass_layout.h"
#include "pelt/order.glsl"

layout(push_constant) uniform constants_block { pelt_cluster_skin_constants constants; };

layout(buffer_reference, std430, buffer_reference_align = 16) buffer visible_clusters {
    pelt_gpu_visible_cluster at[];
};
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer cluster_counts {
    pelt_gpu_cluster_counts counts;
};

/* -- one vertex ---------------------------------------------------------------------------- */

uint normal_code(pelt_matrix blended, uint word)
{
    vec3 normal = pelt_scaled_direction(word);
    vec3 turned = pelt_cofactor_times(blended, normal);
    float squared = pelt_dot(turned, turned);
    if (pelt_strain(squared) > PELT_COMFORTABLE) {
        return pelt_encode_direction(pelt_skin_extreme_normal(blended, normal)) | PELT_HANDEDNESS;
    }
    return pelt_encode_scaled(turned, inversesqrt(squared)) + PELT_HANDEDNESS;
}

uint tangent_code(pelt_matrix blended, uint word)
{
    vec3 tangent = pelt_scaled_direction(word);
    vec3 turned = pelt_turn(blended, tangent);
    uint handedness = word & PELT_HANDEDNESS;
    float squared = pelt_dot(turned, turned);
    if (pelt_strain(squared) > PELT_COMFORTABLE) {
        return pelt_encode_direction(pelt_skin_extreme_tangent(blended, tangent)) | handedness;
    }
    return pelt_encode_scaled(turned, inversesqrt(squared)) + handedness;
}

/* Gives its position. */
vec3 skin_vertex(pelt_gpu_cluster_mesh mesh, pelt_gpu_cluster cluster, uint i, uint place)
{
    uint vertex = pelt_cluster_vertex(mesh, cluster, i);
    uvec4 source = pelt_cluster_source(mesh, vertex);
    pelt_matrix blended = pelt_cluster_matrix(mesh, cluster, i, vertex);
    vec3 position = pelt_cluster_position(blended, source);
    uint slot = PELT_CLUSTER_VERTICES * place + i;
    pelt_out_quads(constants.vertices).at[slot] =
        uvec4(floatBitsToUint(position), normal_code(blended, source.w));
    if (constants.tangents != uvec2(0u) && mesh.tangents != uvec2(0u)) {
        pelt_out_words(constants.tangents).at[slot] =
            tangent_code(blended, pelt_words(mesh.tangents).at[vertex]);
    }
    return position;
}

/* -- bounds -------------------------------------------------------------------------------- */

shared int shared_low[3];
shared int shared_high[3];
shared uint shared_radius; /* bits of floats that are not negative compare as these do */

/* Rounded up: differences, squares, their sum and a root are off by less than 8 x 2^-24 of it.
 * Scaled by a power of two, so that squares neither overflow nor underflow. */
float distance_at_most(vec3 a, vec3 b)
{
    vec3 difference = a - b;
    float scale = pelt_power_to_one(pelt_largest(difference));
    vec3 scaled = difference * scale;
    return sqrt(pelt_dot(scaled, scaled)) / scale * (1.0 + 1.0 / 1048576.0);
}

/* All invocations call it; those that have no vertex do not count. */
void write_bounds(uint place, bool has_vertex, vec3 position)
{
    bool first = gl_LocalInvocationIndex == 0u;
    if (first) {
        pelt_ordered_box empty = pelt_empty_box();
        for (uint i = 0u; i < 3u; i++) {
            shared_low[i] = empty.low[i];
            shared_high[i] = empty.high[i];
        }
        shared_radius = 0u;
    }
    barrier();
    if (has_vertex) {
        ivec3 ordered = pelt_order(floatBitsToInt(position));
        for (uint i = 0u; i < 3u; i++) {
            atomicMin(shared_low[i], ordered[i]);
            atomicMax(shared_high[i], ordered[i]);
        }
    }
    barrier();
    vec3 low =
        intBitsToFloat(pelt_order(ivec3(shared_low[0], shared_low[1], shared_low[2])));
    vec3 high =
        intBitsToFloat(pelt_order(ivec3(shared_high[0], shared_high[1], shared_high[2])));
    vec3 centre = low * 0.5 + high * 0.5;
    if (has_vertex) {
        atomicMax(shared_radius, floatBitsToUint(distance_at_most(position, centre)));
    }
    barrier();
    if (first) {
        visible_clusters list = visible_clusters(constants.visible);
        list.at[place].sphere =
            float[4](centre.x, centre.y, centre.z, uintBitsToFloat(shared_radius));
        list.at[place].low = float[3](low.x, low.y, low.z);
        list.at[place].high = float[3](high.x, high.y, high.z);
    }
}

void main()
{
    uint place = pelt_group_index();
    if (place >= cluster_counts(constants.counts).counts.listed) {
        return;
    }
    visible_clusters list = visible_clusters(constants.visible);
    pelt_gpu_cluster_instance instance =
        pelt_load_cluster_instance(constants.instances, list.at[place].instance);
    pelt_gpu_cluster_mesh mesh = pelt_load_cluster_mesh(instance.mesh);
    pelt_gpu_cluster cluster = pelt_load_cluster(mesh, list.at[place].cluster);
    pelt_use_cluster(mesh, cluster, instance.matrices);
    uint i = gl_LocalInvocationIndex;
    bool has_vertex = i < cluster.vertex_count;
    vec3 position = vec3(0.0);
    if (has_vertex) {
        position = skin_vertex(mesh, cluster, i, place);
    }
    if (constants.bounds != 0u) {
        write_bounds(place, has_vertex, position);
    }
}
