/* Keyframes: glTF 2.0, appendix C, with values worked out by hand. */
#include "anim/anim.h"
#include "tests/build_model.h"

#include <math.h>

/* Values are doubles computed in a few steps from exact inputs. */
#define NEAR 1e-12

static pelt_sampler make(pelt_interpolation interpolation, uint32_t keys, uint32_t width,
                         const float *times, const float *values)
{
    return (pelt_sampler){ .interpolation = interpolation,
                           .key_count = keys,
                           .width = width,
                           .times = (float *)times,
                           .values = (float *)values };
}

static void check(const pelt_sampler *sampler, double time, bool rotation, const double *expected)
{
    double out[4];
    pelt_sampler_evaluate(sampler, time, rotation, out);
    for (uint32_t i = 0; i < sampler->width; i++) {
        assert_near(out[i], expected[i], NEAR);
    }
}

static void check1(const pelt_sampler *sampler, double time, double expected)
{
    check(sampler, time, false, &expected);
}

static void clamps_outside_the_keys(void **state)
{
    (void)state;
    const float times[] = { 1, 2, 4 }, values[] = { 10, 20, 40 };
    for (int i = 0; i < 2; i++) {
        pelt_sampler s = make(i ? PELT_STEP : PELT_LINEAR, 3, 1, times, values);
        check1(&s, -5, 10);
        check1(&s, 0.999, 10);
        check1(&s, 4, 40);
        check1(&s, 1e30, 40);
    }
}

static void interpolates_linearly(void **state)
{
    (void)state;
    const float times[] = { 1, 2, 4 }, values[] = { 10, 20, 40 };
    pelt_sampler s = make(PELT_LINEAR, 3, 1, times, values);
    check1(&s, 1.25, 12.5);
    check1(&s, 2, 20);
    check1(&s, 3.5, 35);
}

static void steps_at_the_key_itself(void **state)
{
    (void)state;
    const float times[] = { 1, 2, 4 }, values[] = { 10, 20, 40 };
    pelt_sampler s = make(PELT_STEP, 3, 1, times, values);
    check1(&s, 1.999999, 10);
    check1(&s, 2, 20);
    check1(&s, 3.999999, 20);
}

/* Among 1,000 keys each is found again, exactly, and so are the middles. */
static void finds_every_key(void **state)
{
    (void)state;
    float times[1000], values[1000];
    for (int i = 0; i < 1000; i++) {
        times[i] = (float)i * 0.1f;
        values[i] = (float)(i * i);
    }
    pelt_sampler s = make(PELT_LINEAR, 1000, 1, times, values);
    for (int i = 0; i < 1000; i++) {
        double out;
        pelt_sampler_evaluate(&s, (double)times[i], false, &out);
        assert_true(out == (double)values[i]);
        if (i < 999) {
            pelt_sampler_evaluate(&s, ((double)times[i] + (double)times[i + 1]) / 2, false, &out);
            assert_near(out, i * i + i + 0.5, 1e-9);
        }
    }
}

static void holds_a_single_key(void **state)
{
    (void)state;
    const float times[] = { 3 }, values[] = { 1, 2, 3 };
    const double expected[] = { 1, 2, 3 };
    pelt_sampler s = make(PELT_LINEAR, 1, 3, times, values);
    check(&s, 0, false, expected);
    check(&s, 3, false, expected);
    check(&s, 9, false, expected);
}

/* About z by angle degrees. */
static void turn(double degrees, float out[4])
{
    double half = degrees * acos(-1) / 360;
    out[0] = out[1] = 0;
    out[2] = (float)sin(half);
    out[3] = (float)cos(half);
}

/* The angle in degrees of a rotation about z. */
static double angle_of(const double q[4])
{
    assert_near(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1, NEAR);
    return atan2(q[2], q[3]) * 360 / acos(-1);
}

static void turns_at_constant_speed(void **state)
{
    (void)state;
    const float times[] = { 0, 1 };
    float values[8];
    turn(0, values);
    turn(170, values + 4);
    pelt_sampler s = make(PELT_LINEAR, 2, 4, times, values);
    for (int i = 0; i <= 10; i++) {
        double q[4];
        pelt_sampler_evaluate(&s, i / 10.0, true, q);
        assert_near(angle_of(q), 17.0 * i, 1e-5); /* the keys are floats */
    }
}

/* q and -q are one rotation: 100 degrees the short way, with the second key's sign flipped. */
static void takes_the_shorter_arc(void **state)
{
    (void)state;
    const float times[] = { 0, 1 };
    float values[8];
    turn(0, values);
    turn(100, values + 4);
    for (int i = 0; i < 4; i++) {
        values[4 + i] = -values[4 + i];
    }
    pelt_sampler s = make(PELT_LINEAR, 2, 4, times, values);
    double q[4];
    pelt_sampler_evaluate(&s, 0.25, true, q);
    assert_near(angle_of(q), 25, 1e-5);

    turn(-120, values);
    turn(120, values + 4); /* through 180, not through 0 */
    pelt_sampler_evaluate(&s, 0.5, true, q);
    assert_near(fabs(angle_of(q)), 180, 1e-5);
}

/* From no turn to half a turn about z: at u the quaternion is (0 0 sin 90u cos 90u). */
static void turns_by_half(void **state)
{
    (void)state;
    const float times[] = { 0, 1 }, values[] = { 0, 0, 0, 1, 0, 0, 1, 0 };
    pelt_sampler s = make(PELT_LINEAR, 2, 4, times, values);
    const double third[] = { 0, 0, 0.5, sqrt(3) / 2 }, half[] = { 0, 0, sqrt(0.5), sqrt(0.5) };
    check(&s, 1.0 / 3, true, third);
    check(&s, 0.5, true, half);
}

/* Equal and nearly equal keys; a dot product a hair above 1; opposite signs of the same. */
static void is_safe_near_no_turn(void **state)
{
    (void)state;
    const float times[] = { 0, 1 };
    const float above[] = { 0, 0, 0.6f, 0.8f, 0, 0, 0.60000002f, 0.8000001f };
    const float opposite[] = { 0, 0, 0.6f, 0.8f, 0, 0, -0.6f, -0.8f };
    const float tiny[] = { 0, 0, 0, 1, 1e-20f, 0, 0, 1 };
    const float *all[] = { above, opposite, tiny };
    for (int k = 0; k < 3; k++) {
        pelt_sampler s = make(PELT_LINEAR, 2, 4, times, all[k]);
        for (int i = 0; i <= 8; i++) {
            double q[4];
            pelt_sampler_evaluate(&s, i / 8.0, true, q);
            double length = 0;
            for (int c = 0; c < 4; c++) {
                length += q[c] * q[c];
                assert_near(fabs(q[c]), fabs((double)all[k][c]), 1e-6);
            }
            assert_near(length, 1, NEAR);
        }
    }
    /* The small angle is kept in proportion, not lost. */
    const float small[] = { 0, 0, 0, 1, 1e-9f, 0, 0, 1 };
    pelt_sampler s = make(PELT_LINEAR, 2, 4, times, small);
    double q[4];
    pelt_sampler_evaluate(&s, 0.25, true, q);
    assert_near(q[0] / 1e-9, 0.25, 1e-6);
}

static void makes_stored_rotations_unit(void **state)
{
    (void)state;
    const float times[] = { 0, 1 }, values[] = { 0, 0, 3, 4, 0, 0, 0, 0 };
    const double unit[] = { 0, 0, 0.6, 0.8 }, none[] = { 0, 0, 0, 1 };
    pelt_sampler s = make(PELT_STEP, 2, 4, times, values);
    check(&s, 0, true, unit);
    check(&s, 1, true, none); /* no direction at all: no turn */
}

/* Keys at 1 and 3 (length 2), values 5 and 9, out-tangent 3 at the first, in-tangent -1 at the
 * second. At the middle: (5 + 9) / 2 + 2 x (3 - -1) / 8 = 8; at a quarter, u = 1/4:
 * h00 = 54/64, h10 = 9/64, h01 = 10/64, h11 = -3/64:
 * (54 x 5 + 2 x 9 x 3 + 10 x 9 + 2 x -3 x -1) / 64 = 420 / 64. */
static void follows_a_spline_with_the_segment_length(void **state)
{
    (void)state;
    const float times[] = { 1, 3 }, values[] = { 77, 5, 3, -1, 9, 88 };
    pelt_sampler s = make(PELT_CUBICSPLINE, 2, 1, times, values);
    check1(&s, 0, 5);
    check1(&s, 1, 5);
    check1(&s, 1.5, 420.0 / 64);
    check1(&s, 2, 8);
    check1(&s, 3, 9);
    check1(&s, 4, 9);
}

/* A straight spline of two values: in-tangents and out-tangents that are the slope. */
static void keeps_spline_values_apart(void **state)
{
    (void)state;
    const float times[] = { 0, 4 };
    const float values[] = { 0, 0, 0, 10, 1, -2, 1, -2, 4, 2, 0, 0 };
    const double expected[] = { 3, 4 };
    pelt_sampler s = make(PELT_CUBICSPLINE, 2, 2, times, values);
    check(&s, 3, false, expected);
}

/* Between no turn and half a turn with flat tangents the middle is (0 0 1/2 1/2), made unit; and a
 * spline that passes through zero still gives a rotation. */
static void makes_spline_rotations_unit(void **state)
{
    (void)state;
    const float times[] = { 0, 1 };
    const float half[] = { 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0 };
    const float zero[] = {
        0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0
    };
    const double middle[] = { 0, 0, sqrt(0.5), sqrt(0.5) }, key[] = { 0, 0, 0, 1 };
    pelt_sampler s = make(PELT_CUBICSPLINE, 2, 4, times, half);
    check(&s, 0.5, true, middle);
    s.values = (float *)zero;
    check(&s, 0.5, true, key);
}

static void wraps_loops(void **state)
{
    (void)state;
    pelt_clip clip = { .duration = 2 };
    assert_true(pelt_clip_time(&clip, 5, false) == 5);
    assert_true(pelt_clip_time(&clip, 5, true) == 1);
    assert_true(pelt_clip_time(&clip, 2, true) == 0);
    assert_true(pelt_clip_time(&clip, 4, true) == 0);
    assert_true(pelt_clip_time(&clip, -0.5, true) == 1.5);
    assert_true(pelt_clip_time(&clip, -4, true) == 0);
    assert_true(pelt_clip_time(&clip, -1e-300, true) == 0); /* not the duration */
    double far = pelt_clip_time(&clip, 1e300, true);
    assert_true(far >= 0 && far < 2);
    clip.duration = 0;
    assert_true(pelt_clip_time(&clip, 5, true) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clamps_outside_the_keys),
        cmocka_unit_test(interpolates_linearly),
        cmocka_unit_test(steps_at_the_key_itself),
        cmocka_unit_test(finds_every_key),
        cmocka_unit_test(holds_a_single_key),
        cmocka_unit_test(turns_at_constant_speed),
        cmocka_unit_test(takes_the_shorter_arc),
        cmocka_unit_test(turns_by_half),
        cmocka_unit_test(is_safe_near_no_turn),
        cmocka_unit_test(makes_stored_rotations_unit),
        cmocka_unit_test(follows_a_spline_with_the_segment_length),
        cmocka_unit_test(keeps_spline_values_apart),
        cmocka_unit_test(makes_spline_rotations_unit),
        cmocka_unit_test(wraps_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
