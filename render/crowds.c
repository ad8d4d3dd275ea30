/* Who of a crowd is seen, and the draws that show it. */
#include "render/picture.h"

static pelt_result check_part(const pelt_renderer *renderer, const pelt_render_part *part,
                              uint32_t crowd, uint32_t number)
{
    const char *wrong = part->mesh >= renderer->mesh_count           ? "a mesh not added"
                        : part->material >= renderer->material_count ? "a material not added"
                        : part->packed_mesh == 0                     ? "no packed mesh"
                        : part->packed_mesh % 16 != 0 ? "a packed mesh that is not 16-byte aligned"
                                                      : NULL;
    return wrong ? pelt_fail(renderer->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                             "part %u of crowd %u has %s", number, crowd, wrong)
                 : PELT_OK;
}

static bool is_of_matrices(const pelt_renderer *renderer, const pelt_render_crowd *crowd)
{
    return renderer->palettes[crowd->palette].constants.layout_kind != PELT_BAKE_DUAL_QUATERNION;
}

pelt_result pelt_render_check_crowds(const pelt_renderer *renderer, const pelt_render_scene *scene)
{
    for (uint32_t i = 0; i < scene->crowd_count; i++) {
        const pelt_render_crowd *crowd = &scene->crowds[i];
        const char *wrong =
            crowd->palette >= renderer->palette_count ? "a palette not added"
            : crowd->member_count == 0 || crowd->member_count > PELT_CROWD_MEMBERS_MAX
                ? "no members, or too many"
            : crowd->members == 0 || crowd->members % 16 != 0
                ? "members that are not 16-byte aligned"
            : is_of_matrices(renderer, crowd) && crowd->interpolation == PELT_BAKE_BLEND
                ? "matrices, which cannot be blended"
            : is_of_matrices(renderer, crowd) && crowd->skinning == PELT_BAKE_DUAL
                ? "matrices, of which nothing is skinned by dual quaternions"
                : NULL;
        if (wrong) {
            return pelt_fail(renderer->host, PELT_ERROR_ARGUMENT, NULL, NULL, "crowd %u has %s", i,
                             wrong);
        }
        for (uint32_t p = 0; p < crowd->part_count; p++) {
            pelt_result result = check_part(renderer, &crowd->parts[p], i, p);
            if (result != PELT_OK) {
                return result;
            }
        }
    }
    return PELT_OK;
}

static pelt_result prepare_crowd(const pelt_render_picture *self, const pelt_render_crowd *crowd,
                                 pelt_render_drawn_crowd *drawn)
{
    pelt_headless *device = self->renderer->device;
    size_t instances = (size_t)crowd->member_count * PELT_CROWD_INSTANCE_SIZE;
    size_t draws = (size_t)2 * crowd->part_count * sizeof(VkDrawIndexedIndirectCommand);
    pelt_result result =
        pelt_buffer_create(device, instances, 0, PELT_MEMORY_DEVICE, &drawn->instances);
    if (result == PELT_OK) {
        result =
            pelt_buffer_create(device, instances, 0, PELT_MEMORY_DEVICE, &drawn->all_instances);
    }
    if (result == PELT_OK) {
        result = pelt_buffer_create(device, 2 * pelt_crowd_scratch_size(crowd->member_count), 0,
                                    PELT_MEMORY_DEVICE, &drawn->scratch);
    }
    if (result == PELT_OK) {
        result = pelt_buffer_create(device, draws, VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT,
                                    PELT_MEMORY_UPLOAD, &drawn->draws);
    }
    VkDrawIndexedIndirectCommand *commands = drawn->draws.mapped;
    for (uint32_t p = 0; result == PELT_OK && p < 2 * crowd->part_count; p++) {
        const pelt_render_part *part = &crowd->parts[p % crowd->part_count];
        commands[p] = (VkDrawIndexedIndirectCommand){
            .indexCount = self->renderer->meshes[part->mesh].index_count,
        };
    }
    return result;
}

pelt_result pelt_render_prepare_crowds(pelt_render_picture *self)
{
    const pelt_render_scene *scene = self->scene;
    pelt_result result = PELT_OK;
    self->crowds = pelt_allocate(self->renderer->host, scene->crowd_count, sizeof(*self->crowds));
    if (!self->crowds) {
        return pelt_fail(self->renderer->host, PELT_ERROR_MEMORY, NULL, NULL,
                         "no memory for %u crowds", scene->crowd_count);
    }
    for (uint32_t i = 0; i < scene->crowd_count && result == PELT_OK; i++) {
        result = prepare_crowd(self, &scene->crowds[i], &self->crowds[i]);
    }
    return result;
}

void pelt_render_release_crowds(pelt_render_picture *self)
{
    pelt_headless *device = self->renderer->device;
    for (uint32_t i = 0; self->crowds && i < self->scene->crowd_count; i++) {
        pelt_buffer_destroy(device, &self->crowds[i].draws);
        pelt_buffer_destroy(device, &self->crowds[i].scratch);
        pelt_buffer_destroy(device, &self->crowds[i].all_instances);
        pelt_buffer_destroy(device, &self->crowds[i].instances);
    }
    pelt_release(self->renderer->host, self->crowds);
}

static void record_crowd(const pelt_render_picture *self, uint32_t number, const float *view)
{
    const pelt_render_crowd *crowd = &self->scene->crowds[number];
    const pelt_render_drawn_crowd *drawn = &self->crowds[number];
    const pelt_renderer *renderer = self->renderer;
    pelt_crowd_frame frame = {
        .data = renderer->palettes[crowd->palette].data.address,
        .members = crowd->members,
        .member_count = crowd->member_count,
        .instances = drawn->instances.address,
        .scratch = drawn->scratch.address,
        .draws = drawn->draws.address,
        .draw_count = crowd->part_count,
        .now = crowd->now,
        .view = crowd->keep_all ? NULL : view,
        .interpolation = crowd->interpolation,
        .skinning = crowd->skinning,
    };
    pelt_cmd_crowd(renderer->crowd_pass, self->commands, &frame);
    frame.instances = drawn->all_instances.address;
    frame.scratch += pelt_crowd_scratch_size(crowd->member_count);
    frame.draws += crowd->part_count * sizeof(VkDrawIndexedIndirectCommand);
    frame.view = NULL;
    pelt_cmd_crowd(renderer->crowd_pass, self->commands, &frame);
}

void pelt_render_record_crowds(pelt_render_picture *self)
{
    mat4 view;
    pelt_render_scene_view(&self->frame, view);
    for (uint32_t i = 0; i < self->scene->crowd_count; i++) {
        record_crowd(self, i, view[0]);
    }
    const VkMemoryBarrier2 to_draws = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
        .srcAccessMask = VK_ACCESS_2_SHADER_WRITE_BIT,
        .dstStageMask =
            VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT | VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT,
        .dstAccessMask = VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT | VK_ACCESS_2_SHADER_READ_BIT,
    };
    const VkDependencyInfo dependency = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .memoryBarrierCount = 1,
        .pMemoryBarriers = &to_draws,
    };
    if (self->scene->crowd_count > 0) {
        self->renderer->vk.cmd_pipeline_barrier2(self->commands, &dependency);
    }
}

uint32_t pelt_render_seen_count(const pelt_render_picture *self, uint32_t crowd)
{
    const VkDrawIndexedIndirectCommand *draws = self->crowds[crowd].draws.mapped;
    return self->scene->crowds[crowd].part_count ? draws[0].instanceCount : 0;
}
