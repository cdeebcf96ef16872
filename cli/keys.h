/* keys.h: only the files in cli/ include this. From files to keys, and lines back out. */
#ifndef TAMIS_CLI_KEYS_H
#define TAMIS_CLI_KEYS_H

#include <sys/types.h>

#include "cli/table.h"
#include "tamis.h"

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

#endif
