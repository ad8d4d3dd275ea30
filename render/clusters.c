/* Instances that mesh shaders draw by clusters: views to cull by, calls within the device's limits,
 * and what the task shaders counted. */
#include "render/picture.h"

#include <math.h>
#include <string.h>

_Static_assert((int)PELT_COLORS_OF_MATERIAL == (int)PELT_DEBUG_NONE &&
                   (int)PELT_COLORS_OF_CLUSTERS == (int)PELT_DEBUG_MESHLETS &&
                   (int)PELT_COLORS_OF_LODS == (int)PELT_DEBUG_LOD &&
                   (int)PELT_COLORS_OF_CULLED == (int)PELT_DEBUG_CULLED,
               "shaders are told by number");
_Static_assert(PELT_COUNT_WORDS == PELT_COUNT_LODS + PELT_LOD_MAX, "each has a place");

enum { LANES = 32, MOST_LANES = 128 };

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

pelt_result pelt_render_choose_clusters(pelt_renderer *renderer, const pelt_renderer_info *info)
{
    renderer->vertex_stages = VK_SHADER_STAGE_VERTEX_BIT;
    pelt_headless *device = renderer->device;
    PFN_vkGetPhysicalDeviceProperties2 get_properties =
        (PFN_vkGetPhysicalDeviceProperties2)device->vulkan.get_instance_proc_addr(
            device->vulkan.instance, "vkGetPhysicalDeviceProperties2");
    if (!renderer->vk.cmd_draw_mesh_tasks || !get_properties) {
        return PELT_OK;
    }
    renderer->vertex_stages |= VK_SHADER_STAGE_TASK_BIT_EXT | VK_SHADER_STAGE_MESH_BIT_EXT;
    VkPhysicalDeviceMeshShaderPropertiesEXT mesh = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_PROPERTIES_EXT,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &mesh,
    };
    get_properties(device->vulkan.physical_device, &properties);
    uint32_t limit = info->group_limit ? info->group_limit : UINT32_MAX;
    renderer->task_limit[0] = smaller(mesh.maxTaskWorkGroupCount[0], limit);
    renderer->task_limit[1] = smaller(mesh.maxTaskWorkGroupCount[1], limit);
    renderer->task_total = mesh.maxTaskWorkGroupTotalCount;
    renderer->cluster_lanes = info->cluster_lanes ? info->cluster_lanes : LANES;
    renderer->shared_joints = info->shared_joints;
    if (renderer->cluster_lanes > MOST_LANES || info->shared_joints > PELT_CLUSTER_JOINT_MAX) {
        return pelt_fail(renderer->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "mesh shaders of %u lanes that share %u joints; %u and %u are the most",
                         renderer->cluster_lanes, info->shared_joints, MOST_LANES,
                         PELT_CLUSTER_JOINT_MAX);
    }
    return PELT_OK;
}

static const char *wrong_with(const pelt_renderer *renderer, const pelt_render_clusters *clusters)
{
    return clusters->mesh >= renderer->mesh_count           ? "a mesh not added"
           : clusters->material >= renderer->material_count ? "a material not added"
           : renderer->meshes[clusters->mesh].topology != PELT_CLASS_TRIANGLES
               ? "points or lines, which have no clusters"
           : clusters->instance_count == 0 || !clusters->boxes ? "no instances"
           : clusters->instances == 0 || clusters->instances % 16 != 0
               ? "instances that are not 16-byte aligned"
               : NULL;
}

pelt_result pelt_render_check_clusters(const pelt_renderer *renderer,
                                       const pelt_render_scene *scene)
{
    if (scene->clusters_count > 0 && !renderer->vk.cmd_draw_mesh_tasks) {
        return pelt_fail(renderer->host, PELT_ERROR_DEVICE, NULL, NULL,
                         "%s lacks mesh and task shaders (VK_EXT_mesh_shader)",
                         renderer->device->properties.deviceName);
    }
    for (uint32_t i = 0; i < scene->clusters_count; i++) {
        const char *wrong = wrong_with(renderer, &scene->clusters[i]);
        if (wrong) {
            return pelt_fail(renderer->host, PELT_ERROR_ARGUMENT, NULL, NULL, "clusters %u have %s",
                             i, wrong);
        }
    }
    return PELT_OK;
}

/* What a camera sees; all of the same levels for the lights. */
static pelt_result write_views(const pelt_render_picture *self)
{
    const pelt_render_scene *scene = self->scene;
    const struct pelt_frame *frame = &self->culling;
    mat4 clip;
    pelt_render_scene_view(frame, clip);
    double rows = 0.0; /* length of the camera's second row: 1 / tan of half the view's angle */
    pelt_cluster_view view = {
        .clip = clip[0],
        .most_error = scene->most_error > 0.0f ? (double)scene->most_error : 1.0,
        .lod = scene->lod,
        .cull = !scene->keep_all_clusters,
    };
    for (int k = 0; k < 3; k++) {
        rows += (double)frame->camera[k][1] * (double)frame->camera[k][1];
        view.eye[k] = (double)frame->eye[k] / (double)frame->origin[3] + (double)frame->origin[k];
    }
    view.pixels = sqrt(rows) * self->renderer->height / 2.0;
    const pelt_host *host = self->renderer->host;
    char *views = self->cluster_views.mapped;
    pelt_result result = pelt_cluster_view_write(host, &view, views);
    if (result == PELT_OK) {
        view.cull = false;
        result = pelt_cluster_view_write(host, &view, views + PELT_CLUSTER_VIEW_SIZE);
    }
    return result;
}

pelt_result pelt_render_prepare_clusters(pelt_render_picture *self)
{
    if (self->scene->clusters_count == 0) {
        return PELT_OK;
    }
    pelt_headless *device = self->renderer->device;
    const VkDeviceSize counts = PELT_COUNT_WORDS * sizeof(uint32_t);
    pelt_result result =
        pelt_buffer_create(device, counts, 0, PELT_MEMORY_READBACK, &self->cluster_counts);
    if (result == PELT_OK) {
        memset(self->cluster_counts.mapped, 0, counts);
        result = pelt_buffer_create(device, (VkDeviceSize)2 * PELT_CLUSTER_VIEW_SIZE, 0,
                                    PELT_MEMORY_UPLOAD, &self->cluster_views);
    }
    return result == PELT_OK ? write_views(self) : result;
}

void pelt_render_release_clusters(pelt_render_picture *self)
{
    pelt_buffer_destroy(self->renderer->device, &self->cluster_views);
    pelt_buffer_destroy(self->renderer->device, &self->cluster_counts);
}

void pelt_render_draw_clusters(pelt_render_picture *self, const pelt_render_clusters *clusters,
                               uint32_t first, uint32_t count, pelt_draw_constants *constants)
{
    const pelt_renderer *renderer = self->renderer;
    uint32_t groups = clusters->cluster_count / PELT_TASK_CLUSTERS +
                      (clusters->cluster_count % PELT_TASK_CLUSTERS != 0);
    for (uint32_t group = 0, width; group < groups; group += width) {
        width = smaller(groups - group, smaller(renderer->task_limit[0], renderer->task_total));
        uint32_t most = smaller(renderer->task_limit[1], renderer->task_total / width);
        for (uint32_t done = 0, height; done < count; done += height) {
            height = smaller(count - done, most);
            constants->first_group = group;
            constants->instances =
                clusters->instances + (VkDeviceSize)(first + done) * PELT_CLUSTER_INSTANCE_SIZE;
            pelt_render_push(self, constants);
            renderer->vk.cmd_draw_mesh_tasks(self->commands, width, height, 1);
            self->draw_count += constants->cluster_counts != 0;
        }
    }
}

static uint64_t long_count(const uint32_t *counts, int index)
{
    return counts[index] | (uint64_t)counts[index + 1] << 32;
}

void pelt_render_report_clusters(const pelt_render_picture *self, pelt_render_report *report)
{
    const uint32_t *counts = self->cluster_counts.mapped;
    if (!counts) {
        return;
    }
    report->cluster_count = long_count(counts, PELT_COUNT_CLUSTERS);
    report->drawn_cluster_count = long_count(counts, PELT_COUNT_DRAWN);
    report->triangle_count += long_count(counts, PELT_COUNT_TRIANGLES);
    report->seen_instance_count = counts[PELT_COUNT_SEEN];
    memcpy(report->lod_counts, counts + PELT_COUNT_LODS, sizeof(report->lod_counts));
}
