/* SPDX-License-Identifier: MIT */
/* leveldb.cc and rocksdb.cc may include this: the lines that peer.c describes, in C++. */
#ifndef TAMIS_PEERS_KV_CASES_H
#define TAMIS_PEERS_KV_CASES_H

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

struct trial {
    std::string format, how, spec, bytes;
    std::vector<std::string> added, asked;
    std::vector<bool> answer;
};

static inline void stop(const trial &t, const std::string &what) {
    std::printf("%s, %s: %s\n", t.how.c_str(), t.spec.c_str(), what.c_str());
    std::exit(1);
}

static inline std::string from_hex(const std::string &hex) {
    std::string bytes;
    for (size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    return bytes;
}

static inline void print_hex(const char *word, const std::string &bytes) {
    static const char digits[] = "0123456789abcdef";
    std::string line = word;
    for (unsigned char c : bytes) line += {digits[c >> 4], digits[c & 15]};
    std::puts(line.c_str());
}

static inline bool read_trial(trial &t) {
    std::string line;
    t = trial();
    while (std::getline(std::cin, line)) {
        const std::string word = line.substr(0, line.find(' '));
        const std::string rest = line.size() > word.size() ? line.substr(word.size() + 1) : "";
        if (word == "case") t.format = rest;
        if (word == "how") t.how = rest;
        if (word == "spec") t.spec = rest;
        if (word == "bytes") t.bytes = from_hex(rest);
        if (word == "add") t.added.push_back(from_hex(rest));
        if (word == "ask") {
            t.answer.push_back(rest[0] == '1');
            t.asked.push_back(from_hex(rest.substr(2)));
        }
        if (word == "end") return true;
    }
    return false;
}

static inline void print_trial(const trial &t) {
    std::printf("case %s\nhow %s\n", t.format.c_str(), t.how.c_str());
    if (!t.spec.empty()) std::printf("spec %s\n", t.spec.c_str());
    for (const std::string &key : t.added) print_hex("add ", key);
    print_hex("bytes ", t.bytes);
    for (size_t i = 0; i < t.asked.size(); i++)
        print_hex(t.answer[i] ? "ask 1 " : "ask 0 ", t.asked[i]);
    std::puts("end");
}

#endif
