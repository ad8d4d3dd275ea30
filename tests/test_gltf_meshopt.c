/* The reader: views compressed by the meshopt extensions. */
#include "gltf/reader.h"
#include "gltf_strip.h"

#include <meshoptimizer.h>

/* Bitstream version 1, built by hand. The tail is padded to 24 bytes and ends with the baseline
 * and the mode of each channel. */
static void test_byte_deltas(void **state)
{
    (void)state;
    const uint8_t stream[] = {
        0xa1,
        3 | 2 << 2 | 0 << 4 | 1 << 6, /* literal; zeros; 0, 1, 2 or 4 bits; 1, 2, 4 or 8 bits */
        2,
        1,
        4, /* +1 -1 +2 */
        1,
        0x02,
        0x00,
        5, /* one bit each: 0 sentinel 0, which is -3 */
        3,
        2,
        0,
        1,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0, /* +1 0 -1 */
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        10,
        20,
        30,
        40,
        0,
    };
    const uint8_t expected[] = { 11, 20, 30, 41, 10, 20, 27, 41, 12, 20, 27, 40 };
    uint8_t out[12];
    assert_true(pelt_gltf_decode_attributes(out, 3, 4, stream, sizeof(stream)));
    assert_memory_equal(out, expected, sizeof(out));
    /* A byte too many or too few, and another version, are errors. */
    assert_false(pelt_gltf_decode_attributes(out, 3, 4, stream, sizeof(stream) - 1));
    assert_false(pelt_gltf_decode_attributes(out, 1, 4, stream, sizeof(stream)));
    assert_false(pelt_gltf_decode_attributes(out, 3, 4, stream + 1, sizeof(stream) - 1));
    assert_false(pelt_gltf_decode_attributes(out, 3, 4, stream, 20));
    uint8_t bad_mode[sizeof(stream)];
    memcpy(bad_mode, stream, sizeof(stream));
    bad_mode[sizeof(stream) - 1] = 3;
    assert_false(pelt_gltf_decode_attributes(out, 3, 4, bad_mode, sizeof(stream)));
    bad_mode[sizeof(stream) - 1] = 0x10;
    assert_false(pelt_gltf_decode_attributes(out, 3, 4, bad_mode, sizeof(stream)));
}

/* The example in the extension's text: 4 bits a delta, two sentinels. */
static void test_four_bit_deltas(void **state)
{
    (void)state;
    const uint8_t stream[] = {
        0xa1, 0 | 2 << 2 | 2 << 4 | 2 << 6,
        3,    0x17,
        0x5f, 0xf0,
        0xbc, 0x77,
        0xa9, 0x21,
        0x00, 0x34,
        0xb5, 0,
        0,    0,
        0,    0,
        0,    0,
        0,    0,
        0,    0,
        0,    0,
        0,    0,
        0,    0,
        0,    0,
        0,    0,
        0,    0,
        0,    0,
        0,
    };
    static const int deltas[] = { -1, -4, -3, 26, -91, 0, -6, 6, -4, -4, 5, -5, 1, -1, 0, 0 };
    uint8_t out[64];
    assert_true(pelt_gltf_decode_attributes(out, 16, 4, stream, sizeof(stream) - 2));
    int value = 0;
    for (unsigned i = 0; i < 16; i++) {
        value += deltas[i];
        assert_int_equal(out[4 * i], (uint8_t)value);
        assert_int_equal(out[4 * i + 1], 0);
    }
}

static void test_wide_deltas(void **state)
{
    (void)state;
    /* Halves: +1, -258; +1, 0. Literal bytes, position by position. */
    const uint8_t halves[] = {
        0xa1, 0xff, 2, 3, 0, 2, 2, 0, 0, 0, 0, 0, 0,    0,    0,    0,    0,
        0,    0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x01, 0xff, 0xff, 1
    };
    const uint16_t expected[] = { 0x0101, 0x0000, 0xffff, 0x0000 };
    uint16_t out[4];
    assert_int_equal(sizeof(halves), 2 + 8 + 24);
    assert_true(pelt_gltf_decode_attributes((uint8_t *)out, 2, 4, halves, sizeof(halves)));
    assert_memory_equal(out, expected, sizeof(out));
    /* A word, 1.0f to 2.0f: the exclusive or, 0x7f800000, turned left by 8. */
    const uint8_t words[] = { 0xa1, 0xff, 0x7f, 0x00, 0x00, 0x80, 0,    0,    0,    0,
                              0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
                              0,    0,    0,    0,    0,    0x00, 0x00, 0x80, 0x3f, 0x82 };
    float value;
    assert_int_equal(sizeof(words), 2 + 4 + 24);
    assert_true(pelt_gltf_decode_attributes((uint8_t *)&value, 1, 4, words, sizeof(words)));
    assert_true(value == 2.0f);
}

static void test_colors(void **state)
{
    (void)state;
    /* 8 bits: red 252; 4 bits: (6, 6, 2, 11) of 15. */
    uint8_t bytes[] = { 63, 126, (uint8_t)-63, 255, 5, 2, 1, 13 };
    const uint8_t expected[] = { 252, 0, 0, 255, 102, 102, 34, 187 };
    pelt_gltf_filter_colors(bytes, 2, 4);
    assert_memory_equal(bytes, expected, sizeof(bytes));
    uint16_t words[] = { 5, 2, 1, 13 };
    const uint16_t wide[] = { 26214, 26214, 8738, 48059 };
    pelt_gltf_filter_colors((uint8_t *)words, 1, 8);
    assert_memory_equal(words, wide, sizeof(words));
    uint8_t zeros[4] = { 0 };
    pelt_gltf_filter_colors(zeros, 1, 4); /* no alpha bit at all: no division by zero */
    assert_int_equal(zeros[3], 0);
}

/* Adds a compressed view of count elements and an accessor over it. The view's own buffer is a
 * placeholder, buffer 1. */
static unsigned add_compressed(strip *s, const char *extension, const uint8_t *bytes, size_t size,
                               size_t count, size_t stride, const char *mode, const char *filter,
                               unsigned component, const char *type, const char *more)
{
    char text[640];
    unsigned accessor = add_accessor(s, bytes, size, component, type, (unsigned)count, more);
    char *view = strstr(s->json, "],\"accessors\"");
    while (*view != '{') {
        view--;
    }
    char old[128];
    (void)snprintf(old, sizeof(old), "%.*s", (int)(strstr(view, "],\"accessors\"") - view), view);
    unsigned long offset = strtoul(strstr(old, "\"byteOffset\":") + 13, NULL, 10);
    (void)snprintf(text, sizeof(text),
                   "{\"buffer\":1,\"byteLength\":%zu,\"extensions\":{\"%s\":{\"buffer\":0,"
                   "\"byteOffset\":%lu,\"byteLength\":%zu,\"byteStride\":%zu,\"count\":%zu,"
                   "\"mode\":\"%s\"%s%s%s}}}",
                   count * stride, extension, offset, size, stride, count, mode,
                   filter ? ",\"filter\":\"" : "", filter ? filter : "", filter ? "\"" : "");
    edit(s, old, text);
    if (!strstr(s->json, "fallback")) {
        edit(s, "}],\"bufferViews\"",
             "},{\"byteLength\":4096,\"extensions\":{\"EXT_meshopt_compression\":{\"fallback\":"
             "true}}"
             "}],\"bufferViews\"");
    }
    return accessor;
}

static strip make_compressed(const char *extension)
{
    static const float positions[] = { 5, 6, 7, 1, 0, 0, 0, 1, 0, 1, 2, 3 };
    static const unsigned triangles[] = { 0, 1, 2, 2, 1, 3 };
    uint8_t bytes[512];
    char text[64];
    strip s = make_strip();
    meshopt_encodeVertexVersion(0);
    size_t size = meshopt_encodeVertexBuffer(bytes, sizeof(bytes), positions, 4, 12);
    assert_true(size > 0);
    unsigned accessor =
        add_compressed(&s, extension, bytes, size, 4, 12, "ATTRIBUTES", NULL, 5126, "VEC3", "");
    (void)snprintf(text, sizeof(text), "\"POSITION\":%u", accessor);
    edit(&s, "\"POSITION\":0", text);
    meshopt_encodeIndexVersion(1);
    size = meshopt_encodeIndexBuffer(bytes, sizeof(bytes), triangles, 6);
    assert_true(size > 0);
    accessor =
        add_compressed(&s, extension, bytes, size, 6, 2, "TRIANGLES", NULL, 5123, "SCALAR", "");
    (void)snprintf(text, sizeof(text), "\"indices\":%u,\"targets\"", accessor);
    edit(&s, "\"indices\":4,\"targets\"", text);
    return s;
}

static void test_views(void **state)
{
    (void)state;
    report r;
    static const char *const names[] = { "EXT_meshopt_compression", "KHR_meshopt_compression" };
    for (unsigned i = 0; i < 2; i++) {
        strip s = make_compressed(names[i]);
        pelt_model *model = read_good(&s, &r);
        assert_int_equal(r.warnings, 0);
        const pelt_primitive *p = &model->meshes[0].primitives[0];
        assert_floats(p->positions, 5, 6, 7, 1, 0, 0, 0, 1, 0, 1, 2, 3);
        /* The codec may turn triangles, but keeps their order and winding. */
        for (unsigned t = 0; t < 2; t++) {
            static const uint32_t triangles[2][3] = { { 0, 1, 2 }, { 2, 1, 3 } };
            unsigned turn = 0;
            while (turn < 3 && p->indices[3 * t + turn] != triangles[t][0]) {
                turn++;
            }
            assert_true(turn < 3);
            for (unsigned k = 0; k < 3; k++) {
                assert_int_equal(p->indices[3 * t + (turn + k) % 3], triangles[t][k]);
            }
        }
        pelt_model_destroy(model);
    }
}

static void test_sequence_and_filters(void **state)
{
    (void)state;
    report r;
    static const unsigned indices[] = { 3, 1, 0, 2 };
    uint8_t bytes[512];
    char text[64];
    strip s = make_strip();
    size_t size = meshopt_encodeIndexSequence(bytes, sizeof(bytes), indices, 4);
    unsigned accessor = add_compressed(&s, "EXT_meshopt_compression", bytes, size, 4, 4, "INDICES",
                                       NULL, 5125, "SCALAR", "");
    (void)snprintf(text, sizeof(text), "\"indices\":%u,\"mode\":5,\"targets\"", accessor);
    edit(&s, "\"indices\":4,\"targets\"", text);
    /* Exponents: value = mantissa x 2^exponent, exponent in the high byte. */
    const uint32_t exponential[] = {
        3u | 1u << 24, 0xffffffu | 0xffu << 24, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0
    };
    meshopt_encodeVertexVersion(0);
    size = meshopt_encodeVertexBuffer(bytes, sizeof(bytes), exponential, 4, 12);
    accessor = add_compressed(&s, "EXT_meshopt_compression", bytes, size, 4, 12, "ATTRIBUTES",
                              "EXPONENTIAL", 5126, "VEC3", "");
    (void)snprintf(text, sizeof(text), "\"POSITION\":%u", accessor);
    edit(&s, "\"POSITION\":0", text);
    pelt_model *model = read_good(&s, &r);
    const pelt_primitive *p = &model->meshes[0].primitives[0];
    assert_memory_equal(p->indices, indices, sizeof(indices));
    assert_floats(p->positions, 6, -0.5f, 0, 5);
    pelt_model_destroy(model);
}

static void test_faults(void **state)
{
    (void)state;
#define AT_VIEW "/bufferViews/12/extensions/KHR_meshopt_compression"
    const fault faults[] = {
        { "\"byteStride\":12,\"count\":4", "\"byteStride\":12,\"count\":5", 0, 0, 0,
          PELT_ERROR_FILE, AT_VIEW, "byteLength 48" },
        { "\"byteStride\":12,\"count\":4", "\"byteStride\":10,\"count\":4", 0, 0, 0,
          PELT_ERROR_FILE, AT_VIEW "/byteStride", NULL },
        { "\"byteStride\":2,\"count\":6", "\"byteStride\":3,\"count\":4", 0, 0, 0, PELT_ERROR_FILE,
          "/bufferViews/13/extensions/KHR_meshopt_compression/byteStride", NULL },
        { "\"mode\":\"ATTRIBUTES\"", "\"mode\":\"VERTICES\"", 0, 0, 0, PELT_ERROR_FILE,
          AT_VIEW "/mode", NULL },
        { "\"mode\":\"ATTRIBUTES\"", "\"mode\":\"ATTRIBUTES\",\"filter\":\"OCTAHEDRAL\"", 0, 0, 0,
          PELT_ERROR_FILE, AT_VIEW "/byteStride", "OCTAHEDRAL" },
        { "\"mode\":\"ATTRIBUTES\"", "\"mode\":\"ATTRIBUTES\",\"filter\":\"SHARP\"", 0, 0, 0,
          PELT_ERROR_FILE, AT_VIEW "/filter", NULL },
        { "\"mode\":\"ATTRIBUTES\"", "\"mode\":\"TRIANGLES\"", 0, 0, 0, PELT_ERROR_FILE,
          AT_VIEW "/byteStride", NULL },
        { ",\"mode\":\"ATTRIBUTES\"", "", 0, 0, 0, PELT_ERROR_FILE, AT_VIEW, "mode" },
        { "{\"KHR_meshopt_compression\":{\"buffer\":0",
          "{\"KHR_meshopt_compression\":{\"buffer\":1", 0, 0, 0, PELT_ERROR_FILE, AT_VIEW,
          "/buffers/1 has no data" },
        { "{\"KHR_meshopt_compression\":{\"buffer\":0,\"byteOffset\":532",
          "{\"KHR_meshopt_compression\":{\"buffer\":0,\"byteOffset\":99999", 0, 0, 0,
          PELT_ERROR_FILE, AT_VIEW, "past the end of /buffers/0" },
        { NULL, NULL, STRIP_SIZE, 1, 0x55, PELT_ERROR_FILE, AT_VIEW, "invalid" },
    };
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
        strip s = make_compressed("KHR_meshopt_compression");
        check_fault(&s, &faults[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_deltas), cmocka_unit_test(test_four_bit_deltas),
        cmocka_unit_test(test_wide_deltas), cmocka_unit_test(test_colors),
        cmocka_unit_test(test_views),       cmocka_unit_test(test_sequence_and_filters),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
