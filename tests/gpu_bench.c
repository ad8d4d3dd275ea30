/* The bench, small: every scene and every form of the pass, with their checks; that the checks
 * notice what they are for; and the arithmetic around them. */
#include "bench/internal.h"
#include "sample/sample.h"
#include "tests/gpu.h"

#include <math.h>
#include <pelt/gltf.h>
#include <unistd.h>

static pelt_bench *shared_bench;

static pelt_bench *bench_of(pelt_headless *device)
{
    if (!shared_bench) {
        assert_int_equal(pelt_bench_create(&gpu_host, device, &shared_bench), PELT_OK);
    }
    return shared_bench;
}

static int teardown(void **state)
{
    pelt_bench_destroy(shared_bench);
    return gpu_teardown(state);
}

/* One round, no longer than it takes. */
static pelt_bench_result run_small(const pelt_bench_scene *scene, double scale)
{
    pelt_bench *bench = bench_of(gpu_device());
    const pelt_bench_settings settings = {
        .scale = scale, .rounds = 1, .warm_up = 1e-9, .sample = 1e-9
    };
    unsigned errors = gpu_messages.errors;
    pelt_bench_result result;
    if (pelt_bench_run(bench, scene, &settings, &result) != PELT_OK ||
        gpu_messages.errors != errors) {
        fail_msg("%s: %s", scene->name, gpu_messages.last);
    }
    for (uint32_t v = 0; v < PELT_BENCH_VARIANT_COUNT; v++) {
        const pelt_bench_row *row = &result.rows[v];
        if (!row->measured) {
            assert_non_null(row->reason);
            continue;
        }
        assert_true(row->checked);
        assert_true(row->times.median > 0.0 && row->times.least == row->times.most);
        assert_true(row->bytes >= 20 * result.vertices);
        assert_int_equal(row->repeats, 1);
    }
    assert_true(result.vertices_checked > 0);
    return result;
}

static void runs_every_preset(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < pelt_bench_preset_count; i++) {
        const pelt_bench_scene *scene = &pelt_bench_presets[i];
        uint32_t vertices = pelt_bench_unit_vertices(scene);
        double total = scene->instances ? (double)scene->instances * vertices : PELT_BENCH_TOTAL;
        pelt_bench_result result = run_small(scene, total / 3000.0);
        assert_int_equal(result.scene.shared, scene->shared);
        assert_int_equal(result.vertices, (uint64_t)result.scene.instances *
                                              pelt_bench_unit_vertices(&result.scene));
        assert_int_equal(result.source_vertices,
                         scene->shared ? pelt_bench_unit_vertices(&result.scene) : result.vertices);
    }
}

static void runs_the_sweep(void **state)
{
    (void)state;
    pelt_bench_scene points[PELT_BENCH_SWEEP_POINT_MAX];
    uint32_t count = pelt_bench_sweep(2000, points);
    assert_int_equal(count, 7); /* 1 3 10 30 100 300 1000 */
    for (uint32_t i = 0; i < count; i++) {
        pelt_bench_result result = run_small(&points[i], 1.0);
        assert_in_range(result.vertices, 1000, 2000);
    }
}

static void runs_every_parameter(void **state)
{
    (void)state;
    const pelt_bench_scene scenes[] = {
        { .name = "wide", .instances = 3, .vertices = 500, .joints = 24, .joint_bits = 16 },
        { .name = "narrow", .instances = 3, .vertices = 500, .joints = 256, .joint_bits = 8 },
        { .name = "joints", .instances = 3, .vertices = 500, .joints = 400, .shared = true },
        { .name = "rigid", .instances = 2, .vertices = 65, .joints = 1 },
        { .name = "one", .instances = 2, .vertices = 65, .joints = 9, .influences = 1 },
        { .name = "four", .instances = 2, .vertices = 65, .joints = 9, .influences = 4 },
    };
    for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
        (void)run_small(&scenes[i], 1.0);
    }
    pelt_bench_result result;
    const pelt_bench_scene impossible = {
        .name = "x", .instances = 1, .vertices = 5000, .joints = 400, .joint_bits = 8
    };
    const pelt_bench_settings settings = { .scale = 1.0 };
    assert_int_equal(pelt_bench_run(bench_of(gpu_device()), &impossible, &settings, &result),
                     PELT_ERROR_ARGUMENT);
    assert_non_null(strstr(gpu_messages.last, "8-bit joints"));
}

static void runs_files(void **state)
{
    (void)state;
    char path[] = "/tmp/pelt-bench-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    (void)close(descriptor);
    pelt_model *model;
    assert_int_equal(pelt_sample_create(&gpu_host, &(pelt_sample_info){ .vertices = 1000 }, &model),
                     PELT_OK);
    assert_int_equal(pelt_gltf_write(&gpu_host, model, path), PELT_OK);
    uint32_t parts = model->part_count;
    pelt_model_destroy(model);
    const char *const files[] = { path, path };
    const pelt_bench_scene scene = {
        .name = "files", .instances = 3, .files = files, .file_count = 2
    };
    pelt_bench_result result = run_small(&scene, 1.0);
    assert_int_equal(result.meshes, 3 * 2 * parts);
    (void)unlink(path);
}

/* A scene of 2 x 300 vertices, for tests that break something in it. */
typedef struct broken {
    pelt_bench_unit *unit;
    pelt_bench_data data;
    pelt_bench_check *check;
} broken;

static broken make_unbroken(void)
{
    pelt_bench *bench = bench_of(gpu_device());
    broken self;
    const pelt_bench_scene scene = { .name = "broken", .vertices = 300, .joints = 8 };
    assert_int_equal(pelt_bench_unit_create(&gpu_host, &scene, &self.unit), PELT_OK);
    assert_int_equal(pelt_bench_data_create(bench, self.unit, 2, false, &self.data), PELT_OK);
    return self;
}

static bool passes(broken *self, const char *variant)
{
    pelt_bench_row row = { 0 };
    int index = pelt_bench_find_variant(variant);
    assert_true(index >= 0);
    assert_int_equal(pelt_bench_check_variant(self->check, (uint32_t)index, "broken", &row),
                     PELT_OK);
    return row.checked;
}

static void overwrite(broken *self, const pelt_buffer *buffer, VkDeviceSize offset, uint32_t word)
{
    assert_int_equal(pelt_buffer_upload(self->data.bench->device, buffer, offset, &word, 4),
                     PELT_OK);
}

static void expect_failure(broken *self, const char *variant, const char *text)
{
    unsigned errors = gpu_messages.errors;
    assert_false(passes(self, variant));
    assert_int_equal(gpu_messages.errors, errors + 1);
    if (!strstr(gpu_messages.last, text) || !strstr(gpu_messages.last, variant)) {
        fail_msg("%s: %s", variant, gpu_messages.last);
    }
}

static void checks_notice_wrong_results(void **state)
{
    (void)state;
    broken self = make_unbroken();
    pelt_bench_data *data = &self.data;
    assert_int_equal(pelt_bench_check_create(data, &self.check), PELT_OK);
    assert_true(passes(&self, "pelt") && passes(&self, "stream") && passes(&self, "seed"));

    overwrite(&self, &data->positions, 12 * 299, 0x3f000000u); /* the last x of instance 0: 0.5 */
    expect_failure(&self, "global-atomics", "instance 0, mesh 0: vertex 299 is off by");
    expect_failure(&self, "seed", "vertex 299 is off by");
    /* The last vertex has most influences, so its weights were not 0. */
    overwrite(&self, &data->weights, 4 * (300 + 299), 0);
    expect_failure(&self, "stream", "instance 1, mesh 0: vertex 299 is not what was read");
    pelt_bench_check_destroy(self.check);
    pelt_bench_data_destroy(data);
    pelt_bench_unit_destroy(self.unit);
}

static void checks_notice_wrong_directions(void **state)
{
    (void)state;
    broken self = make_unbroken();
    pelt_bench_data *data = &self.data;
    assert_int_equal(pelt_bench_check_create(data, &self.check), PELT_OK);
    assert_true(passes(&self, "pelt"));
    uint32_t normal = self.unit->meshes[0].packed->vertices[7].normal;
    overwrite(&self, &data->normals, 4 * 7, normal ^ 0x00040000u); /* 32 codes: some degrees */
    expect_failure(&self, "seed-no-box", "vertex 7: its normal is off by");
    uint32_t tangent = self.unit->meshes[0].packed->tangents[5];
    overwrite(&self, &data->tangents, 4 * 5, tangent ^ 0x80000000u);
    expect_failure(&self, "pelt", "vertex 5: its tangent has lost its sign");
    pelt_bench_check_destroy(self.check);
    pelt_bench_data_destroy(data);
    pelt_bench_unit_destroy(self.unit);
}

/* Whether a way of turning normals passes if the pipeline of another does it, which finds only skin
 * matrices in the palettes. */
static bool passes_by(broken *self, const char *variant, pelt_bench_pipeline own,
                      pelt_bench_pipeline other)
{
    pelt_bench_data *data = &self->data;
    VkPipeline *pipelines = shared_bench->pipelines, kept = pipelines[own];
    pelt_buffer inverses = data->inverse_palettes, cofactors = data->cofactor_palettes;
    pipelines[own] = pipelines[other];
    data->inverse_palettes = data->cofactor_palettes = data->rows;
    bool passed = passes(self, variant);
    data->inverse_palettes = inverses;
    data->cofactor_palettes = cofactors;
    pipelines[own] = kept;
    return passed;
}

static void checks_tell_normals_apart(void **state)
{
    (void)state;
    static const char *const names[] = { "cofactor", "inverse", "joint-inverses", "joint-cofactors",
                                         "plain" };
    broken self = make_unbroken();
    assert_int_equal(pelt_bench_normals_create(&self.data), PELT_OK);
    assert_int_equal(pelt_bench_check_create(&self.data, &self.check), PELT_OK);
    assert_true(passes(&self, "pelt"));
    for (int i = 0; i < 5; i++) {
        pelt_bench_pipeline own = (pelt_bench_pipeline)(BENCH_COFACTOR + i);
        assert_true(passes(&self, names[i]));
        /* The inverse is the cofactor where no joint is mirrored. */
        assert_int_equal(passes_by(&self, names[i], own, BENCH_COFACTOR), i < 2);
        assert_int_equal(passes_by(&self, names[i], own, BENCH_INVERSE), i < 2);
        assert_int_equal(passes_by(&self, names[i], own, BENCH_PLAIN), i == 4);
        assert_true(passes(&self, names[i]));
    }
    pelt_bench_check_destroy(self.check);
    pelt_bench_data_destroy(&self.data);
    pelt_bench_unit_destroy(self.unit);
}

/* As of a mesh whose positions are large integers: scales of 2^-7 have cofactors of 2^-14. */
static void tiny_cofactors_are_not_measured(void **state)
{
    (void)state;
    broken self = make_unbroken();
    assert_int_equal(pelt_bench_normals_create(&self.data), PELT_OK);
    assert_true(self.data.cofactors_fit);
    pelt_bench_data_destroy(&self.data);
    self.unit->pose_count = 1;
    self.unit->poses = calloc(self.unit->matrix_count, 12 * sizeof(float));
    for (uint32_t j = 0; j < self.unit->matrix_count; j++) {
        for (int i = 0; i < 3; i++) {
            self.unit->poses[12 * j + 5 * i] = 0x1p-7f;
        }
    }
    assert_int_equal(pelt_bench_data_create(shared_bench, self.unit, 2, false, &self.data),
                     PELT_OK);
    assert_int_equal(pelt_bench_normals_create(&self.data), PELT_OK);
    assert_false(self.data.cofactors_fit);
    pelt_bench_data_destroy(&self.data);
    free(self.unit->poses);
    self.unit->poses = NULL;
    pelt_bench_unit_destroy(self.unit);
}

/* Of a matrix whose cofactors are known, in steps that half floats have and that they do not. */
static void cofactors_are_stored_in_halves(void **state)
{
    (void)state;
    /* Scales a b c: cofactors bc ac ab, the last one not stored. */
    const struct {
        float scales[3];
        double first;
    } cases[] = {
        { { 1, 2, 3 }, 6.0 },                        /* exact */
        { { 1, 1, 1.0f + 0x1p-11f }, 1.0 },          /* a tie: to even, below */
        { { 1, 1, 1.0f + 0x1.8p-10f }, 1 + 0x1p-9 }, /* a tie: to even, above */
        { { 1, 1, 2.0f - 0x1p-12f }, 2.0 },          /* carries */
        { { 1, 1, 0x1p-24f }, 0x1p-24 },             /* the least */
        { { 1, 1, 0x1.8p-24f }, 0x1p-23 },           /* a tie there: to even, above */
        { { 1, 1, 0x1p-14f }, 0x1p-14 },             /* the least that is not denormal */
        { { 1, 1000, -1000 }, -65504.0 },            /* beyond the largest */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const float *s = cases[i].scales;
        const float matrix[12] = { s[0], 0, 0, 7, 0, s[1], 0, 8, 0, 0, s[2], 9 };
        double stored[9];
        pelt_bench_stored_cofactors(matrix, stored);
        assert_true(stored[0] == cases[i].first);
        assert_true(stored[1] == 0.0 && stored[5] == 0.0);
        assert_true(stored[8] == (double)s[0] * (double)s[1]);
    }
}

static void checks_notice_wrong_boxes(void **state)
{
    (void)state;
    broken self = make_unbroken();
    pelt_bench_data *data = &self.data;
    assert_int_equal(pelt_bench_check_create(data, &self.check), PELT_OK);
    assert_true(passes(&self, "pelt") && passes(&self, "per-joint"));
    /* Joints that move nothing. */
    for (uint32_t j = 0; j < self.unit->bind_count; j++) {
        overwrite(&self, &data->bind_boxes, 24 * j, 0x7f7fffffu);
        overwrite(&self, &data->bind_boxes, 24 * j + 12, 0xff7fffffu);
    }
    expect_failure(&self, "per-joint", "instance 0, mesh 0: its box is");
    overwrite(&self, &data->group_prefix, 4, 4); /* of 5 groups: the last partial box is left out */
    if (data->bench->subgroups) {
        assert_int_equal(data->group_count, 10);
        assert_false(passes(&self, "seed"));
    }
    /* A pass that writes no box leaves the poison. */
    pelt_bench_tables tables = data->with_boxes;
    data->with_boxes = data->without_boxes;
    expect_failure(&self, "pelt", "its box is");
    data->with_boxes = tables;
    pelt_bench_check_destroy(self.check);
    pelt_bench_data_destroy(data);
    pelt_bench_unit_destroy(self.unit);
}

static void made_meshes_are_like_real_ones(void **state)
{
    (void)state;
    pelt_bench_vertices mesh;
    assert_int_equal(pelt_bench_vertices_create(&gpu_host, 20000, &mesh), PELT_OK);
    pelt_bench_make_vertices(&mesh, 64, 0, 1);
    uint32_t influences = 0, touched = 0;
    bool used[64] = { false };
    for (uint32_t v = 0; v < mesh.count; v++) {
        float sum = 0.0f;
        for (uint32_t i = 4 * v; i < 4 * v + 4; i++) {
            sum += mesh.weights[i];
            influences += mesh.weights[i] > 0.0f;
            used[mesh.joints[i]] = true;
            assert_true(mesh.weights[i] * 1024.0f == floorf(mesh.weights[i] * 1024.0f));
        }
        assert_true(sum == 1.0f);
        assert_true(fabsf(mesh.positions[3 * v]) <= 0.5f);
    }
    for (uint32_t j = 0; j < 64; j++) {
        touched += used[j];
    }
    assert_int_equal(touched, 64);
    /* Standard deviation of one is 1.07, of the mean of 20,000 0.0076. */
    assert_true(fabs(influences / 20000.0 - 2.4) < 5 * 0.0076);
    pelt_bench_vertices_destroy(&gpu_host, &mesh);
}

static void bytes_are_those_of_the_documents(void **state)
{
    (void)state;
    uint32_t all[3] = { 0 }, streams[3] = { 0 };
    for (uint32_t i = 0; i < PELT_BENCH_STREAM_COUNT; i++) {
        const pelt_bench_stream_bytes *row = &pelt_bench_streams[i];
        const uint32_t bytes[3] = { row->atomics, row->seed, row->pelt };
        for (int k = 0; k < 3; k++) {
            all[k] += bytes[k];
            streams[k] += strstr(row->name, "matrices") ? 0 : bytes[k];
        }
    }
    const uint32_t expected_all[] = { 564, 220, 220 }, expected_streams[] = { 52, 28, 28 };
    assert_memory_equal(all, expected_all, sizeof(all));
    assert_memory_equal(streams, expected_streams, sizeof(streams));
}

/* Three instances of four vertices among 200 joints: of each palette only the matrices that
 * vertices name count, 48 bytes each, two of 64 in the form of 2023. Beside them a vertex is read
 * as 28 bytes or 52 and written as 20. */
static void bytes_count_matrices_that_are_named(void **state)
{
    (void)state;
    enum { VERTICES = 4, JOINTS = 200, INSTANCES = 3 };
    pelt_bench_vertices vertices;
    assert_int_equal(pelt_bench_vertices_create(&gpu_host, VERTICES, &vertices), PELT_OK);
    pelt_bench_make_vertices(&vertices, JOINTS, 2, 0);
    bool named[JOINTS] = { false };
    for (int i = 0; i < 4 * VERTICES; i++) {
        if (vertices.weights[i] > 0.0f) {
            named[vertices.joints[i]] = true;
        }
    }
    uint32_t count = 0;
    for (int j = 0; j < JOINTS; j++) {
        count += named[j];
    }
    pelt_bench_vertices_destroy(&gpu_host, &vertices);
    assert_in_range(count, 2, 2 * VERTICES);

    const pelt_bench_scene scene = { .name = "sparse",
                                     .instances = INSTANCES,
                                     .vertices = VERTICES,
                                     .joints = JOINTS,
                                     .influences = 2 };
    pelt_bench_result result = run_small(&scene, 1.0);
    const pelt_bench_row *pelt = &result.rows[pelt_bench_find_variant("pelt-no-box")];
    const pelt_bench_row *atomics = &result.rows[pelt_bench_find_variant("atomics-no-box")];
    assert_true(pelt->measured && atomics->measured);
    assert_int_equal(pelt->bytes, INSTANCES * (VERTICES * 48 + count * 48));
    assert_int_equal(atomics->bytes, INSTANCES * (VERTICES * 72 + count * 2 * 64));
}

static void statistics_are_of_the_sorted(void **state)
{
    (void)state;
    double values[] = { 5, 1, 4, 2, 3 };
    pelt_bench_times times = pelt_bench_statistics(values, 5);
    assert_true(times.least == 1 && times.quarter == 2 && times.median == 3 &&
                times.three_quarters == 4 && times.most == 5);
    double pair[] = { 3, 1 };
    times = pelt_bench_statistics(pair, 2);
    assert_true(times.least == 1 && times.quarter == 1.5 && times.median == 2 && times.most == 3);
    double one[] = { 7 };
    assert_true(pelt_bench_statistics(one, 1).median == 7);
}

static void scaling_divides_instances_first(void **state)
{
    (void)state;
    pelt_bench_scene scene = { .instances = 1000, .vertices = 20000 };
    pelt_bench_scale(&scene, 300);
    assert_int_equal(scene.instances, 3);
    assert_int_equal(scene.vertices, 20000);
    pelt_bench_scale(&scene, 30);
    assert_int_equal(scene.instances, 1);
    assert_int_equal(scene.vertices, 2000);
    pelt_bench_scale(&scene, 1e9);
    assert_int_equal(scene.vertices, 1);
}

static void sweep_has_a_constant_total(void **state)
{
    (void)state;
    pelt_bench_scene points[PELT_BENCH_SWEEP_POINT_MAX];
    assert_int_equal(pelt_bench_sweep(PELT_BENCH_TOTAL, points), 13);
    for (uint32_t i = 0; i < 13; i++) {
        uint64_t total = (uint64_t)points[i].instances * points[i].vertices;
        assert_in_range(total, PELT_BENCH_TOTAL - points[i].vertices + 1, PELT_BENCH_TOTAL);
        assert_in_range(points[i].joints, 1, points[i].vertices);
    }
    assert_int_equal(points[0].vertices, 1);
    assert_int_equal(points[12].vertices, 1000000);
}

static PFN_vkGetDeviceProcAddr real_get_device_proc_addr;

static PFN_vkVoidFunction without_filling(VkDevice device, const char *name)
{
    return strcmp(name, "vkCmdFillBuffer") == 0 ? NULL : real_get_device_proc_addr(device, name);
}

static void a_missing_function_is_named(void **state)
{
    (void)state;
    pelt_headless device = *gpu_device();
    real_get_device_proc_addr = device.get_device_proc_addr;
    device.get_device_proc_addr = without_filling;
    unsigned errors = gpu_messages.errors;
    pelt_bench *bench;
    assert_int_equal(pelt_bench_create(&gpu_host, &device, &bench), PELT_ERROR_DEVICE);
    assert_null(bench);
    assert_int_equal(gpu_messages.errors, errors + 1);
    assert_non_null(strstr(gpu_messages.last, "vkCmdFillBuffer"));
}

static void copies(void **state)
{
    (void)state;
    pelt_bench *bench = bench_of(gpu_device());
    pelt_bench_copy copy;
    const pelt_bench_settings settings = { .warm_up = 1e-9 };
    assert_int_equal(pelt_bench_measure_copy(bench, &settings, &copy), PELT_OK);
    assert_true(copy.size > 0 && copy.times.median > 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_every_preset),
        cmocka_unit_test(runs_the_sweep),
        cmocka_unit_test(runs_every_parameter),
        cmocka_unit_test(runs_files),
        cmocka_unit_test(checks_notice_wrong_results),
        cmocka_unit_test(checks_notice_wrong_directions),
        cmocka_unit_test(checks_tell_normals_apart),
        cmocka_unit_test(cofactors_are_stored_in_halves),
        cmocka_unit_test(tiny_cofactors_are_not_measured),
        cmocka_unit_test(checks_notice_wrong_boxes),
        cmocka_unit_test(made_meshes_are_like_real_ones),
        cmocka_unit_test(bytes_are_those_of_the_documents),
        cmocka_unit_test(bytes_count_matrices_that_are_named),
        cmocka_unit_test(statistics_are_of_the_sorted),
        cmocka_unit_test(scaling_divides_instances_first),
        cmocka_unit_test(sweep_has_a_constant_total),
        cmocka_unit_test(a_missing_function_is_named),
        cmocka_unit_test(copies),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, teardown));
}
