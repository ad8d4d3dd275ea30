/* Rigs: nodes in the order in which the pose pass walks them, and what it writes. */
#include "vulkan/rig_builder.h"

#include "pelt/pose_layout.h"

#include <string.h>

_Static_assert(sizeof(pelt_rig_row) == 16, "addressed by rows");

enum {
    HEADER_ROWS = sizeof(struct pelt_rig_header) / sizeof(pelt_rig_row),
    MATRIX_ROWS = 3,
    LANES = PELT_POSE_LANES
};

pelt_result pelt_rig_add_rows(pelt_rig_builder *builder, size_t count, uint32_t *first)
{
    const size_t most = (UINT64_C(1) << 32) / sizeof(pelt_rig_row) - 1;
    if (count > most || builder->row_count > most - count) {
        return pelt_fail(builder->host, PELT_ERROR_RANGE, NULL, NULL,
                         "the rig of a model with %u nodes and %u clips exceeds 4 GiB",
                         builder->model->node_count, builder->model->clip_count);
    }
    size_t needed = builder->row_count + count;
    if (needed > builder->row_room) {
        size_t room = 2 * builder->row_room > needed ? 2 * builder->row_room : needed;
        pelt_rig_row *rows =
            pelt_reallocate(builder->host, builder->rows, room * sizeof(pelt_rig_row));
        if (!rows) {
            return pelt_fail(builder->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a rig");
        }
        builder->rows = rows;
        builder->row_room = room;
    }
    if (count > 0) {
        memset(builder->rows + builder->row_count, 0, count * sizeof(pelt_rig_row));
    }
    *first = (uint32_t)builder->row_count;
    builder->row_count = needed;
    return PELT_OK;
}

static uint32_t output_count(const pelt_rig_info *info)
{
    return info->model->matrix_count + info->socket_count;
}

/* The model's node that an output belongs to, and its inverse bind matrix; NULL: identity. */
static uint32_t output_node(const pelt_rig_info *info, uint32_t palette_index, uint32_t destination,
                            const float **inverse_bind)
{
    const pelt_model *model = info->model;
    *inverse_bind = NULL;
    if (destination >= model->matrix_count) {
        return info->sockets[destination - model->matrix_count];
    }
    const pelt_palette *palette = &model->palettes[palette_index];
    if (palette->skin < 0) {
        return palette->node;
    }
    const pelt_skin *skin = &model->skins[palette->skin];
    uint32_t joint = destination - palette->first_matrix;
    *inverse_bind = skin->inverse_bind + 12 * (size_t)joint;
    return skin->joints[joint];
}

/* Calls back for each output, in the order of destinations. */
typedef void (*output_visitor)(void *user, uint32_t destination, uint32_t node,
                               const float *inverse_bind);

static void visit_outputs(const pelt_rig_info *info, output_visitor visit, void *user)
{
    uint32_t palette = 0;
    for (uint32_t i = 0; i < output_count(info); i++) {
        while (palette < info->model->palette_count &&
               i >= info->model->palettes[palette].first_matrix +
                        info->model->palettes[palette].matrix_count) {
            palette++;
        }
        const float *inverse_bind;
        uint32_t node = output_node(info, palette, i, &inverse_bind);
        visit(user, i, node, inverse_bind);
    }
}

static void mark(void *user, uint32_t destination, uint32_t node, const float *inverse_bind)
{
    (void)destination;
    (void)inverse_bind;
    ((uint32_t *)user)[node] = 1;
}

/* Depth-first: a node's place is the first free one below its parent, and its descendants follow
 * it. */
static pelt_result order_nodes(pelt_rig_builder *builder, const pelt_rig_info *info,
                               uint32_t *places)
{
    const pelt_model *model = info->model;
    uint32_t *sizes = pelt_allocate(builder->host, model->node_count, sizeof(*sizes));
    if (!sizes) {
        return pelt_fail(builder->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a rig");
    }
    /* The number of nodes of the subtree that are needed. */
    visit_outputs(info, mark, sizes);
    for (uint32_t i = model->node_count; i-- > 0;) {
        uint32_t node = model->node_order[i];
        if (sizes[node] > 0 && model->nodes[node].parent >= 0) {
            uint32_t *above = &sizes[model->nodes[node].parent];
            *above = (*above > 0 ? *above : 1) + sizes[node];
        }
    }
    uint32_t end = 0;
    for (uint32_t i = 0; i < model->node_count; i++) {
        uint32_t node = model->node_order[i];
        int32_t parent = model->nodes[node].parent;
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
    pelt_release(builder->host, sizes);
    return PELT_OK;
}

static pelt_result list_nodes(pelt_rig_builder *builder)
{
    builder->nodes = pelt_allocate(builder->host, builder->node_count, sizeof(*builder->nodes));
    if (!builder->nodes) {
        return pelt_fail(builder->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a rig");
    }
    for (uint32_t i = 0; i < builder->model->node_count; i++) {
        if (builder->places[i] != PELT_RIG_NO_NODE) {
            builder->nodes[builder->places[i]] = i;
        }
    }
    return PELT_OK;
}

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

/* Parents, and how tiles hand on what later ones need. */
static pelt_result add_nodes(pelt_rig_builder *builder, uint32_t *first, uint32_t *carry_count)
{
    pelt_result result = pelt_rig_add_rows(builder, builder->node_count, first);
    if (result != PELT_OK) {
        return result;
    }
    struct pelt_rig_node *nodes = nodes_of(builder, *first);
    for (uint32_t i = 0; i < builder->node_count; i++) {
        int32_t parent = node_at(builder, i)->parent;
        nodes[i] =
            (struct pelt_rig_node){ .carry_from = PELT_POSE_NONE, .carry_to = PELT_POSE_NONE };
        if (parent >= 0) {
            uint32_t above = builder->places[parent];
            nodes[i].up = i - above;
            if (above / LANES != i / LANES) {
                if (nodes[above].carry_to == PELT_POSE_NONE) {
                    nodes[above].carry_to = (*carry_count)++;
                }
                nodes[i].carry_from = nodes[above].carry_to;
            }
        }
    }
    return PELT_OK;
}

static pelt_result add_matrices(pelt_rig_builder *builder, uint32_t nodes)
{
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < builder->node_count; i++) {
        const pelt_node *node = node_at(builder, i);
        uint32_t row;
        if (!node->has_matrix) {
            continue;
        }
        result = pelt_rig_add_rows(builder, MATRIX_ROWS, &row);
        if (result == PELT_OK) {
            nodes_of(builder, nodes)[i].matrix = row;
            for (uint32_t k = 0; k < MATRIX_ROWS; k++) {
                put_floats(builder->rows + row + k, node->matrix + 4 * (size_t)k, 4);
            }
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
        bool inside = node[i].up > 0 && node[i].carry_from == PELT_POSE_NONE;
        lengths[i % LANES] = inside ? lengths[i % LANES - node[i].up] + 1 : 1;
        longest = lengths[i % LANES] > longest ? lengths[i % LANES] : longest;
    }
    uint32_t rounds = 0;
    while (UINT32_C(1) << rounds < longest) {
        rounds++;
    }
    return rounds;
}

/* -- outputs ------------------------------------------------------------------------------- */

typedef struct output_list {
    pelt_rig_builder *builder;
    uint32_t tiles, outputs, inverse_bind; /* rows */
    uint32_t tile_count;
} output_list;

/* The word of a tile: first how many outputs it has, then where its next one goes. */
static uint32_t *tile_word(const output_list *list, uint32_t tile)
{
    return &list->builder->rows[list->tiles + tile / 4].words[tile % 4];
}

static void count_output(void *user, uint32_t destination, uint32_t node, const float *inverse_bind)
{
    (void)destination;
    (void)inverse_bind;
    const output_list *list = user;
    (*tile_word(list, list->builder->places[node] / LANES))++;
}

static void put_output(void *user, uint32_t destination, uint32_t node, const float *inverse_bind)
{
    const float identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    const output_list *list = user;
    pelt_rig_row *rows = list->builder->rows;
    uint32_t place = list->builder->places[node];
    uint32_t index = (*tile_word(list, place / LANES))++;
    const struct pelt_rig_output record = { .node = place % LANES, .destination = destination };
    memcpy((char *)(rows + list->outputs) + index * sizeof(record), &record, sizeof(record));
    memcpy(rows + list->inverse_bind + MATRIX_ROWS * (size_t)index,
           inverse_bind ? inverse_bind : identity, sizeof(identity));
}

static pelt_result add_outputs(pelt_rig_builder *builder, const pelt_rig_info *info,
                               struct pelt_rig_header *header)
{
    uint32_t count = output_count(info);
    output_list list = { .builder = builder, .tile_count = header->tile_count };
    pelt_result result = pelt_rig_add_rows(builder, (size_t)list.tile_count / 4 + 1, &list.tiles);
    if (result == PELT_OK) {
        result = pelt_rig_add_rows(builder, (size_t)count / 2 + count % 2, &list.outputs);
    }
    if (result == PELT_OK) {
        result = pelt_rig_add_rows(builder, MATRIX_ROWS * (size_t)count, &list.inverse_bind);
    }
    if (result != PELT_OK) {
        return result;
    }
    visit_outputs(info, count_output, &list);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < list.tile_count; i++) {
        uint32_t of_tile = *tile_word(&list, i);
        *tile_word(&list, i) = sum;
        sum += of_tile;
    }
    visit_outputs(info, put_output, &list);
    /* Each word is now where its tile ends, which is where the next one begins. */
    for (uint32_t i = list.tile_count; i > 0; i--) {
        *tile_word(&list, i) = *tile_word(&list, i - 1);
    }
    *tile_word(&list, 0) = 0;
    header->tiles = list.tiles;
    header->outputs = list.outputs;
    header->inverse_bind = list.inverse_bind;
    return PELT_OK;
}

/* -- the whole ----------------------------------------------------------------------------- */

static pelt_result check_info(const pelt_host *host, const pelt_rig_info *info)
{
    const pelt_model *model = info->model;
    if (!model || !model->morph_offsets) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL, "the model is not finished");
    }
    for (uint32_t i = 0; i < info->socket_count; i++) {
        if (info->sockets[i] >= model->node_count) {
            return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                             "socket %u: node %u is none of the model's %u", i, info->sockets[i],
                             model->node_count);
        }
    }
    if (info->socket_count > (UINT32_C(1) << 24)) {
        return pelt_fail(host, PELT_ERROR_RANGE, NULL, NULL, "more than 2^24 sockets");
    }
    return PELT_OK;
}

static pelt_result build(pelt_rig_builder *builder, const pelt_rig_info *info, pelt_rig *rig)
{
    uint32_t first;
    pelt_result result = order_nodes(builder, info, rig->places);
    if (result == PELT_OK) {
        result = list_nodes(builder);
    }
    struct pelt_rig_header header = {
        .node_count = builder->node_count,
        .tile_count = builder->node_count / LANES + (builder->node_count % LANES != 0),
        .matrix_count = rig->matrix_count,
    };
    if (result == PELT_OK) {
        result = pelt_rig_add_rows(builder, HEADER_ROWS, &first);
    }
    if (result == PELT_OK) {
        result = add_rests(builder);
    }
    if (result == PELT_OK) {
        result = add_nodes(builder, &header.nodes, &rig->carry_count);
    }
    if (result == PELT_OK) {
        result = add_matrices(builder, header.nodes);
    }
    if (result == PELT_OK) {
        header.rounds = count_rounds(builder, header.nodes);
        result = add_outputs(builder, info, &header);
    }
    if (result == PELT_OK) {
        result = pelt_rig_add_clips(builder, &header.clips);
    }
    if (result == PELT_OK) {
        memcpy(builder->rows + first, &header, sizeof(header));
    }
    return result;
}

pelt_result pelt_rig_create(const pelt_host *host, const pelt_rig_info *info, pelt_rig **out)
{
    *out = NULL;
    pelt_result result = check_info(host, info);
    if (result != PELT_OK) {
        return result;
    }
    const pelt_model *model = info->model;
    pelt_rig *rig = pelt_allocate(host, 1, sizeof(*rig));
    uint32_t *places = pelt_allocate(host, model->node_count, sizeof(*places));
    if (!rig || !places) {
        pelt_release(host, rig);
        pelt_release(host, places);
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a rig");
    }
    *rig = (pelt_rig){ .host = host,
                       .places = places,
                       .matrix_count = model->matrix_count,
                       .socket_count = info->socket_count,
                       .clip_count = model->clip_count,
                       .model_node_count = model->node_count };
    pelt_rig_builder builder = { .host = host, .model = model, .places = places };
    result = build(&builder, info, rig);
    rig->node_count = builder.node_count;
    rig->data = builder.rows;
    rig->size = builder.row_count * sizeof(pelt_rig_row);
    pelt_release(host, builder.nodes);
    if (result != PELT_OK) {
        pelt_rig_destroy(rig);
        return result;
    }
    *out = rig;
    return PELT_OK;
}

void pelt_rig_destroy(pelt_rig *rig)
{
    if (!rig) {
        return;
    }
    const pelt_host *host = rig->host;
    pelt_release(host, (void *)(uintptr_t)rig->data);
    pelt_release(host, rig->places);
    pelt_release(host, rig);
}
