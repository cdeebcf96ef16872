/* SPDX-License-Identifier: MIT */
/* For comparing untrusted checksums: file, foreign. */
#ifndef TAMIS_BASE_SUMS_H
#define TAMIS_BASE_SUMS_H

#include <stdbool.h>
#include <stdint.h>

/* A fuzzer cannot guess checksums, and what they guard must hold without them: in its build they
 * always match. */
static inline bool tamis__sums_match(uint64_t stored, uint64_t computed) {
#ifdef TAMIS_FUZZING
    (void)stored, (void)computed;
    return true;
#else
    return stored == computed;
#endif
}

#endif
