/* SPDX-License-Identifier: MIT */
/* Parquet files built byte by byte: what writers may do but no sample does, and what only an
 * attacker does. */
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

/* ---- Making files --------------------------------------------------------------------------- */

enum { I32 = 5, I64 = 6, BINARY = 8, LIST = 9, STRUCT = 12 };
enum { ROOM = 1 << 16, FILTERS_AT = 4 };

typedef struct paper {
    uint8_t bytes[ROOM];
    size_t size, footer;
} paper;

static void put(paper *p, const void *bytes, size_t size) {
    assert_true(p->size + size <= ROOM);
    memcpy(p->bytes + p->size, bytes, size);
    p->size += size;
}

static void put_byte(paper *p, unsigned byte) {
    const uint8_t b = (uint8_t)byte;
    put(p, &b, 1);
}

static void put_count(paper *p, uint64_t x) {
    for (; x > 0x7f; x >>= 7) put_byte(p, (unsigned)(x & 0x7f) | 0x80);
    put_byte(p, (unsigned)x);
}

static void put_number(paper *p, int64_t x) {
    put_count(p, x < 0 ? ~((uint64_t)x << 1) : (uint64_t)x << 1);
}

/* A field header, always in the long form. */
static void put_field(paper *p, unsigned id, unsigned type) {
    put_byte(p, type);
    put_number(p, id);
}

static void put_int(paper *p, unsigned id, unsigned type, int64_t x) {
    put_field(p, id, type);
    put_number(p, x);
}

static void put_text(paper *p, const char *text) {
    put_count(p, strlen(text));
    put(p, text, strlen(text));
}

static void put_list(paper *p, unsigned id, unsigned type, uint64_t count) {
    put_field(p, id, LIST);
    put_byte(p, 15 << 4 | type);
    put_count(p, count);
}

/* The start of a file: PAR1 and contiguous filters of `blocks` blocks, 1 or 2; filter i has only
 * bit i set. */
static paper *start(size_t filters, size_t blocks) {
    static const uint8_t unions[] = {0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0};
    paper *p = calloc(1, sizeof *p);
    put(p, "PAR1", 4);
    for (size_t i = 0; i < filters; i++) {
        uint8_t bitset[64] = {0};
        bitset[i / 8] = (uint8_t)(1 << i % 8);
        put_byte(p, 1 << 4 | I32);
        put_number(p, (int64_t)blocks * 32);
        put(p, unions, sizeof unions);
        put(p, bitset, blocks * 32);
    }
    p->footer = p->size;
    return p;
}

static size_t filter_at(size_t i, size_t blocks) {
    return FILTERS_AT + i * (blocks * 32 + (blocks == 1 ? 15 : 16));
}

static test_file finish(paper *p) {
    const size_t length = p->size - p->footer;
    for (unsigned i = 0; i < 4; i++) put_byte(p, (unsigned)(length >> 8 * i) & 0xff);
    put(p, "PAR1", 4);
    return (test_file){p->bytes, p->size};
}

/* A column chunk: {3: {1: type, 3: [path], 14: offset}}. */
typedef struct column {
    const char *path[3];
    int64_t offset;
} column;

static void put_meta_data(paper *p, const column *c) {
    size_t n = 0;
    while (n < 3 && c->path[n]) n++;
    put_field(p, 3, STRUCT);
    put_int(p, 1, I32, 6);
    put_list(p, 3, BINARY, n);
    for (size_t i = 0; i < n; i++) put_text(p, c->path[i]);
    if (c->offset) put_int(p, 14, I64, c->offset);
    put_byte(p, 0);
}

static void put_column(paper *p, const column *c) {
    put_meta_data(p, c);
    put_byte(p, 0);
}

/* A footer whose groups all have the same number of columns. */
static test_file with_columns(paper *p, size_t groups, size_t columns, const column *list) {
    put_list(p, 4, STRUCT, groups);
    for (size_t g = 0; g < groups; g++) {
        put_list(p, 1, STRUCT, columns);
        for (size_t i = 0; i < columns; i++) put_column(p, list++);
        put_byte(p, 0);
    }
    put_byte(p, 0);
    return finish(p);
}

/* ---- What is expected ----------------------------------------------------------------------- */

static void says(const char *words) {
    if (!strstr(tamis_why(), words)) fail_msg("'%s' does not say '%s'", tamis_why(), words);
}

static void refuses(const char *format, test_file file, tamis_status rc, const char *words) {
    tamis *f;
    uint8_t *exact = malloc(file.size); /* so that a sanitizer sees any overrun */
    memcpy(exact, file.bytes, file.size);
    assert_int_equal(tamis_import(&f, format, exact, file.size), rc);
    assert_null(f);
    says(words);
    free(exact);
}

/* The filter, made by start(), has these first 64 bits. */
static void has_bits(const char *format, test_file file, uint64_t bits) {
    tamis *f = test_import(format, file);
    uint64_t size, found = 0;
    const uint8_t *payload = tamis_payload(f, &size);
    for (unsigned i = 0; i < 8; i++) found |= (uint64_t)payload[i] << 8 * i;
    assert_int_equal(found, bits);
    tamis_free(f);
}

typedef struct list {
    char choose[16][64];
    size_t n;
} list;

static bool keep(void *ctx, const struct tamis_found *found) {
    list *l = ctx;
    snprintf(l->choose[l->n], sizeof l->choose[l->n], "%s", found->choose);
    assert_null(strpbrk(found->name, "\n\x1b"));
    return ++l->n < 16;
}

static void lists(test_file file, size_t n, const char *const *choose) {
    list l = {.n = 0};
    if (tamis_format_scan("parquet", file.bytes, file.size, keep, &l)) fail_msg("%s", tamis_why());
    assert_int_equal(l.n, n);
    for (size_t i = 0; i < n; i++) assert_string_equal(l.choose[i], choose[i]);
}

static bool ignore(void *ctx, const struct tamis_found *found) {
    (void)ctx, (void)found;
    return true;
}

/* ---- What writers may do -------------------------------------------------------------------- */

static void names(void **state) {
    (void)state;
    char long_name[300];
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    const column columns[] = {
        {{"a", "b"}, (int64_t)filter_at(0, 1)},     {{"comma, name"}, (int64_t)filter_at(1, 1)},
        {{"x=y:z"}, (int64_t)filter_at(2, 1)},      {{" blank"}, (int64_t)filter_at(3, 1)},
        {{"bell\x1b"}, (int64_t)filter_at(4, 1)},   {{long_name}, (int64_t)filter_at(5, 1)},
        {{""}, (int64_t)filter_at(6, 1)},           {{"none"}, 0},
        {{"caf\xc3\xa9"}, (int64_t)filter_at(7, 1)}};
    static const char *const choose[] = {"column=a.b,group=0",   "index=1,group=0",
                                         "column=x=y:z,group=0", "index=3,group=0",
                                         "index=4,group=0",      "index=5,group=0",
                                         "index=6,group=0",      "column=caf\xc3\xa9,group=0"};
    paper *p = start(8, 1);
    const test_file file = with_columns(p, 1, 9, columns);
    lists(file, 8, choose);
    for (size_t i = 0; i < 8; i++) {
        char format[128];
        snprintf(format, sizeof format, "parquet:%s", choose[i]);
        has_bits(format, file, (uint64_t)1 << i);
    }
    refuses("parquet:column=none", file, TAMIS_INVALID, "no filter is that of");
    refuses("parquet:column=bell?", file, TAMIS_INVALID, "no filter is that of");
    refuses("parquet", file, TAMIS_INVALID, "a.b, index=1, x=y:z, index=3");
    free(p);
}

/* A path shared by two columns names neither. */
static void same_names(void **state) {
    (void)state;
    const column columns[] = {{{"a", "b"}, (int64_t)filter_at(0, 1)},
                              {{"a.b"}, (int64_t)filter_at(1, 1)},
                              {{"c"}, (int64_t)filter_at(2, 1)}};
    static const char *const choose[] = {"index=0,group=0", "index=1,group=0", "column=c,group=0"};
    paper *p = start(3, 1);
    const test_file file = with_columns(p, 1, 3, columns);
    lists(file, 3, choose);
    refuses("parquet:column=a.b", file, TAMIS_INVALID,
            "the columns 0 and 1 are both called a.b: choose with index=N");
    has_bits("parquet:index=1", file, 2);
    has_bits("parquet:column=a.b,index=1", file, 2);
    has_bits("parquet:column=c", file, 4);
    free(p);
}

static void joins_groups(void **state) {
    (void)state;
    const column columns[] = {{{"a"}, (int64_t)filter_at(0, 2)},
                              {{"b"}, 0},
                              {{"a"}, (int64_t)filter_at(1, 2)},
                              {{"b"}, 0},
                              {{"a"}, 0},
                              {{"b"}, (int64_t)filter_at(2, 2)}};
    paper *p = start(3, 2);
    const test_file file = with_columns(p, 3, 2, columns);
    has_bits("parquet:column=a,group=0", file, 1);
    has_bits("parquet:column=a,group=1", file, 2);
    has_bits("parquet:column=a,group=all", file, 3);
    has_bits("parquet:index=0,group=all", file, 3);
    has_bits("parquet:column=b,group=all", file, 4);
    has_bits("parquet:column=b", file, 4);
    refuses("parquet:group=all", file, TAMIS_INVALID, "column=NAME or index=N: a");
    free(p);
}

/* Columns in different order, and filters of different sizes, are not joined. */
static void does_not_join(void **state) {
    (void)state;
    const column turned[] = {{{"a"}, (int64_t)filter_at(0, 1)},
                             {{"b"}, (int64_t)filter_at(1, 1)},
                             {{"b"}, (int64_t)filter_at(2, 1)},
                             {{"a"}, (int64_t)filter_at(3, 1)}};
    paper *p = start(4, 1);
    test_file file = with_columns(p, 2, 2, turned);
    refuses("parquet:column=a,group=all", file, TAMIS_INVALID, "the columns 0 and 1");
    refuses("parquet:index=0,group=all", file, TAMIS_UNSUPPORTED,
            "not the same in row groups 0 and 1");
    has_bits("parquet:column=a,group=1", file, 8);
    static const char *const choose[] = {"index=0,group=0", "index=1,group=0", "index=0,group=1",
                                         "index=1,group=1"};
    lists(file, 4, choose);
    free(p);

    p = start(1, 1);
    paper *larger = start(1, 2);
    put(p, larger->bytes + 4, larger->size - 4);
    p->footer = p->size;
    const column differ[] = {{{"a"}, 4}, {{"a"}, (int64_t)filter_at(1, 1)}};
    file = with_columns(p, 2, 1, differ);
    refuses("parquet:group=all", file, TAMIS_UNSUPPORTED,
            "32 bytes in row group 0, 64 in row group 1");
    has_bits("parquet:group=1", file, 1);
    free(p);
    free(larger);

    /* In group 0, another column has the index that the column has in group 1. */
    const column mixed[] = {{{"b"}, 4}, {{"a"}, (int64_t)filter_at(1, 1)}};
    p = start(2, 1);
    file = with_columns(p, 2, 1, mixed);
    has_bits("parquet:column=a,group=all", file, 2);
    free(p);
}

static void without_filters(void **state) {
    (void)state;
    const column none[] = {{{"a"}, 0}};
    paper *p = start(0, 1);
    const test_file file = with_columns(p, 1, 1, none);
    refuses("parquet", file, TAMIS_UNSUPPORTED, "no column of the file has a filter");
    lists(file, 0, NULL);
    free(p);
    p = start(0, 1);
    put_byte(p, 0);
    refuses("parquet", finish(p), TAMIS_UNSUPPORTED, "no column of the file has a filter");
    free(p);
}

/* {8: crypto_metadata}; for the second column, another file. */
static void encrypted_or_elsewhere(void **state) {
    (void)state;
    const column a = {{"a"}, 4}, b = {{"b"}, (int64_t)filter_at(1, 1)};
    for (int with_plain = 0; with_plain < 2; with_plain++) {
        paper *p = start(2, 1);
        put_list(p, 4, STRUCT, 1);
        put_list(p, 1, STRUCT, 3);
        put_meta_data(p, &a);
        put_field(p, 8, STRUCT);
        put(p, "\x1c\0\0", 3);
        put_byte(p, 0);
        put_field(p, 1, BINARY);
        put_text(p, "other.parquet");
        put_column(p, &b);
        put_column(p, with_plain ? &b : &(const column){{"c"}, 0});
        put(p, "\0\0", 2);
        const test_file file = finish(p);
        if (with_plain) {
            has_bits("parquet", file, 2);
            refuses("parquet:column=a", file, TAMIS_INVALID, "others are encrypted");
        } else {
            refuses("parquet", file, TAMIS_UNSUPPORTED, "the columns are encrypted");
            lists(file, 0, NULL);
        }
        free(p);
    }
}

static void encrypted_footer(void **state) {
    (void)state;
    uint8_t bytes[] = "PARE................\x08\0\0\0PARE";
    refuses("parquet", (test_file){bytes, sizeof bytes - 1}, TAMIS_UNSUPPORTED,
            "footer is encrypted");
    refuses("parquet", (test_file){bytes, sizeof bytes - 2}, TAMIS_CORRUPT, "PAR1");
}

/* ---- Attacks -------------------------------------------------------------------------------- */

static void bad_places(void **state) {
    (void)state;
    static const int64_t offsets[] = {-1, INT64_MIN, INT64_MAX, 3, 1, 51, 52, 1 << 20};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        const column c = {{"a"}, offsets[i]};
        paper *p = start(1, 1);
        assert_int_equal(p->size, 51); /* where the footer starts */
        const test_file file = with_columns(p, 1, 1, &c);
        refuses("parquet", file, TAMIS_CORRUPT, "which is not in the data");
        assert_int_equal(tamis_format_scan("parquet", file.bytes, file.size, ignore, NULL),
                         TAMIS_CORRUPT);
        free(p);
    }
    /* A filter must end before the footer starts. */
    paper *p = start(1, 1);
    p->footer = p->size -= 1;
    const column c = {{"a"}, 4};
    refuses("parquet", with_columns(p, 1, 1, &c), TAMIS_CORRUPT,
            "says 32 bytes of bitset, but there are 31");
    free(p);
}

static void bad_lengths(void **state) {
    (void)state;
    static const int64_t lengths[] = {46, 48, 15, 79, 0, -47, INT32_MIN, INT32_MAX, 47};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        paper *p = start(1, 1);
        put_list(p, 4, STRUCT, 1);
        put_list(p, 1, STRUCT, 1);
        put_field(p, 3, STRUCT);
        put_int(p, 14, I64, 4);
        put_int(p, 15, I32, lengths[i]);
        put(p, "\0\0\0\0", 4);
        const test_file file = finish(p);
        if (lengths[i] == 47)
            has_bits("parquet", file, 1);
        else
            refuses("parquet", file, TAMIS_CORRUPT, "bytes by the footer");
        free(p);
    }
}

/* One filter for a thousand groups: joining would read it a thousand times. */
static void filters_in_one_another(void **state) {
    (void)state;
    column *same = calloc(1000, sizeof *same);
    for (size_t i = 0; i < 1000; i++) same[i] = (column){{"a"}, 4};
    paper *p = start(1, 2);
    uint8_t large[4 + 17 + 8192] = {0};
    memcpy(large, "PAR1\x15\x80\x80\x01\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\0", 21);
    memcpy(p->bytes, large, sizeof large);
    p->footer = p->size = sizeof large;
    const test_file file = with_columns(p, 1000, 1, same);
    has_bits("parquet:group=999", file, 0);
    refuses("parquet:group=all", file, TAMIS_CORRUPT, "filters overlap");
    free(p);
    free(same);
}

static void refuses_footer(const char *bytes, size_t size, const char *words) {
    paper *p = start(1, 1);
    put(p, bytes, size);
    const test_file file = finish(p);
    refuses("parquet", file, TAMIS_CORRUPT, words);
    assert_int_equal(tamis_format_scan("parquet", file.bytes, file.size, ignore, NULL),
                     TAMIS_CORRUPT);
    free(p);
}

#define REFUSES(bytes, words) refuses_footer(bytes, sizeof bytes - 1, words)

static void bad_footers(void **state) {
    (void)state;
    REFUSES("", "is truncated");
    REFUSES("\x49\xfc\xff\xff\xff\xff\x07\0", "a list is truncated"); /* 2^31-1 groups */
    REFUSES("\x49\xfc\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "a list is truncated"); /* 2^64-1 */
    REFUSES("\x49\xfc\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "more than 64 bits");
    REFUSES("\x49\x2c\x19\xfc\xff\xff\xff\xff\x07\0", "a list is truncated");
    REFUSES("\x49\x1c\x19\x1c\x3c\x39\xf8\xff\xff\xff\xff\x07", "a list is truncated");
    REFUSES("\x49\x1c\x19\x1c\x3c\x39\x18\xff\xff\xff\xff\x0f", "a text is truncated");
    REFUSES("\x49\x1c\x19\x1c\x3c\xe6\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "64 bits");
    REFUSES("\xf5\x02\xf5\x02\x05\xfe\xff\x03\x02\x15\x02\0", "above 2^15-1");
    REFUSES("\x1b\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x11", "is truncated");
    REFUSES("\x17\1\2\3", "is truncated");
    REFUSES("\x1d\1\2\3", "is truncated");
    REFUSES("\x13", "is truncated");
    REFUSES("\x19\x20\1\1\0", "an unknown type");
    REFUSES("\x1f\0", "an unknown type");
}

/* Structs in structs, lists in lists and maps in maps, too deep and not too deep. */
static void deep(void **state) {
    (void)state;
    static const struct {
        unsigned field;
        struct tamis_key again;
    } ways[] = {{0x1c, {"\x1c", 1}}, {0x19, {"\x19", 1}}, {0x1b, {"\x01\xbb", 2}}};
    static const uint8_t ends[32];
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (unsigned depth = 10; depth < 20000; depth *= 10) {
            paper *p = start(1, 1);
            put_byte(p, ways[i].field);
            for (unsigned d = 0; d < depth; d++) put(p, ways[i].again.bytes, ways[i].again.len);
            put(p, ends, sizeof ends);
            refuses("parquet", finish(p), depth == 10 ? TAMIS_UNSUPPORTED : TAMIS_CORRUPT,
                    depth == 10 ? "no column" : "more than 32 deep");
            free(p);
        }
}

static void bad_footer_lengths(void **state) {
    (void)state;
    static const uint32_t lengths[] = {UINT32_MAX, 0x7fffffff, 0x80000000, 70, 71};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const column c = {{"a"}, 4};
        paper *p = start(1, 1);
        const test_file file = with_columns(p, 1, 1, &c);
        for (unsigned j = 0; j < 4; j++)
            file.bytes[file.size - 8 + j] = (uint8_t)(lengths[i] >> 8 * j);
        /* A footer that starts inside the filter has no column with a filter. */
        const bool is_beyond = lengths[i] > file.size - 12;
        refuses("parquet", file, is_beyond ? TAMIS_CORRUPT : TAMIS_UNSUPPORTED,
                is_beyond ? "the footer should have" : "no column of the file has a filter");
        free(p);
    }
}

/* Every change of a small file with several groups, joined and not. */
static void every_byte(void **state) {
    (void)state;
    const column columns[] = {{{"a"}, (int64_t)filter_at(0, 1)},
                              {{"b"}, 0},
                              {{"a"}, (int64_t)filter_at(1, 1)},
                              {{"b"}, (int64_t)filter_at(2, 1)}};
    paper *p = start(3, 1);
    const test_file file = with_columns(p, 2, 2, columns);
    assert_true(test_hostile("parquet:column=a,group=all", file) > 0);
    assert_true(test_hostile("parquet:index=0,group=all", file) > 0);
    assert_true(test_hostile("parquet:column=b", file) > 0);
    free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(same_names),
        cmocka_unit_test(joins_groups),
        cmocka_unit_test(does_not_join),
        cmocka_unit_test(without_filters),
        cmocka_unit_test(encrypted_or_elsewhere),
        cmocka_unit_test(encrypted_footer),
        cmocka_unit_test(bad_places),
        cmocka_unit_test(bad_lengths),
        cmocka_unit_test(filters_in_one_another),
        cmocka_unit_test(bad_footers),
        cmocka_unit_test(deep),
        cmocka_unit_test(bad_footer_lengths),
        cmocka_unit_test(every_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
