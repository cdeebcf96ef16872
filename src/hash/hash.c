/* Key bytes to 64 bits. xxHash comes as its packaged header and is compiled in here only. */
#include "hash/hash.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "bits/bits.h"
#include "hash/sip13.h"

static const char *const mode_names[TAMIS_HASH_MODES] = {"own", "xxh3", "xxh64", "sip13"};
static const char *const place_names[TAMIS_KEY_PLACES] = {"none", "inside", "outside"};

const char *tamis__hash_name(tamis_hash_mode mode) {
    return mode_names[mode];
}

const char *tamis__key_place_name(tamis_key_place place) {
    return place_names[place];
}

uint64_t tamis__hash(const tamis_hasher *h, const void *key, size_t len) {
    switch (h->mode) {
    case TAMIS_HASH_XXH3: return XXH3_64bits_withSeed(key, len, h->seed);
    case TAMIS_HASH_XXH64: return XXH64(key, len, h->seed);
    case TAMIS_HASH_SIP13: return tamis__sip13(h->secret, key, len);
    default: return 0;
    }
}

uint64_t tamis__hash_u64(const tamis_hasher *h, uint64_t key) {
    uint8_t bytes[8];
    tamis__put64(bytes, key);
    return tamis__hash(h, bytes, sizeof bytes);
}

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
