/* SPDX-License-Identifier: MIT */
/* block.h: only the files in cli/keys/ include this. */
#ifndef TAMIS_CLI_KEYS_BLOCK_H
#define TAMIS_CLI_KEYS_BLOCK_H

#include "cli/keys/keys.h"

/* ==== Bytes: input.c ======================================================================== */

/* Opens a source. NULL, with a sentence in `why`, when that fails. With `decompresses`, what is
 * gzip or zstd is read through it. */
struct input *input_open(struct source *source, bool decompresses, char *why, size_t size);
void input_close(struct input *input);

/* What is asked before each read that may wait; when it says no, input_read fails without a
 * sentence. */
void input_ask_before(struct input *input, bool (*await)(void *with, int fd), void *with);

/* As read(2), interrupted never: how many bytes, 0 at the end, -1 with a sentence. Less than `room`
 * only where more would have to be waited for, or at the end. */
ssize_t input_read(struct input *input, void *bytes, size_t room, char *why, size_t size);

/* How many bytes of its file were read, compressed as they may be. */
uint64_t input_position(const struct input *input);

/* How many bytes a source will bring; false when unknown, as with pipes. */
bool input_size(const struct source *source, uint64_t *size);

/* Whether reading would block, as at a terminal or a slow pipe. */
bool input_waits(const struct input *input);

/* Whether a source can be read a second time; standard input is then at its start again. */
bool input_can_again(const struct source *source);

/* ---- Compressed bytes: gunzip.c, unzstd.c ---- */

/* One step: bytes are taken from the front of `from` and put to the front of `to`. */
struct unpacking {
    const uint8_t *from;
    size_t from_len;
    uint8_t *to;
    size_t room;
};

/* After a whole part the data may end, or another part may follow. */
enum unpacked { UNPACKED_SOME, UNPACKED_WHOLE, UNPACK_FAILED };

struct packing {
    const char *name;
    void *(*start)(void); /* NULL for no memory. The pointer itself is NULL when not built in. */
    enum unpacked (*step)(void *state, struct unpacking *unpacking, char *why, size_t size);
    void (*end)(void *state);
};

extern const struct packing gzip_packing, zstd_packing;

/* What these first bytes belong to, or NULL. `is_open`: a few more bytes would tell. */
const struct packing *packing_of(const uint8_t *bytes, size_t len, bool *is_open);

/* ==== Blocks: blocks.c ====================================================================== */

/* A block is so large, and a line that does not fit into one is a long line: it goes to an unnamed
 * file and is looked at through a mapping, so that it needs no memory of ours. */
enum { BLOCK_BYTES = 128 * 1024 };

/* A key from this length on is hashed and printed in pieces, whose pages are then let go. */
enum { LONG_KEY = 4 * 1024 * 1024 };

enum { WHY_BYTES = 512 };

/* Keys stay where they were written: when a page is full, another one follows. */
struct page {
    struct page *before;
    size_t room, len;
    char bytes[];
};

struct block {
    struct batch batch;
    char *room;        /* BLOCK_BYTES, and as many more as scan.h wants */
    const char *bytes; /* the lines: `room`, or the mapping of a long line */
    size_t len;
    size_t mapped;     /* bytes of the mapping, or 0 */
    size_t lines_room; /* of the lists in the batch */
    struct page *page; /* memory for keys that are not as they lie in the block, newest first */
    bool is_done;      /* was worked on */
    bool ends_file;    /* nothing of its file comes after it */
    bool is_short_of_memory;
    char trouble[WHY_BYTES];  /* why its file could not be read on; "" when it could */
    char bad_line[WHY_BYTES]; /* why the line after the last of the batch is not a key */
    uint64_t keyless;         /* lines that were left out of the batch */
    uint64_t fieldless;       /* lines without the fields of a key, left out or not */
};

bool block_make(struct block *block);
void block_free(struct block *block);

/* The next block of lines; false when there are none any more. */
bool block_fill(struct keys *keys, struct block *block);

/* Lets go of what a block held, before it is filled again. */
void block_clear(struct block *block);

/* ==== Lines to keys: split_lines.c ============================================================ */

/* Cuts the block into lines and keys, and hashes them. On any thread. */
void block_cut(const struct keys *keys, struct block *block);

/* ==== Keys that are not their lines: rewrite.c ============================================== */

enum fate { IS_KEY, HAS_NO_KEY, IS_BAD };

/* What is to do, found once for a whole block. */
struct rewriting {
    bool has_fields, cuts, has_form; /* ends are cut off; or the key needs room of its own */
};
struct rewriting rewriting_of(const struct cutting *cutting);

/* Makes a key of `key`, which is the line, or what --values left of it; the block has the memory.
 * IS_BAD comes with block->bad_line, or when memory is out. */
enum fate rewrite_key(const struct cutting *cutting, struct rewriting rewriting,
                      struct block *block, struct tamis_key *key);

/* ==== Pairs: pairs.c ======================================================================== */

/* Removes the value after the last tab of a line. False, with a message, when there is none. */
bool read_pair(struct tamis_key *key, uint64_t *value, char *why, size_t size);

/* ==== Long keys in pieces: pieces.c ========================================================= */

/* Pages of a mapping that are looked at are let go again. A key in other memory must not come in
 * pieces: its pages would be gone for good. */

struct pieces {
    const char *at, *end, *from;
};

struct pieces pieces_of(const struct tamis_key *key);

/* For tamis_hash_pieces: the memory of the pieces before is let go where it is a mapping. */
const void *next_piece(void *pieces, size_t *len);

#endif
