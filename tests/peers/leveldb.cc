/* SPDX-License-Identifier: MIT */
/* The other side of leveldb.sh: LevelDB itself, as lines that peer.c describes.
 *
 *     leveldb write < WISHES > CASES        filters made by LevelDB, with its answers
 *     leveldb read < CASES                  are our bytes and answers those of LevelDB?
 *     leveldb tables FOLDER < WISHES > CASES
 *                                           table files of databases, whose keys must all be
 *                                           found */
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>

#include "kv_cases.h"

typedef std::unique_ptr<const leveldb::FilterPolicy> policy;

static policy policy_of(const trial &t) {
    return policy(leveldb::NewBloomFilterPolicy(std::atoi(t.how.c_str()) / 1000));
}

static std::string made(const trial &t) {
    std::vector<leveldb::Slice> keys(t.added.begin(), t.added.end());
    std::string bytes;
    policy_of(t)->CreateFilter(keys.data(), static_cast<int>(keys.size()), &bytes);
    return bytes;
}

static void answer(trial &t) {
    const policy p = policy_of(t);
    for (size_t i = 0; i < t.asked.size(); i++) t.answer[i] = p->KeyMayMatch(t.asked[i], t.bytes);
}

static int write_all() {
    for (trial t; read_trial(t);) {
        t.bytes = made(t);
        answer(t);
        print_trial(t);
    }
    return 0;
}

static int read_all() {
    size_t filters = 0, answers = 0;
    for (trial t; read_trial(t); filters++, answers += t.asked.size()) {
        const std::vector<bool> ours = t.answer;
        answer(t);
        if (ours != t.answer) stop(t, "other answers");
        if (made(t) != t.bytes) stop(t, "made anew it has other bytes");
    }
    std::printf("%zu filters, %zu answers\n", filters, answers);
    return 0;
}

static void check(const trial &t, const leveldb::Status &s) {
    if (!s.ok()) stop(t, s.ToString());
}

/* A database with these keys and values of some length, in one table or several. */
static void make_tables(const trial &t, const std::string &dir) {
    std::mt19937 r(std::hash<std::string>{}(t.how));
    const policy p = policy_of(t);
    leveldb::Options o;
    leveldb::DB *db;
    o.create_if_missing = true;
    o.filter_policy = p.get();
    o.compression = r() % 2 ? leveldb::kSnappyCompression : leveldb::kNoCompression;
    o.block_size = 256 << r() % 6;
    o.max_file_size = 1 << 20;
    check(t, leveldb::DB::Open(o, dir, &db));
    const size_t len = r() % 500;
    for (const std::string &key : t.added)
        check(t, db->Put(leveldb::WriteOptions(), key, std::string(r() % (len + 1), 'v')));
    db->CompactRange(nullptr, nullptr);
    delete db;
}

/* What was compacted is one table for so few keys; the key that a table has must be found in it. */
static int tables(const std::string &dir) {
    for (trial t; read_trial(t);) {
        std::filesystem::remove_all(dir);
        make_tables(t, dir);
        trial out;
        for (const auto &entry : std::filesystem::directory_iterator(dir)) {
            if (entry.path().extension() != ".ldb") continue;
            std::ostringstream bytes;
            bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
            if (!out.bytes.empty()) stop(t, "two tables");
            out.bytes = bytes.str();
        }
        if (out.bytes.empty()) stop(t, "no table");
        out.format = "leveldb-table";
        out.how = t.how;
        out.asked = t.added;
        out.answer.assign(t.added.size(), true);
        print_trial(out);
    }
    std::filesystem::remove_all(dir);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && std::strcmp(argv[1], "write") == 0) return write_all();
    if (argc == 2 && std::strcmp(argv[1], "read") == 0) return read_all();
    if (argc == 3 && std::strcmp(argv[1], "tables") == 0) return tables(argv[2]);
    return 2;
}
