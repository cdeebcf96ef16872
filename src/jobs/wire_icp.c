/* SPDX-License-Identifier: MIT */
/* Summaries in messages of the Internet Cache Protocol: ICP_OP_DIRUPDATE, as in the paper.
 *
 *      0  opcode                   1 byte    20
 *      1  version                  1         2
 *      2  length                   2         of the whole message; big-endian like all of them
 *      4  request number           4         counts the messages; 0: they are not counted
 *      8  options                  4         0, or 0x08000000: an array follows, not records
 *     12  option data              4         0, or the first position of the array
 *     16  sender                   4         its IPv4 address
 *     20  Function_Num             2         k
 *     22  Function_Bits            2         bits of MD5 for each function
 *     24  BitArray_Size_InBits     4         positions
 *     28  Number_of_Updates        4         records, or words of the array
 *     32  records                  4 each    the top bit: what the bit is; the others: its position
 *
 * The header of 20 bytes is that of RFC 2186. The paper does not say how a whole array is sent;
 * here it is sent in words of 32 positions, the first in the lowest bit, under an option of our own
 * that others do not know and must ignore together with the message. */
#include <string.h>

#include "base/status.h"
#include "jobs/wire.h"

enum { OPCODE = 20, VERSION = 2, HEADER = 32, RECORD = 4, MAX_BYTES = 16384 };
enum { AT_LENGTH = 2, AT_NUMBER = 4, AT_OPTIONS = 8, AT_DATA = 12, AT_SENDER = 16 };
enum { AT_HASHES = 20, AT_FUNCTION_BITS = 22, AT_POSITIONS = 24, AT_COUNT = 28 };
enum { MAX_HASHES = 16, MIN_FUNCTION_BITS = 8, MAX_FUNCTION_BITS = 32 };
#define IS_ARRAY      UINT32_C(0x08000000)
#define IS_SET        UINT32_C(0x80000000)
#define MAX_POSITIONS ((uint64_t)1 << 31)

static uint32_t get(const uint8_t *p, unsigned n) {
    uint32_t x = 0;
    for (unsigned i = 0; i < n; i++) x = x << 8 | p[i];
    return x;
}

static void put(uint8_t *p, unsigned n, uint64_t x) {
    for (unsigned i = n; i-- > 0; x >>= 8) p[i] = (uint8_t)x;
}

/* ---- Reading -------------------------------------------------------------------------------- */

static bool begins(const uint8_t *bytes, size_t size) {
    return size > 0 && bytes[0] == OPCODE;
}

static size_t size_of(const uint8_t *bytes, size_t size) {
    return size < HEADER ? 0 : get(bytes + AT_LENGTH, 2);
}

static tamis_status shape_is_legal(const tamis_tidings *t) {
    if (t->hashes < 1 || t->hashes > MAX_HASHES)
        return tamis__fail(TAMIS_CORRUPT, "Function_Num is from 1 to %d, not %llu", MAX_HASHES,
                           (unsigned long long)t->hashes);
    if (t->function_bits < MIN_FUNCTION_BITS || t->function_bits > MAX_FUNCTION_BITS)
        return tamis__fail(TAMIS_CORRUPT, "Function_Bits is from %d to %d, not %llu",
                           MIN_FUNCTION_BITS, MAX_FUNCTION_BITS,
                           (unsigned long long)t->function_bits);
    const uint64_t reach = (uint64_t)1 << t->function_bits;
    const uint64_t max = reach < MAX_POSITIONS ? reach : MAX_POSITIONS;
    if (t->positions < 1 || t->positions > max)
        return tamis__fail(TAMIS_CORRUPT,
                           "BitArray_Size_InBits is from 1 to %llu with %llu Function_Bits, not "
                           "%llu",
                           (unsigned long long)max, (unsigned long long)t->function_bits,
                           (unsigned long long)t->positions);
    return TAMIS_OK;
}

static tamis_status records_are_legal(const tamis_tidings *t) {
    for (uint32_t i = 0; i < t->count; i++) {
        const uint32_t position = get(t->body + (size_t)i * RECORD, RECORD) & ~IS_SET;
        if (position >= t->positions)
            return tamis__fail(
                TAMIS_CORRUPT, "record %lu is about bit %lu of %llu (allowed: 0 to %llu)",
                (unsigned long)i, (unsigned long)position, (unsigned long long)t->positions,
                (unsigned long long)t->positions - 1);
    }
    return TAMIS_OK;
}

static tamis_status header_is_legal(const uint8_t *bytes, size_t size, uint32_t options) {
    if (bytes[1] != VERSION)
        return tamis__fail(TAMIS_CORRUPT, "the version of ICP is %d here, not %d", VERSION,
                           bytes[1]);
    if (options & ~IS_ARRAY)
        return tamis__fail(TAMIS_CORRUPT, "the options of ICP are 0 or %lx here, not %lx",
                           (unsigned long)IS_ARRAY, (unsigned long)options);
    if ((size - HEADER) % RECORD || get(bytes + AT_COUNT, 4) != (size - HEADER) / RECORD)
        return tamis__fail(
            TAMIS_CORRUPT, "Number_of_Updates is %lu, and %llu bytes follow, 4 for each",
            (unsigned long)get(bytes + AT_COUNT, 4), (unsigned long long)(size - HEADER));
    return TAMIS_OK;
}

static tamis_status read(const uint8_t *bytes, size_t size, tamis_tidings *t) {
    const uint32_t options = get(bytes + AT_OPTIONS, 4);
    tamis_status rc = header_is_legal(bytes, size, options);
    if (rc) return rc;
    *t = (tamis_tidings){.positions = get(bytes + AT_POSITIONS, 4),
                         .hashes = get(bytes + AT_HASHES, 2),
                         .function_bits = get(bytes + AT_FUNCTION_BITS, 2),
                         .hash = TAMIS_HASH_OWN,
                         .sender = get(bytes + AT_SENDER, 4),
                         .sequence = get(bytes + AT_NUMBER, 4),
                         .is_array = options == IS_ARRAY,
                         .first = get(bytes + AT_DATA, 4),
                         .count = get(bytes + AT_COUNT, 4),
                         .body = bytes + HEADER,
                         .body_size = size - HEADER};
    rc = shape_is_legal(t);
    if (rc) return rc;
    return t->is_array ? tamis__array_is_legal(&tamis__wire_icp, t) : records_are_legal(t);
}

static bool get_record(const tamis_tidings *t, size_t *at, uint64_t *next, uint64_t *position,
                       bool *is_set) {
    const uint32_t record = get(t->body + *at, RECORD);
    *position = record & ~IS_SET;
    *is_set = record & IS_SET;
    *at += RECORD;
    *next = *position + 1;
    return true;
}

static uint32_t get_group(const uint8_t *p) {
    return get(p, TAMIS_GROUP_BYTES);
}

/* ---- Writing -------------------------------------------------------------------------------- */

static size_t start(uint8_t *bytes, const tamis_tidings *t) {
    memset(bytes, 0, HEADER);
    bytes[0] = OPCODE;
    bytes[1] = VERSION;
    put(bytes + AT_NUMBER, 4, t->sequence);
    put(bytes + AT_OPTIONS, 4, t->is_array ? IS_ARRAY : 0);
    put(bytes + AT_DATA, 4, t->first);
    put(bytes + AT_SENDER, 4, t->sender);
    put(bytes + AT_HASHES, 2, t->hashes);
    put(bytes + AT_FUNCTION_BITS, 2, t->function_bits);
    put(bytes + AT_POSITIONS, 4, t->positions);
    return HEADER;
}

static size_t put_record(uint8_t *p, uint64_t next, uint64_t position, bool is_set) {
    (void)next;
    put(p, RECORD, position | (is_set ? IS_SET : 0));
    return RECORD;
}

static void put_group(uint8_t *p, uint32_t bits) {
    put(p, TAMIS_GROUP_BYTES, bits);
}

static void finish(uint8_t *bytes, size_t size, uint32_t count) {
    put(bytes + AT_LENGTH, 2, size);
    put(bytes + AT_COUNT, 4, count);
}

const tamis_wire tamis__wire_icp = {
    .kind = "icp",
    .kind_of_copy = "icp",
    .min_bytes = HEADER,
    .max_bytes = MAX_BYTES,
    .end_bytes = 0,
    .begins = begins,
    .size = size_of,
    .read = read,
    .get = get_record,
    .get_group = get_group,
    .start = start,
    .put = put_record,
    .put_group = put_group,
    .finish = finish,
};
