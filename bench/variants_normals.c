/* Five ways of turning normals, all in the frame of pelt's pass: normals.comp. */
#include "bench/internal.h"

#include <math.h>
#include <string.h>

#define HALF_MAX 65504.0

enum { CHUNK_VERTICES = 1024, ROW = 4, MATRIX = 3 * ROW };

/* To the nearest, ties to even; beyond the largest, the largest. */
static uint16_t half_from_double(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double magnitude = fmin(fabs(value), HALF_MAX);
    int exponent = 0;
    (void)frexp(magnitude, &exponent);
    if (exponent < -13 || magnitude == 0.0) {
        exponent = -13; /* where steps stay those of 2^-14 */
    }
    double steps = nearbyint(ldexp(magnitude, 11 - exponent));
    /* 2048 steps carry into the exponent, 1023 and fewer are denormal: the sum does both. */
    return (uint16_t)(sign | (uint16_t)(((exponent + 13) << 10) + (int)steps));
}

static double half_to_double(uint16_t half)
{
    int exponent = half >> 10 & 31, digits = half & 1023;
    double magnitude = exponent > 0 ? ldexp(1024 + digits, exponent - 25) : ldexp(digits, -24);
    return half & 0x8000 ? -magnitude : magnitude;
}

static double cofactor_of(const float *matrix, int row, int column)
{
    const float *r = matrix + ROW * ((row + 1) % 3), *s = matrix + ROW * ((row + 2) % 3);
    int k = (column + 1) % 3, l = (column + 2) % 3;
    return (double)r[k] * (double)s[l] - (double)r[l] * (double)s[k];
}

/* The first eight as the GPU reads them, the last as it computes it. */
void pelt_bench_stored_cofactors(const float *matrix, double out[9])
{
    for (int i = 0; i < 9; i++) {
        double value = cofactor_of(matrix, i / 3, i % 3);
        out[i] = i < 8 ? half_to_double(half_from_double(value)) : value;
    }
}

/* -- palettes ------------------------------------------------------------------------------ */

/* For each instance its skin matrices, each with what append puts behind it. */
typedef struct palette_writer {
    const pelt_bench_unit *unit;
    uint32_t floats;                                 /* a joint */
    bool (*append)(const float *matrix, float *out); /* false: it does not fit */
    float *matrices;                                 /* of one instance */
    bool *all_fit;
} palette_writer;

static bool append_inverse(const float *matrix, float *out)
{
    double determinant = 0.0;
    for (int k = 0; k < 3; k++) {
        determinant += (double)matrix[k] * cofactor_of(matrix, 0, k);
    }
    for (int i = 0; i < 9; i++) {
        double value = cofactor_of(matrix, i / 3, i % 3) / determinant;
        out[ROW * (i / 3) + i % 3] = isfinite(value) ? (float)value : 0.0f;
    }
    return true;
}

/* They fit if the largest is stored as well as the format can and none is too large, as those of a
 * mesh whose positions are large integers are not. */
static bool append_cofactors(const float *matrix, float *out)
{
    uint16_t halves[8];
    double largest = 0.0;
    for (int i = 0; i < 9; i++) {
        double value = cofactor_of(matrix, i / 3, i % 3);
        largest = fmax(largest, fabs(value));
        if (i < 8) {
            halves[i] = half_from_double(value);
        }
    }
    memcpy(out, halves, sizeof(halves));
    return largest == 0.0 || (largest >= 0x1p-13 && largest <= HALF_MAX);
}

static void write_palettes(const void *user, uint32_t first, uint32_t count, void *out)
{
    const palette_writer *writer = user;
    float *to = out;
    memset(out, 0, sizeof(float) * count * writer->unit->matrix_count * writer->floats);
    for (uint32_t i = first; i < first + count; i++) {
        pelt_bench_unit_matrices(writer->unit, i, writer->matrices);
        for (uint32_t m = 0; m < writer->unit->matrix_count; m++, to += writer->floats) {
            const float *matrix = writer->matrices + MATRIX * (size_t)m;
            memcpy(to, matrix, MATRIX * sizeof(float));
            *writer->all_fit = writer->append(matrix, to + MATRIX) && *writer->all_fit;
        }
    }
}

static pelt_result create_palettes(pelt_bench_data *data, palette_writer writer, pelt_buffer *out)
{
    const pelt_host *host = data->bench->host;
    uint32_t matrices = data->unit->matrix_count;
    writer.matrices = pelt_allocate(host, matrices, MATRIX * sizeof(float));
    if (!writer.matrices) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a palette");
    }
    pelt_result result = pelt_bench_upload(data->bench, data->instances,
                                           matrices * writer.floats * (uint32_t)sizeof(float),
                                           write_palettes, &writer, out);
    pelt_release(host, writer.matrices);
    return result;
}

pelt_result pelt_bench_normals_create(pelt_bench_data *data)
{
    if (data->normal_chunk_count > 0) {
        return PELT_OK;
    }
    pelt_result result =
        pelt_bench_chunks(data, CHUNK_VERTICES, &data->normal_chunk_count, &data->normal_chunks);
    if (result == PELT_OK) {
        bool all_fit = true;
        const palette_writer inverses = {
            .unit = data->unit, .floats = 2 * MATRIX, .append = append_inverse, .all_fit = &all_fit
        };
        result = create_palettes(data, inverses, &data->inverse_palettes);
    }
    if (result == PELT_OK) {
        data->cofactors_fit = true;
        const palette_writer cofactors = { .unit = data->unit,
                                           .floats = MATRIX + ROW,
                                           .append = append_cofactors,
                                           .all_fit = &data->cofactors_fit };
        result = create_palettes(data, cofactors, &data->cofactor_palettes);
    }
    return result;
}

/* -- recording ----------------------------------------------------------------------------- */

const pelt_buffer *pelt_bench_normal_palettes(const pelt_bench_data *data, pelt_bench_family family)
{
    return family == BENCH_FAMILY_JOINT_INVERSES    ? &data->inverse_palettes
           : family == BENCH_FAMILY_JOINT_COFACTORS ? &data->cofactor_palettes
                                                    : &data->rows;
}

static void record(const pelt_bench_data *data, VkCommandBuffer commands,
                   pelt_bench_pipeline pipeline, pelt_bench_family family)
{
    const struct bench_normals_constants constants = {
        .meshes = data->meshes.address,
        .chunks = data->normal_chunks.address,
        .vertices = data->vertices.address,
        .tangents = data->tangents.address,
        .weights = data->weights.address,
        .joints = data->joints.address,
        .palettes = pelt_bench_normal_palettes(data, family)->address,
        .out_vertices = data->out_vertices.address,
        .out_tangents = data->out_tangents.address,
        .chunk_count = data->normal_chunk_count,
        .chunk_vertices = CHUNK_VERTICES,
    };
    pelt_bench_dispatch(data->bench, commands, pipeline, &constants, sizeof(constants),
                        data->normal_chunk_count);
}

void pelt_bench_record_cofactor(const pelt_bench_data *data, VkCommandBuffer commands)
{
    record(data, commands, BENCH_COFACTOR, BENCH_FAMILY_PELT);
}

void pelt_bench_record_inverse(const pelt_bench_data *data, VkCommandBuffer commands)
{
    record(data, commands, BENCH_INVERSE, BENCH_FAMILY_INVERSE);
}

void pelt_bench_record_joint_inverses(const pelt_bench_data *data, VkCommandBuffer commands)
{
    record(data, commands, BENCH_JOINT_INVERSES, BENCH_FAMILY_JOINT_INVERSES);
}

void pelt_bench_record_joint_cofactors(const pelt_bench_data *data, VkCommandBuffer commands)
{
    record(data, commands, BENCH_JOINT_COFACTORS, BENCH_FAMILY_JOINT_COFACTORS);
}

void pelt_bench_record_plain(const pelt_bench_data *data, VkCommandBuffer commands)
{
    record(data, commands, BENCH_PLAIN, BENCH_FAMILY_PLAIN);
}
