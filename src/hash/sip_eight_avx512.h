/* SPDX-License-Identifier: MIT */
/* For the AVX-512 kernels of the hash: SipHash-1-3 of eight keys at a time. */
#ifndef TAMIS_HASH_SIP_EIGHT_AVX512_H
#define TAMIS_HASH_SIP_EIGHT_AVX512_H

#ifdef __AVX512BITALG__
#include <immintrin.h>

#include "bits/bits.h"
#include "bits/eight_avx512.h"

typedef struct tamis_sip8 {
    __m512i a, b, c, d;
} tamis_sip8;

TAMIS_HOT tamis_sip8 tamis__sip8_start(const uint8_t secret[16]) {
    const uint64_t k0 = tamis__get64(secret), k1 = tamis__get64(secret + 8);
    return (tamis_sip8){tamis__all8(k0 ^ 0x736f6d6570736575), tamis__all8(k1 ^ 0x646f72616e646f6d),
                        tamis__all8(k0 ^ 0x6c7967656e657261), tamis__all8(k1 ^ 0x7465646279746573)};
}

TAMIS_HOT void tamis__sip8_round(tamis_sip8 *s) {
    s->a = _mm512_add_epi64(s->a, s->b), s->c = _mm512_add_epi64(s->c, s->d);
    s->b = _mm512_xor_si512(_mm512_rol_epi64(s->b, 13), s->a);
    s->d = _mm512_xor_si512(_mm512_rol_epi64(s->d, 16), s->c);
    s->a = _mm512_shuffle_epi32(s->a, _MM_PERM_CDAB);
    s->c = _mm512_add_epi64(s->c, s->b), s->a = _mm512_add_epi64(s->a, s->d);
    s->b = _mm512_xor_si512(_mm512_rol_epi64(s->b, 17), s->c);
    s->d = _mm512_xor_si512(_mm512_rol_epi64(s->d, 21), s->a);
    s->c = _mm512_shuffle_epi32(s->c, _MM_PERM_CDAB);
}

TAMIS_HOT void tamis__sip8_absorb(tamis_sip8 *s, __m512i word) {
    s->d = _mm512_xor_si512(s->d, word);
    tamis__sip8_round(s);
    s->a = _mm512_xor_si512(s->a, word);
}

TAMIS_HOT __m512i tamis__sip8_end(tamis_sip8 s) {
    s.c = _mm512_xor_si512(s.c, tamis__all8(0xff));
    for (int r = 0; r < 3; r++) tamis__sip8_round(&s);
    return _mm512_ternarylogic_epi64(_mm512_xor_si512(s.a, s.b), s.c, s.d, 0x96);
}
#endif

#endif
