/* The reader: materials, textures and images. */
#include "gltf_strip.h"

#include <math.h>

/* Enough of a PNG and of a JPEG to be told apart; nothing here decodes them. */
static const uint8_t png[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 1, 2, 3 };
static const uint8_t jpeg[] = { 0xff, 0xd8, 0xff, 0xe0, 7 };

/* The strip with a material; texture: the textureInfo's further members. */
static strip make_textured(const char *images, const char *textures, const char *info)
{
    char text[1024];
    strip s = make_strip();
    (void)snprintf(text, sizeof(text),
                   "\"images\":[%s],\"textures\":[%s],\"samplers\":[{\"wrapS\":33071,"
                   "\"magFilter\":9728}],\"materials\":[{\"pbrMetallicRoughness\":{"
                   "\"baseColorFactor\":[0.5,0.25,1,0.75],\"baseColorTexture\":{\"index\":0%s}}}],"
                   "\"meshes\"",
                   images, textures, info);
    (void)add_accessor(&s, png, sizeof(png), 5121, "SCALAR", 1, "");
    (void)add_accessor(&s, jpeg, sizeof(jpeg), 5121, "SCALAR", 1, "");
    edit(&s, "\"meshes\"", text);
    edit(&s, "\"indices\":4", "\"material\":0,\"indices\":4");
    return s;
}

static void test_material(void **state)
{
    (void)state;
    report r;
    strip s = make_textured("{\"bufferView\":12,\"name\":\"skin\"},{\"bufferView\":13},"
                            "{\"uri\":\"data:image/png;base64,/9j/4AcI\"}",
                            "{\"source\":1,\"sampler\":0}", "");
    edit(&s, "}}}],\"meshes\"",
         "}},\"name\":\"m\",\"alphaMode\":\"MASK\",\"alphaCutoff\":0.25,\"doubleSided\":true,"
         "\"normalTexture\":{\"index\":0}},{}],\"meshes\"");
    pelt_model *model = read_good(&s, &r);
    assert_int_equal(r.warnings, 0);
    assert_int_equal(model->material_count, 2);
    const pelt_material *m = model->materials;
    assert_string_equal(m[0].name, "m");
    assert_floats(m[0].base_color, 0.5f, 0.25f, 1, 0.75f);
    assert_int_equal(m[0].alpha_mode, PELT_ALPHA_MASK);
    assert_true(m[0].alpha_cutoff == 0.25f);
    assert_true(m[0].double_sided && m[0].has_normal_map);
    assert_int_equal(m[0].base_color_sampler.wrap_s, 33071);
    assert_int_equal(m[0].base_color_sampler.wrap_t, 0);
    assert_int_equal(m[0].base_color_sampler.mag_filter, 9728);
    /* Only images that a base colour uses are kept. */
    assert_int_equal(model->image_count, 1);
    assert_int_equal(m[0].base_color_image, 0);
    assert_string_equal(model->images[0].mime_type, "image/jpeg");
    assert_int_equal(model->images[0].size, sizeof(jpeg));
    assert_memory_equal(model->images[0].bytes, jpeg, sizeof(jpeg));
    assert_floats(m[1].base_color, 1, 1, 1, 1);
    assert_int_equal(m[1].base_color_image, -1);
    assert_int_equal(m[1].alpha_mode, PELT_ALPHA_OPAQUE);
    assert_true(m[1].alpha_cutoff == 0.5f);
    assert_false(m[1].has_normal_map);
    assert_int_equal(model->meshes[0].primitives[0].material, 0);
    pelt_model_destroy(model);
}

static void test_data_uri_image(void **state)
{
    (void)state;
    report r;
    /* The type is that of the bytes, whatever the URI says. */
    strip s = make_textured("{\"uri\":\"data:image/png;base64,/9j/4AcI\"}", "{\"source\":0}", "");
    pelt_model *model = read_good(&s, &r);
    assert_string_equal(model->images[0].mime_type, "image/jpeg");
    static const uint8_t bytes[] = { 0xff, 0xd8, 0xff, 0xe0, 7, 8 };
    assert_int_equal(model->images[0].size, sizeof(bytes));
    assert_memory_equal(model->images[0].bytes, bytes, sizeof(bytes));
    pelt_model_destroy(model);
}

/* A picture that cannot be had is no reason to refuse the character. */
static void test_missing_images(void **state)
{
    (void)state;
    static const struct {
        const char *images, *textures, *pointer, *text;
    } cases[] = {
        { "{\"uri\":\"gone.png\"}", "{\"source\":0}", "/images/0/uri", "gone.png" },
        { "{\"uri\":\"../gone.png\"}", "{\"source\":0}", "/images/0/uri", "upwards" },
        { "{\"uri\":\"data:image/png;base64,////\"}", "{\"source\":0}", "/images/0",
          "neither PNG" },
        { "{\"uri\":\"data:image/png;base64,//\"}", "{\"source\":0}", "/images/0/uri", "base64" },
        { "{\"name\":\"nothing\"}", "{\"source\":0}", "/images/0", "no data" },
        { "{\"bufferView\":0}", "{\"source\":0}", "/images/0", "neither PNG" },
        { "{\"bufferView\":12}", "{\"extensions\":{\"KHR_texture_basisu\":{\"source\":0}}}",
          "/textures/0", "no PNG or JPEG" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        strip s = make_textured(cases[i].images, cases[i].textures, "");
        pelt_model *model = read_flawed(&s, cases[i].pointer, cases[i].text);
        assert_int_equal(model->image_count, 0);
        assert_int_equal(model->materials[0].base_color_image, -1);
        assert_floats(model->materials[0].base_color, 0.5f, 0.25f, 1, 0.75f);
        pelt_model_destroy(model);
    }
}

static void test_texture_coordinates(void **state)
{
    (void)state;
    report r;
    static const float other[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    /* Another set, named by the texture; then one named by the transform. */
    static const char *const infos[] = {
        ",\"texCoord\":1", ",\"extensions\":{\"KHR_texture_transform\":{\"texCoord\":1}}"
    };
    for (unsigned i = 0; i < 2; i++) {
        strip s = make_textured("{\"bufferView\":12}", "{\"source\":0}", infos[i]);
        edit(&s, "],\"images\"",
             ",{\"bufferView\":9,\"componentType\":5126,\"count\":4,"
             "\"type\":\"VEC2\"}],\"images\"");
        edit(&s, "\"TEXCOORD_0\":9", "\"TEXCOORD_1\":14");
        put(&s, AT_TEXCOORD, other, sizeof(other));
        pelt_model *model = read_good(&s, &r);
        assert_int_equal(r.warnings, 0);
        assert_floats(model->meshes[0].primitives[0].texcoords, 1, 2, 3, 4, 5, 6, 7, 8);
        pelt_model_destroy(model);
    }
    /* A set that the primitive does not have. */
    strip s = make_textured("{\"bufferView\":12}", "{\"source\":0}", ",\"texCoord\":3");
    pelt_model *model = read_flawed(&s, "/meshes/0/primitives/0/attributes", "no TEXCOORD_3");
    assert_null(model->meshes[0].primitives[0].texcoords);
    pelt_model_destroy(model);
}

/* The example of KHR_texture_transform: the lower left quadrant (v points down), turned. The
 * corners of the unit square go to the quadrant's corners. */
static void test_texture_transform(void **state)
{
    (void)state;
    report r;
    static const float corners[] = { 0, 0, 1, 0, 0, 1, 1, 1 };
    static const float expected[] = { 0, 1, 0, 0.5f, 0.5f, 1, 0.5f, 0.5f };
    strip s = make_textured("{\"bufferView\":12}", "{\"source\":0}",
                            ",\"extensions\":{\"KHR_texture_transform\":{\"offset\":[0,1],"
                            "\"rotation\":1.57079632679,\"scale\":[0.5,0.5]}}");
    put(&s, AT_TEXCOORD, corners, sizeof(corners));
    pelt_model *model = read_good(&s, &r);
    assert_int_equal(r.warnings, 0);
    assert_floats_near(model->meshes[0].primitives[0].texcoords, expected, 8, 1e-7);
    pelt_model_destroy(model);
}

static void test_older_workflow(void **state)
{
    (void)state;
    report r;
    strip s = make_textured("{\"bufferView\":12}", "{\"source\":0}", "");
    edit(&s, "\"pbrMetallicRoughness\":{\"baseColorFactor\"",
         "\"extensions\":{\"KHR_materials_pbrSpecularGlossiness\":{\"diffuseFactor\"");
    edit(&s, "\"baseColorTexture\":{\"index\":0}", "\"diffuseTexture\":{\"index\":0}}");
    pelt_model *model = read_good(&s, &r);
    assert_int_equal(r.warnings, 0);
    assert_floats(model->materials[0].base_color, 0.5f, 0.25f, 1, 0.75f);
    assert_int_equal(model->materials[0].base_color_image, 0);
    pelt_model_destroy(model);
}

static void test_faults(void **state)
{
    (void)state;
#define PBR "/materials/0/pbrMetallicRoughness"
    const fault faults[] = {
        { "\"baseColorTexture\":{\"index\":0", "\"baseColorTexture\":{\"index\":1", 0, 0, 0,
          PELT_ERROR_FILE, PBR "/baseColorTexture/index", "number 1 of 1 textures" },
        { "\"baseColorTexture\":{\"index\":0}", "\"baseColorTexture\":{}", 0, 0, 0, PELT_ERROR_FILE,
          PBR "/baseColorTexture", "index" },
        { "[0.5,0.25,1,0.75]", "[0.5,0.25,1]", 0, 0, 0, PELT_ERROR_FILE, PBR "/baseColorFactor",
          NULL },
        { "\"source\":0", "\"source\":1", 0, 0, 0, PELT_ERROR_FILE, "/textures/0/source", NULL },
        { "\"source\":0", "\"source\":0,\"sampler\":1", 0, 0, 0, PELT_ERROR_FILE,
          "/textures/0/sampler", NULL },
        { "{\"bufferView\":12}]", "{\"bufferView\":99}]", 0, 0, 0, PELT_ERROR_FILE,
          "/images/0/bufferView", NULL },
        { "{\"pbrMetallicRoughness\"", "{\"alphaMode\":\"GLASS\",\"pbrMetallicRoughness\"", 0, 0, 0,
          PELT_ERROR_FILE, "/materials/0/alphaMode", "GLASS" },
        { "\"pbrMetallicRoughness\":{", "\"pbrMetallicRoughness\":0,\"x\":{", 0, 0, 0,
          PELT_ERROR_FILE, PBR, NULL },
        { "\"material\":0", "\"material\":1", 0, 0, 0, PELT_ERROR_FILE,
          "/meshes/0/primitives/0/material", "number 1 of 1 materials" },
    };
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
        strip s = make_textured("{\"bufferView\":12}", "{\"source\":0}", "");
        check_fault(&s, &faults[i]);
    }
    strip s = make_textured("{\"bufferView\":12}", "{\"source\":0}", "");
    edit(&s, "[0.5,0.25,1,0.75]", "[2,-1,1,0.75]");
    report r;
    pelt_model *model = read_good(&s, &r);
    assert_int_equal(r.warnings, 2);
    assert_floats(model->materials[0].base_color, 1, 0, 1, 0.75f);
    pelt_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_material),
        cmocka_unit_test(test_data_uri_image),
        cmocka_unit_test(test_missing_images),
        cmocka_unit_test(test_texture_coordinates),
        cmocka_unit_test(test_texture_transform),
        cmocka_unit_test(test_older_workflow),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
