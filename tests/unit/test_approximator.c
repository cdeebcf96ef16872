/* SPDX-License-Identifier: MIT */
/* approximator: a model written from docs/format.md, without the library's arithmetic, checks every
 * operation cell by cell; then the contract at full size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "tamis.h"
#include "tamis_engine.h"
#include "tamis_math.h"
#include "tests/support/bounds.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static const uint8_t *payload_of(const tamis *f) {
    uint64_t size;
    return tamis_payload(f, &size);
}

static bool same_payload(const tamis *a, const tamis *b) {
    uint64_t size, other_size;
    const void *p = tamis_payload(a, &size), *q = tamis_payload(b, &other_size);
    return size == other_size && memcmp(p, q, (size_t)size) == 0;
}

static uint64_t luck;
static uint64_t draw(uint64_t below) {
    return test_number(17, luck++) % below;
}

/* ---- The model ------------------------------------------------------------------------------ */

enum { MAX_CELLS = 4096 };

typedef struct model {
    uint64_t cell[MAX_CELLS], n, hashes;
    unsigned width;
    bool is_or;
} model;

/* floor(x * n / 2^64) for n below 2^32, by halves. */
static uint64_t scale(uint64_t x, uint64_t n) {
    return ((x >> 32) * n + ((x & 0xffffffff) * n >> 32)) >> 32;
}

static void model_put(model *m, uint64_t hash, uint64_t value) {
    uint64_t x = hash | 1;
    for (uint64_t i = 0; i < m->hashes; i++, x *= 0xf1357aea2e62a9c5) {
        uint64_t *cell = &m->cell[scale(x, m->n)];
        *cell = m->is_or ? *cell | value : value > *cell ? value : *cell;
    }
}

static uint64_t model_get(const model *m, uint64_t hash) {
    uint64_t x = hash | 1, value = UINT64_MAX;
    for (uint64_t i = 0; i < m->hashes; i++, x *= 0xf1357aea2e62a9c5) {
        const uint64_t cell = m->cell[scale(x, m->n)];
        value = m->is_or ? value & cell : cell < value ? cell : value;
    }
    return value;
}

/* Compares every bit, including those past the last cell. */
static void assert_is_model(const tamis *f, const model *m) {
    const uint8_t *bytes = payload_of(f);
    uint64_t size, at = 0;
    tamis_payload(f, &size);
    assert_int_equal(size, (m->n * m->width + 63) / 64 * 8);
    for (uint64_t i = 0; i < m->n; i++)
        for (unsigned b = 0; b < m->width; b++, at++)
            assert_int_equal(bytes[at / 8] >> at % 8 & 1, m->cell[i] >> b & 1);
    for (; at < size * 8; at++) assert_int_equal(bytes[at / 8] >> at % 8 & 1, 0);
}

static tamis *make_like(model *m, uint64_t cells, uint64_t hashes, unsigned width, bool is_or) {
    *m = (model){.n = cells, .hashes = hashes, .width = width, .is_or = is_or};
    return test_make("approximator:capacity=100,bits=%llu,hashes=%llu,value=%u,lattice=%s",
                     (unsigned long long)(cells * width), (unsigned long long)hashes, width,
                     is_or ? "or" : "max");
}

static uint64_t draw_value(unsigned width) {
    const unsigned bits = (unsigned)draw(width) + 1;
    return test_number(18, luck++) >> (64 - bits);
}

static void put_both(tamis *f, model *m, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t hash = test_number(19, draw(300)), value = draw_value(m->width);
        const uint64_t way = draw(8);
        const tamis_status rc = way == 0   ? tamis_add_hash(f, hash)
                                : way == 1 ? tamis_add_hashes_shared(f, &hash, 1)
                                           : tamis_put_hash(f, hash, value);
        assert_int_equal(rc, TAMIS_OK);
        model_put(m, hash, way < 2 ? 1 : value);
    }
    assert_is_model(f, m);
}

static void assert_same_answers(const tamis *f, const model *m) {
    for (uint64_t i = 0; i < 600; i++) {
        const uint64_t hash = test_number(19, i), expected = model_get(m, hash);
        uint64_t value = 0;
        assert_int_equal(tamis_get_hash(f, hash, &value), expected != 0);
        assert_int_equal(value, expected);
        assert_int_equal(tamis_has_hash(f, hash), expected != 0);
    }
}

static void join_models(model *into, const model *from) {
    for (uint64_t i = 0; i < into->n; i++)
        into->cell[i] = into->is_or                     ? into->cell[i] | from->cell[i]
                        : from->cell[i] > into->cell[i] ? from->cell[i]
                                                        : into->cell[i];
}

static void fold_model(model *m, uint64_t by) {
    model folded = {.n = m->n / by, .hashes = m->hashes, .width = m->width, .is_or = m->is_or};
    for (uint64_t i = 0; i < m->n; i++) {
        uint64_t *cell = &folded.cell[i / by];
        *cell = m->is_or ? *cell | m->cell[i] : m->cell[i] > *cell ? m->cell[i] : *cell;
    }
    *m = folded;
}

static void run_program(uint64_t cells, uint64_t hashes, unsigned width, bool is_or) {
    static model m, other;
    tamis *f = make_like(&m, cells, hashes, width, is_or);
    tamis *g = make_like(&other, cells, hashes, width, is_or);
    put_both(f, &m, 40);
    assert_same_answers(f, &m);
    put_both(g, &other, 40);
    assert_int_equal(tamis_merge(f, g), TAMIS_OK);
    join_models(&m, &other);
    assert_is_model(f, &m);
    for (uint64_t by = 2; by <= 3; by++) {
        const tamis_status rc = tamis_fold(f, by);
        assert_int_equal(rc, m.n % by ? TAMIS_INVALID : TAMIS_OK);
        if (rc == TAMIS_OK) fold_model(&m, by);
        assert_is_model(f, &m);
    }
    put_both(f, &m, 20);
    assert_same_answers(f, &m);
    tamis_free(f);
    tamis_free(g);
}

static void programs_agree_with_the_model(void **state) {
    (void)state;
    static const unsigned widths[] = {1, 2, 3, 7, 8, 13, 16, 31, 33, 63, 64};
    static const uint64_t cells[] = {1, 7, 64, 330, 1000}, hashes[] = {1, 3, 7, 64};
    for (size_t w = 0; w < COUNT_OF(widths); w++)
        for (size_t c = 0; c < COUNT_OF(cells); c++)
            for (size_t k = 0; k < COUNT_OF(hashes); k++)
                for (int is_or = 0; is_or < 2; is_or++)
                    run_program(cells[c], hashes[k], widths[w], is_or);
}

/* ---- The contract at full size -------------------------------------------------------------- */

/* With one-bit values, the payload is that of a Bloom filter. */
static void one_bit_is_classic(void **state) {
    (void)state;
    tamis *c = test_make("classic:capacity=5000,fpr=1%%");
    tamis *a = test_make("approximator:capacity=5000,fpr=1%%,value=1");
    tamis *o = test_make("approximator:capacity=5000,fpr=1%%,value=1,lattice=or");
    for (uint64_t i = 0; i < 5000; i++)
        assert_true(!tamis_add_u64(c, i) && !tamis_put_u64(a, i, 1) && !tamis_add_u64(o, i));
    assert_true(same_payload(c, a) && same_payload(c, o));
    assert_true(test_info(c).fpr_now == test_info(a).fpr_now);
    assert_true(test_info(c).fpr_expected == test_info(a).fpr_expected);
    assert_true(test_info(c).items_now.value == test_info(o).items_now.value);
    tamis_free(c);
    tamis_free(a);
    tamis_free(o);
}

/* Twice the planned keys, each put several times: no value is ever too low. */
static void nothing_is_ever_too_low(void **state) {
    (void)state;
    enum { N = 20000 };
    static uint64_t joined[N];
    for (int is_or = 0; is_or < 2; is_or++) {
        tamis *f = test_make("approximator:capacity=%d,fpr=10%%,value=24,lattice=%s", N / 2,
                             is_or ? "or" : "max");
        memset(joined, 0, sizeof joined);
        for (uint64_t i = 0; i < 3 * N; i++) {
            const uint64_t value = draw_value(24);
            uint64_t *j = &joined[i * 7 % N];
            assert_int_equal(tamis_put_u64(f, i * 7 % N, value), TAMIS_OK);
            *j = is_or ? *j | value : value > *j ? value : *j;
        }
        for (uint64_t i = 0; i < N; i++) {
            uint64_t value = 0;
            assert_int_equal(tamis_get_u64(f, i, &value) || !joined[i], true);
            assert_true(is_or ? (value & joined[i]) == joined[i] : value >= joined[i]);
        }
        tamis_free(f);
    }
}

/* Is the count possible, if the formula, which is a mean, may be off by 1 %? */
static bool is_about(uint64_t hits, uint64_t probes, double rate) {
    const double measured = (double)hits / (double)probes;
    const double nearest = fmin(fmax(measured, rate * 0.99), rate * 1.01);
    return test_is_possible(hits, probes, nearest, TEST_ALPHA);
}

/* The probability that a key of value v gets more than v is the false-positive rate of a Bloom
 * filter of the keys with larger values: (1 - e^(-k n_{>v} / m))^k. Non-members have value 0. */
static void errors_are_as_computed(void **state) {
    (void)state;
    enum { N = 100000, VALUES = 5, HASHES = 3, CELLS = 260000 };
    tamis *f = test_make("approximator:capacity=%d,bits=%d,hashes=%d,value=3", N * (VALUES - 1),
                         CELLS * 3, HASHES);
    for (uint64_t v = 1; v < VALUES; v++)
        for (uint64_t i = 0; i < N; i++)
            assert_int_equal(tamis_put_hash(f, test_number(20 + v, i), v), TAMIS_OK);
    for (uint64_t v = 0; v < VALUES; v++) {
        uint64_t too_high = 0;
        for (uint64_t i = 0; i < N; i++) {
            uint64_t value = 0;
            tamis_get_hash(f, test_number(20 + v, i), &value);
            assert_true(value >= v);
            too_high += value > v;
        }
        const double larger = N * (double)(VALUES - 1 - v);
        const double rate = tamis_rate_approx(larger, CELLS, HASHES);
        assert_true(is_about(too_high, N, rate));
        /* The test can fail: half a class more or less would not pass. */
        assert_false(is_about(too_high, N, tamis_rate_approx(larger + N / 2.0, CELLS, HASHES)));
        if (larger > 0)
            assert_false(is_about(too_high, N, tamis_rate_approx(larger - N / 2.0, CELLS, HASHES)));
    }
    tamis_free(f);
}

/* With lattice=or, a bit is wrong as if only the keys that have it were present. */
static void bits_are_wrong_as_computed(void **state) {
    (void)state;
    enum { N = 100000, HASHES = 3, CELLS = 260000 };
    tamis *f = test_make("approximator:capacity=%d,bits=%d,hashes=%d,value=3,lattice=or", 3 * N,
                         CELLS * 3, HASHES);
    uint64_t with_bit[3] = {0}, wrong[3] = {0};
    for (uint64_t i = 0; i < 3 * N; i++) {
        const uint64_t value = i % 3 == 0 ? 1 : i % 3 == 1 ? 3 : 2; /* no key has bit 2 */
        for (int b = 0; b < 3; b++) with_bit[b] += value >> b & 1;
        assert_int_equal(tamis_put_hash(f, test_number(30, i), value), TAMIS_OK);
    }
    for (uint64_t i = 0; i < N; i++) {
        uint64_t value = 0;
        tamis_get_hash(f, test_number(30, TEST_STRANGERS + i), &value);
        for (int b = 0; b < 3; b++) wrong[b] += value >> b & 1;
    }
    assert_int_equal(wrong[2], 0);
    for (int b = 0; b < 2; b++) {
        assert_int_equal(with_bit[b], 2 * N);
        assert_true(is_about(wrong[b], N, tamis_rate_approx(2 * N, CELLS, HASHES)));
        assert_false(is_about(wrong[b], N, tamis_rate_approx(3 * N, CELLS, HASHES)));
    }
    tamis_free(f);
}

/* Each key has one of four bits: four filters side by side, whose rates add up. */
static void bits_share_the_room(void **state) {
    (void)state;
    enum { N = 200000, PROBES = 1000000, HASHES = 7, CELLS = 480000 };
    tamis *f = test_make("approximator:capacity=%d,bits=%d,hashes=%d,value=4,lattice=or", N / 4,
                         CELLS * 4, HASHES);
    uint64_t hits = 0;
    for (uint64_t i = 0; i < N; i++)
        assert_int_equal(tamis_put_hash(f, test_number(31, i), 1 << i % 4), TAMIS_OK);
    for (uint64_t i = 0; i < PROBES; i++)
        hits += tamis_has_hash(f, test_number(31, TEST_STRANGERS + i));
    const double each = tamis_rate_approx(N / 4, CELLS, HASHES), any = 1 - pow(1 - each, 4);
    const double now = test_info(f).fpr_now;
    assert_true(is_about(hits, PROBES, any));
    assert_true(now > any * 0.98 && now < 4 * each * 1.02);
    assert_true(pow(test_info(f).fill, HASHES) > 10 * now); /* the fill overstates it */
    tamis_free(f);
}

static void used_cells_estimate_the_keys(void **state) {
    (void)state;
    tamis *f = test_make("approximator:capacity=50k,fpr=1%%,value=5"), *g;
    for (uint64_t i = 0; i < 40000; i++) {
        assert_int_equal(tamis_put_u64(f, i, 1 + i % 31), TAMIS_OK);
        assert_int_equal(tamis_put_u64(f, i, i % 31), TAMIS_OK); /* no change */
    }
    g = test_make("approximator:capacity=50k,fpr=1%%,value=5");
    for (uint64_t i = 30000; i < 50000; i++) assert_int_equal(tamis_add_u64(g, i), TAMIS_OK);
    struct tamis_info info = test_info(f);
    struct tamis_estimate common;
    assert_true(fabs(info.items_now.value - 40000) < 5 * info.items_now.error);
    assert_true(info.items_now.error < 200);
    assert_true(info.fpr_now > 0.001 && info.fpr_now < info.fpr_expected);
    assert_int_equal(tamis_overlap(f, g, &common), TAMIS_OK);
    assert_true(fabs(common.value - 10000) < 5 * common.error && common.error < 500);
    tamis_free(f);
    tamis_free(g);
}

/* ---- Threads -------------------------------------------------------------------------------- */

enum { THREADS = 4, PER_THREAD = 20000 };

typedef struct job {
    tamis *filter;
    uint64_t first;
} job;

static void *add_some(void *ctx) {
    const job *j = ctx;
    for (uint64_t i = 0; i < PER_THREAD; i++) {
        const uint64_t key = j->first + i;
        if (tamis_add_shared(j->filter, &key, sizeof key)) abort();
        if (!tamis_has(j->filter, &key, sizeof key)) abort();
    }
    return NULL;
}

/* Adds from many threads, over cells that hold values, give the result of one thread, even in cells
 * that straddle two words. */
static void shared_adds_lose_nothing(void **state) {
    (void)state;
    static const unsigned widths[] = {1, 3, 8, 13, 64};
    for (size_t w = 0; w < COUNT_OF(widths); w++)
        for (int is_or = 0; is_or < 2; is_or++) {
            tamis *f = test_make("approximator:capacity=30k,fpr=10%%,value=%u,lattice=%s",
                                 widths[w], is_or ? "or" : "max");
            pthread_t thread[THREADS];
            job jobs[THREADS];
            for (uint64_t i = 0; i < 10000; i++)
                assert_int_equal(tamis_put_u64(f, i, draw_value(widths[w])), TAMIS_OK);
            tamis *alone = test_copy(f);
            for (uint64_t i = 0; i < THREADS; i++) {
                jobs[i] = (job){f, i * PER_THREAD / 2}; /* half of the keys are added twice */
                assert_int_equal(pthread_create(&thread[i], NULL, add_some, &jobs[i]), 0);
            }
            for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
            for (uint64_t i = 0; i < (THREADS + 1) * PER_THREAD / 2; i++) {
                assert_int_equal(tamis_add(alone, &i, sizeof i), TAMIS_OK);
                assert_true(tamis_has(f, &i, sizeof i));
            }
            assert_true(same_payload(f, alone));
            tamis_free(alone);
            tamis_free(f);
        }
}

/* ---- Shapes and the gate -------------------------------------------------------------------- */

static void assert_spec_makes_it_again(const tamis *f) {
    char spec[256];
    tamis_spec(f, spec, sizeof spec);
    tamis *again = test_make("%s", spec);
    const struct tamis_info info = test_info(f), other = test_info(again);
    assert_memory_equal(info.word, other.word, sizeof info.word);
    tamis_free(again);
}

static void specs_come_back(void **state) {
    (void)state;
    static const char *const specs[] = {
        "approximator:capacity=1000",
        "approximator:capacity=1000,fpr=1/1000,value=64,lattice=or",
        "approximator:capacity=1000,bits=4221,value=7,hashes=5",
        "approximator:capacity=1000,bits=4225,value=7",
        "approximator:capacity=0,bits=64,value=64",
    };
    int folded = 0;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        tamis *f = test_make("%s", specs[i]);
        assert_spec_makes_it_again(f);
        if (tamis_fold(f, 3) == TAMIS_OK) {
            folded++;
            assert_spec_makes_it_again(f);
        }
        tamis_free(f);
    }
    assert_true(folded > 0);
    const struct tamis_plan bits = test_plan("approximator:capacity=1000,bits=4221,value=7");
    assert_int_equal(bits.word[0], 4221); /* a whole number of cells is used exactly */
    assert_int_equal(bits.payload_bytes, 528);
    const struct tamis_plan classic = test_plan("classic:capacity=1M,fpr=1%");
    const struct tamis_plan plan = test_plan("approximator:capacity=1M,fpr=1%,value=12");
    assert_int_equal(plan.word[0], 12 * classic.word[0]);
    assert_int_equal(plan.word[1], classic.word[1]);
    assert_int_equal(plan.payload_bytes, 12 * classic.payload_bytes);
    assert_true(plan.fpr_expected == classic.fpr_expected);
}

static void bad_params_are_refused(void **state) {
    (void)state;
    static const char *const specs[] = {
        "approximator:capacity=10,value=0",     "approximator:capacity=10,value=65",
        "approximator:capacity=10,hashes=0",    "approximator:capacity=10,hashes=65",
        "approximator:capacity=10,lattice=min", "approximator:capacity=10,bits=7",
        "approximator:capacity=10,cells=7",
    };
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        tamis *f;
        assert_int_equal(tamis_create(&f, specs[i]), TAMIS_INVALID);
    }
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    assert_int_equal(tamis_plan_spec("approximator:capacity=2^56,fpr=1%,value=64", &plan),
                     TAMIS_TOO_LARGE);
}

/* A forged image with valid checksums. Words are in the header, eight bytes each. */
enum { WORDS_AT = 80 };

static tamis_status load_forged(const uint8_t *image, size_t size) {
    tamis *f;
    uint8_t *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, image, size);
    test_reseal(copy, size);
    const tamis_status rc = tamis_load(&f, copy, size);
    if (rc == TAMIS_OK) tamis_free(f);
    free(copy);
    return rc;
}

static void forged_words_are_refused(void **state) {
    (void)state;
    static const struct {
        int word;
        uint64_t value;
    } forged[] = {{0, 0},  {0, 63 * 9 - 1}, {0, 63 * 10}, {0, UINT64_MAX}, {1, 0},
                  {1, 65}, {2, 0},          {2, 65},      {2, 10},         {2, UINT64_MAX},
                  {3, 2},  {3, UINT64_MAX}, {4, 1}};
    tamis *f = test_make("approximator:capacity=10,bits=567,value=9,hashes=3");
    size_t size;
    uint8_t *image = test_image(f, &size);
    assert_int_equal(load_forged(image, size), TAMIS_OK);
    for (size_t i = 0; i < COUNT_OF(forged); i++) {
        uint8_t *place = image + WORDS_AT + 8 * (size_t)forged[i].word;
        const uint64_t old = tamis__get64(place);
        tamis__put64(place, forged[i].value);
        assert_int_equal(load_forged(image, size), TAMIS_CORRUPT);
        tamis__put64(place, old);
    }
    free(image);
    tamis_free(f);
}

/* 63 cells of 9 bits leave 9 bits of the last word free. */
static void stray_bits_are_refused(void **state) {
    (void)state;
    tamis *f = test_make("approximator:capacity=10,bits=567,value=9,hashes=3");
    size_t size;
    uint8_t *image = test_image(f, &size);
    assert_int_equal(size, TEST_HEADER_BYTES + 72);
    for (unsigned bit = 0; bit < 576; bit++) {
        uint8_t *byte = image + TEST_HEADER_BYTES + bit / 8;
        *byte |= (uint8_t)(1u << bit % 8);
        assert_int_equal(load_forged(image, size), bit < 567 ? TAMIS_OK : TAMIS_CORRUPT);
        *byte = 0;
    }
    free(image);
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_agree_with_the_model),
        cmocka_unit_test(one_bit_is_classic),
        cmocka_unit_test(nothing_is_ever_too_low),
        cmocka_unit_test(errors_are_as_computed),
        cmocka_unit_test(bits_are_wrong_as_computed),
        cmocka_unit_test(bits_share_the_room),
        cmocka_unit_test(used_cells_estimate_the_keys),
        cmocka_unit_test(shared_adds_lose_nothing),
        cmocka_unit_test(specs_come_back),
        cmocka_unit_test(bad_params_are_refused),
        cmocka_unit_test(forged_words_are_refused),
        cmocka_unit_test(stray_bits_are_refused),
    };
    return cmocka_run_group_tests_name("approximator", tests, NULL, NULL);
}
