/* SPDX-License-Identifier: MIT */
/* check.h: only the files of `tamis check` and `tamis watch` include this.
 *
 *     check.c   lines that are in sets, and in which
 *     watch.c   the same for files that grow and images that are replaced
 */
#ifndef TAMIS_CLI_CHECK_H
#define TAMIS_CLI_CHECK_H

#include "cli/cli.h"
#include "cli/images/filters.h"

struct checking {
    struct hits hits;
    struct filters filters;
    atomic_bool is_short_of_memory;
};

/* For query_keys. */
void check_ask(void *checking, struct batch *batch);

/* How lines are printed, by --json, --which and the sets. */
void check_printing(struct checking *checking, const struct args *args);

#endif
