/* pelt bench crowd: its check notices wrong pictures, its figures are those of the layouts. */
#include "bench/crowd_internal.h"
#include "sample/sample.h"
#include "tests/gpu.h"

#include "pelt/crowd_layout.h"

#include <math.h>

static pelt_model *make_model(void)
{
    pelt_model *model;
    const pelt_sample_info info = { .vertices = PELT_SAMPLE_VERTICES_MIN, .joints = 20 };
    assert_int_equal(pelt_sample_create(&gpu_host, &info, &model), PELT_OK);
    return model;
}

static pelt_bench *make_bench(void)
{
    pelt_bench *bench;
    assert_int_equal(pelt_bench_create(&gpu_host, gpu_device(), &bench), PELT_OK);
    return bench;
}

static void figures_are_those_of_the_layouts(void **state)
{
    (void)state;
    pelt_bench *bench = make_bench();
    pelt_model *model = make_model();
    pelt_bench_crowd_result result;
    const pelt_bench_crowd_settings settings = { .model = model,
                                                 .instances = 9,
                                                 .width = 96,
                                                 .height = 64,
                                                 .rounds = 2,
                                                 .warm_up = 1e-3,
                                                 .sample = 1e-3 };
    assert_int_equal(pelt_bench_crowd_run(bench, &settings, &result), PELT_OK);
    assert_int_equal(result.instances, 9);
    assert_int_equal(result.joints, 20);
    assert_int_equal(result.parts, 1);
    assert_int_equal(result.clips, 2);
    assert_true(result.influences > 1 && result.influences < 4);
    const pelt_bench_crowd_row *rows = result.rows;
    for (int f = 0; f < PELT_BENCH_CROWD_FORM_COUNT; f++) {
        assert_true(rows[f].checked);
        assert_true(rows[f].times.median > 0 && rows[f].times.least <= rows[f].times.most);
        bool timed = f >= PELT_BENCH_CROWD_DRAW && !gpu_device()->is_software;
        assert_int_equal(rows[f].vertices.median > 0, timed);
    }
    uint64_t texels = (uint64_t)result.frames * 20;
    assert_int_equal(rows[PELT_BENCH_CROWD_LERP].memory, texels * 48);
    assert_int_equal(rows[PELT_BENCH_CROWD_LERP_16].memory, texels * 24);
    assert_int_equal(rows[PELT_BENCH_CROWD_LERP_4X4].memory, texels * 64);
    assert_int_equal(rows[PELT_BENCH_CROWD_BLEND].memory, texels * 32);
    assert_int_equal(rows[PELT_BENCH_CROWD_DUAL].memory, texels * 32);
    /* Position and normal, weights, joints; then a matrix for each influence, from each row. */
    double matrix = 48 * result.influences;
    assert_true(fabs(rows[PELT_BENCH_CROWD_SKINNED].vertex_bytes - (16)) < 1e-9);
    assert_true(fabs(rows[PELT_BENCH_CROWD_NEAREST].vertex_bytes - (24 + matrix)) < 1e-9);
    assert_true(fabs(rows[PELT_BENCH_CROWD_LERP].vertex_bytes - (24 + 2 * matrix)) < 1e-9);
    assert_true(fabs(rows[PELT_BENCH_CROWD_LERP_16].vertex_bytes - (24 + matrix)) < 1e-9);
    assert_true(fabs(rows[PELT_BENCH_CROWD_BLEND].vertex_bytes - (24 + 4 * matrix / 3)) < 1e-9);
    pelt_model_destroy(model);
    pelt_bench_destroy(bench);
}

static void checks_notice_wrong_pictures(void **state)
{
    (void)state;
    pelt_bench *bench = make_bench();
    pelt_model *model = make_model();
    pelt_bench_crowd_data data;
    pelt_bench_crowd_row rows[PELT_BENCH_CROWD_FORM_COUNT];
    const pelt_bench_crowd_settings settings = {
        .model = model, .instances = 4, .width = 96, .height = 64, .rounds = 1
    };
    assert_int_equal(pelt_bench_crowd_data_create(bench, &settings, &data), PELT_OK);
    assert_int_equal(pelt_bench_crowd_draw_create(&data), PELT_OK);
    assert_int_equal(pelt_bench_crowd_check(&data, rows), PELT_OK);
    for (int f = 0; f < PELT_BENCH_CROWD_FORM_COUNT; f++) {
        assert_true(rows[f].checked);
    }
    /* Every vertex follows the joint after its own. */
    const uint32_t next = 1;
    size_t at = offsetof(struct pelt_crowd_mesh, first_joint);
    assert_int_equal(pelt_buffer_upload(gpu_device(), &data.part_meshes, at, &next, 4), PELT_OK);
    unsigned errors = gpu_messages.errors;
    assert_int_equal(pelt_bench_crowd_check(&data, rows), PELT_OK);
    for (int f = 0; f < PELT_BENCH_CROWD_FORM_COUNT; f++) {
        assert_int_equal(rows[f].checked, f <= PELT_BENCH_CROWD_SKINNED);
    }
    assert_int_equal(gpu_messages.errors, errors + 6);
    assert_non_null(strstr(gpu_messages.last, "dual: "));
    pelt_bench_crowd_draw_destroy(&data);
    pelt_bench_crowd_data_destroy(&data);
    pelt_model_destroy(model);
    pelt_bench_destroy(bench);
}

static void models_that_do_not_move_are_refused(void **state)
{
    (void)state;
    pelt_bench *bench = make_bench();
    pelt_model *model = make_model();
    pelt_bench_crowd_result result;
    const pelt_bench_crowd_settings settings = {
        .model = model, .instances = 1, .width = 16, .height = 16, .rounds = 1
    };
    uint32_t clips = model->clip_count;
    model->clip_count = 0;
    assert_int_equal(pelt_bench_crowd_run(bench, &settings, &result), PELT_ERROR_ARGUMENT);
    assert_non_null(strstr(gpu_messages.last, "no clip"));
    model->clip_count = clips;
    pelt_model_destroy(model);
    pelt_bench_destroy(bench);
}

/* A host whose allocations fail from some number on. */
typedef struct failing {
    unsigned left, failed;
} failing;

static void *allocate(void *user, void *block, size_t size)
{
    failing *f = user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    if (f->left == 0) {
        f->failed++;
        return NULL;
    }
    f->left--;
    return realloc(block, size);
}

/* Every step of the preparation, in leaps: there are thousands of allocations. */
static void unwinds_failed_allocations(void **state)
{
    (void)state;
    pelt_bench *bench = make_bench();
    const pelt_host *own = bench->host;
    pelt_model *model = make_model();
    const pelt_bench_crowd_settings settings = {
        .model = model, .instances = 1, .width = 16, .height = 16, .rounds = 1
    };
    unsigned runs = 0;
    for (unsigned left = 0;; left += 1 + left / 6) {
        failing f = { .left = left };
        const pelt_host host = { .user = &f, .allocate = allocate };
        pelt_bench_crowd_data data;
        bench->host = &host;
        pelt_result result = pelt_bench_crowd_data_create(bench, &settings, &data);
        if (result == PELT_OK) {
            result = pelt_bench_crowd_draw_create(&data);
        }
        pelt_bench_crowd_draw_destroy(&data);
        pelt_bench_crowd_data_destroy(&data);
        bench->host = own;
        runs++;
        if (f.failed == 0) {
            assert_int_equal(result, PELT_OK);
            break;
        }
        assert_int_equal(result, PELT_ERROR_MEMORY);
        assert_true(runs < 200);
    }
    assert_true(runs > 10);
    pelt_model_destroy(model);
    pelt_bench_destroy(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_of_the_layouts),
        cmocka_unit_test(checks_notice_wrong_pictures),
        cmocka_unit_test(models_that_do_not_move_are_refused),
        cmocka_unit_test(unwinds_failed_allocations),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, gpu_teardown));
}
