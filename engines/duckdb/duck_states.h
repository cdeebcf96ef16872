/* SPDX-License-Identifier: MIT */
/* Which groups the rows of a chunk belong to: duck_states.c says why that is a question. */
#ifndef TAMIS_ENGINES_DUCKDB_DUCK_STATES_H
#define TAMIS_ENGINES_DUCKDB_DUCK_STATES_H

#include "engines/duckdb/duck.h"

/* Once, with the version of the database: "v1.4.4". */
void duck_learn_states(const char *version);

/* Are there as many states as rows? Otherwise false, with a sentence. */
bool duck_check_states(const duck_state *, uint64_t count, sql_why *);

#endif
