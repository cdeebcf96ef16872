/* SPDX-License-Identifier: MIT */
/* args.h: only the files in cli/ include this. Verbs, options and parsed arguments.
 *
 * What the command understands is data: verbs.def lists the verbs, each of which describes itself
 * in its file in verbs/, and options.def the options. The parser, the help, the manual pages and
 * the completions are made from it and from nothing else. */
#ifndef TAMIS_CLI_ARGS_ARGS_H
#define TAMIS_CLI_ARGS_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The exit statuses are those of grep, so that `if tamis check ...` reads well in scripts. */
enum { EXIT_FOUND = 0, EXIT_NOTHING = 1, EXIT_TROUBLE = 2 };

/* ==== The table: verb_table.c ================================================================= */

/* Every option of every verb: OPT_BY, ... */
enum option_id {
    OPT_NONE,
#define OPTION(id, ...) OPT_##id,
#include "cli/options.def"
#undef OPTION
    OPTIONS /* one more than the last */
};

/* What the value of an option must be. The parser checks it, so a verb never sees a bad one. */
enum value_type {
    VALUE_NONE, /* a switch */
    VALUE_TEXT,
    VALUE_WORD, /* letters, digits, _ and -: safe to put into a spec */
    VALUE_COUNT,
    VALUE_BYTES,
    VALUE_RATE
};

/* What `-` means where a file is named, and whether it may stand for standard input by itself. */
enum stream_use {
    NO_STREAM,
    READS_STDIN,
    READS_STDIN_UNLESS_GIVEN,
    READS_INSTEAD, /* of an option: with it, no operand stands for standard input by itself */
    WRITES_STDOUT
};

struct option {
    const char *name;     /* without its two dashes */
    const char *also;     /* a second long name, or NULL */
    const char *formerly; /* an older name, still understood and shown nowhere; or NULL */
    const char *letters;  /* short names, the shown one first; "" for none */
    enum value_type type;
    const char *value;      /* what help calls the value: N, FILE; NULL for a switch */
    const char *choices;    /* words of which the value must be one, between spaces; or NULL */
    bool is_pair;           /* takes two words; they are text, and the second is a file */
    bool repeats;           /* may be given more than once */
    enum stream_use stream; /* of the last word */
    const char *help;       /* one sentence without its full stop */
};

/* An option as one verb uses it. */
struct use {
    enum option_id option;
    bool is_required;
    const char *help; /* instead of the option's own, or NULL */
};

enum how_many { EXACTLY_ONE, AT_MOST_ONE, ONE_OR_MORE, ANY_NUMBER };

struct operand {
    const char *name; /* as in usage lines: IMAGE, FILE */
    enum how_many how_many;
    enum stream_use stream;
};

static inline bool is_list(const struct operand *operand) {
    return operand->how_many == ONE_OR_MORE || operand->how_many == ANY_NUMBER;
}

struct example {
    const char *story;
    const char *command;
};

/* A letter that the tool of the same name has and we do not, and what is nearest to it here. */
struct habit {
    char letter;
    const char *instead;
};

struct args;

/* Verbs set their tables by hand, below a line that turns clang-format off. */
struct verb {
    const char *name;
    const char *also;    /* other words people try, separated by spaces; only used to suggest */
    const char *aliases; /* words that run it too, as scripts for other tools have them; or NULL */
    const char *moved;   /* what is different here for those who use an alias; or NULL */
    const char *summary;
    int (*run)(const struct args *args);
    const struct operand *operands; /* ends with a NULL name */
    const struct use *uses;         /* ends with OPT_NONE; verb_use adds the common ones */
    const struct habit *habits;     /* ends with no letter; or NULL */
    const struct example *examples; /* ends with a NULL command */
    const char *about;              /* paragraphs, separated by an empty line */
    const char *exits;              /* the exit statuses, NULL for the usual ones */
};

#define VERB(name) extern const struct verb verb_##name;
#include "cli/verbs.def"
#undef VERB

extern const struct verb *const verbs[];
extern const size_t number_of_verbs;

/* The verbs once more, with the titles of their sections between them: each entry is either. */
struct listed {
    const char *title;
    const struct verb *verb;
    bool is_common; /* on page one */
};
extern const struct listed overview[];
extern const size_t overview_length;

const struct option *option_named(enum option_id id);

/* The i-th option of a verb: its own first, then those that every verb has. NULL at the end. */
const struct use *verb_use(const struct verb *verb, size_t i);
bool verb_has(const struct verb *verb, enum option_id id); /* among its own */

/* What help says about an option of a verb. */
const char *use_help(const struct use *use);

/* The short names that an option has in a verb, the shown one first. A letter belongs to the first
 * of a verb's options that has it: so -d is uniq's own, and a separator elsewhere. */
enum { MAX_LETTERS = 4 };
struct letters {
    char text[MAX_LETTERS + 1];
};
struct letters use_letters(const struct verb *verb, const struct use *use);

/* Also by its aliases. */
const struct verb *verb_named(const char *name);

/* The verb that a user who typed `name` may have meant, or NULL. */
const struct verb *verb_meant(const char *name);

/* ---- Topics: topics.c ---- */

/* A page that is about no single verb: "tamis help keys", tamis-keys(7). Each line is a heading, a
 * paragraph, or a term with what it means; the last one is empty. */
struct topic_line {
    const char *heading, *term, *text;
};

struct topic {
    const char *name;
    const char *also; /* as in struct verb */
    const char *summary;
    const struct example *examples;
    const struct topic_line *lines;
};

extern const struct topic topics[];
extern const size_t number_of_topics;

const struct topic *topic_named(const char *name);

/* The topics to which the page of a verb refers, one after the other; NULL at the end. */
const struct topic *verb_topic(const struct verb *verb, size_t i);

/* ---- How a verb writes its entry ---- */

/* clang-format off */
#define OPERANDS(...) (const struct operand[]) { __VA_ARGS__, {0} }
#define USES(...) (const struct use[]) { __VA_ARGS__, {0} }
#define EXAMPLES(...) (const struct example[]) { __VA_ARGS__, {0} }

/* Lists that several verbs share. */
#define KEY_OPTIONS {.option = OPT_FIELD}, {.option = OPT_DELIMITER}, {.option = OPT_CSV}, \
                    {.option = OPT_JSONL}, {.option = OPT_WHITESPACE}, {.option = OPT_HEADER}, \
                    {.option = OPT_NULL}, \
                    {.option = OPT_COMMENT}, {.option = OPT_SKIP_EMPTY}, {.option = OPT_CANON}, \
                    {.option = OPT_KEYS}, {.option = OPT_HEX}, {.option = OPT_BASE64}, \
                    {.option = OPT_STRICT}, {.option = OPT_DECOMPRESS}
/* The same for lists of keys that go into an image or out of it. */
#define LIST_OPTIONS KEY_OPTIONS, {.option = OPT_KEEP_EMPTY}
#define THREADS_OPTION {.option = OPT_THREADS, \
                        .help = "reader threads, 0: one per CPU (default: 1)"}
/* After the words about a verb that reads keys for an image. */
#define ABOUT_FORM "\n\nThe image remembers how its keys were made, so you need not repeat " \
                   "--keys or --canon."
/* After the words about a verb that may receive keys for days. */
#define ABOUT_KEEPING "\n\nKeys may arrive through a pipe for days. Work so far is then saved " \
                      "every minute (see --save-every), and when SIGTERM or Ctrl-C ends the " \
                      "command. Only one process changes IMAGE at a time; others wait (see " \
                      "--wait)."
#define IMAGE_AND_FILES OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN}, \
                                 {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN})
#define CHANGE_OPTIONS {.option = OPT_OUTPUT, \
                        .help = "write the new image here and leave IMAGE as it is"}, \
                       {.option = OPT_FORCE}, {.option = OPT_WAIT}
#define CHANGE_KEYS_OPTIONS CHANGE_OPTIONS, {.option = OPT_SAVE_EVERY}, {.option = OPT_NOTE}, \
                            LIST_OPTIONS, THREADS_OPTION, {.option = OPT_SECRET_FILE}
#define ASK_OPTIONS {.option = OPT_COUNT}, {.option = OPT_LINE_NUMBER}, \
                    {.option = OPT_WITH_FILENAME}, \
                    {.option = OPT_QUIET, \
                     .help = "print nothing, stop at the first match"}, \
                    KEY_OPTIONS, {.option = OPT_SECRET_FILE}, THREADS_OPTION
/* Of verbs that only read an image. */
#define FROM_OPTION {.option = OPT_FROM}
#define BUILDER_OPTIONS {.option = OPT_MEMORY}, {.option = OPT_TEMP_DIR}, {.option = OPT_THREADS}, \
                        {.option = OPT_VERIFY}
#define OUTPUT_OPTIONS {.option = OPT_OUTPUT, .is_required = true}, {.option = OPT_FORCE}, \
                       {.option = OPT_WAIT}
/* clang-format on */

/* ==== Arguments: options.c, secret.c ======================================================== */

enum { SECRET_BYTES = 16 };

enum help_params { HELP_NONE, HELP_SHORT, HELP_FULL };

struct setting {
    bool is_given;
    const char *text; /* as typed */
    uint64_t number;  /* of VALUE_COUNT and VALUE_BYTES */
    double rate;      /* of VALUE_RATE */
};

struct repeated {
    enum option_id option;
    const char *text, *second; /* the latter of pairs only */
};

struct args {
    const struct verb *verb;
    const char *called; /* the verb as it was typed, which may be an alias */
    enum help_params help;
    struct setting setting[OPTIONS];
    const char **operand;
    size_t operand_count;
    struct repeated *repeated; /* the values of options that repeat, in order */
    size_t repeated_count;
    bool has_secret;
    uint8_t secret[SECRET_BYTES];
};

/* Parses what follows the verb, which was called so, and reports what is wrong. Returns 0 or
 * EXIT_TROUBLE; args_free is due in both cases. */
int args_parse(struct args *args, const struct verb *verb, const char *called, int argc,
               char **argv);
void args_free(struct args *args);

static inline bool given(const struct args *args, enum option_id id) {
    return args->setting[id].is_given;
}

/* What the user gave, or what is usual. */
static inline const char *text_or(const struct args *args, enum option_id id, const char *usual) {
    return given(args, id) ? args->setting[id].text : usual;
}

static inline uint64_t number_or(const struct args *args, enum option_id id, uint64_t usual) {
    return given(args, id) ? args->setting[id].number : usual;
}

static inline double rate_or(const struct args *args, enum option_id id, double usual) {
    return given(args, id) ? args->setting[id].rate : usual;
}

/* Before a function with a format and values, so that compilers check them. */
#if defined(__GNUC__)
#define PRINTF_LIKE(format_at, values_at) __attribute__((format(printf, format_at, values_at)))
#else
#define PRINTF_LIKE(format_at, values_at)
#endif

/* The name of the first of some options that is given, or NULL. */
#define FIRST_GIVEN(args, ...) first_given(args, (const enum option_id[]){__VA_ARGS__, OPT_NONE})
const char *first_given(const struct args *args, const enum option_id ids[]);

/* Refuses the first pair of which both are given. */
int options_apart(const struct args *args, const enum option_id pairs[][2], size_t n);

/* "30s", "10m", "2h", "1d", "500ms" in nanoseconds, from 1 ms to 10^9 s; 0 for anything else. In
 * duration.c. */
uint64_t parse_duration(const char *text);

/* For what holds a secret, before its memory goes: not removed by a compiler that sees no
 * further read. */
static inline void wipe_secret(void *bytes, size_t size) {
    volatile uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++) at[i] = 0;
}

/* Reads --secret-file into args when it is given. */
int secret_read(struct args *args);

#endif
