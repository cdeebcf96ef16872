/* SPDX-License-Identifier: MIT */
/* Austin Appleby's MurmurHash family. */
#include "foreign/murmur.h"

#include "foreign/bytes.h"

static uint64_t rotl64(uint64_t x, unsigned by) {
    return x << by | x >> (64 - by);
}

/* The rest of a key after its last whole word. */
typedef struct tail {
    const uint8_t *bytes;
    size_t len;
} tail;

static tail tail_of(const struct tamis_key *key, size_t word) {
    const size_t len = key->len % word;
    return (tail){(const uint8_t *)key->bytes + (key->len - len), len};
}

/* The i-th byte as a signed or unsigned number. */
static uint64_t byte_at(tail t, size_t i, bool is_signed) {
    return is_signed ? (uint64_t)(int64_t)(int8_t)t.bytes[i] : t.bytes[i];
}

/* ---- MurmurHash3, 32 bits ------------------------------------------------------------------- */

static uint32_t scramble(uint32_t k) {
    return tamis__rotl32(k * 0xcc9e2d51, 15) * 0x1b873593;
}

static uint32_t mix_word(uint32_t h, uint32_t k) {
    return tamis__rotl32(h ^ scramble(k), 13) * 5 + 0xe6546b64;
}

static uint32_t finish32(uint32_t h, size_t len) {
    h ^= (uint32_t)len;
    h = (h ^ h >> 16) * 0x85ebca6b;
    h = (h ^ h >> 13) * 0xc2b2ae35;
    return h ^ h >> 16;
}

static uint32_t mix_words(const struct tamis_key *key, uint32_t h) {
    const uint8_t *p = key->bytes;
    for (size_t i = 0; i + 4 <= key->len; i += 4) h = mix_word(h, tamis__get32(p + i));
    return h;
}

uint32_t tamis__murmur3_32(const struct tamis_key *key, uint32_t seed) {
    const tail t = tail_of(key, 4);
    uint32_t h = mix_words(key, seed), k = 0;
    for (size_t i = 0; i < t.len; i++) k |= (uint32_t)t.bytes[i] << 8 * i;
    if (t.len) h ^= scramble(k);
    return finish32(h, key->len);
}

uint32_t tamis__murmur3_spark(const struct tamis_key *key, uint32_t seed) {
    const tail t = tail_of(key, 4);
    uint32_t h = mix_words(key, seed);
    for (size_t i = 0; i < t.len; i++) h = mix_word(h, (uint32_t)byte_at(t, i, true));
    return finish32(h, key->len);
}

/* ---- MurmurHash3, 128 bits ------------------------------------------------------------------ */

#define C1 0x87c37b91114253d5
#define C2 0x4cf5ad432745937f

static uint64_t finish64(uint64_t x) {
    x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53;
    return x ^ x >> 33;
}

static void mix_16(tamis_pair *h, const uint8_t *p) {
    h->h1 ^= rotl64(tamis__get64(p) * C1, 31) * C2;
    h->h1 = (rotl64(h->h1, 27) + h->h2) * 5 + 0x52dce729;
    h->h2 ^= rotl64(tamis__get64(p + 8) * C2, 33) * C1;
    h->h2 = (rotl64(h->h2, 31) + h->h1) * 5 + 0x38495ab5;
}

static tamis_pair mix_all_16(const struct tamis_key *key, uint64_t seed) {
    const uint8_t *p = key->bytes;
    tamis_pair h = {seed, seed};
    for (size_t i = 0; i + 16 <= key->len; i += 16) mix_16(&h, p + i);
    return h;
}

static tamis_pair finish128(tamis_pair h, tail t, size_t len, bool is_signed) {
    uint64_t k1 = 0, k2 = 0;
    for (size_t i = 0; i < t.len && i < 8; i++) k1 ^= byte_at(t, i, is_signed) << 8 * i;
    for (size_t i = 8; i < t.len; i++) k2 ^= byte_at(t, i, is_signed) << 8 * (i - 8);
    h.h2 ^= rotl64(k2 * C2, 33) * C1; /* nothing happens where there is no tail: k is 0 */
    h.h1 ^= rotl64(k1 * C1, 31) * C2;
    h.h1 ^= len;
    h.h2 ^= len;
    h.h1 += h.h2;
    h.h2 += h.h1;
    h.h1 = finish64(h.h1);
    h.h2 = finish64(h.h2);
    h.h1 += h.h2;
    return (tamis_pair){h.h1, h.h2 + h.h1};
}

tamis_pair tamis__murmur3_128(const struct tamis_key *key, uint64_t seed) {
    return finish128(mix_all_16(key, seed), tail_of(key, 16), key->len, false);
}

tamis_pair tamis__murmur3_cassandra(const struct tamis_key *key) {
    return finish128(mix_all_16(key, 0), tail_of(key, 16), key->len, true);
}

void tamis__murmur3_128_twice(const struct tamis_key *key, tamis_pair pair[2]) {
    uint8_t longer[16];
    tail t = tail_of(key, 16);
    tamis_pair h = mix_all_16(key, 0);
    pair[0] = finish128(h, t, key->len, false);
    for (size_t i = 0; i < t.len; i++) longer[i] = t.bytes[i];
    longer[t.len] = 1;
    t = (tail){longer, t.len + 1};
    if (t.len == 16) {
        mix_16(&h, longer);
        t.len = 0;
    }
    pair[1] = finish128(h, t, key->len + 1, false);
}

/* As if the first half of 128 bits were all there is. */
uint64_t tamis__murmur3_orc(const struct tamis_key *key) {
    const uint8_t *p = key->bytes;
    const tail t = tail_of(key, 8);
    uint64_t h = 104729, k = 0;
    for (size_t i = 0; i + 8 <= key->len; i += 8) {
        h ^= rotl64(tamis__get64(p + i) * C1, 31) * C2;
        h = rotl64(h, 27) * 5 + 0x52dce729;
    }
    for (size_t i = 0; i < t.len; i++) k |= (uint64_t)t.bytes[i] << 8 * i;
    h ^= rotl64(k * C1, 31) * C2; /* nothing where there is no tail */
    return finish64(h ^ key->len);
}

/* ---- MurmurHash2 ---------------------------------------------------------------------------- */

#define M2 0x5bd1e995u

static uint32_t murmur2_words(const struct tamis_key *key, uint32_t seed) {
    const uint8_t *p = key->bytes;
    uint32_t h = seed ^ (uint32_t)key->len;
    for (size_t i = 0; i + 4 <= key->len; i += 4) {
        const uint32_t k = tamis__get32(p + i) * M2;
        h = h * M2 ^ (k ^ k >> 24) * M2;
    }
    return h;
}

static uint32_t murmur2_finish(uint32_t h) {
    h = (h ^ h >> 13) * M2;
    return h ^ h >> 15;
}

uint32_t tamis__murmur2_32(const struct tamis_key *key, uint32_t seed) {
    const tail t = tail_of(key, 4);
    uint32_t h = murmur2_words(key, seed);
    for (size_t i = 0; i < t.len; i++) h ^= (uint32_t)t.bytes[i] << 8 * i;
    return murmur2_finish(t.len ? h * M2 : h);
}

uint32_t tamis__murmur2_hadoop(const struct tamis_key *key, uint32_t seed) {
    const tail t = tail_of(key, 4);
    uint32_t h = murmur2_words(key, seed);
    for (size_t i = 0; i < t.len; i++) h ^= (uint32_t)byte_at(t, t.len - 1 - i, true) << 8 * i;
    return murmur2_finish(t.len ? h * M2 : h);
}

uint64_t tamis__murmur64a(const struct tamis_key *key, uint64_t seed) {
    const uint64_t m = 0xc6a4a7935bd1e995;
    const uint8_t *p = key->bytes;
    const tail t = tail_of(key, 8);
    uint64_t h = seed ^ key->len * m, rest = 0;
    for (size_t i = 0; i + 8 <= key->len; i += 8) {
        const uint64_t k = tamis__get64(p + i) * m;
        h = (h ^ (k ^ k >> 47) * m) * m;
    }
    for (size_t i = 0; i < t.len; i++) rest |= (uint64_t)t.bytes[i] << 8 * i;
    if (t.len) h = (h ^ rest) * m;
    h = (h ^ h >> 47) * m;
    return h ^ h >> 47;
}

/* ---- The first Murmur, of LevelDB ----------------------------------------------------------- */

static uint32_t murmur1(const struct tamis_key *key, bool is_signed) {
    const uint32_t m = 0xc6a4a793, seed = 0xbc9f1d34;
    const uint8_t *p = key->bytes;
    const tail t = tail_of(key, 4);
    uint32_t h = seed ^ (uint32_t)key->len * m;
    for (size_t i = 0; i + 4 <= key->len; i += 4) {
        h = (h + tamis__get32(p + i)) * m;
        h ^= h >> 16;
    }
    for (size_t i = 0; i < t.len; i++) h += (uint32_t)byte_at(t, i, is_signed) << 8 * i;
    if (t.len) h *= m;
    return t.len ? h ^ h >> 24 : h;
}

uint32_t tamis__murmur1_leveldb(const struct tamis_key *key) {
    return murmur1(key, false);
}

uint32_t tamis__murmur1_rocksdb(const struct tamis_key *key) {
    return murmur1(key, true);
}
