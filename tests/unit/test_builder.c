/* SPDX-License-Identifier: MIT */
/* The builder: one set gives one filter, whatever the order, the threads and the memory; failed,
 * cancelled and impossible builds leave nothing behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/builder.h"
#include "tamis_engine.h"
#include "tests/support/failing_allocator.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/require_ok.h"
#include "tests/support/temp_dir.h"

#define MIB ((uint64_t)1 << 20)

/* ---- Helpers -------------------------------------------------------------------------------- */

static char dir[TEST_FOLDER_BYTES], path[128];

static int enter_dir(void **state) {
    (void)state;
    if (!test_enter_dir(dir)) return -1;
    snprintf(path, sizeof path, "%s/a.tamis", dir);
    return 0;
}

static int leave_dir(void **state) {
    (void)state;
    return test_leave_dir(dir);
}

#define REFUSED(status, word, call)                                                          \
    do {                                                                                     \
        const tamis_status rc_ = (call);                                                     \
        if (rc_ != (status))                                                                 \
            fail_msg("%s gives %s: %s", #call, tamis_status_name(rc_), tamis_why());         \
        if (!strstr(tamis_why(), word)) fail_msg("'%s' does not say %s", tamis_why(), word); \
    } while (0)

static tamis_builder *open_builder(const char *spec, uint64_t limit, unsigned threads) {
    const struct tamis_builder_options options = {
        .struct_size = sizeof options, .memory_limit = limit, .temp_dir = dir, .threads = threads};
    tamis_builder *b;
    REQUIRE_OK(tamis_builder_create_with(&b, spec, &options));
    return b;
}

static tamis *finish(tamis_builder *b) {
    tamis *f;
    REQUIRE_OK(tamis_builder_finish(b, &f));
    tamis_builder_free(b);
    return f;
}

/* The bytes of an image. */
typedef struct bytes {
    uint8_t *at;
    size_t size;
} bytes;

static bytes bytes_of(tamis *f) {
    bytes b;
    b.at = test_image(f, &b.size);
    tamis_free(f);
    return b;
}

static bytes bytes_of_file(const char *name) {
    tamis *f;
    REQUIRE_OK(tamis_read(&f, name));
    return bytes_of(f);
}

static bool are_same(bytes a, bytes b) {
    return a.size == b.size && memcmp(a.at, b.at, a.size) == 0;
}

/* ---- One set, one filter -------------------------------------------------------------------- */

/* N keys, every tenth of them twice, in one of three orders. */
enum { N = 40000, TWICE = N / 10, ALL = N + TWICE };
enum { FORWARD, BACKWARD, MIXED, ORDERS };

static uint64_t key_in(int order, uint64_t i) {
    const uint64_t j = order == FORWARD    ? i
                       : order == BACKWARD ? ALL - 1 - i
                                           : i * 7919 % ALL; /* 7919 is coprime to ALL */
    return test_number(3, j < N ? j : (j - N) * 10);
}

typedef struct way {
    int order;
    unsigned threads;
    uint64_t limit;
    size_t at_once; /* hashes per call */
} way;

static const way ways[] = {
    {FORWARD, 1, 0, 1},         {BACKWARD, 1, 0, 1000},     {MIXED, 2, 0, 7},
    {MIXED, 4, MIB, 1},         {FORWARD, 3, MIB, 5000},    {BACKWARD, 2, 4 * MIB, 300},
    {MIXED, 1, 2 * MIB, 66000}, {FORWARD, 4, 16 * MIB, 64},
};
enum { WAYS = sizeof ways / sizeof *ways };

static tamis_builder *filled(const char *spec, const way *w) {
    tamis_builder *b = open_builder(spec, w->limit, w->threads);
    uint64_t *hashes = malloc(w->at_once * sizeof *hashes);
    for (uint64_t i = 0; i < ALL;) {
        size_t n = 0;
        for (; n < w->at_once && i < ALL; n++, i++) hashes[n] = key_in(w->order, i);
        REQUIRE_OK(tamis_builder_add_hashes(b, hashes, n));
    }
    free(hashes);
    return b;
}

static void one_set_is_one_filter(void **state) {
    (void)state;
    static const char *const specs[] = {
        "sorted:segment=16384",
        "sorted:segment=1024",
        "sorted_map:segment=2048",
        "sorted_sets:segment=1500",
        "classic:fpr=1%",                 /* any order, no duplicates */
        "classic:fpr=1%,capacity=50000",  /* added directly */
        "blocked:size=2M,capacity=44000", /* added directly, in bulk */
        "counting:fpr=2%",                /* counts: keeps duplicates */
        "counting:fpr=2%,capacity=50000",
        "cuckoo:fpr=1%", /* order matters */
        "cuckoo:fpr=1%,capacity=50000",
        "quotient",
        "spectral:mode=recurring", /* any order without that option */
        "spectral:mode=recurring,capacity=50000",
        "scalable:capacity=1000", /* grows */
        "pile:capacity=100",      /* any order, and grows */
        "approximator:value=8",
    };
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        bytes first = {0};
        for (size_t i = 0; i < WAYS; i++) {
            const bytes now = bytes_of(finish(filled(specs[s], &ways[i])));
            if (i && !are_same(first, now)) fail_msg("%s differs in way %zu", specs[s], i);
            if (i) free(now.at);
            if (i == 0) first = now;
        }
        free(first.at);
        assert_int_equal(test_files_in(dir), 0);
    }
}

/* Where order is time, order matters, and nothing else does. */
static void time_is_kept(void **state) {
    (void)state;
    static const char *const kinds[] = {"window", "stable"};
    for (size_t k = 0; k < 2; k++) {
        char counted[64], given[64];
        snprintf(counted, sizeof counted, "%s:fpr=2%%", kinds[k]);
        snprintf(given, sizeof given, "%s:fpr=2%%,capacity=%d", kinds[k], ALL);
        const bytes first = bytes_of(finish(filled(counted, &ways[3])));
        for (size_t i = 0; i < WAYS; i++)
            for (int is_given = 0; is_given < 2; is_given++) {
                const bytes now = bytes_of(finish(filled(is_given ? given : counted, &ways[i])));
                assert_int_equal(are_same(first, now), ways[i].order == ways[3].order);
                free(now.at);
            }
        free(first.at);
    }
}

static void file_equals_memory(void **state) {
    (void)state;
    static const char *const specs[] = {"sorted:segment=1024", "classic:fpr=1%", "cuckoo",
                                        "blocked:capacity=44000", "window"};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++)
        for (size_t i = 0; i < WAYS; i += 3) {
            tamis_builder *b = filled(specs[s], &ways[i]);
            REQUIRE_OK(tamis_builder_set_note(b, "source", "a test"));
            REQUIRE_OK(tamis_builder_finish_to(b, path));
            const bytes in_file = bytes_of_file(path), in_memory = bytes_of(finish(b));
            assert_true(are_same(in_file, in_memory));
            free(in_file.at);
            free(in_memory.at);
            assert_int_equal(test_files_in(dir), 1);
        }
}

static void everything_is_found(void **state) {
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        tamis *f = finish(filled("sorted:segment=1024", &ways[i]));
        const struct tamis_info info = test_info(f);
        assert_int_equal(info.items, N);
        for (uint64_t k = 0; k < ALL; k++) assert_true(tamis_has_hash(f, key_in(FORWARD, k)));
        for (uint64_t k = 0; k < 1000; k++)
            assert_false(tamis_has_hash(f, test_number(3, TEST_STRANGERS + k)));
        tamis_free(f);
    }
}

/* Keys, integers and hashes, one by one or many at once, give the same filter. */
static void all_entry_points_agree(void **state) {
    (void)state;
    static const char *const specs[] = {"sorted", "classic", "classic:capacity=1000", "counting"};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        tamis_builder *a = open_builder(specs[s], 0, 1), *b = open_builder(specs[s], 0, 1),
                      *c = open_builder(specs[s], 0, 1);
        static uint8_t text[1000][8];
        static struct tamis_key keys[1000];
        for (uint64_t i = 0; i < 1000; i++) {
            for (int j = 0; j < 8; j++) text[i][j] = (uint8_t)(i >> 8 * j);
            keys[i] = (struct tamis_key){text[i], 8};
            REQUIRE_OK(tamis_builder_add_u64(a, i));
            REQUIRE_OK(tamis_builder_add_hash(b, tamis_builder_hash(b, text[i], 8)));
        }
        REQUIRE_OK(tamis_builder_add_many(c, keys, 1000));
        const bytes x = bytes_of(finish(a)), y = bytes_of(finish(b)), z = bytes_of(finish(c));
        assert_true(are_same(x, y) && are_same(x, z));
        free(x.at), free(y.at), free(z.at);
    }
}

/* ---- Few and equal -------------------------------------------------------------------------- */

static void none_and_one(void **state) {
    (void)state;
    static const char *const specs[] = {
        "sorted", "sorted_map", "sorted_sets", "classic",
        "cuckoo", "window",     "scalable",    "blocked:capacity=10"};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++)
        for (uint64_t limit = 0; limit <= MIB; limit += MIB)
            for (uint64_t n = 0; n < 2; n++) {
                tamis_builder *b = open_builder(specs[s], limit, 3);
                for (uint64_t i = 0; i < n; i++) REQUIRE_OK(tamis_builder_add_hash(b, UINT64_MAX));
                REQUIRE_OK(tamis_builder_finish_to(b, path));
                tamis *f = finish(b), *g;
                assert_int_equal(test_info(f).items, n);
                assert_int_equal(tamis_has_hash(f, UINT64_MAX), n);
                assert_false(tamis_has_hash(f, 0));
                REQUIRE_OK(tamis_map(&g, path));
                assert_int_equal(tamis_has_hash(g, UINT64_MAX), n);
                tamis_free(f);
                tamis_free(g);
            }
}

static void one_key_many_times(void **state) {
    (void)state;
    for (uint64_t limit = 0; limit <= 2 * MIB; limit += 2 * MIB) {
        tamis_builder *b = open_builder("sorted", limit, 2),
                      *c = open_builder("counting", limit, 2);
        for (uint64_t i = 0; i < 50000; i++) REQUIRE_OK(tamis_builder_add_hash(b, 77));
        for (uint64_t i = 0; i < 9; i++) REQUIRE_OK(tamis_builder_add_hash(c, 77));
        tamis *f = finish(b), *g = finish(c);
        assert_int_equal(test_info(f).items, 1);
        assert_true(tamis_has_hash(f, 77));
        assert_int_equal(test_info(g).items, 9);
        assert_int_equal(tamis_count_hash(g, 77), 9);
        tamis_free(f);
        tamis_free(g);
    }
}

/* ---- Records alone -------------------------------------------------------------------------- */

/* Against qsort, for record counts around every boundary: few, blocks, rows on disk. */
typedef struct pair {
    uint64_t hash, value;
} pair;

static int compare_pairs(const void *a, const void *b) {
    const pair *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/* With scratch memory for all records, or for a part: then they are sorted in runs and merged. */
static void sort_like_qsort(uint64_t n, bool has_values, bool keeps_equal, uint64_t top,
                            unsigned part) {
    test_failing_allocator failing = {0};
    const struct tamis_allocator allocator = test_allocator(&failing);
    const tamis_record_form form = {
        .has_values = has_values, .keeps_equal = keeps_equal, .rule = TAMIS_RECORDS_LABELS};
    tamis_records *r;
    REQUIRE_OK(tamis__records_open(&r, &form, MIB, dir, &allocator));
    pair *model = calloc(n + 1, sizeof *model);
    for (uint64_t i = 0; i < n; i++) {
        /* Some are equal; all share the first byte, so that one partition has them. */
        model[i].hash = top << 56 | test_number(9, i % (n / 3 + 1)) >> 8;
        model[i].value = has_values ? test_number(10, i % (n / 2 + 1)) : 0;
        REQUIRE_OK(tamis__records_put(r, &model[i].hash, 1, model[i].value));
    }
    qsort(model, n, sizeof *model, compare_pairs);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < n; i++)
        if (keeps_equal || i == 0 || compare_pairs(&model[kept - 1], &model[i]) != 0)
            model[kept++] = model[i];
    tamis_census census = {0};
    uint64_t size = tamis__records_scratch(r, (unsigned)top) / part;
    if (part > 1) size += 16 * 1024; /* for the list of runs */
    uint64_t *scratch = malloc(size + 8);
    for (int again = 0; again < 2; again++) /* sorting twice is allowed */
        REQUIRE_OK(tamis__records_sort(r, (unsigned)top, scratch, size, &census, NULL, NULL));
    assert_int_equal(census.records, 2 * kept);
    assert_int_equal(tamis__records_count(r), kept);
    tamis_record_cursor cursor = {0};
    uint64_t *room = malloc(TAMIS_RECORDS_ROOM), hash, value, i = 0;
    for (tamis_status rc; tamis__records_read(r, &cursor, room, 1, &hash, &value, &rc); i++)
        assert_true(i < kept && hash == model[i].hash && value == model[i].value);
    assert_int_equal(i, kept);
    tamis__records_free(r);
    assert_int_equal(failing.blocks, 0);
    free(model), free(scratch), free(room);
}

static void records_are_sorted(void **state) {
    (void)state;
    static const uint64_t counts[] = {0,   1,   2,    47,   48,   49,   127,   128,   129,
                                      255, 257, 4000, 8191, 8192, 8193, 20000, 60000, 131072};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int form = 0; form < 4; form++)
            for (unsigned part = 1; part <= 27; part *= 3)
                sort_like_qsort(counts[c], form & 1, form & 2, counts[c] % 256, part);
}

/* Without a limit there are more partitions as records come. Where memory for that runs out, the
 * call can be repeated. */
static void part_as_they_come(uint64_t n, long fail_from, uint64_t *sum) {
    enum { STEP = 50 };
    test_failing_allocator failing = {0};
    const struct tamis_allocator allocator = test_allocator(&failing);
    const tamis_record_form form = {.has_values = true, .rule = TAMIS_RECORDS_LABELS};
    uint64_t hash[STEP], at = 0;
    tamis_census census = {0};
    tamis_records *r;
    REQUIRE_OK(tamis__records_open(&r, &form, 0, dir, &allocator));
    failing.fail_at = fail_from ? failing.calls + fail_from : 0;
    for (uint64_t i = 0; i < n; i += STEP) {
        for (uint64_t j = 0; j < STEP; j++) hash[j] = test_number(9, i + j);
        for (int again = 0; again < 1 + (i % 1000 == 0); again++) {
            if (again) tamis__records_take_back(r, hash, STEP);
            const tamis_status rc = tamis__records_put(r, hash, STEP, i);
            if (rc) REQUIRE_OK(tamis__records_put(r, hash, STEP, i));
        }
    }
    assert_int_equal(tamis__records_count(r), n);
    for (unsigned p = 0; p < 256; p++) {
        const uint64_t size = tamis__records_scratch(r, p);
        uint64_t *scratch = malloc(size + 8);
        REQUIRE_OK(tamis__records_sort(r, p, scratch, size, &census, NULL, NULL));
        free(scratch);
    }
    assert_int_equal(census.records, n);
    tamis_record_cursor cursor = {0};
    uint64_t *room = malloc(TAMIS_RECORDS_ROOM), got, value, before = 0;
    *sum = 0;
    for (tamis_status rc; tamis__records_read(r, &cursor, room, 1, &got, &value, &rc); at++) {
        assert_true(got > before);
        *sum += got * (value + 1);
        before = got;
    }
    assert_int_equal(at, n);
    free(room);
    tamis__records_free(r);
    assert_int_equal(failing.blocks, 0);
}

static void partitions_become_more(void **state) {
    (void)state;
    static const uint64_t counts[] = {50, 65500, 65550, 130000, 1048600};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        uint64_t want = 0, sum;
        for (uint64_t i = 0; i < counts[c]; i++) want += test_number(9, i) * (i / 50 * 50 + 1);
        part_as_they_come(counts[c], 0, &sum);
        assert_true(sum == want);
        for (long at = 1; at < 320 && counts[c] == 65550; at++) {
            part_as_they_come(counts[c], at, &sum);
            assert_true(sum == want);
        }
    }
}

/* Blocks stay in memory while a quarter of the limit has room for them. Each partition's first
 * block has its room reserved. */
static void memory_is_used_up(void **state) {
    (void)state;
    test_failing_allocator failing = {0};
    const struct tamis_allocator allocator = test_allocator(&failing);
    const tamis_record_form form = {.keeps_equal = true};
    const uint64_t limit = 2 * MIB - 1, block = 1024; /* 256 larger blocks would not fit */
    tamis_records *r;
    REQUIRE_OK(tamis__records_open(&r, &form, limit, dir, &allocator));
    const uint64_t nothing = tamis__records_memory(r);
    for (uint64_t i = 0; i < 200000; i++) {
        const uint64_t hash = test_number(18, i);
        REQUIRE_OK(tamis__records_put(r, &hash, 1, 0));
    }
    const uint64_t used = tamis__records_memory(r) - nothing;
    assert_in_range(used, limit / 4 - block, limit / 4);
    tamis__records_free(r);
    assert_int_equal(failing.blocks, 0);
}

/* ---- Values --------------------------------------------------------------------------------- */

static void values_come_back_and_conflicts_are_reported(void **state) {
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        tamis_builder *b = open_builder("sorted_map:segment=1024", ways[i].limit, ways[i].threads);
        for (uint64_t k = 0; k < 40000; k++) {
            const uint64_t key = ways[i].order == BACKWARD ? 39999 - k : k;
            REQUIRE_OK(tamis_builder_put_hash(b, test_number(1, key), key));
            if (key % 5 == 0) REQUIRE_OK(tamis_builder_put_hash(b, test_number(1, key), key));
        }
        tamis *f;
        REQUIRE_OK(tamis_builder_finish(b, &f));
        tamis_builder_free(b);
        for (uint64_t k = 0; k < 40000; k++) {
            uint64_t value = 0;
            assert_true(tamis_get_hash(f, test_number(1, k), &value) && value == k);
        }
        tamis_free(f);
    }
    /* Of many conflicts the lowest hash is reported, with any number of threads, every time. */
    for (unsigned threads = 1; threads <= 4; threads++) {
        uint64_t lowest = UINT64_MAX;
        tamis_builder *b = open_builder("sorted_map", MIB, threads);
        for (uint64_t k = 0; k < 30000; k++) {
            const uint64_t hash = test_number(2, k);
            REQUIRE_OK(tamis_builder_put_hash(b, hash, 7));
            if (k % 100) continue;
            REQUIRE_OK(tamis_builder_put_hash(b, hash, 5));
            if (hash < lowest) lowest = hash;
        }
        char named[32];
        snprintf(named, sizeof named, "%016llx", (unsigned long long)lowest);
        tamis *f;
        for (int again = 0; again < 2; again++) {
            REFUSED(TAMIS_CONFLICT, named, tamis_builder_finish(b, &f));
            assert_null(f);
            assert_int_equal(tamis_builder_conflict(b), lowest);
            REFUSED(TAMIS_CONFLICT, "values 5 and 7", tamis_builder_finish_to(b, path));
        }
        tamis_builder_free(b);
        assert_int_equal(test_files_in(dir), 0);
    }
}

/* ---- Labels --------------------------------------------------------------------------------- */

static void many_labels(void **state) {
    (void)state;
    enum { LABELS = 10000 };
    char name[32];
    tamis_builder *b = open_builder("sorted_sets:segment=1024", 4 * MIB, 2);
    /* Labels repeat, but never twice in a row. */
    for (uint64_t i = 0; i < 3 * LABELS; i++) {
        snprintf(name, sizeof name, "label %llu", (unsigned long long)(i * 7919 % LABELS));
        REQUIRE_OK(tamis_builder_label(b, name));
        REQUIRE_OK(tamis_builder_add_hash(b, test_number(4, i % 5000)));
    }
    tamis *f = finish(b);
    assert_int_equal(tamis_label_count(f), LABELS);
    assert_string_equal(tamis_label_name(f, 0), "label 0");
    assert_string_equal(tamis_label_name(f, 1), "label 7919");
    assert_null(tamis_label_name(f, LABELS));
    uint64_t label[8];
    assert_int_equal(tamis_labels_hash(f, test_number(4, 3), label, 8), 2);
    assert_int_equal(label[0], 3);
    assert_int_equal(label[1], 5003);
    tamis_free(f);
}

static void names_of_labels(void **state) {
    (void)state;
    char long_name[300];
    memset(long_name, 'x', sizeof long_name);
    long_name[256] = '\0';
    tamis_builder *b = open_builder("sorted_sets", 0, 1), *plain = open_builder("sorted", 0, 1);
    REFUSED(TAMIS_UNSUPPORTED, "labels", tamis_builder_label(plain, "a"));
    static const char *const bad[] = {"", "a\n", "\x7f", "\xff", "\xc3"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        REFUSED(TAMIS_INVALID, "label", tamis_builder_label(b, bad[i]));
    REFUSED(TAMIS_INVALID, "label", tamis_builder_label(b, long_name));
    long_name[255] = '\0';
    /* Names that share a start or an end are different. */
    static const char *const good[] = {"b", "ab", "bb", "a", "ba", "\xc3\xa9t\xc3\xa9"};
    REQUIRE_OK(tamis_builder_add_hash(b, 1)); /* before the first label */
    for (int again = 0; again < 2; again++)
        for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
            REQUIRE_OK(tamis_builder_label(b, good[i]));
            REQUIRE_OK(tamis_builder_add_hash(b, 100 + i));
        }
    REQUIRE_OK(tamis_builder_label(b, long_name));
    tamis *f = finish(b);
    assert_int_equal(tamis_label_count(f), 8);
    assert_string_equal(tamis_label_name(f, 0), "default");
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t label;
        assert_string_equal(tamis_label_name(f, i + 1), good[i]);
        assert_true(tamis_labels_hash(f, 100 + i, &label, 1) == 1 && label == i + 1);
    }
    assert_string_equal(tamis_label_name(f, 7), long_name);
    tamis_free(f);
    tamis_builder_free(plain);
}

/* ---- Continuing and merging ----------------------------------------------------------------- */

static void continuing(void **state) {
    (void)state;
    const way all = {FORWARD, 1, 0, 1};
    const bytes whole = bytes_of(finish(filled("sorted:segment=1024,capacity=0", &all)));
    tamis_builder *b = open_builder("sorted:segment=1024,capacity=0", MIB, 1);
    for (uint64_t i = 0; i < N / 2; i++) REQUIRE_OK(tamis_builder_add_hash(b, key_in(FORWARD, i)));
    REQUIRE_OK(tamis_builder_set_note(b, "source", "kept"));
    tamis *half = finish(b);
    const struct tamis_builder_options options = {
        .struct_size = sizeof options, .memory_limit = MIB, .temp_dir = dir};
    REQUIRE_OK(tamis_builder_continue(&b, half, &options));
    for (uint64_t i = N / 3; i < N; i++) REQUIRE_OK(tamis_builder_add_hash(b, key_in(FORWARD, i)));
    tamis *f = finish(b);
    assert_string_equal(tamis_note(f, "source"), "kept");
    REQUIRE_OK(tamis_set_note(f, "source", NULL));
    assert_int_equal(test_info(f).items, N);

    /* Merging gives the same filter; merging with itself changes nothing. */
    tamis *rest;
    b = open_builder("sorted:segment=1024,capacity=0", 0, 1);
    for (uint64_t i = N / 3; i < N; i++) REQUIRE_OK(tamis_builder_add_hash(b, key_in(FORWARD, i)));
    rest = finish(b);
    REQUIRE_OK(tamis_merge(half, rest));
    REQUIRE_OK(tamis_merge(half, half));
    assert_string_equal(tamis_note(half, "source"), "kept");
    uint64_t m, n, w;
    const void *p = tamis_payload(half, &m), *q = tamis_payload(f, &n);
    assert_true(m == n && memcmp(p, q, m) == 0);
    tamis *g;
    REQUIRE_OK(tamis_load(&g, whole.at, whole.size));
    q = tamis_payload(g, &w);
    assert_true(m == w && memcmp(p, q, m) == 0);

    tamis *other = test_make("classic:capacity=%d", 1);
    REFUSED(TAMIS_UNSUPPORTED, "built on", tamis_builder_continue(&b, other, NULL));
    tamis_free(other);
    assert_null(b);
    tamis_free(f), tamis_free(g), tamis_free(half), tamis_free(rest);
    free(whole.at);
}

static void labels_are_joined_by_name(void **state) {
    (void)state;
    tamis *f[2];
    for (int i = 0; i < 2; i++) {
        tamis_builder *b = open_builder("sorted_sets", 0, 1);
        REQUIRE_OK(tamis_builder_label(b, i ? "blue" : "red"));
        for (uint64_t k = 0; k < 100; k++) REQUIRE_OK(tamis_builder_add_hash(b, test_number(5, k)));
        REQUIRE_OK(tamis_builder_label(b, i ? "red" : "green"));
        REQUIRE_OK(tamis_builder_add_hash(b, 1000 + (uint64_t)i));
        f[i] = finish(b);
    }
    REQUIRE_OK(tamis_merge(f[0], f[1]));
    uint64_t label[4];
    assert_int_equal(tamis_label_count(f[0]), 3);
    assert_string_equal(tamis_label_name(f[0], 2), "blue");
    assert_int_equal(tamis_labels_hash(f[0], test_number(5, 50), label, 4), 2);
    assert_true(label[0] == 0 && label[1] == 2);
    assert_true(tamis_labels_hash(f[0], 1001, label, 4) == 1 && label[0] == 0);

    /* Keys added without a label after continuing get none of the old labels. */
    tamis_builder *b;
    REQUIRE_OK(tamis_builder_continue(&b, f[0], NULL));
    REQUIRE_OK(tamis_builder_add_hash(b, 5));
    tamis *g = finish(b);
    assert_int_equal(tamis_label_count(g), 4);
    assert_string_equal(tamis_label_name(g, 3), "default");
    tamis_free(g), tamis_free(f[0]), tamis_free(f[1]);
}

/* ---- Verifying ------------------------------------------------------------------------------ */

static void verify_detects_lost_keys(void **state) {
    (void)state;
    struct tamis_builder_options options = {.struct_size = sizeof options, .threads = 2};
    tamis_builder *b;
    tamis *f;
    for (int is_verified = 0; is_verified < 2; is_verified++) {
        options.verify = is_verified;
        REQUIRE_OK(tamis_builder_create_with(&b, "broken_sorted:segment=1024", &options));
        for (uint64_t i = 0; i < 5000; i++)
            REQUIRE_OK(tamis_builder_add_hash(b, test_number(6, i)));
        const tamis_status wanted = is_verified ? TAMIS_CORRUPT : TAMIS_OK;
        if (is_verified) REFUSED(TAMIS_CORRUPT, "hash", tamis_builder_finish_to(b, path));
        assert_int_equal(test_files_in(dir), 0);
        assert_int_equal(tamis_builder_finish(b, &f), wanted);
        tamis_free(f);
        tamis_builder_free(b);

        /* One key with a hundred labels, one of them lost. */
        REQUIRE_OK(tamis_builder_create_with(&b, "broken_sorted_sets", &options));
        for (int i = 0; i < 100; i++) {
            char name[16];
            snprintf(name, sizeof name, "%d", i);
            REQUIRE_OK(tamis_builder_label(b, name));
            REQUIRE_OK(tamis_builder_add_hash(b, 1234));
        }
        assert_int_equal(tamis_builder_finish(b, &f), wanted);
        tamis_free(f);
        tamis_builder_free(b);
    }
}

/* Verifying accepts valid filters of every sort, including kinds that may forget. */
static void verify_accepts_valid_filters(void **state) {
    (void)state;
    static const char *const specs[] = {"sorted:segment=1024",
                                        "sorted_map:segment=1024",
                                        "sorted_sets:segment=1024",
                                        "classic",
                                        "classic:capacity=44000",
                                        "cuckoo",
                                        "counting",
                                        "window",
                                        "window:capacity=1000",
                                        "stable:capacity=1000",
                                        "composite:capacity=44000",
                                        "approximator",
                                        "pile",
                                        "fnv:capacity=100"};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        const struct tamis_builder_options options = {
            .struct_size = sizeof options, .memory_limit = MIB, .temp_dir = dir, .verify = true};
        tamis_builder *b;
        REQUIRE_OK(tamis_builder_create_with(&b, specs[s], &options));
        for (uint64_t i = 0; i < 50000; i++) REQUIRE_OK(tamis_builder_add_u64(b, i % 45000));
        REQUIRE_OK(tamis_builder_finish_to(b, path));
        tamis_free(finish(b));
    }
}

/* ---- Progress and stopping ------------------------------------------------------------------ */

typedef struct watcher {
    int calls, stop_at;
    int stage;
    uint64_t done, total;
    bool is_wrong;
    bool ended[3];
} watcher;

static bool watch(void *ctx, enum tamis_stage stage, uint64_t done, uint64_t total) {
    watcher *w = ctx;
    w->calls++;
    if ((int)stage != w->stage) {
        w->is_wrong |= (int)stage < w->stage || done != 0; /* each starts at 0 */
        w->is_wrong |= w->stage >= 0 && w->done != w->total;
    } else {
        w->is_wrong |= done < w->done || total != w->total;
    }
    w->is_wrong |= done > total;
    w->stage = (int)stage;
    w->done = done;
    w->total = total;
    w->ended[stage] |= done == total;
    return w->calls != w->stop_at;
}

static tamis_builder *watched(const char *spec, uint64_t n, watcher *w, unsigned threads) {
    const struct tamis_builder_options options = {.struct_size = sizeof options,
                                                  .memory_limit = MIB,
                                                  .temp_dir = dir,
                                                  .threads = threads,
                                                  .verify = true,
                                                  .progress = watch,
                                                  .progress_ctx = w};
    tamis_builder *b;
    REQUIRE_OK(tamis_builder_create_with(&b, spec, &options));
    for (uint64_t i = 0; i < n; i++)
        REQUIRE_OK(tamis_builder_add_hash(b, test_number(8, i % (n - 9))));
    return b;
}

static void stages_start_and_end(void **state) {
    (void)state;
    static const char *const specs[] = {"sorted:segment=1024", "classic",
                                        "sorted_sets:segment=1024", "cuckoo"};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++)
        for (unsigned threads = 1; threads <= 4; threads += 3) {
            watcher w = {.stage = -1};
            tamis_builder *b = watched(specs[s], 100000, &w, threads);
            assert_int_equal(w.calls, 0);
            tamis_free(finish(b));
            assert_false(w.is_wrong);
            assert_true(w.ended[0] && w.ended[1] && w.ended[2]);
            assert_true(w.calls > 100 && w.done == w.total);
        }
}

/* Cancelled at every report: the old image stays, no other file is left, no more keys are accepted,
 * and the same builder then makes the same filter. */
static void stopped_at_every_report(void **state) {
    (void)state;
    static const char *const specs[] = {"sorted:segment=1024", "cuckoo"};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        watcher w = {.stage = -1};
        tamis_builder *b = watched(specs[s], 40000, &w, 1);
        REQUIRE_OK(tamis_builder_finish_to(b, path));
        tamis_builder_free(b);
        const bytes whole = bytes_of_file(path);
        const int calls = w.calls;
        for (int at = 1; at <= calls; at += at < calls - 20 ? 7 : 1) {
            w = (watcher){.stage = -1, .stop_at = at};
            b = watched(specs[s], 40000, &w, 1 + (unsigned)at % 3);
            tamis *f;
            if (at % 2)
                REFUSED(TAMIS_CANCELLED, "stopped", tamis_builder_finish_to(b, path));
            else
                REFUSED(TAMIS_CANCELLED, "stopped", tamis_builder_finish(b, &f));
            assert_int_equal(test_files_in(dir), 1);
            const bytes old = bytes_of_file(path);
            assert_true(are_same(old, whole));
            REFUSED(TAMIS_INVALID, "no more keys", tamis_builder_add_hash(b, 1));
            w = (watcher){.stage = -1};
            const bytes now = bytes_of(finish(b));
            assert_true(are_same(now, whole));
            assert_false(w.is_wrong);
            free(old.at), free(now.at);
        }
        free(whole.at);
    }
}

static void finishing_again(void **state) {
    (void)state;
    static const char *const specs[] = {"sorted", "cuckoo", "blocked:capacity=2000000"};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        tamis_builder *b = open_builder(specs[s], 0, 1);
        tamis *f, *g;
        for (uint64_t i = 0; i < 1000; i++) REQUIRE_OK(tamis_builder_add_u64(b, i));
        const uint64_t hash = tamis_builder_hash(b, "key", 3);
        REQUIRE_OK(tamis_builder_finish_to(b, path));
        REFUSED(TAMIS_INVALID, "no more keys", tamis_builder_add_u64(b, 1));
        REQUIRE_OK(tamis_builder_finish_to(b, path));
        REQUIRE_OK(tamis_builder_finish(b, &f));
        REFUSED(TAMIS_INVALID, "handed over", tamis_builder_finish(b, &g));
        assert_null(g);
        REFUSED(TAMIS_INVALID, "handed over", tamis_builder_finish_to(b, path));
        REFUSED(TAMIS_INVALID, "no more keys", tamis_builder_add_u64(b, 1));
        assert_int_equal(tamis_builder_hash(b, "key", 3), hash);
        tamis_builder_free(b);
        for (uint64_t i = 0; i < 1000; i++) assert_true(tamis_has_u64(f, i));
        tamis_free(f);
    }
    tamis_builder_free(NULL);
}

/* ---- Memory --------------------------------------------------------------------------------- */

/* The whole life of a builder. Every call that runs out of memory is repeated once. */
static tamis_status life(const char *spec, size_t n, test_failing_allocator *p, bytes *image) {
    const struct tamis_allocator allocator = test_allocator(p);
    const struct tamis_options filter = {.struct_size = sizeof filter, .allocator = &allocator};
    const struct tamis_builder_options options = {.struct_size = sizeof options,
                                                  .filter = &filter,
                                                  .memory_limit = MIB,
                                                  .temp_dir = dir,
                                                  .threads = 1,
                                                  .verify = true};
    static uint64_t hashes[45000];
    /* Few keys go to few partitions: then there are few allocations, and each can fail. */
    for (uint64_t i = 0; i < n; i++)
        hashes[i] = test_number(11, i % (n - 99)) & (n > 10000 ? UINT64_MAX : UINT64_MAX >> 6);
    const bool has_labels = strncmp(spec, "sorted_sets", 11) == 0;
    tamis_builder *b = NULL, *c = NULL;
    tamis *f = NULL;
    tamis_status rc;

#define TWICE(call)                     \
    rc = (call);                        \
    if (rc == TAMIS_NOMEM) rc = (call); \
    if (rc) goto done
    TWICE(tamis_builder_create_with(&b, spec, &options));
    for (size_t i = 0; i < 5; i++) {
        if (has_labels) {
            TWICE(tamis_builder_label(b, i % 2 ? "odd" : "even"));
        }
        TWICE(tamis_builder_add_hashes(b, hashes + n / 5 * i, n / 5));
    }
    TWICE(tamis_builder_set_note(b, "a", "note"));
    TWICE(tamis_builder_finish_to(b, path));
    TWICE(tamis_builder_finish(b, &f));
    if (has_labels) {
        TWICE(tamis_builder_continue(&c, f, &options));
    }
#undef TWICE
done:
    tamis_builder_free(c);
    tamis_builder_free(b);
    if (!rc) image->at = test_image(f, &image->size);
    tamis_free(f);
    return rc;
}

/* Memory runs out at one allocation, or from one on. Failed calls can be repeated and then give the
 * same filter; nothing leaks, and no other file is left. */
static void memory_runs_out(const char *spec, size_t n, long step) {
    test_failing_allocator whole = {0};
    bytes wanted;
    REQUIRE_OK(life(spec, n, &whole, &wanted));
    assert_int_equal(whole.blocks, 0);
    for (int for_ever = 0; for_ever < 2; for_ever++)
        for (long at = 1; at <= whole.calls; at += step) {
            test_failing_allocator p = {.fail_at = at, .for_ever = for_ever};
            bytes image;
            errno = 0;
            const tamis_status rc = life(spec, n, &p, &image);
            assert_true(rc == TAMIS_OK || (for_ever && rc == TAMIS_NOMEM));
            if (!rc && !are_same(image, wanted)) fail_msg("%s: another filter at %ld", spec, at);
            if (!rc) free(image.at);
            if (p.blocks || p.bytes) fail_msg("%s leaks at %ld", spec, at);
            assert_int_equal(errno, 0);
            assert_true(test_files_in(dir) <= 1);
        }
    free(wanted.at);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    static const char *const specs[] = {"sorted:segment=1024",
                                        "sorted_sets:segment=1024",
                                        "counting",
                                        "classic:capacity=5000",
                                        "window",
                                        "scalable"};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        memory_runs_out(specs[s], 5000, 1);
        memory_runs_out(specs[s], 45000, 53); /* with records on disk */
    }
}

/* The limit holds for the builder and all its threads. */
static void limit_is_held(void **state) {
    (void)state;
    static const char *const specs[] = {"sorted:segment=1024", "sorted:segment=8192",
                                        "sorted_map:segment=1024", "sorted_sets:segment=1024"};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++)
        for (unsigned threads = 1; threads <= 8; threads += 7)
            for (uint64_t limit = MIB; limit <= 4 * MIB; limit *= 4) {
                test_failing_allocator p = {0};
                const struct tamis_allocator allocator = test_allocator(&p);
                const struct tamis_options filter = {.struct_size = sizeof filter,
                                                     .allocator = &allocator};
                const struct tamis_builder_options options = {.struct_size = sizeof options,
                                                              .filter = &filter,
                                                              .memory_limit = limit,
                                                              .temp_dir = dir,
                                                              .threads = threads,
                                                              .verify = true};
                tamis_builder *b;
                REQUIRE_OK(tamis_builder_create_with(&b, specs[s], &options));
                for (uint64_t i = 0; i < 400000; i++)
                    REQUIRE_OK(tamis_builder_add_hash(b, test_number(12, i)));
                REQUIRE_OK(tamis_builder_finish_to(b, path));
                tamis_builder_free(b);
                assert_true(p.max_bytes <= limit && p.max_bytes > limit / 4);
                assert_int_equal(p.blocks, 0);
            }
}

static void a_limit_that_is_too_small_is_refused(void **state) {
    (void)state;
    tamis_builder *b;
    REFUSED(TAMIS_INVALID, "1 MiB", tamis_builder_create(&b, "sorted", MIB - 1, dir));
    assert_null(b);
    /* What can never work is refused before the first key, and the message says what helps. */
    REFUSED(TAMIS_NOMEM, "at least", tamis_builder_create(&b, "sorted:capacity=1T", MIB, dir));
    assert_null(b);
    /* Without a capacity, as soon as there are too many keys. */
    b = open_builder("sorted", MIB, 4);
    REQUIRE_OK(tamis__limit_adds(b, 1000000));
    REFUSED(TAMIS_NOMEM, "at least", tamis__limit_adds(b, 1000000000000));
    tamis_builder_free(b);
    assert_int_equal(test_files_in(dir), 0);
    /* A filter that takes adds comes on top of the limit. */
    b = open_builder("blocked:capacity=10000000", MIB, 1);
    REQUIRE_OK(tamis_builder_add_hash(b, 1));
    tamis_free(finish(b));
}

/* A limit too small for the default segment size gives smaller segments and reports it. The result
 * equals a build that asks for that size, on any number of threads. */
static void small_limits_make_small_segments(void **state) {
    (void)state;
    for (uint64_t limit = MIB; limit <= 4 * MIB; limit *= 4) {
        struct tamis_builder_info info[2] = {TAMIS_BUILDER_INFO_INIT, TAMIS_BUILDER_INFO_INIT};
        bytes made[3];
        char spec[64];
        for (unsigned i = 0; i < 3; i++) {
            if (i < 2) snprintf(spec, sizeof spec, "fuse:fpr=1/256");
            tamis_builder *b = open_builder(spec, i < 2 ? limit : 0, i ? 8 : 1);
            for (uint64_t k = 0; k < 300000; k++)
                REQUIRE_OK(tamis_builder_add_hash(b, test_number(16, k)));
            REQUIRE_OK(tamis_builder_finish_to(b, path));
            made[i] = bytes_of_file(path);
            if (i < 2) tamis_builder_get_info(b, &info[i]);
            snprintf(spec, sizeof spec, "fuse:fpr=1/256,segment=%llu",
                     (unsigned long long)info[0].segment);
            tamis_builder_free(b);
        }
        assert_true(are_same(made[0], made[1]) && are_same(made[0], made[2]));
        assert_int_equal(info[0].records, 300000);
        assert_int_equal(info[0].segment_asked, 4194304);
        assert_true(info[0].segment < (limit == MIB ? 65536 : 4194304));
        assert_true(info[0].segments > 1 && info[0].bits_more > 0.1 && info[0].bits_more < 2);
        assert_memory_equal(&info[0], &info[1], sizeof info[0]);
        for (int i = 0; i < 3; i++) free(made[i].at);
    }
}

/* Hashes in few partitions or segments: no more memory than allowed, and an error message. */
static void hashes_that_are_not_mixed(void **state) {
    (void)state;
    tamis *f;
    for (int form = 0; form < 3; form++) {
        tamis_builder *b = open_builder("sorted:segment=1024", MIB, 4);
        for (uint64_t i = 0; i < 100000; i++) /* in one partition or two */
            REQUIRE_OK(tamis_builder_add_hash(b, form == 0   ? i
                                                 : form == 1 ? i << 40             /* 0 and 1 */
                                                             : i << 63 | i >> 1)); /* 0 and 128 */
        REFUSED(TAMIS_NOMEM, "memory limit", tamis_builder_finish_to(b, path));
        tamis_builder_free(b);
        assert_int_equal(test_files_in(dir), 0);
    }
    /* Half of the keys are spread evenly, half are in one partition. */
    tamis_builder *b = open_builder("sorted:segment=1024", MIB, 1);
    for (uint64_t i = 0; i < 30000; i++) {
        REQUIRE_OK(tamis_builder_add_hash(b, test_number(14, i)));
        REQUIRE_OK(tamis_builder_add_hash(b, test_number(15, i) >> 8 | (uint64_t)0x55 << 56));
    }
    REFUSED(TAMIS_NOMEM, "well mixed", tamis_builder_finish(b, &f));
    tamis_builder_free(b);
    /* Without a limit it works. */
    b = open_builder("sorted:segment=1024", 0, 3);
    for (uint64_t i = 0; i < 100000; i++) REQUIRE_OK(tamis_builder_add_hash(b, i));
    f = finish(b);
    for (uint64_t i = 0; i < 100000; i++) assert_true(tamis_has_hash(f, i));
    assert_false(tamis_has_hash(f, 100000));
    tamis_free(f);
}

static void payloads_over_the_limit(void **state) {
    (void)state;
    const struct tamis_options filter = {.struct_size = sizeof filter, .max_bytes = 100000};
    const struct tamis_builder_options options = {.struct_size = sizeof options, .filter = &filter};
    static const char *const specs[] = {"sorted", "classic:fpr=1e-9"};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        tamis_builder *b;
        tamis *f;
        REQUIRE_OK(tamis_builder_create_with(&b, specs[s], &options));
        for (uint64_t i = 0; i < 30000; i++)
            REQUIRE_OK(tamis_builder_add_hash(b, test_number(1, i)));
        REFUSED(TAMIS_TOO_LARGE, "100000", tamis_builder_finish(b, &f));
        REFUSED(TAMIS_TOO_LARGE, "100000", tamis_builder_finish_to(b, path));
        tamis_builder_free(b);
        assert_int_equal(test_files_in(dir), 0);
    }
}

/* ---- Invalid calls -------------------------------------------------------------------------- */

static void invalid_calls_are_refused(void **state) {
    (void)state;
    struct tamis_builder_options options = {.struct_size = 1};
    tamis_builder *b;
    REFUSED(TAMIS_INVALID, "struct_size", tamis_builder_create_with(&b, "sorted", &options));
    REFUSED(TAMIS_INVALID, "fpr or size",
            tamis_builder_create(&b, "sorted:fpr=1%,size=1M", 0, NULL));
    REFUSED(TAMIS_INVALID, "capacity", tamis_builder_create(&b, "fnv:fpr=1%", 0, NULL));
    REFUSED(TAMIS_INVALID, "unknown kind", tamis_builder_create(&b, "nothing", 0, NULL));
    REFUSED(TAMIS_IO, "/no/such/folder",
            tamis_builder_create(&b, "sorted", MIB, "/no/such/folder"));
    assert_null(b);
    b = open_builder("sorted", 0, 1);
    REFUSED(TAMIS_UNSUPPORTED, "values", tamis_builder_put_hash(b, 1, 1));
    REFUSED(TAMIS_UNSUPPORTED, "known-good", tamis_builder_exclude(b, "a", 1));
    tamis_builder_free(b);
    tamis *f;
    REFUSED(TAMIS_UNSUPPORTED, "builder", tamis_create(&f, "sorted:capacity=10"));
}

/* A full filter says so and takes nothing of the call that did not fit. */
static void full_is_full(void **state) {
    (void)state;
    static uint64_t hashes[200];
    for (uint64_t i = 0; i < 200; i++) hashes[i] = test_number(16, i);
    tamis_builder *b = open_builder("shelf:capacity=100", 0, 1);
    REQUIRE_OK(tamis_builder_add_hashes(b, hashes, 90));
    REFUSED(TAMIS_FULL, "full", tamis_builder_add_hashes(b, hashes + 90, 20));
    REQUIRE_OK(tamis_builder_add_hashes(b, hashes + 90, 10));
    tamis *f = finish(b);
    assert_int_equal(test_info(f).items, 100);
    tamis_free(f);
    b = open_builder("cuckoo:capacity=100", 0, 1); /* by records: fails at the end */
    for (uint64_t i = 0; i < 2000; i++) REQUIRE_OK(tamis_builder_add_hash(b, test_number(16, i)));
    REFUSED(TAMIS_FULL, "full", tamis_builder_finish(b, &f));
    assert_null(f);
    tamis_builder_free(b);
}

/* ---- Stopped inside a segment ---------------------------------------------------------------- */

/* Counted from where segments begin. It says so once: whoever hears it must not ask again. */
typedef struct patience {
    uint64_t asked, max;
    bool is_building;
} patience;

static bool is_enough(void *ctx) {
    patience *p = ctx;
    return p->is_building && p->asked++ == p->max;
}

static bool note_stage(void *ctx, enum tamis_stage stage, uint64_t done, uint64_t total) {
    patience *p = ctx;
    (void)total;
    if (stage == TAMIS_STAGE_BUILD && done == 0) p->is_building = true;
    return true;
}

/* A segment of this many keys takes long enough to be asked many times, by each kind that has them
 * so large; and stopping anywhere leaves a builder that makes the same bytes. */
static void a_segment_can_be_stopped(void **state) {
    static const char *const specs[] = {
        "fuse:segment=16M",
        "fuse:segment=16M,arity=4,width=20",
        "ribbon:segment=16M",
        "bloomier:segment=16M,value=40",
        "bloomier:segment=16M,value=63,update=yes",
        "bloomier:segment=16M,value=64,fpr=1e-6,engine=fuse",
    };
    (void)state;
    enum { KEYS = 300000, POINTS = 20 };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        patience p = {.max = UINT64_MAX};
        const struct tamis_options stop = {
            .struct_size = sizeof stop, .should_stop = is_enough, .stop_ctx = &p};
        struct tamis_builder_options options = TAMIS_BUILDER_OPTIONS_INIT;
        options.filter = &stop;
        options.progress = note_stage;
        options.progress_ctx = &p;
        tamis_builder *b, *again;
        tamis *f, *other;
        REQUIRE_OK(tamis_builder_create_with(&b, specs[i], &options));
        REQUIRE_OK(tamis_builder_create_with(&again, specs[i], &options));
        for (uint64_t k = 0; k < KEYS; k++) {
            const uint64_t hash = test_number(17, k);
            REQUIRE_OK(tamis_builder_add_hash(b, hash));
            REQUIRE_OK(tamis_builder_add_hash(again, hash));
        }
        REQUIRE_OK(tamis_builder_finish(b, &f));
        const uint64_t n = p.asked;
        if (n < 10) fail_msg("%s is asked %d times", specs[i], (int)n);
        for (uint64_t point = 0; point < POINTS; point++) {
            p = (patience){.max = n * point / POINTS};
            REFUSED(TAMIS_CANCELLED, "stopped", tamis_builder_finish(again, &other));
            assert_null(other);
        }
        p = (patience){.max = UINT64_MAX};
        REQUIRE_OK(tamis_builder_finish(again, &other));
        uint64_t size, other_size;
        const void *payload = tamis_payload(f, &size), *same = tamis_payload(other, &other_size);
        assert_int_equal(size, other_size);
        assert_memory_equal(payload, same, (size_t)size);
        tamis_free(f);
        tamis_free(other);
        tamis_builder_free(b);
        tamis_builder_free(again);
    }
}

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_dir, leave_dir)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(one_set_is_one_filter),
        IN_FOLDER(time_is_kept),
        IN_FOLDER(file_equals_memory),
        IN_FOLDER(everything_is_found),
        IN_FOLDER(all_entry_points_agree),
        IN_FOLDER(none_and_one),
        IN_FOLDER(one_key_many_times),
        IN_FOLDER(records_are_sorted),
        IN_FOLDER(partitions_become_more),
        IN_FOLDER(memory_is_used_up),
        IN_FOLDER(values_come_back_and_conflicts_are_reported),
        IN_FOLDER(many_labels),
        IN_FOLDER(names_of_labels),
        IN_FOLDER(continuing),
        IN_FOLDER(labels_are_joined_by_name),
        IN_FOLDER(verify_detects_lost_keys),
        IN_FOLDER(verify_accepts_valid_filters),
        IN_FOLDER(stages_start_and_end),
        IN_FOLDER(stopped_at_every_report),
        IN_FOLDER(finishing_again),
        IN_FOLDER(every_allocation_may_fail),
        IN_FOLDER(limit_is_held),
        IN_FOLDER(a_limit_that_is_too_small_is_refused),
        IN_FOLDER(small_limits_make_small_segments),
        IN_FOLDER(hashes_that_are_not_mixed),
        IN_FOLDER(payloads_over_the_limit),
        IN_FOLDER(invalid_calls_are_refused),
        IN_FOLDER(full_is_full),
        IN_FOLDER(a_segment_can_be_stopped),
    };
    return cmocka_run_group_tests_name("builder", tests, NULL, NULL);
}
