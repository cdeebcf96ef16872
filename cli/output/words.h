/* SPDX-License-Identifier: MIT */
/* words.h: only the files in cli/ include this. What the command says, and how. */
#ifndef TAMIS_CLI_OUTPUT_WORDS_H
#define TAMIS_CLI_OUTPUT_WORDS_H

#include <stdio.h>

#include "cli/args/args.h"
#include "tamis.h"

/* ==== Colours: color.c ====================================================================== */

enum role {
    ROLE_TEXT,
    ROLE_HEADING,
    ROLE_NAME,
    ROLE_ASIDE,
    ROLE_TROUBLE,
    ROLE_CAUTION,
    /* Those of grep: a key that was found, the name of its file, its line, ":" and "--". */
    ROLE_MATCH,
    ROLE_FILE,
    ROLE_NUMBER,
    ROLE_MARK
};

/* What --color says: auto, always or never. */
void color_when(const char *word);

/* Whether there are colours; what switches to a role where there are. */
bool has_colors(FILE *out);
const char *color_code(enum role role);

/* What switches to a role, ROLE_TEXT being back to normal; "" where there are no colours. */
const char *color(FILE *out, enum role role);

/* The words in that role, then back to normal. */
void color_words(FILE *out, enum role role, const char *words);

/* ==== Words: report.c, nearest.c, help.c ==================================================== */

/* A complaint in several pieces: "tamis: VERB: FILE: " and, at last, the newline. In between nobody
 * else writes on stderr. */
void report_start(const struct args *args, const char *file);
void report_end(void);

/* Prints "tamis: VERB: FILE: sentence" on stderr and returns EXIT_TROUBLE. `file` may be NULL. */
PRINTF_LIKE(3, 4)
int fail(const struct args *args, const char *file, const char *format, ...);

/* The same with the sentence of the library, which may name the file already. */
int fail_why(const struct args *args, const char *file, tamis_status status);

/* The same, or 0 for TAMIS_OK. */
static inline int check_status(const struct args *args, const char *file, tamis_status status) {
    return status ? fail_why(args, file, status) : 0;
}

/* That sentence without the name of the file before it. */
const char *why_without_file(const char *file);

int fail_memory(const struct args *args);

/* There is no such verb; names the one that may be meant. The first is for help, which knows topics
 * too. */
int fail_page(const struct args *args, const char *name);
int fail_verb(const struct args *args, const char *name);

/* A warning, unless --quiet. */
PRINTF_LIKE(3, 4)
void warn(const struct args *args, const char *file, const char *format, ...);

/* The same, even with --quiet where it `is_grave`: who goes on without it is misled. */
PRINTF_LIKE(4, 5)
void caution(const struct args *args, const char *file, bool is_grave, const char *format, ...);

/* What is no trouble and worth knowing, unless --quiet. */
PRINTF_LIKE(3, 4)
void remark(const struct args *args, const char *file, const char *format, ...);

/* How `-` is called in sentences. */
const char *input_name(const char *path);
const char *output_name(const char *path);

/* Writes what was printed so far; false when that, or anything before, could not be written:
 * finish_output says why. */
bool flush_output(void);

/* Closes stdout: returns `code`, or EXIT_TROUBLE when something could not be written. */
int finish_output(const struct verb *verb, int code);

/* The name that is nearest to a word that somebody typed, as tamis_is_slip has it: start with
 * {.typed = word}; NULL while no name is so near that the word may be a slip of the hand. */
struct nearest {
    const char *typed, *name;
    size_t distance;
};
void nearest_try(struct nearest *nearest, const char *name);

/* Whether `word` is one of the words in a text that separates them by single spaces. */
bool is_among(const char *words, const char *word);

static inline bool ends_word(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next word of a line, of no bytes at its end. */
static inline struct tamis_key next_word(const char **p, const char *end) {
    while (*p < end && ends_word(**p)) ++*p;
    const char *word = *p;
    while (*p < end && !ends_word(**p)) ++*p;
    return (struct tamis_key){word, (size_t)(*p - word)};
}

/* Prints one paragraph broken at spaces, up to 80 columns; it starts in column `column`, further
 * lines are indented by `indent`. Returns where the next paragraph starts. */
const char *print_paragraph(FILE *out, const char *text, int column, int indent);

/* What the table does not say: about the command as a whole, and how a verb exits. */
extern const struct example overview_examples[];
extern const char overview_about[], overview_streams[], overview_exits[];
const char *verb_exits(const struct verb *verb);

void help_overview(FILE *out, enum help_params params); /* page one */
void help_more(FILE *out);                              /* every verb */
void help_topic(FILE *out, const struct topic *topic);
void help_verb(FILE *out, const struct verb *verb, enum help_params params);
void help_usage(FILE *out, const struct verb *verb); /* one line, without its newline */

/* ==== Numbers for people: human.c =========================================================== */

/* Returned by value, so that it can be printed where it is made. */
struct human {
    char text[200];
};

PRINTF_LIKE(1, 2)
struct human human_words(const char *format, ...);            /* what does not fit is cut off */
struct human human_count(uint64_t count);                     /* 1,234,567 */
struct human human_digits(uint64_t count);                    /* 1234567 */
struct human human_number(uint64_t count, const char *thing); /* 1 key, 1,204 keys */
struct human human_limit(uint64_t limit);                     /* 1,000, but 2^56 */
/* The one of some words, with spaces between them, that is nearest to what was typed; "" for none.
 * In nearest.c. */
struct human nearest_word(const char *typed, const char *words);
struct human human_margin(double error);   /* two standard errors, as a whole number */
struct human human_bytes(uint64_t bytes);  /* 1.18 MiB */
struct human human_decimal(double value);  /* three digits that matter: 9.59, 10.5, 1,204 */
struct human human_expected(double count); /* the same, but 0.003 */
struct human human_share(double share);    /* 1 %, 0.94 %, 9.5e-07; 100 % only for all of it */
struct human human_part(double part);      /* 0.3333, 0.99998; 1.0000 only for all of it */
struct human human_rate(double rate);      /* 1 % (1 in 100) */
struct human human_key(const struct tamis_key *key); /* a\x00b, the start of a long one and ... */
void human_text(FILE *out, const char *text);        /* control characters as \n or \x1b */

/* ==== Writing JSON: json.c ================================================================== */

struct json {
    FILE *out;
    bool needs_comma;
};

/* A document is one object; json_end closes it and adds the newline. */
struct json json_start(FILE *out);
void json_end(struct json *json);

/* `name` is NULL inside an array. */
void json_open(struct json *json, const char *name, char bracket);
void json_close(struct json *json, char bracket);
void json_text(struct json *json, const char *name, const char *text); /* NULL becomes null */
void json_bytes(struct json *json, const char *name, const char *text, size_t len);
void json_count(struct json *json, const char *name, uint64_t count);
void json_real(struct json *json, const char *name, double value); /* not finite: null */
void json_bool(struct json *json, const char *name, bool value);
void json_count_if(struct json *json, const char *name, bool is_known,
                   uint64_t count); /* or null */

/* ==== Progress: progress.c ================================================================== */

/* On a terminal, after a second: a bar, unless --quiet or --no-progress. Anywhere: one line for
 * each SIGUSR1. main.c starts and ends it for every verb, and the reading engine says how far it
 * is; a verb has to say something only where other work of its own takes long. */
void progress_start(const struct args *args);
void progress_end(void);

/* "sorting", and how much of the whole is done; 0 when that is unknown. */
void progress_show(const char *what, uint64_t done, uint64_t total);

/* Keys are read from this many bytes, 0 when unknown; then how far that is. */
void progress_reading(uint64_t bytes);
void progress_lines(uint64_t lines);
void progress_bytes(uint64_t bytes);

/* That work is over. */
void progress_wipe(void);

/* In between, nothing of it is on the terminal to which `out`, stdout or stderr, goes. */
void progress_hold(FILE *out);
void progress_release(FILE *out);

#endif
