/* The two halves of the crossover's page. */
#ifndef PELT_STUDY_CROSSOVER_PAGE_H
#define PELT_STUDY_CROSSOVER_PAGE_H

#include "plot/page.h"
#include "study/crossover.h"

#define CROSSOVER_EXACT "#0b7a4b"
#define CROSSOVER_JOINT "#4a50a8"

enum { CROSSOVER_PAGE_WIDTH = 1010, CROSSOVER_PAGE_LEFT = 24 };

/* Each takes so much of the page, from a top on. */
double pelt_looseness_plot_height(uint32_t count);
void pelt_looseness_put(pelt_page *page, double top, const pelt_looseness *looseness,
                        uint32_t count);

#endif
