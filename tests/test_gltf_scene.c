/* The reader: nodes, their tree, scenes, skins and inverse bind matrices. */
#include "gltf_strip.h"

#include <math.h>

static void test_nodes(void **state)
{
    (void)state;
    report r;
    strip s = make_strip();
    edit(&s, "{\"mesh\":0,\"skin\":0}",
         "{\"mesh\":0,\"skin\":0,\"weights\":[0.5],"
         "\"matrix\":[1,2,3,0,4,5,6,0,7,8,9,0,10,11,12,1]}");
    edit(&s, "\"translation\":[0,1,0]",
         "\"translation\":[0.1,1e-3,-2],\"rotation\":[0,0.6,0,-0.8],\"scale\":[1,-2,0]");
    edit(&s, ",{\"sampler\":1,\"target\":{\"node\":0,\"path\":\"weights\"}}", "");
    pelt_model *model = read_good(&s, &r);
    assert_int_equal(r.warnings, 0);
    assert_int_equal(model->node_count, 3);
    const pelt_node *n = model->nodes;
    static const double rows[] = { 1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12 };
    assert_true(n[0].has_matrix);
    assert_memory_equal(n[0].matrix, rows, sizeof(rows));
    assert_int_equal(n[0].weight_count, 1);
    assert_true(n[0].weights[0] == 0.5);
    assert_int_equal(n[0].mesh, 0);
    assert_int_equal(n[0].skin, 0);
    assert_int_equal(n[0].parent, -1);
    assert_null(n[0].extras);
    assert_string_equal(n[1].name, "root");
    assert_true(n[1].scale[0] == 1 && n[1].scale[1] == 1 && n[1].scale[2] == 1);
    assert_true(n[1].rotation[0] == 0 && n[1].rotation[3] == 1);
    assert_int_equal(n[1].mesh, -1);
    assert_int_equal(n[2].parent, 1);
    /* JSON numbers stay doubles. */
    assert_true(n[2].translation[0] == 0.1 && n[2].translation[1] == 1e-3);
    assert_true(fabs(n[2].rotation[1] - 0.6) < 1e-15 && fabs(n[2].rotation[3] + 0.8) < 1e-15);
    assert_true(n[2].scale[1] == -2 && n[2].scale[2] == 0);
    pelt_model_destroy(model);
}

static void test_repaired_nodes(void **state)
{
    (void)state;
    strip s = make_strip();
    edit(&s, "\"translation\":[0,1,0]", "\"rotation\":[0,0,3,4]");
    pelt_model *model = read_flawed(&s, "/nodes/2/rotation", "length 5");
    assert_true(fabs(model->nodes[2].rotation[2] - 0.6) < 1e-15);
    assert_true(fabs(model->nodes[2].rotation[3] - 0.8) < 1e-15);
    pelt_model_destroy(model);
    s = make_strip();
    edit(&s, "\"translation\":[0,1,0]", "\"rotation\":[0,0,0,0]");
    model = read_flawed(&s, "/nodes/2/rotation", "identity");
    assert_true(model->nodes[2].rotation[3] == 1);
    pelt_model_destroy(model);
    s = make_strip();
    edit(&s, "\"translation\":[0,1,0]", "\"skin\":0");
    model = read_flawed(&s, "/nodes/2/skin", "no mesh");
    assert_int_equal(model->nodes[2].skin, -1);
    pelt_model_destroy(model);
    s = make_strip();
    edit(&s, "\"translation\":[0,1,0]", "\"children\":[]");
    pelt_model_destroy(read_flawed(&s, "/nodes/2/children", "empty"));
    s = make_strip();
    edit(&s, "\"mesh\":0,",
         "\"mesh\":0,\"extensions\":{\"EXT_mesh_gpu_instancing\":{\"attributes\":{}}},");
    pelt_model_destroy(read_flawed(&s, "/nodes/0/extensions/EXT_mesh_gpu_instancing", "once"));
}

/* Depth-first, children in order, from the scene's roots in order. */
static void test_scene_order(void **state)
{
    (void)state;
    static const char *const nodes =
        "\"nodes\":[{\"mesh\":0,\"children\":[6]},{\"children\":[2]},{},{\"children\":[5,4]},{},"
        "{\"children\":[1]},{}]";
    static const char old_nodes[] =
        "\"nodes\":[{\"mesh\":0,\"skin\":0},{\"name\":\"root\",\"children\":[2]},"
        "{\"name\":\"tip\",\"translation\":[0,1,0]}]";
    static const struct {
        const char *scenes;
        uint32_t count, order[7];
    } cases[] = {
        { "\"scenes\":[{\"nodes\":[3,0]}],\"scene\":0", 7, { 3, 5, 1, 2, 4, 0, 6 } },
        { "\"scenes\":[{\"nodes\":[0]},{\"nodes\":[3]}],\"scene\":1", 5, { 3, 5, 1, 2, 4 } },
        { "\"scenes\":[{\"nodes\":[0]},{\"nodes\":[3]}]", 2, { 0, 6 } },
        { "\"extras\":0", 7, { 0, 6, 3, 5, 1, 2, 4 } },
        { "\"scenes\":[{\"name\":\"empty\"}]", 0, { 0 } },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        report r;
        strip s = make_strip();
        edit(&s, old_nodes, nodes);
        edit(&s, "\"scenes\":[{\"nodes\":[0,1]}],\"scene\":0", cases[i].scenes);
        pelt_model *model = read_good(&s, &r);
        assert_int_equal(model->scene_node_count, cases[i].count);
        assert_memory_equal(model->scene_nodes, cases[i].order, cases[i].count * sizeof(uint32_t));
        uint32_t in_scene = 0;
        for (uint32_t n = 0; n < model->node_count; n++) {
            in_scene += model->nodes[n].in_scene;
        }
        assert_int_equal(in_scene, cases[i].count);
        pelt_model_destroy(model);
    }
}

static void test_tree_faults(void **state)
{
    (void)state;
    const fault faults[] = {
        { "\"translation\":[0,1,0]", "\"children\":[1]", 0, 0, 0, PELT_ERROR_FILE, "/nodes/1",
          "through /nodes/1, /nodes/2, /nodes/1" },
        { "\"translation\":[0,1,0]", "\"children\":[2]", 0, 0, 0, PELT_ERROR_FILE, "/nodes/2",
          "through /nodes/2, /nodes/2" },
        { "\"mesh\":0,", "\"children\":[2],\"mesh\":0,", 0, 0, 0, PELT_ERROR_FILE,
          "/nodes/1/children/0", "/nodes/2 is a child of /nodes/0 already" },
        { "\"children\":[2]", "\"children\":[2,2]", 0, 0, 0, PELT_ERROR_FILE, "/nodes/1/children/1",
          NULL },
        { "\"children\":[2]", "\"children\":[3]", 0, 0, 0, PELT_ERROR_FILE, "/nodes/1/children/0",
          "number 3 of 3 nodes" },
        { "\"children\":[2]", "\"children\":2", 0, 0, 0, PELT_ERROR_FILE, "/nodes/1/children",
          "is a number, not an array" },
        { "\"nodes\":[0,1]", "\"nodes\":[0,2]", 0, 0, 0, PELT_ERROR_FILE, "/scenes/0/nodes/1",
          "has a parent" },
        { "\"nodes\":[0,1]", "\"nodes\":[0,1,0]", 0, 0, 0, PELT_ERROR_FILE, "/scenes/0/nodes/2",
          "named twice" },
        { "\"nodes\":[0,1]", "\"nodes\":[0,9]", 0, 0, 0, PELT_ERROR_FILE, "/scenes/0/nodes/1",
          NULL },
        { "\"scene\":0", "\"scene\":1", 0, 0, 0, PELT_ERROR_FILE, "/scene", NULL },
        { "\"mesh\":0,", "\"mesh\":1,", 0, 0, 0, PELT_ERROR_FILE, "/nodes/0/mesh", NULL },
        { "\"skin\":0", "\"skin\":1", 0, 0, 0, PELT_ERROR_FILE, "/nodes/0/skin", NULL },
        { "\"translation\":[0,1,0]", "\"translation\":[0,1]", 0, 0, 0, PELT_ERROR_FILE,
          "/nodes/2/translation", "has 2 numbers, not 3" },
        { "\"translation\":[0,1,0]", "\"translation\":[0,1e19,0]", 0, 0, 0, PELT_ERROR_RANGE,
          "/nodes/2/translation/1", NULL },
        { "\"translation\":[0,1,0]", "\"translation\":[0,null,0]", 0, 0, 0, PELT_ERROR_FILE,
          "/nodes/2/translation/1", "is null" },
        { "\"translation\":[0,1,0]",
          "\"translation\":[0,1,0],\"matrix\":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]", 0, 0, 0,
          PELT_ERROR_FILE, "/nodes/2/matrix", "both" },
        { "\"translation\":[0,1,0]", "\"matrix\":[1,0,0,0.5,0,1,0,0,0,0,1,0,0,0,0,1]", 0, 0, 0,
          PELT_ERROR_FILE, "/nodes/2/matrix", "0.5 0 0 1" },
        { "\"translation\":[0,1,0]", "\"matrix\":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,2]", 0, 0, 0,
          PELT_ERROR_FILE, "/nodes/2/matrix", NULL },
        { "{\"name\":\"root\"", "{\"name\":7", 0, 0, 0, PELT_ERROR_FILE, "/nodes/1/name", NULL },
    };
    check_faults(faults, sizeof(faults) / sizeof(*faults));
}

/* A chain of nodes, deepest last or first: nothing recurses. */
static void test_deep_chain(void **state)
{
    (void)state;
    enum { DEPTH = 100000 };
    for (unsigned reversed = 0; reversed < 2; reversed++) {
        char *json = malloc((size_t)DEPTH * 64 + 256);
        assert_non_null(json);
        int length = sprintf(json, "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[");
        for (int i = 0; i < DEPTH; i++) {
            int child = reversed ? i - 1 : i + 1;
            length += child >= 0 && child < DEPTH
                          ? sprintf(json + length, "%s{\"children\":[%d]}", i ? "," : "", child)
                          : sprintf(json + length, "%s{}", i ? "," : "");
        }
        length += sprintf(json + length, "]}");
        pelt_model *model = NULL;
        assert_int_equal(pelt_gltf_read_memory(NULL, "deep", NULL, json, (size_t)length, &model),
                         PELT_OK);
        assert_int_equal(model->scene_node_count, DEPTH);
        assert_int_equal(model->scene_nodes[DEPTH - 1], reversed ? 0 : DEPTH - 1);
        pelt_model_destroy(model);
        /* The same as a ring. */
        char *last = strstr(json, "{}");
        memcpy(last, "{\"children\":[0]}]}", 18);
        if (!reversed) {
            report r = { 0 };
            pelt_host host = { .user = &r, .message = take_message };
            assert_int_equal(pelt_gltf_read_memory(&host, "ring", NULL, json, strlen(json), &model),
                             PELT_ERROR_FILE);
            assert_string_equal(r.pointer, "/nodes/0");
        }
        free(json);
    }
}

static void test_skins(void **state)
{
    (void)state;
    report r;
    strip s = make_strip();
    pelt_model *model = read_good(&s, &r);
    assert_int_equal(model->skin_count, 1);
    assert_int_equal(model->skins[0].joint_count, 2);
    assert_int_equal(model->skins[0].joints[0], 1);
    assert_int_equal(model->skins[0].joints[1], 2);
    assert_floats(model->skins[0].inverse_bind, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 4, 7, 0, 2,
                  5, 8, -1, 3, 6, 9, 0);
    pelt_model_destroy(model);
    /* Without matrices: identities. */
    s = make_strip();
    edit(&s, ",\"inverseBindMatrices\":5", "");
    model = read_good(&s, &r);
    assert_int_equal(r.warnings, 0);
    assert_floats(model->skins[0].inverse_bind, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0,
                  1, 0, 0, 0, 0, 1, 0);
    pelt_model_destroy(model);
    /* More matrices than joints, and one accessor for two skins with joints in another order. */
    s = make_strip();
    edit(&s, "\"inverseBindMatrices\":5}]",
         "\"name\":\"a\",\"inverseBindMatrices\":5},{\"joints\":[2],\"inverseBindMatrices\":5}]");
    model = read_good(&s, &r);
    assert_int_equal(r.warnings, 0);
    assert_string_equal(model->skins[0].name, "a");
    assert_int_equal(model->skins[1].joints[0], 2);
    assert_floats(model->skins[1].inverse_bind, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0);
    pelt_model_destroy(model);
}

static void test_skin_faults(void **state)
{
    (void)state;
    const uint32_t nan_bits = 0x7fc00000, half = 0x3f000000, large = 0x7e000000;
    const fault faults[] = {
        { "\"joints\":[1,2]", "\"joints\":[]", 0, 0, 0, PELT_ERROR_FILE, "/skins/0/joints", NULL },
        { "\"joints\":[1,2],", "", 0, 0, 0, PELT_ERROR_FILE, "/skins/0/joints", NULL },
        { "\"joints\":[1,2]", "\"joints\":[1,3]", 0, 0, 0, PELT_ERROR_FILE, "/skins/0/joints/1",
          "number 3 of 3 nodes" },
        { "\"joints\":[1,2]", "\"joints\":[1,1]", 0, 0, 0, PELT_ERROR_FILE, "/skins/0/joints/1",
          "already" },
        { "\"joints\":[1,2]", "\"joints\":[1,2],\"skeleton\":5", 0, 0, 0, PELT_ERROR_FILE,
          "/skins/0/skeleton", NULL },
        { "\"inverseBindMatrices\":5", "\"inverseBindMatrices\":12", 0, 0, 0, PELT_ERROR_FILE,
          "/skins/0/inverseBindMatrices", NULL },
        { "\"inverseBindMatrices\":5", "\"inverseBindMatrices\":3", 0, 0, 0, PELT_ERROR_FILE,
          "/skins/0/inverseBindMatrices", "/accessors/3" },
        { "\"joints\":[1,2]", "\"joints\":[1,2,0]", 0, 0, 0, PELT_ERROR_FILE,
          "/skins/0/inverseBindMatrices", "has 2 matrices, but the skin has 3 joints" },
        { NULL, NULL, AT_MATRICES + 64 + 12, 4, half, PELT_ERROR_FILE,
          "/skins/0/inverseBindMatrices", "matrix 1 of /accessors/5 has a fourth row" },
        { NULL, NULL, AT_MATRICES + 60, 4, half, PELT_ERROR_FILE, "/skins/0/inverseBindMatrices",
          "matrix 0" },
        { NULL, NULL, AT_MATRICES + 64, 4, nan_bits, PELT_ERROR_FILE,
          "/skins/0/inverseBindMatrices",
          "matrix 1 of /accessors/5 holds a number that is not finite" },
        { NULL, NULL, AT_MATRICES + 64, 4, large, PELT_ERROR_RANGE, "/skins/0/inverseBindMatrices",
          NULL },
    };
    check_faults(faults, sizeof(faults) / sizeof(*faults));
}

static void test_repaired_skins(void **state)
{
    (void)state;
    /* A fourth row of zeros is three rows padded to four. */
    strip s = make_strip();
    put(&s, AT_MATRICES + 124, &(const float){ 0 }, sizeof(float));
    pelt_model *model = read_flawed(&s, "/skins/0/inverseBindMatrices", "1 of 2 matrices");
    assert_floats(model->skins[0].inverse_bind + 12, 1, 4, 7, 0, 2, 5, 8, -1, 3, 6, 9, 0);
    pelt_model_destroy(model);
    /* Garbage for a joint that no vertex needs. */
    s = make_strip();
    edit(&s, "\"joints\":[1,2]", "\"joints\":[1,2,3]");
    edit(&s, "\"children\":[2]}", "\"children\":[2,3]}");
    edit(&s, "\"translation\":[0,1,0]}", "\"translation\":[0,1,0]},{}");
    float matrices[48];
    memcpy(matrices, s.bin + AT_MATRICES, 128);
    memset(matrices + 32, 0xff, 64); /* NaN all over */
    unsigned accessor = add_accessor(&s, matrices, sizeof(matrices), 5126, "MAT4", 3, "");
    char text[48];
    (void)snprintf(text, sizeof(text), "\"inverseBindMatrices\":%u", accessor);
    edit(&s, "\"inverseBindMatrices\":5", text);
    model = read_flawed(&s, "/skins/0/inverseBindMatrices", "1 of 3 matrices");
    assert_floats(model->skins[0].inverse_bind + 24, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0);
    pelt_model_destroy(model);
    /* Joints of two trees. */
    s = make_strip();
    edit(&s, "\"children\":[2]", "\"extras\":1");
    edit(&s, "\"nodes\":[0,1]", "\"nodes\":[0,1,2]");
    pelt_model_destroy(read_flawed(&s, "/skins/0/joints/1", "no common root"));
}

/* Joints may lie outside of the scene. */
static void test_joints_outside(void **state)
{
    (void)state;
    report r;
    strip s = make_strip();
    edit(&s, "\"nodes\":[0,1]", "\"nodes\":[0]");
    pelt_model *model = read_good(&s, &r);
    assert_false(model->nodes[1].in_scene);
    assert_int_equal(model->part_count, 1);
    assert_true(model->parts[0].skinned);
    pelt_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes),          cmocka_unit_test(test_repaired_nodes),
        cmocka_unit_test(test_scene_order),    cmocka_unit_test(test_tree_faults),
        cmocka_unit_test(test_deep_chain),     cmocka_unit_test(test_skins),
        cmocka_unit_test(test_skin_faults),    cmocka_unit_test(test_repaired_skins),
        cmocka_unit_test(test_joints_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
