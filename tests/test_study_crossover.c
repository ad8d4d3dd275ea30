/* pelt study crossover without a device: what a map says, and how loose boxes from joints are, on
 * examples worked by hand. */
#include "study/crossover.h"

#include "build_model.h"

#include <stdio.h>
#include <unistd.h>

/* -- maps ---------------------------------------------------------------------------------- */

/* Skinning alone takes 100 in pelt's pass, 200 in the seed's, 300 with atomics. */
static pelt_crossover_cell make_cell(uint32_t vertices, uint32_t joints, double exact,
                                     double from_joints, double seed, double atomics)
{
    return (pelt_crossover_cell){ .vertices = vertices,
                                  .joints = joints,
                                  .instances = 1,
                                  .measured = true,
                                  .checked = true,
                                  .forms = { { .with = 100 + exact, .without = 100 },
                                             { .with = 100 + from_joints, .without = 100 },
                                             { .with = 200 + seed, .without = 200 },
                                             { .with = 300 + atomics, .without = 300 } } };
}

/* Three sizes by two numbers of joints, of which one does not fit the smallest. */
static void make_map(pelt_crossover_map *map)
{
    *map = (pelt_crossover_map){ .total = 4096,
                                 .vertex_count = 3,
                                 .joint_count = 2,
                                 .vertices = { 16, 256, 4096 },
                                 .joints = { 4, 64 } };
    map->cells[0][0] = make_cell(16, 4, 20, 80, 60, 150);   /* 180/120; 280/260; 380/450 */
    map->cells[0][1] = make_cell(256, 4, 11, 10, 60, 150);  /* 110/111; 210/260; 310/450 */
    map->cells[0][2] = make_cell(4096, 4, 25, 0, 100, 300); /* 100/125; 200/300; 300/600 */
    map->cells[1][0] = (pelt_crossover_cell){ .vertices = 16, .joints = 64, .instances = 1 };
    map->cells[1][1] = make_cell(256, 64, 10, 120, 20, 15); /* 220/110; 320/220; 420/315 */
    map->cells[1][2] = make_cell(4096, 64, 10, 9, 10, 9);   /* 109/110; 209/210; 309/309 */
}

static void ratios_are_of_the_same_pass(void **state)
{
    (void)state;
    static pelt_crossover_map map;
    make_map(&map);
    const pelt_crossover_cell *cell = &map.cells[0][0];
    assert_near(pelt_crossover_ratio(cell, CROSSOVER_PELT), 180.0 / 120, 1e-15);
    assert_near(pelt_crossover_ratio(cell, CROSSOVER_SEED), 280.0 / 260, 1e-15);
    assert_near(pelt_crossover_ratio(cell, CROSSOVER_ATOMICS), 380.0 / 450, 1e-15);
    assert_near(pelt_crossover_cost(cell, CROSSOVER_JOINTS), 80, 1e-12);
    assert_true(pelt_crossover_ratio(&map.cells[1][0], CROSSOVER_PELT) == 0.0);
    map.cells[0][0].forms[CROSSOVER_SEED].with = 0.0;
    assert_true(pelt_crossover_ratio(cell, CROSSOVER_SEED) == 0.0);
}

static void winners_are_beyond_the_spread(void **state)
{
    (void)state;
    pelt_crossover_cell cell = make_cell(256, 4, 10, 15, 60, 150);
    assert_int_equal(pelt_crossover_find_winner(&cell, CROSSOVER_PELT), CROSSOVER_EXACT_WINS);
    assert_int_equal(pelt_crossover_find_winner(&cell, CROSSOVER_SEED), CROSSOVER_JOINTS_WIN);
    /* 115/110 is 4.5 % more; spreads of 4 and 5 are half of 9 of 110: 4.1 %; of 5 and 6: 5 %. */
    cell.forms[CROSSOVER_PELT].with_spread = 4;
    cell.forms[CROSSOVER_JOINTS].with_spread = 5;
    assert_int_equal(pelt_crossover_find_winner(&cell, CROSSOVER_PELT), CROSSOVER_EXACT_WINS);
    cell.forms[CROSSOVER_PELT].with_spread = 6;
    assert_int_equal(pelt_crossover_find_winner(&cell, CROSSOVER_PELT), CROSSOVER_EQUAL);
    /* 215/260 is 17.3 % less; here all four times count: 6 of them are known. */
    cell.forms[CROSSOVER_SEED].without_spread = 78;
    assert_int_equal(pelt_crossover_find_winner(&cell, CROSSOVER_SEED), CROSSOVER_JOINTS_WIN);
    cell.forms[CROSSOVER_SEED].with_spread = 8;
    assert_int_equal(pelt_crossover_find_winner(&cell, CROSSOVER_SEED), CROSSOVER_EQUAL);
    cell = make_cell(256, 4, 0, 1.9, 0, 0);
    assert_int_equal(pelt_crossover_find_winner(&cell, CROSSOVER_PELT), CROSSOVER_EQUAL);
    cell.measured = false;
    assert_int_equal(pelt_crossover_find_winner(&cell, CROSSOVER_PELT), CROSSOVER_NO_WINNER);
}

static void expect_description(const pelt_crossover_map *map, pelt_crossover_form form,
                               uint32_t joint, const char *expected)
{
    char text[128];
    pelt_crossover_describe(map, form, joint, text, sizeof(text));
    assert_string_equal(text, expected);
}

static void describes_where_joints_win(void **state)
{
    (void)state;
    static pelt_crossover_map map;
    make_map(&map);
    expect_description(&map, CROSSOVER_PELT, 0, "from 4,096 vertices on");
    expect_description(&map, CROSSOVER_PELT, 1, "never");
    expect_description(&map, CROSSOVER_SEED, 0, "from 256 vertices on");
    expect_description(&map, CROSSOVER_ATOMICS, 0, "at all sizes");
    map.cells[0][0] = make_cell(16, 4, 50, 0, 0, 0);
    expect_description(&map, CROSSOVER_PELT, 0, "up to 16 vertices, from 4,096 vertices on");
    map.cells[0][2] = make_cell(4096, 4, 0, 50, 0, 0);
    expect_description(&map, CROSSOVER_PELT, 0, "up to 16 vertices");
    map.cells[0][0] = make_cell(16, 4, 0, 50, 0, 0);
    map.cells[0][1] = make_cell(256, 4, 50, 0, 0, 0);
    expect_description(&map, CROSSOVER_PELT, 0, "at 256 vertices");
    map.vertex_count = 4;
    map.vertices[3] = 16384;
    map.cells[0][2] = make_cell(4096, 4, 50, 0, 0, 0);
    map.cells[0][3] = make_cell(16384, 4, 0, 50, 0, 0);
    expect_description(&map, CROSSOVER_PELT, 0, "at 256 to 4,096 vertices");
    map.cells[1][1].measured = map.cells[1][2].measured = false;
    expect_description(&map, CROSSOVER_PELT, 1, "");
    /* Cut, not overrun. */
    char text[8];
    pelt_crossover_describe(&map, CROSSOVER_PELT, 0, text, sizeof(text));
    assert_string_equal(text, "at 256 ");
}

static void says_it_in_two_sentences(void **state)
{
    (void)state;
    static pelt_crossover_map map;
    make_map(&map);
    char words[PELT_CROSSOVER_WORDS];
    pelt_crossover_say(&map, words);
    assert_string_equal(
        words,
        "In pelt's pass exact boxes are the faster in 2 of 5 shapes (by up to 2.00: 256 vertices, "
        "64 joints), boxes from joints in 1 (by up to 1.25: 4,096 vertices, 4 joints), and 2 are "
        "equal; exact ones add at most 25 % to skinning without boxes (4,096 vertices, 4 joints). "
        "In the seed's pass exact boxes are the faster in 2 of 5 shapes (by up to 1.45: 256 "
        "vertices, 64 joints), boxes from joints in 2 (by up to 1.50: 4,096 vertices, 4 joints), "
        "and 1 is equal; global atomics lose to boxes from joints in 3 of 5 and add up to 100 %.");

    /* A device that cannot run the seed's form. */
    for (int j = 0; j < 2; j++) {
        for (int v = 0; v < 3; v++) {
            map.cells[j][v].forms[CROSSOVER_SEED] = (pelt_crossover_times){ 0 };
        }
    }
    pelt_crossover_say(&map, words);
    assert_non_null(strstr(words, "The seed's pass this device cannot run; global atomics lose"));
    map.vertex_count = 0;
    pelt_crossover_say(&map, words);
    assert_string_equal(words, "");
}

static void axes_end_at_the_total(void **state)
{
    (void)state;
    static pelt_crossover_map map;
    pelt_crossover_axes(10000000, &map);
    assert_int_equal(map.vertex_count, 8);
    assert_int_equal(map.vertices[7], 262144);
    assert_int_equal(map.joint_count, 5);
    assert_int_equal(map.joints[4], 256);
    pelt_crossover_axes(40000, &map);
    assert_int_equal(map.vertex_count, 6);
    assert_int_equal(map.vertices[5], 16384);
}

/* -- looseness ----------------------------------------------------------------------------- */

/* One joint that a clip of two seconds turns from the start by 0 and from 1 s on by 45 degrees
 * about z, and points of that joint. */
static void write_turned(char *path, const float *positions, uint32_t vertices)
{
    const int32_t parents[] = { -1, -1 };
    pelt_model *model = build_nodes(NULL, parents, 2);
    model->nodes[0].mesh = 0;
    model->nodes[0].skin = 0;
    pelt_primitive *primitive = build_mesh(model, positions, vertices);
    primitive->topology = PELT_POINTS;
    primitive->influence_count = 4;
    primitive->joints = pelt_model_allocate(model, 4 * (size_t)vertices, sizeof(uint16_t));
    primitive->weights = pelt_model_allocate(model, 4 * (size_t)vertices, sizeof(float));
    assert_non_null(primitive->joints);
    assert_non_null(primitive->weights);
    for (size_t v = 0; v < vertices; v++) {
        primitive->weights[4 * v] = 1;
    }
    model->skin_count = 1;
    model->skins = pelt_model_allocate(model, 1, sizeof(*model->skins));
    assert_non_null(model->skins);
    const uint32_t node = 1;
    const float identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    model->skins[0].joint_count = 1;
    model->skins[0].joints = build_copy(model, &node, 1, sizeof(node));
    model->skins[0].inverse_bind = build_copy(model, identity, 12, sizeof(float));
    const float eighth = 0.3926990817f, times[] = { 0, 1, 2 };
    const float turns[] = { 0,
                            0,
                            0,
                            1,
                            0,
                            0,
                            sinf(eighth),
                            cosf(eighth), /**/
                            0,
                            0,
                            sinf(eighth),
                            cosf(eighth) };
    (void)build_clip(model, 1, PELT_ROTATION, PELT_STEP, 3, 4, times, turns);
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    int descriptor = mkstemps(path, 4);
    assert_true(descriptor >= 0);
    (void)close(descriptor);
    assert_int_equal(pelt_gltf_write(NULL, model, path), PELT_OK);
    pelt_model_destroy(model);
}

static void expect_spread(const pelt_spread *spread, uint64_t count, double median, double nineteen,
                          double most)
{
    /* Boxes from joints are widened by eight roundings of floats. */
    assert_int_equal(spread->count, count);
    assert_near(spread->median, median, 1e-5);
    assert_near(spread->nineteen, nineteen, 1e-5);
    assert_near(spread->most, most, 1e-5);
}

static void looseness_is_as_by_hand(void **state)
{
    (void)state;
    char path[] = "/tmp/pelt-crossover-XXXXXX.glb";
    /* Turned, the corners of a square on its tip lie at 1/sqrt(2), those of its box at sqrt(2). */
    const float positions[] = { 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1 };
    write_turned(path, positions, 5);
    pelt_looseness loose;
    assert_int_equal(pelt_looseness_measure(NULL, path, 2, &loose), PELT_OK);
    double edges = (4 * sqrt(2) + 1) / (2 * sqrt(2) + 1);
    assert_int_equal(loose.parts, 1);
    assert_int_equal(loose.joints, 1);
    assert_int_equal(loose.clips, 1);
    assert_int_equal(loose.poses, 2);
    assert_int_equal(loose.flat, 0);
    expect_spread(&loose.edges, 2, 1, edges, edges);
    expect_spread(&loose.volumes, 2, 1, 4, 4);
    expect_spread(&loose.whole_edges, 2, 1, edges, edges);
    expect_spread(&loose.whole_volumes, 2, 1, 4, 4);
    /* At 0, 2/3 and 4/3 seconds. */
    assert_int_equal(pelt_looseness_measure(NULL, path, 3, &loose), PELT_OK);
    expect_spread(&loose.volumes, 3, 1, 4, 4);
    assert_int_equal(pelt_looseness_measure(NULL, path, 4, &loose), PELT_OK);
    expect_spread(&loose.volumes, 4, 1, 4, 4);
    assert_int_equal(pelt_looseness_measure(NULL, path, 1, &loose), PELT_OK);
    expect_spread(&loose.volumes, 1, 1, 1, 1);
    (void)unlink(path);
}

static void flat_boxes_have_no_volume(void **state)
{
    (void)state;
    char path[] = "/tmp/pelt-crossover-XXXXXX.glb";
    const float positions[] = { 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0 };
    write_turned(path, positions, 4);
    pelt_looseness loose;
    assert_int_equal(pelt_looseness_measure(NULL, path, 2, &loose), PELT_OK);
    (void)unlink(path);
    expect_spread(&loose.edges, 2, 1, 2, 2);
    assert_int_equal(loose.volumes.count, 0);
    assert_int_equal(loose.flat, 2);

    /* A single point has no edges either. */
    char point_path[] = "/tmp/pelt-crossover-XXXXXX.glb";
    write_turned(point_path, positions, 1);
    assert_int_equal(pelt_looseness_measure(NULL, point_path, 2, &loose), PELT_OK);
    (void)unlink(point_path);
    assert_int_equal(loose.edges.count, 0);
    assert_int_equal(loose.volumes.count, 0);
    assert_int_equal(loose.flat, 0);
}

static void boxes_from_joints_are_never_smaller(void **state)
{
    (void)state;
    pelt_looseness loose;
    assert_int_equal(pelt_looseness_measure(NULL, NULL, 3, &loose), PELT_OK);
    assert_int_equal(loose.poses, 6);
    assert_int_equal(loose.edges.count, 6);
    assert_true(loose.edges.median >= 1 && loose.edges.median <= loose.edges.most);
    assert_true(loose.volumes.median >= loose.edges.median && loose.volumes.most < 100);
    assert_int_equal(pelt_looseness_measure(NULL, "/tmp/missing-pelt.glb", 1, &loose),
                     PELT_ERROR_IO);
}

static void unwinds_without_memory(void **state)
{
    (void)state;
    char path[] = "/tmp/pelt-crossover-XXXXXX.glb";
    const float positions[] = { 1, 0, 0, 0, 2, 1 };
    write_turned(path, positions, 2);
    pelt_looseness loose;
    pelt_result result = PELT_ERROR_MEMORY;
    for (long calls = 0; result != PELT_OK; calls++) {
        assert_int_equal(result, PELT_ERROR_MEMORY);
        meter m = { .calls_left = calls };
        const pelt_host host = { .user = &m, .allocate = metered };
        result = pelt_looseness_measure(&host, path, 2, &loose);
        assert_int_equal(m.alive, 0);
    }
    assert_int_equal(loose.poses, 2);
    (void)unlink(path);
}

/* -- the page ------------------------------------------------------------------------------ */

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    (void)fclose(file);
    return text;
}

static void plots_cells_and_characters(void **state)
{
    (void)state;
    static pelt_crossover_map map;
    make_map(&map);
    char path[] = "/tmp/pelt-crossover-XXXXXX.svg";
    int descriptor = mkstemps(path, 4);
    assert_true(descriptor >= 0);
    (void)close(descriptor);
    const pelt_looseness loose[] = {
        { .name = "folder/a <fox>.glb",
          .edges = { 1, 1.5, 1.75, 2.25 },
          .volumes = { 1, 2, 3, 4 } },
        { .name = "a name that is longer than there is room for on the page.glb",
          .edges = { 1, 1.5, 1.75, 2 } },
    };
    assert_int_equal(pelt_crossover_plot(NULL, path, "a device & more", &map, loose, 2), PELT_OK);
    char *text = read_text(path);
    static const char *const expected[] = {
        "a device &amp; more", ">1.50<",        ">2.00<",        ">1.25<",        ">4 k<",
        ">a &lt;fox&gt;<",     ">1.50 / 2.25<", ">2.00 / 4.00<", "\xe2\x80\xa6<", "</svg>",
    };
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        if (!strstr(text, expected[i])) {
            fail_msg("the page lacks %s", expected[i]);
        }
    }
    assert_null(strstr(text, "folder/"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf\""));
    free(text);
    assert_int_equal(pelt_crossover_plot(NULL, path, "x", NULL, loose, 1), PELT_OK);
    text = read_text(path);
    assert_null(strstr(text, "vertices a mesh"));
    free(text);
    (void)unlink(path);
    assert_int_equal(pelt_crossover_plot(NULL, "/nowhere/x.svg", "x", &map, loose, 2),
                     PELT_ERROR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ratios_are_of_the_same_pass),
        cmocka_unit_test(winners_are_beyond_the_spread),
        cmocka_unit_test(describes_where_joints_win),
        cmocka_unit_test(says_it_in_two_sentences),
        cmocka_unit_test(axes_end_at_the_total),
        cmocka_unit_test(looseness_is_as_by_hand),
        cmocka_unit_test(flat_boxes_have_no_volume),
        cmocka_unit_test(boxes_from_joints_are_never_smaller),
        cmocka_unit_test(unwinds_without_memory),
        cmocka_unit_test(plots_cells_and_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
