/* SPDX-License-Identifier: MIT */
/* create.c: `tamis create`, an image without keys. */
#include "cli/cli.h"

#include <stdlib.h>

/* Whoever does not say how many keys will come gets room for these, as elsewhere. */
enum { USUAL_CAPACITY = 10000 };

static int create(const struct args *args, const char *spec) {
    const struct tamis_options options = image_options(args);
    tamis *filter = NULL;
    const tamis_status status = tamis_create_with(&filter, spec, &options);
    if (status == TAMIS_UNSUPPORTED)
        return fail(args, NULL,
                    "a kind that is built once, from all its keys, cannot be created empty; use "
                    "\"tamis build\"");
    int code = check_status(args, NULL, status);
    if (!code) code = set_notes(args, filter);
    if (!code) code = form_record(args, filter, NULL);
    if (!code) code = image_write(args, filter, args->operand[0]);
    if (!code) image_summary(args, filter, args->operand[0], "no keys yet", AFTER_PLANNING);
    tamis_free(filter);
    return code;
}

static int run(const struct args *args) {
    if (image_may_write(args, args->operand[0])) return EXIT_TROUBLE;
    char *spec = spec_given(args, NULL);
    if (spec && !spec_has(spec, "capacity") && !spec_has_size(spec))
        spec_set_capacity(args, &spec, USUAL_CAPACITY);
    spec_share_rate(args, &spec);
    const int code = spec ? create(args, spec) : EXIT_TROUBLE;
    free(spec);
    return code;
}

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
