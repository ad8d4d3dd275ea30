/* What weights are after packing: decoded here from the documented bits, in integers. */
#include "pack/walk.h"
#include "pack_fixture.h"

#define UNIT (1.0 / 4096.0)

/* Codes of one vertex over 65536; the implied one first. */
static void read_codes(const pelt_packed_mesh *mesh, uint32_t vertex, int32_t *codes)
{
    uint32_t word = mesh->weights[vertex];
    int32_t w1 = (int32_t)(word & 2047), w3 = (int32_t)(word >> 22);
    codes[1] = (w1 == 2047 ? 2048 : w1) * 16;
    codes[2] = (int32_t)(word >> 11 & 2047) * 16;
    codes[3] = (w3 == 1023 ? 1024 : w3) * 16;
    codes[0] = 65536 - codes[1] - codes[2] - codes[3];
    const uint32_t *further = mesh->weights + mesh->vertex_count;
    for (uint32_t set = 1; set < mesh->set_count; set++) {
        for (uint32_t k = 0; k < 4; k++) {
            size_t at = 2 * ((size_t)(set - 1) * mesh->vertex_count + vertex) + k / 2;
            codes[4 * set + k] = (int32_t)(k % 2 ? further[at] >> 16 : further[at] & 65535);
            codes[0] -= codes[4 * set + k];
        }
    }
}

static uint32_t read_joint(const pelt_packed_mesh *mesh, uint32_t vertex, uint32_t influence)
{
    uint32_t set = influence / 4, k = influence % 4;
    size_t entry = (size_t)set * mesh->vertex_count + vertex;
    return mesh->joint_bytes == 1 ? mesh->joints[entry] >> (8 * k) & 255
                                  : mesh->joints[2 * entry + k / 2] >> (16 * (k % 2)) & 65535;
}

typedef struct findings {
    double worst; /* error of any weight */
    double worst_further;
    double total; /* largest sum of errors of a vertex */
    uint32_t influence_max, merged, rounded, joint_max;
} findings;

/* Everything that must hold of every vertex. */
static findings check_mesh(const pelt_primitive *p, const pelt_packed_mesh *mesh)
{
    findings found = { 0 };
    uint32_t slots = 4 * mesh->set_count;
    double *given = allocate(65536, sizeof(*given));
    bool *held = allocate(65536, sizeof(*held));
    int32_t *codes = allocate(slots, sizeof(*codes));
    uint32_t *joints = allocate(slots, sizeof(*joints));
    float *weights = allocate(slots, sizeof(*weights));
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        const float *given_weights = p->weights + (size_t)v * p->influence_count;
        const uint16_t *given_joints = p->joints + (size_t)v * p->influence_count;
        uint32_t given_count = 0, used = 0;
        double sum = 0.0, largest = 0.0;
        for (uint32_t i = 0; i < p->influence_count; i++) {
            sum += given_weights[i];
        }
        for (uint32_t i = 0; i < p->influence_count; i++) {
            if (given_weights[i] > 0) {
                double *total = &given[given_joints[i]];
                found.merged += *total > 0.0;
                given_count += *total == 0.0;
                *total += given_weights[i] / sum;
                largest = fmax(largest, *total);
            }
        }

        read_codes(mesh, v, codes);
        pelt_unpack_influences(mesh, v, joints, weights);
        float float_sum = 0.0f;
        double double_sum = 0.0, total_error = 0.0;
        assert_true(codes[0] >= 0);
        assert_true(given[joints[0]] >= largest * (1.0 - 1e-12));
        held[joints[0]] = true;
        for (uint32_t i = 0; i < slots; i++) {
            assert_int_equal(joints[i], read_joint(mesh, v, i));
            assert_true(weights[i] == (float)(codes[i] / 65536.0));
            float_sum += weights[i];
            double_sum += weights[i];
            found.joint_max = joints[i] > found.joint_max ? joints[i] : found.joint_max;
            if (codes[i] == 0 && i > 0) {
                assert_int_equal(joints[i], joints[0]);
                continue;
            }
            assert_true(i == 0 || !held[joints[i]]);
            assert_true(i == 0 || i > 3 || codes[i] <= codes[i - 1] + 2 * 16);
            held[joints[i]] = true;
            used += codes[i] > 0;
            double error = fabs(codes[i] / 65536.0 - given[joints[i]]);
            found.worst = fmax(found.worst, error);
            found.worst_further = i > 3 ? fmax(found.worst_further, error) : found.worst_further;
            total_error += error;
            given[joints[i]] = 0.0;
        }
        assert_true(float_sum == 1.0f);
        assert_true(double_sum == 1.0);
        for (uint32_t i = 0; i < slots; i++) {
            held[joints[i]] = false;
        }
        for (uint32_t i = 0; i < p->influence_count; i++) { /* those rounded to nothing */
            found.worst = fmax(found.worst, given[given_joints[i]]);
            total_error += given[given_joints[i]];
            given[given_joints[i]] = 0.0;
        }
        found.influence_max = used > found.influence_max ? used : found.influence_max;
        found.rounded += given_count - used;
        found.total = fmax(found.total, total_error);
        if (given_count == 1) {
            assert_int_equal(codes[0], 65536);
        }
    }
    free(given);
    free(held);
    free(codes);
    free(joints);
    free(weights);

    assert_int_equal(mesh->joint_count, found.joint_max + 1);
    assert_int_equal(mesh->joint_bytes, found.joint_max < 256 ? 1 : 2);
    assert_int_equal(mesh->report.influence_max, found.influence_max);
    assert_int_equal(mesh->report.influences_merged, found.merged);
    assert_int_equal(mesh->report.influences_rounded, found.rounded);
    assert_true(fabs(mesh->report.weight_error - found.worst) <= 1e-7 * found.worst);
    return found;
}

static void check_bound(const pelt_packed_mesh *mesh, findings found)
{
    assert_true(found.worst <= (mesh->set_count == 1 ? 1.0 : 33.0 / 32.0) * UNIT + 1e-12);
    assert_true(found.worst_further < 1.0 / 65536.0 + 1e-12);
}

static void random_vertices_keep_every_property(void **state)
{
    (void)state;
    static const struct {
        uint32_t vertices, slots, max, joints;
    } shapes[] = {
        { 400000, 4, 4, 200 },    { 100000, 8, 8, 256 },     { 100000, 16, 16, 257 },
        { 10000, 64, 64, 65536 }, { 1000, 600, 600, 65536 }, { 20, 20000, 20000, 65536 }
    };
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        pelt_primitive p = make_primitive(shapes[i].vertices, shapes[i].slots, i);
        random_influences(&p, shapes[i].max, shapes[i].joints, i);
        pelt_packed_mesh *mesh = pack(&p);
        assert_true(mesh->set_count <= (shapes[i].max + 3) / 4);
        findings found = check_mesh(&p, mesh);
        check_bound(mesh, found);
        print_message("%6u vertices of up to %5u influences: worst weight error %.3f/4096\n",
                      shapes[i].vertices, shapes[i].max, found.worst / UNIT);
        pelt_packed_mesh_destroy(mesh);
        free_primitive(&p);
    }
}

/* Two weights over 4096 cannot be told apart more finely than half a step, and four that share a
 * rounding error are off by 3/4 at worst: away from 2047 and 1023, which have no code, that must
 * hold. */
static void away_from_ties_no_weight_is_off_by_more_than_three_quarters(void **state)
{
    (void)state;
    uint64_t seed = 7;
    pelt_primitive p = make_primitive(200000, 4, 0);
    for (size_t v = 0; v < p.vertex_count; v++) {
        double w[4], sum = 0.0;
        do {
            sum = 0.0;
            for (int k = 0; k < 4; k++) {
                w[k] = uniform(&seed, 0.0, 1.0);
                sum += w[k];
            }
            for (int k = 0; k < 4; k++) {
                w[k] /= sum;
                p.weights[4 * v + k] = (float)w[k];
                p.joints[4 * v + k] = (uint16_t)k;
            }
        } while (fmax(fmax(w[0], w[1]), fmax(w[2], w[3])) < 0.2503);
    }
    pelt_packed_mesh *mesh = pack(&p);
    findings found = check_mesh(&p, mesh);
    assert_true(found.worst <= 0.75 * UNIT + 1e-9);
    assert_true(found.worst > 0.7 * UNIT);
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

typedef struct awkward {
    const char *name;
    float weights[8];
    uint16_t joints[8];
    uint32_t set_count;
    int32_t codes[4]; /* over 4096, the implied one first; all 0: only the properties are known */
    double error;     /* over 4096, at most */
} awkward;

#define THIRD (1.0f / 3.0f)

static const awkward awkward_cases[] = {
    { "one", { 1 }, { 9 }, 1, { 4096 }, 0 },
    { "one, in the last slot", { 0, 0, 0, 1 }, { 0, 0, 0, 9 }, 1, { 4096 }, 0 },
    { "one, in the second set", { 0, 0, 0, 0, 0, 1 }, { 0, 0, 0, 0, 0, 9 }, 1, { 4096 }, 0 },
    { "one half each", { 0.5f, 0.5f }, { 3, 4 }, 1, { 2048, 2048 }, 0 },
    { "one third each", { THIRD, THIRD, THIRD }, { 3, 4, 5 }, 1, { 0 }, 0.67 },
    { "one quarter each",
      { .25f, .25f, .25f, .25f },
      { 3, 4, 5, 6 },
      1,
      { 1024, 1024, 1024, 1024 },
      0 },
    { "one fifth each", { .2f, .2f, .2f, .2f, .2f }, { 3, 4, 5, 6, 7 }, 2, { 0 }, 0.82 },
    { "one eighth each",
      { .125f, .125f, .125f, .125f, .125f, .125f, .125f, .125f },
      { 3, 4, 5, 6, 7, 8, 9, 10 },
      2,
      { 512, 512, 512, 512 },
      0 },
    /* 254/255 and 1/255: 16.06 of 4096 */
    { "integers", { 254 / 255.0f, 1 / 255.0f }, { 3, 4 }, 1, { 4080, 16 }, 0.07 },
    { "sum 254/255", { 127 / 255.0f, 127 / 255.0f }, { 3, 4 }, 1, { 2048, 2048 }, 0 },
    { "just below one", { 0x1.fffffep-1f, 0x1p-24f }, { 3, 300 }, 1, { 4096 }, 0.001 },
    { "denormal and one", { 1e-40f, 1.0f }, { 300, 3 }, 1, { 4096 }, 1e-30 },
    { "denormals alone", { 1e-40f, 3e-40f }, { 3, 4 }, 1, { 3072, 1024 }, 0.01 },
    /* A fifth of 2^-18 of the whole: nothing over 65536, so no second set is left. */
    { "fifth below 2^-17", { .4f, .3f, .2f, .1f, 0x1p-18f }, { 3, 4, 5, 6, 300 }, 1, { 0 }, 0.75 },
    { "fifth of 2^-16", { .4f, .3f, .2f, .1f, 0x1p-16f }, { 3, 4, 5, 6, 300 }, 2, { 0 }, 0.8 },
    { "named twice", { .25f, .25f, .25f, .25f }, { 5, 2, 5, 5 }, 1, { 3072, 1024 }, 0 },
    { "eight slots, one joint",
      { .125f, .125f, .125f, .125f, .125f, .125f, .125f, .125f },
      { 5, 5, 5, 5, 5, 5, 5, 5 },
      1,
      { 4096 },
      0 },
    { "rising", { .0625f, .125f, .3125f, .5f }, { 3, 4, 5, 6 }, 1, { 2048, 1280, 512, 256 }, 0 },
    /* Next to a half and to a quarter: 2047 and 1023 have no codes. */
    { "rounds to one half", { 4097 / 8192.0f, 4095 / 8192.0f }, { 3, 4 }, 1, { 2048, 2048 }, 0.5 },
    { "one less than one half", { 2049 / 4096.0f, 2047 / 4096.0f }, { 3, 4 }, 1, { 0 }, 1 },
    { "two less than one half",
      { 2050 / 4096.0f, 2046 / 4096.0f },
      { 3, 4 },
      1,
      { 2050, 2046 },
      0 },
    { "one less than a quarter",
      { 1025 / 4096.0f, 1024 / 4096.0f, 1024 / 4096.0f, 1023 / 4096.0f },
      { 3, 4, 5, 6 },
      1,
      { 0 },
      1 },
    { "two less than a quarter",
      { 1026 / 4096.0f, 1024 / 4096.0f, 1024 / 4096.0f, 1022 / 4096.0f },
      { 3, 4, 5, 6 },
      1,
      { 1026, 1024, 1024, 1022 },
      0 },
};

static void awkward_weights_have_known_codes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(awkward_cases) / sizeof(awkward_cases[0]); i++) {
        const awkward *c = &awkward_cases[i];
        pelt_primitive p = make_primitive(1, 8, 1);
        memcpy(p.weights, c->weights, sizeof(c->weights));
        memcpy(p.joints, c->joints, sizeof(c->joints));
        pelt_packed_mesh *mesh = pack(&p);
        findings found = check_mesh(&p, mesh);
        check_bound(mesh, found);
        int32_t codes[8] = { 0 };
        read_codes(mesh, 0, codes);
        bool same = found.worst <= c->error * UNIT + 1e-9 && mesh->set_count == c->set_count;
        for (int k = 0; c->codes[0] && k < 4; k++) {
            same = same && codes[k] == 16 * c->codes[k];
        }
        if (!same) {
            fail_msg("%s: %g/4096, %u sets, codes %g %g %g %g", c->name, found.worst / UNIT,
                     mesh->set_count, codes[0] / 16.0, codes[1] / 16.0, codes[2] / 16.0,
                     codes[3] / 16.0);
        }
        pelt_packed_mesh_destroy(mesh);
        free_primitive(&p);
    }
}

/* Thousands of equal weights: the largest is smaller than the rounding of the first set. */
static void implied_weight_is_never_negative(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 65536; count += 1 + count / 3) {
        pelt_primitive p = make_primitive(1, count, 2);
        for (uint32_t i = 0; i < count; i++) {
            p.weights[i] = 1.0f / (float)count;
            p.joints[i] = (uint16_t)i;
        }
        pelt_packed_mesh *mesh = pack(&p);
        check_bound(mesh, check_mesh(&p, mesh));
        pelt_packed_mesh_destroy(mesh);
        free_primitive(&p);
    }
    /* Codes of the first set that all round up take what the largest weight has. */
    for (uint32_t count = 5000; count < 5100; count++) {
        double first = 0.5001 + 0.001 * (count % 64);
        pelt_primitive p = make_primitive(1, count, 2);
        for (uint32_t i = 0; i < count; i++) {
            p.weights[i] = (float)(i < 4 ? first / 4096 : (1.0 - 4 * first / 4096) / (count - 4));
            p.joints[i] = (uint16_t)i;
        }
        pelt_packed_mesh *mesh = pack(&p);
        check_bound(mesh, check_mesh(&p, mesh));
        pelt_packed_mesh_destroy(mesh);
        free_primitive(&p);
    }
}

static void equal_weights_keep_the_order_of_their_slots(void **state)
{
    (void)state;
    enum { COUNT = 100 };
    pelt_primitive p = make_primitive(1, COUNT, 3);
    for (uint32_t i = 0; i < COUNT; i++) { /* two kinds, so that merging of runs is seen too */
        p.weights[i] = i % 2 ? 64 / 4096.0f : 17.92f / 4096.0f;
        p.joints[i] = (uint16_t)(1000 - i);
    }
    pelt_packed_mesh *mesh = pack(&p);
    uint32_t joints[COUNT];
    float weights[COUNT];
    assert_int_equal(mesh->set_count, COUNT / 4);
    pelt_unpack_influences(mesh, 0, joints, weights);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(joints[i], 1000 - (i < COUNT / 2 ? 2 * i + 1 : 2 * (i - COUNT / 2)));
    }
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

/* Slots in their order without zeros, the implied one last, also where 0 or less is left for it;
 * for one set and several, joints of 8 and of 16 bits. */
static void walks_through_the_codes(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 1, 2, 4, 5, 8, 11 }, joint_counts[] = { 12, 1000 };
    for (int c = 0; c < 6; c++) {
        for (int j = 0; j < 2; j++) {
            pelt_primitive p = make_primitive(40, counts[c], 3);
            random_influences(&p, counts[c], joint_counts[j], 5);
            pelt_packed_mesh *mesh = pack(&p);
            mesh->weights[7] = 2047 | 1024u << 11 | 1023u << 22; /* 1/2 + 1/4 + 1/4 */
            uint32_t slots = 4 * mesh->set_count;
            int32_t *codes = allocate(slots, sizeof(*codes));
            for (uint32_t v = 0; v < mesh->vertex_count; v++) {
                read_codes(mesh, v, codes);
                influence_walk walk = walk_influences(mesh, v);
                assert_int_equal(walk.implied_joint, read_joint(mesh, v, 0));
                uint32_t joint;
                float weight;
                for (uint32_t i = 1; i < slots; i++) {
                    if (codes[i] > 0) {
                        assert_true(next_influence(&walk, &joint, &weight));
                        assert_int_equal(joint, read_joint(mesh, v, i));
                        assert_true(weight == (float)(codes[i] / 65536.0));
                    }
                }
                assert_true(next_influence(&walk, &joint, &weight));
                assert_int_equal(joint, read_joint(mesh, v, 0));
                assert_true(weight == (float)(codes[0] / 65536.0));
                assert_false(next_influence(&walk, &joint, &weight));
            }
            free(codes);
            pelt_packed_mesh_destroy(mesh);
            free_primitive(&p);
        }
    }
}

static void joint_width_follows_the_largest_index(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 1, 255, 256, 257, 65536 };
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        pelt_primitive p = make_primitive(300, 4, 4);
        random_influences(&p, 1, 1, 4);
        p.joints[4 * 299] = p.joints[4 * 299 + 1] = 0;
        memset(p.weights + 4 * 299, 0, 4 * sizeof(float));
        p.weights[4 * 299] = 0.75f;
        p.weights[4 * 299 + 1] = 0.25f;
        p.joints[4 * 299 + 1] = (uint16_t)(counts[i] - 1);
        pelt_packed_mesh *mesh = pack(&p);
        assert_int_equal(mesh->joint_count, counts[i]);
        assert_int_equal(mesh->joint_bytes, counts[i] > 256 ? 2 : 1);
        assert_int_equal(pelt_packed_mesh_sizes(mesh).joints, 300 * 4 * mesh->joint_bytes);
        check_mesh(&p, mesh);
        pelt_packed_mesh_destroy(mesh);
        free_primitive(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_vertices_keep_every_property),
        cmocka_unit_test(away_from_ties_no_weight_is_off_by_more_than_three_quarters),
        cmocka_unit_test(awkward_weights_have_known_codes),
        cmocka_unit_test(implied_weight_is_never_negative),
        cmocka_unit_test(equal_weights_keep_the_order_of_their_slots),
        cmocka_unit_test(walks_through_the_codes),
        cmocka_unit_test(joint_width_follows_the_largest_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
