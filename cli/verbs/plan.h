/* SPDX-License-Identifier: MIT */
/* plan.h: only the files of `tamis plan` include this. */
#ifndef TAMIS_CLI_PLAN_H
#define TAMIS_CLI_PLAN_H

#include "cli/args/args.h"
#include "cli/measure/timing.h"

/* One kind, asked for its plan. */
struct candidate {
    char *spec;
    struct tamis_plan plan;
    char *refusal;     /* the library's sentence, on the heap; or NULL */
    const char *unfit; /* what it lacks, or NULL */
    size_t number;     /* among the kinds */
    bool has_size;     /* fixed by the spec */
    struct measured measured;
};

struct planning {
    const struct args *args;
    struct candidate *candidate;
    size_t count, fitting;  /* fitting ones come first, the smallest at their head */
    uint64_t measured_with; /* keys, 0: nothing was measured */
};

/* For people and for programs: plan_print.c. */
void print_plans(const struct planning *planning);
void write_plans(const struct planning *planning);

/* The published tables of rates, for `tamis plan --table`: plan_table.c. */
int print_rate_tables(bool as_json);

#endif
