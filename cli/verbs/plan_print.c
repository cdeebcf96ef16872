/* SPDX-License-Identifier: MIT */
/* plan_print.c: plans as a table and as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/verbs/plan.h"

/* Kinds that are built once collect 8 bytes of each key first, 16 with a value. */
static uint64_t build_bytes(const struct tamis_plan *plan) {
    if (!(plan->abilities & TAMIS_IS_BUILT)) return plan->payload_bytes;
    return plan->payload_bytes + plan->capacity * (plan->abilities & TAMIS_CAN_GET ? 16 : 8);
}

/* A sketch is about sets: no question about a key is wrong, because none can be asked. */
static bool has_rate(const struct tamis_plan *plan) {
    return !(plan->abilities & TAMIS_IS_SKETCH);
}

/* What kinds are asked for most, and this one cannot do. */
static const struct {
    unsigned ability;
    const char *word;
} often_wanted[] = {
    {TAMIS_CAN_ADD, "adds"}, {TAMIS_CAN_REMOVE, "removes"}, {TAMIS_CAN_MERGE, "unions"}};
enum { OFTEN_WANTED = sizeof often_wanted / sizeof often_wanted[0] };

static bool is_given_up(const struct tamis_plan *plan, size_t i) {
    return !(plan->abilities & often_wanted[i].ability);
}

struct human lacking(const struct tamis_plan *plan) {
    struct human words = {""};
    for (size_t i = 0; i < OFTEN_WANTED; i++)
        if (is_given_up(plan, i))
            words = human_words("%.100s%s%s", words.text, *words.text ? ", " : "",
                                often_wanted[i].word);
    return words;
}

/* ---- For people ---- */

bool have_one_capacity(const struct planning *planning) {
    for (size_t i = 1; i < planning->fitting; i++)
        if (planning->candidate[i].plan.capacity != planning->candidate[0].plan.capacity)
            return false;
    return true;
}

static void print_head(const struct planning *planning) {
    printf("%s%-12s     %8s  %8s  %8s", color(stdout, ROLE_HEADING), "kind", "size", "bits/key",
           "rate");
    if (!have_one_capacity(planning)) printf("  %13s", "capacity");
    if (planning->measured_with > 0)
        printf("  %8s  %8s", "build ns", "query ns");
    else
        printf("  %8s", "building");
    printf("  lacks%s\n", color(stdout, ROLE_TEXT));
}

static void print_candidate(const struct planning *planning, const struct candidate *candidate) {
    const struct tamis_plan *plan = &candidate->plan;
    const struct human bits =
        plan->capacity > 0 ? human_decimal(plan->bits_per_key) : (struct human){"-"};
    printf("%s%-12s%s %-3s %8s  %8s  %8s", color(stdout, ROLE_NAME), plan->kind,
           color(stdout, ROLE_TEXT), marks_of(planning, candidate).text,
           human_bytes(plan->payload_bytes).text, bits.text,
           has_rate(plan) ? human_share(plan->fpr_expected).text : "-");
    if (!have_one_capacity(planning)) printf("  %13s", human_count(plan->capacity).text);
    if (planning->measured_with > 0)
        printf("  %8s  %8s", human_decimal(candidate->measured.build).text,
               human_decimal(candidate->measured.miss).text);
    else
        printf("  %8s", human_bytes(build_bytes(plan)).text);
    const struct human lacks = lacking(plan);
    printf("%s%s\n", *lacks.text ? "  " : "", lacks.text);
}

/* "kind, kind": those that lack the same as the first; each is told once. */
static void print_lacking(const struct planning *planning, size_t first) {
    const char *lacks = planning->candidate[first].unfit;
    for (size_t i = planning->fitting; i < first; i++)
        if (planning->candidate[i].unfit == lacks) return;
    char *words = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&words, &size);
    for (size_t i = first; out && i < planning->count; i++) {
        const struct candidate *candidate = &planning->candidate[i];
        if (candidate->unfit == lacks)
            fprintf(out, "%s%s", i > first ? ", " : "", candidate->plan.kind);
    }
    if (out && fclose(out) == 0) {
        printf("  %-14s ", lacks);
        print_paragraph(stdout, words, 17, 17);
    }
    free(words);
}

static void print_unfit(const struct planning *planning) {
    const char *before = "\nNot suitable:\n";
    for (size_t i = planning->fitting; i < planning->count; i++) {
        if (!planning->candidate[i].unfit) continue;
        fputs(before, stdout);
        before = "";
        print_lacking(planning, i);
    }
    before = "\n";
    for (size_t i = planning->fitting; i < planning->count; i++) {
        const struct candidate *candidate = &planning->candidate[i];
        if (!candidate->refusal) continue;
        printf("%s%s does not fit: %s\n", before, spec_head(candidate->spec).kind,
               candidate->refusal);
        before = "";
    }
}

static void print_all(const struct planning *planning) {
    if (planning->fitting > 0) print_head(planning);
    for (size_t i = 0; i < planning->fitting; i++)
        print_candidate(planning, &planning->candidate[i]);
    print_unfit(planning);
    if (planning->fitting == 0) return;
    putchar('\n');
    if (planning->measured_with > 0)
        printf("Measured with %s keys, one thread%s.\n", human_count(planning->measured_with).text,
               planning->measured_with < planning->candidate[0].plan.capacity
                   ? "; more keys take longer beyond the caches"
                   : "");
    print_marks(planning);
}

static void print_one(const struct planning *planning) {
    const struct tamis_plan *plan = &planning->candidate[0].plan;
    print_head(planning);
    print_candidate(planning, &planning->candidate[0]);
    printf("\nshape:");
    for (size_t i = 0; i < TAMIS_WORDS; i++)
        if (plan->word_name[i]) printf(" %s %" PRIu64 ",", plan->word_name[i], plan->word[i]);
    printf(" probes %" PRIu64 "\nrate: %s\n", plan->probes,
           has_rate(plan) ? human_rate(plan->fpr_expected).text
                          : "none: it describes sets, not single keys");
    print_formulas(plan);
}

void print_plans(const struct planning *planning) {
    if (planning->count == 1)
        print_one(planning);
    else
        print_all(planning);
}

/* ---- For programs ---- */

static void write_candidate(struct json *json, const struct candidate *candidate) {
    const struct tamis_plan *plan = &candidate->plan;
    json_open(json, NULL, '{');
    json_text(json, "kind", plan->kind);
    json_bool(json, "fits", true);
    json_count(json, "capacity", plan->capacity);
    json_count(json, "payload_bytes", plan->payload_bytes);
    json_count(json, "stored_bytes", plan->stored_bytes);
    json_real(json, "bits_per_key", plan->capacity > 0 ? plan->bits_per_key : NAN);
    json_count(json, "probes", plan->probes);
    json_real(json, "fpr_asked", plan->fpr_asked > 0 ? plan->fpr_asked : NAN);
    json_real(json, "fpr_expected", has_rate(plan) ? plan->fpr_expected : NAN);
    write_abilities(json, plan->abilities);
    write_shape(json, plan->word_name, plan->word);
    json_text(json, "spec", candidate->spec);
    json_count(json, "build_bytes", build_bytes(plan));
    json_open(json, "gives_up", '[');
    for (size_t i = 0; i < OFTEN_WANTED; i++)
        if (is_given_up(plan, i)) json_text(json, NULL, often_wanted[i].word);
    json_close(json, ']');
    write_formulas(json, plan);
    json_real(json, "build_ns", candidate->measured.build);
    json_real(json, "hit_ns", candidate->measured.hit);
    json_real(json, "miss_ns", candidate->measured.miss);
    json_real(json, "one_ns", candidate->measured.one);
    json_close(json, '}');
}

static void write_misfit(struct json *json, const struct candidate *candidate) {
    json_open(json, NULL, '{');
    json_text(json, "kind", spec_head(candidate->spec).kind);
    json_bool(json, "fits", false);
    json_text(json, "why", candidate->refusal ? candidate->refusal : candidate->unfit);
    json_close(json, '}');
}

static void write_mark(struct json *json, const char *name, const struct candidate *candidate) {
    json_text(json, name, candidate ? candidate->plan.kind : NULL);
}

void write_plans(const struct planning *planning) {
    struct json json = json_start(stdout);
    json_open(&json, "plans", '[');
    for (size_t i = 0; i < planning->fitting; i++) write_candidate(&json, &planning->candidate[i]);
    for (size_t i = planning->fitting; i < planning->count; i++)
        write_misfit(&json, &planning->candidate[i]);
    json_close(&json, ']');
    json_count(&json, "measured_with", planning->measured_with);
    write_mark(&json, "default", planning->marks.usual);
    write_mark(&json, "smallest",
               planning->marks.best && !planning->marks.best->has_size ? planning->marks.best
                                                                       : NULL);
    write_mark(&json, "fastest", planning->marks.fastest);
    json_end(&json);
}
