/* SPDX-License-Identifier: MIT */
/* man.c: manual pages as scdoc sources. Examples come first here too. */
#include "cli/pages/pages.h"

#include <string.h>

/* Text as it is: what scdoc would take for marks gets a backslash. */
static void print_text(FILE *out, const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        const bool is_mark = strchr("\\*_#[]|~`<>", text[i]) || (i == 0 && text[i] == '-');
        if (is_mark) putc('\\', out);
        putc(text[i], out);
    }
}

static void print_paragraphs(FILE *out, const char *text) {
    while (*text) {
        const size_t len = strcspn(text, "\n");
        print_text(out, text, len);
        fputs("\n\n", out);
        text += len + strspn(text + len, "\n");
    }
}

static void print_top(FILE *out, const char *page, int section) {
    fprintf(out, "%s(%d) \"tamis %s\" \"Tamis manual\"\n\n", page, section, tamis_version());
}

static void print_name(FILE *out, const char *page, const char *summary) {
    fprintf(out, "# NAME\n\n%s - ", page);
    print_text(out, summary, strlen(summary));
    fputs("\n\n", out);
}

static void print_examples(FILE *out, const struct example *example) {
    fputs("# EXAMPLES\n\n", out);
    for (; example->command; example++) {
        const char *story = example->story;
        print_text(out, story, strlen(story));
        /* "As a question?" needs no colon. */
        fputs(strchr(".?!", story[strlen(story) - 1]) ? "" : ":", out);
        fprintf(out, "\n\n```\n%s\n```\n\n", example->command);
    }
}

static void print_synopsis(FILE *out, const struct verb *verb) {
    const struct use *use;
    fprintf(out, "# SYNOPSIS\n\n*tamis %s* \\[_OPTION_...\\]", verb->name);
    for (const struct operand *operand = verb->operands; operand->name; operand++) {
        const bool is_optional =
            operand->how_many == AT_MOST_ONE || operand->how_many == ANY_NUMBER;
        fprintf(out, " %s_%s_%s%s", is_optional ? "\\[" : "", operand->name,
                is_list(operand) ? "..." : "", is_optional ? "\\]" : "");
    }
    for (size_t i = 0; (use = verb_use(verb, i)) != NULL; i++) {
        const struct option *option = option_named(use->option);
        const char letter = use_letters(verb, use).text[0];
        if (use->is_required && letter)
            fprintf(out, " *-%c* _%s_", letter, option->value);
        else if (use->is_required)
            fprintf(out, " *--%s* _%s_", option->name, option->value);
    }
    fputs("\n\n", out);
}

/* All names of an option, as "*-0*, *-z*, *--null*, *--zero-terminated*". */
static void print_option(FILE *out, const struct verb *verb, const struct use *use) {
    const struct option *option = option_named(use->option);
    const struct letters letters = use_letters(verb, use);
    for (const char *at = letters.text; *at; at++) fprintf(out, "*-%c*, ", *at);
    fprintf(out, "*--%s*", option->name);
    if (option->also) fprintf(out, ", *--%s*", option->also);
    if (option->value) {
        fputs(" _", out);
        print_text(out, option->value, strlen(option->value));
        putc('_', out);
    }
    fputs("\n\t", out);
    print_text(out, use_help(use), strlen(use_help(use)));
    fputs("\n\n", out);
}

static void print_aliases(FILE *out, const struct verb *verb) {
    if (!verb->aliases) return;
    fputs("# ALSO CALLED\n\n", out);
    for (const char *at = verb->aliases; *at;) {
        const size_t len = strcspn(at, " ");
        fprintf(out, "%s*tamis %.*s*", at == verb->aliases ? "" : ", ", (int)len, at);
        at += len + strspn(at + len, " ");
    }
    fprintf(out, "%s%s\n\n", verb->moved ? ": " : "", verb->moved ? verb->moved : "");
}

/* The verbs of the same section, and the topics of its options. */
static void print_see_also(FILE *out, const struct verb *verb) {
    size_t at = 0;
    while (overview[at].verb != verb) at++;
    while (at > 0 && overview[at - 1].verb) at--;
    fputs("# SEE ALSO\n\n*tamis*(1)", out);
    for (; at < overview_length && overview[at].verb; at++)
        if (overview[at].verb != verb) fprintf(out, ", *tamis-%s*(1)", overview[at].verb->name);
    const struct topic *topic;
    for (size_t i = 0; (topic = verb_topic(verb, i)) != NULL; i++)
        fprintf(out, ", *tamis-%s*(7)", topic->name);
    putc('\n', out);
}

void write_man_page(FILE *out, const struct verb *verb) {
    char page[64];
    snprintf(page, sizeof page, "tamis-%s", verb->name);
    print_top(out, page, 1);
    print_name(out, page, verb->summary);
    print_synopsis(out, verb);
    print_examples(out, verb->examples);
    fputs("# DESCRIPTION\n\n", out);
    print_paragraphs(out, verb->about);
    fputs("# OPTIONS\n\n", out);
    const struct use *use;
    for (size_t i = 0; (use = verb_use(verb, i)) != NULL; i++) print_option(out, verb, use);
    print_aliases(out, verb);
    fputs("# EXIT STATUS\n\n", out);
    print_paragraphs(out, verb_exits(verb));
    print_see_also(out, verb);
}

/* ---- Topics ---- */

void write_man_topic(FILE *out, const struct topic *topic) {
    char page[64];
    snprintf(page, sizeof page, "tamis-%s", topic->name);
    print_top(out, page, 7);
    print_name(out, page, topic->summary);
    fputs("# DESCRIPTION\n\n", out);
    for (const struct topic_line *line = topic->lines; line->heading || line->text; line++) {
        if (line->heading) {
            fprintf(out, "## %s\n\n", line->heading);
            continue;
        }
        if (line->term) {
            putc('*', out);
            print_text(out, line->term, strlen(line->term));
            fputs("*\n\t", out);
        }
        print_paragraphs(out, line->text);
    }
    print_examples(out, topic->examples);
    fputs("# SEE ALSO\n\n*tamis*(1)\n", out);
}

/* ---- The page of the command ---- */

static void print_verbs(FILE *out) {
    fputs("# COMMANDS\n\n", out);
    for (size_t i = 0; i < overview_length; i++) {
        const struct verb *verb = overview[i].verb;
        if (verb)
            fprintf(out, "*tamis-%s*(1)\n\t%s\n\n", verb->name, verb->summary);
        else
            fprintf(out, "## %s\n\n", overview[i].title);
    }
    fputs("## Topics\n\n", out);
    for (size_t i = 0; i < number_of_topics; i++)
        fprintf(out, "*tamis-%s*(7)\n\t%s\n\n", topics[i].name, topics[i].summary);
}

static const char environment[] =
    "*NO_COLOR*\n\tNo colours, unless *--color* asks for them.\n\n"
    "*TAMIS_CPU*\n\tUse fewer CPU instructions: *plain* or *avx2*.\n\n"
    "*TMPDIR*\n\tDirectory for unnamed temporary files (default: _/tmp_).\n\n";

void write_man_overview(FILE *out) {
    print_top(out, "tamis", 1);
    fputs("# NAME\n\n"
          "tamis - one sieve for every set\n\n"
          "# SYNOPSIS\n\n"
          "*tamis* _COMMAND_ \\[_OPTION_...\\] _IMAGE_ \\[_FILE_...\\]++\n*tamis help* "
          "\\[_PAGE_\\]++\n*tamis --version*\n\n",
          out);
    print_examples(out, overview_examples);
    fputs("# DESCRIPTION\n\n", out);
    print_paragraphs(out, overview_about);
    print_paragraphs(out, overview_streams);
    print_verbs(out);
    fputs("# EXIT STATUS\n\n", out);
    print_paragraphs(out, overview_exits);
    fprintf(out, "# ENVIRONMENT\n\n%s", environment);
}
