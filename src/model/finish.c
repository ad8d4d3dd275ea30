/* What follows from a model's nodes, meshes and skins: orders, parts, palettes, morph offsets. */
#include "base/base.h"

#include <pelt/model.h>
#include <stdio.h>

enum { NONE = -1 };

/* A small file can ask for any number of parts (many nodes that share a mesh of many primitives);
 * so each derived array has a limit far above what a character needs. */
#define DERIVED_MAX ((uint64_t)1 << 24)

/* Children in index order as linked lists, so that no walk needs a stack. */
typedef struct node_tree {
    int32_t *first_child;
    int32_t *next_sibling;
    int32_t first_root;
} node_tree;

static pelt_result fail_memory(const pelt_model *model)
{
    return pelt_fail(model->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %u nodes",
                     model->node_count);
}

static pelt_result check_size(const pelt_model *model, uint64_t count, const char *what)
{
    if (count <= DERIVED_MAX) {
        return PELT_OK;
    }
    return pelt_fail(model->host, PELT_ERROR_RANGE, NULL, "", "the scene has more than %llu %s",
                     (unsigned long long)DERIVED_MAX, what);
}

static void release_derived(pelt_model *model)
{
    pelt_model_release(model, model->node_order);
    pelt_model_release(model, model->palettes);
    pelt_model_release(model, model->parts);
    pelt_model_release(model, model->morph_offsets);
    model->node_order = NULL;
    model->palettes = NULL;
    model->palette_count = 0;
    model->matrix_count = 0;
    model->parts = NULL;
    model->part_count = 0;
    model->morph_offsets = NULL;
}

static bool make_tree(pelt_model *model, node_tree *tree)
{
    tree->first_root = NONE;
    tree->first_child = pelt_allocate(model->host, model->node_count, sizeof(int32_t));
    tree->next_sibling = pelt_allocate(model->host, model->node_count, sizeof(int32_t));
    if (!tree->first_child || !tree->next_sibling) {
        return false;
    }
    for (uint32_t i = 0; i < model->node_count; i++) {
        tree->first_child[i] = NONE;
    }
    for (uint32_t i = model->node_count; i-- > 0;) {
        int32_t parent = model->nodes[i].parent;
        int32_t *first = parent < 0 ? &tree->first_root : &tree->first_child[parent];
        tree->next_sibling[i] = *first;
        *first = (int32_t)i;
    }
    return true;
}

/* The node after this one, depth-first. */
static int32_t next_node(const pelt_model *model, const node_tree *tree, int32_t node)
{
    if (tree->first_child[node] != NONE) {
        return tree->first_child[node];
    }
    while (node != NONE && tree->next_sibling[node] == NONE) {
        node = model->nodes[node].parent < 0 ? NONE : model->nodes[node].parent;
    }
    return node == NONE ? NONE : tree->next_sibling[node];
}

/* A cycle of parents hangs under no root, so its nodes are never met. */
static pelt_result report_cycle(const pelt_model *model, const uint32_t *order, uint32_t met)
{
    bool *seen = pelt_allocate(model->host, model->node_count, sizeof(*seen));
    if (!seen) {
        return fail_memory(model);
    }
    for (uint32_t i = 0; i < met; i++) {
        seen[order[i]] = true;
    }
    uint32_t lost = 0;
    while (seen[lost]) {
        lost++;
    }
    pelt_release(model->host, seen);
    char pointer[32];
    (void)snprintf(pointer, sizeof(pointer), "/nodes/%u", lost);
    return pelt_fail(model->host, PELT_ERROR_ARGUMENT, NULL, pointer,
                     "the node is its own ancestor, or below one that is");
}

static pelt_result order_nodes(pelt_model *model)
{
    pelt_result result = PELT_OK;
    node_tree tree = { 0 };
    uint32_t *order = pelt_model_allocate(model, model->node_count, sizeof(*order));
    if (!order || !make_tree(model, &tree)) {
        result = fail_memory(model);
        goto done;
    }
    model->node_order = order;
    uint32_t count = 0;
    for (int32_t i = tree.first_root; i != NONE; i = next_node(model, &tree, i)) {
        order[count++] = (uint32_t)i;
    }
    if (count != model->node_count) {
        result = report_cycle(model, order, count);
        goto done;
    }
    if (!model->scene_nodes) {
        model->scene_nodes = pelt_model_allocate(model, model->node_count, sizeof(uint32_t));
        if (!model->scene_nodes) {
            result = fail_memory(model);
            goto done;
        }
        model->scene_node_count = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (model->nodes[order[i]].in_scene) {
                model->scene_nodes[model->scene_node_count++] = order[i];
            }
        }
    }
done:
    pelt_release(model->host, tree.first_child);
    pelt_release(model->host, tree.next_sibling);
    return result;
}

static bool is_skinned(const pelt_node *node, const pelt_primitive *primitive)
{
    return node->skin >= 0 && primitive->influence_count > 0;
}

/* Appends; the caller has made room. */
static uint32_t add_palette(pelt_model *model, int32_t skin, uint32_t node, uint64_t *matrices)
{
    uint32_t count = skin < 0 ? 1 : model->skins[skin].joint_count;
    model->palettes[model->palette_count] = (pelt_palette){
        .skin = skin, .node = node, .first_matrix = (uint32_t)*matrices, .matrix_count = count
    };
    *matrices += count;
    return model->palette_count++;
}

/* The parts and palettes of one node of the scene; palette_of: of each skin, or NONE. */
static pelt_result add_parts(pelt_model *model, uint32_t index, int32_t *palette_of,
                             uint64_t *matrices)
{
    const pelt_node *node = &model->nodes[index];
    const pelt_mesh *mesh = &model->meshes[node->mesh];
    int32_t rigid_palette = NONE;
    for (uint32_t i = 0; i < mesh->primitive_count; i++) {
        bool skinned = is_skinned(node, &mesh->primitives[i]);
        int32_t *palette = skinned ? &palette_of[node->skin] : &rigid_palette;
        if (*palette == NONE) {
            int32_t skin = skinned ? node->skin : -1;
            *palette = (int32_t)add_palette(model, skin, index, matrices);
            pelt_result result = check_size(model, *matrices, "skin matrices");
            if (result != PELT_OK) {
                return result;
            }
        }
        model->parts[model->part_count++] = (pelt_part){ .node = index,
                                                         .mesh = (uint32_t)node->mesh,
                                                         .primitive = i,
                                                         .palette = (uint32_t)*palette,
                                                         .skinned = skinned };
    }
    return PELT_OK;
}

static pelt_result list_parts(pelt_model *model)
{
    uint64_t part_max = 0, palette_max = model->skin_count;
    for (uint32_t i = 0; i < model->scene_node_count; i++) {
        const pelt_node *node = &model->nodes[model->scene_nodes[i]];
        if (node->mesh >= 0) {
            part_max += model->meshes[node->mesh].primitive_count;
            palette_max++;
        }
    }
    pelt_result result = check_size(model, part_max, "parts");
    if (result != PELT_OK) {
        return result;
    }
    int32_t *palette_of = pelt_allocate(model->host, model->skin_count, sizeof(*palette_of));
    model->parts = pelt_model_allocate(model, part_max, sizeof(*model->parts));
    model->palettes = pelt_model_allocate(model, palette_max, sizeof(*model->palettes));
    if (!palette_of || !model->parts || !model->palettes) {
        result = fail_memory(model);
        goto done;
    }
    for (uint32_t i = 0; i < model->skin_count; i++) {
        palette_of[i] = NONE;
    }
    uint64_t matrices = 0;
    for (uint32_t i = 0; result == PELT_OK && i < model->scene_node_count; i++) {
        if (model->nodes[model->scene_nodes[i]].mesh >= 0) {
            result = add_parts(model, model->scene_nodes[i], palette_of, &matrices);
        }
    }
    model->matrix_count = (uint32_t)matrices;
done:
    pelt_release(model->host, palette_of);
    return result;
}

static pelt_result place_morph_weights(pelt_model *model)
{
    uint32_t *offsets = pelt_model_allocate(model, (size_t)model->node_count + 1, sizeof(*offsets));
    if (!offsets) {
        return fail_memory(model);
    }
    model->morph_offsets = offsets;
    uint64_t total = 0;
    for (uint32_t i = 0; i < model->node_count; i++) {
        offsets[i] = (uint32_t)total;
        int32_t mesh = model->nodes[i].mesh;
        if (mesh >= 0 && model->meshes[mesh].primitive_count > 0) {
            total += model->meshes[mesh].primitives[0].target_count;
        }
        pelt_result result = check_size(model, total, "morph weights");
        if (result != PELT_OK) {
            return result;
        }
    }
    offsets[model->node_count] = (uint32_t)total;
    return PELT_OK;
}

pelt_result pelt_model_finish(pelt_model *model)
{
    release_derived(model);
    pelt_result result = order_nodes(model);
    if (result == PELT_OK) {
        result = list_parts(model);
    }
    if (result == PELT_OK) {
        result = place_morph_weights(model);
    }
    if (result != PELT_OK) {
        release_derived(model);
    }
    return result;
}
