/* SPDX-License-Identifier: MIT */
/* Keys, and lists of queries.
 *
 * Member i is mix64(i) and non-member i is mix64(2^62 + i). mix64 is a bijection, so members are
 * distinct and no non-member is a member, whatever their number. */
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

enum { QUESTION_KEYS = 1 << 21, QUESTION_STRINGS = 1 << 18 };
static const uint64_t first_nonmember = (uint64_t)1 << 62;

/* The finisher of splitmix64: Steele, Lea and Flood, 2014. */
uint64_t mix64(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* 32 bytes derived from the key; the key itself is the first 8. */
void keys_spell(const uint64_t *keys, size_t n, uint8_t *strings) {
    for (size_t i = 0; i < n; i++) {
        uint64_t word[STRING_BYTES / 8] = {keys[i]};
        for (size_t j = 1; j < COUNT_OF(word); j++) word[j] = mix64(word[j - 1] ^ j);
        memcpy(strings + i * STRING_BYTES, word, sizeof word);
    }
}

static void make_questions(struct keys *k) {
    for (size_t i = 0; i < k->questions; i++) {
        const uint64_t chance = mix64(~(uint64_t)i);
        k->ask[MISS][i] = mix64(first_nonmember + i);
        k->ask[HIT][i] = k->members[scaled(chance, k->n)];
        k->ask[MIXED][i] = chance & 1 ? k->ask[HIT][i] : k->ask[MISS][i];
    }
}

static bool make_strings(struct keys *k) {
    k->strings = malloc(k->n * STRING_BYTES);
    if (!k->strings) return false;
    keys_spell(k->members, k->n, k->strings);
    for (int q = 0; q < CHASE; q++) {
        k->ask_strings[q] = malloc(k->questions * STRING_BYTES);
        if (!k->ask_strings[q]) return false;
        keys_spell(k->ask[q], k->questions, k->ask_strings[q]);
    }
    return true;
}

bool keys_make(struct keys *k, size_t n, unsigned key_bytes) {
    *k = (struct keys){.n = n, .questions = key_bytes == 8 ? QUESTION_KEYS : QUESTION_STRINGS};
    k->members = malloc(n * sizeof *k->members);
    bool ok = k->members != NULL;
    for (int q = 0; q < CHASE; q++) {
        k->ask[q] = malloc(k->questions * sizeof *k->ask[q]);
        ok = ok && k->ask[q];
    }
    if (ok) {
        for (size_t i = 0; i < n; i++) k->members[i] = mix64(i);
        make_questions(k);
        if (key_bytes != 8) ok = make_strings(k);
    }
    if (!ok) keys_free(k);
    return ok;
}

void keys_free(struct keys *k) {
    free(k->members);
    free(k->strings);
    for (int q = 0; q < CHASE; q++) free(k->ask[q]), free(k->ask_strings[q]);
    *k = (struct keys){0};
}
