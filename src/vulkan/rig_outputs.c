/* What a rig writes: skin matrices in the order of the model's palettes, then sockets; by the tiles
 * of their nodes. */
#include "vulkan/rig_builder.h"

#include "pelt/pose_layout.h"

#include <string.h>

enum { MATRIX_ROWS = 3, LANES = PELT_POSE_LANES };

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

void pelt_rig_visit_outputs(const pelt_rig_info *info, pelt_rig_visitor visit, void *user)
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

pelt_result pelt_rig_add_outputs(pelt_rig_builder *builder, struct pelt_rig_header *header)
{
    const pelt_rig_info *info = builder->info;
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
    pelt_rig_visit_outputs(info, count_output, &list);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < list.tile_count; i++) {
        uint32_t of_tile = *tile_word(&list, i);
        *tile_word(&list, i) = sum;
        sum += of_tile;
    }
    pelt_rig_visit_outputs(info, put_output, &list);
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
