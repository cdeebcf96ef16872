/* SPDX-License-Identifier: MIT */
/* Parquet's filters: in files by DuckDB and other writers, with their header, and bare. */
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

/* ---- Keys as Parquet encodes them ------------------------------------------------------------ */

enum { MAX_KEYS = 64 };

typedef struct key_list {
    char bytes[MAX_KEYS][16];
    struct tamis_key keys[MAX_KEYS + 1];
    size_t n;
} key_list;

static void add_key(key_list *list, const void *bytes, size_t len) {
    memcpy(list->bytes[list->n], bytes, len);
    list->keys[list->n] = (struct tamis_key){list->bytes[list->n], len};
    list->keys[++list->n] = (struct tamis_key){NULL, 0};
}

static void little(uint64_t x, size_t len, uint8_t *to) {
    for (size_t i = 0; i < len; i++) to[i] = (uint8_t)(x >> 8 * i);
}

static struct tamis_key number(uint64_t x, size_t len) {
    static uint8_t bytes[8];
    little(x, len, bytes);
    return (struct tamis_key){bytes, len};
}

static uint64_t double_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint32_t float_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The values of duckdb_types.parquet, by column. */
enum { S, N, B, D, F, BL, DT, COLUMNS };

static void add_value(key_list *list, unsigned column, unsigned i) {
    char text[16];
    uint8_t bytes[8];
    size_t len = 4;
    switch (column) {
    case S: add_key(list, text, (size_t)snprintf(text, sizeof text, "key-%u", i)); return;
    case BL: add_key(list, text, (size_t)snprintf(text, sizeof text, "b%u", i)); return;
    case N: little(i, 4, bytes); break;
    case B: little(i * (uint64_t)1000000007, len = 8, bytes); break;
    case D: little(double_bits(i / 2.0), len = 8, bytes); break;
    case F: little(float_bits((float)i / 4), 4, bytes); break;
    case DT: little(19723 + i, 4, bytes); break;
    default: fail();
    }
    add_key(list, bytes, len);
}

static const struct {
    const char *name, *type, *keys;
    unsigned values;
    size_t offset[2], size; /* with the header, by row group */
} columns[COLUMNS] = {
    {"s", "BYTE_ARRAY", "bytes", 50, {39202, 39630}, 80},
    {"n", "INT32", "int32", 40, {39282, 39710}, 80},
    {"b", "INT64", "int64", 30, {39362, 39790}, 80},
    {"d", "DOUBLE", "double", 20, {39442, 39870}, 47},
    {"f", "FLOAT", "float", 25, {39489, 39917}, 47},
    {"bl", "BYTE_ARRAY", "bytes", 10, {39536, 39964}, 47},
    {"dt", "INT32", "int32", 15, {39583, 40011}, 47},
};

static const struct tamis_key *values_of(unsigned column) {
    static key_list list;
    list.n = 0;
    for (unsigned i = 0; i < columns[column].values; i++) add_value(&list, column, i);
    return list.keys;
}

/* ---- DuckDB's files ------------------------------------------------------------------------- */

static test_file part(test_file whole, size_t offset, size_t size) {
    assert_true(offset + size <= whole.size);
    return (test_file){whole.bytes + offset, size};
}

static void has_answer(const tamis *f, struct tamis_key key, bool expected) {
    assert_int_equal(tamis_has(f, key.bytes, key.len), expected);
}

/* A filter from a file is exported as `filter`, header included, and as the bare bitset. */
static void goes_out(const tamis *f, test_file filter) {
    const test_file whole = test_export(f, "parquet-filter"),
                    bare = test_export(f, "parquet-bitset");
    assert_int_equal(whole.size, filter.size);
    assert_memory_equal(whole.bytes, filter.bytes, filter.size);
    assert_memory_equal(bare.bytes, filter.bytes + filter.size - bare.size, bare.size);
    test_goes_round("parquet-filter", whole);
    test_goes_round("parquet-bitset", bare);
    free(whole.bytes);
    free(bare.bytes);
}

static void made_of_six_words(void **state) {
    (void)state;
    const test_file file = test_vector("parquet/duckdb_small.parquet");
    const test_file filter = part(file, 109, 47);
    tamis *f = test_import("parquet", file);
    test_all_in(f, test_six_words);
    for (size_t i = 0; i < 6; i++) has_answer(f, test_no_words[i], false);
    char spec[96];
    tamis_spec(f, spec, sizeof spec);
    assert_string_equal(spec, "split:capacity=22,bits=256,index=parquet,hash=xxh64");
    assert_string_equal(tamis_note(f, "origin"), "parquet");
    goes_out(f, filter);
    test_written_anew("split:capacity=6,size=32,hash=xxh64", test_six_words, "parquet-filter",
                      filter);
    tamis_free(f);
    f = test_import("parquet:column=w,group=0", file);
    goes_out(f, filter);
    tamis_free(f);
    free(file.bytes);
}

static bool is_next_column(void *ctx, const struct tamis_found *found) {
    size_t *n = ctx;
    const size_t column = *n % COLUMNS, group = *n / COLUMNS;
    char name[64], choose[64];
    snprintf(name, sizeof name, "column %s, row group %zu, %s", columns[column].name, group,
             columns[column].type);
    snprintf(choose, sizeof choose, "column=%s,group=%zu", columns[column].name, group);
    assert_string_equal(found->name, name);
    assert_string_equal(found->choose, choose);
    assert_string_equal(found->kind, "split");
    assert_string_equal(found->keys, columns[column].keys);
    assert_int_equal(found->offset, columns[column].offset[group]);
    assert_int_equal(found->size, columns[column].size);
    ++*n;
    return true;
}

static void lists_columns_and_groups(void **state) {
    (void)state;
    const test_file file = test_vector("parquet/duckdb_types.parquet");
    size_t n = 0;
    assert_int_equal(tamis_format_scan("parquet", file.bytes, file.size, is_next_column, &n),
                     TAMIS_OK);
    assert_int_equal(n, 2 * COLUMNS);
    n = COLUMNS;
    assert_int_equal(
        tamis_format_scan("parquet:group=1", file.bytes, file.size, is_next_column, &n), TAMIS_OK);
    assert_int_equal(n, 2 * COLUMNS);
    free(file.bytes);
}

static void has_every_type(void **state) {
    (void)state;
    const test_file file = test_vector("parquet/duckdb_types.parquet");
    for (unsigned c = 0; c < COLUMNS; c++)
        for (unsigned group = 0; group < 3; group++) { /* 2: all */
            const struct tamis_key *keys = values_of(c);
            const test_file filter = part(file, columns[c].offset[group % 2], columns[c].size);
            char format[64], spec[64];
            snprintf(format, sizeof format, "parquet:column=%s,group=%.*s", columns[c].name,
                     group == 2 ? 3 : 1,
                     group == 2   ? "all"
                     : group == 1 ? "1"
                                  : "0");
            tamis *f = test_import(format, file);
            test_all_in(f, keys);
            goes_out(f, filter);
            tamis_free(f);
            snprintf(format, sizeof format, "parquet:index=%u,group=0", c);
            f = test_import(format, file);
            goes_out(f, filter);
            tamis_free(f);
            snprintf(spec, sizeof spec, "split:capacity=50,size=%d,hash=xxh64",
                     columns[c].size > 64 ? 64 : 32);
            test_written_anew(spec, keys, "parquet-filter", filter);
        }
    free(file.bytes);
}

static void answers_as_duckdb(void **state) {
    (void)state;
    const test_file file = test_vector("parquet/duckdb_types.parquet");
    tamis *f[COLUMNS];
    for (unsigned c = 0; c < COLUMNS; c++) {
        char format[64];
        snprintf(format, sizeof format, "parquet:column=%s,group=1", columns[c].name);
        f[c] = test_import(format, file);
    }
    has_answer(f[S], test_text("key-7"), true);
    has_answer(f[S], test_text("key-50"), false);
    has_answer(f[S], test_text("nope"), false);
    has_answer(f[N], number(7, 4), true);
    has_answer(f[N], number(41, 4), false);
    has_answer(f[B], number(1000000007, 8), true);
    has_answer(f[B], number(5, 8), false);
    has_answer(f[D], number(double_bits(1.5), 8), true);
    has_answer(f[D], number(double_bits(100.0), 8), false);
    has_answer(f[BL], test_text("b1"), true);
    has_answer(f[BL], test_text("c1"), false);
    for (unsigned c = 0; c < COLUMNS; c++) tamis_free(f[c]);
    free(file.bytes);
}

/* ---- Filters as hex ------------------------------------------------------------------------- */

static void bitsets_of_columns(void **state) {
    (void)state;
    static const struct {
        unsigned column;
        const char *hex;
    } samples[] = {
        {N, "2e25ce3355752ada4a80f4f3e70e91a7382189cdb46393e809fd5c51da28e387"
            "3f407c325c08a82fe2f8a3802e4ee84a861625ceadea68402036e6a21099806d"},
        {D, "952e4c6f86ca0d9608e2de472d2c4a6359107fc5db1b805c89d7591258e1d979"},
        {BL, "c4944001d0000f848800e24208a882230a6200702485280403821018a8308044"},
        {DT, "c72216f42a00b8320e17743814c41a0360c8599252c2200c2c246f6241621375"},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const struct tamis_key *keys = values_of(samples[i].column);
        const test_file bitset = test_hex(samples[i].hex);
        char spec[64];
        snprintf(spec, sizeof spec, "split:capacity=50,size=%zu,hash=xxh64", bitset.size);
        test_written_anew(spec, keys, "parquet-bitset", bitset);
        test_goes_round("parquet-bitset", bitset);
        free(bitset.bytes);
    }
}

/* 900 keys in 35 blocks, as hyparquet sizes it: any number of blocks is valid. */
static void not_a_power_of_two(void **state) {
    (void)state;
    static const uint64_t no_hits[] = {0};
    tamis *f;
    assert_int_equal(tamis_create(&f, "split:capacity=900,size=1120,hash=xxh64"), TAMIS_OK);
    test_add_range(f, 0, 900);
    test_range_in(f, 0, 900);
    test_range_hits(f, 900, 1000, no_hits);
    const test_file filter = test_export(f, "parquet-filter");
    assert_int_equal(filter.size, 1136);
    goes_out(f, filter);
    tamis *again = test_import("parquet-filter", filter);
    test_range_in(again, 0, 900);
    tamis_free(again);
    tamis_free(f);
    free(filter.bytes);
}

/* ---- Published files ------------------------------------------------------------------------ */

static const struct tamis_key fourteen[] = {
    BYTES("Hello"),   BYTES("This is"), BYTES("a"),        BYTES("test"),      BYTES("How"),
    BYTES("are you"), BYTES("doing "),  BYTES("today"),    BYTES("the quick"), BYTES("brown fox"),
    BYTES("jumps"),   BYTES("over"),    BYTES("the lazy"), BYTES("dog"),       {NULL, 0}};
static const struct tamis_key four[] = {
    BYTES("hello"), BYTES("parquet"), BYTES("bloom"), BYTES("filter"), {NULL, 0}};

static bool keep_first(void *ctx, const struct tamis_found *found) {
    test_file *place = ctx;
    place->bytes += found->offset;
    place->size = (size_t)found->size;
    assert_string_equal(found->choose, "column=String,group=0");
    return false;
}

static void published_file(const char *path, const char *spec, size_t offset, size_t size) {
    const test_file file = test_published(path);
    test_file place = file;
    assert_int_equal(tamis_format_scan("parquet", file.bytes, file.size, keep_first, &place),
                     TAMIS_OK);
    assert_int_equal(place.bytes - file.bytes, offset);
    assert_int_equal(place.size, size);
    tamis *f = test_import("parquet:column=String", file);
    test_all_in(f, fourteen);
    has_answer(f, test_text("Not there"), false);
    goes_out(f, place);
    tamis_free(f);
    test_written_anew(spec, fourteen, "parquet-filter", place);
    free(file.bytes);
}

static void by_parquet_mr(void **state) {
    (void)state;
    published_file("parquet/parquet-mr_1.13_no_length.parquet",
                   "split:capacity=14,size=1024,hash=xxh64", 192, 1040);
}

static void by_parquet_rs(void **state) {
    (void)state;
    published_file("parquet/parquet-rs_49_with_length.parquet",
                   "split:capacity=14,size=2048,hash=xxh64", 253, 2064);
}

static void header_and_bitset_alone(void **state) {
    (void)state;
    const test_file file = test_published("parquet/parquet-mr_filter_only.bin");
    tamis *f = test_import("parquet-filter", file);
    test_all_in(f, four);
    test_none_in(f, fourteen + 1);
    goes_out(f, file);
    tamis_free(f);
    test_written_anew("split:capacity=4,size=1024,hash=xxh64", four, "parquet-filter", file);
    free(file.bytes);
}

static void hostile_published(void **state) {
    (void)state;
    const test_file alone = test_published("parquet/parquet-mr_filter_only.bin");
    const test_file java = test_published("parquet/parquet-mr_1.13_no_length.parquet");
    const test_file rust = test_published("parquet/parquet-rs_49_with_length.parquet");
    assert_true(test_hostile("parquet-filter", alone) > 0);
    assert_true(test_hostile("parquet-bitset", alone) > 0);
    assert_true(test_hostile("parquet", java) > 0);
    assert_true(test_hostile("parquet:column=String", rust) > 0);
    free(alone.bytes);
    free(java.bytes);
    free(rust.bytes);
}

/* ---- Sizes ---------------------------------------------------------------------------------- */

static void sizes_of_writers(void **state) {
    (void)state;
    static const struct {
        const char *writer;
        uint64_t keys;
        double fpr;
        uint64_t bytes;
    } samples[] = {{"duckdb", 6, 0.01, 32},
                   {"duckdb", 50, 0.01, 64},
                   {"duckdb", 40, 0.01, 64},
                   {"duckdb", 30, 0.01, 64},
                   {"duckdb", 20, 0.01, 32},
                   {"duckdb", 25, 0.01, 32},
                   {"duckdb", 0, 0.01, 32},
                   {"parquet-java", 50, 0.01, 128},
                   {"parquet-java", 60, 0.01, 128},
                   {"parquet-java", 100, 0.01, 256},
                   {"parquet-java", 1000, 0.01, 2048},
                   {"parquet-java", 10000, 0.01, 16384},
                   {"parquet-java", 1, 0.01, 32},
                   {"parquet-java", 100000000, 0.01, 1 << 20},
                   {"arrow", 0, 0.01, 32},
                   {"arrow", 50, 0.01, 64},
                   {"arrow", 1000000, 0.01, 2097152},
                   {"arrow", 1000000000, 0.01, 1 << 27},
                   {"parquet-rs", 14, 0.01, 32},
                   {"parquet-rs", 1000, 0.01, 2048},
                   {"parquet-rs", 1000000, 0.001, 2097152},
                   {"parquet-rs", 800000000, 0.01, 1 << 27},
                   {"hyparquet", 900, 0.01, 1120},
                   {"hyparquet", 500, 0.01, 1024},
                   {"hyparquet", 0, 0.01, 32},
                   {"hyparquet", 1000000000, 0.1, 1 << 27}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        if (tamis_parquet_bytes(samples[i].writer, samples[i].keys, samples[i].fpr) !=
            samples[i].bytes)
            fail_msg("%s, %llu keys: not %llu bytes", samples[i].writer,
                     (unsigned long long)samples[i].keys, (unsigned long long)samples[i].bytes);
    assert_int_equal(tamis_parquet_bytes("impala", 1, 0.01), 0);
    assert_non_null(strstr(tamis_why(), "'impala' is not one of duckdb,"));
    assert_int_equal(tamis_parquet_bytes("arrow", 1, 0), 0);
    assert_int_equal(tamis_parquet_bytes("arrow", 1, 1), 0);
    assert_int_equal(tamis_parquet_bytes("duckdb", UINT64_MAX, 1e-12), 0);
    assert_non_null(strstr(tamis_why(), "1 GiB"));
}

/* A size that is a power of two is used exactly, as Arrow's reader requires. */
static void exact_sizes(void **state) {
    (void)state;
    for (uint64_t bytes = 32; bytes <= (uint64_t)1 << 27; bytes *= 2) {
        char spec[96];
        struct tamis_plan plan = TAMIS_PLAN_INIT;
        snprintf(spec, sizeof spec, "split:capacity=1000,size=%llu,hash=xxh64",
                 (unsigned long long)bytes);
        assert_int_equal(tamis_plan_spec(spec, &plan), TAMIS_OK);
        assert_int_equal(plan.word[0], bytes / 32);
        assert_int_equal(plan.word[1], 0);
    }
}

/* ---- What is refused ------------------------------------------------------------------------ */

static bool ignore(void *ctx, const void *bytes, size_t size) {
    (void)ctx, (void)bytes, (void)size;
    return true;
}

static void says(const char *words) {
    if (!strstr(tamis_why(), words)) fail_msg("'%s' does not say '%s'", tamis_why(), words);
}

static void stays(const char *spec, const char *format, const char *words) {
    tamis *f;
    assert_int_equal(tamis_create(&f, spec), TAMIS_OK);
    assert_int_equal(tamis_export(f, format, ignore, NULL), TAMIS_UNSUPPORTED);
    says(words);
    tamis_free(f);
}

static void others_stay(void **state) {
    (void)state;
    stays("split:capacity=10", "parquet-bitset", "hash with xxh64, this one with xxh3");
    stays("split:capacity=10,hash=sip13", "parquet-filter", "hash with xxh64, this one with sip13");
    stays("split:capacity=10,hash=xxh64,seed=7", "parquet-bitset", "seed 0, this one with 7");
    stays("split:capacity=10,hash=xxh64,index=wide", "parquet-filter", "this one has index=wide");
    stays("blocked:capacity=10,hash=xxh64", "parquet-filter", "without the keys");
    stays("split:capacity=10,hash=xxh64", "parquet", "parquet-filter");
}

static void refuses(const char *format, test_file file, tamis_status rc, const char *words) {
    tamis *f;
    assert_int_equal(tamis_import(&f, format, file.bytes, file.size), rc);
    assert_null(f);
    says(words);
}

static void bad_params(void **state) {
    (void)state;
    const test_file file = test_vector("parquet/duckdb_types.parquet");
    refuses("parquet", file, TAMIS_INVALID, "column=NAME or index=N: s, n, b, d, f, bl, dt");
    refuses("parquet:group=0", file, TAMIS_INVALID, "s, n, b, d, f, bl, dt");
    refuses("parquet:group=all", file, TAMIS_INVALID, "s, n, b, d, f, bl, dt");
    refuses("parquet:column=s", file, TAMIS_INVALID, "in 2 row groups, up to 1: choose");
    refuses("parquet:column=x", file, TAMIS_INVALID,
            "no filter is that of column=x: there are filters for s, n, b, d, f, bl, dt, in row "
            "groups 0 to 1");
    refuses("parquet:column=s,group=2", file, TAMIS_INVALID, "no filter is that of");
    refuses("parquet:column=s,index=1,group=0", file, TAMIS_INVALID, "no filter is that of");
    refuses("parquet:index=7,group=0", file, TAMIS_INVALID, "no filter is that of");
    refuses("parquet:column=s,group=-1", file, TAMIS_INVALID, "group must be a number or all");
    refuses("parquet:column=s,group=some", file, TAMIS_INVALID, "group must be a number or all");
    refuses("parquet:index=x", file, TAMIS_INVALID, "index");
    refuses("parquet:row=1", file, TAMIS_INVALID, "it knows column, index, group");
    refuses("parquet-filter", file, TAMIS_CORRUPT, "parquet-filter");
    refuses("parquet-bitset", file, TAMIS_CORRUPT, "multiple of 32 bytes, at least 32, not 41315");
    refuses("parquet-bitset", (test_file){file.bytes, 0}, TAMIS_CORRUPT, "not 0");
    refuses("parquet-filter", (test_file){file.bytes, 0}, TAMIS_CORRUPT, "there are none");
    refuses("parquet", (test_file){file.bytes, 0}, TAMIS_CORRUPT, "PAR1");
    free(file.bytes);
}

/* Unusual header forms are read, but what they say must be true. */
static void headers(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        size_t bitset;
        const char *words; /* NULL: it is read */
    } samples[] = {
        {"15401c1c00001c1c00001c1c000000", 32, NULL},
        {"05024005041c1c000000", 32, "the filter's algorithm is not split-block"},
        {"2c1c0000"
         "1c1c0000"
         "1c1c0000"
         "050240"
         "00",
         32, NULL}, /* numBytes last */
        {"1540"
         "1c1c0000"
         "1c1c0000"
         "1c1c0000"
         "6804abcdef01"
         "01"
         "1913"
         "02"
         "00",
         32, NULL},
        {"1500"
         "1c1c0000"
         "1c1c0000"
         "1c1c0000"
         "00",
         0, "multiple of 32 bytes, at least 32, not 0"},
        {"153f"
         "1c1c0000"
         "1c1c0000"
         "1c1c0000"
         "00",
         32, "not -32"},
        {"1542"
         "1c1c0000"
         "1c1c0000"
         "1c1c0000"
         "00",
         33, "not 33"},
        {"1540"
         "1c1c0000"
         "1c1c0000"
         "1c1c0000"
         "00",
         31, "says 32 bytes of bitset, but there are 31"},
        {"1540"
         "1c1c0000"
         "1c1c0000"
         "1c1c0000"
         "00",
         64, "32 bytes follow the bitset"},
        {"1540"
         "1c2c0000"
         "1c1c0000"
         "1c1c0000"
         "00",
         32, "algorithm is not split-block"},
        {"1540"
         "1c1c0000"
         "1c2c0000"
         "1c1c0000"
         "00",
         32, "hash is not XXH64"},
        {"1540"
         "1c1c0000"
         "1c1c0000"
         "1c2c0000"
         "00",
         32, "is not marked as uncompressed"},
        {"1540"
         "1c1c0000"
         "1c00"
         "1c1c0000"
         "00",
         32, "hash is not XXH64"},
        {"1540"
         "1c1c001c0000"
         "1c1c0000"
         "1c1c0000"
         "00",
         32, "algorithm is not split-block"},
        {"1540"
         "1c150200"
         "1c1c0000"
         "1c1c0000"
         "00",
         32, "algorithm is not split-block"},
        {"1c1c0000"
         "1c1c0000"
         "1c1c0000"
         "00",
         32, "is not marked as uncompressed"},
        {"2c1c0000"
         "1c1c0000"
         "1c1c0000"
         "00",
         32, "not 0"},
        {"1640"
         "1c1c0000"
         "1c1c0000"
         "1c1c0000"
         "00",
         32, "not 0"}, /* wrong type */
        {"15ffffffffffffffffff01"
         "00",
         32, "larger than its type"},
        {"15ffffffffffffffffff02"
         "00",
         32, "more than 64 bits"},
        {"15ffffffffffffffffffff01"
         "00",
         32, "more than 64 bits"},
        {"15feffffff0f"
         "1c1c0000"
         "1c1c0000"
         "1c1c0000"
         "00",
         32, "not 2147483647"},
        {"15c0ffffff0f"
         "1c1c0000"
         "1c1c0000"
         "1c1c0000"
         "00",
         32, "says 2147483616 bytes"},
        {"1540"
         "1e",
         0, "a field has an unknown type"},
        {"1540"
         "10",
         0, "a field has an unknown type"},
        {"1540"
         "1c1c0000"
         "1c1c0000"
         "1c1c0000"
         "05feff03"
         "02"
         "00",
         32, NULL}, /* field number 2^15-1 is valid */
        {"1540"
         "05feff03"
         "02"
         "1502"
         "00",
         0, "above 2^15-1"},
        {"1540"
         "05808004"
         "02"
         "00",
         0, "larger than its type"},
        {"1540"
         "79fcffffffff0f"
         "00",
         32, "a list is truncated"},
        {"1540"
         "7bffffffff0f88"
         "00",
         32, "more than 64 bits"},
        {"1540"
         "7bffffffff0f33",
         32, "is truncated"},
        {"1540"
         "78ffffffffffffffffff01",
         32, "a text is truncated"},
        {"1540"
         "792e00",
         32, "an unknown type"},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        test_file file = test_hex(samples[i].hex);
        file.bytes = realloc(file.bytes, file.size + samples[i].bitset + 1);
        memset(file.bytes + file.size, 0xff, samples[i].bitset);
        file.size += samples[i].bitset;
        if (samples[i].words)
            refuses("parquet-filter", file, TAMIS_CORRUPT, samples[i].words);
        else
            tamis_free(test_import("parquet-filter", file));
        free(file.bytes);
    }
}

static void hostile(void **state) {
    (void)state;
    const test_file small = test_vector("parquet/duckdb_small.parquet");
    const test_file types = test_vector("parquet/duckdb_types.parquet");
    assert_true(test_hostile("parquet", small) > 0);
    assert_true(test_hostile("parquet-filter", part(small, 109, 47)) > 0);
    assert_true(test_hostile("parquet-bitset", part(small, 124, 32)) > 0);
    assert_true(test_hostile("parquet:column=n,group=all", types) > 0);
    free(small.bytes);
    free(types.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_of_six_words),
        cmocka_unit_test(lists_columns_and_groups),
        cmocka_unit_test(has_every_type),
        cmocka_unit_test(answers_as_duckdb),
        cmocka_unit_test(bitsets_of_columns),
        cmocka_unit_test(not_a_power_of_two),
        cmocka_unit_test(by_parquet_mr),
        cmocka_unit_test(by_parquet_rs),
        cmocka_unit_test(header_and_bitset_alone),
        cmocka_unit_test(sizes_of_writers),
        cmocka_unit_test(exact_sizes),
        cmocka_unit_test(others_stay),
        cmocka_unit_test(bad_params),
        cmocka_unit_test(headers),
        cmocka_unit_test(hostile),
        cmocka_unit_test(hostile_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
