/* File -> model -> pose -> reference, against positions, directions and boxes that others computed:
 * real models (shared assets) and small cases with expected values. */
#include "base/base.h"
#include "tests/build_model.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static const char *shared_folder(void)
{
    const char *folder = getenv("PELT_SHARED");
    return folder ? folder : "../shared";
}

/* The last error, and how many messages there were. */
typedef struct messages {
    char error[512];
    int warnings;
} messages;

static void keep_message(void *user, const pelt_message *message)
{
    messages *log = user;
    if (message->severity == PELT_ERROR) {
        (void)snprintf(log->error, sizeof(log->error), "%s: %s",
                       message->pointer ? message->pointer : "", message->text);
    } else {
        log->warnings++;
    }
}

/* What the reference makes of one part. */
typedef struct skinned {
    uint32_t count;
    double *positions, *normals, *tangents;
    double box[6];
} skinned;

static void skin_part(const pelt_pose *pose, const pelt_part *part, const double *matrices,
                      skinned *out)
{
    const pelt_model *model = pose->model;
    const pelt_primitive *primitive = &model->meshes[part->mesh].primitives[part->primitive];
    size_t first = 12 * (size_t)model->palettes[part->palette].first_matrix;
    *out = (skinned){ .count = primitive->vertex_count,
                      .box = { INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY } };
    out->positions = malloc(out->count * 10 * sizeof(double));
    assert_non_null(out->positions);
    out->normals = out->positions + 3 * (size_t)out->count;
    out->tangents = out->normals + 3 * (size_t)out->count;
    const pelt_reference_job job = { .primitive = primitive,
                                     .matrices = matrices + first,
                                     .morph_weights = pelt_pose_part_morph_weights(pose, part),
                                     .rigid = !part->skinned,
                                     .positions = out->positions,
                                     .normals = out->normals,
                                     .tangents = out->tangents };
    pelt_skin_reference(&job, 0, out->count, out->box);
}

static const pelt_part *find_part(const pelt_model *model, json_int_t node, json_int_t primitive)
{
    for (uint32_t i = 0; i < model->part_count; i++) {
        if (model->parts[i].node == node && model->parts[i].primitive == primitive) {
            return &model->parts[i];
        }
    }
    return NULL;
}

/* A pose and its matrices. */
typedef struct posed {
    pelt_pose *pose;
    double *matrices;
} posed;

static posed evaluate(pelt_model *model, int32_t clip, double time)
{
    posed out;
    const pelt_play play = { .clip = clip, .time = time };
    assert_int_equal(pelt_pose_create(NULL, model, &out.pose), PELT_OK);
    assert_int_equal(pelt_pose_evaluate(out.pose, &play, 1), PELT_OK);
    out.matrices = malloc((model->matrix_count + 1u) * 12 * sizeof(double));
    assert_non_null(out.matrices);
    assert_int_equal(pelt_pose_skin_matrices_double(out.pose, NULL, out.matrices), PELT_OK);
    return out;
}

static void end_scene(posed *scene)
{
    free(scene->matrices);
    pelt_pose_destroy(scene->pose);
}

static double number(json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* The largest difference between count numbers of both; NaN if there is a NaN. */
static double worst_difference(const double *got, const float *expected, size_t count)
{
    double worst = 0;
    for (size_t i = 0; i < count; i++) {
        double difference = fabs(got[i] - (double)expected[i]);
        if (!(difference <= worst)) {
            worst = difference;
        }
        if (isnan(difference)) {
            return difference;
        }
    }
    return worst;
}

static void check_asset_pose(pelt_model *model, json_t *pose, const uint8_t *blob, size_t size,
                             double tolerance, const char *name)
{
    posed scene = evaluate(model, (int32_t)number(pose, "clip"), number(pose, "time"));
    json_t *expected;
    size_t i;
    assert_int_equal(json_array_size(json_object_get(pose, "prims")), model->part_count);
    json_array_foreach(json_object_get(pose, "prims"), i, expected)
    {
        const pelt_part *part = find_part(model, (json_int_t)number(expected, "node"),
                                          (json_int_t)number(expected, "primitive"));
        assert_non_null(part);
        size_t offset = (size_t)number(expected, "offset");
        size_t count = (size_t)number(expected, "vertices");
        assert_true(offset + count * 12 <= size && offset % 4 == 0);
        skinned out;
        skin_part(scene.pose, part, scene.matrices, &out);
        assert_int_equal(out.count, count);
        float box[6];
        for (size_t k = 0; k < 6; k++) {
            json_t *side = json_object_get(expected, k < 3 ? "min" : "max");
            box[k] = (float)json_number_value(json_array_get(side, k % 3));
        }
        double worst = worst_difference(out.positions, (const float *)(blob + offset), 3 * count);
        double worst_box = worst_difference(out.box, box, 6);
        free(out.positions);
        if (!(worst <= tolerance && worst_box <= tolerance)) {
            fail_msg("%s clip %g time %g node %u: positions off by %g, box by %g, of %g", name,
                     number(pose, "clip"), number(pose, "time"), part->node, worst, worst_box,
                     tolerance);
        }
    }
    end_scene(&scene);
}

/* Returns the number of poses checked. */
static size_t check_asset(const char *assets, const char *file)
{
    char path[1024];
    (void)snprintf(path, sizeof(path), "%s/reference/%s", assets, file);
    json_t *reference = json_load_file(path, 0, NULL);
    assert_non_null(reference);
    json_t *poses = json_object_get(reference, "poses");
    const char *name = json_string_value(json_object_get(reference, "model"));
    if (!poses || !name) {
        json_decref(reference);
        return 0;
    }
    messages log = { 0 };
    const pelt_host host = { .user = &log, .message = keep_message };
    pelt_model *model;
    (void)snprintf(path, sizeof(path), "%s/%s", assets, name);
    pelt_result result = pelt_gltf_read(&host, path, &model);
    if (result == PELT_ERROR_UNSUPPORTED && strstr(log.error, "KHR_draco_mesh_compression")) {
        print_message("%s needs Draco\n", name);
        json_decref(reference);
        return 0;
    }
    if (result != PELT_OK) {
        fail_msg("%s: %s", name, log.error);
    }
    uint8_t *blob;
    size_t size, i;
    (void)snprintf(path, sizeof(path), "%s/reference/%s", assets,
                   json_string_value(json_object_get(reference, "bin")));
    assert_int_equal(pelt_file_read(NULL, path, &blob, &size), PELT_OK);
    json_t *pose;
    json_array_foreach(poses, i, pose)
    {
        check_asset_pose(model, pose, blob, size, number(reference, "suggestedTolerance"), name);
    }
    pelt_release(NULL, blob);
    pelt_model_destroy(model);
    json_decref(reference);
    return i;
}

static void matches_every_reference_pose_of_the_assets(void **state)
{
    (void)state;
    char assets[512], folder[600];
    (void)snprintf(assets, sizeof(assets), "%s/assets", shared_folder());
    (void)snprintf(folder, sizeof(folder), "%s/reference", assets);
    DIR *directory = opendir(folder);
    if (!directory) {
        print_message("no %s\n", folder);
        skip();
    }
    size_t models = 0, poses = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot && strcmp(dot, ".json") == 0) {
            size_t checked = check_asset(assets, entry->d_name);
            models += checked > 0;
            poses += checked;
        }
    }
    (void)closedir(directory);
    print_message("%zu poses of %zu models\n", poses, models);
    assert_true(models > 0);
}

/* Rows of width numbers each; a row that is null may be anything finite. */
static void check_rows(const double *got, json_t *rows, int width, int stride, double tolerance,
                       const char *what)
{
    json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        for (int k = 0; k < width; k++) {
            double value = got[i * (size_t)stride + (size_t)k];
            double expected = json_number_value(json_array_get(row, (size_t)k));
            assert_true(isfinite(value));
            if (!json_is_null(row) && !(fabs(value - expected) <= tolerance)) {
                fail_msg("%s: row %zu component %d is %.9g, not %.9g", what, i, k, value, expected);
            }
        }
    }
}

static void check_result(const posed *scene, json_t *expected, json_t *tolerance, const char *name)
{
    const pelt_model *model = scene->pose->model;
    const pelt_part *part = find_part(model, (json_int_t)number(expected, "node"),
                                      (json_int_t)number(expected, "primitive"));
    assert_non_null(part);
    skinned out;
    skin_part(scene->pose, part, scene->matrices, &out);
    double near = number(tolerance, "position"), direction = number(tolerance, "direction");
    json_t *positions = json_object_get(expected, "positions");
    json_t *normals = json_object_get(expected, "normals");
    json_t *tangents = json_object_get(expected, "tangents");
    json_t *box = json_object_get(expected, "aabb");
    assert_true(near > 0 && (direction > 0 || !normals));
    assert_int_equal(json_array_size(positions), out.count);
    check_rows(out.positions, positions, 3, 3, near, name);
    check_rows(out.normals, normals, 3, 3, direction, name);
    check_rows(out.tangents, tangents, 4, 4, direction, name);
    for (size_t k = 0; box && k < 6; k++) {
        json_t *side = json_object_get(box, k < 3 ? "min" : "max");
        assert_near(out.box[k], json_number_value(json_array_get(side, k % 3)), near);
    }
    free(out.positions);
}

/* A sample's tolerance, where it has one, takes precedence over the file's. */
static void check_sample(pelt_model *model, json_t *sample, json_t *file, const char *name)
{
    json_t *clip = json_object_get(sample, "animation"), *result, *tolerance = json_object();
    size_t i;
    (void)json_object_update(tolerance, json_object_get(file, "tolerance"));
    (void)json_object_update(tolerance, json_object_get(sample, "tolerance"));
    bool animated = json_is_integer(clip);
    posed scene = evaluate(model, animated ? (int32_t)json_integer_value(clip) : -1,
                           animated ? number(sample, "time") : 0);
    json_array_foreach(json_object_get(sample, "results"), i, result)
    {
        check_result(&scene, result, tolerance, name);
    }
    end_scene(&scene);
    json_decref(tolerance);
}

/* Returns the number of samples checked. */
static size_t check_case(const char *cases, json_t *file)
{
    char path[1024];
    const char *name = json_string_value(json_object_get(file, "file"));
    const char *expect = json_string_value(json_object_get(file, "expect"));
    const char *pointer = json_string_value(json_object_get(file, "pointer"));
    messages log = { 0 };
    const pelt_host host = { .user = &log, .message = keep_message };
    pelt_model *model;
    (void)snprintf(path, sizeof(path), "%s/%s", cases, name);
    pelt_result result = pelt_gltf_read(&host, path, &model);
    if (strcmp(expect, "error") == 0) {
        assert_int_not_equal(result, PELT_OK);
        if (pointer && !strstr(log.error, pointer)) {
            fail_msg("%s: \"%s\" does not name %s", name, log.error, pointer);
        }
        return 0;
    }
    if (result != PELT_OK) {
        if (strncmp(expect, "error", 5) != 0) {
            fail_msg("%s: %s", name, log.error);
        }
        return 0;
    }
    assert_true(strcmp(expect, "ok") == 0 || log.warnings > 0);
    json_t *sample;
    size_t i;
    json_array_foreach(json_object_get(file, "samples"), i, sample)
    {
        check_sample(model, sample, file, name);
    }
    pelt_model_destroy(model);
    return i;
}

static void matches_every_case(void **state)
{
    (void)state;
    char cases[512], path[1024];
    (void)snprintf(cases, sizeof(cases), "%s/cases", shared_folder());
    DIR *directory = opendir(cases);
    if (!directory) {
        print_message("no %s\n", cases);
        skip();
    }
    size_t samples = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        static const char ending[] = ".expected.json";
        size_t length = strlen(entry->d_name);
        if (length < sizeof(ending) ||
            strcmp(entry->d_name + length - sizeof(ending) + 1, ending) != 0) {
            continue;
        }
        (void)snprintf(path, sizeof(path), "%s/%s", cases, entry->d_name);
        json_t *expected = json_load_file(path, 0, NULL), *file;
        assert_non_null(expected);
        size_t i;
        json_array_foreach(json_object_get(expected, "files"), i, file)
        {
            samples += check_case(cases, file);
        }
        json_decref(expected);
    }
    (void)closedir(directory);
    print_message("%zu samples\n", samples);
    assert_true(samples > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_every_reference_pose_of_the_assets),
        cmocka_unit_test(matches_every_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
