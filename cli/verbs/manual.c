/* SPDX-License-Identifier: MIT */
/* manual.c: `tamis help`, a page about a verb or about all. */
#include "cli/cli.h"

#include <string.h>

static int run(const struct args *args) {
    const char *name = args->operand_count > 0 ? args->operand[0] : NULL;
    const struct verb *verb = name ? verb_named(name) : NULL;
    const struct topic *topic = name && !verb ? topic_named(name) : NULL;
    if (!name)
        help_overview(stdout, HELP_FULL);
    else if (verb)
        help_verb(stdout, verb, HELP_FULL);
    else if (topic)
        help_topic(stdout, topic);
    else if (strcmp(name, "more") == 0)
        help_more(stdout);
    else
        return fail_page(&(struct args){0}, name);
    return EXIT_FOUND;
}

/* clang-format off */

const struct verb verb_help = {
    .name = "help",
    .also = "man manual usage more",
    .summary = "show the page of a command or a topic",
    .run = run,
    .operands = OPERANDS({"PAGE", AT_MOST_ONE, NO_STREAM}),
    .uses = USES({0}),
    .examples = EXAMPLES({"Show the commands that most people need", "tamis help"},
                         {"List all commands by job, and the topics", "tamis help more"},
                         {"Show one command, with examples", "tamis help check"},
                         {"Explain how lines become keys", "tamis help keys"},
                         {"Show a page in colour through a pager",
                          "tamis help check --color=always | less -R"}),
    .about = "PAGE is a command, a topic, or \"more\". \"tamis COMMAND -h\" lists only the "
             "options; \"tamis COMMAND --help\" shows the page. The manual has the same pages: "
             "\"man tamis-check\", \"man tamis-keys\". \"tamis --version\" reports what the "
             "command was built from and which CPU instructions it uses.",
};
