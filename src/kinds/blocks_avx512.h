/* blocked_avx512.c and split_avx512.c may include this: batches of eight hashes.
 *
 * Addresses are computed for eight keys at once. A block is then tested in two instructions: one
 * multiplication gives an index in each of 8 words, one shuffle of bits looks all of them up and
 * leaves a verdict of 8 bits, one in each byte of a mask. Verdicts go to memory and are compared
 * when the group is done, because reading them back at once would wait for the stores. */
#ifndef TAMIS_KINDS_BLOCKS_AVX512_H
#define TAMIS_KINDS_BLOCKS_AVX512_H

#ifdef __AVX512BITALG__
#include <immintrin.h>

#include "kinds/blocks.h"

enum { TAMIS_WIDTH = 8 };

/* One bit in each byte: all 8 words had their bits. */
#define TAMIS_ALL_THERE 0x0101010101010101

/* What a kernel is made of: places of eight blocks; the verdict about one, and the setting of its
 * bits, from a hash that was moved up by `shift` bits to where the multiplier wants it. */
typedef __m512i tamis_locate8(__m512i hash, __m512i blocks);
typedef __mmask64 tamis_probe(const uint8_t *block, const uint64_t *moved, __m512i multipliers);
typedef void tamis_mark(uint8_t *block, const uint64_t *moved, __m512i multipliers);

/* tamis__range of eight hashes for n < 2^32: both halves of the hash times n, and the upper half of
 * the sum. */
TAMIS_HOT __m512i tamis__range8(__m512i hash, __m512i n) {
    const __m512i low =
        _mm512_maskz_shuffle_epi32(0x5555, _mm512_mul_epu32(hash, n), _MM_PERM_DDBB);
    const __m512i high = _mm512_mul_epu32(_mm512_shuffle_epi32(hash, _MM_PERM_DDBB), n);
    return _mm512_srli_epi64(_mm512_add_epi64(low, high), 32);
}

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

typedef struct tamis_group8 {
    uint64_t at[TAMIS_GROUP], moved[TAMIS_GROUP];
} tamis_group8;

TAMIS_HOT void tamis__group8(tamis_group8 *g, tamis_locate8 *places, unsigned shift,
                             const tamis_body *f, const uint64_t *hash, size_t n, bool is_add) {
    const __m512i blocks = _mm512_set1_epi64((long long)f->word[0]);
    const bool is_far = tamis__is_far(f);
    for (size_t i = 0; i < n; i += TAMIS_WIDTH) {
        const __m512i h = _mm512_loadu_si512(hash + i);
        _mm512_storeu_si512(g->at + i, places(h, blocks));
        _mm512_storeu_si512(g->moved + i, _mm512_slli_epi64(h, shift));
        if (!is_far) continue;
        for (size_t j = i; j < i + TAMIS_WIDTH; j++) {
            if (is_add)
                TAMIS_PREFETCH_ADD(f->bytes + g->at[j]);
            else
                TAMIS_PREFETCH(f->bytes + g->at[j]);
        }
    }
}

TAMIS_HOT void tamis__query8(tamis_locate8 *places, unsigned shift, tamis_probe *probe,
                             __m512i order, const tamis_body *f, const uint64_t *hash, size_t n,
                             uint8_t *hit) {
    const __m512i multipliers = tamis__multipliers(order);
    const __m512i all = _mm512_set1_epi64(TAMIS_ALL_THERE);
    _Alignas(64) uint64_t verdict[TAMIS_GROUP];
    tamis_group8 g;
    tamis__group8(&g, places, shift, f, hash, n, false);
    for (size_t i = 0; i < n; i += TAMIS_WIDTH) {
#pragma GCC unroll 8
        for (size_t j = i; j < i + TAMIS_WIDTH; j++)
            verdict[j] = _cvtmask64_u64(probe(f->bytes + g.at[j], g.moved + j, multipliers));
    }
    for (size_t i = 0; i < n; i += TAMIS_WIDTH) {
        const __mmask8 is_hit = _mm512_cmpeq_epi64_mask(_mm512_load_si512(verdict + i), all);
        _mm_storel_epi64((__m128i *)(void *)(hit + i), _mm_maskz_set1_epi8(is_hit, 1));
    }
}

TAMIS_HOT void tamis__add8(tamis_locate8 *places, unsigned shift, tamis_mark *mark, __m512i order,
                           tamis_body *f, const uint64_t *hash, size_t n) {
    const __m512i multipliers = tamis__multipliers(order);
    tamis_group8 g;
    tamis__group8(&g, places, shift, f, hash, n, true);
    for (size_t i = 0; i < n; i++) mark(f->bytes + g.at[i], g.moved + i, multipliers);
}

/* Fewer than eight become eight by repetition. */
TAMIS_HOT size_t tamis__fill8(uint64_t eight[TAMIS_WIDTH], const uint64_t *hash, size_t n) {
    for (size_t i = 0; i < TAMIS_WIDTH; i++) eight[i] = hash[i < n ? i : 0];
    return TAMIS_WIDTH;
}

/* How many of n the next group takes. */
TAMIS_HOT size_t tamis__next8(size_t n) {
    return n < TAMIS_GROUP ? n / TAMIS_WIDTH * TAMIS_WIDTH : TAMIS_GROUP;
}

#define TAMIS_BLOCK_OPS_8(name, places, shift, probe, mark, order)                                \
    static void name##_query(const tamis_body *f, const uint64_t *hash, size_t n, uint8_t *hit) { \
        uint64_t eight[TAMIS_WIDTH];                                                              \
        uint8_t answer[TAMIS_WIDTH];                                                              \
        for (size_t m; (m = tamis__next8(n)) != 0; hash += m, hit += m, n -= m)                   \
            tamis__query8(places, shift, probe, order, f, hash, m, hit);                          \
        if (!n) return;                                                                           \
        tamis__query8(places, shift, probe, order, f, eight, tamis__fill8(eight, hash, n),        \
                      answer);                                                                    \
        memcpy(hit, answer, n);                                                                   \
    }                                                                                             \
    static void name##_add(tamis_body *f, const uint64_t *hash, size_t n) {                       \
        uint64_t eight[TAMIS_WIDTH];                                                              \
        for (size_t m; (m = tamis__next8(n)) != 0; hash += m, n -= m)                             \
            tamis__add8(places, shift, mark, order, f, hash, m);                                  \
        if (n) tamis__add8(places, shift, mark, order, f, eight, tamis__fill8(eight, hash, n));   \
    }

#endif
#endif
