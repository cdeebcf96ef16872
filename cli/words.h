/* words.h: only the files in cli/ include this. What the command says, and how. */
#ifndef TAMIS_CLI_WORDS_H
#define TAMIS_CLI_WORDS_H

#include <stdio.h>

#include "cli/table.h"
#include "tamis.h"

/* ==== Words: report.c, nearest.c, help.c ==================================================== */

/* Prints "tamis: VERB: FILE: sentence" on stderr and returns EXIT_TROUBLE. `file` may be NULL. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
int fail(const struct args *args, const char *file, const char *format, ...);

/* The same with the sentence of the library, which may name the file already. */
int fail_why(const struct args *args, const char *file, tamis_status status);

int fail_memory(const struct args *args);

/* A warning, unless --quiet. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void warn(const struct args *args, const char *file, const char *format, ...);

/* How `-` is called in sentences. */
const char *input_name(const char *path);
const char *output_name(const char *path);

/* Closes stdout: returns `code`, or EXIT_TROUBLE when something could not be written. */
int finish_output(const char *verb, int code);

/* How many letters must be added, dropped, changed or swapped to turn one word into the other. */
size_t word_distance(const char *a, const char *b);

/* Whether such a distance is small enough to be a slip of the hand. */
bool is_slip(size_t distance, const char *typed);

void help_overview(FILE *out, enum help_wish wish);
void help_verb(FILE *out, const struct verb *verb, enum help_wish wish);
void help_usage(FILE *out, const struct verb *verb); /* one line, without its newline */

/* ==== Numbers for people: human.c =========================================================== */

/* Returned by value, so that it can be printed where it is made. */
struct human {
    char text[48];
};

struct human human_count(uint64_t count);  /* 1,234,567 */
struct human human_limit(uint64_t limit);  /* 1,000, but 2^56 */
struct human human_margin(double error);   /* two standard errors, as a whole number */
struct human human_bytes(uint64_t bytes);  /* 1.18 MiB */
struct human human_decimal(double value);  /* three digits that matter: 9.59, 10.5, 1,204 */
struct human human_expected(double count); /* the same, but 0.003 */
struct human human_share(double share);    /* 1 %, 0.94 %, 9.5e-07 */
struct human human_one_in(double rate);    /* 1 in 100 */
struct human human_rate(double rate);      /* 1 % (1 in 100) */
struct human human_key(const struct tamis_key *key); /* a\x00b, the start of a long one and ... */
void human_text(FILE *out, const char *text);        /* control characters as \n or \x1b */

/* ==== Writing JSON: json.c ================================================================== */

struct json {
    FILE *out;
    bool needs_comma;
};

/* `name` is NULL inside an array and for the outermost value. */
void json_open(struct json *json, const char *name, char bracket);
void json_close(struct json *json, char bracket);
void json_text(struct json *json, const char *name, const char *text); /* NULL becomes null */
void json_count(struct json *json, const char *name, uint64_t count);
void json_real(struct json *json, const char *name, double value); /* not finite: null */
void json_bool(struct json *json, const char *name, bool value);
void json_null(struct json *json, const char *name);
void json_end(struct json *json); /* the newline after a whole document */

/* ==== Progress: progress.c ================================================================== */

/* On a terminal, without --quiet and after a second: "what 12 %", or "3,000 what" where nobody
 * knows the whole. */
void progress_start(const struct args *args);
void progress_show(const char *what, uint64_t done, uint64_t total);
void progress_wipe(void); /* report.c does it before each word */

#endif
