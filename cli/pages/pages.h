/* SPDX-License-Identifier: MIT */
/* pages.h: only the files in cli/pages/ include this. The table as manual pages and completions.
 *
 * These files are no part of the command: a program of the build makes from the same table
 *
 *     pages DIR  -->  DIR/man/tamis.1.scd, tamis-VERB.1.scd, tamis-TOPIC.7.scd    for scdoc
 *                     DIR/completions/tamis.bash _tamis tamis.fish
 */
#ifndef TAMIS_CLI_PAGES_PAGES_H
#define TAMIS_CLI_PAGES_PAGES_H

#include "cli/cli.h"

void write_man_overview(FILE *out);
void write_man_page(FILE *out, const struct verb *verb);
void write_man_topic(FILE *out, const struct topic *topic);

void write_bash(FILE *out);
void write_zsh(FILE *out);
void write_fish(FILE *out);

/* ==== What may follow: follow.c ============================================================= */

/* What the value of an option, or an operand, can be completed to. */
struct follow {
    enum {
        FOLLOW_ANYTHING,
        FOLLOW_FILES,
        FOLLOW_IMAGES,
        FOLLOW_DIRS,
        FOLLOW_WORDS,
        FOLLOW_LIST /* of words, with commas between them */
    } what;
    char *words; /* of the last two: in a new string, separated by spaces; otherwise NULL */
};

struct follow follow_option(enum option_id id);
struct follow follow_operand(const struct operand *operand);

/* The name of a verb and its aliases. */
void print_verb_names(FILE *out, const struct verb *verb, const char *between);

#endif
