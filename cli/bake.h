/* What pelt bake prints. */
#ifndef PELT_CLI_BAKE_H
#define PELT_CLI_BAKE_H

#include "cli/report.h"

#include <pelt/bake.h>

void pelt_bake_print_json(const pelt_report *report, const pelt_bake *bake, const char *file,
                          const char *output, const char *sidecar);
void pelt_bake_print_text(const pelt_bake *bake, const char *output, const char *sidecar);

#endif
