/* What is to be baked: palettes, joints, clips, and how they lie in texels. */
#include "bake/bake.h"

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

pelt_result pelt_bake_check(const pelt_host *host, const pelt_bake_info *info)
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

pelt_result pelt_bake_choose(pelt_baker *baker)
{
    pelt_result result = choose_palettes(baker);
    result = result == PELT_OK ? list_joints(baker) : result;
    return result == PELT_OK ? choose_clips(baker) : result;
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

void pelt_bake_warn_of_morphs(const pelt_baker *baker)
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

pelt_result pelt_bake_choose_layout(pelt_baker *baker)
{
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
    bake->texels_per_joint = pelt_bake_layout_texels[bake->layout] + scaled;
    uint32_t most = (info->max_size ? info->max_size : PELT_BAKE_SIZE) / bake->texels_per_joint;
    bake->joints_per_layer = bake->joint_count < most ? bake->joint_count : most;
    bake->width = bake->texels_per_joint * bake->joints_per_layer;
    return PELT_OK;
}
