/* SPDX-License-Identifier: MIT */
/* For kinds that keep fingerprints in buckets: cuckoo, dleft, compaction.
 *
 * A table has buckets of a few cells, every cell has `width` bits, and zero is an empty cell:
 *
 *     | bucket 0: cell cell cell cell | bucket 1: cell cell cell cell | ...      packed, no gaps
 *
 * The order of cells in a bucket has no meaning, so they are addressed by value: is it there,
 * replace that one by this. A sorted table has four cells and takes four bits less per bucket: the
 * order of the four carries no information, which saves up to log2(4!) = 4.6 bits.
 *
 *     | rank of the four low nibbles, 12 bits | the other width-4 bits of each, in that order |
 *
 * The nibbles are sorted, and there are C(19,4) = 3876 ways for four sorted nibbles (Bonomi et al.
 * 2006, Fan et al. 2014). */
#ifndef TAMIS_KINDS_FP_TABLE_H
#define TAMIS_KINDS_FP_TABLE_H

#include "bits/packed.h"
#include "bits/probe.h"
#include "cpu/cpu.h"
#include "kinds/kind.h"

enum {
    TAMIS_TABLE_MAX_SLOTS = 8,
    TAMIS_TABLE_MAX_WIDTH = 44, /* of a cell's value; enough for a rate of 10^-12 */
    TAMIS_SORTED_SLOTS = 4,
    TAMIS_SORTED_SAVES = 4, /* bits of a bucket */
    TAMIS_SORTED_MIN_WIDTH = 5
};

/* Places times values that distinguish hashes. A 64-bit hash spreads evenly, to 1/16 at worst, over
 * this many; with more, some would come up twice as often as others. */
#define TAMIS_TABLE_MAX_CLASSES ((uint64_t)1 << 60)

typedef struct tamis_table {
    uint8_t *bytes;
    uint64_t buckets;
    unsigned slots, width, bucket_bits;
    bool is_sorted;
    uint64_t ones; /* the lowest bit of every cell, where a bucket is read as one word; else 0 */
    uint64_t last; /* byte where the last word begins */
} tamis_table;

/* Inlined, because a query for one key needs it too. */
TAMIS_HOT tamis_table tamis__table(uint8_t *bytes, uint64_t buckets, unsigned slots, unsigned width,
                                   bool is_sorted) {
    const unsigned bits = slots * width - (is_sorted ? TAMIS_SORTED_SAVES : 0);
    const unsigned even = bits % 8 ? bits & -bits : 8; /* every bucket begins at a multiple of it */
    const bool is_one_word = !is_sorted && bits + 8 - even <= 64;
    uint64_t ones = 0;
    for (unsigned i = 0; is_one_word && i < slots; i++) ones |= (uint64_t)1 << i * width;
    return (tamis_table){
        .bytes = bytes,
        .buckets = buckets,
        .slots = slots,
        .width = width,
        .bucket_bits = bits,
        .is_sorted = is_sorted,
        .ones = ones,
        .last = tamis__fields_size(buckets, bits) - 8,
    };
}

/* Bytes, padded to whole words. */
uint64_t tamis__table_size(tamis_table);

/* The gate: nothing after the last bucket, and every sorted bucket sorted. */
tamis_status tamis__table_audit(const tamis_table *);

/* Payloads begin with the number of cells in use. */
static inline uint64_t tamis__used_of(const tamis_body *f) {
    return tamis__get64(f->bytes);
}

static inline void tamis__count_used(tamis_body *f, uint64_t more) {
    tamis__put64(f->bytes, tamis__used_of(f) + more);
}

/* ---- Hash to place and value ---------------------------------------------------------------- */

/* The hash scaled to places * (2^width - 1) and split: a place, and a value that is never zero. All
 * pairs are equally likely, for any number of places, and no bit serves both. */
TAMIS_HOT uint64_t tamis__split(uint64_t hash, uint64_t places, unsigned width, uint64_t *value) {
    uint64_t rest;
    const uint64_t place = tamis__multiply(hash, places, &rest);
    *value = 1 + tamis__range(rest, tamis__field_mask(width));
    return place;
}

/* The inverse: the least hash that is split into these two. */
uint64_t tamis__join(uint64_t place, uint64_t places, unsigned width, uint64_t value);

/* ---- Buckets -------------------------------------------------------------------------------- */

void tamis__sorted_read(const tamis_table *, uint64_t bucket, uint64_t cell[]);
bool tamis__sorted_has(const tamis_table *, uint64_t bucket, uint64_t value);

/* A bucket as one word, wherever it begins: eight bytes from its first one on, or the last eight of
 * the table. It fits, because only tables whose buckets never begin too late in a byte have `ones`.
 * Bits above the bucket are those of its neighbours. */
typedef struct tamis_bucket {
    uint64_t first; /* byte */
    unsigned shift;
    uint64_t word;
} tamis_bucket;

TAMIS_HOT tamis_bucket tamis__bucket_at(const tamis_table *t, uint64_t bucket) {
    const uint64_t bit = bucket * t->bucket_bits, byte = bit / 8;
    const uint64_t first = byte < t->last ? byte : t->last;
    const unsigned shift = (unsigned)(bit - first * 8);
    return (tamis_bucket){first, shift, tamis__get64(t->bytes + first) >> shift};
}

/* All cells of a word are compared at once: an equal cell becomes zero under XOR, and only from a
 * zero does the subtraction of one borrow into the top bit. The lowest remaining bit is the top bit
 * of the first equal cell; bits above it may be false. */
TAMIS_HOT uint64_t tamis__equal_cells(const tamis_table *t, uint64_t word, uint64_t value) {
    const uint64_t x = word ^ value * t->ones;
    return (x - t->ones) & ~x & t->ones << (t->width - 1);
}

/* With the number of slots given by the caller. */
TAMIS_HOT void tamis__cells_read(const tamis_table *t, unsigned slots, uint64_t bucket,
                                 uint64_t cell[]) {
    if (t->ones) {
        const uint64_t word = tamis__bucket_at(t, bucket).word;
        for (unsigned i = 0; i < slots; i++)
            cell[i] = word >> i * t->width & tamis__field_mask(t->width);
    } else if (t->is_sorted) {
        tamis__sorted_read(t, bucket, cell);
    } else {
        for (unsigned i = 0; i < slots; i++)
            cell[i] = tamis__field_get(t->bytes, bucket * slots + i, t->width);
    }
}

TAMIS_HOT void tamis__bucket_read(const tamis_table *t, uint64_t bucket, uint64_t cell[]) {
    tamis__cells_read(t, t->slots, bucket, cell);
}

TAMIS_HOT bool tamis__table_has(const tamis_table *t, uint64_t bucket, uint64_t value) {
    if (t->ones) return tamis__equal_cells(t, tamis__bucket_at(t, bucket).word, value);
    if (t->is_sorted) return tamis__sorted_has(t, bucket, value);
    for (unsigned i = 0; i < t->slots; i++)
        if (tamis__field_get(t->bytes, bucket * t->slots + i, t->width) == value) return true;
    return false;
}

/* Is prefetching buckets worthwhile? */
TAMIS_HOT bool tamis__table_is_far(const tamis_table *t) {
    return t->last >= tamis__near_bytes();
}

/* Prefetches the lines in which a bucket begins and ends. Mostly they are one, and fetching twice
 * costs less than testing. */
TAMIS_HOT void tamis__table_prefetch(const tamis_table *t, uint64_t bucket) {
    const uint8_t *first = t->bytes + bucket * t->bucket_bits / 8;
    __builtin_prefetch(first, 0, 2);
    __builtin_prefetch(first + (t->bucket_bits - 1) / 8, 0, 2);
}

/* Replaces one cell that is `old` by `value`: adds with old = 0, removes with value = 0. False, and
 * nothing changed, when no cell is `old`. */
bool tamis__cells_replace(const tamis_table *, uint64_t bucket, uint64_t old, uint64_t value);

TAMIS_HOT bool tamis__table_replace(const tamis_table *t, uint64_t bucket, uint64_t old,
                                    uint64_t value) {
    if (!t->ones) return tamis__cells_replace(t, bucket, old, value);
    const tamis_bucket b = tamis__bucket_at(t, bucket);
    const uint64_t equal = tamis__equal_cells(t, b.word, old);
    if (!equal) return false;
    const unsigned cell = b.shift + (unsigned)__builtin_ctzll(equal) + 1 - t->width;
    uint8_t *at = t->bytes + b.first;
    tamis__put64(at, tamis__get64(at) ^ (old ^ value) << cell);
    return true;
}

/* Cells in use, of one bucket and of all. */
unsigned tamis__bucket_load(const tamis_table *, uint64_t bucket);
uint64_t tamis__table_used(const tamis_table *);

/* ---- Plans and measures of tables in which a key covers a share of all classes --------------- */

/* With n keys in `classes` = places * (2^width - 1) equally likely pairs, of which each key covers
 * `share`: 1 - (1 - share/classes)^n. */
double tamis__table_rate(uint64_t keys, double share, uint64_t places, unsigned width);

typedef struct tamis_table_design {
    const char *kind;
    uint64_t min_places; /* to hold the keys */
    double share;
    unsigned min_width, cells; /* a place has cells * width + extra bits */
    int extra;
    uint64_t head_bits;
} tamis_table_design;

/* The fewest bits that keep the rate: one bit of width halves it, and where that would be too much,
 * more places do; or the widest cells that fit into the size. */
tamis_status tamis__table_plan(const tamis_params *, tamis_table_design, uint64_t *places,
                               uint64_t *width);

/* Why there is no plan: too many keys, too little space, or too small a rate. */
tamis_status tamis__table_refuse(const tamis_params *, tamis_table_design);

/* Places of that width that fit the size and the limits of tamis__split. */
uint64_t tamis__table_places(const tamis_params *, tamis_table_design, unsigned width);

/* Is the shape within the limits of tamis__split and of a payload? */
bool tamis__table_fits(tamis_table_design, uint64_t places, uint64_t width);

/* Estimates distinct keys from `distinct` occupied ones of equally likely classes, with an
 * error. */
struct tamis_estimate tamis__table_items(uint64_t distinct, double classes);

#endif
