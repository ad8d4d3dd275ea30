#include "base/base.h"

#include <pelt/model.h>

/* Corners in drawing order: the indices, or the vertices themselves. */
static uint32_t corner_count(const pelt_primitive *primitive)
{
    return primitive->index_count ? primitive->index_count : primitive->vertex_count;
}

static uint32_t corner(const pelt_primitive *primitive, uint32_t i)
{
    return primitive->index_count ? primitive->indices[i] : i;
}

uint32_t pelt_primitive_triangle_count(const pelt_primitive *primitive)
{
    uint32_t corners = corner_count(primitive);
    switch (primitive->topology) {
    case PELT_TRIANGLES:
        return corners / 3;
    case PELT_TRIANGLE_STRIP:
    case PELT_TRIANGLE_FAN:
        return corners < 3 ? 0 : corners - 2;
    case PELT_POINTS:
    case PELT_LINES:
    case PELT_LINE_LOOP:
    case PELT_LINE_STRIP:
        break;
    }
    return 0;
}

/* glTF 2.0, 3.7.2.1: triangle i of a list is v(3i) v(3i+1) v(3i+2); of a strip
 * v(i) v(i + 1 + i%2) v(i + 2 - i%2); of a fan v(i+1) v(i+2) v(0). */
void pelt_primitive_triangles(const pelt_primitive *primitive, uint32_t *indices)
{
    uint32_t count = pelt_primitive_triangle_count(primitive);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *out = indices + 3 * (size_t)i;
        if (primitive->topology == PELT_TRIANGLES) {
            out[0] = corner(primitive, 3 * i);
            out[1] = corner(primitive, 3 * i + 1);
            out[2] = corner(primitive, 3 * i + 2);
        } else if (primitive->topology == PELT_TRIANGLE_STRIP) {
            out[0] = corner(primitive, i);
            out[1] = corner(primitive, i + 1 + i % 2);
            out[2] = corner(primitive, i + 2 - i % 2);
        } else {
            out[0] = corner(primitive, i + 1);
            out[1] = corner(primitive, i + 2);
            out[2] = corner(primitive, 0);
        }
    }
}
