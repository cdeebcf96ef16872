/* SPDX-License-Identifier: MIT */
/* Hadoop's four filters, against files written by Hadoop. */
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

#define BYTES(s) \
    { s, sizeof s - 1 }

static const struct tamis_key words[] = {
    BYTES("alpha"),       BYTES("beta"), BYTES("gamma"),         BYTES("delta"),
    BYTES("caf\xc3\xa9"), BYTES("x"),    BYTES("abcdefghijklm"), {NULL, 0}};
static const struct tamis_key alpha_beta[] = {BYTES("alpha"), BYTES("beta"), {NULL, 0}};

static tamis *make(const char *spec) {
    tamis *f;
    if (tamis_create(&f, spec)) fail_msg("%s: %s", spec, tamis_why());
    return f;
}

static void has_bytes(const tamis *f, const char *format, test_file file) {
    const test_file out = test_export(f, format);
    assert_int_equal(out.size, file.size);
    assert_memory_equal(out.bytes, file.bytes, file.size);
    free(out.bytes);
}

/* ---- BloomFilter ---------------------------------------------------------------------------- */

static const struct {
    const char *path, *spec, *hex;
} blooms[] = {
    {"hadoop/bloom_murmur_m101_k4.bin", "hadoop:capacity=7,bits=101,hashes=4",
     "ffffffff000000040100000065224a2c6108400a0050430ce000"},
    {"hadoop/bloom_jenkins_m101_k4.bin", "hadoop:capacity=7,bits=101,hashes=4,hash=jenkins",
     "ffffffff00000004000000006514029904088450089923003804"},
    {"hadoop/bloom_jenkins_m101_k4_unversioned.bin",
     "hadoop:capacity=7,bits=101,hashes=4,header=old",
     "000000040000006514029904088450089923003804"},
};
enum { BLOOMS = sizeof blooms / sizeof *blooms };

static void is_bloom(test_file file, size_t i) {
    tamis *f = test_import("hadoop", file);
    test_all_in(f, words);
    test_none_in(f, test_no_words);
    test_spec_leads_back(f);
    tamis_free(f);
    test_goes_round("hadoop", file);
    test_written_anew(blooms[i].spec, words, "hadoop", file);
}

static void bloom_filters(void **state) {
    (void)state;
    for (size_t i = 0; i < BLOOMS; i++) {
        const test_file file = test_vector(blooms[i].path), hex = test_hex(blooms[i].hex);
        is_bloom(file, i);
        is_bloom(hex, i);
        free(file.bytes);
        free(hex.bytes);
    }
}

static void thousand_keys(void **state) {
    (void)state;
    static const uint64_t murmur[] = {1005, 1113, 1132, 1164, 1443, 1507, 1531,
                                      1592, 1602, 1766, 1795, 1950, 0};
    static const uint64_t jenkins[] = {1021, 1097, 1238, 1375, 1404, 1614, 1649,
                                       1670, 1728, 1767, 1835, 1881, 1990, 0};
    const char *spec = "hadoop:capacity=1000,bits=9585,hashes=7,hash=jenkins";
    const test_file file = test_vector("hadoop/bloom_jenkins_m9585_k7_1000keys.bin");
    tamis *f = test_import("hadoop", file), *g = make("hadoop:capacity=1000,bits=9585,hashes=7");
    test_range_in(f, 0, 1000);
    test_range_hits(f, 1000, 2000, jenkins);
    test_goes_round("hadoop", file);
    test_range_written_anew(spec, 0, 1000, "hadoop", file);
    test_add_range(g, 0, 1000);
    test_range_in(g, 0, 1000);
    test_range_hits(g, 1000, 2000, murmur);
    tamis_free(f);
    tamis_free(g);
    free(file.bytes);
}

/* A key whose first hash is -2^31, which has no absolute value in Java. */
static void the_least_hash_has_its_place(void **state) {
    (void)state;
    enum { BITS = 1000003, AT = (1u << 31) % BITS };
    tamis *f = make("hadoop:capacity=1,bits=1000003,hashes=1");
    assert_int_equal(tamis_add(f, "\x32\xe5\x12\x5f", 4), TAMIS_OK);
    const test_file out = test_export(f, "hadoop");
    assert_int_equal(out.bytes[13 + AT / 8], 1 << AT % 8);
    free(out.bytes);
    tamis_free(f);
}

/* ---- CountingBloomFilter -------------------------------------------------------------------- */

static uint64_t count(const tamis *f, const char *key) {
    return tamis_count(f, key, strlen(key));
}

static void is_counting(test_file file, const char *spec) {
    static const struct tamis_key left[] = {BYTES("alpha"), BYTES("beta"),          BYTES("delta"),
                                            BYTES("x"),     BYTES("abcdefghijklm"), {NULL, 0}};
    tamis *f = test_import("hadoop-counting", file), *g = make(spec);
    test_add(g, words);
    for (int i = 0; i < 20; i++) assert_int_equal(tamis_add(g, "alpha", 5), TAMIS_OK);
    assert_int_equal(tamis_add(g, "beta", 4), TAMIS_OK);
    assert_int_equal(tamis_remove(g, "gamma", 5), TAMIS_OK);
    has_bytes(g, "hadoop-counting", file);
    test_all_in(f, left);
    assert_false(tamis_has(f, "gamma", 5));
    assert_int_equal(tamis_remove(f, "gamma", 5), TAMIS_NOT_FOUND);
    assert_int_equal(count(f, "alpha"), 15);
    assert_int_equal(count(f, "beta"), 2);
    assert_int_equal(count(f, "delta"), 1);
    assert_int_equal(count(f, "gamma"), 0);
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(f, &info);
    assert_int_equal(info.reliable_count, 15);
    assert_int_equal(info.affected, 3);
    test_spec_leads_back(f);
    test_goes_round("hadoop-counting", file);
    assert_int_equal(tamis_remove(f, "alpha", 5), TAMIS_OK); /* stays: its counters are stuck */
    assert_int_equal(count(f, "alpha"), 15);
    assert_int_equal(tamis_remove(f, "beta", 4), TAMIS_OK);
    assert_int_equal(count(f, "beta"), 1);
    tamis_free(f);
    tamis_free(g);
}

static void counting_filters(void **state) {
    (void)state;
    static const struct {
        const char *path, *spec, *hex;
    } of[] = {
        {"hadoop/counting_murmur_m50_k3.bin", "hadoop-counting:capacity=7,bits=200,hashes=3",
         "ffffffff00000003010000003201f01001001000000001011f000f00010000001000200003000000000000000"
         "0"},
        {"hadoop/counting_jenkins_m50_k3.bin",
         "hadoop-counting:capacity=7,bits=200,hashes=3,hash=jenkins",
         "ffffffff000000030000000032000000f00000010210201000f340000000200000100f0001000000000000000"
         "0"},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const test_file file = test_vector(of[i].path), hex = test_hex(of[i].hex);
        is_counting(file, of[i].spec);
        is_counting(hex, of[i].spec);
        free(file.bytes);
        free(hex.bytes);
    }
}

/* Merging adds counters, up to 15. */
static void counts_of_two_add_up(void **state) {
    (void)state;
    tamis *a = make("hadoop-counting:capacity=100"), *b = make("hadoop-counting:capacity=100");
    for (int i = 0; i < 10; i++) tamis_add(a, "ten", 3), tamis_add(b, "ten", 3);
    tamis_add(a, "one", 3);
    tamis_add(b, "one", 3);
    assert_int_equal(tamis_merge(a, b), TAMIS_OK);
    assert_int_equal(count(a, "ten"), 15);
    assert_int_equal(count(a, "one"), 2);
    tamis_free(a);
    tamis_free(b);
}

/* ---- DynamicBloomFilter --------------------------------------------------------------------- */

#define ROW "ffffffff000000030100000040"
#define DYNAMIC                                                                     \
    "ffffffff000000030100000040000000030000000100000003" ROW "011d061000000200" ROW \
    "0000001018888006" ROW "0400000000001100"
#define DYNAMIC_SPEC "hadoop-dynamic:capacity=7,bits=64,hashes=3,nr=3"

static void is_dynamic(test_file file) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis *f = test_import("hadoop-dynamic", file), *g = make(DYNAMIC_SPEC);
    test_all_in(f, words);
    test_none_in(f, test_no_words);
    tamis_measure(f, &info);
    assert_int_equal(info.items, 7);
    assert_int_equal(info.word[5], 3);
    test_goes_round("hadoop-dynamic", file);
    test_written_anew(DYNAMIC_SPEC, words, "hadoop-dynamic", file);
    assert_int_equal(tamis_add_many(g, words, 7), TAMIS_OK); /* all rows at once */
    has_bytes(g, "hadoop-dynamic", file);
    test_all_in(g, words);
    tamis_free(g);
    tamis_free(f);
}

static void dynamic_filters(void **state) {
    (void)state;
    const test_file file = test_vector("hadoop/dynamic_murmur_m64_k3_nr3.bin");
    const test_file hex = test_hex(DYNAMIC);
    is_dynamic(file);
    is_dynamic(hex);
    free(file.bytes);
    free(hex.bytes);
}

/* However keys are split into calls, the rows are the same as when added one by one. */
static void rows_do_not_depend_on_calls(void **state) {
    (void)state;
    enum { KEYS = 2000 };
    static uint64_t keys[KEYS];
    for (uint64_t i = 0; i < KEYS; i++) keys[i] = i * i;
    for (unsigned nr = 1; nr < 40; nr += 6) {
        char spec[96];
        snprintf(spec, sizeof spec, "hadoop-dynamic:capacity=9,bits=77,hashes=2,nr=%u", nr);
        for (size_t step = 1; step < 700; step = step * 3 + 1) {
            tamis *one = make(spec), *some = make(spec);
            for (size_t i = 0, m; i < KEYS; i += m) {
                m = KEYS - i < step ? KEYS - i : step;
                assert_int_equal(tamis_add_u64s(some, keys + i, m), TAMIS_OK);
                for (size_t j = 0; j < m; j++)
                    assert_int_equal(tamis_add_u64(one, keys[i + j]), TAMIS_OK);
            }
            const test_file out = test_export(one, "hadoop-dynamic");
            has_bytes(some, "hadoop-dynamic", out);
            struct tamis_info info = TAMIS_INFO_INIT;
            tamis_measure(some, &info);
            assert_int_equal(info.word[5], (KEYS + nr - 1) / nr);
            free(out.bytes);
            tamis_free(one);
            tamis_free(some);
            if (nr == 1) break;
        }
    }
}

/* An imported filter keeps growing from its last row, full or not, also with the old header. */
static void grows_on_from_a_file(void **state) {
    (void)state;
    static const char *const specs[] = {
        "hadoop-dynamic:capacity=9,bits=77,hashes=2,nr=3",
        "hadoop-dynamic:capacity=9,bits=80,hashes=2,nr=4,header=old"};
    for (size_t s = 0; s < 2; s++)
        for (uint64_t first = 0; first < 14; first++) {
            tamis *f = make(specs[s]), *whole = make(specs[s]);
            for (uint64_t i = 0; i < first; i++) tamis_add_u64(f, i);
            const test_file file = test_export(f, "hadoop-dynamic");
            tamis *g = test_import("hadoop-dynamic", file);
            for (uint64_t i = first; i < 20; i++) assert_int_equal(tamis_add_u64(g, i), TAMIS_OK);
            for (uint64_t i = 0; i < 20; i++) tamis_add_u64(whole, i);
            const test_file out = test_export(whole, "hadoop-dynamic");
            has_bytes(g, "hadoop-dynamic", out);
            free(out.bytes);
            free(file.bytes);
            tamis_free(f);
            tamis_free(g);
            tamis_free(whole);
        }
}

/* Each further row adds its own false-positive rate. */
static void the_rate_grows_with_the_rows(void **state) {
    (void)state;
    tamis *f = make("hadoop-dynamic:capacity=1000,fpr=1%");
    struct tamis_info info = TAMIS_INFO_INIT;
    for (uint64_t i = 0; i < 10000; i++) tamis_add_u64(f, i);
    tamis_measure(f, &info);
    assert_false(info.abilities & TAMIS_CAN_GROW);
    assert_int_equal(info.probes, 70);
    assert_true(info.fpr_expected > 0.09 && info.fpr_expected < 0.1);
    assert_true(info.fpr_now > 0.09 && info.fpr_now < 0.1);
    assert_true(info.items_now.value > 9800 && info.items_now.value < 10200);
    uint64_t hits = 0;
    for (uint64_t i = 0; i < 100000; i++) hits += tamis_has_u64(f, 1 << 20 | i);
    assert_true(hits > 9000 && hits < 10200);
    tamis_free(f);
    struct tamis_plan plan = TAMIS_PLAN_INIT; /* planned rows share the rate */
    assert_int_equal(tamis_plan_spec("hadoop-dynamic:capacity=10000,nr=1000,fpr=1%", &plan),
                     TAMIS_OK);
    assert_true(plan.fpr_expected < 0.0101 && plan.fpr_expected > 0.0099);
}

static void dynamic_filters_merge_row_by_row(void **state) {
    (void)state;
    const char *spec = "hadoop-dynamic:capacity=10,nr=10";
    tamis *a = make(spec), *b = make(spec), *c = make(spec);
    for (uint64_t i = 0; i < 6; i++) tamis_add_u64(a, i), tamis_add_u64(b, 100 + i);
    for (uint64_t i = 0; i < 14; i++) tamis_add_u64(c, i);
    assert_int_equal(tamis_merge(a, b), TAMIS_OK);
    for (uint64_t i = 0; i < 6; i++) assert_true(tamis_has_u64(a, i) && tamis_has_u64(a, 100 + i));
    assert_int_equal(tamis_add_u64(a, 7), TAMIS_OK); /* full: a second row */
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(a, &info);
    assert_int_equal(info.word[5], 2);
    assert_int_equal(tamis_merge(b, c), TAMIS_MISMATCH); /* one row and two */
    assert_int_equal(tamis_intersect(a, c), TAMIS_UNSUPPORTED);
    tamis_free(a);
    tamis_free(b);
    tamis_free(c);
}

/* ---- RetouchedBloomFilter ------------------------------------------------------------------- */

static void retouched_filters(void **state) {
    (void)state;
    static const char *const paths[] = {"hadoop/retouched_murmur_m16_k2.bin",
                                        "hadoop/retouched_jenkins_m16_k2.bin"};
    for (size_t i = 0; i < 2; i++) {
        const test_file file = test_vector(paths[i]);
        tamis *f = test_import("hadoop-retouched", file), *g = NULL;
        const char *spec = i ? "hadoop:capacity=2,bits=16,hashes=2,hash=jenkins"
                             : "hadoop:capacity=2,bits=16,hashes=2";
        test_all_in(f, alpha_beta);
        test_goes_round("hadoop-retouched", file);
        g = make(spec); /* the bits are those of a plain filter */
        test_add(g, alpha_beta);
        const test_file plain = test_export(g, "hadoop");
        assert_int_equal(plain.size, 15);
        assert_memory_equal(plain.bytes, file.bytes, plain.size);
        for (uint64_t k = 0; k < 2000; k++)
            assert_int_equal(tamis_has_u64(f, k), tamis_has_u64(g, k));
        assert_int_equal(tamis_add(f, "x", 1), TAMIS_UNSUPPORTED);
        assert_int_equal(tamis_remove(f, "alpha", 5), TAMIS_UNSUPPORTED);
        free(plain.bytes);
        free(file.bytes);
        tamis_free(f);
        tamis_free(g);
    }
    tamis *empty = make("hadoop-retouched:capacity=2,bits=16,hashes=2");
    const test_file file = test_export(empty, "hadoop-retouched");
    assert_int_equal(file.size, 15 + 16 * 16);
    test_none_in(empty, alpha_beta);
    test_goes_round("hadoop-retouched", file);
    free(file.bytes);
    tamis_free(empty);
}

/* An empty key in an otherwise valid file. */
static void retouched_keys_have_bytes(void **state) {
    (void)state;
    enum { LENGTH = 0x53 };
    const test_file file = test_vector("hadoop/retouched_murmur_m16_k2.bin");
    const size_t len = file.bytes[LENGTH + 3], end = LENGTH + 4 + len;
    tamis *f;
    assert_int_equal(tamis_import(&f, "hadoop-retouched", file.bytes, file.size), TAMIS_OK);
    tamis_free(f);
    file.bytes[LENGTH + 3] = 0;
    memmove(file.bytes + LENGTH + 4, file.bytes + end, file.size - end);
    assert_int_equal(tamis_import(&f, "hadoop-retouched", file.bytes, file.size - len),
                     TAMIS_CORRUPT);
    free(file.bytes);
}

/* Lists that lie: an extra or missing key, millions of keys, an empty or shorter key, one of 2^31
 * bytes; and one bit fewer than there are lists. */
static void retouched_lists_are_checked(void **state) {
    (void)state;
    static const struct {
        size_t at;
        uint8_t byte;
    } lies[] = {{15 + 3, 1}, {0x52, 2},    {0x52, 0},    {0x56, 0},
                {0x56, 3},   {0x53, 0x80}, {0x50, 0x7f}, {12, 15}};
    const test_file file = test_vector("hadoop/retouched_murmur_m16_k2.bin");
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        const uint8_t before = file.bytes[lies[i].at];
        file.bytes[lies[i].at] = lies[i].byte;
        tamis *f;
        assert_int_equal(tamis_import(&f, "hadoop-retouched", file.bytes, file.size),
                         TAMIS_CORRUPT);
        assert_null(f);
        file.bytes[lies[i].at] = before;
    }
    free(file.bytes);
}

/* The key of list 10 takes all but a few bytes, so the next list or key has no room for its number,
 * or the key itself none for its weight. The error message names the list: nothing was read past
 * the end. */
static void retouched_lists_end_in_the_middle_of_a_number(void **state) {
    (void)state;
    enum { LIST_10 = 15 + 10 * 4, KEY = LIST_10 + 8, BYTES = 15 + 16 * 16 + 2 };
    static const struct {
        uint8_t keys;
        int left;
        uint8_t last;
        const char *list;
    } ends[] = {{1, 0, 0, "list 11 of"},  {1, 1, 0, "list 11 of"}, {1, 3, 0, "list 11 of"},
                {2, 0, 0, "list 10 of"},  {2, 1, 1, "list 10 of"}, {2, 3, 1, "list 10 of"},
                {1, -1, 0, "list 10 of"}, {1, -8, 0, "list 10 of"}};
    tamis *empty = make("hadoop-retouched:capacity=2,bits=16,hashes=2"), *f;
    const test_file file = test_export(empty, "hadoop-retouched");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t len = (size_t)(BYTES - KEY - 8 - ends[i].left);
        uint8_t bytes[BYTES] = {0};
        memcpy(bytes, file.bytes, 15);
        bytes[LIST_10 + 3] = ends[i].keys;
        bytes[LIST_10 + 7] = (uint8_t)len;
        memset(bytes + KEY, 'x', len);
        bytes[BYTES - 1] = ends[i].last;
        assert_int_equal(tamis_import(&f, "hadoop-retouched", bytes, BYTES), TAMIS_CORRUPT);
        if (!strstr(tamis_why(), ends[i].list)) fail_msg("row %zu: %s", i, tamis_why());
    }
    free(file.bytes);
    tamis_free(empty);
}

/* A payload is the file, zero-padded to a multiple of eight bytes; an old header has eight. */
static void payloads_have_no_extra_word(void **state) {
    (void)state;
    static const struct {
        const char *spec, *format;
    } samples[] = {{"hadoop-counting:capacity=9,header=old", "hadoop-counting"},
                   {"hadoop-counting:capacity=9", "hadoop-counting"},
                   {"hadoop:capacity=9,bits=64,header=old", "hadoop"},
                   {"hadoop:capacity=9,bits=64", "hadoop"}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        tamis *f = make(samples[i].spec);
        const test_file file = test_export(f, samples[i].format);
        uint64_t size;
        tamis_payload(f, &size);
        assert_int_equal(size, (file.size + 7) / 8 * 8);
        free(file.bytes);
        tamis_free(f);
    }
}

/* No answer is written past the last key, although an empty key follows it. */
static void as_many_answers_as_keys(void **state) {
    (void)state;
    static const char *const specs[] = {"hadoop:capacity=9", "hadoop-counting:capacity=9",
                                        "hadoop-dynamic:capacity=9", "hadoop-retouched:capacity=9"};
    const struct tamis_key keys[] = {{"alpha", 5}, {"", 0}};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        tamis *f = make(specs[i]);
        uint8_t answers[2] = {7, 7};
        tamis_has_many(f, keys, 1, answers);
        assert_int_equal(answers[0], 0);
        assert_int_equal(answers[1], 7);
        tamis_free(f);
    }
}

/* ---- All of them ---------------------------------------------------------------------------- */

/* Hadoop throws on an empty key. A call with an empty key anywhere adds nothing; querying it
 * answers no, even where every bit is set. */
static void an_empty_key_is_refused(void **state) {
    (void)state;
    enum { MANY = 1000 };
    static const char *const kinds[] = {"hadoop", "hadoop-counting", "hadoop-dynamic"};
    struct tamis_key keys[MANY];
    for (size_t k = 0; k < 3; k++) {
        char spec[64];
        snprintf(spec, sizeof spec, "%s:capacity=10,bits=16,hashes=1", kinds[k]);
        tamis *f = make(spec), *old;
        bool is_new;
        for (size_t i = 0; i < MANY; i++) keys[i] = words[i % 7];
        assert_int_equal(tamis_copy(&old, f), TAMIS_OK);
        assert_int_equal(tamis_add(f, "", 0), TAMIS_INVALID);
        assert_int_equal(tamis_add_new(f, "", 0, &is_new), TAMIS_INVALID);
        for (size_t i = 0; i < MANY; i += 333) {
            keys[i].len = 0;
            assert_int_equal(tamis_add_many(f, keys, MANY), TAMIS_INVALID);
            assert_non_null(strstr(tamis_why(), "takes no empty key"));
            keys[i] = words[i % 7];
        }
        const test_file before = test_export(old, kinds[k]);
        has_bytes(f, kinds[k], before);
        free(before.bytes);
        for (uint64_t i = 0; i < 500; i++) tamis_add_u64(f, i);
        assert_true(tamis_has(f, "never", 5)); /* full */
        assert_false(tamis_has(f, "", 0));
        assert_int_equal(tamis_count(f, "", 0), 0);
        if (k == 1) assert_int_equal(tamis_remove(f, "", 0), TAMIS_NOT_FOUND);
        tamis_free(f);
        tamis_free(old);
    }
}

static void plans(void **state) {
    (void)state;
    test_planned("hadoop:capacity=1000,fpr=1%", 9586, 7);
    test_planned("hadoop:capacity=0,fpr=1%", 10, 7);
    test_planned("hadoop:capacity=1,fpr=90%", 1, 1);
    test_planned("hadoop:capacity=1,bits=1", 1, 1);
    test_planned("hadoop:capacity=10,bits=2147483647", INT32_MAX, 255);
    test_planned("hadoop-counting:capacity=1000,fpr=1%", 4 * 9586, 7);
    test_planned("hadoop-counting:capacity=10,bits=7,hashes=255", 4, 255);
    test_planned("hadoop-dynamic:capacity=1000,fpr=1%", 9586, 7);
    test_spec_refused("hadoop-counting:capacity=10,bits=3", TAMIS_INVALID, "at least bits=4");
    test_spec_refused("hadoop:capacity=1e9,fpr=1%", TAMIS_TOO_LARGE, "2^31-1 positions");
    test_spec_refused("hadoop:capacity=10,bits=2147483648", TAMIS_TOO_LARGE, "not 2147483648");
    test_spec_refused("hadoop:capacity=10,hash=murmur,header=old", TAMIS_INVALID, "hash=jenkins");
    test_spec_refused("hadoop:capacity=10,hash=xxh3", TAMIS_INVALID, "jenkins|murmur");
    test_spec_refused("hadoop:capacity=10,hashes=256", TAMIS_INVALID, "255");
    test_spec_refused("hadoop-dynamic:capacity=10,nr=0", TAMIS_INVALID, "from 1");
    test_spec_refused("hadoop-dynamic:capacity=10,nr=2147483648", TAMIS_INVALID, "2147483647");
}

static void refuses_what_is_not_hadoop(void **state) {
    (void)state;
    static const char *const files[][2] = {
        {"hadoop", "hadoop/bloom_murmur_m101_k4.bin"},
        {"hadoop", "hadoop/bloom_jenkins_m101_k4_unversioned.bin"},
        {"hadoop-counting", "hadoop/counting_murmur_m50_k3.bin"},
        {"hadoop-dynamic", "hadoop/dynamic_murmur_m64_k3_nr3.bin"},
        {"hadoop-retouched", "hadoop/retouched_murmur_m16_k2.bin"},
        {"hadoop-retouched", "hadoop/retouched_jenkins_m16_k2.bin"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const test_file file = test_vector(files[i][1]);
        assert_true(test_hostile(files[i][0], file) > 0); /* other bits are another filter */
        free(file.bytes);
    }
}

static void sentences(void **state) {
    (void)state;
    static const struct {
        const char *format, *hex, *why;
    } of[] = {
        {"hadoop", "", "neither with -1"},
        {"hadoop", "00000000", "neither with -1"},
        {"hadoop", "fffffffe0000000401000000080000", "neither with -1"},
        {"hadoop", "80000000000000080000", "neither with -1"},
        {"hadoop", "ffffffff00000004010000", "a header alone has 13"},
        {"hadoop", "00000004000000", "a header alone has 8"},
        {"hadoop", "ffffffff00000004010000000000", "1 to 2^31-1 positions, not 0"},
        {"hadoop", "ffffffff00000004018000000000", "not 2147483648"},
        {"hadoop", "ffffffff0000000401ffffffff00", "not 4294967295"},
        {"hadoop", "ffffffff0000000001000000080a", "1 to 255 hashes, not 0"},
        {"hadoop", "ffffffff0000010001000000080a", "not 256"},
        {"hadoop", "ffffffff0000000402000000080a", "type 2"},
        {"hadoop", "ffffffff00000004ff000000080a", "type 255"},
        {"hadoop", "ffffffff00000004010000000900", "15 bytes, not 14"},
        {"hadoop", "ffffffff00000004017fffffff00", "not 14"},
        {"hadoop", "ffffffff0000000401000000080000", "14 bytes, not 15"},
        {"hadoop", "ffffffff000000040100000007ff", "beyond the last of 7 bits"},
        {"hadoop-counting", "ffffffff000000040100000010ffffffffffffff", "21 bytes, not 20"},
        {"hadoop-counting", "ffffffff00000004010000000ff000000000000000", "after the last of 15"},
        {"hadoop-dynamic", "ffffffff00000003010000004000000003000000", "end after the header"},
        {"hadoop-dynamic", "ffffffff000000030100000040000000030000000100000000", "0 rows"},
        {"hadoop-dynamic", "ffffffff00000003010000004000000003000000017fffffff", "2147483647 rows"},
        {"hadoop-dynamic", "ffffffff0000000301000000400000000300000001ffffffff", "4294967295 rows"},
        {"hadoop-dynamic",
         "ffffffff000000030100000008000000000000000000000001ffffffff00000003010000000800",
         "keys in a row, not 0"},
        {"hadoop-dynamic",
         "ffffffff000000030100000008000000030000000400000001ffffffff00000003010000000800",
         "4 of 3"},
        {"hadoop-dynamic",
         "ffffffff00000003010000000800000003ffffffff00000001ffffffff00000003010000000800",
         "-1 of 3"},
        {"hadoop-dynamic",
         "ffffffff000000030100000008000000030000000100000001ffffffff00000003000000000800",
         "does not match its shape"},
        {"hadoop-retouched", "ffffffff00000002010000001005110000", "at least 271 bytes"},
        {"hadoop-retouched",
         "ffffffff0000000201"
         "7fffffff00",
         "at least"},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        test_hex_refused(of[i].format, of[i].hex, of[i].why);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bloom_filters),
        cmocka_unit_test(thousand_keys),
        cmocka_unit_test(the_least_hash_has_its_place),
        cmocka_unit_test(counting_filters),
        cmocka_unit_test(counts_of_two_add_up),
        cmocka_unit_test(dynamic_filters),
        cmocka_unit_test(rows_do_not_depend_on_calls),
        cmocka_unit_test(grows_on_from_a_file),
        cmocka_unit_test(the_rate_grows_with_the_rows),
        cmocka_unit_test(dynamic_filters_merge_row_by_row),
        cmocka_unit_test(retouched_filters),
        cmocka_unit_test(retouched_lists_are_checked),
        cmocka_unit_test(retouched_keys_have_bytes),
        cmocka_unit_test(retouched_lists_end_in_the_middle_of_a_number),
        cmocka_unit_test(an_empty_key_is_refused),
        cmocka_unit_test(as_many_answers_as_keys),
        cmocka_unit_test(payloads_have_no_extra_word),
        cmocka_unit_test(plans),
        cmocka_unit_test(refuses_what_is_not_hadoop),
        cmocka_unit_test(sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
