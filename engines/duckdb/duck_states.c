/* SPDX-License-Identifier: MIT */
/* Which groups the rows of a chunk belong to.
 *
 * DuckDB gives an aggregate one state for each row of a chunk. Before 2.0 it gives a single one,
 * and does not say so, where all rows have the same: in tamis_build(k ORDER BY k), and OVER
 * (PARTITION BY g). What follows in memory is then anything, even addresses of other groups' live
 * states: with a mark in each state to tell, keys still went to the wrong group.
 *
 * So there a chunk of one group is taken, however it was given, and any other is refused: those
 * are of GROUP BY, for which a list does the same. The addresses are read by a system call that
 * fails where there is no memory. */
#include "engines/duckdb/duck_states.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_all; /* DuckDB gives one for each row, always */

#ifdef __linux__
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Copies memory of this process that may not be there. */
static bool look_at(void *to, const void *from, size_t size) {
    const struct iovec local = {.iov_base = to, .iov_len = size},
                       remote = {.iov_base = (void *)(uintptr_t)from, .iov_len = size};
    return syscall(SYS_process_vm_readv, getpid(), &local, 1UL, &remote, 1UL, 0UL) == (long)size;
}
#else
static bool look_at(void *to, const void *from, size_t size) {
    (void)to, (void)from, (void)size;
    return false;
}
#endif

void duck_learn_states(const char *version) {
    has_all = *version == 'v' && strtol(version + 1, NULL, 10) >= 2;
}

enum { LOOKS = 512 };

bool duck_check_states(const duck_state *states, uint64_t count, sql_why *why) {
    duck_state seen[LOOKS];
    for (uint64_t row = 1; !has_all && row < count; row += LOOKS) {
        const uint64_t n = count - row < LOOKS ? count - row : LOOKS;
        bool are_one = look_at(seen, states + row, (size_t)n * sizeof *seen);
        for (uint64_t i = 0; are_one && i < n; i++) are_one = seen[i] == states[0];
        if (are_one) continue;
        duck_fail(why,
                  "an aggregate of several groups, or with ORDER BY or OVER, needs DuckDB 2.0");
        snprintf(
            why->hint, sizeof why->hint,
            "Before, aggregate a list: tamis_build_list(list(key)), tamis_merge_list(list(f))");
        return false;
    }
    return true;
}
