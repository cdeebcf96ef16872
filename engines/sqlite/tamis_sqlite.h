/* SPDX-License-Identifier: MIT */
/* For programs that link SQLite and the extension: no file is loaded.
 *
 *     cc program.c -ltamis-sqlite -ltamis -lsqlite3 -lm -pthread
 *
 *     sqlite3_auto_extension((void (*)(void))sqlite3_tamis_init);   for all connections to come
 *     sqlite3_tamis_init(db, NULL, NULL);                           or for one
 *     sqlite3_tamis_allow_files(db, "/srv/filters");                and its files */
#ifndef TAMIS_SQLITE_H
#define TAMIS_SQLITE_H

#include <sqlite3.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sqlite3_api_routines;

/* Registers functions and tables with a connection. The last two may be NULL. */
int sqlite3_tamis_init(sqlite3 *db, char **error, const struct sqlite3_api_routines *api);

/* Lets a connection open the filters of one directory by name; NULL: none, from now on. Without it
 * the environment variable TAMIS_DIRECTORY says which, at the time the connection gets the
 * extension. SQLITE_MISUSE for a connection that has not got it. */
int sqlite3_tamis_allow_files(sqlite3 *db, const char *directory);

#ifdef __cplusplus
}
#endif

#endif
