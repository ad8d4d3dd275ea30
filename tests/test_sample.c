/* The built-in character: closed, well formed, rightly rigged, looping, the same every time. */
#include "sample/sample.h"

#include <pelt/pose.h>
#include <pelt/skin.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static pelt_model *make(uint32_t vertices, uint32_t joints)
{
    pelt_sample_info info = { .vertices = vertices, .joints = joints };
    pelt_model *model;
    assert_int_equal(pelt_sample_create(NULL, &info, &model), PELT_OK);
    assert_non_null(model);
    return model;
}

static const pelt_primitive *body(const pelt_model *model)
{
    assert_int_equal(model->mesh_count, 1);
    assert_int_equal(model->meshes[0].primitive_count, 1);
    return &model->meshes[0].primitives[0];
}

static void *allocate(size_t count, size_t size)
{
    void *block = calloc(count, size);
    assert_non_null(block);
    return block;
}

static void test_vertex_counts(void **state)
{
    (void)state;
    const uint32_t wanted[] = { 200, 500, 6000, 20000, 210000 };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); ++i) {
        pelt_model *model = make(wanted[i], 0);
        double got = body(model)->vertex_count;
        assert_true(fabs(got / wanted[i] - 1.0) <= 0.03);
        pelt_model_destroy(model);
    }
    pelt_model *model = make(0, 0);
    assert_true(fabs(body(model)->vertex_count / (double)PELT_SAMPLE_VERTICES_DEFAULT - 1.0) <=
                0.03);
    assert_int_equal(model->skins[0].joint_count, PELT_SAMPLE_JOINTS_DEFAULT);
    pelt_model_destroy(model);
}

/* A triangle's corner: edge from its vertex to the next one. */
typedef struct edge {
    uint64_t key; /* from, to */
    uint32_t corner;
} edge;

static int compare_edges(const void *a, const void *b)
{
    uint64_t x = ((const edge *)a)->key, y = ((const edge *)b)->key;
    return (x > y) - (x < y);
}

static uint64_t edge_key(uint32_t from, uint32_t to)
{
    return (uint64_t)from << 32 | to;
}

static uint32_t next_corner(uint32_t corner)
{
    return corner / 3 * 3 + (corner + 1) % 3;
}

static uint32_t find_root(uint32_t *parents, uint32_t v)
{
    while (parents[v] != v) {
        v = parents[v] = parents[parents[v]];
    }
    return v;
}

/* Every edge has one triangle on each side, in opposite directions; around every vertex there is
 * one closed fan; and V - E + F is 2 for each of the parts: spheres. */
static void check_closed(const pelt_primitive *p, uint32_t parts)
{
    assert_int_equal(p->topology, PELT_TRIANGLES);
    assert_int_equal(p->index_count % 3, 0);
    edge *edges = allocate(p->index_count, sizeof(*edges));
    uint32_t *parents = allocate(p->vertex_count, sizeof(*parents));
    uint32_t *corners = allocate(p->vertex_count, sizeof(*corners));
    uint32_t *a_corner = allocate(p->vertex_count, sizeof(*a_corner));
    for (uint32_t v = 0; v < p->vertex_count; ++v) {
        parents[v] = v;
    }
    for (uint32_t c = 0; c < p->index_count; ++c) {
        uint32_t from = p->indices[c], to = p->indices[next_corner(c)];
        assert_true(from < p->vertex_count);
        assert_int_not_equal(from, to);
        edges[c] = (edge){ edge_key(from, to), c };
        parents[find_root(parents, from)] = find_root(parents, to);
        ++corners[from];
        a_corner[from] = c;
    }
    qsort(edges, p->index_count, sizeof(*edges), compare_edges);
    for (uint32_t i = 1; i < p->index_count; ++i) {
        assert_true(edges[i - 1].key < edges[i].key);
    }
    uint32_t roots = 0;
    for (uint32_t v = 0; v < p->vertex_count; ++v) {
        roots += parents[v] == v;
        assert_true(corners[v] >= 3);
        /* Around v: across the edge that enters it to the triangle where it is left. */
        uint32_t corner = a_corner[v], count = 0;
        do {
            uint32_t before = next_corner(next_corner(corner));
            edge wanted = { edge_key(v, p->indices[before]), 0 };
            const edge *twin =
                bsearch(&wanted, edges, p->index_count, sizeof(*edges), compare_edges);
            assert_non_null(twin);
            corner = twin->corner;
            ++count;
        } while (corner != a_corner[v] && count <= corners[v]);
        assert_int_equal(count, corners[v]);
    }
    assert_int_equal(roots, parts);
    int64_t faces = p->index_count / 3;
    assert_int_equal((int64_t)p->vertex_count - faces * 3 / 2 + faces, 2 * (int64_t)parts);
    free(edges);
    free(parents);
    free(corners);
    free(a_corner);
}

static void test_closed(void **state)
{
    (void)state;
    /* The body and two eyes; from 1,000 vertices on four lights in them, two brows and a mouth. */
    const struct {
        uint32_t vertices, parts;
    } cases[] = {
        { 200, 3 }, { 500, 3 }, { 1000, 10 }, { 6000, 10 }, { 20000, 10 }, { 50000, 10 }
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
        pelt_model *model = make(cases[i].vertices, 0);
        check_closed(body(model), cases[i].parts);
        pelt_model_destroy(model);
    }
}

static double dot(const float *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double length(const float *a)
{
    return sqrt((double)a[0] * a[0] + (double)a[1] * a[1] + (double)a[2] * a[2]);
}

static void triangle_normal(const pelt_primitive *p, uint32_t first, double normal[3])
{
    const float *a = p->positions + 3 * (size_t)p->indices[first];
    const float *b = p->positions + 3 * (size_t)p->indices[first + 1];
    const float *c = p->positions + 3 * (size_t)p->indices[first + 2];
    for (int i = 0; i < 3; ++i) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        normal[i] = ((double)b[j] - a[j]) * ((double)c[k] - a[k]) -
                    ((double)b[k] - a[k]) * ((double)c[j] - a[j]);
    }
}

/* Stored normals against those of the triangles, which point outward because the volume that they
 * enclose comes out positive. */
static void test_directions(void **state)
{
    (void)state;
    const uint32_t counts[] = { 500, 6000, 50000 };
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); ++i) {
        pelt_model *model = make(counts[i], 0);
        const pelt_primitive *p = body(model);
        double(*sums)[3] = allocate(p->vertex_count, sizeof(*sums));
        double volume = 0.0;
        for (uint32_t t = 0; t < p->index_count; t += 3) {
            double normal[3];
            triangle_normal(p, t, normal);
            volume += dot(p->positions + 3 * (size_t)p->indices[t], normal) / 6.0;
            for (int k = 0; k < 9; ++k) {
                sums[p->indices[t + k / 3]][k % 3] += normal[k % 3];
            }
        }
        /* A torso of about 0.13 m by 0.35 m, a head of 0.2 m, a tail of 0.1 m by 0.5 m. */
        assert_true(volume > 0.04 && volume < 0.12);
        uint32_t left = 0, off = 0;
        for (size_t v = 0; v < p->vertex_count; ++v) {
            const float *n = p->normals + 3 * v, *t = p->tangents + 4 * v;
            double size =
                sqrt(sums[v][0] * sums[v][0] + sums[v][1] * sums[v][1] + sums[v][2] * sums[v][2]);
            const double t_double[3] = { t[0], t[1], t[2] };
            /* In creases, such as the scarf's, the two may differ; nowhere do they disagree. */
            assert_true(dot(n, sums[v]) >= 0.1 * size);
            off += dot(n, sums[v]) < 0.9 * size;
            /* Each component is rounded by at most 2^-25: 6e-8 in all. */
            assert_true(fabs(length(n) - 1.0) < 1e-7);
            assert_true(fabs(length(t) - 1.0) < 1e-7);
            assert_true(fabs(dot(n, t_double)) < 2e-7);
            assert_true(t[3] == 1.0f || t[3] == -1.0f);
            left += t[3] == 1.0f;
            for (int k = 0; k < 4; ++k) {
                assert_true(p->colors[4 * v + k] >= 0.0f && p->colors[4 * v + k] <= 1.0f);
            }
        }
        assert_true(off <= p->vertex_count / (counts[i] < 1000 ? 10 : 50));
        assert_true(left > p->vertex_count / 3 && left < p->vertex_count * 2 / 3);
        free(sums);
        pelt_model_destroy(model);
    }
}

static int find_joint(const pelt_model *model, const char *name)
{
    const pelt_skin *skin = &model->skins[0];
    for (uint32_t j = 0; j < skin->joint_count; ++j) {
        if (strcmp(model->nodes[skin->joints[j]].name, name) == 0) {
            return (int)j;
        }
    }
    return -1;
}

static bool is_arm(const char *name)
{
    return strncmp(name, "upper_arm", 9) == 0 || strncmp(name, "lower_arm", 9) == 0 ||
           strncmp(name, "hand", 4) == 0 || strncmp(name, "fingers", 7) == 0 ||
           strncmp(name, "thumb", 5) == 0;
}

static void check_weights(const pelt_model *model)
{
    const pelt_primitive *p = body(model);
    const pelt_skin *skin = &model->skins[0];
    assert_int_equal(p->influence_count, 4);
    int head = find_joint(model, "head");
    for (size_t v = 0; v < p->vertex_count; ++v) {
        const float *w = p->weights + 4 * v;
        const uint16_t *joints = p->joints + 4 * v;
        const float *at = p->positions + 3 * v;
        double sum = 0.0;
        for (int k = 0; k < 4; ++k) {
            assert_true(w[k] >= 0.0f && w[k] <= 1.0f);
            assert_true(k == 0 || w[k] <= w[k - 1]);
            assert_true(joints[k] < skin->joint_count);
            assert_true(w[k] > 0.0f || joints[k] == 0);
            for (int i = 0; i < k; ++i) {
                assert_true(w[k] == 0.0f || joints[i] != joints[k]);
            }
            sum += w[k];
            /* No arm pulls at the middle of the trunk, nor at a hip. */
            bool trunk = at[1] > 0.4f && at[1] < 0.54f && fabsf(at[0]) < 0.16f;
            if (trunk && w[k] > 0.0f) {
                assert_false(is_arm(model->nodes[skin->joints[joints[k]]].name));
            }
        }
        /* Four weights of at most 1, each rounded by at most 2^-25. */
        assert_true(fabs(sum - 1.0) <= 1.2e-7);
        bool snout = at[1] > 0.88f && at[1] < 1.05f && at[2] > 0.16f;
        if (snout && head >= 0) {
            assert_true(joints[0] == head && w[0] == 1.0f);
        }
    }
}

static void test_weights(void **state)
{
    (void)state;
    const struct {
        uint32_t vertices, joints;
    } cases[] = { { 500, 0 }, { 6000, 0 }, { 6000, 2 }, { 6000, 17 }, { 20000, 300 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
        pelt_model *model = make(cases[i].vertices, cases[i].joints);
        check_weights(model);
        pelt_model_destroy(model);
    }
    /* Every joint of the natural rig moves something. */
    pelt_model *model = make(6000, 0);
    const pelt_primitive *p = body(model);
    bool moved[PELT_SAMPLE_JOINTS_DEFAULT] = { false };
    for (size_t i = 0; i < 4 * (size_t)p->vertex_count; ++i) {
        moved[p->joints[i]] |= p->weights[i] > 0.3f;
    }
    for (int j = 0; j < PELT_SAMPLE_JOINTS_DEFAULT; ++j) {
        assert_true(moved[j]);
    }
    pelt_model_destroy(model);
}

static size_t suffix_count(const pelt_model *model, const char *suffix)
{
    size_t count = 0;
    for (uint32_t n = 0; n < model->node_count; ++n) {
        size_t size = strlen(model->nodes[n].name);
        count += size > 2 && strcmp(model->nodes[n].name + size - 2, suffix) == 0;
    }
    return count;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void check_names(const pelt_model *model)
{
    char **names = allocate(model->node_count, sizeof(*names));
    for (uint32_t n = 0; n < model->node_count; ++n) {
        names[n] = model->nodes[n].name;
    }
    qsort(names, model->node_count, sizeof(*names), compare_names);
    for (uint32_t n = 1; n < model->node_count; ++n) {
        assert_true(strcmp(names[n - 1], names[n]) != 0);
    }
    free(names);
}

static void check_joints(uint32_t wanted)
{
    pelt_model *model = make(200, wanted);
    const pelt_skin *skin = &model->skins[0];
    assert_int_equal(skin->joint_count, wanted);
    assert_int_equal(model->node_count, wanted + 2);
    assert_int_equal(suffix_count(model, ".L"), suffix_count(model, ".R"));
    check_names(model);

    /* One root that is no joint, hips under it, everything else under a joint. */
    assert_int_equal(model->nodes[0].parent, -1);
    for (uint32_t j = 0; j < wanted; ++j) {
        const pelt_node *node = &model->nodes[skin->joints[j]];
        int32_t parent = node->parent;
        for (int i = 0; i < 4; ++i) {
            assert_true(fabs(node->rotation[i]) <= 1.0);
        }
        assert_true(j == 0 ? parent == 0 : parent >= 1 && (uint32_t)parent < skin->joints[j]);
    }
    assert_string_equal(model->nodes[skin->joints[0]].name, "hips");

    /* In the bind pose every skin matrix is the identity. Inverse bind matrices are rounded to
     * float, by 6e-8 of a rotation that then meets a distance of at most 1.5. */
    pelt_pose *pose;
    assert_int_equal(pelt_pose_create(NULL, model, &pose), PELT_OK);
    assert_int_equal(pelt_pose_evaluate(pose, NULL, 0), PELT_OK);
    double *matrices = allocate(model->matrix_count, 12 * sizeof(*matrices));
    assert_int_equal(pelt_pose_skin_matrices_double(pose, NULL, matrices), PELT_OK);
    for (uint32_t i = 0; i < 12 * wanted; ++i) {
        assert_true(fabs(matrices[i] - (i % 12 % 5 == 0)) < 5e-7);
    }
    free(matrices);
    pelt_pose_destroy(pose);
    pelt_model_destroy(model);
}

static void test_joint_counts(void **state)
{
    (void)state;
    const uint32_t counts[] = {
        1, 2, 3, 4, 6, 15, 24, 29, 31, 34, 77, 700, PELT_SAMPLE_JOINTS_MAX
    };
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); ++i) {
        check_joints(counts[i]);
    }
}

static void check_keys(const pelt_model *model, bool kinds[3])
{
    for (uint32_t c = 0; c < model->clip_count; ++c) {
        const pelt_clip *clip = &model->clips[c];
        for (uint32_t s = 0; s < clip->sampler_count; ++s) {
            const pelt_sampler *sampler = &clip->samplers[s];
            bool spline = sampler->interpolation == PELT_CUBICSPLINE;
            size_t stride = sampler->width * (spline ? 3u : 1u);
            kinds[sampler->interpolation] = true;
            assert_true(sampler->times[0] == 0.0f);
            assert_true(sampler->times[sampler->key_count - 1] == (float)clip->duration);
            for (uint32_t k = 0; k < sampler->key_count; ++k) {
                assert_true(k == 0 || sampler->times[k] > sampler->times[k - 1]);
                const float *q = sampler->values + k * stride + (spline ? sampler->width : 0);
                if (sampler->width == 4) {
                    double square = 0.0, with_last = 0.0;
                    for (int i = 0; i < 4; ++i) {
                        square += (double)q[i] * q[i];
                        with_last += k ? (double)q[i] * *(q + i - stride) : 1.0;
                    }
                    assert_true(fabs(square - 1.0) < 3e-7);
                    assert_true(with_last > 0.5);
                }
            }
        }
    }
}

/* Globals of all nodes at a time that is not wrapped. */
static void pose_at(pelt_pose *pose, int32_t clip, double time)
{
    pelt_play play = { .clip = clip, .time = time };
    assert_int_equal(pelt_pose_evaluate(pose, &play, 1), PELT_OK);
}

static void test_clips_loop(void **state)
{
    (void)state;
    const uint32_t rigs[] = { 2, 13, 30, 120 };
    for (size_t r = 0; r < sizeof(rigs) / sizeof(*rigs); ++r) {
        pelt_model *model = make(200, rigs[r]);
        assert_int_equal(model->clip_count, 2);
        assert_int_equal(pelt_model_find_clip(model, "walk"), 0);
        assert_int_equal(pelt_model_find_clip(model, "wave"), 1);
        assert_true(fabs(model->clips[0].duration - 1.0) < 1e-6);
        assert_true(fabs(model->clips[1].duration - 2.6) < 1e-6);
        bool kinds[3] = { false };
        check_keys(model, kinds);
        assert_true(kinds[PELT_LINEAR] && kinds[PELT_CUBICSPLINE] && !kinds[PELT_STEP]);

        pelt_pose *pose;
        assert_int_equal(pelt_pose_create(NULL, model, &pose), PELT_OK);
        size_t count = 12 * (size_t)model->node_count;
        double *first = allocate(count, sizeof(*first));
        for (int32_t clip = 0; clip < 2; ++clip) {
            pose_at(pose, clip, 0.0);
            memcpy(first, pose->globals, count * sizeof(*first));
            /* First and last keys are rounded from the same numbers but may differ in sign. */
            pose_at(pose, clip, model->clips[clip].duration);
            for (size_t i = 0; i < count; ++i) {
                assert_true(fabs(pose->globals[i] - first[i]) < 1e-6);
            }
            /* Nor does anything jump: 4 ms on, nothing is farther than at 4 m/s. */
            pose_at(pose, clip, model->clips[clip].duration - 0.004);
            for (size_t i = 0; i < count; ++i) {
                assert_true(i % 4 != 3 || fabs(pose->globals[i] - first[i]) < 0.016);
            }
        }
        free(first);
        pelt_pose_destroy(pose);
        pelt_model_destroy(model);
    }
}

/* Where a node is. */
static double place(const pelt_pose *pose, const char *name, int axis)
{
    int joint = find_joint(pose->model, name);
    assert_true(joint >= 0);
    return pose->globals[12 * pose->model->skins[0].joints[joint] + 4 * (uint32_t)axis + 3];
}

static void test_motion(void **state)
{
    (void)state;
    pelt_model *model = make(6000, 0);
    const pelt_primitive *p = body(model);
    pelt_pose *pose;
    assert_int_equal(pelt_pose_create(NULL, model, &pose), PELT_OK);
    double *matrices = allocate(model->matrix_count, 12 * sizeof(*matrices));

    /* Soles stay on the floor, or within a centimetre of it, and some of one always touches. */
    for (int32_t clip = 0; clip < 2; ++clip) {
        for (int i = 0; i < 20; ++i) {
            pose_at(pose, clip, model->clips[clip].duration * i / 20);
            assert_int_equal(pelt_pose_skin_matrices_double(pose, NULL, matrices), PELT_OK);
            double box[6] = { INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY };
            double *positions = allocate(p->vertex_count, 3 * sizeof(*positions));
            pelt_reference_job job = { .primitive = p,
                                       .matrices = matrices,
                                       .positions = positions };
            pelt_skin_reference(&job, 0, p->vertex_count, box);
            assert_true(fabs(box[1]) < 0.01);
            assert_true(box[4] > 1.25 && box[4] < 1.5);
            free(positions);
        }
    }

    /* Half a cycle later the legs have changed places; the tail is where its lag puts it. */
    for (int i = 0; i < 12; ++i) {
        pose_at(pose, 0, i / 24.0);
        double left = place(pose, "foot.L", 2), right = place(pose, "foot.R", 2);
        double knee = place(pose, "lower_leg.L", 1), sway = place(pose, "hips", 0);
        pose_at(pose, 0, i / 24.0 + 0.5);
        assert_true(fabs(place(pose, "foot.R", 2) - left) < 1e-5);
        assert_true(fabs(place(pose, "foot.L", 2) - right) < 1e-5);
        assert_true(fabs(place(pose, "lower_leg.R", 1) - knee) < 1e-5);
        assert_true(fabs(place(pose, "hips", 0) + sway) < 1e-5);
    }
    pose_at(pose, 0, 0.0);
    assert_true(place(pose, "foot.L", 2) - place(pose, "foot.R", 2) > 0.12);
    assert_true(place(pose, "hand.R", 2) - place(pose, "hand.L", 2) > 0.15);

    /* The right hand goes up and from side to side; feet stay where they are. */
    pose_at(pose, 1, 0.0);
    double foot = place(pose, "foot.R", 0), low = place(pose, "hand.R", 1);
    double out = -1e9, in = 1e9;
    for (int i = 0; i <= 24; ++i) {
        pose_at(pose, 1, 0.8 + i / 24.0);
        double x = place(pose, "hand.R", 0);
        out = fmax(out, x);
        in = fmin(in, x);
        assert_true(place(pose, "hand.R", 1) > low + 0.25);
        assert_true(fabs(place(pose, "foot.R", 0) - foot) < 0.002);
    }
    assert_true(out - in > 0.05);
    free(matrices);
    pelt_pose_destroy(pose);
    pelt_model_destroy(model);
}

static void test_same_every_time(void **state)
{
    (void)state;
    pelt_model *a = make(3000, 50), *b = make(3000, 50);
    const pelt_primitive *p = body(a), *q = body(b);
    assert_int_equal(p->vertex_count, q->vertex_count);
    assert_int_equal(p->index_count, q->index_count);
    size_t n = p->vertex_count;
    assert_memory_equal(p->positions, q->positions, 12 * n);
    assert_memory_equal(p->normals, q->normals, 12 * n);
    assert_memory_equal(p->tangents, q->tangents, 16 * n);
    assert_memory_equal(p->colors, q->colors, 16 * n);
    assert_memory_equal(p->joints, q->joints, 8 * n);
    assert_memory_equal(p->weights, q->weights, 16 * n);
    assert_memory_equal(p->indices, q->indices, 4 * (size_t)p->index_count);
    for (uint32_t c = 0; c < a->clip_count; ++c) {
        const pelt_sampler *s = &a->clips[c].samplers[a->clips[c].sampler_count - 1];
        const pelt_sampler *t = &b->clips[c].samplers[b->clips[c].sampler_count - 1];
        size_t numbers = s->key_count * s->width * (s->interpolation == PELT_CUBICSPLINE ? 3u : 1u);
        assert_memory_equal(s->values, t->values, numbers * sizeof(float));
    }
    pelt_model_destroy(a);
    pelt_model_destroy(b);
}

/* A host that has no memory from some request on, and counts what it has given out. */
typedef struct ration {
    size_t left;
    size_t blocks;
    uint32_t messages;
} ration;

static void *rationed(void *user, void *block, size_t size)
{
    ration *r = user;
    if (size == 0) {
        r->blocks -= block != NULL;
        free(block);
        return NULL;
    }
    if (r->left == 0) {
        return NULL;
    }
    --r->left;
    r->blocks += block == NULL;
    return realloc(block, size);
}

static void count_message(void *user, const pelt_message *message)
{
    ration *r = user;
    r->messages += message->severity == PELT_ERROR && message->text[0] != '\0';
}

static void test_without_memory(void **state)
{
    (void)state;
    const pelt_sample_info info = { .vertices = 1000, .joints = 0 };
    ration r = { .left = SIZE_MAX };
    pelt_host host = { .user = &r, .allocate = rationed, .message = count_message };
    pelt_model *model;
    assert_int_equal(pelt_sample_create(&host, &info, &model), PELT_OK);
    size_t requests = SIZE_MAX - r.left;
    pelt_model_destroy(model);
    assert_int_equal(r.blocks, 0);
    assert_int_equal(r.messages, 0);
    /* Every request up to the surface's, then some of what follows. */
    assert_true(requests > 40);
    for (size_t i = 0; i < requests; i += i < 14 ? 1 : 1 + requests / 12) {
        r = (ration){ .left = i };
        assert_int_equal(pelt_sample_create(&host, &info, &model), PELT_ERROR_MEMORY);
        assert_null(model);
        assert_int_equal(r.blocks, 0);
    }
}

static void test_arguments(void **state)
{
    (void)state;
    const pelt_sample_info wrong[] = { { .vertices = PELT_SAMPLE_VERTICES_MIN - 1 },
                                       { .vertices = PELT_SAMPLE_VERTICES_MAX + 1 },
                                       { .vertices = UINT32_MAX },
                                       { .joints = PELT_SAMPLE_JOINTS_MAX + 1 },
                                       { .joints = UINT32_MAX } };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); ++i) {
        ration r = { .left = SIZE_MAX };
        pelt_host host = { .user = &r, .allocate = rationed, .message = count_message };
        pelt_model *model = (pelt_model *)&r;
        assert_int_equal(pelt_sample_create(&host, &wrong[i], &model), PELT_ERROR_ARGUMENT);
        assert_null(model);
        assert_int_equal(r.messages, 1);
        assert_int_equal(r.blocks, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vertex_counts),  cmocka_unit_test(test_closed),
        cmocka_unit_test(test_directions),     cmocka_unit_test(test_weights),
        cmocka_unit_test(test_joint_counts),   cmocka_unit_test(test_clips_loop),
        cmocka_unit_test(test_motion),         cmocka_unit_test(test_same_every_time),
        cmocka_unit_test(test_without_memory), cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
