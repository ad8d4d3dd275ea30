/* Pictures and exact numbers by rays. */
#include "render/rays.h"

#include <string.h>

VkBufferUsageFlags pelt_render_vertex_usage(const pelt_headless *device)
{
    return device->acceleration_structure
               ? VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR
               : 0;
}

pelt_result pelt_render_check_surfaces(const pelt_renderer *renderer,
                                       const pelt_render_scene *scene)
{
    if (scene->crowd_count > 0 || scene->clusters_count > 0 || scene->box_count > 0) {
        return pelt_fail(renderer->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "crowds, clusters and boxes cannot be traced, nor told of by pixels");
    }
    uint32_t thin = 0;
    for (uint32_t i = 0; i < scene->draw_count; i++) {
        const pelt_render_mesh *mesh = &renderer->meshes[scene->draws[i].mesh];
        thin += mesh->topology != PELT_CLASS_TRIANGLES;
    }
    if (thin > 0) {
        pelt_warn(renderer->host, NULL, NULL,
                  "%u draw%s of points or lines %s left out: there are no surfaces to be hit", thin,
                  thin == 1 ? "" : "s", thin == 1 ? "is" : "are");
    }
    return PELT_OK;
}

/* What tracing takes beside the renderer. */
typedef struct tracing {
    pelt_render_picture picture; /* for its frame */
    pelt_traced_scene scene;
    pelt_ray_pipeline pipeline;
    pelt_buffer pixels;
    pelt_ray_constants constants;
} tracing;

static pelt_result check(const pelt_renderer *renderer)
{
    const pelt_headless *device = renderer->device;
    return device->ray_tracing_pipeline && device->acceleration_structure
               ? PELT_OK
               : pelt_fail(renderer->host, PELT_ERROR_DEVICE, NULL, NULL,
                           "%s lacks ray-tracing pipelines (VK_KHR_ray_tracing_pipeline), which "
                           "rays need",
                           device->properties.deviceName);
}

static void choose_samples(const pelt_renderer *renderer, const pelt_trace_info *info,
                           pelt_ray_constants *out)
{
    uint32_t sky = info->sky_samples;
    if (sky == 0) {
        sky = renderer->device->is_software ? 8 : 16;
    }
    out->samples = renderer->samples;
    out->sky_samples = sky;
    out->sun_samples = (sky + 3) / 4;
}

static void write_timestamp(pelt_renderer *renderer, VkCommandBuffer commands, uint32_t index)
{
    if (!renderer->queries) {
        return;
    }
    if (index == 0) {
        renderer->vk.cmd_reset_query_pool(commands, renderer->queries, 0, 3);
    }
    renderer->vk.cmd_write_timestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                      renderer->queries, index);
}

static void record(tracing *self, pelt_renderer *renderer, VkCommandBuffer commands)
{
    write_timestamp(renderer, commands, 0);
    pelt_traced_scene_record(&self->scene, commands);
    write_timestamp(renderer, commands, 1);
    pelt_ray_pipeline_record(&self->pipeline, commands, &self->constants);
    write_timestamp(renderer, commands, 2);
    const VkMemoryBarrier2 to_host = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR,
        .srcAccessMask = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT,
        .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT,
    };
    const VkDependencyInfo dependency = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .memoryBarrierCount = 1,
        .pMemoryBarriers = &to_host,
    };
    renderer->vk.cmd_pipeline_barrier2(commands, &dependency);
}

static void fill_report(const tracing *self, const pelt_renderer *renderer,
                        pelt_render_report *report)
{
    *report = (pelt_render_report){ .structure_count = self->scene.group_count };
    for (uint32_t i = 0; i < self->scene.draw_count; i++) {
        report->triangle_count += self->scene.geometries[i].triangle_count;
    }
    uint64_t ticks[3];
    if (renderer->queries &&
        renderer->vk.get_query_pool_results(renderer->device->vulkan.device, renderer->queries, 0,
                                            3, sizeof(ticks), ticks, sizeof(ticks[0]),
                                            VK_QUERY_RESULT_64_BIT) == VK_SUCCESS) {
        double milliseconds = (double)renderer->device->timestamp_period * 1e-6;
        report->build_time = (double)(ticks[1] - ticks[0]) * milliseconds;
        report->trace_time = (double)(ticks[2] - ticks[1]) * milliseconds;
    }
}

static pelt_result trace(tracing *self, pelt_renderer *renderer, pelt_ray_output output)
{
    size_t each = output == PELT_RAY_PICTURE ? 4 : sizeof(pelt_aov_pixel);
    pelt_result result = pelt_render_prepare(&self->picture);
    if (result == PELT_OK) {
        result = pelt_render_check_surfaces(renderer, self->picture.scene);
    }
    if (result == PELT_OK) {
        result = pelt_traced_scene_prepare(renderer, self->picture.scene,
                                           self->picture.frame.origin, &self->scene);
    }
    if (result == PELT_OK) {
        result = pelt_ray_pipeline_create(renderer, output, &self->scene.top, &self->pipeline);
    }
    if (result == PELT_OK) {
        result = pelt_buffer_create(renderer->device,
                                    (VkDeviceSize)each * renderer->width * renderer->height, 0,
                                    PELT_MEMORY_READBACK, &self->pixels);
    }
    VkCommandBuffer commands;
    if (result == PELT_OK) {
        result = pelt_commands_begin(renderer->device, &commands);
    }
    if (result == PELT_OK) {
        self->constants.draws = self->scene.draws.address;
        self->constants.pixels = self->pixels.address;
        record(self, renderer, commands);
        result = pelt_commands_submit(renderer->device, commands);
    }
    return result;
}

pelt_result pelt_render_rays(pelt_renderer *renderer, const pelt_render_scene *scene,
                             pelt_ray_output output, const pelt_trace_info *info, void *pixels,
                             pelt_render_report *report)
{
    pelt_result result = check(renderer);
    if (result != PELT_OK) {
        return result;
    }
    tracing *self = pelt_allocate(renderer->host, 1, sizeof(*self));
    if (!self) {
        return pelt_fail(renderer->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a picture");
    }
    self->picture.renderer = self->scene.renderer = self->pipeline.renderer = renderer;
    self->picture.scene = scene;
    choose_samples(renderer, info, &self->constants);
    result = trace(self, renderer, output);
    if (result == PELT_OK) {
        memcpy(pixels, self->pixels.mapped, self->pixels.size);
        if (report) {
            fill_report(self, renderer, report);
        }
    }
    pelt_buffer_destroy(renderer->device, &self->pixels);
    pelt_ray_pipeline_release(&self->pipeline);
    pelt_traced_scene_release(&self->scene);
    pelt_render_release_picture(&self->picture);
    pelt_release(renderer->host, self);
    return result;
}

pelt_result pelt_renderer_trace(pelt_renderer *renderer, const pelt_render_scene *scene,
                                const pelt_trace_info *info, uint8_t *rgba,
                                pelt_render_report *report)
{
    return pelt_render_rays(renderer, scene, PELT_RAY_PICTURE, info, rgba, report);
}
