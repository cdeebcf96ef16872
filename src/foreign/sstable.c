/* SPDX-License-Identifier: MIT */
/* Tables of LevelDB and RocksDB: footer, metaindex, blocks. */
#include "foreign/sstable.h"

#include <string.h>

#include "base/sums.h"
#include "bits/bits.h"
#include "foreign/foreign_hashes.h"

enum { OLD_FOOTER = 48, NEW_FOOTER = 53, MAGIC = 8, EXTENDED_AT = 1, LAST_VERSION = 7 };
enum { NONE, CRC32C, XXH32, XXH64, XXH3, CHECKSUMS };

#define MAGIC_LEVELDB 0xdb4775248b80fb57
#define MAGIC_ROCKSDB 0x88e241b785f4cff7

/* ---- Numbers -------------------------------------------------------------------------------- */

bool tamis__take_varint(tamis_input *from, uint64_t *x) {
    *x = 0;
    for (unsigned shift = 0; from->size; shift += 7) {
        const uint8_t byte = *from->bytes;
        if (shift == 63 && byte > 1) return false;
        from->bytes++, from->size--;
        *x |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

bool tamis__take_handle(tamis_input *from, tamis_handle *handle) {
    return tamis__take_varint(from, &handle->offset) && tamis__take_varint(from, &handle->size);
}

/* ---- Checksums ------------------------------------------------------------------------------ */

static uint32_t hashed(tamis_hash_mode mode, const uint8_t *bytes, uint64_t size) {
    const tamis_hasher hasher = {.mode = mode};
    return (uint32_t)tamis__hash(&hasher, bytes, (size_t)size);
}

/* Of at least one byte. XXH3 handles the last one separately. */
static uint32_t checksum_of(unsigned type, const uint8_t *bytes, uint64_t size) {
    switch (type) {
    case CRC32C: return tamis__crc32c_masked(bytes, size);
    case XXH32: return tamis__xxh32(bytes, size);
    case XXH64: return hashed(TAMIS_HASH_XXH64, bytes, size);
    default: return hashed(TAMIS_HASH_XXH3, bytes, size - 1) ^ bytes[size - 1] * 0x6b9083d9u;
    }
}

static uint32_t context_at(const tamis_table *t, uint64_t offset) {
    return t->context ? t->context ^ ((uint32_t)offset + (uint32_t)(offset >> 32)) : 0;
}

/* ---- Footers -------------------------------------------------------------------------------- */

static tamis_status open_old(tamis_table *t, const uint8_t *handles) {
    tamis_input from = {handles, 40, NULL};
    tamis_handle index;
    if (tamis__take_handle(&from, &t->metaindex) && tamis__take_handle(&from, &index))
        return TAMIS_OK;
    return tamis__bad_format(t->format, "the footer has no offset of the metaindex");
}

static tamis_status open_extended(tamis_table *t, const uint8_t *footer) {
    static const uint8_t extended[] = {0x3e, 0x00, 0x7a, 0x00};
    uint8_t copy[NEW_FOOTER];
    const uint64_t at = t->in.size - NEW_FOOTER;
    if (memcmp(footer + EXTENDED_AT, extended, sizeof extended) != 0)
        return tamis__bad_format(t->format, "a footer of version %u has no 3e 00 7a 00",
                                 t->version);
    memcpy(copy, footer, sizeof copy);
    tamis__put32(copy + 5, 0);
    t->context = tamis__get32(footer + 9);
    t->metaindex.size = tamis__get32(footer + 13);
    if (t->context == 0) return tamis__bad_format(t->format, "the context of its checksums is 0");
    if (t->checksum != NONE &&
        !tamis__sums_match(
            tamis__get32(footer + 5),
            (uint32_t)(checksum_of(t->checksum, copy, sizeof copy) + context_at(t, at))))
        return tamis__bad_format(t->format, "the checksum of the footer is wrong");
    if (tamis__get64(footer + 33))
        return tamis__fail(TAMIS_UNSUPPORTED, "%s: the footer requires an unknown feature",
                           t->format);
    if (t->metaindex.size + TAMIS_TABLE_TRAILER > at)
        return tamis__bad_format(t->format,
                                 "a metaindex of %llu bytes does not fit before the footer",
                                 (unsigned long long)t->metaindex.size);
    t->metaindex.offset = at - TAMIS_TABLE_TRAILER - t->metaindex.size;
    return TAMIS_OK;
}

static tamis_status open_new(tamis_table *t) {
    if (t->in.size < NEW_FOOTER)
        return tamis__bad_format(t->format, "%llu bytes, a footer alone has %d",
                                 (unsigned long long)t->in.size, NEW_FOOTER);
    const uint8_t *footer = t->in.bytes + t->in.size - NEW_FOOTER;
    t->checksum = footer[0];
    t->version = tamis__get32(footer + 41);
    if (t->version == 0 || t->version > LAST_VERSION)
        return tamis__fail(TAMIS_UNSUPPORTED, "%s: versions 0 to %d can be read, not %u", t->format,
                           LAST_VERSION, t->version);
    if (t->checksum >= CHECKSUMS)
        return tamis__bad_format(t->format, "unknown checksum type %u", t->checksum);
    return t->version >= 6 ? open_extended(t, footer) : open_old(t, footer + 1);
}

tamis_status tamis__table_open(const char *format, const tamis_input *in, bool is_rocksdb,
                               tamis_table *t) {
    *t = (tamis_table){.format = format, .in = *in, .checksum = CRC32C};
    if (in->size < OLD_FOOTER)
        return tamis__bad_format(format, "%llu bytes, a footer alone has %d",
                                 (unsigned long long)in->size, OLD_FOOTER);
    const uint64_t footer = in->size < NEW_FOOTER ? OLD_FOOTER : NEW_FOOTER;
    const tamis_status rc = tamis__bring(in, in->size - footer, footer);
    if (rc) return rc;
    const uint64_t magic = tamis__get64(in->bytes + in->size - MAGIC);
    if (magic == MAGIC_LEVELDB) return open_old(t, in->bytes + in->size - OLD_FOOTER);
    if (magic == MAGIC_ROCKSDB && is_rocksdb) return open_new(t);
    if (magic == MAGIC_ROCKSDB)
        return tamis__bad_format(format, "it is a table of RocksDB: rocksdb-sst reads it");
    return tamis__bad_format(format, "the last 8 bytes are not the magic number of a table");
}

/* ---- Blocks --------------------------------------------------------------------------------- */

tamis_status tamis__table_block(const tamis_table *t, tamis_handle h, const char *what,
                                tamis_input *block) {
    const uint64_t size = t->in.size;
    if (h.offset > size || h.size > size - h.offset ||
        size - h.offset - h.size < TAMIS_TABLE_TRAILER)
        return tamis__bad_format(
            t->format, "the %s of %llu bytes at %llu is not inside its %llu bytes", what,
            (unsigned long long)h.size, (unsigned long long)h.offset, (unsigned long long)size);
    const tamis_status rc = tamis__bring(&t->in, h.offset, h.size + TAMIS_TABLE_TRAILER);
    if (rc) return rc;
    const uint8_t *bytes = t->in.bytes + h.offset;
    const uint32_t stored = tamis__get32(bytes + h.size + 1);
    if (t->checksum != NONE &&
        !tamis__sums_match(stored, (uint32_t)(checksum_of(t->checksum, bytes, h.size + 1) +
                                              context_at(t, h.offset))))
        return tamis__bad_format(t->format, "the checksum of the %s at %llu is wrong", what,
                                 (unsigned long long)h.offset);
    if (bytes[h.size])
        return tamis__fail(TAMIS_UNSUPPORTED,
                           "%s: the %s at %llu is compressed, by method %d, "
                           "which cannot be read",
                           t->format, what, (unsigned long long)h.offset, bytes[h.size]);
    *block = (tamis_input){bytes, h.size, NULL};
    return TAMIS_OK;
}

static tamis_status no_entries(const tamis_table *t) {
    return tamis__bad_format(t->format, "a block of entries has an invalid end");
}

tamis_status tamis__entries_open(const tamis_table *t, tamis_input block, bool is_bare,
                                 tamis_entries *e) {
    if (block.size < 4) return no_entries(t);
    const uint64_t restarts = tamis__get32(block.bytes + block.size - 4);
    if (restarts > (block.size - 4) / 4) return no_entries(t);
    *e = (tamis_entries){.table = t, .at = block.bytes, .is_bare = is_bare};
    e->end = block.bytes + (block.size - 4 - 4 * restarts);
    return TAMIS_OK;
}

tamis_status tamis__entries_next(tamis_entries *e, bool *is_there) {
    tamis_input left = {e->at, (uint64_t)(e->end - e->at), NULL};
    uint64_t own, value = 0;
    *is_there = left.size > 0;
    if (!*is_there) return TAMIS_OK;
    if (!tamis__take_varint(&left, &e->shared) || !tamis__take_varint(&left, &own) ||
        (!e->is_bare && !tamis__take_varint(&left, &value)) || own > left.size ||
        value > left.size - own || e->shared > e->key_len)
        return no_entries(e->table);
    for (uint64_t i = 0; i < own && e->shared + i < TAMIS_TABLE_KEY; i++)
        e->key[e->shared + i] = left.bytes[i];
    e->key_len = e->shared + own;
    e->value = (tamis_input){left.bytes + own, e->is_bare ? left.size - own : value, NULL};
    e->at = e->is_bare ? e->value.bytes : e->value.bytes + value;
    return TAMIS_OK;
}

tamis_status tamis__table_find(const tamis_table *t, const char *name, tamis_handle *handle,
                               bool *is_there) {
    tamis_input block;
    tamis_entries e;
    bool has_entry = true;
    *is_there = false;
    tamis_status rc = tamis__table_block(t, t->metaindex, "metaindex", &block);
    if (!rc) rc = tamis__entries_open(t, block, false, &e);
    while (!rc && !*is_there) {
        rc = tamis__entries_next(&e, &has_entry);
        if (rc || !has_entry) break;
        *is_there = e.key_len == strlen(name) && e.key_len <= TAMIS_TABLE_KEY &&
                    memcmp(e.key, name, (size_t)e.key_len) == 0;
        if (*is_there && !tamis__take_handle(&e.value, handle)) rc = no_entries(t);
    }
    return rc;
}
