/* The layouts, each as packing and decoding in one. Weights that are exact fractions in a shader's
 * floats are exact here too; elsewhere double precision stands for the shader's, whose own rounding
 * is a thousandth of the least step. */
#include "study/weights.h"

#include "pack/codec.h"
#include "pack/influences.h"

#include <math.h>

/* pelt's own code, and its bits. */
static void round_pelt(const double given[4], double decoded[4])
{
    pelt_influence list[4];
    uint32_t count = 0, codes[4] = { 0 };
    for (; count < 4 && given[count] > 0.0; count++) {
        list[count] = (pelt_influence){ .weight = given[count], .joint = count };
    }
    pelt_round_influences(list, count, codes);
    uint32_t word = encode_first_weights(codes[1] / 16, codes[2] / 16, codes[3] / 16);
    decoded[1] = decode_fraction(topped(word & 0x7ff, 11), FIRST_DIGITS);
    decoded[2] = decode_fraction((word >> 11) & 0x7ff, FIRST_DIGITS);
    decoded[3] = decode_fraction(topped(word >> 22, 10), FIRST_DIGITS);
    decoded[0] = 1.0 - decoded[1] - decoded[2] - decoded[3];
}

static double nearest(double weight, double steps)
{
    return floor(weight * steps + 0.5);
}

/* The nearest value over 4096 that has a code. */
static double nearest_below_top(double weight, double top)
{
    double value = nearest(weight, 4096.0);
    if (value == top - 1.0) {
        value = weight * 4096.0 < value ? top - 2.0 : top;
    }
    return value / 4096.0;
}

/* pelt's bits, but each weight rounded by itself. */
static void round_alone(const double given[4], double decoded[4])
{
    decoded[1] = nearest_below_top(given[1], W1_TOP);
    decoded[2] = nearest(given[2], 4096.0) / 4096.0;
    decoded[3] = nearest_below_top(given[3], W3_TOP);
    decoded[0] = 1.0 - decoded[1] - decoded[2] - decoded[3];
}

/* The seed: a first weight of exactly 1 has no code and loses a step to the fourth. */
static void round_seed(const double given[4], double decoded[4])
{
    static const double steps[3] = { 2048.0, 2048.0, 1024.0 };
    decoded[3] = 1.0;
    for (int i = 0; i < 3; i++) {
        decoded[i] = fmin(nearest(given[i], steps[i]), steps[i] - 1.0) / steps[i];
        decoded[3] -= decoded[i];
    }
}

static void round_each(const double given[4], double steps, double decoded[4])
{
    for (int i = 0; i < 4; i++) {
        decoded[i] = nearest(given[i], steps) / steps;
    }
}

static void divide_by_sum(double decoded[4])
{
    double sum = decoded[0] + decoded[1] + decoded[2] + decoded[3];
    for (int i = 0; i < 4; i++) {
        decoded[i] /= sum;
    }
}

/* The largest takes what the others leave. */
static void round_to_sum(const double given[4], double steps, double decoded[4])
{
    int largest = 0;
    double rest = steps;
    for (int i = 0; i < 4; i++) {
        decoded[i] = nearest(given[i], steps);
        largest = decoded[i] > decoded[largest] ? i : largest;
        rest -= decoded[i];
    }
    decoded[largest] += rest;
    for (int i = 0; i < 4; i++) {
        decoded[i] /= steps;
    }
}

static void round_unorm8(const double given[4], double decoded[4])
{
    round_each(given, 255.0, decoded);
}

static void round_unorm8_divided(const double given[4], double decoded[4])
{
    round_each(given, 255.0, decoded);
    divide_by_sum(decoded);
}

static void round_unorm8_summed(const double given[4], double decoded[4])
{
    round_to_sum(given, 255.0, decoded);
}

static void round_unorm16(const double given[4], double decoded[4])
{
    round_each(given, 65535.0, decoded);
}

static void round_unorm16_divided(const double given[4], double decoded[4])
{
    round_each(given, 65535.0, decoded);
    divide_by_sum(decoded);
}

static void round_unorm16_summed(const double given[4], double decoded[4])
{
    round_to_sum(given, 65535.0, decoded);
}

const pelt_weight_layout pelt_weight_layouts[PELT_WEIGHT_LAYOUT_COUNT] = {
    { "pelt", "11, 11, 10 bits over 4096, sorted, the largest implied; rounded together", 4, true,
      round_pelt },
    { "pelt-alone", "the same bits, each weight rounded by itself", 4, true, round_alone },
    { "seed", "11, 11, 10 bits over 2048, 2048, 1024 in the file's order, the fourth implied", 4,
      false, round_seed },
    { "seed-sorted", "the same by falling weight", 4, true, round_seed },
    { "unorm8", "four of 8 bits, used as they are", 4, false, round_unorm8 },
    { "unorm8-divided", "divided by their sum in the shader", 4, false, round_unorm8_divided },
    { "unorm8-summed", "made to sum to 255 when packed, by the largest", 4, false,
      round_unorm8_summed },
    { "unorm16", "four of 16 bits, used as they are", 8, false, round_unorm16 },
    { "unorm16-divided", "divided by their sum in the shader", 8, false, round_unorm16_divided },
    { "unorm16-summed", "made to sum to 65535 when packed, by the largest", 8, false,
      round_unorm16_summed },
};

/* Stable: equal weights as they stand. */
static void sort_falling(const double given[4], int order[4])
{
    for (int i = 0; i < 4; i++) {
        int to = i;
        for (; to > 0 && given[order[to - 1]] < given[i]; to--) {
            order[to] = order[to - 1];
        }
        order[to] = i;
    }
}

void pelt_weight_layout_apply(const pelt_weight_layout *layout, const double given[4],
                              double decoded[4])
{
    if (!layout->sorted) {
        layout->round(given, decoded);
        return;
    }
    int order[4];
    double sorted[4], rounded[4];
    sort_falling(given, order);
    for (int i = 0; i < 4; i++) {
        sorted[i] = given[order[i]];
    }
    layout->round(sorted, rounded);
    for (int i = 0; i < 4; i++) {
        decoded[order[i]] = rounded[i];
    }
}

void pelt_weight_errors_add(pelt_weight_errors *errors, const double given[4],
                            const double decoded[4])
{
    double largest = 0.0, sum = 0.0;
    int used = 0;
    bool leaks = false, negative = false;
    for (int i = 0; i < 4; i++) {
        largest = fmax(largest, fabs(decoded[i] - given[i]));
        sum += decoded[i];
        used += given[i] > 0.0;
        leaks = leaks || (given[i] == 0.0 && decoded[i] != 0.0);
        negative = negative || decoded[i] < 0.0;
        errors->least = fmin(errors->least, decoded[i]);
    }
    errors->vertices++;
    errors->counts[used > 0 ? used - 1 : 0]++;
    errors->leaks[used > 0 ? used - 1 : 0] += leaks;
    errors->negative += negative;
    errors->worst = fmax(errors->worst, largest);
    errors->total += largest;
    errors->sum_error = fmax(errors->sum_error, fabs(sum - 1.0));
    /* Less is the rounding of double precision. */
    if (largest < 0x1p-40) {
        errors->exact++;
        return;
    }
    double octaves = log2(largest * 4096.0) - PELT_WEIGHT_FIRST_OCTAVE;
    double bin =
        fmin(fmax(floor(octaves * PELT_WEIGHT_BINS_AN_OCTAVE), 0.0), PELT_WEIGHT_BINS - 1.0);
    errors->bins[(int)bin]++;
}
