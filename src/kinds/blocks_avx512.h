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
typedef __m512i tamis_locate8(__m512i hash, __m512i blocks);
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

/* From here on prefetches pay. Below, the processor itself keeps enough queries in flight, since
 * one is 8 instructions: ns per query without and with prefetches, large pages, while the third
 * cache is ours: 2.5 MB 2.1 and 2.7, 3.8 MB 2.7 and 2.9, 7.6 MB 5.9 and 3.6; while others use it
 * too: 5.1 and 4.4, 7.8 and 5.2, 14 and 6. */
enum { FAR_ENOUGH = 2 << 20 };

/* The state of a stretch of the list before its blocks are tested, and after. */
enum { NEAR_STRETCH = 32, FAR_STRETCH = 128 };
typedef struct tamis_stretch8 {
    _Alignas(64) uint64_t at[FAR_STRETCH];
    uint64_t moved[FAR_STRETCH], verdict[FAR_STRETCH];
} tamis_stretch8;

TAMIS_HOT void tamis__stage8(tamis_stretch8 *s, tamis_source8 *source, __m512i flip,
                             tamis_locate8 *places, unsigned shift, const tamis_body *f,
                             const uint64_t *words, size_t n, bool is_far) {
    const __m512i blocks = _mm512_set1_epi64((long long)f->word[0]);
    for (size_t i = 0; i < n; i += TAMIS_WIDTH) {
        const __m512i h = source(words + i, flip);
        _mm512_store_si512(s->at + i, places(h, blocks));
        _mm512_store_si512(s->moved + i, _mm512_slli_epi64(h, shift));
        for (size_t j = i; is_far && j < i + TAMIS_WIDTH; j++) TAMIS_PREFETCH(f->bytes + s->at[j]);
    }
}

TAMIS_HOT void tamis__judge8(tamis_stretch8 *s, tamis_probe *probe, __m512i multipliers,
                             const tamis_body *f, size_t n) {
    for (size_t i = 0; i < n; i += TAMIS_WIDTH) {
#pragma GCC unroll 8
        for (size_t j = i; j < i + TAMIS_WIDTH; j++)
            s->verdict[j] = _cvtmask64_u64(probe(f->bytes + s->at[j], s->moved + j, multipliers));
    }
}

TAMIS_HOT void tamis__settle8(const tamis_stretch8 *s, size_t n, uint8_t *hit) {
    const __m512i all = _mm512_set1_epi64(TAMIS_ALL_THERE);
    for (size_t i = 0; i < n; i += TAMIS_WIDTH) {
        const __mmask8 is_hit = _mm512_cmpeq_epi64_mask(_mm512_load_si512(s->verdict + i), all);
        _mm_storel_epi64((__m128i *)(void *)(hit + i), _mm_maskz_set1_epi8(is_hit, 1));
    }
}

/* n is a multiple of the width. Three things run at once, so that no part of the processor waits
 * for another: the blocks of the next stretch are fetched, those of this one are tested, and the
 * verdicts of the one before are read, whose stores are complete by then. */
TAMIS_HOT void tamis__query8(tamis_source8 *source, uint64_t flip, tamis_locate8 *places,
                             unsigned shift, tamis_probe *probe, __m512i order, bool is_far,
                             const tamis_body *f, const uint64_t *words, size_t n, uint8_t *hit) {
    const size_t max = is_far ? FAR_STRETCH : NEAR_STRETCH;
    const __m512i multipliers = tamis__multipliers(order),
                  flips = _mm512_set1_epi64((long long)flip);
    tamis_stretch8 stretch[2];
    size_t now = n < max ? n : max, last = 0, done = 0;
    unsigned turn = 0;
    tamis__stage8(&stretch[0], source, flips, places, shift, f, words, now, is_far);
    for (size_t next; done < n; done += now, last = now, now = next, turn ^= 1) {
        next = n - done - now < max ? n - done - now : max;
        tamis__stage8(&stretch[turn ^ 1], source, flips, places, shift, f, words + done + now, next,
                      is_far);
        tamis__judge8(&stretch[turn], probe, multipliers, f, now);
        tamis__settle8(&stretch[turn ^ 1], last, hit + done - last);
    }
    tamis__settle8(&stretch[turn ^ 1], last, hit + n - last);
}

/* Adds run in one pass: the blocks of eight keys are fetched, and bits are set in those of the
 * eight that came `ahead` keys before, so that fetches never pause. ns per key of a build, Zen 5
 * with 32 MiB of third cache, large pages, 32, 64, 128 and 256 ahead: 12.6 MB 1.8, 1.9, 2.0, 2.6;
 * 38 MB 4.8, 3.7, 2.8, 2.7; 64 and 128 ahead: 6.3 MB 1.7 and 1.9, 25 MB 3.3 and 2.5. In turns of
 * 128 keys 12.6 MB took 2.6, 38 MB 3.9. Without fetches the distance is what the stores take. */
enum { NEAR_AHEAD = 32, CACHED_AHEAD = 64, FAR_AHEAD = 128 };

TAMIS_HOT size_t tamis__ahead(const tamis_body *f) {
    if (!tamis__exceeds_cache(f)) return NEAR_AHEAD;
    return f->size <= tamis__cache(TAMIS_CACHE_3) / 2 ? CACHED_AHEAD : FAR_AHEAD;
}

/* n is a multiple of the width. */
TAMIS_HOT void tamis__add8(tamis_locate8 *places, unsigned shift, tamis_mark *mark, __m512i order,
                           bool is_far, tamis_body *f, const uint64_t *hash, size_t n) {
    const __m512i multipliers = tamis__multipliers(order),
                  blocks = _mm512_set1_epi64((long long)f->word[0]);
    const size_t wrap = tamis__ahead(f) - 1, ahead = n <= wrap ? n : wrap + 1;
    _Alignas(64) uint64_t at[FAR_AHEAD], moved[FAR_AHEAD];
    uint8_t *const bytes = f->bytes;
    for (size_t i = 0; i < n + ahead; i += TAMIS_WIDTH) {
        const size_t next = i & wrap, last = (i - ahead) & wrap;
        if (i >= ahead)
#pragma GCC unroll 8
            for (size_t j = last; j < last + TAMIS_WIDTH; j++)
                mark(bytes + at[j], moved + j, multipliers);
        if (i >= n) continue;
        const __m512i h = tamis__next_eight(hash + i);
        _mm512_store_si512(at + next, places(h, blocks));
        _mm512_store_si512(moved + next, _mm512_slli_epi64(h, shift));
        if (is_far)
#pragma GCC unroll 8
            for (size_t j = next; j < next + TAMIS_WIDTH; j++) TAMIS_PREFETCH_ADD(bytes + at[j]);
    }
}

/* Fewer than eight become eight by repetition. */
TAMIS_HOT void tamis__fill8(uint64_t eight[TAMIS_WIDTH], const uint64_t *words, size_t n) {
    for (size_t i = 0; i < TAMIS_WIDTH; i++) eight[i] = words[i < n ? i : 0];
}

#define TAMIS_QUERY_8(name, source, places, shift, probe, order)                                   \
    static void name(const tamis_body *f, uint64_t flip, const uint64_t *words, size_t n,          \
                     uint8_t *hit) {                                                               \
        const size_t whole = n / TAMIS_WIDTH * TAMIS_WIDTH, rest = n - whole;                      \
        if (whole && f->size >= FAR_ENOUGH)                                                        \
            tamis__query8(source, flip, places, shift, probe, order, true, f, words, whole, hit);  \
        else if (whole)                                                                            \
            tamis__query8(source, flip, places, shift, probe, order, false, f, words, whole, hit); \
        if (!rest) return;                                                                         \
        uint64_t eight[TAMIS_WIDTH];                                                               \
        uint8_t answer[TAMIS_WIDTH];                                                               \
        tamis__fill8(eight, words + whole, rest);                                                  \
        tamis__query8(source, flip, places, shift, probe, order, false, f, eight, TAMIS_WIDTH,     \
                      answer);                                                                     \
        memcpy(hit + whole, answer, rest);                                                         \
    }

/* One after the other, for those that do not fill eight: waiting for stores of a stretch takes ten
 * times as long as adding one. */
TAMIS_HOT void tamis__add_rest(tamis_locate *where, unsigned shift, tamis_mark *mark, __m512i order,
                               tamis_body *f, const uint64_t *hash, size_t n) {
    const __m512i multipliers = tamis__multipliers(order);
    for (size_t i = 0; i < n; i++) {
        const uint64_t moved = hash[i] << shift;
        mark(f->bytes + where(f, hash[i]), &moved, multipliers);
    }
}

#define TAMIS_BLOCK_OPS_8(name, locate, places, shift, probe, mark, order)                        \
    TAMIS_QUERY_8(name##_numbers, tamis__numbers8, places, shift, probe, order)                   \
    TAMIS_QUERY_8(name##_hashes, tamis__hashes8, places, shift, probe, order)                     \
    static void name##_query(const tamis_body *f, const uint64_t *hash, size_t n, uint8_t *hit) { \
        name##_hashes(f, 0, hash, n, hit);                                                        \
    }                                                                                             \
    static void name##_add(tamis_body *f, const uint64_t *hash, size_t n) {                       \
        const size_t whole = n / TAMIS_WIDTH * TAMIS_WIDTH;                                       \
        if (whole && tamis__exceeds_cache(f))                                                     \
            tamis__add8(places, shift, mark, order, true, f, hash, whole);                        \
        else if (whole)                                                                           \
            tamis__add8(places, shift, mark, order, false, f, hash, whole);                       \
        tamis__add_rest(locate, shift, mark, order, f, hash + whole, n - whole);                  \
    }

#endif
#endif
