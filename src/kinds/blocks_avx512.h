/* SPDX-License-Identifier: MIT */
/* For blocked_avx512.c and split_avx512.c: batches of eight hashes.
 *
 * Addresses are computed for eight keys at once. A block is then tested in two instructions: one
 * multiplication gives an index in each of 8 words, one shuffle of bits looks all of them up and
 * leaves a verdict of 8 bits, one in each byte of a mask. Verdicts go to memory and are compared
 * when the group is done, because reading them back at once would wait for the stores. */
#ifndef TAMIS_KINDS_BLOCKS_AVX512_H
#define TAMIS_KINDS_BLOCKS_AVX512_H

#ifdef __AVX512BITALG__
#include "bits/eight_avx512.h"
#include "kinds/blocks.h"

enum { TAMIS_WIDTH = 8 };

/* One bit in each byte: all 8 words had their bits. */
#define TAMIS_ALL_THERE 0x0101010101010101

/* The parts of a kernel: offsets of eight blocks; the verdict on one, and the setting of its bits,
 * from a hash shifted up by `shift` bits to fit the multiplier. */
typedef __m512i tamis_places8(__m512i hash, __m512i blocks);
typedef __mmask64 tamis_probe(const uint8_t *block, const uint64_t *moved, __m512i multipliers);
typedef void tamis_mark(uint8_t *block, const uint64_t *moved, __m512i multipliers);

/* Eight products of a hash and the multiplier of each lane, from bit 52 on. */
TAMIS_HOT __m512i tamis__top_products(const uint64_t *moved, __m512i multipliers) {
    return _mm512_madd52hi_epu64(_mm512_setzero_si512(), multipliers,
                                 _mm512_set1_epi64((long long)*moved));
}

/* The salts of the lanes, 20 bits up: with a hash 6 bits up the product starts at bit 26. */
TAMIS_HOT __m512i tamis__multipliers(__m512i order) {
    const __m512i salt =
        _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)(const void *)tamis__salt));
    return _mm512_slli_epi64(_mm512_permutexvar_epi64(order, salt), 20);
}

/* What to do with the words of a list first: hashes are used as they are, integers are hashed. */
typedef __m512i tamis_source8(const uint64_t *words, __m512i flip);

TAMIS_HOT __m512i tamis__hashes8(const uint64_t *words, __m512i flip) {
    (void)flip;
    return tamis__next_eight(words);
}

TAMIS_HOT __m512i tamis__numbers8(const uint64_t *words, __m512i flip) {
    return tamis__xxh3_eight(tamis__next_eight(words), flip);
}

/* From here on queries are faster with fetches ahead. ns per query without and with them, large
 * pages: 1.3 MB 1.5 and 1.6, 3.8 MB 2.0 and 1.7, 12.6 MB 2.6 and 2.4, 126 MB 8.9 and 4.7 (Xeon,
 * 2 MiB of second cache). */
enum { FAR_ENOUGH = 2 << 20 };

/* How many keys a block is fetched before it is tested or changed. Memory needs more than the third
 * cache: ns per key on Zen 5 with 32 MiB of it, 64 and 128 ahead. Builds: 6.3 MB 1.7 and 1.9,
 * 12.6 MB 1.9 and 2.0, 25 MB 3.3 and 2.5, 38 MB 3.7 and 2.8. Queries: 126 MB 3.6 and 3.0. */
enum { NEAR_AHEAD = 32, CACHED_AHEAD = 64, FAR_AHEAD = 128 };

/* One pass over a list, which tests blocks or sets bits in them. */
typedef struct tamis_pass8 {
    tamis_source8 *source;
    tamis_places8 *places;
    tamis_probe *probe; /* NULL for adds */
    tamis_mark *mark;   /* NULL for queries */
    unsigned shift;
    bool is_far;
    size_t ahead; /* a power of two */
    __m512i flip, blocks, multipliers;
    uint8_t *bytes;
} tamis_pass8;

/* Keys on their way, at their number modulo `ahead`. */
typedef struct tamis_ring8 {
    _Alignas(64) uint64_t at[FAR_AHEAD];
    uint64_t moved[FAR_AHEAD], verdict[FAR_AHEAD];
} tamis_ring8;

/* The offsets of the blocks of eight words, and their hashes. */
TAMIS_HOT __m512i tamis__locate8(const tamis_pass8 *p, const uint64_t *words, __m512i *hashes) {
    *hashes = p->source(words, p->flip);
    return p->places(*hashes, p->blocks);
}

/* Works on the eight blocks at `last`, and fetches those of eight words, which go to `next`. Both
 * take turns key by key: a burst of fetches fills the buffers for lines on their way and then
 * leaves them empty. 12.6 MB took 4.0 ns per query with 128 fetches and 128 tests, 3.2 with eight
 * and eight, and takes 2.4 now (Xeon). */
TAMIS_HOT void tamis__turn8(const tamis_pass8 *p, tamis_ring8 *r, bool works, size_t last,
                            bool fetches, size_t next, const uint64_t *words) {
    const bool is_far = fetches && p->is_far;
    _Alignas(64) uint64_t at[TAMIS_WIDTH];
    __m512i h = p->flip;
    if (is_far) _mm512_store_si512(at, tamis__locate8(p, words, &h));
#pragma GCC unroll 8
    for (size_t j = 0; j < TAMIS_WIDTH; j++) {
        const size_t k = last + j;
        if (works && p->probe)
            r->verdict[k] =
                _cvtmask64_u64(p->probe(p->bytes + r->at[k], r->moved + k, p->multipliers));
        if (works && p->mark) p->mark(p->bytes + r->at[k], r->moved + k, p->multipliers);
        if (is_far && p->probe) TAMIS_PREFETCH(p->bytes + at[j]);
        if (is_far && p->mark) TAMIS_PREFETCH_ADD(p->bytes + at[j]);
    }
    if (!fetches) return;
    const __m512i places = is_far ? _mm512_load_si512(at) : tamis__locate8(p, words, &h);
    _mm512_store_si512(r->at + next, places);
    _mm512_store_si512(r->moved + next, _mm512_slli_epi64(h, p->shift));
}

TAMIS_HOT void tamis__settle8(const uint64_t *verdict, uint8_t *hit) {
    const __mmask8 is_hit =
        _mm512_cmpeq_epi64_mask(_mm512_load_si512(verdict), _mm512_set1_epi64(TAMIS_ALL_THERE));
    _mm_storel_epi64((__m128i *)(void *)hit, _mm_maskz_set1_epi8(is_hit, 1));
}

/* n is a multiple of the width. Each turn fetches for eight keys, works on the eight that came
 * `ahead` keys before, and reads the verdicts on the eight that came as many before those: their
 * stores are complete by then. */
TAMIS_HOT void tamis__pass8(const tamis_pass8 *p, const uint64_t *words, size_t n, uint8_t *hit) {
    const size_t wrap = p->ahead - 1, ahead = n <= wrap ? n : p->ahead;
    const size_t end = n + (p->probe ? 2 : 1) * ahead;
    tamis_ring8 ring;
    for (size_t i = 0; i < end; i += TAMIS_WIDTH) {
        const size_t next = i & wrap, last = (i - ahead) & wrap, done = i - 2 * ahead;
        if (p->probe && i >= 2 * ahead) tamis__settle8(ring.verdict + (done & wrap), hit + done);
        if (i < ahead)
            tamis__turn8(p, &ring, false, last, true, next, words + i);
        else if (i < n)
            tamis__turn8(p, &ring, true, last, true, next, words + i);
        else if (i < n + ahead)
            tamis__turn8(p, &ring, true, last, false, next, words);
    }
}

/* Loops with and without fetches. */
TAMIS_HOT void tamis__run8(tamis_pass8 *p, bool is_far, const tamis_body *f, const uint64_t *words,
                           size_t n, uint8_t *hit) {
    p->bytes = f->bytes;
    p->blocks = _mm512_set1_epi64((long long)f->word[0]);
    p->is_far = is_far;
    if (is_far)
        tamis__pass8(p, words, n, hit);
    else
        tamis__pass8(p, words, n, hit);
}

TAMIS_HOT size_t tamis__ahead(const tamis_body *f) {
    return f->size <= tamis__cache(TAMIS_CACHE_3) / 2 ? CACHED_AHEAD : FAR_AHEAD;
}

/* Those that do not fill eight are repeated until they do. */
TAMIS_HOT void tamis__query8(tamis_pass8 p, const tamis_body *f, uint64_t flip,
                             const uint64_t *words, size_t n, uint8_t *hit) {
    const size_t whole = n / TAMIS_WIDTH * TAMIS_WIDTH, rest = n - whole;
    p.ahead = tamis__ahead(f);
    p.flip = _mm512_set1_epi64((long long)flip);
    tamis__run8(&p, f->size >= FAR_ENOUGH, f, words, whole, hit);
    if (!rest) return;
    uint64_t eight[TAMIS_WIDTH];
    uint8_t answer[TAMIS_WIDTH];
    for (size_t i = 0; i < TAMIS_WIDTH; i++) eight[i] = words[whole + (i < rest ? i : 0)];
    tamis__run8(&p, false, f, eight, TAMIS_WIDTH, answer);
    memcpy(hit + whole, answer, rest);
}

/* Those that do not fill eight are added one after the other: waiting for stores of a ring takes
 * ten times as long as adding one. */
TAMIS_HOT void tamis__add8(tamis_pass8 p, tamis_locate *where, tamis_body *f, const uint64_t *hash,
                           size_t n) {
    const size_t whole = n / TAMIS_WIDTH * TAMIS_WIDTH;
    const bool is_far = tamis__exceeds_cache(f);
    p.source = tamis__hashes8;
    p.ahead = is_far ? tamis__ahead(f) : NEAR_AHEAD;
    p.flip = _mm512_setzero_si512();
    tamis__run8(&p, is_far, f, hash, whole, NULL);
    for (size_t i = whole; i < n; i++) {
        const uint64_t moved = hash[i] << p.shift;
        p.mark(f->bytes + where(f, hash[i]), &moved, p.multipliers);
    }
}

#define TAMIS_PASS8(places_, shift_, order) \
    { .places = places_, .shift = shift_, .multipliers = tamis__multipliers(order) }

#define TAMIS_BLOCK_OPS_8(name, locate, places, shift, probe_, mark_, order)                      \
    static void name##_numbers(const tamis_body *f, uint64_t flip, const uint64_t *numbers,       \
                               size_t n, uint8_t *hit) {                                          \
        tamis_pass8 p = TAMIS_PASS8(places, shift, order);                                        \
        p.source = tamis__numbers8, p.probe = probe_;                                             \
        tamis__query8(p, f, flip, numbers, n, hit);                                               \
    }                                                                                             \
    static void name##_query(const tamis_body *f, const uint64_t *hash, size_t n, uint8_t *hit) { \
        tamis_pass8 p = TAMIS_PASS8(places, shift, order);                                        \
        p.source = tamis__hashes8, p.probe = probe_;                                              \
        tamis__query8(p, f, 0, hash, n, hit);                                                     \
    }                                                                                             \
    static TAMIS_ONE_KEY void name##_add(tamis_body *f, const uint64_t *hash, size_t n) {         \
        tamis_pass8 p = TAMIS_PASS8(places, shift, order);                                        \
        p.mark = mark_;                                                                           \
        tamis__add8(p, locate, f, hash, n);                                                       \
    }

#endif
#endif
