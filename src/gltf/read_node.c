/* Nodes: their transforms, and what hangs on them. */
#include "reader.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* How far the fourth row of an affine matrix may be from 0 0 0 1: what exporters' rounding does. */
static const double row_tolerance = 1e-5;

/* How far a rotation's length may be from 1 before the repair is worth a word; the official
 * validator's limit. */
static const double length_tolerance = 0.00769;

static bool read_matrix(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                        pelt_node *node)
{
    static const char *const parts[] = { "translation", "rotation", "scale" };
    double columns[16];
    for (unsigned i = 0; i < 3; i++) {
        if (json_object_get(object, parts[i])) {
            return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, "matrix"),
                                  "the node has both a matrix and a %s", parts[i]);
        }
    }
    if (!pelt_gltf_get_numbers(reader, at, object, "matrix", 16, columns)) {
        return false;
    }
    for (unsigned row = 0; row < 4; row++) {
        for (unsigned column = 0; column < 4; column++) {
            double number = columns[4 * column + row];
            if (row < 3) {
                node->matrix[4 * row + column] = number;
            } else if (fabs(number - (column == 3)) > row_tolerance) {
                return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, "matrix"),
                                      "the fourth row is %g %g %g %g, not 0 0 0 1", columns[3],
                                      columns[7], columns[11], columns[15]);
            }
        }
    }
    node->has_matrix = true;
    return true;
}

static bool read_transform(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                           pelt_node *node)
{
    node->rotation[3] = 1;
    for (unsigned i = 0; i < 3; i++) {
        node->scale[i] = 1;
        node->matrix[5 * i] = 1;
    }
    if (json_object_get(object, "matrix")) {
        return read_matrix(reader, at, object, node);
    }
    if (!pelt_gltf_get_numbers(reader, at, object, "translation", 3, node->translation) ||
        !pelt_gltf_get_numbers(reader, at, object, "rotation", 4, node->rotation) ||
        !pelt_gltf_get_numbers(reader, at, object, "scale", 3, node->scale)) {
        return false;
    }
    double *q = node->rotation;
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (length < FLT_MIN) {
        pelt_gltf_warn(reader, pelt_gltf_in(at, "rotation"),
                       "has no length; replaced by the identity");
        memcpy(q, (const double[4]){ 0, 0, 0, 1 }, 4 * sizeof(*q));
        return true;
    }
    if (fabs(length - 1) > length_tolerance) {
        pelt_gltf_warn(reader, pelt_gltf_in(at, "rotation"), "has length %g; normalized", length);
    }
    for (unsigned i = 0; i < 4; i++) {
        q[i] /= length;
    }
    return true;
}

static bool read_weights(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                         pelt_node *node)
{
    json_t *array;
    if (!pelt_gltf_get_array(reader, at, object, "weights", &array, &node->weight_count)) {
        return false;
    }
    if (node->weight_count == 0) {
        return true;
    }
    node->weights = pelt_gltf_keep(reader, at, node->weight_count, sizeof(*node->weights));
    return node->weights &&
           pelt_gltf_get_numbers(reader, at, object, "weights", node->weight_count, node->weights);
}

static bool read_node(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                      pelt_node *node)
{
    node->parent = node->mesh = node->skin = -1;
    if (!pelt_gltf_is_object(reader, at, object) ||
        !pelt_gltf_get_name(reader, at, object, "name", &node->name) ||
        !read_transform(reader, at, object, node) ||
        !pelt_gltf_get_index(reader, at, object, "mesh", pelt_gltf_count(reader, "meshes"),
                             "meshes", &node->mesh) ||
        !pelt_gltf_get_index(reader, at, object, "skin", pelt_gltf_count(reader, "skins"), "skins",
                             &node->skin) ||
        !read_weights(reader, at, object, node)) {
        return false;
    }
    if (node->mesh < 0 && (node->skin >= 0 || node->weights)) {
        pelt_gltf_warn(reader, pelt_gltf_in(at, node->skin >= 0 ? "skin" : "weights"),
                       "the node has no mesh; ignored");
        node->skin = -1;
        node->weights = NULL;
        node->weight_count = 0;
    }
    if (pelt_gltf_extension(object, "EXT_mesh_gpu_instancing")) {
        pelt_gltf_warn(reader, pelt_gltf_in(at, "extensions/EXT_mesh_gpu_instancing"),
                       "instances are not supported: the mesh appears once");
    }
    return true;
}

bool pelt_gltf_read_nodes(pelt_gltf_reader *reader)
{
    pelt_gltf_place root = pelt_gltf_at("%s", ""), at = pelt_gltf_in(root, "nodes");
    json_t *array;
    uint32_t count;
    if (!pelt_gltf_get_array(reader, root, reader->root, "nodes", &array, &count)) {
        return false;
    }
    if (count == 0) {
        return true;
    }
    reader->model->nodes = pelt_gltf_keep(reader, at, count, sizeof(pelt_node));
    if (!reader->model->nodes) {
        return false;
    }
    reader->model->node_count = count;
    for (uint32_t i = 0; i < count; i++) {
        if (!read_node(reader, pelt_gltf_item(at, i), json_array_get(array, i),
                       &reader->model->nodes[i])) {
            return false;
        }
    }
    return true;
}

bool pelt_gltf_check_nodes(pelt_gltf_reader *reader)
{
    for (uint32_t i = 0; i < reader->model->node_count; i++) {
        const pelt_node *node = &reader->model->nodes[i];
        if (node->mesh < 0) {
            continue;
        }
        const pelt_mesh *mesh = &reader->model->meshes[node->mesh];
        uint32_t targets = mesh->primitives[0].target_count;
        if (node->weight_count != 0 && node->weight_count != targets) {
            return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_at("/nodes/%u/weights", i),
                                  "has %u numbers, but /meshes/%d has %u morph targets",
                                  node->weight_count, node->mesh, targets);
        }
        for (uint32_t p = 0; node->skin >= 0 && p < mesh->primitive_count; p++) {
            if (mesh->primitives[p].influence_count == 0) {
                pelt_gltf_warn(reader, pelt_gltf_at("/meshes/%d/primitives/%u", node->mesh, p),
                               "has no JOINTS_0, but /nodes/%u uses it with a skin; it moves with "
                               "the node",
                               i);
            }
        }
    }
    return true;
}
