/* SPDX-License-Identifier: MIT */
/* For engines of SQL: filters that have a name.
 *
 * A name is given to a filter in a session, or is a file's in one directory. A file is mapped, so
 * that processes share its memory, and opened again when another has taken its place (as the
 * command and tamis_save do, by renaming). A name has no way out of the directory. */
#ifndef TAMIS_ENGINES_SQL_SQL_NAMES_H
#define TAMIS_ENGINES_SQL_SQL_NAMES_H

#include "engines/sql/sql_keys.h"

enum { SQL_MAX_NAME = 191, SQL_MAX_PATH = 1023 }; /* bytes */

/* ---- Files of one directory ----------------------------------------------------------------- */

/* "DIRECTORY/NAME". TAMIS_INVALID for a name with a slash or a leading dot, one of no or more than
 * SQL_MAX_NAME bytes, and a path of more than SQL_MAX_PATH. */
tamis_status sql_path_in(const char *directory, const char *name, char path[SQL_MAX_PATH + 1],
                         sql_why *);

/* By what a file is known to be another than before. */
typedef struct sql_stamp {
    uint64_t device, inode, size;
    int64_t seconds, nanoseconds;
} sql_stamp;

/* The stamp of a regular file, never of what a link leads to. On TAMIS_IO errno says why; or it is
 * TAMIS_INVALID. */
tamis_status sql_stamp_of(const char *path, sql_stamp *, sql_why *);

bool sql_is_same_stamp(const sql_stamp *, const sql_stamp *);

/* ---- Names ---------------------------------------------------------------------------------- */

/* A filter that several hold: it is freed with the last of them. */
typedef struct sql_opened sql_opened;

const tamis *sql_opened_filter(const sql_opened *);

/* Another holder, and one fewer; dropping NULL is allowed. Threads: any. */
sql_opened *sql_opened_hold(sql_opened *);
void sql_opened_drop(sql_opened *);

/* A list of names. Threads: one, or the engine's lock; but a filter that was found may be held and
 * queried by any thread. */
typedef struct sql_names sql_names;

/* Makes an empty list: memory of the list, and of the filters that it opens, is from `options`,
 * whose allocator must stay; NULL for malloc and free. `directory` is copied; NULL or "" where no
 * files may be opened. TAMIS_INVALID when it is longer than SQL_MAX_PATH. */
tamis_status sql_names_create(sql_names **, const char *directory,
                              const struct tamis_options *options);

/* Frees the list; filters that are held stay. NULL is allowed. */
void sql_names_free(sql_names *);

/* Gives a filter a name, which it takes from another. The filter is the list's from then on, also
 * after a failure. */
tamis_status sql_names_put(sql_names *, const char *name, tamis *filter, sql_why *);

/* Opens a file of the directory, and gives it the name in this list. NULL for the file's own. */
tamis_status sql_names_open(sql_names *, const char *file, const char *name, sql_why *);

/* The filter of that name, or else of that file, which is opened again when it is another: hold it
 * until sql_opened_drop. TAMIS_NOT_FOUND where there is none. */
tamis_status sql_names_find(sql_names *, const char *name, sql_opened **, sql_why *);

/* Takes a name from its filter; false when there is none. */
bool sql_names_drop(sql_names *, const char *name);

#endif
