/* SPDX-License-Identifier: MIT */
/* For blocked_avx2.c and split_avx2.c: integers are hashed and queried in one loop, their addresses
 * computed four at a time. */
#ifndef TAMIS_KINDS_BLOCKS_AVX2_H
#define TAMIS_KINDS_BLOCKS_AVX2_H

#ifdef __AVX2__
#include "bits/xxh3_avx2.h"
#include "kinds/blocks.h"

typedef __m256i tamis_locate4(__m256i hash, __m256i blocks); /* numbers of blocks */

/* tamis__range of four hashes for n < 2^32. */
TAMIS_HOT __m256i tamis__range4(__m256i hash, __m256i n) {
    const __m256i low = _mm256_srli_epi64(_mm256_mul_epu32(hash, n), 32);
    const __m256i high = _mm256_mul_epu32(_mm256_srli_epi64(hash, 32), n);
    return _mm256_srli_epi64(_mm256_add_epi64(low, high), 32);
}

enum { NEAR_STRETCH = 32, FAR_STRETCH = 128, TAMIS_WIDTH = 4 };
typedef struct tamis_stretch4 {
    _Alignas(64) uint64_t at[FAR_STRETCH];
    uint64_t hash[FAR_STRETCH];
} tamis_stretch4;

TAMIS_HOT void tamis__stage4(tamis_stretch4 *s, uint64_t flip, tamis_locate4 *places,
                             unsigned block_bits, const tamis_body *f, const uint64_t *keys,
                             size_t n, bool is_far) {
    const __m256i blocks = _mm256_set1_epi64x((long long)f->word[0]);
    const __m256i flips = _mm256_set1_epi64x((long long)flip);
    for (size_t i = 0; i < n; i += TAMIS_WIDTH) {
        const __m256i key = _mm256_loadu_si256((const __m256i *)(const void *)(keys + i));
        const __m256i h = tamis__xxh3_four(key, flips);
        __m256i *at = (__m256i *)(void *)(s->at + i), *hash = (__m256i *)(void *)(s->hash + i);
        _mm256_store_si256(at, _mm256_slli_epi64(places(h, blocks), (int)block_bits));
        _mm256_store_si256(hash, h);
        for (size_t j = i; is_far && j < i + TAMIS_WIDTH; j++) TAMIS_PREFETCH(f->bytes + s->at[j]);
    }
}

/* n is a multiple of the width. The next stretch's blocks are fetched while this one's are
 * tested. */
TAMIS_HOT void tamis__numbers4(uint64_t flip, tamis_locate4 *places, unsigned block_bits,
                               tamis_test *test, bool is_far, const tamis_body *f,
                               const uint64_t *keys, size_t n, uint8_t *hit) {
    const size_t max = is_far ? FAR_STRETCH : NEAR_STRETCH;
    const uint8_t *const bytes = f->bytes;
    tamis_stretch4 stretch[2];
    size_t now = n < max ? n : max, done = 0;
    unsigned turn = 0;
    tamis__stage4(&stretch[0], flip, places, block_bits, f, keys, now, is_far);
    for (size_t next; done < n; done += now, now = next, turn ^= 1) {
        const tamis_stretch4 *s = &stretch[turn];
        next = n - done - now < max ? n - done - now : max;
        tamis__stage4(&stretch[turn ^ 1], flip, places, block_bits, f, keys + done + now, next,
                      is_far);
        for (size_t i = 0; i < now; i++)
            hit[done + i] = test(bytes + s->at[i], (uint32_t)s->hash[i]);
    }
}

#define TAMIS_NUMBERS_4(name, places, block_bits, test)                                            \
    static void name##_numbers(const tamis_body *f, uint64_t flip, const uint64_t *keys, size_t n, \
                               uint8_t *hit) {                                                     \
        const size_t whole = n / TAMIS_WIDTH * TAMIS_WIDTH;                                        \
        if (tamis__exceeds_cache(f))                                                               \
            tamis__numbers4(flip, places, block_bits, test, true, f, keys, whole, hit);            \
        else                                                                                       \
            tamis__numbers4(flip, places, block_bits, test, false, f, keys, whole, hit);           \
        for (size_t i = whole; i < n; i++)                                                         \
            hit[i] = name##_has(f, tamis_inline_xxh3(flip, keys[i]));                              \
    }

#endif
#endif
