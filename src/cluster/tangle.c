/* Whether meshoptimizer would take time quadratic in the number of triangles: it walks all
 * triangles around a vertex for each of them, and searches those of nearly the same place one by
 * one. */
#include "cluster/cluster.h"

#include <math.h>

/* Steps that take a fraction of a second. Ordinary surfaces, of some six triangles around a vertex,
 * would have to have millions of triangles for as many; these are allowed for. */
enum { STEPS_MAX = 1 << 28, STEPS_OF_A_TRIANGLE = 64 };

static uint64_t sum_of_squares(const uint32_t *counts, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (uint64_t)counts[i] * counts[i];
    }
    return sum;
}

/* Where the middle of a triangle is on a grid over the box from min, as a number. */
static uint32_t cell_of(const pelt_packed_mesh *mesh, const uint32_t corners[3],
                        const double min[3], double extent)
{
    uint32_t hash = 2166136261u;
    for (int i = 0; i < 3 && extent > 0.0; i++) {
        double sum = 0.0;
        for (int k = 0; k < 3; k++) {
            sum += mesh->vertices[corners[k]].position[i];
        }
        hash = (hash ^ (uint32_t)((sum / 3.0 - min[i]) / extent * 0x1p20)) * 0x9e3779b1u;
        hash ^= hash >> 15;
    }
    return hash;
}

pelt_result pelt_is_tangled(const pelt_host *host, const pelt_packed_mesh *mesh,
                            const triangle_list *triangles, bool *tangled)
{
    size_t corner_count = 3 * (size_t)triangles->count, cells = 1;
    while (cells < triangles->count) {
        cells *= 2;
    }
    uint32_t *around = pelt_allocate(host, mesh->vertex_count, sizeof(*around));
    uint32_t *inside = pelt_allocate(host, cells, sizeof(*inside));
    pelt_result result = PELT_OK;
    if (!around || !inside) {
        result = pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %u triangles",
                           triangles->count);
        goto done;
    }
    double min[3] = { INFINITY, INFINITY, INFINITY }, extent = 0.0;
    for (int i = 0; i < 3; i++) {
        double max = -INFINITY;
        for (size_t c = 0; c < corner_count; c++) {
            double coordinate = mesh->vertices[triangles->corners[c]].position[i];
            min[i] = fmin(min[i], coordinate);
            max = fmax(max, coordinate);
        }
        extent = fmax(extent, max - min[i]);
    }
    for (size_t c = 0; c < corner_count; c++) {
        around[triangles->corners[c]]++;
    }
    for (size_t c = 0; c < corner_count; c += 3) {
        inside[cell_of(mesh, triangles->corners + c, min, extent) & (cells - 1)]++;
    }
    uint64_t steps = sum_of_squares(around, mesh->vertex_count) + sum_of_squares(inside, cells);
    *tangled = steps > STEPS_MAX + STEPS_OF_A_TRIANGLE * (uint64_t)triangles->count;
done:
    pelt_release(host, around);
    pelt_release(host, inside);
    return result;
}
