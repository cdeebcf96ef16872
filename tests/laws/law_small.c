/* SPDX-License-Identifier: MIT */
/* Laws about filters for a handful of keys, where formulas for large ones are far off. */
#include <stdlib.h>

#include "tests/laws/laws.h"
#include "tests/support/bounds.h"
#include "tests/support/keys.h"

enum { SETS = 12, STRANGERS = 2000, APART = 64 };

typedef struct found {
    uint64_t hits, probes;
    double told; /* sum over all probes */
} found;

static void ask_set(const subject *s, uint64_t capacity, double fpr, uint64_t set, found *all) {
    const uint64_t from = 1 + set * APART, nonmembers = TEST_STRANGERS + set * STRANGERS;
    tamis *f = filled(s, capacity, fpr, NULL, from, from + capacity);
    all->hits += count_keys(f, nonmembers, nonmembers + STRANGERS);
    all->probes += STRANGERS;
    all->told += tamis_fpr_now(f) * STRANGERS;
    tamis_free(f);
}

/* Over many sets of a few keys, non-members are found as often as the filters report, also where
 * that is far less than requested, because few keys are rounded up to whole words. */
static const char *small_ones_tell_their_rate(const subject *s) {
    static const uint64_t capacities[] = {1, 2, 3, 5, 8, 13, 20, 32};
    static const double rates[] = {0.2, 0.02};
    for (size_t c = 0; c < sizeof capacities / sizeof *capacities; c++)
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
            found all = {0};
            for (uint64_t set = 0; set < effort(SETS); set++)
                ask_set(s, capacities[c], rates[r], set, &all);
            const double told = all.told / (double)all.probes;
            if (!test_is_possible(all.hits, all.probes, told, TEST_ALPHA))
                return wrong("%llu keys at %g: %llu of %llu non-members, %g reported",
                             (unsigned long long)capacities[c], rates[r],
                             (unsigned long long)all.hits, (unsigned long long)all.probes, told);
        }
    return NULL;
}

const law small_laws[] = {
    {"small_ones_tell_their_rate", 0, small_ones_tell_their_rate, TAMIS_IS_SKETCH},
    {NULL, 0, NULL, 0},
};
