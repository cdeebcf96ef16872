/* SPDX-License-Identifier: MIT */
/* For kinds whose payload is a flat bit array.
 *
 * Common to all of them: union is OR, intersection is AND, folding is OR of the bits that are
 * merged, and the number of set bits gives the number of keys. */
#ifndef TAMIS_KINDS_BITMAP_H
#define TAMIS_KINDS_BITMAP_H

#include "kinds/kind.h"

/* Whole words for a number of bits. */
static inline uint64_t tamis__bitmap_size(uint64_t bits) {
    return bits / 64 * 8 + (bits % 64 ? 8 : 0);
}

/* Rounds a planned number of units (bits, blocks) up to a multiple of a power of two that is at
 * least `min` and about 1/4096 of the number. It costs 0.02 %, and machines whose logarithms differ
 * in the last digit still plan the same shape for a spec. 0 when the result is not below `max`. */
uint64_t tamis__round_up(uint64_t units, uint64_t min, uint64_t max);

/* The same by about 1/128, for kinds that fold. It costs 0.4 % on average and at most 0.8 %; in
 * return plans for n, 2n, 4n, ... keys at one rate have sizes that double too, from 256 units on,
 * so that the filters of different days fold onto each other exactly. */
uint64_t tamis__round_to_fold(uint64_t units, uint64_t min, uint64_t max);

/* How many units of `unit_bits` fit in `bits`. A whole number of units is taken exactly, as classic
 * takes its bits; any other is a limit, and then units come in groups of 64, so that they fold. 0
 * when there is no room for one. */
uint64_t tamis__units_within(uint64_t bits, uint64_t unit_bits);

/* The bits after the last one must be zero. */
tamis_status tamis__bitmap_audit(const tamis_body *, uint64_t bits);
tamis_status tamis__bits_audit(const tamis_body *); /* where the first word is their number */

tamis_status tamis__bitmap_merge(tamis_body *into, const tamis_body *from);
tamis_status tamis__bitmap_intersect(tamis_body *into, const tamis_body *from);

/* Divides *size, checking that `by` divides `units` and leaves at least one. `unit` names them in
 * the message. */
tamis_status tamis__fold_units(uint64_t units, uint64_t by, const char *unit, uint64_t *size);

/* tamis_reshape.fold and .stretch where the first word is the size and all other words stay. */
tamis_status tamis__fold_first(const tamis_body *, uint64_t by, uint64_t word[]);
bool tamis__is_wider(const uint64_t word[], const uint64_t wider[]);

/* Two ways to merge bits, by how positions are made: scaling a hash to the size merges `by`
 * neighbours, a remainder merges i, i + size, i + 2 size, ... */
void tamis__bitmap_fold_neighbours(uint8_t *to, const uint8_t *from, uint64_t bits, uint64_t by);
void tamis__bitmap_fold_strides(uint8_t *to, const uint8_t *from, uint64_t bits, uint64_t by);

/* To more bits, not necessarily a multiple, where positions scale: sets every position that a hash
 * may have there whose position here is set. */
void tamis__bitmap_stretch(uint8_t *to, uint64_t to_bits, const uint8_t *from, uint64_t from_bits);

/* The inverse of tamis__range: the smallest hash whose product with n is not below x * 2^64 + rest,
 * for n below 2^63 and x below n. With rest = 0, the smallest that is scaled to x. */
uint64_t tamis__unscale(uint64_t n, uint64_t x, uint64_t rest);

/* Units of two sizes where both scale: a hash is a number x below 1, and its unit is floor(x * n).
 * For each of m units in turn, the units of n that share hashes with it: first to last. Start with
 * all zero except m and n. */
typedef struct tamis_units {
    uint64_t m, n, first, last;
    uint64_t end, rest; /* where the next of m starts: end + rest / m */
} tamis_units;

static inline void tamis__units_next(tamis_units *u) {
    u->first = u->end;
    u->end += u->n / u->m;
    u->rest += u->n % u->m;
    if (u->rest >= u->m) u->rest -= u->m, u->end++;
    u->last = u->rest ? u->end : u->end - 1;
}

/* Set bits of the payload, or of both payloads together when `other` is not NULL. */
uint64_t tamis__bits_set(const tamis_body *, const tamis_body *other);

/* How many distinct keys set `set` of `bits` bits, `hashes` each; infinite when all are set. */
struct tamis_estimate tamis__bitmap_items(uint64_t set, uint64_t bits, uint64_t hashes);

/* Derives rate and distinct keys from the set bits of a filter that sets `hashes` of `bits` bits
 * per key anywhere. Cells that are not zero count as bits. */
void tamis__fill_measure(uint64_t set, uint64_t bits, uint64_t hashes, tamis_measurement *);

/* The probability of either or both: filters that are queried one after the other. */
static inline double tamis__chance_of_either(double a, double b) {
    return a + (1 - a) * b;
}

/* Adds the measures of one more filter of a stack to those of the filters below. `asks_first`: it
 * has only what they did not accept. Keys that were false positives of those are then in none; the
 * share that was stored of all that came while it was filled gives their number. */
void tamis__measure_stage(const tamis_measurement *stage, bool asks_first, tamis_measurement *out);

/* Measures a filter that sets `hashes` of `bits` bits per key anywhere. */
void tamis__bitmap_measure(const tamis_body *, const tamis_body *other, uint64_t bits,
                           uint64_t hashes, tamis_measurement *);

#endif
