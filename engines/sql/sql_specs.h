/* SPDX-License-Identifier: MIT */
/* For engines of SQL: what a spec asks for, and what is said about a filter. */
#ifndef TAMIS_ENGINES_SQL_SQL_SPECS_H
#define TAMIS_ENGINES_SQL_SQL_SPECS_H

#include "tamis.h"

/* ---- Specs ---------------------------------------------------------------------------------- */

/* What an aggregate must know of a spec before the first key. */
typedef struct sql_demand {
    unsigned abilities; /* of its kind */
    bool has_capacity;  /* otherwise keys are counted, by a builder */
    bool has_secret;    /* a random one is drawn with each filter: hashes are nothing to another */
    bool goes_straight; /* keys can go into a filter as they come, in any order; filters of parts
                           of the keys can be merged */
} sql_demand;

/* Only its form is checked: what it asks for is for the library. */
tamis_status sql_demand_of(const char *spec, sql_demand *);

/* ---- Words ---------------------------------------------------------------------------------- */

/* The i-th ability that has a word in SQL, "add" say; NULL when there are fewer. */
const char *sql_ability_at(size_t i, unsigned *ability);

/* The words of all of them, with a comma and a blank between them: cut at `room`. */
void sql_abilities(unsigned abilities, char *text, size_t room);

enum { SQL_ABILITIES_ROOM = 128 };

/* ---- A filter as JSON ----------------------------------------------------------------------- */

/* Writes an object with what tamis_measure says to `text` (always terminated, cut at `room`), and
 * returns its full length. What is not known is null. Reads the whole payload. */
size_t sql_info_json(const tamis *, char *text, size_t room);

#endif
