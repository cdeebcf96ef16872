/* SPDX-License-Identifier: MIT */
/* For AVX-512 code about one key: probe.h and the hash in a vector register.
 *
 * A processor has two sets of registers to rename, for words and for vectors. When a caller asks
 * key after key, code that uses both has more keys on the way before one set is used up. */
#ifndef TAMIS_BITS_ONE_AVX512_H
#define TAMIS_BITS_ONE_AVX512_H

#ifdef __AVX512BITALG__
#include <immintrin.h>

#include "bits/bits.h"

/* A constant in the lower half, which the compiler takes from memory: one in both halves goes
 * through a register for words. */
#define TAMIS_CONST1(x) _mm_set_epi64x(0, (long long)(x))

TAMIS_HOT __m128i tamis__in_vector(uint64_t x) {
    return _mm_cvtsi64_si128((long long)x);
}

TAMIS_HOT uint64_t tamis__out_of_vector(__m128i x) {
    return (uint64_t)_mm_cvtsi128_si64(x);
}

/* tamis__mix. */
TAMIS_HOT __m128i tamis__fold1(__m128i x) {
    return _mm_xor_si128(x, _mm_srli_epi64(x, 33));
}

TAMIS_HOT __m128i tamis__mix1(__m128i x) {
    x = _mm_mullo_epi64(tamis__fold1(x), TAMIS_CONST1(0xff51afd7ed558ccd));
    return tamis__fold1(_mm_mullo_epi64(tamis__fold1(x), TAMIS_CONST1(0xc4ceb9fe1a85ec53)));
}

/* XXH3 of 8 bytes; `flip` as tamis__xxh3_flip makes it. */
TAMIS_HOT uint64_t tamis__xxh3_one(uint64_t flip, uint64_t key) {
    const __m128i prime = TAMIS_CONST1(0x9fb21c651e98df25);
    __m128i h = _mm_rol_epi64(tamis__in_vector(key), 32);
    h = _mm_xor_si128(h, tamis__in_vector(flip));
    h = _mm_ternarylogic_epi64(h, _mm_rol_epi64(h, 49), _mm_rol_epi64(h, 24), 0x96);
    h = _mm_mullo_epi64(h, prime);
    h = _mm_xor_si128(h, _mm_add_epi64(_mm_srli_epi64(h, 35), TAMIS_CONST1(8)));
    h = _mm_mullo_epi64(h, prime);
    return tamis__out_of_vector(_mm_xor_si128(h, _mm_srli_epi64(h, 28)));
}

#endif
#endif
