/* One picture: depth from the sun and the sky, then the scene, in one command buffer. */
#include "render/picture.h"

#include <string.h>

static pelt_result bind(pelt_render_picture *self, pelt_render_source source,
                        pelt_render_pipeline kind, pelt_render_class topology)
{
    VkPipeline pipeline;
    pelt_result result =
        pelt_render_pipeline_get(self->renderer, source, kind, topology, &pipeline);
    if (result == PELT_OK && pipeline != self->bound) {
        self->renderer->vk.cmd_bind_pipeline(self->commands, VK_PIPELINE_BIND_POINT_GRAPHICS,
                                             pipeline);
        self->bound = pipeline;
    }
    return result;
}

void pelt_render_push(pelt_render_picture *self, const pelt_draw_constants *constants)
{
    self->renderer->vk.cmd_push_constants(self->commands, self->renderer->pipeline_layout,
                                          self->renderer->vertex_stages |
                                              VK_SHADER_STAGE_FRAGMENT_BIT,
                                          0, sizeof(*constants), constants);
}

/* What a mesh's draw needs but for its vertices; *drawn: whether there is anything to draw. */
static pelt_result set_mesh(pelt_render_picture *self, pelt_render_source source, uint32_t number,
                            uint32_t material_number, pelt_render_pipeline kind,
                            pelt_draw_constants *constants, bool *drawn)
{
    pelt_renderer *renderer = self->renderer;
    const pelt_render_mesh *mesh = &renderer->meshes[number];
    const pelt_render_material *material = &renderer->materials[material_number];
    *drawn = mesh->index_count > 0;
    if (!*drawn) {
        return PELT_OK;
    }
    pelt_result result = bind(self, source, kind, mesh->topology);
    if (result != PELT_OK) {
        return result;
    }
    constants->texcoords = mesh->texcoords;
    constants->colors = mesh->colors;
    constants->flags = mesh->flags;
    constants->alpha_cutoff = material->alpha_cutoff;
    memcpy(constants->base_color, material->base_color, sizeof(constants->base_color));
    pelt_render_push(self, constants);
    if (kind != PELT_PIPELINE_DEPTH) {
        renderer->vk.cmd_bind_descriptor_sets(self->commands, VK_PIPELINE_BIND_POINT_GRAPHICS,
                                              renderer->pipeline_layout, 1, 1, &material->set, 0,
                                              NULL);
    }
    renderer->vk.cmd_bind_index_buffer(self->commands, mesh->buffer.buffer, 0,
                                       VK_INDEX_TYPE_UINT32);
    return PELT_OK;
}

static pelt_result draw_mesh(pelt_render_picture *self, const pelt_render_draw *draw,
                             pelt_render_pipeline kind, uint32_t view)
{
    bool drawn;
    pelt_draw_constants constants = { .vertices = draw->vertices, .view = view };
    pelt_result result =
        set_mesh(self, PELT_SOURCE_ANIMATED, draw->mesh, draw->material, kind, &constants, &drawn);
    if (result == PELT_OK && drawn) {
        const pelt_render_mesh *mesh = &self->renderer->meshes[draw->mesh];
        self->renderer->vk.cmd_draw_indexed(self->commands, mesh->index_count, 1, 0, 0, 0);
    }
    return result;
}

static bool is_shadow(pelt_render_pipeline kind)
{
    return kind == PELT_PIPELINE_DEPTH || kind == PELT_PIPELINE_DEPTH_MASK;
}

/* All members of a crowd that have something to show in this pass: one call. */
static pelt_result draw_part(pelt_render_picture *self, uint32_t number, uint32_t part_number,
                             pelt_render_pipeline kind, uint32_t view)
{
    pelt_renderer *renderer = self->renderer;
    const pelt_render_crowd *crowd = &self->scene->crowds[number];
    const pelt_render_part *part = &crowd->parts[part_number];
    const pelt_render_drawn_crowd *drawn_crowd = &self->crowds[number];
    const pelt_render_palette *palette = &renderer->palettes[crowd->palette];
    bool shadow = is_shadow(kind), drawn;
    pelt_draw_constants constants = palette->constants;
    constants.vertices = part->packed_mesh;
    constants.instances =
        shadow ? drawn_crowd->all_instances.address : drawn_crowd->instances.address;
    constants.view = view;
    constants.interpolation = crowd->interpolation;
    constants.skinning = crowd->skinning;
    pelt_result result =
        set_mesh(self, PELT_SOURCE_PALETTE, part->mesh, part->material, kind, &constants, &drawn);
    if (result == PELT_OK && drawn) {
        const size_t size = sizeof(VkDrawIndexedIndirectCommand);
        renderer->vk.cmd_bind_descriptor_sets(self->commands, VK_PIPELINE_BIND_POINT_GRAPHICS,
                                              renderer->pipeline_layout, 2, 1, &palette->set, 0,
                                              NULL);
        renderer->vk.cmd_draw_indexed_indirect(
            self->commands, drawn_crowd->draws.buffer,
            size * (part_number + (shadow ? crowd->part_count : 0)), 1, (uint32_t)size);
        self->draw_count += !shadow;
    }
    return result;
}

/* Some instances by clusters. Lights see the levels that the camera sees, and all of them. */
static pelt_result draw_clusters(pelt_render_picture *self, uint32_t number, uint32_t first,
                                 uint32_t count, pelt_render_pipeline kind, uint32_t view)
{
    const pelt_render_clusters *clusters = &self->scene->clusters[number];
    bool drawn;
    pelt_draw_constants constants = {
        .view = view,
        .cluster_view =
            self->cluster_views.address + (is_shadow(kind) ? PELT_CLUSTER_VIEW_SIZE : 0),
        .cluster_counts = is_shadow(kind) ? 0 : self->cluster_counts.address,
        .cluster_colors = is_shadow(kind) ? PELT_COLORS_OF_MATERIAL : self->scene->debug,
    };
    pelt_result result = set_mesh(self, PELT_SOURCE_CLUSTERS, clusters->mesh, clusters->material,
                                  kind, &constants, &drawn);
    if (result == PELT_OK && drawn) {
        pelt_render_draw_clusters(self, clusters, first, count, &constants);
    }
    return result;
}

typedef pelt_render_pipeline (*pipeline_choice)(pelt_alpha_mode mode);

static pelt_render_pipeline shadow_pipeline(pelt_alpha_mode mode)
{
    return mode == PELT_ALPHA_OPAQUE ? PELT_PIPELINE_DEPTH : PELT_PIPELINE_DEPTH_MASK;
}

static pelt_render_pipeline solid_pipeline(pelt_alpha_mode mode)
{
    return mode == PELT_ALPHA_MASK    ? PELT_PIPELINE_MESH_MASK
           : mode == PELT_ALPHA_BLEND ? PELT_PIPELINE_COUNT
                                      : PELT_PIPELINE_MESH;
}

static pelt_render_pipeline blend_pipeline(pelt_alpha_mode mode)
{
    return mode == PELT_ALPHA_BLEND ? PELT_PIPELINE_MESH_BLEND : PELT_PIPELINE_COUNT;
}

/* choose: PELT_PIPELINE_COUNT where a material is none of this pass's. */
static pelt_result draw_crowds(pelt_render_picture *self, pipeline_choice choose, uint32_t view)
{
    pelt_result result = PELT_OK;
    for (uint32_t c = 0; c < self->scene->crowd_count; c++) {
        const pelt_render_crowd *crowd = &self->scene->crowds[c];
        for (uint32_t p = 0; p < crowd->part_count && result == PELT_OK; p++) {
            uint32_t material = crowd->parts[p].material;
            pelt_render_pipeline kind = choose(self->renderer->materials[material].alpha_mode);
            if (kind != PELT_PIPELINE_COUNT) {
                result = draw_part(self, c, p, kind, view);
            }
        }
    }
    return result;
}

/* What is blended is drawn in the order of all draws, and none of these. */
static pelt_result draw_all_clusters(pelt_render_picture *self, pipeline_choice choose,
                                     uint32_t view)
{
    pelt_result result = PELT_OK;
    for (uint32_t c = 0; c < self->scene->clusters_count && result == PELT_OK; c++) {
        const pelt_render_clusters *clusters = &self->scene->clusters[c];
        pelt_alpha_mode mode = self->renderer->materials[clusters->material].alpha_mode;
        pelt_render_pipeline kind = choose(mode);
        if (kind != PELT_PIPELINE_COUNT) {
            result = draw_clusters(self, c, 0, clusters->instance_count, kind, view);
        }
    }
    return result;
}

static pelt_result draw_blended(pelt_render_picture *self, const pelt_render_order *order)
{
    const pelt_render_scene *scene = self->scene;
    if (order->draw >= scene->draw_count) {
        return draw_clusters(self, order->draw - scene->draw_count, order->instance, 1,
                             PELT_PIPELINE_MESH_BLEND, 0);
    }
    const pelt_render_draw *draw = &scene->draws[order->draw];
    if (self->renderer->materials[draw->material].alpha_mode != PELT_ALPHA_BLEND) {
        return PELT_OK;
    }
    self->draw_count++;
    return draw_mesh(self, draw, PELT_PIPELINE_MESH_BLEND, 0);
}

static void set_area(pelt_render_picture *self, uint32_t width, uint32_t height)
{
    const VkViewport viewport = { 0.0f, 0.0f, (float)width, (float)height, 0.0f, 1.0f };
    const VkRect2D scissor = { { 0, 0 }, { width, height } };
    self->renderer->vk.cmd_set_viewport(self->commands, 0, 1, &viewport);
    self->renderer->vk.cmd_set_scissor(self->commands, 0, 1, &scissor);
}

static pelt_result draw_shadow(pelt_render_picture *self, VkImageView map, uint32_t size,
                               uint32_t view)
{
    const pelt_render_scene *scene = self->scene;
    const VkRenderingAttachmentInfo depth = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = map,
        .imageLayout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .clearValue = { .depthStencil = { 1.0f, 0 } },
    };
    const VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = { { 0, 0 }, { size, size } },
        .layerCount = 1,
        .pDepthAttachment = &depth,
    };
    pelt_result result = PELT_OK;
    self->renderer->vk.cmd_begin_rendering(self->commands, &info);
    set_area(self, size, size);
    uint32_t draws = scene->no_shadows ? 0 : scene->draw_count;
    for (uint32_t i = 0; i < draws && result == PELT_OK; i++) {
        const pelt_render_draw *draw = &scene->draws[i];
        pelt_alpha_mode mode = self->renderer->materials[draw->material].alpha_mode;
        result = draw_mesh(self, draw, shadow_pipeline(mode), view);
    }
    if (result == PELT_OK && !scene->no_shadows) {
        result = draw_all_clusters(self, shadow_pipeline, view);
    }
    if (result == PELT_OK && !scene->no_shadows) {
        result = draw_crowds(self, shadow_pipeline, view);
    }
    self->renderer->vk.cmd_end_rendering(self->commands);
    return result;
}

static const VkPipelineStageFlags2 depth_stages =
    VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT;

static void transition_maps(pelt_render_picture *self, bool to_sampled)
{
    const pelt_render_transition to_attachment = {
        .from_stage = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
        .to_stage = depth_stages,
        .to_access = VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                     VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT,
        .from = VK_IMAGE_LAYOUT_UNDEFINED,
        .to = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        .aspect = VK_IMAGE_ASPECT_DEPTH_BIT,
    };
    const pelt_render_transition to_texture = {
        .from_stage = depth_stages,
        .from_access = VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT,
        .to_stage = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
        .to_access = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT,
        .from = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        .to = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
        .aspect = VK_IMAGE_ASPECT_DEPTH_BIT,
    };
    const pelt_render_transition *change = to_sampled ? &to_texture : &to_attachment;
    pelt_render_transition_image(self->renderer, self->commands, self->renderer->sun.image, change);
    pelt_render_transition_image(self->renderer, self->commands, self->renderer->sky.image, change);
}

static pelt_result draw_shadows(pelt_render_picture *self)
{
    pelt_renderer *renderer = self->renderer;
    transition_maps(self, false);
    pelt_result result = draw_shadow(self, renderer->sun.view, renderer->sun_size, PELT_VIEW_SUN);
    for (uint32_t i = 0; i < self->sky_count && result == PELT_OK; i++) {
        result = draw_shadow(self, renderer->sky_views[i], renderer->sky_size, PELT_VIEW_SKY + i);
    }
    transition_maps(self, true);
    return result;
}

/* Meshes, ground, sky, then what lets the others show through. */
static pelt_result draw_passes(pelt_render_picture *self)
{
    const pelt_render_scene *scene = self->scene;
    const pelt_render_functions *vk = &self->renderer->vk;
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; i < self->order_count && result == PELT_OK; i++) {
        if (self->order[i].draw >= scene->draw_count) {
            continue;
        }
        const pelt_render_draw *draw = &scene->draws[self->order[i].draw];
        pelt_alpha_mode mode = self->renderer->materials[draw->material].alpha_mode;
        if (mode != PELT_ALPHA_BLEND) {
            result = draw_mesh(self, draw, solid_pipeline(mode), 0);
            self->draw_count++;
        }
    }
    if (result == PELT_OK) {
        result = draw_all_clusters(self, solid_pipeline, 0);
    }
    if (result == PELT_OK) {
        result = draw_crowds(self, solid_pipeline, 0);
    }
    if (result == PELT_OK && self->frame.ground[1] > 0.0f) {
        result = bind(self, PELT_SOURCE_ANIMATED, PELT_PIPELINE_GROUND, PELT_CLASS_TRIANGLES);
        if (result == PELT_OK) {
            vk->cmd_draw(self->commands, 4, 1, 0, 0);
        }
    }
    if (result == PELT_OK) {
        result = bind(self, PELT_SOURCE_ANIMATED, PELT_PIPELINE_SKY, PELT_CLASS_TRIANGLES);
    }
    if (result == PELT_OK) {
        vk->cmd_draw(self->commands, 3, 1, 0, 0);
    }
    for (uint32_t i = self->order_count; i > 0 && result == PELT_OK; i--) {
        result = draw_blended(self, &self->order[i - 1]);
    }
    if (result == PELT_OK) {
        result = draw_crowds(self, blend_pipeline, 0);
    }
    if (result == PELT_OK && self->box_count > 0) {
        result = bind(self, PELT_SOURCE_ANIMATED, PELT_PIPELINE_BOX, PELT_CLASS_TRIANGLES);
        if (result == PELT_OK) {
            pelt_render_push(self, &(pelt_draw_constants){ .vertices = self->boxes.address });
            vk->cmd_draw(self->commands, 72, self->box_count, 0, 0);
        }
    }
    return result;
}

static pelt_result draw_picture(pelt_render_picture *self)
{
    pelt_renderer *renderer = self->renderer;
    bool resolve = renderer->samples != VK_SAMPLE_COUNT_1_BIT;
    const pelt_render_transition to_color = {
        .from_stage = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
        .to_stage = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
        .to_access = VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
        .from = VK_IMAGE_LAYOUT_UNDEFINED,
        .to = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        .aspect = VK_IMAGE_ASPECT_COLOR_BIT,
    };
    const pelt_render_transition to_depth = {
        .from_stage = depth_stages,
        .to_stage = depth_stages,
        .to_access = VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                     VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT,
        .from = VK_IMAGE_LAYOUT_UNDEFINED,
        .to = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        .aspect = VK_IMAGE_ASPECT_DEPTH_BIT,
    };
    pelt_render_transition_image(renderer, self->commands, renderer->resolved.image, &to_color);
    if (resolve) {
        pelt_render_transition_image(renderer, self->commands, renderer->color.image, &to_color);
    }
    pelt_render_transition_image(renderer, self->commands, renderer->depth.image, &to_depth);

    const VkRenderingAttachmentInfo color = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = resolve ? renderer->color.view : renderer->resolved.view,
        .imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        .resolveMode = resolve ? VK_RESOLVE_MODE_AVERAGE_BIT : VK_RESOLVE_MODE_NONE,
        .resolveImageView = resolve ? renderer->resolved.view : VK_NULL_HANDLE,
        .resolveImageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = resolve ? VK_ATTACHMENT_STORE_OP_DONT_CARE : VK_ATTACHMENT_STORE_OP_STORE,
        .clearValue = { .color = { .float32 = { 1.0f, 1.0f, 1.0f, 1.0f } } },
    };
    const VkRenderingAttachmentInfo depth = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = renderer->depth.view,
        .imageLayout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .clearValue = { .depthStencil = { 0.0f, 0 } },
    };
    const VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = { { 0, 0 }, { renderer->width, renderer->height } },
        .layerCount = 1,
        .colorAttachmentCount = 1,
        .pColorAttachments = &color,
        .pDepthAttachment = &depth,
    };
    renderer->vk.cmd_begin_rendering(self->commands, &info);
    set_area(self, renderer->width, renderer->height);
    pelt_result result = draw_passes(self);
    renderer->vk.cmd_end_rendering(self->commands);
    return result;
}

static void record_readback(pelt_render_picture *self)
{
    pelt_renderer *renderer = self->renderer;
    const pelt_render_transition to_copied = {
        .from_stage = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
        .from_access = VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
        .to_stage = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
        .to_access = VK_ACCESS_2_TRANSFER_READ_BIT,
        .from = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        .to = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
        .aspect = VK_IMAGE_ASPECT_COLOR_BIT,
    };
    pelt_render_transition_image(renderer, self->commands, renderer->resolved.image, &to_copied);
    const VkBufferImageCopy copy = {
        .imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 },
        .imageExtent = { renderer->width, renderer->height, 1 },
    };
    renderer->vk.cmd_copy_image_to_buffer(self->commands, renderer->resolved.image,
                                          VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                          renderer->readback.buffer, 1, &copy);
    const VkMemoryBarrier2 to_host = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
        .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT,
        .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT,
    };
    const VkDependencyInfo dependency = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .memoryBarrierCount = 1,
        .pMemoryBarriers = &to_host,
    };
    renderer->vk.cmd_pipeline_barrier2(self->commands, &dependency);
}

static void write_timestamp(pelt_render_picture *self, uint32_t index)
{
    pelt_renderer *renderer = self->renderer;
    if (!renderer->queries) {
        return;
    }
    if (index == 0) {
        renderer->vk.cmd_reset_query_pool(self->commands, renderer->queries, 0, 3);
    }
    renderer->vk.cmd_write_timestamp2(self->commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                      renderer->queries, index);
}

static uint64_t triangles_of(const pelt_renderer *renderer, uint32_t number)
{
    const pelt_render_mesh *mesh = &renderer->meshes[number];
    return mesh->topology == PELT_CLASS_TRIANGLES ? mesh->index_count / 3 : 0;
}

static void fill_report(const pelt_render_picture *self, pelt_render_report *report)
{
    const pelt_renderer *renderer = self->renderer;
    *report = (pelt_render_report){ .sky_count = self->sky_count, .draw_count = self->draw_count };
    for (uint32_t i = 0; i < self->scene->draw_count; i++) {
        report->triangle_count += triangles_of(renderer, self->scene->draws[i].mesh);
    }
    for (uint32_t i = 0; i < self->scene->crowd_count; i++) {
        const pelt_render_crowd *crowd = &self->scene->crowds[i];
        uint64_t seen = pelt_render_seen_count(self, i);
        report->seen_count += (uint32_t)seen;
        for (uint32_t p = 0; p < crowd->part_count; p++) {
            report->triangle_count += seen * triangles_of(renderer, crowd->parts[p].mesh);
        }
    }
    pelt_render_report_clusters(self, report);
    uint64_t ticks[3];
    if (renderer->queries &&
        renderer->vk.get_query_pool_results(renderer->device->vulkan.device, renderer->queries, 0,
                                            3, sizeof(ticks), ticks, sizeof(ticks[0]),
                                            VK_QUERY_RESULT_64_BIT) == VK_SUCCESS) {
        double milliseconds = (double)renderer->device->timestamp_period * 1e-6;
        report->shadow_time = (double)(ticks[1] - ticks[0]) * milliseconds;
        report->raster_time = (double)(ticks[2] - ticks[1]) * milliseconds;
    }
}

static pelt_result record(pelt_render_picture *self)
{
    pelt_renderer *renderer = self->renderer;
    pelt_render_record_crowds(self);
    write_timestamp(self, 0);
    renderer->vk.cmd_bind_descriptor_sets(self->commands, VK_PIPELINE_BIND_POINT_GRAPHICS,
                                          renderer->pipeline_layout, 0, 1, &renderer->frame_set, 0,
                                          NULL);
    pelt_result result = draw_shadows(self);
    write_timestamp(self, 1);
    if (result == PELT_OK) {
        result = draw_picture(self);
    }
    write_timestamp(self, 2);
    record_readback(self);
    return result;
}

pelt_result pelt_renderer_draw(pelt_renderer *renderer, const pelt_render_scene *scene,
                               uint8_t *rgba, pelt_render_report *report)
{
    pelt_render_picture *self = pelt_allocate(renderer->host, 1, sizeof(*self));
    if (!self) {
        return pelt_fail(renderer->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a picture");
    }
    self->renderer = renderer;
    self->scene = scene;
    pelt_result result = pelt_render_prepare(self);
    if (result == PELT_OK) {
        result = pelt_commands_begin(renderer->device, &self->commands);
    }
    if (result == PELT_OK) {
        /* A command buffer that failed half way is not submitted; the next begin resets it. */
        result = record(self);
    }
    if (result == PELT_OK) {
        result = pelt_commands_submit(renderer->device, self->commands);
    }
    if (result == PELT_OK) {
        memcpy(rgba, renderer->readback.mapped, (size_t)4 * renderer->width * renderer->height);
        if (report) {
            fill_report(self, report);
        }
    }
    pelt_render_release_picture(self);
    pelt_release(renderer->host, self);
    return result;
}
