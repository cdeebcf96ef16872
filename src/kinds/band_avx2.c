/* SPDX-License-Identifier: MIT */
/* The bumped ribbon: the AVX2 kernels. Four columns at a time are summed up, and four equations at
 * a time walk along the rows. */
#include "kinds/band_kernels.h"

#ifdef __AVX2__
#include <immintrin.h>

enum { LANES = 4, WORD = 8 };

TAMIS_HOT __m256i all(uint64_t x) {
    return _mm256_set1_epi64x((long long)x);
}

/* For each of four words a lane whose lowest bit is the parity of the word: nibbles of a byte are
 * folded into one, a table has its parity, and the bytes of a word are added up. */
TAMIS_HOT __m256i parities(__m256i x) {
    const __m256i odd =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0));
    const __m256i folded = _mm256_xor_si256(x, _mm256_srli_epi16(x, 4));
    const __m256i nibbles = _mm256_and_si256(folded, _mm256_set1_epi8(15));
    return _mm256_sad_epu8(_mm256_shuffle_epi8(odd, nibbles), _mm256_setzero_si256());
}

/* ---- Querying ------------------------------------------------------------------------------- */

/* The lanes below `count` are all ones. */
TAMIS_HOT __m256i first_lanes(unsigned count) {
    return _mm256_cmpgt_epi64(all(count), _mm256_setr_epi64x(0, 1, 2, 3));
}

TAMIS_HOT uint64_t four_columns(const tamis_band_aim *aim, unsigned k, unsigned count) {
    const long long *here = (const long long *)(const void *)(aim->here + k * WORD);
    const long long *next = (const long long *)(const void *)(aim->next + k * WORD);
    const __m256i which = first_lanes(count);
    const __m256i first = _mm256_and_si256(_mm256_maskload_epi64(here, which), all(aim->low));
    const __m256i second = _mm256_and_si256(_mm256_maskload_epi64(next, which), all(aim->high));
    const __m256i sums = _mm256_slli_epi64(parities(_mm256_xor_si256(first, second)), 63);
    return (uint64_t)_mm256_movemask_pd(_mm256_castsi256_pd(sums));
}

static void ask(const tamis_band_form *form, const tamis_band_set *set, const uint64_t *hash,
                size_t n, uint64_t *value, uint8_t *hit) {
    ask_groups(four_columns, form, set, hash, n, value, hit);
}

bool tamis__band_ask_avx2(const tamis_band_form *form, const uint8_t *band, uint64_t hash,
                          uint64_t *value) {
    tamis_band_aim aim;
    aim_in_band(form, band, hash, &aim);
    return test_columns(four_columns, form, &aim, value);
}

/* ---- Building ------------------------------------------------------------------------------- */

/* Equations that have started and have no row yet, with the current row as their lowest bit. Those
 * that started later are last, and go first. Done ones have c = 0. */
typedef struct waiting {
    _Alignas(32) uint64_t c[WAITING + LANES]; /* zero after the last */
    _Alignas(32) uint64_t r[WAITING + LANES]; /* what they sum up to */
    uint32_t start[WAITING + LANES];
    size_t n;
} waiting;

/* Eliminates a row from all equations that have it, and advances to the next. */
TAMIS_HOT void step_all(waiting *w, uint64_t row_c, uint64_t row_r) {
    const __m256i c_of_row = all(row_c), r_of_row = all(row_r), zero = _mm256_setzero_si256();
    for (size_t i = 0; i < w->n; i += LANES) {
        __m256i *at_c = (__m256i *)(void *)(w->c + i), *at_r = (__m256i *)(void *)(w->r + i);
        const __m256i c = _mm256_load_si256(at_c), r = _mm256_load_si256(at_r);
        const __m256i has_row = _mm256_sub_epi64(zero, _mm256_and_si256(c, all(1)));
        const __m256i new_c = _mm256_xor_si256(c, _mm256_and_si256(c_of_row, has_row));
        _mm256_store_si256(at_r, _mm256_xor_si256(r, _mm256_and_si256(r_of_row, has_row)));
        _mm256_store_si256(at_c, _mm256_srli_epi64(new_c, 1));
    }
}

/* Drops equations that are done. */
static void close_up(waiting *w, uint64_t *contradicts) {
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++) {
        const uint64_t c = w->c[i], r = w->r[i];
        const uint32_t start = w->start[i];
        if (c == 0 && r && (*contradicts == NOBODY || *contradicts < start)) *contradicts = start;
        w->c[n] = c, w->r[n] = r, w->start[n] = start;
        n += c != 0;
    }
    memset(w->c + n, 0, LANES * sizeof *w->c);
    w->n = n;
}

TAMIS_HOT void put_row(tamis_band_crowd *k, size_t p, uint64_t c, uint64_t r, uint64_t start) {
    k->c[k->first + p] = c;
    k->r[k->first + p] = (uint32_t)r;
    k->made[k->made_count++] = (tamis_band_made){(uint32_t)p, (uint32_t)start};
}

/* Keys from *at on that start at row p. The first one makes the row, when it is empty. False: too
 * many wait. */
TAMIS_HOT bool let_start(tamis_band_crowd *k, waiting *w, size_t *at, size_t p) {
    const uint64_t guard = ((uint64_t)1 << k->guard_bits) - 1;
    for (; *at < k->n && tamis__range(k->x[*at], k->starts) == k->first + p; ++*at) {
        const uint64_t x = k->x[*at], c = coefficients_of(x);
        const uint64_t r = k->row ? k->row[*at] : x & guard;
        if (k->c[k->first + p] == 0) {
            put_row(k, p, c, r, p);
        } else if (w->n == WAITING) {
            return false;
        } else {
            w->c[w->n] = c, w->r[w->n] = r, w->start[w->n] = (uint32_t)p;
            w->n++;
            w->c[w->n + LANES - 1] = 0;
        }
    }
    return true;
}

/* A waiting equation makes the row p, if any has it. */
TAMIS_HOT void make_row(tamis_band_crowd *k, const waiting *w, size_t p) {
    for (size_t i = w->n; i-- > 0;)
        if (w->c[i] & 1) {
            put_row(k, p, w->c[i], w->r[i], w->start[i]);
            return;
        }
}

static bool fill(tamis_band_crowd *k) {
    enum { SELDOM = 16 };
    waiting w;
    w.n = 0;
    memset(w.c, 0, LANES * sizeof *w.c);
    k->made_count = 0;
    k->contradicts = NOBODY;
    k->first = tamis__range(k->x[0], k->starts);
    for (size_t p = 0, at = 0;; p++) {
        if (!let_start(k, &w, &at, p)) return false;
        if (k->c[k->first + p] == 0) make_row(k, &w, p);
        step_all(&w, k->c[k->first + p], k->r[k->first + p]);
        if ((k->first + p) % SELDOM != SELDOM - 1) continue;
        close_up(&w, &k->contradicts);
        if (at == k->n && w.n == 0) return true;
    }
}

/* Writes up to four columns of a block, from the k-th of those that are solved on. */
TAMIS_HOT void put_columns(const tamis_band_solving *s, uint64_t block, unsigned k, __m256i words) {
    uint8_t *to = s->out + (words_before(s, block) + s->first + k) * WORD;
    const unsigned end = solved_columns(s, block);
    const unsigned count = end < k ? 0 : end - k < LANES ? end - k : LANES;
    _mm256_maskstore_epi64((long long *)(void *)to, first_lanes(count), words);
}

/* Rows from the last to the first. A lane has the 64 rows after the current one of its column; when
 * a block is done, that is the word to be written. */
TAMIS_HOT void solve_lanes(const tamis_band_solving *s, unsigned first, unsigned vectors) {
    __m256i state[2] = {all(0), all(0)};
    for (uint64_t block = s->blocks; block-- > 0 && !is_left(s, block);) {
        for (uint64_t p = block * ROWS + ROWS; p-- > block * ROWS;) {
            const __m256i c = all(s->c[p]), r = all(s->r[p] >> first);
            for (unsigned k = 0; k < vectors; k++) {
                const __m256i behind = _mm256_slli_epi64(state[k], 1);
                const __m256i odd = parities(_mm256_and_si256(behind, c));
                const __m256i ladder = _mm256_add_epi64(_mm256_setr_epi64x(0, 1, 2, 3), all(4 * k));
                const __m256i sum = _mm256_xor_si256(odd, _mm256_srlv_epi64(r, ladder));
                state[k] = _mm256_or_si256(behind, _mm256_and_si256(sum, all(1)));
            }
        }
        for (unsigned k = 0; k < vectors; k++) put_columns(s, block, first + k * LANES, state[k]);
    }
}

static void solve(const tamis_band_solving *s) {
    for (unsigned first = 0; first < s->count; first += 2 * LANES)
        if (s->count - first > LANES)
            solve_lanes(s, first, 2);
        else
            solve_lanes(s, first, 1);
}

const tamis_band_ops tamis__band_avx2 = {.ask = ask, .fill = fill, .solve = solve};
#endif
