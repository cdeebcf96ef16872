/* SPDX-License-Identifier: MIT */
/* For engines/sqlite: the filter of a table, and how it is kept in the database.
 *
 *     NAME_data(id INTEGER PRIMARY KEY, bytes BLOB)
 *
 *     id 0           state: a stamp, the size of the image, how many journal rows, and their bytes
 *     id 1, 2, ...   pages: the image of the last checkpoint, 64 KiB in each row
 *     id 2^40 ...    journal: what changed since, a row for each flush
 *
 * So to add a key writes some bytes, not the filter. When the journal has an eighth of its size,
 * the pages that changed are written, and the journal is empty.
 *
 * Every flush draws a stamp. A connection keeps the filter in memory as long as the stamp is the
 * one it knows. Changes wait there until the transaction or a savepoint needs them in the table,
 * and rolling back is SQLite's work: what is in memory is dropped, and read again. */
#ifndef TAMIS_ENGINES_SQLITE_LITE_STORE_H
#define TAMIS_ENGINES_SQLITE_LITE_STORE_H

#include "engines/sqlite/lite.h"

typedef struct lite_store lite_store;

/* Opens the store of a table: nothing is read yet. NULL without memory. */
lite_store *lite_store_open(lite *, const char *schema, const char *table);
void lite_store_close(lite_store *);

/* A message for the last call that did not return SQLITE_OK. */
const char *lite_store_why(const lite_store *);

/* Makes the tables for an empty filter; drops them; gives them another name. */
int lite_store_create(lite_store *, const char *spec);
int lite_store_destroy(lite_store *);
int lite_store_rename(lite_store *, const char *table);

/* Looks whether another connection changed the filter. */
int lite_store_look(lite_store *);

/* The filter, to be queried. */
int lite_store_filter(lite_store *, lite_filter **);

/* Adds or removes the key of a value. */
int lite_store_change(lite_store *, sqlite3_value *, bool is_added);

/* Advances time by a step, and empties the filter. */
int lite_store_tick(lite_store *);
int lite_store_clear(lite_store *);

/* Reads what is stored as if for the first time. */
int lite_store_check(lite_store *);

/* Writes what changed, and forgets it. */
int lite_store_flush(lite_store *);
void lite_store_rollback(lite_store *);

#endif
