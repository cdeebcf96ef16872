/* SPDX-License-Identifier: MIT */
/* fish.c: the completion for fish. */
#include "cli/pages/pages.h"

#include <stdlib.h>
#include <string.h>

/* fish knows two escapes inside single quotes. */
static void print_text(FILE *out, const char *text) {
    putc('\'', out);
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\') putc('\\', out);
        putc(*text, out);
    }
    putc('\'', out);
}

static const char start[] =
    "# fish completion for tamis, generated from its table of commands.\n\n"
    "function __tamis_verb_is\n    set -l words (commandline -opc)\n    test (count $words) -gt "
    "1; and contains -- $words[2] $argv\nend\n\n"
    "# Whether the cursor is after N operands.\nfunction __tamis_is_at\n    set -l words "
    "(commandline -opc)\n    set -l takes (__tamis_takes $words[2])\n    set -l place 0\n    set "
    "-l skip 0\n    set -e words[1..2]\n    for word in $words\n        if test $skip -gt "
    "0\n            set skip (math $skip - 1)\n        else if string match -q -- '-?*' "
    "$word\n            for each in $takes\n                test \"$each\" = \"$word\"; and set "
    "skip (math $skip + 1)\n            end\n        else\n            set place (math $place + "
    "1)\n        end\n    end\n    test $place -eq $argv[1]\nend\n\n"
    "complete -c tamis -f\ncomplete -c tamis -n __fish_use_subcommand -s h -l help -d 'list the "
    "commands'\ncomplete -c tamis -n __fish_use_subcommand -s V -l version -d 'print the "
    "version'\n\n"
    "# The options that take a word, once for each.\n"
    "function __tamis_takes\n"
    "    switch \"$argv[1]\"\n";

/* The options that take a word, once for each that they take. */
static void write_takes(FILE *out, const struct verb *verb) {
    const struct use *use;
    fputs("        case ", out);
    print_verb_names(out, verb, " ");
    fputs("\n            printf '%s\\n'", out);
    for (size_t i = 0; (use = verb_use(verb, i)) != NULL; i++) {
        const struct option *option = option_named(use->option);
        if (option->type == VALUE_NONE) continue;
        for (int n = 0; n < (option->is_pair ? 2 : 1); n++) fprintf(out, " --%s", option->name);
        const struct letters letters = use_letters(verb, use);
        for (const char *at = letters.text; *at; at++) fprintf(out, " -%c", *at);
    }
    putc('\n', out);
}

/* What follows an option, or -a for operands. */
static void write_follow(FILE *out, struct follow follow) {
    switch (follow.what) {
    case FOLLOW_ANYTHING: fputs(" -x", out); break;
    case FOLLOW_FILES: fputs(" -r -F", out); break;
    case FOLLOW_IMAGES: fputs(" -k -x -a '(__fish_complete_suffix .tamis)'", out); break;
    case FOLLOW_DIRS: fputs(" -x -a '(__fish_complete_directories)'", out); break;
    case FOLLOW_LIST: fprintf(out, " -x -a '(__fish_append , %s)'", follow.words); break;
    case FOLLOW_WORDS:
        fputs(" -x -a ", out);
        print_text(out, follow.words);
        break;
    }
    free(follow.words);
}

static void write_condition(FILE *out, const struct verb *verb, const char *more) {
    fputs("complete -c tamis -n '__tamis_verb_is ", out);
    print_verb_names(out, verb, " ");
    fprintf(out, "%s'", more);
}

static void write_option(FILE *out, const struct verb *verb, const struct use *use) {
    const struct option *option = option_named(use->option);
    write_condition(out, verb, "");
    const struct letters letters = use_letters(verb, use);
    for (const char *at = letters.text; *at; at++) fprintf(out, " -s %c", *at);
    fprintf(out, " -l %s", option->name);
    if (option->type != VALUE_NONE) write_follow(out, follow_option(use->option));
    fputs(" -d ", out);
    print_text(out, use_help(use));
    putc('\n', out);
}

/* An operand by its place; a list takes the rest. Nothing to offer needs no line. */
static void write_operands(FILE *out, const struct verb *verb) {
    int before = 0;
    for (const struct operand *operand = verb->operands; operand->name; operand++, before++) {
        char more[64] = "";
        const struct follow follow = follow_operand(operand);
        if (!is_list(operand) || operand[1].name)
            snprintf(more, sizeof more, "; and __tamis_is_at %d", before);
        else if (before > 0)
            snprintf(more, sizeof more, "; and not __tamis_is_at 0");
        if (follow.what == FOLLOW_ANYTHING) continue;
        write_condition(out, verb, more);
        if (follow.what == FOLLOW_FILES)
            fputs(" -F", out);
        else
            write_follow(out, follow);
        putc('\n', out);
    }
}

void write_fish(FILE *out) {
    fputs(start, out);
    for (size_t i = 0; i < number_of_verbs; i++) write_takes(out, verbs[i]);
    fputs("    end\nend\n", out);
    for (size_t i = 0; i < number_of_verbs; i++) {
        fprintf(out, "\ncomplete -c tamis -n __fish_use_subcommand -a %s -d ", verbs[i]->name);
        print_text(out, verbs[i]->summary);
        putc('\n', out);
        const struct use *use;
        for (size_t j = 0; (use = verb_use(verbs[i], j)) != NULL; j++)
            write_option(out, verbs[i], use);
        write_operands(out, verbs[i]);
    }
}
