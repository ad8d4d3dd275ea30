/* The reader: buffers, views and accessors of every layout, and their refusals. */
#include "gltf_strip.h"

#define POSITION "/meshes/0/primitives/0/attributes/POSITION"

/* Reads texture coordinates of any component type: 4 elements of 2 numbers. */
static void check_component(const void *bytes, size_t size, unsigned component, bool normalized,
                            const float expected[8])
{
    report r;
    strip s = make_strip();
    edit(&s, "\"asset\"", "\"extensionsUsed\":[\"KHR_mesh_quantization\"],\"asset\"");
    unsigned accessor = add_accessor(&s, bytes, size, component, "VEC2", 4,
                                     normalized ? ",\"normalized\":true" : "");
    char text[64];
    (void)snprintf(text, sizeof(text), "\"TEXCOORD_0\":%u", accessor);
    edit(&s, "\"TEXCOORD_0\":9", text);
    pelt_model *model = read_good(&s, &r);
    assert_int_equal(r.warnings, 0);
    assert_floats_near(model->meshes[0].primitives[0].texcoords, expected, 8, 0);
    pelt_model_destroy(model);
}

static void test_component_types(void **state)
{
    (void)state;
    static const int8_t i8[] = { -128, -127, -1, 0, 1, 64, 126, 127 };
    static const uint8_t u8[] = { 0, 1, 51, 102, 128, 204, 254, 255 };
    static const int16_t i16[] = { -32768, -32767, -1, 0, 1, 16384, 32766, 32767 };
    static const uint16_t u16[] = { 0, 1, 13107, 26214, 32768, 52428, 65534, 65535 };
    float whole[8], norm[8];
    for (unsigned i = 0; i < 8; i++) {
        whole[i] = i8[i];
        norm[i] = i8[i] < -127 ? -1.0f : (float)i8[i] / 127.0f;
    }
    check_component(i8, sizeof(i8), 5120, false, whole);
    check_component(i8, sizeof(i8), 5120, true, norm);
    for (unsigned i = 0; i < 8; i++) {
        whole[i] = u8[i];
        norm[i] = (float)u8[i] / 255.0f;
    }
    check_component(u8, sizeof(u8), 5121, false, whole);
    check_component(u8, sizeof(u8), 5121, true, norm);
    for (unsigned i = 0; i < 8; i++) {
        whole[i] = i16[i];
        norm[i] = i16[i] < -32767 ? -1.0f : (float)i16[i] / 32767.0f;
    }
    check_component(i16, sizeof(i16), 5122, false, whole);
    check_component(i16, sizeof(i16), 5122, true, norm);
    for (unsigned i = 0; i < 8; i++) {
        whole[i] = u16[i];
        norm[i] = (float)u16[i] / 65535.0f;
    }
    check_component(u16, sizeof(u16), 5123, false, whole);
    check_component(u16, sizeof(u16), 5123, true, norm);
}

/* Two accessors in one strided view; the last element ends with the view. */
static void test_stride(void **state)
{
    (void)state;
    report r;
    float rows[4][5];
    for (unsigned i = 0; i < 20; i++) {
        rows[i / 5][i % 5] = (float)i;
    }
    strip s = make_strip();
    (void)add_accessor(&s, rows, sizeof(rows), 5126, "VEC2", 4, "");
    edit(&s, "\"byteLength\":80}],\"accessors\"",
         "\"byteLength\":80,\"byteStride\":20}],\"accessors\"");
    edit(&s, "],\"meshes\"",
         ",{\"bufferView\":12,\"byteOffset\":8,\"componentType\":5126,"
         "\"count\":4,\"type\":\"VEC3\"}],\"meshes\"");
    edit(&s, "\"POSITION\":0", "\"POSITION\":13");
    edit(&s, "\"TEXCOORD_0\":9", "\"TEXCOORD_0\":12");
    pelt_model *model = read_good(&s, &r);
    assert_int_equal(r.warnings, 0);
    const pelt_primitive *p = &model->meshes[0].primitives[0];
    assert_floats(p->texcoords, 0, 1, 5, 6, 10, 11, 15, 16);
    assert_floats(p->positions, 2, 3, 4, 7, 8, 9, 12, 13, 14, 17, 18, 19);
    pelt_model_destroy(model);
}

/* base: the strip's positions, or none, which means zeros. */
static strip make_sparse(const char *base, const void *indices, size_t size, unsigned component)
{
    static const float values[] = { 7, 8, 9, -1, -2, -3 };
    char text[512];
    strip s = make_strip();
    (void)add_accessor(&s, indices, size, component, "SCALAR", 2, "");
    (void)add_accessor(&s, values, sizeof(values), 5126, "VEC3", 2, "");
    (void)snprintf(text, sizeof(text),
                   ",{%s\"componentType\":5126,\"count\":4,\"type\":\"VEC3\",\"sparse\":{"
                   "\"count\":2,\"indices\":{\"bufferView\":12,\"componentType\":%u},"
                   "\"values\":{\"bufferView\":13}}}],\"meshes\"",
                   base, component);
    edit(&s, "],\"meshes\"", text);
    edit(&s, "\"POSITION\":0", "\"POSITION\":14");
    return s;
}

static void test_sparse(void **state)
{
    (void)state;
    report r;
    static const uint8_t u8[] = { 1, 3 };
    static const uint16_t u16[] = { 0, 1 };
    static const uint32_t u32[] = { 2, 3 };
    strip s = make_sparse("\"bufferView\":0,", u8, sizeof(u8), 5121);
    pelt_model *model = read_good(&s, &r);
    assert_floats(model->meshes[0].primitives[0].positions, 0, 0, 0, 7, 8, 9, 0, 1, 0, -1, -2, -3);
    pelt_model_destroy(model);
    s = make_sparse("", u16, sizeof(u16), 5123);
    model = read_good(&s, &r);
    assert_floats(model->meshes[0].primitives[0].positions, 7, 8, 9, -1, -2, -3, 0, 0, 0, 0, 0, 0);
    pelt_model_destroy(model);
    s = make_sparse("", u32, sizeof(u32), 5125);
    model = read_good(&s, &r);
    assert_floats(model->meshes[0].primitives[0].positions, 0, 0, 0, 0, 0, 0, 7, 8, 9, -1, -2, -3);
    pelt_model_destroy(model);
    /* Joints and weights can be sparse as well: here without any base. */
    static const uint8_t one[] = { 255, 0, 0, 0 };
    static const uint8_t first[] = { 1 };
    s = make_strip();
    (void)add_accessor(&s, first, sizeof(first), 5121, "SCALAR", 1, "");
    (void)add_accessor(&s, one, sizeof(one), 5121, "VEC4", 1, "");
    edit(&s, "],\"meshes\"",
         ",{\"componentType\":5121,\"normalized\":true,\"count\":4,\"type\":\"VEC4\",\"sparse\":{"
         "\"count\":1,\"indices\":{\"bufferView\":12,\"componentType\":5121},"
         "\"values\":{\"bufferView\":13}}}],\"meshes\"");
    edit(&s, "\"WEIGHTS_0\":3", "\"WEIGHTS_0\":14");
    model =
        read_flawed(&s, "/meshes/0/primitives/0/attributes/WEIGHTS_0", "3 of 4 vertices have no");
    pelt_model_destroy(model);
}

static void test_sparse_faults(void **state)
{
    (void)state;
    static const uint8_t past[] = { 1, 4 }, equal[] = { 2, 2 }, falling[] = { 3, 1 },
                         ok[] = { 1, 2 };
    const uint8_t *const bad[] = { past, equal, falling };
    for (unsigned i = 0; i < 3; i++) {
        strip s = make_sparse("", bad[i], 2, 5121);
        check_fault(&s,
                    &(fault){ .result = PELT_ERROR_FILE,
                              .pointer = "/accessors/14/sparse/indices",
                              .text = i == 0 ? "index 1 is 4" : "not more than the one before" });
    }
    const fault faults[] = {
        { "\"sparse\":{\"count\":2", "\"sparse\":{\"count\":5", 0, 0, 0, PELT_ERROR_FILE,
          "/accessors/14/sparse/count", NULL },
        { "\"sparse\":{\"count\":2", "\"sparse\":{\"count\":3", 0, 0, 0, PELT_ERROR_FILE,
          "/accessors/14/sparse/indices", "/bufferViews/12" },
        { "\"sparse\":{\"count\":2", "\"sparse\":{\"count\":0", 0, 0, 0, PELT_ERROR_FILE,
          "/accessors/14/sparse/count", NULL },
        { "\"indices\":{\"bufferView\":12,\"componentType\":5121",
          "\"indices\":{\"bufferView\":12,"
          "\"componentType\":5126",
          0, 0, 0, PELT_ERROR_FILE, "/accessors/14/sparse/indices/componentType", NULL },
        { "\"indices\":{\"bufferView\":12", "\"indices\":{\"bufferView\":77", 0, 0, 0,
          PELT_ERROR_FILE, "/accessors/14/sparse/indices/bufferView", NULL },
        { "\"values\":{\"bufferView\":13", "\"values\":{\"byteOffset\":4,\"bufferView\":13", 0, 0,
          0, PELT_ERROR_FILE, "/accessors/14/sparse/values", "/bufferViews/13" },
        { "\"byteLength\":24}],\"accessors\"",
          "\"byteLength\":24,\"byteStride\":12}],\"accessors\"", 0, 0, 0, PELT_ERROR_FILE,
          "/accessors/14/sparse/values/bufferView", "byteStride" },
    };
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
        strip s = make_sparse("", ok, sizeof(ok), 5121);
        check_fault(&s, &faults[i]);
    }
}

/* Without a view, elements are zeros; but nothing in the file stands behind a huge count. */
static void test_zeros(void **state)
{
    (void)state;
    report r;
    strip s = make_strip();
    edit(&s, "{\"bufferView\":8,", "{");
    pelt_model *model = read_good(&s, &r);
    assert_int_equal(r.warnings, 0);
    assert_floats(model->meshes[0].primitives[0].targets[0].positions, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                  0, 0);
    pelt_model_destroy(model);
    static const char *const counts[] = { "\"count\":2147483648", "\"count\":100000000",
                                          "\"count\":9007199254740991" };
    for (unsigned i = 0; i < 3; i++) {
        char text[128];
        s = make_strip();
        (void)snprintf(text, sizeof(text), "{\"componentType\":5126,%s,\"type\":\"VEC3\"}",
                       counts[i]);
        edit(&s, "{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"}", text);
        check_fault(&s, &(fault){ .result = PELT_ERROR_RANGE, .pointer = "/accessors/0" });
    }
}

static void test_faults(void **state)
{
    (void)state;
    static const char first_view[] = "{\"buffer\":0,\"byteOffset\":0,\"byteLength\":48}";
    static const char first[] = "{\"bufferView\":0,\"componentType\":5126,\"count\":4,";
    const fault faults[] = {
        { first, "{\"bufferView\":0,\"componentType\":5126,\"count\":5,", 0, 0, 0, PELT_ERROR_FILE,
          "/accessors/0", "past the end of /bufferViews/0, which has 48 bytes" },
        { first, "{\"bufferView\":0,\"componentType\":5126,\"count\":1000,", 0, 0, 0,
          PELT_ERROR_FILE, "/accessors/0", NULL },
        { first, "{\"bufferView\":0,\"componentType\":5126,\"count\":9007199254740991,", 0, 0, 0,
          PELT_ERROR_FILE, "/accessors/0", NULL },
        { first, "{\"bufferView\":0,\"componentType\":5126,\"count\":9007199254740992,", 0, 0, 0,
          PELT_ERROR_FILE, "/accessors/0/count", "2^53" },
        { first, "{\"bufferView\":0,\"byteOffset\":4,\"componentType\":5126,\"count\":4,", 0, 0, 0,
          PELT_ERROR_FILE, "/accessors/0", NULL },
        { first,
          "{\"bufferView\":0,\"byteOffset\":9007199254740988,\"componentType\":5126,"
          "\"count\":4,",
          0, 0, 0, PELT_ERROR_FILE, "/accessors/0/byteOffset", NULL },
        { first, "{\"bufferView\":0,\"byteOffset\":-4,\"componentType\":5126,\"count\":4,", 0, 0, 0,
          PELT_ERROR_FILE, "/accessors/0/byteOffset", NULL },
        { first, "{\"bufferView\":0,\"componentType\":5126,\"count\":4.5,", 0, 0, 0,
          PELT_ERROR_FILE, "/accessors/0/count", "4.5" },
        { first, "{\"bufferView\":12,\"componentType\":5126,\"count\":4,", 0, 0, 0, PELT_ERROR_FILE,
          "/accessors/0/bufferView", "number 12 of 12" },
        { first, "{\"bufferView\":0,\"componentType\":5124,\"count\":4,", 0, 0, 0, PELT_ERROR_FILE,
          "/accessors/0/componentType", NULL },
        { first, "{\"bufferView\":0,\"componentType\":5126,\"normalized\":true,\"count\":4,", 0, 0,
          0, PELT_ERROR_FILE, "/accessors/0/normalized", NULL },
        { first, "{\"bufferView\":0,\"componentType\":5126,\"normalized\":1,\"count\":4,", 0, 0, 0,
          PELT_ERROR_FILE, "/accessors/0/normalized", "boolean" },
        { first, "{\"bufferView\":0,\"count\":4,", 0, 0, 0, PELT_ERROR_FILE, "/accessors/0",
          "componentType" },
        { first, "{\"bufferView\":0,\"componentType\":5126,\"count\":0,", 0, 0, 0, PELT_ERROR_FILE,
          POSITION, "/accessors/0 has no elements" },
        { "\"VEC3\"", "\"VEC5\"", 0, 0, 0, PELT_ERROR_FILE, "/accessors/0/type", NULL },
        { first_view, "{\"buffer\":0,\"byteOffset\":0,\"byteLength\":48,\"byteStride\":8}", 0, 0, 0,
          PELT_ERROR_FILE, "/accessors/0", "12 bytes, but /bufferViews/0 has a byteStride of 8" },
        { first_view, "{\"buffer\":0,\"byteOffset\":0,\"byteLength\":48,\"byteStride\":16}", 0, 0,
          0, PELT_ERROR_FILE, "/accessors/0", "16 apart" },
        { first_view, "{\"buffer\":0,\"byteOffset\":0,\"byteLength\":48,\"byteStride\":256}", 0, 0,
          0, PELT_ERROR_FILE, "/bufferViews/0/byteStride", NULL },
        { first_view, "{\"buffer\":0,\"byteOffset\":0,\"byteLength\":533}", 0, 0, 0,
          PELT_ERROR_FILE, "/bufferViews/0/byteLength",
          "past the end of /buffers/0, which has 532 bytes" },
        { first_view, "{\"buffer\":0,\"byteOffset\":532,\"byteLength\":1}", 0, 0, 0,
          PELT_ERROR_FILE, "/bufferViews/0/byteOffset", NULL },
        { first_view, "{\"buffer\":0,\"byteOffset\":9007199254740991,\"byteLength\":48}", 0, 0, 0,
          PELT_ERROR_FILE, "/bufferViews/0/byteOffset", NULL },
        { first_view, "{\"buffer\":0,\"byteOffset\":1e300,\"byteLength\":48}", 0, 0, 0,
          PELT_ERROR_FILE, "/bufferViews/0/byteOffset", "2^53" },
        { first_view, "{\"buffer\":0,\"byteOffset\":18446744073709551616,\"byteLength\":48}", 0, 0,
          0, PELT_ERROR_FILE, "/bufferViews/0/byteOffset", "2^53" },
        { first_view, "{\"buffer\":0,\"byteOffset\":0,\"byteLength\":0}", 0, 0, 0, PELT_ERROR_FILE,
          "/bufferViews/0/byteLength", NULL },
        { first_view, "{\"buffer\":1,\"byteOffset\":0,\"byteLength\":48}", 0, 0, 0, PELT_ERROR_FILE,
          "/bufferViews/0/buffer", NULL },
        { first_view, "{\"byteOffset\":0,\"byteLength\":48}", 0, 0, 0, PELT_ERROR_FILE,
          "/bufferViews/0", "buffer" },
        { "{\"byteLength\":532}", "{\"byteLength\":540}", 0, 0, 0, PELT_ERROR_FILE,
          "/buffers/0/byteLength", "540" },
        { "{\"byteLength\":532}", "{\"byteLength\":0}", 0, 0, 0, PELT_ERROR_FILE,
          "/buffers/0/byteLength", NULL },
        { "{\"byteLength\":532}", "{}", 0, 0, 0, PELT_ERROR_FILE, "/buffers/0", NULL },
    };
    check_faults(faults, sizeof(faults) / sizeof(*faults));
}

static void test_warnings(void **state)
{
    (void)state;
    /* Numbers that are not aligned are read all the same. */
    strip s = make_strip();
    const uint8_t shifted[53] = { 0 };
    unsigned accessor =
        add_accessor(&s, shifted, sizeof(shifted), 5126, "VEC3", 4, ",\"byteOffset\":3");
    char text[32];
    (void)snprintf(text, sizeof(text), "\"POSITION\":%u", accessor);
    edit(&s, "\"POSITION\":0", text);
    pelt_model_destroy(read_flawed(&s, "/accessors/12/byteOffset", "not aligned"));
    /* Keys in a strided view, which glTF forbids, are followed. */
    s = make_strip();
    static const float keys[] = { 0, 99, 1, 99, 2, 99 };
    (void)add_accessor(&s, keys, sizeof(keys), 5126, "SCALAR", 3, "");
    edit(&s, "\"byteLength\":24}],\"accessors\"",
         "\"byteLength\":24,\"byteStride\":8}],\"accessors\"");
    edit(&s, "{\"input\":6,\"output\":7}", "{\"input\":12,\"output\":7}");
    pelt_model *model = read_flawed(&s, "/animations/0/samplers/0/input", "byteStride");
    assert_floats(model->clips[0].samplers[0].times, 0, 1, 2);
    pelt_model_destroy(model);
}

/* A small file that asks for a lot: one accessor used over and over. */
static void test_budget(void **state)
{
    (void)state;
    const size_t size = 600000, uses = 400;
    char *json = malloc(64 * uses + 4096);
    assert_non_null(json);
    int length = sprintf(json,
                         "{\"asset\":{\"version\":\"2.0\"},\"accessors\":[{\"componentType\":5126,"
                         "\"count\":%zu,\"type\":\"VEC3\"}],\"meshes\":[{\"primitives\":[",
                         size / 12);
    for (size_t i = 0; i < uses; i++) {
        length += sprintf(json + length, "%s{\"attributes\":{\"POSITION\":0}}", i ? "," : "");
    }
    length += sprintf(json + length, "]}]}");
    report r = { 0 };
    pelt_host host = { .user = &r, .message = take_message };
    pelt_model *model = NULL;
    assert_int_equal(pelt_gltf_read_memory(&host, "many.gltf", NULL, json, (size_t)length, &model),
                     PELT_ERROR_RANGE);
    assert_null(model);
    assert_non_null(strstr(r.pointer, "/attributes/POSITION"));
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_component_types), cmocka_unit_test(test_stride),
        cmocka_unit_test(test_sparse),          cmocka_unit_test(test_sparse_faults),
        cmocka_unit_test(test_zeros),           cmocka_unit_test(test_faults),
        cmocka_unit_test(test_warnings),        cmocka_unit_test(test_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
