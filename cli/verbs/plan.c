/* plan.c: `tamis plan`, what a wish costs with each kind. */
#include "cli/verbs/plan.h"
#include "cli/cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- For people ---- */

static void print_head(void) {
    printf("%-12s  %15s  %9s  %8s  %6s  %s\n", "kind", "capacity", "payload", "bits/key", "probes",
           "expected rate");
}

static void print_plan(const struct tamis_plan *plan) {
    const struct human bits =
        plan->capacity > 0 ? human_decimal(plan->bits_per_key) : (struct human){"-"};
    printf("%-12s  %15s  %9s  %8s  %6" PRIu64 "  %s\n", plan->kind,
           human_count(plan->capacity).text, human_bytes(plan->payload_bytes).text, bits.text,
           plan->probes, human_rate(plan->fpr_expected).text);
}

static void print_shape(const struct tamis_plan *plan) {
    printf("\nshape:");
    const char *before = "";
    for (size_t i = 0; i < TAMIS_WORDS; i++) {
        if (!plan->word_name[i]) continue;
        printf("%s %s %" PRIu64, before, plan->word_name[i], plan->word[i]);
        before = ",";
    }
    putchar('\n');
}

/* ---- For programs ---- */

static void open_plans(struct json *json) {
    json_open(json, NULL, '{');
    json_open(json, "plans", '[');
}

static void close_plans(struct json *json) {
    json_close(json, ']');
    json_close(json, '}');
    json_end(json);
}

static void write_plan(struct json *json, const struct tamis_plan *plan) {
    json_open(json, NULL, '{');
    json_text(json, "kind", plan->kind);
    json_bool(json, "fits", true);
    json_count(json, "capacity", plan->capacity);
    json_count(json, "payload_bytes", plan->payload_bytes);
    json_count(json, "stored_bytes", plan->stored_bytes);
    json_real(json, "bits_per_key", plan->capacity > 0 ? plan->bits_per_key : NAN);
    json_count(json, "probes", plan->probes);
    json_real(json, "fpr_asked", plan->fpr_asked > 0 ? plan->fpr_asked : NAN);
    json_real(json, "fpr_expected", plan->fpr_expected);
    write_abilities(json, plan->abilities);
    json_open(json, "shape", '{');
    for (size_t i = 0; i < TAMIS_WORDS; i++)
        if (plan->word_name[i]) json_count(json, plan->word_name[i], plan->word[i]);
    json_close(json, '}');
    json_close(json, '}');
}

static void write_misfit(struct json *json, const char *kind) {
    json_open(json, NULL, '{');
    json_text(json, "kind", kind);
    json_bool(json, "fits", false);
    json_text(json, "why", tamis_why());
    json_close(json, '}');
}

/* ---- One kind, or all of them ---- */

/* One kind that does not fit is an error; among all of them it is an answer. */
static int plan_one(const struct args *args, const char *spec) {
    struct tamis_plan plan;
    const tamis_status status = tamis_plan(spec, &plan, sizeof plan);
    if (status) return fail_why(args, NULL, status);
    if (given(args, OPT_JSON)) {
        struct json json = {.out = stdout};
        open_plans(&json);
        write_plan(&json, &plan);
        close_plans(&json);
    } else {
        print_head();
        print_plan(&plan);
        print_shape(&plan);
    }
    return EXIT_FOUND;
}

static bool plan_kind(const struct args *args, const char *kind, const char *spec,
                      struct json *json) {
    struct tamis_plan plan;
    const bool fits = tamis_plan(spec, &plan, sizeof plan) == TAMIS_OK;
    const bool as_json = given(args, OPT_JSON);
    if (fits && as_json)
        write_plan(json, &plan);
    else if (fits)
        print_plan(&plan);
    else if (as_json)
        write_misfit(json, kind);
    else
        printf("%-12s  does not fit: %s\n", kind, tamis_why());
    return fits;
}

enum { LONGEST_KIND = 40 };

/* A wish that every kind refuses with the same words is wrong in itself: those words are said once,
 * as an error, and not as a table of kinds that do not fit. */
static tamis_status refused_by_all(const char *wish, char *spec, size_t size) {
    struct tamis_kind_info kind;
    char *first = NULL;
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; tamis_kind_at(i, &kind, sizeof kind); i++) {
        struct tamis_plan plan;
        snprintf(spec, size, "%.*s:%s", LONGEST_KIND, kind.name, wish);
        status = tamis_plan(spec, &plan, sizeof plan);
        if (!status) break;
        if (!first && !(first = strdup(tamis_why()))) break;
        if (strcmp(first, tamis_why()) != 0) {
            status = TAMIS_OK;
            break;
        }
    }
    free(first);
    return status;
}

static int plan_all(const struct args *args, const char *wish) {
    const size_t size = strlen(wish) + LONGEST_KIND + 2;
    char *spec = malloc(size);
    if (!spec) return fail_memory(args);
    const tamis_status refused = refused_by_all(wish, spec, size);
    if (refused) {
        free(spec);
        return fail_why(args, NULL, refused);
    }

    struct json json = {.out = stdout};
    if (given(args, OPT_JSON))
        open_plans(&json);
    else
        print_head();
    bool any_fits = false;
    struct tamis_kind_info kind;
    for (size_t i = 0; tamis_kind_at(i, &kind, sizeof kind); i++) {
        snprintf(spec, size, "%.*s:%s", LONGEST_KIND, kind.name, wish);
        if (plan_kind(args, kind.name, spec, &json)) any_fits = true;
    }
    if (given(args, OPT_JSON)) close_plans(&json);
    free(spec);
    return any_fits ? EXIT_FOUND : EXIT_NOTHING;
}

/* The wish as a spec, with a kind when the user named one. */
static char *read_wish(const struct args *args) {
    if (args->operand_count > 0) {
        if (wish_is_single(args, "SPEC")) return NULL;
        char *spec = strdup(args->operand[0]);
        if (!spec) fail_memory(args);
        return spec;
    }
    if (!given(args, OPT_CAPACITY) && !(given(args, OPT_SIZE) && given(args, OPT_FPR))) {
        fail(args, NULL, "tell a --capacity, with --fpr or --size, or --size with --fpr");
        return NULL;
    }
    return wish_spec(args, given(args, OPT_KIND) ? args->setting[OPT_KIND].text : NULL);
}

static int run(const struct args *args) {
    if (given(args, OPT_TABLE)) return print_rate_tables(given(args, OPT_JSON));
    char *wish = read_wish(args);
    if (!wish) return EXIT_TROUBLE;
    const int code = spec_kind_len(wish) > 0 ? plan_one(args, wish) : plan_all(args, wish);
    free(wish);
    return code;
}

/* Tables are set by hand. */
/* clang-format off */

const struct verb verb_plan = {
    .name = "plan",
    .also = "size estimate calc compare",
    .summary = "tell what a wish costs with each kind",
    .run = run,
    .operands = OPERANDS({"SPEC", AT_MOST_ONE, NO_STREAM}),
    .uses = USES({.option = OPT_CAPACITY}, {.option = OPT_FPR}, {.option = OPT_SIZE},
                 {.option = OPT_KIND, .help = "only this kind"}, {.option = OPT_TABLE},
                 {.option = OPT_JSON, .help = "print one JSON object"}),
    .examples = EXAMPLES({"How large for ten million keys at one wrong answer in a thousand?",
                          "tamis plan --capacity 10M --fpr 1/1000"},
                         {"How good in 64 KiB?", "tamis plan --capacity 50k --size 64KiB"},
                         {"One kind, from a spec", "tamis plan 'blocked:capacity=1e6'"}),
    .about =
        "Two of capacity, fpr and size fix the third; capacity alone means a rate of 1%. A "
        "SPEC that names its kind is about that kind only. Nothing is allocated, however "
        "large the plan.\n\n"
        "The JSON has an array plans, each with kind, fits, capacity, payload_bytes, "
        "stored_bytes, bits_per_key, probes, fpr_asked, fpr_expected, abilities and shape, or, "
        "where fits is false, the sentence why.\n\n"
        "--table prints (1-e^(-k*n/m))^k: how often a filter of m bits with n keys and k "
        "probes per key says yes wrongly. The last column of cells in a row is a little "
        "beyond the best k, which is ln 2 times m/n.",
    .exits = "0 when a kind fits the wish, 1 when none does, 2 after an error.",
};
