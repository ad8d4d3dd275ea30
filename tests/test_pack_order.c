/* The order of packed vertices where the caller gives none: by influences, within runs of 1024. */
#include "pack_fixture.h"

enum { RUN = 1024 };

/* count influences, of which some may be 0, in slots that differ from vertex to vertex. */
static void give(pelt_primitive *p, uint32_t vertex, uint32_t count)
{
    uint32_t slots = p->influence_count;
    for (uint32_t k = 0; k < count; k++) {
        size_t at = (size_t)vertex * slots + (vertex + k) % slots;
        p->weights[at] = 1.0f / (float)count;
        p->joints[at] = (uint16_t)(vertex + k);
    }
}

/* The order by its definition: each vertex comes after those of its run that have fewer influences,
 * and after those before it that have as many. */
static void expect_order(const pelt_packed_mesh *mesh, const uint32_t *counts)
{
    for (uint32_t vertex = 0; vertex < mesh->vertex_count; vertex++) {
        uint32_t first = vertex / RUN * RUN, place = first;
        for (uint32_t i = first; i < first + RUN && i < mesh->vertex_count; i++) {
            place += counts[i] < counts[vertex] || (counts[i] == counts[vertex] && i < vertex);
        }
        assert_int_equal(mesh->packed_vertices[vertex], place);
        assert_int_equal(mesh->source_vertices[place], vertex);
    }
}

static void a_few_vertices_by_hand(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 3, 1, 2, 4, 1, 3, 2, 1 };
    static const uint32_t order[] = { 1, 4, 7, 2, 6, 0, 5, 3 };
    pelt_primitive p = make_primitive(8, 4, 1);
    for (uint32_t vertex = 0; vertex < 8; vertex++) {
        give(&p, vertex, counts[vertex]);
    }
    pelt_packed_mesh *mesh = pack_in_order(&p, NULL);
    assert_memory_equal(mesh->source_vertices, order, sizeof(order));
    for (uint32_t to = 0; to < 8; to++) {
        assert_int_equal(mesh->packed_vertices[order[to]], to);
        assert_memory_equal(mesh->vertices[to].position, p.positions + 3 * (size_t)order[to], 12);
    }
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

/* Around the length of a run, and several; of up to 20 influences, where those of 16 and more are
 * as one. */
static void sorts_within_runs_and_keeps_equals(void **state)
{
    (void)state;
    static const uint32_t sizes[] = { 1, 2, RUN - 1, RUN, RUN + 1, 2 * RUN, 5000 };
    static const uint32_t slots[] = { 1, 4, 20 };
    for (size_t i = 0; i < 21; i++) {
        uint64_t seed = i;
        uint32_t size = sizes[i % 7];
        pelt_primitive p = make_primitive(size, slots[i / 7], i);
        uint32_t *counts = allocate(size, sizeof(*counts));
        for (uint32_t vertex = 0; vertex < size; vertex++) {
            counts[vertex] = 1 + below(&seed, p.influence_count);
            give(&p, vertex, counts[vertex]);
            counts[vertex] = counts[vertex] < 16 ? counts[vertex] : 16;
        }
        pelt_packed_mesh *mesh = pack_in_order(&p, NULL);
        expect_order(mesh, counts);
        free(counts);
        pelt_packed_mesh_destroy(mesh);
        free_primitive(&p);
    }
}

/* Streams are those of the same order given by the caller. */
static void streams_follow_the_order(void **state)
{
    (void)state;
    pelt_primitive p = make_primitive(3000, 8, 2);
    random_influences(&p, 8, 300, 2);
    pelt_packed_mesh *chosen = pack_in_order(&p, NULL);
    pelt_packed_mesh *given = pack_in_order(&p, chosen->source_vertices);
    pelt_packed_sizes sizes = pelt_packed_mesh_sizes(chosen);
    assert_memory_equal(chosen->vertices, given->vertices, sizes.vertices);
    assert_memory_equal(chosen->tangents, given->tangents, sizes.tangents);
    assert_memory_equal(chosen->weights, given->weights, sizes.weights);
    assert_memory_equal(chosen->joints, given->joints, sizes.joints);
    assert_memory_equal(chosen->packed_vertices, given->packed_vertices, 3000 * sizeof(uint32_t));
    assert_memory_equal(&chosen->report, &given->report, sizeof(given->report));
    pelt_packed_mesh_destroy(chosen);
    pelt_packed_mesh_destroy(given);
    free_primitive(&p);
}

/* Of 4096ths, a weight below one half is none, and one above is 1. */
static void weights_that_round_to_zero_do_not_count(void **state)
{
    (void)state;
    static const float small[] = { 0.51f / 4096, 0.49f / 4096, 1e-40f, 0.0f, 1.0f / 4096 };
    static const uint32_t counts[] = { 2, 1, 1, 1, 2 };
    pelt_primitive p = make_primitive(5, 2, 3);
    for (size_t vertex = 0; vertex < 5; vertex++) {
        p.weights[2 * vertex] = small[vertex];
        p.weights[2 * vertex + 1] = 1.0f - small[vertex];
        p.joints[2 * vertex] = 7;
    }
    pelt_packed_mesh *mesh = pack_in_order(&p, NULL);
    expect_order(mesh, counts);
    for (uint32_t vertex = 0; vertex < 5; vertex++) { /* as the words of weights say */
        assert_int_equal(mesh->weights[mesh->packed_vertices[vertex]] != 0, counts[vertex] == 2);
    }
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

static void rigid_meshes_keep_theirs(void **state)
{
    (void)state;
    pelt_primitive p = make_primitive(3000, 4, 4);
    random_influences(&p, 4, 10, 4);
    for (int unskinned = 0; unskinned < 2; unskinned++) {
        p.influence_count = unskinned ? 0 : 4;
        pelt_packed_mesh *mesh;
        const pelt_pack_info info = { .primitive = &p, .rigid = !unskinned };
        assert_int_equal(pelt_pack(NULL, &info, &mesh), PELT_OK);
        for (uint32_t vertex = 0; vertex < 3000; vertex++) {
            assert_int_equal(mesh->source_vertices[vertex], vertex);
            assert_int_equal(mesh->packed_vertices[vertex], vertex);
        }
        pelt_packed_mesh_destroy(mesh);
    }
    free_primitive(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_few_vertices_by_hand),
        cmocka_unit_test(sorts_within_runs_and_keeps_equals),
        cmocka_unit_test(streams_follow_the_order),
        cmocka_unit_test(weights_that_round_to_zero_do_not_count),
        cmocka_unit_test(rigid_meshes_keep_theirs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
