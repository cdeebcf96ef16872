/* SPDX-License-Identifier: MIT */
/* Bitcoin's block filters: the vectors published with BIP 158, and ours compared with them. */
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

#define TEXT(s) \
    { s, sizeof s - 1 }
#define KEY    "000102030405060708090a0b0c0d0e0f"
#define FORMAT "bip158:key=" KEY
#define SPEC   "bip158:capacity=%d,key0=506097522914230528,key1=1084818905618843912"

static const struct tamis_key words[] = {TEXT("alpha"), TEXT("beta"),        TEXT("gamma"),
                                         TEXT("delta"), TEXT("caf\xc3\xa9"), {NULL, 0}};

static void answers_as_golomb(void **state) {
    (void)state;
    char spec[128];
    const test_file file = test_vector("bip158/bip158_words.bin");
    tamis *f = test_import(FORMAT, file);
    test_all_in(f, words);
    test_none_in(f, test_no_words);
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(f, &info);
    assert_int_equal(info.items, 5);
    assert_int_equal(info.capacity, 5);
    tamis_free(f);
    test_goes_round(FORMAT, file);
    snprintf(spec, sizeof spec, SPEC, 5);
    test_written_anew(spec, words, FORMAT, file);
    free(file.bytes);
    f = test_range_filled(spec, 0, 300);
    test_range_in(f, 0, 300);
    const test_file out = test_export(f, "bip158");
    assert_int_equal(out.size, 792);
    test_goes_round(FORMAT, out);
    free(out.bytes);
    tamis_free(f);
}

/* ---- The published vectors ------------------------------------------------------------------ */

enum { MAX_SCRIPTS = 256 };

typedef struct row {
    uint8_t block[8192], previous[32], filter[64], header[32];
    char hash[65];
    size_t block_size, filter_size;
    struct tamis_key scripts[MAX_SCRIPTS + 1]; /* ends with NULL */
    uint8_t spent[8192];
    size_t script_count;
} row;

static const uint8_t *text_end(const uint8_t *p) {
    while (*p != '"') p++;
    return p;
}

static size_t from_hex(const uint8_t *text, size_t len, uint8_t *to) {
    for (size_t i = 0; i < len / 2; i++) {
        unsigned byte;
        assert_int_equal(sscanf((const char *)text + 2 * i, "%2x", &byte), 1);
        to[i] = (uint8_t)byte;
    }
    return len / 2;
}

/* Decodes the next quoted hex string; *p moves past it. */
static size_t next_hex(const uint8_t **p, uint8_t *to) {
    const uint8_t *start = text_end(*p) + 1, *end = text_end(start);
    *p = end + 1;
    return from_hex(start, (size_t)(end - start), to);
}

static void turn_round(uint8_t bytes[32]) {
    for (int i = 0; i < 16; i++) {
        const uint8_t b = bytes[i];
        bytes[i] = bytes[31 - i];
        bytes[31 - i] = b;
    }
}

static void add_script(row *r, const uint8_t *bytes, size_t len) {
    assert_true(r->script_count < MAX_SCRIPTS);
    if (len) r->scripts[r->script_count++] = (struct tamis_key){bytes, len};
}

static uint64_t number(const uint8_t **p, unsigned bytes) {
    uint64_t n = 0;
    for (unsigned i = 0; i < bytes; i++) n |= (uint64_t) * (*p)++ << 8 * i;
    return n;
}

static uint64_t compact(const uint8_t **p) {
    const uint64_t n = number(p, 1);
    return n < 0xfd ? n : number(p, n == 0xfd ? 2 : 4);
}

static void skip_bytes(const uint8_t **p) {
    const uint64_t n = compact(p);
    *p += n;
}

/* The scripts of one transaction's outputs, except those that only carry data. */
static void take_outputs(row *r, const uint8_t **p) {
    *p += 4;
    const bool has_witness = **p == 0;
    *p += has_witness ? 2 : 0;
    const uint64_t inputs = compact(p);
    for (uint64_t i = 0; i < inputs; i++) {
        *p += 36;
        skip_bytes(p);
        *p += 4;
    }
    for (uint64_t outputs = compact(p); outputs; outputs--) {
        *p += 8;
        const uint64_t len = compact(p);
        if (len && **p != 0x6a) add_script(r, *p, (size_t)len);
        *p += len;
    }
    for (uint64_t i = 0; has_witness && i < inputs; i++)
        for (uint64_t items = compact(p); items; items--) skip_bytes(p);
    *p += 4;
}

static void take_block(row *r) {
    const uint8_t *p = r->block + 80;
    for (uint64_t n = compact(&p); n; n--) take_outputs(r, &p);
    assert_ptr_equal(p, r->block + r->block_size);
}

/* [height,"hash","block",["script",...],"previous header","filter","header","note"] */
static const uint8_t *read_row(const uint8_t *p, row *r) {
    const uint8_t *start = text_end(p) + 1, *end = text_end(start);
    size_t spent = 0;
    memset(r, 0, sizeof *r);
    assert_int_equal(end - start, 64);
    memcpy(r->hash, start, 64);
    p = end + 1;
    r->block_size = next_hex(&p, r->block);
    take_block(r);
    while (*p != '[') p++;
    while (*p != ']') {
        if (*p++ != '"') continue;
        p--;
        const size_t len = next_hex(&p, r->spent + spent);
        add_script(r, r->spent + spent, len);
        spent += len;
    }
    next_hex(&p, r->previous);
    r->filter_size = next_hex(&p, r->filter);
    next_hex(&p, r->header);
    turn_round(r->previous);
    turn_round(r->header);
    return text_end(text_end(p) + 1) + 1;
}

static void row_holds(row *r) {
    char format[128], spec[160];
    uint8_t header[32];
    const test_file file = {r->filter, r->filter_size};
    snprintf(format, sizeof format, "bip158:block=%s", r->hash);
    snprintf(spec, sizeof spec, "bip158:capacity=1,block=%s", r->hash);
    tamis *f = test_import(format, file);
    test_all_in(f, r->scripts);
    assert_int_equal(tamis_bip158_header(f, r->previous, header), TAMIS_OK);
    assert_memory_equal(header, r->header, sizeof header);
    tamis_free(f);
    test_goes_round(format, file);
    test_written_anew(spec, r->scripts, format, file);
}

static void published_rows(void **state) {
    (void)state;
    const test_file file = test_published("bip158/bip158_public_testnet-19.json");
    row *r = malloc(sizeof *r);
    size_t rows = 0;
    file.bytes[file.size] = '\0'; /* there is room for it */
    const uint8_t *p = file.bytes;
    while (*p != ']') p++; /* skip the column names */
    while ((p = (const uint8_t *)strchr((const char *)p + 1, '[')) != NULL) {
        p = read_row(p, r);
        row_holds(r);
        rows++;
    }
    assert_int_equal(rows, 10);
    free(r);
    free(file.bytes);
}

/* ---- Building ------------------------------------------------------------------------------- */

static void sizes_and_orders(void **state) {
    (void)state;
    static const struct tamis_key twice[] = {
        TEXT("caf\xc3\xa9"), TEXT("delta"), TEXT("beta"), TEXT("alpha"),
        TEXT("gamma"),       TEXT("beta"),  {NULL, 0}};
    static const struct tamis_key none[] = {{NULL, 0}};
    static uint8_t zero[] = {0};
    char spec[128];
    snprintf(spec, sizeof spec, SPEC, 1);
    const test_file file = test_vector("bip158/bip158_words.bin"), empty = {zero, 1};
    test_written_anew(spec, twice, "bip158", file);
    test_written_anew(spec, none, FORMAT, empty);
    test_goes_round(FORMAT, empty);
    free(file.bytes);
    static const uint64_t sizes[] = {1, 2, 252, 253, 254, 5000, 65535, 65536, 70000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tamis *f = test_range_filled(spec, 0, sizes[i]);
        test_range_in(f, 0, sizes[i] < 1000 ? sizes[i] : 1000);
        const test_file out = test_export(f, "bip158");
        const uint64_t count = sizes[i] < 253 ? 1 : sizes[i] < 65536 ? 3 : 5;
        assert_true(out.size >= count + sizes[i] * 20 / 8);
        test_goes_round(FORMAT, out);
        free(out.bytes);
        tamis_free(f);
    }
}

static void refusals(void **state) {
    (void)state;
    /* Two values of 20 bits, both 0, and a byte after their end. */
    test_hex_refused(FORMAT, "02000000000000", "bytes after the last value");
    static const struct {
        const char *format, *bytes;
        size_t size;
        tamis_status rc;
        const char *why;
    } bad[] = {
        {"bip158", "\0", 1, TAMIS_INVALID, "bip158 needs block=HASH or key=KEY"},
        {"bip158:key=00", "\0", 1, TAMIS_INVALID, "key: has 32 hexadecimal digits, not 2"},
        {"bip158:block=0g", "\0", 1, TAMIS_INVALID, "block: 'g' is not a hexadecimal digit"},
        {FORMAT, "", 0, TAMIS_CORRUPT, "invalid number of values"},
        {FORMAT, "\xfd\x01", 2, TAMIS_CORRUPT, "invalid number of values"},
        {FORMAT, "\xfd\x05\0\0\0\0", 6, TAMIS_CORRUPT, "invalid number of values"},
        {FORMAT, "\xff\0\0\0\0\1\0\0\0", 9, TAMIS_CORRUPT, "invalid number of values"},
        {FORMAT, "\0\0", 2, TAMIS_CORRUPT, "0 values of bip158 take 1 to 1 bytes, not 2"},
        {FORMAT, "\1\0\0", 3, TAMIS_CORRUPT, "1 values of bip158 take 4 to 4 bytes, not 3"},
        {FORMAT, "\1\0\0\1", 4, TAMIS_CORRUPT, "a bit after the last value of bip158 is set"},
        {FORMAT, "\1\xff\xff\xff", 4, TAMIS_CORRUPT, "value 0 of 1 of bip158 is beyond the end"},
        {FORMAT, "\1\xbf\xff\xf8", 4, TAMIS_CORRUPT, "value 0 of 1 of bip158 is beyond the end"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tamis *f;
        assert_int_equal(tamis_import(&f, bad[i].format, bad[i].bytes, bad[i].size), bad[i].rc);
        if (!strstr(tamis_why(), bad[i].why)) fail_msg("%zu: %s", i, tamis_why());
    }
    static const char *const params[] = {
        "bip158:capacity=10,fpr=1e-6",
        "bip158:capacity=10,bits=64",
        "bip158:capacity=5e9",
        "bip158:capacity=10,block=00",
        "bip158:capacity=10,seed=1",
        "bip158:capacity=1,key0=1,"
        "block=000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943"};
    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        struct tamis_plan plan = TAMIS_PLAN_INIT;
        assert_int_not_equal(tamis_plan_spec(params[i], &plan), TAMIS_OK);
        assert_true(*tamis_why());
    }
    tamis *f, *g;
    uint8_t header[32] = {0};
    assert_int_equal(tamis_create(&g, "guava:capacity=10"), TAMIS_OK);
    assert_int_equal(tamis_bip158_header(g, header, header), TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_bip158_hash(g, header), TAMIS_UNSUPPORTED);
    tamis_free(g);
    f = test_filled("bip158:capacity=5,key0=1", words);
    assert_int_equal(tamis_export(f, FORMAT, NULL, NULL), TAMIS_INVALID);
    tamis_free(f);
}

/* A filter that claims more values than its bytes hold, or has endless runs of ones. */
static void hostile(void **state) {
    (void)state;
    char spec[128];
    const test_file file = test_vector("bip158/bip158_words.bin");
    assert_true(test_hostile(FORMAT, file) > 0);
    free(file.bytes);
    snprintf(spec, sizeof spec, SPEC, 40);
    tamis *f = test_range_filled(spec, 0, 400);
    const test_file out = test_export(f, "bip158");
    assert_true(test_hostile(FORMAT, out) > 0);
    memset(out.bytes + 3, 0xff, out.size - 3);
    test_hostile(FORMAT, out);
    free(out.bytes);
    tamis_free(f);
}

/* A memory limit that is too small for the keys. */
static void memory_limit(void **state) {
    (void)state;
    static uint64_t numbers[100000];
    tamis_builder *b;
    tamis *f;
    tamis_status rc = TAMIS_OK;
    for (uint64_t i = 0; i < 100000; i++) numbers[i] = i;
    assert_int_equal(tamis_builder_create(&b, "bip158", 1 << 20, NULL), TAMIS_OK);
    for (int i = 0; i < 3 && !rc; i++) rc = tamis_builder_add_u64s(b, numbers, 100000);
    assert_int_equal(rc, TAMIS_NOMEM);
    assert_non_null(strstr(tamis_why(), "memory limit of 1048576 bytes is too small for bip158"));
    tamis_builder_free(b);
    assert_int_equal(tamis_builder_create(&b, "bip158", 4 << 20, NULL), TAMIS_OK);
    assert_int_equal(tamis_builder_add_u64s(b, numbers, 100000), TAMIS_OK);
    assert_int_equal(tamis_builder_finish(b, &f), TAMIS_OK);
    assert_true(tamis_has_u64(f, 99999));
    tamis_free(f);
    tamis_builder_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_as_golomb), cmocka_unit_test(published_rows),
        cmocka_unit_test(sizes_and_orders),  cmocka_unit_test(refusals),
        cmocka_unit_test(hostile),           cmocka_unit_test(memory_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
