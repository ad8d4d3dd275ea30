/* Normals and tangents in 10-10-10-2, and what other codings of the same bits would cost. */
#include "pack_fixture.h"

/* Half a step in each component, all of it across the direction. */
static double bound(void)
{
    return asin(sqrt(3.0) / 1022.0);
}

static double angle(const double a[3], const double b[3])
{
    double c[3] = { a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                    a[0] * b[1] - a[1] * b[0] };
    return atan2(sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]),
                 a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
}

/* The three codings: as documented, decoded here in double precision from the bits ... */
static void ours(const float d[3], double out[3])
{
    uint32_t word = pelt_encode_direction(d, 1.0f);
    for (int i = 0; i < 3; i++) {
        out[i] = ((double)(word >> 10 * i & 1023) - 512.0) / 511.0;
    }
}

/* ... as Vulkan defines SNORM (Fundamentals, conversion from normalized fixed-point) ... */
static void snorm(const float d[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = fmax(round(d[i] * 511.0) / 511.0, -1.0);
    }
}

/* ... and UNORM stretched from [0, 1] to [-1, 1] without care for where 0 falls. */
static void unorm(const float d[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = round((d[i] * 0.5 + 0.5) * 1023.0) / 1023.0 * 2.0 - 1.0;
    }
}

static void error_is_bounded_and_comparable(void **state)
{
    (void)state;
    enum { COUNT = 1000000 };
    static const struct {
        const char *name;
        void (*code)(const float[3], double[3]);
    } codings[] = { { "UNORM with bias (ours)", ours },
                    { "SNORM", snorm },
                    { "UNORM / 1023", unorm } };
    static const float axis[3] = { 0.0f, 1.0f, 0.0f };
    for (size_t i = 0; i < 3; i++) {
        uint64_t seed = 1;
        double worst = 0.0, sum = 0.0, on_axis[3];
        for (uint32_t n = 0; n < COUNT; n++) {
            float d[3];
            double coded[3];
            random_direction(&seed, d);
            codings[i].code(d, coded);
            double error = angle((double[3]){ d[0], d[1], d[2] }, coded);
            worst = fmax(worst, error);
            sum += error;
        }
        codings[i].code(axis, on_axis);
        double to_degrees = 57.295779513082321;
        double axis_error = angle((double[3]){ 0.0, 1.0, 0.0 }, on_axis);
        print_message("%-22s  max %.4f  mean %.4f  on an axis %.4f degrees\n", codings[i].name,
                      worst * to_degrees, sum / COUNT * to_degrees, axis_error * to_degrees);
        if (i == 0) { /* the float that is scaled and rounded is itself off by 2^-24 */
            assert_true(worst <= bound() + 1e-6);
            assert_true(worst > 0.9 * bound());
            assert_true(axis_error == 0.0);
        }
    }
}

static void decoder_returns_what_the_bits_say(void **state)
{
    (void)state;
    for (uint32_t code = 1; code < 1024; code++) {
        float d[3], w;
        pelt_decode_direction(code | 512u << 10 | (1024 - code) << 20 | 3u << 30, d, &w);
        double expected = ((double)code - 512.0) / 511.0;
        assert_true(fabs(d[0] - expected) <= 0x1p-23);
        assert_true(d[1] == 0.0f && d[2] == -d[0] && w == 1.0f);
    }
}

static void zeros_ones_and_handedness_are_exact(void **state)
{
    (void)state;
    for (int a = 0; a < 3; a++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int w = -1; w <= 1; w += 2) {
                float d[3] = { 0 }, decoded[3], decoded_w;
                d[a] = (float)sign;
                uint32_t word = pelt_encode_direction(d, (float)w);
                assert_int_equal(word >> 30, w > 0 ? 3 : 0);
                assert_int_equal(word >> 10 * a & 1023, sign > 0 ? 1023 : 1);
                pelt_decode_direction(word, decoded, &decoded_w);
                assert_true(decoded[0] == d[0] && decoded[1] == d[1] && decoded[2] == d[2]);
                assert_true(decoded_w == (float)w);
            }
        }
    }
    assert_int_equal(pelt_encode_direction((float[3]){ 1, 0, 0 }, 0.0f) >> 30, 3);
}

static void length_does_not_matter(void **state)
{
    (void)state;
    static const float scales[] = { 1e-44f, 1e-38f, 1e-20f, 0.5f, 3.0f, 1e20f, 1e38f };
    uint32_t expected = pelt_encode_direction((float[3]){ 1, -1, 0 }, 1.0f);
    assert_int_equal(expected & 1023, 512 + 361); /* 511 / sqrt(2) = 361.33 */
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
        float d[3] = { scales[i], -scales[i], 0.0f };
        assert_int_equal(pelt_encode_direction(d, 1.0f), expected);
    }
}

static void no_direction_becomes_z(void **state)
{
    (void)state;
    uint32_t z = 512u | 512u << 10 | 1023u << 20;
    assert_int_equal(pelt_encode_direction((float[3]){ 0, 0, 0 }, 1.0f), z | 3u << 30);
    assert_int_equal(pelt_encode_direction((float[3]){ 0, -0.0f, 0 }, -1.0f), z);
    assert_int_equal(pelt_encode_direction((float[3]){ NAN, 0, 1 }, -1.0f), z);
    assert_int_equal(pelt_encode_direction((float[3]){ 1, INFINITY, 1 }, -1.0f), z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_is_bounded_and_comparable),
        cmocka_unit_test(decoder_returns_what_the_bits_say),
        cmocka_unit_test(zeros_ones_and_handedness_are_exact),
        cmocka_unit_test(length_does_not_matter),
        cmocka_unit_test(no_direction_becomes_z),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
