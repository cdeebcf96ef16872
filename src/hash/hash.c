/* SPDX-License-Identifier: MIT */
/* Key bytes to 64 bits. xxHash comes as its packaged header and is compiled only here. */
#include "hash/hash.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "bits/bits.h"
#include "cpu/cpu.h"
#include "hash/integers.h"
#include "hash/sip13.h"
#include "hash/strings.h"

static const char *const mode_names[TAMIS_HASH_MODES] = {"own", "xxh3", "xxh64", "sip13", "mix8"};
static const char *const place_names[TAMIS_KEY_PLACES] = {"none", "inside", "outside"};

const char *tamis__hash_name(tamis_hash_mode mode) {
    return mode_names[mode];
}

const char *tamis__key_place_name(tamis_key_place place) {
    return place_names[place];
}

/* XXH3, but for keys of 8 bytes. */
TAMIS_HOT uint64_t mix8(uint64_t seed, const void *key, size_t len) {
    if (len == 8) return tamis_inline_mix8(tamis__mix8_flip(seed), tamis__get64(key));
    return XXH3_64bits_withSeed(key, len, seed);
}

TAMIS_ONE_KEY uint64_t tamis__hash(const tamis_hasher *h, const void *key, size_t len) {
    switch (h->mode) {
    case TAMIS_HASH_XXH3:
        return h->seed ? XXH3_64bits_withSeed(key, len, h->seed) : XXH3_64bits(key, len);
    case TAMIS_HASH_XXH64: return XXH64(key, len, h->seed);
    case TAMIS_HASH_SIP13: return tamis__sip13(h->secret, key, len);
    case TAMIS_HASH_MIX8: return mix8(h->seed, key, len);
    default: return 0;
    }
}

/* ---- Many keys ------------------------------------------------------------------------------ */

/* The mode is a constant wherever this is inlined: one loop for each, without a switch inside. */
TAMIS_HOT uint64_t hash_by(tamis_hash_mode mode, const tamis_hasher *h, const void *key,
                           size_t len) {
    switch (mode) {
    case TAMIS_HASH_XXH3: return XXH3_64bits_withSeed(key, len, h->seed);
    case TAMIS_HASH_XXH64: return XXH64(key, len, h->seed);
    default: return tamis__sip13(h->secret, key, len);
    }
}

TAMIS_HOT void strings_by(tamis_hash_mode mode, const tamis_hasher *h, const struct tamis_key *keys,
                          size_t n, uint64_t *hashes) {
    for (size_t i = 0; i < n; i++) hashes[i] = hash_by(mode, h, keys[i].bytes, keys[i].len);
}

/* Common key lengths: addresses, digests, identifiers and their texts. With the length known, and
 * no seed, XXH3 has no branches left (2.0 ns instead of 3.2 for 32 bytes). */
#define USUAL_LENGTHS(DO) DO(4) DO(8) DO(16) DO(20) DO(32) DO(36) DO(40) DO(64)

TAMIS_HOT uint64_t usual_hash(const void *key, size_t len) {
    switch (len) {
#define ONE(length) \
    case length: return XXH3_64bits(key, length);
        USUAL_LENGTHS(ONE)
#undef ONE
    default: return XXH3_64bits(key, len);
    }
}

static void hash_usual_rows(const uint8_t *keys, size_t width, size_t n, uint64_t *hashes) {
    switch (width) {
#define ROWS(length)                                                                       \
    case length:                                                                           \
        for (size_t i = 0; i < n; i++) hashes[i] = XXH3_64bits(keys + i * length, length); \
        break;
        USUAL_LENGTHS(ROWS)
#undef ROWS
    default:
        for (size_t i = 0; i < n; i++) hashes[i] = XXH3_64bits(keys + i * width, width);
    }
}

static void hash_usual_strings(const struct tamis_key *keys, size_t n, uint64_t *hashes) {
    for (size_t i = 0; i < n; i++) hashes[i] = usual_hash(keys[i].bytes, keys[i].len);
}

/* Those of 8 bytes once more, as integers. */
static void mix_numbers(uint64_t seed, const struct tamis_key *keys, size_t n, uint64_t *hashes) {
    for (size_t i = 0; i < n; i++)
        if (keys[i].len == 8) hashes[i] = mix8(seed, keys[i].bytes, 8);
}

/* A string far longer than the others of its eight would make them wait. Such strings are few, and
 * the kernel is still right. */
static void hash_keyed_strings(const tamis_hasher *h, const struct tamis_key *keys, size_t n,
                               uint64_t *hashes) {
    size_t done = 0;
#if TAMIS_HAS_X86
    if (tamis__cpu() & TAMIS_CPU_AVX512)
        done = tamis__sip13_strings_avx512(h->secret, keys, n, hashes);
#endif
    strings_by(TAMIS_HASH_SIP13, h, keys + done, n - done, hashes + done);
}

void tamis__hash_strings(const tamis_hasher *h, const struct tamis_key *keys, size_t n,
                         uint64_t *hashes) {
    switch (h->mode) {
    case TAMIS_HASH_XXH3:
    case TAMIS_HASH_MIX8:
        if (h->seed == 0)
            hash_usual_strings(keys, n, hashes);
        else
            strings_by(TAMIS_HASH_XXH3, h, keys, n, hashes);
        if (h->mode == TAMIS_HASH_MIX8) mix_numbers(h->seed, keys, n, hashes);
        break;
    case TAMIS_HASH_XXH64: strings_by(TAMIS_HASH_XXH64, h, keys, n, hashes); break;
    case TAMIS_HASH_SIP13: hash_keyed_strings(h, keys, n, hashes); break;
    default: memset(hashes, 0, n * sizeof *hashes); break;
    }
}

void tamis__hash_packed(const tamis_hasher *h, const uint8_t *keys, size_t width, size_t n,
                        uint64_t *hashes) {
    const bool is_xxh3 = h->mode == TAMIS_HASH_XXH3 || (h->mode == TAMIS_HASH_MIX8 && width != 8);
    if (is_xxh3 && h->seed == 0)
        hash_usual_rows(keys, width, n, hashes);
    else
        for (size_t i = 0; i < n; i++) hashes[i] = tamis__hash(h, keys + i * width, width);
}

TAMIS_HOT void numbers_by(tamis_hash_mode mode, const tamis_hasher *h, const uint64_t *keys,
                          size_t n, uint64_t *hashes) {
    for (size_t i = 0; i < n; i++) {
        const uint64_t bytes = tamis__swap64(keys[i]);
        hashes[i] = hash_by(mode, h, &bytes, sizeof bytes);
    }
}

/* Returns how many keys a vector kernel has hashed. */
static size_t numbers_by_vector(const tamis_hasher *h, const uint64_t *keys, size_t n,
                                uint64_t *hashes) {
#if TAMIS_HAS_X86
    const uint32_t cpu = tamis__cpu();
    if (!(cpu & TAMIS_CPU_AVX512)) {
        if (!(cpu & TAMIS_CPU_AVX2) || h->mode != TAMIS_HASH_XXH3) return 0;
        return tamis__xxh3_u64s_avx2(tamis__xxh3_flip(h->seed), keys, n, hashes);
    }
    switch (h->mode) {
    case TAMIS_HASH_XXH3:
        return tamis__xxh3_u64s_avx512(tamis__xxh3_flip(h->seed), keys, n, hashes);
    case TAMIS_HASH_XXH64: return tamis__xxh64_u64s_avx512(h->seed, keys, n, hashes);
    case TAMIS_HASH_SIP13: return tamis__sip13_u64s_avx512(h->secret, keys, n, hashes);
    case TAMIS_HASH_MIX8:
        return tamis__mix8_u64s_avx512(tamis__mix8_flip(h->seed), keys, n, hashes);
    default: return 0;
    }
#else
    (void)h, (void)keys, (void)n, (void)hashes;
    return 0;
#endif
}

void tamis__hash_u64s(const tamis_hasher *h, const uint64_t *keys, size_t n, uint64_t *hashes) {
    const size_t done = numbers_by_vector(h, keys, n, hashes);
    keys += done, hashes += done, n -= done;
    /* A copy: as far as the compiler knows, every store to `hashes` may change the hasher. */
    const uint64_t seed = h->seed;
    switch (h->mode) {
    case TAMIS_HASH_XXH3:
        for (size_t i = 0; i < n; i++)
            hashes[i] = tamis_inline_xxh3(tamis__xxh3_flip(seed), keys[i]);
        break;
    case TAMIS_HASH_MIX8:
        for (size_t i = 0; i < n; i++)
            hashes[i] = tamis_inline_mix8(tamis__mix8_flip(seed), keys[i]);
        break;
    case TAMIS_HASH_XXH64: numbers_by(TAMIS_HASH_XXH64, h, keys, n, hashes); break;
    case TAMIS_HASH_SIP13: numbers_by(TAMIS_HASH_SIP13, h, keys, n, hashes); break;
    default: memset(hashes, 0, n * sizeof *hashes); break;
    }
}

/* ---- One key in pieces ----------------------------------------------------------------------- */

typedef const void *next_piece(void *ctx, size_t *len);

/* For mix8 too: a key that turns out to have 8 bytes is hashed again. */
static uint64_t xxh3_pieces(const tamis_hasher *h, next_piece *next, void *ctx) {
    XXH3_state_t state;
    uint8_t first[8];
    uint64_t total = 0;
    const uint8_t *piece;
    size_t len;
    XXH3_INITSTATE(&state);
    XXH3_64bits_reset_withSeed(&state, h->seed);
    while ((piece = next(ctx, &len)) != NULL) {
        XXH3_64bits_update(&state, piece, len);
        for (size_t i = 0; i < len && total + i < sizeof first; i++) first[total + i] = piece[i];
        total += len;
    }
    return h->mode == TAMIS_HASH_MIX8 && total == sizeof first ? mix8(h->seed, first, sizeof first)
                                                               : XXH3_64bits_digest(&state);
}

static uint64_t xxh64_pieces(uint64_t seed, next_piece *next, void *ctx) {
    XXH64_state_t state;
    const void *piece;
    size_t len;
    XXH64_reset(&state, seed);
    while ((piece = next(ctx, &len)) != NULL) XXH64_update(&state, piece, len);
    return XXH64_digest(&state);
}

static uint64_t sip13_pieces(const uint8_t *secret, next_piece *next, void *ctx) {
    tamis_sip13_sum sum;
    const void *piece;
    size_t len;
    tamis__sip13_start(&sum, secret);
    while ((piece = next(ctx, &len)) != NULL) tamis__sip13_more(&sum, piece, len);
    return tamis__sip13_end(&sum);
}

uint64_t tamis__hash_pieces(const tamis_hasher *h, next_piece *next, void *ctx) {
    switch (h->mode) {
    case TAMIS_HASH_XXH3:
    case TAMIS_HASH_MIX8: return xxh3_pieces(h, next, ctx);
    case TAMIS_HASH_XXH64: return xxh64_pieces(h->seed, next, ctx);
    case TAMIS_HASH_SIP13: return sip13_pieces(h->secret, next, ctx);
    default: return 0;
    }
}

/* ---- Identifying a hasher -------------------------------------------------------------------- */

uint64_t tamis__key_id(const tamis_hasher *h) {
    static const char text[] = "tamis key id";
    return h->key_place == TAMIS_KEY_NONE ? 0 : tamis__sip13(h->secret, text, sizeof text - 1);
}

uint64_t tamis__hash_self_test(const tamis_hasher *h) {
    static const char text[] = "tamis: one sieve for every set";
    return tamis__hash(h, text, sizeof text - 1);
}

bool tamis__random_secret(uint8_t secret[TAMIS_SECRET_BYTES]) {
    const int saved = errno; /* the library does not touch errno */
    ssize_t got;
    do got = getrandom(secret, TAMIS_SECRET_BYTES, 0);
    while (got < 0 && errno == EINTR);
    errno = saved;
    return got == TAMIS_SECRET_BYTES;
}

void tamis__wipe(void *bytes, size_t len) {
    volatile uint8_t *p = bytes;
    while (len--) *p++ = 0;
}

_Static_assert(sizeof(XXH3_state_t) <= TAMIS_SUM_BYTES, "the state fits");

static XXH3_state_t *state_of(const tamis_sum *sum) {
    return (XXH3_state_t *)(uintptr_t)sum->state;
}

void tamis__sum_start(tamis_sum *sum) {
    XXH3_64bits_reset(state_of(sum));
}

void tamis__sum_more(tamis_sum *sum, const void *bytes, size_t len) {
    if (len) XXH3_64bits_update(state_of(sum), bytes, len);
}

uint64_t tamis__sum_end(const tamis_sum *sum) {
    return XXH3_64bits_digest(state_of(sum));
}

uint64_t tamis__checksum(const void *bytes, size_t len, const void *more, size_t more_len) {
    if (more_len == 0) return XXH3_64bits(bytes, len);
    tamis_sum sum;
    tamis__sum_start(&sum);
    tamis__sum_more(&sum, bytes, len);
    tamis__sum_more(&sum, more, more_len);
    return tamis__sum_end(&sum);
}
