/* The cull pass and the cluster skin pass, with surfaces made of numbers. */
#include "tests/gpu_clusters.h"

#include "tests/cluster_fixture.h"

/* A tube's mesh and clusters, and bent poses of it. */
typedef struct tube {
    pelt_primitive primitive;
    pelt_packed_mesh *packed;
    pelt_clusters *clusters;
} tube;

static void cut_levels(tube *self, uint32_t lod_count)
{
    enum { POSES = 4 };
    float poses[POSES][8 * 12];
    uint64_t seed = 17;
    for (int i = 0; i < POSES; i++) {
        bend_tube(&seed, 0.7, poses[i]);
    }
    self->packed = pack_anyhow(&self->primitive);
    const pelt_clusters_info info = { .mesh = self->packed,
                                      .primitive = &self->primitive,
                                      .lod_count = lod_count,
                                      .poses = lod_count > 1 ? poses[0] : NULL,
                                      .pose_count = lod_count > 1 ? POSES : 0,
                                      .joint_count = 8 };
    assert_int_equal(pelt_clusters_create(&gpu_host, &info, &self->clusters), PELT_OK);
}

static void free_tube(tube *self)
{
    pelt_clusters_destroy(self->clusters);
    pelt_packed_mesh_destroy(self->packed);
    free_surface(&self->primitive);
}

/* A bent tube, turned and moved by a world that leads it to a place. */
static void pose_tube(uint64_t *seed, const double place[3], float matrices[8 * 12])
{
    float bent[8 * 12];
    bend_tube(seed, 0.7, bent);
    double a = uniform(seed, -3.2, 3.2), c = cos(a), s = sin(a);
    for (int j = 0; j < 8; j++) {
        const float *m = bent + 12 * (size_t)j;
        float *out = matrices + 12 * (size_t)j;
        for (int k = 0; k < 4; k++) {
            out[k] = (float)(c * m[k] + s * m[8 + k] + (k == 3 ? place[0] : 0));
            out[4 + k] = m[4 + k] + (k == 3 ? (float)place[1] : 0);
            out[8 + k] = (float)(c * m[8 + k] - s * m[k] + (k == 3 ? place[2] : 0));
        }
    }
}

static pelt_cluster_view random_view(uint64_t *seed, float clip[16])
{
    double eye[3], target[3];
    for (int c = 0; c < 3; c++) {
        eye[c] = uniform(seed, -25, 25);
        target[c] = uniform(seed, -20, 20);
    }
    bool orthographic = below(seed, 4) == 0;
    double size = orthographic ? uniform(seed, 1, 20) : uniform(seed, 0.1, 1.5);
    stage_look(eye, target, size, orthographic, clip);
    return (pelt_cluster_view){ .clip = clip,
                                .eye = { eye[0], eye[1], eye[2] },
                                .pixels = 500 / size,
                                .most_error = uniform(seed, 0.5, 4),
                                .lod = below(seed, 3) ? PELT_LOD_AUTO : below(seed, 10),
                                .orthographic = orthographic,
                                .cull = below(seed, 8) > 0 };
}

/* Four levels of two tubes, 40 of them here and there, a few hidden or without a box; seen by
 * many cameras. */
static void leaves_out_only_what_cannot_be_seen(void **state)
{
    (void)state;
    enum { INSTANCES = 40, VIEWS = 400 };
    pelt_headless *device = gpu_device();
    tube tubes[2] = { { .primitive = make_tube(48, 96, true) },
                      { .primitive = make_tube(20, 12, false) } };
    cut_levels(&tubes[0], 4);
    cut_levels(&tubes[1], 1);
    assert_true(tubes[0].clusters->lod_count == 4);
    const stage_mesh meshes[2] = {
        { .packed = tubes[0].packed, .clusters = tubes[0].clusters },
        { .packed = tubes[1].packed, .clusters = tubes[1].clusters },
    };
    static float matrices[INSTANCES][8 * 12];
    stage_instance instances[INSTANCES];
    uint64_t seed = 1;
    for (uint32_t i = 0; i < INSTANCES; i++) {
        const double place[3] = { uniform(&seed, -20, 20), uniform(&seed, -20, 20),
                                  uniform(&seed, -20, 20) };
        pose_tube(&seed, place, matrices[i]);
        instances[i] = (stage_instance){ .mesh = i % 3 == 2,
                                         .matrices = matrices[i],
                                         .hidden = i % 10 == 3,
                                         .boxed = i % 5 != 0,
                                         .scale = i % 4 ? 0 : 2.5f };
    }
    stage self = { .device = device,
                   .meshes = meshes,
                   .instances = instances,
                   .mesh_count = 2,
                   .instance_count = INSTANCES };
    stage_open(&self, 0);
    uint64_t visible = 0;
    uint32_t levels[PELT_LOD_MAX] = { 0 };
    for (uint32_t v = 0; v < VIEWS; v++) {
        float clip[16];
        const pelt_cluster_view view = random_view(&seed, clip);
        bool skin = v % 100 == 0;
        stage_run(&self, &view, skin);
        visible += stage_check_listed(&self);
        for (uint32_t k = 0; k < stage_counts(&self)->listed; k++) {
            const pelt_visible_cluster *one = stage_listed(&self, k);
            bool chosen = view.lod == PELT_LOD_AUTO;
            levels[stage_mesh_of(&self, one->instance)->clusters->clusters[one->cluster].lod] +=
                chosen;
        }
        if (skin) {
            stage_check_skinned(&self);
        }
    }
    double part = (double)visible / ((double)self.tables.cluster_count * VIEWS);
    (void)printf("%.1f %% of clusters were visible\n", 100 * part);
    assert_true(part > 0.05 && part < 0.5);
    assert_true(levels[0] > 0 && levels[1] > 0 && levels[2] > 0 && levels[3] > 0);
    stage_close(&self);
    free_tube(&tubes[0]);
    free_tube(&tubes[1]);
}

/* A view that holds everything, not culled. */
static pelt_cluster_view view_of_all(float clip[16])
{
    const float identity[16] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 };
    memcpy(clip, identity, sizeof(identity));
    return (pelt_cluster_view){ .clip = clip, .pixels = 1, .most_error = 1 };
}

/* Matrices of any kind: shear, other sizes along other axes, reflections. 16-bit joints; up to
 * three sets; a cluster of more joints than shared memory has room for; morphed streams. */
static void skins_as_the_skin_pass_does(void **state)
{
    (void)state;
    enum { MESHES = 6 };
    pelt_headless *device = gpu_device();
    const uint32_t joints[MESHES] = { 1, 30, 200, 300, 400, 60 };
    const uint32_t slots[MESHES] = { 1, 4, 12, 4, 8, 4 };
    tube grids[MESHES];
    stage_mesh meshes[MESHES];
    stage_instance instances[2 * MESHES];
    float *matrices[2 * MESHES];
    pelt_packed_vertex *morphed = NULL;
    float *spheres = NULL;
    uint64_t seed = 5;
    for (uint32_t m = 0; m < MESHES; m++) {
        pelt_primitive *p = &grids[m].primitive;
        *p = make_grid(30, 1500 + m, slots[m]);
        if (m == 1) {
            free(p->tangents);
            p->tangents = NULL;
        }
        for (uint32_t v = 0; v < p->vertex_count; v++) {
            for (uint32_t k = 0; k < slots[m]; k++) {
                size_t at = (size_t)v * slots[m] + k;
                p->joints[at] =
                    (uint16_t)(v == 0 && k == 0 ? joints[m] - 1 : below(&seed, joints[m]));
                p->weights[at] = (float)uniform(&seed, 0.1, 1);
            }
        }
        cut_levels(&grids[m], 1);
        meshes[m] = (stage_mesh){ .packed = grids[m].packed, .clusters = grids[m].clusters };
        for (uint32_t i = 2 * m; i < 2 * m + 2; i++) {
            matrices[i] = scene_matrices(70 + i, joints[m]);
            instances[i] = (stage_instance){ .mesh = m, .matrices = matrices[i], .boxed = true };
        }
    }
    assert_true(grids[2].clusters->most_joints > 64 && grids[2].packed->set_count == 3);
    assert_int_equal(grids[3].packed->joint_bytes, 2);
    /* Directions that nearly vanish. */
    for (int i = 0; i < 12; i++) {
        matrices[0][i] *= 1e-14f;
        matrices[1][i] *= 1e14f;
    }
    const pelt_packed_mesh *last = grids[MESHES - 1].packed;
    morphed = allocate(last->vertex_count, sizeof(*morphed));
    spheres = allocate(grids[MESHES - 1].clusters->joint_count, 4 * sizeof(*spheres));
    for (uint32_t v = 0; v < last->vertex_count; v++) {
        morphed[v] = last->vertices[v];
        morphed[v].position[2] += 3 * sinf((float)v);
    }
    pelt_clusters_spheres(grids[MESHES - 1].clusters, last, morphed, spheres);
    meshes[MESHES - 1].vertices = morphed;
    meshes[MESHES - 1].spheres = spheres;
    stage self = { .device = device,
                   .meshes = meshes,
                   .instances = instances,
                   .mesh_count = MESHES,
                   .instance_count = 2 * MESHES };
    stage_open(&self, 0);
    float clip[16];
    pelt_cluster_view view = view_of_all(clip);
    stage_run(&self, &view, true);
    assert_int_equal(stage_check_listed(&self), self.tables.cluster_count);
    stage_check_skinned(&self);
    for (uint32_t v = 0; v < 50; v++) {
        view = random_view(&seed, clip);
        stage_run(&self, &view, v % 10 == 0);
        (void)stage_check_listed(&self);
        if (v % 10 == 0) {
            stage_check_skinned(&self);
        }
    }
    stage_close(&self);
    for (uint32_t m = 0; m < MESHES; m++) {
        free_tube(&grids[m]);
        free(matrices[2 * m]);
        free(matrices[2 * m + 1]);
    }
    free(morphed);
    free(spheres);
}

/* More instances than a dimension of a dispatch has workgroups, each of one cluster; more than are
 * room for, too. */
static void lists_any_number(void **state)
{
    (void)state;
    enum { INSTANCES = 66000, ROOM = 65600 };
    pelt_headless *device = gpu_device();
    tube grid = { .primitive = make_grid(3, 2, 1) };
    for (uint32_t v = 0; v < grid.primitive.vertex_count; v++) {
        grid.primitive.weights[v] = 1;
    }
    cut_levels(&grid, 1);
    assert_int_equal(grid.clusters->cluster_count, 1);
    const stage_mesh mesh = { .packed = grid.packed, .clusters = grid.clusters };
    float *matrices = scene_matrices(3, 1);
    stage_instance *instances = allocate(INSTANCES, sizeof(*instances));
    for (uint32_t i = 0; i < INSTANCES; i++) {
        instances[i] = (stage_instance){ .matrices = matrices, .hidden = i % 1000 == 999 };
    }
    stage self = { .device = device,
                   .meshes = &mesh,
                   .instances = instances,
                   .mesh_count = 1,
                   .instance_count = INSTANCES };
    stage_open(&self, ROOM);
    float clip[16];
    const pelt_cluster_view view = view_of_all(clip);
    stage_run(&self, &view, true);
    assert_int_equal(stage_check_listed(&self), INSTANCES - INSTANCES / 1000);
    assert_int_equal(stage_counts(&self)->listed, ROOM);
    for (uint32_t k = 0; k < ROOM; k++) {
        assert_int_equal(stage_listed(&self, k)->instance, k + k / 999);
    }
    stage_check_skinned(&self);
    stage_close(&self);
    free_tube(&grid);
    free(matrices);
    free(instances);
}

/* No instances, only hidden ones, none in sight, no room at all. */
static void says_so_where_there_is_nothing(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    tube grid = { .primitive = make_grid(20, 600, 1) };
    for (uint32_t v = 0; v < grid.primitive.vertex_count; v++) {
        grid.primitive.weights[v] = 1;
    }
    cut_levels(&grid, 1);
    const stage_mesh mesh = { .packed = grid.packed, .clusters = grid.clusters };
    const float matrices[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    const stage_instance there = { .matrices = matrices };
    const stage_instance hidden = { .matrices = matrices, .hidden = true };
    float clip[16];
    pelt_cluster_view view = view_of_all(clip);
    for (int k = 0; k < 3; k++) {
        stage self = { .device = device,
                       .meshes = &mesh,
                       .instances = k == 1 ? &hidden : &there,
                       .mesh_count = 1,
                       .instance_count = k > 0 };
        stage_open(&self, 1);
        if (k == 2) {
            clip[12] = 1000;
            view.cull = true;
        }
        stage_run(&self, &view, true);
        assert_int_equal(stage_check_listed(&self), 0);
        stage_check_skinned(&self);
        if (k == 2) {
            view = view_of_all(clip);
            self.capacity = 0;
            stage_run(&self, &view, true);
            assert_int_equal(stage_check_listed(&self), grid.clusters->cluster_count);
            assert_int_equal(stage_counts(&self)->listed, 0);
            self.capacity = 1;
            stage_check_skinned(&self);
        }
        stage_close(&self);
    }
    free_tube(&grid);
}

static void gives_the_corners_of_triangles(void **state)
{
    (void)state;
    tube grid = { .primitive = make_grid(20, 601, 1) };
    for (uint32_t v = 0; v < grid.primitive.vertex_count; v++) {
        grid.primitive.weights[v] = 1;
    }
    cut_levels(&grid, 1);
    const pelt_clusters *clusters = grid.clusters;
    uint16_t *indices = allocate(clusters->triangle_count, 3 * sizeof(*indices));
    uint32_t *corners = allocate(clusters->triangle_count, 3 * sizeof(*corners));
    uint32_t *expected = level_triangles(clusters, grid.packed, 0);
    pelt_gpu_clusters_indices(clusters, indices);
    for (uint32_t i = 0; i < clusters->cluster_count; i++) {
        const pelt_cluster *c = &clusters->clusters[i];
        for (uint32_t k = 3 * c->first_triangle; k < 3 * (c->first_triangle + c->triangle_count);
             k++) {
            uint32_t vertex = clusters->vertex_table[c->first_vertex + indices[k]];
            corners[k] = grid.packed->source_vertices[vertex];
        }
    }
    sort_triangles(corners, clusters->triangle_count);
    assert_memory_equal(corners, expected, clusters->triangle_count * 3 * sizeof(*corners));
    free(indices);
    free(corners);
    free(expected);
    free_tube(&grid);
}

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    char memory[PELT_CLUSTER_VIEW_SIZE];
    const pelt_cluster_instance good = { .mesh = 64, .matrices = 64, .box = 4 };
    pelt_cluster_instance bad[6];
    for (int i = 0; i < 6; i++) {
        bad[i] = good;
    }
    assert_int_equal(pelt_cluster_instance_write(&gpu_host, &good, memory), PELT_OK);
    bad[0].mesh = 0;
    bad[1].mesh = 8;
    bad[2].matrices = 0;
    bad[3].box = 2;
    bad[4].scale = -1;
    bad[5].scale = NAN;
    for (int i = 0; i < 6; i++) {
        assert_int_equal(pelt_cluster_instance_write(&gpu_host, &bad[i], memory),
                         PELT_ERROR_ARGUMENT);
    }
    float clip[16];
    const pelt_cluster_view seen = view_of_all(clip);
    pelt_cluster_view views[5] = { seen, seen, seen, seen, seen };
    assert_int_equal(pelt_cluster_view_write(&gpu_host, &seen, memory), PELT_OK);
    views[0].clip = NULL;
    views[1].eye[1] = (double)INFINITY;
    views[2].pixels = -1;
    views[3].most_error = (double)NAN;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pelt_cluster_view_write(&gpu_host, &views[i], memory),
                         PELT_ERROR_ARGUMENT);
    }
    clip[7] = INFINITY;
    assert_int_equal(pelt_cluster_view_write(&gpu_host, &seen, memory), PELT_ERROR_ARGUMENT);
    assert_non_null(strstr(gpu_messages.last, "clip"));

    pelt_cluster_tables tables;
    const pelt_gpu_clusters huge = { .most_clusters = UINT32_MAX };
    const uint32_t one[] = { 0, 1 };
    pelt_cluster_scene parts = {
        .meshes = &huge, .mesh_count = 1, .instance_meshes = one, .instance_count = 2
    };
    assert_int_equal(pelt_cluster_tables_measure(&gpu_host, &parts, &tables), PELT_ERROR_ARGUMENT);
    uint32_t many[2] = { 0 };
    parts.instance_meshes = many;
    parts.instance_count = 2;
    assert_int_equal(pelt_cluster_tables_measure(&gpu_host, &parts, &tables), PELT_ERROR_RANGE);
    parts.instance_count = 1;
    assert_int_equal(pelt_cluster_tables_measure(&gpu_host, &parts, &tables), PELT_OK);
    assert_int_equal(tables.span_count, 1u << 27);
    parts.instance_meshes = NULL;
    assert_int_equal(pelt_cluster_tables_measure(&gpu_host, &parts, &tables), PELT_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_out_only_what_cannot_be_seen),
        cmocka_unit_test(skins_as_the_skin_pass_does),
        cmocka_unit_test(lists_any_number),
        cmocka_unit_test(says_so_where_there_is_nothing),
        cmocka_unit_test(gives_the_corners_of_triangles),
        cmocka_unit_test(refuses_what_cannot_be),
    };
    int failed = cmocka_run_group_tests(tests, gpu_setup, stage_teardown);
    const struct CMUnitTest of_shared_palettes[] = {
        cmocka_unit_test(skins_as_the_skin_pass_does),
        cmocka_unit_test(lists_any_number),
    };
    stage_shares_palettes = true;
    failed += cmocka_run_group_tests(of_shared_palettes, gpu_setup, stage_teardown);
    return gpu_result(failed);
}
