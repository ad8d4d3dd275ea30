/* Normals and tangents for primitives that have none. */
#include "tests/build_model.h"

#define NEAR 1e-6 /* results are floats */

static void check(const float *value, double x, double y, double z)
{
    if (!value) {
        fail_msg("there is no direction");
        return;
    }
    assert_near((double)value[0], x, NEAR);
    assert_near((double)value[1], y, NEAR);
    assert_near((double)value[2], z, NEAR);
}

/* A tent of two triangles over a shared ridge (vertices 0 and 1), as a strip. */
static pelt_model *build_tent(pelt_primitive **out)
{
    const int32_t parents[] = { -1 };
    const float positions[] = { -1, 0, 0, 0, 0, 1, 0, 2, 1, 1, 2, 0 };
    pelt_model *model = build_nodes(NULL, parents, 1);
    pelt_primitive *primitive = build_mesh(model, positions, 4);
    model->nodes[0].mesh = 0;
    primitive->topology = PELT_TRIANGLE_STRIP;
    *out = primitive;
    return model;
}

static void gives_each_triangle_its_own_normal(void **state)
{
    (void)state;
    pelt_primitive *primitive;
    pelt_model *model = build_tent(&primitive);
    const uint16_t joints[] = { 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0 };
    const float weights[] = { 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0 };
    const float texcoords[] = { 0, 0, 1, 0, 2, 0, 3, 0 };
    const float tangents[16] = { 1 }, deltas[] = { 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3 };
    primitive->influence_count = 4;
    primitive->joints = build_copy(model, joints, 16, sizeof(*joints));
    primitive->weights = build_copy(model, weights, 16, sizeof(float));
    primitive->texcoords = build_copy(model, texcoords, 8, sizeof(float));
    primitive->tangents = build_copy(model, tangents, 16, sizeof(float));
    primitive->target_count = 1;
    primitive->targets = pelt_model_allocate(model, 1, sizeof(*primitive->targets));
    primitive->targets[0].positions = build_copy(model, deltas, 12, sizeof(float));
    primitive->targets[0].normals = build_copy(model, deltas, 12, sizeof(float));
    assert_int_equal(pelt_model_add_normals(model), PELT_OK);

    /* The strip's triangles: 0 1 2 and 1 3 2. */
    const uint32_t source[] = { 0, 1, 2, 1, 3, 2 };
    assert_int_equal(primitive->topology, PELT_TRIANGLES);
    assert_int_equal(primitive->vertex_count, 6);
    assert_int_equal(primitive->index_count, 0);
    assert_null(primitive->indices);
    assert_memory_equal(primitive->source_vertices, source, sizeof(source));
    for (int i = 0; i < 6; i++) {
        assert_int_equal(primitive->joints[4 * i], source[i]);
        assert_true(primitive->weights[4 * i] == 1);
        assert_true(primitive->texcoords[2 * i] == (float)source[i]);
        assert_true(primitive->targets[0].positions[3 * i + 2] == (float)source[i]);
    }
    /* (1 0 1) x (1 2 1) = (-2 0 2); (1 2 -1) x (0 2 0) = (2 0 2). */
    for (int i = 0; i < 3; i++) {
        check(primitive->normals + 3 * i, -sqrt(0.5), 0, sqrt(0.5));
        check(primitive->normals + 9 + 3 * i, sqrt(0.5), 0, sqrt(0.5));
    }
    assert_null(primitive->tangents);
    assert_null(primitive->targets[0].normals);
    assert_int_equal(pelt_model_finish(model), PELT_OK);

    /* Nothing is left to do, so nothing changes. */
    const float *normals = primitive->normals;
    assert_int_equal(pelt_model_add_normals(model), PELT_OK);
    assert_ptr_equal(primitive->normals, normals);
    pelt_model_destroy(model);
}

static void keeps_degenerate_triangles_finite(void **state)
{
    (void)state;
    const int32_t parents[] = { -1 };
    const float positions[] = { 1, 1, 1, 2, 3, 4, 3, 5, 7, 5, 5, 5, 1e18f, 0, 0, 0, 1e-18f, 0 };
    const uint32_t indices[] = { 0, 1, 2, 3, 3, 0, 0, 0, 0, 3, 4, 5 };
    pelt_model *model = build_nodes(NULL, parents, 1);
    pelt_primitive *primitive = build_mesh(model, positions, 6);
    primitive->index_count = 12;
    primitive->indices = build_copy(model, indices, 12, sizeof(*indices));
    assert_int_equal(pelt_model_add_normals(model), PELT_OK);
    for (int i = 0; i < 9; i++) {
        check(primitive->normals + 3 * i, 0, 0, 1);
    }
    for (int i = 9; i < 12; i++) {
        const float *n = primitive->normals + 3 * i;
        double square =
            (double)n[0] * (double)n[0] + (double)n[1] * (double)n[1] + (double)n[2] * (double)n[2];
        assert_near(square, 1, NEAR);
    }
    pelt_model_destroy(model);
}

static void keeps_very_small_triangles(void **state)
{
    (void)state;
    const int32_t parents[] = { -1 };
    const float positions[] = { 0, 0, 0, 0, 1e-20f, 0, 0, 0, 1e-20f };
    pelt_model *model = build_nodes(NULL, parents, 1);
    pelt_primitive *primitive = build_mesh(model, positions, 3);
    assert_int_equal(pelt_model_add_normals(model), PELT_OK);
    check(primitive->normals, 1, 0, 0);
    pelt_model_destroy(model);
}

static void leaves_points_and_lines(void **state)
{
    (void)state;
    pelt_primitive *primitive;
    pelt_model *model = build_tent(&primitive);
    primitive->topology = PELT_LINES;
    assert_int_equal(pelt_model_add_normals(model), PELT_OK);
    assert_int_equal(pelt_model_add_tangents(model, true), PELT_OK);
    assert_null(primitive->normals);
    assert_int_equal(primitive->vertex_count, 4);
    pelt_model_destroy(model);
}

/* Two squares side by side in the xy plane, seen from +z: vertices 0 to 2 below, 3 to 5 above.
 * u is |x|, so the left square is mirrored; v falls as y rises, as an upright image has it. */
static pelt_model *build_squares(pelt_primitive **out)
{
    const int32_t parents[] = { -1 };
    const float positions[] = { -1, 0, 0, 0, 0, 0, 1, 0, 0, -1, 1, 0, 0, 1, 0, 1, 1, 0 };
    const float texcoords[] = { 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0 };
    const float normals[] = { 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1 };
    const uint32_t indices[] = { 0, 1, 4, 0, 4, 3, 1, 2, 5, 1, 5, 4 };
    pelt_model *model = build_nodes(NULL, parents, 1);
    pelt_primitive *primitive = build_mesh(model, positions, 6);
    primitive->normals = build_copy(model, normals, 18, sizeof(float));
    primitive->texcoords = build_copy(model, texcoords, 12, sizeof(float));
    primitive->index_count = 12;
    primitive->indices = build_copy(model, indices, 12, sizeof(*indices));
    *out = primitive;
    return model;
}

static void points_tangents_along_rising_u(void **state)
{
    (void)state;
    pelt_primitive *primitive;
    pelt_model *model = build_squares(&primitive);
    primitive->index_count = 6;
    primitive->indices += 6; /* the right square alone */
    assert_int_equal(pelt_model_add_tangents(model, true), PELT_OK);
    assert_int_equal(primitive->vertex_count, 6);
    assert_null(primitive->source_vertices);
    const int used[] = { 1, 2, 4, 5 };
    for (int i = 0; i < 4; i++) {
        /* An upright image: cross(z, x) = y points up in it, so w = 1. */
        check(primitive->tangents + 4 * used[i], 1, 0, 0);
        assert_true(primitive->tangents[4 * used[i] + 3] == 1);
    }
    /* Vertices that no triangle uses get some unit vector in the plane. */
    check(primitive->tangents, 1, 0, 0);
    pelt_model_destroy(model);
}

static void splits_vertices_at_mirrored_seams(void **state)
{
    (void)state;
    pelt_primitive *primitive;
    pelt_model *model = build_squares(&primitive);
    assert_int_equal(pelt_model_add_tangents(model, true), PELT_OK);
    /* 1 and 4, on the seam, are now two each; the others stay where they were. */
    const uint32_t source[] = { 0, 1, 2, 3, 4, 5, 1, 4 };
    const uint32_t indices[] = { 0, 6, 7, 0, 7, 3, 1, 2, 5, 1, 5, 4 };
    assert_int_equal(primitive->vertex_count, 8);
    assert_memory_equal(primitive->source_vertices, source, sizeof(source));
    assert_int_equal(primitive->index_count, 12);
    assert_memory_equal(primitive->indices, indices, sizeof(indices));
    for (int i = 0; i < 8; i++) {
        bool left = i == 0 || i == 3 || i >= 6;
        check(primitive->tangents + 4 * i, left ? -1 : 1, 0, 0);
        assert_true(primitive->tangents[4 * i + 3] == (left ? -1.0f : 1.0f));
        assert_memory_equal(primitive->positions + 3 * i, primitive->positions + 3 * source[i], 12);
        assert_memory_equal(primitive->texcoords + 2 * i, primitive->texcoords + 2 * source[i], 8);
    }
    pelt_model_destroy(model);
}

/* A strip that needs a split becomes an indexed list; triangles 0 1 2 and 1 3 2, the second
 * mirrored, share 1 and 2. */
static void splits_strips_too(void **state)
{
    (void)state;
    const int32_t parents[] = { -1 };
    const float positions[] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0 };
    const float texcoords[] = { 0, 1, 1, 1, 0, 0, 0, 1 };
    const float normals[] = { 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1 };
    pelt_model *model = build_nodes(NULL, parents, 1);
    pelt_primitive *primitive = build_mesh(model, positions, 4);
    primitive->topology = PELT_TRIANGLE_STRIP;
    primitive->normals = build_copy(model, normals, 12, sizeof(float));
    primitive->texcoords = build_copy(model, texcoords, 8, sizeof(float));
    assert_int_equal(pelt_model_add_tangents(model, true), PELT_OK);
    const uint32_t indices[] = { 0, 1, 2, 4, 3, 5 }, source[] = { 0, 1, 2, 3, 1, 2 };
    assert_int_equal(primitive->topology, PELT_TRIANGLES);
    assert_int_equal(primitive->index_count, 6);
    assert_memory_equal(primitive->indices, indices, sizeof(indices));
    assert_memory_equal(primitive->source_vertices, source, sizeof(source));
    pelt_model_destroy(model);
}

/* Around the vertex 0 with normal z lie a triangle of 90 degrees whose u rises along x, and one of
 * 45 degrees whose u rises along y (cut into two of 22.5 degrees, which must not change it). The
 * sum is 90 x + 45 y. */
static void weights_by_angle(void **state)
{
    (void)state;
    const int32_t parents[] = { -1 };
    const double eighth = acos(-1) / 8;
    const float t = (float)tan(eighth);
    /* 0 and its copies share nothing but the index 0: other corners are apart. u, v of corner p of
     * the second kind: u = y, v = x. */
    const float positions[] = { 0,  0,  0, 1,  0,  0, 0, 1, 0, /* 1, 2: the square corner */
                                -1, 0,  0, -1, -t, 0,          /* 3, 4 */
                                -1, -1, 0 };                   /* 5 */
    const float texcoords[] = { 0, 0, 1, 0, 0, -1, 0, -1, -t, -1, -1, -1 };
    const float normals[] = { 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1 };
    const uint32_t indices[] = { 0, 1, 2, 0, 3, 4, 0, 4, 5 };
    pelt_model *model = build_nodes(NULL, parents, 1);
    pelt_primitive *primitive = build_mesh(model, positions, 6);
    primitive->normals = build_copy(model, normals, 18, sizeof(float));
    primitive->texcoords = build_copy(model, texcoords, 12, sizeof(float));
    primitive->index_count = 9;
    primitive->indices = build_copy(model, indices, 9, sizeof(*indices));
    assert_int_equal(pelt_model_add_tangents(model, true), PELT_OK);
    assert_int_equal(primitive->vertex_count, 6);
    check(primitive->tangents, 2 / sqrt(5), 1 / sqrt(5), 0);
    assert_true(primitive->tangents[3] == 1);
    pelt_model_destroy(model);
}

static void keeps_tangents_in_the_plane_of_the_normal(void **state)
{
    (void)state;
    pelt_primitive *primitive;
    pelt_model *model = build_squares(&primitive);
    for (int i = 0; i < 6; i++) {
        primitive->normals[3 * i] = 0.6f;
        primitive->normals[3 * i + 2] = 0.8f;
    }
    primitive->normals[0] = primitive->normals[2] = 0; /* one without a direction: as (0 0 1) */
    assert_int_equal(pelt_model_add_tangents(model, true), PELT_OK);
    check(primitive->tangents + 4 * 2, 0.8, 0, -0.6);
    check(primitive->tangents + 4 * 3, -0.8, 0, 0.6);
    check(primitive->tangents, -1, 0, 0);
    pelt_model_destroy(model);
}

static void falls_back_without_a_direction_of_u(void **state)
{
    (void)state;
    pelt_primitive *primitive;
    pelt_model *model = build_squares(&primitive);
    memset(primitive->texcoords, 0, 12 * sizeof(float));
    primitive->normals[0] = 1;
    primitive->normals[2] = 0;
    assert_int_equal(pelt_model_add_tangents(model, true), PELT_OK);
    assert_int_equal(primitive->vertex_count, 6);
    check(primitive->tangents, 0, 1, 0); /* the first axis at right angles to x */
    check(primitive->tangents + 4, 1, 0, 0);
    assert_true(primitive->tangents[3] == 1);
    pelt_model_destroy(model);
}

static void asks_for_a_normal_map_unless_all(void **state)
{
    (void)state;
    pelt_primitive *primitive;
    pelt_model *model = build_squares(&primitive);
    const float deltas[18] = { 0 };
    const pelt_material materials[] = { { .base_color_image = -1 }, { .has_normal_map = true } };
    model->material_count = 2;
    model->materials = build_copy(model, materials, 2, sizeof(*materials));
    primitive->target_count = 1;
    primitive->targets = pelt_model_allocate(model, 1, sizeof(*primitive->targets));
    primitive->targets[0].tangents = build_copy(model, deltas, 18, sizeof(float));
    assert_int_equal(pelt_model_add_tangents(model, false), PELT_OK);
    assert_null(primitive->tangents);
    primitive->material = 0;
    assert_int_equal(pelt_model_add_tangents(model, false), PELT_OK);
    assert_null(primitive->tangents);
    primitive->material = 1;
    assert_int_equal(pelt_model_add_tangents(model, false), PELT_OK);
    assert_non_null(primitive->tangents);
    assert_null(primitive->targets[0].tangents);
    pelt_model_destroy(model);
}

/* Flat normals first, tangents after: vertices still lead to the file's. */
static void composes_sources(void **state)
{
    (void)state;
    pelt_primitive *primitive;
    pelt_model *model = build_squares(&primitive);
    primitive->normals = NULL;
    assert_int_equal(pelt_model_add_normals(model), PELT_OK);
    assert_int_equal(pelt_model_add_tangents(model, true), PELT_OK);
    const uint32_t source[] = { 0, 1, 4, 0, 4, 3, 1, 2, 5, 1, 5, 4 };
    assert_int_equal(primitive->vertex_count, 12);
    assert_memory_equal(primitive->source_vertices, source, sizeof(source));
    for (int i = 0; i < 12; i++) {
        check(primitive->normals + 3 * i, 0, 0, 1);
        check(primitive->tangents + 4 * i, i < 6 ? -1 : 1, 0, 0);
    }
    pelt_model_destroy(model);
}

/* A strip of 600 vertices, x rising from 0 to 299, mirrored about x = 150; every array is a block
 * of its own in the arena. */
static pelt_model *build_long_strip(const pelt_host *host, pelt_primitive **out)
{
    enum { COUNT = 600 };
    static float positions[3 * COUNT], texcoords[2 * COUNT], normals[3 * COUNT];
    const int32_t parents[] = { -1 };
    for (int i = 0; i < COUNT; i++) {
        int x = i / 2;
        positions[3 * i] = (float)x;
        positions[3 * i + 1] = (float)(i % 2);
        texcoords[2 * i] = fabsf((float)(x - 150));
        texcoords[2 * i + 1] = -(float)(i % 2);
        normals[3 * i + 2] = 1;
    }
    pelt_model *model = build_nodes(host, parents, 1);
    pelt_primitive *primitive = build_mesh(model, positions, COUNT);
    primitive->topology = PELT_TRIANGLE_STRIP;
    primitive->normals = build_copy(model, normals, COUNT, 3 * sizeof(float));
    primitive->texcoords = build_copy(model, texcoords, COUNT, 2 * sizeof(float));
    primitive->target_count = 1;
    primitive->targets = pelt_model_allocate(model, 1, sizeof(*primitive->targets));
    assert_non_null(primitive->targets);
    primitive->targets[0].positions = build_copy(model, positions, COUNT, 3 * sizeof(float));
    *out = primitive;
    return model;
}

/* Whichever allocation fails, the primitive is as it was before, or done: 598 triangles with 1,794
 * vertices of their own; 602 vertices with the two at the seam split. */
static void unwinds_when_any_allocation_fails(void **state)
{
    (void)state;
    meter m = { 0 };
    const pelt_host host = { .user = &m, .allocate = metered };
    for (int tangents = 0; tangents < 2; tangents++) {
        pelt_result result = PELT_ERROR_MEMORY;
        long n = 0;
        for (; result != PELT_OK; n++) {
            assert_true(n < 100);
            m.calls_left = 1000;
            pelt_primitive *primitive;
            pelt_model *model = build_long_strip(&host, &primitive);
            if (!tangents) {
                primitive->normals = NULL;
            }
            long alive = m.alive;
            m.calls_left = n;
            result =
                tangents ? pelt_model_add_tangents(model, true) : pelt_model_add_normals(model);
            bool done = result == PELT_OK;
            assert_true(done || result == PELT_ERROR_MEMORY);
            assert_true(done || m.alive == alive);
            assert_int_equal(primitive->vertex_count, !done ? 600 : tangents ? 602 : 1794);
            assert_true(!primitive->source_vertices == !done);
            assert_true(!primitive->tangents == !(done && tangents));
            assert_true(primitive->targets[0].positions[3 * 599] == 299 || done);
            pelt_model_destroy(model);
            assert_int_equal(m.alive, 0);
        }
        assert_true(n > 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_each_triangle_its_own_normal),
        cmocka_unit_test(keeps_degenerate_triangles_finite),
        cmocka_unit_test(keeps_very_small_triangles),
        cmocka_unit_test(leaves_points_and_lines),
        cmocka_unit_test(points_tangents_along_rising_u),
        cmocka_unit_test(splits_vertices_at_mirrored_seams),
        cmocka_unit_test(splits_strips_too),
        cmocka_unit_test(weights_by_angle),
        cmocka_unit_test(keeps_tangents_in_the_plane_of_the_normal),
        cmocka_unit_test(falls_back_without_a_direction_of_u),
        cmocka_unit_test(asks_for_a_normal_map_unless_all),
        cmocka_unit_test(composes_sources),
        cmocka_unit_test(unwinds_when_any_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
