/* SPDX-License-Identifier: MIT */
/* block.h: only the files in cli/keys/ include this. */
#ifndef TAMIS_CLI_KEYS_BLOCK_H
#define TAMIS_CLI_KEYS_BLOCK_H

#include "cli/keys/keys.h"

/* ==== Bytes: input.c ======================================================================== */

/* Opens a source. NULL, with a sentence in `why`, when that fails. Unless the keys are read as they
 * are, compressed data and UTF-16 are read through what makes plain text of them. */
struct input *input_open(struct source *source, const struct keys *keys, char *why, size_t size);
void input_close(struct input *input);

/* What is asked before each read that may wait; when it says no, input_read fails without a
 * sentence. */
void input_ask_before(struct input *input, bool (*await)(void *with, int fd), void *with);

/* As read(2), interrupted never: how many bytes, 0 at the end, -1 with a sentence. Less than `room`
 * only where more would have to be waited for, or at the end. */
ssize_t input_read(struct input *input, void *bytes, size_t room, char *why, size_t size);

/* Whether its bytes are others than those of its file. */
bool input_is_packed(const struct input *input);

/* How many bytes of its file were read, compressed as they may be. */
uint64_t input_position(const struct input *input);

/* How many bytes a source will bring; false when unknown, as with pipes. */
bool input_size(const struct source *source, uint64_t *size);

/* Whether reading would block, as at a terminal or a slow pipe. */
bool input_waits(const struct input *input);

/* Whether a source can be read a second time; standard input is then at its start again. */
bool input_can_again(const struct source *source);

/* ---- Compressed bytes: unpacker.c, gunzip.c, unzstd.c, unxz.c, unbzip2.c; utf16.c ---- */

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
    bool (*reset)(void *state); /* for the next part; NULL where `step` does that by itself */
    void (*end)(void *state);
    bool is_text; /* another way to write text: for lines, not for files of other systems */
};

extern const struct packing gzip_packing, zstd_packing, xz_packing, bzip2_packing;
extern const struct packing utf16le_packing, utf16be_packing;

struct unpacker {
    const struct packing *packing;
    void *state;
    bool is_between; /* a part has ended, and none began */
    bool is_padded;  /* by zeros */
    uint64_t in, out;
};

/* False when memory is out; unpacker_end is due in any case. */
bool unpacker_start(struct unpacker *unpacker, const struct packing *packing);
enum unpacked unpacker_step(struct unpacker *unpacker, struct unpacking *unpacking, char *why,
                            size_t size);
void unpacker_end(struct unpacker *unpacker);

/* ---- What first bytes belong to: contents.c ---- */

/* Files are what their first bytes say. What is neither text nor compressed has a name and no
 * packing; what is not known has neither. */
struct contents {
    const char *name;              /* "a Tamis image" */
    const struct packing *packing; /* through which its bytes are read */
    size_t skip;                   /* bytes that are no part of the text: a byte-order mark */
};

/* `is_open`: a few more bytes would tell. */
struct contents contents_of(const uint8_t *bytes, size_t len, bool *is_open);

/* The compression of these first bytes, or NULL. */
const struct packing *packing_of(const uint8_t *bytes, size_t len);

/* ==== Blocks: blocks.c ====================================================================== */

/* A block is so large, and a line that does not fit into one is a long line: it goes to an unnamed
 * file and is looked at through a mapping, so that it needs no memory of ours. */
enum { BLOCK_BYTES = 128 * 1024 };

/* A key from this length on is hashed and printed in pieces, whose pages are then let go. */
enum { LONG_KEY = 4 * 1024 * 1024 };

/* A key up to this length can be other bytes than its line has; a record of CSV has no more. */
enum { MAX_REWRITTEN = 16 * 1024 * 1024 };

enum { WHY_BYTES = 512 };

/* Keys stay where they were written: when a page is full, another one follows. */
struct page {
    struct page *before;
    size_t room, len;
    char bytes[];
};

/* The first line of a block that is not a key for one reason. */
struct first_line {
    const char *bytes; /* where it starts; NULL: there is none */
    enum looks looks;
    char words[WHY_BYTES]; /* the line, or what is wrong with it */
};

struct block {
    struct batch batch;
    char *room;        /* BLOCK_BYTES, and as many more as scan.h wants */
    const char *bytes; /* the lines: `room`, or the mapping of a long line */
    size_t len;
    size_t mapped;     /* bytes of the mapping, or 0 */
    size_t lines_room; /* of the lists in the batch */
    struct page *page; /* memory for keys that are not as they lie in the block, newest first */
    uint64_t lines;    /* how many, in which several may be one record */
    bool has_header;   /* its first record is one */
    bool is_done;      /* was worked on */
    bool ends_file;    /* nothing of its file comes after it */
    bool is_short_of_memory;
    char trouble[WHY_BYTES];  /* why its file could not be read on; "" when it could */
    char bad_line[WHY_BYTES]; /* why the line after the last of the batch is not a key */
    uint64_t keyless;         /* lines that were left out of the batch */
    struct classes classes;   /* of the keys of a list */
    size_t matches_room;      /* of batch.match */
    struct skipped skipped;   /* lines without a key, left out or not */
    struct first_line fieldless, invalid;
};

bool block_make(struct block *block);
void block_free(struct block *block);

/* The next block of lines; false when there are none any more. */
bool block_fill(struct keys *keys, struct block *block);

/* Reads nothing more of this source: the next block is of the one after it. */
void blocks_leave(struct keys *keys, const struct source *source);

/* How many lines end in these bytes. */
uint64_t count_lines(const char *bytes, size_t len, char line_end);

/* Lets go of what a block held, before it is filled again. */
void block_clear(struct block *block);

/* ==== Lines to keys: split_lines.c ============================================================ */

/* Cuts the block into lines and keys, and hashes them. On any thread. */
void block_cut(const struct keys *keys, struct block *block);

/* Room for more in the lists of the batch; false, noted, when memory is out. */
bool block_make_room(struct block *block, size_t lines);

/* ==== Several keys of a line: several.c ===================================================== */

/* After the last block. */
void several_end(struct keys *keys);

/* Makes of the lines of a list all their keys; or room for answers. On any thread. */
void block_spread(const struct keys *keys, struct block *block);

/* Marks for classes of keys that are new. In order, before the batch is taken. */
void block_mark(struct keys *keys, struct block *block);

/* ==== Keys that are not their lines: rewrite.c ============================================== */

enum fate {
    IS_KEY,
    IS_FIELDLESS,
    IS_INVALID, /* with a sentence in block->bad_line */
    IS_EMPTY,
    IS_COMMENT,
    IS_BAD /* the run ends, with a sentence in block->bad_line or without memory */
};

/* What is to do, found once for a whole block. */
struct rewriting {
    bool has_fields, cuts, has_form; /* ends are cut off; or the key needs room of its own */
    bool is_needed;                  /* a line may be another key than its bytes */
    const struct fields *fields;     /* of this source */
};
struct rewriting rewriting_of(const struct cutting *cutting, const struct source *source);

/* Cuts comments off the line; true when nothing else is in it. */
bool cut_comments(const struct cutting *cutting, struct tamis_key *line);

/* Makes a key of `key`, which is the line, or what --values left of it; the block has the
 * memory. */
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
