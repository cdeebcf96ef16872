/* SPDX-License-Identifier: MIT */
/* For formats of LevelDB's and RocksDB's tables: what both share.
 *
 *     data blocks | filters | ... | metaindex | index | footer
 *
 * Every block is followed by 5 bytes: how it is compressed, and a checksum of both. The footer, at
 * the end of the file, has the offset of the metaindex, which lists the filters by name. Nothing
 * else of the file is read.
 *
 *     LevelDB, RocksDB version 0   handles 40 bytes | magic 8                             48 bytes
 *     RocksDB versions 1 to 5      checksum 1 | handles 40 bytes | version 4 | magic 8    53 bytes
 *     RocksDB versions 6 and 7     checksum 1 | 3e 00 7a 00 | checksum of the footer 4 | context 4
 *                                  | metaindex bytes 4 | zeros 24 | version 4 | magic 8   53 bytes
 *
 * A handle is an offset and a size, as varints. From version 6 on checksums depend on the offset of
 * a block and on the file, by the context. */
#ifndef TAMIS_FOREIGN_SSTABLE_H
#define TAMIS_FOREIGN_SSTABLE_H

#include "foreign/format.h"

enum { TAMIS_TABLE_TRAILER = 5 };

typedef struct tamis_handle {
    uint64_t offset, size;
} tamis_handle;

typedef struct tamis_table {
    const char *format; /* for messages */
    tamis_input in;
    uint32_t version;
    unsigned checksum; /* 0 to 4: none, crc32c, xxh32, xxh64, xxh3 */
    uint32_t context;
    tamis_handle metaindex;
} tamis_table;

/* Reads the footer; `is_rocksdb`: of any version, else LevelDB's. */
tamis_status tamis__table_open(const char *format, const tamis_input *, bool is_rocksdb,
                               tamis_table *);

/* The bytes of a block that is not compressed, its checksum compared. */
tamis_status tamis__table_block(const tamis_table *, tamis_handle, const char *what,
                                tamis_input *block);

/* The entries of a block, one after the other:
 *
 *     shared | own | value | own bytes of the key | bytes of the value | ... | restarts, 4 each |
 *     count 4
 *
 * The first three are varints: bytes of the key shared with the one before, bytes of its own, bytes
 * of the value. Where values are `bare` there is no size of the value: it ends by itself. */
enum { TAMIS_TABLE_KEY = 256 }; /* longer keys are truncated; none of them is searched for */

typedef struct tamis_entries {
    const tamis_table *table;
    const uint8_t *at, *end;
    bool is_bare;
    uint64_t shared;
    uint8_t key[TAMIS_TABLE_KEY];
    uint64_t key_len;
    tamis_input value; /* bare: all that follows; move `at` past what was read */
} tamis_entries;

tamis_status tamis__entries_open(const tamis_table *, tamis_input block, bool is_bare,
                                 tamis_entries *);

/* *is_there becomes false after the last. */
tamis_status tamis__entries_next(tamis_entries *, bool *is_there);

/* Searches the metaindex for a name; *is_there: its handle is in *handle. */
tamis_status tamis__table_find(const tamis_table *, const char *name, tamis_handle *handle,
                               bool *is_there);

/* Reads a number or a handle from the start of `from`; false: it is missing. */
bool tamis__take_varint(tamis_input *from, uint64_t *x);
bool tamis__take_handle(tamis_input *from, tamis_handle *);

#endif
