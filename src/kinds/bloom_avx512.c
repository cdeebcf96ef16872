/* SPDX-License-Identifier: MIT */
/* Bits anywhere: rounds of eight keys at a time, for arrays in the second-level cache. */
#include "kinds/rounds.h"

#ifdef __AVX512BITALG__
#include "bits/eight_avx512.h"

/* Ranks are twice as long as the portable ones: the fixed cost of a round is higher here. */
enum { RANKS = 2 * TAMIS_RANKS, LANES = 8 };

/* A round writes eight where it may keep fewer. */
typedef struct ranks {
    uint64_t x[RANKS + LANES];
    uint16_t who[RANKS + LANES];
} ranks;

TAMIS_HOT __m128i load_2(const uint8_t *bytes, __m128i at) {
    const uint8_t *low = bytes + _mm_cvtsi128_si64(at), *high = bytes + _mm_extract_epi64(at, 1);
    const __m128i first = _mm_cvtsi64_si128((long long)tamis__get64(low));
    return _mm_insert_epi64(first, (long long)tamis__get64(high), 1);
}

TAMIS_HOT __m256i load_4(const uint8_t *bytes, __m256i at) {
    return _mm256_set_m128i(load_2(bytes, _mm256_extracti128_si256(at, 1)),
                            load_2(bytes, _mm256_castsi256_si128(at)));
}

/* Eight words, each shifted so that the probed bit is its lowest. They are loaded one by one: a
 * gather took 1.5 times as long in every cache, and addresses through memory twice as long. */
TAMIS_HOT __m512i bits_at(const uint8_t *bytes, __m512i cell) {
    const __m512i at = _mm512_andnot_si512(_mm512_set1_epi64(7), _mm512_srli_epi64(cell, 3));
    const __m256i low = load_4(bytes, _mm512_castsi512_si256(at));
    const __m256i high = load_4(bytes, _mm512_extracti64x4_epi64(at, 1));
    return _mm512_rorv_epi64(_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1), cell);
}

/* Lanes past the last key probe bit 0, which always exists, and never stay. */
TAMIS_HOT size_t round_8(const tamis_body *f, const uint64_t *first, ranks *r, size_t n) {
    const __m512i cells = _mm512_set1_epi64((long long)f->word[TAMIS_BLOOM_BITS]);
    const __m512i one = _mm512_set1_epi64(1);
    const __m512i turn = _mm512_set1_epi64((long long)TAMIS_CHAIN);
    __m128i who = _mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7);
    size_t stay = 0;
    for (size_t j = 0; j < n; j += LANES) {
        const __mmask8 in = n - j < LANES ? (__mmask8)((1u << (n - j)) - 1) : 0xff;
        __m512i x = _mm512_maskz_loadu_epi64(in, first ? first + j : r->x + j);
        if (first) x = _mm512_mask_or_epi64(x, in, x, one);
        const __m512i bits = bits_at(f->bytes, tamis__range8(x, cells));
        const __mmask8 ok = _mm512_mask_test_epi64_mask(in, bits, one);
        const __m128i them = first ? who : _mm_loadu_si128((const __m128i *)(r->who + j));
        x = _mm512_mullo_epi64(x, turn);
        _mm512_storeu_si512(r->x + stay, _mm512_maskz_compress_epi64(ok, x));
        _mm_storeu_si128((__m128i *)(r->who + stay), _mm_maskz_compress_epi16(ok, them));
        stay += tamis__popcount64(ok);
        who = _mm_add_epi16(who, _mm_set1_epi16(LANES));
    }
    return stay;
}

void tamis__bloom_query_avx512(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const uint64_t hashes = f->word[TAMIS_BLOOM_HASHES];
    ranks r;
    for (size_t group; b.n; b.hash += group, hit += group, b.n -= group) {
        group = b.n < RANKS ? b.n : RANKS;
        size_t left = round_8(f, b.hash, &r, group);
        for (uint64_t i = 1; i < hashes && left; i++) left = round_8(f, NULL, &r, left);
        memset(hit, 0, group);
        for (size_t j = 0; j < left; j++) hit[r.who[j]] = 1;
    }
}
#endif
