/* SPDX-License-Identifier: MIT */
/* Counts of streams: countmin against its bound and its formulas, plain and conservative.
 *
 * Streams of five million adds over a million keys, all alike or by Zipf's law. Counts may never be
 * too low, those of conservative never above plain's, and too high by more than e/columns of all
 * adds at most for the share e^-rows. In one row the mean excess is known, adds/columns, and so is
 * how many strangers count nothing: both two-sided. Prints the table of docs/kinds/countmin.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/zipf.h"
#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/bounds.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

#ifdef TAMIS_SHORT
enum { KEYS = 200000, ADDS = 1000000 };
#else
enum { KEYS = 1000000, ADDS = 5000000 };
#endif

static uint32_t truth[KEYS + 1];

typedef struct tally {
    double mean, share_over, share_exact, bound, doubt;
    uint64_t max;
} tally;

static uint64_t hash_of(uint64_t rank) {
    return test_number(12, rank);
}

/* Exponent 0: all alike. */
static void add_stream(double exponent, tamis *const *f, size_t n) {
    zipf z = zipf_start(KEYS, exponent, 3);
    memset(truth, 0, sizeof truth);
    for (int i = 0; i < ADDS; i++) {
        const uint64_t rank = exponent > 0 ? zipf_next(&z) : 1 + zipf_bits(&z) % KEYS;
        truth[rank]++;
        for (size_t j = 0; j < n; j++) test_demand(tamis_add_hash(f[j], hash_of(rank)), "add");
    }
}

/* Over all keys that came. */
static tally tally_of(const tamis *f) {
    const struct tamis_info info = test_info(f);
    tally t = {.bound = info.count_error, .doubt = info.count_error_prob};
    uint64_t keys = 0;
    for (uint64_t rank = 1; rank <= KEYS; rank++) {
        if (truth[rank] == 0) continue;
        const uint64_t count = tamis_count_hash(f, hash_of(rank));
        assert_true(count >= truth[rank]);
        const uint64_t over = count - truth[rank];
        t.mean += (double)over;
        t.share_over += (double)over > t.bound;
        t.share_exact += over == 0;
        if (over > t.max) t.max = over;
        keys++;
    }
    t.mean /= (double)keys;
    t.share_over /= (double)keys;
    t.share_exact /= (double)keys;
    return t;
}

static void tell(double exponent, const char *update, tally t) {
    printf("# | %.1f | %s | %.0f | %.4f %% | %.4f %% | %.2f | %llu | %.1f %% |\n", exponent, update,
           t.bound, 100 * t.share_over, 100 * t.doubt, t.mean, (unsigned long long)t.max,
           100 * t.share_exact);
}

static void errors_of_streams(void **state) {
    (void)state;
    static const double exponents[] = {0, 0.8, 1.0, 1.2};
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
        tamis *f[3] = {test_make("countmin:error=0.01%%,error-prob=1%%"),
                       test_make("countmin:error=0.01%%,error-prob=1%%,update=conservative"),
                       test_make("countmin:error=0.01%%,rows=1")};
        add_stream(exponents[i], f, 3);
        const tally plain = tally_of(f[0]), careful = tally_of(f[1]), single = tally_of(f[2]);
        tell(exponents[i], "plain", plain);
        tell(exponents[i], "conservative", careful);
        assert_true(plain.share_over <= plain.doubt && single.share_over <= single.doubt);
        assert_true(careful.share_over <= plain.share_over && careful.mean < plain.mean);
        for (uint64_t rank = 1; rank <= KEYS; rank++)
            assert_true(tamis_count_hash(f[1], hash_of(rank)) <=
                        tamis_count_hash(f[0], hash_of(rank)));
        const double mean = (double)ADDS / (double)test_info(f[2]).word[0];
        printf("# one row: mean excess %.3f, by formula %.3f; beyond the bound %.4f %% of at most "
               "%.1f\n",
               single.mean, mean, 100 * single.share_over, 100 * single.doubt);
        if (exponents[i] == 0) assert_true(fabs(single.mean / mean - 1) < 0.02);
        for (int j = 0; j < 3; j++) tamis_free(f[j]);
    }
}

static void nonmembers_of_a_filter(void **state) {
    (void)state;
    enum { PROBES = 4000000 };
    tamis *f = test_make("countmin:capacity=%d,fpr=1%%", KEYS);
    for (uint64_t i = 0; i < KEYS; i++) test_demand(tamis_add_hash(f, hash_of(i)), "add");
    uint64_t hits = 0;
    for (uint64_t i = 0; i < PROBES; i++)
        hits += tamis_count_hash(f, hash_of(TEST_STRANGERS + i)) > 0;
    const struct tamis_info info = test_info(f);
    printf("# a filter: %llu of %d strangers count, %.6f; by formula %.6f, by the payload %.6f\n",
           (unsigned long long)hits, PROBES, (double)hits / PROBES, info.fpr_expected,
           info.fpr_now);
    assert_true(test_is_possible(hits, PROBES, info.fpr_now, TEST_ALPHA));
    assert_true(fabs(info.fpr_now / info.fpr_expected - 1) < 0.02);
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_of_streams),
        cmocka_unit_test(nonmembers_of_a_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
