/* SPDX-License-Identifier: MIT */
/* help.c: the table as text.
 *
 * -h is a reminder: one usage line and the options. --help and "help VERB" are the page: what the
 * verb is for, examples, then the rest, because an example is what most people look for.
 */
#include "cli/cli.h"

#include <string.h>

enum { WIDTH = 80, OPTION_COLUMN = 28 };

const char *print_paragraph(FILE *out, const char *text, int column, int indent) {
    bool is_first = true;
    while (*text && *text != '\n') {
        const size_t len = strcspn(text, " \n");
        const int width = (int)len + (is_first ? 0 : 1);
        if (!is_first && column + width > WIDTH - 1) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (!is_first) {
            putc(' ', out);
            column++;
        }
        fwrite(text, 1, len, out);
        column += (int)len;
        text += len;
        while (*text == ' ') text++;
        is_first = false;
    }
    putc('\n', out);
    return text + strspn(text, "\n");
}

static void print_paragraphs(FILE *out, const char *text) {
    while (*text) {
        text = print_paragraph(out, text, 0, 0);
        putc('\n', out);
    }
}

/* "  -0, -z, --null"; without a letter, the name is where it would be after one. */
static void print_option(FILE *out, const struct verb *verb, const struct use *use) {
    const struct option *option = option_named(use->option);
    const struct letters letters = use_letters(verb, use);
    char left[80] = "  ";
    int width = 2;
    for (const char *at = letters.text; *at; at++)
        width += snprintf(left + width, sizeof left - (size_t)width, "-%c, ", *at);
    width += snprintf(left + width, sizeof left - (size_t)width, "%s--%s%s%s",
                      *letters.text ? "" : "    ", option->name, option->value ? " " : "",
                      option->value ? option->value : "");
    color_words(out, ROLE_NAME, left);
    if (width >= OPTION_COLUMN) {
        putc('\n', out);
        width = 0;
    }
    fprintf(out, "%*s", OPTION_COLUMN - width, "");
    print_paragraph(out, use_help(use), OPTION_COLUMN, OPTION_COLUMN);
}

static void print_options(FILE *out, const struct verb *verb) {
    const struct use *use;
    for (size_t i = 0; (use = verb_use(verb, i)) != NULL; i++) print_option(out, verb, use);
}

static void print_heading(FILE *out, const char *heading, const char *after) {
    fprintf(out, "%s%s:%s%s", color(out, ROLE_HEADING), heading, color(out, ROLE_TEXT), after);
}

static void print_name(FILE *out, const char *name, const char *summary) {
    fprintf(out, "  %s%-10s%s  %s\n", color(out, ROLE_NAME), name, color(out, ROLE_TEXT), summary);
}

static bool has_common(size_t title) {
    size_t i = title + 1;
    while (i < overview_length && overview[i].verb && !overview[i].is_common) i++;
    return i < overview_length && overview[i].verb;
}

/* Those of page one, or all. */
static void print_verbs(FILE *out, bool all) {
    const char *before = "";
    for (size_t i = 0; i < overview_length; i++) {
        const struct verb *verb = overview[i].verb;
        if (verb && (all || overview[i].is_common)) {
            print_name(out, verb->name, verb->summary);
        } else if (!verb && (all || has_common(i))) {
            fputs(before, out);
            print_heading(out, overview[i].title, "\n");
            before = "\n";
        }
    }
}

void help_usage(FILE *out, const struct verb *verb) {
    static const struct {
        const char *before, *after;
    } around[] = {[EXACTLY_ONE] = {"", ""},
                  [AT_MOST_ONE] = {"[", "]"},
                  [ONE_OR_MORE] = {"", "..."},
                  [ANY_NUMBER] = {"[", "...]"}};
    fprintf(out, "tamis %s [OPTION...]", verb->name);
    for (const struct operand *operand = verb->operands; operand->name; operand++)
        fprintf(out, " %s%s%s", around[operand->how_many].before, operand->name,
                around[operand->how_many].after);
    const struct use *use;
    for (size_t i = 0; (use = verb_use(verb, i)) != NULL; i++) {
        const struct option *option = option_named(use->option);
        const char letter = use_letters(verb, use).text[0];
        if (use->is_required && letter)
            fprintf(out, " -%c %s", letter, option->value);
        else if (use->is_required)
            fprintf(out, " --%s %s", option->name, option->value);
    }
}

static void print_verb_short(FILE *out, const struct verb *verb) {
    print_heading(out, "usage", " ");
    help_usage(out, verb);
    fprintf(out, "\n%s\n\n", verb->summary);
    print_options(out, verb);
    fprintf(out, "\n\"tamis help %s\" adds examples and details.\n", verb->name);
}

static void print_examples(FILE *out, const struct example *example) {
    for (; example->command; example++)
        fprintf(out, "  %s# %s%s\n  %s\n\n", color(out, ROLE_ASIDE), example->story,
                color(out, ROLE_TEXT), example->command);
}

static void print_aliases(FILE *out, const struct verb *verb) {
    char text[256];
    if (!verb->aliases) return;
    print_heading(out, "Also called", " ");
    snprintf(text, sizeof text, "%s%s%s", verb->aliases, verb->moved ? "; " : "",
             verb->moved ? verb->moved : "");
    print_paragraph(out, text, 13, 0);
    putc('\n', out);
}

static void print_exits(FILE *out, const char *exits) {
    print_heading(out, "Exit status", " ");
    print_paragraph(out, exits, 13, 0);
}

const char *verb_exits(const struct verb *verb) {
    return verb->exits ? verb->exits : "0 success, 2 error.";
}

static void print_verb_topics(FILE *out, const struct verb *verb) {
    const struct topic *topic;
    for (size_t i = 0; (topic = verb_topic(verb, i)) != NULL; i++)
        fprintf(out, "\"tamis help %s\": %s.\n", topic->name, topic->summary);
    if (verb_topic(verb, 0)) putc('\n', out);
}

static void print_verb_full(FILE *out, const struct verb *verb) {
    fprintf(out, "%stamis %s%s: %s\n\n", color(out, ROLE_HEADING), verb->name,
            color(out, ROLE_TEXT), verb->summary);
    print_examples(out, verb->examples);
    print_heading(out, "Usage", " ");
    help_usage(out, verb);
    fputs("\n\n", out);
    print_options(out, verb);
    putc('\n', out);
    print_paragraphs(out, verb->about);
    print_verb_topics(out, verb);
    print_aliases(out, verb);
    print_exits(out, verb_exits(verb));
}

void help_verb(FILE *out, const struct verb *verb, enum help_params params) {
    if (params == HELP_FULL)
        print_verb_full(out, verb);
    else
        print_verb_short(out, verb);
}

/* ---- Topics ---- */

static void print_term(FILE *out, const char *term, const char *text) {
    int width = 2 + (int)strlen(term) + 2;
    fputs("  ", out);
    color_words(out, ROLE_NAME, term);
    if (width > OPTION_COLUMN) {
        putc('\n', out);
        width = 2;
    }
    fprintf(out, "%*s", OPTION_COLUMN - width + 2, "");
    print_paragraph(out, text, OPTION_COLUMN, OPTION_COLUMN);
}

void help_topic(FILE *out, const struct topic *topic) {
    fprintf(out, "%stamis help %s%s: %s\n\n", color(out, ROLE_HEADING), topic->name,
            color(out, ROLE_TEXT), topic->summary);
    print_examples(out, topic->examples);
    for (const struct topic_line *line = topic->lines; line->heading || line->text; line++) {
        const bool is_close =
            line > topic->lines && (line[-1].heading || (line[-1].term && line->term));
        if (line > topic->lines && !is_close) putc('\n', out);
        if (line->heading)
            print_heading(out, line->heading, "\n");
        else if (line->term)
            print_term(out, line->term, line->text);
        else
            print_paragraph(out, line->text, 0, 0);
    }
}

/* ---- All verbs ---- */

const struct example overview_examples[] = {
    {"Build a filter from a list", "tamis build blocklist.tamis blocklist.txt"},
    {"Print the lines that are in it", "tamis check blocklist.tamis requests.txt"},
    {"Compare the cost of ten million keys", "tamis plan --capacity 10M --fpr 0.1%"},
    {0},
};

const char overview_about[] =
    "A filter answers one question about a set of keys: is this one in it? No is certain; yes is "
    "wrong at a rate you choose. It takes about ten bits per key, whatever the keys are. An image "
    "is a filter in a file. Keys are the lines of FILE or standard input (-).";

/* For the manual, where there is room. */
const char overview_streams[] =
    "Results go to standard output, everything else to standard error. Work of more than a second "
    "shows a progress bar on a terminal; SIGUSR1 prints one line of progress anywhere.";

const char overview_exits[] =
    "0 success or match, 1 no match, 2 error (one line naming the file and the cause), 130 after "
    "Ctrl-C.";

static const char overview_usage[] = "tamis COMMAND [OPTION...] IMAGE [FILE...]";

static void print_where_more(FILE *out) {
    static const struct {
        const char *command, *shows;
    } more[] = {
        {"tamis help COMMAND", "shows one command, with examples (COMMAND -h: its options)"},
        {"tamis help more", "lists all commands"}};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        fprintf(out, "%s%-18s%s  %s\n", color(out, ROLE_NAME), more[i].command,
                color(out, ROLE_TEXT), more[i].shows);
    fprintf(out, "%s%-18s%s  ", color(out, ROLE_NAME), "tamis help TOPIC", color(out, ROLE_TEXT));
    for (size_t i = 0; i < number_of_topics; i++)
        fprintf(out, "%s%s",
                i == 0                     ? "explains "
                : i + 1 < number_of_topics ? ", "
                                           : " or ",
                topics[i].name);
    putc('\n', out);
}

/* The reminder fits on a screen of 24 lines. */
void help_overview(FILE *out, enum help_params params) {
    const bool is_full = params == HELP_FULL;
    if (is_full) {
        color_words(out, ROLE_HEADING, "tamis");
        fputs(": one sieve for every set\n\n", out);
        print_examples(out, overview_examples);
    }
    print_heading(out, is_full ? "Usage" : "usage", " ");
    fprintf(out, "%s\n\n", overview_usage);
    print_verbs(out, false);
    putc('\n', out);
    if (is_full) {
        print_paragraphs(out, overview_about);
        print_where_more(out);
    } else {
        fprintf(out, "\"tamis help\" adds examples, \"tamis help more\" lists all %zu commands.\n",
                number_of_verbs);
    }
}

void help_more(FILE *out) {
    print_heading(out, "Usage", " ");
    fprintf(out, "%s\n\n", overview_usage);
    print_verbs(out, true);
    putc('\n', out);
    print_heading(out, "Topics", "\n");
    for (size_t i = 0; i < number_of_topics; i++)
        print_name(out, topics[i].name, topics[i].summary);
    putc('\n', out);
    print_paragraph(out, "\"tamis help NAME\" shows the page of a command or a topic.", 0, 0);
}
