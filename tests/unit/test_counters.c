/* SPDX-License-Identifier: MIT */
/* Kinds that count: counting, spectral, increment. A slow model, written from docs/format.md
 * without the library's arithmetic, checks every operation cell by cell; then the contract of all
 * three. What is special to each is in the file of its name. */
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
#include "kinds/counters.h"
#include "tamis.h"
#include "tamis_engine.h"
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
    uint64_t step; /* of increment; 0: every probe adds 1 */
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

/* What one add of the key adds to each cell. */
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

/* Probe by probe, like a query. */
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
        if (adds == 0 && m->cell[i]) adds = 1; /* a member counts at least 1 */
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

/* Has a filter the summary of counting? */
static bool has_summary(const struct tamis_info *info) {
    return strcmp(info->kind, "counting") == 0 && info->word[4] == 0;
}

/* Compares every cell, and the summary of counting, which follows from them. */
static void assert_same(const tamis *f, const model *m, unsigned width) {
    const struct tamis_info info = test_info(f);
    for (uint64_t i = 0; i < m->n; i++) {
        assert_int_equal(test_bits_at(f, i * width, width), m->cell[i]);
        if (has_summary(&info))
            assert_int_equal(test_bits_at(f, m->n * width + i, 1), m->cell[i] > 0);
    }
}

/* Few keys on few cells, so that probes collide and cells reach their top. Non-members are removed
 * as well, and must be refused exactly when a cell shows that they are absent. */
static void follow(const char *spec, unsigned width, uint64_t step, unsigned steps) {
    enum { KEYS = 24 };
    tamis *f = test_make("%s", spec);
    const struct tamis_info info = test_info(f);
    const bool counts = info.abilities & TAMIS_CAN_COUNT;
    model m = {.top = ((uint64_t)1 << width) - 1, .hashes = info.word[1], .step = step};
    const uint64_t unit = has_summary(&info) ? width + 1 + info.word[3] : width;
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
    static const char *const arrays[] = {"bare=yes", "bare=no", "log=yes"};
    char spec[128];
    for (size_t w = 0; w < COUNT_OF(widths); w++)
        for (unsigned more = 0; more < COUNT_OF(arrays); more++)
            for (unsigned n = 1; n <= 96; n += n < 8 ? 1 : 44) {
                snprintf(spec, sizeof spec, "counting:capacity=9,bits=%u,width=%u,hashes=%u,%s",
                         n * (widths[w] + more), widths[w], 1 + n % 7, arrays[more]);
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

/* Up to the top, and never down from there; the neighbours do not change. */
static void cells_stop_at_their_top(void **state) {
    (void)state;
    for (unsigned width = TAMIS_MIN_WIDTH; width <= TAMIS_MAX_WIDTH; width++) {
        uint8_t bytes[64] = {0};
        const tamis_cells c = {bytes, 7, width};
        const uint64_t top = ((uint64_t)1 << width) - 1;
        tamis__cell_add(c, 3, top - 1);
        assert_int_equal(tamis__cell_get(c, 3), top - 1);
        assert_int_equal(tamis__cell_subtract(c, 3, 1), top - 2);
        tamis__cell_add(c, 3, UINT64_MAX); /* the sum does not overflow */
        assert_int_equal(tamis__cell_get(c, 3), top);
        assert_int_equal(tamis__cell_subtract(c, 3, top), top);
        tamis__cell_add(c, 3, 1);
        for (uint64_t i = 0; i < c.n; i++)
            assert_int_equal(tamis__cell_get(c, i), i == 3 ? top : 0);
    }
}

/* ---- Sizes ---------------------------------------------------------------------------------- */

/* A size in bits that is a whole number of counters is used exactly, others are rounded down. */
static void sizes_are_exact_or_fold(void **state) {
    (void)state;
    assert_int_equal(test_plan("counting:capacity=9,bits=1020").word[0], 1020);
    assert_int_equal(test_plan("counting:capacity=9,bits=65536").word[0], 65536 / 320 * 320);
    assert_int_equal(test_plan("counting:capacity=9,bits=65536,log=yes").word[0],
                     65536 / 384 * 384);
    assert_int_equal(test_plan("counting:capacity=9,bits=319").word[0], 315);
    assert_int_equal(test_plan("counting:capacity=9,bits=65536,bare=yes").word[0], 65536);
    assert_int_equal(test_plan("spectral:capacity=9,bits=1000").word[0], 1000);
    assert_int_equal(test_plan("spectral:capacity=9,bits=65537,mode=recurring").word[0], 64512);
    assert_int_equal(test_plan("increment:capacity=9,bits=1001").word[0], 768);
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    static const char *const small[] = {
        "counting:capacity=9,bits=4", "counting:capacity=9,bits=17,width=16,log=yes",
        "spectral:capacity=9,bits=7", "spectral:capacity=9,bits=23,mode=recurring",
        "increment:capacity=9,bits=5"};
    for (size_t i = 0; i < COUNT_OF(small); i++) {
        assert_int_equal(tamis_plan_spec(small[i], &plan), TAMIS_INVALID);
        assert_non_null(strstr(tamis_why(), "at least"));
    }
    static const char *const large[] = {"counting:capacity=2^56,fpr=1%,width=16",
                                        "spectral:capacity=2^56,fpr=1%,width=16,mode=recurring",
                                        "increment:capacity=2^56,fpr=1%,step=16"};
    for (size_t i = 0; i < COUNT_OF(large); i++)
        assert_int_equal(tamis_plan_spec(large[i], &plan), TAMIS_TOO_LARGE);
    tamis *f = test_make("counting:capacity=9,bits=65536");
    assert_int_equal(tamis_fold(f, 3), TAMIS_INVALID); /* 3 divides, but is not a power of two */
    assert_int_equal(tamis_fold(f, 256), TAMIS_OK);
    assert_int_equal(tamis_fold(f, 2), TAMIS_INVALID); /* 51 counters are left */
    tamis_free(f);
}

/* ---- Nothing is lost ------------------------------------------------------------------------ */

/* Kinds and options that can remove, with cells small enough for many to get stuck. */
static const struct {
    const char *spec;
    unsigned cell_bits; /* counter, summary and log */
} removable[] = {
    {"counting:fpr=2%", 5},
    {"counting:fpr=2%,width=2", 3},
    {"counting:fpr=2%,bare=yes", 4},
    {"counting:fpr=2%,width=16,log=yes", 18},
    {"spectral:fpr=2%,width=4", 4},
    {"spectral:fpr=2%", 8},
    {"spectral:fpr=2%,mode=recurring", 12},
    {"increment:fpr=2%", 6},
    {"increment:fpr=2%,step=8", 7},
    {"increment:fpr=2%,step=16", 8},
    {"increment:fpr=50%,hashes=9", 6},
    {"spectral:fpr=2%,mode=recurring,width=4", 6},
};

static void the_same_key_a_million_times(void **state) {
    (void)state;
    enum { BATCH = 1000, BATCHES = 1000, REMOVES = 70000 };
    static uint64_t hashes[BATCH];
    for (size_t r = 0; r < COUNT_OF(removable); r++) {
        tamis *f = test_make("%s,capacity=100", removable[r].spec);
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
        /* Stuck cells stay, and affect no other key. */
        for (unsigned i = 0; i < REMOVES; i++) assert_int_equal(tamis_remove(f, "", 0), TAMIS_OK);
        for (uint64_t i = 0; i < 50; i++) assert_true(tamis_has_u64(f, i));
        for (uint64_t i = 0; i < 50; i++) assert_int_equal(tamis_remove_u64(f, i), TAMIS_OK);
        assert_true(tamis_has(f, "", 0));
        assert_int_equal(test_info(f).affected, info.affected);
        tamis_free(f);
    }
}

/* Random replacements, ten times the capacity: every remaining key is found, and when they are
 * removed only stuck cells are left. */
static void churn_loses_nothing(void **state) {
    (void)state;
    enum { N = 3000 };
    static uint64_t alive[N];
    for (size_t r = 0; r < COUNT_OF(removable); r++) {
        tamis *f = test_make("%s,capacity=%d", removable[r].spec, N);
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
        /* Nothing is left but counters that are stuck. */
        const double cells = (double)info.word[0] / removable[r].cell_bits;
        assert_int_equal((uint64_t)(info.fill * cells + 0.5), info.affected);
        assert_true((info.fpr_now > 0) == (info.affected > 0));
        tamis_free(f);
    }
}

/* ---- What a file may hold ------------------------------------------------------------------- */

/* Loads an image with changed bits in its payload and valid checksums. */
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
        assert_int_equal(load_with(f, 5 * N + i, 1, 1), TAMIS_OK); /* the log may be anything */
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
        cmocka_unit_test(sizes_are_exact_or_fold),
        cmocka_unit_test(the_same_key_a_million_times),
        cmocka_unit_test(churn_loses_nothing),
        cmocka_unit_test(impossible_cells_are_refused),
    };
    return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
