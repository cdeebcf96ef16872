/* SPDX-License-Identifier: MIT */
/* For kinds over a ribbon and tests: rows of bits for keys, solved over GF(2).
 *
 * A key has a row: its value, then guard bits that are a fingerprint of it. The band stores a bit
 * matrix Z such that the row of a key is the sum, without carry, of those of 64 consecutive rows of
 * Z that the coefficients of the key pick:
 *
 *     hash ──mix──▶ x = [ top bits: start s | ........ | low bits: guard ]     c = mix(x + ..) | 1
 *
 *         Z    ..........[s ............. s+63]..........      64 rows from s on
 *         c               1 0 1 1 0 0 1 ... 0                  the sum of the rows where c is 1
 *                         └─▶ value | guard                    is the row of the key
 *
 * Nothing of the keys is stored, so a non-member gets an arbitrary row: its guard matches with
 * probability 2^-guard_bits. Building is Gaussian elimination on a band of 64 columns. There are
 * fewer rows than keys: where a bucket of neighbouring starts is overfull, those with low starts
 * are bumped to a next, much smaller layer, and a threshold of two bits per bucket tells which.
 * Dillinger and Walzer, "Ribbon filter" (2021); Dillinger, Huebschle-Schneider, Sanders and Walzer,
 * "Fast Succinct Retrieval and Approximate Membership Using Ribbon" (2022). */
#ifndef TAMIS_KINDS_BAND_H
#define TAMIS_KINDS_BAND_H

#include "cpu/cpu.h"
#include "kinds/segments.h"

enum {
    TAMIS_BAND_MAX_VALUE = 64,
    TAMIS_BAND_MAX_GUARD = 32,
    TAMIS_BAND_MIN = 8 /* bytes of a band without keys */
};

/* Common to all bands of a filter; stored in shape words, not in the band. Queries take its
 * address, all else a copy. */
typedef struct tamis_band_form {
    unsigned value_bits, guard_bits; /* not both 0 */
    uint32_t narrow; /* below 65536: `narrow` of 65536 keys have one guard bit less */
    uint64_t salt;   /* differs between bands with the same keys */
} tamis_band_form;

/* The shape words of ribbon and cascade: guard columns; of 65536 keys, how many have one less. */
enum { TAMIS_BAND_WIDTH = TAMIS_SEGMENT_WORDS, TAMIS_BAND_NARROW };

static inline tamis_band_form tamis__band_form_of(const uint64_t word[]) {
    return (tamis_band_form){.guard_bits = (unsigned)word[TAMIS_BAND_WIDTH],
                             .narrow = (uint32_t)word[TAMIS_BAND_NARROW]};
}

double tamis__band_word_rate(const uint64_t word[]); /* (1 + narrow/65536) 2^-width */

/* Sets both words to `total` 65536ths of a column; and how many of them keep a rate, 0 for one
 * below 2^-32. */
void tamis__band_set_columns(uint64_t word[], uint64_t total);
uint64_t tamis__band_columns_for(double rate);

typedef struct tamis_band_task {
    const uint64_t *hash;  /* distinct, in any order, which does not affect the bytes */
    const uint64_t *value; /* below 2^value_bits; ignored when value_bits is 0 */
    size_t n;              /* below 2^31 */
    const uint32_t *pick;  /* which of them, n indices; NULL: the first n */
    tamis_stop stop;
} tamis_band_task;

/* For n keys: bytes of working memory, and the maximum bytes of the band. */
uint64_t tamis__band_work(tamis_band_form, uint64_t n);
uint64_t tamis__band_max_bytes(tamis_band_form, uint64_t n);

/* Expected bytes for this number of keys and bands; in practice a little less. */
uint64_t tamis__band_expect(tamis_band_form, uint64_t keys, uint64_t bands);

/* Makes a band of *size bytes, a multiple of 8. `work` is aligned to 64. Fails for hashes that are
 * not distinct, and with TAMIS_CANCELLED when it must stop. */
tamis_status tamis__band_make(tamis_band_form, const tamis_band_task *, uint8_t *work, uint8_t *out,
                              uint64_t *size);

/* The gate: what passes can be queried safely. */
tamis_status tamis__band_audit(tamis_band_form, const uint8_t *band, uint64_t size);

uint64_t tamis__band_keys(const uint8_t *band);

/* The probability that a non-member's guard matches, by the actual layers and thresholds. */
double tamis__band_rate(tamis_band_form, const uint8_t *band);

/* False: not a member. True: a member, or its guard matches by chance; *value is set then. */
bool tamis__band_ask(const tamis_band_form *, const uint8_t *band, uint64_t hash, uint64_t *value);

/* The same in two steps, for batches: locate the rows, which are being fetched then; test them. */
typedef struct tamis_band_aim {
    const uint8_t *here, *next; /* the block of the start and the next; NULL: not a member */
    uint64_t low, high;         /* which rows of the two count */
    uint64_t x;
    unsigned guard_bits;
} tamis_band_aim;

void tamis__band_aim(const tamis_band_form *, const uint8_t *band, uint64_t hash, tamis_band_aim *);
bool tamis__band_test(const tamis_band_form *, const tamis_band_aim *, uint64_t *value);

/* The bands of a filter, which share the hashes out among them: the i-th starts `lead` bytes after
 * the i-th word of `starts`, counted from `bytes`. */
typedef struct tamis_band_set {
    const uint8_t *bytes, *starts;
    uint64_t count, lead;
    bool is_far; /* the bytes exceed the cache: prefetching pays */
} tamis_band_set;

/* Those of a payload split into segments. */
static inline tamis_band_set tamis__band_set(const tamis_body *f, uint64_t lead) {
    const uint64_t segments = f->word[TAMIS_SEGMENTS];
    return (tamis_band_set){
        .bytes = f->bytes,
        .starts = f->bytes + f->size - tamis__segment_offsets_size(segments),
        .count = segments,
        .lead = lead,
        .is_far = f->size > tamis__near_bytes(),
    };
}

static inline const uint8_t *tamis__band_of(const tamis_band_set *set, uint64_t hash) {
    const uint64_t i = tamis__range(hash, set->count);
    return set->bytes + tamis__get64(set->starts + i * 8) + set->lead;
}

/* A batch: hit[i] becomes 1 or 0, and value[i] is set where it is 1. `value` may be NULL. */
void tamis__band_ask_all(const tamis_band_form *, const tamis_band_set *, const uint64_t *hash,
                         size_t n, uint64_t *value, uint8_t *hit);

#endif
