/* SPDX-License-Identifier: MIT */
/* plan.c: `tamis plan`, from needs to a kind, its cost and the command. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/measure/timing.h"
#include "cli/verbs/plan.h"

/* ---- What is needed ---- */

struct need {
    enum option_id option;
    unsigned ability;
    const char *lacks; /* what a kind without it is said to lack */
};

static const struct need needs[] = {
    {OPT_DELETES, TAMIS_CAN_REMOVE, "cannot remove"}, {OPT_COUNTS, TAMIS_CAN_COUNT, "cannot count"},
    {OPT_GROWS, TAMIS_CAN_GROW, "cannot grow"},       {OPT_WINDOW, TAMIS_AGES, "does not age"},
    {OPT_UNIONS, TAMIS_CAN_MERGE, "no unions"},       {OPT_LATER, TAMIS_CAN_ADD, "built once"},
    {OPT_VALUES, TAMIS_CAN_GET, "no values"},
};
enum { NEEDS = sizeof needs / sizeof needs[0] };

/* Why a kind is not suitable; NULL when it is. A user who does not ask for values, labels or a
 * window is not helped by a kind that is all about them. */
static const char *unfit(const struct args *args, unsigned has) {
    if (has & TAMIS_IS_SKETCH) return "about sets";
    for (size_t i = 0; i < NEEDS; i++)
        if (given(args, needs[i].option) && !(has & needs[i].ability)) return needs[i].lacks;
    if (!given(args, OPT_WINDOW) && has & (TAMIS_AGES | TAMIS_MAY_FORGET)) return "may forget";
    if (!given(args, OPT_VALUES) && has & TAMIS_CAN_GET) return "for values";
    return has & TAMIS_CAN_LABEL ? "for labels" : NULL;
}

/* ---- Planning ---- */

static bool fits(const struct candidate *candidate) {
    return !candidate->refusal && !candidate->unfit;
}

static int by_double(double x, double y) {
    return x < y ? -1 : x > y;
}

/* The smallest first; of those of one size the one with the most room, then with the lowest rate;
 * what does not fit last. */
static int by_merit(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    if (fits(x) != fits(y)) return fits(x) ? -1 : 1;
    if (!fits(x)) return x->number < y->number ? -1 : 1;
    int order =
        x->has_size ? 0 : by_double((double)x->plan.payload_bytes, (double)y->plan.payload_bytes);
    if (!order) order = -by_double((double)x->plan.capacity, (double)y->plan.capacity);
    if (!order) order = by_double(x->plan.fpr_expected, y->plan.fpr_expected);
    return order ? order : x->number < y->number ? -1 : 1;
}

/* With NULL for `kind`, the one that the spec names. Returns 0 or EXIT_TROUBLE. */
static int try_kind(const struct args *args, struct candidate *candidate, const char *kind,
                    const char *params) {
    candidate->measured = (struct measured){.build = NAN, .hit = NAN, .miss = NAN, .one = NAN};
    candidate->spec = spec_copy(args, params);
    if (kind) spec_set(args, &candidate->spec, NULL, kind);
    if (!candidate->spec) return EXIT_TROUBLE;
    candidate->has_size = spec_has_size(params);
    candidate->plan = (struct tamis_plan)TAMIS_PLAN_INIT;
    if (tamis_plan_spec(candidate->spec, &candidate->plan)) {
        candidate->refusal = strdup(tamis_why());
        return candidate->refusal ? 0 : fail_memory(args);
    }
    /* Who names a kind has chosen. */
    if (kind) candidate->unfit = unfit(args, candidate->plan.abilities);
    return 0;
}

static int try_kinds(struct planning *planning, const char *params) {
    struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
    const bool is_named = *spec_head(params).kind;
    const size_t kinds = is_named ? 1 : tamis_kind_count();
    planning->candidate = calloc(kinds, sizeof *planning->candidate);
    if (!planning->candidate) return fail_memory(planning->args);
    for (size_t i = 0; i < kinds; i++) {
        struct candidate *candidate = &planning->candidate[planning->count];
        if (!is_named) tamis_kind_at(i, &kind);
        /* for those who need it, by its name */
        if (!is_named && (is_foreign(&kind) || is_part(&kind))) continue;
        planning->count++;
        candidate->number = i;
        const int code = try_kind(planning->args, candidate, is_named ? NULL : kind.name, params);
        if (code) return code;
    }
    const size_t count = planning->count;
    qsort(planning->candidate, count, sizeof *planning->candidate, by_merit);
    while (planning->fitting < count && fits(&planning->candidate[planning->fitting]))
        planning->fitting++;
    return 0;
}

/* A spec that every kind refuses with the same message is wrong in itself. */
static bool is_wrong_in_itself(const struct planning *planning) {
    for (size_t i = 0; i < planning->count; i++) {
        const struct candidate *candidate = &planning->candidate[i];
        if (!candidate->refusal || strcmp(candidate->refusal, planning->candidate[0].refusal) != 0)
            return false;
    }
    return true;
}

/* ---- Measuring ---- */

/* Larger filters take minutes, and the caches end long before. */
enum { MAX_MEASURED = 10 * 1000 * 1000 };

/* Who plans for more keys than are measured gets the same rate with fewer. */
static int measure_one(const struct planning *planning, struct candidate *candidate) {
    const struct tamis_options options = image_options(planning->args);
    const struct tamis_plan *plan = &candidate->plan;
    char spec[256];
    snprintf(spec, sizeof spec, "%s:capacity=%" PRIu64 ",fpr=%.17g%s", plan->kind,
             planning->measured_with, plan->fpr_asked > 0 ? plan->fpr_asked : plan->fpr_expected,
             given(planning->args, OPT_UNTRUSTED) ? ",hash=sip13" : "");
    const bool is_whole = plan->capacity == planning->measured_with;
    const tamis_status status = measure_params(
        is_whole ? candidate->spec : spec, planning->measured_with, &options, &candidate->measured);
    return check_status(planning->args, plan->kind, status);
}

static int measure_all(struct planning *planning) {
    int code = 0;
    for (size_t i = 0; i < planning->fitting; i++) {
        const uint64_t keys = planning->candidate[i].plan.capacity;
        const uint64_t bounded = keys < MAX_MEASURED ? keys : MAX_MEASURED;
        if (i == 0 || bounded < planning->measured_with) planning->measured_with = bounded;
    }
    if (planning->measured_with == 0) return 0;
    for (size_t i = 0; i < planning->fitting && !code; i++) {
        progress_show("measuring", i, planning->fitting);
        code = measure_one(planning, &planning->candidate[i]);
    }
    progress_wipe();
    return code;
}

/* ---- The spec ---- */

/* How many distinct keys a file has: what a builder plans for by default. */
static int count_sample(const struct args *args, uint64_t *distinct) {
    struct keys keys;
    int code = keys_open_file(&keys, args, args->setting[OPT_SAMPLE].text);
    if (!code) code = count_distinct(&keys, NULL, distinct);
    keys_close(&keys);
    return code;
}

/* --sample and --window say a capacity in other words. Returns 0 or EXIT_TROUBLE. */
static int read_capacity(const struct args *args, uint64_t *capacity) {
    const int ways = given(args, OPT_CAPACITY) + given(args, OPT_SAMPLE) + given(args, OPT_WINDOW);
    if (ways > 1)
        return fail(args, NULL,
                    "--capacity, --sample and --window cannot be combined: each gives the number "
                    "of keys");
    if (given(args, OPT_SAMPLE)) return count_sample(args, capacity);
    if (given(args, OPT_WINDOW) && !tamis_parse_count(args->setting[OPT_WINDOW].text, capacity))
        return fail_why(args, "--window", TAMIS_INVALID);
    return 0;
}

/* The options as a spec, with a kind if the user named one. */
static char *read_params(const struct args *args) {
    uint64_t capacity = 0;
    if (args->operand_count > 0) {
        if (params_is_single(args, "SPEC")) return NULL;
        return spec_copy(args, args->operand[0]);
    }
    if (read_capacity(args, &capacity)) return NULL;
    const char *keys = FIRST_GIVEN(args, OPT_CAPACITY, OPT_SAMPLE, OPT_WINDOW);
    if (!keys && !(given(args, OPT_SIZE) && given(args, OPT_FPR))) {
        fail(args, NULL, "give --capacity, with --fpr or --size, or --size with --fpr");
        return NULL;
    }
    char *params = spec_from_args(args, args->setting[OPT_KIND].text);
    if (given(args, OPT_SAMPLE) || given(args, OPT_WINDOW))
        spec_set_capacity(args, &params, capacity);
    if (given(args, OPT_UNTRUSTED)) spec_set(args, &params, "hash", "sip13");
    return params;
}

/* ---- The verb ---- */

static int tell(struct planning *planning, const char *params) {
    if (is_wrong_in_itself(planning))
        return fail(planning->args, NULL, "%s", planning->candidate[0].refusal);
    const int code = given(planning->args, OPT_MEASURE) ? measure_all(planning) : 0;
    if (code) return code;
    find_marks(planning, params);
    if (given(planning->args, OPT_JSON))
        write_plans(planning);
    else
        print_plans(planning);
    return planning->fitting > 0 ? EXIT_FOUND : EXIT_NOTHING;
}

static void forget(struct planning *planning) {
    for (size_t i = 0; i < planning->count; i++) {
        free(planning->candidate[i].spec);
        free(planning->candidate[i].refusal);
    }
    free(planning->candidate);
}

static int run(const struct args *args) {
    if (given(args, OPT_TABLE)) return print_rate_tables(given(args, OPT_JSON));
    char *params = read_params(args);
    if (!params) return EXIT_TROUBLE;
    struct planning planning = {.args = args};
    int code = try_kinds(&planning, params);
    if (!code) code = tell(&planning, params);
    forget(&planning);
    free(params);
    return code;
}
/* clang-format off */

const struct verb verb_plan = {
    .name = "plan",
    .also = "size estimate calc compare choose",
    .summary = "compare kinds for your needs",
    .run = run,
    .operands = OPERANDS({"SPEC", AT_MOST_ONE, NO_STREAM}),
    .uses = USES({.option = OPT_CAPACITY}, {.option = OPT_SAMPLE}, {.option = OPT_FPR},
                 {.option = OPT_SIZE}, {.option = OPT_LATER}, {.option = OPT_DELETES},
                 {.option = OPT_COUNTS}, {.option = OPT_GROWS}, {.option = OPT_WINDOW},
                 {.option = OPT_UNIONS}, {.option = OPT_VALUES, .help = "must store values"},
                 {.option = OPT_UNTRUSTED}, {.option = OPT_MEASURE},
                 {.option = OPT_KIND, .help = "plan only this kind"}, {.option = OPT_TABLE},
                 {.option = OPT_JSON, .help = "print one JSON object"}),
    .examples = EXAMPLES(
        {"Compare kinds for ten million keys, with one false positive in a thousand",
         "tamis plan --capacity 10M --fpr 1/1000"},
        {"Compare kinds that can remove keys, and time them here",
         "tamis plan --capacity 1M --deletes --measure"},
        {"Plan for the keys of a file", "tamis plan --sample users.txt --fpr 1e-6"},
        {"Compare the rates that 64 KiB gives", "tamis plan --capacity 50k --size 64KiB"},
        {"Plan one kind, from a spec", "tamis plan 'blocked:capacity=1e6'"}),
    .about =
        "Two of capacity, fpr and size determine the third; capacity alone means a rate of 1%. "
        "Kinds that cannot do what is needed are listed with what they lack; the others, smallest "
        "first, with their size, the memory for building (kinds that are built once first collect "
        "8 bytes of each key, or less with --memory), and what they lack. Three are marked, with "
        "the reason below the table: d, the default, which you get without naming a kind; s, the "
        "smallest (of a fixed size the sharpest, with the lowest rate, or r, the roomiest, with "
        "the most keys); f, the fastest, as measured here, or by design where a query reads one "
        "cache line. A SPEC that names a kind plans that kind only; for classic and counting, "
        "also by the formulas of the papers: the usual rate, the exact one and its upper bound, "
        "the fill and its deviation, and the distribution of counters. Without --measure nothing "
        "is allocated, however large the plan.\n\n"
        "--measure builds each kind with that many keys, at most 10 million, and reports "
        "nanoseconds per key for building and for batched queries of non-members, by one "
        "thread.\n\n"
        "The JSON has an array plans, each with kind, fits, capacity, payload_bytes, "
        "stored_bytes, bits_per_key, probes, fpr_asked, fpr_expected, abilities, shape, spec, "
        "build_bytes, gives_up (an array of words), fpr_approx, fpr_second_order, fpr_exact, "
        "fpr_upper, fill_expected, fill_deviation, counter_largest, counter_stuck (each null where "
        "it does not apply), build_ns, hit_ns, miss_ns and one_ns (null "
        "without --measure), or, where fits is false, the sentence why; and measured_with, a "
        "number of keys, default, smallest and fastest, names of kinds or null.\n\n"
        "--table prints (1-e^(-k*n/m))^k: the false-positive rate of a filter of m bits with n "
        "keys and k probes per key. Each row ends slightly beyond the best k, which is ln 2 times "
        "m/n.",
    .exits = "0 a kind fits, 1 none does, 2 error.",
};
