/* Skins: their joints. */
#include "reader.h"

enum { MAX_JOINTS = 65536 };

/* The root above every node, in linear time: each path is walked once. */
static uint32_t *find_roots(pelt_gltf_reader *reader)
{
    const pelt_model *model = reader->model;
    uint32_t *roots =
        pelt_gltf_borrow(reader, pelt_gltf_at("/nodes"), model->node_count, sizeof(*roots));
    if (!roots) {
        return NULL;
    }
    for (uint32_t i = 0; i < model->node_count; i++) {
        roots[i] = UINT32_MAX;
    }
    for (uint32_t i = 0; i < model->node_count; i++) {
        uint32_t node = i;
        while (roots[node] == UINT32_MAX && model->nodes[node].parent >= 0) {
            node = (uint32_t)model->nodes[node].parent;
        }
        uint32_t root = roots[node] == UINT32_MAX ? node : roots[node];
        for (node = i; roots[node] == UINT32_MAX; node = (uint32_t)model->nodes[node].parent) {
            roots[node] = root;
            if (node == root) {
                break;
            }
        }
    }
    return roots;
}

/* users: the last skin + 1 that a node is a joint of, to find one named twice. */
static bool read_joints(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                        uint32_t index, const uint32_t *roots, uint32_t *users)
{
    pelt_skin *skin = &reader->model->skins[index];
    json_t *array = json_object_get(object, "joints");
    at = pelt_gltf_in(at, "joints");
    if (!json_is_array(array) || json_array_size(array) == 0 ||
        json_array_size(array) > MAX_JOINTS) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, at,
                              "must be an array of 1 to %d nodes, but has %zu", MAX_JOINTS,
                              json_array_size(array));
    }
    skin->joint_count = (uint32_t)json_array_size(array);
    skin->joints = pelt_gltf_keep(reader, at, skin->joint_count, sizeof(*skin->joints));
    if (!skin->joints) {
        return false;
    }
    for (uint32_t i = 0; i < skin->joint_count; i++) {
        pelt_gltf_place item = pelt_gltf_item(at, i);
        int32_t node = 0;
        if (!pelt_gltf_to_index(reader, item, json_array_get(array, i), reader->model->node_count,
                                "nodes", &node)) {
            return false;
        }
        if (users[node] == index + 1) {
            return pelt_gltf_fail(reader, PELT_ERROR_FILE, item,
                                  "/nodes/%d is a joint of the skin already", node);
        }
        users[node] = index + 1;
        skin->joints[i] = (uint32_t)node;
    }
    for (uint32_t i = 1; i < skin->joint_count; i++) {
        if (roots[skin->joints[i]] != roots[skin->joints[0]]) {
            pelt_gltf_warn(reader, pelt_gltf_item(at, i),
                           "/nodes/%u and /nodes/%u have no common root, which glTF asks of joints",
                           skin->joints[i], skin->joints[0]);
            break;
        }
    }
    return true;
}

/* A vertex may name no joint that one of the skins it appears with lacks: for each mesh, the
 * smallest skin. */
static bool find_joint_limits(pelt_gltf_reader *reader)
{
    const pelt_model *model = reader->model;
    uint32_t mesh_count = pelt_gltf_count(reader, "meshes");
    pelt_gltf_place at = pelt_gltf_at("/meshes");
    reader->mesh_joint_limits = pelt_gltf_borrow(reader, at, mesh_count, sizeof(uint32_t));
    reader->mesh_limit_skins = pelt_gltf_borrow(reader, at, mesh_count, sizeof(uint32_t));
    if (!reader->mesh_joint_limits || !reader->mesh_limit_skins) {
        return false;
    }
    for (uint32_t i = 0; i < model->node_count; i++) {
        const pelt_node *node = &model->nodes[i];
        if (node->skin >= 0) {
            uint32_t joints = model->skins[node->skin].joint_count;
            uint32_t *limit = &reader->mesh_joint_limits[node->mesh];
            if (*limit == 0 || joints < *limit) {
                *limit = joints;
                reader->mesh_limit_skins[node->mesh] = (uint32_t)node->skin;
            }
        }
    }
    return true;
}

bool pelt_gltf_read_skins(pelt_gltf_reader *reader)
{
    pelt_model *model = reader->model;
    pelt_gltf_place root = pelt_gltf_at("%s", ""), at = pelt_gltf_in(root, "skins");
    json_t *array;
    uint32_t count;
    if (!pelt_gltf_get_array(reader, root, reader->root, "skins", &array, &count)) {
        return false;
    }
    if (count > 0) {
        model->skins = pelt_gltf_keep(reader, at, count, sizeof(pelt_skin));
        uint32_t *users = pelt_gltf_borrow(reader, at, model->node_count, sizeof(*users));
        uint32_t *roots = model->skins && users ? find_roots(reader) : NULL;
        reader->bad_matrices =
            roots ? pelt_gltf_borrow(reader, at, count, sizeof(*reader->bad_matrices)) : NULL;
        if (!reader->bad_matrices) {
            return false;
        }
        model->skin_count = count;
        for (uint32_t i = 0; i < count; i++) {
            pelt_gltf_place place = pelt_gltf_item(at, i);
            const json_t *object = json_array_get(array, i);
            int32_t skeleton = -1;
            if (!pelt_gltf_is_object(reader, place, object) ||
                !pelt_gltf_get_name(reader, place, object, "name", &model->skins[i].name) ||
                !read_joints(reader, place, object, i, roots, users) ||
                !pelt_gltf_get_index(reader, place, object, "skeleton", model->node_count, "nodes",
                                     &skeleton) ||
                !pelt_gltf_read_inverse_bind(reader, place, object, i)) {
                return false;
            }
        }
    }
    return find_joint_limits(reader);
}
