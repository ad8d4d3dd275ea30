/* Tables of the skin pass: what a caller can get wrong, and crowds beyond one dispatch dimension.
 */
#include "tests/gpu_scene.h"

/* A scene of two instances that is right. */
typedef struct right {
    pelt_gpu_mesh meshes[2];
    pelt_gpu_instance instances[2];
    pelt_skin_tables_info info;
} right;

static void make_right(right *self)
{
    const pelt_gpu_mesh mesh = { .vertices = 0x1000,
                                 .tangents = 0x2004,
                                 .weights = 0x3004,
                                 .joints = 0x4004,
                                 .vertex_count = 3000,
                                 .set_count = 1,
                                 .joint_bytes = 1 };
    const pelt_gpu_instance instance = { .matrices = 0x5000,
                                         .positions = 0x6004,
                                         .position_stride = 12,
                                         .normals = 0x7004,
                                         .normal_stride = 4,
                                         .tangents_out = 0x8004,
                                         .tangent_stride = 4,
                                         .box = 0x9004 };
    *self = (right){ .meshes = { mesh, mesh }, .instances = { instance, instance } };
    self->info = (pelt_skin_tables_info){
        .meshes = self->meshes, .mesh_count = 2, .instances = self->instances, .instance_count = 2
    };
}

/* One mistake each: 32 or 64 bits of the second mesh or instance. */
typedef struct mistake {
    const char *names; /* must be in the message */
    size_t offset;
    size_t size;
    uint64_t value;
    bool of_mesh;
    pelt_result result;
} mistake;

/* Size and place of a member, for the rows below. */
#define AT(structure, member) offsetof(structure, member), sizeof(((structure *)0)->member)

static const mistake mistakes[] = {
    { "vertices", AT(pelt_gpu_mesh, vertices), 0, true, PELT_ERROR_ARGUMENT },
    { "vertices", AT(pelt_gpu_mesh, vertices), 0x1008, true, PELT_ERROR_ARGUMENT },
    { "tangents", AT(pelt_gpu_mesh, tangents), 0x1002, true, PELT_ERROR_ARGUMENT },
    { "weights", AT(pelt_gpu_mesh, weights), 0, true, PELT_ERROR_ARGUMENT },
    { "weights", AT(pelt_gpu_mesh, weights), 0x1001, true, PELT_ERROR_ARGUMENT },
    { "joints", AT(pelt_gpu_mesh, joints), 0, true, PELT_ERROR_ARGUMENT },
    { "joints", AT(pelt_gpu_mesh, joints), 0x1002, true, PELT_ERROR_ARGUMENT },
    { "vertex_count", AT(pelt_gpu_mesh, vertex_count), 0, true, PELT_ERROR_ARGUMENT },
    { "set_count", AT(pelt_gpu_mesh, set_count), 0, true, PELT_ERROR_ARGUMENT },
    { "joint_bytes", AT(pelt_gpu_mesh, joint_bytes), 0, true, PELT_ERROR_ARGUMENT },
    { "joint_bytes", AT(pelt_gpu_mesh, joint_bytes), 4, true, PELT_ERROR_ARGUMENT },
    { "4 GiB", AT(pelt_gpu_mesh, vertex_count), 1u << 30, true, PELT_ERROR_RANGE },
    { "4 GiB", AT(pelt_gpu_mesh, set_count), UINT32_MAX, true, PELT_ERROR_RANGE },

    { "mesh is 2", AT(pelt_gpu_instance, mesh), 2, false, PELT_ERROR_ARGUMENT },
    { "matrices", AT(pelt_gpu_instance, matrices), 0, false, PELT_ERROR_ARGUMENT },
    { "matrices", AT(pelt_gpu_instance, matrices), 0x1004, false, PELT_ERROR_ARGUMENT },
    { "vertices", AT(pelt_gpu_instance, vertices), 0x1004, false, PELT_ERROR_ARGUMENT },
    { "tangents", AT(pelt_gpu_instance, tangents), 0x1001, false, PELT_ERROR_ARGUMENT },
    { "positions", AT(pelt_gpu_instance, positions), 0, false, PELT_ERROR_ARGUMENT },
    { "positions", AT(pelt_gpu_instance, positions), 0x1002, false, PELT_ERROR_ARGUMENT },
    { "position_stride", AT(pelt_gpu_instance, position_stride), 0, false, PELT_ERROR_ARGUMENT },
    { "position_stride", AT(pelt_gpu_instance, position_stride), 8, false, PELT_ERROR_ARGUMENT },
    { "position_stride", AT(pelt_gpu_instance, position_stride), 14, false, PELT_ERROR_ARGUMENT },
    { "normals", AT(pelt_gpu_instance, normals), 0x1001, false, PELT_ERROR_ARGUMENT },
    { "normal_stride", AT(pelt_gpu_instance, normal_stride), 0, false, PELT_ERROR_ARGUMENT },
    { "normal_stride", AT(pelt_gpu_instance, normal_stride), 6, false, PELT_ERROR_ARGUMENT },
    { "tangents_out", AT(pelt_gpu_instance, tangents_out), 0x1003, false, PELT_ERROR_ARGUMENT },
    { "tangent_stride", AT(pelt_gpu_instance, tangent_stride), 0, false, PELT_ERROR_ARGUMENT },
    { "tangent_stride", AT(pelt_gpu_instance, tangent_stride), 5, false, PELT_ERROR_ARGUMENT },
    { "box", AT(pelt_gpu_instance, box), 0x1002, false, PELT_ERROR_ARGUMENT },
    { "4 GiB", AT(pelt_gpu_instance, position_stride), 1u << 21, false, PELT_ERROR_RANGE },
    { "4 GiB", AT(pelt_gpu_instance, tangent_stride), 1u << 30, false, PELT_ERROR_RANGE },
};

static void refuses_every_mistake_and_names_it(void **state)
{
    (void)state;
    pelt_skin_pass *pass = scene_pass(gpu_device(), 1024, false);
    right given;
    pelt_skin_tables tables;
    make_right(&given);
    assert_int_equal(pelt_skin_tables_measure(pass, &given.info, &tables), PELT_OK);
    /* Chunks of 112 bytes, reductions of 16, partial boxes of 32. */
    assert_int_equal(tables.instance_count, 2);
    assert_int_equal(tables.chunk_count, 6);
    assert_int_equal(tables.reduce_count, 2);
    assert_int_equal(tables.reduction_offset, 6 * 112);
    assert_int_equal(tables.table_size, 6 * 112 + 2 * 16);
    assert_int_equal(tables.scratch_size, 6 * 32);
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        const mistake *wrong = &mistakes[i];
        make_right(&given);
        char *at = wrong->of_mesh ? (char *)&given.meshes[1] : (char *)&given.instances[1];
        const uint32_t low = (uint32_t)wrong->value;
        memcpy(at + wrong->offset, wrong->size == 4 ? (const void *)&low : &wrong->value,
               wrong->size);
        unsigned errors = gpu_messages.errors;
        assert_int_equal(pelt_skin_tables_measure(pass, &given.info, &tables), wrong->result);
        assert_int_equal(gpu_messages.errors, errors + 1);
        assert_non_null(strstr(gpu_messages.last, wrong->of_mesh ? "mesh 1:" : "instance 1:"));
        assert_non_null(strstr(gpu_messages.last, wrong->names));
        assert_int_equal(tables.chunk_count, 0);

        /* Nothing of a skipped instance is looked at. */
        given.instances[1].skip = true;
        assert_int_equal(pelt_skin_tables_measure(pass, &given.info, &tables),
                         wrong->of_mesh ? wrong->result : PELT_OK);
    }
    make_right(&given);
    given.info.instances = NULL;
    assert_int_equal(pelt_skin_tables_measure(pass, &given.info, &tables), PELT_ERROR_ARGUMENT);
    given.info.instance_count = 0;
    assert_int_equal(pelt_skin_tables_measure(pass, &given.info, &tables), PELT_OK);
    assert_int_equal(tables.table_size, 0);
    pelt_skin_pass_destroy(pass);
}

/* Optional outputs that are absent need no stride. */
static void takes_absent_outputs(void **state)
{
    (void)state;
    pelt_skin_pass *pass = scene_pass(gpu_device(), 1024, false);
    right given;
    pelt_skin_tables tables;
    make_right(&given);
    for (int i = 0; i < 2; i++) {
        pelt_gpu_instance *instance = &given.instances[i];
        instance->normals = instance->tangents_out = instance->box = 0;
        instance->normal_stride = instance->tangent_stride = 0;
    }
    given.meshes[0].tangents = 0;
    assert_int_equal(pelt_skin_tables_measure(pass, &given.info, &tables), PELT_OK);
    assert_int_equal(tables.chunk_count, 6);
    assert_int_equal(tables.reduce_count, 0);
    assert_int_equal(tables.scratch_size, 0);
    pelt_skin_pass_destroy(pass);
}

static void refuses_tables_past_4_gib(void **state)
{
    (void)state;
    pelt_skin_pass *pass = scene_pass(gpu_device(), 64, false);
    right given;
    pelt_skin_tables tables;
    make_right(&given);
    /* 4 GiB hold 38,347,922 chunks of 112 bytes. Nine instances have 2^22 of 64 vertices each, and
     * the tenth the 599,186 that are left. */
    enum { WHOLE = 9, LEFT = 38347922 - WHOLE * (1 << 22) };
    given.meshes[0].vertex_count = 1u << 28;
    given.meshes[1].vertex_count = 64 * LEFT;
    pelt_gpu_instance instances[WHOLE + 1];
    for (uint32_t i = 0; i < WHOLE; i++) {
        instances[i] = given.instances[0];
    }
    instances[WHOLE] = given.instances[0];
    instances[WHOLE].mesh = 1;
    given.info.instances = instances;
    given.info.instance_count = WHOLE + 1;
    for (int with_boxes = 0; with_boxes < 2; with_boxes++) {
        for (uint32_t i = 0; i <= WHOLE; i++) {
            instances[i].box = with_boxes ? 0x9004 : 0;
        }
        given.meshes[1].vertex_count = 64 * LEFT;
        assert_int_equal(pelt_skin_tables_measure(pass, &given.info, &tables), PELT_OK);
        assert_int_equal(tables.chunk_count, WHOLE * (1 << 22) + LEFT);
        assert_int_equal(tables.scratch_size, with_boxes ? tables.chunk_count * UINT64_C(32) : 0);
        given.meshes[1].vertex_count++;
        assert_int_equal(pelt_skin_tables_measure(pass, &given.info, &tables), PELT_ERROR_RANGE);
        assert_int_equal(tables.table_size, 0);
    }
    pelt_skin_pass_destroy(pass);
}

/* 70,000 instances of one vertex: more workgroups than one dimension has to have. */
static void skins_a_crowd_of_single_vertices(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    enum { CROWD = 70000 };
    float position[3] = { 0.5f, -0.25f, 0.125f };
    float normal[3] = { 0, 1, 0 };
    const pelt_primitive primitive = {
        .topology = PELT_POINTS, .vertex_count = 1, .positions = position, .normals = normal
    };
    pelt_packed_mesh *mesh = NULL;
    assert_int_equal(
        pelt_pack(&gpu_host, &(pelt_pack_info){ .primitive = &primitive, .rigid = true }, &mesh),
        PELT_OK);
    scene_instance *instances = calloc(CROWD, sizeof(*instances));
    float *matrices = calloc(CROWD, 12 * sizeof(float));
    assert_true(instances && matrices);
    for (uint32_t i = 0; i < CROWD; i++) {
        float *m = matrices + 12 * (size_t)i;
        m[0] = m[5] = m[10] = 1;
        const uint32_t column = i % 300, row = i / 300;
        m[3] = (float)column;
        m[7] = (float)row;
        m[11] = -(float)i;
        instances[i] = (scene_instance){ .matrices = m };
    }
    scene crowd = {
        .meshes = &mesh, .mesh_count = 1, .instances = instances, .instance_count = CROWD
    };
    pelt_skin_pass *pass = scene_pass(device, 0, false);
    scene_run(device, pass, &crowd, 1);
    assert_int_equal(crowd.tables.chunk_count, CROWD);
    for (uint32_t i = 0; i < CROWD; i++) {
        /* Exact: eighths below 2^17. */
        const float *m = matrices + 12 * (size_t)i;
        const float expected[3] = { 0.5f + m[3], -0.25f + m[7], 0.125f + m[11] };
        assert_memory_equal(crowd.image + instances[i].positions, expected, 12);
        assert_int_equal(scene_word(&crowd, instances[i].normals), mesh->vertices[0].normal);
        assert_memory_equal(crowd.image + instances[i].box, expected, 12);
        assert_memory_equal(crowd.image + instances[i].box + 12, expected, 12);
        memset(crowd.image + instances[i].positions, SCENE_GUARD, 16);
        memset(crowd.image + instances[i].box, SCENE_GUARD, 24);
        instances[i].skip = true;
    }
    scene_check(&crowd); /* the guards */
    free(crowd.image);
    free(instances);
    free(matrices);
    pelt_packed_mesh_destroy(mesh);
    pelt_skin_pass_destroy(pass);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_every_mistake_and_names_it),
        cmocka_unit_test(takes_absent_outputs),
        cmocka_unit_test(refuses_tables_past_4_gib),
        cmocka_unit_test(skins_a_crowd_of_single_vertices),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, gpu_teardown));
}
