/* SPDX-License-Identifier: MIT */
/* File may include this: files under names of our own, while they are written.
 *
 * The names are PREFIX, 8 hexadecimal digits, SUFFIX. Their writer holds a lock, so that whoever
 * finds one that can be locked knows that its writer is dead, and may remove it. */
#ifndef TAMIS_FILE_TEMP_H
#define TAMIS_FILE_TEMP_H

enum { TAMIS_MAX_PATH = 4096 };

/* A new, locked file to read and write; `prefix` has the folder. Of `mode` it gets what the umask
 * allows. -1 with errno. */
int tamis__temp_create(const char *prefix, const char *suffix, unsigned mode,
                       char name[TAMIS_MAX_PATH]);

/* Removes files of such names in `dir_path` whose writers are dead; `prefix` has no folder. The
 * command once had names of its own, without a lock: PREFIX, process, -, number, `older`; NULL: not
 * here. */
void tamis__temp_tidy(const char *dir, const char *prefix, const char *suffix, const char *older);

/* The folder of a path: all before its last slash, or ".". */
void tamis__dir_of(const char *path, char dir[TAMIS_MAX_PATH]);

#endif
