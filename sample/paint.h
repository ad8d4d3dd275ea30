/* Colours of the fur. */
#ifndef PELT_SAMPLE_PAINT_H
#define PELT_SAMPLE_PAINT_H

#include "sample/shape.h"

/* Linear RGB of a colour given as 0xrrggbb in sRGB. */
vec3 pelt_sample_color(uint32_t srgb);

/* Linear RGB of the body at a point of its surface. */
vec3 pelt_sample_paint(const fox_shape *shape, vec3 point, vec3 normal);

#endif
