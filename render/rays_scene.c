/* Acceleration structures over a scene's draws: one for each instance, its parts as geometries. */
#include "render/rays.h"

#include <string.h>

enum { STRUCTURE_ALIGNMENT = 256 };

/* What builds that run at once may take of scratch memory, unless one alone takes more. */
#define SCRATCH_MOST ((VkDeviceSize)256 << 20)

static void count_draws(const pelt_render_scene *scene, pelt_traced_scene *self)
{
    const pelt_render_draw *last = NULL;
    for (uint32_t i = 0; i < scene->draw_count; i++) {
        const pelt_render_draw *draw = &scene->draws[i];
        if (pelt_is_surface(self->renderer, draw)) {
            self->draw_count++;
            self->group_count += !last || last->instance != draw->instance;
            last = draw;
        }
    }
}

static pelt_result allocate(pelt_traced_scene *self)
{
    const pelt_host *host = self->renderer->host;
    self->geometries = pelt_allocate(host, self->draw_count, sizeof(*self->geometries));
    self->groups = pelt_allocate(host, self->group_count, sizeof(*self->groups));
    self->sizes = pelt_allocate(host, self->group_count, sizeof(*self->sizes));
    self->structures = pelt_allocate(host, self->group_count, sizeof(*self->structures));
    self->blas = pelt_allocate(host, self->group_count, sizeof(*self->blas));
    if (!self->geometries || !self->groups || !self->sizes || !self->structures || !self->blas) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %u structures",
                         self->group_count);
    }
    return PELT_OK;
}

static pelt_ray_draw describe_draw(const pelt_renderer *renderer, const pelt_render_draw *draw)
{
    const pelt_render_mesh *mesh = &renderer->meshes[draw->mesh];
    const pelt_render_material *material = &renderer->materials[draw->material];
    pelt_ray_draw out = {
        .vertices = draw->vertices,
        .previous = draw->previous ? draw->previous : draw->vertices,
        .indices = mesh->buffer.address,
        .texcoords = mesh->texcoords,
        .colors = mesh->colors,
        .flags = mesh->flags,
        .alpha_cutoff = material->alpha_cutoff,
        .material = draw->material,
        .alpha_mode = material->alpha_mode,
        .instance = draw->instance,
        .part = draw->part,
    };
    memcpy(out.base_color, material->base_color, sizeof(out.base_color));
    return out;
}

static pelt_result describe(const pelt_render_scene *scene, pelt_traced_scene *self)
{
    pelt_renderer *renderer = self->renderer;
    pelt_result result =
        pelt_buffer_create(renderer->device, (VkDeviceSize)self->draw_count * sizeof(pelt_ray_draw),
                           0, PELT_MEMORY_UPLOAD, &self->draws);
    if (result != PELT_OK) {
        return result;
    }
    pelt_ray_draw *records = self->draws.mapped;
    const pelt_render_draw *last = NULL;
    uint32_t to = 0, group = 0;
    for (uint32_t i = 0; i < scene->draw_count; i++) {
        const pelt_render_draw *draw = &scene->draws[i];
        if (!pelt_is_surface(renderer, draw)) {
            continue;
        }
        const pelt_render_mesh *mesh = &renderer->meshes[draw->mesh];
        bool opaque = renderer->materials[draw->material].alpha_mode == PELT_ALPHA_OPAQUE;
        records[to] = describe_draw(renderer, draw);
        self->geometries[to] = (pelt_ray_geometry){
            .positions = draw->vertices,
            .position_stride = sizeof(pelt_packed_vertex),
            .vertex_count = mesh->vertex_count,
            .indices = mesh->buffer.address,
            .triangle_count = mesh->index_count / 3,
            .any_hit = !opaque,
        };
        if (!last || last->instance != draw->instance) {
            self->groups[group++] = (pelt_ray_group){ to, 0 };
        }
        self->groups[group - 1].count++;
        last = draw;
        to++;
    }
    return PELT_OK;
}

/* Measures every structure; *end: where the last one ends in memory. */
static pelt_result measure(pelt_traced_scene *self, pelt_ray_sizes *top, VkDeviceSize *end)
{
    pelt_result result = pelt_ray_tlas_measure(self->pass, self->group_count, top);
    *end = 0;
    for (uint32_t i = 0; result == PELT_OK && i < self->group_count; i++) {
        const pelt_ray_group *group = &self->groups[i];
        result = pelt_ray_measure(self->pass, &self->geometries[group->first], group->count,
                                  PELT_RAY_STILL, &self->sizes[i]);
        *end += pelt_align(self->sizes[i].structure, STRUCTURE_ALIGNMENT);
    }
    return result;
}

static pelt_result create_structures(pelt_traced_scene *self)
{
    pelt_headless *device = self->renderer->device;
    pelt_ray_sizes top;
    VkDeviceSize end;
    pelt_result result = measure(self, &top, &end);
    if (result == PELT_OK) {
        result = pelt_buffer_create(device, end + top.structure,
                                    VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_STORAGE_BIT_KHR,
                                    PELT_MEMORY_DEVICE, &self->memory);
    }
    VkDeviceSize at = 0;
    for (uint32_t i = 0; result == PELT_OK && i < self->group_count; i++) {
        result = pelt_ray_structure_create(
            self->pass, VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR, self->memory.buffer, at,
            self->sizes[i].structure, &self->structures[i]);
        at += pelt_align(self->sizes[i].structure, STRUCTURE_ALIGNMENT);
    }
    if (result == PELT_OK) {
        result = pelt_ray_structure_create(self->pass, VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR,
                                           self->memory.buffer, end, top.structure, &self->top);
    }
    if (result == PELT_OK) {
        uint32_t alignment = pelt_ray_pass_limits(self->pass)->scratch_alignment;
        result = pelt_buffer_create(device, top.build_scratch + alignment - 1, 0,
                                    PELT_MEMORY_DEVICE, &self->top_scratch);
    }
    return result;
}

/* Every structure is new, and is built. */
static pelt_result plan(pelt_traced_scene *self)
{
    const pelt_ray_limits *limits = pelt_ray_pass_limits(self->pass);
    VkDeviceSize most = SCRATCH_MOST;
    for (uint32_t i = 0; i < self->group_count; i++) {
        const pelt_ray_group *group = &self->groups[i];
        VkDeviceSize scratch = pelt_align(self->sizes[i].build_scratch, limits->scratch_alignment);
        most = scratch > most ? scratch : most;
        self->blas[i] = (pelt_ray_blas){ .geometries = &self->geometries[group->first],
                                         .geometry_count = group->count,
                                         .use = PELT_RAY_STILL,
                                         .sizes = &self->sizes[i],
                                         .structure = &self->structures[i] };
    }
    pelt_result result = pelt_ray_scene_create(self->renderer->host, limits, &self->scene);
    if (result == PELT_OK) {
        result = pelt_ray_scene_plan(self->scene,
                                     &(pelt_ray_frame){ .structures = self->blas,
                                                        .structure_count = self->group_count,
                                                        .scratch_limit = most },
                                     &self->plan);
    }
    return result == PELT_OK ? pelt_buffer_create(self->renderer->device, self->plan.scratch_size,
                                                  0, PELT_MEMORY_DEVICE, &self->scratch)
                             : result;
}

/* Structures lie in the scene's space, rays in that of radius 1. */
static pelt_result write_instances(pelt_traced_scene *self, const float origin[4])
{
    const pelt_host *host = self->renderer->host;
    const float w = origin[3];
    const float to_unit[12] = { w, 0, 0, -origin[0] * w, 0, w, 0, -origin[1] * w,
                                0, 0, w, -origin[2] * w };
    pelt_result result = pelt_buffer_create(
        self->renderer->device, (VkDeviceSize)self->group_count * PELT_RAY_INSTANCE_SIZE,
        pelt_render_vertex_usage(self->renderer->device), PELT_MEMORY_UPLOAD, &self->instances);
    for (uint32_t i = 0; result == PELT_OK && i < self->group_count; i++) {
        const pelt_ray_instance instance = { .transform = to_unit,
                                             .structure = self->structures[i].address,
                                             .custom_index = self->groups[i].first };
        result = pelt_ray_instances_write(host, &instance, 1,
                                          (char *)self->instances.mapped +
                                              (size_t)i * PELT_RAY_INSTANCE_SIZE);
    }
    return result;
}

pelt_result pelt_traced_scene_prepare(pelt_renderer *renderer, const pelt_render_scene *scene,
                                      const float origin[4], pelt_traced_scene *self)
{
    *self = (pelt_traced_scene){ .renderer = renderer };
    count_draws(scene, self);
    if (self->draw_count > 1u << 24) {
        return pelt_fail(renderer->host, PELT_ERROR_RANGE, NULL, NULL,
                         "%u parts of instances; rays tell at most 2^24 apart", self->draw_count);
    }
    pelt_result result =
        pelt_ray_pass_create(renderer->host, &renderer->device->vulkan, &self->pass);
    if (result == PELT_OK) {
        result = allocate(self);
    }
    if (result == PELT_OK) {
        result = describe(scene, self);
    }
    if (result == PELT_OK) {
        result = create_structures(self);
    }
    if (result == PELT_OK) {
        result = plan(self);
    }
    return result == PELT_OK ? write_instances(self, origin) : result;
}

void pelt_traced_scene_release(pelt_traced_scene *self)
{
    pelt_headless *device = self->renderer->device;
    const pelt_host *host = self->renderer->host;
    for (uint32_t i = 0; self->structures && i < self->group_count; i++) {
        pelt_ray_structure_destroy(self->pass, &self->structures[i]);
    }
    pelt_ray_structure_destroy(self->pass, &self->top);
    pelt_buffer *buffers[] = { &self->draws, &self->instances, &self->memory, &self->scratch,
                               &self->top_scratch };
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        pelt_buffer_destroy(device, buffers[i]);
    }
    pelt_ray_scene_destroy(self->scene);
    pelt_ray_pass_destroy(self->pass);
    pelt_release(host, self->blas);
    pelt_release(host, self->structures);
    pelt_release(host, self->sizes);
    pelt_release(host, self->groups);
    pelt_release(host, self->geometries);
}

void pelt_traced_scene_record(pelt_traced_scene *self, VkCommandBuffer commands)
{
    const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR;
    pelt_cmd_ray_barrier(self->pass, commands, PELT_RAY_AFTER_SKIN, stages);
    pelt_cmd_ray_build(self->pass, commands, self->scene, self->scratch.address);
    pelt_cmd_ray_barrier(self->pass, commands, PELT_RAY_AFTER_BUILD, stages);
    pelt_cmd_ray_tlas(self->pass, commands, &self->top, self->instances.address, self->group_count,
                      self->top_scratch.address);
    pelt_cmd_ray_barrier(self->pass, commands, PELT_RAY_BEFORE_TRACE, stages);
}
