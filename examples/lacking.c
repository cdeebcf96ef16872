/* SPDX-License-Identifier: MIT */
/* lacking.c: which keys does the other side lack? Three answers: a stream of coded symbols that
 * lists both sides exactly, a tree that lists most of it in few bytes, and an estimate from their
 * filter alone. */
#include <tamis_engine.h>
#include <tamis_jobs.h>

#include "must.h"

enum { N = 20000, ONLY_OURS = 30, ONLY_THEIRS = 20, COMMON = N - ONLY_OURS };
static uint64_t ours[N], theirs[COMMON + ONLY_THEIRS];

/* Ascending and well mixed, as a tree wants them. */
static void fill_sets(void) {
    for (uint64_t i = 0; i < N; i++) ours[i] = i * (UINT64_MAX / N) + (i * i * 2654435761u) % 99991;
    for (uint64_t i = 0; i < COMMON; i++) theirs[i] = ours[i];
    for (uint64_t i = 0; i < ONLY_THEIRS; i++)
        theirs[COMMON + i] = ours[COMMON + i] + 1; /* one beside a key of ours */
}

static void by_symbols(void) {
    struct tamis_symbol symbol;
    tamis_symbols *stream;
    tamis_peeler *peeler;
    uint64_t cursor = 0, hash, count[2] = {0, 0};
    bool is_ours;
    must(tamis_symbols_create(&stream, theirs, COMMON + ONLY_THEIRS, NULL, NULL));
    must(tamis_peeler_create(&peeler, ours, N, NULL, NULL));
    do {
        must(tamis_symbols_next(stream, &symbol, 1));
        must(tamis_peeler_take(peeler, &symbol, 1));
    } while (!tamis_peeler_is_whole(peeler));
    while (tamis_peeler_next(peeler, &cursor, &hash, &is_ours)) count[is_ours]++;
    printf("%llu symbols list the difference\n", (unsigned long long)tamis_peeler_symbols(peeler));
    expect(count[1] == ONLY_OURS && count[0] == ONLY_THEIRS, "all of it, on both sides");
    tamis_peeler_free(peeler);
    tamis_symbols_free(stream);
}

static bool count_one(void *ctx, uint64_t hash) {
    (void)hash;
    ++*(uint64_t *)ctx;
    return true;
}

static void by_tree(void) {
    struct tamis_tree_walk walk;
    uint64_t found = 0;
    tamis *summary;
    must(tamis_tree_summary(&summary, theirs, COMMON + ONLY_THEIRS, 8, 1, NULL));
    must(tamis_tree_missing(summary, ours, N, 3, count_one, &found, &walk, NULL));
    printf("a tree finds %llu of %d with %llu queries\n", (unsigned long long)found, ONLY_OURS,
           (unsigned long long)walk.asked);
    expect(found <= ONLY_OURS && found >= ONLY_OURS / 3, "a good part of them");
    tamis_free(summary);
}

static void by_filter(void) {
    struct tamis_estimate only_theirs, only_ours;
    tamis *filter;
    must(tamis_create(&filter, "blocked:capacity=20K,fpr=0.1%"));
    must(tamis_add_hashes(filter, theirs, COMMON + ONLY_THEIRS));
    must(tamis_difference_by_filter(filter, ours, N, &only_theirs, &only_ours));
    printf("by their filter: we lack about %.0f, they about %.0f +/- %.0f\n", only_theirs.value,
           only_ours.value, only_ours.error);
    expect(only_ours.value > 10 && only_ours.value < 60, "the estimate is near");
    tamis_free(filter);
}

int main(void) {
    fill_sets();
    by_symbols();
    by_tree();
    by_filter();
    return 0;
}
