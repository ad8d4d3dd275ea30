/* pelt bench rays: runs, and its check notices what is wrong. */
#include "bench/rays_internal.h"
#include "tests/gpu.h"

static void checks_notice_other_hits(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    pelt_bench_rays_hit worn[COUNT], fresh[COUNT];
    pelt_bench_rays_use use = { 0 };
    for (uint32_t i = 0; i < COUNT; i++) {
        worn[i] = (pelt_bench_rays_hit){ i % 4 == 0 ? -1.0f : 2.0f, i % 3, 0, i };
        fresh[i] = worn[i];
    }
    pelt_bench_rays_compare(&gpu_host, "a scene", worn, fresh, COUNT, &use);
    assert_true(use.checked && use.differs == 0 && use.hits == 0.75);
    /* Two in a thousand are allowed, three are not; of whatever kind they are. */
    worn[1].triangle++;
    worn[2].distance += 0.01f;
    worn[5].distance += 0.0001f;
    pelt_bench_rays_compare(&gpu_host, "a scene", worn, fresh, COUNT, &use);
    assert_true(use.checked && use.differs == 0.002);
    for (uint32_t kind = 0; kind < 3; kind++) {
        pelt_bench_rays_hit right = worn[3];
        worn[3].instance += kind == 0;
        worn[3].geometry += kind == 1;
        worn[3].distance = kind == 2 ? -1 : worn[3].distance;
        unsigned errors = gpu_messages.errors;
        pelt_bench_rays_compare(&gpu_host, "a scene", worn, fresh, COUNT, &use);
        assert_false(use.checked);
        assert_int_equal(gpu_messages.errors, errors + 1);
        assert_non_null(strstr(gpu_messages.last, "a scene: 75.000 % of the rays hit, 0.300 %"));
        worn[3] = right;
    }
    /* Nor may all of them miss. */
    for (uint32_t i = 0; i < COUNT; i++) {
        worn[i] = fresh[i] = (pelt_bench_rays_hit){ -1, 0, 0, 0 };
    }
    pelt_bench_rays_compare(&gpu_host, "a scene", worn, fresh, COUNT, &use);
    assert_false(use.checked);
}

/* Five characters in twos: the last structure has one. */
static void runs(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    if (!device->ray_tracing_pipeline) {
        (void)printf("skipped: %s has no ray-tracing pipelines\n", device->properties.deviceName);
        skip();
    }
    pelt_bench *bench;
    pelt_bench_rays_result result;
    const pelt_bench_rays_scene scene = {
        .name = "a scene", .instances = 5, .vertices = 300, .group = 2
    };
    const pelt_bench_rays_settings settings = {
        .width = 64, .height = 36, .refits = 2, .rounds = 1, .warm_up = 1e-4, .sample = 1e-4
    };
    assert_int_equal(pelt_bench_create(&gpu_host, device, &bench), PELT_OK);
    assert_int_equal(pelt_bench_rays_run(bench, &scene, &settings, &result), PELT_OK);
    assert_int_equal(result.structures, 3);
    assert_true(result.vertices >= 290 && result.vertices <= 310 && result.triangles > 500);
    for (uint32_t u = 0; u < PELT_BENCH_RAYS_USES; u++) {
        const pelt_bench_rays_use *use = &result.uses[u];
        assert_true(use->checked && use->hits > 0.1 && use->hits < 0.9);
        assert_true(use->structure_bytes > 0 && use->build_batches == 1);
    }
    pelt_bench_destroy(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checks_notice_other_hits),
        cmocka_unit_test(runs),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, gpu_teardown));
}
