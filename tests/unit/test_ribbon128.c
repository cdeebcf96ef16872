/* SPDX-License-Identifier: MIT */
/* RocksDB's Ribbon filters: blocks of table files that RocksDB wrote, compared with ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_formats.h"
#include "tests/support/foreign.h"

#define FORMAT "rocksdb-ribbon"

/* ---- Keys in the order of a table file ------------------------------------------------------ */

enum { MAX = 1000 };
static char texts[MAX][32];

static int by_bytes(const void *a, const void *b) {
    return strcmp(a, b);
}

/* key-0 ... key-(n-1), sorted; the list ends with an empty entry. */
static const struct tamis_key *sorted(size_t n) {
    static struct tamis_key keys[MAX + 1];
    for (size_t i = 0; i < n; i++) snprintf(texts[i], sizeof *texts, "key-%zu", i);
    qsort(texts, n, sizeof *texts, by_bytes);
    for (size_t i = 0; i < n; i++) keys[i] = test_text(texts[i]);
    keys[n] = (struct tamis_key){NULL, 0};
    return keys;
}

static const struct tamis_key *eleven(void) {
    static char z[131], y[242], w[1501];
    static struct tamis_key keys[12];
    static const char *const words[] = {"0123456789abcdef",
                                        "alpha",
                                        "beta",
                                        "caf\xc3\xa9",
                                        "delta",
                                        "gamma",
                                        "this key is longer than sixteen bytes"};
    memset(z, 'z', 130);
    memset(y, 'y', 241);
    memset(w, 'w', 1500);
    for (size_t i = 0; i < 7; i++) keys[i] = test_text(words[i]);
    keys[7] = test_text(w);
    keys[8] = test_text("x");
    keys[9] = test_text(y);
    keys[10] = test_text(z);
    return keys;
}

/* ---- Files ---------------------------------------------------------------------------------- */

static const uint64_t hits_of_240[] = {286,  294,  601,  806,  1148, 1283,
                                       1328, 1350, 1488, 1834, 1977, 0};
static const uint64_t hits_of_600[] = {796,  966,  1022, 1025, 1235, 1238, 1400,
                                       1413, 1422, 1581, 1740, 1850, 0};
static const uint64_t hits_of_1000[] = {1035, 1063, 1081, 1356, 1583, 1740, 0};

static const struct {
    const char *path, *spec;
    uint64_t n;
    const uint64_t *hits;
} files[] = {
    {"rocksdb/ribbon_10bpk_240keys.filter", "millibits=10000", 240, hits_of_240},
    {"rocksdb/ribbon_9.9bpk_600keys.filter", "millibits=9900", 600, hits_of_600},
    {"rocksdb/ribbon_10bpk_1000keys.filter", "millibits=10000", 1000, hits_of_1000},
};
enum { FILES = sizeof files / sizeof *files };

static void answers_as_rocksdb(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        const test_file file = test_vector(files[i].path);
        tamis *f = test_import(FORMAT, file);
        test_range_in(f, 0, files[i].n);
        test_range_hits(f, files[i].n, 2000, files[i].hits);
        tamis_free(f);
        test_goes_round(FORMAT, file);
        free(file.bytes);
    }
}

static void writes_as_rocksdb(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        const test_file file = test_vector(files[i].path);
        char spec[128];
        snprintf(spec, sizeof spec, "rocksdb-ribbon:capacity=1,%s", files[i].spec);
        test_written_anew(spec, sorted(files[i].n), FORMAT, file);
        free(file.bytes);
    }
}

/* The policy writes a Bloom filter for a few keys, and nothing for none. */
static void few_keys(void **state) {
    (void)state;
    static const struct tamis_key none[] = {{NULL, 0}};
    static uint8_t no_bytes[1];
    const test_file file = test_vector("rocksdb/ribbon_10bpk_11keys.filter"), empty = {no_bytes, 0};
    tamis *f = test_import(FORMAT, file);
    test_all_in(f, eleven());
    static const struct tamis_key out[] = {{"epsilon", 7}, {"zeta", 4},  {"eta", 3}, {"theta", 5},
                                           {"iota", 4},    {"kappa", 5}, {"a", 1},   {"b", 1},
                                           {"Alpha", 5},   {"bb", 2},    {"yy", 2},  {NULL, 0}};
    test_none_in(f, out);
    tamis_free(f);
    test_goes_round(FORMAT, file);
    test_written_anew("rocksdb-ribbon:capacity=1,millibits=10000", eleven(), FORMAT, file);
    test_written_anew("rocksdb-ribbon:capacity=1", none, FORMAT, empty);
    test_goes_round(FORMAT, empty);
    free(file.bytes);
}

/* ---- Building ------------------------------------------------------------------------------- */

static void sizes(void **state) {
    (void)state;
    static const char *const specs[] = {"fpr=0.5",  "fpr=0.1",        "fpr=0.01",        "fpr=1e-4",
                                        "fpr=1e-9", "millibits=1000", "millibits=100000"};
    static const uint64_t counts[] = {1, 2, 100, 300, 900, 5000, 40000};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            char spec[128];
            snprintf(spec, sizeof spec, "rocksdb-ribbon:capacity=1,%s", specs[s]);
            tamis *f = test_range_filled(spec, 0, counts[i]);
            test_range_in(f, 0, counts[i]);
            const test_file out = test_export(f, FORMAT);
            test_goes_round(FORMAT, out);
            free(out.bytes);
            tamis_free(f);
        }
}

/* Only a key equal to the previous one is dropped; the first decides seed and rounding. */
static void orders(void **state) {
    (void)state;
    const char *spec = "rocksdb-ribbon:capacity=1,millibits=10000";
    const struct tamis_key *keys = sorted(600);
    struct tamis_key again[2001], last_first[601];
    for (size_t i = 0; i < 600; i++) again[2 * i] = again[2 * i + 1] = keys[i];
    again[1200] = (struct tamis_key){NULL, 0};
    tamis *f = test_filled(spec, keys), *g = test_filled(spec, again);
    const test_file once = test_export(f, FORMAT), twice = test_export(g, FORMAT);
    assert_int_equal(once.size, twice.size);
    assert_memory_equal(once.bytes, twice.bytes, once.size);
    memcpy(last_first, keys, sizeof last_first);
    last_first[599] = keys[1], last_first[1] = keys[599];
    test_written_anew(spec, last_first, FORMAT, once);
    tamis_free(f);
    tamis_free(g);
    free(once.bytes);
    free(twice.bytes);
}

static void plans(void **state) {
    (void)state;
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    static const struct {
        const char *spec;
        uint64_t bytes, blocks;
    } samples[] = {{"rocksdb-ribbon:capacity=0", 0, 0},
                   {"rocksdb-ribbon:capacity=240,millibits=10000", 229, 2},
                   {"rocksdb-ribbon:capacity=1000,millibits=10000", 885, 8}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        assert_int_equal(tamis_plan_spec(samples[i].spec, &plan), TAMIS_OK);
        assert_int_equal(plan.word[0], samples[i].bytes);
        assert_int_equal(plan.word[1], samples[i].blocks);
    }
    assert_int_equal(tamis_plan_spec("rocksdb-ribbon:capacity=9e8,fpr=1e-9", &plan), 0);
    assert_true(plan.word[1] > 7000000);
    assert_int_equal(tamis_plan_spec("rocksdb-ribbon:capacity=960M", &plan), TAMIS_OK);
    assert_int_equal(plan.word[1], 0);
    assert_int_equal(tamis_plan_spec("rocksdb-ribbon:capacity=1e18", &plan), TAMIS_INVALID);
    assert_int_equal(tamis_plan_spec("rocksdb-ribbon:capacity=1e15", &plan), TAMIS_TOO_LARGE);
    assert_int_equal(tamis_plan_spec("rocksdb-ribbon:capacity=9,millibits=999", &plan),
                     TAMIS_INVALID);
    assert_int_equal(tamis_plan_spec("rocksdb-ribbon:capacity=1e4,bits=80K", &plan), TAMIS_OK);
    assert_true(plan.payload_bytes <= 10000 && plan.payload_bytes > 9800);
}

static void refusals(void **state) {
    (void)state;
    static const struct {
        const char *tail, *why;
        size_t segments;
    } bad[] = {
        {"\xfe\0\2\0\0", "does not end as a Ribbon filter does", 0},
        {"\xfe\0\1\0\0", "32 bytes of segments and 1 blocks", 32},
        {"\xfe\0\2\0\0", "33 bytes of segments", 33},
        {"\xff\0\6\0\0", "do not end as a Bloom filter does", 63},
        {"\xff\1\6\0\0", "do not end as a Bloom filter does", 64},
        {"\xff\0\x26\0\0", "do not end as a Bloom filter does", 64},
        {"\xff\0\0\0\0", "do not end as a Bloom filter does", 64},
        {"\xff\0\6\0\1", "do not end as a Bloom filter does", 64},
        {"\6\1\0\0\0", "does not end as a Ribbon filter does", 64},
        {"\0\0\0\0\0", "does not end as a Ribbon filter does", 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint8_t bytes[80] = {0};
        tamis *f;
        memcpy(bytes + bad[i].segments, bad[i].tail, 5);
        const tamis_status rc = tamis_import(&f, FORMAT, bytes, bad[i].segments + 5);
        assert_int_equal(rc, TAMIS_CORRUPT);
        if (!strstr(tamis_why(), bad[i].why)) fail_msg("%zu: %s", i, tamis_why());
    }
}

static void hostile(void **state) {
    (void)state;
    const test_file ribbon = test_vector(files[0].path);
    const test_file bloom = test_vector("rocksdb/ribbon_10bpk_11keys.filter");
    assert_true(test_hostile(FORMAT, ribbon) > 0);
    assert_true(test_hostile(FORMAT, bloom) > 0);
    free(ribbon.bytes);
    free(bloom.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_as_rocksdb),
        cmocka_unit_test(writes_as_rocksdb),
        cmocka_unit_test(few_keys),
        cmocka_unit_test(sizes),
        cmocka_unit_test(orders),
        cmocka_unit_test(plans),
        cmocka_unit_test(refusals),
        cmocka_unit_test(hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
