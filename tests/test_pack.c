/* pelt_pack apart from the numbers: order, report, morphs, displacement, errors, memory. */
#include "pack_fixture.h"

static void vertices_are_found_through_the_remap(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    pelt_primitive p = make_primitive(COUNT, 8, 1);
    random_influences(&p, 8, 300, 1);
    uint32_t order[COUNT];
    uint64_t seed = 5;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t j = below(&seed, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    pelt_packed_mesh *plain = pack(&p), *shuffled = pack_in_order(&p, order);
    assert_int_equal(shuffled->set_count, 2);
    assert_int_equal(shuffled->joint_bytes, 2);
    assert_memory_equal(&plain->report, &shuffled->report, sizeof(plain->report));
    for (uint32_t to = 0; to < COUNT; to++) {
        assert_int_equal(plain->source_vertices[to], to);
        assert_int_equal(plain->packed_vertices[to], to);
        uint32_t from = shuffled->source_vertices[to];
        assert_int_equal(from, order[to]);
        assert_int_equal(shuffled->packed_vertices[from], to);
        assert_memory_equal(shuffled->vertices[to].position, p.positions + 3 * (size_t)from,
                            3 * sizeof(float));
        assert_int_equal(shuffled->vertices[to].normal, plain->vertices[from].normal);
        assert_int_equal(shuffled->tangents[to], plain->tangents[from]);
        uint32_t joints[2][8];
        float weights[2][8];
        pelt_unpack_influences(shuffled, to, joints[0], weights[0]);
        pelt_unpack_influences(plain, from, joints[1], weights[1]);
        assert_memory_equal(joints[0], joints[1], sizeof(joints[0]));
        assert_memory_equal(weights[0], weights[1], sizeof(weights[0]));
    }
    pelt_packed_mesh_destroy(plain);
    pelt_packed_mesh_destroy(shuffled);
    free_primitive(&p);
}

static void rigid_meshes_follow_matrix_zero(void **state)
{
    (void)state;
    pelt_primitive p = make_primitive(10, 8, 1);
    random_influences(&p, 8, 300, 1);
    for (int unskinned = 0; unskinned < 2; unskinned++) {
        pelt_pack_info info = { .primitive = &p, .rigid = !unskinned };
        p.influence_count = unskinned ? 0 : 8;
        pelt_packed_mesh *mesh;
        assert_int_equal(pelt_pack(NULL, &info, &mesh), PELT_OK);
        assert_true(mesh->rigid);
        assert_int_equal(mesh->set_count, 1);
        assert_int_equal(mesh->joint_count, 1);
        assert_int_equal(mesh->joint_bytes, 1);
        assert_int_equal(mesh->report.influence_max, 1);
        assert_true(mesh->report.weight_error == 0.0f);
        for (uint32_t v = 0; v < 10; v++) {
            assert_int_equal(mesh->weights[v], 0);
            assert_int_equal(mesh->joints[v], 0);
        }
        double largest = 1.0, identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
        assert_int_equal(pelt_pack_displacement(mesh, &p, NULL, identity, NULL, NULL, &largest),
                         PELT_OK);
        assert_true(largest == 0.0);
        pelt_packed_mesh_destroy(mesh);
    }
    free_primitive(&p);
}

static void streams_have_the_documented_sizes(void **state)
{
    (void)state;
    pelt_primitive p = make_primitive(100, 9, 1);
    for (uint32_t v = 0; v < 100; v++) {
        for (uint32_t k = 0; k < 9; k++) {
            p.weights[9 * v + k] = 1.0f / 9.0f;
            p.joints[9 * v + k] = (uint16_t)(250 + k);
        }
    }
    pelt_packed_mesh *mesh = pack(&p);
    pelt_packed_sizes sizes = pelt_packed_mesh_sizes(mesh);
    assert_int_equal(sizes.vertices, 1600);
    assert_int_equal(sizes.tangents, 400);
    assert_int_equal(sizes.weights, 100 * (4 + 8 + 8));
    assert_int_equal(sizes.joints, 100 * (8 + 8 + 8));
    pelt_packed_mesh_destroy(mesh);

    float *tangents = p.tangents;
    p.tangents = NULL;
    p.influence_count = 0;
    mesh = pack(&p);
    sizes = pelt_packed_mesh_sizes(mesh);
    assert_null(mesh->tangents);
    assert_int_equal(sizes.tangents, 0);
    assert_int_equal(sizes.weights, 400);
    assert_int_equal(sizes.joints, 400);
    pelt_packed_mesh_destroy(mesh);
    p.tangents = tangents;
    free_primitive(&p);
}

static void missing_normals_are_z(void **state)
{
    (void)state;
    pelt_primitive p = make_primitive(3, 1, 1);
    random_influences(&p, 1, 1, 1);
    memset(p.normals + 3, 0, 3 * sizeof(float)); /* of vertex 1 alone */
    uint32_t z = 512u | 512u << 10 | 1023u << 20 | 3u << 30;
    pelt_packed_mesh *mesh = pack(&p);
    assert_true(mesh->has_normals);
    assert_int_equal(mesh->vertices[1].normal, z);
    assert_true(mesh->report.normal_error < 0.0018f);
    pelt_packed_mesh_destroy(mesh);

    float *normals = p.normals;
    p.normals = NULL;
    mesh = pack(&p);
    assert_false(mesh->has_normals);
    for (int v = 0; v < 3; v++) {
        assert_int_equal(mesh->vertices[v].normal, z);
    }
    assert_true(mesh->report.normal_error == 0.0f);
    pelt_packed_mesh_destroy(mesh);
    p.normals = normals;
    free_primitive(&p);
}

/* 2047/4096 has no code and becomes 1/2: errors of 1/4096 each. The vertices are
 * 8 apart, so in a pose that keeps such distances one moves by (1 + 1) / 2 x 8 / 4096. The matrices
 * move the second joint's vertices 3 x 2^12 along z from the first's. */
static void report_and_displacement_beside_a_tie(void **state)
{
    (void)state;
    pelt_primitive p = make_primitive(2, 2, 1);
    memset(p.positions, 0, 6 * sizeof(float));
    p.positions[3] = 8.0f;
    for (size_t v = 0; v < 2; v++) {
        p.weights[2 * v] = 2049 / 4096.0f;
        p.weights[2 * v + 1] = 2047 / 4096.0f;
        p.joints[2 * v + 1] = 1;
    }
    p.weights[2] = 1.0f; /* the other vertex is rigid */
    p.weights[3] = 0.0f;
    pelt_packed_mesh *mesh = pack(&p);
    assert_true(mesh->report.weight_error == 0x1p-12f);
    assert_true(mesh->report.position_error == 8 * 0x1p-12f);
    assert_int_equal(mesh->report.influence_max, 2);

    double matrices[24] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0,
                            1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 12288 };
    double bounds[2], largest;
    assert_int_equal(pelt_pack_displacement(mesh, &p, NULL, matrices, NULL, bounds, &largest),
                     PELT_OK);
    assert_true(bounds[0] == 3.0 && bounds[1] == 0.0 && largest == 3.0);

    pelt_packed_vertex moved[2] = { mesh->vertices[0], mesh->vertices[1] };
    moved[0].position[0] = 1.0f;
    matrices[12] = 4097.0; /* now also 2^12 x apart along x */
    matrices[23] = 0.0;
    assert_int_equal(pelt_pack_displacement(mesh, &p, moved, matrices, NULL, bounds, NULL),
                     PELT_OK);
    assert_true(bounds[0] == 1.0 && bounds[1] == 0.0);
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

/* The bound holds the true displacement, and is not much more than it. */
static void displacement_bounds_what_happens(void **state)
{
    (void)state;
    enum { COUNT = 2000, JOINTS = 70 };
    pelt_primitive p = make_primitive(COUNT, 70, 1);
    random_influences(&p, 40, JOINTS, 1);
    p.joints[0] = p.joints[1] = 5; /* a joint named twice */
    p.weights[0] = p.weights[1] = 0.37f;
    pelt_packed_mesh *mesh = pack(&p);
    uint64_t seed = 3;
    float single[JOINTS * 12];
    double matrices[JOINTS * 12];
    for (int j = 0; j < JOINTS; j++) {
        random_matrix(&seed, 0.5, 2.0, 10.0, single + 12 * j);
    }
    for (int i = 0; i < JOINTS * 12; i++) {
        matrices[i] = single[i];
    }
    double *bounds = allocate(COUNT, sizeof(*bounds)), largest, seen = 0.0, ratio = 0.0;
    assert_int_equal(pelt_pack_displacement(mesh, &p, NULL, matrices, NULL, bounds, &largest),
                     PELT_OK);
    uint32_t *joints = allocate(4 * mesh->set_count, sizeof(*joints));
    float *weights = allocate(4 * mesh->set_count, sizeof(*weights));
    for (uint32_t v = 0; v < COUNT; v++) {
        double sum = 0.0, moved[3] = { 0 };
        const float *position = p.positions + 3 * (size_t)v;
        for (uint32_t k = 0; k < 70; k++) {
            sum += p.weights[70 * (size_t)v + k];
        }
        pelt_unpack_influences(mesh, v, joints, weights);
        for (int i = 0; i < 3; i++) {
            for (uint32_t k = 0; k < 70; k++) {
                const double *row = matrices + 12 * p.joints[70 * (size_t)v + k] + 4 * i;
                moved[i] -=
                    p.weights[70 * (size_t)v + k] / sum *
                    (row[0] * position[0] + row[1] * position[1] + row[2] * position[2] + row[3]);
            }
            for (uint32_t k = 0; k < 4 * mesh->set_count; k++) {
                const double *row = matrices + 12 * joints[k] + 4 * i;
                moved[i] += weights[k] * (row[0] * position[0] + row[1] * position[1] +
                                          row[2] * position[2] + row[3]);
            }
        }
        double distance = sqrt(moved[0] * moved[0] + moved[1] * moved[1] + moved[2] * moved[2]);
        assert_true(distance <= bounds[v] + 1e-12);
        ratio = bounds[v] > 0.0 ? fmax(ratio, distance / bounds[v]) : ratio;
        seen = fmax(seen, bounds[v]);
    }
    assert_true(largest == seen);
    assert_true(ratio > 0.9);
    free(bounds);
    free(joints);
    free(weights);
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

static void morphs_are_added_before_packing(void **state)
{
    (void)state;
    pelt_primitive p = make_primitive(2, 1, 1);
    random_influences(&p, 1, 1, 1);
    float positions[6] = { 1, 2, 3, 10, 20, 30 }, normals[6] = { 0, 0, 0, 1, 0, 0 };
    float tangents[6] = { 0, 0, 0, 0, -2, 0 }, far_away[6] = { 0, 0, 0, 1e30f, -1e30f, 0 };
    pelt_morph_target targets[] = {
        { .positions = positions, .normals = normals, .tangents = tangents },
        { .positions = far_away },
        { .normals = normals },
    };
    p.target_count = 3;
    p.targets = targets;
    memcpy(p.normals + 3, (float[]){ 0, 1, 0 }, 3 * sizeof(float));
    memcpy(p.tangents + 4, (float[]){ 0, 1, 0, -1 }, 4 * sizeof(float));
    uint32_t order[2] = { 1, 0 };
    pelt_packed_mesh *mesh = pack_in_order(&p, order);

    pelt_packed_vertex vertices[2];
    uint32_t packed_tangents[2];
    pelt_pack_morphed(mesh, &p, NULL, vertices, packed_tangents);
    assert_memory_equal(vertices, mesh->vertices, sizeof(vertices));
    assert_memory_equal(packed_tangents, mesh->tangents, sizeof(packed_tangents));
    pelt_pack_morphed(mesh, &p, (double[]){ 0, 0, 0 }, vertices, NULL);
    assert_memory_equal(vertices, mesh->vertices, sizeof(vertices));

    assert_int_equal(
        pelt_pack_morphed(mesh, &p, (double[]){ 1.0, 0, 0 }, vertices, packed_tangents), 0);
    for (int i = 0; i < 3; i++) { /* packed 0 is vertex 1 */
        double sum = (double)p.positions[3 + i] + positions[3 + i];
        assert_true(vertices[0].position[i] == (float)sum);
    }
    float diagonal[3] = { 1, 1, 0 }, back[3] = { 0, -1, 0 };
    assert_int_equal(vertices[0].normal, pelt_encode_direction(diagonal, 1.0f));
    assert_int_equal(packed_tangents[0], pelt_encode_direction(back, -1.0f));
    assert_int_equal(packed_tangents[1], mesh->tangents[1]);

    /* Beyond every limit: clamped, counted and finite; the normal's weight is negative. */
    assert_int_equal(
        pelt_pack_morphed(mesh, &p, (double[]){ 0, 1e300, -1.0 }, vertices, packed_tangents), 1);
    assert_true(vertices[0].position[0] == 1e18f && vertices[0].position[1] == -1e18f);
    diagonal[0] = -1.0f;
    assert_int_equal(vertices[0].normal, pelt_encode_direction(diagonal, 1.0f));
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

static void count_message(void *user, const pelt_message *message)
{
    assert_int_equal(message->severity, PELT_ERROR);
    *(int *)user += message->text[0] != 0;
}

static void expect_refusal(const pelt_pack_info *info, pelt_result expected)
{
    int messages = 0;
    pelt_host host = { .user = &messages, .message = count_message };
    pelt_packed_mesh *mesh = (pelt_packed_mesh *)&host;
    assert_int_equal(pelt_pack(&host, info, &mesh), expected);
    assert_null(mesh);
    assert_int_equal(messages, 1);
}

static void bad_input_is_refused_with_a_message(void **state)
{
    (void)state;
    pelt_primitive p = make_primitive(4, 4, 1), bad;
    random_influences(&p, 4, 4, 1);
    pelt_pack_info info = { .primitive = &bad };
    float *const numbers[] = { p.positions + 4, p.normals + 4, p.tangents + 5, p.weights + 5 };
    for (size_t i = 0; i < 4; i++) {
        float kept = *numbers[i];
        for (int kind = 0; kind < 3; kind++) {
            bad = p;
            *numbers[i] = kind == 0 ? NAN : kind == 1 ? INFINITY : -INFINITY;
            expect_refusal(&info, PELT_ERROR_ARGUMENT);
        }
        *numbers[i] = kept;
    }
    bad = p;
    float kept = p.positions[4];
    p.positions[4] = 1.0001e18f;
    expect_refusal(&info, PELT_ERROR_ARGUMENT);
    p.positions[4] = kept;
    p.weights[5] = -1e-9f;
    expect_refusal(&info, PELT_ERROR_ARGUMENT);
    memset(p.weights + 4, 0, 4 * sizeof(float));
    expect_refusal(&info, PELT_ERROR_ARGUMENT);
    p.weights[5] = 1.0f;

    bad.vertex_count = 0;
    expect_refusal(&info, PELT_ERROR_ARGUMENT);
    bad = p;
    bad.positions = NULL;
    expect_refusal(&info, PELT_ERROR_ARGUMENT);
    bad = p;
    bad.weights = NULL;
    expect_refusal(&info, PELT_ERROR_ARGUMENT);
    bad = p;
    bad.vertex_count = 1u << 28; /* refused before any is read */
    expect_refusal(&info, PELT_ERROR_RANGE);
    expect_refusal(&(pelt_pack_info){ 0 }, PELT_ERROR_ARGUMENT);

    static const uint32_t orders[][4] = { { 0, 1, 2, 4 }, { 0, 1, 2, 2 }, { 0, 1, 2, UINT32_MAX } };
    for (int i = 0; i < 3; i++) {
        expect_refusal(&(pelt_pack_info){ .primitive = &p, .order = orders[i] },
                       PELT_ERROR_ARGUMENT);
    }
    free_primitive(&p);
}

typedef struct failing {
    int left;
    int live;
} failing;

static void *allocate_or_fail(void *user, void *block, size_t size)
{
    failing *f = user;
    if (size == 0) {
        f->live -= block != NULL;
        free(block);
        return NULL;
    }
    if (f->left-- == 0) {
        return NULL;
    }
    f->live += block == NULL;
    return realloc(block, size);
}

/* A primitive that takes every step: its second set and its wide joints turn out not to be needed.
 */
static void every_failing_allocation_unwinds(void **state)
{
    (void)state;
    pelt_primitive p = make_primitive(5, 5, 1);
    for (size_t v = 0; v < 5; v++) {
        memcpy(p.weights + 5 * v, (float[]){ .4f, .3f, .2f, .1f, 1e-7f }, 5 * sizeof(float));
        memcpy(p.joints + 5 * v, (uint16_t[]){ 1, 2, 3, 4, 400 }, 5 * sizeof(uint16_t));
    }
    double identities[401 * 12] = { 0 };
    pelt_result result = PELT_ERROR_MEMORY;
    for (int n = 0; result; n++) {
        failing f = { .left = n };
        pelt_host host = { .user = &f, .allocate = allocate_or_fail };
        pelt_packed_mesh *mesh;
        result = pelt_pack(&host, &(pelt_pack_info){ .primitive = &p }, &mesh);
        assert_true(result == PELT_ERROR_MEMORY || n > 10);
        if (!result) {
            assert_int_equal(mesh->set_count, 1);
            assert_int_equal(mesh->joint_bytes, 1);
            assert_int_equal(f.live, 7);
            f.left = 3;
            assert_int_equal(pelt_pack_displacement(mesh, &p, NULL, identities, NULL, NULL, NULL),
                             PELT_ERROR_MEMORY);
            f.left = 4;
            assert_int_equal(pelt_pack_displacement(mesh, &p, NULL, identities, NULL, NULL, NULL),
                             PELT_ERROR_MEMORY);
            assert_int_equal(f.live, 7);
        }
        pelt_packed_mesh_destroy(mesh);
        assert_int_equal(f.live, 0);
    }
    pelt_packed_mesh_destroy(NULL);
    free_primitive(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vertices_are_found_through_the_remap),
        cmocka_unit_test(rigid_meshes_follow_matrix_zero),
        cmocka_unit_test(streams_have_the_documented_sizes),
        cmocka_unit_test(missing_normals_are_z),
        cmocka_unit_test(report_and_displacement_beside_a_tie),
        cmocka_unit_test(displacement_bounds_what_happens),
        cmocka_unit_test(morphs_are_added_before_packing),
        cmocka_unit_test(bad_input_is_refused_with_a_message),
        cmocka_unit_test(every_failing_allocation_unwinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
