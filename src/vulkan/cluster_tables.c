/* Clusters, instances and views as shaders read them. */
#include "base/base.h"

#include "pelt/cluster_layout.h"

#include <math.h>
#include <pelt/cluster_pass.h>
#include <string.h>

_Static_assert(PELT_CLUSTER_VERTICES == PELT_CLUSTER_VERTEX_MAX &&
                   PELT_CLUSTER_TRIANGLES == PELT_CLUSTER_TRIANGLE_MAX &&
                   PELT_CLUSTER_JOINTS == PELT_CLUSTER_JOINT_MAX,
               "as pelt_clusters_create makes them");
_Static_assert(sizeof(struct pelt_gpu_cluster_mesh) == PELT_GPU_CLUSTER_MESH_SIZE &&
                   sizeof(struct pelt_gpu_cluster_instance) == PELT_CLUSTER_INSTANCE_SIZE &&
                   sizeof(struct pelt_gpu_cluster_view) == PELT_CLUSTER_VIEW_SIZE,
               "as the header says");

/* -- what instances share ------------------------------------------------------------------ */

enum { CLUSTERS, VERTEX_TABLE, TRIANGLES, LOCAL_JOINTS, JOINTS, SPHERES, LODS, LIST_COUNT };

/* Where each list begins behind the mesh's streams, and where the last one ends. */
typedef struct list_plan {
    size_t offsets[LIST_COUNT + 1];
} list_plan;

static list_plan plan_lists(const pelt_clusters *clusters, const pelt_packed_mesh *mesh)
{
    const size_t word = sizeof(uint32_t);
    const size_t sizes[LIST_COUNT] = {
        [CLUSTERS] = clusters->cluster_count * sizeof(struct pelt_gpu_cluster),
        [VERTEX_TABLE] = clusters->vertex_count * word,
        [TRIANGLES] = clusters->triangle_count * word,
        [LOCAL_JOINTS] = (size_t)clusters->set_count * clusters->vertex_count * word,
        [JOINTS] = clusters->joint_count * word,
        [SPHERES] = clusters->joint_count * 4 * sizeof(float),
        [LODS] = clusters->lod_count * sizeof(struct pelt_gpu_lod),
    };
    list_plan plan = { .offsets = { pelt_gpu_mesh_size(mesh) } };
    for (int i = 0; i < LIST_COUNT; i++) {
        plan.offsets[i + 1] = plan.offsets[i] + (sizes[i] + 15) / 16 * 16;
    }
    return plan;
}

size_t pelt_gpu_clusters_size(const pelt_clusters *clusters, const pelt_packed_mesh *mesh)
{
    return plan_lists(clusters, mesh).offsets[LIST_COUNT];
}

static void write_clusters(const pelt_clusters *clusters, char *memory)
{
    for (uint32_t i = 0; i < clusters->cluster_count; i++) {
        const pelt_cluster *cluster = &clusters->clusters[i];
        const struct pelt_gpu_cluster record = { .first_vertex = cluster->first_vertex,
                                                 .vertex_count = cluster->vertex_count,
                                                 .first_triangle = cluster->first_triangle,
                                                 .triangle_count = cluster->triangle_count,
                                                 .first_joint = cluster->first_joint,
                                                 .joint_count = cluster->joint_count,
                                                 .lod = cluster->lod };
        memcpy(memory + i * sizeof(record), &record, sizeof(record));
    }
}

static void write_lods(const pelt_clusters *clusters, char *memory)
{
    for (uint32_t i = 0; i < clusters->lod_count; i++) {
        const pelt_lod *lod = &clusters->lods[i];
        const struct pelt_gpu_lod record = { .first_cluster = lod->first_cluster,
                                             .cluster_count = lod->cluster_count,
                                             .error = lod->error };
        memcpy(memory + i * sizeof(record), &record, sizeof(record));
    }
}

static uint32_t most_of_a_level(const pelt_clusters *clusters)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < clusters->lod_count; i++) {
        uint32_t count = clusters->lods[i].cluster_count;
        most = count > most ? count : most;
    }
    return most;
}

/* Lists of a mesh without triangles may be NULL. */
static void copy(char *to, const void *from, size_t size)
{
    if (size > 0) {
        memcpy(to, from, size);
    }
}

void pelt_gpu_clusters_write(const pelt_clusters *clusters, const pelt_packed_mesh *mesh,
                             void *memory, VkDeviceAddress address, pelt_gpu_clusters *out)
{
    const size_t word = sizeof(uint32_t);
    list_plan plan = plan_lists(clusters, mesh);
    char *bytes = memory;
    *out = (pelt_gpu_clusters){
        .clusters = address + plan.offsets[CLUSTERS],
        .vertex_table = address + plan.offsets[VERTEX_TABLE],
        .triangles = address + plan.offsets[TRIANGLES],
        .local_joints = address + plan.offsets[LOCAL_JOINTS],
        .joints = address + plan.offsets[JOINTS],
        .spheres = address + plan.offsets[SPHERES],
        .lods = address + plan.offsets[LODS],
        .lod_count = clusters->lod_count,
        .most_clusters = most_of_a_level(clusters),
    };
    pelt_gpu_mesh_write(mesh, memory, address, &out->mesh);
    write_clusters(clusters, bytes + plan.offsets[CLUSTERS]);
    copy(bytes + plan.offsets[VERTEX_TABLE], clusters->vertex_table, clusters->vertex_count * word);
    copy(bytes + plan.offsets[TRIANGLES], clusters->triangles, clusters->triangle_count * word);
    copy(bytes + plan.offsets[LOCAL_JOINTS], clusters->local_joints,
         (size_t)clusters->set_count * clusters->vertex_count * word);
    copy(bytes + plan.offsets[JOINTS], clusters->joints, clusters->joint_count * word);
    copy(bytes + plan.offsets[SPHERES], clusters->spheres,
         clusters->joint_count * 4 * sizeof(float));
    write_lods(clusters, bytes + plan.offsets[LODS]);
}

void pelt_gpu_clusters_indices(const pelt_clusters *clusters, uint16_t *indices)
{
    for (uint32_t i = 0; i < clusters->triangle_count; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            indices[3 * (size_t)i + k] = clusters->triangles[i] >> (8 * k) & 0xff;
        }
    }
}

void pelt_gpu_cluster_mesh_write(const pelt_gpu_clusters *clusters, void *memory)
{
    const pelt_gpu_mesh *mesh = &clusters->mesh;
    const struct pelt_gpu_cluster_mesh record = {
        .vertices = mesh->vertices,
        .tangents = mesh->tangents,
        .weights = mesh->weights,
        .joints = mesh->joints,
        .clusters = clusters->clusters,
        .vertex_table = clusters->vertex_table,
        .triangles = clusters->triangles,
        .local_joints = clusters->local_joints,
        .cluster_joints = clusters->joints,
        .spheres = clusters->spheres,
        .lods = clusters->lods,
        .vertex_count = mesh->vertex_count,
        .set_count = mesh->set_count,
        .joints_16 = mesh->joint_bytes == 2,
        .lod_count = clusters->lod_count,
        .first_index = clusters->first_index,
    };
    memcpy(memory, &record, sizeof(record));
}

/* -- instances and views ------------------------------------------------------------------- */

/* Finite and not negative. */
static bool is_size(double value)
{
    return value >= 0.0 && value <= PELT_MAGNITUDE_MAX;
}

static const char *wrong_with_instance(const pelt_cluster_instance *instance)
{
    if (instance->mesh == 0 || instance->mesh % 16 != 0) {
        return "mesh is 0 or not 16-byte aligned";
    }
    if (instance->matrices == 0 || instance->matrices % 16 != 0) {
        return "matrices is 0 or not 16-byte aligned";
    }
    if (instance->box % 4 != 0) {
        return "box is not 4-byte aligned";
    }
    if (!is_size(instance->scale)) {
        return "scale is negative, not finite or beyond 1e18";
    }
    return NULL;
}

pelt_result pelt_cluster_instance_write(const pelt_host *host,
                                        const pelt_cluster_instance *instance, void *memory)
{
    const char *wrong = wrong_with_instance(instance);
    if (wrong) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL, "a cluster instance: %s", wrong);
    }
    const struct pelt_gpu_cluster_instance record = {
        .mesh = instance->mesh,
        .matrices = instance->matrices,
        .box = instance->box,
        .scale = instance->scale > 0.0f ? instance->scale : 1.0f,
        .user = instance->user,
    };
    memcpy(memory, &record, sizeof(record));
    return PELT_OK;
}

static const char *wrong_with_view(const pelt_cluster_view *view)
{
    if (!view->clip) {
        return "it has no clip matrix";
    }
    for (int i = 0; i < 16; i++) {
        if (!isfinite(view->clip[i])) {
            return "clip has an element that is not finite";
        }
    }
    for (int i = 0; i < 3; i++) {
        if (!is_size(fabs(view->eye[i]))) {
            return "eye is not finite or beyond 1e18";
        }
    }
    if (!is_size(view->pixels)) {
        return "pixels is negative, not finite or beyond 1e18";
    }
    if (!is_size(view->most_error)) {
        return "most_error is negative, not finite or beyond 1e18";
    }
    return NULL;
}

pelt_result pelt_cluster_view_write(const pelt_host *host, const pelt_cluster_view *view,
                                    void *memory)
{
    const char *wrong = wrong_with_view(view);
    if (wrong) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL, "a view of clusters: %s", wrong);
    }
    struct pelt_gpu_cluster_view record = {
        .eye = { (float)view->eye[0], (float)view->eye[1], (float)view->eye[2] },
        .pixels = (float)view->pixels,
        .most_error = (float)view->most_error,
        .lod = view->lod,
        .flags =
            (view->cull ? PELT_VIEW_CULL : 0) | (view->orthographic ? PELT_VIEW_ORTHOGRAPHIC : 0),
    };
    memcpy(record.clip, view->clip, sizeof(record.clip));
    memcpy(memory, &record, sizeof(record));
    return PELT_OK;
}
