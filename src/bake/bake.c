/* Clips -> a palette texture: what is wanted, then the steps in order. */
#include "bake/bake.h"

#include "base/box.h"

#include <math.h>
#include <string.h>

static pelt_result fail_argument(const pelt_host *host, const char *text)
{
    return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL, "%s", text);
}

static pelt_result fail_memory(const pelt_host *host)
{
    return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a bake");
}

static bool is_within(double value, double most)
{
    return value >= 0 && value <= most;
}

static pelt_result check_info(const pelt_host *host, const pelt_bake_info *info)
{
    const pelt_model *model = info->model;
    if (!model || !model->morph_offsets) {
        return fail_argument(host, "the model is not finished");
    }
    if (model->part_count == 0) {
        return fail_argument(host, "nothing to bake: the scene has no mesh");
    }
    for (uint32_t i = 0; i < info->clip_count; i++) {
        if (info->clips[i] < -1 || info->clips[i] >= (int64_t)model->clip_count) {
            return fail_argument(host, "a clip is none of the model's");
        }
    }
    for (uint32_t i = 0; i < info->palette_count; i++) {
        if (info->palettes[i] >= model->palette_count) {
            return fail_argument(host, "a palette is none of the model's");
        }
    }
    if (info->layout > PELT_BAKE_DUAL_QUATERNION || info->format > PELT_BAKE_RGBA16F ||
        info->interpolation >= PELT_BAKE_INTERPOLATIONS) {
        return fail_argument(host, "layout, format or interpolation is none that there is");
    }
    if (!is_within(info->rate, PELT_BAKE_RATE_MAX) || (info->rate > 0 && info->rate < 1e-3) ||
        !is_within(info->max_rate, PELT_BAKE_RATE_MAX) ||
        !is_within(info->error, PELT_MAGNITUDE_MAX) || (info->rate > 0 && info->error > 0)) {
        return fail_argument(host, "rate, max_rate or error is out of range, or both are given");
    }
    if ((info->max_size && info->max_size < 4) || info->max_size > 65536 ||
        info->max_layers > 65536) {
        return fail_argument(host, "max_size must be from 4 to 65536, max_layers up to 65536");
    }
    return PELT_OK;
}

/* The palettes wanted, one behind the other. */
static pelt_result choose_palettes(pelt_baker *baker)
{
    const pelt_bake_info *info = baker->info;
    pelt_bake *bake = baker->bake;
    uint32_t count = info->palette_count ? info->palette_count : info->model->palette_count;
    baker->first_joints =
        pelt_allocate(baker->host, info->model->palette_count, sizeof(*baker->first_joints));
    bake->palettes = pelt_arena_allocate(bake->arena, count, sizeof(*bake->palettes));
    if (!baker->first_joints || !bake->palettes) {
        return fail_memory(baker->host);
    }
    for (uint32_t i = 0; i < info->model->palette_count; i++) {
        baker->first_joints[i] = UINT32_MAX;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = info->palette_count ? info->palettes[i] : i;
        const pelt_palette *palette = &info->model->palettes[index];
        if (baker->first_joints[index] != UINT32_MAX) {
            return fail_argument(baker->host, "a palette is given twice");
        }
        baker->first_joints[index] = bake->joint_count;
        bake->palettes[i] = (pelt_bake_palette){ .skin = palette->skin,
                                                 .node = palette->node,
                                                 .first_joint = bake->joint_count,
                                                 .joint_count = palette->matrix_count };
        bake->joint_count += palette->matrix_count;
    }
    bake->palette_count = count;
    return PELT_OK;
}

static pelt_result copy_name(pelt_baker *baker, const char *name, char **out)
{
    *out = NULL;
    if (name) {
        *out = pelt_arena_allocate(baker->bake->arena, strlen(name) + 1, 1);
        if (!*out) {
            return fail_memory(baker->host);
        }
        memcpy(*out, name, strlen(name) + 1);
    }
    return PELT_OK;
}

/* Nodes and names of the joints; marks what moves them. */
static pelt_result list_joints(pelt_baker *baker)
{
    const pelt_model *model = baker->info->model;
    pelt_bake *bake = baker->bake;
    pelt_result result = PELT_OK;
    baker->moved = pelt_allocate(baker->host, model->node_count, sizeof(*baker->moved));
    if (!baker->moved) {
        return fail_memory(baker->host);
    }
    for (uint32_t i = 0; i < bake->palette_count; i++) {
        pelt_bake_palette *palette = &bake->palettes[i];
        uint32_t count = palette->joint_count;
        palette->nodes = pelt_arena_allocate(bake->arena, count, sizeof(*palette->nodes));
        palette->names = pelt_arena_allocate(bake->arena, count, sizeof(*palette->names));
        if (!palette->nodes || !palette->names) {
            return fail_memory(baker->host);
        }
        for (uint32_t j = 0; result == PELT_OK && j < count; j++) {
            uint32_t node =
                palette->skin < 0 ? palette->node : model->skins[palette->skin].joints[j];
            palette->nodes[j] = node;
            result = copy_name(baker, model->nodes[node].name, &palette->names[j]);
            for (int32_t above = (int32_t)node; above >= 0 && !baker->moved[above];
                 above = model->nodes[above].parent) {
                baker->moved[above] = true;
            }
        }
    }
    return result;
}

static pelt_result choose_clips(pelt_baker *baker)
{
    const pelt_bake_info *info = baker->info;
    const pelt_model *model = info->model;
    pelt_bake *bake = baker->bake;
    bool all = info->clip_count == 0 && model->clip_count > 0;
    uint32_t count = all ? model->clip_count : info->clip_count ? info->clip_count : 1;
    bake->clips = pelt_arena_allocate(bake->arena, count, sizeof(*bake->clips));
    baker->timelines = pelt_allocate(baker->host, count, sizeof(*baker->timelines));
    if (!bake->clips || !baker->timelines) {
        return fail_memory(baker->host);
    }
    bake->clip_count = count;
    for (uint32_t i = 0; i < count; i++) {
        pelt_bake_clip *clip = &bake->clips[i];
        clip->clip = all ? (int32_t)i : info->clip_count ? info->clips[i] : -1;
        clip->rate = info->rate > 0 ? info->rate : 30;
        for (uint32_t k = 0; k < i; k++) {
            if (bake->clips[k].clip == clip->clip) {
                return fail_argument(baker->host, "a clip is given twice");
            }
        }
        const pelt_clip *source = clip->clip < 0 ? NULL : &model->clips[clip->clip];
        clip->duration = source ? source->duration : 0;
        pelt_result result = copy_name(baker, source ? source->name : NULL, &clip->name);
        if (result == PELT_OK) {
            result =
                pelt_bake_timeline_make(baker->host, source, baker->moved, &baker->timelines[i]);
        }
        if (result != PELT_OK) {
            return result;
        }
    }
    return PELT_OK;
}

/* Whether a clip changes the shape of what is baked otherwise than by its joints. */
static bool morphs(const pelt_baker *baker, const pelt_clip *clip)
{
    const pelt_model *model = baker->info->model;
    for (uint32_t i = 0; i < clip->channel_count; i++) {
        const pelt_channel *channel = &clip->channels[i];
        for (uint32_t p = 0; channel->path == PELT_WEIGHTS && p < model->part_count; p++) {
            if (model->parts[p].node == channel->node &&
                baker->first_joints[model->parts[p].palette] != UINT32_MAX) {
                return true;
            }
        }
    }
    return false;
}

static void warn_of_morphs(const pelt_baker *baker)
{
    uint32_t count = 0;
    int32_t first = -1;
    for (uint32_t i = 0; i < baker->bake->clip_count; i++) {
        int32_t clip = baker->bake->clips[i].clip;
        if (clip >= 0 && morphs(baker, &baker->info->model->clips[clip])) {
            first = count++ ? first : clip;
        }
    }
    if (count) {
        char pointer[32];
        (void)snprintf(pointer, sizeof(pointer), "/animations/%d", first);
        pelt_warn(baker->host, NULL, pointer,
                  "%u clip%s morph weights, which a palette does not hold: the static ones stay",
                  count, count == 1 ? " animates" : "s animate");
    }
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

static pelt_result choose_layout(pelt_baker *baker)
{
    static const uint32_t texels[] = { 3, 4, 2 };
    const pelt_bake_info *info = baker->info;
    pelt_bake *bake = baker->bake;
    bool scaled = false;
    bake->layout = info->layout;
    bake->format = info->format;
    if (bake->layout == PELT_BAKE_DUAL_QUATERNION) {
        pelt_result result = pelt_bake_scan(baker, &scaled);
        if (result != PELT_OK) {
            return result;
        }
    }
    bake->texels_per_joint = texels[bake->layout] + scaled;
    uint32_t most = (info->max_size ? info->max_size : PELT_BAKE_SIZE) / bake->texels_per_joint;
    bake->joints_per_layer = bake->joint_count < most ? bake->joint_count : most;
    bake->width = bake->texels_per_joint * bake->joints_per_layer;
    return PELT_OK;
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
    pelt_result result = choose_palettes(baker);
    result = result == PELT_OK ? list_joints(baker) : result;
    result = result == PELT_OK ? choose_clips(baker) : result;
    result = result == PELT_OK ? make_scratch(baker) : result;
    result = result == PELT_OK ? pelt_pose_create(baker->host, info->model, &baker->pose) : result;
    if (result == PELT_OK) {
        warn_of_morphs(baker);
        result =
            pelt_bake_bodies_make(baker->host, baker->pose, baker->first_joints, &baker->bodies);
    }
    result = result == PELT_OK ? choose_layout(baker) : result;
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
            result = pelt_bake_measure(baker, i, &clip->error, &clip->blend_margin);
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
    pelt_result result = check_info(host, info);
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
