/* pelt study crossover on a device: every cell that can be is measured, and was right. */
#include "study/crossover.h"
#include "tests/gpu.h"

static uint32_t shown, of_all;

static void on_progress(void *user, uint32_t cell, uint32_t of, const char *what)
{
    (void)user;
    assert_non_null(what);
    assert_in_range(cell, 1, of);
    shown = cell;
    of_all = of;
}

static void measures_every_shape(void **state)
{
    (void)state;
    pelt_bench *bench;
    assert_int_equal(pelt_bench_create(&gpu_host, gpu_device(), &bench), PELT_OK);
    static pelt_crossover_map map;
    map = (pelt_crossover_map){ .total = 2000,
                                .vertex_count = 2,
                                .joint_count = 2,
                                .vertices = { 16, 300 },
                                .joints = { 1, 20 } };
    const pelt_crossover_settings settings = {
        .rounds = 1, .warm_up = 1e-9, .sample = 1e-9, .progress = on_progress
    };
    unsigned errors = gpu_messages.errors;
    assert_int_equal(pelt_crossover_measure(bench, &settings, &map), PELT_OK);
    assert_int_equal(gpu_messages.errors, errors);
    pelt_bench_destroy(bench);
    assert_int_equal(shown, 3);
    assert_int_equal(of_all, 3);

    for (uint32_t j = 0; j < 2; j++) {
        for (uint32_t v = 0; v < 2; v++) {
            const pelt_crossover_cell *cell = &map.cells[j][v];
            bool possible = map.joints[j] <= map.vertices[v];
            assert_int_equal(cell->vertices, map.vertices[v]);
            assert_int_equal(cell->joints, map.joints[j]);
            assert_int_equal(cell->instances, v == 0 ? 125 : 6);
            assert_int_equal(cell->measured, possible);
            assert_int_equal(cell->checked, possible);
            for (int f = 0; f < CROSSOVER_FORM_COUNT; f++) {
                /* The seed's form needs subgroups. */
                bool has = possible && (f != CROSSOVER_SEED || cell->forms[f].with > 0.0);
                assert_int_equal(cell->forms[f].with > 0.0, has);
                assert_int_equal(cell->forms[f].without > 0.0, has);
            }
            assert_true(cell->forms[CROSSOVER_PELT].without ==
                        cell->forms[CROSSOVER_JOINTS].without);
        }
    }
    char words[PELT_CROSSOVER_WORDS];
    pelt_crossover_say(&map, words);
    assert_non_null(strstr(words, " of 3 shapes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_every_shape),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, gpu_teardown));
}
