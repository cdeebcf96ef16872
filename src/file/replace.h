/* SPDX-License-Identifier: MIT */
/* For core: replaces a file so that, whatever happens, the name leads to the old file or to the
 * whole new one. Every failure sets an error message that names the path. */
#ifndef TAMIS_FILE_REPLACE_H
#define TAMIS_FILE_REPLACE_H

#include "file/place.h"
#include "file/temp.h"
#include "tamis_edit.h"

/* Written next to the old one, and renamed over it when all is on disk. */
typedef struct tamis_new_file {
    int fd;
    const char *path; /* as given by the caller */
    enum tamis_readers readers;
    tamis_place *place; /* of an edit: the name must lead to what it holds; or NULL */
    char target[TAMIS_MAX_PATH], temp[TAMIS_MAX_PATH];
} tamis_new_file;

/* The target of a new file: a path, or what an edit holds. */
typedef struct tamis_goal {
    const char *path;
    tamis_place *place;
} tamis_goal;

/* Also removes files of dead writers of this name. */
tamis_status tamis__file_begin(tamis_new_file *, tamis_goal, enum tamis_readers);
tamis_status tamis__file_append(tamis_new_file *, const void *bytes, uint64_t size);

/* Goes back to the first byte: what is appended next overwrites the old. */
tamis_status tamis__file_rewind(tamis_new_file *);

/* Ends it: the new file takes the name, or, with abandon and when commit fails, is removed. */
tamis_status tamis__file_commit(tamis_new_file *);
void tamis__file_abandon(tamis_new_file *);

/* Removes files of dead writers of `target`. */
void tamis__file_tidy(const char *target);

#endif
