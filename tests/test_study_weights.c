/* pelt study weights: layouts and displacements against worked examples. */
#include "study/weights.h"

#include "build_model.h"

#include <unistd.h>

/* Tolerates the rounding of double precision. */
#define ROUNDING 0x1p-48

static const pelt_weight_layout *find(const char *name)
{
    for (uint32_t i = 0; i < PELT_WEIGHT_LAYOUT_COUNT; i++) {
        if (strcmp(pelt_weight_layouts[i].name, name) == 0) {
            return &pelt_weight_layouts[i];
        }
    }
    fail_msg("no layout %s", name);
    return NULL;
}

/* given and expected are over the denominators. */
static void expect(const char *name, const double given[4], double given_over,
                   const double expected[4], double expected_over)
{
    double weights[4], decoded[4];
    for (int i = 0; i < 4; i++) {
        weights[i] = given[i] / given_over;
    }
    pelt_weight_layout_apply(find(name), weights, decoded);
    for (int i = 0; i < 4; i++) {
        if (!(fabs(decoded[i] - expected[i] / expected_over) <= ROUNDING)) {
            fail_msg("%s: weight %d is %.17g / %g, not %g", name, i, decoded[i] * expected_over,
                     expected_over, expected[i]);
        }
    }
}

static void decodes_the_seed(void **state)
{
    (void)state;
    /* Each stored weight half a step above its code, 1/2 and 1/2 of 2048 and 1 of 2048: the fourth
     * pays for all, 2 of 2048. */
    expect("seed", (double[]){ 600.5, 600.5, 201, 646 }, 2048, (double[]){ 601, 601, 202, 644 },
           2048);
    /* 1 has no code. */
    expect("seed", (double[]){ 1, 0, 0, 0 }, 1, (double[]){ 2047, 0, 0, 1 }, 2048);
    expect("seed", (double[]){ 0, 0, 1, 0 }, 1, (double[]){ 0, 0, 1023, 1 }, 1024);
    expect("seed", (double[]){ 0, 0, 0, 1 }, 1, (double[]){ 0, 0, 0, 1 }, 1);
    /* Three influences rounded up: the fourth, unused, gets -2. */
    expect("seed", (double[]){ 1000.5, 600.5, 447, 0 }, 2048, (double[]){ 1001, 601, 448, -2 },
           2048);
    expect("seed", (double[]){ 1000.25, 600.25, 447.5, 0 }, 2048, (double[]){ 1000, 600, 448, 0 },
           2048);
    expect("seed", (double[]){ 1000.25, 600.75, 447, 0 }, 2048, (double[]){ 1000, 601, 448, -1 },
           2048);
    expect("seed", (double[]){ 1000, 601.25, 446.75, 0 }, 2048, (double[]){ 1000, 601, 446, 1 },
           2048);
    /* Sorted, it is another weight that is implied; the result stands where it was given. */
    expect("seed-sorted", (double[]){ 201, 600.5, 600.5, 646 }, 2048,
           (double[]){ 201, 601, 600, 646 }, 2048);
}

static void decodes_pelt(void **state)
{
    (void)state;
    /* A quarter each below a code, the implied one three: nothing better. */
    const double quarters[4] = { 2495.25, 1000.25, 500.25, 100.25 };
    expect("pelt-alone", quarters, 4096, (double[]){ 2496, 1000, 500, 100 }, 4096);
    double weights[4], decoded[4];
    pelt_weight_errors errors = { 0 };
    for (int i = 0; i < 4; i++) {
        weights[i] = quarters[i] / 4096;
    }
    pelt_weight_layout_apply(find("pelt"), weights, decoded);
    pelt_weight_errors_add(&errors, weights, decoded);
    assert_near(errors.worst, 0.75 / 4096, ROUNDING);
    /* Halves: alone, they add up to 3/2; together, one goes the other way. */
    expect("pelt-alone", (double[]){ 2494.5, 1000.5, 500.5, 100.5 }, 4096,
           (double[]){ 2493, 1001, 501, 101 }, 4096);
    for (int i = 0; i < 4; i++) {
        weights[i] = (i == 0 ? 2494.5 : i == 1 ? 1000.5 : i == 2 ? 500.5 : 100.5) / 4096;
    }
    errors = (pelt_weight_errors){ 0 };
    pelt_weight_layout_apply(find("pelt"), weights, decoded);
    pelt_weight_errors_add(&errors, weights, decoded);
    assert_near(errors.worst, 0.5 / 4096, ROUNDING);

    /* 2047 has no code; ties have. In any order. */
    for (int l = 0; l < 2; l++) {
        const char *name = l ? "pelt" : "pelt-alone";
        expect(name, (double[]){ 0, 1, 0, 0 }, 1, (double[]){ 0, 1, 0, 0 }, 1);
        expect(name, (double[]){ 0, 1, 0, 1 }, 2, (double[]){ 0, 1, 0, 1 }, 2);
        expect(name, (double[]){ 1, 1, 1, 1 }, 4, (double[]){ 1, 1, 1, 1 }, 4);
        expect(name, (double[]){ 10, 4000, 86, 0 }, 4096, (double[]){ 10, 4000, 86, 0 }, 4096);
        weights[0] = 2047.0 / 4096;
        weights[1] = 2049.0 / 4096;
        weights[2] = weights[3] = 0.0;
        errors = (pelt_weight_errors){ 0 };
        pelt_weight_layout_apply(find(name), weights, decoded);
        pelt_weight_errors_add(&errors, weights, decoded);
        assert_near(errors.worst, 1.0 / 4096, ROUNDING);
    }
}

static void decodes_unorm(void **state)
{
    (void)state;
    /* 8.4 of 32 leave 4/10 of a step, three times; the fourth loses 2/10. */
    const double given[4] = { 63.6, 63.6, 63.6, 64.2 };
    expect("unorm8", given, 255, (double[]){ 64, 64, 64, 64 }, 255);
    expect("unorm8-divided", given, 255, (double[]){ 1, 1, 1, 1 }, 4);
    expect("unorm8-summed", given, 255, (double[]){ 63, 64, 64, 64 }, 255);
    expect("unorm8-summed", (double[]){ 10.4, 20.4, 200.4, 23.8 }, 255,
           (double[]){ 10, 20, 201, 24 }, 255);
    expect("unorm8", (double[]){ 0, 0, 1, 0 }, 1, (double[]){ 0, 0, 1, 0 }, 1);
    const double fine[4] = { 16383.6, 16383.6, 16383.6, 16384.2 };
    expect("unorm16", fine, 65535, (double[]){ 16384, 16384, 16384, 16384 }, 65535);
    expect("unorm16-divided", fine, 65535, (double[]){ 1, 1, 1, 1 }, 4);
    expect("unorm16-summed", fine, 65535, (double[]){ 16383, 16384, 16384, 16384 }, 65535);
}

static void counts_errors(void **state)
{
    (void)state;
    pelt_weight_errors errors = { 0 };
    pelt_weight_errors_add(&errors, (double[]){ 1, 0, 0, 0 }, (double[]){ 1, 0, 0, 0 });
    pelt_weight_errors_add(&errors, (double[]){ 1, 0, 0, 0 }, (double[]){ 0.75, 0, 0, 0.25 });
    pelt_weight_errors_add(&errors, (double[]){ 0.5, 0.25, 0.25, 0 },
                           (double[]){ 0.5, 0.375, 0.25, -0.125 });
    pelt_weight_errors_add(&errors, (double[]){ 0.25, 0.25, 0.25, 0.25 },
                           (double[]){ 0.25, 0.25, 0.25, 0.25 + 1.0 / 4096 });
    assert_int_equal(errors.vertices, 4);
    const uint64_t counts[4] = { 2, 0, 1, 1 }, leaks[4] = { 1, 0, 1, 0 };
    assert_memory_equal(errors.counts, counts, sizeof(counts));
    assert_memory_equal(errors.leaks, leaks, sizeof(leaks));
    assert_int_equal(errors.negative, 1);
    assert_int_equal(errors.exact, 1);
    assert_true(errors.worst == 0.25 && errors.least == -0.125);
    assert_near(errors.total, 0.375 + 1.0 / 4096, ROUNDING);
    assert_near(errors.sum_error, 1.0 / 4096, ROUNDING);
    /* 1/4096 begins the bin of octave 0. 0.125 and 0.25 are 9 and 10 octaves above. */
    uint32_t unit = -PELT_WEIGHT_FIRST_OCTAVE * PELT_WEIGHT_BINS_AN_OCTAVE;
    uint64_t all = 0;
    for (int b = 0; b < PELT_WEIGHT_BINS; b++) {
        all += errors.bins[b];
    }
    assert_int_equal(all, 3);
    assert_int_equal(errors.bins[unit], 1);
    assert_int_equal(errors.bins[PELT_WEIGHT_BINS - 1], 2);
}

/* Of three independent weights the first two round by independent e0 and e1, uniform in [-1/2, 1/2]
 * of 1/2048, and the third by -(e0 + e1) or by one more or less, towards 0, each as often: so half
 * of the vertices leak, and half of those, where e0 + e1 > 0, negatively. */
static void random_vertices_leak_as_computed(void **state)
{
    (void)state;
    enum { COUNT = 40000 };
    static pelt_weight_study study, again;
    pelt_weight_study_random(COUNT, 3, 7, &study);
    pelt_weight_study_random(COUNT, 3, 7, &again);
    assert_memory_equal(study.layouts, again.layouts, sizeof(study.layouts));
    const pelt_weight_errors *seed = &study.layouts[find("seed") - pelt_weight_layouts].errors;
    assert_int_equal(seed->counts[2], COUNT);
    /* Five standard deviations: 100 and 87. */
    assert_near((double)seed->leaks[2], COUNT * 0.5, 5 * sqrt(COUNT * 0.25));
    assert_near((double)seed->negative, COUNT * 0.25, 5 * sqrt(COUNT * 0.1875));
    for (uint32_t l = 0; l < PELT_WEIGHT_LAYOUT_COUNT; l++) {
        const pelt_weight_errors *errors = &study.layouts[l].errors;
        bool is_seed = strncmp(pelt_weight_layouts[l].name, "seed", 4) == 0;
        assert_true(is_seed || (errors->leaks[2] == 0 && errors->negative == 0));
    }
}

static void random_vertices_keep_the_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double bound, sum; /* proved: see docs/formats.md and docs/studies.md */
    } bounds[] = {
        { "pelt", 1.0 / 4096, 0 },
        { "pelt-alone", 1.5 / 4096 + 0.5 / 4096, 0 },
        { "seed", 4.0 / 4096, 0 },
        { "seed-sorted", 4.0 / 4096, 0 },
        { "unorm8", 0.5 / 255, 2.0 / 255 },
        { "unorm8-divided", 2.5 / 253, 0 },
        { "unorm8-summed", 2.0 / 255, 0 },
        { "unorm16", 0.5 / 65535, 2.0 / 65535 },
        { "unorm16-divided", 2.5 / 65533, 0 },
        { "unorm16-summed", 2.0 / 65535, 0 },
    };
    static pelt_weight_study study;
    pelt_weight_study_random(20000, 0, 1, &study);
    /* Frequencies of 1 to 4 influences: 0.25, 0.30, 0.25, 0.20. */
    static const double parts[4] = { 0.25, 0.30, 0.25, 0.20 };
    for (int i = 0; i < 4; i++) {
        double deviation = sqrt(20000 * parts[i] * (1 - parts[i]));
        assert_near((double)study.layouts[0].errors.counts[i], 20000 * parts[i], 5 * deviation);
    }
    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        const pelt_weight_errors *errors =
            &study.layouts[find(bounds[i].name) - pelt_weight_layouts].errors;
        assert_true(errors->worst > 0.3 * bounds[i].bound);
        assert_true(errors->worst <= bounds[i].bound + ROUNDING);
        assert_true(errors->sum_error <= bounds[i].sum + ROUNDING);
    }
}

/* Five joints: the second at (2 0 0), the others at the origin. */
static void write_character(char *path, const float *positions, const uint16_t *joints,
                            const float *weights, uint32_t vertices, uint32_t slots)
{
    const int32_t parents[] = { -1, -1, 1, 1, 1, 1 };
    pelt_model *model = build_nodes(NULL, parents, 6);
    model->nodes[2].translation[0] = 2;
    model->nodes[0].mesh = 0;
    model->nodes[0].skin = 0;
    pelt_primitive *primitive = build_mesh(model, positions, vertices);
    primitive->topology = PELT_POINTS;
    primitive->influence_count = slots;
    primitive->joints = build_copy(model, joints, (size_t)vertices * slots, sizeof(*joints));
    primitive->weights = build_copy(model, weights, (size_t)vertices * slots, sizeof(*weights));
    model->skin_count = 1;
    model->skins = pelt_model_allocate(model, 1, sizeof(*model->skins));
    assert_non_null(model->skins);
    const uint32_t nodes[] = { 1, 2, 3, 4, 5 };
    model->skins[0].joint_count = 5;
    model->skins[0].joints = build_copy(model, nodes, 5, sizeof(*nodes));
    float *inverse_bind = pelt_model_allocate(model, 5, 12 * sizeof(float));
    assert_non_null(inverse_bind);
    for (size_t j = 0; j < 5; j++) {
        inverse_bind[12 * j] = inverse_bind[12 * j + 5] = inverse_bind[12 * j + 10] = 1;
    }
    model->skins[0].inverse_bind = inverse_bind;
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    int descriptor = mkstemps(path, 4);
    assert_true(descriptor >= 0);
    (void)close(descriptor);
    assert_int_equal(pelt_gltf_write(NULL, model, path), PELT_OK);
    pelt_model_destroy(model);
}

static void expect_moves(const pelt_weight_study *study, const char *name, double worst,
                         double total)
{
    const pelt_weight_result *result = &study->layouts[find(name) - pelt_weight_layouts];
    /* Weights in the file are floats: a part of 2^-24 of what is carried at most 4 far. */
    assert_near(result->move_worst, worst, 4e-7);
    assert_near(result->move_total, total, 1e-6);
}

static void moves_vertices_as_by_hand(void **state)
{
    (void)state;
    char path[] = "/tmp/pelt-weights-XXXXXX.glb";
    /* The first follows joint 1 to (2 0 0), the second joint 0, the third all. */
    const float positions[] = { 0, 0, 0, 4, 3, 0, 0, 1, 0 };
    const uint16_t joints[] = { 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3 };
    const float weights[] = { 1,           0,           0,           0, /**/
                              1,           0,           0,           0, /**/
                              63.6f / 255, 63.6f / 255, 63.6f / 255, 64.2f / 255 };
    write_character(path, positions, joints, weights, 3, 4);
    static pelt_weight_study study;
    assert_int_equal(pelt_weight_study_character(NULL, path, 5, &study), PELT_OK);
    (void)unlink(path);
    assert_int_equal(study.vertices, 3);
    assert_int_equal(study.joints, 5);
    assert_int_equal(study.poses, 1);
    assert_int_equal(study.moved, 3);
    assert_int_equal(study.reduced, 0);
    /* From (2 0 0) and (0.5 1 0) to (4 3 0). */
    assert_near(study.size, sqrt(3.5 * 3.5 + 3 * 3), 0.01);

    /* The seed: the first is pulled 1/2048 back to the origin, the second by its own joint. Of the
     * third, 63.6/255 x 2048 = 510.8 rounds to 511, twice, and 255.4 of 1024 to 255; only joint 1
     * is elsewhere. */
    double third = 2 * (511 / 2048.0 - 63.6 / 255);
    expect_moves(&study, "seed", 2 / 2048.0, 2 / 2048.0 + third);
    /* 64 of 255 each: the second stays, the third goes by 0.4 of 255 x (2 0 0) and, its sum being
     * 256/255, by a 255th of (0 1 0). */
    double moved = sqrt(0.8 * 0.8 + 1) / 255;
    expect_moves(&study, "unorm8", moved, moved);
    double divided = 2 * (0.25 - 63.6 / 255);
    expect_moves(&study, "unorm8-divided", divided, divided);
    /* Sorted: joint 3, then 0, 1, 2: 1/4 is 1023.06 of 4096 below the tie, which is 1 away from its
     * nearest code, and 63.6/255 x 4096 = 1021.6 has codes at 1021 and 1022. */
    const pelt_weight_result *pelt = &study.layouts[0];
    assert_true(pelt->move_worst <= 2 * 0.75 / 4096 + 4e-7);
    assert_near(pelt->move_total, pelt->move_worst, 1e-6);
}

static void keeps_the_largest_four(void **state)
{
    (void)state;
    char path[] = "/tmp/pelt-weights-XXXXXX.glb";
    /* One joint named twice; then five influences, of which the third is the smallest, and the
     * last that remain are 4 : 6 : 3 : 2 of 15. */
    const float positions[] = { 1, 0, 0, 1, 0, 0 };
    const uint16_t joints[] = { 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0 };
    const float weights[] = { 0.25f, 0.5f,   0.25f,   0,       0,      0, 0, 0, /**/
                              0.25f, 0.375f, 0.0625f, 0.1875f, 0.125f, 0, 0, 0 };
    write_character(path, positions, joints, weights, 2, 8);
    static pelt_weight_study study;
    assert_int_equal(pelt_weight_study_character(NULL, path, 1, &study), PELT_OK);
    (void)unlink(path);
    assert_int_equal(study.reduced, 1);
    const uint64_t counts[4] = { 0, 1, 0, 1 };
    assert_memory_equal(study.layouts[0].errors.counts, counts, sizeof(counts));
    /* (0.5 0.5) is exact in the seed's; of the others 4/15 of 2048 are 546.13, 6/15 819.2, 3/15 of
     * 1024 204.8: the fourth is off by 0.13 + 0.2 - 0.4 of 1/2048. */
    const pelt_weight_errors *seed = &study.layouts[find("seed") - pelt_weight_layouts].errors;
    assert_near(seed->total, 0.4 / 2048, 1e-7);
    assert_near(seed->worst, 0.4 / 2048, 1e-7);
    /* 255 is 15 x 17. */
    const pelt_weight_errors *unorm8 = &study.layouts[find("unorm8") - pelt_weight_layouts].errors;
    assert_near(unorm8->worst, 0.5 / 255, 1e-7);
    assert_near(unorm8->total, 0.5 / 255, 1e-7);
}

static void takes_the_built_in_character(void **state)
{
    (void)state;
    static pelt_weight_study study;
    assert_int_equal(pelt_weight_study_character(NULL, NULL, 2, &study), PELT_OK);
    assert_int_equal(study.clips, 2);
    assert_int_equal(study.poses, 4);
    assert_int_equal(study.moved, 4 * study.vertices);
    assert_int_equal(study.joints, 30);
    assert_true(study.size > 1.4 && study.size < 2.5);
    /* Errors of pelt's weights and the distance of any two joints' places bound what it moves. */
    const pelt_weight_result *pelt = &study.layouts[0];
    assert_true(pelt->errors.worst <= 1.0 / 4096);
    assert_true(pelt->move_worst > 0 && pelt->move_worst <= 1.5 / 4096 * study.size);
    const pelt_weight_result *fine = &study.layouts[find("unorm16-divided") - pelt_weight_layouts];
    assert_true(fine->move_worst < pelt->move_worst);
}

static void refuses_what_is_not_skinned(void **state)
{
    (void)state;
    static pelt_weight_study study;
    assert_int_equal(pelt_weight_study_character(NULL, "/tmp/missing-pelt.glb", 1, &study),
                     PELT_ERROR_IO);
    char path[] = "/tmp/pelt-weights-XXXXXX.glb";
    const int32_t parent = -1;
    pelt_model *model = build_nodes(NULL, &parent, 1);
    const float positions[9] = { 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    (void)build_mesh(model, positions, 3);
    model->nodes[0].mesh = 0;
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    int descriptor = mkstemps(path, 4);
    assert_true(descriptor >= 0);
    (void)close(descriptor);
    assert_int_equal(pelt_gltf_write(NULL, model, path), PELT_OK);
    pelt_model_destroy(model);
    assert_int_equal(pelt_weight_study_character(NULL, path, 1, &study), PELT_ERROR_FILE);
    (void)unlink(path);
}

static void unwinds_without_memory(void **state)
{
    (void)state;
    char path[] = "/tmp/pelt-weights-XXXXXX.glb";
    const float positions[] = { 1, 0, 0 }, weights[] = { 1, 0, 0, 0 };
    const uint16_t joints[] = { 1, 0, 0, 0 };
    write_character(path, positions, joints, weights, 1, 4);
    static pelt_weight_study study;
    pelt_result result = PELT_ERROR_MEMORY;
    for (long calls = 0; result != PELT_OK; calls++) {
        assert_int_equal(result, PELT_ERROR_MEMORY);
        meter m = { .calls_left = calls };
        const pelt_host host = { .user = &m, .allocate = metered };
        result = pelt_weight_study_character(&host, path, 1, &study);
        assert_int_equal(m.alive, 0);
    }
    assert_int_equal(study.vertices, 1);
    (void)unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_the_seed),
        cmocka_unit_test(decodes_pelt),
        cmocka_unit_test(decodes_unorm),
        cmocka_unit_test(counts_errors),
        cmocka_unit_test(random_vertices_leak_as_computed),
        cmocka_unit_test(random_vertices_keep_the_bounds),
        cmocka_unit_test(moves_vertices_as_by_hand),
        cmocka_unit_test(keeps_the_largest_four),
        cmocka_unit_test(takes_the_built_in_character),
        cmocka_unit_test(refuses_what_is_not_skinned),
        cmocka_unit_test(unwinds_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
