/* Joint boxes on the GPU: they hold the exact box, and are those of the CPU but for rounding. */
#include "tests/gpu_scene.h"

/* Bounds of count instances with these joint boxes and matrices. */
static void run(pelt_headless *device, const pelt_joint_boxes *const *boxes,
                const float *const *matrices, uint32_t count, pelt_box *out)
{
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++) {
        size += boxes[i]->joint_count * (sizeof(pelt_box) + 48) + 32;
    }
    scene_input input = { .used = 0 };
    pelt_buffer table, output;
    assert_int_equal(pelt_buffer_create(device, size, 0, PELT_MEMORY_UPLOAD, &input.buffer),
                     PELT_OK);
    assert_int_equal(
        pelt_buffer_create(device, pelt_joint_box_table_size(count), 0, PELT_MEMORY_UPLOAD, &table),
        PELT_OK);
    assert_int_equal(
        pelt_buffer_create(device, count * sizeof(pelt_box) + 4, 0, PELT_MEMORY_READBACK, &output),
        PELT_OK);
    memset(output.mapped, SCENE_GUARD, output.size);
    pelt_gpu_joint_box_instance *instances = calloc((size_t)count + 1, sizeof(*instances));
    assert_non_null(instances);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t joints = boxes[i]->joint_count;
        instances[i] = (pelt_gpu_joint_box_instance){
            .bind = scene_put(&input, boxes[i]->bind, joints * sizeof(pelt_box)),
            .matrices = scene_put(&input, matrices[i], joints * 48),
            .joint_count = joints,
            .influence_count = boxes[i]->influence_count,
            .box = output.address + i * sizeof(pelt_box),
        };
    }
    pelt_joint_box_table_write(instances, count, table.mapped);
    pelt_skin_pass *pass = scene_shared_pass(device);
    VkCommandBuffer commands;
    assert_int_equal(pelt_commands_begin(device, &commands), PELT_OK);
    pelt_cmd_joint_boxes(pass, commands, count, table.address);
    pelt_cmd_joint_boxes(pass, commands, 0, 0); /* nothing */
    assert_int_equal(pelt_commands_submit(device, commands), PELT_OK);
    memcpy(out, output.mapped, count * sizeof(pelt_box));
    uint32_t guard;
    memcpy(&guard, (char *)output.mapped + count * sizeof(pelt_box), 4);
    assert_int_equal(guard, 0xa5a5a5a5u);
    free(instances);
    pelt_buffer_destroy(device, &input.buffer);
    pelt_buffer_destroy(device, &table);
    pelt_buffer_destroy(device, &output);
}

/* The largest magnitude that any row's terms can add up to: what roundings are relative to. */
static double magnitude(const pelt_joint_boxes *boxes, const float *matrices)
{
    double largest = 0;
    for (uint32_t row = 0; row < 3 * boxes->joint_count; row++) {
        const float *m = matrices + 4 * row;
        const pelt_box *bind = &boxes->bind[row / 3];
        double sum = fabs((double)m[3]);
        for (int c = 0; c < 3; c++) {
            sum +=
                fabs((double)m[c]) * fmax(fabs((double)bind->min[c]), fabs((double)bind->max[c]));
        }
        largest = bind->min[0] <= bind->max[0] ? fmax(largest, sum) : largest;
    }
    return largest;
}

static void holds_the_exact_box_and_agrees_with_the_cpu(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    /* Around group sizes; 16-bit joints; several sets; 1e17 and 1e-20 as large and small. */
    const uint32_t joint_counts[] = { 8, 63, 64, 65, 128, 129, 300, 20, 20 };
    const uint32_t slots[] = { 4, 4, 8, 4, 12, 4, 8, 4, 4 };
    const float scales[] = { 1, 1, 1, 1, 1, 1, 1, 1e17f, 1e-20f };
    enum { COUNT = 9 };
    pelt_packed_mesh *meshes[COUNT];
    pelt_joint_boxes *boxes[COUNT];
    float *matrices[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        meshes[i] = scene_mesh(i, 500, slots[i], joint_counts[i], false);
        assert_int_equal(pelt_joint_boxes_create(&gpu_host, meshes[i], NULL, &boxes[i]), PELT_OK);
        matrices[i] = scene_matrices(50 + i, joint_counts[i]);
        for (uint32_t k = 0; k < 12 * joint_counts[i]; k++) {
            matrices[i][k] *= scales[i];
        }
    }
    pelt_box bounds[COUNT];
    run(device, (const pelt_joint_boxes *const *)boxes, (const float *const *)matrices, COUNT,
        bounds);
    for (uint32_t i = 0; i < COUNT; i++) {
        double exact[6] = { INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY };
        for (uint32_t v = 0; v < meshes[i]->vertex_count; v++) {
            scene_expected expected;
            scene_expect(meshes[i], meshes[i]->vertices, NULL, matrices[i], v, &expected);
            for (int c = 0; c < 3; c++) {
                exact[c] = fmin(exact[c], expected.position[c]);
                exact[3 + c] = fmax(exact[3 + c], expected.position[c]);
            }
        }
        pelt_box cpu = pelt_joint_boxes_bound(boxes[i], matrices[i]);
        /* The GPU widens by 8 roundings more, and its own sums are off by up to 6. */
        double tolerance = 16 * 0x1p-24 * magnitude(boxes[i], matrices[i]);
        for (int c = 0; c < 3; c++) {
            assert_true((double)bounds[i].min[c] <= exact[c]);
            assert_true((double)bounds[i].max[c] >= exact[3 + c]);
            assert_true(fabs((double)bounds[i].min[c] - (double)cpu.min[c]) <= tolerance);
            assert_true(fabs((double)bounds[i].max[c] - (double)cpu.max[c]) <= tolerance);
        }
        pelt_packed_mesh_destroy(meshes[i]);
        pelt_joint_boxes_destroy(boxes[i]);
        free(matrices[i]);
    }
}

static void gives_the_empty_box_without_joints_that_matter(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    pelt_box bind[70];
    const pelt_box empty = PELT_BOX_EMPTY;
    float *matrices = scene_matrices(1, 70);
    for (int j = 0; j < 70; j++) {
        bind[j] = empty;
    }
    const pelt_joint_boxes none = { .joint_count = 0, .influence_count = 4, .bind = bind };
    const pelt_joint_boxes unused = { .joint_count = 70, .influence_count = 4, .bind = bind };
    pelt_box bounds[2];
    run(device, (const pelt_joint_boxes *const[]){ &none, &unused },
        (const float *const[]){ matrices, matrices }, 2, bounds);
    assert_memory_equal(&bounds[0], &empty, sizeof(empty));
    assert_memory_equal(&bounds[1], &empty, sizeof(empty));
    free(matrices);
}

/* 70,000 instances of one joint that moves its unit box. */
static void bounds_a_crowd(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    enum { CROWD = 70000 };
    pelt_box bind = { .min = { -1, -1, -1 }, .max = { 1, 1, 1 } };
    const pelt_joint_boxes one = { .joint_count = 1, .influence_count = 4, .bind = &bind };
    const pelt_joint_boxes **boxes = malloc(CROWD * sizeof(void *));
    const float **pointers = malloc(CROWD * sizeof(void *));
    float *matrices = calloc(CROWD, 48);
    pelt_box *bounds = malloc(CROWD * sizeof(*bounds));
    assert_true(boxes && pointers && matrices && bounds);
    for (uint32_t i = 0; i < CROWD; i++) {
        float *m = matrices + 12 * (size_t)i;
        m[0] = m[5] = m[10] = 1;
        m[3] = (float)i;
        m[7] = -(float)i;
        boxes[i] = &one;
        pointers[i] = m;
    }
    run(device, boxes, pointers, CROWD, bounds);
    for (uint32_t i = 0; i < CROWD; i++) {
        double x = i, slack = (x + 1) * 24 * 0x1p-24;
        const double low[3] = { x - 1, -x - 1, -1 };
        for (int c = 0; c < 3; c++) {
            double min = (double)bounds[i].min[c], max = (double)bounds[i].max[c];
            assert_true(min <= low[c] && min >= low[c] - slack);
            assert_true(max >= low[c] + 2 && max <= low[c] + 2 + slack);
        }
    }
    free(boxes);
    free(pointers);
    free(matrices);
    free(bounds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_the_exact_box_and_agrees_with_the_cpu),
        cmocka_unit_test(gives_the_empty_box_without_joints_that_matter),
        cmocka_unit_test(bounds_a_crowd),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, scene_teardown));
}
