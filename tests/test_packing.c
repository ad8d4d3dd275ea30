/* The bounds that pelt verify holds a mesh's packing to: that they let the worst allowed pass and
 * anything more fail. */
#include "cli/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static pelt_packing_result judge(pelt_packed_mesh mesh)
{
    pelt_packing_result packing = { 0 };
    pelt_packing_add_report(&packing, &mesh, 3);
    return packing;
}

static void test_weights(void **state)
{
    (void)state;
    const struct {
        uint32_t sets;
        float steps; /* of 1/4096 */
        bool holds;
    } cases[] = { { 1, 0.0f, true },      { 1, 0.75f, true },  { 1, 1.0f, true },
                  { 1, 1.001f, false },   { 1, 1.5f, false },  { 1, 1024.0f, false },
                  { 2, 1.03125f, true },  { 2, 1.04f, false }, { 3, 2.0f, false },
                  { 1, 1.03125f, false }, { 1, NAN, false } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pelt_packing_result packing = judge((pelt_packed_mesh){
            .set_count = cases[i].sets, .report = { .weight_error = cases[i].steps / 4096.0f } });
        assert_int_equal(pelt_packing_holds(&packing), cases[i].holds);
        assert_int_equal(packing.directions.count, 0);
        if (!cases[i].holds) {
            assert_int_equal(packing.weights.part, 3);
        }
    }
}

static void test_directions(void **state)
{
    (void)state;
    /* Half a step of 1/511 in each of three components, all of it across. */
    const float allowed = (float)asin(sqrt(3.0 / 4.0) / 511.0);
    assert_true(fabs(allowed * 180.0 / 3.14159265358979 - 0.0971) < 5e-5);
    uint32_t tangent = 0;
    const struct {
        float normal, tangent;
        bool holds;
    } cases[] = { { allowed, allowed, true },
                  { 0.0f, allowed * 1.01f, false },
                  { allowed * 1.01f, 0.0f, false },
                  { 1.5f, 1.5f, false } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pelt_packing_result packing = judge((pelt_packed_mesh){
            .set_count = 1,
            .has_normals = true,
            .tangents = &tangent,
            .report = { .normal_error = cases[i].normal, .tangent_error = cases[i].tangent } });
        assert_int_equal(packing.directions.count, 2);
        assert_int_equal(pelt_packing_holds(&packing), cases[i].holds);
    }
}

/* The worst of several meshes is what counts, and it is named. */
static void test_worst_of_several(void **state)
{
    (void)state;
    pelt_packing_result packing = { 0 };
    const float steps[] = { 0.5f, 3.0f, 0.25f };
    for (uint32_t part = 0; part < 3; part++) {
        pelt_packed_mesh mesh = { .set_count = 1,
                                  .report = { .weight_error = steps[part] / 4096 } };
        pelt_packing_add_report(&packing, &mesh, part);
    }
    assert_false(pelt_packing_holds(&packing));
    assert_int_equal(packing.weights.part, 1);
    assert_true(packing.weights.error == 3.0 / 4096.0);
    assert_true(fabs(packing.weights.of_bound - 3.0) < 1e-4);
}

static void test_position(void **state)
{
    (void)state;
    pelt_packing_result packing = { .position = { .of_bound = 1.0 } };
    assert_true(pelt_packing_holds(&packing));
    packing.position.of_bound = 1.01;
    assert_false(pelt_packing_holds(&packing));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_worst_of_several),
        cmocka_unit_test(test_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
