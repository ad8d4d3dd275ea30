#include "cli/folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

pelt_result pelt_make_folder(const pelt_report *report, const char *path)
{
    struct stat status;
    if (mkdir(path, 0777) == 0 || (stat(path, &status) == 0 && S_ISDIR(status.st_mode))) {
        return PELT_OK;
    }
    return pelt_fail(&report->host, PELT_ERROR_IO, path, NULL, "cannot make the folder: %s",
                     strerror(errno == EEXIST ? ENOTDIR : errno));
}

char *pelt_path_in(const pelt_report *report, const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = pelt_allocate(&report->host, size, 1);
    if (!path) {
        (void)pelt_fail(&report->host, PELT_ERROR_MEMORY, folder, NULL, "no memory for a path");
        return NULL;
    }
    (void)snprintf(path, size, "%s/%s", folder, name);
    return path;
}
