#include "bake/bake.h"

#include <math.h>
#include <string.h>

/* Rows of a layer are given out from the top. Layers of the same joints: one page. */
typedef struct pages {
    uint32_t rows; /* that a page has */
    uint32_t count, room;
    uint32_t *used;
    uint32_t most_used;
} pages;

/* The first page with so many rows left, and the first of them. */
static bool take(const pelt_host *host, pages *p, uint32_t rows, uint32_t *page, uint32_t *first)
{
    uint32_t i = 0;
    while (i < p->count && p->rows - p->used[i] < rows) {
        i++;
    }
    if (i == p->room) {
        uint32_t room = p->room ? 2 * p->room : 16;
        uint32_t *used = pelt_reallocate(host, p->used, room * sizeof(*used));
        if (!used) {
            return false;
        }
        memset(used + p->room, 0, (room - p->room) * sizeof(*used));
        p->used = used;
        p->room = room;
    }
    p->count = i < p->count ? p->count : i + 1;
    *page = i;
    *first = p->used[i];
    p->used[i] += rows;
    p->most_used = p->used[i] > p->most_used ? p->used[i] : p->most_used;
    return true;
}

/* How many rows and ranges a clip needs on pages of at most so many rows. A range that is cut has
 * one row more for each cut. */
static void count_clip(const pelt_bake_timeline *timeline, double rate, uint32_t page_rows,
                       double *rows, double *ranges)
{
    *rows = *ranges = 0;
    for (size_t i = 0; i <= timeline->jumps.count; i++) {
        pelt_bake_stretch stretch = pelt_bake_timeline_stretch(timeline, i);
        double wanted = pelt_bake_stretch_rows(&stretch, rate);
        double pieces = wanted > page_rows ? ceil((wanted - 1) / (page_rows - 1.0)) : 1;
        *rows += wanted + pieces - 1;
        *ranges += pieces;
    }
}

/* Cuts a stretch into ranges of whole pages and a rest. */
static uint32_t cut(const pelt_bake_stretch *stretch, double rate, uint32_t page_rows,
                    pelt_bake_range *ranges)
{
    uint32_t rows = (uint32_t)pelt_bake_stretch_rows(stretch, rate), count = 0;
    for (uint32_t done = 0; count == 0 || done + 1 < rows;) {
        uint32_t piece = rows - done < page_rows ? rows - done : page_rows;
        bool last = done + piece == rows;
        ranges[count] = (pelt_bake_range){ .start = stretch->start + done / rate,
                                           .end = last ? stretch->end
                                                       : stretch->start + (done + piece - 1) / rate,
                                           .row_count = piece,
                                           .jump = last && stretch->jump };
        done += piece - 1;
        count++;
    }
    return count;
}

/* Ranges of a clip, in time; they have no place yet. */
static pelt_result cut_clip(const pelt_host *host, const pelt_bake_timeline *timeline,
                            uint32_t page_rows, pelt_bake *bake, pelt_bake_clip *clip)
{
    double rows, ranges;
    count_clip(timeline, clip->rate, page_rows, &rows, &ranges);
    clip->ranges = pelt_arena_allocate(bake->arena, (size_t)ranges, sizeof(*clip->ranges));
    clip->boxes = pelt_arena_allocate(bake->arena, (size_t)rows, sizeof(*clip->boxes));
    if (!clip->ranges || !clip->boxes) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %.0f frames", rows);
    }
    clip->frame_count = (uint32_t)rows;
    for (size_t i = 0; i <= timeline->jumps.count; i++) {
        pelt_bake_stretch stretch = pelt_bake_timeline_stretch(timeline, i);
        clip->range_count += cut(&stretch, clip->rate, page_rows, clip->ranges + clip->range_count);
    }
    for (uint32_t i = 1; i < clip->range_count; i++) {
        const pelt_bake_range *before = &clip->ranges[i - 1];
        clip->ranges[i].first_frame = before->first_frame + before->row_count;
    }
    return PELT_OK;
}

/* A clip that fits on one page stays whole; of a longer one, each range. */
static bool place(const pelt_host *host, pages *p, pelt_bake *bake, uint32_t layers_per_page)
{
    p->count = p->most_used = 0;
    if (p->room) {
        memset(p->used, 0, p->room * sizeof(*p->used));
    }
    for (uint32_t c = 0; c < bake->clip_count; c++) {
        pelt_bake_clip *clip = &bake->clips[c];
        bool whole = clip->frame_count <= p->rows;
        uint32_t page = 0, row = 0;
        if (whole && !take(host, p, clip->frame_count, &page, &row)) {
            return false;
        }
        for (uint32_t i = 0; i < clip->range_count; i++) {
            pelt_bake_range *range = &clip->ranges[i];
            if (!whole && !take(host, p, range->row_count, &page, &row)) {
                return false;
            }
            range->layer = page * layers_per_page;
            range->first_row = row;
            row += range->row_count;
        }
    }
    return true;
}

/* The lowest pages that are no more of them. */
static bool lower_pages(const pelt_host *host, pages *p, pelt_bake *bake, uint32_t layers_per_page)
{
    uint32_t count = p->count, high = p->rows, low = 1;
    for (uint32_t c = 0; c < bake->clip_count; c++) {
        const pelt_bake_clip *clip = &bake->clips[c];
        uint32_t rows = clip->frame_count;
        low = rows > high ? high : rows > low ? rows : low;
    }
    while (low < high) {
        p->rows = low + (high - low) / 2;
        if (!place(host, p, bake, layers_per_page)) {
            return false;
        }
        if (p->count <= count) {
            high = p->rows;
        } else {
            low = p->rows + 1;
        }
    }
    p->rows = high;
    return place(host, p, bake, layers_per_page);
}

pelt_result pelt_bake_place_rows(const pelt_host *host, const pelt_bake_timeline *timelines,
                                 uint32_t max_size, uint32_t max_layers, pelt_bake *bake)
{
    uint32_t layers_per_page =
        (bake->joint_count + bake->joints_per_layer - 1) / bake->joints_per_layer;
    double total = 0;
    for (uint32_t c = 0; c < bake->clip_count; c++) {
        double rows, ranges;
        count_clip(&timelines[c], bake->clips[c].rate, max_size, &rows, &ranges);
        total += rows;
    }
    uint32_t page_max = max_layers / layers_per_page;
    double room = (double)max_size * page_max;
    pages p = { .rows = max_size };
    pelt_result result = PELT_OK;
    if (total > room) {
        return pelt_fail(host, PELT_ERROR_RANGE, NULL, "",
                         "%.0f frames of %u joints do not fit %u layers of %u x %u texels", total,
                         bake->joint_count, max_layers, max_size, max_size);
    }
    for (uint32_t c = 0; result == PELT_OK && c < bake->clip_count; c++) {
        result = cut_clip(host, &timelines[c], max_size, bake, &bake->clips[c]);
    }
    if (result != PELT_OK) {
        goto done;
    }
    if (!place(host, &p, bake, layers_per_page) || !lower_pages(host, &p, bake, layers_per_page)) {
        result = pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %.0f frames", total);
        goto done;
    }
    bake->height = p.most_used;
    uint64_t layers = (uint64_t)p.count * layers_per_page;
    if (layers > max_layers) {
        result = pelt_fail(host, PELT_ERROR_RANGE, NULL, "",
                           "%.0f frames of %u joints need %llu layers of %u x %u texels, which is "
                           "more than %u",
                           total, bake->joint_count, (unsigned long long)layers, max_size, max_size,
                           max_layers);
        goto done;
    }
    bake->layer_count = (uint32_t)layers;
done:
    pelt_release(host, p.used);
    return result;
}
