/* SPDX-License-Identifier: MIT */
/* rates.c: how many bits and hashes a classic filter needs, and what rate that gives: the quoted
 * formula beside those that are right. */
#include <math.h>
#include <tamis_math.h>

#include "must.h"

int main(void) {
    const double keys = 1000, fpr = 0.01;
    const double bits = ceil(tamis_bits_for(keys, fpr, 7));
    const unsigned hashes = tamis_best_hashes(keys, bits);
    printf("%.0f keys at %g: %.0f bits, %u hashes (%.3f by derivative, %.3f by symmetry)\n", keys,
           fpr, bits, hashes, tamis_best_hashes_derivative(keys, bits),
           tamis_best_hashes_symmetry(keys, bits));
    const double rate[] = {
        tamis_rate_approx(keys, bits, hashes),
        tamis_rate_finite(keys, bits, hashes),
        tamis_rate_second_order(keys, bits, hashes),
        tamis_rate_upper(keys, bits, hashes),
    };
    static const char *const names[] = {"as quoted", "finite", "second order", "upper bound"};
    for (int i = 0; i < 4; i++) printf("  %-13s %.9f\n", names[i], rate[i]);
    const double exact = tamis_rate_exact(100, 1000, 7);
    printf("a small one, exactly: %.9f\n", exact);
    expect(rate[0] <= rate[1] && rate[1] <= rate[3], "the quoted rate is too low");
    expect(tamis_rate_approx(100, 1000, 7) < exact, "and so it is for a small filter");
    expect(tamis_counter_overflow(keys, bits, hashes, 16) < 1e-9, "4-bit counters are wide enough");
    return 0;
}
