/* The writer: what its files say, and that the reader has the same model again. */
#include "gltf/binary.h"
#include "tests/build_model.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* One red pixel. */
static const uint8_t PNG[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
    0x44, 0x52, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00,
    0x00, 0x90, 0x77, 0x53, 0xde, 0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x78,
    0x9c, 0x63, 0xf8, 0xdf, 0xe0, 0x00, 0x00, 0x04, 0x41, 0x01, 0xc0, 0x0c, 0xd1, 0xed,
    0x91, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
};

static char folder[] = "/tmp/pelt-write-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) {
        return -1;
    }
    (void)snprintf(path, sizeof(path), "%s/out.glb", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

static void build_surface(pelt_model *model)
{
    pelt_material materials[2] = {
        { .name = build_name(model, "skin"),
          .base_color = { 0.5f, 0.25f, 1, 1 },
          .base_color_image = 0,
          .base_color_sampler = { .wrap_s = 33071, .min_filter = 9987 },
          .alpha_mode = PELT_ALPHA_MASK,
          .alpha_cutoff = 0.25f },
        { .base_color = { 1, 1, 1, 0.5f },
          .base_color_image = -1,
          .alpha_mode = PELT_ALPHA_BLEND,
          .alpha_cutoff = 0.5f,
          .double_sided = true },
    };
    pelt_image image = { .name = build_name(model, "red"),
                         .mime_type = "image/png",
                         .size = sizeof(PNG) };
    image.bytes = build_copy(model, PNG, sizeof(PNG), 1);
    model->material_count = 2;
    model->materials = build_copy(model, materials, 2, sizeof(*materials));
    model->image_count = 1;
    model->images = build_copy(model, &image, 1, sizeof(image));
}

/* Eight influences, every attribute, two targets, 16-bit indices of an odd number. */
static void build_skinned(pelt_model *model, pelt_primitive *out)
{
    const float positions[] = { 0, 0, 0, 1, 0, 0.1f, -3, 1, 0, 1, 1, 7 };
    const float normals[] = { 0, 0, 1, 0, 1, 0, 0.6f, 0, 0.8f, 1, 0, 0 };
    const float tangents[] = { 1, 0, 0, 1, 1, 0, 0, -1, 0, 1, 0, 1, 0, 0, 1, -1 };
    const float texcoords[] = { 0, 0.5f, 1, 0, 0, 1, 2, -1 };
    const float colors[] = { 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1, 1, 1, 0.5f };
    const uint16_t joints[32] = { [1] = 1, [8] = 1, [16] = 1, [24] = 1 };
    float weights[32] = { [0] = 0.75f, [1] = 0.25f, [8] = 1, [16] = 0.5f, [20] = 0, [24] = 1 };
    weights[17] = 0.5f; /* joint 0 */
    const uint32_t indices[] = { 0, 1, 2, 2, 1, 3, 0, 2, 3 };
    const float deltas[12] = { 0, 1, 2, -3, 4, 5, 6, 7, 8, 9, 10, 11 };
    *out = (pelt_primitive){ .topology = PELT_TRIANGLES,
                             .vertex_count = 4,
                             .influence_count = 8,
                             .index_count = 9,
                             .target_count = 2,
                             .material = 0 };
    out->positions = build_copy(model, positions, 12, sizeof(float));
    out->normals = build_copy(model, normals, 12, sizeof(float));
    out->tangents = build_copy(model, tangents, 16, sizeof(float));
    out->texcoords = build_copy(model, texcoords, 8, sizeof(float));
    out->colors = build_copy(model, colors, 16, sizeof(float));
    out->joints = build_copy(model, joints, 32, sizeof(uint16_t));
    out->weights = build_copy(model, weights, 32, sizeof(float));
    out->indices = build_copy(model, indices, 9, sizeof(uint32_t));
    out->targets = pelt_model_allocate(model, 2, sizeof(*out->targets));
    assert_non_null(out->targets);
    out->targets[0].positions = build_copy(model, deltas, 12, sizeof(float));
    out->targets[0].normals = build_copy(model, deltas, 12, sizeof(float));
    out->targets[0].tangents = build_copy(model, deltas, 12, sizeof(float));
    out->targets[1].positions = build_copy(model, deltas, 12, sizeof(float));
}

/* A strip without normals, texcoords or indices, and with a target that has nothing. */
static void build_strip(pelt_model *model, pelt_primitive *out)
{
    const float positions[] = { 5, 0, 0, 6, 0, 0, 5, 1, 0 }, deltas[9] = { 1 };
    const uint16_t joints[12] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    const float weights[12] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    *out = (pelt_primitive){ .topology = PELT_TRIANGLE_STRIP,
                             .vertex_count = 3,
                             .influence_count = 4,
                             .target_count = 2,
                             .material = 0 };
    out->positions = build_copy(model, positions, 9, sizeof(float));
    out->joints = build_copy(model, joints, 12, sizeof(uint16_t));
    out->weights = build_copy(model, weights, 12, sizeof(float));
    out->targets = pelt_model_allocate(model, 2, sizeof(*out->targets));
    assert_non_null(out->targets);
    out->targets[0].positions = build_copy(model, deltas, 9, sizeof(float));
}

static void build_lines(pelt_model *model, pelt_primitive *out)
{
    const float positions[] = { 0, 0, 0, 0, 0, 9 };
    *out = (pelt_primitive){ .topology = PELT_LINES, .vertex_count = 2, .material = 1 };
    out->positions = build_copy(model, positions, 6, sizeof(float));
}

/* Clip 0 of four channels, one of them a spline; clip 1 of one. */
static void build_clips(pelt_model *model)
{
    const float times[] = { 0, 0.5f, 2 }, places[] = { 0, 0, 0, 1, 2, 3, 4, 5, 6 };
    const float spline[] = { 1, 2, 3, 4, 0, 0, 0,    1, 5, 6, 7,  8, 1, 2, 3, 4,  0,  0,
                             1, 0, 5, 6, 7, 8, 0.5f, 1, 2, 3, -1, 0, 0, 0, 9, 10, 11, 12 };
    const float weights[] = { 0, 1, 0.5f, 0.25f, 1, 0 };
    build_clip(model, 2, PELT_TRANSLATION, PELT_LINEAR, 3, 3, times, places);
    const pelt_sampler parts[] = {
        *build_clip(model, 2, PELT_SCALE, PELT_STEP, 3, 3, times, places),
        *build_clip(model, 2, PELT_ROTATION, PELT_CUBICSPLINE, 3, 4, times, spline),
        *build_clip(model, 3, PELT_WEIGHTS, PELT_LINEAR, 3, 2, times, weights),
        *build_clip(model, 1, PELT_TRANSLATION, PELT_STEP, 1, 3, times, places),
    };
    const pelt_channel channels[] = { { 2, PELT_SCALE, 0 },
                                      { 2, PELT_ROTATION, 1 },
                                      { 3, PELT_WEIGHTS, 2 },
                                      { 1, PELT_TRANSLATION, 3 } };
    model->clip_count = 2;
    model->clips[1] = (pelt_clip){
        .name = build_name(model, "all"), .duration = 2, .channel_count = 4, .sampler_count = 4
    };
    model->clips[1].channels = build_copy(model, channels, 4, sizeof(*channels));
    model->clips[1].samplers = build_copy(model, parts, 4, sizeof(*parts));
}

/* Everything that a file can hold. Scene order: 0, 4, 3, 1, 2; node 5 is outside the scene. */
static pelt_model *build_everything(void)
{
    const int32_t parents[] = { -1, 0, 1, 0, 0, -1 };
    const uint32_t scene[] = { 0, 4, 3, 1, 2 }, joints[] = { 2, 1 };
    const double matrix[] = { 0, -1, 0, 5, 1, 0, 0, 6, 0, 0, 2, 7 },
                 turn[] = { 0.5, 0.5, 0.5, 0.5 };
    const double weights[] = { 0.1, 0.7 }, own[] = { -1.0 / 3, 2 };
    float inverse_bind[24];
    pelt_model *model = build_nodes(NULL, parents, 6);
    for (int i = 0; i < 24; i++) {
        inverse_bind[i] = (float)(i % 5) / 7;
    }
    pelt_node *nodes = model->nodes;
    nodes[5].in_scene = false;
    model->scene_nodes = build_copy(model, scene, 5, sizeof(*scene));
    model->scene_node_count = 5;
    nodes[0].name = build_name(model, "h\xc3\xb6lder \"quoted\"");
    nodes[0].translation[0] = 1.5;
    nodes[0].scale[1] = -2;
    memcpy(nodes[0].rotation, turn, sizeof(turn));
    nodes[4].has_matrix = true;
    memcpy(nodes[4].matrix, matrix, sizeof(matrix));
    nodes[4].mesh = 1;
    nodes[4].skin = 0; /* without influences it is rigid; such a skin is not written */
    nodes[3].mesh = nodes[3].skin = 0;
    nodes[3].weight_count = 2;
    nodes[3].weights = build_copy(model, own, 2, sizeof(double));
    nodes[3].extras = build_name(model, "{\"sourceNode\": 3, \"sourcePrimitive\": 0}");

    pelt_skin skin = { .name = build_name(model, "rig"), .joint_count = 2 };
    skin.joints = build_copy(model, joints, 2, sizeof(*joints));
    skin.inverse_bind = build_copy(model, inverse_bind, 24, sizeof(float));
    model->skin_count = 1;
    model->skins = build_copy(model, &skin, 1, sizeof(skin));

    pelt_primitive body[2], lines;
    build_skinned(model, &body[0]);
    build_strip(model, &body[1]);
    build_lines(model, &lines);
    pelt_mesh meshes[2] = {
        { .name = build_name(model, "body"), .primitive_count = 2, .weight_count = 2 },
        { .primitive_count = 1 }
    };
    meshes[0].primitives = build_copy(model, body, 2, sizeof(*body));
    meshes[0].weights = build_copy(model, weights, 2, sizeof(double));
    meshes[1].primitives = build_copy(model, &lines, 1, sizeof(lines));
    model->mesh_count = 2;
    model->meshes = build_copy(model, meshes, 2, sizeof(*meshes));
    build_surface(model);
    build_clips(model);
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    return model;
}

/* A written file. */
typedef struct glb {
    uint8_t *bytes;
    size_t size;
    json_t *json;
    const uint8_t *binary;
    size_t binary_size;
} glb;

static uint32_t word(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static glb open_glb(void)
{
    glb out = { 0 };
    assert_int_equal(pelt_file_read(NULL, path, &out.bytes, &out.size), PELT_OK);
    assert_true(out.size >= 20 && out.size % 4 == 0);
    assert_memory_equal(out.bytes, "glTF\2\0\0\0", 8);
    assert_int_equal(word(out.bytes + 8), out.size);
    assert_memory_equal(out.bytes + 16, "JSON", 4);
    size_t json_size = word(out.bytes + 12);
    assert_int_equal(json_size % 4, 0);
    out.json = json_loadb((char *)out.bytes + 20, json_size, 0, NULL);
    assert_non_null(out.json);
    size_t place = 20 + json_size;
    if (place < out.size) {
        assert_memory_equal(out.bytes + place + 4, "BIN\0", 4);
        out.binary_size = word(out.bytes + place);
        out.binary = out.bytes + place + 8;
        assert_int_equal(place + 8 + out.binary_size, out.size);
    }
    return out;
}

static void close_glb(glb *file)
{
    json_decref(file->json);
    pelt_release(NULL, file->bytes);
}

static json_t *at(json_t *root, const char *array, size_t index)
{
    json_t *found = json_array_get(json_object_get(root, array), index);
    assert_non_null(found);
    return found;
}

static json_int_t integer(json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static double number(json_t *object, const char *key, size_t index)
{
    json_t *found = json_array_get(json_object_get(object, key), index);
    assert_true(json_is_number(found));
    return json_number_value(found);
}

static void writes_views_that_tile_the_buffer(void **state)
{
    (void)state;
    pelt_model *model = build_everything();
    assert_int_equal(pelt_gltf_write(NULL, model, path), PELT_OK);
    glb file = open_glb();
    json_t *views = json_object_get(file.json, "bufferViews");
    json_int_t end = 0;
    assert_int_equal(json_array_size(json_object_get(file.json, "buffers")), 1);
    assert_int_equal(integer(at(file.json, "buffers", 0), "byteLength"), file.binary_size);
    for (size_t i = 0; i < json_array_size(views); i++) {
        json_t *view = json_array_get(views, i);
        assert_int_equal(integer(view, "byteOffset"), end);
        assert_true(integer(view, "byteLength") > 0);
        end = (end + integer(view, "byteLength") + 3) / 4 * 4;
    }
    assert_int_equal(end, file.binary_size);
    close_glb(&file);
    pelt_model_destroy(model);
}

static void writes_exact_bounds(void **state)
{
    (void)state;
    pelt_model *model = build_everything();
    assert_int_equal(pelt_gltf_write(NULL, model, path), PELT_OK);
    glb file = open_glb();
    json_t *primitive = at(at(file.json, "meshes", 0), "primitives", 0);
    json_t *attributes = json_object_get(primitive, "attributes");
    json_t *positions = at(file.json, "accessors", (size_t)integer(attributes, "POSITION"));
    const double min[] = { -3, 0, 0 }, max[] = { 1, 1, 7 };
    for (size_t i = 0; i < 3; i++) {
        assert_true(number(positions, "min", i) == min[i]);
        assert_true(number(positions, "max", i) == max[i]);
    }
    json_t *target = at(primitive, "targets", 0);
    json_t *deltas = at(file.json, "accessors", (size_t)integer(target, "POSITION"));
    assert_true(number(deltas, "min", 0) == -3 && number(deltas, "max", 2) == 11);
    json_t *sampler = at(at(file.json, "animations", 1), "samplers", 0);
    json_t *input = at(file.json, "accessors", (size_t)integer(sampler, "input"));
    assert_true(number(input, "min", 0) == 0 && number(input, "max", 0) == 2);

    /* The bytes themselves: position 2 of the first accessor. */
    json_t *view = at(file.json, "bufferViews", (size_t)integer(positions, "bufferView"));
    assert_int_equal(integer(view, "target"), 34962);
    assert_memory_equal(file.binary + integer(view, "byteOffset"),
                        model->meshes[0].primitives[0].positions, 48);
    json_t *indices = at(file.json, "accessors", (size_t)integer(primitive, "indices"));
    view = at(file.json, "bufferViews", (size_t)integer(indices, "bufferView"));
    assert_int_equal(integer(view, "target"), 34963);
    assert_int_equal(integer(view, "byteLength"), 18);
    close_glb(&file);
    pelt_model_destroy(model);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void compare_floats(const float *a, const float *b, size_t count)
{
    assert_true(!a == !b);
    for (size_t i = 0; a && i < count; i++) {
        assert_true(a[i] == b[i]);
    }
}

static void compare_doubles(const double *a, const double *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_near(a[i], b[i], 1e-15); /* unit quaternions may be normalised again */
    }
}

static void compare_targets(const pelt_primitive *a, const pelt_primitive *b)
{
    assert_int_equal(a->target_count, b->target_count);
    size_t count = 3 * (size_t)a->vertex_count;
    for (uint32_t t = 0; t < a->target_count; t++) {
        const pelt_morph_target *x = &a->targets[t], *y = &b->targets[t];
        if (x->positions) {
            compare_floats(x->positions, y->positions, count);
        }
        for (size_t i = 0; !x->positions && y->positions && i < count; i++) {
            assert_true(y->positions[i] == 0);
        }
        compare_floats(x->normals, y->normals, count);
        compare_floats(x->tangents, y->tangents, count);
    }
}

static void compare_primitives(const pelt_primitive *a, const pelt_primitive *b)
{
    size_t count = a->vertex_count, influences = count * a->influence_count;
    assert_int_equal(a->topology, b->topology);
    assert_int_equal(count, b->vertex_count);
    compare_floats(a->positions, b->positions, 3 * count);
    compare_floats(a->normals, b->normals, 3 * count);
    compare_floats(a->tangents, b->tangents, 4 * count);
    compare_floats(a->texcoords, b->texcoords, 2 * count);
    compare_floats(a->colors, b->colors, 4 * count);
    assert_int_equal(a->influence_count, b->influence_count);
    compare_floats(a->weights, b->weights, influences);
    for (size_t i = 0; i < influences; i++) {
        assert_int_equal(a->joints[i], b->joints[i]);
    }
    assert_int_equal(a->index_count, b->index_count);
    for (size_t i = 0; i < a->index_count; i++) {
        assert_int_equal(a->indices[i], b->indices[i]);
    }
    compare_targets(a, b);
}

static void compare_meshes(const pelt_model *a, const pelt_model *b)
{
    assert_int_equal(a->mesh_count, b->mesh_count);
    for (uint32_t m = 0; m < a->mesh_count; m++) {
        const pelt_mesh *x = &a->meshes[m], *y = &b->meshes[m];
        assert_true(same_text(x->name, y->name));
        assert_int_equal(x->primitive_count, y->primitive_count);
        assert_int_equal(x->weight_count, y->weight_count);
        compare_doubles(x->weights, y->weights, x->weight_count);
        for (uint32_t p = 0; p < x->primitive_count; p++) {
            compare_primitives(&x->primitives[p], &y->primitives[p]);
        }
    }
}

static void compare_nodes(const pelt_model *a, const pelt_model *b)
{
    assert_int_equal(a->node_count, b->node_count);
    for (uint32_t i = 0; i < a->node_count; i++) {
        const pelt_node *x = &a->nodes[i], *y = &b->nodes[i];
        assert_true(same_text(x->name, y->name));
        assert_int_equal(x->parent, y->parent);
        assert_int_equal(x->in_scene, y->in_scene);
        assert_int_equal(x->has_matrix, y->has_matrix);
        assert_int_equal(x->mesh, y->mesh);
        assert_int_equal(i == 4 ? -1 : x->skin, y->skin);
        assert_int_equal(x->weight_count, y->weight_count);
        compare_doubles(x->weights, y->weights, x->weight_count);
        if (x->has_matrix) {
            compare_doubles(x->matrix, y->matrix, 12);
        } else {
            compare_doubles(x->translation, y->translation, 3);
            compare_doubles(x->rotation, y->rotation, 4);
            compare_doubles(x->scale, y->scale, 3);
        }
    }
    assert_int_equal(a->scene_node_count, b->scene_node_count);
    assert_memory_equal(a->scene_nodes, b->scene_nodes, a->scene_node_count * sizeof(uint32_t));
    assert_int_equal(a->skin_count, b->skin_count);
    for (uint32_t i = 0; i < a->skin_count; i++) {
        assert_true(same_text(a->skins[i].name, b->skins[i].name));
        assert_int_equal(a->skins[i].joint_count, b->skins[i].joint_count);
        assert_memory_equal(a->skins[i].joints, b->skins[i].joints,
                            a->skins[i].joint_count * sizeof(uint32_t));
        compare_floats(a->skins[i].inverse_bind, b->skins[i].inverse_bind,
                       12 * (size_t)a->skins[i].joint_count);
    }
}

static void compare_clips(const pelt_model *a, const pelt_model *b)
{
    assert_int_equal(a->clip_count, b->clip_count);
    for (uint32_t c = 0; c < a->clip_count; c++) {
        const pelt_clip *x = &a->clips[c], *y = &b->clips[c];
        assert_true(same_text(x->name, y->name));
        assert_true(x->duration == y->duration);
        assert_int_equal(x->channel_count, y->channel_count);
        assert_int_equal(x->sampler_count, y->sampler_count);
        for (uint32_t i = 0; i < x->channel_count; i++) {
            const pelt_sampler *s = &x->samplers[x->channels[i].sampler];
            const pelt_sampler *t = &y->samplers[y->channels[i].sampler];
            size_t triple = s->interpolation == PELT_CUBICSPLINE ? 3 : 1;
            assert_int_equal(x->channels[i].node, y->channels[i].node);
            assert_int_equal(x->channels[i].path, y->channels[i].path);
            assert_int_equal(s->interpolation, t->interpolation);
            assert_int_equal(s->key_count, t->key_count);
            assert_int_equal(s->width, t->width);
            compare_floats(s->times, t->times, s->key_count);
            compare_floats(s->values, t->values, triple * s->width * s->key_count);
        }
    }
}

static void compare_material(const pelt_material *a, const pelt_material *b)
{
    assert_true(same_text(a->name, b->name));
    compare_floats(a->base_color, b->base_color, 4);
    assert_int_equal(a->alpha_mode, b->alpha_mode);
    assert_true(a->alpha_mode != PELT_ALPHA_MASK || a->alpha_cutoff == b->alpha_cutoff);
    assert_int_equal(a->double_sided, b->double_sided);
}

static void compare_surfaces(const pelt_model *a, const pelt_model *b)
{
    assert_int_equal(b->material_count, 3); /* the third is the first without its texture */
    for (int i = 0; i < 3; i++) {
        compare_material(&a->materials[i % 2], &b->materials[i]);
    }
    assert_int_equal(b->materials[0].base_color_image, 0);
    assert_int_equal(b->materials[1].base_color_image, -1);
    assert_int_equal(b->materials[2].base_color_image, -1);
    assert_int_equal(b->materials[0].base_color_sampler.wrap_s, 33071);
    assert_int_equal(b->materials[0].base_color_sampler.min_filter, 9987);
    assert_int_equal(b->meshes[0].primitives[0].material, 0);
    assert_int_equal(b->meshes[0].primitives[1].material, 2);
    assert_int_equal(b->meshes[1].primitives[0].material, 1);
    assert_int_equal(b->image_count, 1);
    assert_int_equal(b->images[0].size, sizeof(PNG));
    assert_memory_equal(b->images[0].bytes, PNG, sizeof(PNG));
    assert_string_equal(b->images[0].mime_type, "image/png");
    assert_true(same_text(a->images[0].name, b->images[0].name));
}

static void count_message(void *user, const pelt_message *message)
{
    print_message("%s %s\n", message->pointer ? message->pointer : "", message->text);
    ++*(int *)user;
}

static void reads_back_as_the_same_model(void **state)
{
    (void)state;
    int messages = 0;
    const pelt_host host = { .user = &messages, .message = count_message };
    pelt_model *model = build_everything(), *again;
    assert_int_equal(pelt_gltf_write(&host, model, path), PELT_OK);
    assert_int_equal(pelt_gltf_read(&host, path, &again), PELT_OK);
    assert_int_equal(messages, 0);
    compare_nodes(model, again);
    compare_meshes(model, again);
    compare_clips(model, again);
    compare_surfaces(model, again);
    assert_string_equal(again->generator, "pelt " PELT_VERSION_STRING);
    glb file = open_glb();
    json_t *extras = json_object_get(at(file.json, "nodes", 3), "extras");
    assert_int_equal(integer(extras, "sourceNode"), 3);
    close_glb(&file);
    pelt_model_destroy(again);
    pelt_model_destroy(model);
}

static void writes_an_empty_model(void **state)
{
    (void)state;
    pelt_model *model = build_nodes(NULL, NULL, 0);
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    assert_int_equal(pelt_gltf_write(NULL, model, path), PELT_OK);
    glb file = open_glb();
    assert_null(file.binary);
    /* glTF allows no empty arrays. */
    const char *absent[] = { "nodes",     "meshes",      "skins",  "animations",
                             "materials", "textures",    "images", "samplers",
                             "accessors", "bufferViews", "buffers" };
    for (size_t i = 0; i < sizeof(absent) / sizeof(*absent); i++) {
        assert_null(json_object_get(file.json, absent[i]));
    }
    close_glb(&file);
    pelt_model_destroy(model);
}

/* 65,535 vertices: the largest index is 65,534 and fits 16 bits; one more would be the value that
 * restarts strips. */
static void chooses_index_types(void **state)
{
    (void)state;
    const int32_t parents[] = { -1 };
    float *positions = calloc(3 * 65536, sizeof(float));
    assert_non_null(positions);
    for (uint32_t count = 65535; count <= 65536; count++) {
        pelt_model *model = build_nodes(NULL, parents, 1);
        pelt_primitive *primitive = build_mesh(model, positions, count);
        const uint32_t indices[] = { 0, 1, count - 1 };
        model->nodes[0].mesh = 0;
        primitive->index_count = 3;
        primitive->indices = build_copy(model, indices, 3, sizeof(*indices));
        assert_int_equal(pelt_model_finish(model), PELT_OK);
        assert_int_equal(pelt_gltf_write(NULL, model, path), PELT_OK);
        glb file = open_glb();
        json_t *written = at(at(file.json, "meshes", 0), "primitives", 0);
        json_t *accessor = at(file.json, "accessors", (size_t)integer(written, "indices"));
        json_t *view = at(file.json, "bufferViews", (size_t)integer(accessor, "bufferView"));
        bool narrow = count == 65535;
        assert_int_equal(integer(accessor, "componentType"), narrow ? 5123 : 5125);
        const uint8_t *last = file.binary + integer(view, "byteOffset") + (narrow ? 4 : 8);
        assert_int_equal(narrow ? word(last) & 0xffff : word(last), count - 1);
        close_glb(&file);
        pelt_model_destroy(model);
    }
    free(positions);
}

static void chooses_joint_types(void **state)
{
    (void)state;
    const int32_t parents[] = { -1 };
    const float positions[3] = { 0 };
    for (uint16_t joint = 255; joint <= 256; joint++) {
        pelt_model *model = build_nodes(NULL, parents, 1);
        pelt_primitive *primitive = build_mesh(model, positions, 1);
        /* Slots without weight name joints that are not there, and are written as 0. */
        const uint16_t joints[] = { joint, 9999, 9999, 9999 };
        const float weights[] = { 1, 0, 0, 0 };
        primitive->influence_count = 4;
        primitive->joints = build_copy(model, joints, 4, sizeof(*joints));
        primitive->weights = build_copy(model, weights, 4, sizeof(float));
        assert_int_equal(pelt_model_finish(model), PELT_OK);
        assert_int_equal(pelt_gltf_write(NULL, model, path), PELT_OK);
        glb file = open_glb();
        json_t *written = at(at(file.json, "meshes", 0), "primitives", 0);
        json_t *attributes = json_object_get(written, "attributes");
        json_t *accessor = at(file.json, "accessors", (size_t)integer(attributes, "JOINTS_0"));
        json_t *view = at(file.json, "bufferViews", (size_t)integer(accessor, "bufferView"));
        assert_int_equal(integer(accessor, "componentType"), joint == 255 ? 5121 : 5123);
        assert_int_equal(word(file.binary + integer(view, "byteOffset")), joint);
        close_glb(&file);
        pelt_model_destroy(model);
    }
}

/* glTF: a joint may have but one weight, and the weights of all sets sum to 1. */
static void mends_influences(void **state)
{
    (void)state;
    uint16_t joints[] = { 3, 5, 3, 7, 5, 3, 9, 9 };
    float weights[] = { 0.5f, 0.25f, 0.25f, 0, 0.5f, 0.5f, 0, 0 };
    const pelt_primitive primitive = {
        .vertex_count = 1, .influence_count = 8, .joints = joints, .weights = weights
    };
    const uint16_t expected_joints[] = { 3, 5, 0, 0, 0, 0, 0, 0 };
    const float expected_weights[] = { 0.625f, 0.375f, 0, 0, 0, 0, 0, 0 };
    for (uint32_t i = 0; i < 8; i++) {
        uint16_t joint;
        float weight;
        pelt_written_influence(&primitive, 0, i, &joint, &weight);
        assert_int_equal(joint, expected_joints[i]);
        assert_true(weight == expected_weights[i]);
    }
}

/* Directions that are not unit, colours out of range. */
static void mends_values(void **state)
{
    (void)state;
    const int32_t parents[] = { -1 };
    const float positions[6] = { 0 }, normals[] = { 0, 0, 0, 0, 3, 4 };
    const float tangents[] = { 0, 0, 0, 0.5f, 8, 0, 6, -3 };
    const float colors[] = { -1, 0.5f, 2, 1, NAN, 0, 0, 0 };
    pelt_model *model = build_nodes(NULL, parents, 1), *again;
    pelt_primitive *primitive = build_mesh(model, positions, 2);
    primitive->topology = PELT_POINTS;
    primitive->normals = build_copy(model, normals, 6, sizeof(float));
    primitive->tangents = build_copy(model, tangents, 8, sizeof(float));
    primitive->colors = build_copy(model, colors, 8, sizeof(float));
    model->nodes[0].mesh = 0;
    const double rotation[4] = { 0, nextafter(1, 2), 0, 0 }; /* what normalising may leave */
    memcpy(model->nodes[0].rotation, rotation, sizeof(rotation));
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    assert_int_equal(pelt_gltf_write(NULL, model, path), PELT_OK);
    glb file = open_glb();
    json_t *written = json_object_get(at(file.json, "nodes", 0), "rotation");
    assert_true(json_number_value(json_array_get(written, 1)) == 1.0);
    close_glb(&file);
    assert_int_equal(pelt_gltf_read(NULL, path, &again), PELT_OK);
    const pelt_primitive *read = again->meshes[0].primitives;
    const float mended_normals[] = { 0, 0, 1, 0, 0.6f, 0.8f };
    const float mended_tangents[] = { 1, 0, 0, 1, 0.8f, 0, 0.6f, -1 };
    const float mended_colors[] = { 0, 0.5f, 1, 1, 0, 0, 0, 0 };
    compare_floats(read->normals, mended_normals, 6);
    compare_floats(read->tangents, mended_tangents, 8);
    compare_floats(read->colors, mended_colors, 8);
    pelt_model_destroy(again);
    pelt_model_destroy(model);
}

static int files_in_folder(void)
{
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        count += entry->d_name[0] != '.';
    }
    (void)closedir(directory);
    return count;
}

/* Each of these is refused with a message, and leaves no file. */
static void refuses_what_has_no_json(void **state)
{
    (void)state;
    int messages = 0;
    const pelt_host host = { .user = &messages, .message = count_message };
    (void)unlink(path);
    for (int i = 0; i < 4; i++) {
        pelt_model *model = build_everything();
        if (i == 0) {
            model->nodes[3].extras = build_name(model, "{\"open\": ");
        } else if (i == 1) {
            model->meshes[0].name = build_name(model, "\xff\xfe");
        } else if (i == 2) {
            model->nodes[0].translation[1] = INFINITY;
        } else {
            model->meshes[1].primitive_count = 0;
        }
        messages = 0;
        assert_int_equal(pelt_gltf_write(&host, model, path), PELT_ERROR_ARGUMENT);
        assert_int_equal(messages, 1);
        assert_int_equal(files_in_folder(), 0);
        pelt_model_destroy(model);
    }
}

static void keeps_the_old_file_when_it_fails(void **state)
{
    (void)state;
    pelt_model *model = build_everything();
    assert_int_equal(pelt_gltf_write(NULL, model, path), PELT_OK);
    glb before = open_glb();
    model->nodes[3].extras = build_name(model, "nonsense");
    assert_int_equal(pelt_gltf_write(NULL, model, path), PELT_ERROR_ARGUMENT);
    glb after = open_glb();
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.bytes, after.bytes, before.size);
    assert_int_equal(files_in_folder(), 1);
    close_glb(&before);
    close_glb(&after);
    int messages = 0;
    const pelt_host host = { .user = &messages, .message = count_message };
    model->nodes[3].extras = NULL;
    assert_int_equal(pelt_gltf_write(&host, model, "/nonexistent/out.glb"), PELT_ERROR_IO);
    assert_int_equal(messages, 1);
    pelt_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_views_that_tile_the_buffer),
        cmocka_unit_test(writes_exact_bounds),
        cmocka_unit_test(reads_back_as_the_same_model),
        cmocka_unit_test(writes_an_empty_model),
        cmocka_unit_test(chooses_index_types),
        cmocka_unit_test(chooses_joint_types),
        cmocka_unit_test(mends_influences),
        cmocka_unit_test(mends_values),
        cmocka_unit_test(refuses_what_has_no_json),
        cmocka_unit_test(keeps_the_old_file_when_it_fails),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
