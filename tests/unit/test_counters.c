/* SPDX-License-Identifier: MIT */
/* Kinds that count: counting, spectral, increment. Every operation is followed cell by cell by a
 * slow model that is written from docs/format.md and uses none of the library's arithmetic; then
 * come the promises at size: nothing is ever lost, counts are never under, rates are as
 * computed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kinds/counters.h"
#include "kinds/kind.h"
#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/bounds.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static uint64_t luck;
static uint64_t draw(uint64_t below) {
    return test_number(77, luck++) % below;
}

/* ---- The model ------------------------------------------------------------------------------ */

enum { MAX_CELLS = 4096, MAX_PROBES = 64 };

typedef struct model {
    uint64_t cell[MAX_CELLS], n, top, hashes;
    uint64_t step; /* of increment; 0: every probe brings 1 */
} model;

static uint64_t murmur(uint64_t x) {
    x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53;
    return x ^ x >> 33;
}

static uint64_t scale(uint64_t h, uint64_t n) {
    __extension__ typedef unsigned __int128 u128;
    return (uint64_t)((u128)h * n >> 64);
}

/* What one add of the key brings to each cell. */
static void brings(const model *m, uint64_t hash, uint64_t load[MAX_CELLS]) {
    memset(load, 0, MAX_CELLS * sizeof *load);
    uint64_t x = hash | 1;
    for (uint64_t i = 0; i < m->hashes; i++, x *= 0xf1357aea2e62a9c5)
        load[scale(x, m->n)] += m->step ? m->step + murmur(x) % m->step : 1;
}

static void model_add(model *m, uint64_t hash) {
    uint64_t load[MAX_CELLS];
    brings(m, hash, load);
    for (uint64_t i = 0; i < m->n; i++) {
        m->cell[i] += load[i];
        if (m->cell[i] > m->top) m->cell[i] = m->top;
    }
}

static bool cell_holds(const model *m, uint64_t i, uint64_t load) {
    if (load == 0 || m->cell[i] == m->top) return true;
    if (m->cell[i] < load) return false;
    const uint64_t rest = m->cell[i] - load;
    return m->step == 0 || rest == 0 || rest >= m->step;
}

static bool model_remove(model *m, uint64_t hash) {
    uint64_t load[MAX_CELLS];
    brings(m, hash, load);
    for (uint64_t i = 0; i < m->n; i++)
        if (!cell_holds(m, i, load[i])) return false;
    for (uint64_t i = 0; i < m->n; i++)
        if (m->cell[i] != m->top) m->cell[i] -= load[i];
    return true;
}

/* Probe by probe, as a question is asked. */
static bool model_has(const model *m, uint64_t hash) {
    uint64_t x = hash | 1;
    for (uint64_t i = 0; i < m->hashes; i++, x *= 0xf1357aea2e62a9c5)
        if (!cell_holds(m, scale(x, m->n), m->step ? m->step + murmur(x) % m->step : 1))
            return false;
    return true;
}

static uint64_t model_count(const model *m, uint64_t hash) {
    uint64_t load[MAX_CELLS], min = UINT64_MAX;
    brings(m, hash, load);
    for (uint64_t i = 0; i < m->n; i++) {
        if (!load[i]) continue;
        uint64_t adds = m->cell[i] == m->top ? m->top : m->cell[i] / load[i];
        if (adds == 0 && m->cell[i]) adds = 1; /* has says yes, so count does */
        if (adds < min) min = adds;
    }
    return min;
}

static void model_fold(model *m, uint64_t by) {
    for (uint64_t i = 0; i < m->n / by; i++) {
        uint64_t sum = 0;
        for (uint64_t j = 0; j < by; j++) sum += m->cell[i * by + j];
        m->cell[i] = sum < m->top ? sum : m->top;
    }
    m->n /= by;
}

/* Every cell, and what follows from it: the summary of counting. */
static void assert_same(const tamis *f, const model *m, unsigned width) {
    for (uint64_t i = 0; i < m->n; i++) {
        assert_int_equal(test_bits_at(f, i * width, width), m->cell[i]);
        if (strcmp(test_info(f).kind, "counting") == 0)
            assert_int_equal(test_bits_at(f, m->n * width + i, 1), m->cell[i] > 0);
    }
}

/* A few keys on few cells, so that probes meet and cells reach their top; strangers are removed as
 * well, and must be refused exactly when a cell shows that they are not there. */
static void follow(const char *spec, unsigned width, uint64_t step, unsigned steps) {
    enum { KEYS = 24 };
    tamis *f = test_make("%s", spec);
    const struct tamis_info info = test_info(f);
    const bool counts = info.abilities & TAMIS_CAN_COUNT;
    model m = {.top = ((uint64_t)1 << width) - 1, .hashes = info.word[1], .step = step};
    const uint64_t unit = strcmp(info.kind, "counting") == 0 ? width + 1 + info.word[3] : width;
    m.n = info.word[0] / unit;
    for (unsigned i = 0; i < steps; i++) {
        const uint64_t hash = test_number(8, draw(KEYS));
        switch (draw(40)) {
        case 0: {
            tamis *copy;
            model twice = m;
            assert_int_equal(tamis_copy(&copy, f), TAMIS_OK);
            assert_int_equal(tamis_merge(copy, f), TAMIS_OK);
            for (uint64_t c = 0; c < m.n; c++)
                twice.cell[c] = 2 * m.cell[c] < m.top ? 2 * m.cell[c] : m.top;
            assert_same(copy, &twice, width);
            tamis_free(copy);
            break;
        }
        case 1:
            if (i > steps / 2 && m.n % 2 == 0) {
                assert_int_equal(tamis_fold(f, 2), TAMIS_OK);
                model_fold(&m, 2);
            }
            break;
        default:
            if (draw(2)) {
                assert_int_equal(tamis_add_hash(f, hash), TAMIS_OK);
                model_add(&m, hash);
            } else {
                const bool was_there = model_remove(&m, hash);
                assert_int_equal(tamis_remove_hash(f, hash),
                                 was_there ? TAMIS_OK : TAMIS_NOT_FOUND);
            }
        }
        assert_same(f, &m, width);
        for (uint64_t k = 0; k < KEYS; k++) {
            const uint64_t other = test_number(8, k);
            assert_int_equal(tamis_has_hash(f, other), model_has(&m, other));
            if (counts) assert_int_equal(tamis_count_hash(f, other), model_count(&m, other));
        }
    }
    tamis_free(f);
}

static void counting_follows_the_model(void **state) {
    (void)state;
    static const unsigned widths[] = {2, 3, 4, 5, 7, 11, 16};
    char spec[128];
    for (size_t w = 0; w < COUNT_OF(widths); w++)
        for (unsigned log = 0; log < 2; log++)
            for (unsigned n = 1; n <= 96; n += n < 8 ? 1 : 44) {
                snprintf(spec, sizeof spec, "counting:capacity=9,bits=%u,width=%u,hashes=%u,log=%s",
                         n * (widths[w] + 1 + log), widths[w], 1 + n % 7, log ? "yes" : "no");
                follow(spec, widths[w], 0, 120);
            }
}

static void selecting_follows_the_model(void **state) {
    (void)state;
    static const unsigned widths[] = {4, 6, 8, 13, 16};
    char spec[128];
    for (size_t w = 0; w < COUNT_OF(widths); w++)
        for (unsigned n = 1; n <= 96; n += n < 8 ? 1 : 44) {
            snprintf(spec, sizeof spec, "spectral:capacity=9,bits=%u,width=%u,hashes=%u",
                     n * widths[w], widths[w], 1 + n % 7);
            follow(spec, widths[w], 0, 150);
        }
}

static void increment_follows_the_model(void **state) {
    (void)state;
    char spec[128];
    for (unsigned step = 0; step < 3; step++)
        for (unsigned n = 1; n <= 96; n += n < 8 ? 1 : 44)
            for (unsigned hashes = 1; hashes <= 16; hashes += 5) {
                snprintf(spec, sizeof spec, "increment:capacity=9,bits=%u,step=%u,hashes=%u",
                         n * (6 + step), 4u << step, hashes);
                follow(spec, 6 + step, 4u << step, 200);
            }
}

/* ---- One cell ------------------------------------------------------------------------------- */

/* Up to the top, and from there never down; the cells beside it do not move. */
static void cells_stop_at_their_top(void **state) {
    (void)state;
    for (unsigned width = TAMIS_MIN_WIDTH; width <= TAMIS_MAX_WIDTH; width++) {
        uint8_t bytes[64] = {0};
        const tamis_cells c = {bytes, 7, width};
        const uint64_t top = ((uint64_t)1 << width) - 1;
        tamis__cell_add(c, 3, top - 1);
        assert_int_equal(tamis__cell_get(c, 3), top - 1);
        assert_int_equal(tamis__cell_subtract(c, 3, 1), top - 2);
        tamis__cell_add(c, 3, UINT64_MAX); /* no sum overflows */
        assert_int_equal(tamis__cell_get(c, 3), top);
        assert_int_equal(tamis__cell_subtract(c, 3, top), top);
        tamis__cell_add(c, 3, 1);
        for (uint64_t i = 0; i < c.n; i++)
            assert_int_equal(tamis__cell_get(c, i), i == 3 ? top : 0);
    }
}

/* ---- counting ------------------------------------------------------------------------------- */

/* The summary is what classic has of the same keys, bit for bit, with keys that came and went. */
static void summary_is_classic(void **state) {
    (void)state;
    static const unsigned sizes[] = {64, 1, 63, 65, 640, 1000, 4096};
    for (size_t s = 0; s < COUNT_OF(sizes); s++)
        for (unsigned hashes = 1; hashes <= 10; hashes += 3) {
            const unsigned n = sizes[s];
            tamis *f =
                test_make("counting:capacity=50,bits=%u,width=16,hashes=%u,seed=3", 17 * n, hashes);
            tamis *g = test_make("classic:capacity=50,bits=%u,hashes=%u,seed=3", n, hashes);
            for (uint64_t i = 0; i < 200; i++) assert_int_equal(tamis_add_u64(f, i), TAMIS_OK);
            for (uint64_t i = 0; i < 200; i += i % 4 ? 1 : 2)
                assert_int_equal(tamis_remove_u64(f, i), TAMIS_OK);
            for (uint64_t i = 1; i < 200; i += 4) tamis_add_u64(f, i);
            for (uint64_t i = 1; i < 200; i += 4) tamis_add_u64(g, i);
            for (uint64_t i = 0; i < n; i++)
                assert_int_equal(test_bits_at(f, (uint64_t)16 * n + i, 1), test_bits_at(g, i, 1));
            struct tamis_estimate a, b;
            assert_int_equal(tamis_items_now(f, &a), tamis_items_now(g, &b));
            assert_true(tamis_fpr_now(f) == tamis_fpr_now(g));
            tamis_free(f);
            tamis_free(g);
        }
    /* In whole words it is even the same bytes. */
    tamis *f = test_make("counting:capacity=1000,fpr=1%%"),
          *g = test_make("classic:capacity=1000,fpr=1%%");
    for (uint64_t i = 0; i < 1000; i++) tamis_add_u64(f, i), tamis_add_u64(g, i);
    const uint64_t bits = test_info(g).word[0];
    assert_int_equal(test_info(f).word[0], bits * 5);
    assert_memory_equal(test_payload(f) + bits / 2, test_payload(g), bits / 8);
    tamis_free(f);
    tamis_free(g);
}

/* A wish in bits that is a whole number of counters is taken exactly, others come in groups. */
static void sizes_are_exact_or_fold(void **state) {
    (void)state;
    assert_int_equal(test_plan("counting:capacity=9,bits=1020").word[0], 1020);
    assert_int_equal(test_plan("counting:capacity=9,bits=65536").word[0], 65536 / 320 * 320);
    assert_int_equal(test_plan("counting:capacity=9,bits=65536,log=yes").word[0],
                     65536 / 384 * 384);
    assert_int_equal(test_plan("counting:capacity=9,bits=319").word[0], 315);
    assert_int_equal(test_plan("spectral:capacity=9,bits=1000").word[0], 1000);
    assert_int_equal(test_plan("spectral:capacity=9,bits=65537,mode=recurring").word[0], 64512);
    assert_int_equal(test_plan("increment:capacity=9,bits=1001").word[0], 768);
    struct tamis_plan plan;
    static const char *const small[] = {
        "counting:capacity=9,bits=4", "counting:capacity=9,bits=17,width=16,log=yes",
        "spectral:capacity=9,bits=7", "spectral:capacity=9,bits=23,mode=recurring",
        "increment:capacity=9,bits=5"};
    for (size_t i = 0; i < COUNT_OF(small); i++) {
        assert_int_equal(tamis_plan_spec(small[i], &plan, sizeof plan), TAMIS_INVALID);
        assert_non_null(strstr(tamis_why(), "at least"));
    }
    static const char *const large[] = {"counting:capacity=2^56,fpr=1%,width=16",
                                        "spectral:capacity=2^56,fpr=1%,width=16,mode=recurring",
                                        "increment:capacity=2^56,fpr=1%,step=16"};
    for (size_t i = 0; i < COUNT_OF(large); i++)
        assert_int_equal(tamis_plan_spec(large[i], &plan, sizeof plan), TAMIS_TOO_LARGE);
    tamis *f = test_make("counting:capacity=9,bits=65536");
    assert_int_equal(tamis_fold(f, 3), TAMIS_INVALID); /* 3 divides, but is no power of two */
    assert_int_equal(tamis_fold(f, 256), TAMIS_OK);
    assert_int_equal(tamis_fold(f, 2), TAMIS_INVALID); /* 51 counters are left */
    tamis_free(f);
}

/* Peers who fold their copy when the owner folds need nothing but the log afterwards. */
static void log_goes_on_after_a_fold(void **state) {
    (void)state;
    enum { COUNTERS = 1024 };
    tamis *f = test_make("counting:capacity=60,bits=%d,log=yes,hashes=4", COUNTERS * 6);
    uint8_t peer[COUNTERS] = {0};
    uint64_t n = COUNTERS, added = 0, removed = 0, cursor, position;
    bool is_set;
    for (uint64_t round = 0; round < 12; round++) {
        for (uint64_t i = 0; i < 20; i++) tamis_add_u64(f, added++);
        for (; removed + 12 < added; removed++) /* some came now, some have been told */
            assert_int_equal(tamis_remove_u64(f, removed), TAMIS_OK);
        if (round % 3 == 2) { /* with changes that nobody has been told yet */
            assert_int_equal(tamis_fold(f, 2), TAMIS_OK);
            n /= 2;
            for (uint64_t i = 0; i < n; i++) peer[i] = peer[2 * i] | peer[2 * i + 1];
        }
        if (round % 4 == 1) continue; /* nobody listens, and nothing is forgotten */
        uint64_t min = 0;
        for (cursor = 0; tamis_next_change(f, &cursor, &position, &is_set);) {
            assert_true(position >= min && position < n && peer[position] != is_set);
            peer[position] = is_set;
            min = position + 1;
        }
        for (uint64_t i = 0; i < n; i++) assert_int_equal(peer[i], test_bits_at(f, n * 4 + i, 1));
        assert_int_equal(tamis_clear_changes(f), TAMIS_OK);
        cursor = 0;
        assert_false(tamis_next_change(f, &cursor, &position, &is_set));
    }
    cursor = UINT64_MAX;
    assert_false(tamis_next_change(f, &cursor, &position, &is_set));
    tamis_free(f);
}

/* Without the option there is no log, and that is said. */
static void log_is_an_option(void **state) {
    (void)state;
    tamis *f = test_make("counting:capacity=9");
    uint64_t cursor = 0, position;
    bool is_set;
    tamis_add_u64(f, 1);
    assert_false(tamis_next_change(f, &cursor, &position, &is_set));
    assert_int_equal(tamis_clear_changes(f), TAMIS_UNSUPPORTED);
    assert_false(test_info(f).abilities & TAMIS_CAN_LOG);
    tamis_free(f);
}

/* With n keys, k probes and m counters, a counter has had j adds with the chance of kn throws. */
static double at_least(double balls, double cells, unsigned value) {
    double below = 0, chance = exp(balls * log1p(-1 / cells));
    for (unsigned j = 0; j < value; j++) {
        below += chance;
        chance *= (balls - j) / ((j + 1) * (cells - 1));
    }
    return 1 - below;
}

static void as_many_are_stuck_as_computed(void **state) {
    (void)state;
    for (unsigned width = 2; width <= 3; width++) {
        tamis *f = test_make("counting:capacity=100000,fpr=1%%,width=%u", width);
        for (uint64_t i = 0; i < 100000; i++) tamis_add_u64(f, test_number(2, i));
        const struct tamis_info info = test_info(f);
        const uint64_t n = info.word[0] / (width + 1);
        const double rate = at_least(1e5 * (double)info.word[1], (double)n, (1u << width) - 1);
        if (!test_is_possible(info.affected, n, rate, TEST_ALPHA))
            fail_msg("width %u: %llu of %llu are stuck, not %g", width,
                     (unsigned long long)info.affected, (unsigned long long)n, rate * (double)n);
        assert_non_null(strstr(info.caveat, "stuck at"));
        tamis_free(f);
    }
}

/* ---- Nothing is lost ------------------------------------------------------------------------ */

/* Kinds and options that can remove, with cells so small that many get stuck. */
static const char *const removable[] = {
    "counting:fpr=2%",
    "counting:fpr=2%,width=2",
    "counting:fpr=2%,width=16,log=yes",
    "spectral:fpr=2%,width=4",
    "spectral:fpr=2%",
    "spectral:fpr=2%,mode=recurring",
    "increment:fpr=2%",
    "increment:fpr=2%,step=8",
    "increment:fpr=2%,step=16",
    "increment:fpr=50%,hashes=9",
    "spectral:fpr=2%,mode=recurring,width=4",
};

static void the_same_key_a_million_times(void **state) {
    (void)state;
    enum { BATCH = 1000, BATCHES = 1000, REMOVES = 70000 };
    static uint64_t hashes[BATCH];
    for (size_t r = 0; r < COUNT_OF(removable); r++) {
        tamis *f = test_make("%s,capacity=100", removable[r]);
        for (uint64_t i = 0; i < 50; i++) tamis_add_u64(f, i);
        for (unsigned i = 0; i < BATCH; i++) hashes[i] = tamis_hash(f, NULL, 0);
        for (unsigned i = 0; i < BATCHES; i++)
            assert_int_equal(tamis_add_hashes(f, hashes, BATCH), TAMIS_OK);
        assert_true(tamis_has(f, NULL, 0));
        const struct tamis_info info = test_info(f);
        assert_int_equal(info.items, 1000050);
        assert_true(info.affected > 0 && info.affected < 200);
        if (info.abilities & TAMIS_CAN_COUNT)
            assert_true(tamis_count(f, NULL, 0) >= info.reliable_count);
        /* What is stuck stays, and takes nobody with it. */
        for (unsigned i = 0; i < REMOVES; i++) assert_int_equal(tamis_remove(f, "", 0), TAMIS_OK);
        for (uint64_t i = 0; i < 50; i++) assert_true(tamis_has_u64(f, i));
        for (uint64_t i = 0; i < 50; i++) assert_int_equal(tamis_remove_u64(f, i), TAMIS_OK);
        assert_true(tamis_has(f, "", 0));
        assert_int_equal(test_info(f).affected, info.affected);
        tamis_free(f);
    }
}

/* Ten times the capacity of random replacements: after all of them every living key is found, and
 * when they are gone nothing is left but what is stuck. */
static void churn_loses_nothing(void **state) {
    (void)state;
    enum { N = 3000 };
    static uint64_t alive[N];
    for (size_t r = 0; r < COUNT_OF(removable); r++) {
        tamis *f = test_make("%s,capacity=%d", removable[r], N);
        uint64_t next = 0;
        for (; next < N; next++) tamis_add_u64(f, test_number(4, alive[next] = next));
        for (uint64_t i = 0; i < 10 * N; i++) {
            uint64_t *one = &alive[draw(N)];
            assert_int_equal(tamis_remove_u64(f, test_number(4, *one)), TAMIS_OK);
            assert_int_equal(tamis_add_u64(f, test_number(4, *one = next++)), TAMIS_OK);
        }
        for (uint64_t i = 0; i < N; i++) assert_true(tamis_has_u64(f, test_number(4, alive[i])));
        for (uint64_t i = 0; i < N; i++)
            assert_int_equal(tamis_remove_u64(f, test_number(4, alive[i])), TAMIS_OK);
        const struct tamis_info info = test_info(f);
        assert_int_equal(info.items, 0);
        assert_true(info.fill * (double)info.word[0] <=
                    (double)info.word[0] * (double)info.affected);
        if (info.affected == 0) assert_true(info.fpr_now == 0);
        tamis_free(f);
    }
}

/* ---- spectral ------------------------------------------------------------------------------- */

/* Never under the truth, where that is promised, and never over select where the mode is better. */
static void modes_keep_their_order(void **state) {
    (void)state;
    enum { N = 20000 };
    static uint64_t truth[N];
    memset(truth, 0, sizeof truth);
    tamis *f[3];
    static const char *const modes[] = {"select", "increase", "recurring"};
    for (int i = 0; i < 3; i++)
        f[i] = test_make("spectral:capacity=%d,fpr=5%%,width=6,mode=%s", N, modes[i]);
    for (uint64_t i = 0; i < 10 * N; i++) {
        const uint64_t a = draw(N), b = draw(N), key = a * b / N;
        truth[key]++;
        for (int j = 0; j < 3; j++) tamis_add_u64(f[j], key);
    }
    uint64_t over[3] = {0}, under = 0, keys = 0;
    for (uint64_t key = 0; key < N; key++) {
        const uint64_t sure = truth[key] < 63 ? truth[key] : 63;
        const uint64_t selected = tamis_count_u64(f[0], key);
        keys += truth[key] > 0;
        for (int j = 0; j < 3; j++) {
            const uint64_t count = tamis_count_u64(f[j], key);
            assert_true(count <= selected && (count > 0) == (selected > 0));
            if (j < 2) assert_true(count >= sure);
            over[j] += count > sure && truth[key] > 0;
            under += count < sure;
        }
    }
    assert_true(over[1] < over[0] && over[2] < over[0]);
    assert_true(under < keys / 200);
    for (int j = 0; j < 3; j++) tamis_free(f[j]);
}

/* The primary cells of recurring are those of select, after any adds and removes: `has` does not
 * depend on what the secondary believes. */
static void recurring_has_what_select_has(void **state) {
    (void)state;
    enum { CELLS = 200, KEYS = 60 };
    tamis *f = test_make("spectral:capacity=30,bits=%d,mode=recurring,hashes=4", CELLS * 12);
    tamis *g = test_make("spectral:capacity=30,bits=%d,hashes=4", CELLS * 8);
    for (unsigned i = 0; i < 20000; i++) {
        const uint64_t key = draw(KEYS);
        if (draw(2))
            assert_int_equal(tamis_add_u64(f, key), tamis_add_u64(g, key));
        else
            assert_int_equal(tamis_remove_u64(f, key), tamis_remove_u64(g, key));
        assert_memory_equal(test_payload(f), test_payload(g), CELLS);
        const uint64_t asked = draw(KEYS), count = tamis_count_u64(f, asked);
        assert_int_equal(tamis_has_u64(f, asked), tamis_has_u64(g, asked));
        assert_int_equal(count > 0, tamis_has_u64(g, asked));
        assert_true(count <= tamis_count_u64(g, asked));
    }
    tamis_free(f);
    tamis_free(g);
}

static void modes_say_what_they_lack(void **state) {
    (void)state;
    const unsigned others = TAMIS_CAN_MERGE | TAMIS_CAN_FOLD | TAMIS_ANY_ORDER;
    const unsigned all = others | TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT;
    assert_int_equal(test_plan("spectral:capacity=9").abilities & all, all);
    assert_int_equal(test_plan("spectral:capacity=9,mode=increase").abilities & all,
                     TAMIS_CAN_COUNT);
    assert_int_equal(test_plan("spectral:capacity=9,mode=recurring").abilities & all,
                     TAMIS_CAN_COUNT | TAMIS_CAN_REMOVE);
    assert_int_equal(test_plan("spectral:capacity=9").reliable_count, 255);
    assert_int_equal(test_plan("spectral:capacity=9,mode=increase,width=16").reliable_count, 65535);
    assert_int_equal(test_plan("spectral:capacity=9,mode=recurring").reliable_count, 1);
    assert_int_equal(test_plan("counting:capacity=9,width=2").reliable_count, 3);
    tamis *f = test_make("spectral:capacity=9,mode=increase");
    tamis_add_u64(f, 1);
    assert_int_equal(tamis_remove_u64(f, 1), TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_merge(f, f), TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_fold(f, 2), TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_count_u64(f, 1), 1);
    tamis_free(f);
}

/* A count of select is wrong as often as a stranger is taken for a key. */
static void counts_are_wrong_as_rarely_as_promised(void **state) {
    (void)state;
    enum { N = 100000 };
    tamis *f = test_make("spectral:capacity=%d,fpr=1%%", N);
    for (uint64_t i = 0; i < N; i++) tamis_add_u64(f, test_number(6, i));
    for (uint64_t i = 0; i < N; i += 5) tamis_add_u64(f, test_number(6, i));
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < N; i++)
        wrong += tamis_count_u64(f, test_number(6, i)) != 1 + (i % 5 == 0);
    if (!test_is_possible(wrong, N, tamis_fpr_now(f), TEST_ALPHA))
        fail_msg("%llu of %d counts are wrong", (unsigned long long)wrong, N);
    tamis_free(f);
}

/* ---- increment ------------------------------------------------------------------------------ */

/* The chance that a random increment passes a random cell, by the distribution of sums: chance[s]
 * is that of the sum s after the throws so far, worked out by number of throws on the cell. */
static double passing_by_sums(double balls, double cells, unsigned step) {
    enum { MAX_SUM = 300, MAX_THROWS = 60 };
    const unsigned top = 16 * step - 1;
    double sums[MAX_SUM] = {1}, passing = 0, weight = exp(balls * log1p(-1 / cells));
    for (unsigned j = 0; j < MAX_THROWS; j++) {
        for (unsigned s = 0; s <= top; s++)
            for (unsigned v = step; v < 2 * step; v++)
                if (s == top || s == v || (s > v && s - v >= step))
                    passing += weight * sums[s] / step;
        double more[MAX_SUM] = {0};
        for (unsigned s = 0; s <= top; s++)
            for (unsigned v = step; v < 2 * step; v++)
                more[s + v < top ? s + v : top] += sums[s] / step;
        memcpy(sums, more, sizeof sums);
        weight *= (balls - j) / ((j + 1) * (cells - 1));
    }
    return passing;
}

static double rate_of(const uint64_t word[], uint64_t items) {
    return tamis__kind_by_name("increment", strlen("increment"))->kind->rate(word, items);
}

static void increment_rate_is_that_of_the_sums(void **state) {
    (void)state;
    for (unsigned step = 0; step < 3; step++)
        for (unsigned hashes = 1; hashes <= 12; hashes++)
            for (uint64_t n = 1000; n <= 100000; n *= 10) {
                const uint64_t cells = 50000;
                const uint64_t word[TAMIS_WORDS] = {cells * (6 + step), hashes, step};
                const double passing =
                    passing_by_sums((double)(n * hashes), (double)cells, 4u << step);
                const double exact = pow(passing, hashes), is = rate_of(word, n);
                /* The spread of the fill adds about k^2/2mp of it, and never takes away. */
                if (is < exact * (1 - 1e-9) ||
                    is > exact * (1 + hashes * hashes / ((double)cells * passing)))
                    fail_msg("step %u, k %u, n %llu: %.9g, by sums %.9g", 4u << step, hashes,
                             (unsigned long long)n, is, exact);
            }
    /* m/n = 10, k = 3, L = 4, as in the paper's comparison; and the formula at its ends. */
    const uint64_t paper[TAMIS_WORDS] = {6 * 1000000, 3, 0};
    assert_true(fabs(rate_of(paper, 100000) / 6.65e-4 - 1) < 0.01);
    assert_true(rate_of(paper, 0) == 0 && rate_of(paper, UINT64_MAX) == 1);
    const uint64_t tiny[TAMIS_WORDS] = {6, 3, 0};
    assert_true(rate_of(tiny, 0) == 0 && rate_of(tiny, 1) == 1);
}

/* Small arrays, where the spread of the fill shows: the formula against many filters. */
static void increment_rate_holds_for_small_filters(void **state) {
    (void)state;
    enum { FILTERS = 1500, PROBES = 300 };
    static const unsigned capacities[] = {5, 20, 100};
    for (size_t c = 0; c < COUNT_OF(capacities); c++)
        for (unsigned step = 4; step <= 16; step *= 2) {
            uint64_t hits = 0;
            double expected = 0, now = 0;
            for (uint64_t i = 0; i < FILTERS; i++) {
                tamis *f = test_make("increment:capacity=%u,fpr=3%%,step=%u,seed=%llu",
                                     capacities[c], step, (unsigned long long)i);
                for (uint64_t k = 0; k < capacities[c]; k++) tamis_add_u64(f, k);
                for (uint64_t k = 0; k < PROBES; k++) hits += tamis_has_u64(f, 1000 + k);
                now += tamis_fpr_now(f) / FILTERS;
                expected = test_info(f).fpr_expected;
                tamis_free(f);
            }
            if (!test_is_possible(hits, (uint64_t)FILTERS * PROBES, now, TEST_ALPHA))
                fail_msg("capacity %u, step %u: %llu hits, the cells say %g", capacities[c], step,
                         (unsigned long long)hits, now * FILTERS * PROBES);
            if (fabs(now / expected - 1) > 0.04) /* 1500 filters know their mean to one percent */
                fail_msg("capacity %u, step %u: the cells say %g, the formula %g", capacities[c],
                         step, now, expected);
        }
}

/* A million keys, at half the capacity, at capacity, and far beyond; nothing lost, and hits on both
 * sides of what the cells and the formula say. */
static void increment_at_a_million(void **state) {
    (void)state;
    enum { N = 1000000, PROBES = 1000000 };
    tamis *f = test_make("increment:capacity=%d,fpr=0.5%%", N);
    static const uint64_t loads[] = {N / 2, N, N + N / 2};
    uint64_t added = 0;
    for (size_t l = 0; l < COUNT_OF(loads); l++) {
        for (; added < loads[l]; added++) tamis_add_u64(f, test_number(11, added));
        for (uint64_t i = 0; i < added; i++)
            if (!tamis_has_u64(f, test_number(11, i))) fail_msg("a key is lost");
        uint64_t hits = 0;
        for (uint64_t i = 0; i < PROBES; i++)
            hits += tamis_has_u64(f, test_number(11, TEST_STRANGERS + l * PROBES + i));
        const double now = tamis_fpr_now(f), rate = rate_of(test_info(f).word, added);
        print_message("# increment, %llu keys: %.4g measured, %.4g by cells, %.4g by formula\n",
                      (unsigned long long)added, (double)hits / PROBES, now, rate);
        if (!test_is_possible(hits, PROBES, now, TEST_ALPHA))
            fail_msg("%llu keys: %llu hits, the cells say %g", (unsigned long long)added,
                     (unsigned long long)hits, now * PROBES);
        assert_true(fabs(now / rate - 1) < 0.01);
    }
    tamis_free(f);
}

/* ---- What a file may hold ------------------------------------------------------------------- */

/* Changes bits of the payload of an otherwise sound image, with checksums that fit. */
static tamis_status load_with(const tamis *f, uint64_t bit, unsigned width, uint64_t value) {
    const size_t size = (size_t)tamis_image_size(f);
    uint8_t *image = malloc(size);
    tamis *g;
    assert_int_equal(tamis_serialize(f, image, size), TAMIS_OK);
    tamis__bits_put(image + TEST_HEADER_BYTES, bit, width, value);
    test_reseal(image, size);
    const tamis_status rc = tamis_load(&g, image, size);
    tamis_free(g);
    free(image);
    return rc;
}

static void impossible_cells_are_refused(void **state) {
    (void)state;
    enum { N = 50 };
    tamis *f = test_make("counting:capacity=9,bits=%d,log=yes", N * 6);
    tamis_add_u64(f, 1);
    for (uint64_t i = 0; i < N; i++) {
        const uint64_t counter = test_bits_at(f, 4 * i, 4);
        assert_int_equal(load_with(f, 4 * i, 4, counter ? 0 : 1), TAMIS_CORRUPT);
        assert_int_equal(load_with(f, 4 * N + i, 1, counter == 0), TAMIS_CORRUPT);
        assert_int_equal(load_with(f, 5 * N + i, 1, 1), TAMIS_OK); /* whatever was told */
    }
    for (uint64_t i = N * 6; i < 320; i++) assert_int_equal(load_with(f, i, 1, 1), TAMIS_CORRUPT);
    tamis_free(f);
    for (unsigned step = 4, width = 6; step <= 16; step *= 2, width++) {
        f = test_make("increment:capacity=9,bits=%u,step=%u", 50 * width, step);
        for (unsigned value = 0; value < 1u << width; value++)
            assert_int_equal(load_with(f, 7 * width, width, value),
                             value && value < step ? TAMIS_CORRUPT : TAMIS_OK);
        for (uint64_t i = (uint64_t)50 * width; i < ((uint64_t)50 * width + 63) / 64 * 64; i++)
            assert_int_equal(load_with(f, i, 1, 1), TAMIS_CORRUPT);
        tamis_free(f);
    }
    f = test_make("spectral:capacity=9,bits=%d,width=5", 50 * 5);
    for (uint64_t i = 250; i < 256; i++) assert_int_equal(load_with(f, i, 1, 1), TAMIS_CORRUPT);
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_stop_at_their_top),
        cmocka_unit_test(counting_follows_the_model),
        cmocka_unit_test(selecting_follows_the_model),
        cmocka_unit_test(increment_follows_the_model),
        cmocka_unit_test(summary_is_classic),
        cmocka_unit_test(sizes_are_exact_or_fold),
        cmocka_unit_test(log_goes_on_after_a_fold),
        cmocka_unit_test(log_is_an_option),
        cmocka_unit_test(as_many_are_stuck_as_computed),
        cmocka_unit_test(the_same_key_a_million_times),
        cmocka_unit_test(churn_loses_nothing),
        cmocka_unit_test(modes_keep_their_order),
        cmocka_unit_test(recurring_has_what_select_has),
        cmocka_unit_test(modes_say_what_they_lack),
        cmocka_unit_test(counts_are_wrong_as_rarely_as_promised),
        cmocka_unit_test(increment_rate_is_that_of_the_sums),
        cmocka_unit_test(increment_rate_holds_for_small_filters),
        cmocka_unit_test(increment_at_a_million),
        cmocka_unit_test(impossible_cells_are_refused),
    };
    return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
