/* What a bake is made of: dual quaternions, the polar decomposition, halves, interpolation. */
#include "anim/anim.h"
#include "bake/bake.h"
#include "bake/half.h"
#include "tests/build_model.h"

static uint32_t state_of_random = 1;

/* In [-1, 1). */
static double random_number(void)
{
    state_of_random = state_of_random * 1664525u + 1013904223u;
    return (double)(state_of_random >> 8) / (1 << 23) - 1;
}

static void random_rotation(double q[4])
{
    for (int i = 0; i < 4; i++) {
        q[i] = random_number();
    }
    pelt_quaternion_normalize(q, pelt_quaternion_identity);
}

/* T R of a turn about the z axis through a point. */
static void turn_about(double degrees, double x, double y, double out[12])
{
    double a = degrees * acos(-1) / 180, c = cos(a), s = sin(a);
    const double m[12] = { c, -s, 0, x - c * x + s * y, s, c, 0, y - s * x - c * y, 0, 0, 1, 0 };
    memcpy(out, m, sizeof(m));
}

static void apply(const double m[12], const double p[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = m[4 * i] * p[0] + m[4 * i + 1] * p[1] + m[4 * i + 2] * p[2] + m[4 * i + 3];
    }
}

static pelt_bake_joint joint_of(const double matrix[12])
{
    pelt_bake_joint joint;
    memcpy(joint.matrix, matrix, sizeof(joint.matrix));
    pelt_matrix_factor(matrix, &joint.factors);
    return joint;
}

static void halves_are_the_nearest(void **state)
{
    (void)state;
    static const struct {
        double value;
        uint16_t bits;
    } known[] = { { 0, 0 },
                  { -0.0, 0x8000 },
                  { 1, 0x3c00 },
                  { -2, 0xc000 },
                  { 65504, 0x7bff },
                  { 65519.99, 0x7bff },
                  { 65520, 0x7c00 },
                  { 0x1p-14, 0x0400 },         /* the least normal one */
                  { 0x1p-24, 0x0001 },         /* the least of all */
                  { 0x1p-25, 0x0000 },         /* a tie, to even */
                  { 0x1.8p-24, 0x0002 },       /* likewise */
                  { 1 + 0x1p-11, 0x3c00 },     /* a tie, to even */
                  { 1 + 3 * 0x1p-11, 0x3c02 }, /* likewise */
                  { 2 - 0x1p-12, 0x4000 },     /* up to the next exponent */
                  { 0x1p-14 - 0x1p-26, 0x0400 } /* from the denormal ones up */ };
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        assert_int_equal(half_from_double(known[i].value), known[i].bits);
    }
    /* All finite ones are themselves. */
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        if ((bits & 0x7c00) != 0x7c00) {
            assert_int_equal(half_from_double(half_to_double((uint16_t)bits)), bits);
        }
    }
}

/* Points go where q p q* + t puts them, with the product of quaternions written out. */
static void dual_quaternions_move_points(void **state)
{
    (void)state;
    for (int n = 0; n < 1000; n++) {
        double q[4], t[3], p[3], m[12], moved[3];
        random_rotation(q);
        for (int i = 0; i < 3; i++) {
            t[i] = 10 * random_number();
            p[i] = 10 * random_number();
        }
        pelt_dual_quaternion dual;
        pelt_dual_quaternion_make(q, t, &dual);
        double twice = 1 + random_number() / 2; /* of any length */
        for (int i = 0; i < 4; i++) {
            dual.real[i] *= twice;
            dual.dual[i] *= twice;
        }
        pelt_dual_quaternion_matrix(&dual, m);
        apply(m, p, moved);
        /* p + 2 w (v x p) + 2 v x (v x p) + t */
        double c[3], cc[3];
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, k = (i + 2) % 3;
            c[i] = q[j] * p[k] - q[k] * p[j];
        }
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, k = (i + 2) % 3;
            cc[i] = q[j] * c[k] - q[k] * c[j];
            assert_near(moved[i], p[i] + 2 * q[3] * c[i] + 2 * cc[i] + t[i], 1e-13 * 40);
        }
    }
}

/* M = T R S with a symmetric S is found again. */
static void factors_are_found_again(void **state)
{
    (void)state;
    for (int n = 0; n < 1000; n++) {
        double q[4], t[3], m[12];
        pelt_dual_quaternion motion;
        pelt_factors factors;
        random_rotation(q);
        for (int i = 0; i < 3; i++) {
            t[i] = random_number();
        }
        pelt_dual_quaternion_make(q, t, &motion);
        /* Positive definite: the diagonal outweighs the rest. Every other one mirrored. */
        double s[6], sign = n % 2 ? -1 : 1;
        for (int i = 0; i < 6; i++) {
            s[i] = sign * (i < 3 ? 2 + random_number() : random_number() / 4);
        }
        pelt_factors_matrix(&motion, s, m);
        pelt_matrix_factor(m, &factors);
        assert_int_equal(factors.rank, 3);
        pelt_dual_quaternion_align(&factors.motion, motion.real);
        for (int i = 0; i < 4; i++) {
            assert_near(factors.motion.real[i], motion.real[i], 1e-14);
            assert_near(factors.motion.dual[i], motion.dual[i], 1e-14);
        }
        for (int i = 0; i < 6; i++) {
            assert_near(factors.stretch[i], s[i], 1e-14);
        }
    }
}

/* Whatever the rank, T R S is the matrix, R is a rotation and nothing is NaN. */
static void factors_of_flat_matrices_give_them_again(void **state)
{
    (void)state;
    for (int n = 0; n < 4000; n++) {
        double m[12] = { 0 }, again[12], square = 0;
        int rank = n % 4;
        for (int k = 0; k < rank; k++) {
            double u[3], v[3];
            for (int i = 0; i < 3; i++) {
                u[i] = random_number();
                v[i] = random_number();
            }
            for (int i = 0; i < 9; i++) {
                m[4 * (i / 3) + i % 3] += u[i / 3] * v[i % 3];
            }
        }
        m[3] = 5;
        double scale = n % 3 == 0 ? 1e-12 : n % 3 == 1 ? 1 : 1e15;
        for (int i = 0; i < 12; i++) {
            m[i] *= scale;
        }
        pelt_factors factors;
        pelt_matrix_factor(m, &factors);
        assert_true(factors.rank <= rank);
        for (int i = 0; i < 4; i++) {
            square += factors.motion.real[i] * factors.motion.real[i];
        }
        assert_near(square, 1, 1e-14);
        pelt_factors_matrix(&factors.motion, factors.stretch, again);
        for (int i = 0; i < 12; i++) {
            /* What is not of the rank may be left out: a millionth. */
            assert_near(again[i], m[i], 5e-6 * scale);
        }
    }
}

/* The design's figures: what is left of a radius half way between two frames so far apart. */
static void lerp_shrinks_and_blend_does_not(void **state)
{
    (void)state;
    static const struct {
        double degrees, lost; /* per cent, as printed there */
    } known[] = { { 15, 0.9 }, { 45, 7.6 }, { 90, 29 } };
    static const double digits[] = { 0.05, 0.05, 0.5 };
    for (int n = 0; n < 3; n++) {
        const double a = known[n].degrees, point[3] = { 1, 0, 2 };
        double from[12], to[12], m[12], moved[3];
        turn_about(0, 0, 0, from);
        turn_about(a, 0, 0, to);
        pelt_bake_joint first = joint_of(from), second = joint_of(to);
        pelt_bake_interpolate(&first, &second, 0.5, PELT_BAKE_LERP, m);
        apply(m, point, moved);
        double radius = hypot(moved[0], moved[1]);
        assert_near(radius, cos(a / 2 * acos(-1) / 180), 1e-15);
        assert_near(100 * (1 - radius), known[n].lost, digits[n]);
        assert_near(moved[2], 2, 1e-15);
        pelt_bake_interpolate(&first, &second, 0.5, PELT_BAKE_BLEND, m);
        apply(m, point, moved);
        assert_near(hypot(moved[0], moved[1]), 1, 1e-15);
        assert_near(atan2(moved[1], moved[0]), a / 2 * acos(-1) / 180, 1e-15);
        pelt_bake_interpolate(&first, &second, 0.49, PELT_BAKE_NEAREST, m);
        assert_memory_equal(m, from, sizeof(m));
        pelt_bake_interpolate(&first, &second, 0.5, PELT_BAKE_NEAREST, m);
        assert_memory_equal(m, to, sizeof(m));
    }
}

/* A turn about a point far from the origin keeps that point, at any fraction, where blending
 * rotation and translation one by one would move it by |p| (1 - cos(a / 2)) = 29 of 100. */
static void blend_keeps_the_centre_of_a_turn(void **state)
{
    (void)state;
    const double centre[3] = { 60, 80, 7 };
    double from[12], to[12], m[12], moved[3];
    turn_about(-20, 60, 80, from);
    turn_about(70, 60, 80, to);
    pelt_bake_joint a = joint_of(from), b = joint_of(to);
    for (int n = 0; n <= 8; n++) {
        pelt_bake_interpolate(&a, &b, n / 8.0, PELT_BAKE_BLEND, m);
        apply(m, centre, moved);
        for (int i = 0; i < 3; i++) {
            assert_near(moved[i], centre[i], 1e-12);
        }
    }
}

/* The other sign of a quaternion is the same motion; scale and shear go linearly; a mirrored joint
 * stays mirrored; a joint scaled to nothing turns as it does at the other end. */
static void blends_what_is_not_rigid(void **state)
{
    (void)state;
    double from[12], to[12], m[12];
    turn_about(10, 1, 2, from);
    turn_about(50, 1, 2, to);
    pelt_bake_joint a = joint_of(from), b = joint_of(to), c = b;
    for (int i = 0; i < 4; i++) {
        c.factors.motion.real[i] *= -1;
        c.factors.motion.dual[i] *= -1;
    }
    double other[12];
    pelt_bake_interpolate(&a, &b, 0.3, PELT_BAKE_BLEND, m);
    pelt_bake_interpolate(&a, &c, 0.3, PELT_BAKE_BLEND, other);
    assert_memory_equal(m, other, sizeof(m));

    const double shear[12] = { 1, 0.5, 0, 0, 0.5, 1, 0, 0, 0, 0, 3, 0 };
    pelt_bake_joint still = joint_of(pelt_matrix_identity), sheared = joint_of(shear);
    pelt_bake_interpolate(&still, &sheared, 0.5, PELT_BAKE_BLEND, m);
    const double half[12] = { 1, 0.25, 0, 0, 0.25, 1, 0, 0, 0, 0, 2, 0 };
    for (int i = 0; i < 12; i++) {
        assert_near(m[i], half[i], 1e-14);
    }

    double mirror[12], mirrored[12], turned[12];
    const double flip[12] = { -1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    turn_about(90, 0, 0, turned);
    pelt_matrix_multiply(turned, flip, mirrored);
    pelt_bake_joint d = joint_of(flip), e = joint_of(mirrored);
    pelt_bake_interpolate(&d, &e, 0.5, PELT_BAKE_BLEND, m);
    turn_about(45, 0, 0, turned);
    pelt_matrix_multiply(turned, flip, mirror);
    for (int i = 0; i < 12; i++) {
        assert_near(m[i], mirror[i], 1e-14);
    }

    double nothing[12] = { 0 };
    pelt_bake_joint gone = joint_of(nothing);
    turn_about(90, 0, 0, turned);
    pelt_bake_joint f = joint_of(turned);
    pelt_bake_interpolate(&gone, &f, 0.25, PELT_BAKE_BLEND, m);
    for (int i = 0; i < 12; i++) {
        assert_near(m[i], turned[i] / 4, 1e-14);
    }
}

/* A turn about the x axis, by less than a half one. */
static pelt_bake_joint twisted(double degrees)
{
    double a = degrees * acos(-1) / 180, c = cos(a), s = sin(a);
    const double m[12] = { 1, 0, 0, 0, 0, c, -s, 0, 0, s, c, 0 };
    return joint_of(m);
}

/* One vertex, 2 from the axis, half of it each of two joints' of which the second turns. */
static void margins_of_dual_quaternions_by_hand(void **state)
{
    (void)state;
    pelt_packed_vertex vertex = { .position = { 0, 2, 0 } };
    pelt_packed_mesh mesh = { .vertex_count = 1, .vertices = &vertex };
    size_t firsts[] = { 0, 2 };
    pelt_bake_influence influences[] = { { 0, 0.5f }, { 1, 0.5f } };
    pelt_bake_body body = { .mesh = &mesh, .firsts = firsts, .influences = influences };
    pelt_bake_part part = { 0 };
    const pelt_bake_bodies bodies = {
        .body_count = 1, .part_count = 1, .bodies = &body, .parts = &part
    };
    /* Rounding: 2^-17 x 4 at most, over cos^4(a / 4) which is 1/4 at least. */
    const double rounding = 0x1p-13;
    for (int angle = 10; angle < 180; angle += 10) {
        const pelt_bake_joint rows[] = { twisted(0), twisted(angle) };
        double a = angle * acos(-1) / 180;
        double bound = pelt_bake_bodies_dual_bound(&bodies, rows, rows, 0, 0);
        /* e = 2 sin(a / 4), |y_1 - y_0| = 4 sin(a / 2), |q| >= 1/2 + cos(a / 2) / 2. */
        assert_near(bound, 2 * sin(a / 2) * sin(a / 4) / (cos(a / 4) * cos(a / 4)), rounding);
        /* Linearly blended it is 2 cos(a / 2) from the axis, else 2. */
        double apart = 2 * (1 - cos(a / 2));
        assert_true(bound > apart && bound < 1.42 * apart + rounding);
        assert_true(pelt_bake_bodies_dual_bound(&bodies, rows, rows, 0, 5) == 5);
    }
    /* From one side to the other: both rows are 30 degrees off as quaternions, 60 apart, so it may
     * be 60 on the way. Where y_1 is farther from y_0 by 0.1 on each side, this is 2.2. */
    const pelt_bake_joint from[] = { twisted(0), twisted(-60) };
    const pelt_bake_joint to[] = { twisted(0), twisted(60) };
    double bound = pelt_bake_bodies_dual_bound(&bodies, from, to, 0.1, 0);
    assert_near(bound, 0.25 * 2.2 / 0.75, rounding);
    /* One joint alone does not blend. */
    firsts[1] = 1;
    assert_true(pelt_bake_bodies_dual_bound(&bodies, from, to, 0.1, 0) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_are_the_nearest),
        cmocka_unit_test(dual_quaternions_move_points),
        cmocka_unit_test(factors_are_found_again),
        cmocka_unit_test(factors_of_flat_matrices_give_them_again),
        cmocka_unit_test(lerp_shrinks_and_blend_does_not),
        cmocka_unit_test(blend_keeps_the_centre_of_a_turn),
        cmocka_unit_test(blends_what_is_not_rigid),
        cmocka_unit_test(margins_of_dual_quaternions_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
