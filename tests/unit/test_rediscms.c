/* SPDX-License-Identifier: MIT */
/* RedisBloom's count-min sketch: dumps of the module, compared with ours. The dumps are from
 * RedisBloom v2.8.20 in Redis 7.0.15; v8.8.0 writes the same with another RDB version. */
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
#include "tests/support/filters.h"
#include "tests/support/foreign.h"

/* CMS.INITBYDIM a 8 3, then the six words with INCRBY 1 to 6. */
static const char six_words[] =
    "078108c4a4f9360f100002080203021505c33640600105008000000120060009200300022003400000044004a0"
    "004017e00300401b0008a010400b4000c037402b00054010200020530000000a0042cf045c2d3802af";

/* CMS.INITBYDIM b 7 1, INCRBY x 4294967290 y 70000, INCRBY x 9: both share one cell, which is
 * saturated. */
static const char stuck[] = "078108c4a4f9360f1000020702010281000000010001117305c30e1c010000e009"
                            "0000ff200020150000000a00c95949d0cae1de19";

/* CMS.INITBYDIM c 1 1, INCRBY x 875770417: four bytes that are digits, which Redis stores as a
 * number. */
static const char digits[] =
    "078108c4a4f9360f10000201020102803433323105c1d204000a00df2c5f5d3d7fb8f7";

static test_file bytes_of(const char *hex) {
    test_file file = {malloc(strlen(hex) / 2), strlen(hex) / 2};
    assert_non_null(file.bytes);
    for (size_t i = 0; i < file.size; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        file.bytes[i] = (uint8_t)byte;
    }
    return file;
}

static void add_times(tamis *f, const char *key, uint64_t times) {
    test_demand(tamis_add_times(f, key, strlen(key), times), "add_times");
}

static void is_written_as(const tamis *f, const char *hex) {
    const test_file file = bytes_of(hex), out = test_export(f, "redis-dump");
    assert_int_equal(out.size, file.size);
    assert_memory_equal(out.bytes, file.bytes, file.size);
    free(out.bytes);
    free(file.bytes);
}

/* ---- Both ways ------------------------------------------------------------------------------ */

static void reads_what_the_module_wrote(void **state) {
    (void)state;
    static const char *const dumps[] = {six_words, stuck, digits};
    for (size_t i = 0; i < sizeof dumps / sizeof *dumps; i++) {
        const test_file file = bytes_of(dumps[i]);
        test_goes_round("redis-dump", file);
        tamis *f = test_import("redis-dump", file);
        const test_file fields = test_export(f, "rediscms");
        test_goes_round("rediscms", fields);
        free(fields.bytes);
        free(file.bytes);
        tamis_free(f);
    }
    const test_file file = bytes_of(six_words);
    tamis *f = test_import("redis-dump", file);
    assert_int_equal(test_info(f).items, 21);
    for (uint64_t i = 0; i < 6; i++)
        assert_true(tamis_count(f, test_six_words[i].bytes, test_six_words[i].len) >= i + 1);
    free(file.bytes);
    tamis_free(f);
}

static void writes_as_the_module(void **state) {
    (void)state;
    tamis *f = test_make("rediscms:width=8,depth=3");
    for (uint64_t i = 0; i < 6; i++)
        test_demand(tamis_add_times(f, test_six_words[i].bytes, test_six_words[i].len, i + 1), "");
    is_written_as(f, six_words);
    tamis_free(f);
    f = test_make("rediscms:width=7,depth=1");
    add_times(f, "x", 4294967290);
    add_times(f, "y", 70000);
    add_times(f, "x", 9);
    assert_int_equal(tamis_count(f, "x", 1), UINT32_MAX);
    is_written_as(f, stuck);
    tamis_free(f);
    f = test_make("rediscms:width=1,depth=1");
    add_times(f, "x", 875770417);
    is_written_as(f, digits);
    tamis_free(f);
}

/* 200 by 4 cells, 57 keys: the dump's own checksum covers its 914 bytes. */
static void larger_ones_are_the_same(void **state) {
    (void)state;
    tamis *f = test_make("rediscms:width=200,depth=4");
    for (uint64_t i = 0; i < 200; i++) {
        char key[24];
        snprintf(key, sizeof key, "k%d", (int)(i % 57));
        add_times(f, key, i);
    }
    const test_file out = test_export(f, "redis-dump");
    assert_int_equal(out.size, 914);
    assert_int_equal(tamis__get64(out.bytes + 906), 0x5a74ffc8e27d73a6);
    free(out.bytes);
    tamis_free(f);
}

/* ---- Shapes --------------------------------------------------------------------------------- */

static void params_become_cells(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t width, depth;
    } known[] = {
        {"rediscms:width=2000,depth=7", 2000, 7},
        {"rediscms:width=10", 10, 5},
        {"rediscms:width=1,depth=65536", 1, 65536},
        {"rediscms:capacity=1,fpr=50%", 2, 1},
        {"rediscms:capacity=100,size=1024,depth=2", 125, 2},
        {"rediscms:capacity=0,size=1024", 50, 5},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct tamis_plan plan = test_plan(known[i].spec);
        assert_int_equal(plan.word[0], known[i].width);
        assert_int_equal(plan.word[1], known[i].depth);
    }
    static const char *const bad[] = {
        "rediscms",
        "rediscms:width=0",
        "rediscms:width=5,depth=0",
        "rediscms:width=5,depth=65537",
        "rediscms:width=2^38",
        "rediscms:capacity=2^56,fpr=1e-9",
        "rediscms:capacity=10,size=16",
        "rediscms:width=10,depth=3,size=64",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tamis *f;
        assert_int_not_equal(tamis_create(&f, bad[i]), TAMIS_OK);
    }
}

/* ---- Merging -------------------------------------------------------------------------------- */

/* Cells saturate, and the counter counts what they no longer can. */
static void merging_adds_cells_and_counters(void **state) {
    (void)state;
    tamis *f = test_make("rediscms:width=5,depth=2"), *g = test_copy(f);
    add_times(f, "a", 4000000000);
    add_times(g, "a", 300000000);
    test_demand(tamis_merge(f, g), "merge");
    assert_int_equal(tamis_count(f, "a", 1), UINT32_MAX);
    assert_int_equal(test_info(f).items, 4300000000);
    uint64_t size;
    const uint8_t *payload = tamis_payload(f, &size);
    assert_int_equal(tamis__get64(payload + 16), 4300000000);
    const tamis *const both[] = {g, f};
    assert_int_equal(tamis_merge_weighted(f, both, (const int64_t[]){15, 0}, 2), TAMIS_FULL);
    test_demand(tamis_merge_weighted(f, both, (const int64_t[]){14, 0}, 2), "weigh");
    payload = tamis_payload(f, &size);
    assert_int_equal(tamis__get64(payload + 16), 4200000000);
    assert_int_equal(tamis_count(f, "a", 1), 4200000000);
    tamis_free(f);
    tamis_free(g);
}

/* ---- The gate ------------------------------------------------------------------------------- */

static test_file fields_with(uint64_t width, uint64_t depth, size_t cell_bytes) {
    test_file file = {calloc(1, 24 + cell_bytes), 24 + cell_bytes};
    assert_non_null(file.bytes);
    tamis__put64(file.bytes, width);
    tamis__put64(file.bytes + 8, depth);
    return file;
}

/* Products that wrap, too few or too many cells, counts that exceed the input. */
static void sizes_must_be_exact(void **state) {
    (void)state;
    static const struct {
        uint64_t width, depth;
        size_t bytes;
        bool is_good;
    } shapes[] = {
        {3, 2, 24, true},
        {3, 2, 23, false},
        {3, 2, 25, false},
        {3, 2, 20, false},
        {3, 2, 28, false},
        {0, 2, 0, false},
        {2, 0, 0, false},
        {(uint64_t)1 << 32, (uint64_t)1 << 30, 0, false},
        {(uint64_t)1 << 63, 2, 0, false},
        {3, (uint64_t)1 << 62, 0, false},
        {((uint64_t)1 << 62) + 1, 1, 4, false},
        {1, ((uint64_t)1 << 62) + 1, 4, false},
        {(uint64_t)1 << 24, 1, 76, false},
        {UINT32_MAX, 1, 76, false},
        {1, UINT32_MAX, 76, false},
        {(uint64_t)1 << 48, 1, 76, false},
        {(uint64_t)1 << 60, 4, 76, false},
        {UINT64_MAX, 1, 76, false},
        {UINT64_MAX, UINT64_MAX, 4, false},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const test_file file = fields_with(shapes[i].width, shapes[i].depth, shapes[i].bytes);
        assert_int_equal(test_is_let_in("rediscms", file.bytes, file.size), shapes[i].is_good);
        free(file.bytes);
    }
}

/* A dump whose string of cells has `bytes`, all zero. */
static test_file dump_with(uint8_t width, uint8_t depth, uint8_t bytes) {
    const uint8_t fields[] = {7, 0x81, 0x08,  0xc4, 0xa4,  0xf9, 0x36, 0x0f, 0x10,
                              0, 2,    width, 2,    depth, 2,    9,    5,    bytes};
    const size_t size = sizeof fields + bytes + 1;
    test_file file = {calloc(1, size + 10), size + 10};
    assert_non_null(file.bytes);
    memcpy(file.bytes, fields, sizeof fields);
    tamis__put16(file.bytes + size, 10);
    tamis__put64(file.bytes + size + 2, tamis__crc64(0, file.bytes, size + 2));
    return file;
}

static void dumps_have_all_cells(void **state) {
    (void)state;
    for (unsigned bytes = 0; bytes < 63; bytes++) {
        const test_file file = dump_with(3, 2, (uint8_t)bytes);
        assert_int_equal(test_is_let_in("redis-dump", file.bytes, file.size), bytes == 24);
        free(file.bytes);
    }
}

static void hostile_bytes(void **state) {
    (void)state;
    const test_file dump = bytes_of(six_words);
    tamis *f = test_import("redis-dump", dump);
    const test_file fields = test_export(f, "rediscms");
    test_hostile("rediscms", fields);
    test_hostile("redis-dump", dump);
    free(fields.bytes);
    free(dump.bytes);
    tamis_free(f);
}

/* Valid checksums, with one byte of the fields changed. */
static void forged_dumps(void **state) {
    (void)state;
    const test_file dump = bytes_of(six_words);
    uint64_t let_in = 0;
    for (size_t at = 1; at < dump.size - 10; at++)
        for (unsigned x = 1; x < 256; x += 2) {
            dump.bytes[at] ^= (uint8_t)x;
            tamis__put64(dump.bytes + dump.size - 8, tamis__crc64(0, dump.bytes, dump.size - 8));
            let_in += test_is_let_in("redis-dump", dump.bytes, dump.size);
            dump.bytes[at] ^= (uint8_t)x;
        }
    assert_true(let_in > 100); /* other cells and counters */
    free(dump.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_the_module_wrote),
        cmocka_unit_test(writes_as_the_module),
        cmocka_unit_test(larger_ones_are_the_same),
        cmocka_unit_test(params_become_cells),
        cmocka_unit_test(merging_adds_cells_and_counters),
        cmocka_unit_test(sizes_must_be_exact),
        cmocka_unit_test(dumps_have_all_cells),
        cmocka_unit_test(hostile_bytes),
        cmocka_unit_test(forged_dumps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
