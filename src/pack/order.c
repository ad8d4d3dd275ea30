/* The order of packed vertices where the caller has no wish: by influences, within short runs. */
#include "pack/order.h"

/* What rounds to a weight of 0 in the first set is no influence. */
static const float least_weight = 0.5f / 4096.0f;

/* Runs are as long as a vertex buffer's pages, so vertices that a triangle uses stay as close as
 * memory can tell. */
enum { RUN = 1024, MOST = 16 };

static uint32_t influences_of(const pelt_primitive *primitive, uint32_t vertex)
{
    const float *weights = primitive->weights + (size_t)vertex * primitive->influence_count;
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < primitive->influence_count && count < MOST; slot++) {
        count += weights[slot] > least_weight;
    }
    return count;
}

/* A counting sort, which keeps the order of equals. */
static void order_run(const pelt_primitive *primitive, uint32_t first, uint32_t end,
                      uint32_t *order)
{
    uint32_t starts[MOST + 2] = { 0 };
    for (uint32_t vertex = first; vertex < end; vertex++) {
        starts[influences_of(primitive, vertex) + 1]++;
    }
    starts[0] = first;
    for (uint32_t i = 1; i <= MOST; i++) {
        starts[i] += starts[i - 1];
    }
    for (uint32_t vertex = first; vertex < end; vertex++) {
        order[starts[influences_of(primitive, vertex)]++] = vertex;
    }
}

void pelt_order_by_influences(const pelt_primitive *primitive, uint32_t *order)
{
    uint32_t count = primitive->vertex_count;
    for (uint32_t first = 0; first < count;) {
        uint32_t end = count - first < RUN ? count : first + RUN;
        order_run(primitive, first, end, order);
        first = end;
    }
}
