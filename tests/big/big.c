/* SPDX-License-Identifier: MIT */
/* Filters of more than 2^33 bits, filled to capacity: where indexes of 32 bits, sizes of 32 bits
 * and hashes of too few bits first show. Every kind of the registry that keeps its keys; about 2.5
 * GiB of memory, 1.2 GiB of disk and some minutes each. `make big`, or `big KIND [FPR]` for one of
 * them: at a small rate there are fewer keys to wait for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/bounds.h"
#include "tests/support/keys.h"

enum { BATCH = 4096, PROBES = 20000000 };
static const uint64_t family = 11;
static const char *fpr = "1%";

static void numbers(const tamis *f, uint64_t from, size_t n, uint64_t *hashes) {
    uint64_t keys[BATCH];
    for (size_t i = 0; i < n; i++) keys[i] = test_number(family, from + i);
    tamis_hash_u64s(f, keys, n, hashes);
}

static void fill(tamis *f, uint64_t from, uint64_t to) {
    uint64_t hashes[BATCH];
    for (uint64_t i = from; i < to; i += BATCH) {
        const size_t n = to - i < BATCH ? (size_t)(to - i) : BATCH;
        numbers(f, i, n, hashes);
        if (tamis_add_hashes(f, hashes, n)) fail_msg("%s", tamis_why());
    }
}

static void take_out(tamis *f, uint64_t from, uint64_t to) {
    uint64_t hashes[BATCH];
    for (uint64_t i = from; i < to; i += BATCH) {
        const size_t n = to - i < BATCH ? (size_t)(to - i) : BATCH;
        numbers(f, i, n, hashes);
        for (size_t j = 0; j < n; j++)
            if (tamis_remove_hash(f, hashes[j])) fail_msg("%s", tamis_why());
    }
}

static uint64_t count(const tamis *f, uint64_t from, uint64_t to) {
    uint64_t hashes[BATCH], hits = 0;
    uint8_t hit[BATCH];
    for (uint64_t i = from; i < to; i += BATCH) {
        const size_t n = to - i < BATCH ? (size_t)(to - i) : BATCH;
        numbers(f, i, n, hashes);
        tamis_has_hashes(f, hashes, n, hit);
        for (size_t j = 0; j < n; j++) hits += hit[j];
    }
    return hits;
}

/* Slices of the payload must be equally full: a truncated index leaves some of them empty. Set bits
 * of a slice are a sum of many small draws, so their chi-square against the mean, scaled by the
 * observed spread of single words, is near the number of slices. */
static void demand_even_fill(const tamis *f) {
    enum { SLICES = 4096 };
    uint64_t size;
    const uint8_t *bytes = tamis_payload(f, &size);
    const uint64_t words = size / 8, per_slice = words / SLICES;
    double sum = 0, squares = 0, all = 0, all_squares = 0;
    for (uint64_t s = 0; s < SLICES; s++) {
        double set = 0;
        for (uint64_t i = s * per_slice; i < (s + 1) * per_slice; i++) {
            uint64_t w;
            memcpy(&w, bytes + 8 * i, sizeof w);
            const double n = __builtin_popcountll(w);
            set += n;
            all_squares += n * n;
        }
        all += set;
        sum += set;
        squares += set * set;
    }
    const double n = (double)per_slice * SLICES, mean = sum / SLICES;
    const double word_variance = all_squares / n - all / n * (all / n);
    const double slice_variance = squares / SLICES - mean * mean;
    /* Words of one block are full together, so slices spread up to a block's words more. */
    const double ratio = slice_variance / (word_variance * (double)per_slice);
    print_message("# slices spread %.2f times what their words do\n", ratio);
    assert_true(ratio < 12);
}

static void rate_holds(const tamis *f, const char *when) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(f, &info);
    const uint64_t hits = count(f, TEST_STRANGERS, TEST_STRANGERS + PROBES);
    print_message("# %s: %s %.3f GiB, %llu keys: formula %.6f, fill %.6f, measured %.6f\n", when,
                  info.kind, (double)info.payload_bytes / (1 << 30), (unsigned long long)info.items,
                  info.fpr_expected, info.fpr_now, (double)hits / PROBES);
    assert_true(test_is_possible(hits, PROBES, info.fpr_now, TEST_ALPHA));
    /* An index that was cut short would put all keys into a part of the payload. */
    if (info.items == info.capacity && !(info.abilities & TAMIS_AGES))
        assert_true(fabs(info.fpr_now / info.fpr_expected - 1) < 0.02);
    const double n = (double)info.items;
    assert_true(fabs(info.items_now.value - n) < 6 * info.items_now.error + 1e-6 * n);
}

/* Two halves merged, where that can be. */
static tamis *made_full(const char *spec, const struct tamis_plan *plan) {
    tamis *f, *other;
    const uint64_t half = plan->abilities & TAMIS_CAN_MERGE ? plan->capacity / 2 : plan->capacity;
    assert_int_equal(tamis_create(&f, spec), TAMIS_OK);
    fill(f, 0, half);
    if (half == plan->capacity) return f;
    assert_int_equal(tamis_create(&other, spec), TAMIS_OK);
    fill(other, half, plan->capacity);
    if (tamis_merge(f, other)) fail_msg("%s", tamis_why());
    tamis_free(other);
    return f;
}

/* To disk and back. */
static void save_and_map(const tamis *f, uint64_t some) {
    char path[] = "build/big-XXXXXX";
    tamis *map;
    uint64_t m, n;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(tamis_save(f, path), TAMIS_OK);
    assert_int_equal(tamis_map(&map, path), TAMIS_OK);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(count(map, 0, some), some);
    const void *p = tamis_payload(f, &m), *q = tamis_payload(map, &n);
    assert_int_equal(m, n);
    assert_memory_equal(p, q, (size_t)n);
    tamis_free(map);
}

/* The removed ones are strangers, nobody else has suffered, and there is room for them again. */
static void remove_and_add_again(tamis *f, uint64_t some, uint64_t capacity) {
    take_out(f, 0, some);
    const uint64_t hits = count(f, 0, some);
    print_message("# %llu removed: %.6f of them are still found, strangers %.6f\n",
                  (unsigned long long)some, (double)hits / (double)some, tamis_fpr_now(f));
    assert_true(test_is_possible(hits, some, tamis_fpr_now(f), TEST_ALPHA));
    assert_int_equal(count(f, some, capacity), capacity - some);
    fill(f, 0, some);
    assert_int_equal(count(f, 0, some), some);
    rate_holds(f, "full again");
}

static void one_kind(const char *kind) {
    char spec[128];
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    /* 2^33 + 2^27 bits: fpr 1 % where that is the kind's business. */
    snprintf(spec, sizeof spec, "%s:size=1090519040,fpr=%s", kind, fpr);
    if (tamis_plan_spec(spec, &plan)) fail_msg("%s: %s", spec, tamis_why());
    assert_true(plan.payload_bytes * 8 > (uint64_t)1 << 33);
    tamis *f = made_full(spec, &plan);
    if (plan.abilities & TAMIS_CAN_SHARE) demand_even_fill(f); /* one array of bits, no counters */
    rate_holds(f, "full");
    assert_int_equal(count(f, 0, plan.capacity), plan.capacity);
    const uint64_t some = plan.capacity < 20000000 ? plan.capacity : 20000000;
    save_and_map(f, some);
    if (plan.abilities & TAMIS_CAN_REMOVE && !(plan.abilities & TAMIS_MAY_FORGET))
        remove_and_add_again(f, some, plan.capacity);
    if (plan.abilities & TAMIS_CAN_FOLD) { /* below 2^33 */
        assert_int_equal(tamis_fold(f, 2), TAMIS_OK);
        assert_int_equal(count(f, 0, some), some);
    }
    tamis_free(f);
}

static void beyond_two_to_33_bits(void **state) {
    one_kind(*state);
}

int main(int argc, char **argv) {
    static char names[64][64];
    struct CMUnitTest tests[64];
    size_t count_of_tests = 0;
    struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
    if (argc > 2) fpr = argv[2];
    for (size_t i = 0; tamis_kind_at(i, &kind); i++) {
        if (argc > 1 && strcmp(argv[1], kind.name) != 0) continue;
        const unsigned forgets = TAMIS_AGES | TAMIS_MAY_FORGET;
        if (!(kind.abilities & TAMIS_CAN_ADD) || (kind.abilities & forgets) == forgets) continue;
        snprintf(names[count_of_tests], sizeof names[0], "beyond 2^33 bits: %s", kind.name);
        tests[count_of_tests] = (struct CMUnitTest){.name = names[count_of_tests],
                                                    .test_func = beyond_two_to_33_bits,
                                                    .initial_state = (void *)(uintptr_t)kind.name};
        count_of_tests++;
    }
    return _cmocka_run_group_tests("big", tests, count_of_tests, NULL, NULL);
}
