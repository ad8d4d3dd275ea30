/* Boxes from joints hold every box that a float path can write, and little more. */
#include "pack_fixture.h"

#include "base/box.h"

static pelt_box exact_box(const pelt_packed_mesh *mesh, const float *matrices)
{
    float *positions = allocate(mesh->vertex_count, 3 * sizeof(float));
    pelt_box box = PELT_BOX_EMPTY;
    pelt_skin_job job = { .mesh = mesh, .matrices = matrices, .out_positions = positions };
    pelt_skin_cpu(&job, 0, mesh->vertex_count, &box);
    free(positions);
    return box;
}

/* What another path may do: move the vertex by each joint first, sums from the other end, fused. */
static pelt_box other_box(const pelt_packed_mesh *mesh, const float *matrices)
{
    pelt_box box = PELT_BOX_EMPTY;
    uint32_t slots = 4 * mesh->set_count, *joints = allocate(slots, sizeof(*joints));
    float *weights = allocate(slots, sizeof(*weights));
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        const float *p = mesh->vertices[v].position;
        float out[3] = { 0 };
        pelt_unpack_influences(mesh, v, joints, weights);
        for (uint32_t k = slots; k-- > 0;) {
            for (int i = 0; i < 3; i++) {
                const float *row = matrices + 12 * (size_t)joints[k] + 4 * i;
                float moved = fmaf(row[0], p[0], fmaf(row[1], p[1], fmaf(row[2], p[2], row[3])));
                out[i] = fmaf(weights[k], moved, out[i]);
            }
        }
        box_add(&box, out);
    }
    free(joints);
    free(weights);
    return box;
}

/* The union without any widening, in double precision. */
static void bare_union(const pelt_joint_boxes *boxes, const float *matrices, double min[3],
                       double max[3])
{
    for (int i = 0; i < 3; i++) {
        min[i] = INFINITY;
        max[i] = -INFINITY;
    }
    for (uint32_t j = 0; j < boxes->joint_count; j++) {
        const pelt_box *bind = &boxes->bind[j];
        for (int corner = 0; corner < 8 && bind->min[0] <= bind->max[0]; corner++) {
            for (int i = 0; i < 3; i++) {
                const float *row = matrices + 12 * (size_t)j + 4 * i;
                double c = row[3];
                for (int a = 0; a < 3; a++) {
                    c += (double)row[a] * (corner >> a & 1 ? bind->max[a] : bind->min[a]);
                }
                min[i] = fmin(min[i], c);
                max[i] = fmax(max[i], c);
            }
        }
    }
}

static void hold_the_exact_box_always(void **state)
{
    (void)state;
    uint64_t seed = 11;
    uint32_t beyond_bare = 0, beyond_bare_other = 0;
    double loosest = 0.0;
    for (uint32_t round = 0; round < 3000; round++) {
        uint32_t slots = 1 + below(&seed, round % 10 == 0 ? 40 : 8),
                 joints = 40 + below(&seed, 300);
        pelt_primitive p = make_primitive(1 + below(&seed, 40), slots, round);
        random_influences(&p, slots, joints, round);
        double size = pow(10.0, uniform(&seed, -6.0, 6.0));
        double away = uniform(&seed, 0.0, 1.0) < 0.5 ? 0.0 : 100.0 * size;
        for (size_t i = 0; i < 3 * (size_t)p.vertex_count; i++) {
            p.positions[i] = (float)(p.positions[i] * size + away);
        }
        pelt_packed_mesh *mesh = pack(&p);
        float *matrices = allocate(joints, 12 * sizeof(float));
        double scale = pow(10.0, uniform(&seed, -6.0, 6.0));
        double distance =
            uniform(&seed, 0.0, 1.0) < 0.3 ? 0.0 : pow(10.0, uniform(&seed, -6.0, 6.0));
        for (uint32_t j = 0; j < joints; j++) {
            random_matrix(&seed, 0.9 * scale, 1.1 * scale, distance, matrices + 12 * (size_t)j);
            if (round % 3 == 0) { /* all joints alike: the union is as tight as it can be */
                memcpy(matrices + 12 * (size_t)j, matrices, 12 * sizeof(float));
            }
        }
        pelt_joint_boxes *boxes;
        assert_int_equal(pelt_joint_boxes_create(NULL, mesh, NULL, &boxes), PELT_OK);
        pelt_box bound = pelt_joint_boxes_bound(boxes, matrices);
        pelt_box exact = exact_box(mesh, matrices), other = other_box(mesh, matrices);
        assert_true(box_contains(&bound, &exact));
        assert_true(box_contains(&bound, &other));

        double min[3], max[3];
        bare_union(boxes, matrices, min, max);
        bool beyond = false, beyond_other = false;
        for (int i = 0; i < 3; i++) {
            beyond |= exact.min[i] < min[i] || exact.max[i] > max[i];
            beyond_other |= other.min[i] < min[i] || other.max[i] > max[i];
            /* Widening and rounding outwards: (slots + 4 + 1) x 2^-24 of the magnitudes, which
             * are at most 3.3 scale x 101 size + distance; twice that is generous. */
            double magnitude = 3.4 * scale * (size + away) + distance;
            double allowed = 2 * (4 * mesh->set_count + 5) * 0x1p-24 * magnitude;
            assert_true(bound.min[i] >= min[i] - allowed && bound.max[i] <= max[i] + allowed);
            loosest = fmax(loosest, (min[i] - bound.min[i]) / magnitude);
        }
        beyond_bare += beyond;
        beyond_bare_other += beyond_other;
        pelt_joint_boxes_destroy(boxes);
        pelt_packed_mesh_destroy(mesh);
        free(matrices);
        free_primitive(&p);
    }
    print_message("beyond the union as it is: %u and %u of 3000; widened by up to %.2g\n",
                  beyond_bare, beyond_bare_other, loosest);
    /* Else the widening was never needed and this tests nothing. */
    assert_true(beyond_bare > 100 && beyond_bare_other > 100);
}

static void bind_boxes_are_those_of_decoded_weights(void **state)
{
    (void)state;
    pelt_primitive p = make_primitive(3, 4, 1);
    memcpy(p.positions, (float[]){ 1, 2, 3, 4, 5, 6, -1, 7, 0 }, 9 * sizeof(float));
    /* Vertex 0: joints 1 and 3. Vertex 1: joint 3, and joint 2 with a weight that rounds to 0.
     * Vertex 2: joint 1. Joint 0 only by weights of 0. */
    memcpy(p.weights, (float[]){ .5f, .5f, 0, 0, 1, 1e-6f, 0, 0, 1, 0, 0, 0 }, 12 * sizeof(float));
    memcpy(p.joints, (uint16_t[]){ 1, 3, 0, 0, 3, 2, 0, 0, 1, 0, 0, 0 }, 12 * sizeof(uint16_t));
    pelt_packed_mesh *mesh = pack(&p);
    pelt_joint_boxes *boxes;
    assert_int_equal(pelt_joint_boxes_create(NULL, mesh, NULL, &boxes), PELT_OK);
    assert_int_equal(boxes->joint_count, 4);
    assert_int_equal(boxes->influence_count, 4);
    static const pelt_box expected[4] = {
        PELT_BOX_EMPTY, { { -1, 2, 0 }, { 1, 7, 3 } }, PELT_BOX_EMPTY, { { 1, 2, 3 }, { 4, 5, 6 } }
    };
    assert_memory_equal(boxes->bind, expected, sizeof(expected));
    pelt_joint_boxes_destroy(boxes);

    pelt_packed_vertex moved[3] = { 0 };
    moved[0].position[0] = 9.0f;
    assert_int_equal(pelt_joint_boxes_create(NULL, mesh, moved, &boxes), PELT_OK);
    assert_true(boxes->bind[3].min[0] == 0.0f && boxes->bind[3].max[0] == 9.0f);
    pelt_joint_boxes_destroy(boxes);
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

static void unused_joints_far_away_do_not_widen(void **state)
{
    (void)state;
    enum { JOINTS = 258 };
    pelt_primitive p = make_primitive(300, 4, 1);
    for (size_t v = 0; v < 300; v++) { /* joints 0 and 257 move; 1 to 256 have slots of weight 0 */
        p.weights[4 * v] = 0.5f;
        p.weights[4 * v + 3] = 0.5f;
        p.joints[4 * v + 3] = JOINTS - 1;
        p.joints[4 * v + 1] = p.joints[4 * v + 2] = (uint16_t)(1 + v % 256);
    }
    float matrices[JOINTS * 12] = { 0 };
    for (size_t j = 0; j < JOINTS; j++) {
        matrices[12 * j] = matrices[12 * j + 5] = matrices[12 * j + 10] = 1.0f;
        matrices[12 * j + 3] = j == 0 ? 0.0f : j == JOINTS - 1 ? 2.0f : 1e6f;
    }
    pelt_packed_mesh *mesh = pack(&p);
    pelt_joint_boxes *boxes;
    assert_int_equal(pelt_joint_boxes_create(NULL, mesh, NULL, &boxes), PELT_OK);
    pelt_box bound = pelt_joint_boxes_bound(boxes, matrices), exact = exact_box(mesh, matrices);
    assert_true(box_contains(&bound, &exact));
    assert_true(bound.min[0] >= -1.00001f && bound.max[0] <= 3.00001f);
    assert_true(bound.min[1] >= -1.00001f && bound.max[1] <= 1.00001f);
    pelt_joint_boxes_destroy(boxes);
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

static void hold_numbers_at_both_ends_of_the_range(void **state)
{
    (void)state;
    pelt_primitive p = make_primitive(20, 4, 1);
    random_influences(&p, 4, 10, 1);
    for (int end = 0; end < 2; end++) {
        float position = end ? 1e18f : 1e-38f, element = end ? 1e18f : 1e-20f;
        for (size_t i = 0; i < 60; i++) {
            p.positions[i] = i % 2 ? position : -position;
        }
        float matrices[120];
        for (size_t i = 0; i < 120; i++) {
            matrices[i] = i % 7 < 3 ? element : -element;
        }
        pelt_packed_mesh *mesh = pack(&p);
        pelt_joint_boxes *boxes;
        assert_int_equal(pelt_joint_boxes_create(NULL, mesh, NULL, &boxes), PELT_OK);
        pelt_box bound = pelt_joint_boxes_bound(boxes, matrices), exact = exact_box(mesh, matrices);
        assert_true(box_contains(&bound, &exact));
        for (int i = 0; i < 3; i++) {
            assert_true(isfinite(bound.min[i]) && isfinite(bound.max[i]));
        }
        pelt_joint_boxes_destroy(boxes);
        pelt_packed_mesh_destroy(mesh);
    }
    free_primitive(&p);
}

static void *allocate_or_fail(void *user, void *block, size_t size)
{
    int *left = user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return (*left)-- == 0 ? NULL : realloc(block, size);
}

static void failing_allocations_unwind(void **state)
{
    (void)state;
    pelt_primitive p = make_primitive(2, 1, 1);
    random_influences(&p, 1, 1, 1);
    pelt_packed_mesh *mesh = pack(&p);
    for (int n = 0; n < 3; n++) {
        int left = n;
        pelt_host host = { .user = &left, .allocate = allocate_or_fail };
        pelt_joint_boxes *boxes = (pelt_joint_boxes *)&host;
        assert_int_equal(pelt_joint_boxes_create(&host, mesh, NULL, &boxes),
                         n < 2 ? PELT_ERROR_MEMORY : PELT_OK);
        assert_true((boxes != NULL) == (n == 2));
        pelt_joint_boxes_destroy(boxes);
    }
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hold_the_exact_box_always),
        cmocka_unit_test(bind_boxes_are_those_of_decoded_weights),
        cmocka_unit_test(unused_joints_far_away_do_not_widen),
        cmocka_unit_test(hold_numbers_at_both_ends_of_the_range),
        cmocka_unit_test(failing_allocations_unwind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
