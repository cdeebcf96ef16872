/* SPDX-License-Identifier: MIT */
/* Edge cases of other systems' filters that no test file reaches: shapes of many gigabytes, files
 * with only a few pages ever written, and payloads that only an image could hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "foreign/format.h"
#include "kinds/kind.h"
#include "tests/support/require_ok.h"

/* ---- Shapes ---------------------------------------------------------------------------------- */

typedef struct change {
    const char *word;
    uint64_t value;
} change;

#define HALF (TAMIS_MAX_PAYLOAD_BYTES / 2)

static const struct {
    const char *spec;
    change changes[2];
    bool is_legal;
} shapes[] = {
    {"binary-fuse:capacity=5", {{"segment", 1}, {"segments", UINT32_MAX - 2}}, true},
    {"binary-fuse:capacity=5", {{"segment", 1}, {"segments", UINT32_MAX - 1}}, false},
    {"hadoop-dynamic:capacity=5,bits=64", {{"bits", INT32_MAX}, {"rows", 1}}, true},
    {"hadoop-dynamic:capacity=5,bits=64", {{"bits", INT32_MAX}, {"rows", INT32_MAX}}, false},
    {"leveldb:capacity=5", {{"bytes", HALF}, {"bits", 8 * (HALF - 1)}}, true},
    {"leveldb:capacity=5", {{"bytes", HALF + 1}, {"bits", 8 * HALF}}, false},
    {"rocksdb:capacity=5", {{"bits", 512}, {"bytes", 69}}, true}, /* a line of 64 */
    {"rocksdb:capacity=5", {{"bits", 512 + ((uint64_t)1 << 32)}, {"bytes", 69}}, false},
    {"rocksdb:capacity=5", {{"rule", 2}, {"line", 0}}, false}, /* "always" has no bits either */
    {"rocksdb:capacity=5,rule=legacy", {{"bits", 0}, {"bytes", 5}}, false},
    {"rocksdb-ribbon:capacity=5", {{"bytes", 69}, {"blocks", 0}}, true}, /* so few: Bloom */
    {"rocksdb-ribbon:capacity=5", {{"bytes", 85}, {"blocks", 0}}, false},
    {"rocksdb-ribbon:capacity=5", {{"bytes", 69}, {"seed", 1}}, false},
    {"rocksdb-ribbon:capacity=9999", {{"bytes", ((uint64_t)1 << 36) + 5}, {"seed", 0}}, true},
    {"squid:capacity=100", {{"capacity", 100}, {"bits_per_entry", 11}}, true},
    {"squid:capacity=100", {{"capacity", 100 + ((uint64_t)1 << 32)}, {"hashes", 4}}, false},
    {"squid:capacity=100", {{"bits_per_entry", 11 + ((uint64_t)1 << 32)}, {"hashes", 4}}, false},
};

static const tamis_kind *kind_of(const char *spec) {
    const tamis_entry *entry = tamis__kind_by_name(spec, strcspn(spec, ":"));
    assert_non_null(entry);
    return entry->kind;
}

static void set_word(const tamis_kind *kind, uint64_t word[], const change *c) {
    for (int i = 0; i < TAMIS_WORDS; i++)
        if (kind->word[i] && strcmp(kind->word[i], c->word) == 0) {
            word[i] = c->value;
            return;
        }
    fail_msg("%s has no word %s", kind->name, c->word);
}

static void shapes_have_their_limits(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const tamis_kind *kind = kind_of(shapes[i].spec);
        struct tamis_plan plan = TAMIS_PLAN_INIT;
        uint64_t size;
        REQUIRE_OK(tamis_plan_spec(shapes[i].spec, &plan));
        for (int c = 0; c < 2; c++) set_word(kind, plan.word, &shapes[i].changes[c]);
        const tamis_status rc = kind->check(plan.word, &size);
        if (rc != (shapes[i].is_legal ? TAMIS_OK : TAMIS_CORRUPT))
            fail_msg("row %zu: %s", i, rc ? tamis_why() : "let in");
    }
}

/* ---- Files of gigabytes ---------------------------------------------------------------------- */

/* Bytes at the start and at `end_at`, with untouched pages between. Readers are called directly:
 * the library would copy everything. */
#define GIB ((uint64_t)1 << 30)

static const struct {
    const char *format;
    int param; /* a parameter to pass, or -1, and its number */
    uint64_t number;
    const char *start;
    size_t start_size;
    uint64_t end_at, size;
    const char *end;
    size_t end_size;
    tamis_status status;
    const char *why;
} files[] = {
    {"cassandra", 0, 0, "\0\0\0\5\x7f\xff\xff\xff", 8, 0, 16 * GIB, "", 0, TAMIS_OK, ""},
    {"cassandra", 0, 0, "\0\0\0\5\x80\0\0\0", 8, 0, 16 * GIB + 8, "", 0, TAMIS_CORRUPT, "words"},
    {"guava", -1, 0, "\0\5\x7f\xff\xff\xff", 6, 0, 16 * GIB - 2, "", 0, TAMIS_OK, ""},
    {"guava", -1, 0, "\0\5\x80\0\0\0", 6, 0, 16 * GIB + 6, "", 0, TAMIS_CORRUPT, "words"},
    {"fps", -1, 0, "abx\n", 4, 0, 4 * GIB + 1, "", 0, TAMIS_CORRUPT,
     "a tab and the id must follow"},
    {"orc", 1, 1, "\n\x80\x80\x80\x80\x10", 6, 4 * GIB + 6, 4 * GIB + 20,
     "\n\x0c\x08\x05\x1a\x08\1\2\3\4\5\6\7\x08", 14, TAMIS_OK, ""},
    {"rocksdb-ribbon", -1, 0, "", 0, 64, 69, "\xff\0\x1e\0", 5, TAMIS_OK, ""},
    {"rocksdb-ribbon", -1, 0, "", 0, 64, 69, "\xff\0\x1f\0", 5, TAMIS_CORRUPT, "as a Bloom filter"},
};

static void lengths_have_64_bits(void **state) {
    (void)state;
    for (size_t i = 0; sizeof(size_t) > 4 && i < sizeof files / sizeof *files; i++) {
        const size_t size = (size_t)files[i].size;
        uint8_t *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        assert_ptr_not_equal(bytes, MAP_FAILED);
        memcpy(bytes, files[i].start, files[i].start_size);
        memcpy(bytes + files[i].end_at, files[i].end, files[i].end_size);
        const tamis_input in = {bytes, size, NULL};
        static tamis_format_args said;
        tamis_import_result out = {0};
        memset(&said, 0, sizeof said);
        if (files[i].param >= 0) {
            said.has[files[i].param] = true;
            said.number[files[i].param] = files[i].number;
        }
        const tamis_status rc = tamis__format_by_name(files[i].format)->read(&in, &said, &out);
        if (rc != files[i].status || !strstr(tamis_why(), files[i].why))
            fail_msg("row %zu, %s: %s", i, files[i].format, rc ? tamis_why() : "let in");
        assert_int_equal(munmap(bytes, size), 0);
    }
}

/* ---- Payloads -------------------------------------------------------------------------------- */

static const struct {
    const char *spec;
    unsigned keys;
    change words[2]; /* for shapes that no plan makes */
    size_t from, to; /* bytes set to `byte` */
    uint8_t byte;
    const char *why;
} payloads[] = {
    {"bits-and-blooms:capacity=100", 3, {{0}}, 16, 24, 0, "has the length 0"},
    {"datasketches:capacity=100", 0, {{0}}, 24, 25, 1, "0 bits are set, but the header says 1"},
    {"datasketches:capacity=100", 0, {{0}}, 32, 33, 1, "1 bits are set, but the header says 0"},
    {"cassandra:capacity=1", 0, {{"bits", 0}, {"hashes", 0}}, 0, 1, 1, "switched off"},
    {"cassandra:capacity=1", 0, {{"bits", 0}, {"hashes", 0}}, 2, 3, 1, "switched off"},
    {"cassandra:capacity=1", 0, {{"bits", 0}, {"hashes", 0}}, 7, 8, 1, "switched off"},
};

/* The filter before the change, in its own memory. */
static tamis_body body_of(size_t i, const tamis_kind *kind) {
    tamis_body body = {.kind = kind, .items = payloads[i].keys};
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    tamis *f;
    REQUIRE_OK(tamis_plan_spec(payloads[i].spec, &plan));
    memcpy(body.word, plan.word, sizeof body.word);
    for (int c = 0; c < 2 && payloads[i].words[c].word; c++)
        set_word(kind, body.word, &payloads[i].words[c]);
    REQUIRE_OK(kind->check(body.word, &body.size));
    body.bytes = calloc(1, (size_t)body.size);
    REQUIRE_OK(tamis_create(&f, payloads[i].spec));
    for (uint64_t key = 0; key < payloads[i].keys; key++) REQUIRE_OK(tamis_add_u64(f, key));
    if (!payloads[i].words[0].word) memcpy(body.bytes, tamis_payload(f, NULL), (size_t)body.size);
    tamis_free(f);
    return body;
}

static void payloads_agree_with_their_shape(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++) {
        const tamis_kind *kind = kind_of(payloads[i].spec);
        const tamis_body body = body_of(i, kind);
        REQUIRE_OK(kind->audit(&body));
        memset(body.bytes + payloads[i].from, payloads[i].byte, payloads[i].to - payloads[i].from);
        assert_int_equal(kind->audit(&body), TAMIS_CORRUPT);
        if (!strstr(tamis_why(), payloads[i].why)) fail_msg("row %zu: %s", i, tamis_why());
        free(body.bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_have_their_limits),
        cmocka_unit_test(lengths_have_64_bits),
        cmocka_unit_test(payloads_agree_with_their_shape),
    };
    return cmocka_run_group_tests_name("shapes", tests, NULL, NULL);
}
