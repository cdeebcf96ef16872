/* SPDX-License-Identifier: MIT */
/* Attacks that broke other readers of these formats, replayed. Each is refused with a message or
 * answered as its origin does, and takes no more memory than its bytes account for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "foreign/bytes.h"
#include "tests/support/foreign.h"

/* ---- Bytes with one field changed ----------------------------------------------------------- */

enum order { LITTLE, BIG };

static void poke(uint8_t *at, enum order order, size_t width, uint64_t value) {
    for (size_t i = 0; i < width; i++)
        at[order == LITTLE ? i : width - 1 - i] = (uint8_t)(value >> 8 * i);
}

typedef struct field {
    const char *format, *path; /* of a valid file */
    size_t at, width;
    enum order order;
} field;

/* Is the file accepted with this value in the field? */
static bool is_taken_with(const field *f, uint64_t value) {
    const test_file file = test_vector(f->path);
    poke(file.bytes + f->at, f->order, f->width, value);
    const bool is_taken = test_is_let_in(f->format, file.bytes, file.size);
    free(file.bytes);
    return is_taken;
}

static void refuses_values(const field *f, const uint64_t *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const bool fits = f->width == 8 || values[i] >> 8 * f->width == 0;
        if (fits && is_taken_with(f, values[i]))
            fail_msg("%s takes %llu at byte %zu", f->path, (unsigned long long)values[i], f->at);
    }
}
#define REFUSES(f, ...) \
    refuses_values(&(f), (const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 8)

/* ---- A1: no bits, and a remainder modulo their number ---------------------------------------- */

static void a_filter_of_no_bits(void **state) {
    (void)state;
    static const uint8_t no_bytes[] = {0, 5, 0, 0, 0, 0, 0, 0, 0, 1};
    const test_file file = {(uint8_t *)(uintptr_t)no_bytes, sizeof no_bytes};
    tamis *f = test_import("bip37", file);
    assert_true(tamis_has(f, "anything", 8)); /* as BIP37 says */
    tamis_add(f, "anything", 8);
    assert_true(tamis_has(f, "", 0));
    tamis_free(f);

    static const field sizes[] = {
        {"guava", "guava/mitz64_utf8_n10_p0.03.bin", 2, 4, BIG},
        {"spark", "spark/spark_v1_str_n10_p0.03.bin", 8, 4, BIG},
        {"hadoop", "hadoop/bloom_murmur_m101_k4.bin", 9, 4, BIG},
        {"cassandra:version=nb", "cassandra/cassandra_text_n10_p0.01.db", 4, 4, BIG},
        {"dcso", "dcso/dcso_n10_p0.01.bloom", 32, 8, LITTLE},
        {"bits-and-blooms", "bits-and-blooms/bnb_n10_p0.01.bin", 0, 8, BIG},
        {"libbloom", "libbloom/libbloom2_n1000_p0.01_7keys.bloom", 19, 8, LITTLE},
        {"squid", "squid/accepted_by_squid5.7_cap50_bpe5_40urls.digest", 16, 4, BIG},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) REFUSES(sizes[i], 0);
}

/* ---- A7, A9, A10: chains whose parts do not fit their bytes ---------------------------------- */

static test_file joined(const char *first, const char *second) {
    const test_file a = test_vector(first), b = test_vector(second);
    test_file both = {malloc(a.size + b.size), a.size + b.size};
    assert_non_null(both.bytes);
    memcpy(both.bytes, a.bytes, a.size);
    memcpy(both.bytes + a.size, b.bytes, b.size);
    free(a.bytes);
    free(b.bytes);
    return both;
}

static test_file bloom_chain(void) {
    return joined("redisbloom/bf_p0.01_n10.chunk0.iter1.bin",
                  "redisbloom/bf_p0.01_n10.chunk1.iter17.bin");
}

static test_file cuckoo_chain(void) {
    return joined("redisbloom/cf_cap16.chunk0.iter1.bin", "redisbloom/cf_cap16.chunk1.iter17.bin");
}

static void chain_refuses(const char *format, test_file (*chain)(void), size_t at, size_t width,
                          uint64_t value) {
    const test_file file = chain();
    poke(file.bytes + at, LITTLE, width, value);
    if (test_is_let_in(format, file.bytes, file.size))
        fail_msg("%s takes %llu at byte %zu", format, (unsigned long long)value, at);
    free(file.bytes);
}

static void links_that_are_not_there(void **state) {
    (void)state;
    static const uint64_t links[] = {0, 2, 65535, 65536, UINT32_MAX};
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        chain_refuses("redisbloom", bloom_chain, 8, 4, links[i]);
        chain_refuses("rediscuckoo", cuckoo_chain, 24, 8, links[i]);
    }
    static const uint64_t buckets[] = {0, 3, 7, 9, 16, ((uint64_t)1 << 32) + 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof buckets / sizeof *buckets; i++)
        chain_refuses("rediscuckoo", cuckoo_chain, 8, 8, buckets[i]);
    chain_refuses("rediscuckoo", cuckoo_chain, 32, 2, 0); /* slots per bucket */
    chain_refuses("rediscuckoo", cuckoo_chain, 32, 2, 0xffff);
}

static void links_larger_than_their_bytes(void **state) {
    (void)state;
    enum { BYTES = 20, BITS = 28, ERROR = 44, HASHES = 60, N2 = 72 }; /* in the first link */
    static const uint64_t sizes[] = {0, 15, 17, (uint64_t)1 << 40, UINT64_MAX, UINT64_MAX / 8 + 3};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        chain_refuses("redisbloom", bloom_chain, BYTES, 8, sizes[i]);
    static const uint64_t bits[] = {0, 127, 129, (uint64_t)1 << 40, UINT64_MAX};
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        chain_refuses("redisbloom", bloom_chain, BITS, 8, bits[i]);
    chain_refuses("redisbloom", bloom_chain, N2, 1, 64);
    chain_refuses("redisbloom", bloom_chain, N2, 1, 255);
    chain_refuses("redisbloom", bloom_chain, ERROR, 8, 0x3ff0000000000000); /* 1.0 */
    chain_refuses("redisbloom", bloom_chain, ERROR, 8, 0x7ff8000000000000); /* NaN */
    chain_refuses("redisbloom", bloom_chain, HASHES, 4, 0);
    chain_refuses("redisbloom", bloom_chain, HASHES, 4, UINT32_MAX);
}

/* 2^n2 positions in a link that has more bits: no key reaches the others. */
static void bits_that_no_position_reaches(void **state) {
    (void)state;
    const test_file file = test_vector("redisbloom/hostile_two_positions.bin");
    tamis *f = test_import("redisbloom", file);
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(f, &info);
    assert_true(info.fill <= 1 && info.fpr_now <= 1);
    tamis_free(f);
    test_goes_round("redisbloom", file);
    free(file.bytes);
}

static void bytes_too_few_and_too_many(void **state) {
    (void)state;
    test_file (*const chains[])(void) = {bloom_chain, cuckoo_chain};
    const char *const names[] = {"redisbloom", "rediscuckoo"};
    for (size_t i = 0; i < 2; i++) {
        test_file file = chains[i]();
        assert_true(test_is_let_in(names[i], file.bytes, file.size));
        assert_false(test_is_let_in(names[i], file.bytes, file.size - 1));
        assert_false(test_is_let_in(names[i], file.bytes, 0));
        file.bytes = realloc(file.bytes, file.size + 1);
        assert_non_null(file.bytes);
        file.bytes[file.size] = 0;
        assert_false(test_is_let_in(names[i], file.bytes, file.size + 1));
        free(file.bytes);
    }
}

/* ---- A11, A15, A20: large numbers in few bytes ----------------------------------------------- */

static void large_numbers_in_few_bytes(void **state) {
    (void)state;
    static const field sizes[] = {
        {"guava", "guava/mitz64_utf8_n10_p0.03.bin", 2, 4, BIG},
        {"spark", "spark/spark_v1_str_n10_p0.03.bin", 8, 4, BIG},
        {"spark", "spark/spark_v2_str_n10_p0.03.bin", 12, 4, BIG},
        {"hadoop", "hadoop/bloom_murmur_m101_k4.bin", 9, 4, BIG},
        {"hadoop-counting", "hadoop/counting_murmur_m50_k3.bin", 9, 4, BIG},
        {"hadoop-dynamic", "hadoop/dynamic_murmur_m64_k3_nr3.bin", 21, 4, BIG},
        {"cassandra:version=nb", "cassandra/cassandra_text_n10_p0.01.db", 4, 4, BIG},
        {"dcso", "dcso/dcso_n10_p0.01.bloom", 32, 8, LITTLE},
        {"dcso", "dcso/dcso_n10_p0.01.bloom", 24, 8, LITTLE},
        {"bits-and-blooms", "bits-and-blooms/bnb_n10_p0.01.bin", 0, 8, BIG},
        {"bits-and-blooms", "bits-and-blooms/bnb_n10_p0.01.bin", 8, 8, BIG},
        {"bits-and-blooms", "bits-and-blooms/bnb_n10_p0.01.bin", 16, 8, BIG},
        {"libbloom", "libbloom/libbloom2_n1000_p0.01_7keys.bloom", 19, 8, LITTLE},
        {"libbloom", "libbloom/libbloom2_n1000_p0.01_7keys.bloom", 27, 8, LITTLE},
        {"squid", "squid/accepted_by_squid5.7_cap50_bpe5_40urls.digest", 16, 4, BIG},
        {"squid", "squid/accepted_by_squid5.7_cap50_bpe5_40urls.digest", 4, 4, BIG},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        REFUSES(sizes[i], (uint64_t)1 << 24, UINT32_MAX, (uint64_t)1 << 48, (uint64_t)1 << 60,
                UINT64_MAX, INT32_MAX);
    static const uint8_t six[] = {0, 1, 0x7f, 0xff, 0xff, 0xff}; /* claims 17 GB */
    assert_false(test_is_let_in("guava", six, sizeof six));
}

/* ---- A19: sizes that disagree ---------------------------------------------------------------- */

static void sizes_that_disagree(void **state) {
    (void)state;
    enum { BLOCK = 32, HEADER = 15 };
    static const uint8_t header[HEADER] = {0x15, 0x40, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c,
                                           0,    0,    0x1c, 0x1c, 0, 0, 0};
    uint8_t bytes[HEADER + 2 * BLOCK] = {0};
    memcpy(bytes, header, HEADER);
    for (size_t size = 0; size <= sizeof bytes; size++)
        if (test_is_let_in("parquet-filter", bytes, size) != (size == HEADER + BLOCK))
            fail_msg("a header for 32 bytes, and %zu bytes in all", size);
    static const uint8_t claims[] = {0x00, 0x3e, 0x42, 0x3f, 0x41, 0x01, 0x20, 0x60};
    for (size_t i = 0; i < sizeof claims; i++) {
        bytes[1] = claims[i];
        assert_false(test_is_let_in("parquet-filter", bytes, HEADER + BLOCK));
    }
    for (size_t size = 0; size <= sizeof bytes; size++)
        assert_int_equal(test_is_let_in("parquet-bitset", bytes, size), size && size % BLOCK == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filter_of_no_bits),
        cmocka_unit_test(links_that_are_not_there),
        cmocka_unit_test(links_larger_than_their_bytes),
        cmocka_unit_test(bits_that_no_position_reaches),
        cmocka_unit_test(bytes_too_few_and_too_many),
        cmocka_unit_test(large_numbers_in_few_bytes),
        cmocka_unit_test(sizes_that_disagree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
