/* SPDX-License-Identifier: MIT */
/* For core, file and tests: key bytes to 64 bits.
 *
 * The only place that knows which hash a filter uses. A hasher (mode, seed and secret) is part of
 * the image, and filters match only if theirs are equal. */
#ifndef TAMIS_HASH_HASH_H
#define TAMIS_HASH_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tamis_inline.h"

enum { TAMIS_SECRET_BYTES = 16 };

/* Values are written in images; append only. OWN is for kinds that hash keys themselves. */
typedef enum tamis_hash_mode {
    TAMIS_HASH_OWN = 0,
    TAMIS_HASH_XXH3 = 1,
    TAMIS_HASH_XXH64 = 2,
    TAMIS_HASH_SIP13 = 3,
    TAMIS_HASH_MIX8 = 4,
    TAMIS_HASH_MODES
} tamis_hash_mode;

/* Where the secret of a keyed hash is kept. */
typedef enum tamis_key_place {
    TAMIS_KEY_NONE = 0,
    TAMIS_KEY_INSIDE = 1,
    TAMIS_KEY_OUTSIDE = 2,
    TAMIS_KEY_PLACES
} tamis_key_place;

typedef struct tamis_hasher {
    tamis_hash_mode mode;
    tamis_key_place key_place;
    uint64_t seed;                      /* xxh3, xxh64 and mix8 */
    uint8_t secret[TAMIS_SECRET_BYTES]; /* sip13 */
} tamis_hasher;

const char *tamis__hash_name(tamis_hash_mode);
const char *tamis__key_place_name(tamis_key_place);

uint64_t tamis__hash(const tamis_hasher *, const void *key, size_t len);

/* Many at once; integers as their 8 little-endian bytes. */
void tamis__hash_u64s(const tamis_hasher *, const uint64_t *keys, size_t n, uint64_t *hashes);
void tamis__hash_strings(const tamis_hasher *, const struct tamis_key *, size_t n,
                         uint64_t *hashes);

/* Contiguous keys of `width` bytes. */
void tamis__hash_packed(const tamis_hasher *, const uint8_t *keys, size_t width, size_t n,
                        uint64_t *hashes);

/* One key in pieces: `next` returns one after the other, then NULL. */
uint64_t tamis__hash_pieces(const tamis_hasher *, const void *(*next)(void *ctx, size_t *len),
                            void *ctx);

/* What XXH3 xors an integer with: two words of its own secret, and the seed twice. */
static inline uint64_t tamis__xxh3_flip(uint64_t seed) {
    seed ^= (uint64_t)__builtin_bswap32((uint32_t)seed) << 32;
    return UINT64_C(0xc73ab174c5ecd5a2) - seed;
}

/* The same for mix8. */
static inline uint64_t tamis__mix8_flip(uint64_t seed) {
    return UINT64_C(0x082efa98ec4e6c89) ^ seed;
}

/* One integer, with the usual hashes inlined. */
static inline uint64_t tamis__hash_u64(const tamis_hasher *h, uint64_t key) {
    uint64_t hash;
    if (h->mode == TAMIS_HASH_XXH3) return tamis_inline_xxh3(tamis__xxh3_flip(h->seed), key);
    if (h->mode == TAMIS_HASH_MIX8) return tamis_inline_mix8(tamis__mix8_flip(h->seed), key);
    tamis__hash_u64s(h, &key, 1, &hash);
    return hash;
}

/* Identifies a secret without revealing it; 0 without one. */
uint64_t tamis__key_id(const tamis_hasher *);

/* The hash of a fixed text: an image contains it, so that a reader whose hash differs in any way
 * refuses it. */
uint64_t tamis__hash_self_test(const tamis_hasher *);

/* A random secret from the system; false when it has none. */
bool tamis__random_secret(uint8_t secret[TAMIS_SECRET_BYTES]);

/* Wipes a secret in a way that the compiler does not remove. */
void tamis__wipe(void *bytes, size_t len);

/* Checksums of images: XXH3-64 over one run of bytes, then another. */
uint64_t tamis__checksum(const void *bytes, size_t len, const void *more, size_t more_len);

/* The same piece by piece. */
enum { TAMIS_SUM_BYTES = 640 };
typedef struct tamis_sum {
    _Alignas(64) uint8_t state[TAMIS_SUM_BYTES];
} tamis_sum;

void tamis__sum_start(tamis_sum *);
void tamis__sum_more(tamis_sum *, const void *bytes, size_t len);
uint64_t tamis__sum_end(const tamis_sum *);

#endif
