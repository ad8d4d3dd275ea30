/* The twist study against what the integrals say, and its plot and picture. */
#include "tests/build_model.h"

#include "study/squash_pose.h"
#include "study/twist.h"

#include <stdio.h>

#define PI 3.14159265358979323846

enum { RINGS = 201, AROUND = 96, LBS = 0, DQS = 1 };

static pelt_twist_limb *make_limb(void)
{
    pelt_twist_limb *limb;
    assert_int_equal(pelt_twist_create(NULL, RINGS, AROUND, &limb), PELT_OK);
    return limb;
}

/* A capsule: the shaft and a sphere. A polygon of 96 sides has 1 - (2 pi / 96)^2 / 6 of a circle's
 * area, and the ends are cut off flat. */
static void a_limb_at_rest_is_a_capsule(void **state)
{
    (void)state;
    pelt_twist_limb *limb = make_limb();
    double r = LIMB_RADIUS, volume = PI * r * r * 2 * (LIMB_HALF - r) + 4.0 / 3 * PI * r * r * r;
    double polygon = 1 - pow(2 * PI / AROUND, 2) / 6;
    assert_near(pelt_twist_volume(limb) / volume, polygon, 2e-4);
    assert_near(pelt_twist_middle(limb) / (PI * r * r), polygon, 1e-5);
    assert_near(pelt_twist_outside(limb, 0), r, 1e-3);
    assert_near(pelt_twist_swelling(limb), r, 1e-3);
    pelt_twist_destroy(limb);
}

/* Where the second joint's weight is w, a cross-section has 1 - 2 w (1 - w) (1 - cos) of its area
 * left. The integral of w (1 - w) over the blend is 25/231 of its length. */
static void linear_twists_lose_what_the_integral_says(void **state)
{
    (void)state;
    pelt_twist_limb *limb = make_limb();
    double r = LIMB_RADIUS, volume = PI * r * r * 2 * (LIMB_HALF - r) + 4.0 / 3 * PI * r * r * r;
    for (int degrees = 0; degrees <= 360; degrees += 20) {
        double lost = 2 * (1 - cos(degrees * PI / 180)) * PI * r * r * 2 * LIMB_BLEND * 25 / 231;
        double middle = pow(cos(degrees * PI / 360), 2);
        pelt_twist_point point;
        pelt_twist_measure(limb, PELT_TWIST_ABOUT, degrees, &point);
        assert_near(point.volume[LBS], 1 - lost / volume, 1e-3);
        assert_near(point.middle[LBS], middle, 1e-6);
        /* Every cross-section is turned and nothing else; chords between rings cut corners. */
        assert_near(point.volume[DQS], 1, 1e-3);
        assert_near(point.middle[DQS], 1, 1e-6);
    }
    pelt_twist_destroy(limb);
}

static void bends_go_in_or_swell(void **state)
{
    (void)state;
    pelt_twist_limb *limb = make_limb();
    for (int degrees = 15; degrees <= 150; degrees += 15) {
        pelt_twist_point point;
        pelt_twist_measure(limb, PELT_TWIST_BEND, degrees, &point);
        /* The middle of the chord; on the circle. */
        assert_near(point.outside[LBS], cos(degrees * PI / 360), 2e-3);
        assert_near(point.outside[DQS], 1, 1e-3);
        assert_true(point.volume[LBS] < 1);
        assert_near(point.volume[DQS], 1, 1e-3);
        /* A place x before the middle, turned by a, lies x sin a + r cos a off the first axis. */
        double most = 1, r = LIMB_RADIUS;
        for (int i = 0; i <= 1000; i++) {
            double x = LIMB_BLEND * (2.0 * i / 1000 - 1), w = squash_weight(x);
            double a = 2 * atan2(w * sin(degrees * PI / 360), 1 - w + w * cos(degrees * PI / 360));
            most = fmax(most, (r * cos(a) - x * sin(a)) / r);
        }
        assert_near(point.swelling[DQS], most, 2e-3);
        assert_true(point.swelling[DQS] > point.swelling[LBS] + 0.005);
    }
    pelt_twist_destroy(limb);
}

static void wrong_limbs_are_refused(void **state)
{
    (void)state;
    static const uint32_t wrong[][2] = { { 1, 8 }, { 4, 8 }, { 5, 2 }, { 70001, 8 }, { 5, 70000 } };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        pelt_twist_limb *limb;
        assert_int_equal(pelt_twist_create(NULL, wrong[i][0], wrong[i][1], &limb),
                         PELT_ERROR_ARGUMENT);
        assert_null(limb);
    }
    pelt_twist_destroy(NULL);
}

/* The limb's, the canvas's, those of the first tiles; all tiles are alike. */
static void failing_allocations_unwind(void **state)
{
    (void)state;
    pelt_twist_curves *curves = calloc(1, sizeof(*curves));
    assert_non_null(curves);
    for (long calls = 0; calls <= 14; calls++) {
        meter m = { .calls_left = calls };
        const pelt_host host = { .allocate = metered, .user = &m };
        pelt_twist_limb *limb;
        pelt_canvas canvas;
        pelt_result result = pelt_twist_create(&host, 5, 8, &limb);
        if (result == PELT_OK) {
            result = pelt_twist_draw(limb, curves, &canvas);
            pelt_twist_destroy(limb);
        }
        assert_int_equal(result, PELT_ERROR_MEMORY);
        assert_int_equal(m.alive, 0);
    }
    free(curves);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limb_at_rest_is_a_capsule),
        cmocka_unit_test(linear_twists_lose_what_the_integral_says),
        cmocka_unit_test(bends_go_in_or_swell),
        cmocka_unit_test(wrong_limbs_are_refused),
        cmocka_unit_test(failing_allocations_unwind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
