/* SPDX-License-Identifier: MIT */
/* Core and file may include this: a name that one writer holds while he changes what is under it.
 *
 * The lock (flock) lies on the file itself, and a new file is locked by its writer before it takes
 * the name: so the name leads to a locked file without a gap, and readers, who see the old file or
 * the new one, need no lock. Whoever waited and gets the lock of a file that lost the name
 * meanwhile starts again with the one that has it. Every failure leaves a sentence that names the
 * path. */
#ifndef TAMIS_FILE_PLACE_H
#define TAMIS_FILE_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "file/temp.h"
#include "tamis.h"

typedef struct tamis_place {
    const char *path;            /* as the caller calls it */
    char target[TAMIS_MAX_PATH]; /* where symbolic links lead */
    bool is_there;               /* there is a file; then `seen` tells which */
    bool is_locked;              /* not where the system has no locks, or nothing is there */
    int fd;                      /* to read it; -1 when nothing is there, or we may not */
    struct stat seen;
} tamis_place;

/* Where a path leads: through symbolic links, also when nothing is at their end yet. */
tamis_status tamis__place_find(const char *path, char target[TAMIS_MAX_PATH]);

/* Waits up to `wait_ms` for whoever holds it, then TAMIS_BUSY. Nothing under the name is TAMIS_IO
 * unless `may_be_new`. `path` must outlive the place. */
tamis_status tamis__place_take(tamis_place *, const char *path, uint64_t wait_ms, bool may_be_new);

/* TAMIS_CHANGED when the name no longer leads to what was seen. */
tamis_status tamis__place_check(const tamis_place *);

/* A new file, locked, has taken the name: it is what the place holds now. */
void tamis__place_pass(tamis_place *, int fd);

void tamis__place_leave(tamis_place *);

#endif
