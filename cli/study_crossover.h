/* What pelt study crossover found, as text and as JSON. */
#ifndef PELT_CLI_STUDY_CROSSOVER_H
#define PELT_CLI_STUDY_CROSSOVER_H

#include "cli/report.h"
#include "study/crossover.h"

typedef struct pelt_crossover_report {
    bool measured; /* there is a map, of a device */
    char device[384];
    bool is_software;
    uint32_t rounds, poses_a_clip;
    pelt_crossover_map map;
    uint32_t count;
    pelt_looseness *looseness;
} pelt_crossover_report;

void pelt_crossover_report_print(const pelt_report *report, const pelt_crossover_report *crossover);
void pelt_crossover_report_write(const pelt_report *report, const pelt_crossover_report *crossover);

#endif
