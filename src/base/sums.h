/* SPDX-License-Identifier: MIT */
/* Whoever compares a checksum from outside may include this: file, foreign. */
#ifndef TAMIS_BASE_SUMS_H
#define TAMIS_BASE_SUMS_H

#include <stdbool.h>
#include <stdint.h>

/* Nobody guesses checksums, a fuzzer neither, and what they guard must stand without them: in its
 * build they always match. */
static inline bool tamis__sums_match(uint64_t stored, uint64_t computed) {
#ifdef TAMIS_FUZZING
    (void)stored, (void)computed;
    return true;
#else
    return stored == computed;
#endif
}

#endif
