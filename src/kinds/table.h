/* Kinds that keep fingerprints in buckets may include this: cuckoo, dleft, compaction.
 *
 * A table has buckets of a few cells, every cell has `width` bits, and zero is an empty cell:
 *
 *     | bucket 0: cell cell cell cell | bucket 1: cell cell cell cell | ...      packed, no gaps
 *
 * Cells of a bucket have no order that counts, so they are spoken of by value: is it there, put it
 * for that one. A sorted table has four cells and takes four bits less per bucket: which of the
 * four stands first tells nothing, and that nothing is worth log2(4!) = 4.6 bits.
 *
 *     | rank of the four low nibbles, 12 bits | the other width-4 bits of each, in that order |
 *
 * The nibbles are sorted, and there are C(19,4) = 3876 ways for four sorted nibbles (Bonomi et al.
 * 2006, Fan et al. 2014). */
#ifndef TAMIS_KINDS_TABLE_H
#define TAMIS_KINDS_TABLE_H

#include "bits/packed.h"
#include "bits/probe.h"
#include "kinds/kind.h"

enum {
    TAMIS_TABLE_MOST_SLOTS = 8,
    TAMIS_TABLE_MOST_WIDTH = 44, /* of what a hash gives to a cell; enough for a rate of 10^-12 */
    TAMIS_SORTED_SLOTS = 4,
    TAMIS_SORTED_LEAST_WIDTH = 5
};

/* Places times values that tell hashes apart. A 64-bit hash spreads evenly, to 1/16 at worst, over
 * this many; with more, some would come up twice as often as others. */
#define TAMIS_TABLE_MOST_CLASSES ((uint64_t)1 << 60)

typedef struct tamis_table {
    uint8_t *bytes;
    uint64_t buckets;
    unsigned slots, width, bucket_bits;
    bool is_sorted;
    uint64_t ones; /* the lowest bit of every cell, where a bucket fits into one word; else 0 */
} tamis_table;

tamis_table tamis__table(uint8_t *bytes, uint64_t buckets, unsigned slots, unsigned width,
                         bool is_sorted);

/* Bytes, padded to whole words. */
uint64_t tamis__table_size(const tamis_table *);

/* The gate: nothing behind the last bucket, and every sorted bucket sorted. */
tamis_status tamis__table_audit(const tamis_table *);

/* ---- Hash to place and value ---------------------------------------------------------------- */

/* The hash scaled to places * (2^width - 1) and taken apart: a place, and a value that is never
 * zero. All pairs are equally likely, for any number of places, and no bit serves both. */
TAMIS_HOT uint64_t tamis__split(uint64_t hash, uint64_t places, unsigned width, uint64_t *value) {
    uint64_t rest;
    const uint64_t place = tamis__multiply(hash, places, &rest);
    *value = 1 + tamis__range(rest, tamis__field_mask(width));
    return place;
}

/* The other way: the least hash that is split into these two. */
uint64_t tamis__join(uint64_t place, uint64_t places, unsigned width, uint64_t value);

/* ---- Buckets -------------------------------------------------------------------------------- */

void tamis__sorted_read(const tamis_table *, uint64_t bucket, uint64_t cell[]);
bool tamis__sorted_has(const tamis_table *, uint64_t bucket, uint64_t value);

TAMIS_HOT void tamis__bucket_read(const tamis_table *t, uint64_t bucket, uint64_t cell[]) {
    if (t->is_sorted) {
        tamis__sorted_read(t, bucket, cell);
        return;
    }
    for (unsigned i = 0; i < t->slots; i++)
        cell[i] = tamis__field_get(t->bytes, bucket * t->slots + i, t->width);
}

/* Where a bucket fits into a word all cells are compared at once: a cell that is equal becomes
 * zero under XOR, and only from a zero does the subtraction of one borrow into the top bit. */
TAMIS_HOT bool tamis__table_has(const tamis_table *t, uint64_t bucket, uint64_t value) {
    if (t->ones) {
        const uint64_t all = tamis__field_get(t->bytes, bucket, t->bucket_bits);
        const uint64_t x = all ^ value * t->ones;
        return (x - t->ones) & ~x & t->ones << (t->width - 1);
    }
    if (t->is_sorted) return tamis__sorted_has(t, bucket, value);
    for (unsigned i = 0; i < t->slots; i++)
        if (tamis__field_get(t->bytes, bucket * t->slots + i, t->width) == value) return true;
    return false;
}

/* The line in which a bucket begins, asked for ahead of its use. */
TAMIS_HOT void tamis__table_prefetch(const tamis_table *t, uint64_t bucket) {
    __builtin_prefetch(t->bytes + bucket * t->bucket_bits / 8);
}

/* Puts `value` in the place of one cell that is `old`: adds with old = 0, removes with value = 0.
 * False, and nothing changed, when no cell is `old`. */
bool tamis__table_replace(const tamis_table *, uint64_t bucket, uint64_t old, uint64_t value);

/* Cells in use, of one bucket and of all. */
unsigned tamis__bucket_load(const tamis_table *, uint64_t bucket);
uint64_t tamis__table_used(const tamis_table *);

/* ---- Plans and measures of tables in which a key answers for a share of all classes ---------- */

/* With n keys in `classes` = places * (2^width - 1) equally likely pairs, of which each key answers
 * for `share`: 1 - (1 - share/classes)^n. */
double tamis__table_rate(uint64_t keys, double share, uint64_t places, unsigned width);

typedef struct tamis_table_design {
    const char *kind;
    uint64_t least_places; /* which hold the keys */
    double share;
    unsigned least_width, cells; /* a place has cells * width + extra bits */
    int extra;
    uint64_t head_bits;
} tamis_table_design;

/* The fewest bits that keep the rate: a bit more of width halves it, and where that would be too
 * much, more places do; or the widest cells that fit into the size. */
tamis_status tamis__table_plan(const tamis_wish *, const tamis_table_design *, uint64_t *places,
                               uint64_t *width);

/* Why there is no plan: too many keys, too little space, or too small a rate. */
tamis_status tamis__table_refuse(const tamis_wish *, const tamis_table_design *);

/* Places of that width that fit into the size and within what tamis__split can do. */
uint64_t tamis__table_places(const tamis_wish *, const tamis_table_design *, unsigned width);

/* Is the shape within what tamis__split can do and a payload may have? */
bool tamis__table_fits(const tamis_table_design *, uint64_t places, uint64_t width);

/* How many distinct keys left `distinct` of that many equally likely classes, and with what
 * error. */
struct tamis_estimate tamis__table_items(uint64_t distinct, double classes);

#endif
