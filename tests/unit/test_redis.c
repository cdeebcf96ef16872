/* SPDX-License-Identifier: MIT */
/* RedisBloom's BF and CF: replies and dumps of the module, compared with ours. */
#define _GNU_SOURCE /* memmem */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bits/bits.h"
#include "foreign/foreign_hashes.h"
#include "foreign/lzf.h"
#include "foreign/murmur.h"
#include "foreign/redis.h"
#include "tamis_formats.h"
#include "tests/support/failing_allocator.h"
#include "tests/support/foreign.h"

/* ---- What the module wrote ------------------------------------------------------------------ */

enum { MAX_CHUNKS = 6 };

static const struct {
    const char *name, *format, *spec;
    int iterators[MAX_CHUNKS];
} files[] = {
    {"bf_p0.01_n10", "redisbloom", "redisbloom:capacity=10,fpr=0.01", {1, 17}},
    {"bf_p0.01_n10_nonscaling",
     "redisbloom",
     "redisbloom:capacity=10,fpr=0.01,scaling=no",
     {1, 17}},
    {"bf_default_1000keys", "redisbloom", "redisbloom:capacity=100", {1, 145, 457, 1153, 2689}},
    {"cf_cap16", "rediscuckoo", "rediscuckoo:capacity=16", {1, 17}},
};
enum { BF, BF_FIXED, BF_1000, CF, FILES };

static test_file chunk_of(size_t i, int n) {
    char path[128];
    snprintf(path, sizeof path, "redisbloom/%s.chunk%d.iter%d.bin", files[i].name, n,
             files[i].iterators[n]);
    return test_vector(path);
}

/* All replies, concatenated. */
static test_file replies(size_t i) {
    test_file all = {malloc(1), 0};
    for (int n = 0; n < MAX_CHUNKS && files[i].iterators[n]; n++) {
        const test_file chunk = chunk_of(i, n);
        all.bytes = realloc(all.bytes, all.size + chunk.size);
        memcpy(all.bytes + all.size, chunk.bytes, chunk.size);
        all.size += chunk.size;
        free(chunk.bytes);
    }
    return all;
}

static test_file dump_of(size_t i) {
    char path[128];
    snprintf(path, sizeof path, "redisbloom/%s.rdbdump.bin", files[i].name);
    return test_vector(path);
}

static tamis *create(const char *spec) {
    tamis *f;
    if (tamis_create(&f, spec)) fail_msg("%s: %s", spec, tamis_why());
    return f;
}

/* The same keys in the same order. */
static tamis *rebuilt(size_t i) {
    tamis *f = create(files[i].spec);
    if (i == BF_1000)
        test_add_range(f, 0, 1000);
    else
        test_add(f, test_six_words);
    if (i == CF) {
        assert_int_equal(tamis_add(f, "alpha", 5), TAMIS_OK);
        assert_int_equal(tamis_remove(f, "beta", 4), TAMIS_OK);
    }
    return f;
}

static void is_written_as(const tamis *f, const char *format, test_file file) {
    const test_file out = test_export(f, format);
    assert_int_equal(out.size, file.size);
    assert_memory_equal(out.bytes, file.bytes, file.size);
    free(out.bytes);
}

static void answers_as(size_t i, const tamis *f) {
    if (i == BF_1000) {
        test_range_in(f, 0, 1000);
    } else if (i == CF) {
        assert_false(tamis_has(f, "beta", 4));
        assert_int_equal(tamis_count(f, "alpha", 5), 2);
        assert_int_equal(tamis_count(f, "gamma", 5), 1);
    } else {
        test_all_in(f, test_six_words);
        test_none_in(f, test_no_words);
    }
}

static void answers_as_the_module(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        const test_file file = replies(i), dump = dump_of(i);
        tamis *f = test_import(files[i].format, file), *g = test_import("redis-dump", dump);
        answers_as(i, f);
        answers_as(i, g);
        is_written_as(f, "redis-dump", dump);
        is_written_as(g, files[i].format, file);
        tamis_free(f);
        tamis_free(g);
        test_goes_round(files[i].format, file);
        test_goes_round("redis-dump", dump);
        free(file.bytes);
        free(dump.bytes);
    }
}

static void writes_as_the_module(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        const test_file file = replies(i), dump = dump_of(i);
        tamis *f = rebuilt(i);
        is_written_as(f, files[i].format, file);
        is_written_as(f, "redis-dump", dump);
        tamis_free(f);
        free(file.bytes);
        free(dump.bytes);
    }
}

/* ---- Chunks --------------------------------------------------------------------------------- */

static tamis_body body_of(const tamis *f) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_body body = {.items = 0};
    tamis_measure(f, &info);
    memcpy(body.word, info.word, sizeof body.word);
    body.bytes = (uint8_t *)(uintptr_t)tamis_payload(f, &body.size);
    return body;
}

static void cuts_as_the_module(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        tamis *f = rebuilt(i);
        const tamis_body body = body_of(f);
        tamis_redis_chunk chunk = {.iterator = 0};
        int n = 0;
        while ((i == CF ? tamis__rediscuckoo_chunk : tamis__redisbloom_chunk)(&body, chunk.iterator,
                                                                              &chunk)) {
            const test_file file = chunk_of(i, n);
            assert_int_equal(chunk.iterator, files[i].iterators[n++]);
            assert_int_equal(chunk.size, file.size);
            assert_memory_equal(body.bytes + chunk.at, file.bytes, file.size);
            free(file.bytes);
        }
        assert_true(n == MAX_CHUNKS || files[i].iterators[n] == 0);
        tamis_free(f);
    }
}

/* 40 MB in one link: two chunks of 16 MiB, then the rest. */
static void long_links_are_cut(void **state) {
    (void)state;
    tamis *f = create("redisbloom:capacity=1e6,bits=320000000");
    const tamis_body body = body_of(f);
    tamis_redis_chunk chunk = {.iterator = 0};
    uint64_t sum = 0;
    int n = 0;
    for (; tamis__redisbloom_chunk(&body, chunk.iterator, &chunk); n++) {
        assert_true(chunk.size <= TAMIS_REDIS_CHUNK);
        assert_int_equal(chunk.at, sum);
        sum += chunk.size;
        assert_int_equal(chunk.iterator, n ? sum - 73 + 1 : 1);
    }
    assert_int_equal(n, 4);
    assert_int_equal(sum, 73 + 40000000);
    assert_false(tamis__redisbloom_chunk(&body, UINT64_MAX, &chunk));
    tamis_free(f);
}

/* ---- Filters without files here ------------------------------------------------------------- */

static void three_links(void **state) {
    (void)state;
    static const uint64_t hits[] = {187, 226, 280, 306, 320,  334,  336,  373,  447,
                                    468, 535, 558, 592, 653,  724,  739,  805,  832,
                                    851, 887, 905, 995, 1021, 1025, 1041, 1074, 0};
    static const uint64_t bytes[] = {24, 48, 112};
    tamis *f = create("redisbloom:capacity=20,fpr=0.05,expansion=2");
    test_add_range(f, 0, 100);
    test_range_in(f, 0, 100);
    test_range_hits(f, 100, 1100, hits);
    const tamis_body body = body_of(f);
    assert_int_equal(tamis__bf_header(body.bytes).size, 99);
    assert_int_equal(tamis__bf_header(body.bytes).links, 3);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(tamis__bf_link(body.bytes, i).bytes, bytes[i]);
    tamis_free(f);
}

static void three_sub_filters(void **state) {
    (void)state;
    static const uint64_t hits[] = {103, 104, 127, 129, 131, 134, 143, 152, 154, 158,
                                    197, 244, 272, 278, 299, 304, 349, 365, 398, 435,
                                    438, 451, 498, 523, 529, 541, 571, 0};
    tamis *f = create("rediscuckoo:capacity=32,bucket_size=4,iterations=20,expansion=2");
    test_add_range(f, 0, 100);
    test_range_in(f, 0, 100);
    test_range_hits(f, 100, 600, hits);
    const test_file out = test_export(f, "rediscuckoo");
    assert_int_equal(out.size, TAMIS_CF_HEADER + 32 + 64 + 128);
    test_goes_round("rediscuckoo", out);
    const test_file dump = test_export(f, "redis-dump");
    assert_non_null(memmem(dump.bytes, dump.size, "\x05\xc3", 2)); /* a compressed string */
    test_goes_round("redis-dump", dump);
    free(dump.bytes);
    free(out.bytes);
    tamis_free(f);
}

/* ---- Growing and shrinking ------------------------------------------------------------------ */

static struct tamis_key *numbered(size_t n, char (*text)[24]) {
    static struct tamis_key keys[2000];
    for (size_t i = 0; i < n; i++)
        keys[i] = (struct tamis_key){text[i], (size_t)sprintf(text[i], "key-%zu", i)};
    return keys;
}

static bool is_same_payload(const tamis *f, const tamis *g) {
    uint64_t m, n;
    const void *p = tamis_payload(f, &m), *q = tamis_payload(g, &n);
    return m == n && memcmp(p, q, (size_t)m) == 0;
}

static void many_are_as_one_by_one(void **state) {
    (void)state;
    static const char *const specs[] = {
        "redisbloom:capacity=1,fpr=0.3,expansion=1", "redisbloom:capacity=3,fpr=0.2,expansion=3",
        "redisbloom:capacity=100,fpr=1e-6", "rediscuckoo:capacity=500",
        "rediscuckoo:capacity=64,bucket_size=1,iterations=500,expansion=4"};
    static char text[2000][24];
    const struct tamis_key *keys = numbered(2000, text);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        tamis *f = create(specs[i]), *g = create(specs[i]);
        for (size_t n = 0, m = 1; n + m <= 2000; n += m, m = m * 3 / 2 + 1)
            if (tamis_add_many(f, keys + n, m)) fail_msg("%s: %s", specs[i], tamis_why());
        struct tamis_info info = TAMIS_INFO_INIT;
        tamis_measure(f, &info);
        for (size_t n = 0; n < info.items; n++)
            assert_int_equal(tamis_add(g, keys[n].bytes, keys[n].len), TAMIS_OK);
        assert_true(is_same_payload(f, g));
        tamis_free(f);
        tamis_free(g);
    }
}

static void all_or_none(void **state) {
    (void)state;
    static const char *const specs[] = {"redisbloom:capacity=50,scaling=no",
                                        "rediscuckoo:capacity=64,expansion=0"};
    static char text[2000][24];
    const struct tamis_key *keys = numbered(2000, text);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        tamis *f = create(specs[i]), *old;
        assert_int_equal(tamis_add_many(f, keys, 20), TAMIS_OK);
        assert_int_equal(tamis_copy(&old, f), TAMIS_OK);
        assert_int_equal(tamis_add_many(f, keys + 20, 200), TAMIS_FULL);
        assert_non_null(strstr(tamis_why(), "is full"));
        assert_true(is_same_payload(f, old));
        assert_int_equal(tamis_add_many(f, keys + 20, 5), TAMIS_OK);
        tamis_free(f);
        tamis_free(old);
    }
}

/* A full filter still finds its keys, and accepts them again. */
static void full_is_full(void **state) {
    (void)state;
    tamis *f = create("redisbloom:capacity=10,scaling=no");
    size_t n = 0;
    char text[24];
    for (int i = 0; i < 100; i++)
        n += tamis_add(f, text, (size_t)sprintf(text, "key-%d", i)) == TAMIS_OK;
    assert_true(n >= 10 && n < 20);
    assert_int_equal(tamis_add(f, "key-0", 5), TAMIS_OK);
    assert_int_equal(tamis__bf_header(body_of(f).bytes).size, 10);
    tamis_free(f);
}

/* Sub-filters are dropped once their keys fit in lower ones, and the payload shrinks. */
static void removing_compacts(void **state) {
    (void)state;
    tamis *f = create("rediscuckoo:capacity=64");
    char text[24];
    test_add_range(f, 0, 300);
    const uint64_t before = tamis_image_size(f);
    for (int i = 0; i < 290; i++)
        assert_int_equal(tamis_remove(f, text, (size_t)sprintf(text, "key-%d", i)), TAMIS_OK);
    assert_true(tamis_image_size(f) < before);
    const tamis_cf_header h = tamis__cf_header(body_of(f).bytes);
    assert_int_equal(h.items, 10);
    assert_true(h.filters < 5);
    test_range_in(f, 290, 300);
    test_add_range(f, 300, 600);
    test_range_in(f, 290, 600);
    const test_file out = test_export(f, "rediscuckoo");
    test_goes_round("rediscuckoo", out);
    free(out.bytes);
    assert_int_equal(tamis_remove(f, "nobody", 6), TAMIS_NOT_FOUND);
    tamis_free(f);
}

/* The module puts at most one key into its 32nd sub-filter. */
static void stops_at_32(void **state) {
    (void)state;
    tamis *f = create("rediscuckoo:capacity=4");
    char text[24];
    int n = 0;
    while (n < 1000 && !tamis_add(f, text, (size_t)sprintf(text, "key-%d", n))) n++;
    assert_true(n > 32 && n < 128);
    assert_int_equal(tamis__cf_header(body_of(f).bytes).filters, 32);
    assert_int_equal(tamis__cf_header(body_of(f).bytes).items, n);
    test_range_in(f, 0, (uint64_t)n);
    tamis_free(f);
}

/* ---- Older versions ------------------------------------------------------------------------- */

/* A link as versions before 2 made it: positions modulo a power of two, or modulo any number, from
 * two 32-bit hashes. */
static test_file old_link(uint8_t n2, uint64_t bits, const struct tamis_key *keys) {
    const tamis_bf_link link = {.bytes = (bits + 7) / 8,
                                .bits = bits,
                                .size = 6,
                                .error = 0.01,
                                .bpe = 9.585,
                                .hashes = 7,
                                .entries = 10,
                                .n2 = n2};
    test_file file = {calloc(1, 73 + (size_t)link.bytes), 73 + (size_t)link.bytes};
    tamis__bf_put_header(file.bytes, (tamis_bf_header){.size = 6, .links = 1, .growth = 2});
    tamis__bf_put_link(file.bytes, 0, link);
    for (; keys->bytes; keys++) {
        const uint64_t a = tamis__murmur2_32(keys, 0x9747b28c),
                       b = tamis__murmur2_32(keys, (uint32_t)a);
        for (uint64_t i = 0; i < 7; i++)
            tamis__bit_set(file.bytes + 73, (a + i * b) % (n2 ? (uint64_t)1 << n2 : bits));
    }
    return file;
}

static void reads_what_is_old(void **state) {
    (void)state;
    const test_file file = old_link(7, 128, test_six_words);
    tamis *f = test_import("redisbloom", file);
    test_all_in(f, test_six_words);
    test_none_in(f, test_no_words);
    test_goes_round("redisbloom", file);
    test_add_range(f, 0, 100); /* new links have powers of two as well */
    test_range_in(f, 0, 100);
    const tamis_bf_link next = tamis__bf_link(body_of(f).bytes, 1);
    assert_int_equal(next.n2, 8); /* 20 keys take 220 bits; 256 hold 23 */
    assert_int_equal(next.entries, 23);
    const test_file out = test_export(f, "redis-dump");
    test_goes_round("redis-dump", out);
    free(out.bytes);
    tamis_free(f);
    free(file.bytes);
}

static void reads_links_of_any_size(void **state) {
    (void)state;
    const test_file file = old_link(0, 95, test_six_words);
    tamis *f;
    assert_int_equal(tamis_import(&f, "redisbloom", file.bytes, file.size), TAMIS_CORRUPT);
    f = test_import("redisbloom:links=any", file);
    test_all_in(f, test_six_words);
    tamis_free(f);
    tamis__bf_put_link(file.bytes, 0,
                       (tamis_bf_link){.bytes = 12,
                                       .bits = 97,
                                       .size = 6,
                                       .error = 0.01,
                                       .bpe = 9.585,
                                       .hashes = 7,
                                       .entries = 10});
    assert_int_equal(tamis_import(&f, "redisbloom:links=any", file.bytes, file.size),
                     TAMIS_CORRUPT);
    free(file.bytes);
}

static void put_byte(test_file *file, unsigned byte) {
    file->bytes[file->size++] = (uint8_t)byte;
}

static void put_double(test_file *file, double x) {
    put_byte(file, 4);
    memcpy(file->bytes + file->size, &x, 8);
    file->size += 8;
}

static void seal(test_file *file) {
    tamis__put16(file->bytes + file->size, 10);
    tamis__put64(file->bytes + file->size + 2, tamis__crc64(0, file->bytes, file->size + 2));
    file->size += 10;
}

/* The dump of a link of 96 or 95 bits in an old encoding. */
static test_file old_dump(unsigned version) {
    const uint64_t bits = version ? 96 : 95; /* the first stored no count: 10 keys of 9.585 bits */
    const test_file link = old_link(0, bits, test_six_words);
    test_file file = {calloc(1, 256), 0};
    memcpy(file.bytes, "\x07\x81\x30\x16\xe5\xa2\x89\xbe\xf8", 9);
    file.size = 9;
    put_byte(&file, version);
    put_byte(&file, 2), put_byte(&file, 6);
    put_byte(&file, 2), put_byte(&file, 1);
    if (version >= 2) put_byte(&file, 2), put_byte(&file, 0);
    put_byte(&file, 2), put_byte(&file, 10);
    put_double(&file, 0.01);
    put_byte(&file, 2), put_byte(&file, 7);
    put_double(&file, 9.585);
    if (version) put_byte(&file, 2), put_byte(&file, 0x40), put_byte(&file, 96);
    if (version) put_byte(&file, 2), put_byte(&file, 0);
    put_byte(&file, 5), put_byte(&file, 12);
    memcpy(file.bytes + file.size, link.bytes + 73, 12);
    file.size += 12;
    put_byte(&file, 2), put_byte(&file, 6);
    put_byte(&file, 0);
    seal(&file);
    free(link.bytes);
    return file;
}

static void reads_old_encodings(void **state) {
    (void)state;
    for (unsigned version = 0; version < 4; version++) {
        const test_file file = old_dump(version);
        tamis *f = test_import("redis-dump", file);
        test_all_in(f, test_six_words);
        assert_int_equal(tamis__bf_header(body_of(f).bytes).growth, 2);
        if (version == 0) { /* 95 bits in 12 bytes: the current module refuses it */
            assert_int_equal(tamis_export(f, "redisbloom", NULL, NULL), TAMIS_UNSUPPORTED);
            assert_non_null(strstr(tamis_why(), "95 bits in 12 bytes"));
            assert_int_equal(tamis_export(f, "redis-dump", NULL, NULL), TAMIS_UNSUPPORTED);
        } else {
            const test_file out = test_export(f, "redisbloom");
            test_goes_round("redisbloom", out);
            free(out.bytes);
        }
        tamis_free(f);
        free(file.bytes);
    }
}

static void reads_old_cuckoo(void **state) {
    (void)state;
    test_file file = dump_of(CF); /* the same without deletes, sizes and buckets */
    static const uint8_t old[] = {0x07, 0x81, 0x30, 0x16, 0xe5, 0xa2, 0x89, 0x82, 0x14,
                                  0x03, 2,    1,    2,    8,    2,    6,    5,    16};
    uint8_t cells[16];
    memcpy(cells, file.bytes + 28, 16);
    memcpy(file.bytes, old, sizeof old);
    memcpy(file.bytes + sizeof old, cells, 16);
    file.size = sizeof old + 16;
    put_byte(&file, 0);
    seal(&file);
    tamis *f = test_import("redis-dump", file);
    answers_as(CF, f);
    tamis_free(f);
    free(file.bytes);
}

/* ---- Strings -------------------------------------------------------------------------------- */

/* Cells that happen to be digits are written as a number, as in Redis. */
static void digits_are_numbers(void **state) {
    (void)state;
    static const struct {
        const char *cells, *dumped;
        size_t size;
    } samples[] = {{"1234", "\x05\xc1\xd2\x04", 4},
                   {"-128", "\x05\xc0\x80", 3},
                   {"99999999", "\x05\xc2\xff\xe0\xf5\x05", 6},
                   {"0123",
                    "\x05\x04"
                    "0123",
                    6},
                   {"-7", "\x05\xc0\xf9", 3},
                   {"+7", "\x05\x02+7", 4},
                   {"-", "\x05\x01-", 3},
                   {"12:4",
                    "\x05\x04"
                    "12:4",
                    6},
                   {"2147483647", "\x05\xc2\xff\xff\xff\x7f", 6},
                   {"2147483648",
                    "\x05\x0a"
                    "2147483648",
                    12},
                   {"-2147483648", "\x05\xc2\x00\x00\x00\x80", 6},
                   {"-2147483649",
                    "\x05\x0b"
                    "-2147483649",
                    13}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        uint8_t bytes[64] = {0};
        const size_t n = strlen(samples[i].cells);
        tamis__cf_put_header(bytes, (tamis_cf_header){.items = n,
                                                      .buckets = 1,
                                                      .filters = 1,
                                                      .bucket_size = (uint16_t)n,
                                                      .iterations = 20});
        memcpy(bytes + TAMIS_CF_HEADER, samples[i].cells, n);
        tamis *f = test_import("rediscuckoo", (test_file){bytes, TAMIS_CF_HEADER + n});
        const test_file dump = test_export(f, "redis-dump");
        assert_non_null(memmem(dump.bytes, dump.size, samples[i].dumped, samples[i].size));
        test_goes_round("redis-dump", dump);
        free(dump.bytes);
        tamis_free(f);
    }
}

static void packs_and_unpacks(void **state) {
    (void)state;
    static uint64_t seen[TAMIS_LZF_SEEN];
    static uint8_t plain[20000], packed[20000], again[20000];
    uint64_t x = 1, length, packs = 0;
    for (int turn = 0; turn < 400; turn++) {
        const size_t n = 21 + (size_t)(turn * turn) % (sizeof plain - 21);
        for (size_t i = 0; i < n; i++) {
            x = x * 6364136223846793005u + 1;
            plain[i] = (uint8_t)(i < 37 || x >> 61 == 0 ? x >> 40 : plain[i - 37]);
        }
        const uint64_t size = tamis__lzf_pack(plain, n, seen, packed, n - 4);
        if (!size) continue;
        packs++;
        assert_true(size <= n - 4);
        assert_true(tamis__lzf_length(packed, size, &length));
        assert_int_equal(length, n);
        tamis__lzf_unpack(packed, size, again);
        assert_memory_equal(plain, again, n);
        assert_int_equal(tamis__lzf_pack(plain, n, seen, NULL, n - 4), size);
    }
    assert_true(packs > 100);
}

static uint64_t seen_places[TAMIS_LZF_SEEN];

/* Input that ends at an unreadable page: runs that end near the end of the input, or near the
 * longest run that one part can hold. */
static void packing_stays_within_its_bytes(void **state) {
    (void)state;
    static uint8_t packed[1024], again[1024];
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    for (size_t run = 4; run <= 600; run++)
        for (size_t tail = 0; tail <= 4; tail++) {
            const size_t n = 1 + run + tail;
            uint8_t *plain = pages + page - n;
            uint64_t length = 0;
            plain[0] = 'x';
            memset(plain + 1, 'b', run);
            memset(plain + 1 + run, 'c', tail);
            const uint64_t size = tamis__lzf_pack(plain, n, seen_places, packed, sizeof packed);
            assert_true(size > 0 && tamis__lzf_length(packed, size, &length));
            assert_int_equal(length, n);
            tamis__lzf_unpack(packed, size, again);
            assert_memory_equal(plain, again, n);
        }
    assert_int_equal(munmap(pages, 2 * page), 0);
}

/* The packed bytes and the smallest buffer that they need, as in Redis's compressor. With one byte
 * less, packing fails and writes nothing past the buffer. */
static void packing_gives_up_where_redis_does(void **state) {
    (void)state;
    static const struct {
        const char *plain, *packed;
        size_t size, min_room;
    } samples[] = {
        {"", "", 0, 0},
        {"a", "\0a", 2, 4},
        {"ab", "\1\x61\x62", 3, 4},
        {"abc", "\2\x61\x62\x63", 4, 5},
        {"xabcdabcd", "\4xabcd\x20\3\0d", 10, 12},
        {"xabcdyabcd", "\5xabcdy\x20\4\0d", 11, 13},
        {"xabcdefabcdabcd", "\6xabcdef\x40\5\x20\3\0d", 14, 16},
        {"xabcabcyabcabcz", "\3xabc\x20\2\0y\x20\3\x20\2\0z", 15, 17},
        {"xabcdefghijabcabcdefghijabc", "\12xabcdefghij\x20\11\x20\2\xc0\14\1\x62\x63", 21, 22},
        {"xabcdyabcdyabcd", "\5xabcdy\xa0\4\1\x63\x64", 12, 13},
        {"xabcdefabccde", "\6xabcdef\x20\5\x20\6", 12, 16}, /* the last three match, too */
    };
    uint8_t packed[128];
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const uint8_t *plain = (const uint8_t *)samples[i].plain;
        const size_t n = strlen(samples[i].plain);
        for (size_t room = 0; room < sizeof packed; room++) {
            memset(packed, 0xa5, sizeof packed);
            const uint64_t size = tamis__lzf_pack(plain, n, seen_places, packed, room);
            assert_int_equal(size, room < samples[i].min_room ? 0 : samples[i].size);
            assert_memory_equal(packed, samples[i].packed, (size_t)size);
            for (size_t at = room; at < sizeof packed; at++) assert_int_equal(packed[at], 0xa5);
        }
    }
}

static void bad_streams_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } bad[] = {{"\x05"
                "abc",
                4},
               {"\x20\x00", 2},
               {"\x00"
                "a\x20\x01",
                4},
               {"\x00"
                "a\x20",
                3},
               {"\x00"
                "a\xe0\x00",
                4},
               {"\x01"
                "ab\xff\xff\xff",
                6}};
    uint64_t length;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(tamis__lzf_length((const uint8_t *)bad[i].bytes, bad[i].size, &length));
    assert_true(tamis__lzf_length((const uint8_t *)"\x00"
                                                   "a\xe0\xff\x00",
                                  5, &length));
    assert_int_equal(length, 1 + 264);
    assert_true(tamis__lzf_length(NULL, 0, &length));
    assert_int_equal(length, 0);
}

/* ---- Plans ---------------------------------------------------------------------------------- */

static void plans_as_the_module(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t bits, probes;
    } samples[] = {
        {"redisbloom:capacity=0", 64, 8},
        {"redisbloom:capacity=1", 64, 8},
        {"redisbloom:capacity=10,fpr=0.01,scaling=no", 128, 7},
        {"redisbloom:capacity=100,fpr=0.01", 1152, 8},
        {"redisbloom:capacity=20,fpr=0.05", 192, 6},
        {"redisbloom:capacity=1,fpr=0.99,scaling=no", 64, 1},
        {"redisbloom:capacity=1e9,fpr=0.001,scaling=no", 14377587584, 10},
        {"redisbloom:capacity=100,bits=1000", 960, 7},
        {"rediscuckoo:capacity=0", 32, 2},
        {"rediscuckoo:capacity=1024", 8192, 2},
        {"rediscuckoo:capacity=1000", 8192, 2},
        {"rediscuckoo:capacity=1026", 16384, 2},
        {"rediscuckoo:capacity=1000,bucket_size=3", 512 * 24, 2},
        {"rediscuckoo:capacity=510,bucket_size=255", 2 * 255 * 8, 2},
        {"rediscuckoo:capacity=1e9,bucket_size=4", (uint64_t)1 << 33, 2},
        {"rediscuckoo:capacity=10,bits=8192", 8192, 2},
        {"rediscuckoo:capacity=1000,bits=4000", 2048, 2},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct tamis_plan plan = TAMIS_PLAN_INIT;
        if (tamis_plan_spec(samples[i].spec, &plan))
            fail_msg("%s: %s", samples[i].spec, tamis_why());
        if (plan.word[0] != samples[i].bits || plan.probes != samples[i].probes)
            fail_msg("%s: %llu bits, %llu probes", samples[i].spec,
                     (unsigned long long)plan.word[0], (unsigned long long)plan.probes);
    }
}

static void refuses_bad_params(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        tamis_status rc;
    } bad[] = {{"redisbloom:capacity=10,bits=63", TAMIS_INVALID},
               {"redisbloom:capacity=10,expansion=0", TAMIS_INVALID},
               {"redisbloom:capacity=10,expansion=32769", TAMIS_INVALID},
               {"redisbloom:capacity=10,scaling=maybe", TAMIS_INVALID},
               {"redisbloom:capacity=1e16", TAMIS_TOO_LARGE},
               {"rediscuckoo:capacity=10,bits=8", TAMIS_INVALID},
               {"rediscuckoo:capacity=10,bucket_size=256", TAMIS_INVALID},
               {"rediscuckoo:capacity=10,bucket_size=0", TAMIS_INVALID},
               {"rediscuckoo:capacity=10,iterations=65536", TAMIS_INVALID},
               {"rediscuckoo:capacity=1e10", TAMIS_TOO_LARGE}};
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(tamis_plan_spec(bad[i].spec, &plan), bad[i].rc);
        assert_true(strlen(tamis_why()) > 10);
    }
}

static void specs_lead_back(void **state) {
    (void)state;
    static const char *const specs[] = {
        "redisbloom:capacity=1000,fpr=1/100", "redisbloom:capacity=1000,fpr=1/100,expansion=4",
        "redisbloom:capacity=100,bits=960,expansion=2,scaling=no",
        "redisbloom:capacity=1000,fpr=1/100,expansion=0,scaling=no",
        "rediscuckoo:capacity=100,bits=2048,bucket_size=4,iterations=20,expansion=2"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        char spec[128];
        struct tamis_plan a = TAMIS_PLAN_INIT, b = TAMIS_PLAN_INIT;
        tamis *f = create(specs[i]);
        tamis_spec(f, spec, sizeof spec);
        assert_int_equal(tamis_plan_spec(specs[i], &a), TAMIS_OK);
        if (tamis_plan_spec(spec, &b)) fail_msg("%s: %s", spec, tamis_why());
        assert_memory_equal(a.word, b.word, sizeof a.word);
        tamis_free(f);
    }
}

/* A chain stores its own growth factor. */
static void limits_hold_after_an_import(void **state) {
    (void)state;
    const struct tamis_options options = {.struct_size = sizeof options, .max_bytes = 1 << 20};
    tamis *f = create("redisbloom:capacity=4000,expansion=32768"), *g;
    const test_file out = test_export(f, "redisbloom");
    tamis_status rc = tamis_import_with(&g, "redisbloom", out.bytes, out.size, &options);
    assert_int_equal(rc, TAMIS_OK);
    for (uint64_t i = 0; i < 5000 && !rc; i++) rc = tamis_add(g, &i, sizeof i);
    assert_int_equal(rc, TAMIS_TOO_LARGE);
    free(out.bytes);
    tamis_free(f);
    tamis_free(g);
}

static void versions_of_dumps(void **state) {
    (void)state;
    tamis *f = rebuilt(BF);
    const test_file out = test_export(f, "redis-dump:rdb=12");
    assert_int_equal(out.bytes[out.size - 10], 12);
    tamis *g = test_import("redis-dump", out);
    tamis_free(g);
    free(out.bytes);
    assert_int_equal(tamis_export(f, "redis-dump:rdb=7", NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_export(f, "redis-dump:version=9", NULL, NULL), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "it knows rdb"));
    assert_int_equal(tamis_export(f, "rediscuckoo", NULL, NULL), TAMIS_UNSUPPORTED);
    tamis_free(f);
}

/* ---- Attacks -------------------------------------------------------------------------------- */

static void is_refused(const char *format, const uint8_t *bytes, size_t size, const char *what) {
    tamis *f;
    const tamis_status rc = tamis_import(&f, format, bytes, size);
    tamis_free(f);
    if (rc != TAMIS_CORRUPT) fail_msg("%s is let in: %d %s", what, rc, tamis_why());
    assert_true(strlen(tamis_why()) > 10);
}

static const uint64_t large[] = {(uint64_t)1 << 24, UINT32_MAX,        (uint64_t)1 << 40,
                                 (uint64_t)1 << 48, (uint64_t)1 << 60, UINT64_MAX / 8,
                                 UINT64_MAX - 7,    UINT64_MAX};

/* Overwrites a field of the header; the import must fail. */
static void with(size_t i, size_t at, size_t width, uint64_t value, const char *what) {
    const test_file file = replies(i);
    memcpy(file.bytes + at, &value, width);
    is_refused(files[i].format, file.bytes, file.size, what);
    free(file.bytes);
}

static void with_double(size_t at, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    with(BF, at, 8, bits, "a rate");
}

static void bloom_attacks(void **state) {
    (void)state;
    enum { BYTES = 20, BITS = 28, SIZE = 36, ERROR = 44, BPE = 52, HASHES = 60, N2 = 72 };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        with(BF, 0, 8, large[i], "so many keys");
        with(BF, 8, 4, large[i] | 1 << 20, "so many links");
        with(BF, BYTES, 8, large[i], "so many bytes");
        with(BF, BITS, 8, large[i], "so many bits");
        with(BF, SIZE, 8, large[i], "so many keys of a link");
        with(BF, HASHES, 4, large[i] | 1 << 16, "so many hashes");
    }
    with(BF, 8, 4, 0, "no link");
    with(BF, 8, 4, 2, "a link more");
    with(BF, 12, 4, 16, "an option");
    with(BF, 12, 4, 21, "an option beside others");
    with(BF, BYTES, 8, 15, "a byte less");
    with(BF, BYTES, 8, 17, "a byte more");
    with(BF, BYTES, 8, 0, "no bytes");
    with(BF, BITS, 8, 0, "no bits");
    with(BF, BITS, 8, 127, "a bit less");
    with(BF, BITS, 8, 129, "a bit more");
    with(BF, HASHES, 4, 0, "no hashes");
    with(BF, HASHES, 4, 9, "a hash more");
    for (unsigned n2 = 8; n2 < 256; n2++) with(BF, N2, 1, n2, "so many positions");
    const double bad[] = {0, 1, -0.5, 2, INFINITY, NAN};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        with_double(ERROR, bad[i]);
        if (!(bad[i] > 0 && bad[i] < 2)) with_double(BPE, bad[i]);
    }
    with_double(BPE, 1e300);
    with_double(BPE, 1e9);
    /* An empty last link: its fields agree, but every position would be modulo 0. */
    tamis *f = create("redisbloom:capacity=20,fpr=0.05,expansion=2");
    test_add_range(f, 0, 100);
    test_file none = test_export(f, "redisbloom");
    tamis_bf_link last = tamis__bf_link(none.bytes, 2);
    none.size -= last.bytes;
    last.bits = last.bytes = last.n2 = 0;
    tamis__bf_put_link(none.bytes, 2, last);
    test_refused("redisbloom", none, "link 2 has 0 bits in 0 bytes");
    free(none.bytes);
    tamis_free(f);
}

static void cuckoo_attacks(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        for (size_t at = 0; at < 32; at += 8)
            if (at != 16) with(CF, at, 8, large[i], "such a number");
    static const struct {
        size_t at, width;
        uint64_t value;
    } bad[] = {{0, 8, 5},      {0, 8, 7},      {8, 8, 0},      {8, 8, 7},
               {8, 8, 16},     {8, 8, 4},      {24, 8, 0},     {24, 8, 2},
               {24, 8, 65536}, {24, 8, 65537}, {32, 2, 0},     {32, 2, 1},
               {32, 2, 3},     {32, 2, 256},   {32, 2, 65535}, {34, 2, 0},
               {36, 2, 3},     {36, 2, 32769}, {36, 2, 65535}, {8, 8, ((uint64_t)1 << 32) + 1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        with(CF, bad[i].at, bad[i].width, bad[i].value, "such a shape");
}

/* The first version stored no bit count: it is keys times bits per key, neither 0 nor too large. */
static void bits_that_cannot_be(void **state) {
    (void)state;
    static const double bits_per_key[] = {0, 0.05, -1, 1e300, INFINITY, NAN};
    for (size_t i = 0; i < sizeof bits_per_key / sizeof *bits_per_key; i++) {
        test_file file = old_dump(0);
        const uint8_t usual[] = {0xec, 0x51, 0xb8, 0x1e, 0x85, 0x2b, 0x23, 0x40}; /* 9.585 */
        uint8_t *at = memmem(file.bytes, file.size, usual, sizeof usual);
        assert_non_null(at);
        memcpy(at, &bits_per_key[i], sizeof usual);
        file.size -= 10;
        seal(&file);
        test_refused("redis-dump", file, "a link has no bits");
        free(file.bytes);
    }
}

/* A byte after the end of the fields, and a field in place of the end. */
static void more_than_the_fields(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        const test_file dump = dump_of(i);
        test_file longer = {calloc(1, dump.size + 16), dump.size - 10};
        memcpy(longer.bytes, dump.bytes, longer.size);
        put_byte(&longer, 0);
        seal(&longer);
        test_refused("redis-dump", longer, "extra bytes after the fields");
        longer.size = dump.size - 11;
        put_byte(&longer, 2), put_byte(&longer, 0);
        seal(&longer);
        test_refused("redis-dump", longer, "there are more fields than there should be");
        free(longer.bytes);
        free(dump.bytes);
    }
}

/* Truncated fields are reported as such, whatever their zeros would imply. */
static void fewer_than_the_fields(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++)
        for (size_t size = 10; size < 20; size++) { /* after the type and the name */
            test_file dump = dump_of(i);
            dump.size = size;
            seal(&dump);
            test_refused("redis-dump", dump, "it ends inside a field");
            free(dump.bytes);
        }
}

/* Numbers of 6, 14 and 32 bits are stored in that width, on both sides of each limit. */
static void numbers_at_their_edges(void **state) {
    (void)state;
    static const struct {
        uint64_t keys;
        const char *dumped;
        size_t size;
    } edges[] = {{63, "\2\x3f\4", 3},
                 {64, "\2\x40\x40\4", 4},
                 {16383, "\2\x7f\xff\4", 4},
                 {16384, "\2\x80\0\0\x40\0\4", 7}};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        char spec[64];
        snprintf(spec, sizeof spec, "redisbloom:capacity=%u,fpr=0.01", (unsigned)edges[i].keys);
        tamis *f = create(spec);
        const test_file dump = test_export(f, "redis-dump");
        assert_non_null(memmem(dump.bytes, 40, edges[i].dumped, edges[i].size));
        test_goes_round("redis-dump", dump);
        free(dump.bytes);
        tamis_free(f);
    }
}

static bool take_some(void *ctx, const void *bytes, size_t size) {
    (void)bytes, (void)size;
    return (*(int *)ctx)-- > 0;
}

/* A writer that stops at any point, and no memory for compression. */
static void dumps_that_are_not_written(void **state) {
    (void)state;
    test_failing_allocator failing = {0};
    const struct tamis_allocator memory = test_allocator(&failing);
    const struct tamis_options options = {.struct_size = sizeof options, .allocator = &memory};
    const test_file dump = dump_of(CF);
    tamis *f;
    assert_int_equal(tamis_import_with(&f, "redis-dump", dump.bytes, dump.size, &options),
                     TAMIS_OK);
    tamis_status rc = TAMIS_CANCELLED;
    int writes = 0;
    for (; rc; writes++) {
        int left = writes;
        rc = tamis_export(f, "redis-dump", take_some, &left);
        if (rc) assert_int_equal(rc, TAMIS_CANCELLED);
    }
    assert_true(writes > 10);
    failing.fail_at = failing.calls + 1;
    assert_int_equal(tamis_export(f, "redis-dump", take_some, &writes), TAMIS_NOMEM);
    assert_non_null(strstr(tamis_why(), "bytes to compress in"));
    tamis_free(f);
    free(dump.bytes);
    assert_int_equal(failing.blocks, 0);
}

/* A dump stores each sub-filter's bucket count, which must follow from the first. */
static void other_buckets_in_a_dump(void **state) {
    (void)state;
    test_file dump = dump_of(CF);
    assert_int_equal(dump.bytes[25], 8);
    dump.bytes[25] = 4;
    dump.size -= 10;
    seal(&dump);
    is_refused("redis-dump", dump.bytes, dump.size, "another number of buckets");
    free(dump.bytes);
}

/* Sub-filters grow by powers of two; with an expansion of 0 there is only one. */
static void chains_that_cannot_be(void **state) {
    (void)state;
    uint8_t bytes[TAMIS_CF_HEADER + 64] = {0};
    for (uint16_t expansion = 0; expansion < 6; expansion++)
        for (uint64_t filters = 1; filters < 8; filters++)
            for (size_t size = 0; size <= 64; size++) {
                tamis__cf_put_header(bytes, (tamis_cf_header){.buckets = 1,
                                                              .filters = filters,
                                                              .bucket_size = 1,
                                                              .iterations = 1,
                                                              .expansion = expansion});
                size_t right = 0, cells = 1;
                for (uint64_t i = 0; i < filters; i++, cells *= expansion) right += cells;
                const bool is_legal = size == right && (expansion || filters == 1) &&
                                      (expansion & (expansion - 1)) == 0;
                tamis *f;
                const tamis_status rc =
                    tamis_import(&f, "rediscuckoo", bytes, TAMIS_CF_HEADER + size);
                assert_int_equal(rc, is_legal ? TAMIS_OK : TAMIS_CORRUPT);
                tamis_free(f);
            }
}

/* The first sub-filter may have the maximum of 2^32 cells; the next would be larger. */
static void chains_above_the_max_cells(void **state) {
    (void)state;
    uint8_t bytes[TAMIS_CF_HEADER];
    for (uint64_t filters = 1; filters < 4; filters++) {
        tamis__cf_put_header(bytes, (tamis_cf_header){.buckets = (uint64_t)1 << 32,
                                                      .filters = filters,
                                                      .bucket_size = 1,
                                                      .iterations = 1,
                                                      .expansion = 2});
        test_refused("rediscuckoo", (test_file){bytes, sizeof bytes},
                     filters == 1 ? "1 sub-filters, which makes 4294967334 bytes"
                                  : "sub-filters with an expansion of 2");
    }
}

/* With valid checksums: every byte changed to every value, and every prefix. What is accepted can
 * be queried and written. */
static void sealed_dumps(void **state) {
    (void)state;
    uint64_t in = 0, out = 0;
    for (size_t i = 0; i < FILES; i++) {
        test_file file = dump_of(i);
        file.size -= 10;
        file.bytes = realloc(file.bytes, file.size + 10);
        for (size_t at = 0; at < file.size && at < 200; at++) {
            const uint8_t old = file.bytes[at];
            for (unsigned value = 0; value < 256; value++) {
                test_file changed = file;
                tamis *f;
                changed.bytes[at] = (uint8_t)value;
                seal(&changed);
                const tamis_status rc = tamis_import(&f, "redis-dump", changed.bytes, changed.size);
                in += !rc, out += rc != 0;
                if (!rc) {
                    tamis_has(f, "alpha", 5);
                    tamis_add(f, "omega", 5);
                    free(test_export(f, "redis-dump").bytes);
                } else if (rc != TAMIS_CORRUPT) {
                    fail_msg("%s, byte %zu: %s", files[i].name, at, tamis_why());
                }
                tamis_free(f);
            }
            file.bytes[at] = old;
        }
        for (size_t size = 0; size < file.size; size++) {
            test_file part = {calloc(1, size + 10), size};
            memcpy(part.bytes, file.bytes, size);
            seal(&part);
            is_refused("redis-dump", part.bytes, part.size, "a part");
            free(part.bytes);
        }
        free(file.bytes);
    }
    assert_true(in > 1000 && out > 10000);
}

/* A hundred bytes that claim large sizes. */
static void small_dumps_that_claim_much(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        for (int field = 0; field < 3; field++) {
            uint8_t bytes[128] = "\x07\x81\x30\x16\xe5\xa2\x89\xbe\xf8\x04";
            test_file file = {bytes, 10};
            if (field) bytes[7] = 0x82, bytes[8] = 0x14;
            put_byte(&file, 2), put_byte(&file, field ? 1 : 0);
            put_byte(&file, 2), put_byte(&file, 0x81);
            for (int b = 7; b >= 0; b--) put_byte(&file, (unsigned)(large[i] >> 8 * b) & 255);
            if (field == 2) { /* LZF that claims a wrong length */
                put_byte(&file, 5), put_byte(&file, 0xc3), put_byte(&file, 4),
                    put_byte(&file, 0x81);
                for (int b = 7; b >= 0; b--) put_byte(&file, (unsigned)(large[i] >> 8 * b) & 255);
            }
            while (file.size < 100) put_byte(&file, 2);
            seal(&file);
            is_refused("redis-dump", file.bytes, file.size, "much");
        }
}

static void refuses_what_is_not_redis(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        const test_file file = replies(i), dump = dump_of(i);
        assert_true(test_hostile(files[i].format, file) > 0);  /* other bits make another filter */
        assert_int_equal(test_hostile("redis-dump", dump), 1); /* the file itself */
        is_refused("redis-dump", file.bytes, file.size, "what was told");
        is_refused(i == CF ? "redisbloom" : "rediscuckoo", file.bytes, file.size, "the other");
        free(file.bytes);
        free(dump.bytes);
    }
    is_refused("redisbloom", (const uint8_t *)"", 0, "nothing");
    is_refused("rediscuckoo", (const uint8_t *)"", 0, "nothing");
    is_refused("redis-dump", (const uint8_t *)"", 0, "nothing");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_as_the_module),
        cmocka_unit_test(writes_as_the_module),
        cmocka_unit_test(cuts_as_the_module),
        cmocka_unit_test(long_links_are_cut),
        cmocka_unit_test(three_links),
        cmocka_unit_test(three_sub_filters),
        cmocka_unit_test(many_are_as_one_by_one),
        cmocka_unit_test(all_or_none),
        cmocka_unit_test(full_is_full),
        cmocka_unit_test(removing_compacts),
        cmocka_unit_test(stops_at_32),
        cmocka_unit_test(reads_what_is_old),
        cmocka_unit_test(reads_links_of_any_size),
        cmocka_unit_test(reads_old_encodings),
        cmocka_unit_test(reads_old_cuckoo),
        cmocka_unit_test(digits_are_numbers),
        cmocka_unit_test(packs_and_unpacks),
        cmocka_unit_test(packing_stays_within_its_bytes),
        cmocka_unit_test(packing_gives_up_where_redis_does),
        cmocka_unit_test(bad_streams_are_refused),
        cmocka_unit_test(plans_as_the_module),
        cmocka_unit_test(refuses_bad_params),
        cmocka_unit_test(specs_lead_back),
        cmocka_unit_test(limits_hold_after_an_import),
        cmocka_unit_test(versions_of_dumps),
        cmocka_unit_test(bloom_attacks),
        cmocka_unit_test(cuckoo_attacks),
        cmocka_unit_test(other_buckets_in_a_dump),
        cmocka_unit_test(bits_that_cannot_be),
        cmocka_unit_test(more_than_the_fields),
        cmocka_unit_test(fewer_than_the_fields),
        cmocka_unit_test(numbers_at_their_edges),
        cmocka_unit_test(dumps_that_are_not_written),
        cmocka_unit_test(chains_that_cannot_be),
        cmocka_unit_test(chains_above_the_max_cells),
        cmocka_unit_test(sealed_dumps),
        cmocka_unit_test(small_dumps_that_claim_much),
        cmocka_unit_test(refuses_what_is_not_redis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
