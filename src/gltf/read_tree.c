/* The tree of nodes and the scene. Nothing here recurses: a chain may be as long as the file. */
#include "reader.h"

#include <string.h>

typedef struct tree {
    uint32_t *first; /* node_count + 1: where a node's children begin */
    uint32_t *children;
    uint32_t *cursor; /* the next child to visit */
    uint32_t *stack;
    uint8_t *state; /* 0: not seen, 1: on the stack, 2: done */
} tree;

static bool read_children(pelt_gltf_reader *reader, tree *t)
{
    uint32_t count = reader->model->node_count;
    const json_t *nodes = json_object_get(reader->root, "nodes");
    pelt_gltf_place at = pelt_gltf_at("/nodes");
    size_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        json_t *array;
        uint32_t size;
        if (!pelt_gltf_get_array(reader, pelt_gltf_item(at, i), json_array_get(nodes, i),
                                 "children", &array, &size)) {
            return false;
        }
        total += size;
    }
    if (total > INT32_MAX) {
        (void)pelt_gltf_fail(reader, PELT_ERROR_RANGE, at, "have %zu children in all", total);
        return false;
    }
    t->first = pelt_gltf_borrow(reader, at, (size_t)count + 1, sizeof(*t->first));
    t->children = pelt_gltf_borrow(reader, at, total, sizeof(*t->children));
    t->cursor = pelt_gltf_borrow(reader, at, count, sizeof(*t->cursor));
    t->stack = pelt_gltf_borrow(reader, at, count, sizeof(*t->stack));
    t->state = pelt_gltf_borrow(reader, at, count, sizeof(*t->state));
    if (!t->first || !t->children || !t->cursor || !t->stack || !t->state) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const json_t *array = json_object_get(json_array_get(nodes, i), "children");
        uint32_t size = (uint32_t)json_array_size(array);
        t->first[i + 1] = t->first[i] + size;
        for (uint32_t k = 0; k < size; k++) {
            int32_t child = 0;
            if (!pelt_gltf_to_index(
                    reader, pelt_gltf_item(pelt_gltf_in(pelt_gltf_item(at, i), "children"), k),
                    json_array_get(array, k), count, "nodes", &child)) {
                return false;
            }
            t->children[t->first[i] + k] = (uint32_t)child;
        }
    }
    return true;
}

/* stack[from .. depth) is the cycle. Named by its lowest node, the others in the text. */
static bool fail_cycle(pelt_gltf_reader *reader, const tree *t, uint32_t from, uint32_t depth)
{
    char list[256] = "";
    size_t length = 0;
    uint32_t lowest = t->stack[from];
    for (uint32_t i = from; i < depth; i++) {
        lowest = t->stack[i] < lowest ? t->stack[i] : lowest;
        if (length < sizeof(list) - 32) {
            length +=
                (size_t)snprintf(list + length, sizeof(list) - length, "/nodes/%u, ", t->stack[i]);
        }
    }
    return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_at("/nodes/%u", lowest),
                          "the node is its own descendant, through %s%s/nodes/%u", list,
                          length < sizeof(list) - 32 ? "" : "..., ", t->stack[from]);
}

static bool check_cycles(pelt_gltf_reader *reader, tree *t)
{
    uint32_t count = reader->model->node_count;
    for (uint32_t i = 0; i < count; i++) {
        t->cursor[i] = t->first[i];
    }
    for (uint32_t start = 0; start < count; start++) {
        uint32_t depth = 0;
        if (t->state[start] == 0) {
            t->stack[depth++] = start;
            t->state[start] = 1;
        }
        while (depth > 0) {
            uint32_t node = t->stack[depth - 1];
            if (t->cursor[node] == t->first[node + 1]) {
                t->state[node] = 2;
                depth--;
                continue;
            }
            uint32_t child = t->children[t->cursor[node]++];
            if (t->state[child] == 1) {
                uint32_t from = depth;
                while (t->stack[from - 1] != child) {
                    from--;
                }
                return fail_cycle(reader, t, from - 1, depth);
            }
            if (t->state[child] == 0) {
                t->stack[depth++] = child;
                t->state[child] = 1;
            }
        }
    }
    return true;
}

static bool set_parents(pelt_gltf_reader *reader, const tree *t)
{
    pelt_node *nodes = reader->model->nodes;
    for (uint32_t i = 0; i < reader->model->node_count; i++) {
        for (uint32_t k = t->first[i]; k < t->first[i + 1]; k++) {
            uint32_t child = t->children[k];
            if (nodes[child].parent >= 0) {
                return pelt_gltf_fail(reader, PELT_ERROR_FILE,
                                      pelt_gltf_at("/nodes/%u/children/%u", i, k - t->first[i]),
                                      "/nodes/%u is a child of /nodes/%d already", child,
                                      nodes[child].parent);
            }
            nodes[child].parent = (int32_t)i;
        }
    }
    return true;
}

/* The roots to walk from, into the stack in reverse: the scene's, or all there are. */
static bool push_roots(pelt_gltf_reader *reader, tree *t, uint32_t *depth)
{
    pelt_gltf_place root = pelt_gltf_at("%s", "");
    const pelt_node *nodes = reader->model->nodes;
    uint32_t node_count = reader->model->node_count, scene_count, count;
    json_t *scenes, *array;
    int32_t scene = 0;
    *depth = 0;
    if (!pelt_gltf_get_array(reader, root, reader->root, "scenes", &scenes, &scene_count) ||
        !pelt_gltf_get_index(reader, root, reader->root, "scene", scene_count, "scenes", &scene)) {
        return false;
    }
    if (scene_count == 0) {
        for (uint32_t i = node_count; i-- > 0;) {
            if (nodes[i].parent < 0) {
                t->stack[(*depth)++] = i;
            }
        }
        return true;
    }
    pelt_gltf_place at = pelt_gltf_at("/scenes/%d", scene);
    if (!pelt_gltf_is_object(reader, at, json_array_get(scenes, (size_t)scene)) ||
        !pelt_gltf_get_array(reader, at, json_array_get(scenes, (size_t)scene), "nodes", &array,
                             &count)) {
        return false;
    }
    memset(t->state, 0, node_count);
    for (uint32_t i = 0; i < count; i++) {
        pelt_gltf_place item = pelt_gltf_item(pelt_gltf_in(at, "nodes"), i);
        int32_t node = 0;
        if (!pelt_gltf_to_index(reader, item, json_array_get(array, i), node_count, "nodes",
                                &node)) {
            return false;
        }
        if (nodes[node].parent >= 0 || t->state[node] != 0) {
            return pelt_gltf_fail(reader, PELT_ERROR_FILE, item,
                                  nodes[node].parent >= 0
                                      ? "/nodes/%d is not a root: it has a parent"
                                      : "/nodes/%d is named twice",
                                  node);
        }
        t->state[node] = 1;
        t->stack[(*depth)++] = (uint32_t)node;
    }
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t first = t->stack[i];
        t->stack[i] = t->stack[count - 1 - i];
        t->stack[count - 1 - i] = first;
    }
    return true;
}

static bool walk_scene(pelt_gltf_reader *reader, tree *t)
{
    pelt_model *model = reader->model;
    uint32_t depth;
    if (!push_roots(reader, t, &depth)) {
        return false;
    }
    uint32_t *order =
        pelt_gltf_keep(reader, pelt_gltf_at("/scenes"), model->node_count, sizeof(*order));
    if (!order) {
        return false;
    }
    model->scene_nodes = order;
    while (depth > 0) {
        uint32_t node = t->stack[--depth];
        model->nodes[node].in_scene = true;
        order[model->scene_node_count++] = node;
        for (uint32_t k = t->first[node + 1]; k-- > t->first[node];) {
            t->stack[depth++] = t->children[k];
        }
    }
    return true;
}

bool pelt_gltf_read_tree(pelt_gltf_reader *reader)
{
    tree t = { 0 };
    return read_children(reader, &t) && check_cycles(reader, &t) && set_parents(reader, &t) &&
           walk_scene(reader, &t);
}
