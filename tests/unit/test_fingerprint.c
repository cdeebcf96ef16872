/* SPDX-License-Identifier: MIT */
/* fingerprint: searches against a slow oracle, and forged bytes. test_fps.c tests its text form. */
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
#include <sys/wait.h>
#include <unistd.h>

#include "cpu/cpu.h"
#include "tamis_special.h"
#include "tests/support/failing_allocator.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/require_ok.h"
#include "tests/support/seal.h"

/* ---- Fingerprints like those of molecules: families of many sizes ---------------------------- */

typedef struct table {
    uint64_t bits, bytes, rows;
    uint8_t *print;
} table;

enum { RELATIVES = 50 };

static double chance(uint64_t a, uint64_t b) {
    return (double)(test_number(a, b) >> 11) * 0x1p-53;
}

/* A family has 1 % to 30 % of its bits set; a relative lacks some of them and has a few others. */
static void draw(const table *t, uint64_t row, uint8_t *print) {
    const uint64_t family = row / RELATIVES;
    const double density = 0.01 + 0.29 * chance(50, family);
    const double change = 0.3 * chance(51, row);
    memset(print, 0, (size_t)t->bytes);
    for (uint64_t bit = 0; bit < t->bits; bit++) {
        const bool in_family = chance(52 + family, bit) < density;
        const double luck = chance(1000000 + row, bit);
        if (in_family ? luck >= change : luck < change * density)
            print[bit / 8] |= (uint8_t)(1 << bit % 8);
    }
}

static table drawn(uint64_t bits, uint64_t rows) {
    table t = {bits, (bits + 7) / 8, rows, NULL};
    t.print = malloc((size_t)(t.bytes * rows) + 1);
    for (uint64_t row = 0; row < rows; row++) draw(&t, row, t.print + row * t.bytes);
    return t;
}

static tamis *filter_of(const table *t) {
    tamis_fingerprints *maker;
    tamis *f;
    REQUIRE_OK(tamis_fingerprints_create(&maker, t->bits, NULL));
    for (uint64_t row = 0; row < t->rows; row++) {
        char id[32];
        const int len = snprintf(id, sizeof id, "row %llu", (unsigned long long)row);
        REQUIRE_OK(tamis_fingerprints_add(maker, id, (size_t)len, t->print + row * t->bytes,
                                          (size_t)t->bytes));
    }
    REQUIRE_OK(tamis_fingerprints_finish(maker, &f));
    tamis_fingerprints_free(maker);
    return f;
}

/* ---- The oracle: every row, bit by bit ------------------------------------------------------- */

typedef struct truth {
    uint32_t *common, *either;
} truth;

static truth truth_of(const table *t, const uint8_t *query) {
    uint8_t ones[256] = {0};
    for (int i = 1; i < 256; i++) ones[i] = (uint8_t)(ones[i / 2] + i % 2);
    truth all = {calloc(t->rows + 1, 4), calloc(t->rows + 1, 4)};
    for (uint64_t row = 0; row < t->rows; row++)
        for (uint64_t i = 0; i < t->bytes; i++) {
            const uint8_t byte = t->print[row * t->bytes + i];
            all.common[row] += ones[byte & query[i]];
            all.either[row] += ones[byte | query[i]];
        }
    return all;
}

static double similarity(const truth *all, uint64_t row) {
    return all->either[row] ? (double)all->common[row] / all->either[row] : 1;
}

/* Rows that a search returned, each once. */
typedef struct given {
    const truth *all;
    uint8_t *seen;
    uint64_t n;
} given;

static bool note(void *ctx, const struct tamis_match *match) {
    given *g = ctx;
    assert_int_equal(g->seen[match->row], 0);
    assert_int_equal(match->common, g->all->common[match->row]);
    assert_int_equal(match->either, g->all->either[match->row]);
    assert_true(match->similarity == similarity(g->all, match->row));
    g->seen[match->row] = 1;
    g->n++;
    return true;
}

static void check_similar(const tamis *f, const table *t, const uint8_t *query, const truth *all) {
    for (int percent = 0; percent <= 100; percent += percent < 30 ? 30 : 5) {
        given g = {all, calloc(t->rows + 1, 1), 0};
        struct tamis_search_stats searched;
        const double min = percent / 100.0;
        REQUIRE_OK(
            tamis_fingerprints_similar(f, query, (size_t)t->bytes, min, note, &g, &searched));
        for (uint64_t row = 0; row < t->rows; row++)
            assert_int_equal(g.seen[row], similarity(all, row) >= min);
        assert_int_equal(searched.rows_compared + searched.rows_skipped + searched.rows_folded,
                         t->rows);
        assert_true(searched.rows_compared >= g.n);
        free(g.seen);
    }
}

static void check_screen(const tamis *f, const table *t, const uint8_t *query, const truth *all) {
    given g = {all, calloc(t->rows + 1, 1), 0};
    struct tamis_search_stats searched;
    REQUIRE_OK(tamis_fingerprints_screen(f, query, (size_t)t->bytes, note, &g, &searched));
    for (uint64_t row = 0; row < t->rows; row++) {
        bool is_inside = true;
        for (uint64_t i = 0; i < t->bytes; i++)
            is_inside = is_inside && (query[i] & ~t->print[row * t->bytes + i]) == 0;
        assert_int_equal(g.seen[row], is_inside);
    }
    assert_int_equal(searched.rows_compared + searched.rows_skipped + searched.rows_folded,
                     t->rows);
    free(g.seen);
}

static const truth *sorted_by;

static int best_first(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    const double s = similarity(sorted_by, x), z = similarity(sorted_by, y);
    return s != z ? (s < z) - (s > z) : (x > y) - (x < y);
}

static void check_nearest(const tamis *f, const table *t, const uint8_t *query, const truth *all) {
    static const size_t rooms[] = {0, 1, 2, 10, 1000};
    uint64_t *order = malloc((size_t)(t->rows + 1) * sizeof *order);
    struct tamis_match *match = malloc(1000 * sizeof *match);
    for (uint64_t row = 0; row < t->rows; row++) order[row] = row;
    sorted_by = all;
    qsort(order, (size_t)t->rows, sizeof *order, best_first);
    for (size_t i = 0; i < 2 * sizeof rooms / sizeof *rooms; i++) {
        const size_t room = rooms[i / 2];
        const double min = i % 2 ? 0.4 : 0;
        size_t found, want = 0;
        struct tamis_search_stats searched;
        REQUIRE_OK(tamis_fingerprints_nearest(f, query, (size_t)t->bytes, min, match, room, &found,
                                              &searched));
        while (want < room && want < t->rows && similarity(all, order[want]) >= min) want++;
        assert_int_equal(found, want);
        for (size_t j = 0; j < found; j++) assert_int_equal(match[j].row, order[j]);
        assert_int_equal(searched.rows_compared + searched.rows_skipped + searched.rows_folded,
                         t->rows);
    }
    free(order);
    free(match);
}

static void check_query(const tamis *f, const table *t, const uint8_t *query) {
    const truth all = truth_of(t, query);
    check_similar(f, t, query, &all);
    check_screen(f, t, query, &all);
    check_nearest(f, t, query, &all);
    free(all.common);
    free(all.either);
}

static void check_rows(const tamis *f, const table *t) {
    assert_int_equal(tamis_fingerprint_count(f), t->rows);
    assert_int_equal(tamis_fingerprint_bits(f), t->bits);
    for (uint64_t row = 0; row < t->rows; row++) {
        char id[32];
        const void *print;
        snprintf(id, sizeof id, "row %llu", (unsigned long long)row);
        assert_string_equal(tamis_fingerprint_at(f, row, &print), id);
        assert_memory_equal(print, t->print + row * t->bytes, t->bytes);
    }
    assert_null(tamis_fingerprint_at(f, t->rows, NULL));
}

static void as_the_oracle(void **state) {
    (void)state;
    const uint64_t rows = getenv("TAMIS_QUICK") ? 5000 : 100000, queries = 6;
    const table t = drawn(640, rows);
    tamis *f = filter_of(&t);
    check_rows(f, &t);
    for (uint64_t i = 0; i < queries; i++) {
        uint8_t query[80];
        memcpy(query, t.print + (i * 7919 % rows) * t.bytes, sizeof query);
        if (i % 3 == 1) draw(&t, rows + i, query); /* not in the table */
        for (uint64_t j = 0; i % 3 == 2 && j < sizeof query; j++)
            query[j] &= (uint8_t)test_number(60, j); /* a part of a row */
        check_query(f, &t, query);
    }
    tamis_free(f);
    free(t.print);
}

/* Various widths, including Open Babel's: 55, 166, 307, 1021; the same on every CPU. */
static void any_width(void **state) {
    (void)state;
    static const uint64_t widths[] = {1,   7,   8,   55,  63,   64,   65,
                                      166, 307, 511, 513, 1021, 4096, 65536};
    static const uint32_t features[] = {0, TAMIS_CPU_AVX2, TAMIS_CPU_ALL};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        const table t = drawn(widths[i], widths[i] > 5000 ? 12 : 300);
        tamis *f = filter_of(&t);
        check_rows(f, &t);
        for (size_t j = 0; j < sizeof features / sizeof *features; j++) {
            tamis__cpu_set(features[j]);
            uint8_t *none = calloc(1, (size_t)t.bytes), *full = calloc(1, (size_t)t.bytes);
            for (uint64_t bit = 0; bit < t.bits; bit++) full[bit / 8] |= (uint8_t)(1 << bit % 8);
            check_query(f, &t, none);
            check_query(f, &t, full);
            check_query(f, &t, t.print + 5 * t.bytes);
            free(none);
            free(full);
        }
        tamis__cpu_set(TAMIS_CPU_ALL);
        tamis_free(f);
        free(t.print);
    }
}

/* ---- By hand --------------------------------------------------------------------------------- */

static bool count_match(void *ctx, const struct tamis_match *match) {
    (void)match;
    ++*(int *)ctx;
    return true;
}

static int count_similar(const tamis *f, const void *query, size_t bytes, double min) {
    int n = 0;
    REQUIRE_OK(tamis_fingerprints_similar(f, query, bytes, min, count_match, &n, NULL));
    return n;
}

/* The first `set` of 24 bits. */
static const uint8_t *first_bits(unsigned set) {
    static uint8_t print[3];
    for (unsigned i = 0; i < 3; i++)
        print[i] = (uint8_t)(set >= 8 * i + 8 ? 255 : set > 8 * i ? (1 << (set - 8 * i)) - 1 : 0);
    return print;
}

/* p of q bits are found at p/q, whatever the fraction, and not at the next double. */
static void equality_counts(void **state) {
    (void)state;
    for (unsigned q = 1; q <= 24; q++)
        for (unsigned p = 0; p <= q; p++) {
            tamis_fingerprints *maker;
            tamis *f;
            REQUIRE_OK(tamis_fingerprints_create(&maker, 24, NULL));
            REQUIRE_OK(tamis_fingerprints_add(maker, "", 0, first_bits(q), 3));
            REQUIRE_OK(tamis_fingerprints_finish(maker, &f));
            tamis_fingerprints_free(maker);
            const double s = (double)p / q;
            assert_int_equal(count_similar(f, first_bits(p), 3, s), 1);
            if (p < q) assert_int_equal(count_similar(f, first_bits(p), 3, nextafter(s, 2)), 0);
            tamis_free(f);
        }
}

static void nothing_is_like_nothing(void **state) {
    (void)state;
    tamis_fingerprints *maker;
    tamis *f;
    struct tamis_match match[3];
    size_t found;
    REQUIRE_OK(tamis_fingerprints_create(&maker, 24, NULL));
    REQUIRE_OK(tamis_fingerprints_add(maker, "five", 4, first_bits(5), 3));
    REQUIRE_OK(tamis_fingerprints_add(maker, "none", 4, first_bits(0), 3));
    REQUIRE_OK(tamis_fingerprints_add(maker, "none", 4, first_bits(0), 3));
    REQUIRE_OK(tamis_fingerprints_finish(maker, &f));
    tamis_fingerprints_free(maker);
    assert_int_equal(count_similar(f, first_bits(0), 3, 1), 2);
    assert_int_equal(count_similar(f, first_bits(0), 3, 0), 3);
    REQUIRE_OK(tamis_fingerprints_nearest(f, first_bits(0), 3, 0, match, 3, &found, NULL));
    assert_int_equal(found, 3);
    assert_int_equal(match[0].row, 1);
    assert_int_equal(match[1].row, 2);
    assert_int_equal(match[2].row, 0);
    tamis_free(f);
}

static bool stop(void *ctx, const struct tamis_match *match) {
    (void)ctx;
    (void)match;
    return false;
}

static void without_rows(void **state) {
    (void)state;
    tamis *f = test_make("fingerprint:width=24");
    char spec[64];
    tamis_spec(f, spec, sizeof spec);
    assert_string_equal(spec, "fingerprint:width=24");
    assert_int_equal(tamis_fingerprint_count(f), 0);
    assert_int_equal(count_similar(f, first_bits(3), 3, 0), 0);
    assert_true(tamis_has(f, "any", 3)); /* a sketch has no keys */
    assert_int_equal(tamis_add(f, "any", 3), TAMIS_UNSUPPORTED);
    assert_false(test_info(f).is_saturated);
    tamis_free(f);
}

static void refused(void **state) {
    (void)state;
    tamis_fingerprints *maker;
    tamis *f, *other = test_make("classic:capacity=10");
    struct tamis_match match;
    size_t found;
    int n = 0;
    assert_int_equal(tamis_fingerprints_create(&maker, 0, NULL), TAMIS_INVALID);
    assert_null(maker);
    assert_int_equal(tamis_fingerprints_create(&maker, 65537, NULL), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "65537"));
    REQUIRE_OK(tamis_fingerprints_create(&maker, 20, NULL));
    assert_int_equal(tamis_fingerprints_add(maker, "a", 1, first_bits(5), 2), TAMIS_INVALID);
    assert_int_equal(tamis_fingerprints_add(maker, "a", 1, first_bits(21), 3), TAMIS_INVALID);
    assert_int_equal(tamis_fingerprints_add(maker, "a\tb", 3, first_bits(5), 3), TAMIS_INVALID);
    assert_int_equal(tamis_fingerprints_add(maker, "", 1, first_bits(5), 3), TAMIS_INVALID);
    REQUIRE_OK(tamis_fingerprints_add(maker, "a", 1, first_bits(20), 3));
    REQUIRE_OK(tamis_fingerprints_finish(maker, &f));
    tamis_fingerprints_free(maker);
    tamis_fingerprints_free(NULL);
    assert_int_equal(tamis_fingerprint_count(f), 1);
    const double bad[] = {-0.1, 1.1, NAN};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(
            tamis_fingerprints_similar(f, first_bits(1), 3, bad[i], count_match, &n, NULL),
            TAMIS_INVALID);
        assert_int_equal(
            tamis_fingerprints_nearest(f, first_bits(1), 3, bad[i], &match, 1, &found, NULL),
            TAMIS_INVALID);
        assert_int_equal(found, 0);
    }
    assert_int_equal(tamis_fingerprints_screen(f, first_bits(1), 2, count_match, &n, NULL),
                     TAMIS_INVALID);
    assert_int_equal(tamis_fingerprints_screen(f, first_bits(22), 3, count_match, &n, NULL),
                     TAMIS_INVALID);
    assert_int_equal(tamis_fingerprints_screen(f, first_bits(1), 3, stop, &n, NULL),
                     TAMIS_CANCELLED);
    assert_int_equal(tamis_fingerprints_similar(f, first_bits(1), 3, 0, stop, &n, NULL),
                     TAMIS_CANCELLED);
    assert_int_equal(tamis_fingerprints_screen(other, first_bits(1), 3, stop, &n, NULL),
                     TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_fingerprint_bits(other), 0);
    assert_null(tamis_fingerprint_at(other, 0, NULL));
    tamis_free(f);
    tamis_free(other);
}

/* Texts with most words in common have fingerprints with about the same share of bits in common. */
static void prints_of_words(void **state) {
    (void)state;
    uint8_t a[256] = {0}, b[256] = {0};
    tamis_fingerprints *maker;
    tamis *f;
    struct tamis_match match;
    size_t found;
    for (uint64_t i = 0; i < 90; i++) { /* 60 words of 90 are in both */
        if (i < 75) tamis_fingerprint_feature(a, 2048, 2, &i, sizeof i);
        if (i >= 15) tamis_fingerprint_feature(b, 2048, 2, &i, sizeof i);
    }
    REQUIRE_OK(tamis_fingerprints_create(&maker, 2048, NULL));
    REQUIRE_OK(tamis_fingerprints_add(maker, "a", 1, a, sizeof a));
    REQUIRE_OK(tamis_fingerprints_finish(maker, &f));
    tamis_fingerprints_free(maker);
    REQUIRE_OK(tamis_fingerprints_nearest(f, b, sizeof b, 0, &match, 1, &found, NULL));
    assert_true(match.either > 150 && match.either <= 180);
    assert_true(fabs(match.similarity - 60.0 / 90) < 0.05);
    uint8_t part[256] = {0};
    for (uint64_t i = 10; i < 20; i++) tamis_fingerprint_feature(part, 2048, 2, &i, sizeof i);
    int n = 0;
    REQUIRE_OK(tamis_fingerprints_screen(f, part, sizeof part, count_match, &n, NULL));
    assert_int_equal(n, 1);
    tamis_fingerprint_feature(part, 0, 3, "x", 1); /* no bits to set */
    tamis_free(f);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* Whatever is accepted can be searched and read. */
static void use(const tamis *f) {
    const uint64_t bytes = (tamis_fingerprint_bits(f) + 7) / 8;
    uint8_t *query = calloc(1, (size_t)bytes);
    int n = 0;
    struct tamis_match match[4];
    size_t found;
    query[0] = 1;
    REQUIRE_OK(tamis_fingerprints_similar(f, query, (size_t)bytes, 0.2, count_match, &n, NULL));
    REQUIRE_OK(tamis_fingerprints_nearest(f, query, (size_t)bytes, 0, match, 4, &found, NULL));
    REQUIRE_OK(tamis_fingerprints_screen(f, query, (size_t)bytes, count_match, &n, NULL));
    for (uint64_t row = 0; row < tamis_fingerprint_count(f); row++) {
        const void *print;
        const char *id = tamis_fingerprint_at(f, row, &print);
        n += (int)strlen(id) + ((const uint8_t *)print)[bytes - 1];
    }
    free(query);
}

static void as_bytes(void **state) {
    (void)state;
    const table t = drawn(166, 200);
    tamis *f = filter_of(&t), *g;
    size_t size;
    uint8_t *image = test_image(f, &size), *room = malloc(size + 64);
    for (size_t shift = 0; shift < 17; shift++) {
        memcpy(room + shift, image, size);
        REQUIRE_OK(tamis_view(&g, room + shift, size));
        check_rows(g, &t);
        check_query(g, &t, t.print + 9 * t.bytes);
        tamis_free(g);
    }
    REQUIRE_OK(tamis_load(&g, image, size));
    size_t again_size;
    uint8_t *again = test_image(g, &again_size);
    assert_int_equal(size, again_size);
    assert_memory_equal(image, again, size);
    tamis_free(g);
    REQUIRE_OK(tamis_copy(&g, f));
    check_rows(g, &t);
    tamis_free(g);
    tamis_free(f);
    free(again);
    free(image);
    free(room);
    free(t.print);
}

/* The image ends where an inaccessible page begins. */
static void reads_stay_inside(void **state) {
    (void)state;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (uint64_t bits = 1; bits < 600; bits += 37) {
        const table t = drawn(bits, 70);
        tamis *f = filter_of(&t), *g;
        const size_t size = (size_t)tamis_image_size(f), pages = (size / page + 1) * page;
        uint8_t *map =
            mmap(NULL, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(map != MAP_FAILED && mprotect(map + pages, page, PROT_NONE) == 0);
        REQUIRE_OK(tamis_serialize(f, map + pages - size, size));
        REQUIRE_OK(tamis_view(&g, map + pages - size, size));
        use(g);
        check_query(g, &t, t.print);
        tamis_free(g);
        tamis_free(f);
        munmap(map, pages + page);
        free(t.print);
    }
}

/* Flips every bit of an image, with the old checksums and with valid ones: the payload has one
 * form, so that no flip passes. */
static void every_bit_counts(void **state) {
    (void)state;
    const table t = drawn(70, 9);
    tamis *f = filter_of(&t), *g;
    const uint64_t payload = test_info(f).payload_bytes;
    size_t size, let_in = 0;
    uint8_t *image = test_image(f, &size);
    for (size_t i = 0; i < size * 8; i++) {
        image[i / 8] ^= (uint8_t)(1 << i % 8);
        assert_int_not_equal(tamis_load(&g, image, size), TAMIS_OK);
        if (i / 8 >= TEST_HEADER_BYTES && i / 8 < TEST_HEADER_BYTES + payload)
            let_in += test_load_resealed(image, size, use) == TAMIS_OK;
        image[i / 8] ^= (uint8_t)(1 << i % 8);
        test_reseal(image, size);
    }
    /* Except in the letters of ids, which may be anything. */
    uint64_t letters = 0;
    for (uint64_t row = 0; row < t.rows; row++)
        letters += strlen(tamis_fingerprint_at(f, row, NULL));
    assert_true(let_in > 0 && let_in <= letters * 8);
    for (size_t n = 0; n < size; n++) assert_int_not_equal(tamis_load(&g, image, n), TAMIS_OK);
    static const test_word words[] = {{0, 0},          {0, 71}, {0, 65537}, {0, UINT64_MAX},
                                      {1, 0},          {1, 8},  {1, 10},    {1, (uint64_t)1 << 32},
                                      {1, UINT64_MAX}, {2, 0},  {2, 8},     {2, UINT64_MAX},
                                      {2, 1},          {3, 1},  {0, 69}};
    assert_true(test_refuses_words(f, words, sizeof words / sizeof *words, use));
    assert_true(test_flip_bits(f, 2000, use) < 2000);
    tamis_free(f);
    free(image);
    free(t.print);
}

/* Each allocation fails in turn. */
static void without_memory(void **state) {
    (void)state;
    const table t = drawn(100, 40);
    for (long fail_at = 1;; fail_at++) {
        test_failing_allocator failing = {.fail_at = fail_at};
        const struct tamis_allocator allocator = test_allocator(&failing);
        const struct tamis_options options = {.struct_size = sizeof options,
                                              .allocator = &allocator};
        tamis_fingerprints *maker;
        tamis *f = NULL;
        tamis_status rc = tamis_fingerprints_create(&maker, t.bits, &options);
        for (uint64_t row = 0; !rc && row < t.rows; row++)
            rc = tamis_fingerprints_add(maker, "id", 2, t.print + row * t.bytes, (size_t)t.bytes);
        if (!rc) rc = tamis_fingerprints_finish(maker, &f);
        tamis_fingerprints_free(maker);
        if (!rc) use(f);
        assert_true(rc == TAMIS_NOMEM ? f == NULL : rc == TAMIS_OK);
        tamis_free(f);
        assert_int_equal(failing.blocks, 0);
        if (!rc) break;
        assert_true(fail_at < 100);
    }
    free(t.print);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_oracle),     cmocka_unit_test(any_width),
        cmocka_unit_test(equality_counts),   cmocka_unit_test(nothing_is_like_nothing),
        cmocka_unit_test(without_rows),      cmocka_unit_test(refused),
        cmocka_unit_test(prints_of_words),   cmocka_unit_test(as_bytes),
        cmocka_unit_test(reads_stay_inside), cmocka_unit_test(every_bit_counts),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
