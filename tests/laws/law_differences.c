/* SPDX-License-Identifier: MIT */
/* Laws about kinds that list what differs between two sets. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_engine.h"
#include "tamis_special.h"
#include "tests/laws/laws.h"
#include "tests/support/bounds.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"

enum { N = 4000 };

/* ---- Lists ---------------------------------------------------------------------------------- */

typedef struct found {
    uint64_t hash;
    bool is_first;
} found;

/* The list, sorted by hash later. */
typedef struct list {
    found *at;
    uint64_t n, room;
} list;

static bool collect(void *ctx, uint64_t hash, bool is_first) {
    list *l = ctx;
    if (l->n == l->room) return false;
    l->at[l->n++] = (found){hash, is_first};
    return true;
}

static int by_hash(const void *a, const void *b) {
    const found *x = a, *y = b;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static list new_list(uint64_t room) {
    found *at = malloc((size_t)(room + 1) * sizeof *at);
    if (!at) abort();
    return (list){at, 0, room};
}

/* The caller frees the list; room for twice the truth exposes lists that are too long. */
static tamis_status list_difference(const tamis *a, const tamis *b, list *l) {
    const tamis_status rc = tamis_difference(a, b, collect, l);
    qsort(l->at, (size_t)l->n, sizeof *l->at, by_hash);
    return rc;
}

/* The keys [from, to) as they should be listed. */
static void expect(const tamis *f, uint64_t from, uint64_t to, bool is_first, list *l) {
    char buffer[32];
    for (uint64_t i = from; i < to; i++) {
        const struct tamis_key key = key_at(i, buffer);
        collect(l, tamis_hash(f, key.bytes, key.len), is_first);
    }
    qsort(l->at, (size_t)l->n, sizeof *l->at, by_hash);
}

/* Is everything in `some` in `all`, on the same side and once? Both are sorted. */
static bool is_part_of(const list *some, const list *all) {
    uint64_t j = 0;
    for (uint64_t i = 0; i < some->n; i++, j++) {
        while (j < all->n && all->at[j].hash < some->at[i].hash) j++;
        if (j == all->n || all->at[j].hash != some->at[i].hash) return false;
        if (all->at[j].is_first != some->at[i].is_first) return false;
    }
    return true;
}

/* Where an option sets the size, one difference is the most to ask for. */
static bool is_sized_by_options(const subject *s) {
    return strstr(s->options, "cells=") || strstr(s->options, "differences=");
}

/* ---- Differences ---------------------------------------------------------------------------- */

/* The first has [0, N), the second [only_first, N + only_second): TAMIS_OK with all, or
 * TAMIS_PARTIAL with a part of it. */
static const char *differ_in(const subject *s, uint64_t capacity, uint64_t only_first,
                             uint64_t only_second, tamis_status *rc) {
    const uint64_t d = only_first + only_second;
    tamis *a = filled(s, capacity, 0.01, NULL, 0, N);
    tamis *b = filled(s, capacity, 0.01, NULL, only_first, N + only_second);
    list truth = new_list(d), listed = new_list(2 * d + 10);
    const char *what = NULL;
    expect(a, 0, only_first, true, &truth);
    expect(a, N, N + only_second, false, &truth);
    *rc = list_difference(a, b, &listed);
    if (*rc && *rc != TAMIS_PARTIAL)
        what = wrong("of %llu: %s", (unsigned long long)d, tamis_why());
    if (!what && !is_part_of(&listed, &truth))
        what = wrong("of %llu: something is listed that does not differ so", (unsigned long long)d);
    if (!what && (listed.n == d) != (*rc == TAMIS_OK))
        what = wrong("%llu of %llu are listed, and that is called %s", (unsigned long long)listed.n,
                     (unsigned long long)d, *rc ? "a part" : "all");
    free(truth.at);
    free(listed.at);
    tamis_free(a);
    tamis_free(b);
    return what;
}

static const char *differences_are_exact(const subject *s) {
    static const uint64_t sizes[][2] = {{1, 0},   {0, 1},   {1, 1},    {7, 3},
                                        {100, 0}, {0, 300}, {500, 500}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const uint64_t d = sizes[i][0] + sizes[i][1];
        tamis_status rc;
        const char *what = differ_in(s, N, sizes[i][0], sizes[i][1], &rc);
        if (!what && rc && (d == 1 || !is_sized_by_options(s)))
            what = wrong("%llu differences are too many", (unsigned long long)d);
        if (what) return what;
    }
    return NULL;
}

/* In any order of adds, and also when empty. */
static const char *same_sets_differ_in_nothing(const subject *s) {
    tamis *a = filled(s, N, 0.01, NULL, 0, N), *b = filled(s, N, 0.01, NULL, N / 2, N);
    tamis *empty = filled(s, N, 0.01, NULL, 0, 0);
    list listed = new_list(10);
    struct tamis_estimate size = {0, 0};
    const char *what = NULL;
    add_keys(b, 0, N / 2);
    const struct {
        const tamis *first, *second;
    } pairs[] = {{a, a}, {a, b}, {b, a}, {empty, empty}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && !what; i++) {
        if (list_difference(pairs[i].first, pairs[i].second, &listed)) what = tamis_why();
        if (!what && listed.n) what = "a set differs from itself";
        const tamis_status rc = tamis_difference_size(pairs[i].first, pairs[i].second, &size);
        if (!what && rc && rc != TAMIS_UNSUPPORTED) what = tamis_why();
        if (!what && size.value > 0) what = "a set is estimated to differ from itself";
    }
    free(listed.at);
    tamis_free(a);
    tamis_free(b);
    tamis_free(empty);
    return what;
}

/* The sketches of disjoint parts merge to the sketch of all; what is removed from one is listed. */
static const char *merged_parts_are_the_whole(const subject *s) {
    enum { PARTS = 5, EACH = N / PARTS };
    tamis *all = filled(s, N, 0.01, NULL, 0, N), *merged = filled(s, N, 0.01, NULL, 0, EACH);
    list listed = new_list(10), truth = new_list(1);
    const char *what = NULL;
    for (uint64_t i = 1; i < PARTS && !what; i++) {
        tamis *part = filled(s, N, 0.01, NULL, i * EACH, (i + 1) * EACH);
        if (tamis_merge(merged, part)) what = tamis_why();
        tamis_free(part);
    }
    if (!what && (list_difference(all, merged, &listed) || listed.n))
        what = "the parts together differ from the whole";
    if (!what && s->can & TAMIS_ANY_ORDER && !same_payload(all, merged)) what = "bytes differ";
    add_keys(merged, N, N + 1);
    expect(all, N, N + 1, false, &truth);
    if (!what &&
        (list_difference(all, merged, &listed) || listed.n != 1 || !is_part_of(&listed, &truth)))
        what = "one more key in the parts is not what differs";
    free(listed.at);
    free(truth.at);
    tamis_free(all);
    tamis_free(merged);
    return what;
}

/* A small table and more and more differences: from exact lists to short ones, none of them
 * wrong. */
static const char *too_many_are_a_part(const subject *s) {
    tamis_status rc = TAMIS_OK;
    for (uint64_t d = 10; d <= 40000; d = d * 5 / 4) {
        const char *what = differ_in(s, 50, d < N ? d / 2 : N, d < N ? d - d / 2 : d - N, &rc);
        if (what) return what;
    }
    return rc == TAMIS_PARTIAL ? NULL : "40,000 differences are listed by a table for 50 keys";
}

/* ---- Estimates ------------------------------------------------------------------------------ */

/* How far off an estimate with this error may be. Two differences that share a counter move one by
 * signs by two. Where that is less than one such pair on average, their number is Poisson's, and
 * its tail is longer than six standard deviations. */
static double may_be_off(double error) {
    const double pairs = error * error / 4;
    if (pairs >= 1) return 6 * error + 1e-6;
    double chance = exp(-pairs), more = 1 - chance, most = 0;
    for (; more >= TEST_ALPHA; more -= chance) chance *= pairs / ++most;
    return fmax(6 * error, 2 * most) + 1e-6;
}

/* Ten pairs of sets for every size: single ones and all together are within their errors, which are
 * no excuse. */
static const char *size_of(const subject *s, uint64_t d) {
    enum { PAIRS = 10 };
    double sum = 0, variance = 0;
    for (uint64_t i = 0; i < PAIRS; i++) {
        const uint64_t from = i * 100000, first = i % 2 ? d / 3 : d;
        tamis *a = filled(s, 50, 0.01, NULL, from, from + N + first);
        tamis *b = filled(s, 50, 0.01, NULL, from + first, from + N + d);
        struct tamis_estimate size;
        const tamis_status rc = tamis_difference_size(a, b, &size);
        tamis_free(a);
        tamis_free(b);
        if (rc == TAMIS_UNSUPPORTED) return NULL; /* the options exclude it */
        if (rc) return tamis_why();
        const double off = fabs(size.value - (double)d);
        if (off > may_be_off(size.error) || size.error > 0.5 * (double)d)
            return wrong("%llu differences are estimated as %.1f +- %.1f", (unsigned long long)d,
                         size.value, size.error);
        sum += size.value;
        variance += size.error * size.error;
    }
    if (fabs(sum - PAIRS * (double)d) <= may_be_off(sqrt(variance))) return NULL;
    return wrong("%d times %llu differences are %.1f in all", PAIRS, (unsigned long long)d, sum);
}

static const char *difference_sizes_hold(const subject *s) {
    for (uint64_t d = 1; d <= 10000; d *= 10) {
        const char *what = size_of(s, d);
        if (what) return what;
    }
    return NULL;
}

/* ---- Tables that are not of any set --------------------------------------------------------- */

static const char *compare_hostile(const tamis *a, const tamis *b, uint64_t max) {
    list listed = new_list(max);
    struct tamis_estimate size = {0, 0};
    const tamis_status rc = list_difference(a, b, &listed),
                       sized = tamis_difference_size(a, b, &size);
    const char *what = NULL;
    if (rc == TAMIS_CANCELLED) what = "more is listed than the payload has words";
    if (rc && rc != TAMIS_PARTIAL && rc != TAMIS_CORRUPT && rc != TAMIS_INVALID)
        what = wrong("a hostile table: %s", tamis_why());
    for (uint64_t i = 1; i < listed.n; i++)
        if (listed.at[i].hash == listed.at[i - 1].hash) what = "a hash is listed twice";
    if (!sized && !(size.value >= 0 && size.error >= 0)) what = "an estimate below zero";
    free(listed.at);
    return what;
}

/* Swaps two runs of bytes, or writes random bytes; every second time near the start, since small
 * tables contradict themselves more easily. */
static void spoil(uint8_t *payload, size_t size, uint64_t seed) {
    const size_t run = 8 * (size_t)(1 + test_number(91, seed) % 4), all = size / run;
    const size_t runs = seed % 2 && all > 16 ? 16 : all;
    const bool is_exchange = test_number(92, seed) % 4 > 0;
    for (uint64_t i = 0; i < 1 + seed % 5 && runs; i++) {
        uint8_t *a = payload + test_number(93 + seed, 2 * i) % runs * run;
        uint8_t *b = payload + test_number(93 + seed, 2 * i + 1) % runs * run;
        for (size_t j = 0; j < run && a != b; j++) {
            const uint8_t old = a[j];
            a[j] = is_exchange ? b[j] : (uint8_t)test_number(94 + i, seed + j);
            b[j] = is_exchange ? old : b[j];
        }
    }
}

static const char *hostile_with(const subject *s, uint64_t capacity) {
    tamis *a = filled(s, capacity, 0.01, NULL, 0, 2 * capacity), *g;
    tamis *b = filled(s, capacity, 0.01, NULL, capacity / 2, capacity);
    const char *what = NULL;
    size_t size;
    uint8_t *image = test_image(a, &size), *forged = malloc(size);
    if (!forged) abort();
    const uint64_t trials = effort(3000);
    for (uint64_t i = 0; i < trials && !what; i++) {
        memcpy(forged, image, size);
        spoil(forged + TEST_HEADER_BYTES, size - TEST_HEADER_BYTES, i);
        test_reseal(forged, size);
        if (tamis_load_with(&g, forged, size, secret_options(s->options))) continue;
        what = compare_hostile(g, b, size / 8);
        if (!what) what = compare_hostile(b, g, size / 8);
        tamis_free(g);
    }
    free(image);
    free(forged);
    tamis_free(a);
    tamis_free(b);
    return what;
}

static const char *hostile_tables_end(const subject *s) {
    static const uint64_t capacities[] = {1, 2, 3, 5, 30};
    const char *what = NULL;
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities && !what; i++)
        what = hostile_with(s, capacities[i]);
    return what;
}

const law difference_laws[] = {
    {"differences_are_exact", TAMIS_CAN_DIFFER, differences_are_exact, 0},
    {"same_sets_differ_in_nothing", TAMIS_CAN_DIFFER, same_sets_differ_in_nothing, 0},
    {"merged_parts_are_the_whole", TAMIS_CAN_DIFFER | TAMIS_CAN_MERGE, merged_parts_are_the_whole,
     0},
    {"too_many_are_a_part", TAMIS_CAN_DIFFER, too_many_are_a_part, 0},
    {"difference_sizes_hold", TAMIS_CAN_DIFFER, difference_sizes_hold, 0},
    {"hostile_tables_end", TAMIS_CAN_DIFFER, hostile_tables_end, 0},
    {NULL, 0, NULL, 0},
};
