/* What pelt info prints of clusters, in a file of its own. */
#ifndef PELT_CLI_INFO_H
#define PELT_CLI_INFO_H

#include "cli/cut.h"
#include "cli/report.h"

void pelt_info_print_clusters(const pelt_character *character,
                              const pelt_character_clusters *clusters);
void pelt_info_json_clusters(pelt_json *json, const pelt_character *character,
                             const pelt_character_clusters *clusters);

#endif
