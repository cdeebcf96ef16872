// SPDX-License-Identifier: MIT
// tamis_leveldb.hpp: filters of Tamis in the tables of LevelDB, for programs in C++.
//
//     std::unique_ptr<tamis_leveldb::policy> policy(tamis_leveldb::make("split:fpr=1%"));
//     if (!policy) std::cerr << tamis_why() << '\n';
//     options.filter_policy = policy.get();
//
// tamis_leveldb.h tells what to choose; compile with -lleveldb and what pkg-config says of tamis.
#ifndef TAMIS_LEVELDB_HPP
#define TAMIS_LEVELDB_HPP

#include <string>
#include <vector>

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>
#include <tamis_pages.h>

namespace tamis_leveldb {

class policy : public leveldb::FilterPolicy {
  public:
    explicit policy(tamis_page_policy *pages) : pages_(pages) {
    }
    policy(const policy &) = delete;
    policy &operator=(const policy &) = delete;
    ~policy() override {
        tamis_page_policy_free(pages_);
    }

    const char *Name() const override {
        return tamis_page_policy_name(pages_);
    }

    // A byte that is no page is answered maybe; LevelDB takes no byte for a filter of no keys.
    void CreateFilter(const leveldb::Slice *keys, int n, std::string *to) const override {
        const size_t before = to->size();
        std::vector<tamis_key> list;
        list.reserve(static_cast<size_t>(n));
        for (int i = 0; i < n; i++) // versions of a key come one after the other
            if (i == 0 || keys[i] != keys[i - 1])
                list.push_back(tamis_key{keys[i].data(), keys[i].size()});
        if (!tamis_page_make(pages_, list.data(), list.size(), put, to)) return;
        to->resize(before);
        to->push_back('\xff');
    }

    bool KeyMayMatch(const leveldb::Slice &key, const leveldb::Slice &page) const override {
        return tamis_page_has(pages_, page.data(), page.size(), key.data(), key.size());
    }

  private:
    static bool put(void *to, const void *bytes, size_t size) {
        static_cast<std::string *>(to)->append(static_cast<const char *>(bytes), size);
        return true;
    }

    tamis_page_policy *pages_;
};

// A policy for leveldb::Options, to be deleted after the database. NULL, and tamis_why(), for a
// spec that has no pages.
inline policy *make(const char *spec, const tamis_options *options = nullptr) {
    tamis_page_policy *pages;
    return tamis_page_policy_create(&pages, spec, options) ? nullptr : new policy(pages);
}

} // namespace tamis_leveldb

#endif
