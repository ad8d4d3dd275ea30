/* Clusters of a mesh: triangles of the primitive, levels of detail, cut into clusters, spheres. */
#include "cluster/cluster.h"

/* Offsets count corners in 32 bits, of all levels together. */
enum { TRIANGLES_MAX = 1 << 28 };

static pelt_result check(const pelt_host *host, const pelt_clusters_info *info)
{
    const pelt_packed_mesh *mesh = info->mesh;
    const char *wrong = NULL;
    if (mesh->vertex_count != info->primitive->vertex_count) {
        wrong = "the mesh was not packed from this primitive";
    } else if (info->lod_count > PELT_LOD_MAX) {
        wrong = "more than 8 levels of detail";
    } else if (info->most_vertices > PELT_CLUSTER_VERTEX_MAX ||
               (info->most_vertices > 0 && info->most_vertices < 3)) {
        wrong = "a cluster has 3 to 64 vertices at most";
    } else if (info->most_triangles > PELT_CLUSTER_TRIANGLE_MAX) {
        wrong = "a cluster has 1 to 126 triangles at most";
    } else if (info->poses && info->joint_count < mesh->joint_count) {
        wrong = "poses of fewer joints than the mesh has";
    }
    return wrong ? pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL, "%s", wrong) : PELT_OK;
}

/* The primitive's triangles that have three different corners, as packed vertices. */
static pelt_result list_triangles(const pelt_host *host, const pelt_clusters_info *info,
                                  triangle_list *list)
{
    uint32_t count = pelt_primitive_triangle_count(info->primitive);
    if (info->primitive->topology < PELT_TRIANGLES) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "points and lines have no clusters");
    }
    if (count > TRIANGLES_MAX) {
        return pelt_fail(host, PELT_ERROR_RANGE, NULL, NULL,
                         "%u triangles are more than clusters can have", count);
    }
    list->corners = pelt_allocate(host, 3 * (size_t)count, sizeof(*list->corners));
    if (!list->corners) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %u triangles", count);
    }
    pelt_primitive_triangles(info->primitive, list->corners);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *given = list->corners + 3 * (size_t)i;
        uint32_t a = given[0], b = given[1], c = given[2];
        if (a != b && b != c && c != a) {
            uint32_t *kept = list->corners + 3 * (size_t)list->count++;
            kept[0] = info->mesh->packed_vertices[a];
            kept[1] = info->mesh->packed_vertices[b];
            kept[2] = info->mesh->packed_vertices[c];
        }
    }
    return PELT_OK;
}

static pelt_result add_spheres(pelt_clusters *clusters, const pelt_packed_mesh *mesh)
{
    clusters->spheres =
        pelt_allocate(clusters->host, clusters->joint_count, 4 * sizeof(*clusters->spheres));
    if (!clusters->spheres) {
        return pelt_fail(clusters->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %u spheres",
                         clusters->joint_count);
    }
    pelt_clusters_spheres(clusters, mesh, mesh->vertices, clusters->spheres);
    return PELT_OK;
}

pelt_result pelt_clusters_create(const pelt_host *host, const pelt_clusters_info *info,
                                 pelt_clusters **out)
{
    *out = NULL;
    pelt_result result = check(host, info);
    if (result) {
        return result;
    }
    cluster_level levels[PELT_LOD_MAX] = { 0 };
    uint32_t level_count = 1;
    cluster_cutter *cutter = NULL;
    pelt_clusters *clusters = pelt_allocate(host, 1, sizeof(*clusters));
    if (!clusters) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for clusters");
    }
    clusters->host = host;
    clusters->set_count = info->mesh->set_count;
    result = list_triangles(host, info, &levels[0].triangles);
    if (result) {
        goto done;
    }
    result = pelt_is_tangled(host, info->mesh, &levels[0].triangles, &levels[0].tangled);
    if (result) {
        goto done;
    }
    result = pelt_levels_make(host, info, levels, &level_count);
    if (result) {
        goto done;
    }
    result = pelt_cutter_create(host, info, clusters, &cutter);
    if (result) {
        goto done;
    }
    for (uint32_t i = 0; i < level_count; i++) {
        result = pelt_cutter_add_level(cutter, &levels[i]);
        if (result) {
            goto done;
        }
    }
    result = add_spheres(clusters, info->mesh);
    if (result) {
        goto done;
    }
    *out = clusters;
    clusters = NULL;
done:
    pelt_cutter_destroy(cutter);
    for (uint32_t i = 0; i < level_count; i++) {
        pelt_release(host, levels[i].triangles.corners);
    }
    pelt_clusters_destroy(clusters);
    return result;
}

void pelt_clusters_destroy(pelt_clusters *clusters)
{
    if (!clusters) {
        return;
    }
    pelt_release(clusters->host, clusters->clusters);
    pelt_release(clusters->host, clusters->vertex_table);
    pelt_release(clusters->host, clusters->triangles);
    pelt_release(clusters->host, clusters->local_joints);
    pelt_release(clusters->host, clusters->joints);
    pelt_release(clusters->host, clusters->spheres);
    pelt_release(clusters->host, clusters);
}
