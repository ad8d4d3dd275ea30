/* Every permutation of the skin shader, and what only some of them do: palettes in shared memory,
 * teams, directions near overflow, weights of every code. */
#include "tests/gpu_scene.h"

#include "pelt/layout.h"
#include "vulkan/skin_plan.h"

enum { MOST_MESHES = 64, MOST_INSTANCES = 1024, LARGEST_PALETTE = 300 };

/* A scene that is put together piece by piece. */
typedef struct stage {
    pelt_packed_mesh *meshes[MOST_MESHES];
    scene_instance instances[MOST_INSTANCES];
    float *matrices[MOST_INSTANCES];
    scene scene;
    uint32_t vertices; /* of all instances */
} stage;

static stage *make_stage(void)
{
    stage *self = calloc(1, sizeof(*self));
    assert_non_null(self);
    self->scene.meshes = self->meshes;
    self->scene.instances = self->instances;
    return self;
}

static void free_stage(stage *self)
{
    for (uint32_t i = 0; i < self->scene.mesh_count; i++) {
        pelt_packed_mesh_destroy(self->meshes[i]);
    }
    for (uint32_t i = 0; i < self->scene.instance_count; i++) {
        free(self->matrices[i]);
    }
    free(self->scene.image);
    free(self);
}

static uint32_t add_mesh(stage *self, pelt_packed_mesh *mesh)
{
    assert_true(self->scene.mesh_count < MOST_MESHES);
    self->meshes[self->scene.mesh_count] = mesh;
    return self->scene.mesh_count++;
}

/* Takes the matrices over; NULL: random ones. */
static scene_instance *add_instance(stage *self, uint32_t mesh, scene_layout layout,
                                    float *matrices)
{
    uint32_t i = self->scene.instance_count++;
    assert_true(i < MOST_INSTANCES);
    self->matrices[i] = matrices ? matrices : scene_matrices(i, LARGEST_PALETTE);
    self->instances[i] =
        (scene_instance){ .mesh = mesh, .layout = layout, .matrices = self->matrices[i] };
    self->vertices += self->meshes[mesh]->vertex_count;
    return &self->instances[i];
}

/* Adds instances of a mesh until the mean is within bounds. */
static void move_mean(stage *self, uint32_t mesh, uint32_t least, uint32_t most)
{
    while (self->vertices / self->scene.instance_count > most ||
           self->vertices / self->scene.instance_count < least) {
        (void)add_instance(self, mesh, SCENE_INTERLEAVED, NULL);
    }
}

/* Skins with chunks of so many vertices, 0: what suits, and checks all that was written. */
static const skin_permutation *skin(stage *self, uint32_t chunk_vertices)
{
    pelt_headless *device = gpu_device();
    struct pelt_skin_pass pass = *scene_shared_pass(device);
    pass.chunk_vertices = chunk_vertices;
    scene_run(device, &pass, &self->scene, 1);
    return &pelt_skin_permutations[self->scene.tables.permutation];
}

static const skin_permutation *skin_and_check(stage *self, uint32_t chunk_vertices)
{
    const skin_permutation *permutation = skin(self, chunk_vertices);
    scene_check(&self->scene);
    return permutation;
}

/* Means that make a scene wide on devices of any group size, and narrow. */
static const uint32_t wide_sizes[] = { 3000, 700, 129 };
static const uint32_t narrow_sizes[] = { 500, 100, 33 };

/* Vertices and influences of the first mesh as given, plain ones of the others. */
static stage *make_uniform(const uint32_t sizes[3], uint32_t vertex, uint32_t slots,
                           uint32_t joint_count)
{
    stage *self = make_stage();
    for (uint32_t i = 0; i < 3; i++) {
        bool tangents = vertex == PELT_VERTEX_TANGENTS || (vertex == PELT_VERTEX_ANY && i == 1);
        uint32_t mesh = add_mesh(self, scene_mesh(sizes[i] + i, sizes[i], i == 0 ? slots : 4,
                                                  i == 0 ? joint_count : 24, tangents));
        (void)add_instance(self, mesh, SCENE_INTERLEAVED, NULL);
    }
    return self;
}

/* What GPUs would have, and what processors have in its place. */
static skin_shape on_device(skin_shape shape)
{
    return scene_shared->is_processor && shape == SHAPE_WIDE ? SHAPE_NARROW : shape;
}

static void expect(const skin_permutation *permutation, uint32_t vertex, bool any_influences,
                   skin_shape shape, uint32_t shared_joints)
{
    bool is_processor = scene_shared->is_processor;
    assert_int_equal(permutation->vertex, vertex);
    assert_int_equal(permutation->any_influences,
                     any_influences || (is_processor && vertex == PELT_VERTEX_ANY));
    assert_int_equal(permutation->shape, on_device(shape));
    assert_int_equal(permutation->shared_joints, is_processor ? 0 : shared_joints);
}

/* Most joints of a shared palette, and the shortest chunks that share it: eight vertices a joint.
 */
static uint32_t room_of(skin_shape shape)
{
    const skin_permutation *permutation = pelt_skin_permutations;
    while (permutation->shape != shape) {
        permutation++;
    }
    return permutation->shared_joints;
}

static uint32_t shortest_chunk(skin_shape shape)
{
    return (8 * room_of(shape) + 63) / 64 * 64;
}

/* With as many joints as can be shared, with one more, and with nobody knows how many. */
static void groups_skin_every_vertex_format(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t vertex = i % 3;
        skin_shape shape = i < 3 ? SHAPE_WIDE : SHAPE_NARROW;
        uint32_t room = room_of(shape);
        assert_true(room > 0);
        const uint32_t joint_counts[] = { room, room + 1, 24 };
        for (int k = 0; k < 3; k++) {
            stage *self = make_uniform(shape == SHAPE_WIDE ? wide_sizes : narrow_sizes, vertex, 4,
                                       joint_counts[k]);
            self->scene.unknown_palettes = k == 2;
            expect(skin_and_check(self, shortest_chunk(shape)), vertex, false, shape,
                   k == 0 ? room : 0);
            assert_true(self->scene.tables.reduce_count > 0);
            free_stage(self);
        }
    }
}

static void groups_skin_any_influences(void **state)
{
    (void)state;
    static const struct {
        uint32_t slots, joint_count;
    } kinds[] = { { 8, 20 }, { 12, 300 }, { 4, 300 } };
    for (uint32_t i = 0; i < 18; i++) {
        skin_shape shape = i < 9 ? SHAPE_WIDE : SHAPE_NARROW;
        stage *self = make_uniform(shape == SHAPE_WIDE ? wide_sizes : narrow_sizes, i % 3,
                                   kinds[i % 9 / 3].slots, kinds[i % 9 / 3].joint_count);
        expect(skin_and_check(self, shortest_chunk(shape)), PELT_VERTEX_ANY, true, shape, 0);
        free_stage(self);
    }
}

/* By themselves, plans share palettes of an eighth of the least chunk. */
static void groups_skin_with_chunks_that_suit(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        stage *self = make_stage();
        bool wide = i < 3;
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t size = wide ? wide_sizes[k] : narrow_sizes[k];
            uint32_t mesh =
                add_mesh(self, scene_mesh(k, size, 4, 8, i % 3 == PELT_VERTEX_TANGENTS));
            (void)add_instance(self, mesh, i % 3 == PELT_VERTEX_ANY ? k : SCENE_INTERLEAVED, NULL);
        }
        expect(skin_and_check(self, 0), i % 3, false, wide ? SHAPE_WIDE : SHAPE_NARROW,
               room_of(wide ? SHAPE_WIDE : SHAPE_NARROW));
        free_stage(self);
    }
}

/* Meshes of 1 to 48 vertices and one of 200, which is of four chunks, in all layouts, and as many
 * instances of one as give teams their size. */
static stage *make_small_meshes(uint32_t team_bits, bool any_influences)
{
    static const struct {
        uint32_t vertices, least_mean, most_mean;
    } fills[] = { { 1, 0, 7 }, { 5, 8, 15 }, { 12, 16, 31 }, { 48, 32, 48 } };
    stage *self = make_stage();
    for (uint32_t i = 0; i <= 48; i++) {
        uint32_t vertices = i == 48 ? 200 : i + 1;
        uint32_t slots = any_influences ? 4 * (1 + i % 3) : 4;
        uint32_t joint_count = any_influences && i % 2 ? 300 : 20;
        uint32_t mesh =
            add_mesh(self, scene_mesh(500 + i, vertices, slots, joint_count, i % 4 != 0));
        (void)add_instance(self, mesh, (i + 1) % SCENE_LAYOUT_COUNT, NULL);
    }
    self->instances[7].skip = self->instances[35].skip = true;
    move_mean(self, fills[team_bits].vertices - 1, fills[team_bits].least_mean,
              fills[team_bits].most_mean);
    return self;
}

static void teams_skin_small_meshes(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        bool any_influences = i % 2;
        stage *self = make_small_meshes(i / 2, any_influences);
        expect(skin_and_check(self, 0), PELT_VERTEX_ANY, any_influences, SHAPE_TEAMS, 0);
        assert_int_equal(self->scene.tables.team_bits, i / 2);
        assert_int_equal(self->scene.tables.reduce_count, 1);
        assert_int_equal(self->scene.tables.scratch_size, 4 * 32);
        free_stage(self);
    }
}

/* Each number of vertices alone: one chunk, in a group that is all but empty. */
static void teams_skin_single_meshes(void **state)
{
    (void)state;
    for (uint32_t vertices = 1; vertices <= 48; vertices++) {
        stage *self = make_stage();
        (void)add_mesh(self, scene_mesh(vertices, vertices, 4, 20, true));
        (void)add_instance(self, 0, SCENE_INTERLEAVED, NULL);
        expect(skin_and_check(self, 0), PELT_VERTEX_ANY, false, SHAPE_TEAMS, 0);
        free_stage(self);
    }
}

/* Everything there is, in each shape. */
static void mixed_scenes_are_skinned_in_every_shape(void **state)
{
    (void)state;
    static const uint32_t sizes[] = { 1, 33, 64, 65, 700 }, joints[] = { 13, 20, 300 };
    static const uint32_t means[] = { UINT32_MAX, 200, 30 };
    for (uint32_t s = 0; s < 3; s++) {
        stage *self = make_stage();
        for (uint32_t i = 0; i < 30; i++) {
            pelt_packed_mesh *mesh =
                scene_mesh(900 + i, sizes[i % 5], 1 + 4 * (i % 4), joints[i % 3], i % 7 < 4);
            scene_instance *added =
                add_instance(self, add_mesh(self, mesh), i % SCENE_LAYOUT_COUNT, NULL);
            added->skip = i % 8 == 3;
            added->vertices = i % 6 == 5 ? self->meshes[i - 5]->vertices : NULL;
        }
        if (s == SHAPE_WIDE) {
            uint32_t mesh = add_mesh(self, scene_mesh(999, 20000, 4, 30, true));
            (void)add_instance(self, mesh, SCENE_INTERLEAVED, NULL);
        }
        move_mean(self, 0, 0, means[s]);
        const skin_permutation *permutation = skin_and_check(self, 0);
        expect(permutation, PELT_VERTEX_ANY, true, (skin_shape)s, 0);
        free_stage(self);
    }
}

/* -- extreme matrices ---------------------------------------------------------------------- */

/* Joints by turns ordinary, tiny, huge and zero. */
static float *extreme_matrices(uint32_t joint_count)
{
    static const float scales[] = { 1.0f, 1e-20f, 1e20f, 0.0f, 1.0f, 1e-35f, 1e35f };
    float *matrices = scene_matrices(77, joint_count);
    for (uint32_t i = 0; i < 12 * joint_count; i++) {
        matrices[i] *= scales[i / 12 % 7];
    }
    return matrices;
}

/* A mesh in which they meet, in every shape and vertex format, shared palettes or not. */
static void extreme_matrices_turn_directions_as_on_the_cpu(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 36; i++) {
        skin_shape shape = (skin_shape)(i % 3);
        uint32_t vertex = i / 3 % 3, slots = i < 18 ? 4 : 8;
        bool unknown = i / 9 % 2;
        uint32_t size = shape == SHAPE_WIDE ? 2500 : shape == SHAPE_NARROW ? 250 : 40;
        stage *self = make_stage();
        uint32_t mesh = add_mesh(self, scene_mesh(i, size, slots, 14, vertex != PELT_VERTEX_PLAIN));
        for (uint32_t k = 0; k < 4; k++) {
            scene_layout layout = vertex != PELT_VERTEX_ANY ? SCENE_INTERLEAVED : SCENE_TIGHT + k;
            (void)add_instance(self, mesh, layout, k == 2 ? NULL : extreme_matrices(14));
        }
        self->scene.unknown_palettes = unknown;
        assert_int_equal(skin_and_check(self, 0)->shape, on_device(shape));
        free_stage(self);
    }
}

/* Where x is scaled by other than y and z, so that of a normal and a tangent along x one alone is
 * extreme, or what scaling by the largest element leaves of the others: both stay along x. */
static void one_direction_alone_may_be_extreme(void **state)
{
    (void)state;
    enum { CASES = 5 };
    static const struct {
        float x, others;
    } scales[CASES] = {
        { 1e-20f, 1.0f }, { 0.0f, 1.0f }, { 1e20f, 1.0f }, { 1e30f, 1.0f }, { 1e30f, 1e-12f },
    };
    for (uint32_t i = 0; i < 3 * CASES; i++) {
        uint32_t shape = i / CASES, size = shape == 0 ? 2500 : shape == 1 ? 250 : 40;
        pelt_packed_mesh *mesh = scene_mesh(i, size, 4, 14, true);
        const float x[3] = { 1, 0, 0 };
        for (uint32_t v = 0; v < size; v++) {
            mesh->vertices[v].normal = pelt_encode_direction(x, 1.0f);
            mesh->tangents[v] = pelt_encode_direction(x, v % 2 ? 1.0f : -1.0f);
        }
        float *matrices = calloc(14 * 12, sizeof(float));
        assert_non_null(matrices);
        for (uint32_t j = 0; j < 14; j++) {
            matrices[12 * j] = scales[i % CASES].x;
            matrices[12 * j + 5] = matrices[12 * j + 10] = scales[i % CASES].others;
        }
        stage *self = make_stage();
        scene_instance *instance =
            add_instance(self, add_mesh(self, mesh), SCENE_INTERLEAVED, matrices);
        assert_int_equal(skin(self, 0)->shape, on_device((skin_shape)shape));
        for (uint32_t v = 0; v < size; v++) {
            assert_int_equal(scene_word(&self->scene, instance->normals + 16 * (size_t)v),
                             mesh->vertices[v].normal);
            assert_int_equal(scene_word(&self->scene, instance->tangents_out + 4 * (size_t)v),
                             mesh->tangents[v]);
        }
        free_stage(self);
    }
}

/* -- weights ------------------------------------------------------------------------------- */

enum { W1_CODES = 2048, W2_CODES = 2048, W3_CODES = 1024, CODES = W1_CODES + W2_CODES + W3_CODES };

/* A vertex at the origin for each code of each weight of the first set. */
static pelt_packed_mesh *mesh_of_all_codes(uint32_t slots)
{
    pelt_packed_mesh *mesh = scene_mesh(1, CODES, slots, 8, true);
    memset(mesh->weights, 0, pelt_packed_mesh_sizes(mesh).weights);
    for (uint32_t v = 0; v < CODES; v++) {
        mesh->weights[v] = v < W1_CODES              ? v
                           : v < W1_CODES + W2_CODES ? (v - W1_CODES) << 11
                                                     : (v - W1_CODES - W2_CODES) << 22;
        mesh->joints[v] = 0x03020100;
        memset(mesh->vertices[v].position, 0, 12);
    }
    return mesh;
}

/* Joints 1 to 3 move by 1 along x, y and z, so that a vertex ends up where its weights say; joint 0
 * by implied along x. */
static float *matrices_that_tell(float implied)
{
    float *matrices = calloc(12 * LARGEST_PALETTE, sizeof(float));
    assert_non_null(matrices);
    matrices[3] = implied;
    matrices[12 + 3] = matrices[24 + 7] = matrices[36 + 11] = 1.0f - implied;
    return matrices;
}

/* The weights by their definition, exactly: numbers of 4096ths below 2^24. */
static void expect_codes(stage *self, uint32_t index, bool implied)
{
    const scene_instance *instance = &self->instances[index];
    for (uint32_t v = 0; v < CODES; v++) {
        uint32_t w1 = v < W1_CODES ? v : 0;
        uint32_t w2 = v >= W1_CODES && v < W1_CODES + W2_CODES ? v - W1_CODES : 0;
        uint32_t w3 = v >= W1_CODES + W2_CODES ? v - W1_CODES - W2_CODES : 0;
        w1 += w1 == 2047;
        w3 += w3 == 1023;
        float expected[3] = { (float)w1 / 4096, (float)w2 / 4096, (float)w3 / 4096 };
        if (implied) {
            expected[0] = (float)(int)(4096 - w1 - w2 - w3) / 4096;
            expected[1] = expected[2] = 0.0f;
        }
        size_t at = instance->positions + (size_t)v * instance->position_stride;
        if (memcmp(self->scene.image + at, expected, 12) != 0) {
            fail_msg("vertex %u: %a %a %a", v, (double)scene_float(&self->scene, at),
                     (double)scene_float(&self->scene, at + 4),
                     (double)scene_float(&self->scene, at + 8));
        }
    }
}

static void all_codes_of_weights_are_exact(void **state)
{
    (void)state;
    static const uint32_t means[] = { UINT32_MAX, 200, 30 };
    for (uint32_t i = 0; i < 6; i++) {
        bool any_influences = i >= 3;
        stage *self = make_stage();
        (void)add_mesh(self, mesh_of_all_codes(4));
        (void)add_mesh(self, mesh_of_all_codes(any_influences ? 8 : 4));
        (void)add_mesh(self, scene_mesh(2, 2, 4, 4, true));
        for (uint32_t k = 0; k < 4; k++) {
            (void)add_instance(self, k / 2, SCENE_INTERLEAVED,
                               matrices_that_tell(k % 2 ? 1.0f : 0.0f));
        }
        move_mean(self, 2, 0, means[i % 3]);
        const skin_permutation *permutation = skin(self, 0);
        bool any_vertex = any_influences || i % 3 == SHAPE_TEAMS;
        expect(permutation, any_vertex ? PELT_VERTEX_ANY : PELT_VERTEX_TANGENTS, any_influences,
               (skin_shape)(i % 3), permutation->shared_joints);
        for (uint32_t k = 0; k < 4; k++) {
            expect_codes(self, k, k % 2);
        }
        scene_check(&self->scene);
        free_stage(self);
    }
}

/* Codes of further sets: slots 0 and 3 by their sum, 1 and 2 by themselves. */
static void all_codes_of_further_weights_are_exact(void **state)
{
    (void)state;
    enum { COUNT = 65536 };
    stage *self = make_stage();
    pelt_packed_mesh *mesh = scene_mesh(3, COUNT, 8, 8, false);
    memset(mesh->weights, 0, pelt_packed_mesh_sizes(mesh).weights);
    uint32_t *further = mesh->weights + COUNT;
    for (uint32_t v = 0; v < COUNT; v++) {
        uint32_t reversed = COUNT - 1 - v;
        further[2 * v] = v | v << 16;
        further[2 * v + 1] = reversed | reversed << 16;
        mesh->joints[v] = 0;
        mesh->joints[COUNT + v] = 0x01030201;
        memset(mesh->vertices[v].position, 0, 12);
    }
    float *matrices = matrices_that_tell(0.0f);
    matrices[12 + 3] = 2.0f;
    (void)add_mesh(self, mesh);
    scene_instance *instance = add_instance(self, 0, SCENE_INTERLEAVED, matrices);
    assert_true(skin(self, 0)->any_influences);
    for (uint32_t v = 0; v < COUNT; v++) {
        const float expected[3] = { 2.0f * (COUNT - 1) / COUNT, (float)v / COUNT,
                                    (float)(COUNT - 1 - v) / COUNT };
        assert_memory_equal(self->scene.image + instance->positions + 16 * (size_t)v, expected, 12);
    }
    free_stage(self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_skin_every_vertex_format),
        cmocka_unit_test(groups_skin_any_influences),
        cmocka_unit_test(groups_skin_with_chunks_that_suit),
        cmocka_unit_test(teams_skin_small_meshes),
        cmocka_unit_test(teams_skin_single_meshes),
        cmocka_unit_test(mixed_scenes_are_skinned_in_every_shape),
        cmocka_unit_test(extreme_matrices_turn_directions_as_on_the_cpu),
        cmocka_unit_test(one_direction_alone_may_be_extreme),
        cmocka_unit_test(all_codes_of_weights_are_exact),
        cmocka_unit_test(all_codes_of_further_weights_are_exact),
    };
    int failed = cmocka_run_group_tests(tests, gpu_setup, scene_teardown);
    failed += cmocka_run_group_tests_name("as another type of device", tests,
                                          scene_setup_as_other_type, scene_teardown);
    return gpu_result(failed);
}
