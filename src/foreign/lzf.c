/* SPDX-License-Identifier: MIT */
/* LZF: earlier bytes again, from up to 8 KiB back. */
#include "foreign/lzf.h"

#include <string.h>

enum { LITERALS = 32, BACK = 1 << 13, LONGEST = (1 << 8) + (1 << 3), SHORT = 7 };

/* ---- Decompressing -------------------------------------------------------------------------- */

/* One part of a stream: literals, when `back` is 0, or bytes from that distance. */
typedef struct part {
    uint64_t length, back, size; /* size: of its own bytes, before the literals */
} part;

static bool next_part(const uint8_t *p, uint64_t left, part *out) {
    const unsigned n = p[0] >> 5;
    if (n == 0) {
        *out = (part){.length = (uint64_t)p[0] + 1, .size = 1};
        return left > out->length;
    }
    *out = (part){.size = n == SHORT ? 3 : 2};
    if (left < out->size) return false;
    out->length = (uint64_t)n + 2 + (n == SHORT ? p[1] : 0);
    out->back = (((uint64_t)p[0] & 31) << 8 | p[out->size - 1]) + 1;
    return true;
}

bool tamis__lzf_length(const uint8_t *packed, uint64_t size, uint64_t *length) {
    *length = 0;
    for (uint64_t at = 0; at < size;) {
        part now = {0};
        if (!next_part(packed + at, size - at, &now) || now.back > *length) return false;
        at += now.size + (now.back ? 0 : now.length);
        *length += now.length;
    }
    return true;
}

void tamis__lzf_unpack(const uint8_t *packed, uint64_t size, uint8_t *to) {
    for (uint64_t at = 0; at < size;) {
        part now = {0};
        next_part(packed + at, size - at, &now);
        at += now.size;
        if (now.back) /* may run into what it writes, so byte by byte */
            for (uint64_t i = 0; i < now.length; i++) to[i] = (to - now.back)[i];
        else
            memcpy(to, packed + at, (size_t)now.length), at += now.length;
        to += now.length;
    }
}

/* ---- Compressing ---------------------------------------------------------------------------- */

/* Where three bytes were seen last; 0 is nowhere, so the very start is never found again. */
static uint64_t *place_of(uint64_t *seen, const uint8_t *p) {
    const uint32_t three = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
    return &seen[((three >> 8) - 5 * three) & (TAMIS_LZF_SEEN - 1)];
}

/* The number of equal bytes, at least three. Redis compares sixteen more at once where it can,
 * which goes past `max`, but not past the end: two bytes always follow it. */
static uint64_t same_bytes(const uint8_t *old, const uint8_t *now, uint64_t left) {
    const uint64_t max = left - 2 < LONGEST ? left - 2 : LONGEST;
    uint64_t n = 2;
    for (int i = 0; i < 16 && max > 16; i++) {
        n++;
        if (old[n] != now[n]) return n;
    }
    do n++;
    while (n < max && old[n] == now[n]);
    return n;
}

/* The output: `at` is where the next byte goes; one byte for the number of literals is reserved
 * before the first of them. */
typedef struct output {
    uint8_t *to;
    uint64_t at, room, literals;
} output;

static void put(output *o, uint64_t at, uint64_t byte) {
    if (o->to) o->to[at] = (uint8_t)byte;
}

/* Literals end; the byte for their number is released when there were none. */
static void end_literals(output *o) {
    if (o->literals)
        put(o, o->at - o->literals - 1, o->literals - 1);
    else
        o->at--;
    o->literals = 0;
}

static void put_literal(output *o, uint8_t byte) {
    put(o, o->at++, byte);
    if (++o->literals < LITERALS) return;
    end_literals(o);
    o->at++;
}

static void put_again(output *o, uint64_t length, uint64_t back) {
    const uint64_t n = length - 2, d = back - 1;
    end_literals(o);
    put(o, o->at++, d >> 8 | (n < SHORT ? n : SHORT) << 5);
    if (n >= SHORT) put(o, o->at++, n - SHORT);
    put(o, o->at++, d);
    o->at++;
}

/* The earlier position of the three bytes at `at`, or 0. */
static uint64_t find(const uint8_t *from, uint64_t at, uint64_t *seen) {
    uint64_t *place = place_of(seen, from + at);
    const uint64_t old = *place;
    *place = at;
    return old && at - old <= BACK && memcmp(from + old, from + at, 3) == 0 ? old : 0;
}

uint64_t tamis__lzf_pack(const uint8_t *from, uint64_t n, uint64_t seen[TAMIS_LZF_SEEN],
                         uint8_t *to, uint64_t room) {
    output o = {.to = to, .at = 1, .room = room};
    uint64_t at = 0;
    memset(seen, 0, TAMIS_LZF_SEEN * sizeof *seen);
    while (at + 2 < n) {
        const uint64_t old = find(from, at, seen);
        if (!old) {
            if (o.at >= room) return 0;
            put_literal(&o, from[at++]);
            continue;
        }
        if (o.at - !o.literals + 4 >= room) return 0;
        const uint64_t length = same_bytes(from + old, from + at, n - at);
        put_again(&o, length, at - old);
        at += length;
        if (at + 2 >= n) break;
        *place_of(seen, from + at - 2) = at - 2; /* of skipped bytes, only the last two */
        *place_of(seen, from + at - 1) = at - 1;
    }
    if (o.at + 3 > room) return 0;
    while (at < n) put_literal(&o, from[at++]);
    end_literals(&o);
    return o.at;
}
