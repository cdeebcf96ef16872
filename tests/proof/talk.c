/* SPDX-License-Identifier: MIT */
/* Sets of a million hashes that differ in few and in many, reconciled by a conversation: the lists
 * must be exactly what differs, and what it took is printed beside what no way of telling can do
 * without. docs/reconcile.md has the table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/sessions.h"

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Both lists of one side, against what merging the sorted sets says. */
static bool is_right(const tamis_session *session, const test_side *own, const test_side *other) {
    size_t i = 0, j = 0, n[2] = {0, 0};
    uint64_t cursor = 0;
    struct tamis_session_item item;
    while (tamis_session_next(session, &cursor, &item)) {
        const test_side *has = item.is_ours ? own : other, *lacks = item.is_ours ? other : own;
        if (!bsearch(&item.hash, has->hashes, has->n, 8, by_number) ||
            bsearch(&item.hash, lacks->hashes, lacks->n, 8, by_number))
            return false;
        n[item.is_ours]++;
    }
    size_t want[2] = {0, 0};
    while (i < own->n || j < other->n) {
        const bool ours = j == other->n || (i < own->n && own->hashes[i] < other->hashes[j]);
        const bool both = i < own->n && j < other->n && own->hashes[i] == other->hashes[j];
        if (!both) want[ours]++;
        i += both || ours;
        j += both || !ours;
    }
    return n[0] == want[0] && n[1] == want[1];
}

static bool try(int number, size_t n, size_t d) {
    static const uint8_t nonces[2][16] = {{1}, {2}};
    test_side sides[2];
    tamis_session *sessions[2];
    struct tamis_session_info info = TAMIS_SESSION_INFO_INIT;
    test_sets(77, n - d / 2, d / 2, d - d / 2, sides);
    for (int s = 0; s < 2; s++) {
        const struct tamis_session_options o = {
            .struct_size = sizeof o, .nonce = nonces[s], .hash = "xxh3"};
        if (tamis_session_create(&sessions[s], s ? TAMIS_RECEIVER : TAMIS_SENDER, sides[s].hashes,
                                 sides[s].n, &o))
            return printf("not ok %d - %s\n", number, tamis_why()), false;
    }
    bool is_good = test_converse(sessions[0], sessions[1], 4096, UINT64_C(1) << 20);
    for (int s = 0; s < 2; s++) qsort(sides[s].hashes, sides[s].n, 8, by_number);
    for (int s = 0; s < 2; s++) {
        is_good &= tamis_session_finish(sessions[s]) == TAMIS_OK &&
                   is_right(sessions[s], &sides[s], &sides[!s]);
    }
    tamis_session_get_info(sessions[1], &info);
    is_good &=
        info.symbols_needed && info.symbols - info.symbols_needed <=
                                   (info.symbols_needed / 8 > 64 ? info.symbols_needed / 8 : 64);
    printf("%s %d - %zu keys, %zu differ: %llu symbols of %llu, %llu bytes of symbols, %llu taken, "
           "%llu sent, bound %.0f bytes\n",
           is_good ? "ok" : "not ok", number, n, d, (unsigned long long)info.symbols_needed,
           (unsigned long long)info.symbols, (unsigned long long)info.symbol_bytes,
           (unsigned long long)info.bytes_taken, (unsigned long long)info.bytes_sent,
           info.bound_bits / 8);
    if (!is_good) printf("# %s\n", tamis_why());
    for (int s = 0; s < 2; s++) tamis_session_free(sessions[s]);
    test_sets_free(sides);
    return is_good;
}

int main(void) {
    static const size_t differ[] = {0, 1, 10, 1000, 100000, 1000000};
    const int n = sizeof differ / sizeof *differ;
    bool is_good = true;
    for (int i = 0; i < n; i++) is_good &= try(i + 1, 1000000, differ[i]);
    is_good &= try(n + 1, 0, 0);
    is_good &= try(n + 2, 1, 1);
    is_good &= try(n + 3, 500, 1000);
    printf("1..%d\n", n + 3);
    return !is_good;
}
