/* SPDX-License-Identifier: MIT */
/* For core and file: a name that one writer holds while it changes the file.
 *
 * The lock (flock) is on the file itself, and a new file is locked by its writer before it takes
 * the name: so the name leads to a locked file without a gap, and readers, who see the old file or
 * the new one, need no lock. A writer that waited and then has the lock of a file that lost the
 * name starts again with the one that has it. Every failure sets an error message that names the
 * path. */
#ifndef TAMIS_FILE_PLACE_H
#define TAMIS_FILE_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "file/temp.h"
#include "tamis.h"

typedef struct tamis_place {
    const char *path;            /* as given by the caller */
    char target[TAMIS_MAX_PATH]; /* after following symbolic links */
    bool is_there;               /* the file exists; `seen` identifies it */
    bool is_locked;              /* false without locks in the system, or without a file */
    int fd;                      /* for reading; -1 without a file or permission */
    struct stat seen;
} tamis_place;

/* Follows symbolic links, also to a target that does not exist yet. */
tamis_status tamis__place_find(const char *path, char target[TAMIS_MAX_PATH]);

/* Waits up to `wait_ms` for another holder, then TAMIS_BUSY. A missing file is TAMIS_IO unless
 * `may_be_new`. `path` must outlive the place. */
tamis_status tamis__place_take(tamis_place *, const char *path, uint64_t wait_ms, bool may_be_new);

/* TAMIS_CHANGED when the name no longer leads to the file that was seen. */
tamis_status tamis__place_check(const tamis_place *);

/* A new, locked file has taken the name: the place holds it now. */
void tamis__place_pass(tamis_place *, int fd);

void tamis__place_leave(tamis_place *);

#endif
