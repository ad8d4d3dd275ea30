/* The colour of one sample of a limb. Colours are linear light, three floats. */
#ifndef PELT_STUDY_SQUASH_COLOURS_H
#define PELT_STUDY_SQUASH_COLOURS_H

#include "study/squash_view.h"

/* Under studio lights; reversed: normals are turned round. normals: of every vertex. */
void squash_shade(const squash_view *view, const squash_sample *sample, const double *normals,
                  bool reversed, double out[3]);

/* By the angle between normals and truth, on a surface that is shaded a little. Stripes where a
 * normal points against the truth; x and y: the place on the tile. */
void squash_heat(const pelt_squash_limb *limb, const squash_view *view, const squash_sample *sample,
                 const double *normals, bool reversed, double x, double y, double out[3]);

/* By the second joint's weight. */
void squash_weight_colour(const pelt_squash_limb *limb, const squash_view *view,
                          const squash_sample *sample, double out[3]);

/* What the legends show: the place of an angle on the scale, 0 to 1, and the colours there. */
double squash_heat_place(double degrees);
void squash_heat_ramp(double place, double out[3]);
void squash_weight_ramp(double weight, double out[3]);

void squash_linear(uint32_t colour, double out[3]);
uint32_t squash_srgb(const double linear[3]);

#endif
