/* SPDX-License-Identifier: MIT */
/* For kinds that keep a multiset of fingerprints, all of one width: quotient, multiset.
 *
 * It holds fingerprints, each a number of times. Shared, however the slots encode the counts: shape
 * and rate, listing, estimating, merging, resizing. The encoding is a code: in quotient three equal
 * fingerprints are three equal slots, in multiset they are one slot and a number. A run has an
 * entry for each of its values, in ascending order. */
#ifndef TAMIS_KINDS_FP_MULTISET_H
#define TAMIS_KINDS_FP_MULTISET_H

#include "kinds/kind.h"
#include "kinds/slots.h"

enum { TAMIS_BAG_SLOTS, TAMIS_BAG_REMAINDER }; /* shape words: homes, and stored bits of each */

/* Their only option: to recreate a shape that came from resizing. */
enum { TAMIS_BAG_OPT_REMAINDER, TAMIS_BAG_OPTIONS };
enum { TAMIS_BAG_MAX_REMAINDER = 40 }; /* enough for 10^-12, the smallest rate of a spec */
#define TAMIS_BAG_REMAINDER_OPTION(min)                                                \
    {                                                                                  \
        "remainder", NULL, min, TAMIS_BAG_MAX_REMAINDER, "the best for rate and size", \
            "bits stored of each fingerprint"                                          \
    }

typedef struct tamis_bag_entry {
    uint64_t value, count, length; /* a value, its count, its number of slots */
} tamis_bag_entry;

typedef struct tamis_bag_code {
    const char *name;
    unsigned min_width;
    tamis_bag_entry (*read)(const tamis_slots *, const tamis_run *, uint64_t at);
    uint64_t (*length)(const tamis_slots *, uint64_t value, uint64_t count); /* in slots */
    tamis_status (*put)(const tamis_slots *, uint64_t home, uint64_t value, uint64_t count);
    bool (*is_legal)(const tamis_slots *, const tamis_run *);
} tamis_bag_code;

static inline tamis_slots tamis__bag_slots(const tamis_body *f) {
    return tamis__slots_at(f->bytes, f->word[TAMIS_BAG_SLOTS], f->word[TAMIS_BAG_REMAINDER]);
}

/* The entries of a descriptor, for kinds whose `own` is a tamis_bag_code ... */
double tamis__bag_rate(const uint64_t word[], uint64_t items);
tamis_status tamis__bag_audit(const tamis_body *);
void tamis__bag_measure(const tamis_body *, const tamis_body *other, tamis_measurement *);
bool tamis__bag_next(const tamis_body *, uint64_t *cursor, uint64_t *hash, uint64_t *count);
uint64_t tamis__bag_room(const tamis_body *);
tamis_status tamis__bag_resize(const tamis_body *, uint64_t capacity, uint64_t word[]);
tamis_status tamis__bag_move(tamis_body *to, const tamis_body *from);
tamis_status tamis__bag_merge(tamis_body *into, const tamis_body *from);

/* ... and those used before there is a body. */
tamis_status tamis__bag_plan(const tamis_bag_code *, const tamis_params *, uint64_t word[]);
tamis_status tamis__bag_check(const tamis_bag_code *, const uint64_t word[], uint64_t *size);

/* TAMIS_NOT_FOUND with its message. */
tamis_status tamis__bag_not_found(const tamis_bag_code *);

#endif
