/* Clusters in pelt info: how full they are, and the levels of detail of each mesh. */
#include "cli/info.h"

#include <stdio.h>

/* Of level 0, all meshes together: what coarser levels have differs little from it. */
typedef struct cluster_totals {
    uint64_t clusters, vertices, triangles, joints;
    uint32_t most_joints;
} cluster_totals;

static cluster_totals add_up(const pelt_character_clusters *clusters)
{
    cluster_totals sum = { 0 };
    for (uint32_t m = 0; m < clusters->mesh_count; m++) {
        const pelt_clusters *mesh = clusters->clusters[m];
        for (uint32_t i = 0; mesh && i < mesh->lods[0].cluster_count; i++) {
            const pelt_cluster *cluster = &mesh->clusters[i];
            sum.clusters++;
            sum.vertices += cluster->vertex_count;
            sum.triangles += cluster->triangle_count;
            sum.joints += cluster->joint_count;
            sum.most_joints =
                cluster->joint_count > sum.most_joints ? cluster->joint_count : sum.most_joints;
        }
    }
    return sum;
}

static double mean(uint64_t sum, uint64_t count)
{
    return count ? (double)sum / (double)count : 0.0;
}

/* The first part that has the mesh: who looks for it among the primitives finds that. */
static uint32_t first_part(const pelt_character *character, uint32_t mesh)
{
    uint32_t part = 0;
    while (character->part_meshes[part] != mesh) {
        part++;
    }
    return part;
}

void pelt_info_print_clusters(const pelt_character *character,
                              const pelt_character_clusters *clusters)
{
    enum { SHOWN = 16 };
    cluster_totals sum = add_up(clusters);
    char count[32];
    if (sum.clusters == 0) {
        printf("  none: no triangles\n");
        return;
    }
    printf("  %s at level 0; on average %.1f of %d vertices, %.1f of %d triangles, %.1f joints (%u "
           "at most)\n",
           pelt_format_count(sum.clusters, count), mean(sum.vertices, sum.clusters),
           PELT_CLUSTER_VERTEX_MAX, mean(sum.triangles, sum.clusters), PELT_CLUSTER_TRIANGLE_MAX,
           mean(sum.joints, sum.clusters), sum.most_joints);
    printf("  errors: how far level 0 is from a level, at %u moment%s\n", clusters->moment_count,
           pelt_plural(clusters->moment_count));
    printf("  %5s %5s %6s %9s %11s %11s %10s\n", "node", "prim", "level", "clusters", "triangles",
           "vertices", "error");
    uint32_t shown = 0, hidden = 0;
    for (uint32_t m = 0; m < clusters->mesh_count; m++) {
        const pelt_clusters *mesh = clusters->clusters[m];
        if (!mesh || shown == SHOWN) {
            hidden += mesh != NULL;
            continue;
        }
        shown++;
        const pelt_part *part = &character->model->parts[first_part(character, m)];
        for (uint32_t i = 0; i < mesh->lod_count; i++) {
            const pelt_lod *lod = &mesh->lods[i];
            char of_clusters[32], triangles[32], vertices[32];
            printf("  %5u %5u %6u %9s %11s %11s %10.3g\n", part->node, part->primitive, i,
                   pelt_format_count(lod->cluster_count, of_clusters),
                   pelt_format_count(lod->triangle_count, triangles),
                   pelt_format_count(lod->vertex_count, vertices), (double)lod->error);
        }
    }
    if (hidden) {
        printf("  and %s more (--json lists all)\n", pelt_format_count(hidden, count));
    }
}

static void json_mesh(pelt_json *json, const pelt_character *character, uint32_t index,
                      const pelt_clusters *mesh)
{
    const pelt_part *part = &character->model->parts[first_part(character, index)];
    pelt_json_object(json, NULL);
    pelt_json_integer(json, "node", part->node);
    pelt_json_integer(json, "mesh", part->mesh);
    pelt_json_integer(json, "primitive", part->primitive);
    pelt_json_list(json, "levels");
    for (uint32_t i = 0; i < mesh->lod_count; i++) {
        const pelt_lod *lod = &mesh->lods[i];
        pelt_json_object_line(json, NULL);
        pelt_json_integer(json, "clusters", lod->cluster_count);
        pelt_json_integer(json, "triangles", lod->triangle_count);
        pelt_json_integer(json, "vertices", lod->vertex_count);
        pelt_json_rounded(json, "error", (double)lod->error, 4);
        pelt_json_rounded(json, "bindError", (double)lod->bind_error, 4);
        pelt_json_close(json);
    }
    pelt_json_close(json);
    pelt_json_close(json);
}

void pelt_info_json_clusters(pelt_json *json, const pelt_character *character,
                             const pelt_character_clusters *clusters)
{
    cluster_totals sum = add_up(clusters);
    pelt_json_object(json, "clusters");
    pelt_json_integer(json, "clusters", (int64_t)sum.clusters);
    pelt_json_rounded(json, "meanVertices", mean(sum.vertices, sum.clusters), 4);
    pelt_json_rounded(json, "meanTriangles", mean(sum.triangles, sum.clusters), 4);
    pelt_json_rounded(json, "meanJoints", mean(sum.joints, sum.clusters), 4);
    pelt_json_integer(json, "mostJoints", sum.most_joints);
    pelt_json_integer(json, "moments", clusters->moment_count);
    pelt_json_list(json, "meshes");
    for (uint32_t m = 0; m < clusters->mesh_count; m++) {
        if (clusters->clusters[m]) {
            json_mesh(json, character, m, clusters->clusters[m]);
        }
    }
    pelt_json_close(json);
    pelt_json_close(json);
}
