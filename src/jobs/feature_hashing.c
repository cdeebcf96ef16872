/* SPDX-License-Identifier: MIT */
/* Feature hashing: a vector of fixed dimension for any keys (Weinberger et al. 2009).
 *
 *     hash ──── top bits ──▶ place        (tamis__range: any number of places)
 *          └─── lowest bit ─▶ sign
 *
 * With at most 2^32 places the lowest bit does not affect the place, so the sign is a fair coin
 * among the keys of each place: that is what makes products right on average. */
#include "bits/probe.h"
#include "hash/hash.h"
#include "tamis_jobs.h"

uint64_t tamis_features_place(const struct tamis_features *shape, const void *key, size_t len,
                              int *sign) {
    const tamis_hasher hasher = {.mode = TAMIS_HASH_XXH3, .seed = shape->seed};
    const uint64_t hash = tamis__hash(&hasher, key, len);
    if (sign) *sign = shape->is_signed && hash & 1 ? -1 : 1;
    return tamis__range(hash, shape->places);
}

void tamis_features_add(const struct tamis_features *shape, float *vector, const void *key,
                        size_t len, double weight) {
    int sign;
    const uint64_t place = tamis_features_place(shape, key, len, &sign);
    if (shape->places) vector[place] += (float)(sign * weight);
}

void tamis_features_add_many(const struct tamis_features *shape, float *vector,
                             const struct tamis_key *keys, const double *weights, size_t n) {
    for (size_t i = 0; i < n; i++)
        tamis_features_add(shape, vector, keys[i].bytes, keys[i].len, weights ? weights[i] : 1);
}

void tamis_features_count(const struct tamis_features *shape, int32_t *vector, const void *key,
                          size_t len, int32_t times) {
    int sign;
    const uint64_t place = tamis_features_place(shape, key, len, &sign);
    if (shape->places == 0) return;
    const int64_t sum = vector[place] + (int64_t)sign * times;
    vector[place] = (int32_t)(sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum);
}
