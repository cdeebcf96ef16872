/* SPDX-License-Identifier: MIT */
/* For patch.c and tests: an adaptive binary range coder.
 *
 * A sequence of yes-or-no decisions becomes bytes; an expected decision costs next to nothing. One
 * function, tamis__decide, writes and reads: a single walk through the data is both the encoder and
 * the decoder, so the two cannot drift apart. docs/format.md specifies every step. */
#ifndef TAMIS_FILE_RANGES_H
#define TAMIS_FILE_RANGES_H

#include "tamis.h"

/* The probability of a yes, in parts of 2^24, and how often it was updated, up to a limit. */
typedef struct tamis_chance {
    uint32_t yes, seen;
} tamis_chance;

enum { TAMIS_CHANCE_HALF = 1 << 23, TAMIS_CHANCE_MAX_SEEN = 254 };

enum { TAMIS_RANGES_ROOM = 4096 };

typedef struct tamis_ranges {
    bool is_reader;
    bool is_bad; /* a reader hit the end too early, or a writer was stopped */
    uint32_t range;
    uint32_t share[TAMIS_CHANCE_MAX_SEEN + 1]; /* weight of one decision: 2^32 parts, by `seen` */

    /* of a reader */
    uint32_t code;
    const uint8_t *at, *end;

    /* of a writer: the low end of the range, and the last byte and a run of 0xff after it that a
     * carry may still change */
    uint64_t low, run;
    uint8_t last;
    bool has_last;
    tamis_write_fn *put;
    void *ctx;
    uint64_t written;
    size_t filled;
    uint8_t room[TAMIS_RANGES_ROOM];
} tamis_ranges;

/* `put` takes the bytes that a writer makes; false stops it. */
void tamis__ranges_write(tamis_ranges *, tamis_write_fn *put, void *ctx);
void tamis__ranges_read(tamis_ranges *, const uint8_t *bytes, size_t size);

/* Codes one decision: a writer writes `yes`, a reader ignores it. Returns the decision. */
bool tamis__decide(tamis_ranges *, tamis_chance *, bool yes);

/* The lowest `bits` bits of a number, highest first, with equal probabilities. */
uint64_t tamis__decide_bits(tamis_ranges *, uint64_t number, unsigned bits);

/* Ends it. True on success: a writer has written everything; a reader has read all bytes, and a
 * writer made them. */
bool tamis__ranges_end(tamis_ranges *);

#endif
