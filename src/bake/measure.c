/* What a baked clip costs against the sampled one. */
#include "bake/bake.h"

#include <math.h>
#include <string.h>

/* Between two rows, at this many places; an error that rises and falls once, as that of a turn
 * does, is met to within 1/64 of its peak. */
enum { PLACES = 8 };

pelt_result pelt_baker_sample(pelt_baker *baker, int32_t clip, double time)
{
    const pelt_play play = { .clip = clip, .time = time };
    pelt_result result = pelt_pose_evaluate(baker->pose, &play, 1);
    if (result == PELT_OK) {
        result = pelt_pose_skin_matrices_double(baker->pose, NULL, baker->model_matrices);
    }
    for (uint32_t i = 0; result == PELT_OK && i < baker->info->model->palette_count; i++) {
        const pelt_palette *palette = &baker->info->model->palettes[i];
        if (baker->first_joints[i] != UINT32_MAX) {
            memcpy(baker->matrices + 12 * (size_t)baker->first_joints[i],
                   baker->model_matrices + 12 * (size_t)palette->first_matrix,
                   12 * (size_t)palette->matrix_count * sizeof(double));
        }
    }
    return result;
}

/* A clip as it is measured. */
typedef struct course {
    pelt_baker *baker;
    const pelt_bake_clip *clip;
    double rate;
    bool stored;  /* rows are in the texture already */
    double limit; /* to stop beyond; 0: none */
    double worst_time;
    uint32_t rows_done;
    pelt_bake_error *error;
    double interval_margin; /* of blend, where it was looked for between these two rows */
    double blend_margin, dual_margin;
} course;

/* Whether this interpolation counts. */
static bool is_wanted(const course *c, pelt_bake_interpolation interpolation)
{
    return c->limit == 0 || interpolation == c->baker->info->interpolation;
}

/* Makes *worst grow to how far these matrices are from those in baker->matrices, which are of a
 * time. */
static void compare(course *c, double time, const pelt_bake_joint *a, const pelt_bake_joint *b,
                    double fraction, pelt_bake_interpolation interpolation, double *worst)
{
    pelt_baker *baker = c->baker;
    for (size_t j = 0; j < baker->bake->joint_count; j++) {
        double *d = baker->differences + 12 * j;
        const double *m = baker->matrices + 12 * j;
        pelt_bake_interpolate(&a[j], &b[j], fraction, interpolation, d);
        for (int i = 0; i < 12; i++) {
            d[i] -= m[i];
        }
    }
    if (pelt_bake_bodies_farther(&baker->bodies, baker->differences, worst)) {
        c->worst_time = time;
    }
}

/* How far blend and lerp are apart. */
static void compare_blend(course *c, double fraction)
{
    pelt_baker *baker = c->baker;
    for (size_t j = 0; j < baker->bake->joint_count; j++) {
        const pelt_bake_joint *a = &baker->row[j], *b = &baker->next_row[j];
        double lerped[12], *d = baker->differences + 12 * j;
        pelt_bake_interpolate(a, b, fraction, PELT_BAKE_LERP, lerped);
        pelt_bake_interpolate(a, b, fraction, PELT_BAKE_BLEND, d);
        for (int i = 0; i < 12; i++) {
            d[i] -= lerped[i];
        }
    }
    c->interval_margin =
        fmax(c->interval_margin, pelt_bake_bodies_bound(&baker->bodies, baker->differences));
}

/* Of both rows and what is between them, which has been looked at. Between the places at which it
 * was, a blend may be farther from lerp: by 1/64 where it turns, and by 1/38 where it advances
 * along the axis of a screw, which is ahead in one half and behind in the other. */
static void add_margins(course *c)
{
    const pelt_baker *baker = c->baker;
    double margin = c->interval_margin * (1 + 1.0 / 32);
    c->blend_margin = fmax(c->blend_margin, margin);
    if (baker->bake->layout == PELT_BAKE_DUAL_QUATERNION) {
        c->dual_margin = pelt_bake_bodies_dual_bound(&baker->bodies, baker->row, baker->next_row,
                                                     margin, c->dual_margin);
    }
    c->interval_margin = 0;
}

static pelt_result compare_between(course *c, double time, double fraction)
{
    pelt_baker *baker = c->baker;
    pelt_result result = pelt_baker_sample(baker, c->clip->clip, time);
    for (int i = 0; result == PELT_OK && i < PELT_BAKE_INTERPOLATIONS; i++) {
        if (is_wanted(c, i)) {
            double *worst = &c->error->between[i];
            compare(c, time, baker->row, baker->next_row, fraction, i, worst);
            if (i == PELT_BAKE_NEAREST && fraction == 0.5) { /* just before it changes */
                compare(c, time, baker->row, baker->row, 0, i, worst);
            }
        }
    }
    if (result == PELT_OK && c->limit == 0) {
        compare_blend(c, fraction);
    }
    return result;
}

/* A row into baker->next_row, the one before into baker->row. */
static pelt_result next_row(course *c, const pelt_bake_range *range, uint32_t i)
{
    pelt_baker *baker = c->baker;
    pelt_bake_joint *rows = baker->row;
    double time = pelt_bake_row_time(range, c->rate, i);
    bool factors = is_wanted(c, PELT_BAKE_BLEND);
    baker->row = baker->next_row;
    baker->next_row = rows;
    pelt_result result = pelt_baker_sample(baker, c->clip->clip, time);
    for (uint32_t j = 0; result == PELT_OK && j < baker->bake->joint_count; j++) {
        double room[8]; /* of any joint's texels */
        const void *texels = room;
        if (c->stored) {
            texels = pelt_bake_texels(baker->bake, range->layer, range->first_row + i, j);
        } else {
            (void)pelt_bake_encode(baker->bake, baker->matrices + 12 * (size_t)j,
                                   baker->sides + 4 * (size_t)j, room);
        }
        pelt_bake_decode_joint(baker->bake, texels, factors, &baker->next_row[j]);
    }
    if (result == PELT_OK) {
        compare(c, time, baker->next_row, baker->next_row, 0, PELT_BAKE_NEAREST,
                &c->error->at_frames);
    }
    return result;
}

/* The first key after a time. */
static size_t find_key(const pelt_bake_times *keys, double time)
{
    size_t low = 0, high = keys->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (keys->values[middle] <= time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Between the rows of an interval. */
static pelt_result measure_interval(course *c, const pelt_bake_times *keys, double start,
                                    double end)
{
    pelt_result result = PELT_OK;
    for (int i = 1; result == PELT_OK && i < PLACES; i++) {
        double fraction = (double)i / PLACES;
        result = compare_between(c, start + fraction * (end - start), fraction);
    }
    for (size_t k = find_key(keys, start);
         result == PELT_OK && k < keys->count && keys->values[k] < end; k++) {
        result = compare_between(c, keys->values[k], (keys->values[k] - start) / (end - start));
    }
    return result;
}

static bool is_beyond(const course *c)
{
    const pelt_bake_error *error = c->error;
    return c->limit > 0 && (error->at_frames > c->limit ||
                            error->between[c->baker->info->interpolation] > c->limit);
}

/* From the row first on, so many intervals. */
static pelt_result measure_range(course *c, const pelt_bake_times *keys,
                                 const pelt_bake_range *range, uint32_t first, uint32_t intervals)
{
    uint32_t index = (uint32_t)(c->clip - c->baker->bake->clips);
    pelt_result result = next_row(c, range, first);
    if (result == PELT_OK && range->row_count == 1) {
        memcpy(c->baker->row, c->baker->next_row,
               c->baker->bake->joint_count * sizeof(*c->baker->row));
        double end = range->jump ? nextafter(range->end, 0) : range->end;
        result = range->end > range->start ? compare_between(c, end, 1) : PELT_OK;
        if (c->stored) {
            add_margins(c);
        }
    }
    for (uint32_t i = 0; result == PELT_OK && i < intervals && !is_beyond(c); i++) {
        uint32_t row = first + i;
        result = next_row(c, range, row + 1);
        if (result == PELT_OK && !is_beyond(c)) {
            result = measure_interval(c, keys, pelt_bake_row_time(range, c->rate, row),
                                      pelt_bake_row_time(range, c->rate, row + 1));
        }
        if (c->stored) {
            add_margins(c);
            pelt_baker_progress(c->baker, index, c->clip->frame_count + (double)c->rows_done++,
                                2.0 * c->clip->frame_count);
        }
    }
    return result;
}

pelt_result pelt_bake_measure(pelt_baker *baker, uint32_t index)
{
    pelt_bake_clip *clip = &baker->bake->clips[index];
    course c = {
        .baker = baker, .clip = clip, .rate = clip->rate, .stored = true, .error = &clip->error
    };
    pelt_result result = PELT_OK;
    clip->error = (pelt_bake_error){ 0 };
    for (uint32_t i = 0; result == PELT_OK && i < clip->range_count; i++) {
        result = measure_range(&c, &baker->timelines[index].keys, &clip->ranges[i], 0,
                               clip->ranges[i].row_count - 1);
    }
    clip->blend_margin = c.blend_margin;
    clip->dual_margin = c.dual_margin;
    return result;
}

pelt_result pelt_bake_try_rate(pelt_baker *baker, uint32_t index, double rate, double *where,
                               bool *keeps)
{
    const pelt_bake_timeline *timeline = &baker->timelines[index];
    double limit = baker->info->error;
    pelt_bake_error error = { limit, { limit, limit, limit } };
    course c = { .baker = baker,
                 .clip = &baker->bake->clips[index],
                 .rate = rate,
                 .limit = limit,
                 .error = &error };
    pelt_result result = PELT_OK;
    /* What was too much at another rate will most likely be so at this one. */
    for (size_t i = 0; i <= timeline->jumps.count && *where >= 0; i++) {
        pelt_bake_stretch stretch = pelt_bake_timeline_stretch(timeline, i);
        pelt_bake_range range = pelt_bake_stretch_range(&stretch, rate);
        if (range.row_count > 1 && *where >= range.start && *where < range.end) {
            double row = fmin(floor((*where - range.start) * rate), range.row_count - 2.0);
            result = measure_range(&c, &timeline->keys, &range, (uint32_t)row, 1);
            break;
        }
    }
    for (size_t i = 0; result == PELT_OK && i <= timeline->jumps.count && !is_beyond(&c); i++) {
        pelt_bake_stretch stretch = pelt_bake_timeline_stretch(timeline, i);
        pelt_bake_range range = pelt_bake_stretch_range(&stretch, rate);
        result = measure_range(&c, &timeline->keys, &range, 0, range.row_count - 1);
    }
    *keeps = !is_beyond(&c);
    *where = *keeps ? *where : c.worst_time;
    return result;
}
