/* sample/sample.h: pelt's own character, made from nothing: a young fox on two legs.
 *
 * One primitive under one skin: positions, normals, tangents, colours, up to four influences a
 * vertex, no textures. It stands on y = 0, faces +z, is about 1.4 m tall and has two clips that
 * loop without a seam, "walk" and "wave". The same info gives the same model, bit for bit.
 */
#ifndef PELT_SAMPLE_H
#define PELT_SAMPLE_H

#include <pelt/model.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PELT_SAMPLE_VERTICES_DEFAULT = 8000,
    PELT_SAMPLE_VERTICES_MIN = 200,
    PELT_SAMPLE_VERTICES_MAX = 4000000,
    PELT_SAMPLE_JOINTS_DEFAULT = 30,
    PELT_SAMPLE_JOINTS_MAX = 4096
};

typedef struct pelt_sample_info {
    /* The result has this many within 3 %. 0: PELT_SAMPLE_VERTICES_DEFAULT. */
    uint32_t vertices;

    /* Exactly that many joints: more than the default get fingers, thumbs and finer chains, fewer
     * merge into their parents. 0: PELT_SAMPLE_JOINTS_DEFAULT. */
    uint32_t joints;
} pelt_sample_info;

/* A finished model; destroy it with pelt_model_destroy. info NULL: all defaults. Time and memory
 * are proportional to the vertices. Errors: PELT_ERROR_ARGUMENT for numbers outside the limits
 * above, PELT_ERROR_MEMORY; *out is NULL then. */
pelt_result pelt_sample_create(const pelt_host *host, const pelt_sample_info *info,
                               pelt_model **out);

#ifdef __cplusplus
}
#endif
#endif
