/* Instances of clusters on the device: culled, listed, skinned, and judged against the skin pass
 * and against arithmetic of this file. */
#ifndef PELT_TESTS_GPU_CLUSTERS_H
#define PELT_TESTS_GPU_CLUSTERS_H

#include "tests/gpu_scene.h"

#include "pelt/cluster_pass_layout.h"

#include <pelt/cluster_pass.h>

typedef struct stage_mesh {
    const pelt_packed_mesh *packed;
    const pelt_clusters *clusters;
    const pelt_packed_vertex *vertices; /* morphed, with tangents and spheres; or NULL, all */
    const uint32_t *tangents;
    const float *spheres;
} stage_mesh;

typedef struct stage_instance {
    uint32_t mesh;
    const float *matrices;
    bool hidden;
    bool boxed;
    float scale; /* 0: 1 */
} stage_instance;

typedef struct stage {
    pelt_headless *device;
    const stage_mesh *meshes;
    const stage_instance *instances;
    uint32_t mesh_count, instance_count, capacity;

    pelt_gpu_clusters *gpu;
    pelt_box *boxes;
    size_t *firsts; /* of each instance in what the skin pass writes, in vertices */
    uint8_t *rows;  /* room for a row of each cluster of the largest mesh */
    scene_input input;
    VkDeviceAddress instance_list, table, view_record;
    pelt_cluster_tables tables;
    pelt_cluster_view view; /* the last one */
    float clip[16];
    pelt_buffer scratch, visible, counts, draws, vertices, tangents; /* the cluster passes' */
    pelt_buffer all, all_tangents;                                   /* the skin pass's */
} stage;

/* -- opening ------------------------------------------------------------------------------- */

static pelt_cluster_pass *stage_shared;
static bool stage_shares_palettes; /* of clusters, within a workgroup */

static inline pelt_cluster_pass *stage_pass(pelt_headless *device)
{
    if (!stage_shared) {
        const pelt_cluster_pass_info info = { .vulkan = &device->vulkan,
                                              .shared_palettes = stage_shares_palettes };
        assert_int_equal(pelt_cluster_pass_create(&gpu_host, &info, &stage_shared), PELT_OK);
    }
    return stage_shared;
}

static inline int stage_teardown(void **state)
{
    pelt_cluster_pass_destroy(stage_shared);
    stage_shared = NULL;
    return scene_teardown(state);
}

static inline void stage_buffer(stage *self, size_t size, VkBufferUsageFlags usage,
                                pelt_buffer *out)
{
    assert_int_equal(pelt_buffer_create(self->device, size, usage, PELT_MEMORY_READBACK, out),
                     PELT_OK);
    memset(out->mapped, SCENE_GUARD, size);
}

static inline const float *stage_spheres(const stage_mesh *mesh)
{
    return mesh->spheres ? mesh->spheres : mesh->clusters->spheres;
}

/* Mesh, its record, and streams that replace its own. */
static inline void stage_put_mesh(stage *self, uint32_t index, VkDeviceAddress *record)
{
    const stage_mesh *mesh = &self->meshes[index];
    size_t size = pelt_gpu_clusters_size(mesh->clusters, mesh->packed);
    char *memory = malloc(size);
    assert_non_null(memory);
    pelt_gpu_clusters *gpu = &self->gpu[index];
    VkDeviceAddress address = self->input.buffer.address + self->input.used;
    pelt_gpu_clusters_write(mesh->clusters, mesh->packed, memory, address, gpu);
    assert_int_equal(scene_put(&self->input, memory, size), address);
    if (mesh->vertices) {
        gpu->mesh.vertices =
            scene_put(&self->input, mesh->vertices, 16 * (size_t)mesh->packed->vertex_count);
        gpu->spheres =
            scene_put(&self->input, mesh->spheres, 16 * (size_t)mesh->clusters->joint_count);
    }
    if (mesh->tangents) {
        gpu->mesh.tangents =
            scene_put(&self->input, mesh->tangents, 4 * (size_t)mesh->packed->vertex_count);
    }
    gpu->first_index = 1000 * (index + 1);
    char bytes[PELT_GPU_CLUSTER_MESH_SIZE];
    pelt_gpu_cluster_mesh_write(gpu, bytes);
    *record = scene_put(&self->input, bytes, sizeof(bytes));
    free(memory);
}

static inline size_t stage_input_size(const stage *self)
{
    size_t size = PELT_CLUSTER_VIEW_SIZE + (size_t)PELT_CLUSTER_INSTANCE_SIZE * 4 + 64;
    for (uint32_t m = 0; m < self->mesh_count; m++) {
        const stage_mesh *mesh = &self->meshes[m];
        size += pelt_gpu_clusters_size(mesh->clusters, mesh->packed) + 64 +
                20 * (size_t)mesh->packed->vertex_count + 16 * (size_t)mesh->clusters->joint_count +
                PELT_GPU_CLUSTER_MESH_SIZE;
    }
    for (uint32_t i = 0; i < self->instance_count; i++) {
        const stage_mesh *mesh = &self->meshes[self->instances[i].mesh];
        size += 48 * (size_t)mesh->packed->joint_count + 32 + PELT_CLUSTER_INSTANCE_SIZE;
        size += 8 * ((size_t)mesh->clusters->cluster_count / 128 + 1);
    }
    return size;
}

/* Matrices that several instances share are uploaded once. */
static inline VkDeviceAddress stage_put_matrices(stage *self, uint32_t index,
                                                 const VkDeviceAddress *addresses)
{
    const stage_instance *instance = &self->instances[index];
    if (index > 0 && self->instances[index - 1].matrices == instance->matrices) {
        return addresses[index - 1];
    }
    return scene_put(&self->input, instance->matrices,
                     48 * (size_t)self->meshes[instance->mesh].packed->joint_count);
}

static inline pelt_box stage_box(const stage *self, uint32_t index)
{
    const stage_instance *instance = &self->instances[index];
    const stage_mesh *mesh = &self->meshes[instance->mesh];
    pelt_joint_boxes *boxes = NULL;
    assert_int_equal(pelt_joint_boxes_create(&gpu_host, mesh->packed, mesh->vertices, &boxes),
                     PELT_OK);
    pelt_box box = pelt_joint_boxes_bound(boxes, instance->matrices);
    pelt_joint_boxes_destroy(boxes);
    return box;
}

static inline void stage_put_instances(stage *self, const VkDeviceAddress *records,
                                       VkDeviceAddress *matrices)
{
    char *list = malloc((self->instance_count + 1) * (size_t)PELT_CLUSTER_INSTANCE_SIZE);
    assert_non_null(list);
    for (uint32_t i = 0; i < self->instance_count; i++) {
        const stage_instance *from = &self->instances[i];
        matrices[i] = stage_put_matrices(self, i, matrices);
        pelt_cluster_instance instance = {
            .mesh = records[from->mesh], .matrices = matrices[i], .scale = from->scale, .user = i
        };
        if (from->boxed) {
            self->boxes[i] = stage_box(self, i);
            instance.box = scene_put(&self->input, &self->boxes[i], sizeof(pelt_box));
        }
        assert_int_equal(pelt_cluster_instance_write(&gpu_host, &instance,
                                                     list + i * (size_t)PELT_CLUSTER_INSTANCE_SIZE),
                         PELT_OK);
    }
    self->instance_list =
        scene_put(&self->input, list, self->instance_count * (size_t)PELT_CLUSTER_INSTANCE_SIZE);
    free(list);
}

static inline void stage_put_table(stage *self)
{
    uint32_t *meshes = malloc((self->instance_count + 1) * sizeof(*meshes));
    assert_non_null(meshes);
    for (uint32_t i = 0; i < self->instance_count; i++) {
        meshes[i] = self->instances[i].hidden ? PELT_CLUSTER_HIDDEN : self->instances[i].mesh;
    }
    const pelt_cluster_scene parts = { .meshes = self->gpu,
                                       .mesh_count = self->mesh_count,
                                       .instance_meshes = meshes,
                                       .instance_count = self->instance_count };
    assert_int_equal(pelt_cluster_tables_measure(&gpu_host, &parts, &self->tables), PELT_OK);
    char *table = malloc(self->tables.table_size + 1);
    assert_non_null(table);
    pelt_cluster_tables_write(&parts, table);
    self->table = scene_put(&self->input, table, self->tables.table_size);
    free(table);
    free(meshes);
}

/* All instances by the skin pass. */
static inline void stage_skin_all(stage *self, const VkDeviceAddress *matrices)
{
    size_t count = 0;
    pelt_gpu_mesh *meshes = calloc(self->mesh_count + 1, sizeof(*meshes));
    pelt_gpu_instance *instances = calloc(self->instance_count + 1, sizeof(*instances));
    assert_true(meshes && instances);
    for (uint32_t m = 0; m < self->mesh_count; m++) {
        meshes[m] = self->gpu[m].mesh;
    }
    for (uint32_t i = 0; i < self->instance_count; i++) {
        self->firsts[i] = count;
        count += meshes[self->instances[i].mesh].vertex_count;
    }
    stage_buffer(self, 16 * count + 16, 0, &self->all);
    stage_buffer(self, 4 * count + 16, 0, &self->all_tangents);
    for (uint32_t i = 0; i < self->instance_count; i++) {
        VkDeviceAddress at = self->all.address + 16 * self->firsts[i];
        instances[i] = (pelt_gpu_instance){
            .mesh = self->instances[i].mesh,
            .matrices = matrices[i],
            .positions = at,
            .position_stride = 16,
            .normals = at + 12,
            .normal_stride = 16,
            .tangents_out = self->all_tangents.address + 4 * self->firsts[i],
            .tangent_stride = 4,
        };
    }
    const pelt_skin_tables_info info = { meshes, self->mesh_count, instances,
                                         self->instance_count };
    const pelt_skin_pass *pass = scene_shared_pass(self->device);
    pelt_skin_tables tables;
    assert_int_equal(pelt_skin_tables_measure(pass, &info, &tables), PELT_OK);
    pelt_buffer table, scratch;
    stage_buffer(self, tables.table_size + 16, 0, &table);
    stage_buffer(self, tables.scratch_size + 16, 0, &scratch);
    pelt_skin_tables_write(pass, &info, &tables, table.mapped);
    VkCommandBuffer commands;
    assert_int_equal(pelt_commands_begin(self->device, &commands), PELT_OK);
    pelt_cmd_skin(pass, commands, &tables, table.address, scratch.address);
    assert_int_equal(pelt_commands_submit(self->device, commands), PELT_OK);
    pelt_buffer_destroy(self->device, &table);
    pelt_buffer_destroy(self->device, &scratch);
    free(meshes);
    free(instances);
}

/* capacity: 0 for all. Set device, meshes and instances before. */
static inline void stage_open(stage *self, uint32_t capacity)
{
    size_t count = self->instance_count + (size_t)1;
    self->gpu = calloc(self->mesh_count + (size_t)1, sizeof(*self->gpu));
    self->boxes = calloc(count, sizeof(*self->boxes));
    self->firsts = calloc(count, sizeof(*self->firsts));
    VkDeviceAddress *matrices = calloc(count, sizeof(*matrices));
    VkDeviceAddress *records = calloc(self->mesh_count + (size_t)1, sizeof(*records));
    assert_true(self->gpu && self->boxes && self->firsts && matrices && records);
    assert_int_equal(pelt_buffer_create(self->device, stage_input_size(self), 0, PELT_MEMORY_UPLOAD,
                                        &self->input.buffer),
                     PELT_OK);
    uint32_t most = 0;
    for (uint32_t m = 0; m < self->mesh_count; m++) {
        uint32_t clusters = self->meshes[m].clusters->cluster_count;
        stage_put_mesh(self, m, &records[m]);
        most = clusters > most ? clusters : most;
    }
    self->rows = malloc(most + 1);
    assert_non_null(self->rows);
    stage_put_instances(self, records, matrices);
    stage_put_table(self);
    char nothing[PELT_CLUSTER_VIEW_SIZE] = { 0 };
    self->view_record = scene_put(&self->input, nothing, sizeof(nothing));
    stage_skin_all(self, matrices);
    self->capacity = capacity > 0 ? capacity : (uint32_t)self->tables.cluster_count;
    size_t slots = self->capacity + (size_t)1; /* one as a guard */
    VkBufferUsageFlags indirect = VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
    stage_buffer(self, self->tables.scratch_size, 0, &self->scratch);
    stage_buffer(self, slots * sizeof(pelt_visible_cluster), 0, &self->visible);
    stage_buffer(self, sizeof(pelt_cluster_counts) + 16, indirect, &self->counts);
    stage_buffer(self, slots * sizeof(VkDrawIndexedIndirectCommand), indirect, &self->draws);
    stage_buffer(self, slots * PELT_CLUSTER_SLOT * 16, 0, &self->vertices);
    stage_buffer(self, slots * PELT_CLUSTER_SLOT * 4, 0, &self->tangents);
    free(matrices);
    free(records);
}

static inline void stage_close(stage *self)
{
    pelt_buffer *buffers[] = { &self->input.buffer, &self->scratch, &self->visible,
                               &self->counts,       &self->draws,   &self->vertices,
                               &self->tangents,     &self->all,     &self->all_tangents };
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        pelt_buffer_destroy(self->device, buffers[i]);
    }
    free(self->gpu);
    free(self->boxes);
    free(self->firsts);
    free(self->rows);
}

/* -- running ------------------------------------------------------------------------------- */

/* Culls; and skins what is listed. */
static inline void stage_run(stage *self, const pelt_cluster_view *view, bool skin)
{
    self->view = *view;
    memcpy(self->clip, view->clip, sizeof(self->clip));
    self->view.clip = self->clip;
    assert_int_equal(pelt_cluster_view_write(&gpu_host, view,
                                             (char *)self->input.buffer.mapped +
                                                 (self->view_record - self->input.buffer.address)),
                     PELT_OK);
    const pelt_cluster_cull cull = { .tables = &self->tables,
                                     .table = self->table,
                                     .instances = self->instance_list,
                                     .view = self->view_record,
                                     .scratch = self->scratch.address,
                                     .capacity = self->capacity,
                                     .visible = self->visible.address,
                                     .counts = self->counts.address,
                                     .draws = self->draws.address };
    const pelt_cluster_skin skins = { .instances = self->instance_list,
                                      .visible = self->visible.address,
                                      .counts = self->counts.address,
                                      .counts_buffer = self->counts.buffer,
                                      .vertices = self->vertices.address,
                                      .tangents = self->tangents.address,
                                      .bounds = true };
    memset(self->draws.mapped, SCENE_GUARD, self->draws.size);
    memset(self->visible.mapped, SCENE_GUARD, self->visible.size);
    if (skin) {
        memset(self->vertices.mapped, SCENE_GUARD, self->vertices.size);
        memset(self->tangents.mapped, SCENE_GUARD, self->tangents.size);
    }
    pelt_cluster_pass *pass = stage_pass(self->device);
    VkCommandBuffer commands;
    assert_int_equal(pelt_commands_begin(self->device, &commands), PELT_OK);
    pelt_cmd_cluster_cull(pass, commands, &cull);
    if (skin) {
        pelt_cmd_cluster_skin(pass, commands, &skins);
    }
    assert_int_equal(pelt_commands_submit(self->device, commands), PELT_OK);
}

static inline const pelt_cluster_counts *stage_counts(const stage *self)
{
    return self->counts.mapped;
}

static inline const pelt_visible_cluster *stage_listed(const stage *self, uint32_t place)
{
    return (const pelt_visible_cluster *)self->visible.mapped + place;
}

static inline const stage_mesh *stage_mesh_of(const stage *self, uint32_t instance)
{
    return &self->meshes[self->instances[instance].mesh];
}

/* The i-th vertex of a cluster as the skin pass has written it: four words. */
static inline const uint32_t *stage_vertex(const stage *self, uint32_t instance,
                                           const pelt_cluster *cluster, uint32_t i)
{
    const pelt_clusters *clusters = stage_mesh_of(self, instance)->clusters;
    size_t vertex = self->firsts[instance] + clusters->vertex_table[cluster->first_vertex + i];
    return (const uint32_t *)self->all.mapped + 4 * vertex;
}

static inline void stage_position(const stage *self, uint32_t instance, const pelt_cluster *cluster,
                                  uint32_t i, float out[3])
{
    memcpy(out, stage_vertex(self, instance, cluster, i), 3 * sizeof(float));
}

/* -- judging what was skinned -------------------------------------------------------------- */

static inline bool is_guard(const void *memory, size_t size)
{
    const unsigned char *bytes = memory;
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != SCENE_GUARD) {
            return false;
        }
    }
    return true;
}

/* The box is exact, bit for bit. The sphere is around its middle, holds every vertex, also where
 * the distance is a float's, and is no larger than it must be but for 2^-19. */
static inline void stage_check_bounds(const stage *self, const pelt_visible_cluster *visible,
                                      const pelt_cluster *cluster)
{
    float low[3], high[3], p[3];
    stage_position(self, visible->instance, cluster, 0, low);
    memcpy(high, low, sizeof(low));
    for (uint32_t i = 1; i < cluster->vertex_count; i++) {
        stage_position(self, visible->instance, cluster, i, p);
        for (int c = 0; c < 3; c++) {
            low[c] = p[c] < low[c] ? p[c] : low[c];
            high[c] = p[c] > high[c] ? p[c] : high[c];
        }
    }
    assert_memory_equal(visible->low, low, sizeof(low));
    assert_memory_equal(visible->high, high, sizeof(high));
    double farthest = 0;
    for (int c = 0; c < 3; c++) {
        float middle = low[c] * 0.5f + high[c] * 0.5f;
        assert_true(visible->centre[c] == middle);
    }
    for (uint32_t i = 0; i < cluster->vertex_count; i++) {
        double square = 0;
        float rounded = 0;
        stage_position(self, visible->instance, cluster, i, p);
        for (int c = 0; c < 3; c++) {
            double d = (double)p[c] - visible->centre[c];
            float f = p[c] - visible->centre[c];
            square += d * d;
            rounded += f * f;
        }
        farthest = fmax(farthest, sqrt(square));
        assert_true(sqrtf(rounded) <= visible->radius);
    }
    assert_true(farthest <= (double)visible->radius);
    assert_true((double)visible->radius <= farthest * (1 + 0x1p-19) + 0x1p-126);
    const stage_mesh *mesh = stage_mesh_of(self, visible->instance);
    pelt_box bound = pelt_cluster_bound(mesh->clusters, visible->cluster, stage_spheres(mesh),
                                        self->instances[visible->instance].matrices);
    for (int c = 0; c < 3; c++) {
        assert_true(bound.min[c] <= low[c] && bound.max[c] >= high[c]);
    }
}

/* Vertices and tangents are those of the skin pass, bit for bit, and nothing else is written. */
static inline void stage_check_skinned(const stage *self)
{
    uint32_t listed = stage_counts(self)->listed;
    const uint32_t *vertices = self->vertices.mapped, *tangents = self->tangents.mapped;
    for (uint32_t k = 0; k < listed; k++) {
        const pelt_visible_cluster *visible = stage_listed(self, k);
        const stage_mesh *mesh = stage_mesh_of(self, visible->instance);
        const pelt_cluster *cluster = &mesh->clusters->clusters[visible->cluster];
        const uint32_t *slot = vertices + (size_t)k * PELT_CLUSTER_SLOT * 4;
        const uint32_t *tangent_slot = tangents + (size_t)k * PELT_CLUSTER_SLOT;
        uint32_t count = cluster->vertex_count;
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t *vertex = stage_vertex(self, visible->instance, cluster, i);
            assert_memory_equal(slot + 4 * i, vertex, 16);
            if (mesh->packed->tangents) {
                size_t at = (size_t)(vertex - (const uint32_t *)self->all.mapped) / 4;
                assert_memory_equal(tangent_slot + i,
                                    (const uint32_t *)self->all_tangents.mapped + at, 4);
            }
        }
        uint32_t turned = mesh->packed->tangents ? count : 0;
        assert_true(is_guard(slot + 4 * count, 16 * (size_t)(PELT_CLUSTER_SLOT - count)));
        assert_true(is_guard(tangent_slot + turned, 4 * (size_t)(PELT_CLUSTER_SLOT - turned)));
        stage_check_bounds(self, visible, cluster);
    }
    assert_true(is_guard(vertices + (size_t)listed * PELT_CLUSTER_SLOT * 4,
                         (self->capacity + (size_t)1 - listed) * PELT_CLUSTER_SLOT * 16));
}

/* -- judging what was listed --------------------------------------------------------------- */

typedef enum sight { SIGHT_HIDDEN, SIGHT_EITHER, SIGHT_SEEN } sight;

/* What is inside of the plane: p[0] x + p[1] y + p[2] z + p[3] >= 0. sizes: of its parts. */
static inline void stage_plane(const float *clip, int index, double plane[4], double sizes[4])
{
    for (int c = 0; c < 4; c++) {
        double w = clip[4 * c + 3], x = clip[4 * c + index / 2];
        plane[c] = index == 4 ? x : index % 2 == 0 ? w + x : w - x;
        sizes[c] = index == 4 ? fabs(x) : fabs(w) + fabs(x);
    }
}

/* How far inside a sphere can reach where a matrix moves it, over what is added up for that. */
static inline double stage_inside(const double plane[4], const double sizes[4], const float *matrix,
                                  const float *sphere)
{
    double along[3] = { 0 }, most = plane[3], size = sizes[3];
    for (int row = 0; row < 3; row++) {
        const float *m = matrix + 4 * row;
        double terms = fabs((double)m[3]);
        most += plane[row] * m[3];
        for (int c = 0; c < 3; c++) {
            along[c] += plane[row] * m[c];
            most += plane[row] * m[c] * sphere[c];
            terms += fabs((double)m[c]) * (fabs((double)sphere[c]) + sphere[3]);
        }
        size += sizes[row] * terms;
    }
    most += sqrt(along[0] * along[0] + along[1] * along[1] + along[2] * along[2]) * sphere[3];
    return size > 0 ? most / size : 0;
}

/* Whether a cluster must be left out, must be there, or may be either: the margin is 4 x sets + 60
 * roundings, and half of that in excess is more than the shader's own. */
static inline sight stage_cluster_sight(const stage *self, uint32_t instance, uint32_t index)
{
    const stage_mesh *mesh = stage_mesh_of(self, instance);
    const pelt_cluster *cluster = &mesh->clusters->clusters[index];
    double margin = (4.0 * mesh->packed->set_count + 60) * 0x1p-24;
    sight found = SIGHT_SEEN;
    for (int p = 0; self->view.cull && p < 6; p++) {
        double plane[4], sizes[4], most = -INFINITY;
        stage_plane(self->clip, p, plane, sizes);
        for (uint32_t j = 0; j < cluster->joint_count; j++) {
            uint32_t place = cluster->first_joint + j;
            const float *matrix =
                self->instances[instance].matrices + 12 * (size_t)mesh->clusters->joints[place];
            most = fmax(
                most, stage_inside(plane, sizes, matrix, stage_spheres(mesh) + 4 * (size_t)place));
        }
        sight here = most < -1.5 * margin   ? SIGHT_HIDDEN
                     : most < -0.5 * margin ? SIGHT_EITHER
                                            : SIGHT_SEEN;
        found = here < found ? here : found;
    }
    return found;
}

static inline sight stage_instance_sight(const stage *self, uint32_t instance)
{
    const pelt_box *box = &self->boxes[instance];
    sight found = SIGHT_SEEN;
    for (int p = 0; self->view.cull && self->instances[instance].boxed && p < 6; p++) {
        double plane[4], sizes[4];
        stage_plane(self->clip, p, plane, sizes);
        double most = plane[3], size = sizes[3];
        for (int c = 0; c < 3; c++) {
            most += fmax(plane[c] * box->min[c], plane[c] * box->max[c]);
            size += sizes[c] * fmax(fabs((double)box->min[c]), fabs((double)box->max[c]));
        }
        sight here = most < -1.5 * 0x1p-19 * size   ? SIGHT_HIDDEN
                     : most < -0.5 * 0x1p-19 * size ? SIGHT_EITHER
                                                    : SIGHT_SEEN;
        found = here < found ? here : found;
    }
    return found;
}

/* Whether a level of detail is right for an instance; the float arithmetic of errors and distances
 * is off by less than 2^-20. */
static inline bool stage_is_level(const stage *self, uint32_t instance, uint32_t lod)
{
    const pelt_clusters *clusters = stage_mesh_of(self, instance)->clusters;
    const stage_instance *given = &self->instances[instance];
    uint32_t last = clusters->lod_count - 1;
    if (self->view.lod != PELT_LOD_AUTO) {
        return lod == (self->view.lod < last ? self->view.lod : last);
    }
    if (!given->boxed) {
        return lod == 0;
    }
    double square = 0;
    for (int c = 0; c < 3; c++) {
        double below = (double)self->boxes[instance].min[c] - (float)self->view.eye[c];
        double above = (float)self->view.eye[c] - (double)self->boxes[instance].max[c];
        double d = fmax(fmax(below, above), 0);
        square += d * d;
    }
    double distance = self->view.orthographic ? 1 : sqrt(square);
    double scale = given->scale > 0 ? (double)given->scale : 1;
    for (uint32_t k = last; k > lod; k--) {
        double coarser = clusters->lods[k].error * scale * self->view.pixels;
        if (distance > 0 && coarser <= self->view.most_error * distance * (1 - 0x1p-20)) {
            return false; /* a coarser one would do */
        }
    }
    double error = clusters->lods[lod].error * scale * self->view.pixels;
    bool fine = error <= self->view.most_error * distance * (1 + 0x1p-20);
    return lod == 0 || (distance > 0 && fine);
}

/* All vertices of a cluster are outside of one plane, as a vertex shader finds out. */
static inline bool stage_is_outside(const stage *self, uint32_t instance, uint32_t index)
{
    const pelt_cluster *cluster = &stage_mesh_of(self, instance)->clusters->clusters[index];
    const float *m = self->clip;
    unsigned outside = 0x3f;
    for (uint32_t i = 0; i < cluster->vertex_count; i++) {
        float p[3], at[4];
        stage_position(self, instance, cluster, i, p);
        for (int c = 0; c < 4; c++) {
            at[c] = m[c] * p[0] + m[4 + c] * p[1] + m[8 + c] * p[2] + m[12 + c];
        }
        outside &= (at[0] < -at[3]) | (at[0] > at[3]) << 1 | (at[1] < -at[3]) << 2 |
                   (at[1] > at[3]) << 3 | (at[2] < 0) << 4 | (at[2] > at[3]) << 5;
    }
    return outside != 0;
}

static inline void stage_check_draw(const stage *self, uint32_t place)
{
    const pelt_visible_cluster *visible = stage_listed(self, place);
    const stage_mesh *mesh = stage_mesh_of(self, visible->instance);
    const pelt_cluster *cluster = &mesh->clusters->clusters[visible->cluster];
    const VkDrawIndexedIndirectCommand *draw =
        (const VkDrawIndexedIndirectCommand *)self->draws.mapped + place;
    assert_int_equal(draw->indexCount, 3 * cluster->triangle_count);
    assert_int_equal(draw->instanceCount, 1);
    assert_int_equal(draw->firstIndex,
                     self->gpu[self->instances[visible->instance].mesh].first_index +
                         3 * cluster->first_triangle);
    assert_int_equal(draw->vertexOffset, PELT_CLUSTER_SLOT * place);
    assert_int_equal(draw->firstInstance, place);
}

/* Clusters of one instance, given which of them are listed. */
static inline void stage_check_instance(stage *self, uint32_t instance)
{
    const pelt_clusters *clusters = stage_mesh_of(self, instance)->clusters;
    uint32_t lod = UINT32_MAX;
    for (uint32_t c = 0; c < clusters->cluster_count; c++) {
        if (self->rows[c]) {
            assert_true(lod == UINT32_MAX || lod == clusters->clusters[c].lod);
            lod = clusters->clusters[c].lod;
        }
    }
    sight whole = stage_instance_sight(self, instance);
    for (uint32_t k = 0; lod == UINT32_MAX && k < clusters->lod_count; k++) {
        lod = stage_is_level(self, instance, k) ? k : lod;
    }
    assert_true(stage_is_level(self, instance, lod));
    const pelt_lod *level = &clusters->lods[lod];
    for (uint32_t c = level->first_cluster; c < level->first_cluster + level->cluster_count; c++) {
        sight part = stage_cluster_sight(self, instance, c);
        sight expected = part < whole ? part : whole;
        assert_true(self->rows[c] ? expected != SIGHT_HIDDEN : expected != SIGHT_SEEN);
        assert_true(self->rows[c] || stage_is_outside(self, instance, c));
    }
}

/* Order, counts, draws; levels; every cluster that is left out has no vertex in the view, and those
 * that are clearly outside are left out. Gives how many are visible. */
static inline uint32_t stage_check_listed(stage *self)
{
    const pelt_cluster_counts *counts = stage_counts(self);
    assert_int_equal(counts->listed,
                     counts->visible < self->capacity ? counts->visible : self->capacity);
    uint64_t groups = (uint64_t)counts->groups.x * counts->groups.y * counts->groups.z;
    assert_true(PELT_CLUSTERS_IN_TURN * groups >= counts->listed &&
                (counts->listed > 0 || groups == 0));
    assert_true(counts->groups.x <= 65535 && counts->groups.y <= 65535);
    uint32_t place = 0;
    for (uint32_t i = 0; i < self->instance_count; i++) {
        const pelt_clusters *clusters = stage_mesh_of(self, i)->clusters;
        bool begun = false;
        uint32_t last = 0;
        memset(self->rows, 0, clusters->cluster_count);
        while (place < counts->listed && stage_listed(self, place)->instance == i) {
            uint32_t cluster = stage_listed(self, place)->cluster;
            assert_true(cluster < clusters->cluster_count && (!begun || cluster > last));
            begun = true;
            last = cluster;
            self->rows[cluster] = 1;
            stage_check_draw(self, place);
            place++;
        }
        if (self->instances[i].hidden) {
            assert_false(begun);
        } else if (counts->listed == counts->visible) {
            stage_check_instance(self, i);
        }
    }
    assert_int_equal(place, counts->listed); /* no other instances, and in order */
    size_t rest = self->capacity + (size_t)1 - counts->listed;
    assert_true(is_guard(stage_listed(self, counts->listed), rest * sizeof(pelt_visible_cluster)));
    assert_true(is_guard((const VkDrawIndexedIndirectCommand *)self->draws.mapped + counts->listed,
                         rest * sizeof(VkDrawIndexedIndirectCommand)));
    return counts->visible;
}

/* -- views --------------------------------------------------------------------------------- */

/* From eye towards target, up along y or nearly; columns. */
static inline void stage_look(const double eye[3], const double target[3], double tan_half,
                              bool orthographic, float clip[16])
{
    double z[3], x[3], y[3], length = 0;
    for (int c = 0; c < 3; c++) {
        z[c] = target[c] - eye[c];
        length += z[c] * z[c];
    }
    for (int c = 0; c < 3; c++) {
        z[c] /= sqrt(length);
    }
    double across = hypot(z[0], z[2]) + 1e-9;
    x[0] = -z[2] / across;
    x[1] = 0;
    x[2] = z[0] / across;
    for (int c = 0; c < 3; c++) {
        int d = (c + 1) % 3, e = (c + 2) % 3;
        y[c] = z[d] * x[e] - z[e] * x[d];
    }
    const double near = 0.05, far = 100;
    double rows[4][4] = { { 0 } };
    for (int c = 0; c < 3; c++) {
        double depth = orthographic ? 1 / (far - near) : far / (far - near);
        rows[0][c] = x[c] / tan_half;
        rows[1][c] = y[c] / tan_half;
        rows[2][c] = z[c] * depth;
        rows[3][c] = orthographic ? 0 : z[c];
        for (int r = 0; r < 4; r++) {
            rows[r][3] -= rows[r][c] * eye[c];
        }
    }
    rows[2][3] -= orthographic ? near / (far - near) : near * far / (far - near);
    rows[3][3] += orthographic ? 1 : 0;
    for (int i = 0; i < 16; i++) {
        clip[i] = (float)rows[i % 4][i / 4];
    }
}

#endif
