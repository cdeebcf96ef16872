/* SPDX-License-Identifier: MIT */
/* The bumped ribbon: the AVX-512 kernels. Eight keys at a time find their rows, eight columns at a
 * time are summed up, and eight equations at a time walk along the rows. */
#include "kinds/band_kernels.h"

#ifdef __AVX512BITALG__
#include "bits/eight_avx512.h"

enum { LANES = 8, WORD = 8 };

/* ---- Eight at a time ------------------------------------------------------------------------ */

TAMIS_HOT __m512i plus(__m512i a, __m512i b) {
    return _mm512_add_epi64(a, b);
}

/* ---- Bands ---------------------------------------------------------------------------------- */

/* The first layers of eight bands, as in get_layer, with offsets from the start of the payload. */
typedef struct bands {
    __m512i meta, rows, starts, key, narrow_blocks, shift, cuts;
    __mmask8 has_keys, bumps;
} bands;

TAMIS_HOT __m512i gather(const tamis_band_set *set, __mmask8 which, __m512i at) {
    return _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), which, at, set->bytes, 1);
}

TAMIS_HOT bands get_bands(const tamis_band_form *form, const tamis_band_set *set, __m512i index) {
    bands b;
    const __m512i start = _mm512_i64gather_epi64(index, set->starts, WORD);
    const __m512i band = plus(start, tamis__all8(set->lead));
    const __m512i layers = _mm512_srli_epi64(gather(set, 0xff, band), 32);
    b.has_keys = _mm512_test_epi64_mask(layers, layers);
    const __m512i size = gather(set, b.has_keys, plus(band, tamis__all8(HEAD_BYTES)));
    const __m512i bumping = gather(set, b.has_keys, plus(band, tamis__all8(HEAD_BYTES + 8)));
    const __m512i blocks = _mm512_and_si512(size, tamis__all8(UINT32_MAX));
    const __m512i seed = _mm512_srli_epi64(size, 32);
    b.starts = _mm512_sub_epi64(_mm512_slli_epi64(blocks, 6), tamis__all8(ROWS - 1));
    b.key = _mm512_mullo_epi64(plus(seed, tamis__all8(1)), tamis__all8(GOLDEN));
    b.narrow_blocks =
        _mm512_srli_epi64(_mm512_mul_epu32(b.starts, tamis__all8(form->narrow)), 16 + 6);
    b.shift = _mm512_and_si512(bumping, tamis__all8(0xffff));
    b.cuts = _mm512_andnot_si512(tamis__all8(0xffff), bumping);
    b.bumps = _mm512_test_epi64_mask(b.shift, b.shift);
    b.meta = plus(plus(band, tamis__all8(HEAD_BYTES)), _mm512_slli_epi64(layers, 4));
    const __m512i last = _mm512_srlv_epi64(_mm512_sub_epi64(b.starts, tamis__all8(1)), b.shift);
    const __m512i meta_words = plus(_mm512_srli_epi64(last, 5), tamis__all8(1));
    b.rows = _mm512_mask_add_epi64(b.meta, b.bumps, b.meta, _mm512_slli_epi64(meta_words, 3));
    return b;
}

/* The bands of eight keys, from eight cached bands. */
TAMIS_HOT bands pick_bands(const bands *from, __m512i index) {
    bands b;
    b.meta = _mm512_permutexvar_epi64(index, from->meta);
    b.rows = _mm512_permutexvar_epi64(index, from->rows);
    b.starts = _mm512_permutexvar_epi64(index, from->starts);
    b.key = _mm512_permutexvar_epi64(index, from->key);
    b.narrow_blocks = _mm512_permutexvar_epi64(index, from->narrow_blocks);
    b.shift = _mm512_permutexvar_epi64(index, from->shift);
    b.cuts = _mm512_permutexvar_epi64(index, from->cuts);
    const __m512i bit = _mm512_sllv_epi64(tamis__all8(1), index);
    b.has_keys = _mm512_test_epi64_mask(tamis__all8(from->has_keys), bit);
    b.bumps = _mm512_test_epi64_mask(tamis__all8(from->bumps), bit);
    return b;
}

/* ---- Locating the rows of a group ----------------------------------------------------------- */

typedef struct aims {
    uint64_t here[ASKED], next[ASKED]; /* addresses */
    uint64_t low[ASKED], high[ASKED], x[ASKED];
    uint8_t bumped[ASKED + LANES]; /* which keys are not in the first layer */
    size_t bumped_count;
} aims;

/* The rows of a key in a band without keys. They do not sum up to a guard of ones. */
static const uint8_t nothing[(TAMIS_BAND_MAX_VALUE + LANES) * WORD];

TAMIS_HOT uint64_t address_of(const uint8_t *p) {
    return (uint64_t)(uintptr_t)p;
}

/* The keys of eight that the first layer does not have. */
TAMIS_HOT __mmask8 not_there(const tamis_band_set *set, const bands *b, __m512i start) {
    const __m512i bucket = _mm512_srlv_epi64(start, b->shift);
    const __m512i at = plus(b->meta, _mm512_slli_epi64(_mm512_srli_epi64(bucket, 5), 3));
    const __m512i meta = gather(set, b->bumps & b->has_keys, at);
    const __m512i bit = _mm512_slli_epi64(_mm512_and_si512(bucket, tamis__all8(31)), 1);
    const __m512i class = _mm512_and_si512(_mm512_srlv_epi64(meta, bit), tamis__all8(3));
    const __m512i cut = _mm512_srlv_epi64(b->cuts, _mm512_slli_epi64(class, 4));
    const __m512i offset =
        _mm512_andnot_si512(_mm512_sllv_epi64(tamis__all8(UINT64_MAX), b->shift), start);
    return _mm512_cmplt_epu64_mask(offset, _mm512_and_si512(cut, tamis__all8(0xffff))) |
           (__mmask8)~b->has_keys;
}

TAMIS_HOT void note_bumped(aims *a, size_t at, __mmask8 which) {
    const __m128i eight = _mm_set_epi64x(0, 0x0706050403020100);
    const __m128i number = _mm_add_epi8(eight, _mm_set1_epi8((char)at));
    _mm_storel_epi64((__m128i *)(a->bumped + a->bumped_count),
                     _mm_maskz_compress_epi8(which, number));
    a->bumped_count += tamis__popcount64(which);
}

TAMIS_HOT void aim_eight(const tamis_band_form *form, const tamis_band_set *set, const bands *b,
                         __m512i hash, __mmask8 which, size_t at, aims *a) {
    const __m512i x =
        tamis__mix8(_mm512_xor_si512(_mm512_xor_si512(hash, tamis__all8(form->salt)), b->key));
    const __m512i start = tamis__range8(x, b->starts), block = _mm512_srli_epi64(start, 6);
    const __m512i shift = _mm512_and_si512(start, tamis__all8(ROWS - 1));
    const __m512i c = _mm512_or_si512(tamis__mix8(plus(x, tamis__all8(GOLDEN))), tamis__all8(1));
    const __m512i columns = tamis__all8(columns_of(form));
    const __m512i narrow = _mm512_min_epu64(block, b->narrow_blocks);
    const __m512i before = _mm512_sub_epi64(_mm512_mul_epu32(block, columns), narrow);
    const __m512i rows = plus(b->rows, tamis__all8(address_of(set->bytes)));
    const __m512i here = plus(rows, _mm512_slli_epi64(before, 3));
    const __mmask8 is_narrow = _mm512_cmplt_epu64_mask(block, b->narrow_blocks);
    const __m512i words = _mm512_mask_sub_epi64(columns, is_narrow, columns, tamis__all8(1));
    const __mmask8 goes_on = _mm512_test_epi64_mask(shift, shift);
    _mm512_storeu_si512(a->here + at, here);
    _mm512_storeu_si512(a->next + at,
                        _mm512_mask_add_epi64(here, goes_on, here, _mm512_slli_epi64(words, 3)));
    _mm512_storeu_si512(a->low + at, _mm512_sllv_epi64(c, shift));
    _mm512_storeu_si512(a->high + at,
                        _mm512_srlv_epi64(c, _mm512_sub_epi64(tamis__all8(ROWS), shift)));
    _mm512_storeu_si512(a->x + at, x);
    note_bumped(a, at, not_there(set, b, start) & which);
}

/* Later layers have few keys, and are looked up one by one. */
static void aim_bumped(const tamis_band_form *form, const tamis_band_set *set, const uint64_t *hash,
                       aims *a) {
    for (size_t i = 0; i < a->bumped_count; i++) {
        const unsigned j = a->bumped[i];
        tamis_band_aim aim = {.low = 0};
        aim_in_band(form, tamis__band_of(set, hash[j]), hash[j], &aim);
        if (!aim.here) aim.here = aim.next = nothing, aim.x = UINT64_MAX;
        if (set->is_far) fetch(form, aim.here, aim.next);
        a->here[j] = address_of(aim.here), a->next[j] = address_of(aim.next);
        a->low[j] = aim.low, a->high[j] = aim.high, a->x[j] = aim.x;
    }
}

TAMIS_HOT const uint8_t *bytes_at(uint64_t address) {
    return (const uint8_t *)(uintptr_t)address;
}

/* ---- Testing them --------------------------------------------------------------------------- */

/* The sums of up to eight columns from the k-th on, a bit each. */
TAMIS_HOT uint64_t sums(const aims *a, size_t j, unsigned k, unsigned count) {
    const uint8_t *here = bytes_at(a->here[j]) + k * WORD;
    const uint8_t *next = bytes_at(a->next[j]) + k * WORD;
    const __mmask8 which = (__mmask8)((1u << count) - 1);
    const __m512i first =
        _mm512_and_si512(_mm512_maskz_loadu_epi64(which, here), tamis__all8(a->low[j]));
    const __m512i second = _mm512_maskz_loadu_epi64(which, next);
    const __m512i picked = _mm512_ternarylogic_epi64(first, second, tamis__all8(a->high[j]), 0x78);
    return _mm512_test_epi64_mask(_mm512_popcnt_epi64(picked), tamis__all8(1));
}

/* The sums of columns [from, to) at any width. */
TAMIS_HOT uint64_t many_sums(const aims *a, size_t j, unsigned from, unsigned to) {
    uint64_t sum = 0;
    for (unsigned k = from; k < to; k += LANES)
        sum |= sums(a, j, k, to - k < LANES ? to - k : LANES) << (k - from);
    return sum;
}

/* Up to eight columns of the guard, without a branch between keys. */
static void test_first(const tamis_band_form *form, const aims *a, size_t n, uint8_t *hit) {
    const unsigned g = form->guard_bits, count = g < LANES ? g : LANES;
    const __m512i full = tamis__all8(guard_of(UINT64_MAX, g)),
                  edge = tamis__all8(narrow_edge(form));
    const __m512i less = _mm512_srli_epi64(full, 1);
    uint8_t sum[ASKED];
    for (size_t j = 0; j < n; j++) sum[j] = (uint8_t)sums(a, j, form->value_bits, count);
    for (size_t j = 0; j < n; j += LANES) {
        const __m512i got = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(sum + j)));
        const __m512i x = _mm512_loadu_si512(a->x + j);
        const __m512i mask = _mm512_mask_mov_epi64(full, _mm512_cmplt_epu64_mask(x, edge), less);
        const __m512i wrong = _mm512_and_si512(_mm512_xor_si512(got, x), mask);
        const __mmask8 fits = _mm512_testn_epi64_mask(wrong, tamis__all8(0xff));
        const __mmask16 which = (__mmask16)(n - j < LANES ? (1u << (n - j)) - 1 : 0xff);
        _mm_mask_storeu_epi8(hit + j, which, _mm_maskz_set1_epi8(fits, 1));
    }
}

/* Keys that pass so far need the other columns of the guard, which are fetched only now. */
static void test_rest(const tamis_band_form *form, const aims *a, size_t n, bool is_far,
                      uint8_t *hit) {
    const unsigned v = form->value_bits, g = form->guard_bits;
    for (size_t j = 0; is_far && !v && j < n; j++)
        if (hit[j]) fetch_lines(bytes_at(a->here[j]), bytes_at(a->next[j]) + (g - 1) * WORD);
    for (size_t j = 0; j < n; j++) {
        const uint64_t mask = guard_of(UINT64_MAX, g - (a->x[j] < narrow_edge(form))) >> LANES;
        if (!hit[j] || !mask) continue;
        hit[j] = ((many_sums(a, j, v + LANES, v + g) ^ a->x[j] >> LANES) & mask) == 0;
    }
}

/* Without a guard only a band without keys answers no. */
static void forget_nobodys(const aims *a, size_t n, uint8_t *hit) {
    for (size_t j = 0; j < n; j++) hit[j] = a->here[j] != address_of(nothing);
}

static void get_values(const tamis_band_form *form, const aims *a, size_t n, uint64_t *value,
                       const uint8_t *hit) {
    const unsigned v = form->value_bits;
    for (size_t j = 0; j < n; j++)
        if (hit[j]) value[j] = mask_of(a->x[j], v) ^ many_sums(a, j, 0, v);
}

/* ---- A batch -------------------------------------------------------------------------------- */

TAMIS_HOT void aim_group(const tamis_band_form *form, const tamis_band_set *set, const bands *known,
                         const uint64_t *hash, size_t n, aims *a) {
    const __m512i count = tamis__all8(set->count);
    a->bumped_count = 0;
    for (size_t j = 0; j < n; j += LANES) {
        const __mmask8 which = (__mmask8)(n - j < LANES ? (1u << (n - j)) - 1 : 0xff);
        const __m512i h = _mm512_maskz_loadu_epi64(which, hash + j);
        if (set->count == 1) {
            aim_eight(form, set, known, h, which, j, a);
        } else {
            const __m512i index = tamis__range8(h, count);
            const bands b =
                set->count <= LANES ? pick_bands(known, index) : get_bands(form, set, index);
            aim_eight(form, set, &b, h, which, j, a);
        }
        for (size_t i = j; set->is_far && i < j + LANES; i++)
            fetch(form, bytes_at(a->here[i]), bytes_at(a->next[i]));
    }
    aim_bumped(form, set, hash, a);
}

static void ask(const tamis_band_form *form, const tamis_band_set *set, const uint64_t *hash,
                size_t n, uint64_t *value, uint8_t *hit) {
    const __m512i first = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    const bands known = get_bands(form, set, _mm512_min_epu64(first, tamis__all8(set->count - 1)));
    aims a;
    for (size_t group; n; hash += group, hit += group, n -= group) {
        group = n < ASKED ? n : ASKED;
        aim_group(form, set, &known, hash, group, &a);
        test_first(form, &a, group, hit);
        if (form->guard_bits > LANES) test_rest(form, &a, group, set->is_far, hit);
        if (form->guard_bits == 0) forget_nobodys(&a, group, hit);
        if (value) {
            get_values(form, &a, group, value, hit);
            value += group;
        }
    }
}

/* ---- Building ------------------------------------------------------------------------------- */

/* Equations of a bucket, ready to start. Above the sum of the coefficients, 32 bits at most, is the
 * row that the equation starts at, counted from the first. */
typedef struct equations {
    uint64_t first;      /* row that one starts at */
    uint16_t end[REACH]; /* past the last that starts at a row; 0: none */
    uint64_t c[CROWD + LANES], r[CROWD + LANES];
} equations;

enum { OWNER = 32 };

static void prepare(const tamis_band_crowd *k, equations *e) {
    const __m512i guard = tamis__all8(((uint64_t)1 << k->guard_bits) - 1);
    e->first = tamis__range(k->x[0], k->starts);
    memset(e->end, 0, sizeof e->end);
    for (size_t i = 0; i < k->n; i += LANES) {
        const __mmask8 which = (__mmask8)(k->n - i < LANES ? (1u << (k->n - i)) - 1 : 0xff);
        const __m512i x = _mm512_maskz_loadu_epi64(which, k->x + i);
        const __m512i sum =
            k->row ? _mm512_maskz_loadu_epi64(which, k->row + i) : _mm512_and_si512(x, guard);
        const __m512i start =
            _mm512_sub_epi64(tamis__range8(x, tamis__all8(k->starts)), tamis__all8(e->first));
        _mm512_storeu_si512(
            e->c + i, _mm512_or_si512(tamis__mix8(plus(x, tamis__all8(GOLDEN))), tamis__all8(1)));
        _mm512_storeu_si512(e->r + i, _mm512_or_si512(sum, _mm512_slli_epi64(start, OWNER)));
    }
    for (size_t i = 0; i < k->n; i++) e->end[e->r[i] >> OWNER] = (uint16_t)(i + 1);
}

/* Equations that have started and have no row yet, with the current row as their lowest bit. Those
 * that started later are last, and go first. Done ones have c = 0. */
typedef struct eight {
    __m512i c, r;
} eight;

/* The last eight are kept apart, in registers: newcomers go there. */
typedef struct waiting {
    eight some[WAITING / LANES];
    size_t count;
    eight last;
    unsigned last_count;
} waiting;

/* The next n equations, which start here. */
TAMIS_HOT void let_start(waiting *w, const equations *e, size_t at, unsigned n) {
    if (w->last_count + n > LANES) {
        w->some[w->count++] = w->last;
        w->last.c = w->last.r = tamis__all8(0);
        w->last_count = 0;
    }
    const __mmask8 to = (__mmask8)(((1u << n) - 1) << w->last_count);
    w->last.c = _mm512_mask_expand_epi64(w->last.c, to, _mm512_loadu_si512(e->c + at));
    w->last.r = _mm512_mask_expand_epi64(w->last.r, to, _mm512_loadu_si512(e->r + at));
    w->last_count += n;
}

/* The last equation that has the row makes it, if any has. */
TAMIS_HOT bool row_of_eight(const eight *e, eight *row) {
    const unsigned which = _mm512_test_epi64_mask(e->c, tamis__all8(1));
    if (!which) return false;
    const __m512i lane = tamis__all8(tamis__log2_floor(which));
    row->c = _mm512_permutexvar_epi64(lane, e->c);
    row->r = _mm512_permutexvar_epi64(lane, e->r);
    return true;
}

TAMIS_HOT uint64_t lowest(__m512i x) {
    return (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(x));
}

/* A waiting equation makes the row p, if any has it. */
TAMIS_HOT void make_row(tamis_band_crowd *k, const waiting *w, size_t p, eight *row) {
    if (!row_of_eight(&w->last, row)) {
        size_t i = w->count;
        do {
            if (i-- == 0) return;
        } while (!row_of_eight(&w->some[i], row));
    }
    k->c[k->first + p] = lowest(row->c);
    k->r[k->first + p] = (uint32_t)lowest(row->r);
    k->made[k->made_count++] = (tamis_band_made){(uint32_t)p, (uint32_t)(lowest(row->r) >> OWNER)};
    row->r = _mm512_and_si512(row->r, tamis__all8(UINT32_MAX));
}

/* Eliminates a row from eight equations that have it, and advances to the next. */
TAMIS_HOT void step(eight *e, const eight *row) {
    const __mmask8 has_row = _mm512_test_epi64_mask(e->c, tamis__all8(1));
    e->r = _mm512_mask_xor_epi64(e->r, has_row, e->r, row->r);
    e->c = _mm512_srli_epi64(_mm512_mask_xor_epi64(e->c, has_row, e->c, row->c), 1);
}

TAMIS_HOT void step_all(waiting *w, const eight *row) {
    step(&w->last, row);
    for (size_t i = 0; i < w->count; i++) step(&w->some[i], row);
}

/* Of eight: which are not done; and the last start of those that are done and contradict. */
TAMIS_HOT __mmask8 who_waits(const eight *e, uint64_t *contradicts) {
    const __mmask8 waits = _mm512_test_epi64_mask(e->c, e->c);
    const __m512i sum = _mm512_and_si512(e->r, tamis__all8(UINT32_MAX));
    const __mmask8 wrong = _mm512_mask_test_epi64_mask((__mmask8)~waits, sum, sum);
    if (wrong) {
        const uint64_t max = _mm512_mask_reduce_max_epu64(wrong, e->r) >> OWNER;
        if (*contradicts == NOBODY || *contradicts < max) *contradicts = max;
    }
    return waits;
}

/* Drops equations that are done. */
static void close_up(waiting *w, uint64_t *contradicts) {
    uint64_t c[WAITING + LANES], r[WAITING + LANES];
    size_t n = 0;
    for (size_t i = 0; i < w->count; i++) {
        const __mmask8 waits = who_waits(&w->some[i], contradicts);
        _mm512_storeu_si512(c + n, _mm512_maskz_compress_epi64(waits, w->some[i].c));
        _mm512_storeu_si512(r + n, _mm512_maskz_compress_epi64(waits, w->some[i].r));
        n += tamis__popcount64(waits);
    }
    _mm512_storeu_si512(c + n, tamis__all8(0));
    _mm512_storeu_si512(r + n, tamis__all8(0));
    w->count = (n + LANES - 1) / LANES;
    for (size_t i = 0; i < w->count; i++)
        w->some[i] = (eight){_mm512_loadu_si512(c + i * LANES), _mm512_loadu_si512(r + i * LANES)};
    const __mmask8 waits = who_waits(&w->last, contradicts);
    w->last.c = _mm512_maskz_compress_epi64(waits, w->last.c);
    w->last.r = _mm512_maskz_compress_epi64(waits, w->last.r);
    w->last_count = tamis__popcount64(waits);
}

/* The row p, before any equation starts there; its first newcomer makes it when it is empty. */
TAMIS_HOT eight open_row(tamis_band_crowd *k, const equations *e, size_t p, size_t *at,
                         size_t end) {
    uint64_t *c = k->c + e->first + p;
    uint32_t *r = k->r + e->first + p;
    const uint64_t is_own = (*c == 0) & (end > *at);
    *c |= e->c[*at] & -is_own;
    *r |= (uint32_t)(e->r[*at] & -is_own);
    k->made[k->made_count] = (tamis_band_made){(uint32_t)p, (uint32_t)p};
    k->made_count += is_own;
    *at += is_own;
    return (eight){tamis__all8(*c), tamis__all8(*r)};
}

static bool fill(tamis_band_crowd *k) {
    enum { SELDOM = 16, MAX = WAITING / LANES - SELDOM };
    equations e;
    waiting w;
    w.count = w.last_count = 0;
    w.last.c = w.last.r = tamis__all8(0);
    prepare(k, &e);
    k->made_count = 0;
    k->contradicts = NOBODY;
    k->first = e.first;
    for (size_t p = 0, at = 0;; p++) {
        const size_t end = e.end[p] > at ? e.end[p] : at;
        eight row = open_row(k, &e, p, &at, end);
        if (end - at > LANES) return false;
        let_start(&w, &e, at, (unsigned)(end - at));
        at = end;
        if (k->c[e.first + p] == 0) make_row(k, &w, p, &row);
        step_all(&w, &row);
        if ((e.first + p) % SELDOM != SELDOM - 1) continue;
        close_up(&w, &k->contradicts);
        if (w.count > MAX) return false;
        if (at == k->n && w.count == 0 && w.last_count == 0) return true;
    }
}

/* Rows from the last to the first. A lane has the 64 rows after the current one of its column; when
 * a block is done, that is the word to be written. */
TAMIS_HOT void solve_lanes(const tamis_band_solving *s, unsigned vectors) {
    const __m512i ladder = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    __m512i state[4] = {tamis__all8(0), tamis__all8(0), tamis__all8(0), tamis__all8(0)};
    for (uint64_t block = s->blocks; block-- > 0 && !is_left(s, block);) {
        for (uint64_t p = block * ROWS + ROWS; p-- > block * ROWS;) {
            const __m512i c = tamis__all8(s->c[p]), r = _mm512_set1_epi32((int)s->r[p]);
            for (unsigned k = 0; k < vectors; k++) {
                const __m512i behind = _mm512_slli_epi64(state[k], 1);
                const __m512i ones = _mm512_popcnt_epi64(_mm512_and_si512(behind, c));
                const __m512i sum = _mm512_srlv_epi64(r, plus(ladder, tamis__all8(k * LANES)));
                const __m512i bit = _mm512_ternarylogic_epi64(ones, sum, tamis__all8(1), 0x28);
                state[k] = _mm512_or_si512(behind, bit);
            }
        }
        const uint64_t which = ((uint64_t)1 << solved_columns(s, block)) - 1;
        uint8_t *to = s->out + (words_before(s, block) + s->first) * WORD;
        for (unsigned k = 0; k < vectors; k++)
            _mm512_mask_storeu_epi64(to + k * LANES * WORD, (__mmask8)(which >> k * LANES),
                                     state[k]);
    }
}

static void solve(const tamis_band_solving *s) {
    switch ((s->count - 1) / LANES) {
    case 0: solve_lanes(s, 1); break;
    case 1: solve_lanes(s, 2); break;
    case 2: solve_lanes(s, 3); break;
    default: solve_lanes(s, 4); break;
    }
}

const tamis_band_ops tamis__band_avx512 = {.ask = ask, .fill = fill, .solve = solve};
#endif
