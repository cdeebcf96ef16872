/* SPDX-License-Identifier: MIT */
/* spec_args.c: from the options of the command to a spec.
 *
 * The library reads and changes the text of a spec; here is only which options of the command go
 * into it.
 */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

/* The options that say a part of a spec, in the order in which they are written. */
static const enum option_id parts[] = {OPT_CAPACITY,   OPT_FPR,         OPT_SIZE,
                                       OPT_BINS,       OPT_DIFFERENCES, OPT_ERROR,
                                       OPT_ERROR_PROB, OPT_HASH,        OPT_SEED};
enum { PARTS = sizeof parts / sizeof parts[0] };

struct tamis_spec_option spec_head(const char *spec) {
    struct tamis_spec_option head = TAMIS_SPEC_OPTION_INIT;
    (void)tamis_spec_read(spec, 0, &head); /* what uses the spec reports the error */
    return head;
}

static bool find(const char *spec, const char *name, struct tamis_spec_option *option) {
    option->struct_size = sizeof *option;
    for (size_t i = 0; !tamis_spec_read(spec, i, option) && *option->name; i++)
        if (strcmp(option->name, name) == 0) return true;
    return false;
}

bool spec_has(const char *spec, const char *name) {
    struct tamis_spec_option option;
    return find(spec, name, &option);
}

bool spec_says(const char *spec, const char *name, const char *value) {
    struct tamis_spec_option option;
    return find(spec, name, &option) && strcmp(option.value, value) == 0;
}

bool spec_has_size(const char *spec) {
    return spec_has(spec, "size") || spec_has(spec, "bits");
}

bool spec_fixes_capacity(const char *spec) {
    return spec_has(spec, "capacity") || (spec_has_size(spec) && spec_has(spec, "fpr"));
}

int params_is_single(const struct args *args, const char *spec_is) {
    if (given(args, OPT_KIND))
        return fail(args, NULL, "%s and --kind cannot be combined; name the kind in the spec",
                    spec_is);
    for (size_t i = 0; i < PARTS; i++) {
        const char *name = option_named(parts[i])->name;
        if (given(args, parts[i]))
            return fail(args, NULL, "%s and --%s cannot be combined; write %s=%s in the spec",
                        spec_is, name, name, args->setting[parts[i]].text);
    }
    return 0;
}

char *spec_of(const tamis *filter) {
    const size_t size = tamis_spec(filter, NULL, 0) + 1;
    char *spec = malloc(size);
    if (spec) tamis_spec(filter, spec, size);
    return spec;
}

char *spec_copy(const struct args *args, const char *spec) {
    char *copy = strdup(spec);
    if (!copy) fail_memory(args);
    return copy;
}

void spec_set(const struct args *args, char **spec, const char *name, const char *value) {
    if (!*spec) return;
    const size_t size = tamis_spec_set(*spec, name, value, NULL, 0) + 1;
    char *changed = size > 1 ? malloc(size) : NULL;
    if (changed)
        tamis_spec_set(*spec, name, value, changed, size);
    else if (size > 1)
        fail_memory(args);
    else
        fail_why(args, NULL, TAMIS_INVALID);
    free(*spec);
    *spec = changed;
}

char *spec_without(const struct args *args, const char *spec, const char *names) {
    struct tamis_spec_option option = TAMIS_SPEC_OPTION_INIT;
    char *copy = spec_copy(args, spec_head(spec).kind);
    for (size_t i = 0; !tamis_spec_read(spec, i, &option) && *option.name; i++)
        if (!is_among(names, option.name)) spec_set(args, &copy, option.name, option.value);
    return copy;
}

void spec_set_capacity(const struct args *args, char **spec, uint64_t capacity) {
    spec_set(args, spec, "capacity", human_digits(capacity).text);
}

char *spec_from_args(const struct args *args, const char *kind) {
    char *spec = spec_copy(args, kind ? kind : "");
    for (size_t i = 0; i < PARTS; i++)
        if (given(args, parts[i]))
            spec_set(args, &spec, option_named(parts[i])->name, args->setting[parts[i]].text);
    /* A secret has one use, and a user who keeps it in a file wants it out of the image. */
    if (args->has_secret && !given(args, OPT_HASH)) spec_set(args, &spec, "hash", "sip13");
    if (args->has_secret) spec_set(args, &spec, "key", "outside");
    return spec;
}

char *spec_given(const struct args *args, const char *usual_kind) {
    struct tamis_kind_info info;
    if (given(args, OPT_SPEC)) {
        if (params_is_single(args, "--spec")) return NULL;
        return spec_copy(args, args->setting[OPT_SPEC].text);
    }
    const char *kind = given(args, OPT_KIND) ? args->setting[OPT_KIND].text : usual_kind;
    return kind && kind_exists(args, kind, &info) ? NULL : spec_from_args(args, kind);
}

int kind_exists(const struct args *args, const char *name, struct tamis_kind_info *kind) {
    *kind = (struct tamis_kind_info)TAMIS_KIND_INFO_INIT;
    if (tamis_kind_named(name, kind)) return 0;
    struct nearest nearest = {.typed = name};
    for (size_t i = 0; tamis_kind_at(i, kind); i++) nearest_try(&nearest, kind->name);
    if (nearest.name)
        return fail(args, NULL, "unknown kind \"%s\"; did you mean \"%s\"?", name, nearest.name);
    return fail(args, NULL, "unknown kind \"%s\"; \"tamis kinds\" lists them", name);
}
