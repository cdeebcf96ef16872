/* SPDX-License-Identifier: MIT */
/* Tables of LevelDB and RocksDB, made here byte by byte: every version, checksum and footer, and
 * each number in them one too large. Checksums match the changed bytes, so that they hide
 * nothing. */
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
#include "foreign/sstable.h"
#include "tests/support/require_ok.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))
#define LEVELDB        0xdb4775248b80fb57
#define ROCKSDB        0x88e241b785f4cff7

enum { NONE, CRC32C, XXH32, XXH64, XXH3 };

/* ---- A table of one block, the metaindex ---------------------------------------------------- */

typedef struct table {
    uint8_t bytes[1024];
    size_t size, footer;
    unsigned version, checksum;
    uint32_t context;
} table;

static uint32_t hash_of(tamis_hash_mode mode, const uint8_t *bytes, size_t size) {
    const tamis_hasher hasher = {.mode = mode};
    return (uint32_t)tamis__hash(&hasher, bytes, size);
}

static uint32_t sum_of(const table *t, const uint8_t *bytes, size_t size, uint64_t at) {
    uint32_t sum = 0;
    if (t->checksum == CRC32C) sum = tamis__crc32c_masked(bytes, size);
    if (t->checksum == XXH32) sum = tamis__xxh32(bytes, size);
    if (t->checksum == XXH64) sum = hash_of(TAMIS_HASH_XXH64, bytes, size);
    if (t->checksum == XXH3)
        sum = hash_of(TAMIS_HASH_XXH3, bytes, size - 1) ^ bytes[size - 1] * 0x6b9083d9u;
    return t->context ? sum + (t->context ^ (uint32_t)at) : sum;
}

static void put(table *t, const void *bytes, size_t size) {
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
}

static void put_number(table *t, uint64_t x) {
    for (; x >= 128; x >>= 7) t->bytes[t->size++] = (uint8_t)(x | 128);
    t->bytes[t->size++] = (uint8_t)x;
}

/* Recomputes the checksum after a change. */
static void seal_footer(table *t) {
    if (t->version < 6) return;
    uint8_t *f = t->bytes + t->footer;
    tamis__put32(f + 5, 0);
    tamis__put32(f + 5, sum_of(t, f, 53, t->footer));
}

static void put_footer(table *t, uint64_t metaindex, uint64_t magic) {
    const uint8_t extended[] = {(uint8_t)t->checksum, 0x3e, 0, 0x7a, 0};
    t->footer = t->size;
    if (t->version >= 6) {
        put(t, extended, sizeof extended);
        tamis__put32(t->bytes + t->footer + 9, t->context);
        tamis__put32(t->bytes + t->footer + 13, (uint32_t)metaindex);
        t->size = t->footer + 41;
    } else {
        if (t->version) t->bytes[t->size++] = (uint8_t)t->checksum;
        const size_t handles = t->size;
        put_number(t, 0), put_number(t, metaindex);
        put_number(t, 0), put_number(t, 0);
        t->size = handles + 40;
    }
    if (magic == ROCKSDB) tamis__put32(t->bytes + t->size, t->version), t->size += 4;
    tamis__put64(t->bytes + t->size, magic), t->size += 8;
    seal_footer(t);
}

/* A table with this block as its metaindex. */
static table table_of(unsigned version, unsigned checksum, const void *block, size_t size) {
    table t = {.version = version, .checksum = version ? checksum : CRC32C};
    t.context = version >= 6 ? 0x12345678 : 0;
    put(&t, block, size);
    t.bytes[t.size++] = 0; /* not compressed */
    tamis__put32(t.bytes + t.size, sum_of(&t, t.bytes, size + 1, 0)), t.size += 4;
    put_footer(&t, size, version ? ROCKSDB : LEVELDB);
    return t;
}

/* In memory of exactly its size. */
static tamis_status find(const table *t, const char *name, tamis_handle *handle, bool *is_there) {
    uint8_t *exact = malloc(t->size ? t->size : 1);
    assert_non_null(exact);
    memcpy(exact, t->bytes, t->size);
    const tamis_input in = {exact, t->size, NULL};
    tamis_table opened;
    *is_there = false;
    tamis_status rc = tamis__table_open("rocksdb-sst", &in, true, &opened);
    if (!rc) rc = tamis__table_find(&opened, name, handle, is_there);
    free(exact);
    return rc;
}

static void is_refused(const table *t, tamis_status status, const char *why) {
    tamis_handle handle;
    bool is_there;
    const tamis_status rc = find(t, "a", &handle, &is_there);
    if (rc != status || !strstr(tamis_why(), why))
        fail_msg("%s: status %d, %s", why, rc, tamis_why());
}

/* Two entries: "a" at 7 with 300 bytes, and "ab", whose first letter it shares. */
static const char two[] = "\0\1\3a\7\254\2" /* 300 is ac 02 */
                          "\1\1\2b\1\2"
                          "\0\0\0\0"  /* one restart, at 0 */
                          "\1\0\0\0"; /* their number */
enum { TWO = sizeof two - 1 };

static void every_version_and_checksum(void **state) {
    (void)state;
    for (unsigned version = 0; version <= 7; version++)
        for (unsigned checksum = version ? NONE : CRC32C; checksum <= (version ? XXH3 : CRC32C);
             checksum++) {
            table t = table_of(version, checksum, two, TWO);
            tamis_handle handle;
            bool is_there;
            REQUIRE_OK(find(&t, "a", &handle, &is_there));
            assert_true(is_there);
            assert_int_equal(handle.offset, 7);
            assert_int_equal(handle.size, 300);
            REQUIRE_OK(find(&t, "ab", &handle, &is_there));
            assert_true(is_there);
            assert_int_equal(handle.offset, 1);
            REQUIRE_OK(find(&t, "b", &handle, &is_there));
            assert_false(is_there);
            t.bytes[3] ^= 1; /* of a key */
            if (t.checksum != NONE)
                is_refused(&t, TAMIS_CORRUPT, "the checksum of the metaindex at 0 is wrong");
        }
}

static void invalid_footers(void **state) {
    (void)state;
    table t = {.size = 47};
    is_refused(&t, TAMIS_CORRUPT, "47 bytes, a footer alone has 48");
    t.size = 52;
    is_refused(&t, TAMIS_CORRUPT, "not the magic number");
    tamis__put64(t.bytes + 44, ROCKSDB);
    is_refused(&t, TAMIS_CORRUPT, "52 bytes, a footer alone has 53");
    const table good = table_of(5, XXH3, two, TWO);
    const tamis_input in = {good.bytes, good.size, NULL};
    tamis_table opened;
    assert_int_equal(tamis__table_open("leveldb-ldb", &in, false, &opened), TAMIS_CORRUPT);
    assert_non_null(strstr(tamis_why(), "rocksdb-sst reads it"));
    t = good, t.bytes[t.footer] = 5;
    is_refused(&t, TAMIS_CORRUPT, "unknown checksum type 5");
    for (unsigned version = 0; version <= 8; version += 8) {
        t = good, tamis__put32(t.bytes + t.footer + 41, version);
        is_refused(&t, TAMIS_UNSUPPORTED, "versions 0 to 7 can be read");
    }
    /* Neither handle ends, the second does not, or it exceeds 64 bits. */
    t = good, memset(t.bytes + t.footer + 1, 0x80, 40);
    is_refused(&t, TAMIS_CORRUPT, "has no offset of the metaindex");
    t = good, memset(t.bytes + t.footer + 2, 0x80, 39);
    is_refused(&t, TAMIS_CORRUPT, "has no offset of the metaindex");
    t = good, memset(t.bytes + t.footer + 3, 0x80, 38);
    is_refused(&t, TAMIS_CORRUPT, "has no offset of the metaindex");
    t = good, memset(t.bytes + t.footer + 1, 0xff, 9), t.bytes[t.footer + 10] = 2;
    is_refused(&t, TAMIS_CORRUPT, "has no offset of the metaindex");
}

static void extended_footers(void **state) {
    (void)state;
    const table good = table_of(6, XXH64, two, TWO);
    table t = good;
    t.bytes[t.footer + 3] ^= 1, seal_footer(&t);
    is_refused(&t, TAMIS_CORRUPT, "version 6 has no 3e 00 7a 00");
    t = good, t.bytes[t.footer + 20] = 1; /* unused, but in the checksum */
    is_refused(&t, TAMIS_CORRUPT, "the checksum of the footer is wrong");
    t = good, t.context = 0, tamis__put32(t.bytes + t.footer + 9, 0), seal_footer(&t);
    is_refused(&t, TAMIS_CORRUPT, "the context of its checksums is 0");
    t = good, t.bytes[t.footer + 33] = 1, seal_footer(&t);
    is_refused(&t, TAMIS_UNSUPPORTED, "an unknown feature");
    t = good, tamis__put32(t.bytes + t.footer + 13, (uint32_t)TWO + 1), seal_footer(&t);
    is_refused(&t, TAMIS_CORRUPT, "does not fit before the footer");
    t = good, tamis__put32(t.bytes + t.footer + 13, UINT32_MAX), seal_footer(&t);
    is_refused(&t, TAMIS_CORRUPT, "does not fit before the footer");
}

/* A block must be inside the file, with its five-byte trailer. */
static void blocks_that_are_not_there(void **state) {
    (void)state;
    table t = table_of(5, CRC32C, two, TWO);
    const tamis_input in = {t.bytes, t.size, NULL};
    tamis_table opened;
    tamis_input block;
    REQUIRE_OK(tamis__table_open("rocksdb-sst", &in, true, &opened));
    REQUIRE_OK(tamis__table_block(&opened, (tamis_handle){0, TWO}, "filter", &block));
    assert_int_equal(block.size, TWO);
    const tamis_handle bad[] = {{t.size + 1, 0}, {UINT64_MAX, 0},      {0, t.size + 1},
                                {0, UINT64_MAX}, {t.size - 4, 0},      {t.size, 0},
                                {1, t.size - 5}, {UINT64_MAX - 3, 10}, {0, t.size - 4}};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(tamis__table_block(&opened, bad[i], "filter", &block), TAMIS_CORRUPT);
        assert_non_null(strstr(tamis_why(), "the filter of"));
        assert_non_null(strstr(tamis_why(), "is not inside its"));
    }
    t.bytes[TWO] = 1; /* Snappy */
    tamis__put32(t.bytes + TWO + 1, sum_of(&t, t.bytes, TWO + 1, 0));
    assert_int_equal(tamis__table_block(&opened, (tamis_handle){0, TWO}, "filter", &block),
                     TAMIS_UNSUPPORTED);
    assert_non_null(strstr(tamis_why(), "is compressed, by method 1"));
}

/* Each number of an entry, and at the end of the block, one too large. */
static void entries_that_do_not_add_up(void **state) {
    (void)state;
    static const struct {
        const char *block;
        size_t size;
    } bad[] = {
#define BLOCK(text) {text, sizeof(text) - 1}
        BLOCK("\0\0\0"),                     /* no room for the number of restarts */
        BLOCK("\0\0\0\0\2\0\0\0"),           /* two restarts, and bytes for one */
        BLOCK("\xff\xff\xff\xff"),           /* 2^32 - 1 of them */
        BLOCK("\x80\0\0\0\0"),               /* `shared` does not end */
        BLOCK("\0\x80\0\0\0\0"),             /* `own` does not */
        BLOCK("\0\1\x80\0\0\0\0"),           /* the size of the value does not */
        BLOCK("\0\2\0a\0\0\0\0"),            /* a key of two bytes, and one there */
        BLOCK("\0\1\2a\1\0\0\0\0"),          /* a value of two, and one there */
        BLOCK("\1\1\1a\1\0\0\0\0"),          /* shares one byte of no key before it */
        BLOCK("\0\1\1b\1\2\1\1c\1\0\0\0\0"), /* shares two of a key of one */
        BLOCK("\0\1\1a\x80\0\0\0\0"),        /* the name, but its handle does not end */
        BLOCK(
            "\0\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1a\0\0\0\0"), /* a value of 2^64 - 1 bytes */
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        const table t = table_of(4, XXH3, bad[i].block, bad[i].size);
        is_refused(&t, TAMIS_CORRUPT, "a block of entries has an invalid end");
    }
}

/* Bare values have no size: the block says where the last ends, and the caller moves on. */
static void bare_entries(void **state) {
    (void)state;
    static const uint8_t block[] = {0, 1, 'a', 5, 6, 1, 1, 'b', 7, 0, 0, 0, 0};
    const tamis_table t = {.format = "rocksdb-sst"};
    tamis_entries e;
    bool is_there;
    REQUIRE_OK(tamis__entries_open(&t, (tamis_input){block, sizeof block, NULL}, true, &e));
    REQUIRE_OK(tamis__entries_next(&e, &is_there));
    assert_true(is_there);
    assert_int_equal(e.key[0], 'a');
    assert_int_equal(e.value.size, 6); /* all that follows */
    e.at = e.value.bytes + 2;
    REQUIRE_OK(tamis__entries_next(&e, &is_there));
    assert_int_equal(e.key_len, 2);
    assert_memory_equal(e.key, "ab", 2);
    assert_int_equal(*e.value.bytes, 7);
    e.at = e.value.bytes + 1;
    REQUIRE_OK(tamis__entries_next(&e, &is_there));
    assert_false(is_there);
}

/* Input that arrives on request until it fails: at the footer, then at the block. */
typedef struct slow {
    const uint8_t *bytes;
    int left;
} slow;

static bool read_some(void *ctx, uint64_t offset, void *to, size_t size) {
    slow *s = ctx;
    memcpy(to, s->bytes + offset, size);
    return s->left-- > 0;
}

static void bytes_that_do_not_come(void **state) {
    (void)state;
    enum { SIZE = 3 * TAMIS_SOURCE_PAGE }; /* the metaindex and the footer are in different pages */
    static uint8_t whole[SIZE], copy[SIZE];
    table t = table_of(5, CRC32C, two, TWO);
    memcpy(whole, t.bytes, t.footer);
    memcpy(whole + SIZE - (t.size - t.footer), t.bytes + t.footer, t.size - t.footer);
    for (int left = 0; left <= 2; left++) {
        slow from = {whole, left};
        uint64_t has = 0;
        tamis_source source = {
            .read = read_some, .ctx = &from, .bytes = copy, .size = SIZE, .has = &has};
        const tamis_input in = {copy, SIZE, &source};
        tamis_table opened;
        tamis_handle handle;
        bool is_there;
        memset(copy, 0, sizeof copy);
        tamis_status rc = tamis__table_open("rocksdb-sst", &in, true, &opened);
        assert_int_equal(rc, left ? TAMIS_OK : TAMIS_IO);
        if (!rc) rc = tamis__table_find(&opened, "a", &handle, &is_there);
        assert_int_equal(rc, left == 2 ? TAMIS_OK : TAMIS_IO);
        if (rc) assert_non_null(strstr(tamis_why(), "cannot be read"));
    }
}

/* A key longer than what is kept is skipped, and not found even by its own name. */
static void long_keys(void **state) {
    (void)state;
    char name[300 + 1], block[512];
    table made = {0};
    memset(name, 'n', 300), name[300] = '\0';
    put_number(&made, 0), put_number(&made, 300), put_number(&made, 2);
    put(&made, name, 300), put(&made, "\5\6", 2);
    put(&made, "\0\1\2a\3\4", 6);
    put(&made, "\0\0\0\0", 4);
    memcpy(block, made.bytes, made.size);
    const table t = table_of(3, XXH32, block, made.size);
    tamis_handle handle;
    bool is_there;
    REQUIRE_OK(find(&t, name, &handle, &is_there));
    assert_false(is_there);
    REQUIRE_OK(find(&t, "a", &handle, &is_there));
    assert_true(is_there);
    assert_int_equal(handle.offset, 3);
    assert_int_equal(handle.size, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_and_checksum),
        cmocka_unit_test(invalid_footers),
        cmocka_unit_test(extended_footers),
        cmocka_unit_test(blocks_that_are_not_there),
        cmocka_unit_test(entries_that_do_not_add_up),
        cmocka_unit_test(long_keys),
        cmocka_unit_test(bare_entries),
        cmocka_unit_test(bytes_that_do_not_come),
    };
    return cmocka_run_group_tests_name("sstable", tests, NULL, NULL);
}
