/* SPDX-License-Identifier: MIT */
/* Filters for streams: stable settles, window keeps what it promised, scalable grows at its rate.
 *
 * Each is held against a slow and obvious version of itself: stable against cells in an array and a
 * chain of states, window against a list of adds and a plain search for runs, scalable against the
 * bound that its stages add up to. */
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

#include "bits/bits.h"
#include "bits/packed.h"
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

extern const tamis_kind tamis__stable, tamis__window, tamis__scalable;

/* ---- stable --------------------------------------------------------------------------------- */

enum { CELLS, WIDTH, STABLE_HASHES, DECREMENTS, DICE };

/* The same by the book: cells in an array, one by one. */
typedef struct model {
    uint8_t cell[70000];
    uint64_t draws;
} model;

static void model_add(model *m, const uint64_t word[], uint64_t hash) {
    m->draws++;
    const uint64_t start =
        tamis__range(tamis__mix(word[DICE] + m->draws * 0x9e3779b97f4a7c15), word[CELLS]);
    for (uint64_t i = 0; i < word[DECREMENTS]; i++) {
        uint8_t *c = &m->cell[(start + i) % word[CELLS]];
        if (*c) --*c;
    }
    uint64_t x = hash | 1;
    for (uint64_t i = 0; i < word[STABLE_HASHES]; i++, x *= 0xf1357aea2e62a9c5)
        m->cell[tamis__range(x, word[CELLS])] = (uint8_t)((1u << word[WIDTH]) - 1);
}

static void stable_wears_and_sets_as_the_book_says(void **state) {
    (void)state;
    static const char *const specs[] = {
        "stable:capacity=50,fpr=10%,width=1",        "stable:capacity=50,fpr=1%,width=2,seed=7",
        "stable:capacity=300,fpr=1%,width=4",        "stable:capacity=1,bits=128,width=4",
        "stable:capacity=1,bits=128,width=2,seed=3", "stable:capacity=1,bits=192,width=1",
        "stable:capacity=500,fpr=1%,hashes=2",       "stable:capacity=20,fpr=1e-6",
    };
    for (size_t s = 0; s < COUNT_OF(specs); s++) {
        static model m;
        memset(&m, 0, sizeof m);
        tamis *f = test_make("%s", specs[s]);
        const struct tamis_info info = test_info(f);
        assert_true(info.word[CELLS] < COUNT_OF(m.cell));
        for (uint64_t i = 0; i < 3000; i++) {
            model_add(&m, info.word, test_number(s, i));
            assert_int_equal(tamis_add_hash(f, test_number(s, i)), TAMIS_OK);
            assert_true(tamis_has_hash(f, test_number(s, i))); /* right after its add, always */
            if (i % 50) continue;
            const uint8_t *cells = test_payload(f) + 8;
            assert_int_equal(tamis__get64(test_payload(f)), i + 1);
            for (uint64_t c = 0; c < info.word[CELLS]; c++)
                assert_int_equal(tamis__field_get(cells, c, (unsigned)info.word[WIDTH]), m.cell[c]);
        }
        tamis_free(f);
    }
}

/* One cell as a chain of states, an add at a time. */
typedef struct chain {
    double state[16];
} chain;

static void chain_add(chain *c, const uint64_t word[]) {
    const unsigned top = (1u << word[WIDTH]) - 1;
    const double m = (double)word[CELLS], drop = (double)word[DECREMENTS] / m;
    const double set = 1 - pow(1 - 1 / m, (double)word[STABLE_HASHES]);
    for (unsigned i = 1; i <= top; i++) {
        c->state[i - 1] += drop * c->state[i];
        c->state[i] -= drop * c->state[i];
    }
    for (unsigned i = 0; i < top; i++) {
        c->state[top] += set * c->state[i];
        c->state[i] -= set * c->state[i];
    }
}

static double chain_rate(const chain *c, const uint64_t word[]) {
    return pow(1 - c->state[0], (double)word[STABLE_HASHES]);
}

static const char *const stable_specs[] = {
    "stable:capacity=500,fpr=10%",        "stable:capacity=500,fpr=1%",
    "stable:capacity=500,fpr=1%,width=1", "stable:capacity=500,fpr=1%,width=4",
    "stable:capacity=500,fpr=1e-4",       "stable:capacity=100,bits=20000",
    "stable:capacity=1,fpr=1%",           "stable:capacity=1,bits=128,width=4",
};

static void stable_rates_are_those_of_the_chain(void **state) {
    (void)state;
    for (size_t s = 0; s < COUNT_OF(stable_specs); s++) {
        tamis *f = test_make("%s", stable_specs[s]);
        const struct tamis_info info = test_info(f);
        chain c = {{1}};
        for (uint64_t adds = 0; adds <= 50 * info.capacity + 100; adds++) {
            const double formula = tamis__stable.rate(info.word, adds);
            if (fabs(formula - chain_rate(&c, info.word)) > 1e-6 * formula + 1e-13)
                fail_msg("%s after %llu adds: %g, not %g", stable_specs[s],
                         (unsigned long long)adds, formula, chain_rate(&c, info.word));
            chain_add(&c, info.word);
        }
        /* It has settled, and below what was asked. */
        const double settled = tamis__stable.rate(info.word, UINT64_MAX);
        assert_true(fabs(settled / chain_rate(&c, info.word) - 1) < 1e-3);
        if (info.fpr_asked > 0) assert_true(settled <= info.fpr_asked);
        tamis_free(f);
    }
}

/* At every load the bits are what the formula says, and strangers hit as the bits say. */
static void stable_keeps_its_rate_at_every_age(void **state) {
    (void)state;
    static const double ages[] = {0.2, 0.5, 1, 2, 5, 20};
    enum { CAPACITY = 3000, FILTERS = 8 };
    for (unsigned width = 1; width <= 4; width *= 2) {
        double sum[COUNT_OF(ages)] = {0}, squares[COUNT_OF(ages)] = {0};
        uint64_t word[TAMIS_WORDS];
        for (unsigned i = 0; i < FILTERS; i++) {
            tamis *f = test_make("stable:capacity=%d,fpr=5%%,width=%u,seed=%u", CAPACITY, width, i);
            uint64_t adds = 0;
            for (size_t a = 0; a < COUNT_OF(ages); a++) {
                const uint64_t until = (uint64_t)(ages[a] * CAPACITY);
                test_add_hashes(f, i, adds, until);
                adds = until;
                test_demand_rate(f, i, 20000);
                sum[a] += tamis_fpr_now(f);
                squares[a] += tamis_fpr_now(f) * tamis_fpr_now(f);
            }
            memcpy(word, test_info(f).word, sizeof word);
            tamis_free(f);
        }
        for (size_t a = 0; a < COUNT_OF(ages); a++) {
            const double mean = sum[a] / FILTERS;
            const double error = sqrt(fmax(0, squares[a] / FILTERS - mean * mean) / (FILTERS - 1));
            const double formula = tamis__stable.rate(word, (uint64_t)(ages[a] * CAPACITY));
            if (fabs(mean - formula) > 6 * error + 0.005 * formula)
                fail_msg("width %u, age %g: %g +- %g, the formula says %g", width, ages[a], mean,
                         error, formula);
            assert_true(formula <= 0.05);
        }
    }
}

/* capacity is the half-life: so many adds later half of the keys are remembered, and the chain says
 * how many after half and twice that time. */
static void stable_remembers_half_for_its_capacity(void **state) {
    (void)state;
    enum { CAPACITY = 400, KEYS = 4000 };
    static const double rates[] = {0.1, 0.01, 1e-4};
    for (size_t r = 0; r < COUNT_OF(rates); r++)
        for (unsigned width = 1; width <= 4; width *= 2) {
            tamis *f = test_make("stable:capacity=%d,fpr=%g,width=%u", CAPACITY, rates[r], width);
            const struct tamis_info info = test_info(f);
            chain c = {{0}};
            c.state[(1u << width) - 1] = 1;
            double chance[2 * CAPACITY + 1];
            for (unsigned age = 0; age <= 2 * CAPACITY; age++) {
                chance[age] = chain_rate(&c, info.word);
                chain_add(&c, info.word);
            }
            const double fpr = tamis__stable.rate(info.word, UINT64_MAX);
            const double remembered = (chance[CAPACITY] - fpr) / (1 - fpr);
            assert_true(remembered >= 0.499 && remembered < 0.53);

            uint64_t next = 10 * CAPACITY, found[3] = {0};
            static const unsigned ages[3] = {CAPACITY / 2, CAPACITY, 2 * CAPACITY};
            test_add_hashes(f, r, 0, next);
            for (unsigned i = 0; i < KEYS; i++, next += 17) {
                test_add_hashes(f, r, next, next + 17);
                for (unsigned a = 0; a < 3; a++)
                    found[a] += tamis_has_hash(f, test_number(r, next + 16 - ages[a]));
            }
            for (unsigned a = 0; a < 3; a++)
                if (!test_is_possible(found[a], KEYS, chance[ages[a]], TEST_ALPHA))
                    fail_msg("fpr=%g, width %u: %llu of %d found at age %u, not %g", rates[r],
                             width, (unsigned long long)found[a], KEYS, ages[a], chance[ages[a]]);
            tamis_free(f);
        }
}

static void stable_estimates_what_is_remembered(void **state) {
    (void)state;
    enum { CAPACITY = 2000 };
    for (unsigned width = 1; width <= 4; width *= 2) {
        tamis *f = test_make("stable:capacity=%d,fpr=0.1%%,width=%u", CAPACITY, width);
        const double fpr = tamis__stable.rate(test_info(f).word, UINT64_MAX);
        uint64_t adds = 0;
        for (uint64_t until = 200; until <= 20 * CAPACITY; until *= 3) {
            test_add_hashes(f, width, adds, until);
            adds = until;
            const double found = (double)test_count_hits(f, width, 0, until) - fpr * (double)until;
            const struct tamis_estimate items = test_info(f).items_now;
            if (fabs(items.value - found) > 6 * items.error + 0.03 * found)
                fail_msg("width %u: %g of %llu are found, estimated as %g +- %g", width, found,
                         (unsigned long long)until, items.value, items.error);
            assert_true(items.error < 0.5 * found + 10);
        }
        tamis_free(f);
    }
}

static void stable_takes_a_key_as_seen_again(void **state) {
    (void)state;
    tamis *f = test_make("stable:capacity=1000,fpr=1%%");
    bool is_new = false;
    assert_int_equal(tamis_add_new(f, "cat", 3, &is_new), TAMIS_OK);
    assert_true(is_new);
    for (uint64_t i = 0; i < 100000; i++) { /* a key that comes often is never forgotten */
        test_add_hashes(f, 3, i, i + 1);
        if (i % 20) continue;
        assert_int_equal(tamis_add_new(f, "cat", 3, &is_new), TAMIS_OK);
        assert_false(is_new);
    }
    assert_true(test_count_hits(f, 3, 0, 90000) < 2000); /* and the others are */
    test_demand_safe_forgeries(f, 50);
    tamis_free(f);
}

/* ---- window --------------------------------------------------------------------------------- */

enum { WINDOW_HASHES, GENERATIONS, EACH, SLICE, BY };

/* A list of adds by the generation in which they came. */
typedef struct history {
    uint64_t generation[6000], count, now, in_this;
} history;

/* What the window must say: every add of the last l generations and of this one, and none whose
 * last slice is gone. (In the k - 1 generations between, others may complete what is left of a
 * key.) Rates are so small that no false positive is expected among all the questions. */
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

/* The promise to the add: found through the next l * each adds, which is `capacity` at least. */
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
                /* The same in numbers: the add of `capacity` adds ago is the last for certain. */
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
            struct tamis_info facts;
            tamis_get_info(f, &facts, sizeof facts);
            assert_true(facts.adds_to_tick ==
                        (is_clock ? UINT64_MAX : info.word[EACH] - h.in_this));
        }
        tamis_free(f);
    }
}

/* A step in parts of any size, with adds between them, is the step at once behind those adds. */
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
                const uint64_t more =
                    part < 3 ? step : 0; /* by adds these may turn it themselves */
                test_add_hashes(f, program, n, n + more);
                test_add_hashes(g, program, n, n + more);
                n += more;
                assert_int_equal(tamis_tick_part(f, step == 5 ? 0 : bytes, &is_done), TAMIS_OK);
                parts++;
                /* Halfway through another way leads to the next turn: nothing of it is left out. */
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

/* What is left of a key after its time: j generations later it lacks j of its slices, and is found
 * when others have filled in for all of them. */
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

/* Not that anybody will live to see it: after 2^63 turns all goes on as before. */
static void window_turns_for_ever(void **state) {
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

/* The recursion of the paper, from slices that are filled as counted here. */
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

/* Fills after `items` adds, by walking through all of them. */
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

/* Just before a turn and just after one, the two ends between which the rate goes. */
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

/* Leaping over ages must find what looking at every run of k finds, also where nearly everything
 * hits. Positions are worked out here once more. */
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
    test_demand_refused(f, adds_at + 8, 1, true); /* a bit, and nothing was added */
    test_demand_refused(f, turns_at, 3, false);   /* three ticks, why not */
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
    test_demand_refused(clock, adds_at, 1000000, false); /* as many as come */
    test_demand_refused(clock, adds_at, 0, true);
    test_demand_safe_forgeries(clock, 61);
    tamis_free(clock);
}

/* ---- scalable ------------------------------------------------------------------------------- */

enum { KIND_OF_STAGES, FIRST, RATE, STAGES, BYTES };

static uint64_t room_of(const tamis *f) {
    const struct tamis_info info = test_info(f);
    tamis_body body = {.size = info.payload_bytes, .bytes = (uint8_t *)(uintptr_t)test_payload(f)};
    memcpy(body.word, info.word, sizeof body.word);
    return tamis__scalable.room(&body);
}

static const char *const stage_kinds[] = {"blocked", "split", "classic"};

/* Grown a thousandfold, at the end of every stage: all keys are there; strangers hit as the bits
 * say (two-sided); and the bits say no more than was asked. That last is about a mean over sets of
 * keys, because the fill of one filter, of few blocks at first, has its luck; so it is the mean of
 * several that must keep the rate, without any allowance. */
static void scalable_keeps_its_rate_while_it_grows(void **state) {
    (void)state;
    enum { GROWTH = 10, FILTERS = 5, CAPACITY = 60 };
    for (size_t k = 0; k < COUNT_OF(stage_kinds); k++) {
        double sum[GROWTH + 1] = {0};
        for (unsigned i = 0; i < FILTERS; i++) {
            tamis *f = test_make("scalable:capacity=%d,fpr=2%%,kind=%s", CAPACITY, stage_kinds[k]);
            uint64_t next = 0;
            for (unsigned stage = 0; stage <= GROWTH; stage++) {
                while (test_info(f).word[STAGES] == stage)
                    test_add_hashes(f, i, next, next + 1), next++;
                for (uint64_t room; (room = room_of(f)) > 0; next += room)
                    test_add_hashes(f, i, next, next + room);
                const struct tamis_info info = test_info(f);
                assert_int_equal(info.word[STAGES], stage + 1);
                assert_false(info.is_degraded);
                assert_int_equal(test_count_hits(f, i, 0, next), next);
                test_demand_rate(f, i, 10000);
                sum[stage] += info.fpr_now / FILTERS;
                /* Keys that were taken for known ones made no use of room: a few percent. */
                const uint64_t planned = CAPACITY * (((uint64_t)2 << stage) - 1);
                assert_true(next >= planned && (double)next < (double)planned * 1.03 + 3);
                const double formula = tamis__scalable.rate(info.word, planned);
                assert_true(formula <= 0.02 && fabs(info.fpr_now / formula - 1) < 0.6);
            }
            tamis_free(f);
        }
        for (unsigned stage = 0; stage <= GROWTH; stage++)
            if (sum[stage] > 0.02) fail_msg("%s, stage %u: %g", stage_kinds[k], stage, sum[stage]);
    }
}

static void scalable_shares_add_up_to_the_rate(void **state) {
    (void)state;
    struct tamis_plan plan;
    for (double fpr = 0.5; fpr > 1e-8; fpr /= 7) {
        char spec[80];
        sprintf(spec, "scalable:capacity=1000,fpr=%.17g", fpr);
        assert_int_equal(tamis_plan_spec(spec, &plan, sizeof plan), TAMIS_OK);
        /* However many keys come, up to the largest stack. */
        for (uint64_t keys = 1000; keys < (uint64_t)1 << 55; keys *= 5)
            assert_true(tamis__scalable.rate(plan.word, keys) <= fpr);
    }
}

static tamis_status plan_stages(double fpr, uint64_t capacity, const char *kind) {
    char spec[96];
    struct tamis_plan plan;
    snprintf(spec, sizeof spec, "scalable:capacity=%llu,fpr=%.9g,kind=%s",
             (unsigned long long)capacity, fpr, kind);
    return tamis_plan_spec(spec, &plan, sizeof plan);
}

static tamis_status grow_a_thousandfold(double fpr, uint64_t capacity, const char *kind) {
    tamis *f = test_make("scalable:capacity=%llu,fpr=%.9g,kind=%s", (unsigned long long)capacity,
                         fpr, kind);
    const struct tamis_info info = test_info(f);
    tamis_body body = {.size = info.payload_bytes, .bytes = (uint8_t *)(uintptr_t)test_payload(f)};
    uint64_t word[TAMIS_WORDS];
    memcpy(body.word, info.word, sizeof body.word);
    memcpy(word, info.word, sizeof word);
    const tamis_status rc = tamis__scalable.grow(&body, 1000 * capacity, word);
    tamis_free(f);
    return rc;
}

/* Its stages become stricter: what is made can have them, and what is refused says from where
 * on. */
static void scalable_is_made_for_its_later_stages(void **state) {
    (void)state;
    static const char *const kinds[] = {"blocked", "split", "classic", "compaction"};
    unsigned made = 0, refused = 0;
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        for (uint64_t capacity = 1; capacity <= 1000000; capacity *= 1000)
            for (double fpr = 1e-4; fpr > 0.9e-12; fpr /= 10) {
                if (!plan_stages(fpr, capacity, kinds[k])) {
                    assert_int_equal(grow_a_thousandfold(fpr, capacity, kinds[k]), TAMIS_OK);
                    made++;
                    continue;
                }
                const char *from = strstr(tamis_why(), "from fpr=");
                refused++;
                if (!from) continue; /* even the first stage could not be made */
                const double min = strtod(from + strlen("from fpr="), NULL);
                assert_true(min > fpr);
                assert_int_equal(plan_stages(min, capacity, kinds[k]), TAMIS_OK);
                assert_int_equal(plan_stages(min * 0.9, capacity, kinds[k]), TAMIS_INVALID);
            }
    assert_true(made >= 60 && refused >= 20);
}

/* With a size there is no rate to refuse: it is as low as later stages can have it. */
static void scalable_of_a_size_grows(void **state) {
    (void)state;
    struct tamis_plan plan;
    assert_int_equal(
        tamis_plan_spec("scalable:capacity=67108864,size=512MiB,kind=blocked", &plan, sizeof plan),
        TAMIS_OK);
    assert_int_equal(plan.word[RATE], 1000000000000); /* 1e-6, by far not what its first could */
    assert_int_equal(tamis_plan_spec("scalable:capacity=67108864,size=512MiB,kind=compaction",
                                     &plan, sizeof plan),
                     TAMIS_OK);
    const double fpr = (double)plan.word[RATE] * 1e-18;
    assert_true(fpr > 1e-6);
    assert_int_equal(plan_stages(fpr, 64 << 20, "compaction"), TAMIS_OK);
    assert_int_equal(plan_stages(fpr * 0.9, 64 << 20, "compaction"), TAMIS_INVALID);
}

static void scalable_counts_a_key_once(void **state) {
    (void)state;
    tamis *f = test_make("scalable:capacity=100,fpr=1e-6");
    uint64_t hashes[700];
    for (unsigned i = 0; i < 700; i++) hashes[i] = test_number(1, i % 70);
    for (unsigned i = 0; i < 20; i++) assert_int_equal(tamis_add_hashes(f, hashes, 700), TAMIS_OK);
    assert_int_equal(test_info(f).word[STAGES], 1);
    assert_int_equal(room_of(f), 30);
    for (unsigned i = 0; i < 700; i++) hashes[i] = test_number(1, i % 100);
    assert_int_equal(tamis_add_hashes(f, hashes, 700), TAMIS_OK);
    assert_int_equal(test_info(f).word[STAGES], 1);
    assert_int_equal(room_of(f), 0);
    assert_int_equal(tamis_add_hashes(f, hashes, 700), TAMIS_OK); /* without room, all known */
    assert_int_equal(test_info(f).word[STAGES], 1);
    hashes[699] = test_number(1, 100);
    assert_int_equal(tamis_add_hashes(f, hashes, 700), TAMIS_OK);
    assert_int_equal(test_info(f).word[STAGES], 2);
    assert_int_equal(room_of(f), 199);
    assert_int_equal(test_count_hits(f, 1, 0, 101), 101);
    tamis_free(f);
}

/* Many at once go where they would have gone one by one; only growth may come earlier. */
static void scalable_takes_many_as_one_by_one(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(stage_kinds); k++) {
        enum { KEYS = 5000 };
        static uint64_t hashes[KEYS];
        tamis *one = test_make("scalable:capacity=50,fpr=1e-5,kind=%s", stage_kinds[k]);
        tamis *many = test_make("scalable:capacity=50,fpr=1e-5,kind=%s", stage_kinds[k]);
        for (unsigned i = 0; i < KEYS; i++) hashes[i] = test_number(k, i - i / 3);
        for (unsigned i = 0; i < KEYS; i++)
            assert_int_equal(tamis_add_hash(one, hashes[i]), TAMIS_OK);
        assert_int_equal(tamis_add_hashes(many, hashes, KEYS), TAMIS_OK);
        const struct tamis_info a = test_info(one), b = test_info(many);
        assert_memory_equal(a.word, b.word, sizeof a.word);
        assert_memory_equal(test_payload(one), test_payload(many), a.payload_bytes);
        tamis_free(one);
        tamis_free(many);
    }
}

/* Blocks lie on cache lines, whatever lies below them. */
static void scalable_stages_lie_on_lines(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(stage_kinds); k++) {
        tamis *f = test_make("scalable:capacity=7,fpr=1%%,kind=%s", stage_kinds[k]);
        test_add_hashes(f, 1, 0, 3000);
        const struct tamis_info info = test_info(f);
        assert_int_equal((uintptr_t)test_payload(f) % 64, 0);
        assert_int_equal(info.word[BYTES] % 64, 0);
        const uint8_t *p = test_payload(f), *end = p + info.payload_bytes;
        for (uint64_t stage = 0; stage < info.word[STAGES]; stage++) {
            const uint64_t taken = tamis__get64(p), capacity = (uint64_t)7 << stage;
            assert_true(taken <= capacity && (taken == capacity || stage + 1 == info.word[STAGES]));
            const uint64_t units = stage ? tamis__get64(p + 8) : info.word[5];
            const uint64_t bytes = k == 0   ? 64 * units
                                   : k == 1 ? 32 * units
                                            : (units + 63) / 64 * 8;
            p += 64 + (bytes + 63) / 64 * 64;
        }
        assert_ptr_equal(p, end);
        tamis_free(f);
    }
}

/* Copies that went different ways have their old keys in the same stages, and the new ones find
 * room above: that is a union. Two that grew by themselves have filled every stage twice: that is
 * none. */
static void scalable_merges_what_keeps_its_rate(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(stage_kinds); k++) {
        tamis *a = test_make("scalable:capacity=500,fpr=2%%,kind=%s", stage_kinds[k]), *b, *c;
        struct tamis_estimate common;
        test_add_hashes(a, 1, 0, 2000);
        assert_int_equal(test_info(a).word[STAGES], 3);
        assert_int_equal(tamis_copy(&b, a), TAMIS_OK);
        test_add_hashes(a, 1, 2000, 2500);
        test_add_hashes(b, 1, 2300, 3100);
        assert_int_equal(tamis_overlap(a, b, &common), TAMIS_UNSUPPORTED);
        assert_int_equal(tamis_similarity(a, b, &common), TAMIS_UNSUPPORTED);
        assert_int_equal(tamis_merge(a, b), TAMIS_OK);
        assert_int_equal(test_count_hits(a, 1, 0, 3100), 3100);
        test_demand_rate(a, 1, 100000);
        assert_true(tamis_fpr_now(a) <= 0.02);
        /* The bits say how many there are, and growth goes on from there. */
        const struct tamis_estimate kept = test_info(a).items_now;
        assert_true(fabs(kept.value - 3100) < 6 * kept.error && kept.error < 100);
        assert_true(fabs((double)room_of(a) - 400) < 100);
        test_add_hashes(a, 1, 3100, 5000);
        assert_int_equal(test_info(a).word[STAGES], 4);
        assert_int_equal(test_count_hits(a, 1, 0, 5000), 5000);
        tamis_free(b);
        b = test_make("scalable:capacity=500,fpr=2%%,kind=%s", stage_kinds[k]);
        assert_int_equal(tamis_copy(&c, a), TAMIS_OK);
        assert_int_equal(tamis_merge(a, b), TAMIS_OK); /* a stack of another height, and empty */
        assert_memory_equal(test_payload(a), test_payload(c), test_info(a).payload_bytes);
        test_add_hashes(b, 1, 6000, 11000);
        assert_int_equal(tamis_merge(a, b), TAMIS_FULL);
        assert_non_null(strstr(tamis_why(), "the union would come to a rate of"));
        assert_int_equal(tamis_image_size(a), tamis_image_size(c));
        assert_memory_equal(test_payload(a), test_payload(c), test_info(a).payload_bytes);
        tamis_free(a);
        tamis_free(b);
        tamis_free(c);
    }
}

/* Stacks of two heights are joined where their stages have room, in the taller of the two;
 * whichever is joined to the other, the union is the same, and grows on from there. */
static void scalable_joins_stacks_of_two_heights(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(stage_kinds); k++) {
        tamis *a = test_make("scalable:capacity=500,fpr=2%%,kind=%s", stage_kinds[k]), *b, *c;
        test_add_hashes(a, 1, 0, 480);
        assert_int_equal(tamis_copy(&b, a), TAMIS_OK);
        test_add_hashes(a, 1, 480, 5000);
        test_add_hashes(b, 1, 480, 490);
        const double rate = tamis_fpr_now(a);
        assert_int_equal(test_info(a).word[STAGES], 4);
        assert_int_equal(test_info(b).word[STAGES], 1);
        assert_int_equal(tamis_copy(&c, b), TAMIS_OK);
        assert_int_equal(tamis_merge(c, a), TAMIS_OK); /* nothing is new: the bytes of a */
        assert_int_equal(tamis_merge(a, b), TAMIS_OK);
        assert_int_equal(test_info(c).word[STAGES], 4);
        assert_memory_equal(test_payload(a), test_payload(c), test_info(a).payload_bytes);
        assert_true(tamis_fpr_now(a) == rate && !test_info(a).has_stray_bits);
        assert_true(fabs(test_info(c).items_now.value - 5000) < 6 * test_info(c).items_now.error);
        test_add_hashes(c, 1, 5000, 20000);
        assert_int_equal(test_count_hits(c, 1, 0, 20000), 20000);
        test_demand_rate(c, 1, 100000);
        assert_true(tamis_fpr_now(c) <= 0.02 * (1 + 6 / sqrt(500)));
        tamis_free(a);
        tamis_free(b);
        tamis_free(c);
    }
}

/* What a union leaves of the rate is for the stages that will come. Two that together are a little
 * too many for their first stage would still have the rate asked for, and would miss it later. */
static void scalable_unions_keep_their_rate_as_they_grow(void **state) {
    (void)state;
    for (uint64_t each = 4400; each <= 6000; each += 200) {
        tamis *a = test_make("scalable:capacity=10000,fpr=1%%"), *b;
        assert_int_equal(tamis_copy(&b, a), TAMIS_OK);
        test_add_hashes(a, 1, 0, each);
        test_add_hashes(b, 1, each, 2 * each);
        const tamis_status rc = tamis_merge(a, b);
        if (rc != (2 * each <= 10000 ? TAMIS_OK : TAMIS_FULL))
            fail_msg("%llu keys of each: %d", (unsigned long long)each, rc);
        test_add_hashes(a, 1, 2 * each, 150000);
        assert_true(tamis_fpr_now(a) <= 0.01 * (1 + 6 / sqrt(10000)));
        tamis_free(a);
        tamis_free(b);
    }
}

/* Keys in different stages of the two are counted twice, and the error says that they may be. */
static void scalable_tells_how_sure_it_is_of_a_union(void **state) {
    (void)state;
    tamis *a = test_make("scalable:capacity=500,fpr=2%%"), *b, *c;
    test_add_hashes(a, 1, 0, 1400);
    assert_int_equal(tamis_copy(&b, a), TAMIS_OK);
    assert_int_equal(tamis_copy(&c, a), TAMIS_OK);
    test_add_hashes(a, 1, 1400, 1600);
    test_add_hashes(b, 1, 2000, 2150);
    test_add_hashes(b, 1, 1400,
                    1450); /* these are in the second stage of a, and in the third of b */
    assert_int_equal(tamis_merge(a, b), TAMIS_OK);
    struct tamis_estimate kept = test_info(a).items_now;
    assert_true(fabs(kept.value - 1750) < 2 * kept.error && kept.error > 25);
    /* What went no ways is in no doubt. */
    tamis_free(b);
    assert_int_equal(tamis_copy(&b, c), TAMIS_OK);
    assert_int_equal(tamis_merge(c, b), TAMIS_OK);
    kept = test_info(c).items_now;
    assert_true(fabs(kept.value - 1400) < 6 * kept.error && kept.error < 40);
    tamis_free(a);
    tamis_free(b);
    tamis_free(c);
}

/* An image from before stages were spread answers, and what it grows from now on is spread. */
static void scalable_goes_on_from_older_images(void **state) {
    (void)state;
    static const char *const old[] = {"scalable-1", "scalable-split-1", "scalable-classic-1",
                                      "scalable-compaction-1"};
    for (size_t k = 0; k < COUNT_OF(old); k++) {
        char path[128];
        tamis *f, *fresh;
        snprintf(path, sizeof path, "tests/golden/%s.tamis", old[k]);
        assert_int_equal(tamis_read(&f, path), TAMIS_OK);
        const uint64_t old_stages = test_info(f).word[STAGES];
        for (char key[16]; test_info(f).items < 3000;) {
            const int len = snprintf(key, sizeof key, "%d", (int)test_info(f).items + 1);
            assert_int_equal(tamis_add(f, key, (size_t)len), TAMIS_OK);
        }
        assert_true(test_info(f).word[STAGES] > old_stages);
        for (int i = 1; i <= 3000; i++) {
            char key[16];
            const int len = snprintf(key, sizeof key, "%d", i);
            assert_true(tamis_has(f, key, (size_t)len));
        }
        if (k != 2) test_demand_rate(f, 5, 200000); /* classic was asked for 1e-6 */
        tamis_free(f);
        assert_int_equal(tamis_read(&f, path), TAMIS_OK);
        char spec[128];
        tamis_spec(f, spec, sizeof spec);
        fresh = test_make("%s", spec);
        while (test_info(fresh).word[STAGES] < old_stages)
            test_add_hashes(fresh, 1, test_info(fresh).items, test_info(fresh).items + 1);
        assert_int_equal(tamis_merge(f, fresh), k == 3 ? TAMIS_UNSUPPORTED : TAMIS_MISMATCH);
        tamis_free(f);
        tamis_free(fresh);
    }
}

/* The stages of blocked cannot be arbitrarily strict. The end comes late, with a sentence, and the
 * filter stays as it is. */
static void scalable_says_when_it_cannot_grow(void **state) {
    (void)state;
    tamis *f = test_make("scalable:capacity=1,fpr=1e-7,kind=blocked");
    tamis_status rc = TAMIS_OK;
    uint64_t n = 0;
    while (n < 2000000 && !rc) rc = tamis_add_hash(f, test_number(1, n++));
    if (rc) {
        assert_int_equal(rc, TAMIS_FULL);
        assert_non_null(strstr(tamis_why(), "scalable cannot grow"));
        n--;
    }
    assert_true(n > 500);
    assert_int_equal(test_count_hits(f, 1, 0, n), n);
    tamis_free(f);
}

static void scalable_refuses_what_cannot_be(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(stage_kinds); k++) {
        tamis *f = test_make("scalable:capacity=20,fpr=1%%,kind=%s", stage_kinds[k]);
        const size_t first = TEST_HEADER_BYTES;
        test_demand_refused(f, first + 64, 1, true); /* a bit, and no key */
        test_add_hashes(f, 1, 0, 50);
        const struct tamis_info info = test_info(f);
        assert_int_equal(info.word[STAGES], 2);
        const uint64_t units = info.word[5];
        const uint64_t bytes = k == 0 ? 64 * units : k == 1 ? 32 * units : (units + 63) / 64 * 8;
        const size_t second = first + 64 + (bytes + 63) / 64 * 64;
        if (bytes % 64) test_demand_refused(f, second - 8, 1, true); /* between the stages */
        assert_true(bytes % 64 || k != 2);                           /* classic has such bytes */
        test_demand_refused(f, first, 20, false);
        test_demand_refused(f, first, 19, true); /* not full below another */
        test_demand_refused(f, second, 0, true);
        test_demand_refused(f, second, 31, false);
        test_demand_refused(f, second, (uint64_t)1 << 61, true);
        for (size_t at = 8; at < 64; at += 8) {
            const bool is_state = at == 32 || at == 40; /* whether it is spread, and doubt */
            test_demand_refused(f, first + at, 1, !is_state);
            if (at >= 32) test_demand_refused(f, second + at, 1, at != 32);
        }
        for (size_t at = first; at <= second; at += second - first) {
            test_demand_refused(f, at + 32, 2, true);
            test_demand_refused(f, at + 40, ((uint64_t)1 << 60) + 1, true);
        }
        test_demand_refused(f, second + 8, tamis__get64(test_payload(f) + second - first + 8) * 100,
                            true);
        test_demand_refused(f, second + 8, UINT64_MAX, true);
        test_demand_refused(f, second + 8, 0, true);
        test_demand_safe_forgeries(f, 70 + k);
        tamis_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stable_wears_and_sets_as_the_book_says),
        cmocka_unit_test(stable_rates_are_those_of_the_chain),
        cmocka_unit_test(stable_keeps_its_rate_at_every_age),
        cmocka_unit_test(stable_remembers_half_for_its_capacity),
        cmocka_unit_test(stable_estimates_what_is_remembered),
        cmocka_unit_test(stable_takes_a_key_as_seen_again),
        cmocka_unit_test(window_keeps_exactly_its_adds),
        cmocka_unit_test(window_turns_when_told),
        cmocka_unit_test(window_turns_in_parts),
        cmocka_unit_test(window_lets_go_slice_by_slice),
        cmocka_unit_test(window_turns_for_ever),
        cmocka_unit_test(window_rates_are_those_of_the_recursion),
        cmocka_unit_test(window_keeps_its_rate_at_its_worst_moment),
        cmocka_unit_test(window_by_the_clock_stands_crowds),
        cmocka_unit_test(window_leaps_find_what_walking_finds),
        cmocka_unit_test(window_estimates_its_keys),
        cmocka_unit_test(window_refuses_what_cannot_be),
        cmocka_unit_test(scalable_keeps_its_rate_while_it_grows),
        cmocka_unit_test(scalable_shares_add_up_to_the_rate),
        cmocka_unit_test(scalable_is_made_for_its_later_stages),
        cmocka_unit_test(scalable_of_a_size_grows),
        cmocka_unit_test(scalable_counts_a_key_once),
        cmocka_unit_test(scalable_takes_many_as_one_by_one),
        cmocka_unit_test(scalable_stages_lie_on_lines),
        cmocka_unit_test(scalable_merges_what_keeps_its_rate),
        cmocka_unit_test(scalable_joins_stacks_of_two_heights),
        cmocka_unit_test(scalable_unions_keep_their_rate_as_they_grow),
        cmocka_unit_test(scalable_tells_how_sure_it_is_of_a_union),
        cmocka_unit_test(scalable_goes_on_from_older_images),
        cmocka_unit_test(scalable_says_when_it_cannot_grow),
        cmocka_unit_test(scalable_refuses_what_cannot_be),
    };
    return cmocka_run_group_tests_name("streams", tests, NULL, NULL);
}
