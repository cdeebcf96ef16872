/* SPDX-License-Identifier: MIT */
/* spec_args.c: from the options of the command to a spec.
 *
 * What a spec means is the library's business. This file only glues names and values together
 * (values that the parser has checked) and looks which names are there.
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The options that say a part of a spec, in the order in which they are written. */
static const enum option_id parts[] = {OPT_CAPACITY,   OPT_FPR,         OPT_SIZE,
                                       OPT_BINS,       OPT_DIFFERENCES, OPT_ERROR,
                                       OPT_ERROR_PROB, OPT_HASH,        OPT_SEED};
enum { PARTS = sizeof parts / sizeof parts[0] };

size_t spec_kind_len(const char *spec) {
    /* "kind", "kind:name=value" or "name=value" alone. */
    const size_t head = strcspn(spec, ":=");
    return spec[head] == '=' ? 0 : head;
}

bool spec_has(const char *spec, const char *name) {
    const size_t len = strlen(name);
    const char *at = spec + spec_kind_len(spec);
    while (*at) {
        at += strspn(at, ":, ");
        if (strncmp(at, name, len) == 0 && at[len + strspn(at + len, " ")] == '=') return true;
        at += strcspn(at, ",");
    }
    return false;
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

char *spec_from_args(const struct args *args, const char *kind) {
    char *spec = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&spec, &size);
    if (!out) goto no_memory;

    const char *before = "";
    if (kind) fprintf(out, "%s:", kind);
    for (size_t i = 0; i < PARTS; i++) {
        if (!given(args, parts[i])) continue;
        fprintf(out, "%s%s=%s", before, option_named(parts[i])->name, args->setting[parts[i]].text);
        before = ",";
    }
    /* A secret has one use, and a user who keeps it in a file wants it out of the image. */
    if (args->has_secret && !given(args, OPT_HASH)) {
        fprintf(out, "%shash=sip13", before);
        before = ",";
    }
    if (args->has_secret) fprintf(out, "%skey=outside", before);
    if (fclose(out) == 0) return spec;

no_memory:
    free(spec);
    fail_memory(args);
    return NULL;
}

int kind_exists(const struct args *args, const char *name, struct tamis_kind_info *kind) {
    if (tamis_kind_named(name, kind, sizeof *kind)) return 0;
    const char *nearest = NULL;
    size_t min = 0;
    for (size_t i = 0; tamis_kind_at(i, kind, sizeof *kind); i++) {
        const size_t distance = word_distance(name, kind->name);
        if (nearest && distance >= min) continue;
        nearest = kind->name;
        min = distance;
    }
    if (nearest && is_typo(min, name))
        return fail(args, NULL, "unknown kind \"%s\"; did you mean \"%s\"?", name, nearest);
    return fail(args, NULL, "unknown kind \"%s\"; \"tamis kinds\" lists them", name);
}
