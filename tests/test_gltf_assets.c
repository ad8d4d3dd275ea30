/* The reader over the shared files: models from many tools against their reference positions,
 * and malformed ones. Skipped where they are not there (PELT_SHARED, else ../shared).
 */
#include "gltf_strip.h"

#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <pelt/pose.h>
#include <sys/stat.h>

static const char *shared_folder(void)
{
    const char *folder = getenv("PELT_SHARED");
    folder = folder ? folder : "../shared";
    struct stat status;
    if (stat(folder, &status) != 0) {
        print_message("no %s: skipped\n", folder);
        skip();
    }
    return folder;
}

static report last;

static pelt_model *read_path(const char *path)
{
    static pelt_host host = { .user = &last, .message = take_message };
    pelt_model *model = NULL;
    last = (report){ 0 };
    pelt_result result = pelt_gltf_read(&host, path, &model);
    assert_true((model != NULL) == (result == PELT_OK));
    assert_int_equal(last.errors, result != PELT_OK);
    return model;
}

static void *read_whole(const char *path, size_t size)
{
    void *bytes = malloc(size ? size : 1);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return bytes;
}

/* Skins one part in double, as plainly as can be, and compares. */
static void check_part(const pelt_model *model, const pelt_part *part, const pelt_pose *pose,
                       const double *matrices, const float *expected, double tolerance)
{
    const pelt_primitive *p = &model->meshes[part->mesh].primitives[part->primitive];
    const double *weights = pelt_pose_part_morph_weights(pose, part);
    const double *palette = matrices + 12 * (size_t)model->palettes[part->palette].first_matrix;
    for (size_t v = 0; v < p->vertex_count; v++) {
        double position[4] = { 0, 0, 0, 1 }, moved[3] = { 0 };
        for (unsigned k = 0; k < 3; k++) {
            position[k] = (double)p->positions[3 * v + k];
            for (uint32_t t = 0; t < p->target_count; t++) {
                const float *deltas = p->targets[t].positions;
                position[k] += deltas ? weights[t] * (double)deltas[3 * v + k] : 0;
            }
        }
        uint32_t slots = part->skinned ? p->influence_count : 1;
        for (uint32_t s = 0; s < slots; s++) {
            double weight = part->skinned ? (double)p->weights[v * slots + s] : 1;
            const double *m = palette + (part->skinned ? 12 * (size_t)p->joints[v * slots + s] : 0);
            for (unsigned k = 0; k < 12; k++) {
                moved[k / 4] += weight * m[k] * position[k % 4];
            }
        }
        for (unsigned k = 0; k < 3; k++) {
            if (!(fabs(moved[k] - (double)expected[3 * v + k]) <= tolerance)) {
                fail_msg("node %u primitive %u vertex %zu: %g, expected %g within %g", part->node,
                         part->primitive, v, moved[k], (double)expected[3 * v + k], tolerance);
            }
        }
    }
}

static void check_pose(const pelt_model *model, const json_t *reference, const json_t *entry,
                       const uint8_t *data)
{
    pelt_pose *pose;
    const pelt_play play = { .clip = (int32_t)json_integer_value(json_object_get(entry, "clip")),
                             .time = json_number_value(json_object_get(entry, "time")) };
    assert_int_equal(pelt_pose_create(NULL, model, &pose), PELT_OK);
    assert_int_equal(pelt_pose_evaluate(pose, &play, 1), PELT_OK);
    double *matrices = malloc(((size_t)model->matrix_count + 1) * 12 * sizeof(double));
    assert_non_null(matrices);
    assert_int_equal(pelt_pose_skin_matrices_double(pose, NULL, matrices), PELT_OK);
    double tolerance = json_number_value(json_object_get(reference, "suggestedTolerance"));
    const json_t *prims = json_object_get(entry, "prims");
    assert_int_equal(json_array_size(prims), model->part_count);
    for (uint32_t i = 0; i < model->part_count; i++) {
        const json_t *prim = json_array_get(prims, i);
        const pelt_part *part = &model->parts[i];
        assert_int_equal(json_integer_value(json_object_get(prim, "node")), part->node);
        assert_int_equal(json_integer_value(json_object_get(prim, "primitive")), part->primitive);
        assert_int_equal(json_integer_value(json_object_get(prim, "vertices")),
                         model->meshes[part->mesh].primitives[part->primitive].vertex_count);
        size_t offset = (size_t)json_integer_value(json_object_get(prim, "offset"));
        check_part(model, part, pose, matrices, (const float *)(const void *)(data + offset),
                   tolerance);
    }
    free(matrices);
    pelt_pose_destroy(pose);
}

/* Every reference: the static pose and one of the animated ones. */
static void test_references(void **state)
{
    (void)state;
    const char *shared = shared_folder();
    char path[1024];
    (void)snprintf(path, sizeof(path), "%s/assets/reference", shared);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    unsigned models = 0, refused = 0;
    for (struct dirent *file; (file = readdir(folder));) {
        if (!strstr(file->d_name, ".json")) {
            continue;
        }
        (void)snprintf(path, sizeof(path), "%s/assets/reference/%s", shared, file->d_name);
        json_t *reference = json_load_file(path, 0, NULL);
        const char *name = json_string_value(json_object_get(reference, "model"));
        const char *bin = json_string_value(json_object_get(reference, "bin"));
        const json_t *poses = json_object_get(reference, "poses");
        if (!name || !bin || !poses) {
            json_decref(reference);
            continue;
        }
        (void)snprintf(path, sizeof(path), "%s/assets/%s", shared, name);
        pelt_model *model = read_path(path);
        if (!model) {
            if (!strstr(last.text, "KHR_draco_mesh_compression")) {
                fail_msg("%s: [%s] %s", name, last.pointer, last.text);
            }
            assert_int_equal(last.result, PELT_ERROR_UNSUPPORTED);
            refused++;
            json_decref(reference);
            continue;
        }
        struct stat status;
        (void)snprintf(path, sizeof(path), "%s/assets/reference/%s", shared, bin);
        assert_int_equal(stat(path, &status), 0);
        uint8_t *data = read_whole(path, (size_t)status.st_size);
        size_t count = json_array_size(poses);
        check_pose(model, reference, json_array_get(poses, 0), data);
        check_pose(model, reference, json_array_get(poses, count / 2), data);
        free(data);
        pelt_model_destroy(model);
        json_decref(reference);
        models++;
    }
    (void)closedir(folder);
    print_message("%u models match, %u need Draco\n", models, refused);
    assert_true(models > 50);
}

static void test_malformed(void **state)
{
    (void)state;
    const char *shared = shared_folder();
    static const struct {
        const char *file;
        pelt_result result;
        const char *pointer, *text; /* of the error, or of a warning */
    } cases[] = {
        { "malformed/truncated.glb", PELT_ERROR_FILE, "", "header says" },
        { "malformed/chunk_length_short.glb", PELT_ERROR_FILE, "", "chunk 1" },
        { "malformed/accessor_out_of_range.gltf", PELT_ERROR_FILE, "/accessors/0",
          "/bufferViews/0" },
        { "malformed/joint_index_out_of_range.gltf", PELT_ERROR_FILE,
          "/meshes/0/primitives/0/attributes/JOINTS_0", "vertex 4 uses joint 7" },
        { "malformed/weights_sum_zero.gltf", PELT_OK, "", "4 of 10 vertices have no weight" },
        { "malformed/positions_nan.glb", PELT_ERROR_FILE, "/accessors/0", "element 3 is nan" },
        { "malformed/node_cycle.gltf", PELT_ERROR_FILE, "/nodes/1", "/nodes/2" },
        { "malformed/skin_zero_joints.gltf", PELT_ERROR_FILE, "/skins/0/joints", "has 0" },
        { "malformed/joints_not_in_scene.gltf", PELT_OK, "", "" },
        { "malformed/missing_ibm.gltf", PELT_OK, "", "" },
        { "malformed/animation_zero_keyframes.gltf", PELT_ERROR_FILE,
          "/animations/0/samplers/0/input", "0 key times" },
        { "malformed/animation_times_not_increasing.gltf", PELT_ERROR_FILE,
          "/animations/0/samplers/0/input", "key 2" },
        { "malformed/accessor_count_2e31.gltf", PELT_ERROR_RANGE, "/accessors/0", "2147483648" },
        { "malformed/sparse_index_out_of_range.gltf", PELT_ERROR_FILE,
          "/accessors/0/sparse/indices", "4000" },
        { "malformed/bad_base64.gltf", PELT_ERROR_FILE, "/buffers/0/uri", "base64" },
        { "malformed/joints_without_weights.gltf", PELT_ERROR_FILE,
          "/meshes/0/primitives/0/attributes/JOINTS_0", "WEIGHTS_0" },
        { "malformed/quaternion_zero_denormal.gltf", PELT_OK, "", "2 of 3 rotations" },
        { "malformed_real/Crab_nan_weights.glb", PELT_ERROR_FILE,
          "/meshes/0/primitives/0/attributes/WEIGHTS_0", "6 of 1473 vertices" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char path[1024];
        (void)snprintf(path, sizeof(path), "%s/assets/%s", shared, cases[i].file);
        pelt_model_destroy(read_path(path));
        const char *said = last.result == PELT_OK ? last.log : last.text;
        if (last.result != cases[i].result || strcmp(last.pointer, cases[i].pointer) != 0 ||
            !strstr(said, cases[i].text)) {
            fail_msg("%s: %s [%s] %s", cases[i].file, pelt_result_string(last.result), last.pointer,
                     said);
        }
    }
}

/* The official validator's own inputs: what it finds valid is read, and where we are stricter or
 * laxer is listed here. */
static void test_validator_inputs(void **state)
{
    (void)state;
    const char *shared = shared_folder();
    /* Errors to the validator that do not touch a character: bounds that nobody uses, empty arrays,
     * data that is not in use. */
    static const char *const lenient[] = {
        "out_of_range_elements",
        "empty_array",
        "empty_children_array",
        "no_bounds",
        "invalid_attribute_escaped_name",
        "skin_with_no_mesh",
        "weights_with_no_mesh",
        "no_joints_in_scene",
        "invalid_stride_too_big",
        "invalid_ibm.gltf",
        "quaternion_cubic_non_unit_values",
    };
    /* Fine to it, but nothing that pelt reads: a scheme other than data. */
    static const char *const strict[] = { "non_relative_uri" };
    char path[2048], line[1024];
    (void)snprintf(path, sizeof(path), "%s/assets/malformed_khronos/INDEX.tsv", shared);
    FILE *index = fopen(path, "r");
    assert_non_null(index);
    unsigned files = 0;
    while (fgets(line, sizeof(line), index)) {
        /* File, tab, number of errors; a line of headings first. */
        char *tab = strchr(line, '\t'), *end;
        assert_non_null(tab);
        *tab = 0;
        long errors = strtol(tab + 1, &end, 10);
        if (end == tab + 1) {
            continue;
        }
        const char *name = line;
        bool may_pass = errors == 0, may_fail = errors > 0;
        for (size_t i = 0; i < sizeof(lenient) / sizeof(*lenient); i++) {
            may_pass |= strstr(name, lenient[i]) != NULL;
        }
        for (size_t i = 0; i < sizeof(strict) / sizeof(*strict); i++) {
            may_fail |= strstr(name, strict[i]) != NULL;
        }
        (void)snprintf(path, sizeof(path), "%s/assets/malformed_khronos/%s", shared, name);
        pelt_model *model = read_path(path);
        if (model ? !may_pass : !may_fail) {
            fail_msg("%s: %s [%s] %s", name, pelt_result_string(last.result), last.pointer,
                     last.text);
        }
        pelt_model_destroy(model);
        files++;
    }
    (void)fclose(index);
    assert_true(files > 80);
}

static void test_cases(void **state)
{
    (void)state;
    const char *shared = shared_folder();
    char path[1024];
    (void)snprintf(path, sizeof(path), "%s/cases", shared);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    unsigned files = 0;
    for (struct dirent *file; (file = readdir(folder));) {
        if (!strstr(file->d_name, ".expected.json")) {
            continue;
        }
        (void)snprintf(path, sizeof(path), "%s/cases/%s", shared, file->d_name);
        json_t *expected = json_load_file(path, 0, NULL);
        const json_t *entries = json_object_get(expected, "files");
        for (size_t i = 0; i < json_array_size(entries); i++) {
            const json_t *entry = json_array_get(entries, i);
            const char *name = json_string_value(json_object_get(entry, "file"));
            const char *expect = json_string_value(json_object_get(entry, "expect"));
            const char *pointer = json_string_value(json_object_get(entry, "pointer"));
            (void)snprintf(path, sizeof(path), "%s/cases/%s", shared, name);
            pelt_model *model = read_path(path);
            if (strcmp(expect, "ok") == 0 ? !model || last.warnings
                : model                   ? !last.warnings || strcmp(expect, "error") == 0
                                          : pointer && strcmp(last.pointer, pointer) != 0) {
                fail_msg("%s: expected %s %s, got %s [%s] %s %s", name, expect,
                         pointer ? pointer : "", pelt_result_string(last.result), last.pointer,
                         last.text, last.log);
            }
            pelt_model_destroy(model);
            files++;
        }
        json_decref(expected);
    }
    (void)closedir(folder);
    assert_true(files >= 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_validator_inputs),
        cmocka_unit_test(test_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
