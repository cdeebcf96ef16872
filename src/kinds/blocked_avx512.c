/* SPDX-License-Identifier: MIT */
/* blocked: the AVX-512 kernels. A block is one vector. */
#include "kinds/blocked.h"

#ifdef __AVX512BITALG__
#include "kinds/blocks_avx512.h"

#define IN_ORDER _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0)

TAMIS_HOT __m512i places_of(__m512i hash, __m512i blocks) {
    return _mm512_slli_epi64(tamis__range8(hash, blocks), 6);
}

TAMIS_HOT __mmask64 look_up(__m512i block, __m512i index) {
    return _mm512_mask_bitshuffle_epi64_mask(TAMIS_ALL_THERE, block, index);
}

TAMIS_HOT __m512i bits_at(__m512i index) {
    return _mm512_rolv_epi64(_mm512_set1_epi64(1), index);
}

TAMIS_HOT void add_bits(uint8_t *block, __m512i bits) {
    _mm512_storeu_si512(block, _mm512_or_si512(_mm512_loadu_si512(block), bits));
}

/* One bit in each lane: bits 26 to 31 of the product. Higher bits do not count: an index is taken
 * modulo 64. */
enum { SHIFT_1 = 6 };

TAMIS_HOT __mmask64 probe_1(const uint8_t *block, const uint64_t *moved, __m512i multipliers) {
    return look_up(_mm512_loadu_si512(block), tamis__top_products(moved, multipliers));
}

TAMIS_HOT void mark_1(uint8_t *block, const uint64_t *moved, __m512i multipliers) {
    add_bits(block, bits_at(tamis__top_products(moved, multipliers)));
}

/* Two bits: 20 to 25 of the product too. */
enum { SHIFT_2 = 12 };

TAMIS_HOT __mmask64 probe_2(const uint8_t *block, const uint64_t *moved, __m512i multipliers) {
    const __m512i second = tamis__top_products(moved, multipliers);
    const __m512i b = _mm512_loadu_si512(block);
    return _kand_mask64(look_up(b, second), look_up(b, _mm512_srli_epi64(second, 6)));
}

TAMIS_HOT void mark_2(uint8_t *block, const uint64_t *moved, __m512i multipliers) {
    const __m512i second = tamis__top_products(moved, multipliers);
    const __m512i bits = bits_at(_mm512_srli_epi64(second, 6));
    add_bits(block, _mm512_or_si512(bits, bits_at(second)));
}

TAMIS_BLOCK_OPS_8(one, locate, places_of, SHIFT_1, probe_1, mark_1, IN_ORDER)
TAMIS_BLOCK_OPS_8(two, locate, places_of, SHIFT_2, probe_2, mark_2, IN_ORDER)

static TAMIS_ONE_KEY bool one_has(const tamis_body *f, uint64_t hash) {
    return tamis_inline_has_blocked(f->bytes + locate(f, hash), hash);
}

static bool two_has(const tamis_body *f, uint64_t hash) {
    const uint8_t *block = f->bytes + locate(f, hash);
    return tamis_inline_has_blocked(block, hash) & tamis_inline_has_blocked(block, hash << 6);
}

const tamis_block_ops tamis__blocked_avx512[2] = {TAMIS_ALL_OPS(one), TAMIS_ALL_OPS(two)};
#endif
