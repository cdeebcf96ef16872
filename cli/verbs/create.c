/* SPDX-License-Identifier: MIT */
/* create.c: `tamis create`, an image without keys. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

/* Whoever does not say how many keys will come gets room for these, as elsewhere. */
static const char usual_capacity[] = "capacity=10000";

/* The complete spec, with the default capacity unless it gives any size. */
static char *whole_spec(const struct args *args) {
    const bool is_spec = given(args, OPT_SPEC);
    if (is_spec && params_is_single(args, "--spec")) return NULL;
    const char *kind = args->setting[OPT_KIND].text;
    struct tamis_kind_info info;
    if (kind && kind_exists(args, kind, &info)) return NULL;
    char *spec = is_spec ? strdup(args->setting[OPT_SPEC].text) : spec_from_args(args, kind);
    if (!spec) return is_spec ? fail_memory(args), NULL : NULL;
    if (spec_has(spec, "capacity") || spec_has(spec, "size") || spec_has(spec, "bits")) return spec;

    const size_t len = strlen(spec), kind_len = spec_kind_len(spec);
    const size_t size = len + sizeof usual_capacity + 1;
    char *longer = realloc(spec, size);
    if (!longer) {
        free(spec);
        fail_memory(args);
        return NULL;
    }
    /* A kind alone is followed by a colon, other specs by a comma. */
    const char *between = len == 0 ? "" : len == kind_len ? ":" : longer[len - 1] == ':' ? "" : ",";
    snprintf(longer + len, size - len, "%s%s", between, usual_capacity);
    return longer;
}

static int fail_create(const struct args *args, tamis_status status) {
    if (status != TAMIS_UNSUPPORTED) return fail_why(args, NULL, status);
    return fail(args, NULL,
                "a kind that is built once, from all its keys, cannot be created empty; use "
                "\"tamis build\"");
}

static int create(const struct args *args, const char *spec) {
    const struct tamis_options options = image_options(args);
    tamis *filter = NULL;
    const tamis_status status = tamis_create_with(&filter, spec, &options);
    int code = status ? fail_create(args, status) : set_notes(args, filter);
    if (!code) code = form_record(args, filter, NULL);
    if (!code) code = image_write(args, filter, args->operand[0]);
    if (!code) image_summary(args, filter, args->operand[0], "no keys yet", AFTER_PLANNING);
    tamis_free(filter);
    return code;
}

static int run(const struct args *args) {
    int code = image_may_write(args, args->operand[0]);
    char *spec = code ? NULL : whole_spec(args);
    code = spec ? create(args, spec) : EXIT_TROUBLE;
    free(spec);
    return code;
}

/* Tables are set by hand. */
/* clang-format off */

const struct verb verb_create = {
    .name = "create",
    .also = "empty",
    .aliases = "cr",
    .summary = "create an empty image",
    .run = run,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, WRITES_STDOUT}),
    .uses = USES({.option = OPT_SPEC}, {.option = OPT_KIND},
                 {.option = OPT_CAPACITY, .help = "number of keys to plan for (default: 10,000)"},
                 {.option = OPT_FPR}, {.option = OPT_SIZE}, {.option = OPT_HASH},
                 {.option = OPT_SEED}, {.option = OPT_SECRET_FILE}, {.option = OPT_CANON},
                 {.option = OPT_KEYS}, {.option = OPT_HEX}, {.option = OPT_BASE64},
                 {.option = OPT_NOTE},
                 {.option = OPT_FORCE}, {.option = OPT_WAIT}),
    .examples = EXAMPLES({"Create a filter for a million keys, with a false-positive rate of 1 in "
                          "1000",
                          "tamis create seen.tamis --capacity 1M --fpr 0.1%"},
                         {"Add keys as you see them", "tamis add --new seen.tamis today.txt"}),
    .about = "Reads no keys. \"tamis build\" makes an image from existing keys, and counts them "
             "itself. Kinds that are built once, from all their keys, cannot be created empty: "
             "see \"tamis kinds\".\n\n"
             "--canon and --keys apply to the keys that will be added: the image remembers them, "
             "and you need not repeat them.",
};
