/* SPDX-License-Identifier: MIT */
/* leveldb-table: the filters of a table file of LevelDB (.ldb, .sst).
 *
 * They are one block, named filter.leveldb.BuiltinBloomFilter2 in the metaindex: as a whole it is
 * of the kind leveldb-block, and filter=N reads one of it, as leveldb. A table is the file of a
 * database, and is not written. */
#include <stdio.h>

#include "foreign/leveldb.h"
#include "foreign/sstable.h"

enum { FILTER };

static const struct tamis_option params[] = {
    {"filter", NULL, 0, UINT32_MAX, "all of them", "one filter, by its number"},
};

tamis_status tamis__each_filter(const tamis_input *file, const tamis_filter_block *block,
                                tamis_finder *each, void *ctx) {
    for (uint64_t i = 0; i < block->count; i++) {
        const tamis_input one = tamis__filter_block_at(block, i);
        char name[96], choose[40];
        const unsigned long long from = (unsigned long long)i << block->lg;
        snprintf(name, sizeof name, "data blocks that begin at %llu to %llu", from,
                 from + (1ULL << block->lg) - 1);
        snprintf(choose, sizeof choose, "filter=%llu", (unsigned long long)i);
        const struct tamis_found found = {.name = name,
                                          .choose = choose,
                                          .kind = "leveldb",
                                          .offset = (uint64_t)(one.bytes - file->bytes),
                                          .size = one.size};
        if (one.size && !each(ctx, &found)) break;
    }
    return TAMIS_OK;
}

tamis_status tamis__filter_numbered(const char *format, const tamis_filter_block *block, uint64_t i,
                                    uint64_t system, tamis_import_result *out) {
    if (i >= block->count)
        return tamis__fail(TAMIS_INVALID, "%s: there is no filter=%llu: it has %llu, from 0",
                           format, (unsigned long long)i, (unsigned long long)block->count);
    const tamis_input one = tamis__filter_block_at(block, i);
    return tamis__leveldb_arrive(&one, system, out);
}

static tamis_status open_block(const tamis_input *in, tamis_filter_block *block) {
    tamis_table table;
    tamis_handle handle;
    tamis_input bytes;
    bool is_there;
    tamis_status rc = tamis__table_open("leveldb-table", in, false, &table);
    if (!rc)
        rc = tamis__table_find(&table, "filter.leveldb.BuiltinBloomFilter2", &handle, &is_there);
    if (rc) return rc;
    if (!is_there)
        return tamis__fail(TAMIS_NOT_FOUND,
                           "leveldb-table: it has no filter of leveldb.BuiltinBloomFilter2");
    rc = tamis__table_block(&table, handle, "filter block", &bytes);
    return rc ? rc : tamis__filter_block_open(bytes.bytes, bytes.size, block);
}

static tamis_status find(const tamis_input *in, const tamis_format_args *args, tamis_finder *each,
                         void *ctx) {
    tamis_filter_block block;
    const tamis_status rc = open_block(in, &block);
    (void)args;
    return rc ? rc : tamis__each_filter(in, &block, each, ctx);
}

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    tamis_filter_block block;
    const tamis_status rc = open_block(in, &block);
    if (rc) return rc;
    if (args->has[FILTER])
        return tamis__filter_numbered("leveldb-table", &block, args->number[FILTER], TAMIS_LEVELDB,
                                      out);
    const tamis_input whole = {block.bytes, block.size, NULL};
    return tamis__leveldb_block_arrive(&whole, TAMIS_LEVELDB, out);
}

const tamis_format tamis__format_leveldb_table = {
    .name = "leveldb-table",
    .system = "LevelDB table file",
    .kinds = "leveldb-block leveldb",
    .keys = "bytes utf8",
    .limits = "a table is the file of a database; its filters can be written as leveldb-block",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .has_magic = true,
    .brings = true,
    .find = find,
    .read = read,
};
