/* What a shader does with a palette. */
#include "bake/bake.h"

#include <math.h>

static double clip_time(const pelt_bake_clip *clip, double time, bool loop)
{
    if (loop && clip->duration > 0) {
        double wrapped = fmod(time, clip->duration);
        wrapped += wrapped < 0 ? clip->duration : 0;
        /* A hair below 0 plus the duration rounds to the duration. */
        return wrapped < clip->duration ? wrapped : 0;
    }
    return fmin(fmax(loop ? 0 : time, 0), clip->duration);
}

/* The last range that starts no later. */
static const pelt_bake_range *find_range(const pelt_bake_clip *clip, double time)
{
    uint32_t low = 0, high = clip->range_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (clip->ranges[middle].start <= time) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &clip->ranges[low];
}

pelt_bake_place pelt_bake_locate(const pelt_bake_clip *clip, double time, bool loop)
{
    time = clip_time(clip, time, loop);
    const pelt_bake_range *range = find_range(clip, time);
    pelt_bake_place place = { .layer = range->layer,
                              .row = range->first_row,
                              .next_row = range->first_row,
                              .frame = range->first_frame,
                              .next_frame = range->first_frame };
    if (range->row_count > 1) {
        double last = range->row_count - 2.0;
        double frame = fmax((time - range->start) * clip->rate, 0);
        double i = fmin(floor(frame), last);
        double interval = i < last ? 1 : (range->end - range->start) * clip->rate - last;
        place.row += (uint32_t)i;
        place.next_row = place.row + 1;
        place.frame += (uint32_t)i;
        place.next_frame = place.frame + 1;
        place.fraction = fmin((frame - i) / interval, 1);
    }
    return place;
}

void pelt_bake_decode(const pelt_bake *bake, const pelt_bake_place *place,
                      pelt_bake_interpolation interpolation, double *matrices)
{
    bool factors = interpolation == PELT_BAKE_BLEND;
    for (uint32_t j = 0; j < bake->joint_count; j++) {
        pelt_bake_joint a, b;
        pelt_bake_decode_joint(bake, pelt_bake_texels(bake, place->layer, place->row, j), factors,
                               &a);
        pelt_bake_decode_joint(bake, pelt_bake_texels(bake, place->layer, place->next_row, j),
                               factors, &b);
        pelt_bake_interpolate(&a, &b, place->fraction, interpolation, matrices + 12 * (size_t)j);
    }
}

const pelt_bake_palette *pelt_bake_part_palette(const pelt_bake *bake, const pelt_model *model,
                                                uint32_t part)
{
    const pelt_palette *wanted = &model->palettes[model->parts[part].palette];
    for (uint32_t i = 0; i < bake->palette_count; i++) {
        const pelt_bake_palette *palette = &bake->palettes[i];
        if (palette->skin == wanted->skin && palette->node == wanted->node) {
            return palette;
        }
    }
    return NULL;
}
