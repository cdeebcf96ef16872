/* SPDX-License-Identifier: MIT */
/* RocksDB's Bloom filters: bytes and tables that RocksDB wrote, compared with ours. */
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
#include "hash/hash.h"
#include "tamis_formats.h"
#include "tests/support/filters.h"
#include "tests/support/foreign.h"

#define TEXT(s) \
    { s, sizeof s - 1 }

static char many_z[130], many_y[241], many_w[1500];

static const struct tamis_key eleven[] = {TEXT("alpha"),
                                          TEXT("beta"),
                                          TEXT("gamma"),
                                          TEXT("delta"),
                                          TEXT("x"),
                                          TEXT("caf\xc3\xa9"),
                                          TEXT("0123456789abcdef"),
                                          TEXT("this key is longer than sixteen bytes"),
                                          {many_z, sizeof many_z},
                                          {many_y, sizeof many_y},
                                          {many_w, sizeof many_w},
                                          {NULL, 0}};
static const struct tamis_key no_more[] = {TEXT("b"), TEXT("bb"), TEXT("yy"), {NULL, 0}};

static int write_keys(void **state) {
    (void)state;
    memset(many_z, 'z', sizeof many_z);
    memset(many_y, 'y', sizeof many_y);
    memset(many_w, 'w', sizeof many_w);
    return 0;
}

static const struct {
    const char *filter, *table, *spec;
} files[] = {
    {"rocksdb/fast_10bpk_11keys.filter", "rocksdb/fast_10bpk_11keys.sst",
     "rocksdb:capacity=11,bits_per_key=10"},
    {"rocksdb/legacy_10bpk_11keys.filter", "rocksdb/legacy_10bpk_11keys.sst",
     "rocksdb:capacity=11,bits_per_key=10,rule=legacy"},
    {"rocksdb/ribbon_10bpk_11keys.filter", NULL, "rocksdb:capacity=11,millibits=10000"},
};
enum { FILES = sizeof files / sizeof *files };

static void has_the_eleven(const tamis *f) {
    test_all_in(f, eleven);
    test_none_in(f, test_no_words);
    test_none_in(f, no_more);
}

static void answers_as_rocksdb(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        const test_file file = test_vector(files[i].filter);
        tamis *f = test_import("rocksdb", file);
        has_the_eleven(f);
        tamis_free(f);
        test_goes_round("rocksdb", file);
        test_written_anew(files[i].spec, eleven, "rocksdb", file);
        free(file.bytes);
    }
}

static void thousand_keys(void **state) {
    (void)state;
    static const uint64_t hits[] = {1051, 1524, 1559, 1607, 1643, 1645, 0};
    const test_file file = test_vector("rocksdb/fast_10bpk_1000keys.filter");
    tamis *f = test_import("rocksdb", file);
    test_range_in(f, 0, 1000);
    test_range_hits(f, 1000, 2000, hits);
    tamis_free(f);
    test_goes_round("rocksdb", file);
    test_range_written_anew("rocksdb:capacity=1000,bits_per_key=10", 0, 1000, "rocksdb", file);
    free(file.bytes);
}

/* RocksDB's answers from filters whose bytes are not here. */
static void false_positives(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t hits[8];
    } made[] = {
        {"rocksdb:capacity=1000,millibits=16500", {0}},
        {"rocksdb:capacity=1000,bits_per_key=10,rule=legacy", {1226, 1276, 1385, 1569, 1576, 0}}};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        tamis *f;
        assert_int_equal(tamis_create(&f, made[i].spec), TAMIS_OK);
        test_add_range(f, 0, 1000);
        test_range_hits(f, 1000, 2000, made[i].hits);
        tamis_free(f);
    }
}

static void plans_as_rocksdb(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t bytes, hashes;
    } samples[] = {
        {"rocksdb:capacity=1000,bits_per_key=10", 1285, 6},
        {"rocksdb:capacity=1,bits_per_key=10", 69, 6},
        {"rocksdb:capacity=0,bits_per_key=10", 69, 6},
        {"rocksdb:capacity=1000,millibits=2080", 325, 1},
        {"rocksdb:capacity=1000,millibits=2081", 325, 2},
        {"rocksdb:capacity=1000,millibits=9900", 1285, 6},
        {"rocksdb:capacity=1000,millibits=10071", 1285, 7},
        {"rocksdb:capacity=1000,millibits=25501", 3205, 12},
        {"rocksdb:capacity=1000,millibits=25502", 3205, 11},
        {"rocksdb:capacity=1000,millibits=50000", 6277, 23},
        {"rocksdb:capacity=1000,millibits=50001", 6277, 24},
        {"rocksdb:capacity=1e9,bits_per_key=10", 1250000005, 6},
        {"rocksdb:capacity=1000,bits_per_key=10,rule=legacy", 21 * 64 + 5, 6},
        {"rocksdb:capacity=1000,bits_per_key=10,rule=legacy,line=128", 11 * 128 + 5, 6},
        {"rocksdb:capacity=1000,bits_per_key=10,rule=legacy,line=256", 5 * 256 + 5, 6},
        {"rocksdb:capacity=1000,bits=10000", 19 * 64 + 5, 6},
    };
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        if (tamis_plan_spec(samples[i].spec, &plan))
            fail_msg("%s: %s", samples[i].spec, tamis_why());
        if (plan.word[4] != samples[i].bytes || plan.word[1] != samples[i].hashes)
            fail_msg("%s: %llu bytes, %llu hashes", samples[i].spec,
                     (unsigned long long)plan.word[4], (unsigned long long)plan.word[1]);
    }
}

static void refuses_bad_params(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        tamis_status status;
    } bad[] = {{"rocksdb:capacity=10,rule=always", TAMIS_INVALID},
               {"rocksdb:capacity=10,line=128", TAMIS_INVALID},
               {"rocksdb:capacity=10,line=100,rule=legacy", TAMIS_INVALID},
               {"rocksdb:capacity=10,hashes=31", TAMIS_INVALID},
               {"rocksdb:capacity=10,bits_per_key=10,millibits=10000", TAMIS_INVALID},
               {"rocksdb:capacity=10,millibits=999", TAMIS_INVALID},
               {"rocksdb:capacity=10,size=63B", TAMIS_INVALID},
               {"rocksdb:capacity=1e6,fpr=1e-12", TAMIS_TOO_LARGE},
               {"rocksdb:capacity=1e10", TAMIS_TOO_LARGE},
               {"rocksdb:capacity=1e9,rule=legacy", TAMIS_TOO_LARGE}};
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (tamis_plan_spec(bad[i].spec, &plan) != bad[i].status)
            fail_msg("%s: %s", bad[i].spec, tamis_why());
}

/* Promised rates are kept, without much slack. */
static void plans_by_rate(void **state) {
    (void)state;
    static const char *const specs[] = {"rocksdb:capacity=%d,fpr=1%%",
                                        "rocksdb:capacity=%d,fpr=1%%,rule=legacy",
                                        "rocksdb:capacity=%d,fpr=0.1%%"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        char spec[96];
        struct tamis_plan plan = TAMIS_PLAN_INIT;
        snprintf(spec, sizeof spec, specs[i], 100000);
        assert_int_equal(tamis_plan_spec(spec, &plan), TAMIS_OK);
        const double asked = i == 2 ? 0.001 : 0.01;
        assert_true(plan.fpr_expected <= asked && plan.fpr_expected > 0.8 * asked);
    }
}

/* ---- Odd filters ---------------------------------------------------------------------------- */

static void odd(const uint8_t *meta, size_t bits, bool has) {
    uint8_t bytes[256 + 5] = {0};
    memcpy(bytes + bits, meta, 5);
    const test_file file = {bytes, bits + 5};
    tamis *f = test_import("rocksdb", file);
    assert_int_equal(tamis_has(f, "alpha", 5), has);
    assert_int_equal(tamis_add(f, "alpha", 5), has ? TAMIS_UNSUPPORTED : TAMIS_OK);
    tamis_free(f);
    test_goes_round("rocksdb", file);
}

static void odd_filters(void **state) {
    (void)state;
    for (size_t size = 0; size <= 5; size++) { /* no keys, whatever the bytes */
        uint8_t bytes[5] = {0xff, 0, 6, 0, 0};
        const test_file file = {bytes, size};
        tamis *f = test_import("rocksdb", file);
        assert_false(tamis_has(f, "alpha", 5));
        assert_int_equal(tamis_add(f, "alpha", 5), TAMIS_UNSUPPORTED);
        tamis_free(f);
        test_goes_round("rocksdb", file);
    }
    odd((const uint8_t[]){0xff, 0, 6, 0, 0}, 64, false);
    odd((const uint8_t[]){0xff, 0, 6, 0, 0}, 100, false); /* 36 bytes are unused */
    odd((const uint8_t[]){0x00, 0, 6, 0, 0}, 64, true);
    odd((const uint8_t[]){0xfd, 0, 6, 0, 0}, 64, true);
    odd((const uint8_t[]){0x80, 0, 6, 0, 0}, 64, true);
    odd((const uint8_t[]){0xfe, 0, 1, 0, 0}, 64, true);    /* a Ribbon of one block */
    odd((const uint8_t[]){0xff, 1, 6, 0, 0}, 64, true);    /* unknown variant */
    odd((const uint8_t[]){0xff, 0, 0, 0, 0}, 64, true);    /* no probes */
    odd((const uint8_t[]){0xff, 0, 31, 0, 0}, 64, true);   /* too many */
    odd((const uint8_t[]){0xff, 0, 0x26, 0, 0}, 64, true); /* lines of 128 bytes */
    odd((const uint8_t[]){0xff, 0, 6, 1, 0}, 64, true);
    odd((const uint8_t[]){0xff, 0, 6, 0, 1}, 64, true);
    odd((const uint8_t[]){6, 1, 0, 0, 0}, 64, false);
    odd((const uint8_t[]){6, 1, 0, 0, 0}, 128, false);
    odd((const uint8_t[]){6, 1, 0, 0, 0}, 256, false);
    odd((const uint8_t[]){6, 3, 0, 0, 0}, 192, false);
    odd((const uint8_t[]){127, 64, 0, 0, 0}, 64, false); /* lines of one byte */
    odd((const uint8_t[]){6, 1, 0, 0, 0}, 192, true);    /* a line of 192 */
    odd((const uint8_t[]){6, 0, 0, 0, 0}, 64, true);
    odd((const uint8_t[]){6, 5, 0, 0, 0}, 64, true);
    odd((const uint8_t[]){6, 1, 0, 0, 4}, 64, true); /* 2^26 + 1 lines: 64 bytes modulo 2^32 */
    uint8_t cut[] = {0, 0xff, 0, 6, 0, 0};
    tamis *f;
    assert_int_equal(tamis_import(&f, "rocksdb", cut, sizeof cut), TAMIS_CORRUPT);
}

/* Cache lines as long as on other machines. */
static void longer_lines(void **state) {
    (void)state;
    for (int line = 64; line <= 256; line *= 2) {
        char spec[96];
        tamis *f;
        snprintf(spec, sizeof spec, "rocksdb:capacity=1000,bits_per_key=10,rule=legacy,line=%d",
                 line);
        assert_int_equal(tamis_create(&f, spec), TAMIS_OK);
        test_add_range(f, 0, 1000);
        const test_file file = test_export(f, "rocksdb");
        tamis *again = test_import("rocksdb", file);
        test_range_in(again, 0, 1000);
        struct tamis_info info = TAMIS_INFO_INIT;
        tamis_measure(again, &info);
        assert_int_equal(info.word[3], line);
        test_goes_round("rocksdb", file);
        free(file.bytes);
        tamis_free(f);
        tamis_free(again);
    }
}

/* ---- Tables --------------------------------------------------------------------------------- */

static bool count(void *ctx, const struct tamis_found *found) {
    size_t *found_so_far = ctx;
    assert_string_equal(found->choose, "");
    (*found_so_far)++;
    return true;
}

static void reads_tables(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        if (!files[i].table) continue;
        const test_file file = test_vector(files[i].table), filter = test_vector(files[i].filter);
        tamis *f = test_import("rocksdb-sst", file);
        has_the_eleven(f);
        const test_file out = test_export(f, "rocksdb");
        assert_int_equal(out.size, filter.size);
        assert_memory_equal(out.bytes, filter.bytes, out.size);
        size_t found = 0;
        assert_int_equal(tamis_format_scan("rocksdb-sst", file.bytes, file.size, count, &found),
                         TAMIS_OK);
        assert_int_equal(found, 1);
        assert_int_equal(tamis_export(f, "rocksdb-sst", NULL, NULL), TAMIS_UNSUPPORTED);
        tamis_free(f);
        free(out.bytes), free(filter.bytes), free(file.bytes);
    }
}

/* A Ribbon has the same file format, and is another kind. */
static void reads_ribbons(void **state) {
    (void)state;
    static const uint64_t hits[] = {286,  294,  601,  806,  1148, 1283,
                                    1328, 1350, 1488, 1834, 1977, 0};
    const test_file file = test_vector("rocksdb/ribbon_10bpk_240keys.sst");
    const test_file filter = test_vector("rocksdb/ribbon_10bpk_240keys.filter");
    tamis *f = test_import("rocksdb-sst", file);
    test_range_in(f, 0, 240);
    test_range_hits(f, 240, 2000, hits);
    const test_file out = test_export(f, "rocksdb");
    assert_int_equal(out.size, filter.size);
    assert_memory_equal(out.bytes, filter.bytes, out.size);
    test_goes_round("rocksdb", filter);
    tamis_free(f);
    free(out.bytes), free(filter.bytes), free(file.bytes);
}

static void refused(const char *format, test_file file, tamis_status status, const char *word) {
    tamis *f;
    assert_int_equal(tamis_import(&f, format, file.bytes, file.size), status);
    if (!strstr(tamis_why(), word)) fail_msg("'%s' does not say '%s'", tamis_why(), word);
}

static void refuses_bad_tables(void **state) {
    (void)state;
    const test_file file = test_vector(files[0].table);
    refused("rocksdb-sst:filter=1", file, TAMIS_INVALID, "filter=0");
    refused("leveldb-table", file, TAMIS_CORRUPT, "RocksDB");
    file.bytes[file.size - 12] = 8;
    refused("rocksdb-sst", file, TAMIS_UNSUPPORTED, "versions 0 to 7");
    file.bytes[file.size - 12] = 6;
    refused("rocksdb-sst", file, TAMIS_CORRUPT, "3e 00 7a 00");
    file.bytes[file.size - 12] = 5;
    file.bytes[file.size - 53] = 5;
    refused("rocksdb-sst", file, TAMIS_CORRUPT, "checksum type 5");
    file.bytes[file.size - 53] = 2;
    refused("rocksdb-sst", file, TAMIS_CORRUPT, "checksum of the metaindex");
    free(file.bytes);
}

/* ---- Tables of versions that no library here writes ------------------------------------------ */

typedef struct writer {
    uint8_t bytes[4096];
    size_t size;
    unsigned checksum;
    uint32_t context;
} writer;

static void put(writer *w, const void *bytes, size_t size) {
    assert_true(w->size + size <= sizeof w->bytes);
    memcpy(w->bytes + w->size, bytes, size);
    w->size += size;
}

static void put_byte(writer *w, unsigned byte) {
    put(w, &(uint8_t){(uint8_t)byte}, 1);
}

static void put_number(writer *w, uint32_t x) {
    uint8_t bytes[4];
    tamis__put32(bytes, x);
    put(w, bytes, 4);
}

static void put_varint(writer *w, uint64_t x) {
    for (; x >= 0x80; x >>= 7) put_byte(w, (unsigned)x | 0x80);
    put_byte(w, (unsigned)x);
}

static uint32_t sum_of(const writer *w, const uint8_t *bytes, size_t size, uint64_t at) {
    const tamis_hasher xxh64 = {.mode = TAMIS_HASH_XXH64}, xxh3 = {.mode = TAMIS_HASH_XXH3};
    const uint32_t context = w->context ? w->context ^ (uint32_t)at : 0;
    switch (w->checksum) {
    case 1: return tamis__crc32c_masked(bytes, size) + context;
    case 2: return tamis__xxh32(bytes, size) + context;
    case 3: return (uint32_t)tamis__hash(&xxh64, bytes, size) + context;
    case 4:
        return ((uint32_t)tamis__hash(&xxh3, bytes, size - 1) ^ bytes[size - 1] * 0x6b9083d9u) +
               context;
    default: return context;
    }
}

static void end_block(writer *w, size_t from) {
    put_byte(w, 0);
    put_number(w, sum_of(w, w->bytes + from, w->size - from, from));
}

static void put_footer(writer *w, uint32_t version, size_t meta, size_t meta_size) {
    static const uint8_t magic[] = {0xf7, 0xcf, 0xf4, 0x85, 0xb7, 0x41, 0xe2, 0x88};
    const size_t at = w->size;
    uint8_t footer[53] = {(uint8_t)w->checksum};
    put(w, footer, 1);
    if (version >= 6) {
        put(w, "\x3e\0\x7a\0\0\0\0", 8);
        put_number(w, w->context);
        put_number(w, (uint32_t)meta_size);
        put(w, footer + 8, 24);
    } else {
        put_varint(w, meta), put_varint(w, meta_size), put_varint(w, 0), put_varint(w, 0);
        put(w, footer + 8, at + 41 - w->size);
    }
    put_number(w, version);
    put(w, magic, 8);
    if (version >= 6) tamis__put32(w->bytes + at + 5, sum_of(w, w->bytes + at, 53, at));
}

/* A metaindex with one name, which points to a block, and the footer. */
static void put_end(writer *w, uint32_t version, const char *name, size_t at, size_t size) {
    const size_t start = w->size, len = strlen(name);
    put_varint(w, 0), put_varint(w, len), put_varint(w, at < 128 ? 2 : 3);
    put(w, name, len);
    put_varint(w, at), put_varint(w, size);
    put_number(w, 0), put_number(w, 1);
    const size_t meta_size = w->size - start;
    end_block(w, start);
    put_footer(w, version, start, meta_size);
}

static const char *const by_partitions = "partitionedfilter.rocksdb.BuiltinBloomFilter";

/* Three filters in partitions; the third stores only how much smaller it is. */
static void make_table(writer *w, uint32_t version, const test_file filter[3]) {
    size_t at[3];
    for (int i = 0; i < 3; i++) {
        at[i] = w->size;
        put(w, filter[i].bytes, filter[i].size);
        end_block(w, at[i]);
    }
    const size_t index = w->size;
    for (int i = 0; i < 3; i++) {
        const bool has_delta = i == 2;
        put_varint(w, has_delta ? 1 : 0), put_varint(w, has_delta ? 1 : 2);
        put(w, has_delta ? "c" : i ? "ab" : "aa", has_delta ? 1 : 2);
        if (has_delta)
            put_varint(w, 2 * (filter[1].size - filter[2].size) - 1); /* negative */
        else
            put_varint(w, at[i]), put_varint(w, filter[i].size);
    }
    put_number(w, 0), put_number(w, 1);
    const size_t index_size = w->size - index;
    end_block(w, index);
    put_end(w, version, by_partitions, index, index_size);
}

static bool count_all(void *ctx, const struct tamis_found *found) {
    ++*(size_t *)ctx;
    return found->size > 0;
}

static void partitions(void **state) {
    (void)state;
    const test_file legacy = test_vector(files[1].filter), fast = test_vector(files[0].filter);
    uint8_t two_lines[133] = {0};
    two_lines[128] = 0xff, two_lines[130] = 6;
    const test_file filters[3] = {fast, {two_lines, 133}, legacy};
    for (uint32_t version = 4; version <= 7; version++)
        for (unsigned checksum = 0; checksum <= 4; checksum++) {
            writer w = {.checksum = checksum, .context = version >= 6 ? 0x9e3779b9 : 0};
            make_table(&w, version, filters);
            const test_file file = {w.bytes, w.size};
            size_t found = 0;
            assert_int_equal(tamis_format_scan("rocksdb-sst", w.bytes, w.size, count_all, &found),
                             0);
            assert_int_equal(found, 3);
            tamis *first = test_import("rocksdb-sst:filter=0", file);
            tamis *third = test_import("rocksdb-sst:filter=2", file);
            has_the_eleven(first);
            has_the_eleven(third);
            tamis_free(first), tamis_free(third);
            refused("rocksdb-sst", file, TAMIS_INVALID, "3 filters");
            refused("rocksdb-sst:filter=3", file, TAMIS_INVALID, "it has 3, from 0");
            w.bytes[3] ^= 1;
            if (checksum) refused("rocksdb-sst:filter=0", file, TAMIS_CORRUPT, "checksum");
            w.bytes[3] ^= 1;
            w.bytes[w.size - 40] ^= 1; /* in the context, or after the handles */
            if (version >= 6 && checksum)
                refused("rocksdb-sst:filter=0", file, TAMIS_CORRUPT, "checksum of the footer");
        }
    free(legacy.bytes), free(fast.bytes);
}

/* A single partition needs no number; one without an offset and size fails the whole table. */
static void single_partition(void **state) {
    (void)state;
    const test_file fast = test_vector(files[0].filter);
    for (int is_cut = 0; is_cut < 2; is_cut++) {
        writer w = {.checksum = 1};
        put(&w, fast.bytes, fast.size);
        end_block(&w, 0);
        const size_t index = w.size;
        put_varint(&w, 0), put_varint(&w, 2), put(&w, "aa", 2);
        put_varint(&w, 0);
        if (!is_cut) put_varint(&w, fast.size);
        put_number(&w, 0);
        const size_t index_size = w.size - index;
        end_block(&w, index);
        put_end(&w, 4, by_partitions, index, index_size);
        const test_file file = {w.bytes, w.size};
        size_t found = 0;
        const tamis_status rc =
            tamis_format_scan("rocksdb-sst", w.bytes, w.size, count_all, &found);
        assert_int_equal(found, !is_cut);
        assert_int_equal(rc, is_cut ? TAMIS_CORRUPT : TAMIS_OK);
        if (is_cut) {
            assert_non_null(strstr(tamis_why(), "does not say where its filter is"));
            refused("rocksdb-sst", file, TAMIS_CORRUPT, "does not say where its filter is");
            continue;
        }
        tamis *f = test_import("rocksdb-sst", file);
        has_the_eleven(f);
        tamis_free(f);
    }
    free(fast.bytes);
}

/* Older tables have a filter block like LevelDB's: here with one filter, of eight keys. */
static void filter_blocks(void **state) {
    (void)state;
    const test_file eight = test_vector("leveldb/leveldb_bloom_10bpk_8keys.bin");
    writer w = {.checksum = 1};
    put(&w, eight.bytes, eight.size);
    put_number(&w, 0), put_number(&w, (uint32_t)eight.size);
    put_byte(&w, 11);
    const size_t size = w.size;
    end_block(&w, 0);
    put_end(&w, 2, "filter.rocksdb.BuiltinBloomFilter", 0, size);
    const test_file file = {w.bytes, w.size};
    size_t found = 0;
    assert_int_equal(tamis_format_scan("rocksdb-sst", w.bytes, w.size, count_all, &found),
                     TAMIS_OK);
    assert_int_equal(found, 1);
    tamis *all = test_import("rocksdb-sst", file), *one = test_import("rocksdb-sst:filter=0", file);
    assert_string_equal(test_info(all).kind, "leveldb-block");
    assert_string_equal(test_info(one).kind, "leveldb");
    const test_file again = test_export(one, "leveldb");
    assert_int_equal(again.size, eight.size);
    assert_memory_equal(again.bytes, eight.bytes, eight.size);
    free(again.bytes);
    tamis_free(all), tamis_free(one);
    refused("rocksdb-sst:filter=1", file, TAMIS_INVALID, "filter=1");
    tamis__put32(w.bytes + eight.size + 4, (uint32_t)size); /* filters end past the block */
    tamis__put32(w.bytes + size + 1, sum_of(&w, w.bytes, size + 1, 0));
    assert_int_equal(tamis_format_scan("rocksdb-sst", w.bytes, w.size, count_all, &found),
                     TAMIS_CORRUPT);
    assert_int_equal(found, 1);
    refused("rocksdb-sst", file, TAMIS_CORRUPT, "filter");
    free(eight.bytes);
}

static void hostile_bytes(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        const test_file file = test_vector(files[i].filter);
        const test_file end = {file.bytes + file.size - 9, 9};
        assert_true(test_hostile("rocksdb", end) > 0);
        free(file.bytes);
    }
}

/* Checksums cover all that a filter needs of a table: a flipped bit is refused or has no effect. */
static void hostile_tables(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        if (!files[i].table) continue;
        const test_file file = test_vector(files[i].table);
        tamis *f;
        for (size_t at = 0; at < file.size; at++) {
            for (unsigned bit = at % 8; bit < 8; bit += 8) {
                file.bytes[at] ^= (uint8_t)(1u << bit);
                if (tamis_import(&f, "rocksdb-sst", file.bytes, file.size) == TAMIS_OK)
                    test_all_in(f, eleven);
                tamis_free(f);
                file.bytes[at] ^= (uint8_t)(1u << bit);
            }
            assert_int_not_equal(tamis_import(&f, "rocksdb-sst", file.bytes, at), TAMIS_OK);
        }
        free(file.bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_as_rocksdb), cmocka_unit_test(thousand_keys),
        cmocka_unit_test(false_positives),    cmocka_unit_test(plans_as_rocksdb),
        cmocka_unit_test(refuses_bad_params), cmocka_unit_test(plans_by_rate),
        cmocka_unit_test(odd_filters),        cmocka_unit_test(longer_lines),
        cmocka_unit_test(reads_tables),       cmocka_unit_test(reads_ribbons),
        cmocka_unit_test(refuses_bad_tables), cmocka_unit_test(partitions),
        cmocka_unit_test(single_partition),   cmocka_unit_test(filter_blocks),
        cmocka_unit_test(hostile_bytes),      cmocka_unit_test(hostile_tables),
    };
    return cmocka_run_group_tests(tests, write_keys, NULL);
}
