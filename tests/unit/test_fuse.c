/* SPDX-License-Identifier: MIT */
/* fuse and the peeling engine, against a reader that was written from the format alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "kinds/peel.h"
#include "tamis_engine.h"
#include "tests/support/bounds.h"
#include "tests/support/building.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* ---- Answers -------------------------------------------------------------------------------- */

static void every_key_is_found(void **state) {
    (void)state;
    static const uint64_t counts[] = {1, 2, 3, 9, 30, 100, 1010, 3400};
    for (unsigned arity = 3; arity <= 4; arity++)
        for (unsigned width = 1; width <= 32; width++)
            for (size_t i = 0; i < COUNT_OF(counts); i++) {
                char spec[64];
                sprintf(spec, "fuse:width=%u,arity=%u", width, arity);
                tamis *f = test_build(spec, width, counts[i]);
                assert_int_equal(test_count_hits(f, width, 0, counts[i]), counts[i]);
                assert_true(test_info(f).items_now.value == (double)counts[i]);
                assert_true(test_info(f).items_now.error == 0);
                tamis_free(f);
            }
}

/* Many small sets: some are unlucky and need another try. */
static void small_sets_can_always_be_built(void **state) {
    (void)state;
    uint64_t second_tries = 0;
    for (uint64_t n = 1; n <= 300; n++)
        for (uint64_t family = 0; family < 10; family++) {
            tamis *f =
                test_build(n % 2 ? "fuse:width=8" : "fuse:width=8,arity=4", family * 1000 + n, n);
            uint64_t size;
            second_tries += tamis__get64((const uint8_t *)tamis_payload(f, &size) + 8) > 0;
            assert_int_equal(test_count_hits(f, family * 1000 + n, 0, n), n);
            tamis_free(f);
        }
    assert_true(second_tries > 0); /* retries are covered */
}

/* From the format: a second way from hash to answer. */
static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53;
    return x ^ x >> 33;
}

static uint64_t bit_by_bit(const uint8_t *p, uint64_t bit, unsigned width) {
    uint64_t x = 0;
    for (unsigned i = 0; i < width; i++)
        x |= (uint64_t)(p[(bit + i) / 8] >> (bit + i) % 8 & 1) << i;
    return x;
}

static bool read_by_format(const tamis *f, uint64_t hash) {
    const struct tamis_info info = test_info(f);
    const uint64_t segments = info.word[0], width = info.word[3], arity = info.word[4];
    uint64_t size, rest, x = 0;
    const uint8_t *p = tamis_payload(f, &size);
    const uint64_t s = tamis__multiply(hash, segments, &rest);
    p += tamis__get64(p + size - 8 * (segments + 1 - s));
    const uint64_t keys = tamis__get64(p), seed = tamis__get64(p + 8);
    const uint64_t log = p[16], strips = tamis__get64(p + 16) >> 8;
    if (keys == 0) return false;
    const uint64_t y = rest + seed * 0x9e3779b97f4a7c15, m = mix(y);
    for (uint64_t j = 0; j < arity; j++) {
        const uint64_t in = m >> 16 * j & 0xffff, length = (uint64_t)1 << log;
        const uint64_t cell = (tamis__range(y, strips) + j) * length + in % length;
        x ^= bit_by_bit(p + 24, cell * width, (unsigned)width);
    }
    return x == m * 0xf1357aea2e62a9c5 >> (64 - width);
}

static void a_reader_by_the_format_agrees(void **state) {
    (void)state;
    static const char *const specs[] = {
        "fuse:width=1",          "fuse:width=8",
        "fuse:width=13",         "fuse:width=16",
        "fuse:width=27,arity=4", "fuse:width=32,segment=1024",
        "fuse:width=3",          "fuse:width=5,arity=4,segment=1024",
    };
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        tamis *f = test_build(specs[i], i, 5000);
        for (uint64_t k = 0; k < 5000; k++) {
            const uint64_t nonmember = test_number(i, TEST_STRANGERS + k);
            assert_true(read_by_format(f, test_number(i, k)));
            assert_int_equal(read_by_format(f, nonmember), tamis_has_hash(f, nonmember));
        }
        tamis_free(f);
    }
}

/* Groups and rings have edges; near payloads, far ones and single keys are queried in different
 * ways: every way must agree with the format. */
static void ask_on_every_processor(const tamis *f, uint64_t family) {
    enum { MAX = 300 };
    static const uint32_t cpus[] = {0, TAMIS_CPU_AVX2, TAMIS_CPU_ALL};
    uint64_t hash[MAX];
    uint8_t hit[MAX + 1], want[MAX];
    for (uint64_t i = 0; i < MAX; i++) {
        hash[i] = test_number(family, i % 3 ? TEST_STRANGERS + i : i);
        want[i] = read_by_format(f, hash[i]);
    }
    for (size_t c = 0; c < COUNT_OF(cpus); c++) {
        tamis__cpu_set(cpus[c]);
        for (size_t n = 0; n <= MAX; n += n < 140 ? 1 : 53) {
            memset(hit, 7, sizeof hit);
            tamis_has_hashes(f, hash, n, hit);
            assert_memory_equal(hit, want, n);
            assert_int_equal(hit[n], 7);
        }
        for (size_t i = 0; i < MAX; i++) assert_int_equal(tamis_has_hash(f, hash[i]), want[i]);
    }
    tamis__cpu_set(TAMIS_CPU_ALL);
}

/* With a third cache that holds the filter, and with the smallest that is believed. */
static void ask_every_way(const tamis *f, uint64_t family) {
    static const uint64_t caches[] = {0, 1};
    for (size_t c = 0; c < COUNT_OF(caches); c++) {
#ifndef TAMIS_PLAIN
        tamis__cache_set(TAMIS_CACHE_3, caches[c]);
#endif
        ask_on_every_processor(f, family);
    }
#ifndef TAMIS_PLAIN
    tamis__cache_set(TAMIS_CACHE_3, 0);
#endif
}

static void every_way_to_ask_agrees(void **state) {
    (void)state;
    static const uint64_t counts[] = {0, 1, 2000, 600000}; /* the last exceeds the cache */
    static const unsigned widths[] = {1, 7, 8, 13, 16, 25, 26, 32};
    for (unsigned arity = 3; arity <= 4; arity++)
        for (size_t w = 0; w < COUNT_OF(widths); w++)
            for (size_t i = 0; i < COUNT_OF(counts); i++) {
                char spec[64];
                if (counts[i] > 2000 && widths[w] < 16 && arity == 4) continue;
                sprintf(spec, "fuse:width=%u,arity=%u%s", widths[w], arity,
                        w % 2 ? ",segment=1024" : "");
                tamis *f = test_build(spec, w, counts[i]);
                ask_every_way(f, w);
                tamis_free(f);
            }
}

/* Up to eight segments are found in registers, more in memory. */
static void any_number_of_segments(void **state) {
    (void)state;
    static const unsigned segments[] = {1, 2, 3, 7, 8, 9, 12};
    enum { KEYS = 1300000 }; /* beyond the smallest third cache */
    for (size_t s = 0; s < COUNT_OF(segments); s++) {
        char spec[64];
        sprintf(spec, "fuse:width=8,segment=%u", KEYS / segments[s] + 100);
        tamis *f = test_build(spec, s, KEYS);
        struct tamis_info info = TAMIS_INFO_INIT;
        tamis_get_info(f, &info);
        assert_int_equal(info.word[0], segments[s]);
        ask_every_way(f, s);
        tamis_free(f);
    }
}

/* Handles choose the functions for one key when they are made. */
static void ask_one_by_one(const tamis *f, const uint64_t *key, size_t n) {
    static const uint32_t cpus[] = {0, TAMIS_CPU_AVX2, TAMIS_CPU_ALL};
    for (size_t c = 0; c < COUNT_OF(cpus); c++) {
        tamis *copy;
        tamis__cpu_set(cpus[c]);
        assert_int_equal(tamis_copy(&copy, f), TAMIS_OK);
        for (size_t i = 0; i < n; i++) {
            uint64_t hash;
            tamis_hash_u64s(f, &key[i], 1, &hash);
            const bool want = read_by_format(f, hash);
            assert_int_equal(tamis_has_hash(copy, hash), want);
            assert_int_equal(tamis_has_u64(copy, key[i]), want);
        }
        tamis_free(copy);
    }
    tamis__cpu_set(TAMIS_CPU_ALL);
}

/* Half of those that are asked for are keys, if there are any. */
static void build_and_ask_one_by_one(const char *spec, uint64_t n) {
    enum { MAX = 600 };
    uint64_t key[MAX];
    tamis_builder *b = test_builder(spec);
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(tamis_builder_add_u64(b, test_number(n, i)), TAMIS_OK);
    tamis *f = test_finish(b);
    for (uint64_t i = 0; i < MAX; i++)
        key[i] = test_number(n, i % 2 && n ? i * 7919 % n : TEST_STRANGERS + i);
    for (uint64_t i = 1; i < MAX && n; i += 2) assert_true(tamis_has_u64(f, key[i]));
    ask_one_by_one(f, key, MAX);
    tamis_free(f);
}

/* Of every width, in one segment and in several, near and far. */
static void single_keys_are_answered_as_the_format_says(void **state) {
    (void)state;
    static const uint64_t counts[] = {0, 1, 2, 5000};
    static const unsigned far_widths[] = {8, 13, 16};
    char spec[80];
    for (unsigned arity = 3; arity <= 4; arity++) {
        for (unsigned width = 1; width <= 32; width++)
            for (size_t i = 0; i < 2 * COUNT_OF(counts); i++) {
                sprintf(spec, "fuse:width=%u,arity=%u%s", width, arity,
                        i % 2 ? ",segment=1024" : "");
                build_and_ask_one_by_one(spec, counts[i / 2]);
            }
        for (size_t i = 0; i < 2 * COUNT_OF(far_widths); i++) {
            sprintf(spec, "fuse:width=%u,arity=%u%s", far_widths[i / 2], arity,
                    i % 2 ? ",segment=300000" : "");
            build_and_ask_one_by_one(spec, 1000000);
        }
    }
    build_and_ask_one_by_one("fuse:width=8,hash=sip13", 5000);
}

/* All keys are in the last of three segments. */
static void empty_segments_answer_no(void **state) {
    (void)state;
    enum { KEYS = 3000 };
    static const char *const specs[] = {"fuse:width=8,segment=1024", "fuse:width=1,segment=1024",
                                        "fuse:width=32,segment=1024,arity=4"};
    for (size_t s = 0; s < COUNT_OF(specs); s++) {
        tamis_builder *b = test_builder(specs[s]);
        for (uint64_t i = 0; i < KEYS; i++)
            tamis_builder_add_hash(b, UINT64_MAX - test_number(s, i) / 3);
        tamis *f = test_finish(b);
        for (uint64_t i = 0; i < KEYS; i++) {
            uint64_t hash[2] = {UINT64_MAX - test_number(s, i) / 3, test_number(s, i) / 3 * 2};
            uint8_t hit[2];
            tamis_has_hashes(f, hash, 2, hit);
            assert_int_equal(hit[0], 1);
            assert_int_equal(hit[1], 0);
            assert_true(tamis_has_hash(f, hash[0]));
            assert_false(tamis_has_hash(f, hash[1]));
        }
        ask_every_way(f, s);
        tamis_free(f);
    }
}

static void rates_are_as_promised(void **state) {
    (void)state;
    enum { PROBES = 300000 };
    static const uint64_t counts[] = {0, 1, 2, 100, 10000}; /* and 10^6 below */
    static const char *const specs[] = {"fuse:width=8", "fuse:width=1,arity=4", "fuse:fpr=1%",
                                        "fuse:width=16"};
    for (size_t s = 0; s < COUNT_OF(specs); s++)
        for (size_t i = 0; i < COUNT_OF(counts); i++) {
            tamis *f = test_build(specs[s], 3 + s, counts[i]);
            const uint64_t hits = test_count_hits(f, 3 + s, TEST_STRANGERS, PROBES);
            const double rate = counts[i] ? ldexp(1, -(int)test_info(f).word[3]) : 0;
            assert_true(tamis_fpr_now(f) == rate);
            assert_int_equal(test_count_hits(f, 3 + s, 0, counts[i]), counts[i]);
            if (!test_is_possible(hits, PROBES, rate, TEST_ALPHA))
                fail_msg("%s, %llu keys: %llu hits", specs[s], (unsigned long long)counts[i],
                         (unsigned long long)hits);
            tamis_free(f);
        }
}

/* Fingerprints must not depend on the position of the cells, nor on the segment. */
static void segments_do_not_change_the_rate(void **state) {
    (void)state;
    enum { KEYS = 40000, PROBES = 400000 };
    tamis *f = test_build("fuse:width=8,segment=1024", 1, KEYS);
    assert_int_equal(test_info(f).word[0], (KEYS + 1023) / 1024);
    assert_int_equal(test_count_hits(f, 1, 0, KEYS), KEYS);
    const uint64_t hits = test_count_hits(f, 1, TEST_STRANGERS, PROBES);
    assert_true(test_is_possible(hits, PROBES, 1.0 / 256, TEST_ALPHA));
    assert_true(test_info(f).items_now.value == KEYS);
    tamis_free(f);
}

/* ---- Rebuilding ----------------------------------------------------------------------------- */

static void the_same_set_gives_the_same_bytes(void **state) {
    (void)state;
    enum { KEYS = 10000 };
    const char *spec = "fuse:width=9,segment=1024";
    tamis *f = test_build(spec, 2, KEYS);
    tamis_builder *b = test_careful_builder(spec, 3);
    for (uint64_t i = 0; i < 3 * KEYS; i++) /* backwards, three times, on three threads */
        tamis_builder_add_hash(b, test_number(2, KEYS - 1 - i % KEYS));
    tamis *g = test_finish(b);
    assert_true(test_is_same_payload(f, g));
    assert_int_equal(test_info(g).items, KEYS);
    tamis_free(f);
    tamis_free(g);
}

static void a_view_at_any_alignment_answers_the_same(void **state) {
    (void)state;
    enum { KEYS = 3000 };
    static const char *const specs[] = {"fuse:width=8", "fuse:width=16", "fuse:width=11",
                                        "fuse:width=30,arity=4", "fuse:width=2,segment=1024"};
    for (size_t s = 0; s < COUNT_OF(specs); s++) {
        tamis *f = test_build(specs[s], 5, KEYS);
        for (size_t shift = 1; shift < 8; shift += 2) {
            test_view view = test_view_at(f, shift);
            assert_int_equal(test_count_hits(view.filter, 5, 0, KEYS), KEYS);
            assert_int_equal(test_count_hits(view.filter, 5, TEST_STRANGERS, 5000),
                             test_count_hits(f, 5, TEST_STRANGERS, 5000));
            test_end_view(&view);
        }
        tamis_free(f);
    }
}

/* ---- Plans ---------------------------------------------------------------------------------- */

static uint64_t width_of(const char *spec) {
    return test_plan(spec).word[3];
}

static void widths_follow_from_params(void **state) {
    (void)state;
    assert_int_equal(width_of("fuse:capacity=1M"), 7);
    assert_int_equal(width_of("fuse:capacity=1M,fpr=1/256"), 8);
    assert_int_equal(width_of("fuse:capacity=1M,fpr=1/257"), 9);
    assert_int_equal(width_of("fuse:capacity=1M,fpr=0.9"), 1);
    assert_int_equal(width_of("fuse:capacity=10,fpr=2^-32"), 32);
    assert_int_equal(width_of("fuse:capacity=1M,fpr=1%,width=20"), 20);
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    assert_int_equal(tamis_plan_spec("fuse:capacity=10,fpr=1e-10", &plan), TAMIS_INVALID);
    assert_int_equal(tamis_plan_spec("fuse:capacity=10,arity=5", &plan), TAMIS_INVALID);
    assert_int_equal(tamis_plan_spec("fuse:capacity=10,width=33", &plan), TAMIS_INVALID);
    assert_int_equal(tamis_plan_spec("fuse:capacity=2^56,width=32", &plan), TAMIS_TOO_LARGE);
}

static void a_size_is_kept(void **state) {
    (void)state;
    enum { KEYS = 20000 };
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    uint64_t width = 0;
    assert_int_equal(tamis_plan_spec("fuse:capacity=20000,size=2000", &plan), TAMIS_INVALID);
    for (unsigned size = 6000; size <= 146000; size += 14000) {
        char spec[64];
        sprintf(spec, "fuse:size=%u,segment=1024", size);
        tamis *f = test_build(spec, 4, KEYS);
        uint64_t bytes;
        tamis_payload(f, &bytes);
        assert_true(bytes <= size);
        assert_true(test_info(f).word[3] >= width);
        width = test_info(f).word[3];
        tamis_free(f);
    }
    assert_int_equal(width, 32);
}

static void a_million_keys_take_what_was_promised(void **state) {
    (void)state;
    enum { KEYS = 1000000, PROBES = 1000000 };
    static const struct {
        const char *spec;
        double max;
    } lines[] = {{"fuse:width=8", 1.135 * 8}, {"fuse:width=12,arity=4", 1.08 * 12}};
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        tamis *f = test_build(lines[i].spec, 6, KEYS);
        uint64_t bytes;
        tamis_payload(f, &bytes);
        assert_true((double)bytes * 8 / KEYS <= lines[i].max);
        assert_int_equal(test_count_hits(f, 6, 0, KEYS), KEYS);
        const uint64_t hits = test_count_hits(f, 6, TEST_STRANGERS, PROBES);
        assert_true(test_is_possible(hits, PROBES, tamis_fpr_now(f), TEST_ALPHA));
        char spec[256];
        assert_true(tamis_spec(f, spec, sizeof spec) < sizeof spec);
        const struct tamis_plan plan = test_plan(spec);
        assert_int_equal(plan.payload_bytes, bytes);
        assert_int_equal(plan.word[3], test_info(f).word[3]);
        assert_int_equal(plan.word[4], test_info(f).word[4]);
        tamis_free(f);
    }
}

/* ---- The engine alone ----------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Every row width, with exactly the requested memory, so that sanitizers see every overrun. */
static void rows_of_any_width_come_back(void **state) {
    (void)state;
    enum { KEYS = 700 };
    uint64_t hash[KEYS], value[KEYS];
    for (uint64_t i = 0; i < KEYS; i++) hash[i] = test_number(1, i);
    qsort(hash, KEYS, sizeof *hash, ascending);
    for (unsigned v = 0; v <= 64; v++)
        for (unsigned g = v ? 0 : 1; g <= 32; g += v % 8 == 7 ? 5 : 11) {
            const tamis_peel_form form = {.segments = 1,
                                          .arity = v % 2 ? 3 : 4,
                                          .value_bits = v,
                                          .guard_bits = g,
                                          .has_slots = v && v % 4 == 0};
            const tamis_peel_task task = {.hash = hash, .value = value, .n = KEYS};
            uint8_t *work = malloc((size_t)tamis__peel_work(form, KEYS));
            uint8_t *out = malloc((size_t)tamis__peel_max_bytes(form, KEYS));
            uint64_t size;
            for (uint64_t i = 0; i < KEYS; i++)
                value[i] = v ? test_number(v, i) & tamis__field_mask(v) : 0;
            assert_int_equal(tamis__peel_make(form, &task, work, out, &size), TAMIS_OK);
            assert_int_equal(tamis__peel_audit(form, out, size), TAMIS_OK);
            assert_true(size <= tamis__peel_max_bytes(form, KEYS));
            out = realloc(out, (size_t)size + TAMIS_PEEL_BEHIND);
            for (uint64_t i = 0; i < KEYS; i++) {
                tamis_peel_aim aim = {0};
                tamis__peel_aim_at(&form, out, hash[i], &aim);
                assert_true(tamis__peel_hit(&form, &aim));
                tamis__peel_reach(&form, &aim);
                if (v) assert_int_equal(tamis__peel_value(&form, &aim), value[i]);
            }
            free(work);
            free(out);
        }
}

/* No two keys own the same slot. */
static void slots_have_one_owner(void **state) {
    (void)state;
    enum { KEYS = 5000 };
    static uint64_t hash[KEYS], value[KEYS], slot[KEYS];
    const tamis_peel_form form = {
        .segments = 1, .arity = 4, .value_bits = 1, .guard_bits = 0, .has_slots = true};
    const tamis_peel_task task = {.hash = hash, .value = value, .n = KEYS};
    uint8_t *work = malloc((size_t)tamis__peel_work(form, KEYS));
    uint8_t *out = malloc((size_t)tamis__peel_max_bytes(form, KEYS));
    uint64_t size;
    for (uint64_t i = 0; i < KEYS; i++) hash[i] = test_number(2, i);
    qsort(hash, KEYS, sizeof *hash, ascending);
    assert_int_equal(tamis__peel_make(form, &task, work, out, &size), TAMIS_OK);
    out = realloc(out, (size_t)size + TAMIS_PEEL_BEHIND);
    for (uint64_t i = 0; i < KEYS; i++) {
        tamis_peel_aim aim = {0};
        tamis__peel_aim_at(&form, out, hash[i], &aim);
        tamis__peel_reach(&form, &aim);
        slot[i] = aim.slot;
    }
    qsort(slot, KEYS, sizeof *slot, ascending);
    for (uint64_t i = 1; i < KEYS; i++) assert_true(slot[i - 1] < slot[i]);
    free(work);
    free(out);
}

static void hashes_that_are_not_mixed_are_refused(void **state) {
    (void)state;
    tamis_builder *b = test_builder("fuse:width=8");
    tamis *f;
    for (uint64_t i = 0; i < 5000; i++) tamis_builder_add_hash(b, i);
    assert_int_equal(tamis_builder_finish(b, &f), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "well mixed"));
    assert_null(f);
    tamis_builder_free(b);
}

/* Which of its cells is the first of the third strip, in the first try; 3: none. */
static unsigned finds_the_crowd(uint64_t hash, uint64_t strips) {
    const uint64_t first = tamis__range(hash, strips);
    return first <= 2 && (mix(hash) >> 16 * (2 - first) & 0xff) == 0 ? 2 - (unsigned)first : 3;
}

/* A cell with more keys than can be counted looks like a cell with one: the try fails, and another
 * one works. */
static void a_crowded_cell_fails_the_try(void **state) {
    (void)state;
    enum { KEYS = 2000, STRIPS = 9, LOG = 8 };
    static uint64_t hash[KEYS];
    uint64_t left[4] = {1, 129, 127, KEYS - 257}, size; /* by finds_the_crowd() */
    const tamis_peel_form form = {.segments = 1, .arity = 3, .guard_bits = 8};
    const tamis_peel_task task = {.hash = hash, .n = KEYS};
    uint8_t *work = malloc((size_t)tamis__peel_work(form, KEYS));
    uint8_t *out = malloc((size_t)tamis__peel_max_bytes(form, KEYS) + TAMIS_PEEL_BEHIND);
    for (uint64_t i = 0, n = 0; n < KEYS; i++) {
        uint64_t *more = &left[finds_the_crowd(test_number(8, i), STRIPS)];
        if (*more) (*more)--, hash[n++] = test_number(8, i);
    }
    qsort(hash, KEYS, sizeof *hash, ascending);
    assert_int_equal(tamis__peel_make(form, &task, work, out, &size), TAMIS_OK);
    assert_true(tamis__get64(out + 8) > 0);
    assert_int_equal(tamis__get64(out + 16), STRIPS << 8 | LOG);
    for (size_t i = 0; i < KEYS; i++) {
        tamis_peel_aim aim;
        tamis__peel_aim_at(&form, out, hash[i], &aim);
        assert_true(tamis__peel_hit(&form, &aim));
    }
    free(work);
    free(out);
}

/* ---- The gate ------------------------------------------------------------------------------- */

/* Cells and seeds may be anything: whatever the gate accepts can be queried. */
static void ask(const tamis *f) {
    test_count_hits(f, 9, 0, 2000);
}

/* Loads the image with one word of the payload changed. */
static tamis_status load_forged(uint8_t *image, size_t size, size_t at, uint64_t value) {
    return test_load_forged(image, size, TEST_HEADER_BYTES + at, value, ask);
}

static void forged_headers_are_refused(void **state) {
    (void)state;
    enum { KEYS = 3000 };
    tamis *f = test_build("fuse:width=9,segment=1024", 7, KEYS);
    size_t size;
    uint64_t bytes;
    uint8_t *image = test_image(f, &size);
    const uint8_t *payload = tamis_payload(f, &bytes);
    for (uint64_t s = 0; s < 3; s++) {
        const size_t at = (size_t)tamis__get64(payload + bytes - 8 * (4 - s));
        for (unsigned word = 0; word < 3; word++)
            for (unsigned bit = word == 1 ? 6 : 0; bit < 64; bit++) {
                const size_t where = at + 8 * word;
                const uint64_t forged = tamis__get64(payload + where) ^ (uint64_t)1 << bit;
                assert_int_equal(load_forged(image, size, where, forged), TAMIS_CORRUPT);
            }
    }
    for (size_t at = (size_t)bytes - 32; at < bytes; at += 8)
        for (unsigned bit = 0; bit < 64; bit++) {
            const uint64_t forged = tamis__get64(payload + at) ^ (uint64_t)1 << bit;
            assert_int_equal(load_forged(image, size, at, forged), TAMIS_CORRUPT);
        }
    assert_int_equal(load_forged(image, size, 0, tamis__get64(payload)), TAMIS_OK);
    free(image);
    tamis_free(f);
}

static void stray_bits_are_refused(void **state) {
    (void)state;
    tamis *f = test_build("fuse:width=1", 8, 1); /* 12 cells of one bit in a word */
    size_t size;
    uint64_t bytes;
    uint8_t *image = test_image(f, &size);
    const uint64_t cells = tamis__get64((const uint8_t *)tamis_payload(f, &bytes) + 24);
    assert_int_equal(bytes, 24 + 8 + 16);
    for (unsigned bit = 12; bit < 64; bit++)
        assert_int_equal(load_forged(image, size, 24, cells | (uint64_t)1 << bit), TAMIS_CORRUPT);
    free(image);
    tamis_free(f);
}

static void what_is_let_in_answers(void **state) {
    (void)state;
    tamis *f = test_build("fuse:width=13,segment=1024,arity=4", 9, 2500);
    size_t size;
    uint8_t *image = test_image(f, &size);
    for (uint64_t i = 0; i < 400; i++) {
        const size_t at = (size_t)(test_number(10, i) % ((size - TEST_HEADER_BYTES) / 8) * 8);
        const uint64_t value = i % 2 ? test_number(11, i) : test_number(11, i) % 64;
        load_forged(image, size, at, value);
    }
    for (uint64_t seed = 0; seed < 8; seed++) /* of the same round: a legal, wrong seed */
        assert_int_equal(load_forged(image, size, 8, seed), TAMIS_OK);
    free(image);
    tamis_free(f);
}

static void words_out_of_range_are_refused(void **state) {
    (void)state;
    tamis *f = test_build("fuse:width=8", 12, 50);
    static const test_word lines[] = {{3, 0},          {3, 33}, {3, 7},  {3, UINT64_MAX}, {4, 2},
                                      {4, 5},          {4, 4},  {2, 17}, {1, 0},          {1, 8},
                                      {1, UINT64_MAX}, {0, 0},  {0, 2},  {0, UINT64_MAX}, {5, 1}};
    assert_true(test_refuses_words(f, lines, COUNT_OF(lines), ask));
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_found),
        cmocka_unit_test(small_sets_can_always_be_built),
        cmocka_unit_test(a_reader_by_the_format_agrees),
        cmocka_unit_test(every_way_to_ask_agrees),
        cmocka_unit_test(any_number_of_segments),
        cmocka_unit_test(single_keys_are_answered_as_the_format_says),
        cmocka_unit_test(empty_segments_answer_no),
        cmocka_unit_test(rates_are_as_promised),
        cmocka_unit_test(segments_do_not_change_the_rate),
        cmocka_unit_test(the_same_set_gives_the_same_bytes),
        cmocka_unit_test(a_view_at_any_alignment_answers_the_same),
        cmocka_unit_test(widths_follow_from_params),
        cmocka_unit_test(a_size_is_kept),
        cmocka_unit_test(a_million_keys_take_what_was_promised),
        cmocka_unit_test(rows_of_any_width_come_back),
        cmocka_unit_test(slots_have_one_owner),
        cmocka_unit_test(a_crowded_cell_fails_the_try),
        cmocka_unit_test(hashes_that_are_not_mixed_are_refused),
        cmocka_unit_test(forged_headers_are_refused),
        cmocka_unit_test(stray_bits_are_refused),
        cmocka_unit_test(what_is_let_in_answers),
        cmocka_unit_test(words_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
