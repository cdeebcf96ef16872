/* SPDX-License-Identifier: MIT */
/* An adaptive binary range coder: Martin 1979 for the ranges, Krichevsky and Trofimov 1981 for the
 * probabilities, which adapt fast at first and slowly later. */
#include "file/ranges.h"

#include <string.h>

/* The range is kept at 24 bits or more, of which the upper 8 or more are divided into 65536 parts:
 * with a probability from 1 to 65535 of them, neither side is empty. */
enum { MIN_BITS = 24, START_BYTES = 4 };
#define MIN ((uint32_t)1 << MIN_BITS)

/* A product with 2^32 / d + 1, without its lower half, is the exact quotient of any number below
 * 2^24 by a d up to 256. A division for each decision would take twice as long as all the rest. */
static void start(tamis_ranges *r) {
    r->range = UINT32_MAX;
    for (unsigned i = 0; i <= TAMIS_CHANCE_MAX_SEEN; i++)
        r->share[i] = (uint32_t)(((uint64_t)1 << 32) / (i + 2) + 1);
}

void tamis__ranges_write(tamis_ranges *r, tamis_write_fn *put, void *ctx) {
    r->is_reader = r->is_bad = r->has_last = false;
    start(r);
    r->low = r->run = r->written = 0;
    r->filled = 0;
    r->put = put;
    r->ctx = ctx;
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

static void flush(tamis_ranges *r) {
    if (!r->is_bad && r->filled && !r->put(r->ctx, r->room, r->filled)) r->is_bad = true;
    r->filled = 0;
}

static void put_byte(tamis_ranges *r, uint8_t byte) {
    r->room[r->filled++] = byte;
    r->written++;
    if (r->filled == sizeof r->room) flush(r);
}

/* The top byte of `low` is final, unless it is 0xff: a carry may still run through that. */
static void write_top(tamis_ranges *r) {
    const uint8_t carry = (uint8_t)(r->low >> 32);
    if (carry || r->low < 0xff000000) {
        if (r->has_last) put_byte(r, (uint8_t)(r->last + carry));
        for (; r->run; r->run--) put_byte(r, (uint8_t)(0xff + carry));
        r->last = (uint8_t)(r->low >> 24);
        r->has_last = true;
    } else {
        r->run++;
    }
    r->low = (r->low & 0xffffff) << 8;
}

static uint8_t next_byte(tamis_ranges *r) {
    if (r->at < r->end) return *r->at++;
    r->is_bad = true;
    return 0;
}

void tamis__ranges_read(tamis_ranges *r, const uint8_t *bytes, size_t size) {
    r->is_reader = true;
    r->is_bad = false;
    start(r);
    r->at = bytes;
    r->end = bytes + size;
    r->code = 0;
    for (int i = 0; i < START_BYTES; i++) r->code = r->code << 8 | next_byte(r);
}

/* ---- Decisions ------------------------------------------------------------------------------ */

/* The lower part of the range means yes. */
static bool decide(tamis_ranges *r, uint32_t chance, bool yes) {
    const uint32_t part = (r->range >> 16) * (chance >> 8 | 1);
    if (r->is_reader) yes = r->code < part;
    if (yes) {
        r->range = part;
    } else {
        r->range -= part;
        if (r->is_reader)
            r->code -= part;
        else
            r->low += part;
    }
    for (; r->range < MIN; r->range <<= 8)
        if (r->is_reader)
            r->code = r->code << 8 | next_byte(r);
        else
            write_top(r);
    return yes;
}

/* The weight of a new decision falls from 1/2 to 1/256. With 1/64 at the end, patches of Bloom
 * filters were 0.4 % longer; with 1/1024, those of counting filters were 0.9 %. */
static void learn(tamis_chance *c, const uint32_t *share, bool yes) {
    const uint32_t off = yes ? ((uint32_t)1 << 24) - c->yes : c->yes;
    const uint32_t step = (uint32_t)((uint64_t)off * share[c->seen] >> 32);
    c->yes = yes ? c->yes + step : c->yes - step;
    if (c->seen < TAMIS_CHANCE_MAX_SEEN) c->seen++;
}

bool tamis__decide(tamis_ranges *r, tamis_chance *c, bool yes) {
    yes = decide(r, c->yes, yes);
    learn(c, r->share, yes);
    return yes;
}

uint64_t tamis__decide_bits(tamis_ranges *r, uint64_t number, unsigned bits) {
    uint64_t value = 0;
    while (bits--) value = value << 1 | decide(r, TAMIS_CHANCE_HALF, number >> bits & 1);
    return value;
}

/* A writer writes the whole low end, so that a reader's code is 0 when nothing was changed. */
bool tamis__ranges_end(tamis_ranges *r) {
    if (r->is_reader) return !r->is_bad && r->at == r->end && r->code == 0;
    for (int i = 0; i <= START_BYTES; i++) write_top(r);
    flush(r);
    return !r->is_bad;
}
