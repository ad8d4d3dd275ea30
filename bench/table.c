/* Results as text. */
#include "bench/internal.h"

static double ratio(const pelt_bench_row *above, const pelt_bench_row *below)
{
    return above->measured && below->measured && below->times.median > 0.0
               ? above->times.median / below->times.median
               : 0.0;
}

pelt_bench_ratios pelt_bench_compare(const pelt_bench_result *result, uint32_t variant)
{
    const pelt_bench_row *rows = result->rows;
    return (pelt_bench_ratios){
        .of_stream = ratio(&rows[variant], &rows[BENCH_VARIANT_STREAM]),
        .than_seed = ratio(&rows[BENCH_VARIANT_SEED], &rows[variant]),
        .than_atomics = ratio(&rows[BENCH_VARIANT_ATOMICS], &rows[variant]),
    };
}

static void print_ratio(FILE *stream, double value, int width)
{
    if (value > 0.0) {
        (void)fprintf(stream, "%*.2f", width, value);
    } else {
        (void)fprintf(stream, "%*s", width, "-");
    }
}

static void print_row(FILE *stream, const pelt_bench_result *result, uint32_t variant)
{
    const pelt_bench_row *row = &result->rows[variant];
    const char *name = pelt_bench_variant(variant)->name;
    if (!row->measured) {
        if (row->reason) {
            (void)fprintf(stream, "  %-15s not measured: %s\n", name, row->reason);
        }
        return;
    }
    double median = row->times.median;
    pelt_bench_ratios ratios = pelt_bench_compare(result, variant);
    (void)fprintf(stream, "  %-15s%11.1f %+6.1f %+6.1f %%%10.3f%9.1f", name, median * 1e6,
                  100.0 * (row->times.least / median - 1.0),
                  100.0 * (row->times.most / median - 1.0), (double)result->vertices / median / 1e9,
                  (double)row->bytes / median / 1e9);
    print_ratio(stream, ratios.of_stream, 8);
    print_ratio(stream, ratios.than_seed, 8);
    print_ratio(stream, ratios.than_atomics, 9);
    (void)fprintf(stream, "  %s\n", row->checked ? "yes" : "NO");
}

void pelt_bench_print(FILE *stream, const pelt_bench_result *result)
{
    char text[160];
    pelt_bench_describe(&result->scene, text, sizeof(text));
    (void)fprintf(stream, "%s: %s", result->scene.name, text);
    if (result->scale > 1.0) {
        (void)fprintf(stream, " (divided by %.4g)", result->scale);
    }
    (void)fprintf(stream, "\n  %-15s%11s %15s%10s%9s%8s%8s%9s  %s\n", "", "", "", "vertices",
                  "bytes", "time of", "faster", "faster", "");
    (void)fprintf(stream, "  %-15s%11s %15s%10s%9s%8s%8s%9s  %s\n", "variant", "time, us",
                  "least to most", "G/s", "GB/s", "stream", "seed", "atomics", "checked");
    for (uint32_t v = 0; v < PELT_BENCH_VARIANT_COUNT; v++) {
        print_row(stream, result, v);
    }
    (void)fprintf(stream,
                  "  warm-up %.2f s, first sample %.2f x the median; last rounds %+.1f %% against "
                  "the first;\n  ",
                  result->warm_up, result->first_over_settled, 100.0 * result->drift);
    if (result->rows[BENCH_VARIANT_STREAM].measured) {
        (void)fprintf(stream, "stream by %u lane%s a chunk of %u; ", result->stream_lanes,
                      result->stream_lanes == 1 ? "" : "s", result->stream_vertices);
    }
    (void)fprintf(stream, "%u %s checked\n\n", result->vertices_checked,
                  result->vertices_checked == 1 ? "vertex" : "vertices");
}

void pelt_bench_print_legend(FILE *stream)
{
    (void)fprintf(
        stream,
        "time: median of the rounds, of one frame among many, with the barriers it needs.\n"
        "bytes: distinct ones of sources, matrices, outputs and boxes. time of stream: over that\n"
        "of stream; faster: how many times as fast as seed and as global-atomics. checked:\n"
        "positions within float rounding of pelt's (pelt's: of the CPU's), directions within 0.15\n"
        "degrees of the form's own formula in double precision, boxes bit-equal to the "
        "positions'.\n");
}
