/* The table of the cull pass: parts of instances, each the work of a workgroup. */
#include "base/base.h"

#include "pelt/cluster_pass_layout.h"

#include <pelt/cluster_pass.h>
#include <string.h>

/* Shaders index memory by 32 bits; scratch is the largest. */
enum { SPANS_MAX = 1 << 27 };
_Static_assert((uint64_t)SPANS_MAX *(sizeof(struct pelt_span_state) + 4) < UINT64_C(1) << 32,
               "a state, and a part of a block's count");

static uint32_t spans_of(const pelt_cluster_scene *scene, uint32_t instance)
{
    uint32_t mesh = scene->instance_meshes[instance];
    if (mesh == PELT_CLUSTER_HIDDEN) {
        return 0;
    }
    uint32_t clusters = scene->meshes[mesh].most_clusters;
    return clusters / PELT_SPAN_CLUSTERS + (clusters % PELT_SPAN_CLUSTERS != 0);
}

pelt_result pelt_cluster_tables_measure(const pelt_host *host, const pelt_cluster_scene *scene,
                                        pelt_cluster_tables *out)
{
    *out = (pelt_cluster_tables){ 0 };
    if ((scene->mesh_count > 0 && !scene->meshes) ||
        (scene->instance_count > 0 && !scene->instance_meshes)) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "meshes or instances of clusters are counted but NULL");
    }
    uint64_t spans = 0, clusters = 0;
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        uint32_t mesh = scene->instance_meshes[i];
        if (mesh == PELT_CLUSTER_HIDDEN) {
            continue;
        }
        if (mesh >= scene->mesh_count) {
            return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                             "instance %u: mesh is %u, but there are %u", i, mesh,
                             scene->mesh_count);
        }
        spans += spans_of(scene, i);
        clusters += scene->meshes[mesh].most_clusters;
    }
    if (spans > SPANS_MAX) {
        return pelt_fail(host, PELT_ERROR_RANGE, NULL, NULL,
                         "%llu clusters of %u instances: scratch would exceed 4 GiB",
                         (unsigned long long)clusters, scene->instance_count);
    }
    uint64_t blocks = spans / PELT_BLOCK_SPANS + 1;
    *out = (pelt_cluster_tables){
        .table_size = (size_t)(spans * sizeof(struct pelt_cluster_span)),
        .scratch_size =
            (size_t)(spans * sizeof(struct pelt_span_state) + blocks * sizeof(uint32_t)),
        .span_count = (uint32_t)spans,
        .cluster_count = clusters,
    };
    return PELT_OK;
}

void pelt_cluster_tables_write(const pelt_cluster_scene *scene, void *memory)
{
    char *at = memory;
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        uint32_t count = spans_of(scene, i);
        for (uint32_t k = 0; k < count; k++) {
            const struct pelt_cluster_span span = { .instance = i,
                                                    .first = k * PELT_SPAN_CLUSTERS };
            memcpy(at, &span, sizeof(span));
            at += sizeof(span);
        }
    }
}
