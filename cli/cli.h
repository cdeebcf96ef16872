/* cli.h: only the files in cli/ include this. What the parts of the command share.
 *
 * The command is one table of verbs and options (verbs.c) with tools around it: the parser reads
 * the table (options.c), and so does the help (help.c). A verb is a function that gets its parsed
 * arguments and returns an exit status. The only door to the library is tamis.h.
 *
 *     argv --options.c--> struct args --verb--> images.c, keys.c --> tamis.h
 *                            ^                      |
 *                        verbs.c (data)         human.c, json.c --> stdout
 */
#ifndef TAMIS_CLI_H
#define TAMIS_CLI_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "tamis.h"

/* The exit statuses are those of grep, so that `if tamis check ...` reads well in scripts. */
enum { EXIT_FOUND = 0, EXIT_NOTHING = 1, EXIT_TROUBLE = 2 };

/* ==== The table: verbs.c ==================================================================== */

/* Every option of every verb. A name means the same in all of them; only its help may differ. */
enum option_id {
    OPT_NONE,
    OPT_BY,
    OPT_CAPACITY,
    OPT_COUNT,
    OPT_CRLF,
    OPT_FORCE,
    OPT_FPR,
    OPT_GOOD,
    OPT_HASH,
    OPT_HELP,
    OPT_INVERT,
    OPT_JSON,
    OPT_KIND,
    OPT_LABEL,
    OPT_LABELS,
    OPT_LINE_NUMBER,
    OPT_MEMORY,
    OPT_NEW,
    OPT_NOTE,
    OPT_NULL,
    OPT_OUTPUT,
    OPT_QUIET,
    OPT_SECRET_FILE,
    OPT_SEED,
    OPT_SIZE,
    OPT_SPEC,
    OPT_STRICT,
    OPT_TABLE,
    OPT_TEMP,
    OPT_THREADS,
    OPT_VALUES,
    OPT_VERIFY,
    OPT_WITH_FILENAME,
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
    const char *name;    /* without its two dashes */
    const char *also;    /* a second long name, or NULL */
    const char *letters; /* short names, the shown one first; "" for none */
    enum value_type type;
    const char *value;      /* what help calls the value: N, FILE; NULL for a switch */
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

struct example {
    const char *story;
    const char *command;
};

struct args;

struct verb {
    const char *name;
    const char *also; /* other words people try, separated by spaces; only used to suggest */
    const char *summary;
    int (*run)(const struct args *args);
    const struct operand *operands; /* ends with a NULL name */
    const struct use *uses;         /* ends with OPT_NONE; verb_use adds the common ones */
    const struct example *examples; /* ends with a NULL command */
    const char *about;              /* paragraphs, separated by an empty line */
    const char *exits;              /* the exit statuses, NULL for the usual ones */
};

extern const struct verb verbs[];
extern const size_t number_of_verbs;

const struct option *option_named(enum option_id id);

/* The i-th option of a verb: its own first, then those that every verb has. NULL at the end. */
const struct use *verb_use(const struct verb *verb, size_t i);

const struct verb *verb_named(const char *name);

/* The verb somebody who typed `name` may have meant, or NULL. */
const struct verb *verb_meant(const char *name);

/* ==== Arguments: options.c ================================================================== */

enum { SECRET_BYTES = 16 };

enum help_wish { HELP_NONE, HELP_SHORT, HELP_FULL };

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
    enum help_wish help;
    struct setting setting[OPTIONS];
    const char **operand;
    size_t operand_count;
    struct repeated *repeated; /* the values of options that repeat, in order */
    size_t repeated_count;
    bool has_secret;
    uint8_t secret[SECRET_BYTES];
};

/* Parses what follows the verb and reports what is wrong. Returns 0 or EXIT_TROUBLE; args_free
 * is due in both cases. */
int args_parse(struct args *args, const struct verb *verb, int argc, char **argv);
void args_free(struct args *args);

static inline bool given(const struct args *args, enum option_id id) {
    return args->setting[id].is_given;
}

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

struct human human_count(uint64_t count); /* 1,234,567 */
struct human human_limit(uint64_t limit); /* 1,000, but 2^56 */
struct human human_margin(double error);  /* two standard errors, as a whole number */
struct human human_bytes(uint64_t bytes); /* 1.18 MiB */
struct human human_decimal(double value); /* three digits that matter: 9.59, 10.5, 1,204 */
struct human human_share(double share);   /* 1 %, 0.94 %, 9.5e-07 */
struct human human_one_in(double rate);   /* 1 in 100 */
struct human human_rate(double rate);     /* 1 % (1 in 100) */
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

/* ==== Reading keys: keys.c ================================================================== */

enum { KEYS_PER_BATCH = 1024 };

struct source {
    const char *name; /* `-` for standard input */
    char *label;      /* what its keys are labelled, on the heap; or NULL */
    bool is_good;     /* its keys are known-good ones */
    off_t start;      /* where standard input stood at first; -1 when that cannot be told */
};

/* A stream of keys from files, and the batch of them that was read last. */
struct keys {
    const struct source *from; /* where the batch comes from ... */
    const char *file;          /* ... as the user called it */
    uint64_t first_line;       /* the number of key[0] in that file, from 1 */
    size_t n, most;            /* keys in the batch, and those that it takes: KEYS_PER_BATCH */
    struct tamis_key *key;     /* valid until the next call */
    size_t *line_len;          /* from key[i].bytes: the line without its end */
    char line_end;

    const struct args *args;
    bool has_crlf;
    struct source *source;
    size_t source_count, next_source;
    int fd; /* of the current source, -1 between two of them */
    bool at_end;
    char *buffer;
    size_t size, start, scanned, end; /* start <= scanned <= end <= size */
};

enum keys_state {
    KEYS_SOME,
    KEYS_FILE_DONE, /* no keys this time: `file` has been read to its end */
    KEYS_DONE,
    KEYS_TROUBLE /* reported; the next call goes on with the next file */
};

/* Keys from the operands after the first `skip`, or from standard input. Returns 0 or
 * EXIT_TROUBLE; keys_close is due in both cases. */
int keys_open(struct keys *keys, const struct args *args, size_t skip);

/* The same from a list of sources on the heap, which now belongs to the keys; NULL, which is
 * reported: memory is out. */
int keys_open_sources(struct keys *keys, const struct args *args, struct source *sources, size_t n);
enum keys_state keys_next(struct keys *keys);

/* Batches that are worth the while of several threads, where a file has so many keys; before the
 * first. Returns 0 or EXIT_TROUBLE. */
int keys_widen(struct keys *keys);
void keys_close(struct keys *keys);

/* Hands every batch to `take`, until that returns anything but 0 or a file cannot be read. */
typedef int keys_taker(const struct keys *keys, void *with);
int keys_each(struct keys *keys, keys_taker *take, void *with);

/* Goes back to the first key. Sources that cannot be read again, as pipes, are left out. */
void keys_again(struct keys *keys);

/* Reports "FILE: line N: sentence" about the i-th key of the batch, returns EXIT_TROUBLE. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
int fail_line(const struct keys *keys, size_t i, const char *format, ...);

/* What verbs print about lines, as grep does: "FILE:" with -H, "N:" with -n, then the line as it
 * came. After each batch print_batch_end passes it on to whoever waits for it; it returns
 * EXIT_TROUBLE when that failed, about which finish_output says the words. */
void print_file(const struct keys *keys);
void print_place(const struct keys *keys, size_t i);
void print_line(const struct keys *keys, size_t i);
int print_batch_end(const struct keys *keys);

/* The i-th line as key TAB value; the last tab counts. Returns 0, or EXIT_TROUBLE, reported. In
 * pairs.c. */
int read_pair(const struct keys *keys, size_t i, struct tamis_key *key, uint64_t *value);

/* Prints the key, a tab, and what follows it until print_pair_end. In pairs.c. */
void print_pair_start(const struct keys *keys, size_t i);
void print_pair_end(const struct keys *keys);

/* How a verb asks a filter about a batch, and prints a line that was a hit. In check.c. */
struct asker {
    void (*ask)(void *with, const struct keys *keys, uint8_t *hit);
    void (*print)(void *with, const struct keys *keys, size_t i);
    void *with;
};

/* Asks about all keys and prints as -v, -c, -n, -H and -q want it. Returns an exit status. */
int ask_keys(const struct args *args, const struct asker *asker, struct keys *keys);

/* ==== Images: images.c, secret.c ============================================================ */

struct image {
    const char *path;
    tamis *filter;
    void *bytes; /* when the filter is a view of what came through a pipe */
};

enum image_mode { TO_ASK, TO_CHANGE };

/* Opens the image at `path`, `-` for standard input. image_close is due also after a failure. */
int image_open(struct image *image, const struct args *args, const char *path,
               enum image_mode mode);
void image_close(struct image *image);

/* The same for verbs that change IMAGE, their first operand: says first whether the result may be
 * written to where image_target says: to --output, or to IMAGE itself. */
int image_open_to_change(struct image *image, const struct args *args);
const char *image_target(const struct args *args);

/* Says, before any work is done, whether an image may be written to `path`. */
int image_may_write(const struct args *args, const char *path);

/* Writes the image to `path`, whole or not at all; `-` for standard output. */
int image_write(const struct args *args, const tamis *filter, const char *path);

/* What every making and loading call gets. */
struct tamis_options image_options(const struct args *args);

/* Of --threads, or one for each processor. */
unsigned threads_wanted(const struct args *args);

/* After a build and a resize the rate that is planned counts, after other changes the one that
 * came out. */
enum occasion { AFTER_PLANNING, AFTER_CHANGE, AFTER_FOLD };

/* The line on stderr after an image was written, and a warning when the filter is too full. */
void image_summary(const struct args *args, const tamis *filter, const char *path, const char *what,
                   enum occasion occasion);
void info_summary(const struct args *args, const struct tamis_info *info, const char *path,
                  const char *what, enum occasion occasion);

/* How many keys an image of a kind that is built once was made from, without known-good ones. */
uint64_t keys_built(const struct tamis_info *info);

/* By the keys that were planned for, or by those inside where a filter has grown or was built once;
 * NaN for none. */
double bits_per_key(const struct tamis_info *info);

/* Whether more keys are inside than were planned for. */
bool has_too_many(const struct tamis_info *info);

/* Reads --secret-file into args when it is given. */
int secret_read(struct args *args);

/* Sets every --note, of a filter or of a builder. In notes.c. */
int set_notes(const struct args *args, tamis *filter);
int set_builder_notes(const struct args *args, tamis_builder *builder);

/* What to say after "full" where every add needs room. In add.c. */
extern const char stores_every_add[];

/* ==== Building: builder.c, conflict.c ======================================================= */

struct building {
    const struct args *args;
    tamis_builder *builder;
    struct keys *keys;
    unsigned abilities;      /* of the kind */
    const char *usual_label; /* of keys whose source has none; NULL for kinds without labels */
    const char *label;       /* the one set last, or NULL */
    uint64_t lines;          /* of keys so far */
    uint64_t good;           /* of known-good keys */
};

/* From --memory, --temp, --threads, --verify and the secret. Returns 0 or EXIT_TROUBLE. The
 * options point to `filter`. */
int builder_options(const struct args *args, struct tamis_builder_options *options,
                    struct tamis_options *filter);

/* Hands every key to the builder. */
int builder_take(struct building *building);

/* Makes the image and writes it to `path`, whole or not at all. Unless --quiet, `image` is opened
 * to ask, for a summary. image_close is due in any case. */
int builder_write(struct building *building, const char *path, struct image *image);

/* Reports the key that has two values, and where it stands. */
int fail_conflict(struct building *building);

/* ==== Progress: progress.c ================================================================== */

/* On a terminal, without --quiet and after a second: "what 12 %", or "3,000 what" where nobody
 * knows the whole. */
void progress_start(const struct args *args);
void progress_show(const char *what, uint64_t done, uint64_t total);
void progress_wipe(void); /* report.c does it before each word */

/* ==== Abilities: abilities.c ================================================================ */

struct ability {
    enum tamis_ability bit;
    const char *word;
    const char *meaning;
};

/* What a kind can do comes first, then what it is like, the important before the rest. */
extern const struct ability abilities[];
extern const size_t number_of_abilities;

/* "abilities": ["add", ...] */
void write_abilities(struct json *json, unsigned has);

/* Refuses an image without this ability, with the kinds that have it; `to_do` follows "cannot". */
int image_needs(const struct args *args, const struct image *image, enum tamis_ability ability,
                const char *to_do);

/* The same for a kind that an image is to be made of. */
int kind_needs(const struct args *args, const struct tamis_kind_info *kind,
               enum tamis_ability ability, const char *to_do);

/* ==== Signals: signals.c ==================================================================== */

void hold_signals(sigset_t *before);
void release_signals(const sigset_t *before);

/* In between, signals that would end the command only ask it to stop. */
void catch_signals(void);
void uncatch_signals(void);
bool is_stopped(void);

/* Ends the command by the signal that asked for it, if there was one. */
void end_if_stopped(void);

/* ==== Wishes: wish.c ======================================================================== */

/* The length of the kind's name at the start of a spec, 0 when it names none. */
size_t spec_kind_len(const char *spec);

/* Whether a spec mentions this name, as in "name=value". */
bool spec_has(const char *spec, const char *name);

/* The options --capacity, --fpr, ... as a spec of this kind (NULL: none named), in a new string.
 * NULL, reported, when memory is out. */
char *wish_spec(const struct args *args, const char *kind);

/* Refuses a whole spec beside options that say parts of it. `spec_is` names the former. */
int wish_is_single(const struct args *args, const char *spec_is);

/* Refuses a kind that does not exist, with the nearest that does. */
int kind_exists(const struct args *args, const char *name, struct tamis_kind_info *kind);

/* ==== The verbs, one file each ============================================================== */

int verb_build(const struct args *args);
int verb_add(const struct args *args);
int verb_remove(const struct args *args);
int verb_check(const struct args *args);
int verb_count(const struct args *args);
int verb_get(const struct args *args);
int verb_put(const struct args *args);
int verb_label(const struct args *args);
int verb_info(const struct args *args);
int verb_plan(const struct args *args);
int verb_kinds(const struct args *args);
int verb_union(const struct args *args);
int verb_intersect(const struct args *args);
int verb_fold(const struct args *args);
int verb_resize(const struct args *args);
int verb_tick(const struct args *args);

/* The published tables of rates, for `tamis plan --table`: table.c. */
int print_rate_tables(bool as_json);

#endif
