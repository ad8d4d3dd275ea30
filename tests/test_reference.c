/* The double-precision reference, by hand and by independent formulas. */
#include "tests/build_model.h"

#include <stdlib.h>

#define NEAR 1e-14

/* One vertex with a normal and a tangent, under up to four joints. */
typedef struct vertex {
    float position[3], normal[3], tangent[4];
    uint16_t joints[4];
    float weights[4];
} vertex;

typedef struct skinned {
    double position[3], normal[3], tangent[4];
    double normal_confidence, tangent_confidence;
    double box[6];
} skinned;

static skinned skin(vertex v, const double *matrices)
{
    pelt_primitive primitive = { .topology = PELT_POINTS,
                                 .vertex_count = 1,
                                 .positions = v.position,
                                 .normals = v.normal,
                                 .tangents = v.tangent,
                                 .influence_count = 4,
                                 .joints = v.joints,
                                 .weights = v.weights,
                                 .material = -1 };
    skinned out = { .box = { INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY } };
    const pelt_reference_job job = { .primitive = &primitive,
                                     .matrices = matrices,
                                     .positions = out.position,
                                     .normals = out.normal,
                                     .tangents = out.tangent,
                                     .normal_confidence = &out.normal_confidence,
                                     .tangent_confidence = &out.tangent_confidence };
    pelt_skin_reference(&job, 0, 1, out.box);
    for (int i = 0; i < 3; i++) {
        assert_true(out.box[i] == out.position[i] && out.box[3 + i] == out.position[i]);
    }
    return out;
}

static void check3(const double *value, double x, double y, double z, double tolerance)
{
    assert_near(value[0], x, tolerance);
    assert_near(value[1], y, tolerance);
    assert_near(value[2], z, tolerance);
}

/* scale (4 1 1): the normal (1 1 0) goes to (1 4 0) / sqrt 17, the tangent (1 -1 0) to
 * (4 -1 0) / sqrt 17, and both stay at right angles. */
static void stretches_normals_and_tangents_apart(void **state)
{
    (void)state;
    const double matrix[12] = { 4, 0, 0, 5, 0, 1, 0, 6, 0, 0, 1, 7 };
    const float s = (float)sqrt(0.5);
    const vertex v = { .position = { 1, 2, 3 },
                       .normal = { s, s, 0 },
                       .tangent = { s, -s, 0, -1 },
                       .weights = { 1 } };
    skinned out = skin(v, matrix);
    check3(out.position, 9, 8, 10, 0);
    check3(out.normal, 1 / sqrt(17), 4 / sqrt(17), 0, NEAR);
    check3(out.tangent, 4 / sqrt(17), -1 / sqrt(17), 0, NEAR);
    assert_true(out.tangent[3] == -1);
    assert_near(out.normal_confidence, sqrt(17.0 / 2) / 16, 1e-7);
    assert_near(out.tangent_confidence, sqrt(17.0 / 2) / 4, 1e-7);
}

/* Half of joint 1 moved by (2 0 0), a quarter each of joints 0 and 2, which scale by 1 and 5 about
 * the origin: A = 1/2 + 1/4 + 5/4 = 2. */
static void blends_matrices_by_weight(void **state)
{
    (void)state;
    const double matrices[36] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, /* */
                                  1, 0, 0, 2, 0, 1, 0, 0, 0, 0, 1, 0, /* */
                                  5, 0, 0, 0, 0, 5, 0, 0, 0, 0, 5, 0 };
    vertex v = { .position = { 1, 1, 1 },
                 .normal = { 0, 1, 0 },
                 .tangent = { 1, 0, 0, 1 },
                 .joints = { 1, 2, 0, 0 },
                 .weights = { 0.5f, 0.25f, 0.25f, 0 } };
    check3(skin(v, matrices).position, 3, 2, 2, 0);
    /* Weights are taken relative to their sum, and slots without weight may name any joint. */
    const vertex doubled = { .position = { 1, 1, 1 },
                             .normal = { 0, 1, 0 },
                             .tangent = { 1, 0, 0, 1 },
                             .joints = { 1, 2, 0, 65535 },
                             .weights = { 1, 0.5f, 0.5f, 0 } };
    check3(skin(doubled, matrices).position, 3, 2, 2, 0);
    /* Without any weight the first joint has it all. */
    memset(v.weights, 0, sizeof(v.weights));
    check3(skin(v, matrices).position, 3, 1, 1, 0);
}

static double uniform(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 23) - 1;
}

/* Solves m x = b by Cramer's rule; returns det m. */
static double solve3(const double m[9], const double b[3], double x[3])
{
    double det = m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
                 m[2] * (m[3] * m[7] - m[4] * m[6]);
    for (int k = 0; k < 3; k++) {
        double c[9];
        memcpy(c, m, sizeof(c));
        for (int row = 0; row < 3; row++) {
            c[3 * row + k] = b[row];
        }
        x[k] = (c[0] * (c[4] * c[8] - c[5] * c[7]) - c[1] * (c[3] * c[8] - c[5] * c[6]) +
                c[2] * (c[3] * c[7] - c[4] * c[6])) /
               det;
    }
    return det;
}

/* cof(A) = det(A) A^-T: A^T x = n gives x = A^-T n. Over random A, half of them mirrored. */
static void agrees_with_inverse_transpose_times_determinant(void **state)
{
    (void)state;
    uint32_t seed = 1;
    int mirrored = 0;
    for (int round = 0; round < 1000; round++) {
        double matrix[12], transposed[9], x[3];
        vertex v = { .tangent = { 1, 0, 0, 1 }, .weights = { 1 } };
        for (int i = 0; i < 12; i++) {
            matrix[i] = uniform(&seed);
        }
        double n[3];
        for (int i = 0; i < 3; i++) {
            v.normal[i] = (float)uniform(&seed);
            n[i] = (double)v.normal[i];
            for (int k = 0; k < 3; k++) {
                transposed[3 * k + i] = matrix[4 * i + k];
            }
        }
        double det = solve3(transposed, n, x);
        if (fabs(det) < 1e-3) {
            continue;
        }
        mirrored += det < 0;
        double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) * (det < 0 ? -1 : 1);
        skinned out = skin(v, matrix);
        check3(out.normal, x[0] / length, x[1] / length, x[2] / length, 1e-10);
    }
    assert_true(mirrored > 300 && mirrored < 700);
}

/* The skinned normal of a triangle is the normal of the skinned triangle, in file order, whatever
 * the sign of the determinant. */
static void agrees_with_the_winding_of_skinned_triangles(void **state)
{
    (void)state;
    const float corners[3][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 } };
    const double matrices[3][12] = {
        { -1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 },            /* mirrored */
        { 1, 2, 3, 0, 0, -1, 4, 0, 5, 6, 0.5, 0 },          /* anything */
        { 2, 0.5, 0, 9, -0.3, 1, 0.2, 8, 0.1, 0, -0.7, 7 }, /* mirrored */
    };
    for (int m = 0; m < 3; m++) {
        skinned out[3];
        for (int i = 0; i < 3; i++) {
            vertex v = { .normal = { 0, 0, 1 }, .tangent = { 1, 0, 0, 1 }, .weights = { 1 } };
            memcpy(v.position, corners[i], sizeof(v.position));
            out[i] = skin(v, matrices[m]);
        }
        double a[3], b[3];
        for (int i = 0; i < 3; i++) {
            a[i] = out[1].position[i] - out[0].position[i];
            b[i] = out[2].position[i] - out[0].position[i];
        }
        double n[3] = { a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                        a[0] * b[1] - a[1] * b[0] };
        double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        check3(out[0].normal, n[0] / length, n[1] / length, n[2] / length, NEAR);
        assert_true(out[0].tangent[3] == 1);
    }
}

/* Rank 2: the flattened axis is the one normal; rank 1 and 0: none, so (0 0 1) and (1 0 0). */
static void falls_back_where_a_direction_vanishes(void **state)
{
    (void)state;
    const float s = (float)sqrt(1.0 / 3);
    const vertex v = {
        .position = { 1, 2, 3 }, .normal = { s, s, s }, .tangent = { 0, 1, 0, -1 }, .weights = { 1 }
    };
    const double flat[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0 };
    skinned out = skin(v, flat);
    check3(out.normal, 0, 0, 1, 0);
    check3(out.tangent, 0, 1, 0, 0);
    assert_true(out.normal_confidence > 0.5);

    const double line[12] = { 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    out = skin(v, line);
    check3(out.normal, 0, 0, 1, 0);
    check3(out.tangent, 1, 0, 0, 0);
    assert_true(out.normal_confidence == 0 && out.tangent_confidence == 0);
    assert_true(out.tangent[3] == -1);

    const double point[12] = { 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6 };
    out = skin(v, point);
    check3(out.position, 4, 5, 6, 0);
    check3(out.normal, 0, 0, 1, 0);
    check3(out.tangent, 1, 0, 0, 0);
}

/* R diag(1 0 0) R^T: rank 1 but for rounding, in every direction and at every scale. */
static void sees_through_rounding(void **state)
{
    (void)state;
    uint32_t seed = 7;
    for (int round = 0; round < 300; round++) {
        double axis[3] = { uniform(&seed), uniform(&seed), uniform(&seed) };
        double scale = pow(10, round % 25 - 12), matrix[12] = { 0 };
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 3; k++) {
                matrix[4 * i + k] = scale * axis[i] * axis[k];
            }
        }
        const vertex v = { .normal = { 0.6f, 0, 0.8f },
                           .tangent = { 1, 0, 0, 1 },
                           .weights = { 1 } };
        skinned out = skin(v, matrix);
        check3(out.normal, 0, 0, 1, 0);
        assert_true(out.normal_confidence == 0);
    }
    /* Two joints that cancel but for a hair: half a turn about z and none. */
    double turn[24] = { -1,
                        -1.2246467991473532e-16,
                        0,
                        0,
                        1.2246467991473532e-16,
                        -1,
                        0,
                        0,
                        0,
                        0,
                        1,
                        0,
                        1,
                        0,
                        0,
                        0,
                        0,
                        1,
                        0,
                        0,
                        0,
                        0,
                        1,
                        0 };
    const vertex v = { .normal = { 0, 0, 1 },
                       .tangent = { 1, 0, 0, 1 },
                       .joints = { 0, 1 },
                       .weights = { 0.5f, 0.5f } };
    skinned out = skin(v, turn);
    check3(out.normal, 0, 0, 1, 0);
    check3(out.tangent, 1, 0, 0, 0);
    assert_true(out.normal_confidence == 0 && out.tangent_confidence == 0);
}

static void holds_at_extreme_scales(void **state)
{
    (void)state;
    const double scales[] = { 1e-150, 1e-30, 1e-12, 1e12, 1e18 };
    for (int i = 0; i < 5; i++) {
        double k = scales[i];
        const double matrix[12] = { 4 * k, 0, 0, 0, 0, k, 0, 0, 0, 0, k, 0 };
        const float s = (float)sqrt(0.5);
        const vertex v = { .normal = { s, s, 0 }, .tangent = { s, -s, 0, 1 }, .weights = { 1 } };
        skinned out = skin(v, matrix);
        check3(out.normal, 1 / sqrt(17), 4 / sqrt(17), 0, NEAR);
        check3(out.tangent, 4 / sqrt(17), -1 / sqrt(17), 0, NEAR);
    }
    /* Very unequal axes: an exact zero is not confused with a small number. */
    const double unequal[12] = { 1e12, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1e-12, 0 };
    const vertex x = { .normal = { 1, 0, 0 }, .tangent = { 0, 0, 1, 1 }, .weights = { 1 } };
    skinned out = skin(x, unequal);
    check3(out.normal, 1, 0, 0, 0);
    check3(out.tangent, 0, 0, 1, 0);
}

static bool has_sign(double value)
{
    return signbit(value) != 0;
}

static void writes_no_negative_zero(void **state)
{
    (void)state;
    const double mirrored[12] = { -1, 0, 0, -0.0, 0, -1, 0, -0.0, 0, 0, -1, -0.0 };
    const vertex v = { .normal = { 0, 0, 1 }, .tangent = { 1, 0, 0, 1 }, .weights = { 1 } };
    skinned out = skin(v, mirrored);
    for (int i = 0; i < 3; i++) {
        assert_true(out.position[i] == 0 && !has_sign(out.position[i]));
        assert_false(has_sign(out.box[i]) || has_sign(out.box[3 + i]));
    }
}

/* p + 1/2 (2 0 0) + 1/4 (0 4 0) = (2 2 3); n (0 0 1) + 1/2 (2 0 0) = (1 0 1); t (1 0 0) + (0 1 0).
 */
static void morphs_before_skinning(void **state)
{
    (void)state;
    float positions[] = { 1, 1, 3 }, normals[] = { 0, 0, 1 }, tangents[] = { 1, 0, 0, -1 };
    float p0[] = { 2, 0, 0 }, n0[] = { 2, 0, 0 }, p1[] = { 0, 4, 0 }, t1[] = { 0, 4, 0 };
    pelt_morph_target targets[] = { { .positions = p0, .normals = n0 },
                                    { .positions = p1, .tangents = t1 } };
    pelt_primitive primitive = { .vertex_count = 1,
                                 .positions = positions,
                                 .normals = normals,
                                 .tangents = tangents,
                                 .target_count = 2,
                                 .targets = targets };
    const double weights[] = { 0.5, 0.25 }, scale[] = { 2, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0 };
    double p[3], n[3], t[4];
    pelt_reference_job job = { .primitive = &primitive,
                               .matrices = scale,
                               .morph_weights = weights,
                               .positions = p,
                               .normals = n,
                               .tangents = t };
    pelt_skin_reference(&job, 0, 1, NULL);
    check3(p, 5, 2, 3, 0);
    check3(n, 1 / sqrt(5), 0, 2 / sqrt(5), NEAR);
    check3(t, 2 / sqrt(5), 1 / sqrt(5), 0, NEAR);
    assert_true(t[3] == -1);
    job.morph_weights = NULL;
    pelt_skin_reference(&job, 0, 1, NULL);
    check3(p, 3, 1, 3, 0);
    check3(n, 0, 0, 1, 0);
}

/* Ranges write their own vertices only; boxes of ranges join to the box of all; rigid ignores
 * influences; outputs may be missing. */
static void works_in_ranges(void **state)
{
    (void)state;
    enum { COUNT = 5 };
    float positions[3 * COUNT], weights[4 * COUNT] = { 0 };
    uint16_t joints[4 * COUNT];
    for (int i = 0; i < COUNT; i++) {
        positions[3 * i] = (float)-i;
        positions[3 * i + 1] = (float)(i * i) - 20;
        positions[3 * i + 2] = 0;
        weights[4 * i] = 1;
        joints[4 * i] = 1;
    }
    pelt_primitive primitive = { .vertex_count = COUNT,
                                 .positions = positions,
                                 .influence_count = 4,
                                 .joints = joints,
                                 .weights = weights };
    const double matrices[] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, /* */
                                1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, -3 };
    double out[3 * COUNT], normals[3 * COUNT];
    for (int i = 0; i < 3 * COUNT; i++) {
        out[i] = 99;
        normals[i] = 99;
    }
    double box[6] = { INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY };
    pelt_reference_job job = {
        .primitive = &primitive, .matrices = matrices, .positions = out, .normals = normals
    };
    pelt_skin_reference(&job, 2, 2, box);
    assert_true(out[5] == 99 && out[12] == 99);
    check3(out + 6, -2, -16, -3, 0);
    check3(out + 9, -3, -11, -3, 0);
    check3(normals + 6, 0, 0, 0, 0); /* the primitive has none */
    check3(box, -3, -16, -3, 0);
    check3(box + 3, -2, -11, -3, 0);
    job.positions = NULL;
    pelt_skin_reference(&job, 0, 2, box);
    pelt_skin_reference(&job, 4, 1, box);
    pelt_skin_reference(&job, 4, 0, box);
    check3(box, -4, -20, -3, 0);
    check3(box + 3, 0, -4, -3, 0);
    job.positions = out;
    job.rigid = true;
    pelt_skin_reference(&job, 1, 1, NULL);
    check3(out + 3, -1, -19, 0, 0);
}

/* With influences_of the reference blends exactly what the packed mesh holds. Twelve influences,
 * joint j moves by (j + 1) along x: the result is the sum of decoded weight x (joint + 1). */
static void blends_as_packed(void **state)
{
    (void)state;
    enum { COUNT = 50, SLOTS = 12 };
    static float positions[3 * COUNT], weights[SLOTS * COUNT];
    static uint16_t joints[SLOTS * COUNT];
    double matrices[12 * SLOTS] = { 0 };
    uint32_t seed = 3;
    for (int j = 0; j < SLOTS; j++) {
        matrices[12 * j] = matrices[12 * j + 5] = matrices[12 * j + 10] = 1;
        matrices[12 * j + 3] = j + 1;
    }
    for (int v = 0; v < COUNT; v++) {
        double sum = 0, given[SLOTS];
        int used = v % SLOTS + 1;
        for (int i = 0; i < used; i++) {
            given[i] = uniform(&seed) + 1;
            sum += given[i];
        }
        for (int i = 0; i < SLOTS; i++) {
            weights[SLOTS * v + i] = i < used ? (float)(given[i] / sum) : 0;
            joints[SLOTS * v + i] = (uint16_t)(i < used ? (i + v) % SLOTS : 0);
        }
    }
    pelt_primitive primitive = { .topology = PELT_POINTS,
                                 .vertex_count = COUNT,
                                 .positions = positions,
                                 .influence_count = SLOTS,
                                 .joints = joints,
                                 .weights = weights,
                                 .material = -1 };
    const pelt_pack_info info = { .primitive = &primitive };
    pelt_packed_mesh *mesh;
    assert_int_equal(pelt_pack(NULL, &info, &mesh), PELT_OK);
    assert_int_equal(mesh->set_count, 3);
    double out[3 * COUNT], given[3 * COUNT];
    pelt_reference_job job = { .primitive = &primitive, .matrices = matrices, .positions = given };
    pelt_skin_reference(&job, 0, COUNT, NULL);
    job.influences_of = mesh;
    job.positions = out;
    pelt_skin_reference(&job, 0, COUNT, NULL);
    double moved = 0;
    for (uint32_t packed = 0; packed < COUNT; packed++) {
        uint32_t unpacked_joints[SLOTS], v = mesh->source_vertices[packed];
        float unpacked_weights[SLOTS];
        pelt_unpack_influences(mesh, packed, unpacked_joints, unpacked_weights);
        double expected = 0;
        for (int i = 0; i < SLOTS; i++) {
            expected += (double)unpacked_weights[i] * (unpacked_joints[i] + 1);
        }
        assert_near(out[3 * v], expected, 1e-13);
        moved = fmax(moved, fabs(out[3 * v] - given[3 * v]));
    }
    /* Packing did change something, but no more than its report says, over joints 11 apart. */
    assert_true(moved > 0 && moved <= SLOTS * 11 * (double)mesh->report.weight_error);
    pelt_packed_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stretches_normals_and_tangents_apart),
        cmocka_unit_test(blends_matrices_by_weight),
        cmocka_unit_test(agrees_with_inverse_transpose_times_determinant),
        cmocka_unit_test(agrees_with_the_winding_of_skinned_triangles),
        cmocka_unit_test(falls_back_where_a_direction_vanishes),
        cmocka_unit_test(sees_through_rounding),
        cmocka_unit_test(holds_at_extreme_scales),
        cmocka_unit_test(writes_no_negative_zero),
        cmocka_unit_test(morphs_before_skinning),
        cmocka_unit_test(works_in_ranges),
        cmocka_unit_test(blends_as_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
