/* SPDX-License-Identifier: MIT */
/* LevelDB's filter policy: a classic filter of 10 bits per key over one table's keys. Its hash has
 * 32 bits, so it is made for thousands of keys, not for millions. */
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <climits>
#include <memory>
#include <string>
#include <vector>

#include "bench/peer.h"

#ifndef RELEASE
#define RELEASE ""
#endif

namespace {

struct filter {
    std::unique_ptr<const leveldb::FilterPolicy> policy{leveldb::NewBloomFilterPolicy(10)};
    std::string bits;

    bool has(const void *key, size_t len) const {
        return policy->KeyMayMatch(leveldb::Slice(static_cast<const char *>(key), len), bits);
    }
};

const filter &of(const void *f) {
    return *static_cast<const filter *>(f);
}

void *build_keys(const void *keys, size_t len, size_t n) {
    if (n > INT_MAX) return nullptr;
    std::vector<leveldb::Slice> list;
    list.reserve(n);
    for (size_t i = 0; i < n; i++)
        list.emplace_back(static_cast<const char *>(keys) + i * len, len);
    auto f = std::make_unique<filter>();
    f->policy->CreateFilter(list.data(), static_cast<int>(n), &f->bits);
    return f.release();
}

void *build(const uint64_t *keys, size_t n, unsigned) {
    return build_keys(keys, sizeof *keys, n);
}

void *build_strings(const uint8_t *keys, size_t len, size_t n, unsigned) {
    return build_keys(keys, len, n);
}

void has(const void *f, const uint64_t *keys, size_t n, uint8_t *hit) {
    for (size_t i = 0; i < n; i++) hit[i] = of(f).has(&keys[i], sizeof keys[i]);
}

void has_strings(const void *f, const uint8_t *keys, size_t len, size_t n, uint8_t *hit) {
    for (size_t i = 0; i < n; i++) hit[i] = of(f).has(keys + i * len, len);
}

uint64_t chase(const void *f, uint64_t key, size_t n) {
    while (n--) key = bench_next(key, of(f).has(&key, sizeof key));
    return key;
}

size_t bytes(const void *f) {
    return of(f).bits.size();
}

void release(void *f) {
    delete static_cast<filter *>(f);
}

const bench_contestant list[] = {
    {BENCH_CONTESTANT, "LevelDB bloom", "one", RELEASE, build, has, chase, build_strings,
     has_strings, bytes, release, false},
};

} // namespace

const bench_contestant *bench_contestants(size_t *count) {
    *count = sizeof list / sizeof *list;
    return list;
}
