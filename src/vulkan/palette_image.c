/* The image that a palette texture lies in, and what is copied where. */
#include "base/base.h"

#include <pelt/crowd.h>

enum { SIZE = 4096, LAYERS = 256, PLACE_MAX = 65536, TEXEL = 16 };

/* Layers that a row of all joints goes over. */
static uint32_t layers_of_row(const pelt_bake *bake)
{
    return (bake->joint_count + bake->joints_per_layer - 1) / bake->joints_per_layer;
}

pelt_result pelt_palette_plan_make(const pelt_host *host, const pelt_bake *bake,
                                   uint32_t live_count, uint32_t max_size, uint32_t max_layers,
                                   pelt_palette_plan *out)
{
    max_size = max_size ? max_size : SIZE;
    max_layers = max_layers ? max_layers : LAYERS;
    if (live_count > 0 &&
        (bake->layout == PELT_BAKE_MATRIX_4X4 || bake->format != PELT_BAKE_RGBA32F)) {
        return pelt_fail(host, PELT_ERROR_UNSUPPORTED, NULL, NULL,
                         "agents posed live need a bake of 3x4 matrices or dual quaternions in "
                         "rgba32f");
    }
    /* One row an agent, on layers as high as the bake's or higher. */
    uint32_t height = live_count > bake->height ? live_count : bake->height;
    if (height > max_size) {
        height = max_size > bake->height ? max_size : bake->height;
    }
    uint64_t pages = (live_count + (uint64_t)height - 1) / height;
    uint64_t layers = bake->layer_count + pages * layers_of_row(bake);
    if (bake->width > max_size || bake->height > max_size || layers > max_layers ||
        height > PLACE_MAX || layers > PLACE_MAX) {
        return pelt_fail(host, PELT_ERROR_RANGE, NULL, NULL,
                         "a palette of %u x %u texels on %llu layers; the image may have %u x %u "
                         "on %u",
                         bake->width, height, (unsigned long long)layers, max_size, max_size,
                         max_layers);
    }
    *out = (pelt_palette_plan){ .format = bake->format == PELT_BAKE_RGBA16F
                                              ? VK_FORMAT_R16G16B16A16_SFLOAT
                                              : VK_FORMAT_R32G32B32A32_SFLOAT,
                                .width = bake->width,
                                .height = height,
                                .layer_count = (uint32_t)layers,
                                .live_layer = bake->layer_count,
                                .live_count = live_count };
    return PELT_OK;
}

VkBufferImageCopy pelt_palette_copy(const pelt_bake *bake, VkDeviceSize offset)
{
    return (VkBufferImageCopy){
        .bufferOffset = offset,
        .imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, bake->layer_count },
        .imageExtent = { bake->width, bake->height, 1 },
    };
}

/* Joints that are next to each other both in the model's matrices and in a row of the bake. */
typedef struct joint_run {
    uint32_t matrix, joint, count;
} joint_run;

/* The run that begins with a palette of the bake; false: it is none of the model's. */
static bool find_run(const pelt_bake *bake, const pelt_model *model, uint32_t palette,
                     joint_run *out)
{
    const pelt_bake_palette *from = &bake->palettes[palette];
    for (uint32_t i = 0; i < model->palette_count; i++) {
        const pelt_palette *to = &model->palettes[i];
        if (to->skin == from->skin && to->node == from->node &&
            to->matrix_count == from->joint_count) {
            *out = (joint_run){ to->first_matrix, from->first_joint, from->joint_count };
            return true;
        }
    }
    return false;
}

/* Regions that were found, and those that there is room for. */
typedef struct region_list {
    VkBufferImageCopy *regions;
    uint32_t count, room;
} region_list;

static void add_region(region_list *list, const VkBufferImageCopy *region)
{
    if (list->regions && list->count < list->room) {
        list->regions[list->count] = *region;
    }
    list->count++;
}

/* A run of some agents whose rows follow each other: as many regions as it goes over layers. */
static void add_run(region_list *list, const pelt_bake *bake, const joint_run *run,
                    uint32_t matrix_count, VkDeviceSize offset, uint32_t layer, uint32_t row,
                    uint32_t rows)
{
    uint32_t texels = bake->texels_per_joint;
    for (uint32_t done = 0; done < run->count;) {
        uint32_t joint = run->joint + done, place = joint % bake->joints_per_layer;
        uint32_t left = bake->joints_per_layer - place;
        uint32_t count = run->count - done < left ? run->count - done : left;
        const VkBufferImageCopy region = {
            .bufferOffset = offset + (VkDeviceSize)(run->matrix + done) * texels * TEXEL,
            .bufferRowLength = texels * matrix_count,
            .imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0,
                                  layer + joint / bake->joints_per_layer, 1 },
            .imageOffset = { (int32_t)(texels * place), (int32_t)row, 0 },
            .imageExtent = { texels * count, rows, 1 },
        };
        add_region(list, &region);
        done += count;
    }
}

pelt_result pelt_palette_live_copies(const pelt_host *host, const pelt_palette_plan *plan,
                                     const pelt_bake *bake, const pelt_model *model, uint32_t first,
                                     uint32_t count, VkDeviceSize offset,
                                     VkBufferImageCopy *regions, uint32_t *region_count)
{
    if (first > plan->live_count || count > plan->live_count - first) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "agents %u and %u behind it; the image has room for %u", first, count,
                         plan->live_count);
    }
    region_list list = { regions, 0, *region_count };
    uint32_t end = first + count;
    for (uint32_t agent = first; agent < end;) {
        uint32_t row = agent % plan->height, left = plan->height - row;
        uint32_t rows = end - agent < left ? end - agent : left;
        uint32_t layer = plan->live_layer + agent / plan->height * layers_of_row(bake);
        VkDeviceSize size = (VkDeviceSize)model->matrix_count * bake->texels_per_joint * TEXEL;
        VkDeviceSize place = offset + (agent - first) * size;
        joint_run run = { 0 };
        for (uint32_t i = 0; i < bake->palette_count; i++) {
            joint_run next;
            if (!find_run(bake, model, i, &next)) {
                return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                                 "palette %u of the bake is none of the model's", i);
            }
            if (run.count > 0 && next.matrix == run.matrix + run.count &&
                next.joint == run.joint + run.count) {
                run.count += next.count;
                continue;
            }
            add_run(&list, bake, &run, model->matrix_count, place, layer, row, rows);
            run = next;
        }
        add_run(&list, bake, &run, model->matrix_count, place, layer, row, rows);
        agent += rows;
    }
    *region_count = list.count;
    if (regions && list.count > list.room) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "%u regions are needed, there is room for %u", list.count, list.room);
    }
    return PELT_OK;
}
