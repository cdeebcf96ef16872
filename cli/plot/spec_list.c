/* SPDX-License-Identifier: MIT */
/* spec_list.c: the specs that a picture compares, and what to call them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/plot/curves.h"

/* ---- Reading them ---- */

static int too_many(const struct args *args, const char *what) {
    return fail(args, NULL, "%s: at most %d fit in one picture", what, MAX_SPECS);
}

/* Takes the spec, which is on the heap, or NULL after a report. */
static int take_spec(struct specs *specs, char *spec) {
    if (!spec) return EXIT_TROUBLE;
    specs->spec[specs->n++] = spec;
    return 0;
}

static int read_kinds(const struct args *args, const char *kinds, uint64_t usual_keys,
                      struct specs *specs) {
    int code = 0;
    while (*kinds && !code) {
        char name[40];
        const size_t len = strcspn(kinds, ",");
        struct tamis_kind_info kind;
        if (specs->n == MAX_SPECS) return too_many(args, "--kinds");
        snprintf(name, sizeof name, "%.*s", (int)(len < 39 ? len : 39), kinds);
        code = kind_exists(args, name, &kind);
        char *spec = code ? NULL : spec_from_args(args, name);
        if (!code && !given(args, OPT_CAPACITY)) spec_set_capacity(args, &spec, usual_keys);
        if (!code) code = take_spec(specs, spec);
        kinds += len + (kinds[len] == ',');
    }
    return code;
}

static int read_operands(const struct args *args, struct specs *specs) {
    if (given(args, OPT_KINDS))
        return fail(args, NULL, "SPEC and --kinds cannot be combined; name the kind in the spec");
    int code = params_is_single(args, "SPEC");
    for (size_t i = 1; i < args->operand_count && !code; i++) {
        if (specs->n == MAX_SPECS) return too_many(args, "SPEC");
        code = take_spec(specs, spec_copy(args, args->operand[i]));
    }
    return code;
}

/* The library has a sentence about whatever is wrong with a spec; a file is another matter. */
static int plan_spec(const struct args *args, const char *spec, struct tamis_plan *plan) {
    *plan = (struct tamis_plan)TAMIS_PLAN_INIT;
    const tamis_status status = tamis_plan_spec(spec, plan);
    if (status && access(spec, F_OK) == 0)
        return fail(args, spec, "%s shows specs, such as blocked:capacity=1M,fpr=1%%, not a file",
                    args->operand[0]);
    struct tamis_kind_info kind;
    const struct tamis_spec_option head = spec_head(spec);
    if (status && *head.kind && kind_exists(args, head.kind, &kind)) return EXIT_TROUBLE;
    if (status) return fail_why(args, spec, status);
    if (plan->abilities & TAMIS_IS_SKETCH)
        return fail(args, spec, "%s describes sets, not single keys: it has no rate", plan->kind);
    if (plan->capacity == 0)
        return fail(args, spec, "a filter without keys has no rate (allowed: capacity=1 or more)");
    return 0;
}

/* ---- Naming them ---- */

/* Whether all others of the kind say the same. */
static bool is_shared(const struct specs *specs, size_t number,
                      const struct tamis_spec_option *option) {
    for (size_t i = 0; i < specs->n; i++)
        if (strcmp(specs->plan[i].kind, specs->plan[number].kind) == 0 &&
            !spec_says(specs->spec[i], option->name, option->value))
            return false;
    return true;
}

static void name_spec(struct specs *specs, size_t number) {
    struct tamis_spec_option option = TAMIS_SPEC_OPTION_INIT;
    const char *spec = specs->spec[number];
    struct human name = human_words("%s", specs->plan[number].kind);
    const char *before = ":";
    for (size_t i = 0; !tamis_spec_read(spec, i, &option) && *option.name; i++) {
        if (is_shared(specs, number, &option)) continue;
        name = human_words("%.90s%s%.31s=%.60s", name.text, before, option.name, option.value);
        before = ",";
    }
    snprintf(specs->name[number], sizeof specs->name[number], "%.63s", name.text);
}

int specs_read(const struct args *args, const char *usual_kinds, uint64_t usual_keys,
               struct specs *specs) {
    *specs = (struct specs){0};
    int code = args->operand_count > 1
                   ? read_operands(args, specs)
                   : read_kinds(args, text_or(args, OPT_KINDS, usual_kinds), usual_keys, specs);
    for (size_t i = 0; i < specs->n && !code; i++)
        code = plan_spec(args, specs->spec[i], &specs->plan[i]);
    for (size_t i = 0; i < specs->n && !code; i++) name_spec(specs, i);
    return code;
}

void specs_free(struct specs *specs) {
    for (size_t i = 0; i < specs->n; i++) free(specs->spec[i]);
}
