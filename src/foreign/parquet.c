/* SPDX-License-Identifier: MIT */
/* parquet-bitset, parquet-filter: the split-block filters of Parquet files, on their own.
 *
 *     header   a few bytes   Thrift: the size of the bitset, and that it is split-block, of XXH64,
 *                            not compressed                                   (parquet-filter)
 *     bitset   32 z bytes    z blocks, as the kind split has them             (both)
 *
 * Our kind split with hash=xxh64, seed 0 and index=parquet has exactly these bytes as its payload,
 * so importing and exporting copy. A key is the value in Parquet's plain encoding, without a length
 * prefix.
 *
 * The header has one usual form, which all known writers write, and we too. Other orders of its
 * fields and fields of later versions are read. */
#include "foreign/parquet.h"

#include <math.h>

#include "foreign/thrift.h"

enum { BLOCKS, INDEX }; /* words of split */
enum { PARQUET };       /* of its index rules, the one of the format */
enum { PROBES = 8 };    /* of split, for every key */
#define MAX_FILTER_BYTES ((uint64_t)INT32_MAX / TAMIS_PARQUET_BLOCK * TAMIS_PARQUET_BLOCK)

/* ---- The header ----------------------------------------------------------------------------- */

/* A union whose members are empty structs: the id of the one that is set; 0 when none or several
 * are. */
static int32_t member(tamis_thrift *t) {
    int32_t id = 0, count = 0;
    for (tamis_field field = {0, 0}; tamis__thrift_next(t, &field); count++) {
        id = field.type == TAMIS_THRIFT_STRUCT ? field.id : 0;
        tamis__thrift_skip(t, field.type);
    }
    return count == 1 ? id : 0;
}

typedef struct header {
    int64_t bytes;
    int32_t algorithm, hash, compression;
} header;

static header parse(tamis_thrift *t) {
    header h = {0, 0, 0, 0};
    for (tamis_field field = {0, 0}; tamis__thrift_next(t, &field);) switch (tamis__field(field)) {
        case TAMIS_FIELD(1, I32): h.bytes = tamis__thrift_number(t, field.type); break;
        case TAMIS_FIELD(2, STRUCT): h.algorithm = member(t); break;
        case TAMIS_FIELD(3, STRUCT): h.hash = member(t); break;
        case TAMIS_FIELD(4, STRUCT): h.compression = member(t); break;
        default: tamis__thrift_skip(t, field.type);
        }
    return h;
}

static tamis_status check(const char *format, const header *h) {
    if (h->algorithm != 1)
        return tamis__bad_format(format, "the filter's algorithm is not split-block");
    if (h->hash != 1) return tamis__bad_format(format, "the filter's hash is not XXH64");
    if (h->compression != 1)
        return tamis__bad_format(format, "the filter is not marked as uncompressed");
    if (h->bytes > 0 && h->bytes % TAMIS_PARQUET_BLOCK == 0) return TAMIS_OK;
    return tamis__bad_format(format, "a bitset has a multiple of 32 bytes, at least 32, not %lld",
                             (long long)h->bytes);
}

tamis_status tamis__parquet_header(const char *format, const tamis_input *in, uint64_t *header_size,
                                   uint64_t *bitset) {
    const uint64_t max = in->size < TAMIS_PARQUET_MAX_HEADER ? in->size : TAMIS_PARQUET_MAX_HEADER;
    tamis_thrift t = {in->bytes, in->bytes + max, NULL};
    const header h = parse(&t);
    if (t.wrong) return tamis__bad_format(format, "in the filter's header %s", t.wrong);
    const tamis_status rc = check(format, &h);
    if (rc) return rc;
    *header_size = (uint64_t)(t.at - in->bytes);
    *bitset = (uint64_t)h.bytes;
    if (*bitset <= in->size - *header_size) return TAMIS_OK;
    return tamis__bad_format(format, "the header says %llu bytes of bitset, but there are %llu",
                             (unsigned long long)*bitset,
                             (unsigned long long)(in->size - *header_size));
}

/* The usual header, up to 19 bytes. */
static uint64_t make_header(uint64_t bitset, uint8_t *to) {
    static const uint8_t unions[] = {0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0};
    uint64_t at = 0;
    to[at++] = 1 << 4 | TAMIS_THRIFT_I32;
    for (bitset *= 2; bitset > 0x7f; bitset >>= 7) to[at++] = (uint8_t)(bitset | 0x80);
    to[at++] = (uint8_t)bitset;
    for (uint64_t i = 0; i < sizeof unions; i++) to[at++] = unions[i];
    return at;
}

/* ---- Reading and writing -------------------------------------------------------------------- */

tamis_import_result tamis__parquet_arrival(const uint8_t *bitset, uint64_t size) {
    return (tamis_import_result){.kind = "split",
                                 .word = {size / TAMIS_PARQUET_BLOCK, PARQUET},
                                 .hash = TAMIS_HASH_XXH64,
                                 .capacity = (uint64_t)((double)size * 8 * log(2) / PROBES + 0.5),
                                 .payload = {bitset, size, NULL}};
}

static tamis_status read_bitset(const tamis_input *in, const tamis_format_args *args,
                                tamis_import_result *out) {
    (void)args;
    if (in->size == 0 || in->size % TAMIS_PARQUET_BLOCK)
        return tamis__bad_format("parquet-bitset",
                                 "a bitset has a multiple of 32 bytes, at least 32, not %llu",
                                 (unsigned long long)in->size);
    *out = tamis__parquet_arrival(in->bytes, in->size);
    return TAMIS_OK;
}

static tamis_status read_filter(const tamis_input *in, const tamis_format_args *args,
                                tamis_import_result *out) {
    uint64_t before, bitset;
    (void)args;
    if (in->size == 0) return tamis__bad_format("parquet-filter", "there are none");
    const tamis_status rc = tamis__parquet_header("parquet-filter", in, &before, &bitset);
    if (rc) return rc;
    if (before + bitset != in->size)
        return tamis__bad_format("parquet-filter", "%llu bytes follow the bitset",
                                 (unsigned long long)(in->size - before - bitset));
    *out = tamis__parquet_arrival(in->bytes + before, bitset);
    return TAMIS_OK;
}

/* Parquet has one hash, one seed and one rule: other filters must be rebuilt from the keys. */
static tamis_status may_leave(const tamis_export_source *out) {
    if (out->hash != TAMIS_HASH_XXH64)
        return tamis__fail(TAMIS_UNSUPPORTED,
                           "Parquet's filters hash with xxh64, this one with %s: it can be made "
                           "again from its keys, with hash=xxh64",
                           tamis__hash_name(out->hash));
    if (out->seed)
        return tamis__fail(TAMIS_UNSUPPORTED,
                           "Parquet's filters hash with seed 0, this one with %llu: it can be made "
                           "again from its keys, without a seed",
                           (unsigned long long)out->seed);
    if (out->body->word[INDEX] != PARQUET)
        return tamis__fail(TAMIS_UNSUPPORTED,
                           "Parquet's filters have index=parquet, this one has index=wide: it can "
                           "be made again from its keys, with index=parquet");
    return TAMIS_OK;
}

static tamis_status write_bitset(const tamis_export_source *out, const tamis_format_args *args) {
    (void)args;
    const tamis_status rc = may_leave(out);
    return rc ? rc : tamis__export_write(out, out->body->bytes, out->body->size);
}

static tamis_status write_filter(const tamis_export_source *out, const tamis_format_args *args) {
    uint8_t bytes[32];
    (void)args;
    tamis_status rc = may_leave(out);
    if (rc) return rc;
    if (out->body->size > MAX_FILTER_BYTES)
        return tamis__fail(TAMIS_UNSUPPORTED,
                           "a Parquet header allows at most %llu bytes, but this filter has %llu",
                           (unsigned long long)MAX_FILTER_BYTES,
                           (unsigned long long)out->body->size);
    rc = tamis__export_write(out, bytes, make_header(out->body->size, bytes));
    return rc ? rc : tamis__export_write(out, out->body->bytes, out->body->size);
}

#define KEYS "bytes utf8 int32 int64 float double"

const tamis_format tamis__format_parquet_bitset = {
    .name = "parquet-bitset",
    .system = "Parquet split-block filter, the bare bitset",
    .kinds = "split",
    .keys = KEYS,
    .limits = "hash=xxh64, seed 0, index=parquet; some readers want a power of two of bytes",
    .read = read_bitset,
    .write = write_bitset,
};

const tamis_format tamis__format_parquet_filter = {
    .name = "parquet-filter",
    .system = "Parquet split-block filter, header and bitset",
    .kinds = "split",
    .keys = KEYS,
    .limits = "hash=xxh64, seed 0, index=parquet; below 2 GiB; the usual header is written",
    .read = read_filter,
    .write = write_filter,
};
