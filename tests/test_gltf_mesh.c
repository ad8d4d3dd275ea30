/* The reader: attributes, influences, indices and morph targets, their repairs and refusals. */
#include "gltf_strip.h"

#include <math.h>

#define ATTRIBUTES "/meshes/0/primitives/0/attributes"

static const pelt_primitive *first_primitive(const pelt_model *model)
{
    return &model->meshes[0].primitives[0];
}

static void test_whole_strip(void **state)
{
    (void)state;
    report r;
    strip s = make_strip();
    pelt_model *model = read_good(&s, &r);
    assert_int_equal(r.warnings, 0);
    assert_string_equal(model->generator, "by hand");
    assert_int_equal(model->mesh_count, 1);
    assert_string_equal(model->meshes[0].name, "strip");
    assert_int_equal(model->meshes[0].weight_count, 1);
    assert_true(model->meshes[0].weights[0] == 0.25);
    const pelt_primitive *p = first_primitive(model);
    assert_int_equal(p->topology, PELT_TRIANGLES);
    assert_int_equal(p->vertex_count, 4);
    assert_int_equal(p->material, -1);
    assert_floats(p->positions, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 2, 3);
    assert_floats(p->normals, 0, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0);
    assert_floats(p->tangents, 1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, 1, 0, -1);
    assert_floats(p->texcoords, 0, 0, 1, 0, 0, 1, 0.5f, 0.25f);
    assert_null(p->colors);
    assert_int_equal(p->influence_count, 4);
    /* The file names joint 1 in slots without weight (vertices 0) too: those become 0. */
    static const uint16_t joints[] = { 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0 };
    assert_memory_equal(p->joints, joints, sizeof(joints));
    assert_floats(p->weights, 1, 0, 0, 0, 0.75f, 0.25f, 0, 0, 1, 0, 0, 0, 0.5f, 0.5f, 0, 0);
    static const uint32_t indices[] = { 0, 1, 2, 2, 1, 3 };
    assert_int_equal(p->index_count, 6);
    assert_memory_equal(p->indices, indices, sizeof(indices));
    assert_int_equal(p->target_count, 1);
    assert_floats(p->targets[0].positions, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0.5f, 0, -1);
    assert_null(p->targets[0].normals);
    assert_int_equal(model->part_count, 1);
    assert_true(model->parts[0].skinned);
    pelt_model_destroy(model);
}

static void test_integer_weights(void **state)
{
    (void)state;
    report r;
    static const uint8_t bytes[] = { 255, 0, 0, 0, 128, 127, 0, 0, 85, 85, 85, 0, 1, 254, 0, 0 };
    static const uint16_t shorts[] = { 65535, 0,     0,     0, 32768, 32767, 0,     0,
                                       21845, 21845, 21845, 0, 0,     0,     65535, 0 };
    strip s = make_strip();
    (void)add_accessor(&s, bytes, sizeof(bytes), 5121, "VEC4", 4, ",\"normalized\":true");
    edit(&s, "\"WEIGHTS_0\":3", "\"WEIGHTS_0\":12");
    pelt_model *model = read_good(&s, &r);
    assert_int_equal(r.warnings, 0);
    for (unsigned i = 0; i < 16; i++) {
        assert_true(first_primitive(model)->weights[i] == (float)bytes[i] / 255.0f);
    }
    pelt_model_destroy(model);
    s = make_strip();
    (void)add_accessor(&s, shorts, sizeof(shorts), 5123, "VEC4", 4, ",\"normalized\":true");
    edit(&s, "\"WEIGHTS_0\":3", "\"WEIGHTS_0\":12");
    model = read_good(&s, &r);
    assert_int_equal(r.warnings, 0);
    for (unsigned i = 0; i < 16; i++) {
        assert_true(first_primitive(model)->weights[i] == (float)shorts[i] / 65535.0f);
    }
    pelt_model_destroy(model);
}

static void test_integer_sum_one_off(void **state)
{
    (void)state;
    static const uint8_t bytes[] = { 255, 0, 0, 0, 127, 127, 0, 0, 85, 85, 85, 0, 1, 254, 0, 0 };
    strip s = make_strip();
    (void)add_accessor(&s, bytes, sizeof(bytes), 5121, "VEC4", 4, ",\"normalized\":true");
    edit(&s, "\"WEIGHTS_0\":3", "\"WEIGHTS_0\":12");
    pelt_model *model = read_flawed(&s, ATTRIBUTES "/WEIGHTS_0", "1 of 4 vertices did not sum");
    /* 127 of 254 is a half exactly. */
    assert_floats(first_primitive(model)->weights + 4, 0.5f, 0.5f, 0, 0);
    assert_true(first_primitive(model)->weights[8] == 85.0f / 255.0f);
    pelt_model_destroy(model);
}

static void test_float_sums(void **state)
{
    (void)state;
    report r;
    /* Within glTF's allowance of 2e-7 a weight: left as it is. */
    static const float close[] = { 0.75f, 0.2500003f, 0, 0 };
    strip s = make_strip();
    put(&s, AT_WEIGHTS + 16, close, sizeof(close));
    pelt_model *model = read_good(&s, &r);
    assert_int_equal(r.warnings, 0);
    assert_floats(first_primitive(model)->weights + 4, 0.75f, 0.2500003f, 0, 0);
    pelt_model_destroy(model);
    /* Beyond it: divided by the sum, here 2. */
    static const float twice[] = { 1.5f, 0.25f, 0.25f, 0 };
    s = make_strip();
    put(&s, AT_WEIGHTS + 16, twice, sizeof(twice));
    model = read_flawed(&s, ATTRIBUTES "/WEIGHTS_0",
                        "1 of 4 vertices did not sum to 1 (off by up "
                        "to 1)");
    assert_floats(first_primitive(model)->weights + 4, 0.75f, 0.125f, 0.125f, 0);
    pelt_model_destroy(model);
}

static void test_no_weight_at_all(void **state)
{
    (void)state;
    static const float zeros[8] = { 0 };
    strip s = make_strip();
    put(&s, AT_WEIGHTS + 32, zeros, sizeof(zeros));
    pelt_model *model = read_flawed(&s, ATTRIBUTES "/WEIGHTS_0", "2 of 4 vertices have no weight");
    const pelt_primitive *p = first_primitive(model);
    assert_floats(p->weights + 8, 1, 0, 0, 0, 1, 0, 0, 0);
    assert_int_equal(p->joints[8], 1);
    assert_int_equal(p->joints[12], 1);
    pelt_model_destroy(model);
}

static void test_second_set(void **state)
{
    (void)state;
    static const uint16_t joints[] = { 1, 9, 9, 9, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 9 };
    static const float weights[] = {
        0.5f, 0, 0, 0, 0.25f, 0, 0, 0, 0, 0, 0, 0, 0.25f, 0.25f, 0, 0
    };
    static const float first[] = {
        0.5f, 0, 0, 0, 0.5f, 0.25f, 0, 0, 1, 0, 0, 0, 0.25f, 0.25f, 0, 0
    };
    strip s = make_strip();
    put(&s, AT_WEIGHTS, first, sizeof(first));
    (void)add_accessor(&s, joints, sizeof(joints), 5123, "VEC4", 4, "");
    (void)add_accessor(&s, weights, sizeof(weights), 5126, "VEC4", 4, "");
    edit(&s, "\"WEIGHTS_0\":3", "\"WEIGHTS_0\":3,\"JOINTS_1\":12,\"WEIGHTS_1\":13");
    /* There is no joint 9, which four slots without weight name. */
    pelt_model *model = read_flawed(&s, "/meshes/0/primitives/0/attributes/JOINTS_1", "4 of 32");
    const pelt_primitive *p = first_primitive(model);
    assert_int_equal(p->influence_count, 8);
    assert_floats(p->weights, 0.5f, 0, 0, 0, 0.5f, 0, 0, 0, 0.5f, 0.25f, 0, 0, 0.25f, 0, 0, 0);
    static const uint16_t all[] = { 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0,
                                    1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0 };
    assert_memory_equal(p->joints, all, sizeof(all));
    pelt_model_destroy(model);
}

/* Sets of different types: bytes, floats, bytes. Their sum is judged as that of floats. */
static void test_mixed_sets(void **state)
{
    (void)state;
    report r;
    static const uint8_t joints[16] = { 0 },
                         bytes[] = { 51, 0, 0, 0, 51, 0, 0, 0, 51, 0, 0, 0, 51, 0, 0, 0 };
    static const float floats[] = { 0.3f, 0.3f, 0, 0, 0.3f, 0.3f, 0, 0,
                                    0.3f, 0.3f, 0, 0, 0.3f, 0.3f, 0, 0 };
    strip s = make_strip();
    (void)add_accessor(&s, joints, sizeof(joints), 5121, "VEC4", 4, "");
    (void)add_accessor(&s, bytes, sizeof(bytes), 5121, "VEC4", 4, ",\"normalized\":true");
    (void)add_accessor(&s, floats, sizeof(floats), 5126, "VEC4", 4, "");
    edit(&s, "\"JOINTS_0\":2,\"WEIGHTS_0\":3",
         "\"JOINTS_0\":12,\"WEIGHTS_0\":13,\"JOINTS_1\":12,\"WEIGHTS_1\":14,"
         "\"JOINTS_2\":12,\"WEIGHTS_2\":13");
    pelt_model *model = read_good(&s, &r);
    assert_int_equal(r.warnings, 0);
    assert_int_equal(first_primitive(model)->influence_count, 12);
    assert_floats(first_primitive(model)->weights, 0.2f, 0, 0, 0, 0.3f, 0.3f, 0, 0, 0.2f, 0, 0, 0);
    pelt_model_destroy(model);
}

/* A 2 x 2 matrix has four numbers, but its columns lie apart: it is no vector of four. */
static void test_matrix_as_vector(void **state)
{
    (void)state;
    static const uint8_t bytes[32] = { 0 };
    strip s = make_strip();
    (void)add_accessor(&s, bytes, sizeof(bytes), 5121, "MAT2", 4, "");
    check_fault(&s, &(fault){ "\"JOINTS_0\":2", "\"JOINTS_0\":12", 0, 0, 0, PELT_ERROR_FILE,
                              ATTRIBUTES "/JOINTS_0", "matrices of 4 unsigned bytes" });
}

/* A mesh under two skins: no vertex may name a joint that the smaller one lacks. */
static void test_smaller_skin(void **state)
{
    (void)state;
    strip s = make_strip();
    edit(&s, "\"inverseBindMatrices\":5}]", "\"inverseBindMatrices\":5},{\"joints\":[1]}]");
    edit(&s, "\"translation\":[0,1,0]}", "\"translation\":[0,1,0]},{\"mesh\":0,\"skin\":1}");
    check_fault(&s, &(fault){ .result = PELT_ERROR_FILE,
                              .pointer = ATTRIBUTES "/JOINTS_0",
                              .text = "vertex 1 uses joint 1 with weight 0.25, but skin 1" });
}

static void test_unskinned_primitive_under_skin(void **state)
{
    (void)state;
    strip s = make_strip();
    edit(&s, "\"JOINTS_0\":2,\"WEIGHTS_0\":3,", "");
    pelt_model *model = read_flawed(&s, "/meshes/0/primitives/0", "has no JOINTS_0");
    assert_int_equal(first_primitive(model)->influence_count, 0);
    assert_false(model->parts[0].skinned);
    pelt_model_destroy(model);
}

static void test_directions(void **state)
{
    (void)state;
    static const float long_normal[] = { 0, 3, 4 }, zero[] = { 0, 0, 0 };
    strip s = make_strip();
    put(&s, AT_NORMAL, long_normal, sizeof(long_normal));
    pelt_model *model = read_flawed(&s, ATTRIBUTES "/NORMAL", "1 of 4 normals did not have length");
    assert_floats(first_primitive(model)->normals, 0, 0.6f, 0.8f);
    pelt_model_destroy(model);
    s = make_strip();
    put(&s, AT_NORMAL, zero, sizeof(zero));
    model = read_flawed(&s, ATTRIBUTES "/NORMAL", "1 of 4 normals are zero");
    assert_floats(first_primitive(model)->normals, 0, 0, 0, 0, 0, 1);
    pelt_model_destroy(model);
    s = make_strip();
    put(&s, AT_TANGENT, long_normal, sizeof(long_normal));
    model = read_flawed(&s, ATTRIBUTES "/TANGENT", "1 of 4 tangents did not have length");
    assert_floats(first_primitive(model)->tangents, 0, 0.6f, 0.8f, 1);
    pelt_model_destroy(model);
    s = make_strip();
    put(&s, AT_TANGENT + 12, &(const float){ -0.5f }, sizeof(float));
    model = read_flawed(&s, ATTRIBUTES "/TANGENT", "1 of 4 tangents had a w");
    assert_floats(first_primitive(model)->tangents, 1, 0, 0, -1);
    pelt_model_destroy(model);
    /* A zero tangent becomes a unit vector at right angles to the normal, here z. */
    s = make_strip();
    put(&s, AT_TANGENT, zero, sizeof(zero));
    model = read_flawed(&s, ATTRIBUTES "/TANGENT", "1 of 4 tangents are zero");
    const float *t = first_primitive(model)->tangents;
    assert_true(t[2] == 0 && fabsf(t[0] * t[0] + t[1] * t[1] - 1) < 1e-6f);
    pelt_model_destroy(model);
}

static void test_colors(void **state)
{
    (void)state;
    report r;
    static const uint8_t bytes[] = { 255, 0, 51, 0, 0, 255, 0, 0, 0, 0, 102, 0, 1, 2, 3, 0 };
    static const uint16_t shorts[] = { 65535, 0, 0, 65535, 0, 0, 0, 0, 0, 0, 0, 0, 13107, 0, 0, 1 };
    strip s = make_strip();
    (void)add_accessor(&s, bytes, sizeof(bytes), 5121, "VEC3", 4, ",\"normalized\":true");
    edit(&s, "\"byteLength\":16}],\"accessors\"",
         "\"byteLength\":16,\"byteStride\":4}],\"accessors\"");
    edit(&s, "\"JOINTS_0\"", "\"COLOR_0\":12,\"JOINTS_0\"");
    pelt_model *model = read_good(&s, &r);
    assert_floats(first_primitive(model)->colors, 1, 0, 0.2f, 1, 0, 1, 0, 1, 0, 0, 0.4f, 1);
    pelt_model_destroy(model);
    s = make_strip();
    (void)add_accessor(&s, shorts, sizeof(shorts), 5123, "VEC4", 4, ",\"normalized\":true");
    edit(&s, "\"JOINTS_0\"", "\"COLOR_0\":12,\"JOINTS_0\"");
    model = read_good(&s, &r);
    assert_floats(first_primitive(model)->colors, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0.2f, 0, 0,
                  1 / 65535.0f);
    pelt_model_destroy(model);
}

static void test_quantized(void **state)
{
    (void)state;
    report r;
    static const int16_t positions[] = { -32768, 32767, 0, 0, 1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0 };
    static const int8_t normals[] = { 0, 0, 127, 0, -128, 0, 0, 0, 0, 64, 64, 0, 127, 0, 0, 0 };
    strip s = make_strip();
    edit(&s, "\"asset\"", "\"extensionsUsed\":[\"KHR_mesh_quantization\"],\"asset\"");
    (void)add_accessor(&s, positions, sizeof(positions), 5122, "VEC3", 4, "");
    edit(&s, "\"byteLength\":32}],\"accessors\"",
         "\"byteLength\":32,\"byteStride\":8}],\"accessors\"");
    (void)add_accessor(&s, normals, sizeof(normals), 5120, "VEC3", 4, ",\"normalized\":true");
    edit(&s, "\"byteLength\":16}],\"accessors\"",
         "\"byteLength\":16,\"byteStride\":4}],\"accessors\"");
    edit(&s, "\"POSITION\":0,\"NORMAL\":1", "\"POSITION\":12,\"NORMAL\":13");
    pelt_model *model = read_good(&s, &r);
    assert_int_equal(r.warnings, 0);
    assert_floats(first_primitive(model)->positions, -32768, 32767, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    /* -128 means -1, as -127 does; the third is made unit length. */
    const float half = (float)sqrt(0.5);
    assert_floats(first_primitive(model)->normals, 0, 0, 1, -1, 0, 0, 0, half, half, 1, 0, 0);
    pelt_model_destroy(model);
    /* Normalized positions; and without the extension none of this is allowed. */
    static const uint16_t norms[] = { 0, 65535, 13107, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    for (unsigned with = 0; with < 2; with++) {
        s = make_strip();
        if (with) {
            edit(&s, "\"asset\"", "\"extensionsRequired\":[\"KHR_mesh_quantization\"],\"asset\"");
        }
        (void)add_accessor(&s, norms, sizeof(norms), 5123, "VEC3", 4, ",\"normalized\":true");
        edit(&s, "\"byteLength\":32}],\"accessors\"",
             "\"byteLength\":32,\"byteStride\":8}],\"accessors\"");
        edit(&s, "\"POSITION\":0,", "\"POSITION\":12,");
        if (!with) {
            check_fault(&s, &(fault){ .result = PELT_ERROR_FILE,
                                      .pointer = ATTRIBUTES "/POSITION",
                                      .text = "/accessors/12" });
            continue;
        }
        model = read_good(&s, &r);
        assert_floats(first_primitive(model)->positions, 0, 1, 0.2f);
        pelt_model_destroy(model);
    }
}

static void test_indices(void **state)
{
    (void)state;
    report r;
    static const uint8_t bytes[] = { 3, 2, 1 };
    static const uint32_t words[] = { 1, 0, 3 };
    strip s = make_strip();
    (void)add_accessor(&s, bytes, sizeof(bytes), 5121, "SCALAR", 3, "");
    (void)add_accessor(&s, words, sizeof(words), 5125, "SCALAR", 3, "");
    edit(&s, "\"indices\":4,\"targets\":[{\"POSITION\":8}]}",
         "\"indices\":12,\"targets\":[{\"POSITION\":8}]},"
         "{\"attributes\":{\"POSITION\":0,\"JOINTS_0\":2,\"WEIGHTS_0\":3},\"mode\":5,"
         "\"indices\":13,\"targets\":[{\"POSITION\":8}]}");
    pelt_model *model = read_good(&s, &r);
    assert_int_equal(r.warnings, 0);
    const pelt_primitive *p = first_primitive(model);
    assert_int_equal(p[0].index_count, 3);
    assert_memory_equal(p[0].indices, ((const uint32_t[]){ 3, 2, 1 }), 12);
    assert_memory_equal(p[1].indices, words, 12);
    assert_int_equal(p[1].topology, PELT_TRIANGLE_STRIP);
    assert_int_equal(model->part_count, 2);
    pelt_model_destroy(model);
}

static void test_modes(void **state)
{
    (void)state;
    report r;
    for (unsigned mode = 0; mode <= 6; mode++) {
        char text[64];
        strip s = make_strip();
        (void)snprintf(text, sizeof(text), "\"mode\":%u,\"targets\"", mode);
        edit(&s, "\"indices\":4,\"targets\"", text);
        pelt_model *model = read_good(&s, &r);
        assert_int_equal(first_primitive(model)->topology, mode);
        assert_int_equal(first_primitive(model)->index_count, 0);
        /* Four vertices are one triangle and a third of another. */
        assert_int_equal(r.warnings, mode == PELT_TRIANGLES);
        pelt_model_destroy(model);
    }
}

static void test_targets(void **state)
{
    (void)state;
    report r;
    static const float moved[] = { 1, 2, 3 };
    static const uint8_t which[] = { 2 };
    strip s = make_strip();
    (void)add_accessor(&s, which, sizeof(which), 5121, "SCALAR", 1, "");
    (void)add_accessor(&s, moved, sizeof(moved), 5126, "VEC3", 1, "");
    edit(&s, "],\"meshes\"",
         ",{\"componentType\":5126,\"count\":4,\"type\":\"VEC3\",\"sparse\":{\"count\":1,"
         "\"indices\":{\"bufferView\":12,\"componentType\":5121},\"values\":{\"bufferView\":13}}}],"
         "\"meshes\"");
    edit(&s, "[{\"POSITION\":8}]", "[{\"POSITION\":8},{\"NORMAL\":14,\"TANGENT\":14}]");
    edit(&s, "\"weights\":[0.25]", "\"weights\":[0.25,0.5]");
    edit(&s, ",{\"sampler\":1,\"target\":{\"node\":0,\"path\":\"weights\"}}", "");
    pelt_model *model = read_good(&s, &r);
    assert_int_equal(r.warnings, 0);
    const pelt_primitive *p = first_primitive(model);
    assert_int_equal(p->target_count, 2);
    assert_null(p->targets[1].positions);
    assert_floats(p->targets[1].normals, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0);
    assert_floats(p->targets[1].tangents, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0);
    pelt_model_destroy(model);
}

static void test_faults(void **state)
{
    (void)state;
    const uint32_t nan_bits = 0x7fc00000, minus_half = 0xbf000000, large = 0x7e000000;
    const fault faults[] = {
        { .find = "\"POSITION\":0,",
          .replace = "\"POSITION\":99,",
          .result = PELT_ERROR_FILE,
          .pointer = ATTRIBUTES "/POSITION",
          .text = "number 99 of 12 accessors" },
        { .find = "\"POSITION\":0,",
          .replace = "\"POSITION\":\"0\",",
          .result = PELT_ERROR_FILE,
          .pointer = ATTRIBUTES "/POSITION",
          .text = "is a string" },
        { .find = "\"POSITION\":0,",
          .replace = "\"POSITION\":9,",
          .result = PELT_ERROR_FILE,
          .pointer = ATTRIBUTES "/POSITION",
          .text = "/accessors/9" },
        { .find = "\"POSITION\":0,",
          .replace = "",
          .result = PELT_ERROR_UNSUPPORTED,
          .pointer = ATTRIBUTES,
          .text = "POSITION" },
        { .find = "\"NORMAL\":1",
          .replace = "\"NORMAL\":7",
          .result = PELT_ERROR_FILE,
          .pointer = ATTRIBUTES "/NORMAL" },
        { .find = "\"TANGENT\":10",
          .replace = "\"TANGENT\":1",
          .result = PELT_ERROR_FILE,
          .pointer = ATTRIBUTES "/TANGENT" },
        { .find = "\"TEXCOORD_0\":9",
          .replace = "\"TEXCOORD_0\":0",
          .result = PELT_ERROR_FILE,
          .pointer = ATTRIBUTES "/TEXCOORD_0" },
        /* Accessor 7 has three elements. */
        { .find = "\"WEIGHTS_0\":3",
          .replace = "\"WEIGHTS_0\":7",
          .result = PELT_ERROR_FILE,
          .pointer = ATTRIBUTES "/WEIGHTS_0",
          .text = "3 elements, but there are 4 vertices" },
        { .find = "\"WEIGHTS_0\":3",
          .replace = "\"WEIGHTS_0\":2",
          .result = PELT_ERROR_FILE,
          .pointer = ATTRIBUTES "/WEIGHTS_0",
          .text = "unsigned bytes" },
        { .find = "\"JOINTS_0\":2",
          .replace = "\"JOINTS_0\":3",
          .result = PELT_ERROR_FILE,
          .pointer = ATTRIBUTES "/JOINTS_0",
          .text = "floats" },
        { .find = "\"JOINTS_0\":2,",
          .replace = "",
          .result = PELT_ERROR_FILE,
          .pointer = ATTRIBUTES "/WEIGHTS_0",
          .text = "no JOINTS_0" },
        { .find = "\"WEIGHTS_0\":3,",
          .replace = "",
          .result = PELT_ERROR_FILE,
          .pointer = ATTRIBUTES "/JOINTS_0",
          .text = "no WEIGHTS_0" },
        { .find = "\"WEIGHTS_0\":3",
          .replace = "\"WEIGHTS_0\":3,\"JOINTS_1\":2",
          .result = PELT_ERROR_FILE,
          .pointer = ATTRIBUTES "/JOINTS_1",
          .text = "no WEIGHTS_1" },
        { .find = "\"WEIGHTS_0\":3",
          .replace = "\"WEIGHTS_0\":3,\"JOINTS_2\":2,\"WEIGHTS_2\":3",
          .result = PELT_ERROR_FILE,
          .pointer = ATTRIBUTES,
          .text = "no JOINTS_1" },
        { .offset = AT_JOINTS + 8,
          .size = 1,
          .value = 7,
          .result = PELT_ERROR_FILE,
          .pointer = ATTRIBUTES "/JOINTS_0",
          .text = "vertex 2 uses joint 7" },
        { .offset = AT_WEIGHTS + 52,
          .size = 4,
          .value = minus_half,
          .result = PELT_ERROR_FILE,
          .pointer = ATTRIBUTES "/WEIGHTS_0",
          .text = "vertex 3 has the weight -0.5" },
        { .offset = AT_WEIGHTS + 16,
          .size = 4,
          .value = nan_bits,
          .result = PELT_ERROR_FILE,
          .pointer = ATTRIBUTES "/WEIGHTS_0",
          .text = "vertex 1 has the weight nan" },
        { .offset = AT_WEIGHTS + 16,
          .size = 4,
          .value = 0x7f800000,
          .result = PELT_ERROR_FILE,
          .pointer = ATTRIBUTES "/WEIGHTS_0",
          .text = "vertex 1 has the weight inf" },
        { .offset = AT_POSITION + 28,
          .size = 4,
          .value = nan_bits,
          .result = PELT_ERROR_FILE,
          .pointer = "/accessors/0",
          .text = "component 1 of element 2 is nan" },
        { .offset = AT_POSITION + 28,
          .size = 4,
          .value = large,
          .result = PELT_ERROR_RANGE,
          .pointer = "/accessors/0",
          .text = "beyond 1e18" },
        { .offset = AT_NORMAL,
          .size = 4,
          .value = nan_bits,
          .result = PELT_ERROR_FILE,
          .pointer = "/accessors/1",
          .text = ATTRIBUTES "/NORMAL" },
        { .offset = AT_TARGET + 44,
          .size = 4,
          .value = nan_bits,
          .result = PELT_ERROR_FILE,
          .pointer = "/accessors/8",
          .text = "/meshes/0/primitives/0/targets/0/POSITION" },
        { .offset = AT_INDICES + 10,
          .size = 2,
          .value = 4,
          .result = PELT_ERROR_FILE,
          .pointer = "/meshes/0/primitives/0/indices",
          .text = "index 5 of /accessors/4 is 4" },
        { .offset = AT_INDICES + 2,
          .size = 2,
          .value = 65535,
          .result = PELT_ERROR_FILE,
          .pointer = "/meshes/0/primitives/0/indices",
          .text = "restart" },
        { .find = "\"indices\":4",
          .replace = "\"indices\":6",
          .result = PELT_ERROR_FILE,
          .pointer = "/meshes/0/primitives/0/indices",
          .text = "floats" },
        { .find = "\"indices\":4",
          .replace = "\"indices\":4,\"mode\":7",
          .result = PELT_ERROR_FILE,
          .pointer = "/meshes/0/primitives/0/mode" },
        { .find = "\"indices\":4",
          .replace = "\"indices\":4,\"material\":0",
          .result = PELT_ERROR_FILE,
          .pointer = "/meshes/0/primitives/0/material" },
        { .find = "[{\"POSITION\":8}]",
          .replace = "[{\"POSITION\":7}]",
          .result = PELT_ERROR_FILE,
          .pointer = "/meshes/0/primitives/0/targets/0/POSITION" },
        { .find = "\"weights\":[0.25]",
          .replace = "\"weights\":[1,2]",
          .result = PELT_ERROR_FILE,
          .pointer = "/meshes/0/weights",
          .text = "2 numbers, but the mesh has 1" },
        { .find = "\"mesh\":0,",
          .replace = "\"mesh\":0,\"weights\":[1,2],",
          .result = PELT_ERROR_FILE,
          .pointer = "/nodes/0/weights" },
        { .find = "\"targets\":[{\"POSITION\":8}]}]",
          .replace = "\"targets\":[{\"POSITION\":8}]},{\"attributes\":{\"POSITION\":0}}]",
          .result = PELT_ERROR_FILE,
          .pointer = "/meshes/0/primitives/1/targets" },
        { .find = "\"primitives\":[{",
          .replace = "\"primitives\":[5,{",
          .result = PELT_ERROR_FILE,
          .pointer = "/meshes/0/primitives/0",
          .text = "is a number, not an object" },
        { .find = "\"primitives\":",
          .replace = "\"prims\":",
          .result = PELT_ERROR_FILE,
          .pointer = "/meshes/0",
          .text = "has no primitives" },
    };
    check_faults(faults, sizeof(faults) / sizeof(*faults));
}

/* A target that moves normals needs normals to move. */
static void test_target_without_base(void **state)
{
    (void)state;
    strip s = make_strip();
    edit(&s, "\"NORMAL\":1,", "");
    edit(&s, "[{\"POSITION\":8}]", "[{\"NORMAL\":8}]");
    check_fault(&s, &(fault){ .result = PELT_ERROR_FILE,
                              .pointer = "/meshes/0/primitives/0/targets/0/NORMAL",
                              .text = "has no NORMAL" });
}

/* Draco data beside real accessors is ignored; instead of them it cannot be. */
static void test_optional_draco(void **state)
{
    (void)state;
    report r;
    static const char *const with =
        "\"extensions\":{\"KHR_draco_mesh_compression\":{\"bufferView\":0}},\"indices\":4";
    strip s = make_strip();
    edit(&s, "\"indices\":4", with);
    pelt_model *model = read_good(&s, &r);
    assert_int_equal(r.warnings, 0);
    pelt_model_destroy(model);
    s = make_strip();
    edit(&s, "\"indices\":4", with);
    edit(&s, "{\"bufferView\":0,\"componentType\"", "{\"componentType\"");
    check_fault(&s, &(fault){ .result = PELT_ERROR_UNSUPPORTED,
                              .pointer = "/meshes/0/primitives/0/extensions/"
                                         "KHR_draco_mesh_compression" });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_strip),
        cmocka_unit_test(test_integer_weights),
        cmocka_unit_test(test_integer_sum_one_off),
        cmocka_unit_test(test_float_sums),
        cmocka_unit_test(test_no_weight_at_all),
        cmocka_unit_test(test_second_set),
        cmocka_unit_test(test_mixed_sets),
        cmocka_unit_test(test_matrix_as_vector),
        cmocka_unit_test(test_smaller_skin),
        cmocka_unit_test(test_unskinned_primitive_under_skin),
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_colors),
        cmocka_unit_test(test_quantized),
        cmocka_unit_test(test_indices),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_target_without_base),
        cmocka_unit_test(test_optional_draco),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
