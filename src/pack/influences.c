#include "pack/influences.h"

#include "base/base.h"
#include "pack/codec.h"

#include <math.h>

pelt_result pelt_gather_init(pelt_gather *gather, const pelt_host *host,
                             const pelt_primitive *primitive, uint32_t joint_count)
{
    *gather = (pelt_gather){ .host = host, .primitive = primitive };
    uint32_t capacity = primitive ? primitive->influence_count : 1;
    gather->list = pelt_allocate(host, capacity, sizeof(*gather->list));
    gather->sort_scratch = pelt_allocate(host, capacity, sizeof(*gather->sort_scratch));
    gather->seen_by = pelt_allocate(host, joint_count, sizeof(*gather->seen_by));
    gather->seen_at = pelt_allocate(host, joint_count, sizeof(*gather->seen_at));
    if (!gather->list || !gather->sort_scratch || !gather->seen_by || !gather->seen_at) {
        pelt_gather_finish(gather);
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for influences");
    }
    return PELT_OK;
}

void pelt_gather_finish(pelt_gather *gather)
{
    pelt_release(gather->host, gather->list);
    pelt_release(gather->host, gather->sort_scratch);
    pelt_release(gather->host, gather->seen_by);
    pelt_release(gather->host, gather->seen_at);
    *gather = (pelt_gather){ 0 };
}

/* Stable: runs of a few by insertion, then merged, so that a vertex of hundreds of influences costs
 * no more than n log n and one of four costs next to nothing. */
static void sort_falling(pelt_influence *list, pelt_influence *scratch, uint32_t count)
{
    enum { RUN = 16 };
    for (uint32_t first = 0; first < count; first += RUN) {
        uint32_t end = count - first < RUN ? count : first + RUN;
        for (uint32_t i = first + 1; i < end; i++) {
            pelt_influence moving = list[i];
            uint32_t to = i;
            for (; to > first && list[to - 1].weight < moving.weight; to--) {
                list[to] = list[to - 1];
            }
            list[to] = moving;
        }
    }
    for (uint32_t width = RUN; width < count; width *= 2) {
        uint32_t out = 0;
        for (uint32_t first = 0; first < count; first += 2 * width) {
            uint32_t middle = count - first < width ? count : first + width;
            uint32_t end = count - middle < width ? count : middle + width;
            for (uint32_t a = first, b = middle; a < middle || b < end;) {
                bool second = a == middle || (b < end && list[b].weight > list[a].weight);
                scratch[out++] = list[second ? b++ : a++];
            }
        }
        memcpy(list, scratch, count * sizeof(*list));
    }
}

void pelt_gather_vertex(pelt_gather *gather, uint32_t vertex)
{
    const pelt_primitive *primitive = gather->primitive;
    gather->merged = 0;
    if (!primitive) {
        gather->count = 1;
        gather->list[0] = (pelt_influence){ .weight = 1.0, .joint = 0 };
        return;
    }
    uint32_t slots = primitive->influence_count, count = 0;
    const float *weights = primitive->weights + (size_t)vertex * slots;
    const uint16_t *joints = primitive->joints + (size_t)vertex * slots;
    double sum = 0.0;
    for (uint32_t slot = 0; slot < slots; slot++) {
        if (!(weights[slot] > 0.0f)) {
            continue;
        }
        uint32_t joint = joints[slot];
        sum += weights[slot];
        if (gather->seen_by[joint] == vertex + 1) {
            gather->list[gather->seen_at[joint]].weight += weights[slot];
            gather->merged++;
            continue;
        }
        gather->seen_by[joint] = vertex + 1;
        gather->seen_at[joint] = count;
        gather->list[count++] = (pelt_influence){ .weight = weights[slot], .joint = joint };
    }
    for (uint32_t i = 0; i < count; i++) {
        gather->list[i].weight /= sum;
    }
    sort_falling(gather->list, gather->sort_scratch, count);
    gather->count = count;
}

/* Influences behind the first four: the running sum is rounded, not each weight, so that each is
 * off by less than 2^-16 and all together by at most 2^-17, however many there are. Returns their
 * sum and the exact one. */
static uint32_t round_further(const pelt_influence *list, uint32_t count, uint32_t *codes,
                              double *exact)
{
    uint32_t before = 0;
    *exact = 0.0;
    for (uint32_t i = 4; i < count; i++) {
        *exact += list[i].weight * (1 << FURTHER_DIGITS);
        uint32_t now = (uint32_t)(*exact + 0.5);
        codes[i] = now - before;
        before = now;
    }
    return before;
}

/* The values with a code next to x, in units of 2^-12: the same one twice if x has a code. top:
 * what the field's largest code stands for, one above which the value just below it has no code. */
static void find_neighbours(double x, uint32_t top, uint32_t values[2])
{
    uint32_t floor = (uint32_t)x < top ? (uint32_t)x : top;
    values[0] = floor == top - 1 ? top - 2 : floor;
    if (values[0] == top || values[0] == x) {
        values[1] = values[0];
    } else {
        values[1] = values[0] == top - 2 ? top : values[0] + 1;
    }
}

/* In units of 2^-12, with x_i the weight, c_i what its code stands for and e_i = c_i - x_i, the
 * implied weight is off by -E, E = e_1 + e_2 + e_3 + (that of further sets, |.| <= 1/32). Of the at
 * most eight ways to take each c_i below or above x_i, the one whose worst error is smallest.
 *
 * How small that is. Take each nearest value first. If the largest |E| then is too much, move the
 * code whose error has E's sign and is largest, at least |E|/3, the other way: the worse of the two
 * can be had for min(|E|, 1 - |E|/3) <= 3/4. That is without the values that have no code.
 * x_1 = 2047 + s, |s| < 1: from x_0 >= x_1, x_2 + x_3 + ... <= 2 - 2s. For s >= 0 take 2048,
 * e_1 = 1 - s, the others nearest: E lies in [-s, 2 - s]. If it is above 1, e_2 or e_3 is positive;
 * the larger taken below instead is off by less than 1 and leaves E in (0, 1 - s]. For s < 0 take
 * 2046, the same with the signs changed. x_3 = 1023 + s likewise, e_1 and e_2 being free. So no
 * influence is off by more than 1 x 2^-12 there, 3/4 elsewhere (each 1/32 more with further sets).
 *
 * The implied weight x_0 - E is never negative, however many influences there are: ways that would
 * make it so are not taken, and taking all below is not one of them, for then E is at most that of
 * the further sets, half a unit of 2^-16, and x_0 >= 1/65536. */
void pelt_round_influences(const pelt_influence *list, uint32_t count, uint32_t *codes)
{
    enum { UNIT = 1 << (FURTHER_DIGITS - FIRST_DIGITS), ONE = 1 << FURTHER_DIGITS };
    static const uint32_t tops[4] = { 0, W1_TOP, W1_TOP, W3_TOP };

    double exact;
    uint32_t further = round_further(list, count, codes, &exact);
    uint32_t values[4][2] = { 0 }, ways = 1u << ((count < 4 ? count : 4) - 1);
    double x[4] = { 0 };
    for (uint32_t i = 1; i < 4 && i < count; i++) {
        x[i] = list[i].weight * (1 << FIRST_DIGITS);
        find_neighbours(x[i], tops[i], values[i]);
    }

    uint32_t best = 0;
    double best_error = INFINITY;
    for (uint32_t way = 0; way < ways; way++) {
        /* Bit i - 1: the value above x_i. The first of equal ways raises the larger weights. */
        uint32_t c1 = values[1][way & 1], c2 = values[2][way >> 1 & 1], c3 = values[3][way >> 2];
        if (UNIT * (c1 + c2 + c3) + further > ONE) {
            continue;
        }
        double e1 = c1 - x[1], e2 = c2 - x[2], e3 = c3 - x[3];
        double implied = fabs(e1 + e2 + e3 + (further - exact) / UNIT);
        double error = fmax(fmax(fabs(e1), fabs(e2)), fmax(fabs(e3), implied));
        if (error < best_error) {
            best_error = error;
            best = way;
        }
    }

    codes[0] = ONE - further;
    for (uint32_t i = 1; i < 4 && i < count; i++) {
        codes[i] = UNIT * values[i][best >> (i - 1) & 1];
        codes[0] -= codes[i];
    }
}
