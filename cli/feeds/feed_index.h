/* SPDX-License-Identifier: MIT */
/* feed_index.h: only the files in cli/ and their tests include this. What a publisher offers.
 *
 *     tamis index 1
 *     serial 1763452800
 *     feed NAME BYTES SUM DIGEST
 *     patch BASE_BYTES BASE_SUM RESULT_BYTES RESULT_SUM BYTES DIGEST       for the feed above it
 *     end
 *     signed PUBLIC_KEY SIGNATURE                                          or not
 *
 * It is text that comes from outside: names become names of files, sizes become memory. So it is
 * read strictly: one form for everything, one space between words, nothing left over. Names ascend;
 * the patches of a feed are a chain that ends with its image. Nothing here prints, or opens
 * files. */
#ifndef TAMIS_CLI_FEEDS_FEED_INDEX_H
#define TAMIS_CLI_FEEDS_FEED_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FEED_NAME_BYTES = 100,
    DIGEST_BYTES = 32,     /* BLAKE2b-256 */
    PUBLIC_KEY_BYTES = 32, /* Ed25519 */
    SIGNATURE_BYTES = 64
};

/* Of a file that was made without libsodium there is no digest. */
struct digest {
    bool is_known;
    uint8_t bytes[DIGEST_BYTES];
};

/* Which bytes an image is: all patches of that size and checksum (XXH3-64) are for it. */
struct version {
    uint64_t bytes, sum;
};

static inline bool version_is(struct version a, struct version b) {
    return a.bytes == b.bytes && a.sum == b.sum;
}

struct feed_patch {
    struct version base, result;
    uint64_t bytes;
    struct digest digest;
};

struct feed {
    char name[FEED_NAME_BYTES + 1];
    struct version version;
    struct digest digest;
    struct feed_patch *patch; /* the oldest first */
    size_t patches, patch_room;
};

struct feed_index {
    uint64_t serial;
    struct feed *feed;
    size_t feeds, room;
    bool is_signed;
    uint8_t public_key[PUBLIC_KEY_BYTES], signature[SIGNATURE_BYTES];
    size_t signed_bytes; /* of the text: all but the last line */
};

/* What follows a name in the directory of a publisher. */
extern const char index_name[];
enum { FEED_FILE_BYTES = FEED_NAME_BYTES + 64 };
void feed_image_name(const struct feed *feed, char name[FEED_FILE_BYTES]);
void feed_patch_name(const struct feed *feed, const struct feed_patch *patch,
                     char name[FEED_FILE_BYTES]);

/* Letters, digits, and between them . _ + -: a name that means nothing to a shell, stays in its
 * directory and hides nothing. */
bool feed_name_is_good(const char *name, size_t len);

/* Whether a file is a patch of a feed, by its name; and whether it is one of those that publish and
 * sync keep beside the images. */
bool feed_file_is_patch(const char *file);
bool feed_file_is_aside(const char *file);

/* False with a sentence. feed_index_free is due in any case. */
bool feed_index_parse(struct feed_index *index, const char *text, size_t len, char *why,
                      size_t size);
void feed_index_free(struct feed_index *index);

/* The feed of that name, or NULL. */
struct feed *feed_named(const struct feed_index *index, const char *name);

/* Adds a feed behind the others, or a patch; false when memory is out. */
struct feed *feed_add(struct feed_index *index, const char *name);
bool feed_add_patch(struct feed *feed, const struct feed_patch *patch);
void feed_drop_patches(struct feed *feed, size_t oldest);

/* The first patch of the chain from a version to the newest, `patches` when there is none; and what
 * the whole chain weighs. */
size_t feed_chain(const struct feed *feed, struct version from, uint64_t *bytes);

/* ==== What a subscriber remembers ============================================================
 *
 *     tamis sync 1
 *     serial 1763452800
 *     index SUM
 *     feed NAME                  those that it wrote
 *     end */

struct feed_state {
    uint64_t serial, index_sum;
    char (*name)[FEED_NAME_BYTES + 1];
    size_t names, room;
};

extern const char state_name[];
bool feed_state_parse(struct feed_state *state, const char *text, size_t len, char *why,
                      size_t size);
bool feed_state_has(const struct feed_state *state, const char *name);
bool feed_state_add(struct feed_state *state, const char *name);
void feed_state_free(struct feed_state *state);

#endif
