/* SPDX-License-Identifier: MIT */
/* Schemes of probes, in few bits and at low rates: reported and measured rates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/chains.h"
#include "tamis_engine.h"
#include "tests/support/bounds.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

static const char *const schemes[] = {"double64", "double", "enhanced",
                                      "triple",   "slices", "seeds"};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

static const struct {
    unsigned bits, keys, hashes;
} shapes[] = {{64, 2, 6},    {128, 8, 6},    {512, 18, 20},
              {512, 25, 14}, {1024, 100, 7}, {2048, 100, 14}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

enum { SETS = 400, NONMEMBERS = 4000, PLANNED = 40 };

static uint64_t hits_of_a_set(tamis *f, uint64_t keys, uint64_t set) {
    static uint64_t hash[NONMEMBERS];
    static uint8_t hit[NONMEMBERS];
    uint64_t hits = 0;
    for (uint64_t i = 0; i < keys; i++) hash[i] = test_number(set, i);
    test_demand(tamis_add_hashes(f, hash, (size_t)keys), "keys");
    for (uint64_t i = 0; i < NONMEMBERS; i++) hash[i] = test_number(set, TEST_STRANGERS + i);
    tamis_has_hashes(f, hash, NONMEMBERS, hit);
    for (size_t i = 0; i < NONMEMBERS; i++) hits += hit[i];
    return hits;
}

/* By the fill alone, the reported rate is twenty times too low at 18 keys in 512 bits. */
static void small_filters_report_the_measured_rate(void **state) {
    (void)state;
    for (size_t s = 0; s < SHAPES; s++)
        for (size_t c = 0; c < SCHEMES; c++) {
            double told = 0, expected = 0;
            uint64_t hits = 0;
            for (uint64_t set = 0; set < SETS; set++) {
                tamis *f = test_make("classic:bits=%u,hashes=%u,capacity=%u,scheme=%s",
                                     shapes[s].bits, shapes[s].hashes, shapes[s].keys, schemes[c]);
                hits += hits_of_a_set(f, shapes[s].keys, set);
                told += tamis_fpr_now(f) / SETS;
                expected = test_info(f).fpr_expected;
                tamis_free(f);
            }
            if (!test_is_possible(hits, SETS * NONMEMBERS, told, TEST_ALPHA))
                fail_msg("%s, %u bits: %llu hits, told are %.0f", schemes[c], shapes[s].bits,
                         (unsigned long long)hits, told * SETS * NONMEMBERS);
            if (fabs(told / expected - 1) > 0.15)
                fail_msg("%s, %u bits: %g expected, %g told", schemes[c], shapes[s].bits, expected,
                         told);
        }
}

/* A plan takes the bits that its rate needs, and not many more. */
static void plans_keep_the_rate(void **state) {
    (void)state;
    static const double rates[] = {1e-3, 1e-4, 1e-5};
    static const unsigned keys[] = {1, 25, 300, 3000};
    for (size_t c = 0; c < SCHEMES; c++)
        for (size_t i = 0; i < 12; i++) {
            const double rate = rates[i % 3];
            const unsigned n = keys[i / 3];
            uint64_t hits = 0;
            tamis *f = test_make("classic:capacity=%u,fpr=%g,scheme=%s", n, rate, schemes[c]);
            const struct tamis_info info = test_info(f);
            if (info.fpr_expected > rate) fail_msg("%s is planned for %g", schemes[c], rate);
            tamis_free(f);
            for (uint64_t set = 0; set < PLANNED; set++) {
                f = test_make("classic:capacity=%u,fpr=%g,scheme=%s", n, rate, schemes[c]);
                hits += hits_of_a_set(f, n, set);
                tamis_free(f);
            }
            if (hits > rate * PLANNED * NONMEMBERS &&
                !test_is_possible(hits, PLANNED * NONMEMBERS, rate, TEST_ALPHA))
                fail_msg("%s: %llu hits for %u keys at %g", schemes[c], (unsigned long long)hits, n,
                         rate);
            if (info.word[0] <= 64) continue;
            if (strcmp(schemes[c], "slices") == 0 && info.word[0] <= 8 * info.word[1]) continue;
            f = test_make("classic:capacity=%u,bits=%llu,hashes=%llu,scheme=%s", n,
                          (unsigned long long)(info.word[0] - info.word[0] / 20 - 1) / 64 * 64,
                          (unsigned long long)info.word[1], schemes[c]);
            if (test_info(f).fpr_expected <= rate)
                fail_msg("%s: a twentieth fewer bits would do for %u keys at %g", schemes[c], n,
                         rate);
            tamis_free(f);
        }
}

static void nothing_and_everything_have_no_excess(void **state) {
    (void)state;
    for (int chain = TAMIS_CHAIN_LINEAR; chain <= TAMIS_CHAIN_SCALED; chain++) {
        assert_true(tamis__chain_excess(chain, 0, 64, 6, 0) == 0);
        assert_true(tamis__chain_excess(chain, 1000, 64, 6, 1) == 0);
        assert_true(tamis__chain_excess(chain, 10, 1024, 1, 0.1) == 0);
        /* Dozens of probes in a filter that is nearly empty, or nearly full. */
        assert_true(tamis__chain_excess(chain, 1, (uint64_t)1 << 59, 64, 1e-17) >= 0);
        assert_true(tamis__chain_excess(chain, 1e6, 1 << 20, 64, 0.9999999) < 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_filters_report_the_measured_rate),
        cmocka_unit_test(plans_keep_the_rate),
        cmocka_unit_test(nothing_and_everything_have_no_excess),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
