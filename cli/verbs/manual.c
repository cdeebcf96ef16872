/* SPDX-License-Identifier: MIT */
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

/* clang-format off */

const struct verb verb_help = {
    .name = "help",
    .also = "man manual usage",
    .summary = "show the page of a command",
    .run = run,
    .operands = OPERANDS({"COMMAND", AT_MOST_ONE, NO_STREAM}),
    .uses = USES({0}),
    .examples = EXAMPLES({"List all commands by topic", "tamis help"},
                         {"Show one command, with examples", "tamis help check"},
                         {"Show it in colour through a pager",
                          "tamis help check --color=always | less -R"}),
    .about = "\"tamis COMMAND -h\" lists only the options; \"tamis COMMAND --help\" shows this "
             "page. The manual has the same pages: \"man tamis-check\". \"tamis --version\" "
             "reports what the command was built from and which CPU instructions it uses.",
};
