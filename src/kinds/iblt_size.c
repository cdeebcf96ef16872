/* SPDX-License-Identifier: MIT */
/* Estimators of the number of differences, of two families.
 *
 * Signs (Alon, Matias and Szegedy 1996; one counter for a key: Charikar, Chen and Farach-Colton
 * 2002). A hash chooses one of m counters and a sign, and moves the counter by that. The difference
 * of two sets' counters cancels common keys; of the d keys that are left, the squares add up to
 *
 *     sum D^2 = d + 2 * (pairs of equal sign - pairs of opposite sign, of those that share a
 *     counter)
 *
 * whose mean is d, and whose variance is 2 d (d - 1) / m: every pair shares a counter with
 * probability 1/m and counts 2 or -2 then.
 *
 * Strata (Eppstein, Goodrich, Uyeda and Varghese 2011). A small table for every second, every
 * fourth, every eighth ... of the keys:
 *
 *     stratum     0       1       2       3               31
 *               | 1/2   | 1/4   | 1/8   | 1/16  | ...   | the rest |        80 cells each
 *
 * From the last one on, strata are listed as long as they can be. Where all can, d is known; where
 * stratum i is the first that cannot, a sample of one in 2^(i+1) is. */
#include "kinds/iblt_size.h"

#include <math.h>

enum { STRATA = 32, STRATUM_CELLS = 80, STRATUM_HASHES = 4 };
enum { STRATUM_BYTES = STRATUM_CELLS * TAMIS_IBLT_CELL };

uint64_t tamis__sizer_bytes(uint64_t way, uint64_t counters) {
    if (way == TAMIS_SIZED_BY_SIGNS) return counters * 4;
    return way == TAMIS_SIZED_BY_STRATA ? STRATA * STRATUM_BYTES : 0;
}

/* Independent numbers: cells are chosen by the hash itself, checks by another mix of it. */
static uint64_t other_hash(uint64_t hash) {
    return tamis__mix(hash ^ 0xd6e8feb86659fd93);
}

/* ---- Signs ---------------------------------------------------------------------------------- */

static uint32_t counter_get(tamis_sizer s, uint64_t i) {
    return tamis__get32(s.bytes + i * 4);
}

/* The counter by the top bits, the sign by the last. */
static void sign_add(tamis_sizer s, uint64_t hash, uint64_t by) {
    const uint64_t x = other_hash(hash), i = tamis__range(x, s.counters);
    const uint32_t step = (uint32_t)by;
    tamis__put32(s.bytes + i * 4, counter_get(s, i) + (x & 1 ? step : 0 - step));
}

/* Counters are modulo 2^32; the difference of two is small whatever their history. */
static double apart(uint32_t a, uint32_t b) {
    const uint32_t up = a - b, down = b - a;
    return up < down ? up : down;
}

static void signs_compare(tamis_sizer a, tamis_sizer b, struct tamis_estimate *keys) {
    double sum = 0;
    for (uint64_t i = 0; i < a.counters; i++) {
        const double d = apart(counter_get(a, i), counter_get(b, i));
        sum += d * d;
    }
    keys->value = sum;
    keys->error = sum > 1 ? sqrt(2 * sum * (sum - 1) / (double)a.counters) : 0;
}

/* Every hash has moved one counter by one: their sum is odd when the number of hashes is. */
static tamis_status signs_audit(tamis_sizer s, tamis_iblt_cell total) {
    uint32_t sum = 0;
    for (uint64_t i = 0; i < s.counters; i++) sum += counter_get(s, i);
    if ((sum & 1) == (total.count & 1)) return TAMIS_OK;
    return tamis__fail(TAMIS_CORRUPT, "the signed counters do not match %llu hashes",
                       (unsigned long long)total.count);
}

/* ---- Strata --------------------------------------------------------------------------------- */

static tamis_iblt stratum_of(tamis_sizer s, unsigned i) {
    return (tamis_iblt){s.bytes + (size_t)i * STRATUM_BYTES, STRATUM_CELLS, STRATUM_HASHES};
}

static unsigned stratum_at(uint64_t hash) {
    const uint64_t x = other_hash(hash) | (uint64_t)1 << (STRATA - 1);
    return (unsigned)__builtin_ctzll(x);
}

/* From this many hashes on, a stratum mostly cannot be listed (80 cells, measured). */
enum { LISTED_MOSTLY = 54 };

/* The mean of a Poisson number, given that it is larger than that. */
static double mean_of_more(double load) {
    double weight = 1, weights = 0, sum = 0;
    for (int n = LISTED_MOSTLY + 1; n < 4 * LISTED_MOSTLY; n++) {
        weights += weight;
        sum += weight * n;
        weight *= load / (n + 1);
    }
    return sum / weights;
}

/* The strata above the first that fails hold as much as it does, on average. That it fails shows
 * that it holds much: ignoring that would make the estimate too low, by 14 % where d is 100. */
static double likely_load(double found) {
    double load = found;
    for (int i = 0; i < 30 && found < 2 * LISTED_MOSTLY; i++)
        load = (found + mean_of_more(load)) / 2;
    return load;
}

static tamis_status strata_compare(tamis_sizer a, tamis_sizer b, struct tamis_estimate *keys) {
    double found = 0;
    for (unsigned i = STRATA; i-- > 0;) {
        uint8_t scratch[STRATUM_CELLS * TAMIS_IBLT_PEEL] = {0};
        tamis_peel peel;
        const tamis_status rc = tamis__peel(&peel, stratum_of(a, i), stratum_of(b, i), scratch);
        if (rc && rc != TAMIS_PARTIAL) return rc;
        if (rc == TAMIS_PARTIAL && found == 0)
            return tamis__fail(TAMIS_SATURATED, "too many keys differ for an estimate by strata");
        if (rc == TAMIS_PARTIAL) {
            const double one_in = ldexp(1, (int)i + 1), load = likely_load(found);
            keys->value = load * one_in;
            keys->error = sqrt(load * (one_in - 1) * one_in);
            return TAMIS_OK;
        }
        found += (double)peel.found;
    }
    *keys = (struct tamis_estimate){found, 0};
    return TAMIS_OK;
}

/* All strata together hold what the table holds. */
static tamis_status strata_audit(tamis_sizer s, tamis_iblt_cell total) {
    for (unsigned i = 0; i < STRATA; i++) {
        const tamis_status rc = tamis__iblt_audit(stratum_of(s, i));
        if (rc) return rc;
        total = tamis__iblt_difference(total, tamis__iblt_total(stratum_of(s, i), 0));
    }
    if (tamis__iblt_is_empty(total)) return TAMIS_OK;
    return tamis__fail(TAMIS_CORRUPT, "the strata do not match the table");
}

/* ---- Both ----------------------------------------------------------------------------------- */

void tamis__sizer_add(tamis_sizer s, uint64_t hash, uint64_t by) {
    if (s.way == TAMIS_SIZED_BY_SIGNS) sign_add(s, hash, by);
    if (s.way == TAMIS_SIZED_BY_STRATA) tamis__iblt_add(stratum_of(s, stratum_at(hash)), hash, by);
}

/* Its stratum may still refuse a non-member that passes the table. */
bool tamis__sizer_can_leave(tamis_sizer s, uint64_t hash) {
    return s.way != TAMIS_SIZED_BY_STRATA ||
           tamis__iblt_can_leave(stratum_of(s, stratum_at(hash)), hash);
}

void tamis__sizer_merge(tamis_sizer into, tamis_sizer from) {
    for (uint64_t i = 0; i < into.counters; i++)
        tamis__put32(into.bytes + i * 4, counter_get(into, i) + counter_get(from, i));
    for (unsigned i = 0; i < STRATA && into.way == TAMIS_SIZED_BY_STRATA; i++)
        tamis__iblt_merge(stratum_of(into, i), stratum_of(from, i));
}

tamis_status tamis__sizer_audit(tamis_sizer s, tamis_iblt_cell total) {
    if (s.way == TAMIS_SIZED_BY_SIGNS) return signs_audit(s, total);
    return s.way == TAMIS_SIZED_BY_STRATA ? strata_audit(s, total) : TAMIS_OK;
}

tamis_status tamis__sizer_compare(tamis_sizer first, tamis_sizer second,
                                  struct tamis_estimate *keys) {
    if (first.way == TAMIS_SIZED_BY_STRATA) return strata_compare(first, second, keys);
    if (first.way == TAMIS_SIZED_BY_NONE)
        return tamis__fail(TAMIS_UNSUPPORTED,
                           "a table with estimator=none lists differences, but does "
                           "not estimate their number");
    signs_compare(first, second, keys);
    return TAMIS_OK;
}
