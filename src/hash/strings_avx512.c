/* SPDX-License-Identifier: MIT */
/* SipHash-1-3 of byte strings, eight at a time. Their lengths may differ: a string that has ended
 * keeps its state while the others continue. tests/unit/test_hash.c compares it with the one-by-one
 * hash. */
#include "hash/strings.h"

#ifdef __AVX512BITALG__
#include "hash/sip_eight_avx512.h"

enum { WIDTH = 8 };

/* Eight strings: their addresses and lengths. */
typedef struct strings {
    __m512i begin, len;
} strings;

TAMIS_HOT strings take_eight(const struct tamis_key *keys) {
    const __m512i front = _mm512_loadu_si512(keys), back = _mm512_loadu_si512(keys + WIDTH / 2);
    const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    return (strings){_mm512_permutex2var_epi64(front, even, back),
                     _mm512_permutex2var_epi64(front, odd, back)};
}

TAMIS_HOT __m512i words_at(__m512i address, __mmask8 which) {
    return _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), which, address, NULL, 1);
}

/* Strings below 8 bytes: nothing next to them may be read. */
TAMIS_HOT __m512i short_tails(const struct tamis_key *keys, __mmask8 which, __m512i tail) {
    uint64_t word[WIDTH];
    _mm512_storeu_si512(word, tail);
    for (int i = 0; i < WIDTH; i++) {
        const uint8_t *p = keys[i].bytes;
        if (!(which >> i & 1)) continue;
        word[i] = 0;
        for (size_t j = 0; j < keys[i].len; j++) word[i] |= (uint64_t)p[j] << (8 * j);
    }
    return _mm512_loadu_si512(word);
}

/* The bytes after the last whole word, and the length above them. */
TAMIS_HOT __m512i last_words(const struct tamis_key *keys, strings s) {
    const __m512i left = _mm512_and_si512(s.len, tamis__all8(7)), eight = tamis__all8(8);
    const __mmask8 is_short = _mm512_cmplt_epu64_mask(s.len, eight);
    const __mmask8 has_tail = _mm512_test_epi64_mask(left, left) & (__mmask8)~is_short;
    __m512i tail = _mm512_setzero_si512();
    if (has_tail) {
        /* The last 8 bytes, without those that belong to the word before. */
        const __m512i end = _mm512_sub_epi64(_mm512_add_epi64(s.begin, s.len), eight);
        const __m512i beyond = _mm512_slli_epi64(_mm512_sub_epi64(eight, left), 3);
        tail = _mm512_srlv_epi64(words_at(end, has_tail), beyond);
    }
    if (is_short) tail = short_tails(keys, is_short, tail);
    return _mm512_or_si512(tail, _mm512_slli_epi64(s.len, 56));
}

TAMIS_HOT __m512i keep(__m512i old, __mmask8 which, __m512i now) {
    return _mm512_mask_mov_epi64(old, which, now);
}

TAMIS_HOT void absorb_some(tamis_sip8 *s, __mmask8 which, __m512i word) {
    tamis_sip8 t = *s;
    tamis__sip8_absorb(&t, word);
    s->a = keep(s->a, which, t.a), s->b = keep(s->b, which, t.b);
    s->c = keep(s->c, which, t.c), s->d = keep(s->d, which, t.d);
}

TAMIS_HOT __m512i sip_eight(const uint8_t secret[16], const struct tamis_key *keys) {
    const strings s = take_eight(keys);
    const __m512i words = _mm512_srli_epi64(s.len, 3);
    tamis_sip8 state = tamis__sip8_start(secret);
    __m512i at = s.begin;
    for (uint64_t i = 0;; i++) {
        const __mmask8 has_word = _mm512_cmpgt_epu64_mask(words, tamis__all8(i));
        if (!has_word) break;
        absorb_some(&state, has_word, words_at(at, has_word));
        at = _mm512_add_epi64(at, tamis__all8(8));
    }
    tamis__sip8_absorb(&state, last_words(keys, s));
    return tamis__sip8_end(state);
}

size_t tamis__sip13_strings_avx512(const uint8_t secret[16], const struct tamis_key *keys, size_t n,
                                   uint64_t *hashes) {
    size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) _mm512_storeu_si512(hashes + i, sip_eight(secret, keys + i));
    return i;
}
#endif
