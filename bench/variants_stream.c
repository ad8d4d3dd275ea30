/* The floor: what pelt reads and writes of a vertex, without arithmetic. */
#include "bench/internal.h"

enum { LANE_BITS_MAX = 6 }; /* as many as a group has */

static uint32_t chunks_of(const pelt_packed_mesh *mesh, uint32_t chunk_vertices)
{
    return (mesh->vertex_count - 1) / chunk_vertices + 1;
}

typedef struct chunk_writer {
    const pelt_bench_data *data;
    uint32_t vertices; /* a chunk */
} chunk_writer;

/* Chunks of whole units. */
static void write_chunks(const void *user, uint32_t first, uint32_t count, void *out)
{
    const chunk_writer *writer = user;
    const pelt_bench_unit *unit = writer->data->unit;
    struct bench_chunk *to = out;
    for (uint32_t i = first; i < first + count; i++) {
        for (uint32_t m = 0; m < unit->mesh_count; m++) {
            uint32_t chunks = chunks_of(unit->meshes[m].packed, writer->vertices);
            for (uint32_t c = 0; c < chunks; c++) {
                *to++ = (struct bench_chunk){ .mesh = i * unit->mesh_count + m,
                                              .first_vertex = c * writer->vertices };
            }
        }
    }
}

pelt_result pelt_bench_chunks(const pelt_bench_data *data, uint32_t vertices, uint32_t *count,
                              pelt_buffer *out)
{
    uint32_t a_unit = 0;
    for (uint32_t m = 0; m < data->unit->mesh_count; m++) {
        a_unit += chunks_of(data->unit->meshes[m].packed, vertices);
    }
    *count = data->instances * a_unit;
    const chunk_writer writer = { data, vertices };
    return pelt_bench_upload(data->bench, data->instances,
                             a_unit * (uint32_t)sizeof(struct bench_chunk), write_chunks, &writer,
                             out);
}

/* Chunks are one, two or eight rounds of as many invocations as the mesh can use, or fewer. */
pelt_result pelt_bench_stream_tables(pelt_bench_data *data)
{
    static const uint32_t rounds[BENCH_STREAM_SHAPES] = { 1, 2, 8 };
    const pelt_bench_unit *unit = data->unit;
    uint32_t mean = unit->vertex_count / unit->mesh_count;
    uint32_t most_bits = 0;
    while (most_bits < LANE_BITS_MAX && 1u << most_bits < mean) {
        most_bits++;
    }
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < BENCH_STREAM_SHAPES; i++) {
        pelt_bench_shape *shape = &data->shapes[i];
        uint32_t fewer = mean > 1u << LANE_BITS_MAX ? 0 : i; /* small meshes: fewer lanes instead */
        shape->lane_bits = most_bits > fewer ? most_bits - fewer : 0;
        shape->vertices = rounds[i] << (most_bits < LANE_BITS_MAX ? most_bits : LANE_BITS_MAX);
        result = pelt_bench_chunks(data, shape->vertices, &shape->chunk_count, &shape->chunks);
        data->shape_count++;
    }
    return result;
}

void pelt_bench_record_stream(const pelt_bench_data *data, VkCommandBuffer commands)
{
    const pelt_bench_shape *shape = &data->shapes[data->shape];
    const struct bench_stream_constants constants = {
        .meshes = data->meshes.address,
        .chunks = shape->chunks.address,
        .vertices = data->vertices.address,
        .tangents = data->tangents.address,
        .weights = data->weights.address,
        .joints = data->joints.address,
        .out_vertices = data->out_vertices.address,
        .out_tangents = data->out_tangents.address,
        .chunk_count = shape->chunk_count,
        .chunk_vertices = shape->vertices,
        .lane_bits = shape->lane_bits,
    };
    uint64_t threads = (uint64_t)shape->chunk_count << shape->lane_bits;
    pelt_bench_dispatch(data->bench, commands, BENCH_STREAM, &constants, sizeof(constants),
                        (uint32_t)((threads + BENCH_GROUP - 1) / BENCH_GROUP));
}
