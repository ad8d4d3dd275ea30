/* Things that are skinned, put into acceleration structures and hit by rays, frame by frame, as
 * pelt/ray.h and pelt/history.h want it. A frame is one command buffer: what its commands must wait
 * for is up to barriers alone. */
#ifndef PELT_TESTS_GPU_RAY_STAGE_H
#define PELT_TESTS_GPU_RAY_STAGE_H

#include "tests/gpu_ray_tracer.h"

#include <pelt/pelt.h>

typedef struct ray_mesh {
    const pelt_primitive *primitive;
    bool rigid;
    pelt_packed_mesh *packed;
    uint32_t *triangles; /* three vertices of the primitive each */
    uint32_t triangle_count;
    pelt_gpu_mesh gpu;
    pelt_ray_indices indices;
} ray_mesh;

/* One thing to skin. */
typedef struct ray_item {
    /* The test's, anew in every frame. */
    bool drawn, unchanged, teleported;
    uint32_t mesh;
    const double *matrices; /* 12 for each joint of the mesh */

    pelt_history_slots slots; /* of the frame, filled in */
} ray_item;

/* One structure: of one item or of several that follow one another. */
typedef struct ray_group {
    uint32_t first_item, item_count;
    pelt_ray_use use;
    const float *transform; /* or NULL */

    pelt_ray_sizes sizes;
    pelt_ray_structure structure;
    pelt_buffer memory;
} ray_group;

/* What may be in use by an earlier frame of the same command buffer. */
typedef struct ray_lane {
    pelt_buffer matrices, table, skin_scratch, instances, scratch, top_scratch, hits;
} ray_lane;

enum { RAY_LANES = 2 };

typedef struct ray_stage {
    /* The test's. */
    ray_mesh *meshes;
    uint32_t mesh_count;
    ray_item *items;
    uint32_t item_count;
    ray_group *groups;
    uint32_t group_count;
    uint32_t position_stride; /* 12, 16, 20; 0: 16 */
    pelt_ray_frame frame;     /* budgets */

    pelt_ray_plan plan; /* of the last frame */

    pelt_headless *device;
    const ray_tracer *tracer;
    const pelt_skin_pass *skin;
    pelt_ray_pass *pass;
    pelt_ray_scene *scene;
    pelt_history *history;
    size_t slot_size, matrices_size; /* bytes for an item */
    pelt_buffer streams, outputs, rays, top_memory;
    pelt_ray_structure top;
    ray_lane lanes[RAY_LANES];
    uint32_t ray_count;
    pelt_ray_blas *blas;
    pelt_ray_geometry *geometries;
    pelt_gpu_instance *instances;
    pelt_gpu_mesh *gpu_meshes;
} ray_stage;

/* Packs a primitive. */
static inline ray_mesh ray_mesh_make(const pelt_primitive *primitive, bool rigid)
{
    ray_mesh self = { .primitive = primitive, .rigid = rigid };
    assert_int_equal(pelt_pack(&gpu_host,
                               &(pelt_pack_info){ .primitive = primitive, .rigid = rigid },
                               &self.packed),
                     PELT_OK);
    self.triangle_count = pelt_primitive_triangle_count(primitive);
    self.triangles = malloc((self.triangle_count + 1u) * 12);
    assert_non_null(self.triangles);
    pelt_primitive_triangles(primitive, self.triangles);
    return self;
}

static inline void ray_mesh_free(ray_mesh *self)
{
    pelt_packed_mesh_destroy(self->packed);
    free(self->triangles);
}

static inline void ray_need(pelt_headless *device, pelt_buffer *buffer, VkDeviceSize size,
                            VkBufferUsageFlags usage, pelt_memory_kind kind)
{
    if (buffer->size < size || !buffer->buffer) {
        pelt_buffer_destroy(device, buffer);
        assert_int_equal(pelt_buffer_create(device, size, usage, kind, buffer), PELT_OK);
    }
}

enum { RAY_INPUT = VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR };

/* Uploads streams and indices of every mesh. */
static inline void ray_stage_upload(ray_stage *self)
{
    size_t size = 0;
    for (uint32_t m = 0; m < self->mesh_count; m++) {
        size += pelt_gpu_mesh_size(self->meshes[m].packed);
        size += (12 * (size_t)self->meshes[m].triangle_count + 15) / 16 * 16;
    }
    ray_need(self->device, &self->streams, size, RAY_INPUT, PELT_MEMORY_UPLOAD);
    size_t at = 0;
    for (uint32_t m = 0; m < self->mesh_count; m++) {
        ray_mesh *mesh = &self->meshes[m];
        char *memory = self->streams.mapped;
        pelt_gpu_mesh_write(mesh->packed, memory + at, self->streams.address + at, &mesh->gpu);
        at += pelt_gpu_mesh_size(mesh->packed);
        mesh->indices = (pelt_ray_indices){ .address = self->streams.address + at,
                                            .triangle_count = mesh->triangle_count,
                                            .content = m };
        for (uint32_t i = 0; i < 3 * mesh->triangle_count; i++) {
            memcpy(memory + at + 4 * (size_t)i, &mesh->packed->packed_vertices[mesh->triangles[i]],
                   4);
        }
        at += (12 * (size_t)mesh->triangle_count + 15) / 16 * 16;
        self->gpu_meshes[m] = mesh->gpu;

        size_t vertices = 20 * (size_t)mesh->packed->vertex_count;
        size_t matrices = 48 * (size_t)mesh->packed->joint_count;
        self->slot_size = vertices > self->slot_size ? vertices : self->slot_size;
        self->matrices_size = matrices > self->matrices_size ? matrices : self->matrices_size;
    }
    self->slot_size = (self->slot_size + 15) / 16 * 16;
}

/* Once the test's members are set. */
static inline void ray_stage_open(ray_stage *self, pelt_headless *device, const ray_tracer *tracer,
                                  const pelt_skin_pass *skin)
{
    self->device = device;
    self->tracer = tracer;
    self->skin = skin;
    self->position_stride = self->position_stride ? self->position_stride : 16;
    assert_int_equal(pelt_ray_pass_create(&gpu_host, &device->vulkan, &self->pass), PELT_OK);
    assert_int_equal(
        pelt_ray_scene_create(&gpu_host, pelt_ray_pass_limits(self->pass), &self->scene), PELT_OK);
    assert_int_equal(pelt_history_create(&gpu_host, &self->history), PELT_OK);
    self->blas = calloc(self->group_count, sizeof(*self->blas));
    self->geometries = calloc(self->item_count, sizeof(*self->geometries));
    self->instances = calloc(self->item_count, sizeof(*self->instances));
    self->gpu_meshes = calloc(self->mesh_count, sizeof(*self->gpu_meshes));
    assert_true(self->blas && self->geometries && self->instances && self->gpu_meshes);
    ray_stage_upload(self);
    ray_need(device, &self->outputs, 2 * self->slot_size * self->item_count, RAY_INPUT,
             PELT_MEMORY_DEVICE);
    pelt_ray_sizes top;
    assert_int_equal(pelt_ray_tlas_measure(self->pass, self->group_count, &top), PELT_OK);
    ray_need(device, &self->top_memory, top.structure,
             VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_STORAGE_BIT_KHR, PELT_MEMORY_DEVICE);
    assert_int_equal(
        pelt_ray_structure_create(self->pass, VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR,
                                  self->top_memory.buffer, 0, top.structure, &self->top),
        PELT_OK);
    for (uint32_t i = 0; i < RAY_LANES; i++) {
        ray_lane *lane = &self->lanes[i];
        ray_need(device, &lane->matrices, self->matrices_size * self->item_count, 0,
                 PELT_MEMORY_UPLOAD);
        ray_need(device, &lane->instances, (size_t)PELT_RAY_INSTANCE_SIZE * self->group_count,
                 RAY_INPUT, PELT_MEMORY_UPLOAD);
        ray_need(device, &lane->top_scratch,
                 top.build_scratch + pelt_ray_pass_limits(self->pass)->scratch_alignment, 0,
                 PELT_MEMORY_DEVICE);
    }
}

static inline void ray_stage_close(ray_stage *self)
{
    for (uint32_t i = 0; i < self->group_count; i++) {
        pelt_ray_structure_destroy(self->pass, &self->groups[i].structure);
        pelt_buffer_destroy(self->device, &self->groups[i].memory);
    }
    pelt_ray_structure_destroy(self->pass, &self->top);
    for (uint32_t i = 0; i < RAY_LANES; i++) {
        ray_lane *lane = &self->lanes[i];
        pelt_buffer *buffers[] = { &lane->matrices,  &lane->table,   &lane->skin_scratch,
                                   &lane->instances, &lane->scratch, &lane->top_scratch,
                                   &lane->hits };
        for (size_t b = 0; b < sizeof(buffers) / sizeof(buffers[0]); b++) {
            pelt_buffer_destroy(self->device, buffers[b]);
        }
    }
    pelt_buffer_destroy(self->device, &self->streams);
    pelt_buffer_destroy(self->device, &self->outputs);
    pelt_buffer_destroy(self->device, &self->rays);
    pelt_buffer_destroy(self->device, &self->top_memory);
    pelt_history_destroy(self->history);
    pelt_ray_scene_destroy(self->scene);
    pelt_ray_pass_destroy(self->pass);
    free(self->blas);
    free(self->geometries);
    free(self->instances);
    free(self->gpu_meshes);
}

static inline void ray_stage_set_rays(ray_stage *self, const ray_record *rays, uint32_t count)
{
    ray_need(self->device, &self->rays, count * sizeof(*rays), 0, PELT_MEMORY_UPLOAD);
    memcpy(self->rays.mapped, rays, count * sizeof(*rays));
    for (uint32_t i = 0; i < RAY_LANES; i++) {
        ray_need(self->device, &self->lanes[i].hits, count * sizeof(ray_hit), 0,
                 PELT_MEMORY_READBACK);
        memset(self->lanes[i].hits.mapped, 0xa5, count * sizeof(ray_hit));
    }
    self->ray_count = count;
}

static inline size_t ray_stage_slot(const ray_stage *self, uint32_t item, uint32_t slot)
{
    return (2 * (size_t)item + slot) * self->slot_size;
}

/* What is skinned, and where. */
static inline void ray_stage_items(ray_stage *self, ray_lane *lane)
{
    assert_int_equal(pelt_history_begin(self->history, self->item_count), PELT_OK);
    for (uint32_t i = 0; i < self->item_count; i++) {
        ray_item *item = &self->items[i];
        const ray_mesh *mesh = &self->meshes[item->mesh];
        pelt_gpu_instance *instance = &self->instances[i];
        if (item->drawn) {
            item->slots =
                pelt_history_advance(self->history, i,
                                     &(pelt_history_event){ .unchanged = item->unchanged,
                                                            .teleported = item->teleported,
                                                            .content = item->mesh });
        }
        VkDeviceAddress positions =
            self->outputs.address + ray_stage_slot(self, i, item->slots.current);
        *instance = (pelt_gpu_instance){
            .mesh = item->mesh,
            .skip = !item->drawn || !item->slots.write,
            .matrices = lane->matrices.address + i * self->matrices_size,
            .positions = positions,
            .position_stride = self->position_stride,
            .normals = self->position_stride >= 16 ? positions + 12 : 0,
            .normal_stride = self->position_stride,
        };
        self->geometries[i] = pelt_ray_geometry_of(&mesh->gpu, instance, &mesh->indices);
        self->geometries[i].inactive = !item->drawn;
        float *matrices = (float *)((char *)lane->matrices.mapped + i * self->matrices_size);
        for (uint32_t k = 0; !instance->skip && k < 12 * mesh->packed->joint_count; k++) {
            matrices[k] = (float)item->matrices[k];
        }
    }
}

/* Structures are replaced where they are too small. */
static inline void ray_stage_groups(ray_stage *self)
{
    for (uint32_t g = 0; g < self->group_count; g++) {
        ray_group *group = &self->groups[g];
        bool drawn = false, unchanged = true;
        for (uint32_t i = group->first_item; i < group->first_item + group->item_count; i++) {
            drawn = drawn || self->items[i].drawn;
            unchanged = unchanged && (!self->items[i].drawn || !self->items[i].slots.write);
        }
        self->blas[g] = (pelt_ray_blas){ .geometries = &self->geometries[group->first_item],
                                         .geometry_count = drawn ? group->item_count : 0,
                                         .use = group->use,
                                         .unchanged = unchanged,
                                         .sizes = &group->sizes,
                                         .structure = &group->structure };
        if (!drawn) {
            continue;
        }
        assert_int_equal(pelt_ray_measure(self->pass, self->blas[g].geometries, group->item_count,
                                          group->use, &group->sizes),
                         PELT_OK);
        if (group->structure.size < group->sizes.structure) {
            pelt_ray_structure_destroy(self->pass, &group->structure);
            ray_need(self->device, &group->memory, group->sizes.structure,
                     VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_STORAGE_BIT_KHR, PELT_MEMORY_DEVICE);
            assert_int_equal(pelt_ray_structure_create(
                                 self->pass, VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR,
                                 group->memory.buffer, 0, group->sizes.structure,
                                 &group->structure),
                             PELT_OK);
            pelt_ray_scene_forget(self->scene, g);
        }
    }
}

/* Writes the top level's records: instance g is group g, those not drawn inactive. */
static inline void ray_stage_instances(ray_stage *self, ray_lane *lane)
{
    pelt_ray_instance *records = calloc(self->group_count, sizeof(*records));
    assert_non_null(records);
    for (uint32_t g = 0; g < self->group_count; g++) {
        records[g] = (pelt_ray_instance){
            .transform = self->groups[g].transform,
            .structure = self->blas[g].geometry_count ? self->groups[g].structure.address : 0,
            .custom_index = g,
        };
    }
    assert_int_equal(
        pelt_ray_instances_write(&gpu_host, records, self->group_count, lane->instances.mapped),
        PELT_OK);
    free(records);
}

/* Records a frame: skin, build, trace. */
static inline void ray_stage_record(ray_stage *self, VkCommandBuffer commands, uint32_t lane_index,
                                    ray_means means)
{
    ray_lane *lane = &self->lanes[lane_index];
    const VkPipelineStageFlags stage = ray_means_stage(means);
    ray_stage_items(self, lane);
    ray_stage_groups(self);
    const pelt_skin_tables_info info = { .meshes = self->gpu_meshes,
                                         .mesh_count = self->mesh_count,
                                         .instances = self->instances,
                                         .instance_count = self->item_count };
    pelt_skin_tables tables;
    assert_int_equal(pelt_skin_tables_measure(self->skin, &info, &tables), PELT_OK);
    ray_need(self->device, &lane->table, tables.table_size, 0, PELT_MEMORY_UPLOAD);
    ray_need(self->device, &lane->skin_scratch, tables.scratch_size, 0, PELT_MEMORY_DEVICE);
    pelt_skin_tables_write(self->skin, &info, &tables, lane->table.mapped);

    self->frame.structures = self->blas;
    self->frame.structure_count = self->group_count;
    assert_int_equal(pelt_ray_scene_plan(self->scene, &self->frame, &self->plan), PELT_OK);
    ray_need(self->device, &lane->scratch, self->plan.scratch_bound, 0, PELT_MEMORY_DEVICE);
    ray_stage_instances(self, lane);

    pelt_cmd_ray_barrier(self->pass, commands, PELT_RAY_AFTER_TRACE, stage);
    pelt_cmd_skin(self->skin, commands, &tables, lane->table.address, lane->skin_scratch.address);
    pelt_cmd_ray_barrier(self->pass, commands, PELT_RAY_AFTER_SKIN, stage);
    pelt_cmd_ray_build(self->pass, commands, self->scene, lane->scratch.address);
    pelt_cmd_ray_barrier(self->pass, commands, PELT_RAY_AFTER_BUILD, stage);
    pelt_cmd_ray_tlas(self->pass, commands, &self->top, lane->instances.address, self->group_count,
                      lane->top_scratch.address);
    pelt_cmd_ray_barrier(self->pass, commands, PELT_RAY_BEFORE_TRACE, stage);
    ray_trace(self->tracer, commands, means,
              &(ray_constants){ .top_level = self->top.address,
                                .rays = self->rays.address,
                                .hits = lane->hits.address,
                                .count = self->ray_count });
}

/* A frame in a command buffer of its own. */
static inline const ray_hit *ray_stage_run(ray_stage *self, ray_means means)
{
    VkCommandBuffer commands;
    assert_int_equal(pelt_commands_begin(self->device, &commands), PELT_OK);
    ray_stage_record(self, commands, 0, means);
    assert_int_equal(pelt_commands_submit(self->device, commands), PELT_OK);
    return self->lanes[0].hits.mapped;
}

/* Only traces what the last frame has built. */
static inline const ray_hit *ray_stage_trace(ray_stage *self, ray_means means)
{
    VkCommandBuffer commands;
    assert_int_equal(pelt_commands_begin(self->device, &commands), PELT_OK);
    ray_trace(self->tracer, commands, means,
              &(ray_constants){ .top_level = self->top.address,
                                .rays = self->rays.address,
                                .hits = self->lanes[1].hits.address,
                                .count = self->ray_count });
    assert_int_equal(pelt_commands_submit(self->device, commands), PELT_OK);
    return self->lanes[1].hits.mapped;
}

#endif
