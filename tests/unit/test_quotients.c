/* SPDX-License-Identifier: MIT */
/* The slots of quotient filters and the kinds on them: quotient, multiset, grow.
 *
 * The slots are held against a list of fingerprints in order, from which the whole payload is laid
 * out anew after every step; the kinds against exact models and against formulas worked out
 * here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits/select.h"
#include "kinds/slots.h"
#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/batches.h"
#include "tests/support/bounds.h"
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

/* Fingerprints in order, and a payload laid out from them in the plainest way. */
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

/* False when it does not fit. */
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

/* Takes out a slot with that value, of equal ones the first, last or one between. */
static void erase(const tamis_slots *t, tamis_fingerprint fp, uint64_t any) {
    tamis_run run = tamis__run_of(t, fp.home);
    const uint64_t end = tamis__run_search(t, &run, fp.value, is_smaller);
    uint64_t start = end;
    while (start > run.start && tamis__slot_get(t, start - 1) == fp.value) start--;
    assert_true(start < end);
    tamis__slot_erase(t, fp.home, &run, start + any % (end - start));
}

/* A random life of slots: fuller and emptier in waves, homes all over or in a few clumps. */
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
    /* And all out again. */
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

/* The gate lets in exactly what inserting makes: flip any bit, and it is refused or is the layout
 * of other fingerprints. */
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
            if (tamis__slots_audit(&l->slots, is_ascending)) {
                refused++;
            } else {
                again->n = 0;
                const tamis_slots *t = &l->slots;
                for (uint64_t h = tamis__next_home(t, 0); h < 128; h = tamis__next_home(t, h + 1)) {
                    const tamis_run run = tamis__run_of(t, h);
                    for (uint64_t at = run.start; at < run.end; at++)
                        list_insert(again, (tamis_fingerprint){h, tamis__slot_get(t, at)});
                }
                assert_true(lay_out(again));
                assert_memory_equal(again->bytes, l->bytes, l->size);
            }
            l->bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        assert_true(refused > l->size * 8 / 2);
        list_free(l);
        list_free(again);
    }
}

static void the_gate_survives_noise(void **state) {
    (void)state;
    list *l = list_of(192, 3);
    for (uint64_t round = 0; round < 20000; round++) {
        for (size_t i = 0; i < l->size; i += 8) { /* sparse, dense, and few offsets */
            const uint64_t x = test_number(round, i), y = test_number(round + 1, i);
            tamis__put64(l->bytes + i, round % 3 == 0 ? x : round % 3 == 1 ? x & y & (y >> 7) : 0);
        }
        if (round % 2) memset(l->slots.offsets, 0, 2 * l->slots.count / 64);
        tamis__put64(l->slots.used, test_number(round, 9999) % 200);
        tamis__slots_audit(&l->slots, is_ascending);
    }
    list_free(l);
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

/* Rates by the chance that two fingerprints are equal, and no plan that could do with less. */
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
            /* Every other width, with as many homes as it needs, is at most a little smaller. */
            for (double w = 1; w < 40; w++) {
                const double left = -log1p(-(fpr - same_hash));
                const double need = fmax((double)n / 0.95, (double)n / (left * exp2(w)));
                const double min = need / 64 * (18 + 8 * w);
                if ((double)plan.payload_bytes > min * 1.002 + 8 * (24 + 8 * r) + 16)
                    fail_msg("%s: %llu bytes, width %g has %.0f", spec,
                             (unsigned long long)plan.payload_bytes, w, min);
            }
        }
    struct tamis_plan plan;
    assert_int_equal(tamis_plan_spec("quotient:capacity=2^56", &plan, sizeof plan),
                     TAMIS_TOO_LARGE);
    assert_int_equal(tamis_plan_spec("multiset:capacity=2^56", &plan, sizeof plan),
                     TAMIS_TOO_LARGE);
    assert_int_equal(tamis_plan_spec("grow:capacity=2^56", &plan, sizeof plan), TAMIS_TOO_LARGE);
    assert_int_equal(tamis_plan_spec("quotient:capacity=1000,size=300", &plan, sizeof plan),
                     TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "at least"));
    assert_int_equal(tamis_plan_spec("quotient:capacity=10M,remainder=40", &plan, sizeof plan),
                     TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "at most 39"));
    assert_int_equal(test_plan("quotient:capacity=1,fpr=1e-12,remainder=40").word[1], 40);
    assert_int_equal(test_plan("quotient:capacity=5M,fpr=1e-12").word[1], 40);
    assert_int_equal(
        tamis_plan_spec("quotient:capacity=2^50,remainder=1,fpr=1e-3", &plan, sizeof plan),
        TAMIS_TOO_LARGE);
}

/* A given size is used up, and a rate within it is never worse than the plan for that rate. */
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

/* Whatever bit of a payload is flipped, the gate refuses it, or the filter is as sound as any: it
 * is listed, changed and measured, and for bags its bytes are those of what it lists. */
static void use_forged(tamis *f, const char *kind) {
    uint64_t cursor = 0, hash, count;
    tamis *again = test_make("%s:capacity=50,fpr=5%%", kind);
    while (tamis_next(f, &cursor, &hash, &count))
        for (count = count < 1000 ? count : 0; count; count--) tamis_add_hash(again, hash);
    const struct tamis_info info = test_info(f);
    if (info.abilities & TAMIS_ANY_ORDER && test_slots_used(f) == test_slots_used(again))
        assert_true(test_is_same_payload(f, again));
    tamis_merge(again, f);
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
            /* Each bit alone, then two by chance. */
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

/* Runs out of order, or written as nobody would write them, are refused. */
static void put_slot(uint8_t *image, const tamis *f, uint64_t slot, uint64_t value) {
    const struct tamis_info info = test_info(f);
    const tamis_slots t = tamis__slots_at(image + TEST_HEADER_BYTES, info.word[0], info.word[1]);
    tamis__slot_put(&t, slot, value);
}

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

/* ---- quotient ------------------------------------------------------------------------------- */

/* Adds and removes by chance, against the number of times that each key is in. In the end the bytes
 * are those of a filter that only ever saw what is left. */
static void quotient_follows_a_model(void **state) {
    (void)state;
    enum { KEYS = 700, STEPS = 60000 };
    tamis *f = test_make("quotient:capacity=2000,fpr=1e-6"), *fresh;
    static unsigned times[KEYS];
    memset(times, 0, sizeof times);
    uint64_t in = 0;
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t r = test_number(5, step), key = r % KEYS;
        const bool is_rising = step / 4000 % 2 == 0;
        if (r >> 32 & 3 ? is_rising : !is_rising) {
            const tamis_status rc = tamis_add_u64(f, key);
            if (rc == TAMIS_FULL) continue;
            assert_int_equal(rc, TAMIS_OK);
            times[key]++, in++;
        } else {
            assert_int_equal(tamis_remove_u64(f, key), times[key] ? TAMIS_OK : TAMIS_NOT_FOUND);
            if (times[key]) times[key]--, in--;
        }
        assert_int_equal(tamis_has_u64(f, key), times[key] != 0);
        if (step % 1000) continue;
        assert_int_equal(test_slots_used(f), in);
        for (uint64_t k = 0; k < KEYS; k++) assert_int_equal(tamis_has_u64(f, k), times[k] != 0);
        test_demand_loads(f);
        fresh = test_make("quotient:capacity=2000,fpr=1e-6");
        for (uint64_t k = KEYS; k-- > 0;)
            for (unsigned i = 0; i < times[k]; i++) tamis_add_u64(fresh, k);
        assert_true(test_is_same_payload(f, fresh));
        tamis_free(fresh);
    }
    tamis_free(f);
}

/* Remainders of all widths, and slots that are near and far; full, and with copies, so that there
 * are long runs that reach over several blocks. */
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

/* Ten times the capacity goes through a filter that is as full as it may be. */
static void churn_at_full_load_loses_nothing(void **state) {
    (void)state;
    enum { N = 100000 };
    tamis *f = test_make("quotient:capacity=%d,fpr=1%%", N);
    uint64_t first = 0, next = 0;
    while (tamis_add_u64(f, next) == TAMIS_OK) next++;
    assert_true(next >= N && next == tamis__slots_limit(test_info(f).word[0]));
    static uint64_t keys[120000];
    for (uint64_t i = 0; i < next; i++) keys[i] = i;
    const uint64_t live_keys = next;
    for (uint64_t i = 0; i < 10 * (uint64_t)N; i++) {
        const uint64_t at = test_number(3, i) % live_keys;
        assert_int_equal(tamis_remove_u64(f, keys[at]), TAMIS_OK);
        keys[at] = next++;
        assert_int_equal(tamis_add_u64(f, keys[at]), TAMIS_OK);
    }
    for (uint64_t i = 0; i < live_keys; i++) assert_true(tamis_has_u64(f, keys[i]));
    uint64_t hits = 0;
    for (uint64_t i = 0; i < 500000; i++) hits += tamis_has_u64(f, TEST_STRANGERS + i);
    assert_true(test_is_possible(hits, 500000, tamis_fpr_now(f), TEST_ALPHA));
    test_demand_loads(f);
    for (uint64_t i = 0; i < live_keys; i++) first += tamis_remove_u64(f, keys[i]) == TAMIS_OK;
    assert_int_equal(first, live_keys);
    assert_int_equal(test_slots_used(f), 0);
    tamis_free(f);
}

/* No answer changes when a filter is resized, and there and back are the same bytes. */
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
        /* What the filter says of itself makes one that matches. */
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
    /* What is added later is found too, whichever size it was added at. */
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

/* Listing tells all in ascending order; adding what it tells makes the same bytes. */
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

/* A merge is all or nothing; with itself it doubles. */
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

/* One key again and again: full at the latest when its copies pass 16 bits, and nothing changed. */
static void quotient_refuses_endless_copies(void **state) {
    (void)state;
    tamis *f = test_make("quotient:capacity=200000,fpr=1%%");
    for (uint64_t i = 1; i < 500; i++) tamis_add_u64(f, i);
    tamis *few = test_copy(f);
    const uint64_t hash = (uint64_t)1 << 60; /* far from the tail, which would be full before */
    tamis_status rc = TAMIS_OK;
    uint64_t copies = 0;
    for (; copies < 1000000 && !rc; copies++) {
        rc = tamis_add_hash(f, hash);
        if (copies == 65000) tamis_free(few), few = test_copy(f);
    }
    assert_int_equal(rc, TAMIS_FULL);
    assert_non_null(strstr(tamis_why(), "equal keys"));
    assert_true(copies > 65536 - 64 && copies < 65536 + 64);
    test_demand_loads(f);
    /* All at once: none of them. */
    tamis *old = test_copy(f);
    static uint64_t hashes[600];
    for (size_t i = 0; i < COUNT_OF(hashes); i++) hashes[i] = hash;
    assert_int_equal(tamis_add_hashes(f, hashes, COUNT_OF(hashes)), TAMIS_FULL);
    assert_true(test_is_same_payload(f, old));
    tamis_free(old);
    old = test_copy(few);
    assert_int_equal(tamis_add_hashes(few, hashes, COUNT_OF(hashes)), TAMIS_FULL);
    assert_true(test_is_same_payload(few, old));
    for (uint64_t i = 0; i + 1 < copies; i++)
        assert_int_equal(tamis_remove_hash(f, hash), TAMIS_OK);
    for (uint64_t i = 1; i < 500; i++) assert_true(tamis_has_u64(f, i));
    assert_int_equal(test_slots_used(f), 499);
    tamis_free(f);
    tamis_free(few);
    tamis_free(old);
}

/* ---- multiset ------------------------------------------------------------------------------- */

/* Every count of every remainder of a few bits is read back, passes the gate, and costs at most one
 * slot more than the one before; on the way down the same bytes come again. */
static void every_count_is_written_and_read(void **state) {
    (void)state;
    for (unsigned width = 2; width <= 5; width++) {
        tamis *f = test_make("multiset:capacity=60,size=%llu",
                             (unsigned long long)tamis__slots_size(64, width));
        assert_int_equal(test_info(f).word[0], 64);
        assert_int_equal(test_info(f).word[1], width);
        for (uint64_t x = 0; x < (uint64_t)1 << width; x++) {
            const tamis_slots t = {.homes = 64, .width = width};
            const uint64_t hash = tamis__fingerprint_hash(&t, 9, x);
            /* Neighbours in the same run, below and above. */
            const uint64_t below = tamis__fingerprint_hash(&t, 9, x - 1);
            const uint64_t above = tamis__fingerprint_hash(&t, 9, x + 1);
            if (x)
                for (int i = 0; i < 5; i++) tamis_add_hash(f, below);
            if (x + 1 < (uint64_t)1 << width) tamis_add_hash(f, above);
            uint64_t used = test_slots_used(f);
            enum { MAX = 700 };
            tamis *at_half = NULL;
            for (uint64_t c = 1; c <= MAX; c++) {
                assert_int_equal(tamis_add_hash(f, hash), TAMIS_OK);
                assert_int_equal(tamis_count_hash(f, hash), c);
                const uint64_t now = test_slots_used(f);
                assert_true(now == used || now == used + 1);
                used = now;
                if (c == MAX / 2) at_half = test_copy(f);
                if (c < 80 || c % 50 == 0) test_demand_loads(f);
            }
            if (x) assert_int_equal(tamis_count_hash(f, below), 5);
            for (uint64_t c = MAX; c > MAX / 2; c--)
                assert_int_equal(tamis_remove_hash(f, hash), TAMIS_OK);
            assert_true(test_is_same_payload(f, at_half));
            tamis_free(at_half);
            while (tamis_remove_hash(f, hash) == TAMIS_OK) {
            }
            while (x && tamis_remove_hash(f, below) == TAMIS_OK) {
            }
            while (x + 1 < (uint64_t)1 << width && tamis_remove_hash(f, above) == TAMIS_OK) {
            }
            assert_int_equal(test_slots_used(f), 0);
        }
        tamis_free(f);
    }
}

/* Doubling by merging with itself, up to where 64 bits end. */
static void counts_go_up_to_64_bits(void **state) {
    (void)state;
    for (int fpr = 2; fpr <= 20; fpr += 3) {
        tamis *f = test_make("multiset:capacity=500,fpr=2^-%d", fpr);
        for (uint64_t i = 0; i < 5; i++) tamis_add_u64(f, i);
        const uint64_t one = tamis_count_u64(f, 0); /* two of the five may meet */
        for (unsigned twice = 1; twice < 62; twice++) {
            assert_int_equal(tamis_merge(f, f), TAMIS_OK);
            assert_int_equal(tamis_count_u64(f, 0), one << twice);
            if (twice == 40)
                assert_true(test_slots_used(f) <= 5 * (3 + (uint64_t)(44 / (fpr - 1.1))));
        }
        test_demand_loads(f);
        tamis *old = NULL;
        for (tamis_status rc = TAMIS_OK; !rc; rc = tamis_merge(f, f)) {
            tamis_free(old);
            old = test_copy(f);
        }
        assert_true(tamis_count_u64(f, 0) >= one << 61);
        assert_true(test_is_same_payload(f, old));
        tamis_free(f);
        tamis_free(old);
    }
}

static void a_million_adds_of_a_key_take_a_few_slots(void **state) {
    (void)state;
    tamis *f = test_make("multiset:capacity=100,fpr=1%%");
    for (uint64_t i = 0; i < 1000000; i++) assert_int_equal(tamis_add_u64(f, 7), TAMIS_OK);
    assert_int_equal(tamis_count_u64(f, 7), 1000000);
    assert_true(test_slots_used(f) <= 6);
    tamis_free(f);
}

/* Few keys often, many seldom, against exact counts; two keys with one fingerprint share theirs. */
static void multiset_follows_a_model(void **state) {
    (void)state;
    enum { KEYS = 3000, STEPS = 300000 };
    tamis *f = test_make("multiset:capacity=15000,fpr=1e-7"), *fresh = test_copy(f);
    static uint64_t times[KEYS], hashes[KEYS], counts[KEYS];
    for (uint64_t k = 0; k < KEYS; k++) tamis_hash_u64s(f, &k, 1, &hashes[k]);
    memset(times, 0, sizeof times);
    for (uint64_t step = 0; step < STEPS; step++) {
        const double u = (double)(test_number(8, step) >> 11) * 0x1p-53;
        const uint64_t key = (uint64_t)pow(KEYS, u) - 1; /* the k-th with a chance of about 1/k */
        if (test_number(9, step) % 3) {
            assert_int_equal(tamis_add_hash(f, hashes[key]), TAMIS_OK);
            times[key]++;
        } else {
            assert_int_equal(tamis_remove_hash(f, hashes[key]),
                             times[key] ? TAMIS_OK : TAMIS_NOT_FOUND);
            if (times[key]) times[key]--;
        }
        if (step % 3000) continue;
        tamis_count_hashes(f, hashes, KEYS, counts);
        assert_memory_equal(counts, times, sizeof times);
        test_demand_loads(f);
    }
    for (uint64_t k = KEYS; k-- > 0;)
        for (uint64_t i = 0; i < times[k]; i++)
            assert_int_equal(tamis_add_hash(fresh, hashes[k]), TAMIS_OK);
    assert_true(test_is_same_payload(f, fresh));
    assert_true(times[0] > 5000 && times[KEYS - 1] < 50);
    tamis_free(f);
    tamis_free(fresh);
}

/* Room is a promise: that many adds fit whatever they are, and then it is full. */
static void room_of_multiset_is_kept(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        tamis *f = test_make("multiset:capacity=50,fpr=25%%,seed=%llu", (unsigned long long)seed);
        const uint64_t limit = tamis__slots_limit(test_info(f).word[0]);
        uint64_t adds = 0;
        while (tamis_add_u64(f, test_number(seed, adds) % (10 + seed)) == TAMIS_OK) {
            adds++;
            assert_true(test_slots_used(f) <= limit);
            if (adds > 100000) break;
        }
        assert_true(adds >= 50 && (test_slots_used(f) == limit || adds > 100000));
        test_demand_loads(f);
        tamis_free(f);
    }
}

/* Estimates of distinct keys do not see how often each was added. */
static void distinct_keys_are_estimated(void **state) {
    (void)state;
    tamis *f = test_make("multiset:capacity=50000,fpr=1%%"), *g = test_copy(f);
    for (uint64_t i = 0; i < 20000; i++)
        for (uint64_t c = 0; c <= i % 3; c++) tamis_add_u64(f, i);
    for (uint64_t i = 15000; i < 35000; i++) tamis_add_u64(g, i);
    struct tamis_estimate items, common;
    assert_int_equal(tamis_items_now(f, &items), TAMIS_OK);
    assert_true(fabs(items.value - 20000) < 6 * items.error && items.error < 20);
    assert_int_equal(tamis_overlap(f, g, &common), TAMIS_OK);
    assert_true(fabs(common.value - 5000) < 6 * common.error && common.error < 60);
    tamis_free(f);
    tamis_free(g);
}

/* ---- grow ----------------------------------------------------------------------------------- */

/* The rate of a filter that was filled to the last doubling, from the papers: each time adds half
 * of the load, with the bits of its time. */
static double grown_rate(const struct tamis_info *info, double load) {
    const int doublings = (int)info->word[2];
    const double first = (double)info->word[1] - 1 - ceil(2 * log2(doublings + 1));
    double sum = exp2(-first);
    for (int x = 1; x <= doublings; x++) sum += exp2(-first - ceil(2 * log2(x + 1)) - 1);
    return load * sum;
}

static void add_numbers(tamis *f, uint64_t from, uint64_t to) {
    for (; from < to; from++) assert_int_equal(tamis_add_u64(f, test_number(1, from)), TAMIS_OK);
}

static uint64_t find_numbers(const tamis *f, uint64_t from, uint64_t to, uint64_t step) {
    uint64_t found = 0;
    for (; from < to; from += step) found += tamis_has_u64(f, test_number(1, from));
    return found;
}

/* From a thousand keys to more than a million: every key is found, the rate is at every doubling
 * what the slots say and at most what was asked, and old keys become void without being lost. */
static void growing_a_thousandfold(double asked) {
    enum { PROBES = 200000 };
    tamis *f = test_make("grow:capacity=1000,fpr=%.17g", asked);
    const tamis_kind *kind = tamis__kind_by_name("grow", 4)->kind;
    const uint64_t first_bits = test_info(f).word[1] - 1;
    uint64_t keys = 0, old_homes = 0;
    for (unsigned doublings = 0; doublings <= 10; doublings++) {
        struct tamis_info info = test_info(f);
        const uint64_t homes = info.word[0], limit = tamis__slots_limit(homes);
        assert_int_equal(info.word[2], doublings);
        if (doublings) assert_int_equal(homes, 2 * old_homes);
        old_homes = homes;
        /* Here it is at its fullest: one key more and it doubles. */
        const uint64_t more = limit - test_slots_used(f);
        add_numbers(f, keys, keys + more);
        keys += more;
        info = test_info(f);
        assert_int_equal(info.word[0], homes);
        const uint64_t step = doublings < 10 ? 4 : 1; /* all of them in the end */
        assert_int_equal(find_numbers(f, 0, keys, step), (keys + step - 1) / step);
        const uint64_t hits = find_numbers(f, TEST_STRANGERS, TEST_STRANGERS + PROBES, 1);
        if (!test_is_possible(hits, PROBES, info.fpr_now, TEST_ALPHA))
            fail_msg("%u doublings: %u hits, the slots say %g", doublings, (unsigned)hits,
                     info.fpr_now);
        if (info.fpr_now > asked) fail_msg("%u doublings: %g", doublings, info.fpr_now);
        const double formula = grown_rate(&info, 0.95), by_kind = kind->rate(info.word, keys);
        assert_true(fabs(-expm1(-formula) / by_kind - 1) < 0.02);
        /* Copies of voids take slots that the formulas give to keys. */
        assert_true(info.fpr_now < 1.03 * by_kind && info.fpr_now > 0.93 * by_kind);
        assert_true(fabs(info.items_now.value - (double)keys) < 6 * info.items_now.error + 1);
        assert_true(info.items_now.error < 0.01 * (double)keys + 10);
        assert_int_equal(info.affected != 0, doublings >= first_bits);
        assert_int_equal(info.affected != 0, info.caveat[0] != 0);
        if (doublings % 3 == 0) test_demand_loads(f);
        add_numbers(f, keys, keys + 1);
        keys++;
    }
    assert_true(keys > 1000000 * 0.95);
    tamis_free(f);
}

static void growing_at_one_percent(void **state) {
    (void)state;
    growing_a_thousandfold(0.01);
}

static void growing_at_ten_percent(void **state) {
    (void)state;
    growing_a_thousandfold(0.1);
}

static void growing_at_one_in_ten_thousand(void **state) {
    (void)state;
    growing_a_thousandfold(1e-4);
}

/* The promised rate holds for every rate that can be asked, however often the filter doubles. */
static void the_worst_rate_of_grow_is_the_asked_one(void **state) {
    (void)state;
    for (double asked = 0.99; asked > 1e-12; asked *= 0.7) {
        char spec[96];
        snprintf(spec, sizeof spec, "grow:capacity=1000,fpr=%.17g", asked);
        struct tamis_info info = {.word[0] = 0};
        memcpy(info.word, test_plan(spec).word, sizeof info.word);
        const double first = (double)info.word[1] - 1;
        for (unsigned x = 0; x <= 46; x++) {
            info.word[1] = (uint64_t)(first + 1 + ceil(2 * log2(x + 1)));
            info.word[2] = x;
            assert_true(grown_rate(&info, 0.95) <= asked);
        }
        /* And one bit less would not do. */
        info.word[1]--;
        assert_true(first == 1 || grown_rate(&info, 0.95) > asked);
    }
}

/* Keys come and go while the filter grows. Nobody who is in is ever missed; removing fails only for
 * keys whose fingerprint is used up. */
static void removing_while_growing(double asked, bool has_voids) {
    enum { MAX = 40000 };
    tamis *f = test_make("grow:capacity=50,fpr=%.17g", asked);
    static uint64_t keys[MAX];
    uint64_t n = 0, next = 0, stuck = 0;
    while (n < MAX) {
        const uint64_t r = test_number(77, next + stuck);
        if (n && r % 3 == 0) {
            const uint64_t at = r / 3 % n;
            assert_true(tamis_has_u64(f, keys[at]));
            const tamis_status rc = tamis_remove_u64(f, keys[at]);
            assert_true(rc == TAMIS_OK || (has_voids && rc == TAMIS_UNSUPPORTED));
            if (rc) assert_true(tamis_has_u64(f, keys[at]));
            if (!rc) keys[at] = keys[--n];
            stuck++;
        } else {
            keys[n++] = next++;
            assert_int_equal(tamis_add_u64(f, keys[n - 1]), TAMIS_OK);
        }
        if ((next + stuck) % 5000 == 0)
            for (uint64_t i = 0; i < n; i++) assert_true(tamis_has_u64(f, keys[i]));
    }
    assert_int_equal(test_info(f).affected != 0, has_voids);
    test_demand_loads(f);
    /* Out again with all that can go. */
    uint64_t left = 0;
    for (uint64_t i = 0; i < n; i++) {
        assert_true(tamis_has_u64(f, keys[i]));
        left += tamis_remove_u64(f, keys[i]) != TAMIS_OK;
    }
    assert_true(has_voids ? left > 0 && left < n / 2 : left == 0);
    if (!has_voids) assert_int_equal(test_slots_used(f), 0);
    tamis_free(f);
}

static void removing_while_growing_leaves_the_rest(void **state) {
    (void)state;
    removing_while_growing(1e-4, false);
    removing_while_growing(0.2, true);
}

/* Many doublings in one step keep what was there, also when it becomes void on the way. */
static void growing_in_one_leap(void **state) {
    (void)state;
    enum { MANY = 200000 };
    static uint64_t hashes[MANY];
    for (int digits = 1; digits <= 3; digits++) {
        tamis *f = test_make("grow:capacity=10,fpr=1e-%d", digits);
        add_numbers(f, 0, 60);
        for (uint64_t i = 0; i < MANY; i++) hashes[i] = test_number(4, i);
        assert_int_equal(tamis_add_hashes(f, hashes, MANY), TAMIS_OK);
        assert_int_equal(test_info(f).word[2], 12);
        assert_int_equal(find_numbers(f, 0, 60, 1), 60);
        for (uint64_t i = 0; i < MANY; i++) assert_true(tamis_has_hash(f, hashes[i]));
        assert_int_equal(test_info(f).affected, digits < 4 ? 60 : 0);
        test_demand_loads(f);
        tamis_free(f);
    }
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
        cmocka_unit_test(quotient_follows_a_model),
        cmocka_unit_test(batches_are_single_keys),
        cmocka_unit_test(churn_at_full_load_loses_nothing),
        cmocka_unit_test(resizing_quotient_changes_no_answer),
        cmocka_unit_test(resizing_multiset_changes_no_answer),
        cmocka_unit_test(listing_quotient_is_everything),
        cmocka_unit_test(listing_multiset_is_everything),
        cmocka_unit_test(merging_quotient_is_adding),
        cmocka_unit_test(merging_multiset_is_adding),
        cmocka_unit_test(quotient_refuses_endless_copies),
        cmocka_unit_test(every_count_is_written_and_read),
        cmocka_unit_test(counts_go_up_to_64_bits),
        cmocka_unit_test(a_million_adds_of_a_key_take_a_few_slots),
        cmocka_unit_test(multiset_follows_a_model),
        cmocka_unit_test(room_of_multiset_is_kept),
        cmocka_unit_test(distinct_keys_are_estimated),
        cmocka_unit_test(growing_at_one_percent),
        cmocka_unit_test(growing_at_ten_percent),
        cmocka_unit_test(growing_at_one_in_ten_thousand),
        cmocka_unit_test(the_worst_rate_of_grow_is_the_asked_one),
        cmocka_unit_test(removing_while_growing_leaves_the_rest),
        cmocka_unit_test(growing_in_one_leap),
    };
    return cmocka_run_group_tests_name("quotients", tests, NULL, NULL);
}
