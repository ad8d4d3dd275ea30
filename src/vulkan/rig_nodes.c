/* The nodes of a rig: which are needed, in which order, what is above them. */
#include "vulkan/rig_builder.h"

#include "anim/anim.h"
#include "pelt/pose_layout.h"

#include <string.h>

enum { MATRIX_ROWS = 3, MATRIX_NUMBERS = 12, LANES = PELT_POSE_LANES };

static pelt_result no_memory(const pelt_rig_builder *builder)
{
    return pelt_fail(builder->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a rig");
}

static void mark(void *user, uint32_t destination, uint32_t node, const float *inverse_bind)
{
    (void)destination;
    (void)inverse_bind;
    ((uint32_t *)user)[node] = 1;
}

/* -- what nothing moves -------------------------------------------------------------------- */

static void make_static(const pelt_node *node, double out[12])
{
    pelt_local local = { .has_matrix = node->has_matrix };
    memcpy(local.matrix, node->matrix, sizeof(local.matrix));
    memcpy(local.translation, node->translation, sizeof(local.translation));
    memcpy(local.rotation, node->rotation, sizeof(local.rotation));
    memcpy(local.scale, node->scale, sizeof(local.scale));
    pelt_local_matrix(&local, out);
}

/* Nodes of which no transform is wanted and no clip says anything, and what is above them: often a
 * root or two. They need no place, and what they come to is known here, in double precision. */
static pelt_result find_fixed(pelt_rig_builder *builder)
{
    const pelt_model *model = builder->model;
    uint32_t *moves = pelt_allocate(builder->host, model->node_count, sizeof(*moves));
    builder->fixed = pelt_allocate(builder->host, model->node_count, sizeof(*builder->fixed));
    if (!moves || !builder->fixed) {
        pelt_release(builder->host, moves);
        return no_memory(builder);
    }
    pelt_rig_visit_outputs(builder->info, mark, moves);
    for (uint32_t c = 0; c < model->clip_count; c++) {
        for (uint32_t i = 0; i < model->clips[c].channel_count; i++) {
            const pelt_channel *channel = &model->clips[c].channels[i];
            moves[channel->node] |= channel->path != PELT_WEIGHTS;
        }
    }
    for (uint32_t i = 0; i < model->node_count; i++) {
        uint32_t index = model->node_order[i];
        int32_t parent = model->nodes[index].parent;
        pelt_rig_fixed *fixed = &builder->fixed[index];
        fixed->is_fixed = moves[index] == 0 && (parent < 0 || builder->fixed[parent].is_fixed);
        if (fixed->is_fixed && parent < 0) {
            make_static(&model->nodes[index], fixed->global);
        } else if (fixed->is_fixed) {
            double local[MATRIX_NUMBERS];
            make_static(&model->nodes[index], local);
            pelt_matrix_multiply(builder->fixed[parent].global, local, fixed->global);
        }
    }
    pelt_release(builder->host, moves);
    return PELT_OK;
}

/* -- order --------------------------------------------------------------------------------- */

/* The node's parent, if that has a place in the rig; else -1. */
static int32_t parent_in_rig(const pelt_rig_builder *builder, uint32_t node)
{
    int32_t parent = builder->model->nodes[node].parent;
    return parent >= 0 && !builder->fixed[parent].is_fixed ? parent : -1;
}

/* Depth-first: a node's place is the first free one below its parent, and its descendants follow
 * it. */
static pelt_result order_nodes(pelt_rig_builder *builder, uint32_t *places)
{
    const pelt_model *model = builder->model;
    uint32_t *sizes = pelt_allocate(builder->host, model->node_count, sizeof(*sizes));
    if (!sizes) {
        return no_memory(builder);
    }
    /* The number of nodes of the subtree that are needed. */
    pelt_rig_visit_outputs(builder->info, mark, sizes);
    for (uint32_t i = model->node_count; i-- > 0;) {
        uint32_t node = model->node_order[i];
        int32_t parent = parent_in_rig(builder, node);
        if (sizes[node] > 0 && parent >= 0) {
            sizes[parent] = (sizes[parent] > 0 ? sizes[parent] : 1) + sizes[node];
        }
    }
    uint32_t end = 0;
    for (uint32_t i = 0; i < model->node_count; i++) {
        uint32_t node = model->node_order[i];
        int32_t parent = parent_in_rig(builder, node);
        places[node] = PELT_RIG_NO_NODE;
        if (sizes[node] > 0) {
            /* sizes[parent], read already, is now where its next child goes. */
            uint32_t *next = parent < 0 ? &end : &sizes[parent];
            places[node] = *next;
            *next += sizes[node];
            sizes[node] = places[node] + 1;
        }
    }
    builder->node_count = end;
    builder->places = places;
    pelt_release(builder->host, sizes);
    return PELT_OK;
}

static pelt_result list_nodes(pelt_rig_builder *builder)
{
    builder->nodes = pelt_allocate(builder->host, builder->node_count, sizeof(*builder->nodes));
    if (!builder->nodes) {
        return no_memory(builder);
    }
    for (uint32_t i = 0; i < builder->model->node_count; i++) {
        if (builder->places[i] != PELT_RIG_NO_NODE) {
            builder->nodes[builder->places[i]] = i;
        }
    }
    return PELT_OK;
}

pelt_result pelt_rig_order_nodes(pelt_rig_builder *builder, uint32_t *places)
{
    pelt_result result = find_fixed(builder);
    if (result == PELT_OK) {
        result = order_nodes(builder, places);
    }
    return result == PELT_OK ? list_nodes(builder) : result;
}

/* -- rows ---------------------------------------------------------------------------------- */

static const pelt_node *node_at(const pelt_rig_builder *builder, uint32_t place)
{
    return &builder->model->nodes[builder->nodes[place]];
}

static void put_floats(pelt_rig_row *row, const double *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        row->floats[i] = (float)values[i];
    }
}

/* A node with a matrix has TRS all the same, identity, as src/anim/pose.c explains. */
static pelt_result add_rests(pelt_rig_builder *builder)
{
    const double none[3] = { 0, 0, 0 }, one[3] = { 1, 1, 1 }, identity[4] = { 0, 0, 0, 1 };
    uint32_t count = builder->node_count;
    pelt_result result = pelt_rig_add_rows(builder, 3 * (size_t)count, &builder->rests);
    for (uint32_t i = 0; result == PELT_OK && i < count; i++) {
        const pelt_node *node = node_at(builder, i);
        pelt_rig_row *row = builder->rows + builder->rests + i;
        put_floats(row, node->has_matrix ? none : node->translation, 3);
        put_floats(row + count, node->has_matrix ? identity : node->rotation, 4);
        put_floats(row + 2 * (size_t)count, node->has_matrix ? one : node->scale, 3);
    }
    return result;
}

static struct pelt_rig_node *nodes_of(const pelt_rig_builder *builder, uint32_t row)
{
    return (struct pelt_rig_node *)(void *)(builder->rows + row);
}

static pelt_result add_matrix(pelt_rig_builder *builder, const double matrix[12], uint32_t *row)
{
    pelt_result result = pelt_rig_add_rows(builder, MATRIX_ROWS, row);
    for (uint32_t k = 0; result == PELT_OK && k < MATRIX_ROWS; k++) {
        put_floats(builder->rows + *row + k, matrix + 4 * (size_t)k, 4);
    }
    return result;
}

/* Parents, and how tiles hand on what later ones need. */
static void link_nodes(const pelt_rig_builder *builder, struct pelt_rig_node *nodes,
                       uint32_t *carry_count)
{
    for (uint32_t i = 0; i < builder->node_count; i++) {
        int32_t parent = parent_in_rig(builder, builder->nodes[i]);
        nodes[i] = (struct pelt_rig_node){ .above = PELT_POSE_NONE, .carry_to = PELT_POSE_NONE };
        if (parent < 0) {
            continue;
        }
        uint32_t above = builder->places[parent];
        nodes[i].up = i - above;
        if (above / LANES != i / LANES) {
            if (nodes[above].carry_to == PELT_POSE_NONE) {
                nodes[above].carry_to = (*carry_count)++;
            }
            nodes[i].above = nodes[above].carry_to;
        }
    }
}

/* Matrices that nodes have, and those of fixed parents, each once. */
static pelt_result add_matrices(pelt_rig_builder *builder, uint32_t nodes)
{
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < builder->node_count; i++) {
        const pelt_node *node = node_at(builder, i);
        pelt_rig_fixed *fixed = NULL;
        if (node->parent >= 0 && builder->fixed[node->parent].is_fixed) {
            fixed = &builder->fixed[node->parent];
        }
        uint32_t row = 0;
        if (node->has_matrix) {
            result = add_matrix(builder, node->matrix, &row);
            nodes_of(builder, nodes)[i].matrix = row;
        }
        if (result == PELT_OK && fixed && fixed->row == 0) {
            result = add_matrix(builder, fixed->global, &fixed->row);
        }
        if (result == PELT_OK && fixed) {
            nodes_of(builder, nodes)[i].above = PELT_NODE_FIXED | fixed->row;
        }
    }
    return result;
}

/* How often paths must double until the longest of a tile is whole. */
static uint32_t count_rounds(const pelt_rig_builder *builder, uint32_t nodes)
{
    const struct pelt_rig_node *node = nodes_of(builder, nodes);
    uint32_t lengths[LANES];
    uint32_t longest = 1;
    for (uint32_t i = 0; i < builder->node_count; i++) {
        bool inside = node[i].up > 0 && node[i].above == PELT_POSE_NONE;
        lengths[i % LANES] = inside ? lengths[i % LANES - node[i].up] + 1 : 1;
        longest = lengths[i % LANES] > longest ? lengths[i % LANES] : longest;
    }
    uint32_t rounds = 0;
    while (UINT32_C(1) << rounds < longest) {
        rounds++;
    }
    return rounds;
}

pelt_result pelt_rig_add_nodes(pelt_rig_builder *builder, struct pelt_rig_header *header,
                               uint32_t *carry_count)
{
    header->node_count = builder->node_count;
    header->tile_count = builder->node_count / LANES + (builder->node_count % LANES != 0);
    pelt_result result = add_rests(builder);
    if (result == PELT_OK) {
        result = pelt_rig_add_rows(builder, builder->node_count, &header->nodes);
    }
    if (result == PELT_OK) {
        link_nodes(builder, nodes_of(builder, header->nodes), carry_count);
        result = add_matrices(builder, header->nodes);
    }
    if (result == PELT_OK) {
        header->rounds = count_rounds(builder, header->nodes);
    }
    return result;
}
