/* The first dispatch of the cull pass: which clusters of a span can be seen, a bit each, of the
 * level of detail that its instance needs. An invocation is a cluster. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#include "pelt/cluster_bounds.glsl"
#include "pelt/cluster_pass.glsl"

shared uint shared_visible[PELT_SPAN_WORDS];

void main()
{
    uint index = pelt_group_index();
    uint lane = gl_LocalInvocationIndex;
    if (index >= constants.span_count) {
        return;
    }
    if (lane < PELT_SPAN_WORDS) {
        shared_visible[lane] = 0u;
    }
    barrier();
    pelt_cluster_span span = cluster_spans(constants.spans).at[index];
    pelt_gpu_cluster_view view = pelt_load_cluster_view(constants.view);
    pelt_gpu_cluster_instance instance =
        pelt_load_cluster_instance(constants.instances, span.instance);
    pelt_gpu_cluster_mesh mesh = pelt_load_cluster_mesh(instance.mesh);
    pelt_gpu_lod lod = pelt_load_cluster_lod(mesh, pelt_choose_lod(mesh, instance, view));
    uint first = lod.first_cluster + span.first;
    if (span.first + lane < lod.cluster_count && pelt_instance_may_be_seen(instance, view) &&
        pelt_cluster_may_be_seen(mesh, instance, pelt_load_cluster(mesh, first + lane), view)) {
        atomicOr(shared_visible[lane / 32u], 1u << (lane % 32u));
    }
    barrier();
    span_states states = span_states(constants.scratch);
    if (lane < PELT_SPAN_WORDS) {
        states.at[index].visible[lane] = shared_visible[lane];
    }
    if (lane == 0u) {
        states.at[index].first = first;
    }
}
