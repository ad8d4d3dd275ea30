/* The skin pass against double arithmetic and the CPU: sizes, influences, joint widths, layouts. */
#include "tests/gpu_scene.h"

/* Around the sizes of a subgroup, a group and a chunk. */
static const uint32_t vertex_counts[] = { 1, 63, 64, 65, 129, 1023, 1024, 1025, 5000 };
enum { COUNTS = sizeof(vertex_counts) / sizeof(vertex_counts[0]) };

static const uint32_t slot_counts[] = { 4, 8, 12 };
static const uint32_t joint_counts[] = { 20, 300 };

enum { LARGEST_PALETTE = 300, MESHES = COUNTS * 3 * 2 };

/* Every size with every number of influences and both joint widths; every third without tangents.
 */
static void make_meshes(pelt_packed_mesh *meshes[MESHES])
{
    for (uint32_t i = 0; i < MESHES; i++) {
        meshes[i] = scene_mesh(1000 + i, vertex_counts[i / 6], slot_counts[i % 6 / 2],
                               joint_counts[i % 2], i % 3 != 0);
    }
}

static void destroy_meshes(pelt_packed_mesh **meshes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        pelt_packed_mesh_destroy(meshes[i]);
    }
}

static void skins_everything_in_one_dispatch(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    pelt_skin_pass *pass = scene_shared_pass(device);
    pelt_packed_mesh *meshes[MESHES];
    make_meshes(meshes);
    enum { INSTANCES = 2 * MESHES };
    scene_instance instances[INSTANCES] = { 0 };
    float *matrices[INSTANCES];
    for (uint32_t i = 0; i < INSTANCES; i++) {
        matrices[i] = scene_matrices(i, LARGEST_PALETTE);
        instances[i] = (scene_instance){ .mesh = i % MESHES,
                                         .layout = i % SCENE_LAYOUT_COUNT,
                                         .matrices = matrices[i] };
    }
    scene whole = {
        .meshes = meshes, .mesh_count = MESHES, .instances = instances, .instance_count = INSTANCES
    };
    scene_run(device, pass, &whole, 1);
    scene_check(&whole);
    free(whole.image);
    for (uint32_t i = 0; i < INSTANCES; i++) {
        free(matrices[i]);
    }
    destroy_meshes(meshes, MESHES);
}

static void writes_every_layout(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    pelt_skin_pass *pass = scene_pass(device, 128, false);
    pelt_packed_mesh *meshes[2] = { scene_mesh(1, 300, 4, 30, true),
                                    scene_mesh(2, 300, 4, 30, false) };
    float *matrices = scene_matrices(3, 30);
    scene_instance instances[2 * SCENE_LAYOUT_COUNT] = { 0 };
    for (uint32_t i = 0; i < 2 * SCENE_LAYOUT_COUNT; i++) {
        instances[i] = (scene_instance){ .mesh = i / SCENE_LAYOUT_COUNT,
                                         .layout = i % SCENE_LAYOUT_COUNT,
                                         .matrices = matrices };
    }
    scene all = { .meshes = meshes,
                  .mesh_count = 2,
                  .instances = instances,
                  .instance_count = 2 * SCENE_LAYOUT_COUNT };
    scene_run(device, pass, &all, 1);
    /* 3 chunks each; no reduction where no box is wanted. */
    assert_int_equal(all.tables.chunk_count, 6 * SCENE_LAYOUT_COUNT);
    assert_int_equal(all.tables.reduce_count, 2 * (SCENE_LAYOUT_COUNT - 1));
    assert_int_equal(all.tables.scratch_size, 32 * 6 * (SCENE_LAYOUT_COUNT - 1));
    scene_check(&all);
    free(all.image);
    free(matrices);
    destroy_meshes(meshes, 2);
    pelt_skin_pass_destroy(pass);
}

static void leaves_skipped_instances_alone(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    pelt_skin_pass *pass = scene_shared_pass(device);
    pelt_packed_mesh *meshes[1] = { scene_mesh(5, 1100, 4, 10, true) };
    float *matrices = scene_matrices(6, 10);
    scene_instance instances[5] = { 0 };
    for (uint32_t i = 0; i < 5; i++) {
        instances[i] = (scene_instance){ .skip = i % 2 == 0, .matrices = matrices };
    }
    scene some = { .meshes = meshes, .mesh_count = 1, .instances = instances, .instance_count = 5 };
    scene_run(device, pass, &some, 1);
    assert_int_equal(some.tables.instance_count, 2);
    assert_int_equal(some.tables.reduce_count, 2);
    scene_check(&some);
    free(some.image);

    instances[1].skip = instances[3].skip = true;
    scene_run(device, pass, &some, 1);
    assert_int_equal(some.tables.chunk_count, 0);
    assert_int_equal(some.tables.table_size, 0);
    scene_check(&some);
    free(some.image);
    free(matrices);
    destroy_meshes(meshes, 1);
}

static void reads_replaced_streams(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    pelt_skin_pass *pass = scene_shared_pass(device);
    pelt_packed_mesh *meshes[2] = { scene_mesh(8, 700, 8, 40, true),
                                    scene_mesh(13, 700, 8, 40, false) };
    pelt_packed_mesh *other = scene_mesh(9, 700, 4, 40, true);
    float *matrices = scene_matrices(10, 40);
    scene_instance instances[4] = {
        { .matrices = matrices, .vertices = other->vertices },
        { .matrices = matrices, .tangents = other->tangents },
        { .matrices = matrices, .vertices = other->vertices, .tangents = other->tangents },
        { .mesh = 1, .matrices = matrices, .tangents = other->tangents }, /* has none to replace */
    };
    scene morphed = {
        .meshes = meshes, .mesh_count = 2, .instances = instances, .instance_count = 4
    };
    scene_run(device, pass, &morphed, 1);
    scene_check(&morphed);
    free(morphed.image);
    free(matrices);
    destroy_meshes(meshes, 2);
    pelt_packed_mesh_destroy(other);
}

/* Small and large chunks, with and without subgroup arithmetic: the same bytes. */
static void gives_the_same_boxes_however_it_reduces(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    pelt_packed_mesh *meshes[MESHES];
    make_meshes(meshes);
    float *matrices = scene_matrices(11, LARGEST_PALETTE);
    scene_instance instances[MESHES] = { 0 };
    for (uint32_t i = 0; i < MESHES; i++) {
        instances[i] = (scene_instance){ .mesh = i, .matrices = matrices };
    }
    scene first = {
        .meshes = meshes, .mesh_count = MESHES, .instances = instances, .instance_count = MESHES
    };
    const uint32_t chunk_vertices[] = { 1024, 192, 65536, 64 };
    for (uint32_t i = 0; i < 4; i++) {
        pelt_skin_pass *pass = scene_pass(device, chunk_vertices[i], i % 2 == 1);
        scene next = first;
        scene_run(device, pass, &next, 1);
        pelt_skin_pass_destroy(pass);
        if (i == 0) {
            first = next;
            continue;
        }
        assert_memory_equal(next.image, first.image, first.image_size);
        free(next.image);
    }
    scene_check(&first);
    free(first.image);
    free(matrices);
    destroy_meshes(meshes, MESHES);
}

/* One mesh of 300,000 vertices; three frames in one command buffer, then three submissions. */
static void skins_a_large_mesh_frame_after_frame(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    pelt_skin_pass *pass = scene_shared_pass(device);
    pelt_packed_mesh *mesh = scene_mesh(12, 300000, 4, 64, true);
    scene_instance instance = { .layout = SCENE_INTERLEAVED };
    scene large = { .meshes = &mesh, .mesh_count = 1, .instances = &instance, .instance_count = 1 };
    for (uint32_t frame = 0; frame < 3; frame++) {
        float *matrices = scene_matrices(20 + frame, 64);
        instance.matrices = matrices;
        scene_run(device, pass, &large, frame == 0 ? 3 : 1);
        assert_int_equal(large.tables.reduce_count, 1);
        scene_check(&large);
        free(large.image);
        free(matrices);
    }
    pelt_packed_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skins_everything_in_one_dispatch),
        cmocka_unit_test(writes_every_layout),
        cmocka_unit_test(leaves_skipped_instances_alone),
        cmocka_unit_test(reads_replaced_streams),
        cmocka_unit_test(gives_the_same_boxes_however_it_reduces),
        cmocka_unit_test(skins_a_large_mesh_frame_after_frame),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, scene_teardown));
}
