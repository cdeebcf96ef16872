/* SPDX-License-Identifier: MIT */
/* plan_marks.c: of the kinds that fit, the default, the smallest and the fastest, and why. */
#include <string.h>

#include "cli/cli.h"
#include "cli/verbs/plan.h"

/* ---- Choosing ---- */

/* Of these a query reads one cache line, which nothing can beat once a filter is larger than the
 * caches (docs/kinds/README.md). Others differ from machine to machine: --measure tells. */
static const char *const one_line_kinds[] = {"blocked", "split", "universal"};
enum { ONE_LINE_KINDS = sizeof one_line_kinds / sizeof one_line_kinds[0] };

static bool reads_one_line(const char *kind) {
    for (size_t i = 0; i < ONE_LINE_KINDS; i++)
        if (strcmp(one_line_kinds[i], kind) == 0) return true;
    return false;
}

static const struct candidate *find_fitting(const struct planning *planning, const char *kind) {
    for (size_t i = 0; i < planning->fitting; i++)
        if (strcmp(planning->candidate[i].plan.kind, kind) == 0) return &planning->candidate[i];
    return NULL;
}

/* What `build` makes where no kind is named. */
static void name_usual(struct planning *planning, const char *params) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    struct marks *marks = &planning->marks;
    if (given(planning->args, OPT_VALUES))
        snprintf(marks->usual_kind, sizeof marks->usual_kind, "bloomier");
    else if (!tamis_plan_spec(params, &plan))
        snprintf(marks->usual_kind, sizeof marks->usual_kind, "%s", plan.kind);
}

static const struct candidate *find_fastest(const struct planning *planning) {
    const struct candidate *best = planning->candidate;
    if (planning->measured_with == 0) {
        for (size_t i = 0; i < ONE_LINE_KINDS; i++)
            if ((best = find_fitting(planning, one_line_kinds[i]))) return best;
        return NULL;
    }
    for (size_t i = 1; i < planning->fitting; i++)
        if (planning->candidate[i].measured.miss < best->measured.miss)
            best = &planning->candidate[i];
    return best;
}

void find_marks(struct planning *planning, const char *params) {
    struct marks *marks = &planning->marks;
    if (planning->fitting == 0 || planning->count == 1) return;
    name_usual(planning, params);
    marks->usual = find_fitting(planning, marks->usual_kind);
    marks->best = &planning->candidate[0];
    marks->best_is = !marks->best->has_size        ? "smallest"
                     : have_one_capacity(planning) ? "sharpest"
                                                   : "roomiest";
    marks->fastest = find_fastest(planning);
}

struct human marks_of(const struct planning *planning, const struct candidate *candidate) {
    const struct marks *marks = &planning->marks;
    return human_words("%s%s%s", candidate == marks->usual ? "d" : "",
                       candidate == marks->best ? (char[]){marks->best_is[0], '\0'} : "",
                       candidate == marks->fastest ? "f" : "");
}

/* ---- Telling why ---- */

static const char one_line[] = "one cache line per query";

static void print_why(const char *mark, const char *words) {
    printf("%-9s %s\n", human_words("%s:", mark).text, words);
}

static struct human why_usual(const struct planning *planning) {
    const struct marks *marks = &planning->marks;
    const struct tamis_plan *plan = marks->usual ? &marks->usual->plan : NULL;
    if (plan)
        return human_words(
            "%s, %s bits per key; %s%s%s", plan->kind, human_decimal(plan->bits_per_key).text,
            reads_one_line(plan->kind) ? one_line : "", reads_one_line(plan->kind) ? ", " : "",
            plan->abilities & TAMIS_CAN_ADD ? "adds at any time" : "built once");
    for (size_t i = planning->fitting; i < planning->count; i++) {
        const struct candidate *one = &planning->candidate[i];
        if (strcmp(spec_head(one->spec).kind, marks->usual_kind) == 0)
            return human_words("%s is not suitable (%s); name a kind", marks->usual_kind,
                               one->unfit ? one->unfit : "it does not fit");
    }
    return (struct human){""};
}

static struct human why_best(const struct marks *marks) {
    const struct tamis_plan *best = &marks->best->plan;
    const char *price = best->abilities & TAMIS_CAN_ADD ? "" : "; built once";
    if (strcmp(marks->best_is, "sharpest") == 0)
        return human_words("%s, the lowest rate in that size%s", best->kind, price);
    if (strcmp(marks->best_is, "roomiest") == 0)
        return human_words("%s, the most keys in that size%s", best->kind, price);
    const struct human bits = human_decimal(best->bits_per_key);
    if (!marks->usual || marks->usual == marks->best)
        return human_words("%s, %s bits per key%s", best->kind, bits.text, price);
    const double saved = 1 - (double)best->payload_bytes / (double)marks->usual->plan.payload_bytes;
    return human_words("%s, %s bits per key, %s less than %s%s", best->kind, bits.text,
                       human_words("%.2g %%", 100 * saved).text, marks->usual->plan.kind, price);
}

static struct human why_fastest(const struct planning *planning) {
    const struct candidate *fastest = planning->marks.fastest;
    if (!fastest) return human_words("not known; --measure times all of them here");
    if (planning->measured_with > 0)
        return human_words("%s, %s ns per query of a non-member, measured here", fastest->plan.kind,
                           human_decimal(fastest->measured.miss).text);
    return human_words("%s, %s; --measure times all of them here", fastest->plan.kind, one_line);
}

/* One command for each kind, however many marks it has. */
static void print_commands(const struct marks *marks) {
    const struct candidate *marked[] = {marks->usual, marks->best, marks->fastest};
    for (size_t i = 0; i < 3; i++) {
        bool is_new = marked[i];
        for (size_t j = 0; j < i; j++) is_new = is_new && marked[j] != marked[i];
        if (is_new) printf("tamis build IMAGE FILE --spec '%s'\n", marked[i]->spec);
    }
}

void print_marks(const struct planning *planning) {
    const struct marks *marks = &planning->marks;
    const struct human usual = why_usual(planning);
    if (*usual.text) print_why("default", usual.text);
    print_why(marks->best_is, why_best(marks).text);
    print_why("fastest", why_fastest(planning).text);
    putchar('\n');
    print_commands(marks);
}
