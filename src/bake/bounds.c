/* Boxes of what is between two frames, from those of the frames. */
#include "anim/anim.h"
#include "base/box.h"

#include <math.h>
#include <pelt/bake.h>

/* Floats add up the terms of a row and of its blend in a dozen roundings, here and in shaders. */
static const double roundings = 0x1p-19;

/* Both frames that matter. */
static pelt_box unite_frames(const pelt_bake_clip *clip, const pelt_bake_place *place,
                             pelt_bake_interpolation interpolation)
{
    bool nearest = interpolation == PELT_BAKE_NEAREST;
    bool first = place->fraction < (nearest ? 0.5 : 1), second = !first || place->fraction > 0;
    pelt_box box = PELT_BOX_EMPTY;
    if (first) {
        box_unite(&box, &clip->boxes[place->frame]);
    }
    if (second && !(nearest && first)) {
        box_unite(&box, &clip->boxes[place->next_frame]);
    }
    return box;
}

pelt_box pelt_bake_bounds(const pelt_bake_clip *clip, const pelt_bake_place *place,
                          pelt_bake_interpolation interpolation, pelt_bake_skinning skinning,
                          const double *world)
{
    const double *matrix = world ? world : pelt_matrix_identity;
    bool dual = skinning == PELT_BAKE_DUAL, nearest = interpolation == PELT_BAKE_NEAREST;
    bool blends = interpolation == PELT_BAKE_BLEND || (dual && !nearest);
    double margin = (blends ? clip->blend_margin : 0) + (dual ? clip->dual_margin : 0);
    pelt_box box = unite_frames(clip, place, interpolation), out = PELT_BOX_EMPTY;
    if (box_is_empty(&box)) {
        return out;
    }
    for (int i = 0; i < 3; i++) {
        const double *row = matrix + 4 * (size_t)i;
        double middle = row[3], half = 0, magnitude = fabs(row[3]);
        for (int k = 0; k < 3; k++) {
            double least = (double)box.min[k] - margin, most = (double)box.max[k] + margin;
            middle += row[k] * (least + most) / 2;
            half += fabs(row[k]) * (most - least) / 2;
            magnitude += fabs(row[k]) * fmax(fabs(least), fabs(most));
        }
        half += roundings * magnitude;
        out.min[i] = (float)(middle - half);
        out.max[i] = (float)(middle + half);
    }
    return out;
}
