/* SPDX-License-Identifier: MIT */
/* For kinds with a change log: where a summary and its last sent state differ.
 *
 * Nothing is recorded when a bit flips: the log is the difference of two arrays, so it never
 * overflows, and a bit that flipped back is not in it. */
#ifndef TAMIS_KINDS_LOGGED_H
#define TAMIS_KINDS_LOGGED_H

#include "bits/packed.h"
#include "kinds/kind.h"

enum { TAMIS_LOGGED_RUN = 64 }; /* bits that are compared together */

static inline unsigned tamis__logged_run(uint64_t i, uint64_t n) {
    return n - i < TAMIS_LOGGED_RUN ? (unsigned)(n - i) : TAMIS_LOGGED_RUN;
}

static inline bool tamis__logged_next(const uint8_t *bytes, tamis_logged at, uint64_t *cursor,
                                      uint64_t *position, bool *is_set) {
    for (uint64_t i = *cursor; i < at.n; i += TAMIS_LOGGED_RUN) {
        const unsigned run = tamis__logged_run(i, at.n);
        const uint64_t now = tamis__bits_get(bytes, at.summary + i, run);
        const uint64_t changed = now ^ tamis__bits_get(bytes, at.told + i, run);
        if (!changed) continue;
        const unsigned first = (unsigned)__builtin_ctzll(changed);
        *position = i + first;
        *is_set = now >> first & 1;
        *cursor = *position + 1;
        return true;
    }
    return false;
}

static inline void tamis__logged_forget(uint8_t *bytes, tamis_logged at) {
    for (uint64_t i = 0; i < at.n; i += TAMIS_LOGGED_RUN) {
        const unsigned run = tamis__logged_run(i, at.n);
        tamis__bits_put(bytes, at.told + i, run, tamis__bits_get(bytes, at.summary + i, run));
    }
}

#endif
