/* SPDX-License-Identifier: MIT */
/* For kinds that are rows of counters, and core: sums of counters, with and without weights, and
 * measuring rows.
 *
 * Weights may be negative, and intermediate sums too; the result is a counter again, or nothing is
 * changed. */
#ifndef TAMIS_KINDS_ROWS_H
#define TAMIS_KINDS_ROWS_H

#include <stdio.h>

#include "kinds/bitmap.h"
#include "kinds/kind.h"

/* A counter that does not pass its top. */
static inline uint64_t tamis__sum_within(uint64_t value, uint64_t more, uint64_t top) {
    return more < top - value ? value + more : top;
}

/* False when the sum, or the product alone, overflows 64 bits. */
static inline bool tamis__add_weighed(int64_t *sum, uint64_t count, int64_t weight) {
    int64_t product;
    return !__builtin_mul_overflow(count, weight, &product) &&
           !__builtin_add_overflow(*sum, product, sum);
}

typedef uint64_t tamis_counter_get(const tamis_body *, uint64_t i);
typedef void tamis_counter_put(const tamis_body *, uint64_t i, uint64_t value);

static inline bool tamis__weigh_one(const tamis_body *const *from, const int64_t *weight, size_t n,
                                    uint64_t i, uint64_t top, tamis_counter_get *get,
                                    uint64_t *value) {
    int64_t sum = 0;
    for (size_t k = 0; k < n; k++)
        if (!tamis__add_weighed(&sum, get(from[k], i), weight[k])) return false;
    *value = (uint64_t)sum;
    return sum >= 0 && *value <= top;
}

/* All counters of `into`, from 0 to `top` each. All are checked before the first is written; a
 * counter is read everywhere before it is written, so that `into` may be one of `from`. */
static inline tamis_status tamis__weigh(tamis_body *into, const tamis_body *const *from,
                                        const int64_t *weight, size_t n, uint64_t counters,
                                        uint64_t top, tamis_counter_get *get,
                                        tamis_counter_put *put) {
    uint64_t value = 0;
    for (uint64_t i = 0; i < counters; i++)
        if (!tamis__weigh_one(from, weight, n, i, top, get, &value))
            return tamis__fail(TAMIS_FULL, "a counter of the sum would be below 0 or over %llu",
                               (unsigned long long)top);
    for (uint64_t i = 0; i < counters; i++) {
        tamis__weigh_one(from, weight, n, i, top, get, &value);
        put(into, i, value);
    }
    return TAMIS_OK;
}

/* Rows of counters, one after the other. A non-member needs a raised one in every row: the rate is
 * the product of their shares. */
static inline void tamis__rows_measure(const tamis_body *f, const tamis_body *other,
                                       uint64_t columns, uint64_t rows, uint64_t top,
                                       tamis_counter_get *get, tamis_measurement *out) {
    uint64_t all = 0, stuck = 0;
    double fpr = 1;
    for (uint64_t row = 0; row < rows; row++) {
        uint64_t used = 0;
        for (uint64_t i = row * columns; i < (row + 1) * columns; i++) {
            const uint64_t value = tamis__sum_within(get(f, i), other ? get(other, i) : 0, top);
            used += value > 0;
            stuck += value == top;
        }
        fpr *= (double)used / (double)columns;
        all += used;
    }
    tamis__fill_measure(all, columns * rows, rows, out);
    out->fpr = fpr;
    out->affected = stuck;
    if (stuck)
        snprintf(out->caveat, sizeof out->caveat, "%llu counter%s stuck at %llu: counts end there",
                 (unsigned long long)stuck, stuck == 1 ? " is" : "s are", (unsigned long long)top);
}

#endif
