/* Triangles from the shape. */
#ifndef PELT_SAMPLE_SURFACE_H
#define PELT_SAMPLE_SURFACE_H

#include "sample/shape.h"

typedef struct fox_surface {
    const pelt_host *host;
    uint32_t vertex_count;
    vec3 *positions;
    uint32_t index_count;
    uint32_t *indices; /* triangles, counter-clockwise from outside */
} fox_surface;

/* A closed manifold with vertex_count vertices, within 2 %. */
pelt_result pelt_sample_surface_create(const pelt_host *host, const fox_shape *shape,
                                       uint32_t vertex_count, fox_surface *out);
void pelt_sample_surface_destroy(fox_surface *surface);

/* Collapses edges until vertex_count vertices are left; the surface stays a closed manifold of the
 * same genus. Stops early where every further collapse would fold it. */
pelt_result pelt_sample_surface_simplify(fox_surface *surface, uint32_t vertex_count);

#endif
