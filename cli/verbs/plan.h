/* SPDX-License-Identifier: MIT */
/* plan.h: only the files of `tamis plan` include this. */
#ifndef TAMIS_CLI_PLAN_H
#define TAMIS_CLI_PLAN_H

#include "cli/args/args.h"
#include "cli/measure/timing.h"
#include "cli/output/words.h"

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

/* The kinds that deserve a second look, among those that fit; NULL: none, or it is not known. */
struct marks {
    const struct candidate *usual; /* what a spec without a kind leads to */
    const struct candidate *best;  /* the smallest; of one size the sharpest or the roomiest */
    const char *best_is;           /* that word */
    const struct candidate *fastest;
    char usual_kind[32]; /* its name, whether it fits or not */
};

struct planning {
    const struct args *args;
    struct candidate *candidate;
    size_t count, fitting;  /* fitting ones come first, the smallest at their head */
    uint64_t measured_with; /* keys, 0: nothing was measured */
    struct marks marks;
};

/* Chooses them, and tells why in one line each: plan_marks.c. */
void find_marks(struct planning *planning, const char *params);
struct human marks_of(const struct planning *planning, const struct candidate *candidate);
void print_marks(const struct planning *planning);

/* What the textbooks say about one kind, for people and for programs: plan_math.c. */
void print_formulas(const struct tamis_plan *plan);
void write_formulas(struct json *json, const struct tamis_plan *plan);

/* What kinds are asked for most and this one cannot do, in words with commas between them; "" for
 * nothing. */
struct human lacking(const struct tamis_plan *plan);
bool have_one_capacity(const struct planning *planning);

/* For people and for programs: plan_print.c. */
void print_plans(const struct planning *planning);
void write_plans(const struct planning *planning);

/* The published tables of rates, for `tamis plan --table`: plan_table.c. */
int print_rate_tables(bool as_json);

#endif
