/* SPDX-License-Identifier: MIT */
/* bloomier: maps against the list they were built from, with both engines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits/packed.h"
#include "kinds/kind.h"
#include "tamis_engine.h"
#include "tests/support/bounds.h"
#include "tests/support/building.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

enum { ENGINE = 3, VALUE, GUARD, UPDATE };

static const char *const engines[] = {"engine=ribbon", "engine=fuse", "update=yes"};

/* ---- Building ------------------------------------------------------------------------------- */

/* The value of the i-th number of a family, in a map of `bits`-bit values. */
static uint64_t value_of(uint64_t family, uint64_t i, unsigned bits) {
    return test_number(family + 1000, i) & tamis__field_mask(bits);
}

static tamis *build(const char *spec, uint64_t family, uint64_t n, unsigned bits) {
    tamis_builder *b = test_builder(spec);
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(
            tamis_builder_put_hash(b, test_number(family, i), value_of(family, i, bits)), TAMIS_OK);
    return test_finish(b);
}

/* Every key has its value, queried in batches and one by one. */
static void demand_values(const tamis *f, uint64_t family, uint64_t n, unsigned bits) {
    enum { BATCH = 77 };
    uint64_t hash[BATCH], value[BATCH], one;
    uint8_t hit[BATCH];
    for (uint64_t i = 0; i < n; i += BATCH) {
        const size_t m = n - i < BATCH ? (size_t)(n - i) : BATCH;
        for (size_t j = 0; j < m; j++) hash[j] = test_number(family, i + j);
        tamis_get_hashes(f, hash, m, value, hit);
        for (size_t j = 0; j < m; j++) {
            assert_true(hit[j] && tamis_has_hash(f, hash[j]));
            assert_int_equal(value[j], value_of(family, i + j, bits));
        }
        assert_true(tamis_get_hash(f, hash[0], &one) && one == value[0]);
    }
}

/* ---- Values --------------------------------------------------------------------------------- */

static void every_key_has_its_value(void **state) {
    (void)state;
    static const unsigned values[] = {1, 2, 8, 13, 32, 63, 64}, guards[] = {0, 1, 8, 32};
    static const uint64_t counts[] = {1, 2, 100, 5000};
    for (size_t e = 0; e < COUNT_OF(engines); e++)
        for (size_t v = 0; v < COUNT_OF(values); v++)
            for (size_t g = 0; g < COUNT_OF(guards); g++)
                for (size_t i = 0; i < COUNT_OF(counts); i++) {
                    char spec[96];
                    sprintf(spec, "bloomier:%s,value=%u,guard=%u", engines[e], values[v],
                            guards[g]);
                    tamis *f = build(spec, v, counts[i], values[v]);
                    demand_values(f, v, counts[i], values[v]);
                    assert_int_equal(test_info(f).items, counts[i]);
                    assert_true(test_info(f).items_now.value == (double)counts[i]);
                    tamis_free(f);
                }
}

static void several_segments_answer_as_one(void **state) {
    (void)state;
    enum { KEYS = 20000, PROBES = 100000 };
    for (size_t e = 0; e < COUNT_OF(engines); e++) {
        char spec[96];
        sprintf(spec, "bloomier:%s,guard=6,segment=1024", engines[e]);
        tamis *f = build(spec, 3, KEYS, 20);
        assert_int_equal(test_info(f).word[0], (KEYS + 1023) / 1024);
        demand_values(f, 3, KEYS, 20);
        const uint64_t hits = test_count_hits(f, 3, TEST_STRANGERS, PROBES);
        assert_true(test_is_possible(hits, PROBES, 1.0 / 64, TEST_ALPHA));
        tamis_free(f);
    }
}

static void the_guard_detects_nonmembers(void **state) {
    (void)state;
    enum { PROBES = 100000 };
    static const uint64_t counts[] = {0, 1, 2, 100, 10000};
    static const unsigned guards[] = {0, 1, 7};
    for (size_t e = 0; e < COUNT_OF(engines); e++)
        for (size_t g = 0; g < COUNT_OF(guards); g++)
            for (size_t i = 0; i < COUNT_OF(counts); i++) {
                char spec[96];
                sprintf(spec, "bloomier:%s,guard=%u", engines[e], guards[g]);
                tamis *f = build(spec, 4, counts[i], 9);
                const uint64_t hits = test_count_hits(f, 4, TEST_STRANGERS, PROBES);
                const double rate = counts[i] ? ldexp(1, -(int)guards[g]) : 0;
                assert_true(tamis_fpr_now(f) == rate);
                if (!test_is_possible(hits, PROBES, rate, TEST_ALPHA))
                    fail_msg("%s, %llu keys: %llu hits", spec, (unsigned long long)counts[i],
                             (unsigned long long)hits);
                tamis_free(f);
            }
}

static void no_leaves_the_value_alone(void **state) {
    (void)state;
    for (size_t e = 0; e < COUNT_OF(engines); e++) {
        char spec[96];
        sprintf(spec, "bloomier:%s,guard=20", engines[e]);
        tamis *f = build(spec, 5, 1000, 30);
        for (uint64_t i = 0; i < 1000; i++) {
            uint64_t value = i;
            if (!tamis_get_hash(f, test_number(5, TEST_STRANGERS + i), &value))
                assert_int_equal(value, i);
        }
        tamis_free(f);
    }
}

/* ---- Widths and parameters ------------------------------------------------------------------ */

static void values_are_as_wide_as_the_largest(void **state) {
    (void)state;
    static const uint64_t largest[] = {0, 1, 2, 255, 256, UINT64_MAX >> 1, UINT64_MAX};
    static const unsigned bits[] = {1, 1, 2, 8, 9, 63, 64};
    for (size_t i = 0; i < COUNT_OF(largest); i++) {
        tamis_builder *b = test_builder("bloomier:engine=fuse");
        uint64_t value;
        assert_int_equal(tamis_builder_put(b, "a", 1, largest[i]), TAMIS_OK);
        assert_int_equal(tamis_builder_add(b, "b", 1), TAMIS_OK); /* its value is 0 */
        tamis *f = test_finish(b);
        assert_int_equal(test_info(f).word[VALUE], bits[i]);
        assert_true(tamis_get(f, "a", 1, &value) && value == largest[i]);
        assert_true(tamis_get(f, "b", 1, &value) && value == 0);
        tamis_free(f);
    }
}

static void values_that_do_not_fit_are_refused(void **state) {
    (void)state;
    tamis_builder *b = test_builder("bloomier:value=8");
    assert_int_equal(tamis_builder_put(b, "a", 1, 255), TAMIS_OK);
    assert_int_equal(tamis_builder_put(b, "b", 1, 256), TAMIS_INVALID);
    tamis *f = test_finish(b);
    uint64_t value;
    assert_true(tamis_get(f, "a", 1, &value) && value == 255);
    assert_int_equal(test_info(f).items, 1);
    tamis_free(f);
}

static void guards_follow_from_params(void **state) {
    (void)state;
    assert_int_equal(test_plan("bloomier:capacity=1000").word[GUARD], 7);
    assert_int_equal(test_plan("bloomier:capacity=1000").word[VALUE], 64);
    assert_int_equal(test_plan("bloomier:capacity=1000,fpr=1/256").word[GUARD], 8);
    assert_int_equal(test_plan("bloomier:capacity=1000,guard=0").word[GUARD], 0);
    assert_int_equal(test_plan("bloomier:capacity=1000,update=yes").word[ENGINE], 1);
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    assert_int_equal(tamis_plan_spec("bloomier:capacity=1000,update=yes,engine=ribbon", &plan),
                     TAMIS_INVALID);
    assert_int_equal(tamis_plan_spec("bloomier:capacity=1000,fpr=1e-10", &plan), TAMIS_INVALID);
    assert_int_equal(tamis_plan_spec("bloomier:capacity=1000,value=8,size=900", &plan),
                     TAMIS_INVALID);
}

static void a_size_is_kept(void **state) {
    (void)state;
    enum { KEYS = 10000 };
    for (size_t e = 0; e < COUNT_OF(engines); e++) {
        uint64_t guard = 0;
        for (unsigned size = 25000; size <= 75000; size += 10000) {
            char spec[96];
            sprintf(spec, "bloomier:%s,size=%u", engines[e], size);
            tamis *f = build(spec, 6, KEYS, 10);
            uint64_t bytes;
            tamis_payload(f, &bytes);
            assert_true(bytes <= size);
            assert_true(test_info(f).word[GUARD] >= guard);
            guard = test_info(f).word[GUARD];
            demand_values(f, 6, KEYS, 10);
            tamis_free(f);
        }
        assert_int_equal(guard, 32);
    }
}

static void plans_come_close(void **state) {
    (void)state;
    enum { KEYS = 100000 };
    for (size_t e = 0; e < COUNT_OF(engines); e++) {
        char spec[256];
        sprintf(spec, "bloomier:%s,value=8,guard=8", engines[e]);
        tamis *f = build(spec, 7, KEYS, 8);
        uint64_t bytes;
        tamis_payload(f, &bytes);
        assert_true(tamis_spec(f, spec, sizeof spec) < sizeof spec);
        const struct tamis_plan plan = test_plan(spec);
        assert_true(fabs((double)plan.payload_bytes / (double)bytes - 1) < 0.01);
        assert_memory_equal(&plan.word[2], &test_info(f).word[2], 6 * sizeof *plan.word);
        if (e == 0) assert_true((double)bytes * 8 / KEYS <= 1.01 * 16);
        tamis_free(f);
    }
}

/* ---- Repeated keys -------------------------------------------------------------------------- */

static void a_key_may_come_again_with_its_value(void **state) {
    (void)state;
    enum { KEYS = 3000 };
    for (size_t e = 0; e < COUNT_OF(engines); e++) {
        char spec[96];
        sprintf(spec, "bloomier:%s,segment=1024", engines[e]);
        tamis *f = build(spec, 8, KEYS, 17);
        tamis_builder *b = test_builder(spec);
        for (uint64_t i = 0; i < 2 * KEYS; i++) {
            const uint64_t k = KEYS - 1 - i % KEYS;
            tamis_builder_put_hash(b, test_number(8, k), value_of(8, k, 17));
        }
        tamis *g = test_finish(b);
        assert_true(test_is_same_payload(f, g));
        tamis_free(f);
        tamis_free(g);
    }
}

static void a_key_with_two_values_is_a_conflict(void **state) {
    (void)state;
    tamis_builder *b = test_builder("bloomier:engine=fuse");
    tamis *f;
    for (uint64_t i = 0; i < 100; i++) tamis_builder_put_hash(b, test_number(9, i), i);
    tamis_builder_put_hash(b, test_number(9, 42), 43);
    assert_int_equal(tamis_builder_finish(b, &f), TAMIS_CONFLICT);
    assert_null(f);
    assert_int_equal(tamis_builder_conflict(b), test_number(9, 42));
    tamis_builder_free(b);
}

/* ---- Setting values ------------------------------------------------------------------------- */

static void values_can_be_set_again(void **state) {
    (void)state;
    enum { KEYS = 3000 };
    static const unsigned bits[] = {1, 8, 63, 64};
    for (size_t v = 0; v < COUNT_OF(bits); v++) {
        char spec[96];
        sprintf(spec, "bloomier:update=yes,value=%u,guard=9,segment=1024", bits[v]);
        tamis *f = build(spec, 10, KEYS, bits[v]), *fresh = test_copy(f);
        assert_true(test_info(f).abilities & TAMIS_CAN_PUT);
        for (uint64_t i = 0; i < KEYS; i += 3)
            assert_int_equal(tamis_put_hash(f, test_number(10, i), value_of(11, i, bits[v])),
                             TAMIS_OK);
        for (uint64_t i = 0; i < KEYS; i++) {
            uint64_t value;
            assert_true(tamis_get_hash(f, test_number(10, i), &value));
            assert_int_equal(value, value_of(i % 3 ? 10 : 11, i, bits[v]));
        }
        assert_int_equal(test_info(f).items, KEYS);
        for (uint64_t i = 0; i < KEYS; i += 3) /* and back: nothing else changed */
            tamis_put_hash(f, test_number(10, i), value_of(10, i, bits[v]));
        assert_true(test_is_same_payload(f, fresh));
        tamis_free(f);
        tamis_free(fresh);
    }
}

static void a_put_that_fails_changes_nothing(void **state) {
    (void)state;
    tamis *f = build("bloomier:update=yes,value=4,guard=32", 12, 500, 4), *same = test_copy(f);
    for (uint64_t i = 0; i < 500; i++)
        assert_int_equal(tamis_put_hash(f, test_number(12, TEST_STRANGERS + i), 1),
                         TAMIS_NOT_FOUND);
    assert_int_equal(tamis_put_hash(f, test_number(12, 0), 16), TAMIS_INVALID);
    assert_true(test_is_same_payload(f, same));
    tamis_free(f);
    tamis_free(same);
    f = build("bloomier:update=yes,value=4", 12, 0, 4);
    assert_int_equal(tamis_put_hash(f, 1, 1), TAMIS_NOT_FOUND);
    tamis_free(f);
}

/* Calls the kind directly, where puts come in batches. */
static void a_batch_is_put_whole_or_not_at_all(void **state) {
    (void)state;
    enum { KEYS = 100 };
    const tamis_kind *kind = tamis__kind_by_name("bloomier", 8)->kind;
    tamis *f = build("bloomier:update=yes,value=16,guard=32", 17, KEYS, 16), *fresh = test_copy(f);
    const struct tamis_info info = test_info(f);
    tamis_body body = {.items = KEYS};
    uint64_t hash[KEYS + 1], value[KEYS + 1], got[KEYS];
    uint8_t hit[KEYS];
    memcpy(body.word, info.word, sizeof body.word);
    body.bytes = (uint8_t *)(uintptr_t)tamis_payload(f, &body.size); /* the test's own filter */
    for (uint64_t i = 0; i <= KEYS; i++) hash[i] = test_number(17, i), value[i] = i;
    assert_int_equal(kind->values->put(&body, tamis__hashes(hash, KEYS + 1), value),
                     TAMIS_NOT_FOUND);
    assert_true(test_is_same_payload(f, fresh));
    assert_int_equal(kind->values->put(&body, tamis__hashes(hash, KEYS), value), TAMIS_OK);
    tamis_get_hashes(f, hash, KEYS, got, hit);
    assert_memory_equal(got, value, sizeof got);
    tamis_free(f);
    tamis_free(fresh);
}

static void only_update_can_put(void **state) {
    (void)state;
    for (size_t e = 0; e < 2; e++) {
        char spec[96];
        sprintf(spec, "bloomier:%s", engines[e]);
        tamis *f = build(spec, 13, 50, 5);
        assert_false(test_info(f).abilities & TAMIS_CAN_PUT);
        assert_int_equal(tamis_put_hash(f, test_number(13, 0), 1), TAMIS_UNSUPPORTED);
        tamis_free(f);
    }
}

/* ---- Images --------------------------------------------------------------------------------- */

static void a_view_at_any_alignment_answers_the_same(void **state) {
    (void)state;
    enum { KEYS = 3000 };
    for (size_t e = 0; e < COUNT_OF(engines); e++) {
        char spec[96];
        sprintf(spec, "bloomier:%s,value=37,guard=3,segment=1024", engines[e]);
        tamis *f = build(spec, 14, KEYS, 37);
        for (size_t shift = 1; shift < 8; shift += 2) {
            test_view view = test_view_at(f, shift);
            demand_values(view.filter, 14, KEYS, 37);
            assert_int_equal(tamis_put_hash(view.filter, test_number(14, 0), 1), TAMIS_READONLY);
            test_end_view(&view);
        }
        tamis_free(f);
    }
}

static void forged_words_are_refused(void **state) {
    (void)state;
    static const test_word lines[] = {{ENGINE, 2}, {ENGINE, 0}, {ENGINE, UINT64_MAX}, {VALUE, 0},
                                      {VALUE, 65}, {VALUE, 40}, {GUARD, 33},          {GUARD, 8},
                                      {UPDATE, 1}, {UPDATE, 2}, {UPDATE + 1, 1}};
    static const test_word of_ribbons[] = {{ENGINE, 1}, {UPDATE, 1}};
    tamis *f = build("bloomier:engine=fuse,value=9,guard=7", 15, 400, 9);
    assert_true(test_refuses_words(f, lines, COUNT_OF(lines), NULL));
    tamis_free(f);
    f = build("bloomier:value=9,guard=7", 15, 400, 9);
    assert_true(test_refuses_words(f, of_ribbons, COUNT_OF(of_ribbons), NULL));
    tamis_free(f);
}

/* Queries a map of 11-bit values with family 16. */
static void ask(const tamis *f) {
    for (uint64_t k = 0; k < 1000; k++) {
        uint64_t got;
        if (tamis_get_hash(f, test_number(16, k), &got)) assert_true(got <= tamis__field_mask(11));
    }
}

/* Every flip in a segment's key count is refused; whatever passes can be queried. */
static void forged_payloads_are_refused_or_harmless(void **state) {
    (void)state;
    for (size_t e = 0; e < COUNT_OF(engines); e++) {
        char spec[96];
        sprintf(spec, "bloomier:%s,value=11,guard=2,segment=1024", engines[e]);
        tamis *f = build(spec, 16, 2000, 11);
        size_t size;
        uint8_t *image = test_image(f, &size);
        const uint64_t keys = tamis__get64(image + TEST_HEADER_BYTES);
        for (unsigned bit = 0; bit < 64; bit++)
            assert_int_equal(
                test_load_forged(image, size, TEST_HEADER_BYTES, keys ^ (uint64_t)1 << bit, ask),
                TAMIS_CORRUPT);
        for (uint64_t i = 0; i < 300; i++) {
            const size_t words = (size - TEST_HEADER_BYTES) / 8;
            const size_t at = (size_t)(test_number(17, i) % (i % 2 ? 8 : words)) * 8;
            const uint64_t old = tamis__get64(image + TEST_HEADER_BYTES + at);
            const uint64_t value = old ^ (uint64_t)1 << test_number(18, i) % 64;
            test_load_forged(image, size, TEST_HEADER_BYTES + at, value, ask);
        }
        free(image);
        tamis_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_has_its_value),
        cmocka_unit_test(several_segments_answer_as_one),
        cmocka_unit_test(the_guard_detects_nonmembers),
        cmocka_unit_test(no_leaves_the_value_alone),
        cmocka_unit_test(values_are_as_wide_as_the_largest),
        cmocka_unit_test(values_that_do_not_fit_are_refused),
        cmocka_unit_test(guards_follow_from_params),
        cmocka_unit_test(a_size_is_kept),
        cmocka_unit_test(plans_come_close),
        cmocka_unit_test(a_key_may_come_again_with_its_value),
        cmocka_unit_test(a_key_with_two_values_is_a_conflict),
        cmocka_unit_test(values_can_be_set_again),
        cmocka_unit_test(a_put_that_fails_changes_nothing),
        cmocka_unit_test(a_batch_is_put_whole_or_not_at_all),
        cmocka_unit_test(only_update_can_put),
        cmocka_unit_test(a_view_at_any_alignment_answers_the_same),
        cmocka_unit_test(forged_words_are_refused),
        cmocka_unit_test(forged_payloads_are_refused_or_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
