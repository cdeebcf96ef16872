/* SPDX-License-Identifier: MIT */
/* zsh.c: the completion for zsh. */
#include "cli/pages/pages.h"

#include <stdlib.h>
#include <string.h>

/* Inside single quotes and inside a description of _arguments or _describe. */
static void print_text(FILE *out, const char *text) {
    for (; *text; text++) {
        if (strchr("[]:\\", *text)) putc('\\', out);
        if (*text == '\'')
            fputs("'\\''", out);
        else
            putc(*text, out);
    }
}

static void write_follow(FILE *out, struct follow follow) {
    static const char *const names[] = {[FOLLOW_ANYTHING] = " ",
                                        [FOLLOW_FILES] = "_files",
                                        [FOLLOW_IMAGES] = "_files -g \"*.tamis\"",
                                        [FOLLOW_DIRS] = "_files -/"};
    if (follow.what == FOLLOW_WORDS)
        fprintf(out, "(%s)", follow.words);
    else if (follow.what == FOLLOW_LIST)
        fprintf(out, "_values -s , step %s", follow.words);
    else
        fputs(names[follow.what], out);
    free(follow.words);
}

/* ":NAME:(one two)", once for each word that the option takes. */
static void write_value(FILE *out, enum option_id id) {
    const struct option *option = option_named(id);
    if (option->type == VALUE_NONE) return;
    fprintf(out, ":%.*s:", (int)strcspn(option->value, " ="), option->value);
    if (option->is_pair) fprintf(out, " :%s:", strrchr(option->value, ' ') + 1);
    write_follow(out, follow_option(id));
}

/* '(-k --kind)'{-k+,--kind=}'[help]:NAME:(...)' */
static void write_option(FILE *out, const struct verb *verb, const struct use *use) {
    const struct option *option = option_named(use->option);
    const bool has_value = option->type != VALUE_NONE, is_pair = option->is_pair;
    const char letter = use_letters(verb, use).text[0];
    fputs(" \\\n            ", out);
    if (option->repeats)
        fputs("'*'", out);
    else if (letter)
        fprintf(out, "'(-%c --%s)'", letter, option->name);
    if (letter)
        fprintf(out, "{-%c%s,--%s%s}'[", letter, has_value && !is_pair ? "+" : "", option->name,
                has_value && !is_pair ? "=" : "");
    else
        fprintf(out, "'--%s%s[", option->name, has_value && !is_pair ? "=" : "");
    print_text(out, use_help(use));
    putc(']', out);
    write_value(out, use->option);
    putc('\'', out);
}

static void write_operands(FILE *out, const struct verb *verb) {
    int place = 1;
    for (const struct operand *operand = verb->operands; operand->name; operand++, place++) {
        fputs(" \\\n            '", out);
        if (is_list(operand) && !operand[1].name)
            putc('*', out);
        else
            fprintf(out, "%d", place);
        fprintf(out, "%s:%s:", operand->how_many == AT_MOST_ONE ? ":" : "", operand->name);
        write_follow(out, follow_operand(operand));
        putc('\'', out);
    }
}

static void write_verb(FILE *out, const struct verb *verb) {
    const struct use *use;
    fputs("    ", out);
    print_verb_names(out, verb, "|");
    fputs(")\n        _arguments -s -S", out);
    for (size_t i = 0; (use = verb_use(verb, i)) != NULL; i++) write_option(out, verb, use);
    write_operands(out, verb);
    fputs(" && return\n        ;;\n", out);
}

void write_zsh(FILE *out) {
    fputs("#compdef tamis\n# zsh completion for tamis, generated from its table of commands.\n\n"
          "local curcontext=\"$curcontext\" state line\nlocal -a verbs\nverbs=(\n",
          out);
    for (size_t i = 0; i < number_of_verbs; i++) {
        fprintf(out, "    '%s:", verbs[i]->name);
        print_text(out, verbs[i]->summary);
        fputs("'\n", out);
    }
    fputs(")\n_arguments -C '(-)'{-h,--help}'[list the commands]' '(-)'{-V,--version}'[print the "
          "version]' \\\n    '1: :->verb' '*:: :->rest' && return\ncase $state in\nverb) "
          "_describe -t verbs verb verbs && return ;;\nrest)\n    case $words[1] in\n",
          out);
    for (size_t i = 0; i < number_of_verbs; i++) write_verb(out, verbs[i]);
    fputs("    esac\n"
          "    ;;\n"
          "esac\n"
          "return 1\n",
          out);
}
