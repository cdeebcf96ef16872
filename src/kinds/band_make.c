/* SPDX-License-Identifier: MIT */
/* Building the bumped ribbon: from keys to a bit matrix.
 *
 *     mix and sort      by start: equations become a band
 *     eliminate         each equation, reduced by those before it, becomes that of a row; one that
 *                       finds no row and contradicts the rest is bumped, with all that start below
 *     substitute        rows from the last to the first
 *     transpose         rows of bits to columns of words
 *
 * and again with those that were bumped. */
#include <math.h>

#include "kinds/band_kernels.h"

#define NO_PIVOT UINT32_MAX

enum {
    MAX_PLAIN = 4000,   /* keys that a layer without bumping may have */
    PLAIN_SEEDS = 12,   /* to try with one number of blocks before there is one more */
    BUMPING_SEEDS = 64, /* to try in layers that bump; the first one always did */
    MAX_BUMPED = 8,     /* at most one in this many keys is bumped */
    PIVOTS = 1 << 13,   /* rows that one bucket may make */
    PLANE_BITS = 32,    /* rows are worked on as up to three planes of 32 columns */
    MAX_PLANES = 3,
    PART_BITS = 11, /* a sort goes by these top bits of the place first */
    PARTS = 1 << PART_BITS
};

/* ---- Sizes ---------------------------------------------------------------------------------- */

/* Layers that bump have fewer rows than keys, so that almost none stays empty. Bucket, thresholds
 * and number of rows are the best of some hundred tried with 10^6 keys. Thresholds of small buckets
 * choose better which keys to bump, but cost 2 bits per bucket, whatever the number of columns:
 * with 8 of them rows and thresholds add 0.05 % and 0.20 %, with one 0.28 % and 0.79 %. */
static bool has_few_columns(const tamis_band_form *form) {
    return columns_of(form) < 4;
}

static uint64_t bumping_rows(const tamis_band_form *form, uint64_t n) {
    return n * (has_few_columns(form) ? 983 : 978) / 1024;
}

static void shape_bumping(const tamis_band_form *form, uint64_t n, uint32_t seed, layer *l) {
    l->seed = seed;
    l->shift = has_few_columns(form) ? 8 : 7;
    l->cuts = has_few_columns(form) ? cuts_of(22, 51, l->shift) : cuts_of(16, 39, l->shift);
    l->blocks = (bumping_rows(form, n) + ROWS - 1) / ROWS;
    derive(form, l);
}

static uint64_t min_plain_blocks(uint64_t n) {
    return (n + ROWS - 1) / ROWS;
}

static uint64_t max_plain_blocks(uint64_t n) {
    return 2 * min_plain_blocks(n) + 2;
}

static void shape_plain(const tamis_band_form *form, uint64_t n, uint32_t seed, layer *l) {
    l->seed = seed;
    l->shift = 0;
    l->cuts = 0;
    l->blocks = min_plain_blocks(n) + seed / PLAIN_SEEDS;
    derive(form, l);
}

static uint64_t max_rows(const tamis_band_form *form, uint64_t n) {
    layer l = {.blocks = 0};
    const uint64_t plain = max_plain_blocks(min_of(n, MAX_PLAIN));
    if (n > MAX_PLAIN) shape_bumping(form, n, 0, &l);
    return (l.blocks > plain ? l.blocks : plain) * ROWS;
}

/* Of n keys a layer bumps at most n/MAX_BUMPED. */
uint64_t tamis__band_max_bytes(tamis_band_form form, uint64_t n) {
    uint64_t words = max_plain_blocks(min_of(n, MAX_PLAIN)) * columns_of(&form);
    for (; n > MAX_PLAIN; n /= MAX_BUMPED) {
        layer l;
        shape_bumping(&form, n, 0, &l);
        words += l.words;
    }
    return HEAD_BYTES + MAX_LAYERS * LAYER_BYTES + words * 8;
}

/* For a single band it is known how rows round up to blocks; for many, only the mean. */
static uint64_t round_rows(uint64_t rows, uint64_t bands) {
    return bands == 1 ? (rows + ROWS - 1) / ROWS * ROWS : rows + ROWS / 2;
}

static uint64_t bits_of_rows(const tamis_band_form *form, uint64_t rows, uint64_t bands) {
    const uint64_t narrow = tamis__range(narrow_edge(form), rows - min_of(rows, ROWS - 1));
    const uint64_t saved = bands == 1 ? narrow / ROWS * ROWS : narrow - min_of(narrow, ROWS / 2);
    return rows * columns_of(form) - saved;
}

/* Keys that a layer bumps beyond those that it has no row for: with few columns 35 + 0.0024 n with
 * a standard deviation of 0.43 sqrt(n), else 30 + 0.0007 n and 0.19 sqrt(n). For a single band, an
 * upper bound in nearly all cases. */
static uint64_t extra_bumped(const tamis_band_form *form, uint64_t n, uint64_t bands) {
    const uint64_t spread = bands == 1 ? (uint64_t)sqrt((double)n) : 0;
    return has_few_columns(form) ? 40 + n / 400 + 3 * spread : 32 + n / 1400 + spread;
}

uint64_t tamis__band_expect(tamis_band_form form, uint64_t keys, uint64_t bands) {
    uint64_t n = (keys + bands - 1) / bands, bits = HEAD_BYTES * 8;
    for (; n > MAX_PLAIN; bits += LAYER_BYTES * 8) {
        layer l;
        shape_bumping(&form, n, 0, &l);
        const uint64_t rows = round_rows(bumping_rows(&form, n), bands);
        bits += bits_of_rows(&form, rows, bands) + l.meta_words * 64;
        n += extra_bumped(&form, n, bands) - min_of(n, rows);
    }
    if (n) {
        const uint64_t rows = round_rows(n + (bands == 1 ? n / 32 : n / 96), bands);
        bits += LAYER_BYTES * 8 + bits_of_rows(&form, rows, bands);
    }
    return (bits * bands + 63) / 64 * 8;
}

/* ---- Working memory ------------------------------------------------------------------------- */

static unsigned planes_of(const tamis_band_form *form) {
    return (columns_of(form) + PLANE_BITS - 1) / PLANE_BITS;
}

/* Rows of the elimination reuse the second copy of the sort. */
typedef struct bench {
    const tamis_band_ops *ops; /* NULL: the portable version */
    const tamis_band_form *form;
    const tamis_band_task *task;
    uint64_t n;           /* keys of this layer */
    const uint64_t *from; /* before they are mixed: hashes, then x */
    uint64_t salt;        /* to be added to those; 0 once it was */
    uint64_t *x;
    uint32_t *index; /* of a key in the task; NULL without values */
    uint64_t *other_x;
    uint32_t *other_index;
    uint64_t *c;             /* coefficients of a row, from the row itself on; 0: empty */
    uint32_t *r[MAX_PLANES]; /* and what they sum up to */
    uint32_t *pivot;         /* rows that the keys of a bucket made */
    uint32_t *count;         /* of the sort */
    tamis_band_crowd crowd;
    bool is_stopped;
} bench;

/* Keys of a sort, and parts of one, buckets or blocks, between two looks at whether to stop. */
enum { KEYS_AT_ONCE = 1 << 16, LOOK_EVERY = 256 };

/* Once said it stays: what was left undone is not looked at again. */
static bool must_stop(void *ctx) {
    bench *b = ctx;
    if (!b->is_stopped) b->is_stopped = tamis__must_stop(b->task->stop);
    return b->is_stopped;
}

/* The next piece of the working memory; without memory yet, it only counts the size. */
static void *take(uint8_t *work, uint64_t *at, uint64_t bytes) {
    void *piece = work ? work + *at : NULL;
    *at += (bytes + 63) / 64 * 64;
    return piece;
}

/* Values of the bits of a place that remain after the first step of the sort: a place is below rows
 * + 2^MAX_SHIFT, and all but PART_BITS of its bits remain. */
static uint64_t max_rest(uint64_t rows) {
    return ((rows + (1 << MAX_SHIFT)) >> (PART_BITS - 1)) + 1;
}

static uint64_t lay_out(bench *b, const tamis_band_form *form, uint64_t n, uint8_t *work) {
    const uint64_t rows = max_rows(form, n), indexes = form->value_bits ? n : 0;
    uint64_t at = 0;
    memset(b, 0, sizeof *b);
    b->form = form;
    b->pivot = take(work, &at, PIVOTS * sizeof *b->pivot);
    b->count = take(work, &at, (PARTS + max_rest(rows)) * sizeof *b->count);
    b->x = take(work, &at, n * sizeof *b->x);
    if (indexes) b->index = take(work, &at, n * sizeof *b->index);
    uint64_t sort_end = at;
    b->other_x = take(work, &sort_end, n * sizeof *b->x);
    b->other_index = take(work, &sort_end, indexes * sizeof *b->index);
    b->c = take(work, &at, rows * sizeof *b->c);
    for (unsigned k = 0; k < planes_of(form); k++)
        b->r[k] = take(work, &at, rows * sizeof *b->r[k]);
    return at > sort_end ? at : sort_end;
}

uint64_t tamis__band_work(tamis_band_form form, uint64_t n) {
    bench b;
    return lay_out(&b, &form, n, NULL);
}

/* ---- Sorting -------------------------------------------------------------------------------- */

static uint64_t place_of(const layer *l, uint64_t x) {
    return tamis__range(x, l->starts);
}

static void sum_up(uint32_t *count, size_t n) {
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t here = count[i];
        count[i] = sum;
        sum += here;
    }
}

/* How many low bits of a place remain for the second step. */
static unsigned rest_bits(const layer *l) {
    const uint64_t max = l->starts - 1;
    const unsigned bits = max ? tamis__log2_floor(max) + 1 : 0;
    return bits > PART_BITS ? bits - PART_BITS : 0;
}

/* Mixes and sorts by the top bits of the place, into the other copy. Mixing twice costs less than
 * storing the mixed hashes in between. count[p] ends as the end of part p. */
static void sort_parts(bench *b, const layer *l, unsigned rest) {
    const uint64_t *from = b->from, salt = b->salt;
    memset(b->count, 0, PARTS * sizeof *b->count);
    for (uint64_t i = 0; i < b->n; i++)
        b->count[place_of(l, next_x(from[i] ^ salt, l->seed)) >> rest]++;
    sum_up(b->count, PARTS);
    for (uint64_t i = 0; i < b->n; i++) {
        if (i % KEYS_AT_ONCE == 0 && must_stop(b)) return;
        const uint64_t x = next_x(from[i] ^ salt, l->seed);
        const uint32_t to = b->count[place_of(l, x) >> rest]++;
        b->other_x[to] = x;
        if (b->index) b->other_index[to] = b->index[i];
    }
    b->from = b->x;
    b->salt = 0;
}

/* Sorts one part, which fits the cache, by the rest of the place, back into the first copy. */
static void sort_part(bench *b, const layer *l, unsigned rest, uint32_t from, uint32_t to) {
    uint32_t *count = b->count + PARTS;
    const uint64_t mask = ((uint64_t)1 << rest) - 1;
    memset(count, 0, ((size_t)mask + 1) * sizeof *count);
    for (uint32_t i = from; i < to; i++) count[place_of(l, b->other_x[i]) & mask]++;
    sum_up(count, (size_t)mask + 1);
    for (uint32_t i = from; i < to; i++) {
        const uint32_t at = from + count[place_of(l, b->other_x[i]) & mask]++;
        b->x[at] = b->other_x[i];
        if (b->index) b->index[at] = b->other_index[i];
    }
}

static void sort_keys(bench *b, const layer *l) {
    const unsigned rest = rest_bits(l);
    uint32_t from = 0;
    sort_parts(b, l, rest);
    for (unsigned p = 0; p < PARTS; p++) {
        const uint32_t to = b->count[p];
        if (p % LOOK_EVERY == 0 && must_stop(b)) return;
        if (to > from) sort_part(b, l, rest, from, to);
        from = to;
    }
}

/* ---- Elimination ---------------------------------------------------------------------------- */

static void row_of(const bench *b, uint64_t i, uint32_t row[MAX_PLANES]) {
    const tamis_band_form *form = b->form;
    const uint64_t guard = guard_of(b->x[i], form->guard_bits);
    const unsigned v = form->value_bits;
    const uint64_t value = b->index ? b->task->value[b->index[i]] ^ mask_of(b->x[i], v) : 0;
    const uint64_t low = v < 64 ? value | guard << v : value;
    row[0] = (uint32_t)low;
    row[1] = (uint32_t)(low >> 32);
    row[2] = (uint32_t)(v == 64 ? guard : v ? guard >> (64 - v) : 0);
}

/* Adds the equation of a key. Sets *pivot to the row that it made, NO_PIVOT when the others already
 * imply it; false when they contradict it. */
TAMIS_HOT bool eliminate(bench *b, unsigned planes, uint64_t p, uint64_t c, uint32_t row[],
                         uint32_t *pivot) {
    while (b->c[p]) {
        uint32_t left = 0;
        c ^= b->c[p];
        for (unsigned k = 0; k < planes; k++) left |= row[k] ^= b->r[k][p];
        if (c == 0) {
            *pivot = NO_PIVOT;
            return left == 0;
        }
        const unsigned zeros = (unsigned)__builtin_ctzll(c);
        c >>= zeros;
        p += zeros;
    }
    b->c[p] = c;
    for (unsigned k = 0; k < planes; k++) b->r[k][p] = row[k];
    *pivot = (uint32_t)p;
    return true;
}

static bool add_key(bench *b, const layer *l, uint64_t i, uint32_t *pivot) {
    const uint64_t start = tamis__range(b->x[i], l->starts), c = coefficients_of(b->x[i]);
    uint32_t row[MAX_PLANES];
    row_of(b, i, row);
    switch (planes_of(b->form)) {
    case 1: return eliminate(b, 1, start, c, row, pivot);
    case 2: return eliminate(b, 2, start, c, row, pivot);
    default: return eliminate(b, 3, start, c, row, pivot);
    }
}

static void clear_row(bench *b, uint32_t p) {
    b->c[p] = 0;
    for (unsigned k = 0; k < planes_of(b->form); k++) b->r[k][p] = 0;
}

static void swap_keys(bench *b, uint64_t i, uint64_t j) {
    const uint64_t x = b->x[i];
    b->x[i] = b->x[j];
    b->x[j] = x;
    if (!b->index) return;
    const uint32_t index = b->index[i];
    b->index[i] = b->index[j];
    b->index[j] = index;
}

/* Where the keys of a bucket are cut off: starts below are bumped. */
static uint64_t cut_below(const layer *l, uint64_t start, unsigned *class) {
    const uint64_t offset = offset_in_bucket(l, start);
    *class = offset < cut_of(l, 1) ? 1 : offset < cut_of(l, 2) ? 2 : 3;
    return start - offset + cut_of(l, *class);
}

static uint64_t start_of(const bench *b, const layer *l, uint64_t i) {
    return tamis__range(b->x[i], l->starts);
}

/* Adds the keys [first, end) of a bucket, from the last to the first, until one contradicts those
 * before it. The first ones are bumped then; returns the first that stays. */
static uint64_t fill_one_by_one(bench *b, const layer *l, uint64_t first, uint64_t end,
                                unsigned *class) {
    uint64_t i = end;
    uint32_t *pivot = b->pivot;
    while (i > first && end - i < PIVOTS && add_key(b, l, i - 1, &pivot[end - i])) i--;
    *class = 0;
    if (i == first) return first;
    const uint64_t cut = cut_below(l, start_of(b, l, i - 1), class);
    for (; i < end && start_of(b, l, i) < cut; i++)
        if (pivot[end - 1 - i] != NO_PIVOT) clear_row(b, pivot[end - 1 - i]);
    return i;
}

static void clear_made(bench *b, const tamis_band_crowd *k, uint64_t below) {
    for (size_t i = 0; i < k->made_count; i++)
        if (k->made[i].start < below) clear_row(b, (uint32_t)(k->first + k->made[i].row));
}

/* n keys of a bucket; `row` has room for them, used when they have values. */
static void gather_crowd(bench *b, const layer *l, uint64_t first, size_t n, uint64_t *row) {
    tamis_band_crowd *k = &b->crowd;
    for (size_t i = 0; b->index && i < n; i++) {
        uint32_t planes[MAX_PLANES];
        row_of(b, first + i, planes);
        row[i] = planes[0];
    }
    k->x = b->x + first;
    k->row = b->index ? row : NULL;
    k->n = n;
    k->guard_bits = b->form->guard_bits;
    k->starts = l->starts;
    k->c = b->c;
    k->r = b->r[0];
}

/* The same by a kernel, for all keys of the bucket at once. False: it cannot. */
static bool fill_together(bench *b, const layer *l, uint64_t first, uint64_t end, uint64_t *from,
                          unsigned *class) {
    const tamis_band_crowd *k = &b->crowd;
    uint64_t row[CROWD];
    if (!b->ops || end - first > CROWD || planes_of(b->form) > 1) return false;
    gather_crowd(b, l, first, (size_t)(end - first), row);
    if (!b->ops->fill(&b->crowd)) {
        clear_made(b, k, UINT64_MAX);
        return false;
    }
    *from = first;
    *class = 0;
    if (k->contradicts == NOBODY) return true;
    const uint64_t cut = cut_below(l, k->first + k->contradicts, class);
    clear_made(b, k, cut - min_of(cut, k->first));
    while (*from < end && start_of(b, l, *from) < cut) ++*from;
    return true;
}

/* The keys [first, end) are those of one bucket. Those that it bumps move to the front of all keys,
 * after the first *bumped. Returns the class of the bucket. */
static unsigned fill_bucket(bench *b, const layer *l, uint64_t first, uint64_t end,
                            uint64_t *bumped) {
    uint64_t from;
    unsigned class;
    if (!fill_together(b, l, first, end, &from, &class))
        from = fill_one_by_one(b, l, first, end, &class);
    for (; first < from; first++) swap_keys(b, first, (*bumped)++);
    return class;
}

static void clear_rows(bench *b, const layer *l) {
    memset(b->c, 0, (size_t)l->blocks * ROWS * sizeof *b->c);
    for (unsigned k = 0; k < planes_of(b->form); k++)
        memset(b->r[k], 0, (size_t)l->blocks * ROWS * sizeof *b->r[k]);
}

/* All keys, with thresholds at `meta`; returns how many were bumped. */
static uint64_t fill_bumping(bench *b, const layer *l, uint8_t *meta) {
    uint64_t bumped = 0, buckets = 0;
    memset(meta, 0, (size_t)l->meta_words * 8);
    for (uint64_t first = 0, end; first < b->n; first = end) {
        if (buckets++ % LOOK_EVERY == 0 && must_stop(b)) break;
        const uint64_t bucket = bucket_of(l, tamis__range(b->x[first], l->starts));
        for (end = first + 1; end < b->n; end++)
            if (bucket_of(l, tamis__range(b->x[end], l->starts)) != bucket) break;
        const uint64_t class = fill_bucket(b, l, first, end, &bumped);
        tamis__or64(meta + bucket / 32 * 8, class << bucket % 32 * 2);
    }
    return bumped;
}

static bool fill_plain(bench *b, const layer *l) {
    uint32_t pivot;
    uint64_t i = 0;
    while (i < b->n && add_key(b, l, i, &pivot)) i++;
    return i == b->n;
}

/* ---- Solution ------------------------------------------------------------------------------- */

/* From the last row to the first: all later rows are known. */
static void substitute(bench *b, uint64_t rows, unsigned plane) {
    uint32_t *r = b->r[plane];
    for (uint64_t p = rows; p-- > 0;) {
        if (p % (LOOK_EVERY * ROWS) == 0 && must_stop(b)) return;
        uint32_t sum = r[p];
        for (uint64_t c = b->c[p] & ~(uint64_t)1; c; c &= c - 1)
            sum ^= r[p + (unsigned)__builtin_ctzll(c)];
        r[p] = sum;
    }
}

/* Swaps bit j of a[i] and bit i of a[j]. */
static void transpose(uint32_t a[32]) {
    uint32_t mask = 0x0000ffff;
    for (unsigned half = 16; half; half >>= 1, mask ^= mask << half)
        for (unsigned i = 0; i < 32; i = (i + half + 1) & ~half) {
            const uint32_t t = (a[i] >> half ^ a[i + half]) & mask;
            a[i] ^= t << half;
            a[i + half] ^= t;
        }
}

/* The words of one block: a column each, bit i of it is row i. */
static void put_block(const bench *b, uint64_t block, unsigned columns, uint8_t *out) {
    for (unsigned k = 0; k * PLANE_BITS < columns; k++) {
        uint32_t low[32], high[32];
        memcpy(low, b->r[k] + block * ROWS, sizeof low);
        memcpy(high, b->r[k] + block * ROWS + 32, sizeof high);
        transpose(low);
        transpose(high);
        for (unsigned j = 0; j < PLANE_BITS && k * PLANE_BITS + j < columns; j++, out += 8)
            tamis__put64(out, low[j] | (uint64_t)high[j] << 32);
    }
}

static void solve(bench *b, const layer *l, uint8_t *out) {
    const unsigned columns = columns_of(b->form);
    for (unsigned k = 0; k < planes_of(b->form); k++) {
        const unsigned left = columns - k * PLANE_BITS;
        const tamis_band_solving task = {
            .c = b->c,
            .r = b->r[k],
            .blocks = l->blocks,
            .narrow_blocks = l->narrow_blocks,
            .columns = columns,
            .first = k * PLANE_BITS,
            .count = left < PLANE_BITS ? left : PLANE_BITS,
            .out = out,
            .stop = {must_stop, b},
        };
        b->ops->solve(&task);
    }
}

static void put_rows(bench *b, const layer *l, uint8_t *out) {
    const unsigned columns = columns_of(b->form);
    if (b->ops) {
        solve(b, l, out);
        return;
    }
    for (unsigned k = 0; k < planes_of(b->form); k++) substitute(b, l->blocks * ROWS, k);
    for (uint64_t i = 0; i < l->blocks; i++) {
        const unsigned here = columns - (i < l->narrow_blocks);
        put_block(b, i, here, out);
        out += 8 * here;
    }
}

/* ---- Building ------------------------------------------------------------------------------- */

static void mix_keys(bench *b, const layer *l) {
    sort_keys(b, l);
    clear_rows(b, l);
}

static void unmix_keys(bench *b, const layer *l) {
    for (uint64_t i = 0; i < b->n; i++) b->x[i] = previous_x(b->x[i], l->seed);
}

static bool make_plain(bench *b, layer *l, uint8_t *out) {
    for (uint32_t seed = 0;; seed++) {
        shape_plain(b->form, b->n, seed, l);
        if (l->blocks > max_plain_blocks(b->n)) return false;
        mix_keys(b, l);
        if (b->is_stopped) return false;
        if (fill_plain(b, l)) break;
        unmix_keys(b, l);
    }
    put_rows(b, l, out);
    b->n = 0;
    return true;
}

static bool make_bumping(bench *b, layer *l, uint8_t *out) {
    for (uint32_t seed = 0; seed < BUMPING_SEEDS; seed++) {
        shape_bumping(b->form, b->n, seed, l);
        mix_keys(b, l);
        const uint64_t bumped = b->is_stopped ? 0 : fill_bumping(b, l, out);
        if (b->is_stopped) return false;
        if (bumped <= b->n / MAX_BUMPED) {
            put_rows(b, l, out + l->meta_words * 8);
            b->n = bumped;
            return !b->is_stopped;
        }
        unmix_keys(b, l);
    }
    return false;
}

/* Rows are made after room for the headers of the most layers, then moved up to the last. */
static bool make_layers(bench *b, uint8_t *out, uint64_t *size) {
    uint8_t *rows = out + HEAD_BYTES + MAX_LAYERS * LAYER_BYTES;
    uint64_t rows_size = 0;
    unsigned layers = 0;
    for (; b->n; layers++) {
        layer l;
        const bool is_made = b->n > MAX_PLAIN ? make_bumping(b, &l, rows + rows_size)
                                              : make_plain(b, &l, rows + rows_size);
        if (!is_made || b->is_stopped) return false;
        put_layer(&l, out, layers);
        rows_size += l.words * 8;
    }
    tamis__put32(out + 4, layers);
    *size = HEAD_BYTES + layers * LAYER_BYTES + rows_size;
    memmove(out + HEAD_BYTES + layers * LAYER_BYTES, rows, (size_t)rows_size);
    return true;
}

tamis_status tamis__band_make(tamis_band_form form, const tamis_band_task *task, uint8_t *work,
                              uint8_t *out, uint64_t *size) {
    bench b;
    if (task->n > MAX_KEYS)
        return tamis__fail(TAMIS_TOO_LARGE, "%llu keys are too many for one segment",
                           (unsigned long long)task->n);
    lay_out(&b, &form, task->n, work);
    b.task = task;
    b.n = task->n;
    b.ops = tamis__band_ops();
    b.salt = form.salt;
    b.from = task->pick ? b.x : task->hash;
    for (uint64_t i = 0; task->pick && i < b.n; i++) b.x[i] = task->hash[task->pick[i]];
    for (uint64_t i = 0; b.index && i < b.n; i++)
        b.index[i] = task->pick ? task->pick[i] : (uint32_t)i;
    tamis__put32(out, (uint32_t)task->n);
    if (make_layers(&b, out, size)) return TAMIS_OK;
    if (b.is_stopped) return TAMIS_CANCELLED;
    return tamis__fail(TAMIS_CONFLICT, "the hashes of a segment are not distinct");
}
