/* The bumped ribbon: from keys to a bit matrix and back.
 *
 *     keys u32, layers u32 │ layer 0: 16 bytes │ layer 1 │ ... │ thresholds and rows of each layer
 *
 * Layer 0 has nearly all keys, layer 1 those that layer 0 bumped (about 4 %), and so on; the last
 * one has room enough to bump nobody. Each layer mixes the hash once more, so that keys that
 * crowded in one are strewn in the next. */
#include "kinds/band.h"

#include <math.h>

#include "bits/probe.h"

enum {
    ROWS = 64, /* of a block, and coefficients of a key: a key meets two blocks */
    HEAD_BYTES = 8,
    LAYER_BYTES = 16,
    MOST_LAYERS = 16,
    MOST_SHIFT = 11, /* buckets have at most 2048 starts */
    PLANE_BITS = 32, /* rows are worked on as up to three planes of 32 columns */
    MOST_PLANES = 3,
    PLAIN_MOST = 4000,  /* keys that a layer without bumping may have */
    PLAIN_SEEDS = 12,   /* to try with one number of blocks before there is one more */
    BUMPING_SEEDS = 64, /* to try in layers that bump; the first one always did */
    MOST_BUMPED = 8,    /* of which one in so many keys may be bumped */
    PIVOTS = 1 << 13,   /* rows that one bucket may make */
    PART_BITS = 11,     /* a sort goes by these top bits of the position first */
    PARTS = 1 << PART_BITS,
    REST_BITS = 14, /* and by up to so many others then */
};
#define MOST_KEYS   ((uint64_t)INT32_MAX)
#define MOST_BLOCKS ((uint64_t)1 << 26)
#define NO_PIVOT    UINT32_MAX

/* ---- Layers --------------------------------------------------------------------------------- */

typedef struct layer {
    uint64_t blocks;
    uint32_t seed;
    unsigned shift; /* a bucket has 2^shift starts; 0: the layer does not bump */
    uint64_t cuts;  /* 16 bits for each class of bucket: starts below are bumped */

    /* What follows from it. */
    uint64_t starts, narrow_blocks, meta_words, words;
} layer;

static unsigned columns_of(const tamis_band_form *form) {
    return form->value_bits + form->guard_bits;
}

static uint64_t bucket_of(const layer *l, uint64_t start) {
    return start >> l->shift;
}

static uint64_t offset_in_bucket(const layer *l, uint64_t start) {
    return start & (((uint64_t)1 << l->shift) - 1);
}

/* Keys with x below narrow << 48 have one guard bit less. Blocks that no other key reaches are
 * stored without the last column. */
static uint64_t narrow_edge(const tamis_band_form *form) {
    return (uint64_t)form->narrow << 48;
}

TAMIS_HOT uint64_t cut_of(const layer *l, unsigned class) {
    return l->cuts >> 16 * class & 0xffff;
}

/* Class 0 bumps nobody, class 3 everybody. */
static uint64_t cuts_of(uint64_t first, uint64_t second, unsigned shift) {
    return first << 16 | second << 32 | (uint64_t)1 << (48 + shift);
}

TAMIS_HOT void derive(const tamis_band_form *form, layer *l) {
    l->starts = l->blocks * ROWS - (ROWS - 1);
    l->narrow_blocks = tamis__range(narrow_edge(form), l->starts) / ROWS;
    l->meta_words = l->shift ? bucket_of(l, l->starts - 1) / 32 + 1 : 0;
    l->words = l->meta_words + l->blocks * columns_of(form) - l->narrow_blocks;
}

TAMIS_HOT layer get_layer(const tamis_band_form *form, const uint8_t *band, unsigned i) {
    const uint8_t *p = band + HEAD_BYTES + i * LAYER_BYTES;
    const uint64_t bumping = tamis__get64(p + 8);
    layer l = {.blocks = tamis__get32(p), .seed = tamis__get32(p + 4)};
    l.shift = (unsigned)(bumping & 0xffff);
    l.cuts = bumping & ~(uint64_t)0xffff;
    derive(form, &l);
    return l;
}

static void put_layer(const layer *l, uint8_t *band, unsigned i) {
    uint8_t *p = band + HEAD_BYTES + i * LAYER_BYTES;
    tamis__put32(p, (uint32_t)l->blocks);
    tamis__put32(p + 4, l->seed);
    tamis__put64(p + 8, l->cuts | l->shift);
}

static unsigned layers_of(const uint8_t *band) {
    return tamis__get32(band + 4);
}

uint64_t tamis__band_keys(const uint8_t *band) {
    return tamis__get32(band);
}

/* ---- From hash to equation ------------------------------------------------------------------ */

#define GOLDEN 0x9e3779b97f4a7c15

static uint64_t key_of(uint32_t seed) {
    return (seed + (uint64_t)1) * GOLDEN;
}

static uint64_t first_x(const tamis_band_form *form, uint64_t hash) {
    return hash ^ form->salt;
}

static uint64_t next_x(uint64_t x, uint32_t seed) {
    return tamis__mix(x ^ key_of(seed));
}

/* Back from next_x, for another seed. */
static uint64_t previous_x(uint64_t x, uint32_t seed) {
    x ^= x >> 33;
    x *= 0x9cb4b2f8129337db; /* the inverses of the two multipliers of tamis__mix */
    x ^= x >> 33;
    x *= 0x4f74430c22a54005;
    x ^= x >> 33;
    return x ^ key_of(seed);
}

static uint64_t coefficients_of(uint64_t x) {
    return tamis__mix(x + GOLDEN) | 1;
}

static uint64_t guard_of(uint64_t x, unsigned bits) {
    return x & (((uint64_t)1 << bits) - 1);
}

/* Values are stored under a mask, so that what a stranger gets is any value with the same chance,
 * also in a band of one key, whose rows are nearly all zero. */
static uint64_t mask_of(uint64_t x, unsigned bits) {
    return bits ? x * GOLDEN >> (64 - bits) : 0;
}

/* ---- Columns -------------------------------------------------------------------------------- */

tamis_band_columns tamis__band_columns(uint64_t total) {
    const uint32_t width = (uint32_t)((total + 65535) / 65536);
    return (tamis_band_columns){width, (uint32_t)(width * (uint64_t)65536 - total)};
}

/* A rate is f 2^e with f from 1/2 on: 2f is what 2^-width must be multiplied by. */
bool tamis__band_columns_for(double rate, tamis_band_columns *columns) {
    int e;
    const double f = frexp(rate, &e);
    if (e < 1 - TAMIS_BAND_GUARD_MOST) return false;
    columns->width = (uint32_t)(1 - e);
    columns->narrow = (uint32_t)((2 * f - 1) * 65536);
    return true;
}

/* ---- Sizes ---------------------------------------------------------------------------------- */

/* Layers that bump have fewer rows than keys, so that next to none stays empty. Bucket, thresholds
 * and number of rows are the best of some hundred that were tried with 10^6 keys. Thresholds of
 * small buckets tell better which keys must go, but cost 2 bits for each bucket, whatever the
 * number of columns: with 8 of them rows and thresholds are 0.05 % and 0.20 % more than nothing,
 * with one 0.28 % and 0.79 %. */
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

static uint64_t plain_blocks_least(uint64_t n) {
    return (n + ROWS - 1) / ROWS;
}

static uint64_t plain_blocks_most(uint64_t n) {
    return 2 * plain_blocks_least(n) + 2;
}

static void shape_plain(const tamis_band_form *form, uint64_t n, uint32_t seed, layer *l) {
    l->seed = seed;
    l->shift = 0;
    l->cuts = 0;
    l->blocks = plain_blocks_least(n) + seed / PLAIN_SEEDS;
    derive(form, l);
}

static uint64_t least_of(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t rows_most(const tamis_band_form *form, uint64_t n) {
    layer l = {.blocks = 0};
    const uint64_t plain = plain_blocks_most(least_of(n, PLAIN_MOST));
    if (n > PLAIN_MOST) shape_bumping(form, n, 0, &l);
    return (l.blocks > plain ? l.blocks : plain) * ROWS;
}

/* Of n keys a layer bumps n/MOST_BUMPED at most. */
uint64_t tamis__band_most(const tamis_band_form *form, uint64_t n) {
    uint64_t words = plain_blocks_most(least_of(n, PLAIN_MOST)) * columns_of(form);
    for (; n > PLAIN_MOST; n /= MOST_BUMPED) {
        layer l;
        shape_bumping(form, n, 0, &l);
        words += l.words;
    }
    return HEAD_BYTES + MOST_LAYERS * LAYER_BYTES + words * 8;
}

/* Of a band that is alone it is known how rows round up to blocks; of many, only the mean. */
static uint64_t round_rows(uint64_t rows, uint64_t bands) {
    return bands == 1 ? (rows + ROWS - 1) / ROWS * ROWS : rows + ROWS / 2;
}

static uint64_t bits_of_rows(const tamis_band_form *form, uint64_t rows, uint64_t bands) {
    const uint64_t narrow = tamis__range(narrow_edge(form), rows - least_of(rows, ROWS - 1));
    const uint64_t saved = bands == 1 ? narrow / ROWS * ROWS : narrow - least_of(narrow, ROWS / 2);
    return rows * columns_of(form) - saved;
}

/* Keys that a layer bumps beyond those that it has no row for: with few columns they were 35 +
 * 0.0024 n with a standard deviation of 0.43 sqrt(n), else 30 + 0.0007 n and 0.19 sqrt(n). Of a band
 * that is alone, what it has at most in nearly all cases. */
static uint64_t extra_bumped(const tamis_band_form *form, uint64_t n, uint64_t bands) {
    const uint64_t spread = bands == 1 ? (uint64_t)sqrt((double)n) : 0;
    return has_few_columns(form) ? 40 + n / 400 + 3 * spread : 32 + n / 1400 + spread;
}

uint64_t tamis__band_expect(const tamis_band_form *form, uint64_t keys, uint64_t bands) {
    uint64_t n = (keys + bands - 1) / bands, bits = HEAD_BYTES * 8;
    for (; n > PLAIN_MOST; bits += LAYER_BYTES * 8) {
        layer l;
        shape_bumping(form, n, 0, &l);
        const uint64_t rows = round_rows(bumping_rows(form, n), bands);
        bits += bits_of_rows(form, rows, bands) + l.meta_words * 64;
        n += extra_bumped(form, n, bands) - least_of(n, rows);
    }
    if (n) {
        const uint64_t rows = round_rows(n + (bands == 1 ? n / 32 : n / 96), bands);
        bits += LAYER_BYTES * 8 + bits_of_rows(form, rows, bands);
    }
    return (bits * bands + 63) / 64 * 8;
}

/* ---- Working memory ------------------------------------------------------------------------- */

static unsigned planes_of(const tamis_band_form *form) {
    return (columns_of(form) + PLANE_BITS - 1) / PLANE_BITS;
}

/* Rows of the elimination lie where the sort had its second copy. */
typedef struct bench {
    const tamis_band_form *form;
    const tamis_band_task *task;
    uint64_t n; /* keys of this layer */
    uint64_t *x;
    uint32_t *index; /* of a key in the task; NULL without values */
    uint64_t *other_x;
    uint32_t *other_index;
    uint64_t *c;              /* coefficients of a row, from the row itself on; 0: empty */
    uint32_t *r[MOST_PLANES]; /* and what they sum up to */
    uint32_t *pivot;          /* rows that the keys of a bucket made */
    uint32_t *count;          /* of the sort */
} bench;

/* The next piece of the working memory; when there is none yet, only its size counts. */
static void *take(uint8_t *work, uint64_t *at, uint64_t bytes) {
    void *piece = work ? work + *at : NULL;
    *at += (bytes + 63) / 64 * 64;
    return piece;
}

static uint64_t lay_out(bench *b, const tamis_band_form *form, uint64_t n, uint8_t *work) {
    const uint64_t rows = rows_most(form, n), indexes = form->value_bits ? n : 0;
    uint64_t at = 0;
    memset(b, 0, sizeof *b);
    b->form = form;
    b->pivot = take(work, &at, PIVOTS * sizeof *b->pivot);
    b->count = take(work, &at, (PARTS + (1 << REST_BITS)) * sizeof *b->count);
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

uint64_t tamis__band_work(const tamis_band_form *form, uint64_t n) {
    bench b;
    return lay_out(&b, form, n, NULL);
}

/* ---- Sorting -------------------------------------------------------------------------------- */

/* Buckets ascending, starts inside them descending: what is bumped then comes last. */
static uint64_t place_of(const layer *l, uint64_t x) {
    return tamis__range(x, l->starts) ^ (((uint64_t)1 << l->shift) - 1);
}

static void sum_up(uint32_t *count, size_t n) {
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t here = count[i];
        count[i] = sum;
        sum += here;
    }
}

/* How many low bits of a place are left to the second step. */
static unsigned rest_bits(const layer *l) {
    const uint64_t most = (l->starts - 1) | (((uint64_t)1 << l->shift) - 1);
    const unsigned bits = most ? tamis__log2_floor(most) + 1 : 0;
    return bits > PART_BITS ? bits - PART_BITS : 0;
}

/* By the top bits of the place, into the other copy. count[p] ends as the end of part p. */
static void sort_parts(bench *b, const layer *l, unsigned rest) {
    memset(b->count, 0, PARTS * sizeof *b->count);
    for (uint64_t i = 0; i < b->n; i++) b->count[place_of(l, b->x[i]) >> rest]++;
    sum_up(b->count, PARTS);
    for (uint64_t i = 0; i < b->n; i++) {
        const uint32_t to = b->count[place_of(l, b->x[i]) >> rest]++;
        b->other_x[to] = b->x[i];
        if (b->index) b->other_index[to] = b->index[i];
    }
}

/* One part, which fits the cache, by the rest of the place, and back. */
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
        if (to > from) sort_part(b, l, rest, from, to);
        from = to;
    }
}

/* ---- Elimination ---------------------------------------------------------------------------- */

static void row_of(const bench *b, uint64_t i, uint32_t row[MOST_PLANES]) {
    const tamis_band_form *form = b->form;
    const uint64_t guard = guard_of(b->x[i], form->guard_bits);
    const unsigned v = form->value_bits;
    const uint64_t value = b->index ? b->task->value[b->index[i]] ^ mask_of(b->x[i], v) : 0;
    const uint64_t low = v < 64 ? value | guard << v : value;
    row[0] = (uint32_t)low;
    row[1] = (uint32_t)(low >> 32);
    row[2] = (uint32_t)(v == 64 ? guard : v ? guard >> (64 - v) : 0);
}

/* Adds the equation of a key. The row that it made, NO_PIVOT in *pivot when the others imply it
 * already; false when they contradict it. */
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
    uint32_t row[MOST_PLANES];
    row_of(b, i, row);
    switch (planes_of(b->form)) {
    case 1: return eliminate(b, 1, start, c, row, pivot);
    case 2: return eliminate(b, 2, start, c, row, pivot);
    default: return eliminate(b, 3, start, c, row, pivot);
    }
}

static uint64_t offset_of(const bench *b, const layer *l, uint64_t i) {
    return offset_in_bucket(l, tamis__range(b->x[i], l->starts));
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

/* The keys [first, end) are those of one bucket. Those that it bumps move to the front of all
 * keys, behind the *bumped that are there. Returns the class of the bucket. */
static unsigned fill_bucket(bench *b, const layer *l, uint64_t first, uint64_t end,
                            uint64_t *bumped) {
    uint64_t i = first;
    while (i < end && i - first < PIVOTS && add_key(b, l, i, &b->pivot[i - first])) i++;
    if (i == end) return 0;
    const uint64_t offset = offset_of(b, l, i);
    const unsigned class = offset < cut_of(l, 1) ? 1 : offset < cut_of(l, 2) ? 2 : 3;
    uint64_t keep = i;
    while (keep > first && offset_of(b, l, keep - 1) < cut_of(l, class)) {
        keep--;
        if (b->pivot[keep - first] != NO_PIVOT) clear_row(b, b->pivot[keep - first]);
    }
    while (keep < end) swap_keys(b, keep++, (*bumped)++);
    return class;
}

static void clear_rows(bench *b, const layer *l) {
    memset(b->c, 0, (size_t)l->blocks * ROWS * sizeof *b->c);
    for (unsigned k = 0; k < planes_of(b->form); k++)
        memset(b->r[k], 0, (size_t)l->blocks * ROWS * sizeof *b->r[k]);
}

/* All keys, with thresholds at `meta`; returns how many were bumped. */
static uint64_t fill_bumping(bench *b, const layer *l, uint8_t *meta) {
    uint64_t bumped = 0;
    memset(meta, 0, (size_t)l->meta_words * 8);
    for (uint64_t first = 0, end; first < b->n; first = end) {
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

/* From the last row to the first: everything behind a row is known. */
static void substitute(const bench *b, uint64_t rows, unsigned plane) {
    uint32_t *r = b->r[plane];
    for (uint64_t p = rows; p-- > 0;) {
        uint32_t sum = r[p];
        for (uint64_t c = b->c[p] & ~(uint64_t)1; c; c &= c - 1)
            sum ^= r[p + (unsigned)__builtin_ctzll(c)];
        r[p] = sum;
    }
}

/* Bit j of a[i] and bit i of a[j] change places. */
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

static void put_rows(const bench *b, const layer *l, uint8_t *out) {
    const unsigned columns = columns_of(b->form);
    for (unsigned k = 0; k < planes_of(b->form); k++) substitute(b, l->blocks * ROWS, k);
    for (uint64_t i = 0; i < l->blocks; i++) {
        const unsigned here = columns - (i < l->narrow_blocks);
        put_block(b, i, here, out);
        out += 8 * here;
    }
}

/* ---- Making --------------------------------------------------------------------------------- */

static void mix_keys(bench *b, const layer *l) {
    for (uint64_t i = 0; i < b->n; i++) b->x[i] = next_x(b->x[i], l->seed);
    sort_keys(b, l);
    clear_rows(b, l);
}

static void unmix_keys(bench *b, const layer *l) {
    for (uint64_t i = 0; i < b->n; i++) b->x[i] = previous_x(b->x[i], l->seed);
}

static bool make_plain(bench *b, layer *l, uint8_t *out) {
    for (uint32_t seed = 0;; seed++) {
        shape_plain(b->form, b->n, seed, l);
        if (l->blocks > plain_blocks_most(b->n)) return false;
        mix_keys(b, l);
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
        const uint64_t bumped = fill_bumping(b, l, out);
        if (bumped <= b->n / MOST_BUMPED) {
            put_rows(b, l, out + l->meta_words * 8);
            b->n = bumped;
            return true;
        }
        unmix_keys(b, l);
    }
    return false;
}

/* Rows are made behind where the headers of the most layers end, then moved up to the last. */
static bool make_layers(bench *b, uint8_t *out, uint64_t *size) {
    uint8_t *rows = out + HEAD_BYTES + MOST_LAYERS * LAYER_BYTES;
    uint64_t rows_size = 0;
    unsigned layers = 0;
    for (; b->n; layers++) {
        layer l;
        const bool is_made = b->n > PLAIN_MOST ? make_bumping(b, &l, rows + rows_size)
                                               : make_plain(b, &l, rows + rows_size);
        if (!is_made) return false;
        put_layer(&l, out, layers);
        rows_size += l.words * 8;
    }
    tamis__put32(out + 4, layers);
    *size = HEAD_BYTES + layers * LAYER_BYTES + rows_size;
    memmove(out + HEAD_BYTES + layers * LAYER_BYTES, rows, (size_t)rows_size);
    return true;
}

tamis_status tamis__band_make(const tamis_band_form *form, const tamis_band_task *task,
                              uint8_t *work, uint8_t *out, uint64_t *size) {
    bench b;
    if (task->n > MOST_KEYS)
        return tamis__fail(TAMIS_TOO_LARGE, "%llu keys are too many for one shard",
                           (unsigned long long)task->n);
    lay_out(&b, form, task->n, work);
    b.task = task;
    b.n = task->n;
    for (uint64_t i = 0; i < b.n; i++) {
        const uint32_t from = task->pick ? task->pick[i] : (uint32_t)i;
        b.x[i] = first_x(form, task->hash[from]);
        if (b.index) b.index[i] = from;
    }
    tamis__put32(out, (uint32_t)task->n);
    if (!make_layers(&b, out, size))
        return tamis__fail(TAMIS_CONFLICT, "the hashes of a shard are not distinct");
    return TAMIS_OK;
}

/* ---- The gate ------------------------------------------------------------------------------- */

/* Before anything is derived from a layer. */
static bool is_legal_layer(const uint8_t *band, unsigned i) {
    const uint8_t *p = band + HEAD_BYTES + i * LAYER_BYTES;
    const uint64_t blocks = tamis__get32(p), bumping = tamis__get64(p + 8);
    const uint64_t shift = bumping & 0xffff, first = bumping >> 16 & 0xffff;
    const uint64_t second = bumping >> 32 & 0xffff, all = bumping >> 48;
    if (blocks == 0 || blocks > MOST_BLOCKS || shift > MOST_SHIFT) return false;
    if (shift == 0) return bumping == 0;
    return 0 < first && first < second && second < all && all == (uint64_t)1 << shift;
}

/* Thresholds end with the last bucket; behind the last layer there is nowhere to bump to. */
static bool are_legal_thresholds(const layer *l, const uint8_t *meta, bool is_last) {
    if (l->meta_words == 0) return is_last;
    for (uint64_t i = 0; is_last && i < l->meta_words; i++)
        if (tamis__get64(meta + i * 8)) return false;
    const unsigned used = (unsigned)(bucket_of(l, l->starts - 1) % 32 + 1) * 2;
    return used == 64 || tamis__get64(meta + (l->meta_words - 1) * 8) >> used == 0;
}

/* The layer whose thresholds and rows start at *at; moves on to the next. */
static bool audit_layer(const tamis_band_form *form, const uint8_t *band, uint64_t size, unsigned i,
                        uint64_t *at) {
    if (!is_legal_layer(band, i)) return false;
    const layer l = get_layer(form, band, i);
    if (l.words > (size - *at) / 8) return false;
    if (!are_legal_thresholds(&l, band + *at, i + 1 == layers_of(band))) return false;
    *at += l.words * 8;
    return true;
}

tamis_status tamis__band_audit(const tamis_band_form *form, const uint8_t *band, uint64_t size) {
    const uint64_t keys = size >= HEAD_BYTES ? tamis__band_keys(band) : 0;
    const unsigned layers = size >= HEAD_BYTES ? layers_of(band) : MOST_LAYERS + 1;
    uint64_t at = HEAD_BYTES + layers * (uint64_t)LAYER_BYTES;
    if (layers > MOST_LAYERS || at > size || (layers == 0) != (keys == 0) || keys > MOST_KEYS)
        return tamis__fail(TAMIS_CORRUPT, "damaged: %llu keys in %u layers",
                           (unsigned long long)keys, layers);
    for (unsigned i = 0; i < layers; i++)
        if (!audit_layer(form, band, size, i, &at))
            return tamis__fail(TAMIS_CORRUPT, "damaged: layer %u of a ribbon", i);
    return at == size ? TAMIS_OK
                      : tamis__fail(TAMIS_CORRUPT, "damaged: a ribbon ends at %llu, not at %llu",
                                    (unsigned long long)at, (unsigned long long)size);
}

/* ---- Asking --------------------------------------------------------------------------------- */

static unsigned class_of(const uint8_t *meta, uint64_t bucket) {
    return tamis__get64(meta + bucket / 32 * 8) >> bucket % 32 * 2 & 3;
}

static bool is_bumped(const layer *l, const uint8_t *meta, uint64_t start) {
    if (l->shift == 0) return false;
    return offset_in_bucket(l, start) < cut_of(l, class_of(meta, bucket_of(l, start)));
}

/* The rows of a key in the layer whose thresholds and rows start at `at`. */
static void aim_at(const tamis_band_form *form, const layer *l, const uint8_t *at, uint64_t start,
                   tamis_band_aim *aim) {
    const uint64_t block = start / ROWS, c = coefficients_of(aim->x);
    const unsigned shift = start % ROWS, columns = columns_of(form);
    const bool is_narrow = block < l->narrow_blocks;
    const uint64_t before = block * columns - (is_narrow ? block : l->narrow_blocks);
    aim->here = at + (l->meta_words + before) * 8;
    aim->next = shift ? aim->here + (columns - is_narrow) * 8 : aim->here;
    aim->low = c << shift;
    aim->high = shift ? c >> (ROWS - shift) : 0;
    aim->guard_bits = form->guard_bits - (aim->x < narrow_edge(form));
}

/* A stranger mostly needs the first line of each block only, and fetching all of 16 columns made it
 * half as fast again; but who has values is asked for keys, which need them all. */
static void fetch(const tamis_band_form *form, const tamis_band_aim *aim) {
    enum { LINE = 64 };
    const uint8_t *last = aim->next + columns_of(form) * 8 - 8;
    __builtin_prefetch(aim->here);
    __builtin_prefetch(aim->next);
    __builtin_prefetch(last);
    if (form->value_bits)
        for (const uint8_t *p = aim->here + LINE; p < last; p += LINE) __builtin_prefetch(p);
}

void tamis__band_aim(const tamis_band_form *form, const uint8_t *band, uint64_t hash,
                     tamis_band_aim *aim) {
    const unsigned layers = layers_of(band);
    const uint8_t *at = band + HEAD_BYTES + layers * LAYER_BYTES;
    aim->here = NULL;
    aim->x = first_x(form, hash);
    for (unsigned i = 0; i < layers; i++) {
        const layer l = get_layer(form, band, i);
        aim->x = next_x(aim->x, l.seed);
        const uint64_t start = tamis__range(aim->x, l.starts);
        if (!is_bumped(&l, at, start)) {
            aim_at(form, &l, at, start, aim);
            fetch(form, aim);
            return;
        }
        at += l.words * 8;
    }
}

TAMIS_HOT uint64_t column(const tamis_band_aim *aim, unsigned k) {
    const uint64_t picked = (tamis__get64(aim->here + k * 8) & aim->low) ^
                            (tamis__get64(aim->next + k * 8) & aim->high);
    return (uint64_t)__builtin_parityll(picked);
}

bool tamis__band_test(const tamis_band_form *form, const tamis_band_aim *aim, uint64_t *value) {
    const unsigned v = form->value_bits;
    if (!aim->here) return false;
    for (unsigned k = 0; k < aim->guard_bits; k++)
        if (column(aim, v + k) != (aim->x >> k & 1)) return false;
    *value = mask_of(aim->x, v);
    for (unsigned k = 0; k < v; k++) *value ^= column(aim, k) << k;
    return true;
}

bool tamis__band_ask(const tamis_band_form *form, const uint8_t *band, uint64_t hash,
                     uint64_t *value) {
    tamis_band_aim aim;
    tamis__band_aim(form, band, hash, &aim);
    return tamis__band_test(form, &aim, value);
}

/* ---- Rates ---------------------------------------------------------------------------------- */

/* Of the starts of a layer: how many it keeps, and how many of those with one guard bit less. */
static void count_kept(const tamis_band_form *form, const layer *l, const uint8_t *meta,
                       double *kept, double *narrow) {
    const double edge = (double)l->starts * form->narrow / 65536;
    *kept = *narrow = 0;
    for (uint64_t from = 0, to; from < l->starts; from = to) {
        const uint64_t bucket = bucket_of(l, from);
        const unsigned class = l->shift ? class_of(meta, bucket) : 0;
        to = l->shift ? least_of(from + cut_of(l, 3), l->starts) : l->starts;
        const uint64_t first = least_of(from + cut_of(l, class), to);
        *kept += (double)(to - first);
        if (edge > (double)first)
            *narrow += (edge < (double)to ? edge : (double)to) - (double)first;
    }
}

double tamis__band_rate(const tamis_band_form *form, const uint8_t *band) {
    const unsigned layers = layers_of(band);
    const uint8_t *at = band + HEAD_BYTES + layers * LAYER_BYTES;
    const double wide_rate = 1 / (double)((uint64_t)1 << form->guard_bits);
    double rate = 0, reach = 1;
    for (unsigned i = 0; i < layers; i++) {
        const layer l = get_layer(form, band, i);
        double kept, narrow;
        count_kept(form, &l, at, &kept, &narrow);
        rate += reach * (kept + narrow) / (double)l.starts * wide_rate;
        reach *= 1 - kept / (double)l.starts;
        at += l.words * 8;
    }
    return rate;
}
