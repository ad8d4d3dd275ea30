/* Clips -> a palette texture: the steps in order. */
#include "bake/bake.h"

#include "base/box.h"

#include <math.h>
#include <string.h>

static pelt_result fail_memory(const pelt_host *host)
{
    return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a bake");
}

static pelt_result make_scratch(pelt_baker *baker)
{
    const pelt_host *host = baker->host;
    size_t joints = baker->bake->joint_count, all = baker->info->model->matrix_count;
    baker->model_matrices = pelt_allocate(host, all, 12 * sizeof(double));
    baker->matrices = pelt_allocate(host, joints, 12 * sizeof(double));
    baker->differences = pelt_allocate(host, joints, 12 * sizeof(double));
    baker->float_matrices = pelt_allocate(host, joints, 12 * sizeof(float));
    baker->sides = pelt_allocate(host, joints, 4 * sizeof(double));
    baker->row = pelt_allocate(host, joints, sizeof(*baker->row));
    baker->next_row = pelt_allocate(host, joints, sizeof(*baker->next_row));
    bool enough = baker->model_matrices && baker->matrices && baker->differences &&
                  baker->float_matrices && baker->sides && baker->row && baker->next_row;
    return enough ? PELT_OK : fail_memory(host);
}

static pelt_result make_texels(pelt_baker *baker)
{
    pelt_bake *bake = baker->bake;
    size_t size = pelt_bake_texel_size(bake->format);
    bool fits = pelt_multiply(size, bake->width, &size) &&
                pelt_multiply(size, bake->height, &size) &&
                pelt_multiply(size, bake->layer_count, &size);
    bake->texels = fits ? pelt_arena_allocate(bake->arena, size, 1) : NULL;
    bake->size = size;
    return bake->texels ? PELT_OK
                        : pelt_fail(baker->host, PELT_ERROR_MEMORY, NULL, NULL,
                                    "no memory for a texture of %u x %u texels and %u layers",
                                    bake->width, bake->height, bake->layer_count);
}

static pelt_result fail_number(const pelt_baker *baker, const pelt_bake_clip *clip, double time)
{
    char pointer[32];
    (void)snprintf(pointer, sizeof(pointer), "/animations/%d", clip->clip);
    return pelt_fail(baker->host, PELT_ERROR_RANGE, NULL, clip->clip < 0 ? NULL : pointer,
                     "at %g s a matrix has a number beyond 65,504, the largest of 16 bits", time);
}

/* One row: its texels, and the box of what they give. */
static pelt_result fill_row(pelt_baker *baker, const pelt_bake_clip *clip,
                            const pelt_bake_range *range, uint32_t i, pelt_box *box)
{
    pelt_bake *bake = baker->bake;
    double time = pelt_bake_row_time(range, clip->rate, i);
    pelt_result result = pelt_baker_sample(baker, clip->clip, time);
    for (uint32_t j = 0; result == PELT_OK && j < bake->joint_count; j++) {
        void *texels = pelt_bake_texels(bake, range->layer, range->first_row + i, j);
        if (!pelt_bake_encode(bake, baker->matrices + 12 * (size_t)j, baker->sides + 4 * (size_t)j,
                              texels)) {
            return fail_number(baker, clip, time);
        }
        pelt_bake_decode_joint(bake, texels, false, &baker->row[j]);
        for (size_t k = 0; k < 12; k++) {
            baker->float_matrices[12 * (size_t)j + k] = (float)baker->row[j].matrix[k];
        }
    }
    *box = pelt_bake_bodies_box(&baker->bodies, baker->float_matrices);
    return result;
}

static pelt_result fill_clip(pelt_baker *baker, uint32_t index)
{
    pelt_bake_clip *clip = &baker->bake->clips[index];
    pelt_result result = PELT_OK;
    uint32_t frame = 0;
    clip->box = (pelt_box)PELT_BOX_EMPTY;
    memset(baker->sides, 0, 4 * sizeof(double) * baker->bake->joint_count);
    for (uint32_t i = 0; i < clip->range_count; i++) {
        const pelt_bake_range *range = &clip->ranges[i];
        for (uint32_t row = 0; result == PELT_OK && row < range->row_count; row++, frame++) {
            result = fill_row(baker, clip, range, row, &clip->boxes[frame]);
            box_unite(&clip->box, &clip->boxes[frame]);
            pelt_baker_progress(baker, index, frame, 2.0 * clip->frame_count);
        }
    }
    return result;
}

/* The last row against the first. */
static void measure_seam(pelt_baker *baker, pelt_bake_clip *clip)
{
    const pelt_bake *bake = baker->bake;
    const pelt_bake_range *first = clip->ranges, *last = &clip->ranges[clip->range_count - 1];
    for (uint32_t j = 0; j < bake->joint_count; j++) {
        pelt_bake_joint a, b;
        uint32_t row = last->first_row + last->row_count - 1;
        pelt_bake_decode_joint(bake, pelt_bake_texels(bake, first->layer, first->first_row, j),
                               false, &a);
        pelt_bake_decode_joint(bake, pelt_bake_texels(bake, last->layer, row, j), false, &b);
        for (size_t i = 0; i < 12; i++) {
            baker->differences[12 * (size_t)j + i] = b.matrix[i] - a.matrix[i];
        }
    }
    clip->seam = 0;
    (void)pelt_bake_bodies_farther(&baker->bodies, baker->differences, &clip->seam);
    double square = 0;
    for (int i = 0; i < 3; i++) {
        double side = (double)clip->box.max[i] - (double)clip->box.min[i];
        square += side * side;
    }
    clip->loop = clip->duration > 0 && clip->seam <= 1e-3 * sqrt(square);
}

void pelt_baker_progress(const pelt_baker *baker, uint32_t clip, double row, double rows)
{
    if (baker->info->progress) {
        baker->info->progress(baker->info->user, clip, row / rows);
    }
}

static pelt_result run(pelt_baker *baker)
{
    const pelt_bake_info *info = baker->info;
    pelt_bake *bake = baker->bake;
    pelt_result result = pelt_bake_choose(baker);
    result = result == PELT_OK ? make_scratch(baker) : result;
    result = result == PELT_OK ? pelt_pose_create(baker->host, info->model, &baker->pose) : result;
    if (result == PELT_OK) {
        pelt_bake_warn_of_morphs(baker);
        result =
            pelt_bake_bodies_make(baker->host, baker->pose, baker->first_joints, &baker->bodies);
    }
    result = result == PELT_OK ? pelt_bake_choose_layout(baker) : result;
    for (uint32_t i = 0; result == PELT_OK && info->error > 0 && i < bake->clip_count; i++) {
        result = pelt_bake_search(baker, i, &bake->clips[i].rate);
    }
    if (result == PELT_OK) {
        result = pelt_bake_place_rows(baker->host, baker->timelines,
                                      info->max_size ? info->max_size : PELT_BAKE_SIZE,
                                      info->max_layers ? info->max_layers : PELT_BAKE_LAYERS, bake);
    }
    result = result == PELT_OK ? make_texels(baker) : result;
    for (uint32_t i = 0; result == PELT_OK && i < bake->clip_count; i++) {
        pelt_bake_clip *clip = &bake->clips[i];
        result = fill_clip(baker, i);
        if (result == PELT_OK) {
            measure_seam(baker, clip);
            result = pelt_bake_measure(baker, i);
        }
    }
    return result;
}

static void release(pelt_baker *baker)
{
    const pelt_host *host = baker->host;
    for (uint32_t i = 0; baker->timelines && i < baker->bake->clip_count; i++) {
        pelt_bake_timeline_free(host, &baker->timelines[i]);
    }
    pelt_release(host, baker->timelines);
    pelt_bake_bodies_free(&baker->bodies);
    pelt_pose_destroy(baker->pose);
    pelt_release(host, baker->first_joints);
    pelt_release(host, baker->moved);
    pelt_release(host, baker->model_matrices);
    pelt_release(host, baker->matrices);
    pelt_release(host, baker->differences);
    pelt_release(host, baker->float_matrices);
    pelt_release(host, baker->sides);
    pelt_release(host, baker->row);
    pelt_release(host, baker->next_row);
}

pelt_result pelt_bake_create(const pelt_host *host, const pelt_bake_info *info, pelt_bake **out)
{
    *out = NULL;
    pelt_result result = pelt_bake_check(host, info);
    if (result != PELT_OK) {
        return result;
    }
    pelt_arena *arena = pelt_arena_create(host);
    pelt_bake *bake = arena ? pelt_arena_allocate(arena, 1, sizeof(*bake)) : NULL;
    if (!bake) {
        pelt_arena_destroy(arena);
        return fail_memory(host);
    }
    *bake = (pelt_bake){ .host = host, .arena = arena };
    pelt_baker baker = { .host = host, .info = info, .bake = bake, .bodies = { .host = host } };
    result = run(&baker);
    release(&baker);
    if (result != PELT_OK) {
        pelt_bake_destroy(bake);
        return result;
    }
    *out = bake;
    return PELT_OK;
}

void pelt_bake_destroy(pelt_bake *bake)
{
    if (bake) {
        pelt_arena_destroy(bake->arena);
    }
}
