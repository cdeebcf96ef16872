/* SPDX-License-Identifier: MIT */
/* Features of a fingerprint. Fingerprints of sets need no filter, so every build has this;
 * core/fingerprints.c has the rest, and comes with its kind. */
#include "bits/bits.h"
#include "bits/probe.h"
#include "hash/hash.h"
#include "tamis_special.h"

/* One hash per bit; the first is that of the feature. */
void tamis_fingerprint_feature(void *print, uint64_t bits, unsigned times, const void *feature,
                               size_t len) {
    const tamis_hasher hasher = {.mode = TAMIS_HASH_XXH3};
    uint64_t x = tamis__hash(&hasher, feature, len);
    for (unsigned i = 0; i < times && bits; i++, x = tamis__mix(x + 1))
        tamis__bit_set(print, tamis__range(x, bits));
}
