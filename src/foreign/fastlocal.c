/* SPDX-License-Identifier: MIT */
/* RocksDB's Bloom filter of one cache line per key. */
#include "foreign/fastlocal.h"

#include <math.h>
#include <stddef.h>

#include "bits/bits.h"

enum { LINE_BITS = 8 * TAMIS_INLINE_LINE };

/* ---- Rules ---------------------------------------------------------------------------------- */

/* The limit in thousandths for one probe, two, three ... */
unsigned tamis__fast_hashes(uint64_t millibits) {
    static const uint32_t up_to[] = {2080,  3580,  5100,  6640,  8300,  10070,
                                     11720, 14001, 16050, 18300, 22001, 25501};
    enum { STEPS = sizeof up_to / sizeof *up_to, MANY = 50000, MAX = 24 };
    for (unsigned k = 0; k < STEPS; k++)
        if (millibits <= up_to[k]) return k + 1;
    return millibits > MANY ? MAX : (unsigned)((millibits - 1) / 2000 - 1);
}

uint64_t tamis__fast_bytes(uint64_t keys, uint64_t millibits) {
    if (keys > 8 * (TAMIS_INLINE_MAX_BYTES / millibits) * 1000) return TAMIS_INLINE_MAX_BYTES;
    const uint64_t bytes = (keys * millibits + 7999) / 8000;
    const uint64_t lines = (bytes + TAMIS_INLINE_LINE - 1) / TAMIS_INLINE_LINE * TAMIS_INLINE_LINE;
    return lines < TAMIS_INLINE_MAX_BYTES ? lines : TAMIS_INLINE_MAX_BYTES;
}

static double rate_in_line(double bits_per_key, unsigned hashes) {
    return pow(1 - exp(-(double)hashes / bits_per_key), hashes);
}

double tamis__fast_rate(double bits_per_key, unsigned hashes) {
    const double keys = LINE_BITS / bits_per_key, spread = sqrt(keys);
    const double crowded = rate_in_line(LINE_BITS / (keys + spread), hashes);
    if (keys <= spread) return crowded / 2; /* the other line is empty */
    return (crowded + rate_in_line(LINE_BITS / (keys - spread), hashes)) / 2;
}

/* ---- Bits ----------------------------------------------------------------------------------- */

static size_t line_of(uint64_t size, uint64_t hash) {
    return (size_t)((uint32_t)hash * (size / TAMIS_INLINE_LINE) >> 32) * TAMIS_INLINE_LINE;
}

static unsigned next_bit(uint32_t *x) {
    const unsigned bit = *x >> 23;
    *x *= 0x9e3779b9;
    return bit;
}

bool tamis__fast_has(const uint8_t *lines, uint64_t size, unsigned hashes, uint64_t hash) {
    const uint8_t *line = lines + line_of(size, hash);
    uint32_t x = (uint32_t)(hash >> 32);
    for (unsigned i = 0; i < hashes; i++) {
        const unsigned bit = next_bit(&x);
        if (!(line[bit / 8] >> bit % 8 & 1)) return false;
    }
    return true;
}

void tamis__fast_add(uint8_t *lines, uint64_t size, unsigned hashes, uint64_t hash) {
    uint8_t *line = lines + line_of(size, hash);
    uint32_t x = (uint32_t)(hash >> 32);
    for (unsigned i = 0; i < hashes; i++) {
        const unsigned bit = next_bit(&x);
        line[bit / 8] |= (uint8_t)(1u << bit % 8);
    }
}

double tamis__fast_rate_now(const uint8_t *lines, uint64_t size, unsigned hashes, uint64_t *set) {
    double sum = 0;
    *set = 0;
    for (uint64_t at = 0; at < size; at += TAMIS_INLINE_LINE) {
        unsigned in_line = 0;
        for (int i = 0; i < TAMIS_INLINE_LINE; i += 8)
            in_line += tamis__popcount64(tamis__get64(lines + at + i));
        sum += pow((double)in_line / LINE_BITS, hashes);
        *set += in_line;
    }
    return sum / (double)(size / TAMIS_INLINE_LINE);
}
