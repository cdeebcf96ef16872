/* SPDX-License-Identifier: MIT */
/* cuckoo: the AVX-512 kernel. The same answers as cuckoo.c, eight keys at a time. */
#include "kinds/cuckoo.h"

#ifdef __AVX512BITALG__
#include <immintrin.h>

enum { LANES = 8 };

/* Constants of a table. */
typedef struct constants {
    __m512i buckets, bits, last, ones, tops;
    __m128i width, twice, rest; /* shifts by the width of a cell, by two cells, by the rest of 64 */
} constants;

/* Eight fingerprints: the words of their buckets, the shifts in them, and the value to compare
 * every cell with. */
typedef struct lanes {
    uint64_t first[2][LANES];
    __m512i shift[2], wanted;
} lanes;

static constants constants_of(const tamis_table *t) {
    return (constants){
        .buckets = _mm512_set1_epi64((long long)t->buckets),
        .bits = _mm512_set1_epi64(t->bucket_bits),
        .last = _mm512_set1_epi64((long long)t->last),
        .ones = _mm512_set1_epi64((long long)t->ones),
        .tops = _mm512_set1_epi64((long long)(t->ones << (t->width - 1))),
        .width = _mm_cvtsi32_si128((int)t->width),
        .twice = _mm_cvtsi32_si128((int)t->width * 2),
        .rest = _mm_cvtsi32_si128((int)(64 - t->width)),
    };
}

/* The upper 64 bits of x * n, n below 2^32, without its lowest 32 bits, which are in *low. */
TAMIS_HOT __m512i multiply(__m512i x, __m512i n, __m512i *low) {
    *low = _mm512_mul_epu32(x, n);
    return _mm512_add_epi64(_mm512_mul_epu32(_mm512_srli_epi64(x, 32), n),
                            _mm512_srli_epi64(*low, 32));
}

/* tamis__mix of numbers below 2^33. */
TAMIS_HOT __m512i mix(__m512i x) {
    x = _mm512_mullo_epi64(x, _mm512_set1_epi64((long long)0xff51afd7ed558ccd));
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 33));
    x = _mm512_mullo_epi64(x, _mm512_set1_epi64((long long)0xc4ceb9fe1a85ec53));
    return _mm512_xor_si512(x, _mm512_srli_epi64(x, 33));
}

TAMIS_HOT __m512i other_bucket(__m512i buckets, __m512i bucket, __m512i value) {
    __m512i low;
    const __m512i offset = _mm512_srli_epi64(multiply(mix(value), buckets, &low), 32);
    const __m512i apart = _mm512_sub_epi64(offset, bucket);
    const __mmask8 wraps = _mm512_cmplt_epu64_mask(offset, bucket);
    return _mm512_mask_add_epi64(apart, wraps, apart, buckets);
}

/* The value is 1 + (rest * (2^width - 1) >> 64), and that product is rest * 2^width - rest. */
TAMIS_HOT __m512i value_of(const constants *c, __m512i rest) {
    const __m512i high = _mm512_srl_epi64(rest, c->rest);
    const __mmask8 borrows = _mm512_cmplt_epu64_mask(_mm512_sll_epi64(rest, c->width), rest);
    return _mm512_mask_add_epi64(high, (__mmask8)~borrows, high, _mm512_set1_epi64(1));
}

TAMIS_HOT void locate(const constants *c, __m512i bucket, unsigned which, lanes *l) {
    const __m512i bit = _mm512_mul_epu32(bucket, c->bits);
    const __m512i first = _mm512_min_epu64(_mm512_srli_epi64(bit, 3), c->last);
    l->shift[which] = _mm512_sub_epi64(bit, _mm512_slli_epi64(first, 3));
    _mm512_storeu_si512(l->first[which], first);
}

TAMIS_HOT void find_lanes(const constants *c, const uint64_t *hash, lanes *l) {
    __m512i low;
    const __m512i upper = multiply(_mm512_loadu_si512(hash), c->buckets, &low);
    const __m512i bucket = _mm512_srli_epi64(upper, 32);
    const __m512i rest = _mm512_mask_mov_epi32(low, 0xaaaa, _mm512_slli_epi64(upper, 32));
    const __m512i value = value_of(c, rest);
    const __m512i other = other_bucket(c->buckets, bucket, value);
    const __m512i two = _mm512_or_si512(value, _mm512_sll_epi64(value, c->width));
    l->wanted = _mm512_or_si512(two, _mm512_sll_epi64(two, c->twice));
    locate(c, bucket, 0, l);
    locate(c, other, 1, l);
}

/* One load after the other: a gather took 4 cycles for each of its words here, this 1.6. */
TAMIS_HOT __m512i words_at(const uint8_t *bytes, const uint64_t *first) {
    long long w[LANES];
    for (unsigned i = 0; i < LANES; i++) memcpy(&w[i], bytes + first[i], sizeof w[i]);
    return _mm512_set_epi64(w[7], w[6], w[5], w[4], w[3], w[2], w[1], w[0]);
}

TAMIS_HOT __mmask8 is_in(const constants *c, const uint8_t *bytes, const lanes *l, unsigned which) {
    const __m512i word = _mm512_srlv_epi64(words_at(bytes, l->first[which]), l->shift[which]);
    const __m512i x = _mm512_xor_si512(word, l->wanted);
    return _mm512_test_epi64_mask(_mm512_andnot_si512(x, _mm512_sub_epi64(x, c->ones)), c->tops);
}

TAMIS_HOT void answer(const constants *c, const uint8_t *bytes, const lanes *l, uint8_t *hit) {
    const __mmask8 found = is_in(c, bytes, l, 0) | is_in(c, bytes, l, 1);
    _mm_storel_epi64((__m128i *)hit, _mm_maskz_set1_epi8(found, 1));
}

/* The lines of both words, from their first and to their last byte. */
TAMIS_HOT void prefetch(const uint8_t *bytes, const lanes *l) {
    for (unsigned i = 0; i < LANES; i++)
        for (unsigned which = 0; which < 2; which++) {
            __builtin_prefetch(bytes + l->first[which][i], 0, 2);
            __builtin_prefetch(bytes + l->first[which][i] + 7, 0, 2);
        }
}

/* All eight of a step are located before the first are tested: beyond the cache their lines are
 * fetched in the meantime, in cache loads need not wait for recent stores. */
enum { STEPS = 16 };

static void query(const tamis_table *t, const uint64_t *hash, size_t n, uint8_t *hit) {
    const constants c = constants_of(t);
    const bool is_far = tamis__table_is_far(t);
    lanes l[STEPS];
    for (size_t steps; n; hash += steps * LANES, hit += steps * LANES, n -= steps * LANES) {
        steps = n / LANES < STEPS ? n / LANES : STEPS;
        for (size_t i = 0; i < steps; i++) {
            find_lanes(&c, hash + i * LANES, &l[i]);
            if (is_far) prefetch(t->bytes, &l[i]);
        }
        for (size_t i = 0; i < steps; i++) answer(&c, t->bytes, &l[i], hit + i * LANES);
    }
}

size_t tamis__cuckoo_query_avx512(const tamis_table *t, const uint64_t *hash, size_t n,
                                  uint8_t *hit) {
    const bool is_known = t->ones && t->buckets <= UINT32_MAX;
    const size_t whole = is_known ? n - n % LANES : 0;
    query(t, hash, whole, hit);
    return whole;
}
#endif
