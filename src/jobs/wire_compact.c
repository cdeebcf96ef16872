/* SPDX-License-Identifier: MIT */
/* Summaries in our own form, half as large as that of ICP and with a checksum.
 *
 *      0  d3 53 43 01     4 bytes
 *      4  length          2         of the whole message; little-endian like all of them
 *      6  what            1         0: changes, 1: an array
 *      7  hash            1         as in images: 1 XXH3, 2 XXH64
 *      8  sequence        4         counts the messages from 1; 0 follows on 2^32-1 by 1
 *     12  count           4         records, or words of the array
 *     16  hashes          1         k
 *     17  seed            varint    of the hash
 *         positions       varint
 *         first           varint    0, or the first position of the array, a multiple of 32
 *         body                      records, or words of 32 positions, the first in the lowest bit
 *         checksum        4         the low half of XXH3-64 of all before it
 *
 * A varint has 7 bits in a byte, the lowest first, and the top bit in all but the last; it has no
 * byte more than it needs. A record is a varint too: twice the number of bits skipped since the one
 * before, plus 1 when the bit is set now. So positions rise, and each comes once. */
#include <string.h>

#include "base/status.h"
#include "base/sums.h"
#include "bits/bits.h"
#include "jobs/frames.h"
#include "jobs/wire.h"

enum { AT_LENGTH = 4, AT_WHAT = 6, AT_HASH = 7, AT_SEQUENCE = 8, AT_COUNT = 12, AT_HASHES = 16 };
enum { HEADER = 17, END = 4, MIN_BYTES = HEADER + 3 + END, MAX_BYTES = 65507 };
enum { CHANGES, ARRAY };
enum { MAX_HASHES = 64 };
#define MAX_POSITIONS ((uint64_t)1 << 48)

static const uint8_t magic[] = {0xd3, 0x53, 0x43, 0x01};

/* ---- Reading -------------------------------------------------------------------------------- */

static bool begins(const uint8_t *bytes, size_t size) {
    return size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

static size_t size_of(const uint8_t *bytes, size_t size) {
    return size < MIN_BYTES ? 0 : tamis__get16(bytes + AT_LENGTH);
}

static uint32_t sum_of(const uint8_t *bytes, size_t size) {
    return (uint32_t)tamis__checksum(bytes, size, NULL, 0);
}

static tamis_status shape_is_legal(const tamis_tidings *t) {
    if (t->hash != TAMIS_HASH_XXH3 && t->hash != TAMIS_HASH_XXH64)
        return tamis__fail(TAMIS_CORRUPT, "the hash of a summary is 1 or 2, not %d", (int)t->hash);
    if (t->hashes < 1 || t->hashes > MAX_HASHES)
        return tamis__fail(TAMIS_CORRUPT, "a summary has 1 to %d hashes, not %llu", MAX_HASHES,
                           (unsigned long long)t->hashes);
    if (t->positions < 1 || t->positions > MAX_POSITIONS)
        return tamis__fail(TAMIS_CORRUPT, "a summary has 1 to 2^48 bits, not %llu",
                           (unsigned long long)t->positions);
    if (t->first && !t->is_array)
        return tamis__fail(TAMIS_CORRUPT, "changes start at bit 0, not at %llu",
                           (unsigned long long)t->first);
    return TAMIS_OK;
}

static bool get_record(const tamis_tidings *t, size_t *at, uint64_t *next, uint64_t *position,
                       bool *is_set) {
    uint64_t record;
    const size_t n = tamis__varint_get(t->body + *at, t->body_size - *at, &record);
    if (n == 0 || *next >= t->positions || record / 2 >= t->positions - *next) return false;
    *position = *next + record / 2;
    *is_set = record & 1;
    *next = *position + 1;
    *at += n;
    return true;
}

static tamis_status records_are_legal(const tamis_tidings *t) {
    uint64_t next = 0, position;
    size_t at = 0;
    bool is_set;
    for (uint32_t i = 0; i < t->count; i++)
        if (!get_record(t, &at, &next, &position, &is_set))
            return tamis__fail(
                TAMIS_CORRUPT, "record %lu of %lu is invalid or past the last of %llu bits",
                (unsigned long)i, (unsigned long)t->count, (unsigned long long)t->positions);
    if (at == t->body_size) return TAMIS_OK;
    return tamis__fail(TAMIS_CORRUPT, "%lu records have %llu bytes, not %llu",
                       (unsigned long)t->count, (unsigned long long)at,
                       (unsigned long long)t->body_size);
}

/* The three varints; false when one is invalid. */
static bool read_numbers(const uint8_t *bytes, size_t end, tamis_tidings *t) {
    uint64_t *const number[] = {&t->seed, &t->positions, &t->first};
    size_t at = HEADER;
    for (int i = 0; i < 3; i++) {
        const size_t n = tamis__varint_get(bytes + at, end - at, number[i]);
        if (n == 0) return false;
        at += n;
    }
    t->body = bytes + at;
    t->body_size = end - at;
    return true;
}

static tamis_status read(const uint8_t *bytes, size_t size, tamis_tidings *t) {
    const size_t end = size - END;
    if (!tamis__sums_match(tamis__get32(bytes + end), sum_of(bytes, end)))
        return tamis__fail(TAMIS_CORRUPT, "the checksum of the message is wrong");
    if (bytes[AT_WHAT] > ARRAY)
        return tamis__fail(TAMIS_CORRUPT, "a message has changes (0) or an array (1), not %d",
                           bytes[AT_WHAT]);
    *t = (tamis_tidings){.hashes = bytes[AT_HASHES],
                         .hash = (tamis_hash_mode)bytes[AT_HASH],
                         .sequence = tamis__get32(bytes + AT_SEQUENCE),
                         .is_array = bytes[AT_WHAT] == ARRAY,
                         .count = tamis__get32(bytes + AT_COUNT)};
    if (!read_numbers(bytes, end, t))
        return tamis__fail(TAMIS_CORRUPT, "seed, bits or first bit of the message is invalid");
    const tamis_status rc = shape_is_legal(t);
    if (rc) return rc;
    return t->is_array ? tamis__array_is_legal(&tamis__wire_compact, t) : records_are_legal(t);
}

/* ---- Writing -------------------------------------------------------------------------------- */

static size_t start(uint8_t *bytes, const tamis_tidings *t) {
    size_t at = HEADER;
    memcpy(bytes, magic, sizeof magic);
    bytes[AT_WHAT] = t->is_array ? ARRAY : CHANGES;
    bytes[AT_HASH] = (uint8_t)t->hash;
    tamis__put32(bytes + AT_SEQUENCE, t->sequence);
    bytes[AT_HASHES] = (uint8_t)t->hashes;
    at += tamis__varint_put(bytes + at, t->seed);
    at += tamis__varint_put(bytes + at, t->positions);
    return at + tamis__varint_put(bytes + at, t->first);
}

static size_t put_record(uint8_t *p, uint64_t next, uint64_t position, bool is_set) {
    return tamis__varint_put(p, (position - next) << 1 | is_set);
}

static void finish(uint8_t *bytes, size_t size, uint32_t count) {
    tamis__put16(bytes + AT_LENGTH, (uint16_t)size);
    tamis__put32(bytes + AT_COUNT, count);
    tamis__put32(bytes + size - END, sum_of(bytes, size - END));
}

const tamis_wire tamis__wire_compact = {
    .kind = "counting",
    .kind_of_copy = "classic",
    .min_bytes = MIN_BYTES,
    .max_bytes = MAX_BYTES,
    .end_bytes = END,
    .begins = begins,
    .size = size_of,
    .read = read,
    .get = get_record,
    .get_group = tamis__get32,
    .start = start,
    .put = put_record,
    .put_group = tamis__put32,
    .finish = finish,
};
