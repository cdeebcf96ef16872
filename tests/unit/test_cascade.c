/* SPDX-License-Identifier: MIT */
/* cascade: members and known-good keys are answered exactly, non-members at the target rate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "kinds/segments.h"
#include "tamis_engine.h"
#include "tests/support/bounds.h"
#include "tests/support/building.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))
#define GOOD           ((uint64_t)1 << 30) /* known-good keys: the numbers of a family from here */

enum { WIDTH = TAMIS_SEGMENT_WORDS, NARROW };
enum { AT_WORDS = TEST_WORDS_AT, AT_PAYLOAD = TEST_HEADER_BYTES };

typedef struct lists {
    uint64_t family, members, good;
    bool is_twisted; /* reversed, some twice, on two threads */
} lists;

static uint64_t member_at(const lists *l, uint64_t i) {
    return test_number(l->family, i);
}

static uint64_t good_at(const lists *l, uint64_t i) {
    return test_number(l->family, GOOD + i);
}

static tamis_builder *open_lists(const char *spec, const lists *l) {
    tamis_builder *b = test_careful_builder(spec, l->is_twisted ? 2 : 1);
    for (uint64_t i = 0; i < l->good && l->is_twisted; i++)
        assert_int_equal(tamis_builder_exclude_hash(b, good_at(l, l->good - 1 - i)), TAMIS_OK);
    for (uint64_t i = 0; i < l->members; i++)
        assert_int_equal(tamis_builder_add_hash(b, member_at(l, i)), TAMIS_OK);
    for (uint64_t i = 0; i < (l->is_twisted ? l->good / 2 : l->good); i++)
        assert_int_equal(tamis_builder_exclude_hash(b, good_at(l, i)), TAMIS_OK);
    for (uint64_t i = 0; i < l->members && l->is_twisted; i += 3)
        assert_int_equal(tamis_builder_add_hash(b, member_at(l, i)), TAMIS_OK);
    return b;
}

static tamis *build(const char *spec, const lists *l) {
    return test_finish(open_lists(spec, l));
}

static void assert_exact(const tamis *f, const lists *l) {
    const struct tamis_info info = test_info(f);
    assert_int_equal(test_count_hits(f, l->family, 0, l->members), l->members);
    assert_int_equal(test_count_hits(f, l->family, GOOD, l->good), 0);
    assert_true(info.items_now.value == (double)l->members && info.items_now.error == 0);
    assert_int_equal(info.items, l->members + l->good);
}

static void every_pair_of_small_lists(void **state) {
    (void)state;
    static const uint64_t good[] = {0, 1, 2, 5, 64, 300};
    static const char *const specs[] = {"cascade", "cascade:fpr=0.9", "cascade:fpr=1e-9"};
    for (size_t s = 0; s < COUNT_OF(specs); s++)
        for (uint64_t n = 0; n <= 300; n += n < 10 ? 1 : 29)
            for (size_t k = 0; k < COUNT_OF(good); k++) {
                const lists l = {.family = 7 * n + k, .members = n, .good = good[k]};
                tamis *f = build(specs[s], &l);
                assert_exact(f, &l);
                if (n == 0) assert_int_equal(test_count_hits(f, l.family, TEST_STRANGERS, 200), 0);
                tamis_free(f);
            }
}

/* The width is the largest with 2^width known-good keys per member, or what the rate needs. */
static void lists_choose_the_width(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t members, good, width, narrow;
        double rate;
    } cases[] = {
        {"cascade:fpr=0.9", 1000, 0, 0, 0, 0.5},
        {"cascade:fpr=0.9", 1000, 1999, 0, 0, 0.5},
        {"cascade:fpr=0.9", 1000, 2000, 1, 0, 0.25},
        {"cascade:fpr=0.9", 1000, 7999, 2, 0, 0.125},
        {"cascade:fpr=0.9", 100, 9999, 6, 0, 1.0 / 128},
        {"cascade:fpr=0.25", 1000, 1500, 2, 65535, 0.25}, /* equal hashes add a little */
        {"cascade:fpr=0.1", 1000, 0, 3, 39321, 0.1},
        {"cascade:fpr=0.1", 500, 8500, 4, 0, 1.0 / 32},
    };
    enum { PROBES = 300000 };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        const lists l = {.family = k, .members = cases[k].members, .good = cases[k].good};
        tamis *f = build(cases[k].spec, &l);
        const struct tamis_info info = test_info(f);
        assert_exact(f, &l);
        assert_int_equal(info.word[WIDTH], cases[k].width);
        assert_int_equal(info.word[NARROW], cases[k].narrow);
        assert_true(fabs(info.fpr_expected / cases[k].rate - 1) < 1e-4);
        const uint64_t hits = test_count_hits(f, k, TEST_STRANGERS, PROBES);
        assert_true(test_is_possible(hits, PROBES, cases[k].rate, TEST_ALPHA));
        assert_true(test_is_possible(hits, PROBES, info.fpr_now, TEST_ALPHA));
        tamis_free(f);
    }
}

/* One member alone: without a mask on the bits of level 2, every non-member would get its bit. */
static void one_member_has_the_rate_of_many(void **state) {
    (void)state;
    enum { PROBES = 200000 };
    for (uint64_t n = 1; n < 6; n++) {
        const lists l = {.family = n, .members = n};
        tamis *f = build("cascade:fpr=0.9", &l);
        const uint64_t hits = test_count_hits(f, n, TEST_STRANGERS, PROBES);
        assert_true(test_is_possible(hits, PROBES, 0.5, TEST_ALPHA));
        tamis_free(f);
    }
}

static void segments_and_duplicates(void **state) {
    (void)state;
    const lists l = {.family = 3, .members = 6000, .good = 30000};
    lists twisted = l;
    twisted.is_twisted = true;
    tamis *f = build("cascade:fpr=2%,segment=1024", &l);
    tamis *g = build("cascade:fpr=2%,segment=1024", &twisted);
    assert_int_equal(test_info(f).word[TAMIS_SEGMENTS], 36);
    assert_int_equal(test_info(f).capacity, 6000);
    assert_exact(f, &l);
    assert_true(test_is_same_image(f, g));
    tamis_free(f);
    tamis_free(g);
}

static void bits_are_few(void **state) {
    (void)state;
    static const struct {
        uint64_t members, good;
        double max;
    } bounds[] = {{100000, 1000000, 5.4}, {300000, 600000, 3.1}, {20000, 1280000, 8.3}};
    for (size_t k = 0; k < COUNT_OF(bounds); k++) {
        const lists l = {.family = 5, .members = bounds[k].members, .good = bounds[k].good};
        tamis *f = build("cascade:fpr=0.9", &l);
        const double bits = (double)test_info(f).payload_bytes * 8 / (double)l.members;
        if (bits > bounds[k].max) fail_msg("%.3f bits for each member", bits);
        tamis_free(f);
    }
}

/* A size is kept, and spare bits lower the rate of non-members. */
static void sizes_are_kept(void **state) {
    (void)state;
    const lists l = {.family = 6, .members = 20000, .good = 100000};
    tamis *f = build("cascade:size=20000", &l);
    const struct tamis_info info = test_info(f);
    assert_exact(f, &l);
    assert_true(info.payload_bytes <= 20000 && info.payload_bytes > 19500);
    assert_true(info.word[WIDTH] > 4 && info.fpr_expected < 1.0 / 64);
    tamis_free(f);
    tamis_builder *b = open_lists("cascade:size=9000", &l);
    assert_int_equal(tamis_builder_finish(b, &f), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "size must be at least"));
    tamis_builder_free(b);
}

static void overlaps_are_conflicts(void **state) {
    (void)state;
    const lists l = {.family = 9, .members = 3000, .good = 9000};
    const uint64_t both = member_at(&l, 1234);
    for (int is_first = 0; is_first < 2; is_first++) {
        tamis_builder *b = open_lists("cascade:segment=1024", &l);
        tamis *f;
        const uint64_t hash = is_first ? both : good_at(&l, 17);
        assert_int_equal(is_first ? tamis_builder_exclude_hash(b, hash) //
                                  : tamis_builder_add_hash(b, hash),
                         TAMIS_OK);
        assert_int_equal(tamis_builder_finish(b, &f), TAMIS_CONFLICT);
        assert_null(f);
        assert_int_equal(tamis_builder_conflict(b), hash);
        tamis_builder_free(b);
    }
}

static void extreme_params(void **state) {
    (void)state;
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    assert_int_equal(tamis_plan_spec("cascade:capacity=10,fpr=1e-10", &plan), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "2^-33"));
    plan = test_plan("cascade:capacity=1M");
    assert_true(plan.bits_per_key < 7 && plan.fpr_expected <= 0.01 && plan.fpr_expected > 0.0099);
    plan = test_plan("cascade:capacity=2^54,fpr=50%");
    assert_true(plan.bits_per_key < 3.5);
}

static void assert_refused(uint8_t *image, size_t size, size_t at, uint64_t word) {
    assert_int_not_equal(tamis__get64(image + at), word);
    assert_int_not_equal(test_load_forged(image, size, at, word, NULL), TAMIS_OK);
}

static void forgeries_are_refused(void **state) {
    (void)state;
    const lists l = {.family = 11, .members = 1500, .good = 5000};
    tamis *f = build("cascade:fpr=0.9,segment=2048", &l);
    size_t size;
    uint8_t *image = test_image(f, &size);
    const uint64_t head = tamis__get64(image + AT_PAYLOAD), words = head >> 32;
    const uint64_t first = tamis__get64(image + AT_PAYLOAD + 8);
    const uint64_t second = tamis__get64(image + AT_PAYLOAD + 8 + words * 8);
    assert_refused(image, size, AT_WORDS + 8 * WIDTH, 0);
    assert_refused(image, size, AT_WORDS + 8 * WIDTH, 2);
    assert_refused(image, size, AT_WORDS + 8 * WIDTH, 33);
    assert_refused(image, size, AT_WORDS + 8 * NARROW, 65536);
    assert_refused(image, size, AT_WORDS + 8 * NARROW, 60000);
    assert_refused(image, size, AT_PAYLOAD, head + 1);                   /* members */
    assert_refused(image, size, AT_PAYLOAD, head + ((uint64_t)1 << 32)); /* level 1 */
    assert_refused(image, size, AT_PAYLOAD, head - ((uint64_t)1 << 32));
    assert_refused(image, size, AT_PAYLOAD, head | (uint64_t)UINT32_MAX << 32);
    assert_refused(image, size, AT_PAYLOAD, head & UINT32_MAX);
    assert_refused(image, size, AT_PAYLOAD + 8, first + 1); /* its keys */
    assert_refused(image, size, AT_PAYLOAD + 8, first & ~(uint64_t)UINT32_MAX);
    /* Fewer bits in level 2 than there are members. */
    assert_refused(image, size, AT_PAYLOAD + 8 + words * 8, (second & ~(uint64_t)UINT32_MAX) | 1);
    tamis_free(f);
    free(image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_small_lists),
        cmocka_unit_test(lists_choose_the_width),
        cmocka_unit_test(one_member_has_the_rate_of_many),
        cmocka_unit_test(segments_and_duplicates),
        cmocka_unit_test(bits_are_few),
        cmocka_unit_test(sizes_are_kept),
        cmocka_unit_test(overlaps_are_conflicts),
        cmocka_unit_test(extreme_params),
        cmocka_unit_test(forgeries_are_refused),
    };
    return cmocka_run_group_tests_name("cascade", tests, NULL, NULL);
}
