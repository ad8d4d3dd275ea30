/* Eyes, brows and mouth: small closed parts of their own, rigid with the head. */
#ifndef PELT_SAMPLE_FACE_H
#define PELT_SAMPLE_FACE_H

#include "sample/shape.h"

typedef struct fox_face {
    const pelt_host *host;
    uint32_t part_count; /* closed surfaces, each a sphere in topology */
    uint32_t vertex_count;
    vec3 *positions;
    vec3 *normals;
    vec3 *colors;
    uint32_t index_count;
    uint32_t *indices;
} fox_face;

/* As fine as suits a model of vertex_count vertices. */
pelt_result pelt_sample_face_create(const pelt_host *host, const fox_shape *shape,
                                    uint32_t vertex_count, fox_face *out);
void pelt_sample_face_destroy(fox_face *face);

#endif
