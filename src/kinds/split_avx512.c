/* SPDX-License-Identifier: MIT */
/* split: the AVX-512 kernels. A vector holds a block twice: the words of the first copy are tested
 * for the bits of their lower lanes, those of the second for their upper lanes. */
#include "kinds/split.h"

#ifdef __AVX512BITALG__
#include "kinds/blocks_avx512.h"

#define LOWER_THEN_UPPER _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0)

TAMIS_HOT __m512i places_wide(__m512i hash, __m512i blocks) {
    return _mm512_slli_epi64(tamis__range8(hash, blocks), 5);
}

TAMIS_HOT __m512i places_parquet(__m512i hash, __m512i blocks) {
    const __m512i product = _mm512_mul_epu32(_mm512_srli_epi64(hash, 32), blocks);
    return _mm512_slli_epi64(_mm512_srli_epi64(product, 32), 5);
}

/* Bits 27 to 31 of the product, and 32 more in the upper lanes. */
enum { SHIFT = 5 };

TAMIS_HOT __m512i indices(const uint64_t *moved, __m512i multipliers) {
    const __m512i lane = _mm512_set_epi64(32, 32, 32, 32, 0, 0, 0, 0);
    const __m512i index = tamis__top_products(moved, multipliers);
    return _mm512_ternarylogic_epi64(index, _mm512_set1_epi64(31), lane, 0xea); /* a & b | c */
}

TAMIS_HOT __mmask64 probe(const uint8_t *block, const uint64_t *moved, __m512i multipliers) {
    const __m512i twice = _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)block));
    return _mm512_mask_bitshuffle_epi64_mask(TAMIS_ALL_THERE, twice, indices(moved, multipliers));
}

TAMIS_HOT void mark(uint8_t *block, const uint64_t *moved, __m512i multipliers) {
    const __m512i bits = _mm512_rolv_epi64(_mm512_set1_epi64(1), indices(moved, multipliers));
    const __m256i both =
        _mm256_or_si256(_mm512_castsi512_si256(bits), _mm512_extracti64x4_epi64(bits, 1));
    __m256i *p = (__m256i *)block;
    _mm256_storeu_si256(p, _mm256_or_si256(_mm256_loadu_si256(p), both));
}

TAMIS_BLOCK_OPS_8(parquet, locate_parquet, places_parquet, SHIFT, probe, mark, LOWER_THEN_UPPER)
TAMIS_BLOCK_OPS_8(wide, locate_wide, places_wide, SHIFT, probe, mark, LOWER_THEN_UPPER)

static bool parquet_has(const tamis_body *f, uint64_t hash) {
    return tamis_inline_has_split(f->bytes + locate_parquet(f, hash), hash);
}

static bool wide_has(const tamis_body *f, uint64_t hash) {
    return tamis_inline_has_split(f->bytes + locate_wide(f, hash), hash);
}

const tamis_block_ops tamis__split_avx512[RULES] = {TAMIS_ALL_OPS(parquet), TAMIS_ALL_OPS(wide)};
#endif
