/* SPDX-License-Identifier: MIT */
/* tamis_formats.h: filters that other systems wrote, and filters for them to read. */
#ifndef TAMIS_FORMATS_H
#define TAMIS_FORMATS_H

#include "tamis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Other systems' filters ================================================================
 *
 * Filters that Guava, Parquet, Redis, Cassandra and others wrote can be queried, changed, kept as
 * images and written back, byte for byte. They become kinds of their own (ids from 1000), which
 * hash keys as their origin does; Parquet's are split with hash=xxh64. The origin's bytes do not
 * say how its keys became bytes: name the encoding when you query, and use tamis_encode.
 *
 * A format is given by name, as in "guava", or with parameters after it, as in a spec:
 * "parquet:column=name,group=0". Nothing is guessed from the bytes: a file that is not exactly in
 * the named format is refused. */

#define TAMIS_FORMAT_INFO_INIT TAMIS_INIT(struct tamis_format_info)

struct tamis_format_info {
    size_t struct_size;
    const char *name;
    const char *system;                /* which system, in a few words */
    const char *kinds;                 /* names of the kinds it holds, separated by spaces */
    const char *keys;                  /* usual encodings there, the most usual first */
    const char *limits;                /* what it cannot hold, or is not supported; NULL: nothing */
    const struct tamis_option *params; /* one without choices and range is a text */
    size_t param_count;
    bool can_write;   /* tamis_export */
    bool has_several; /* a file holds several filters: tamis_format_scan */
};

/* The number of formats in this library. Threads: any. */
TAMIS_API size_t tamis_format_count(void);

/* Describes the i-th format, or the one with that name; false when there is none. Threads: any. */
TAMIS_API bool tamis_format_at(size_t i, struct tamis_format_info *info);
TAMIS_API bool tamis_format_named(const char *name, struct tamis_format_info *info);

/* One of the filters in a file. The library makes it, and a later one may append fields. */
struct tamis_found {
    const char *name;      /* its place: "column name, row group 0" */
    const char *choose;    /* parameters that select it: "column=name,group=0"; "" for the only
                              one */
    const char *kind;      /* the kind that tamis_import would make */
    const char *keys;      /* the encoding of its keys, or NULL if the file does not say */
    uint64_t offset, size; /* its place in the file */
};

/* Receives one filter at a time; returning false stops. What `found` points to is gone
 * afterwards. */
typedef bool tamis_finder(void *ctx, const struct tamis_found *found);

/* Lists the filters in the bytes of a file. Threads: any. */
TAMIS_API tamis_status tamis_format_scan(const char *format, const void *bytes, size_t size,
                                         tamis_finder *each, void *ctx);

/* Reads exactly `size` bytes at `offset`; false when it cannot. */
typedef bool tamis_reader(void *ctx, uint64_t offset, void *bytes, size_t size);

/* The same for a file of `size` bytes that need not be in memory: of Parquet files and tables of
 * LevelDB and RocksDB it reads only what leads to a filter, of all others everything. TAMIS_IO when
 * the reader returned false. Threads: any. */
TAMIS_API tamis_status tamis_format_scan_from(const char *format, tamis_reader *read,
                                              void *read_ctx, uint64_t size, tamis_finder *each,
                                              void *ctx);

/* Makes a filter from what another system wrote, copied and checked in full. Its note "origin"
 * names the format. Where the bytes do not contain them, items is estimated from the bits, and
 * capacity is what the shape is best for. Every byte is read once, so the checks hold even if the
 * bytes change during the call. That takes temporary memory for a copy (of large files, of the
 * parts needed). Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_import(tamis **filter, const char *format,
                                                     const void *bytes, size_t size);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_import_with(tamis **filter, const char *format,
                                                          const void *bytes, size_t size,
                                                          const struct tamis_options *options);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_import_from(tamis **filter, const char *format,
                                                          tamis_reader *read, void *ctx,
                                                          uint64_t size,
                                                          const struct tamis_options *options);

/* Writes a filter as another system would. What came in by tamis_import and was not changed goes
 * out as the same bytes. TAMIS_UNSUPPORTED, with the reason, for kinds that the format does not
 * hold: without the keys no filter becomes one that hashes them otherwise. Threads: readers or one
 * writer. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_export(const tamis *filter, const char *format,
                                                     tamis_write_fn *put, void *ctx);

/* Encodes a text as the bytes of a key, as other systems do:
 *
 *     utf8, bytes        as it is; utf8 must be valid
 *     utf16, utf16be     from UTF-8; Guava's unencodedCharsFunnel has utf16
 *     int32, int64, uint32, uint64, float, double     in little-endian bytes: Guava, Parquet, Spark
 *     int32be, int64be, uint32be, ... doublebe        in big-endian ones: Cassandra, Java's buffers
 *     uuid               16 bytes, from 32 hex digits with dashes or without
 *     hex, base64        the bytes that they encode; both alphabets, with padding or without
 *
 * Blanks around numbers and digits are ignored. A number that is not an integer, or too large, is
 * refused; a decimal fraction becomes the nearest float or double, whatever the locale. `bytes` has
 * room for `room` bytes and does not overlap the text; twice the length of the text plus 16 is
 * enough. Returns the length of the key, or SIZE_MAX: then tamis_why() names the text and what is
 * allowed. Threads: any. */
TAMIS_API size_t tamis_encode(const char *encoding, const char *text, size_t len, void *bytes,
                              size_t room);

/* The name of the i-th encoding, or NULL when there are fewer. Threads: any. */
TAMIS_API const char *tamis_encoding_at(size_t i);

/* The size of the filter that a writer of Parquet files makes for `keys` distinct values, by its
 * own rule: "duckdb", "parquet-java", "arrow", "parquet-rs" or "hyparquet". The spec for such a
 * filter is "split:capacity=...,size=BYTES,hash=xxh64". 0, see tamis_why(), for an unknown writer,
 * an fpr that is not from 1e-12 to below 1, or a filter too large for a file. Threads: any. */
TAMIS_API uint64_t tamis_parquet_bytes(const char *writer, uint64_t keys, double fpr);

/* Filters of Bitcoin's blocks (bip158): the hash of the filter, and its header, which is chained to
 * that of the previous block (32 zero bytes for the first). Both in the byte order in which nodes
 * send them, the reverse of how they are displayed. TAMIS_UNSUPPORTED for other kinds. Threads:
 * readers or one writer. */
TAMIS_API tamis_status tamis_bip158_hash(const tamis *filter, uint8_t hash[32]);
TAMIS_API tamis_status tamis_bip158_header(const tamis *filter, const uint8_t previous[32],
                                           uint8_t header[32]);

#ifdef __cplusplus
}
#endif

#endif
