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
void text_byte(struct text *text, char byte);
void text_words(struct text *text, const char *words);
void text_count(struct text *text, uint64_t count);
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
    unsigned passes;  /* how often it was opened, */
    struct stat then; /* and what it was the first time, if it is a file */
};

/* Some lines of one file, and room for what a verb learns about them. */
struct batch {
    const struct keys *keys;
    const struct source *from;
    const char *start;      /* where its lines begin in memory ... */
    uint64_t first_line;    /* ... and the number of the first in its file, from 1 */
    size_t n;               /* of everything below */
    struct tamis_key *line; /* without their ends */
    struct tamis_key *key;  /* what of each is its key; .bytes is NULL where a line has none */
    uint64_t *hash;         /* of the keys; undefined unless keys_hash_by or keys_hash_for asked */
    uint64_t *value;        /* with has_values what follows the last tab; otherwise free */
    uint8_t *hit;           /* free */
    struct text out;        /* for stdout, in the order of the input */
};

/* How lines become keys: split_lines.c, rewrite.c. */
struct cutting {
    char line_end;
    bool has_crlf;
    bool has_values;    /* lines are KEY TAB VALUE */
    bool keeps_keyless; /* lines without a key are in the batch too: for those who only ask */
    struct fields fields;
    struct form form;
};

struct keys {
    const struct args *args;
    struct cutting cutting;
    struct source *source;
    size_t source_count, next_source;
    unsigned threads;
    bool numbers_lines;  /* batch->first_line is needed by those who ask, not only by takers */
    const tamis *filter; /* that hashes the keys ... */
    const tamis_builder *builder; /* ... or this; or neither */
    bool takes_keys;              /* the filter hashes keys itself: batches bring no hashes */
    bool is_second_time;          /* what there was to say about lines is said */
    uint64_t keyless;             /* lines without a key so far, that were left out */
    uint64_t fieldless, seen;     /* lines without the fields that make a key; all lines */
    bool has_unknown_form;        /* of the filter: keys_run refuses it */
    bool decompresses;
    const char *field_list; /* as the user wrote it */

    /* Before a read that may wait; false: nothing more is read. NULL for most. */
    bool (*await)(void *with, int fd);
    void *await_with;

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
    /* May be NULL. After the last batch of a file, also of one that could not be read. */
    void (*file_done)(void *with, const struct source *source);
    /* May be NULL. After `take`, when what it printed is on its way. */
    int (*after)(void *after_with, uint64_t lines);
    void *after_with;
    bool goes_on; /* after a file that cannot be read, as grep does */
    void *with;
};

/* What `take` returns when it has seen enough: no error. */
enum { KEYS_ENOUGH = -1 };

/* Keys from the operands after the first `skip`, or from standard input. Returns 0 or
 * EXIT_TROUBLE; keys_close is due in both cases. */
int keys_open(struct keys *keys, const struct args *args, size_t skip);
int keys_open_file(struct keys *keys, const struct args *args, const char *name);

/* The same from a list of sources on the heap, which now belongs to the keys; NULL, which is
 * reported: memory is out. */
int keys_open_sources(struct keys *keys, const struct args *args, struct source *sources, size_t n);
void keys_close(struct keys *keys);

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

/* Goes back to the first key. Sources that cannot be read again, as pipes, are left out. */
void keys_rewind(struct keys *keys);
bool keys_can_again(const struct keys *keys); /* all of them */

/* The number of the i-th line in its file. */
uint64_t line_number(const struct batch *batch, size_t i);

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
bool batch_has_one(const tamis *filter, const struct batch *batch, size_t i);
tamis_status batch_add(tamis *filter, const struct batch *batch);
tamis_status batch_add_one(tamis *filter, const struct batch *batch, size_t i);
tamis_status batch_add_new(tamis *filter, const struct batch *batch, size_t i, bool *is_new);
tamis_status batch_remove(tamis *filter, const struct batch *batch, size_t i);
tamis_status batch_build(tamis_builder *builder, const struct batch *batch);

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

/* What verbs print about lines, as grep does: "FILE:" with -H, "N:" with -n, then the line as it
 * came, each with its end. All go to batch->out. */
void print_place(struct batch *batch, size_t i);
void print_line(struct batch *batch, size_t i);

/* The line, a tab, and what follows it until print_pair_end. */
void print_pair_start(struct batch *batch, size_t i);
void print_pair_end(struct batch *batch);

/* "FILE:" */
void print_source(const struct source *source);

/* ==== Asking about keys: query_lines.c ======================================================== */

/* What a run of questions prints, and how much so far. A verb that needs more when it asks has this
 * as the first member of its own struct. */
struct hits {
    bool prints_lines, counts, stops_at_first, is_inverted, has_names;
    atomic_bool has_failed; /* set by a verb that got no answers: the run ends */
    uint64_t in_file, in_all;
};

/* Asks about all keys and prints as -v, -c, -n, -H and -q want it. `ask`, on any thread, fills
 * batch->hit and calls show_hits. Returns an exit status. */
int query_keys(struct keys *keys, struct hits *hits, void (*ask)(void *hits, struct batch *batch));

/* Prints the lines that are wanted; those with a hit by `print`, unless that is NULL. */
typedef void print_hit(void *with, struct batch *batch, size_t i);
void show_hits(const struct hits *hits, struct batch *batch, print_hit *print, void *with);

#endif
