/* SPDX-License-Identifier: MIT */
/* hierarchical: excerpts are found at every offset, false ones are as rare as the formula says, and
 * the bytes are those of docs/format.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis.h"
#include "tamis_engine.h"
#include "tamis_special.h"
#include "tests/support/bounds.h"
#include "tests/support/contents.h"
#include "tests/support/failing_allocator.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/require_ok.h"
#include "tests/support/seal.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* ---- Help ----------------------------------------------------------------------------------- */

static uint8_t *random_bytes(uint64_t family, size_t len) {
    uint8_t *bytes = malloc(len + 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < len; i++) bytes[i] = (uint8_t)test_number(family, i);
    return bytes;
}

/* What a trace reported: counts by number of blocks, the first place, and whether in order. */
enum { MAX_BLOCKS = 64 };
typedef struct seen {
    uint64_t n, with_blocks[MAX_BLOCKS], last_offset;
    struct tamis_traced first;
    size_t last_flow;
    bool is_out_of_order;
    uint64_t stop_after; /* 0: never */
} seen;

static bool listen(void *ctx, const struct tamis_traced *traced) {
    seen *t = ctx;
    if (t->n++ == 0) t->first = *traced;
    t->with_blocks[traced->blocks < MAX_BLOCKS ? traced->blocks : 0]++;
    if (t->n > 1 && (traced->offset < t->last_offset ||
                     (traced->offset == t->last_offset && traced->flow <= t->last_flow)))
        t->is_out_of_order = true;
    t->last_offset = traced->offset;
    t->last_flow = traced->flow;
    return t->n != t->stop_after;
}

static seen trace(const tamis *f, const void *excerpt, size_t len, const struct tamis_key *flows,
                  size_t flow_count) {
    seen t = {0};
    REQUIRE_OK(tamis_trace(f, excerpt, len, flows, flow_count, UINT64_MAX, listen, &t));
    assert_false(t.is_out_of_order);
    return t;
}

/* The number of whole blocks of all sizes in [at, at + len), counted one by one. */
static uint64_t blocks_in(uint64_t at, uint64_t len, uint64_t block, unsigned levels) {
    uint64_t n = 0;
    for (unsigned l = 0; l < levels; l++)
        for (uint64_t from = 0, size = block << l; from + size <= at + len; from += size)
            n += from >= at;
    return n;
}

/* ---- Finding -------------------------------------------------------------------------------- */

/* Every excerpt that is long enough, of payloads of every length around block boundaries. */
static void every_excerpt_at_every_place(void **state) {
    (void)state;
    enum { BLOCK = 8, MIN = 2 * BLOCK - 1, MAX = 100 };
    uint8_t *bytes = random_bytes(1, MAX);
    const struct tamis_key flow = {"flow", 4};
    for (size_t len = MIN; len <= MAX; len += len < 40 ? 1 : 7) {
        tamis *f = test_make("hierarchical:capacity=100,fpr=1e-9,block=%d,levels=3", BLOCK);
        REQUIRE_OK(tamis_record(f, flow.bytes, flow.len, 0, bytes, len));
        for (size_t at = 0; at + MIN <= len; at++)
            for (size_t n = MIN; at + n <= len; n++) {
                const seen t = trace(f, bytes + at, n, &flow, 1);
                assert_int_equal(t.n, 1);
                assert_int_equal(t.first.flow, 0);
                assert_int_equal(t.first.offset, at);
                assert_int_equal(t.first.blocks, blocks_in(at, n, BLOCK, 3));
            }
        tamis_free(f);
    }
    free(bytes);
}

static void the_right_flow_is_named(void **state) {
    (void)state;
    enum { FLOWS = 50, LEN = 700 };
    tamis *f = test_make("hierarchical:capacity=10000,fpr=1e-6,block=32,hash=sip13");
    uint8_t *bytes[FLOWS];
    char name[FLOWS][8];
    struct tamis_key flows[FLOWS + 1] = {{"stranger", 8}};
    for (size_t i = 0; i < FLOWS; i++) {
        bytes[i] = random_bytes(100 + i, LEN);
        flows[i + 1] =
            (struct tamis_key){name[i], (size_t)snprintf(name[i], sizeof name[i], "f%zu", i)};
        REQUIRE_OK(tamis_record(f, flows[i + 1].bytes, flows[i + 1].len, 0, bytes[i], LEN));
    }
    for (size_t i = 0; i < FLOWS; i++) {
        const seen t = trace(f, bytes[i] + 3 * i, 200, flows, FLOWS + 1);
        assert_int_equal(t.n, 1);
        assert_int_equal(t.first.flow, i + 1);
        assert_int_equal(t.first.offset, 3 * i);
        const seen bare = trace(f, bytes[i] + 3 * i, 200, NULL, 0);
        assert_int_equal(bare.n, 1);
        assert_true(bare.first.flow == SIZE_MAX);
    }
    /* One payload in two flows, and twice in one of them. */
    REQUIRE_OK(tamis_record(f, "f0", 2, 0, bytes[1], LEN));
    REQUIRE_OK(tamis_record(f, "f0", 2, 5120, bytes[1], LEN));
    const seen t = trace(f, bytes[1] + 100, 300, flows, FLOWS + 1);
    assert_int_equal(t.n, 3);
    assert_int_equal(t.first.flow, 1);
    assert_int_equal(t.last_offset, 5220);
    for (size_t i = 0; i < FLOWS; i++) free(bytes[i]);
    tamis_free(f);
}

/* A payload recorded without a flow has an offset but no flow. */
static void without_a_flow(void **state) {
    (void)state;
    uint8_t *bytes = random_bytes(2, 1000);
    const struct tamis_key flows[] = {{"a", 1}, {"", 0}};
    tamis *f = test_make("hierarchical:capacity=1000,fpr=1e-9");
    REQUIRE_OK(tamis_record(f, NULL, 0, 0, bytes, 1000));
    assert_int_equal(trace(f, bytes + 99, 300, flows, 2).n, 0);
    assert_int_equal(trace(f, bytes + 99, 300, NULL, 0).n, 1);
    REQUIRE_OK(tamis_record(f, "", 0, 0, bytes, 1000)); /* an empty name is a name */
    const seen t = trace(f, bytes + 99, 300, flows, 2);
    assert_int_equal(t.n, 1);
    assert_int_equal(t.first.flow, 1);
    free(bytes);
    tamis_free(f);
}

/* Blocks of two payloads, mixed: larger blocks show that they were never neighbours. */
static void levels_know_neighbours(void **state) {
    (void)state;
    enum { BLOCK = 16, LEN = 8 * BLOCK };
    uint8_t *a = random_bytes(3, LEN), *b = random_bytes(4, LEN), mixed[LEN];
    for (size_t i = 0; i < LEN; i++) mixed[i] = (i / BLOCK % 2 ? a : b)[i];
    for (int levels = 1; levels <= 2; levels++) {
        tamis *f = test_make("hierarchical:capacity=1000,fpr=1e-9,block=16,levels=%d", levels);
        REQUIRE_OK(tamis_record(f, NULL, 0, 0, a, LEN));
        REQUIRE_OK(tamis_record(f, NULL, 0, 0, b, LEN));
        assert_int_equal(trace(f, mixed, LEN, NULL, 0).n, levels == 1);
        tamis_free(f);
    }
    free(a);
    free(b);
}

/* ---- Pieces --------------------------------------------------------------------------------- */

static void pieces_are_the_whole(void **state) {
    (void)state;
    enum { LEN = 10000, UNIT = 16 << 2 };
    uint8_t *bytes = random_bytes(5, LEN);
    tamis *whole = test_make("hierarchical:capacity=5000,block=16,levels=3");
    REQUIRE_OK(tamis_record(whole, "f", 1, 0, bytes, LEN));
    for (uint64_t round = 0; round < 20; round++) {
        tamis *f = test_make("hierarchical:capacity=5000,block=16,levels=3");
        for (size_t at = 0, n; at < LEN; at += n) {
            n = UNIT * (1 + (size_t)(test_number(round, at) % 9));
            if (n > LEN - at) n = LEN - at;
            REQUIRE_OK(tamis_record(f, "f", 1, at, bytes + at, n));
        }
        assert_true(test_is_same_payload(f, whole));
        assert_int_equal(test_info(f).items, test_info(whole).items);
        tamis_free(f);
    }
    /* Cut elsewhere, only the blocks that are cut are missing. */
    tamis *f = test_make("hierarchical:capacity=5000,fpr=1e-9,block=16,levels=3");
    REQUIRE_OK(tamis_record(f, NULL, 0, 0, bytes, 1000));
    REQUIRE_OK(tamis_record(f, NULL, 0, 1000, bytes + 1000, LEN - 1000));
    assert_int_equal(trace(f, bytes + 500, 400, NULL, 0).n, 1);
    assert_int_equal(trace(f, bytes + 1100, 400, NULL, 0).n, 1);
    assert_int_equal(trace(f, bytes + 900, 400, NULL, 0).n, 0);
    tamis_free(f);
    tamis_free(whole);
    free(bytes);
}

/* The hash of a block, computed independently from docs/format.md. */
static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53;
    return x ^ x >> 33;
}

static void blocks_are_those_of_the_format(void **state) {
    (void)state;
    enum { LEN = 1000, BLOCK = 24, LEVELS = 3 };
    uint8_t *bytes = random_bytes(6, LEN);
    static const char *const hashes[] = {"xxh3", "xxh64"};
    for (size_t h = 0; h < COUNT_OF(hashes); h++) {
        tamis *f = test_make("hierarchical:capacity=1000,block=24,levels=3,hash=%s", hashes[h]);
        tamis *g = test_copy(f);
        REQUIRE_OK(tamis_record(f, "me", 2, 0, bytes, LEN));
        const uint64_t flow = tamis_hash(g, "me", 2);
        for (uint64_t l = 0; l < LEVELS; l++)
            for (uint64_t i = 0; (i + 1) * (BLOCK << l) <= LEN; i++) {
                const uint64_t content = tamis_hash(g, bytes + i * (BLOCK << l), BLOCK << l);
                const uint64_t place = mix(mix(content + (l + 1) * 0x9e3779b97f4a7c15) + i);
                REQUIRE_OK(tamis_add_hash(g, place));
                REQUIRE_OK(tamis_add_hash(g, mix(place + flow)));
            }
        /* sets how far payloads reach, and nothing else */
        REQUIRE_OK(tamis_record(g, NULL, 0, LEN - 1, "x", 1));
        assert_true(test_is_same_payload(f, g));
        assert_int_equal(test_info(f).items, test_info(g).items);
        tamis_free(f);
        tamis_free(g);
    }
    free(bytes);
}

/* ---- False attributions --------------------------------------------------------------------- */

/* A filter with a rate of about `fpr`, full of random hashes, whose payloads seem to reach far. */
static tamis *noisy(double fpr, unsigned block, unsigned levels, uint64_t longest) {
    tamis *f =
        test_make("hierarchical:capacity=20000,fpr=%g,block=%u,levels=%u", fpr, block, levels);
    for (uint64_t i = 0; i < 20000; i++) REQUIRE_OK(tamis_add_hash(f, test_number(9, i)));
    REQUIRE_OK(tamis_record(f, NULL, 0, longest - 1, "x", 1));
    return f;
}

static void assert_possible(uint64_t hits, uint64_t probes, double rate, const char *what) {
    if (!test_is_possible(hits, probes, rate, TEST_ALPHA))
        fail_msg("%s: %llu of %llu, expected %.6g", what, (unsigned long long)hits,
                 (unsigned long long)probes, rate * (double)probes);
}

/* At a false place all n blocks, of all levels, are false positives: f^n, two-sided, for each n. */
static void false_places_are_as_rare_as_expected(void **state) {
    (void)state;
    static const struct {
        unsigned block, levels;
        size_t len;
    } cases[] = {{16, 1, 31}, {16, 1, 47}, {16, 2, 48}, {16, 4, 70}, {64, 4, 130}, {8, 4, 30}};
    for (size_t c = 0; c < COUNT_OF(cases); c++) {
        const unsigned block = cases[c].block, levels = cases[c].levels;
        const uint64_t period = (uint64_t)block << (levels - 1), places = 40 * period * 16 / block;
        tamis *f = noisy(0.3, block, levels, places + cases[c].len - 1);
        const double fpr = tamis_fpr_now(f);
        uint64_t with[MAX_BLOCKS] = {0}, got[MAX_BLOCKS] = {0}, all = 0;
        double expected = 0;
        enum { EXCERPTS = 40 };
        for (uint64_t at = 0; at < places; at++)
            with[blocks_in(at % period + period, cases[c].len, block, levels)] += EXCERPTS;
        for (uint64_t e = 0; e < EXCERPTS; e++) {
            uint8_t *excerpt = random_bytes(1000 + e, cases[c].len);
            const seen t = trace(f, excerpt, cases[c].len, NULL, 0);
            for (int n = 0; n < MAX_BLOCKS; n++) got[n] += t.with_blocks[n];
            all += t.n;
            free(excerpt);
        }
        for (int n = 0; n < MAX_BLOCKS; n++) {
            assert_possible(got[n], with[n], pow(fpr, n), "places with one number of blocks");
            expected += (double)with[n] * pow(fpr, n);
        }
        const double formula = EXCERPTS * tamis_false_traces(f, cases[c].len, 0, UINT64_MAX);
        print_message("# block %u, levels %u, %zu bytes: %llu false, %.1f expected\n", block,
                      levels, cases[c].len, (unsigned long long)all, formula);
        assert_true(fabs(formula / expected - 1) < 1e-9);
        assert_true(all > 0);
        tamis_free(f);
    }
}

/* At the place where one flow had the excerpt, a share of f^n of the other flows is named too. */
static void false_flows_are_as_rare_as_expected(void **state) {
    (void)state;
    enum { FLOWS = 20000, BLOCK = 64, LEN = 192 };
    tamis *f = noisy(0.3, BLOCK, 2, 1000);
    uint8_t *bytes = random_bytes(7, 1000);
    struct tamis_key *flows = calloc(FLOWS, sizeof *flows);
    uint64_t *names = calloc(FLOWS, sizeof *names);
    for (uint64_t i = 0; i < FLOWS; i++) {
        names[i] = test_number(8, i);
        flows[i] = (struct tamis_key){&names[i], sizeof names[i]};
    }
    REQUIRE_OK(tamis_record(f, flows[77].bytes, flows[77].len, 0, bytes, 1000));
    seen t = {0};
    REQUIRE_OK(tamis_trace(f, bytes + 128, LEN, flows, FLOWS, 128, listen, &t));
    const uint64_t n = blocks_in(128, LEN, BLOCK, 2); /* 3 + 1 */
    const double fpr = tamis_fpr_now(f);
    assert_int_equal(n, 4);
    assert_possible(t.with_blocks[n] - 1, FLOWS - 1, pow(fpr, (double)n), "flows");
    /* For an excerpt never recorded, both place and flow must be false positives. */
    const double one = tamis_false_traces(f, LEN, 0, UINT64_MAX),
                 many = tamis_false_traces(f, LEN, FLOWS, UINT64_MAX);
    assert_true(many > 0 && many < one * FLOWS * fpr * fpr);
    free(flows);
    free(names);
    free(bytes);
    tamis_free(f);
}

/* ---- Limits --------------------------------------------------------------------------------- */

static void too_short_is_refused(void **state) {
    (void)state;
    tamis *f = test_make("hierarchical:capacity=100,block=32");
    tamis *other = test_make("classic:capacity=100");
    seen t = {0};
    uint8_t *bytes = random_bytes(10, 500);
    assert_int_equal(tamis_trace(f, bytes, 62, NULL, 0, UINT64_MAX, listen, &t), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "62 bytes"));
    assert_non_null(strstr(tamis_why(), "at least 63"));
    assert_true(isnan(tamis_false_traces(f, 62, 0, UINT64_MAX)));
    assert_int_equal(trace(f, bytes, 63, NULL, 0).n, 0); /* nothing was recorded yet */
    assert_true(tamis_false_traces(f, 63, 0, UINT64_MAX) == 0);
    assert_int_equal(tamis_trace(other, bytes, 500, NULL, 0, UINT64_MAX, listen, &t),
                     TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_record(other, NULL, 0, 0, bytes, 500), TAMIS_UNSUPPORTED);
    assert_true(isnan(tamis_false_traces(other, 500, 0, UINT64_MAX)));
    tamis_free(f);
    tamis_free(other);
    free(bytes);
}

static void offsets_end_at_the_limit(void **state) {
    (void)state;
    uint8_t *bytes = random_bytes(11, 1000);
    tamis *f = test_make("hierarchical:capacity=100,fpr=1e-9,block=32");
    seen t = {0};
    REQUIRE_OK(tamis_record(f, NULL, 0, 0, bytes, 1000));
    REQUIRE_OK(tamis_trace(f, bytes + 321, 100, NULL, 0, 320, listen, &t));
    assert_int_equal(t.n, 0);
    REQUIRE_OK(tamis_trace(f, bytes + 321, 100, NULL, 0, 321, listen, &t));
    assert_int_equal(t.n, 1);
    assert_int_equal(trace(f, bytes + 900, 100, NULL, 0).n, 1); /* the very end */
    t = (seen){.stop_after = 1};
    assert_int_equal(tamis_trace(f, bytes, 100, NULL, 0, UINT64_MAX, listen, &t), TAMIS_CANCELLED);

    const uint64_t max = (uint64_t)1 << 48;
    assert_int_equal(tamis_record(f, NULL, 0, max, bytes, 1), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "2^48"));
    assert_int_equal(tamis_record(f, NULL, 0, UINT64_MAX, bytes, 1000), TAMIS_INVALID);
    tamis *same = test_copy(f);
    REQUIRE_OK(tamis_record(f, NULL, 0, 0, bytes, 0));
    assert_true(test_is_same_payload(f, same)); /* an empty record adds nothing */
    REQUIRE_OK(tamis_record(f, NULL, 0, max - 64, bytes, 64));
    tamis_free(same);
    tamis_free(f);
    free(bytes);
}

static void images_that_reach_too_far_are_refused(void **state) {
    (void)state;
    tamis *f = test_make("hierarchical:capacity=100"), *g;
    uint8_t *bytes = random_bytes(12, 1000);
    REQUIRE_OK(tamis_record(f, "f", 1, 0, bytes, 1000));
    size_t size;
    uint64_t payload;
    uint8_t *image = test_image(f, &size);
    tamis_payload(f, &payload);
    REQUIRE_OK(tamis_view(&g, image, size));
    assert_int_equal(trace(g, bytes, 500, &(struct tamis_key){"f", 1}, 1).n, 1);
    assert_int_equal(tamis_record(g, "f", 1, 0, bytes, 1000), TAMIS_READONLY);
    tamis_free(g);
    image[TEST_HEADER_BYTES + payload - 2] = 1; /* 2^48 and 1000 */
    test_reseal(image, size);
    assert_int_equal(tamis_load(&g, image, size), TAMIS_CORRUPT);
    assert_non_null(strstr(tamis_why(), "2^48"));
    free(image);
    free(bytes);
    tamis_free(f);
}

/* Records of an older version must always be found. */
static void a_golden_record_is_traced(void **state) {
    (void)state;
    static const char excerpt[] = "\n301\n302\n303\n304\n305\n306\n307\n308\n309\n310\n311\n3";
    const struct tamis_key flows[] = {{"odd.tmp", 7}, {"good.tmp", 8}};
    tamis *f;
    REQUIRE_OK(tamis_map(&f, "tests/golden/hierarchical-recorded-1.tamis"));
    const seen t = trace(f, excerpt, sizeof excerpt - 1, flows, 2);
    assert_int_equal(t.n, 1);
    assert_int_equal(t.first.flow, 1);
    assert_int_equal(t.first.offset, 399);
    assert_string_equal(tamis_note(f, "flows"), "good.tmp\nodd.tmp\n");
    tamis_free(f);
}

static void no_memory_is_reported(void **state) {
    (void)state;
    test_failing_allocator failing = {0};
    const struct tamis_allocator allocator = test_allocator(&failing);
    const struct tamis_options options = {.struct_size = sizeof options, .allocator = &allocator};
    uint8_t *bytes = random_bytes(13, 500);
    tamis *f;
    seen t = {0};
    REQUIRE_OK(tamis_create_with(&f, "hierarchical:capacity=100,fpr=1e-9", &options));
    REQUIRE_OK(tamis_record(f, "f", 1, 0, bytes, 500));
    failing.fail_at = failing.calls + 1;
    assert_int_equal(tamis_trace(f, bytes, 200, NULL, 0, UINT64_MAX, listen, &t), TAMIS_NOMEM);
    assert_int_equal(t.n, 0);
    assert_int_equal(trace(f, bytes, 200, NULL, 0).n, 1);
    tamis_free(f);
    assert_int_equal(failing.blocks, 0);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_excerpt_at_every_place),
        cmocka_unit_test(the_right_flow_is_named),
        cmocka_unit_test(without_a_flow),
        cmocka_unit_test(levels_know_neighbours),
        cmocka_unit_test(pieces_are_the_whole),
        cmocka_unit_test(blocks_are_those_of_the_format),
        cmocka_unit_test(false_places_are_as_rare_as_expected),
        cmocka_unit_test(false_flows_are_as_rare_as_expected),
        cmocka_unit_test(too_short_is_refused),
        cmocka_unit_test(offsets_end_at_the_limit),
        cmocka_unit_test(images_that_reach_too_far_are_refused),
        cmocka_unit_test(a_golden_record_is_traced),
        cmocka_unit_test(no_memory_is_reported),
    };
    return cmocka_run_group_tests_name("hierarchical", tests, NULL, NULL);
}
