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

/* In units of 2^-12, with x_i the weight, c_i its code and e_i = c_i - x_i: the implied weight is
 * off by -E, E = e_1 + e_2 + e_3 + (that of further sets, |.| <= 1/32). Each c_i is first the
 * nearest code, then one of them is moved by one the other way if that makes the worst error
 * smaller. Without a clamped code nothing is off by more than 3/4 (+ 1/32): for E > 0 the largest
 * e_i is >= E/3, so the worse of keeping (E) and moving (1 - e_i) can be had for
 * min(E, 1 - E/3) <= 3/4; E < 0 likewise.
 *
 * A code is clamped only where the layout is one short. x_1 = 2048 - t, 0 <= t <= 1/2: then
 * x_0 >= x_1 leaves x_2 + x_3 + ... <= 2t. e_1 = t - 1; let r = -(e_2 + e_3) <= 2t. Kept:
 * -E = 1 - t + r, at most 1 if r <= t. Moved, if r > t: 1 - r/2 < 1 and -E = r - t <= 1/2.
 * x_3 = 1024 - t: x_0 + x_1 + x_2 <= 3072 + t, so x_1 + x_2 <= 2048 + 2t/3; c_1 = c_2 = 1024 or
 * above, -E <= 1 - t + 2t/3 <= 1. So no influence is off by more than 1 x 2^-12 (33/32 with further
 * sets), and by that much only at ties. Every move makes the worst error smaller, so moves end.
 *
 * Nor does the implied weight, x_0 - E, become negative, however many influences there are: where a
 * c_i is 1, its x_i = 1 - e_i is less than E if x_0 is, so that it moves; where it is more,
 * x_0 >= 3/2; and where all are 0, E is that of the further sets, which are at most 1 together.
 */
void pelt_round_influences(const pelt_influence *list, uint32_t count, uint32_t *codes)
{
    static const uint32_t limits[4] = { 0, W1_MAX, W2_MAX, W3_MAX };
    enum { UNIT = 1 << (FURTHER_DIGITS - FIRST_DIGITS), ONE = 1 << FURTHER_DIGITS };

    double exact, errors[4] = { 0 };
    uint32_t further = round_further(list, count, codes, &exact);
    uint32_t first[4] = { 0 }, used = count < 4 ? count : 4;
    double error = (further - exact) / UNIT;
    for (uint32_t i = 1; i < used; i++) {
        double x = list[i].weight * (1 << FIRST_DIGITS);
        uint32_t nearest = (uint32_t)(x + 0.5);
        first[i] = nearest < limits[i] ? nearest : limits[i];
        errors[i] = first[i] - x;
        error += errors[i];
    }

    /* Among equal errors the first goes up and the last goes down, which keeps codes sorted. */
    for (;;) {
        bool down = error > 0.0;
        uint32_t best = 0;
        for (uint32_t i = 1; i < used; i++) {
            if (down ? first[i] > 0 && (!best || errors[i] >= errors[best])
                     : first[i] < limits[i] && (!best || errors[i] < errors[best])) {
                best = i;
            }
        }
        int32_t step = down ? -1 : 1;
        if (!best || !(1.0 + step * errors[best] < fabs(error))) {
            break;
        }
        first[best] += (uint32_t)step;
        errors[best] += step;
        error += step;
    }

    codes[0] = ONE - further;
    for (uint32_t i = 1; i < used; i++) {
        codes[i] = first[i] * UNIT;
        codes[0] -= codes[i];
    }
}
