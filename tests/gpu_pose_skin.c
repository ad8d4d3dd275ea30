/* The two passes behind each other in one command buffer: from clips to animated vertices without
 * the CPU, against its poses and its skinning. */
#include "sample/sample.h"
#include "tests/gpu_pose.h"

enum { INSTANCES = 7, JOINTS = 30 };

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

/* Records both passes, with the one barrier that the documents ask for. */
static void run(pose_scene *scene, pelt_skin_pass *skin, const pelt_packed_mesh *packed, double now,
                pelt_buffer *vertices)
{
    pelt_gpu_mesh mesh;
    pelt_buffer streams, table, scratch;
    pose_buffer(scene, pelt_gpu_mesh_size(packed), PELT_MEMORY_UPLOAD, &streams);
    pelt_gpu_mesh_write(packed, streams.mapped, streams.address, &mesh);
    pelt_gpu_instance instances[INSTANCES] = { 0 };
    for (uint32_t i = 0; i < INSTANCES; i++) {
        VkDeviceAddress at = vertices->address + (VkDeviceAddress)i * packed->vertex_count * 16;
        instances[i] = (pelt_gpu_instance){ .matrices = scene->outputs.address + i * scene->stride,
                                            .positions = at,
                                            .position_stride = 16,
                                            .normals = at + 12,
                                            .normal_stride = 16 };
    }
    const pelt_skin_tables_info info = {
        .meshes = &mesh, .mesh_count = 1, .instances = instances, .instance_count = INSTANCES
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
    pelt_buffer_destroy(scene->device, &streams);
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
    pelt_packed_mesh *packed = pack_part(model);
    const uint32_t node_0 = 0;
    pose_scene_open(&scene, device, model, &node_0, 1, INSTANCES);
    for (uint32_t i = 0; i < INSTANCES; i++) {
        double world[12];
        pose_world(i, world);
        pose_scene_set(&scene, i, walker(i, world), NULL, 0);
    }
    pelt_buffer vertices;
    pose_buffer(&scene, (size_t)INSTANCES * packed->vertex_count * 16, PELT_MEMORY_READBACK,
                &vertices);
    memset(vertices.mapped, POSE_GUARD, vertices.size);
    run(&scene, skin, packed, now, &vertices);
    float *expected = malloc((size_t)packed->vertex_count * 12);
    assert_non_null(expected);
    for (uint32_t i = 0; i < INSTANCES; i++) {
        double world[12];
        float matrices[12 * JOINTS];
        pose_world(i, world);
        const pelt_play plays[2] = {
            { .clip = 0, .loop = true, .time = 0.3 * i + now, .weight = 1 - 0.125 * i },
            { .clip = 1, .time = 0.5 * now, .weight = 0.125 * i }
        };
        assert_int_equal(pelt_pose_evaluate(pose, plays, 2), PELT_OK);
        assert_int_equal(pelt_pose_skin_matrices(pose, world, matrices), PELT_OK);
        const pelt_skin_job job = { .mesh = packed,
                                    .matrices = matrices,
                                    .out_positions = expected };
        pelt_skin_cpu(&job, 0, packed->vertex_count, NULL);
        const pelt_packed_vertex *skinned =
            (const pelt_packed_vertex *)vertices.mapped + (size_t)i * packed->vertex_count;
        for (uint32_t v = 0; v < packed->vertex_count; v++) {
            for (uint32_t c = 0; c < 3; c++) {
                double difference =
                    (double)skinned[v].position[c] - (double)expected[3 * (size_t)v + c];
                assert_true(fabs(difference) <= tolerance);
            }
        }
    }
    free(expected);
    pelt_buffer_destroy(device, &vertices);
    pose_scene_close(&scene);
    pelt_packed_mesh_destroy(packed);
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
