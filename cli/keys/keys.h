/* SPDX-License-Identifier: MIT */
/* keys.h: only the files in cli/ include this. From files to keys, and lines back out.
 *
 *     files --input.c--> bytes --blocks.c--> blocks of lines --split_lines.c--> batches of keys
 *           --run.c--> a verb asks about them, on any thread
 *           --run.c--> a verb takes them, in the order of the input --text.c--> stdout
 *
 * Bytes are read in blocks and cut where they lie: a key is a pointer into its block, nothing is
 * copied unless it has to be rewritten. Memory is a fixed number of blocks, whatever the input.
 */
#ifndef TAMIS_CLI_KEYS_KEYS_H
#define TAMIS_CLI_KEYS_KEYS_H

#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "cli/args/args.h"
#include "cli/keys/expand.h"
#include "cli/keys/form.h"
#include "cli/output/words.h"
#include "tamis.h"

/* ==== Text that is printed later: text.c ==================================================== */

struct text {
    char *bytes;
    size_t len, room;
    bool is_short_of_memory;
    struct tamis_key late; /* a long line is not copied: it belongs after the first late_at bytes */
    size_t late_at;
};

void text_add(struct text *text, const void *bytes, size_t len);
void text_copy(struct text *text, const void *bytes, size_t len); /* also what is long */
void text_byte(struct text *text, char byte);
void text_words(struct text *text, const char *words);
void text_count(struct text *text, uint64_t count);
void text_drop(struct text *text); /* as if nothing had been added */
void text_free(struct text *text);

/* To stdout; empties it. Returns EXIT_TROUBLE when that failed, about which finish_output says the
 * words. */
int text_print(struct text *text);

/* ==== Keys: keys/ =========================================================================== */

struct source {
    const char *name; /* `-` for standard input */
    char *label;      /* what its keys are labelled, on the heap; or NULL */
    bool is_good;     /* its keys are known-good ones */
    off_t start;      /* where standard input stood at first; -1 when that cannot be told */
    int fd;           /* of a file without a name; 0: there is none, the name is to be opened */
    struct fields *fields; /* by their names in its header, on the heap; NULL: those of the keys */
    struct fields *time_fields; /* the same for keys->time_fields */
    unsigned passes;            /* how often it was opened, */
    struct stat then;           /* and what it was the first time, if it is a file */
};

/* Some lines of one file, and room for what a verb learns about them. */
struct batch {
    const struct keys *keys;
    const struct source *from;
    const char *start;       /* where its lines begin in memory ... */
    uint64_t first_line;     /* ... and the number of the first in its file, from 1 */
    bool has_gaps;           /* lines were left out, or have several line ends */
    size_t n;                /* of everything below */
    struct tamis_key *line;  /* without their ends */
    struct tamis_key *key;   /* what of each is its key; .bytes is NULL where a line has none */
    uint64_t *hash;          /* of the keys; undefined unless keys_hash_by or keys_hash_for asked */
    uint64_t *value;         /* with has_values what follows the last tab; otherwise free */
    uint8_t *hit;            /* free */
    size_t further, marks;   /* of n: further keys of the same line; marks, which are the last */
    struct tamis_key *match; /* of questions that ask for several keys, what answered: batch_match;
                              * NULL for all others */
    uint8_t *more;           /* free, on the heap, as large as a verb makes it */
    size_t more_room;
    struct text out; /* for stdout, in the order of the input */
};

/* How many lines a batch is of. */
static inline size_t batch_lines(const struct batch *batch) {
    return batch->n - batch->further - batch->marks;
}

/* Whether the i-th key is of the same line as the one before. */
static inline bool is_same_line(const struct batch *batch, size_t i) {
    return i > 0 && batch->line[i].bytes == batch->line[i - 1].bytes;
}

enum { MAX_COMMENTS = 8 };

/* How lines become keys: split_lines.c, rewrite.c. */
struct cutting {
    char line_end;      /* a CR before a newline belongs to it */
    bool has_values;    /* lines are KEY TAB VALUE */
    bool keeps_keyless; /* lines without a key are in the batch too: for those who only ask */
    bool is_strict;     /* a line that is not a key ends the run */
    bool is_list;       /* of keys that an image is to have: its empty lines are none */
    bool skips_empty;   /* empty lines are left out */
    size_t comments;    /* ways to start one, such as "#" */
    const char *comment[MAX_COMMENTS];
    struct fields fields;
    struct form form;
};

/* What a verb does where a line may be several keys, or a question ask for several: several.c. */
enum several_use {
    ONE_KEY_A_LINE,   /* keys_run refuses them */
    ADDS_SEVERAL,     /* all of them, and marks that say of what classes they are */
    TAKES_SEVERAL,    /* all of them */
    ASKS_FOR_SEVERAL, /* by batch_has */
};

struct several {
    enum several_use use;
    bool is_empty; /* what keys are added to, whatever the filter that hashes them answers */
    enum reach reach;
    struct classes there;    /* in the set that is asked */
    struct classes marked;   /* of a list: their marks are in the set */
    bool marks_again;        /* with every batch */
    char (*mark)[MARK_TEXT]; /* for each class, while keys are added */
};

/* Lines that brought no key, and why. What looks like a mistake is counted too. */
struct skipped {
    uint64_t fieldless; /* they lack a field that makes the key */
    uint64_t invalid;   /* they cannot be brought to the form of keys */
    uint64_t empty, comments, headers;
    uint64_t hashes; /* keys of a list that start with #, as comments do */
    uint64_t quotes; /* fields that start with a quote, as those of CSV do */
};

/* What a line that is not a key may be instead, by its looks: for advice. */
enum looks { LIKE_NOTHING, LIKE_COLUMNS, LIKE_JSON, LIKE_COMMENT };

enum looks looks_of(const struct tamis_key *line);

/* The first line that is not a key for one reason: where it is, and its words or what is wrong with
 * it; "" while there is none. */
struct odd_line {
    struct human words;
    enum looks looks;
};

/* What is printed of a line, and before it. */
struct line_marks {
    bool has_name, has_number; /* "FILE:", "N:" */
    bool has_colors;           /* on these, and on the keys of hits */
    bool only_keys;            /* as the input has them, in the place of lines */
};

struct block;

struct keys {
    const struct args *args;
    struct cutting cutting;
    struct line_marks marks;
    struct source *source;
    size_t source_count, next_source;
    unsigned threads;
    bool numbers_lines;  /* batch->first_line is needed by those who ask, not only by takers */
    const tamis *filter; /* that hashes the keys ... */
    const tamis_builder *builder; /* ... or this; or neither */
    unsigned abilities;           /* of what is built */
    struct several several;
    bool takes_keys; /* the filter hashes keys itself: batches bring no hashes */
    bool needs_most; /* of the lines to be keys: keys_run refuses a list of which they are not */
    bool is_second_time; /* what there was to say about lines is said */
    uint64_t seen;       /* lines so far ... */
    uint64_t keyless;    /* ... of which so many were left out: they have no key */
    struct skipped skipped;
    const char *about; /* the file that is named with what is said about lines; NULL: none */
    char separator;    /* what the first lines seem to have between columns; NUL for nothing */
    struct odd_line fieldless, invalid;
    bool has_unknown_form; /* of the filter: keys_run refuses it */
    bool decompresses;
    bool prints_header;               /* of the first file that has one; it was not yet */
    const char *field_list;           /* as the user wrote it */
    const struct fields *time_fields; /* that a header may name too; or NULL */

    /* Before a read that may wait; false: nothing more is read. NULL for most. */
    bool (*await)(void *with, int fd);
    void *await_with;

    /* What fills blocks instead of the sources one after the other: with whole lines of whichever
     * has some, and their numbers. False: nothing more comes. NULL for most; see follow_files.h. */
    bool (*fill)(void *with, struct block *block);
    void *fill_with;

    struct input *input; /* of the current source; NULL between two of them */
    uint64_t lines;      /* of the current source, in blocks that were read (numbers_lines) */
    uint64_t bytes;      /* of the sources before it */
    char *carry;         /* the start of a line, or lines, for the next block */
    size_t carried;
};

/* What a verb does with the keys. */
struct handler {
    /* May be NULL. On any thread, several at once, in no order. */
    void (*ask)(void *with, struct batch *batch);
    /* In order, on the thread of keys_run. Anything but 0 ends the run. */
    int (*take)(void *with, struct batch *batch);
    /* May be NULL. After the last batch of a file, unless nothing of it could be read. */
    void (*file_done)(void *with, const struct source *source);
    /* May be NULL. After `take`, when what it printed is on its way. */
    int (*after)(void *after_with, uint64_t lines);
    void *after_with;
    bool goes_on; /* after a file that cannot be read, as grep does */
    void *with;
};

/* What `take` returns when it has seen enough, of all or of this file: no error. */
enum { KEYS_ENOUGH = -1, KEYS_NEXT_FILE = -2 };

/* Keys from the operands after the first `skip`, or from standard input. Returns 0 or
 * EXIT_TROUBLE; keys_close is due in both cases. */
int keys_open(struct keys *keys, const struct args *args, size_t skip);
int keys_open_file(struct keys *keys, const struct args *args, const char *name);

/* The same from a list of sources on the heap, which now belongs to the keys; NULL, which is
 * reported: memory is out. */
int keys_open_sources(struct keys *keys, const struct args *args, struct source *sources, size_t n);
void keys_close(struct keys *keys);
void source_free(struct source *source); /* what it has on the heap */

/* What several fields of a key are joined by, as the options have it; NUL where it has one. */
int joiner_given(const struct args *args, char *joiner);

/* Reads the list of fields of --field, --jsonl or an option like them. */
int fields_given(const struct args *args, enum option_id option, struct cutting *cutting);

/* They are asked about only, though the verb may also read lists: an empty line is a key. */
void keys_are_questions(struct keys *keys);

/* How many bytes all sources together will bring, 0 when unknown. */
uint64_t keys_bytes(const struct keys *keys);

/* Whose hashes batches bring; before keys_run. The form of keys is what the filter remembers. A
 * filter, or one that is built, with TAMIS_OWN_HASH gets none: what it does with a batch goes by
 * keys. */
void keys_hash_by(struct keys *keys, const tamis *filter);
void keys_hash_for(struct keys *keys, const tamis_builder *builder, unsigned has);

/* Keys get the form that this filter remembers, unless the user named one; image_open has seen to
 * it that they are the same. keys_hash_by does it too. */
void keys_follow(struct keys *keys, const tamis *filter);

/* The compressions that can be read: "gzip, zstd", or "plain". */
const char *keys_packings(void);

/* Hands every key to the handler. Returns 0, EXIT_TROUBLE, or what `take` returned. Where the
 * handler goes on after trouble, EXIT_TROUBLE comes at the end. */
int keys_run(struct keys *keys, const struct handler *handler);

/* How many lines can be no key, other than empty ones and comments. */
uint64_t keys_unusable(const struct keys *keys);

/* Says what was left out, and what looks like a mistake; returns EXIT_TROUBLE when that is refused.
 * In skipped.c. */
int tell_skipped(const struct keys *keys);

/* A byte that each of the first lines has as often as the others, as tables do; NUL for none. And
 * the hint that one column may have been meant, where whole lines were asked about and none is in
 * the set. */
char likely_separator(const struct batch *batch);
void tell_columns(const struct keys *keys);

/* Goes back to the first key. Sources that cannot be read again, as pipes, are left out. */
void keys_rewind(struct keys *keys);
bool keys_can_again(const struct keys *keys); /* all of them */

/* The number of the i-th line in its file, and of the line that starts at a byte of the batch. */
uint64_t line_number(const struct batch *batch, size_t i);
uint64_t line_number_at(const struct batch *batch, const char *line);

/* Reports "FILE: line N: sentence" about the i-th line of the batch, returns EXIT_TROUBLE. In
 * `take` only. */
PRINTF_LIKE(3, 4)
int fail_line(const struct batch *batch, size_t i, const char *format, ...);

/* ==== What is done with a batch: batch.c ==================================================== */

/* Whether it is a filter of another system, which hashes keys its own way. */
bool hashes_itself(const tamis *filter);

/* By hashes or by keys, as the filter wants it: the answers go to batch->hit and batch->value;
 * those with `i` are about one line, which has a key. */
void batch_has(const tamis *filter, struct batch *batch);
void batch_count(const tamis *filter, struct batch *batch);

/* The same for any of several filters: by these hashes, or by keys where `hash` is NULL; and the
 * hashes of a batch for one that hashes otherwise than keys_hash_by was told. */
void batch_has_by(const tamis *filter, const struct batch *batch, const uint64_t *hash,
                  uint8_t *hit);
void batch_hash(const tamis *filter, const struct batch *batch, uint64_t *hash);

bool batch_has_one(const tamis *filter, const struct batch *batch, size_t i);
tamis_status batch_add(tamis *filter, const struct batch *batch);
tamis_status batch_add_one(tamis *filter, const struct batch *batch, size_t i);
tamis_status batch_add_new(tamis *filter, const struct batch *batch, size_t i, bool *is_new);
tamis_status batch_remove(tamis *filter, const struct batch *batch, size_t i);
tamis_status batch_build(tamis_builder *builder, const struct batch *batch);

/* ---- Several keys: several.c ---- */

/* Which classes of keys a set has, by its marks. */
struct classes classes_in(const tamis *filter, enum reach reach);

/* How many marks a set has, which are not keys of its lists, or its labels together: of these
 * classes, or with NULL of any, where a false positive may look like a mark. Takes those of each
 * label off `keys`, unless that is NULL; a label with a mark has a key, too. */
uint64_t count_marks(const tamis *filter, const struct classes *of, uint64_t *keys);

/* batch_has_by for such questions to a set that has these classes. */
void batch_has_several(const tamis *filter, const struct classes *there, struct batch *batch,
                       uint8_t *hit);

/* Hands over the hash of every key that the i-th line asks for. */
void each_answer(const tamis *filter, const struct classes *there, const struct batch *batch,
                 size_t i, void (*take)(void *with, uint64_t hash), void *with);

/* keys_run does it before the first block, and who gets another image on the way does it again:
 * refuses forms that the verb does not know, and finds what is in the set. */
int several_start(struct keys *keys);

/* Refuses forms of several keys, before anything is made that would be empty. */
int keys_are_single(const struct keys *keys);

/* What of the set answered the i-th line: "10.0.0.0/8". Returns the length, at most `size`; 0 where
 * that is not known, or the line itself. */
size_t batch_match(const struct batch *batch, size_t i, char *text, size_t size);

/* ==== Temporary files: unnamed.c ============================================================ */

/* Where they go: --temp-dir, $TMPDIR or /tmp. */
const char *temp_dir(const struct args *args);

/* A file without a name, gone with its last descriptor; -1 with errno. */
int open_unnamed(const struct args *args);
bool write_all(int fd, const void *bytes, size_t len);

/* Lines that are put aside, to be read again in their order. */
struct spill {
    const struct args *args;
    int fd;
    char *buffer;
    size_t buffered;
    uint64_t bytes; /* in all */
};

/* These report what went wrong. spill_close is due also after a failure. */
int spill_open(struct spill *spill, const struct args *args);
int spill_line(struct spill *spill, const struct tamis_key *line, char line_end);
void spill_close(struct spill *spill);

/* Makes a source of what was written, from its start; until spill_close. */
int spill_read(struct spill *spill, struct source *source);

/* ==== Lines out: print.c ==================================================================== */

/* What verbs print about lines, as grep does and as keys->marks says: "FILE:", "N:", then the line
 * as it came, or its key, each with its end. All go to batch->out. */
void print_place(struct batch *batch, size_t i);
void print_line(struct batch *batch, size_t i);
void print_plain(struct batch *batch, size_t i); /* the line alone, whatever the marks say */

/* The line, a tab, and what follows it until print_pair_end. */
void print_pair_start(struct batch *batch, size_t i);
void print_pair_end(struct batch *batch);

/* The place of a line that is only context: "FILE-", "N-". */
void print_context_place(struct batch *batch, size_t i);

/* "--", between lines that are not neighbours. */
void print_gap(struct batch *batch);

/* The name of a file on stdout, and `after` it. */
void print_source(const struct keys *keys, const struct source *source, const char *after);
const char *source_name(const struct source *source); /* "(standard input)" for `-` */

/* "file", "line_number", "line" and "key" of a line, in order. False when memory is out. */
bool write_line(struct json *json, const struct batch *batch, size_t i);

/* ==== Lines around those that are printed: context.c ======================================== */

struct context {
    bool is_wanted;
    uint64_t before, after; /* how many lines, at most */
    uint64_t left;          /* that are still to follow the last one printed */
    bool has_printed;       /* anything, of any file */
    uint64_t next;          /* the number of the line after the last one printed; 0 in a new file */
    struct text kept;       /* the last lines of the batches before, as they would be printed ... */
    size_t *len; /* ... and how long each is: kept_count of them, from the kept_first on */
    size_t len_room, kept_first, kept_count, dropped; /* bytes of `kept` that are no longer due */
};

/* As -A, -B and -C say. */
void context_open(struct context *context, const struct args *args);
void context_close(struct context *context);

/* Before the i-th line of a batch is printed: a gap where there is one, and the lines that are due
 * before it. */
void context_before(struct context *context, struct batch *batch, size_t i);

/* After it. */
void context_printed(struct context *context, const struct batch *batch, size_t i);

/* Prints a line that follows one that was printed, if it is due. */
void context_after(struct context *context, struct batch *batch, size_t i);

/* At the end of a batch: its last lines may be due before one of the next. Returns 0 or
 * EXIT_TROUBLE. */
int context_keep(struct context *context, struct batch *batch);

void context_end_file(struct context *context);

/* ==== Asking about keys: query_lines.c ======================================================== */

/* Prints about one line. */
typedef void print_hit(void *with, struct batch *batch, size_t i);

/* What a run of questions prints, and how much so far. A verb that needs more when it asks has this
 * as the first member of its own struct, and may say how its lines are printed. */
struct hits {
    print_hit *print;     /* a line with a hit, after its place; NULL: as any other */
    print_hit *write;     /* instead of all that, a line that is wanted, in order; or NULL */
    void *with;           /* for both */
    bool prints_in_order; /* `print` is not for several threads */

    const struct keys *keys;
    bool prints_lines, counts, counts_each, stops_at_first, is_inverted;
    bool lists_hits, lists_others; /* names of files */
    uint64_t max;                  /* of lines in a file ... */
    bool max_is_of_all;            /* ... or in all of them */
    struct context context;
    atomic_bool has_failed; /* set by a verb that got no answers: the run ends */
    uint64_t in_file, in_all;
};

/* Asks about all keys and prints as -v, -c, -n, -H, -q and, with verbs that have them, the other
 * habits of grep want it. `ask`, on any thread, fills batch->hit and calls show_hits. Returns an
 * exit status. */
int query_keys(struct keys *keys, struct hits *hits, void (*ask)(void *hits, struct batch *batch));

/* What is due when batch->hit is filled. */
void show_hits(const struct hits *hits, struct batch *batch);

#endif
