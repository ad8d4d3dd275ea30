/* The reader: animations. */
#include "gltf_strip.h"

#include <math.h>

static const char first_sampler[] = "{\"input\":6,\"output\":7}";
static const char first_target[] = "\"target\":{\"node\":2,\"path\":\"rotation\"}";

static void test_clip(void **state)
{
    (void)state;
    report r;
    strip s = make_strip();
    pelt_model *model = read_good(&s, &r);
    assert_int_equal(model->clip_count, 1);
    const pelt_clip *clip = &model->clips[0];
    assert_string_equal(clip->name, "bend");
    assert_true(clip->duration == 2);
    assert_int_equal(clip->channel_count, 2);
    assert_int_equal(clip->channels[0].node, 2);
    assert_int_equal(clip->channels[0].path, PELT_ROTATION);
    assert_int_equal(clip->channels[1].node, 0);
    assert_int_equal(clip->channels[1].path, PELT_WEIGHTS);
    const pelt_sampler *rotation = &clip->samplers[clip->channels[0].sampler];
    assert_int_equal(rotation->interpolation, PELT_LINEAR);
    assert_int_equal(rotation->key_count, 3);
    assert_int_equal(rotation->width, 4);
    assert_floats(rotation->times, 0, 0.5f, 2);
    static const float rotations[] = { 0, 0, 0, 1, 0.6f, 0, 0, 0.8f, 0, 1, 0, 0 };
    assert_floats_near(rotation->values, rotations, 12, 6e-8);
    const pelt_sampler *weights = &clip->samplers[clip->channels[1].sampler];
    assert_int_equal(weights->width, 1);
    assert_floats(weights->values, 0, 1, 0.5f);
    pelt_model_destroy(model);
}

/* Rotations as normalized integers of all four kinds: unit after reading. */
static void test_integer_rotations(void **state)
{
    (void)state;
    static const int8_t i8[] = { 0, 0, 0, 127, 76, 0, 0, 102, 0, -128, 0, 0 };
    static const uint8_t u8[] = { 0, 0, 0, 255, 153, 0, 0, 204, 0, 255, 0, 0 };
    static const int16_t i16[] = { 0, 0, 0, 32767, 19660, 0, 0, 26214, 0, -32768, 0, 0 };
    static const uint16_t u16[] = { 0, 0, 0, 65535, 39321, 0, 0, 52428, 0, 65535, 0, 0 };
    static const struct {
        const void *bytes;
        size_t size;
        unsigned component;
        float sign;
        double tolerance;
    } cases[] = { { i8, sizeof(i8), 5120, -1, 4e-3 },
                  { u8, sizeof(u8), 5121, 1, 1e-7 },
                  { i16, sizeof(i16), 5122, -1, 2e-5 },
                  { u16, sizeof(u16), 5123, 1, 1e-7 } };
    for (unsigned i = 0; i < 4; i++) {
        report r;
        strip s = make_strip();
        (void)add_accessor(&s, cases[i].bytes, cases[i].size, cases[i].component, "VEC4", 3,
                           ",\"normalized\":true");
        edit(&s, first_sampler, "{\"input\":6,\"output\":12,\"interpolation\":\"STEP\"}");
        pelt_model *model = read_good(&s, &r);
        assert_int_equal(r.warnings, 0);
        const pelt_sampler *sampler = &model->clips[0].samplers[0];
        assert_int_equal(sampler->interpolation, PELT_STEP);
        const float expected[] = { 0, 0, 0, 1, 0.6f, 0, 0, 0.8f, 0, cases[i].sign, 0, 0 };
        assert_floats_near(sampler->values, expected, 12, cases[i].tolerance);
        const float *q = sampler->values + 4;
        assert_true(fabs((double)q[0] * q[0] + (double)q[3] * q[3] - 1) < 2e-7);
        pelt_model_destroy(model);
    }
}

static void test_cubic_spline(void **state)
{
    (void)state;
    report r;
    float values[36];
    for (unsigned i = 0; i < 36; i++) {
        values[i] = (float)i - 3;
    }
    strip s = make_strip();
    (void)add_accessor(&s, values, sizeof(values), 5126, "VEC4", 9, "");
    edit(&s, first_sampler, "{\"input\":6,\"output\":12,\"interpolation\":\"CUBICSPLINE\"}");
    pelt_model *model = read_good(&s, &r);
    /* The three values are far from unit, the tangents may be anything. */
    assert_int_equal(r.warnings, 1);
    assert_non_null(strstr(r.log, "/animations/0/samplers/0/output 3 of 3 rotations did not"));
    const pelt_sampler *sampler = &model->clips[0].samplers[0];
    assert_int_equal(sampler->key_count, 3);
    for (unsigned i = 0; i < 9; i++) {
        const float *in = values + 4 * i, *out = sampler->values + 4 * i;
        double length = 1;
        if (i % 3 == 1) {
            length = sqrt((double)(in[0] * in[0] + in[1] * in[1] + in[2] * in[2] + in[3] * in[3]));
        }
        for (unsigned k = 0; k < 4; k++) {
            assert_true(fabs((double)out[k] - (double)in[k] / length) < 1e-7);
        }
    }
    pelt_model_destroy(model);
}

static void test_repaired_rotations(void **state)
{
    (void)state;
    static const float denormal[] = { 1e-40f, 0, 0, 1e-40f };
    strip s = make_strip();
    put(&s, AT_ROTATIONS + 16, denormal, sizeof(denormal));
    pelt_model *model =
        read_flawed(&s, "/animations/0/samplers/0/output", "1 of 3 rotations have no");
    assert_floats(model->clips[0].samplers[0].values + 4, 0, 0, 0, 1);
    pelt_model_destroy(model);
    static const float doubled[] = { 0, 2, 0, 0 };
    s = make_strip();
    put(&s, AT_ROTATIONS + 32, doubled, sizeof(doubled));
    model = read_flawed(&s, "/animations/0/samplers/0/output", "1 of 3 rotations did not");
    assert_floats(model->clips[0].samplers[0].values + 8, 0, 1, 0, 0);
    pelt_model_destroy(model);
}

/* One sampler for two vectors is read once; for a vector and weights, once as each. */
static void test_shared_samplers(void **state)
{
    (void)state;
    report r;
    strip s = make_strip();
    edit(&s, "\"channels\":[",
         "\"channels\":[{\"sampler\":2,\"target\":{\"node\":1,\"path\":\"scale\"}},"
         "{\"sampler\":2,\"target\":{\"node\":1,\"path\":\"translation\"}},");
    edit(&s, "{\"input\":6,\"output\":11}",
         "{\"input\":6,\"output\":11},{\"input\":12,\"output\":0}");
    static const float times[] = { 1, 2, 3, 4.5f };
    (void)add_accessor(&s, times, sizeof(times), 5126, "SCALAR", 4, "");
    pelt_model *model = read_good(&s, &r);
    const pelt_clip *clip = &model->clips[0];
    assert_int_equal(clip->channel_count, 4);
    assert_int_equal(clip->sampler_count, 3);
    assert_int_equal(clip->channels[0].sampler, clip->channels[1].sampler);
    assert_int_equal(clip->channels[0].path, PELT_SCALE);
    assert_true(clip->duration == 4.5);
    assert_int_equal(clip->samplers[clip->channels[0].sampler].width, 3);
    pelt_model_destroy(model);
}

static void test_ignored_channels(void **state)
{
    (void)state;
    report r;
    strip s = make_strip();
    edit(&s, first_target, "\"target\":{\"path\":\"rotation\"}");
    pelt_model *model = read_good(&s, &r);
    assert_int_equal(r.warnings, 0);
    assert_int_equal(model->clips[0].channel_count, 1);
    assert_int_equal(model->clips[0].channels[0].path, PELT_WEIGHTS);
    pelt_model_destroy(model);
    /* Pointers to looks are no loss; those to nodes are. */
    static const char *const pointers[] = { "/materials/0/emissiveFactor", "/nodes/2/rotation" };
    for (unsigned i = 0; i < 2; i++) {
        char text[160];
        (void)snprintf(text, sizeof(text),
                       "\"target\":{\"path\":\"pointer\",\"extensions\":{\"KHR_animation_pointer\":"
                       "{\"pointer\":\"%s\"}}}",
                       pointers[i]);
        s = make_strip();
        edit(&s, first_target, text);
        model = read_good(&s, &r);
        assert_int_equal(r.warnings, i);
        assert_int_equal(model->clips[0].channel_count, 1);
        pelt_model_destroy(model);
    }
    s = make_strip();
    edit(&s, "\"path\":\"rotation\"", "\"path\":\"colour\"");
    pelt_model_destroy(read_flawed(&s, "/animations/0/channels/0/target/path", "colour"));
    /* Key times without any data. */
    s = make_strip();
    edit(&s, "{\"bufferView\":6,", "{");
    edit(&s, ",{\"sampler\":1,\"target\":{\"node\":0,\"path\":\"weights\"}}", "");
    model = read_flawed(&s, "/animations/0/channels/0/target", "no data");
    assert_int_equal(model->clips[0].channel_count, 0);
    assert_true(model->clips[0].duration == 0);
    pelt_model_destroy(model);
}

static void test_faults(void **state)
{
    (void)state;
    const uint32_t nan_bits = 0x7fc00000, minus_half = 0xbf000000, half = 0x3f000000;
#define INPUT  "/animations/0/samplers/0/input"
#define OUTPUT "/animations/0/samplers/0/output"
#define TARGET "/animations/0/channels/0/target"
    const fault faults[] = {
        { NULL, NULL, AT_TIMES + 8, 4, half, PELT_ERROR_FILE, INPUT,
          "key 2 of /accessors/6 is at 0.5" },
        { NULL, NULL, AT_TIMES, 4, minus_half, PELT_ERROR_FILE, INPUT, "key 0" },
        { NULL, NULL, AT_TIMES + 4, 4, nan_bits, PELT_ERROR_FILE, "/accessors/6", INPUT },
        { NULL, NULL, AT_ROTATIONS, 4, nan_bits, PELT_ERROR_FILE, "/accessors/7", OUTPUT },
        { "{\"bufferView\":6,\"componentType\":5126,\"count\":3",
          "{\"bufferView\":6,\"componentType\":5126,\"count\":0", 0, 0, 0, PELT_ERROR_FILE, INPUT,
          "0 key times" },
        { "{\"bufferView\":6,\"componentType\":5126,\"count\":3",
          "{\"bufferView\":6,\"componentType\":5126,\"count\":2", 0, 0, 0, PELT_ERROR_FILE, OUTPUT,
          "3 values, but 2 keys need 1 each" },
        { first_sampler, "{\"input\":6,\"output\":7,\"interpolation\":\"CUBICSPLINE\"}", 0, 0, 0,
          PELT_ERROR_FILE, OUTPUT, "3 keys need 3 each" },
        { first_sampler, "{\"input\":6,\"output\":7,\"interpolation\":\"SMOOTH\"}", 0, 0, 0,
          PELT_ERROR_FILE, "/animations/0/samplers/0/interpolation", NULL },
        { first_sampler, "{\"input\":7,\"output\":7}", 0, 0, 0, PELT_ERROR_FILE, INPUT, NULL },
        { first_sampler, "{\"input\":4,\"output\":7}", 0, 0, 0, PELT_ERROR_FILE, INPUT,
          "unsigned shorts" },
        { first_sampler, "{\"input\":6,\"output\":0}", 0, 0, 0, PELT_ERROR_FILE, OUTPUT, NULL },
        { first_sampler, "{\"input\":6,\"output\":2}", 0, 0, 0, PELT_ERROR_FILE, OUTPUT,
          "unsigned bytes" },
        { first_sampler, "{\"input\":99,\"output\":7}", 0, 0, 0, PELT_ERROR_FILE, INPUT, NULL },
        { first_sampler, "{\"input\":6,\"output\":99}", 0, 0, 0, PELT_ERROR_FILE, OUTPUT, NULL },
        { first_sampler, "{\"output\":7}", 0, 0, 0, PELT_ERROR_FILE, "/animations/0/samplers/0",
          "input" },
        { first_target, "\"target\":{\"node\":2,\"path\":\"translation\"}", 0, 0, 0,
          PELT_ERROR_FILE, OUTPUT, NULL },
        { first_target, "\"target\":{\"node\":2,\"path\":\"weights\"}", 0, 0, 0, PELT_ERROR_FILE,
          TARGET "/path", "no morph targets" },
        { first_target, "\"target\":{\"node\":3,\"path\":\"rotation\"}", 0, 0, 0, PELT_ERROR_FILE,
          TARGET "/node", NULL },
        { first_target, "\"target\":{\"node\":2}", 0, 0, 0, PELT_ERROR_FILE, TARGET, "path" },
        { first_target, "\"target\":{\"node\":0,\"path\":\"weights\"}", 0, 0, 0, PELT_ERROR_FILE,
          OUTPUT, NULL },
        { "{\"sampler\":1,\"target\":{\"node\":0,\"path\":\"weights\"}}",
          "{\"sampler\":0,\"target\":{\"node\":2,\"path\":\"rotation\"}}", 0, 0, 0, PELT_ERROR_FILE,
          "/animations/0/channels/1/target", "already" },
        { "{\"sampler\":0", "{\"sampler\":2", 0, 0, 0, PELT_ERROR_FILE,
          "/animations/0/channels/0/sampler", "number 2 of 2 samplers" },
        { "\"translation\":[0,1,0]", "\"matrix\":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]", 0, 0, 0,
          PELT_ERROR_FILE, TARGET "/path", "matrix" },
    };
    check_faults(faults, sizeof(faults) / sizeof(*faults));
}

/* CUBICSPLINE needs two keys; the others are content with one. */
static void test_single_key(void **state)
{
    (void)state;
    report r;
    static const char *const times = "{\"bufferView\":6,\"componentType\":5126,\"count\":3";
    static const char *const one = "{\"bufferView\":6,\"componentType\":5126,\"count\":1";
    static const char *const values = "{\"bufferView\":7,\"componentType\":5126,\"count\":3";
    static const char *const one_value = "{\"bufferView\":7,\"componentType\":5126,\"count\":1";
    static const char *const second =
        ",{\"sampler\":1,\"target\":{\"node\":0,\"path\":\"weights\"}}";
    strip s = make_strip();
    edit(&s, times, one);
    edit(&s, values, one_value);
    edit(&s, second, "");
    pelt_model *model = read_good(&s, &r);
    assert_int_equal(model->clips[0].samplers[0].key_count, 1);
    assert_true(model->clips[0].duration == 0);
    pelt_model_destroy(model);
    s = make_strip();
    edit(&s, times, one);
    edit(&s, second, "");
    check_fault(&s, &(fault){ first_sampler,
                              "{\"input\":6,\"output\":7,\"interpolation\":\"CUBICSPLINE\"}", 0, 0,
                              0, PELT_ERROR_FILE, "/animations/0/samplers/0/input", "at least 2" });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clip),
        cmocka_unit_test(test_integer_rotations),
        cmocka_unit_test(test_cubic_spline),
        cmocka_unit_test(test_repaired_rotations),
        cmocka_unit_test(test_shared_samplers),
        cmocka_unit_test(test_ignored_channels),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_single_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
