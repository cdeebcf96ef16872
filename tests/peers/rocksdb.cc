/* SPDX-License-Identifier: MIT */
/* The other side of rocksdb.sh: RocksDB itself, as lines that peer.c describes.
 *
 *     rocksdb write < WISHES > CASES        filters made by RocksDB, with its answers
 *     rocksdb read < CASES                  are our bytes and answers those of RocksDB?
 *     rocksdb answer < CASES > CASES        what RocksDB answers from these bytes
 *     rocksdb tables FILE < WISHES > CASES  table files, with the answers of their filters
 *     rocksdb parts FILE < WISHES > CASES   table files with filters in partitions, and their keys
 *
 * What builds and reads a filter has no public header: the classes here have the same first
 * functions as those of version 7.8. */
#include <rocksdb/filter_policy.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>

#include "kv_cases.h"

#if ROCKSDB_MAJOR != 7 || ROCKSDB_MINOR != 8
#error "the classes below are those of version 7.8"
#endif

namespace ROCKSDB_NAMESPACE {
class FilterBitsBuilder {
  public:
    virtual ~FilterBitsBuilder() {
    }
    virtual void AddKey(const Slice &) = 0;
    virtual size_t EstimateEntriesAdded() = 0;
    virtual Slice Finish(std::unique_ptr<const char[]> *) = 0;
};
class FilterBitsReader {
  public:
    virtual ~FilterBitsReader() {
    }
    virtual bool MayMatch(const Slice &) = 0;
};
} // namespace ROCKSDB_NAMESPACE
using namespace ROCKSDB_NAMESPACE;

struct params {
    double bits_per_key;
    bool is_legacy;
    unsigned long seed;
};

static params params_of(const trial &t) {
    char rule[16];
    unsigned millibits;
    params w;
    if (std::sscanf(t.how.c_str(), "%u %15s %lu", &millibits, rule, &w.seed) != 3) stop(t, "how?");
    w.bits_per_key = millibits / 1000.0;
    w.is_legacy = std::strcmp(rule, "legacy") == 0;
    return w;
}

static std::string made(const trial &t, const FilterPolicy &policy, uint32_t version) {
    BlockBasedTableOptions o;
    o.format_version = version;
    const std::unique_ptr<FilterBitsBuilder> builder(
        policy.GetBuilderWithContext(FilterBuildingContext(o)));
    std::unique_ptr<const char[]> owner;
    for (const std::string &key : t.added) builder->AddKey(key);
    return builder->Finish(&owner).ToString();
}

static std::string made(const trial &t) {
    const params w = params_of(t);
    const std::unique_ptr<const FilterPolicy> policy(NewBloomFilterPolicy(w.bits_per_key));
    return made(t, *policy, w.is_legacy ? 4 : 5);
}

static void answer(trial &t, const std::string &filter) {
    const std::unique_ptr<const FilterPolicy> policy(NewBloomFilterPolicy(10));
    const std::unique_ptr<FilterBitsReader> reader(policy->GetFilterBitsReader(filter));
    for (size_t i = 0; i < t.asked.size(); i++) t.answer[i] = reader->MayMatch(t.asked[i]);
}

static int write_all(bool is_made) {
    for (trial t; read_trial(t);) {
        if (is_made) t.bytes = made(t);
        answer(t, t.bytes);
        print_trial(t);
    }
    return 0;
}

static int read_all() {
    size_t filters = 0, answers = 0;
    for (trial t; read_trial(t); filters++, answers += t.asked.size()) {
        const std::vector<bool> ours = t.answer;
        answer(t, t.bytes);
        if (ours != t.answer) stop(t, "other answers");
        if (made(t) != t.bytes) stop(t, "made anew it has other bytes");
    }
    std::printf("%zu filters, %zu answers\n", filters, answers);
    return 0;
}

/* ---- Tables --------------------------------------------------------------------------------- */

static BlockBasedTableOptions some_options(const trial &t, std::mt19937 &r) {
    BlockBasedTableOptions o;
    const double bits = params_of(t).bits_per_key;
    o.format_version = 2 + r() % 4;
    o.checksum = static_cast<ChecksumType>(r() % 5);
    o.block_size = 256 << r() % 5;
    o.filter_policy.reset(r() % 3 ? NewBloomFilterPolicy(bits)
                                  : NewRibbonFilterPolicy(bits < 70 ? bits : 10));
    return o;
}

static std::string table_of(const trial &t, const BlockBasedTableOptions &table, std::mt19937 &r,
                            const std::string &path) {
    Options o;
    o.compression = r() % 2 ? kSnappyCompression : kNoCompression;
    o.table_factory.reset(NewBlockBasedTableFactory(table));
    SstFileWriter writer(EnvOptions(), o);
    Status s = writer.Open(path);
    const size_t len = r() % 500;
    for (const std::string &key : t.added)
        if (s.ok()) s = writer.Put(key, std::string(r() % (len + 1), 'v'));
    if (s.ok()) s = writer.Finish();
    if (!s.ok()) stop(t, s.ToString());
    std::ostringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    return bytes.str();
}

/* A full filter is what the same policy makes of the same keys in their order. */
static int tables(const std::string &path) {
    for (trial t; read_trial(t);) {
        std::mt19937 r(params_of(t).seed);
        const BlockBasedTableOptions o = some_options(t, r);
        t.bytes = table_of(t, o, r, path);
        t.format = "rocksdb-sst";
        answer(t, made(t, *o.filter_policy, o.format_version));
        t.added.clear();
        print_trial(t);
    }
    return 0;
}

static int parts(const std::string &path) {
    for (trial t; read_trial(t);) {
        std::mt19937 r(params_of(t).seed);
        BlockBasedTableOptions o = some_options(t, r);
        o.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
        o.partition_filters = true;
        o.metadata_block_size = 256 << r() % 4;
        o.index_block_restart_interval = 1 << r() % 5;
        t.bytes = table_of(t, o, r, path);
        t.format = "rocksdb-sst";
        t.asked.clear();
        print_trial(t);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && std::strcmp(argv[1], "write") == 0) return write_all(true);
    if (argc == 2 && std::strcmp(argv[1], "answer") == 0) return write_all(false);
    if (argc == 2 && std::strcmp(argv[1], "read") == 0) return read_all();
    if (argc == 3 && std::strcmp(argv[1], "tables") == 0) return tables(argv[2]);
    if (argc == 3 && std::strcmp(argv[1], "parts") == 0) return parts(argv[2]);
    return 2;
}
