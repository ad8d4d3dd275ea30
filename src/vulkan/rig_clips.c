/* Clips in a rig: key times, which tracks share; tracks; keys.
 *
 * Neighbouring invocations sample neighbouring nodes at one time. So tracks of a clip and path that
 * have the same times and interpolation lie interleaved, key after key: a bundle. */
#include "vulkan/rig_builder.h"

#include "pelt/pose_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATHS = 3, MODES = PELT_TRACK_MODES + 1 };

/* -- key times ----------------------------------------------------------------------------- */

/* A sampler, and the row of its key times; 0: none, for its value never changes. */
typedef struct timed_sampler {
    const pelt_sampler *sampler;
    uint64_t hash; /* of the times */
    uint32_t times;
} timed_sampler;

typedef struct clip_builder {
    pelt_rig_builder *rig;
    size_t sampler_count; /* of all clips */
    timed_sampler *samplers;
    timed_sampler **order;        /* equal times side by side */
    const timed_sampler **tracks; /* PATHS x nodes, of one clip; NULL: not animated */
} clip_builder;

/* Whether every key has the value of the first. */
static bool is_constant(const pelt_sampler *sampler)
{
    size_t size = sampler->width * sizeof(float);
    for (uint32_t k = 1; k < sampler->key_count; k++) {
        if (memcmp(sampler->values, sampler->values + (size_t)k * sampler->width, size) != 0) {
            return false;
        }
    }
    return sampler->interpolation != PELT_CUBICSPLINE;
}

/* FNV-1a */
static uint64_t hash_times(const pelt_sampler *sampler)
{
    const unsigned char *bytes = (const unsigned char *)sampler->times;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sampler->key_count * sizeof(float); i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static bool has_same_times(const timed_sampler *a, const timed_sampler *b)
{
    return a->hash == b->hash && a->sampler->key_count == b->sampler->key_count &&
           memcmp(a->sampler->times, b->sampler->times, a->sampler->key_count * sizeof(float)) == 0;
}

static int compare_hashes(const void *a, const void *b)
{
    const timed_sampler *const *x = a, *const *y = b;
    if ((*x)->hash != (*y)->hash) {
        return (*x)->hash < (*y)->hash ? -1 : 1;
    }
    return (*x > *y) - (*x < *y); /* as they came */
}

/* The last key not after a time, or the first. */
static uint32_t find_key(const pelt_sampler *sampler, double time)
{
    uint32_t low = 0, high = sampler->key_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if ((double)sampler->times[middle] <= time) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* As many cells as keys, so that each of evenly spaced keys is in the middle of one. Cells are
 * widened by what the shader's rounding of a time's place can amount to. */
static pelt_result add_times(pelt_rig_builder *rig, const pelt_sampler *sampler, uint32_t *row)
{
    uint32_t last = sampler->key_count - 1;
    double origin = (double)sampler->times[0], end = (double)sampler->times[last];
    float scale = (float)(last / (end - origin));
    bool even = last > 0 && isfinite(scale) && scale > 0x1p-100f && scale < 0x1p100f;
    struct pelt_rig_times head = { .last_key = last,
                                   .last_cell = even ? last : 0,
                                   .origin = sampler->times[0],
                                   .scale = even ? scale : 0 };
    uint32_t cells = head.last_cell + 1;
    size_t words = 2 * (size_t)cells + sampler->key_count;
    pelt_result result = pelt_rig_add_rows(rig, 1 + words / 4 + (words % 4 != 0), row);
    if (result != PELT_OK) {
        return result;
    }
    memcpy(rig->rows + *row, &head, sizeof(head));
    uint32_t *out = rig->rows[*row + 1].words;
    double per_cell = even ? 1 / (double)scale : 0;
    double margin = 0x1p-21 * (cells + end * (double)head.scale) + 0x1p-20;
    for (uint32_t c = 0; c < cells; c++) {
        out[2 * (size_t)c] = even ? find_key(sampler, origin + (c - 0.5 - margin) * per_cell) : 0;
        out[2 * (size_t)c + 1] =
            even ? find_key(sampler, origin + (c + 0.5 + margin) * per_cell) : last;
    }
    /* Times outside the keys are in the outermost cells. */
    out[0] = 0;
    out[2 * (size_t)cells - 1] = last;
    memcpy(out + 2 * (size_t)cells, sampler->times, sampler->key_count * sizeof(float));
    return PELT_OK;
}

static pelt_result list_samplers(clip_builder *clips)
{
    const pelt_model *model = clips->rig->model;
    size_t count = 0;
    for (uint32_t c = 0; c < model->clip_count; c++) {
        count += model->clips[c].sampler_count;
    }
    clips->sampler_count = count;
    clips->samplers = pelt_allocate(clips->rig->host, count, sizeof(*clips->samplers));
    clips->order = pelt_allocate(clips->rig->host, count, sizeof(*clips->order));
    clips->tracks =
        pelt_allocate(clips->rig->host, clips->rig->node_count, PATHS * sizeof(*clips->tracks));
    if (!clips->samplers || !clips->order || !clips->tracks) {
        (void)pelt_fail(clips->rig->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a rig");
        return PELT_ERROR_MEMORY;
    }
    size_t at = 0;
    for (uint32_t c = 0; c < model->clip_count; c++) {
        for (uint32_t s = 0; s < model->clips[c].sampler_count; s++, at++) {
            const pelt_sampler *sampler = &model->clips[c].samplers[s];
            clips->samplers[at] =
                (timed_sampler){ .sampler = sampler, .hash = hash_times(sampler) };
            clips->order[at] = &clips->samplers[at];
        }
    }
    qsort(clips->order, count, sizeof(*clips->order), compare_hashes);
    return PELT_OK;
}

/* Only for samplers that some track of the rig needs. */
static pelt_result find_times(clip_builder *clips)
{
    const timed_sampler *previous = NULL;
    pelt_result result = PELT_OK;
    for (size_t i = 0; result == PELT_OK && i < clips->sampler_count; i++) {
        timed_sampler *next = clips->order[i];
        if (next->times == 0) {
            continue;
        }
        if (previous && has_same_times(previous, next)) {
            next->times = previous->times;
        } else {
            result = add_times(clips->rig, next->sampler, &next->times);
            previous = next;
        }
    }
    return result;
}

/* -- tracks -------------------------------------------------------------------------------- */

/* A clip's samplers for each path of each node of the rig. */
static void gather_tracks(const clip_builder *clips, const pelt_clip *clip, timed_sampler *samplers)
{
    uint32_t nodes = clips->rig->node_count;
    for (size_t i = 0; i < PATHS * (size_t)nodes; i++) {
        clips->tracks[i] = NULL;
    }
    for (uint32_t i = 0; i < clip->channel_count; i++) {
        const pelt_channel *channel = &clip->channels[i];
        uint32_t place = clips->rig->places[channel->node];
        if (channel->path != PELT_WEIGHTS && place != PELT_RIG_NO_NODE) {
            clips->tracks[channel->path * (size_t)nodes + place] = &samplers[channel->sampler];
        }
    }
}

/* Marks those whose times are needed. */
static void mark_needed(clip_builder *clips)
{
    const pelt_model *model = clips->rig->model;
    timed_sampler *samplers = clips->samplers;
    for (uint32_t c = 0; c < model->clip_count; c++) {
        const pelt_clip *clip = &model->clips[c];
        for (uint32_t i = 0; i < clip->channel_count; i++) {
            const pelt_channel *channel = &clip->channels[i];
            timed_sampler *sampler = &samplers[channel->sampler];
            if (channel->path != PELT_WEIGHTS &&
                clips->rig->places[channel->node] != PELT_RIG_NO_NODE &&
                !is_constant(sampler->sampler)) {
                sampler->times = 1;
            }
        }
        samplers += clip->sampler_count;
    }
}

static uint32_t mode_of(const timed_sampler *timed)
{
    const uint32_t modes[] = { [PELT_LINEAR] = PELT_TRACK_LINEAR,
                               [PELT_STEP] = PELT_TRACK_STEP,
                               [PELT_CUBICSPLINE] = PELT_TRACK_SPLINE };
    return timed->times == 0 ? PELT_TRACK_HOLD : modes[timed->sampler->interpolation];
}

/* Rows of one track: 1, keys, or keys x 3. */
static uint32_t rows_of(const timed_sampler *timed)
{
    uint32_t mode = mode_of(timed);
    return mode == PELT_TRACK_HOLD     ? 1
           : mode == PELT_TRACK_SPLINE ? 3 * timed->sampler->key_count
                                       : timed->sampler->key_count;
}

/* Writes a track's rows, stride apart. Of rotations that slerp, neighbours are put on the same
 * side: q and -q are the same rotation, and from there the way is the shorter one. */
static void put_rows(pelt_rig_builder *rig, const timed_sampler *timed, bool rotation,
                     uint32_t first, uint32_t stride)
{
    const pelt_sampler *sampler = timed->sampler;
    bool slerps = rotation && mode_of(timed) == PELT_TRACK_LINEAR;
    float sign = 1;
    for (uint32_t i = 0; i < rows_of(timed); i++) {
        const float *value = sampler->values + (size_t)i * sampler->width;
        pelt_rig_row *row = rig->rows + first + (size_t)i * stride;
        double dot = 0;
        for (uint32_t k = 0; slerps && i > 0 && k < 4; k++) {
            dot += (double)value[k] * (double)(value - 4)[k];
        }
        sign = dot < 0 ? -sign : sign;
        for (uint32_t k = 0; k < sampler->width && k < 4; k++) {
            row->floats[k] = sign * value[k];
        }
    }
}

static int compare_tracks(const void *a, const void *b)
{
    const struct pelt_rig_track *x = a, *y = b;
    if (x->times != y->times) {
        return x->times < y->times ? -1 : 1;
    }
    if (x->mode != y->mode) {
        return x->mode < y->mode ? -1 : 1;
    }
    return (x->first > y->first) - (x->first < y->first);
}

/* One bundle: sorted[0] to sorted[width - 1], whose `first` is their node's place. */
static pelt_result add_bundle(const clip_builder *clips, pelt_path path,
                              const struct pelt_rig_track *sorted, uint32_t width, uint32_t tracks)
{
    pelt_rig_builder *rig = clips->rig;
    const timed_sampler *const *samplers = clips->tracks + path * (size_t)rig->node_count;
    uint32_t count = rows_of(samplers[sorted[0].first]);
    uint32_t first;
    pelt_result result = pelt_rig_add_rows(rig, (size_t)count * width, &first);
    for (uint32_t i = 0; result == PELT_OK && i < width; i++) {
        struct pelt_rig_track track = sorted[i];
        uint32_t place = track.first;
        put_rows(rig, samplers[place], path == PELT_ROTATION, first + i, width);
        track.first = first + i;
        track.stride = track.mode == PELT_TRACK_SPLINE ? 3 * width : width;
        track.mode |= PELT_TRACK_ANIMATES;
        memcpy(rig->rows + tracks + path * (size_t)rig->node_count + place, &track, sizeof(track));
    }
    return result;
}

/* One path of a clip; tracks: row of the clip's first. scratch: node_count of them. */
static pelt_result add_path(const clip_builder *clips, pelt_path path, uint32_t tracks,
                            struct pelt_rig_track *scratch)
{
    const pelt_rig_builder *rig = clips->rig;
    const timed_sampler *const *samplers = clips->tracks + path * (size_t)rig->node_count;
    uint32_t count = 0;
    for (uint32_t i = 0; i < rig->node_count; i++) {
        size_t offset = path * (size_t)rig->node_count + i;
        const struct pelt_rig_track rest = { .first = rig->rests + (uint32_t)offset };
        memcpy(rig->rows + tracks + offset, &rest, sizeof(rest));
        if (samplers[i]) {
            scratch[count++] = (struct pelt_rig_track){ .first = i,
                                                        .times = samplers[i]->times,
                                                        .mode = mode_of(samplers[i]) };
        }
    }
    qsort(scratch, count, sizeof(*scratch), compare_tracks);
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < count;) {
        uint32_t width = 1;
        while (i + width < count && scratch[i + width].times == scratch[i].times &&
               scratch[i + width].mode == scratch[i].mode) {
            width++;
        }
        result = add_bundle(clips, path, scratch + i, width, tracks);
        i += width;
    }
    return result;
}

static pelt_result add_clip(const clip_builder *clips, uint32_t row, double duration,
                            struct pelt_rig_track *scratch)
{
    struct pelt_rig_clip record = { .duration = (float)duration };
    pelt_result result =
        pelt_rig_add_rows(clips->rig, PATHS * (size_t)clips->rig->node_count, &record.tracks);
    for (pelt_path path = PELT_TRANSLATION; result == PELT_OK && path < PELT_WEIGHTS; path++) {
        result = add_path(clips, path, record.tracks, scratch);
    }
    if (result == PELT_OK) {
        memcpy(clips->rig->rows + row, &record, sizeof(record));
    }
    return result;
}

static pelt_result add_all(clip_builder *clips, uint32_t first)
{
    const pelt_model *model = clips->rig->model;
    const pelt_clip none = { .duration = 0 };
    struct pelt_rig_track *scratch =
        pelt_allocate(clips->rig->host, clips->rig->node_count, sizeof(*scratch));
    if (!scratch) {
        return pelt_fail(clips->rig->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a rig");
    }
    timed_sampler *samplers = clips->samplers;
    pelt_result result = PELT_OK;
    for (uint32_t c = 0; result == PELT_OK && c <= model->clip_count; c++) {
        const pelt_clip *clip = c < model->clip_count ? &model->clips[c] : &none;
        gather_tracks(clips, clip, samplers);
        result = add_clip(clips, first + c, clip->duration, scratch);
        samplers += clip->sampler_count;
    }
    pelt_release(clips->rig->host, scratch);
    return result;
}

pelt_result pelt_rig_add_clips(pelt_rig_builder *builder, uint32_t *first)
{
    clip_builder clips = { .rig = builder };
    pelt_result result = pelt_rig_add_rows(builder, (size_t)builder->model->clip_count + 1, first);
    if (result == PELT_OK) {
        result = list_samplers(&clips);
    }
    if (result == PELT_OK) {
        mark_needed(&clips);
        result = find_times(&clips);
    }
    if (result == PELT_OK) {
        result = add_all(&clips, *first);
    }
    pelt_release(builder->host, clips.samplers);
    pelt_release(builder->host, clips.order);
    pelt_release(builder->host, (void *)clips.tracks);
    return result;
}
