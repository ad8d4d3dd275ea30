/* pelt/crowd.glsl against the reference in double precision: positions, normals and tangents, for
 * every kind of palette, any number of influences, and wide joints. */
#include "tests/gpu.h"

#include "anim/anim.h"
#include "pelt/crowd_layout.h"
#include "render/internal.h"
#include "sample/sample.h"

#include <math.h>

static const uint32_t code[] =
#include "crowd_vertex.comp.inc"
    ;

enum { COUNT = 3 };

/* Push constants. */
typedef struct constants {
    VkDeviceAddress mesh, instances, result;
    uint32_t count, layout_kind, interpolation, texels_per_joint, joints_per_layer, skinning;
} constants;

typedef struct functions {
    PFN_vkCreateComputePipelines create_compute_pipelines;
    PFN_vkCmdDispatch cmd_dispatch;
} functions;

/* The shader, and a renderer for its images and entry points. */
typedef struct shader {
    pelt_renderer *renderer;
    functions vk;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
} shader;

/* For all tests: compiling it takes longer than they do. */
static shader the_shader;

static shader open_shader(void)
{
    shader s = { 0 };
    pelt_headless *device = gpu_device();
    const pelt_renderer_info info = { .width = 16, .height = 16 };
    assert_int_equal(pelt_renderer_create(&gpu_host, device, &info, &s.renderer), PELT_OK);
    s.vk.create_compute_pipelines = (PFN_vkCreateComputePipelines)device->get_device_proc_addr(
        device->vulkan.device, "vkCreateComputePipelines");
    s.vk.cmd_dispatch =
        (PFN_vkCmdDispatch)device->get_device_proc_addr(device->vulkan.device, "vkCmdDispatch");
    const pelt_render_functions *vk = &s.renderer->vk;
    const VkDescriptorSetLayoutBinding binding = { 0, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1,
                                                   VK_SHADER_STAGE_COMPUTE_BIT, NULL };
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding,
    };
    assert_int_equal(
        vk->create_descriptor_set_layout(device->vulkan.device, &set, NULL, &s.set_layout),
        VK_SUCCESS);
    const VkPushConstantRange range = { VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(constants) };
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &s.set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    assert_int_equal(vk->create_pipeline_layout(device->vulkan.device, &layout, NULL, &s.layout),
                     VK_SUCCESS);
    const VkShaderModuleCreateInfo module = { .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                              .codeSize = sizeof(code),
                                              .pCode = code };
    VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                   .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                   .pName = "main" },
        .layout = s.layout,
    };
    assert_int_equal(
        vk->create_shader_module(device->vulkan.device, &module, NULL, &pipeline.stage.module),
        VK_SUCCESS);
    assert_int_equal(s.vk.create_compute_pipelines(device->vulkan.device, VK_NULL_HANDLE, 1,
                                                   &pipeline, NULL, &s.pipeline),
                     VK_SUCCESS);
    vk->destroy_shader_module(device->vulkan.device, pipeline.stage.module, NULL);
    return s;
}

static void close_shader(shader *s)
{
    const pelt_render_functions *vk = &s->renderer->vk;
    VkDevice device = gpu_device()->vulkan.device;
    vk->destroy_pipeline(device, s->pipeline, NULL);
    vk->destroy_pipeline_layout(device, s->layout, NULL);
    vk->destroy_descriptor_set_layout(device, s->set_layout, NULL);
    pelt_renderer_destroy(s->renderer);
}

static void *make_buffer(size_t size, pelt_buffer *out)
{
    assert_int_equal(pelt_buffer_create(gpu_device(), size, 0, PELT_MEMORY_UPLOAD, out), PELT_OK);
    return out->mapped;
}

static void dispatch(const shader *s, uint32_t palette, const constants *push)
{
    const pelt_render_functions *vk = &s->renderer->vk;
    VkDevice device = gpu_device()->vulkan.device;
    const VkDescriptorPoolSize size = { VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1 };
    const VkDescriptorPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    VkDescriptorPool pool;
    VkDescriptorSet set;
    VkCommandBuffer commands;
    assert_int_equal(vk->create_descriptor_pool(device, &pool_info, NULL, &pool), VK_SUCCESS);
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &s->set_layout,
    };
    assert_int_equal(vk->allocate_descriptor_sets(device, &allocate, &set), VK_SUCCESS);
    const VkDescriptorImageInfo image = {
        .imageView = s->renderer->palettes[palette].image.view,
        .imageLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
    };
    const VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = set,
        .descriptorCount = 1,
        .descriptorType = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
        .pImageInfo = &image,
    };
    vk->update_descriptor_sets(device, 1, &write, 0, NULL);
    assert_int_equal(pelt_commands_begin(gpu_device(), &commands), PELT_OK);
    vk->cmd_bind_pipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, s->pipeline);
    vk->cmd_bind_descriptor_sets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, s->layout, 0, 1, &set, 0,
                                 NULL);
    vk->cmd_push_constants(commands, s->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(*push),
                           push);
    s->vk.cmd_dispatch(commands, (push->count + 63) / 64, 1, 1);
    assert_int_equal(pelt_commands_submit(gpu_device(), commands), PELT_OK);
    vk->destroy_descriptor_pool(device, pool, NULL);
}

/* Turned, scaled differently along each axis, mirrored for one of them, moved. */
static void place(uint32_t i, double world[12])
{
    const double c = cos(i + 0.5), s = sin(i + 0.5), k = i == 1 ? -0.8 : 1.3;
    const double matrix[12] = { c * k, -0.7 * s, 0, 3.0 * i, s * k,       0.7 * c,
                                0,     -2,       0, 0,       1 + 0.1 * i, 5 };
    memcpy(world, matrix, sizeof(matrix));
}

/* What the pass would write: places by pelt_bake_locate, in floats. */
static pelt_bake_place locate(const pelt_bake *bake, uint32_t i)
{
    const pelt_bake_clip *clip = &bake->clips[i % bake->clip_count];
    return pelt_bake_locate(clip, i == 0 ? 3 / clip->rate : 0.31 + 0.17 * i, true);
}

static void check_vertex(const float (*got)[4], const double *position, const double *normal,
                         const double *tangent)
{
    double cosine[2] = { 0 };
    for (int k = 0; k < 3; k++) {
        /* Some forty roundings at magnitudes below 20. */
        assert_true(fabs((double)got[0][k] - position[k]) < 40 * 20 * 0x1p-24);
        assert_true(got[3][k] == got[0][k] || fabs((double)(got[3][k] - got[0][k])) < 1e-5);
        cosine[0] += (double)got[1][k] * normal[k];
        cosine[1] += (double)got[2][k] * tangent[k];
    }
    /* Ten bits are off by 0.1 degrees, which scales of up to 2.4 to 1 make 0.24: 0.0042 rad. */
    assert_true(cosine[0] > cos(0.006));
    assert_true(cosine[1] > cos(0.006));
    assert_true((double)got[2][3] == tangent[3]);
}

static void normalize(double v[3])
{
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int k = 0; k < 3; k++) {
        v[k] /= length;
    }
}

/* A skinned vertex, as the world has it. */
static void move(const double world[12], double position[3], double normal[3], double tangent[3])
{
    double moved[3][3];
    for (int k = 0; k < 3; k++) {
        const double *row = world + 4 * k;
        const double *a = world + 4 * ((k + 1) % 3), *b = world + 4 * ((k + 2) % 3);
        const double cofactor[3] = { a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                                     a[0] * b[1] - a[1] * b[0] };
        moved[0][k] = row[3];
        moved[1][k] = moved[2][k] = 0;
        for (int i = 0; i < 3; i++) {
            moved[0][k] += row[i] * position[i];
            moved[1][k] += cofactor[i] * normal[i];
            moved[2][k] += row[i] * tangent[i];
        }
    }
    memcpy(position, moved[0], sizeof(moved[0]));
    memcpy(normal, moved[1], sizeof(moved[1]));
    memcpy(tangent, moved[2], sizeof(moved[2]));
    normalize(normal);
    normalize(tangent);
}

/* What a palette is used for. */
typedef struct kind {
    pelt_bake_layout layout;
    pelt_bake_format format;
    pelt_bake_interpolation interpolation;
    pelt_bake_skinning skinning;
    uint32_t max_size;
} kind;

static void check_instance(const pelt_primitive *primitive, const pelt_packed_mesh *packed,
                           const pelt_bake *bake, const kind *wanted, uint32_t i,
                           const float (*got)[4][4])
{
    uint32_t count = primitive->vertex_count;
    bool dual = wanted->skinning == PELT_BAKE_DUAL;
    double *matrices = calloc(bake->joint_count, 12 * sizeof(double));
    double *rotations = calloc(bake->joint_count, 4 * sizeof(double));
    double *positions = calloc(count, 3 * sizeof(double));
    double *normals = calloc(count, 3 * sizeof(double));
    double *tangents = calloc(count, 4 * sizeof(double));
    assert_true(matrices && rotations && positions && normals && tangents);
    double world[12];
    place(i, world);
    pelt_bake_place at = locate(bake, i);
    pelt_bake_decode(bake, &at, wanted->interpolation, matrices);
    pelt_skin_rotations_double(matrices, bake->joint_count, rotations, NULL);
    const pelt_reference_job job = { .primitive = primitive,
                                     .matrices = matrices,
                                     .rotations = dual ? rotations : NULL,
                                     .influences_of = packed,
                                     .positions = positions,
                                     .normals = normals,
                                     .tangents = tangents };
    pelt_skin_reference(&job, 0, count, NULL);
    for (uint32_t v = 0; v < count; v++) {
        move(world, positions + 3 * (size_t)v, normals + 3 * (size_t)v, tangents + 4 * (size_t)v);
        check_vertex(got[packed->packed_vertices[v]], positions + 3 * (size_t)v,
                     normals + 3 * (size_t)v, tangents + 4 * (size_t)v);
    }
    free(tangents);
    free(normals);
    free(positions);
    free(rotations);
    free(matrices);
}

static void check_kind(const shader *s, const pelt_primitive *primitive,
                       const pelt_packed_mesh *packed, const pelt_bake *bake, const kind *wanted)
{
    uint32_t palette, count = COUNT * packed->vertex_count;
    pelt_buffer streams, mesh, instances, result;
    pelt_gpu_mesh gpu_mesh;
    assert_int_equal(pelt_renderer_add_palette(s->renderer, bake, 0, &palette, NULL), PELT_OK);
    void *bytes = make_buffer(pelt_gpu_mesh_size(packed), &streams);
    pelt_gpu_mesh_write(packed, bytes, streams.address, &gpu_mesh);
    pelt_crowd_mesh_write(&gpu_mesh, bake->palettes[0].first_joint,
                          make_buffer(PELT_CROWD_MESH_SIZE, &mesh));
    struct pelt_crowd_instance *instance =
        make_buffer((size_t)COUNT * PELT_CROWD_INSTANCE_SIZE, &instances);
    for (uint32_t i = 0; i < COUNT; i++) {
        pelt_bake_place at = locate(bake, i);
        double world[12];
        place(i, world);
        instance[i] = (struct pelt_crowd_instance){ .place = at.row | at.layer << 16,
                                                    .fraction = (float)at.fraction };
        for (int k = 0; k < 12; k++) {
            instance[i].world[k] = (float)world[k];
        }
    }
    make_buffer((size_t)count * 64, &result);
    const constants push = {
        mesh.address,
        instances.address,
        result.address,
        count,
        bake->layout,
        wanted->interpolation,
        bake->texels_per_joint,
        bake->joints_per_layer < bake->joint_count ? bake->joints_per_layer : 0,
        wanted->skinning
    };
    dispatch(s, palette, &push);
    const float(*got)[4][4] = result.mapped;
    for (uint32_t i = 0; i < COUNT; i++) {
        check_instance(primitive, packed, bake, wanted, i, got + (size_t)i * packed->vertex_count);
    }
    pelt_buffer *all[] = { &streams, &mesh, &instances, &result };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        pelt_buffer_destroy(gpu_device(), all[i]);
    }
}

/* Gives every vertex eight influences instead of four: of each, a tenth goes to others. */
static void add_influences(const pelt_model *model, pelt_primitive *primitive, uint16_t *joints,
                           float *weights)
{
    for (uint32_t v = 0; v < primitive->vertex_count; v++) {
        for (uint32_t k = 0; k < 8; k++) {
            size_t to = 8 * (size_t)v + k, from = 4 * (size_t)v + k % 4;
            uint32_t other = (v + 7 * k) % model->skins[0].joint_count;
            joints[to] = (uint16_t)(k < 4 ? primitive->joints[from] : other);
            weights[to] = k < 4 ? 0.9f * primitive->weights[from] : 0.025f;
        }
    }
    primitive->influence_count = 8;
    primitive->joints = joints;
    primitive->weights = weights;
}

static void check_character(uint32_t vertices, uint32_t joints, bool many, bool scaled)
{
    static const kind kinds[] = {
        { PELT_BAKE_MATRIX_3X4, PELT_BAKE_RGBA32F, PELT_BAKE_LERP, PELT_BAKE_LINEAR, 0 },
        { PELT_BAKE_MATRIX_3X4, PELT_BAKE_RGBA16F, PELT_BAKE_NEAREST, PELT_BAKE_LINEAR, 0 },
        { PELT_BAKE_MATRIX_4X4, PELT_BAKE_RGBA32F, PELT_BAKE_LERP, PELT_BAKE_LINEAR, 37 },
        { PELT_BAKE_DUAL_QUATERNION, PELT_BAKE_RGBA32F, PELT_BAKE_BLEND, PELT_BAKE_LINEAR, 0 },
        { PELT_BAKE_DUAL_QUATERNION, PELT_BAKE_RGBA32F, PELT_BAKE_LERP, PELT_BAKE_LINEAR, 20 },
        { PELT_BAKE_DUAL_QUATERNION, PELT_BAKE_RGBA32F, PELT_BAKE_NEAREST, PELT_BAKE_DUAL, 20 },
        { PELT_BAKE_DUAL_QUATERNION, PELT_BAKE_RGBA32F, PELT_BAKE_BLEND, PELT_BAKE_DUAL, 0 },
        { PELT_BAKE_DUAL_QUATERNION, PELT_BAKE_RGBA16F, PELT_BAKE_BLEND, PELT_BAKE_DUAL, 0 },
    };
    (void)gpu_device();
    pelt_model *model;
    const pelt_sample_info sample = { .vertices = vertices, .joints = joints };
    assert_int_equal(pelt_sample_create(&gpu_host, &sample, &model), PELT_OK);
    for (uint32_t j = 2; scaled && j < model->skins[0].joint_count; j += 5) {
        for (int k = 0; k < 3; k++) {
            model->nodes[model->skins[0].joints[j]].scale[k] *= 1 + 0.1 * (j % 3);
        }
    }
    pelt_primitive *primitive = &model->meshes[0].primitives[0], own = *primitive;
    uint16_t *wide_joints = calloc(primitive->vertex_count, 8 * sizeof(*wide_joints));
    float *wide_weights = calloc(primitive->vertex_count, 8 * sizeof(*wide_weights));
    assert_true(wide_joints && wide_weights);
    if (many) {
        add_influences(model, primitive, wide_joints, wide_weights);
    }
    pelt_packed_mesh *packed;
    const pelt_pack_info pack = { .primitive = primitive };
    assert_int_equal(pelt_pack(&gpu_host, &pack, &packed), PELT_OK);
    assert_int_equal(packed->set_count, many ? 2 : 1);
    assert_int_equal(packed->joint_bytes, joints > 256 ? 2 : 1);
    assert_non_null(packed->tangents);
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        pelt_bake *bake;
        const pelt_bake_info info = { .model = model,
                                      .layout = kinds[k].layout,
                                      .format = kinds[k].format,
                                      .rate = 12,
                                      .max_size = kinds[k].max_size };
        assert_int_equal(pelt_bake_create(&gpu_host, &info, &bake), PELT_OK);
        assert_int_equal(bake->texels_per_joint, kinds[k].layout == PELT_BAKE_DUAL_QUATERNION
                                                     ? 2u + scaled
                                                     : 3 + kinds[k].layout);
        assert_int_equal(bake->joints_per_layer<bake->joint_count, kinds[k].max_size> 0);
        check_kind(&the_shader, primitive, packed, bake, &kinds[k]);
        pelt_bake_destroy(bake);
    }
    pelt_packed_mesh_destroy(packed);
    *primitive = own;
    free(wide_weights);
    free(wide_joints);
    pelt_model_destroy(model);
}

static void of_four_influences(void **state)
{
    (void)state;
    check_character(600, 30, false, false);
}

static void of_eight_influences(void **state)
{
    (void)state;
    check_character(400, 30, true, false);
}

static void of_joints_that_scale(void **state)
{
    (void)state;
    check_character(600, 30, false, true);
    check_character(400, 30, true, true);
}

static void of_many_joints(void **state)
{
    (void)state;
    check_character(3000, 300, false, false);
}

static int setup(void **state)
{
    int failed = gpu_setup(state);
    if (gpu_shared) {
        the_shader = open_shader();
    }
    return failed;
}

static int teardown(void **state)
{
    if (gpu_shared) {
        close_shader(&the_shader);
    }
    return gpu_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_four_influences),
        cmocka_unit_test(of_eight_influences),
        cmocka_unit_test(of_joints_that_scale),
        cmocka_unit_test(of_many_joints),
    };
    return gpu_result(cmocka_run_group_tests(tests, setup, teardown));
}
