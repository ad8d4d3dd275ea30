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
