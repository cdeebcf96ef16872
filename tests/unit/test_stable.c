/* SPDX-License-Identifier: MIT */
/* stable settles: checked against an array of cells, one by one, and against a Markov chain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
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
#include "tests/support/streams.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

extern const tamis_kind tamis__stable;

enum { CELLS, WIDTH, STABLE_HASHES, DECREMENTS, DICE };

/* A model by the book: cells in an array, one by one. */
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
            assert_true(tamis_has_hash(f, test_number(s, i))); /* always, right after its add */
            if (i % 50) continue;
            const uint8_t *cells = test_payload(f) + 8;
            assert_int_equal(tamis__get64(test_payload(f)), i + 1);
            for (uint64_t c = 0; c < info.word[CELLS]; c++)
                assert_int_equal(tamis__field_get(cells, c, (unsigned)info.word[WIDTH]), m.cell[c]);
        }
        tamis_free(f);
    }
}

/* One cell as a Markov chain, one step per add. */
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
        /* It has settled, and below the target. */
        const double settled = tamis__stable.rate(info.word, UINT64_MAX);
        assert_true(fabs(settled / chain_rate(&c, info.word) - 1) < 1e-3);
        if (info.fpr_asked > 0) assert_true(settled <= info.fpr_asked);
        tamis_free(f);
    }
}

/* At every load the bits match the formula, and non-members hit as the bits predict. */
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

/* capacity is the half-life: that many adds later half of the keys are remembered, and the chain
 * predicts how many after half and twice that time. */
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
    for (uint64_t i = 0; i < 100000; i++) { /* a frequent key is never forgotten */
        test_add_hashes(f, 3, i, i + 1);
        if (i % 20) continue;
        assert_int_equal(tamis_add_new(f, "cat", 3, &is_new), TAMIS_OK);
        assert_false(is_new);
    }
    assert_true(test_count_hits(f, 3, 0, 90000) < 2000); /* and the others are */
    test_demand_safe_forgeries(f, 50);
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stable_wears_and_sets_as_the_book_says),
        cmocka_unit_test(stable_rates_are_those_of_the_chain),
        cmocka_unit_test(stable_keeps_its_rate_at_every_age),
        cmocka_unit_test(stable_remembers_half_for_its_capacity),
        cmocka_unit_test(stable_estimates_what_is_remembered),
        cmocka_unit_test(stable_takes_a_key_as_seen_again),
    };
    return cmocka_run_group_tests_name("stable", tests, NULL, NULL);
}
