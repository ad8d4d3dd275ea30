/* Bytes that a form requests for each vertex, stream by stream, computed from what it reads. */
#include "bench/internal.h"

enum { INFLUENCES = 4 };

typedef float float3[3];
typedef float float4[4];
typedef uint32_t uint4[4];
typedef float float3x4[3][4];
typedef float float4x4[4][4];
typedef uint32_t packed_word; /* a direction; four weights; four 8-bit joints */

const pelt_bench_stream_bytes pelt_bench_streams[PELT_BENCH_STREAM_COUNT] = {
    { "position", sizeof(float3), sizeof(float3), sizeof(((pelt_packed_vertex *)0)->position) },
    { "normal", sizeof(packed_word), sizeof(packed_word),
      sizeof(((pelt_packed_vertex *)0)->normal) },
    { "tangent", sizeof(packed_word), sizeof(packed_word), sizeof(packed_word) },
    { "weights", sizeof(float4), sizeof(packed_word), sizeof(packed_word) },
    { "joints", sizeof(uint4), sizeof(packed_word), sizeof(packed_word) },
    { "skin matrices", INFLUENCES * sizeof(float4x4), INFLUENCES * sizeof(float3x4),
      INFLUENCES * sizeof(float3x4) },
    { "normal matrices", INFLUENCES * sizeof(float4x4), 0, 0 },
};

enum { MEMORY_STREAMS = 5 }; /* the first ones; the rest are matrices */

static void print_row(FILE *stream, const char *name, const uint32_t bytes[3])
{
    (void)fprintf(stream, "%-18s", name);
    for (int i = 0; i < 3; i++) {
        (void)(bytes[i] > 0 ? fprintf(stream, "%10u", bytes[i]) : fprintf(stream, "%10s", "-"));
    }
    (void)fprintf(stream, "\n");
}

void pelt_bench_print_bytes(FILE *stream)
{
    uint32_t sums[3] = { 0 };
    (void)fprintf(stream, "Bytes requested for each vertex of four influences\n\n");
    (void)fprintf(stream, "%-18s%10s%10s%10s\n", "", "atomics", "seed", "pelt");
    for (int i = 0; i < PELT_BENCH_STREAM_COUNT; i++) {
        const pelt_bench_stream_bytes *row = &pelt_bench_streams[i];
        const uint32_t bytes[3] = { row->atomics, row->seed, row->pelt };
        if (i == MEMORY_STREAMS) {
            print_row(stream, "streams", sums);
        }
        print_row(stream, row->name, bytes);
        for (int k = 0; k < 3; k++) {
            sums[k] += bytes[k];
        }
    }
    print_row(stream, "all", sums);
    const uint32_t written[3] = { sizeof(float3) + 2 * sizeof(packed_word),
                                  sizeof(float3) + 2 * sizeof(packed_word),
                                  sizeof(pelt_packed_vertex) + sizeof(packed_word) };
    print_row(stream, "written", written);
    (void)fprintf(stream,
                  "\nMatrices of neighbouring vertices are mostly the same and come from caches;\n"
                  "the streams and what is written are what memory has to carry.\n");
}
