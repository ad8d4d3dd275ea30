/* The skin pass on awkward numbers: twelve different ones, mirrored and rank-deficient matrices,
 * very large and small ones, negative coordinates, zeros. */
#include "tests/gpu_scene.h"

enum { JOINTS = 12, VERTICES = 1100 };

/* Skins one mesh by one palette, twice: interleaved and apart. */
static void run_and_check(const float *matrices)
{
    pelt_headless *device = gpu_device();
    pelt_skin_pass *pass = scene_shared_pass(device);
    pelt_packed_mesh *mesh = scene_mesh(4, VERTICES, 8, JOINTS, true);
    scene_instance instances[2] = { { .matrices = matrices, .layout = SCENE_INTERLEAVED },
                                    { .matrices = matrices, .layout = SCENE_STRUCT } };
    scene both = { .meshes = &mesh, .mesh_count = 1, .instances = instances, .instance_count = 2 };
    scene_run(device, pass, &both, 1);
    scene_check(&both);
    free(both.image);
    pelt_packed_mesh_destroy(mesh);
}

/* A vertex on each axis, one joint: the matrix comes back column by column. */
static void echoes_a_matrix(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    float positions[4][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    const pelt_primitive primitive = { .topology = PELT_POINTS,
                                       .vertex_count = 4,
                                       .positions = positions[0] };
    pelt_packed_mesh *mesh = NULL;
    assert_int_equal(
        pelt_pack(&gpu_host, &(pelt_pack_info){ .primitive = &primitive, .rigid = true }, &mesh),
        PELT_OK);
    const float matrix[12] = { 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37 };
    scene_instance instance = { .matrices = matrix, .layout = SCENE_TIGHT };
    scene echo = { .meshes = &mesh, .mesh_count = 1, .instances = &instance, .instance_count = 1 };
    pelt_skin_pass *pass = scene_shared_pass(device);
    scene_run(device, pass, &echo, 1);
    const float expected[4][3] = { { 7, 19, 37 }, { 9, 30, 60 }, { 10, 32, 66 }, { 12, 36, 68 } };
    assert_memory_equal(echo.image + instance.positions, expected, sizeof(expected));
    const pelt_box box = { .min = { 7, 19, 37 }, .max = { 12, 36, 68 } };
    assert_memory_equal(echo.image + instance.box, &box, sizeof(box));
    free(echo.image);
    pelt_packed_mesh_destroy(mesh);
}

static void mirrors(void **state)
{
    (void)state;
    float *matrices = scene_matrices(1, JOINTS);
    for (uint32_t j = 0; j < JOINTS; j++) {
        for (int i = 0; i < 4; i++) {
            matrices[12 * j + 4 + i] *= -1;
        }
    }
    run_and_check(matrices);
    free(matrices);
}

/* The last `zeros` columns of every 3x3 are zero, and so they stay in blends: the cofactor and what
 * is left of it are exact, whatever the order of summing. */
static void flattens(void **state)
{
    (void)state;
    for (int zeros = 1; zeros <= 3; zeros++) {
        float *matrices = scene_matrices((uint64_t)zeros, JOINTS);
        for (uint32_t row = 0; row < 3 * JOINTS; row++) {
            for (int column = 3 - zeros; column < 3; column++) {
                matrices[4 * row + column] = 0;
            }
        }
        run_and_check(matrices);
        free(matrices);
    }
}

/* A rank of one or none leaves no normal, none no tangent: the documented directions instead. */
static void falls_back_to_documented_directions(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    pelt_packed_mesh *mesh = scene_mesh(4, VERTICES, 4, JOINTS, true);
    float matrices[12 * JOINTS] = { 0 };
    scene_instance instance = { .matrices = matrices, .layout = SCENE_TIGHT };
    scene flat = { .meshes = &mesh, .mesh_count = 1, .instances = &instance, .instance_count = 1 };
    pelt_skin_pass *pass = scene_shared_pass(device);
    scene_run(device, pass, &flat, 1);
    for (uint32_t v = 0; v < VERTICES; v++) {
        /* (0 0 1): codes 512, 512, 1023. (1 0 0): 1023, 512, 512. */
        assert_int_equal(scene_word(&flat, instance.normals + 4 * v), 0xfff80200u);
        assert_int_equal(scene_word(&flat, instance.tangents_out + 4 * v),
                         (mesh->tangents[v] & 0xc0000000u) | 0x200803ffu);
    }
    scene_check(&flat);
    free(flat.image);
    pelt_packed_mesh_destroy(mesh);
}

/* The largest scales pelt takes, and scales whose cofactors vanish in float. */
static void scales_by_very_much_and_very_little(void **state)
{
    (void)state;
    const float scales[] = { 1e17f, 3e8f, 1e-9f, 1e-15f, 1e-25f };
    for (size_t s = 0; s < sizeof(scales) / sizeof(scales[0]); s++) {
        float *matrices = scene_matrices(s, JOINTS);
        for (uint32_t i = 0; i < 12 * JOINTS; i++) {
            matrices[i] *= scales[s];
        }
        run_and_check(matrices);
        free(matrices);
    }
}

static void boxes_hold_negative_coordinates_alone(void **state)
{
    (void)state;
    float *matrices = scene_matrices(2, JOINTS);
    for (uint32_t row = 0; row < 3 * JOINTS; row++) {
        matrices[4 * row + 3] -= 100;
    }
    run_and_check(matrices);
    free(matrices);
}

/* Products of -0: no component is ever -0 (scene_check looks), and boxes are all zero bits. */
static void writes_no_negative_zero(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    pelt_packed_mesh *mesh = scene_mesh(4, VERTICES, 4, JOINTS, false);
    for (uint32_t v = 0; v < VERTICES; v++) {
        for (int i = 0; i < 3; i++) {
            mesh->vertices[v].position[i] = v % 2 == 0 ? -0.0f : 0.0f;
        }
    }
    float matrices[12 * JOINTS];
    for (uint32_t i = 0; i < 12 * JOINTS; i++) {
        matrices[i] = -0.0f;
    }
    scene_instance instance = { .matrices = matrices, .layout = SCENE_TIGHT };
    scene zero = { .meshes = &mesh, .mesh_count = 1, .instances = &instance, .instance_count = 1 };
    pelt_skin_pass *pass = scene_shared_pass(device);
    scene_run(device, pass, &zero, 1);
    const unsigned char none[12 * VERTICES] = { 0 };
    assert_memory_equal(zero.image + instance.positions, none, sizeof(none));
    assert_memory_equal(zero.image + instance.box, none, 24);
    scene_check(&zero);
    free(zero.image);
    pelt_packed_mesh_destroy(mesh);
}

/* Differences of neighbouring small numbers are negative denormals, of which some devices make -0.
 */
static void writes_no_negative_zero_of_underflow_either(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    float positions[2][3] = { { 1, 1, 1 }, { 1, -1, 1 } };
    const pelt_primitive primitive = { .topology = PELT_POINTS,
                                       .vertex_count = 2,
                                       .positions = positions[0] };
    pelt_packed_mesh *mesh = NULL;
    assert_int_equal(
        pelt_pack(&gpu_host, &(pelt_pack_info){ .primitive = &primitive, .rigid = true }, &mesh),
        PELT_OK);
    const float a = 0x1.8p-126f, b = -0x1.800002p-126f;
    const float matrix[12] = { a, 0, 0, b, 0, a, 0, b, 0, 0, a, b };
    scene_instance instance = { .matrices = matrix, .layout = SCENE_TIGHT };
    scene tiny = { .meshes = &mesh, .mesh_count = 1, .instances = &instance, .instance_count = 1 };
    scene_run(device, scene_shared_pass(device), &tiny, 1);
    scene_check(&tiny);
    free(tiny.image);
    pelt_packed_mesh_destroy(mesh);
}

/* As on the CPU: below the least normal float, -0 and NaN are +0, the least itself is not. */
static void tiny_positions_are_zero(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    float position[3] = { 1, 1, 1 };
    const pelt_primitive primitive = { .topology = PELT_POINTS,
                                       .vertex_count = 1,
                                       .positions = position };
    pelt_packed_mesh *mesh = NULL;
    assert_int_equal(
        pelt_pack(&gpu_host, &(pelt_pack_info){ .primitive = &primitive, .rigid = true }, &mesh),
        PELT_OK);
    const struct {
        float x, expected;
    } cases[] = {
        { 0x1p-126f, 0x1p-126f },
        { -0x1p-126f, -0x1p-126f },
        { 0x1.fffffcp-127f, 0.0f },
        { -0x1.fffffcp-127f, 0.0f },
        { 1e-45f, 0.0f },
        { 0.0f, 0.0f },
        { -0.0f, 0.0f },
        { NAN, 0.0f },
        { -NAN, 0.0f },
        { -1.0f, -1.0f },
        { 1e-37f, 1e-37f },
    };
    enum { CASES = sizeof(cases) / sizeof(cases[0]) };
    scene_instance instances[CASES] = { 0 };
    float matrices[CASES][12] = { 0 };
    for (size_t i = 0; i < CASES; i++) {
        /* x of a product, z of a sum. */
        float x = cases[i].x;
        const float matrix[12] = { x, -0.0f, -0.0f, -0.0f, 0, 1, 0, 0, -0.0f, -0.0f, -0.0f, x };
        memcpy(matrices[i], matrix, sizeof(matrix));
        instances[i] = (scene_instance){ .matrices = matrices[i], .layout = SCENE_TIGHT };
    }
    scene tiny = {
        .meshes = &mesh, .mesh_count = 1, .instances = instances, .instance_count = CASES
    };
    scene_run(device, scene_shared_pass(device), &tiny, 1);
    for (size_t i = 0; i < CASES; i++) {
        const float expected[3] = { cases[i].expected, 1.0f, cases[i].expected };
        assert_memory_equal(tiny.image + instances[i].positions, expected, 12);
        assert_memory_equal(tiny.image + instances[i].box, expected, 12);
        assert_memory_equal(tiny.image + instances[i].box + 12, expected, 12);
    }
    free(tiny.image);
    pelt_packed_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(echoes_a_matrix),
        cmocka_unit_test(mirrors),
        cmocka_unit_test(flattens),
        cmocka_unit_test(falls_back_to_documented_directions),
        cmocka_unit_test(scales_by_very_much_and_very_little),
        cmocka_unit_test(boxes_hold_negative_coordinates_alone),
        cmocka_unit_test(writes_no_negative_zero),
        cmocka_unit_test(writes_no_negative_zero_of_underflow_either),
        cmocka_unit_test(tiny_positions_are_zero),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, scene_teardown));
}
