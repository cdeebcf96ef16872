/* SPDX-License-Identifier: MIT */
/* gcs: eight buckets are read at once, a window each. */
#include "kinds/gcs.h"

#ifdef __AVX512BITALG__
#include <immintrin.h>

enum { LANES = TAMIS_GCS_LANES, WINDOW = TAMIS_GCS_WINDOW };

TAMIS_HOT __m128i pair(const uint8_t *bytes, const uint64_t bit[2]) {
    const __m128i low = _mm_cvtsi64_si128((long long)tamis__get64(bytes + (bit[0] >> 3)));
    return _mm_insert_epi64(low, (long long)tamis__get64(bytes + (bit[1] >> 3)), 1);
}

/* Inverted windows, with only zeros after the end of the bucket. */
TAMIS_HOT __m512i windows(const uint8_t *bytes, const uint64_t bit[LANES], __m512i at,
                          __m512i left) {
    const __m256i low = _mm256_set_m128i(pair(bytes, bit + 2), pair(bytes, bit));
    const __m256i high = _mm256_set_m128i(pair(bytes, bit + 6), pair(bytes, bit + 4));
    const __m512i words = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    const __m512i shift = _mm512_and_si512(at, _mm512_set1_epi64(7));
    const __m512i all = _mm512_set1_epi64(-1), behind = _mm512_sllv_epi64(all, left);
    const __m512i seen = _mm512_srlv_epi64(words, shift);
    return _mm512_ternarylogic_epi64(seen, behind, behind, 0x03); /* neither */
}

typedef struct state {
    __m512i window, rest; /* the rest of them */
    __m512i heads, any;   /* bits of all heads, and which bits their lengths had */
} state;

/* A gap has some ones, a zero and its low bits. Inverted, the ones and the zero are the head: the
 * bits up to the lowest that is set; and the low bits are 2^rice - 1 minus what is read. Lanes that
 * have their answer stay as they are. */
TAMIS_HOT void take_gap(state *s, __m128i rice, __m512i low_bits) {
    const __m512i c = s->window, less = _mm512_add_epi64(c, _mm512_set1_epi64(-1));
    const __m512i head = _mm512_popcnt_epi64(_mm512_xor_si512(c, less));
    const __m512i low = _mm512_srlv_epi64(c, head);
    const __m512i step =
        _mm512_sub_epi64(_mm512_and_si512(low, low_bits), _mm512_sll_epi64(head, rice));
    const __mmask8 is_open = _mm512_cmpge_epi64_mask(s->rest, _mm512_setzero_si512());
    s->rest = _mm512_mask_add_epi64(s->rest, is_open, s->rest, step);
    s->heads = _mm512_mask_add_epi64(s->heads, is_open, s->heads, head);
    s->any = _mm512_mask_or_epi64(s->any, is_open, s->any, head);
    s->window = _mm512_srl_epi64(low, rice);
}

TAMIS_HOT void keep_64(void *to, __mmask8 which, __m512i from) {
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi64(which, from));
}

TAMIS_HOT void keep_16(uint16_t *to, __mmask8 which, __m128i from) {
    _mm_storeu_si128((__m128i *)to, _mm_maskz_compress_epi16(which, from));
}

TAMIS_HOT void keep(tamis_gcs_list *l, size_t i, __mmask8 which, __m512i at, __m512i left,
                    __m512i rest, __m128i who) {
    keep_64(l->at + i, which, at);
    keep_64(l->left + i, which, left);
    keep_64(l->rest + i, which, rest);
    keep_16(l->who + i, which, who);
}

/* Eight queries from the j-th on; the first `stay` places are free again. */
TAMIS_HOT size_t read_8(const uint8_t *bytes, unsigned rice, tamis_gcs_asked *q, size_t j,
                        __mmask8 in, size_t stay) {
    const unsigned gaps = tamis__gcs_gaps(rice);
    const __m512i low_bits = _mm512_set1_epi64((long long)tamis__coded_mask(rice));
    const __m512i at = _mm512_loadu_si512(q->open.at + j);
    const __m512i left = _mm512_loadu_si512(q->open.left + j);
    const __m512i rest = _mm512_loadu_si512(q->open.rest + j);
    const __m128i who = _mm_loadu_si128((const __m128i *)(q->open.who + j));
    state s = {.window = windows(bytes, q->open.at + j, at, left), .rest = rest};
    s.heads = s.any = _mm512_setzero_si512();
    for (unsigned i = 0; i < gaps; i++) take_gap(&s, _mm_cvtsi64_si128((long long)rice), low_bits);
    const __m512i used = _mm512_add_epi64(s.heads, _mm512_set1_epi64((long long)(gaps * rice)));
    const __mmask8 is_over = _mm512_cmpgt_epi64_mask(used, _mm512_set1_epi64(WINDOW));
    const __mmask8 is_far = _mm512_test_epi64_mask(s.any, _mm512_set1_epi64(-TAMIS_CODED_FAR));
    const __mmask8 is_late = (__mmask8)((is_over | is_far) & in),
                   is_well = (__mmask8)(in & ~is_late);
    const __mmask8 is_found = _mm512_mask_cmpeq_epi64_mask(is_well, s.rest, _mm512_set1_epi64(-1));
    const __mmask8 is_open = (__mmask8)(is_well & ~_mm512_movepi64_mask(s.rest));
    if (is_late) {
        keep(&q->late, q->late.n, is_late, at, left, rest, who);
        q->late.n += tamis__popcount64(is_late);
    }
    keep_16(q->found + q->found_count, is_found, who);
    q->found_count += tamis__popcount64(is_found);
    keep(&q->open, stay, is_open, _mm512_add_epi64(at, used), _mm512_sub_epi64(left, used), s.rest,
         who);
    return stay + tamis__popcount64(is_open);
}

static void next_round(const uint8_t *bytes, unsigned rice, tamis_gcs_asked *q) {
    const size_t n = q->open.n;
    size_t stay = 0, j = 0;
    for (; n - j >= LANES; j += LANES) stay = read_8(bytes, rice, q, j, 0xff, stay);
    if (j < n) stay = read_8(bytes, rice, q, j, (__mmask8)((1u << (n - j)) - 1), stay);
    q->open.n = stay;
}

tamis_gcs_round *const tamis__gcs_avx512 = next_round;
#endif
