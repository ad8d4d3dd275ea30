/* Cutting a mesh into clusters: every triangle once, within the limits, by the right joints. */
#include "build_model.h"
#include "cluster_fixture.h"

/* Level 0 has exactly these triangles of the primitive's vertices. */
static void check_triangles(const pelt_clusters *clusters, const pelt_packed_mesh *mesh,
                            const uint32_t *expected, uint32_t count)
{
    assert_int_equal(clusters->lods[0].triangle_count, count);
    uint32_t *sorted = allocate(count, 3 * sizeof(*sorted));
    memcpy(sorted, expected, count * 3 * sizeof(*sorted));
    sort_triangles(sorted, count);
    uint32_t *found = level_triangles(clusters, mesh, 0);
    assert_memory_equal(found, sorted, count * 3 * sizeof(*sorted));
    free(found);
    free(sorted);
}

static void every_triangle_is_in_one_cluster(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 1, 2, 3, 62, 63, 64, 65, 125, 126, 127, 1000, 20000 };
    static const uint32_t widths[] = { 2, 3, 9, 64, 101 };
    for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
            pelt_primitive p = make_grid(widths[w], counts[i], 4);
            random_influences(&p, 4, 30, i);
            pelt_packed_mesh *mesh = pack_anyhow(&p);
            pelt_clusters *clusters = cut(mesh, &p);
            assert_int_equal(clusters->lod_count, 1);
            assert_true(clusters->lods[0].error == 0.0f && clusters->lods[0].bind_error == 0.0f);
            check_records(clusters, mesh, 64, 126);
            check_triangles(clusters, mesh, p.indices, counts[i]);
            pelt_clusters_destroy(clusters);
            pelt_packed_mesh_destroy(mesh);
            free_surface(&p);
        }
    }
}

static void clusters_are_full(void **state)
{
    (void)state;
    /* Patches of 7 x 7 quads, as good as a grid can be cut, have 64 vertices and 98 triangles. */
    pelt_primitive p = make_grid(141, 140 * 140 * 2, 0);
    pelt_packed_mesh *mesh = pack_anyhow(&p);
    pelt_clusters *clusters = cut(mesh, &p);
    double triangles = (double)clusters->triangle_count / clusters->cluster_count;
    print_message("%u clusters of %.1f triangles and %.1f vertices\n", clusters->cluster_count,
                  triangles, (double)clusters->vertex_count / clusters->cluster_count);
    assert_true(triangles > 80.0);
    assert_int_equal(clusters->lods[0].vertex_count, 141 * 141);
    pelt_clusters_destroy(clusters);
    pelt_packed_mesh_destroy(mesh);
    free_surface(&p);
}

static void limits_are_kept(void **state)
{
    (void)state;
    pelt_primitive p = make_grid(20, 600, 4);
    random_influences(&p, 4, 30, 1);
    pelt_packed_mesh *mesh = pack_anyhow(&p);
    for (uint32_t vertices = 3; vertices <= 64; vertices += vertices < 8 ? 1 : 14) {
        for (uint32_t triangles = 1; triangles <= 126; triangles += triangles < 9 ? 1 : 39) {
            pelt_clusters *clusters;
            pelt_clusters_info info = { .mesh = mesh,
                                        .primitive = &p,
                                        .most_vertices = vertices,
                                        .most_triangles = triangles };
            assert_int_equal(pelt_clusters_create(NULL, &info, &clusters), PELT_OK);
            check_records(clusters, mesh, vertices, triangles);
            check_triangles(clusters, mesh, p.indices, 600);
            pelt_clusters_destroy(clusters);
        }
    }
    pelt_packed_mesh_destroy(mesh);
    free_surface(&p);
}

static void strips_and_fans_become_triangles(void **state)
{
    (void)state;
    static const uint32_t strip[4][3] = { { 0, 1, 2 }, { 1, 3, 2 }, { 2, 3, 4 }, { 3, 5, 4 } };
    static const uint32_t fan[4][3] = { { 1, 2, 0 }, { 2, 3, 0 }, { 3, 4, 0 }, { 4, 5, 0 } };
    static const uint32_t list[2][3] = { { 0, 1, 2 }, { 3, 4, 5 } };
    const struct {
        pelt_topology topology;
        const uint32_t *triangles;
        uint32_t count;
    } given[] = { { PELT_TRIANGLE_STRIP, strip[0], 4 },
                  { PELT_TRIANGLE_FAN, fan[0], 4 },
                  { PELT_TRIANGLES, list[0], 2 } };
    uint32_t indices[6] = { 5, 4, 3, 2, 1, 0 };
    for (int i = 0; i < 6; i++) {
        pelt_primitive p = make_primitive(6, 0, 1);
        uint32_t expected[12];
        bool indexed = i >= 3;
        p.topology = given[i % 3].topology;
        p.index_count = indexed ? 6 : 0;
        p.indices = indexed ? indices : NULL;
        for (uint32_t k = 0; k < 3 * given[i % 3].count; k++) {
            uint32_t corner = given[i % 3].triangles[k];
            expected[k] = indexed ? indices[corner] : corner;
        }
        pelt_packed_mesh *mesh = pack_anyhow(&p);
        pelt_clusters *clusters = cut(mesh, &p);
        check_triangles(clusters, mesh, expected, given[i % 3].count);
        pelt_clusters_destroy(clusters);
        pelt_packed_mesh_destroy(mesh);
        free_primitive(&p);
    }
}

static void lines_of_two_corners_are_left_out(void **state)
{
    (void)state;
    pelt_primitive p = make_primitive(4, 0, 1);
    uint32_t indices[] = { 0, 1, 1, 0, 1, 2, 3, 3, 3, 2, 1, 2, 2, 1, 3, 0, 1, 2 };
    static const uint32_t expected[] = { 0, 1, 2, 2, 1, 3, 0, 1, 2 };
    p.topology = PELT_TRIANGLES;
    p.index_count = 18;
    p.indices = indices;
    pelt_packed_mesh *mesh = pack_anyhow(&p);
    pelt_clusters *clusters = cut(mesh, &p);
    check_triangles(clusters, mesh, expected, 3); /* the same triangle given twice is there twice */
    pelt_clusters_destroy(clusters);
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

/* Coordinates whose squares overflow, or that are all the same. */
static void any_coordinates_will_do(void **state)
{
    (void)state;
    static const float scales[] = { 1e18f, 1e-30f, 0.0f, 1e-45f };
    for (int i = 0; i < 8; i++) {
        pelt_primitive p = make_grid(30, 1500, 4);
        random_influences(&p, 4, 30, 1);
        for (size_t k = 0; k < 3 * (size_t)p.vertex_count; k++) {
            float unit = p.positions[k] / 60.0f; /* at most 1 */
            p.positions[k] = i < 4 ? unit * scales[i] : (2.0f * unit - 1.0f) * scales[i - 4];
        }
        /* One far away from all others. */
        p.positions[0] = i == 3 ? 1e18f : p.positions[0];
        pelt_packed_mesh *mesh = pack_anyhow(&p);
        pelt_clusters *clusters;
        const pelt_clusters_info info = { .mesh = mesh, .primitive = &p, .lod_count = 4 };
        assert_int_equal(pelt_clusters_create(NULL, &info, &clusters), PELT_OK);
        for (uint32_t lod = 0; lod < clusters->lod_count; lod++) {
            assert_true(isfinite(clusters->lods[lod].error));
        }
        check_records(clusters, mesh, 64, 126);
        check_triangles(clusters, mesh, p.indices, 1500);
        pelt_clusters_destroy(clusters);
        pelt_packed_mesh_destroy(mesh);
        free_surface(&p);
    }
}

/* Triangles that share no vertex, all in one place: nothing is left of them once they are put
 * together. */
static void triangles_in_one_place_have_one_level(void **state)
{
    (void)state;
    pelt_primitive p = make_primitive(3000, 0, 1);
    p.topology = PELT_TRIANGLES;
    memset(p.positions, 0, 3000 * 3 * sizeof(float));
    pelt_packed_mesh *mesh = pack_anyhow(&p);
    pelt_clusters *clusters;
    const pelt_clusters_info info = { .mesh = mesh, .primitive = &p, .lod_count = 4 };
    assert_int_equal(pelt_clusters_create(NULL, &info, &clusters), PELT_OK);
    check_records(clusters, mesh, 64, 126);
    assert_int_equal(clusters->lod_count, 1);
    assert_int_equal(clusters->lods[0].triangle_count, 1000);
    pelt_clusters_destroy(clusters);
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

/* Two hundred thousand triangles around one vertex, or in one place: not in quadratic time. */
static void tangles_come_to_an_end(void **state)
{
    (void)state;
    enum { COUNT = 200001 };
    for (int one_place = 0; one_place < 2; one_place++) {
        pelt_primitive p = make_primitive(COUNT, 0, 1);
        uint32_t triangle_count = one_place ? COUNT / 3 : COUNT - 2;
        p.topology = one_place ? PELT_TRIANGLES : PELT_TRIANGLE_FAN;
        for (size_t i = 0; one_place && i < 3 * (size_t)COUNT; i++) {
            p.positions[i] = 1.0f;
        }
        pelt_packed_mesh *mesh = pack(&p);
        pelt_clusters *clusters;
        const pelt_clusters_info info = { .mesh = mesh, .primitive = &p, .lod_count = 4 };
        assert_int_equal(pelt_clusters_create(NULL, &info, &clusters), PELT_OK);
        check_records(clusters, mesh, 64, 126);
        uint32_t *expected = allocate(triangle_count, 3 * sizeof(*expected));
        pelt_primitive_triangles(&p, expected);
        check_triangles(clusters, mesh, expected, triangle_count);
        free(expected);
        pelt_clusters_destroy(clusters);
        pelt_packed_mesh_destroy(mesh);
        free_primitive(&p);
    }
}

static void more_joints_than_fit_make_more_clusters(void **state)
{
    (void)state;
    /* 24 influences a vertex of 2000 joints: a cluster of 64 vertices would have about 1000. */
    pelt_primitive p = make_grid(20, 600, 24);
    random_influences(&p, 24, 2000, 5);
    pelt_packed_mesh *mesh = pack_anyhow(&p);
    assert_int_equal(mesh->joint_bytes, 2);
    assert_true(mesh->set_count >= 5);
    pelt_clusters *clusters = cut(mesh, &p);
    assert_true(clusters->most_joints > 200);
    check_records(clusters, mesh, 64, 126);
    check_triangles(clusters, mesh, p.indices, 600);
    pelt_clusters_destroy(clusters);
    pelt_packed_mesh_destroy(mesh);
    free_surface(&p);
}

static void no_triangles_no_clusters(void **state)
{
    (void)state;
    uint32_t indices[] = { 0, 0, 1, 2, 1, 2 };
    for (uint32_t count = 2; count <= 6; count += 4) {
        pelt_primitive p = make_primitive(4, 0, 1);
        p.topology = PELT_TRIANGLES;
        p.index_count = count;
        p.indices = indices;
        pelt_packed_mesh *mesh = pack_anyhow(&p);
        pelt_clusters *clusters;
        pelt_clusters_info info = { .mesh = mesh, .primitive = &p, .lod_count = 4 };
        assert_int_equal(pelt_clusters_create(NULL, &info, &clusters), PELT_OK);
        assert_int_equal(clusters->lod_count, 1);
        assert_int_equal(clusters->cluster_count, 0);
        assert_int_equal(clusters->lods[0].cluster_count, 0);
        assert_int_equal(clusters->lods[0].vertex_count, 0);
        pelt_clusters_destroy(clusters);
        pelt_packed_mesh_destroy(mesh);
        free_primitive(&p);
    }
}

static void keep_text(void *user, const pelt_message *message)
{
    (void)snprintf(user, 128, "%s", message->text);
}

static pelt_result refusal(const pelt_clusters_info *info, const char *text)
{
    char said[128] = "";
    pelt_host host = { .user = said, .message = keep_text };
    pelt_clusters *clusters = (pelt_clusters *)1;
    pelt_result result = pelt_clusters_create(&host, info, &clusters);
    assert_null(clusters);
    assert_non_null(strstr(said, text));
    return result;
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    pelt_primitive p = make_grid(3, 4, 4), other = make_primitive(5, 0, 1);
    random_influences(&p, 4, 30, 1);
    pelt_packed_mesh *mesh = pack_anyhow(&p);
    const pelt_clusters_info good = { .mesh = mesh, .primitive = &p };
    const float pose[12] = { 0 };
    pelt_clusters_info info = good;
    info.lod_count = 9;
    assert_int_equal(refusal(&info, "levels"), PELT_ERROR_ARGUMENT);
    info = good;
    info.most_vertices = 65;
    assert_int_equal(refusal(&info, "64 vertices"), PELT_ERROR_ARGUMENT);
    info.most_vertices = 2;
    assert_int_equal(refusal(&info, "3 to 64"), PELT_ERROR_ARGUMENT);
    info = good;
    info.most_triangles = 127;
    assert_int_equal(refusal(&info, "126 triangles"), PELT_ERROR_ARGUMENT);
    info = good;
    info.primitive = &other;
    assert_int_equal(refusal(&info, "not packed from"), PELT_ERROR_ARGUMENT);
    info = good;
    info.poses = pose;
    info.pose_count = 1;
    info.joint_count = 1;
    assert_int_equal(refusal(&info, "fewer joints"), PELT_ERROR_ARGUMENT);
    for (int topology = PELT_POINTS; topology <= PELT_LINE_STRIP; topology++) {
        p.topology = (pelt_topology)topology;
        assert_int_equal(refusal(&good, "points and lines"), PELT_ERROR_ARGUMENT);
    }
    p.topology = PELT_TRIANGLES;
    pelt_packed_mesh_destroy(mesh);
    free_surface(&p);
    free_primitive(&other);
}

static void a_triangle_of_too_many_joints_is_refused(void **state)
{
    (void)state;
    /* Each vertex by 96 joints of its own, of equal weights. */
    pelt_primitive p = make_grid(2, 1, 96);
    for (uint32_t i = 0; i < p.vertex_count * 96; i++) {
        p.joints[i] = (uint16_t)i;
        p.weights[i] = 1.0f / 96.0f;
    }
    pelt_packed_mesh *mesh = pack_anyhow(&p);
    assert_int_equal(refusal(&(pelt_clusters_info){ .mesh = mesh, .primitive = &p }, "joints"),
                     PELT_ERROR_RANGE);
    pelt_packed_mesh_destroy(mesh);
    free_surface(&p);
}

static void without_memory_nothing_is_left(void **state)
{
    (void)state;
    pelt_primitive p = make_grid(20, 600, 4);
    random_influences(&p, 4, 30, 1);
    pelt_packed_mesh *mesh = pack_anyhow(&p);
    pelt_result result = PELT_ERROR_MEMORY;
    long calls = 0;
    for (; result != PELT_OK; calls++) {
        meter m = { .calls_left = calls };
        const pelt_host host = { .user = &m, .allocate = metered };
        pelt_clusters *clusters;
        pelt_clusters_info info = { .mesh = mesh, .primitive = &p };
        result = pelt_clusters_create(&host, &info, &clusters);
        assert_true(result == PELT_OK || result == PELT_ERROR_MEMORY);
        pelt_clusters_destroy(clusters);
        assert_int_equal(m.alive, 0);
    }
    assert_true(calls > 10);
    pelt_packed_mesh_destroy(mesh);
    free_surface(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_triangle_is_in_one_cluster),
        cmocka_unit_test(clusters_are_full),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(strips_and_fans_become_triangles),
        cmocka_unit_test(lines_of_two_corners_are_left_out),
        cmocka_unit_test(any_coordinates_will_do),
        cmocka_unit_test(triangles_in_one_place_have_one_level),
        cmocka_unit_test(tangles_come_to_an_end),
        cmocka_unit_test(more_joints_than_fit_make_more_clusters),
        cmocka_unit_test(no_triangles_no_clusters),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_triangle_of_too_many_joints_is_refused),
        cmocka_unit_test(without_memory_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
