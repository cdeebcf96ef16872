/* manual.c: `tamis help`, a page about a verb or about all. */
#include "cli/cli.h"

static int run(const struct args *args) {
    if (args->operand_count == 0) {
        help_overview(stdout, HELP_FULL);
        return EXIT_FOUND;
    }
    const struct verb *verb = verb_named(args->operand[0]);
    if (!verb) return fail_verb(&(struct args){0}, args->operand[0]);
    help_verb(stdout, verb, HELP_FULL);
    return EXIT_FOUND;
}

/* Tables are set by hand. */
/* clang-format off */

const struct verb verb_help = {
    .name = "help",
    .also = "man manual usage",
    .summary = "show the page of a verb, examples first",
    .run = run,
    .operands = OPERANDS({"VERB", AT_MOST_ONE, NO_STREAM}),
    .uses = USES({0}),
    .examples = EXAMPLES({"All verbs, by what they are for", "tamis help"},
                         {"One of them, with examples", "tamis help check"},
                         {"In colour through a pager",
                          "tamis help check --color=always | less -R"}),
    .about = "\"tamis VERB -h\" lists only the options, \"tamis VERB --help\" is this page. The "
             "manual has the same pages: \"man tamis-check\". \"tamis --version\" tells what the "
             "command was built from and which instructions of this processor it uses.",
};
