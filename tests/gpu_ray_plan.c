/* What is built, refitted and left alone, in which order and with which scratch memory. Needs no
 * device but for the last tests. */
#include "tests/gpu.h"

#include "vulkan/ray_scene.h"

#include <math.h>

enum { STRUCTURES = 64, GEOMETRIES = 3, ALIGNMENT = 128 };

/* Structures of which nothing exists but numbers: 3 geometries of 100 triangles each. */
typedef struct world {
    pelt_ray_scene *scene;
    pelt_ray_geometry geometries[STRUCTURES][GEOMETRIES];
    pelt_ray_sizes sizes[STRUCTURES];
    pelt_ray_structure structures[STRUCTURES];
    pelt_ray_blas blas[STRUCTURES];
    pelt_ray_frame frame;
    pelt_ray_plan plan;
} world;

static const pelt_ray_limits limits = { .scratch_alignment = ALIGNMENT,
                                        .geometry_count = 1000,
                                        .primitive_count = 1000000,
                                        .instance_count = 1000 };

static VKAPI_ATTR void VKAPI_CALL
count_builds(VkCommandBuffer commands, uint32_t count,
             const VkAccelerationStructureBuildGeometryInfoKHR *infos,
             const VkAccelerationStructureBuildRangeInfoKHR *const *ranges);
static VKAPI_ATTR void VKAPI_CALL
count_barriers(VkCommandBuffer commands, VkPipelineStageFlags from, VkPipelineStageFlags to,
               VkDependencyFlags flags, uint32_t memory_count, const VkMemoryBarrier *memory,
               uint32_t buffer_count, const VkBufferMemoryBarrier *buffers, uint32_t image_count,
               const VkImageMemoryBarrier *images);

/* A pass whose commands are noted here. */
static const struct pelt_ray_pass fake_pass = {
    .limits = { .scratch_alignment = ALIGNMENT },
    .functions.cmd_build_acceleration_structures = count_builds,
    .compute.functions.cmd_pipeline_barrier = count_barriers,
};

static struct {
    uint32_t calls, builds, updates, barriers;
    VkDeviceAddress scratch_low, scratch_high; /* of the beginnings of slices */
    VkDeviceAddress scratch_end;
} noted;

/* What builds and refits need. */
enum { BUILD_BYTES = 1000, REFIT_BYTES = 300 };
static VkDeviceSize refit_bytes = REFIT_BYTES;

static VKAPI_ATTR void VKAPI_CALL
count_builds(VkCommandBuffer commands, uint32_t count,
             const VkAccelerationStructureBuildGeometryInfoKHR *infos,
             const VkAccelerationStructureBuildRangeInfoKHR *const *ranges)
{
    (void)commands;
    VkDeviceAddress free_from = 0;
    noted.calls++;
    for (uint32_t i = 0; i < count; i++) {
        VkDeviceAddress scratch = infos[i].scratchData.deviceAddress;
        bool update = infos[i].mode == VK_BUILD_ACCELERATION_STRUCTURE_MODE_UPDATE_KHR;
        assert_int_equal(infos[i].type, VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR);
        assert_in_range(infos[i].geometryCount, GEOMETRIES - 1, GEOMETRIES);
        assert_int_equal(infos[i].pGeometries[1].geometryType, VK_GEOMETRY_TYPE_TRIANGLES_KHR);
        assert_int_equal(ranges[i][1].firstVertex + ranges[i][1].primitiveOffset, 0);
        assert_true(infos[i].srcAccelerationStructure ==
                    (update ? infos[i].dstAccelerationStructure : VK_NULL_HANDLE));
        assert_int_equal(scratch % ALIGNMENT, 0);
        noted.scratch_low = scratch < noted.scratch_low ? scratch : noted.scratch_low;
        noted.scratch_high = scratch > noted.scratch_high ? scratch : noted.scratch_high;
        noted.builds += !update;
        noted.updates += update;
        /* Slices of a call do not overlap. */
        assert_true(scratch >= free_from);
        free_from = scratch + (update ? refit_bytes : BUILD_BYTES);
        noted.scratch_end = free_from > noted.scratch_end ? free_from : noted.scratch_end;
    }
}

static VKAPI_ATTR void VKAPI_CALL
count_barriers(VkCommandBuffer commands, VkPipelineStageFlags from, VkPipelineStageFlags to,
               VkDependencyFlags flags, uint32_t memory_count, const VkMemoryBarrier *memory,
               uint32_t buffer_count, const VkBufferMemoryBarrier *buffers, uint32_t image_count,
               const VkImageMemoryBarrier *images)
{
    (void)commands;
    (void)buffers;
    (void)images;
    assert_int_equal(flags + buffer_count + image_count, 0);
    assert_int_equal(memory_count, 1);
    assert_int_equal(from, VK_PIPELINE_STAGE_ACCELERATION_STRUCTURE_BUILD_BIT_KHR);
    assert_int_equal(to, from);
    assert_int_equal(memory->srcAccessMask, VK_ACCESS_ACCELERATION_STRUCTURE_READ_BIT_KHR |
                                                VK_ACCESS_ACCELERATION_STRUCTURE_WRITE_BIT_KHR);
    assert_int_equal(memory->dstAccessMask, memory->srcAccessMask);
    noted.barriers++;
}

static world *make_world(void)
{
    world *self = calloc(1, sizeof(*self));
    assert_non_null(self);
    assert_int_equal(pelt_ray_scene_create(&gpu_host, &limits, &self->scene), PELT_OK);
    for (uint32_t i = 0; i < STRUCTURES; i++) {
        for (uint32_t g = 0; g < GEOMETRIES; g++) {
            self->geometries[i][g] = (pelt_ray_geometry){ .positions = 0x10000 + 16 * i,
                                                          .position_stride = 16,
                                                          .vertex_count = 60,
                                                          .indices = 0x20000 + 0x1000 * g,
                                                          .triangle_count = 100 };
        }
        self->sizes[i] = (pelt_ray_sizes){ .structure = 5000,
                                           .build_scratch = BUILD_BYTES,
                                           .update_scratch = REFIT_BYTES,
                                           .vertex_count = 180,
                                           .triangle_count = 300,
                                           .geometry_count = GEOMETRIES };
        self->structures[i] =
            (pelt_ray_structure){ .handle = (VkAccelerationStructureKHR)(uintptr_t)(0x100 + i),
                                  .address = 0x30000 + 0x100 * i,
                                  .size = 5000 };
        self->blas[i] = (pelt_ray_blas){ .geometries = self->geometries[i],
                                         .geometry_count = GEOMETRIES,
                                         .sizes = &self->sizes[i],
                                         .structure = &self->structures[i] };
    }
    self->frame = (pelt_ray_frame){ .structures = self->blas,
                                    .structure_count = STRUCTURES,
                                    .rebuild_interval = UINT32_MAX };
    return self;
}

static void free_world(world *self)
{
    pelt_ray_scene_destroy(self->scene);
    free(self);
}

static void plan(world *self)
{
    assert_int_equal(pelt_ray_scene_plan(self->scene, &self->frame, &self->plan), PELT_OK);
    uint32_t present = 0;
    for (uint32_t i = 0; i < self->frame.structure_count; i++) {
        present += self->blas[i].geometry_count > 0;
    }
    assert_int_equal(self->plan.build_count + self->plan.rebuild_count + self->plan.refit_count +
                         self->plan.kept_count,
                     present);
    assert_true(self->plan.scratch_size <= self->plan.scratch_bound);
}

/* Records it as well, at an address that is not aligned. */
static void run(world *self)
{
    plan(self);
    memset(&noted, 0, sizeof(noted));
    noted.scratch_low = UINT64_MAX;
    VkDeviceAddress scratch = self->plan.scratch_size > 0 ? 0x50004 : 0;
    pelt_cmd_ray_build(&fake_pass, NULL, self->scene, scratch);
    assert_int_equal(noted.calls, self->plan.batch_count);
    assert_int_equal(noted.builds, self->plan.build_count + self->plan.rebuild_count);
    assert_int_equal(noted.updates, self->plan.refit_count);
    assert_true(noted.calls == 0 || noted.scratch_low >= scratch);
    assert_true(noted.calls == 0 || noted.scratch_end <= scratch + self->plan.scratch_size);

    /* Once only. */
    uint32_t calls = noted.calls;
    pelt_cmd_ray_build(&fake_pass, NULL, self->scene, scratch);
    assert_int_equal(noted.calls, calls);
}

static void rest(world *self, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        self->blas[i].unchanged = true;
    }
}

static void builds_once_then_refits_what_moves(void **state)
{
    (void)state;
    world *self = make_world();
    run(self);
    assert_int_equal(self->plan.build_count, STRUCTURES);
    assert_int_equal(self->plan.built_triangles, 300 * STRUCTURES);
    assert_int_equal(self->plan.batch_count, 1);
    /* 1000 and 300 bytes, aligned to 128. */
    assert_int_equal(self->plan.scratch_size, 1024 * STRUCTURES + ALIGNMENT - 1);
    assert_int_equal(self->plan.scratch_bound, self->plan.scratch_size);
    for (uint32_t frame = 0; frame < 100; frame++) {
        self->geometries[3][1].positions ^= 0x40; /* the other of two buffers */
        run(self);
        assert_int_equal(self->plan.refit_count, STRUCTURES);
        assert_int_equal(self->plan.refitted_triangles, 300 * STRUCTURES);
        assert_int_equal(self->plan.scratch_size, 384 * STRUCTURES + ALIGNMENT - 1);
    }
    rest(self, 0, 40);
    run(self);
    assert_int_equal(self->plan.refit_count, STRUCTURES - 40);
    assert_int_equal(self->plan.kept_count, 40);
    rest(self, 0, STRUCTURES);
    run(self);
    assert_int_equal(self->plan.kept_count, STRUCTURES);
    assert_int_equal(self->plan.batch_count, 0);
    assert_int_equal(self->plan.scratch_size, 0);
    free_world(self);
}

typedef enum change {
    CHANGE_NOTHING,
    CHANGE_INDICES,
    CHANGE_TRIANGLES,
    CHANGE_VERTICES,
    CHANGE_CONTENT,
    CHANGE_INDEX_TYPE,
    CHANGE_NO_INDICES,
    CHANGE_ANY_HIT,
    CHANGE_ANY_HIT_ONCE,
    CHANGE_INACTIVE,
    CHANGE_FEWER_GEOMETRIES,
    CHANGE_USE,
    CHANGE_HANDLE,
    CHANGE_ADDRESS,
    CHANGE_COUNT
} change;

static void apply(world *self, uint32_t index, change what)
{
    pelt_ray_geometry *geometry = &self->geometries[index][1];
    switch (what) {
    case CHANGE_INDICES:
        geometry->indices += 0x100;
        break;
    case CHANGE_TRIANGLES:
        geometry->triangle_count--;
        break;
    case CHANGE_VERTICES:
        geometry->vertex_count--;
        break;
    case CHANGE_CONTENT:
        geometry->content++;
        break;
    case CHANGE_INDEX_TYPE:
        geometry->index_bytes = 2;
        break;
    case CHANGE_NO_INDICES:
        geometry->indices = 0;
        geometry->triangle_count = 20;
        break;
    case CHANGE_ANY_HIT:
        geometry->any_hit = true;
        break;
    case CHANGE_ANY_HIT_ONCE:
        geometry->any_hit_once = true;
        break;
    case CHANGE_INACTIVE:
        geometry->inactive = true;
        break;
    case CHANGE_FEWER_GEOMETRIES:
        self->blas[index].geometry_count--;
        break;
    case CHANGE_USE:
        self->blas[index].use = self->sizes[index].use = PELT_RAY_REFITTED;
        break;
    case CHANGE_HANDLE:
        self->structures[index].handle = (VkAccelerationStructureKHR)(uintptr_t)0x900;
        break;
    case CHANGE_ADDRESS:
        self->structures[index].address += 0x10000;
        break;
    default:
        break;
    }
}

/* Each change forbids a refit, also of a structure whose vertices are said to be unchanged; and so
 * does changing back. */
static void builds_what_may_not_be_refitted(void **state)
{
    (void)state;
    for (uint32_t what = 0; what < CHANGE_COUNT; what++) {
        for (uint32_t resting = 0; resting < 2; resting++) {
            world *self = make_world(), *before = make_world();
            plan(self);
            pelt_cmd_ray_build(&fake_pass, NULL, self->scene, 0x50000);
            self->blas[5].unchanged = resting == 1;
            apply(self, 5, what);
            pelt_ray_action quiet = resting ? PELT_RAY_KEEP : PELT_RAY_REFIT;
            pelt_ray_action expected = what == CHANGE_NOTHING ? quiet : PELT_RAY_BUILD;
            plan(self);
            assert_int_equal(pelt_ray_scene_action(self->scene, 5), expected);
            assert_int_equal(self->plan.build_count, what != CHANGE_NOTHING);
            pelt_cmd_ray_build(&fake_pass, NULL, self->scene, 0x50000);
            plan(self);
            assert_int_equal(pelt_ray_scene_action(self->scene, 5), quiet);
            pelt_cmd_ray_build(&fake_pass, NULL, self->scene, 0x50000);

            memcpy(self->geometries[5], before->geometries[5], sizeof(before->geometries[5]));
            self->structures[5] = before->structures[5];
            self->sizes[5] = before->sizes[5];
            self->blas[5].geometry_count = GEOMETRIES;
            self->blas[5].use = PELT_RAY_ANIMATED;
            plan(self);
            assert_int_equal(pelt_ray_scene_action(self->scene, 5), expected);
            free_world(before);
            free_world(self);
        }
    }
}

static void what_has_no_refits_is_built(void **state)
{
    (void)state;
    const pelt_ray_use uses[] = { PELT_RAY_REBUILT, PELT_RAY_STILL };
    const VkBuildAccelerationStructureFlagsKHR flags[] = {
        VK_BUILD_ACCELERATION_STRUCTURE_PREFER_FAST_BUILD_BIT_KHR,
        VK_BUILD_ACCELERATION_STRUCTURE_PREFER_FAST_TRACE_BIT_KHR
    };
    for (uint32_t i = 0; i < 2; i++) {
        world *self = make_world();
        self->frame.rebuild_interval = 1;
        self->blas[0].use = self->sizes[0].use = uses[i];
        plan(self);
        assert_int_equal(self->scene->infos[0].flags, flags[i]);
        assert_int_equal(self->scene->infos[1].flags,
                         VK_BUILD_ACCELERATION_STRUCTURE_PREFER_FAST_TRACE_BIT_KHR |
                             VK_BUILD_ACCELERATION_STRUCTURE_ALLOW_UPDATE_BIT_KHR);
        pelt_cmd_ray_build(&fake_pass, NULL, self->scene, 0x50000);
        plan(self);
        assert_int_equal(pelt_ray_scene_action(self->scene, 0), PELT_RAY_BUILD);
        pelt_cmd_ray_build(&fake_pass, NULL, self->scene, 0x50000);
        self->blas[0].unchanged = true;
        plan(self);
        assert_int_equal(pelt_ray_scene_action(self->scene, 0), PELT_RAY_KEEP);
        free_world(self);
    }
}

static void describes_geometries_as_vulkan_takes_them(void **state)
{
    (void)state;
    world *self = make_world();
    self->geometries[0][1] = (pelt_ray_geometry){ .positions = 0x1230,
                                                  .position_stride = 20,
                                                  .vertex_count = 33,
                                                  .indices = 0x4562,
                                                  .index_bytes = 2,
                                                  .triangle_count = 44,
                                                  .any_hit = true,
                                                  .any_hit_once = true };
    self->geometries[0][2].inactive = true;
    plan(self);
    const VkAccelerationStructureGeometryKHR *geometries = self->scene->infos[0].pGeometries;
    const VkAccelerationStructureGeometryTrianglesDataKHR *triangles =
        &geometries[1].geometry.triangles;
    assert_int_equal(triangles->vertexFormat, VK_FORMAT_R32G32B32_SFLOAT);
    assert_int_equal(triangles->vertexData.deviceAddress, 0x1230);
    assert_int_equal(triangles->vertexStride, 20);
    assert_int_equal(triangles->maxVertex, 32);
    assert_int_equal(triangles->indexType, VK_INDEX_TYPE_UINT16);
    assert_int_equal(triangles->indexData.deviceAddress, 0x4562);
    assert_int_equal(triangles->transformData.deviceAddress, 0);
    assert_int_equal(geometries[0].flags, VK_GEOMETRY_OPAQUE_BIT_KHR);
    assert_int_equal(geometries[1].flags, VK_GEOMETRY_NO_DUPLICATE_ANY_HIT_INVOCATION_BIT_KHR);
    assert_int_equal(geometries[0].geometry.triangles.indexType, VK_INDEX_TYPE_UINT32);
    const VkAccelerationStructureBuildRangeInfoKHR *ranges = self->scene->info_ranges[0];
    assert_int_equal(ranges[0].primitiveCount, 100);
    assert_int_equal(ranges[1].primitiveCount, 44);
    assert_int_equal(ranges[2].primitiveCount, 0);
    assert_int_equal(self->plan.built_triangles, 300 * STRUCTURES - 56 - 100);
    free_world(self);

    const pelt_gpu_mesh mesh = { .vertex_count = 77 };
    const pelt_gpu_instance instance = { .positions = 0x8000, .position_stride = 12 };
    const pelt_ray_indices indices = {
        .address = 0x9000, .index_bytes = 2, .triangle_count = 5, .content = 6
    };
    pelt_ray_geometry geometry = pelt_ray_geometry_of(&mesh, &instance, &indices);
    assert_int_equal(geometry.positions, 0x8000);
    assert_int_equal(geometry.position_stride, 12);
    assert_int_equal(geometry.vertex_count, 77);
    assert_int_equal(geometry.indices, 0x9000);
    assert_int_equal(geometry.index_bytes, 2);
    assert_int_equal(geometry.triangle_count, 5);
    assert_int_equal(geometry.content, 6);
    assert_false(geometry.inactive || geometry.any_hit || geometry.any_hit_once);
}

/* Absent ones are forgotten; so are those beyond the count, and those named. */
static void forgets_what_is_gone(void **state)
{
    (void)state;
    world *self = make_world();
    run(self);
    self->blas[1].geometry_count = 0;
    run(self);
    assert_int_equal(self->plan.refit_count, STRUCTURES - 1);
    self->blas[1].geometry_count = GEOMETRIES;
    run(self);
    assert_int_equal(self->plan.build_count, 1);
    assert_true(noted.builds == 1);
    self->frame.structure_count = 10;
    run(self);
    assert_int_equal(self->plan.refit_count, 10);
    self->frame.structure_count = STRUCTURES;
    run(self);
    assert_int_equal(self->plan.build_count, STRUCTURES - 10);
    pelt_ray_scene_forget(self->scene, 20);
    pelt_ray_scene_forget(self->scene, 1 << 30);
    run(self);
    assert_int_equal(self->plan.build_count, 1);
    assert_int_equal(pelt_ray_scene_action(self->scene, 20), PELT_RAY_BUILD);
    assert_int_equal(pelt_ray_scene_action(self->scene, 1 << 30), PELT_RAY_KEEP);
    free_world(self);
}

/* Plans that were not recorded are made up for, also for structures that have come to rest. */
static void makes_up_for_plans_not_recorded(void **state)
{
    (void)state;
    world *self = make_world();
    plan(self);
    plan(self);
    assert_int_equal(self->plan.build_count, STRUCTURES);
    rest(self, 0, 1);
    run(self);
    assert_int_equal(self->plan.build_count, STRUCTURES);
    self->blas[0].unchanged = false;
    plan(self); /* all were to be refitted */
    rest(self, 0, STRUCTURES);
    run(self);
    assert_int_equal(self->plan.refit_count, STRUCTURES);
    run(self);
    assert_int_equal(self->plan.kept_count, STRUCTURES);

    /* And for frames that could not be planned. */
    self->geometries[3][0].position_stride = 8;
    assert_int_equal(pelt_ray_scene_plan(self->scene, &self->frame, &self->plan),
                     PELT_ERROR_ARGUMENT);
    assert_int_equal(self->plan.batch_count, 0);
    memset(&noted, 0, sizeof(noted));
    pelt_cmd_ray_build(&fake_pass, NULL, self->scene, 0);
    assert_int_equal(noted.calls, 0);
    self->geometries[3][0].position_stride = 16;
    run(self);
    assert_int_equal(self->plan.refit_count, STRUCTURES);
    free_world(self);
}

/* Everything is rebuilt after as many refits as the interval says, the first time sooner, and every
 * frame about as many. */
static void rebuilds_are_staggered(void **state)
{
    (void)state;
    enum { INTERVAL = 16, FRAMES = 200 };
    world *self = make_world();
    self->frame.rebuild_interval = INTERVAL;
    run(self);
    rest(self, 0, STRUCTURES);
    run(self); /* nothing is worn yet, whatever its phase */
    assert_int_equal(self->plan.kept_count, STRUCTURES);
    for (uint32_t i = 0; i < STRUCTURES; i++) {
        self->blas[i].unchanged = false;
    }
    uint32_t refits[STRUCTURES] = { 0 }, rebuilds[STRUCTURES] = { 0 };
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        run(self);
        assert_int_equal(self->plan.build_count, 0);
        assert_int_equal(self->plan.waiting_count, 0);
        /* 64 of them, each in every 17th frame. */
        assert_in_range(self->plan.rebuild_count, 3, 5);
        for (uint32_t i = 0; i < STRUCTURES; i++) {
            bool rebuilt = pelt_ray_scene_action(self->scene, i) == PELT_RAY_REBUILD;
            if (rebuilt && rebuilds[i] == 0) {
                /* The phase, by floating point. */
                double golden = fmod(i * 0.6180339887498949, 1) * (INTERVAL + 1);
                assert_true(fabs(refits[i] + floor(golden + 1e-6) - INTERVAL) < 0.5);
            } else if (rebuilt) {
                assert_int_equal(refits[i], INTERVAL);
            }
            refits[i] = rebuilt ? 0 : refits[i] + 1;
            rebuilds[i] += rebuilt;
            assert_true(refits[i] <= INTERVAL);
        }
    }
    free_world(self);
}

/* Those with the most refits first, then by index; never more than the budget, but one always. */
static void rebuilds_keep_to_the_budget(void **state)
{
    (void)state;
    world *self = make_world();
    run(self);
    /* All are refitted 30 times, the first ten 5 times more. */
    for (uint32_t i = 0; i < 35; i++) {
        if (i == 30) {
            rest(self, 10, STRUCTURES);
        }
        run(self);
    }
    rest(self, 0, 10);
    self->frame.rebuild_interval = 30;
    self->frame.rebuild_structures = 3;
    for (uint32_t frame = 0; frame < 22; frame++) {
        run(self);
        uint32_t left = STRUCTURES - 3 * frame;
        uint32_t count = left < 3 ? left : 3;
        assert_int_equal(self->plan.rebuild_count, count);
        assert_int_equal(self->plan.waiting_count, left - count);
        assert_int_equal(self->plan.kept_count, STRUCTURES - count);
        /* 0, 1, 2, then 3, 4, 5: those with the most refits are also the first. */
        for (uint32_t i = 0; i < STRUCTURES; i++) {
            bool now = i >= 3 * frame && i < 3 * frame + count;
            assert_int_equal(pelt_ray_scene_action(self->scene, i),
                             now ? PELT_RAY_REBUILD : PELT_RAY_KEEP);
        }
    }
    run(self);
    assert_int_equal(self->plan.kept_count, STRUCTURES);
    free_world(self);
}

static void budgets_count_triangles_and_demanded_builds(void **state)
{
    (void)state;
    const struct {
        uint64_t triangles;
        uint32_t structures, demanded, rebuilt;
    } cases[] = {
        { 0, 0, 0, 60 },      { 1, 0, 0, 1 },    { 599, 0, 0, 1 }, { 600, 0, 0, 2 },
        { 900, 2, 0, 2 },     { 900, 9, 0, 3 },  { 900, 9, 2, 1 }, { 1500, 9, 2, 3 },
        { 1, 1, 4, 1 },       { 0, 6, 4, 2 },    { 0, 5, 4, 1 },   { 0, 64, 4, 60 },
        { 18000, 60, 0, 60 }, { 1500, 0, 4, 1 },
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        world *self = make_world();
        run(self);
        for (uint32_t i = 0; i < 10; i++) {
            run(self);
        }
        for (uint32_t i = 60; i < STRUCTURES; i++) {
            self->blas[i].geometry_count = 0;
        }
        run(self);
        for (uint32_t i = 60; i < 60 + cases[c].demanded; i++) {
            self->blas[i].geometry_count = GEOMETRIES;
        }
        self->frame.rebuild_interval = 11;
        self->frame.rebuild_triangles = cases[c].triangles;
        self->frame.rebuild_structures = cases[c].structures;
        run(self);
        assert_int_equal(self->plan.build_count, cases[c].demanded);
        if (self->plan.rebuild_count != cases[c].rebuilt) {
            fail_msg("case %zu: %u rebuilt, not %u", c, self->plan.rebuild_count, cases[c].rebuilt);
        }
        assert_int_equal(self->plan.waiting_count, 60 - cases[c].rebuilt);
        assert_int_equal(self->plan.refit_count, 60 - cases[c].rebuilt);
        assert_int_equal(self->plan.built_triangles, 300 * (cases[c].demanded + cases[c].rebuilt));
        free_world(self);
    }
}

/* Batches of limited scratch memory: as few as fit in order, barriers between them. */
static void scratch_is_split_into_batches(void **state)
{
    (void)state;
    world *self = make_world();
    /* Ten of 1024 bytes, and the aligning. */
    self->frame.scratch_limit = 10 * 1024 + ALIGNMENT - 1;
    run(self);
    assert_int_equal(self->plan.batch_count, 7);
    assert_int_equal(noted.barriers, 6);
    assert_int_equal(self->plan.scratch_size, self->frame.scratch_limit);
    assert_int_equal(self->plan.scratch_bound, self->frame.scratch_limit);
    run(self); /* refits: 384 bytes, 26 of them */
    assert_int_equal(self->plan.batch_count, 3);
    assert_int_equal(self->plan.scratch_size, 26 * 384 + ALIGNMENT - 1);

    self->frame.scratch_limit = 1024 + ALIGNMENT - 1;
    pelt_ray_scene_forget(self->scene, 0);
    run(self);
    assert_int_equal(self->plan.batch_count, 1 + 32); /* a build, and refits by two */
    self->frame.scratch_limit--;
    run(self); /* refits fit */
    assert_int_equal(self->plan.refit_count, STRUCTURES);
    pelt_ray_scene_forget(self->scene, 7);
    assert_int_equal(pelt_ray_scene_plan(self->scene, &self->frame, &self->plan), PELT_ERROR_RANGE);
    assert_non_null(strstr(gpu_messages.last, "structure 7"));
    assert_int_equal(self->plan.scratch_size, 0);
    self->frame.scratch_limit = 1;
    assert_int_equal(pelt_ray_scene_plan(self->scene, &self->frame, &self->plan), PELT_ERROR_RANGE);
    self->frame.scratch_limit = 0;
    run(self);
    assert_int_equal(self->plan.batch_count, 1);
    /* Nothing was recorded of what failed. */
    assert_int_equal(pelt_ray_scene_action(self->scene, 7), PELT_RAY_BUILD);
    free_world(self);
}

/* Refits that need no scratch memory have an address of it all the same, each its own. */
static void nothing_has_an_address_too(void **state)
{
    (void)state;
    world *self = make_world();
    for (uint32_t i = 0; i < STRUCTURES; i++) {
        self->sizes[i].update_scratch = 0;
    }
    refit_bytes = 0;
    run(self);
    run(self);
    refit_bytes = REFIT_BYTES;
    assert_int_equal(self->plan.refit_count, STRUCTURES);
    assert_int_equal(self->plan.scratch_size, ALIGNMENT * STRUCTURES + ALIGNMENT - 1);
    assert_int_equal(noted.scratch_high - noted.scratch_low, ALIGNMENT * (STRUCTURES - 1));
    free_world(self);
}

/* One mistake each in structure 4, its second geometry or its sizes. */
typedef struct mistake {
    const char *names;
    size_t place; /* of 32 or 64 bits in a pelt_ray_geometry or a pelt_ray_sizes */
    size_t size;
    uint64_t value;
    bool of_sizes;
} mistake;

#define AT(structure, member) offsetof(structure, member), sizeof(((structure *)0)->member)

static const mistake mistakes[] = {
    { "positions", AT(pelt_ray_geometry, positions), 0, false },
    { "positions", AT(pelt_ray_geometry, positions), 0x1002, false },
    { "position_stride", AT(pelt_ray_geometry, position_stride), 0, false },
    { "position_stride", AT(pelt_ray_geometry, position_stride), 8, false },
    { "position_stride", AT(pelt_ray_geometry, position_stride), 18, false },
    { "vertex_count", AT(pelt_ray_geometry, vertex_count), 0, false },
    { "measured", AT(pelt_ray_geometry, vertex_count), 61, false },
    { "measured", AT(pelt_ray_geometry, triangle_count), 101, false },
    { "index_bytes", AT(pelt_ray_geometry, index_bytes), 1, false },
    { "indices", AT(pelt_ray_geometry, indices), 0x1002, false },
    { "without indices", AT(pelt_ray_geometry, indices), 0, false },
    { "measured", AT(pelt_ray_sizes, geometry_count), 2, true },
    { "measured", AT(pelt_ray_sizes, use), PELT_RAY_REFITTED, true },
    { "smaller", AT(pelt_ray_sizes, structure), 5001, true },
};

static void refuses_every_mistake_and_names_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        const mistake *wrong = &mistakes[i];
        world *self = make_world();
        char *at = wrong->of_sizes ? (char *)&self->sizes[4] : (char *)&self->geometries[4][1];
        const uint32_t low = (uint32_t)wrong->value;
        memcpy(at + wrong->place, wrong->size == 4 ? (const void *)&low : &wrong->value,
               wrong->size);
        unsigned errors = gpu_messages.errors;
        assert_int_equal(pelt_ray_scene_plan(self->scene, &self->frame, &self->plan),
                         PELT_ERROR_ARGUMENT);
        assert_int_equal(gpu_messages.errors, errors + 1);
        assert_non_null(strstr(gpu_messages.last, "structure 4"));
        assert_non_null(strstr(gpu_messages.last, wrong->names));
        /* Nothing of one that is absent is looked at. */
        self->blas[4].geometry_count = 0;
        assert_int_equal(pelt_ray_scene_plan(self->scene, &self->frame, &self->plan), PELT_OK);
        free_world(self);
    }
    world *self = make_world();
    self->blas[4].structure = NULL;
    assert_int_equal(pelt_ray_scene_plan(self->scene, &self->frame, &self->plan),
                     PELT_ERROR_ARGUMENT);
    self->blas[4].structure = &self->structures[4];
    self->structures[4].handle = VK_NULL_HANDLE;
    assert_int_equal(pelt_ray_scene_plan(self->scene, &self->frame, &self->plan),
                     PELT_ERROR_ARGUMENT);
    self->structures[4].handle = self->structures[3].handle;
    self->blas[4].sizes = NULL;
    assert_int_equal(pelt_ray_scene_plan(self->scene, &self->frame, &self->plan),
                     PELT_ERROR_ARGUMENT);
    self->blas[4].sizes = &self->sizes[4];
    self->blas[4].geometries = NULL;
    assert_int_equal(pelt_ray_scene_plan(self->scene, &self->frame, &self->plan),
                     PELT_ERROR_ARGUMENT);
    self->frame.structures = NULL;
    assert_int_equal(pelt_ray_scene_plan(self->scene, &self->frame, &self->plan),
                     PELT_ERROR_ARGUMENT);
    self->frame.structure_count = 0;
    assert_int_equal(pelt_ray_scene_plan(self->scene, &self->frame, &self->plan), PELT_OK);
    free_world(self);

    const uint32_t wrong_alignments[] = { 0, 3, 96 };
    for (size_t i = 0; i < 3; i++) {
        pelt_ray_scene *scene = NULL;
        const pelt_ray_limits wrong = { .scratch_alignment = wrong_alignments[i] };
        assert_int_equal(pelt_ray_scene_create(&gpu_host, &wrong, &scene), PELT_ERROR_ARGUMENT);
        assert_null(scene);
    }
}

/* -- memory -------------------------------------------------------------------------------- */

static void *counted_memory(void *user, void *block, size_t size)
{
    int *left = user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return (*left)-- > 0 ? realloc(block, size) : NULL;
}

/* The n-th allocation fails, for every n; afterwards the same scene works. */
static void survives_a_lack_of_memory(void **state)
{
    (void)state;
    int left = 0;
    const pelt_host host = { .user = &left, .allocate = counted_memory };
    uint32_t failures = 0;
    bool done = false;
    for (int n = 0; !done; n++) {
        world *self = make_world();
        pelt_ray_scene_destroy(self->scene);
        left = n;
        pelt_result result = pelt_ray_scene_create(&host, &limits, &self->scene);
        if (result == PELT_OK) {
            self->frame.structure_count = 5;
            result = pelt_ray_scene_plan(self->scene, &self->frame, &self->plan);
            self->frame.structure_count = STRUCTURES;
            if (result == PELT_OK) {
                result = pelt_ray_scene_plan(self->scene, &self->frame, &self->plan);
            }
        }
        done = result == PELT_OK;
        failures += !done;
        assert_true(done || result == PELT_ERROR_MEMORY);
        if (self->scene) {
            left = 1000;
            run(self);
            assert_int_equal(self->plan.build_count, STRUCTURES);
        }
        free_world(self);
    }
    assert_true(failures > STRUCTURES); /* the keys of each are one */
}

/* -- instances ----------------------------------------------------------------------------- */

static void writes_instances(void **state)
{
    (void)state;
    const float moved[12] = { 1, 2, 3, 4, 0, 5, 6, 7, 0, 0, -8, 9 };
    const float flat[12] = { 1, 0, 0, 4, 0, 1, 0, 7, 0, 0, 0, 9 };
    const float tilted[12] = { 1, 1, 2, 4, 3, 4, 7, 7, 0.125f, 0.25f, 0.375f, 9 }; /* rank 2 */
    const float zero[12] = { 0 };
    const float thin[12] = { 1e-20f, 0, 0, 4, 0, 1, 0, 7, 0, 0, 1, 9 };
    const float tiny[12] = { 1e-39f, 0, 0, 4, 0, 1e-39f, 0, 7, 0, 0, 1e-39f, 9 };
    const float identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    const pelt_ray_instance instances[] = {
        { .transform = moved,
          .structure = 0x1234500,
          .custom_index = 0xabcdef,
          .mask = 0x12,
          .sbt_offset = 0x345678,
          .flags = VK_GEOMETRY_INSTANCE_TRIANGLE_FACING_CULL_DISABLE_BIT_KHR },
        { .structure = 0x100 },
        { .transform = flat, .structure = 0x100 },
        { .transform = tilted, .structure = 0x100 },
        { .transform = zero, .structure = 0x100 },
        { .transform = thin, .structure = 0x100 },
        { .transform = tiny, .structure = 0x100 },
        { .transform = moved },
    };
    enum { COUNT = sizeof(instances) / sizeof(instances[0]) };
    unsigned char memory[COUNT * PELT_RAY_INSTANCE_SIZE + 1];
    memset(memory, 0xa5, sizeof(memory));
    assert_int_equal(pelt_ray_instances_write(&gpu_host, instances, COUNT, memory), PELT_OK);
    assert_int_equal(memory[sizeof(memory) - 1], 0xa5);

    /* Vulkan's words, by hand. */
    uint32_t words[4];
    uint64_t reference;
    assert_memory_equal(memory, moved, 48);
    memcpy(words, memory + 48, 8);
    assert_int_equal(words[0], 0x12abcdef);
    assert_int_equal(words[1], 0x01345678);
    memcpy(&reference, memory + 56, 8);
    assert_int_equal(reference, 0x1234500);
    memcpy(words, memory + 64 + 48, 8);
    assert_memory_equal(memory + 64, identity, 48);
    assert_int_equal(words[0], 0xff000000);
    assert_int_equal(words[1], 0);
    const bool active[COUNT] = { true, true, false, false, false, true, false, false };
    for (uint32_t i = 0; i < COUNT; i++) {
        memcpy(&reference, memory + PELT_RAY_INSTANCE_SIZE * i + 56, 8);
        assert_int_equal(reference != 0, active[i]);
    }
}

static void refuses_instances_that_do_not_fit(void **state)
{
    (void)state;
    const float infinite[12] = { 1, 0, 0, 0, 0, 1, 0, INFINITY, 0, 0, 1, 0 };
    const float none[12] = { NAN, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    const struct {
        const char *names;
        pelt_ray_instance instance;
    } wrong[] = {
        { "transform", { .transform = infinite } },
        { "transform", { .transform = none } },
        { "custom_index", { .custom_index = 1 << 24 } },
        { "sbt_offset", { .sbt_offset = 1 << 24 } },
        { "mask", { .mask = 0x100 } },
        { "flags", { .flags = 0x100 } },
    };
    unsigned char memory[2 * PELT_RAY_INSTANCE_SIZE];
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const pelt_ray_instance instances[2] = { { .mask = 1 }, wrong[i].instance };
        assert_int_equal(pelt_ray_instances_write(&gpu_host, instances, 2, memory),
                         PELT_ERROR_ARGUMENT);
        assert_non_null(strstr(gpu_messages.last, "instance 1"));
        assert_non_null(strstr(gpu_messages.last, wrong[i].names));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builds_once_then_refits_what_moves),
        cmocka_unit_test(builds_what_may_not_be_refitted),
        cmocka_unit_test(what_has_no_refits_is_built),
        cmocka_unit_test(describes_geometries_as_vulkan_takes_them),
        cmocka_unit_test(forgets_what_is_gone),
        cmocka_unit_test(makes_up_for_plans_not_recorded),
        cmocka_unit_test(rebuilds_are_staggered),
        cmocka_unit_test(rebuilds_keep_to_the_budget),
        cmocka_unit_test(budgets_count_triangles_and_demanded_builds),
        cmocka_unit_test(scratch_is_split_into_batches),
        cmocka_unit_test(nothing_has_an_address_too),
        cmocka_unit_test(refuses_every_mistake_and_names_it),
        cmocka_unit_test(survives_a_lack_of_memory),
        cmocka_unit_test(writes_instances),
        cmocka_unit_test(refuses_instances_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
