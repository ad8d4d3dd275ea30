/* The arithmetic by which shaders decode weights (shaders/pelt/unpack.glsl), in C, for every code:
 * with products rounded before they are added to, and without. */
#include "pack_fixture.h"

#include "pack/codec.h"

static float one_and(uint32_t mantissa)
{
    return float_from_bits(mantissa | 0x3f800000u);
}

/* Compilers of shaders may do either. */
static float topped_weight(uint32_t code, float raise, bool fused)
{
    const float factor = 2048.0f + raise / 4096.0f, offset = 1024.0f - raise / 4096.0f;
    if (fused) {
        return fmaf(one_and(code), factor, offset) - 3072.0f;
    }
    volatile float product = one_and(code) * factor, sum = product + offset;
    return sum - 3072.0f;
}

/* Whether all codes of so many bits are decoded: to code / 4096, the top one to one more. */
static bool decodes_all(uint32_t bits, float raise, bool fused)
{
    uint32_t top = (1u << bits) - 1;
    for (uint32_t code = 0; code <= top; code++) {
        if (topped_weight(code, raise, fused) != (float)(code + (code == top)) / 4096.0f) {
            return false;
        }
    }
    return true;
}

/* 2047 r >= 2^22 > 2046 r only for r = 2050; 1023 r >= 2^22 > 1022 r for 4101 to 4104, of whose
 * 4096ths floats near 2048 have every one. */
static void weights_of_one_more_have_the_only_constants(void **state)
{
    (void)state;
    for (int fused = 0; fused < 2; fused++) {
        for (uint32_t raise = 2040; raise <= 2060; raise++) {
            assert_int_equal(decodes_all(11, (float)raise, fused), raise == 2050);
        }
        for (uint32_t raise = 4090; raise <= 4110; raise++) {
            assert_int_equal(decodes_all(10, (float)raise, fused), raise >= 4101 && raise <= 4104);
        }
    }
}

/* Constants are floats: nothing is lost before any code is looked at. */
static void constants_are_floats(void **state)
{
    (void)state;
    static const double raises[] = { 2050.0, 4101.0 };
    for (int i = 0; i < 2; i++) {
        double factor = 2048.0 + raises[i] / 4096.0, offset = 1024.0 - raises[i] / 4096.0;
        assert_true((double)(float)factor == factor);
        assert_true((double)(float)offset == offset);
    }
}

static void other_fields_are_mantissas(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 2048; code++) {
        assert_true(one_and(code << 11 & 0x3ff800u) - 1.0f == (float)code / 4096.0f);
        assert_true(decode_fraction(code, FIRST_DIGITS) == (float)code / 4096.0f);
    }
    for (uint32_t code = 0; code < 65536; code++) {
        assert_true(one_and(code << 7) - 1.0f == (float)code / 65536.0f);
        assert_true(decode_fraction(code, FURTHER_DIGITS) == (float)code / 65536.0f);
    }
}

/* Components of directions where they lie in their words, fused or not. */
static void directions_are_scaled_where_they_lie(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 1024; code++) {
        float expected = ((float)code - 512.0f) / 1024.0f;
        const float ones[] = { one_and(code), one_and(code << 10) }; /* y and z lie alike */
        const float factors[] = { 8192.0f, 8.0f }, offsets[] = { 8192.5f, 8.5f };
        for (int i = 0; i < 2; i++) {
            volatile float product = ones[i] * factors[i];
            assert_true(product - offsets[i] == expected);
            assert_true(fmaf(ones[i], factors[i], -offsets[i]) == expected);
        }
        assert_true(decode_scaled_component(code) == expected);
    }
}

/* The codes of a sum of three that is encoded at once: no field reaches into the next. */
static void scaled_directions_are_encoded_as_units(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (uint32_t i = 0; i < 300000; i++) {
        float unit[3];
        if (i < 27) { /* axes and diagonals; 0 0 0 also */
            const uint32_t digits[3] = { i % 3, i / 3 % 3, i / 9 };
            for (int k = 0; k < 3; k++) {
                unit[k] = (float)digits[k] - 1.0f;
            }
        } else {
            random_direction(&seed, unit);
        }
        uint32_t together = 0u - 0x4b000000u;
        for (int k = 0; k < 3; k++) {
            volatile float scaled = unit[k] * 511.0f;
            together += float_to_bits(scaled + 8389120.0f) << 10 * k;
        }
        assert_int_equal(together, encode_unit_direction(unit));
    }
}

/* Words of weights are below these where there are no more than one, two and three influences. */
static void words_tell_how_many_influences_there_are(void **state)
{
    (void)state;
    static const uint32_t values[3][8] = { { 0, 1, 2, 1000, 1024, 2045, 2046, 2048 },
                                           { 0, 1, 2, 1000, 1024, 2045, 2046, 2047 },
                                           { 0, 1, 2, 500, 512, 1021, 1022, 1024 } };
    for (uint32_t i = 0; i < 512; i++) {
        uint32_t w1 = values[0][i % 8], w2 = values[1][i / 8 % 8], w3 = values[2][i / 64];
        uint32_t word = encode_first_weights(w1, w2, w3);
        assert_int_equal(word >= 1, w1 > 0 || w2 > 0 || w3 > 0);
        assert_int_equal(word >= 0x800, w2 > 0 || w3 > 0);
        assert_int_equal(word >= 0x400000, w3 > 0);
        assert_true(topped_weight(word & 0x7ff, 2050.0f, i % 2) == (float)w1 / 4096.0f);
        assert_true(one_and(word & 0x3ff800) - 1.0f == (float)w2 / 4096.0f);
        assert_true(topped_weight(word >> 22, 4101.0f, i % 2) == (float)w3 / 4096.0f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_of_one_more_have_the_only_constants),
        cmocka_unit_test(constants_are_floats),
        cmocka_unit_test(other_fields_are_mantissas),
        cmocka_unit_test(directions_are_scaled_where_they_lie),
        cmocka_unit_test(scaled_directions_are_encoded_as_units),
        cmocka_unit_test(words_tell_how_many_influences_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
