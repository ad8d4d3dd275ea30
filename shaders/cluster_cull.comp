/* The first dispatch of the cull pass: which clusters of a span can be seen, a bit each, of the
 * level of detail that its instance needs. An invocation is a cluster. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#include "pelt/cluster_bounds.glsl"
#include "pelt/cluster_pass.glsl"

shared uint shared_visible[PELT_SPANS_A_GROUP];

/* The span's first cluster, of the mesh's, and whether its lane-th can be seen. */
bool look(pelt_cluster_span span, uint lane, out uint first)
{
    pelt_gpu_cluster_view view = pelt_load_cluster_view(constants.view);
    pelt_gpu_cluster_instance instance =
        pelt_load_cluster_instance(constants.instances, span.instance);
    first = 0u;
    if (!pelt_instance_may_be_seen(instance, view)) {
        return false;
    }
    pelt_gpu_cluster_mesh mesh = pelt_load_cluster_mesh(instance.mesh);
    pelt_gpu_lod lod = pelt_load_cluster_lod(mesh, pelt_choose_lod(mesh, instance, view));
    first = lod.first_cluster + span.first;
    return span.first + lane < lod.cluster_count &&
           pelt_cluster_may_be_seen(mesh, instance, pelt_load_cluster(mesh, first + lane), view);
}

void main()
{
    uint place = gl_LocalInvocationIndex / PELT_SPAN_CLUSTERS;
    uint lane = gl_LocalInvocationIndex % PELT_SPAN_CLUSTERS;
    uint index = pelt_group_index() * PELT_SPANS_A_GROUP + place;
    if (lane == 0u) {
        shared_visible[place] = 0u;
    }
    barrier();
    uint first;
    if (index < constants.span_count &&
        look(cluster_spans(constants.spans).at[index], lane, first)) {
        atomicOr(shared_visible[place], 1u << lane);
    }
    barrier();
    if (index < constants.span_count && lane == 0u) {
        span_states states = span_states(constants.scratch);
        states.at[index].visible = shared_visible[place];
        states.at[index].first = first;
    }
}
