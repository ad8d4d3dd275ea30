#ifndef PELT_SRC_PACK_ORDER_H
#define PELT_SRC_PACK_ORDER_H

#include <pelt/pack.h>

/* Fills order (packed vertex -> the primitive's) for a primitive with influences. */
void pelt_order_by_influences(const pelt_primitive *primitive, uint32_t *order);

#endif
