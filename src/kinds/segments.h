/* SPDX-License-Identifier: MIT */
/* For kinds that are built once, the builder and tests: a payload in segments.
 *
 *     segment 0 │ segment 1 │ ... │ tail │ offsets: where each starts, and where the last ends
 *
 * The offsets come last, because a payload of any size is written from front to back and the length
 * of a segment is known only when it is made. Everything is a multiple of 8 bytes. The first three
 * shape words are the same for every such kind. */
#ifndef TAMIS_KINDS_SEGMENTS_H
#define TAMIS_KINDS_SEGMENTS_H

#include "bits/bits.h"
#include "bits/probe.h"
#include "kinds/kind.h"

enum {
    TAMIS_SEGMENTS,      /* at least 1 */
    TAMIS_SEGMENT_BYTES, /* of the whole payload */
    TAMIS_SEGMENT_KEYS,  /* planned for a segment */
    TAMIS_SEGMENT_WORDS  /* the first word of the kind's own */
};

/* The words that depend on the records, for tamis_build.made. */
enum { TAMIS_SEGMENT_MADE = 1 << TAMIS_SEGMENTS | 1 << TAMIS_SEGMENT_BYTES };

/* The word that says how the payload is cut, for tamis_build.cut. */
enum { TAMIS_SEGMENT_CUT = 1 << TAMIS_SEGMENT_KEYS };

/* The names of the first words, and the option that sets the third. Smaller segments need less
 * memory to build and, below some hundred thousand keys, more bits. */
#define TAMIS_SEGMENT_WORD_NAMES   "segments", "bytes", "segment"
#define TAMIS_SEGMENT_DEFAULT_KEYS ((uint64_t)1 << 22)
#define TAMIS_SEGMENT_MIN_KEYS     ((uint64_t)1 << 10)
#define TAMIS_SEGMENT_MAX_KEYS     ((uint64_t)1 << 24)
#define TAMIS_SEGMENT_OPTION                                                           \
    {                                                                                  \
        "segment", NULL, TAMIS_SEGMENT_MIN_KEYS, TAMIS_SEGMENT_MAX_KEYS, "4194304",    \
            "keys in a segment; building needs memory for one, smaller ones cost bits" \
    }

/* The parameter for that; the option is the kind's first. */
static inline uint64_t tamis__segment_keys(const tamis_params *params) {
    return tamis__chosen(params, 0, TAMIS_SEGMENT_DEFAULT_KEYS);
}

/* Segments for n records: full ones and at most one partly filled. */
static inline uint64_t tamis__segments_for(const uint64_t word[], uint64_t records) {
    const uint64_t keys = word[TAMIS_SEGMENT_KEYS];
    return records ? (records - 1) / keys + 1 : 1;
}

static inline uint64_t tamis__segment_offsets_size(uint64_t segments) {
    return (segments + 1) * 8;
}

/* Where the i-th segment starts; with i = segments, where the tail does. */
static inline uint64_t tamis__segment_start(const tamis_body *f, uint64_t i) {
    return tamis__get64(f->bytes + f->size - (f->word[TAMIS_SEGMENTS] + 1 - i) * 8);
}

static inline const uint8_t *tamis__segment(const tamis_body *f, uint64_t i, uint64_t *size) {
    const uint64_t start = tamis__segment_start(f, i);
    *size = tamis__segment_start(f, i + 1) - start;
    return f->bytes + start;
}

/* The segment of a hash where segments have equal shares of all hashes. */
static inline uint64_t tamis__segment_of(const uint64_t word[], uint64_t hash) {
    return tamis__range(hash, word[TAMIS_SEGMENTS]);
}

/* tamis_build.fit where only the number of segments follows from the records. */
tamis_status tamis__segments_by_records(const tamis_params *, const tamis_census *,
                                        uint64_t word[]);

/* Checks words from a file: a valid number of segments in a valid number of bytes, of which `tail`
 * (a multiple of 8) are the kind's own. */
tamis_status tamis__segments_check(const uint64_t word[], uint64_t tail, uint64_t *size);

/* Checks offsets from a file: contiguous segments of at least `min` bytes. */
tamis_status tamis__segments_audit(const tamis_body *, uint64_t tail, uint64_t min);

#endif
