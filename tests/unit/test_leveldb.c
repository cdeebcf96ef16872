/* SPDX-License-Identifier: MIT */
/* LevelDB's filters, against filters and a table written by LevelDB. */
#define _GNU_SOURCE /* memmem */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "foreign/foreign_hashes.h"
#include "tamis_formats.h"
#include "tests/support/foreign.h"

#define TEXT(s) \
    { s, sizeof s - 1 }

static const struct tamis_key eight[] = {
    TEXT("alpha"), TEXT("beta"),        TEXT("gamma"), TEXT("delta"),
    TEXT(""),      TEXT("caf\xc3\xa9"), TEXT("x"),     TEXT("0123456789abcdef"),
    {NULL, 0}};
static const struct tamis_key key_0[] = {TEXT("key-0"), {NULL, 0}};
static const struct tamis_key none[] = {{NULL, 0}};

static const struct {
    const char *path, *spec;
    const struct tamis_key *in;
} files[] = {
    {"leveldb/leveldb_bloom_1bpk_8keys.bin", "capacity=8,bits_per_key=1", eight},
    {"leveldb/leveldb_bloom_4bpk_8keys.bin", "capacity=8,bits_per_key=4", eight},
    {"leveldb/leveldb_bloom_10bpk_8keys.bin", "capacity=8,bits_per_key=10", eight},
    {"leveldb/leveldb_bloom_16bpk_8keys.bin", "capacity=8,bits_per_key=16", eight},
    {"leveldb/leveldb_bloom_64bpk_8keys.bin", "capacity=8,bits_per_key=64", eight},
    {"leveldb/leveldb_bloom_10bpk_0keys.bin", "capacity=0,bits_per_key=10", none},
    {"leveldb/leveldb_bloom_10bpk_1key_key-0.bin", "capacity=1,bits_per_key=10", key_0},
};
enum { FILES = sizeof files / sizeof *files };

static void answers_as_leveldb(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        const test_file file = test_vector(files[i].path);
        tamis *f = test_import("leveldb", file);
        test_all_in(f, files[i].in);
        test_none_in(f, test_no_words);
        tamis_free(f);
        test_goes_round("leveldb", file);
        free(file.bytes);
    }
}

static void writes_as_leveldb(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        const test_file file = test_vector(files[i].path);
        char spec[128];
        snprintf(spec, sizeof spec, "leveldb:%s", files[i].spec);
        test_written_anew(spec, files[i].in, "leveldb", file);
        free(file.bytes);
    }
}

/* A filter written by LevelDB with 30 bits for each of the eight keys. */
static void thirty_bits(void **state) {
    (void)state;
    static uint8_t bytes[] = {0xf8, 0x91, 0x95, 0x11, 0x3f, 0x3c, 0xbc, 0x41, 0x31, 0xbd, 0xd2,
                              0x10, 0x1d, 0xd0, 0x91, 0x06, 0x8d, 0x7c, 0x21, 0x96, 0x19, 0x99,
                              0xda, 0x91, 0x42, 0xcd, 0xde, 0xbf, 0x7f, 0x59, 0x14};
    const test_file file = {bytes, sizeof bytes};
    test_written_anew("leveldb:capacity=8,bits_per_key=30", eight, "leveldb", file);
}

static void thousand_keys(void **state) {
    (void)state;
    static const uint64_t hits[] = {1371, 1372, 1438, 1471, 1592, 1734, 1801, 1926, 1973, 0};
    const test_file file = test_vector("leveldb/leveldb_bloom_10bpk_1000keys.bin");
    tamis *f = test_import("leveldb", file);
    test_range_in(f, 0, 1000);
    test_range_hits(f, 1000, 2000, hits);
    tamis_free(f);
    test_goes_round("leveldb", file);
    test_range_written_anew("leveldb:capacity=1000,bits_per_key=10", 0, 1000, "leveldb", file);
    test_range_written_anew("leveldb:capacity=1000,fpr=1%", 0, 1000, "leveldb", file);
    free(file.bytes);
}

/* Filters that LevelDB accepts: too short for a key, or with a k reserved for later versions. */
static void odd_filters(void **state) {
    (void)state;
    static const struct {
        uint8_t bytes[9];
        size_t size;
        bool has;
    } odd[] = {{{0}, 0, false},
               {{6}, 1, false},
               {{0}, 1, false},
               {{0, 0}, 2, true},
               {{0, 31}, 2, true},
               {{0, 0, 0, 0, 0, 0, 0, 0, 0x80}, 9, true},
               {{0, 0, 0, 0, 0, 0, 0, 0, 0xff}, 9, true},
               {{0, 0, 0, 0, 0, 0, 0, 0, 30}, 9, false},
               {{0xff, 30}, 2, true}};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        uint8_t bytes[9];
        memcpy(bytes, odd[i].bytes, sizeof bytes);
        const test_file file = {bytes, odd[i].size};
        tamis *f = test_import("leveldb", file);
        assert_int_equal(tamis_has(f, "alpha", 5), odd[i].has);
        assert_int_equal(tamis_has(f, "", 0), odd[i].has);
        const bool takes = odd[i].size >= 2 && bytes[odd[i].size - 1] == 30;
        assert_int_equal(tamis_add(f, "alpha", 5), takes ? TAMIS_OK : TAMIS_UNSUPPORTED);
        tamis_free(f);
        test_goes_round("leveldb", file);
    }
}

static const char cafe[] = "caf\xc3\xa9";

/* The same in a block: one byte never matches; more than 30 hashes, or none, always match. */
static void odd_filters_of_a_block(void **state) {
    (void)state;
    static const struct {
        uint8_t bytes[12]; /* a filter, its offset, the end of all filters, 2^11 */
        size_t size;
        bool has;
    } odd[] = {{{0, 0, 0, 0, 11}, 5, false}, /* no filter at all */
               {{31, 0, 0, 0, 0, 1, 0, 0, 0, 11}, 10, false},
               {{0, 0, 0, 0, 0, 1, 0, 0, 0, 11}, 10, false},
               {{0, 31, 0, 0, 0, 0, 2, 0, 0, 0, 11}, 11, true},
               {{0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 11}, 11, true},
               {{0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 11}, 11, false},
               {{0xff, 1, 0, 0, 0, 0, 2, 0, 0, 0, 11}, 11, true}};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        uint8_t bytes[12];
        memcpy(bytes, odd[i].bytes, sizeof bytes);
        tamis *f = test_import("leveldb-block", (test_file){bytes, odd[i].size});
        assert_int_equal(tamis_has(f, "alpha", 5), odd[i].has);
        tamis_free(f);
    }
}

/* RocksDB's old hash reads the last bytes as signed. */
static void old_rocksdb(void **state) {
    (void)state;
    tamis *ours, *theirs;
    assert_int_equal(tamis_create(&ours, "leveldb:capacity=8,bits_per_key=10"), TAMIS_OK);
    assert_int_equal(tamis_create(&theirs, "leveldb:capacity=8,bits_per_key=10,system=rocksdb"),
                     TAMIS_OK);
    tamis_add(ours, cafe, 5);
    tamis_add(theirs, cafe, 5);
    const test_file file = test_export(theirs, "leveldb:system=rocksdb");
    tamis *again = test_import("leveldb:system=rocksdb", file),
          *wrong = test_import("leveldb", file);
    assert_true(tamis_has(again, cafe, 5));
    assert_false(tamis_has(wrong, cafe, 5));
    assert_int_equal(tamis_merge(ours, theirs), TAMIS_MISMATCH);
    free(file.bytes);
    tamis_free(ours), tamis_free(theirs), tamis_free(again), tamis_free(wrong);
}

static void plans_as_leveldb(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t bits, hashes;
    } samples[] = {{"leveldb:capacity=1,bits_per_key=10", 64, 6},
                   {"leveldb:capacity=0,bits_per_key=66", 64, 30},
                   {"leveldb:capacity=7,bits_per_key=10", 72, 6},
                   {"leveldb:capacity=1000,bits_per_key=1", 1000, 1},
                   {"leveldb:capacity=1000,bits_per_key=44", 44000, 30},
                   {"leveldb:capacity=1000,bits_per_key=100", 100000, 30},
                   {"leveldb:capacity=1000,fpr=1%", 10000, 6},
                   {"leveldb:capacity=1e8,bits_per_key=10", 1000000000, 6},
                   {"leveldb:capacity=1000,bits=9999", 9992, 6},
                   {"leveldb:capacity=1000,bits=9999,hashes=3", 9992, 3}};
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        test_planned(samples[i].spec, samples[i].bits, samples[i].hashes);
    assert_int_equal(tamis_plan_spec("leveldb:capacity=1e10", &plan), TAMIS_TOO_LARGE);
    assert_int_equal(tamis_plan_spec("leveldb:capacity=1e6,fpr=1e-5", &plan), TAMIS_TOO_LARGE);
    assert_int_equal(tamis_plan_spec("leveldb:capacity=1e6,bits_per_key=1001", &plan),
                     TAMIS_INVALID);
    assert_int_equal(tamis_plan_spec("leveldb-block:capacity=10", &plan), TAMIS_UNSUPPORTED);
}

/* ---- Tables --------------------------------------------------------------------------------- */

static const char table[] = "leveldb/leveldb_table_200keys_10bpk.ldb";

typedef struct listed {
    size_t count;
    uint64_t offset[4], size[4];
    char choose[4][32], name[4][64];
} listed;

static bool list(void *ctx, const struct tamis_found *found) {
    listed *l = ctx;
    assert_true(l->count < 4);
    assert_string_equal(found->kind, "leveldb");
    l->offset[l->count] = found->offset;
    l->size[l->count] = found->size;
    snprintf(l->choose[l->count], 32, "%s", found->choose);
    snprintf(l->name[l->count++], 64, "%s", found->name);
    return true;
}

/* Three ranges, the second without a filter: they start at 0, 159, 159 and end at 253. */
static void finds_filters_of_a_table(void **state) {
    (void)state;
    const test_file file = test_vector(table);
    listed l = {0};
    assert_int_equal(tamis_format_scan("leveldb-table", file.bytes, file.size, list, &l), TAMIS_OK);
    assert_int_equal(l.count, 2);
    assert_int_equal(l.offset[0], 6539);
    assert_int_equal(l.size[0], 159);
    assert_int_equal(l.offset[1], 6539 + 159);
    assert_int_equal(l.size[1], 94);
    assert_string_equal(l.choose[0], "filter=0");
    assert_string_equal(l.choose[1], "filter=2");
    assert_string_equal(l.name[1], "data blocks that begin at 4096 to 6143");
    free(file.bytes);
}

static uint64_t in_range(const tamis *f, uint64_t to) {
    uint64_t found = 0;
    char text[32];
    for (uint64_t i = 0; i < to; i++) {
        const int len = snprintf(text, sizeof text, "key-%llu", (unsigned long long)i);
        found += tamis_has(f, text, (size_t)len);
    }
    return found;
}

static void reads_a_table(void **state) {
    (void)state;
    const test_file file = test_vector(table);
    tamis *all = test_import("leveldb-table", file);
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(all, &info);
    assert_string_equal(info.kind, "leveldb-block");
    assert_int_equal(info.word[0], 270);
    test_range_in(all, 0, 200);
    test_none_in(all, test_no_words);
    assert_int_equal(tamis_add(all, "a", 1), TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_export(all, "leveldb-table", NULL, NULL), TAMIS_UNSUPPORTED);
    assert_non_null(strstr(tamis_why(), "leveldb-block"));

    const test_file block = test_export(all, "leveldb-block");
    assert_int_equal(block.size, 270);
    assert_memory_equal(block.bytes, file.bytes + 6539, 270);
    test_goes_round("leveldb-block", block);
    free(block.bytes);
    tamis_free(all);

    tamis *first = test_import("leveldb-table:filter=0", file);
    tamis *third = test_import("leveldb-table:filter=2", file);
    tamis *second = test_import("leveldb-table:filter=1", file);
    assert_in_range(in_range(first, 200), 126, 130);
    assert_in_range(in_range(third, 200), 74, 78);
    assert_int_equal(in_range(second, 200), 0);
    const test_file one = test_export(first, "leveldb");
    assert_int_equal(one.size, 159);
    assert_memory_equal(one.bytes, file.bytes + 6539, 159);
    test_goes_round("leveldb", one);
    free(one.bytes);
    tamis_free(first), tamis_free(second), tamis_free(third);
    free(file.bytes);
}

static void refused(const char *format, test_file file, tamis_status status, const char *word) {
    tamis *f;
    assert_int_equal(tamis_import(&f, format, file.bytes, file.size), status);
    if (!strstr(tamis_why(), word)) fail_msg("'%s' does not say '%s'", tamis_why(), word);
}

static void refuses_what_is_not_a_table(void **state) {
    (void)state;
    const test_file file = test_vector(table);
    refused("leveldb-table:filter=3", file, TAMIS_INVALID, "it has 3, from 0");
    refused("leveldb-table:part=4", file, TAMIS_INVALID, "filter");
    file.bytes[6539] ^= 1;
    refused("leveldb-table", file, TAMIS_CORRUPT, "checksum of the filter block");
    file.bytes[6539] ^= 1;
    file.bytes[6539 + 270] = 1; /* marked as compressed: the checksum does not match */
    refused("leveldb-table", file, TAMIS_CORRUPT, "checksum");
    file.bytes[6539 + 270] = 0;
    file.bytes[file.size - 1] ^= 1;
    refused("leveldb-table", file, TAMIS_CORRUPT, "magic");
    file.bytes[file.size - 1] ^= 1;
    refused("leveldb-block", file, TAMIS_CORRUPT, "starts");
    free(file.bytes);
}

/* A valid table with a filter of another name. */
static void a_table_without_the_filter(void **state) {
    (void)state;
    static const char name[] = "filter.leveldb.BuiltinBloomFilter2";
    enum { BEFORE = 3, NAME = sizeof name - 1, RESTARTS = 8, KIND = 1 };
    const test_file file = test_vector(table);
    uint8_t *at = memmem(file.bytes, file.size, name, NAME);
    assert_non_null(at);
    const size_t size = BEFORE + NAME + at[-1] + RESTARTS + KIND;
    assert_int_equal(tamis__get32(at - BEFORE + size), tamis__crc32c_masked(at - BEFORE, size));
    at[NAME - 1] = '3';
    tamis__put32(at - BEFORE + size, tamis__crc32c_masked(at - BEFORE, size));
    refused("leveldb-table", file, TAMIS_NOT_FOUND, "no filter of leveldb.BuiltinBloomFilter2");
    free(file.bytes);
}

/* A filter, and a block of two with an empty one between them. */
static void hostile_bytes(void **state) {
    (void)state;
    static uint8_t block[] = {0xff, 1, 2, 0xff, 0, 3, 0, 0, 0, 0, 3, 0,
                              0,    0, 3, 0,    0, 0, 6, 0, 0, 0, 11};
    const test_file file = test_vector("leveldb/leveldb_bloom_10bpk_8keys.bin");
    assert_true(test_hostile("leveldb", file) > 0);
    assert_true(test_hostile("leveldb-block", (test_file){block, sizeof block}) > 0);
    free(file.bytes);
}

/* Import reads only what the filters need; all of that is covered by checksums. */
static void hostile_table(void **state) {
    (void)state;
    const test_file file = test_vector(table);
    tamis *f;
    for (size_t i = 6539; i < file.size; i++)
        for (unsigned bit = i % 4; bit < 8; bit += 4) {
            file.bytes[i] ^= (uint8_t)(1u << bit);
            if (tamis_import(&f, "leveldb-table", file.bytes, file.size) == TAMIS_OK)
                test_range_in(f, 0, 200); /* the index, or padding in the footer */
            tamis_free(f);
            file.bytes[i] ^= (uint8_t)(1u << bit);
        }
    for (size_t size = 0; size < file.size; size += 1 + size % 7) {
        assert_int_not_equal(tamis_import(&f, "leveldb-table", file.bytes, size), TAMIS_OK);
        assert_null(f);
    }
    free(file.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_as_leveldb),
        cmocka_unit_test(writes_as_leveldb),
        cmocka_unit_test(thirty_bits),
        cmocka_unit_test(thousand_keys),
        cmocka_unit_test(odd_filters),
        cmocka_unit_test(odd_filters_of_a_block),
        cmocka_unit_test(old_rocksdb),
        cmocka_unit_test(plans_as_leveldb),
        cmocka_unit_test(finds_filters_of_a_table),
        cmocka_unit_test(reads_a_table),
        cmocka_unit_test(a_table_without_the_filter),
        cmocka_unit_test(refuses_what_is_not_a_table),
        cmocka_unit_test(hostile_bytes),
        cmocka_unit_test(hostile_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
