/* pelt study: each study is a command of its own behind the word; study.c has the table. */
#ifndef PELT_CLI_STUDY_H
#define PELT_CLI_STUDY_H

#include "cli/folder.h"
#include "cli/options.h"

extern const pelt_command pelt_study_squash, pelt_study_weights, pelt_study_crossover,
    pelt_study_twist;

#endif
