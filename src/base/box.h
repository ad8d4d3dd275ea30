/* Boxes that grow. Start at PELT_BOX_EMPTY. */
#ifndef PELT_SRC_BASE_BOX_H
#define PELT_SRC_BASE_BOX_H

#include <pelt/base.h>

static inline bool box_is_empty(const pelt_box *box)
{
    return box->min[0] > box->max[0];
}

static inline void box_add(pelt_box *box, const float point[3])
{
    for (int i = 0; i < 3; i++) {
        box->min[i] = point[i] < box->min[i] ? point[i] : box->min[i];
        box->max[i] = point[i] > box->max[i] ? point[i] : box->max[i];
    }
}

static inline void box_unite(pelt_box *box, const pelt_box *other)
{
    for (int i = 0; i < 3; i++) {
        box->min[i] = other->min[i] < box->min[i] ? other->min[i] : box->min[i];
        box->max[i] = other->max[i] > box->max[i] ? other->max[i] : box->max[i];
    }
}

static inline bool box_contains(const pelt_box *outer, const pelt_box *inner)
{
    bool holds = true;
    for (int i = 0; i < 3; i++) {
        holds = holds && outer->min[i] <= inner->min[i] && outer->max[i] >= inner->max[i];
    }
    return holds;
}

#endif
