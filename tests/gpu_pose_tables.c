/* What callers of the pose pass can get wrong, scenes of several rigs, and crowds. */
#include "tests/build_model.h"
#include "tests/gpu_pose.h"

#include "pelt/pose_layout.h"

/* Nodes in a row, each 1 further along x, a rigid mesh under the last; a clip of node 0. */
static pelt_model *row_of_nodes(uint32_t count)
{
    int32_t *parents = malloc((count + 1u) * sizeof(*parents));
    assert_non_null(parents);
    for (uint32_t i = 0; i < count; i++) {
        parents[i] = (int32_t)i - 1;
    }
    pelt_model *model = build_nodes(NULL, parents, count);
    const float corner[9] = { 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    const float times[] = { 0, 1 }, values[] = { 0, 0, 0, 8, 0, 0 };
    build_mesh(model, corner, 3);
    for (uint32_t i = 0; i < count; i++) {
        model->nodes[i].translation[0] = i > 0;
    }
    if (count > 0) {
        model->nodes[count - 1].mesh = 0;
        build_clip(model, 0, PELT_TRANSLATION, PELT_LINEAR, 2, 3, times, values);
    }
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    free(parents);
    return model;
}

static void expect_error(pelt_result result, pelt_result expected, const char *names)
{
    assert_int_equal(result, expected);
    assert_int_equal(gpu_messages.errors, 1);
    if (!strstr(gpu_messages.last, names)) {
        print_error("'%s' does not name '%s'\n", gpu_messages.last, names);
        fail();
    }
    gpu_messages.errors = 0;
}

static void refuses_wrong_instances(void **state)
{
    (void)state;
    (void)gpu_device();
    pelt_model *model = row_of_nodes(3);
    pelt_rig *rig;
    assert_int_equal(pelt_rig_create(&gpu_host, &(pelt_rig_info){ .model = model }, &rig), PELT_OK);
    const double nan_world[12] = { NAN };
    const double far_world[12] = { 1e19 };
    const pelt_pose_instance right = { .matrices = 0x1000 };
    pelt_pose_instance wrong[16];
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        wrong[i] = right;
    }
    wrong[0].play.clip = 1;
    wrong[1].play.clip = -2;
    wrong[2].play.time = INFINITY;
    wrong[3].play.since = 1e9;
    wrong[4].play.speed = NAN;
    wrong[5].weight = NAN;
    wrong[6].weight_rate = INFINITY;
    wrong[7].weight = 0.5f;
    wrong[7].second.clip = 7;
    wrong[8].weight_rate = 1;
    wrong[8].second.time = NAN;
    wrong[9].world = nan_world;
    wrong[10].world = far_world;
    wrong[11].matrices = 0;
    wrong[12].matrices = 0x1008;
    wrong[13].sockets = 4;
    wrong[14].override_count = 1;
    wrong[15].override_count = 1;
    wrong[15].overrides = 8;
    const char *const names[16] = {
        "play: clip 1", "play: clip -2",  "play: a time",   "play: a time", "speed", "weight",
        "weight_rate",  "second: clip 7", "second: a time", "world",        "world", "matrices",
        "matrices",     "sockets",        "overrides",      "overrides"
    };
    unsigned char memory[PELT_POSE_INSTANCE_SIZE + 1];
    memset(memory, POSE_GUARD, sizeof(memory));
    gpu_messages.errors = 0;
    for (size_t i = 0; i < 16; i++) {
        expect_error(pelt_pose_instance_write(rig, &wrong[i], memory), PELT_ERROR_ARGUMENT,
                     names[i]);
        for (size_t k = 0; k < sizeof(memory); k++) {
            assert_int_equal(memory[k], POSE_GUARD);
        }
    }
    /* A second play that never counts is not looked at. */
    pelt_pose_instance only = right;
    only.second.clip = 99;
    assert_int_equal(pelt_pose_instance_write(rig, &only, memory), PELT_OK);
    assert_int_equal(memory[PELT_POSE_INSTANCE_SIZE], POSE_GUARD);
    pelt_rig_destroy(rig);
    pelt_model_destroy(model);
}

static void refuses_wrong_overrides(void **state)
{
    (void)state;
    (void)gpu_device();
    pelt_model *model = row_of_nodes(4);
    model->nodes[3].mesh = -1; /* moves nothing any more */
    model->nodes[2].mesh = 0;
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    pelt_rig *rig;
    assert_int_equal(pelt_rig_create(&gpu_host, &(pelt_rig_info){ .model = model }, &rig), PELT_OK);
    assert_int_equal(rig->node_count, 3);
    assert_int_equal(rig->places[3], PELT_RIG_NO_NODE);
    unsigned char memory[2 * PELT_POSE_OVERRIDE_SIZE + 1];
    memset(memory, POSE_GUARD, sizeof(memory));
    const pelt_pose_override wrong[] = { { .node = 4 },
                                         { .node = 3 },
                                         { .node = 1, .kind = (pelt_override_kind)4 },
                                         { .node = 1, .matrix = { [7] = NAN } },
                                         { .node = 1, .matrix = { [7] = -2e18 } },
                                         { .node = 0 } };
    const char *const names[] = { "node 4", "node 3", "kind",
                                  "finite", "finite", "overrides 0 and 1 are both of node 0" };
    gpu_messages.errors = 0;
    for (size_t i = 0; i < 6; i++) {
        const pelt_pose_override pair[2] = { { .node = 0 }, wrong[i] };
        expect_error(pelt_pose_overrides_write(rig, pair, 2, memory), PELT_ERROR_ARGUMENT,
                     names[i]);
        assert_int_equal(memory[0], POSE_GUARD);
    }
    /* In the order of nodes, whatever the caller's. */
    const pelt_pose_override right[2] = { { .node = 2 }, { .node = 0 } };
    assert_int_equal(pelt_pose_overrides_write(rig, right, 2, memory), PELT_OK);
    struct pelt_pose_override_record records[2];
    memcpy(records, memory, sizeof(records));
    assert_int_equal(records[0].node, 0);
    assert_int_equal(records[1].node, 2);
    assert_int_equal(memory[2 * PELT_POSE_OVERRIDE_SIZE], POSE_GUARD);
    pelt_rig_destroy(rig);
    pelt_model_destroy(model);
}

static void refuses_wrong_rigs_and_tables(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    pelt_model *model = row_of_nodes(3);
    pelt_rig *rig;
    const uint32_t sockets[] = { 0, 3 };
    gpu_messages.errors = 0;
    expect_error(pelt_rig_create(&gpu_host, &(pelt_rig_info){ 0 }, &rig), PELT_ERROR_ARGUMENT,
                 "finished");
    assert_null(rig);
    const pelt_rig_info wrong = { .model = model, .sockets = sockets, .socket_count = 2 };
    expect_error(pelt_rig_create(&gpu_host, &wrong, &rig), PELT_ERROR_ARGUMENT, "socket 1: node 3");
    assert_int_equal(pelt_rig_create(&gpu_host, &(pelt_rig_info){ .model = model }, &rig), PELT_OK);
    pelt_pose_pass *pass = pose_pass(device);
    pelt_pose_tables tables;
    pelt_pose_batch batch = { .rig = rig, .rig_address = 8, .instance_count = 1 };
    expect_error(pelt_pose_tables_measure(pass, &batch, 1, &tables), PELT_ERROR_ARGUMENT,
                 "batch 0: rig_address");
    batch.rig_address = 16;
    batch.first_instance = UINT32_MAX;
    expect_error(pelt_pose_tables_measure(pass, &batch, 1, &tables), PELT_ERROR_RANGE,
                 "batch 0: instances");
    assert_int_equal(tables.group_count, 0);
    /* Three nodes: 42 instances a group. */
    batch = (pelt_pose_batch){ .rig = rig, .rig_address = 16, .instance_count = 85 };
    assert_int_equal(pelt_pose_tables_measure(pass, &batch, 1, &tables), PELT_OK);
    assert_int_equal(tables.group_count, 3);
    assert_int_equal(tables.scratch_size, 0);
    const pelt_vulkan none = { 0 };
    expect_error(pelt_pose_pass_create(&gpu_host, &(pelt_pose_pass_info){ .vulkan = &none }, &pass),
                 PELT_ERROR_ARGUMENT, "the pose pass needs");
    assert_null(pass);
    pelt_rig_destroy(rig);
    pelt_rig_destroy(NULL);
    pelt_pose_pass_destroy(NULL);
    pelt_model_destroy(model);
}

/* Every allocation of a rig fails once; all is given back. */
static void unwinds_without_memory(void **state)
{
    (void)state;
    (void)gpu_device();
    pelt_model *model = row_of_nodes(200);
    for (long calls = 0;; calls++) {
        meter m = { .calls_left = calls };
        const pelt_host host = { .user = &m, .allocate = metered };
        pelt_rig *rig;
        pelt_result result = pelt_rig_create(&host, &(pelt_rig_info){ .model = model }, &rig);
        if (result == PELT_OK) {
            pelt_rig_destroy(rig);
            assert_int_equal(m.alive, 0);
            assert_true(calls > 5);
            break;
        }
        assert_int_equal(result, PELT_ERROR_MEMORY);
        assert_null(rig);
        assert_int_equal(m.alive, 0);
    }
    pelt_model_destroy(model);
}

/* A model of nothing has nothing to pose. */
static void poses_nothing(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    pelt_model *model = row_of_nodes(0);
    pose_scene scene;
    pose_scene_open(&scene, device, model, NULL, 0, 2);
    assert_int_equal(scene.tables.group_count, 0);
    pose_scene_set(&scene, 1, (pelt_pose_instance){ .play = { .clip = -1 } }, NULL, 0);
    pose_scene_run(&scene, (pelt_pose_frame){ .now = 0 });
    pose_scene_close(&scene);
    pelt_model_destroy(model);
}

/* -- several rigs -------------------------------------------------------------------------- */

/* Rows of 3, 200 and 128 nodes in one dispatch, instances of each between the others'. An instance
 * is k/8 into the clip, which moves its first node to x = k: the last is nodes - 1 further. */
static void poses_several_rigs_at_once(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    enum { RIGS = 3, MOST = 50, TOTAL = 64 };
    const uint32_t nodes[RIGS] = { 3, 200, 128 }, counts[RIGS] = { MOST, 3, 5 };
    const uint32_t firsts[RIGS] = { 4, 0, 56 };
    pelt_model *models[RIGS];
    pelt_pose_batch batches[RIGS];
    pelt_buffer data[RIGS], states, outputs, table, scratch;
    pelt_rig *rigs[RIGS];
    assert_int_equal(
        pelt_buffer_create(device, TOTAL * PELT_POSE_INSTANCE_SIZE, 0, PELT_MEMORY_UPLOAD, &states),
        PELT_OK);
    assert_int_equal(pelt_buffer_create(device, TOTAL * 48, 0, PELT_MEMORY_READBACK, &outputs),
                     PELT_OK);
    memset(outputs.mapped, POSE_GUARD, outputs.size);
    for (uint32_t r = 0; r < RIGS; r++) {
        models[r] = row_of_nodes(nodes[r]);
        assert_int_equal(
            pelt_rig_create(&gpu_host, &(pelt_rig_info){ .model = models[r] }, &rigs[r]), PELT_OK);
        assert_int_equal(pelt_buffer_create(device, rigs[r]->size, 0, PELT_MEMORY_UPLOAD, &data[r]),
                         PELT_OK);
        memcpy(data[r].mapped, rigs[r]->data, rigs[r]->size);
        batches[r] = (pelt_pose_batch){ .rig = rigs[r],
                                        .rig_address = data[r].address,
                                        .first_instance = firsts[r],
                                        .instance_count = counts[r] };
        for (uint32_t i = 0; i < counts[r]; i++) {
            uint32_t index = firsts[r] + i;
            const pelt_pose_instance instance = { .play = { .time = i % 8 / 8.0 },
                                                  .matrices = outputs.address + 48u * index };
            assert_int_equal(pelt_pose_instance_write(rigs[r], &instance,
                                                      (char *)states.mapped +
                                                          (size_t)index * PELT_POSE_INSTANCE_SIZE),
                             PELT_OK);
        }
    }
    pelt_pose_pass *pass = pose_pass(device);
    pelt_pose_tables tables;
    assert_int_equal(pelt_pose_tables_measure(pass, batches, RIGS, &tables), PELT_OK);
    /* 42 to a group; one; one. */
    assert_int_equal(tables.group_count, 2 + 3 + 5);
    assert_int_equal(tables.scratch_size, 3 * 48);
    assert_int_equal(
        pelt_buffer_create(device, tables.table_size + 4, 0, PELT_MEMORY_UPLOAD, &table), PELT_OK);
    assert_int_equal(
        pelt_buffer_create(device, tables.scratch_size, 0, PELT_MEMORY_DEVICE, &scratch), PELT_OK);
    memset(table.mapped, POSE_GUARD, table.size);
    pelt_pose_tables_write(pass, batches, RIGS, table.mapped);
    assert_int_equal(((unsigned char *)table.mapped)[tables.table_size], POSE_GUARD);
    VkCommandBuffer commands;
    assert_int_equal(pelt_commands_begin(device, &commands), PELT_OK);
    pelt_cmd_pose(pass, commands, &tables, table.address, states.address, scratch.address,
                  &(pelt_pose_frame){ .all = true });
    assert_int_equal(pelt_commands_submit(device, commands), PELT_OK);
    uint32_t guarded = 0;
    for (uint32_t index = 0; index < TOTAL; index++) {
        const float *matrix = (const float *)outputs.mapped + 12 * (size_t)index;
        uint32_t bits, r = 0;
        while (r < RIGS && (index < firsts[r] || index >= firsts[r] + counts[r])) {
            r++;
        }
        memcpy(&bits, matrix + 3, sizeof(bits));
        if (r == RIGS) {
            assert_int_equal(bits, 0xa5a5a5a5u);
            guarded++;
        } else {
            assert_near((double)matrix[3], (index - firsts[r]) % 8 + nodes[r] - 1, 1e-4);
        }
    }
    assert_int_equal(guarded, TOTAL - MOST - 3 - 5);
    for (uint32_t r = 0; r < RIGS; r++) {
        pelt_buffer_destroy(device, &data[r]);
        pelt_rig_destroy(rigs[r]);
        pelt_model_destroy(models[r]);
    }
    pelt_buffer_destroy(device, &states);
    pelt_buffer_destroy(device, &outputs);
    pelt_buffer_destroy(device, &table);
    pelt_buffer_destroy(device, &scratch);
}

/* 66,000 workgroups, more than one dimension of a dispatch has to have. */
static void poses_a_crowd(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    enum { CROWD = 66000, NODES = 65 };
    pelt_model *model = row_of_nodes(NODES);
    pose_scene scene;
    const uint32_t socket = 0;
    pose_scene_open(&scene, device, model, &socket, 1, CROWD);
    assert_int_equal(scene.tables.group_count, CROWD);
    for (uint32_t i = 0; i < CROWD; i++) {
        double world[12] = { 1, 0, 0, 0, 0, 1, 0, i, 0, 0, 1, 0 };
        const pelt_pose_instance instance = { .play = { .time = i % 8 / 8.0 }, .world = world };
        pose_scene_set(&scene, i, instance, NULL, 0);
    }
    pose_scene_run(&scene, (pelt_pose_frame){ .now = 0 });
    for (uint32_t i = 0; i < CROWD; i++) {
        const float *matrix = pose_scene_matrix(&scene, i, 0);
        assert_near((double)matrix[3], i % 8 + NODES - 1, 1e-4);
        assert_near((double)matrix[7], i, 0);
        assert_near((double)pose_scene_socket(&scene, i, 0)[3], i % 8, 1e-4);
    }
    pose_scene_close(&scene);
    pelt_model_destroy(model);
}

/* Scales of 1e15 below each other: for the CPU an error. Nothing that is written is NaN, infinite
 * or larger than PELT_MAGNITUDE_MAX. */
static void writes_finite_numbers(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    const int32_t parents[] = { -1, 0, 1, 2, 3 };
    pelt_model *model = build_nodes(NULL, parents, 5);
    for (uint32_t i = 0; i < 5; i++) {
        model->nodes[i].translation[0] = 1e15;
        model->nodes[i].scale[0] = 1e15;
        model->nodes[i].scale[1] = i % 2 ? 0 : 1e15;
        model->nodes[i].rotation[2] = model->nodes[i].rotation[3] = sqrt(0.5);
    }
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    pose_scene scene;
    pose_scene_open(&scene, device, model, NULL, 0, 1);
    pose_scene_set(&scene, 0, (pelt_pose_instance){ .play = { .clip = -1 } }, NULL, 0);
    pose_scene_run(&scene, (pelt_pose_frame){ .now = 0 });
    unsigned large = 0;
    for (uint32_t i = 0; i < 5; i++) {
        for (uint32_t k = 0; k < 12; k++) {
            double value = fabs((double)pose_scene_socket(&scene, 0, i)[k]);
            assert_true(value <= PELT_MAGNITUDE_MAX);
            large += value > 0.99 * PELT_MAGNITUDE_MAX;
        }
    }
    assert_true(large > 0);
    pose_scene_close(&scene);
    pelt_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_wrong_instances),
        cmocka_unit_test(refuses_wrong_overrides),
        cmocka_unit_test(refuses_wrong_rigs_and_tables),
        cmocka_unit_test(unwinds_without_memory),
        cmocka_unit_test(poses_nothing),
        cmocka_unit_test(poses_several_rigs_at_once),
        cmocka_unit_test(poses_a_crowd),
        cmocka_unit_test(writes_finite_numbers),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, pose_teardown));
}
