// SPDX-License-Identifier: MIT
// A million keys in tables of LevelDB, by policy and size of blocks: what a key that is not there
// costs, and how large the filters are. Policies take turns; figures are medians of rounds.
#include "engines/leveldb/tamis_leveldb.hpp"

#include <leveldb/cache.h>
#include <leveldb/db.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

namespace {

constexpr unsigned keys = 1000000, asked = 200000, rounds = 7;

std::string key_at(uint64_t i) {
    char text[24];
    std::snprintf(text, sizeof text, "%016llx",
                  static_cast<unsigned long long>(i * 0x9e3779b97f4a7c15u));
    return text;
}

struct contestant {
    const char *name;
    std::unique_ptr<const leveldb::FilterPolicy> policy;
    std::unique_ptr<leveldb::Cache> cache;
    std::unique_ptr<leveldb::DB> db;
    uint64_t bytes = 0;
    std::vector<double> ns;
};

void fill(contestant &c, const std::string &dir, size_t block) {
    leveldb::Options options;
    options.create_if_missing = true;
    options.filter_policy = c.policy.get();
    options.block_size = block;
    options.write_buffer_size = 64 << 20;
    options.compression = leveldb::kNoCompression;
    c.cache.reset(leveldb::NewLRUCache(1 << 20));
    options.block_cache = c.cache.get();
    leveldb::DB *opened;
    if (!leveldb::DB::Open(options, dir, &opened).ok()) std::exit(2);
    c.db.reset(opened);
    const std::string value(32, 'v');
    for (unsigned i = 0; i < keys; i++)
        if (!c.db->Put(leveldb::WriteOptions(), key_at(2 * i), value).ok()) std::exit(2);
    c.db->CompactRange(nullptr, nullptr);
    for (const auto &file : std::filesystem::directory_iterator(dir))
        if (file.path().extension() == ".ldb") c.bytes += file.file_size();
}

double ask(contestant &c, unsigned round) {
    std::string got;
    leveldb::ReadOptions read;
    read.fill_cache = false;
    const auto start = std::chrono::steady_clock::now();
    for (unsigned i = 0; i < asked; i++)
        if (!c.db->Get(read, key_at(2 * (round * asked + i) + 1), &got).IsNotFound()) std::exit(2);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    return took.count() / asked;
}

contestant ours(const char *spec) {
    contestant c{spec, std::unique_ptr<const leveldb::FilterPolicy>(tamis_leveldb::make(spec)),
                 {},   {},
                 0,    {}};
    if (!c.policy) std::exit(2);
    return c;
}

} // namespace

int main() {
    char name[] = "/tmp/tamis-leveldb-XXXXXX";
    if (!mkdtemp(name)) return 2;
    for (size_t block : {size_t{4096}, size_t{65536}}) {
        std::vector<contestant> list;
        list.push_back({"none", nullptr, {}, {}, 0, {}});
        list.push_back(
            {"LevelDB's own, 10 bits",
             std::unique_ptr<const leveldb::FilterPolicy>(leveldb::NewBloomFilterPolicy(10)),
             {},
             {},
             0,
             {}});
        for (const char *spec :
             {"split:fpr=1%", "blocked:fpr=1%", "ribbon:fpr=1%", "fuse:fpr=1%", "classic:fpr=1%"})
            list.push_back(ours(spec));
        for (size_t i = 0; i < list.size(); i++)
            fill(list[i], std::string(name) + "/" + std::to_string(block) + "-" + std::to_string(i),
                 block);
        for (unsigned round = 0; round < rounds; round++)
            for (size_t i = 0; i < list.size(); i++) {
                contestant &c = list[(i + round) % list.size()];
                c.ns.push_back(ask(c, round));
            }
        std::printf("blocks of %zu bytes\n%-24s %12s %14s\n", block, "policy", "ns per miss",
                    "bytes per key");
        for (contestant &c : list) {
            std::sort(c.ns.begin(), c.ns.end());
            std::printf("%-24s %12.0f %14.2f\n", c.name, c.ns[rounds / 2],
                        (static_cast<double>(c.bytes) - static_cast<double>(list[0].bytes)) / keys);
            c.db.reset();
        }
    }
    std::filesystem::remove_all(name);
    return 0;
}
