/* SPDX-License-Identifier: MIT */
/* rocksdb-sst: the filters of a table file of RocksDB, format_version 0 to 7.
 *
 * The metaindex has them under one of three names, each followed by rocksdb.BuiltinBloomFilter:
 *
 *     fullfilter.         one filter for all keys, Bloom or Ribbon
 *     partitionedfilter.  a block of entries, one for each of several such filters
 *     filter.             in old versions: a filter block like LevelDB's
 *
 * From version 4 on an entry of the partitions whose key shares bytes with the one before only has
 * the difference in size of its filter, which follows the one before. A table is the file of a
 * database, and is not written. */
#include <stdio.h>

#include "foreign/leveldb.h"
#include "foreign/rocksdb.h"
#include "foreign/sstable.h"

enum { FILTER };
enum { FULL, PARTITIONED, OF_OLD, FORMS };
enum { DELTAS_FROM = 4 }; /* the version */

static const char *const names[FORMS] = {"fullfilter.rocksdb.BuiltinBloomFilter",
                                         "partitionedfilter.rocksdb.BuiltinBloomFilter",
                                         "filter.rocksdb.BuiltinBloomFilter"};

static const struct tamis_option params[] = {
    {"filter", NULL, 0, UINT32_MAX, "the only one", "one of several filters, by its number"},
};

typedef struct file {
    tamis_table table;
    int form;
    tamis_input block; /* that has the name */
} file;

static tamis_status open_file(const tamis_input *in, file *f) {
    tamis_handle handle;
    bool is_there = false;
    tamis_status rc = tamis__table_open("rocksdb-sst", in, true, &f->table);
    for (f->form = 0; !rc && f->form < FORMS; f->form++) {
        rc = tamis__table_find(&f->table, names[f->form], &handle, &is_there);
        if (rc || is_there) break;
    }
    if (rc) return rc;
    if (!is_there)
        return tamis__fail(TAMIS_NOT_FOUND,
                           "rocksdb-sst: it has no filter of rocksdb.BuiltinBloomFilter");
    return tamis__table_block(&f->table, handle, "filter", &f->block);
}

/* ---- Partitions ----------------------------------------------------------------------------- */

typedef struct partitions {
    tamis_entries entries;
    tamis_handle now;
} partitions;

static bool take_delta(tamis_input *from, tamis_handle *h) {
    uint64_t zigzag;
    if (!tamis__take_varint(from, &zigzag)) return false;
    h->offset += h->size + TAMIS_TABLE_TRAILER;
    h->size += zigzag >> 1 ^ (0 - (zigzag & 1)); /* the sign is the last bit */
    return true;
}

static tamis_status open_partitions(const file *f, partitions *p) {
    *p = (partitions){.now = {0, 0}};
    return tamis__entries_open(&f->table, f->block, f->table.version >= DELTAS_FROM, &p->entries);
}

static tamis_status next_partition(partitions *p, bool *is_there) {
    tamis_entries *e = &p->entries;
    const tamis_status rc = tamis__entries_next(e, is_there);
    if (rc || !*is_there) return rc;
    const bool is_delta = e->is_bare && e->shared;
    if (!(is_delta ? take_delta(&e->value, &p->now) : tamis__take_handle(&e->value, &p->now)))
        return tamis__bad_format("rocksdb-sst", "a partition does not say where its filter is");
    if (e->is_bare) e->at = e->value.bytes;
    return TAMIS_OK;
}

/* ---- Finding -------------------------------------------------------------------------------- */

static bool tell(const tamis_input *in, const char *name, const char *choose, tamis_input one,
                 tamis_finder *each, void *ctx) {
    const struct tamis_found found = {.name = name,
                                      .choose = choose,
                                      .kind = tamis__rocksdb_is_ribbon(&one) ? "rocksdb-ribbon"
                                                                             : "rocksdb",
                                      .offset = (uint64_t)(one.bytes - in->bytes),
                                      .size = one.size};
    return each(ctx, &found);
}

static tamis_status find_partitions(const tamis_input *in, const file *f, tamis_finder *each,
                                    void *ctx) {
    partitions p;
    bool is_there = true;
    tamis_status rc = open_partitions(f, &p);
    for (unsigned long long i = 0; !rc; i++) {
        char name[48], choose[40];
        tamis_input one;
        rc = next_partition(&p, &is_there);
        if (rc || !is_there) break;
        rc = tamis__table_block(&f->table, p.now, "partition", &one);
        snprintf(name, sizeof name, "partition %llu", i);
        snprintf(choose, sizeof choose, "filter=%llu", i);
        if (!rc && !tell(in, name, choose, one, each, ctx)) break;
    }
    return rc;
}

static tamis_status find(const tamis_input *in, const tamis_format_args *args, tamis_finder *each,
                         void *ctx) {
    tamis_filter_block block;
    file f;
    tamis_status rc = open_file(in, &f);
    (void)args;
    if (rc) return rc;
    if (f.form == PARTITIONED) return find_partitions(in, &f, each, ctx);
    if (f.form == FULL) {
        tell(in, "all keys of the table", "", f.block, each, ctx);
        return TAMIS_OK;
    }
    rc = tamis__filter_block_open(f.block.bytes, f.block.size, &block);
    return rc ? rc : tamis__each_filter(in, &block, each, ctx);
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* The partition of that number; without a number, the only one. */
static tamis_status read_partition(const file *f, const tamis_format_args *args,
                                   tamis_import_result *out) {
    const uint64_t wanted = args->has[FILTER] ? args->number[FILTER] : 0;
    partitions p;
    tamis_handle chosen = {0, 0};
    bool is_there = true;
    uint64_t count = 0;
    tamis_status rc = open_partitions(f, &p);
    while (!rc && (rc = next_partition(&p, &is_there)) == TAMIS_OK && is_there)
        if (count++ == wanted) chosen = p.now;
    if (rc) return rc;
    if (wanted >= count)
        return tamis__fail(TAMIS_INVALID,
                           "rocksdb-sst: there is no filter=%llu: it has %llu, from 0",
                           (unsigned long long)wanted, (unsigned long long)count);
    if (count > 1 && !args->has[FILTER])
        return tamis__fail(TAMIS_INVALID,
                           "rocksdb-sst: it has %llu filters: choose one with "
                           "filter=0 to filter=%llu",
                           (unsigned long long)count, (unsigned long long)count - 1);
    tamis_input one;
    rc = tamis__table_block(&f->table, chosen, "partition", &one);
    return rc ? rc : tamis__rocksdb_read(&one, args, out);
}

static tamis_status read_old(const file *f, const tamis_format_args *args,
                             tamis_import_result *out) {
    tamis_filter_block block;
    const tamis_status rc = tamis__filter_block_open(f->block.bytes, f->block.size, &block);
    if (rc) return rc;
    if (args->has[FILTER])
        return tamis__filter_numbered("rocksdb-sst", &block, args->number[FILTER],
                                      TAMIS_LEVELDB_OF_ROCKSDB, out);
    return tamis__leveldb_block_arrive(&f->block, TAMIS_LEVELDB_OF_ROCKSDB, out);
}

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    file f;
    const tamis_status rc = open_file(in, &f);
    if (rc) return rc;
    if (f.form == PARTITIONED) return read_partition(&f, args, out);
    if (f.form == OF_OLD) return read_old(&f, args, out);
    if (args->has[FILTER] && args->number[FILTER])
        return tamis__fail(TAMIS_INVALID,
                           "rocksdb-sst: it has one filter, filter=0, not filter=%llu",
                           (unsigned long long)args->number[FILTER]);
    return tamis__rocksdb_read(&f.block, args, out);
}

const tamis_format tamis__format_rocksdb_sst = {
    .name = "rocksdb-sst",
    .system = "RocksDB table file",
    .kinds = "rocksdb rocksdb-ribbon leveldb-block leveldb",
    .keys = "bytes utf8",
    .limits = "a table is the file of a database; its filters can be written as rocksdb",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .has_magic = true,
    .brings = true,
    .find = find,
    .read = read,
};
