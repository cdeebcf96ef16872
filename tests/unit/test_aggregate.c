/* SPDX-License-Identifier: MIT */
/* Aggregation: sums against an exact model, losses two-sided against the filter's rate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_jobs.h"
#include "tests/support/bounds.h"
#include "tests/support/failing_allocator.h"
#include "tests/support/keys.h"
#include "tests/support/require_ok.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static tamis_aggregate *make(const char *spec) {
    tamis_aggregate *node;
    REQUIRE_OK(tamis_aggregate_create_with(&node, spec, NULL));
    return node;
}

static struct tamis_total total_of(const tamis_aggregate *node) {
    struct tamis_total total = TAMIS_TOTAL_INIT;
    tamis_aggregate_total(node, &total);
    return total;
}

static enum tamis_aggregated take(tamis_aggregate *node, uint64_t source, double value,
                                  const double *earlier, size_t n) {
    enum tamis_aggregated what;
    REQUIRE_OK(tamis_aggregate_take(node, &source, sizeof source, value, earlier, n, &what));
    return what;
}

/* ---- One source ----------------------------------------------------------------------------- */

static void a_source_counts_once(void **state) {
    (void)state;
    tamis_aggregate *node;
    REQUIRE_OK(tamis_aggregate_create(&node, 100));
    assert_int_equal(total_of(node).count, 0);
    assert_true(total_of(node).mean == 0 && total_of(node).lost.value == 0);
    assert_int_equal(take(node, 1, 5, NULL, 0), TAMIS_AGGREGATE_COUNTED);
    assert_int_equal(take(node, 1, 5, NULL, 0), TAMIS_AGGREGATE_SKIPPED);
    assert_int_equal(take(node, 2, 5, NULL, 0), TAMIS_AGGREGATE_COUNTED);
    assert_int_equal(take(node, 1, 7, (double[]){5}, 1), TAMIS_AGGREGATE_REPLACED);
    assert_int_equal(take(node, 1, 7, (double[]){5}, 1), TAMIS_AGGREGATE_SKIPPED);
    struct tamis_total t = total_of(node);
    assert_int_equal(t.count, 2);
    assert_true(t.sum == 12 && t.mean == 6 && t.min == 5 && t.max == 7);
    assert_true(t.counted == 2 && t.replaced == 1 && t.skipped == 2);
    /* Source 2's report of 9 was lost; source 1 returns from 7 to 5. */
    assert_int_equal(take(node, 2, 11, (double[]){9, 5}, 2), TAMIS_AGGREGATE_REPLACED);
    assert_int_equal(take(node, 1, 5, (double[]){7, 5}, 2), TAMIS_AGGREGATE_REPLACED);
    assert_true(total_of(node).sum == 16);
    assert_int_equal(total_of(node).count, 2);
    /* Without its earlier values, a change counts as a new source. */
    assert_int_equal(take(node, 1, 6, NULL, 0), TAMIS_AGGREGATE_COUNTED);
    assert_int_equal(total_of(node).count, 3);
    tamis_aggregate_free(node);
    tamis_aggregate_free(NULL);
}

/* If the source of an extreme changes, the extreme is only a bound, until a source reaches it or
 * goes beyond. */
static void extremes_are_bounds(void **state) {
    (void)state;
    tamis_aggregate *node = make("quotient:capacity=100,fpr=1e-9");
    take(node, 1, 3, NULL, 0);
    take(node, 2, -4, NULL, 0);
    take(node, 3, 8, NULL, 0);
    assert_true(total_of(node).is_min_counted && total_of(node).is_max_counted);
    take(node, 2, 5, (double[]){-4}, 1);
    struct tamis_total t = total_of(node);
    assert_true(t.min == -4 && !t.is_min_counted && t.max == 8 && t.is_max_counted);
    take(node, 4, -4, NULL, 0);
    assert_true(total_of(node).is_min_counted);
    take(node, 3, 9, (double[]){8}, 1);
    t = total_of(node);
    assert_true(t.max == 9 && t.is_max_counted && t.sum == 3 + 5 + 9 - 4);
    assert_int_equal(take(node, 5, -0.0, NULL, 0), TAMIS_AGGREGATE_COUNTED);
    assert_int_equal(take(node, 5, 0.0, NULL, 0), TAMIS_AGGREGATE_SKIPPED);
    tamis_aggregate_free(node);
}

/* ---- Many sources --------------------------------------------------------------------------- */

/* Many changing values, against a table of all of them. */
static void sums_match_a_table(void **state) {
    (void)state;
    enum { SOURCES = 500, STEPS = 100000 };
    static const char *const specs[] = {
        "quotient:capacity=500,fpr=1e-9", "cuckoo:capacity=500,fpr=1e-9",
        "counting:capacity=500,fpr=1e-9", "quotient:capacity=500,fpr=1e-9,hash=sip13"};
    for (size_t s = 0; s < COUNT_OF(specs); s++) {
        tamis_aggregate *node = make(specs[s]);
        double now[SOURCES] = {0}, seen[SOURCES] = {0}, sum = 0, low = 0, high = 0;
        bool is_seen[SOURCES] = {false};
        uint64_t count = 0;
        for (uint64_t i = 0; i < STEPS; i++) {
            const uint64_t source = test_number(1, i) % SOURCES;
            const double before = now[source];
            if (i % 3 == 0) now[source] = (double)(test_number(2, i) % 2000) / 10 - 100;
            if (now[source] == before && is_seen[source] && i % 2) continue;
            take(node, source, now[source], (double[]){before, seen[source]}, 2);
            count += !is_seen[source];
            is_seen[source] = true;
            seen[source] = now[source];
        }
        for (size_t i = 0; i < SOURCES; i++) {
            if (!is_seen[i]) continue;
            sum += seen[i];
            low = fmin(low, seen[i]);
            high = fmax(high, seen[i]);
        }
        const struct tamis_total t = total_of(node);
        assert_int_equal(t.count, count);
        assert_true(fabs(t.sum - sum) < 1e-9);
        assert_true(t.min <= low && t.max >= high);
        assert_true(t.lost.value < 1e-3);
        tamis_aggregate_free(node);
    }
}

/* A filter with a false-positive rate of 5 % loses 5 % of new sources, and reports it. */
static void losses_match_the_rate(void **state) {
    (void)state;
    enum { BEFORE = 100000, THEN = 2000 };
    tamis_aggregate *node = make("quotient:capacity=102000,fpr=5%");
    double lost_sum = 0, all = 0;
    uint64_t lost = 0;
    for (uint64_t i = 0; i < BEFORE; i++) {
        all += (double)(i % 100);
        if (take(node, i, (double)(i % 100), NULL, 0) != TAMIS_AGGREGATE_SKIPPED) continue;
        lost++;
        lost_sum += (double)(i % 100);
    }
    struct tamis_total t = total_of(node);
    assert_int_equal(t.count + lost, BEFORE);
    assert_true(t.sum == all - lost_sum);
    /* The rate rose linearly from 0: half of the bound, two-sided. */
    assert_true(test_is_possible(lost, BEFORE, t.fpr / 2, TEST_ALPHA));
    assert_true((double)lost < t.lost.value && t.lost.error > 0);
    assert_true(fabs(t.mean - all / BEFORE) < 6 * t.mean_error);
    assert_true(all - t.sum < t.sum_lost * 1.05);
    print_message("# %llu of %d lost, at most %.0f told\n", (unsigned long long)lost, BEFORE,
                  t.lost.value);
    /* A few more sources: now the rate itself applies. */
    const double before = t.fpr;
    lost = 0;
    for (uint64_t i = 0; i < THEN; i++)
        lost += take(node, TEST_STRANGERS + i, 1, NULL, 0) == TAMIS_AGGREGATE_SKIPPED;
    const double after = total_of(node).fpr;
    assert_true(test_is_possible(lost, THEN, before, TEST_ALPHA) ||
                test_is_possible(lost, THEN, after, TEST_ALPHA));
    assert_true(lost > 0);
    tamis_aggregate_free(node);
}

static void a_million_sources(void **state) {
    (void)state;
    enum { SOURCES = 1000000 };
    tamis_aggregate *node;
    REQUIRE_OK(tamis_aggregate_create(&node, SOURCES));
    double sum = 0;
    for (uint64_t i = 0; i < SOURCES; i++) {
        take(node, i, 0.1 * (double)(i % 7), NULL, 0);
        sum += (double)(i % 7);
    }
    const struct tamis_total t = total_of(node);
    assert_true(t.lost.value < 11 && t.count > SOURCES - 60 && t.count <= SOURCES);
    assert_true(fabs(t.sum - 0.1 * sum) < 40);
    tamis_aggregate_free(node);
}

/* ---- Limits --------------------------------------------------------------------------------- */

static void a_full_node_changes_nothing(void **state) {
    (void)state;
    tamis_aggregate *node = make("dleft:capacity=100,fpr=1e-6");
    tamis_status rc = TAMIS_OK;
    uint64_t i = 0;
    for (; !rc && i < 100000; i++) rc = tamis_aggregate_take(node, &i, sizeof i, 2, NULL, 0, NULL);
    assert_int_equal(rc, TAMIS_FULL);
    struct tamis_total t = total_of(node);
    assert_int_equal(t.count, i - 1);
    assert_true(t.sum == 2 * (double)(i - 1));
    /* A change either succeeds or changes nothing. */
    for (uint64_t j = 0; j < 50; j++) {
        const struct tamis_total before = total_of(node);
        rc = tamis_aggregate_take(node, &j, sizeof j, 3, (double[]){2}, 1, NULL);
        const struct tamis_total after = total_of(node);
        assert_int_equal(after.count, before.count);
        assert_true(after.sum == before.sum + (rc ? 0 : 1));
        assert_int_equal(take(node, j, rc ? 2 : 3, NULL, 0), TAMIS_AGGREGATE_SKIPPED);
    }
    tamis_aggregate_free(node);
}

static void invalid_calls_are_refused(void **state) {
    (void)state;
    static const char *const specs[] = {"classic:capacity=9", "composite:capacity=9",
                                        "window:capacity=9", "stable:capacity=9",
                                        "rediscuckoo:capacity=9"};
    tamis_aggregate *node = (tamis_aggregate *)&node;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        assert_int_equal(tamis_aggregate_create_with(&node, specs[i], NULL), TAMIS_UNSUPPORTED);
        assert_non_null(strstr(tamis_why(), "quotient, cuckoo or counting"));
        assert_null(node);
    }
    assert_int_equal(tamis_aggregate_create_with(&node, "nonsense:", NULL), TAMIS_INVALID);
    assert_int_equal(tamis_aggregate_create(&node, UINT64_MAX), TAMIS_INVALID);
    node = make("quotient:capacity=100");
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(tamis_aggregate_take(node, "a", 1, bad[i], NULL, 0, NULL), TAMIS_INVALID);
        assert_int_equal(tamis_aggregate_take(node, "a", 1, 1, &bad[i], 1, NULL), TAMIS_INVALID);
    }
    assert_int_equal(total_of(node).count, 0);
    tamis_aggregate_free(node);
}

static void no_memory_leaves_nothing(void **state) {
    (void)state;
    for (long n = 1;; n++) {
        test_failing_allocator failing = {.fail_at = n};
        const struct tamis_allocator allocator = test_allocator(&failing);
        const struct tamis_options options = {.struct_size = sizeof options,
                                              .allocator = &allocator};
        tamis_aggregate *node;
        const tamis_status rc =
            tamis_aggregate_create_with(&node, "quotient:capacity=1000", &options);
        if (!rc) {
            tamis_aggregate_free(node);
            assert_true(n > 2);
            assert_int_equal(failing.blocks, 0);
            return;
        }
        assert_int_equal(rc, TAMIS_NOMEM);
        assert_null(node);
        assert_int_equal(failing.blocks, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_source_counts_once),      cmocka_unit_test(extremes_are_bounds),
        cmocka_unit_test(sums_match_a_table),        cmocka_unit_test(losses_match_the_rate),
        cmocka_unit_test(a_million_sources),         cmocka_unit_test(a_full_node_changes_nothing),
        cmocka_unit_test(invalid_calls_are_refused), cmocka_unit_test(no_memory_leaves_nothing),
    };
    return cmocka_run_group_tests_name("aggregate", tests, NULL, NULL);
}
