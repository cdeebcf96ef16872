/* SPDX-License-Identifier: MIT */
/* For summary.c, neighbour_table.c and the two forms of their messages only.
 *
 * A message contains bits of one summary, in one of two ways, in either form:
 *
 *     changes    position, value; position, value; ...      a record for each bit that flipped
 *     array      from position 32 i on: words of 32 bits     a stretch of the summary itself
 *
 * Both contain what bits are. A form defines the header, how a record is written, and from which
 * hash positions come. */
#ifndef TAMIS_JOBS_WIRE_H
#define TAMIS_JOBS_WIRE_H

#include "hash/hash.h"
#include "tamis_jobs.h"

enum { TAMIS_GROUP = 32, TAMIS_GROUP_BYTES = 4 }; /* positions of an array are grouped */
enum { TAMIS_MIN_MESSAGE = 64 };

/* Describes the summary: what sender and receiver have to agree on. */
typedef struct tamis_tidings {
    uint64_t positions;
    uint64_t hashes;
    uint64_t function_bits; /* ICP */
    tamis_hash_mode hash;   /* compact */
    uint64_t seed;          /* compact */

    uint32_t sender;   /* ICP */
    uint32_t sequence; /* 0: not numbered */
    bool is_array;
    uint64_t first; /* position of the array */
    uint32_t count; /* records, or groups */

    const uint8_t *body; /* of a message that was read */
    size_t body_size;
} tamis_tidings;

/* A form. Reading checks everything, so that an accepted message needs no further checks. */
typedef struct tamis_wire {
    const char *kind, *kind_of_copy;
    size_t min_bytes, max_bytes; /* of a message */
    size_t end_bytes;            /* after its body */

    bool (*begins)(const uint8_t *bytes, size_t size); /* starts like one of its messages */
    size_t (*size)(const uint8_t *bytes, size_t size); /* from its header; 0: too short for one */
    tamis_status (*read)(const uint8_t *bytes, size_t size, tamis_tidings *);

    /* The next record: at *at in the body, after position *next - 1. False when it is invalid, or
     * about a bit past the end. */
    bool (*get)(const tamis_tidings *, size_t *at, uint64_t *next, uint64_t *position,
                bool *is_set);
    uint32_t (*get_group)(const uint8_t *);

    /* Returns the bytes written; the header has no counts and lengths yet. */
    size_t (*start)(uint8_t *, const tamis_tidings *);
    size_t (*put)(uint8_t *, uint64_t next, uint64_t position, bool is_set);
    void (*put_group)(uint8_t *, uint32_t bits);
    void (*finish)(uint8_t *, size_t size,
                   uint32_t count); /* `size` includes what follows the body */
} tamis_wire;

enum { TAMIS_MAX_RECORD = 10 }; /* maximum bytes of a record */

extern const tamis_wire tamis__wire_compact, tamis__wire_icp;

/* The number of groups of an array, and whether a word has bits past its last position. */
static inline uint64_t tamis__groups_of(uint64_t positions) {
    return positions / TAMIS_GROUP + (positions % TAMIS_GROUP > 0);
}

static inline bool tamis__group_is_clean(uint64_t positions, uint64_t from, uint32_t bits) {
    return positions - from >= TAMIS_GROUP || bits >> (positions - from) == 0;
}

/* Fails unless the stretch is inside the summary and nothing is set past its end. */
tamis_status tamis__array_is_legal(const tamis_wire *, const tamis_tidings *);

#endif
