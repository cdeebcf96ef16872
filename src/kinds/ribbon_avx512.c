/* SPDX-License-Identifier: MIT */
/* ribbon: one key, for AVX-512. Eight columns at a time are summed up, without a branch; hashes and
 * coefficients are computed in vector registers (bits/one_avx512.h). On Zen 5 a key took 14 ns
 * instead of 18 in cache, and 63 instead of 93 where 10^7 keys are in memory. */
#include "kinds/ribbon.h"

#ifdef __AVX512BITALG__
#include "bits/eight_avx512.h"
#include "bits/one_avx512.h"
#include "kinds/band_kernels.h"

enum { LANES = 8, WORD = 8 };

/* The rows of a key. */
typedef struct rows {
    const uint8_t *here, *next;
    __m512i low, high; /* which of them count */
} rows;

/* Are the guard bits from the k-th on, of which eight are in x now, those of the key? */
TAMIS_HOT bool are_equal(const rows *r, unsigned k, uint64_t x, unsigned guard_bits) {
    const __mmask8 which = (__mmask8)_bzhi_u32(0xff, guard_bits - k);
    const __m512i here = _mm512_maskz_loadu_epi64(which, r->here + k * WORD);
    const __m512i next = _mm512_maskz_loadu_epi64(which, r->next + k * WORD);
    const __m512i first = _mm512_and_si512(here, r->low);
    const __m512i picked = _mm512_ternarylogic_epi64(first, next, r->high, 0x78); /* a ^ (b & c) */
    const __m512i bits = _mm512_popcnt_epi64(picked);
    return _mm512_test_epi64_mask(bits, tamis__all8(1)) == ((__mmask8)x & which);
}

/* Up to eight guard bits are compared without a branch. */
TAMIS_HOT bool test(const tamis_band_aim *aim, __m128i c, unsigned shift, bool is_short) {
    const rows r = {
        .here = aim->here,
        .next = aim->next,
        .low = _mm512_sll_epi64(_mm512_broadcastq_epi64(c), _mm_cvtsi32_si128((int)shift)),
        .high = _mm512_srl_epi64(_mm512_broadcastq_epi64(c), _mm_cvtsi32_si128(ROWS - (int)shift)),
    };
    bool is_same = are_equal(&r, 0, aim->x, aim->guard_bits);
    for (unsigned k = LANES; !is_short && is_same && k < aim->guard_bits; k += LANES)
        is_same = are_equal(&r, k, aim->x >> k, aim->guard_bits);
    return is_same;
}

/* For a key that the first layer bumped, with x as that one mixed it. */
static __attribute__((noinline)) bool has_later(const tamis_body *f, const uint8_t *band,
                                                uint64_t x) {
    const tamis_band_form form = tamis__band_form_of(f->word);
    const layer first = get_layer(&form, band, 0);
    tamis_band_aim aim = {.x = x};
    uint64_t none;
    aim_from(&form, band, 1, first_at(band) + first.words * WORD, &aim);
    return tamis__band_test(&form, &aim, &none);
}

TAMIS_HOT bool ask(const tamis_body *f, uint64_t hash, bool is_short) {
    const tamis_band_form form = tamis__band_form_of(f->word);
    const tamis_band_set set = tamis__band_set(f, 0);
    const uint8_t *band = tamis__band_of(&set, hash), *at = first_at(band);
    if (layers_of(band) == 0) return false;
    const layer l = get_layer(&form, band, 0);
    const __m128i x = tamis__mix1(tamis__in_vector(hash ^ key_of(l.seed)));
    tamis_band_aim aim = {.x = tamis__out_of_vector(x)};
    const uint64_t start = tamis__range(aim.x, l.starts);
    if (__builtin_expect(is_bumped(&l, at, start), false)) return has_later(f, band, aim.x);
    const __m128i mixed = tamis__mix1(_mm_add_epi64(x, TAMIS_CONST1(GOLDEN)));
    aim_at(&form, &l, at, start, &aim);
    return test(&aim, _mm_or_si128(mixed, TAMIS_CONST1(1)), start % ROWS, is_short);
}

static bool short_has(const tamis_body *f, uint64_t hash) {
    return ask(f, hash, true);
}

static bool short_has_number(const tamis_body *f, uint64_t number, uint64_t flip) {
    return ask(f, tamis__xxh3_one(flip, number), true);
}

static bool long_has(const tamis_body *f, uint64_t hash) {
    return ask(f, hash, false);
}

static bool long_has_number(const tamis_body *f, uint64_t number, uint64_t flip) {
    return ask(f, tamis__xxh3_one(flip, number), false);
}

tamis_one tamis__ribbon_one_avx512(const uint64_t word[]) {
    return word[TAMIS_BAND_WIDTH] <= LANES
               ? (tamis_one){.has = short_has, .has_number = short_has_number}
               : (tamis_one){.has = long_has, .has_number = long_has_number};
}
#endif
