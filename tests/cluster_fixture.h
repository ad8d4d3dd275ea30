/* Surfaces, and what their clusters must satisfy, for the tests of clusters. */
#ifndef PELT_TESTS_CLUSTER_FIXTURE_H
#define PELT_TESTS_CLUSTER_FIXTURE_H

#include "pack_fixture.h"

#include <pelt/cluster.h>

/* A grid of points in rows of width, in the xy plane and bent a little along z, and the first so
 * many triangles between them. */
static inline pelt_primitive make_grid(uint32_t width, uint32_t triangle_count, uint32_t slots)
{
    uint32_t quads = (triangle_count + 1) / 2, columns = width - 1;
    uint32_t rows = (quads + columns - 1) / columns + 1;
    pelt_primitive p = make_primitive(width * rows, slots, width);
    p.topology = PELT_TRIANGLES;
    for (uint32_t v = 0; v < p.vertex_count; v++) {
        uint32_t row = v / width;
        float x = (float)(v % width), y = (float)row;
        memcpy(p.positions + 3 * (size_t)v, (float[]){ x, y, 0.01f * x * y }, 3 * sizeof(float));
    }
    p.index_count = 3 * triangle_count;
    p.indices = allocate(p.index_count, sizeof(*p.indices));
    for (uint32_t i = 0; i < triangle_count; i++) {
        uint32_t quad = i / 2, v = quad / columns * width + quad % columns;
        uint32_t lower[3] = { v, v + 1, v + width };
        uint32_t upper[3] = { v + 1, v + width + 1, v + width };
        memcpy(p.indices + 3 * (size_t)i, i % 2 ? upper : lower, sizeof(lower));
    }
    return p;
}

/* A tube along y of radius 1 and length 8, open at both ends, on 8 joints that are a unit apart;
 * every vertex is moved by the two joints it lies between. seam: the last column of vertices lies
 * upon the first, with other texture coordinates. */
static inline pelt_primitive make_tube(uint32_t around, uint32_t along, bool seam)
{
    uint32_t columns = around + seam;
    pelt_primitive p = make_primitive(columns * (along + 1), 4, 1);
    p.topology = PELT_TRIANGLES;
    p.texcoords = allocate(p.vertex_count, 2 * sizeof(float));
    for (uint32_t v = 0; v < p.vertex_count; v++) {
        uint32_t row = v / columns, column = v % columns;
        double angle = 2.0 * 3.14159265358979 * (column % around) / around;
        double y = 8.0 * row / along, at = fmin(fmax(y - 0.5, 0.0), 7.0);
        uint32_t joint = (uint32_t)fmin(at, 6.0);
        const float position[3] = { (float)cos(angle), (float)y, (float)sin(angle) };
        memcpy(p.positions + 3 * (size_t)v, position, sizeof(position));
        p.texcoords[2 * (size_t)v] = (float)column / (float)around;
        p.texcoords[2 * (size_t)v + 1] = (float)y;
        p.joints[4 * (size_t)v] = (uint16_t)joint;
        p.joints[4 * (size_t)v + 1] = (uint16_t)(joint + 1);
        p.weights[4 * (size_t)v] = (float)(1.0 - (at - joint));
        p.weights[4 * (size_t)v + 1] = 1.0f - p.weights[4 * (size_t)v];
    }
    p.index_count = 6 * around * along;
    p.indices = allocate(p.index_count, sizeof(*p.indices));
    for (uint32_t i = 0; i < around * along; i++) {
        uint32_t row = i / around * columns, column = i % around, next = (column + 1) % columns;
        uint32_t a = row + column, b = row + next, c = a + columns, d = b + columns;
        memcpy(p.indices + 6 * (size_t)i, (uint32_t[]){ a, c, b, b, c, d }, 6 * sizeof(uint32_t));
    }
    return p;
}

/* Each joint of the tube turned against the one before it, by up to so much, about an axis across.
 */
static inline void bend_tube(uint64_t *seed, double most, float matrices[8 * 12])
{
    double m[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    for (int joint = 0; joint < 8; joint++) {
        double a = uniform(seed, -most, most), c = cos(a), s = sin(a), y = joint + 0.5;
        const double about_x[12] = { 1, 0, 0, 0, 0, c, -s, y - c * y, 0, s, c, -s * y };
        const double about_z[12] = { c, -s, 0, s * y, s, c, 0, y - c * y, 0, 0, 1, 0 };
        const double *turn = below(seed, 2) ? about_x : about_z;
        double product[12];
        for (int i = 0; i < 12; i++) {
            product[i] = i % 4 == 3 ? m[i] : 0.0;
            for (int k = 0; k < 3; k++) {
                product[i] += m[i / 4 * 4 + k] * turn[4 * k + i % 4];
            }
        }
        memcpy(m, product, sizeof(m));
        for (int i = 0; i < 12; i++) {
            matrices[12 * joint + i] = (float)m[i];
        }
    }
}

static inline void free_surface(pelt_primitive *p)
{
    free(p->indices);
    free(p->texcoords);
    free_primitive(p);
}

static inline int compare_triangles(const void *a, const void *b)
{
    return memcmp(a, b, 3 * sizeof(uint32_t));
}

/* Each triangle begins with its smallest corner, winding kept; then all sorted. */
static inline void sort_triangles(uint32_t *corners, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t *t = corners + 3 * i;
        while (t[0] > t[1] || t[0] > t[2]) {
            uint32_t first = t[0];
            t[0] = t[1];
            t[1] = t[2];
            t[2] = first;
        }
    }
    qsort(corners, count, 3 * sizeof(uint32_t), compare_triangles);
}

/* The triangles of a level, as vertices of the primitive, sorted. The caller's to free. */
static inline uint32_t *level_triangles(const pelt_clusters *clusters, const pelt_packed_mesh *mesh,
                                        uint32_t lod)
{
    const pelt_lod *level = &clusters->lods[lod];
    uint32_t *corners = allocate(level->triangle_count, 3 * sizeof(*corners)), count = 0;
    for (uint32_t i = 0; i < level->cluster_count; i++) {
        const pelt_cluster *cluster = &clusters->clusters[level->first_cluster + i];
        for (uint32_t t = 0; t < cluster->triangle_count; t++) {
            uint32_t word = clusters->triangles[cluster->first_triangle + t];
            assert_true(count < level->triangle_count);
            for (uint32_t k = 0; k < 3; k++) {
                uint32_t place = (word >> (8 * k)) & 0xff;
                assert_true(place < cluster->vertex_count);
                corners[3 * count + k] =
                    mesh->source_vertices[clusters->vertex_table[cluster->first_vertex + place]];
            }
            assert_int_equal(word >> 24, 0);
            count++;
        }
    }
    assert_int_equal(count, level->triangle_count);
    sort_triangles(corners, count);
    return corners;
}

/* Records follow each other without gaps, within their limits; every vertex is used, none is listed
 * twice; influences lead to the same joints through the cluster's list; that list has exactly the
 * joints of its vertices, each once. */
static inline void check_records(const pelt_clusters *clusters, const pelt_packed_mesh *mesh,
                                 uint32_t most_vertices, uint32_t most_triangles)
{
    uint32_t vertex = 0, triangle = 0, joint = 0, most_joints = 0, lod = 0;
    uint32_t sets = mesh->set_count, *joints = allocate(4 * sets, sizeof(*joints));
    float *weights = allocate(4 * sets, sizeof(*weights));
    assert_int_equal(clusters->set_count, sets);
    for (uint32_t i = 0; i < clusters->cluster_count; i++) {
        const pelt_cluster *c = &clusters->clusters[i];
        assert_int_equal(c->first_vertex, vertex);
        assert_int_equal(c->first_triangle, triangle);
        assert_int_equal(c->first_joint, joint);
        assert_in_range(c->vertex_count, 3, most_vertices);
        assert_in_range(c->triangle_count, 1, most_triangles);
        assert_in_range(c->joint_count, 1, PELT_CLUSTER_JOINT_MAX);
        while (i == clusters->lods[lod].first_cluster + clusters->lods[lod].cluster_count) {
            lod++;
        }
        assert_int_equal(c->lod, lod);

        bool used[PELT_CLUSTER_VERTEX_MAX] = { 0 }, moving[PELT_CLUSTER_JOINT_MAX] = { 0 };
        for (uint32_t t = 0; t < c->triangle_count; t++) {
            uint32_t word = clusters->triangles[triangle + t];
            used[word & 0xff] = used[(word >> 8) & 0xff] = used[(word >> 16) & 0xff] = true;
        }
        for (uint32_t v = 0; v < c->vertex_count; v++) {
            const uint32_t *table = clusters->vertex_table + vertex;
            assert_true(used[v] && table[v] < mesh->vertex_count);
            assert_true(v == 0 || table[v] > table[v - 1]);
            pelt_unpack_influences(mesh, table[v], joints, weights);
            for (uint32_t k = 0; k < 4 * sets; k++) {
                uint32_t word = clusters->local_joints[(size_t)sets * vertex +
                                                       (size_t)(k / 4) * c->vertex_count + v];
                uint32_t place = (word >> (8 * (k % 4))) & 0xff;
                assert_true(place < c->joint_count);
                if (weights[k] > 0.0f) {
                    assert_int_equal(clusters->joints[joint + place], joints[k]);
                    moving[place] = true;
                }
            }
        }
        for (uint32_t j = 0; j < c->joint_count; j++) {
            assert_true(moving[j]);
            assert_true(j == 0 || clusters->joints[joint + j] > clusters->joints[joint + j - 1]);
        }
        vertex += c->vertex_count;
        triangle += c->triangle_count;
        joint += c->joint_count;
        most_joints = c->joint_count > most_joints ? c->joint_count : most_joints;
    }
    assert_int_equal(clusters->vertex_count, vertex);
    assert_int_equal(clusters->triangle_count, triangle);
    assert_int_equal(clusters->joint_count, joint);
    assert_int_equal(clusters->most_joints, most_joints);
    free(joints);
    free(weights);
}

static inline pelt_packed_mesh *pack_anyhow(const pelt_primitive *p)
{
    pelt_packed_mesh *mesh;
    assert_int_equal(pelt_pack(NULL, &(pelt_pack_info){ .primitive = p }, &mesh), PELT_OK);
    return mesh;
}

static inline pelt_clusters *cut(const pelt_packed_mesh *mesh, const pelt_primitive *primitive)
{
    pelt_clusters *clusters;
    pelt_clusters_info info = { .mesh = mesh, .primitive = primitive };
    assert_int_equal(pelt_clusters_create(NULL, &info, &clusters), PELT_OK);
    return clusters;
}

#endif
