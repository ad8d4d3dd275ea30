/* The skin pass with dual quaternions against the reference: every permutation, and beside linear
 * blending in one dispatch. */
#include "tests/gpu_scene.h"

#include "pelt/layout.h"
#include "vulkan/skin_pass.h"

enum { JOINTS = 40 };

static const skin_permutation *permutation_of(const scene *self)
{
    return &pelt_skin_permutations[self->tables.permutation];
}

static void skins_in_every_permutation(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    pelt_skin_pass *pass = scene_shared_pass(device);
    static const struct {
        uint32_t vertices, slots, joints;
        bool tangents;
        scene_layout layout;
        skin_shape shape;
    } kinds[] = {
        { 3000, 4, JOINTS, true, SCENE_INTERLEAVED, SHAPE_WIDE },
        { 3000, 4, JOINTS, false, SCENE_INTERLEAVED, SHAPE_WIDE },
        { 3000, 12, 300, true, SCENE_STRUCT, SHAPE_WIDE },
        { 150, 8, JOINTS, true, SCENE_TIGHT, SHAPE_NARROW },
        { 150, 4, 300, false, SCENE_INTERLEAVED, SHAPE_NARROW },
        { 31, 4, JOINTS, true, SCENE_INTERLEAVED, SHAPE_TEAMS },
        { 31, 8, 300, true, SCENE_WIDE, SHAPE_TEAMS },
        { 5, 4, JOINTS, true, SCENE_NO_DIRECTIONS, SHAPE_TEAMS },
    };
    uint32_t seen = 0;
    for (uint32_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        pelt_packed_mesh *mesh = scene_mesh(i + 1, kinds[i].vertices, kinds[i].slots,
                                            kinds[i].joints, kinds[i].tangents);
        float *matrices[3];
        scene_instance instances[3] = { 0 };
        for (uint32_t k = 0; k < 3; k++) {
            matrices[k] = scene_motions(10 * i + k, kinds[i].joints);
            instances[k] = (scene_instance){ .layout = kinds[i].layout,
                                             .dual = true,
                                             .matrices = matrices[k] };
        }
        scene all = {
            .meshes = &mesh, .mesh_count = 1, .instances = instances, .instance_count = 3
        };
        scene_run(device, pass, &all, 1);
        assert_true(permutation_of(&all)->dual);
        bool narrow =
            kinds[i].shape == SHAPE_NARROW || (kinds[i].shape == SHAPE_WIDE && pass->is_processor);
        assert_int_equal(permutation_of(&all)->shape, narrow ? SHAPE_NARROW : kinds[i].shape);
        seen |= 1u << all.tables.permutation;
        scene_check(&all);
        free(all.image);
        for (uint32_t k = 0; k < 3; k++) {
            free(matrices[k]);
        }
        pelt_packed_mesh_destroy(mesh);
    }
    /* The last five, or of these the last two. */
    assert_int_equal(seen, pass->is_processor ? 3u << 19 : 31u << 16);
}

/* In one dispatch; without any of dual quaternions, none of their permutations. */
static void skins_beside_linear_blending(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    pelt_skin_pass *pass = scene_shared_pass(device);
    pelt_packed_mesh *meshes[2] = { scene_mesh(1, 2500, 4, JOINTS, true),
                                    scene_mesh(2, 700, 8, 300, false) };
    enum { INSTANCES = 4 * SCENE_LAYOUT_COUNT };
    scene_instance instances[INSTANCES] = { 0 };
    float *matrices[2] = { scene_motions(3, 300), scene_motions(4, 300) };
    for (uint32_t i = 0; i < INSTANCES; i++) {
        instances[i] = (scene_instance){
            .mesh = i / 2 % 2, .layout = i / 4, .dual = i % 2 == 0, .matrices = matrices[i % 3 % 2]
        };
    }
    scene all = {
        .meshes = meshes, .mesh_count = 2, .instances = instances, .instance_count = INSTANCES
    };
    scene_run(device, pass, &all, 2);
    assert_true(permutation_of(&all)->dual);
    scene_check(&all);
    free(all.image);
    for (uint32_t i = 0; i < INSTANCES; i++) {
        instances[i].dual = false;
    }
    scene_run(device, pass, &all, 1);
    assert_false(permutation_of(&all)->dual);
    scene_check(&all);
    free(all.image);
    free(matrices[0]);
    free(matrices[1]);
    pelt_packed_mesh_destroy(meshes[0]);
    pelt_packed_mesh_destroy(meshes[1]);
}

/* A vertex of one joint is where its matrix puts it, as it is under linear blending, whatever the
 * matrix: sheared, mirrored, flat, nothing. */
static void rigid_vertices_are_exact(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    pelt_skin_pass *pass = scene_shared_pass(device);
    pelt_packed_mesh *mesh = scene_mesh(5, 1000, 1, JOINTS, true);
    float *matrices = scene_matrices(6, JOINTS);
    memset(matrices, 0, 12 * sizeof(float));
    for (int i = 0; i < 4; i++) {
        matrices[12 + i] = 0;
    }
    scene_instance both[2] = { { .dual = true, .matrices = matrices }, { .matrices = matrices } };
    scene all = { .meshes = &mesh, .mesh_count = 1, .instances = both, .instance_count = 2 };
    scene_run(device, pass, &all, 1);
    assert_memory_equal(all.image + both[0].positions, all.image + both[1].positions, 1000 * 16);
    assert_memory_equal(all.image + both[0].tangents_out, all.image + both[1].tangents_out,
                        1000 * 4);
    assert_memory_equal(all.image + both[0].box, all.image + both[1].box, sizeof(pelt_box));
    free(all.image);
    free(matrices);
    pelt_packed_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skins_in_every_permutation),
        cmocka_unit_test(skins_beside_linear_blending),
        cmocka_unit_test(rigid_vertices_are_exact),
    };
    int failed = cmocka_run_group_tests(tests, gpu_setup, scene_teardown);
    failed += cmocka_run_group_tests_name("as another type of device", tests,
                                          scene_setup_as_other_type, scene_teardown);
    return gpu_result(failed);
}
