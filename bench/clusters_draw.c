/* Drawing the cluster bench's crowd: from skinned vertices, and by mesh shaders. */
#include "bench/clusters_internal.h"

#include <string.h>

static const uint32_t draw_task[] =
#include "clusters_draw.task.inc"
    ;
static const uint32_t draw_mesh[] =
#include "clusters_draw.mesh.inc"
    ;
static const uint32_t draw_vert[] =
#include "clusters_draw.vert.inc"
    ;
static const uint32_t draw_frag[] =
#include "clusters_draw.frag.inc"
    ;

enum {
    TASK_CLUSTERS = 32,
    MESH_LANES = 32,
    SHARED_JOINTS = 64,
    ROWS_MAX = 65535,
    CONSTANTS_SIZE = 24,
    STAGES_MAX = 3
};

/* Push constants: of mesh shaders, and of the vertex shader. */
typedef struct mesh_constants {
    VkDeviceAddress instances, view;
    uint32_t first_instance, triangles;
} mesh_constants;

typedef struct vertex_constants {
    VkDeviceAddress vertices, view;
    uint32_t vertex_count, padding;
} vertex_constants;

_Static_assert(sizeof(mesh_constants) == CONSTANTS_SIZE, "as the layout has it");
_Static_assert(sizeof(vertex_constants) == CONSTANTS_SIZE, "as the layout has it");

static const pelt_entry_point entry_points[] = {
    { "vkCmdBindIndexBuffer", offsetof(pelt_bench_clusters_functions, cmd_bind_index_buffer) },
    { "vkCmdDrawIndexed", offsetof(pelt_bench_clusters_functions, cmd_draw_indexed) },
    { "vkCmdDrawIndexedIndirectCount",
      offsetof(pelt_bench_clusters_functions, cmd_draw_indexed_indirect_count) },
};
static const pelt_entry_point mesh_entry_point[] = {
    { "vkCmdDrawMeshTasksEXT", offsetof(pelt_bench_clusters_functions, cmd_draw_mesh_tasks) },
};

bool pelt_bench_clusters_has(const pelt_bench_clusters_data *data, int stage)
{
    return stage < PELT_BENCH_STAGE_DRAW  ? true
           : stage < PELT_BENCH_STAGE_ALL ? data->draw.drawable
                                          : data->draw.drawable && data->draw.meshes;
}

/* -- what it takes ------------------------------------------------------------------------- */

static pelt_result upload_indices(pelt_bench_clusters_data *data)
{
    const pelt_host *host = data->bench->host;
    size_t local = 0, all = 0;
    for (uint32_t p = 0; p < data->part_count; p++) {
        local += 3 * (size_t)data->parts[p].clusters->triangle_count;
        all += 3 * (size_t)data->parts[p].clusters->lods[0].triangle_count;
    }
    uint16_t *corners = pelt_allocate(host, local + 1, sizeof(*corners));
    uint32_t *indices = pelt_allocate(host, all, sizeof(*indices));
    pelt_result result = corners && indices ? PELT_OK : PELT_ERROR_MEMORY;
    size_t count = 0;
    for (uint32_t p = 0; result == PELT_OK && p < data->part_count; p++) {
        pelt_bench_clusters_part *part = &data->parts[p];
        const pelt_clusters *clusters = part->clusters;
        pelt_gpu_clusters_indices(clusters, corners + part->gpu.first_index);
        part->first_index = (uint32_t)count;
        for (uint32_t c = 0; c < clusters->lods[0].cluster_count; c++) {
            const pelt_cluster *cluster = &clusters->clusters[c];
            for (uint32_t t = 0; t < cluster->triangle_count; t++) {
                uint32_t word = clusters->triangles[cluster->first_triangle + t];
                for (int k = 0; k < 3; k++) {
                    indices[count++] =
                        clusters->vertex_table[cluster->first_vertex + (word >> 8 * k & 255)];
                }
            }
        }
    }
    if (result == PELT_OK) {
        /* Whole words are uploaded. */
        result = pelt_bench_clusters_upload(data, corners, (local + 1) / 2 * 4,
                                            VK_BUFFER_USAGE_INDEX_BUFFER_BIT, &data->draw.corners);
    }
    if (result == PELT_OK) {
        result = pelt_bench_clusters_upload(data, indices, all * sizeof(*indices),
                                            VK_BUFFER_USAGE_INDEX_BUFFER_BIT, &data->draw.indices);
    }
    pelt_release(host, corners);
    pelt_release(host, indices);
    return result;
}

static pelt_result create_layout(pelt_bench_clusters_data *data)
{
    data->draw.stages = VK_SHADER_STAGE_VERTEX_BIT;
    if (data->draw.meshes) {
        data->draw.stages |= VK_SHADER_STAGE_TASK_BIT_EXT | VK_SHADER_STAGE_MESH_BIT_EXT;
    }
    const VkPushConstantRange range = { data->draw.stages, 0, CONSTANTS_SIZE };
    const VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    return pelt_bench_check_status(
        data->bench,
        data->bench->vk.create_pipeline_layout(data->bench->device->vulkan.device, &info, NULL,
                                               &data->draw.layout),
        "vkCreatePipelineLayout");
}

typedef struct shader {
    VkShaderStageFlagBits stage;
    const uint32_t *code;
    size_t size;
} shader;

static pelt_result create_pipeline(pelt_bench_clusters_data *data, const shader *shaders,
                                   uint32_t count, const VkSpecializationInfo *values,
                                   VkPipeline *out)
{
    VkDevice device = data->bench->device->vulkan.device;
    VkPipelineShaderStageCreateInfo stages[STAGES_MAX] = { 0 };
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < count; i++) {
        const VkShaderModuleCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
            .codeSize = shaders[i].size,
            .pCode = shaders[i].code,
        };
        stages[i] = (VkPipelineShaderStageCreateInfo){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = shaders[i].stage,
            .pName = "main",
            .pSpecializationInfo = values,
        };
        result = pelt_bench_check_status(
            data->bench,
            data->bench->vk.create_shader_module(device, &info, NULL, &stages[i].module),
            "vkCreateShaderModule");
    }
    if (result == PELT_OK) {
        result =
            pelt_bench_target_pipeline(&data->draw.target, data->draw.layout, stages, count, out);
    }
    for (uint32_t i = 0; i < count; i++) {
        data->bench->vk.destroy_shader_module(device, stages[i].module, NULL);
    }
    return result;
}

static pelt_result create_pipelines(pelt_bench_clusters_data *data)
{
    const shader vertices[] = {
        { VK_SHADER_STAGE_VERTEX_BIT, draw_vert, sizeof(draw_vert) },
        { VK_SHADER_STAGE_FRAGMENT_BIT, draw_frag, sizeof(draw_frag) },
    };
    const shader meshes[] = {
        { VK_SHADER_STAGE_TASK_BIT_EXT, draw_task, sizeof(draw_task) },
        { VK_SHADER_STAGE_MESH_BIT_EXT, draw_mesh, sizeof(draw_mesh) },
        { VK_SHADER_STAGE_FRAGMENT_BIT, draw_frag, sizeof(draw_frag) },
    };
    pelt_result result = create_pipeline(data, vertices, 2, NULL, &data->draw.of_vertices);
    for (int shared = 0; shared < 2 && result == PELT_OK && data->draw.meshes; shared++) {
        const uint32_t values[] = { MESH_LANES, shared ? SHARED_JOINTS : 0 };
        const VkSpecializationMapEntry entries[] = { { 0, 0, 4 }, { 1, 0, 4 }, { 4, 4, 4 } };
        const VkSpecializationInfo specialisation = { 3, entries, sizeof(values), values };
        result = create_pipeline(data, meshes, 3, &specialisation, &data->draw.of_meshes[shared]);
    }
    return result;
}

pelt_result pelt_bench_clusters_draw_create(pelt_bench_clusters_data *data)
{
    pelt_headless *device = data->bench->device;
    pelt_bench_clusters_draw *draw = &data->draw;
    draw->drawable = pelt_bench_can_draw(device);
    draw->meshes = device->mesh_shader && device->task_shader;
    if (!draw->drawable) {
        return PELT_OK;
    }
    pelt_result result = pelt_load_entry_points(
        data->bench->host, device->get_device_proc_addr, device->vulkan.device, entry_points,
        sizeof(entry_points) / sizeof(entry_points[0]), &draw->vk);
    if (result == PELT_OK && draw->meshes) {
        result = pelt_load_entry_points(data->bench->host, device->get_device_proc_addr,
                                        device->vulkan.device, mesh_entry_point, 1, &draw->vk);
    }
    if (result == PELT_OK) {
        result = pelt_bench_target_create(data->bench, data->settings->width,
                                          data->settings->height, &draw->target);
    }
    static pelt_result (*const steps[])(
        pelt_bench_clusters_data *) = { upload_indices, create_layout, create_pipelines };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && result == PELT_OK; i++) {
        result = steps[i](data);
    }
    return result;
}

void pelt_bench_clusters_draw_destroy(pelt_bench_clusters_data *data)
{
    VkDevice device = data->bench->device->vulkan.device;
    pelt_bench_clusters_draw *draw = &data->draw;
    data->bench->vk.destroy_pipeline(device, draw->of_vertices, NULL);
    data->bench->vk.destroy_pipeline(device, draw->of_meshes[0], NULL);
    data->bench->vk.destroy_pipeline(device, draw->of_meshes[1], NULL);
    data->bench->vk.destroy_pipeline_layout(device, draw->layout, NULL);
    pelt_bench_target_destroy(&draw->target);
    pelt_buffer_destroy(data->bench->device, &draw->indices);
    pelt_buffer_destroy(data->bench->device, &draw->corners);
}

/* -- drawing ------------------------------------------------------------------------------- */

static void push(const pelt_bench_clusters_data *data, VkCommandBuffer commands,
                 const void *constants)
{
    data->bench->vk.cmd_push_constants(commands, data->draw.layout, data->draw.stages, 0,
                                       CONSTANTS_SIZE, constants);
}

/* Everyone's vertices, as the skin pass wrote them: a call for each part. */
static void draw_everyone(const pelt_bench_clusters_data *data, VkCommandBuffer commands)
{
    data->draw.vk.cmd_bind_index_buffer(commands, data->draw.indices.buffer, 0,
                                        VK_INDEX_TYPE_UINT32);
    for (uint32_t p = 0; p < data->part_count; p++) {
        const pelt_bench_clusters_part *part = &data->parts[p];
        const vertex_constants constants = {
            .vertices = data->animated.address + part->first_vertex * sizeof(pelt_packed_vertex),
            .view = data->view.address,
            .vertex_count = part->packed->vertex_count,
        };
        push(data, commands, &constants);
        data->draw.vk.cmd_draw_indexed(commands, 3 * part->clusters->lods[0].triangle_count,
                                       data->settings->instances, part->first_index, 0, 0);
    }
}

/* What the cluster skin pass wrote: a draw for each cluster that is listed, in one call. */
static void draw_listed(const pelt_bench_clusters_data *data, VkCommandBuffer commands)
{
    const vertex_constants constants = { .vertices = data->vertices.address,
                                         .view = data->view.address };
    push(data, commands, &constants);
    data->draw.vk.cmd_bind_index_buffer(commands, data->draw.corners.buffer, 0,
                                        VK_INDEX_TYPE_UINT16);
    data->draw.vk.cmd_draw_indexed_indirect_count(
        commands, data->draws.buffer, 0, data->counts.buffer, offsetof(pelt_cluster_counts, listed),
        data->capacity, sizeof(VkDrawIndexedIndirectCommand));
}

/* Task shaders for every 32 clusters that an instance can have. */
static void draw_meshes(const pelt_bench_clusters_data *data, const pelt_buffer *view,
                        uint32_t triangles, VkCommandBuffer commands)
{
    uint32_t most = 1;
    for (uint32_t p = 0; p < data->part_count; p++) {
        uint32_t clusters = data->parts[p].gpu.most_clusters;
        most = clusters > most ? clusters : most;
    }
    uint32_t count = data->settings->instances * data->part_count;
    for (uint32_t first = 0; first < count; first += ROWS_MAX) {
        const mesh_constants constants = { .instances = data->instances.address,
                                           .view = view->address,
                                           .first_instance = first,
                                           .triangles = triangles };
        push(data, commands, &constants);
        data->draw.vk.cmd_draw_mesh_tasks(commands, most / TASK_CLUSTERS + 1,
                                          count - first < ROWS_MAX ? count - first : ROWS_MAX, 1);
    }
}

void pelt_bench_clusters_draw_record(const pelt_bench_clusters_data *data,
                                     pelt_bench_cluster_stage stage, VkCommandBuffer commands)
{
    const pelt_bench_clusters_draw *draw = &data->draw;
    bool meshes = stage >= PELT_BENCH_STAGE_ALL;
    pelt_bench_target_begin(&draw->target, true, commands);
    data->bench->vk.cmd_bind_pipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS,
                                      meshes ? draw->of_meshes[stage == PELT_BENCH_STAGE_SHARED]
                                             : draw->of_vertices);
    switch (stage) {
    case PELT_BENCH_STAGE_DRAW:
        draw_everyone(data, commands);
        break;
    case PELT_BENCH_STAGE_LISTED:
        draw_listed(data, commands);
        break;
    case PELT_BENCH_STAGE_ALL:
        draw_meshes(data, &data->view_of_all, PELT_CLUSTER_TRIANGLE_MAX, commands);
        break;
    case PELT_BENCH_STAGE_BARE:
        draw_meshes(data, &data->view, 0, commands);
        break;
    default:
        draw_meshes(data, &data->view, PELT_CLUSTER_TRIANGLE_MAX, commands);
        break;
    }
    pelt_bench_target_end(&draw->target, commands);
}
