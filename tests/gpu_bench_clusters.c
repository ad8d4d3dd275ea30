/* pelt bench clusters: its check notices wrong vertices and lists, its figures are those of the
 * clusters. */
#include "bench/clusters_internal.h"
#include "sample/sample.h"
#include "tests/gpu.h"

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

static pelt_bench_clusters_settings settings_of(const pelt_model *model, uint32_t instances)
{
    return (pelt_bench_clusters_settings){ .model = model,
                                           .instances = instances,
                                           .width = 320,
                                           .height = 180,
                                           .lods = 4,
                                           .most_error = 1,
                                           .rounds = 2,
                                           .warm_up = 1e-3,
                                           .sample = 1e-3 };
}

static void figures_are_those_of_the_clusters(void **state)
{
    (void)state;
    pelt_bench *bench = make_bench();
    pelt_model *model = make_model();
    pelt_bench_clusters_result result;
    const pelt_bench_clusters_settings settings = settings_of(model, 50);
    assert_int_equal(pelt_bench_clusters_run(bench, &settings, &result), PELT_OK);
    assert_int_equal(result.instances, 50);
    assert_int_equal(result.joints, 20);
    for (int camera = 0; camera < PELT_BENCH_CAMERA_COUNT; camera++) {
        const pelt_bench_clusters_row *rows = result.rows[camera];
        for (int levels = 0; levels < 2; levels++) {
            assert_true(rows[levels].checked);
            assert_true(rows[levels].clusters > 0);
            for (int stage = 0; stage < PELT_BENCH_STAGE_COUNT; stage++) {
                assert_true(rows[levels].times[stage].median > 0);
            }
        }
        assert_true(rows[1].triangles <= rows[0].triangles);
        if (camera != PELT_BENCH_CAMERA_TENTH) {
            assert_int_equal(rows[0].instances, 50);
            assert_int_equal(rows[0].clusters, 50 * result.clusters);
            assert_int_equal(rows[0].triangles, 50 * result.triangles);
        }
    }
    const pelt_bench_clusters_row *tenth = result.rows[PELT_BENCH_CAMERA_TENTH];
    assert_true(tenth->instances >= 2 && tenth->instances <= 15);
    assert_true(result.rows[PELT_BENCH_CAMERA_FAR][1].triangles < 25 * result.triangles);
    pelt_model_destroy(model);
    pelt_bench_destroy(bench);
}

static void checks_notice_wrong_vertices_and_lists(void **state)
{
    (void)state;
    pelt_bench *bench = make_bench();
    pelt_model *model = make_model();
    const pelt_bench_clusters_settings settings = settings_of(model, 3);
    pelt_bench_clusters_data data;
    pelt_bench_clusters_row row;
    assert_int_equal(pelt_bench_clusters_data_create(bench, &settings, &data), PELT_OK);
    assert_int_equal(pelt_bench_clusters_look(&data, PELT_BENCH_CAMERA_ALL, false), PELT_OK);
    assert_int_equal(pelt_bench_clusters_check(&data, true, &row), PELT_OK);
    assert_true(row.checked);
    /* Another vertex is expected. */
    uint32_t *table = data.parts[0].clusters->vertex_table;
    uint32_t first = table[0];
    table[0] = table[1];
    assert_int_equal(pelt_bench_clusters_check(&data, true, &row), PELT_OK);
    assert_false(row.checked);
    table[0] = first;
    /* Not all are listed. */
    data.capacity--;
    assert_int_equal(pelt_bench_clusters_check(&data, true, &row), PELT_OK);
    assert_false(row.checked);
    assert_int_equal(row.clusters, data.capacity);
    pelt_bench_clusters_data_destroy(&data);
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

/* Every step of the preparation, in leaps. */
static void unwinds_failed_allocations(void **state)
{
    (void)state;
    pelt_bench *bench = make_bench();
    const pelt_host *own = bench->host;
    pelt_model *model = make_model();
    const pelt_bench_clusters_settings settings = settings_of(model, 1);
    for (unsigned left = 0;; left += 1 + left / 6) {
        failing f = { .left = left };
        const pelt_host host = { .user = &f, .allocate = allocate };
        pelt_bench_clusters_data data;
        bench->host = &host;
        pelt_result result = pelt_bench_clusters_data_create(bench, &settings, &data);
        pelt_bench_clusters_data_destroy(&data);
        bench->host = own;
        if (f.failed == 0) {
            assert_int_equal(result, PELT_OK);
            assert_true(left > 10);
            break;
        }
        assert_int_equal(result, PELT_ERROR_MEMORY);
    }
    pelt_model_destroy(model);
    pelt_bench_destroy(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_of_the_clusters),
        cmocka_unit_test(checks_notice_wrong_vertices_and_lists),
        cmocka_unit_test(unwinds_failed_allocations),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, gpu_teardown));
}
