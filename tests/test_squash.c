/* The squash study: its truth against formulas, its methods against their definitions, its errors
 * against angles worked out by hand, and its picture. */
#include "skin/deform.h"
#include "study/squash_pose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PI 3.14159265358979323846

static const double turn = 120.0 * PI / 180.0; /* of the case "twist" */

static uint32_t case_of(const char *name)
{
    for (uint32_t c = 0; c < PELT_SQUASH_CASE_COUNT; c++) {
        if (strcmp(pelt_squash_cases[c].name, name) == 0) {
            return c;
        }
    }
    fail_msg("no case %s", name);
    return 0;
}

static pelt_squash_limb *make_limb(const char *name)
{
    pelt_squash_limb *limb;
    assert_int_equal(pelt_squash_create(NULL, case_of(name), 101, 48, &limb), PELT_OK);
    return limb;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.12g instead of %.12g", value, expected);
    }
}

/* Calls check for places all over the surface, in every case. */
static void for_all_places(void (*check)(const squash_pose *pose, double along, double around))
{
    for (uint32_t c = 0; c < PELT_SQUASH_CASE_COUNT; c++) {
        const squash_pose pose = squash_pose_of(c);
        for (int i = 0; i < 200; i++) {
            check(&pose, (i + 0.5) / 200.0, fmod(0.37 * i, 1.0));
        }
    }
}

/* Differences of second order with a step of 2^-17: (2^-17)^2 / 6 = 1e-11 times third derivatives
 * of some hundreds, and rounding of 2^-52 x 8 / 2^-17 = 2e-10. */
static void check_jacobian(const squash_pose *pose, double along, double around)
{
    squash_point at = squash_point_at(along, around);
    double formula[9], differences[9];
    squash_jacobian(pose, at.position, formula);
    squash_jacobian_by_differences(pose, at.position, differences);
    for (int i = 0; i < 9; i++) {
        assert_near(differences[i], formula[i], 1e-8);
    }
}

static void jacobian_is_the_formula(void **state)
{
    (void)state;
    for_all_places(check_jacobian);
}

/* The cross product of the deformed surface's own tangents, around first: outwards at rest. */
static bool normal_of_tangents(const squash_pose *pose, double along, double around, double out[3])
{
    const double step = 1e-5;
    double ends[4][3], tangents[2][3];
    for (int i = 0; i < 4; i++) {
        double by = i % 2 == 0 ? step : -step;
        squash_point at = squash_point_at(along + (i < 2 ? 0.0 : by), around + (i < 2 ? by : 0.0));
        squash_deform(pose, at.position, ends[i]);
    }
    for (int i = 0; i < 3; i++) {
        tangents[0][i] = ends[0][i] - ends[1][i];
        tangents[1][i] = ends[2][i] - ends[3][i];
    }
    cross3(tangents[0], tangents[1], out);
    double size = sqrt(dot3(tangents[0], tangents[0]) * dot3(tangents[1], tangents[1]));
    bool clear = sqrt(dot3(out, out)) > 1e-2 * size;
    return normalize3(out) && clear;
}

/* Errors of both differences, 1e-8 or so, over the hundredth that tangents are at least apart. */
static void check_true_normal(const squash_pose *pose, double along, double around)
{
    squash_point at = squash_point_at(along, around);
    double truth[3], expected[3];
    if (normal_of_tangents(pose, along, around, expected) &&
        squash_true_normal(pose, at.position, at.normal, truth)) {
        assert_near(angle3(truth, expected), 0.0, 1e-5);
    }
}

static void truth_is_the_normal_of_the_surface(void **state)
{
    (void)state;
    for_all_places(check_true_normal);
}

static void weights_rise_smoothly(void **state)
{
    (void)state;
    assert_true(squash_weight(-LIMB_BLEND) == 0.0 && squash_weight(LIMB_BLEND) == 1.0);
    assert_near(squash_weight(0.0), 0.5, 1e-15);
    for (int i = -150; i < 150; i++) {
        double x = 0.01 * i;
        double slope = (squash_weight(x + 1e-5) - squash_weight(x - 1e-5)) / 2e-5;
        assert_near(squash_weight_slope(x), slope, 1e-8);
        assert_true(squash_weight_slope(x) >= 0.0);
    }
}

/* pelt's own deformation in float: 2^-24 times some tens of roundings, over lengths of 1/16. */
static void check_cofactor(const squash_pose *pose, double along, double around)
{
    squash_point at = squash_point_at(along, around);
    double w = squash_weight(at.position[0]), normal[3], expected[3];
    float blended[12], n[3], turned[3];
    for (int i = 0; i < 12; i++) {
        blended[i] = (float)((1.0 - w) * pose->joints[0][i] + w * pose->joints[1][i]);
    }
    for (int i = 0; i < 3; i++) {
        n[i] = (float)at.normal[i];
    }
    deform_normal(blended, n, turned);
    for (int i = 0; i < 3; i++) {
        expected[i] = (double)turned[i];
    }
    squash_method_normal(pose, PELT_SQUASH_COFACTOR, at.position, at.normal, normal);
    assert_near(angle3(normal, expected), 0.0, 1e-4);
}

static void cofactor_is_what_pelt_does(void **state)
{
    (void)state;
    for_all_places(check_cofactor);
}

/* By hand, for a normal of (0 .6 .8) where both weights are a half and one joint is S = diag(1 .25
 * 2): the blend is diag(1 .625 1.5). */
static void methods_are_their_formulas(void **state)
{
    (void)state;
    const squash_pose pose = squash_pose_of(case_of("flatten"));
    const double p[3] = { 0.0, 0.33, 0.44 }, n[3] = { 0.0, 0.6, 0.8 };
    double lengths[2] = { hypot(0.6 * 2.0, 0.8 * 0.25), 1.0 };
    const double expected[PELT_SQUASH_METHOD_COUNT][2] = {
        { 0.6 * 1.5, 0.8 * 0.625 },
        { 0.6 / 0.625, 0.8 / 1.5 },
        { 0.6 * (1.0 + 4.0), 0.8 * (1.0 + 0.5) },
        { 0.6 + 0.6 * 2.0 / lengths[0], 0.8 + 0.8 * 0.25 / lengths[0] },
        { 0.6 * 0.625, 0.8 * 1.5 },
    };
    for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
        double normal[3], length = hypot(expected[m][0], expected[m][1]);
        squash_method_normal(&pose, (pelt_squash_method)m, p, n, normal);
        assert_near(normal[0], 0.0, 1e-15);
        assert_near(normal[1], expected[m][0] / length, 1e-12);
        assert_near(normal[2], expected[m][1] / length, 1e-12);
    }
}

static void nothing_is_a_finite_normal(void **state)
{
    (void)state;
    const squash_pose pose = { { { 0.0 } } };
    const double p[3] = { 0.3, 0.5, 0.0 }, n[3] = { 0.0, 1.0, 0.0 };
    for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
        double normal[3];
        squash_method_normal(&pose, (pelt_squash_method)m, p, n, normal);
        assert_true(normal[0] == 0.0 && normal[1] == 0.0 && normal[2] == 1.0);
    }
    double truth[3];
    assert_false(squash_true_normal(&pose, p, n, truth));
}

/* A twisted tube is a surface of revolution: of the radius r l(w), where l is the length of 1 - w +
 * w e^(i turn). The methods leave normals radial, so they are off by the slope of the radius. */
static void a_twist_is_off_by_the_slope(void **state)
{
    (void)state;
    const squash_pose pose = squash_pose_of(case_of("twist"));
    const double k = 1.0 - cos(turn);
    for (int i = -5; i <= 5; i++) {
        double x = 0.17 * i;
        const double p[3] = { x, LIMB_RADIUS, 0.0 }, n[3] = { 0.0, 1.0, 0.0 };
        double w = squash_weight(x), length = sqrt(1.0 - 2.0 * w * (1.0 - w) * k);
        double slope = -LIMB_RADIUS * (1.0 - 2.0 * w) * k / length * squash_weight_slope(x);
        double truth[3];
        assert_true(squash_true_normal(&pose, p, n, truth));
        for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
            double normal[3];
            squash_method_normal(&pose, (pelt_squash_method)m, p, n, normal);
            assert_near(angle3(normal, truth), atan(fabs(slope)), 1e-8);
        }
    }
}

/* Of normals that a matrix of condition k turns by itself, the worst is off by asin((k^2 - 1) /
 * (k^2 + 1)): it meets S m and S^-1 m. Rings of 48 vertices and 101 rings miss it by less than a
 * degree. */
static void plain_is_off_by_the_condition(void **state)
{
    (void)state;
    pelt_squash_limb *limb = make_limb("scale");
    for (int m = 0; m < PELT_SQUASH_PLAIN; m++) {
        assert_near(limb->errors[m].worst, 0.0, 1e-7);
        assert_true(limb->errors[m].flipped == 0.0);
    }
    assert_near(limb->errors[PELT_SQUASH_PLAIN].worst, asin(63.0 / 65.0), PI / 180.0);
    pelt_squash_destroy(limb);
}

static void means_are_by_area(void **state)
{
    (void)state;
    pelt_squash_limb *limb = make_limb("bend");
    double sum = 0.0, area = 0.0;
    for (uint32_t v = 0; v < limb->vertex_count; v++) {
        uint32_t ring = v / 48;
        double share = squash_point_at((ring + 0.5) / 101.0, 0.0).area;
        double angle = angle3(limb->truth + 3 * v, limb->normals[PELT_SQUASH_COFACTOR] + 3 * v);
        sum += share * fmin(angle, PI - angle);
        area += share;
    }
    assert_near(limb->errors[PELT_SQUASH_COFACTOR].mean, sum / area, 1e-9);
    pelt_squash_destroy(limb);
}

/* Inverse transposes point outwards where a joint mirrors, the triangles' order inwards. */
static void mirrors_flip_what_divides(void **state)
{
    (void)state;
    pelt_squash_limb *limb = make_limb("mirror");
    assert_true(limb->errors[PELT_SQUASH_COFACTOR].flipped == 0.0);
    assert_true(limb->errors[PELT_SQUASH_JOINT_COFACTORS].flipped == 0.0);
    /* Half the limb, and the ring in the middle, which has no inverse. */
    assert_near(limb->errors[PELT_SQUASH_INVERSE].flipped, 0.5, 0.01);
    pelt_squash_destroy(limb);
    limb = make_limb("mirror-squash");
    assert_true(limb->errors[PELT_SQUASH_COFACTOR].flipped == 0.0);
    assert_near(limb->errors[PELT_SQUASH_INVERSE].flipped, 1.0, 1e-12);
    assert_near(limb->errors[PELT_SQUASH_JOINT_INVERSES].flipped, 1.0, 1e-12);
    pelt_squash_destroy(limb);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    pelt_squash_limb *limb;
    assert_int_equal(pelt_squash_create(NULL, PELT_SQUASH_CASE_COUNT, 9, 9, &limb),
                     PELT_ERROR_ARGUMENT);
    assert_null(limb);
    assert_int_equal(pelt_squash_create(NULL, 0, 2, 9, &limb), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_squash_create(NULL, 0, 9, 70000, &limb), PELT_ERROR_ARGUMENT);
    pelt_squash_destroy(NULL);
}

/* Mean brightness of a square of the picture. */
static double brightness(const pelt_canvas *canvas, uint32_t x, uint32_t y, uint32_t size)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < size * size; i++) {
        const uint8_t *pixel =
            canvas->pixels + 4 * ((size_t)(y + i / size) * canvas->width + x + i % size);
        sum += pixel[0] + pixel[1] + pixel[2];
        assert_int_equal(pixel[3], 255);
    }
    return sum / (3.0 * size * size);
}

/* Under scale, the heat of the cofactor is that of 0 degrees, that of the plain matrix of some 70.
 * The limb runs through the middle of its tiles, which lie at equal distances. */
static void sheet_shows_what_is_wrong(void **state)
{
    (void)state;
    pelt_squash_limb *limb = make_limb("scale");
    pelt_squash_sheet sheet, again;
    assert_int_equal(pelt_squash_sheet_create(NULL, 1, &sheet), PELT_OK);
    assert_int_equal(pelt_squash_sheet_create(NULL, 1, &again), PELT_OK);
    assert_int_equal(pelt_squash_sheet_add(&sheet, limb), PELT_OK);
    assert_int_equal(pelt_squash_sheet_add(&again, limb), PELT_OK);
    size_t size = (size_t)sheet.canvas.width * sheet.canvas.height * 4;
    assert_memory_equal(sheet.canvas.pixels, again.canvas.pixels, size);

    /* From the right: a margin, the plain matrix, four other methods. Below: the heat. */
    uint32_t column = 256 + 8, right = sheet.canvas.width - 32 - 128, middle = 178 + 150 + 4 + 75;
    assert_true(brightness(&sheet.canvas, right - 4 * column - 4, middle - 4, 8) > 180.0);
    assert_true(brightness(&sheet.canvas, right - 1 * column - 4, middle - 4, 8) > 180.0);
    uint32_t darker = 0;
    for (uint32_t y = middle - 40; y < middle + 40; y += 8) {
        darker += brightness(&sheet.canvas, right - 4, y, 8) < 110.0;
    }
    assert_true(darker >= 2);
    pelt_squash_sheet_destroy(&again);
    pelt_squash_sheet_destroy(&sheet);
    pelt_squash_destroy(limb);
}

/* A host whose allocations fail once some are done, and that counts what is not given back. */
typedef struct scarce {
    size_t left;
    int held;
} scarce;

static void *allocate_scarce(void *user, void *block, size_t size)
{
    scarce *self = user;
    if (size == 0) {
        self->held -= block != NULL;
        free(block);
        return NULL;
    }
    if (self->left == 0) {
        return NULL;
    }
    self->left--;
    self->held += block == NULL;
    return realloc(block, size);
}

static void unwinds_failed_allocations(void **state)
{
    (void)state;
    scarce memory;
    const pelt_host host = { .user = &memory, .allocate = allocate_scarce };
    pelt_result result = PELT_ERROR_MEMORY;
    size_t needed = 0;
    for (; result != PELT_OK && needed < 100; needed++) {
        memory = (scarce){ .left = needed };
        pelt_squash_limb *limb;
        pelt_squash_sheet sheet = { 0 };
        result = pelt_squash_create(&host, 0, 9, 9, &limb);
        if (result == PELT_OK) {
            result = pelt_squash_sheet_create(&host, 1, &sheet);
        }
        if (result == PELT_OK) {
            result = pelt_squash_sheet_add(&sheet, limb);
        }
        assert_true(result == PELT_OK || result == PELT_ERROR_MEMORY);
        pelt_squash_sheet_destroy(&sheet);
        pelt_squash_destroy(limb);
        assert_int_equal(memory.held, 0);
    }
    assert_int_equal(result, PELT_OK);
    assert_true(needed > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jacobian_is_the_formula),
        cmocka_unit_test(truth_is_the_normal_of_the_surface),
        cmocka_unit_test(weights_rise_smoothly),
        cmocka_unit_test(cofactor_is_what_pelt_does),
        cmocka_unit_test(methods_are_their_formulas),
        cmocka_unit_test(nothing_is_a_finite_normal),
        cmocka_unit_test(a_twist_is_off_by_the_slope),
        cmocka_unit_test(plain_is_off_by_the_condition),
        cmocka_unit_test(means_are_by_area),
        cmocka_unit_test(mirrors_flip_what_divides),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(sheet_shows_what_is_wrong),
        cmocka_unit_test(unwinds_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
