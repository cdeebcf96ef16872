/* SPDX-License-Identifier: MIT */
/* Fingerprint tables, cuckoo, dleft and compaction, and the buckets that they share. Tests of one
 * kind alone are in the file of its name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "bits/packed.h"
#include "bits/probe.h"
#include "kinds/fp_table.h"
#include "tamis_engine.h"
#include "tests/support/batches.h"
#include "tests/support/bounds.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static const char *const subjects[] = {
    "cuckoo:sort=no",
    "cuckoo:sort=yes",
    "dleft:fpr=1%",
    "compaction:probing=uniform",
    "compaction:probing=linear",
    "compaction:probing=double",
};

static tamis *make_subject(size_t i, uint64_t capacity, double fpr) {
    if (strstr(subjects[i], "fpr"))
        return test_make("dleft:capacity=%llu,fpr=%g", (unsigned long long)capacity, fpr);
    return test_make("%s,capacity=%llu,fpr=%g", subjects[i], (unsigned long long)capacity, fpr);
}

/* ---- Buckets -------------------------------------------------------------------------------- */

/* A table against plain lists: random replacements, in every width, sorted and not. */
enum { BUCKETS = 7 };

static bool replace_in(uint64_t list[], unsigned slots, uint64_t old, uint64_t value) {
    for (unsigned i = 0; i < slots; i++)
        if (list[i] == old) {
            list[i] = value;
            return true;
        }
    return false;
}

static unsigned times_in(const uint64_t list[], unsigned slots, uint64_t value) {
    unsigned times = 0;
    for (unsigned i = 0; i < slots; i++) times += list[i] == value;
    return times;
}

static void demand_same_bucket(const tamis_table *t, uint64_t bucket, const uint64_t list[]) {
    uint64_t cell[TAMIS_TABLE_MAX_SLOTS];
    tamis__bucket_read(t, bucket, cell);
    for (unsigned i = 0; i < t->slots; i++) {
        assert_int_equal(times_in(cell, t->slots, list[i]), times_in(list, t->slots, list[i]));
        assert_true(tamis__table_has(t, bucket, list[i]));
    }
    assert_int_equal(tamis__bucket_load(t, bucket), t->slots - times_in(list, t->slots, 0));
}

static void try_table(unsigned slots, unsigned width, bool is_sorted) {
    tamis_table t = tamis__table(NULL, BUCKETS, slots, width, is_sorted);
    const size_t size = (size_t)tamis__table_size(t);
    uint64_t list[BUCKETS][TAMIS_TABLE_MAX_SLOTS] = {{0}};
    t.bytes = calloc(1, size); /* exact, so that a sanitizer sees any overrun */
    for (uint64_t i = 0; i < 2000; i++) {
        const uint64_t b = test_number(1, i) % BUCKETS, mask = tamis__field_mask(width);
        /* Few values, so that they collide; the largest, so that no bit is lost. */
        const uint64_t some[] = {0, 1, 2, 17, 33, mask, mask - 1, test_number(2, i)};
        const uint64_t old = some[test_number(3, i) % 8] & mask;
        const uint64_t value = some[test_number(4, i) % 8] & mask;
        assert_int_equal(tamis__table_has(&t, b, old), times_in(list[b], slots, old) > 0);
        const bool is_done = replace_in(list[b], slots, old, value);
        assert_int_equal(tamis__table_replace(&t, b, old, value), is_done);
        for (uint64_t j = 0; j < BUCKETS; j++) demand_same_bucket(&t, j, list[j]);
    }
    assert_int_equal(tamis__table_audit(&t), TAMIS_OK);
    free(t.bytes);
}

static void buckets_keep_what_was_put(void **state) {
    (void)state;
    for (unsigned width = 2; width <= 46; width += 3) {
        try_table(1, width, false);
        try_table(4, width, false);
        try_table(8, width, false);
        if (width >= TAMIS_SORTED_MIN_WIDTH) try_table(4, width, true);
    }
    try_table(4, 16, false); /* a bucket is exactly a word */
    try_table(4, 17, true);
}

/* All 3876 buckets of sorted nibbles have distinct codes below 3876, and come back. */
static void every_sorted_bucket_has_a_code(void **state) {
    (void)state;
    enum { CODES = 3876, WIDTH = 5 };
    static bool is_taken[CODES];
    uint8_t bytes[8];
    const tamis_table t = tamis__table(bytes, 1, 4, WIDTH, true);
    unsigned count = 0;
    for (uint64_t a = 0; a < 16; a++)
        for (uint64_t b = a; b < 16; b++)
            for (uint64_t c = b; c < 16; c++)
                for (uint64_t d = c; d < 16; d++, count++) {
                    const uint64_t list[] = {d, b, a, c}; /* unsorted */
                    memset(bytes, 0, sizeof bytes);
                    for (unsigned i = 0; i < 4; i++)
                        if (list[i]) assert_true(tamis__table_replace(&t, 0, 0, list[i]));
                    demand_same_bucket(&t, 0, list);
                    const uint64_t code = tamis__get64(bytes) & 0xfff;
                    assert_true(code < CODES && !is_taken[code]);
                    is_taken[code] = true;
                    assert_int_equal(tamis__table_audit(&t), TAMIS_OK);
                }
    assert_int_equal(count, CODES);
}

static void a_hash_is_split_and_joined(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        const unsigned width = 2 + (unsigned)(test_number(1, i) % 43);
        const uint64_t max = TAMIS_TABLE_MAX_CLASSES >> width;
        const uint64_t places = 1 + test_number(2, i) % (i % 3 ? max : 100);
        const uint64_t hash = i % 5 ? test_number(3, i) : i % 2 ? UINT64_MAX : 0;
        uint64_t value, again;
        const uint64_t place = tamis__split(hash, places, width, &value);
        assert_true(place < places && value >= 1 && value <= tamis__field_mask(width));
        const uint64_t joined = tamis__join(place, places, width, value);
        assert_int_equal(tamis__split(joined, places, width, &again), place);
        assert_int_equal(again, value);
        assert_true(joined <= hash); /* the smallest of its class */
    }
}

/* ---- Batches -------------------------------------------------------------------------------- */

/* Cells of all widths, within one word and not, sorted and not; tables within the cache and beyond.
 * They are filled up, so that fingerprints move, and with copies, so that some go to a stash. */
static void batches_are_single_keys(void **state) {
    (void)state;
    enum { SMALL = 3000, LARGE = 800000, COPIES = 12 };
    static uint64_t hashes[LARGE];
    for (uint64_t i = 0; i < LARGE; i++) hashes[i] = test_number(5, i);
    for (size_t s = 0; s < COUNT_OF(subjects); s++)
        for (double fpr = 0.5; fpr > 1e-9; fpr /= s < 2 ? 2 : 100) {
            tamis *f = make_subject(s, SMALL, fpr);
            char spec[128];
            assert_true(tamis_spec(f, spec, sizeof spec) < sizeof spec);
            tamis_free(f);
            test_batches(spec, hashes, SMALL);
        }
    test_batches("cuckoo:capacity=800000,fpr=0.19%", hashes, LARGE);
    test_batches("cuckoo:capacity=200000,fpr=1e-12", hashes, LARGE / 4);
    for (uint64_t i = 0; i < COPIES; i++) hashes[i + SMALL / 2] = hashes[0];
    test_batches("cuckoo:capacity=3000,fpr=0.19%", hashes, SMALL);
}

/* ---- Sizes and rates ------------------------------------------------------------------------ */

/* No other width, with as few buckets as it may have, is smaller by the papers' formulas. */
static void plans_are_the_smallest(void **state) {
    (void)state;
    const double n = 1e6;
    for (double fpr = 0.3; fpr > 1e-7; fpr *= 0.83) {
        char spec[96];
        double cuckoo = INFINITY, dleft = INFINITY;
        for (int w = 4; w < 40; w++) {
            const double values = pow(2, w) - 1;
            const double buckets = fmax(n / 3.8 + 4, 2 * n / values / -log1p(-fpr));
            cuckoo = fmin(cuckoo, buckets * 4 * w);
            dleft = fmin(dleft, fmax(n / 24, n / values / -log1p(-fpr)) * 32 * (w + 2));
        }
        snprintf(spec, sizeof spec, "cuckoo:capacity=1M,fpr=%.17g", fpr);
        assert_true(fabs(test_plan(spec).bits_per_key * n / cuckoo - 1) < 1e-3);
        snprintf(spec, sizeof spec, "dleft:capacity=1M,fpr=%.17g", fpr);
        assert_true(fabs(test_plan(spec).bits_per_key * n / dleft - 1) < 1e-3);
    }
}

/* The library's expected rates against the papers' formulas, computed here. */
static void expected_rates_are_those_of_the_papers(void **state) {
    (void)state;
    const double n = 1e6;
    for (double fpr = 0.02; fpr > 1e-6; fpr *= 0.6) {
        char spec[96];
        snprintf(spec, sizeof spec, "cuckoo:capacity=1M,fpr=%.17g", fpr);
        struct tamis_plan plan = test_plan(spec);
        const double load = n / (4 * (double)plan.word[0]), f = (double)plan.word[1];
        /* The paper treats cells as independent, which is off by 1/2^(f+1). */
        const double paper = 1 - pow(1 - 1 / (pow(2, f) - 1), 8 * load);
        assert_true(fabs(plan.fpr_expected / paper - 1) < pow(2, -f) + 1e-5);
        snprintf(spec, sizeof spec, "dleft:capacity=1M,fpr=%.17g", fpr);
        plan = test_plan(spec);
        const double classes = (double)plan.word[0] * (pow(2, (double)plan.word[1]) - 1);
        assert_true(fabs(plan.fpr_expected / -expm1(-n / classes) - 1) < 1e-6);
        if (fpr > 1e-3) continue; /* compaction's formula ignores omitted keys */
        snprintf(spec, sizeof spec, "compaction:capacity=1M,fpr=%.17g", fpr);
        plan = test_plan(spec);
        double m = (double)plan.word[0], values = pow(2, (double)plan.word[1]) - 1;
        assert_true(fabs(plan.fpr_expected / (n / (m - n + 1) / values) - 1) < 0.02);
        snprintf(spec, sizeof spec, "compaction:capacity=1M,fpr=%.17g,probing=linear", fpr);
        plan = test_plan(spec);
        m = (double)plan.word[0], values = pow(2, (double)plan.word[1]) - 1;
        const double knuth = (pow(1 - n / m, -2) - 1) / 2;
        assert_true(fabs(plan.fpr_expected / (knuth / values) - 1) < 0.02);
    }
}

/* Two-sided, from high rates to low ones, at several loads: half full, full, over capacity. */
static void nonmembers_hit_as_often_as_the_cells_say(void **state) {
    (void)state;
    enum { N = 20000, PROBES = 400000 };
    static const double rates[] = {0.3, 0.05, 0.002};
    for (size_t s = 0; s < COUNT_OF(subjects); s++)
        for (size_t r = 0; r < COUNT_OF(rates); r++) {
            tamis *f = make_subject(s, N, rates[r]);
            uint64_t at = 0;
            for (int part = 1; part <= 3; part++) {
                tamis_status rc = TAMIS_OK;
                for (; at < (uint64_t)part * N / 2 && !rc; at++)
                    rc = tamis_add_hash(f, test_number(s, at));
                uint64_t hits = 0;
                for (uint64_t k = 0; k < PROBES; k++)
                    hits += tamis_has_hash(f, test_number(s, TEST_STRANGERS + k));
                const double now = tamis_fpr_now(f);
                if (!test_is_possible(hits, PROBES, now, TEST_ALPHA))
                    fail_msg("%s at %g, part %d: %g, the cells say %g", subjects[s], rates[r], part,
                             (double)hits / PROBES, now);
            }
            tamis_free(f);
        }
}

/* Keys in a pattern are as good as random ones. */
static struct tamis_key pattern(int family, uint64_t i, char buffer[48]) {
    const uint64_t number = family == 0 ? i : i << 20;
    if (family < 2) {
        memcpy(buffer, &number, sizeof number);
        return (struct tamis_key){buffer, sizeof number};
    }
    const int len =
        snprintf(buffer, 48, "https://example.org/a/long/prefix/%llu", (unsigned long long)i);
    return (struct tamis_key){buffer, (size_t)len};
}

static void structured_keys_are_keys_like_others(void **state) {
    (void)state;
    enum { N = 20000, PROBES = 200000 };
    for (size_t s = 0; s < COUNT_OF(subjects); s++)
        for (int family = 0; family < 3; family++) {
            tamis *f = make_subject(s, N, 0.01);
            char buffer[48];
            uint64_t hits = 0;
            assert_int_equal(tamis_add(f, "", 0), TAMIS_OK);
            for (uint64_t i = 1; i < N; i++) {
                const struct tamis_key key = pattern(family, i, buffer);
                assert_int_equal(tamis_add(f, key.bytes, key.len), TAMIS_OK);
            }
            for (uint64_t i = 1; i < N; i++) {
                const struct tamis_key key = pattern(family, i, buffer);
                assert_true(tamis_has(f, key.bytes, key.len));
            }
            assert_true(tamis_has(f, "", 0));
            for (uint64_t i = N; i < N + PROBES; i++) {
                const struct tamis_key key = pattern(family, i, buffer);
                hits += tamis_has(f, key.bytes, key.len);
            }
            assert_true(test_is_possible(hits, PROBES, tamis_fpr_now(f), TEST_ALPHA));
            tamis_free(f);
        }
}

/* ---- Capacity ------------------------------------------------------------------------------- */

/* Every capacity is kept, and any room above it, by many small tables of each. */
static void every_capacity_is_kept(void **state) {
    (void)state;
    enum { MAX = 200, TABLES = 12 };
    static const double rates[] = {0.5, 0.01};
    for (size_t s = 0; s < COUNT_OF(subjects); s++)
        for (uint64_t n = 1; n <= MAX; n++)
            for (uint64_t k = 0; k < TABLES; k++) {
                tamis *f = make_subject(s, n, rates[k % 2]);
                uint64_t i = 0;
                tamis_status rc = TAMIS_OK;
                while (i < 2 * n && !rc) rc = tamis_add_hash(f, test_number(1000 * n + k, i++));
                if (rc) i--;
                if (i < n || (rc && !strstr(tamis_why(), "room for 0")))
                    fail_msg("%s of %llu keys: %s", subjects[s], (unsigned long long)n,
                             tamis_why());
                while (i-- > 0) assert_true(tamis_has_hash(f, test_number(1000 * n + k, i)));
                tamis_free(f);
            }
}

static void large_tables_are_filled_to_the_last(void **state) {
    (void)state;
    static const char *const specs[] = {
        "cuckoo:capacity=500K,fpr=1%",          "cuckoo:capacity=200K,fpr=90%",
        "cuckoo:capacity=200K,fpr=1%,sort=yes", "dleft:capacity=300K,fpr=1%",
        "dleft:capacity=200K,fpr=90%",          "compaction:capacity=300K,fpr=1%",
    };
    for (size_t s = 0; s < COUNT_OF(specs); s++) {
        tamis *f = test_make("%s", specs[s]);
        const uint64_t n = test_info(f).capacity;
        for (uint64_t i = 0; i < n; i++)
            if (tamis_add_hash(f, test_number(s, i)))
                fail_msg("%s: %llu keys: %s", specs[s], (unsigned long long)i, tamis_why());
        for (uint64_t i = 0; i < n; i++) assert_true(tamis_has_hash(f, test_number(s, i)));
        tamis_free(f);
    }
}

static void what_cannot_be_is_refused_with_a_message(void **state) {
    (void)state;
    static const struct {
        const char *spec, *word;
        tamis_status status;
    } bad[] = {
        {"cuckoo:capacity=1000,size=100", "size=608", TAMIS_INVALID},
        {"dleft:capacity=1000,size=100", "size=1016", TAMIS_INVALID},
        {"compaction:capacity=1000,size=100", "size=288", TAMIS_INVALID},
        {"cuckoo:capacity=1M,fpr=1e-12", "keys is 1.7e-12", TAMIS_INVALID},
        {"cuckoo:capacity=2^56,fpr=1%", "keys is 0.12", TAMIS_INVALID},
        {"dleft:capacity=2^56,fpr=90%", "cannot have", TAMIS_TOO_LARGE},
        {"compaction:capacity=2^56,fpr=5%", "is too low; the minimum for", TAMIS_INVALID},
    };
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(tamis_plan_spec(bad[i].spec, &plan), bad[i].status);
        if (!strstr(tamis_why(), bad[i].word)) fail_msg("%s: %s", bad[i].spec, tamis_why());
    }
    test_plan("cuckoo:capacity=1000,size=608"); /* the size that the message names is enough */
    test_plan("dleft:capacity=1000,size=1016");
    test_plan("compaction:capacity=1000,size=288");
    test_plan("cuckoo:capacity=100K,fpr=1e-12,sort=yes");
    test_plan("dleft:capacity=1,fpr=1e-12");
    test_plan("compaction:capacity=100K,fpr=1e-12");
    test_plan("compaction:capacity=2^56,fpr=50%,probing=linear");
}

/* Keys come and go at 95 % load, ten times the capacity; nothing is refused or lost. */
static void churn_loses_nothing(void **state) {
    (void)state;
    enum { CAPACITY = 10000, LIVE = 9500 };
    static uint64_t live[LIVE];
    for (size_t s = 0; s < 3; s++) {
        tamis *f = make_subject(s, CAPACITY, 0.001);
        uint64_t fresh = 0;
        for (; fresh < LIVE; fresh++) {
            live[fresh] = test_number(s, fresh);
            assert_int_equal(tamis_add_hash(f, live[fresh]), TAMIS_OK);
        }
        for (uint64_t i = 0; i < 10 * CAPACITY; i++) {
            uint64_t *leaving = &live[test_number(s + 10, i) % LIVE];
            assert_int_equal(tamis_remove_hash(f, *leaving), TAMIS_OK);
            *leaving = test_number(s, fresh++);
            assert_int_equal(tamis_add_hash(f, *leaving), TAMIS_OK);
        }
        for (uint64_t i = 0; i < LIVE; i++) assert_true(tamis_has_hash(f, live[i]));
        tamis_free(f);
    }
}

/* ---- All or nothing ------------------------------------------------------------------------- */

enum { CELLS_OF_TWO_BUCKETS = 8, STASH = 8 };

typedef struct listed {
    uint64_t hash, count;
} listed;

static int by_hash(const void *a, const void *b) {
    const listed *x = a, *y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

/* What tamis_next lists, sorted, with counts added up. A fingerprint may be in either bucket, so
 * each is named by the smaller hash of its two. */
static size_t list_of(const tamis *f, listed list[], size_t max) {
    const uint64_t buckets = test_info(f).word[0];
    const unsigned width = (unsigned)test_info(f).word[1];
    const bool is_cuckoo = strcmp(test_info(f).kind, "cuckoo") == 0;
    uint64_t cursor = 0, hash, count;
    size_t n = 0, kept = 0;
    while (tamis_next(f, &cursor, &hash, &count)) {
        assert_true(n < max);
        if (is_cuckoo) {
            uint64_t value;
            const uint64_t i = tamis__split(hash, buckets, width, &value);
            const uint64_t offset = tamis__range(tamis__mix(value), buckets);
            const uint64_t other =
                tamis__join((offset + buckets - i) % buckets, buckets, width, value);
            if (other < hash) hash = other;
        }
        list[n++] = (listed){hash, count};
    }
    qsort(list, n, sizeof *list, by_hash);
    for (size_t i = 0; i < n; i++)
        if (kept && list[kept - 1].hash == list[i].hash)
            list[kept - 1].count += list[i].count;
        else
            list[kept++] = list[i];
    return kept;
}

enum { MAX_LISTED = 3000 };

static bool same_list(const tamis *a, const tamis *b) {
    static listed x[MAX_LISTED], y[MAX_LISTED];
    const size_t m = list_of(a, x, MAX_LISTED), n = list_of(b, y, MAX_LISTED);
    return m == n && memcmp(x, y, m * sizeof *x) == 0;
}

static void a_failed_batch_is_taken_back(void **state) {
    (void)state;
    /* New keys, existing keys, and finally one key too often. */
    enum { NEW = 200, OLD = 100, COPIES = CELLS_OF_TWO_BUCKETS + STASH + 1 };
    uint64_t batch[NEW + OLD + COPIES];
    for (uint64_t i = 0; i < NEW; i++) batch[i] = test_number(1, i);
    for (uint64_t i = 0; i < OLD; i++) batch[NEW + i] = test_number(2, i);
    for (uint64_t i = 0; i < COPIES; i++) batch[NEW + OLD + i] = test_number(3, 0);
    for (size_t s = 0; s < 2; s++) {
        tamis *f = make_subject(s, 1000, 0.001);
        for (uint64_t i = 0; i < 300; i++) tamis_add_hash(f, test_number(2, i));
        tamis *old = test_copy(f);
        assert_int_equal(tamis_add_hashes(f, batch, COUNT_OF(batch)), TAMIS_FULL);
        assert_non_null(strstr(tamis_why(), "again"));
        assert_true(same_list(f, old));
        assert_int_equal(test_bits_at(f, 0, 64), 300);
        assert_int_equal(tamis_add_hashes(f, batch, COUNT_OF(batch) - 1), TAMIS_OK);
        tamis_free(old);
        tamis_free(f);
    }
}

/* ---- Listing and merging -------------------------------------------------------------------- */

static void what_is_listed_makes_the_filter_again(void **state) {
    (void)state;
    for (size_t s = 0; s < 3; s++) {
        tamis *f = make_subject(s, 1000, 0.01);
        tamis *again = test_copy(f);
        for (uint64_t i = 0; i < 1000; i++) tamis_add_hash(f, test_number(1, i % 900));
        uint64_t cursor = 0, hash, count, listed_count = 0;
        while (tamis_next(f, &cursor, &hash, &count)) {
            listed_count += count;
            assert_true(tamis_has_hash(f, hash));
            while (count--) assert_int_equal(tamis_add_hash(again, hash), TAMIS_OK);
        }
        assert_int_equal(listed_count, 1000);
        assert_false(tamis_next(f, &cursor, &hash, &count));
        assert_true(same_list(f, again));
        for (uint64_t i = 0; i < 20000; i++) {
            assert_int_equal(tamis_has_hash(f, test_number(1, i)),
                             tamis_has_hash(again, test_number(1, i)));
            assert_int_equal(tamis_count_hash(f, test_number(1, i)),
                             tamis_count_hash(again, test_number(1, i)));
        }
        tamis_free(again);
        tamis_free(f);
    }
}

static void merging_adds_up_or_changes_nothing(void **state) {
    (void)state;
    for (size_t s = 0; s < 3; s++) {
        tamis *a = make_subject(s, 1000, 0.0001), *b = test_copy(a), *both = test_copy(a);
        for (uint64_t i = 0; i < 500; i++) tamis_add_hash(a, test_number(1, i));
        for (uint64_t i = 400; i < 800; i++) tamis_add_hash(b, test_number(1, i));
        for (uint64_t i = 0; i < 900; i++)
            tamis_add_hash(both, test_number(1, i < 500 ? i : i - 100));
        struct tamis_estimate common;
        assert_int_equal(tamis_overlap(a, b, &common), TAMIS_OK);
        assert_true(fabs(common.value - 100) <= 6 * common.error + 1e-3 && common.error < 5);
        assert_int_equal(tamis_merge(a, b), TAMIS_OK);
        assert_true(same_list(a, both));
        tamis_free(both);
        /* Too many keys: refused before anything changes. */
        tamis *old = test_copy(a), *more = make_subject(s, 1000, 0.0001);
        for (uint64_t i = 0; i < 900; i++) tamis_add_hash(more, test_number(2, i));
        assert_int_equal(tamis_merge(a, more), TAMIS_FULL);
        assert_true(same_list(a, old));
        assert_int_equal(test_info(a).items, 900);
        tamis_free(old);
        tamis_free(more);
        tamis_free(a);
        tamis_free(b);
    }
}

static uint64_t capped(uint64_t count) {
    return count < 3 ? count : 3;
}

/* There is room, but one key comes too often: what was merged by then is undone. */
static void a_merge_that_fails_half_way_is_taken_back(void **state) {
    (void)state;
    tamis *a = test_make("cuckoo:capacity=1000,fpr=0.0001"), *b = test_copy(a);
    for (uint64_t i = 0; i < 300; i++) tamis_add_hash(a, test_number(1, i));
    for (uint64_t i = 0; i < 300; i++) tamis_add_hash(b, test_number(2, i));
    for (int i = 0; i < 12; i++) {
        tamis_add_hash(a, test_number(3, 0));
        tamis_add_hash(b, test_number(3, 0));
    }
    tamis *old = test_copy(a);
    assert_int_equal(tamis_merge(a, b), TAMIS_FULL);
    assert_non_null(strstr(tamis_why(), "again"));
    assert_true(same_list(a, old));
    assert_int_equal(tamis_merge(a, a), TAMIS_INVALID);
    assert_true(same_list(a, old));
    tamis_free(old);
    tamis_free(a);
    tamis_free(b);
    a = test_make("dleft:capacity=100,fpr=0.0001");
    for (uint64_t i = 0; i < 50; i++) tamis_add_hash(a, test_number(1, i));
    for (uint64_t times = 2; times < 5; times++) { /* with itself: 2, then 4 and saturated */
        assert_int_equal(tamis_merge(a, a), TAMIS_OK);
        for (uint64_t i = 0; i < 50; i++)
            assert_int_equal(tamis_count_hash(a, test_number(1, i)), capped(times));
    }
    tamis_free(a);
}

/* ---- The gate ------------------------------------------------------------------------------- */

static void false_heads_are_refused(void **state) {
    (void)state;
    for (size_t s = 0; s < COUNT_OF(subjects); s++) {
        tamis *f = make_subject(s, 1000, 0.01);
        for (uint64_t i = 0; i < 500; i++) tamis_add_hash(f, test_number(1, i));
        size_t size;
        uint8_t *image = test_image(f, &size);
        const uint64_t used = test_bits_at(f, 0, 64);
        assert_true(test_takes_word(image, size, 0, used));
        assert_false(test_takes_word(image, size, 0, used + 1));
        assert_false(test_takes_word(image, size, 0, used - 1));
        assert_false(test_takes_word(image, size, 0, UINT64_MAX));
        free(image);
        tamis_free(f);
    }
}

/* Whatever the gate accepts can be used in every way: nothing leaves the payload, nothing loops. */
static void use(tamis *f) {
    uint64_t cursor = 0, hash, count, listed_count = 0;
    const unsigned can = test_info(f).abilities;
    for (uint64_t i = 0; i < 50; i++) {
        tamis_has_hash(f, test_number(9, i));
        tamis_count_hash(f, test_number(9, i));
        tamis_add_hash(f, test_number(9, i));
    }
    while (tamis_next(f, &cursor, &hash, &count)) {
        assert_true(tamis_has_hash(f, hash));
        listed_count++;
    }
    if (can & TAMIS_CAN_LIST) assert_int_equal(listed_count, test_bits_at(f, 0, 64));
    tamis *g = test_copy(f);
    if (tamis_merge(g, f) == TAMIS_OK) test_info(g);
    struct tamis_estimate common;
    tamis_overlap(f, g, &common);
    for (uint64_t i = 0; i < 50; i++) tamis_remove_hash(f, test_number(9, i));
    size_t size;
    uint8_t *image = test_image(f, &size);
    assert_int_equal(test_load_resealed(image, size, NULL),
                     TAMIS_OK); /* the result passes the gate again */
    free(image);
    tamis_free(g);
}

static void forged_payloads_are_refused_or_harmless(void **state) {
    (void)state;
    for (size_t s = 0; s < COUNT_OF(subjects); s++) {
        tamis *f = make_subject(s, 20, 0.05), *g;
        size_t size;
        unsigned accepted = 0;
        for (uint64_t i = 0; i < 20; i++) tamis_add_hash(f, test_number(1, i));
        uint8_t *image = test_image(f, &size), *forged = malloc(size);
        for (uint64_t i = 0; i < 3000; i++) {
            memcpy(forged, image, size);
            for (uint64_t j = 0; j <= i % 4; j++) { /* anywhere in the payload, or in a word */
                const uint64_t bits = 8 * (size - TEST_HEADER_BYTES);
                const uint64_t bit = i % 8 < 6 ? 8 * TEST_HEADER_BYTES + test_number(i, j) % bits
                                               : 8 * 80 + test_number(i, j) % (3 * 64);
                forged[bit / 8] ^= (uint8_t)(1 << bit % 8);
            }
            test_reseal(forged, size);
            if (tamis_load(&g, forged, size)) continue;
            accepted++;
            use(g);
            tamis_free(g);
        }
        assert_true(accepted > 30);
        free(image);
        free(forged);
        tamis_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_keep_what_was_put),
        cmocka_unit_test(every_sorted_bucket_has_a_code),
        cmocka_unit_test(a_hash_is_split_and_joined),
        cmocka_unit_test(batches_are_single_keys),
        cmocka_unit_test(plans_are_the_smallest),
        cmocka_unit_test(expected_rates_are_those_of_the_papers),
        cmocka_unit_test(nonmembers_hit_as_often_as_the_cells_say),
        cmocka_unit_test(structured_keys_are_keys_like_others),
        cmocka_unit_test(every_capacity_is_kept),
        cmocka_unit_test(large_tables_are_filled_to_the_last),
        cmocka_unit_test(what_cannot_be_is_refused_with_a_message),
        cmocka_unit_test(churn_loses_nothing),
        cmocka_unit_test(a_failed_batch_is_taken_back),
        cmocka_unit_test(what_is_listed_makes_the_filter_again),
        cmocka_unit_test(merging_adds_up_or_changes_nothing),
        cmocka_unit_test(a_merge_that_fails_half_way_is_taken_back),
        cmocka_unit_test(false_heads_are_refused),
        cmocka_unit_test(forged_payloads_are_refused_or_harmless),
    };
    return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
