/* SPDX-License-Identifier: MIT */
/* Sorts hashes, alone or with a value each.
 *
 *     all of them ──top bits──▶ parts that stay in L2
 *     a part ──digits of its top bits, the lowest first──▶ nearly sorted
 *            ──insertion of every record out of order──▶ sorted
 *
 * Hashes are mixed: a few more bits than it takes to count the records distinguish nearly all of
 * them. Where they do not, and too many records would move, every digit is sorted. */
#include "core/radix.h"

#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };
enum { PART_BYTES = 512 * 1024, MAX_CUT_BITS = 8 };
enum { FEW = 24 };       /* sorted by insertion alone */
enum { SPARE_BITS = 5 }; /* leave one record in 32 next to one with the same sorted bits */

/* The bits in which the `by`-th numbers of records differ. */
TAMIS_HOT uint64_t differing(const uint64_t *record, uint64_t n, unsigned numbers, unsigned by) {
    uint64_t any = 0, all = UINT64_MAX;
    for (uint64_t i = 0; i < n; i++) {
        any |= record[i * numbers + by];
        all &= record[i * numbers + by];
    }
    return n ? any & ~all : 0;
}

/* Sorts by one digit of the `by`-th number; stable. */
TAMIS_HOT void place_by_digit(const uint64_t *from, uint64_t *to, uint64_t n, unsigned numbers,
                              unsigned by, unsigned shift, unsigned bits) {
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    size_t start[DIGITS], sum = 0;
    memset(start, 0, ((size_t)mask + 1) * sizeof *start);
    for (uint64_t i = 0; i < n; i++) start[from[i * numbers + by] >> shift & mask]++;
    for (size_t d = 0; d <= mask; d++) {
        const size_t count = start[d];
        start[d] = sum;
        sum += count;
    }
    for (uint64_t i = 0; i < n; i++) {
        const size_t at = start[from[i * numbers + by] >> shift & mask]++;
        tamis__copy_record(to + at * numbers, from + i * numbers, numbers);
    }
}

static void place_hashes(const uint64_t *from, uint64_t *to, uint64_t n, unsigned shift,
                         unsigned bits) {
    place_by_digit(from, to, n, 1, 0, shift, bits);
}

static void place_pairs(const uint64_t *from, uint64_t *to, uint64_t n, unsigned by, unsigned shift,
                        unsigned bits) {
    place_by_digit(from, to, n, 2, by, shift, bits);
}

/* Sorts by `bits` bits of the `by`-th number, from `shift`, in digits of about equal width. Returns
 * the sorted array: `from` or `to`. */
TAMIS_HOT uint64_t *sort_bits(uint64_t *from, uint64_t *to, uint64_t n, unsigned numbers,
                              unsigned by, unsigned shift, unsigned bits) {
    for (unsigned passes = (bits + DIGIT_BITS - 1) / DIGIT_BITS; passes; passes--) {
        const unsigned width = (bits + passes - 1) / passes;
        if (numbers == 1)
            place_hashes(from, to, n, shift, width);
        else
            place_pairs(from, to, n, by, shift, width);
        uint64_t *swap = from;
        from = to;
        to = swap;
        shift += width;
        bits -= width;
    }
    return from;
}

static unsigned bits_of(uint64_t x) {
    return x ? tamis__log2_floor(x) + 1 : 0;
}

/* Sorts by all digits, for any numbers. */
TAMIS_HOT uint64_t *sort_fully(uint64_t *from, uint64_t *to, uint64_t n, unsigned numbers) {
    for (unsigned by = numbers; by-- > 0;) {
        uint64_t *sorted =
            sort_bits(from, to, n, numbers, by, 0, bits_of(differing(from, n, numbers, by)));
        to = sorted == from ? to : from;
        from = sorted;
    }
    return from;
}

/* Insertion sort; false when it takes too many steps. */
TAMIS_HOT bool insert(uint64_t *record, uint64_t n, unsigned numbers) {
    uint64_t steps = 8 * n + FEW * FEW;
    for (uint64_t i = 1; i < n; i++) {
        if (!tamis__record_is_before(record + i * numbers, record + (i - 1) * numbers, numbers))
            continue;
        uint64_t moved[2], at = i;
        tamis__copy_record(moved, record + i * numbers, numbers);
        for (; at && tamis__record_is_before(moved, record + (at - 1) * numbers, numbers); at--)
            tamis__copy_record(record + at * numbers, record + (at - 1) * numbers, numbers);
        tamis__copy_record(record + at * numbers, moved, numbers);
        if (i - at > steps) return false;
        steps -= i - at;
    }
    return true;
}

/* Sorts one part in `record`, by hash, then by value; `other` is room for as many. */
TAMIS_HOT void sort_part(uint64_t *record, uint64_t *other, uint64_t n, unsigned numbers) {
    if (n <= FEW) {
        insert(record, n, numbers);
        return;
    }
    const unsigned top = bits_of(differing(record, n, numbers, 0));
    const unsigned enough = bits_of(n) + SPARE_BITS, bits = top < enough ? top : enough;
    uint64_t *sorted = sort_bits(record, other, n, numbers, 0, top - bits, bits);
    if (!insert(sorted, n, numbers))
        sorted = sort_fully(sorted, sorted == record ? other : record, n, numbers);
    if (sorted != record) memcpy(record, sorted, (size_t)n * numbers * sizeof *record);
}

/* Copies `from` to `to`, cut into parts by the bits above `shift`; end[] is where parts end. */
TAMIS_HOT void cut(const uint64_t *from, uint64_t *to, uint64_t n, unsigned numbers, unsigned shift,
                   uint64_t end[1 << MAX_CUT_BITS]) {
    const uint64_t mask = (1 << MAX_CUT_BITS) - 1;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++) end[from[i * numbers] >> shift & mask]++;
    for (unsigned d = 0; d <= mask; d++) {
        const uint64_t count = end[d];
        end[d] = sum;
        sum += count;
    }
    for (uint64_t i = 0; i < n; i++)
        tamis__copy_record(to + end[from[i * numbers] >> shift & mask]++ * numbers,
                           from + i * numbers, numbers);
}

/* Sorts more than fits in cache, from `record` to `other`. */
TAMIS_HOT void sort_many(uint64_t *record, uint64_t *other, uint64_t n, unsigned numbers) {
    const unsigned top = bits_of(differing(record, n, numbers, 0));
    uint64_t end[1 << MAX_CUT_BITS] = {0};
    cut(record, other, n, numbers, top > MAX_CUT_BITS ? top - MAX_CUT_BITS : 0, end);
    for (unsigned d = 0; d < 1 << MAX_CUT_BITS; d++) {
        const uint64_t start = d ? end[d - 1] : 0;
        sort_part(other + start * numbers, record + start * numbers, end[d] - start, numbers);
    }
}

/* Sorts `record`; `other` is room for as many. Returns the sorted array, either of them. */
TAMIS_HOT uint64_t *sort_all(uint64_t *record, uint64_t *other, uint64_t n, unsigned numbers) {
    if (n * numbers * sizeof *record <= PART_BYTES) {
        sort_part(record, other, n, numbers);
        return record;
    }
    sort_many(record, other, n, numbers);
    return other;
}

uint64_t *tamis__sort_hashes(uint64_t *hash, uint64_t *other, uint64_t n) {
    return sort_all(hash, other, n, 1);
}

uint64_t *tamis__sort_pairs(uint64_t *pair, uint64_t *other, uint64_t n) {
    return sort_all(pair, other, n, 2);
}
