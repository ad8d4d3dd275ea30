/* The float path against double precision, written out here from the formulas. */
#include "pack_fixture.h"

typedef struct outputs {
    float *positions;
    uint32_t *normals;
    uint32_t *tangents;
    pelt_box box;
} outputs;

static outputs skin(const pelt_packed_mesh *mesh, const float *matrices)
{
    outputs out = { allocate(mesh->vertex_count, 3 * sizeof(float)),
                    allocate(mesh->vertex_count, sizeof(uint32_t)),
                    allocate(mesh->vertex_count, sizeof(uint32_t)), PELT_BOX_EMPTY };
    pelt_skin_job job = { .mesh = mesh,
                          .matrices = matrices,
                          .out_positions = out.positions,
                          .out_normals = out.normals,
                          .out_tangents = out.tangents };
    pelt_skin_cpu(&job, 0, mesh->vertex_count, &out.box);
    return out;
}

static void free_outputs(outputs *out)
{
    free(out->positions);
    free(out->normals);
    free(out->tangents);
}

static void decode(uint32_t word, double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = ((double)(word >> 10 * i & 1023) - 512.0) / 511.0;
    }
}

static double length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static double angle(const double a[3], const double b[3])
{
    double c[3] = { a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                    a[0] * b[1] - a[1] * b[0] };
    return atan2(length(c), a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
}

/* The exact blend of a vertex by its decoded weights. */
static void blend(const pelt_packed_mesh *mesh, const float *matrices, uint32_t vertex,
                  double m[12])
{
    uint32_t joints[64];
    float weights[64];
    assert_true(mesh->set_count <= 16);
    pelt_unpack_influences(mesh, vertex, joints, weights);
    memset(m, 0, 12 * sizeof(*m));
    for (uint32_t k = 0; k < 4 * mesh->set_count; k++) {
        for (int i = 0; i < 12; i++) {
            m[i] += (double)weights[k] * matrices[12 * (size_t)joints[k] + (size_t)i];
        }
    }
}

static double determinant(const double a[3], const double b[3], const double c[3])
{
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
}

static void expected_vertex(const double m[12], const float position[3], const double normal[3],
                            const double tangent[3], double p[3], double n[3], double t[3])
{
    for (int i = 0; i < 3; i++) {
        const double *row = m + 4 * i;
        p[i] = row[0] * position[0] + row[1] * position[1] + row[2] * position[2] + row[3];
        t[i] = row[0] * tangent[0] + row[1] * tangent[1] + row[2] * tangent[2];
    }
    /* cof(A) n, component i: the determinant of A with row i replaced by n. */
    n[0] = determinant(normal, m + 4, m + 8);
    n[1] = determinant(m, normal, m + 8);
    n[2] = determinant(m, m + 4, normal);
}

/* Half a step of each of three components, and float rounding of a well-conditioned blend. */
static double direction_bound(void)
{
    return asin(sqrt(3.0) / 1022.0) + 1e-5;
}

static void check_box(const outputs *out, uint32_t vertex_count)
{
    for (int i = 0; i < 3; i++) {
        float min = INFINITY, max = -INFINITY;
        for (size_t v = 0; v < vertex_count; v++) {
            float c = out->positions[3 * v + (size_t)i];
            assert_true(isfinite(c));
            assert_false(c == 0.0f && signbit(c));
            min = c < min ? c : min;
            max = c > max ? c : max;
        }
        assert_memory_equal(&min, &out->box.min[i], sizeof(min));
        assert_memory_equal(&max, &out->box.max[i], sizeof(max));
    }
}

static double diagonal(const pelt_box *box)
{
    double d[3] = { (double)box->max[0] - box->min[0], (double)box->max[1] - box->min[1],
                    (double)box->max[2] - box->min[2] };
    return length(d);
}

static void agrees_with_double_precision(void **state)
{
    (void)state;
    static const struct {
        uint32_t slots, joints;
        double scale_low, scale_high, distance;
    } kinds[] = { { 4, 40, 0.5, 2.0, 1.0 },   { 4, 300, 1.0, 1.0, 4.0 },
                  { 8, 256, 0.1, 10.0, 1.0 }, { 60, 65536, 0.5, 2.0, 1.0 },
                  { 1, 1, 1e-6, 1e-5, 1e-6 }, { 4, 10, 1e5, 1e6, 1e6 } };
    double worst = 0.0, worst_angle = 0.0;
    for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
        uint32_t count = 20000, slots = kinds[kind].slots;
        uint64_t seed = kind;
        pelt_primitive p = make_primitive(count, slots, kind);
        random_influences(&p, slots, kinds[kind].joints, kind);
        pelt_packed_mesh *mesh = pack(&p);
        float *matrices = allocate(kinds[kind].joints, 12 * sizeof(float));
        for (uint32_t j = 0; j < kinds[kind].joints; j++) {
            random_matrix(&seed, kinds[kind].scale_low, kinds[kind].scale_high,
                          kinds[kind].distance, matrices + 12 * (size_t)j);
        }
        outputs out = skin(mesh, matrices);
        check_box(&out, count);
        uint32_t compared = 0;
        for (uint32_t v = 0; v < count; v++) {
            double m[12], position[3], normal[3], tangent[3], given[2][3], written[3];
            blend(mesh, matrices, v, m);
            decode(mesh->vertices[v].normal, given[0]);
            decode(mesh->tangents[v], given[1]);
            expected_vertex(m, mesh->vertices[v].position, given[0], given[1], position, normal,
                            tangent);
            for (size_t i = 0; i < 3; i++) {
                double error = fabs(out.positions[3 * (size_t)v + i] - position[i]);
                worst = fmax(worst, error / diagonal(&out.box));
            }
            assert_int_equal(out.normals[v] >> 30, 3);
            assert_int_equal(out.tangents[v] >> 30, mesh->tangents[v] >> 30);
            /* Where blended rotations nearly cancel, float and double directions may differ. */
            double largest = 0.0;
            for (int i = 0; i < 12; i++) {
                largest = i % 4 < 3 ? fmax(largest, fabs(m[i])) : largest;
            }
            if (length(normal) > 0.05 * largest * largest && length(tangent) > 0.05 * largest) {
                decode(out.normals[v], written);
                worst_angle = fmax(worst_angle, angle(written, normal));
                decode(out.tangents[v], written);
                worst_angle = fmax(worst_angle, angle(written, tangent));
                compared++;
            }
        }
        assert_true(compared > count / 2);
        free(matrices);
        free_outputs(&out);
        pelt_packed_mesh_destroy(mesh);
        free_primitive(&p);
    }
    print_message("worst position error %.2g of the box, direction %.4f degrees\n", worst,
                  worst_angle * 57.29578);
    assert_true(worst <= 2e-6);
    assert_true(worst_angle <= direction_bound());
}

static void agrees_with_the_reference(void **state)
{
    (void)state;
    enum { COUNT = 5000, JOINTS = 60 };
    pelt_primitive p = make_primitive(COUNT, 12, 8);
    random_influences(&p, 12, JOINTS, 8);
    uint32_t order[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        order[i] = (i + 1234) % COUNT;
    }
    pelt_packed_mesh *mesh;
    assert_int_equal(pelt_pack(NULL, &(pelt_pack_info){ .primitive = &p, .order = order }, &mesh),
                     PELT_OK);
    uint64_t seed = 8;
    float matrices[JOINTS * 12];
    double doubles[JOINTS * 12];
    for (int j = 0; j < JOINTS; j++) {
        random_matrix(&seed, 0.5, 2.0, 1.0, matrices + 12 * j);
    }
    for (int i = 0; i < JOINTS * 12; i++) {
        doubles[i] = matrices[i];
    }
    outputs out = skin(mesh, matrices);
    double *given = allocate(COUNT, 3 * sizeof(double)),
           *decoded = allocate(COUNT, 3 * sizeof(double));
    pelt_reference_job job = { .primitive = &p, .matrices = doubles, .positions = given };
    pelt_skin_reference(&job, 0, COUNT, NULL);
    job.positions = decoded;
    job.influences_of = mesh;
    pelt_skin_reference(&job, 0, COUNT, NULL);
    double *bounds = allocate(COUNT, sizeof(*bounds));
    assert_int_equal(pelt_pack_displacement(mesh, &p, NULL, doubles, NULL, bounds, NULL), PELT_OK);
    double allowed = 2e-6 * diagonal(&out.box);
    for (size_t to = 0; to < COUNT; to++) {
        size_t from = mesh->source_vertices[to];
        double difference[3];
        for (size_t i = 0; i < 3; i++) {
            double c = out.positions[3 * to + i];
            assert_true(fabs(c - decoded[3 * from + i]) <= allowed);
            difference[i] = c - given[3 * from + i];
        }
        assert_true(length(difference) <= bounds[to] + 2 * allowed);
    }
    free(given);
    free(decoded);
    free(bounds);
    free_outputs(&out);
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

static void a_rigid_vertex_lands_exactly(void **state)
{
    (void)state;
    pelt_primitive p = make_primitive(100, 8, 1);
    for (size_t v = 0; v < 100; v++) {
        p.weights[8 * v + v % 8] = 1.0f;
        p.joints[8 * v + v % 8] = 7;
        for (size_t i = 0; i < 3; i++) { /* so that adding 64 is exact */
            p.positions[3 * v + i] = roundf(p.positions[3 * v + i] * 4096.0f) / 4096.0f;
        }
    }
    float matrices[8 * 12] = { 0 };
    for (size_t j = 0; j < 8; j++) {
        matrices[12 * j] = matrices[12 * j + 5] = matrices[12 * j + 10] = 1.0f;
        matrices[12 * j + 3] = j == 7 ? 64.0f : 512.0f;
    }
    pelt_packed_mesh *mesh = pack(&p);
    outputs out = skin(mesh, matrices);
    for (size_t v = 0; v < 100; v++) {
        assert_true(out.positions[3 * v] == p.positions[3 * v] + 64.0f);
        assert_true(out.positions[3 * v + 1] == p.positions[3 * v + 1]);
        assert_true(out.positions[3 * v + 2] == p.positions[3 * v + 2]);
        /* What is decoded has not quite unit length, so it is coded anew and may differ a little.
         */
        double given[3], written[3];
        decode(mesh->vertices[v].normal, given);
        decode(out.normals[v], written);
        assert_true(angle(given, written) <= direction_bound());
        assert_int_equal(out.tangents[v] >> 30, mesh->tangents[v] >> 30);
    }
    free_outputs(&out);
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

/* One vertex with normal (0.48 0.6 0.64) and tangent (0.8 0 -0.6), w = -1. */
static void deform_one(const float matrix[12], double normal[3], double tangent[3])
{
    pelt_primitive p = make_primitive(1, 1, 1);
    p.weights[0] = 1.0f;
    memcpy(p.positions, (float[]){ 1, -2, 3 }, 3 * sizeof(float));
    memcpy(p.normals, (float[]){ 0.48f, 0.6f, 0.64f }, 3 * sizeof(float));
    memcpy(p.tangents, (float[]){ 0.8f, 0, -0.6f, -1 }, 4 * sizeof(float));
    pelt_packed_mesh *mesh = pack(&p);
    outputs out = skin(mesh, matrix);
    check_box(&out, 1);
    assert_int_equal(out.normals[0] >> 30, 3);
    assert_int_equal(out.tangents[0] >> 30, 0);
    decode(out.normals[0], normal);
    decode(out.tangents[0], tangent);
    assert_true(fabs(length(normal) - 1.0) < 0.002 && fabs(length(tangent) - 1.0) < 0.002);
    free_outputs(&out);
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

static void expect_direction(const double got[3], double x, double y, double z)
{
    /* Given and written are both coded: two half steps. */
    double expected[3] = { x, y, z };
    assert_true(angle(got, expected) <= 2 * direction_bound());
}

static void directions_that_vanish_have_a_stand_in(void **state)
{
    (void)state;
    double n[3], t[3];
    /* Rank 0. */
    deform_one((float[12]){ 0, 0, 0, 1 }, n, t);
    assert_true(n[0] == 0.0 && n[1] == 0.0 && n[2] == 1.0);
    assert_true(t[0] == 1.0 && t[1] == 0.0 && t[2] == 0.0);
    /* Rank 1, y to x: t = (0.8 0 -0.6) has no y. */
    deform_one((float[12]){ 0, 5, 0, 0 }, n, t);
    assert_true(n[0] == 0.0 && n[1] == 0.0 && n[2] == 1.0);
    assert_true(t[0] == 1.0 && t[1] == 0.0 && t[2] == 0.0);
    /* Rank 1, z to y. */
    deform_one((float[12]){ 0, 0, 0, 0, 0, 0, 2, 0 }, n, t);
    assert_true(n[0] == 0.0 && n[1] == 0.0 && n[2] == 1.0);
    assert_true(t[0] == 0.0 && t[1] == -1.0 && t[2] == 0.0);
    /* Rank 2: the plane's own normal, whatever n was. diag(2 3 0): cof = diag(0 0 6). */
    deform_one((float[12]){ 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0 }, n, t);
    assert_true(n[0] == 0.0 && n[1] == 0.0 && n[2] == 1.0);
    assert_true(t[0] == 1.0 && t[1] == 0.0 && t[2] == 0.0);
    /* diag(0 2 -3): cof = diag(-6 0 0). */
    deform_one((float[12]){ 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, -3, 0 }, n, t);
    assert_true(n[0] == -1.0 && n[1] == 0.0 && n[2] == 0.0);
    assert_true(t[2] == 1.0);
}

static void scale_and_mirrors_keep_directions_right(void **state)
{
    (void)state;
    double n[3], t[3];
    static const float scales[] = { 1e-38f, 1e-30f, 1e-18f, 1e-9f, 1e-3f, 1e6f, 1e12f, 1e18f };
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
        float s = scales[i];
        deform_one((float[12]){ s, 0, 0, 0, 0, s, 0, 0, 0, 0, s, 0 }, n, t);
        expect_direction(n, 0.48, 0.6, 0.64);
        expect_direction(t, 0.8, 0, -0.6);
        /* Twice along x: cof(A) / (2 s^2) = diag(1/2 1 1). */
        deform_one((float[12]){ s / 2, 0, 0, 0, 0, s / 4, 0, 0, 0, 0, s / 4, 0 }, n, t);
        expect_direction(n, 0.24, 0.6, 0.64);
        expect_direction(t, 1.6, 0, -0.6);
        /* Mirrored along x: cof = diag(1 -1 -1). */
        deform_one((float[12]){ -s, 0, 0, 0, 0, s, 0, 0, 0, 0, s, 0 }, n, t);
        expect_direction(n, 0.48, -0.6, -0.64);
        expect_direction(t, -0.8, 0, -0.6);
        /* A point mirror: cof(-A) = cof(A). */
        deform_one((float[12]){ -s, 0, 0, 0, 0, -s, 0, 0, 0, 0, -s, 0 }, n, t);
        expect_direction(n, 0.48, 0.6, 0.64);
        expect_direction(t, -0.8, 0, 0.6);
    }
    /* Elements that differ by more than the squares of floats: diag(a b b) has the cofactors
     * (b^2, a b, a b), of which the last two are all that is left of n, and the first of t. */
    deform_one((float[12]){ 1e30f, 0, 0, 0, 0, 1e-12f, 0, 0, 0, 0, 1e-12f, 0 }, n, t);
    expect_direction(n, 0, 0.6, 0.64);
    expect_direction(t, 0.8, 0, 0);
    /* diag(b a 0): cof = diag(0 0 a b). */
    deform_one((float[12]){ 1e-25f, 0, 0, 0, 0, 1e-1f, 0, 0, 0, 0, 0, 0 }, n, t);
    expect_direction(n, 0, 0, 1);
    expect_direction(t, 0.8, 0, 0);
    /* Shear x += y: cof has rows (1 0 0), (-1 1 0), (0 0 1). */
    deform_one((float[12]){ 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 }, n, t);
    expect_direction(n, 0.48, 0.12, 0.64);
    expect_direction(t, 0.8, 0, -0.6);
}

/* Every triangle's normal, made of its edges in bind pose, agrees with the edges after skinning. */
static void normals_agree_with_the_winding(void **state)
{
    (void)state;
    enum { TRIANGLES = 1000 };
    pelt_primitive p = make_primitive(3 * TRIANGLES, 1, 4);
    float *matrices = allocate(TRIANGLES, 12 * sizeof(float));
    uint64_t seed = 4;
    for (size_t v = 0; v < 3 * TRIANGLES; v++) {
        p.weights[v] = 1.0f;
        p.joints[v] = (uint16_t)(v / 3);
    }
    for (size_t t = 0; t < TRIANGLES; t++) {
        const float *a = p.positions + 9 * t, *b = a + 3, *c = a + 6;
        for (size_t i = 0; i < 3; i++) {
            size_t j = (i + 1) % 3, k = (i + 2) % 3;
            float n = (b[j] - a[j]) * (c[k] - a[k]) - (b[k] - a[k]) * (c[j] - a[j]);
            p.normals[9 * t + i] = p.normals[9 * t + 3 + i] = p.normals[9 * t + 6 + i] = n;
        }
        for (size_t i = 0; i < 12; i++) { /* any matrix at all: half of them mirror */
            matrices[12 * t + i] = (float)uniform(&seed, -1.0, 1.0);
        }
    }
    pelt_packed_mesh *mesh = pack(&p);
    outputs out = skin(mesh, matrices);
    uint32_t checked = 0;
    for (size_t t = 0; t < TRIANGLES; t++) {
        const float *a = out.positions + 9 * t, *b = a + 3, *c = a + 6;
        double face[3], normal[3],
            e[3] = { (double)b[0] - a[0], (double)b[1] - a[1], (double)b[2] - a[2] };
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, k = (i + 2) % 3;
            face[i] = e[j] * ((double)c[k] - a[k]) - e[k] * ((double)c[j] - a[j]);
        }
        decode(out.normals[3 * t], normal);
        if (length(face) > 0.05) {
            assert_true(angle(face, normal) < 0.05);
            checked++;
        }
    }
    assert_true(checked > TRIANGLES / 2);
    free(matrices);
    free_outputs(&out);
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

/* One vertex at (1 1 1), moved by what makes x of a product and z of a sum. */
static void tiny_positions_are_zero(void **state)
{
    (void)state;
    pelt_primitive p = make_primitive(1, 1, 1);
    random_influences(&p, 1, 1, 1);
    memcpy(p.positions, (float[]){ 1, 1, 1 }, 3 * sizeof(float));
    pelt_packed_mesh *mesh = pack(&p);
    static const float least = 0x1p-126f, below_least = 0x1.fffffcp-127f;
    const struct {
        float x, expected;
    } cases[] = {
        { least, least },   { -least, -least }, { below_least, 0.0f }, { -below_least, 0.0f },
        { 1e-45f, 0.0f },   { -1e-45f, 0.0f },  { 0.0f, 0.0f },        { -0.0f, 0.0f },
        { NAN, 0.0f },      { -NAN, 0.0f },     { 1.0f, 1.0f },        { -1.0f, -1.0f },
        { 1e-37f, 1e-37f },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        float x = cases[i].x;
        outputs out =
            skin(mesh, (float[12]){ x, -0.0f, -0.0f, -0.0f, 0, 1, 0, 0, -0.0f, -0.0f, -0.0f, x });
        const float expected[3] = { cases[i].expected, 1.0f, cases[i].expected };
        assert_memory_equal(out.positions, expected, 12);
        assert_memory_equal(out.box.min, out.positions, 12);
        assert_memory_equal(out.box.max, out.positions, 12);
        free_outputs(&out);
    }
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

/* Positions around the least normal float: what is below it is 0, in the box, too. */
static void boxes_hold_for_denormals_and_zero(void **state)
{
    (void)state;
    pelt_primitive p = make_primitive(50, 1, 1);
    random_influences(&p, 1, 1, 1);
    pelt_packed_mesh *mesh = pack(&p);
    static const float scales[] = { 1e-45f, 1e-43f, 1e-40f,    -1e-40f,
                                    0.0f,   -0.0f,  0x1p-126f, 0x1p-125f };
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
        float s = scales[i];
        outputs out = skin(mesh, (float[12]){ s, 0, 0, 0, 0, s, 0, -0.0f, 0, 0, s, 0 });
        check_box(&out, 50);
        uint32_t kept = 0;
        for (size_t k = 0; k < 150; k++) {
            float moved = (float)((double)s * p.positions[k]);
            assert_true(out.positions[k] == (fabsf(moved) >= 0x1p-126f ? moved : 0.0f));
            kept += out.positions[k] != 0.0f;
        }
        /* All positions are in [-1, 1], half of them above 1/2 in magnitude. */
        assert_true(i < 7 ? kept == 0 : kept > 0 && kept < 150);
        free_outputs(&out);
    }
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

static void ranges_compose(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 1, 63, 64, 65, 129, 1000 };
    for (size_t n = 0; n < sizeof(counts) / sizeof(counts[0]); n++) {
        uint32_t count = counts[n];
        pelt_primitive p = make_primitive(count, 6, n);
        random_influences(&p, 6, 20, n);
        pelt_packed_mesh *mesh = pack(&p);
        float matrices[20 * 12];
        uint64_t seed = n;
        for (int j = 0; j < 20; j++) {
            random_matrix(&seed, 0.5, 2.0, 3.0, matrices + 12 * j);
        }
        outputs whole = skin(mesh, matrices);

        /* In pieces, backwards, into 20-byte vertices between guards, tangents elsewhere. */
        enum { WORDS = 5 };
        uint32_t *vertices = allocate((size_t)(count + 1) * WORDS, sizeof(uint32_t));
        memset(vertices, 0xa5, (size_t)(count + 1) * WORDS * sizeof(uint32_t));
        pelt_skin_job job = { .mesh = mesh,
                              .matrices = matrices,
                              .out_positions = (float *)(void *)vertices,
                              .position_stride = 20,
                              .out_normals = vertices + 3,
                              .normal_stride = 20 };
        pelt_box box = PELT_BOX_EMPTY;
        pelt_skin_cpu(&job, count / 2, 0, &box);
        assert_memory_equal(&box, (&(pelt_box)PELT_BOX_EMPTY), sizeof(box));
        for (uint32_t end = count; end > 0;) {
            uint32_t piece = 1 + below(&seed, end < 50 ? end : 50);
            end -= piece;
            pelt_skin_cpu(&job, end, piece, &box);
        }
        assert_memory_equal(&box, &whole.box, sizeof(box));
        for (size_t v = 0; v < count; v++) {
            assert_memory_equal(vertices + WORDS * v, whole.positions + 3 * v, 12);
            assert_int_equal(vertices[WORDS * v + 3], whole.normals[v]);
            assert_int_equal(vertices[WORDS * v + 4], 0xa5a5a5a5u);
        }
        for (size_t i = 0; i < WORDS; i++) {
            assert_int_equal(vertices[WORDS * count + i], 0xa5a5a5a5u);
        }

        /* Positions alone, no box; then streams that replace the mesh's. */
        memset(vertices, 0, (size_t)count * 12);
        pelt_skin_job bare = { .mesh = mesh,
                               .matrices = matrices,
                               .out_positions = (float *)(void *)vertices };
        pelt_skin_cpu(&bare, 0, count, NULL);
        assert_memory_equal(vertices, whole.positions, (size_t)count * 12);

        pelt_packed_vertex *replaced = allocate(count, sizeof(*replaced));
        uint32_t *tangents = allocate(count, sizeof(*tangents)), *written = allocate(count, 4);
        for (uint32_t v = 0; v < count; v++) {
            replaced[v] = mesh->vertices[v];
            replaced[v].position[0] = 0.0f;
            tangents[v] = mesh->tangents[v] ^ 0xc0000000u;
        }
        bare.vertices = replaced;
        bare.tangents = tangents;
        bare.out_tangents = written;
        pelt_skin_cpu(&bare, 0, count, NULL);
        for (uint32_t v = 0; v < count; v++) {
            double m[12];
            blend(mesh, matrices, v, m);
            float x = ((float *)(void *)vertices)[3 * (size_t)v];
            assert_true(fabs(x - (m[1] * replaced[v].position[1] + m[2] * replaced[v].position[2] +
                                  m[3])) < 1e-5);
            assert_int_equal(written[v], whole.tangents[v] ^ 0xc0000000u);
        }
        free(replaced);
        free(tangents);
        free(written);
        free(vertices);
        free_outputs(&whole);
        pelt_packed_mesh_destroy(mesh);
        free_primitive(&p);
    }
}

static void tangents_of_a_mesh_without_any_are_not_written(void **state)
{
    (void)state;
    pelt_primitive p = make_primitive(2, 1, 1);
    random_influences(&p, 1, 1, 1);
    float *tangents = p.tangents, positions[6];
    p.tangents = NULL;
    pelt_packed_mesh *mesh = pack(&p);
    uint32_t written[2] = { 1, 2 };
    pelt_skin_job job = { .mesh = mesh,
                          .matrices = (float[12]){ 1 },
                          .out_positions = positions,
                          .out_tangents = written };
    pelt_skin_cpu(&job, 0, 2, NULL);
    assert_true(written[0] == 1 && written[1] == 2);
    pelt_packed_mesh_destroy(mesh);
    p.tangents = tangents;
    free_primitive(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_double_precision),
        cmocka_unit_test(agrees_with_the_reference),
        cmocka_unit_test(a_rigid_vertex_lands_exactly),
        cmocka_unit_test(directions_that_vanish_have_a_stand_in),
        cmocka_unit_test(scale_and_mirrors_keep_directions_right),
        cmocka_unit_test(normals_agree_with_the_winding),
        cmocka_unit_test(tiny_positions_are_zero),
        cmocka_unit_test(boxes_hold_for_denormals_and_zero),
        cmocka_unit_test(ranges_compose),
        cmocka_unit_test(tangents_of_a_mesh_without_any_are_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
