#include "cluster/measure.h"

#include <math.h>

/* What the arithmetic of a distance is off by at most, of the largest coordinate. */
#define ROUNDING 0x1p-48

/* A coordinate of the middle of three vertices; exactly a vertex's where they are the same. */
static double middle(const float *space, size_t dimensions, const uint32_t corners[3], size_t axis)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        sum += (double)space[dimensions * corners[k] + axis];
    }
    return sum / 3.0;
}

pelt_result pelt_distance_init(surface_distance *distance, const pose_set *poses,
                               const triangle_list *surface, const triangle_tree *tree,
                               const triangle_list *points)
{
    triangle_tree *own = NULL;
    *distance = (surface_distance){ .host = poses->host, .surface = surface, .points = points };
    distance->nearest =
        pelt_allocate(poses->host, points->count, NEAREST_COUNT * sizeof(*distance->nearest));
    if (!distance->nearest) {
        return pelt_fail(poses->host, PELT_ERROR_MEMORY, NULL, NULL,
                         "no memory to compare %u points with a surface", points->count);
    }
    if (!tree) {
        pelt_result result = pelt_tree_create(poses->host, surface, poses->space, &own);
        if (result) {
            return result;
        }
        tree = own;
    }
    for (size_t i = 0; i < points->count; i++) {
        float point[SPACE];
        for (size_t axis = 0; axis < SPACE; axis++) {
            point[axis] = (float)middle(poses->space, SPACE, points->corners + 3 * i, axis);
        }
        pelt_tree_nearest(tree, point, distance->nearest + NEAREST_COUNT * i);
    }
    pelt_tree_destroy(own);
    return PELT_OK;
}

void pelt_distance_finish(surface_distance *distance)
{
    pelt_release(distance->host, distance->nearest);
}

void pelt_distance_grow(surface_distance *distance, const float *positions)
{
    double worst = 0.0, largest = 0.0;
    for (size_t i = 0; i < distance->points->count; i++) {
        double point[3], least = INFINITY;
        for (size_t axis = 0; axis < 3; axis++) {
            point[axis] = middle(positions, 3, distance->points->corners + 3 * i, axis);
            largest = fmax(largest, fabs(point[axis]));
        }
        for (size_t n = 0; n < NEAREST_COUNT; n++) {
            size_t triangle = distance->nearest[NEAREST_COUNT * i + n];
            const uint32_t *vertices = distance->surface->corners + 3 * triangle;
            const float *corners[3];
            for (int k = 0; k < 3; k++) {
                corners[k] = positions + 3 * (size_t)vertices[k];
            }
            least = fmin(least, pelt_triangle_distance(point, corners));
        }
        worst = fmax(worst, least);
    }
    worst = sqrt(worst);
    distance->worst = fmax(distance->worst, worst + ROUNDING * (worst + largest));
}
