/* Clusters of a character's meshes with their levels of detail, and the instances of a batch. */
#include "cli/render_clusters.h"

#include "cli/cut.h"

#ifdef PELT_HAVE_VULKAN

/* Moments of a clip that levels of detail are judged at. */
enum { MOMENTS = 8 };

struct pelt_clustered {
    const pelt_host *host;
    pelt_headless *device;
    const pelt_clustered_info *info; /* while it is created */
    pelt_character_clusters *cut;
    const pelt_clusters **clusters; /* of each mesh; NULL: points, lines, nothing */
    pelt_gpu_clusters *tables;      /* likewise */
    pelt_picture_part_clusters *parts;
    pelt_buffer table_memory;
    pelt_buffer records; /* of each mesh, then of each morphed part of a member */
    pelt_buffer spheres; /* of those */
    pelt_buffer instances;
};

static pelt_result cut_meshes(pelt_clustered *self)
{
    const pelt_clustered_info *info = self->info;
    const pelt_cut_info cut = { .clip = info->play.clip,
                                .all_clips = info->all_clips,
                                .moments = MOMENTS,
                                .start = info->play.time,
                                .lod_count = info->lod_count };
    pelt_result result = pelt_character_cut(info->character, &cut, &self->cut);
    for (uint32_t i = 0; result == PELT_OK && i < info->character->mesh_count; i++) {
        const pelt_clusters *clusters = self->cut->clusters[i];
        self->clusters[i] = clusters && clusters->cluster_count > 0 ? clusters : NULL;
    }
    return result;
}

static pelt_result upload_tables(pelt_clustered *self)
{
    const pelt_character *character = self->info->character;
    size_t total = 0, offset = 0;
    for (uint32_t i = 0; i < character->mesh_count; i++) {
        if (self->clusters[i] &&
            !pelt_add(total, pelt_gpu_clusters_size(self->clusters[i], character->meshes[i]),
                      &total)) {
            return PELT_ERROR_RANGE;
        }
    }
    pelt_result result =
        pelt_buffer_create(self->device, total, 0, PELT_MEMORY_DEVICE, &self->table_memory);
    char *bytes = pelt_allocate(self->host, total, 1);
    for (uint32_t i = 0; result == PELT_OK && bytes && i < character->mesh_count; i++) {
        if (self->clusters[i]) {
            pelt_gpu_clusters_write(self->clusters[i], character->meshes[i], bytes + offset,
                                    self->table_memory.address + offset, &self->tables[i]);
            offset += pelt_gpu_clusters_size(self->clusters[i], character->meshes[i]);
        }
    }
    if (result == PELT_OK) {
        result = bytes ? pelt_buffer_upload(self->device, &self->table_memory, 0, bytes, total)
                       : PELT_ERROR_MEMORY;
    }
    pelt_release(self->host, bytes);
    return result;
}

/* Slots of the batch, a part of a member each, with vertices of their own. */
static size_t count_morphed(const pelt_clustered *self, size_t *spheres)
{
    const pelt_batch *batch = self->info->batch;
    const pelt_character *character = self->info->character;
    size_t parts = character->model->part_count, count = 0;
    *spheres = 0;
    for (size_t slot = 0; slot < batch->count * parts; slot++) {
        const pelt_clusters *clusters = self->clusters[character->part_meshes[slot % parts]];
        if (batch->morphed[slot].vertices && clusters) {
            *spheres += clusters->joint_count;
            count++;
        }
    }
    return count;
}

/* Where records and spheres of morphed parts go next. */
typedef struct morph_cursor {
    size_t record, sphere;
} morph_cursor;

/* The record of a part whose vertices morph targets have moved. */
static VkDeviceAddress write_morphed(pelt_clustered *self, uint32_t mesh,
                                     const pelt_packed_vertex *vertices,
                                     const pelt_gpu_instance *skinned, morph_cursor *next)
{
    const pelt_clusters *clusters = self->clusters[mesh];
    size_t record = next->record++ * PELT_GPU_CLUSTER_MESH_SIZE;
    size_t sphere = next->sphere * 4 * sizeof(float);
    next->sphere += clusters->joint_count;
    pelt_gpu_clusters morphed = self->tables[mesh];
    morphed.mesh.vertices = skinned->vertices;
    morphed.mesh.tangents = skinned->tangents ? skinned->tangents : morphed.mesh.tangents;
    morphed.spheres = self->spheres.address + sphere;
    pelt_clusters_spheres(clusters, self->info->character->meshes[mesh], vertices,
                          (float *)((char *)self->spheres.mapped + sphere));
    pelt_gpu_cluster_mesh_write(&morphed, (char *)self->records.mapped + record);
    return self->records.address + record;
}

static pelt_result write_instance(pelt_clustered *self, uint32_t member, uint32_t part,
                                  morph_cursor *next)
{
    const pelt_batch *batch = self->info->batch;
    const pelt_character *character = self->info->character;
    uint32_t mesh = character->part_meshes[part];
    const pelt_morphed *morphed =
        &batch->morphed[(size_t)member * character->model->part_count + part];
    const pelt_gpu_instance *skinned =
        pelt_backend_vulkan_instance(self->info->backend, member, part);
    pelt_cluster_instance instance = {
        .mesh = self->records.address + (VkDeviceAddress)mesh * PELT_GPU_CLUSTER_MESH_SIZE,
        .matrices = skinned->matrices,
        .box = skinned->box,
    };
    if (morphed->vertices) {
        instance.mesh = write_morphed(self, mesh, morphed->vertices, skinned, next);
    }
    size_t place = (size_t)part * batch->count + member;
    return pelt_cluster_instance_write(
        self->host, &instance, (char *)self->instances.mapped + place * PELT_CLUSTER_INSTANCE_SIZE);
}

static uint32_t most_clusters(const pelt_clusters *clusters)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < clusters->lod_count; i++) {
        most = clusters->lods[i].cluster_count > most ? clusters->lods[i].cluster_count : most;
    }
    return most;
}

static pelt_result write_instances(pelt_clustered *self)
{
    const pelt_batch *batch = self->info->batch;
    const pelt_character *character = self->info->character;
    uint32_t parts = character->model->part_count;
    size_t spheres, records = character->mesh_count + count_morphed(self, &spheres);
    const struct {
        pelt_buffer *buffer;
        size_t count, size;
    } wanted[] = {
        { &self->records, records, PELT_GPU_CLUSTER_MESH_SIZE },
        { &self->spheres, spheres, 4 * sizeof(float) },
        { &self->instances, (size_t)batch->count * parts, PELT_CLUSTER_INSTANCE_SIZE },
    };
    pelt_result result = PELT_OK;
    for (size_t i = 0; result == PELT_OK && i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        size_t size;
        result =
            pelt_multiply(wanted[i].count, wanted[i].size, &size)
                ? pelt_buffer_create(self->device, size, 0, PELT_MEMORY_UPLOAD, wanted[i].buffer)
                : PELT_ERROR_RANGE;
    }
    for (uint32_t i = 0; result == PELT_OK && i < character->mesh_count; i++) {
        if (self->clusters[i]) {
            pelt_gpu_cluster_mesh_write(&self->tables[i],
                                        (char *)self->records.mapped +
                                            (size_t)i * PELT_GPU_CLUSTER_MESH_SIZE);
        }
    }
    morph_cursor next = { .record = character->mesh_count };
    for (uint32_t p = 0; result == PELT_OK && p < parts; p++) {
        const pelt_clusters *clusters = self->clusters[character->part_meshes[p]];
        if (!clusters) {
            continue;
        }
        self->parts[p] = (pelt_picture_part_clusters){
            .instances = self->instances.address +
                         (VkDeviceAddress)p * batch->count * PELT_CLUSTER_INSTANCE_SIZE,
            .cluster_count = most_clusters(clusters),
        };
        for (uint32_t i = 0; result == PELT_OK && i < batch->count; i++) {
            result = write_instance(self, i, p, &next);
        }
    }
    return result;
}

pelt_result pelt_clustered_create(const pelt_host *host, const pelt_clustered_info *info,
                                  pelt_clustered **out)
{
    *out = NULL;
    const pelt_character *character = info->character;
    pelt_clustered *self = pelt_allocate(host, 1, sizeof(*self));
    if (!self) {
        return PELT_ERROR_MEMORY;
    }
    *self = (pelt_clustered){
        .host = host,
        .device = pelt_backend_vulkan_device(info->backend),
        .info = info,
        .clusters = pelt_allocate(host, character->mesh_count, sizeof(*self->clusters)),
        .tables = pelt_allocate(host, character->mesh_count, sizeof(*self->tables)),
        .parts = pelt_allocate(host, character->model->part_count, sizeof(*self->parts)),
    };
    pelt_result result =
        self->clusters && self->tables && self->parts ? cut_meshes(self) : PELT_ERROR_MEMORY;
    if (result == PELT_OK) {
        result = upload_tables(self);
    }
    if (result == PELT_OK) {
        result = write_instances(self);
    }
    self->info = NULL;
    if (result != PELT_OK) {
        pelt_clustered_destroy(self);
        return result;
    }
    *out = self;
    return PELT_OK;
}

void pelt_clustered_destroy(pelt_clustered *self)
{
    if (!self) {
        return;
    }
    pelt_buffer_destroy(self->device, &self->instances);
    pelt_buffer_destroy(self->device, &self->spheres);
    pelt_buffer_destroy(self->device, &self->records);
    pelt_buffer_destroy(self->device, &self->table_memory);
    pelt_character_clusters_destroy(self->cut);
    pelt_release(self->host, self->parts);
    pelt_release(self->host, self->tables);
    pelt_release(self->host, self->clusters);
    pelt_release(self->host, self);
}

const pelt_picture_part_clusters *pelt_clustered_parts(const pelt_clustered *self)
{
    return self ? self->parts : NULL;
}

#endif
