#include "bake/bake.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A rest of less than this part of a frame is not worth a frame: durations are floats, and 22/30
 * of a second at 30 a second is a hair more than 22 frames. */
#define REST 1e-3

static bool append(const pelt_host *host, pelt_bake_times *times, double value)
{
    if (times->count == times->room) {
        size_t room = times->room ? 2 * times->room : 64, bytes;
        double *values = pelt_multiply(room, sizeof(*values), &bytes)
                             ? pelt_reallocate(host, times->values, bytes)
                             : NULL;
        if (!values) {
            return false;
        }
        times->values = values;
        times->room = room;
    }
    times->values[times->count++] = value;
    return true;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sort_unique(pelt_bake_times *times)
{
    size_t kept = 0;
    if (times->count) {
        qsort(times->values, times->count, sizeof(*times->values), compare);
    }
    for (size_t i = 0; i < times->count; i++) {
        if (kept == 0 || times->values[i] != times->values[kept - 1]) {
            times->values[kept++] = times->values[i];
        }
    }
    times->count = kept;
}

/* A key's numbers; of a CUBICSPLINE one, all three times as many. */
static size_t key_width(const pelt_sampler *sampler)
{
    return (size_t)sampler->width * (sampler->interpolation == PELT_CUBICSPLINE ? 3 : 1);
}

/* Whether the value is another at the next key; quaternions may change sign. */
static bool differs(const pelt_sampler *sampler, bool rotation, uint32_t key)
{
    size_t width = key_width(sampler);
    const float *a = sampler->values + key * width, *b = a + width;
    bool same = true, opposite = rotation;
    for (size_t i = 0; i < width; i++) {
        same = same && a[i] == b[i];
        opposite = opposite && a[i] == -b[i];
    }
    return !same && !opposite;
}

/* Whether a value moves between a key and the next. */
static bool moves(const pelt_sampler *sampler, bool rotation, uint32_t key)
{
    if (sampler->interpolation != PELT_CUBICSPLINE) {
        return sampler->interpolation == PELT_LINEAR && differs(sampler, rotation, key);
    }
    /* In-tangent, value, out-tangent. */
    size_t width = sampler->width, whole = key_width(sampler);
    const float *value = sampler->values + key * whole + width, *out_tangent = value + width;
    const float *in_tangent = out_tangent + width, *next_value = in_tangent + width;
    for (size_t i = 0; i < width; i++) {
        if (out_tangent[i] != 0 || in_tangent[i] != 0 || value[i] != next_value[i]) {
            return true;
        }
    }
    return false;
}

static bool list_times(const pelt_host *host, const pelt_clip *clip, const bool *moved,
                       pelt_bake_timeline *out)
{
    for (uint32_t c = 0; c < clip->channel_count; c++) {
        const pelt_channel *channel = &clip->channels[c];
        const pelt_sampler *sampler = &clip->samplers[channel->sampler];
        bool rotation = channel->path == PELT_ROTATION;
        if (channel->path == PELT_WEIGHTS || !moved[channel->node]) {
            continue;
        }
        bool step = sampler->interpolation == PELT_STEP;
        for (uint32_t k = 0; k < sampler->key_count; k++) {
            bool jump = step && k > 0 && differs(sampler, rotation, k - 1);
            if ((jump && !append(host, &out->jumps, (double)sampler->times[k])) ||
                (!step && !append(host, &out->keys, (double)sampler->times[k]))) {
                return false;
            }
        }
    }
    sort_unique(&out->jumps);
    sort_unique(&out->keys);
    return true;
}

/* The stretch that a time is in. */
static size_t find_stretch(const pelt_bake_timeline *timeline, double time)
{
    size_t low = 0, high = timeline->jumps.count; /* so many jumps are not after it */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (timeline->jumps.values[middle] <= time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void find_holds(const pelt_clip *clip, const bool *moved, pelt_bake_timeline *out)
{
    for (size_t i = 0; i <= out->jumps.count; i++) {
        out->holds[i] = true;
    }
    for (uint32_t c = 0; c < clip->channel_count; c++) {
        const pelt_channel *channel = &clip->channels[c];
        const pelt_sampler *sampler = &clip->samplers[channel->sampler];
        if (channel->path == PELT_WEIGHTS || !moved[channel->node]) {
            continue;
        }
        for (uint32_t k = 0; k + 1 < sampler->key_count; k++) {
            if (moves(sampler, channel->path == PELT_ROTATION, k)) {
                size_t i = find_stretch(out, (double)sampler->times[k]);
                for (; i <= out->jumps.count; i++) {
                    if (i > 0 && out->jumps.values[i - 1] >= (double)sampler->times[k + 1]) {
                        break;
                    }
                    out->holds[i] = false;
                }
            }
        }
    }
}

pelt_result pelt_bake_timeline_make(const pelt_host *host, const pelt_clip *clip, const bool *moved,
                                    pelt_bake_timeline *out)
{
    *out = (pelt_bake_timeline){ .duration = clip ? clip->duration : 0 };
    if (clip && !list_times(host, clip, moved, out)) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for the keys of a clip");
    }
    out->holds = pelt_allocate(host, out->jumps.count + 1, sizeof(*out->holds));
    if (!out->holds) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for the keys of a clip");
    }
    /* Without jumps a clip is so many frames, whether it moves or not. */
    if (clip && out->jumps.count) {
        find_holds(clip, moved, out);
    }
    return PELT_OK;
}

void pelt_bake_timeline_free(const pelt_host *host, pelt_bake_timeline *timeline)
{
    pelt_release(host, timeline->jumps.values);
    pelt_release(host, timeline->keys.values);
    pelt_release(host, timeline->holds);
}

pelt_bake_stretch pelt_bake_timeline_stretch(const pelt_bake_timeline *timeline, size_t index)
{
    bool last = index == timeline->jumps.count;
    return (pelt_bake_stretch){ .start = index ? timeline->jumps.values[index - 1] : 0,
                                .end = last ? timeline->duration : timeline->jumps.values[index],
                                .jump = !last,
                                .holds = timeline->holds[index] };
}

double pelt_bake_stretch_rows(const pelt_bake_stretch *stretch, double rate)
{
    double length = stretch->end - stretch->start;
    if (stretch->holds || !(length > 0)) {
        return 1;
    }
    return fmax(ceil(length * rate - REST), 1) + 1;
}

pelt_bake_range pelt_bake_stretch_range(const pelt_bake_stretch *stretch, double rate)
{
    return (pelt_bake_range){ .start = stretch->start,
                              .end = stretch->end,
                              .row_count = (uint32_t)pelt_bake_stretch_rows(stretch, rate),
                              .jump = stretch->jump };
}

double pelt_bake_row_time(const pelt_bake_range *range, double rate, uint32_t i)
{
    if (i == 0 || i + 1 < range->row_count) {
        return range->start + i / rate;
    }
    return range->jump ? nextafter(range->end, 0) : range->end;
}
