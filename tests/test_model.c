#include "tests/build_model.h"

#include <stdio.h>

static void keep_message(void *user, const pelt_message *message)
{
    (void)snprintf(user, 256, "%s|%s", message->pointer ? message->pointer : "", message->text);
}

static void orders_nodes_stored_children_first(void **state)
{
    (void)state;
    /*  3 -> 1 -> 0,  3 -> 2,  4 (a second root) */
    const int32_t parents[] = { 1, 3, 3, -1, -1 };
    pelt_model *model = build_nodes(NULL, parents, 5);
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    const uint32_t expected[] = { 3, 1, 0, 2, 4 };
    assert_memory_equal(model->node_order, expected, sizeof(expected));
    assert_int_equal(model->scene_node_count, 5);
    assert_memory_equal(model->scene_nodes, expected, sizeof(expected));
    pelt_model_destroy(model);
}

static void orders_a_chain_of_100000(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    int32_t *parents = malloc(COUNT * sizeof(*parents));
    assert_non_null(parents);
    for (int32_t i = 0; i < COUNT; i++) {
        parents[i] = i + 1 < COUNT ? i + 1 : -1;
    }
    pelt_model *model = build_nodes(NULL, parents, COUNT);
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(model->node_order[i], COUNT - 1 - i);
    }
    pelt_model_destroy(model);
    free(parents);
}

static void refuses_a_cycle_and_names_a_node_of_it(void **state)
{
    (void)state;
    char text[256] = "";
    const pelt_host host = { .user = text, .message = keep_message };
    const int32_t parents[] = { -1, 3, 1, 2 };
    pelt_model *model = build_nodes(&host, parents, 4);
    assert_int_equal(pelt_model_finish(model), PELT_ERROR_ARGUMENT);
    assert_int_equal(strncmp(text, "/nodes/1|", 9), 0);
    assert_null(model->node_order);
    pelt_model_destroy(model);
}

/* Two meshes: 0 has a skinned and a plain primitive, 1 a plain one. Skin 0 has 3 joints, skin 1 2.
 *
 *   node 0  root
 *   node 1  mesh 0, skin 1   (skinned part, rigid part)
 *   node 2  mesh 0, skin 1   (again: shares the palette; its rigid part has its own)
 *   node 3  mesh 0           (both rigid: no skin)
 *   node 4  mesh 1, skin 0   (rigid: no influences; skin 0 gets no palette)
 *   node 5  mesh 1, outside the scene
 */
static pelt_model *build_parts(const pelt_host *host)
{
    const int32_t parents[] = { -1, 0, 0, 0, 1, -1 };
    const float positions[9] = { 0 };
    pelt_model *model = build_nodes(host, parents, 6);
    model->nodes[5].in_scene = false;
    model->mesh_count = 2;
    model->meshes = pelt_model_allocate(model, 2, sizeof(*model->meshes));
    assert_non_null(model->meshes);
    pelt_primitive plain = {
        .topology = PELT_TRIANGLES, .vertex_count = 3, .material = -1, .target_count = 0
    };
    plain.positions = build_copy(model, positions, 9, sizeof(float));
    pelt_primitive skinned = plain;
    skinned.influence_count = 4;
    pelt_primitive both[] = { skinned, plain };
    for (int i = 0; i < 2; i++) {
        both[i].target_count = 2;
    }
    model->meshes[0].primitive_count = 2;
    model->meshes[0].primitives = build_copy(model, both, 2, sizeof(plain));
    model->meshes[1].primitive_count = 1;
    model->meshes[1].primitives = build_copy(model, &plain, 1, sizeof(plain));
    const uint32_t joints[] = { 0, 1, 2 };
    model->skin_count = 2;
    model->skins = pelt_model_allocate(model, 2, sizeof(*model->skins));
    assert_non_null(model->skins);
    for (uint32_t i = 0; i < 2; i++) {
        model->skins[i].joint_count = 3 - i;
        model->skins[i].joints = build_copy(model, joints, 3, sizeof(*joints));
    }
    const int32_t meshes[] = { -1, 0, 0, 0, 1, 1 }, skins[] = { -1, 1, 1, -1, 0, 0 };
    for (int i = 0; i < 6; i++) {
        model->nodes[i].mesh = meshes[i];
        model->nodes[i].skin = skins[i];
    }
    return model;
}

static void lists_parts_and_palettes(void **state)
{
    (void)state;
    pelt_model *model = build_parts(NULL);
    assert_int_equal(pelt_model_finish(model), PELT_OK);

    /* depth-first: 0, 1, 4 (child of 1), 2, 3 */
    const struct {
        uint32_t node, mesh, primitive, palette;
        bool skinned;
    } parts[] = { { 1, 0, 0, 0, true }, { 1, 0, 1, 1, false }, { 4, 1, 0, 2, false },
                  { 2, 0, 0, 0, true }, { 2, 0, 1, 3, false }, { 3, 0, 0, 4, false },
                  { 3, 0, 1, 4, false } };
    assert_int_equal(model->part_count, 7);
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(model->parts[i].node, parts[i].node);
        assert_int_equal(model->parts[i].mesh, parts[i].mesh);
        assert_int_equal(model->parts[i].primitive, parts[i].primitive);
        assert_int_equal(model->parts[i].palette, parts[i].palette);
        assert_int_equal(model->parts[i].skinned, parts[i].skinned);
    }
    const pelt_palette palettes[] = {
        { 1, 1, 0, 2 }, { -1, 1, 2, 1 }, { -1, 4, 3, 1 }, { -1, 2, 4, 1 }, { -1, 3, 5, 1 }
    };
    assert_int_equal(model->palette_count, 5);
    assert_int_equal(model->matrix_count, 6);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(model->palettes[i].skin, palettes[i].skin);
        assert_int_equal(model->palettes[i].node, palettes[i].node);
        assert_int_equal(model->palettes[i].first_matrix, palettes[i].first_matrix);
        assert_int_equal(model->palettes[i].matrix_count, palettes[i].matrix_count);
    }
    const uint32_t offsets[] = { 0, 0, 2, 4, 6, 6, 6 };
    assert_memory_equal(model->morph_offsets, offsets, sizeof(offsets));

    /* Again, with the scene order now given. */
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    assert_int_equal(model->part_count, 7);
    assert_int_equal(model->scene_node_count, 5);
    pelt_model_destroy(model);
}

static void follows_a_given_scene_order(void **state)
{
    (void)state;
    pelt_model *model = build_parts(NULL);
    const uint32_t order[] = { 3, 1 };
    model->scene_nodes = build_copy(model, order, 2, sizeof(*order));
    model->scene_node_count = 2;
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    assert_int_equal(model->part_count, 4);
    assert_int_equal(model->parts[0].node, 3);
    assert_int_equal(model->parts[2].node, 1);
    pelt_model_destroy(model);
}

/* 5,000 nodes that share a mesh of 5,000 primitives: a small file, 25 million parts. */
static void refuses_more_parts_than_any_character_has(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    static int32_t parents[COUNT];
    const float positions[3] = { 0 };
    char text[256] = "";
    const pelt_host host = { .user = text, .message = keep_message };
    memset(parents, 0xff, sizeof(parents));
    pelt_model *model = build_nodes(&host, parents, COUNT);
    pelt_primitive one = *build_mesh(model, positions, 1);
    model->meshes[0].primitive_count = COUNT;
    model->meshes[0].primitives = pelt_model_allocate(model, COUNT, sizeof(one));
    assert_non_null(model->meshes[0].primitives);
    for (uint32_t i = 0; i < COUNT; i++) {
        model->meshes[0].primitives[i] = one;
        model->nodes[i].mesh = 0;
    }
    assert_int_equal(pelt_model_finish(model), PELT_ERROR_RANGE);
    assert_non_null(strstr(text, "parts"));
    assert_null(model->parts);
    pelt_model_destroy(model);
}

static void finds_clips_by_name_then_number(void **state)
{
    (void)state;
    pelt_model *model = build_nodes(NULL, NULL, 0);
    pelt_clip clips[3] = { { .name = build_name(model, "walk") },
                           { 0 },
                           { .name = build_name(model, "1") } };
    model->clip_count = 3;
    model->clips = build_copy(model, clips, 3, sizeof(*clips));
    assert_int_equal(pelt_model_find_clip(model, "walk"), 0);
    assert_int_equal(pelt_model_find_clip(model, "1"), 2);
    assert_int_equal(pelt_model_find_clip(model, "0"), 0);
    assert_int_equal(pelt_model_find_clip(model, "2"), 2);
    const char *none[] = { "", "3", "-1", "run", "1x", " 1", "4294967297", "99999999999999999999" };
    for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
        assert_int_equal(pelt_model_find_clip(model, none[i]), -1);
    }
    pelt_model_destroy(model);
}

static void winds_triangles_as_gltf(void **state)
{
    (void)state;
    uint32_t indices[] = { 7, 8, 9, 10, 11 };
    pelt_primitive primitive = {
        .topology = PELT_TRIANGLE_STRIP, .vertex_count = 12, .index_count = 5, .indices = indices
    };
    uint32_t out[9];
    const uint32_t strip[] = { 7, 8, 9, 8, 10, 9, 9, 10, 11 };
    assert_int_equal(pelt_primitive_triangle_count(&primitive), 3);
    pelt_primitive_triangles(&primitive, out);
    assert_memory_equal(out, strip, sizeof(strip));

    const uint32_t fan[] = { 8, 9, 7, 9, 10, 7, 10, 11, 7 };
    primitive.topology = PELT_TRIANGLE_FAN;
    assert_int_equal(pelt_primitive_triangle_count(&primitive), 3);
    pelt_primitive_triangles(&primitive, out);
    assert_memory_equal(out, fan, sizeof(fan));

    primitive.topology = PELT_TRIANGLES;
    assert_int_equal(pelt_primitive_triangle_count(&primitive), 1);
    primitive.index_count = 0;
    primitive.vertex_count = 3;
    const uint32_t list[] = { 0, 1, 2 };
    assert_int_equal(pelt_primitive_triangle_count(&primitive), 1);
    pelt_primitive_triangles(&primitive, out);
    assert_memory_equal(out, list, sizeof(list));

    const pelt_topology lines[] = { PELT_POINTS, PELT_LINES, PELT_LINE_LOOP, PELT_LINE_STRIP };
    for (int i = 0; i < 4; i++) {
        primitive.topology = lines[i];
        assert_int_equal(pelt_primitive_triangle_count(&primitive), 0);
    }
    primitive.topology = PELT_TRIANGLE_STRIP;
    primitive.vertex_count = 2;
    assert_int_equal(pelt_primitive_triangle_count(&primitive), 0);
}

static void unwinds_when_any_allocation_fails(void **state)
{
    (void)state;
    meter m = { .calls_left = 1000 };
    const pelt_host host = { .user = &m, .allocate = metered };
    pelt_result result = PELT_ERROR_MEMORY;
    long n = 0;
    for (; result != PELT_OK; n++) {
        assert_true(n < 100);
        m.calls_left = 1000;
        pelt_model *model = build_parts(&host);
        m.calls_left = n;
        result = pelt_model_finish(model);
        assert_true(result == PELT_OK || result == PELT_ERROR_MEMORY);
        assert_true((result == PELT_OK) == (model->part_count == 7));
        pelt_model_destroy(model);
        assert_int_equal(m.alive, 0);
    }
    assert_true(n > 3); /* it did fail a few times before */

    pelt_model *model;
    for (n = 0; n < 2; n++) {
        m.calls_left = n;
        assert_int_equal(pelt_model_create(&host, &model), PELT_ERROR_MEMORY);
        assert_null(model);
        assert_int_equal(m.alive, 0);
    }
    pelt_model_destroy(NULL);
}

static void gives_memory_back_early(void **state)
{
    (void)state;
    meter m = { .calls_left = 1000 };
    const pelt_host host = { .user = &m, .allocate = metered };
    pelt_model *model;
    assert_int_equal(pelt_model_create(&host, &model), PELT_OK);
    long before = m.alive;
    void *large = pelt_model_allocate(model, 1000, 100);
    void *small = pelt_model_allocate(model, 10, 10);
    void *other = pelt_model_allocate(model, 10, 10);
    assert_non_null(large);
    assert_int_equal((uintptr_t)small % 16, 0);
    assert_int_equal((uintptr_t)large % 16, 0);
    assert_true(small != other);
    assert_int_equal(m.alive, before + 2); /* a block and a slab */
    pelt_model_release(model, large);
    pelt_model_release(model, small);
    pelt_model_release(model, NULL);
    assert_int_equal(m.alive, before + 1);
    assert_null(pelt_model_allocate(model, SIZE_MAX / 2, 4));
    pelt_model_destroy(model);
    assert_int_equal(m.alive, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_nodes_stored_children_first),
        cmocka_unit_test(orders_a_chain_of_100000),
        cmocka_unit_test(refuses_a_cycle_and_names_a_node_of_it),
        cmocka_unit_test(lists_parts_and_palettes),
        cmocka_unit_test(follows_a_given_scene_order),
        cmocka_unit_test(refuses_more_parts_than_any_character_has),
        cmocka_unit_test(finds_clips_by_name_then_number),
        cmocka_unit_test(winds_triangles_as_gltf),
        cmocka_unit_test(unwinds_when_any_allocation_fails),
        cmocka_unit_test(gives_memory_back_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
