/* What pelt verify finds out, and how it is printed. */
#ifndef PELT_CLI_VERIFY_H
#define PELT_CLI_VERIFY_H

#include "cli/compare.h"
#include "cli/crowd.h"
#include "cli/open.h"

typedef struct pelt_verify_options {
    pelt_open_info open;
    uint32_t count, batch;
    bool json;
    int device;
} pelt_verify_options;

enum { PELT_VERIFY_PATHS = 2 };

/* What is verified, and what came of it. */
typedef struct pelt_verification {
    const pelt_verify_options *options;
    pelt_character *character;
    pelt_crowd *crowd;
    pelt_play play;
    uint32_t path_count;
    pelt_backend *paths[PELT_VERIFY_PATHS];
    pelt_path_result results[PELT_VERIFY_PATHS];
    pelt_packing_result packing;
    pelt_backend *gpu; /* of the paths, or NULL */
    pelt_worst pose;   /* of the pose pass, if there is a GPU; vertex: the joint */
    char no_gpu[1024]; /* why the GPU is left out, or empty */
    uint32_t batch_size;
    bool holds;
} pelt_verification;

void pelt_verify_print_text(const pelt_report *report, const pelt_verification *v);
void pelt_verify_print_json(const pelt_report *report, const pelt_verification *v);

#endif
