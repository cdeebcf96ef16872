/* SPDX-License-Identifier: MIT */
/* window keeps its contract: checked against a list of adds and a plain search for runs. */
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
#include "bits/probe.h"
#include "kinds/kind.h"
#include "tamis_engine.h"
#include "tests/support/bounds.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"
#include "tests/support/streams.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

extern const tamis_kind tamis__window;

enum { WINDOW_HASHES, GENERATIONS, EACH, SLICE, BY };

/* Adds, by the generation in which they came. */
typedef struct history {
    uint64_t generation[6000], count, now, in_this;
} history;

/* What the window must answer: yes for every add of the last l generations and of this one, no once
 * its last slice is gone. (In the k - 1 generations between, others may complete what is left of a
 * key.) Rates are so low that no false positive is expected. */
static void assert_window_is(const tamis *f, const history *h, uint64_t family,
                             const uint64_t word[]) {
    const uint64_t from = h->count > 300 ? h->count - 300 : 0;
    const uint64_t l = word[GENERATIONS], k = word[WINDOW_HASHES];
    for (uint64_t i = from; i < h->count; i++) {
        const uint64_t age = h->now - h->generation[i];
        const bool is_found = tamis_has_hash(f, test_number(family, i));
        if (age <= l ? !is_found : age >= l + k && is_found)
            fail_msg("k=%llu, l=%llu: add %llu, %llu generations old, after %llu adds",
                     (unsigned long long)k, (unsigned long long)l, (unsigned long long)i,
                     (unsigned long long)age, (unsigned long long)h->count);
    }
}

/* The contract for an add: found through the next l * each adds, which is at least `capacity`. */
static void window_keeps_exactly_its_adds(void **state) {
    (void)state;
    static const unsigned capacities[] = {1,  2,  3,  4,  5,  7,  8,  9, 16,
                                          31, 32, 33, 50, 63, 64, 65, 99};
    static const unsigned generations[] = {0, 1, 2, 3, 5, 8, 32, 64};
    for (size_t c = 0; c < COUNT_OF(capacities); c++)
        for (size_t g = 0; g < COUNT_OF(generations); g++) {
            static history h;
            char more[32] = "";
            memset(&h, 0, sizeof h);
            if (generations[g]) sprintf(more, ",generations=%u", generations[g]);
            tamis *f = test_make("window:capacity=%u,fpr=1e-10%s", capacities[c], more);
            const struct tamis_info info = test_info(f);
            const uint64_t l = info.word[GENERATIONS], each = info.word[EACH];
            if (generations[g]) assert_int_equal(l, generations[g]);
            assert_int_equal(each, (capacities[c] + l - 1) / l);
            assert_true(l * each >= capacities[c]);
            for (uint64_t n = 0; n < 3 * (l + 1) * each + 5; n++) {
                h.now = n / each;
                h.generation[h.count++] = h.now;
                test_add_hashes(f, c, n, n + 1);
                assert_window_is(f, &h, c, info.word);
                /* The same in numbers: the add `capacity` adds ago is the last that is certain. */
                for (uint64_t ago = 0; ago <= capacities[c] && ago <= n; ago++)
                    assert_true(tamis_has_hash(f, test_number(c, n - ago)));
            }
            tamis_free(f);
        }
}

/* Adds and ticks in any order, by adds and by the clock. */
static void window_turns_when_told(void **state) {
    (void)state;
    for (unsigned program = 0; program < 60; program++) {
        static history h;
        const bool is_clock = program % 2;
        memset(&h, 0, sizeof h);
        tamis *f =
            test_make("window:capacity=%u,fpr=1e-10,by=%s,generations=%u",
                      is_clock ? 3000 : 5 + program, is_clock ? "clock" : "adds", 1 + program % 9);
        const struct tamis_info info = test_info(f);
        for (uint64_t step = 0; step < 600; step++) {
            const uint64_t r = test_number(1000 + program, step);
            if (r % 100 < program) {
                assert_int_equal(tamis_tick(f), TAMIS_OK);
                h.now++, h.in_this = 0;
            } else {
                if (!is_clock && h.in_this == info.word[EACH]) h.now++, h.in_this = 0;
                h.in_this++;
                h.generation[h.count] = h.now;
                test_add_hashes(f, 100 + program, h.count, h.count + 1);
                h.count++;
            }
            if (step % 7 == 0) assert_window_is(f, &h, 100 + program, info.word);
            assert_int_equal(tamis__get64(test_payload(f)), h.now);
            assert_int_equal(tamis__get64(test_payload(f) + 8), h.in_this);
            struct tamis_info facts = TAMIS_INFO_INIT;
            tamis_get_info(f, &facts);
            assert_true(facts.adds_to_tick ==
                        (is_clock ? UINT64_MAX : info.word[EACH] - h.in_this));
        }
        tamis_free(f);
    }
}

/* A tick in parts of any size, with adds in between, equals a whole tick after those adds. */
static void window_turns_in_parts(void **state) {
    (void)state;
    for (unsigned program = 0; program < 40; program++) {
        tamis *f = test_make("window:capacity=%u,fpr=1%%,by=%s,generations=%u", 50 + 97 * program,
                             program % 4 ? "clock" : "adds", 1 + program % 7),
              *g;
        const struct tamis_info info = test_info(f);
        const uint64_t bytes = 1 + test_number(program, 1) % (info.word[SLICE] / 8 + 2);
        uint64_t n = 0, parts = 0;
        assert_int_equal(tamis_copy(&g, f), TAMIS_OK);
        for (uint64_t step = 0; step < 12; step++) {
            bool is_done = false;
            for (uint64_t part = 0; !is_done; part++) {
                const uint64_t more = part < 3 ? step : 0; /* with by=adds these may turn it */
                test_add_hashes(f, program, n, n + more);
                test_add_hashes(g, program, n, n + more);
                n += more;
                assert_int_equal(tamis_tick_part(f, step == 5 ? 0 : bytes, &is_done), TAMIS_OK);
                parts++;
                /* A plain tick halfway through completes the turn. */
                if (step == 7 && !is_done) {
                    assert_int_equal(tamis_tick(f), TAMIS_OK);
                    break;
                }
            }
            assert_int_equal(tamis_tick(g), TAMIS_OK);
            assert_memory_equal(test_payload(f), test_payload(g), (size_t)info.payload_bytes);
        }
        assert_true(parts >= 12);
        tamis_free(f);
        tamis_free(g);
    }
}

/* What is left of an expired key: j generations later it lacks j of its slices, and is found if
 * others have filled in for all of them. */
static void window_lets_go_slice_by_slice(void **state) {
    (void)state;
    enum { CAPACITY = 20000 };
    tamis *f = test_make("window:capacity=%d,fpr=0.1%%,generations=20", CAPACITY);
    const struct tamis_info info = test_info(f);
    const uint64_t each = info.word[EACH], k = info.word[WINDOW_HASHES];
    test_add_hashes(f, 4, 0, 80 * each);
    const double fill = 1 - pow(1 - 1 / (double)info.word[SLICE], (double)(k * each));
    for (uint64_t late = 0; late <= 5; late++) {
        const uint64_t from = (79 - 20 - late) * each;
        const uint64_t found = test_count_hits(f, 4, from, each);
        if (!test_is_possible(found, each, pow(fill, (double)late), TEST_ALPHA))
            fail_msg("%llu of %llu are found %llu generations late", (unsigned long long)found,
                     (unsigned long long)each, (unsigned long long)late);
    }
    tamis_free(f);
}

/* Nobody will live to see it: after 2^63 turns, all goes on as before. */
static void window_turns_forever(void **state) {
    (void)state;
    tamis *f = test_make("window:capacity=20,fpr=1e-10,generations=5"), *g;
    const size_t size = (size_t)tamis_image_size(f);
    uint8_t *image = malloc(size);
    assert_int_equal(tamis_serialize(f, image, size), TAMIS_OK);
    tamis__put64(image + TEST_HEADER_BYTES, ((uint64_t)1 << 63) - 3);
    test_reseal(image, size);
    tamis_free(f);
    assert_int_equal(tamis_load(&f, image, size), TAMIS_OK);
    for (uint64_t n = 0; n < 100; n++) {
        test_add_hashes(f, 1, n, n + 1);
        for (uint64_t ago = 0; ago <= 20 && ago <= n; ago++)
            assert_true(tamis_has_hash(f, test_number(1, n - ago)));
        assert_int_equal(tamis_serialize(f, image, size), TAMIS_OK);
        assert_int_equal(tamis_load(&g, image, size), TAMIS_OK);
        tamis_free(g);
    }
    free(image);
    tamis_free(f);
}

/* The recursion of the paper, from the fills counted here. */
typedef struct recursion {
    double fill[130], known[66][132];
    int k, slices;
} recursion;

static double run_from(recursion *r, int a, int i) {
    if (a == r->k) return 1;
    if (i == r->slices) return 0;
    double *known = &r->known[a][i];
    if (*known < 0)
        *known = r->fill[i] * run_from(r, a + 1, i + 1) + (1 - r->fill[i]) * run_from(r, 0, i + 1);
    return *known;
}

static double paper_rate(recursion *r, const uint64_t word[]) {
    for (int a = 0; a < 66; a++)
        for (int i = 0; i < 132; i++) r->known[a][i] = -1;
    r->k = (int)word[WINDOW_HASHES];
    r->slices = (int)(word[WINDOW_HASHES] + word[GENERATIONS]);
    return run_from(r, 0, 0);
}

/* Fills after `items` adds, by stepping through all of them. */
static double walked_rate(const uint64_t word[], uint64_t items) {
    static recursion r;
    const uint64_t k = word[WINDOW_HASHES], slices = k + word[GENERATIONS];
    uint64_t keys[130] = {0}, in_this = 0;
    for (uint64_t i = 0; i < items; i++) {
        if (in_this == word[EACH]) {
            memmove(keys + 1, keys, (slices - 1) * sizeof *keys);
            keys[0] = in_this = 0;
        }
        in_this++;
        for (uint64_t a = 0; a < k; a++) keys[a]++;
    }
    for (uint64_t a = 0; a < slices; a++)
        r.fill[a] = 1 - pow(1 - 1 / (double)word[SLICE], (double)keys[a]);
    return paper_rate(&r, word);
}

static void window_rates_are_those_of_the_recursion(void **state) {
    (void)state;
    static const char *const specs[] = {
        "window:capacity=100",          "window:capacity=1",
        "window:capacity=37,fpr=10%",   "window:capacity=64,fpr=1e-4,generations=64",
        "window:capacity=200,bits=999", "window:capacity=50,hashes=1",
    };
    for (size_t s = 0; s < COUNT_OF(specs); s++) {
        tamis *f = test_make("%s", specs[s]);
        const struct tamis_info info = test_info(f);
        const uint64_t slices = info.word[WINDOW_HASHES] + info.word[GENERATIONS];
        const uint64_t settled = (slices - 1) * info.word[EACH], period = info.word[EACH];
        double worst = 0;
        for (uint64_t n = 0; n <= settled + 2 * period; n++) {
            const double walked = walked_rate(info.word, n);
            const double formula = tamis__window.rate(info.word, n);
            worst = fmax(worst, walked);
            if (n <= settled && fabs(formula - walked) > 1e-9 * walked)
                fail_msg("%s after %llu adds: %g, not %g", specs[s], (unsigned long long)n, formula,
                         walked);
        }
        assert_true(fabs(tamis__window.rate(info.word, UINT64_MAX) / worst - 1) < 1e-9);
        if (info.fpr_asked > 0) assert_true(worst <= info.fpr_asked);
        tamis_free(f);
    }
}

/* Just before a turn and just after one: the two extremes of the rate. */
static void window_keeps_its_rate_at_its_worst_moment(void **state) {
    (void)state;
    enum { CAPACITY = 2000, FILTERS = 8 };
    static const double rates[] = {0.2, 0.01};
    for (size_t r = 0; r < COUNT_OF(rates); r++)
        for (unsigned after = 0; after <= 1; after++) {
            double sum = 0, squares = 0, formula = 0;
            for (unsigned i = 0; i < FILTERS; i++) {
                tamis *f = test_make("window:capacity=%d,fpr=%g", CAPACITY, rates[r]);
                const struct tamis_info info = test_info(f);
                const uint64_t slices = info.word[WINDOW_HASHES] + info.word[GENERATIONS];
                const uint64_t adds = (2 * slices + 1) * info.word[EACH] + after;
                test_add_hashes(f, 20 + i, 0, adds);
                test_demand_rate(f, 20 + i, 200000);
                sum += tamis_fpr_now(f);
                squares += tamis_fpr_now(f) * tamis_fpr_now(f);
                formula = walked_rate(info.word, adds);
                assert_true(formula <= rates[r] * (after ? 0.99 : 1));
                assert_true(after || formula > rates[r] * 0.97); /* sized for this moment */
                tamis_free(f);
            }
            const double mean = sum / FILTERS;
            const double error = sqrt(fmax(0, squares / FILTERS - mean * mean) / (FILTERS - 1));
            if (fabs(mean - formula) > 6 * error + 0.002 * formula)
                fail_msg("%g: %g +- %g, the formula says %g", rates[r], mean, error, formula);
        }
}

/* By the clock all adds of a window may come in one tick, window after window. */
static void window_by_the_clock_stands_crowds(void **state) {
    (void)state;
    enum { CAPACITY = 1000, FILTERS = 10 };
    for (unsigned l = 2; l <= 16; l *= 2) {
        double sum = 0;
        for (unsigned i = 0; i < FILTERS; i++) {
            tamis *f = test_make("window:capacity=%d,fpr=2%%,by=clock,generations=%u", CAPACITY, l);
            for (unsigned t = 0; t < 6 * l; t++) {
                if (t % l == 0) test_add_hashes(f, i, t / l * CAPACITY, (t / l + 1) * CAPACITY);
                if (t + l < 6 * l) tamis_tick(f);
            }
            test_demand_rate(f, i, 20000);
            sum += tamis_fpr_now(f);
            tamis_free(f);
        }
        assert_true(sum / FILTERS <= 0.02);
    }
}

/* Skipping ages must find what checking every run of k finds, also where nearly everything hits.
 * Positions are computed independently. */
static void window_leaps_find_what_walking_finds(void **state) {
    (void)state;
    for (unsigned bits = 400; bits <= 3200; bits *= 2) {
        tamis *f = test_make("window:capacity=60,bits=%u,hashes=4,generations=9", bits);
        const struct tamis_info info = test_info(f);
        const uint64_t slices = 13, slice = info.word[SLICE];
        for (uint64_t n = 0; n < 300; n++) {
            test_add_hashes(f, bits, n, n + 1);
            const uint8_t *bytes = test_payload(f);
            const uint64_t turns = tamis__get64(bytes), head = (slices - turns % slices) % slices;
            for (uint64_t q = 0; q < 40; q++) {
                const uint64_t hash = test_number(bits, TEST_STRANGERS + 40 * n + q);
                unsigned run = 0, longest = 0;
                for (uint64_t age = 0; age < slices; age++) {
                    const uint64_t place = (head + age) % slices;
                    const uint64_t at =
                        place * slice +
                        tamis__range(tamis__mix(hash ^ place * 0x9e3779b97f4a7c15), slice);
                    run = bytes[16 + at / 8] >> at % 8 & 1 ? run + 1 : 0;
                    if (run > longest) longest = run;
                }
                assert_int_equal(tamis_has_hash(f, hash), longest >= 4);
            }
        }
        tamis_free(f);
    }
}

static void window_estimates_its_keys(void **state) {
    (void)state;
    tamis *f = test_make("window:capacity=5000,fpr=1%%");
    const struct tamis_info info = test_info(f);
    for (uint64_t n = 0; n < 20000;) {
        test_add_hashes(f, 9, n, n + 500);
        n += 500;
        const uint64_t turns = (n - 1) / info.word[EACH];
        const uint64_t held =
            (turns < info.word[GENERATIONS] ? turns : info.word[GENERATIONS]) * info.word[EACH] +
            n - turns * info.word[EACH];
        const struct tamis_estimate items = test_info(f).items_now;
        if (fabs(items.value - (double)held) > 6 * items.error || items.error > 0.05 * (double)held)
            fail_msg("%llu adds: %llu held, estimated as %g +- %g", (unsigned long long)n,
                     (unsigned long long)held, items.value, items.error);
    }
    tamis_free(f);
}

static void window_refuses_what_cannot_be(void **state) {
    (void)state;
    const size_t turns_at = TEST_HEADER_BYTES, adds_at = TEST_HEADER_BYTES + 8;
    tamis *f = test_make("window:capacity=40,fpr=1%%,generations=4,hashes=3"), *clock;
    assert_int_equal(test_info(f).word[EACH], 10);
    test_demand_refused(f, adds_at + 8, 1, true); /* a bit without an add */
    test_demand_refused(f, turns_at, 3, false);   /* three ticks are valid */
    test_add_hashes(f, 1, 0, 25);
    test_demand_refused(f, turns_at, 2, false);
    test_demand_refused(f, turns_at, (uint64_t)1 << 63, true);
    test_demand_refused(f, turns_at, 1, true); /* then the oldest slice would be clear */
    test_demand_refused(f, adds_at, 10, false);
    test_demand_refused(f, adds_at, 11, true);
    test_demand_refused(f, adds_at, 0, true); /* then the youngest slice would be clear */
    test_demand_safe_forgeries(f, 60);
    tamis_free(f);
    clock = test_make("window:capacity=40,fpr=1%%,generations=4,hashes=3,by=clock");
    test_add_hashes(clock, 1, 0, 25);
    test_demand_refused(clock, adds_at, 1000000, false); /* any number */
    test_demand_refused(clock, adds_at, 0, true);
    test_demand_safe_forgeries(clock, 61);
    tamis_free(clock);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(window_keeps_exactly_its_adds),
        cmocka_unit_test(window_turns_when_told),
        cmocka_unit_test(window_turns_in_parts),
        cmocka_unit_test(window_lets_go_slice_by_slice),
        cmocka_unit_test(window_turns_forever),
        cmocka_unit_test(window_rates_are_those_of_the_recursion),
        cmocka_unit_test(window_keeps_its_rate_at_its_worst_moment),
        cmocka_unit_test(window_by_the_clock_stands_crowds),
        cmocka_unit_test(window_leaps_find_what_walking_finds),
        cmocka_unit_test(window_estimates_its_keys),
        cmocka_unit_test(window_refuses_what_cannot_be),
    };
    return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
