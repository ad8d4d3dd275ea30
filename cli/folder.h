/* Folders that commands write several files into. */
#ifndef PELT_CLI_FOLDER_H
#define PELT_CLI_FOLDER_H

#include "cli/report.h"

/* Makes a folder, if it is not there. Errors: PELT_ERROR_IO, reported. */
pelt_result pelt_make_folder(const pelt_report *report, const char *path);

/* "FOLDER/NAME", the caller's to release; NULL without memory, which is reported. */
char *pelt_path_in(const pelt_report *report, const char *folder, const char *name);

#endif
