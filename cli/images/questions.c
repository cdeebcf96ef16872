/* SPDX-License-Identifier: MIT */
/* questions.c: the rate of an image whose questions ask for several keys.
 *
 * Each of them may be a false positive, so that the rate of a question is that of a key, times how
 * many there are. How many shows when the lists are known; until then a fixed share is planned for.
 */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>

/* The rate of a key is the requested one, divided by this: lists of names have names of two to six
 * labels, and lists of blocks mostly a few lengths. docs/format.md says it too. */
enum { PLANNED_PROBES = 8 };

void spec_share_rate(const struct args *args, char **spec) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    struct form form;
    char rate[32];
    if (!*spec) return;
    if (form_given(args, &form)) { /* which said why */
        free(*spec);
        *spec = NULL;
        return;
    }
    if (!canon_reach(&form.canon) || spec_has_size(*spec)) return;
    char *tried = spec_copy(args, *spec);
    if (!spec_has(*spec, "capacity")) spec_set_capacity(args, &tried, PLANNED_PROBES);
    if (tried && !tamis_plan_spec(tried, &plan) && plan.fpr_asked > 0) {
        snprintf(rate, sizeof rate, "%.9g", plan.fpr_asked / PLANNED_PROBES);
        spec_set(args, &tried, "fpr", rate);
        /* Kinds that cannot have this rate keep the other one, and the summary says what it is. */
        if (tried && !tamis_plan_spec(tried, &plan)) spec_set(args, spec, "fpr", rate);
    }
    free(tried);
}

struct questions questions_of(const tamis *filter, double fpr) {
    struct questions questions = {.keys = 1, .fpr = fpr};
    struct form form;
    if (!form_of(filter, &form) || !canon_reach(&form.canon)) return questions;
    const enum reach reach = canon_reach(&form.canon);
    const struct classes there = classes_in(filter, reach);
    questions.has_several = true;
    questions.keys = most_probes(reach, &there);
    questions.fpr = -expm1((double)questions.keys * log1p(-fpr));
    return questions;
}

void tell_questions(const struct args *args, const tamis *filter, const char *path, double fpr) {
    const struct questions questions = questions_of(filter, fpr);
    if (!questions.has_several || fpr == 0 || given(args, OPT_QUIET)) return;
    fprintf(stderr, "%s: a question asks for up to %s, fpr of a question at most %s\n",
            output_name(path), human_number(questions.keys, "key").text,
            human_rate(questions.fpr).text);
}
