/* A model as a .glb. The JSON is made first, and with it the list of views that the binary chunk
 * will hold; then both are streamed out. write_mesh.c makes the meshes. */
#include "gltf/write.h"

#include <math.h>
#include <pelt/gltf.h>

void pelt_writer_fail(pelt_writer *writer, pelt_result result, const char *pointer,
                      const char *text)
{
    if (writer->result == PELT_OK) {
        writer->result = pelt_fail(writer->host, result, writer->path, pointer, "%s", text);
    }
}

void pelt_writer_set(pelt_writer *writer, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0) {
        pelt_writer_fail(writer, PELT_ERROR_MEMORY, NULL, "no memory for the JSON");
    }
}

uint32_t pelt_writer_append(pelt_writer *writer, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0) {
        pelt_writer_fail(writer, PELT_ERROR_MEMORY, NULL, "no memory for the JSON");
    }
    return (uint32_t)json_array_size(array) - 1;
}

void pelt_writer_set_name(pelt_writer *writer, json_t *object, const char *name)
{
    json_t *value = name ? json_string(name) : NULL;
    if (value) {
        pelt_writer_set(writer, object, "name", value);
    } else if (name) {
        pelt_writer_fail(writer, PELT_ERROR_ARGUMENT, NULL, "a name is not UTF-8");
    }
}

static json_t *make_number(pelt_writer *writer, double value)
{
    if (!isfinite(value)) {
        pelt_writer_fail(writer, PELT_ERROR_ARGUMENT, NULL, "a number is not finite");
        return NULL;
    }
    return json_real(value);
}

json_t *pelt_writer_numbers(pelt_writer *writer, const double *values, uint32_t count)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < count; i++) {
        (void)pelt_writer_append(writer, array, make_number(writer, values[i]));
    }
    return array;
}

uint32_t pelt_writer_accessor(pelt_writer *writer, const pelt_view *view, uint32_t component,
                              const char *type, size_t count)
{
    json_t *accessor = json_object();
    if (view) {
        uint32_t index = writer->binary.count;
        if (!pelt_binary_add(&writer->binary, view)) {
            pelt_writer_fail(writer, PELT_ERROR_MEMORY, NULL, "no memory for the views");
        }
        pelt_writer_set(writer, accessor, "bufferView", json_integer(index));
    }
    pelt_writer_set(writer, accessor, "componentType", json_integer(component));
    pelt_writer_set(writer, accessor, "count", json_integer((json_int_t)count));
    pelt_writer_set(writer, accessor, "type", json_string(type));
    return pelt_writer_append(writer, writer->accessors, accessor);
}

void pelt_writer_bounds(pelt_writer *writer, uint32_t accessor, const double *min,
                        const double *max, uint32_t width)
{
    json_t *object = json_array_get(writer->accessors, accessor);
    pelt_writer_set(writer, object, "min", pelt_writer_numbers(writer, min, width));
    pelt_writer_set(writer, object, "max", pelt_writer_numbers(writer, max, width));
}

/* glTF allows no empty arrays. */
static void set_array(pelt_writer *writer, json_t *object, const char *key, json_t *array)
{
    if (json_array_size(array) > 0) {
        pelt_writer_set(writer, object, key, array);
    } else {
        json_decref(array);
    }
}

static bool mesh_is_skinned(const pelt_mesh *mesh)
{
    for (uint32_t i = 0; i < mesh->primitive_count; i++) {
        if (mesh->primitives[i].influence_count) {
            return true;
        }
    }
    return false;
}

static bool equal(const double *a, const double *b, int count)
{
    for (int i = 0; i < count; i++) {
        if (a[i] != b[i]) {
            return false;
        }
    }
    return true;
}

static void set_transform(pelt_writer *writer, json_t *object, const pelt_node *node)
{
    static const double zero[3] = { 0 }, one[3] = { 1, 1, 1 }, no_turn[4] = { 0, 0, 0, 1 };
    if (node->has_matrix) {
        double columns[16] = { [15] = 1 };
        for (int i = 0; i < 12; i++) {
            columns[4 * (i % 4) + i / 4] = node->matrix[i];
        }
        pelt_writer_set(writer, object, "matrix", pelt_writer_numbers(writer, columns, 16));
        return;
    }
    if (!equal(node->translation, zero, 3)) {
        pelt_writer_set(writer, object, "translation",
                        pelt_writer_numbers(writer, node->translation, 3));
    }
    if (!equal(node->rotation, no_turn, 4)) {
        /* A unit quaternion's component can round to just above 1, which glTF does not allow. */
        double rotation[4];
        for (int i = 0; i < 4; i++) {
            rotation[i] = fmax(-1, fmin(1, node->rotation[i]));
        }
        pelt_writer_set(writer, object, "rotation", pelt_writer_numbers(writer, rotation, 4));
    }
    if (!equal(node->scale, one, 3)) {
        pelt_writer_set(writer, object, "scale", pelt_writer_numbers(writer, node->scale, 3));
    }
}

static void set_extras(pelt_writer *writer, json_t *object, const char *text, uint32_t index)
{
    json_t *extras = json_loads(text, JSON_DECODE_ANY, NULL);
    if (extras) {
        pelt_writer_set(writer, object, "extras", extras);
    } else {
        char pointer[40];
        (void)snprintf(pointer, sizeof(pointer), "/nodes/%u/extras", index);
        pelt_writer_fail(writer, PELT_ERROR_ARGUMENT, pointer, "not JSON");
    }
}

static json_t *make_node(pelt_writer *writer, uint32_t index)
{
    const pelt_model *model = writer->model;
    const pelt_node *node = &model->nodes[index];
    const pelt_mesh *mesh = node->mesh >= 0 ? &model->meshes[node->mesh] : NULL;
    json_t *object = json_object();
    pelt_writer_set_name(writer, object, node->name);
    set_transform(writer, object, node);
    if (mesh) {
        pelt_writer_set(writer, object, "mesh", json_integer(node->mesh));
    }
    if (mesh && node->skin >= 0 && mesh_is_skinned(mesh)) {
        pelt_writer_set(writer, object, "skin", json_integer(node->skin));
    }
    if (mesh && node->weight_count) {
        pelt_writer_set(writer, object, "weights",
                        pelt_writer_numbers(writer, node->weights, node->weight_count));
    }
    if (node->extras) {
        set_extras(writer, object, node->extras, index);
    }
    return object;
}

static void add_child(pelt_writer *writer, json_t *nodes, uint32_t index)
{
    int32_t parent = writer->model->nodes[index].parent;
    if (parent < 0) {
        return;
    }
    json_t *object = json_array_get(nodes, (size_t)parent);
    json_t *children = json_object_get(object, "children");
    if (!children) {
        pelt_writer_set(writer, object, "children", json_array());
        children = json_object_get(object, "children");
    }
    (void)pelt_writer_append(writer, children, json_integer(index));
}

/* Children in the order of the scene, which the model keeps in scene_nodes alone. */
static void set_nodes(pelt_writer *writer, json_t *root)
{
    const pelt_model *model = writer->model;
    json_t *nodes = json_array(), *roots = json_array(), *scene = json_object();
    for (uint32_t i = 0; i < model->node_count; i++) {
        (void)pelt_writer_append(writer, nodes, make_node(writer, i));
    }
    for (uint32_t i = 0; i < model->scene_node_count; i++) {
        uint32_t index = model->scene_nodes[i];
        add_child(writer, nodes, index);
        if (model->nodes[index].parent < 0) {
            (void)pelt_writer_append(writer, roots, json_integer(index));
        }
    }
    for (uint32_t i = 0; i < model->node_count; i++) {
        if (!model->nodes[i].in_scene) {
            add_child(writer, nodes, i);
        }
    }
    json_t *scenes = json_array();
    set_array(writer, scene, "nodes", roots);
    (void)pelt_writer_append(writer, scenes, scene);
    pelt_writer_set(writer, root, "scene", json_integer(0));
    pelt_writer_set(writer, root, "scenes", scenes);
    set_array(writer, root, "nodes", nodes);
}

static json_t *make_skin(pelt_writer *writer, const pelt_skin *skin)
{
    json_t *object = json_object(), *joints = json_array();
    pelt_writer_set_name(writer, object, skin->name);
    for (uint32_t i = 0; i < skin->joint_count; i++) {
        (void)pelt_writer_append(writer, joints, json_integer(skin->joints[i]));
    }
    pelt_writer_set(writer, object, "joints", joints);
    pelt_view view = { .kind = PELT_VIEW_MATRICES,
                       .source = skin->inverse_bind,
                       .count = skin->joint_count,
                       .element_size = 64 };
    uint32_t accessor = pelt_writer_accessor(writer, &view, GL_FLOAT, "MAT4", skin->joint_count);
    pelt_writer_set(writer, object, "inverseBindMatrices", json_integer(accessor));
    return object;
}

static json_t *make_sampler(pelt_writer *writer, const pelt_sampler *sampler, pelt_path path)
{
    static const char *const interpolations[] = {
        [PELT_LINEAR] = "LINEAR", [PELT_STEP] = "STEP", [PELT_CUBICSPLINE] = "CUBICSPLINE"
    };
    json_t *object = json_object();
    size_t keys = sampler->key_count;
    pelt_view times = { .source = sampler->times, .count = keys, .element_size = sizeof(float) };
    uint32_t input = pelt_writer_accessor(writer, &times, GL_FLOAT, "SCALAR", keys);
    double first = (double)sampler->times[0], last = (double)sampler->times[keys - 1];
    pelt_writer_bounds(writer, input, &first, &last, 1);

    size_t values = keys * (sampler->interpolation == PELT_CUBICSPLINE ? 3 : 1);
    pelt_view view = { .source = sampler->values,
                       .count = values,
                       .element_size = sampler->width * sizeof(float) };
    uint32_t output =
        path == PELT_WEIGHTS
            ? pelt_writer_accessor(writer, &view, GL_FLOAT, "SCALAR", values * sampler->width)
            : pelt_writer_accessor(writer, &view, GL_FLOAT, path == PELT_ROTATION ? "VEC4" : "VEC3",
                                   values);
    pelt_writer_set(writer, object, "input", json_integer(input));
    pelt_writer_set(writer, object, "interpolation",
                    json_string(interpolations[sampler->interpolation]));
    pelt_writer_set(writer, object, "output", json_integer(output));
    return object;
}

static json_t *make_channel(pelt_writer *writer, const pelt_channel *channel, uint32_t sampler)
{
    static const char *const paths[] = { [PELT_TRANSLATION] = "translation",
                                         [PELT_ROTATION] = "rotation",
                                         [PELT_SCALE] = "scale",
                                         [PELT_WEIGHTS] = "weights" };
    json_t *object = json_object(), *target = json_object();
    pelt_writer_set(writer, target, "node", json_integer(channel->node));
    pelt_writer_set(writer, target, "path", json_string(paths[channel->path]));
    pelt_writer_set(writer, object, "sampler", json_integer(sampler));
    pelt_writer_set(writer, object, "target", target);
    return object;
}

/* Samplers in the order of their first channel; one that no channel uses has no type. */
static json_t *make_clip(pelt_writer *writer, const pelt_clip *clip)
{
    json_t *object = json_object(), *channels = json_array(), *samplers = json_array();
    uint32_t *written = pelt_allocate(writer->host, clip->sampler_count, sizeof(*written));
    if (!written) {
        pelt_writer_fail(writer, PELT_ERROR_MEMORY, NULL, "no memory for the samplers");
    }
    for (uint32_t i = 0; written && i < clip->channel_count; i++) {
        const pelt_channel *channel = &clip->channels[i];
        uint32_t *number = &written[channel->sampler]; /* plus 1 */
        if (*number == 0) {
            *number = 1 + pelt_writer_append(writer, samplers,
                                             make_sampler(writer, &clip->samplers[channel->sampler],
                                                          channel->path));
        }
        (void)pelt_writer_append(writer, channels, make_channel(writer, channel, *number - 1));
    }
    pelt_release(writer->host, written);
    pelt_writer_set_name(writer, object, clip->name);
    pelt_writer_set(writer, object, "channels", channels);
    pelt_writer_set(writer, object, "samplers", samplers);
    return object;
}

static json_t *make_image(pelt_writer *writer, const pelt_image *image)
{
    json_t *object = json_object();
    pelt_view view = { .source = image->bytes, .count = image->size, .element_size = 1 };
    pelt_writer_set_name(writer, object, image->name);
    pelt_writer_set(writer, object, "bufferView", json_integer(writer->binary.count));
    pelt_writer_set(writer, object, "mimeType", json_string(image->mime_type));
    if (!pelt_binary_add(&writer->binary, &view)) {
        pelt_writer_fail(writer, PELT_ERROR_MEMORY, NULL, "no memory for the views");
    }
    return object;
}

static void set_views(pelt_writer *writer, json_t *root)
{
    const pelt_binary *binary = &writer->binary;
    json_t *views = json_array(), *buffers = json_array(), *buffer = json_object();
    for (uint32_t i = 0; i < binary->count; i++) {
        const pelt_view *view = &binary->views[i];
        size_t length = view->count * view->element_size;
        json_t *object = json_object();
        pelt_writer_set(writer, object, "buffer", json_integer(0));
        pelt_writer_set(writer, object, "byteOffset", json_integer((json_int_t)view->offset));
        pelt_writer_set(writer, object, "byteLength", json_integer((json_int_t)length));
        if (view->target) {
            pelt_writer_set(writer, object, "target", json_integer(view->target));
        }
        (void)pelt_writer_append(writer, views, object);
    }
    pelt_writer_set(writer, buffer, "byteLength", json_integer((json_int_t)binary->size));
    (void)pelt_writer_append(writer, buffers, buffer);
    pelt_writer_set(writer, root, "bufferViews", views);
    pelt_writer_set(writer, root, "buffers", buffers);
}

static void set_clips(pelt_writer *writer, json_t *root)
{
    json_t *clips = json_array();
    for (uint32_t i = 0; i < writer->model->clip_count; i++) {
        const pelt_clip *clip = &writer->model->clips[i];
        if (clip->channel_count) {
            (void)pelt_writer_append(writer, clips, make_clip(writer, clip));
        } else {
            pelt_warn(writer->host, writer->path, "/animations",
                      "clip %u has no channels and is left out", i);
        }
    }
    set_array(writer, root, "animations", clips);
}

static void fill_document(pelt_writer *writer, json_t *root)
{
    const pelt_model *model = writer->model;
    json_t *asset = json_object(), *skins = json_array(), *images = json_array();
    pelt_writer_set(writer, asset, "version", json_string("2.0"));
    pelt_writer_set(writer, asset, "generator", json_string("pelt " PELT_VERSION_STRING));
    pelt_writer_set(writer, root, "asset", asset);
    set_nodes(writer, root);
    pelt_writer_set_meshes(writer, root);
    for (uint32_t i = 0; i < model->skin_count; i++) {
        (void)pelt_writer_append(writer, skins, make_skin(writer, &model->skins[i]));
    }
    for (uint32_t i = 0; i < model->image_count; i++) {
        (void)pelt_writer_append(writer, images, make_image(writer, &model->images[i]));
    }
    set_array(writer, root, "skins", skins);
    set_array(writer, root, "images", images);
    set_clips(writer, root);
    if (json_array_size(writer->accessors) > 0) {
        pelt_writer_set(writer, root, "accessors", json_incref(writer->accessors));
    }
    if (writer->binary.count > 0) {
        set_views(writer, root);
    }
}

static const size_t DUMP_FLAGS = JSON_COMPACT | JSON_REAL_PRECISION(17);

static int write_json(const char *text, size_t size, void *user)
{
    pelt_output *output = user;
    return pelt_output_write(output, text, size) == PELT_OK ? 0 : -1;
}

/* The two chunks, each with its header; the JSON is padded with spaces. */
static pelt_result write_chunks(const pelt_writer *writer, const json_t *root, pelt_output *output)
{
    uint64_t text_size = json_dumpb(root, NULL, 0, DUMP_FLAGS);
    uint64_t padded = (text_size + 3) / 4 * 4, binary_size = writer->binary.size;
    uint64_t size = 12 + 8 + padded + (binary_size ? 8 + binary_size : 0);
    if (text_size == 0) {
        return pelt_fail(writer->host, PELT_ERROR_MEMORY, writer->path, NULL,
                         "no memory for the JSON");
    }
    if (size > UINT32_MAX) {
        return pelt_fail(writer->host, PELT_ERROR_RANGE, writer->path, NULL,
                         "%llu bytes are more than a .glb can hold", (unsigned long long)size);
    }
    const uint32_t head[] = { 0x46546c67, 2, (uint32_t)size, (uint32_t)padded, 0x4e4f534a };
    const uint32_t binary_head[] = { (uint32_t)binary_size, 0x004e4942 };
    pelt_result result = pelt_output_write(output, head, sizeof(head));
    if (result != PELT_OK) {
        return result;
    }
    if (json_dump_callback(root, write_json, output, DUMP_FLAGS) != 0) {
        return PELT_ERROR_IO;
    }
    result = pelt_output_write(output, "   ", padded - text_size);
    if (result == PELT_OK && binary_size) {
        result = pelt_output_write(output, binary_head, sizeof(binary_head));
    }
    return result == PELT_OK ? pelt_binary_write(&writer->binary, output) : result;
}

pelt_result pelt_gltf_write(const pelt_host *host, const pelt_model *model, const char *path)
{
    if (!model || !path) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, path, NULL, "model or path is NULL");
    }
    pelt_writer writer = { .host = host, .model = model, .path = path };
    writer.binary.host = host;
    writer.accessors = json_array();
    json_t *root = json_object();
    pelt_output output = { 0 };
    if (!writer.accessors || !root) {
        pelt_writer_fail(&writer, PELT_ERROR_MEMORY, NULL, "no memory for the JSON");
    } else {
        fill_document(&writer, root);
    }
    pelt_result result = writer.result;
    if (result == PELT_OK) {
        result = pelt_output_open(host, path, &output);
    }
    if (result == PELT_OK) {
        result = write_chunks(&writer, root, &output);
        if (result == PELT_OK) {
            result = pelt_output_commit(&output);
        } else {
            pelt_output_discard(&output);
        }
    }
    json_decref(root);
    json_decref(writer.accessors);
    pelt_binary_release(&writer.binary);
    return result;
}
