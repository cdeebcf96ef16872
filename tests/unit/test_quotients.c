/* SPDX-License-Identifier: MIT */
/* The slots of quotient filters and what their kinds have in common: quotient, multiset, grow. What
 * is specific to each kind is in the file of its name.
 *
 * The slots are compared with a sorted list of fingerprints, from which the whole payload is laid
 * out again after every step. */
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
#include "bits/packed.h"
#include "bits/select.h"
#include "kinds/slots.h"
#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/batches.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* ---- Select --------------------------------------------------------------------------------- */

static void select_finds_every_bit(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t x = test_number(1, i) & test_number(2, i);
        if (i % 3 == 0) x |= test_number(3, i);
        if (i == 0) x = UINT64_MAX;
        unsigned k = 0;
        for (unsigned bit = 0; bit < 64; bit++)
            if (x >> bit & 1) assert_int_equal(tamis__select64(x, k++), bit);
    }
    assert_int_equal(tamis__below(0), 0);
    assert_int_equal(tamis__up_to(63), UINT64_MAX);
}

/* ---- Slots against a list ------------------------------------------------------------------- */

enum { MAX_LISTED = 4096 };

/* Sorted fingerprints, and a payload laid out from them in the simplest way. */
typedef struct list {
    tamis_fingerprint at[MAX_LISTED];
    size_t n;
    tamis_slots slots; /* of `bytes` */
    uint8_t *bytes;
    size_t size;
} list;

static bool is_less(tamis_fingerprint a, tamis_fingerprint b) {
    return a.home < b.home || (a.home == b.home && a.value < b.value);
}

static void list_insert(list *l, tamis_fingerprint fp) {
    size_t i = l->n++;
    assert_true(i < MAX_LISTED);
    for (; i > 0 && is_less(fp, l->at[i - 1]); i--) l->at[i] = l->at[i - 1];
    l->at[i] = fp;
}

static void list_erase(list *l, size_t i) {
    memmove(l->at + i, l->at + i + 1, (--l->n - i) * sizeof *l->at);
}

/* False if the list does not fit. */
static bool lay_out(list *l) {
    const tamis_slots *t = &l->slots;
    uint64_t slot = 0;
    memset(l->bytes, 0, l->size);
    tamis__put64(t->used, l->n);
    for (size_t i = 0; i < l->n; i++, slot++) {
        const uint64_t home = l->at[i].home;
        const bool is_last = i + 1 == l->n || l->at[i + 1].home != home;
        if (slot < home) slot = home;
        if (slot >= t->count) return false;
        uint8_t *block = tamis__slots_block(t, slot);
        tamis__bit_set(tamis__slots_block(t, home), home % 64);
        if (is_last) tamis__bit_set(block + 8, slot % 64);
        tamis__field_put(block + 16, slot % 64, t->width, l->at[i].value);
        for (uint64_t b = home / 64 + 1; b <= slot / 64; b++) {
            if (tamis__get16(t->offsets + 2 * b) == UINT16_MAX) return false;
            tamis__put16(t->offsets + 2 * b, (uint16_t)(tamis__get16(t->offsets + 2 * b) + 1));
        }
    }
    return true;
}

static list *list_of(uint64_t homes, unsigned width) {
    list *l = calloc(1, sizeof *l);
    assert_non_null(l);
    l->size = (size_t)tamis__slots_size(homes, width);
    l->bytes = calloc(1, l->size);
    assert_non_null(l->bytes);
    l->slots = tamis__slots_at(l->bytes, homes, width);
    return l;
}

static void list_free(list *l) {
    free(l->bytes);
    free(l);
}

static bool is_smaller(uint64_t a, uint64_t b) {
    return a < b;
}

static bool is_ascending(const tamis_slots *t, const tamis_run *run) {
    for (uint64_t i = run->start + 1; i < run->end; i++)
        if (tamis__slot_get(t, i - 1) > tamis__slot_get(t, i)) return false;
    return true;
}

static tamis_status insert(const tamis_slots *t, tamis_fingerprint fp) {
    tamis_run run = tamis__run_of(t, fp.home);
    return tamis__slot_insert(t, fp.home, &run, tamis__run_search(t, &run, fp.value, is_smaller),
                              fp.value);
}

/* Removes a slot with that value; `any` chooses among equal ones. */
static void erase(const tamis_slots *t, tamis_fingerprint fp, uint64_t any) {
    tamis_run run = tamis__run_of(t, fp.home);
    const uint64_t end = tamis__run_search(t, &run, fp.value, is_smaller);
    uint64_t start = end;
    while (start > run.start && tamis__slot_get(t, start - 1) == fp.value) start--;
    assert_true(start < end);
    tamis__slot_erase(t, fp.home, &run, start + any % (end - start));
}

/* Random inserts and erases: filling and emptying in waves, homes anywhere or in a few clumps. */
static uint64_t live(uint64_t homes, unsigned width, uint64_t steps, uint64_t seed) {
    list *l = list_of(homes, width), *work = list_of(homes, width);
    const tamis_slots *t = &work->slots;
    const uint64_t clumps = seed % 3 == 0 ? homes : 1 + test_number(seed, 1) % 5;
    uint64_t refused = 0;
    for (uint64_t step = 0; step < steps; step++) {
        const uint64_t r = test_number(seed + 1000, step);
        const bool is_rising = step / (3 * homes) % 2 == 0;
        if (l->n && (r % 8 < (is_rising ? 2u : 6u))) {
            const size_t i = (size_t)(r / 64 % l->n);
            erase(t, l->at[i], r >> 40);
            list_erase(l, i);
            assert_true(lay_out(l));
        } else {
            uint64_t home = r / 8 % homes;
            if (clumps < homes) home = home * clumps / homes * (homes / clumps) + r / 64 % 9;
            const tamis_fingerprint fp = {home < homes ? home : homes - 1,
                                          (r >> 32) & tamis__field_mask(width < 31 ? width : 31)};
            const tamis_status rc = insert(t, fp);
            list_insert(l, fp);
            const bool fits = lay_out(l);
            assert_int_equal(rc, fits ? TAMIS_OK : TAMIS_FULL);
            if (!fits) { /* nothing may have changed */
                size_t i = 0;
                while (l->at[i].home != fp.home || l->at[i].value != fp.value) i++;
                list_erase(l, i);
                assert_true(lay_out(l));
                refused++;
            }
        }
        if (memcmp(work->bytes, l->bytes, l->size) != 0)
            fail_msg("homes %u width %u seed %u: other bytes after step %u", (unsigned)homes, width,
                     (unsigned)seed, (unsigned)step);
        if (step % 50 == 0 && l->n <= tamis__slots_limit(homes))
            assert_int_equal(tamis__slots_audit(t, is_ascending), TAMIS_OK);
    }
    /* Runs and homes, forwards and backwards. */
    size_t i = 0;
    for (uint64_t h = tamis__next_home(t, 0); h < homes; h = tamis__next_home(t, h + 1)) {
        const tamis_run run = tamis__run_of(t, h);
        for (uint64_t at = run.start; at < run.end; at++, i++) {
            assert_int_equal(l->at[i].home, h);
            assert_int_equal(l->at[i].value, tamis__slot_get(t, at));
        }
    }
    assert_int_equal(i, l->n);
    for (uint64_t h = tamis__previous_home(t, homes); h < homes; h = tamis__previous_home(t, h)) {
        const tamis_run run = tamis__run_of(t, h);
        for (uint64_t at = run.end; at > run.start; at--) assert_int_equal(l->at[--i].home, h);
    }
    assert_int_equal(i, 0);
    /* Removes everything. */
    for (; l->n; l->n--) erase(t, l->at[l->n - 1], 0);
    for (size_t b = 0; b < work->size; b++) assert_int_equal(work->bytes[b], 0);
    list_free(l);
    list_free(work);
    return refused;
}

static void slots_are_what_the_list_says(void **state) {
    (void)state;
    static const unsigned widths[] = {1, 2, 3, 7, 8, 13, 31, 32, 33, 58, 63};
    uint64_t seed = 0, refused = 0;
    for (size_t w = 0; w < COUNT_OF(widths); w++)
        for (int i = 0; i < 6; i++, seed++) {
            refused += live(64, widths[w], 12000, seed);
            refused += live(128, widths[w], 8000, seed + 500);
        }
    for (uint64_t i = 0; i < 9; i++) refused += live(640, 7, 9000, i + 7000);
    assert_true(refused > 1000);
}

/* The gate accepts exactly what inserting makes: a payload that it accepts is the layout of its
 * fingerprints. */
static bool is_refused(const list *l, list *again) {
    const tamis_slots *t = &l->slots;
    if (tamis__slots_audit(t, is_ascending)) return true;
    again->n = 0;
    for (uint64_t h = tamis__next_home(t, 0); h < t->homes; h = tamis__next_home(t, h + 1)) {
        const tamis_run run = tamis__run_of(t, h);
        for (uint64_t at = run.start; at < run.end; at++)
            list_insert(again, (tamis_fingerprint){h, tamis__slot_get(t, at)});
    }
    assert_true(lay_out(again));
    assert_memory_equal(again->bytes, l->bytes, l->size);
    return false;
}

static void the_gate_knows_every_bit(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        list *l = list_of(128, 5), *again = list_of(128, 5);
        for (uint64_t i = 0; i < 10 * seed; i++) {
            const uint64_t r = test_number(seed, i);
            list_insert(l, (tamis_fingerprint){(seed % 2 ? r : r % 40 + 80) % 128, r >> 59});
        }
        assert_true(lay_out(l));
        assert_int_equal(tamis__slots_audit(&l->slots, is_ascending), TAMIS_OK);
        uint64_t refused = 0;
        for (size_t bit = 0; bit < l->size * 8; bit++) {
            l->bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            refused += is_refused(l, again);
            l->bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        assert_true(refused > l->size * 8 / 2);
        list_free(l);
        list_free(again);
    }
}

static void the_gate_survives_noise(void **state) {
    (void)state;
    list *l = list_of(192, 3), *again = list_of(192, 3);
    uint64_t refused = 0;
    for (uint64_t round = 0; round < 20000; round++) {
        for (size_t i = 0; i < l->size; i += 8) { /* sparse, dense, and few offsets */
            const uint64_t x = test_number(round, i), y = test_number(round + 1, i);
            tamis__put64(l->bytes + i, round % 3 == 0 ? x : round % 3 == 1 ? x & y & (y >> 7) : 0);
        }
        if (round % 2) memset(l->slots.offsets, 0, 2 * l->slots.count / 64);
        tamis__put64(l->slots.used, round % 30 == 5 ? 0 : test_number(round, 9999) % 200);
        refused += is_refused(l, again);
    }
    assert_in_range(refused, 10000, 19999); /* empty tables are accepted */
    list_free(l);
    list_free(again);
}

static void a_fingerprint_has_a_smallest_hash(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        const unsigned width = 1 + (unsigned)(test_number(1, i) % 40);
        const uint64_t homes = 64 * (1 + test_number(2, i) % ((uint64_t)1 << i % 17));
        const tamis_slots t = {.homes = homes, .width = width};
        const uint64_t home = test_number(3, i) % homes;
        const uint64_t value = test_number(4, i) & tamis__field_mask(width);
        const uint64_t hash = tamis__fingerprint_hash(&t, home, value);
        const tamis_fingerprint fp = tamis__fingerprint(&t, hash);
        assert_true(fp.home == home && fp.value == value);
        if (!hash) continue;
        const tamis_fingerprint before = tamis__fingerprint(&t, hash - 1);
        assert_true(is_less(before, fp));
    }
}

/* ---- Filters -------------------------------------------------------------------------------- */

/* Rates follow the probability of equal fingerprints, and no plan is larger than needed. */
static void plans_of_bags_are_tight(void **state) {
    (void)state;
    for (double fpr = 0.6; fpr > 1e-9; fpr *= 0.73)
        for (uint64_t n = 1; n < 3000000000; n = n * 7 + 3) {
            char spec[96];
            snprintf(spec, sizeof spec, "quotient:capacity=%llu,fpr=%.17g", (unsigned long long)n,
                     fpr);
            const struct tamis_plan plan = test_plan(spec);
            const double homes = (double)plan.word[0], r = (double)plan.word[1];
            const double rate = -expm1((double)n * log1p(-1 / (homes * exp2(r))));
            const double same_hash = (double)n * 0x1p-64;
            assert_true(fabs(plan.fpr_expected - rate - same_hash) <
                        1e-6 * rate + same_hash * rate);
            assert_true(plan.fpr_expected <= fpr && 0.95 * homes >= (double)n);
            /* Any other width, with as many homes as it needs, is at most slightly smaller. */
            for (double w = 1; w < 40; w++) {
                const double left = -log1p(-(fpr - same_hash));
                const double need = fmax((double)n / 0.95, (double)n / (left * exp2(w)));
                const double min = need / 64 * (18 + 8 * w);
                if ((double)plan.payload_bytes > min * 1.002 + 8 * (24 + 8 * r) + 16)
                    fail_msg("%s: %llu bytes, width %g has %.0f", spec,
                             (unsigned long long)plan.payload_bytes, w, min);
            }
        }
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    assert_int_equal(tamis_plan_spec("quotient:capacity=2^56", &plan), TAMIS_TOO_LARGE);
    assert_int_equal(tamis_plan_spec("multiset:capacity=2^56", &plan), TAMIS_TOO_LARGE);
    assert_int_equal(tamis_plan_spec("grow:capacity=2^56", &plan), TAMIS_TOO_LARGE);
    assert_int_equal(tamis_plan_spec("quotient:capacity=1000,size=300", &plan), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "at least"));
    assert_int_equal(tamis_plan_spec("quotient:capacity=10M,remainder=40", &plan), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "at most 39"));
    assert_int_equal(test_plan("quotient:capacity=1,fpr=1e-12,remainder=40").word[1], 40);
    assert_int_equal(test_plan("quotient:capacity=5M,fpr=1e-12").word[1], 40);
    assert_int_equal(tamis_plan_spec("quotient:capacity=2^50,remainder=1,fpr=1e-3", &plan),
                     TAMIS_TOO_LARGE);
}

static void plans_for_a_size_use_it(void **state) {
    (void)state;
    static const char *const kinds[] = {"quotient", "multiset", "grow"};
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        for (uint64_t size = 600; size < 100000000; size = size * 3 + 8) {
            char spec[96];
            snprintf(spec, sizeof spec, "%s:capacity=%llu,size=%llu", kinds[k],
                     (unsigned long long)(size / 4), (unsigned long long)size);
            const struct tamis_plan plan = test_plan(spec);
            assert_true(plan.payload_bytes <= size && plan.payload_bytes + 700 > size);
            assert_true(plan.fpr_expected < 0.2);
        }
}

/* With any bit of its payload flipped, a filter is refused or is sound: it can be listed, changed
 * and measured, and where order does not matter its bytes are those of what it lists. */
static void use_forged(tamis *f, const char *kind) {
    uint64_t cursor = 0, hash, count;
    tamis *again = test_make("%s:capacity=50,fpr=5%%", kind);
    while (tamis_next(f, &cursor, &hash, &count))
        for (count = count < 1000 ? count : 0; count; count--) tamis_add_hash(again, hash);
    const struct tamis_info info = test_info(f);
    if (info.abilities & TAMIS_ANY_ORDER && test_slots_used(f) == test_slots_used(again))
        assert_true(test_is_same_payload(f, again));
    if (tamis_merge(again, f) == TAMIS_OK) test_info(again);
    assert_true(info.fpr_now >= 0 && info.fpr_now <= 1);
    for (uint64_t i = 0; i < 60; i++)
        if (tamis_add_u64(f, i) == TAMIS_OK) assert_true(tamis_has_u64(f, i));
    for (uint64_t i = 0; i < 60; i++) tamis_remove_u64(f, i);
    test_demand_loads(f);
    tamis_free(again);
}

static void forged_payloads_are_refused_or_sound(void **state) {
    (void)state;
    static const char *const kinds[] = {"quotient", "multiset", "grow"};
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        tamis *f = test_make("%s:capacity=50,fpr=5%%", kinds[k]), *g;
        for (uint64_t i = 0; i < 50; i++) tamis_add_u64(f, i < 40 ? i : 0);
        const size_t size = (size_t)tamis_image_size(f);
        uint8_t *image = malloc(size);
        uint64_t refused = 0;
        for (size_t pair = TEST_HEADER_BYTES * 8; pair < size * 16; pair++) {
            assert_int_equal(tamis_serialize(f, image, size), TAMIS_OK);
            /* Each bit alone, then two at random. */
            const size_t payload = (size - TEST_HEADER_BYTES) * 8;
            const size_t first = pair < size * 8 ? pair - TEST_HEADER_BYTES * 8
                                                 : (size_t)(test_number(2, pair) % payload);
            const size_t second = (size_t)(test_number(3, pair) % payload);
            image[TEST_HEADER_BYTES + first / 8] ^= (uint8_t)(1 << first % 8);
            if (pair >= size * 8 && second != first)
                image[TEST_HEADER_BYTES + second / 8] ^= (uint8_t)(1 << second % 8);
            test_reseal(image, size);
            if (tamis_load(&g, image, size) == TAMIS_OK)
                use_forged(g, kinds[k]);
            else
                refused++;
            tamis_free(g);
        }
        assert_true(refused > size * 6);
        free(image);
        tamis_free(f);
    }
}

static void put_slot(uint8_t *image, const tamis *f, uint64_t slot, uint64_t value) {
    const struct tamis_info info = test_info(f);
    const tamis_slots t = tamis__slots_at(image + TEST_HEADER_BYTES, info.word[0], info.word[1]);
    tamis__slot_put(&t, slot, value);
}

/* Runs that are unsorted or encoded in a way that no writer uses. */
static void runs_that_nobody_writes_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *kind;
        uint64_t slot[5]; /* of one run, with values of 4 bits */
        bool is_legal;
    } runs[] = {
        {"quotient", {1, 2, 2, 7, 9}, true},   {"quotient", {1, 2, 2, 9, 7}, false},
        {"quotient", {1, 0, 2, 7, 9}, false},  {"multiset", {1, 2, 3, 7, 9}, true},
        {"multiset", {1, 2, 2, 7, 9}, true},   {"multiset", {3, 9, 0, 10, 9}, true},
        {"multiset", {3, 9, 0, 8, 9}, false},  {"multiset", {3, 9, 0, 1, 9}, false},
        {"multiset", {3, 9, 4, 0, 9}, false},  {"multiset", {3, 9, 4, 5, 6}, false},
        {"multiset", {9, 0, 9, 3, 4}, false},  {"multiset", {0, 1, 0, 0, 5}, true},
        {"multiset", {0, 1, 1, 0, 0}, false},  {"multiset", {0, 0, 0, 0, 5}, false},
        {"multiset", {0, 3, 0, 3, 15}, true},  {"multiset", {4, 4, 4, 5, 6}, false},
        {"multiset", {2, 0, 15, 2, 15}, true}, {"multiset", {2, 3, 2, 3, 2}, false},
    };
    for (size_t i = 0; i < COUNT_OF(runs); i++) {
        tamis *f = test_make("%s:capacity=60,size=%llu", runs[i].kind,
                             (unsigned long long)tamis__slots_size(64, 4)),
              *g;
        const tamis_slots t = {.homes = 64, .width = 4};
        for (uint64_t value = 1; value <= 5; value++)
            tamis_add_hash(f, tamis__fingerprint_hash(&t, 10, value));
        const size_t size = (size_t)tamis_image_size(f);
        uint8_t *image = malloc(size);
        assert_int_equal(tamis_serialize(f, image, size), TAMIS_OK);
        for (uint64_t s = 0; s < 5; s++) put_slot(image, f, 10 + s, runs[i].slot[s]);
        test_reseal(image, size);
        if ((tamis_load(&g, image, size) == TAMIS_OK) != runs[i].is_legal)
            fail_msg("run %u is judged wrongly", (unsigned)i);
        tamis_free(g);
        tamis_free(f);
        free(image);
    }
}

/* ---- quotient and multiset ------------------------------------------------------------------- */

/* Remainders of all widths, in small and large tables; full, and with copies, so that there are
 * long runs across several blocks. */
static void batches_are_single_keys(void **state) {
    (void)state;
    enum { SMALL = 2000, LARGE = 900000, COPIES = 300 };
    static const char *const kinds[] = {"quotient", "multiset"};
    static uint64_t hashes[LARGE], with_copies[SMALL];
    for (uint64_t i = 0; i < LARGE; i++) hashes[i] = test_number(7, i);
    memcpy(with_copies, hashes, sizeof with_copies);
    for (uint64_t i = 0; i < COPIES; i++) with_copies[3 * i] = hashes[i % 2];
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        for (int width = 1 + (int)k; width <= 40; width++) {
            char spec[96];
            snprintf(spec, sizeof spec, "%s:capacity=%d,remainder=%d", kinds[k], SMALL, width);
            test_batches(spec, hashes, SMALL);
            test_batches(spec, with_copies, SMALL);
        }
    test_batches("quotient:capacity=900000,fpr=0.38%", hashes, LARGE);
    test_batches("multiset:capacity=300000,remainder=40", hashes, LARGE / 3);
    test_batches("grow:capacity=2000,fpr=1%", hashes, SMALL);
}

/* Resizing changes no answer, and resizing back gives the same bytes. */
static void resizing_changes_no_answer(const char *kind) {
    enum { N = 3000, ASKED = 60000 };
    tamis *f = test_make("%s:capacity=%d,fpr=0.1%%", kind, N);
    for (uint64_t i = 0; i < N; i++) tamis_add_u64(f, i % 2500);
    tamis *g = test_copy(f);
    static const uint64_t sizes[] = {7000, 40000, 100000, 5000, 3500, 12800};
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        if (tamis_resize(g, sizes[s])) fail_msg("to %u: %s", (unsigned)sizes[s], tamis_why());
        const struct tamis_info info = test_info(g);
        assert_true(tamis__slots_limit(info.word[0]) >= sizes[s]);
        assert_int_equal(info.capacity, sizes[s]);
        for (uint64_t i = 0; i < ASKED; i++)
            assert_int_equal(tamis_has_u64(f, i), tamis_has_u64(g, i));
        for (uint64_t i = 0; i < 2500; i++)
            assert_int_equal(tamis_count_u64(f, i), tamis_count_u64(g, i));
        assert_true(fabs(tamis_fpr_now(g) / tamis_fpr_now(f) - 1) < 1e-12);
        test_demand_loads(g);
        /* The filter's own spec makes one that matches. */
        char spec[128];
        assert_true(tamis_spec(g, spec, sizeof spec) < sizeof spec);
        tamis *same = test_make("%s", spec);
        if (tamis_mismatch(g, same)) fail_msg("%s: %s", spec, tamis_why());
        tamis_free(same);
    }
    assert_int_equal(tamis_resize(g, tamis__slots_limit(test_info(f).word[0])), TAMIS_OK);
    assert_true(test_is_same_payload(f, g));
    assert_int_equal(tamis_resize(g, 100), TAMIS_FULL);
    assert_int_equal(tamis_resize(g, 1000000000), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "up to"));
    assert_true(test_is_same_payload(f, g));
    /* Keys added later are found too, whatever the size at that time. */
    assert_int_equal(tamis_resize(g, 10000), TAMIS_OK);
    for (uint64_t i = N; i < 6000; i++) assert_int_equal(tamis_add_u64(g, i), TAMIS_OK);
    assert_int_equal(tamis_resize(g, 30000), TAMIS_OK);
    for (uint64_t i = 0; i < 6000; i++) assert_true(i >= 2500 && i < N ? 1 : tamis_has_u64(g, i));
    tamis_free(f);
    tamis_free(g);
}

static void resizing_quotient_changes_no_answer(void **state) {
    (void)state;
    resizing_changes_no_answer("quotient");
}

static void resizing_multiset_changes_no_answer(void **state) {
    (void)state;
    resizing_changes_no_answer("multiset");
}

/* Listing gives every hash in ascending order; adding them all makes the same bytes. */
static void listing_is_everything(const char *kind) {
    tamis *f = test_make("%s:capacity=3000,fpr=1%%", kind),
          *g = test_make("%s:capacity=3000,fpr=1%%", kind);
    uint64_t cursor = 0, hash, count, last = 0, sum = 0, entries = 0;
    assert_false(tamis_next(f, &cursor, &hash, &count));
    for (uint64_t i = 0; i < 2900; i++) tamis_add_u64(f, i < 900 ? i / 3 : i);
    for (cursor = 0; tamis_next(f, &cursor, &hash, &count); entries++) {
        assert_true(entries == 0 || hash > last);
        assert_true(count > 0 && tamis_has_hash(f, hash));
        last = hash;
        sum += count;
        while (count--) assert_int_equal(tamis_add_hash(g, hash), TAMIS_OK);
    }
    assert_int_equal(sum, 2900);
    assert_true(entries <= 2300 && entries > 2250);
    assert_true(test_is_same_payload(f, g));
    tamis_free(f);
    tamis_free(g);
}

static void listing_quotient_is_everything(void **state) {
    (void)state;
    listing_is_everything("quotient");
}

static void listing_multiset_is_everything(void **state) {
    (void)state;
    listing_is_everything("multiset");
}

/* A merge is all or nothing; with itself, a filter doubles. */
static void merging_is_adding(const char *kind) {
    tamis *a = test_make("%s:capacity=5000,fpr=1%%", kind), *b = test_copy(a), *both = test_copy(a);
    for (uint64_t i = 0; i < 2000; i++) {
        tamis_add_u64(a, i), tamis_add_u64(both, i);
        tamis_add_u64(b, i * 2 / 3 + 1000), tamis_add_u64(both, i * 2 / 3 + 1000);
    }
    tamis *old = test_copy(b);
    assert_int_equal(tamis_merge(a, b), TAMIS_OK);
    assert_true(test_is_same_payload(a, both));
    assert_true(test_is_same_payload(b, old));
    for (uint64_t i = 0; i < 2000; i++) tamis_add_u64(b, i * 2 / 3 + 1000);
    assert_int_equal(tamis_merge(old, old), TAMIS_OK);
    assert_true(test_is_same_payload(old, b));
    tamis *full = test_copy(a);
    tamis_status rc = TAMIS_OK;
    for (uint64_t i = 0; i < 30000 && !rc; i++) rc = tamis_add_u64(full, i + 9000);
    assert_int_equal(rc, TAMIS_FULL);
    tamis_free(old);
    old = test_copy(full);
    assert_int_equal(tamis_merge(full, b), TAMIS_FULL);
    assert_true(test_is_same_payload(full, old));
    assert_int_equal(tamis_merge(full, full), TAMIS_FULL);
    assert_true(test_is_same_payload(full, old));
    tamis_free(a);
    tamis_free(b);
    tamis_free(both);
    tamis_free(full);
    tamis_free(old);
}

static void merging_quotient_is_adding(void **state) {
    (void)state;
    merging_is_adding("quotient");
}

static void merging_multiset_is_adding(void **state) {
    (void)state;
    merging_is_adding("multiset");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(select_finds_every_bit),
        cmocka_unit_test(slots_are_what_the_list_says),
        cmocka_unit_test(the_gate_knows_every_bit),
        cmocka_unit_test(the_gate_survives_noise),
        cmocka_unit_test(a_fingerprint_has_a_smallest_hash),
        cmocka_unit_test(plans_of_bags_are_tight),
        cmocka_unit_test(plans_for_a_size_use_it),
        cmocka_unit_test(forged_payloads_are_refused_or_sound),
        cmocka_unit_test(runs_that_nobody_writes_are_refused),
        cmocka_unit_test(batches_are_single_keys),
        cmocka_unit_test(resizing_quotient_changes_no_answer),
        cmocka_unit_test(resizing_multiset_changes_no_answer),
        cmocka_unit_test(listing_quotient_is_everything),
        cmocka_unit_test(listing_multiset_is_everything),
        cmocka_unit_test(merging_quotient_is_adding),
        cmocka_unit_test(merging_multiset_is_adding),
    };
    return cmocka_run_group_tests_name("quotients", tests, NULL, NULL);
}
