/* What a mesh shader makes of clusters by pelt/cluster.glsl: the triangles of the index buffer,
 * each once, and the positions that the skin pass writes, bit for bit; however full clusters are,
 * however many lanes a workgroup has, wherever matrices are read from. */
#include "tests/cluster_fixture.h"
#include "tests/gpu_clusters.h"

#include "render/internal.h"

static const uint32_t code[] =
#include "cluster_emit.mesh.inc"
    ;

static const uint32_t lanes[] = { 16, 32, 64, 128 };
static const uint32_t shared_joints[] = { 0, 8, PELT_CLUSTER_JOINT_MAX };
enum { LANES = sizeof(lanes) / sizeof(lanes[0]) };
enum { SHARED = sizeof(shared_joints) / sizeof(shared_joints[0]) };

typedef struct constants {
    VkDeviceAddress instances, vertices, triangles;
} constants;

/* The shader's pipelines, for all tests, and a renderer for its entry points. */
typedef struct shader {
    pelt_renderer *renderer;
    VkPipelineLayout layout;
    VkPipeline pipelines[LANES][SHARED];
} shader;

static shader the_shader;

static VkPipeline make_pipeline(const shader *s, VkShaderModule module, uint32_t size,
                                uint32_t joints)
{
    const uint32_t values[] = { size, size, joints };
    const VkSpecializationMapEntry entries[] = { { 0, 0, 4 }, { 1, 4, 4 }, { 4, 8, 4 } };
    const VkSpecializationInfo specialised = { 3, entries, sizeof(values), values };
    const VkPipelineShaderStageCreateInfo mesh_stage = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = VK_SHADER_STAGE_MESH_BIT_EXT,
        .module = module,
        .pName = "main",
        .pSpecializationInfo = &specialised,
    };
    const VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
    };
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .rasterizerDiscardEnable = VK_TRUE,
        .lineWidth = 1.0f,
    };
    const VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = &rendering,
        .stageCount = 1,
        .pStages = &mesh_stage,
        .pRasterizationState = &raster,
        .layout = s->layout,
    };
    VkPipeline pipeline;
    assert_int_equal(s->renderer->vk.create_graphics_pipelines(
                         gpu_device()->vulkan.device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline),
                     VK_SUCCESS);
    return pipeline;
}

static shader *open_shader(void)
{
    shader *s = &the_shader;
    pelt_headless *device = gpu_device();
    if (!device->mesh_shader || !device->task_shader) {
        (void)printf("skipped: no mesh and task shaders\n");
        assert_false(gpu_flag("PELT_REQUIRE_GPU"));
        skip();
    }
    if (s->renderer) {
        return s;
    }
    const pelt_renderer_info info = { .width = 16, .height = 16 };
    assert_int_equal(pelt_renderer_create(&gpu_host, device, &info, &s->renderer), PELT_OK);
    const pelt_render_functions *vk = &s->renderer->vk;
    const VkPushConstantRange range = { VK_SHADER_STAGE_MESH_BIT_EXT, 0, sizeof(constants) };
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    assert_int_equal(vk->create_pipeline_layout(device->vulkan.device, &layout, NULL, &s->layout),
                     VK_SUCCESS);
    const VkShaderModuleCreateInfo module_info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = sizeof(code),
        .pCode = code,
    };
    VkShaderModule module;
    assert_int_equal(vk->create_shader_module(device->vulkan.device, &module_info, NULL, &module),
                     VK_SUCCESS);
    for (int l = 0; l < LANES; l++) {
        for (int j = 0; j < SHARED; j++) {
            s->pipelines[l][j] = make_pipeline(s, module, lanes[l], shared_joints[j]);
        }
    }
    vk->destroy_shader_module(device->vulkan.device, module, NULL);
    return s;
}

static int teardown(void **state)
{
    shader *s = &the_shader;
    if (s->renderer) {
        const pelt_render_functions *vk = &s->renderer->vk;
        VkDevice device = gpu_shared->vulkan.device;
        for (int i = 0; i < LANES * SHARED; i++) {
            vk->destroy_pipeline(device, (&s->pipelines[0][0])[i], NULL);
        }
        vk->destroy_pipeline_layout(device, s->layout, NULL);
        pelt_renderer_destroy(s->renderer);
    }
    return stage_teardown(state);
}

static void draw(const shader *s, VkPipeline pipeline, uint32_t cluster_count,
                 const constants *push)
{
    const pelt_render_functions *vk = &s->renderer->vk;
    const VkRenderingInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = { { 0, 0 }, { 16, 16 } },
        .layerCount = 1,
    };
    VkCommandBuffer commands;
    assert_int_equal(pelt_commands_begin(gpu_device(), &commands), PELT_OK);
    vk->cmd_begin_rendering(commands, &rendering);
    vk->cmd_bind_pipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vk->cmd_push_constants(commands, s->layout, VK_SHADER_STAGE_MESH_BIT_EXT, 0, sizeof(*push),
                           push);
    vk->cmd_draw_mesh_tasks(commands, cluster_count, 1, 1);
    vk->cmd_end_rendering(commands);
    assert_int_equal(pelt_commands_submit(gpu_device(), commands), PELT_OK);
}

/* Nothing but the cluster's own vertices was written, and they are where the skin pass puts them.
 */
static void check_vertices(const stage *st, const uint32_t (*emitted)[4])
{
    const stage_mesh *mesh = &st->meshes[0];
    for (uint32_t c = 0; c < mesh->clusters->cluster_count; c++) {
        const pelt_cluster *cluster = &mesh->clusters->clusters[c];
        const uint32_t(*own)[4] = emitted + (size_t)PELT_CLUSTER_VERTEX_MAX * c;
        for (uint32_t i = 0; i < cluster->vertex_count; i++) {
            uint32_t vertex = mesh->clusters->vertex_table[cluster->first_vertex + i];
            assert_int_equal(own[i][3], vertex);
            assert_memory_equal(own[i], (const pelt_packed_vertex *)st->all.mapped + vertex, 12);
        }
        assert_true(is_guard(own + cluster->vertex_count,
                             (PELT_CLUSTER_VERTEX_MAX - cluster->vertex_count) * sizeof(*own)));
    }
}

/* Corners as the primitive numbers them, of all clusters, are those of its index buffer. */
static void check_triangles(const stage *st, const pelt_primitive *primitive,
                            const uint32_t (*emitted)[4])
{
    const stage_mesh *mesh = &st->meshes[0];
    uint32_t total = primitive->index_count / 3, count = 0;
    uint32_t *corners = allocate(total, 3 * sizeof(*corners));
    uint32_t *expected = allocate(total, 3 * sizeof(*expected));
    for (uint32_t c = 0; c < mesh->clusters->cluster_count; c++) {
        uint32_t own = mesh->clusters->clusters[c].triangle_count;
        const uint32_t(*triangles)[4] = emitted + (size_t)PELT_CLUSTER_TRIANGLE_MAX * c;
        for (uint32_t i = 0; i < own; i++, count++) {
            assert_true(count < total);
            assert_int_equal(triangles[i][3], 1);
            for (int k = 0; k < 3; k++) {
                assert_true(triangles[i][k] < primitive->vertex_count);
                corners[3 * count + k] = mesh->packed->source_vertices[triangles[i][k]];
            }
        }
        assert_true(
            is_guard(triangles + own, (PELT_CLUSTER_TRIANGLE_MAX - own) * sizeof(*triangles)));
    }
    assert_int_equal(count, total);
    memcpy(expected, primitive->indices, total * 3 * sizeof(*expected));
    sort_triangles(corners, total);
    sort_triangles(expected, total);
    assert_memory_equal(corners, expected, total * 3 * sizeof(*corners));
    free(corners);
    free(expected);
}

static void emit(const shader *s, stage *st, const pelt_primitive *primitive)
{
    size_t clusters = st->meshes[0].clusters->cluster_count;
    pelt_buffer vertices, triangles;
    stage_buffer(st, clusters * PELT_CLUSTER_VERTEX_MAX * 16, 0, &vertices);
    stage_buffer(st, clusters * PELT_CLUSTER_TRIANGLE_MAX * 16, 0, &triangles);
    const constants push = { st->instance_list, vertices.address, triangles.address };
    for (int l = 0; l < LANES; l++) {
        for (int j = 0; j < SHARED; j++) {
            memset(vertices.mapped, SCENE_GUARD, vertices.size);
            memset(triangles.mapped, SCENE_GUARD, triangles.size);
            draw(s, s->pipelines[l][j], (uint32_t)clusters, &push);
            check_vertices(st, vertices.mapped);
            check_triangles(st, primitive, triangles.mapped);
        }
    }
    pelt_buffer_destroy(st->device, &vertices);
    pelt_buffer_destroy(st->device, &triangles);
}

/* A grid of so many triangles, its vertices moved by so many joints in any way. */
static void emit_grid(uint32_t triangle_count, uint32_t width, uint32_t slots, uint32_t joint_count)
{
    const shader *s = open_shader();
    uint64_t seed = triangle_count;
    pelt_primitive primitive = make_grid(width, triangle_count, slots);
    random_influences(&primitive, slots, joint_count, seed);
    pelt_packed_mesh *packed = pack(&primitive);
    float *matrices = allocate(joint_count, 12 * sizeof(*matrices));
    for (size_t i = 0; i < 12 * (size_t)joint_count; i++) {
        matrices[i] = (float)uniform(&seed, -2, 2);
    }
    pelt_clusters *clusters;
    const pelt_clusters_info info = { .mesh = packed, .primitive = &primitive };
    assert_int_equal(pelt_clusters_create(&gpu_host, &info, &clusters), PELT_OK);
    const stage_mesh mesh = { .packed = packed, .clusters = clusters };
    const stage_instance instance = { .matrices = matrices };
    stage st = { .device = gpu_device(),
                 .meshes = &mesh,
                 .mesh_count = 1,
                 .instances = &instance,
                 .instance_count = 1 };
    stage_open(&st, 0);
    emit(s, &st, &primitive);
    stage_close(&st);
    pelt_clusters_destroy(clusters);
    free(matrices);
    pelt_packed_mesh_destroy(packed);
    free_surface(&primitive);
}

static void emits_partial_clusters(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 1, 2, 62, 63, 64, 65, 125, 126, 127 };
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        emit_grid(counts[i], 8, 4, 5);
    }
}

/* Of up to 8 influences, and joints that take 16 bits. */
static void emits_many_influences(void **state)
{
    (void)state;
    emit_grid(700, 20, 4, 30);
    emit_grid(700, 20, 8, 30);
    emit_grid(700, 20, 8, 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(emits_partial_clusters),
        cmocka_unit_test(emits_many_influences),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, teardown));
}
