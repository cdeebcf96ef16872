/* SPDX-License-Identifier: MIT */
/* bash.c: the completion for bash, which needs nothing but bash 4. */
#include "cli/pages/pages.h"

#include <stdlib.h>

static const char start[] =
    "# bash completion for tamis, generated from its table of commands.\n"
    "\n"
    "# Adds to COMPREPLY the completions of the current word.\n"
    "_tamis_add() { # compgen options\n"
    "    local lines line\n"
    "    lines=$(compgen \"$@\" -- \"$cur\") || return 0\n"
    "    while IFS= read -r line; do COMPREPLY+=(\"$line\"); done <<<\"$lines\"\n"
    "}\n"
    "\n"
    "_tamis_follow() { # files, images, directories, anything, words:one two or list:one two\n"
    "    local before each\n"
    "    case $1 in\n"
    "    files) compopt -o filenames && _tamis_add -f ;;\n"
    "    images)\n"
    "        compopt -o filenames\n"
    "        _tamis_add -f -X '!*.tamis' && _tamis_add -d\n"
    "        [[ ${COMPREPLY[*]} ]] || _tamis_add -f\n"
    "        ;;\n"
    "    directories) compopt -o filenames && _tamis_add -d ;;\n"
    "    words:*) _tamis_add -W \"${1#words:}\" ;;\n"
    "    list:*) # what is before the last comma stays\n"
    "        before=${cur%\"${cur##*,}\"}\n"
    "        compopt -o nospace\n"
    "        for each in ${1#list:}; do _tamis_add -W \"$before$each\"; done\n"
    "        ;;\n"
    "    esac\n"
    "}\n"
    "\n"
    "# What the option takes, from the list of those that take something.\n"
    "_tamis_taken() { # option\n"
    "    local each\n"
    "    taken=\n"
    "    for each in \"${takes[@]}\"; do\n"
    "        [[ $each == \"$1=\"* ]] && taken=${each#*=}\n"
    "    done\n"
    "}\n"
    "\n"
    "_tamis() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} taken i word skip=0 place=0\n"
    "    local -a options=() takes=() operands=()\n"
    "    COMPREPLY=()\n";

static const char end[] =
    "    esac\n"
    "    # Where values are expected, and how many operands there are before the cursor.\n"
    "    # \"--kind=fuse\" comes in three words.\n"
    "    [[ $cur == = ]] && cur=\n"
    "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        if [[ $word == = ]]; then\n"
    "            continue\n"
    "        elif ((skip > 0)); then\n"
    "            skip=$((skip - 1))\n"
    "        elif [[ $word == -?* ]]; then\n"
    "            _tamis_taken \"$word\"\n"
    "            if [[ $taken == pair ]]; then skip=2; elif [[ $taken ]]; then skip=1; fi\n"
    "        else\n"
    "            place=$((place + 1))\n"
    "        fi\n"
    "    done\n"
    "    if ((skip > 0)); then\n"
    "        [[ $taken == pair && $skip == 1 ]] && taken=files\n"
    "        _tamis_follow \"$taken\"\n"
    "    elif [[ $cur == -* ]]; then\n"
    "        _tamis_add -W \"${options[*]}\"\n"
    "    else\n"
    "        # The last operand may be a list.\n"
    "        i=${#operands[@]}\n"
    "        if ((place >= i && i > 0)) && [[ ${operands[i - 1]} == list:* ]]; then\n"
    "            place=$((i - 1))\n"
    "        fi\n"
    "        [[ ${operands[place]} ]] && _tamis_follow \"${operands[place]#list:}\"\n"
    "    fi\n"
    "    return 0\n"
    "}\n"
    "complete -F _tamis tamis\n";

static void write_follow(FILE *out, struct follow follow) {
    static const char *const names[] = {
        [FOLLOW_ANYTHING] = "anything", [FOLLOW_FILES] = "files",  [FOLLOW_IMAGES] = "images",
        [FOLLOW_DIRS] = "directories",  [FOLLOW_WORDS] = "words:", [FOLLOW_LIST] = "list:"};
    fprintf(out, "%s%s", names[follow.what], follow.words ? follow.words : "");
    free(follow.words);
}

static void write_takes(FILE *out, const char *dashes, const char *name, size_t len,
                        enum option_id id) {
    fprintf(out, " '%s%.*s=", dashes, (int)len, name);
    if (option_named(id)->is_pair)
        fputs("pair", out);
    else
        write_follow(out, follow_option(id));
    putc('\'', out);
}

static void write_options(FILE *out, const struct verb *verb) {
    const struct use *use;
    fputs("        options=(", out);
    for (size_t i = 0; (use = verb_use(verb, i)) != NULL; i++) {
        const struct option *option = option_named(use->option);
        fprintf(out, "%s--%s", i ? " " : "", option->name);
        const struct letters letters = use_letters(verb, use);
        if (*letters.text) fprintf(out, " -%c", *letters.text);
    }
    fputs(")\n        takes=(", out);
    for (size_t i = 0; (use = verb_use(verb, i)) != NULL; i++) {
        const struct option *option = option_named(use->option);
        if (option->type == VALUE_NONE) continue;
        write_takes(out, "--", option->name, 64, use->option);
        const struct letters letters = use_letters(verb, use);
        for (const char *at = letters.text; *at; at++) write_takes(out, "-", at, 1, use->option);
    }
    fputs(")\n", out);
}

static void write_verb(FILE *out, const struct verb *verb) {
    fputs("    ", out);
    print_verb_names(out, verb, " | ");
    fputs(")\n", out);
    write_options(out, verb);
    fputs("        operands=(", out);
    for (const struct operand *operand = verb->operands; operand->name; operand++) {
        fprintf(out, "%s'%s", operand == verb->operands ? "" : " ",
                is_list(operand) ? "list:" : "");
        write_follow(out, follow_operand(operand));
        putc('\'', out);
    }
    fputs(")\n        ;;\n", out);
}

void write_bash(FILE *out) {
    fputs(start, out);
    fputs("    if ((COMP_CWORD == 1)); then\n        _tamis_add -W '", out);
    for (size_t i = 0; i < number_of_verbs; i++) fprintf(out, "%s ", verbs[i]->name);
    fputs("--help --version'\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n", out);
    for (size_t i = 0; i < number_of_verbs; i++) write_verb(out, verbs[i]);
    fputs(end, out);
}
