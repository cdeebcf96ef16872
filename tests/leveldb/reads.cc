// SPDX-License-Identifier: MIT
// The policy in C++: how many blocks LevelDB reads for keys that are not there.
#include "engines/leveldb/tamis_leveldb.hpp"

#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/options.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include <unistd.h>

extern "C" {
#include "tests/support/bounds.h"
}

namespace {

constexpr unsigned keys = 50000;
int trials, failed;

void check(bool ok, const std::string &what) {
    std::printf("%s %d - %s\n", ok ? "ok" : "not ok", ++trials, what.c_str());
    failed += !ok;
}

// Counts reads of tables.
class counting_file : public leveldb::RandomAccessFile {
  public:
    counting_file(leveldb::RandomAccessFile *file, uint64_t *reads) : file_(file), reads_(reads) {
    }
    leveldb::Status Read(uint64_t offset, size_t n, leveldb::Slice *result,
                         char *scratch) const override {
        ++*reads_;
        return file_->Read(offset, n, result, scratch);
    }

  private:
    std::unique_ptr<leveldb::RandomAccessFile> file_;
    uint64_t *reads_;
};

class counting_env : public leveldb::EnvWrapper {
  public:
    counting_env() : leveldb::EnvWrapper(leveldb::Env::Default()) {
    }
    leveldb::Status NewRandomAccessFile(const std::string &name,
                                        leveldb::RandomAccessFile **file) override {
        leveldb::Status s = target()->NewRandomAccessFile(name, file);
        if (s.ok()) *file = new counting_file(*file, &reads);
        return s;
    }
    uint64_t reads = 0;
};

std::string key_at(unsigned i) {
    char text[24];
    std::snprintf(text, sizeof text, "key%09u", i);
    return text;
}

// Odd keys are there, even ones are not but between them, so that every one of them has a block.
uint64_t reads_of_missing(const std::string &dir, const leveldb::FilterPolicy *policy, size_t block,
                          uint64_t *lost) {
    counting_env env;
    leveldb::Options options;
    options.create_if_missing = true;
    options.env = &env;
    options.filter_policy = policy;
    options.block_size = block;
    leveldb::DB *opened;
    leveldb::DestroyDB(dir, options);
    if (!leveldb::DB::Open(options, dir, &opened).ok()) std::exit(2);
    std::unique_ptr<leveldb::DB> db(opened);
    std::string value(40, 'v'), got;
    for (unsigned i = 1; i < 2 * keys; i += 2)
        if (!db->Put(leveldb::WriteOptions(), key_at(i), value).ok()) std::exit(2);
    db->CompactRange(nullptr, nullptr);
    leveldb::ReadOptions read;
    read.fill_cache = false;
    *lost = 0;
    for (unsigned i = 1; i < 2 * keys; i += 2) *lost += !db->Get(read, key_at(i), &got).ok();
    env.reads = 0;
    for (unsigned i = 2; i < 2 * keys; i += 2)
        if (!db->Get(read, key_at(i), &got).IsNotFound()) std::exit(2);
    return env.reads;
}

} // namespace

int main() {
    char name[] = "/tmp/tamis-leveldb-XXXXXX";
    if (!mkdtemp(name)) return 2;
    const std::string dir = std::string(name) + "/db";
    uint64_t lost;
    const uint64_t none = reads_of_missing(dir, nullptr, 4096, &lost);
    check(none >= keys - 1, "without a filter each of them reads a block: " + std::to_string(none));
    for (const char *spec : {"split:fpr=1%", "blocked:fpr=1%", "ribbon:fpr=1%", "classic:fpr=1%"})
        for (size_t block : {size_t{4096}, size_t{65536}}) {
            std::unique_ptr<tamis_leveldb::policy> policy(tamis_leveldb::make(spec));
            if (!policy) return 2;
            const uint64_t reads = reads_of_missing(dir, policy.get(), block, &lost);
            const std::string what = std::string(spec) + " in blocks of " + std::to_string(block);
            check(lost == 0, what + " loses nothing");
            // A page is never above its rate; one of a few blocks of bits may be well below it.
            check(reads > keys / 100 / 8 &&
                      (reads < keys / 100 || test_is_possible(reads, keys, 0.01, TEST_ALPHA)),
                  what + " reads at the rate: " + std::to_string(reads) + " blocks for " +
                      std::to_string(keys));
        }
    leveldb::DestroyDB(dir, leveldb::Options());
    rmdir(name);
    std::printf("1..%d\n", trials);
    return failed > 0;
}
