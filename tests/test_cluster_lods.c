/* Levels of detail: coarser, closed where level 0 is, and never farther from it than they say. */
#include "build_model.h"
#include "cluster_fixture.h"

enum { POSES = 12, JOINTS = 8 };

static pelt_clusters *make_levels(const pelt_primitive *p, const pelt_packed_mesh *mesh,
                                  const float *poses, uint32_t count)
{
    pelt_clusters *clusters;
    const pelt_clusters_info info = { .mesh = mesh,
                                      .primitive = p,
                                      .lod_count = count,
                                      .poses = poses,
                                      .pose_count = POSES,
                                      .joint_count = JOINTS };
    assert_int_equal(pelt_clusters_create(NULL, &info, &clusters), PELT_OK);
    return clusters;
}

static void bend(float poses[POSES * JOINTS * 12])
{
    uint64_t seed = 3;
    for (int i = 0; i < POSES; i++) {
        bend_tube(&seed, 0.9, poses + (size_t)i * JOINTS * 12);
    }
}

/* Distance from a triangle, the slow and plain way: from its plane where the foot is inside, else
 * from the nearest of its sides. */
static double distance_from_side(const double p[3], const double a[3], const double b[3])
{
    double along = 0.0, side = 0.0, squared = 0.0;
    for (int i = 0; i < 3; i++) {
        along += (p[i] - a[i]) * (b[i] - a[i]);
        side += (b[i] - a[i]) * (b[i] - a[i]);
    }
    double t = side > 0.0 ? fmin(fmax(along / side, 0.0), 1.0) : 0.0;
    for (int i = 0; i < 3; i++) {
        double d = p[i] - a[i] - t * (b[i] - a[i]);
        squared += d * d;
    }
    return sqrt(squared);
}

static void cross_double(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static double distance_from_triangle(const double p[3], double corners[3][3])
{
    double least = INFINITY, normal[3], sides[3][3], height = 0.0, squared = 0.0;
    bool inside = true;
    for (int k = 0; k < 3; k++) {
        least = fmin(least, distance_from_side(p, corners[k], corners[(k + 1) % 3]));
        for (int i = 0; i < 3; i++) {
            sides[k][i] = corners[(k + 1) % 3][i] - corners[k][i];
        }
    }
    cross_double(sides[0], sides[1], normal);
    for (int k = 0; k < 3; k++) {
        double inwards[3], at = 0.0;
        cross_double(normal, sides[k], inwards);
        for (int i = 0; i < 3; i++) {
            at += (p[i] - corners[k][i]) * inwards[i];
        }
        inside = inside && at > 0.0;
    }
    for (int i = 0; i < 3; i++) {
        height += (p[i] - corners[0][i]) * normal[i];
        squared += normal[i] * normal[i];
    }
    return inside ? fmin(least, fabs(height) / sqrt(squared)) : least;
}

/* The largest distance of a point from the nearest of a level's triangles. */
static double farthest(const double (*points)[3], size_t count, const uint32_t *triangles,
                       uint32_t triangle_count, const float *positions)
{
    double worst = 0.0;
    for (size_t n = 0; n < count; n++) {
        double least = INFINITY;
        for (size_t t = 0; t < triangle_count; t++) {
            double corners[3][3];
            for (size_t k = 0; k < 9; k++) {
                corners[k / 3][k % 3] = positions[3 * (size_t)triangles[3 * t + k / 3] + k % 3];
            }
            least = fmin(least, distance_from_triangle(points[n], corners));
        }
        worst = fmax(worst, least);
    }
    return worst;
}

/* A level against level 0 in one pose: all vertices of level 0, and the middles of the level's
 * triangles. positions: of the primitive's vertices. */
static double true_error(const pelt_primitive *p, const uint32_t *level, uint32_t count,
                         const float *positions)
{
    double(*points)[3] = allocate(p->vertex_count, sizeof(*points));
    double(*middles)[3] = allocate(count, sizeof(*middles));
    for (size_t i = 0; i < 3 * (size_t)p->vertex_count; i++) {
        points[i / 3][i % 3] = positions[i];
    }
    for (size_t i = 0; i < 3 * (size_t)count; i++) {
        for (size_t k = 0; k < 3; k++) {
            middles[i / 3][k] += positions[3 * (size_t)level[i] + k] / 3.0;
        }
    }
    double there = farthest(points, p->vertex_count, level, count, positions);
    double back = farthest(middles, count, p->indices, p->index_count / 3, positions);
    free(points);
    free(middles);
    return fmax(there, back);
}

static void errors_bound_the_distance(void **state)
{
    (void)state;
    pelt_primitive p = make_tube(16, 24, true);
    pelt_packed_mesh *mesh = pack(&p);
    float *poses = allocate(POSES * JOINTS * 12, sizeof(*poses));
    float *positions = allocate(p.vertex_count, 3 * sizeof(*positions));
    bend(poses);
    pelt_clusters *clusters = make_levels(&p, mesh, poses, 4);
    assert_int_equal(clusters->lod_count, 4);
    check_records(clusters, mesh, 64, 126);
    assert_true(clusters->lods[0].error == 0.0f && clusters->lods[0].bind_error == 0.0f);
    for (uint32_t i = 1; i < clusters->lod_count; i++) {
        const pelt_lod *lod = &clusters->lods[i];
        uint32_t *level = level_triangles(clusters, mesh, i);
        double bind = true_error(&p, level, lod->triangle_count, p.positions), posed = 0.0;
        for (size_t pose = 0; pose < POSES; pose++) {
            const pelt_skin_job job = { .mesh = mesh,
                                        .matrices = poses + pose * JOINTS * 12,
                                        .out_positions = positions };
            pelt_skin_cpu(&job, 0, mesh->vertex_count, NULL);
            posed = fmax(posed, true_error(&p, level, lod->triangle_count, positions));
        }
        print_message("level %u: %u triangles, error %.4f (is %.4f), bind pose %.4f (is %.4f)\n", i,
                      lod->triangle_count, lod->error, posed, lod->bind_error, bind);
        /* The test's own arithmetic is off by a few 2^-52. */
        assert_true(lod->error >= posed * (1 - 1e-12) && lod->bind_error >= bind * (1 - 1e-12));
        /* A few nearest triangles are enough to be near the truth. */
        assert_true(lod->error <= 1.3 * posed + 1e-6 && lod->bind_error <= 1.3 * bind + 1e-6);
        free(level);
    }
    pelt_clusters_destroy(clusters);
    pelt_packed_mesh_destroy(mesh);
    free(positions);
    free(poses);
    free_surface(&p);
}

static bool same_place(const pelt_primitive *p, uint32_t a, uint32_t b)
{
    return memcmp(p->positions + 3 * (size_t)a, p->positions + 3 * (size_t)b, 12) == 0;
}

/* Level by level half as many triangles, of some of the same vertices, none twice, and an edge has
 * two sides wherever it had in level 0: all but at the ends of the tube. */
static void levels_halve_and_stay_closed(void **state)
{
    (void)state;
    float *poses = allocate(POSES * JOINTS * 12, sizeof(*poses));
    bend(poses);
    for (int seam = 0; seam < 2; seam++) {
        pelt_primitive p = make_tube(24, 40, seam == 1);
        pelt_packed_mesh *mesh = pack_anyhow(&p);
        pelt_clusters *clusters = make_levels(&p, mesh, poses, 5);
        assert_int_equal(clusters->lod_count, 5);
        for (uint32_t i = 1; i < clusters->lod_count; i++) {
            uint32_t count = clusters->lods[i].triangle_count;
            uint32_t before = clusters->lods[i - 1].triangle_count;
            assert_in_range(count, before * 2 / 5, before / 2);
            assert_true(clusters->lods[i].vertex_count < clusters->lods[i - 1].vertex_count);
            uint32_t *t = level_triangles(clusters, mesh, i);
            for (uint32_t k = 3; k < 3 * count; k += 3) {
                assert_memory_not_equal(t + k, t + k - 3, 3 * sizeof(*t));
            }
            uint32_t open = 0;
            for (uint32_t e = 0; e < 3 * count; e++) {
                uint32_t a = t[e], b = t[e / 3 * 3 + (e + 1) % 3], others = 0;
                for (uint32_t f = 0; f < 3 * count; f++) {
                    uint32_t c = t[f], d = t[f / 3 * 3 + (f + 1) % 3];
                    others += same_place(&p, a, d) && same_place(&p, b, c);
                }
                float ya = p.positions[3 * (size_t)a + 1], yb = p.positions[3 * (size_t)b + 1];
                bool at_end = ya == yb && (ya == 0.0f || ya == 8.0f);
                assert_int_equal(others, at_end ? 0 : 1);
                open += at_end;
            }
            assert_true(open >= 6); /* both ends are rings still */
            free(t);
        }
        pelt_clusters_destroy(clusters);
        pelt_packed_mesh_destroy(mesh);
        free_surface(&p);
    }
    free(poses);
}

static void plane_is_plane_at_every_level(void **state)
{
    (void)state;
    pelt_primitive p = make_grid(33, 32 * 32 * 2, 0);
    for (uint32_t v = 0; v < p.vertex_count; v++) {
        p.positions[3 * (size_t)v + 2] = 5.0f;
    }
    pelt_packed_mesh *mesh = pack_anyhow(&p);
    pelt_clusters *clusters;
    const pelt_clusters_info info = { .mesh = mesh, .primitive = &p, .lod_count = 8 };
    assert_int_equal(pelt_clusters_create(NULL, &info, &clusters), PELT_OK);
    assert_true(clusters->lod_count >= 6);
    for (uint32_t i = 1; i < clusters->lod_count; i++) {
        print_message("level %u: %u triangles, error %g\n", i, clusters->lods[i].triangle_count,
                      clusters->lods[i].error);
        /* Coordinates up to 32, in double precision: what is left is rounding. */
        assert_true(clusters->lods[i].error < 32 * 0x1p-40f);
        assert_true(clusters->lods[i].error == clusters->lods[i].bind_error);
    }
    pelt_clusters_destroy(clusters);
    pelt_packed_mesh_destroy(mesh);
    free_surface(&p);
}

/* The same tube with three vertices of its own for each triangle, as flat shading wants them. */
static pelt_primitive take_apart(const pelt_primitive *p, bool own_texcoords)
{
    pelt_primitive q = make_primitive(p->index_count, 4, 9);
    q.topology = PELT_TRIANGLES;
    q.texcoords = allocate(q.vertex_count, 2 * sizeof(float));
    for (size_t v = 0; v < q.vertex_count; v++) {
        size_t from = p->indices[v];
        memcpy(q.positions + 3 * v, p->positions + 3 * from, 3 * sizeof(float));
        memcpy(q.texcoords + 2 * v, p->texcoords + 2 * from, 2 * sizeof(float));
        memcpy(q.joints + 4 * v, p->joints + 4 * from, 4 * sizeof(uint16_t));
        memcpy(q.weights + 4 * v, p->weights + 4 * from, 4 * sizeof(float));
        size_t triangle = v / 3;
        q.texcoords[2 * v] += own_texcoords ? (float)triangle : 0.0f;
    }
    return q;
}

static void flat_triangles_are_put_together(void **state)
{
    (void)state;
    pelt_primitive tube = make_tube(24, 40, true);
    float *poses = allocate(POSES * JOINTS * 12, sizeof(*poses));
    bend(poses);
    for (int own = 0; own < 2; own++) {
        pelt_primitive p = take_apart(&tube, own == 1);
        pelt_packed_mesh *mesh = pack_anyhow(&p);
        pelt_clusters *clusters = make_levels(&p, mesh, poses, 4);
        /* But not where texture coordinates differ. */
        assert_int_equal(clusters->lod_count, own ? 1 : 4);
        assert_int_equal(clusters->lods[0].vertex_count, p.vertex_count);
        pelt_clusters_destroy(clusters);
        pelt_packed_mesh_destroy(mesh);
        free_surface(&p);
    }
    free(poses);
    free_surface(&tube);
}

/* Vertices that no triangle has, in the same places as others, change nothing. */
static void unused_vertices_do_not_matter(void **state)
{
    (void)state;
    pelt_primitive tube = make_tube(24, 40, false), p = make_primitive(2 * tube.vertex_count, 4, 1);
    size_t count = tube.vertex_count;
    float *poses = allocate(POSES * JOINTS * 12, sizeof(*poses));
    bend(poses);
    for (size_t twice = 0; twice < 2; twice++) {
        memcpy(p.positions + 3 * count * twice, tube.positions, count * 3 * sizeof(float));
        memcpy(p.joints + 4 * count * twice, tube.joints, count * 4 * sizeof(uint16_t));
        memcpy(p.weights + 4 * count * twice, tube.weights, count * 4 * sizeof(float));
    }
    p.topology = PELT_TRIANGLES;
    p.index_count = tube.index_count;
    p.indices = tube.indices;
    pelt_packed_mesh *mesh = pack(&p), *tube_mesh = pack(&tube);
    pelt_clusters *clusters = make_levels(&p, mesh, poses, 4);
    pelt_clusters *tube_clusters = make_levels(&tube, tube_mesh, poses, 4);
    assert_int_equal(clusters->lod_count, 4);
    assert_memory_equal(clusters->lods, tube_clusters->lods, sizeof(clusters->lods));
    pelt_clusters_destroy(clusters);
    pelt_clusters_destroy(tube_clusters);
    pelt_packed_mesh_destroy(mesh);
    pelt_packed_mesh_destroy(tube_mesh);
    p.indices = NULL;
    free_surface(&p);
    free_surface(&tube);
    free(poses);
}

static void same_input_same_clusters(void **state)
{
    (void)state;
    pelt_primitive p = make_tube(30, 60, true);
    pelt_packed_mesh *mesh = pack_anyhow(&p);
    float *poses = allocate(POSES * JOINTS * 12, sizeof(*poses));
    bend(poses);
    pelt_clusters *a = make_levels(&p, mesh, poses, 4), *b = make_levels(&p, mesh, poses, 4);
    assert_memory_equal(a->lods, b->lods, sizeof(a->lods));
    assert_int_equal(a->cluster_count, b->cluster_count);
    assert_int_equal(a->joint_count, b->joint_count);
    assert_memory_equal(a->clusters, b->clusters, a->cluster_count * sizeof(*a->clusters));
    assert_memory_equal(a->vertex_table, b->vertex_table, a->vertex_count * sizeof(uint32_t));
    assert_memory_equal(a->triangles, b->triangles, a->triangle_count * sizeof(uint32_t));
    assert_memory_equal(a->joints, b->joints, a->joint_count * sizeof(uint32_t));
    assert_memory_equal(a->local_joints, b->local_joints,
                        (size_t)a->vertex_count * a->set_count * sizeof(uint32_t));
    assert_memory_equal(a->spheres, b->spheres, (size_t)a->joint_count * 4 * sizeof(float));
    pelt_clusters_destroy(a);
    pelt_clusters_destroy(b);
    pelt_packed_mesh_destroy(mesh);
    free(poses);
    free_surface(&p);
}

static void without_memory_nothing_is_left(void **state)
{
    (void)state;
    pelt_primitive tube = make_tube(8, 12, true), p = take_apart(&tube, false);
    pelt_packed_mesh *mesh = pack_anyhow(&p);
    float *poses = allocate(POSES * JOINTS * 12, sizeof(*poses));
    bend(poses);
    pelt_result result = PELT_ERROR_MEMORY;
    long calls = 0;
    for (; result != PELT_OK; calls++) {
        meter m = { .calls_left = calls };
        const pelt_host host = { .user = &m, .allocate = metered };
        pelt_clusters *clusters;
        const pelt_clusters_info info = { .mesh = mesh,
                                          .primitive = &p,
                                          .lod_count = 3,
                                          .poses = poses,
                                          .pose_count = POSES,
                                          .joint_count = JOINTS };
        result = pelt_clusters_create(&host, &info, &clusters);
        assert_true(result == PELT_OK || result == PELT_ERROR_MEMORY);
        assert_true(result != PELT_OK || clusters->lod_count == 3);
        pelt_clusters_destroy(clusters);
        assert_int_equal(m.alive, 0);
    }
    assert_true(calls > 50);
    pelt_packed_mesh_destroy(mesh);
    free(poses);
    free_surface(&p);
    free_surface(&tube);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_bound_the_distance),
        cmocka_unit_test(levels_halve_and_stay_closed),
        cmocka_unit_test(plane_is_plane_at_every_level),
        cmocka_unit_test(flat_triangles_are_put_together),
        cmocka_unit_test(unused_vertices_do_not_matter),
        cmocka_unit_test(same_input_same_clusters),
        cmocka_unit_test(without_memory_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
