/* The two passes behind each other in one command buffer: from clips to animated vertices without
 * the CPU, against its poses and its skinning; and a rigid mesh in the hand, by a socket. */
#include "anim/anim.h"
#include "sample/sample.h"
#include "tests/gpu_pose.h"

enum { INSTANCES = 7, JOINTS = 30, HAND = 12 /* or any other joint's node */ };

static void pose_world(uint32_t i, double world[12])
{
    double c = cos(0.7 * i), s = sin(0.7 * i);
    const double matrix[12] = { c, 0, s, 2.0 * i, 0, 1, 0, 0, -s, 0, c, -1.0 * i };
    memcpy(world, matrix, sizeof(matrix));
}

static pelt_pose_instance walker(uint32_t i, const double *world)
{
    return (pelt_pose_instance){
        .play = { .clip = 0, .loop = true, .speed = 1, .time = 0.3 * i },
        .second = { .clip = 1, .speed = 0.5f },
        .weight = 0.125f * (float)i,
        .world = world,
    };
}

static pelt_packed_mesh *pack_part(const pelt_model *model)
{
    assert_int_equal(model->part_count, 1);
    const pelt_part *part = &model->parts[0];
    const pelt_pack_info info = { .primitive =
                                      &model->meshes[part->mesh].primitives[part->primitive] };
    pelt_packed_mesh *mesh;
    assert_int_equal(pelt_pack(&gpu_host, &info, &mesh), PELT_OK);
    return mesh;
}

/* A blade of one triangle, held by its origin. */
static const float blade[9] = { 0, 0, 0, 0.05f, 0, 0, 0, 0.5f, 0.1f };

static pelt_packed_mesh *pack_blade(void)
{
    float positions[9];
    memcpy(positions, blade, sizeof(blade));
    const pelt_primitive primitive = { .topology = PELT_TRIANGLES,
                                       .vertex_count = 3,
                                       .positions = positions };
    pelt_packed_mesh *mesh;
    assert_int_equal(
        pelt_pack(&gpu_host, &(pelt_pack_info){ .primitive = &primitive, .rigid = true }, &mesh),
        PELT_OK);
    return mesh;
}

/* Records both passes, with the one barrier that the documents ask for. */
static void run(pose_scene *scene, pelt_skin_pass *skin, pelt_packed_mesh *const packed[2],
                double now, pelt_buffer vertices[2])
{
    pelt_gpu_mesh meshes[2];
    pelt_buffer streams[2], table, scratch;
    pelt_gpu_instance instances[2 * INSTANCES] = { 0 };
    for (uint32_t m = 0; m < 2; m++) {
        pose_buffer(scene, pelt_gpu_mesh_size(packed[m]), PELT_MEMORY_UPLOAD, &streams[m]);
        pelt_gpu_mesh_write(packed[m], streams[m].mapped, streams[m].address, &meshes[m]);
        for (uint32_t i = 0; i < INSTANCES; i++) {
            VkDeviceAddress matrices = scene->outputs.address + i * scene->stride;
            instances[m * INSTANCES + i] = (pelt_gpu_instance){
                .mesh = m,
                .matrices = m == 0 ? matrices : matrices + scene->sockets_at,
                .positions = vertices[m].address + (VkDeviceAddress)i * 16 * meshes[m].vertex_count,
                .position_stride = 16,
            };
        }
    }
    const pelt_skin_tables_info info = {
        .meshes = meshes, .mesh_count = 2, .instances = instances, .instance_count = 2 * INSTANCES
    };
    pelt_skin_tables tables;
    assert_int_equal(pelt_skin_tables_measure(skin, &info, &tables), PELT_OK);
    pose_buffer(scene, tables.table_size, PELT_MEMORY_UPLOAD, &table);
    pose_buffer(scene, tables.scratch_size, PELT_MEMORY_DEVICE, &scratch);
    pelt_skin_tables_write(skin, &info, &tables, table.mapped);
    PFN_vkCmdPipelineBarrier barrier =
        (PFN_vkCmdPipelineBarrier)scene->device->get_device_proc_addr(scene->device->vulkan.device,
                                                                      "vkCmdPipelineBarrier");
    const VkMemoryBarrier posed = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                    .dstAccessMask = VK_ACCESS_SHADER_READ_BIT };
    VkCommandBuffer commands;
    assert_int_equal(pelt_commands_begin(scene->device, &commands), PELT_OK);
    pelt_cmd_pose(scene->pass, commands, &scene->tables, scene->table.address,
                  scene->instances.address, scene->scratch.address,
                  &(pelt_pose_frame){ .now = now });
    barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0,
            1, &posed, 0, NULL, 0, NULL);
    pelt_cmd_skin(skin, commands, &tables, table.address, scratch.address);
    assert_int_equal(pelt_commands_submit(scene->device, commands), PELT_OK);
    pelt_buffer_destroy(scene->device, &streams[0]);
    pelt_buffer_destroy(scene->device, &streams[1]);
    pelt_buffer_destroy(scene->device, &table);
    pelt_buffer_destroy(scene->device, &scratch);
}

/* Of the character's 1.4 m: 1e-5 for the pose, some more for skinning and for places up to 12 m
 * away. */
static void skins_what_was_posed(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    const double now = 100.25, tolerance = 3e-5;
    const pelt_sample_info sample = { .vertices = 600, .joints = JOINTS };
    pelt_model *model;
    pelt_pose *pose;
    pelt_skin_pass *skin;
    pose_scene scene;
    assert_int_equal(pelt_sample_create(&gpu_host, &sample, &model), PELT_OK);
    assert_int_equal(pelt_pose_create(&gpu_host, model, &pose), PELT_OK);
    assert_int_equal(pelt_skin_pass_create(
                         &gpu_host, &(pelt_skin_pass_info){ .vulkan = &device->vulkan }, &skin),
                     PELT_OK);
    pelt_packed_mesh *packed[2] = { pack_part(model), pack_blade() };
    const uint32_t hand = HAND;
    pose_scene_open(&scene, device, model, &hand, 1, INSTANCES);
    for (uint32_t i = 0; i < INSTANCES; i++) {
        double world[12];
        pose_world(i, world);
        pose_scene_set(&scene, i, walker(i, world), NULL, 0);
    }
    pelt_buffer vertices[2];
    for (int m = 0; m < 2; m++) {
        pose_buffer(&scene, (size_t)INSTANCES * packed[m]->vertex_count * 16, PELT_MEMORY_READBACK,
                    &vertices[m]);
        memset(vertices[m].mapped, POSE_GUARD, vertices[m].size);
    }
    run(&scene, skin, packed, now, vertices);
    uint32_t count = packed[0]->vertex_count;
    float *expected = malloc((size_t)count * 12);
    assert_non_null(expected);
    for (uint32_t i = 0; i < INSTANCES; i++) {
        double world[12], held[12];
        float matrices[12 * JOINTS];
        pose_world(i, world);
        const pelt_play plays[2] = {
            { .clip = 0, .loop = true, .time = 0.3 * i + now, .weight = 1 - 0.125 * i },
            { .clip = 1, .time = 0.5 * now, .weight = 0.125 * i }
        };
        assert_int_equal(pelt_pose_evaluate(pose, plays, 2), PELT_OK);
        assert_int_equal(pelt_pose_skin_matrices(pose, world, matrices), PELT_OK);
        const pelt_skin_job job = { .mesh = packed[0],
                                    .matrices = matrices,
                                    .out_positions = expected };
        pelt_skin_cpu(&job, 0, count, NULL);
        const float *skinned = (const float *)vertices[0].mapped + 4 * (size_t)i * count;
        for (size_t k = 0; k < 3 * (size_t)count; k++) {
            double difference = (double)skinned[k / 3 * 4 + k % 3] - (double)expected[k];
            assert_true(fabs(difference) <= tolerance);
        }
        pelt_matrix_multiply(world, pose->globals + (size_t)12 * HAND, held);
        skinned = (const float *)vertices[1].mapped + 4 * (size_t)i * 3;
        for (uint32_t v = 0; v < 3; v++) {
            for (uint32_t c = 0; c < 3; c++) {
                double place = held[4 * c + 3];
                for (uint32_t k = 0; k < 3; k++) {
                    place += held[4 * c + k] * (double)blade[3 * v + k];
                }
                assert_true(fabs((double)skinned[4 * v + c] - place) <= tolerance);
            }
        }
    }
    free(expected);
    for (int m = 0; m < 2; m++) {
        pelt_buffer_destroy(device, &vertices[m]);
        pelt_packed_mesh_destroy(packed[m]);
    }
    pose_scene_close(&scene);
    pelt_skin_pass_destroy(skin);
    pelt_pose_destroy(pose);
    pelt_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skins_what_was_posed),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, pose_teardown));
}
