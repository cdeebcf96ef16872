/* SPDX-License-Identifier: MIT */
/* semijoin.h: only the files of `tamis semijoin` include this.
 *
 *     semijoin.c         the verb, what it prints and says
 *     semijoin_cost.c    how good the filter should be
 *     semijoin_exact.c   lines that are held until RIGHT has had a word on them
 */
#ifndef TAMIS_CLI_SEMIJOIN_H
#define TAMIS_CLI_SEMIJOIN_H

#include "cli/cli.h"
#include "cli/keys/keyset.h"

/* ==== The cost model: semijoin_cost.c =======================================================
 *
 * A filter of m bits for n keys lets 0.6185^(m/n) of the N lines of LEFT through that do not match,
 * and each of them costs its w bits. The sum of both kinds of bits is least with a rate of
 *
 *     p = n / (N w (ln 2)^2)
 *
 * (Mullin, "Optimal semijoins for distributed database systems", 1990); where that is not below 1,
 * a filter costs more than it saves. */

struct cost {
    double fpr; /* that the filter should have; 1: no filter */
    enum { BY_MODEL, BY_ANTI, BY_USER } chosen;
};

struct cost cost_of(const struct args *args, char line_end);

/* ==== Lines that are held: semijoin_exact.c ================================================= */

struct lines;

struct hold {
    struct keyset keys;
    struct lines *first, *last;
    uint64_t bytes, max_bytes; /* of lines and keys together */
};

struct join {
    const struct args *args;
    struct keys left, right;
    struct spill copy; /* of RIGHT, where it cannot be read twice */
    struct cost cost;
    tamis *filter; /* NULL: RIGHT is asked about every line */
    tamis *hasher; /* the filter, or an empty one */
    bool is_anti, is_exact, is_right_kept;
    struct hold hold;
    uint64_t left_lines, hits, printed, scans;
};

/* Prints or counts a line. */
void join_print(struct join *join, struct batch *batch, size_t i);

/* For --exact: holds a line that may match, prints or drops any other; when memory is used up RIGHT
 * is read first. join_settle does so at the end. */
int join_hold(struct join *join, struct batch *batch);
int join_settle(struct join *join);
void hold_close(struct hold *hold);

#endif
