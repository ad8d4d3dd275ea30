/* Spheres and boxes of clusters hold their vertices: where they are, and in every pose. */
#include "build_model.h"
#include "cluster_fixture.h"

#include "sample/sample.h"

#include <dirent.h>

/* A sanitizer is after other errors than wrong bounds. */
#ifdef __SANITIZE_ADDRESS__
enum { POSES = 10 };
#else
enum { POSES = 100 };
#endif

static double distance(const float *a, const float *b)
{
    double x = (double)a[0] - b[0], y = (double)a[1] - b[1], z = (double)a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

/* The spheres, of vertices given, of every joint hold those that the joint moves, and are no larger
 * than the sphere around their box. */
static void check_spheres(const pelt_clusters *clusters, const pelt_packed_mesh *mesh,
                          const pelt_packed_vertex *vertices, const float *spheres)
{
    uint32_t slots = 4 * mesh->set_count, *joints = allocate(slots, sizeof(*joints));
    float *weights = allocate(slots, sizeof(*weights));
    for (uint32_t i = 0; i < clusters->cluster_count; i++) {
        const pelt_cluster *c = &clusters->clusters[i];
        for (uint32_t j = 0; j < c->joint_count; j++) {
            const float *sphere = spheres + 4 * ((size_t)c->first_joint + j);
            float min[3] = { INFINITY, INFINITY, INFINITY };
            float max[3] = { -INFINITY, -INFINITY, -INFINITY };
            for (uint32_t v = 0; v < c->vertex_count; v++) {
                uint32_t vertex = clusters->vertex_table[c->first_vertex + v];
                bool moved = false;
                pelt_unpack_influences(mesh, vertex, joints, weights);
                for (uint32_t k = 0; k < slots; k++) {
                    moved |= weights[k] > 0.0f && joints[k] == clusters->joints[c->first_joint + j];
                }
                const float *position = vertices[vertex].position;
                for (int axis = 0; axis < 3 && moved; axis++) {
                    min[axis] = fminf(min[axis], position[axis]);
                    max[axis] = fmaxf(max[axis], position[axis]);
                }
                assert_true(!moved || distance(position, sphere) <= sphere[3]);
            }
            /* The centre is rounded to floats; each of its coordinates is off by up to half a unit
             * in the last place, or two. */
            double half_diagonal = 0.5 * distance(min, max), rounding = 1e-40;
            for (int axis = 0; axis < 3; axis++) {
                rounding += 0x1p-23 * (double)fmaxf(fabsf(min[axis]), fabsf(max[axis]));
            }
            assert_true(sphere[3] <= half_diagonal * (1 + 0x1p-23) + rounding);
        }
    }
    free(joints);
    free(weights);
}

static void spheres_hold_their_vertices(void **state)
{
    (void)state;
    static const float scales[] = { 1.0f, 1e-20f, 1e16f, 0.0f };
    for (uint32_t round = 0; round < 12; round++) {
        pelt_primitive p = make_grid(20, 600, round % 2 ? 4 : 9);
        random_influences(&p, p.influence_count, 40, round);
        uint64_t seed = round;
        for (size_t i = 0; i < 3 * (size_t)p.vertex_count; i++) {
            p.positions[i] += (float)uniform(&seed, -1.0, 1.0);
            p.positions[i] *= scales[round / 3];
        }
        pelt_packed_mesh *mesh = pack_anyhow(&p);
        pelt_clusters *clusters = cut(mesh, &p);
        check_spheres(clusters, mesh, mesh->vertices, clusters->spheres);

        /* Of other vertices. */
        pelt_packed_vertex *moved = allocate(mesh->vertex_count, sizeof(*moved));
        float *spheres = allocate(clusters->joint_count, 4 * sizeof(*spheres));
        for (size_t v = 0; v < mesh->vertex_count; v++) {
            for (int i = 0; i < 3; i++) {
                moved[v].position[i] = (float)uniform(&seed, -10.0, 10.0);
            }
        }
        pelt_clusters_spheres(clusters, mesh, moved, spheres);
        check_spheres(clusters, mesh, moved, spheres);
        free(moved);
        free(spheres);
        pelt_clusters_destroy(clusters);
        pelt_packed_mesh_destroy(mesh);
        free_surface(&p);
    }
}

/* Vertices of a triangle whose smallest sphere is known: the circumscribed circle of an equilateral
 * one, the longest side as diameter of an obtuse one. */
static void spheres_are_small(void **state)
{
    (void)state;
    const struct {
        float positions[9];
        double radius;
    } given[] = {
        { { 1, 0, 0, -0.5f, 0.8660254f, 0, -0.5f, -0.8660254f, 0 }, 1.0 },
        { { 0, 0, 0, 4, 0, 0, 1, 0.5f, 0 }, 2.0 },
        { { 5, 6, 7, 5, 6, 7, 5, 6, 7 }, 0.0 },
        { { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, 0.816496580927726 }, /* sqrt(2/3) */
    };
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
        pelt_primitive p = make_grid(2, 1, 0);
        memcpy(p.positions, given[i].positions, sizeof(given[i].positions));
        pelt_packed_mesh *mesh = pack(&p);
        pelt_clusters *clusters = cut(mesh, &p);
        assert_int_equal(clusters->joint_count, 1);
        assert_in_range(clusters->spheres[3] >= (float)(given[i].radius * (1 - 1e-6)), 1, 1);
        assert_true(clusters->spheres[3] <= given[i].radius * 1.03);
        pelt_clusters_destroy(clusters);
        pelt_packed_mesh_destroy(mesh);
        free_surface(&p);
    }
}

static void moved_spheres_grow_by_the_largest_stretch(void **state)
{
    (void)state;
    static const struct {
        float matrix[12];
        double stretch;
    } given[] = {
        { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 }, 1.0 },
        { { 0, -1, 0, 5, 1, 0, 0, 6, 0, 0, 1, 7 }, 1.0 },
        { { 0.6f, -0.8f, 0, 0, 0.8f, 0.6f, 0, 0, 0, 0, 1, 0 }, 1.0 },
        { { 2, 0, 0, 0, 0, 0.5f, 0, 0, 0, 0, 1, 0 }, 2.0 },
        { { 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0 }, 2.0 }, /* the largest one twice */
        { { 1, 0, 0, 0, 0, -3, 0, 0, 0, 0, 1, 0 }, 3.0 },
        { { 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 }, 1.618033988749895 }, /* (1 + sqrt(5)) / 2 */
        { { 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0 }, 3.0 },               /* rank 1 */
        { { 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3 }, 0.0 },
        { { 1e15f, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1e-15f, 0 }, 999999986991104.0 }, /* as a float */
    };
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
        const float *m = given[i].matrix;
        float sphere[4] = { 1, 2, 3, 10 }, moved[4];
        pelt_cluster_move_sphere(m, sphere, 4, moved);
        double widening = 0.0;
        for (int k = 0; k < 3; k++) {
            const float *row = m + 4 * k;
            double centre = row[0] + 2.0 * row[1] + 3.0 * row[2] + row[3];
            assert_near(moved[k], centre, fabs(centre) * 0x1p-24);
            /* 8 roundings of coordinates up to 11, 12 and 13, and that of the centre. */
            widening +=
                10 * 0x1p-24 *
                (11 * fabsf(row[0]) + 12 * fabsf(row[1]) + 13 * fabsf(row[2]) + fabsf(row[3]));
        }
        assert_true(moved[3] >= given[i].stretch * 10.0 * (1 - 1e-7));
        assert_true(moved[3] <= given[i].stretch * 10.0 * (1 + 1e-6) + 1.5 * widening + 1e-30);
        pelt_cluster_move_sphere(m, sphere, 4, sphere); /* in place */
        assert_memory_equal(sphere, moved, sizeof(moved));
    }
}

/* 3 x 3 of any kind: turned and stretched, sheared, mirrored, flat, or nothing at all. */
static void wild_matrix(uint64_t *seed, double distance_most, float m[12])
{
    random_matrix(seed, 0.3, 3.0, distance_most, m);
    uint32_t kind = below(seed, 8);
    for (int i = 0; i < 3; i++) {
        float *row = m + 4 * i;
        if (kind == 1) {
            row[0] += 2.0f * row[1];
        } else if (kind == 2) {
            row[2] = -row[2];
        } else if (kind == 3) {
            row[1] = 0.0f;
        } else if (kind == 4) {
            row[0] = row[1] = row[2] = 0.0f;
        }
    }
}

static void spheres_hold_what_they_held(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int round = 0; round < 20000; round++) {
        float m[12], sphere[4], moved[4];
        wild_matrix(&seed, 10.0, m);
        double size = pow(10.0, uniform(&seed, -8.0, 8.0));
        for (int i = 0; i < 4; i++) {
            sphere[i] = (float)(uniform(&seed, i == 3 ? 0.0 : -1.0, 1.0) * size);
        }
        pelt_cluster_move_sphere(m, sphere, 4, moved);
        for (int k = 0; k < 8; k++) {
            float direction[3], point[3], there[3];
            random_direction(&seed, direction);
            for (int i = 0; i < 3;
                 i++) { /* a little inside, so that it is whatever rounding does */
                point[i] = sphere[i] + 0.999999f * sphere[3] * direction[i];
            }
            if (distance(point, sphere) > sphere[3]) {
                continue;
            }
            for (int i = 0; i < 3; i++) {
                const float *row = m + 4 * i;
                there[i] = row[0] * point[0] + (row[1] * point[1] + (row[2] * point[2] + row[3]));
            }
            assert_true(distance(there, moved) <= moved[3]);
        }
    }
}

/* How many clusters' boxes do not hold their vertices skinned by these matrices. */
static uint32_t count_outside(const pelt_clusters *clusters, const pelt_packed_mesh *mesh,
                              const pelt_packed_vertex *vertices, const float *spheres,
                              const float *matrices)
{
    float *positions = allocate(mesh->vertex_count, 3 * sizeof(float));
    const pelt_skin_job job = {
        .mesh = mesh, .vertices = vertices, .matrices = matrices, .out_positions = positions
    };
    pelt_skin_cpu(&job, 0, mesh->vertex_count, NULL);
    uint32_t outside = 0;
    for (uint32_t i = 0; i < clusters->cluster_count; i++) {
        const pelt_cluster *c = &clusters->clusters[i];
        pelt_box box = pelt_cluster_bound(clusters, i, spheres, matrices);
        bool held = true;
        for (uint32_t v = 0; v < c->vertex_count; v++) {
            const float *p = positions + 3 * (size_t)clusters->vertex_table[c->first_vertex + v];
            for (int k = 0; k < 3; k++) {
                held = held && p[k] >= box.min[k] && p[k] <= box.max[k];
            }
        }
        outside += !held;
    }
    free(positions);
    return outside;
}

static void boxes_hold_random_poses(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (uint32_t round = 0; round < 200; round++) {
        uint32_t slots = round % 10 == 0 ? 30 : 4, joints = 20 + below(&seed, 300);
        pelt_primitive p = make_grid(8, 60, slots);
        random_influences(&p, slots, joints, round);
        double size = pow(10.0, uniform(&seed, -6.0, 6.0));
        double away = round % 2 ? 0.0 : 100.0 * size;
        for (size_t i = 0; i < 3 * (size_t)p.vertex_count; i++) {
            p.positions[i] = (float)(p.positions[i] * size + away);
        }
        pelt_packed_mesh *mesh = pack_anyhow(&p);
        pelt_clusters *clusters = cut(mesh, &p);
        float *matrices = allocate(joints, 12 * sizeof(float));
        for (uint32_t j = 0; j < joints; j++) {
            wild_matrix(&seed, round % 3 ? size : 0.0, matrices + 12 * (size_t)j);
            if (round % 4 == 0) { /* all joints alike: bounds are as tight as they can be */
                memcpy(matrices + 12 * (size_t)j, matrices, 12 * sizeof(float));
            }
        }
        assert_int_equal(count_outside(clusters, mesh, mesh->vertices, clusters->spheres, matrices),
                         0);
        pelt_clusters_destroy(clusters);
        pelt_packed_mesh_destroy(mesh);
        free(matrices);
        free_surface(&p);
    }
}

/* Bounds must not be so wide that they tell nothing: of a cluster that follows one joint, the box
 * is that of the moved sphere. */
static void boxes_are_no_larger_than_their_spheres(void **state)
{
    (void)state;
    pelt_primitive p = make_grid(6, 40, 0);
    pelt_packed_mesh *mesh = pack_anyhow(&p);
    pelt_clusters *clusters = cut(mesh, &p);
    static const float matrix[12] = { 0, -2, 0, 5, 1, 0, 0, 6, 0, 0, 3, 7 };
    assert_int_equal(clusters->cluster_count, 1);
    const float *s = clusters->spheres;
    pelt_box box = pelt_cluster_bound(clusters, 0, s, matrix);
    const double centre[3] = { 5 - 2.0 * s[1], 6 + (double)s[0], 7 + 3.0 * s[2] };
    const double reach[3] = { 2.0 * s[3], s[3], 3.0 * s[3] };
    for (int i = 0; i < 3; i++) {
        assert_near(box.min[i], centre[i] - reach[i], 1e-4);
        assert_near(box.max[i], centre[i] + reach[i], 1e-4);
    }
    pelt_clusters_destroy(clusters);
    pelt_packed_mesh_destroy(mesh);
    free_surface(&p);
}

static void a_bent_tube_stays_in_its_boxes(void **state)
{
    (void)state;
    pelt_primitive p = make_tube(32, 96, true);
    pelt_packed_mesh *mesh = pack_anyhow(&p);
    pelt_clusters *clusters = cut(mesh, &p);
    uint64_t seed = 48;
    uint32_t outside_bind = 0, top = 0;
    float unit[8 * 12] = { 0 };
    for (int joint = 0; joint < 8; joint++) {
        unit[12 * joint] = unit[12 * joint + 5] = unit[12 * joint + 10] = 1.0f;
    }
    while (
        mesh->vertices[clusters->vertex_table[clusters->clusters[top].first_vertex]].position[1] <
        7.0f) {
        top++;
    }
    float *positions = allocate(mesh->vertex_count, 3 * sizeof(float));
    for (int pose = 0; pose < 48; pose++) {
        float matrices[8 * 12];
        bend_tube(&seed, 1.2, matrices);
        assert_int_equal(count_outside(clusters, mesh, mesh->vertices, clusters->spheres, matrices),
                         0);
        /* Boxes kept from the bind pose would lose it. */
        const pelt_skin_job job = { .mesh = mesh,
                                    .matrices = matrices,
                                    .out_positions = positions };
        pelt_skin_cpu(&job, 0, mesh->vertex_count, NULL);
        pelt_box box = pelt_cluster_bound(clusters, top, clusters->spheres, unit);
        uint32_t vertex = clusters->vertex_table[clusters->clusters[top].first_vertex];
        const float *there = positions + 3 * (size_t)vertex;
        outside_bind += there[0] < box.min[0] || there[0] > box.max[0] || there[1] < box.min[1] ||
                        there[1] > box.max[1] || there[2] < box.min[2] || there[2] > box.max[2];
    }
    assert_true(outside_bind > 24);
    free(positions);
    pelt_clusters_destroy(clusters);
    pelt_packed_mesh_destroy(mesh);
    free_surface(&p);
}

/* One part in many poses: at times of clips with their morphs, and with joints put anywhere. */
static void check_part(pelt_pose *pose, const pelt_part *part, float *matrices, uint64_t *seed)
{
    const pelt_model *model = pose->model;
    const pelt_primitive *primitive = &model->meshes[part->mesh].primitives[part->primitive];
    if (pelt_primitive_triangle_count(primitive) == 0) {
        return;
    }
    pelt_packed_mesh *mesh;
    pelt_clusters *clusters;
    const pelt_pack_info pack_info = { .primitive = primitive, .rigid = !part->skinned };
    assert_int_equal(pelt_pack(NULL, &pack_info, &mesh), PELT_OK);
    const pelt_clusters_info info = { .mesh = mesh, .primitive = primitive, .lod_count = 2 };
    assert_int_equal(pelt_clusters_create(NULL, &info, &clusters), PELT_OK);
    check_records(clusters, mesh, 64, 126);
    check_spheres(clusters, mesh, mesh->vertices, clusters->spheres);
    const pelt_palette *palette = &model->palettes[part->palette];
    float *palette_matrices = matrices + 12 * (size_t)palette->first_matrix;
    pelt_packed_vertex *morphed = allocate(mesh->vertex_count, sizeof(*morphed));
    float *spheres = allocate(clusters->joint_count, 4 * sizeof(*spheres));
    for (int i = 0; i < POSES; i++) {
        const pelt_packed_vertex *vertices = mesh->vertices;
        const float *bounds = clusters->spheres;
        pelt_play play = { .clip = -1 };
        if (i % 2 && model->clip_count) {
            play.clip = (int32_t)below(seed, model->clip_count);
            play.time = uniform(seed, 0.0, model->clips[play.clip].duration);
        }
        assert_int_equal(pelt_pose_evaluate(pose, &play, 1), PELT_OK);
        assert_int_equal(pelt_pose_skin_matrices(pose, NULL, matrices), PELT_OK);
        if (primitive->target_count) {
            (void)pelt_pack_morphed(mesh, primitive, pelt_pose_part_morph_weights(pose, part),
                                    morphed, NULL);
            pelt_clusters_spheres(clusters, mesh, morphed, spheres);
            vertices = morphed;
            bounds = spheres;
        }
        if (i % 2 == 0) {
            for (uint32_t j = 0; j < palette->matrix_count; j++) {
                wild_matrix(seed, 10.0, palette_matrices + 12 * (size_t)j);
            }
        }
        assert_int_equal(count_outside(clusters, mesh, vertices, bounds, palette_matrices), 0);
    }
    free(morphed);
    free(spheres);
    pelt_clusters_destroy(clusters);
    pelt_packed_mesh_destroy(mesh);
}

static void check_model(pelt_model *model, uint64_t *seed)
{
    pelt_pose *pose;
    assert_int_equal(pelt_pose_create(NULL, model, &pose), PELT_OK);
    float *matrices = allocate(model->matrix_count, 12 * sizeof(*matrices));
    for (uint32_t i = 0; i < model->part_count; i++) {
        check_part(pose, &model->parts[i], matrices, seed);
    }
    free(matrices);
    pelt_pose_destroy(pose);
    pelt_model_destroy(model);
}

static void boxes_hold_the_sample(void **state)
{
    (void)state;
    uint64_t seed = 1;
    pelt_model *model;
    const pelt_sample_info info = { .vertices = 4000 };
    assert_int_equal(pelt_sample_create(NULL, &info, &model), PELT_OK);
    check_model(model, &seed);
}

/* All models below a folder; how many. */
static uint32_t check_folder(const char *folder, uint64_t *seed)
{
    DIR *listing = opendir(folder);
    struct dirent *entry;
    uint32_t count = 0;
    while (listing && (entry = readdir(listing))) {
        char path[1024];
        const char *dot = strrchr(entry->d_name, '.');
        (void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (dot && (strcmp(dot, ".gltf") == 0 || strcmp(dot, ".glb") == 0)) {
            pelt_model *model;
            if (pelt_gltf_read(NULL, path, &model) == PELT_OK) { /* not with unknown extensions */
                check_model(model, seed);
                count++;
            }
        } else if (entry->d_name[0] != '.') {
            count += check_folder(path, seed);
        }
    }
    if (listing) {
        (void)closedir(listing);
    }
    return count;
}

static void boxes_hold_all_assets(void **state)
{
    (void)state;
    const char *shared = getenv("PELT_SHARED");
    char folder[1024];
    uint64_t seed = 2;
    (void)snprintf(folder, sizeof(folder), "%s/assets/models", shared ? shared : "../shared");
    uint32_t count = check_folder(folder, &seed);
    print_message("%u models in %s\n", count, folder);
    if (count == 0) {
        skip();
    }
    assert_true(count > 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spheres_hold_their_vertices),
        cmocka_unit_test(spheres_are_small),
        cmocka_unit_test(moved_spheres_grow_by_the_largest_stretch),
        cmocka_unit_test(spheres_hold_what_they_held),
        cmocka_unit_test(boxes_hold_random_poses),
        cmocka_unit_test(boxes_are_no_larger_than_their_spheres),
        cmocka_unit_test(a_bent_tube_stays_in_its_boxes),
        cmocka_unit_test(boxes_hold_the_sample),
        cmocka_unit_test(boxes_hold_all_assets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
