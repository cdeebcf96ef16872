/* SPDX-License-Identifier: MIT */
/* blocked: the AVX2 kernels. */
#include "kinds/blocked.h"

#ifdef __AVX2__
#include "kinds/blocked_lanes.h"
#include "kinds/blocks_avx2.h"

/* ---- Payloads in the second cache ------------------------------------------------------------
 *
 * There nothing waits for memory, and the number of vector instructions counts. So the products of
 * the hash go to the scalar unit, in a loop of their own: words that were written one by one can be
 * read as vectors only after they have left the store buffer. And a key leaves the bits of its
 * eight lanes in its answer, which become yes or no a stretch later, 32 at a time. Measured at 10^5
 * keys, non-members: 2.35 ns instead of 2.8; in stretches of 64 keys 2.4. */

enum { STRETCH = 128, ALL = 0xff };
typedef struct near_key {
    uint32_t x, at; /* loaded apart, as the vector unit wants */
} near_key;
typedef unsigned lanes_with(const uint8_t *block, uint32_t x); /* one bit for each lane */

TAMIS_HOT unsigned lanes_1(const uint8_t *block, uint32_t x) {
    return tamis_inline_lanes_blocked(block, x);
}
TAMIS_HOT unsigned lanes_2(const uint8_t *block, uint32_t x) {
    return lanes_1(block, x) & lanes_1(block, x << 6);
}

/* From hashes to places and bits. */
TAMIS_HOT __m256i places_near(__m256i hash, __m256i bytes) {
    const __m256i low = _mm256_srli_epi64(_mm256_mul_epu32(hash, bytes), 32);
    const __m256i high =
        _mm256_mul_epu32(_mm256_shuffle_epi32(hash, _MM_SHUFFLE(3, 3, 1, 1)), bytes);
    const __m256i at =
        _mm256_and_si256(_mm256_add_epi64(low, high), _mm256_set1_epi32(-BLOCK_BYTES));
    return _mm256_blend_epi32(hash, at, 0xaa);
}

TAMIS_HOT void stage_near(near_key key[STRETCH], uint64_t flip, const tamis_body *f,
                          const uint64_t *keys, size_t n) {
    const __m256i flips = _mm256_set1_epi64x((long long)flip);
    const __m256i bytes = _mm256_set1_epi64x((long long)f->size);
    _Alignas(64) uint64_t hash[STRETCH];
    __m256i *const four = (__m256i *)(void *)hash, *const at = (__m256i *)(void *)key;
    for (size_t i = 0; i < n; i += TAMIS_WIDTH) {
        const __m256i number = _mm256_loadu_si256((const __m256i *)(const void *)(keys + i));
        _mm256_store_si256(four + i / TAMIS_WIDTH, tamis__xxh3_start4(number, flips));
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++) hash[i] = tamis__xxh3_middle(hash[i]);
    for (size_t i = 0; i < n / TAMIS_WIDTH; i++) {
        const __m256i h = tamis__xxh3_end4(_mm256_load_si256(four + i));
        _mm256_store_si256(at + i, places_near(h, bytes));
    }
}

TAMIS_HOT void yes_or_no(uint8_t *hit, size_t n) {
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256i *at = (__m256i *)(void *)(hit + i);
        const __m256i all = _mm256_cmpeq_epi8(_mm256_loadu_si256(at), _mm256_set1_epi8(-1));
        _mm256_storeu_si256(at, _mm256_and_si256(all, _mm256_set1_epi8(1)));
    }
    for (; i < n; i++) hit[i] = hit[i] == ALL;
}

/* n is a multiple of the width. */
TAMIS_HOT void numbers_near(lanes_with *lanes, const tamis_body *f, uint64_t flip,
                            const uint64_t *keys, size_t n, uint8_t *hit) {
    const uint8_t *const bytes = f->bytes;
    _Alignas(64) near_key key[STRETCH];
    size_t before = 0;
    for (size_t done = 0, now; done < n; done += now, before = now) {
        now = n - done < STRETCH ? n - done : STRETCH;
        stage_near(key, flip, f, keys + done, now);
#pragma GCC unroll 4
        for (size_t i = 0; i < now; i++)
            hit[done + i] = (uint8_t)lanes(bytes + key[i].at, key[i].x);
        yes_or_no(hit + done - before, before);
    }
    yes_or_no(hit + n - before, before);
}

#define NUMBERS(name, test, lanes)                                                                 \
    static void name##_numbers(const tamis_body *f, uint64_t flip, const uint64_t *keys, size_t n, \
                               uint8_t *hit) {                                                     \
        const size_t whole = n / TAMIS_WIDTH * TAMIS_WIDTH;                                        \
        if (tamis__exceeds_cache(f))                                                               \
            tamis__numbers4(flip, tamis__range4, 6, test, true, f, keys, whole, hit);              \
        else                                                                                       \
            numbers_near(lanes, f, flip, keys, whole, hit);                                        \
        for (size_t i = whole; i < n; i++)                                                         \
            hit[i] = name##_has(f, tamis_inline_xxh3(flip, keys[i]));                              \
    }
NUMBERS(one, test_1, lanes_1)
NUMBERS(two, test_2, lanes_2)

const tamis_block_ops tamis__blocked_avx2[2] = {TAMIS_ALL_OPS(one), TAMIS_ALL_OPS(two)};
#endif
