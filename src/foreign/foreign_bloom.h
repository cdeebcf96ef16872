/* SPDX-License-Identifier: MIT */
/* For kinds of other systems: what all Bloom filters share.
 *
 * The payload of a foreign kind is what its origin would write, byte for byte, padded with zeros to
 * a multiple of eight. A Bloom filter there is a header and bits:
 *
 *     header | bit 0, bit 1, ... bit m-1 | zeros
 *
 * The header follows from the shape words. So an empty body is a header and zeros, the gate
 * compares headers, and exporting is copying. */
#ifndef TAMIS_FOREIGN_FOREIGN_BLOOM_H
#define TAMIS_FOREIGN_FOREIGN_BLOOM_H

#include "foreign/format.h"
#include "kinds/kind.h"

/* The first two words of all of them. */
enum { TAMIS_LIKE_BITS, TAMIS_LIKE_HASHES };

/* No origin needs more; with a forged number every query would take forever. */
enum { TAMIS_LIKE_MAX_HASHES = 255, TAMIS_LIKE_MAX_HEADER = 256 };

/* From a key to one position after the other. */
typedef struct tamis_walk {
    uint64_t a, b, c, d, i;
    struct tamis_key key; /* for kinds that hash it again for each position */
} tamis_walk;

typedef struct tamis_bloomlike {
    const char *name;
    uint64_t header_bytes;
    void (*header)(const uint64_t word[], uint8_t *header); /* or NULL, when it has no bytes */
    uint64_t trailer_bytes;                                 /* the same after the bits */
    void (*trailer)(const uint64_t word[], uint8_t *trailer);
    bool is_big_endian; /* eight bytes of bits are one big-endian word */
    uint64_t unit;      /* bits that the origin writes at once; 0: 8, or 64 when big-endian */

    /* Bytes in the header that do not follow from the words, such as a count: the gate does not
     * compare them, and their kind checks them itself. */
    uint64_t loose_at, loose_bytes;

    /* The number of bytes of anything that end the payload, kept as they are; NULL: none. */
    uint64_t (*extra)(const uint64_t word[]);

    /* Are positions sums of a few numbers? In few bits such walks meet each other and themselves
     * more often than by chance, and the rate is not fill^k. */
    bool has_steps;
    void (*begin)(const uint64_t word[], const struct tamis_key *, tamis_walk *);
    uint64_t (*next)(const uint64_t word[], tamis_walk *); /* below the number of bits */

    /* For kinds with several layouts: the one for these words. Then nothing else is set. */
    const struct tamis_bloomlike *(*by_shape)(const uint64_t word[]);
} tamis_bloomlike;

/* What the origin writes for these words. */
uint64_t tamis__like_stored(const tamis_bloomlike *, const uint64_t word[]);

/* check(): 1 to `max_bits` bits, a multiple of `unit`, and 1 to 255 hashes. */
tamis_status tamis__like_check(const tamis_bloomlike *, const uint64_t word[], uint64_t unit,
                               uint64_t max_bits, uint64_t *size);

/* The entries of a descriptor, for kinds whose `own` is a tamis_bloomlike. audit: header and
 * trailer match the words, and no bit is set past the last. Union is OR and intersection AND of the
 * bits alone. A kind that keeps counts in its header has its own add and merge. */
uint64_t tamis__like_probes(const uint64_t word[]);
double tamis__like_rate(const uint64_t word[], uint64_t items);
void tamis__like_start(tamis_body *);
tamis_status tamis__like_audit(const tamis_body *);
void tamis__like_measure(const tamis_body *, const tamis_body *other, tamis_measurement *);
void tamis__foreign_bloom_query(const tamis_body *, tamis_batch, uint8_t *hit);
tamis_status tamis__like_add(tamis_body *, tamis_batch);
tamis_status tamis__like_merge(tamis_body *into, const tamis_body *from);
tamis_status tamis__like_intersect(tamis_body *into, const tamis_body *from);

/* Adds, and returns how many of the keys were new. */
uint64_t tamis__like_add_new(tamis_body *, tamis_batch);

/* The rate of a small filter, by querying it: `is_found` answers for the i-th of many non-members.
 * `by_fill` is the rate by the fill, used where the rate is too small to be measured. */
enum { TAMIS_LIKE_ASK_BELOW_BITS = 2048 };
double tamis__like_asked_rate(bool (*is_found)(const void *context, const struct tamis_key *),
                              const void *context, double by_fill);

/* -n ln p / (ln 2)^2, where most origins start; for at least one key. */
double tamis__like_bits_for(uint64_t keys, double fpr);

/* The number of hashes to plan: the option "hashes", the first of all their options, or the best
 * number, at least 1 and at most 255. */
uint64_t tamis__like_hashes(const tamis_params *, double best);

/* The number of keys such a shape is best for: what a file without a capacity was planned for. It
 * is called before the gate: 0 for 0 hashes. */
uint64_t tamis__like_capacity(uint64_t bits, uint64_t hashes);

/* write() of a format whose bytes are the payload without its padding. */
tamis_status tamis__like_write(const tamis_export_source *, const tamis_format_args *);

#endif
