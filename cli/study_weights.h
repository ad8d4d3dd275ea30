/* What pelt study weights found, as text and as JSON. */
#ifndef PELT_CLI_STUDY_WEIGHTS_H
#define PELT_CLI_STUDY_WEIGHTS_H

#include "cli/report.h"
#include "study/weights.h"

typedef struct pelt_weight_report {
    uint32_t seed, poses_a_clip;
    uint32_t count;
    pelt_weight_study *studies; /* random ones first, then characters */
} pelt_weight_report;

void pelt_weight_report_print(const pelt_report *report, const pelt_weight_report *weights);
void pelt_weight_report_write(const pelt_report *report, const pelt_weight_report *weights);

#endif
