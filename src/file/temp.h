/* SPDX-License-Identifier: MIT */
/* For file: files under names of our own, while they are written.
 *
 * The names are PREFIX, 8 hexadecimal digits, SUFFIX. Their writer holds a lock: a file that can be
 * locked has a dead writer, and may be removed. */
#ifndef TAMIS_FILE_TEMP_H
#define TAMIS_FILE_TEMP_H

enum { TAMIS_MAX_PATH = 4096 };

/* Creates and locks a file to read and write; `prefix` includes the directory. `mode` is subject to
 * the umask. Returns -1 with errno on failure. */
int tamis__temp_create(const char *prefix, const char *suffix, unsigned mode,
                       char name[TAMIS_MAX_PATH]);

/* Removes files of such names in `dir` whose writers are dead; `prefix` has no directory. Older
 * versions of the command used names of their own, without a lock: PREFIX, process, -, number,
 * `older`; NULL: not here. */
void tamis__temp_tidy(const char *dir, const char *prefix, const char *suffix, const char *older);

/* The directory of a path: all before its last slash, or ".". */
void tamis__dir_of(const char *path, char dir[TAMIS_MAX_PATH]);

#endif
