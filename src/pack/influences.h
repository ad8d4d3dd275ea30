/* The influences of one vertex on their way from the primitive to the packed streams. */
#ifndef PELT_SRC_PACK_INFLUENCES_H
#define PELT_SRC_PACK_INFLUENCES_H

#include <pelt/pack.h>

typedef struct pelt_influence {
    double weight; /* of all of the vertex's weights, which are 1 together */
    uint32_t joint;
} pelt_influence;

/* Room for the influences of any vertex of one primitive. */
typedef struct pelt_gather {
    const pelt_host *host;
    const pelt_primitive *primitive; /* NULL: rigid, one influence of joint 0 */

    uint32_t count; /* of the vertex gathered last, as all that follow */
    uint32_t merged;
    pelt_influence *list; /* falling weight, > 0, every joint once */

    pelt_influence *sort_scratch;
    uint32_t *seen_by; /* joint -> vertex + 1 that named it last ... */
    uint32_t *seen_at; /* ... and where in list it stands */
} pelt_gather;

/* joint_count: largest joint index with a weight + 1. Errors: PELT_ERROR_MEMORY. */
pelt_result pelt_gather_init(pelt_gather *gather, const pelt_host *host,
                             const pelt_primitive *primitive, uint32_t joint_count);
void pelt_gather_finish(pelt_gather *gather);

/* Weights divided by their sum; joints named twice merged; sorted, equal weights as they stood. */
void pelt_gather_vertex(pelt_gather *gather, uint32_t vertex);

/* Codes of gathered influences in multiples of 2^-16; the first, which is not stored, included.
 * Their sum is 65536 exactly. */
void pelt_round_influences(const pelt_influence *list, uint32_t count, uint32_t *codes);

#endif
