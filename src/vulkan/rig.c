/* Rigs: everything of a model that the pose pass needs, as rows of 16 bytes. */
#include "vulkan/rig_builder.h"

#include "pelt/pose_layout.h"

#include <string.h>

_Static_assert(sizeof(pelt_rig_row) == 16, "addressed by rows");

enum { HEADER_ROWS = sizeof(struct pelt_rig_header) / sizeof(pelt_rig_row) };

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

static pelt_result build(pelt_rig_builder *builder, pelt_rig *rig)
{
    struct pelt_rig_header header = { .matrix_count = rig->matrix_count };
    uint32_t first;
    pelt_result result = pelt_rig_order_nodes(builder, rig->places);
    if (result == PELT_OK) {
        result = pelt_rig_add_rows(builder, HEADER_ROWS, &first);
    }
    if (result == PELT_OK) {
        result = pelt_rig_add_nodes(builder, &header, &rig->carry_count);
    }
    if (result == PELT_OK) {
        result = pelt_rig_add_outputs(builder, &header);
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
    pelt_rig_builder builder = { .host = host, .model = model, .info = info };
    result = build(&builder, rig);
    rig->node_count = builder.node_count;
    rig->data = builder.rows;
    rig->size = builder.row_count * sizeof(pelt_rig_row);
    pelt_release(host, builder.nodes);
    pelt_release(host, builder.fixed);
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
