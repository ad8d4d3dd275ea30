/* pelt bench: what it was asked for and what it found. */
#ifndef PELT_CLI_BENCH_H
#define PELT_CLI_BENCH_H

#include "cli/options.h"

/* "bench pose", "bench crowd", "bench rays", "bench clusters" */
extern const pelt_command pelt_command_bench_pose, pelt_command_bench_crowd,
    pelt_command_bench_rays, pelt_command_bench_clusters;

#ifdef PELT_HAVE_VULKAN

#include "bench/bench.h"

#include <pelt/model.h>

/* A file's character with normals, or, if that is NULL, the built-in one. */
pelt_result pelt_bench_open_character(pelt_report *report, const char *file, uint32_t vertices,
                                      pelt_model **out);

/* What 'bench pose' and the like do after they know their options. The functions are given what
 * they were asked for and what they find, in user. */
typedef struct pelt_bench_job {
    const char *output; /* a file for the JSON, or NULL */
    bool json;          /* on stdout, instead of text */
    void *user;
    char *device; /* out: its name, of PELT_BENCH_DEVICE_SIZE bytes */
    pelt_result (*measure)(pelt_report *report, pelt_headless *device, pelt_bench *bench,
                           void *user);
    void (*write_json)(const pelt_report *report, const void *user, FILE *stream);
    void (*print_text)(const pelt_report *report, const void *user);
    bool (*all_checked)(const void *user); /* else the result is PELT_ERROR_FILE */
} pelt_bench_job;

#define PELT_BENCH_DEVICE_SIZE 384

/* Opens the output, so that it cannot fail in the end, then the device; measures; writes. */
pelt_result pelt_bench_run_job(pelt_report *report, const pelt_bench_job *job);

/* For settings: user is the report. */
void pelt_bench_on_progress(void *user, const char *scene, const char *what);

/* Statistics in seconds, as members of an object, and as an object of their own. */
void pelt_bench_write_statistics(pelt_json *json, const pelt_bench_times *times);
void pelt_bench_write_times(pelt_json *json, const char *name, const pelt_bench_times *times);

typedef struct pelt_bench_report {
    char device[384];
    uint32_t subgroup_size;
    bool is_software;
    pelt_bench_copy copy;
    uint32_t rounds;
    uint32_t result_count;
    pelt_bench_result *results;
} pelt_bench_report;

/* Everything as a JSON object. */
void pelt_bench_write_json(const pelt_report *report, const pelt_bench_report *bench, FILE *stream);

/* Plots of every scene, and of the sweep, into a folder that exists. */
pelt_result pelt_bench_write_plots(const pelt_report *report, const pelt_bench_report *bench,
                                   const char *folder);

/* Scenes and variants; bytes a vertex. */
void pelt_bench_print_list(const pelt_report *report, bool json);
void pelt_bench_print_byte_table(bool json);

#else

/* Where nothing can be measured: says so, but first what is wrong with the file. NULL: none. */
pelt_result pelt_bench_without_vulkan(pelt_report *report, const char *file);

#endif
#endif
