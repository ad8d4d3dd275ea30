/* Which permutation, chunk length and team a scene gets: at the borders, and when instances are
 * skipped. Needs no device. */
#include "tests/gpu_scene.h"

#include "pelt/layout.h"
#include "vulkan/skin_plan.h"

enum { MOST_INSTANCES = 4000 };

/* Instances of meshes of given sizes, plain and without tangents, palettes not known. */
typedef struct crowd {
    pelt_gpu_mesh meshes[2];
    pelt_gpu_instance instances[MOST_INSTANCES];
    pelt_skin_tables_info info;
} crowd;

static const pelt_gpu_mesh plain_mesh = { .vertices = 0x1000,
                                          .weights = 0x3004,
                                          .joints = 0x4004,
                                          .vertex_count = 1,
                                          .set_count = 1,
                                          .joint_bytes = 1 };
static const pelt_gpu_instance plain_instance = { .matrices = 0x5000,
                                                  .positions = 0x6000,
                                                  .position_stride = 16,
                                                  .normals = 0x600c,
                                                  .normal_stride = 16,
                                                  .box = 0x9004 };

/* first instances of the first mesh, then second of the second. */
static crowd *make_crowd(uint32_t first, uint32_t first_vertices, uint32_t second,
                         uint32_t second_vertices)
{
    assert_true(first + second <= MOST_INSTANCES);
    crowd *self = calloc(1, sizeof(*self));
    assert_non_null(self);
    self->meshes[0] = self->meshes[1] = plain_mesh;
    self->meshes[0].vertex_count = first_vertices;
    self->meshes[1].vertex_count = second_vertices;
    for (uint32_t i = 0; i < first + second; i++) {
        self->instances[i] = plain_instance;
        self->instances[i].mesh = i >= first;
    }
    self->info = (pelt_skin_tables_info){ .meshes = self->meshes,
                                          .mesh_count = 2,
                                          .instances = self->instances,
                                          .instance_count = first + second };
    return self;
}

static struct pelt_skin_pass make_pass(uint32_t group_size, uint32_t chunk_vertices)
{
    return (struct pelt_skin_pass){ .compute.host = &gpu_host,
                                    .group_size = group_size,
                                    .chunk_vertices = chunk_vertices };
}

static pelt_skin_tables measure(const struct pelt_skin_pass *pass, const crowd *given)
{
    pelt_skin_tables tables;
    assert_int_equal(pelt_skin_tables_measure(pass, &given->info, &tables), PELT_OK);
    assert_true(tables.permutation < SKIN_PERMUTATION_COUNT);
    return tables;
}

static pelt_skin_tables measure_and_free(const struct pelt_skin_pass *pass, crowd *given)
{
    pelt_skin_tables tables = measure(pass, given);
    free(given);
    return tables;
}

static const skin_permutation *permutation_of(const pelt_skin_tables *tables)
{
    return &pelt_skin_permutations[tables->permutation];
}

static void shapes_follow_the_mean(void **state)
{
    (void)state;
    const struct {
        uint32_t first, first_vertices, second, second_vertices, group_size;
        skin_shape shape;
    } cases[] = {
        { 3, 1, 0, 1, 64, SHAPE_TEAMS },          { 3, 48, 0, 1, 64, SHAPE_TEAMS },
        { 3, 48, 1, 51, 64, SHAPE_TEAMS },  /* 48.75 */
        { 3, 48, 1, 52, 64, SHAPE_NARROW }, /* 49 */
        { 1, 49, 0, 1, 64, SHAPE_NARROW },        { 2000, 30, 1, 20000, 64, SHAPE_TEAMS },
        { 2000, 30, 1, 38048, 64, SHAPE_TEAMS },  /* 98,048 / 2001 = 48.99 */
        { 2000, 30, 1, 38049, 64, SHAPE_NARROW }, /* 49 */
        { 1, 256, 0, 1, 64, SHAPE_NARROW },       { 1, 257, 0, 1, 64, SHAPE_WIDE },
        { 3, 256, 1, 259, 64, SHAPE_NARROW },     { 3, 256, 1, 260, 64, SHAPE_WIDE },
        { 1, 512, 0, 1, 128, SHAPE_NARROW },      { 1, 513, 0, 1, 128, SHAPE_WIDE },
        { 1, 48, 0, 1, 128, SHAPE_TEAMS },        { 1, 49, 0, 1, 128, SHAPE_NARROW },
        { 2, 1u << 28, 0, 1, 128, SHAPE_WIDE },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct pelt_skin_pass pass = make_pass(cases[i].group_size, 0);
        pelt_skin_tables tables =
            measure_and_free(&pass, make_crowd(cases[i].first, cases[i].first_vertices,
                                               cases[i].second, cases[i].second_vertices));
        if (permutation_of(&tables)->shape != cases[i].shape) {
            fail_msg("case %zu: shape %d, not %d", i, permutation_of(&tables)->shape,
                     cases[i].shape);
        }
    }
}

/* Four vertices or more for each invocation of a team of several. */
static void teams_have_an_invocation_for_four_vertices(void **state)
{
    (void)state;
    for (uint32_t vertices = 1; vertices <= 49; vertices++) {
        const struct pelt_skin_pass pass = make_pass(vertices % 2 ? 64 : 128, 0);
        pelt_skin_tables tables = measure_and_free(&pass, make_crowd(5, vertices, 0, 1));
        uint32_t bits = vertices > 48   ? 0 /* no teams */
                        : vertices < 8  ? 0
                        : vertices < 16 ? 1
                        : vertices < 32 ? 2
                                        : 3;
        assert_int_equal(tables.team_bits, bits);
        assert_int_equal(tables.chunk_vertices, 64);
        assert_int_equal(tables.chunk_count, 5);
    }
}

/* The least power of two that makes no more than 2048 chunks of all vertices, within bounds that
 * follow from the shape. */
static void chunks_are_as_long_as_keeps_devices_busy(void **state)
{
    (void)state;
    const struct {
        uint32_t instances, vertices, group_size, chunk_vertices;
    } cases[] = {
        /* teams: 64 to 1024 */
        { 1, 1, 64, 64 },
        { 4000, 32, 64, 64 },  /* 128,000 / 2048 = 62.5 */
        { 4000, 40, 64, 128 }, /* 160,000 / 2048 = 78.1 */
        /* narrow: 64 to 1024 */
        { 1, 256, 64, 64 },
        { 1024, 128, 64, 64 },    /* 2^17 / 2048 = 64 */
        { 1025, 128, 64, 128 },   /* 64.1 */
        { 4000, 256, 64, 512 },   /* 1,024,000 / 2048 = 500 */
        { 4000, 512, 128, 1024 }, /* 1000 */
        /* wide: two turns of a group to 2048 */
        { 1, 300, 64, 128 },
        { 1, 600, 128, 256 },
        { 1, 262144, 64, 128 }, /* 2^18 / 2048 = 128 */
        { 1, 262145, 64, 256 },
        { 1, 262145, 128, 256 },
        { 1, 524288, 128, 256 }, /* 2^19 / 2048 = 256 */
        { 1, 524289, 128, 512 },
        { 1, 2097152, 128, 1024 }, /* 2^21 / 2048 = 1024 */
        { 1, 2097153, 128, 2048 },
        { 1000, 200000, 64, 2048 },
        { 30, 1u << 28, 128, 2048 }, /* beyond 32 bits */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct pelt_skin_pass pass = make_pass(cases[i].group_size, 0);
        pelt_skin_tables tables =
            measure_and_free(&pass, make_crowd(cases[i].instances, cases[i].vertices, 0, 1));
        if (tables.chunk_vertices != cases[i].chunk_vertices) {
            fail_msg("case %zu: %u, not %u", i, tables.chunk_vertices, cases[i].chunk_vertices);
        }
        const struct pelt_skin_pass set = make_pass(cases[i].group_size, 65536);
        tables = measure_and_free(&set, make_crowd(cases[i].instances, cases[i].vertices, 0, 1));
        assert_int_equal(tables.chunk_vertices, 65536);
    }
}

/* Processors are busy with 64 chunks. */
static void chunks_are_longer_on_processors(void **state)
{
    (void)state;
    const struct {
        uint32_t instances, vertices, chunk_vertices;
    } cases[] = {
        { 1, 1, 64 },      { 128, 32, 64 },    { 129, 32, 128 },    /* teams: 4096 / 64 = 64 */
        { 32, 128, 64 },   { 33, 128, 128 },   { 1000, 200, 1024 }, /* narrow: 3125 */
        { 1, 300, 64 },    { 1, 8192, 128 },   { 1, 8193, 256 },
        { 1, 32768, 512 }, { 1, 32769, 1024 }, { 1, 1000000, 1024 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pelt_skin_pass pass = make_pass(64, 0);
        pass.is_processor = true;
        pelt_skin_tables tables =
            measure_and_free(&pass, make_crowd(cases[i].instances, cases[i].vertices, 0, 1));
        assert_int_equal(tables.chunk_vertices, cases[i].chunk_vertices);
    }
}

/* Teams up to a mean of 128, then narrow groups; no palette is shared; code for any influences
 * where vertices are not interleaved, or teams skin them. */
static void processors_have_few_permutations(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 64; i++) {
        static const uint32_t sizes[] = { 1, 128, 129, 100000 };
        uint32_t vertices = sizes[i % 4], vertex = i / 4 % 3;
        bool dual = i / 16 % 2, any_influences = i / 32;
        crowd *given = make_crowd(2, vertices, 0, 1);
        given->meshes[0].tangents = 0x2004;
        given->meshes[0].joint_count = 1; /* could be shared */
        given->meshes[0].set_count = any_influences ? 2 : 1;
        for (int k = 0; k < 2; k++) {
            given->instances[k].normals = vertex == PELT_VERTEX_ANY ? 0 : 0x600c;
            given->instances[k].tangents_out = vertex == PELT_VERTEX_TANGENTS ? 0x8004 : 0;
            given->instances[k].tangent_stride = 4;
            given->instances[k].dual_quaternions = dual;
        }
        struct pelt_skin_pass pass = make_pass(64, 0);
        pass.is_processor = true;
        pelt_skin_tables tables = measure_and_free(&pass, given);
        const skin_permutation *chosen = permutation_of(&tables);
        bool general = vertices <= 128 || vertex == PELT_VERTEX_ANY || dual || any_influences;
        assert_int_equal(chosen->shape, vertices <= 128 ? SHAPE_TEAMS : SHAPE_NARROW);
        assert_int_equal(chosen->shared_joints, 0);
        assert_int_equal(chosen->vertex, general ? PELT_VERTEX_ANY : vertex);
        assert_int_equal(chosen->any_influences, general);
        assert_int_equal(chosen->dual, dual);
    }
}

/* An instance that asks for them is refused, unless it is skipped. */
static void passes_without_dual_quaternions_refuse_them(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        crowd *given = make_crowd(3, 30, 0, 1);
        given->instances[1].dual_quaternions = true;
        struct pelt_skin_pass pass = make_pass(64, 0);
        pelt_skin_tables tables = measure(&pass, given);
        assert_true(permutation_of(&tables)->dual);
        pass.no_dual_quaternions = true;
        pass.is_processor = i;
        assert_int_equal(pelt_skin_tables_measure(&pass, &given->info, &tables),
                         PELT_ERROR_ARGUMENT);
        assert_non_null(strstr(gpu_messages.last, "instance 1: dual_quaternions"));
        given->instances[1].skip = true;
        tables = measure_and_free(&pass, given);
        assert_false(permutation_of(&tables)->dual);
    }
}

/* In each shape: no more joints than there is room for, and eight vertices or more for each. */
static void palettes_are_shared_where_they_fit_and_pay(void **state)
{
    (void)state;
    const struct {
        uint32_t vertices, joints, other_joints, chunk_vertices, shared_joints;
        bool shared;
    } cases[] = {
        { 192, 24, 24, 256, 24, true },       { 191, 24, 24, 256, 24, false },
        { 200, 25, 25, 256, 24, false },      { 200, 24, 25, 256, 24, false },
        { 200, 24, 3, 256, 24, true },        { 200, 24, 24, 128, 24, false },
        { 200, 16, 16, 128, 24, true },       { 200, 17, 17, 128, 24, false },
        { 200, 8, 8, 0, 24, true },           { 200, 9, 9, 0, 24, false }, /* chunks of 64 */
        { 200, 0, 0, 256, 24, false },        { 200, 0, 1, 256, 24, false },
        { 200, 1, 1, 64, 24, true },          { 200, 300, 300, 256, 24, false },
        { 896, 112, 112, 896, 112, true },    { 895, 112, 112, 896, 112, false },
        { 1000, 113, 113, 1024, 112, false }, { 1000, 113, 1, 1024, 112, false },
        { 1000, 112, 112, 1024, 112, true },  { 1000, 112, 1, 1024, 112, true },
        { 1000, 112, 112, 832, 112, false },  { 1000, 16, 16, 0, 112, true },
        { 1000, 17, 17, 0, 112, false }, /* chunks of 128 */
        { 1000, 0, 0, 1024, 112, false },     { 1000, 300, 300, 1024, 112, false },
        { 48, 1, 1, 64, 24, false }, /* teams never */
        { 48, 5, 5, 1024, 24, false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct pelt_skin_pass pass = make_pass(64, cases[i].chunk_vertices);
        for (uint32_t vertex = 0; vertex < 3; vertex++) {
            crowd *given = make_crowd(2, cases[i].vertices, 2, cases[i].vertices);
            given->meshes[0].joint_count = cases[i].joints;
            given->meshes[1].joint_count = cases[i].other_joints;
            for (int k = 0; k < 4; k++) {
                given->instances[k].normals = vertex == PELT_VERTEX_ANY ? 0 : 0x600c;
                given->instances[k].tangents_out = vertex == PELT_VERTEX_TANGENTS ? 0x8004 : 0;
                given->instances[k].tangent_stride = 4;
            }
            given->meshes[0].tangents = given->meshes[1].tangents = 0x2004;
            pelt_skin_tables tables = measure_and_free(&pass, given);
            const skin_permutation *chosen = permutation_of(&tables);
            if (chosen->shared_joints != (cases[i].shared ? cases[i].shared_joints : 0)) {
                fail_msg("case %zu: %u joints are shared", i, chosen->shared_joints);
            }
            assert_int_equal(chosen->vertex, cases[i].vertices > 48 ? vertex : PELT_VERTEX_ANY);
            assert_false(chosen->any_influences);
        }
    }
}

/* Each change of one instance or mesh of two, and what vertices are then. */
static void vertex_formats_are_what_all_have_in_common(void **state)
{
    (void)state;
    static const uint32_t sizes[] = { 200, 1000 };
    for (int s = 0; s < 2; s++) {
        for (int change = 0; change < 12; change++) {
            const struct pelt_skin_pass pass = make_pass(64, 0);
            crowd *given = make_crowd(1, sizes[s], 1, sizes[s]);
            pelt_gpu_instance *changed = &given->instances[1];
            uint32_t vertex = PELT_VERTEX_TANGENTS;
            bool any_influences = false;
            for (int i = 0; i < 2; i++) {
                given->meshes[i].tangents = 0x2004;
                given->instances[i].tangents_out = 0x8004;
                given->instances[i].tangent_stride = 4;
            }
            switch (change) {
            case 0:
                break;
            case 1: /* one of two without tangents */
                given->meshes[1].tangents = 0;
                vertex = PELT_VERTEX_ANY;
                break;
            case 2:
                changed->tangents_out = 0;
                vertex = PELT_VERTEX_ANY;
                break;
            case 3:
                changed->tangent_stride = 8;
                vertex = PELT_VERTEX_ANY;
                break;
            case 4: /* neither with */
                given->meshes[0].tangents = given->meshes[1].tangents = 0;
                vertex = PELT_VERTEX_PLAIN;
                break;
            case 5: /* a stride of what is not there */
                given->meshes[0].tangents = given->meshes[1].tangents = 0;
                changed->tangent_stride = 12;
                vertex = PELT_VERTEX_PLAIN;
                break;
            case 6:
                changed->normals = 0;
                vertex = PELT_VERTEX_ANY;
                break;
            case 7:
                changed->positions += 4;
                changed->normals += 4;
                vertex = PELT_VERTEX_ANY;
                break;
            case 8:
                changed->position_stride = changed->normal_stride = 32;
                vertex = PELT_VERTEX_ANY;
                break;
            case 9: /* boxes do not matter */
                changed->box = 0;
                break;
            case 10:
                given->meshes[1].set_count = 2;
                vertex = PELT_VERTEX_ANY;
                any_influences = true;
                break;
            default:
                given->meshes[1].joint_bytes = 2;
                vertex = PELT_VERTEX_ANY;
                any_influences = true;
                break;
            }
            pelt_skin_tables tables = measure_and_free(&pass, given);
            assert_int_equal(permutation_of(&tables)->vertex, vertex);
            assert_int_equal(permutation_of(&tables)->any_influences, any_influences);
        }
    }
}

/* What is in no scene does not matter: meshes without instances. */
static void meshes_without_instances_change_nothing(void **state)
{
    (void)state;
    const struct pelt_skin_pass pass = make_pass(64, 0);
    crowd *given = make_crowd(1, 200, 0, 100000);
    given->meshes[1].set_count = 3;
    given->meshes[1].joint_bytes = 2;
    pelt_skin_tables tables = measure_and_free(&pass, given);
    assert_int_equal(permutation_of(&tables)->shape, SHAPE_NARROW);
    assert_int_equal(permutation_of(&tables)->vertex, PELT_VERTEX_PLAIN);
    assert_int_equal(tables.chunk_vertices, 64);
}

/* Random scenes of which ever more is skipped: no size grows, and how it is skinned stays. */
static void skipping_makes_no_table_larger(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (uint32_t n = 0; n < 200; n++) {
        uint32_t most = n % 3 == 0 ? 60 : n % 3 == 1 ? 600 : 300000;
        uint32_t count = 1 + (uint32_t)scene_random(&seed, 0, 20);
        crowd *given = make_crowd(count, 1 + (uint32_t)scene_random(&seed, 0, most), count,
                                  1 + (uint32_t)scene_random(&seed, 0, most));
        given->meshes[1].joint_bytes = 1 + n % 2;
        const struct pelt_skin_pass pass = make_pass(n % 2 ? 64 : 128, n % 5 == 0 ? 192 : 0);
        pelt_skin_tables before = measure(&pass, given);
        for (uint32_t skipped = 0; skipped < 2 * count; skipped++) {
            uint32_t next = (uint32_t)scene_random(&seed, 0, 2 * count);
            while (given->instances[next].skip) {
                next = (next + 1) % (2 * count);
            }
            given->instances[next].skip = true;
            pelt_skin_tables after = measure(&pass, given);
            assert_int_equal(after.instance_count, before.instance_count - 1);
            assert_true(after.table_size < before.table_size);
            assert_true(after.scratch_size <= before.scratch_size);
            assert_true(after.chunk_count < before.chunk_count);
            assert_true(after.reduce_count <= before.reduce_count);
            assert_int_equal(after.chunk_vertices, before.chunk_vertices);
            assert_int_equal(after.team_bits, before.team_bits);
            assert_int_equal(after.permutation, before.permutation);
            before = after;
        }
        assert_int_equal(before.table_size, 0);
        assert_int_equal(before.scratch_size, 0);
        free(given);
    }
}

/* A skipped instance may name a mesh that is not there. */
static void skipped_instances_of_no_mesh_are_ignored(void **state)
{
    (void)state;
    const struct pelt_skin_pass pass = make_pass(64, 0);
    crowd *given = make_crowd(2, 30, 2, 30);
    given->instances[1] = (pelt_gpu_instance){ .mesh = UINT32_MAX, .skip = true };
    pelt_skin_tables tables = measure_and_free(&pass, given);
    assert_int_equal(tables.instance_count, 3);
    assert_int_equal(permutation_of(&tables)->shape, SHAPE_TEAMS);
    assert_int_equal(tables.team_bits, 2); /* of 30 vertices */
}

/* Every word of the table of two instances, the second of three chunks. */
static void tables_hold_chunks_and_reductions(void **state)
{
    (void)state;
    const struct pelt_skin_pass pass = make_pass(64, 64);
    crowd *given = make_crowd(1, 64, 2, 130);
    given->meshes[1].tangents = 0x2004;
    given->meshes[1].joint_bytes = 2;
    given->meshes[1].set_count = 3;
    given->meshes[1].joint_count = 77;
    given->instances[1].skip = true;
    given->instances[2].positions = 0x6004;
    given->instances[2].position_stride = 24;
    given->instances[2].normals = 0x7004;
    given->instances[2].normal_stride = 8;
    given->instances[2].tangents_out = 0x8004;
    given->instances[2].tangent_stride = 12;
    given->instances[2].vertices = 0xa000;
    pelt_skin_tables tables = measure(&pass, given);
    assert_int_equal(tables.chunk_count, 4);
    assert_int_equal(tables.reduction_offset, 4 * 112);
    assert_int_equal(tables.table_size, 4 * 112 + 16);
    struct {
        struct pelt_skin_chunk chunks[4];
        struct pelt_reduction reduction;
    } written, expected = {
        .chunks[0] = { .vertices = 0x1000,
                       .tangents = 0x3004, /* readable */
                       .weights = 0x3004,
                       .joints = 0x4004,
                       .matrices = 0x5000,
                       .out_positions = 0x6000,
                       .out_normals = 0x600c,
                       .box = 0x9004,
                       .end_vertex = 64,
                       .vertex_count = 64,
                       .set_count = 1,
                       .flags = PELT_CHUNK_INTERLEAVED | PELT_CHUNK_NORMALS | PELT_CHUNK_BOX,
                       .position_stride = 4,
                       .normal_stride = 4 },
        .chunks[1] = { .vertices = 0xa000,
                       .tangents = 0x2004,
                       .weights = 0x3004,
                       .joints = 0x4004,
                       .matrices = 0x5000,
                       .out_positions = 0x6004,
                       .out_normals = 0x7004,
                       .out_tangents = 0x8004,
                       .box = 0x9004,
                       .end_vertex = 64,
                       .vertex_count = 130,
                       .set_count = 3,
                       .joint_count = 77,
                       .flags = PELT_CHUNK_JOINTS_16 | PELT_CHUNK_NORMALS | PELT_CHUNK_TANGENTS |
                                PELT_CHUNK_BOX | PELT_CHUNK_PARTIAL,
                       .position_stride = 6,
                       .normal_stride = 2,
                       .tangent_stride = 3 },
        .reduction = { .box = 0x9004, .first_partial = 0, .count = 3 },
    };
    expected.chunks[2] = expected.chunks[3] = expected.chunks[1];
    expected.chunks[2].first_vertex = 64;
    expected.chunks[2].end_vertex = expected.chunks[3].first_vertex = 128;
    expected.chunks[3].end_vertex = 130;
    expected.chunks[2].partial = 1;
    expected.chunks[3].partial = 2;
    memset(&written, SCENE_GUARD, sizeof(written));
    assert_int_equal(sizeof(written), tables.table_size);
    pelt_skin_tables_write(&pass, &given->info, &tables, &written);
    assert_memory_equal(&written, &expected, sizeof(expected));
    free(given);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_follow_the_mean),
        cmocka_unit_test(teams_have_an_invocation_for_four_vertices),
        cmocka_unit_test(chunks_are_as_long_as_keeps_devices_busy),
        cmocka_unit_test(chunks_are_longer_on_processors),
        cmocka_unit_test(processors_have_few_permutations),
        cmocka_unit_test(passes_without_dual_quaternions_refuse_them),
        cmocka_unit_test(palettes_are_shared_where_they_fit_and_pay),
        cmocka_unit_test(vertex_formats_are_what_all_have_in_common),
        cmocka_unit_test(meshes_without_instances_change_nothing),
        cmocka_unit_test(skipping_makes_no_table_larger),
        cmocka_unit_test(skipped_instances_of_no_mesh_are_ignored),
        cmocka_unit_test(tables_hold_chunks_and_reductions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
